//! All scenarios of some feature files, checked and named, with the reason why one is not run.

use std::path::{Path, PathBuf};

use nodeproof_core::profile::{DEFAULT_RELEASE, Release};

use super::embedded;
use super::options::Options;
use super::snapshots::Store;
use crate::load::{FeatureFile, Problem, Requirements, Source, Tags, check, find_sources};
use crate::steps::{Compiled, compile};

/// The backend's part of trial names.
pub(super) const SIM: &str = "sim";

/// A scenario that could be run.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The trial's name: `sim::area::topic::scenario[::row]`.
    pub name: String,
    /// The words and what they mean.
    pub compiled: Compiled,
    /// The feature file.
    pub path: String,
}

impl Planned {
    /// Returns the release on which the scenario runs: its own, or that of the run.
    #[must_use]
    pub fn release(&self, options: &Options) -> Release {
        self.compiled.scenario.cluster.release.unwrap_or(options.release)
    }

    /// Tells why the scenario cannot be judged in this run, whatever is selected.
    #[must_use]
    pub fn obstacle(&self, options: &Options) -> Option<String> {
        if let Some(why) = &self.compiled.tags.live_only {
            return Some(format!("live only: {why}"));
        }
        self.compiled.tags.other_release(self.release(options))
    }

    /// Tells why the scenario is not run.
    #[must_use]
    pub fn skipped(&self, options: &Options) -> Option<String> {
        if !options.selection.meets(&self.compiled.tags) {
            return options.selection.text().map(|text| format!("not selected by {text}"));
        }
        self.obstacle(options)
    }

    /// Tells whether the scenario says something about the default release, for which snapshots are stored first.
    pub(super) fn is_for_default_release(&self) -> bool {
        let own = self.compiled.scenario.cluster.release.unwrap_or(DEFAULT_RELEASE);
        own == DEFAULT_RELEASE && self.tags().other_release(DEFAULT_RELEASE).is_none()
    }

    /// Returns the tags in force.
    #[must_use]
    pub const fn tags(&self) -> &Tags {
        &self.compiled.tags
    }
}

/// Feature files, checked.
#[derive(Debug, Clone, Default)]
pub struct Suite {
    /// The scenarios of the files without problems, in order of file and line.
    pub planned: Vec<Planned>,
    /// The files with problems: trial name, path and problems.
    pub broken: Vec<(String, String, Vec<Problem>)>,
    /// Where the snapshots of these scenarios are.
    pub store: Store,
    /// The requirements that tags may name.
    pub requirements: Requirements,
    /// The places that were asked for and hold nothing.
    pub missing: Vec<Problem>,
    /// Whether these are all features of their tree, so that what they do not use is used by nobody.
    pub is_whole: bool,
}

impl Suite {
    /// Loads the features that the program carries.
    #[must_use]
    pub fn built_in() -> Self {
        let requirements = embedded::file(REQUIREMENTS).unwrap_or_default();
        let requirements = Requirements::parse(&requirements).unwrap_or_default();
        Self::of(&embedded::features(), requirements, Store::BuiltIn)
    }

    /// Loads files and directories; without any, `features/` here, or else what the program carries.
    #[must_use]
    pub fn load(paths: &[PathBuf]) -> Self {
        let here = Path::new("features");
        if paths.is_empty() && !here.is_dir() {
            return Self::built_in();
        }
        let default = [here.to_owned()];
        let paths = if paths.is_empty() { &default[..] } else { paths };
        let (sources, mut missing) = find_sources(paths);
        let requirements = match requirements_beside(paths) {
            Ok(requirements) => requirements,
            Err(problem) => {
                missing.push(*problem);
                Requirements::default()
            }
        };
        let mut suite = Self::of(&sources, requirements, Store::beside(paths));
        suite.missing = missing;
        suite.is_whole =
            paths.iter().any(|path| path.is_dir() && path.file_name().is_some_and(|name| name == "features"));
        suite
    }

    /// Loads the feature files of a source tree, or of them only the one that holds a trial.
    ///
    /// Requirements are not looked up for a single trial: reading them costs more than the trial itself.
    #[must_use]
    pub fn of_tree(root: &Path, only: Option<&str>) -> Self {
        let (mut sources, missing) = find_sources(&[root.join("features")]);
        sources.iter_mut().for_each(|source| embedded::show_below(root, source));
        let requirements = match only {
            Some(name) => {
                let id = name.strip_prefix("sim::").unwrap_or(name);
                sources.retain(|source| id == source.id || id.starts_with(&format!("{}::", source.id)));
                Requirements::default()
            }
            None => {
                let text = std::fs::read_to_string(root.join(REQUIREMENTS)).unwrap_or_default();
                Requirements::parse(&text).unwrap_or_default()
            }
        };
        let mut suite = Self::of(&sources, requirements, Store::Tree(root.join("snapshots")));
        suite.missing = missing;
        suite.is_whole = only.is_none();
        suite
    }

    fn of(sources: &[Source], requirements: Requirements, store: Store) -> Self {
        let files = check(sources, &requirements);
        let mut suite = Self { store, requirements, ..Self::default() };
        for file in &files {
            suite.add(file);
        }
        suite
    }

    fn add(&mut self, file: &FeatureFile) {
        let (compiled, problems) = compile(file);
        if !problems.is_empty() {
            self.broken.push((format!("{SIM}::{}::feature_file", file.id), file.path.clone(), problems));
            return;
        }
        self.planned.extend(compiled.into_iter().map(|compiled| Planned {
            name: format!("{SIM}::{}", compiled.id),
            path: file.path.clone(),
            compiled,
        }));
    }

    /// Returns what is wrong with stored snapshots that no scenario uses; nothing unless all features were loaded.
    #[must_use]
    pub fn unused_snapshots(&self) -> Vec<String> {
        let area = |name: &str| {
            let parts: Vec<&str> = name.split("::").skip(1).collect();
            parts[..parts.len().saturating_sub(1)].join("/")
        };
        let broken = self.broken.iter().map(|(name, ..)| area(name)).collect();
        if self.is_whole { self.store.unused(&self.planned, &broken) } else { Vec::new() }
    }

    /// Returns all problems, those of missing places first.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.missing.iter().chain(self.broken.iter().flat_map(|(.., problems)| problems))
    }
}

const REQUIREMENTS: &str = "features/requirements.yaml";

/// Reads the `requirements.yaml` that belongs to some features: in the directory itself or above it.
fn requirements_beside(paths: &[PathBuf]) -> Result<Requirements, Box<Problem>> {
    for path in paths {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let Some(found) =
            absolute.ancestors().take(4).map(|up| up.join("requirements.yaml")).find(|file| file.is_file())
        else {
            continue;
        };
        let shown = found.to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&found);
        let text = text.map_err(|error| Box::new(Problem::of_file(&shown, format!("cannot be read: {error}"))))?;
        return Requirements::parse(&text).map_err(|why| Box::new(Problem::of_file(&shown, why)));
    }
    let built_in = embedded::file(REQUIREMENTS).unwrap_or_default();
    Ok(Requirements::parse(&built_in).unwrap_or_default())
}
