//! Runs scenarios on several threads and reports each verdict.
//!
//! Inputs: scenarios with options, a number of threads. Outputs: calls of `done`, on the simulator in the order of the
//! scenarios, whatever the number of threads.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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

/// Runs scenarios on this many threads, or on one for each core. Calls `began` for each as it begins, and `done` for
/// each in their order, once it and those before it are judged; in real time as soon as it is judged itself, since
/// others may take minutes. Where `done` breaks off, no other scenario is begun and it is not called again.
pub fn run_all<'a>(
    jobs: &[PlannedRun<'a>],
    threads: Option<NonZeroUsize>,
    suite: &Suite,
    entry_point: EntryPoint,
    began: impl Fn(&PlannedRun<'a>) + Sync,
    mut done: impl FnMut(&PlannedRun<'a>, Judged) -> ControlFlow<()>,
) {
    let is_over = AtomicBool::new(false);
    let judged = |job: &PlannedRun<'a>| match &job.skipped {
        _ if job.options.runner.is_interrupted() || is_over.load(Ordering::Relaxed) => None,
        Some(why) => Some(Judged::skipped(why.clone())),
        None => {
            began(job);
            Some(run(job.planned, &job.options, suite, entry_point))
        }
    };
    let mut done = |job: &PlannedRun<'a>, judged| {
        if !is_over.load(Ordering::Relaxed) && done(job, judged).is_break() {
            is_over.store(true, Ordering::Relaxed);
        }
    };
    let in_real_time = jobs.first().is_some_and(|job| job.options.runner.backend() != Backend::Sim);
    if in_real_time {
        each(jobs, threads, judged, |at, judged| done(&jobs[at], judged));
    } else {
        each_in_order(jobs, threads, judged, |job, judged| done(job, judged));
    }
}

/// Works on several threads and calls `done` for each job in their order, once it and those before it are done.
pub fn each_in_order<J: Sync, R: Send>(
    jobs: &[J],
    threads: Option<NonZeroUsize>,
    work: impl Fn(&J) -> Option<R> + Sync,
    mut done: impl FnMut(&J, R),
) {
    let mut waiting = BTreeMap::new();
    let mut due = 0;
    each(jobs, threads, work, |at, result| {
        waiting.insert(at, result);
        while let Some(result) = waiting.remove(&due) {
            done(&jobs[due], result);
            due += 1;
        }
    });
}

/// Works on several threads and calls `done` with the number of each job that is done. A thread ends where `work`
/// returns nothing.
fn each<J: Sync, R: Send>(
    jobs: &[J],
    threads: Option<NonZeroUsize>,
    work: impl Fn(&J) -> Option<R> + Sync,
    mut done: impl FnMut(usize, R),
) {
    let threads = threads.or_else(|| std::thread::available_parallelism().ok());
    let threads = threads.map_or(1, usize::from).min(jobs.len());
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(result) = jobs.get(at).and_then(work) else { return };
                    if sender.send((at, result)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (at, result) in receiver {
            done(at, result);
        }
    });
}
