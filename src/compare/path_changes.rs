//! The changes of one path in a history, and which of them another run need not have.
//!
//! Inputs: the writes of a history. Outputs: its changes by path; without those that are due to chance: the phase of a
//! loop, or when the first act began.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use nodeproof_core::objects::time::seconds;
use nodeproof_core::scenario::{HistoryEntry, Outcome};

use super::offsets::{is_same_instant, masked};
use super::tolerances::Tolerances;

/// A change of one path.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathChange<'a> {
    pub(super) at: SignedDuration,
    /// The zero of its act.
    pub(super) zero: Timestamp,
    pub(super) by: &'a str,
    pub(super) text: &'a str,
    /// By how much it may be earlier or later in another run.
    pub(super) within: SignedDuration,
    /// Whether a loop wrote it, whose next pass may take it back.
    pub(super) is_of_loop: bool,
}

impl PathChange<'_> {
    pub(super) fn said(&self) -> String {
        let sign = if self.at.is_negative() { "" } else { "+" };
        format!("{} at {sign}{} by {}", self.text, seconds(self.at), self.by)
    }
}

/// Sorts the changes of writes by their paths. Each item that is added to or removed from a list has a path of its own,
/// so that one taint is not taken for the successor of another.
pub(super) fn by_path<'a>(
    entries: &'a [HistoryEntry],
    tolerances: &Tolerances,
) -> BTreeMap<String, Vec<PathChange<'a>>> {
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

/// Drops steps that a run with fewer steps on the same path need not have: steps from before the first act, which
/// begins later on a real cluster, and steps that the next pass took back.
pub(super) fn drop_chance<'a>(
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
pub(super) fn without_same_instants<'a>(
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
