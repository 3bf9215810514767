//! What the environment of a recorded machine decided: when containers ran and how they ended, addresses, probes.
//!
//! Inputs: what a recording says. Outputs: the next run of a container, and the end of a run. Invariant: a container
//! never runs before the kubelet has asked for it, whatever the recording says.

use alloc::collections::{BTreeMap, VecDeque};

use jiff::{SignedDuration, Timestamp};

use super::{Container, ContainerState, Runtime};
use crate::objects::time::parse;
use crate::objects::{Json, Object, Text};

/// How long a call of a runtime takes at least.
const CALL: SignedDuration = SignedDuration::from_millis(50);

/// How a run of a container ended.
#[derive(Clone, Debug, PartialEq)]
pub struct ContainerEnd {
    /// When its process ended.
    pub at: Timestamp,
    /// When it ended by the runtime's account, which the status shows.
    pub finished_at: Timestamp,
    /// The exit code.
    pub exit_code: i64,
    /// The runtime's reason, as `Completed`, `Error` or `OOMKilled`.
    pub reason: Text,
}

/// A run of a container.
#[derive(Clone, Debug, PartialEq)]
pub struct ContainerRun {
    /// When its process started.
    pub at: Timestamp,
    /// When it started by the runtime's account, which the status shows.
    pub started_at: Timestamp,
    /// How it ended; `None` if it still ran at the end of the recording.
    pub end: Option<ContainerEnd>,
}

/// What the environment of a machine decided, by UID of the pod and name of the container.
#[derive(Clone, Debug, Default)]
pub struct RuntimeScript {
    /// The runs that are still to come.
    pub runs: BTreeMap<(Text, Text), VecDeque<ContainerRun>>,
    /// The ends of the runs that were under way when the recording began.
    pub ends: BTreeMap<(Text, Text), ContainerEnd>,
    /// The addresses of the pods.
    pub addresses: BTreeMap<Text, Text>,
    /// The ids of containers, by UID of the pod, name and number of restarts.
    pub ids: BTreeMap<(Text, Text, u32), Text>,
    /// The digests of images, by name.
    pub digests: BTreeMap<Text, Text>,
    /// The names of images as the runtime tells them, where they are others than the pods': of two images that are the
    /// same it tells one. By UID of the pod and name of the container.
    pub images: BTreeMap<(Text, Text), Text>,
}

impl Runtime {
    /// Lets a script decide what containers do.
    pub fn follow(&mut self, script: RuntimeScript) {
        self.script = Some(script.into());
    }

    /// Returns when a container will run that the kubelet asks for now: never, if a script knows no further run.
    #[must_use]
    pub fn next_run(&self, pod: &Object, container: &str, now: Timestamp) -> Timestamp {
        match &self.script {
            None => now + self.behaviour(pod, container).start_delay(),
            Some(script) => {
                let key = (Text::from(pod.uid()), Text::from(container));
                let run = script.runs.get(&key).and_then(VecDeque::front);
                run.map_or(Timestamp::MAX, |run| run.at.max(now + CALL))
            }
        }
    }

    /// Tells whether a recording decides what containers do.
    #[must_use]
    pub const fn is_scripted(&self) -> bool {
        self.script.is_some()
    }

    /// Tells whether a recording does not tell how the running containers of a pod end, which it would if anybody had
    /// seen it.
    #[must_use]
    pub fn lacks_recorded_end(&self, uid: &str) -> bool {
        let is_unknown = |own: &Container| own.is_running() && own.scripted.is_none();
        self.script.is_some() && self.sandbox(uid).is_some_and(|own| own.containers.iter().any(is_unknown))
    }

    /// Returns the id of a container as a recording has it.
    pub(super) fn recorded_id(&self, uid: &Text, container: &Text, restarts: u32) -> Option<Text> {
        let script = self.script.as_ref()?;
        script.ids.get(&(uid.clone(), container.clone(), restarts)).cloned()
    }

