//! `nodeproof new`: begins a suite of the user's own, which passes `lint` and `run` as it is.
//!
//! Input: a directory. Output: the files of the suite. Invariant: either all files are written or none; existing files
//! are not changed, and after an error the files written so far are removed.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::misuse;
use super::terminal::line;
use crate::harness::{EntryPoint, Suite, SuiteOptions, SuitePaths, Verdict, keep_panics_quiet, run as judge};

/// Options of `nodeproof new`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nodeproof new mine && nodeproof run mine
  nodeproof new .                      in a crate that is there: its Cargo.toml is left to you

Writes features/nodes/lost.feature, features/requirements.yaml, the snapshot of the scenario, tests/scenarios.rs \
and, where there are none, Cargo.toml, .gitignore and a workflow for GitHub. Nothing that is there is overwritten.

Exit code: 0 all is written, 2 nothing is.")]
pub struct NewArgs {
    /// The directory; it is made if it is not there
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

const FEATURE: &str = include_str!("new/lost.feature");
const REQUIREMENTS: &str = include_str!("new/requirements.yaml");
const WORKFLOW: &str = include_str!("new/nodeproof.yml");
const IGNORED: &str = include_str!("new/gitignore");
const TESTS: &str = include_str!("new/scenarios.rs");

/// Where GitHub looks for a workflow, from the root of a repository.
const WORKFLOW_FILE: &str = ".github/workflows/nodeproof.yml";

/// Paths that must not exist before.
const TAKEN: [&str; 3] = ["features", "snapshots", "tests/scenarios.rs"];

/// Begins a suite of one's own.
#[must_use]
pub fn run(args: &NewArgs) -> ExitCode {
    let root = &args.directory;
    if root.as_os_str().is_empty() {
        return misuse("the directory has no name");
    }
    if root.exists() && !root.is_dir() {
        return misuse(format!("{}: this is no directory", root.display()));
    }
    if let Some(taken) = TAKEN.iter().map(|name| root.join(name)).find(|path| fs::symlink_metadata(path).is_ok()) {
        let help = "nothing was written; choose another directory";
        return misuse(format!("{} is there already: {help}", taken.display()));
    }
    let mut written = Written::default();
    let has_manifest = root.join("Cargo.toml").exists();
    if let Err(why) = write_all(root, has_manifest, &mut written) {
        written.take_back();
        return misuse(format!("{why}; nothing was written"));
    }
    for file in &written.files {
        line(format_args!("     Created {}", file.display()));
    }
    if has_manifest {
        line(format_args!(
            "Add to {}, so that `cargo test` runs the scenarios:\n\n{}",
            root.join("Cargo.toml").display(),
            target()
        ));
    }
    if let Some(repository) = repository_above(root) {
        let workflow = root.join(WORKFLOW_FILE);
        line(format_args!(
            "GitHub takes workflows from {} alone: move {} there",
            repository.display(),
            workflow.display()
        ));
    }
    let shown = root.display();
    line(format_args!("Run it: nodeproof run {shown}\nAs a test: cargo test --manifest-path {shown}/Cargo.toml"));
    ExitCode::SUCCESS
}

/// Returns the root of the repository that a directory is in, unless it is the directory itself.
fn repository_above(root: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(root).ok()?;
    let repository = absolute.ancestors().find(|up| up.join(".git").exists())?;
    (repository != absolute).then(|| repository.to_owned())
}

fn write_all(root: &Path, has_manifest: bool, written: &mut Written) -> Result<(), String> {
    let mut files = vec![
        ("features/requirements.yaml", REQUIREMENTS.to_owned()),
        ("features/nodes/lost.feature", FEATURE.to_owned()),
        ("tests/scenarios.rs", TESTS.to_owned()),
    ];
    if !has_manifest {
        files.insert(0, ("Cargo.toml", manifest(root)));
    }
    let others = [(WORKFLOW_FILE, WORKFLOW), (".gitignore", IGNORED)];
    let is_missing = |(name, _): &(&str, &str)| fs::symlink_metadata(root.join(name)).is_err();
    files.extend(others.into_iter().filter(is_missing).map(|(name, text)| (name, text.to_owned())));
    for (name, text) in files {
        let path = root.join(name);
        written.write(&path, &text).map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
    }
    keep_panics_quiet();
    let suite_paths = SuitePaths { features: vec![root.join("features")], ..SuitePaths::default() };
    let suite = Suite::load(&suite_paths);
    if let Some(problem) = suite.problems().next() {
        return Err(problem.to_string());
    }
    for planned in &suite.planned {
        written.expect(&root.join("snapshots"));
        let judged = judge(planned, &SuiteOptions::default(), &suite, EntryPoint::Accept);
        if judged.verdict != Verdict::Passed {
            return Err(judged.text);
        }
    }
    written.files.push(root.join("snapshots/nodes/lost/the_kubelet_is_killed.history.snap"));
    Ok(())
}

/// Returns the lines of `Cargo.toml` that make a test target of the scenarios.
fn target() -> String {
    let here = env!("CARGO_MANIFEST_DIR");
    let place = if Path::new(here).join("Cargo.toml").is_file() {
        format!("path = {here:?}")
    } else {
        format!("version = {:?}", env!("CARGO_PKG_VERSION"))
    };
    format!(
        "[dev-dependencies]\nnodeproof = {{ {place}, default-features = false }}\n\n[[test]]\nname \
            = \"scenarios\"\nharness = false\n"
    )
}

/// Returns a `Cargo.toml` for a directory that has none; it is a workspace of its own, whatever is above it.
fn manifest(root: &Path) -> String {
    let name = std::path::absolute(root).ok();
    let name = name.as_deref().and_then(Path::file_name).map(|name| crate::load::slug(&name.to_string_lossy()));
    let is_name = |name: &String| name.is_ascii() && name.starts_with(|c: char| c.is_ascii_alphabetic());
    let name = name.filter(is_name).unwrap_or_else(|| "scenarios".to_owned());
    // A package must not have the name of what it depends on.
    let name = if name == "nodeproof" { "scenarios".to_owned() } else { name };
    format!(
        "[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\nautotests = \
            false\n\n{}\n[workspace]\n",
        target()
    )
}

/// The files and directories that were written, in order.
#[derive(Debug, Default)]
struct Written {
    files: Vec<PathBuf>,
    directories: Vec<PathBuf>,
    /// Directories that another function fills.
    trees: Vec<PathBuf>,
}

impl Written {
    fn write(&mut self, path: &Path, text: &str) -> io::Result<()> {
        self.make(path.parent().unwrap_or(path))?;
        let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
        self.files.push(path.to_owned());
        file.write_all(text.as_bytes())
    }

    /// Makes a directory and those above it that are not there.
    fn make(&mut self, directory: &Path) -> io::Result<()> {
        if directory.as_os_str().is_empty() || directory.is_dir() {
            return Ok(());
        }
        self.make(directory.parent().unwrap_or(Path::new("")))?;
        fs::create_dir(directory)?;
        self.directories.push(directory.to_owned());
        Ok(())
    }

    fn expect(&mut self, tree: &Path) {
        self.trees.push(tree.to_owned());
    }

    /// Removes everything that was written, as far as that is possible.
    fn take_back(&self) {
        self.trees.iter().for_each(|tree| drop(fs::remove_dir_all(tree)));
        self.files.iter().rev().for_each(|file| drop(fs::remove_file(file)));
        self.directories.iter().rev().for_each(|directory| drop(fs::remove_dir(directory)));
    }
}
