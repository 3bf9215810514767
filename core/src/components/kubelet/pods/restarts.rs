//! Which ended containers are started again, and after which pause.
//!
//! Mirrors `newCrashLoopBackOff` of pkg/kubelet/kubelet.go and `doBackOff` of
//! pkg/kubelet/kuberuntime/kuberuntime_manager.go (v1.34). Pure. Inputs: the kubelet's configuration and gates, the
//! pod, the run that has ended. Outputs: whether and when the container starts.

use jiff::{SignedDuration, Timestamp};

use super::changes::has_other_image;
use super::worker::KilledFor;
use super::{Container, ContainerPlan, ContainerRole, ContainerState, Host, Worker};
use crate::objects::lifecycle::should_restart;
use crate::objects::time::parse_duration;
use crate::objects::{Json, NULL};
use crate::profile::Settings;

/// The pauses before a container that has ended is started again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::components::kubelet) struct CrashPauses {
    /// The first one; each next one is twice as long.
    first: SignedDuration,
    /// The longest.
    longest: SignedDuration,
}

impl CrashPauses {
    /// Source: pkg/kubelet/kubelet.go (v1.34), `initialCrashLoopBackOff`, `MaxCrashLoopBackOff`.
    pub(in crate::components::kubelet) const DEFAULT: Self = Self::of_seconds(10, 300);
    /// Source: as above, `reducedInitialCrashLoopBackOff`, `reducedMaxCrashLoopBackOff`.
    const REDUCED: Self = Self::of_seconds(1, 60);
    /// After a run of this length the next pause is the first one again. Source: as above, `HasExpiredFunc`.
    const FORGOTTEN_AFTER: SignedDuration = SignedDuration::from_secs(600);

    const fn of_seconds(first: i64, longest: i64) -> Self {
        Self { first: SignedDuration::from_secs(first), longest: SignedDuration::from_secs(longest) }
    }

    /// Reads the pauses from a kubelet's configuration, which counts only with its gate.
    pub(in crate::components::kubelet) fn read(merged: &Json, settings: &Settings) -> Self {
        let is_reduced = settings.is_gate_on("ReduceDefaultCrashLoopBackOffDecay");
        let mut own = if is_reduced { Self::REDUCED } else { Self::DEFAULT };
        if settings.is_gate_on("KubeletCrashLoopBackOffMax") {
            let given = merged.at(&["crashLoopBackOff", "maxContainerRestartPeriod"]).as_str().and_then(parse_duration);
            own.longest = given.unwrap_or(Self::DEFAULT.longest);
            own.first = own.first.min(own.longest);
        }
        own
    }
}

impl Worker {
    /// Returns a container if it may have a policy of its own.
    fn with_policy(&self, container: &str) -> &Json {
        let own = ContainerRole::find(&self.object, container).filter(|_| self.has_restart_rules);
        own.map_or(&NULL, |(_, own)| own)
    }

    fn policy_of(&self, container: &str) -> &str {
        self.with_policy(container).get("restartPolicy").as_str().unwrap_or_else(|| self.restart_policy())
    }

    /// Tells whether a container that has ended is started again. A sidecar always is.
    pub(super) fn starts_again(&self, plan: &ContainerPlan, exit_code: i64) -> bool {
        plan.role == ContainerRole::Sidecar
            || should_restart(self.with_policy(&plan.name), self.restart_policy(), exit_code)
    }

    /// Tells whether a container with an exit code is started again. One that the kubelet itself has ended is, in the
    /// same sync, however it ended; one that has no exit code may start for the first time.
    pub(super) fn runs_again(&self, plan: &ContainerPlan, exit_code: Option<i64>) -> bool {
        let by_kubelet = match plan.killed_for {
            Some(KilledFor::Probe) => self.is_replaced(plan),
            other => other.is_some(),
        };
        by_kubelet || plan.role.is_initial() || exit_code.is_none_or(|code| self.starts_again(plan, code))
    }

    /// Tells whether some container that the pod is there for runs, or would be started again if nobody ended the pod.
    /// Only then the phase of a static pod without a manifest is not final.
    ///
    /// Source: pkg/kubelet/kubelet_pods.go (v1.34), `getPhase`.
    pub(super) fn goes_on(&self, host: &Host) -> bool {
        self.regular().any(|plan| {
            let code = host.runtime.container(&self.uid, &plan.name).and_then(Container::exit_code);
            code.is_none_or(|code| self.starts_again(plan, code))
        })
    }

    /// Tells whether a container that the kubelet itself ends is started again: of that no exit code tells.
    pub(super) fn is_replaced(&self, plan: &ContainerPlan) -> bool {
        plan.role == ContainerRole::Sidecar || self.policy_of(&plan.name) != "Never"
    }
}

impl ContainerPlan {
    /// Plans the restart of a container that has ended; the error is until when it has to wait.
    ///
    /// The pause counts from the container's end, doubles with each restart, and is the first one again after a long
    /// run or with another image. The sync that itself ends a container knows only its run before.
    pub(super) fn restart(
        &mut self,
        ended: &Container,
        image: &str,
        pauses: CrashPauses,
        (next, now): (Timestamp, Timestamp),
    ) -> Result<(), Timestamp> {
        if has_other_image(ended, image) {
            self.backoff = None;
        }
        let ended = if self.killed_for.is_some() { ended.before.as_deref() } else { Some(ended) };
        let Some(ended) = ended else {
            self.start_at = Some(next);
            return Ok(());
        };
        let ContainerState::Exited { finished_at, .. } = ended.state else { return Err(now) };
        let is_expired = finished_at.duration_since(ended.started_at) > CrashPauses::FORGOTTEN_AFTER;
        let before = self.backoff.filter(|_| !is_expired);
        self.is_waiting = before.is_some_and(|pause| now.duration_since(finished_at) < pause);
        if let Some(pause) = before.filter(|_| self.is_waiting) {
            self.held_back = pause;
            // What follows is the sync that finds it ended.
            self.is_crash_looping |= self.killed_for.take().is_some();
            return Err(finished_at + pause);
        }
        self.backoff = Some(before.map_or(pauses.first, |pause| (pause * 2).min(pauses.longest)));
        self.start_at = Some(next);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::CrashPauses;
    use crate::json;
    use crate::profile::Settings;

    #[test]
    fn the_longest_pause_is_the_configured_one_where_its_gate_is_on() {
        let config = json!({"crashLoopBackOff": {"maxContainerRestartPeriod": "3s"}});
        for (gates, pauses) in [
            (json!({}), CrashPauses::DEFAULT),
            (json!({"KubeletCrashLoopBackOffMax": true}), CrashPauses::of_seconds(3, 3)),
            (json!({"ReduceDefaultCrashLoopBackOffDecay": true}), CrashPauses::REDUCED),
            (
                json!({"ReduceDefaultCrashLoopBackOffDecay": true, "KubeletCrashLoopBackOffMax": true}),
                CrashPauses::of_seconds(1, 3),
            ),
        ] {
            let mut settings = Settings::default();
            settings.set_own_gates(&gates).unwrap();
            assert_eq!(CrashPauses::read(&config, &settings), pauses, "{gates}");
        }
        let mut settings = Settings::default();
        settings.set_own_gates(&json!({"KubeletCrashLoopBackOffMax": true})).unwrap();
        assert_eq!(CrashPauses::read(&json!({}), &settings), CrashPauses::DEFAULT);
    }
}
