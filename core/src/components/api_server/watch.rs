//! The open watches of one kind, indexed so that a write touches only those that can match.
//!
//! Mirrors k8s.io/apiserver pkg/storage/cacher (v1.34): the triggers by `metadata.name` and `spec.nodeName`, the
//! change of type when an object starts or stops matching, bookmarks about each minute, and the end by
//! `timeoutSeconds`. Inputs: watches as they open and end, writes. Outputs: the watches that see a write, and as which
//! type. Invariant: a watch sees no write that is not newer than the revision that it began from.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::content_negotiation::printed::PrinterColumns;
use super::content_negotiation::{Representation, TableContext};
use crate::network::kinds::{Kind, KindIndex};
use crate::network::{ClientId, RequestId, WatchType};
use crate::objects::selector::{FieldSelector, Selector};
use crate::objects::{Json, Object, Text};

/// Source: k8s.io/apiserver pkg/storage/cacher/cacher.go (v1.34), `defaultBookmarkFrequency`.
pub(super) const BOOKMARK_EVERY: SignedDuration = SignedDuration::from_secs(60);
/// How long before its end a watch gets a bookmark. Source: cache_watcher.go (v1.34), `nextBookmarkTime`.
pub(super) const BOOKMARK_BEFORE_END: SignedDuration = SignedDuration::from_secs(2);

/// What a list or a watch shows.
#[derive(Clone, Debug, Default)]
pub(super) struct Selection {
    pub(super) namespace: Text,
    pub(super) labels: Selector,
    pub(super) fields: FieldSelector,
}

impl Selection {
    /// Tells whether an object is shown; heartbeats cannot change that, so the stable tree is enough.
    pub(super) fn matches(&self, kind: &str, object: &Object) -> bool {
        self.matches_tree(kind, object.stable())
    }

    fn matches_tree(&self, kind: &str, tree: &Json) -> bool {
        (self.namespace.is_empty() || tree.at(&["metadata", "namespace"]).as_text() == Some(&self.namespace))
            && self.labels.matches(tree.at(&["metadata", "labels"]))
            && self.fields.matches(kind, tree)
    }

    pub(super) fn is_everything(&self) -> bool {
        self.labels.is_everything() && self.fields.is_everything()
    }
}

/// An open watch.
#[derive(Clone, Debug)]
pub(super) struct Watcher {
    pub(super) client: ClientId,
    pub(super) id: RequestId,
    pub(super) kind_index: KindIndex,
    pub(super) kind: &'static Kind,
    /// The columns of a custom kind.
    pub(super) printed: Option<PrinterColumns>,
    pub(super) selection: Selection,
    /// The revision that the watch began from; only newer writes are sent.
    pub(super) after: u64,
    pub(super) bookmarks: bool,
    /// Renewals and heartbeats that went the typed way are left out: a cheaper watch for this program's own clients.
    pub(super) omits_heartbeats: bool,
    /// The form in which the client wants the objects.
    pub(super) representation: Representation,
    /// Whether the columns of a table were sent.
    pub(super) has_columns: bool,
    pub(super) ends: Timestamp,
    pub(super) timers: Timestamp,
}

impl Watcher {
    /// Returns the type under which this watch sees a write in a namespace, if it sees it.
    pub(super) fn sees(
        &self,
        kind: &str,
        namespace: &str,
        event: WatchType,
        object: &Object,
        before: Option<&Object>,
    ) -> Option<WatchType> {
        if object.resource_version() <= self.after {
            return None;
        }
        if self.omits_heartbeats && event == WatchType::Modified && object.is_heartbeat() {
            return None;
        }
        if self.selection.is_everything() {
            let same = self.selection.namespace.is_empty() || self.selection.namespace == *namespace;
            return same.then_some(event);
        }
        let matched = before.is_some_and(|before| self.selection.matches(kind, before));
        let matches = event != WatchType::Deleted && self.selection.matches(kind, object);
        match (matched, matches) {
            (false, false) => None,
            (false, true) => Some(WatchType::Added),
            (true, true) => Some(WatchType::Modified),
            (true, false) => Some(WatchType::Deleted),
        }
    }

    /// Puts an event into the form that the client takes.
    pub(super) fn shaped(&mut self, event: WatchType, object: Object, view: TableContext<'_>) -> Object {
        if self.representation == Representation::Plain {
            return object;
        }
        let is_first = !core::mem::replace(&mut self.has_columns, true);
        let view = TableContext { printed: self.printed.as_deref(), ..view };
        self.representation.event(event, object, self.kind, view, is_first)
    }

    /// Returns when a watch that gets bookmarks gets the next one.
    pub(super) fn next_bookmark(&self, now: Timestamp) -> Timestamp {
        let before_end = self.ends - BOOKMARK_BEFORE_END;
        let regular = now + BOOKMARK_EVERY;
        if before_end > now { regular.min(before_end) } else { now + SignedDuration::from_secs(1) }
    }
}

/// A place in the table of all watches.
pub(super) type WatcherId = u32;

/// The watches of a kind by what they can match.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    general: Vec<WatcherId>,
    by_name: BTreeMap<Text, Vec<WatcherId>>,
    by_node: BTreeMap<Text, Vec<WatcherId>>,
}

impl Index {
    fn list(&mut self, selection: &Selection) -> &mut Vec<WatcherId> {
        if let Some(name) = selection.fields.exactly("metadata.name") {
            self.by_name.entry(name.clone()).or_default()
        } else if let Some(node) = selection.fields.exactly("spec.nodeName") {
            self.by_node.entry(node.clone()).or_default()
        } else {
            &mut self.general
        }
    }

    pub(super) fn add(&mut self, selection: &Selection, id: WatcherId) {
        self.list(selection).push(id);
    }

    pub(super) fn remove(&mut self, selection: &Selection, id: WatcherId) {
        let list = self.list(selection);
        list.retain(|other| *other != id);
        if list.is_empty() {
            if let Some(name) = selection.fields.exactly("metadata.name") {
                self.by_name.remove(name);
            } else if let Some(node) = selection.fields.exactly("spec.nodeName") {
                self.by_node.remove(node);
            }
        }
    }

    /// Returns the watches that can match any write of the kind; `None` if there are others too.
    pub(super) fn general_only(&self) -> Option<&[WatcherId]> {
        (self.by_name.is_empty() && self.by_node.is_empty()).then_some(&self.general)
    }

    /// Puts the watches that can see a write into a list, in a fixed order.
    pub(super) fn candidates(&self, object: &Object, before: Option<&Object>, found: &mut Vec<WatcherId>) {
        found.extend(&self.general);
        if !self.by_name.is_empty()
            && let Some(list) = self.by_name.get(object.name())
        {
            found.extend(list);
        }
        if !self.by_node.is_empty() {
            let node =
                |object: &Object| object.stable().at(&["spec", "nodeName"]).as_text().cloned().unwrap_or_default();
            let now = node(object);
            if let Some(list) = self.by_node.get(&now) {
                found.extend(list);
            }
            if let Some(then) = before.map(node).filter(|then| *then != now)
                && let Some(list) = self.by_node.get(&then)
            {
                found.extend(list);
            }
        }
    }
}
