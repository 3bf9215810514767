//! A scenario of a suite, and the reason why it is not run.

use nodeproof_core::profile::Release;

use super::options::SuiteOptions;
use crate::load::Tags;
use crate::steps::Compiled;

/// A scenario of a suite.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The trial's name: `BACKEND::area::topic::scenario[::row]`.
    pub name: String,
    /// The compiled scenario.
    pub compiled: Compiled,
    /// The feature file.
    pub path: String,
}

impl Planned {
    /// Returns the release on which the scenario runs: its own, or that of the run.
    #[must_use]
    pub fn release(&self, options: &SuiteOptions) -> Release {
        self.compiled.scenario.cluster.release.unwrap_or(options.release)
    }

    /// Returns why the scenario cannot be judged in this run, whatever is selected.
    #[must_use]
    pub fn obstacle(&self, options: &SuiteOptions) -> Option<String> {
        let other = self.compiled.tags.other_release(self.release(options));
        other.or_else(|| options.runner.obstacle(self, options))
    }

    /// Returns why the scenario is not run.
    #[must_use]
    pub fn skipped(&self, options: &SuiteOptions) -> Option<String> {
        if !options.selection.meets(&self.compiled.tags) {
            return options.selection.text().map(|text| format!("not selected by {text}"));
        }
        self.obstacle(options)
    }

    /// Returns what the scenario uses and what is not modelled, as far as that is known before it runs.
    #[must_use]
    pub fn not_modelled(&self) -> Option<&str> {
        self.compiled.scenario.not_modelled.as_deref()
    }

    /// Returns why the scenario cannot be run; empty if it can.
    #[must_use]
    pub fn flaw(&self) -> String {
        let flaw = self.compiled.flaw.as_ref();
        flaw.map_or_else(String::new, |flaw| format!("{}: {}", flaw.place(), flaw.message))
    }

    /// Returns the release whose snapshots have no release in their names: the scenario's own, or else the fitting one.
    pub(super) fn first_release(&self) -> Release {
        self.compiled.scenario.cluster.release.unwrap_or_else(|| self.fitting_release())
    }

    /// Returns the default release if the scenario is for it, or else the newest for which it is.
    #[must_use]
    pub fn fitting_release(&self) -> Release {
        self.tags().fitting_release()
    }

    /// Returns the tags in force.
    #[must_use]
    pub const fn tags(&self) -> &Tags {
        &self.compiled.tags
    }
}
