//! Leader election: of a program's processes the holder of its Lease works, and no other.
//!
//! Mirrors k8s.io/client-go tools/leaderelection/leaderelection.go (v1.34) as kube-controller-manager and
//! kube-scheduler use it (cmd/kube-controller-manager/app/controllermanager.go, cmd/kube-scheduler/app/server.go,
//! v1.34): a process that could not renew its Lease for the renew deadline ends, with all that it knew, and another one
//! starts; its name is new, so that it waits until the Lease of the one before has expired. Inputs: answers, time.
//! Outputs: requests for the Lease, an Event, decisions; the driver runs the controllers of the program while
//! [`LeaderElector::leads`].
//! Invariant: at most one request for the Lease is under way. Left out on purpose: coordinated leader election, the
//! longer pauses before a process starts that ended several times.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::client::Client;
use super::controller::{ApiResult, code, object};
use super::events::{EventRecorder, EventType, InvolvedObject};
use super::host::uuid;
use super::{Because, Component, Deadline, Outbox, Output, earliest};
use crate::chance::Chance;
use crate::json;
use crate::network::{Ask, Call, Identity, LEASES, Request, RequestId, ToClient, Verb};
use crate::objects::time::{seconds, to_micro_time};
use crate::objects::{Json, Object, Text};
use crate::profile::{Settings, Value};

/// Where the Leases are. Source: k8s.io/component-base config/v1alpha1/defaults.go (v1.34) and
/// cmd/kube-controller-manager/app/options/options.go, `ResourceNamespace`.
const NAMESPACE: &str = "kube-system";
/// By how much of it the pause between two tries to acquire the Lease is longer at most.
///
/// Source: leaderelection.go (v1.34), `JitterFactor`.
const JITTER_FACTOR: f64 = 1.2;
/// How long a kubelet takes to start a process again that has ended: from one to three seconds in the recording
/// kubelet-1.34.4/apiserver-outage (finished 10:03:29, started 10:03:31).
const RESTARTS: SignedDuration = SignedDuration::from_secs(2);
/// The host on which the processes run.
const HOST: &str = "control-plane";

/// The times of an election.
#[derive(Clone, Copy, Debug)]
struct ElectionTimes {
    /// How long others take a Lease for held that was not renewed.
    lease_duration: SignedDuration,
    /// How long a leader tries to renew it before it gives up.
    renew_deadline: SignedDuration,
    /// The pause between two tries.
    retry_period: SignedDuration,
}

impl ElectionTimes {
    /// Says why no election can have these times. Source: leaderelection.go (v1.34), `NewLeaderElector`.
    fn mistake(&self) -> Option<&'static str> {
        let retries = self.retry_period.as_secs_f64() * JITTER_FACTOR;
        if self.lease_duration <= self.renew_deadline {
            Some("leaseDuration must be greater than renewDeadline")
        } else if self.renew_deadline.as_secs_f64() <= retries {
            Some("renewDeadline must be greater than retryPeriod*JitterFactor")
        } else if self.retry_period < SignedDuration::from_nanos(1) {
            Some("retryPeriod must be greater than zero")
        } else {
            None
        }
    }

    /// How long the client waits for an answer. Source: tools/leaderelection/resourcelock/interface.go (v1.34),
    /// `NewFromKubeconfig`.
    fn patience(&self) -> SignedDuration {
        (self.renew_deadline / 2).max(SignedDuration::from_secs(1))
    }
}

/// What a request is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AskedFor {
    /// A renewal of the Lease as it was left.
    Renewal,
    /// The Lease as it is.
    Get,
    Create,
    /// The Lease that was read, with this process as its holder.
    Update,
}

/// What the process does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ElectionStage {
    /// There is none.
    Stopped,
    /// It starts at an instant.
    Starts(Timestamp),
    /// It waits for the Lease.
    Candidate,
    /// It holds the Lease; the round of renewals that began, or will begin, at an instant.
    Leader(Timestamp),
}

/// The election of a program's leader; it keeps the contract of [`Component`].
#[derive(Clone, Debug)]
pub struct LeaderElector {
    program: &'static str,
    times: ElectionTimes,
    chance: Chance,
    client: Client,
    events: EventRecorder,
    outbox: Outbox,
    stage: ElectionStage,
    /// The name of this process.
    own: Text,
    /// When the Lease is tried next; `None` while a request is under way.
    next: Option<Timestamp>,
    asked: Option<(RequestId, AskedFor, Timestamp)>,
    /// The Lease as it was read or written last, and since when its content is known.
    seen: Option<(Object, Timestamp)>,
}

