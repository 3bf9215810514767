//! Limits of bounds that are told by `--node-monitor-grace-period`. Data.

use jiff::SignedDuration;

/// Which limits of a bound are told by the grace period, as in `within the grace period and 6s`. Such a limit holds for
/// [`DEFAULT_GRACE_PERIOD`] until [`Scenario::set_grace_period`](super::Scenario::set_grace_period).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraceLimits {
    /// The first of two limits.
    pub from: bool,
    /// The last limit, or the only one.
    pub to: bool,
}

/// The grace period that bounds are written for before the one of the cluster is known: the default of
/// `--node-monitor-grace-period` from 1.32 on.
///
/// Source: pkg/controller/nodelifecycle/config/v1alpha1/defaults.go (v1.32).
pub const DEFAULT_GRACE_PERIOD: SignedDuration = SignedDuration::from_secs(50);
