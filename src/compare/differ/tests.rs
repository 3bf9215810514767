//! Differences of outcomes that are made by hand.

use jiff::Timestamp;
use nodeproof_core::json;
use nodeproof_core::scenario::{HistoryEntry, ObjectRef, Position, Snapshot, Verdict};

use super::*;

const MANAGER: &str = "kube-controller-manager";

/// An instant in seconds, a writer, and what it changed.
type SampleWrite<'a> = (f64, &'a str, &'a [(&'a str, &'a str)]);

fn outcome(entries: &[SampleWrite<'_>]) -> Outcome {
    outcome_after(&[], entries)
}

/// Returns an outcome that also has writes before the first act.
fn outcome_after(earlier: &[SampleWrite<'_>], entries: &[SampleWrite<'_>]) -> Outcome {
    let zero = Timestamp::UNIX_EPOCH;
    let entry = |(at, by, changed): &SampleWrite<'_>| HistoryEntry {
        at: zero + SignedDuration::from_secs_f64(*at),
        zero,
        resource_version: 1,
        by: (*by).to_owned(),
        changed: changed.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect(),
        because: None,
    };
    let told = |entries: &[SampleWrite<'_>]| entries.iter().map(entry).collect();
    let history = History { object: ObjectRef::node("w1"), entries: told(entries), earlier: told(earlier) };
    Outcome {
        verdict: Verdict::Passed,
        steps: Vec::new(),
        mismatch: None,
        histories: vec![history].into(),
        snapshots: Vec::new(),
        decisions: Vec::new(),
        trace: Vec::new(),
        start: zero,
        zeros: vec![zero],
        duration: SignedDuration::from_secs(600),
        tolerance: String::new(),
        is_too_slow: false,
    }
}

#[track_caller]
fn check(sim: &Outcome, real: &Outcome, expected: &[(&str, DifferenceKind)]) {
    let found = differences(sim, real, &Tolerances::default());
    let shown: Vec<_> = found.iter().map(|it| (it.path.as_str(), it.kind)).collect();
    assert_eq!(shown, expected, "{found:#?}");
}

const READY: &str = "status.conditions[Ready].status";

#[test]
fn the_same_at_another_phase_is_no_difference() {
    let lost = |at, since: &'static str| {
        outcome(&[(
            at,
            "kube-controller-manager/status",
            &[(READY, "True -> Unknown"), ("x.lastTransitionTime", since)],
        )])
    };
    check(&lost(51.0, "-12s -> +51s"), &lost(54.3, "-9s -> +54s"), &[]);
    check(
        &lost(51.0, "-12s -> +51s"),
        &lost(72.0, "-12s -> +72s"),
        &[(READY, DifferenceKind::Time), ("x.lastTransitionTime", DifferenceKind::Value)],
    );
}

#[test]
fn what_was_before_the_first_act_may_be_longer_ago() {
    let path = "spec.taints[k:NoExecute …]";
    let removed = |since: &'static str| outcome(&[(5.0, "kubectl", &[("spec.taints", since)])]);
    check(&removed("- k:NoExecute -0.4s"), &removed("- k:NoExecute -3.7s"), &[]);
    check(&removed("- k:NoExecute -0.4s"), &removed("- k:NoExecute -30s"), &[(path, DifferenceKind::Value)]);
    check(&removed("- k:NoExecute +0.4s"), &removed("- k:NoExecute +3.7s"), &[(path, DifferenceKind::Value)]);
}

#[test]
fn how_long_ago_something_was_is_compared_as_an_instant() {
    let said = |ago: &str| format!("a -> PLEG is not healthy: pleg was last seen active {ago} ago; threshold is 3m0s");
    let (one, near, far) = (said("3m4.8s"), said("3m4.673945239s"), said("4m4.8s"));
    let path = "status.conditions[Ready].message";
    let outcome = |text: &str| outcome(&[(190.0, "kubelet/status", &[(path, text)])]);
    check(&outcome(&one), &outcome(&near), &[]);
    check(&outcome(&one), &outcome(&far), &[(path, DifferenceKind::Value)]);
}

#[test]
fn the_uid_in_a_message_is_that_of_a_run() {
    let path = "status.containerStatuses[main].state.waiting.message";
    let outcome = |pause: &str, uid: &str| {
        let text = format!("+ back-off {pause} restarting failed container=main pod=web_default({uid})");
        outcome(&[(9.0, "kubelet/status", &[(path, &text)])])
    };
    let sim = outcome("10s", "3ffd5bc5-4137-4321-bf37-27b538e78e63");
    check(&sim, &outcome("10s", "fe9f4a3a-74ee-4cd8-b0d3-0119663c9893"), &[]);
    let path = |pause| format!("{path}[back-off {pause} restarting failed container=main pod=web_default([uid])]");
    let (ten, twenty) = (path("10s"), path("20s"));
    let both = [(ten.as_str(), DifferenceKind::OnlySim), (twenty.as_str(), DifferenceKind::OnlyReal)];
    check(&sim, &outcome("20s", "fe9f4a3a-74ee-4cd8-b0d3-0119663c9893"), &both);
}

