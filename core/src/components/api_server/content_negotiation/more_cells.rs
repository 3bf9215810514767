//! The cells of a row of kinds that are beside Nodes, Pods and what makes Pods.
//!
//! Mirrors pkg/printers/internalversion/printers.go (v1.34) and pkg/apis/core/helper/helpers.go (v1.34). Inputs: an
//! object and the context of its table. Outputs: one cell for each column behind the name; `None` for a kind that has
//! no columns of its own.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::cell_values::{NONE, age, containers_of, count, labels, replicas, selector, text, text_or};
use super::{TableContext, newer_cells, policy_cells};
use crate::objects::quantity::Quantity;
use crate::objects::{Json, NULL};

const UNSET: &str = "<unset>";
/// How many parts of a list are shown.
const SHOWN: usize = 3;

/// Returns the cells of an object of a kind.
pub(super) fn of(plural: &str, object: &Json, own_age: Json, view: TableContext<'_>) -> Option<Vec<Json>> {
    Some(match plural {
        "clustertrustbundles" | "podcertificaterequests" | "devicetaintrules" | "storageversionmigrations" => {
            return newer_cells::of(plural, object, own_age, view);
        }
        "componentstatuses" => component_status(object),
        "scales" => Vec::from([count(object, &["spec", "replicas"]), count(object, &["status", "replicas"]), own_age]),
        "endpoints" => Vec::from([Json::from(endpoints(object)), own_age]),
        "endpointslices" => slice(object, own_age),
        "replicationcontrollers" => replicas(object, own_age, Json::from(labels(object.at(&["spec", "selector"])))),
        "resourcequotas" => quota(object, own_age),
        "cronjobs" => cron_job(object, own_age, view),
        "controllerrevisions" => Vec::from([controller(object), object.get("revision").clone(), own_age]),
        "podtemplates" => {
            let [names, images] = containers_of(object.at(&["template", "spec", "containers"]));
            Vec::from([names, images, Json::from(labels(object.at(&["template", "metadata", "labels"])))])
        }
        "networkpolicies" => Vec::from([selector(object.at(&["spec", "podSelector"])), own_age]),
        "ingresses" => ingress(object, own_age),
        "horizontalpodautoscalers" => autoscaler(object, own_age),
        "ingressclasses" => {
            let parameters = object.at(&["spec", "parameters"]);
            let group = parameters.get("apiGroup").as_str().map(|group| format!(".{group}")).unwrap_or_default();
            let part = |field: &str| parameters.get(field).as_str().unwrap_or("");
            let shown = format!("{}{group}/{}", part("kind"), part("name"));
            let shown = if parameters.is_null() { String::from(NONE) } else { shown };
            Vec::from([text(object, &["spec", "controller"]), Json::from(shown), own_age])
        }
        "runtimeclasses" => Vec::from([text(object, &["handler"]), own_age]),
        "rolebindings" | "clusterrolebindings" => binding(object, own_age),
        "csidrivers" => csi_driver(object, own_age),
        "persistentvolumes" => volume(object, own_age),
        "persistentvolumeclaims" => claim(object, own_age),
        "storageclasses" => Vec::from([
            text(object, &["provisioner"]),
            text_or(object, &["reclaimPolicy"], "Delete"),
            text_or(object, &["volumeBindingMode"], "Immediate"),
            truth(object, &["allowVolumeExpansion"], false),
            own_age,
        ]),
        "volumeattributesclasses" => Vec::from([text(object, &["driverName"]), own_age]),
        "servicecidrs" => Vec::from([Json::from(joined(object.at(&["spec", "cidrs"]), None)), own_age]),
        "deviceclasses" | "resourceclaimtemplates" => Vec::from([own_age]),
        "ipaddresses" => Vec::from([Json::from(parent(object.at(&["spec", "parentRef"]))), own_age]),
        "csistoragecapacities" => {
            Vec::from([text(object, &["storageClassName"]), text_or(object, &["capacity"], UNSET)])
        }
        "resourceclaims" => Vec::from([Json::from(claim_state(object)), own_age]),
        "resourceslices" => Vec::from([
            text(object, &["spec", "nodeName"]),
            text(object, &["spec", "driver"]),
            text(object, &["spec", "pool", "name"]),
            own_age,
        ]),
        _ => return policy_cells::of(plural, object, own_age),
    })
}

