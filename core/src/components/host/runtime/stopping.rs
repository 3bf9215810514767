//! How containers end that were told to: their hook, their turn, SIGTERM, and SIGKILL after the grace period.
//!
//! Mirrors `killContainer` of pkg/kubelet/kuberuntime/kuberuntime_container.go and kuberuntime_termination_order.go
//! (v1.34), which the kubelet does and the runtime carries out. Inputs: the pod, its grace period, time. Outputs:
//! signals, and when the next step is due. Invariant: no step is later than the grace period, but each process has two
//! seconds from SIGTERM to SIGKILL.

use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::super::behaviour::ContainerBehaviour;
use super::{Container, ContainerRole, Hook, KILLED, Runtime, Sandbox};
use crate::json;
use crate::objects::{Object, Text};

/// How long a process has at least from SIGTERM to SIGKILL.
/// Source: pkg/kubelet/kuberuntime/kuberuntime_container.go (v1.34), `minimumGracePeriodInSeconds`.
const LEAST: SignedDuration = SignedDuration::from_secs(2);

/// A process that ends within this time of its start is never seen to run: half of the period of the relist.
/// Source: pkg/kubelet/kubelet.go (v1.34), `genericPlegRelistPeriod`.
const UNSEEN: SignedDuration = SignedDuration::from_millis(500);

/// How containers end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Conduct {
    /// They are told to, and get their signals.
    #[default]
    Told,
    /// As a recording says.
    Scripted,
    /// By themselves alone: the runtime is frozen and signals nobody.
    Frozen,
}

/// What is left to do until a container gets SIGTERM.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stop {
    /// When it was told; when a frozen runtime continues that was asked meanwhile, that instant.
    asked_at: Timestamp,
    /// Whether the runtime was frozen then.
    is_held: bool,
    /// The end of its grace period.
    deadline: Timestamp,
    /// The containers that have to end before.
    after: Vec<Text>,
    behaviour: ContainerBehaviour,
}

/// Returns the containers that have to end before one of them is told to: for a sidecar those that depend on it.
///
/// Source: pkg/kubelet/kuberuntime/kuberuntime_termination_order.go (v1.34), `newTerminationOrdering`.
fn before(role: ContainerRole, name: &str, pod: &Object) -> Vec<Text> {
    if role != ContainerRole::Sidecar {
        return Vec::new();
    }
    let named = ContainerRole::containers(pod).filter_map(|(role, own)| Some((role, own.get("name").as_text()?)));
    let later = named.skip_while(|(_, other)| ***other != *name).skip(1);
    later.filter(|(role, _)| *role != ContainerRole::Init).map(|(_, other)| other.clone()).collect()
}

impl Container {
    /// Tells it to end; false if it is being ended already: that goes on, and a shorter grace period comes too late.
    ///
    /// Source: pkg/kubelet/kubelet.go (v1.34), `SyncTerminatingPod`, whose context nobody cancels.
    pub(super) fn tell_to_stop(
        &mut self,
        (pod, behaviour): (Option<&Object>, ContainerBehaviour),
        (grace, conduct): (SignedDuration, Conduct),
        now: Timestamp,
    ) -> bool {
        let is_scripted = conduct == Conduct::Scripted;
        let deadline = now + grace.min(SignedDuration::from_nanos(i64::MAX));
        if self.stop.is_some() {
            return false;
        }
        if !self.signals.is_empty() {
            self.kill_at = Some(self.kill_at.unwrap_or(deadline)).filter(|_| !is_scripted);
            return false;
        }
        let found = pod.and_then(|pod| Some((pod, ContainerRole::find(pod, &self.name)?)));
        let listens = behaviour.ready_delay().is_some_and(|delay| now.duration_since(self.started_at) >= delay);
        let hook = found.map(|(_, (_, container))| Hook::read(container, "preStop", listens)).unwrap_or_default();
        let after = found.map(|(pod, (role, _))| before(role, &self.name, pod)).unwrap_or_default();
        self.hook_ends = Some(now.checked_add(hook.takes).unwrap_or(Timestamp::MAX)).filter(|at| *at > now);
        self.hook_fails = hook.fails && !is_scripted;
        self.hook_is_command = hook.is_command;
        let is_held = conduct == Conduct::Frozen;
        self.stop = Some(Stop { asked_at: now, is_held, deadline, after, behaviour }.into());
        true
    }

    /// Begins what it was told while the runtime was frozen.
    fn hear(&mut self, now: Timestamp) {
        let Some(stop) = self.stop.as_mut().filter(|stop| stop.is_held) else { return };
        let late = now.duration_since(stop.asked_at);
        (stop.asked_at, stop.is_held) = (now, false);
        stop.deadline = stop.deadline.checked_add(late).unwrap_or(Timestamp::MAX);
        self.hook_ends = self.hook_ends.map(|at| at.checked_add(late).unwrap_or(Timestamp::MAX));
    }

