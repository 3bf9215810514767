//! What a kubelet keeps of one pod.
//!
//! Pure.

use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::ending::{Ending, PREEMPTED};
use super::probes::{ProbeKind, Probes};
use super::resizing::Resizing;
use super::whole_pod::is_shown;
use crate::components::host::Host;
use crate::components::host::runtime::ContainerRole;
use crate::objects::lifecycle::{is_ending, is_ready};
use crate::objects::{Json, Object, Text};
use crate::profile::Settings;

/// The phase of a pod's worker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WorkerStage {
    /// It waits for the runtime or the network.
    Blocked,
    /// It runs, or is about to.
    Active,
    /// Its containers were told to stop.
    Stopping,
    /// All containers have ended, and none is started again.
    Over,
}

/// The last pull of an image, which failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::components::kubelet) struct FailedPull {
    /// When it failed.
    pub(super) at: Timestamp,
    /// For how long it is not tried again.
    pub(super) pause: SignedDuration,
    /// Why.
    pub(super) error: Text,
}

/// Why the kubelet tells one container of a pod to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum KilledFor {
    /// A probe has failed for good.
    Probe,
    /// The pod names another image.
    Image,
    /// The pod got other resources, with which the container has to start anew.
    Resize,
}

/// A sync of a pod that waits for a hook.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct PostStart {
    /// The container.
    pub(super) container: Text,
    /// When the hook ends; `None` once it has failed: then the container's end is waited for.
    pub(super) ends_at: Option<Timestamp>,
    /// Whether it fails.
    pub(super) fails: bool,
}

impl PostStart {
    /// Returns when the hook ends, if that has not yet come.
    pub(super) const fn ends_at(&self) -> Option<Timestamp> {
        self.ends_at
    }

    /// Tells whether there is nothing more to wait for: the container has ended.
    pub(super) fn is_over(&self, uid: &Text, host: &Host) -> bool {
        host.runtime.container(uid, &self.container).is_none_or(|own| !own.is_running())
    }
}

