//! The life of a pod's containers: started, restarted after a growing pause, stopped with grace, removed.
//!
//! Inputs: time, ended processes, deletions. Outputs: starts and stops on the host, Events, and the statuses to write.

use super::changes::image_of;
use super::initializing::Initialization;
use super::probes::Probes;
use super::starting::NO_CNI_TEXT;
use super::*;
use crate::components::host::PodBehaviour;

/// The grace period of sandboxes that belong to no admitted pod.
/// Source: pkg/kubelet/kubelet_pods.go (v1.34), `HandlePodCleanups`.
const ORPHAN_GRACE_SECONDS: i64 = 1;

impl Kubelet {
    /// Does what is due for pods.
    pub(in crate::components::kubelet) fn handle_pod_timeout(&mut self, context: &mut KubeletContext<'_>) {
        if let Some(source) = &mut self.pods.source {
            source.handle_timeout(context.outbox, context.now);
        }
        if self.pods.due.is_none_or(|at| at > context.now) {
            return;
        }
        self.retry_due_resizes(context);
        let uids = self.pods.workers.active_uids();
        for uid in uids {
            if self.pods.workers.get(&uid).is_some_and(|worker| worker.resync_at.is_some_and(|at| at <= context.now)) {
                self.take_host_ip(&uid, context.host);
                if let Some(worker) = self.pods.workers.get_mut(&uid) {
                    worker.note_sync(context.now);
                    worker.is_dirty = true;
                }
                self.probe_at_once(&uid, context);
                self.reconcile_mirror(&uid, context);
                self.read_again(&uid, context);
            }
            self.give_up_call(&uid, context);
            self.end_overdue(&uid, context);
            self.end_post_start(&uid, context);
            self.retry_due(&uid, context);
            self.start_due(&uid, context);
            self.stop_after_sync(&uid, context);
            let Some(worker) = self.pods.workers.get_mut(&uid) else { continue };
            if worker.sync_at.is_some_and(|at| at <= context.now) {
                worker.sync_at = None;
                worker.is_dirty = true;
            }
            if worker.delete_at.is_some_and(|at| at <= context.now) {
                worker.delete_at = None;
                worker.is_dirty = true;
                if self.choices.as_ref().is_some_and(|choices| choices.seen_ended.contains(&uid)) {
                    worker.note_sync(context.now);
                }
            }
            self.probe_due(&uid, context);
            self.sync_pod(&uid, context);
        }
        self.start_preemptors(context);
        self.note_pods(context);
        self.pods.recompute_deadline(context.now);
    }

    pub(super) fn retry_due(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        if worker.retry_at.is_none_or(|at| at > context.now) {
            return;
        }
        worker.retry_at = None;
        match worker.stage {
            _ if worker.ends_after_sync => {}
            WorkerStage::Blocked => {
                self.unblock(uid, context);
                // What had ended before it waited runs again.
                self.settle_pod(uid, context);
            }
            WorkerStage::Active => {
                for plan in worker.plans.iter_mut().filter(|plan| plan.start_error.is_some()) {
                    plan.shown_error = plan.start_error.take();
                    // The pause of one that has run before counts from its end.
                    let is_first = context.host.runtime.container(uid, &plan.name).is_none();
                    plan.start_at = Some(context.now).filter(|_| is_first);
                    worker.is_dirty = true;
                }
                self.read_again(uid, context);
                self.settle_in_sync(uid, context);
            }
            WorkerStage::Stopping => self.settle_pod(uid, context),
            WorkerStage::Over => {}
        }
    }

    /// Does in a sync what is to be done for the containers. Whatever the sync is for, it shows what the one before
    /// held back, and looks again whether that can start.
    ///
    /// Source: pkg/kubelet/kubelet_pods.go (v1.34), `convertToAPIContainerStatuses`, what the `reasonCache` has.
    pub(super) fn settle_in_sync(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        let is_active = worker.stage == WorkerStage::Active;
        if !context.host.takes_calls() || is_active && worker.post_start.is_some() {
            return;
        }
        for plan in worker.plans.iter_mut().filter(|plan| is_active && plan.is_waiting && !plan.is_crash_looping) {
            plan.is_crash_looping = true;
            worker.is_dirty = true;
        }
        self.settle_pod(uid, context);
    }

