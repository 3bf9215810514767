//! Tests that a replay notices every kind of difference, on recordings that are changed in memory.

use nodeproof_core::components::registry::{Duty, ROWS, processes};
use nodeproof_core::json;
use nodeproof_core::network::{WatchType, collections};
use nodeproof_core::objects::{Json, Object, time};

use super::ledger::Ledger;
use super::load::{Micros, Recording, WatchLine, WriteLine, WriteSource};
use super::report::{BEFORE, Unjudged};
use super::trials::recorded_dir;
use super::writers::Writer;
use super::{ReplayReport, judge, watched, writers};

fn recording(name: &str) -> Recording {
    Recording::load(&recorded_dir().join(name), None).expect("the fixtures are whole")
}

/// Replays a recording after a change of its ttl-controller's first write.
fn after(change: impl Fn(&mut Vec<WriteLine>, usize)) -> ReplayReport {
    let mut recording = recording("1.34.4/single-node-silent");
    let at = recording.writes.iter().position(|line| line.user.ends_with(":ttl-controller")).expect("it writes");
    change(&mut recording.writes, at);
    let mut report = judge(&recording, &Ledger::default()).expect("its flags are good");
    report.differences.retain(|difference| difference.writer == "ttl-controller");
    report
}

fn only(report: &ReplayReport) -> (String, Json, Json) {
    let [difference] = report.differences.as_slice() else { panic!("{}", report.text()) };
    (difference.path.clone(), difference.real.clone(), difference.sim.clone())
}

#[test]
fn a_recording_as_it_is_has_no_difference() {
    let report = after(|_, _| {});
    assert!(report.differences.is_empty(), "{}", report.text());
    assert_eq!(report.by_writer["ttl-controller"], (1, 1));
}

#[test]
fn a_predicted_write_that_was_not_recorded_is_a_difference() {
    let (path, real, sim) = only(&after(|writes, at| {
        writes.remove(at);
    }));
    assert_eq!((path.as_str(), real), ("patch", Json::Null));
    assert!(sim.to_string().contains("node.alpha.kubernetes.io/ttl"), "{sim}");
}

#[test]
fn a_recorded_write_that_was_not_predicted_is_a_difference() {
    let (path, real, sim) = only(&after(|writes, at| {
        let mut again = writes[at].clone();
        (again.t, again.end) = (again.t + 5_000_000, again.end + 5_000_000);
        writes.insert(at + 1, again);
    }));
    assert_eq!((path.as_str(), sim), ("patch", Json::Null));
    assert!(real.to_string().contains("node.alpha.kubernetes.io/ttl"), "{real}");
}

#[test]
fn a_write_at_another_instant_is_a_difference_of_time() {
    let (path, real, sim) = only(&after(|writes, at| {
        (writes[at].t, writes[at].end) = (writes[at].t + 3_000_000, writes[at].end + 3_000_000);
    }));
    let (Json::Float(real), Json::Float(sim)) = (real, sim) else { panic!("instants are numbers") };
    assert!(path == "t" && (real - sim - 3.0).abs() < 0.1, "{path} {real} {sim}");
}

#[test]
fn another_value_is_a_difference_of_its_field() {
    let (path, real, sim) = only(&after(|writes, at| {
        writes[at].body = json!({"metadata": {"annotations": {"node.alpha.kubernetes.io/ttl": "15"}}});
    }));
    assert_eq!(path, "metadata.annotations.node.alpha.kubernetes.io/ttl");
    assert_eq!((real.as_str(), sim.as_str()), (Some("15"), Some("0")));
}

/// Replays a recording after a change; returns its unexplained differences.
fn changed(name: &str, change: impl Fn(&mut Recording)) -> ReplayReport {
    let mut recording = recording(name);
    change(&mut recording);
    judge(&recording, &Ledger::default()).expect("its flags are good")
}

fn paths(report: &ReplayReport) -> Vec<(&str, &str)> {
    report.differences.iter().map(|difference| (difference.object.as_str(), difference.path.as_str())).collect()
}

