//! On which nodes the pods of a DaemonSet run, and what these pods tolerate.
//!
//! Mirrors `NodeShouldRunDaemonPod` (pkg/controller/daemon/daemon_controller.go, v1.34) and
//! pkg/controller/daemon/util/daemonset_util.go. Inputs: a DaemonSet, a Node. Outputs: whether a pod is started and
//! kept, its tolerations, the pod. Whether a node is cordoned, ready or full does not matter: only its name, its labels
//! and its taints do.

use alloc::vec::Vec;

use crate::components::node_affinity::matches_required;
use crate::components::tolerations::tolerates;
use crate::components::workload::pods::from_template;
use crate::json;
use crate::objects::{Json, Object, Text};

/// The taints that all daemon pods tolerate for ever.
/// Source: daemonset_util.go (v1.34), `AddOrUpdateDaemonPodTolerations`.
const TOLERATED: [(&str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];
/// What daemon pods in the host's network tolerate in addition. Source: as [`TOLERATED`].
const HOST_NETWORK: (&str, &str) = ("node.kubernetes.io/network-unavailable", "NoSchedule");

/// The label with the generation of a pod's template. Source: k8s.io/api extensions/v1beta1/types.go (v1.34),
/// `DaemonSetTemplateGenerationKey`.
pub(super) const GENERATION_LABEL: &str = "pod-template-generation";

/// Returns the generation of a set's template; `Null` for none.
///
/// Source: daemonset_util.go (v1.34), `GetTemplateGeneration`.
pub(super) fn generation(set: &Object) -> &Json {
    set.stable().at(&["metadata", "annotations", "deprecated.daemonset.template.generation"])
}

/// Returns the tolerations of a DaemonSet's pods: those of the template, then those that all have.
pub(super) fn tolerations(set: &Object) -> Vec<Json> {
    let spec = set.stable().at(&["spec", "template", "spec"]);
    let mut all = spec.get("tolerations").items().to_vec();
    let host = (spec.get("hostNetwork").as_bool() == Some(true)).then_some(HOST_NETWORK);
    for (key, effect) in TOLERATED.into_iter().chain(host) {
        let toleration = json!({"key": key, "operator": "Exists", "effect": effect});
        let is_same = |other: &Json| {
            let text = |field: &str| other.get(field).as_str().unwrap_or("");
            text("key") == key && text("effect") == effect && text("operator") == "Exists" && text("value").is_empty()
        };
        match all.iter_mut().find(|other| is_same(other)) {
            Some(other) => *other = toleration,
            None => all.push(toleration),
        }
    }
    all
}

/// Whether a DaemonSet's pod is started on a node, and whether one that is there stays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct NodeEligibility {
    pub(super) should_run: bool,
    pub(super) should_stay: bool,
}

/// Tells whether a node gets and keeps a pod.
pub(super) fn verdict(set: &Object, node: &Object) -> NodeEligibility {
    let spec = set.stable().at(&["spec", "template", "spec"]);
    let no = NodeEligibility { should_run: false, should_stay: false };
    let name = spec.get("nodeName").as_str().unwrap_or("");
    if !(name.is_empty() || name == node.name()) || !matches_required(spec, node.stable()) {
        return no;
    }
    if node.stable().at(&["spec", "taints"]).is_empty() {
        return NodeEligibility { should_run: true, should_stay: true };
    }
    let tolerations = tolerations(set);
    let untolerated = |effects: &[&str]| {
        node.stable().at(&["spec", "taints"]).items().iter().any(|taint| {
            taint.get("effect").as_str().is_some_and(|effect| effects.contains(&effect))
                && !tolerations.iter().any(|toleration| tolerates(toleration, taint))
        })
    };
    NodeEligibility {
        should_run: !untolerated(&["NoSchedule", "NoExecute"]),
        should_stay: !untolerated(&["NoExecute"]),
    }
}

/// Makes the pod for a node: it is bound by the scheduler, which may choose that node alone.
///
/// Source: daemonset_util.go (v1.34), `ReplaceDaemonSetPodNodeNameNodeAffinity`.
pub(super) fn pod_for(set: &Object, node: &str, hash: &str) -> Json {
    let mut pod = from_template(set, "apps/v1", "DaemonSet");
    let generation = generation(set);
    if !generation.is_null() {
        pod.set(&["metadata", "labels", GENERATION_LABEL], generation.clone());
    }
    pod.set(&["metadata", "labels", super::REVISION_LABEL], hash);
    pod.set(&["spec", "tolerations"], Json::array(tolerations(set)));
    let fields = json!([{"key": "metadata.name", "operator": "In", "values": [node]}]);
    let path = ["spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"];
    // Whatever else the template asks of its node was checked when the node was chosen.
    pod.entry(&path).make_object().insert("nodeSelectorTerms", json!([{"matchFields": fields}]));
    pod
}

