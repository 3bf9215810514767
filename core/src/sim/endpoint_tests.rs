//! Tests the EndpointSlices of Services in a cluster with no other controller.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::kubelet_tests::advance;
use crate::json;
use crate::network::{Answer, Call, ENDPOINT_SLICES, EVENTS, Identity, NODES, PODS, SERVICES, Verb};
use crate::objects::Json;
use crate::profile::{Race, Settings};
use crate::sim::{Simulation, SimulationOptions};

fn cluster(race: Option<Race>) -> Simulation {
    let settings = Settings::default().with_race(race);
    let controllers = ["endpointslice-controller"].to_vec();
    Simulation::new(SimulationOptions { controllers, settings, ..SimulationOptions::default() })
}

fn ask(sim: &mut Simulation, call: Call) -> Answer {
    sim.request(Identity::admin(), call).unwrap()
}

fn node(sim: &mut Simulation, name: &str, zone: &str, cpu: &str) {
    let body = json!({"kind": "Node", "apiVersion": "v1",
        "metadata": {"name": name, "labels": {"topology.kubernetes.io/zone": zone}},
        "status": {"conditions": [{"type": "Ready", "status": "True"}], "allocatable": {"cpu": cpu}}});
    assert_eq!(ask(sim, Call::new(Verb::Create, NODES, "", "").body(body)).code, 201);
}

/// Creates a Service of the Pods `app=web`; `more` is set in it.
fn service(sim: &mut Simulation, more: &[(&[&str], Json)]) {
    let mut body = json!({"kind": "Service", "apiVersion": "v1", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}});
    for (path, value) in more {
        body.set(path, value.clone());
    }
    assert_eq!(ask(sim, Call::new(Verb::Create, SERVICES, "default", "").body(body)).code, 201);
}

fn patch_service(sim: &mut Simulation, patch: Json) {
    assert_eq!(ask(sim, Call::strategic_patch(SERVICES, "default", "web", patch)).code, 200);
}

/// Creates a ready Pod with an address that its number makes.
fn pod(sim: &mut Simulation, number: usize, node: &str) {
    let name = format!("web-{number}");
    let body = json!({"kind": "Pod", "apiVersion": "v1",
        "metadata": {"name": name.as_str(), "namespace": "default", "labels": {"app": "web"}},
        "spec": {"nodeName": node, "containers": [{"name": "main", "image": "pause"}]}});
    assert_eq!(ask(sim, Call::new(Verb::Create, PODS, "default", "").body(body)).code, 201);
    let ip = format!("10.0.{}.{}", number / 200, number % 200 + 1);
    let patch = json!({"status": {"phase": "Running", "podIP": ip.as_str(), "podIPs": [{"ip": ip.as_str()}],
        "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z"}]}});
    let call = Call::strategic_patch(PODS, "default", name, patch).subresource("status");
    assert_eq!(ask(sim, call).code, 200);
}

fn slices(sim: &mut Simulation) -> Vec<Json> {
    let all = ask(sim, Call::new(Verb::List, ENDPOINT_SLICES, "default", "")).body().get("items").items().to_vec();
    let own = |slice: &Json| slice.at(&["metadata", "labels", "kubernetes.io/service-name"]).as_str() == Some("web");
    all.into_iter().filter(own).collect()
}

/// Returns the zones and nodes that the hints of each endpoint name.
fn hints(sim: &mut Simulation) -> Vec<String> {
    let names = |list: &Json| list.items().iter().map(|one| one.get("name").as_str().unwrap().to_string()).collect();
    let shown = |endpoint: &Json| {
        let [zones, nodes]: [Vec<String>; 2] =
            ["forZones", "forNodes"].map(|list| names(endpoint.at(&["hints", list])));
        format!("{} {}", zones.join(","), nodes.join(",")).trim().to_string()
    };
    slices(sim).iter().flat_map(|slice| slice.get("endpoints").items().iter().map(shown)).collect()
}

fn messages(sim: &mut Simulation, reason: &str) -> Vec<String> {
    let all = ask(sim, Call::new(Verb::List, EVENTS, "default", "")).body().get("items").items().to_vec();
    let own = all.iter().filter(|event| event.get("reason").as_str() == Some(reason));
    own.map(|event| event.get("message").as_str().unwrap_or("").to_string()).collect()
}

#[test]
fn an_endpoint_asks_for_the_traffic_of_its_zone_or_node_as_the_service_wishes() {
    let mut sim = cluster(None);
    node(&mut sim, "w1", "a", "2");
    service(&mut sim, &[(&["spec", "trafficDistribution"], "PreferClose".into())]);
    pod(&mut sim, 1, "w1");
    advance(&mut sim, 5_000);
    assert_eq!(hints(&mut sim), ["a"]);
    for (wish, expected) in [("PreferSameNode", "a w1"), ("PreferSameZone", "a")] {
        patch_service(&mut sim, json!({"spec": {"trafficDistribution": wish}}));
        advance(&mut sim, 5_000);
        assert_eq!(hints(&mut sim), [expected], "{wish}");
    }
    patch_service(&mut sim, json!({"spec": {"trafficDistribution": null}}));
    advance(&mut sim, 5_000);
    assert_eq!(hints(&mut sim), [""]);
}

