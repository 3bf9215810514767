//! All scenarios of some feature files, checked and named.
//!
//! Inputs: paths of features, requirements, snapshots and fixtures. Output: a [`Suite`] with its scenarios, the files
//! that have problems, and the paths that hold nothing. Invariant: no scenario with a problem is run, and none of a
//! file that has a problem outside its rules and scenarios.

use std::path::{Path, PathBuf};

use nodeproof_core::objects::Text;

use super::embedded::{self, REQUIREMENTS};
use super::parallel::each_in_order;
use super::planned::Planned;
use super::runner::Backend;
use super::snapshots::Store;
use crate::load::{FeatureFile, Problem, Requirements, Source, check, find_sources};
use crate::steps::{CompileContext, Compiled, Fixtures, Own, compile_in};

/// The paths of a suite, and the user's own steps.
#[derive(Debug, Clone, Default)]
pub struct SuitePaths {
    /// Feature files, or directories with all that is below them. Default `features/` here, or else what the program
    /// carries.
    pub features: Vec<PathBuf>,
    /// The file of the requirements. Default `requirements.yaml` beside the features or above them.
    pub requirements: Option<PathBuf>,
    /// The directory of the snapshots. Default `snapshots` beside `features`.
    pub snapshots: Option<PathBuf>,
    /// The directory of the files that scenarios refer to. Default `fixtures` beside `features`.
    pub fixtures: Option<PathBuf>,
    /// Actions and looks of the user's own steps.
    pub own: Own,
    /// The backend that the scenarios run on, which is the first part of their names. Default the simulator.
    pub backend: Backend,
}

impl SuitePaths {
    /// Returns the default paths below the root of a source tree.
    #[must_use]
    pub fn of_tree(root: &Path) -> Self {
        Self {
            features: vec![root.join("features")],
            requirements: Some(root.join(REQUIREMENTS)).filter(|file| file.is_file()),
            snapshots: Some(root.join("snapshots")),
            fixtures: Some(root.join("fixtures")),
            own: Own::default(),
            backend: Backend::Sim,
        }
    }

    fn compile_context(&self, default: Fixtures) -> CompileContext {
        let fixtures = self.fixtures.clone().map_or(default, Fixtures::Directory);
        CompileContext { own: self.own.clone(), fixtures }
    }
}

/// A file with problems.
#[derive(Debug, Clone)]
pub struct Broken {
    /// The name of the trial that shows the problems.
    pub name: String,
    /// The file.
    pub path: String,
    /// The problems.
    pub problems: Vec<Problem>,
    /// Its scenarios that cannot be run, as far as they are known: each has a flaw.
    pub disabled: Vec<Planned>,
    /// Whether nothing is known of its scenarios.
    pub is_unread: bool,
}

/// Feature files, checked.
#[derive(Debug, Clone, Default)]
pub struct Suite {
    /// The scenarios without problems, in order of file and line.
    pub planned: Vec<Planned>,
    /// The files with problems.
    pub broken: Vec<Broken>,
    /// Where the snapshots of these scenarios are.
    pub store: Store,
    /// Actions and looks of the user's own steps.
    pub own: Own,
    /// The requirements that `@req:` tags may name.
    pub requirements: Requirements,
    /// The paths that were given and hold no feature.
    pub missing: Vec<Problem>,
    /// The feature files as they were read.
    pub sources: Vec<Source>,
    /// Whether all features of the tree were loaded, so that a snapshot that none of them uses is unused.
    pub is_whole: bool,
}

impl Suite {
    /// Loads those of the features that the program carries that have one of these paths or are below one; all of them
    /// without paths.
    #[must_use]
    pub fn built_in(suite_paths: &SuitePaths) -> Self {
        let (requirements, problem) = match &suite_paths.requirements {
            Some(file) => requirements_in(file),
            None => (embedded::requirements(), None),
        };
        let store = suite_paths.snapshots.clone().map_or(Store::BuiltIn, Store::Tree);
        let mut suite = Self::of(
            &embedded::features_at(&suite_paths.features),
            requirements,
            store,
            suite_paths.backend,
            &suite_paths.compile_context(Fixtures::BuiltIn(embedded::fixture)),
        );
        suite.missing.extend(problem);
        suite
    }

