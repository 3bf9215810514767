//! The controller runtime: the trait of all controllers, what they are started with, and how they become components.
//!
//! Mirrors the common shape of pkg/controller (v1.34). A controller holds a [`ControllerRuntime`] and handles changes
//! of caches, answers to its requests and deadlines; every [`Controller`] is a [`Component`] by that. A controller that
//! syncs one object at a time implements `Reconciler` instead. Inputs: messages, time. Outputs: requests, Events,
//! decisions, log lines. Invariant: after each input a controller has done all that it can do now, and has queued its
//! Events. The controllers use this module; the list of all of them is in [`super::registry`], which uses them.

mod keyed;
mod measures;
mod runtime;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

pub(super) use self::keyed::{ControllerConfig, Flow, KeyedController, KeyedRuntime, Reconciler, Retries};
pub use self::measures::{Histogram, Measure, MeasuredValue, gauge_of};
pub use self::runtime::{ApiResult, ControllerRuntime};
pub(super) use self::runtime::{Watched, code, failure, is_namespace_ending, object};
use super::client::{CacheEvent, Reflector};
use super::{Component, Deadline, Output, earliest};
use crate::chance::Chance;
use crate::network::{RequestId, ToClient};
use crate::objects::{HeartbeatStamp, Json, Text};
use crate::profile::Settings;

/// What a component is started with.
#[derive(Clone, Debug)]
pub struct Context {
    /// The flags and the release's behaviours.
    pub settings: Arc<Settings>,
    /// The generator of this component's free choices.
    pub chance: Chance,
}

/// What a controller is started with: its [`Context`], and what its row in [`registry`](super::registry) says.
#[derive(Clone, Debug)]
pub struct ControllerContext {
    /// The flags and the release's behaviours.
    pub settings: Arc<Settings>,
    /// The generator of this controller's free choices.
    pub chance: Chance,
    /// The user that it writes as, from the row.
    pub user: &'static str,
    /// The component that its Events name; empty if it makes none.
    pub event_source: &'static str,
}

/// A periodic loop of a controller.
#[derive(Clone, PartialEq, Debug)]
pub struct LoopInfo {
    /// Its name, as `health-pass`.
    pub name: &'static str,
    /// The pause between two rounds.
    pub period: SignedDuration,
    /// When the next round begins; `None` while one runs.
    pub next: Option<Timestamp>,
}

