//! The signs of life of one node, and how a health pass judges them.
//!
//! Mirrors `tryUpdateNodeHealth` (pkg/controller/nodelifecycle/node_lifecycle_controller.go, v1.34).
//! Inputs: the cached Node and Lease, the instants of the passes. Outputs: whether the node counts as silent, and the
//! status to write. Invariant: only the controller's own clock decides; the times that a kubelet writes are compared
//! with each other only. A renewed Lease costs one comparison: which pass saw it first is computed on demand.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use crate::components::Because;
use crate::json;
use crate::objects::lifecycle::condition_in;
use crate::objects::time::{self, to_micro_time, to_time};
use crate::objects::{HeartbeatStamp, Json, Object};
use crate::profile::Settings;

/// The status of a condition.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Status {
    True,
    False,
    #[default]
    Unknown,
    /// A text that is none of the three.
    Other,
}

impl Status {
    fn of(text: &str) -> Self {
        match text {
            "True" => Self::True,
            "False" => Self::False,
            "Unknown" => Self::Unknown,
            _ => Self::Other,
        }
    }

    /// Returns the name.
    #[must_use]
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
            Self::Other => "other",
        }
    }
}

/// A Ready condition: status and last heartbeat.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ready {
    /// The status.
    pub(super) status: Status,
    /// `lastHeartbeatTime`, by the kubelet's clock.
    pub(super) heartbeat: Option<Timestamp>,
}

impl Ready {
    /// Reads the condition of a Node; `None` if it has none.
    #[must_use]
    pub(super) fn of(node: &Object) -> Option<Self> {
        let conditions = node.stable().at(&["status", "conditions"]).items();
        let ready = condition_in(conditions, "Ready")?;
        let status = Status::of(ready.get("status").as_str().unwrap_or(""));
        Some(Self { status, heartbeat: node.heartbeat_time("Ready") })
    }
}

/// A node's Lease, or that there is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Renewal {
    /// `spec.renewTime` in microseconds, or [`ABSENT`] or [`EMPTY`].
    micros: i64,
    /// `metadata.resourceVersion`; 0 without a Lease.
    version: u64,
}

/// There is no Lease.
const ABSENT: i64 = i64::MIN;
/// The Lease has no `renewTime`.
const EMPTY: i64 = i64::MIN + 1;

impl Renewal {
    /// There is no Lease.
    pub(super) const NONE: Self = Self { micros: ABSENT, version: 0 };

    /// Reads a Lease.
    #[must_use]
    pub(super) fn of(lease: &Object) -> Self {
        let micros = lease.renew_time().map_or(EMPTY, Timestamp::as_microsecond);
        Self { micros, version: lease.resource_version() }
    }

    /// Reads the stamp of a Lease.
    #[must_use]
    pub(super) fn of_stamp(stamp: HeartbeatStamp) -> Self {
        let micros = stamp.time().map_or(EMPTY, Timestamp::as_microsecond);
        Self { micros, version: stamp.resource_version() }
    }

    /// Tells whether this Lease is a sign of life compared with the saved one.
    #[must_use]
    pub(super) const fn is_newer_than(self, saved: Self) -> bool {
        self.micros != ABSENT
            && (saved.micros == ABSENT || (saved.micros != EMPTY && self.micros != EMPTY && saved.micros < self.micros))
    }

    fn instant(self) -> Option<Timestamp> {
        (self.micros > EMPTY).then(|| Timestamp::from_microsecond(self.micros).ok()).flatten()
    }
}

/// What the last sign of life was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sign {
    /// The creation of the Node, which has no Ready condition.
    Creation,
    /// The controller saw the Node, or its Ready condition, for the first time.
    FirstSeen,
    /// A status with another heartbeat.
    Status,
    /// A Lease with a later renewal.
    Lease,
    /// The end of a disruption of all zones, which gives every node a new grace period.
    DisruptionLeft,
}

