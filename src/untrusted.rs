//! Every reader of text from elsewhere, as a function of bytes that must not panic.
//!
//! Used by the fuzzers in `fuzz/`, one for each function, and by the tests here, which change valid text a little.
//! Inputs: any bytes. Outputs: none; a broken promise is a panic.

use nodeproof_core::objects::patch::{JsonPatch, merge, strategic_merge};
use nodeproof_core::objects::selector::{FieldSelector, Selector};
use nodeproof_core::objects::{Json, Path, names, protobuf, quantity, time, without_depths};
use nodeproof_core::profile::{Profile, Release};

use crate::control::{Session, Setup};
use crate::harness::{Seeds, Selection, parse_release, parse_seed};
use crate::load::{Requirements, Source, check_one};
use crate::replay::{Ledger, Recording, judge};
use crate::steps::{compile, read_objects, read_request};

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A feature file: either scenarios or problems come out.
pub fn feature(bytes: &[u8]) {
    let file = check_one(&Source::new("features/a/b.feature", bytes.to_vec()), &Requirements::default());
    let (compiled, problems) = compile(&file);
    let shown: String = problems.iter().map(|problem| format!("{problem}\n")).collect();
    assert!(!compiled.is_empty() || !problems.is_empty(), "nothing was said");
    assert!(!shown.contains("the function of this sentence failed"), "{shown}");
}

/// A step, under each keyword, after Nodes and Pods that it may name.
pub fn sentence(bytes: &[u8]) {
    let words = lossy(bytes).replace(['\n', '\r'], " ");
    for keyword in ["Given", "When", "Then"] {
        let when = if keyword == "Then" { "    When 1s passes\n" } else { "" };
        feature(
            format!(
                "Feature: x\n  Scenario: y\n    Given a ready Node \"worker-1\" in zone \"a\"\n    And a Pod \"web\" \
                    on Node \"worker-1\"\n{when}    {keyword} {words}\n"
            )
            .as_bytes(),
        );
    }
}

/// YAML: objects, requirements, a ledger, the body of a request.
pub fn yaml(bytes: &[u8]) {
    let text = lossy(bytes);
    drop(read_objects(&text));
    drop(Requirements::parse(&text));
    drop(Ledger::parse(&text));
    drop(nodeproof_core::objects::yaml::read(&text));
}

/// JSON: a value that is printed and parsed again is the same; it is decoded as several kinds. What is protobuf is that
/// after it was decoded and encoded.
pub fn json(bytes: &[u8]) {
    if let Ok(object) = protobuf::decode(bytes, Some("Node")) {
        drop(protobuf::encode(&Profile::default().schema(), &object));
    }
    drop(without_depths(&lossy(bytes)).ok());
    let Ok(value) = Json::parse(&lossy(bytes)) else { return };
    let again = Json::parse(&value.to_string());
    assert!(again.is_ok_and(|again| again == value), "{value}");
    let schema = Profile::default().schema();
    for kind in ["Node", "Pod", "Lease", "Event"] {
        drop(schema.decode(kind, &value));
    }
}

/// Selectors over labels and fields, tag expressions, paths to fields, requests, names.
pub fn selector(bytes: &[u8]) {
    let text = lossy(bytes);
    let labels = Json::parse(r#"{"a": "1", "b.c/d": "x"}"#).unwrap_or_default();
    for wording in [names::Wording::Characters, names::Wording::Bytes] {
        if let Ok(selector) = Selector::parse(&text, wording) {
            let _ = selector.matches(&labels);
        }
        drop((names::subdomain(&text, wording), names::label(&text, wording)));
    }
    if let Ok(selector) = FieldSelector::parse(&text) {
        let _ = selector.matches("pods", &labels);
    }
    if let Ok(path) = text.parse::<Path>() {
        let _ = path.look_up(&labels);
        assert!(path.to_string().parse::<Path>().is_ok_and(|again| again == path), "{path}");
    }
    drop((Selection::parse(&text), read_request("GET", &text), read_request("PATCH", &text)));
}

/// A patch of each type on an object: two lines of JSON.
pub fn patch(bytes: &[u8]) {
    let text = lossy(bytes);
    let (object, change) = text.split_once('\n').unwrap_or((&text, "{}"));
    let (Ok(object), Ok(change)) = (Json::parse(object), Json::parse(change)) else { return };
    let merged = merge(&object, &change);
    assert_eq!(merge(&merged, &change), merged, "a merge patch twice does what it does once");
    if let Ok(patch) = JsonPatch::parse(&change) {
        drop(patch.apply(&object));
    }
    let schema = Profile::default().schema();
    for kind in ["Node", "Pod", "Unknown"] {
        drop(strategic_merge(&schema, kind, &object, &change));
    }
    drop(nodeproof_core::objects::diff::diff(&object, &merged));
}

/// Quantities, durations, instants, releases, seeds.
pub fn quantity(bytes: &[u8]) {
    let text = lossy(bytes);
    if let Some(quantity) = quantity::Quantity::parse(&text) {
        let _ = (quantity.value(), quantity.milli_value(), quantity.to_string());
    }
    if let Some(duration) = time::parse_duration(&text) {
        let shown = time::exact_seconds(duration);
        assert_eq!(time::parse_duration(&shown), Some(duration), "{shown}");
    }
    let _ = (time::parse(&text), text.parse::<Release>().is_ok());
    drop((parse_release(&text), parse_seed(&text), Seeds::parse(&text)));
}

/// The files of a recording, separated by the character RS (0x1e); what can be read is replayed.
pub fn recording(bytes: &[u8]) {
    let mut files = bytes.split(|byte| *byte == 0x1e);
    let mut next = || files.next().unwrap_or_default();
    let Ok(recording) = Recording::parse(&lossy(next()), next(), next(), next()) else { return };
    drop(judge(&recording, &Ledger::default()).map(|report| report.text()));
}

/// Lines of the control interface; the clock stays where it is, so that no line can take hours.
pub fn control(bytes: &[u8]) {
    const LINES_MAX: usize = 20;
    let Ok(mut session) = Session::new(Setup::default()) else { return };
    let lines = bytes.split(|byte| *byte == b'\n').take(LINES_MAX);
    for line in lines.filter(|line| !lossy(line).contains("clock")) {
        let answer = session.answer(line);
        assert!(!answer.contains("met a bug"), "{answer}");
    }
}

#[cfg(test)]
mod tests;
