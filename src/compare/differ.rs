//! Where the histories and the snapshots of two outcomes differ.
//!
//! Inputs: the outcome on the simulator and the outcome on a real cluster. Output: differences in order of objects and
//! paths. Histories are compared path by path, since two writes of one side may be one write of the other; of each
//! change the writer, the text and the instant are compared. Lists are compared by their keys. Instants and offsets may
//! differ by [`Tolerances`], since the loops of two runs have different phases; everything else must be equal.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::LazyLock;

use jiff::{SignedDuration, Timestamp};
use nodeproof_core::objects::diff::diff;
use nodeproof_core::objects::time::{parse_duration, seconds};
use nodeproof_core::objects::{Json, Text};
use nodeproof_core::scenario::{History, HistoryEntry, Outcome, SnapshotKind};
use regex::Regex;

use super::merged_writes::merged;

/// What is different.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DifferenceKind {
    /// The scenario holds on one side and does not on the other.
    Verdict,
    /// Only the simulator has the change.
    OnlySim,
    /// Only the real cluster has the change.
    OnlyReal,
    /// The value.
    Value,
    /// Who wrote it.
    Writer,
    /// When it was written.
    Time,
}

impl DifferenceKind {
    /// Returns the word of reports.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Verdict => "verdict",
            Self::OnlySim => "only on the simulator",
            Self::OnlyReal => "only on the real cluster",
            Self::Value => "value",
            Self::Writer => "writer",
            Self::Time => "time",
        }
    }
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The object, as `Node/worker-1`; empty for the scenario as a whole.
    pub object: String,
    /// The path within the object.
    pub path: String,
    /// Who writes there, as the side that has it says: manager, and subresource behind a slash.
    pub writer: String,
    /// What is different.
    pub kind: DifferenceKind,
    /// What the simulator has.
    pub sim: String,
    /// What the real cluster has.
    pub real: String,
    /// When each side has it, if it is a change of that side.
    pub at: (Option<Timestamp>, Option<Timestamp>),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.object, self.path, self.kind.word())?;
        for (side, text) in [("sim", &self.sim), ("real", &self.real)] {
            if !text.is_empty() {
                write!(f, "\n    {side:<5} {text}")?;
            }
        }
        Ok(())
    }
}

/// How far apart the same instant may be in two runs.
#[derive(Clone, Debug)]
pub struct Tolerances {
    /// By how much any instant may differ: API times are whole seconds, and a machine may be busy.
    pub base: SignedDuration,
    /// What is added for a writer, named by its manager: the periods of its loops, whose phases differ between two
    /// runs.
    pub loops: Vec<(&'static str, SignedDuration)>,
    /// By how much the last status may differ: how seldom a kubelet writes it when nothing changes.
    pub report: SignedDuration,
    /// A state that lasts no longer than this may be seen in one run only: a pass of a loop came in between.
    pub blink: SignedDuration,
}

impl Default for Tolerances {
    /// The base is API times of whole seconds and the two seconds that a real cluster is given before the first act:
    /// what came before that act is earlier there by as much.
    ///
    /// Health passes come every 5 s and evictions of a zone every 10 s. A kubelet reads its Node every 10 s with
    /// jitter, and what it writes of a Pod follows the loops of others. A Pod that did not fit is tried again after up
    /// to 10 s. The next health pass corrects what the last one wrote, as a taint for a Node that is about to be ready.
    ///
    /// A status is reported every 5 minutes, and after a change up to half of that later.
    ///
    /// Source: `--node-monitor-period`, `--node-eviction-rate`; kubelet `nodeStatusUpdateFrequency`,
    /// `nodeStatusReportFrequency` and `calculateDelay`; kube-scheduler `podMaxBackoffSeconds` (v1.34).
    fn default() -> Self {
        let sec = SignedDuration::from_secs;
        let loops = vec![("kube-controller-manager", sec(15)), ("kubelet", sec(11)), ("kube-scheduler", sec(10))];
        Self { base: sec(3), loops, report: sec(461), blink: sec(6) }
    }
}

impl Tolerances {
    pub(super) fn of(&self, writer: &str) -> SignedDuration {
        self.base + self.period(writer).unwrap_or_default()
    }

    /// Returns the period of a writer's loops, if it has any.
    fn period(&self, writer: &str) -> Option<SignedDuration> {
        let manager = writer.split('/').next().unwrap_or_default();
        self.loops.iter().find(|(known, _)| *known == manager).map(|(_, period)| *period)
    }

