//! What a container's cgroup limits: CPU, memory, and how much of the swap space it may use.
//!
//! Inputs: what the kubelet asks its runtime for. Outputs: the files of the cgroup with their contents, numbers as
//! numbers, as `GET machines/NAME` shows them.

use alloc::format;

use crate::json;
use crate::objects::Json;

/// The fewest and the most CPU shares. Source: pkg/kubelet/cm/helpers_linux.go (v1.34), `MinShares`, `MaxShares`.
const SHARES: [i64; 2] = [2, 262_144];
/// The period of CPU time in microseconds. Source: as above, `QuotaPeriod`.
const PERIOD: i64 = 100_000;
/// The smallest quota. Source: as above, `MinQuotaPeriod`.
const QUOTA_MIN: i64 = 1_000;
/// What the files of version 1 hold where nothing is limited: the largest number of whole pages.
const UNLIMITED_V1: i64 = 9_223_372_036_854_771_712;

/// How much of the swap space a container may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SwapLimit {
    /// The kernel does not count it.
    NotCounted,
    /// As much as there is.
    Unlimited,
    /// So many bytes.
    Bytes(i64),
}

/// The limits of a container.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ContainerLimits {
    /// The version of cgroups.
    pub version: i64,
    /// The requested CPU, in thousandths.
    pub cpu_request: i64,
    /// The most CPU, in thousandths; 0 for any.
    pub cpu_limit: i64,
    /// The most memory in bytes; 0 for any.
    pub memory: i64,
    /// The most swap space.
    pub swap: SwapLimit,
}

impl ContainerLimits {
    /// Source: pkg/kubelet/cm/helpers_linux.go (v1.34), `MilliCPUToShares`.
    fn shares(&self) -> i64 {
        let [least, most] = SHARES;
        (self.cpu_request.saturating_mul(1024) / 1000).clamp(least, most)
    }

    /// Source: pkg/kubelet/cm/helpers_linux.go (v1.34), `MilliCPUToQuota`.
    fn quota(&self) -> Option<i64> {
        let wanted = self.cpu_limit.saturating_mul(PERIOD) / 1000;
        (self.cpu_limit > 0).then_some(wanted.max(QUOTA_MIN))
    }

    /// Returns the limit of CPU as it is read back, in thousandths; `None` for any.
    ///
    /// Source: pkg/kubelet/kuberuntime/helpers_linux.go (v1.34), `quotaToMilliCPU`.
    #[must_use]
    pub fn cpu_limit_read_back(&self) -> Option<i64> {
        self.quota().map(|quota| quota * 1000 / PERIOD)
    }

    /// Returns the requested CPU as it is read back, in thousandths.
    ///
    /// Source: as above, `sharesToMilliCPU`.
    #[must_use]
    pub fn cpu_request_read_back(&self) -> i64 {
        (self.shares() * 1000 + 1023) / 1024
    }

    /// Returns how much memory a process can use before the kernel ends it, with the swap space that it may use.
    #[must_use]
    pub fn most_memory(&self) -> Option<i64> {
        let limit = Some(self.memory).filter(|bytes| *bytes > 0)?;
        match self.swap {
            SwapLimit::NotCounted => Some(limit),
            SwapLimit::Bytes(bytes) => Some(limit.saturating_add(bytes)),
            SwapLimit::Unlimited => None,
        }
    }

    /// Shows the files of the cgroup.
    #[must_use]
    pub fn json(&self) -> Json {
        if self.version == 1 { self.json_v1() } else { self.json_v2() }
    }

    fn json_v2(&self) -> Json {
        let amount = |bytes: i64| if bytes > 0 { Json::Int(bytes) } else { Json::from("max") };
        let [least, most] = SHARES;
        // Source: github.com/opencontainers/runc libcontainer/cgroups/utils.go (v1.2),
        // `ConvertCPUSharesToCgroupV2Value`.
        let weight = 1 + (self.shares() - least) * 9_999 / (most - least);
        let quota = self.quota().map_or_else(|| format!("max {PERIOD}"), |quota| format!("{quota} {PERIOD}"));
        let mut shown = json!({"cpu.weight": weight, "cpu.max": quota});
        shown.set(&["memory.max"], amount(self.memory));
        match self.swap {
            SwapLimit::NotCounted => {}
            SwapLimit::Unlimited => shown.set(&["memory.swap.max"], "max"),
            SwapLimit::Bytes(bytes) => shown.set(&["memory.swap.max"], bytes),
        }
        shown
    }

    fn json_v1(&self) -> Json {
        let memory = if self.memory > 0 { self.memory } else { UNLIMITED_V1 };
        let mut shown = json!({"cpu.shares": self.shares(), "cpu.cfs_period_us": PERIOD,
            "cpu.cfs_quota_us": self.quota().unwrap_or(-1), "memory.limit_in_bytes": memory});
        let both = match self.swap {
            SwapLimit::NotCounted => return shown,
            SwapLimit::Bytes(bytes) if self.memory > 0 => self.memory.saturating_add(bytes),
            SwapLimit::Bytes(_) | SwapLimit::Unlimited => UNLIMITED_V1,
        };
        shown.set(&["memory.memsw.limit_in_bytes"], both);
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::{ContainerLimits, SwapLimit};
    use crate::json;

    #[test]
    fn the_files_of_both_versions() {
        let limits = ContainerLimits {
            version: 2,
            cpu_request: 250,
            cpu_limit: 500,
            memory: 1 << 30,
            swap: SwapLimit::Bytes(0),
        };
        assert_eq!(
            limits.json(),
            json!({"cpu.weight": 10, "cpu.max": "50000 100000", "memory.max": 1_073_741_824, "memory.swap.max": 0})
        );
        let free = ContainerLimits { cpu_request: 0, cpu_limit: 0, memory: 0, swap: SwapLimit::Unlimited, ..limits };
        assert_eq!(
            free.json(),
            json!({"cpu.weight": 1, "cpu.max": "max 100000", "memory.max": "max", "memory.swap.max": "max"})
        );
        let old = ContainerLimits { version: 1, ..limits };
        assert_eq!(
            old.json(),
            json!({"cpu.shares": 256, "cpu.cfs_period_us": 100_000, "cpu.cfs_quota_us": 50_000,
                "memory.limit_in_bytes": 1_073_741_824, "memory.memsw.limit_in_bytes": 1_073_741_824})
        );
        let uncounted = ContainerLimits { version: 1, swap: SwapLimit::NotCounted, ..limits };
        assert!(uncounted.json().get("memory.memsw.limit_in_bytes").is_null());
    }
}