/// What is known of a node's health.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Health {
    /// When the controller saw the last sign of life.
    pub(super) probe: Timestamp,
    /// The kind of that sign.
    pub(super) sign: Sign,
    /// The Lease that was saved with it.
    pub(super) saved: Renewal,
    /// The Ready condition that was saved.
    pub(super) ready: Option<Ready>,
}

/// How long a node may be silent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Graces {
    /// With a Ready condition.
    pub(super) running: SignedDuration,
    /// Without one.
    pub(super) startup: SignedDuration,
}

impl Graces {
    /// Reads the flags.
    #[must_use]
    pub(super) fn of(settings: &Settings) -> Self {
        Self {
            running: settings.duration("node-monitor-grace-period"),
            startup: settings.duration("node-startup-grace-period"),
        }
    }

    const fn of_ready(&self, ready: Option<&Ready>) -> SignedDuration {
        if ready.is_some() { self.running } else { self.startup }
    }
}

/// The result of one check of a node.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Found {
    /// The Ready condition's status before the check; Unknown without a condition.
    pub(super) observed: Status,
    /// The status after it, if the write succeeds; `None` without a condition.
    pub(super) current: Option<Status>,
    /// Whether the node has been silent for longer than its grace period.
    pub(super) is_silent: bool,
    /// Whether the conditions have to be written as Unknown.
    pub(super) write: bool,
    /// The grace period that applied.
    pub(super) grace: SignedDuration,
}

/// The signs of life of one node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signs {
    /// `None` until a pass has checked the node.
    pub(super) health: Option<Health>,
    latest: Renewal,
    /// The number of the pass that sees `latest` as a sign of life; [`NEVER`] if none does.
    fresh: u32,
}

const NEVER: u32 = u32::MAX;

impl Default for Signs {
    fn default() -> Self {
        Self { health: None, latest: Renewal::NONE, fresh: NEVER }
    }
}

impl Signs {
    /// Takes the cached Lease; `next` is the number of the next pass, `passes` are the instants of the passes so far.
    pub(super) fn handle_lease(&mut self, renewal: Renewal, next: u32, passes: &[Timestamp]) {
        self.catch_up(next, passes);
        self.latest = renewal;
        self.fresh = match &self.health {
            Some(health) if renewal.is_newer_than(health.saved) => next,
            _ => NEVER,
        };
    }

    /// Updates `health` with the Lease that a pass before the given one saw.
    pub(super) fn catch_up(&mut self, before: u32, passes: &[Timestamp]) {
        if self.fresh < before
            && let Some(health) = &mut self.health
        {
            health.probe = passes[self.fresh as usize];
            health.sign = Sign::Lease;
            health.saved = self.latest;
            self.fresh = NEVER;
        }
    }

    /// Notes that a pass skips the node, and so does not see its Lease.
    pub(super) fn miss(&mut self, pass: u32, passes: &[Timestamp]) {
        self.catch_up(pass, passes);
        if self.fresh == pass {
            self.fresh = pass + 1;
        }
    }

    /// Forgets which pass would see the Lease: the Node is gone, and passes do not check it.
    pub(super) fn stop(&mut self, next: u32, passes: &[Timestamp]) {
        self.catch_up(next, passes);
        self.fresh = NEVER;
    }

    /// Returns the Lease as it is cached.
    #[must_use]
    pub(super) const fn latest(&self) -> Renewal {
        self.latest
    }

    /// Returns the version of the Lease that was saved with the last sign of life; 0 without one.
    #[must_use]
    pub(super) fn saved_version(&self) -> u64 {
        self.health.map_or(0, |health| health.saved.version)
    }

    /// Gives the node a new grace period.
    pub(super) fn reset(&mut self, next: u32, passes: &[Timestamp], now: Timestamp) {
        self.catch_up(next, passes);
        if let Some(health) = &mut self.health {
            health.probe = now;
            health.sign = Sign::DisruptionLeft;
        }
    }

    /// Returns when the node's silence lasts as long as its grace period.
    #[must_use]
    pub(super) fn expiry(&self, graces: &Graces) -> Option<Timestamp> {
        self.health.as_ref().map(|health| health.probe + graces.of_ready(health.ready.as_ref()))
    }