    fn longest(&self) -> SignedDuration {
        self.base + self.loops.iter().map(|(_, period)| *period).max().unwrap_or_default()
    }
}

/// Returns where two outcomes of one scenario differ.
#[must_use]
pub fn differences(sim: &Outcome, real: &Outcome, tolerances: &Tolerances) -> Vec<Difference> {
    let mut found = Vec::new();
    if sim.verdict != real.verdict {
        let seen = |outcome: &Outcome| {
            let why = outcome.mismatch.as_ref().map(|it| format!(": {}: {}", it.step.text, it.observed));
            format!("{:?}{}", outcome.verdict, why.unwrap_or_default()).to_lowercase()
        };
        found.push(Difference {
            object: String::new(),
            path: "verdict".to_owned(),
            writer: String::new(),
            kind: DifferenceKind::Verdict,
            sim: seen(sim),
            real: seen(real),
            at: (None, None),
        });
    }
    let named = |outcome: &Outcome| -> BTreeMap<String, History> {
        let name = |history: &History| format!("{}/{}", history.object.kind, history.object.key);
        outcome.histories.to_vec().into_iter().map(|history| (name(&history), history)).collect()
    };
    let (here, there) = (named(sim), named(real));
    for name in here.keys().chain(there.keys()).collect::<BTreeSet<_>>() {
        found.extend(history(name, (here.get(name), there.get(name)), (sim, real), tolerances));
    }
    snapshots(sim, real, tolerances, &mut found);
    found
}

/// A change of one path.
#[derive(Clone, Copy, Debug)]
struct PathChange<'a> {
    at: SignedDuration,
    /// The zero of its act.
    zero: Timestamp,
    by: &'a str,
    text: &'a str,
    /// By how much it may be earlier or later in another run.
    within: SignedDuration,
    /// Whether a loop wrote it, whose next pass may take it back.
    is_of_loop: bool,
}

impl PathChange<'_> {
    fn said(&self) -> String {
        let sign = if self.at.is_negative() { "" } else { "+" };
        format!("{} at {sign}{} by {}", self.text, seconds(self.at), self.by)
    }
}

/// Sorts the changes of writes by their paths. Each item that is added to or removed from a list has a path of its own,
/// so that one taint is not taken for the successor of another.
fn by_path<'a>(entries: &'a [HistoryEntry], tolerances: &Tolerances) -> BTreeMap<String, Vec<PathChange<'a>>> {
    let mut paths: BTreeMap<String, Vec<PathChange<'a>>> = BTreeMap::new();
    for entry in entries {
        for (path, texts) in &entry.changed {
            for text in parts(texts) {
                let item = text.strip_prefix("+ ").or_else(|| text.strip_prefix("- "));
                let path = item.map_or_else(|| path.clone(), |item| format!("{path}[{}]", masked(item)));
                let at = entry.at.duration_since(entry.zero);
                let within = tolerances.of(&entry.by);
                let is_of_loop = tolerances.period(&entry.by).is_some();
                let step = PathChange { at, zero: entry.zero, by: &entry.by, text, within, is_of_loop };
                paths.entry(path).or_default().push(step);
            }
        }
    }
    paths
}

/// Splits `+ a, - b` into added and removed items; any other text stays whole.
fn parts(texts: &str) -> Vec<&str> {
    let parts: Vec<&str> = texts.split(", ").collect();
    let comes_or_goes = |part: &&str| part.starts_with("+ ") || part.starts_with("- ");
    if parts.iter().all(comes_or_goes) { parts } else { vec![texts] }
}

/// Compares the histories of an object. Two writes of the simulator that follow each other closely may be one write on
/// a real cluster, where news take time; they are merged where that leaves fewer differences.
fn history(
    object: &str,
    (here, there): (Option<&History>, Option<&History>),
    runs: (&Outcome, &Outcome),
    tolerances: &Tolerances,
) -> Vec<Difference> {
    let mut found = paths(object, (here, there), runs, tolerances);
    let mut own = here.cloned();
    let mut at = 0;
    while !found.is_empty() && own.as_ref().is_some_and(|own| at < own.entries.len()) {
        let merged = own.as_ref().and_then(|own| merged(own, at, tolerances.base));
        let left = merged.as_ref().map(|merged| paths(object, (Some(merged), there), runs, tolerances));
        match left {
            Some(left) if left.len() < found.len() => (own, found) = (merged, left),
            _ => at += 1,
        }
    }
    found
}

