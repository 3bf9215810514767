//! What a kubelet knows of its container runtime: when it last answered, and whether the network is ready.
//!
//! Mirrors pkg/kubelet/runtime.go and `updateRuntimeUp` of pkg/kubelet/kubelet.go (v1.34): a poll each five seconds.
//! Inputs: polls, changes of the host. Outputs: what keeps the node from being ready. As long as the machine does not
//! change, no timer runs: the last poll is computed from the clock.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::events::EventType;
use super::shutdown::NOT_READY;
use super::{Kubelet, KubeletContext, Timer};
use crate::components::host::Host;
use crate::components::next_of;
use crate::objects::go_duration::go_duration;

/// How long a call of the runtime may take. Source: pkg/kubelet/apis/config/v1beta1/defaults.go (v1.34),
/// `RuntimeRequestTimeout`.
pub(super) const RUNTIME_TIMEOUT: SignedDuration = SignedDuration::from_mins(2);
/// How often the runtime is asked. Source: pkg/kubelet/kubelet.go (v1.34), `wait.Until(kl.updateRuntimeUp,
/// 5*time.Second)`.
const POLL_PERIOD: SignedDuration = SignedDuration::from_secs(5);
/// How long a call of the runtime takes that ends a sandbox. Source: recordings of kubelet 1.34.4, `pod-deletion`.
pub(super) const RUNTIME_CALL: SignedDuration = SignedDuration::from_millis(80);
/// Silence after which the runtime counts as down. Source: pkg/kubelet/kubelet.go (v1.34),
/// `maxWaitForContainerRuntime`.
const DOWN_AFTER: SignedDuration = SignedDuration::from_secs(30);
/// How often containers are listed. Source: pkg/kubelet/kubelet.go (v1.34), `genericPlegRelistPeriod`.
pub(super) const RELIST_PERIOD: SignedDuration = SignedDuration::from_secs(1);
/// Age of the last list from which it counts as unhealthy. Source: as above, `genericPlegRelistThreshold`.
const RELIST_MAX: SignedDuration = SignedDuration::from_secs(180);
/// The first pause of the loop over pods after it found the runtime down, doubled each time.
/// Source: pkg/kubelet/kubelet.go (v1.34), `syncLoop`: `base = 100 * time.Millisecond`.
const LOOK_FIRST: SignedDuration = SignedDuration::from_millis(100);
/// The longest such pause. Source: as above, `max = 5 * time.Second`.
const LOOK_MAX: SignedDuration = SignedDuration::from_secs(5);
/// How often dead containers are collected. Source: pkg/kubelet/kubelet.go (v1.34), `ContainerGCPeriod`.
pub(super) const GC_PERIOD: SignedDuration = SignedDuration::from_secs(60);
/// The network error of containerd without a network configuration. Source: containerd/containerd
/// internal/cri/server/status.go.
const NO_CNI: &str = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady \
    message:Network plugin returns error: cni plugin not initialized";
/// What a call of a runtime that is stopped ends with: what gRPC says of a socket that is not there.
const NO_RUNTIME: &str = "rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while \
    dialing: dial unix /run/containerd/containerd.sock: connect: no such file or directory\"";
/// What a call ends with that a runtime does not answer in time: what gRPC says of a context whose time is over.
pub(super) const NO_ANSWER: &str = "rpc error: code = DeadlineExceeded desc = context deadline exceeded";

/// Returns what a call of the runtime ends with, if it does not answer.
pub(super) fn runtime_error(host: &Host) -> Option<&'static str> {
    if host.is_runtime_up { host.runtime.is_frozen().then_some(NO_ANSWER) } else { Some(NO_RUNTIME) }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Network {
    #[default]
    Unknown,
    Ready,
    NotConfigured,
}

/// What the kubelet knows of its runtime.
#[derive(Clone, Debug, Default)]
pub(super) struct RuntimeState {
    /// The last good answer; while the runtime does not change, later ones are computed from it.
    last_good: Option<Timestamp>,
    is_going_on: bool,
    network: Network,
    /// When the loop over pods looks again, after the runtime was down.
    resumes_at: Option<Timestamp>,
}

impl RuntimeState {
    fn last_good(&self, now: Timestamp, period: SignedDuration) -> Option<Timestamp> {
        let last = self.last_good?;
        if !self.is_going_on {
            return Some(last);
        }
        let age = now.duration_since(last).as_nanos();
        let late = i64::try_from(age.rem_euclid(period.as_nanos())).unwrap_or(0);
        Some(now - SignedDuration::from_nanos(late))
    }

    /// Tells whether the errors of the runtime do not depend on the clock.
    pub(super) const fn is_steady(&self) -> bool {
        self.is_going_on
    }
}

impl Kubelet {
    /// Goes on with a tick whose call of the runtime was answered at last.
    pub(super) fn runtime_answers(&mut self, context: &mut KubeletContext<'_>) {
        if self.timers[Timer::RuntimeCall as usize].is_some() {
            self.clear(Timer::RuntimeCall);
            self.begin_tries(context);
        }
    }

    /// Goes on with a tick whose call of the runtime got no answer in time.
    pub(super) fn runtime_call_failed(&mut self, context: &mut KubeletContext<'_>) {
        self.status.has_timed_out = true;
        self.begin_tries(context);
    }

