//! A line on the terminal that shows how far something is that takes long.
//!
//! Inputs: what begins and what is done. Output: a line on standard error, from two seconds on, redrawn at most ten
//! times a second; nothing at all if standard error is no terminal.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::terminal::Colour;

/// After how long something takes long enough for a line.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often the line is drawn a second.
const DRAWS: u8 = 10;

/// How far something is.
pub(super) struct Progress {
    bar: ProgressBar,
    state: Mutex<State>,
    /// Ends the thread that waits to show the line.
    _end: Sender<()>,
}

#[derive(Default)]
struct State {
    running: Vec<String>,
    failed: u64,
}

impl Progress {
    /// Begins something of so many parts.
    pub(super) fn new(total: usize) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::hidden());
        let template = "{prefix} {pos}/{len}, {eta} left{wide_msg}";
        bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_prefix(Colour::of(&io::stderr()).note("     Running"));
        let (end, ended) = channel();
        let later = bar.clone();
        std::thread::spawn(move || show_later(&later, &ended));
        Self { bar, state: Mutex::default(), _end: end }
    }

    /// Notes that a part has begun.
    pub(super) fn begin(&self, name: &str) {
        self.change(|state| state.running.push(name.to_owned()));
    }

    /// Notes that a part is done.
    pub(super) fn done(&self, name: &str, has_failed: bool) {
        self.change(|state| {
            state.running.retain(|other| other != name);
            state.failed += u64::from(has_failed);
        });
        self.bar.inc(1);
    }

    /// Prints something while the line is away.
    pub(super) fn aside<R>(&self, print: impl FnOnce() -> R) -> R {
        self.bar.suspend(print)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state);
        let failed = if state.failed == 0 { String::new() } else { format!(", {} failed", state.failed) };
        let running = state.running.join(", ");
        self.bar.set_message(format!("{failed}{}{running}", if running.is_empty() { "" } else { ": " }));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Shows the line unless the end comes before.
fn show_later(bar: &ProgressBar, ended: &Receiver<()>) {
    if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
        bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(DRAWS));
        bar.enable_steady_tick(Duration::from_secs(1) / u32::from(DRAWS));
    }
}