/// Compares two histories path by path.
fn paths<'a>(
    object: &str,
    (here, there): (Option<&'a History>, Option<&'a History>),
    (sim, real): (&Outcome, &Outcome),
    tolerances: &Tolerances,
) -> Vec<Difference> {
    let mut found = Vec::new();
    let before = |history: Option<&'a History>| by_path(history.map_or(&[], |it| &it.earlier), tolerances);
    let since = |history: Option<&'a History>| by_path(history.map_or(&[], |it| &it.entries), tolerances);
    let (here_before, there_before) = (before(here), before(there));
    let (here, there) = (since(here), since(there));
    for path in here.keys().chain(there.keys()).collect::<BTreeSet<_>>() {
        let steps = |paths: &BTreeMap<String, Vec<PathChange<'a>>>| paths.get(path).cloned().unwrap_or_default();
        let (mut own, mut other) = without_same_instants((steps(&here), steps(&there)), tolerances.base);
        let (own_before, other_before) = (steps(&here_before), steps(&there_before));
        drop_chance(&mut own, &own_before, (&other, &other_before), sim, tolerances);
        drop_chance(&mut other, &other_before, (&own, &own_before), real, tolerances);
        for at in 0..own.len().max(other.len()) {
            let (kind, sim, real) = match (own.get(at), other.get(at)) {
                (Some(own), None) if is_past(own, sim, real) => continue,
                (None, Some(other)) if is_past(other, real, sim) => continue,
                (Some(own), None) => (DifferenceKind::OnlySim, own.said(), String::new()),
                (None, Some(other)) => (DifferenceKind::OnlyReal, String::new(), other.said()),
                (Some(own), Some(other)) => {
                    let begun = sim.zeros.first().map_or(SignedDuration::ZERO, |zero| zero.duration_since(own.zero));
                    match change_kind(own, other, (shift(own, sim, other, real), begun), tolerances) {
                        Some(kind) => (kind, own.said(), other.said()),
                        None => continue,
                    }
                }
                (None, None) => continue,
            };
            let writer = own.get(at).or(other.get(at)).map_or_else(String::new, |step| step.by.to_owned());
            let instant = |step: Option<&PathChange<'_>>| step.map(|step| step.zero + step.at);
            let at = (instant(own.get(at)), instant(other.get(at)));
            found.push(Difference { object: object.to_owned(), path: path.clone(), writer, kind, sim, real, at });
        }
    }
    found
}

/// Drops steps that a run with fewer steps on the same path need not have: steps from before the first act, which
/// begins later on a real cluster, and steps that the next pass took back.
fn drop_chance<'a>(
    steps: &mut Vec<PathChange<'a>>,
    before: &[PathChange<'a>],
    (others, others_before): (&[PathChange<'_>], &[PathChange<'_>]),
    run: &Outcome,
    tolerances: &Tolerances,
) {
    let wanted = others.len();
    let is_first_act = |step: &PathChange<'_>| run.zeros.first() == Some(&step.zero);
    let is_same = |one: &PathChange<'_>, other: &PathChange<'_>| {
        masked(one.text) == masked(other.text) && (one.at - other.at).abs() <= one.within
    };
    // If a run begins with the second step, its first step came before the first act.
    let begins_later = |steps: &[PathChange<'_>]| match (steps, others.first()) {
        ([first, second, ..], Some(other)) => {
            let text = masked(other.text);
            first.at < first.within && masked(first.text) != text && masked(second.text) == text
        }
        _ => false,
    };
    let instant = |step: &PathChange<'_>| step.zero + step.at;
    let is_blink = |one: &PathChange<'_>, other: &PathChange<'_>| {
        let is_short = instant(other).duration_since(instant(one)) <= tolerances.blink;
        one.is_of_loop && one.by == other.by && is_short && is_taken_back(one.text, other.text)
    };
    let began_before = |steps: &[PathChange<'_>]| {
        let [first, ..] = steps else { return false };
        is_first_act(first)
            && (first.at.is_negative() && !others.first().is_some_and(|other| is_same(first, other))
                || begins_later(steps)
                || others_before.last().is_some_and(|other| is_same(first, other))
                || before.last().is_some_and(|own| is_blink(own, first)))
    };
    while steps.len() > wanted && began_before(steps) {
        steps.remove(0);
    }
    while steps.len() > wanted + 1 {
        let Some(at) = steps.windows(2).position(|pair| is_blink(&pair[0], &pair[1])) else { return };
        steps.drain(at..at + 2);
    }
}

/// Tells whether the second change reverts the first: an item is added and removed, or removed and added.
fn is_taken_back(one: &str, other: &str) -> bool {
    let taken = |one: &str, other: &str| {
        one.strip_prefix("+ ").zip(other.strip_prefix("- ")).is_some_and(|(one, other)| masked(one) == masked(other))
    };
    taken(one, other) || taken(other, one)
}

