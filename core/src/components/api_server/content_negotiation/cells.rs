//! The cells of a row, by kind.
//!
//! Mirrors pkg/printers/internalversion/printers.go (v1.34), `printNode`, `printEvent` and the like. A cell is a text,
//! a number or a truth value, as its column says; an instant is shown as the time since. Inputs: an object and the
//! context of its table. Outputs: one cell for each column.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::cell_values::{
    NONE, UNKNOWN, age, containers, count, labels, length, number, replicas, selector, since, text, text_or,
};
use super::{TableContext, more_cells, pods};
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
        "daemonsets" => daemon_set(object, age),
        "deployments" => deployment(object, age),
        "replicasets" => replicas(object, age, selector(object.at(&["spec", "selector"]))),
        "statefulsets" => stateful_set(object, age),
        "jobs" => job(object, age, view),
        "priorityclasses" => priority_class(object, age),
        "serviceaccounts" => Vec::from([Json::from(length(object.get("secrets"))), age]),
        "configmaps" => Vec::from([Json::from(length(object.get("data")) + length(object.get("binaryData"))), age]),
        "secrets" => Vec::from([text(object, &["type"]), Json::from(length(object.get("data"))), age]),
        "services" => service(object, age),
        "volumeattachments" => Vec::from([
            text(object, &["spec", "attacher"]),
            text(object, &["spec", "source", "persistentVolumeName"]),
            text(object, &["spec", "nodeName"]),
            Json::Bool(object.at(&["status", "attached"]).as_bool().unwrap_or(false)),
            age,
        ]),
        "csinodes" => Vec::from([Json::from(length(object.at(&["spec", "drivers"]))), age]),
        "poddisruptionbudgets" => budget(object, age),
        "certificatesigningrequests" => signing_request(object, age),
        _ => more_cells::of(plural, object, age, view)
            .unwrap_or_else(|| Vec::from([object.at(&["metadata", "creationTimestamp"]).clone()])),
    };
    // An Event shows its name last.
    if plural == "events" {
        return cells.into_iter().chain([name]).collect();
    }
    [name].into_iter().chain(cells).collect()
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

fn daemon_set(set: &Json, age: Json) -> Vec<Json> {
    let counts = [
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    ];
    let mut cells: Vec<Json> = counts.iter().map(|field| count(set, &["status", field])).collect();
    cells.push(Json::from(labels(set.at(&["spec", "template", "spec", "nodeSelector"]))));
    cells.push(age);
    cells.extend(containers(set));
    cells.push(selector(set.at(&["spec", "selector"])));
    cells
}

fn ready_of_wanted(object: &Json) -> Json {
    Json::from(format!("{}/{}", number(object, &["status", "readyReplicas"]), number(object, &["spec", "replicas"])))
}

fn deployment(deployment: &Json, age: Json) -> Vec<Json> {
    let mut cells = Vec::from([
        ready_of_wanted(deployment),
        count(deployment, &["status", "updatedReplicas"]),
        count(deployment, &["status", "availableReplicas"]),
        age,
    ]);
    cells.extend(containers(deployment));
    cells.push(selector(deployment.at(&["spec", "selector"])));
    cells
}

fn stateful_set(set: &Json, age: Json) -> Vec<Json> {
    let mut cells = Vec::from([ready_of_wanted(set), age]);
    cells.extend(containers(set));
    cells
}

fn job(job: &Json, age: Json, view: TableContext<'_>) -> Vec<Json> {
    let succeeded = number(job, &["status", "succeeded"]);
    let completions = match (job.at(&["spec", "completions"]).as_i64(), number(job, &["spec", "parallelism"])) {
        (Some(wanted), _) => format!("{succeeded}/{wanted}"),
        (None, side_by_side) if side_by_side > 1 => format!("{succeeded}/1 of {side_by_side}"),
        _ => format!("{succeeded}/1"),
    };
    let instant = |field: &str| job.at(&["status", field]).as_str().and_then(time::parse);
    let duration = match (instant("startTime"), instant("completionTime")) {
        (None, _) => String::new(),
        (Some(from), to) => human_duration(to.unwrap_or(view.now).duration_since(from)),
    };
    let is = |kind: &str| {
        let conditions = job.at(&["status", "conditions"]).items();
        conditions.iter().any(|it| it.get("type").as_str() == Some(kind) && it.get("status").as_str() == Some("True"))
    };
    let status = if is("Complete") {
        "Complete"
    } else if is("Failed") {
        "Failed"
    } else if !job.at(&["metadata", "deletionTimestamp"]).is_null() {
        "Terminating"
    } else {
        let tells_success = view.profile.is("job-table-tells-success-criteria");
        let mut kinds = ["Suspended", "FailureTarget"].into_iter().chain(tells_success.then_some("SuccessCriteriaMet"));
        kinds.find(|kind| is(kind)).unwrap_or("Running")
    };
    let mut cells = Vec::from([Json::from(status), Json::from(completions), Json::from(duration), age]);
    cells.extend(containers(job));
    cells.push(selector(job.at(&["spec", "selector"])));
    cells
}

