//! Tests Pods on a simulated kubelet: their status, their restarts and their admission.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::kubelet_tests::{act, add, advance, cluster, get};
use crate::json;
use crate::network::{Call, EVENTS, Identity, NODES, PODS, Verb};
use crate::objects::Json;
use crate::sim::Simulation;

fn ready_node() -> Simulation {
    let mut sim = cluster();
    add(&mut sim, json!({"name": "w1"}));
    advance(&mut sim, 30_000);
    sim
}

fn bind(sim: &mut Simulation, name: &str, more: Json) {
    let mut pod = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": "default"},
        "spec": {"nodeName": "w1", "containers": [{"name": "main", "image": "app:1"}]}});
    for (field, value) in more.fields() {
        pod.set(&["spec", field], value.clone());
    }
    let answer = sim.request(Identity::admin(), Call::new(Verb::Create, PODS, "default", "").body(pod)).unwrap();
    assert!(answer.is_success(), "{}", answer.message());
}

fn annotate(sim: &mut Simulation, name: &str, annotation: &str, value: &str) {
    let mut patch = json!({});
    patch.set(&["metadata", "annotations", annotation], value);
    sim.request(Identity::admin(), Call::strategic_patch(PODS, "default", name, patch)).unwrap();
}

fn status(sim: &Simulation, name: &str) -> Json {
    get(sim, &PODS, "default", name).get("status").clone()
}

/// Returns state and restart count of the only container, as `running 0` or `CrashLoopBackOff 2`.
fn container(sim: &Simulation, name: &str) -> String {
    let status = status(sim, name);
    let Some(container) = status.get("containerStatuses").items().first().cloned() else { return String::new() };
    let (state, value) =
        container.get("state").fields().next().map(|(name, value)| (name.clone(), value.clone())).unwrap();
    let shown = if state == *"waiting" { value.get("reason").as_text().cloned().unwrap_or_default() } else { state };
    alloc::format!("{shown} {}", container.get("restartCount").as_i64().unwrap_or_default())
}

fn events(sim: &mut Simulation, reason: &str) -> Vec<(String, i64)> {
    let answer = sim.request(Identity::admin(), Call::new(Verb::List, EVENTS, "default", "")).unwrap();
    let list = answer.body();
    let meant = |event: &&Json| event.get("reason").as_str() == Some(reason);
    let shown = |event: &Json| {
        (event.get("message").as_str().unwrap_or_default().to_string(), event.get("count").as_i64().unwrap_or_default())
    };
    list.get("items").items().iter().filter(meant).map(shown).collect()
}

#[test]
fn a_crashing_container_shows_its_end_first_and_its_back_off_at_the_next_look() {
    let mut sim = ready_node();
    bind(&mut sim, "p", json!({}));
    annotate(&mut sim, "p", "nodeproof.dev/main.crashes-after", "3s");
    advance(&mut sim, 1_000);
    assert_eq!(container(&sim, "p"), "running 0");
    advance(&mut sim, 3_000);
    assert_eq!(container(&sim, "p"), "terminated 0");
    // The first restart is immediate but for the time that a start takes.
    advance(&mut sim, 1_000);
    assert_eq!(container(&sim, "p"), "running 1");
    advance(&mut sim, 3_000);
    assert_eq!(container(&sim, "p"), "terminated 1");
    let said = events(&mut sim, "BackOff");
    assert_eq!(said.len(), 1);
    assert!(said[0].0.starts_with("Back-off restarting failed container main in pod p_default("), "{said:?}");
    // The next look comes 10 to 16 s later, when the pause of 10 s has passed: back-off and restart in one.
    advance(&mut sim, 10_000);
    assert_eq!(container(&sim, "p"), "terminated 1");
    let mut waited = 10_000;
    while container(&sim, "p") == "terminated 1" {
        advance(&mut sim, 100);
        waited += 100;
    }
    assert!(waited <= 16_000, "{waited}");
    assert_eq!(container(&sim, "p"), "CrashLoopBackOff 1");
    advance(&mut sim, 1_000);
    assert_eq!(container(&sim, "p"), "running 2");
}

