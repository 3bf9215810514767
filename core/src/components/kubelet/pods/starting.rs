//! The starts of a pod's containers: their sandbox, their images, their processes.
//!
//! Mirrors `SyncPod` of pkg/kubelet/kuberuntime/kuberuntime_manager.go and pkg/kubelet/images/image_manager.go (v1.34).
//! Inputs: time, plans. Outputs: starts on the host, Events. Left out on purpose: pulls, which take no time here.

use super::changes::image_of;
use super::environment::CONFIG_ERROR;
use super::initializing::Initialization;
use super::probing::new_probes;
use super::pulling::{Said, lacking};
use super::*;
use crate::components::kubelet::object_cache::CacheError;

/// The runtime's error without a network. Source: github.com/containerd/go-cni errors.go (v1.1),
/// `ErrCNINotInitialized`.
pub(super) const NO_CNI_TEXT: &str = "cni plugin not initialized";

impl Kubelet {
    /// Starts the containers whose time has come.
    pub(super) fn start_due(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let cidr = self.cached_node().and_then(|node| node.stable().at(&["spec", "podCIDR"]).as_text().cloned());
        let cidr = cidr.or_else(|| Some(self.config.pod_cidr.clone()).filter(|own| !own.is_empty()));
        let possible = self.pod_work_is_possible(context.now) && context.host.takes_calls();
        let has_cni = context.host.is_cni_installed;
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        if worker.stage != WorkerStage::Active || worker.post_start.is_some() {
            return;
        }
        let has_sandbox = context.host.runtime.sandbox(uid).is_some_and(|sandbox| sandbox.is_ready);
        let lacks_network = worker.needs_network() && !has_sandbox && !has_cni;
        let is_due = |plan: &ContainerPlan| plan.start_at.is_some_and(|at| at <= context.now);
        if !possible {
            // No sandbox can be made: the attempt fails until the runtime is back.
            let hangs = context.host.runtime.is_frozen();
            let again = Some(context.now + SYNC_PERIOD).filter(|_| hangs || !worker.ends_after_sync);
            if worker.plans.iter().any(is_due) {
                worker.await_start(context.host, context.now);
            }
            for plan in worker.plans.iter_mut().filter(|plan| is_due(plan)) {
                plan.start_at = again;
            }
            return;
        }
        worker.hung_until = None;
        if lacks_network && worker.plans.iter().any(is_due) {
            self.fail_to_make_sandbox(uid, context);
            return;
        }
        let due: Vec<usize> = (0..worker.plans.len()).filter(|at| is_due(&worker.plans[*at])).collect();
        let (mut started, mut failed) = (Vec::new(), Vec::new());
        let tells_why = self.settings.profile().is("waiting-pull-tells-why");
        for at in due {
            let Some(worker) = self.pods.workers.get_mut(uid) else { return };
            let plan = &mut worker.plans[at];
            plan.start_at = None;
            let mut said = plan.fetch_image(&worker.object, context.host, tells_why, context.now);
            let (pod, can_be_made) = (worker.object.clone(), plan.start_error.is_none());
            if can_be_made && self.waits_for_config(uid, at, &mut said, context) {
                continue;
            }
            let Some(worker) = self.pods.workers.get_mut(uid) else { return };
            if worker.plans[at].start_error.is_some() {
                context.host.runtime.make_sandbox(&pod, cidr.as_deref());
                failed.push((at, said));
            } else {
                self.start_container(uid, at, cidr.as_deref(), context);
                started.push(at);
                if self.begin_post_start(uid, at, context) {
                    break;
                }
            }
        }
        self.tell_sandbox(uid, has_sandbox, context);
        self.tell_failed_starts(uid, failed, has_sandbox, context);
        self.tell_starts(uid, &started, has_sandbox, context);
    }

    /// Lets the status say at once that a sandbox has been made, whatever becomes of the containers.
    ///
    /// Source: pkg/kubelet/kubelet.go (v1.36), `OnPodSandboxReady`.
    fn tell_sandbox(&mut self, uid: &Text, had_sandbox: bool, context: &KubeletContext<'_>) {
        let is_made = !had_sandbox && context.host.runtime.sandbox(uid).is_some_and(|sandbox| sandbox.is_ready);
        let is_told = is_made && self.settings.profile().is("sandbox-ready-is-told");
        if let Some(worker) = self.pods.workers.get_mut(uid).filter(|_| is_told) {
            (worker.tells_sandbox, worker.is_dirty) = (true, true);
        }
    }