    /// Loads files and directories. Without any, loads `features/` here. Where there is no such directory, paths that
    /// begin with it are those of the features that the program carries.
    #[must_use]
    pub fn load(suite_paths: &SuitePaths) -> Self {
        let here = Path::new("features");
        let is_built_in = |path: &PathBuf| !embedded::features_at(std::slice::from_ref(path)).is_empty();
        if !here.exists() && suite_paths.features.iter().all(is_built_in) {
            return Self::built_in(suite_paths);
        }
        let default = [here.to_owned()];
        let paths = if suite_paths.features.is_empty() { &default[..] } else { &suite_paths.features };
        let (sources, mut missing) = find_sources(paths);
        let (requirements, problem) = match &suite_paths.requirements {
            Some(file) => requirements_in(file),
            None => requirements_beside(paths, &sources),
        };
        missing.extend(problem);
        for directory in
            [&suite_paths.snapshots, &suite_paths.fixtures].into_iter().flatten().filter(|path| path.is_file())
        {
            missing.push(Problem::of_file(&directory.to_string_lossy(), "this is a file, and no directory"));
        }
        if let Some(fixtures) = suite_paths.fixtures.as_ref().filter(|path| !path.exists()) {
            let problem = Problem::of_file(&fixtures.to_string_lossy(), "there is no such directory");
            missing.push(problem.help("--fixtures names the directory of the files in `the objects in \"FILE\"`"));
        }
        let beside = beside(paths);
        let store = Store::Tree(suite_paths.snapshots.clone().unwrap_or_else(|| beside.join("snapshots")));
        let fixtures = Fixtures::Directory(beside.join("fixtures"));
        let mut suite =
            Self::of(&sources, requirements, store, suite_paths.backend, &suite_paths.compile_context(fixtures));
        suite.missing = missing;
        suite.is_whole = paths.iter().any(|path| path.is_dir() && is_whole(path));
        suite
    }

    /// Loads the feature files of a source tree, or only the file that holds a trial.
    ///
    /// For a single trial the requirements are not read: that would take longer than the trial itself.
    #[must_use]
    pub fn of_tree(root: &Path, suite_paths: &SuitePaths, only: Option<&str>) -> Self {
        let (mut sources, mut missing) = find_sources(&suite_paths.features);
        sources.iter_mut().for_each(|source| embedded::show_below(root, source));
        let requirements = match (only, &suite_paths.requirements) {
            (Some(name), _) => {
                let id = name.split_once("::").map_or(name, |(_, id)| id);
                sources.retain(|source| id == source.id || id.starts_with(&format!("{}::", source.id)));
                Requirements::default()
            }
            (None, Some(file)) => {
                let (requirements, problem) = requirements_in(file);
                missing.extend(problem);
                requirements
            }
            (None, None) => Requirements::default(),
        };
        let store = Store::Tree(suite_paths.snapshots.clone().unwrap_or_else(|| root.join("snapshots")));
        let fixtures = Fixtures::Directory(root.join("fixtures"));
        let mut suite =
            Self::of(&sources, requirements, store, suite_paths.backend, &suite_paths.compile_context(fixtures));
        suite.missing = missing;
        suite.is_whole = only.is_none();
        suite
    }

    fn of(
        sources: &[Source],
        requirements: Requirements,
        store: Store,
        backend: Backend,
        compile_context: &CompileContext,
    ) -> Self {
        let files = check(sources, &requirements);
        let own = compile_context.own.clone();
        let mut suite = Self { store, requirements, own, sources: sources.to_vec(), ..Self::default() };
        let compiled = |file: &FeatureFile| Some(compile_in(file, compile_context));
        each_in_order(&files, None, compiled, |file, compiled| suite.add(file, backend, compiled));
        suite
    }

