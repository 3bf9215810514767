//! What recordings are told as; that the simulator passes it is a test of the command.

use std::path::Path;

use nodeproof_core::json;
use nodeproof_core::objects::Json;

use super::feature;
use crate::replay::load::{Recording, WriteSource};

fn recorded(name: &str) -> Recording {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recorded/1.34.4").join(name);
    Recording::load(&directory, None).unwrap()
}

/// A recording of a cluster of others has no audit log: no writes, no users, and of actions only renewals.
#[test]
fn no_audit_log_is_needed() {
    let whole = recorded("out-of-service");
    let mut bare = whole.clone();
    bare.about.writes = WriteSource::Watch;
    bare.writes.clear();
    bare.actions.retain(|action| action.action == "renew-lease");
    for line in &mut bare.watch {
        (line.actor, line.verb, line.subresource) = Default::default();
        line.manager = Default::default();
    }
    assert!(bare.actions.len() < whole.actions.len());
    assert_eq!(feature(&bare).unwrap(), feature(&whole).unwrap());
}

fn node(taints: &Json, is_cordoned: bool, boot: &str, ready: &str) -> Json {
    let mut node = json!({"kind": "Node", "metadata": {"name": "w"}, "spec": {"taints": taints.clone()}});
    if is_cordoned {
        node.set(&["spec", "unschedulable"], true);
    }
    let reason = if ready == "Unknown" { "NodeStatusUnknown" } else { "KubeletReady" };
    node.set(
        &["status"],
        json!({"nodeInfo": {"bootID": boot}, "conditions": [{"type": "Ready", "status": ready, "reason": reason}]}),
    );
    node
}

fn pod(name: &str, target: Option<&str>) -> Json {
    let mut pod = json!({"kind": "Pod", "metadata": {"name": name, "namespace": "default"},
        "spec": {"nodeName": "w"}, "status": {"phase": "Running"}});
    if let Some(reason) = target {
        pod.set(&["metadata", "deletionTimestamp"], "2026-01-01T00:01:00Z");
        if !reason.is_empty() {
            pod.set(
                &["status", "conditions"],
                json!([{"type": "DisruptionTarget", "status": "True", "reason": reason}]),
            );
        }
    }
    pod
}

/// Tells a recording of 215 s of the Node w, whose Lease is renewed at multiples of ten seconds.
fn told(lines: &[(i64, &str, Json)], renewals: impl IntoIterator<Item = i64>) -> String {
    let watch = lines.iter().map(|(t, event, object)| {
        let mut line = json!({"t": *t, "type": *event});
        line.set(&["kind"], object.get("kind").clone());
        line.set(&["object"], object.clone());
        line.to_string()
    });
    let renewals = renewals.into_iter().map(|at| {
        let mut line = json!({"actor": "kubelet/w", "do": "renew-lease"});
        line.set(&["t"], at * 10);
        line.to_string()
    });
    let about = "name: own\nkubernetes: 1.34.4\nstarted: '2026-01-01T00:00:00Z'\nended: 215\n";
    let (watch, renewals) = (watch.collect::<Vec<_>>().join("\n"), renewals.collect::<Vec<_>>().join("\n"));
    feature(&Recording::parse(about, watch.as_bytes(), b"", renewals.as_bytes()).unwrap()).unwrap()
}

#[test]
fn what_users_did_and_what_leases_show_are_when_lines() {
    let none = json!([]);
    let mine = json!([{"key": "own", "value": "x", "effect": "NoExecute"}]);
    let lines = [
        (0, "LISTED", node(&none, false, "one", "True")),
        (0, "LISTED", pod("evicted", None)),
        (0, "LISTED", pod("deleted", None)),
        (20, "MODIFIED", node(&none, true, "one", "True")),
        (40, "MODIFIED", node(&mine, true, "one", "True")),
        (60, "MODIFIED", pod("evicted", Some("EvictionByEvictionAPI"))),
        (80, "MODIFIED", pod("deleted", Some(""))),
        (150, "MODIFIED", node(&mine, true, "one", "Unknown")),
        (190, "MODIFIED", node(&mine, true, "two", "True")),
    ];
    let text = told(&lines, (0..=9).chain(19..=21));
    let mut whens = Vec::new();
    let mut is_when = false;
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        is_when = line.starts_with("When ") || is_when && line.starts_with("And ");
        whens.extend(is_when.then(|| line.split_once(' ').unwrap().1));
    }
    assert_eq!(
        whens,
        [
            "the user cordons Node \"w\"",
            "the user taints Node \"w\" with \"own=x:NoExecute\"",
            "the user evicts Pod \"evicted\"",
            "the user deletes Pod \"deleted\"",
            "machine \"w\" loses power",
            "machine \"w\" gets power",
        ],
        "{text}"
    );
    // Ready was Unknown 55 s after the silence began, halfway between two renewals of ten seconds.
    assert!(text.contains("And Node \"w\" has condition Ready=Unknown between 39s and 72s\n"), "{text}");
    assert!(text.contains("# Inferred: the Lease of w was renewed last about 5 s before"), "{text}");
}

/// A fault whose act is over before anything was to be sent would have met nothing.
#[test]
fn what_comes_soon_after_a_silence_is_of_its_act() {
    let none = json!([]);
    let text = told(
        &[(0, "LISTED", node(&none, false, "one", "True")), (48, "MODIFIED", node(&none, true, "one", "True"))],
        0..=4,
    );
    let act = "loses its connection to the API server\n    And 3s pass\n    And the user cordons Node \"w\"\n";
    assert!(text.contains(act), "{text}");
}

#[test]
fn a_recording_in_which_nothing_happens_is_no_scenario() {
    let error = feature(&recorded("lease-or-status")).unwrap_err();
    assert!(error.starts_with("nothing was done to a Node, and none fell silent"), "{error}");
}
