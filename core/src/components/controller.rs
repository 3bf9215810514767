//! What all controllers have in common: what one is started with, and what it can be asked beside being a component.
//!
//! The trait stands below the controllers, which implement it; the list of all of them stands above, in
//! [`super::registry`].

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::Component;
use super::client::{Heartbeat, Reflector};
use crate::chance::Chance;
use crate::network::RequestId;
use crate::objects::{Beat, Json, Text};
use crate::profile::Settings;

/// What a controller is started with.
#[derive(Clone, Debug)]
pub struct Context {
    /// The flags and the release's behaviours.
    pub settings: Arc<Settings>,
    /// The generator of this controller's free choices.
    pub chance: Chance,
}

/// A loop of a controller that runs by the clock.
#[derive(Clone, PartialEq, Debug)]
pub struct LoopInfo {
    /// Its name, as `health-pass`.
    pub name: &'static str,
    /// The pause between two rounds.
    pub period: SignedDuration,
    /// When the next round begins; `None` while one runs.
    pub next: Option<Timestamp>,
}

/// A choice that Kubernetes leaves to chance, and that a replay reads from its recording.
///
/// Of an order the named objects go first, in this order, the others as they would without; it holds until the next.
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

/// What all controllers can be asked beside being components; `Send`, so that a whole simulation can change threads.
pub trait Controller: Component + Duplicate + Send {
    /// Returns the loops that run by the clock.
    fn loops(&self) -> Vec<LoopInfo> {
        Vec::new()
    }

    /// Returns names and lengths of the work queues.
    fn queues(&self) -> Vec<(&'static str, usize)> {
        Vec::new()
    }

    /// Returns more to show under `GET controllers`, by field.
    fn details(&self, _now: Timestamp) -> Vec<(&'static str, Json)> {
        Vec::new()
    }

    /// Takes a watch event that gives a cached Lease another beat and does nothing else: no request, no decision, no other
    /// deadline. False, with nothing changed, if the event has to come as a message.
    fn handle_renewal(&mut self, _watch: RequestId, _before: Beat, _after: Beat) -> bool {
        false
    }

    /// Takes a watch event that changes times alone, at an instant at which the controller has nothing else to do, if all
    /// it does is to note them. False, with nothing changed, if the event has to come as a message.
    fn handle_heartbeat(&mut self, _heartbeat: &Heartbeat<'_>) -> bool {
        false
    }

    /// Returns the informer that a watch feeds. A bookmark goes to it alone, as long as the controller has nothing else to
    /// do: it changes nothing but the revision that the watch goes on from.
    fn informer(&mut self, _watch: RequestId) -> Option<&mut Reflector> {
        None
    }

    /// Does all that is due at an instant, if nothing follows from it but the instant at which the controller wakes next: no
    /// request, no decision, nothing that others could see. False, with nothing changed, if it has to be woken.
    fn rest(&mut self, _now: Timestamp) -> bool {
        false
    }

    /// Tells whether [`Self::handle_renewal`] may succeed for a watch.
    fn takes_renewals(&self, _watch: RequestId) -> bool {
        false
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

    /// Lays down a free choice; one that is not this controller's changes nothing.
    fn prefer(&mut self, _choice: FreeChoice<'_>) {}
}

/// A controller that can be copied without its type being known.
pub trait Duplicate {
    /// Returns a copy in the same state, that goes on by itself.
    fn duplicate(&self) -> Box<dyn Controller>;
}

impl<T: Controller + Clone + 'static> Duplicate for T {
    fn duplicate(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Controller> {
    fn clone(&self) -> Self {
        // Of the controller, not of the box around it, which is one that can be copied itself.
        (**self).duplicate()
    }
}

/// What can be done to a controller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ControllerAction {
    /// The process ends, with all it had in memory.
    Stop,
    /// It begins anew.
    Start,
    /// It ends and begins anew at once.
    Restart,
    /// It makes one round of a loop now.
    RunOnce(Text),
}
