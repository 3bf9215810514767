//! What differs between releases of Kubernetes, as data.
//!
//! One row per behaviour, which code asks for by name; one file per release ([`releases`]) with what is first true in
//! it. Invariant: code asks for a behaviour and never for a version; `src/tidy` refuses code that does. Release,
//! feature gate and flag are independent: a flag's *default* is a row here, its value in force is in [`Settings`].

mod controller_rows;
mod election_rows;
mod flag_rows;
mod gates;
mod known_releases;
mod kubelet_gates;
mod kubelet_rows;
mod release;
pub mod releases;
mod row;
mod rows;
mod settings;
mod upstream_flags;
mod value;

use alloc::collections::BTreeMap;
use alloc::format;

use jiff::SignedDuration;

use crate::objects::schema::Schema;
pub use gates::{Gate, gates};
pub use known_releases::{UnknownRelease, list_releases, releases_between};
pub use release::Release;
use releases::ColumnChange;
pub use releases::{DEFAULT_RELEASE, RELEASES};
pub use row::Row;
pub use rows::{row, rows};
pub use settings::{Race, Settings, SettingsError};
pub use value::{GateStage, Value};

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
    /// There is no such row, or it has no value at this release: a mistake in this crate.
    #[must_use]
    pub fn value(&self, name: &str) -> Value {
        if let Some(value) = self.overrides.get(name) {
            return *value;
        }
        rows::value_at(name, self.release)
            .unwrap_or_else(|| panic!("{}", format!("no row {name:?} for {}", self.release)))
    }

    /// Tells whether the release has a behaviour.
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

    /// Returns the fields of the API's types.
    #[must_use]
    pub fn schema(&self) -> Schema {
        Schema::new(releases::up_to(self.release).flat_map(|data| data.fields.lines()))
    }

    /// Returns how roles have changed since the oldest release, oldest change first; see
    /// [`releases::ReleaseData::roles`].
    pub fn role_changes(&self) -> impl Iterator<Item = &'static str> {
        releases::up_to(self.release).flat_map(|data| data.roles.lines())
    }

    /// Returns how the columns of tables have changed since the oldest release, oldest change first.
    pub fn column_changes(&self) -> impl Iterator<Item = &'static ColumnChange> {
        releases::up_to(self.release).flat_map(|data| data.columns)
    }
}
