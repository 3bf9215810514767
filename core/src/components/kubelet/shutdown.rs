//! Graceful node shutdown: the pods of the node end in bands of priority before the machine goes down.
//!
//! Mirrors pkg/kubelet/nodeshutdown/nodeshutdown_manager.go and nodeshutdown_manager_linux.go (v1.34). While the
//! kubelet runs it holds a lock that delays shutdowns; on logind's signal it ends the pods, the lowest band first, and
//! releases the lock after the last one.
//! Inputs: signals of logind, time, pods that have ended. Outputs: ended pods, Events, a status at once, the lock.
//! Invariants: signals are handled one after the other, so that a cancellation waits for the last band; a kubelet
//! without periods, or without its gate, holds no lock.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::decoder::Decoder;
use super::events::EventType;
use super::pods::{Ending, kill_timeout};
use super::preemption::{self, CRITICAL_PRIORITY};
use super::{Kubelet, KubeletContext};
use crate::components::host::ShutdownState;
use crate::components::{Because, Deadline};
use crate::json;
use crate::objects::go_duration::go_duration;
use crate::objects::{Json, Text};
use crate::profile::Settings;

/// Reason of pods that ended before a shutdown. Source: nodeshutdown_manager.go (v1.34), `nodeShutdownReason`.
const REASON: &str = "Terminated";
/// Their message. Source: as above, `nodeShutdownMessage`.
const MESSAGE: &str = "Pod was terminated in response to imminent node shutdown.";
/// Reason and message of a refused pod. Source: as above, `NodeShutdownNotAdmittedReason`.
const REFUSAL: (&str, &str) = ("NodeShutdown", "Pod was rejected as the node is shutting down.");
/// The error that keeps the Node from being ready. Source: nodeshutdown_manager_linux.go (v1.34), `ShutdownStatus`.
pub(super) const NOT_READY: &str = "node is shutting down";
/// How often the kubelet looks whether logind allows its delay. Source: as above, `start` (v1.35), `backoff`.
const LOOKS: u32 = 5;
/// From the first look to the last one: pauses of 100 ms, doubled each time. Source: as [`LOOKS`].
const LOOKS_TAKE: SignedDuration = SignedDuration::from_millis(1_500);
/// Where a kubelet finds the bus. Source: github.com/godbus/dbus conn_other.go, `defaultSystemBusAddress`.
const NO_BUS: &str = "dial unix /var/run/dbus/system_bus_socket: connect: no such file or directory";

/// The field of the configuration.
const BY_PRIORITY: &str = "shutdownGracePeriodByPodPriority";
/// Longer bands than this, some 68 years, are cut, so that instants stay within the calendar.
const SECONDS_MAX: i64 = 1 << 31;

/// Pods from a priority on, up to the next band, and the time that they get.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShutdownBand {
    /// The lowest priority; the first band has the lower ones, too.
    pub priority: i64,
    /// The time in seconds.
    pub seconds: i64,
}

/// Reads the bands, the lowest first; none if a shutdown is not delayed.
///
/// Source: nodeshutdown_manager.go (v1.34), `newPodManager` and `migrateConfig`: whole seconds only.
pub(super) fn bands(read: &Decoder<'_>, settings: &Settings) -> Vec<ShutdownBand> {
    let total = read.duration("shutdownGracePeriod").unwrap_or_default();
    let critical = read.duration("shutdownGracePeriodCriticalPods").unwrap_or_default();
    let of_item = |item: &Json| {
        let number = |field: &str| item.get(field).as_i64().unwrap_or_default();
        let seconds = number("shutdownGracePeriodSeconds").clamp(-SECONDS_MAX, SECONDS_MAX);
        ShutdownBand { priority: number("priority"), seconds }
    };
    let mut bands: Vec<ShutdownBand> = read.list(BY_PRIORITY).iter().map(of_item).collect();
    if !settings.is_gate_on("GracefulNodeShutdown") {
        return Vec::new();
    }
    if bands.is_empty() || !settings.is_gate_on("GracefulNodeShutdownBasedOnPodPriority") {
        bands.clear();
        if !total.is_zero() && critical <= total && !critical.is_negative() {
            bands.push(ShutdownBand { priority: 0, seconds: (total - critical).as_secs() });
            bands.push(ShutdownBand { priority: CRITICAL_PRIORITY, seconds: critical.as_secs() });
        }
    }
    bands.sort_by_key(|band| band.priority);
    bands
}