fn truth(object: &Json, path: &[&str], otherwise: bool) -> Json {
    Json::Bool(object.at(path).as_bool().unwrap_or(otherwise))
}

/// Joins texts, or a field of each, with commas.
fn joined(list: &Json, field: Option<&str>) -> String {
    let own = |item: &Json| field.map_or(item.as_str(), |field| item.get(field).as_str()).map(String::from);
    list.items().iter().map(|item| own(item).unwrap_or_default()).collect::<Vec<String>>().join(",")
}

/// Shows the first parts of a list, and how many there are beside them.
fn with_more(parts: &[String]) -> String {
    let shown = parts.iter().take(SHOWN).cloned().collect::<Vec<String>>().join(",");
    match parts.len() {
        0 => String::from(UNSET),
        all if all > SHOWN => format!("{shown} + {} more...", all - SHOWN),
        _ => shown,
    }
}

/// Names the object to which an address belongs.
fn parent(parent: &Json) -> String {
    if parent.is_null() {
        return String::from(NONE);
    }
    let part = |field: &str| parent.get(field).as_str().unwrap_or("");
    let group = if part("group").is_empty() { String::new() } else { format!(".{}", part("group")) };
    let namespace = if part("namespace").is_empty() { String::new() } else { format!("/{}", part("namespace")) };
    format!("{}{namespace}/{}", format!("{}{group}", part("resource")).to_lowercase(), part("name"))
}

fn claim_state(claim: &Json) -> String {
    let is_deleted = !claim.at(&["metadata", "deletionTimestamp"]).is_null();
    let is_allocated = !claim.at(&["status", "allocation"]).is_null();
    let is_reserved = is_allocated && !claim.at(&["status", "reservedFor"]).is_empty();
    let states = [
        (is_deleted, "deleted"),
        (!is_allocated && !is_deleted, "pending"),
        (is_allocated, "allocated"),
        (is_reserved, "reserved"),
    ];
    states.into_iter().filter(|(is, _)| *is).map(|(_, name)| name).collect::<Vec<_>>().join(",")
}

fn component_status(object: &Json) -> Vec<Json> {
    let conditions = object.get("conditions").items();
    let Some(health) = conditions.iter().find(|condition| condition.get("type").as_str() == Some("Healthy")) else {
        return Vec::from(["Unknown", "", ""].map(Json::from));
    };
    let status = if health.get("status").as_str() == Some("True") { "Healthy" } else { "Unhealthy" };
    Vec::from([Json::from(status), text(health, &["message"]), text(health, &["error"])])
}

fn endpoints(object: &Json) -> String {
    let subsets = object.get("subsets").items();
    if subsets.is_empty() {
        return String::from(NONE);
    }
    let mut parts: Vec<String> = Vec::new();
    for subset in subsets {
        let addresses = || subset.get("addresses").items().iter().filter_map(|address| address.get("ip").as_str());
        if subset.get("ports").is_empty() {
            parts.extend(addresses().map(String::from));
        }
        for port in subset.get("ports").items() {
            let number = port.get("port").as_i64().unwrap_or(0);
            parts.extend(
                addresses().map(
                    |ip| {
                        if ip.contains(':') { format!("[{ip}]:{number}") } else { format!("{ip}:{number}") }
                    },
                ),
            );
        }
    }
    if parts.is_empty() { String::new() } else { with_more(&parts) }
}

