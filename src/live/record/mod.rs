//! Records what a cluster does, in the files that `nodeproof replay` reads.
//!
//! Inputs: the watches of a cluster; if this run has started the API server, also its audit log and the controller
//! manager's log. Outputs: `about.yaml`, `watch.jsonl`, `writes.jsonl`, `actions.jsonl`. Without an audit log the users
//! and the refused requests are not known: `about.yaml` then says `writes: watch`, and `writes.jsonl` is empty.
//! Invariants: nothing is written to the cluster; anything private that a replay does not need is removed before it
//! reaches a file.

mod audit;
mod klog;
mod redact;
mod tape;
mod times;

use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use nodeproof_core::network::{CSI_NODES, EVENTS, LEASES, NODES, PODS, Resource};
use nodeproof_core::objects::Json;
use serde::Serialize;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::cache::{Arrival, Seen};
use super::client::Caller;
use super::clock::Clock;
use super::timing::STRANGERS_LIST_WAIT;
use super::watches::Watches;

pub(super) use audit::POLICY;
pub(super) use klog::VERBOSITY;
pub use redact::Privacy;
use tape::Tape;
use times::instant;

/// The kinds without which there is nothing to replay.
pub const REQUIRED_KINDS: [Resource; 2] = [NODES, LEASES];
/// The kinds that are recorded as well if they may be watched.
pub static OPTIONAL_KINDS: [Resource; 10] = [
    PODS,
    EVENTS,
    CSI_NODES,
    Resource::of("apps", "v1", "daemonsets"),
    Resource::of("apps", "v1", "replicasets"),
    Resource::of("apps", "v1", "statefulsets"),
    Resource::of("batch", "v1", "jobs"),
    Resource::of("discovery.k8s.io", "v1", "endpointslices"),
    Resource::of("", "v1", "persistentvolumeclaims"),
    Resource::of("policy", "v1", "poddisruptionbudgets"),
];

/// A recording under way.
#[derive(Debug)]
pub(crate) struct Recorder {
    stop: oneshot::Sender<()>,
    task: JoinHandle<Tape>,
}

impl Recorder {
    /// Begins to record, on the current runtime, once all objects have been listed.
    ///
    /// # Errors
    /// A kind cannot be listed; the text says why.
    pub(crate) async fn begin(
        kinds: BTreeSet<Resource>,
        caller: &Caller,
        clock: Clock,
        privacy: Privacy,
    ) -> Result<Self, String> {
        let mut tape = Tape::new(clock.now(), privacy);
        let mut watches = Watches::open(kinds.clone(), caller, clock);
        let mut awaited = kinds;
        let mut trouble = String::new();
        while !awaited.is_empty() {
            match tokio::time::timeout(STRANGERS_LIST_WAIT, watches.next()).await {
                Ok(Some(Arrival { seen: Seen::Trouble(why), .. })) => trouble = why,
                Ok(Some(arrival)) => {
                    awaited.remove(&arrival.resource);
                    tape.take(arrival);
                }
                Ok(None) | Err(_) => return Err(format!("the cluster cannot be recorded: {trouble}")),
            }
        }
        let (stop, mut stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            loop {
                tokio::select! {
                    biased;
                    Some(arrival) = watches.next() => tape.take(arrival),
                    // The recorder may have been dropped, which ends the recording too.
                    _ = &mut stopped => break,
                }
            }
            tape.end(clock.now());
            tape
        });
        Ok(Self { stop, task })
    }

    /// Ends the recording; it contains everything that has arrived by now.
    ///
    /// # Errors
    /// The recording task failed.
    pub(crate) async fn end(self) -> Result<Recorded, String> {
        let _ = self.stop.send(());
        let tape = self.task.await.map_err(|error| format!("the recording broke down: {error}"))?;
        Ok(Recorded { tape, writes: Vec::new(), audit: None })
    }
}

/// A recording that has ended.
#[derive(Debug)]
pub(crate) struct Recorded {
    tape: Tape,
    writes: Vec<Json>,
    audit: Option<klog::Passes>,
}

