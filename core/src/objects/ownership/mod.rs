//! Who owns which fields of an object: sets of fields, and the merge of server-side apply.
//!
//! Mirrors sigs.k8s.io/structured-merge-diff (v6), which kube-apiserver uses. Inputs: trees and the schema. Outputs:
//! sets, trees, mistakes. Pure. Left out on purpose: conversion between versions of an API, since each kind has one.

mod apply;
mod check;
mod compare;
mod entries;
mod form;
mod set;
mod shape;

pub use apply::{merge, prune};
pub use check::{problem, unnamed};
pub use compare::{Comparison, compare, fields_of};
pub use entries::{note_heartbeat, order};
pub use form::CustomForm;
pub use set::FieldSet;
pub use shape::Typed;

#[cfg(test)]
mod tests;