impl LeaderElector {
    /// Starts the first process of a program; `None` for a program that has no leader with these flags.
    #[must_use]
    pub fn new(program: &'static str, settings: &Settings, chance: Chance, now: Timestamp) -> Option<Self> {
        let (prefix, source) = match program {
            "kube-controller-manager" => ("", "kube-controller-manager"),
            "kube-scheduler" => ("scheduler-", "default-scheduler"),
            _ => return None,
        };
        if settings.value(&format!("{prefix}leader-elect")) != Value::Bool(true) {
            return None;
        }
        let time = |name: &str| settings.duration(&format!("{prefix}leader-elect-{name}"));
        let times = ElectionTimes {
            lease_duration: time("lease-duration"),
            renew_deadline: time("renew-deadline"),
            retry_period: time("retry-period"),
        };
        let identity = if prefix.is_empty() { Identity::controller("").of_informers() } else { Identity::scheduler() };
        let mut own = Self {
            program,
            times,
            client: Client::new(identity, settings, now),
            events: EventRecorder::new(source, chance.fork("events")),
            chance,
            outbox: Outbox::default(),
            stage: ElectionStage::Stopped,
            own: Text::default(),
            next: None,
            asked: None,
            seen: None,
        };
        own.start(now);
        Some(own)
    }

    /// Tells whether the process holds the Lease, and so runs the controllers.
    #[must_use]
    pub const fn leads(&self) -> bool {
        matches!(self.stage, ElectionStage::Leader(_))
    }

    /// Tells whether there is a process.
    #[must_use]
    pub const fn is_running(&self) -> bool {
        matches!(self.stage, ElectionStage::Candidate | ElectionStage::Leader(_))
    }

    /// Starts a process, if there is none.
    pub fn start(&mut self, now: Timestamp) {
        if self.is_running() {
            return;
        }
        if let Some(why) = self.times.mistake() {
            self.outbox.decide(self.lease(), format!("{} does not start", self.program), Vec::from([fact(why)]));
            return;
        }
        let process = uuid(&format!("{}/{}", self.program, self.chance.bits()));
        self.own = Text::from(format!("{HOST}_{process}"));
        self.stage = ElectionStage::Candidate;
        self.next = Some(now);
        self.handle_timeout(now);
    }

    /// Ends the process; it does not release its Lease.
    ///
    /// Source: recordings; cmd/kube-controller-manager/app/controllermanager.go (v1.34) sets no `ReleaseOnCancel`.
    pub fn stop(&mut self) {
        self.stage = ElectionStage::Stopped;
        self.next = None;
        self.asked = None;
        self.seen = None;
        self.events = EventRecorder::new(self.events.component(), self.chance.fork("events"));
        self.outbox.push(Output::Exit);
    }

    fn lease(&self) -> Text {
        Text::from(format!("lease/{NAMESPACE}/{}", self.program))
    }

    fn send(&mut self, wanted: AskedFor, call: Call, began: Timestamp) {
        let id = self.outbox.next_id();
        let (identity, timeout) = (Arc::clone(self.client.identity()), Some(self.times.patience()));
        let request = Request { id, identity, ask: Ask::Call(call.into()), timeout, because: None };
        self.outbox.push(Output::Request(request));
        self.asked = Some((id, wanted, began));
        self.next = None;
    }

    /// Begins a try.
    fn attempt(&mut self, now: Timestamp) {
        match &self.seen {
            Some((lease, _)) if holder(lease) == &*self.own && self.is_held(now) => {
                let tree = self.held(lease, now, false);
                let call = Call::new(Verb::Update, LEASES, NAMESPACE, self.program).body(tree);
                self.send(AskedFor::Renewal, call, now);
            }
            _ => self.get(now),
        }
    }

    fn get(&mut self, began: Timestamp) {
        self.send(AskedFor::Get, Call::new(Verb::Get, LEASES, NAMESPACE, self.program), began);
    }

    /// Tells whether the Lease as it was seen has not expired.
    fn is_held(&self, now: Timestamp) -> bool {
        let Some((lease, since)) = &self.seen else { return false };
        let lasts = lease.stable().at(&["spec", "leaseDurationSeconds"]).as_i64().unwrap_or(0);
        since.checked_add(SignedDuration::from_secs(lasts)).is_ok_and(|end| end > now)
    }

    /// Returns a Lease with this process as its holder, which holds it already or takes it over.
    fn held(&self, lease: &Object, now: Timestamp, takes_over: bool) -> Json {
        let mut tree = lease.json();
        let now = Json::from(to_micro_time(now));
        let transitions = tree.at(&["spec", "leaseTransitions"]).as_i64().unwrap_or(0);
        let acquired = if takes_over { now.clone() } else { tree.at(&["spec", "acquireTime"]).clone() };
        tree.set(&["spec"], self.spec(acquired, now, transitions + i64::from(takes_over)));
        tree
    }

    fn spec(&self, acquired: Json, now: Json, transitions: i64) -> Json {
        let lasts = self.times.lease_duration.as_secs();
        let mut spec =
            json!({"holderIdentity": &self.own, "leaseDurationSeconds": lasts, "leaseTransitions": transitions});
        spec.set(&["acquireTime"], acquired);
        spec.set(&["renewTime"], now);
        spec
    }

