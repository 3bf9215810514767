//! The inputs and outputs of a run: observations, and requests to the backend. Data.

use alloc::string::{String, ToString};

use super::{HandFedNode, OwnLook, Position, ScenarioAction};
use crate::components::RecordedDecision;
use crate::network::{Answer, Resource, TransportError};
use crate::objects::{Json, Object, ObjectKey, Text};

/// Numbers the actions of a run, counting up from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct ActionId(pub u32);

/// Something that was seen.
#[derive(Clone, Debug)]
pub enum Observation {
    /// An object changed.
    Change(ObjectChange),
    /// A request of an action was answered; the action is done.
    Answer(ActionId, AnswerSeen),
    /// The watch that an action has opened shows an event.
    Watched(ActionId, WatchedEvent),
    /// An action took effect.
    Done(ActionId),
    /// An action was refused.
    Refused(ActionId, String),
    /// What a fault has affected so far: the answer to [`RunOutput::CountHits`].
    FaultHits(ActionId, FaultEffect),
    /// A machine shows something new.
    Machine {
        /// Its name.
        name: Text,
        /// What its tools show.
        state: Json,
    },
    /// A command of kubectl has started.
    Started,
    /// The command of kubectl that was started last has printed a line.
    Printed(String),
    /// The command of kubectl that was started last has ended, with this exit code.
    Exited(u8),
    /// A look of the user's own shows something new.
    Own(OwnLook, OwnSeen),
    /// A component decided something.
    Decision(RecordedDecision),
    /// A watch had to list again: something about this kind may have been missed.
    Gap(Resource),
}

/// A committed write as a watch shows it.
#[derive(Clone, Debug)]
pub struct ObjectChange {
    /// The kind.
    pub resource: Resource,
    /// Namespace and name.
    pub key: ObjectKey,
    /// The object before; `None` if it was created.
    pub before: Option<Object>,
    /// The object now; `None` if it was deleted.
    pub after: Option<Object>,
    /// The revision of the write.
    pub resource_version: u64,
    /// The writer.
    pub writer: Writer,
    /// The number of the writer's decision.
    pub because: Option<u32>,
}

/// The writer of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writer {
    /// The field manager.
    pub manager: Text,
    /// The subresource; empty for the object itself.
    pub subresource: Text,
    /// The user, where it is known.
    pub user: Text,
}

/// The result of a look of the user's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnSeen {
    /// Whether it holds.
    pub holds: bool,
    /// What is there, for people: `2 spare Nodes`.
    pub seen: String,
}

/// An event of a watch.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchedEvent {
    /// Its type: `ADDED`, `MODIFIED`, `DELETED`.
    pub event: Text,
    /// The object that came with it.
    pub object: Json,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct AnswerSeen {
    /// The HTTP code; 0 if there was no answer.
    pub code: u16,
    /// The message of a Status, or the transport's error.
    pub message: String,
    /// The body.
    pub body: Json,
    /// What of the effect of the object is not modelled that the request has written.
    pub unmodelled: Option<Unmodelled>,
}

/// An effect on other objects that is not modelled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unmodelled {
    /// What it is, as the verdict says it.
    pub what: String,
    /// The kind of the object, if the server itself treats it as any other: lines about answers and this kind hold.
    pub only_for_others_than: Option<String>,
}

impl AnswerSeen {
    /// Returns what a client sees of a simulated request.
    #[must_use]
    pub fn of(answered: &Result<Answer, TransportError>) -> Self {
        match answered {
            Ok(answer) => Self { code: answer.code, message: answer.message(), body: answer.body(), ..Self::default() },
            Err(error) => Self { message: error.to_string(), ..Self::default() },
        }
    }
}

/// The effect of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultEffect {
    /// The number of messages that it was applied to.
    Messages(u64),
    /// The process or the machine is gone, or what was to happen did.
    Ended,
}

/// What a run wants from its backend.
#[derive(Clone, Debug, PartialEq)]
pub enum RunOutput {
    /// Do this and report `Done`, `Answer` or `Refused`.
    Perform {
        /// The number to report it under.
        id: ActionId,
        /// What to do.
        task: Task,
        /// The step that wants it.
        step: Position,
    },
    /// Report what a fault has affected.
    CountHits(ActionId),
    /// The scenario is over: the outcome is there.
    Finished,
}

/// What a backend does for a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// An action of the scenario.
    Action(ScenarioAction),
    /// Create a Node without a kubelet, and write its heartbeats.
    Feed(HandFedNode),
}
