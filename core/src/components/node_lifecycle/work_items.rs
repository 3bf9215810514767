//! Jobs that wait for answers: each has one request under way at a time, in the order in which upstream's goroutine
//! would send them.
//!
//! A job has an owner. Inputs: answers, time. Outputs: requests, and the owner with the result when the job is done.

use alloc::collections::BTreeMap;

use jiff::Timestamp;

use super::pods::PodsWrite;
use super::pods_deletion::PodsDeletion;
use super::taints::{LabelWrite, TaintWrite};
use crate::chance::Chance;
use crate::components::client::RequestOutcome;
use crate::components::controller::ControllerRuntime;
use crate::components::{Deadline, DecisionId};
use crate::network::{Call, RequestId};
use crate::objects::Object;

/// What a job needs to send requests.
pub(super) struct Io<'a> {
    /// The controller's client, Events and outputs.
    pub(super) runtime: &'a mut ControllerRuntime,
    /// Free choices.
    pub(super) chance: &'a mut Chance,
    /// The present instant.
    pub(super) now: Timestamp,
}

impl Io<'_> {
    /// Sends a request.
    pub(super) fn send(&mut self, call: Call, because: Option<DecisionId>) -> Progress {
        Progress::Waiting(self.runtime.send(call, because, self.now))
    }
}

/// The state of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Progress {
    /// It waits for an answer.
    Waiting(RequestId),
    /// It pauses.
    Pausing(Timestamp),
    /// It is done; whether it succeeded.
    Done(bool),
}

/// A job.
#[derive(Clone, Debug)]
pub(super) enum WorkItem {
    /// A change of taints.
    Taints(TaintWrite),
    /// A change of labels.
    Labels(LabelWrite),
    /// The marking of pods.
    Pods(PodsWrite),
    /// The deletion of pods.
    Deletion(PodsDeletion),
    /// One request, whose answer is handed to the owner.
    Request,
    /// A pause.
    Pause,
}

/// How a job ended.
#[derive(Clone, Debug)]
pub(super) enum End {
    /// A job of several requests; whether it succeeded.
    Over(bool),
    /// A single request.
    Answer(RequestOutcome),
}

impl End {
    /// Tells whether it succeeded.
    #[must_use]
    pub(super) const fn is_well(&self) -> bool {
        matches!(self, Self::Over(true) | Self::Answer(RequestOutcome::Done(_)))
    }

    /// Returns the object of the answer.
    #[must_use]
    pub(super) fn into_object(self) -> Option<Object> {
        match self {
            Self::Answer(RequestOutcome::Done(object)) => object,
            _ => None,
        }
    }
}

/// The jobs under way, each with its owner.
#[derive(Clone, Debug)]
pub(super) struct WorkItems<O> {
    waiting: BTreeMap<RequestId, (O, WorkItem)>,
    pausing: BTreeMap<(Timestamp, u64), (O, WorkItem)>,
    paused: u64,
}

impl<O> Default for WorkItems<O> {
    fn default() -> Self {
        Self { waiting: BTreeMap::new(), pausing: BTreeMap::new(), paused: 0 }
    }
}

impl<O> WorkItems<O> {
    /// Starts a job; returns the owner if there was nothing to do.
    #[must_use]
    pub(super) fn start(&mut self, owner: O, mut item: WorkItem, io: &mut Io<'_>) -> Option<(O, End)> {
        let progress = match &mut item {
            WorkItem::Taints(write) => write.start(io),
            WorkItem::Labels(write) => write.start(io),
            WorkItem::Pods(write) => write.start(io),
            WorkItem::Deletion(deletion) => deletion.start(io),
            WorkItem::Request | WorkItem::Pause => Progress::Done(true),
        };
        self.keep(owner, item, progress)
    }

    /// Sends one request.
    pub(super) fn request(&mut self, owner: O, call: Call, because: Option<DecisionId>, io: &mut Io<'_>) {
        if let Progress::Waiting(id) = io.send(call, because) {
            self.waiting.insert(id, (owner, WorkItem::Request));
        }
    }

    /// Wakes the owner later.
    pub(super) fn pause(&mut self, owner: O, until: Timestamp) {
        self.paused += 1;
        self.pausing.insert((until, self.paused), (owner, WorkItem::Pause));
    }

    /// Takes an answer; returns the owner when the job is done.
    #[must_use]
    pub(super) fn handle_outcome(
        &mut self,
        id: RequestId,
        outcome: RequestOutcome,
        io: &mut Io<'_>,
    ) -> Option<(O, End)> {
        let (owner, mut item) = self.waiting.remove(&id)?;
        let progress = match &mut item {
            WorkItem::Taints(write) => write.handle_outcome(outcome, io),
            WorkItem::Labels(write) => write.handle_outcome(outcome, io),
            WorkItem::Pods(write) => write.handle_outcome(&outcome, io),
            WorkItem::Deletion(deletion) => deletion.handle_outcome(&outcome, io),
            WorkItem::Request | WorkItem::Pause => return Some((owner, End::Answer(outcome))),
        };
        self.keep(owner, item, progress)
    }

    /// Continues the first job whose pause is over.
    ///
    /// # Errors
    /// No pause is over.
    pub(super) fn handle_timeout(&mut self, io: &mut Io<'_>) -> Result<Option<(O, End)>, ()> {
        let entry = self.pausing.first_entry().filter(|entry| entry.key().0 <= io.now).ok_or(())?;
        let (owner, mut item) = entry.remove();
        let progress = match &mut item {
            WorkItem::Taints(write) => write.handle_timeout(io),
            WorkItem::Labels(write) => write.start(io),
            WorkItem::Pods(_) | WorkItem::Deletion(_) | WorkItem::Request | WorkItem::Pause => Progress::Done(true),
        };
        Ok(self.keep(owner, item, progress))
    }

    /// Returns when the next pause is over.
    #[must_use]
    pub(super) fn next_deadline(&self) -> Option<Deadline> {
        self.pausing.keys().next().map(|(at, _)| Deadline { at: *at, reason: "try again" })
    }

    fn keep(&mut self, owner: O, item: WorkItem, progress: Progress) -> Option<(O, End)> {
        match progress {
            Progress::Done(well) => return Some((owner, End::Over(well))),
            Progress::Waiting(id) => {
                self.waiting.insert(id, (owner, item));
            }
            Progress::Pausing(until) => {
                self.paused += 1;
                self.pausing.insert((until, self.paused), (owner, item));
            }
        }
        None
    }
}
