//! A behaviour of Kubernetes that code asks for by name, with its values by release.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::release::OLDEST;
use super::value::Value;
use super::{Release, releases};
use crate::objects::is_same;

/// One behaviour.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its name, by which components ask.
    pub name: &'static str,
    /// What it says, in a sentence.
    pub says: &'static str,
    /// The values of releases before those that are offered, with the release since which each holds, oldest first.
    pub first: &'static [(Release, Value)],
    /// Its source; empty if the release that changes it names it.
    pub source: &'static str,
    /// The component and flag that sets it, as `kube-controller-manager.node-monitor-period`; empty for none.
    pub flag: &'static str,
}

/// A behaviour that came with an offered release, whose file names the source.
pub(super) const fn off(name: &'static str, says: &'static str) -> Row {
    Row { name, says, first: &[(OLDEST, Value::Bool(false))], source: "", flag: "" }
}

/// A behaviour that went with an offered release, whose file names the source.
pub(super) const fn on(name: &'static str, says: &'static str) -> Row {
    Row { name, says, first: &[(OLDEST, Value::Bool(true))], source: "", flag: "" }
}

/// Returns the last of some values, oldest first, that holds at a release.
pub(super) fn latest(values: &[(Release, Value)], release: Release) -> Option<Value> {
    values.iter().rev().find(|(since, _)| *since <= release).map(|(_, value)| *value)
}

impl Row {
    /// Returns the value at a release.
    #[must_use]
    pub fn value_at(&self, release: Release) -> Option<Value> {
        latest(&self.values(), release)
    }

    /// Returns the values with the release since which each holds, oldest first.
    #[must_use]
    pub fn values(&self) -> Vec<(Release, Value)> {
        let changes = self.changes().map(|change| (change.since, change.value));
        self.first.iter().copied().chain(changes).collect()
    }

    /// Tells which releases have it, if not all of them do, as `before 1.27`.
    #[must_use]
    pub fn when_known(&self) -> String {
        let values = self.values();
        let changes = values.iter().enumerate().filter_map(|(at, (since, value))| {
            let before = at.checked_sub(1).map_or(Value::Gone, |before| values[before].1);
            match (before == Value::Gone, *value == Value::Gone) {
                (true, false) if *since != OLDEST => Some(format!("since {}", since.minor_name())),
                (false, true) => Some(format!("before {}", since.minor_name())),
                _ => None,
            }
        });
        changes.collect::<Vec<_>>().join(" and ")
    }

    fn changes(&self) -> impl Iterator<Item = &'static releases::RowChange> {
        releases::all().iter().flat_map(|data| data.rows).filter(|change| is_same(change.row, self.name))
    }

    /// Returns the sources of the values.
    #[must_use]
    pub fn sources(&self) -> String {
        let mut sources: Vec<&str> = Vec::new();
        for source in [self.source].into_iter().chain(self.changes().map(|change| change.source)) {
            if !source.is_empty() && !sources.contains(&source) {
                sources.push(source);
            }
        }
        sources.join("; ")
    }
}

/// A row that no flag sets and whose source stands with the release that changes it.
pub(super) const PLAIN: Row = Row { name: "", says: "", first: &[], source: "", flag: "" };
