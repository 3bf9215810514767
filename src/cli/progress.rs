//! A line on the terminal that shows how far something is that takes long.
//!
//! Inputs: what begins and what is done. Output: a line on standard error, from two seconds on, drawn at most ten times
//! a second by a thread of its own; nothing at all if standard error is no terminal.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use terminal_size::{Width, terminal_size_of};

use super::terminal::Colour;

/// After how long something takes long enough for a line.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a line stays as it is at least.
const PAUSE: Duration = Duration::from_millis(100);
/// The width of a terminal that does not tell it.
const WIDTH: usize = 80;

/// How far something is.
pub(super) struct Progress {
    state: Arc<Mutex<State>>,
    /// Ends the thread that draws.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct State {
    begun: Instant,
    total: usize,
    done: usize,
    failed: usize,
    running: Vec<String>,
    /// Whether the line stands on the terminal.
    is_shown: bool,
}

impl Progress {
    /// Begins something of so many parts.
    pub(super) fn new(total: usize) -> Self {
        let begun = Instant::now();
        let state = State { begun, total, done: 0, failed: 0, running: Vec::new(), is_shown: false };
        let state = Arc::new(Mutex::new(state));
        if !io::stderr().is_terminal() {
            return Self { state, end: None, thread: None };
        }
        let (end, ended) = channel();
        let own = Arc::clone(&state);
        let thread = std::thread::spawn(move || draw(&own, &ended));
        Self { state, end: Some(end), thread: Some(thread) }
    }

    /// Notes that a part has begun.
    pub(super) fn begin(&self, name: &str) {
        locked(&self.state).running.push(name.to_owned());
    }

    /// Notes that a part is done.
    pub(super) fn done(&self, name: &str, has_failed: bool) {
        let mut state = locked(&self.state);
        if let Some(at) = state.running.iter().position(|other| other == name) {
            state.running.remove(at);
        }
        state.done += 1;
        state.failed += usize::from(has_failed);
    }

    /// Prints something where the line stands, which is drawn again when its time comes.
    pub(super) fn aside<R>(&self, print: impl FnOnce() -> R) -> R {
        let mut state = locked(&self.state);
        state.erase();
        print()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.end.take());
        drop(self.thread.take().map(JoinHandle::join));
        locked(&self.state).erase();
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Draws the line until the end.
fn draw(state: &Mutex<State>, ended: &Receiver<()>) {
    let mut pause = PATIENCE;
    while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        pause = PAUSE;
        let width = terminal_size_of(io::stderr()).map_or(WIDTH, |(Width(width), _)| usize::from(width));
        let mut state = locked(state);
        let text: String = state.text(state.begun.elapsed()).chars().take(width.saturating_sub(13)).collect();
        let running = Colour::of(&io::stderr()).note("     Running");
        drop(write!(io::stderr(), "\r\x1b[K{running} {text}"));
        drop(io::stderr().flush());
        state.is_shown = true;
    }
}

impl State {
    fn erase(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            drop(write!(io::stderr(), "\r\x1b[K"));
            drop(io::stderr().flush());
        }
    }

    /// Returns `37/120, 2 failed, 14s left: sim::…`.
    fn text(&self, passed: Duration) -> String {
        let mut text = format!("{}/{}", self.done, self.total);
        if self.failed > 0 {
            text += &format!(", {} failed", self.failed);
        }
        if self.done > 0 {
            let (done, left) = (self.done as f64, self.total.saturating_sub(self.done) as f64);
            text += &format!(", {:.0}s left", passed.as_secs_f64() / done * left);
        }
        if !self.running.is_empty() {
            text += &format!(": {}", self.running.join(", "));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far_it_is_what_failed_and_what_runs() {
        let progress = Progress::new(8);
        for name in ["a", "b", "a"] {
            progress.begin(name);
        }
        progress.done("a", false);
        progress.done("b", true);
        let text = |passed| locked(&progress.state).text(Duration::from_secs(passed));
        assert_eq!(text(10), "2/8, 1 failed, 30s left: a");
        assert_eq!(locked(&Progress::new(3).state).text(PATIENCE), "0/3");
    }
}