    /// Reports that the network of an ended pod could not be removed: the sandbox stays until that succeeds.
    ///
    /// The second attempt follows the relist that finds the containers ended, each further one after a pause.
    fn fail_to_end_sandbox(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        if worker.retry_at.is_some_and(|at| at > context.now) {
            return;
        }
        let is_first = !core::mem::replace(&mut worker.has_failed_to_end, true);
        worker.is_dirty = !worker.is_gone;
        let pod = worker.object.clone();
        let message = format!(
            "error killing pod: failed to \"KillPodSandbox\" for \"{uid}\" with KillPodSandboxError: \"rpc error: \
             code = Unknown desc = failed to destroy network for sandbox \\\"{}\\\": {NO_CNI_TEXT}\"",
            context.host.runtime.sandbox_id(uid)
        );
        self.pod_event(&pod, None, (EventType::Warning, "FailedKillPod", message), context);
        if is_first {
            let at = context.now + RELIST_PERIOD;
            if let Some(worker) = self.pods.workers.get_mut(uid) {
                worker.retry_at = Some(at);
            }
        } else {
            self.retry_pod(uid, FAILED_SYNC_PAUSE, context.now);
        }
    }

    /// Stops a pod whose end waited for a sync that is over now.
    fn stop_after_sync(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        if self.pods.workers.get(uid).is_some_and(|own| own.ends_after_sync && !own.is_in_sync(context.host)) {
            self.stop_pod(uid, context);
        }
    }

    /// Tells whether the end of a pod waits for the sync under way.
    fn waits_for_sync(&mut self, uid: &Text, context: &mut KubeletContext<'_>) -> bool {
        let is_told = |own: &Worker| own.has_to_end() || own.is_gone || own.is_removed;
        let is_meant = |own: &&mut Worker| is_told(own) && own.is_in_sync(context.host);
        let Some(worker) = self.pods.workers.get_mut(uid).filter(is_meant) else { return false };
        if !core::mem::replace(&mut worker.ends_after_sync, true) {
            let why = "a sync is under way, which starts or ends containers";
            let facts = Vec::from([Because::Fact(String::from(why))]);
            context.outbox.decide(decided_about(&worker.object.key()), "the end has to wait", facts);
        }
        true
    }

    /// Stops a pod: SIGTERM now, SIGKILL after its grace period.
    pub(super) fn stop_pod(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let possible = self.pod_work_is_possible(context.now) && context.host.is_runtime_up;
        if self.pods.has_ended(uid) || !possible || self.waits_for_sync(uid, context) {
            return;
        }
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        let tree = worker.object.stable();
        let of_spec = tree.at(&["spec", "terminationGracePeriodSeconds"]).as_i64().unwrap_or(30);
        let of_deletion = tree.at(&["metadata", "deletionGracePeriodSeconds"]).as_i64();
        // A pod that runs without being admitted is stopped like an orphan.
        let of_refused = worker.rejection.as_ref().map(|_| ORPHAN_GRACE_SECONDS);
        let of_ending = worker.ending.as_ref().and_then(|ending| ending.grace_seconds);
        let asked = of_deletion.into_iter().chain(of_ending).min();
        let grace = of_refused.or(asked).unwrap_or(of_spec).max(1);
        worker.note_stop(&self.settings, context.now);
        worker.is_dirty |= core::mem::take(&mut worker.ends_after_sync) && !worker.is_gone;
        let is_first = core::mem::replace(&mut worker.stage, WorkerStage::Stopping) != WorkerStage::Stopping;
        worker.retry_at = worker.retry_at.filter(|_| worker.has_failed_to_end || worker.awaits_relist);
        for plan in &mut worker.plans {
            plan.start_at = None;
            plan.probes.iter_mut().for_each(Probes::note_end);
        }
        let pod = worker.object.clone();
        self.take_host_ip(uid, context.host);
        let span = SignedDuration::from_secs(grace.max(STOP_MIN_SECONDS));
        self.await_stop(uid, span, context);
        if self.has_started_nothing(uid, context) {
            // A sandbox is ended first.
            let has_sandbox = context.host.runtime.sandbox(uid).is_some();
            self.end_at(uid, context.now + if has_sandbox { RUNTIME_CALL } else { RELIST_PERIOD }, !has_sandbox);
            return;
        }
        let mut stopped = context.host.runtime.stop(uid, (Some(&pod), None), span, context.now);
        if let Some(sandbox) = context.host.runtime.sandbox(uid).filter(|_| is_first) {
            // Those that a process before has told to end, this one tells too.
            let running = sandbox.containers.iter().filter(|own| own.is_running());
            stopped = running.map(|own| own.name.clone()).collect();
        }
        if !stopped.is_empty() {
            let why = match self.pods.workers.get(uid) {
                Some(worker) if worker.is_gone => "the pod is gone from the API",
                Some(worker) if worker.rejection.is_some() => "the pod was refused when the kubelet started",
                Some(Worker { ending: Some(ending), .. }) => ending.why,
                Some(worker) if !worker.is_deleted() => "the containers that the pod is there for have ended",
                _ => "the pod has a deletionTimestamp",
            };
            let facts = Vec::from([
                Because::Fact(String::from(why)),
                Because::Fact(format!("grace {grace}s, counted from now")),
            ]);
            context.outbox.decide(decided_about(&pod.key()), "containers told to end", facts);
        }
        for name in stopped {
            let message = format!("Stopping container {name}");
            self.pod_event(&pod, Some(&name), (EventType::Normal, "Killing", message), context);
        }
        self.tell_failed_hooks(uid, context);
        self.settle_pod(uid, context);
    }

