//! The registry of controllers: one row each with its names, its user, its source of Events, and how it is started.
//!
//! Inputs: names and flags. Outputs: rows, and started controllers. It uses the controllers; what they share is in
//! [`super::controller`].

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::cloud_node_lifecycle::CloudNodeLifecycle;
use super::controller::{Context, Controller, ControllerContext};
use super::garbage_collector::GarbageCollector;
use super::node_ipam::NodeIpam;
use super::node_lifecycle::NodeLifecycle;
use super::node_route::NodeRoutes;
use super::pod_gc::PodGc;
use super::scheduler::Scheduler;
use super::taint_eviction::TaintEviction;
use super::{
    attach_detach, certificates, cloud_node, cron_job, csi_attacher, daemonset, deployment, disruption, endpointslice,
    ephemeral_volumes, job, namespace, replicaset, resource_quota, service_accounts, statefulset, storage_protection,
    ttl, ttl_after_finished, volume_binder,
};
use crate::profile::Settings;

/// The kind of a controller's work, as far as the comparison of its writes depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Duty {
    /// It keeps or counts the Pods of a workload, and writes a status about them.
    Workload,
    /// Anything else.
    Other,
    /// It writes what no recording holds: certificates, accounts, Endpoints.
    Unrecorded,
    /// It is no part of every cluster, as software of a storage or a cloud, so that no recording judges it.
    Driver,
}

/// A controller or the scheduler: anything that is started, stopped and queried as a controller.
#[derive(Debug)]
pub struct ControllerRow {
    /// The name, as `--controllers` has it.
    pub name: &'static str,
    /// The short name that `--controllers` takes as well; empty for none.
    pub alias: &'static str,
    /// The user that it writes as, without the prefix `system:` or that of the service accounts of `kube-system`.
    pub user: &'static str,
    /// The component that its Events name; empty if it makes none.
    pub event_source: &'static str,
    /// The kind of its work.
    pub duty: Duty,
    start: fn(&ControllerContext, Timestamp) -> Option<Box<dyn Controller>>,
}

macro_rules! rows {
    ($( $name:literal $alias:literal $user:literal $source:literal $duty:ident $start:expr; )+) => {
        /// The controllers in the order in which kube-controller-manager starts them, the scheduler, the attacher of
        /// CSI drivers, and the controllers of cloud-controller-manager.
        ///
        /// Sources: cmd/kube-controller-manager/app/controllermanager.go, `NewControllerDescriptors`, and
        /// names/controller_names.go, `KCMControllerAliases` (v1.34).
        pub const ROWS: &[ControllerRow] = &[$( ControllerRow {
            name: $name, alias: $alias, user: $user, event_source: $source, duty: Duty::$duty, start: $start,
        } ),+];
    };
}

