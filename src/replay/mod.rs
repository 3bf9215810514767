//! Compares the model with recordings of real control planes, writer by writer.
//!
//! Inputs: a recording and the ledger. Output: a [`ReplayReport`]. Each judged writer is driven alone with what its
//! real counterpart saw (watches, answers, time), and its writes are compared with the recorded ones: object, verb,
//! fields, instant. So one difference does not cause others, and the writes of a writer that is not modelled are
//! inputs. Free choices are read from the recording and given to the component, which must be able to make them; the
//! phases of its loops are inferred. Invariant: every difference is unexplained or is in the ledger
//! (`fixtures/recorded/divergences.yaml`).

pub mod admission;
pub mod drive;
pub mod exchanges;
pub mod feature;
pub mod inferred;
pub mod kubelets;
pub mod ledger;
pub mod load;
pub mod order;
pub mod phases;
pub mod recorded;
pub mod recorded_cluster;
pub mod report;
pub mod search;
mod server;
pub mod settled;
pub mod streams;
pub mod trials;
pub mod watched;
pub mod writers;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use jiff::SignedDuration;
use nodeproof_core::components::registry::canonical;
use nodeproof_core::json;
use nodeproof_core::network::{EVENTS, Verb};
use nodeproof_core::objects::Json;
use nodeproof_core::profile::{Release, Settings, SettingsError};

pub use ledger::{Ledger, LedgerError};
pub use load::{LoadError, Recording};
pub use report::{ReplayReport, WriteDifference};

use drive::Run;
use load::Micros;
use phases::Passes;
use recorded::Recorded;
use report::{Unjudged, in_seconds};
use search::Search;
use writers::{WriteChange, Writer};

/// A write of the same content at most this far away is reported as one at another instant.
const SHIFTED_WITHIN: Micros = 60_000_000;

/// Flags about how a recording was made or who may do what; they do not affect the judged writes.
const WITHOUT_TRACE: &[&str] = &[
    "authorization-mode",
    "concurrent-gc-syncs",
    "controllers",
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
pub fn replay(dir: &Path, release: Option<Release>, ledger: &Ledger) -> Result<ReplayReport, ReplayError> {
    let recording = Recording::load(dir, release)?;
    judge(&recording, ledger).map_err(|why| {
        let file = dir.join("about.yaml");
        ReplayError::Load(LoadError::BadAbout { file, why: why.to_string() })
    })
}

/// Replays a recording.
///
/// # Errors
/// A flag of the recording has an invalid value.
pub fn judge(recording: &Recording, ledger: &Ledger) -> Result<ReplayReport, SettingsError> {
    let recorded = Recorded::of(recording);
    let (settings, flags_unknown) = settings(recording)?;
    let period = i64::try_from(settings.duration("node-monitor-period").as_micros()).unwrap_or(5_000_000);
    let period = period.max(1);
    let passes = phases::passes(&recorded, period, &BTreeSet::new());
    let mut report = ReplayReport {
        recording: format!("{}/{}", recording.about.kubernetes, recording.about.name),
        writes: recorded.total,
        unjudged: recorded.unjudged.values().sum(),
        unjudged_by: recorded.unjudged.clone(),
        phases: phases_json(&passes, phases::taintings(&recorded).len(), period),
        flags_unknown,
        ..ReplayReport::default()
    };
    for writer in Writer::controllers() {
        if let Err(why) = runs(recording, writer) {
            set_aside(&recorded, writer, why, &mut report);
            continue;
        }
        let more = judge_writer(&recorded, writer, &settings, (&passes, period), &mut report);
        if !more.is_empty() {
            let passes = phases::passes(&recorded, period, &more);
            report.phases = phases_json(&passes, phases::taintings(&recorded).len(), period);
        }
    }
    let (admitted, differences) = admission::judge(recording, &settings);
    report.admitted = admitted;
    report.differences.extend(differences);
    finish(&mut report, ledger);
    Ok(report)
}

/// Counts the writes of a writer that is not judged.
fn set_aside(recorded: &Recorded<'_>, writer: Writer, why: &'static str, report: &mut ReplayReport) {
    let writes = recorded.writes_of(writer).count();
    if writes > 0 {
        report.unjudged += writes;
        *report.unjudged_by.entry(Unjudged::new(writer.name(), why)).or_default() += writes;
    }
}

/// Checks that a writer can be judged: the controller manager ran it, and what it reads is recorded.
///
/// # Errors
/// It cannot be judged, for this reason.
fn runs(recording: &Recording, writer: Writer) -> Result<(), &'static str> {
    if recording.about.writes == load::WriteSource::Watch && !is_told(recording, writer) {
        return Err("watches alone do not tell its writes");
    }
    if !inferred::is_known(recording, writer) {
        return Err("what it reads is not recorded");
    }
    if writer == Writer::SCHEDULER {
        return Ok(());
    }
    let flags = recording.about.flags.get("kube-controller-manager").map_or(&[][..], Vec::as_slice);
    let mut lists =
        flags.iter().flat_map(|line| line.split_whitespace()).filter_map(|flag| flag.strip_prefix("--controllers="));
    let Some(list) = lists.next_back() else { return Ok(()) };
    let names = |text: &str| canonical(text) == writer.name();
    let is_off = |item: &str| item.strip_prefix('-').is_some_and(names);
    let is_on = !list.split(',').any(is_off) && list.split(',').any(|item| item == "*" || names(item));
    if is_on { Ok(()) } else { Err("the controller manager does not run it") }
}

