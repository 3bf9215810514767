//! Tests of what controllers do and measure, by release and gate, as a session shows it.

use nodeproof_core::json;
use nodeproof_core::objects::Json;

use super::{Session, ask, call, session};

const NODES: &str = "/api/v1/nodes";
const PODS: &str = "/api/v1/namespaces/default/pods";

/// Does what has to succeed.
fn must(session: &mut Session, name: &str, body: Json) -> Json {
    let answer = call(session, name, body);
    assert!(answer.get("code").as_i64().is_some_and(|code| (200..300).contains(&code)), "{name}: {answer}");
    answer.get("body").clone()
}

fn patch(session: &mut Session, path: &str, body: Json) -> Json {
    let headers = json!({"Content-Type": "application/merge-patch+json"});
    let answer = ask(session, &json!({"id": 1, "call": format!("PATCH {path}"), "body": body, "headers": headers}));
    assert_eq!(answer.get("code").as_i64(), Some(200), "{path}: {answer}");
    answer.get("body").clone()
}

fn wait(session: &mut Session, by: &str) {
    must(session, "POST clock/advance", json!({"by": by}));
}

fn reset(session: &mut Session, k8s: &str, settings: Json) {
    must(session, "POST reset", json!({"k8s": k8s, "settings": settings}));
}

fn node(session: &mut Session, name: &str, spec: Json, ready: &str) {
    let status = json!({"conditions": [{"type": "Ready", "status": ready, "reason": "r", "message": "m"}]});
    let body = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": spec, "status": status});
    must(session, &format!("POST {NODES}"), body);
}

fn pod(session: &mut Session, name: &str, node: &str) {
    let spec = json!({"nodeName": node, "containers": [{"name": "main", "image": "pause"}]});
    let body = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec});
    must(session, &format!("POST {PODS}"), body);
}

/// Tells whether the metrics of a component have a line.
fn shows(session: &mut Session, component: &str, line: &str) {
    let answer = call(session, &format!("GET metrics/{component}"), Json::Null);
    let text = answer.get("raw").as_str().unwrap_or_default().to_owned();
    assert!(text.lines().any(|own| own == line), "{line} is missing in {text}");
}

/// Returns the objects that Events of a reason are about.
fn about(session: &mut Session, reason: &str) -> Vec<Json> {
    let events = must(session, "GET /api/v1/events", Json::Null);
    let of_reason = events.get("items").items().iter().filter(|event| event.get("reason").as_str() == Some(reason));
    of_reason.map(|event| event.get("involvedObject").clone()).collect()
}

#[test]
fn what_cannot_run_once_says_why() {
    let mut session = session();
    for (name, body, why) in [
        ("node-lifecycle-controller", json!({"action": "stop"}), ""),
        ("node-lifecycle-controller", json!({"action": "run-once"}), "start it before it runs once"),
        ("kube-scheduler", json!({"action": "run-once", "loop": "x"}), "has no loop that runs by the clock"),
    ] {
        let answer = call(&mut session, &format!("POST controllers/{name}/do"), body);
        let message = answer.at(&["body", "error", "message"]).as_str().unwrap_or_default().to_owned();
        assert!(message.contains(why) && message.is_empty() == why.is_empty(), "{name}: {answer}");
    }
}

