//! Watches the kinds that a run needs: list, watch, resume where the connection broke, list again on 410.
//!
//! One task for each kind. Inputs: the API server's streams. Outputs: what was seen with the instant of its arrival, in
//! order for each kind; the receiver orders arrivals of different kinds by their revisions. Invariant: nothing is
//! missed without a [`Seen::Listed`] that says so.
//!
//! Why not `kube::runtime::watcher`, which lists, watches and backs off in the same way: its events contain neither the
//! revision of a list nor bookmarks. The revision orders a list among changes of other kinds. A bookmark says that the
//! watch is past a write that it did not show, or that the API server answers again. Its objects also pass through a
//! Rust type, whereas the judge reads the JSON as it was sent.

use http_body_util::BodyExt as _;
use jiff::{SignedDuration, Timestamp};
use kube::client::Body as HttpBody;
use nodeproof_core::chance::Chance;
use nodeproof_core::network::{Call, Identity, LEASES, NODE_LEASES, NODES, Resource, Target, Verb};
use nodeproof_core::objects::Json;
use nodeproof_core::scenario::{ActionId, AnswerSeen, WatchedEvent};
use tokio::process::Command;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::cache::{Arrival, Seen, revision_of};
use super::client::{Caller, answer_of, is_success, no_answer, request, told};
use super::clock::Clock;
use super::kubectl;
use super::timing::{PAUSE_RESET, RELIST_PAUSE, RELIST_PAUSE_MAX, SILENCE_MAX, WATCH_PAUSE, WATCH_PAUSE_MAX};

/// The watches of a scenario; they end when this is dropped.
#[derive(Debug)]
pub(super) struct Watches {
    tasks: Vec<JoinHandle<()>>,
    arrivals: mpsc::UnboundedReceiver<Arrival>,
    /// For watches that the scenario opens itself.
    sender: mpsc::UnboundedSender<Arrival>,
    clock: Clock,
}

impl Watches {
    /// Opens a watch for each kind.
    pub(super) fn open(resources: impl IntoIterator<Item = Resource>, caller: &Caller, clock: Clock) -> Self {
        let (sender, arrivals) = mpsc::unbounded_channel();
        let watch = |resource| {
            let watch = Watch { resource, caller: caller.clone(), clock, sender: sender.clone() };
            tokio::spawn(watch.keep())
        };
        let tasks = resources.into_iter().map(watch).collect();
        Self { tasks, arrivals, sender, clock }
    }

    /// Opens a watch of the scenario's own, as a user; returns the answer to the request. It is not opened again when
    /// it ends.
    pub(super) async fn open_own(
        &mut self,
        caller: &Caller,
        identity: &Identity,
        call: &Call,
        id: ActionId,
    ) -> AnswerSeen {
        let Target::Resource { resource, .. } = &call.target else {
            return no_answer("a watch is of a list".to_owned());
        };
        let response = match caller.open(identity, call).await {
            Ok(response) => response,
            Err(why) => return no_answer(why),
        };
        if response.status().as_u16() != 200 {
            return answer_of(response).await.unwrap_or_else(no_answer);
        }
        let (sender, clock, resource) = (self.sender.clone(), self.clock, resource.clone());
        self.tasks.push(tokio::spawn(async move {
            let tell = |seen| sender.send(Arrival { at: clock.now(), resource: resource.clone(), seen });
            let mut lines = Lines::of(response.into_body());
            while let Ok(Some(line)) = lines.next().await {
                let Ok(event) = Json::parse(&String::from_utf8_lossy(&line)) else { continue };
                let Some(kind) = event.get("type").as_text().cloned() else { continue };
                let shown = WatchedEvent { event: kind, object: event.get("object").clone() };
                // The receiver may be gone.
                let _ = tell(Seen::Watched(id, shown));
            }
            let _ = tell(Seen::Trouble("the watch of the scenario has ended".to_owned()));
        }));
        AnswerSeen { code: 200, ..AnswerSeen::default() }
    }

    /// Starts a command of kubectl for an action; what it shows arrives like what watches show. It ends with the
    /// watches.
    pub(super) fn run_command(&mut self, command: Command, id: ActionId) -> Result<(), String> {
        let (sender, clock) = (self.sender.clone(), self.clock);
        let tell = move |news| {
            // The receiver may be gone. The kind means nothing.
            let _ = sender.send(Arrival { at: clock.now(), resource: NODES, seen: Seen::Command(id, news) });
        };
        self.tasks.push(kubectl::start(command, tell)?);
        Ok(())
    }

    /// Waits for the next arrival.
    pub(super) async fn next(&mut self) -> Option<Arrival> {
        self.arrivals.recv().await
    }

    /// Returns the next arrival if there is one already.
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
#[derive(Debug)]
enum End {
    /// The connection broke or was closed: the watch continues at its revision.
    Broken(Option<String>),
    /// The server does not have the revision any more.
    Expired,
}

/// How far a watch has come, and its next pauses.
#[derive(Debug)]
struct WatchProgress {
    /// The revision from which it continues; `None` before a list.
    revision: Option<u64>,
    /// The next pause after a broken connection or a list that failed.
    broken: SignedDuration,
    /// The next pause before a list that a 410 asks for.
    expired: SignedDuration,
    /// When the last 410 came.
    expired_at: Option<Timestamp>,
    chance: Chance,
}

impl WatchProgress {
    fn new(chance: Chance) -> Self {
        Self { revision: None, broken: WATCH_PAUSE, expired: RELIST_PAUSE, expired_at: None, chance }
    }