    /// Judges a node in a pass.
    pub(super) fn look(
        &mut self,
        node: &Object,
        graces: &Graces,
        pass: u32,
        passes: &[Timestamp],
        now: Timestamp,
    ) -> Found {
        let created = || created(node).unwrap_or(now);
        self.look_at((Ready::of(node), created), graces, (pass, passes), now)
    }

    /// Judges in a pass a node that was ready at the last check and has changed only in heartbeat times.
    pub(super) fn look_again(
        &mut self,
        node: &Object,
        graces: &Graces,
        pass: u32,
        passes: &[Timestamp],
        now: Timestamp,
    ) -> Found {
        let ready = Ready { status: Status::True, heartbeat: node.heartbeat_time("Ready") };
        self.look_at((Some(ready), || now), graces, (pass, passes), now)
    }

    fn look_at(
        &mut self,
        (ready, created): (Option<Ready>, impl FnOnce() -> Timestamp),
        graces: &Graces,
        (pass, passes): (u32, &[Timestamp]),
        now: Timestamp,
    ) -> Found {
        self.catch_up(pass, passes);
        let grace = graces.of_ready(ready.as_ref());
        let lease_before = self.health.map_or(Renewal::NONE, |health| health.saved);
        let fresh = |sign| Health { probe: now, sign, saved: Renewal::NONE, ready };
        let mut health = match (self.health, ready) {
            // Without a condition the saved one is forgotten, but neither its probe nor its Lease.
            (Some(health), None) => Health { ready: None, ..health },
            (None, None) => Health { probe: created(), sign: Sign::Creation, saved: Renewal::NONE, ready: None },
            (None, Some(_)) => fresh(Sign::FirstSeen),
            (Some(health), Some(now)) => match health.ready {
                None => fresh(Sign::FirstSeen),
                Some(before) if before.heartbeat != now.heartbeat => fresh(Sign::Status),
                Some(_) => health,
            },
        };
        if self.latest.is_newer_than(lease_before) {
            health.probe = now;
            health.sign = Sign::Lease;
            health.saved = self.latest;
        }
        // A new status drops the saved Lease, so the next pass counts the same Lease as a new sign.
        self.fresh = if self.latest.is_newer_than(health.saved) { pass + 1 } else { NEVER };
        self.health = Some(health);
        let observed = ready.map_or(Status::Unknown, |ready| ready.status);
        let is_silent = now > health.probe + grace;
        let write = is_silent && (ready.is_none() || observed != Status::Unknown);
        let current = if write { Some(Status::Unknown) } else { ready.map(|ready| ready.status) };
        Found { observed, current, is_silent, write, grace }
    }

    /// Notes that the conditions were written as Unknown, after a look at the node and its Lease.
    pub(super) fn handle_written(&mut self, (node, lease): (&Object, Renewal), pass: u32) {
        let heartbeat = Ready::of(node).map_or_else(|| created(node), |ready| ready.heartbeat);
        if let Some(health) = &mut self.health {
            health.ready = Some(Ready { status: Status::Unknown, heartbeat });
            health.saved = lease;
            self.fresh = if self.latest.is_newer_than(health.saved) { pass + 1 } else { NEVER };
        }
    }

    /// Returns the reasons why the node counts as silent.
    #[must_use]
    pub(super) fn reasons(&self, found: &Found, now: Timestamp) -> Vec<Because> {
        let Some(health) = &self.health else { return Vec::new() };
        let seen = to_micro_time(health.probe);
        let sign = match health.sign {
            Sign::Lease => health.saved.instant().map_or_else(
                || format!("Lease without renewTime first seen by the health pass at {seen}"),
                |at| format!("Lease renewed at {}, first seen by the health pass at {seen}", to_micro_time(at)),
            ),
            Sign::Status => health.ready.and_then(|ready| ready.heartbeat).map_or_else(
                || format!("status first seen by the health pass at {seen}"),
                |at| format!("status posted at {}, first seen by the health pass at {seen}", to_time(at)),
            ),
            Sign::Creation => format!("Node created at {seen}, no Ready condition and no Lease since"),
            Sign::FirstSeen => format!("Node first seen by the health pass at {seen}, no sign of life since"),
            Sign::DisruptionLeft => format!("the disruption of all zones ended at {seen}, no sign of life since"),
        };
        let which = if found.observed == Status::Unknown { "startup grace period" } else { "grace period" };
        let silence = time::seconds(now.duration_since(health.probe));
        let limit = format!("{silence} > {which} {}", time::seconds(found.grace));
        Vec::from([Because::Fact(sign), Because::Fact(limit)])
    }
}

