//! A difference of two outcomes, and its words.

use std::fmt;

use jiff::Timestamp;

/// What is different.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DifferenceKind {
    /// The scenario holds on one side and does not on the other.
    Verdict,
    /// Only the simulator has the change.
    OnlySim,
    /// Only the real cluster has the change.
    OnlyReal,
    /// The value.
    Value,
    /// Who wrote it.
    Writer,
    /// When it was written.
    Time,
}

impl DifferenceKind {
    /// Returns the word of reports.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Verdict => "verdict",
            Self::OnlySim => "only on the simulator",
            Self::OnlyReal => "only on the real cluster",
            Self::Value => "value",
            Self::Writer => "writer",
            Self::Time => "time",
        }
    }
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The object, as `Node/worker-1`; empty for the scenario as a whole.
    pub object: String,
    /// The path within the object.
    pub path: String,
    /// Who writes there, as the side that has it says: manager, and subresource behind a slash.
    pub writer: String,
    /// What is different.
    pub kind: DifferenceKind,
    /// What the simulator has.
    pub sim: String,
    /// What the real cluster has.
    pub real: String,
    /// When each side has it, if it is a change of that side.
    pub at: (Option<Timestamp>, Option<Timestamp>),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.object, self.path, self.kind.word())?;
        for (side, text) in [("sim", &self.sim), ("real", &self.real)] {
            if !text.is_empty() {
                write!(f, "\n    {side:<5} {text}")?;
            }
        }
        Ok(())
    }
}
