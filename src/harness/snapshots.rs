//! Stored snapshots: where they are, whether a scenario still produces the same, and which ones are not used.
//!
//! A file is `snapshots/<area>/<topic>/<scenario>.<what>.snap`, for the default release, or for the newest for which
//! the scenario is; if another differs, `…@1.33.snap` stands beside it, and applies to the releases beyond it as well,
//! up to the next that has one. Inputs: the snapshots of an outcome. Outputs: equal, or the difference as text; offsets
//! count on the simulator at the default seed, on every release.
//! Under `cargo test` insta writes new snapshots; `nodeproof run` writes them with `--accept` alone.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use nodeproof_core::profile::{DEFAULT_RELEASE, Release, releases_between};
use nodeproof_core::scenario::{Missed, Predicate, Snapshot, SnapshotKind, Subject};
use regex::Regex;

use super::embedded;
use super::histories;
use super::options::{EntryPoint, SuiteOptions, release_name};
use super::planned::Planned;
use super::runner::Backend;
use super::yaml;
use crate::load::Problem;

/// Where snapshots are stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Store {
    /// In the program, or in the source tree that it was built from.
    #[default]
    BuiltIn,
    /// In a directory.
    Tree(PathBuf),
}

/// A stored snapshot as it was read.
struct Stored {
    name: String,
    text: String,
}

impl Store {
    /// Compares the snapshot of a scenario with the stored one.
    ///
    /// # Errors
    /// It differs, or nothing is stored; the text says how, and what to do. Under `cargo test` insta has then written
    /// the new one, unless its settings forbid it.
    pub fn compare(
        &self,
        planned: &Planned,
        options: &SuiteOptions,
        entry_point: EntryPoint,
        snapshots: &[Snapshot],
    ) -> Vec<Missed> {
        let mut failures = Vec::new();
        for (snapshot, stem) in snapshots.iter().zip(expected(planned)) {
            let text = yaml::print(&snapshot.value);
            // Stored, it would hold for whatever never happens.
            if text.trim_end() == "[]" {
                let observed = "nothing of the object has changed since the first act, so that its history is empty";
                let expected = "a history with a change in it".to_owned();
                failures.push(Missed { step: snapshot.step.clone(), expected, observed: observed.to_owned() });
                continue;
            }
            if let Err(observed) = self.compare_one(planned, options, entry_point, &stem, &text) {
                let expected = format!("what the snapshot {stem} says");
                failures.push(Missed { step: snapshot.step.clone(), expected, observed });
            }
        }
        failures
    }

    fn compare_one(
        &self,
        planned: &Planned,
        options: &SuiteOptions,
        entry_point: EntryPoint,
        base: &str,
        text: &str,
    ) -> Result<(), String> {
        let release = planned.release(options);
        let names = names(base, release, planned.first_release());
        let own = &names[0];
        let stored = names.iter().find_map(|name| self.read(name).transpose()).transpose()?;
        let is_default_seed = options.seed == SuiteOptions::default().seed;
        let is_sim = options.runner.backend() == Backend::Sim;
        // Offsets depend on random choices and settings; a release that has others at the default seed has a snapshot
        // of its own.
        let exact = is_sim && is_default_seed && options.settings.is_none();
        let text = &options.runner.projected(text);
        let stored = stored.map(|stored| Stored { text: options.runner.projected(&stored.text), ..stored });
        let same = |stored: &str| match exact {
            true => stored.trim_end() == text.trim_end(),
            false if !is_sim && histories::is_history(text) => histories::is_same(stored, text, without_offsets),
            false => without_offsets(stored) == without_offsets(text),
        };
        let is_same = stored.as_ref().is_some_and(|stored| same(&stored.text));
        let may_write = entry_point == EntryPoint::CargoTest && is_default_seed && is_sim;
        if let (Self::Tree(directory), true) = (self, may_write && (!is_same || exact && insta_counts_references())) {
            let name = stored.as_ref().filter(|_| is_same).map_or(own, |stored| &stored.name);
            if through_insta(directory, name, planned, text)? {
                return Ok(());
            }
        }
        if let (Self::Tree(directory), EntryPoint::Accept, false) = (self, entry_point, is_same) {
            return accept_snapshot(directory, own, planned, text);
        }
        let remedy = accept(entry_point, release);
        match stored {
            _ if is_same => Ok(()),
            Some(stored) => Err(differs(&stored, text, &remedy, exact)),
            None => Err(missing(base, text, &remedy, self)),
        }
    }