/// Tells whether watches alone show all writes of a writer. For blocks of addresses this is so only if they are
/// allocated and none was allocated before: the next block depends on all earlier ones.
fn is_told(recording: &Recording, writer: Writer) -> bool {
    let has_blocks = || {
        let flags = recording.about.flags.get("kube-controller-manager").into_iter().flatten();
        let was_empty = !recording.watch.iter().any(|line| line.listed && line.kind == "Node");
        was_empty && flags.into_iter().any(|flag| flag.contains("--allocate-node-cidrs"))
    };
    watched::TOLD.contains(&writer) && (writer != Writer::NODE_IPAM || has_blocks())
}

/// Applies the recording's flags; returns those that the model does not know.
fn settings(recording: &Recording) -> Result<(Arc<Settings>, Vec<String>), SettingsError> {
    let mut settings = Settings::of(recording.about.release);
    let mut unknown = Vec::new();
    for (component, flags) in &recording.about.flags {
        for flag in flags.iter().flat_map(|line| line.split_whitespace()).filter_map(|flag| flag.strip_prefix("--")) {
            let (name, value) = flag.split_once('=').unwrap_or((flag, "true"));
            let leaves_no_trace = WITHOUT_TRACE.contains(&name) || name.starts_with("audit-");
            match settings.set(&format!("{component}.{name}"), value) {
                Err(SettingsError::UnknownFlag { .. } | SettingsError::OtherRelease(..)) if !leaves_no_trace => {
                    unknown.push(format!("{component} --{name}"));
                }
                Err(bad @ SettingsError::BadValue { .. }) => return Err(bad),
                _ => {}
            }
        }
    }
    Ok((Arc::new(settings), unknown))
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

/// Judges one writer; returns the health passes that this has found.
fn judge_writer(
    recorded: &Recorded<'_>,
    writer: Writer,
    settings: &Arc<Settings>,
    (passes, period): (&Passes, Micros),
    report: &mut ReplayReport,
) -> BTreeSet<Micros> {
    let judged = recorded.writes_of(writer).count();
    let Some((run, choices)) = Search::new(recorded, writer, settings, (passes, period)).best() else {
        set_aside(recorded, writer, "its flags keep it from running", report);
        return BTreeSet::new();
    };
    let differing: BTreeSet<usize> = run.differences.iter().map(|(index, _)| *index).collect();
    let statuses =
        recorded.writes_of(writer).filter(|(_, write)| settled::is_judged(writer, write.verb, &write.place)).count();
    let is_status = |index: &usize| {
        let write = &recorded.writes[*index];
        settled::is_judged(writer, write.verb, &write.place)
    };
    let unsettled = settled::differences(recorded, writer, &run).iter().map(|one| one.t).collect::<BTreeSet<_>>().len();
    let matched = run.matched.keys().filter(|index| !differing.contains(index) && !is_status(index)).count()
        + statuses.saturating_sub(unsettled);
    report.judged += judged;
    report.by_instant += recorded.writes_of(writer).filter(|(_, write)| write.change == WriteChange::Unknown).count();
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
    count("renewals and changes beside a health pass", choices.moved.len());
    count("health passes that a taint shows", choices.passes.len());
    count("conflicts", recorded.writes_of(writer).filter(|(_, write)| write.code == 409).count());
    let events = run.predictions.iter().filter(|made| made.place.resource == EVENTS && made.verb == Verb::Create);
    count("names of Events", events.count());
    count("syncs of workloads", statuses);
    let made = |write: &recorded::RecordedWrite| write.verb == Verb::Create && !write.generate_name.is_empty();
    count("names of objects", recorded.writes_of(writer).filter(|(_, write)| made(write)).count());
    report.differences.extend(differences(recorded, writer, &run));
    choices.passes
}

/// Returns all differences of a run: fields, order, writes of one side only, writes at another instant.
fn differences(recorded: &Recorded<'_>, writer: Writer, run: &Run) -> Vec<WriteDifference> {
    let mut found: Vec<WriteDifference> = run.differences.iter().map(|(_, difference)| difference.clone()).collect();
    found.extend(order::differences(recorded, writer, run));
    found.extend(settled::differences(recorded, writer, run));
    let mut extra: Vec<&drive::Prediction> = run
        .predictions
        .iter()
        .filter(|made| made.matched.is_none() && !settled::is_judged(writer, made.verb, &made.place))
        .collect();
    for (index, write) in recorded.writes_of(writer) {
        let told = run.predictions.iter().map(|made| (made.t, &made.change));
        if run.matched.contains_key(&index)
            || settled::is_judged(writer, write.verb, &write.place)
            || settled::counts_syncs(writer, (write.t, write.verb, &write.change), told)
        {
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
        found.push(WriteDifference {
            t: write.t,
            writer: writer.name(),
            object: subject(&write.place, &write.change),
            path,
            real,
            sim,
            ledger: None,
        });
    }
    extra.retain(|made| {
        let told = recorded.writes_of(writer).map(|(_, write)| (write.t, &write.change));
        !recorded.was_registered_before(&made.change)
            && !settled::counts_syncs(writer, (made.t, made.verb, &made.change), told)
    });
    // Writes after the end of the recording cannot be judged.
    let end = recorded.recording.about.ended;
    for made in extra.into_iter().filter(|made| end == 0 || made.t < end - 500_000) {
        found.push(WriteDifference {
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

/// Names the object of a write; for an Event, the object that it is about.
fn subject(place: &writers::WriteTarget, change: &WriteChange) -> String {
    match change {
        WriteChange::Event(event) => {
            let part = |path: &[&str]| event.at(path).as_str().unwrap_or_default().to_owned();
            format!("events/{}/{}", part(&["involvedObject", "name"]), part(&["reason"]))
        }
        _ => {
            let object = place.object();
            if place.subresource.is_empty() { object } else { format!("{object}/{}", place.subresource) }
        }
    }
}

fn shown(change: &WriteChange) -> Json {
    match change.as_json() {
        Json::Null => Json::text("a write"),
        json if json.is_empty() => Json::text("a write that changes nothing"),
        json => json,
    }
}

fn finish(report: &mut ReplayReport, ledger: &Ledger) {
    report.differences.sort_by_key(|difference| difference.t);
    for difference in &mut report.differences {
        difference.ledger = ledger.explain(&report.recording, difference).map(|entry| entry.why.clone());
    }
    // A write counts once, however many fields differ, and is explained only if all of them are.
    let mut writes: BTreeMap<(Micros, &str, &str), bool> = BTreeMap::new();
    for difference in &report.differences {
        let key = (difference.t, difference.writer, difference.object.as_str());
        *writes.entry(key).or_insert(true) &= difference.ledger.is_some();
    }
    report.explained = writes.values().filter(|explained| **explained).count();
    report.unexplained = writes.len() - report.explained;
}

#[cfg(test)]
mod describe_tests;
#[cfg(test)]
mod kubelet_server_tests;
#[cfg(test)]
mod quantity_tests;
#[cfg(test)]
mod tests;