    /// Returns the name of a container's image as a recording has it.
    #[must_use]
    pub fn recorded_image(&self, uid: &Text, container: &Text) -> Option<&Text> {
        self.script.as_ref()?.images.get(&(uid.clone(), container.clone()))
    }

    /// Returns the digest of an image as a recording has it.
    #[must_use]
    pub fn recorded_digest(&self, image: &str) -> Option<&Text> {
        self.script.as_ref()?.digests.get(image)
    }

    /// Takes over the containers of a pod that ran before a recording began, as its status shows them.
    pub fn take_over(&mut self, uid: &Text, pod: &Object) {
        let status = pod.stable().get("status");
        let mut sandbox = self.new_sandbox(pod, None);
        if pod.stable().at(&["spec", "hostNetwork"]).as_bool() != Some(true) {
            sandbox.ip = status.get("podIP").as_text().cloned().unwrap_or_default();
        }
        for list in ["initContainerStatuses", "containerStatuses"] {
            for known in status.get(list).items() {
                let end = known
                    .get("name")
                    .as_text()
                    .and_then(|name| self.script.as_ref()?.ends.get(&(uid.clone(), name.clone())).cloned());
                self.ready_of(uid, known);
                sandbox.containers.extend(container_of(known, end));
            }
        }
        if !sandbox.containers.is_empty() {
            self.insert(uid.clone(), sandbox);
        }
    }

    fn ready_of(&mut self, uid: &Text, known: &Json) {
        if let (Some(name), Some(false)) = (known.get("name").as_text(), known.get("ready").as_bool())
            && !known.at(&["state", "running"]).is_null()
        {
            self.readiness.insert((uid.clone(), name.clone()), false);
        }
    }
}

fn container_of(known: &Json, end: Option<ContainerEnd>) -> Option<Container> {
    let name = known.get("name").as_text()?;
    let restarts = u32::try_from(known.get("restartCount").as_i64().unwrap_or_default()).unwrap_or_default();
    let last = ended(known.at(&["lastState", "terminated"]), name, restarts.saturating_sub(1));
    if let Some(container) = ended(known.at(&["state", "terminated"]), name, restarts) {
        return Some(Container { before: last.map(Into::into), ..container });
    }
    let Some(started_at) = known.at(&["state", "running", "startedAt"]).as_str().and_then(parse) else {
        // One that waits to be started again: what is left of it is its last run.
        return last.map(|own| Container { restarts, ..own });
    };
    let mut container = Container::running(name.clone(), Text::default(), restarts, started_at);
    container.id = id_of(known);
    container.before = last.map(Into::into);
    container.end_as(end);
    Some(container)
}

fn ended(state: &Json, name: &Text, restarts: u32) -> Option<Container> {
    let at = |field: &str| state.get(field).as_str().and_then(parse);
    let finished_at = at("finishedAt")?;
    let mut container =
        Container::running(name.clone(), Text::default(), restarts, at("startedAt").unwrap_or(finished_at));
    container.id = id_of(state);
    let reason = reason_of(state.get("reason").as_str().unwrap_or_default());
    let exit_code = state.get("exitCode").as_i64().unwrap_or_default();
    container.state = ContainerState::Exited { finished_at, exit_code, reason };
    Some(container)
}

/// Returns the id of a container without the runtime's name.
fn id_of(status: &Json) -> Text {
    let id = status.get("containerID").as_str().unwrap_or_default();
    Text::from(id.split_once("://").map_or(id, |(_, id)| id))
}

/// Returns a reason as the states of containers hold it.
pub(super) fn reason_of(text: &str) -> &'static str {
    const KNOWN: [&str; 6] = ["Completed", "OOMKilled", "ContainerCannotRun", "StartError", "Unknown", "Error"];
    KNOWN.into_iter().find(|known| *known == text).unwrap_or("Error")
}
