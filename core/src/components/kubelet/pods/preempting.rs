//! Critical pods that wait until others have made room for them.
//!
//! Mirrors `evictPodsToFreeRequests` of pkg/kubelet/preemption/preemption.go and `killPodNow` of
//! pkg/kubelet/pod_workers.go (v1.34): the victims end one after the other, and one that does not end in time is not
//! waited for. Meanwhile the kubelet's loop stands still (`HandlePodAdditions` of pkg/kubelet/kubelet.go): pods that
//! come, change or are deleted are seen afterwards. Inputs: ended pods, time. Outputs: Events, ended pods, the start
//! of the critical pod. Left out on purpose: that the ends of other pods' containers, and what their probes find, are
//! seen afterwards too.

use super::ending::PREEMPTED;
use super::*;

impl Kubelet {
    /// Tells whether a critical pod waits for its victims.
    pub(super) fn is_preempting(&self) -> bool {
        self.pods.workers.active().any(|worker| !worker.victims.is_empty())
    }

    /// Ends the next victim of a critical pod.
    pub(super) fn preempt_next(&mut self, critical: &Text, context: &mut KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get_mut(critical) else { return };
        let Some(uid) = worker.victims.first().cloned() else { return };
        let key = worker.object.key();
        worker.victim_until = Some(context.now);
        let Some(pod) = self.pods.object(&uid).cloned() else { return };
        let grace = pod.stable().at(&["spec", "terminationGracePeriodSeconds"]).as_i64().unwrap_or_default();
        if let Some(worker) = self.pods.workers.get_mut(critical) {
            worker.victim_until = context.now.checked_add(kill_timeout(grace)).ok();
        }
        let facts = Vec::from([Because::Fact(format!("it makes room for pod/{}/{}", key.namespace, key.name))]);
        context.outbox.decide(decided_about(&pod.key()), "preempted", facts);
        let (reason, message) = PREEMPTED;
        self.pod_event(&pod, None, (EventType::Warning, reason, String::from(message)), context);
        self.end_pod(&uid, Ending::preempted(), context);
    }

    /// Goes on with the critical pods whose present victim has ended, or does not end in time.
    pub(super) fn start_preemptors(&mut self, context: &mut KubeletContext<'_>) {
        let waiting = self.pods.workers.active().filter(|worker| !worker.victims.is_empty());
        let waiting: Vec<Text> = waiting.map(|worker| worker.uid.clone()).collect();
        for uid in &waiting {
            while self.gives_room(uid, context) {
                self.preempt_next(uid, context);
            }
        }
        if self.pods.has_unheard && !self.is_preempting() {
            self.pods.has_unheard = false;
            self.hear_again(context);
        }
    }

    /// Takes the present victim off the list of a critical pod, which starts after the last one; tells whether another
    /// one is left.
    fn gives_room(&mut self, critical: &Text, context: &mut KubeletContext<'_>) -> bool {
        let Some(worker) = self.pods.workers.get(critical) else { return false };
        let Some(uid) = worker.victims.first().cloned() else { return false };
        let is_late = worker.victim_until.is_some_and(|until| until <= context.now);
        if !self.pods.has_ended(&uid) {
            if !is_late {
                return false;
            }
            self.give_up_ending(&uid, context);
        }
        let Some(worker) = self.pods.workers.get_mut(critical) else { return false };
        worker.victims.remove(0);
        worker.victim_until = None;
        if !worker.victims.is_empty() {
            return true;
        }
        worker.is_dirty = true;
        self.unblock(critical, context);
        self.sync_pod(critical, context);
        false
    }
}
