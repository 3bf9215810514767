//! Holds the model against recordings of real control planes, writer by writer.
//!
//! Each judged writer is driven on its own with what its real counterpart saw (watches, answers, time), and its writes
//! are compared with the recorded ones: object, verb, fields, instant. So one difference does not cascade, and a writer
//! that is not modelled is simply an input. Free choices are read from the recording and laid before the component,
//! which must be able to make them; the phases of its loops are inferred. Every difference is a defect or stands in the
//! ledger (`fixtures/recorded/divergences.yaml`).

pub mod admission;
pub mod drive;
pub mod ledger;
pub mod load;
pub mod phases;
pub mod recorded;
pub mod report;
pub mod trials;
pub mod world;
pub mod writers;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use jiff::SignedDuration;
use nodeproof_core::json;
use nodeproof_core::network::{EVENTS, LEASES, NODES, Verb};
use nodeproof_core::objects::Json;
use nodeproof_core::profile::{Release, Settings};

pub use ledger::{Ledger, LedgerError};
pub use load::{LoadError, Recording};
pub use report::{Difference, Report};

use drive::{Choices, Run};
use load::Micros;
use phases::Passes;
use recorded::Recorded;
use writers::{Change, Writer};

/// How often a run is repeated with choices found in the one before.
const ROUNDS_MAX: usize = 8;
/// A write that repeats another of the same object within this time saw an old copy in its cache.
const STALE_WITHIN: Micros = 1_000_000;
/// A taint that comes this soon after the status that causes it may have missed its tick.
const TICK_WITHIN: Micros = 300_000;
/// A renewal may reach the cache this much later than an answer usually takes, or this much earlier.
const RENEWAL_LATE: Micros = 60_000;
const RENEWAL_EARLY: Micros = 4_000;
/// A renewal bears on whether a node is silent for this long at most.
const RENEWAL_MATTERS: Micros = 120_000_000;
/// A write of the same content this far away is shown as one that came at another instant.
const SHIFTED_WITHIN: Micros = 60_000_000;

/// Flags that say how a recording was made or who may do what, and that leave no trace in the judged writes.
const WITHOUT_TRACE: &[&str] = &[
    "allocate-node-cidrs",
    "authorization-mode",
    "cluster-cidr",
    "enable-admission-plugins",
    "endpoint-reconciler-type",
    "leader-elect",
    "service-cluster-ip-range",
    "token-auth-file",
    "use-service-account-credentials",
    "v",
    "vmodule",
];

/// Why a replay cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The recording cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The ledger cannot be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// Replays the recording of a directory, under its own release or another.
///
/// # Errors
/// The recording cannot be read.
pub fn replay(dir: &Path, release: Option<Release>, ledger: &Ledger) -> Result<Report, ReplayError> {
    let recording = Recording::load(dir, release)?;
    Ok(judge(&recording, ledger))
}

/// Replays a recording.
#[must_use]
pub fn judge(recording: &Recording, ledger: &Ledger) -> Report {
    let recorded = Recorded::of(recording);
    let (settings, flags_unknown) = settings(recording);
    let period = i64::try_from(settings.duration("node-monitor-period").as_micros()).unwrap_or(5_000_000);
    let passes = phases::passes(&recorded, period.max(1));
    let mut report = Report {
        recording: format!("{}/{}", recording.about.kubernetes, recording.about.name),
        writes: recorded.total,
        unjudged: recorded.unjudged.values().sum(),
        unjudged_by: recorded.unjudged.clone(),
        phases: phases_json(&passes, phases::taintings(&recorded).len(), period),
        flags_unknown,
        ..Report::default()
    };
    for writer in Writer::CONTROLLERS {
        judge_writer(&recorded, writer, &settings, &passes, &mut report);
    }
    let (admitted, differences) = admission::judge(recording, &settings);
    report.admitted = admitted;
    report.differences.extend(differences);
    finish(&mut report, ledger);
    report
}

/// Applies the recording's flags; returns those that the model does not know.
fn settings(recording: &Recording) -> (Arc<Settings>, Vec<String>) {
    let mut settings = Settings::of(recording.about.release);
    let mut unknown = Vec::new();
    for (component, flags) in &recording.about.flags {
        for flag in flags.iter().filter_map(|flag| flag.strip_prefix("--")) {
            let (name, value) = flag.split_once('=').unwrap_or((flag, "true"));
            let leaves_no_trace = WITHOUT_TRACE.contains(&name) || name.starts_with("audit-") || name.starts_with("v ");
            if settings.set(&format!("{component}.{name}"), value).is_err() && !leaves_no_trace {
                unknown.push(format!("{component} --{name}"));
            }
        }
    }
    (Arc::new(settings), unknown)
}

