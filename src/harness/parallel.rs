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
use super::runner::{Backend, Threads};
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

/// Runs scenarios on several threads; those that run alone are the last. Calls `began` for each as it begins, and
/// `done` for each in their order, once it and those before it are judged; in real time as soon as it is judged itself,
/// since others may take minutes. Where `done` breaks off, no other scenario is begun and it is not called again.
pub fn run_all<'a>(
    jobs: &[PlannedRun<'a>],
    threads: Threads,
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
        let isolated_from = match threads.isolated {
            0 => jobs.len(),
            _ => jobs.partition_point(|job| !job.options.runner.runs_alone(job.planned, &job.options)),
        };
        each(jobs, threads, isolated_from, judged, |at, judged| done(&jobs[at], judged));
    } else {
        each_in_order(jobs, threads.all, judged, |job, judged| done(job, judged));
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
    each(jobs, Threads { all: threads, isolated: 0 }, jobs.len(), work, |at, result| {
        waiting.insert(at, result);
        while let Some(result) = waiting.remove(&due) {
            done(&jobs[due], result);
            due += 1;
        }
    });
}

/// Works on several threads and calls `done` with the number of each job that is done. Some threads begin with the jobs
/// from `isolated_from` on; each goes on with the others. A thread ends where `work` returns nothing.
fn each<J: Sync, R: Send>(
    jobs: &[J],
    threads: Threads,
    isolated_from: usize,
    work: impl Fn(&J) -> Option<R> + Sync,
    mut done: impl FnMut(usize, R),
) {
    let count = threads.all.or_else(|| std::thread::available_parallelism().ok());
    let count = count.map_or(1, usize::from).min(jobs.len());
    let queues = [(AtomicUsize::new(0), isolated_from), (AtomicUsize::new(isolated_from), jobs.len())];
    let next = |queue: usize| {
        let (next, end) = &queues[queue];
        let at = next.fetch_add(1, Ordering::Relaxed);
        (at < *end).then_some(at)
    };
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for thread in 0..count {
            let (sender, next, work) = (sender.clone(), &next, &work);
            let first = usize::from(thread < threads.isolated);
            scope.spawn(move || {
                while let Some(at) = next(first).or_else(|| next(1 - first)) {
                    let Some(result) = work(&jobs[at]) else { return };
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

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::sync::Barrier;

    use super::{Threads, each, each_in_order};

    #[test]
    fn what_runs_alone_begins_beside_the_others_and_every_thread_helps_at_the_end() {
        let jobs: Vec<usize> = (0..20).collect();
        // Neither side can begin before the other has: so one thread has begun at each.
        let both = Barrier::new(2);
        for isolated_from in [1, 10, 19] {
            let mut seen = Vec::new();
            let work = |job: &usize| {
                if *job == 0 || *job == isolated_from {
                    both.wait();
                }
                Some(*job)
            };
            let threads = Threads { all: NonZeroUsize::new(2), isolated: 1 };
            each(&jobs, threads, isolated_from, work, |at, job| seen.push((at, job)));
            seen.sort_unstable();
            assert_eq!(seen, jobs.iter().map(|job| (*job, *job)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        let jobs: Vec<usize> = (0..50).collect();
        let mut seen = Vec::new();
        each_in_order(&jobs, NonZeroUsize::new(4), |job| Some(*job), |job, _| seen.push(*job));
        assert_eq!(seen, jobs);
    }
}
