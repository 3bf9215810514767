//! Names that Kubernetes does not have, in expectations and objects: with a typo in it, a negative would hold for ever.
//!
//! Inputs: a predicate, the kind of its subject, and what the scenario itself says in `Given` and `When`. Output: what
//! is wrong, with the likely name. A name passes that some release has, that the scenario itself sets, or
//! that a tag `@custom:NAME` says something else in the cluster sets. Other kinds than Nodes and Pods
//! have conditions of their own, and kinds without a schema fields of their own: those are not checked.

use std::sync::LazyLock;

use nodeproof_core::network::{find_kind, is_known, kind_names};
use nodeproof_core::objects::kubelet_labels::{KUBELET_LABELS, is_reserved_label};
use nodeproof_core::objects::schema::{FieldType, Schema, Struct};
use nodeproof_core::objects::subset::leaves;
use nodeproof_core::objects::{ADDRESS_TYPES, Json, Path, Segment};
use nodeproof_core::profile::{Profile, RELEASES};
use nodeproof_core::scenario::{Every, FieldTest, Predicate, Subject};

use super::condition_reasons::never_together;
use super::known_names::{
    ADMISSION_REASONS, ANNOTATIONS, CONTAINER_FIELDS, CONTAINER_LIMITS, EVENT_REASONS, LABELS, MACHINE_FIELDS,
    NODE_EVENTS, POD_EVENTS, POD_REASONS, RESOURCES, TAINTS, TERMINATED_REASONS, WAITING_REASONS, conditions_of,
    phases_of, reasons_of,
};
use super::manifest::Manifest;
use super::own_names::{MAIN, OwnNames};
use super::taint_forms::impossible;
use super::workload_names::{JOB_EVENTS, VOLUME_EVENTS};
use crate::load::near::nearest;

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

impl UnknownName {
    fn of([name, message, help]: [String; 3]) -> Self {
        Self { name, message, help }
    }
}

/// Finds a name in a predicate that nothing in the cluster can have; `own` is what the scenario itself says.
pub(super) fn unknown_name(subject: &Subject, predicate: &Predicate, own: &OwnNames) -> Option<UnknownName> {
    let kind = kind_of(subject);
    match predicate {
        Predicate::Not(inner) | Predicate::Count { of: inner, .. } => unknown_name(subject, inner, own),
        Predicate::All(parts) => parts.iter().find_map(|part| unknown_name(subject, part, own)),
        Predicate::Condition { kind: name, reason, status, .. } => unknown_condition(kind, name, own).or_else(|| {
            let reason = reason.as_deref()?;
            unknown_reason(kind, reason, own)
                .or_else(|| never_together(kind, [name, status, reason], own).map(UnknownName::of))
        }),
        Predicate::Taint(taint) => unknown("taint of Kubernetes", &taint.key, TAINTS, own)
            .or_else(|| impossible(taint, own).map(UnknownName::of)),
        Predicate::Label { key, .. } => unknown_label(key, own),
        Predicate::Event { reason, .. } if is_out_of_resource(reason) => None,
        Predicate::Event { reason, .. } => unknown(
            "reason of Events",
            reason,
            &[EVENT_REASONS, JOB_EVENTS, VOLUME_EVENTS, ADMISSION_REASONS].concat(),
            own,
        )
        .or_else(|| event_of_others(kind, reason, own)),
        Predicate::Field { path, test: FieldTest::Has(part) } => leaves(part).into_iter().find_map(|(below, value)| {
            let test = if value.is_null() { FieldTest::Absent } else { FieldTest::Is(value.clone()) };
            unknown_name(subject, &Predicate::Field { path: path.followed_by(&below), test }, own)
        }),
        Predicate::Field { path, .. } if matches!(subject, Subject::Machine(_)) => unknown_of_machine(path, own),
        Predicate::Field { path, test } => in_every_release(kind, |schema, root| unknown_part(schema, root, path))
            .filter(|unknown| !own.sets_field(&unknown.name))
            .or_else(|| in_every_release(kind, |schema, root| wrong_type(schema, root, path, test)))
            .or_else(|| unknown_key(kind, path, own))
            .or_else(|| unknown_value(kind, path, test, own)),
        _ => None,
    }
}