/// Returns the node that a pod runs on or is meant for. Source: daemonset_util.go (v1.34), `GetTargetNodeName`.
pub(super) fn target(pod: &Object) -> Option<Text> {
    let spec = pod.stable().get("spec");
    let bound = spec.get("nodeName").as_text().filter(|name| !name.is_empty());
    let path = ["affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"];
    let meant = spec.at(&path).items().iter().flat_map(|term| term.get("matchFields").items()).find(|field| {
        field.get("key").as_str() == Some("metadata.name") && field.get("operator").as_str() == Some("In")
    });
    bound.or_else(|| meant?.get("values").items().first()?.as_text()).cloned()
}

#[cfg(test)]
mod tests {
    use super::{NodeEligibility, pod_for, target, verdict};
    use crate::json;
    use crate::objects::{Json, Object};

    fn set(spec: Json) -> Object {
        let mut set = json!({"metadata": {"name": "agent", "namespace": "default", "uid": "u"}});
        set.set(&["spec", "template", "spec"], spec);
        Object::new(set, 1)
    }

    fn node(taints: Json) -> Object {
        let mut node = json!({"metadata": {"name": "w1", "labels": {"disk": "ssd", "cores": "8"}}});
        node.set(&["spec", "taints"], taints);
        Object::new(node, 1)
    }

    #[test]
    fn taints_and_labels_decide_where_a_pod_runs() {
        let (yes, stays, no) = ((true, true), (false, true), (false, false));
        let taint = |key: &str, effect: &str| json!([{"key": key, "effect": effect}]);
        let cases = [
            (json!({}), json!([]), yes),
            (json!({}), taint("node.kubernetes.io/unschedulable", "NoSchedule"), yes),
            (json!({}), taint("node.kubernetes.io/unreachable", "NoExecute"), yes),
            (json!({}), taint("node.kubernetes.io/unreachable", "NoSchedule"), stays),
            (json!({}), taint("node.kubernetes.io/network-unavailable", "NoSchedule"), stays),
            (json!({"hostNetwork": true}), taint("node.kubernetes.io/network-unavailable", "NoSchedule"), yes),
            (json!({}), taint("example.com/x", "NoExecute"), no),
            (json!({}), taint("example.com/x", "PreferNoSchedule"), yes),
            (json!({"tolerations": [{"operator": "Exists"}]}), taint("example.com/x", "NoExecute"), yes),
            (json!({"nodeSelector": {"disk": "ssd"}}), json!([]), yes),
            (json!({"nodeSelector": {"disk": "hdd"}}), json!([]), no),
            (json!({"nodeName": "w2"}), json!([]), no),
        ];
        for (spec, taints, (should_run, should_stay)) in cases {
            let expected = NodeEligibility { should_run, should_stay };
            assert_eq!(verdict(&set(spec.clone()), &node(taints.clone())), expected, "{spec} {taints}");
        }
    }

    #[test]
    fn the_terms_of_the_node_affinity_are_alternatives() {
        let affinity = |terms: Json| {
            let mut spec = Json::object();
            let required = "requiredDuringSchedulingIgnoredDuringExecution";
            spec.set(&["affinity", "nodeAffinity", required, "nodeSelectorTerms"], terms);
            spec
        };
        let cases = [
            (json!([{"matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["4"]}]}]), true),
            (json!([{"matchExpressions": [{"key": "cores", "operator": "Lt", "values": ["4"]}]}]), false),
            (
                json!([{"matchExpressions": [{"key": "gpu", "operator": "Exists"}]},
                    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["w1"]}]}]),
                true,
            ),
            (json!([{}]), false),
        ];
        for (terms, expected) in cases {
            assert_eq!(verdict(&set(affinity(terms.clone())), &node(json!([]))).should_run, expected, "{terms}");
        }
    }

    #[test]
    fn a_pod_is_meant_for_one_node_and_tolerates_without_limit() {
        let pod = pod_for(&set(json!({"containers": []})), "w1", "h");
        assert_eq!(target(&Object::new(pod.clone(), 1)).as_deref(), Some("w1"));
        let tolerations = pod.at(&["spec", "tolerations"]).items();
        assert_eq!(tolerations.len(), 6);
        assert!(tolerations.iter().all(|one| one.get("tolerationSeconds").is_null()));
    }

    #[test]
    fn a_pod_asks_for_its_node_and_for_nothing_else_that_the_template_asks_of_nodes() {
        let required = "requiredDuringSchedulingIgnoredDuringExecution";
        let mut spec = json!({"containers": []});
        let path = ["affinity", "nodeAffinity", required, "nodeSelectorTerms"];
        spec.set(&path, json!([{"matchExpressions": [{"key": "disk", "operator": "Exists"}]}, {}]));
        let pod = pod_for(&set(spec), "w1", "h");
        let fields = json!([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["w1"]}]}]);
        assert_eq!(*pod.get("spec").at(&path), fields);
    }
}
