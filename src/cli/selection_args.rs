//! The options of `run` and `compare` that select scenarios, release, settings and seed.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use nodeproof_core::objects::Json;
use nodeproof_core::profile::{DEFAULT_RELEASE, RELEASES, Release, list_releases};
use nodeproof_core::sim::DEFAULT_START;

use super::control::setting;
use crate::control::Setup;
use crate::harness::{Planned, RunSettings, Selection, Suite, SuiteOptions, parse_release, parse_seed, release_name};

/// The releases of a run, as they were given.
#[derive(Debug, Clone)]
pub(super) struct Releases(Vec<Release>);

/// Reads a release, several with commas between them, or `all`.
fn parse_releases(text: &str) -> Result<Releases, String> {
    if text == "all" {
        return Ok(Releases(RELEASES.to_vec()));
    }
    let releases = text.split(',').map(parse_release).collect::<Result<Vec<_>, _>>()?;
    for (at, release) in releases.iter().enumerate() {
        if releases[..at].contains(release) {
            return Err(format!("{} is there twice", release_name(*release)));
        }
    }
    Ok(Releases(releases))
}

/// Which scenarios, on what.
#[derive(Debug, clap::Args)]
pub(super) struct SelectionArgs {
    #[arg(long, value_name = "RELEASE", value_parser = parse_releases, help = which_release())]
    k8s: Option<Releases>,
    /// A setting of the whole run, as kube-controller-manager.node-monitor-grace-period=20s or, of each kubelet,
    /// kubelet.nodeStatusUpdateFrequency=5s; a scenario's own settings overrule it; can be repeated
    #[arg(long, value_name = "[COMPONENT.]FLAG=VALUE", value_parser = setting)]
    set: Vec<(String, String)>,
    /// A file of such settings, YAML or JSON: `kube-controller-manager.node-monitor-grace-period: 20s`
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
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
        match self.releases() {
            [] => self.options_at(None),
            [one] => self.options_at(Some(*one)),
            _ => Err("several releases are for `nodeproof run`: give one".to_owned()),
        }
    }

    /// Returns the releases that were given: none for the default.
    pub(super) fn releases(&self) -> &[Release] {
        self.k8s.as_ref().map_or(&[], |given| &given.0)
    }

    /// Returns the options of the suite on a release.
    ///
    /// # Errors
    /// As [`Self::options`].
    pub(super) fn options_at(&self, release: Option<Release>) -> Result<SuiteOptions, String> {
        let mut options = SuiteOptions::from_environment()?;
        options.release = release.unwrap_or(options.release);
        options.seed = self.seed.unwrap_or(options.seed);
        options.selection = self.tags.clone().unwrap_or(options.selection);
        options.settings = self.run_settings(options.release)?;
        Ok(options)
    }

    fn run_settings(&self, release: Release) -> Result<Option<RunSettings>, String> {
        let mut given = self.settings.as_deref().map_or_else(|| Ok(Vec::new()), settings_in)?;
        given.extend(self.set.iter().cloned());
        if given.is_empty() {
            return Ok(None);
        }
        if given.iter().any(|(flag, _)| flag.rsplit('.').next() == Some("controllers")) {
            return Err("controllers are no setting of a run: a scenario says `Given ttl-controller stops`".to_owned());
        }
        let setup = setup_of(release, &given).map_err(|error| {
            let wrong = self.settings.as_deref().map(|file| wrong_lines(release, file)).unwrap_or_default();
            if wrong.is_empty() { error } else { wrong.join("\n") }
        })?;
        let flags = setup.control_plane_flags();
        Ok(Some(RunSettings { given, flags, settings: setup.options().settings }))
    }

    /// Returns the selected scenarios. In real time those that must run alone come last: otherwise the others would
    /// wait for them in turn. The longest of each come first, so that none is waited for at the end.
    ///
    /// # Errors
    /// There is none of the name, none at a place, or none that the tags select.
    pub(super) fn of<'a>(
        &self,
        suite: &'a Suite,
        options: &SuiteOptions,
        places: &[Place],
    ) -> Result<Vec<&'a Planned>, String> {
        let mut chosen: Vec<&Planned> = suite.planned.iter().collect();
        if !places.is_empty() {
            chosen = at_places(&chosen, places)?;
        }
        if let Some(name) = &self.only {
            chosen = named(chosen, name)?;
        }
        if chosen.is_empty() {
            return Err("there is no scenario to run".to_owned());
        }
        if !chosen.iter().any(|planned| options.selection.meets(planned.tags())) {
            return Err(format!("{} selects no scenario", options.selection.text().unwrap_or_default()));
        }
        chosen.sort_by_cached_key(|planned| options.runner.turn(planned, options));
        Ok(chosen)
    }
}