/// Refuses a name that is neither known nor said by the scenario.
fn unknown(what: &str, name: &str, known: &[&str], own: &OwnNames) -> Option<UnknownName> {
    let is_known = known.contains(&name) || own.sets(name);
    (!is_known).then(|| refused(what, name, known.iter().copied()))
}

/// Refuses an Event about a Node whose reason is of Pods, or the reverse: nobody records one.
fn event_of_others(kind: &str, reason: &str, own: &OwnNames) -> Option<UnknownName> {
    let (of, other) = match kind {
        "Node" => ("Pod", POD_EVENTS),
        "Pod" => ("Node", NODE_EVENTS),
        _ => return None,
    };
    (other.contains(&reason) && !own.sets(reason)).then(|| UnknownName {
        name: reason.to_owned(),
        message: format!("an Event {reason} is about a {of}, and never about a {kind}"),
        help: format!("{reason} about {of} \"…\""),
    })
}

fn unknown_condition(kind: &str, name: &str, own: &OwnNames) -> Option<UnknownName> {
    let what = if ["Node", "Pod", "Deployment"].contains(&kind) {
        format!("condition of {kind}s")
    } else {
        format!("condition of the kind {kind}")
    };
    unknown(&what, name, conditions_of(kind), own)
}

fn unknown_reason(kind: &str, reason: &str, own: &OwnNames) -> Option<UnknownName> {
    unknown(&format!("reason of a condition of the kind {kind}"), reason, reasons_of(kind), own)
}

/// Refuses a label that neither Kubernetes sets nor the scenario says.
fn unknown_label(key: &str, own: &OwnNames) -> Option<UnknownName> {
    let what = if is_reserved_label(key) { "label of Kubernetes" } else { "label in the scenario" };
    unknown(what, key, &[&KUBELET_LABELS[..], LABELS].concat(), own)
}

/// Tells whether a reason names a resource of which a node has run out, as `OutOfexample.com/gpu`.
fn is_out_of_resource(reason: &str) -> bool {
    reason.strip_prefix("OutOf").is_some_and(|of| of.contains('/') || of.starts_with("hugepages-"))
}

/// Finds the key of a list's item or of a map that nothing in the cluster can have: a line about it would be about
/// nothing.
fn unknown_key(kind: &str, path: &Path, own: &OwnNames) -> Option<UnknownName> {
    let segments: Vec<&Segment> = path.segments().iter().collect();
    segments.windows(2).find_map(|pair| {
        let (list, key): (&str, &str) = (pair[0].name(), pair[1].name());
        let is_item = matches!(pair[1], Segment::Item(_));
        match list {
            "labels" => unknown_label(key, own),
            "annotations" if is_reserved_label(key) => unknown("annotation of Kubernetes", key, ANNOTATIONS, own),
            "capacity" | "allocatable" | "requests" | "limits" if !key.starts_with("hugepages-") => {
                unknown("resource of Kubernetes", key, RESOURCES, own)
            }
            _ if !is_item || key.bytes().all(|byte| byte.is_ascii_digit()) => None,
            "conditions" => unknown_condition(kind, key, own),
            "addresses" => unknown("type of addresses", key, &ADDRESS_TYPES, own),
            "taints" => {
                let key = key.split([':', '=']).next().unwrap_or(key);
                unknown("taint of Kubernetes", key, TAINTS, own)
            }
            "containers" | "containerStatuses" => unknown("container in the scenario", key, &[MAIN], own),
            "initContainers" | "initContainerStatuses" => unknown("container in the scenario", key, &[], own),
            _ => None,
        }
    })
}

