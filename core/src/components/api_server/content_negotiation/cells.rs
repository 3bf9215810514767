//! The cells of a row, by kind.
//!
//! Mirrors pkg/printers/internalversion/printers.go (v1.34), `printNode`, `printEvent` and the like. A cell is a text,
//! a number or a truth value, as its column says; an instant is shown as the time since. Inputs: an object and the
//! context of its table. Outputs: one cell for each column.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::cell_values::{NONE, UNKNOWN, age, length, number, since, text, text_or};
use super::{TableContext, network_cells, pods, policy_cells, storage_cells, v1_37_cells, workload_cells};
use crate::objects::lifecycle::condition_in;
use crate::objects::quantity::Quantity;
use crate::objects::time::human_duration;
use crate::objects::{Json, time};
use crate::profile::Profile;

/// Returns the cells of an object of a kind, one for each column that the kind has had; a release shows its own.
/// The name of a class that is the default one is marked as such if it is among those that are given.
pub(super) fn of(plural: &str, object: &Json, view: TableContext<'_>, defaults: &[&Json]) -> Vec<Json> {
    let age = age(object.at(&["metadata", "creationTimestamp"]), view);
    let mut name = text(object, &["metadata", "name"]);
    if defaults.contains(&object.at(&["metadata", "name"])) {
        name = Json::from(format!("{} (default)", name.as_str().unwrap_or("")));
    }
    let cells = match plural {
        "nodes" => node(object, age, view),
        "pods" => pods::cells(object, age, view),
        "events" => event(object, view),
        "leases" => Vec::from([text(object, &["spec", "holderIdentity"]), age]),
        "namespaces" => Vec::from([text(object, &["status", "phase"]), age]),
        "serviceaccounts" => Vec::from([Json::from(length(object.get("secrets"))), age]),
        "configmaps" => Vec::from([Json::from(length(object.get("data")) + length(object.get("binaryData"))), age]),
        "secrets" => Vec::from([text(object, &["type"]), Json::from(length(object.get("data"))), age]),
        "certificatesigningrequests" => signing_request(object, age),
        "componentstatuses" => component_status(object),
        "resourcequotas" => quota(object, age),
        "runtimeclasses" => Vec::from([text(object, &["handler"]), age]),
        "rolebindings" | "clusterrolebindings" => binding(object, age),
        _ => elsewhere(plural, object, age, view)
            .unwrap_or_else(|| Vec::from([object.at(&["metadata", "creationTimestamp"]).clone()])),
    };
    // An Event shows its name last.
    if plural == "events" {
        return cells.into_iter().chain([name]).collect();
    }
    [name].into_iter().chain(cells).collect()
}

/// Returns the cells of the kinds of other files.
fn elsewhere(plural: &str, object: &Json, age: Json, view: TableContext<'_>) -> Option<Vec<Json>> {
    workload_cells::of(plural, object, age.clone(), view)
        .or_else(|| network_cells::of(plural, object, age.clone()))
        .or_else(|| storage_cells::of(plural, object, age.clone()))
        .or_else(|| policy_cells::of(plural, object, age.clone()))
        .or_else(|| v1_37_cells::of(plural, object, age, view))
}

/// Source: pkg/apis/storage/util/helpers.go (v1.34), `IsDefaultAnnotation`.
const DEFAULT_STORAGE_CLASS: [&str; 2] =
    ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];
/// Source: pkg/apis/networking/util/helpers.go (v1.36), `HasDefaultAnnotation`.
const DEFAULT_INGRESS_CLASS: [&str; 1] = ["ingressclass.kubernetes.io/is-default-class"];

