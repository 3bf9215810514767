//! Pods that a kubelet sees, and those that it sees first: a worker is made for each.
//!
//! Inputs: pods of the watch. Outputs: workers, refusals, Events.

use super::resizing::Resizing;
use super::*;
use crate::objects::lifecycle::{is_ending, is_terminal};

impl Kubelet {
    /// Takes pods in the order of their creation, in which new ones are admitted; none while one waits for its victims.
    pub(super) fn pods_seen(&mut self, mut pods: Vec<Object>, context: &mut KubeletContext<'_>) {
        pods.sort_by(|one, other| {
            let created = |pod: &Object| {
                Text::from(pod.stable().at(&["metadata", "creationTimestamp"]).as_str().unwrap_or_default())
            };
            created(one).cmp(&created(other))
        });
        for pod in pods {
            // What follows is seen when there is room for the one before.
            if self.is_preempting() {
                self.pods.has_unheard = true;
                return;
            }
            if is_mirror(&pod) {
                self.mirror_seen(&pod, context);
            } else {
                self.pod_seen(pod, context);
            }
        }
    }

    fn pod_seen(&mut self, pod: Object, context: &mut KubeletContext<'_>) {
        let uid = Text::from(pod.uid());
        context.host.runtime.note_annotations(&pod, context.now);
        let pod = self.as_given(&uid, pod);
        if let Some(worker) = self.pods.workers.get_mut(&uid) {
            let generation = |pod: &Object| pod.stable().at(&["metadata", "generation"]).as_i64();
            let is_new_generation = generation(&worker.object) != generation(&pod);
            let was_deleted = worker.is_deleted();
            let annotations = |pod: &Object| pod.stable().at(&["metadata", "annotations"]).clone();
            let is_told_anew = annotations(&worker.object) != annotations(&pod);
            let before = core::mem::replace(&mut worker.object, pod);
            if is_told_anew {
                self.note_health(&uid, context.host, context.now);
            }
            self.note_deadline(&uid, context);
            let Some(worker) = self.pods.workers.get_mut(&uid) else { return };
            if worker.is_deleted() && !worker.is_over() {
                // What is changed while its containers end no sync sees.
                worker.is_dirty |= is_new_generation && !was_deleted && !worker.is_in_sync(context.host);
                self.stop_pod(&uid, context);
            } else if worker.is_over() {
                // Only the deletion itself asks for another look at once.
                worker.is_dirty |= worker.is_deleted() && !was_deleted;
            } else {
                let tells_generation = self.settings.profile().is("pod-observed-generation");
                worker.is_dirty |= (is_new_generation || is_told_anew) && worker.note_unseen();
                worker.is_dirty |= is_new_generation && tells_generation || has_stale_readiness(&worker.object);
                self.take_images(&uid, &before, context);
                self.settle_changed(&uid, &before, context);
                self.note_whole(&uid, context.now);
            }
            let pod = self.pods.object(&uid).cloned();
            if let Some(pod) = pod.filter(|pod| !is_ending(pod)) {
                self.watch_for_foreign_writes(&uid, &pod, context);
            }
            self.note_resize(&uid, &before, context);
            self.sync_pod(&uid, context);
            return;
        }
        self.adopt(uid, pod, context);
    }

    /// Makes the worker of a pod, and does what follows from whether it is admitted.
    pub(in crate::components::kubelet) fn adopt(&mut self, uid: Text, pod: Object, context: &mut KubeletContext<'_>) {
        let (pod, wanted) = self.given_before(&uid, pod, context.host);
        let has_sandbox = context.host.runtime.sandbox(&uid).is_some();
        let is_deleted = is_ending(&pod);
        let is_terminal = is_terminal(&pod);
        let verdict = if is_terminal || has_sandbox && is_deleted {
            AdmissionResult::Admitted
        } else {
            self.verdict(&pod, context)
        };
        let (rejection, victims) = match verdict {
            AdmissionResult::Admitted => (None, Vec::new()),
            AdmissionResult::AdmittedAfter(victims) => (None, victims),
            AdmissionResult::Refused(reason, message) => {
                (Some((reason, Text::from(format!("Pod was rejected: {message}")))), Vec::new())
            }
        };
        let worker = self.new_worker(&pod, (rejection.clone(), victims), context);
        self.pods.workers.insert(uid.clone(), worker);
        self.resume_resize(&uid, wanted, context);
        self.preempt_next(&uid, context);
        if let Some((reason, message)) = rejection {
            self.count_rejection(&reason);
            let facts = Vec::from([Because::Fact(String::from(message.as_str()))]);
            context.outbox.decide(decided_about(&pod.key()), format!("refused: {reason}"), facts);
            let text = message.strip_prefix("Pod was rejected: ").unwrap_or(&message);
            self.pod_event(&pod, None, (EventType::Warning, &reason, String::from(text)), context);
            if has_sandbox {
                self.stop_pod(&uid, context);
            }
        } else if is_terminal && has_sandbox {
            context.host.runtime.remove(&uid, context.now);
        } else if is_deleted && !is_terminal {
            self.stop_pod(&uid, context);
        } else if !is_terminal {
            self.unblock(&uid, context);
        }
        self.settle_pod(&uid, context);
        self.note_deadline(&uid, context);
        self.note_whole(&uid, context.now);
        self.note_long_pauses(&uid, context.now);
        self.sync_pod(&uid, context);
    }

