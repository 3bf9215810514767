//! What is special about Pods on writes: defaults, the status that a new Pod has, binding.
//!
//! Mirrors pkg/registry/core/pod/{strategy.go,storage/storage.go}, pkg/apis/core/v1/defaults.go and
//! pkg/apis/core/v1/helper/qos/qos.go (v1.34).

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};

use jiff::Timestamp;

use super::call::{Aim, json_of};
use super::options::Options;
use super::resources::KINDS;
use super::strategy::put;
use super::{ApiServer, Origin, status};
use crate::json;
use crate::network::{Answer, Body, Resource};
use crate::objects::quantity::Quantity;
use crate::objects::{Json, Text, time};
use crate::profile::Settings;

/// Sets the defaults of a Pod.
pub(super) fn default(tree: &mut Json) {
    let spec = tree.entry(&["spec"]);
    let set_absent = |place: &mut Json, field: &str, value: Json| {
        if place.get(field).is_null() {
            place.set(&[field], value);
        }
    };
    set_absent(spec, "restartPolicy", Json::from("Always"));
    set_absent(spec, "terminationGracePeriodSeconds", Json::Int(30));
    set_absent(spec, "dnsPolicy", Json::from("ClusterFirst"));
    set_absent(spec, "schedulerName", Json::from("default-scheduler"));
    set_absent(spec, "securityContext", Json::object());
    set_absent(spec, "enableServiceLinks", Json::Bool(true));
    let account = spec.get("serviceAccountName").clone();
    let legacy = spec.get("serviceAccount").clone();
    if !account.is_null() {
        spec.set(&["serviceAccount"], account);
    } else if !legacy.is_null() {
        spec.set(&["serviceAccountName"], legacy);
    }
    let host_network = spec.get("hostNetwork").as_bool() == Some(true);
    for list in ["containers", "initContainers", "ephemeralContainers"] {
        if spec.get(list).is_array() {
            for container in spec.entry(&[list]).make_array() {
                default_container(container, host_network);
            }
        }
    }
    if spec.get("volumes").is_array() {
        for volume in spec.entry(&["volumes"]).make_array() {
            default_volume(volume);
        }
    }
}

