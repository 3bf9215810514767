//! Names that Kubernetes does not have, in expectations and objects: with a typo in it, a negative would hold for ever.
//!
//! Inputs: a predicate, the kind of its subject, and what the scenario itself says in `Given` and `When`. Output: what
//! is wrong, with the likely name. A name passes that some release has, that the scenario itself uses outside of
//! expectations, or that a tag `@custom:NAME` says something else in the cluster sets. Other kinds than Nodes and Pods
//! have conditions of their own, and kinds without a schema fields of their own: those are not checked.

use std::sync::LazyLock;

use gherkin::StepType;
use nodeproof_core::network::{find_kind, is_known, kind_names};
use nodeproof_core::objects::kubelet_labels::{KUBELET_LABELS, is_reserved_label};
use nodeproof_core::objects::schema::{FieldType, Schema, Struct};
use nodeproof_core::objects::{Json, Path, Segment};
use nodeproof_core::profile::{Profile, RELEASES};
use nodeproof_core::scenario::{Every, FieldTest, Predicate, Subject};

use super::manifest::Manifest;
use crate::load::Case;
use crate::load::near::nearest;

/// Conditions of Nodes. Source: k8s.io/api core/v1/types.go (v1.34), `NodeConditionType`.
const NODE_CONDITIONS: [&str; 6] =
    ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable", "OutOfDisk"];

/// Conditions of Pods. Source: k8s.io/api core/v1/types.go (v1.36), `PodConditionType`.
const POD_CONDITIONS: [&str; 9] = [
    "ContainersReady",
    "Initialized",
    "Ready",
    "PodScheduled",
    "DisruptionTarget",
    "PodReadyToStartContainers",
    "PodResizePending",
    "PodResizeInProgress",
    "AllContainersRestarting",
];

/// Conditions of Deployments. Source: k8s.io/api apps/v1/types.go (v1.34), `DeploymentConditionType`.
const DEPLOYMENT_CONDITIONS: [&str; 3] = ["Available", "Progressing", "ReplicaFailure"];

/// Keys of taints. Source: k8s.io/api core/v1/well_known_taints.go, k8s.io/cloud-provider api/well_known_taints.go and
/// kubeadm's `ControlPlaneTaint` (v1.34).
const TAINTS: [&str; 11] = [
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/unschedulable",
    "node.kubernetes.io/memory-pressure",
    "node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/network-unavailable",
    "node.kubernetes.io/pid-pressure",
    "node.kubernetes.io/out-of-service",
    "node.cloudprovider.kubernetes.io/uninitialized",
    "node.cloudprovider.kubernetes.io/shutdown",
    "node-role.kubernetes.io/control-plane",
];

/// Labels of Kubernetes that kubelets do not set. Source: k8s.io/api core/v1/well_known_labels.go, apps/v1,
/// discovery/v1 and kubeadm's constants (v1.34).
const LABELS: [&str; 9] = [
    "kubernetes.io/metadata.name",
    "kubernetes.io/service-name",
    "node.kubernetes.io/exclude-from-external-load-balancers",
    "node.kubernetes.io/windows-build",
    "node-role.kubernetes.io/control-plane",
    "endpointslice.kubernetes.io/managed-by",
    "statefulset.kubernetes.io/pod-name",
    "apps.kubernetes.io/pod-index",
    "batch.kubernetes.io/job-name",
];