/// A path that was given, with the line behind it if there is one.
#[derive(Debug, Clone)]
pub(super) struct Place {
    file: PathBuf,
    line: Option<usize>,
}

/// Splits `FILE:LINE`; returns the paths, and if one has a line, all as places.
pub(super) fn split_places(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<Place>) {
    let places: Vec<Place> = paths.iter().map(|path| place(path)).collect();
    let files = places.iter().map(|place| place.file.clone()).collect();
    (files, if places.iter().any(|place| place.line.is_some()) { places } else { Vec::new() })
}

fn place(path: &Path) -> Place {
    let split = path.to_str().filter(|_| !path.exists()).and_then(|text| text.rsplit_once(':'));
    match split.and_then(|(file, line)| Some((file, line.parse::<usize>().ok()?))) {
        Some((file, line)) => Place { file: PathBuf::from(file), line: Some(line) },
        None => Place { file: path.to_owned(), line: None },
    }
}

/// Returns the scenarios at some places: at a line of an outline's row that row, at any other the scenario or outline
/// to which the line belongs, above the first scenario all of the file; without a line all that is there.
fn at_places<'a>(of: &[&'a Planned], places: &[Place]) -> Result<Vec<&'a Planned>, String> {
    let mut chosen: Vec<&Planned> = Vec::new();
    for Place { file, line } in places {
        let here = || of.iter().filter(|planned| Path::new(&planned.path).starts_with(file)).copied();
        let Some(line) = *line else {
            chosen.extend(here());
            continue;
        };
        if file.is_dir() {
            return Err(format!("{}:{line}: a directory has no lines", file.display()));
        }
        let lines = std::fs::read_to_string(file).map_or(usize::MAX, |text| text.lines().count());
        if line == 0 || line > lines {
            return Err(format!("{}:{line}: the file has the lines 1 to {lines}", file.display()));
        }
        let is_row = |planned: &&Planned| planned.compiled.scenario.position.line as usize == line;
        let heading = here().map(|planned| planned.compiled.heading).filter(|heading| *heading <= line).max();
        match heading {
            _ if here().any(|planned| is_row(&planned)) => chosen.extend(here().filter(is_row)),
            Some(heading) => chosen.extend(here().filter(|planned| planned.compiled.heading == heading)),
            None => chosen.extend(here()),
        }
    }
    let mut names = std::collections::BTreeSet::new();
    chosen.retain(|planned| names.insert(&planned.name));
    Ok(chosen)
}

fn setup_of(release: Release, given: &[(String, String)]) -> Result<Setup, String> {
    Setup::new(release, 1, DEFAULT_START, given.to_vec(), Json::object()).map_err(|error| error.to_string())
}

/// Returns what is wrong with each line of a file of settings by itself: `mine.yaml:3: unknown flag "foo"`.
fn wrong_lines(release: Release, file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let about = |own: (String, String)| {
        let wrong = setup_of(release, std::slice::from_ref(&own)).err()?;
        let is_of = |line: &str| {
            let key = line.split_once(':').map_or("", |(key, _)| key);
            key.trim_matches(|c: char| c.is_whitespace() || "{\"'".contains(c)) == own.0
        };
        let line = text.lines().position(is_of).map_or_else(String::new, |at| format!("{}:", at + 1));
        Some(format!("{}:{line} {wrong}", file.display()))
    };
    settings_in(file).unwrap_or_default().into_iter().filter_map(about).collect()
}

/// Reads a file of settings.
fn settings_in(file: &Path) -> Result<Vec<(String, String)>, String> {
    let shown = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let value: serde_json::Value = serde_yaml::from_str(&text).map_err(|error| format!("{shown}: {error}"))?;
    let Some(fields) = value.as_object() else {
        return Err(format!("{shown}: settings are FLAG: VALUE, a line each, as node-monitor-grace-period: 40s"));
    };
    let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    Ok(fields.iter().map(|(flag, value)| (flag.clone(), text(value))).collect())
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
    let help = if help.is_empty() { ": --list names them".to_owned() } else { help };
    let name = if name.is_empty() { "without a name" } else { name };
    Err(format!("there is no scenario {name}{help}"))
}

fn which_release() -> String {
    let (known, default) = (list_releases(Release::minor_name, "or"), DEFAULT_RELEASE.minor_name());
    format!(
        "The release of Kubernetes: {known}; default: NODEPROOF_K8S, or else {default}; `run` takes several, or all"
    )
}