    /// Reads a stored snapshot; `None` if there is none.
    fn read(&self, stem: &str) -> Result<Option<Stored>, String> {
        let name = format!("{stem}.snap");
        let raw = match self {
            Self::BuiltIn => embedded::file(&format!("snapshots/{name}")),
            Self::Tree(directory) => match fs::read_to_string(directory.join(&name)) {
                Ok(text) => Some(text),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
                Err(error) => return Err(unreadable(&name, &error.to_string())),
            },
        };
        raw.map(|raw| contents(&name, &raw).map(|text| Stored { name: stem.to_owned(), text })).transpose()
    }

    /// Returns the stored files that no scenario uses, and those that equal the file of the default release beside
    /// them: each with its path and with what is wrong.
    #[must_use]
    pub fn unused(&self, planned: &[Planned], broken_areas: &BTreeSet<String>) -> Vec<(PathBuf, Problem)> {
        let Self::Tree(root) = self else { return Vec::new() };
        let stems = |own| expected(own).into_iter().map(|stem| (stem, Planned::first_release(own)));
        let used: BTreeMap<String, Release> = planned.iter().flat_map(stems).collect();
        let mut found = BTreeMap::new();
        walk(root, root, &mut found);
        let mut unused = Vec::new();
        for (name, path) in &found {
            let stem = name.trim_end_matches(".snap");
            let (base, release) = stem.rsplit_once('@').map_or((stem, None), |(base, release)| (base, Some(release)));
            let release = release.map(str::parse::<Release>);
            let area = base.rsplit_once('/').map_or("", |(area, _)| area);
            if broken_areas.contains(area) {
                continue;
            }
            let text = |path: &Path| fs::read_to_string(path).ok().and_then(|raw| contents(name, &raw).ok());
            let is_like = |other: &PathBuf| text(other) == text(path);
            let next = |release, first| {
                let others = names(base, release, first).into_iter().skip(1);
                others.filter_map(|name| found.get(&format!("{name}.snap"))).next()
            };
            let why = match (used.get(base), release) {
                (None, _) => "is used by no scenario",
                (_, Some(Err(_))) => "is for no release that is modelled",
                (Some(first), Some(Ok(release))) if next(release, *first).is_some_and(is_like) => {
                    "says the same as the one that applies without it"
                }
                _ => continue,
            };
            let problem = Problem::of_file(&format!("snapshots/{name}"), why);
            unused.push((path.clone(), problem.help("delete it, or let `nodeproof run --accept` do that")));
        }
        unused
    }
}

/// Returns the names of the snapshots that apply to a release: its own, or else that of the nearest release on the way
/// to the scenario's first one, and at last that one's.
fn names(base: &str, release: Release, first: Release) -> Vec<String> {
    let named = |release| format!("{base}@{}", release_name(release));
    let own = (release != first).then_some(release);
    let between = releases_between(release, first);
    own.into_iter().chain(between).map(named).chain([base.to_owned()]).collect()
}

/// Returns `area/topic/scenario.what` for each snapshot that a scenario compares, in order.
///
/// It contains the object's name if the scenario compares several objects of a kind, and a number if it compares one
/// object in several acts.
fn expected(planned: &Planned) -> Vec<String> {
    let lines = planned.compiled.scenario.expectations();
    let asked: Vec<(SnapshotKind, String)> = lines
        .filter_map(|line| match &line.fact.predicate {
            Predicate::MatchesSnapshot(kind) => Some((*kind, name_of(&line.fact.subject))),
            _ => None,
        })
        .collect();
    let mut stems: Vec<String> = Vec::new();
    for (kind, name) in &asked {
        let is_only = asked.iter().all(|(other, own)| other != kind || own == name);
        let stem = file_stem(planned, *kind, if is_only { "" } else { name });
        let again = stems.iter().filter(|other| **other == stem || other.starts_with(&format!("{stem}.#"))).count();
        stems.push(if again == 0 { stem } else { format!("{stem}.#{}", again + 1) });
    }
    stems.into_iter().map(|stem| stem.replace(".#", ".")).collect()
}

fn name_of(subject: &Subject) -> String {
    match subject {
        Subject::Object(of) => format!("{}-{}", of.kind.to_lowercase(), of.key.name),
        Subject::Table(of) => of.plural.to_string(),
        Subject::Machine(name) => name.to_string(),
        Subject::PodsOf { .. } => "pods".to_owned(),
        Subject::Several { called, .. } => called.to_string(),
        Subject::Own(look) => look.name.to_string(),
        Subject::Answer => "answer".to_owned(),
        Subject::Watch => "watch".to_owned(),
        Subject::Command => "kubectl".to_owned(),
        Subject::Every(_) => "every".to_owned(),
    }
}