#[test]
fn a_restarted_kubelet_forgets_the_back_off_and_touches_nothing_that_runs() {
    let mut sim = ready_node();
    bind(&mut sim, "steady", json!({}));
    bind(&mut sim, "p", json!({}));
    annotate(&mut sim, "p", "nodeproof.dev/main.crashes-after", "3s");
    advance(&mut sim, 8_500);
    assert_eq!(container(&sim, "p"), "terminated 1");
    act(&mut sim, json!({"action": "kubelet-restart"}));
    advance(&mut sim, 2_100);
    assert_eq!(container(&sim, "p"), "running 2");
    assert_eq!(container(&sim, "steady"), "running 0");
}

#[test]
fn after_a_reboot_pods_run_again_in_another_sandbox_and_those_that_never_restart_have_failed() {
    let mut sim = ready_node();
    bind(&mut sim, "always", json!({}));
    bind(&mut sim, "never", json!({"restartPolicy": "Never"}));
    advance(&mut sim, 5_000);
    let before = status(&sim, "always").get("podIP").clone();
    act(&mut sim, json!({"action": "reboot"}));
    advance(&mut sim, 1_500);
    let between = status(&sim, "always");
    assert_eq!(between.get("phase").as_str(), Some("Running"));
    assert!(between.get("podIP").is_null());
    let ended = between.get("containerStatuses").items()[0].at(&["state", "terminated"]).clone();
    assert_eq!((ended.get("exitCode").as_i64(), ended.get("reason").as_str()), (Some(255), Some("Unknown")));
    assert_eq!(status(&sim, "never").get("phase").as_str(), Some("Running"));
    advance(&mut sim, 1_000);
    assert_eq!(container(&sim, "always"), "running 1");
    assert!(!status(&sim, "always").get("podIP").is_null());
    assert_ne!(status(&sim, "always").get("podIP"), &before);
    assert_eq!(status(&sim, "never").get("phase").as_str(), Some("Failed"));
    assert_eq!(
        events(&mut sim, "SandboxChanged"),
        [("Pod sandbox changed, it will be killed and re-created.".to_string(), 1)]
    );
    assert_eq!(events(&mut sim, "Rebooted").len(), 1);
}

#[test]
fn without_a_network_a_pod_waits_and_says_so_each_two_seconds_while_one_of_the_hosts_network_runs() {
    let mut sim = ready_node();
    act(&mut sim, json!({"action": "cni-remove"}));
    advance(&mut sim, 10_000);
    bind(&mut sim, "p", json!({}));
    bind(&mut sim, "host", json!({"hostNetwork": true}));
    advance(&mut sim, 10_000);
    assert_eq!(container(&sim, "p"), "ContainerCreating 0");
    assert_eq!(container(&sim, "host"), "running 0");
    let said = events(&mut sim, "NetworkNotReady");
    assert_eq!(
        said[0].0,
        "network is not ready: container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady \
            message:Network plugin returns error: cni plugin not initialized"
    );
    assert!((4..=7).contains(&said[0].1), "{said:?}");
    act(&mut sim, json!({"action": "cni-install"}));
    advance(&mut sim, 8_600);
    assert_eq!(container(&sim, "p"), "running 0");
}

#[test]
fn without_a_runtime_nothing_is_done_with_pods_until_it_is_back() {
    let mut sim = ready_node();
    bind(&mut sim, "old", json!({}));
    advance(&mut sim, 5_000);
    act(&mut sim, json!({"action": "runtime-stop"}));
    advance(&mut sim, 36_000);
    bind(&mut sim, "new", json!({}));
    sim.request(Identity::admin(), Call::new(Verb::Delete, PODS, "default", "old")).unwrap();
    advance(&mut sim, 30_000);
    assert!(status(&sim, "new").get("conditions").is_null());
    assert_eq!(container(&sim, "old"), "running 0");
    act(&mut sim, json!({"action": "runtime-start"}));
    advance(&mut sim, 8_000);
    assert_eq!(container(&sim, "new"), "running 0");
    advance(&mut sim, 30_000);
    assert!(get(&sim, &PODS, "default", "old").is_null());
}