/// When one container is started, and how often it was restarted.
#[derive(Clone, Debug)]
pub(in crate::components::kubelet) struct ContainerPlan {
    /// The container's name.
    pub(in crate::components::kubelet) name: Text,
    /// What it is to the pod.
    pub(in crate::components::kubelet) role: ContainerRole,
    /// When its process starts; `None` once it has, or if it never will.
    pub(in crate::components::kubelet) start_at: Option<Timestamp>,
    /// Its probes, while it runs.
    pub(in crate::components::kubelet) probes: Option<Probes>,
    /// Those of the run before.
    pub(super) past_probes: Option<Probes>,
    /// The probe for whose sake it is to end once there is a runtime.
    pub(super) ends_for: Option<ProbeKind>,
    /// Why the kubelet has told it to end, if it is started again in the same sync.
    pub(super) killed_for: Option<KilledFor>,
    /// How often it was started again.
    pub(in crate::components::kubelet) restarts: u32,
    /// The pause after its next crash; `None` before the first.
    pub(in crate::components::kubelet) backoff: Option<SignedDuration>,
    /// The pause for which it was held back last.
    pub(in crate::components::kubelet) held_back: SignedDuration,
    /// Whether it has ended, and is to run again after its pause.
    pub(in crate::components::kubelet) is_waiting: bool,
    /// Whether a second sync found it waiting: only then its status says `CrashLoopBackOff`.
    pub(in crate::components::kubelet) is_crash_looping: bool,
    /// What its hook `postStart` said as it failed.
    pub(super) hook_error: Option<Text>,
    /// The last pull of its image, if it failed.
    pub(super) failed_pull: Option<FailedPull>,
    /// Reason and message of the start that failed.
    pub(in crate::components::kubelet) start_error: Option<(&'static str, Text)>,
    /// Whether its start waits for the first list of an object that its environment names.
    pub(super) awaits_object: bool,
    /// The error of the sync before: a status is made at the beginning of a sync.
    pub(super) shown_error: Option<(&'static str, Text)>,
}

impl ContainerPlan {
    /// Tells whether its startup probe does not hold it back.
    pub(super) fn has_started_up(&self) -> bool {
        self.probes.as_ref().is_none_or(Probes::has_started_up)
    }
}

/// The worker of one pod.
#[derive(Clone, Debug)]
pub(in crate::components::kubelet) struct Worker {
    /// The pod's UID.
    pub(in crate::components::kubelet) uid: Text,
    /// The pod as it was seen last.
    pub(in crate::components::kubelet) object: Object,
    /// When it was first seen.
    pub(in crate::components::kubelet) seen_at: Timestamp,
    /// Reason and message of a refusal.
    pub(in crate::components::kubelet) rejection: Option<(Text, Text)>,
    /// The containers.
    pub(in crate::components::kubelet) plans: Vec<ContainerPlan>,
    /// Until when the phase in the API stays, after the containers have ended by themselves.
    pub(in crate::components::kubelet) phase_held_until: Option<Timestamp>,
    /// Why the kubelet itself ends it.
    pub(in crate::components::kubelet) ending: Option<Ending>,
    /// The UID of the mirror of a static pod; empty before it was seen.
    pub(super) mirror: Text,
    /// The phase in the API as of the last sync; empty before the first.
    pub(super) synced_phase: Text,
    /// When it was synced last.
    pub(super) synced_at: Timestamp,
    /// Whether the time at which it started is known, since this process has started it before what is driven.
    pub(super) keeps_start: bool,
    /// Whether its status could not be written.
    pub(super) has_failed_sync: bool,
    /// Whether the next status to write only says that the sandbox is ready.
    pub(super) tells_sandbox: bool,
    /// Whether it is a static pod whose manifest is gone.
    pub(super) is_removed: bool,
    /// When housekeeping finds that its manifest is gone; `None` if it is there again before.
    pub(super) orphaned_at: Option<Timestamp>,
    /// The node's address as of the last sync.
    pub(in crate::components::kubelet) host_ip: Text,
    /// When it is synced because its time has come; set only while that would change something.
    pub(super) resync_at: Option<Timestamp>,
    /// The hook that its sync waits for.
    pub(super) post_start: Option<PostStart>,
    /// When it will have run for as long as it may.
    pub(super) deadline_at: Option<Timestamp>,
    /// The conditions as this process has written them last; `Null` before the first time.
    pub(in crate::components::kubelet) conditions: Json,
    /// The pod in the API after this process has written its status last.
    pub(super) written: Option<Object>,
    /// The pods that have to end before it starts.
    pub(super) victims: Vec<Text>,
    /// Until when the end of the first of them is waited for.
    pub(super) victim_until: Option<Timestamp>,
    /// How far it is with resources other than those that it began with.
    pub(super) resizing: Resizing,
    /// Whether its containers may have policies of restarts of their own.
    pub(super) has_restart_rules: bool,
    pub(super) stage: WorkerStage,
    pub(super) is_gone: bool,
    /// Whether it is told to stop once the sync under way is over.
    pub(super) ends_after_sync: bool,
    pub(super) is_dirty: bool,
    pub(super) is_syncing: bool,
    pub(super) sync_at: Option<Timestamp>,
    pub(super) delete_at: Option<Timestamp>,
    pub(super) retry_at: Option<Timestamp>,
    /// When a call of the frozen runtime is given up.
    pub(super) hung_until: Option<Timestamp>,
    /// Whether the removal of its sandbox has failed.
    pub(super) has_failed_to_end: bool,
    /// Whether none of its containers was ever started, its sandbox was ended if it had one, and all that is left is
    /// the relist that sees so.
    pub(super) awaits_relist: bool,
    /// Whether it ended before this process started, and its sandbox did not outlive a boot.
    pub(super) has_lost_address: bool,
}

impl Worker {
    /// Tells whether all containers have ended and none will be restarted.
    pub(in crate::components::kubelet) fn is_over(&self) -> bool {
        self.stage == WorkerStage::Over
    }

    /// Tells whether its resources count as used: it was admitted and has not ended. One that its source has no more
    /// does not count, although its containers may still run.
    ///
    /// Source: pkg/kubelet/kubelet_pods.go (v1.34), `GetActivePods`.
    pub(super) fn counts(&self) -> bool {
        !self.is_over() && !self.is_gone && !self.is_removed && self.rejection.is_none()
    }

    /// Tells whether its containers have ended and were removed before the kubelet could read how.
    pub(super) fn has_lost_containers(&self) -> bool {
        self.is_over() && self.ending.as_ref().is_some_and(|ending| ending.loses_containers)
    }

    /// Tells whether it has ended and has no deadline, no request under way and nothing to write.
    pub(super) fn is_idle(&self) -> bool {
        self.is_over() && self.victims.is_empty() && !self.is_dirty && !self.is_syncing
    }

    /// Tells whether its containers have to end, or are about to.
    pub(super) fn has_to_end(&self) -> bool {
        !self.is_over() && (self.is_deleted() || self.ending.is_some())
    }

    /// Notes a sync, for what of the status depends on the phase that the API had then.
    pub(super) fn note_sync(&mut self, now: Timestamp) {
        self.synced_phase = self.phase_in_api();
        self.synced_at = now;
        self.note_unseen();
    }

    /// Notes in a sync what its probes have not looked at yet; tells whether that changes the status.
    pub(super) fn note_unseen(&mut self) -> bool {
        let probes = || self.plans.iter().filter_map(|plan| plan.probes.as_ref());
        if !probes().any(Probes::is_unseen) {
            return false;
        }
        let is_ready = is_ready(&self.object);
        let mut changes = false;
        for probes in self.plans.iter_mut().filter_map(|plan| plan.probes.as_mut()) {
            changes |= probes.note_sync(is_ready);
        }
        changes
    }

    /// Notes that it is told to stop: with that the status is made anew.
    pub(super) fn note_stop(&mut self, settings: &Settings, now: Timestamp) {
        let before = self.synced_phase.clone();
        self.is_dirty |= self.note_unseen() && !self.is_gone;
        self.note_sync(now);
        self.is_dirty |= is_shown(settings) && before != self.synced_phase && !self.is_gone;
    }

    /// Returns the phase that the API has.
    pub(super) fn phase_in_api(&self) -> Text {
        self.object.stable().at(&["status", "phase"]).as_text().cloned().unwrap_or_default()
    }

    /// Tells whether the kubelet itself ends a static pod whose containers may still run. Nothing holds its phase back,
    /// since it is looked for under the UID of its mirror.
    ///
    /// Source: pkg/kubelet/status/status_manager.go (v1.34), `syncPod`, `PodCouldHaveRunningContainers`.
    pub(super) fn has_failed_early(&self) -> bool {
        self.is_static_ended() && !self.is_over()
    }

    /// Tells whether the kubelet itself has ended a static pod, or is about to: it has failed, however its containers
    /// end.
    ///
    /// Source: pkg/kubelet/kubelet_pods.go (v1.34), `getPhase` and `generateAPIPodStatus`.
    pub(super) fn is_static_ended(&self) -> bool {
        self.ending.is_some() && super::is_static(&self.object)
    }

    pub(super) fn is_preempted(&self) -> bool {
        self.ending.as_ref().is_some_and(|ending| ending.reason == *PREEMPTED.0)
    }

    pub(super) fn is_deleted(&self) -> bool {
        is_ending(&self.object)
    }

    /// Tells whether a sync is under way that has ended a container, and starts it again.
    pub(super) fn replaces_container(&self, host: &Host) -> bool {
        let has_ended = |plan: &ContainerPlan| {
            let container = host.runtime.container(&self.uid, &plan.name);
            let is_replaced = match plan.killed_for {
                Some(KilledFor::Probe) => self.is_replaced(plan),
                other => other.is_some(),
            };
            is_replaced && container.is_some_and(|own| !own.is_running())
        };
        self.plans.iter().any(has_ended)
    }

    /// Tells whether a sync is under way that nothing interrupts: it waits for a hook, ends containers, or starts some
    /// in the sandbox. Before there is a sandbox it waits for volumes, and that wait is given up. A recording tells
    /// itself when what was under way has ended.
    ///
    /// Source: pkg/kubelet/kubelet.go (v1.34), `SyncPod`, `context.WithoutCancel`.
    pub(super) fn is_in_sync(&self, host: &Host) -> bool {
        let sandbox = host.runtime.sandbox(&self.uid);
        let has_sandbox = sandbox.is_some_and(|sandbox| sandbox.is_ready);
        let known = |plan: &ContainerPlan| sandbox.and_then(|own| own.container(&plan.name));
        let is_worked_on = |plan: &ContainerPlan| {
            let is_ending = plan.killed_for.is_some() && known(plan).is_some_and(|own| own.is_running());
            is_ending || plan.start_at.is_some() && has_sandbox
        };
        self.stage == WorkerStage::Active
            && !host.runtime.is_scripted()
            && (self.post_start.is_some() || self.hung_until.is_some() || self.plans.iter().any(is_worked_on))
    }

    /// Tells whether its probes ask: also while its containers end, but not while a sync waits for a hook.
    pub(super) fn is_probed(&self) -> bool {
        matches!(self.stage, WorkerStage::Active | WorkerStage::Stopping) && self.post_start.is_none()
    }

    /// Returns the plans of the containers that the pod is there for.
    pub(super) fn regular(&self) -> impl Iterator<Item = &ContainerPlan> {
        self.plans.iter().filter(|plan| !plan.role.is_initial())
    }

    pub(super) fn restart_policy(&self) -> &str {
        self.object.stable().at(&["spec", "restartPolicy"]).as_str().unwrap_or("Always")
    }

    pub(super) fn needs_network(&self) -> bool {
        self.object.stable().at(&["spec", "hostNetwork"]).as_bool() != Some(true)
    }

    /// Returns the next deadline of this pod after `now`.
    pub(super) fn next(&self, now: Timestamp) -> Option<Timestamp> {
        // Until a hook has ended the sync that waits for it starts and asks nothing.
        let is_active = self.stage == WorkerStage::Active && self.post_start.is_none();
        let starts = self.plans.iter().filter(|_| is_active).filter_map(|plan| plan.start_at);
        let asked = self.plans.iter().filter(|plan| self.is_probed() && plan.killed_for.is_none());
        let probes = asked.filter_map(|plan| plan.probes.as_ref()?.next(now));
        let starts = starts.chain(self.post_start.as_ref().and_then(PostStart::ends_at));
        let retry = self
            .retry_at
            .into_iter()
            .chain(self.victim_until)
            .chain(self.deadline_at)
            .chain(self.hung_until)
            .filter(|_| self.stage != WorkerStage::Over);
        starts.chain(probes).chain(self.resync_at).chain(self.sync_at).chain(self.delete_at).chain(retry).min()
    }
}