    fn handle_reply(&mut self, wanted: AskedFor, began: Timestamp, reply: &ApiResult, now: Timestamp) {
        match (wanted, object(reply)) {
            (AskedFor::Renewal | AskedFor::Create | AskedFor::Update, Some(lease)) => {
                self.seen = Some((lease, now));
                self.succeed(now);
            }
            (AskedFor::Renewal, None) => self.get(began),
            (AskedFor::Get, Some(lease)) => self.take(lease, began, now),
            (AskedFor::Get, None) if code(reply) == 404 => {
                let at = Json::from(to_micro_time(began));
                let mut tree = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"});
                tree.set(&["metadata"], json!({"name": self.program, "namespace": NAMESPACE}));
                tree.set(&["spec"], self.spec(at.clone(), at, 0));
                self.send(AskedFor::Create, Call::new(Verb::Create, LEASES, NAMESPACE, "").body(tree), began);
            }
            (AskedFor::Get | AskedFor::Create | AskedFor::Update, None) => self.fail(now),
        }
    }

    /// Takes the Lease as it is, and takes it over if nobody else holds it.
    fn take(&mut self, lease: Object, began: Timestamp, now: Timestamp) {
        let is_known = |(known, _): &(Object, Timestamp)| known.stable().get("spec") == lease.stable().get("spec");
        let since = self.seen.as_ref().filter(|seen| is_known(seen)).map_or(now, |(_, since)| *since);
        let (is_own, is_free) = (holder(&lease) == &*self.own, holder(&lease).is_empty());
        self.seen = Some((lease.clone(), since));
        if !is_own && !is_free && self.is_held(began) {
            return self.fail(now);
        }
        let tree = self.held(&lease, began, !is_own);
        self.send(AskedFor::Update, Call::new(Verb::Update, LEASES, NAMESPACE, self.program).body(tree), began);
    }

    fn succeed(&mut self, now: Timestamp) {
        if self.leads() {
            let next = now + self.times.retry_period;
            self.stage = ElectionStage::Leader(next);
            self.next = Some(next);
            return;
        }
        let decision = self.outbox.decide(self.lease(), "became leader", Vec::from([fact(&self.own)]));
        if let Some((lease, _)) = &self.seen {
            let about = InvolvedObject::object("coordination.k8s.io/v1", "Lease", lease);
            let message = format!("{} became leader", self.own);
            self.events.emit(&about, EventType::Normal, "LeaderElection", &message, Some(decision), now);
        }
        self.stage = ElectionStage::Leader(now);
        self.next = Some(now);
    }

    fn fail(&mut self, now: Timestamp) {
        let pause = match self.stage {
            ElectionStage::Leader(_) => self.times.retry_period,
            _ => self.chance.jitter(self.times.retry_period, JITTER_FACTOR),
        };
        self.next = Some(now + pause);
    }

    /// Returns when a leader gives up that does not renew its Lease before.
    fn end(&self) -> Option<Timestamp> {
        if let ElectionStage::Leader(round) = self.stage { Some(round + self.times.renew_deadline) } else { None }
    }

    fn lose(&mut self, now: Timestamp) {
        let why = format!("the Lease was not renewed for {}", seconds(self.times.renew_deadline));
        self.outbox.decide(self.lease(), "no longer leader: the process ends", Vec::from([fact(&why)]));
        self.stop();
        self.stage = ElectionStage::Starts(now + RESTARTS);
    }
}

fn holder(lease: &Object) -> &str {
    lease.stable().at(&["spec", "holderIdentity"]).as_str().unwrap_or("")
}

fn fact(text: &str) -> Because {
    Because::Fact(String::from(text))
}

impl Component for LeaderElector {
    fn handle_message(&mut self, message: ToClient, now: Timestamp) {
        let ToClient::Response { id, result } = message else { return };
        if self.events.owns(id) {
            self.events.handle_response(&result, now);
        } else if let Some((_, wanted, began)) = self.asked.take_if(|(own, ..)| *own == id) {
            self.handle_reply(wanted, began, &result, now);
        }
        self.handle_timeout(now);
    }

    fn handle_timeout(&mut self, now: Timestamp) {
        self.client.handle_timeout(&mut self.outbox, now);
        if matches!(self.stage, ElectionStage::Starts(at) if at <= now) {
            self.start(now);
        }
        if self.end().is_some_and(|end| end <= now) {
            return self.lose(now);
        }
        if self.next.is_some_and(|next| next <= now) {
            self.attempt(now);
        }
        if self.is_running() {
            self.events.flush(&mut self.client, &mut self.outbox, now);
        }
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outbox.poll()
    }

    fn next_deadline(&self) -> Option<Deadline> {
        let deadline = |at: Option<Timestamp>, reason| at.map(|at| Deadline { at, reason });
        let starts = if let ElectionStage::Starts(at) = self.stage { Some(at) } else { None };
        earliest([
            deadline(starts, "a process starts"),
            deadline(self.end(), "renew deadline"),
            deadline(self.next, "leader election"),
            self.client.next_deadline(),
            self.events.next_deadline(),
        ])
    }
}
