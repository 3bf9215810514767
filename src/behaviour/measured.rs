//! Runs a scenario on each release at many moments of the loops that matter, and tells what came to pass when.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use jiff::SignedDuration;
use nodeproof_core::profile::{DEFAULT_RELEASE, RELEASES, Release};
use nodeproof_core::scenario::{
    Bound, Expectation, Given, LOOP_PERIOD, Outcome, Position, Predicate, ScenarioAction, Setup, Verdict,
};

use super::pages::Part;
use super::words::{Happening, joined, line, told};
use crate::harness::{EntryPoint, Planned, Suite, SuiteOptions, run};

/// How often a scenario runs, unless it is said: so often that what depends on two loops is seen within a second or two
/// of its earliest and its latest instant.
pub const RUNS: u64 = 60;
/// How many runs show that a release does what the one before does: under the same seeds nothing came at another time.
const RUNS_ALIKE: u64 = 8;
/// How far instants may differ between releases on the average, in seconds, and still count as the same.
const SAME: f64 = 2.0;
/// By how many standard errors averages have to differ before it is no chance.
const ERRORS: f64 = 4.0;
/// How far the shares of runs in which something came to pass may differ, and still be chance.
const SAME_SHARE: f64 = 0.5;

/// What came to pass in an act, for each release.
type Found = BTreeMap<(usize, Happening), BTreeMap<Release, BTreeMap<u64, f64>>>;

/// What came to pass together: the instants for each release and seed, the object, the writer, and what.
type Together = (Vec<BTreeMap<u64, f64>>, String, String, Vec<String>);

/// A part, measured.
#[derive(Debug)]
pub(super) struct Measured<'a> {
    /// The scenarios, each with the releases on which it was run.
    pub(super) scenarios: Vec<(&'a Planned, Vec<Release>)>,
    /// The acts of the scenario for the default release.
    pub(super) acts: Vec<MeasuredAct>,
}

/// An act, measured.
#[derive(Debug)]
pub(super) struct MeasuredAct {
    /// The `When` lines.
    pub(super) when: Vec<Position>,
    /// The releases of each column.
    pub(super) columns: Vec<Vec<Release>>,
    /// What came to pass, by instant.
    pub(super) rows: Vec<MeasuredRow>,
    /// How far things are apart.
    pub(super) apart: Vec<String>,
    /// What must not happen, and held.
    pub(super) meanwhile: Vec<String>,
}

/// What came to pass at one instant with one object.
#[derive(Debug)]
pub(super) struct MeasuredRow {
    /// The object and what came to pass.
    pub(super) text: String,
    /// Who wrote it.
    pub(super) by: String,
    /// For each column when; `None` if never.
    pub(super) cells: Vec<Option<Cell>>,
}

/// When something came to pass in all runs of some releases.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    /// The earliest instant.
    pub(super) from: f64,
    /// The latest.
    pub(super) to: f64,
    /// The average.
    mean: f64,
    /// The square of the average's standard error.
    error: f64,
    /// In which share of the runs.
    pub(super) share: f64,
}

impl Cell {
    fn of(instants: &[f64], runs: u64) -> Option<Self> {
        let from = instants.iter().copied().reduce(f64::min)?;
        let to = instants.iter().copied().reduce(f64::max)?;
        #[expect(clippy::cast_precision_loss, reason = "some hundred runs")]
        let (count, runs) = (instants.len() as f64, runs.max(1) as f64);
        let mean = instants.iter().sum::<f64>() / count;
        let error = instants.iter().map(|at| (at - mean).powi(2)).sum::<f64>() / (count * count);
        Some(Self { from, to, mean, error, share: count / runs })
    }
}

/// Tells whether releases differ in what they do, and not only in what some runs have met.
pub(super) fn differ(one: Option<Cell>, other: Option<Cell>) -> bool {
    let share = |cell: Option<Cell>| cell.map_or(0.0, |cell| cell.share);
    let are_apart = |one: Cell, other: Cell| {
        let apart = (one.mean - other.mean).abs();
        apart >= SAME && apart >= ERRORS * (one.error + other.error).sqrt()
    };
    (share(one) - share(other)).abs() >= SAME_SHARE
        || one.zip(other).is_some_and(|(one, other)| one.share >= SAME_SHARE && are_apart(one, other))
}

/// The releases on which a part was measured, each with the number of its runs.
type Runs = Vec<(Release, u64)>;

