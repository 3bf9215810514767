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
