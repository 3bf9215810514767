//! The releases of Kubernetes that are modelled.
//!
//! They stand beside the objects since the schema of an object depends on the release.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

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

impl Release {
    /// Names a release.
    #[must_use]
    pub const fn new(minor: u16, patch: u16) -> Self {
        Self { major: 1, minor, patch }
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// The releases that are modelled; a minor release without patch number means the patch given here.
pub const RELEASES: [Release; 3] = [Release::new(31, 0), Release::new(34, 4), Release::new(36, 3)];
/// The release of a simulation that names none.
pub const DEFAULT_RELEASE: Release = Release::new(34, 4);

/// A release that cannot be had.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no profile for Kubernetes {0:?}: known are 1.31 (1.31.0), 1.34 (1.34.4) and 1.36 (1.36.3)")]
pub struct UnknownRelease(pub String);

impl FromStr for Release {
    type Err = UnknownRelease;

    fn from_str(text: &str) -> Result<Self, UnknownRelease> {
        let unknown = || UnknownRelease(String::from(text));
        let mut parts = text.strip_prefix('v').unwrap_or(text).split('.').map(str::parse::<u16>);
        let (Some(Ok(1)), Some(Ok(minor)), patch, None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(unknown());
        };
        let known = RELEASES.into_iter().find(|release| release.minor == minor).ok_or_else(unknown)?;
        match patch {
            None => Ok(known),
            Some(Ok(patch)) => Ok(Self::new(minor, patch)),
            Some(Err(_)) => Err(unknown()),
        }
    }
}
