//! The history of the observed objects: who changed which field, when, from what to what.
//!
//! Inputs: changes, the zeros of acts. Outputs: histories without heartbeats, the latest changes of an object, and the
//! last renewal of a Lease.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use jiff::Timestamp;

use super::words::change_text;
use super::{Act, ObjectChange, ObjectRef};
use crate::json;
use crate::network::{LEASES, NODES};
use crate::objects::canonical::PASSING;
use crate::objects::diff::diff;
use crate::objects::time::offset;
use crate::objects::{Json, Object, Text};

/// How many Nodes that no line is about a picture shows.
pub const DRAWN_NODES: usize = 16;

/// A write that changed an object.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryEntry {
    /// When.
    pub at: Timestamp,
    /// The zero of its act.
    pub zero: Timestamp,
    /// The revision that it made.
    pub resource_version: u64,
    /// The writer: manager, and subresource behind a slash.
    pub by: String,
    /// Changed fields with `old -> new`, sorted; times as offsets.
    pub changed: Vec<(String, String)>,
    /// The number of the writer's decision.
    pub because: Option<u32>,
}

/// The writes to an object since the first act.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// The object.
    pub object: ObjectRef,
    /// The writes in order of revision.
    pub entries: Vec<HistoryEntry>,
    /// The writes before the first act, with times relative to its zero. They are never printed.
    pub earlier: Vec<HistoryEntry>,
}

/// An object over time.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectVersions {
    /// The object.
    pub object: ObjectRef,
    /// The instants of its writes, and what it was like then: `None` where it was deleted.
    pub versions: Vec<(Timestamp, Option<Json>)>,
}

impl History {
    /// Returns the history as it is printed in a report.
    #[must_use]
    pub fn json(&self) -> Json {
        self.entries.iter().map(entry_json).collect()
    }
}

/// Returns a history as it is printed in a snapshot: the writes of each act, with its zero and what was done. Where
/// there are several acts, a line stands before the writes of each: what was done, and how long after the zero of the
/// act before.
pub(super) fn story(acts: &[Act], told: &[(Timestamp, Vec<HistoryEntry>)]) -> Json {
    let mut lines = Vec::new();
    for (at, (act, (zero, entries))) in acts.iter().zip(told).enumerate() {
        if told.len() > 1 {
            let done: Vec<&str> = act.when.iter().map(|step| without_keyword(&step.position.text)).collect();
            let mut line = json!({"act": done.join(", then ")});
            if let Some((before, _)) = at.checked_sub(1).map(|before| &told[before]) {
                line.set(&["after"], Json::from(offset(*zero, *before)));
            }
            lines.push(line);
        }
        lines.extend(entries.iter().map(entry_json));
    }
    lines.into_iter().collect()
}

fn entry_json(entry: &HistoryEntry) -> Json {
    let changed: Json =
        entry.changed.iter().map(|(path, text)| (Text::from(path), Json::from(text.as_str()))).collect();
    let mut line = json!({"at": offset(entry.at, entry.zero), "by": entry.by});
    line.set(&["changed"], changed);
    line
}

fn without_keyword(step: &str) -> &str {
    step.split_once(' ').map_or(step, |(_, rest)| rest)
}

/// The histories of the observed objects, in order of the objects. They are built on demand, which most runs never
/// need.
#[derive(Clone, Debug)]
pub struct Histories(HistorySource);

#[derive(Clone, Debug)]
enum HistorySource {
    Log(Log),
    Given(Vec<History>),
}

impl Histories {
    pub(super) const fn of(log: Log) -> Self {
        Self(HistorySource::Log(log))
    }

    /// Returns them.
    #[must_use]
    pub fn to_vec(&self) -> Vec<History> {
        match &self.0 {
            HistorySource::Log(log) => log.histories(&log.observed),
            HistorySource::Given(histories) => histories.clone(),
        }
    }

    /// Returns those of the other Nodes that were kept for a picture.
    #[must_use]
    pub fn of_other_nodes(&self) -> Vec<History> {
        match &self.0 {
            HistorySource::Log(log) => log.histories(&log.others),
            HistorySource::Given(_) => Vec::new(),
        }
    }