fn default_container(container: &mut Json, host_network: bool) {
    let mut set_absent = |field: &str, value: Json| {
        if container.get(field).is_null() {
            container.set(&[field], value);
        }
    };
    set_absent("terminationMessagePath", Json::from("/dev/termination-log"));
    set_absent("terminationMessagePolicy", Json::from("File"));
    let image = container.get("image").as_str().unwrap_or("").to_string();
    if container.get("imagePullPolicy").is_null() && !image.is_empty() {
        container.set(&["imagePullPolicy"], if uses_latest(&image) { "Always" } else { "IfNotPresent" });
    } else if container.get("imagePullPolicy").is_null() {
        container.set(&["imagePullPolicy"], "IfNotPresent");
    }
    if container.get("ports").is_array() {
        for port in container.entry(&["ports"]).make_array() {
            if port.get("protocol").is_null() {
                port.set(&["protocol"], "TCP");
            }
            if host_network && port.get("hostPort").is_null() {
                let inner = port.get("containerPort").clone();
                port.set(&["hostPort"], inner);
            }
        }
    }
    for list in ["limits", "requests"] {
        round_up(container, &["resources", list]);
    }
    let limits = container.at(&["resources", "limits"]).clone();
    for (name, limit) in limits.fields() {
        if container.at(&["resources", "requests"]).get(name).is_null() {
            container.set(&["resources", "requests", name], limit.clone());
        }
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if container.get(probe).is_object() {
            let probe = container.entry(&[probe]);
            for (field, value) in
                [("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3)]
            {
                if probe.get(field).is_null() {
                    probe.set(&[field], Json::Int(value));
                }
            }
            if probe.get("httpGet").is_object() {
                if probe.at(&["httpGet", "path"]).is_null() {
                    probe.set(&["httpGet", "path"], "/");
                }
                if probe.at(&["httpGet", "scheme"]).is_null() {
                    probe.set(&["httpGet", "scheme"], "HTTP");
                }
            }
        }
    }
    if container.get("env").is_array() {
        for variable in container.entry(&["env"]).make_array() {
            if variable.at(&["valueFrom", "fieldRef"]).is_object()
                && variable.at(&["valueFrom", "fieldRef", "apiVersion"]).is_null()
            {
                variable.set(&["valueFrom", "fieldRef", "apiVersion"], "v1");
            }
        }
    }
}

/// Rounds amounts up to thousandths. Source: pkg/apis/core/v1/defaults.go (v1.34), `SetDefaults_ResourceList`.
pub(super) fn round_up(tree: &mut Json, path: &[&str]) {
    let list = tree.at(path).clone();
    for (name, amount) in list.fields() {
        let Some(quantity) = amount.as_str().and_then(Quantity::parse) else { continue };
        let whole = Quantity::milli(quantity.milli_value());
        if whole != quantity && whole > quantity {
            tree.entry(path).set(&[name.as_str()], whole.to_string());
        }
    }
}

/// Tells whether an image has the tag `latest` or none.
fn uses_latest(image: &str) -> bool {
    let last = image.rsplit('/').next().unwrap_or(image);
    if last.contains('@') {
        return false;
    }
    last.split_once(':').is_none_or(|(_, tag)| tag == "latest")
}

fn default_volume(volume: &mut Json) {
    let sources = volume.fields().filter(|(name, _)| name.as_str() != "name").count();
    if sources == 0 {
        volume.set(&["emptyDir"], Json::object());
    }
    for source in ["secret", "configMap", "projected", "downwardAPI"] {
        if volume.get(source).is_object() && volume.at(&[source, "defaultMode"]).is_null() {
            volume.set(&[source, "defaultMode"], 420_i64);
        }
    }
    if volume.get("hostPath").is_object() && volume.at(&["hostPath", "type"]).is_null() {
        volume.set(&["hostPath", "type"], "");
    }
}

/// Gives a new Pod its first status.
pub(super) fn prepare_create(tree: &mut Json, settings: &Settings, now: Timestamp) {
    if tree.at(&["spec", "terminationGracePeriodSeconds"]).as_i64().is_some_and(|seconds| seconds < 0) {
        tree.set(&["spec", "terminationGracePeriodSeconds"], 1_i64);
    }
    if settings.profile().is("pod-generation") {
        tree.set(&["metadata", "generation"], 1_i64);
    }
    tree.set(&["status"], json!({"phase": "Pending", "qosClass": qos_class(tree)}));
    if !tree.at(&["spec", "schedulingGates"]).is_empty() {
        let condition = json!({"type": "PodScheduled", "status": "False", "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
            "lastProbeTime": null, "lastTransitionTime": time::to_time(now)});
        tree.entry(&["status", "conditions"]).make_array().push(condition);
    }
}

/// A write of the status changes neither the specification nor who owns the Pod.
pub(super) fn prepare_status_update(tree: &mut Json, old: &Json, _settings: &Settings) {
    put(tree, &["spec"], old.get("spec"));
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences"] {
        put(tree, &["metadata", field], old.at(&["metadata", field]));
    }
    if tree.at(&["status", "qosClass"]).is_null() {
        let class = qos_class(tree);
        tree.set(&["status", "qosClass"], class);
    }
}

/// Returns the quality of service that a Pod's requests and limits make.
pub(super) fn qos_class(pod: &Json) -> &'static str {
    let mut requests: BTreeMap<Text, Quantity> = BTreeMap::new();
    let mut limits: BTreeMap<Text, Quantity> = BTreeMap::new();
    let mut guaranteed = true;
    let containers = pod.at(&["spec", "containers"]).items();
    let own = pod.at(&["spec", "resources"]);
    let pod_level = !own.get("requests").is_empty() || !own.get("limits").is_empty();
    let all = containers.iter().chain(pod.at(&["spec", "initContainers"]).items());
    let resources = all.map(|container| container.get("resources"));
    let resources: alloc::vec::Vec<&Json> = if pod_level { alloc::vec![own] } else { resources.collect() };
    for resource in resources {
        for (into, field) in [(&mut requests, "requests"), (&mut limits, "limits")] {
            let mut found = 0;
            for (name, amount) in resource.get(field).fields() {
                let counted = matches!(name.as_str(), "cpu" | "memory");
                let Some(amount) = amount.as_str().and_then(Quantity::parse) else { continue };
                if counted && !amount.is_zero() && !amount.is_negative() {
                    found += 1;
                    into.entry(name.clone()).and_modify(|sum| *sum = *sum + amount).or_insert(amount);
                }
            }
            if field == "limits" && found < 2 {
                guaranteed = false;
            }
        }
    }
    if requests.is_empty() && limits.is_empty() {
        return "BestEffort";
    }
    let equal = requests.len() == limits.len() && requests.iter().all(|(name, sum)| limits.get(name) == Some(sum));
    if guaranteed && equal { "Guaranteed" } else { "Burstable" }
}