rows! {
    // name, alias, user, source of Events, duty, start
    "endpoints-controller" "endpoint" "endpoint-controller" "endpoint-controller" Unrecorded
        |context, now| boxed(endpointslice::start_endpoints(context, now));
    "endpointslice-controller" "endpointslice" "endpointslice-controller" "endpoint-slice-controller" Other
        |context, now| boxed(endpointslice::start(context, now));
    "replicationcontroller-controller" "replicationcontroller" "replication-controller" "replication-controller"
        Workload |context, now| boxed(replicaset::start_replication(context, now));
    "pod-garbage-collector-controller" "podgc" "pod-garbage-collector" "" Other
        |context, now| boxed(PodGc::new(context, now));
    "resourcequota-controller" "resourcequota" "resourcequota-controller" "" Other
        |context, now| boxed(resource_quota::start(context, now));
    "namespace-controller" "namespace" "namespace-controller" "" Other
        |context, now| boxed(namespace::start(context, now));
    "serviceaccount-controller" "serviceaccount" "service-account-controller" "" Unrecorded
        |context, now| boxed(service_accounts::start_accounts(context, now));
    "garbage-collector-controller" "garbagecollector" "generic-garbage-collector" "garbage-collector-controller" Other
        |context, now| boxed(GarbageCollector::new(context, now));
    "daemonset-controller" "daemonset" "daemon-set-controller" "daemonset-controller" Workload
        |context, now| boxed(daemonset::start(context, now));
    "job-controller" "job" "job-controller" "job-controller" Workload
        |context, now| boxed(job::start(context, now));
    "deployment-controller" "deployment" "deployment-controller" "deployment-controller" Workload
        |context, now| boxed(deployment::start(context, now));
    "replicaset-controller" "replicaset" "replicaset-controller" "replicaset-controller" Workload
        |context, now| boxed(replicaset::start(context, now));
    "disruption-controller" "disruption" "disruption-controller" "controllermanager" Workload
        |context, now| boxed(disruption::start(context, now));
    "statefulset-controller" "statefulset" "statefulset-controller" "statefulset-controller" Workload
        |context, now| boxed(statefulset::start(context, now));
    "cronjob-controller" "cronjob" "cronjob-controller" "cronjob-controller" Workload
        |context, now| boxed(cron_job::start(context, now));
    "certificatesigningrequest-signing-controller" "csrsigning" "certificate-controller" "" Unrecorded
        |context, now| boxed(certificates::start_signer(context, now));
    "certificatesigningrequest-approving-controller" "csrapproving" "certificate-controller" "" Unrecorded
        |context, now| boxed(certificates::start_approver(context, now));
    "certificatesigningrequest-cleaner-controller" "csrcleaner" "certificate-controller" "" Unrecorded
        |context, now| boxed(certificates::start_cleaner(context, now));
    "ttl-controller" "ttl" "ttl-controller" "" Other
        |context, now| boxed(ttl::start(context, now));
    "node-ipam-controller" "nodeipam" "node-controller" "cidrAllocator" Other
        |context, now| boxed(NodeIpam::new(context, now)?);
    "node-lifecycle-controller" "nodelifecycle" "node-controller" "node-controller" Other
        |context, now| boxed(NodeLifecycle::new(context, now));
    "persistentvolume-binder-controller" "persistentvolume-binder" "persistent-volume-binder"
        "persistentvolume-controller" Other |context, now| boxed(volume_binder::start(context, now));
    "persistentvolume-attach-detach-controller" "attachdetach" "attachdetach-controller" "attachdetach-controller" Other
        |context, now| boxed(attach_detach::start(context, now));
    "persistentvolumeclaim-protection-controller" "pvc-protection" "pvc-protection-controller" "" Other
        |context, now| boxed(storage_protection::start_claims(context, now));
    "persistentvolume-protection-controller" "pv-protection" "pv-protection-controller" "" Other
        |context, now| boxed(storage_protection::start_volumes(context, now));
    "ttl-after-finished-controller" "ttl-after-finished" "ttl-after-finished-controller" "" Other
        |context, now| boxed(ttl_after_finished::start(context, now));
    "root-ca-certificate-publisher-controller" "root-ca-cert-publisher" "root-ca-cert-publisher" "" Unrecorded
        |context, now| boxed(service_accounts::start_certificates(context, now));
    "ephemeral-volume-controller" "ephemeral-volume" "ephemeral-volume-controller" "ephemeral_volume" Other
        |context, now| boxed(ephemeral_volumes::start(context, now));
    "taint-eviction-controller" "" "node-controller" "taint-eviction-controller" Other
        |context, now| boxed(TaintEviction::new(context, now)?);
    "kube-scheduler" "" "kube-scheduler" "default-scheduler" Other
        |context, now| boxed(Scheduler::new(context, now));
    "csi-attacher" "" "csi-attacher" "" Driver
        |context, now| boxed(csi_attacher::start(context, now));
    "cloud-node-controller" "cloud-node" "node-controller" "cloud-node-controller" Driver
        |context, now| boxed(cloud_node::start(context, now));
    "cloud-node-lifecycle-controller" "cloud-node-lifecycle" "node-controller" "cloud-node-lifecycle-controller" Driver
        |context, now| boxed(CloudNodeLifecycle::new(context, now));
    "node-route-controller" "route" "route-controller" "route_controller" Driver
        |context, now| boxed(NodeRoutes::new(context, now)?);
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "the form in which a row starts a controller: flags may keep it from running"
)]
fn boxed(controller: impl Controller + 'static) -> Option<Box<dyn Controller>> {
    Some(Box::new(controller))
}

