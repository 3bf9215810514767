//! The actual state of the world: which volumes are attached to which nodes, and what each Node is told of it.
//!
//! Mirrors pkg/controller/volume/attachdetach/cache/actual_state_of_world.go (v1.34). Inputs: ends of operations,
//! `volumesInUse` of Nodes. Outputs: attachments, and the lists for `volumesAttached`.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use jiff::Timestamp;

use crate::components::volumes::CsiVolume;
use crate::objects::Text;

/// A volume that is, or may be, attached to a node.
#[derive(Clone, Debug)]
pub(super) struct Attachment {
    /// What is known of the volume; `None` if only its unique name is.
    pub(super) volume: Option<CsiVolume>,
    /// Whether it is known to be attached.
    pub(super) is_confirmed: bool,
    /// Since when it is to be detached.
    pub(super) detach_since: Option<Timestamp>,
}

/// What a Node is told.
#[derive(Clone, Debug, Default)]
struct AttachmentReport {
    is_due: bool,
    volumes: BTreeSet<Text>,
}

/// How sure it is that a volume is attached to a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AttachState {
    Attached,
    Uncertain,
    Detached,
}

/// The actual state of the world; attachments by the unique name of the volume and the node.
#[derive(Clone, Debug, Default)]
pub(super) struct ActualState {
    attachments: BTreeMap<(Text, Text), Attachment>,
    in_use: BTreeMap<Text, BTreeSet<Text>>,
    reports: BTreeMap<Text, AttachmentReport>,
}

impl ActualState {
    /// Notes that a volume is attached to a node, or may be.
    pub(super) fn mark(&mut self, unique: &Text, node: &Text, volume: Option<CsiVolume>, is_confirmed: bool) {
        let key = (unique.clone(), node.clone());
        if let Some(known) = self.attachments.get_mut(&key) {
            known.is_confirmed = is_confirmed;
            known.volume = volume;
        } else {
            // Until the Node says otherwise it is taken to use the volume.
            self.in_use.entry(node.clone()).or_default().insert(unique.clone());
            self.attachments.insert(key, Attachment { volume, is_confirmed, detach_since: None });
        }
        if is_confirmed {
            self.report(unique, node);
        }
    }

    /// Notes that a volume is not attached to a node.
    pub(super) fn forget(&mut self, unique: &str, node: &str) {
        self.attachments.remove(&(Text::from(unique), Text::from(node)));
        self.withdraw(unique, node);
    }

    /// Takes `volumesInUse` of a Node; tells whether it changed.
    pub(super) fn set_in_use(&mut self, node: &Text, volumes: BTreeSet<Text>) -> bool {
        if volumes.is_empty() {
            return self.in_use.remove(node).is_some_and(|before| !before.is_empty());
        }
        let before = self.in_use.insert(node.clone(), volumes);
        before.as_ref() != self.in_use.get(node)
    }

    pub(super) fn is_in_use(&self, unique: &str, node: &str) -> bool {
        self.in_use.get(node).is_some_and(|volumes| volumes.contains(unique))
    }

    pub(super) fn state(&self, unique: &Text, node: &Text) -> AttachState {
        match self.attachments.get(&(unique.clone(), node.clone())) {
            Some(own) if own.is_confirmed => AttachState::Attached,
            Some(_) => AttachState::Uncertain,
            None => AttachState::Detached,
        }
    }

    /// Returns all attachments, in order.
    pub(super) fn all(&self) -> impl Iterator<Item = (&(Text, Text), &Attachment)> {
        self.attachments.iter()
    }

    pub(super) fn get(&self, unique: &Text, node: &Text) -> Option<&Attachment> {
        self.attachments.get(&(unique.clone(), node.clone()))
    }

    pub(super) fn get_mut(&mut self, unique: &Text, node: &Text) -> Option<&mut Attachment> {
        self.attachments.get_mut(&(unique.clone(), node.clone()))
    }

    /// Returns the nodes to which a volume is known to be attached.
    pub(super) fn nodes_of(&self, unique: &str) -> Vec<Text> {
        let own = self.attachments.iter().filter(|((volume, _), own)| *volume == *unique && own.is_confirmed);
        own.map(|((_, node), _)| node.clone()).collect()
    }

    /// Lets a volume be reported as attached, if it is attached at all.
    pub(super) fn report(&mut self, unique: &Text, node: &Text) {
        if !self.attachments.contains_key(&(unique.clone(), node.clone())) {
            return;
        }
        let report = self.reports.entry(node.clone()).or_default();
        report.is_due |= report.volumes.insert(unique.clone());
    }

    /// Takes a volume out of what its Node is told.
    pub(super) fn withdraw(&mut self, unique: &str, node: &str) {
        if let Some(report) = self.reports.get_mut(node) {
            report.is_due |= report.volumes.remove(unique);
        }
    }

    /// Lets a Node be told again.
    pub(super) fn report_again(&mut self, node: &str) {
        if let Some(report) = self.reports.get_mut(node) {
            report.is_due = true;
        }
    }

    /// Returns what a Node is to be told, and notes that it is told.
    pub(super) fn take_report(&mut self, node: &str) -> Option<Vec<Text>> {
        let report = self.reports.get_mut(node).filter(|report| report.is_due)?;
        report.is_due = false;
        Some(report.volumes.iter().cloned().collect())
    }

    /// Returns the Nodes that have something to be told.
    pub(super) fn due(&self) -> Vec<Text> {
        self.reports.iter().filter(|(_, report)| report.is_due).map(|(node, _)| node.clone()).collect()
    }
}