impl ApiServer {
    pub(super) fn create_subresource(
        &mut self,
        aim: &Aim,
        options: &Options,
        origin: &Origin,
        body: Body,
    ) -> Result<Answer, Answer> {
        match (KINDS[aim.kind].name, aim.subresource.as_str()) {
            ("Pod", "eviction") => self.evict(aim, options, origin, &json_of(body).unwrap_or_default()),
            ("ServiceAccount", "token") => self.issue_token(aim, options, origin, json_of(body)),
            ("Pod", "exec" | "attach" | "portforward") => Err(status::bad_request("Upgrade request required")),
            ("Pod", "binding") => self.bind(aim, options, origin, &json_of(body).unwrap_or_default()),
            _ => Err(status::failure(
                501,
                "NotImplemented",
                &format!("{}/{} is not modelled", KINDS[aim.kind].resource.plural, aim.subresource),
                None,
            )),
        }
    }

    /// Assigns a Pod to a node. Source: pkg/registry/core/pod/storage/storage.go (v1.34), `BindingREST`.
    pub(super) fn bind(
        &mut self,
        aim: &Aim,
        options: &Options,
        origin: &Origin,
        binding: &Json,
    ) -> Result<Answer, Answer> {
        const BINDING: Resource = Resource::of("", "v1", "pods/binding");
        let kind = &KINDS[aim.kind];
        let named = binding.at(&["metadata", "name"]).as_str().unwrap_or("");
        if named != aim.name.as_str() {
            return Err(status::bad_request("name in URL does not match name in Binding object"));
        }
        let node = binding.at(&["target", "name"]).as_text().cloned().unwrap_or_default();
        if node.is_empty() {
            return Err(status::untyped("target.name: Required value"));
        }
        let target = binding.at(&["target", "kind"]).as_str().unwrap_or("");
        if !["", "Node"].contains(&target) {
            let message =
                format!("target.kind: Unsupported value: {target:?}: supported values: \"Node\", \"<empty>\"");
            return Err(status::untyped(&message));
        }
        let Some(current) = self.tables[aim.kind].store.get(&aim.namespace, &aim.name).cloned() else {
            return Err(status::not_found(&kind.resource, &aim.name));
        };
        let sent = binding.at(&["metadata", "uid"]).as_str().unwrap_or("");
        if !sent.is_empty() && sent != current.uid() {
            let why = super::write::uid_precondition(&super::strategy::storage_key(kind, aim), sent, current.uid());
            return Err(status::conflict(&kind.resource, &aim.name, &why));
        }
        let mut tree = current.json();
        let refuse = |why: String| Err(status::conflict(&BINDING, &aim.name, &why));
        if !tree.at(&["metadata", "deletionTimestamp"]).is_null() {
            return refuse(format!("pod {} is being deleted, cannot be assigned to a host", aim.name));
        }
        if let Some(taken) = tree.at(&["spec", "nodeName"]).as_str().filter(|taken| !taken.is_empty()) {
            return refuse(format!("pod {} is already assigned to node {taken:?}", aim.name));
        }
        if !tree.at(&["spec", "schedulingGates"]).is_empty() {
            return refuse(format!("pod {} has non-empty .spec.schedulingGates", aim.name));
        }
        tree.set(&["spec", "nodeName"], &node);
        super::admission::add_topology_labels(self, &node, &mut tree);
        for map in ["annotations", "labels"] {
            for (name, value) in binding.at(&["metadata", map]).fields() {
                tree.set(&["metadata", map, name], value.clone());
            }
        }
        set_scheduled(&mut tree, &time::to_time(origin.now));
        if self.settings.profile().is("binding-clears-nomination") {
            tree.remove(&["status", "nominatedNodeName"]);
        }
        if !options.dry_run {
            self.commit(aim.kind, origin, tree);
        }
        Ok(status::created())
    }
}

fn set_scheduled(pod: &mut Json, now: &str) {
    let conditions = pod.entry(&["status", "conditions"]).make_array();
    let condition = json!({"type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": now});
    match conditions.iter_mut().find(|condition| condition.get("type").as_str() == Some("PodScheduled")) {
        Some(found) => *found = condition,
        None => conditions.push(condition),
    }
}