fn phases_json(passes: &Passes, taints: usize, period: Micros) -> Json {
    let first = passes.starts.iter().copied().find(|start| *start >= 0).unwrap_or(0);
    json!({"health-pass": {
        "first": [in_seconds(first + passes.slack.0), in_seconds(first + passes.slack.1)],
        "period": in_seconds(period),
        "passes": passes.starts.iter().filter(|start| **start >= 0).count(),
        "seen": passes.seen,
    }, "taint-pass": {"period": in_seconds(phases::TICK), "seen": taints}})
}

#[expect(clippy::cast_precision_loss, reason = "a recording lasts hours, and microseconds are exact in 53 bits")]
fn in_seconds(t: Micros) -> f64 {
    t as f64 / 1e6
}

fn judge_writer(
    recorded: &Recorded<'_>,
    writer: Writer,
    settings: &Arc<Settings>,
    passes: &Passes,
    report: &mut Report,
) {
    let judged = recorded.writes_of(writer).count();
    let Some((run, choices)) = best_run(recorded, writer, settings, passes) else {
        report.unjudged += judged;
        if judged == 0 {
            return;
        }
        *report.unjudged_by.entry(writer.name().to_owned()).or_default() += judged;
        return;
    };
    let differing: BTreeSet<usize> = run.differences.iter().map(|(index, _)| *index).collect();
    let matched = run.matched.keys().filter(|index| !differing.contains(index)).count();
    report.judged += judged;
    report.matched += matched;
    report.by_writer.insert(writer.name(), (judged, matched));
    let mut count = |name: &'static str, number: usize| {
        if number > 0 {
            *report.choices.entry(name).or_default() += number;
        }
    };
    count("orders of nodes", run.orders);
    count("own writes seen late", choices.late_echo.len());
    count("taint passes before the status was seen", choices.early_tick.len());
    count("taint passes before the zones were judged", choices.tick_in_pass.len());
    count("renewals beside a health pass", choices.renewals.len());
    count("conflicts", recorded.writes_of(writer).filter(|(_, write)| write.code == 409).count());
    let events = run.predictions.iter().filter(|made| made.place.resource == EVENTS && made.verb == Verb::Create);
    count("names of Events", events.count());
    report.differences.extend(differences(recorded, writer, &run));
}

/// Repeats the run with the choices that the recording shows, as long as that brings it nearer.
fn best_run(
    recorded: &Recorded<'_>,
    writer: Writer,
    settings: &Arc<Settings>,
    passes: &Passes,
) -> Option<(Run, Choices)> {
    let mut choices = Choices::default();
    let mut best = drive::run(recorded, writer, settings, passes, &choices)?;
    let mut open = differences(recorded, writer, &best).len();
    for _ in 0..ROUNDS_MAX {
        if open == 0 {
            break;
        }
        let more = more_choices(recorded, writer, passes, &best, &choices);
        if more == choices {
            break;
        }
        let run = drive::run(recorded, writer, settings, passes, &more)?;
        let left = differences(recorded, writer, &run).len();
        if left >= open {
            break;
        }
        (best, choices, open) = (run, more, left);
    }
    Some((best, choices))
}

/// Finds the choices that would explain what is still open after a run.
fn more_choices(recorded: &Recorded<'_>, writer: Writer, passes: &Passes, run: &Run, before: &Choices) -> Choices {
    let mut choices = before.clone();
    for (index, write) in recorded.writes_of(writer) {
        if run.matched.contains_key(&index) {
            continue;
        }
        if matches!(&write.change, Change::Taints { added, .. } if added.iter().any(phases::is_eviction_taint)) {
            let pass = passes.starts.partition_point(|start| *start <= write.t);
            if pass > 0 && write.t - passes.starts[pass - 1] < TICK_WITHIN {
                choices.tick_in_pass.insert(pass - 1);
            }
        }
        if is_silence(write.verb, &write.place) {
            // The model was later: a renewal that it saw in one pass was seen in none, or in the one before.
            choices.renewals.extend(renewals_near(recorded, passes, &write.place.name, write.t, -RENEWAL_EARLY));
        }
    }
    for made in run.predictions.iter().filter(|made| made.matched.is_none() && is_silence(made.verb, &made.place)) {
        choices.renewals.extend(renewals_near(recorded, passes, &made.place.name, made.t, RENEWAL_LATE));
    }
    for (index, write) in recorded.writes_of(writer) {
        if run.matched.contains_key(&index) || write.place.resource == EVENTS {
            continue;
        }
        let earlier = recorded.writes_of(writer).filter(|(other, earlier)| {
            *other < index
                && earlier.place == write.place
                && earlier.verb == write.verb
                && write.t - earlier.t < STALE_WITHIN
                && earlier.code < 300
                && (write.change.is_empty() || earlier.change == write.change)
        });
        choices.late_echo.extend(earlier.map(|(other, _)| other));
    }
    for made in run.predictions.iter().filter(|made| made.matched.is_none()) {
        let Change::Taints { added, .. } = &made.change else { continue };
        if !added.iter().any(phases::is_eviction_taint) {
            continue;
        }
        let status = recorded.writes_of(writer).filter(|(_, write)| {
            write.place.resource == NODES
                && write.verb == Verb::Update
                && write.place.name == made.place.name
                && made.t - write.end < TICK_WITHIN
                && write.t <= made.t
        });
        choices.early_tick.extend(status.map(|(index, _)| index));
    }
    choices
}

