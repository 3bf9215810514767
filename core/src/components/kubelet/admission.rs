//! Admission: whether a pod that was bound to the node fits there.
//!
//! Mirrors pkg/kubelet/eviction/eviction_manager.go, `Admit`,
//! pkg/kubelet/lifecycle/predicate.go, pkg/scheduler/eventhandlers.go, `AdmissionCheck`, and
//! pkg/security/apparmor/validate.go (v1.34): pressure, sysctls, operating system, resources against what is
//! allocatable, affinity, name, host ports, NoExecute taints and AppArmor, in this order; the first that fails is
//! reported. The kernel has no AppArmor.
//! After a start a kubelet checks every pod that has not ended, running or not. A critical pod for which only resources
//! are missing preempts others.
//! Inputs: the pod, the other pods, the Node, the configuration. Outputs: admitted, admitted after some victims, or
//! refused with reason and message.
//! Between sysctls and the operating system stands the allocation of resources, see `topology`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::conditions::PRESSURES;
use super::config::KubeletConfig;
use super::eviction::EVICTED;
use super::preemption::{self, Shortage};
use super::setters::is_huge_page;
use super::sysctls;
use crate::components::host::Host;
use crate::components::node_affinity::matches_required;
use crate::components::pod_resources::{Amounts, HostPort, PodLevel, requests, spec_in_effect};
use crate::components::tolerations::tolerates;
use crate::json;
use crate::objects::quantity::{Format, Quantity};
use crate::objects::{Json, Object, Text};
use crate::profile::Profile;

/// Reason and message of a refusal.
type AdmissionFailure = (Text, String);

/// What a pod is checked against.
#[derive(Clone, Debug)]
pub(super) struct AdmissionContext<'a> {
    pub(super) config: &'a KubeletConfig,
    pub(super) host: &'a Host,
    /// The Node, `Null` if it is not known.
    pub(super) node: &'a Json,
    /// Whether memory, disk and process ids run short, in this order.
    pub(super) pressures: [bool; 3],
    pub(super) profile: &'a Profile,
}

/// Resources in the order in which they are checked; the others follow by name.
/// Source: pkg/scheduler/framework/plugins/noderesources/fit.go (v1.34), `fitsRequest`.
const FIRST: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

/// The result of the admission of a pod.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum AdmissionResult {
    /// It runs.
    Admitted,
    /// It runs as soon as the pods with these UIDs have ended.
    AdmittedAfter(Vec<Text>),
    /// It never runs; reason and message.
    Refused(Text, String),
}

/// Finds a reason for a refusal that comes before the allocation of resources.
pub(super) fn early_refusal(pod: &Object, place: &AdmissionContext<'_>) -> Option<AdmissionFailure> {
    let sysctl = || sysctls::forbidden(pod.stable().get("spec"), &place.config.unsafe_sysctls, place.profile);
    under_pressure(pod, place).or_else(|| Some((Text::of("SysctlForbidden"), sysctl()?)))
}

/// Decides whether a pod is admitted beside the others that run here, as far as nothing came before.
pub(super) fn verdict<'a>(
    pod: &Object,
    others: impl Iterator<Item = &'a Object>,
    place: &AdmissionContext<'_>,
) -> AdmissionResult {
    let others: Vec<&Object> = others.collect();
    let (spec, node) = (pod.stable().get("spec"), place.node);
    let refused = |(reason, message): AdmissionFailure| AdmissionResult::Refused(reason, message);
    if let Some(refusal) = wrong_system(pod, node).or_else(|| strict_groups(spec, place)) {
        return refused(refusal);
    }
    let lacking = shortages(spec, &others, place);
    let is_critical = preemption::is_critical(pod);
    if let Some(lack) = lacking.first().filter(|_| !is_critical) {
        return refused((Text::from(format!("OutOf{}", lack.resource)), lack.message()));
    }
    if let Some(refusal) = mismatch(pod, &others, place).or_else(|| unenforceable(pod)) {
        return refused(refusal);
    }
    if lacking.is_empty() {
        return AdmissionResult::Admitted;
    }
    match preemption::victims(pod, &others, &lacking, place.pod_level()) {
        Ok(victims) => AdmissionResult::AdmittedAfter(victims.iter().map(|pod| Text::from(pod.uid())).collect()),
        Err(why) => {
            let message = format!(
                "Unexpected error while attempting to recover from admission failure: preemption: error finding a set \
                 of pods to preempt: {why}"
            );
            refused((Text::of("UnexpectedAdmissionError"), message))
        }
    }
}

