//! The Lease of a node: renewed each quarter of its duration, and created if it is missing.
//!
//! Mirrors k8s.io/component-helpers/apimachinery/lease/controller.go and pkg/kubelet/util/nodelease.go (v1.34): up to
//! five immediate updates of the Lease seen last; then the Lease is read, or created, with an endless back-off. Inputs:
//! timers, answers. Outputs: requests, and a decision when renewals begin to fail or succeed again. Invariant: at most
//! one request of the Lease is under way.

use alloc::format;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::{ApiResult, Kubelet, KubeletContext, Purpose, Timer, failure};
use crate::components::Because;
use crate::json;
use crate::network::{Ask, Call, LEASES, NODE_LEASES, Verb};
use crate::objects::time::{seconds, to_micro_time, whole_micros};
use crate::objects::{HeartbeatStamp, Json, Object, Text};

/// The part of its duration after which a lease is renewed. Source: pkg/kubelet/kubelet.go (v1.34),
/// `nodeLeaseRenewIntervalFraction`.
pub(super) const RENEW_FRACTION: f64 = 0.25;
/// Immediate updates. Source: lease/controller.go (v1.34), `maxUpdateRetries`.
const UPDATES_MAX: u8 = 5;
/// Half of the first pause. Source: as above, `backoffEnsureLease`: `sleep := 100 * time.Millisecond`.
const BACKOFF_BASE: SignedDuration = SignedDuration::from_millis(100);
/// The longest pause. Source: as above, `maxBackoff`.
const BACKOFF_MAX: SignedDuration = SignedDuration::from_secs(7);

/// What an answer is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LeasePurpose {
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
    /// The tree for which a renewal is known to change the time alone.
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

    /// Returns the Lease, if the next renewal is a single update that changes the time alone.
    pub(super) fn plain_latest(&self) -> Option<&Object> {
        let (latest, plain) = (self.latest.as_ref()?, self.plain.as_ref()?);
        (!self.is_failing && plain.is_same_allocation(latest.stable())).then_some(latest)
    }

    /// Notes a renewal of [`Self::plain_latest`] that was made without a message.
    pub(super) fn note_renewal(&mut self, stamp: HeartbeatStamp, now: Timestamp) {
        if let Some(latest) = &mut self.latest {
            latest.take(stamp);
        }
        self.base = None;
        self.updates = 0;
        self.is_fallback = false;
        self.sent = Some(now);
        self.renewed = Some(now);
    }
}

impl Kubelet {
    /// Returns the Lease on which the update under way is based.
    #[must_use]
    pub fn lease_in_hand(&self) -> Option<&Object> {
        self.lease.base.as_ref()
    }

    /// Begins a round.
    pub(super) fn sync_lease(&mut self, context: &mut KubeletContext<'_>) {
        self.lease.is_fallback = false;
        match self.lease.latest.clone() {
            Some(latest) => self.begin_updates(latest, context),
            None => self.begin_ensure(Ensure::Sync, context),
        }
    }

    fn begin_updates(&mut self, base: Object, context: &mut KubeletContext<'_>) {
        self.lease.base = Some(base);
        self.lease.updates = 0;
        self.update_lease(context);
    }

    fn begin_ensure(&mut self, why: Ensure, context: &mut KubeletContext<'_>) {
        self.lease.ensure = why;
        self.lease.pause = BACKOFF_BASE;
        self.ensure_lease(context);
    }