#[test]
fn two_writes_in_another_order_are_a_difference() {
    let report = changed("1.34.4/user-noexecute-taints", |recording| {
        let is_of = |line: &WriteLine, verb: &str| line.verb == verb && line.user.ends_with(":node-controller");
        let delete = recording.writes.iter().position(|line| is_of(line, "delete")).expect("pods are evicted");
        let pod = recording.writes[delete].uri.clone();
        let patch = recording.writes.iter().position(|line| is_of(line, "patch") && line.uri.starts_with(&pod));
        let (patch, delete) = (patch.expect("each eviction marks its pod first"), delete);
        let (one, other) = (recording.writes[patch].clone(), recording.writes[delete].clone());
        (recording.writes[patch].t, recording.writes[patch].end) = (other.t, other.end);
        (recording.writes[delete].t, recording.writes[delete].end) = (one.t, one.end);
    });
    assert!(
        paths(&report).iter().any(|(object, path)| object.starts_with("pods/") && *path == "order"),
        "{}",
        report.text()
    );
}

#[test]
fn an_event_that_says_something_else_is_a_difference_and_so_is_one_that_is_missing() {
    let is_it =
        |line: &WatchLine| line.kind == "Event" && line.object.stable().get("reason").as_str() == Some("NodeNotReady");
    let report = changed("1.34.4/node-silent-evict-return", |recording| {
        let line = recording.watch.iter_mut().find(|line| is_it(line)).expect("a node falls silent");
        let mut event = line.object.json();
        event.set(&["message"], "Node went away");
        line.object = nodeproof_core::objects::Object::as_received(event);
    });
    let found = paths(&report);
    assert!(found.iter().any(|(object, path)| object.contains("worker") && *path == "message"), "{}", report.text());
    let report = changed("1.34.4/node-silent-evict-return", |recording| {
        let at = recording.watch.iter().position(is_it).expect("a node falls silent");
        recording.watch.remove(at);
    });
    let [difference] = report.differences.as_slice() else { panic!("{}", report.text()) };
    assert!(difference.object.ends_with("/NodeNotReady") && difference.real.is_null(), "{}", report.text());
}

#[test]
fn a_created_object_that_the_server_made_otherwise_is_a_difference() {
    let report = changed("1.34.4/single-node-silent", |recording| {
        let added = |line: &&mut WatchLine| line.kind == "Node" && !line.listed;
        let line = recording.watch.iter_mut().find(added).expect("a node registers");
        let mut node = line.object.json();
        node.remove(&["spec", "taints"]);
        line.object = nodeproof_core::objects::Object::as_received(node);
    });
    let admission: Vec<&str> = report
        .differences
        .iter()
        .filter(|difference| difference.writer == "admission")
        .map(|difference| difference.path.as_str())
        .collect();
    assert_eq!(admission.len(), 1, "{}", report.text());
    assert!(admission[0].starts_with("spec.taints"), "{}", report.text());
}

#[test]
fn other_flags_than_those_of_the_recording_are_noticed() {
    let cases = [
        ("1.34.4/node-silent-evict-return", "node-monitor-grace-period=40s"),
        ("1.34.4/node-silent-evict-return", "node-monitor-grace-period=60s"),
        ("1.34.4/registration-no-status", "node-startup-grace-period=30s"),
        ("1.34.4/zones-all-down", "node-eviction-rate=1"),
        ("1.34.4/large-zone-60", "secondary-node-eviction-rate=0.1"),
        ("1.34.4/large-zone-60", "large-cluster-size-threshold=70"),
        ("1.34.4/zone-3-of-4", "unhealthy-zone-threshold=0.8"),
        ("1.34.4/fast-monitor", "node-monitor-period=5s"),
    ];
    for (name, flag) in cases {
        let report = changed(name, |recording| {
            let flags = recording.about.flags.entry("kube-controller-manager".to_owned()).or_default();
            flags.push(format!("--{flag}"));
        });
        assert!(report.unexplained > 0, "{name} agrees with --{flag}");
    }
}

#[test]
fn a_flag_with_a_value_that_it_cannot_have_is_a_mistake_and_an_unknown_one_is_told() {
    let with = |flag: &str| {
        let mut recording = recording("1.34.4/single-node-silent");
        recording.about.flags.insert("kube-controller-manager".to_owned(), Vec::from([flag.to_owned()]));
        judge(&recording, &Ledger::default())
    };
    assert!(with("--node-monitor-grace-period=soon").unwrap_err().to_string().contains("soon"));
    let report = with("--frobnicate=7").unwrap();
    assert_eq!(report.flags_unknown, ["kube-controller-manager --frobnicate"]);
    assert!(report.text().contains("--frobnicate"));
}

#[test]
fn a_controller_that_did_not_run_is_not_judged() {
    let report = changed("1.34.4/single-node-silent", |recording| {
        recording.writes.retain(|line| !line.user.ends_with(":ttl-controller"));
        let flags = recording.about.flags.entry("kube-controller-manager".to_owned()).or_default();
        flags.push("--controllers=*,-ttl".to_owned());
    });
    assert!(report.passed() && !report.by_writer.contains_key("ttl-controller"), "{}", report.text());
}

