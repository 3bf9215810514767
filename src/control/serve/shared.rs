//! The served cluster, shared by connections, and its clock.
//!
//! Inputs: real time, and what is done to the cluster. Outputs: the tasks that wait for events of a watch are woken.
//! Invariant: the virtual clock never goes back, and never past the last instant of a simulation.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use nodeproof_core::network::{ClientId, RequestId};
use nodeproof_core::sim::{Simulation, WatchInbox};
use tokio::sync::Notify;

use crate::control::setup::LATEST;
use crate::control::streams::WatchSource;
use crate::control::{Control, PanicGuard, Rate, Refusal};

/// How long the clock works before others get the cluster.
const SLICE: Duration = Duration::from_millis(20);
/// The shortest wait of a clock that runs.
const SHORTEST: Duration = Duration::from_millis(1);
/// The longest wait of a clock that runs: the clock is not later than this when nobody asks.
const LONGEST: Duration = Duration::from_secs(1);
/// How much virtual time is done at once where the clock runs as fast as it can.
const STRIDE: SignedDuration = SignedDuration::from_secs(1);

/// A cluster that connections share.
#[derive(Clone, Debug)]
pub(super) struct ServedCluster {
    state: Arc<Mutex<State>>,
    /// Wakes the clock when its rate may have changed.
    changed: Arc<Notify>,
}

#[derive(Debug)]
struct State {
    control: Control,
    guard: PanicGuard,
    /// Where the clock was at an instant of real time.
    from: (Timestamp, Instant),
    waiting: Vec<Waker>,
}

/// How long the clock may sleep.
enum Sleep {
    UntilChanged,
    For(Duration),
}

impl ServedCluster {
    pub(super) fn new(control: Control) -> Self {
        let from = (control.sim.now(), Instant::now());
        let state = State { control, guard: PanicGuard::default(), from, waiting: Vec::new() };
        Self { state: Arc::new(Mutex::new(state)), changed: Arc::new(Notify::new()) }
    }

    /// Does something to the cluster at the present instant of its clock, and wakes the watches.
    pub(super) fn with<T>(
        &self,
        resets: bool,
        act: impl FnOnce(&mut Control) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let mut state = self.lock();
        let State { control, guard, from, .. } = &mut *state;
        let rate = control.rate.unwrap_or_default();
        let (mut is_behind, mut began) = (false, control.sim.now());
        let done = guard.run(resets, || {
            if let Some(target) = rate.reached(from.0, from.1.elapsed()) {
                is_behind = !catch_up(&mut control.sim, target.min(LATEST));
            }
            began = control.sim.now();
            act(control)
        });
        // What the call did to the clock is where it goes on from; what the clock is behind, it still has to do.
        let now = control.sim.now();
        if !is_behind || resets || now != began || control.rate.unwrap_or_default() != rate {
            *from = (now, Instant::now());
        }
        control.sim.take_commits();
        state.waiting.drain(..).for_each(Waker::wake);
        self.changed.notify_one();
        done
    }

    /// Lets the clock run; never ends.
    pub(super) async fn run_clock(&self) {
        loop {
            match self.slice() {
                Sleep::UntilChanged => self.changed.notified().await,
                Sleep::For(Duration::ZERO) => tokio::task::yield_now().await,
                Sleep::For(pause) => {
                    tokio::select! {
                        () = tokio::time::sleep(pause) => {}
                        () = self.changed.notified() => {}
                    }
                }
            }
        }
    }

    /// Does what is due by now, for a moment.
    fn slice(&self) -> Sleep {
        let mut state = self.lock();
        let State { control, guard, from, .. } = &mut *state;
        let rate = control.rate.unwrap_or_default();
        let began = Instant::now();
        let sim = &mut control.sim;
        let before = sim.now();
        let outcome = guard.run(false, || {
            Ok(match rate {
                _ if sim.now() >= LATEST => Sleep::UntilChanged,
                Rate::Paused => Sleep::UntilChanged,
                Rate::Max => {
                    while began.elapsed() < SLICE && sim.now() < LATEST {
                        sim.advance_until(sim.now().checked_add(STRIDE).map_or(LATEST, |next| next.min(LATEST)));
                        sim.take_commits();
                    }
                    Sleep::For(Duration::ZERO)
                }
                Rate::Times(number) => {
                    let target = rate.reached(from.0, from.1.elapsed()).map_or(LATEST, |target| target.min(LATEST));
                    if !catch_up(sim, target) {
                        Sleep::For(Duration::ZERO)
                    } else {
                        let due = sim.next_due().map(|(at, ..)| at.duration_since(target).as_secs_f64() / number);
                        let pause = due.and_then(|pause| Duration::try_from_secs_f64(pause).ok());
                        Sleep::For(pause.unwrap_or(LONGEST).clamp(SHORTEST, LONGEST))
                    }
                }
            })
        });
        control.sim.take_commits();
        if control.sim.now() != before {
            state.waiting.drain(..).for_each(Waker::wake);
        }
        outcome.unwrap_or(Sleep::UntilChanged)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Brings the clock to a target, or as near as it comes in a slice; tells whether it is there.
fn catch_up(sim: &mut Simulation, target: Timestamp) -> bool {
    let began = Instant::now();
    while sim.step(target) {
        sim.take_commits();
        if began.elapsed() >= SLICE {
            return false;
        }
    }
    sim.advance_until(target);
    true
}

/// A watch of the cluster as it was since the last reset.
pub(super) struct ServedWatch {
    pub(super) shared: ServedCluster,
    pub(super) resets: u64,
}

impl WatchSource for ServedWatch {
    fn look(&self, client: ClientId, id: RequestId, waker: &Waker) -> Option<WatchInbox> {
        let mut state = self.shared.lock();
        if state.control.resets != self.resets {
            return None;
        }
        let inbox = state.control.sim.take_watch(client, id);
        if inbox.as_ref().is_some_and(|inbox| inbox.events.is_empty() && !inbox.ended) {
            state.waiting.push(waker.clone());
        }
        inbox
    }

    fn close(&self, client: ClientId, id: RequestId) {
        let mut state = self.shared.lock();
        if state.control.resets == self.resets {
            let State { control, guard, .. } = &mut *state;
            // A bug that this meets is told to the next request.
            drop(guard.run(false, || {
                control.sim.close_watch(client, id);
                Ok(())
            }));
        }
    }
}