/// Runs the scenarios of a part so many times on each release; one that does what the one before does, less often.
///
/// # Errors
/// A scenario is not there, or does not hold.
pub(super) fn measure<'a>(suite: &'a Suite, part: &Part, count: u64) -> Result<Measured<'a>, String> {
    let mut scenarios: Vec<(&Planned, Vec<Release>)> = Vec::new();
    for name in &part.scenarios {
        let found = suite.planned.iter().find(|planned| planned.compiled.id == *name);
        scenarios.push((
            found.ok_or_else(|| {
                format!(
                    "these features have no scenario {name}: the pages are made of nodeproof's own, where no directory \
             features/ is"
                )
            })?,
            Vec::new(),
        ));
    }
    let mut found = Found::new();
    let mut measured = Runs::new();
    let mut whole = None;
    for release in RELEASES {
        let fits = |planned: &Planned| planned.tags().other_release(release).is_none();
        let Some((planned, own)) = scenarios.iter_mut().find(|(planned, _)| fits(planned)) else { continue };
        own.push(release);
        let few = RUNS_ALIKE.min(count);
        let measured_by = |seeds: RangeInclusive<u64>, found: &mut Found| {
            for (seed, outcome) in runs(suite, planned, release, seeds)? {
                note(planned, &outcome, (release, seed), found);
            }
            Ok::<_, String>(())
        };
        measured_by(1..=few, &mut found)?;
        let name = planned.name.as_str();
        let is_alike = whole.is_some_and(|(of, other)| of == name && alike(found.values(), other, release, few));
        if !is_alike {
            measured_by(few + 1..=count, &mut found)?;
            whole = Some((name, release));
        }
        measured.push((release, if is_alike { few } else { count }));
    }
    scenarios.retain(|(_, releases)| !releases.is_empty());
    let main = scenarios.iter().find(|(_, own)| own.contains(&DEFAULT_RELEASE)).or_else(|| scenarios.last());
    let main = main.ok_or_else(|| format!("no release has {}", part.title))?.0;
    let acts = (0..main.compiled.scenario.acts.len()).map(|act| measured_act(main, act, &measured, &found));
    Ok(Measured { acts: acts.collect(), scenarios })
}

/// Tells whether nothing came at another time on two releases in the first runs of both.
fn alike<'a>(
    mut all: impl Iterator<Item = &'a BTreeMap<Release, BTreeMap<u64, f64>>>,
    one: Release,
    other: Release,
    runs: u64,
) -> bool {
    const SAME_INSTANT: f64 = 0.5;
    all.all(|instants| {
        let at = |release: Release, seed: u64| instants.get(&release).and_then(|own| own.get(&seed));
        (1..=runs).all(|seed| match (at(one, seed), at(other, seed)) {
            (Some(one), Some(other)) => (one - other).abs() < SAME_INSTANT,
            (one, other) => one.is_none() && other.is_none(),
        })
    })
}

/// Runs a scenario under some seeds, on two threads.
fn runs(
    suite: &Suite,
    planned: &Planned,
    release: Release,
    seeds: RangeInclusive<u64>,
) -> Result<Vec<(u64, Outcome)>, String> {
    let one = |seed: u64| {
        let options = SuiteOptions { release, seed, ..SuiteOptions::default() };
        // The bounds of a scenario may be for the moment at which it begins.
        let mut why = String::new();
        for planned in [&shifted(planned, seed), planned] {
            let judged = run(planned, &options, suite, EntryPoint::Command);
            if let Some(outcome) = judged.outcome.filter(|outcome| outcome.verdict == Verdict::Passed) {
                return Ok((seed, outcome));
            }
            why = judged.text;
        }
        Err(format!("{} does not hold: {why}", planned.name))
    };
    let half =
        |odd: u64| seeds.clone().filter(move |seed| seed % 2 == odd).map(one).collect::<Result<Vec<_>, String>>();
    let (odd, even) = std::thread::scope(|scope| {
        let other = scope.spawn(|| half(1));
        (half(0), other.join())
    });
    let mut all = odd?;
    all.extend(even.map_err(|_| format!("{} broke down", planned.name))??);
    Ok(all)
}

