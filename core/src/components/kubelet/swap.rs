//! Swap: whether a kubelet starts on a machine that swaps, and how much of it each container may use, beside CPU and
//! memory.
//!
//! Mirrors pkg/kubelet/cm/container_manager_linux.go, pkg/kubelet/kuberuntime/kuberuntime_container_linux.go and
//! pkg/kubelet/util/swap/swap_util.go (v1.34). Pure. Inputs: the configuration, the hardware, the release, a pod.
//! Outputs: refusals, a warning, the limits of a container.

use alloc::format;
use alloc::string::{String, ToString};

use super::Kubelet;
use super::preemption::is_critical;
use crate::components::host::runtime::ContainerRole;
use crate::components::host::{Assignment, ContainerLimits, Hardware, Host, SwapLimit};
use crate::objects::quantity::Quantity;
use crate::objects::{Json, Object};
use crate::profile::Settings;

/// Warned of where memory-backed volumes may be swapped out: reason and message.
/// Source: pkg/kubelet/cm/container_manager_linux.go (v1.34), `NewContainerManager`.
pub(super) const VOLUMES_ON_DISK: (&str, &str) = (
    "PossibleMemoryBackedVolumesOnDisk",
    "The tmpfs noswap option is not supported. Memory-backed volumes (e.g. secrets, emptyDirs, etc.) might be swapped \
     to disk and should no longer be considered secure.",
);

/// What containers may swap, as configuration and release have it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SwapBehaviour {
    /// The kubelet says nothing of swap: its gate is off, up to 1.27.
    #[default]
    Unmanaged,
    /// Nothing.
    NoSwap,
    /// Nothing beyond the memory limit, of which swapped memory is a part: the first form of `LimitedSwap`.
    UpToMemoryLimit,
    /// A share of the swap space, as the container's share of the memory: `LimitedSwap`.
    Share,
    /// All there is: `UnlimitedSwap`.
    Unlimited,
}

/// Returns what containers may swap.
///
/// Source: pkg/kubelet/kuberuntime/kuberuntime_container_linux.go (v1.22, v1.28, v1.30),
/// `configureContainerSwapResources`.
pub(super) fn behaviour(merged: &Json, settings: &Settings) -> SwapBehaviour {
    let is = |row| settings.profile().is(row);
    if !settings.is_gate_on("NodeSwap") {
        return if is("no-swap-without-gate") { SwapBehaviour::NoSwap } else { SwapBehaviour::Unmanaged };
    }
    match merged.at(&["memorySwap", "swapBehavior"]).as_str().unwrap_or_default() {
        "LimitedSwap" if is("limited-swap-is-a-share") => SwapBehaviour::Share,
        "LimitedSwap" => SwapBehaviour::UpToMemoryLimit,
        "UnlimitedSwap" => SwapBehaviour::Unlimited,
        _ if is("pods-do-not-swap-by-default") => SwapBehaviour::NoSwap,
        _ if is("limited-swap-is-a-share") => SwapBehaviour::Unlimited,
        _ => SwapBehaviour::UpToMemoryLimit,
    }
}

/// Checks the configuration against the machine's swap space.
///
/// Source: cmd/kubelet/app/server.go, `run`, and pkg/kubelet/cm/container_manager_linux.go (v1.34),
/// `NewContainerManager`.
pub(super) fn check(merged: &Json, hardware: &Hardware, settings: &Settings) -> Result<(), String> {
    let is_share = behaviour(merged, settings) == SwapBehaviour::Share;
    if is_share && hardware.cgroup_version == 1 && settings.profile().is("limited-swap-needs-cgroups-2") {
        return Err(
            "failed to run Kubelet: swap feature is enabled and LimitedSwap but it is only supported with cgroupv2"
                .to_string(),
        );
    }
    if hardware.swap.is_zero() || !merged.get("failSwapOn").as_bool().unwrap_or(true) {
        return Ok(());
    }
    let text = settings.profile().text("swap-refusal");
    let swaps = format!(
        "[Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority /swapfile                               \
        file\t\t{}\t\t0\t\t-2]",
        hardware.swap.value() / 1024
    );
    Err(format!("failed to run Kubelet: {}", text.replace("{}", &swaps)))
}

/// Checks the words of the configuration.
///
/// Source: pkg/kubelet/apis/config/validation/validation_linux.go (v1.34) and validation.go (v1.23, v1.24),
/// `ValidateKubeletConfiguration`.
pub(super) fn wrong_words(merged: &Json, settings: &Settings) -> Option<String> {
    let behaviour = merged.at(&["memorySwap", "swapBehavior"]).as_str().unwrap_or_default();
    let text = settings.profile().text("swap-behaviour-refusal");
    let field = text.split(' ').next().unwrap_or_default();
    if !settings.is_gate_on("NodeSwap") {
        return (!behaviour.is_empty())
            .then(|| format!("invalid configuration: {field} cannot be set when NodeSwap feature flag is disabled"));
    }
    let is_known = match behaviour {
        "" | "LimitedSwap" => true,
        "NoSwap" => settings.profile().is("pods-do-not-swap-by-default"),
        "UnlimitedSwap" => !settings.profile().is("pods-do-not-swap-by-default"),
        _ => false,
    };
    (!is_known).then(|| format!("invalid configuration: {}", text.replace("{}", behaviour)))
}

