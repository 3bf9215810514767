//! The pure core of nodeproof: Kubernetes' node life cycle without a clock, thread, socket or file.
//!
//! `no_std` lets the compiler enforce this: there is no clock, file, environment, thread or hash map to use. Everything
//! here is data in, data out; drivers (the simulator in [`sim`], live clusters in the crate `nodeproof`) own time and
//! transport.
//! Layers, each of which uses only those before it: [`objects`]; [`chance`] and [`profile`]; [`network`];
//! [`components`]; [`event_loop`] and [`scenario`]; [`sim`].

#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

#[doc(hidden)]
pub use serde_json;

pub mod chance;
pub mod components;
pub mod event_loop;
pub mod network;
pub mod objects;
pub mod profile;
pub mod scenario;
pub mod sim;
