//! The flags in force: the profile's defaults and what was set over them.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::SignedDuration;

use super::{Profile, ROWS, Release, Value};

/// A profile with the flags and feature gates of one cluster.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Settings {
    profile: Profile,
    flags: BTreeMap<&'static str, Value>,
    gates: BTreeMap<String, bool>,
}

/// A setting that cannot be had.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SettingsError {
    /// No component has the flag.
    #[error("unknown flag {flag:?}{}", did_you_mean.as_ref().map(|near| alloc::format!(": did you mean {near:?}?")).unwrap_or_default())]
    UnknownFlag {
        /// The flag as it was given.
        flag: String,
        /// The nearest flag that there is.
        did_you_mean: Option<String>,
    },
    /// The value does not fit the flag.
    #[error("flag {flag:?} cannot be {value:?}: {why}")]
    BadValue {
        /// The flag.
        flag: String,
        /// The value as it was given.
        value: String,
        /// What is wrong with it, and what would fit.
        why: String,
    },
}

impl Settings {
    /// Returns the defaults of a release.
    #[must_use]
    pub const fn of(release: Release) -> Self {
        Self { profile: Profile::of(release), flags: BTreeMap::new(), gates: BTreeMap::new() }
    }

    /// Returns the defaults of a profile.
    #[must_use]
    pub const fn with_profile(profile: Profile) -> Self {
        Self { profile, flags: BTreeMap::new(), gates: BTreeMap::new() }
    }

    /// Returns the same flags and gates with the defaults of another release, as a component has that is not upgraded.
    #[must_use]
    pub fn at_release(&self, release: Release) -> Self {
        Self { profile: self.profile.at_release(release), ..self.clone() }
    }

    /// Returns the profile.
    #[must_use]
    pub const fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Returns the value in force of a row that has a flag.
    #[must_use]
    pub fn value(&self, name: &str) -> Value {
        self.flags.get(name).copied().unwrap_or_else(|| self.profile.value(name))
    }

    /// Returns a duration in force.
    #[must_use]
    pub fn duration(&self, name: &str) -> SignedDuration {
        match self.value(name) {
            Value::Duration(duration) => duration,
            _ => self.profile.duration(name),
        }
    }

    /// Returns a number in force.
    #[must_use]
    pub fn number(&self, name: &str) -> f64 {
        match self.value(name) {
            Value::Number(number) => number,
            _ => self.profile.number(name),
        }
    }

    /// Sets a flag, `[COMPONENT.]FLAG`, from its text; the component may be left out where only one has the flag.
    ///
    /// # Errors
    /// The flag is unknown, or the value does not fit; nothing is changed then.
    pub fn set(&mut self, flag: &str, value: &str) -> Result<(), SettingsError> {
        let rows: Vec<_> = ROWS
            .iter()
            .filter(|row| {
                !row.flag.is_empty()
                    && (row.flag == flag || row.flag.split_once('.').is_some_and(|(_, short)| short == flag))
            })
            .collect();
        let [row] = rows.as_slice() else {
            return Err(SettingsError::UnknownFlag { flag: String::from(flag), did_you_mean: None });
        };
        let bad = |why: &str| SettingsError::BadValue {
            flag: String::from(flag),
            value: String::from(value),
            why: String::from(why),
        };
        let parsed = match self.profile.value(row.name) {
            Value::Bool(_) => value.parse().map(Value::Bool).map_err(|_| bad("true or false is needed"))?,
            Value::Number(_) => value.parse().map(Value::Number).map_err(|_| bad("a number is needed"))?,
            Value::Duration(_) => value
                .parse()
                .map(Value::Duration)
                .map_err(|_| bad("a duration with a unit is needed, as \"40s\" or \"5m\""))?,
            Value::Text(_) => return Err(bad("it cannot be set")),
        };
        self.flags.insert(row.name, parsed);
        Ok(())
    }
}
