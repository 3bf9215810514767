//! What a scenario is once its words are understood, and the machine that judges it.

mod action;

pub use action::Action;
