//! The lanes of a picture, read from the histories of the observed objects and from decisions.
//!
//! A history tells each changed field as `old -> new`, `+ new` or `- old`; states are what stands between two changes.

use std::collections::BTreeMap;

use jiff::Timestamp;
use nodeproof_core::components::RecordedDecision;
use nodeproof_core::profile::Settings;
use nodeproof_core::scenario::{History, HistoryEntry, Outcome};

use super::timeline::{Lane, LaneRow, Mark, MarkKind, Span, Tone};

/// The changes of each row: when, and the state before and after.
type Changes = BTreeMap<String, Vec<(f64, String, String)>>;

/// How many marks a lane shows at most.
const MARKS_MAX: usize = 80;
/// How many lanes Nodes that no line looks at have at most, and how many such Pods.
const UNSEEN_MAX: usize = 16;
/// At how many places a row shows renewals of a Lease at most.
const RENEWALS_MAX: f64 = 800.0;

/// Makes the lanes.
pub(super) fn of(
    outcome: &Outcome,
    decisions: &[&RecordedDecision],
    settings: &Settings,
    (zero, end): (Timestamp, f64),
) -> Vec<Lane> {
    let mut lanes: Vec<Lane> = zones(decisions, zero, end).into_iter().collect();
    let mut histories = outcome.histories.to_vec();
    // Nodes that no line is about, and to which nothing happened, are left out.
    let others = outcome.histories.of_other_nodes().into_iter();
    histories.extend(others.filter(|history| !history.entries.is_empty()));
    let rank = |history: &History| match history.object.kind.as_str() {
        "Node" => 0,
        "Pod" => 1,
        _ => 2,
    };
    histories.sort_by_key(rank);
    for history in &histories {
        let mut lane = lane(history, zero, end);
        let name = &history.object.key.name;
        let about = format!("{}/{}", history.object.kind.to_lowercase(), history.object.key);
        let own = decisions.iter().filter(|decision| *decision.decision.about == about);
        lane.marks.extend(own.map(|decision| Mark {
            at: decision.at.duration_since(zero).as_secs_f64(),
            text: told(decision),
            kind: MarkKind::Decision,
        }));
        lane.marks.sort_by(|one, other| one.at.total_cmp(&other.at));
        lane.marks.truncate(MARKS_MAX);
        if history.object.kind == "Node" {
            let renewals = outcome.histories.renewals(name).into_iter();
            let renewals = renewals.map(|at| at.duration_since(zero).as_secs_f64()).collect();
            let grace = settings.duration("node-monitor-grace-period").as_secs_f64();
            lane.rows.extend(queue_row(decisions, name, zero, end));
            lane.rows.extend(age_row(renewals, grace, end));
        }
        if !lane.rows.is_empty() || !lane.marks.is_empty() {
            lanes.push(lane);
        }
    }
    let at = usize::from(lanes.first().is_some_and(|lane| lane.name == "Zones"));
    let unseen = unseen_nodes(decisions, &histories, zero, end);
    lanes.splice(at..at, unseen);
    lanes.extend(unseen_pods(decisions, &histories, zero));
    lanes
}

/// Makes the row that shows how old the Lease of a Node is. Of renewals that would be drawn at one place the first and
/// the last are kept.
fn age_row(renewals: Vec<f64>, grace: f64, end: f64) -> Option<LaneRow> {
    let step = (end - renewals.first()?) / RENEWALS_MAX;
    let mut kept: Vec<f64> = Vec::new();
    for (at, next) in renewals.iter().zip(renewals.iter().skip(1).chain([&end])) {
        if kept.last().is_none_or(|last| at - last >= step) || next - at >= step {
            kept.push(*at);
        }
    }
    Some(LaneRow { name: "age of the Lease".to_owned(), spans: Vec::new(), renewals: Some((kept, grace)) })
}

