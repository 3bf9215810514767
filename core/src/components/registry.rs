//! The controllers by name: which there are, which of them the flags let run, and how one is started.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::controller::{Context, Controller};
use super::garbage_collector::GarbageCollector;
use super::namespace::Namespaces;
use super::node_ipam::NodeIpam;
use super::node_lifecycle::NodeLifecycle;
use super::pod_gc::PodGc;
use super::scheduler::Scheduler;
use super::taint_eviction::TaintEviction;
use super::ttl::Ttl;
use super::{daemonset, deployment, disruption, endpointslice, replicaset, statefulset};

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
