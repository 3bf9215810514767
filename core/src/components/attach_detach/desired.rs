//! The desired state of the world: which volumes are to be attached to which nodes, and for which Pods.
//!
//! Mirrors pkg/controller/volume/attachdetach/cache/desired_state_of_world.go (v1.34). Inputs: nodes that leave
//! attachment to the controller, Pods with their volumes. Outputs: what to attach. Invariant: a volume stands here
//! exactly as long as a Pod on its node wants it.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::components::volumes::CsiVolume;
use crate::objects::{Object, Text};

/// A volume that Pods of a node want.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) volume: CsiVolume,
    /// The Pods by uid, as they were when they were first seen.
    pub(super) pods: BTreeMap<Text, Object>,
    /// Whether it was said that another node has the volume.
    pub(super) is_error_reported: bool,
}

/// The desired state of the world.
#[derive(Clone, Debug, Default)]
pub(super) struct DesiredState {
    nodes: BTreeMap<Text, BTreeMap<Text, Wanted>>,
}

impl DesiredState {
    pub(super) fn add_node(&mut self, node: &Text) {
        if !self.nodes.contains_key(node) {
            self.nodes.insert(node.clone(), BTreeMap::new());
        }
    }

    /// Forgets a node, unless Pods on it want volumes.
    pub(super) fn remove_node(&mut self, node: &str) {
        if self.nodes.get(node).is_some_and(BTreeMap::is_empty) {
            self.nodes.remove(node);
        }
    }

    pub(super) fn has_node(&self, node: &str) -> bool {
        self.nodes.contains_key(node)
    }

    pub(super) fn wants(&self, volume: &str, node: &str) -> bool {
        self.nodes.get(node).is_some_and(|volumes| volumes.contains_key(volume))
    }

    /// Adds a Pod that wants a volume; tells whether it is new.
    pub(super) fn add(&mut self, volume: &CsiVolume, node: &str, pod: &Object) -> bool {
        let Some(volumes) = self.nodes.get_mut(node) else { return false };
        let wanted = volumes.entry(volume.unique.clone()).or_insert_with(|| Wanted {
            volume: volume.clone(),
            pods: BTreeMap::new(),
            is_error_reported: false,
        });
        let uid = Text::from(pod.uid());
        let is_new = !wanted.pods.contains_key(&uid);
        wanted.pods.entry(uid).or_insert_with(|| pod.clone());
        is_new
    }

    /// Takes a Pod's wish back; tells whether there was one.
    pub(super) fn remove(&mut self, volume: &str, node: &str, uid: &str) -> bool {
        let Some(volumes) = self.nodes.get_mut(node) else { return false };
        let Some(wanted) = volumes.get_mut(volume) else { return false };
        let was_there = wanted.pods.remove(uid).is_some();
        if wanted.pods.is_empty() {
            volumes.remove(volume);
        }
        was_there
    }

    /// Returns all that is wanted, with its node, by node and volume.
    pub(super) fn all(&self) -> impl Iterator<Item = (&Text, &Wanted)> {
        self.nodes.iter().flat_map(|(node, volumes)| volumes.values().map(move |wanted| (node, wanted)))
    }

    pub(super) fn note_error(&mut self, volume: &str, node: &str) {
        if let Some(wanted) = self.nodes.get_mut(node).and_then(|volumes| volumes.get_mut(volume)) {
            wanted.is_error_reported = true;
        }
    }

    /// Returns the Pods on some nodes that want a volume.
    pub(super) fn pods_on<'a>(&'a self, nodes: &'a [Text], volume: &'a str) -> Vec<&'a Object> {
        let wanted = nodes.iter().filter_map(|node| self.nodes.get(node.as_str())?.get(volume));
        wanted.flat_map(|wanted| wanted.pods.values()).collect()
    }

    /// Returns each wish as volume, node and Pod.
    pub(super) fn wishes(&self) -> Vec<(Text, Text, Object)> {
        let each = |(node, wanted): (&Text, &Wanted)| {
            let unique = wanted.volume.unique.clone();
            let node = node.clone();
            wanted.pods.values().map(move |pod| (unique.clone(), node.clone(), pod.clone())).collect::<Vec<_>>()
        };
        self.all().flat_map(each).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.values().map(BTreeMap::len).sum()
    }
}
