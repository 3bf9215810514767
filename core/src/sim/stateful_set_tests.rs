//! Tests StatefulSets in a simulated cluster: what they count, and claims that go while their pods wait.

use alloc::string::ToString;
use alloc::vec::Vec;

use super::kubelet_tests::{add, advance};
use crate::components::api_server::Tap;
use crate::components::registry::CONTROLLERS;
use crate::json;
use crate::network::{Call, Identity, PODS, Resource, Verb};
use crate::objects::Json;
use crate::sim::{Simulation, SimulationOptions};

const SETS: Resource = Resource::of("apps", "v1", "statefulsets");
const CLAIMS: Resource = Resource::of("", "v1", "persistentvolumeclaims");

fn ask(sim: &mut Simulation, call: Call) -> Json {
    let answer = sim.request(Identity::admin(), call).unwrap();
    assert!(answer.is_success(), "{}", answer.message());
    answer.body()
}

/// Makes a cluster with a set whose spec has these fields more.
fn cluster(more: &Json) -> Simulation {
    let mut sim =
        Simulation::new(SimulationOptions { controllers: CONTROLLERS.to_vec(), ..SimulationOptions::default() });
    sim.tap(Tap::Changes);
    add(&mut sim, json!({"name": "w1"}));
    advance(&mut sim, 30_000);
    let mut set = json!({"metadata": {"name": "db"}, "spec": {"serviceName": "db",
        "selector": {"matchLabels": {"app": "db"}}, "template": {"metadata": {"labels": {"app": "db"}},
            "spec": {"containers": [{"name": "main", "image": "pause"}]}}}});
    for (field, value) in more.fields() {
        set.set(&["spec", field.as_str()], value.clone());
    }
    ask(&mut sim, Call::new(Verb::Create, SETS, "default", "").body(set));
    sim
}

/// Binds the pods that have no node, and lets them start.
fn bind(sim: &mut Simulation) {
    advance(sim, 1_000);
    for pod in ask(sim, Call::new(Verb::List, PODS, "default", "")).get("items").items() {
        if pod.at(&["spec", "nodeName"]).is_null() {
            let name = pod.at(&["metadata", "name"]).as_str().unwrap_or("").to_string();
            let body = json!({"metadata": {"name": name.as_str()}, "target": {"kind": "Node", "name": "w1"}});
            ask(sim, Call::new(Verb::Create, PODS, "default", name).subresource("binding").body(body));
        }
    }
    advance(sim, 15_000);
}

/// Gives the template an annotation, and so another revision.
fn change(sim: &mut Simulation, value: &'static str) {
    let patch = json!({"spec": {"template": {"metadata": {"annotations": {"a": value}}}}});
    ask(sim, Call::strategic_patch(SETS, "default", "db", patch));
}

/// Returns `currentReplicas` and `updatedReplicas` of each status of the set since the last call.
fn counts(sim: &mut Simulation) -> Vec<(Option<i64>, Option<i64>)> {
    let statuses = sim.take_commits().into_iter().filter(|one| one.resource == SETS && one.subresource == "status");
    let counts = statuses.map(|one| {
        let count = |field| one.object.stable().at(&["status", field]).as_i64();
        (count("currentReplicas"), count("updatedReplicas"))
    });
    counts.collect()
}

#[test]
fn each_pod_that_is_deleted_for_an_update_is_taken_off_the_current_ones_be_it_one_of_them_or_not() {
    let partition = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 1}});
    let mut sim = cluster(&json!({"replicas": 2, "updateStrategy": partition}));
    bind(&mut sim);
    bind(&mut sim);
    change(&mut sim, "b");
    advance(&mut sim, 60_000);
    bind(&mut sim);
    assert_eq!(counts(&mut sim).last(), Some(&(Some(1), Some(1))));
    // The last pod is of the second revision, the first one of the current one.
    change(&mut sim, "c");
    advance(&mut sim, 500);
    assert_eq!(counts(&mut sim), [(None, None), (Some(1), None)]);
}

#[test]
fn a_claim_that_is_being_deleted_is_made_anew_for_a_pod_that_waits() {
    let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
    let mut template = json!({"metadata": {"name": "data", "finalizers": ["example.com/held"]}});
    template.set(&["spec"], spec);
    let mut more = json!({"replicas": 1});
    more.set(&["volumeClaimTemplates"], Json::array([template].into()));
    let mut sim = cluster(&more);
    advance(&mut sim, 1_000);
    let claim = |sim: &mut Simulation| {
        let list = ask(sim, Call::new(Verb::List, CLAIMS, "default", ""));
        list.get("items").items().iter().map(|one| one.at(&["metadata", "uid"]).clone()).collect::<Vec<_>>()
    };
    let before = claim(&mut sim);
    ask(&mut sim, Call::new(Verb::Delete, CLAIMS, "default", "data-db-0"));
    let note = json!({"metadata": {"annotations": {"a": "b"}}});
    ask(&mut sim, Call::strategic_patch(PODS, "default", "db-0", note));
    advance(&mut sim, 5_000);
    assert_eq!(claim(&mut sim), before);
    let released = json!({"metadata": {"finalizers": null}});
    ask(&mut sim, Call::strategic_patch(CLAIMS, "default", "data-db-0", released));
    assert!(claim(&mut sim).is_empty());
    advance(&mut sim, 10_000);
    let after = claim(&mut sim);
    assert!(after.len() == 1 && after != before);
}

/// The claim is in the cache by the time at which the Pod is made.
#[test]
fn a_claim_gets_its_owner_in_the_sync_that_makes_its_pod_and_before_the_status_of_that() {
    let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
    let mut template = json!({"metadata": {"name": "data"}});
    template.set(&["spec"], spec);
    let mut more = json!({"replicas": 2, "podManagementPolicy": "Parallel"});
    more.set(&["persistentVolumeClaimRetentionPolicy"], json!({"whenDeleted": "Delete", "whenScaled": "Retain"}));
    more.set(&["volumeClaimTemplates"], Json::array([template].into()));
    let mut sim = cluster(&more);
    advance(&mut sim, 1_000);
    let commits = sim.take_commits();
    let place = |resource: &Resource, verb: Verb, name: &str| {
        commits.iter().position(|one| one.resource == *resource && one.verb == verb && one.object.name() == name)
    };
    for ordinal in ["0", "1"] {
        let (claim, pod) = (alloc::format!("data-db-{ordinal}"), alloc::format!("db-{ordinal}"));
        let order = [
            place(&CLAIMS, Verb::Create, &claim),
            place(&PODS, Verb::Create, &pod),
            place(&CLAIMS, Verb::Update, &claim),
            place(&SETS, Verb::Update, "db"),
        ];
        assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{order:?}");
    }
}