fn slice(slice: &Json, age: Json) -> Vec<Json> {
    let port = |port: &Json| match (port.get("port").as_i64(), port.get("name").as_str()) {
        (Some(number), _) => number.to_string(),
        (None, Some(name)) => String::from(name),
        (None, None) => String::from("*"),
    };
    let ports: Vec<String> = slice.get("ports").items().iter().map(port).collect();
    let addresses = slice.get("endpoints").items().iter().flat_map(|endpoint| endpoint.get("addresses").items());
    let addresses: Vec<String> = addresses.filter_map(|address| address.as_str().map(String::from)).collect();
    let shown = |parts: &[String]| Json::from(with_more(parts));
    Vec::from([text(slice, &["addressType"]), shown(&ports), shown(&addresses), age])
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

fn cron_job(object: &Json, own_age: Json, view: TableContext<'_>) -> Vec<Json> {
    let last = object.at(&["status", "lastScheduleTime"]);
    let template = object.at(&["spec", "jobTemplate", "spec"]);
    let active = i64::try_from(object.at(&["status", "active"]).items().len()).unwrap_or(i64::MAX);
    let mut cells = Vec::from([
        text(object, &["spec", "schedule"]),
        object.at(&["spec", "timeZone"]).as_text().map_or_else(|| Json::from(NONE), Json::from),
        Json::from(match object.at(&["spec", "suspend"]).as_bool() {
            None => UNSET,
            Some(true) => "True",
            Some(false) => "False",
        }),
        Json::Int(active),
        if last.is_null() { Json::from(NONE) } else { age(last, view) },
        own_age,
    ]);
    cells.extend(containers_of(template.at(&["template", "spec", "containers"])));
    cells.push(selector(template.get("selector")));
    cells
}

/// Shows the controller of an object as `kind.group/name`.
fn controller(object: &Json) -> Json {
    let owners = object.at(&["metadata", "ownerReferences"]).items();
    let Some(owner) = owners.iter().find(|owner| owner.get("controller").as_bool() == Some(true)) else {
        return Json::from(NONE);
    };
    let part = |field: &str| owner.get(field).as_str().unwrap_or("");
    let group = part("apiVersion").split_once('/').map(|(group, _)| format!(".{group}")).unwrap_or_default();
    Json::from(format!("{}{group}/{}", part("kind").to_lowercase(), part("name")))
}

fn ingress(ingress: &Json, age: Json) -> Vec<Json> {
    let hosts: Vec<String> = ingress
        .at(&["spec", "rules"])
        .items()
        .iter()
        .filter_map(|rule| rule.get("host").as_str().filter(|host| !host.is_empty()).map(String::from))
        .collect();
    let hosts = if hosts.is_empty() { String::from("*") } else { with_more(&hosts) };
    let mut addresses: Vec<&str> = Vec::new();
    for entry in ingress.at(&["status", "loadBalancer", "ingress"]).items() {
        let part = |field: &str| entry.get(field).as_str().filter(|text| !text.is_empty());
        addresses.extend(part("ip").or_else(|| part("hostname")).filter(|part| !addresses.contains(part)));
    }
    addresses.sort_unstable();
    let ports = if ingress.at(&["spec", "tls"]).is_empty() { "80" } else { "80, 443" };
    let class = ingress.at(&["spec", "ingressClassName"]).as_str().unwrap_or(NONE);
    Vec::from([Json::from(class), Json::from(hosts), Json::from(addresses.join(",")), Json::from(ports), age])
}

fn autoscaler(own: &Json, age: Json) -> Vec<Json> {
    let target = own.at(&["spec", "scaleTargetRef"]);
    let part = |field: &str| target.get(field).as_str().unwrap_or("");
    let least = own.at(&["spec", "minReplicas"]).as_i64().map_or(Json::from("<unset>"), |own| format!("{own}").into());
    let shown = Json::from(format!("{}/{}", part("kind"), part("name")));
    let [most, current] = [["spec", "maxReplicas"], ["status", "currentReplicas"]].map(|path| count(own, &path));
    Vec::from([shown, Json::from(metrics(own)), least, most, current, age])
}

/// Source: pkg/printers/internalversion/printers.go (v1.34), `formatHPAMetrics`.
fn metrics(own: &Json) -> String {
    const MOST: usize = 2;
    let found = own.at(&["status", "currentMetrics"]).items();
    let specs = own.at(&["spec", "metrics"]).items();
    let shown: Vec<String> = specs.iter().enumerate().map(|(at, spec)| metric(spec, found.get(at))).collect();
    let more = shown.len().saturating_sub(MOST);
    match (shown.is_empty(), more) {
        (true, _) => String::from(NONE),
        (false, 0) => shown.join(", "),
        (false, _) => format!("{} + {more} more...", shown[..MOST].join(", ")),
    }
}

/// Shows what a metric is and what it should be.
fn metric(spec: &Json, found: Option<&Json>) -> String {
    let (field, is_resource) = match spec.get("type").as_str() {
        Some("Resource") => ("resource", true),
        Some("ContainerResource") => ("containerResource", true),
        Some("Pods") => ("pods", false),
        Some("Object") => ("object", false),
        Some("External") => ("external", false),
        _ => return String::from("<unknown type>"),
    };
    let (part, target) = (spec.get(field), spec.at(&[field, "target"]));
    let now = |name: &str| found.map_or(&NULL, |found| found.at(&[field, "current", name]));
    let amount = |value: &Json| value.as_str().map(String::from);
    let percent = |value: &Json| value.as_i64().map(|value| format!("{value}%"));
    let (now, wanted, end) = if !target.get("averageValue").is_null() || field == "pods" {
        let end = if matches!(field, "object" | "external") { " (avg)" } else { "" };
        (amount(now("averageValue")), amount(target.get("averageValue")), end)
    } else if is_resource {
        let wanted = percent(target.get("averageUtilization")).or_else(|| Some(String::from("<auto>")));
        (percent(now("averageUtilization")), wanted, "")
    } else {
        (amount(now("value")), amount(target.get("value")), "")
    };
    let name = if is_resource { format!("{}: ", part.get("name").as_str().unwrap_or("")) } else { String::new() };
    let now = now.unwrap_or_else(|| String::from("<unknown>"));
    format!("{name}{now}/{}{end}", wanted.unwrap_or_default())
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

fn csi_driver(driver: &Json, age: Json) -> Vec<Json> {
    let spec = driver.get("spec");
    let modes = joined(spec.get("volumeLifecycleModes"), None);
    let tokens = spec.get("tokenRequests");
    let tokens = if tokens.is_null() { String::from(UNSET) } else { joined(tokens, Some("audience")) };
    Vec::from([
        truth(spec, &["attachRequired"], true),
        truth(spec, &["podInfoOnMount"], false),
        truth(spec, &["storageCapacity"], false),
        Json::from(tokens),
        truth(spec, &["requiresRepublish"], false),
        Json::from(if modes.is_empty() { String::from(NONE) } else { modes }),
        age,
    ])
}

/// Shows access modes by their short names (`RWO`).
fn modes(list: &Json) -> Json {
    const SHORT: [(&str, &str); 4] =
        [("ReadWriteOnce", "RWO"), ("ReadOnlyMany", "ROX"), ("ReadWriteMany", "RWX"), ("ReadWriteOncePod", "RWOP")];
    let has = |mode: &str| list.items().iter().any(|item| item.as_str() == Some(mode));
    let shown = SHORT.iter().filter(|(mode, _)| has(mode)).map(|(_, short)| *short);
    Json::from(shown.collect::<Vec<&str>>().join(","))
}

fn phase(object: &Json) -> Json {
    let is_ending = !object.at(&["metadata", "deletionTimestamp"]).is_null();
    if is_ending { Json::from("Terminating") } else { text(object, &["status", "phase"]) }
}

/// Shows the class of a volume or a claim: an annotation comes before the field.
fn class(object: &Json) -> Json {
    let noted = object.at(&["metadata", "annotations", "volume.beta.kubernetes.io/storage-class"]);
    if noted.is_null() { text(object, &["spec", "storageClassName"]) } else { noted.clone() }
}

fn volume(volume: &Json, age: Json) -> Vec<Json> {
    let reference = volume.at(&["spec", "claimRef"]);
    let part = |field: &str| reference.get(field).as_str().unwrap_or("");
    let claim = if reference.is_null() { String::new() } else { format!("{}/{}", part("namespace"), part("name")) };
    Vec::from([
        text_or(volume, &["spec", "capacity", "storage"], "0"),
        modes(volume.at(&["spec", "accessModes"])),
        text(volume, &["spec", "persistentVolumeReclaimPolicy"]),
        phase(volume),
        Json::from(claim),
        class(volume),
        text_or(volume, &["spec", "volumeAttributesClassName"], UNSET),
        text(volume, &["status", "reason"]),
        age,
        text_or(volume, &["spec", "volumeMode"], UNSET),
    ])
}

fn claim(claim: &Json, age: Json) -> Vec<Json> {
    let is_bound = !claim.at(&["spec", "volumeName"]).is_empty();
    let bound = |cell: Json| if is_bound { cell } else { Json::from("") };
    Vec::from([
        phase(claim),
        text(claim, &["spec", "volumeName"]),
        bound(text_or(claim, &["status", "capacity", "storage"], "0")),
        bound(modes(claim.at(&["status", "accessModes"]))),
        class(claim),
        text_or(claim, &["spec", "volumeAttributesClassName"], UNSET),
        age,
        text_or(claim, &["spec", "volumeMode"], UNSET),
    ])
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::{claim_state, endpoints, metrics, modes, slice};
    use crate::json;
    use crate::objects::Json;

    #[test]
    fn a_long_list_is_cut_and_counted() {
        let ips: Vec<Json> = (1..=5).map(|at| json!({"ip": alloc::format!("10.0.0.{at}")})).collect();
        let object = json!({"subsets": [{"addresses": ips, "ports": [{"port": 80}]}]});
        assert_eq!(endpoints(&object), "10.0.0.1:80,10.0.0.2:80,10.0.0.3:80 + 2 more...");
        assert_eq!(endpoints(&json!({})), "<none>");
        let cells = slice(&json!({"addressType": "IPv4", "ports": [{}, {"name": "a"}, {"port": 1}]}), Json::Null);
        assert_eq!(cells, [json!("IPv4"), json!("*,a,1"), json!("<unset>"), Json::Null]);
    }

    #[test]
    fn a_metric_shows_what_is_and_what_should_be() {
        let of = |name: &str, target: Json| json!({"type": "Resource", "resource": {"name": name, "target": target}});
        let pods = json!({"type": "Pods", "pods": {"target": {"averageValue": "5"}}});
        let mut own = json!({"spec": {"metrics": [of("cpu", json!({"averageUtilization": 80})),
            of("memory", json!({"averageValue": "1Gi"}))]}});
        assert_eq!(metrics(&own), "cpu: <unknown>/80%, memory: <unknown>/1Gi");
        own.entry(&["spec", "metrics"]).make_array().push(pods);
        let current = json!({"resource": {"current": {"averageUtilization": 7}}});
        own.set(&["status", "currentMetrics"], json!([current]));
        assert_eq!(metrics(&own), "cpu: 7%/80%, memory: <unknown>/1Gi + 1 more...");
        assert_eq!(metrics(&json!({})), "<none>");
    }

    #[test]
    fn a_claim_of_devices_shows_its_states() {
        let state = |deleted: bool, status: Json| {
            let mut claim = json!({"metadata": {}});
            claim.set(&["status"], status);
            if deleted {
                claim.set(&["metadata", "deletionTimestamp"], "2026-01-01T00:00:00Z");
            }
            claim_state(&claim)
        };
        assert_eq!(state(false, json!({})), "pending");
        assert_eq!(state(true, json!({})), "deleted");
        assert_eq!(state(false, json!({"allocation": {}})), "allocated");
        let reserved = json!({"allocation": {}, "reservedFor": [{"name": "p"}]});
        assert_eq!(state(true, reserved), "deleted,allocated,reserved");
    }

    #[test]
    fn access_modes_are_shown_in_a_fixed_order() {
        let list = json!(["ReadWriteOncePod", "ReadWriteOnce", "ReadWriteOnce"]);
        assert_eq!(modes(&list), json!("RWO,RWOP"));
    }
}
