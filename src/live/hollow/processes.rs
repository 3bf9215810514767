//! Child processes that do not outlive the run, however it ends.
//!
//! Inputs: programs with their arguments. Outputs: running processes, their last lines. A watchdog, a shell that reads
//! from a pipe, is started before the first child and gets the number of each child. If the pipe closes without `done`,
//! because the run was killed, the watchdog kills the children and removes the directory. A file in the directory lists
//! the same numbers, for a later clean-up.

use std::collections::VecDeque;
use std::fs::{self, DirBuilder, File};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};

/// The beginning of the names of directories that runs make below the system's temporary directory.
pub const DIRECTORY_PREFIX: &str = "nodeproof-hollow-";
/// The file in such a directory that holds the process numbers: the run's first, then its children's, one a line.
pub const PROCESSES_FILE: &str = "processes";

/// Reads process numbers until the pipe closes; `done` means that nothing is left to do. It inherits no other open file
/// of the run, as a lock of `flock`.
const WATCHDOG: &str = r#"
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
pids=
while read -r pid; do
    [ "$pid" = done ] && exit 0
    pids="$pids $pid"
done
[ -n "$pids" ] && kill -9 $pids 2>/dev/null
rm -rf -- "$1"
"#;

/// Processes that share a directory.
#[derive(Debug)]
pub(super) struct Processes {
    directory: PathBuf,
    watchdog: Child,
    pipe: Option<ChildStdin>,
    children: Vec<(&'static str, Child)>,
}

impl Processes {
    /// Makes the directory and starts the watchdog.
    pub(super) fn new(directory: PathBuf) -> Result<Self, String> {
        let unmade = |error| format!("{} cannot be made: {error}", directory.display());
        // The directory holds keys: only its owner may read it, and nobody may have made it before.
        DirBuilder::new().mode(0o700).create(&directory).map_err(unmade)?;
        fs::write(directory.join(PROCESSES_FILE), format!("{}\n", std::process::id())).map_err(unmade)?;
        let mut watchdog = Command::new("/bin/sh");
        watchdog.args(["-c", WATCHDOG, "watchdog"]).arg(&directory).process_group(0);
        watchdog.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut watchdog = watchdog.spawn().map_err(|error| format!("/bin/sh does not run: {error}"))?;
        let pipe = watchdog.stdin.take();
        Ok(Self { directory, watchdog, pipe, children: Vec::new() })
    }

    /// Returns the directory.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Starts a program; its output goes to `NAME.log` in the directory.
    pub(super) fn start(&mut self, name: &'static str, program: &Path, arguments: &[String]) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("{} does not run: {error}", program.display());
        let log = File::options().create(true).append(true).open(self.log(name)).map_err(failed)?;
        let mut command = Command::new(program);
        // Programs log the local time without its zone.
        command.args(arguments).env("TZ", "UTC").process_group(0).stdin(Stdio::null());
        command.stdout(log.try_clone().map_err(failed)?).stderr(log);
        let child = command.spawn().map_err(failed)?;
        let number = child.id();
        self.children.push((name, child));
        let line = format!("{number}\n");
        if let Some(pipe) = &mut self.pipe {
            pipe.write_all(line.as_bytes()).and_then(|()| pipe.flush()).map_err(failed)?;
        }
        let mut file = File::options().append(true).open(self.directory.join(PROCESSES_FILE)).map_err(failed)?;
        file.write_all(line.as_bytes()).map_err(failed)
    }

    /// Ends a program and waits for its end.
    pub(super) fn stop(&mut self, name: &str) {
        let Some(at) = self.children.iter().position(|(own, _)| *own == name) else { return };
        let (_, mut child) = self.children.remove(at);
        end(&mut child);
    }

    /// Returns the name of a program that has ended, and how it ended.
    pub(super) fn ended(&mut self) -> Option<(&'static str, String)> {
        self.children.iter_mut().find_map(|(name, child)| {
            let status = child.try_wait().ok().flatten()?;
            Some((*name, how(status)))
        })
    }

    /// Returns the last lines that a program printed; those of a program that panicked end before its stack trace.
    pub(super) fn last_lines(&self, name: &str) -> Vec<String> {
        const LINES: usize = 5;
        const BYTES: i64 = 65_536;
        let mut text = String::new();
        if let Ok(mut file) = File::open(self.log(name)) {
            let length = file.metadata().map_or(0, |data| i64::try_from(data.len()).unwrap_or(0));
            let _ = file.seek(SeekFrom::End(-length.min(BYTES)));
            let mut bytes = Vec::new();
            let _ = file.read_to_end(&mut bytes);
            text = String::from_utf8_lossy(&bytes).into_owned();
        }
        let mut last = VecDeque::new();
        let end = text.rfind("\npanic: ").and_then(|at| Some(at + text[at..].find("\ngoroutine ")?));
        let said = &text[..end.unwrap_or(text.len())];
        for line in said.lines().filter(|line| !line.trim().is_empty()) {
            last.push_back(line.to_owned());
            if last.len() > LINES {
                last.pop_front();
            }
        }
        last.into()
    }

    fn log(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.log"))
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for (_, child) in self.children.iter_mut().rev() {
            end(child);
        }
        let _ = fs::remove_dir_all(&self.directory);
        if let Some(mut pipe) = self.pipe.take() {
            let _ = pipe.write_all(b"done\n");
        }
        let _ = self.watchdog.wait();
    }
}

/// Kills a process and waits for its end; nothing that it could still write is needed.
fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

fn how(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with code {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn directory(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("{DIRECTORY_PREFIX}test-{}-{name}", std::process::id()))
    }

    #[test]
    fn children_and_directory_go_with_their_owner() {
        let place = directory("drop");
        let mut processes = Processes::new(place.clone()).unwrap();
        processes.start("sleeper", Path::new("/bin/sleep"), &["600".to_owned()]).unwrap();
        assert!(processes.ended().is_none());
        assert_eq!(fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o700);
        let listed = fs::read_to_string(place.join(PROCESSES_FILE)).unwrap();
        assert_eq!(listed.lines().count(), 2);
        drop(processes);
        assert!(!place.exists());
    }

    #[test]
    fn a_program_that_ends_is_told_with_its_last_lines() {
        let mut processes = Processes::new(directory("end")).unwrap();
        let lines = "echo no port left; printf 'panic: no server\\n\\ngoroutine 1 [running]:\\nmain.main()\\n'; exit 3";
        let script = ["-c".to_owned(), lines.to_owned()];
        processes.start("server", Path::new("/bin/sh"), &script).unwrap();
        let (name, how) = loop {
            if let Some(ended) = processes.ended() {
                break ended;
            }
            std::thread::yield_now();
        };
        assert_eq!((name, how.as_str()), ("server", "ended with code 3"));
        assert_eq!(processes.last_lines("server"), ["no port left", "panic: no server"]);
    }
}
