//! What a behaviour or a feature gate is in a release: a value, or a stage.

use jiff::SignedDuration;

/// The value of a row.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    /// A behaviour that is there or not.
    Bool(bool),
    /// A span of time.
    Duration(SignedDuration),
    /// A rate, a share or a count.
    Number(f64),
    /// A text.
    Text(&'static str),
}

pub(super) const fn secs(seconds: i64) -> Value {
    Value::Duration(SignedDuration::from_secs(seconds))
}

/// How far a feature is at a release.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GateStage {
    /// Off unless asked for.
    Alpha,
    /// With this default.
    Beta(bool),
    /// On, and cannot be switched off where the truth value says so.
    Stable {
        /// Whether the gate is locked to its default.
        locked: bool,
    },
    /// Goes away, with this default.
    Deprecated(bool),
    /// Goes away, and is locked to this default.
    Retired(bool),
    /// No component knows the gate.
    Gone,
}