/// Makes the row that shows for how long a Node waits in the queue of its zone until a token lets it be tainted.
fn queue_row(decisions: &[&RecordedDecision], node: &str, zero: Timestamp, end: f64) -> Option<LaneRow> {
    let about = format!("node/{node}");
    let own = decisions.iter().filter(|own| own.decision.about == about && own.component == LIFECYCLE);
    let mut changes: Vec<(f64, &str, &str)> = Vec::new();
    for decision in own {
        let (what, at) = (decision.decision.what.as_str(), decision.at.duration_since(zero).as_secs_f64());
        let is_waiting = changes.last().is_some_and(|(.., state)| !state.is_empty());
        if what.starts_with("queued for taint") && !is_waiting {
            changes.push((at, "", "queued"));
        } else if is_waiting
            && !what.starts_with("queued")
            && (what.contains(":NoExecute") || what.starts_with("Ready"))
        {
            changes.push((at, "queued", ""));
        }
    }
    let spans = spans(changes, end, |_| Tone::Plain);
    (!spans.is_empty()).then(|| LaneRow { name: "waits for its turn".to_owned(), spans, renewals: None })
}

/// Makes the rows that show when each zone let a Node be tainted: the tokens of its queue.
fn turns(decisions: &[&RecordedDecision], zero: Timestamp) -> Vec<LaneRow> {
    let mut rows: BTreeMap<String, Vec<Span>> = BTreeMap::new();
    for decision in decisions.iter().filter(|own| own.component == LIFECYCLE) {
        let reasons = decision.reasons().to_string();
        let Some((before, _)) = reasons.split_once(", and it is this node's turn") else { continue };
        let Some((_, zone)) = before.rsplit_once("zone ") else { continue };
        let (zone, rate) = zone.split_once(" lets ").unwrap_or((zone, ""));
        let node = decision.decision.about.strip_prefix("node/").unwrap_or_default();
        let at = decision.at.duration_since(zero).as_secs_f64();
        let text = format!("{node} ({})", rate.trim_end_matches(" go"));
        let spans = rows.entry(turns_of(zone)).or_default();
        if spans.len() < MARKS_MAX {
            spans.push(Span { from: at, to: at, text, tone: Tone::Bad });
        }
    }
    rows.into_iter().map(|(name, spans)| LaneRow { name, spans, renewals: None }).collect()
}

fn turns_of(zone: &str) -> String {
    if zone == "without a name" { "turns".to_owned() } else { format!("turns in {zone}") }
}

/// The component that taints Nodes.
const LIFECYCLE: &str = "node-lifecycle-controller";

/// Makes the lanes of Pods that no line of the scenario looks at: what was decided about them.
fn unseen_pods(decisions: &[&RecordedDecision], seen: &[History], zero: Timestamp) -> Vec<Lane> {
    let mut lanes: BTreeMap<&str, Vec<Mark>> = BTreeMap::new();
    for decision in decisions {
        let Some(pod) = decision.decision.about.strip_prefix("pod/") else { continue };
        let is_seen = |history: &History| history.object.kind == "Pod" && history.object.key.to_string() == pod;
        if seen.iter().any(is_seen) || !lanes.contains_key(pod) && lanes.len() == UNSEEN_MAX {
            continue;
        }
        let at = decision.at.duration_since(zero).as_secs_f64();
        lanes.entry(pod).or_default().push(Mark { at, text: told(decision), kind: MarkKind::Decision });
    }
    let lane = |(pod, mut marks): (&str, Vec<Mark>)| {
        marks.truncate(MARKS_MAX);
        let name = pod.rsplit_once('/').map_or(pod, |(_, name)| name);
        Lane { name: format!("Pod {name}"), rows: Vec::new(), marks }
    };
    lanes.into_iter().map(lane).collect()
}