/// Returns the place of a pod's band in an ascending list that is not empty.
///
/// Source: nodeshutdown_manager.go (v1.34), `groupByPriority`.
fn place_of(bands: &[ShutdownBand], priority: i64) -> usize {
    let at = bands.partition_point(|band| band.priority < priority);
    match bands.get(at) {
        None => bands.len() - 1,
        Some(band) if at > 0 && band.priority > priority => at - 1,
        Some(_) => at,
    }
}

/// The bands that a shutdown still has to end, and the one that it waits for.
#[derive(Clone, Debug)]
struct Round {
    left: VecDeque<(ShutdownBand, Vec<Text>)>,
    /// When the present band is given up.
    until: Timestamp,
    /// The pods of the present band, each with the instant at which its end is given up.
    waits: Vec<(Text, Timestamp)>,
}

/// What a kubelet knows of shutdowns.
#[derive(Clone, Debug, Default)]
pub(super) struct ShutdownManager {
    is_watching: bool,
    is_shutting_down: bool,
    /// The signals that wait: true for a shutdown, false for a cancellation.
    signals: VecDeque<bool>,
    round: Option<Round>,
    /// Pods that were told to end, and when that is given up.
    ends: Vec<(Text, Timestamp)>,
    /// When the kubelet gives up waiting for a longer delay.
    gives_up_at: Option<Timestamp>,
    /// Why it does not watch.
    error: Option<String>,
    /// The metrics: start and end in seconds since 1970.
    times: [i64; 2],
}

impl ShutdownManager {
    /// Tells whether the node is shutting down.
    pub(super) const fn is_shutting_down(&self) -> bool {
        self.is_shutting_down
    }

    /// Returns when something is due.
    pub(super) fn next_deadline(&self) -> Option<Deadline> {
        let until = self.round.as_ref().map(|round| round.until);
        let at = [until, self.gives_up_at].into_iter().flatten().chain(self.ends.iter().map(|(_, at)| *at)).min()?;
        Some(Deadline { at, reason: "graceful shutdown" })
    }
}

impl Kubelet {
    /// Takes the lock that delays shutdowns, if there are bands; where logind allows too short a delay, after having
    /// raised it.
    pub(super) fn start_shutdown_manager(&mut self, context: &mut KubeletContext<'_>) {
        if self.config.shutdown_bands.is_empty() {
            return;
        }
        if context.host.fails("logind") {
            self.fail_shutdown_manager(NO_BUS.to_string(), context);
            return;
        }
        let requested = self.shutdown_period();
        if requested > context.host.inhibit_delay_max() {
            context.host.logind.drop_in = Some(requested);
        }
        let allowed = context.host.inhibit_delay_max();
        if requested > allowed && self.settings.profile().is("inhibit-delay-is-awaited") {
            self.shutdown.gives_up_at = Some(context.now + LOOKS_TAKE);
        } else if requested > allowed {
            let (requested, allowed) = (go_duration(requested), go_duration(allowed));
            let message = format!(
                "node shutdown manager was unable to update logind InhibitDelayMaxSec to {requested} \
                 (ShutdownGracePeriod), current value of InhibitDelayMaxSec ({allowed}) is less than requested \
                 ShutdownGracePeriod"
            );
            self.fail_shutdown_manager(message, context);
        } else {
            self.watch_shutdowns(context);
        }
    }

    fn shutdown_period(&self) -> SignedDuration {
        SignedDuration::from_secs(self.config.shutdown_bands.iter().map(|band| band.seconds).sum())
    }

    /// Source: nodeshutdown_manager_linux.go (v1.34), `start` and `setMetrics`.
    fn watch_shutdowns(&mut self, context: &mut KubeletContext<'_>) {
        context.host.logind.is_inhibited = true;
        self.shutdown.is_watching = true;
        if let Some(state) = context.host.logind.state.filter(|_| self.tells_shutdown_times()) {
            self.shutdown.times = [state.started.as_second(), state.ended.map_or(0, Timestamp::as_second)];
        }
    }

    fn fail_shutdown_manager(&mut self, why: String, context: &mut KubeletContext<'_>) {
        self.log(format!("Failed to start node shutdown manager: {why}"), context);
        self.shutdown.error = Some(why);
    }

