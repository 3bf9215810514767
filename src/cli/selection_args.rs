//! The options of `run` and `compare` that select scenarios, release and seed.

use std::num::NonZeroUsize;

use nodeproof_core::profile::{DEFAULT_RELEASE, Release, list_releases};

use crate::harness::{Planned, Selection, Suite, SuiteOptions, parse_release, parse_seed};

/// Which scenarios, on what.
#[derive(Debug, clap::Args)]
pub(super) struct SelectionArgs {
    #[arg(long, value_name = "RELEASE", value_parser = parse_release, help = which_release())]
    k8s: Option<Release>,
    /// Only scenarios whose tags fulfil this, as in '@core and not @slow'; default: NODEPROOF_TAGS
    #[arg(long, value_name = "EXPRESSION", value_parser = Selection::parse)]
    tags: Option<Selection>,
    /// The seed of all free choices; default: NODEPROOF_SEED, or else 1
    #[arg(long, value_name = "N", value_parser = parse_seed)]
    seed: Option<u64>,
    /// How many scenarios run at a time; default: one for each core, on a real cluster as many as it can take
    #[arg(long, value_name = "N")]
    pub(super) jobs: Option<NonZeroUsize>,
    /// Only the scenario of exactly this name
    #[arg(long, value_name = "NAME")]
    pub(super) only: Option<String>,
}

impl SelectionArgs {
    /// Returns the options of the suite: command line first, then environment variables, then defaults.
    ///
    /// # Errors
    /// A variable has a value that it cannot have.
    pub(super) fn options(&self) -> Result<SuiteOptions, String> {
        let mut options = SuiteOptions::from_environment()?;
        options.release = self.k8s.unwrap_or(options.release);
        options.seed = self.seed.unwrap_or(options.seed);
        options.selection = self.tags.clone().unwrap_or(options.selection);
        Ok(options)
    }

    /// Returns the selected scenarios. Those that must run alone come last: otherwise the others would wait for them in
    /// turn.
    ///
    /// # Errors
    /// There is none of the name, or none that the tags select.
    pub(super) fn of<'a>(&self, suite: &'a Suite, options: &SuiteOptions) -> Result<Vec<&'a Planned>, String> {
        let mut chosen: Vec<&Planned> = suite.planned.iter().collect();
        if let Some(name) = &self.only {
            chosen = named(chosen, name)?;
        }
        if chosen.is_empty() {
            return Err("there is no scenario to run".to_owned());
        }
        if !chosen.iter().any(|planned| options.selection.meets(planned.tags())) {
            return Err(format!("{} selects no scenario", options.selection.text().unwrap_or_default()));
        }
        chosen.sort_by_cached_key(|planned| options.runner.runs_alone(planned, options));
        Ok(chosen)
    }
}

/// Returns the scenario of exactly this name, given with or without its backend.
///
/// # Errors
/// There is none.
pub(super) fn named<'a>(of: Vec<&'a Planned>, name: &str) -> Result<Vec<&'a Planned>, String> {
    let is_it = |planned: &&&Planned| planned.name == name || planned.compiled.id == name;
    let found: Vec<&Planned> = of.iter().filter(is_it).copied().collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let near = crate::load::near::nearest(name, of.iter().map(|planned| planned.name.as_str()));
    let help = near.map_or_else(String::new, |near| format!(": did you mean {near}?"));
    Err(format!("there is no scenario {name}{help}"))
}

fn which_release() -> String {
    let (known, default) = (list_releases(Release::minor_name, "or"), DEFAULT_RELEASE.minor_name());
    format!("The release of Kubernetes: {known}; default: NODEPROOF_K8S, or else {default}")
}