/// Reasons of Events about Nodes, Pods and workloads. Sources (v1.34): pkg/kubelet/events/event.go and the admission
/// and eviction of pkg/kubelet, pkg/controller (nodelifecycle, tainteviction, nodeipam, daemon, deployment, replicaset,
/// statefulset, disruption, endpointslice), pkg/scheduler.
const EVENT_REASONS: &[&str] = &[
    // Containers and images.
    "Created",
    "Started",
    "Failed",
    "Killing",
    "Preempting",
    "BackOff",
    "ExceededGracePeriod",
    "Pulling",
    "Pulled",
    "InspectFailed",
    "ErrImageNeverPull",
    "Unhealthy",
    "ProbeWarning",
    "FailedPostStartHook",
    "FailedPreStopHook",
    // Pods on a kubelet.
    "FailedKillPod",
    "FailedCreatePodContainer",
    "DeadlineExceeded",
    "NetworkNotReady",
    "SandboxChanged",
    "FailedCreatePodSandBox",
    "FailedPodSandBoxStatus",
    "FailedSync",
    "FailedValidation",
    "ResizeDeferred",
    "ResizeInfeasible",
    "ResizeStarted",
    "ResizeCompleted",
    "ResizeError",
    "Evicted",
    "NodeAffinity",
    "NodeName",
    "NodePorts",
    "OutOfcpu",
    "OutOfmemory",
    "OutOfpods",
    "OutOfephemeral-storage",
    "UnexpectedAdmissionError",
    "TopologyAffinityError",
    "PodFeatureUnsupported",
    "NodeShutdown",
    // Volumes.
    "FailedAttachVolume",
    "FailedDetachVolume",
    "FailedMount",
    "FailedMapVolume",
    "VolumeResizeFailed",
    "VolumeResizeSuccessful",
    "FileSystemResizeFailed",
    "FileSystemResizeSuccessful",
    "AlreadyMountedVolume",
    "SuccessfulAttachVolume",
    "SuccessfulMountVolume",
    "FailedMountOnFilesystemMismatch",
    // The kubelet and its Node.
    "NodeReady",
    "NodeNotReady",
    "NodeSchedulable",
    "NodeNotSchedulable",
    "Starting",
    "KubeletSetupFailed",
    "Rebooted",
    "Shutdown",
    "ContainerGCFailed",
    "ImageGCFailed",
    "FailedNodeAllocatableEnforcement",
    "NodeAllocatableEnforced",
    "UnsupportedMountOption",
    "InvalidDiskCapacity",
    "FreeDiskSpaceFailed",
    "CgroupV1",
    "EvictionThresholdMet",
    "NodeHasSufficientMemory",
    "NodeHasInsufficientMemory",
    "NodeHasNoDiskPressure",
    "NodeHasDiskPressure",
    "NodeHasSufficientPID",
    "NodeHasInsufficientPID",
    "PossibleMemoryBackedVolumesOnDisk",
    // Controllers of nodes.
    "RegisteredNode",
    "RemovingNode",
    "DeletingNode",
    "DeletingNodeFailed",
    "FailedToCreateRoute",
    "Synced",
    "NodeControllerEviction",
    "DeletingAllPods",
    "TerminatingEvictedPod",
    "TerminatedAllPods",
    "TaintManagerEviction",
    "CIDRNotAvailable",
    "CIDRAssignmentFailed",
    // The scheduler.
    "Scheduled",
    "FailedScheduling",
    "Preempted",
    "WaitingForGates",
    // Controllers of workloads.
    "SuccessfulCreate",
    "SuccessfulDelete",
    "SuccessfulUpdate",
    "FailedCreate",
    "FailedDelete",
    "FailedUpdate",
    "FailedDaemonPod",
    "SucceededDaemonPod",
    "FailedPlacement",
    "SelectingAll",
    "ScalingReplicaSet",
    "ReplicaSetCreateError",
    "DeploymentRollback",
    "SelectorOverlap",
    "RecreatingTerminatedPod",
    "RecreatingFailedPod",
    "NoPods",
    "UnmanagedPods",
    "MultiplePodDisruptionBudgets",
    "NotDeleted",
    "CalculateExpectedPodCountFailed",
    "FailedToUpdateEndpointSlices",
    "FailedToUpdateEndpoint",
];

/// The fields of each release.
static SCHEMAS: LazyLock<Vec<Schema>> =
    LazyLock::new(|| RELEASES.into_iter().map(|release| Profile::of(release).schema()).collect());

/// A name that Kubernetes does not have.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnknownName {
    /// The words in the step.
    pub(super) name: String,
    /// What is wrong.
    pub(super) message: String,
    /// The likely name, or how to say that the name is meant.
    pub(super) help: String,
}

