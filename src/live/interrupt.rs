//! SIGINT and SIGTERM: the scenarios under way end with what happened and put everything back, and no other begins.
//!
//! Input: the process's signals. Output: a mark that the driver looks at. A second signal ends the process at once;
//! what it started ends with it then, and what it changed is put back by the timers that were armed before each fault.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::signal::unix::{SignalKind, signal};

/// The exit code of a run that was interrupted: 128 and the number of SIGINT, as shells count.
pub const EXIT: u8 = 130;
/// Why a scenario of such a run ends.
pub(super) const SAID: &str = "the run was interrupted";

/// A process has one set of signals, so this is one for the process.
static IS_ASKED: AtomicBool = AtomicBool::new(false);

/// Tells whether the process was asked to end.
#[must_use]
pub fn is_asked() -> bool {
    IS_ASKED.load(Ordering::Relaxed)
}

/// Waits for SIGINT or SIGTERM; for ever where signals cannot be had.
pub(crate) async fn signalled() {
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        Ok(()) = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}

/// Handles the signals from now on; calls `first` at the first of them.
///
/// # Errors
/// There is no thread to be had to wait for them.
pub fn listen(first: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let wait = async {
        signalled().await;
        IS_ASKED.store(true, Ordering::Relaxed);
        first();
        signalled().await;
        std::process::exit(i32::from(EXIT));
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || runtime.block_on(wait)).map(drop)
}