#[test]
fn one_write_of_two_taints_is_as_good_as_two() {
    let both = "+ a:NoSchedule, + b:NoExecute";
    let one = outcome(&[(50.0, MANAGER, &[("spec.taints", both)])]);
    let two = outcome(&[
        (50.1, MANAGER, &[("spec.taints", "+ b:NoExecute")]),
        (50.2, MANAGER, &[("spec.taints", "+ a:NoSchedule")]),
    ]);
    check(&one, &two, &[]);
}

#[test]
fn what_one_side_alone_has_is_told_with_its_writer() {
    let sim = outcome(&[(1.0, "kubelet/status", &[(READY, "False -> True")])]);
    let real = outcome(&[
        (1.0, "kubelet/status", &[(READY, "False -> True")]),
        (9.0, "kubelet/status", &[(READY, "True -> False")]),
        (9.5, MANAGER, &[("spec.taints", "+ c:NoSchedule")]),
    ]);
    check(&sim, &real, &[("spec.taints[c:NoSchedule]", DifferenceKind::OnlyReal), (READY, DifferenceKind::OnlyReal)]);
    check(&real, &sim, &[("spec.taints[c:NoSchedule]", DifferenceKind::OnlySim), (READY, DifferenceKind::OnlySim)]);
    let other = outcome(&[(1.0, MANAGER, &[(READY, "False -> True")])]);
    check(&sim, &other, &[(READY, DifferenceKind::Writer)]);
    check(&sim, &outcome(&[(1.0, "", &[(READY, "False -> True")])]), &[]);
}

#[test]
fn snapshots_are_compared_by_the_keys_of_their_lists() {
    let with = |value: Json| {
        let mut outcome = outcome(&[]);
        let (name, kind) = (Text::from("w1"), SnapshotKind::Object);
        outcome.snapshots.push(Snapshot { step: Position::default(), kind, name, value });
        outcome
    };
    let one =
        json!({"spec": {"taints": [{"key": "a", "effect": "E", "timeAdded": "+5s"}, {"key": "b", "effect": "E"}]}});
    let same = json!({"spec": {"taints": [{"key": "b", "effect": "E"}, {"key": "a", "effect": "E",
        "timeAdded": "+7.5s"}]}});
    check(&with(one.clone()), &with(same), &[]);
    let posted = |at: &str| with(json!({"status": {"conditions": [{"type": "Ready", "lastHeartbeatTime": at}]}}));
    check(&posted("+479.6s"), &posted("+571.747s"), &[]);
    check(
        &posted("+79.6s"),
        &posted("+571.747s"),
        &[("status.conditions[Ready].lastHeartbeatTime", DifferenceKind::Value)],
    );
    check(
        &with(one),
        &with(json!({"spec": {"taints": [{"key": "b", "effect": "E", "value": "v"}]}})),
        &[("spec.taints[a:E]", DifferenceKind::OnlySim), ("spec.taints[b:E].value", DifferenceKind::OnlyReal)],
    );
}

/// Acts that begin at 0 s and 60 s; the second one ends at 30 s.
fn two_acts(entries: &[(f64, f64, &str)]) -> Outcome {
    let mut outcome = outcome(&[]);
    let second = outcome.start + SignedDuration::from_secs(60);
    outcome.zeros.push(second);
    outcome.duration = SignedDuration::from_secs(90);
    let entry = |(zero, at, text): &(f64, f64, &str)| {
        let zero = Timestamp::UNIX_EPOCH + SignedDuration::from_secs_f64(*zero);
        HistoryEntry {
            at: zero + SignedDuration::from_secs_f64(*at),
            zero,
            resource_version: 1,
            by: "kubelet/status".to_owned(),
            changed: vec![(READY.to_owned(), (*text).to_owned())],
            because: None,
        }
    };
    let mut histories = outcome.histories.to_vec();
    histories[0].entries = entries.iter().map(entry).collect();
    outcome.histories = histories.into();
    outcome
}

#[test]
fn a_write_at_the_end_of_an_act_may_come_in_the_next_or_after_the_end() {
    let early = two_acts(&[(0.0, 58.0, "+48s -> +58s")]);
    check(&early, &two_acts(&[(60.0, 1.0, "-9s -> +1s")]), &[]);
    check(&early, &two_acts(&[(60.0, 15.0, "+5s -> +15s")]), &[(READY, DifferenceKind::Value)]);
    let last = |at| two_acts(&[(60.0, at, "True -> False")]);
    check(&last(20.0), &two_acts(&[]), &[]);
    check(&two_acts(&[]), &last(29.0), &[]);
    check(&last(10.0), &two_acts(&[]), &[(READY, DifferenceKind::OnlySim)]);
    check(&early, &two_acts(&[]), &[(READY, DifferenceKind::OnlySim)]);
}

