//! Which containers of a pod may start: its init containers one after the other, sidecars beside them, then the rest.
//!
//! Mirrors `computeInitContainerActions` of pkg/kubelet/kuberuntime/kuberuntime_container.go (v1.34). Pure. Inputs: the
//! plans of a pod's containers, its sandbox. Outputs: the containers that may start now. Invariant: no other container
//! starts before each init container has ended with success, or runs and has started up if it is a sidecar.

use alloc::vec::Vec;

use super::{ContainerPlan, Worker};
use crate::components::host::runtime::{Container, ContainerRole, Sandbox};
use crate::profile::Profile;

/// How far the init containers of a pod are.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Initialization {
    /// Whether an init container has failed that is not started again: the pod ends.
    pub(super) has_failed: bool,
    /// Whether the other containers may start.
    pub(super) is_initialized: bool,
    /// The init containers that may start now, by their place among all containers.
    starts: Vec<usize>,
}

impl Initialization {
    /// Looks at the containers of a pod.
    pub(super) fn of(worker: &Worker, sandbox: Option<&Sandbox>, profile: &Profile) -> Self {
        let plans = &worker.plans;
        if let Some(lost) = sandbox.filter(|own| worker.stays_without_sandbox(own)) {
            let exit_code = |plan: &ContainerPlan| lost.container(&plan.name).and_then(Container::exit_code);
            let fails = |plan: &ContainerPlan| {
                let failed = exit_code(plan).filter(|code| plan.role == ContainerRole::Init && *code != 0);
                failed.is_some_and(|code| !worker.starts_again(plan, code))
            };
            return Self { has_failed: plans.iter().any(fails), ..Self::default() };
        }
        let known = |plan: &ContainerPlan| in_sandbox(sandbox, plan);
        let runs = |plan: &ContainerPlan| known(plan).is_some_and(Container::is_running);
        let mut progress = Self::default();
        let initial = plans.iter().take_while(|plan| plan.role.is_initial()).count();
        let (first, others) = plans.split_at(initial);
        let counts_ended = profile.is("exited-containers-count-as-initialized");
        let has_started = |plan: &ContainerPlan| if counts_ended { known(plan).is_some() } else { runs(plan) };
        progress.is_initialized = first.is_empty() || others.iter().any(has_started);
        // The last one of which something is known tells how far the pod is.
        let mut is_passed = progress.is_initialized;
        for (at, plan) in first.iter().enumerate().rev() {
            let is_sidecar = plan.role == ContainerRole::Sidecar;
            let Some(container) = known(plan) else {
                progress.starts.extend(Some(at).filter(|_| is_passed && is_sidecar));
                continue;
            };
            if is_passed && !is_sidecar {
                continue;
            }
            match container.exit_code() {
                None if !is_sidecar || !plan.has_started_up() => {}
                Some(code) if is_sidecar || code != 0 => {
                    if !worker.starts_again(plan, code) {
                        return Self { has_failed: true, is_initialized: false, starts: Vec::new() };
                    }
                    progress.starts.push(at);
                }
                _ if at + 1 == initial => progress.is_initialized = true,
                _ if !is_passed => progress.starts.push(at + 1),
                _ => {}
            }
            is_passed = true;
        }
        if !is_passed {
            progress.starts.push(0);
        }
        progress
    }

    /// Tells whether the container at a place may start now.
    pub(super) fn may_start(&self, at: usize, plan: &ContainerPlan) -> bool {
        if plan.role == ContainerRole::Regular { self.is_initialized } else { self.starts.contains(&at) }
    }
}

impl Worker {
    /// Tells whether a pod gets no other sandbox in the place of one that is gone: none of its containers is to run
    /// again, by the policy of the pod alone.
    ///
    /// Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go (v1.34), `computePodActions`.
    fn stays_without_sandbox(&self, sandbox: &Sandbox) -> bool {
        !sandbox.is_ready && !sandbox.containers.is_empty() && self.restart_policy() == "Never"
    }
}

/// Returns what the present sandbox of a pod has of a container.
fn in_sandbox<'a>(sandbox: Option<&'a Sandbox>, plan: &ContainerPlan) -> Option<&'a Container> {
    let container = sandbox.filter(|sandbox| sandbox.is_ready)?.container(&plan.name)?;
    Some(container).filter(|container| !container.outlived_sandbox)
}