    /// Returns what each observed object and each other Node that was kept was like after each write, heartbeats too,
    /// in order; nothing where only histories were kept.
    #[must_use]
    pub fn versions(&self) -> Vec<ObjectVersions> {
        let HistorySource::Log(log) = &self.0 else { return Vec::new() };
        let versions = |of: &ObjectRef| {
            let own = log.entries.iter().filter(|entry| entry.is_of(of));
            own.map(|entry| (entry.at, entry.change.after.as_ref().map(Object::json))).collect()
        };
        let all = log.observed.iter().chain(&log.others);
        all.map(|of| ObjectVersions { object: of.clone(), versions: versions(of) }).collect()
    }

    /// Returns when the Lease of a Node was renewed, in order; nothing where only histories were kept.
    #[must_use]
    pub fn renewals(&self, node: &str) -> Vec<Timestamp> {
        let HistorySource::Log(log) = &self.0 else { return Vec::new() };
        let is_own = |entry: &&Entry| entry.change.resource == LEASES && entry.change.key.name == *node;
        log.entries.iter().filter(is_own).filter(|entry| entry.change.after.is_some()).map(|entry| entry.at).collect()
    }
}

impl From<Vec<History>> for Histories {
    fn from(histories: Vec<History>) -> Self {
        Self(HistorySource::Given(histories))
    }
}

impl PartialEq for Histories {
    fn eq(&self, other: &Self) -> bool {
        self.to_vec() == other.to_vec()
    }
}

/// The changes of the observed objects since the first act, and of the Leases of observed Nodes.
#[derive(Clone, Debug)]
pub(super) struct Log {
    observed: BTreeSet<ObjectRef>,
    /// Nodes that are not observed.
    others: BTreeSet<ObjectRef>,
    /// How many of them are kept.
    others_max: usize,
    entries: Vec<Entry>,
    /// The zero of the latest act.
    zero: Option<Timestamp>,
    /// The acts so far, each with its first entry and its zero.
    acts: Vec<(usize, Timestamp)>,
    /// The first entry of the latest act.
    act: usize,
}

#[derive(Clone, Debug)]
struct Entry {
    at: Timestamp,
    /// The zero of the act in which it came; `None` before the first.
    zero: Option<Timestamp>,
    change: ObjectChange,
}

impl Log {
    /// Starts a log for some objects, and for so many other Nodes.
    pub(super) fn new(observed: BTreeSet<ObjectRef>, others_max: usize) -> Self {
        let (others, entries, acts) = (BTreeSet::new(), Vec::new(), Vec::new());
        Self { observed, others, others_max, entries, zero: None, acts, act: 0 }
    }

    /// Notes a change of an observed object or of the Lease of an observed Node.
    pub(super) fn record(&mut self, change: &ObjectChange, now: Timestamp) {
        let of_node =
            |of: &ObjectRef| of.resource == NODES && change.resource == LEASES && of.key.name == change.key.name;
        let itself = |of: &ObjectRef| of.resource == change.resource && of.key == change.key;
        if change.resource == NODES && self.others.len() < self.others_max && !self.observed.iter().any(itself) {
            self.others.insert(ObjectRef::node(change.key.name.clone()));
        }
        if self.observed.iter().chain(&self.others).any(|of| itself(of) || of_node(of)) {
            self.entries.push(Entry { at: now, zero: self.zero, change: change.clone() });
        }
    }

    /// Later writes belong to the next act, whose zero is not known yet.
    pub(super) fn begin_actions(&mut self, now: Timestamp) {
        self.zero = Some(now);
        self.act = self.entries.len();
    }

    /// Gives the act its zero.
    pub(super) fn begin_act(&mut self, zero: Timestamp) {
        self.zero = Some(zero);
        self.acts.push((self.act, zero));
        for entry in &mut self.entries[self.act..] {
            entry.zero = Some(zero);
        }
    }

    /// Returns what was written to each of some objects since the first act; heartbeats left out.
    fn histories(&self, of: &BTreeSet<ObjectRef>) -> Vec<History> {
        of.iter()
            .map(|of| History {
                object: of.clone(),
                entries: entries_of(&self.entries, of).collect(),
                earlier: self.earlier(of),
            })
            .collect()
    }

