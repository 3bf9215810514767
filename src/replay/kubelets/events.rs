//! Compares the Events of kubelets with the recorded ones.
//!
//! Inputs: both sides' Events. Outputs: the differences, and how many recorded Events were matched. An Event may be
//! late, and may be counted in place of a new one; what it says, about what, how often and about when is compared.

use std::collections::BTreeMap;

use nodeproof_core::objects::Json;

use super::files::KubeletRecording;
use super::made::KubeletRun;
use super::recorded::RecordedWrites;
use super::{END_SLACK, difference, in_seconds};
use crate::replay::load::Micros;
use crate::replay::report::WriteDifference;

/// How far apart the two sides of an Event may be.
const WITHIN: Micros = 3_000_000;

/// The same after an outage: an Event that could not be written is tried again each 10 s.
const AFTER_OUTAGE: Micros = 12_000_000;

/// What an Event says, and about what.
type Said = (String, String, String, String);

fn said(event: &Json) -> Said {
    let text = |path: &[&str]| event.at(path).as_str().unwrap_or_default().to_owned();
    let kind = text(&["involvedObject", "kind"]);
    let object = format!("{kind}/{}{}", text(&["involvedObject", "name"]), text(&["involvedObject", "fieldPath"]));
    (object, text(&["type"]), text(&["reason"]), neutral(&text(&["message"])))
}

/// Returns a message without what a runtime or the clock put into it: ids, and how long something took.
fn neutral(message: &str) -> String {
    let mut words = Vec::new();
    for word in message.split(' ') {
        let bare = word.trim_matches(|letter: char| !letter.is_ascii_alphanumeric());
        let is_id = bare.len() == 64 && bare.bytes().all(|byte| byte.is_ascii_hexdigit());
        words.push(if is_id { word.replace(bare, "ID") } else { word.to_owned() });
    }
    words.join(" ")
}

/// Returns the differences, and the number of recorded Events that are matched.
pub(super) fn differences(
    recording: &KubeletRecording,
    recorded: &RecordedWrites<'_>,
    run: &KubeletRun,
) -> (Vec<WriteDifference>, usize) {
    let mut real: BTreeMap<Said, Vec<(Micros, i64)>> = BTreeMap::new();
    for event in &recorded.events {
        real.entry(said(&event.event)).or_default().push((event.t, event.times));
    }
    let mut sim: BTreeMap<Said, Vec<Micros>> = BTreeMap::new();
    for (t, event) in run.events.iter().filter(|(t, _)| *t >= 0) {
        sim.entry(said(event)).or_default().push(*t);
    }
    let (mut found, mut matched) = (Vec::new(), 0);
    for (what, lines) in &real {
        let mut own: Vec<Micros> = sim.remove(what).unwrap_or_default();
        for (t, times) in lines {
            let mut missing = *times;
            while missing > 0 {
                let within = if recording.follows_outage(*t) { AFTER_OUTAGE } else { WITHIN };
                let near = own.iter().enumerate().min_by_key(|(_, at)| (*at - t).abs());
                let Some((near, _)) = near.filter(|(_, at)| (*at - t).abs() <= within) else { break };
                own.remove(near);
                missing -= 1;
            }
            if missing == 0 || run.may_outlive(*t) {
                matched += 1;
            } else {
                let shifted = (!own.is_empty()).then(|| own.remove(0));
                let (path, real, sim) = match shifted {
                    Some(at) => ("t".to_owned(), Json::Float(in_seconds(*t)), Json::Float(in_seconds(at))),
                    None => ("create".to_owned(), shown(what), Json::Null),
                };
                found.push(difference(*t, subject(what), path, real, sim));
            }
        }
        own.retain(|t| !run.may_be_lost(*t));
        extra(recording, recorded, what, own, &mut found);
    }
    for (what, mut own) in sim {
        own.retain(|t| !run.may_be_lost(*t));
        extra(recording, recorded, &what, own, &mut found);
    }
    (found, matched)
}

fn extra(
    recording: &KubeletRecording,
    recorded: &RecordedWrites<'_>,
    what: &Said,
    own: Vec<Micros>,
    found: &mut Vec<WriteDifference>,
) {
    for t in own.into_iter().filter(|t| *t < recording.ended - END_SLACK && !recorded.is_ending(*t)) {
        found.push(difference(t, subject(what), "create".to_owned(), Json::Null, shown(what)));
    }
}

fn subject((object, _, reason, _): &Said) -> String {
    format!("events/{object}/{reason}")
}

fn shown((_, kind, _, message): &Said) -> Json {
    Json::text(format!("{kind}: {message}"))
}
