//! What the status of a pod is made from, and what its parts ask of it.
//!
//! Pure. Inputs: the machine, the settings, the instant. Outputs: times as the machine writes them, what was collected,
//! whether a container is ready.

use alloc::string::String;

use jiff::Timestamp;

use super::super::runtime_state::GC_PERIOD;
use super::probes::Probes;
use super::{ContainerPlan, Worker};
use crate::components::host::Host;
use crate::components::host::runtime::{Container, ContainerRole, ContainerState};
use crate::json;
use crate::objects::Json;
use crate::objects::time::to_time;
use crate::profile::Settings;

/// What a status is made from.
pub(super) struct StatusContext<'a> {
    /// The machine.
    pub(super) host: &'a Host,
    /// Release and flags.
    pub(super) settings: &'a Settings,
    /// The node's first address.
    pub(super) host_ip: &'a str,
    /// The second one of a node with an address of each family.
    pub(super) second_ip: Option<&'a str>,
    /// The present instant.
    pub(super) now: Timestamp,
    /// When the kubelet's process started.
    pub(super) started: Timestamp,
}

impl StatusContext<'_> {
    /// Tells whether the run before a container has been collected.
    pub(super) fn is_collected(&self, container: &Container) -> bool {
        is_collected(container, self.started, self.now)
    }

    /// Returns a list of addresses that begins with one of them.
    pub(super) fn addresses(&self, first: &str) -> Json {
        let second = self.second_ip.filter(|second| second.contains(':') != first.contains(':'));
        [Some(first), second].into_iter().flatten().map(|ip| json!({"ip": ip})).collect()
    }

    pub(super) fn time(&self, at: Timestamp) -> String {
        to_time(self.host.wall(at))
    }
}

/// Tells whether the run before a dead container has been collected by a kubelet that started at an instant: of each
/// container one dead run is kept.
///
/// Source: pkg/kubelet/kubelet.go (v1.34), `ContainerGCPeriod`; `MaxPerPodContainerCount` is 1.
pub(super) fn is_collected(container: &Container, started: Timestamp, now: Timestamp) -> bool {
    let ContainerState::Exited { finished_at, .. } = container.state else { return false };
    let passes = |at: Timestamp| at.duration_since(started).as_secs().div_euclid(GC_PERIOD.as_secs());
    finished_at < started || passes(now) > passes(finished_at)
}

impl ContainerPlan {
    pub(super) fn is_ready(&self, worker: &Worker, view: &StatusContext<'_>) -> bool {
        let container = view.host.runtime.container(&worker.uid, &self.name);
        if self.role == ContainerRole::Init {
            return container.is_some_and(|own| own.exit_code() == Some(0));
        }
        let is_up = self.probes.as_ref().is_some_and(Probes::is_ready);
        let is_ready = view.host.runtime.probed(&worker.uid, &self.name).unwrap_or(is_up);
        container.is_some_and(Container::is_running) && self.has_started_up() && is_ready
    }
}
