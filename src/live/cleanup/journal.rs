//! The journal of a run: every change is written down before it is made, so that others can undo it.
//!
//! One file a run, `runs/RUN.jsonl` below the state directory: a header, then a line before each change and one after
//! it was undone. A run that ends well removes its file; `nodeproof clean` repairs the files that are left. Inputs:
//! changes with the operations that undo them. Outputs: the file, flushed to disk at each line. Invariants: nothing is
//! changed before its line is on disk; an incomplete last line does not prevent reading.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::node_fault::NodeFault;
use super::op::Op;

/// Who made the changes, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The run's id, which labels everything that it makes.
    pub run: String,
    /// The process.
    pub pid: u32,
    /// When the process was started, in clock ticks after the host's boot: process ids are used again.
    pub started: Option<u64>,
    /// When the run began.
    pub at: Timestamp,
    /// The context of the kubeconfig.
    pub context: String,
    /// The kubeconfig file; `None` for the default one.
    pub kubeconfig: Option<PathBuf>,
    /// The name of the kind cluster.
    pub cluster: String,
}

/// A change that has to be undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoableChange {
    /// What was changed, as a sentence.
    pub what: String,
    /// The container that was changed, if one was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub container: Option<String>,
    /// The node fault that the change makes, if it makes one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) node_fault: Option<NodeFault>,
    /// What undoes it, in order.
    pub(crate) undo: Vec<Op>,
    /// When others may undo it if the run has not done so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub until: Option<Timestamp>,
}

impl UndoableChange {
    /// Returns the container that is removed when this is undone, if one is.
    pub(crate) fn removes(&self) -> Option<&str> {
        self.undo.iter().find_map(|op| match op {
            Op::Remove { container } => Some(container.as_str()),
            _ => None,
        })
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    Run(Header),
    Change {
        id: u32,
        #[serde(flatten)]
        change: UndoableChange,
    },
    Undone(u32),
}

/// The journal of the current run.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    last: u32,
    open: BTreeMap<u32, UndoableChange>,
}

impl Journal {
    /// Begins the journal of a run.
    ///
    /// # Errors
    /// The file cannot be written; nothing may then be changed.
    pub fn begin(state_dir: &Path, header: &Header) -> io::Result<Self> {
        let directory = runs(state_dir);
        fs::create_dir_all(&directory)?;
        let path = directory.join(format!("{}.jsonl", header.run));
        let file = OpenOptions::new().create_new(true).append(true).open(&path)?;
        let mut journal = Self { path, file, last: 0, open: BTreeMap::new() };
        journal.write(&Line::Run(header.clone()))?;
        // The name of a new file is on disk only after its directory is.
        File::open(&directory)?.sync_all()?;
        Ok(journal)
    }

    /// Returns where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Records a change that is about to be made, and returns its number.
    ///
    /// # Errors
    /// The file cannot be written; the change must then not be made.
    pub fn record_change(&mut self, change: UndoableChange) -> io::Result<u32> {
        let id = self.last + 1;
        self.write(&Line::Change { id, change: change.clone() })?;
        self.last = id;
        self.open.insert(id, change);
        Ok(id)
    }

    /// Records that a change was undone.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn undone(&mut self, id: u32) -> io::Result<()> {
        if self.open.remove(&id).is_some() {
            self.write(&Line::Undone(id))?;
        }
        Ok(())
    }

    /// Returns the changes that are not undone and meet a condition, with their numbers.
    pub(crate) fn open(&self, meets: impl Fn(&UndoableChange) -> bool) -> Vec<(u32, UndoableChange)> {
        self.open.iter().filter(|(_, change)| meets(change)).map(|(id, change)| (*id, change.clone())).collect()
    }

    /// Ends the journal. Its file is removed if everything is undone, and stays for others if not.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn end(self) -> io::Result<()> {
        if self.open.is_empty() { fs::remove_file(&self.path) } else { Ok(()) }
    }

    fn write(&mut self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_string(line)?;
        text.push('\n');
        self.file.write_all(text.as_bytes())?;
        self.file.sync_data()
    }
}

/// The journal of an earlier run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The file.
    pub path: PathBuf,
    /// Who wrote it.
    pub header: Header,
    /// The changes that were not undone, the newest first.
    pub changes: Vec<(u32, UndoableChange)>,
}