#[test]
fn two_writes_of_the_simulator_may_be_one_on_a_real_cluster_and_not_the_other_way_round() {
    const PHASE: &str = "status.phase";
    let status = "kubelet/status";
    let two = outcome(&[
        (0.0, status, &[("status.conditions", "+ Ready=False (ContainersNotReady)")]),
        (
            1.0,
            status,
            &[
                (READY, "False -> True"),
                ("status.conditions[Ready].reason", "- ContainersNotReady"),
                (PHASE, "Pending -> Running"),
            ],
        ),
    ]);
    let one = outcome(&[(1.1, status, &[("status.conditions", "+ Ready=True"), (PHASE, "Pending -> Running")])]);
    check(&two, &one, &[]);
    let found = differences(&one, &two, &Tolerances::default());
    assert!(found.iter().any(|it| it.path == READY && it.kind == DifferenceKind::OnlyReal), "{found:#?}");
}

#[test]
fn what_only_chance_shows_in_one_run_is_no_difference() {
    const TAINTS: &str = "spec.taints";
    let taint = |came, went| {
        outcome(&[
            (came, MANAGER, &[(TAINTS, "+ node.kubernetes.io/not-ready:NoExecute")]),
            (went, MANAGER, &[(TAINTS, "- node.kubernetes.io/not-ready:NoExecute")]),
        ])
    };
    let path = "spec.taints[node.kubernetes.io/not-ready:NoExecute]";
    check(&outcome(&[]), &taint(0.2, 5.2), &[]);
    check(&taint(0.2, 5.2), &outcome(&[]), &[]);
    check(&outcome(&[]), &taint(0.2, 9.2), &[(path, DifferenceKind::OnlyReal), (path, DifferenceKind::OnlyReal)]);
    let early = outcome(&[(-0.9, "kubelet", &[("object", "created")]), (3.0, MANAGER, &[("object", "deleted")])]);
    check(&early, &outcome(&[(3.0, MANAGER, &[("object", "deleted")])]), &[]);
    check(&early, &outcome(&[]), &[("object", DifferenceKind::OnlySim)]);
    check(
        &taint(4.6, 54.6),
        &outcome(&[(50.5, MANAGER, &[(TAINTS, "- node.kubernetes.io/not-ready:NoExecute")])]),
        &[],
    );
    let (comes, goes) = ("+ node.kubernetes.io/not-ready:NoExecute", "- node.kubernetes.io/not-ready:NoExecute");
    let (came, gone) = ([(TAINTS, comes)], [(TAINTS, goes)]);
    let comes_at = |at| outcome(&[(at, MANAGER, &came)]);
    let came_at = |at| outcome_after(&[(at, MANAGER, &came)], &[]);
    check(&comes_at(4.0), &came_at(-0.9), &[]);
    check(&comes_at(4.0), &came_at(-20.0), &[(path, DifferenceKind::OnlySim)]);
    check(&outcome(&[]), &outcome_after(&[(-1.9, MANAGER, &came)], &[(3.0, MANAGER, &gone)]), &[]);
    check(
        &outcome(&[]),
        &outcome_after(&[(-3.9, MANAGER, &came)], &[(3.0, MANAGER, &gone)]),
        &[(path, DifferenceKind::OnlyReal)],
    );
    let pod =
        |deleted: &[SampleWrite<'_>]| outcome(&[&[(-0.1, "kubectl", &[("object", "created")][..])], deleted].concat());
    check(&pod(&[]), &pod(&[(602.0, "kubelet", &[("object", "deleted")])]), &[]);
    let transition = |text: &'static str| outcome(&[(0.4, "kubelet/status", &[("lastTransitionTime", text)])]);
    check(&outcome(&[]), &transition("-0.606s -> +0.393s"), &[]);
    check(&outcome(&[]), &transition("-3.7s -> +0.393s"), &[("lastTransitionTime", DifferenceKind::OnlyReal)]);
    check(&transition("-0.606s -> +0.393s"), &transition("-3.7s -> +0.393s"), &[]);
    let next = (9.0, "kubelet/status", &[("lastTransitionTime", "+8s -> +9s")][..]);
    let transitions = |text: &'static str| outcome(&[(0.4, "kubelet/status", &[("lastTransitionTime", text)]), next]);
    check(&transitions("-0.606s -> +0.393s"), &transitions("-3.7s -> +0.393s"), &[]);
}

#[test]
fn what_a_user_takes_back_is_no_chance() {
    const FIELD: &str = "spec.unschedulable";
    let (cordon, uncordon) = ([(FIELD, "+ true")], [(FIELD, "- true")]);
    let both = outcome(&[(0.0, "kubectl", &cordon), (1.0, "kubectl", &uncordon)]);
    let path = "spec.unschedulable[true]";
    check(&outcome(&[]), &both, &[(path, DifferenceKind::OnlyReal), (path, DifferenceKind::OnlyReal)]);
    let back = outcome_after(&[(-0.5, "kubectl", &cordon)], &[(0.0, "kubectl", &uncordon)]);
    check(&outcome(&[]), &back, &[(path, DifferenceKind::OnlyReal)]);
}

#[test]
fn another_verdict_is_a_difference() {
    let mut failed = outcome(&[]);
    failed.verdict = Verdict::Failed;
    check(&outcome(&[]), &failed, &[("verdict", DifferenceKind::Verdict)]);
}
