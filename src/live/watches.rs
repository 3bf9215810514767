//! Watches of the kinds that a scenario looks at: list, watch, resume where the connection broke, list again on 410.
//!
//! A task for each kind. Inputs: the API server's streams. Outputs: what was seen with the instant of its arrival, in the
//! order of each kind; the driver puts the kinds in the order of their revisions. Invariant: nothing is left out without
//! a [`Seen::Listed`] that says so.

use std::time::Duration;

use http_body_util::BodyExt as _;
use jiff::Timestamp;
use nodeproof_core::network::{Call, LEASES, NODE_LEASES, Resource, Verb};
use nodeproof_core::objects::Json;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::client::{Caller, request, told};
use super::clock::Clock;
use super::feeding::is_success;

/// How long a watch may stay silent: the server sends a bookmark every minute.
const SILENCE_MAX: Duration = Duration::from_secs(150);
/// The pause before a broken watch is opened again; it doubles up to the longest.
const PAUSE_FIRST: Duration = Duration::from_millis(100);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_secs(3);

/// Something that a watch showed.
#[derive(Debug)]
pub(super) struct Arrival {
    /// When.
    pub(super) at: Timestamp,
    /// Of which kind.
    pub(super) resource: Resource,
    /// What.
    pub(super) seen: Seen,
}

/// What a watch shows.
#[derive(Debug)]
pub(super) enum Seen {
    /// All objects of the kind at a revision: at the beginning, and when the watch had to begin anew.
    Listed {
        /// The objects.
        objects: Vec<Json>,
        /// The revision.
        resource_version: u64,
    },
    /// An object was created or changed.
    Set(Json),
    /// An object was deleted; this is its last state.
    Gone(Json),
    /// Everything up to a revision was shown.
    Bookmark(u64),
    /// The API server does not answer; the text says why. It is asked again.
    Trouble(String),
}

/// The watches of a scenario; they end when this is dropped.
#[derive(Debug)]
pub(super) struct Watches {
    tasks: Vec<JoinHandle<()>>,
    arrivals: mpsc::UnboundedReceiver<Arrival>,
}

impl Watches {
    /// Opens a watch for each kind.
    pub(super) fn open(resources: impl IntoIterator<Item = Resource>, caller: &Caller, clock: Clock) -> Self {
        let (sender, arrivals) = mpsc::unbounded_channel();
        let watch = |resource| {
            let watch = Watch { resource, caller: caller.clone(), clock, sender: sender.clone() };
            tokio::spawn(watch.keep())
        };
        Self { tasks: resources.into_iter().map(watch).collect(), arrivals }
    }

    /// Waits for the next arrival.
    pub(super) async fn next(&mut self) -> Option<Arrival> {
        self.arrivals.recv().await
    }

    /// Returns an arrival that is there already.
    pub(super) fn try_next(&mut self) -> Option<Arrival> {
        self.arrivals.try_recv().ok()
    }
}

impl Drop for Watches {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

struct Watch {
    resource: Resource,
    caller: Caller,
    clock: Clock,
    sender: mpsc::UnboundedSender<Arrival>,
}

/// Why a watch ended.
enum End {
    /// The connection broke or was closed: it goes on where it was.
    Broken(Option<String>),
    /// The server does not have the revision any more.
    Expired,
}

impl Watch {
    /// Lists and watches for ever.
    async fn keep(self) {
        let mut pause = PAUSE_FIRST;
        let mut revision = None;
        loop {
            let at = match revision {
                Some(at) => at,
                None => match self.list().await {
                    Ok(at) => *revision.insert(at),
                    Err(why) => {
                        self.tell(Seen::Trouble(why));
                        tokio::time::sleep(pause).await;
                        pause = (pause * 2).min(PAUSE_MAX);
                        continue;
                    }
                },
            };
            let mut last = at;
            let end = self.stream(&mut last).await;
            if last > at {
                pause = PAUSE_FIRST;
            }
            revision = Some(last);
            match end {
                End::Expired => revision = None,
                End::Broken(why) => {
                    if let Some(why) = why {
                        self.tell(Seen::Trouble(why));
                    }
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                }
            }
        }
    }

