//! The values of behaviours, and the stages of feature gates, in a release. Pure data.

use jiff::SignedDuration;

/// The value of a row.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    /// Whether the behaviour exists.
    Bool(bool),
    /// A span of time.
    Duration(SignedDuration),
    /// A rate, a share or a count.
    Number(f64),
    /// A text.
    Text(&'static str),
    /// No component has the flag any more.
    Gone,
}

pub(super) const fn secs(seconds: i64) -> Value {
    Value::Duration(SignedDuration::from_secs(seconds))
}

/// The stage of a feature at a release.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GateStage {
    /// Off by default.
    Alpha,
    /// Beta, with this default.
    Beta(bool),
    /// On by default.
    Stable {
        /// Whether the gate is locked to its default.
        locked: bool,
    },
    /// To be removed, with this default.
    Deprecated(bool),
    /// To be removed, and locked to this default.
    Retired(bool),
    /// No component knows the gate.
    Gone,
}
