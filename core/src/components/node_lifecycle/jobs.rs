//! Work that waits for answers: one request at a time, in the order in which upstream's goroutines would send them.
//!
//! A job belongs to an owner, who is told when it is done. Inputs: answers, time. Outputs: requests.

use alloc::collections::BTreeMap;

use jiff::Timestamp;

use super::pods::PodsWrite;
use super::taints::{LabelWrite, TaintWrite};
use crate::chance::Chance;
use crate::components::client::Outcome;
use crate::components::controller::ControllerRuntime;
use crate::components::{Deadline, DecisionId};
use crate::network::{Call, RequestId};
use crate::objects::Object;

/// What a job needs to speak.
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

/// How far a job is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Progress {
    /// It waits for an answer.
    Waiting(RequestId),
    /// It pauses.
    Pausing(Timestamp),
    /// It is over, well or not.
    Done(bool),
}

/// A job.
#[derive(Clone, Debug)]
pub(super) enum Job {
    /// A change of taints.
    Taints(TaintWrite),
    /// A change of labels.
    Labels(LabelWrite),
    /// Pods that are marked.
    Pods(PodsWrite),
    /// One request, whose answer the owner reads himself.
    Request,
    /// A pause.
    Pause,
}

/// How a job ended.
#[derive(Clone, Debug)]
pub(super) enum End {
    /// A job of several requests: well or not.
    Over(bool),
    /// A single request.
    Answer(Outcome),
}

impl End {
    /// Tells whether it went well.
    #[must_use]
    pub(super) const fn is_well(&self) -> bool {
        matches!(self, Self::Over(true) | Self::Answer(Outcome::Done(_)))
    }

    /// Returns the object of the answer.
    #[must_use]
    pub(super) fn into_object(self) -> Option<Object> {
        match self {
            Self::Answer(Outcome::Done(object)) => object,
            _ => None,
        }
    }
}

/// The jobs under way, each with its owner.
#[derive(Clone, Debug)]
pub(super) struct Jobs<O> {
    waiting: BTreeMap<RequestId, (O, Job)>,
    pausing: BTreeMap<(Timestamp, u64), (O, Job)>,
    paused: u64,
}

impl<O> Default for Jobs<O> {
    fn default() -> Self {
        Self { waiting: BTreeMap::new(), pausing: BTreeMap::new(), paused: 0 }
    }
}

impl<O> Jobs<O> {
    /// Starts a job; the owner comes back if there was nothing to do.
    #[must_use]
    pub(super) fn start(&mut self, owner: O, mut job: Job, io: &mut Io<'_>) -> Option<(O, End)> {
        let progress = match &mut job {
            Job::Taints(write) => write.start(io),
            Job::Labels(write) => write.start(io),
            Job::Pods(write) => write.start(io),
            Job::Request | Job::Pause => Progress::Done(true),
        };
        self.keep(owner, job, progress)
    }

    /// Sends one request.
    pub(super) fn request(&mut self, owner: O, call: Call, because: Option<DecisionId>, io: &mut Io<'_>) {
        if let Progress::Waiting(id) = io.send(call, because) {
            self.waiting.insert(id, (owner, Job::Request));
        }
    }

    /// Wakes the owner later.
    pub(super) fn pause(&mut self, owner: O, until: Timestamp) {
        self.paused += 1;
        self.pausing.insert((until, self.paused), (owner, Job::Pause));
    }

    /// Takes an answer; the owner comes back when the job is done.
    #[must_use]
    pub(super) fn handle_outcome(&mut self, id: RequestId, outcome: Outcome, io: &mut Io<'_>) -> Option<(O, End)> {
        let (owner, mut job) = self.waiting.remove(&id)?;
        let progress = match &mut job {
            Job::Taints(write) => write.handle_outcome(outcome, io),
            Job::Labels(write) => write.handle_outcome(outcome, io),
            Job::Pods(write) => write.handle_outcome(&outcome, io),
            Job::Request | Job::Pause => return Some((owner, End::Answer(outcome))),
        };
        self.keep(owner, job, progress)
    }

    /// Goes on with the first job whose pause is over; `Err` if there is none.
    ///
    /// # Errors
    /// No pause is over.
    pub(super) fn handle_timeout(&mut self, io: &mut Io<'_>) -> Result<Option<(O, End)>, ()> {
        let entry = self.pausing.first_entry().filter(|entry| entry.key().0 <= io.now).ok_or(())?;
        let (owner, mut job) = entry.remove();
        let progress = match &mut job {
            Job::Taints(write) => write.handle_timeout(io),
            Job::Labels(write) => write.start(io),
            Job::Pods(_) | Job::Request | Job::Pause => Progress::Done(true),
        };
        Ok(self.keep(owner, job, progress))
    }

    /// Returns when the next pause is over.
    #[must_use]
    pub(super) fn next_deadline(&self) -> Option<Deadline> {
        self.pausing.keys().next().map(|(at, _)| Deadline { at: *at, reason: "try again" })
    }

    fn keep(&mut self, owner: O, job: Job, progress: Progress) -> Option<(O, End)> {
        match progress {
            Progress::Done(well) => return Some((owner, End::Over(well))),
            Progress::Waiting(id) => {
                self.waiting.insert(id, (owner, job));
            }
            Progress::Pausing(until) => {
                self.paused += 1;
                self.pausing.insert((until, self.paused), (owner, job));
            }
        }
        None
    }
}