#[test]
fn endpoints_are_shared_out_over_zones_while_each_zone_gets_enough() {
    let mut sim = cluster(None);
    node(&mut sim, "w1", "a", "2");
    node(&mut sim, "w2", "b", "2");
    service(&mut sim, &[(&["metadata", "annotations", "service.kubernetes.io/topology-mode"], "Auto".into())]);
    for number in 1..=4 {
        pod(&mut sim, number, if number < 4 { "w1" } else { "w2" });
    }
    advance(&mut sim, 5_000);
    let mut given = hints(&mut sim);
    given.sort();
    assert_eq!(given, ["a", "a", "b", "b"], "one of zone a serves zone b");
    assert_eq!(
        messages(&mut sim, "TopologyAwareHintsEnabled"),
        ["Topology Aware Hints has been enabled, addressType: IPv4"]
    );
    // A zone more: the Service is synced for the Node, and its share of four endpoints would be too small.
    node(&mut sim, "w3", "c", "1");
    advance(&mut sim, 5_000);
    assert_eq!(hints(&mut sim), ["", "", "", ""]);
    let why = "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold \
        (4 endpoints, 3 zones), addressType: IPv4";
    let told = messages(&mut sim, "TopologyAwareHintsDisabled");
    assert!(told.contains(&why.to_string()), "{told:?}");
}

#[test]
fn a_slice_that_somebody_else_changes_or_deletes_is_as_before_a_second_later() {
    let mut sim = cluster(None);
    node(&mut sim, "w1", "a", "2");
    service(&mut sim, &[]);
    pod(&mut sim, 1, "w1");
    advance(&mut sim, 5_000);
    let call = |sim: &mut Simulation| {
        let name = slices(sim)[0].at(&["metadata", "name"]).as_str().unwrap().to_string();
        Call::new(Verb::Delete, ENDPOINT_SLICES, "default", name)
    };
    let count =
        |sim: &mut Simulation| -> usize { slices(sim).iter().map(|slice| slice.get("endpoints").items().len()).sum() };
    let delete = call(&mut sim);
    ask(&mut sim, delete);
    advance(&mut sim, 900);
    assert_eq!(slices(&mut sim).len(), 0);
    advance(&mut sim, 200);
    assert_eq!(count(&mut sim), 1);
    let mut empty = slices(&mut sim).remove(0);
    empty.set(&["endpoints"], json!([]));
    let name = empty.at(&["metadata", "name"]).as_str().unwrap().to_string();
    ask(&mut sim, Call::new(Verb::Update, ENDPOINT_SLICES, "default", name).body(empty));
    advance(&mut sim, 900);
    assert_eq!(count(&mut sim), 0);
    advance(&mut sim, 200);
    assert_eq!(count(&mut sim), 1);
}

#[test]
fn what_does_not_fit_a_hundred_goes_into_the_slice_that_it_fills_best() {
    let mut sim = cluster(None);
    node(&mut sim, "w1", "a", "2");
    service(&mut sim, &[(&["spec", "selector", "statefulset.kubernetes.io/pod-name"], "none".into())]);
    let sizes = |sim: &mut Simulation| {
        let mut sizes: Vec<usize> = slices(sim).iter().map(|slice| slice.get("endpoints").items().len()).collect();
        sizes.sort_unstable();
        sizes
    };
    let select = |sim: &mut Simulation, label: &str, value: Json| {
        let mut patch = json!({"spec": {"selector": {"statefulset.kubernetes.io/pod-name": null}}});
        patch.set(&["spec", "selector", label], value);
        patch_service(sim, patch);
        advance(sim, 2_000);
    };
    let early = json!({"metadata": {"labels": {"early": "yes"}}});
    for number in 0..60 {
        pod(&mut sim, number, "w1");
        ask(&mut sim, Call::strategic_patch(PODS, "default", format!("web-{number}"), early.clone()));
    }
    select(&mut sim, "early", "yes".into());
    assert_eq!(sizes(&mut sim), [60]);
    for number in 60..190 {
        pod(&mut sim, number, "w1");
    }
    select(&mut sim, "early", Json::Null);
    assert_eq!(sizes(&mut sim), [90, 100]);
}

/// A new Service's slices say when it was created, even if its Pods have been ready for long.
#[test]
fn the_first_slice_of_a_service_says_when_the_service_was_created() {
    let mut sim = cluster(None);
    node(&mut sim, "w1", "a", "2");
    pod(&mut sim, 1, "w1");
    advance(&mut sim, 60_000);
    service(&mut sim, &[]);
    advance(&mut sim, 1_000);
    let own = slices(&mut sim).remove(0);
    let created = ask(&mut sim, Call::new(Verb::Get, SERVICES, "default", "web")).body();
    let said = own.at(&["metadata", "annotations", "endpoints.kubernetes.io/last-change-trigger-time"]);
    assert_eq!(said.as_str(), created.at(&["metadata", "creationTimestamp"]).as_str());
}

