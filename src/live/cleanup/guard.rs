//! The guard: a process beside a run that repairs what the run has changed when the run cannot do so.
//!
//! A paused or switched-off container cannot heal itself, and nothing runs in a process that was killed. So each run
//! that changes a cluster starts its own program once more, in a process group of its own, with a pipe between them.
//! Inputs: the journal, the end of the pipe, time. Outputs: what `nodeproof clean` does, for one run. When the pipe
//! ends, because the run is over or was killed, the guard undoes what the run's journal still holds. While the run goes
//! on, it undoes changes that are overdue. If Docker does not answer, the guard tries again. Left out on purpose: a
//! guard that is killed as well; then timers on the nodes and `nodeproof clean` remain.

use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use super::clean::{Remnant, find};
use super::docker::Docker;
use super::journal::{self, Left};
use crate::live::timing::{FAREWELL, FAREWELL_PERIOD, GUARD_PATIENCE, GUARD_PERIOD};

/// The environment variable that makes this program a guard; its value is the path of the journal.
const GUARD: &str = "NODEPROOF_GUARD";

/// The guard of a run, held by the run. When it is dropped, the pipe ends and the run waits a while for the guard.
#[derive(Debug)]
pub(crate) struct Guard {
    child: Child,
}

impl Guard {
    /// Starts the guard of a run's journal.
    ///
    /// # Errors
    /// The program cannot be started once more.
    pub(crate) fn start(journal: &Path) -> io::Result<Self> {
        let mut command = alone(&std::env::current_exe()?);
        command.env(GUARD, journal).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // Ctrl-C on the terminal must reach the run alone.
        Ok(Self { child: command.process_group(0).spawn()? })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let since = Instant::now();
        while let Ok(None) = self.child.try_wait() {
            if since.elapsed() > FAREWELL {
                let (guard, minutes) = (self.child.id(), GUARD_PATIENCE.as_secs() / 60);
                let told = format!(
                    "what this run has changed is not put right yet, Docker may be away: process {guard} tries for \
                     {minutes} minutes in all; after that, `nodeproof clean` does it"
                );
                drop(writeln!(io::stderr(), "{told}"));
                return;
            }
            thread::sleep(FAREWELL_PERIOD);
        }
    }
}

/// Prepares a program that inherits no open file of this process beside standard input, output and error. Otherwise a
/// lock on an open file, as that of `flock FILE nodeproof run`, would last as long as the guard. It ignores SIGINT and
/// SIGTERM, which `pkill nodeproof` sends to both, since it ends with the run.
fn alone(program: &Path) -> Command {
    // Files that this program opens are closed in its children anyway; a shell can name descriptors up to 9.
    const SCRIPT: &str = "trap '' INT TERM; exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; exec \"$0\" \"$@\"";
    let mut command = Command::new("/bin/sh");
    command.args(["-c", SCRIPT]).arg(program);
    command
}

/// Does the work of a guard if this process was started as one; the program must then do nothing else.
#[must_use]
pub fn stand_in() -> Option<ExitCode> {
    let path = PathBuf::from(std::env::var_os(GUARD)?);
    Some(watch(&path))
}

fn watch(path: &Path) -> ExitCode {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        // The run never writes to the pipe: when this read ends, the run is over.
        drop(io::stdin().read(&mut [0]));
        let _ = tell.send(());
    });
    while told.recv_timeout(GUARD_PERIOD) == Err(mpsc::RecvTimeoutError::Timeout) {
        if let Ok(Some(left)) = journal::read(path) {
            drop(undo(&left, true));
        }
    }
    let started = Instant::now();
    loop {
        let left = match journal::read(path) {
            Ok(Some(left)) => left,
            // The run has ended well and has removed its journal.
            Ok(None) => return ExitCode::SUCCESS,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return ExitCode::SUCCESS,
            Err(_) => return ExitCode::FAILURE,
        };
        if undo(&left, false).is_ok() {
            drop(std::fs::remove_file(path));
            return ExitCode::SUCCESS;
        }
        if started.elapsed() > GUARD_PATIENCE {
            return ExitCode::FAILURE;
        }
        thread::sleep(GUARD_PERIOD);
    }
}

/// Undoes the changes of a journal: all of them, or those that are overdue.
fn undo(left: &Left, overdue_only: bool) -> Result<(), String> {
    // The run's process may still exist; without its start time the journal counts as one of a run that is over.
    let mut left = left.clone();
    left.header.started = None;
    if overdue_only {
        let now = jiff::Timestamp::now();
        left.changes.retain(|(_, change)| change.until.is_some_and(|until| until < now));
    }
    if left.changes.is_empty() {
        return Ok(());
    }
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let docker = Docker::connect().await.map_err(|error| error.to_string());
        let docker = docker.as_ref().map_err(String::as_str);
        let lefts = [left];
        let remnants: Vec<Remnant> = find(&lefts, &[], &[]);
        let mut result = Ok(());
        for remnant in remnants {
            result = remnant.remove(docker, &lefts).await.and(result);
        }
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_inherits_no_lock() {
        let listed = |command: &Command| {
            // A parent that leaves descriptor 5 open, as `flock` does with its file.
            let mut parent = Command::new("/bin/sh");
            parent.args(["-c", "exec 5</dev/null; exec \"$@\"", "parent"]);
            let output = parent.arg(command.get_program()).args(command.get_args()).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(output.status.success(), "{text}");
            text.lines().any(|line| line == "5")
        };
        let mut plain = Command::new("ls");
        plain.arg("/proc/self/fd");
        assert!(listed(&plain));
        let mut guard = alone(Path::new("ls"));
        guard.arg("/proc/self/fd");
        assert!(!listed(&guard));
    }

    #[test]
    fn a_guard_outlives_the_signals_that_end_its_run() {
        for signal in ["-INT", "-TERM"] {
            let mut guard = alone(Path::new("sh"));
            let output = guard.args(["-c", "kill \"$0\" $$; echo alive", signal]).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), "alive\n", "{signal}");
        }
    }
}
