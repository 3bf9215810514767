//! What the kubelets of a run wrote, and what came of it.
//!
//! Pure.

use std::collections::BTreeMap;

use nodeproof_core::network::Verb;
use nodeproof_core::objects::Json;

use super::Counts;
use crate::replay::load::Micros;
use crate::replay::report::WriteDifference;
use crate::replay::writers::WriteTarget;

/// A write that a kubelet of the model made.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) t: Micros,
    pub(super) verb: Verb,
    pub(super) place: WriteTarget,
    pub(super) body: Json,
    /// The recorded write that it matches.
    pub(super) matched: Option<usize>,
}

/// What came of a run.
#[derive(Debug, Default)]
pub(super) struct KubeletRun {
    pub(super) made: Vec<Made>,
    /// Recorded writes and what was made in their place.
    pub(super) matched: BTreeMap<usize, usize>,
    /// Fields in which a matched write differs.
    pub(super) differences: Vec<(usize, WriteDifference)>,
    /// What could not be done to a machine.
    pub(super) refused: Vec<WriteDifference>,
    /// The Events, one for each time that one was emitted.
    pub(super) events: Vec<(Micros, Json)>,
    pub(super) choices: Counts,
    /// When kubelets ended by themselves.
    pub(super) endings: Vec<Micros>,
}

/// By how much a process that ends by itself may end earlier or later than the model's: it does so with its first look
/// at the runtime, which comes this long after its start.
const END_WITHIN: Micros = 100_000;

impl KubeletRun {
    /// Tells whether what a kubelet makes at an instant may have been lost: its process ends by itself before it is
    /// sent, which a goroutine of its own does.
    ///
    /// Source: k8s.io/client-go tools/record/event.go (v1.34), `StartEventWatcher`.
    pub(super) fn may_be_lost(&self, t: Micros) -> bool {
        self.endings.iter().any(|end| (end - END_WITHIN..=*end).contains(&t))
    }

    /// Tells whether what was recorded at an instant may be of a process that outlived the model's.
    pub(super) fn may_outlive(&self, t: Micros) -> bool {
        self.endings.iter().any(|end| (*end..=end + END_WITHIN).contains(&t))
    }
}
