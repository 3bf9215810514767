//! The story of the observed objects: who changed which field, when, from what to what.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use jiff::Timestamp;

use super::observation::Change;
use super::truth::{plain, taint_text};
use crate::network::{LEASES, NODES};
use crate::objects::canonical::{PASSING, masked};
use crate::objects::diff::{FieldChange, diff, list_keys};
use crate::objects::{Json, Object};
use crate::scenario::{History, HistoryEntry, ObjectRef};

/// The changes of the observed objects since the first act, and of what belongs to them.
#[derive(Clone, Debug)]
pub(in crate::scenario) struct Log {
    observed: BTreeSet<ObjectRef>,
    entries: Vec<Entry>,
    /// The zeros of the latest act and of the first.
    zero: Option<Timestamp>,
    first: Option<Timestamp>,
    /// The first entry of the latest act.
    act: usize,
}

#[derive(Clone, Debug)]
struct Entry {
    at: Timestamp,
    /// The zero of the act in which it came; `None` before the first.
    zero: Option<Timestamp>,
    change: Change,
}

impl Log {
    /// Starts a log for some objects.
    pub(super) fn new(observed: BTreeSet<ObjectRef>) -> Self {
        Self { observed, entries: Vec::new(), zero: None, first: None, act: 0 }
    }

    /// Writes a change down, if it concerns an observed object or the Lease of an observed Node.
    pub(super) fn record(&mut self, change: &Change, now: Timestamp) {
        let of_node =
            |of: &ObjectRef| of.resource == NODES && change.resource == LEASES && of.key.name == change.key.name;
        let itself = |of: &ObjectRef| of.resource == change.resource && of.key == change.key;
        if self.observed.iter().any(|of| itself(of) || of_node(of)) {
            self.entries.push(Entry { at: now, zero: self.zero, change: change.clone() });
        }
    }

    /// What is written from now on belongs to the next act, whose zero is not known yet.
    pub(super) fn begin_deeds(&mut self, now: Timestamp) {
        self.zero = Some(now);
        self.act = self.entries.len();
    }

    /// Gives the act its zero.
    pub(super) fn begin_act(&mut self, zero: Timestamp) {
        self.zero = Some(zero);
        self.first.get_or_insert(zero);
        for entry in &mut self.entries[self.act..] {
            entry.zero = Some(zero);
        }
    }

    /// Returns what was written to each observed object since the first act; heartbeats left out.
    pub(in crate::scenario) fn histories(&self) -> Vec<History> {
        self.observed
            .iter()
            .map(|of| History {
                object: of.clone(),
                entries: entries_of(&self.entries, of).collect(),
                earlier: self.earlier(of),
            })
            .collect()
    }

    /// Returns what was written to an object before the first act, as that act tells times.
    fn earlier(&self, of: &ObjectRef) -> Vec<HistoryEntry> {
        let Some(zero) = self.first else { return Vec::new() };
        let earlier = self.entries.iter().take_while(|entry| entry.zero.is_none());
        earlier.filter(|entry| entry.is_of(of)).filter_map(|entry| entry.told(zero)).collect()
    }

    /// Returns what was written to an object in the latest act.
    pub(super) fn history(&self, of: &ObjectRef) -> Vec<HistoryEntry> {
        entries_of(&self.entries[self.act..], of).collect()
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

    /// Tells it with times from an instant on; `None` for a heartbeat.
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

fn writer_text(change: &Change) -> String {
    let writer = &change.writer;
    if writer.subresource.is_empty() {
        writer.manager.to_string()
    } else {
        format!("{}/{}", writer.manager, writer.subresource)
    }
}

/// Returns the changed fields with `old -> new`, in order of the paths; heartbeats left out.
fn changed_fields(change: &Change, zero: Timestamp) -> Vec<(String, String)> {
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

/// Prints a changed field: its path and `old -> new`, or the list and `+ item` or `- item`.
pub(super) fn change_text(change: &FieldChange, zero: Option<Timestamp>) -> (String, String) {
    let print = |value: &Json| {
        let last = change.path.segments().last().map_or("", |part| part.name().as_str());
        let masked = |zero| masked(last, value, zero).or_else(|| addresses(last, value));
        zero.and_then(masked).unwrap_or_else(|| plain(value))
    };
    let comes_or_goes = change.old.is_null() || change.new.is_null();
    let (item, sign) = if change.old.is_null() { (&change.new, '+') } else { (&change.old, '-') };
    match change.path.parent() {
        Some((list, name)) if comes_or_goes && item.is_object() => {
            let text = match list.segments().last().map(|part| part.name().as_str()) {
                Some("taints") => taint_text(item),
                Some("conditions") => condition_text(item),
                list => zero
                    .zip(list)
                    .and_then(|(zero, list)| key_text(list, item, zero))
                    .unwrap_or_else(|| name.to_string()),
            };
            (list.to_string(), format!("{sign} {text}"))
        }
        _ if comes_or_goes => (change.path.to_string(), format!("{sign} {}", print(item))),
        _ => (change.path.to_string(), format!("{} -> {}", print(&change.old), print(&change.new))),
    }
}

/// Prints the key of a list's item where it is chance, as a uid and an address are.
fn key_text(list: &str, item: &Json, zero: Timestamp) -> Option<String> {
    let [key] = list_keys(list)? else { return None };
    masked(key, item.get(key), zero)
}

/// Prints the blocks of addresses of a Node, which are chance on a cluster with other Nodes.
fn addresses(field: &str, value: &Json) -> Option<String> {
    let blocks: Vec<&str> = value.items().iter().map(|_| "[address]").collect();
    (field == "podCIDRs").then(|| blocks.join(", "))
}

fn condition_text(condition: &Json) -> String {
    let word = |field| condition.get(field).as_str().unwrap_or("");
    let reason = if word("reason").is_empty() { String::new() } else { format!(" ({})", word("reason")) };
    format!("{}={}{reason}", word("type"), word("status"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn a_history_does_not_say_which_addresses_and_uids_there_were_and_an_explanation_does() {
        let before = json!({"metadata": {}, "spec": {}, "status": {}});
        let after = json!({"metadata": {"ownerReferences": [{"uid": "70873bd9-e16d-4dba-8439-74d6cf039299"}]}, "spec": {"podCIDR": "10.244.1.0/24", "podCIDRs": ["10.244.1.0/24", "fd00::/64"]},
            "status": {"hostIPs": [{"ip": "172.18.0.2"}], "podIP": "10.244.1.2", "podIPs": [{"ip": "10.244.1.2"}]}});
        let texts = |zero| -> Vec<String> {
            let changes = diff(&before, &after);
            changes
                .iter()
                .map(|change| change_text(change, zero))
                .map(|(path, text)| format!("{path}: {text}"))
                .collect()
        };
        assert_eq!(
            texts(Some(Timestamp::UNIX_EPOCH)),
            [
                "metadata.ownerReferences: + [uid]",
                "spec.podCIDR: + [address]",
                "spec.podCIDRs: + [address], [address]",
                "status.hostIPs: + [address]",
                "status.podIP: + [address]",
                "status.podIPs: + [address]",
            ]
        );
        assert_eq!(texts(None)[3], "status.hostIPs: + 172.18.0.2");
    }
}
