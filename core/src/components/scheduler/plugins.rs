//! The plugins of the scheduler by name, sets of them, and how one rejects a node.
//!
//! Mirrors pkg/scheduler/framework/plugins/names/names.go and k8s.io/kube-scheduler framework, `Status` (v1.34).

use alloc::vec::Vec;

use crate::objects::Text;

/// A plugin that can reject a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Plugin {
    NodeUnschedulable,
    TaintToleration,
    NodeAffinity,
    NodePorts,
    NodeResourcesFit,
    VolumeRestrictions,
    NodeVolumeLimits,
    VolumeBinding,
    VolumeZone,
    PodTopologySpread,
    InterPodAffinity,
}

impl Plugin {
    /// All of them, in the order in which they filter.
    pub(super) const ALL: [Self; 11] = [
        Self::NodeUnschedulable,
        Self::TaintToleration,
        Self::NodeAffinity,
        Self::NodePorts,
        Self::NodeResourcesFit,
        Self::VolumeRestrictions,
        Self::NodeVolumeLimits,
        Self::VolumeBinding,
        Self::VolumeZone,
        Self::PodTopologySpread,
        Self::InterPodAffinity,
    ];
}

/// A set of plugins: those that rejected a Pod.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Plugins(u16);

impl Plugins {
    pub(super) const fn insert(&mut self, plugin: Plugin) {
        self.0 |= 1 << plugin as u16;
    }

    pub(super) const fn contains(self, plugin: Plugin) -> bool {
        self.0 & (1 << plugin as u16) != 0
    }

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn iter(self) -> impl Iterator<Item = Plugin> {
        Plugin::ALL.into_iter().filter(move |plugin| self.contains(*plugin))
    }
}

/// Whether the removal of Pods with a lower priority could help.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Remedy {
    /// `Unschedulable`: perhaps.
    Preemption,
    /// `UnschedulableAndUnresolvable`: no.
    None,
}

/// Why a node cannot run a Pod.
#[derive(Clone, Debug)]
pub(super) struct Rejection {
    pub(super) plugin: Plugin,
    pub(super) remedy: Remedy,
    pub(super) reasons: Vec<Text>,
}

impl Rejection {
    pub(super) fn new(plugin: Plugin, remedy: Remedy, reason: impl Into<Text>) -> Self {
        Self { plugin, remedy, reasons: Vec::from([reason.into()]) }
    }
}