fn created(node: &Object) -> Option<Timestamp> {
    node.stable().at(&["metadata", "creationTimestamp"]).as_str().and_then(time::parse)
}

/// Returns the Node with Ready and the conditions of a list set to Unknown.
#[must_use]
pub(super) fn silenced(node: &Object, others: &str, now: Timestamp) -> Json {
    let mut body = node.json();
    let created = body.at(&["metadata", "creationTimestamp"]).clone();
    let conditions = body.entry(&["status", "conditions"]).make_array();
    for kind in core::iter::once("Ready").chain(others.split(',')) {
        match conditions.iter_mut().find(|condition| condition.get("type").as_str() == Some(kind)) {
            Some(condition) if condition.get("status").as_str() == Some("Unknown") => {}
            Some(condition) => {
                condition.set(&["status"], "Unknown");
                condition.set(&["reason"], "NodeStatusUnknown");
                condition.set(&["message"], "Kubelet stopped posting node status.");
                condition.set(&["lastTransitionTime"], to_time(now));
            }
            None => {
                let mut condition = json!({"type": kind, "status": "Unknown", "reason": "NodeStatusNeverUpdated",
                    "message": "Kubelet never posted node status.", "lastTransitionTime": to_time(now)});
                condition.set(&["lastHeartbeatTime"], created.clone());
                conditions.push(condition);
            }
        }
    }
    body
}