#[test]
fn the_collector_of_pods_counts_its_deletions_by_namespace_and_reason() {
    let mut session = session();
    reset(&mut session, "1.34", json!({"controllers": "*,-node-lifecycle-controller,-taint-eviction-controller"}));
    let taint = json!([{"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}]);
    node(&mut session, "w1", json!({"taints": taint}), "False");
    pod(&mut session, "ending", "w1");
    pod(&mut session, "lost", "w2");
    must(&mut session, &format!("DELETE {PODS}/ending"), json!({"gracePeriodSeconds": 300}));
    wait(&mut session, "90s");
    let name = "pod_gc_collector_force_delete_pods_total";
    for reason in ["out-of-service", "orphaned"] {
        let line = format!("{name}{{namespace=\"default\",reason=\"{reason}\"}} 1");
        shows(&mut session, "pod-garbage-collector-controller", &line);
    }
}

#[test]
fn evictions_for_taints_are_counted() {
    let mut session = session();
    reset(&mut session, "1.34", json!({"controllers": "*,-node-lifecycle-controller"}));
    node(&mut session, "w1", json!({"taints": [{"key": "k", "effect": "NoExecute"}]}), "True");
    pod(&mut session, "web", "w1");
    wait(&mut session, "1s");
    let name = "taint_eviction_controller_pod_deletion";
    for line in ["s_total 1", "_duration_seconds_bucket{le=\"0.005\"} 1", "_duration_seconds_count 1"] {
        shows(&mut session, "taint-eviction-controller", &format!("{name}{line}"));
    }
}

#[test]
fn the_allocator_of_networks_counts_blocks_and_the_search_for_them() {
    let mut session = session();
    reset(
        &mut session,
        "1.34",
        json!({"allocate-node-cidrs": "true", "cluster-cidr": "10.0.0.0/16",
        "service-cluster-ip-range": "10.0.0.0/17"}),
    );
    node(&mut session, "w1", Json::object(), "True");
    wait(&mut session, "1s");
    let label = "{clusterCIDR=\"10.0.0.0/16\"";
    for line in [
        format!("cidrset_cidrs_allocations_total{label}}} 129"),
        format!("cidrset_usage_cidrs{label}}} 0.50390625"),
        format!("cirdset_max_cidrs{label}}} 256"),
        format!("cidrset_allocation_tries_per_request_sum{label}}} 128"),
        format!("cidrset_allocation_tries_per_request_bucket{label},le=\"125\"}} 0"),
        format!("cidrset_allocation_tries_per_request_bucket{label},le=\"+Inf\"}} 1"),
    ] {
        shows(&mut session, "node-ipam-controller", &format!("node_ipam_controller_{line}"));
    }
    must(&mut session, &format!("DELETE {NODES}/w1"), Json::Null);
    wait(&mut session, "1s");
    let line = format!("node_ipam_controller_cidrset_cidrs_releases_total{label}}} 1");
    shows(&mut session, "node-ipam-controller", &line);
}

#[test]
fn the_health_of_a_zone_is_a_percentage_and_its_evictions_are_counted() {
    let mut session = session();
    reset(&mut session, "1.34", Json::object());
    for (name, ready) in [("w1", "True"), ("w2", "True"), ("w3", "False")] {
        node(&mut session, name, Json::object(), ready);
    }
    wait(&mut session, "12s");
    for line in ["zone_health{zone=\"\"} 66.66666666666667", "evictions_total{zone=\"\"} 1"] {
        shows(&mut session, "node-lifecycle-controller", &format!("node_collector_{line}"));
    }
}

#[test]
fn where_evictions_for_taints_are_not_separate_they_go_with_the_life_cycle_of_nodes() {
    let off = json!({"SeparateTaintEvictionController": false});
    for (controllers, goes) in [("*,-taint-eviction-controller", true), ("*,-node-lifecycle-controller", false)] {
        let mut session = session();
        reset(&mut session, "1.33", json!({"controllers": controllers, "feature-gates": off.clone()}));
        node(&mut session, "w1", json!({"taints": [{"key": "k", "effect": "NoExecute"}]}), "True");
        pod(&mut session, "web", "w1");
        wait(&mut session, "1s");
        let own = must(&mut session, &format!("GET {PODS}/web"), Json::Null);
        assert_eq!(own.at(&["metadata", "deletionTimestamp"]).is_null(), !goes, "{controllers}");
    }
}

/// Starts a cluster in a cloud with routes and one instance, and a Node with a network.
fn routed(session: &mut Session, k8s: &str, instance: Json, condition: Json) {
    let flags = json!({"cloud-controller-manager.cluster-cidr": "10.0.0.0/16"});
    reset(session, k8s, flags);
    must(session, "PUT cloud/instances/w1", instance);
    let status = json!({"conditions": [condition]});
    let body = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "w1"},
        "spec": {"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.0.0.0/24"]}, "status": status});
    must(session, &format!("POST {NODES}"), body);
    wait(session, "25s");
}

