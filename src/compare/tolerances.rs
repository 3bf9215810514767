//! How far two runs of one scenario may be apart and still be the same.

use jiff::SignedDuration;

/// How far apart the same instant may be in two runs.
#[derive(Clone, Debug)]
pub struct Tolerances {
    /// By how much any instant may differ: API times are whole seconds, and a machine may be busy.
    pub base: SignedDuration,
    /// What is added for a writer, named by its manager: the periods of its loops, whose phases differ between two
    /// runs.
    pub loops: Vec<(&'static str, SignedDuration)>,
    /// By how much the last status may differ: how seldom a kubelet writes it when nothing changes.
    pub report: SignedDuration,
    /// A state that lasts no longer than this may be seen in one run only: a pass of a loop came in between.
    pub blink: SignedDuration,
}

impl Default for Tolerances {
    /// The base is API times of whole seconds and the two seconds that a real cluster is given before the first act:
    /// what came before that act is earlier there by as much.
    ///
    /// Health passes come every 5 s and evictions of a zone every 10 s. A kubelet reads its Node every 10 s with
    /// jitter, and what it writes of a Pod follows the loops of others. A Pod that did not fit is tried again after up
    /// to 10 s. The next health pass corrects what the last one wrote, as a taint for a Node that is about to be ready.
    ///
    /// A status is reported every 5 minutes, and after a change up to half of that later.
    ///
    /// Source: `--node-monitor-period`, `--node-eviction-rate`; kubelet `nodeStatusUpdateFrequency`,
    /// `nodeStatusReportFrequency` and `calculateDelay`; kube-scheduler `podMaxBackoffSeconds` (v1.34).
    fn default() -> Self {
        let sec = SignedDuration::from_secs;
        let loops = vec![("kube-controller-manager", sec(15)), ("kubelet", sec(11)), ("kube-scheduler", sec(10))];
        Self { base: sec(3), loops, report: sec(461), blink: sec(6) }
    }
}

impl Tolerances {
    pub(super) fn of(&self, writer: &str) -> SignedDuration {
        self.base + self.period(writer).unwrap_or_default()
    }

    /// Returns the period of a writer's loops, if it has any.
    pub(super) fn period(&self, writer: &str) -> Option<SignedDuration> {
        let manager = writer.split('/').next().unwrap_or_default();
        self.loops.iter().find(|(known, _)| *known == manager).map(|(_, period)| *period)
    }

    pub(super) fn longest(&self) -> SignedDuration {
        self.base + self.loops.iter().map(|(_, period)| *period).max().unwrap_or_default()
    }
}