/// Tells whether memory-backed volumes may be swapped to the disk: the kernel cannot exclude them.
///
/// Source: pkg/kubelet/util/swap/swap_util.go (v1.34), `IsTmpfsNoswapOptionSupported`, and
/// pkg/util/kernel/constants.go, `TmpfsNoswapSupportKernelVersion`.
#[must_use]
pub fn swaps_volumes(hardware: &Hardware) -> bool {
    const SUPPORTED: (u32, u32) = (6, 4);
    let mut numbers = hardware.kernel_version.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    let mut next = || numbers.next().and_then(Result::ok).unwrap_or_default();
    !hardware.swap.is_zero() && (next(), next()) < SUPPORTED
}

impl Kubelet {
    /// Tells whether memory-backed volumes are kept from the disk where the kernel can do that.
    #[must_use]
    pub fn mounts_with_noswap(&self) -> bool {
        self.settings.profile().is("volumes-in-memory-do-not-swap")
    }

    /// Returns the limits of a container.
    ///
    /// Source: pkg/kubelet/kuberuntime/kuberuntime_container_linux.go (v1.34), `generateLinuxContainerResources` and
    /// `calculateLinuxResources`.
    pub(super) fn container_limits(&self, pod: &Object, container: &str, host: &Host) -> ContainerLimits {
        let limits = limits((pod, container), (&self.config.hardware, self.config.swap), &self.settings);
        let is_own = |given: &&Assignment| *given.uid == *pod.uid() && *given.container == *container;
        let has_own_cpus = host.assignments.iter().find(is_own).is_some_and(|given| !given.cpus.is_empty());
        let is_free = has_own_cpus && self.settings.is_gate_on("DisableCPUQuotaWithExclusiveCPUs");
        if is_free || !self.config.limits_cpu { ContainerLimits { cpu_limit: 0, ..limits } } else { limits }
    }
}

/// Returns the limits of a container, with that of its CPU time.
///
/// Source: as above, and `GetContainerSwapBehavior`.
fn limits(
    (pod, container): (&Object, &str),
    (hardware, behaviour): (&Hardware, SwapBehaviour),
    settings: &Settings,
) -> ContainerLimits {
    let own = ContainerRole::find(pod, container).map(|(_, own)| own);
    let amount = |list: &str, resource: &str| {
        let found = own.map(|own| own.at(&["resources", list, resource]));
        found.and_then(Quantity::from_json)
    };
    // A container without a limit has that of its pod. Source: as above, `getCPULimit`, `getMemoryLimit`.
    let of_pod = |resource: &str| {
        let found = pod.stable().at(&["spec", "resources", "limits", resource]);
        Quantity::from_json(found).filter(|_| settings.profile().is("pod-level-resources"))
    };
    let limit_of = |resource| amount("limits", resource).filter(|own| !own.is_zero()).or_else(|| of_pod(resource));
    let bytes = |list| amount(list, "memory").map_or(0, |amount| amount.value());
    let cpu_limit = limit_of("cpu").map_or(0, |amount| amount.milli_value());
    let memory = limit_of("memory").map_or(0, |amount| amount.value());
    let (request, limit) = (bytes("requests"), bytes("limits"));
    let may_swap = pod.stable().at(&["status", "qosClass"]).as_str() == Some("Burstable")
        && (request != 0 || limit != 0)
        && request != limit
        && !(settings.profile().is("critical-pods-do-not-swap") && is_critical(pod));
    let is_old = hardware.cgroup_version == 1;
    let share = || share_of_swap(request, hardware.memory.value(), hardware.swap.value());
    let swap = match behaviour {
        _ if !hardware.swap_controller => SwapLimit::NotCounted,
        // From the release on that knows shares, swap is a matter of cgroups of version 2 alone.
        SwapBehaviour::Unlimited if is_old && settings.profile().is("limited-swap-is-a-share") => SwapLimit::Bytes(0),
        SwapBehaviour::Unlimited => SwapLimit::Unlimited,
        SwapBehaviour::Share if may_swap && !is_old => SwapLimit::Bytes(share()),
        // Without a word of the kubelet's the runtime itself keeps a container with a memory limit from swapping.
        // Source: github.com/containerd/containerd internal/cri/opts/spec_linux_opts.go (v2.1), `WithResources`.
        SwapBehaviour::Unmanaged | SwapBehaviour::UpToMemoryLimit if memory == 0 => SwapLimit::Unlimited,
        _ => SwapLimit::Bytes(0),
    };
    ContainerLimits {
        version: hardware.cgroup_version,
        cpu_request: amount("requests", "cpu").map_or(cpu_limit, |amount| amount.milli_value()),
        cpu_limit,
        memory,
        swap,
    }
}

/// Returns a container's part of the swap space: its part of the memory.
///
/// Source: pkg/kubelet/kuberuntime/kuberuntime_container_linux.go (v1.34), `calcSwapForBurstablePods`: in floating
/// point, cut to whole bytes.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "as the kubelet does")]
fn share_of_swap(request: i64, memory: i64, swap: i64) -> i64 {
    if memory == 0 || request > memory {
        return 0;
    }
    (request as f64 / memory as f64 * swap as f64) as i64
}

#[cfg(test)]
mod tests {
    use super::share_of_swap;

    #[test]
    fn a_share_of_the_swap_space_is_cut_to_whole_bytes() {
        const GI: i64 = 1 << 30;
        assert_eq!(share_of_swap(4 * GI, 16_374_444 << 10, 8_388_604 << 10), 2_200_305_539);
        assert_eq!(share_of_swap(4 * GI, 16 * GI, 8 * GI), 2_147_483_648);
        assert_eq!(share_of_swap(300 << 20, 16 * GI, 8 * GI), 157_286_400);
        assert_eq!([share_of_swap(17 * GI, 16 * GI, 8 * GI), share_of_swap(GI, 0, 8 * GI)], [0, 0]);
    }
}