/// Returns the names of the classes that a table shows as default ones: all that are marked as such, but of a list of
/// StorageClasses the one that counts, the newest.
///
/// Source: printers.go (v1.34), `printStorageClass`; (v1.36), `printIngressClass`; (v1.37), `printStorageClassList`.
pub(super) fn default_classes<'a>(
    plural: &str,
    (classes, is_list): (&'a [Json], bool),
    profile: &Profile,
) -> Vec<&'a Json> {
    let marks: &[&str] = match plural {
        "storageclasses" => &DEFAULT_STORAGE_CLASS,
        "ingressclasses" if profile.is("default-ingress-class-is-shown") => &DEFAULT_INGRESS_CLASS,
        _ => return Vec::new(),
    };
    let name = |class: &'a Json| class.at(&["metadata", "name"]);
    let created = |class: &'a Json| class.at(&["metadata", "creationTimestamp"]).as_str().and_then(time::parse);
    let is_marked = |class: &Json, key: &str| class.at(&["metadata", "annotations", key]).as_str() == Some("true");
    let marked = classes.iter().filter(|class| marks.iter().any(|key| is_marked(class, key)));
    if plural != "storageclasses" || !profile.is("one-storage-class-is-default") {
        return marked.map(name).collect();
    }
    let first_name = |class: &'a Json| Reverse(name(class).as_str());
    let one = marked.filter(|_| is_list).max_by_key(|class| (created(class), first_name(class)));
    one.map(name).into_iter().collect()
}

fn node(node: &Json, age: Json, view: TableContext<'_>) -> Vec<Json> {
    let ready = node.at(&["status", "conditions"]).items().iter().rfind(|it| it.get("type").as_str() == Some("Ready"));
    let mut status = String::from(match ready.map(|ready| ready.get("status").as_str()) {
        None => "Unknown",
        Some(Some("True")) => "Ready",
        Some(_) => "NotReady",
    });
    if node.at(&["spec", "unschedulable"]).as_bool() == Some(true) {
        status.push_str(",SchedulingDisabled");
    }
    let mut roles = BTreeSet::new();
    for (label, value) in node.at(&["metadata", "labels"]).fields() {
        let value = value.as_str().unwrap_or("");
        match label.strip_prefix("node-role.kubernetes.io/") {
            Some(role) if !role.is_empty() => roles.insert(role),
            _ if *label == "kubernetes.io/role" && !value.is_empty() => roles.insert(value),
            _ => false,
        };
    }
    let roles: Vec<&str> = roles.into_iter().collect();
    let address = |kind: &str| {
        let found = node.at(&["status", "addresses"]).items().iter().find(|it| it.get("type").as_str() == Some(kind));
        found.map_or_else(|| Json::from(NONE), |address| text(address, &["address"]))
    };
    let info = |field: &str| text_or(node, &["status", "nodeInfo", field], UNKNOWN);
    let mut kernel = info("kernelVersion");
    if view.profile.is("node-table-tells-architecture")
        && let Some(architecture) = node.at(&["status", "nodeInfo", "architecture"]).as_str()
        && !architecture.is_empty()
    {
        kernel = Json::from(format!("{} ({architecture})", kernel.as_str().unwrap_or("")));
    }
    Vec::from([
        Json::from(status),
        Json::from(if roles.is_empty() { String::from(NONE) } else { roles.join(",") }),
        age,
        text(node, &["status", "nodeInfo", "kubeletVersion"]),
        address("InternalIP"),
        address("ExternalIP"),
        info("osImage"),
        kernel,
        info("containerRuntimeVersion"),
    ])
}

