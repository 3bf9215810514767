//! The signals of eviction as they are measured, and which thresholds they meet.
//!
//! Mirrors `makeSignalObservations` and `thresholdsMet` of pkg/kubelet/eviction/helpers.go (v1.34). Node, images and
//! containers share one file system. Inputs: the machine, what is reserved. Outputs: amounts.

use super::super::config::KubeletConfig;
use super::super::thresholds::EvictionThreshold;
use crate::components::host::{Host, Level, Resource};
use crate::objects::quantity::{Format, Quantity};

/// What a signal tells of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SignalKind {
    /// Memory of the node or of its pods.
    Memory,
    /// Bytes of a file system.
    Disk,
    /// Inodes of a file system.
    Inodes,
    /// Process ids.
    Pids,
}

impl SignalKind {
    pub(super) fn of(signal: &str) -> Self {
        match signal {
            "memory.available" | "allocatableMemory.available" => Self::Memory,
            "pid.available" => Self::Pids,
            inodes if inodes.ends_with(".inodesFree") => Self::Inodes,
            _ => Self::Disk,
        }
    }

    /// Returns the name of the resource in Events and messages.
    pub(super) const fn resource(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Disk => "ephemeral-storage",
            Self::Inodes => "inodes",
            Self::Pids => "pids",
        }
    }

    /// Returns the place of the node condition that it causes.
    pub(super) const fn condition(self) -> usize {
        match self {
            Self::Memory => 0,
            Self::Disk | Self::Inodes => 1,
            Self::Pids => 2,
        }
    }
}

/// What was measured of a signal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Observation {
    pub(super) available: Quantity,
    pub(super) capacity: i64,
}

/// Measures a signal.
pub(super) fn observe(signal: &str, host: &Host, config: &KubeletConfig) -> Observation {
    let of = |level: Level, format: Format| Observation {
        available: Quantity::whole(level.available(), format),
        capacity: level.capacity,
    };
    match SignalKind::of(signal) {
        SignalKind::Memory if signal == "allocatableMemory.available" => {
            let capacity = host.level(Resource::Memory).capacity - config.reservations.memory_of_daemons.value();
            of(Level { capacity, used: host.used_by_pods(Resource::Memory) }, Format::BinarySi)
        }
        SignalKind::Memory => of(host.level(Resource::Memory), Format::BinarySi),
        SignalKind::Disk => of(host.level(Resource::Disk), Format::BinarySi),
        SignalKind::Inodes => of(host.level(Resource::Inodes), Format::DecimalSi),
        SignalKind::Pids => of(host.level(Resource::Pids), Format::DecimalSi),
    }
}

/// Tells whether a threshold is met; with its minimum reclaim, whether it still counts as met.
pub(super) fn is_met(threshold: &EvictionThreshold, observed: Observation, with_reclaim: bool) -> bool {
    let wanted = threshold.value.quantity(observed.capacity);
    let reclaim = threshold.minimum_reclaim.filter(|_| with_reclaim);
    let wanted = reclaim.map_or(wanted, |reclaim| wanted + reclaim.quantity(observed.capacity));
    wanted > observed.available
}