    /// Notes that a list failed; returns how long to wait.
    fn handle_no_list(&mut self) -> SignedDuration {
        let pause = self.broken;
        self.broken = (pause * 2).min(WATCH_PAUSE_MAX);
        pause
    }

    /// Notes how far a watch came and why it ended; returns how long to wait.
    fn handle_end(&mut self, came_to: u64, end: &End, now: Timestamp) -> SignedDuration {
        if self.revision.replace(came_to).is_some_and(|before| before < came_to) {
            self.broken = WATCH_PAUSE;
        }
        if matches!(end, End::Broken(_)) {
            return self.handle_no_list();
        }
        self.revision = None;
        if self.expired_at.replace(now).is_none_or(|last| now.duration_since(last) > PAUSE_RESET) {
            self.expired = RELIST_PAUSE;
        }
        let pause = self.chance.jitter(self.expired, 1.0);
        self.expired = (self.expired * 2).min(RELIST_PAUSE_MAX);
        pause
    }
}

impl Watch {
    /// Lists and watches until the task is aborted.
    async fn keep(self) {
        let mut progress = WatchProgress::new(Chance::new(self.clock.now().subsec_nanosecond().unsigned_abs().into()));
        loop {
            let (why, pause) = match progress.revision {
                None => match self.list().await {
                    Ok(at) => {
                        progress.revision = Some(at);
                        continue;
                    }
                    Err(why) => (Some(why), progress.handle_no_list()),
                },
                Some(mut at) => {
                    let end = self.stream(&mut at).await;
                    let pause = progress.handle_end(at, &end, self.clock.now());
                    let why = match end {
                        End::Broken(why) => why,
                        End::Expired => None,
                    };
                    (why, pause)
                }
            };
            if let Some(why) = why {
                self.tell(Seen::Trouble(why));
            }
            tokio::time::sleep(pause.unsigned_abs()).await;
        }
    }

    fn tell(&self, seen: Seen) {
        // The receiver may be gone.
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
            // Items of a list do not have their kind.
            let mut object = object.clone();
            object.set(&["kind"], kind.as_str());
            object.set(&["apiVersion"], version.clone());
            object
        };
        let objects = answer.body.get("items").items().iter().map(named).collect();
        self.tell(Seen::Listed { objects, resource_version });
        Ok(resource_version)
    }

    /// Reports what the stream contains, and notes how far it came.
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
        // A run may wait to hear that the API server answers again.
        self.tell(Seen::Bookmark(*revision));
        let mut lines = Lines::of(response.into_body());
        loop {
            let line = match tokio::time::timeout(SILENCE_MAX, lines.next()).await {
                Ok(Ok(Some(line))) => line,
                Ok(Err(why)) => return End::Broken(Some(why)),
                Ok(Ok(None)) | Err(_) => return End::Broken(None),
            };
            if let Some(end) = self.take(&line, revision) {
                return end;
            }
        }
    }

    /// Handles a line of the stream; returns why the watch ends with it.
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

/// The lines of a stream.
struct Lines {
    body: HttpBody,
    pending: Vec<u8>,
}

impl Lines {
    const fn of(body: HttpBody) -> Self {
        Self { body, pending: Vec::new() }
    }

    /// Waits for the next line; `None` when the stream ends, or why it broke. Nothing is lost if the wait is cut short.
    async fn next(&mut self) -> Result<Option<Vec<u8>>, String> {
        loop {
            if let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
                return Ok(Some(self.pending.drain(..=end).collect()));
            }
            match self.body.frame().await {
                Some(Ok(frame)) => frame.into_data().into_iter().for_each(|data| self.pending.extend_from_slice(&data)),
                Some(Err(error)) => return Err(told(&error)),
                None => return Ok(None),
            }
        }
    }
}

/// Returns the namespace in which a kind is watched: for Leases that of Nodes' Leases, for other kinds all namespaces.
pub(super) fn namespace_of(resource: &Resource) -> &'static str {
    if *resource == LEASES { NODE_LEASES } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
    }

    #[test]
    fn a_list_after_410_comes_after_a_back_off_that_doubles_and_is_forgotten() {
        let mut progress = WatchProgress::new(Chance::new(1));
        progress.revision = Some(7);
        let (mut now, mut base) = (at(0), SignedDuration::from_millis(800));
        for _ in 0..7 {
            let pause = progress.handle_end(7, &End::Expired, now);
            assert!((base..=base * 2).contains(&pause), "{pause:?} after {base:?}");
            assert_eq!(progress.revision, None, "a list is next");
            progress.revision = Some(7);
            now += pause;
            base = (base * 2).min(SignedDuration::from_secs(30));
        }
        let pause = progress.handle_end(7, &End::Expired, now + SignedDuration::from_secs(121));
        assert!(pause <= SignedDuration::from_millis(1600), "{pause:?}");
    }

    #[test]
    fn a_broken_watch_goes_on_where_it_was_and_soon_where_it_got_on() {
        let mut progress = WatchProgress::new(Chance::new(1));
        progress.revision = Some(7);
        let mut broken = |came_to| progress.handle_end(came_to, &End::Broken(None), at(0)).as_millis();
        assert_eq!([7, 7, 7, 7, 7, 7, 9, 9].map(&mut broken), [100, 200, 400, 800, 1600, 3000, 100, 200]);
        assert_eq!(progress.revision, Some(9));
    }
}