    fn tell(&self, seen: Seen) {
        // The scenario may be over.
        let _ = self.sender.send(Arrival { at: self.clock.now(), resource: self.resource.clone(), seen });
    }

    async fn list(&self) -> Result<u64, String> {
        let answer =
            self.caller.ask(&Call::new(Verb::List, self.resource.clone(), namespace_of(&self.resource), "")).await;
        if !is_success(&answer) {
            return Err(format!("{} cannot be listed: {} {}", self.resource.qualified(), answer.code, answer.message));
        }
        let resource_version = revision_of(&answer.body);
        let kind = answer.body.get("kind").as_str().unwrap_or("List").trim_end_matches("List").to_owned();
        let version = answer.body.get("apiVersion").clone();
        let named = |object: &Json| {
            // Items of a list come without their kind.
            let mut object = object.clone();
            object.set(&["kind"], kind.as_str());
            object.set(&["apiVersion"], version.clone());
            object
        };
        let objects = answer.body.get("items").items().iter().map(named).collect();
        self.tell(Seen::Listed { objects, resource_version });
        Ok(resource_version)
    }

    /// Shows what the stream brings, and notes how far it came.
    async fn stream(&self, revision: &mut u64) -> End {
        let call = Call::new(Verb::Watch, self.resource.clone(), namespace_of(&self.resource), "")
            .query("resourceVersion", revision.to_string())
            .query("allowWatchBookmarks", "true");
        let Ok(request) = request(None, &call) else { return End::Expired };
        let response = match self.caller.client().send(request).await {
            Ok(response) => response,
            Err(error) => return End::Broken(Some(told(&error))),
        };
        match response.status().as_u16() {
            200 => {}
            410 => return End::Expired,
            code => return End::Broken(Some(format!("{} cannot be watched: {code}", self.resource.qualified()))),
        }
        // Somebody may wait to hear that it goes on.
        self.tell(Seen::Bookmark(*revision));
        let mut body = response.into_body();
        let mut pending: Vec<u8> = Vec::new();
        loop {
            let frame = match tokio::time::timeout(SILENCE_MAX, body.frame()).await {
                Ok(Some(Ok(frame))) => frame,
                Ok(Some(Err(error))) => return End::Broken(Some(told(&error))),
                Ok(None) | Err(_) => return End::Broken(None),
            };
            let Ok(data) = frame.into_data() else { continue };
            pending.extend_from_slice(&data);
            while let Some(end) = pending.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = pending.drain(..=end).collect();
                if let Some(end) = self.take(&line, revision) {
                    return end;
                }
            }
        }
    }

    /// Takes a line of the stream; returns why the watch ends with it.
    fn take(&self, line: &[u8], revision: &mut u64) -> Option<End> {
        let text = String::from_utf8_lossy(line);
        let event = Json::parse(&text).ok()?;
        let object = event.get("object").clone();
        if event.get("type").as_str() == Some("ERROR") {
            return Some(if object.get("code").as_i64() == Some(410) {
                End::Expired
            } else {
                End::Broken(Some(object.get("message").as_str().unwrap_or("").to_owned()))
            });
        }
        *revision = revision_of(&object).max(*revision);
        match event.get("type").as_str() {
            Some("ADDED" | "MODIFIED") => self.tell(Seen::Set(object)),
            Some("DELETED") => self.tell(Seen::Gone(object)),
            Some("BOOKMARK") => self.tell(Seen::Bookmark(*revision)),
            _ => {}
        }
        None
    }
}

/// Returns the namespace in which a kind is looked at: Leases where those of Nodes are, everything else everywhere.
pub(super) fn namespace_of(resource: &Resource) -> &'static str {
    if *resource == LEASES { NODE_LEASES } else { "" }
}

/// Returns the revision of an object or a list.
pub(super) fn revision_of(object: &Json) -> u64 {
    object.at(&["metadata", "resourceVersion"]).as_str().and_then(|text| text.parse().ok()).unwrap_or(0)
}