/// An Event of either group: the newer one has other names for most fields.
fn event(event: &Json, view: TableContext<'_>) -> Vec<Json> {
    let either = |core: &'static str, newer: &'static str| {
        let old = event.get(core);
        if old.is_null() { event.get(newer) } else { old }
    };
    let about = either("involvedObject", "regarding");
    let source = either("source", "deprecatedSource");
    let first_of = |one: &Json, other: &Json| {
        let own = one.as_str().filter(|text| !text.is_empty());
        String::from(own.or(other.as_str()).unwrap_or(""))
    };
    let component = first_of(source.get("component"), either("reportingComponent", "reportingController"));
    let instance = first_of(source.get("host"), event.get("reportingInstance"));
    let first = since(either("firstTimestamp", "deprecatedFirstTimestamp"), view)
        .or_else(|| since(event.get("eventTime"), view))
        .unwrap_or_else(|| String::from(UNKNOWN));
    let mut last = since(either("lastTimestamp", "deprecatedLastTimestamp"), view).unwrap_or_else(|| first.clone());
    let mut times = either("count", "deprecatedCount").as_i64().unwrap_or(0);
    let series = event.get("series");
    if !series.is_null() {
        last = since(series.get("lastObservedTime"), view).unwrap_or_else(|| String::from(UNKNOWN));
        times = number(series, &["count"]);
    } else if times == 0 {
        times = 1;
    }
    let (kind, name) =
        (about.get("kind").as_str().unwrap_or("").to_lowercase(), about.get("name").as_str().unwrap_or(""));
    let target = if name.is_empty() { kind } else { format!("{kind}/{name}") };
    let source = if instance.is_empty() { component } else { format!("{component}, {instance}") };
    Vec::from([
        Json::from(last),
        text(event, &["type"]),
        text(event, &["reason"]),
        Json::from(target),
        text(about, &["fieldPath"]),
        Json::from(source),
        Json::from(either("message", "note").as_str().unwrap_or("").trim()),
        Json::from(first),
        Json::Int(times),
    ])
}

fn signing_request(request: &Json, age: Json) -> Vec<Json> {
    let conditions = request.at(&["status", "conditions"]).items();
    let is = |kind: &str| conditions.iter().any(|condition| condition.get("type").as_str() == Some(kind));
    let mut status = String::from(if is("Denied") {
        "Denied"
    } else if is("Approved") {
        "Approved"
    } else {
        "Pending"
    });
    if is("Failed") {
        status.push_str(",Failed");
    }
    if !request.at(&["status", "certificate"]).is_empty() {
        status.push_str(",Issued");
    }
    let lasts = request
        .at(&["spec", "expirationSeconds"])
        .as_i64()
        .map_or_else(|| String::from(NONE), |seconds| human_duration(jiff::SignedDuration::from_secs(seconds)));
    Vec::from([
        age,
        text_or(request, &["spec", "signerName"], NONE),
        text(request, &["spec", "username"]),
        Json::from(lasts),
        Json::from(status),
    ])
}

fn component_status(object: &Json) -> Vec<Json> {
    let conditions = object.get("conditions").items();
    let Some(health) = condition_in(conditions, "Healthy") else {
        return Vec::from(["Unknown", "", ""].map(Json::from));
    };
    let status = if health.get("status").as_str() == Some("True") { "Healthy" } else { "Unhealthy" };
    Vec::from([Json::from(status), text(health, &["message"]), text(health, &["error"])])
}

fn quota(quota: &Json, age: Json) -> Vec<Json> {
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    let amount = |list: &str, name: &str| {
        let amount = quota.at(&["status", list, name]);
        Quantity::from_json(amount).map_or_else(|| String::from("0"), |_| String::from(amount.as_str().unwrap_or("0")))
    };
    for (name, _) in quota.at(&["status", "hard"]).fields() {
        let shown = format!("{name}: {}/{}", amount("used", name), amount("hard", name));
        if name.starts_with("limits.") { limits.push(shown) } else { requests.push(shown) }
    }
    Vec::from([age, Json::from(requests.join(", ")), Json::from(limits.join(", "))])
}

fn binding(binding: &Json, age: Json) -> Vec<Json> {
    let role = |field: &str| binding.at(&["roleRef", field]).as_str().unwrap_or("");
    let subjects = |kind: &str| {
        let own = binding.get("subjects").items().iter().filter(|subject| subject.get("kind").as_str() == Some(kind));
        let shown = own.map(|subject| {
            let part = |field: &str| subject.get(field).as_str().unwrap_or("");
            if kind == "ServiceAccount" {
                format!("{}/{}", part("namespace"), part("name"))
            } else {
                part("name").into()
            }
        });
        Json::from(shown.collect::<Vec<String>>().join(", "))
    };
    let role = Json::from(format!("{}/{}", role("kind"), role("name")));
    Vec::from([role, age, subjects("User"), subjects("Group"), subjects("ServiceAccount")])
}