/// Returns `area/topic/scenario.what` below the directory of snapshots.
fn file_stem(planned: &Planned, kind: SnapshotKind, name: &str) -> String {
    let scenario = &planned.compiled.scenario;
    let id = planned.compiled.id.strip_prefix(&format!("{}::{}::", scenario.area, scenario.topic));
    let words = id.unwrap_or(&planned.compiled.id).replace("::", ".");
    let what = match kind {
        SnapshotKind::Object => "object",
        SnapshotKind::History => "history",
        SnapshotKind::Table => "table",
        SnapshotKind::Output => "output",
    };
    let name = if name.is_empty() { String::new() } else { format!(".{name}") };
    format!("{}/{}/{words}.{what}{name}", scenario.area.replace("::", "/"), scenario.topic)
}

fn walk(root: &Path, directory: &Path, found: &mut BTreeMap<String, PathBuf>) {
    for path in fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            walk(root, &path, found);
        } else if path.extension().is_some_and(|extension| extension == "snap")
            && let Ok(name) = path.strip_prefix(root)
        {
            found.insert(name.to_string_lossy().replace('\\', "/"), path);
        }
    }
}

/// Removes the header that insta writes.
fn contents(name: &str, raw: &str) -> Result<String, String> {
    let raw = raw.replace("\r\n", "\n");
    let parts = raw.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    let Some((header, text)) = parts else {
        return Err(unreadable(name, "its header, two lines of `---`, is damaged"));
    };
    if header.contains("<<<<<<<") || text.contains("<<<<<<<") {
        return Err(unreadable(name, "it holds an unresolved merge conflict"));
    }
    if serde_yaml::from_str::<serde_yaml::Mapping>(header).is_err() {
        return Err(unreadable(name, "its header is no YAML"));
    }
    Ok(text.to_owned())
}

fn unreadable(name: &str, why: &str) -> String {
    format!(
        "  snapshot  snapshots/{name} cannot be used: {why}\n  remedy    restore it from version control, or delete \
            it and accept it anew"
    )
}

/// Masks offsets, which depend on the seed.
fn without_offsets(text: &str) -> String {
    static OFFSET: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"[+-](?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?m?s\b").expect("a constant pattern"));
    // An instant as `kubectl describe` prints it, and an age in a column of a table.
    static DATE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} [\d:]{8} \+0000").expect("a constant pattern")
    });
    static AGE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"(?m)  \d+s(?: \(x\d+ over \d+s\))?(  |"?$)"#).expect("a constant pattern"));
    // YAML quotes a text that begins with `-`, but not one that begins with `+`.
    static QUOTED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#"(?m)"(…[^"\n]*)"$"#).expect("a constant pattern"));
    // Whether an instant in whole seconds changes depends on where in a second it lies.
    static INSTANT: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?m)^ *\S+Time: … -> …\n?").expect("a constant pattern"));
    let masked = DATE.replace_all(text.trim_end(), "…");
    let masked = AGE.replace_all(&masked, "  …$1");
    let masked = OFFSET.replace_all(&masked, "…");
    let masked = QUOTED.replace_all(&masked, "$1");
    INSTANT.replace_all(&masked, "").trim_end().to_owned()
}

/// Tells whether `cargo insta test` counts which snapshots are used.
fn insta_counts_references() -> bool {
    std::env::var_os("INSTA_SNAPSHOT_REFERENCES_FILE").is_some()
}

