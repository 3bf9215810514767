//! What differs between releases of Kubernetes, as data.
//!
//! One row per behaviour: the value, since when, and where that is written. Components ask the profile and never
//! compare versions. Release, feature gate and flag are three axes: a flag's *default* is a row here, its value in
//! force stands in [`Settings`].

mod rows;
mod settings;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use jiff::SignedDuration;

pub use rows::{ROWS, Row, Value, row};
pub use settings::{Settings, SettingsError};

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

/// The behaviours of one release, with deliberate departures from it.
#[derive(Clone, PartialEq, Debug)]
pub struct Profile {
    release: Release,
    overrides: BTreeMap<&'static str, Value>,
}

impl Default for Profile {
    fn default() -> Self {
        Self::of(DEFAULT_RELEASE)
    }
}

impl Profile {
    /// Returns the profile of a release.
    #[must_use]
    pub const fn of(release: Release) -> Self {
        Self { release, overrides: BTreeMap::new() }
    }

    /// Returns the release.
    #[must_use]
    pub const fn release(&self) -> Release {
        self.release
    }

    /// Returns the profile of another release with the same departures.
    #[must_use]
    pub fn at_release(&self, release: Release) -> Self {
        Self { release, overrides: self.overrides.clone() }
    }

    /// Replaces the value of a row: a mutant, or a vendor's difference.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: Value) -> Self {
        self.overrides.insert(name, value);
        self
    }

    /// Returns the value of a row.
    ///
    /// # Panics
    /// There is no such row, or none of its values is that old: a mistake in this crate.
    #[must_use]
    pub fn value(&self, name: &str) -> Value {
        if let Some(value) = self.overrides.get(name) {
            return *value;
        }
        row(name)
            .and_then(|row| row.value_at(self.release))
            .unwrap_or_else(|| panic!("{}", format!("no row {name:?} for {}", self.release)))
    }

    /// Tells whether a behaviour is there.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.value(name) == Value::Bool(true)
    }

    /// Returns a duration.
    #[must_use]
    pub fn duration(&self, name: &str) -> SignedDuration {
        match self.value(name) {
            Value::Duration(duration) => duration,
            value => panic!("{}", format!("row {name:?} is no duration but {value:?}")),
        }
    }

    /// Returns a number.
    #[must_use]
    pub fn number(&self, name: &str) -> f64 {
        match self.value(name) {
            Value::Number(number) => number,
            value => panic!("{}", format!("row {name:?} is no number but {value:?}")),
        }
    }

    /// Returns a text.
    #[must_use]
    pub fn text(&self, name: &str) -> &'static str {
        match self.value(name) {
            Value::Text(text) => text,
            value => panic!("{}", format!("row {name:?} is no text but {value:?}")),
        }
    }
}