/// Returns what a scenario itself says in `Given`, `When` and its tags, with their tables and doc strings.
pub(super) fn own_words(case: &Case) -> String {
    let mut words: Vec<&str> = case.tags.all.iter().filter_map(|tag| tag.strip_prefix("custom:")).collect();
    for step in case.steps.iter().map(|line| &line.step).filter(|step| step.ty != StepType::Then) {
        words.push(&step.value);
        words.extend(step.docstring.as_deref());
        words.extend(step.table.iter().flat_map(|table| table.rows.iter().flatten()).map(String::as_str));
    }
    words.join("\n")
}

/// Returns the conditions that Kubernetes sets on objects of a kind without many of them; most kinds have none.
///
/// Source: k8s.io/api types.go (v1.34) of core/v1, apps/v1, policy/v1 and certificates/v1.
fn conditions_of(kind: &str) -> &'static [&'static str] {
    match kind {
        "CertificateSigningRequest" => &["Approved", "Denied", "Failed"],
        "Namespace" => &[
            "NamespaceDeletionDiscoveryFailure",
            "NamespaceDeletionContentFailure",
            "NamespaceDeletionGroupVersionParsingFailure",
            "NamespaceContentRemaining",
            "NamespaceFinalizersRemaining",
        ],
        "PersistentVolumeClaim" => &["Resizing", "FileSystemResizePending"],
        "PodDisruptionBudget" => &["DisruptionAllowed"],
        "ReplicaSet" | "ReplicationController" => &["ReplicaFailure"],
        _ => &[],
    }
}

/// Finds a name in a predicate that nothing in the cluster can have; `own` is what the scenario itself says.
pub(super) fn unknown_name(subject: &Subject, predicate: &Predicate, own: &str) -> Option<UnknownName> {
    let kind = kind_of(subject);
    let unknown = |what: &str, name: &str, known: &[&str]| {
        let is_known = known.contains(&name) || own.contains(name);
        (!is_known).then(|| refused(what, name, known.iter().copied()))
    };
    match predicate {
        Predicate::Not(inner) | Predicate::Count { of: inner, .. } => unknown_name(subject, inner, own),
        Predicate::All(parts) => parts.iter().find_map(|part| unknown_name(subject, part, own)),
        Predicate::Condition { kind: name, .. } => match kind {
            "Node" => unknown("condition of Nodes", name, &NODE_CONDITIONS),
            "Pod" => unknown("condition of Pods", name, &POD_CONDITIONS),
            "Deployment" => unknown("condition of Deployments", name, &DEPLOYMENT_CONDITIONS),
            _ => unknown(&format!("condition of the kind {kind}"), name, conditions_of(kind)),
        },
        Predicate::Taint(taint) => unknown("taint of Kubernetes", &taint.key, &TAINTS),
        Predicate::Label { key, .. } if is_reserved_label(key) => {
            unknown("label of Kubernetes", key, &[&KUBELET_LABELS[..], &LABELS].concat())
        }
        // Of a resource, as hugepages-2Mi or example.com/gpu, a node can run out too.
        Predicate::Event { reason, .. }
            if reason.strip_prefix("OutOf").is_some_and(|of| of.contains('/') || of.starts_with("hugepages-")) =>
        {
            None
        }
        Predicate::Event { reason, .. } => unknown("reason of Events", reason, EVENT_REASONS),
        Predicate::Field { path, test } => in_every_release(kind, |schema, root| unknown_part(schema, root, path))
            .filter(|unknown| !own.contains(&unknown.name))
            .or_else(|| in_every_release(kind, |schema, root| wrong_type(schema, root, path, test))),
        _ => None,
    }
}

/// Finds a kind, an `apiVersion` or a field of an object that no release has. A kind that is like no other is a custom
/// one, which the server stores as it comes.
pub(super) fn unknown_in_object(object: &Manifest) -> Option<UnknownName> {
    let known = find_kind(&object.kind);
    if known.is_none() {
        let near = nearest(&object.kind, kind_names())?;
        let (message, help) = (format!("there is no kind {:?}", object.kind), format!("did you mean {near}?"));
        return Some(UnknownName { name: object.kind.clone(), message, help });
    }
    if let Some((own, _)) = known.filter(|_| !is_known(&object.resource)) {
        let name = object.body.at(&["apiVersion"]).as_str().unwrap_or_default().to_owned();
        let help = format!("it is {}", own.api_version());
        return Some(UnknownName { message: format!("{} has no apiVersion {name:?}", object.kind), name, help });
    }
    in_every_release(&object.kind, |schema, root| unknown_inside(schema, root, &object.body))
}