/// Refuses a pod while the node is under pressure: memory alone keeps only pods without requests away.
///
/// Source: pkg/kubelet/eviction/eviction_manager.go (v1.34), `Admit`. Upstream lists several conditions in any order.
fn under_pressure(pod: &Object, place: &AdmissionContext<'_>) -> Option<AdmissionFailure> {
    let present = PRESSURES.iter().zip(place.pressures).filter(|(_, is_present)| *is_present);
    let present: Vec<&str> = present.map(|(pressure, _)| pressure.kind()).collect();
    if present.is_empty() || preemption::is_critical(pod) {
        return None;
    }
    let taint = json!({"key": "node.kubernetes.io/memory-pressure", "effect": "NoSchedule"});
    let is_best_effort = pod.stable().at(&["status", "qosClass"]).as_str().unwrap_or("BestEffort") == "BestEffort";
    let tolerations = pod.stable().at(&["spec", "tolerations"]).items();
    let is_borne = || !is_best_effort || tolerations.iter().any(|toleration| tolerates(toleration, &taint));
    if present == ["MemoryPressure"] && is_borne() {
        return None;
    }
    Some((Text::of(EVICTED), format!("The node had condition: [{}]. ", present.join(" "))))
}

/// Finds a reason for a refusal other than missing resources.
fn mismatch(pod: &Object, others: &[&Object], place: &AdmissionContext<'_>) -> Option<AdmissionFailure> {
    let (spec, node) = (pod.stable().get("spec"), place.node);
    if !node.is_null() && !matches_required(spec, node) {
        return Some(predicate("NodeAffinity", "didn't match Pod's node affinity/selector"));
    }
    let is_taken = |port: &HostPort| others.iter().flat_map(|other| HostPort::of(other)).any(|own| own.conflicts(port));
    if HostPort::of(pod).iter().any(is_taken) {
        return Some(predicate("NodePorts", "didn't have free ports for the requested pod ports"));
    }
    let is_hostile = |taint: &Json| {
        taint.get("effect").as_str() == Some("NoExecute")
            && !spec.get("tolerations").items().iter().any(|toleration| tolerates(toleration, taint))
    };
    let mut taints = node.at(&["spec", "taints"]).items().iter();
    taints.any(is_hostile).then(|| predicate("TaintToleration", "had taints that the pod didn't tolerate"))
}

fn unenforceable(pod: &Object) -> Option<AdmissionFailure> {
    let is_pending = matches!(pod.stable().at(&["status", "phase"]).as_str(), None | Some("" | "Pending"));
    let message = "Cannot enforce AppArmor: AppArmor is not enabled on the host";
    (is_pending && wants_app_armor(pod.stable().get("spec"))).then(|| (Text::of("AppArmor"), message.into()))
}

/// Tells whether a pod asks for AppArmor confinement.
fn wants_app_armor(spec: &Json) -> bool {
    let profile = |place: &Json| place.at(&["securityContext", "appArmorProfile", "type"]).as_text().cloned();
    let of_pod = profile(spec);
    ["containers", "initContainers", "ephemeralContainers"]
        .iter()
        .flat_map(|list| spec.get(list).items())
        .filter_map(|container| profile(container).or_else(|| of_pod.clone()))
        .any(|kind| *kind != *"Unconfined")
}

fn predicate(reason: &'static str, what: &str) -> AdmissionFailure {
    (Text::of(reason), format!("Predicate {reason} failed: node(s) {what}"))
}

fn wrong_system(pod: &Object, node: &Json) -> Option<AdmissionFailure> {
    let label = |object: &Json| object.at(&["metadata", "labels", "kubernetes.io/os"]).as_text().cloned();
    let wanted = label(pod.stable());
    if !node.is_null() && wanted.is_some() && wanted != label(node) {
        let message = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label";
        return Some((Text::of("PodOSSelectorNodeLabelDoesNotMatch"), message.into()));
    }
    let system = pod.stable().at(&["spec", "os", "name"]).as_str();
    let message = "Failed to admit pod as the OS field doesn't match node OS";
    system.is_some_and(|name| name != "linux").then(|| (Text::of("PodOSNotSupported"), message.into()))
}

/// Refuses a pod whose policy for supplemental groups the runtime cannot enforce.
///
/// Source: pkg/kubelet/lifecycle/predicate.go (v1.34), `rejectPodAdmissionBasedOnSupplementalGroupsPolicy`.
fn strict_groups(spec: &Json, place: &AdmissionContext<'_>) -> Option<AdmissionFailure> {
    let message = "SupplementalGroupsPolicy=Strict is not supported in this node";
    let lacks = strict_groups_lack(spec, place.node, place.profile);
    lacks.then(|| (Text::of("SupplementalGroupsPolicyNotSupported"), message.into()))
}

