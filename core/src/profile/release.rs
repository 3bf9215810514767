//! The name of a release of Kubernetes.
//!
//! What differs between releases is in [`super::releases`]. Outside the profile releases are compared only where
//! versions are the subject: the version skew of Nodes, tags of scenarios, the programs of live backends.

use alloc::format;
use alloc::string::String;
use core::fmt;

/// A release of Kubernetes with its patch number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Release {
    /// The major number, always 1 so far.
    pub major: u16,
    /// The minor number.
    pub minor: u16,
    /// The patch number.
    pub patch: u16,
}

/// The oldest release of which anything is known: the last one that deleted the Pods of silent nodes by force.
pub(super) const OLDEST: Release = Release::new(4, 0);

impl Release {
    /// Names a release.
    #[must_use]
    pub const fn new(minor: u16, patch: u16) -> Self {
        Self { major: 1, minor, patch }
    }

    /// Returns the name of the minor release, as `1.34`.
    #[must_use]
    pub fn minor_name(self) -> String {
        format!("{}.{}", self.major, self.minor)
    }

    /// Returns the minor release before this one.
    #[must_use]
    pub const fn predecessor(self) -> Self {
        Self { major: self.major, minor: self.minor.saturating_sub(1), patch: 0 }
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}
