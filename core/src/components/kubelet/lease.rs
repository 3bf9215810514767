//! The Lease of a node: renewed each quarter of its duration, and made anew where it is missing.
//!
//! Mirrors k8s.io/component-helpers/apimachinery/lease/controller.go and pkg/kubelet/util/nodelease.go (v1.34): five
//! immediate updates of the Lease seen last, then look for it, or create it, with a back-off that has no end.
//! Invariant: at most one request of the Lease is under way.

use alloc::format;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::{Kubelet, Outcome, Purpose, Timer, Turn, failure};
use crate::components::Because;
use crate::json;
use crate::network::{Ask, Call, LEASES, NODE_LEASES, Verb};
use crate::objects::time::{seconds, to_micro_time, whole_micros};
use crate::objects::{Beat, Json, Object, Text};

/// The part of its duration after which a lease is renewed. Source: pkg/kubelet/kubelet.go (v1.34), `nodeLeaseRenewIntervalFraction`.
pub(super) const RENEW_FRACTION: f64 = 0.25;
/// Immediate updates. Source: lease/controller.go (v1.34), `maxUpdateRetries`.
const UPDATES_MAX: u8 = 5;
/// The pause that the first back-off doubles. Source: as above, `backoffEnsureLease`: `sleep := 100 * time.Millisecond`.
const BACKOFF_BASE: SignedDuration = SignedDuration::from_millis(100);
/// The longest pause. Source: as above, `maxBackoff`.
const BACKOFF_MAX: SignedDuration = SignedDuration::from_secs(7);

/// What an answer is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// The owner was looked up for an update.
    OwnerForUpdate,
    /// An update.
    Update,
    /// The Lease was looked up.
    Get,
    /// The owner was looked up for a new Lease.
    OwnerForCreate,
    /// A new Lease.
    Create,
}

/// Why the Lease is looked up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Ensure {
    /// There is none yet, or the updates failed.
    #[default]
    Sync,
    /// An update met another revision.
    Conflict,
}

/// The lease controller.
#[derive(Clone, Debug, Default)]
pub(super) struct Lease {
    latest: Option<Object>,
    /// The tree whose renewal was found to change the time alone.
    plain: Option<Json>,
    base: Option<Object>,
    updates: u8,
    is_fallback: bool,
    ensure: Ensure,
    pause: SignedDuration,
    sent: Option<Timestamp>,
    renewed: Option<Timestamp>,
    is_failing: bool,
}

impl Lease {
    /// Returns when the last renewal succeeded.
    pub(super) const fn renewed(&self) -> Option<Timestamp> {
        self.renewed
    }

    /// Returns the Lease, if the next renewal goes well unless the server refuses it, and changes the time alone.
    pub(super) fn plain_latest(&self) -> Option<&Object> {
        let (latest, plain) = (self.latest.as_ref()?, self.plain.as_ref()?);
        (!self.is_failing && plain.is_same_allocation(latest.stable())).then_some(latest)
    }

    /// Notes a renewal of [`Self::plain_latest`] that was sent and answered at once.
    pub(super) fn note_renewal(&mut self, beat: Beat, now: Timestamp) {
        if let Some(latest) = &mut self.latest {
            latest.take(beat);
        }
        self.base = None;
        self.updates = 0;
        self.is_fallback = false;
        self.sent = Some(now);
        self.renewed = Some(now);
    }
}

impl Kubelet {
    /// Returns the Lease that the update in hand goes on from.
    #[must_use]
    pub fn lease_in_hand(&self) -> Option<&Object> {
        self.lease.base.as_ref()
    }

    /// Begins a round.
    pub(super) fn sync_lease(&mut self, turn: &mut Turn<'_>) {
        self.lease.is_fallback = false;
        match self.lease.latest.clone() {
            Some(latest) => self.begin_updates(latest, turn),
            None => self.begin_ensure(Ensure::Sync, turn),
        }
    }

    fn begin_updates(&mut self, base: Object, turn: &mut Turn<'_>) {
        self.lease.base = Some(base);
        self.lease.updates = 0;
        self.update_lease(turn);
    }

    fn begin_ensure(&mut self, why: Ensure, turn: &mut Turn<'_>) {
        self.lease.ensure = why;
        self.lease.pause = BACKOFF_BASE;
        self.ensure_lease(turn);
    }