/// Returns what is unknown in each release, in the words of the newest; `None` for a kind without a schema.
fn in_every_release(kind: &str, find: impl Fn(&Schema, &Struct) -> Option<UnknownName>) -> Option<UnknownName> {
    let mut unknown = None;
    for schema in SCHEMAS.iter() {
        unknown = Some(find(schema, schema.named(kind)?)?);
    }
    unknown
}

fn unknown_inside(schema: &Schema, own: &Struct, object: &Json) -> Option<UnknownName> {
    object.fields().find_map(|(name, value)| match own.field(name) {
        Some(field) => unknown_below(schema, field.kind(), value),
        None => Some(refused(&format!("field of {}", own.name()), name, own.names())),
    })
}

fn unknown_below(schema: &Schema, holds: &FieldType, value: &Json) -> Option<UnknownName> {
    match (holds, value) {
        (FieldType::Object(at), value) => unknown_inside(schema, schema.at(*at), value),
        (FieldType::List(item), Json::Array(items)) => items.iter().find_map(|it| unknown_below(schema, item, it)),
        (FieldType::Map(item), Json::Object(fields)) => {
            fields.iter().find_map(|(_, value)| unknown_below(schema, item, value))
        }
        _ => None,
    }
}

fn kind_of(subject: &Subject) -> &str {
    match subject {
        Subject::Object(of) => &of.kind,
        Subject::Several { of, .. } => of.first().map_or("", |of| &of.kind),
        Subject::PodsOf { .. } => "Pod",
        Subject::Every(Every::Node) => "Node",
        Subject::Every(Every::Lease) => "Lease",
        _ => "",
    }
}

fn refused<'a>(what: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> UnknownName {
    let help = nearest(name, known).map_or_else(
        || format!("if something else in the cluster sets it, say so with the tag @custom:{name}"),
        |near| format!("did you mean {near}?"),
    );
    UnknownName { name: name.to_owned(), message: format!("there is no {what} {name:?}"), help }
}

/// Finds a value that a field cannot have by its type: a text where a number or a truth value stands.
fn wrong_type(schema: &Schema, root: &Struct, path: &Path, test: &FieldTest) -> Option<UnknownName> {
    let place = place_of(schema, root, path).ok()??;
    let values = match test {
        FieldTest::Is(value) | FieldTest::IsNot(value) => std::slice::from_ref(value),
        FieldTest::OneOf(values) => values.as_slice(),
        _ => return None,
    };
    let value = values.iter().find_map(|value| value.as_str())?;
    let (what, help) = match place {
        FieldType::Bool => ("true or false", "write true or false, without quotes"),
        FieldType::Int | FieldType::Int32 | FieldType::Float => ("a number", "write a number, without quotes"),
        _ => return None,
    };
    let message = format!("{path} is {what}, and no text {value:?}");
    Some(UnknownName { name: value.to_owned(), message, help: help.to_owned() })
}

/// Finds the first part of a path that is no field.
fn unknown_part(schema: &Schema, root: &Struct, path: &Path) -> Option<UnknownName> {
    place_of(schema, root, path).err()
}

/// Returns the type of what a path leads to, `None` below what has no known type, or the first part that is no field.
fn place_of<'a>(schema: &'a Schema, root: &'a Struct, path: &Path) -> Result<Option<&'a FieldType>, UnknownName> {
    let mut place = &FieldType::Any;
    let mut object = Some(root);
    for segment in path.segments() {
        let name = segment.name();
        if let Some(own) = object {
            let Some(field) = own.field(name) else {
                return Err(refused(&format!("field of {}", own.name()), name, own.names()));
            };
            place = field.kind();
        } else {
            place = match (place, segment) {
                (FieldType::List(item), Segment::Item(_)) | (FieldType::Map(item), _) => item,
                // The place in a list may follow a dot as well; what is below an unknown type is not known.
                _ => return Ok(None),
            };
        }
        object = if let FieldType::Object(at) = place { Some(schema.at(*at)) } else { None };
    }
    Ok(Some(place))
}