/// Lets some time pass, another with each seed, so that everything falls anywhere in the loops of everything else:
/// before the first Node, whose kubelet then begins anywhere in the loops of controllers; before the first thing
/// done, which then falls anywhere between two heartbeats; and before the act, where that follows what was waited for.
fn shifted(planned: &Planned, seed: u64) -> Planned {
    let mut shifted = planned.clone();
    let is_snapshot = |of: &Expectation| matches!(of.fact.predicate, Predicate::MatchesSnapshot(_));
    for act in &mut shifted.compiled.scenario.acts {
        // What comes in which order may depend on the moment.
        act.expectations.retain(|own| !is_snapshot(own));
    }
    let given = &mut shifted.compiled.scenario.given;
    let Some(position) = given.last().map(|last| last.position.clone()) else { return shifted };
    let pass = |share: i64| {
        let setup = Setup::Do(ScenarioAction::Pass(SignedDuration::from_millis(share)));
        Given { setup, position: position.clone() }
    };
    let [kubelets, act, later] = shares(seed);
    let done = given.iter().position(|own| matches!(own.setup, Setup::Do(_)));
    if done.is_some() && matches!(given.last(), Some(Given { setup: Setup::Until(_), .. })) {
        given.push(pass(later));
    }
    given.insert(done.unwrap_or(given.len()), pass(act));
    given.insert(0, pass(kubelets));
    shifted
}

/// Returns three parts of the longest loop in milliseconds, such that those of many seeds fill it evenly, alone and
/// together.
///
/// Source: the powers of the root of x⁴ = x + 1, as in the R-sequence of M. Roberts, The Unreasonable Effectiveness of
/// Quasirandom Sequences.
fn shares(seed: u64) -> [i64; 3] {
    [0.819_172_513_4, 0.671_043_606_7, 0.549_700_477_9].map(|step: f64| {
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "some thousand milliseconds")]
        let share = ((seed as f64 * step).fract() * LOOP_PERIOD.as_secs_f64() * 1000.0) as i64;
        share
    })
}

/// Notes what came to pass in one run.
fn note(planned: &Planned, outcome: &Outcome, (release, seed): (Release, u64), found: &mut Found) {
    let mut seen: BTreeMap<(usize, String, String), usize> = BTreeMap::new();
    let mut add = |act: usize, object: String, what: String, by: String, at: f64| {
        let again = seen.entry((act, object.clone(), what.clone())).or_default();
        let happening = Happening { object, what, by, again: *again };
        *again += 1;
        found.entry((act, happening)).or_default().entry(release).or_default().insert(seed, at);
    };
    for history in outcome.histories.to_vec() {
        let kind = history.object.kind.to_string();
        if kind != "Node" && kind != "Pod" {
            continue;
        }
        let object = format!("{kind} `{}`", history.object.key.name);
        for entry in &history.entries {
            let Some(act) = outcome.zeros.iter().position(|zero| *zero == entry.zero) else { continue };
            let at = entry.at.duration_since(entry.zero).as_secs_f64();
            let by = entry.by.split('/').next().unwrap_or_default().to_owned();
            let whats: BTreeSet<String> =
                entry.changed.iter().flat_map(|(path, change)| told(&kind, path, change)).collect();
            whats.into_iter().for_each(|what| add(act, object.clone(), what, by.clone(), at));
        }
    }
    for (act, own) in planned.compiled.scenario.acts.iter().enumerate() {
        for expectation in own.expectations.iter().filter(|own| is_of_its_own(own)) {
            let step = outcome.steps.iter().find(|step| step.position == expectation.position);
            if let Some(step) = step {
                let what = line(&expectation.position.text, false);
                add(act, String::new(), what, String::new(), step.at.as_secs_f64());
            }
        }
    }
}

/// Tells whether a line says when something comes, and no history of a Node or Pod does.
fn is_of_its_own(expectation: &Expectation) -> bool {
    let is_timed = !matches!(expectation.bound, Bound::For(_) | Bound::Act | Bound::Apart { .. });
    let text = expectation.position.text.as_str();
    let own = text.split_once(' ').map_or(text, |(_, rest)| rest);
    let is_of_an_object = own.starts_with("Node \"") || own.starts_with("Pod \"");
    let is_counted = own.contains(" Event ") || own.contains(" Events ");
    is_timed && !is_of_an_object && !is_counted && !own.contains(" never ") && !own.starts_with("no ")
}

