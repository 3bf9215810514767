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

/// Measures a signal on a machine that has put some bytes of its memory aside for huge pages: they count neither as
/// available nor as capacity.
///
/// Source: pkg/kubelet/server/stats/summary.go (v1.37), `adjustForHugePages`.
pub(super) fn observe(signal: &str, host: &Host, config: &KubeletConfig, huge_pages: i64) -> Observation {
    let of = |level: Level, format: Format| Observation {
        available: Quantity::whole(level.available(), format),
        capacity: level.capacity,
    };
    match SignalKind::of(signal) {
        SignalKind::Memory if signal == "allocatableMemory.available" => {
            let capacity = host.level(Resource::Memory).capacity - config.reservations.memory_of_daemons.value();
            of(Level { capacity, used: host.used_by_pods(Resource::Memory) }, Format::BinarySi)
        }
        SignalKind::Memory => {
            let Level { capacity, used } = host.level(Resource::Memory);
            let available = (Level { capacity, used }.available() - huge_pages).max(0);
            let capacity = if huge_pages == 0 { capacity } else { available + used };
            Observation { available: Quantity::whole(available, Format::BinarySi), capacity }
        }
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

#[cfg(test)]
mod tests {
    use super::observe;
    use crate::components::host::{Free, Host, MachineSpec, Resource};
    use crate::components::kubelet::config::KubeletConfig;
    use crate::json;
    use crate::profile::Settings;

    #[test]
    fn huge_pages_are_neither_left_nor_part_of_the_capacity() {
        const MI: i64 = 1 << 20;
        let machine = MachineSpec::from_json(&json!({"name": "w", "capacity": {"memory": "1Gi"}})).unwrap();
        let config = KubeletConfig::resolve(&machine, &machine.kubelet, &Settings::default()).unwrap();
        let mut host = Host::new(machine);
        host.fill(Resource::Memory, Free::Amount(300 * MI)).unwrap();
        for (signal, huge_pages, available, capacity) in [
            ("memory.available", 0, 300, 1024),
            ("memory.available", 200, 100, 824),
            ("memory.available", 400, 0, 724),
            ("allocatableMemory.available", 200, 1024, 1024),
        ] {
            let observed = observe(signal, &host, &config, huge_pages * MI);
            let seen = (observed.available.value() / MI, observed.capacity / MI);
            assert_eq!(seen, (available, capacity), "{signal} {huge_pages}");
        }
    }
}
