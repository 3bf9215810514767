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
    /// When kubelets ended by themselves, about.
    pub(super) endings: Vec<(Micros, Micros)>,
}

impl KubeletRun {
    /// Tells whether a kubelet was about to end by itself at an instant.
    pub(super) fn is_ending(&self, t: Micros) -> bool {
        self.endings.iter().any(|(from, until)| (*from..=*until).contains(&t))
    }
}
