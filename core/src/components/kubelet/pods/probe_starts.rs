//! How probes begin: the pause of a kubelet that has just started, and what the containers that it finds running count
//! as until a probe has looked at them.
//!
//! Mirrors `run` and `doProbe` of pkg/kubelet/prober/worker.go, `AddPod`, `UpdatePodStatus` and
//! `setReadyStateOnKubeletRestart` of pkg/kubelet/prober/prober_manager.go (v1.31 to v1.36; KEP-4781). The first sync
//! of a Pod makes its status before its probes are there, so each container that runs counts as started and ready. A
//! later sync knows of the probes, and that they have found nothing. The first look of a probe takes the container for
//! not started, or not ready, and then asks. From 1.35 on containers that are older than the kubelet stay what they
//! were, until a probe has found something else. Pure. Inputs: instants, the generator of the pauses, the pod.
//! Outputs: when a probe looks first, what it counts as until then. Invariant: a probe of a Pod has one pause, so a
//! container that is started again keeps its ticks. Left out on purpose: the relist that may sync a static Pod a second
//! time at once.

use alloc::format;

use jiff::{SignedDuration, Timestamp};

use super::probes::ProbeKind;
use crate::chance::Chance;
use crate::components::host::Host;
use crate::components::host::runtime::Container;
use crate::objects::lifecycle::is_ready;
use crate::objects::{Json, Object};

/// How much older than the kubelet a container is that stays what it was.
/// Source: pkg/kubelet/prober/prober_manager.go (v1.35), `kubeletRestartGracePeriod`.
const OLDER_BY: SignedDuration = SignedDuration::from_secs(10);

/// How long the first look of a probe takes that finds a container running, from its first result to its answer: 37 to
/// 40 ms were recorded of a command (v1.34.4).
pub(super) const FIRST_ANSWER: SignedDuration = SignedDuration::from_millis(40);

/// What a container counts as until a probe of it has found something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unseen {
    /// Well: nobody has asked for a probe yet.
    Untold,
    /// Not well: the probe is known, and has found nothing.
    Missed,
    /// What its Pod was when the kubelet started.
    Kept(bool),
}

impl Unseen {
    /// Tells whether it counts as well.
    pub(super) const fn is_well(self) -> bool {
        matches!(self, Self::Untold | Self::Kept(true))
    }

    /// Tells whether the first look of the probe takes that back.
    pub(super) const fn is_void_at_first(self) -> bool {
        matches!(self, Self::Untold | Self::Missed)
    }

    /// Returns what it counts as after another sync, with what the API says of its Pod.
    pub(super) const fn synced(self, is_pod_ready: bool) -> Self {
        match self {
            Self::Untold | Self::Missed => Self::Missed,
            Self::Kept(is_ready) => Self::Kept(is_ready && is_pod_ready),
        }
    }
}

/// What a kubelet takes a running container for whose process it has not started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FoundAs {
    /// What its probes would find now: a recording tells the rest.
    Recorded,
    /// A container that its probes have to look at first.
    Unknown,
    /// What it was: started, and ready if its Pod is.
    Before {
        /// Whether its Pod is ready.
        is_ready: bool,
    },
}

impl FoundAs {
    /// Judges a container of a pod, for a kubelet that started at an instant and may let such containers be.
    pub(super) fn of(pod: &Object, container: &Container, (started, keeps): (Timestamp, bool), host: &Host) -> Self {
        let is_older = container.started_at.checked_add(OLDER_BY).is_ok_and(|at| at < started);
        match () {
            () if host.runtime.is_scripted() => Self::Recorded,
            () if keeps && is_older => Self::Before { is_ready: is_ready(pod) },
            () => Self::Unknown,
        }
    }
}

/// The pauses of the probes of a kubelet.
#[derive(Clone, Debug)]
pub(super) struct ProbePauses(Chance);

impl ProbePauses {
    /// Takes a generator, from which nothing is drawn.
    pub(super) const fn new(chance: Chance) -> Self {
        Self(chance)
    }

    /// Returns how the probes of a pod begin, with when the kubelet started and saw it. A recording has its own pauses.
    pub(super) fn start<'a>(
        &'a self,
        pod: &'a Object,
        (started, seen_at): (Timestamp, Timestamp),
        host: &Host,
    ) -> ProbeStart<'a> {
        ProbeStart { started, seen_at, pauses: Some((&self.0, pod)).filter(|_| !host.runtime.is_scripted()) }
    }
}

/// When the probes of a pod are made.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProbeStart<'a> {
    /// When the kubelet's process started.
    pub(super) started: Timestamp,
    /// When the kubelet saw the pod.
    pub(super) seen_at: Timestamp,
    /// The generator of the pauses and the pod; `None` for no pauses.
    pub(super) pauses: Option<(&'a Chance, &'a Object)>,
}

impl ProbeStart<'_> {
    /// Returns when a probe looks first: at once, or after a part of its period if the kubelet runs for less than that.
    pub(super) fn first_look(&self, container: &Json, kind: ProbeKind, period: SignedDuration) -> Timestamp {
        let is_recent = self.seen_at.duration_since(self.started) < period;
        let Some((pauses, pod)) = self.pauses.filter(|_| is_recent) else { return self.seen_at };
        let (pod, name) = (pod.key(), container.get("name").as_str().unwrap_or_default());
        let of_probe = format!("{}/{}/{name}/{}", pod.namespace, pod.name, kind.field());
        let pause = pauses.fork(&of_probe).up_to(period);
        self.seen_at.checked_add(pause).unwrap_or(Timestamp::MAX)
    }
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::{ProbeKind, ProbeStart};
    use crate::chance::Chance;
    use crate::json;
    use crate::objects::Object;

    #[test]
    fn a_probe_of_a_kubelet_that_runs_for_less_than_its_period_waits_for_a_part_of_it() {
        let at = |seconds| Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds);
        let pauses = Chance::new(1);
        let container = json!({"name": "main"});
        let first = |name: &str, seen: i64, period: i64, pauses: Option<&Chance>| {
            let pod = Object::new(json!({"metadata": {"name": name}}), 1);
            let pauses = pauses.map(|pauses| (pauses, &pod));
            let start = ProbeStart { started: at(0), seen_at: at(seen), pauses };
            let at = start.first_look(&container, ProbeKind::Readiness, SignedDuration::from_secs(period));
            at.duration_since(start.seen_at)
        };
        assert_eq!(first("a", 10, 10, Some(&pauses)), SignedDuration::ZERO);
        assert_eq!(first("a", 9, 10, None), SignedDuration::ZERO);
        let pause = first("a", 9, 10, Some(&pauses));
        assert!(pause > SignedDuration::ZERO && pause <= SignedDuration::from_secs(10), "{pause:?}");
        assert_eq!(first("a", 9, 10, Some(&pauses)), pause);
        assert_ne!(first("b", 9, 10, Some(&pauses)), pause);
    }
}