#[test]
fn another_release_than_that_of_the_recording_is_noticed() {
    let cases = [
        ("1.34.4/node-silent-evict-return", "1.31.0"),
        ("1.31.0/node-silent-evict-return", "1.34.4"),
        ("1.36.3/zone-1-of-4", "1.31.0"),
    ];
    for (name, release) in cases {
        let dir = recorded_dir().join(name);
        let report = super::replay(&dir, Some(release.parse().expect("a release")), &Ledger::default());
        assert!(report.expect("the fixtures are whole").unexplained > 0, "{name} agrees with {release}");
    }
}

#[test]
fn the_instants_of_passes_are_inferred_where_the_log_does_not_show_them() {
    for name in ["1.34.4/node-silent-evict-return", "1.31.0/zone-1-of-4", "1.36.3/kubelet-posts-not-ready"] {
        let report = changed(name, |recording| recording.about.health_passes_seen.clear());
        assert!(report.passed(), "{}", report.text());
    }
}

#[test]
fn a_recording_that_ends_early_agrees_as_far_as_it_goes() {
    let report = changed("1.34.4/node-silent-evict-return", |recording| {
        let end = 150_000_000;
        recording.writes.retain(|line| line.end <= end);
        recording.watch.retain(|line| line.t <= end);
        recording.actions.retain(|line| line.t <= end);
        recording.about.ended = end;
    });
    assert!(report.passed() && report.judged > 0, "{}", report.text());
}

#[test]
fn without_an_audit_log_what_changed_tells_the_writers_of_nodes() {
    let names = [
        "1.31.0/zone-1-of-4",
        "1.34.4/conditions-to-taints",
        "1.34.4/kubelet-posts-not-ready",
        "1.34.4/node-silent-evict-return",
        "1.36.3/zone-1-of-4",
    ];
    for name in names {
        let with = judge(&recording(name), &Ledger::default()).expect("its flags are good");
        let report = changed(name, |recording| {
            for line in &mut recording.watch {
                if ["node-controller", "ttl-controller"].contains(&line.actor.as_str()) {
                    line.manager.0 = "kube-controller-manager".to_owned();
                }
                line.actor.clear();
            }
            recording.about.writes = WriteSource::Watch;
            recording.writes = watched::writes(&recording.watch);
        });
        assert!(report.passed(), "{}", report.text());
        assert!(!report.by_writer.contains_key("kube-scheduler"), "{name}");
        let of_lifecycle = |report: &ReplayReport| report.by_writer["node-lifecycle-controller"].0;
        // Refused writes have no effect that a watch could show.
        assert!(of_lifecycle(&report) + 1 >= of_lifecycle(&with), "{name}");
    }
}

#[test]
fn when_a_node_was_registered_that_was_there_before_nobody_saw() {
    let report = changed("1.34.4/single-node-silent", |recording| {
        let first = recording.watch.iter_mut().find(|line| line.kind == "Node").expect("a Node");
        first.listed = true;
    });
    let of_lifecycle = |writer: &str| writer == "node-lifecycle-controller";
    assert!(!report.differences.iter().any(|difference| of_lifecycle(difference.writer)), "{}", report.text());
    let before = Unjudged::new("node-lifecycle-controller", BEFORE);
    assert_eq!(report.unjudged_by[&before], 1);
}

/// Returns the differences of one writer.
fn of_writer(report: &ReplayReport, writer: &str) -> Vec<(String, String)> {
    let own = report.differences.iter().filter(|difference| difference.writer == writer);
    own.map(|difference| (difference.object.clone(), difference.path.clone())).collect()
}

#[test]
fn a_status_whose_body_was_not_recorded_is_judged_by_its_instant() {
    let name = "1.34.4/node-silent-evict-return";
    let is_status = |line: &WriteLine| line.uri.ends_with("/deployments/web/status");
    let as_it_is = judge(&recording(name), &Ledger::default()).expect("its flags are good");
    assert!(as_it_is.by_instant > 10 && as_it_is.passed(), "{}", as_it_is.text());
    let report = changed(name, |recording| {
        let last = recording.writes.iter().rev().find(|line| is_status(line)).expect("a node falls silent").t;
        recording.writes.retain(|line| !is_status(line) || line.t < last - 20_000_000);
    });
    let found = of_writer(&report, "deployment-controller");
    assert_eq!(found, [("deployments/default/web/status".to_owned(), "update".to_owned())], "{}", report.text());
    let report = changed(name, |recording| {
        let mut write = recording.writes.iter().find(|line| is_status(line)).expect("it is made").clone();
        (write.t, write.end) = (write.t + 60_000_000, write.end + 60_000_000);
        recording.writes.push(write);
    });
    assert_eq!(of_writer(&report, "deployment-controller").len(), 1, "{}", report.text());
}

