//! Where the histories and the snapshots of two outcomes differ.
//!
//! Inputs: the outcome on the simulator and the outcome on a real cluster. Output: differences in order of objects and
//! paths. Histories are compared path by path, since two writes of one side may be one write of the other; of each
//! change the writer, the text and the instant are compared. Lists are compared by their keys. Instants and offsets may
//! differ by [`Tolerances`], since the loops of two runs have different phases; everything else must be equal.

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;
use nodeproof_core::objects::diff::diff;
use nodeproof_core::objects::{Json, Text};
use nodeproof_core::scenario::{History, Outcome, SnapshotKind};

use super::difference::{Difference, DifferenceKind};
use super::merged_writes::merged;
use super::offsets::same_text;
use super::path_changes::{PathChange, by_path, drop_chance, without_same_instants};
use super::tolerances::Tolerances;

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

#[cfg(test)]
mod tests;
