//! SIGINT and SIGTERM: the scenarios under way end and clean up, and no other begins.
//!
//! Input: the signals of the process. Output: a flag that the driver checks. A second signal ends the process at once;
//! the programs that it started then end with it, and the timers that were started before each fault undo the faults.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::signal::unix::{SignalKind, signal};

/// The exit code of a run that was interrupted: 128 and the number of SIGINT, as shells count.
pub const EXIT: u8 = 130;
/// The reason with which a scenario of such a run ends.
pub(super) const SAID: &str = "the run was interrupted";

/// Static because signals belong to the process.
static IS_ASKED: AtomicBool = AtomicBool::new(false);

/// Tells whether the process was asked to end.
#[must_use]
pub fn is_asked() -> bool {
    IS_ASKED.load(Ordering::Relaxed)
}

/// Waits for SIGINT or SIGTERM; forever if signals cannot be handled.
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
/// The thread that waits for them cannot be started.
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
