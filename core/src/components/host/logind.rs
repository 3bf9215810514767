//! systemd-logind of a machine, and the files about shutdowns that a kubelet leaves there.
//!
//! Data that `machine` and `kubelet` read and change. Mirrors what pkg/kubelet/nodeshutdown/systemd/inhibit_linux.go
//! (v1.34) asks of logind: how long a shutdown may be delayed, a lock that delays it, and a drop-in file that allows
//! a longer delay.

use jiff::{SignedDuration, Timestamp};

use super::Host;

/// What a machine's logind keeps, and what the kubelet keeps about shutdowns.
#[derive(Clone, Debug, Default)]
pub struct Logind {
    /// Whether the kubelet holds a lock that delays shutdowns. A process that ends loses it.
    pub is_inhibited: bool,
    /// `InhibitDelayMaxSec` of `/etc/systemd/logind.conf.d/99-kubelet.conf`, once a kubelet has written it.
    pub drop_in: Option<SignedDuration>,
    /// `graceful_node_shutdown_state` in the kubelet's folder.
    pub state: Option<ShutdownState>,
}

/// When the last graceful shutdown began and ended, by the machine's clock.
///
/// Source: pkg/kubelet/nodeshutdown/storage.go (v1.34), `state`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShutdownState {
    /// When it began.
    pub started: Timestamp,
    /// When it ended; `None` while it goes on, or if nobody was left to write it.
    pub ended: Option<Timestamp>,
}

impl Host {
    /// Returns logind's `InhibitDelayMaxUSec`: that of the kubelet's drop-in file, unless another file wins over it.
    #[must_use]
    pub fn inhibit_delay_max(&self) -> SignedDuration {
        let own = self.logind.drop_in.filter(|_| !self.fails("inhibit-delay"));
        own.unwrap_or(self.spec.hardware.inhibit_max_delay)
    }
}