/// Makes the lanes of Nodes that no line of the scenario looks at, from what the node lifecycle controller decided.
fn unseen_nodes(decisions: &[&RecordedDecision], seen: &[History], zero: Timestamp, end: f64) -> Vec<Lane> {
    let mut lanes: BTreeMap<&str, (Changes, Vec<Mark>)> = BTreeMap::new();
    for decision in decisions.iter().filter(|decision| decision.component == LIFECYCLE) {
        let Some(node) = decision.decision.about.strip_prefix("node/") else { continue };
        if seen.iter().any(|history| history.object.kind == "Node" && history.object.key.name == *node) {
            continue;
        }
        let at = decision.at.duration_since(zero).as_secs_f64();
        let (rows, marks) = lanes.entry(node).or_default();
        let what = &decision.decision.what;
        let found = match what.strip_prefix("Ready -> ") {
            Some(status) => vec![("Ready".to_owned(), String::new(), status.to_owned())],
            None => {
                let signed = |word: &str| word.starts_with(['+', '-']);
                let words =
                    what.split(' ').filter(|word| signed(word)).map(|word| format!("{} {}", &word[..1], &word[1..]));
                let mut found: Vec<_> = words.flat_map(|word| changes("spec.taints", &word)).collect();
                // The taint of a silent Node goes when its kubelet has reported again: what it said is not known here.
                if found.iter().any(|(row, _, new)| row == "taint unreachable:NoSchedule" && new.is_empty()) {
                    found.push(("Ready".to_owned(), "Unknown".to_owned(), String::new()));
                }
                found
            }
        };
        for (row, old, new) in found {
            rows.entry(row).or_default().push((at, old, new));
        }
        marks.push(Mark { at, text: told(decision), kind: MarkKind::Decision });
    }
    let lane = |(node, (rows, mut marks)): (&str, (Changes, Vec<Mark>))| {
        marks.truncate(MARKS_MAX);
        let mut rows = rows_of("Node", rows, &[], end);
        rows.extend(queue_row(decisions, node, zero, end));
        Lane { name: format!("Node {node}"), rows, marks }
    };
    lanes.into_iter().take(UNSEEN_MAX).map(lane).collect()
}

fn told(decision: &RecordedDecision) -> String {
    format!("{}: {}: {}", decision.component, decision.decision.what, decision.reasons())
}

/// Makes the lane of the zones: the state of each.
fn zones(decisions: &[&RecordedDecision], zero: Timestamp, end: f64) -> Option<Lane> {
    let mut rows: BTreeMap<String, Vec<(f64, String)>> = BTreeMap::new();
    let mut marks = Vec::new();
    for decision in decisions {
        let about = &decision.decision.about;
        let at = decision.at.duration_since(zero).as_secs_f64();
        if let Some(zone) = about.strip_prefix("zone/") {
            rows.entry(format!("zone {zone}")).or_default().push((at, decision.decision.what.clone()));
        } else if about != "zones" {
            continue;
        }
        marks.push(Mark { at, text: told(decision), kind: MarkKind::Decision });
    }
    let row = |(name, changes): (String, Vec<(f64, String)>)| {
        let states = changes.iter().filter_map(|(at, what)| what.split_once(" -> ").map(|(old, new)| (*at, old, new)));
        LaneRow {
            name,
            spans: spans(states.collect(), end, |state| if state == "Normal" { Tone::Good } else { Tone::Bad }),
            renewals: None,
        }
    };
    let mut rows: Vec<LaneRow> = rows.into_iter().map(row).collect();
    rows.extend(turns(decisions, zero));
    (!marks.is_empty() || !rows.is_empty()).then(|| Lane { name: "Zones".to_owned(), rows, marks })
}

fn lane(history: &History, zero: Timestamp, end: f64) -> Lane {
    let kind = &history.object.kind;
    let mut states: Changes = BTreeMap::new();
    let (mut marks, mut ends) = (Vec::new(), Vec::new());
    for entry in history.earlier.iter().chain(&history.entries) {
        let at = entry.at.duration_since(zero).as_secs_f64();
        for (path, change) in &entry.changed {
            for (row, old, new) in changes(path, change) {
                states.entry(row).or_default().push((at, old, new));
            }
            if path == "object" && change == "deleted" {
                ends.push(at);
            }
        }
        if at >= 0.0 {
            marks.push(Mark { at, text: written(entry), kind: MarkKind::Write });
        }
    }
    Lane { name: format!("{kind} {}", history.object.key.name), rows: rows_of(kind, states, &ends, end), marks }
}