#[test]
fn a_missing_route_is_told_of_a_node_by_its_name_or_by_its_uid() {
    let mut session = session();
    for (k8s, is_whole) in [("1.34", false), ("1.35", true)] {
        let ready = json!({"type": "Ready", "status": "True"});
        routed(&mut session, k8s, json!({"errors": {"createRoute": "quota"}}), ready);
        let uid = must(&mut session, &format!("GET {NODES}/w1"), Json::Null).at(&["metadata", "uid"]).clone();
        let objects = about(&mut session, "FailedToCreateRoute");
        let object = objects.first().unwrap();
        let expected = if is_whole { uid } else { Json::from("w1") };
        assert_eq!(object.get("uid"), &expected, "{k8s}");
        assert_eq!(object.get("apiVersion").as_str().is_some(), is_whole, "{k8s}");
    }
}

#[test]
fn a_condition_of_somebody_else_may_be_taken_for_the_routes_own() {
    let mut session = session();
    for (k8s, reason) in [("1.35", "CalicoIsUp"), ("1.36", "RouteCreated")] {
        let condition = json!({"type": "NetworkUnavailable", "status": "False", "reason": "CalicoIsUp"});
        routed(&mut session, k8s, Json::object(), condition);
        let own = must(&mut session, &format!("GET {NODES}/w1"), Json::Null);
        let conditions = own.at(&["status", "conditions"]).items().iter();
        let mut found = conditions.filter(|item| item.get("type").as_str() == Some("NetworkUnavailable"));
        assert_eq!(found.next().and_then(|item| item.get("reason").as_str()), Some(reason), "{k8s}");
    }
}

#[test]
fn a_node_is_synced_as_it_was_read_and_deleted_without_its_version() {
    let mut session = session();
    reset(&mut session, "1.34", Json::object());
    must(&mut session, "PUT cloud/instances/w1", json!({"providerID": "x://1"}));
    let taint = json!({"key": "node.cloudprovider.kubernetes.io/uninitialized", "effect": "NoSchedule"});
    node(&mut session, "w1", json!({"taints": [taint]}), "False");
    wait(&mut session, "1s");
    let synced = about(&mut session, "Synced");
    assert!(synced.first().unwrap().get("resourceVersion").as_str().is_some(), "{synced:?}");
    must(&mut session, "DELETE cloud/instances/w1", Json::Null);
    wait(&mut session, "10s");
    let deleted = about(&mut session, "DeletingNode");
    assert!(deleted.first().unwrap().get("apiVersion").is_null(), "{deleted:?}");
}

#[test]
fn a_kubelet_tells_the_generation_of_a_pod_that_was_changed() {
    let mut session = session();
    reset(&mut session, "1.34", Json::object());
    must(&mut session, "POST machines", json!({"name": "w1"}));
    wait(&mut session, "20s");
    pod(&mut session, "web", "w1");
    wait(&mut session, "10s");
    patch(&mut session, &format!("{PODS}/web"), json!({"spec": {"activeDeadlineSeconds": 5000}}));
    wait(&mut session, "2s");
    let own = must(&mut session, &format!("GET {PODS}/web"), Json::Null);
    assert_eq!(own.at(&["metadata", "generation"]).as_i64(), Some(2));
    assert_eq!(own.at(&["status", "observedGeneration"]).as_i64(), Some(2));
    let conditions = own.at(&["status", "conditions"]).items();
    let stale = conditions.iter().find(|item| item.get("observedGeneration").as_i64() != Some(2));
    assert_eq!(stale, None);
}

#[test]
fn a_negative_grace_of_a_pod_is_read_as_a_second() {
    let mut session = session();
    let spec = json!({"terminationGracePeriodSeconds": -1, "containers": [{"name": "main", "image": "pause"}]});
    let body = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": spec});
    let own = must(&mut session, &format!("POST {PODS}"), body);
    let grace = |pod: &Json| pod.at(&["spec", "terminationGracePeriodSeconds"]).as_i64();
    assert_eq!(grace(&own), Some(1));
    let mut own = must(&mut session, &format!("GET {PODS}/web"), Json::Null);
    own.set(&["spec", "terminationGracePeriodSeconds"], -1_i64);
    assert_eq!(grace(&must(&mut session, &format!("PUT {PODS}/web"), own)), Some(1));
}