    /// Looks for the Lease.
    pub(super) fn ensure_lease(&mut self, turn: &mut Turn<'_>) {
        let get = Call::new(Verb::Get, LEASES, NODE_LEASES, &self.config.node_name);
        self.heartbeat_call(get, None, Purpose::Lease(Step::Get), turn);
    }

    /// Tells whether a renewal of a Lease changes nothing but its time.
    fn is_plain(&mut self, base: &Object) -> bool {
        let tree = base.stable();
        if self.lease.plain.as_ref().is_some_and(|plain| plain.is_same_allocation(tree)) {
            return true;
        }
        let is_plain = tree.at(&["spec", "leaseDurationSeconds"]).as_i64() == Some(self.config.lease_duration_seconds)
            && !tree.at(&["metadata", "ownerReferences"]).items().is_empty();
        self.lease.plain = is_plain.then(|| tree.clone());
        is_plain
    }

    fn update_lease(&mut self, turn: &mut Turn<'_>) {
        self.lease.sent = Some(turn.now);
        // Without a Lease to go on from, as after its Node was deleted, each update begins with a look for the owner.
        let Some(base) = self.lease.base.clone() else {
            return self.heartbeat_call(self.get_node(), None, Purpose::Lease(Step::OwnerForUpdate), turn);
        };
        if self.is_plain(&base) {
            let ask = Ask::RenewLease {
                name: self.config.node_name.clone(),
                renew_time: whole_micros(turn.wall()),
                resource_version: base.resource_version(),
                place: base.place(),
            };
            let timeout = Some(self.config.heartbeat_timeout());
            self.send(ask, timeout, None, Purpose::Lease(Step::Update), turn);
        } else if base.stable().at(&["metadata", "ownerReferences"]).items().is_empty() {
            self.heartbeat_call(self.get_node(), None, Purpose::Lease(Step::OwnerForUpdate), turn);
        } else {
            self.put_lease(base.json(), turn);
        }
    }

    fn put_lease(&mut self, mut body: Json, turn: &mut Turn<'_>) {
        body.set(&["spec", "leaseDurationSeconds"], self.config.lease_duration_seconds);
        body.set(&["spec", "renewTime"], to_micro_time(turn.wall()));
        let put = Call::new(Verb::Update, LEASES, NODE_LEASES, &self.config.node_name).body(body);
        self.heartbeat_call(put, None, Purpose::Lease(Step::Update), turn);
    }

    fn owner(&self, node: &Object) -> Json {
        json!([{"apiVersion": "v1", "kind": "Node", "name": self.config.node_name.as_str(), "uid": node.uid()}])
    }

    /// Takes an answer.
    pub(super) fn handle_lease(&mut self, step: Step, outcome: Outcome, turn: &mut Turn<'_>) {
        let code = outcome.as_ref().map_or(0, |answer| answer.code);
        let is_success = outcome.as_ref().is_ok_and(crate::network::Answer::is_success);
        let why = if is_success { None } else { failure(&outcome) };
        let object = outcome.ok().and_then(|answer| answer.as_object().cloned());
        match step {
            Step::Update if is_success => {
                self.renewed(object, turn);
                self.finish_lease(turn);
            }
            Step::Update if code == 409 => self.begin_ensure(Ensure::Conflict, turn),
            Step::Update => self.update_failed(&why.unwrap_or_default(), turn),
            Step::OwnerForUpdate => match object {
                Some(node) if is_success => {
                    let mut body = self.lease.base.as_ref().map_or_else(|| self.bare_lease(), Object::json);
                    body.set(&["metadata", "ownerReferences"], self.owner(&node));
                    self.put_lease(body, turn);
                }
                _ => self.update_failed(&why.unwrap_or_default(), turn),
            },
            Step::Get if is_success => self.ensured(object, turn),
            Step::Get if code == 404 => {
                self.heartbeat_call(self.get_node(), None, Purpose::Lease(Step::OwnerForCreate), turn);
            }
            Step::OwnerForCreate => match object {
                Some(node) if is_success => self.create_lease(&node, turn),
                // Without its owner there is no Lease, and no error: the next round tries again.
                _ => self.ensured(None, turn),
            },
            Step::Create if is_success => {
                self.renewed(object.clone(), turn);
                if self.lease.ensure == Ensure::Conflict {
                    self.ensured(object, turn);
                } else {
                    self.finish_lease(turn);
                }
            }
            Step::Get | Step::Create => self.back_off(&why.unwrap_or_default(), turn),
        }
    }