fn strict_groups_lack(spec: &Json, node: &Json, profile: &Profile) -> bool {
    let is_strict = spec.at(&["securityContext", "supplementalGroupsPolicy"]).as_str() == Some("Strict");
    let is_able = node.at(&["status", "features", "supplementalGroupsPolicy"]).as_bool() == Some(true);
    is_strict && !is_able && !node.is_null() && profile.is("strict-groups-are-checked")
}

impl AdmissionContext<'_> {
    fn pod_level(&self) -> PodLevel {
        PodLevel::of(self.profile)
    }
}

/// Returns all missing resources, in the order in which they are checked.
pub(super) fn shortages(spec: &Json, others: &[&Object], place: &AdmissionContext<'_>) -> Vec<Shortage> {
    let (count, pods) = (i64::try_from(others.len()).unwrap_or(i64::MAX), place.config.pods());
    let lack = |resource: &str, requested: i64, used: i64, capacity: i64| {
        let resource = String::from(resource);
        (requested + used > capacity).then_some(Shortage { resource, requested, used, capacity })
    };
    let level = place.pod_level();
    let wanted = requests(spec, level);
    let mut used = Amounts::default();
    let counts_status = place.profile.is("container-resources-in-status");
    for other in others {
        // One that is being resized counts with the most of what it had, has and was given.
        let resized = spec_in_effect(other.stable()).filter(|_| counts_status);
        used.add(&requests(resized.as_ref().unwrap_or(other.stable().get("spec")), level));
    }
    let scalars = wanted.iter().map(|(name, _)| name.as_str()).filter(|name| !FIRST.contains(name));
    let of_resources = FIRST.into_iter().chain(scalars).filter(|name| wanted.get(name) > 0);
    let of_resources =
        of_resources.filter_map(|name| lack(name, wanted.get(name), used.get(name), allocatable(name, place)?));
    lack("pods", 1, count, pods).into_iter().chain(of_resources).collect()
}

/// Returns the allocatable amount of a resource; `None` for one that the node does not know, which is not checked.
pub(super) fn allocatable(name: &str, place: &AdmissionContext<'_>) -> Option<i64> {
    let (hardware, kept) = (&place.config.hardware, place.config.reservations);
    let huge_pages =
        || place.config.huge_pages().fold(Quantity::whole(0, Format::BinarySi), |sum, (_, all, _)| sum + *all);
    match name {
        "cpu" => Some((hardware.cpu - kept.cpu).milli_value()),
        "memory" => Some((hardware.memory - kept.memory - huge_pages()).value()),
        "ephemeral-storage" if !place.config.isolates_local_storage => Some(0),
        "ephemeral-storage" => Some((hardware.ephemeral_storage - kept.ephemeral_storage).value()),
        other => {
            let mut all = place.config.extended(place.host);
            let own = all.find(|(name, ..)| **name == *other).map(|(_, _, free)| free.value());
            let announced = || Quantity::from_json(place.node.at(&["status", "allocatable", other]));
            let free = own.or_else(|| announced().map(|amount| amount.value()));
            let free = free.or_else(|| is_huge_page(other).then_some(0));
            // What is healthy no more, but given to somebody, is still there for him. Source:
            // pkg/kubelet/cm/devicemanager/manager.go (v1.34), `sanitizeNodeAllocatable`.
            let given = place.host.given_devices(other);
            free.map(|free| free.max(given)).or_else(|| (given > 0).then_some(given))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::strict_groups_lack;
    use crate::json;
    use crate::profile::{Profile, Release};

    #[test]
    fn a_strict_policy_is_refused_where_the_node_does_not_say_that_it_keeps_it() {
        let node = |features| json!({"status": {"features": features}});
        let spec = |policy: &str| json!({"securityContext": {"supplementalGroupsPolicy": policy}});
        for (minor, policy, features, lacks) in [
            (32, "Strict", json!({}), false),
            (33, "Strict", json!({}), true),
            (33, "Merge", json!({}), false),
            (33, "Strict", json!({"supplementalGroupsPolicy": false}), true),
            (36, "Strict", json!({"supplementalGroupsPolicy": true}), false),
        ] {
            let profile = Profile::default().at_release(Release::new(minor, 0));
            assert_eq!(strict_groups_lack(&spec(policy), &node(features), &profile), lacks, "{minor} {policy}");
        }
    }
}
