//! The controllers by name: how one is started, and what all of them can be asked.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::client::{Heartbeat, Reflector};
use super::garbage_collector::GarbageCollector;
use super::namespace::Namespaces;
use super::node_ipam::NodeIpam;
use super::node_lifecycle::NodeLifecycle;
use super::pod_gc::PodGc;
use super::scheduler::Scheduler;
use super::taint_eviction::TaintEviction;
use super::ttl::Ttl;
use super::{Component, daemonset, deployment, disruption, endpointslice, replicaset, statefulset};
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

    /// Lays down a free choice of order: the named objects go first, in this order, the others as they would without.
    ///
    /// It holds until the next call. `node-order`: the nodes within a health pass. `taint-pass-before-judgement`: a
    /// taint pass falls between the last node of the next health pass and its judgement of the zones. `pod-order`: the
    /// pods of a node that is gone.
    fn prefer(&mut self, _choice: &str, _order: &[Text]) {}
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

/// The controllers in the order in which kube-controller-manager starts them.
///
/// Source: cmd/kube-controller-manager/app/controllermanager.go (v1.34), `NewControllerDescriptors`.
pub const CONTROLLERS: &[&str] = &[
    "endpointslice-controller",
    "pod-garbage-collector-controller",
    "namespace-controller",
    "garbage-collector-controller",
    "daemonset-controller",
    "deployment-controller",
    "replicaset-controller",
    "disruption-controller",
    "statefulset-controller",
    "ttl-controller",
    "node-ipam-controller",
    "node-lifecycle-controller",
    "taint-eviction-controller",
];

/// The scheduler's name: a process of its own, which `--controllers` does not know.
pub const SCHEDULER: &str = "kube-scheduler";

/// Returns the names of everything that is started, stopped and asked as a controller is.
pub fn processes() -> impl Iterator<Item = &'static str> + Clone {
    CONTROLLERS.iter().copied().chain([SCHEDULER])
}

/// The short names that `--controllers` takes beside the names above.
///
/// Source: cmd/kube-controller-manager/names/controller_names.go (v1.34), `KCMControllerAliases`.
const ALIASES: &[(&str, &str)] = &[
    ("endpointslice", "endpointslice-controller"),
    ("podgc", "pod-garbage-collector-controller"),
    ("namespace", "namespace-controller"),
    ("garbagecollector", "garbage-collector-controller"),
    ("daemonset", "daemonset-controller"),
    ("deployment", "deployment-controller"),
    ("replicaset", "replicaset-controller"),
    ("disruption", "disruption-controller"),
    ("statefulset", "statefulset-controller"),
    ("ttl", "ttl-controller"),
    ("nodeipam", "node-ipam-controller"),
    ("nodelifecycle", "node-lifecycle-controller"),
];

/// Returns the name of a controller whose short name this may be; any other name as it is.
#[must_use]
pub fn canonical(name: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name)
}

/// Reads `--controllers`: `*` for all, `NAME` for one, `-NAME` for none of that name, separated by commas.
///
/// # Errors
/// The words with which kube-controller-manager refuses a name that it does not know.
pub fn enabled(list: &str) -> Result<Vec<&'static str>, String> {
    let mut named = Vec::new();
    let mut all = false;
    for item in list.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        if item == "*" {
            all = true;
            continue;
        }
        let (on, name) = item.strip_prefix('-').map_or((true, item), |name| (false, name));
        let name = canonical(name);
        match CONTROLLERS.iter().find(|own| **own == name) {
            Some(own) => named.push((*own, on)),
            None => return Err(format!("{name:?} is not in the list of known controllers")),
        }
    }
    let is_on = |name: &str| named.iter().find(|(own, _)| *own == name).map_or(all, |(_, on)| *on);
    Ok(CONTROLLERS.iter().copied().filter(|name| is_on(name)).collect())
}

/// Starts a controller; `None` for a name that is not modelled, and for one that the flags keep from running.
#[must_use]
pub fn start(name: &str, context: Context, now: Timestamp) -> Option<Box<dyn Controller>> {
    let controller: Box<dyn Controller> = match name {
        "endpointslice-controller" => Box::new(endpointslice::start(&context, now)),
        "daemonset-controller" => Box::new(daemonset::start(&context, now)),
        "deployment-controller" => Box::new(deployment::start(&context, now)),
        "replicaset-controller" => Box::new(replicaset::start(&context, now)),
        "disruption-controller" => Box::new(disruption::start(&context, now)),
        "statefulset-controller" => Box::new(statefulset::start(&context, now)),
        "pod-garbage-collector-controller" => Box::new(PodGc::new(&context, now)),
        "namespace-controller" => Box::new(Namespaces::new(&context, now)),
        "ttl-controller" => Box::new(Ttl::new(&context, now)),
        "garbage-collector-controller" => Box::new(GarbageCollector::new(&context, now)),
        "node-ipam-controller" => Box::new(NodeIpam::new(&context, now)?),
        "node-lifecycle-controller" => Box::new(NodeLifecycle::new(&context, now)),
        "taint-eviction-controller" => Box::new(TaintEviction::new(&context, now)),
        SCHEDULER => Box::new(Scheduler::new(&context, now)),
        _ => return None,
    };
    Some(controller)
}