    fn bare_lease(&self) -> Json {
        let name = self.config.node_name.as_str();
        json!({
            "kind": "Lease", "apiVersion": "coordination.k8s.io/v1",
            "metadata": {"name": name, "namespace": NODE_LEASES},
            "spec": {"holderIdentity": name, "leaseDurationSeconds": self.config.lease_duration_seconds},
        })
    }

    fn create_lease(&mut self, node: &Object, turn: &mut Turn<'_>) {
        self.lease.sent = Some(turn.now);
        let mut body = self.bare_lease();
        body.set(&["spec", "renewTime"], to_micro_time(turn.wall()));
        body.set(&["metadata", "ownerReferences"], self.owner(node));
        let create = Call::new(Verb::Create, LEASES, NODE_LEASES, "").body(body);
        self.heartbeat_call(create, None, Purpose::Lease(Step::Create), turn);
    }

    fn renewed(&mut self, object: Option<Object>, turn: &mut Turn<'_>) {
        if self.lease.is_failing {
            self.lease.is_failing = false;
            let since = self.lease.renewed.map_or_else(
                || "never renewed before".into(),
                |last| format!("last renewed {} ago", seconds(turn.now.duration_since(last))),
            );
            turn.outbox.decide(self.about_lease(), "renewed again", Vec::from([Because::Fact(since)]));
        }
        self.lease.latest = object;
        self.lease.renewed = self.lease.sent;
    }

    /// Goes on with the Lease that was found; `None` where there can be none.
    fn ensured(&mut self, found: Option<Object>, turn: &mut Turn<'_>) {
        match self.lease.ensure {
            Ensure::Sync => {
                self.lease.latest.clone_from(&found);
                match found {
                    Some(found) => {
                        self.lease.is_fallback = true;
                        self.begin_updates(found, turn);
                    }
                    None => self.finish_lease(turn),
                }
            }
            Ensure::Conflict => {
                self.lease.base = found;
                self.next_update(turn);
            }
        }
    }

    /// Tries again over the same connection: a kubelet closes idle ones here, and watches keep its only one busy.
    ///
    /// Source: cmd/kubelet/app/server.go (v1.34), `onHeartbeatFailure`; golang.org/x/net http2, `closeIfIdle`.
    fn update_failed(&mut self, why: &str, turn: &mut Turn<'_>) {
        self.note_lease_failure(why, turn);
        self.next_update(turn);
    }

    fn next_update(&mut self, turn: &mut Turn<'_>) {
        self.lease.updates += 1;
        if self.lease.updates < UPDATES_MAX {
            self.update_lease(turn);
        } else if self.lease.is_fallback {
            self.finish_lease(turn);
        } else {
            self.log("failed to update lease using latest lease, fallback to ensure lease".into(), turn);
            self.begin_ensure(Ensure::Sync, turn);
        }
    }

    fn back_off(&mut self, why: &str, turn: &mut Turn<'_>) {
        self.note_lease_failure(why, turn);
        self.lease.pause = (self.lease.pause * 2).min(BACKOFF_MAX);
        self.set(Timer::LeaseRetry, turn.now + self.lease.pause);
    }

    fn note_lease_failure(&mut self, why: &str, turn: &mut Turn<'_>) {
        if !self.lease.is_failing {
            self.lease.is_failing = true;
            let facts = Vec::from([Because::Fact(why.into())]);
            turn.outbox.decide(self.about_lease(), "cannot be renewed: trying again, at most 7s apart", facts);
        }
    }

    fn about_lease(&self) -> Text {
        Text::from(format!("lease/{}", self.config.node_name))
    }

    fn finish_lease(&mut self, turn: &mut Turn<'_>) {
        self.lease.base = None;
        let next = turn.now + self.chance.pause(self.pauses.lease);
        self.set(Timer::LeaseSync, next);
    }
}