    fn add(&mut self, file: &FeatureFile, backend: Backend, (compiled, problems): (Vec<Compiled>, Vec<Problem>)) {
        let backend = backend.name();
        let is_unread = compiled.is_empty();
        let planned = compiled.into_iter().map(|compiled| Planned {
            name: format!("{backend}::{}", compiled.id),
            path: file.path.clone(),
            compiled,
        });
        let (sound, disabled): (Vec<Planned>, Vec<Planned>) =
            planned.partition(|planned| planned.compiled.flaw.is_none());
        self.planned.extend(sound);
        if !problems.is_empty() {
            let name = format!("{backend}::{}::feature_file", file.id);
            self.broken.push(Broken { name, path: file.path.clone(), problems, disabled, is_unread });
        }
    }

    /// Returns the scenarios that cannot be run, as far as they are known.
    pub fn disabled(&self) -> impl Iterator<Item = &Planned> {
        self.broken.iter().flat_map(|file| &file.disabled)
    }

    /// Gives flags of the control plane to all scenarios, whose own flags overrule them.
    pub fn set_flags(&mut self, flags: &[(Text, Text)]) {
        for planned in &mut self.planned {
            planned.compiled.scenario.cluster.flags.splice(0..0, flags.iter().cloned());
        }
    }

    /// Returns the stored snapshots that no scenario uses, each with its path; none unless all features were loaded.
    #[must_use]
    pub fn unused_snapshots(&self) -> Vec<(PathBuf, Problem)> {
        let area = |name: &str| {
            let parts: Vec<&str> = name.split("::").skip(1).collect();
            parts[..parts.len().saturating_sub(1)].join("/")
        };
        let broken = self.broken.iter().map(|file| area(&file.name)).collect();
        if self.is_whole { self.store.unused(&self.planned, &broken) } else { Vec::new() }
    }

    /// Returns all problems, those of missing places first.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.missing.iter().chain(self.broken.iter().flat_map(|file| &file.problems))
    }
}

/// Returns the directory that holds the other files of a suite: the one that contains `features`. If the features are
/// in a directory of another name, it is the nearest directory upwards that has such files, or else that directory
/// itself.
fn beside(paths: &[PathBuf]) -> PathBuf {
    let Some(first) = paths.first() else { return PathBuf::new() };
    let absolute = std::path::absolute(first).unwrap_or_else(|_| first.clone());
    let features = absolute.ancestors().find(|up| up.file_name().is_some_and(|name| name == "features"));
    if let Some(root) = features.and_then(Path::parent) {
        return root.to_owned();
    }
    let directory = if absolute.is_dir() { &*absolute } else { absolute.parent().unwrap_or(&absolute) };
    let files = ["features", "snapshots", "fixtures", "requirements.yaml"];
    let has_files = |up: &&Path| files.iter().any(|name| up.join(name).exists());
    directory.ancestors().take(4).find(has_files).unwrap_or(directory).to_owned()
}

/// Tells whether a directory holds all features of a suite.
fn is_whole(path: &Path) -> bool {
    let has = |name: &str| path.join(name).is_dir();
    path.file_name().is_some_and(|name| name == "features") || has("features") || has("snapshots")
}

/// Reads the `requirements.yaml` that belongs to some features: in a directory that was named, in its `features`, or
/// above it; or else above the first of the files that were found.
fn requirements_beside(paths: &[PathBuf], sources: &[Source]) -> (Requirements, Option<Problem>) {
    let found = sources.first().map(|source| PathBuf::from(&source.path));
    for path in paths.iter().chain(&found) {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let inside = std::iter::once(absolute.join(REQUIREMENTS));
        let above = absolute.ancestors().take(4).map(|up| up.join("requirements.yaml"));
        if let Some(found) = inside.chain(above).find(|file| file.is_file()) {
            return requirements_in(&found);
        }
    }
    (embedded::requirements(), None)
}