/// The empty slice of a Service without endpoints is compared with what it should be in a way of its own.
#[test]
fn an_empty_slice_gets_no_label_without_a_value() {
    let mut sim = cluster(None);
    service(&mut sim, &[]);
    advance(&mut sim, 5_000);
    for (value, shown) in [("", false), ("yes", true)] {
        patch_service(&mut sim, json!({"metadata": {"labels": {"new": value}}}));
        advance(&mut sim, 5_000);
        assert_eq!(!slices(&mut sim)[0].at(&["metadata", "labels", "new"]).is_null(), shown);
    }
}

#[test]
fn an_endpoint_has_no_zone_if_its_node_names_none() {
    let mut sim = cluster(None);
    node(&mut sim, "w1", "", "2");
    service(&mut sim, &[]);
    pod(&mut sim, 1, "w1");
    advance(&mut sim, 5_000);
    assert!(slices(&mut sim)[0].get("endpoints").items()[0].get("zone").is_null());
}

/// A pod that is deleted at once changes twice: the second sync waits for the watch, unless it comes before it and
/// tries again after a pause.
#[test]
fn a_second_change_of_the_same_instant_is_in_the_slice_at_once_or_a_second_later() {
    let empty_after = |race: Option<Race>| {
        let mut sim = cluster(race);
        node(&mut sim, "w1", "a", "2");
        service(&mut sim, &[]);
        pod(&mut sim, 1, "w1");
        advance(&mut sim, 5_000);
        let call = Call::new(Verb::Delete, PODS, "default", "web-1").body(json!({"gracePeriodSeconds": 0}));
        assert_eq!(ask(&mut sim, call).code, 200);
        [10, 900, 200].map(|wait| {
            advance(&mut sim, wait);
            slices(&mut sim)[0].get("endpoints").is_empty()
        })
    };
    assert_eq!(empty_after(None), [true, true, true]);
    assert_eq!(empty_after(Some(Race::SyncBeforeSlice)), [false, false, true]);
}

#[test]
fn a_service_whose_write_is_seen_before_it_is_answered_is_looked_at_again() {
    let zone_after = |race: Option<Race>| {
        let mut sim = cluster(race);
        node(&mut sim, "w1", "a", "2");
        service(&mut sim, &[]);
        pod(&mut sim, 1, "w1");
        let patch = json!({"metadata": {"labels": {"topology.kubernetes.io/zone": "b"}}});
        assert_eq!(ask(&mut sim, Call::strategic_patch(NODES, "", "w1", patch)).code, 200);
        advance(&mut sim, 5_000);
        slices(&mut sim)[0].get("endpoints").items()[0].get("zone").as_str().unwrap().to_string()
    };
    assert_eq!(zone_after(None), "a");
    assert_eq!(zone_after(Some(Race::SliceBeforeAnswer)), "b");
}

fn cluster_with(flags: &[(&str, &str)]) -> Simulation {
    let mut settings = Settings::default();
    for (flag, value) in flags {
        settings.set(flag, value).unwrap();
    }
    let controllers = ["endpointslice-controller"].to_vec();
    Simulation::new(SimulationOptions { controllers, settings, ..SimulationOptions::default() })
}

fn sizes(sim: &mut Simulation) -> Vec<usize> {
    let mut sizes: Vec<usize> = slices(sim).iter().map(|slice| slice.get("endpoints").items().len()).collect();
    sizes.sort_unstable();
    sizes
}

#[test]
fn a_slice_has_no_more_endpoints_than_the_flag_says() {
    let mut sim = cluster_with(&[("max-endpoints-per-slice", "3")]);
    node(&mut sim, "w1", "a", "2");
    for number in 1..=7 {
        pod(&mut sim, number, "w1");
    }
    service(&mut sim, &[]);
    advance(&mut sim, 5_000);
    assert_eq!(sizes(&mut sim), [1, 3, 3]);
}

#[test]
fn changes_of_pods_wait_for_more_of_them_and_those_of_a_service_do_not() {
    let mut sim = cluster_with(&[("endpointslice-updates-batch-period", "5s")]);
    node(&mut sim, "w1", "a", "2");
    service(&mut sim, &[]);
    advance(&mut sim, 1_000);
    assert_eq!(sizes(&mut sim), [0]);
    pod(&mut sim, 1, "w1");
    advance(&mut sim, 4_000);
    pod(&mut sim, 2, "w1");
    assert_eq!(sizes(&mut sim), [0]);
    advance(&mut sim, 1_500);
    assert_eq!(sizes(&mut sim), [2], "five seconds after the first");
}