#[cfg(test)]
mod tests {
    use nodeproof_core::scenario::{ObjectRef, Taint};

    use super::super::manifest::manifests;
    use super::*;

    fn field(path: &str) -> Predicate {
        Predicate::Field { path: path.parse().unwrap(), test: FieldTest::Absent }
    }

    fn taint(key: &str) -> Predicate {
        Predicate::Taint(Taint { key: key.into(), value: None, effect: "NoExecute".into() })
    }

    fn condition(kind: &str) -> Predicate {
        Predicate::Condition { kind: kind.into(), status: "Unknown".into(), reason: None, message: None }
    }

    fn event(reason: &str) -> Predicate {
        Predicate::Event { reason: reason.into(), message: None, times: None }
    }

    #[test]
    fn a_typo_in_a_negative_is_found_with_the_likely_name() {
        let node = Subject::Object(ObjectRef::node("w"));
        let pod = Subject::Object(ObjectRef::pod("default", "p"));
        for (subject, predicate, name, help) in [
            (
                &node,
                taint("node.kubernetes.io/unreachabel"),
                "node.kubernetes.io/unreachabel",
                "node.kubernetes.io/unreachable",
            ),
            (&node, condition("Redy"), "Redy", "did you mean Ready?"),
            (&pod, condition("PodSheduled"), "PodSheduled", "did you mean PodScheduled?"),
            (&pod, condition("MemoryPressure"), "MemoryPressure", "@custom:MemoryPressure"),
            (&node, event("NodeNotRedy"), "NodeNotRedy", "did you mean NodeNotReady?"),
            (&node, field("spec.unschedulabel"), "unschedulabel", "did you mean unschedulable?"),
            (&node, field("status.nodeInfo.kubletVersion"), "kubletVersion", "did you mean kubeletVersion?"),
            (&pod, field("spec.containers[a].imag"), "imag", "did you mean image?"),
        ] {
            let found = unknown_name(subject, &predicate.clone().negated(), "").unwrap();
            assert!(found.name == name && found.help.contains(help), "{found:?}");
            assert_eq!(unknown_name(subject, &predicate, &format!("posts {name}=True")), None);
        }
    }

    #[test]
    fn an_object_has_fields_that_some_release_has() {
        for (yaml, name, help) in [
            (
                "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {nodeNme: w}\n",
                "nodeNme",
                "did you mean nodeName?",
            ),
            (
                "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{nam: a}]}\n",
                "nam",
                "did you mean name?",
            ),
            ("apiVersion: v2\nkind: Node\nmetadata: {name: w}\n", "v2", "it is v1"),
            ("apiVersion: v1\nkind: Deployment\nmetadata: {name: d}\n", "v1", "it is apps/v1"),
            ("apiVersion: v1\nkind: Nod\nmetadata: {name: w}\n", "Nod", "did you mean Node?"),
        ] {
            let found = unknown_in_object(&manifests(yaml).unwrap()[0]).unwrap();
            assert!(found.name == name && found.help == help, "{found:?}");
        }
        for yaml in [
            "apiVersion: example.com/v1\nkind: Maintenance\nmetadata: {name: m}\nspec: {any: 1}\n",
            "apiVersion: v1\nkind: Node\nmetadata: {name: w, labels: {any: x}}\nspec: {taints: [{key: k, effect: \
                NoExecute}]}\n",
        ] {
            assert_eq!(unknown_in_object(&manifests(yaml).unwrap()[0]), None, "{yaml}");
        }
    }

    #[test]
    fn names_of_kubernetes_pass() {
        let node = Subject::Object(ObjectRef::node("w"));
        for predicate in [
            taint("node.kubernetes.io/out-of-service"),
            condition("PIDPressure"),
            event("TaintManagerEviction"),
            field("metadata.labels[a.b/c]"),
            field("metadata.annotations.anything"),
            field("status.conditions[Ready].lastHeartbeatTime"),
            field("status.capacity.cpu"),
            // Only the newest releases have it.
            field("status.declaredFeatures"),
            field("spec.taints[node.kubernetes.io/not-ready].timeAdded"),
        ] {
            assert_eq!(unknown_name(&node, &predicate, ""), None, "{predicate:?}");
        }
    }
}