    /// Schedules the sync of a pod that finds its probes still to come, if their pauses last until it is synced anyway.
    fn note_long_pauses(&mut self, uid: &Text, now: Timestamp) {
        let Some(worker) = self.pods.workers.get(uid).filter(|own| own.resync_at.is_none()) else { return };
        let until = worker.plans.iter().filter_map(|plan| plan.probes.as_ref()?.unseen_until()).max();
        if until.is_some_and(|at| at > now + RESYNC_PERIOD) {
            self.schedule_resync(uid, (now + RESYNC_PERIOD, now), now);
        }
    }

    /// Lets the first status of a Pod go on from that of its mirror; its sandbox is new.
    ///
    /// Source: pkg/kubelet/status/status_manager.go (v1.34), `updateStatusInternal`.
    pub(in crate::components::kubelet) fn go_on_from(&mut self, mirror: &Object, uid: &Text) {
        let conditions = mirror.stable().at(&["status", "conditions"]).items().iter();
        let is_of_sandbox = |item: &&Json| item.get("type").as_str() == Some("PodReadyToStartContainers");
        let conditions: Json = conditions.filter(|item| !is_of_sandbox(item)).cloned().collect();
        if let Some(worker) = self.pods.workers.get_mut(uid) {
            (worker.keeps_start, worker.conditions) = (true, conditions);
        }
    }

    /// Makes a worker with the pod's refusal, or the pods that have to end before.
    fn new_worker(
        &self,
        pod: &Object,
        (rejection, victims): (Option<(Text, Text)>, Vec<Text>),
        context: &KubeletContext<'_>,
    ) -> Worker {
        let (uid, sandbox) = (Text::from(pod.uid()), context.host.runtime.sandbox(pod.uid()));
        let is_terminal = is_terminal(pod);
        let stage = match &rejection {
            Some(_) if sandbox.is_some() => WorkerStage::Stopping,
            None if !is_terminal => WorkerStage::Blocked,
            _ => WorkerStage::Over,
        };
        // A process that has just started asks the runtime, which knows no address of a sandbox that was stopped.
        let is_down = sandbox.is_none_or(|sandbox| !sandbox.is_ready);
        let has_lost_address = is_terminal && is_down && has_own_address(pod);
        let named = ContainerRole::containers(pod).filter_map(|(role, own)| Some((role, own.get("name").as_text()?)));
        let mut plans: Vec<ContainerPlan> = named.map(|(role, name)| plan_of(name, role, pod, context.host)).collect();
        let keeps = self.settings.profile().is("restart-keeps-container-status");
        for plan in &mut plans {
            let running = sandbox.and_then(|own| own.container(&plan.name)).filter(|own| own.is_running());
            let start = self.pods.pauses.start(pod, (self.started, context.now), context.host);
            plan.probes = running.map(|own| adopted_probes(pod, own, (&start, keeps), context.host));
        }
        // What was started by this process was synced while the API had another phase.
        let last_started = sandbox.and_then(|own| own.containers.iter().map(|own| own.started_at).max());
        let first_started = last_started.filter(|at| *at >= self.started);
        let phase = pod.stable().at(&["status", "phase"]).as_text().filter(|_| first_started.is_none());
        Worker {
            uid,
            seen_at: context.now,
            stage,
            rejection,
            plans,
            is_gone: false,
            ends_after_sync: false,
            is_dirty: has_lost_address || victims.is_empty() && (!is_terminal || is_ending(pod)),
            is_syncing: false,
            sync_at: None,
            delete_at: None,
            retry_at: None,
            hung_until: None,
            has_failed_to_end: false,
            awaits_relist: false,
            has_lost_address,
            phase_held_until: None,
            ending: None,
            mirror: Text::default(),
            is_removed: false,
            orphaned_at: None,
            synced_phase: phase.cloned().unwrap_or_default(),
            synced_at: first_started.unwrap_or(context.now),
            keeps_start: first_started.is_some()
                || sandbox.is_some() && self.choices.as_ref().is_some_and(|choices| choices.is_under_way),
            has_failed_sync: false,
            tells_sandbox: false,
            host_ip: self.host_ip(context.host),
            resync_at: None,
            deadline_at: None,
            has_restart_rules: self.settings.is_gate_on("ContainerRestartRules"),
            post_start: None,
            resizing: Resizing::default(),
            conditions: Json::Null,
            written: None,
            victims,
            victim_until: None,
            object: pod.clone(),
        }
    }
}

/// Tells whether the status of a Pod names an address that is not its node's.
fn has_own_address(pod: &Object) -> bool {
    let shares_network = pod.stable().at(&["spec", "hostNetwork"]).as_bool() == Some(true);
    !pod.stable().at(&["status", "podIP"]).is_null() && !shares_network
}