    /// Returns what was written to an object before the first act, with times relative to that act's zero.
    fn earlier(&self, of: &ObjectRef) -> Vec<HistoryEntry> {
        let Some((_, zero)) = self.acts.first().copied() else { return Vec::new() };
        let earlier = self.entries.iter().take_while(|entry| entry.zero.is_none());
        earlier.filter(|entry| entry.is_of(of)).filter_map(|entry| entry.told(zero)).collect()
    }

    /// Returns the zero of each act so far, with what was written to an object in it.
    pub(super) fn acts(&self, of: &ObjectRef) -> Vec<(Timestamp, Vec<HistoryEntry>)> {
        let ends = self.acts.iter().skip(1).map(|(first, _)| *first).chain([self.entries.len()]);
        let acts = self.acts.iter().zip(ends);
        acts.map(|((first, zero), end)| (*zero, entries_of(&self.entries[*first..end], of).collect())).collect()
    }

    /// Returns when the Lease of a Node was renewed last, up to an instant.
    pub(super) fn last_renewal(&self, node: &str, until: Timestamp) -> Option<Timestamp> {
        let renewals = self
            .entries
            .iter()
            .rev()
            .filter(|entry| entry.change.resource == LEASES && entry.change.key.name == *node && entry.at <= until);
        renewals.filter(|entry| entry.change.after.is_some()).map(|entry| entry.at).next()
    }

    /// Returns the latest writes to an object up to an instant that changed more than heartbeats, latest first: when,
    /// by whom, which fields.
    pub(super) fn last_changes<'a>(
        &'a self,
        of: &'a ObjectRef,
        until: Timestamp,
        zero: Timestamp,
    ) -> impl Iterator<Item = (Timestamp, String, Vec<String>)> + 'a {
        self.entries
            .iter()
            .rev()
            .filter(move |entry| entry.is_of(of) && entry.at <= until)
            .map(move |entry| {
                let fields = changed_fields(&entry.change, zero).into_iter().map(|(path, _)| path).collect();
                (entry.at, writer_text(&entry.change), fields)
            })
            .filter(|(_, _, fields): &(_, _, Vec<String>)| !fields.is_empty())
    }
}

impl Entry {
    fn is_of(&self, of: &ObjectRef) -> bool {
        self.change.resource == of.resource && self.change.key == of.key
    }

    /// Returns the entry with times relative to an instant; `None` for a heartbeat.
    fn told(&self, zero: Timestamp) -> Option<HistoryEntry> {
        let changed = changed_fields(&self.change, zero);
        (!changed.is_empty()).then(|| HistoryEntry {
            at: self.at,
            zero,
            resource_version: self.change.resource_version,
            by: writer_text(&self.change),
            changed,
            because: self.change.because,
        })
    }
}

fn entries_of(entries: &[Entry], of: &ObjectRef) -> impl Iterator<Item = HistoryEntry> {
    entries.iter().filter(|entry| entry.is_of(of)).filter_map(|entry| entry.told(entry.zero?))
}

fn writer_text(change: &ObjectChange) -> String {
    let writer = &change.writer;
    if writer.subresource.is_empty() {
        writer.manager.to_string()
    } else {
        format!("{}/{}", writer.manager, writer.subresource)
    }
}

/// Returns the changed fields with `old -> new`, in order of the paths; heartbeats left out.
fn changed_fields(change: &ObjectChange, zero: Timestamp) -> Vec<(String, String)> {
    let tree = |object: &Option<Object>| object.as_ref().map_or(Json::Null, Object::json);
    match (&change.before, &change.after) {
        (None, _) => return Vec::from([(String::from("object"), String::from("created"))]),
        (_, None) => return Vec::from([(String::from("object"), String::from("deleted"))]),
        _ => {}
    }
    let mut fields: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for change in diff(&tree(&change.before), &tree(&change.after)) {
        if change.path.segments().iter().any(|part| PASSING.contains(&part.name().as_str())) {
            continue;
        }
        let (path, text) = change_text(&change, Some(zero));
        fields.entry(path).or_default().push(text);
    }
    fields.into_iter().map(|(path, texts)| (path, texts.join(", "))).collect()
}