/// Lets insta compare and write. True if the snapshot was accepted, or if insta is configured to let all pass.
fn through_insta(directory: &Path, stem: &str, planned: &Planned, text: &str) -> Result<bool, String> {
    let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(directory.join(folder));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_description(planned.compiled.scenario.position.text.to_string());
    settings.set_input_file(&planned.path);
    settings.set_comparator(Box::new(Contents));
    let assert = || settings.bind(|| insta::assert_snapshot!(name.to_owned(), text));
    match catch_unwind(AssertUnwindSafe(assert)) {
        Ok(()) => Ok(true),
        Err(payload) => match message(payload.as_ref()) {
            message if message.starts_with("snapshot assertion") => Ok(false),
            message => Err(format!(
                "  snapshot  snapshots/{stem}.snap cannot be written: {message}\n  remedy    make the directory \
                    writable, or set INSTA_UPDATE=no"
            )),
        },
    }
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().cloned();
    text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

/// Compares for insta as the harness does, so that both agree on what is equal.
#[derive(Debug, Clone, Copy)]
struct Contents;

impl insta::Comparator for Contents {
    fn matches(&self, reference: &insta::Snapshot, test: &insta::Snapshot) -> bool {
        let text = |snapshot: &insta::Snapshot| match snapshot.contents() {
            insta::internals::SnapshotContents::Text(text) => Some(text.to_string().trim_end().to_owned()),
            insta::internals::SnapshotContents::Binary(_) => None,
        };
        text(reference) == text(test)
    }

    fn dyn_clone(&self) -> Box<dyn insta::Comparator> {
        Box::new(*self)
    }
}

/// Stores a snapshot as insta would: the whole file or nothing.
fn accept_snapshot(directory: &Path, stem: &str, planned: &Planned, text: &str) -> Result<(), String> {
    let path = directory.join(format!("{stem}.snap"));
    let description = format!("{:?}", planned.compiled.scenario.position.text.as_str());
    let (source, input) = ("src/harness/snapshots.rs", shown_below(directory, &planned.path));
    let header = format!("---\nsource: {source}\ndescription: {description}\ninput_file: {input:?}\n---\n");
    let write = || {
        fs::create_dir_all(path.parent().unwrap_or(directory))?;
        let new = path.with_extension("snap.part");
        fs::write(&new, header + text)
            .and_then(|()| fs::rename(&new, &path))
            .inspect_err(|_| drop(fs::remove_file(&new)))
    };
    write().map_err(|error: std::io::Error| {
        format!("  snapshot  {} cannot be written: {error}\n  remedy    make the directory writable", path.display())
    })
}

/// Returns a file's path relative to the parent of the snapshots' directory, as the tests of a crate name it.
fn shown_below(snapshots: &Path, file: &str) -> String {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let file = absolute(Path::new(file));
    let root = absolute(snapshots);
    let below = root.parent().and_then(|root| file.strip_prefix(root).ok());
    below.unwrap_or(&file).to_string_lossy().replace('\\', "/")
}

fn accept(entry_point: EntryPoint, release: Release) -> String {
    match entry_point {
        EntryPoint::CargoTest => {
            "look at the difference, then `cargo insta review`, or run again with INSTA_UPDATE=always".to_owned()
        }
        EntryPoint::Command | EntryPoint::Accept => {
            let is_default = release == DEFAULT_RELEASE;
            let flag = if is_default { String::new() } else { format!(" --k8s {}", release_name(release)) };
            format!("look at it, then accept it: nodeproof run{flag} --accept, with the same files")
        }
    }
}

fn differs(stored: &Stored, text: &str, remedy: &str, exact: bool) -> String {
    let (old, new) = if exact {
        (stored.text.clone(), text.to_owned())
    } else {
        (without_offsets(&stored.text), without_offsets(text))
    };
    let diff = similar::TextDiff::from_lines(old.trim_end(), new.trim_end());
    let diff = diff.unified_diff().context_radius(3).header("accepted", "this run").to_string();
    let shown: String = diff.lines().map(|line| format!("    {line}\n")).collect();
    format!("  snapshot  snapshots/{}.snap differs\n{shown}  remedy    {remedy}", stored.name)
}

fn missing(stem: &str, text: &str, remedy: &str, store: &Store) -> String {
    const LINES_MAX: usize = 60;
    let mut shown: String = text.lines().take(LINES_MAX).map(|line| format!("    {line}\n")).collect();
    if text.lines().count() > LINES_MAX {
        shown += "    …\n";
    }
    let place = match store {
        Store::BuiltIn => String::new(),
        Store::Tree(directory) => format!(" in {}", directory.display()),
    };
    format!("  snapshot  there is no {stem}.snap{place}; it would be\n{shown}  remedy    {remedy}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_edited_by_hand_is_named() {
        for raw in ["", "a: b\n", "---\nsource: x\n", "---\n[\n---\nx\n", "---\na: b\n---\n<<<<<<< HEAD\n"] {
            let error = contents("a/b/c.history.snap", raw).unwrap_err();
            assert!(error.contains("a/b/c.history.snap") && error.contains("remedy"), "{error}");
        }
        assert_eq!(contents("x", "---\r\nsource: x\r\n---\r\n- a: b\r\n").unwrap(), "- a: b\n");
    }

    #[test]
    fn offsets_do_not_count_under_other_seeds() {
        let text = "- at: +46.251s\n  x: \"-12s -> +1m5s\"\n  y: 4.2 -> 5";
        assert_eq!(without_offsets(text), "- at: …\n  x: … -> …\n  y: 4.2 -> 5");
    }
}