    pub(super) fn pod_gone(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        worker.is_gone = true;
        worker.is_dirty = false;
        if worker.is_over() || context.host.runtime.sandbox(uid).is_none() {
            self.pods.workers.remove(uid);
            self.release_volumes(uid, context);
            context.host.runtime.remove(uid, context.now);
            return;
        }
        self.stop_pod(uid, context);
    }

    /// Notes that a probe of one of a pod's containers found something else than before.
    pub fn handle_probe(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        if let Some(worker) = self.pods.workers.get_mut(uid) {
            worker.note_sync(context.now);
            worker.is_dirty = !worker.is_gone && !worker.is_over();
            self.sync_pod(uid, context);
            self.pods.recompute_deadline(context.now);
        }
    }

    /// Takes the ends of processes of these pods.
    pub fn handle_ended(&mut self, uids: &[Text], context: &mut KubeletContext<'_>) {
        // Without a runtime the kubelet notices it only when the runtime is back.
        if !context.host.is_runtime_up {
            return;
        }
        if context.host.runtime.is_frozen() {
            self.pods.unseen.extend_from_slice(uids);
            return;
        }
        for uid in uids {
            self.take_host_ip(uid, context.host);
            if let Some(worker) = self.pods.workers.get_mut(uid) {
                worker.note_sync(context.now);
                worker.post_start.take_if(|hook| hook.is_over(uid, context.host));
                // The worker of a pod that is told to end waits for the last of its containers.
                let runs = context.host.runtime.sandbox(uid).is_some_and(|sandbox| sandbox.is_running());
                let waits = worker.stage == WorkerStage::Stopping && runs;
                worker.is_dirty |= !waits && !worker.replaces_container(context.host);
                worker.is_dirty &= !worker.is_gone;
            } else if self.pods.is_filled {
                context.host.runtime.remove(uid, context.now);
            }
            self.tell_failed_hooks(uid, context);
            self.read_again(uid, context);
            self.settle_in_sync(uid, context);
            self.sync_pod(uid, context);
        }
        self.start_preemptors(context);
        self.note_pods(context);
        self.pods.recompute_deadline(context.now);
        self.go_on_with_shutdown(context);
    }

    /// Reports the hooks `preStop` that have failed, or were under way when their containers ended.
    pub(super) fn tell_failed_hooks(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let failed = context.host.runtime.take_failed_hooks(uid);
        let Some(pod) = self.pods.object(uid).cloned() else { return };
        for name in failed {
            let message = String::from("PreStopHook failed");
            self.pod_event(&pod, Some(&name), (EventType::Warning, "FailedPreStopHook", message), context);
        }
    }

    /// Plans the next step of the end of a pod none of whose containers was ever started.
    fn end_at(&mut self, uid: &Text, at: Timestamp, awaits_relist: bool) {
        if let Some(worker) = self.pods.workers.get_mut(uid) {
            (worker.retry_at, worker.awaits_relist) = (Some(at), awaits_relist);
        }
    }

