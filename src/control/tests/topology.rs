//! Holds the topology manager against what k8s.io/kubernetes v1.34.4 answers.
//!
//! fixtures/recorded/topology-merges.jsonl.gz: hints of providers, and what its policies make of them; the cases of its
//! own tests and others. fixtures/recorded/topology-admissions.jsonl.gz: pods that come and go, and what its topology
//! manager, CPU manager and memory manager together give to their containers.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use flate2::read::GzDecoder;
use nodeproof_core::json;
use nodeproof_core::objects::Json;

use super::super::Session;
use super::{call, session};

fn cases(name: &str) -> Vec<Json> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recorded").join(name);
    let lines = BufReader::new(GzDecoder::new(File::open(path).unwrap())).lines();
    lines.map(|line| Json::parse(&line.unwrap()).unwrap()).collect()
}

fn done(session: &mut Session, name: &str, body: Json) -> Json {
    let answer = call(session, name, body.clone());
    assert!(answer.get("code").as_i64().unwrap() < 300, "{name} {body}: {answer}");
    answer.get("body").clone()
}

fn wait(session: &mut Session, by: &str) {
    done(session, "POST clock/advance", json!({ "by": by }));
}

/// Makes a pod on the machine; returns why it was refused, and what its containers got.
fn add_pod(session: &mut Session, name: &str, mut spec: Json) -> (Option<(String, String)>, Vec<Json>) {
    spec.set(&["nodeName"], "w");
    let mut pod = json!({"metadata": {"name": name}});
    pod.set(&["spec"], spec);
    done(session, "POST /api/v1/namespaces/default/pods", pod);
    wait(session, "5s");
    let pod = done(session, &format!("GET /api/v1/namespaces/default/pods/{name}"), Json::Null);
    let text = |field| pod.at(&["status", field]).as_str().map(str::to_string);
    let message = text("message").unwrap_or_default().replace("Pod was rejected: ", "");
    let machine = done(session, "GET machines/w", Json::Null);
    let own = machine.get("assignments").items().iter().filter(|own| own.get("pod").as_str() == Some(name));
    (text("reason").map(|reason| (reason, message)), own.cloned().collect())
}

#[test]
fn hints_merge_as_upstream_merges_them() {
    let all = cases("topology-merges.jsonl.gz");
    assert_eq!(all.len(), 402);
    for case in all {
        let mut session = session();
        let nodes = case.get("nodes").items();
        let node = |(at, id): (usize, &Json)| {
            let mut node = json!({"cpus": at.to_string(), "memory": "1Gi"});
            node.set(&["id"], id.clone());
            if let Some(row) = case.get("distances").items().get(at) {
                node.set(&["distances"], row.clone());
            }
            node
        };
        let mut config = json!({"topologyManagerPolicy": case.get("policy").as_str().unwrap()});
        if case.get("closest").as_bool() == Some(true) {
            config.set(&["topologyManagerPolicyOptions", "prefer-closest-numa-nodes"], "true");
        }
        let mut machine =
            json!({"name": "w", "capacity": {"cpu": nodes.len(), "memory": format!("{}Gi", nodes.len())}});
        machine.set(&["numa"], nodes.iter().enumerate().map(node).collect::<Json>());
        machine.set(&["kubelet", "config"], config);
        done(&mut session, "POST machines", machine);
        for (at, hints) in case.get("hints").items().iter().enumerate() {
            let hint = |hint: &Json| {
                let mut told = json!({"preferred": hint.items()[1].as_bool().unwrap()});
                told.set(&["numa"], hint.items()[0].clone());
                told
            };
            let mut told = json!({"namespace": "default", "pod": "p", "container": "c", "resource": format!("r{at}"),
                "hints": null});
            if hints.is_array() {
                told.set(&["hints"], hints.items().iter().map(hint).collect::<Json>());
            }
            done(&mut session, "PUT machines/w/hints", told);
        }
        wait(&mut session, "20s");
        let (refusal, given) = add_pod(&mut session, "p", json!({"containers": [{"name": "c", "image": "i"}]}));
        assert_eq!(refusal.is_none(), case.get("admit").as_bool().unwrap(), "{case}");
        if let Some(own) = given.first() {
            let merged = case.get("merged");
            assert_eq!(own.get("numa"), if merged.is_null() { case.get("nodes") } else { merged }, "{case}");
            assert_eq!(own.get("preferred"), case.get("preferred"), "{case}");
        }
    }
}

