//! A replay notices each way in which a recording can differ from the model: shown on recordings changed in memory.

use nodeproof_core::json;
use nodeproof_core::objects::Json;

use super::ledger::Ledger;
use super::load::{Recording, WriteLine};
use super::trials::recorded_dir;
use super::{Report, judge, writers};

fn recording(name: &str) -> Recording {
    Recording::load(&recorded_dir().join(name), None).expect("the fixtures are whole")
}

/// Replays a recording after a change of its ttl-controller's first write.
fn after(change: impl Fn(&mut Vec<WriteLine>, usize)) -> Report {
    let mut recording = recording("1.34.4/single-node-silent");
    let at = recording.writes.iter().position(|line| line.user.ends_with(":ttl-controller")).expect("it writes");
    change(&mut recording.writes, at);
    let mut report = judge(&recording, &Ledger::default());
    report.differences.retain(|difference| difference.writer == "ttl-controller");
    report
}

fn only(report: &Report) -> (String, Json, Json) {
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

#[test]
fn the_numbers_add_up() {
    for name in ["1.34.4/registration", "1.31.0/node-deleted"] {
        let report = judge(&recording(name), &Ledger::default());
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
        let author = writers::author_of_write(&line, writers::Place::parse(uri).as_ref());
        let name = match &author {
            writers::Author::Judged(writer) => writer.name(),
            writers::Author::Other(name) => name,
        };
        assert_eq!(name, expected, "{verb} {uri}");
    }
}