#[test]
fn a_pod_that_does_not_fit_is_refused_for_the_first_reason() {
    let mut sim = ready_node();
    let taints = json!({"spec": {"taints": [{"key": "k", "value": "v", "effect": "NoExecute"}, {"key": "s",
        "effect": "NoSchedule"}]}});
    sim.request(Identity::admin(), Call::strategic_patch(NODES, "", "w1", taints)).unwrap();
    let tolerant = json!([{"key": "k", "operator": "Exists"}]);
    let with = |more: Json| {
        let mut spec = more;
        spec.set(&["tolerations"], tolerant.clone());
        spec
    };
    let ports = |port: i64| {
        json!({"containers": [{"name": "main", "image": "app:1", "ports": [{"containerPort": 80,
        "hostPort": port}]}]})
    };
    bind(&mut sim, "holder", with(ports(80)));
    let cases = [
        (with(json!({})), None),
        (
            json!({}),
            Some((
                "TaintToleration",
                "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
            )),
        ),
        (
            with(json!({"nodeSelector": {"disk": "ssd"}})),
            Some(("NodeAffinity", "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector")),
        ),
        (
            with(ports(80)),
            Some((
                "NodePorts",
                "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
            )),
        ),
        (with(ports(81)), None),
        (
            with(json!({"nodeSelector": {"disk": "ssd"}, "containers": [{"name": "main", "image": "app:1",
                    "resources": {"requests": {"cpu": "5"}}}]})),
            Some(("OutOfcpu", "Node didn't have enough resource: cpu, requested: 5000, used: 0, capacity: 4000")),
        ),
    ];
    for (number, (spec, refusal)) in cases.into_iter().enumerate() {
        let name = alloc::format!("p{number}");
        bind(&mut sim, &name, spec);
        advance(&mut sim, 2_000);
        let status = status(&sim, &name);
        match refusal {
            None => assert_eq!(status.get("phase").as_str(), Some("Running"), "{name}"),
            Some((reason, message)) => {
                assert_eq!(status.get("phase").as_str(), Some("Failed"), "{name}");
                assert_eq!(status.get("reason").as_str(), Some(reason));
                assert_eq!(
                    status.get("message").as_str(),
                    Some(alloc::format!("Pod was rejected: {message}").as_str())
                );
                assert!(!status.get("startTime").is_null() && status.get("conditions").is_null());
                assert_eq!(events(&mut sim, reason), [(message.to_string(), 1)]);
            }
        }
    }
}

#[test]
fn a_kubelet_that_starts_again_refuses_what_runs_and_does_not_fit_any_more() {
    let mut sim = ready_node();
    let label = |value: Json| {
        let mut patch = Json::object();
        patch.set(&["metadata", "labels", "disk"], value);
        Call::strategic_patch(NODES, "", "w1", patch)
    };
    sim.request(Identity::admin(), label("ssd".into())).unwrap();
    let selector = json!({"nodeSelector": {"disk": "ssd"}});
    for name in ["good", "bad", "deleted"] {
        bind(&mut sim, name, selector.clone());
    }
    bind(&mut sim, "free", json!({}));
    advance(&mut sim, 5_000);
    annotate(&mut sim, "bad", "nodeproof.dev/main.exit-code", "3");
    annotate(&mut sim, "deleted", "nodeproof.dev/main.stops-after", "20s");
    sim.request(Identity::admin(), label(Json::Null)).unwrap();
    sim.request(Identity::admin(), Call::new(Verb::Delete, PODS, "default", "deleted")).unwrap();
    advance(&mut sim, 2_000);
    assert!(events(&mut sim, "NodeAffinity").is_empty());
    act(&mut sim, json!({"action": "kubelet-restart"}));
    advance(&mut sim, 1_500);
    let held = status(&sim, "good");
    assert_eq!(held.get("phase").as_str(), Some("Running"));
    assert!(held.get("reason").is_null() && held.get("containerStatuses").is_null(), "{held}");
    advance(&mut sim, 5_000);
    let text = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";
    assert_eq!(events(&mut sim, "NodeAffinity"), [(text.to_string(), 1), (text.to_string(), 1)]);
    let end = |name: &str| {
        let status = status(&sim, name);
        let text = |field: &str| status.get(field).as_str().unwrap_or("-").to_string();
        alloc::format!("{} {} {}", text("phase"), text("reason"), text("message"))
    };
    assert_eq!(end("good"), "Succeeded - -");
    assert_eq!(end("bad"), alloc::format!("Failed NodeAffinity Pod was rejected: {text}"));
    assert_eq!(end("free"), "Running - -");
    assert_eq!(end("deleted"), "Running - -");
    advance(&mut sim, 20_000);
    assert!(get(&sim, &PODS, "default", "deleted").is_null());
}