fn machine_of(run: &Json) -> Json {
    let nodes = run.get("nodes").items();
    let count = |node: &Json| {
        let (first, last) = node.get("cpus").as_str().unwrap().split_once('-').unwrap();
        last.parse::<i64>().unwrap() - first.parse::<i64>().unwrap() + 1
    };
    let kept = run.get("kept").to_string();
    let text = |field| run.get(field).as_str().unwrap().to_string();
    let mut config = json!({"topologyManagerPolicy": text("policy"), "topologyManagerScope": text("scope"),
        "evictionHard": {"nodefs.available": "1%"}, "kubeReserved": {"cpu": "1", "memory": kept.as_str()}});
    if run.get("cpu").as_bool() == Some(true) {
        config.set(&["cpuManagerPolicy"], "static");
    }
    if run.get("mem").as_bool() == Some(true) {
        config.set(&["memoryManagerPolicy"], "Static");
        config.set(&["reservedMemory"], json!([{"numaNode": 0, "limits": {"memory": kept}}]));
    }
    let memory = format!("{}Gi", nodes.len() * 8);
    let mut machine = json!({"name": "w", "capacity": {"cpu": nodes.iter().map(count).sum::<i64>(), "memory": memory}});
    machine.set(&["numa"], run.get("nodes").clone());
    machine.set(&["kubelet", "config"], config);
    machine
}

fn spec_of(step: &Json) -> Json {
    let mut spec = json!({"containers": [], "initContainers": []});
    for own in step.get("containers").items() {
        let mut container = json!({"image": "i"});
        container.set(&["name"], own.get("name").clone());
        for list in ["requests", "limits"] {
            container.set(&["resources", list, "cpu"], own.get("cpu").clone());
            container.set(&["resources", list, "memory"], own.get("memory").to_string());
        }
        let kind = own.get("kind").as_str().unwrap();
        if kind == "sidecar" {
            container.set(&["restartPolicy"], "Always");
        }
        let list = if kind == "app" { "containers" } else { "initContainers" };
        spec.entry(&[list]).make_array().push(container);
    }
    spec
}

/// Goes through the pods of a run, and returns how many steps were compared: up to a pod that does not fit on the node
/// as a whole, which others than the managers refuse.
fn follow(run: &Json) -> usize {
    let mut session = session();
    done(&mut session, "POST machines", machine_of(run));
    wait(&mut session, "20s");
    let (mut compared, nothing) = (0, Json::Null);
    for step in run.get("steps").items() {
        if let Some(name) = step.get("remove").as_str() {
            let call = format!("DELETE /api/v1/namespaces/default/pods/{name}?gracePeriodSeconds=0");
            done(&mut session, &call, Json::Null);
            wait(&mut session, "60s");
            continue;
        }
        let (refusal, given) = add_pod(&mut session, step.get("add").as_str().unwrap(), spec_of(step));
        if refusal.as_ref().is_some_and(|(reason, _)| reason.starts_with("OutOf")) {
            return compared;
        }
        let text = |field| step.get(field).as_str().unwrap_or_default().to_string();
        let expected = (step.get("admit").as_bool() != Some(true)).then(|| (text("reason"), text("message")));
        assert_eq!(refusal, expected, "{step} of {run}");
        for wanted in step.get("got").items() {
            // A kubelet that places nothing tells nothing.
            let own = given.iter().find(|own| own.get("container") == wanted.get("name")).unwrap_or(&nothing);
            assert_eq!(own.get("cpus"), wanted.get("cpus"), "{step} of {run}");
            assert_eq!(own.at(&["memory", "numa"]), wanted.get("memory"), "{step} of {run}");
            if !wanted.get("numa").is_null() {
                assert_eq!(own.get("numa"), wanted.get("numa"), "{step} of {run}");
            }
        }
        compared += 1;
    }
    compared
}

#[test]
fn containers_get_what_upstreams_managers_give_them() {
    let runs = cases("topology-admissions.jsonl.gz");
    assert_eq!(runs.len(), 120);
    let compared: usize = runs.iter().map(follow).sum();
    assert!(compared > 250, "{compared}");
}