    /// Tells whether the times of shutdowns are stored and are metrics.
    ///
    /// Source: nodeshutdown_manager_linux.go (v1.34), `enableMetrics`, and pkg/kubelet/metrics/metrics.go, `Register`.
    fn tells_shutdown_times(&self) -> bool {
        ["GracefulNodeShutdown", "GracefulNodeShutdownBasedOnPodPriority"]
            .iter()
            .all(|gate| self.settings.is_gate_on(gate))
    }

    /// Returns the metrics about shutdowns, in seconds since 1970, in the order of their names.
    pub fn shutdown_metrics(&self) -> impl Iterator<Item = (&'static str, i64)> {
        let [started, ended] = self.shutdown.times;
        let both = [
            ("kubelet_graceful_shutdown_end_time_seconds", ended),
            ("kubelet_graceful_shutdown_start_time_seconds", started),
        ];
        both.into_iter().filter(|_| self.tells_shutdown_times())
    }

    /// Tells whether the end of a shutdown has a metric of its own; earlier releases write it into that of the start.
    #[must_use]
    pub fn tells_end_of_shutdown(&self) -> bool {
        self.settings.profile().is("shutdown-end-has-its-metric")
    }

    /// Shows the manager as `GET machines/NAME` does; `Null` where shutdowns are not delayed.
    #[must_use]
    pub fn describe_shutdown(&self) -> Json {
        if self.config.shutdown_bands.is_empty() {
            return Json::Null;
        }
        let own = &self.shutdown;
        let mut shown = json!({"watching": own.is_watching, "shuttingDown": own.is_shutting_down});
        let bands = self.config.shutdown_bands.iter();
        let bands =
            bands.map(|band| json!({"priority": band.priority, "shutdownGracePeriodSeconds": band.seconds})).collect();
        shown.set(&["phases"], Json::array(bands));
        if let Some(error) = &own.error {
            shown.set(&["error"], error.as_str());
        }
        shown
    }

    /// Tells whether a Pod's last status is still to be written, or the Node's.
    #[must_use]
    pub fn has_statuses_to_write(&self) -> bool {
        self.status.is_syncing() || self.pods.has_statuses_to_write()
    }

    /// Tells whether it has been told of a shutdown.
    #[must_use]
    pub const fn is_shutting_down(&self) -> bool {
        self.shutdown.is_shutting_down
    }

    /// Takes logind's signal `PrepareForShutdown`.
    pub fn handle_shutdown_signal(&mut self, is_start: bool, context: &mut KubeletContext<'_>) {
        if self.shutdown.is_watching {
            self.shutdown.signals.push_back(is_start);
            self.go_on_with_shutdown(context);
        }
    }

    /// Does what is due.
    pub(super) fn handle_shutdown_timeout(&mut self, context: &mut KubeletContext<'_>) {
        if self.shutdown.gives_up_at.is_some_and(|at| at <= context.now) {
            self.shutdown.gives_up_at = None;
            let (requested, allowed) = (self.shutdown_period(), context.host.inhibit_delay_max());
            let message = format!(
                "node shutdown manager was timed out after {LOOKS} attempts waiting for logind InhibitDelayMaxSec to \
                 update to {} (ShutdownGracePeriod), current value is {}",
                go_duration(requested),
                go_duration(allowed)
            );
            self.fail_shutdown_manager(message, context);
        }
        let (given_up, left) = core::mem::take(&mut self.shutdown.ends)
            .into_iter()
            .filter(|(uid, _)| !self.pods.has_ended(uid))
            .partition(|(_, at)| *at <= context.now);
        self.shutdown.ends = left;
        let given_up: Vec<(Text, Timestamp)> = given_up;
        for (uid, _) in given_up {
            self.give_up_ending(&uid, context);
        }
        self.go_on_with_shutdown(context);
    }

    /// Goes on as far as the ends of pods and the clock allow.
    pub(super) fn go_on_with_shutdown(&mut self, context: &mut KubeletContext<'_>) {
        loop {
            if let Some(round) = &self.shutdown.round {
                let is_over = |(uid, give_up): &(Text, Timestamp)| self.pods.has_ended(uid) || *give_up <= context.now;
                if round.until > context.now && !round.waits.iter().all(is_over) {
                    return;
                }
                self.end_next_band(context);
            } else if let Some(is_start) = self.shutdown.signals.pop_front() {
                self.take_shutdown_signal(is_start, context);
            } else {
                return;
            }
        }
    }