/// Tells whether a write is the one by which a health pass marks a silent node.
fn is_silence(verb: Verb, place: &writers::Place) -> bool {
    verb == Verb::Update && place.resource == NODES
}

/// Finds the renewals of a node of which it is not certain whether a health pass saw them, and moves them to the other
/// side of the pass: later by up to `moved`, or earlier if that is negative.
fn renewals_near(
    recorded: &Recorded<'_>,
    passes: &Passes,
    node: &str,
    before: Micros,
    moved: Micros,
) -> Vec<(usize, Micros)> {
    let leases = recorded.streams.iter().find(|stream| stream.resource == LEASES);
    let events = leases.map_or(&[][..], |stream| stream.events.as_slice());
    let mut found = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let is_its =
            event.is_renewal() && event.object.name() == node && event.t < before && before - event.t < RENEWAL_MATTERS;
        let (from, until) = (event.t.min(event.t + moved), event.t.max(event.t + moved));
        let pass = passes.starts.iter().find(|start| **start >= from && **start <= until);
        if let (true, Some(pass)) = (is_its, pass) {
            found.push((at, if moved < 0 { pass - 1 } else { pass + 1 }));
        }
    }
    found
}

/// Returns all differences of a run: fields, writes that only one side has, writes at another instant.
fn differences(recorded: &Recorded<'_>, writer: Writer, run: &Run) -> Vec<Difference> {
    let mut found: Vec<Difference> = run.differences.iter().map(|(_, difference)| difference.clone()).collect();
    let mut extra: Vec<&drive::Prediction> = run.predictions.iter().filter(|made| made.matched.is_none()).collect();
    for (index, write) in recorded.writes_of(writer) {
        if run.matched.contains_key(&index) {
            continue;
        }
        let shifted = extra.iter().position(|made| {
            let place =
                if write.place.resource == EVENTS { made.place.resource == EVENTS } else { made.place == write.place };
            place
                && (made.t - write.t).abs() < SHIFTED_WITHIN
                && write.change.differences(&made.change, SignedDuration::from_mins(5)).is_empty()
                && (write.place.resource == EVENTS || made.verb == write.verb)
        });
        let (path, sim) = match shifted {
            Some(at) => ("t".to_owned(), Json::Float(in_seconds(extra.remove(at).t))),
            None => (write.verb.name().to_owned(), Json::Null),
        };
        let real = if shifted.is_some() { Json::Float(in_seconds(write.t)) } else { shown(&write.change) };
        found.push(Difference {
            t: write.t,
            writer: writer.name(),
            object: subject(&write.place, &write.change),
            path,
            real,
            sim,
            ledger: None,
        });
    }
    // What the recording cuts off at its end cannot be judged.
    let end = recorded.recording.about.ended;
    for made in extra.into_iter().filter(|made| end == 0 || made.t < end - 500_000) {
        found.push(Difference {
            t: made.t,
            writer: writer.name(),
            object: subject(&made.place, &made.change),
            path: made.verb.name().to_owned(),
            real: Json::Null,
            sim: shown(&made.change),
            ledger: None,
        });
    }
    found
}

/// Names the object of a write; an Event is named by what it is about.
fn subject(place: &writers::Place, change: &Change) -> String {
    match change {
        Change::Event(event) => {
            let part = |path: &[&str]| event.at(path).as_str().unwrap_or_default().to_owned();
            format!("events/{}/{}", part(&["involvedObject", "name"]), part(&["reason"]))
        }
        _ => {
            let object = place.object();
            if place.subresource.is_empty() { object } else { format!("{object}/{}", place.subresource) }
        }
    }
}

fn shown(change: &Change) -> Json {
    match change.as_json() {
        Json::Null => Json::text("a write"),
        json if json.is_empty() => Json::text("a write that changes nothing"),
        json => json,
    }
}

fn finish(report: &mut Report, ledger: &Ledger) {
    report.differences.sort_by_key(|difference| difference.t);
    for difference in &mut report.differences {
        difference.ledger = ledger.explain(&report.recording, difference).map(|entry| entry.why.clone());
    }
    report.explained = report.differences.iter().filter(|difference| difference.ledger.is_some()).count();
    report.unexplained = report.differences.len() - report.explained;
}

#[cfg(test)]
mod tests;