    /// Tells whether none of the containers of a pod that the API has was ever started, and its end is not planned.
    fn has_started_nothing(&self, uid: &Text, context: &KubeletContext<'_>) -> bool {
        let sandbox = context.host.runtime.sandbox(uid);
        let is_known = |own: &Worker| !own.is_gone && !own.is_removed && !own.awaits_relist && own.rejection.is_none();
        sandbox.is_none_or(|own| own.containers.is_empty()) && self.pods.workers.get(uid).is_some_and(is_known)
    }

    /// Notes that all containers of a pod that was stopped have ended, once they have.
    fn settle_stopping(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        for plan in &mut worker.plans {
            let runs = context.host.runtime.container(uid, &plan.name).is_some_and(Container::is_running);
            plan.probes = plan.probes.take().filter(|_| runs);
        }
        if context.host.runtime.sandbox(uid).is_some_and(|sandbox| sandbox.is_running()) {
            return;
        }
        if worker.needs_network() && !context.host.is_cni_installed && context.host.runtime.sandbox(uid).is_some() {
            self.fail_to_end_sandbox(uid, context);
            return;
        }
        if worker.awaits_relist && worker.retry_at.is_some_and(|at| at > context.now) {
            return;
        }
        if self.has_started_nothing(uid, context) {
            // It has ended for the kubelet once a relist has seen that.
            if let Some(worker) = self.pods.workers.get_mut(uid) {
                worker.is_dirty = true;
            }
            self.end_at(uid, context.now + RELIST_PERIOD, true);
            return;
        }
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        worker.retry_at = None;
        worker.stage = WorkerStage::Over;
        worker.is_dirty = !worker.is_gone;
        context.host.runtime.clean_up(uid, worker.ending.is_some());
        let waits = !worker.is_gone && !worker.is_removed && !worker.awaits_relist;
        worker.delete_at = Some(context.now + RELIST_PERIOD).filter(|_| waits);
        self.note_overdue(uid, context);
        if self.pods.workers.get(uid).is_some_and(Worker::is_overdue) {
            self.tell_overdue(uid, context);
        }
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        if worker.is_removed && worker.mirror.is_empty() {
            self.remove_static(uid, context);
            return;
        }
        if worker.is_gone {
            self.pods.workers.remove(uid);
            context.host.runtime.remove(uid, context.now);
        }
        self.release_volumes(uid, context);
    }

    /// Ends a pod none of whose containers runs or will be started again; its sidecars are told to end first.
    fn end_by_itself(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        worker.is_dirty = true;
        for plan in &mut worker.plans {
            plan.start_at = None;
        }
        if context.host.runtime.sandbox(uid).is_some_and(|sandbox| sandbox.is_running()) {
            self.stop_pod(uid, context);
            return;
        }
        context.host.runtime.clean_up(uid, false);
        worker.stage = WorkerStage::Over;
        worker.phase_held_until = Some(context.now + RELIST_PERIOD);
        worker.sync_at = worker.phase_held_until;
        self.release_volumes(uid, context);
    }

