//! Runs scenarios on several threads and reports each verdict.
//!
//! Inputs: scenarios with options, a number of threads. Outputs: calls of `done`, on the simulator in the order of the
//! scenarios, whatever the number of threads.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use super::options::{EntryPoint, SuiteOptions};
use super::planned::Planned;
use super::runner::Backend;
use super::scenario::{Judged, run};
use super::suite::Suite;

/// A scenario to run with its options, or the reason why it is skipped.
#[derive(Debug)]
pub struct PlannedRun<'a> {
    /// The scenario.
    pub planned: &'a Planned,
    /// Release and seed.
    pub options: Arc<SuiteOptions>,
    /// Why it is skipped.
    pub skipped: Option<String>,
}

/// Runs scenarios on this many threads, or on one for each core. Calls `done` for each in their order, once it and
/// those before it are judged; in real time as soon as it is judged itself, since others may take minutes.
pub fn run_all<'a>(
    jobs: &[PlannedRun<'a>],
    threads: Option<NonZeroUsize>,
    suite: &Suite,
    entry_point: EntryPoint,
    mut done: impl FnMut(&PlannedRun<'a>, Judged),
) {
    let threads = threads.or_else(|| std::thread::available_parallelism().ok());
    let threads = threads.map_or(1, usize::from).min(jobs.len());
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(at).filter(|job| !job.options.runner.is_interrupted()) else { return };
                    let judged = match &job.skipped {
                        Some(why) => Judged::skipped(why.clone()),
                        None => run(job.planned, &job.options, suite, entry_point),
                    };
                    if sender.send((at, judged)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut due = 0;
        let in_real_time = jobs.first().is_some_and(|job| job.options.runner.backend() != Backend::Sim);
        for (at, judged) in receiver {
            if in_real_time {
                done(&jobs[at], judged);
                continue;
            }
            waiting.insert(at, judged);
            while let Some(judged) = waiting.remove(&due) {
                done(&jobs[due], judged);
                due += 1;
            }
        }
    });
}