    /// Forgets that it was told to end.
    pub(super) fn forget_stop(&mut self) {
        (self.stop, self.kill_at, self.hook_ends) = (None, None, None);
    }

    /// Returns when something happens to it without any other's end.
    pub(super) fn next_step(&self, conduct: Conduct) -> Option<Timestamp> {
        if conduct == Conduct::Frozen {
            return self.ends.map(|(at, _)| at);
        }
        let waits = self.stop.as_ref().map(|stop| self.hook_ends.unwrap_or(stop.deadline).min(stop.deadline));
        self.ends.map(|(at, _)| at).into_iter().chain(waits).chain(self.kill_at).min()
    }

    /// Sends SIGTERM if nothing has to happen before; returns whether it did.
    fn terminate(&mut self, is_running: impl Fn(&Text) -> bool, conduct: Conduct, now: Timestamp) -> bool {
        // A hook that has ended, or that the grace period does not wait for, leaves the turn of others to wait for.
        let hook_runs = self.hook_ends.is_some_and(|at| at > now);
        let is_due = |stop: &Stop| now >= stop.deadline || !hook_runs && !stop.after.iter().any(&is_running);
        if !hook_runs {
            self.hook_ends = None;
            self.has_failed_hook |= core::mem::take(&mut self.hook_fails);
        }
        let Some(stop) = self.stop.take_if(|stop| is_due(stop)) else { return false };
        // The grace period counts down in whole seconds.
        let waited = SignedDuration::from_secs(now.duration_since(stop.asked_at).as_secs());
        let left = (stop.deadline.duration_since(stop.asked_at) - waited).max(LEAST);
        self.signals.push((now, "SIGTERM"));
        self.kill_at = Some(now + left).filter(|_| conduct != Conduct::Scripted);
        if let Some(delay) = stop.behaviour.stop().delay()
            && self.scripted.is_none()
            && self.ends.is_none_or(|(at, _)| at > now + delay)
        {
            self.ends = Some((now + delay, stop.behaviour.exit_code.unwrap_or(0)));
        }
        true
    }

    /// Does what is due; returns whether the process has ended.
    fn advance(&mut self, conduct: Conduct, now: Timestamp) -> bool {
        let kill_at = self.kill_at.filter(|_| conduct == Conduct::Told);
        let own = self.ends.filter(|(at, _)| *at <= now);
        let own = own.filter(|(at, _)| kill_at.is_none_or(|kill| *at <= kill));
        if let Some((at, exit_code)) = own {
            let reason = match exit_code {
                0 => "Completed",
                _ if self.is_out_of_memory => "OOMKilled",
                _ => "Error",
            };
            self.end(at, exit_code, reason);
        } else if let Some(at) = kill_at.filter(|at| *at <= now) {
            self.signals.push((at, "SIGKILL"));
            self.end(at, KILLED, "Error");
        } else {
            return false;
        }
        true
    }
}

impl Runtime {
    /// Tells all containers of a pod to end, or one alone: hooks, SIGTERM in their order, and SIGKILL for those that
    /// still run after the grace.
    ///
    /// A second call changes nothing for those that were told. Returns the names of those that were told now.
    pub fn stop(
        &mut self,
        uid: &str,
        (pod, only): (Option<&Object>, Option<&str>),
        grace: SignedDuration,
        now: Timestamp,
    ) -> Vec<Text> {
        let behaviours: Vec<ContainerBehaviour> = match (pod, self.sandboxes.get(uid)) {
            (Some(pod), Some(sandbox)) => {
                sandbox.containers.iter().map(|container| self.behaviour(pod, &container.name)).collect()
            }
            (None, Some(sandbox)) => {
                let pod = sandbox.as_given();
                sandbox.containers.iter().map(|container| self.behaviour(&pod, &container.name)).collect()
            }
            _ => Vec::new(),
        };
        let conduct = self.conduct();
        let Some(sandbox) = self.sandboxes.get_mut(uid) else { return Vec::new() };
        let mut stopped = Vec::new();
        for (container, behaviour) in sandbox.containers.iter_mut().zip(behaviours) {
            let is_meant = only.is_none_or(|only| *container.name == *only) && container.is_running();
            if is_meant && container.tell_to_stop((pod, behaviour), (grace, conduct), now) {
                stopped.push(container.name.clone());
                // One that is ended alone waits for no other's turn.
                container.stop.iter_mut().filter(|_| only.is_some()).for_each(|stop| stop.after.clear());
            }
        }
        sandbox.terminate(conduct, now);
        stopped
    }

    pub(super) fn conduct(&self) -> Conduct {
        match &self.script {
            Some(_) => Conduct::Scripted,
            None if self.is_frozen => Conduct::Frozen,
            None => Conduct::Told,
        }
    }

    /// Tells whether it is stopped, as by SIGSTOP: calls of it hang.
    #[must_use]
    pub const fn is_frozen(&self) -> bool {
        self.is_frozen
    }

    /// Stops it, as by SIGSTOP: what is asked for now waits, and nobody gets a signal.
    pub fn freeze(&mut self) {
        self.is_frozen = true;
    }