fn measured_act(planned: &Planned, act: usize, runs: &[(Release, u64)], found: &Found) -> MeasuredAct {
    let own = &planned.compiled.scenario.acts[act];
    let columns = columns(act, runs, found);
    let mut rows: Vec<Together> = Vec::new();
    for ((_, happening), instants) in found.iter().filter(|((of, _), _)| *of == act) {
        let key: Vec<BTreeMap<u64, f64>> =
            runs.iter().map(|(release, _)| instants.get(release).cloned().unwrap_or_default()).collect();
        let (object, by) = (&happening.object, &happening.by);
        let same = rows
            .iter_mut()
            .find(|(other, of, writer, _)| *other == key && of == object && writer == by && !object.is_empty());
        match same {
            Some((.., whats)) => whats.push(happening.what.clone()),
            None => rows.push((key, object.clone(), by.clone(), vec![happening.what.clone()])),
        }
    }
    let mut rows: Vec<(f64, MeasuredRow)> = rows
        .into_iter()
        .map(|(key, object, by, whats)| {
            let of = |column: &Vec<Release>| {
                let own = runs.iter().zip(&key).filter(|((release, _), _)| column.contains(release));
                let own: Vec<_> = own.map(|((_, runs), instants)| (*runs, instants)).collect();
                let all: Vec<f64> = own.iter().flat_map(|(_, instants)| instants.values().copied()).collect();
                Cell::of(&all, own.iter().map(|(runs, _)| runs).sum())
            };
            let cells: Vec<_> = columns.iter().map(of).collect();
            let last = cells.iter().rev().flatten().next().map_or(0.0, |cell| cell.mean);
            let object = if object.is_empty() { String::new() } else { format!("**{object}** ") };
            (last, MeasuredRow { text: format!("{object}{}", joined(&whats)), by, cells })
        })
        .collect();
    rows.sort_by(|(one, a), (other, b)| one.total_cmp(other).then_with(|| a.text.cmp(&b.text)));
    let is_timed = |of: &Expectation| !matches!(of.bound, Bound::For(_) | Bound::Act | Bound::Apart { .. });
    let is_told = |of: &&Expectation| {
        let text = of.position.text.as_str();
        let is_of_the_same =
            |other: &Expectation| is_timed(other) && other.fact.subject == of.fact.subject && !text.contains("never");
        let repeats = matches!(of.bound, Bound::For(_)) && own.expectations.iter().any(is_of_the_same);
        let is_negative = !is_timed(of) && !text.contains("matches its snapshot");
        is_negative && !repeats
    };
    let is_apart = |of: &&Expectation| {
        matches!(of.bound, Bound::Apart { .. } | Bound::At { after: Some(_), .. })
            && of.position.text.contains(" after ")
    };
    let apart = own.expectations.iter().filter(is_apart).map(|of| line(&of.position.text, true)).collect();
    let is_told = |of: &&Expectation| is_told(of) && !is_apart(of);
    let meanwhile = own.expectations.iter().filter(is_told).map(|of| line(&of.position.text, true)).collect();
    let when = own.when.iter().map(|when| when.position.clone()).collect();
    MeasuredAct { when, columns, apart, rows: rows.into_iter().map(|(_, row)| row).collect(), meanwhile }
}

/// Groups neighbouring releases on which the same came to pass at about the same instants.
fn columns(act: usize, runs: &[(Release, u64)], found: &Found) -> Vec<Vec<Release>> {
    let own = || found.iter().filter(|((of, _), _)| *of == act).map(|(_, instants)| instants);
    let is_same = |one: (Release, u64), other: (Release, u64)| {
        let cell = |instants: &BTreeMap<Release, BTreeMap<u64, f64>>, (release, runs): (Release, u64)| {
            let own: Vec<f64> = instants.get(&release).into_iter().flat_map(|own| own.values().copied()).collect();
            Cell::of(&own, runs)
        };
        match one.1.min(other.1) {
            few @ ..=RUNS_ALIKE => alike(own(), one.0, other.0, few),
            _ => own().all(|instants| !differ(cell(instants, one), cell(instants, other))),
        }
    };
    let mut columns: Vec<Vec<(Release, u64)>> = Vec::new();
    for own in runs {
        // A release with few runs was found to be like the one before.
        let is_alike = own.1 < columns.last().map_or(0, |column| column[0].1);
        match columns.last_mut() {
            Some(column) if is_alike || is_same(column[0], *own) => column.push(*own),
            _ => columns.push(vec![*own]),
        }
    }
    columns.into_iter().map(|column| column.into_iter().map(|(release, _)| release).collect()).collect()
}
