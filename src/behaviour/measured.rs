//! Runs a scenario on each release under some seeds, and tells what came to pass when.

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;
use nodeproof_core::profile::{DEFAULT_RELEASE, RELEASES, Release};
use nodeproof_core::scenario::{Bound, Expectation, Given, Outcome, Position, ScenarioAction, Setup, Verdict};

use super::pages::Part;
use super::words::{Happening, joined, line, told};
use crate::harness::{EntryPoint, Planned, Suite, SuiteOptions, run};

/// Under how many seeds a scenario runs.
pub(super) const SEEDS: u64 = 6;
/// The period of a kubelet's heartbeats, in which the runs are spread.
const HEARTBEAT: i64 = 10;
/// How far instants may differ between releases, in seconds, and still count as the same: delays are random.
const SAME: f64 = 2.0;

/// When something came to pass on one release: from the zero of its act, for each seed; fewer where it did not.
type Instants = Vec<f64>;
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
    /// For each column between which instants, and under how many of the seeds; `None` if never.
    pub(super) cells: Vec<Option<(f64, f64, usize)>>,
}

/// Runs the scenarios of a part.
///
/// # Errors
/// A scenario is not there, or does not hold.
pub(super) fn measure<'a>(suite: &'a Suite, part: &Part) -> Result<Measured<'a>, String> {
    let mut scenarios: Vec<(&Planned, Vec<Release>)> = Vec::new();
    for name in &part.scenarios {
        let found = suite.planned.iter().find(|planned| planned.compiled.id == *name);
        scenarios.push((found.ok_or_else(|| format!("there is no scenario {name}"))?, Vec::new()));
    }
    let mut found = Found::new();
    let mut releases = Vec::new();
    for release in RELEASES {
        let fits = |planned: &Planned| planned.tags().other_release(release).is_none();
        let Some((planned, own)) = scenarios.iter_mut().find(|(planned, _)| fits(planned)) else { continue };
        own.push(release);
        releases.push(release);
        for (seed, outcome) in runs(suite, planned, release)? {
            note(planned, &outcome, (release, seed), &mut found);
        }
    }
    scenarios.retain(|(_, releases)| !releases.is_empty());
    let main = scenarios.iter().find(|(_, own)| own.contains(&DEFAULT_RELEASE)).or_else(|| scenarios.last());
    let main = main.ok_or_else(|| format!("no release has {}", part.title))?.0;
    let acts = (0..main.compiled.scenario.acts.len()).map(|act| measured_act(main, act, &releases, &found));
    Ok(Measured { acts: acts.collect(), scenarios })
}

/// Runs a scenario under each seed, on two threads.
fn runs(suite: &Suite, planned: &Planned, release: Release) -> Result<Vec<(u64, Outcome)>, String> {
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
    let half = |odd: u64| (1..=SEEDS).filter(move |seed| seed % 2 == odd).map(one).collect::<Result<Vec<_>, _>>();
    let (odd, even) = std::thread::scope(|scope| {
        let other = scope.spawn(|| half(1));
        (half(0), other.join())
    });
    let mut all = odd?;
    all.extend(even.map_err(|_| format!("{} broke down", planned.name))??);
    Ok(all)
}

/// Lets some time pass before the first act, another with each seed, so that it falls anywhere between two heartbeats:
/// a scenario begins soon after one. Where something is done before the first act, that would not change anything.
fn shifted(planned: &Planned, seed: u64) -> Planned {
    let mut shifted = planned.clone();
    let given = &mut shifted.compiled.scenario.given;
    let is_still = given.iter().all(|own| !matches!(own.setup, Setup::Do(_)));
    if let Some(position) = given.last().map(|last| last.position.clone()).filter(|_| is_still) {
        let share = SignedDuration::from_millis(HEARTBEAT * 1000 * (seed as i64 - 1) / SEEDS as i64);
        given.push(Given { setup: Setup::Do(ScenarioAction::Pass(share)), position });
    }
    shifted
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

fn measured_act(planned: &Planned, act: usize, releases: &[Release], found: &Found) -> MeasuredAct {
    let own = &planned.compiled.scenario.acts[act];
    let columns = columns(act, releases, found);
    let mut rows: Vec<Together> = Vec::new();
    for ((_, happening), instants) in found.iter().filter(|((of, _), _)| *of == act) {
        let key: Vec<BTreeMap<u64, f64>> =
            releases.iter().map(|release| instants.get(release).cloned().unwrap_or_default()).collect();
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
            let of = |release: &Release| {
                let at = releases.iter().position(|own| own == release).unwrap_or_default();
                key[at].values().copied().collect::<Instants>()
            };
            let cells: Vec<_> = columns
                .iter()
                .map(|column| cell(&column.iter().flat_map(&of).collect::<Vec<_>>(), column.len()))
                .collect();
            let last = cells.iter().rev().flatten().next().map_or(0.0, |(from, to, _)| from + to);
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

fn cell(instants: &[f64], releases: usize) -> Option<(f64, f64, usize)> {
    let first = instants.iter().copied().reduce(f64::min)?;
    let last = instants.iter().copied().reduce(f64::max)?;
    Some((first, last, instants.len() / releases.max(1)))
}

/// Groups neighbouring releases on which the same came to pass at about the same instants.
fn columns(act: usize, releases: &[Release], found: &Found) -> Vec<Vec<Release>> {
    let is_same = |one: Release, other: Release| {
        found.iter().filter(|((of, _), _)| *of == act).all(|(_, instants)| {
            let of = |release: Release| instants.get(&release).map(|own| own.values().copied().collect::<Instants>());
            match (of(one).and_then(|own| cell(&own, 1)), of(other).and_then(|own| cell(&own, 1))) {
                (None, None) => true,
                (Some((from, to, _)), Some((first, last, _))) => {
                    (from - first).abs() < SAME && (to - last).abs() < SAME
                }
                _ => false,
            }
        })
    };
    let mut columns: Vec<Vec<Release>> = Vec::new();
    for release in releases {
        match columns.last_mut() {
            Some(column) if is_same(column[0], *release) => column.push(*release),
            _ => columns.push(vec![*release]),
        }
    }
    columns
}