    /// Reads the Lease.
    pub(super) fn ensure_lease(&mut self, context: &mut KubeletContext<'_>) {
        let get = Call::new(Verb::Get, LEASES, NODE_LEASES, &self.config.node_name);
        self.heartbeat_call(get, None, Purpose::Lease(LeasePurpose::Get), context);
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

    fn update_lease(&mut self, context: &mut KubeletContext<'_>) {
        self.lease.sent = Some(context.now);
        // Without a known Lease, as after its Node was deleted, each update first reads the owner.
        let Some(base) = self.lease.base.clone() else {
            return self.heartbeat_call(self.get_node(), None, Purpose::Lease(LeasePurpose::OwnerForUpdate), context);
        };
        if self.is_plain(&base) {
            let ask = Ask::RenewLease {
                name: self.config.node_name.clone(),
                renew_time: whole_micros(context.wall()),
                resource_version: base.resource_version(),
                place: base.place(),
            };
            let timeout = Some(self.config.heartbeat_timeout());
            self.send(ask, timeout, None, Purpose::Lease(LeasePurpose::Update), context);
        } else if base.stable().at(&["metadata", "ownerReferences"]).items().is_empty() {
            self.heartbeat_call(self.get_node(), None, Purpose::Lease(LeasePurpose::OwnerForUpdate), context);
        } else {
            self.put_lease(base.json(), context);
        }
    }

    fn put_lease(&mut self, mut body: Json, context: &mut KubeletContext<'_>) {
        body.set(&["spec", "leaseDurationSeconds"], self.config.lease_duration_seconds);
        body.set(&["spec", "renewTime"], to_micro_time(context.wall()));
        let put = Call::new(Verb::Update, LEASES, NODE_LEASES, &self.config.node_name).body(body);
        self.heartbeat_call(put, None, Purpose::Lease(LeasePurpose::Update), context);
    }

    fn owner(&self, node: &Object) -> Json {
        json!([{"apiVersion": "v1", "kind": "Node", "name": self.config.node_name.as_str(), "uid": node.uid()}])
    }

    /// Takes an answer.
    pub(super) fn handle_lease(&mut self, step: LeasePurpose, outcome: ApiResult, context: &mut KubeletContext<'_>) {
        let code = outcome.as_ref().map_or(0, |answer| answer.code);
        let is_success = outcome.as_ref().is_ok_and(crate::network::Answer::is_success);
        let why = if is_success { None } else { failure(&outcome) };
        let object = outcome.ok().and_then(|answer| answer.as_object().cloned());
        match step {
            LeasePurpose::Update if is_success => {
                self.renewed(object, context);
                self.finish_lease(context);
            }
            LeasePurpose::Update if code == 409 => self.begin_ensure(Ensure::Conflict, context),
            LeasePurpose::Update => self.update_failed(&why.unwrap_or_default(), context),
            LeasePurpose::OwnerForUpdate => match object {
                Some(node) if is_success => {
                    let mut body = self.lease.base.as_ref().map_or_else(|| self.bare_lease(), Object::json);
                    body.set(&["metadata", "ownerReferences"], self.owner(&node));
                    self.put_lease(body, context);
                }
                _ => self.update_failed(&why.unwrap_or_default(), context),
            },
            LeasePurpose::Get if is_success => self.ensured(object, context),
            LeasePurpose::Get if code == 404 => {
                self.heartbeat_call(self.get_node(), None, Purpose::Lease(LeasePurpose::OwnerForCreate), context);
            }
            LeasePurpose::OwnerForCreate => match object {
                Some(node) if is_success => self.create_lease(&node, context),
                // Without its owner no Lease is created, and that is no error: the next round tries again.
                _ => self.ensured(None, context),
            },
            LeasePurpose::Create if is_success => {
                self.renewed(object.clone(), context);
                if self.lease.ensure == Ensure::Conflict {
                    self.ensured(object, context);
                } else {
                    self.finish_lease(context);
                }
            }
            LeasePurpose::Get | LeasePurpose::Create => self.back_off(&why.unwrap_or_default(), context),
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

    fn create_lease(&mut self, node: &Object, context: &mut KubeletContext<'_>) {
        self.lease.sent = Some(context.now);
        let mut body = self.bare_lease();
        body.set(&["spec", "renewTime"], to_micro_time(context.wall()));
        body.set(&["metadata", "ownerReferences"], self.owner(node));
        let create = Call::new(Verb::Create, LEASES, NODE_LEASES, "").body(body);
        self.heartbeat_call(create, None, Purpose::Lease(LeasePurpose::Create), context);
    }

    fn renewed(&mut self, object: Option<Object>, context: &mut KubeletContext<'_>) {
        if self.lease.is_failing {
            self.lease.is_failing = false;
            let since = self.lease.renewed.map_or_else(
                || "never renewed before".into(),
                |last| format!("last renewed {} ago", seconds(context.now.duration_since(last))),
            );
            context.outbox.decide(self.about_lease(), "renewed again", Vec::from([Because::Fact(since)]));
        }
        self.lease.latest = object;
        self.lease.renewed = self.lease.sent;
    }

    /// Continues with the Lease that was found or created; `None` without an owner.
    fn ensured(&mut self, found: Option<Object>, context: &mut KubeletContext<'_>) {
        match self.lease.ensure {
            Ensure::Sync => {
                self.lease.latest.clone_from(&found);
                match found {
                    Some(found) => {
                        self.lease.is_fallback = true;
                        self.begin_updates(found, context);
                    }
                    None => self.finish_lease(context),
                }
            }
            Ensure::Conflict => {
                self.lease.base = found;
                self.next_update(context);
            }
        }
    }

    /// Tries again over the same connection: a kubelet closes idle ones here, and watches keep its only one busy.
    ///
    /// Source: cmd/kubelet/app/server.go (v1.34), `onHeartbeatFailure`; golang.org/x/net http2, `closeIfIdle`.
    fn update_failed(&mut self, why: &str, context: &mut KubeletContext<'_>) {
        self.note_lease_failure(why, context);
        self.next_update(context);
    }

    fn next_update(&mut self, context: &mut KubeletContext<'_>) {
        self.lease.updates += 1;
        if self.lease.updates < UPDATES_MAX {
            self.update_lease(context);
        } else if self.lease.is_fallback {
            self.finish_lease(context);
        } else {
            self.log("failed to update lease using latest lease, fallback to ensure lease".into(), context);
            self.begin_ensure(Ensure::Sync, context);
        }
    }

    fn back_off(&mut self, why: &str, context: &mut KubeletContext<'_>) {
        self.note_lease_failure(why, context);
        self.lease.pause = (self.lease.pause * 2).min(BACKOFF_MAX);
        self.set(Timer::LeaseRetry, context.now + self.lease.pause);
    }

    fn note_lease_failure(&mut self, why: &str, context: &mut KubeletContext<'_>) {
        if !self.lease.is_failing {
            self.lease.is_failing = true;
            let facts = Vec::from([Because::Fact(why.into())]);
            context.outbox.decide(self.about_lease(), "cannot be renewed: trying again, at most 7s apart", facts);
        }
    }

    fn about_lease(&self) -> Text {
        Text::from(format!("lease/{}", self.config.node_name))
    }

    fn finish_lease(&mut self, context: &mut KubeletContext<'_>) {
        self.lease.base = None;
        let next = context.now + self.renewal_pause(context.now);
        self.set(Timer::LeaseSync, next);
    }
}