    /// Handles the containers that have ended: a restart, or the end of the pod.
    pub(super) fn settle_pod(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        // What a frozen runtime has not answered, the kubelet does not know.
        if matches!(worker.stage, WorkerStage::Over | WorkerStage::Blocked) || context.host.runtime.is_frozen() {
            return;
        }
        if worker.stage == WorkerStage::Stopping {
            self.settle_stopping(uid, context);
            return;
        }
        let progress = Initialization::of(worker, context.host.runtime.sandbox(uid), self.settings.profile());
        let mut is_over = !worker.plans.is_empty();
        let mut held_back = Vec::new();
        let mut is_starting = false;
        let pauses = self.config.crash_pauses;
        for at in 0..worker.plans.len() {
            let container = context.host.runtime.container(uid, &worker.plans[at].name);
            let code = container.and_then(Container::exit_code);
            // The sync that the pod's end waits for starts only what it has ended itself.
            let is_of_sync = !worker.ends_after_sync || worker.plans[at].killed_for.is_some();
            let runs_again = is_of_sync && worker.runs_again(&worker.plans[at], code);
            let Worker { plans, object, is_dirty, .. } = worker;
            let plan = &mut plans[at];
            if code.is_some() {
                plan.past_probes = plan.probes.take().or(plan.past_probes.take());
            }
            if let Some(own) = container
                && code.is_some()
                && plan.start_at.is_none()
                && runs_again
                && progress.may_start(at, plan)
            {
                let next = context.host.runtime.next_run(object, &plan.name, context.now);
                match plan.restart(own, image_of(object, &plan.name), pauses, (next, context.now)) {
                    Ok(()) => is_starting = true,
                    Err(until) => held_back.push((plan.name.clone(), until)),
                }
                // Until it runs again that sync is under way, and nothing is told.
                *is_dirty |= plan.killed_for.is_none();
            }
            // What the kubelet has ended itself and holds back is judged by how it ended from now on.
            let runs_again = worker.runs_again(&worker.plans[at], code);
            let plan = &mut worker.plans[at];
            let has_ended = code.is_some() && !runs_again && plan.start_at.is_none();
            if has_ended {
                (plan.is_waiting, plan.is_crash_looping) = (false, false);
            }
            is_over &= plan.role.is_initial() || has_ended;
        }
        self.tell_restarts(uid, is_starting, &held_back, context);
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        if (is_over || progress.has_failed) && !worker.ends_after_sync {
            self.end_by_itself(uid, context);
            return;
        }
        self.plan_next(uid, &progress, context);
        if let Some(until) = held_back.iter().map(|(_, until)| *until).min() {
            self.retry_held_back(uid, until, context.now);
        }
        self.stop_after_sync(uid, context);
    }

    /// Syncs a pod again of which a container is held back until an instant.
    ///
    /// Source: pkg/kubelet/pod_workers.go (v1.35), `completeWork`.
    fn retry_held_back(&mut self, uid: &Text, until: Timestamp, now: Timestamp) {
        let waits_it_out = self.settings.profile().is("crash-back-off-is-waited-out");
        let rest = until.duration_since(now).clamp(SignedDuration::ZERO, RESYNC_PERIOD);
        self.retry_pod(uid, if waits_it_out { rest } else { FAILED_SYNC_PAUSE }, now);
    }

    /// Reports a new sandbox for what is started again, and what is held back.
    fn tell_restarts(
        &mut self,
        uid: &Text,
        is_starting: bool,
        held_back: &[(Text, Timestamp)],
        context: &mut KubeletContext<'_>,
    ) {
        let Some(pod) = self.pods.object(uid).cloned() else { return };
        if is_starting && context.host.runtime.sandbox(uid).is_some_and(|sandbox| !sandbox.is_ready) {
            let message = String::from("Pod sandbox changed, it will be killed and re-created.");
            self.pod_event(&pod, None, (EventType::Normal, "SandboxChanged", message), context);
        }
        for (name, _) in held_back {
            let key = pod.key();
            let message =
                format!("Back-off restarting failed container {name} in pod {}_{}({uid})", key.name, key.namespace);
            self.pod_event(&pod, Some(name), (EventType::Warning, "BackOff", message), context);
        }
    }
}

impl Kubelet {
    /// Sets how the containers of a pod behave from now on. A start under way takes as long as is said now.
    pub fn behave(&mut self, host: &mut Host, key: ObjectKey, behaviour: PodBehaviour, now: Timestamp) {
        let delays = |host: &Host, worker: &Worker| -> Vec<SignedDuration> {
            let delay = |plan: &ContainerPlan| host.runtime.behaviour(&worker.object, &plan.name).start_delay();
            worker.plans.iter().map(delay).collect()
        };
        let is_meant = |uid: &Text| self.pods.workers.get(uid).is_some_and(|worker| worker.object.key() == key);
        let uid = self.pods.workers.active_uids().into_iter().find(is_meant).filter(|_| !host.runtime.is_scripted());
        let before = uid.as_ref().and_then(|uid| self.pods.workers.get(uid)).map(|worker| delays(host, worker));
        host.runtime.behave(key, behaviour, now);
        let (Some(uid), Some(before)) = (uid, before) else { return };
        self.note_health(&uid, host, now);
        if let Some(worker) = self.pods.workers.get_mut(&uid) {
            let after = delays(host, worker);
            for (plan, (before, after)) in worker.plans.iter_mut().zip(before.into_iter().zip(after)) {
                plan.start_at = plan.start_at.map(|at| (at - before + after).max(now));
            }
        }
        self.pods.recompute_deadline(now);
    }
}
