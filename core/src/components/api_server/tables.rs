//! What a server stores of each kind: the objects, their recent writes, and the watches of them.
//!
//! Inputs: the place of a kind. Outputs: its table. Invariant: there is a table for each kind that the server has had.

use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

use super::history::History;
use super::store::Store;
use super::watch::Index as WatchIndex;
use crate::network::kinds::{KINDS, KindIndex};
use crate::network::{PODS, Resource};
use crate::objects::Json;

/// What is stored of one kind.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) store: Store,
    pub(super) history: History,
    pub(super) watches: WatchIndex,
    /// The tree that was written last.
    pub(super) last: Json,
    /// The tree of this kind's bookmarks, without a revision; made for the first one.
    pub(super) bookmark: Option<Json>,
}

impl Table {
    fn of(resource: &Resource) -> Self {
        let store = if *resource == PODS { Store::by_node() } else { Store::default() };
        Self { store, ..Self::new(0) }
    }

    /// Makes a table without objects, whose history begins after a revision.
    pub(super) fn new(revision: u64) -> Self {
        Self {
            store: Store::default(),
            history: History::new(revision),
            watches: WatchIndex::default(),
            last: Json::Null,
            bookmark: None,
        }
    }

    /// Makes a new tree share its equal parts with the revision before it and with the tree that was written last.
    pub(super) fn share(&self, tree: &mut Json) {
        let text = |field| tree.at(&["metadata", field]).as_text().cloned().unwrap_or_default();
        let (namespace, name) = (text("namespace"), text("name"));
        if let Some(before) = self.store.get(&namespace, &name) {
            tree.share(before.stable());
        }
        tree.share(&self.last);
    }
}

/// The tables of all kinds.
#[derive(Clone, Debug)]
pub(super) struct Tables(Vec<Table>);

impl Tables {
    /// Makes empty tables for the kinds that every server has.
    pub(super) fn new() -> Self {
        Self(KINDS.iter().map(|kind| Table::of(&kind.resource)).collect())
    }

    /// Makes tables for a custom kind and those before it; their histories begin after a revision.
    pub(super) fn make_room(&mut self, index: KindIndex, revision: u64) {
        while self.0.len() <= index.before() {
            self.0.push(Table::new(revision));
        }
    }

    pub(super) fn indexes(&self) -> impl Iterator<Item = KindIndex> + use<> {
        KindIndex::first(self.0.len())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Table> {
        self.0.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Table> {
        self.0.iter_mut()
    }
}

impl Index<KindIndex> for Tables {
    type Output = Table;

    fn index(&self, index: KindIndex) -> &Table {
        &self.0[index.before()]
    }
}

impl IndexMut<KindIndex> for Tables {
    fn index_mut(&mut self, index: KindIndex) -> &mut Table {
        &mut self.0[index.before()]
    }
}