    /// Forgets that it was stopped, with what it was asked for.
    pub fn forget_freeze(&mut self) {
        self.is_frozen = false;
    }

    /// Lets it continue: what is overdue happens at once, and the grace period begins now of what was told to end
    /// meanwhile.
    pub fn thaw(&mut self, now: Timestamp) {
        self.is_frozen = false;
        let conduct = self.conduct();
        for sandbox in self.sandboxes.values_mut() {
            sandbox.containers.iter_mut().for_each(|container| container.hear(now));
            sandbox.terminate(conduct, now);
        }
    }

    /// Forgets that the containers of a pod were told to end while it was stopped: the calls have timed out.
    pub fn forget_unheard(&mut self, uid: &str) {
        let containers = self.sandboxes.get_mut(uid).into_iter().flat_map(|sandbox| &mut sandbox.containers);
        containers.filter(|own| own.stop.as_ref().is_some_and(|stop| stop.is_held)).for_each(Container::forget_stop);
    }

    /// Tells whether a sandbox of a pod is still listed that was removed.
    #[must_use]
    pub fn lists_removed(&self, uid: &str, now: Timestamp) -> bool {
        self.removed.iter().any(|(at, own, _)| **own == *uid && super::is_known(*at, now))
    }

    /// Tells whether a recording says that a running container of a pod ends before anybody looks at it again.
    #[must_use]
    pub fn is_about_to_end(&self, uid: &str, container: &str, now: Timestamp) -> bool {
        let own = self.container(uid, container);
        own.is_some_and(|own| own.scripted.is_some() && own.ends.is_some_and(|(at, _)| at <= now + UNSEEN))
    }
}

impl Sandbox {
    /// Returns the pod as the runtime was given it.
    fn as_given(&self) -> Object {
        let mut pod = json!({"metadata": {"name": &self.key.name, "namespace": &self.key.namespace}});
        pod.set(&["metadata", "annotations"], self.annotations.clone());
        pod.set(&["spec"], self.given.clone());
        Object::as_received(pod)
    }

    /// Sends the signals that are due, and ends the processes whose time has come; returns whether one has.
    pub(super) fn advance(&mut self, conduct: Conduct, now: Timestamp) -> bool {
        let mut has_ended = false;
        loop {
            let mut is_changed = false;
            for container in self.containers.iter_mut().filter(|container| container.is_running()) {
                is_changed |= container.advance(conduct, now);
            }
            has_ended |= is_changed;
            if !self.terminate(conduct, now) && !is_changed {
                return has_ended;
            }
        }
    }

    /// Sends SIGTERM to the containers whose turn it is; returns whether any got it.
    pub(super) fn terminate(&mut self, conduct: Conduct, now: Timestamp) -> bool {
        let mut is_changed = false;
        if conduct == Conduct::Frozen || self.containers.iter().all(|container| container.stop.is_none()) {
            return is_changed;
        }
        let running: Vec<Text> =
            self.containers.iter().filter(|own| own.is_running()).map(|own| own.name.clone()).collect();
        for container in self.containers.iter_mut().filter(|container| container.is_running()) {
            is_changed |= container.terminate(|name| running.contains(name), conduct, now);
        }
        is_changed
    }
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::{Conduct, ContainerBehaviour, before};
    use crate::components::host::runtime::{Container, ContainerRole};
    use crate::json;
    use crate::objects::{Object, Text};

    #[test]
    fn a_hook_of_centuries_is_cut_by_the_grace_period() {
        let pod = Object::new(
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [
                {"name": "main", "lifecycle": {"preStop": {"exec": {"command": ["sleep", "9000000000000000"]}}}}]}}),
            1,
        );
        let now = Timestamp::UNIX_EPOCH;
        let mut main = Container::running(Text::of("main"), Text::default(), 0, now);
        let told = (Some(&pod), ContainerBehaviour::default());
        assert!(main.tell_to_stop(told, (SignedDuration::from_secs(5), Conduct::Told), now));
        assert_eq!(main.next_step(Conduct::Told), Some(now + SignedDuration::from_secs(5)));
    }

    #[test]
    fn sidecars_end_after_what_starts_after_them() {
        let pod = Object::new(
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {
            "initContainers": [{"name": "first", "restartPolicy": "Always"}, {"name": "once"},
                {"name": "second", "restartPolicy": "Always"}],
            "containers": [{"name": "main"}, {"name": "other"}]}}),
            1,
        );
        let of = |name: &str| {
            let (role, _) = ContainerRole::find(&pod, name).unwrap();
            before(role, name, &pod)
        };
        let names = |names: &[&'static str]| names.iter().copied().map(Text::of).collect::<alloc::vec::Vec<_>>();
        assert_eq!(of("first"), names(&["second", "main", "other"]));
        assert_eq!(of("second"), names(&["main", "other"]));
        assert_eq!(of("main"), names(&[]));
        assert_eq!(of("once"), names(&[]));
    }
}