    fn take_shutdown_signal(&mut self, is_start: bool, context: &mut KubeletContext<'_>) {
        let (what, message, fact) = if is_start {
            let fact = "logind has announced a shutdown of the machine";
            ("shutdown", "Shutdown manager detected shutdown event", fact)
        } else {
            let fact = "logind has announced that the shutdown is called off";
            ("cancellation", "Shutdown manager detected shutdown cancellation", fact)
        };
        let facts = Vec::from([Because::Fact(String::from(fact))]);
        let because = context.outbox.decide(self.about_node(), format!("noticed the {what}"), facts);
        self.part_event(EventType::Normal, "Shutdown", message.to_string(), Some(because), context);
        self.shutdown.is_shutting_down = is_start;
        self.generation += 1;
        if !is_start {
            context.host.logind.is_inhibited = true;
            return;
        }
        self.sync_status_now(context);
        if self.tells_shutdown_times() {
            let started = context.wall();
            context.host.logind.state = Some(ShutdownState { started, ended: None });
            self.shutdown.times = [started.as_second(), 0];
        }
        let bands = self.config.shutdown_bands.clone();
        let mut left: VecDeque<(ShutdownBand, Vec<Text>)> = bands.iter().map(|band| (*band, Vec::new())).collect();
        for pod in self.pods.unfinished() {
            left[place_of(&bands, preemption::priority(pod).unwrap_or_default())].1.push(Text::from(pod.uid()));
        }
        left.retain(|(_, pods)| !pods.is_empty());
        self.shutdown.round = Some(Round { left, until: context.now, waits: Vec::new() });
    }

    /// Ends the pods of the next band; after the last one, the lock is released.
    fn end_next_band(&mut self, context: &mut KubeletContext<'_>) {
        let next = self.shutdown.round.as_mut().and_then(|round| round.left.pop_front());
        let Some((band, uids)) = next else {
            self.finish_shutdown(context);
            return;
        };
        let mut waits = Vec::new();
        for uid in uids {
            let Some(pod) = self.pods.object(&uid) else { continue };
            let own = pod.stable().at(&["spec", "terminationGracePeriodSeconds"]).as_i64();
            let grace = own.map_or(band.seconds, |own| own.min(band.seconds));
            waits.push((uid.clone(), context.now + kill_timeout(grace)));
            self.end_pod(&uid, ending(grace), context);
        }
        self.shutdown.ends.extend(waits.iter().cloned());
        let until = context.now + SignedDuration::from_secs(band.seconds);
        if let Some(round) = &mut self.shutdown.round {
            round.until = until;
            round.waits = waits;
        }
    }

    fn finish_shutdown(&mut self, context: &mut KubeletContext<'_>) {
        self.shutdown.round = None;
        context.host.logind.is_inhibited = false;
        if !self.tells_shutdown_times() {
            return;
        }
        let ended = context.wall();
        if let Some(state) = &mut context.host.logind.state {
            state.ended = Some(ended);
        }
        let place = usize::from(self.tells_end_of_shutdown());
        self.shutdown.times[place] = ended.as_second();
    }
}

fn ending(grace_seconds: i64) -> Ending {
    Ending {
        reason: Text::of(REASON),
        message: Text::of(MESSAGE),
        disruption: Some(Text::of(MESSAGE)),
        grace_seconds: Some(grace_seconds),
        loses_containers: false,
        why: "the node is shutting down",
    }
}

/// Returns why a pod is refused on a node that is shutting down.
pub(super) fn refusal() -> (Text, String) {
    let (reason, message) = REFUSAL;
    (Text::of(reason), message.to_string())
}

#[cfg(test)]
mod tests {
    use super::{ShutdownBand, place_of};

    #[test]
    fn a_pod_is_in_the_band_at_or_below_its_priority() {
        let bands = [0, 1_000, 10_000, 100_000].map(|priority| ShutdownBand { priority, seconds: 1 });
        for (priority, place) in [
            (-5, 0),
            (0, 0),
            (999, 0),
            (1_000, 1),
            (9_999, 1),
            (10_000, 2),
            (99_999, 2),
            (100_000, 3),
            (2_000_001_000, 3),
        ] {
            assert_eq!(place_of(&bands, priority), place, "{priority}");
        }
        assert_eq!(place_of(&bands[..1], 7), 0);
    }
}