/// How many rows are no controllers of kube-controller-manager: the scheduler, the attacher, and those of the cloud.
const BESIDE: usize = 2 + CLOUD;
/// How many rows are controllers of cloud-controller-manager: the last ones.
///
/// Source: k8s.io/cloud-provider names/controller_names.go (v0.37).
const CLOUD: usize = 3;

/// The scheduler's name.
pub const SCHEDULER: &str = ROWS[ROWS.len() - BESIDE].name;
/// The name of the attacher of CSI drivers.
pub const ATTACHER: &str = ROWS[ROWS.len() - BESIDE + 1].name;

/// The names of the controllers of kube-controller-manager.
pub const CONTROLLERS: &[&str] = &{
    let mut names = [""; ROWS.len() - BESIDE];
    let mut at = 0;
    while at < names.len() {
        names[at] = ROWS[at].name;
        at += 1;
    }
    names
};

/// The controllers of kube-controller-manager, and of a cloud, that do not run here, with the short names of
/// `--controllers`.
///
/// Sources: cmd/kube-controller-manager/names/controller_names.go (v1.31 to v1.36) and app (v1.34), `aliases`.
const NOT_MODELLED: &[(&str, &str)] = &[
    ("serviceaccount-token-controller", "serviceaccount-token"),
    ("endpointslice-mirroring-controller", "endpointslicemirroring"),
    ("horizontal-pod-autoscaler-controller", "horizontalpodautoscaling"),
    ("podcertificaterequest-cleaner-controller", ""),
    ("bootstrap-signer-controller", "bootstrapsigner"),
    ("token-cleaner-controller", "tokencleaner"),
    ("device-taint-eviction-controller", ""),
    ("persistentvolume-expander-controller", "persistentvolume-expander"),
    ("clusterrole-aggregation-controller", "clusterrole-aggregation"),
    ("kube-apiserver-serving-clustertrustbundle-publisher-controller", ""),
    ("storageversion-garbage-collector-controller", "storage-version-gc"),
    ("resourceclaim-controller", "resource-claim-controller"),
    ("legacy-serviceaccount-token-cleaner-controller", "legacy-service-account-token-cleaner"),
    ("validatingadmissionpolicy-status-controller", ""),
    ("volumeattributesclass-protection-controller", ""),
    ("service-cidr-controller", ""),
    ("storage-version-migrator-controller", "svm"),
    ("selinux-warning-controller", ""),
    ("podgroup-protection-controller", ""),
    ("resourcepoolstatusrequest-controller", ""),
    ("service-lb-controller", "service"),
];

/// Tells whether it is the name of a controller that Kubernetes has and this cluster does not run.
#[must_use]
pub fn is_not_modelled(name: &str) -> bool {
    NOT_MODELLED.iter().any(|(own, _)| *own == name)
}

/// Returns all names that a controller, or a program with controllers, can have.
pub fn known_names() -> impl Iterator<Item = &'static str> + Clone {
    let programs = [KUBE_CONTROLLER_MANAGER, CLOUD_CONTROLLER_MANAGER];
    processes().chain(NOT_MODELLED.iter().map(|(name, _)| *name)).chain(programs)
}

/// The name of the program with the controllers of a cloud.
pub const CLOUD_CONTROLLER_MANAGER: &str = "cloud-controller-manager";

/// The name of the program with most of the controllers.
pub const KUBE_CONTROLLER_MANAGER: &str = "kube-controller-manager";

/// The programs that elect a leader.
pub const ELECTING: [&str; 2] = [KUBE_CONTROLLER_MANAGER, SCHEDULER];