/// The description of a recording in `about.yaml`, which the recording itself does not show.
#[derive(Debug, Clone, Default)]
pub(crate) struct Title {
    /// Its name, which is also the directory's.
    pub(crate) name: String,
    /// What it is about.
    pub(crate) shows: String,
    /// The release, as `1.34.4`.
    pub(crate) kubernetes: String,
    /// The flags of each component.
    pub(crate) flags: Vec<(String, Vec<String>)>,
}

/// `about.yaml`.
#[derive(Serialize)]
struct About<'a> {
    name: &'a str,
    shows: &'a str,
    kubernetes: &'a str,
    writes: &'static str,
    started: String,
    ended: f64,
    flags: serde_yaml::Mapping,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    redacted: &'a [&'static str],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    anomalies: &'a [String],
    #[serde(rename = "healthPassesSeen", skip_serializing_if = "<[_]>::is_empty")]
    health_passes_seen: &'a [f64],
    #[serde(rename = "podgcPasses", skip_serializing_if = "<[_]>::is_empty")]
    podgc_passes: &'a [f64],
}

impl Recorded {
    /// Adds the API server's audit log and the controller manager's log for the time of the recording.
    pub(crate) fn add_logs(&mut self, audit: &str, manager: &str) {
        let (started, ended) = (self.tape.started(), self.tape.ended());
        let mut entries = audit::read(audit, started);
        entries.retain(|entry| entry.t <= ended);
        self.tape.name_writers(&entries);
        for entry in entries {
            match entry.line {
                audit::AuditLine::Write(line) => self.writes.push(line),
                audit::AuditLine::Action(line) => self.tape.act(entry.t, line),
            }
        }
        self.audit = Some(klog::passes(manager, started, ended));
    }

    /// Returns the number of lines of watches and of writes.
    pub(crate) fn lines(&self) -> (usize, usize) {
        (self.tape.watch().len(), self.writes.len())
    }

    /// Writes the files into a directory and replaces those of an earlier recording.
    ///
    /// # Errors
    /// The directory cannot be written.
    pub(crate) fn save(&self, directory: &Path, title: &Title) -> Result<(), String> {
        let wrong = |error: std::io::Error| format!("{}: {error}", directory.display());
        fs::create_dir_all(directory).map_err(wrong)?;
        let about = serde_yaml::to_string(&self.about(title)).map_err(|error| error.to_string())?;
        write(directory, "watch.jsonl", self.tape.watch())
            .and_then(|()| write(directory, "writes.jsonl", &self.writes))
            .and_then(|()| write(directory, "actions.jsonl", self.tape.actions()))
            // Written last: a directory that has it is a complete recording.
            .and_then(|()| write(directory, "about.yaml", about.lines()))
            .map_err(wrong)
    }

    fn about<'a>(&'a self, title: &'a Title) -> About<'a> {
        let passes = self.audit.as_ref();
        let flag = |(component, flags): &(String, Vec<String>)| (component.as_str().into(), flags.clone().into());
        About {
            name: &title.name,
            shows: &title.shows,
            kubernetes: &title.kubernetes,
            writes: if self.audit.is_some() { "audit" } else { "watch" },
            started: instant(self.tape.started()),
            ended: self.tape.ended(),
            flags: title.flags.iter().map(flag).collect(),
            redacted: self.tape.privacy().rules(),
            anomalies: self.tape.anomalies(),
            health_passes_seen: passes.map_or(&[], |passes| &passes.health),
            podgc_passes: passes.map_or(&[], |passes| &passes.podgc),
        }
    }
}

/// Writes a file of lines.
fn write(directory: &Path, name: &str, lines: impl IntoIterator<Item = impl Display>) -> io::Result<()> {
    // A packed file of the same name belongs to another run; a replay would ignore it.
    drop(fs::remove_file(directory.join(format!("{name}.gz"))));
    let mut file = BufWriter::new(File::create(directory.join(name))?);
    for line in lines {
        writeln!(file, "{line}")?;
    }
    file.flush()
}