impl Left {
    /// Tells whether the run is still going on.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.header.pid != std::process::id()
            && self.header.started.is_some()
            && process_start(self.header.pid) == self.header.started
    }

    /// Tells whether the run has made a node fault on a container.
    pub(crate) fn makes(&self, container: &str, node_fault: NodeFault) -> bool {
        let meets = |change: &UndoableChange| {
            change.container.as_deref() == Some(container) && change.node_fault == Some(node_fault)
        };
        self.changes.iter().any(|(_, change)| meets(change))
    }

    /// Records that others have undone a change. If the file is gone, others have undone the rest as well.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn undone(&self, id: u32) -> io::Result<()> {
        // Ends an incomplete line first.
        let text = format!("\n{}\n", serde_json::to_string(&Line::Undone(id))?);
        match OpenOptions::new().append(true).open(&self.path) {
            Ok(mut file) => file.write_all(text.as_bytes()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Reads the journal of a run; `None` if the file holds none.
///
/// # Errors
/// The file cannot be read.
pub fn read(path: &Path) -> io::Result<Option<Left>> {
    let text = fs::read_to_string(path)?;
    let mut header = None;
    let mut open = BTreeMap::new();
    for line in text.lines() {
        match serde_json::from_str::<Line>(line) {
            Ok(Line::Run(own)) => header = Some(own),
            Ok(Line::Change { id, change }) => drop(open.insert(id, change)),
            Ok(Line::Undone(id)) => drop(open.remove(&id)),
            // Incomplete because the power failed: the change was not yet made.
            Err(_) => {}
        }
    }
    Ok(header.map(|header| Left { path: path.to_owned(), header, changes: open.into_iter().rev().collect() }))
}

/// Reads the journals of all runs, in order of their names.
///
/// # Errors
/// The directory or a file cannot be read.
pub fn read_all(state_dir: &Path) -> io::Result<Vec<Left>> {
    let directory = runs(state_dir);
    if !directory.exists() {
        return Ok(Vec::new());
    }
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(directory)? {
        paths.push(entry?.path());
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        match read(&path) {
            Ok(left) => all.extend(left),
            // The run has ended in between.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(all)
}

fn runs(state_dir: &Path) -> PathBuf {
    state_dir.join("runs")
}

/// Returns when a process was started, in clock ticks after the host's boot; `None` if it is gone or hidden.
///
/// Source: proc_pid_stat(5), field 22.
pub(crate) fn process_start(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in brackets, which may hold blanks and brackets itself.
    let rest = &stat[stat.rfind(')')? + 1..];
    let state = rest.split_whitespace().next()?;
    if state == "Z" {
        return None;
    }
    rest.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write as _;
    use std::path::PathBuf;

    use jiff::Timestamp;

    use super::{Header, Journal, UndoableChange, process_start, read_all};
    use crate::live::cleanup::node_fault::NodeFault;
    use crate::live::cleanup::op::Op;

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("nodeproof-journal-{name}-{}", std::process::id()));
            drop(fs::remove_dir_all(&path));
            Self(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            drop(fs::remove_dir_all(&self.0));
        }
    }

    fn header(pid: u32) -> Header {
        Header {
            run: "r1".to_owned(),
            pid,
            started: process_start(pid),
            at: Timestamp::UNIX_EPOCH,
            context: "kind-np".to_owned(),
            kubeconfig: None,
            cluster: "np".to_owned(),
        }
    }

    fn change(container: &str) -> UndoableChange {
        UndoableChange {
            what: format!("{container} is paused"),
            container: Some(container.to_owned()),
            node_fault: Some(NodeFault::Frozen),
            undo: vec![Op::Unpause { container: container.to_owned() }],
            until: None,
        }
    }

    #[test]
    fn what_was_not_undone_is_found_the_newest_first() {
        let scratch = Scratch::new("left");
        let mut journal = Journal::begin(&scratch.0, &header(1)).unwrap();
        let first = journal.record_change(change("a")).unwrap();
        journal.record_change(change("b")).unwrap();
        journal.record_change(change("c")).unwrap();
        journal.undone(first).unwrap();
        journal.end().unwrap();
        let left = read_all(&scratch.0).unwrap();
        assert_eq!(left.len(), 1);
        assert_eq!(left[0].header, header(1));
        assert_eq!(left[0].changes, [(3, change("c")), (2, change("b"))]);
        left[0].undone(3).unwrap();
        assert_eq!(read_all(&scratch.0).unwrap()[0].changes, [(2, change("b"))]);
        // The guard was faster than the run.
        fs::remove_file(&left[0].path).unwrap();
        left[0].undone(2).unwrap();
        assert_eq!(read_all(&scratch.0).unwrap(), []);
    }

    #[test]
    fn a_run_that_undid_everything_leaves_nothing() {
        let scratch = Scratch::new("nothing");
        let mut journal = Journal::begin(&scratch.0, &header(1)).unwrap();
        let id = journal.record_change(change("a")).unwrap();
        journal.undone(id).unwrap();
        journal.end().unwrap();
        assert_eq!(read_all(&scratch.0).unwrap(), []);
    }

    #[test]
    fn a_line_that_was_torn_off_is_no_obstacle() {
        let scratch = Scratch::new("torn");
        let mut journal = Journal::begin(&scratch.0, &header(1)).unwrap();
        journal.record_change(change("a")).unwrap();
        let mut file = OpenOptions::new().append(true).open(journal.path()).unwrap();
        file.write_all(b"{\"change\":{\"id\":2,\"wh").unwrap();
        assert_eq!(read_all(&scratch.0).unwrap()[0].changes, [(1, change("a"))]);
    }

    #[test]
    fn a_run_is_over_when_its_process_is_another() {
        let scratch = Scratch::new("over");
        let own = std::process::id();
        let parent = std::os::unix::process::parent_id();
        for (pid, started, is_running) in
            [(parent, process_start(parent), true), (parent, Some(1), false), (own, process_start(own), false)]
        {
            drop(fs::remove_dir_all(&scratch.0));
            Journal::begin(&scratch.0, &Header { started, ..header(pid) }).unwrap();
            assert_eq!(read_all(&scratch.0).unwrap()[0].is_running(), is_running, "{pid} {started:?}");
        }
    }

    #[test]
    fn where_there_is_no_directory_nothing_is_left() {
        assert_eq!(read_all(&Scratch::new("none").0).unwrap(), []);
    }
}
