//! A temporary directory, and the two entry points run in it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::DOOR_OF;

/// A trial: its name and what it does; the text says what was wrong.
pub(crate) type Named = (&'static str, fn() -> Result<(), String>);

/// A scenario that holds.
pub(crate) const GOOD: &str = "\
Feature: A kubelet stops
  Scenario: It is killed
    Given a ready Node \"worker-1\"
    When the kubelet on \"worker-1\" is killed
    Then Node \"worker-1\" keeps condition Ready=True for 39s
";

/// A scenario that does not hold.
pub(crate) const FAILING: &str = "\
Feature: A kubelet stops
  Scenario: It's \"gone\" at $HOME
    Given a ready Node \"worker-1\"
    When the kubelet on \"worker-1\" is killed
    Then Node \"worker-1\" has condition Ready=Unknown within 20s
";

/// A temporary directory, removed at the end.
pub(crate) struct World {
    root: PathBuf,
}

impl World {
    /// Makes an empty directory.
    pub(crate) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("nodeproof-command-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let root = std::env::temp_dir().join(name);
        fs::create_dir_all(&root).expect("the temporary directory can be written");
        Self { root }
    }

    /// Returns a path below it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Writes a file and the directories above it.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it is below the root")).expect("it can be made");
        fs::write(path, bytes).expect("it can be written");
    }

    /// Returns what stands in a file.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Returns the paths of all files below a directory, sorted.
    pub(crate) fn files(&self, name: &str) -> Vec<String> {
        let mut found = Vec::new();
        walk(&self.path(name), &mut found);
        let mut names: Vec<String> =
            found.iter().map(|path| path.strip_prefix(&self.root).unwrap_or(path).display().to_string()).collect();
        names.sort();
        names
    }

    /// Prepares a call of the command, with none of our variables set.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = clean(Command::new(env!("CARGO_BIN_EXE_nodeproof")));
        command.args(arguments).current_dir(&self.root).env("NODEPROOF_STATE_DIR", self.state());
        command
    }

    /// Returns the directory in which the command remembers things, beside the tree.
    fn state(&self) -> PathBuf {
        self.root.with_extension("state")
    }

    /// Returns the files in it that say what failed.
    pub(crate) fn state_files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        walk(&self.state(), &mut found);
        found
    }

    /// Calls the command.
    pub(crate) fn call(&self, arguments: &[&str]) -> Answer {
        Answer::of(&mut self.command(arguments))
    }

    /// Prepares a call of the test harness for this tree.
    pub(crate) fn door(&self, arguments: &[&str]) -> Command {
        let mut command = clean(Command::new(std::env::current_exe().expect("this program has a path")));
        command.args(arguments).current_dir(&self.root).env(DOOR_OF, &self.root);
        command.env("INSTA_WORKSPACE_ROOT", &self.root).env("INSTA_OUTPUT", "none").env("INSTA_UPDATE", "no");
        command
    }

    /// Runs a line in a shell in which `nodeproof` is the command and `cargo test` the test harness of this tree.
    pub(crate) fn paste(&self, line: &str) -> Answer {
        let door = std::env::current_exe().expect("this program has a path");
        let script = format!(
            "nodeproof() {{ \"$COMMAND\" \"$@\"; }}\ncargo() {{ shift 4; {DOOR_OF}=\"$PWD\" \"$DOOR\" \"$@\"; \
                }}\n{line}\n"
        );
        let mut shell = clean(Command::new("sh"));
        shell.arg("-c").arg(script).current_dir(&self.root);
        shell.env("COMMAND", env!("CARGO_BIN_EXE_nodeproof")).env("DOOR", door).env("INSTA_UPDATE", "no");
        shell.env("NODEPROOF_STATE_DIR", self.state());
        Answer::of(&mut shell)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.root));
        drop(fs::remove_dir_all(self.state()));
    }
}

fn clean(mut command: Command) -> Command {
    for (name, _) in std::env::vars_os() {
        let is_ours = name.to_str().is_some_and(|name| {
            ["NODEPROOF", "INSTA", "NEXTEST", "GITHUB_"].iter().any(|prefix| name.starts_with(prefix))
        });
        if is_ours || name == "CI" || name == "CARGO_TERM_COLOR" || name == DOOR_OF {
            command.env_remove(name);
        }
    }
    command.stdin(Stdio::null());
    command
}

fn walk(directory: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            walk(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// The output of a program.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Answer {
    /// Runs a program to its end.
    pub(crate) fn of(command: &mut Command) -> Self {
        let Output { status, stdout, stderr } = command.output().expect("it can be started");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self { code: status.code(), out: text(stdout), err: text(stderr) }
    }

    /// Requires an exit code and that the program did not panic.
    pub(crate) fn ends(self, code: i32) -> Result<Self, String> {
        let broke = self.err.contains("panicked") || self.out.contains("broken    nodeproof itself");
        if self.code == Some(code) && !broke { Ok(self) } else { Err(format!("not {code}: {self:#?}")) }
    }

    /// Requires words on either stream.
    pub(crate) fn says(self, words: &str) -> Result<Self, String> {
        if self.out.contains(words) || self.err.contains(words) {
            Ok(self)
        } else {
            Err(format!("{words:?} is missing: {self:#?}"))
        }
    }
}

/// Fails a trial unless a condition holds.
pub(crate) fn require(is_so: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if is_so { Ok(()) } else { Err(message()) }
}
