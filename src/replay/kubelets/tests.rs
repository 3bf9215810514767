//! Tests that a replay of kubelets notices every kind of difference, on recordings that are changed in memory.

use nodeproof_core::objects::{Json, Object};

use super::files::KubeletRecording;
use super::judge;
use crate::replay::Ledger;
use crate::replay::report::ReplayReport;
use crate::replay::trials::recorded_dir;

/// Replays a recording after a change of it.
fn changed(name: &str, change: impl Fn(&mut KubeletRecording)) -> ReplayReport {
    let mut recording = KubeletRecording::load(&recorded_dir().join(name), None).expect("the fixtures are whole");
    change(&mut recording);
    judge(&recording, &Ledger::default())
}

fn places(report: &ReplayReport) -> Vec<(&str, &str)> {
    report.differences.iter().map(|difference| (difference.object.as_str(), difference.path.as_str())).collect()
}

/// Finds the first request of a verb about a resource.
fn find(recording: &KubeletRecording, verb: &str, plural: &str) -> usize {
    let is_it = |line: &super::files::RequestLine| {
        line.verb.name() == verb && *line.place.resource.plural == *plural && line.code < 300
    };
    recording.requests.iter().position(is_it).expect("it was written")
}

#[test]
fn a_write_that_was_not_recorded_is_a_difference_and_so_is_one_that_was_not_made() {
    let report = changed("kubelet-1.34.4/rest-16min", |recording| {
        let at = find(recording, "patch", "nodes");
        recording.requests.remove(at);
        recording.requests.retain(|line| line.verb.name() != "get");
    });
    assert!(report.unexplained > 0, "{}", report.text());
    let report = changed("kubelet-1.34.4/rest-16min", |recording| {
        let at = find(recording, "patch", "nodes");
        let mut again = recording.requests[at].clone();
        (again.t, again.end) = (again.t + 60_000_000, again.end + 60_000_000);
        recording.requests.push(again);
        recording.requests.sort_by_key(|line| line.t);
    });
    assert!(report.unexplained > 0, "{}", report.text());
}

#[test]
fn another_value_or_another_instant_is_a_difference_of_its_field() {
    let report = changed("kubelet-1.34.4/registration-fresh", |recording| {
        let at = find(recording, "create", "nodes");
        recording.requests[at].body.set(&["status", "capacity", "pods"], "111");
    });
    assert_eq!(places(&report), [("nodes", "status.capacity.pods")]);
    let report = changed("kubelet-1.34.4/kubelet-sigterm", |recording| {
        let at = recording.requests.iter().rposition(|line| line.verb.name() == "update").expect("it renews");
        (recording.requests[at].t, recording.requests[at].end) =
            (recording.requests[at].t + 4_000_000, recording.requests[at].end + 4_000_000);
        recording.requests[at].body = Json::object();
    });
    assert!(report.unexplained > 0, "{}", report.text());
}

#[test]
fn an_event_that_says_something_else_is_a_difference() {
    let report = changed("kubelet-1.34.4/registration-fresh", |recording| {
        let is_it = |line: &&mut super::files::WatchedLine| {
            line.kind == "Event" && line.object.stable().get("reason").as_str() == Some("NodeReady")
        };
        let line = recording.watch.iter_mut().find(is_it).expect("it becomes ready");
        let mut event = line.object.json();
        event.set(&["message"], "Node fresh-1 is fine");
        line.object = Object::as_received(event);
    });
    let found = places(&report);
    assert_eq!(found.len(), 2, "{}", report.text());
    assert!(found.iter().all(|(object, _)| object.ends_with("/NodeReady")), "{}", report.text());
}

#[test]
fn another_release_or_another_machine_is_noticed() {
    let dir = recorded_dir().join("kubelet-1.34.4/registration-fresh");
    let release = "1.31".parse().expect("a release");
    let report = super::replay(&dir, Some(release), &Ledger::default()).expect("the fixtures are whole");
    // The kubelet has a release of its own; what it writes is that of 1.34.
    assert!(report.passed(), "{}", report.text());
    let report = changed("kubelet-1.34.4/registration-fresh", |recording| {
        recording.machines[0].body.set(&["kubelet", "version"], "1.31.0");
        recording.machines[0].body.set(&["osImage"], "Another system");
        for verb in &mut recording.verbs {
            verb.line.remove(&["body"]);
        }
    });
    assert!(report.unexplained > 0, "{}", report.text());
}

#[test]
fn a_kubelet_that_was_not_stopped_is_noticed() {
    let report = changed("kubelet-1.34.4/kubelet-sigterm", |recording| recording.verbs.clear());
    assert!(report.unexplained > 3, "{}", report.text());
}

#[test]
fn what_a_process_says_long_after_the_end_of_the_models_is_a_difference() {
    // One of the refused settings is told of after the Node was registered, 8 ms after the model's process has ended.
    let is_late = |line: &super::files::WatchedLine| {
        let reason = line.object.json().get("reason").clone();
        reason.as_str() == Some("NodeHasSufficientMemory") && (81_275_000..81_375_000).contains(&line.t)
    };
    let report = changed("kubelet-1.34.4/allocatable", |recording| {
        assert_eq!(recording.watch.iter().filter(|line| is_late(line)).count(), 1);
        recording.watch.iter_mut().filter(|line| is_late(line)).for_each(|line| line.t += 300_000);
    });
    let found = places(&report);
    assert!(!found.is_empty());
    assert!(found.iter().all(|(object, _)| *object == "events/Node/alloc-1/NodeHasSufficientMemory"), "{found:?}");
}
