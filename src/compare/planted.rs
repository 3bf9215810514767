//! Tests the comparison itself: differences are planted in outcomes of the simulator, and each must be found unless
//! chance could have made it.

use std::path::Path;

use jiff::SignedDuration;
use nodeproof_core::scenario::{History, HistoryEntry, Outcome};

use super::offsets::is_same_instant;
use super::{Tolerances, differences};
use crate::harness::{EntryPoint, Suite, SuiteOptions, SuitePaths, run};

/// The kind of difference that is planted in one change of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plant {
    OnlySim,
    OnlyReal,
    Late,
    Writer,
    Value,
}

const PLANTS: [Plant; 5] = [Plant::OnlySim, Plant::OnlyReal, Plant::Late, Plant::Writer, Plant::Value];

/// Returns an outcome with the history of one object alone: objects are compared one by one.
fn about(outcome: &Outcome, history: &History) -> Outcome {
    let histories = Vec::from([history.clone()]).into();
    let (snapshots, decisions, trace) = (Vec::new(), Vec::new(), Vec::new());
    Outcome { histories, snapshots, decisions, trace, steps: Vec::new(), ..outcome.clone() }
}

/// Returns an outcome in which one change, a field of a write, is replaced or missing.
fn planted(outcome: &Outcome, (write, field): (usize, usize), plant: Plant, late: SignedDuration) -> Outcome {
    let mut outcome = outcome.clone();
    let mut histories = outcome.histories.to_vec();
    let entries = &mut histories[0].entries;
    let change = entries[write].changed.remove(field);
    let mut own = HistoryEntry { changed: vec![change], ..entries[write].clone() };
    match plant {
        Plant::OnlySim | Plant::OnlyReal => {}
        Plant::Late => {
            own.at += late;
            let at = entries.iter().position(|it| it.at > own.at).unwrap_or(entries.len());
            entries.insert(at, own);
        }
        Plant::Writer => {
            own.by.insert_str(0, "another-");
            entries.insert(write, own);
        }
        Plant::Value => {
            own.changed[0].1.push_str("-other");
            entries.insert(write, own);
        }
    }
    outcome.histories = histories.into();
    outcome
}

/// Why the comparison may overlook a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cover {
    /// It is so near to the beginning that the other run may have had it before.
    Beginning,
    /// It is so near to the end that the other run may have been over.
    End,
    /// It moves an instant by less than the tolerance.
    SameInstant,
    /// The field changes again so soon that the two changes may be merged or taken for each other.
    Neighbour,
}

/// Returns why the comparison may overlook a change, from the writes around it.
fn cover(
    outcome: &Outcome,
    history: &History,
    (write, field): (usize, usize),
    tolerances: &Tolerances,
) -> Option<Cover> {
    let entry = &history.entries[write];
    let (path, text) = &entry.changed[field];
    let within = tolerances.of(&entry.by);
    let at = entry.at.duration_since(entry.zero);
    let last = outcome.zeros.last();
    let length = last.map(|zero| (outcome.start + outcome.duration).duration_since(*zero)).unwrap_or_default();
    let root = |path: &str| path.split('[').next().map(str::to_owned);
    let is_near = |other: &HistoryEntry| {
        let apart = other.at.duration_since(entry.at).abs();
        other.changed.iter().any(|(own, _)| root(own) == root(path)) && apart <= within * 2
    };
    if last == Some(&entry.zero) && at + within >= length {
        Some(Cover::End)
    } else if outcome.zeros.first() == Some(&entry.zero) && at < within {
        Some(Cover::Beginning)
    } else if is_same_instant(text, tolerances.base) {
        Some(Cover::SameInstant)
    } else if history.entries.iter().enumerate().any(|(own, other)| own != write && is_near(other)) {
        Some(Cover::Neighbour)
    } else {
        None
    }
}

/// Most writes of a history: a comparison takes as long as the square of their number.
const WRITES_MOST: usize = 40;

#[test]
fn a_planted_difference_is_found_unless_chance_may_make_it() {
    let suite = Suite::load(&SuitePaths::of_tree(Path::new(env!("CARGO_MANIFEST_DIR"))));
    let (options, tolerances) = (SuiteOptions::default(), Tolerances::default());
    let mut planted_in_the_open = 0;
    let mut missed = Vec::new();
    // So many scenarios are enough to meet each rule.
    for scenario in suite.planned.iter().filter(|it| it.skipped(&options).is_none()).step_by(73) {
        let Some(outcome) = run(scenario, &options, &suite, EntryPoint::Command).outcome else { continue };
        assert_eq!(differences(&outcome, &outcome, &tolerances), [], "{}", scenario.name);
        let histories = outcome.histories.to_vec();
        if histories.iter().any(|history| history.entries.len() > WRITES_MOST) {
            continue;
        }
        for history in &histories {
            let own = about(&outcome, history);
            for (write, entry) in history.entries.iter().enumerate() {
                for (field, change) in entry.changed.iter().enumerate() {
                    let cover = cover(&outcome, history, (write, field), &tolerances);
                    // A write that is merged with the next one counts as late as that one.
                    let late = tolerances.of(&entry.by) + tolerances.base + SignedDuration::from_secs(1);
                    for plant in PLANTS {
                        // A changed value can be overlooked only at the ends of the run; at its beginning only if it
                        // is made before the act, or comes again.
                        let comes_again = || {
                            let mut others = history.entries.iter().enumerate().filter(|(own, _)| *own != write);
                            others.any(|(_, other)| other.changed.contains(change))
                        };
                        let is_hidden = match plant {
                            Plant::Value => {
                                matches!(cover, Some(Cover::End))
                                    || cover == Some(Cover::Beginning) && (entry.at < entry.zero || comes_again())
                            }
                            _ => cover.is_some(),
                        };
                        if is_hidden {
                            continue;
                        }
                        planted_in_the_open += 1;
                        let other = planted(&own, (write, field), plant, late);
                        let (sim, real) = if plant == Plant::OnlyReal { (&other, &own) } else { (&own, &other) };
                        if differences(sim, real, &tolerances).is_empty() {
                            let object = format!("{}/{}", history.object.kind, history.object.key);
                            missed.push(format!("{}: {plant:?} {object} {change:?} {cover:?}", scenario.name));
                        }
                    }
                }
            }
        }
    }
    assert!(missed.is_empty(), "{} of {planted_in_the_open} are missed:\n{}", missed.len(), missed.join("\n"));
    assert!(planted_in_the_open > 300, "{planted_in_the_open} are too few to say anything");
}