    /// Looks whether a container whose image is there can be made; tells whether that is not known yet.
    fn waits_for_config(
        &mut self,
        uid: &Text,
        at: usize,
        said: &mut Vec<Said>,
        context: &mut KubeletContext<'_>,
    ) -> bool {
        let Some(worker) = self.pods.workers.get(uid) else { return false };
        let (pod, name) = (worker.object.clone(), worker.plans[at].name.clone());
        let outcome = self.config_error(&pod, &name, context);
        let pulled = self.settings.profile().text("event-pulled");
        let Some(worker) = self.pods.workers.get_mut(uid) else { return false };
        let plan = &mut worker.plans[at];
        plan.awaits_object = false;
        match outcome {
            Ok(()) => {}
            Err(CacheError::Pending(until)) => (plan.start_at, plan.awaits_object) = (Some(until), true),
            Err(CacheError::NotFound(why) | CacheError::Unknown(why)) => {
                plan.start_error = Some((CONFIG_ERROR, Text::from(why)));
                said.push((EventType::Normal, "Pulled", pulled.replace("{}", image_of(&pod, &name))));
            }
        }
        plan.awaits_object
    }

    /// Tries the containers of a pod again that wait for the first list of an object.
    pub(in crate::components::kubelet) fn start_awaited(&mut self, uid: &Text, now: Timestamp) {
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        for plan in worker.plans.iter_mut().filter(|plan| plan.awaits_object && plan.start_at.is_some()) {
            plan.start_at = Some(now);
        }
    }

    /// Starts the process of a container.
    fn start_container(&mut self, uid: &Text, at: usize, cidr: Option<&str>, context: &mut KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get(uid) else { return };
        let limits = self.container_limits(&worker.object, &worker.plans[at].name, context.host);
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        let (pod, plan) = (&worker.object, &mut worker.plans[at]);
        let before = context.host.runtime.container(uid, &plan.name).is_some();
        plan.restarts += u32::from(before);
        (plan.is_waiting, plan.is_crash_looping, plan.killed_for) = (false, false, None);
        (plan.hook_error, plan.shown_error) = (None, None);
        context.host.runtime.start(pod, &plan.name, plan.restarts, cidr, context.now);
        context.host.runtime.limit(uid, &plan.name, limits, context.now);
        let start = self.pods.pauses.start(pod, (self.started, worker.seen_at), context.host);
        let probes = new_probes(pod, &plan.name, &start, (context.now, context.host));
        plan.probes = Some(probes.going_on(plan.past_probes.take().as_ref()));
    }

    /// Reports starts that have failed, and plans the next attempt: after the first one with the relist that sees the
    /// sandbox.
    fn tell_failed_starts(
        &mut self,
        uid: &Text,
        failed: Vec<(usize, Vec<Said>)>,
        had_sandbox: bool,
        context: &mut KubeletContext<'_>,
    ) {
        let Some(worker) = self.pods.workers.get_mut(uid).filter(|_| !failed.is_empty()) else { return };
        worker.note_sync(context.now);
        let pod = worker.object.clone();
        let told = |at: usize| {
            let plan = worker.plans.get(at)?;
            let (reason, message) = plan.start_error.as_ref()?;
            // The error of an image is told by its reason alone.
            let error = if *reason == CONFIG_ERROR { message.as_str() } else { reason };
            Some((plan.name.clone(), format!("Error: {error}")))
        };
        let failed: Vec<_> = failed.into_iter().filter_map(|(at, said)| Some((told(at)?, said))).collect();
        for ((name, error), said) in failed {
            for said in said.into_iter().chain([(EventType::Warning, "Failed", error)]) {
                self.pod_event(&pod, Some(&name), said, context);
            }
        }
        let pause = if had_sandbox { FAILED_SYNC_PAUSE } else { SignedDuration::ZERO };
        self.retry_pod(uid, pause, context.now);
    }

