//! The loops of a kubelet that look after its machine's resources, and when the next of them is due.
//!
//! Evictions, measures of volumes, collections of images. Inputs: changes of what is used, time. Outputs: calls of the
//! loops. Invariant: none of them has a timer while nothing is used, since it would find nothing to do.

use jiff::Timestamp;

use super::{Kubelet, KubeletContext, Timer};

/// The loops; those that are due at once run in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Upkeep {
    /// Images are collected.
    ImageGc,
    /// The list of images is read.
    ImageList,
    /// Volumes are measured.
    Volumes,
    /// The eviction manager looks, or waits for a pod.
    Eviction,
}

const LOOPS: [Upkeep; 4] = [Upkeep::ImageGc, Upkeep::ImageList, Upkeep::Volumes, Upkeep::Eviction];

/// When each loop runs next.
#[derive(Clone, Debug, Default)]
pub(super) struct UpkeepTimers([Option<Timestamp>; LOOPS.len()]);

impl UpkeepTimers {
    pub(super) fn at(&self, kind: Upkeep) -> Option<Timestamp> {
        self.0[kind as usize]
    }
}

impl Kubelet {
    /// Sets when a loop runs next.
    pub(super) fn set_upkeep(&mut self, kind: Upkeep, at: Timestamp) {
        self.upkeep.0[kind as usize] = Some(at);
        self.schedule_upkeep();
    }

    fn schedule_upkeep(&mut self) {
        self.timers[Timer::Upkeep as usize] = self.upkeep.0.iter().flatten().min().copied();
    }

    /// Runs the loops that are due.
    pub(super) fn run_upkeep(&mut self, context: &mut KubeletContext<'_>) {
        for kind in LOOPS {
            if self.upkeep.at(kind).is_none_or(|at| at > context.now) {
                continue;
            }
            self.upkeep.0[kind as usize] = None;
            match kind {
                Upkeep::ImageGc => self.collect_images(context),
                Upkeep::ImageList => self.read_image_list(context),
                Upkeep::Volumes => self.measure_volumes(context),
                Upkeep::Eviction => self.go_on_evicting(context),
            }
        }
        self.schedule_upkeep();
    }

    /// Notes that something is used that was not, or no more.
    pub fn note_usage(&mut self, context: &mut KubeletContext<'_>) {
        self.note_used_images(context);
        if !context.host.is_used() && !self.is_short_of_all(context.host) && !self.config.image_gc.looks_at_age() {
            return;
        }
        self.note_images(context);
        self.note_volumes(context);
        self.await_eviction_pass(context.now);
    }

    /// Notes that pods have started, changed or ended: what they use has changed if they use anything.
    pub(super) fn note_pods(&mut self, context: &mut KubeletContext<'_>) {
        if context.host.is_used() {
            self.note_usage(context);
        } else {
            self.note_used_images(context);
        }
        self.heed_ended_pods(context);
    }
}