/// Drops changes of an instant that lie within the tolerance. Where the other run has more changes beyond the
/// tolerance, as many are kept to be compared with them: the nearest ones.
fn without_same_instants<'a>(
    (own, other): (Vec<PathChange<'a>>, Vec<PathChange<'a>>),
    base: SignedDuration,
) -> (Vec<PathChange<'a>>, Vec<PathChange<'a>>) {
    let is_some = |step: &&PathChange<'a>| !is_same_instant(step.text, base);
    let left = |steps: &[PathChange<'a>], others: &[PathChange<'a>]| -> Vec<PathChange<'a>> {
        let others: Vec<&PathChange<'_>> = others.iter().filter(is_some).collect();
        let missing = others.len().saturating_sub(steps.iter().filter(is_some).count());
        let away = |step: &PathChange<'_>| others.iter().map(|other| (other.at - step.at).abs()).min();
        let mut same: Vec<&PathChange<'a>> = steps.iter().filter(|step| !is_some(step)).collect();
        same.sort_by_key(|step| away(step));
        same.truncate(missing);
        steps.iter().filter(|step| is_some(step) || same.iter().any(|it| std::ptr::eq(*it, *step))).copied().collect()
    };
    (left(&own, &other), left(&other, &own))
}

/// Tells whether a change of an instant lies within the tolerance: a value that one run writes again in the same
/// second, another run writes in the next second.
pub(super) fn is_same_instant(text: &str, base: SignedDuration) -> bool {
    let instant = |text: &str| {
        let whole = OFFSET.find(text).filter(|found| found.len() == text.len());
        whole.and_then(|found| read_offset(found.as_str()))
    };
    let Some((before, after)) = text.split_once(" -> ") else { return false };
    instant(before).zip(instant(after)).is_some_and(|(before, after)| (after - before).abs() <= base)
}

/// Tells whether the other run may have ended before it could show a step: runs end as soon as they are judged.
fn is_past(step: &PathChange<'_>, own: &Outcome, other: &Outcome) -> bool {
    let (Some(last), Some(zero)) = (own.zeros.last(), other.zeros.last()) else { return false };
    let length = (other.start + other.duration).duration_since(*zero);
    step.zero == *last && step.at + step.within >= length
}

/// Returns how much later, on the simulator, the act of the real step begins than the act of `own`: near the end of an
/// act, one run may show a write in that act and the other run in the next.
fn shift(own: &PathChange<'_>, sim: &Outcome, other: &PathChange<'_>, real: &Outcome) -> SignedDuration {
    let act = real.zeros.iter().position(|zero| *zero == other.zero);
    act.and_then(|act| sim.zeros.get(act)).map_or(SignedDuration::ZERO, |zero| zero.duration_since(own.zero))
}

/// Compares two steps. `shift` is the distance of their zeros, `begun` the start of the first act from the simulator's
/// zero.
fn change_kind(
    sim: &PathChange<'_>,
    real: &PathChange<'_>,
    (shift, begun): (SignedDuration, SignedDuration),
    tolerances: &Tolerances,
) -> Option<DifferenceKind> {
    let tolerance = sim.within;
    // An offset to something before the first act contains the time that the rest of the setup took.
    let near = |one: SignedDuration, other: SignedDuration| {
        let is_before = one < begun && other < begun;
        (one - other).abs() <= if is_before { tolerances.longest() } else { tolerance }
    };
    if !same_text(sim.text, real.text, shift, near) {
        Some(DifferenceKind::Value)
    } else if !real.by.is_empty() && sim.by != real.by {
        // On a real cluster managedFields alone name the writer: a deletion has none, nor has an object without
        // managedFields.
        Some(DifferenceKind::Writer)
    } else if (sim.at - shift - real.at).abs() > tolerance {
        Some(DifferenceKind::Time)
    } else {
        None
    }
}