fn priority_class(class: &Json, age: Json) -> Vec<Json> {
    let is_default = class.get("globalDefault").as_bool().unwrap_or(false);
    Vec::from([count(class, &["value"]), Json::Bool(is_default), age, text(class, &["preemptionPolicy"])])
}

fn service(service: &Json, age: Json) -> Vec<Json> {
    let ports: Vec<String> = service
        .at(&["spec", "ports"])
        .items()
        .iter()
        .map(|port| {
            let (number, node) = (number(port, &["port"]), number(port, &["nodePort"]));
            let protocol = port.get("protocol").as_str().unwrap_or("TCP");
            if node > 0 { format!("{number}:{node}/{protocol}") } else { format!("{number}/{protocol}") }
        })
        .collect();
    Vec::from([
        text(service, &["spec", "type"]),
        text_or(service, &["spec", "clusterIP"], NONE),
        outside(service),
        listed(&ports, NONE),
        age,
        Json::from(labels(service.at(&["spec", "selector"]))),
    ])
}

/// Returns the addresses by which a Service is reached from outside the cluster.
///
/// Source: printers.go (v1.34), `getServiceExternalIP`, `loadBalancerStatusStringer`; the server's tables are wide.
fn outside(service: &Json) -> Json {
    let own = service.at(&["spec", "externalIPs"]).items().iter().filter_map(Json::as_str).map(String::from);
    match service.at(&["spec", "type"]).as_str() {
        Some("ClusterIP" | "NodePort") => listed(&own.collect::<Vec<_>>(), NONE),
        Some("LoadBalancer") => {
            let address = |one: &Json| {
                let mut texts = ["ip", "hostname"].into_iter().filter_map(|field| one.get(field).as_str());
                texts.find(|text| !text.is_empty()).map(String::from)
            };
            let given = service.at(&["status", "loadBalancer", "ingress"]).items().iter().filter_map(address);
            let given: BTreeSet<String> = given.collect();
            listed(&given.into_iter().chain(own).collect::<Vec<_>>(), "<pending>")
        }
        Some("ExternalName") => text(service, &["spec", "externalName"]),
        _ => Json::from(UNKNOWN),
    }
}

fn listed(parts: &[String], none: &str) -> Json {
    Json::from(if parts.is_empty() { String::from(none) } else { parts.join(",") })
}

fn budget(budget: &Json, age: Json) -> Vec<Json> {
    let share = |field: &str| match budget.at(&["spec", field]) {
        Json::Null => Json::from("N/A"),
        Json::Int(number) => Json::from(number.to_string()),
        other => other.clone(),
    };
    Vec::from([share("minAvailable"), share("maxUnavailable"), count(budget, &["status", "disruptionsAllowed"]), age])
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

#[cfg(test)]
mod tests {
    use super::outside;
    use crate::json;

    #[test]
    fn a_service_is_reached_from_outside_as_its_type_says() {
        let ingress = json!({"loadBalancer": {"ingress": [{"ip": "3.4.5.6", "hostname": "a.example"}, {"ip": "2.3.4.5"},
            {"hostname": "b.example"}, {}]}});
        for (spec, shown) in [
            (json!({"type": "ClusterIP"}), "<none>"),
            (json!({"type": "NodePort", "externalIPs": ["1.1.1.1", "1.1.1.0"]}), "1.1.1.1,1.1.1.0"),
            (json!({"type": "LoadBalancer"}), "2.3.4.5,3.4.5.6,b.example"),
            (json!({"type": "LoadBalancer", "externalIPs": ["1.1.1.1"]}), "2.3.4.5,3.4.5.6,b.example,1.1.1.1"),
            (json!({"type": "ExternalName", "externalName": "db.example"}), "db.example"),
            (json!({"type": "Other"}), "<unknown>"),
        ] {
            let mut service = json!({});
            service.set(&["spec"], spec);
            service.set(&["status"], ingress.clone());
            assert_eq!(outside(&service).as_str(), Some(shown));
        }
        assert_eq!(outside(&json!({"spec": {"type": "LoadBalancer"}})).as_str(), Some("<pending>"));
    }
}