    /// Reports containers that were started, and plans what their start allows.
    fn tell_starts(&mut self, uid: &Text, started: &[usize], had_sandbox: bool, context: &mut KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get_mut(uid).filter(|_| !started.is_empty()) else { return };
        worker.note_sync(context.now);
        let names: Vec<Text> = started.iter().map(|at| worker.plans[*at].name.clone()).collect();
        // What ends at once has ended when the kubelet looks at the runtime.
        let ends = |name: &Text| context.host.runtime.is_about_to_end(uid, name, context.now);
        worker.is_dirty |= !names.iter().all(ends);
        let pod = worker.object.clone();
        if !had_sandbox && context.host.runtime.lists_removed(uid, context.now) {
            let message = String::from("Pod sandbox changed, it will be killed and re-created.");
            self.pod_event(&pod, None, (EventType::Normal, "SandboxChanged", message), context);
        }
        let because = Vec::from([Because::Fact(format!("processes run since now: {}", names.join(", ")))]);
        for name in names {
            let container = ContainerRole::find(&pod, &name);
            let image = container.and_then(|(_, own)| own.get("image").as_text()).cloned().unwrap_or_default();
            for (reason, row, subject) in [
                ("Pulled", "event-pulled", &image),
                ("Created", "event-created", &name),
                ("Started", "event-started", &name),
            ] {
                let message = self.settings.profile().text(row).replace("{}", subject);
                self.pod_event(&pod, Some(&name), (EventType::Normal, reason, message), context);
            }
        }
        context.outbox.decide(decided_about(&pod.key()), "containers started", because);
        self.read_again(uid, context);
        self.probe_at_once(uid, context);
        self.settle_in_sync(uid, context);
    }

    /// Plans the starts of the containers that may start now for the first time.
    pub(super) fn plan_next(&mut self, uid: &Text, progress: &Initialization, context: &KubeletContext<'_>) {
        let is_active = |own: &Worker| own.stage == WorkerStage::Active && own.post_start.is_none();
        let is_free = |own: &&mut Worker| is_active(own) && !own.ends_after_sync;
        let Some(worker) = self.pods.workers.get_mut(uid).filter(is_free) else { return };
        let runtime = &context.host.runtime;
        for at in 0..worker.plans.len() {
            let plan = &worker.plans[at];
            let known = runtime.container(uid, &plan.name);
            let is_planned = plan.start_at.is_some() || plan.start_error.is_some() || plan.is_waiting;
            // Of a sandbox before it may have ended with success.
            let is_done = known.is_some_and(|own| !own.outlived_sandbox || !worker.runs_again(plan, own.exit_code()));
            if is_done || is_planned || !progress.may_start(at, plan) {
                continue;
            }
            let plan = &mut worker.plans[at];
            if let Some(own) = known {
                // It ended with a sandbox before, in which its turn may have come earlier.
                let next = runtime.next_run(&worker.object, &plan.name, context.now);
                let image = image_of(&worker.object, &plan.name);
                // If it is held back, the sync of what has ended tells until when.
                let _ = plan.restart(own, image, self.config.crash_pauses, (next, context.now));
                continue;
            }
            // What cannot start is tried all the same.
            let is_missing = lacking(&worker.object, &plan.name, context.host).is_some();
            let attempt = context.now + runtime.behaviour(&worker.object, &plan.name).start_delay();
            let run = runtime.next_run(&worker.object, &plan.name, context.now);
            plan.start_at = Some(if is_missing { attempt } else { run });
        }
    }

    /// Reports that the sandbox of a new pod failed: there is no network, and the kubelet has not noticed yet.
    fn fail_to_make_sandbox(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        worker.stage = WorkerStage::Blocked;
        worker.plans.iter_mut().for_each(|plan| plan.start_at = None);
        let pod = worker.object.clone();
        let message = format!(
            "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox \
             \"{}\": {NO_CNI_TEXT}",
            context.host.runtime.sandbox_id(uid)
        );
        self.pod_event(&pod, None, (EventType::Warning, "FailedCreatePodSandBox", message), context);
        self.retry_pod(uid, FAILED_SYNC_PAUSE, context.now);
    }
}

/// Plans a container; the restart count continues over a restart of the kubelet.
pub(super) fn plan_of(name: &Text, role: ContainerRole, pod: &Object, host: &Host) -> ContainerPlan {
    let statuses = pod.stable().at(&["status", role.status_list()]);
    let stored = statuses.items().iter().find(|status| status.get("name").as_str() == Some(name));
    let known = host.runtime.container(pod.uid(), name);
    let counted = stored.and_then(|status| status.get("restartCount").as_i64()).unwrap_or_default();
    ContainerPlan {
        name: name.clone(),
        role,
        start_at: None,
        probes: None,
        past_probes: None,
        ends_for: None,
        killed_for: None,
        failed_pull: None,
        hook_error: None,
        restarts: known.map_or_else(|| u32::try_from(counted).unwrap_or_default(), |own| own.restarts),
        backoff: None,
        held_back: SignedDuration::ZERO,
        is_waiting: false,
        is_crash_looping: false,
        start_error: None,
        awaits_object: false,
        shown_error: None,
    }
}