/// A choice that Kubernetes leaves open, and that a replay reads from its recording.
///
/// For an order, the named objects come first in this order, and the others follow as they would without it. It holds
/// until the next one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FreeChoice<'a> {
    /// Node lifecycle: the order of Nodes within a health pass.
    NodeOrder(&'a [Text]),
    /// Node lifecycle: a taint pass falls between the last Node of the next health pass and its judgement of the zones.
    TaintPassBeforeJudgement,
    /// Garbage collection of Pods: the order of the Pods within a pass.
    PodOrder(&'a [Text]),
    /// The scheduler: the Node for a Pod among those that are equally good.
    NodeOfPod {
        /// The Pod's uid.
        uid: &'a Text,
        /// The Node's name.
        node: &'a Text,
    },
    /// Node lifecycle, for tests: each health pass looks at all Nodes, as upstream's does.
    #[cfg(test)]
    LookAtAll,
}

/// A controller; `Send`, so that a whole simulation can change threads.
///
/// The first methods are what differs between controllers, the next are queries and commands, and the last are for
/// heartbeats without messages.
pub trait Controller: Component + Duplicate + Send {
    /// Returns caches, client and outputs.
    fn runtime(&self) -> &ControllerRuntime;

    /// Returns caches, client and outputs to use them.
    fn runtime_mut(&mut self) -> &mut ControllerRuntime;

    /// Takes a change of a cache; `source` is its place among the watched lists.
    fn handle_event(&mut self, source: usize, event: &CacheEvent, now: Timestamp);

    /// Takes the answer to a request of its own.
    fn handle_reply(&mut self, id: RequestId, reply: &ApiResult, now: Timestamp);

    /// Notes what is due, before [`Self::work`].
    fn handle_due(&mut self, _now: Timestamp) {}

    /// Does all that can be done now; called after each input.
    fn work(&mut self, now: Timestamp);

    /// Tells whether a change of a cache may give it work at once.
    fn works_after(&self, _source: usize) -> bool {
        true
    }

    /// Returns what is due next, beside caches, client and Events.
    fn own_deadline(&self) -> Option<Deadline> {
        None
    }

    /// Returns names and lengths of its own work queues.
    fn own_queues(&self) -> Vec<(&'static str, usize)> {
        Vec::new()
    }

    /// Returns names and lengths of all queues: of work, of requests, of Events.
    fn queues(&self) -> Vec<(&'static str, usize)> {
        self.own_queues().into_iter().chain(self.runtime().queues()).collect()
    }

    /// Returns the periodic loops.
    fn loops(&self) -> Vec<LoopInfo> {
        Vec::new()
    }

    /// Returns more to show under `GET controllers`, by field.
    fn details(&self, _now: Timestamp) -> Vec<(&'static str, Json)> {
        Vec::new()
    }

    /// Returns what it measures, by name.
    fn measures(&self) -> Vec<Measure> {
        Vec::new()
    }

    /// Makes exactly one round of a loop now; the answer tells whether there is such a loop.
    fn run_once(&mut self, _name: &str, _now: Timestamp) -> bool {
        false
    }

    /// Hands the clock of all loops to the driver: from here each round is one [`Self::run_once`].
    ///
    /// A replay of a recording does so, since the phases of the loops are in the recording. Timers of work items, rate
    /// limits and back-offs stay the controller's own.
    fn hold_loops(&mut self) {}

    /// Sets a free choice; one of another controller changes nothing.
    fn prefer(&mut self, _choice: FreeChoice<'_>) {}

    /// Takes a watch event that gives a cached Lease another stamp and does nothing else: no request, no decision, no
    /// other deadline. False, with nothing changed, if the event has to come as a message.
    fn handle_renewal(&mut self, _watch: RequestId, _before: HeartbeatStamp, _after: HeartbeatStamp) -> bool {
        false
    }

    /// Returns the informer that a watch feeds. A bookmark may be given to the informer alone while nothing else is
    /// due: it changes only the revision that the watch resumes from.
    fn informer(&mut self, watch: RequestId) -> Option<&mut Reflector> {
        self.runtime_mut().informer(watch)
    }

    /// Tells whether [`Self::handle_renewal`] may succeed for a watch.
    fn takes_renewals(&self, _watch: RequestId) -> bool {
        false
    }
}

impl<C: Controller> Component for C {
    fn handle_message(&mut self, message: ToClient, now: Timestamp) {
        if let Some(source) = self.runtime().source_of(message.id()) {
            let works = self.works_after(source);
            for event in self.runtime_mut().handle_message(source, message, now) {
                self.handle_event(source, &event, now);
            }
            if !works {
                return;
            }
        } else if let ToClient::Response { id, result } = message
            && !self.runtime_mut().handle_event_reply(id, &result, now)
        {
            self.handle_reply(id, &result, now);
        }
        self.work(now);
        self.runtime_mut().flush(now);
    }

    fn handle_timeout(&mut self, now: Timestamp) {
        self.runtime_mut().handle_timeout(now);
        self.handle_due(now);
        self.work(now);
        self.runtime_mut().flush(now);
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.runtime_mut().outbox.poll()
    }

    fn next_deadline(&self) -> Option<Deadline> {
        earliest([self.runtime().next_deadline(), self.own_deadline()])
    }
}

/// A controller that can be copied behind `dyn`.
pub trait Duplicate {
    /// Returns an independent copy in the same state.
    fn duplicate(&self) -> Box<dyn Controller>;
}

impl<T: Controller + Clone + 'static> Duplicate for T {
    fn duplicate(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Controller> {
    fn clone(&self) -> Self {
        // Copies the controller and not the box, which implements this trait too.
        (**self).duplicate()
    }
}

/// What can be done to a controller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ControllerAction {
    /// The process ends; its memory is lost.
    Stop,
    /// The process starts with empty caches.
    Start,
    /// The process ends and starts at once.
    Restart,
    /// It makes one round of a loop now.
    RunOnce(Text),
}