/// Makes rows of changes, each up to the end of its object: Ready first, the phase and deletion, taints, then what else
/// changed in the acts.
fn rows_of(kind: &str, states: Changes, ends: &[f64], end: f64) -> Vec<LaneRow> {
    let rank = |name: &str| match name {
        "Ready" => 0,
        "phase" => 1,
        "deletion" => 2,
        _ if name.starts_with("taint ") => 3,
        _ => 4,
    };
    let row = |(name, changes): (String, Vec<(f64, String, String)>)| {
        let tone = |state: &str| tone(kind, &name, state);
        let is_told = rank(&name) < 2 || changes.iter().any(|(at, ..)| *at >= 0.0);
        let mut changes: Vec<_> = changes.iter().map(|(at, old, new)| (*at, old.as_str(), new.as_str())).collect();
        // What is gone has no state any more.
        for gone in ends {
            let place = changes.partition_point(|(at, ..)| at <= gone);
            let last = changes[..place].last().map_or("", |(_, _, state)| *state);
            if !last.is_empty() {
                changes.insert(place, (*gone, last, ""));
            }
        }
        let spans = spans(changes, end, tone);
        is_told.then_some(LaneRow { spans, name, renewals: None })
    };
    let mut rows: Vec<LaneRow> = states.into_iter().filter_map(row).filter(|row| !row.spans.is_empty()).collect();
    rows.sort_by_key(|row| rank(&row.name));
    rows
}

/// Returns the rows that a changed field belongs to, each with the state before and after.
#[must_use]
pub fn changes(path: &str, change: &str) -> Vec<(String, String, String)> {
    let one = |row: &str, old: &str, new: &str| (row.to_owned(), old.to_owned(), new.to_owned());
    if let Some(name) = path.strip_prefix("status.conditions[").and_then(|rest| rest.strip_suffix("].status")) {
        return change.split_once(" -> ").map(|(old, new)| one(name, old, new)).into_iter().collect();
    }
    match path {
        "status.conditions" => change
            .split(", ")
            .filter_map(|part| {
                let (sign, rest) = part.split_at_checked(2)?;
                let (name, status) = rest.split_once('=')?;
                let status = status.split(' ').next().unwrap_or(status);
                Some(if sign == "+ " { one(name, "", status) } else { one(name, status, "") })
            })
            .collect(),
        "spec.taints" => change
            .split(", ")
            .filter_map(|part| {
                let (sign, taint) = part.split_at_checked(2)?;
                let row = format!("taint {}", taint.strip_prefix("node.kubernetes.io/").unwrap_or(taint));
                Some(if sign == "+ " { one(&row, "", "set") } else { one(&row, "set", "") })
            })
            .collect(),
        "status.phase" => {
            let (old, new) = change.split_once(" -> ").unwrap_or(("", change.trim_start_matches("+ ")));
            vec![one("phase", old, new)]
        }
        "metadata.deletionTimestamp" if change.starts_with("+ ") => vec![one("deletion", "", "terminating")],
        "object" if change == "deleted" => vec![one("object", "there", "")],
        "object" if change == "created" => vec![one("object", "", "there")],
        _ => Vec::new(),
    }
}

fn tone(kind: &str, row: &str, state: &str) -> Tone {
    match (row, state) {
        (_, "Unknown") => Tone::Unknown,
        ("Ready", "True") => Tone::Good,
        ("Ready", _) => Tone::Bad,
        ("phase", "Running" | "Succeeded") => Tone::Good,
        ("phase", "Failed") | ("deletion", _) => Tone::Bad,
        ("object", _) => Tone::Plain,
        _ if row.starts_with("taint ") => Tone::Bad,
        _ if kind == "Node" && state == "True" => Tone::Bad,
        _ => Tone::Plain,
    }
}

/// Returns the states between changes: from the beginning to the end; states without a name are gaps.
fn spans(changes: Vec<(f64, &str, &str)>, end: f64, tone: impl Fn(&str) -> Tone) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut add = |from: f64, to: f64, state: &str| {
        if !state.is_empty() && to > from && to > 0.0 {
            spans.push(Span { from: from.max(f64::MIN), to, text: state.to_owned(), tone: tone(state) });
        }
    };
    let Some((first, old, _)) = changes.first() else { return spans };
    add(f64::NEG_INFINITY, *first, old);
    for (at, change) in changes.iter().enumerate() {
        let next = changes.get(at + 1).map_or(end, |next| next.0);
        add(change.0, next, change.2);
    }
    spans
}

fn written(entry: &HistoryEntry) -> String {
    let fields: Vec<String> = entry.changed.iter().map(|(path, change)| format!("{path}: {change}")).collect();
    format!("{}: {}", entry.by, fields.join("; "))
}