    /// Asks the runtime for its status.
    pub(super) fn poll_runtime(&mut self, context: &mut KubeletContext<'_>) {
        self.clear(Timer::RuntimePoll);
        self.generation += 1;
        if !context.host.is_runtime_answering() {
            self.runtime.last_good = self.runtime.last_good(context.now, POLL_PERIOD);
            self.runtime.is_going_on = false;
            self.await_collection(context);
            return;
        }
        // The first good answer starts the container manager, and with it the server of device plugins.
        context.host.has_served_plugins = true;
        let network = if context.host.is_cni_installed { Network::Ready } else { Network::NotConfigured };
        let was_away = !self.runtime.is_going_on;
        let resumes_at = self.next_look(context.now);
        self.clear(Timer::ContainerGc);
        self.runtime = RuntimeState { last_good: Some(context.now), is_going_on: true, network, resumes_at };
        match resumes_at {
            Some(at) => self.set(Timer::Resume, at),
            None if was_away => self.resume_pods(context),
            None => {}
        }
    }

    /// Continues the work on pods.
    pub(super) fn resume_after_runtime(&mut self, context: &mut KubeletContext<'_>) {
        self.runtime.resumes_at = None;
        self.resume_pods(context);
    }

    /// Returns when the loop over pods looks at the runtime again, if it has found it down: after pauses that double.
    /// It looks each second until it finds an error.
    ///
    /// Source: pkg/kubelet/kubelet.go (v1.34), `syncLoop`.
    fn next_look(&self, now: Timestamp) -> Option<Timestamp> {
        let down = self.runtime.last_good? + DOWN_AFTER;
        if self.runtime.is_going_on || now < down {
            return None;
        }
        let mut look = next_of(self.started, RELIST_PERIOD, down);
        let mut pause = LOOK_FIRST;
        while look <= now {
            look += pause;
            pause = (pause * 2).min(LOOK_MAX);
        }
        Some(look)
    }

    /// Reports that dead containers cannot be collected: the runtime does not answer.
    pub(super) fn fail_to_collect(&mut self, context: &mut KubeletContext<'_>) {
        let message = String::from(NO_RUNTIME);
        self.node_event(EventType::Warning, "ContainerGCFailed", message, None, context);
        self.set(Timer::ContainerGc, context.now + GC_PERIOD);
    }

    /// Notes that the machine changed: the next poll will see it.
    pub fn note_host_change(&mut self, context: &mut KubeletContext<'_>) {
        self.note_usage(context);
        self.note_device_health(context);
        let poll = self.runtime.last_good(context.now, POLL_PERIOD).unwrap_or(context.now);
        if self.runtime.is_going_on && !context.host.is_runtime_answering() {
            self.runtime.last_good = Some(poll);
            self.runtime.is_going_on = false;
        }
        let mut next = poll;
        while next <= context.now {
            next += POLL_PERIOD;
        }
        if self.timers[Timer::RuntimePoll as usize].is_none() {
            self.set(Timer::RuntimePoll, next);
        }
        if !context.host.runtime.is_frozen() {
            self.runtime_answers(context);
        }
    }

    /// Notes that a frozen runtime continues: it answers at once to those that wait.
    pub fn runtime_goes_on(&mut self, context: &mut KubeletContext<'_>) {
        self.set(Timer::RuntimePoll, context.now);
    }

    /// Schedules the next collection of dead containers, which fails without a runtime.
    fn await_collection(&mut self, context: &KubeletContext<'_>) {
        if self.timers[Timer::ContainerGc as usize].is_none() && !context.host.is_runtime_up {
            self.set(Timer::ContainerGc, next_of(self.started, GC_PERIOD, context.now));
        }
    }

    /// Notes that the kubelet is frozen: its polls stop too.
    pub fn freeze_runtime_state(&mut self, now: Timestamp) {
        self.runtime.last_good = self.runtime.last_good(now, POLL_PERIOD);
        self.runtime.is_going_on = false;
        self.set(Timer::RuntimePoll, now);
    }

    /// Tells whether pods can be synced: none without a runtime.
    pub(super) fn pod_work_is_possible(&self, now: Timestamp) -> bool {
        self.runtime.resumes_at.is_none() && self.runtime_errors(now).is_empty()
    }

    fn runtime_errors(&self, now: Timestamp) -> Vec<String> {
        let mut errors = Vec::new();
        match self.runtime.last_good(now, POLL_PERIOD) {
            None => errors.push("container runtime status check may not have completed yet".to_string()),
            Some(last) if now.duration_since(last) >= DOWN_AFTER => {
                errors.push("container runtime is down".to_string())
            }
            Some(_) => {}
        }
        if let Some(last) = self.runtime.last_good(now, RELIST_PERIOD)
            && now.duration_since(last) > RELIST_MAX
        {
            errors.push(format!(
                "PLEG is not healthy: pleg was last seen active {} ago; threshold is {}",
                go_duration(now.duration_since(last)),
                go_duration(RELIST_MAX)
            ));
        }
        errors
    }

    /// Returns why the network is not ready.
    pub(super) const fn network_error(&self) -> Option<&'static str> {
        match self.runtime.network {
            Network::Ready => None,
            Network::Unknown => Some("network state unknown"),
            Network::NotConfigured => Some(NO_CNI),
        }
    }

    /// Returns everything that keeps the node from being ready, in the order in which it is printed.
    pub(super) fn ready_errors(&self, now: Timestamp) -> Vec<String> {
        let mut errors = self.runtime_errors(now);
        errors.extend(self.network_error().map(String::from));
        errors.extend(self.csi.error().map(String::from));
        errors.extend(self.shutdown.is_shutting_down().then(|| String::from(NOT_READY)));
        errors
    }
}