/// Prints the change of status: `Ready -> Unknown`.
#[must_use]
pub(super) fn change(status: Status) -> String {
    format!("Ready -> {}", status.name())
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::vec::Vec;

    use jiff::{SignedDuration, Timestamp};

    use super::{Graces, Renewal, Sign, Signs, Status, silenced};
    use crate::json;
    use crate::objects::time::{to_micro_time, to_time};
    use crate::objects::{Json, Object};
    use crate::profile::Settings;

    fn at(millis: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_millis(millis)
    }

    fn node(ready: Option<(&str, i64)>) -> Object {
        let mut body = json!({"metadata": {"name": "w1", "creationTimestamp": to_time(at(0))}});
        if let Some((status, heartbeat)) = ready {
            let stamp = to_time(at(heartbeat));
            body.set(
                &["status", "conditions"],
                json!([{"type": "Ready", "status": status, "lastHeartbeatTime": stamp}]),
            );
        }
        Object::new(body, 1)
    }

    fn lease(renewed: i64) -> Renewal {
        Renewal::of(&Object::new(json!({"spec": {"renewTime": to_micro_time(at(renewed))}}), 1))
    }

    /// A node with passes each 5.001 s.
    struct Rig {
        signs: Signs,
        passes: Vec<Timestamp>,
        node: Object,
    }

    impl Rig {
        fn new(node: Object) -> Self {
            Self { signs: Signs::default(), passes: Vec::new(), node }
        }

        fn lease(&mut self, renewed: i64) {
            let next = u32::try_from(self.passes.len()).unwrap();
            self.signs.handle_lease(lease(renewed), next, &self.passes);
        }

        /// Makes passes until one wants to write, and returns how many were made.
        fn passes_until_silent(&mut self) -> usize {
            for number in 1..100 {
                let pass = u32::try_from(self.passes.len()).unwrap();
                let now = at(i64::from(pass) * 5001);
                self.passes.push(now);
                let graces = Graces::of(&Settings::default());
                if self.signs.look(&self.node, &graces, pass, &self.passes, now).write {
                    return number;
                }
            }
            panic!("never silent");
        }

        fn pass(&mut self) {
            let pass = u32::try_from(self.passes.len()).unwrap();
            let now = at(i64::from(pass) * 5001);
            self.passes.push(now);
            self.signs.look(&self.node, &Graces::of(&Settings::default()), pass, &self.passes, now);
        }
    }

    #[test]
    fn a_node_is_silent_at_the_tenth_pass_after_the_one_that_saw_its_last_sign() {
        let mut rig = Rig::new(node(Some(("True", 0))));
        assert_eq!(rig.passes_until_silent(), 11);
    }

    #[test]
    fn a_status_write_without_a_renewal_adds_one_pass_if_there_is_a_lease() {
        for (with_lease, passes) in [(false, 10), (true, 11)] {
            let mut rig = Rig::new(node(Some(("True", 0))));
            if with_lease {
                rig.lease(0);
            }
            rig.pass();
            rig.node = node(Some(("True", 6000)));
            rig.pass();
            assert_eq!(rig.passes_until_silent(), passes, "with lease: {with_lease}");
        }
    }

    #[test]
    fn a_lease_counts_only_when_its_renew_time_grows_whatever_the_kubelets_clock_says() {
        let mut rig = Rig::new(node(Some(("True", 0))));
        rig.lease(-3_600_000);
        rig.pass();
        rig.lease(-3_590_000);
        rig.pass();
        rig.lease(-3_595_000);
        rig.pass();
        assert_eq!(rig.signs.health.map(|health| (health.probe, health.sign)), Some((at(5001), Sign::Lease)));
    }

    #[test]
    fn a_node_without_condition_has_the_startup_grace_from_its_creation() {
        let mut rig = Rig::new(node(None));
        assert_eq!(rig.passes_until_silent(), 13);
        let mut with_lease = Rig::new(node(None));
        with_lease.pass();
        with_lease.lease(0);
        assert_eq!(with_lease.passes_until_silent(), 13);
    }

    #[test]
    fn conditions_become_unknown_and_keep_their_heartbeat() {
        let mut body = node(Some(("True", 7000))).json();
        let conditions = body.entry(&["status", "conditions"]).make_array();
        conditions.push(json!({"type": "NetworkUnavailable", "status": "False"}));
        conditions.push(json!({"type": "DiskPressure", "status": "Unknown", "reason": "own"}));
        let after = silenced(&Object::new(body, 2), "MemoryPressure,DiskPressure,PIDPressure", at(60_000));
        let lines: Vec<_> = after
            .at(&["status", "conditions"])
            .items()
            .iter()
            .map(|condition| {
                let field = |name| condition.get(name).as_str().unwrap_or("-");
                format!("{} {} {} {}", field("type"), field("status"), field("reason"), field("lastHeartbeatTime"))
            })
            .collect();
        assert_eq!(
            lines,
            [
                "Ready Unknown NodeStatusUnknown 1970-01-01T00:00:07Z",
                "NetworkUnavailable False - -",
                "DiskPressure Unknown own -",
                "MemoryPressure Unknown NodeStatusNeverUpdated 1970-01-01T00:00:00Z",
                "PIDPressure Unknown NodeStatusNeverUpdated 1970-01-01T00:00:00Z",
            ]
        );
        assert_eq!(
            after.at(&["status", "conditions"]).items().iter().filter(|one| one.get("reason").is_null()).count(),
            1
        );
        let _: Json = after;
    }

    #[test]
    fn an_unknown_node_is_not_written_again() {
        let mut signs = Signs::default();
        let passes = [at(0), at(100_000)];
        let graces = Graces::of(&Settings::default());
        let unknown = node(Some(("Unknown", 0)));
        signs.look(&unknown, &graces, 0, &passes, passes[0]);
        let found = signs.look(&unknown, &graces, 1, &passes, passes[1]);
        assert!(!found.write);
        assert_eq!(found.current, Some(Status::Unknown));
    }
}
