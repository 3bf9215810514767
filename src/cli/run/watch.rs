//! `run --watch`: runs again whenever a feature file, or a file that features refer to, was saved.
//!
//! Directories are watched and not files, since editors put a new file in the place of the old one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use notify::{Event, RecursiveMode, Watcher as _};

use super::{RunArgs, run_once};
use crate::cli::misuse;
use crate::cli::selection_args::split_places;
use crate::cli::terminal::note;
use crate::steps::Own;

/// How long nothing is saved before the run begins: an editor saves in several steps.
const CALM: Duration = Duration::from_millis(150);
/// The ends of the names of files that a run reads.
const ENDS: [&str; 4] = ["feature", "yaml", "yml", "json"];

/// Runs, and runs again after each save, until it is interrupted.
pub(super) fn run(args: &RunArgs, own: &Own) -> ExitCode {
    let (sender, events) = channel();
    let watched = watched(args);
    let watching = notify::recommended_watcher(sender).and_then(|mut watcher| {
        for (directory, mode) in &watched.directories {
            watcher.watch(directory, *mode)?;
        }
        Ok(watcher)
    });
    // Kept to the end: dropping it ends the watch.
    let _watcher = match watching {
        Ok(watcher) => watcher,
        Err(error) => return misuse(format!("nothing can be watched: {error}")),
    };
    loop {
        // The verdict was told; the next save gives another.
        run_once(args, own);
        note("Watching: save a file to run again, Ctrl-C to end");
        if !await_save(&events, &watched) {
            return misuse("the files can no longer be watched");
        }
    }
}

/// What is watched.
struct Watched {
    directories: Vec<(PathBuf, RecursiveMode)>,
    /// The files that were named; none if directories were.
    files: BTreeSet<PathBuf>,
}

fn watched(args: &RunArgs) -> Watched {
    let (paths, _) = split_places(&args.paths);
    let paths = if paths.is_empty() { vec![PathBuf::from("features")] } else { paths };
    let mut watched = Watched { directories: Vec::new(), files: BTreeSet::new() };
    for path in &paths {
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        if path.is_dir() {
            watched.directories.push((path, RecursiveMode::Recursive));
            continue;
        }
        let directory = path.parent().unwrap_or(Path::new(".")).to_owned();
        watched.directories.push((directory, RecursiveMode::NonRecursive));
        watched.files.insert(path);
    }
    watched
}

/// Waits until a file was saved that counts, and then until nothing more is.
fn await_save(events: &Receiver<notify::Result<Event>>, watched: &Watched) -> bool {
    loop {
        match events.recv() {
            Ok(Ok(event)) if watched.counts(&event) => break,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
    while events.recv_timeout(CALM).is_ok() {}
    true
}

impl Watched {
    fn counts(&self, event: &Event) -> bool {
        let is_change = event.kind.is_create() || event.kind.is_modify() || event.kind.is_remove();
        let is_read = |path: &PathBuf| {
            let ends = path.extension().and_then(|end| end.to_str()).is_some_and(|end| ENDS.contains(&end));
            // Beside a file that was named there may be others, and directories are watched whole.
            ends && (self.files.is_empty() || self.files.contains(path) || self.is_below_a_directory(path))
        };
        is_change && event.paths.iter().any(is_read)
    }

    fn is_below_a_directory(&self, path: &Path) -> bool {
        let own = |(directory, mode): &&(PathBuf, RecursiveMode)| {
            *mode == RecursiveMode::Recursive && path.starts_with(directory)
        };
        self.directories.iter().any(|pair| own(&pair))
    }
}