fn snapshots(sim: &Outcome, real: &Outcome, tolerances: &Tolerances, found: &mut Vec<Difference>) {
    // Histories have been compared; a scenario that failed has no snapshots.
    let kept = |outcome: &Outcome| -> Vec<(Text, Json)> {
        let kept = outcome.snapshots.iter().filter(|snapshot| snapshot.kind != SnapshotKind::History);
        kept.map(|snapshot| (snapshot.name.clone(), by_name(&snapshot.value))).collect()
    };
    for ((name, own), (_, other)) in kept(sim).iter().zip(kept(real)) {
        for change in diff(own, &other) {
            let shown = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let (sim, real) = (shown(&change.old), shown(&change.new));
            let path = change.path.to_string();
            let is_heartbeat = path.ends_with("lastHeartbeatTime");
            let tolerance = if is_heartbeat { tolerances.report } else { tolerances.longest() };
            let kind = match (change.old.is_null(), change.new.is_null()) {
                (false, true) => DifferenceKind::OnlySim,
                (true, false) => DifferenceKind::OnlyReal,
                _ if same_text(&sim, &real, SignedDuration::ZERO, |one, other| (one - other).abs() <= tolerance) => {
                    continue;
                }
                _ => DifferenceKind::Value,
            };
            let object = format!("snapshot/{name}");
            found.push(Difference { object, path, writer: String::new(), kind, sim, real, at: (None, None) });
        }
    }
}

/// Turns a table into an object, so that its rows are compared by their names.
fn by_name(value: &Json) -> Json {
    let name = |row: &Json| row.at(&["metadata", "name"]).as_text().cloned();
    match value {
        Json::Array(rows) => rows
            .iter()
            .enumerate()
            .map(|(at, row)| (name(row).unwrap_or_else(|| Text::from(at.to_string())), row.clone()))
            .collect(),
        other => other.clone(),
    }
}

static OFFSET: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:[+-]|\bactive )(?:\d+h)?(?:\d+m)?(?:\d+(?:\.\d+)?m?s)\b").expect("a constant pattern")
});

/// Reads an offset, or the time since a kubelet says that its runtime was last active.
fn read_offset(text: &str) -> Option<SignedDuration> {
    parse_duration(text.trim_start_matches("active "))
}

/// Puts a mark in the place of each offset.
fn masked(text: &str) -> String {
    OFFSET.replace_all(text, "…").into_owned()
}

/// Tells whether two texts are equal apart from offsets, and each pair of offsets is near. The offsets of the first
/// text count from a zero that is later by `shift`.
fn same_text(
    one: &str,
    other: &str,
    shift: SignedDuration,
    near: impl Fn(SignedDuration, SignedDuration) -> bool,
) -> bool {
    let offsets = |text: &str| -> Vec<SignedDuration> {
        OFFSET.find_iter(text).filter_map(|found| read_offset(found.as_str())).collect()
    };
    if one == other {
        return true;
    }
    let (own, others) = (offsets(one), offsets(other));
    masked(one) == masked(other)
        && own.len() == others.len()
        && own.iter().zip(&others).all(|(one, other)| near(*one - shift, *other))
}

#[cfg(test)]
mod tests {
    use nodeproof_core::json;
    use nodeproof_core::scenario::{ObjectRef, Position, Snapshot, Verdict};

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
        let said =
            |ago: &str| format!("a -> PLEG is not healthy: pleg was last seen active {ago} ago; threshold is 3m0s");
        let (one, near, far) = (said("3m4.8s"), said("3m4.673945239s"), said("4m4.8s"));
        let path = "status.conditions[Ready].message";
        let outcome = |text: &str| outcome(&[(190.0, "kubelet/status", &[(path, text)])]);
        check(&outcome(&one), &outcome(&near), &[]);
        check(&outcome(&one), &outcome(&far), &[(path, DifferenceKind::Value)]);
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
        check(
            &sim,
            &real,
            &[("spec.taints[c:NoSchedule]", DifferenceKind::OnlyReal), (READY, DifferenceKind::OnlyReal)],
        );
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
        let pod = |deleted: &[SampleWrite<'_>]| {
            outcome(&[&[(-0.1, "kubectl", &[("object", "created")][..])], deleted].concat())
        };
        check(&pod(&[]), &pod(&[(602.0, "kubelet", &[("object", "deleted")])]), &[]);
        let transition = |text: &'static str| outcome(&[(0.4, "kubelet/status", &[("lastTransitionTime", text)])]);
        check(&outcome(&[]), &transition("-0.606s -> +0.393s"), &[]);
        check(&outcome(&[]), &transition("-3.7s -> +0.393s"), &[("lastTransitionTime", DifferenceKind::OnlyReal)]);
        check(&transition("-0.606s -> +0.393s"), &transition("-3.7s -> +0.393s"), &[]);
        let next = (9.0, "kubelet/status", &[("lastTransitionTime", "+8s -> +9s")][..]);
        let transitions =
            |text: &'static str| outcome(&[(0.4, "kubelet/status", &[("lastTransitionTime", text)]), next]);
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
}
