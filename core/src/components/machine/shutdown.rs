//! How a machine shuts down: logind announces it, waits for the lock of the kubelet, and systemd stops everything.
//!
//! Mirrors systemd's src/login/logind-dbus.c (v252), `method_do_shutdown_or_sleep` and `delay_shutdown_or_sleep`. A
//! shutdown with a delay is announced at once and carried out after it.
//! Inputs: the actions, ends of the kubelet, time. Outputs: signals for the kubelet, and the end of the machine.
//! Invariant: a lock delays a shutdown by `InhibitDelayMaxSec` at most, and one that ends is a lock released.

use alloc::format;

use jiff::{SignedDuration, Timestamp};

use super::{Deadline, KubeletContext, Machine, MachineError};
use crate::json;
use crate::objects::Json;
use crate::objects::time::{seconds, to_micro_time};

/// For how long a kubelet goes on at most once its lock is released: systemd needs a moment to stop its unit, in which
/// it writes what it has begun to write. Source: recordings of kubelet 1.34.4, 0.3 s and 0.6 s.
const STOP_MAX: SignedDuration = SignedDuration::from_millis(500);

/// A shutdown that logind has announced.
#[derive(Clone, Debug)]
pub(super) struct AnnouncedShutdown {
    /// How the machine goes down; `None` if the announcement is all there is.
    down: Option<GoingDown>,
}

/// When a machine goes down.
#[derive(Clone, Debug)]
struct GoingDown {
    /// Not before this instant.
    at: Timestamp,
    /// When it no longer waits for the lock.
    latest: Timestamp,
    /// Whether the signal is given once more at that instant: to a kubelet that has not heard of it.
    repeats: bool,
    /// Whether a kubelet held the lock at some time since the announcement.
    was_held: bool,
    /// Since when nobody holds it.
    released: Option<Timestamp>,
}

impl Machine {
    /// Announces a shutdown, and carries it out after the delay and once nothing holds it up.
    pub(super) fn begin_shutdown(&mut self, delay: Option<SignedDuration>, now: Timestamp) -> Result<(), MachineError> {
        if self.goes_down() {
            return Err(MachineError::Misuse(format!("machine {} is shutting down already", self.name())));
        }
        let at = now + delay.unwrap_or_default();
        let latest = at.max(now + self.host.inhibit_delay_max());
        let was_held = self.host.logind.is_inhibited;
        let down = GoingDown { at, latest, repeats: delay.is_some(), was_held, released: None };
        self.shutdown = Some(AnnouncedShutdown { down: Some(down) });
        self.tell_shutdown(true, now);
        self.go_down_if_due(now);
        Ok(())
    }

    /// Announces a shutdown that nothing follows.
    pub(super) fn announce_shutdown(&mut self, now: Timestamp) {
        self.shutdown = Some(AnnouncedShutdown { down: None });
        self.tell_shutdown(true, now);
    }

    /// Calls the announced shutdown off.
    pub(super) fn cancel_shutdown(&mut self, now: Timestamp) -> Result<(), MachineError> {
        if self.shutdown.take().is_none() {
            return Err(MachineError::Misuse(format!("machine {} has announced no shutdown", self.name())));
        }
        self.tell_shutdown(false, now);
        Ok(())
    }

    /// Tells whether the machine is about to go down.
    pub(super) fn goes_down(&self) -> bool {
        self.shutdown.as_ref().is_some_and(|shutdown| shutdown.down.is_some())
    }

    /// Hands logind's signal `PrepareForShutdown` to the kubelet; a frozen one gets it when it continues.
    fn tell_shutdown(&mut self, is_start: bool, now: Timestamp) {
        if let Some(frozen) = &mut self.frozen {
            frozen.signals.push(is_start);
        } else if let Some(kubelet) = &mut self.kubelet {
            let mut turn = KubeletContext { host: &mut self.host, outbox: &mut self.outbox, now };
            kubelet.handle_shutdown_signal(is_start, &mut turn);
        }
    }

