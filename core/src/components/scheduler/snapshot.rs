//! The cluster as one attempt sees it: the nodes, one of them perhaps replaced by a hypothetical state, and the
//! namespaces. Borrowed data, never changed.

use super::cache::{NodeInfo, SchedulerCache};
use super::volumes::Storage;
use crate::components::client::Reflector;
use crate::objects::selector::Selector;
use crate::objects::{Json, ObjectKey, Text};

/// A view of the cluster.
#[derive(Clone, Copy)]
pub(super) struct ClusterSnapshot<'a> {
    pub(super) cluster: &'a SchedulerCache,
    /// A node as it would be without some of its Pods, or with others.
    pub(super) instead: Option<&'a NodeInfo>,
    pub(super) namespaces: &'a Reflector,
    pub(super) storage: Storage<'a>,
}

impl<'a> ClusterSnapshot<'a> {
    pub(super) const fn new(cluster: &'a SchedulerCache, namespaces: &'a Reflector, storage: Storage<'a>) -> Self {
        Self { cluster, instead: None, namespaces, storage }
    }

    pub(super) const fn with(self, node: &'a NodeInfo) -> Self {
        Self { instead: Some(node), ..self }
    }

    pub(super) fn nodes(self) -> impl Iterator<Item = &'a NodeInfo> {
        let instead = self.instead;
        self.cluster.nodes().map(move |node| instead.filter(|other| other.name() == node.name()).unwrap_or(node))
    }

    pub(super) fn namespace_labels(self, name: &str) -> &'a Json {
        let key = ObjectKey::cluster(Text::from(name));
        self.namespaces.get(&key).map_or(&Json::Null, |object| object.stable().at(&["metadata", "labels"]))
    }

    /// Returns the names of the namespaces that a selector selects.
    pub(super) fn namespaces_of(self, selector: &Selector) -> impl Iterator<Item = Text> {
        let all = self.namespaces.objects();
        let chosen = all.filter(move |object| selector.matches(object.stable().at(&["metadata", "labels"])));
        chosen.map(|object| Text::from(object.name()))
    }
}