#[test]
fn a_stateful_set_rolls_several_pods_at_once_where_its_gate_is_on() {
    const SETS: &str = "/apis/apps/v1/namespaces/default/statefulsets";
    for (gate, most) in [(false, 1), (true, 2)] {
        let mut session = session();
        let gates = json!({"MaxUnavailableStatefulSet": gate});
        reset(&mut session, "1.34", json!({"feature-gates": gates}));
        must(&mut session, "POST machines", json!({"name": "w1"}));
        wait(&mut session, "20s");
        let template = json!({"metadata": {"labels": {"app": "db"}}, "spec": {"terminationGracePeriodSeconds": 5,
            "containers": [{"name": "main", "image": "pause:1"}]}});
        let spec = json!({"replicas": 4, "serviceName": "db", "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": {"app": "db"}}, "template": template,
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}}});
        let body = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": spec});
        let own = must(&mut session, &format!("POST {SETS}"), body);
        let kept = own.at(&["spec", "updateStrategy", "rollingUpdate", "maxUnavailable"]).as_i64();
        assert_eq!(kept, gate.then_some(2));
        wait(&mut session, "20s");
        let image = json!({"containers": [{"name": "main", "image": "pause:2"}]});
        patch(&mut session, &format!("{SETS}/db"), json!({"spec": {"template": {"spec": image}}}));
        let pods = must(&mut session, &format!("GET {PODS}"), Json::Null);
        let leaves = |pod: &&Json| !pod.at(&["metadata", "deletionTimestamp"]).is_null();
        assert_eq!(pods.get("items").items().iter().filter(leaves).count(), most, "gate {gate}");
    }
}

#[test]
fn a_flag_of_several_programs_is_named_with_one() {
    let mut session = session();
    let body = json!({"settings": {"configure-cloud-routes": "true"}});
    let answer = call(&mut session, "POST reset", body);
    let hint = answer.at(&["body", "error", "didYouMean"]).as_str().map(String::from);
    assert_eq!(hint.as_deref(), Some("cloud-controller-manager.configure-cloud-routes"), "{answer}");
}

#[test]
fn the_slices_of_a_service_go_with_it() {
    const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    let mut session = session();
    let spec = json!({"selector": {"app": "web"}, "ports": [{"port": 80}]});
    let body = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": spec});
    must(&mut session, "POST /api/v1/namespaces/default/services", body);
    wait(&mut session, "2s");
    let count = |session: &mut Session| {
        let slices = must(session, &format!("GET {SLICES}?labelSelector=kubernetes.io/service-name=web"), Json::Null);
        slices.get("items").items().len()
    };
    assert_eq!(count(&mut session), 1);
    must(&mut session, "DELETE /api/v1/namespaces/default/services/web", Json::Null);
    wait(&mut session, "2s");
    assert_eq!(count(&mut session), 0);
}

#[test]
fn a_dependent_in_another_namespace_goes_and_its_owner_keeps_those_of_its_own() {
    let mut session = session();
    reset(&mut session, "1.34", json!({"controllers": "garbage-collector-controller"}));
    must(&mut session, "POST /api/v1/namespaces", json!({"metadata": {"name": "other"}}));
    let owner = json!({"metadata": {"name": "owner"}});
    let owner = must(&mut session, "POST /api/v1/namespaces/default/configmaps", owner);
    let uid = owner.at(&["metadata", "uid"]).as_str().unwrap_or_default().to_owned();
    wait(&mut session, "1s");
    let reference = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid.as_str()});
    let dependent = json!({"metadata": {"name": "dependent", "ownerReferences": [reference]}});
    for namespace in ["default", "other"] {
        must(&mut session, &format!("POST /api/v1/namespaces/{namespace}/configmaps"), dependent.clone());
    }
    wait(&mut session, "5s");
    for (namespace, code) in [("default", 200), ("other", 404)] {
        let path = format!("GET /api/v1/namespaces/{namespace}/configmaps/dependent");
        assert_eq!(call(&mut session, &path, Json::Null).get("code").as_i64(), Some(code), "{namespace}");
    }
    let events = must(&mut session, "GET /api/v1/namespaces/other/events", Json::Null);
    let message = format!(
        "ownerRef [v1/ConfigMap, namespace: other, name: owner, uid: {uid}] does not exist in namespace \"other\""
    );
    assert_eq!(events.get("items").items().first().unwrap().get("message").as_str(), Some(message.as_str()));
}
