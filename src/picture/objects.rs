//! The objects of a picture as they were after each write: what the slider of a page shows.
//!
//! Inputs: the versions of the observed objects. Output: JSON for the page's script. Each version is told by how its
//! YAML differs from the version before, as in an edit script: `[first line, lines that go, lines that come...]`. A
//! line is a number, its place in a table that all pictures of a page share.

use std::collections::BTreeMap;

use jiff::Timestamp;
use nodeproof_core::objects::Json;
use nodeproof_core::scenario::Outcome;
use serde::Serialize;
use similar::{Algorithm, capture_diff_slices};

use crate::harness::print_yaml;

/// How many versions of an object are kept. Of one with more none is: what is between would be told wrongly.
const VERSIONS_MAX: usize = 400;
/// Kinds whose content is nobody's business.
const SECRET: &str = "Secret";

/// An object over time; instants in seconds from the zero of the first act.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownObject {
    /// Its lane: `Node worker-1`.
    pub lane: String,
    /// Its writes, and what it was like then; `None` where it was deleted.
    pub versions: Vec<(f64, Option<Json>)>,
}

/// Returns the objects of a run, each from what it was like at an instant on.
pub(super) fn of(outcome: &Outcome, zero: Timestamp, from: f64) -> Vec<ShownObject> {
    let all = outcome.histories.versions().into_iter().filter(|own| own.object.kind != SECRET);
    all.filter_map(|own| {
        let since = |at: Timestamp| at.duration_since(zero).as_secs_f64();
        let mut versions: Vec<_> = own.versions.into_iter().map(|(at, object)| (since(at), object)).collect();
        let first = versions.partition_point(|(at, _)| *at <= from).saturating_sub(1);
        versions.drain(..first);
        let lane = format!("{} {}", own.object.kind, own.object.key.name);
        (1..=VERSIONS_MAX).contains(&versions.len()).then_some(ShownObject { lane, versions })
    })
    .collect()
}

/// The lines of all objects of a page, each once.
#[derive(Debug, Default)]
pub(super) struct LineTable {
    places: BTreeMap<String, usize>,
    /// The lines as JSON, with the comma that follows each.
    json: String,
}

/// A version: when, and how its lines differ from those of the version before; `None` where the object was deleted.
type Edited = (f64, Option<Vec<Vec<usize>>>);

#[derive(Serialize)]
struct Told<'a> {
    lane: &'a str,
    versions: Vec<Edited>,
}

impl LineTable {
    /// Returns some objects as JSON that may stand in a page, unless that and its new lines take more than some bytes.
    pub(super) fn told(&mut self, objects: &[ShownObject], bytes_max: usize) -> Option<(String, usize)> {
        let (lines, size) = (self.places.len(), self.json.len());
        let all: Vec<Told<'_>> = objects.iter().map(|own| self.object(own)).collect();
        let json = in_page(&all);
        let grown = json.len() + self.json.len() - size;
        if grown <= bytes_max {
            return Some((json, grown));
        }
        self.places.retain(|_, place| *place < lines);
        self.json.truncate(size);
        None
    }

    /// Returns the table as JSON that may stand in a page.
    pub(super) fn json(&self) -> String {
        format!("[{}]", self.json.trim_end_matches(','))
    }

    fn object<'a>(&mut self, object: &'a ShownObject) -> Told<'a> {
        let mut before: Vec<usize> = Vec::new();
        let mut versions = Vec::new();
        for (at, object) in &object.versions {
            let at = (at * 1000.0).round() / 1000.0;
            let Some(object) = object else {
                before.clear();
                versions.push((at, None));
                continue;
            };
            let mut object = object.clone();
            object.remove(&["metadata", "managedFields"]);
            let lines: Vec<usize> = print_yaml(&object).lines().map(|line| self.place(line)).collect();
            let edits = capture_diff_slices(Algorithm::Myers, &before, &lines);
            let edits = edits.iter().filter(|edit| edit.tag() != similar::DiffTag::Equal).map(|edit| {
                let gone = [edit.old_range().start, edit.old_range().len()];
                gone.into_iter().chain(lines[edit.new_range()].iter().copied()).collect()
            });
            versions.push((at, Some(edits.collect())));
            before = lines;
        }
        Told { lane: &object.lane, versions }
    }

    fn place(&mut self, line: &str) -> usize {
        if let Some(place) = self.places.get(line) {
            return *place;
        }
        let place = self.places.len();
        self.places.insert(line.to_owned(), place);
        self.json += &(in_page(&line) + ",");
        place
    }
}

/// Returns JSON that ends no script element.
fn in_page(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("numbers and texts are JSON").replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use nodeproof_core::json;

    use super::*;

    fn node(status: &str) -> Option<Json> {
        Some(json!({"kind": "Node", "metadata": {"name": "a", "managedFields": [{"manager": "x"}]},
            "status": {"ready": status}}))
    }

    fn object(versions: Vec<(f64, Option<Json>)>) -> ShownObject {
        ShownObject { lane: "Node a".to_owned(), versions }
    }

    #[test]
    fn a_version_is_told_by_what_is_different() {
        let mut table = LineTable::default();
        let all = object(vec![(-1.0, node("yes")), (2.0004, node("no")), (3.0, None), (4.0, node("no"))]);
        let (json, size) = table.told(&[all], usize::MAX).unwrap();
        let expected = r#"[{"lane":"Node a","versions":[[-1.0,[[0,0,0,1,2,3,4]]],[2.0,[[4,1,5]]],[3.0,null],"#;
        assert_eq!(json, format!("{expected}[4.0,[[0,0,0,1,2,3,5]]]]}}]"));
        let lines = r#"["kind: Node","metadata:","  name: a","status:","  ready: \"yes\"","  ready: \"no\""]"#;
        assert_eq!(table.json(), lines);
        // Of the table all but its first bracket; the last line's comma is its other one.
        assert_eq!(size, json.len() + lines.len() - 1);
    }

    #[test]
    fn what_has_no_room_leaves_no_line_behind() {
        let mut table = LineTable::default();
        assert!(table.told(&[object(vec![(0.0, node("yes"))])], 20).is_none());
        assert_eq!((table.json().as_str(), table.places.len()), ("[]", 0));
        assert!(table.told(&[object(vec![(0.0, node("</script>"))])], 1000).is_some());
        assert!(table.json().contains("\\u003c/script>"), "{}", table.json());
    }
}