    /// Hands over the signals that a frozen kubelet has not read.
    pub(super) fn hand_over_signals(&mut self, signals: &[bool], now: Timestamp) {
        for is_start in signals {
            self.tell_shutdown(*is_start, now);
        }
        self.go_down_if_due(now);
    }

    /// Ends what ends with the kubelet's process: its lock, and its calls of the container runtime.
    pub(super) fn end_kubelet_calls(&mut self) {
        self.host.logind.is_inhibited = false;
        self.host.runtime.forget_stops();
    }

    /// Shuts the machine down if nothing delays it any more; true if it did.
    pub(super) fn go_down_if_due(&mut self, now: Timestamp) -> bool {
        let is_held = self.host.logind.is_inhibited;
        let has_to_tell = is_held && self.kubelet.as_ref().is_some_and(|kubelet| !kubelet.is_shutting_down());
        let writes = self.kubelet.as_ref().is_some_and(|kubelet| kubelet.has_statuses_to_write());
        let Some(down) = self.shutdown.as_mut().and_then(|shutdown| shutdown.down.as_mut()) else { return false };
        if now < down.at {
            return false;
        }
        down.was_held |= is_held;
        if core::mem::take(&mut down.repeats) && has_to_tell && self.frozen.is_none() {
            // A kubelet that started since the announcement hears of the shutdown itself.
            down.latest = now + self.host.inhibit_delay_max();
            self.tell_shutdown(true, now);
            return self.go_down_if_due(now);
        }
        if is_held && now < down.latest {
            down.released = None;
            return false;
        }
        let since = *down.released.get_or_insert(now);
        if !is_held && down.was_held && writes && self.frozen.is_none() && now < since + STOP_MAX {
            return false;
        }
        self.shut_down(now);
        true
    }

    /// Stops everything, as systemd does if nothing delays it: kubelet and containers get SIGTERM at the same time, so
    /// the kubelet reports no ended container.
    fn shut_down(&mut self, now: Timestamp) {
        // An error means that no kubelet runs, and there is none to stop.
        drop(self.stop_kubelet("SIGTERM"));
        self.lose_power(now);
    }

    /// Returns when the machine goes down if nothing else happens before.
    pub(super) fn shutdown_deadline(&self) -> Option<Deadline> {
        let down = self.shutdown.as_ref()?.down.as_ref()?;
        let at = match down.released {
            _ if self.host.logind.is_inhibited && !down.repeats => down.latest,
            Some(since) => since + STOP_MAX,
            None => down.at,
        };
        Some(Deadline { at, reason: "the machine shuts down" })
    }

    /// Shows logind and the kubelet's file about shutdowns as `GET machines/NAME` does.
    pub(super) fn describe_logind(&self) -> Json {
        let logind = &self.host.logind;
        let mut shown = json!({
            "inhibitDelayMax": seconds(self.host.inhibit_delay_max()),
            "preparingForShutdown": self.shutdown.is_some(),
        });
        let lock = json!({"what": "shutdown", "who": "kubelet", "why": "Kubelet needs time to handle node shutdown",
            "mode": "delay"});
        shown.set(&["inhibitors"], logind.is_inhibited.then_some(lock).into_iter().collect::<Json>());
        if let Some(delay) = logind.drop_in {
            let file = format!("# Kubelet logind override\n[Login]\nInhibitDelayMaxSec={}\n", delay.as_secs());
            shown.set(&["dropIn"], file);
        }
        if let Some(state) = logind.state {
            shown.set(&["gracefulNodeShutdownState", "startTime"], to_micro_time(state.started));
            let ended = state.ended.map_or_else(|| "0001-01-01T00:00:00Z".into(), to_micro_time);
            shown.set(&["gracefulNodeShutdownState", "endTime"], ended);
        }
        shown
    }

    /// Does what a timer of the shutdown asks for; true if the machine has gone down.
    pub(super) fn handle_shutdown_timeout(&mut self, now: Timestamp) -> bool {
        self.shutdown.is_some() && self.go_down_if_due(now)
    }
}