#[test]
fn a_replica_set_and_a_slice_are_judged_whole() {
    let report = changed("1.34.4/node-silent-evict-return", |recording| {
        for line in &mut recording.watch {
            let mut object = line.object.json();
            match line.kind.as_str() {
                "ReplicaSet" => object.set(&["metadata", "annotations", "deployment.kubernetes.io/max-replicas"], "9"),
                "EndpointSlice" if !object.get("endpoints").is_empty() => object.set(&["ports"], json!([{"port": 81}])),
                _ => continue,
            }
            line.object = nodeproof_core::objects::Object::as_received(object);
        }
    });
    let sets = of_writer(&report, "deployment-controller");
    let path = "metadata.annotations.deployment.kubernetes.io/max-replicas".to_owned();
    assert!(sets.len() == 1 && sets[0].1 == path, "{}", report.text());
    let slices = of_writer(&report, "endpointslice-controller");
    assert!(slices.iter().any(|(_, path)| path.starts_with("ports")), "{}", report.text());
}

#[test]
fn a_writer_is_not_judged_when_what_it_reads_is_not_known() {
    let report = changed("1.34.4/node-silent-evict-return", |recording| {
        recording.actions.retain(|action| !["create-deployment", "create-service"].contains(&action.action.as_str()));
    });
    assert!(!report.by_writer.contains_key("deployment-controller"), "{}", report.text());
    let why = |writer: &str| report.unjudged_by.keys().find(|by| by.writer == writer).map(|by| by.why);
    assert_eq!(why("deployment-controller"), Some("what it reads is not recorded"));
    assert_eq!(why("endpointslice-controller"), Some("what it reads is not recorded"));
}

#[test]
fn the_numbers_add_up() {
    for name in ["1.34.4/registration", "1.31.0/node-deleted"] {
        let report = judge(&recording(name), &Ledger::default()).expect("its flags are good");
        assert_eq!(report.writes, report.judged + report.unjudged, "{name}");
        assert_eq!(report.json()["unexplained"], report.unexplained, "{name}");
    }
}

#[test]
fn authors_are_told_apart_where_they_share_a_user() {
    let write = |verb: &str, uri: &str, body: Json| WriteLine {
        t: 0,
        end: 0,
        user: "system:serviceaccount:kube-system:node-controller".to_owned(),
        verb: verb.to_owned(),
        uri: uri.to_owned(),
        code: 200,
        resource_version: 0,
        body,
        message: String::new(),
    };
    let cases = [
        ("delete", "/api/v1/namespaces/default/pods/web-1", json!({}), "taint-eviction-controller"),
        ("patch", "/api/v1/namespaces/default/pods/web-1/status", json!({"status": {}}), "taint-eviction-controller"),
        (
            "update",
            "/api/v1/namespaces/default/pods/web-1/status",
            json!({"_": "whole object"}),
            "node-lifecycle-controller",
        ),
        ("patch", "/api/v1/nodes/n1", json!({"spec": {"podCIDR": "10.0.0.0/24"}}), "node-ipam-controller"),
        ("patch", "/api/v1/nodes/n1", json!({"spec": {"taints": null}}), "node-lifecycle-controller"),
    ];
    for (verb, uri, body, expected) in cases {
        let line = write(verb, uri, body);
        let author = writers::author_of_write(&line, writers::WriteTarget::parse(uri).as_ref());
        let name = match &author {
            writers::Author::Judged(writer) => writer.name(),
            writers::Author::Other(name) => name,
        };
        assert_eq!(name, expected, "{verb} {uri}");
    }
}