#[test]
fn containers_of_a_pod_that_is_gone_are_known_for_a_minute() {
    let mut sim = ready_node();
    bind(&mut sim, "p", json!({}));
    advance(&mut sim, 5_000);
    annotate(&mut sim, "p", "nodeproof.dev/main.stops-after", "never");
    sim.request(Identity::admin(), Call::new(Verb::Delete, PODS, "default", "p")).unwrap();
    advance(&mut sim, 32_000);
    assert!(get(&sim, &PODS, "default", "p").is_null());
    let shown = |sim: &Simulation| {
        let machine = sim.machine("w1").unwrap().describe(sim.now());
        machine.get("containers").items().first().cloned().unwrap_or_default()
    };
    let own = shown(&sim);
    assert_eq!((own.get("state").as_str(), own.get("exitCode").as_i64()), (Some("exited"), Some(137)), "{own}");
    let signals: Vec<&str> =
        own.get("signals").items().iter().filter_map(|signal| signal.get("signal").as_str()).collect();
    assert_eq!(signals, ["SIGTERM", "SIGKILL"]);
    assert!(!own.get("removedAt").is_null());
    advance(&mut sim, 60_000);
    assert!(shown(&sim).is_null());
}

#[test]
fn no_more_than_twenty_five_events_about_one_object_go_out_at_once() {
    let mut sim = ready_node();
    act(&mut sim, json!({"action": "cni-remove"}));
    advance(&mut sim, 10_000);
    bind(&mut sim, "p", json!({}));
    advance(&mut sim, 120_000);
    assert_eq!(events(&mut sim, "NetworkNotReady")[0].1, 25);
}

#[test]
fn a_critical_pod_takes_the_room_of_others_and_starts_when_they_have_ended() {
    let mut sim = cluster();
    add(&mut sim, json!({"name": "w1", "capacity": {"cpu": "2", "memory": "4Gi"}}));
    advance(&mut sim, 30_000);
    let cpu = |amount: &str| {
        json!({"containers": [{"name": "main", "image": "app:1",
        "resources": {"requests": {"cpu": amount}}}]})
    };
    bind(&mut sim, "small", cpu("300m"));
    bind(&mut sim, "large", cpu("1500m"));
    annotate(&mut sim, "large", "nodeproof.dev/main.stops-after", "4s");
    advance(&mut sim, 5_000);
    let mut critical = cpu("1200m");
    critical.set(&["priorityClassName"], "system-node-critical");
    bind(&mut sim, "critical", critical.clone());
    advance(&mut sim, 2_000);
    assert_eq!(status(&sim, "large").get("phase").as_str(), Some("Running"));
    assert_eq!(status(&sim, "critical").get("conditions").items().len(), 0);
    advance(&mut sim, 3_000);
    let ended = status(&sim, "large");
    assert_eq!((ended.get("phase").as_str(), ended.get("reason").as_str()), (Some("Succeeded"), None));
    let target = &ended.get("conditions").items()[0];
    assert_eq!(target.get("reason").as_str(), Some("TerminationByKubelet"));
    assert_eq!(events(&mut sim, "Preempting"), [(String::from("Preempted in order to admit critical pod"), 1)]);
    advance(&mut sim, 2_000);
    assert_eq!(container(&sim, "critical"), "running 0");
    assert_eq!(container(&sim, "small"), "running 0");
    critical.set(&["containers"], cpu("5").get("containers").clone());
    bind(&mut sim, "impossible", critical.clone());
    advance(&mut sim, 1_000);
    let refused = status(&sim, "impossible");
    assert_eq!(refused.get("reason").as_str(), Some("UnexpectedAdmissionError"));
    let message = "Pod was rejected: Unexpected error while attempting to recover from admission failure: preemption: \
                   error finding a set of pods to preempt: no set of running pods found to reclaim resources: \
                   [(res: cpu, q: 4200), ]";
    assert_eq!(refused.get("message").as_str(), Some(message));
    critical.set(&["nodeSelector", "foo"], "bar");
    bind(&mut sim, "elsewhere", critical);
    advance(&mut sim, 1_000);
    assert_eq!(status(&sim, "elsewhere").get("reason").as_str(), Some("NodeAffinity"));
}