/// Returns the program that runs a controller, among those that elect a leader.
#[must_use]
pub fn electing_program_of(name: &str) -> Option<&'static str> {
    if name == SCHEDULER { Some(SCHEDULER) } else { CONTROLLERS.contains(&name).then_some(KUBE_CONTROLLER_MANAGER) }
}

/// Returns the names of the controllers of a program that has several; none for any other name.
#[must_use]
pub fn controllers_of(program: &str) -> Vec<&'static str> {
    match program {
        KUBE_CONTROLLER_MANAGER => CONTROLLERS.to_vec(),
        CLOUD_CONTROLLER_MANAGER => cloud().collect(),
        _ => Vec::new(),
    }
}

/// Returns what is stopped and started with a program that has several controllers: its process first, where it may
/// elect a leader and so start them again, and they; none for any other name.
pub fn parts_of(program: &str) -> impl Iterator<Item = &'static str> + use<> {
    let process = (program == KUBE_CONTROLLER_MANAGER).then_some(KUBE_CONTROLLER_MANAGER);
    process.into_iter().chain(controllers_of(program))
}

/// Returns the names of all rows.
pub fn processes() -> impl Iterator<Item = &'static str> + Clone {
    ROWS.iter().map(|row| row.name)
}

/// Returns the names of those that run in every cluster: all but the controllers of a cloud.
pub fn processes_without_cloud() -> impl Iterator<Item = &'static str> + Clone {
    processes().take(ROWS.len() - CLOUD)
}

/// Returns the names of the controllers of cloud-controller-manager.
pub fn cloud() -> impl Iterator<Item = &'static str> + Clone {
    processes().skip(ROWS.len() - CLOUD)
}

/// Returns the full name for a short name; any other name unchanged.
#[must_use]
pub fn canonical(name: &str) -> &str {
    let own = ROWS.iter().map(|row| (row.name, row.alias)).chain(NOT_MODELLED.iter().copied());
    own.into_iter().find(|(_, alias)| !name.is_empty() && *alias == name).map_or(name, |(own, _)| own)
}

/// Reads `--controllers`: `*` for all, `NAME` for one, `-NAME` for none of that name, separated by commas.
///
/// # Errors
/// kube-controller-manager's message about an unknown name.
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
            // What does not run anyhow is neither started nor stopped.
            None if is_not_modelled(name) || cloud().any(|own| own == name) => {}
            None => return Err(format!("{name:?} is not in the list of known controllers")),
        }
    }
    let is_on = |name: &str| named.iter().find(|(own, _)| *own == name).map_or(all, |(_, on)| *on);
    Ok(CONTROLLERS.iter().copied().filter(|name| is_on(name)).collect())
}

/// Returns what runs within a controller as a part of it: the evictions for taints, where they are not separate.
///
/// Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.31), `NewNodeLifecycleController`.
#[must_use]
pub fn part_of(name: &str, settings: &Settings) -> Option<&'static str> {
    let is_whole = name == "node-lifecycle-controller" && !settings.profile().is("taint-eviction-is-separate");
    is_whole.then_some("taint-eviction-controller")
}

/// Lets parts of controllers run exactly where those run.
pub fn join_parts(controllers: &mut Vec<&'static str>, settings: &Settings) {
    for (whole, part) in CONTROLLERS.iter().filter_map(|name| Some((*name, part_of(name, settings)?))) {
        controllers.retain(|name| *name != part);
        if controllers.contains(&whole) {
            controllers.push(part);
        }
    }
}

/// Starts a controller; `None` for an unknown name, and for one that the flags turn off.
#[must_use]
pub fn start(name: &str, context: Context, now: Timestamp) -> Option<Box<dyn Controller>> {
    let row = ROWS.iter().find(|row| row.name == name)?;
    let Context { settings, chance } = context;
    let event_source = match name {
        "taint-eviction-controller" => settings.profile().text("taint-eviction-event-source"),
        _ => row.event_source,
    };
    (row.start)(&ControllerContext { settings, chance, user: row.user, event_source }, now)
}