/// Refuses a container of a machine, `[namespace/]pod/container`, with a part that the scenario does not say.
fn unknown_container(key: &str, own: &OwnNames) -> Option<UnknownName> {
    let is_index = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let is_said = |part: &str| [MAIN, "default"].contains(&part) || is_index(part) || own.names(part);
    let wrong = key.split('/').find(|part| !is_said(part))?;
    Some(UnknownName {
        name: wrong.to_owned(),
        message: format!("no Pod or container {wrong:?} is declared"),
        help: "a container of a machine is named as in containers[web/main]".to_owned(),
    })
}

/// Finds a part of a path into what `GET machines/NAME` shows that no machine has.
fn unknown_of_machine(path: &Path, own: &OwnNames) -> Option<UnknownName> {
    let names = names_in(path);
    let (what, name, known) = match names.as_slice() {
        ["containers", _, "limits", name, ..] => ("limit of a container", name, CONTAINER_LIMITS),
        ["containers", _, name, ..] => ("field of a container", name, CONTAINER_FIELDS),
        [name, ..] => ("field of a machine", name, MACHINE_FIELDS),
        [] => return None,
    };
    let container = names.get(1).filter(|_| names[0] == "containers").and_then(|key| unknown_container(key, own));
    unknown(what, name, known, &OwnNames::default()).or(container)
}

fn names_in(path: &Path) -> Vec<&str> {
    path.segments().iter().map(|segment| &**segment.name()).collect()
}

/// Returns the values with which a test compares.
fn tested(test: &FieldTest) -> &[Json] {
    match test {
        FieldTest::Is(value) | FieldTest::IsNot(value) => std::slice::from_ref(value),
        FieldTest::OneOf(values) => values,
        _ => &[],
    }
}