#[test]
fn a_static_pod_runs_on_when_the_runtime_is_back() {
    let mut sim = cluster();
    add(&mut sim, json!({"name": "w1", "kubelet": {"config": {"staticPodPath": "/etc/kubernetes/manifests"}}}));
    let pod = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web"},
        "spec": {"containers": [{"name": "main", "image": "app:1"}]}});
    act(&mut sim, json!({"action": "manifest-write", "name": "web.yaml", "object": pod}));
    advance(&mut sim, 60_000);
    assert_eq!(container(&sim, "web-w1"), "running 0");
    act(&mut sim, json!({"action": "runtime-stop"}));
    advance(&mut sim, 60_000);
    act(&mut sim, json!({"action": "runtime-start"}));
    advance(&mut sim, 90_000);
    assert_eq!(container(&sim, "web-w1"), "running 0");
    assert!(sim.machine("w1").unwrap().describe_containers(sim.now()).items().len() == 1);
}

#[test]
fn static_pods_of_one_name_in_two_namespaces_live_apart() {
    let mut sim = cluster();
    add(&mut sim, json!({"name": "w1", "kubelet": {"flags": {"pod-manifest-path": "/etc/kubernetes/manifests"}}}));
    advance(&mut sim, 30_000);
    let pod = |namespace: &str| {
        json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web", "namespace": namespace},
            "spec": {"containers": [{"name": "main", "image": "app:1"}]}})
    };
    for (file, namespace) in [("one.yaml", "default"), ("other.yaml", "kube-system")] {
        act(&mut sim, json!({"action": "manifest-write", "name": file, "object": pod(namespace)}));
    }
    advance(&mut sim, 30_000);
    let mirror = |sim: &Simulation, namespace: &str| get(sim, &PODS, namespace, "web-w1");
    let [one, other] = ["default", "kube-system"].map(|namespace| mirror(&sim, namespace));
    assert_eq!(one.at(&["status", "phase"]).as_str(), Some("Running"));
    assert_eq!(other.at(&["status", "phase"]).as_str(), Some("Running"));
    // A mirror that is deleted comes again in its own namespace, and the other stays as it is.
    let delete = Call::new(Verb::Delete, PODS, "kube-system", "web-w1");
    sim.request(Identity::admin(), delete).unwrap();
    advance(&mut sim, 30_000);
    let again = mirror(&sim, "kube-system");
    assert_eq!(again.at(&["status", "phase"]).as_str(), Some("Running"));
    assert_ne!(again.at(&["metadata", "uid"]), other.at(&["metadata", "uid"]));
    assert_eq!(mirror(&sim, "default").at(&["metadata", "uid"]), one.at(&["metadata", "uid"]));
    // The end of one is the end of its own mirror.
    act(&mut sim, json!({"action": "manifest-remove", "name": "one.yaml"}));
    advance(&mut sim, 60_000);
    assert!(mirror(&sim, "default").is_null());
    assert_eq!(mirror(&sim, "kube-system").at(&["metadata", "uid"]), again.at(&["metadata", "uid"]));
}
