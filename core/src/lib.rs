//! The pure core of nodeproof: Kubernetes' node life cycle without a clock, thread, socket or file.
//!
//! `no_std` makes the purity a matter of the compiler: there is no clock, file, environment, thread or hash map to
//! reach for. Everything here is data in, data out; drivers (the simulator in [`sim`], live clusters in the crate
//! `nodeproof`) own time and transport.
//! Layering: everything may use [`objects`]; [`components`] use [`network`] and [`profile`]; [`sim`] uses them all.

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