/// Returns a file's path as a user names it: from here, if it lies below.
fn shown(file: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    file.strip_prefix(here).unwrap_or(file).to_string_lossy().into_owned()
}

/// Reads a file of requirements. If it cannot be read, that is the problem, and any id passes.
fn requirements_in(file: &Path) -> (Requirements, Option<Problem>) {
    let text = std::fs::read_to_string(file).map_err(|error| format!("cannot be read: {error}"));
    let parsed = text.as_deref().map_err(|why| (0, why.clone())).and_then(Requirements::parse);
    let (line, why) = match parsed {
        Ok(requirements) => return (requirements.read_from(shown(file)), None),
        Err(wrong) => wrong,
    };
    let mut problem = Problem::of_file(&file.to_string_lossy(), format!("no file of requirements: {why}"));
    if let Some(excerpt) = text.iter().flat_map(|text| text.lines()).nth(line.wrapping_sub(1)) {
        let column = excerpt.chars().take_while(|c| c.is_whitespace()).count() + 1;
        problem =
            Problem { line, column, width: excerpt.trim().chars().count(), excerpt: excerpt.to_owned(), ..problem };
    }
    (Requirements::default(), Some(problem.help("as in\nnodes:\n- {id: OWN-01, says: a lost Node is replaced}")))
}

#[cfg(test)]
mod tests {
    use nodeproof_core::profile::Settings;
    use nodeproof_core::sim::{self, SetupCache};

    use super::super::options::SuiteOptions;
    use super::*;

    /// Without a trace the run is told of fewer changes, heartbeats of idle nodes are done without messages, and setups
    /// come from the cache. `ci/check-determinism` compares all scenarios so; here it is a twelfth of each half.
    #[test]
    fn a_run_comes_to_the_same_outcome_with_and_without_a_trace() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let suite = Suite::of_tree(root, &SuitePaths::of_tree(root), None);
        assert!(suite.planned.len() > 600, "{}", suite.planned.len());
        let (some, others) = suite.planned.split_at(suite.planned.len() / 2);
        std::thread::scope(|scope| {
            let all_alike = |planned: &[Planned]| {
                let mut cache = SetupCache::default();
                planned.iter().step_by(12).for_each(|planned| ends_alike(planned, &mut cache));
            };
            scope.spawn(move || all_alike(some));
            all_alike(others);
        });
    }

    #[track_caller]
    fn ends_alike(planned: &Planned, cache: &mut SetupCache) {
        let settings = Settings::of(planned.release(&SuiteOptions::default()));
        let options = |trace| sim::SimulationOptions {
            seed: 2,
            trace,
            settings: settings.clone(),
            ..sim::SimulationOptions::default()
        };
        let scenario = &planned.compiled.scenario;
        let brief = sim::run_scenario_with(scenario, options(false), &sim::Own::default(), cache);
        let whole = sim::run_scenario(scenario, options(true));
        let whole = nodeproof_core::scenario::Outcome { trace: Vec::new(), ..whole };
        assert_eq!(brief.steps, whole.steps, "{}", planned.name);
        assert_eq!(brief.snapshots, whole.snapshots, "{}", planned.name);
        assert!(brief == whole, "{}: histories or decisions differ", planned.name);
    }

    #[test]
    fn other_files_stand_beside_the_features() {
        let beside = |path: &str| beside(&[PathBuf::from(path)]);
        assert_eq!(beside("/x/features/a/b.feature"), Path::new("/x"));
        assert_eq!(beside("/x/own/b.feature"), Path::new("/x/own"));
        assert_eq!(beside(concat!(env!("CARGO_MANIFEST_DIR"), "/.")), Path::new(env!("CARGO_MANIFEST_DIR")));
    }
}