#[test]
fn each_controller_of_the_registry_has_a_writer() {
    let line = |user: &str, verb: &str, uri: &str, body: Json| WriteLine {
        t: 0,
        end: 0,
        user: user.to_owned(),
        verb: verb.to_owned(),
        uri: uri.to_owned(),
        code: 200,
        resource_version: 0,
        body,
        message: String::new(),
    };
    // Each of these users makes each of these writes; for every row the writer must be known.
    let writes = [
        ("delete", "/api/v1/namespaces/default/pods/web-1", json!({})),
        ("patch", "/api/v1/nodes/n1", json!({"spec": {"podCIDR": "10.0.0.0/24"}})),
        ("update", "/api/v1/nodes/n1/status", json!({"_": "whole object"})),
    ];
    for row in ROWS.iter().filter(|row| !matches!(row.duty, Duty::Unrecorded | Duty::Driver)) {
        let author = |(verb, uri, body): &(&str, &str, Json)| {
            let line = line(&format!("system:{}", row.user), verb, uri, body.clone());
            writers::author_of_write(&line, writers::WriteTarget::parse(uri).as_ref())
        };
        let is_own = |author: writers::Author| matches!(author, writers::Author::Judged(own) if own.name() == row.name);
        assert!(writes.iter().map(author).any(is_own), "no write is told to be that of {}", row.name);
        let event = json!({"source": {"component": row.event_source}});
        assert!(row.event_source.is_empty() || writers::author_of_event(&event).is_some_and(is_own), "{}", row.name);
    }
    for writer in [
        Writer::DEPLOYMENT,
        Writer::ENDPOINT_SLICE,
        Writer::GARBAGE_COLLECTOR,
        Writer::NAMESPACE,
        Writer::NODE_IPAM,
        Writer::NODE_LIFECYCLE,
        Writer::POD_GC,
        Writer::SCHEDULER,
        Writer::TAINT_EVICTION,
        Writer::TTL,
    ] {
        assert!(processes().any(|name| name == writer.name()), "{} is not in the registry", writer.name());
    }
}

/// Adds a Namespace that is deleted at an instant to a recording.
fn end_namespace(recording: &mut Recording, t: Micros) {
    let line = |t: Micros, listed: bool, event: WatchType, namespace: Json| WatchLine {
        t,
        listed,
        event,
        kind: "Namespace".to_owned(),
        object: Object::as_received(namespace),
        actor: String::new(),
        verb: String::new(),
        subresource: String::new(),
        manager: (String::new(), String::new()),
    };
    let mut namespace = json!({"kind": "Namespace", "apiVersion": "v1",
        "metadata": {"name": "gone", "uid": "u", "resourceVersion": "1"},
        "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}});
    recording.watch.insert(0, line(-1_000_000, true, WatchType::Added, namespace.clone()));
    namespace.set(&["metadata", "deletionTimestamp"], time::to_time(recording.at(t)));
    namespace.set(&["metadata", "resourceVersion"], "2");
    namespace.set(&["status", "phase"], "Terminating");
    let at = recording.watch.iter().position(|other| other.t > t).unwrap_or(recording.watch.len());
    recording.watch.insert(at, line(t, false, WatchType::Modified, namespace));
}

#[test]
fn the_end_of_a_namespace_is_judged_where_namespaces_are_watched() {
    let ends = 30_000_000;
    // The controller starts five seconds later, with requests that delete collections.
    let write = |verb: &str, uri: String, body: Json| WriteLine {
        t: ends + 5_002_000,
        end: ends + 5_003_000,
        user: "system:serviceaccount:kube-system:namespace-controller".to_owned(),
        verb: verb.to_owned(),
        uri,
        code: 200,
        resource_version: 0,
        body,
        message: String::new(),
    };
    let deletions = || {
        let options = json!({"kind": "DeleteOptions", "apiVersion": "meta/v1", "propagationPolicy": "Background"});
        collections().map(move |kind| write("deletecollection", kind.path("gone"), options.clone()))
    };
    let ends_with = |namespace: &str| format!("/api/v1/namespaces/gone/{namespace}");
    let all = |recording: &mut Recording| {
        end_namespace(recording, ends);
        recording.writes.extend(deletions());
        let whole = || json!({"_": "whole object"});
        recording.writes.extend(["status", "finalize"].map(|part| write("update", ends_with(part), whole())));
    };
    let name = "1.34.4/registration";
    let report = changed(name, all);
    assert_eq!(of_writer(&report, "namespace-controller"), [], "{}", report.text());
    assert_eq!(report.by_writer["namespace-controller"], (deletions().count() + 2, deletions().count() + 2));
    let report = changed(name, |recording| {
        all(recording);
        recording.writes.retain(|line| !line.uri.ends_with("namespaces/gone/pods"));
    });
    let missed = [("pods/gone".to_owned(), "deletecollection".to_owned())];
    assert_eq!(of_writer(&report, "namespace-controller"), missed, "{}", report.text());
}