/// Finds a value that a field with known values never has.
fn unknown_value(kind: &str, path: &Path, test: &FieldTest, own: &OwnNames) -> Option<UnknownName> {
    let names = names_in(path);
    let (what, known) = match (kind, names.as_slice()) {
        (_, ["status", "conditions", _, "reason"]) => ("reason of a condition", reasons_of(kind).to_vec()),
        (_, ["status", "phase"]) => ("phase", phases_of(kind).to_vec()),
        ("Pod", ["status", "reason"]) => ("reason of a Pod", [POD_REASONS, ADMISSION_REASONS].concat()),
        ("Pod", [.., "waiting", "reason"]) => ("reason of a waiting container", WAITING_REASONS.to_vec()),
        ("Pod", [.., "terminated", "reason"]) => ("reason of an ended container", TERMINATED_REASONS.to_vec()),
        _ => return None,
    };
    let mut texts =
        tested(test).iter().filter_map(Json::as_str).filter(|text| !text.is_empty() && !is_out_of_resource(text));
    texts.find_map(|text| unknown(what, text, &known, own)).filter(|_| !known.is_empty())
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

/// Finds a value that a field cannot have by its type: a text where a number or a truth value stands, or the reverse.
fn wrong_type(schema: &Schema, root: &Struct, path: &Path, test: &FieldTest) -> Option<UnknownName> {
    let place = place_of(schema, root, path).ok()??;
    if let (FieldType::Str, Some(value @ Json::Bool(_))) = (place, tested(test).first()) {
        let name = path.segments().last().map_or_else(String::new, |last| last.name().to_string());
        let (message, help) = (format!("{path} is a text, and no truth value {value}"), "write it in quotes");
        return Some(UnknownName { name, message, help: help.to_owned() });
    }
    let value = tested(test).iter().find_map(Json::as_str)?;
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
            (&pod, field("spec.containers[main].imag"), "imag", "did you mean image?"),
        ] {
            let found = unknown_name(subject, &predicate.clone().negated(), &OwnNames::default()).unwrap();
            assert!(found.name == name && found.help.contains(help), "{found:?}");
            assert_eq!(unknown_name(subject, &predicate, &OwnNames::with(&format!("{name}=True"))), None);
        }
    }

    #[test]
    fn a_typo_in_a_reason_a_key_or_a_value_is_found() {
        let node = Subject::Object(ObjectRef::node("w"));
        let pod = Subject::Object(ObjectRef::pod("default", "p"));
        let machine = Subject::Machine("w".into());
        let because = |reason: &str| Predicate::Condition {
            kind: "Ready".into(),
            status: "Unknown".into(),
            reason: Some(reason.into()),
            message: None,
        };
        let is_not = |path: &str, value: &str| Predicate::Field {
            path: path.parse().unwrap(),
            test: FieldTest::IsNot(Json::text(value)),
        };
        let label = |key: &str| Predicate::Label { key: key.into(), value: None };
        for (subject, predicate, name, help) in [
            (&node, because("NodeStatusUnknwon"), "NodeStatusUnknwon", "did you mean NodeStatusUnknown?"),
            (&pod, because("NodeStatusUnknown"), "NodeStatusUnknown", "@custom:NodeStatusUnknown"),
            (&node, field("status.conditions[Redy].reason"), "Redy", "did you mean Ready?"),
            (&node, field("metadata.labels[\"kubernetes.io/hostnaem\"]"), "kubernetes.io/hostnaem", "hostname?"),
            (&node, field("metadata.labels[exmaple]"), "exmaple", "@custom:exmaple"),
            (
                &node,
                field("metadata.annotations[\"node.alpha.kubernetes.io/tll\"]"),
                "node.alpha.kubernetes.io/tll",
                "did you mean node.alpha.kubernetes.io/ttl?",
            ),
            (&node, field("status.capacity.memroy"), "memroy", "did you mean memory?"),
            (&node, field("status.allocatable[\"example.com/gpu\"]"), "example.com/gpu", "@custom:example.com/gpu"),
            (&node, field("status.addresses[InternalIp].address"), "InternalIp", "did you mean InternalIP?"),
            (
                &node,
                field("spec.taints[node.kubernetes.io/not-redy:NoExecute]"),
                "node.kubernetes.io/not-redy",
                "did you mean node.kubernetes.io/not-ready?",
            ),
            (&pod, field("status.containerStatuses[mian].ready"), "mian", "did you mean main?"),
            (&pod, is_not("status.phase", "Faild"), "Faild", "did you mean Failed?"),
            (&pod, is_not("status.reason", "Evictd"), "Evictd", "did you mean Evicted?"),
            (
                &pod,
                is_not("status.conditions[PodScheduled].reason", "Unschedulabel"),
                "Unschedulabel",
                "Unschedulable?",
            ),
            (
                &pod,
                is_not("status.containerStatuses[0].state.waiting.reason", "CrashLoopBackoff"),
                "CrashLoopBackoff",
                "did you mean CrashLoopBackOff?",
            ),
            (&machine, field("contaners[web/main]"), "contaners", "did you mean containers?"),
            (&machine, field("containers[wbe/main].state"), "wbe", "containers[web/main]"),
            (&machine, field("containers[0].limits[\"memory.swap.mxa\"]"), "memory.swap.mxa", "memory.swap.max?"),
            (&node, label("exmaple"), "exmaple", "@custom:exmaple"),
        ] {
            let found = unknown_name(subject, &predicate.clone().negated(), &OwnNames::default()).unwrap();
            assert!(found.name == name && found.help.contains(help), "{found:?}");
        }
        let said =
            [because("Mine"), field("metadata.labels[exmaple]"), label("exmaple"), is_not("status.phase", "Odd")];
        for predicate in said {
            assert_eq!(
                unknown_name(&pod, &predicate, &OwnNames::with("reason: Mine, labels: {exmaple: x}, phase: Odd")),
                None
            );
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
            event("RegisteredNode"),
            field("metadata.labels[kubernetes.io/arch]"),
            field("metadata.annotations.anything"),
            field("status.conditions[Ready].lastHeartbeatTime"),
            field("status.capacity.cpu"),
            // Only the newest releases have it.
            field("status.declaredFeatures"),
            field("spec.taints[node.kubernetes.io/not-ready].timeAdded"),
        ] {
            assert_eq!(unknown_name(&node, &predicate, &OwnNames::default()), None, "{predicate:?}");
        }
    }
}
