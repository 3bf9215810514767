//! Zones: the state of each, and how fast its nodes may get NoExecute taints.
//!
//! Mirrors `ComputeZoneState`, `handleDisruption` and `setLimiterInZone` of
//! pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34) and `GetZoneKey` of
//! staging/src/k8s.io/component-helpers/node/topology/helpers.go (v1.34). Inputs: nodes with their zone and readiness,
//! the end of a pass. Outputs: changes of states and rates. Invariant: the counts hold the result of each node's last
//! check, so a pass costs what changed. A zone without counted nodes is dropped in the same pass; upstream's map order
//! may keep it for some passes more.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use core::fmt;

use jiff::Timestamp;

use super::queue::TaintQueue;
use crate::objects::{Json, Text};
use crate::profile::Settings;

/// Region and zone of a node; decisions about a zone name it as this is printed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct ZoneKey {
    /// The region label; empty without one.
    pub region: Text,
    /// The zone label; empty without one.
    pub zone: Text,
}

impl ZoneKey {
    /// Reads the labels of a Node: the beta label wins, even if it is empty.
    #[must_use]
    pub(super) fn of(node: &Json) -> Self {
        let labels = node.at(&["metadata", "labels"]);
        let label = |beta: &str, stable: &str| {
            labels.get(beta).as_text().or_else(|| labels.get(stable).as_text()).cloned().unwrap_or_default()
        };
        Self {
            region: label("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
            zone: label("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
        }
    }
}

impl fmt::Display for ZoneKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.region.is_empty(), self.zone.is_empty()) {
            (true, true) => f.write_str("without a name"),
            (true, false) => f.write_str(&self.zone),
            (false, _) => write!(f, "{}/{}", self.region, self.zone),
        }
    }
}

/// The disruption state of a zone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ZoneState {
    Initial,
    Normal,
    PartialDisruption,
    FullDisruption,
}

impl ZoneState {
    /// Returns the name as Kubernetes prints it.
    #[must_use]
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Initial => "Initial",
            Self::Normal => "Normal",
            Self::PartialDisruption => "PartialDisruption",
            Self::FullDisruption => "FullDisruption",
        }
    }
}

/// The flags about evictions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Rates {
    /// Nodes per second in a zone that is not partly disrupted.
    pub(super) normal: f64,
    /// Nodes per second in a large zone that is partly disrupted.
    pub(super) secondary: f64,
    /// A zone of more nodes than this is large.
    pub(super) large: f64,
    /// The share of unready nodes from which a zone is partly disrupted.
    pub(super) threshold: f64,
}

impl Rates {
    /// Reads the flags.
    #[must_use]
    pub(super) fn of(settings: &Settings) -> Self {
        Self {
            normal: settings.number("node-eviction-rate"),
            secondary: settings.number("secondary-node-eviction-rate"),
            large: settings.number("large-cluster-size-threshold"),
            threshold: settings.number("unhealthy-zone-threshold"),
        }
    }
}

/// One zone.
#[derive(Clone, Debug)]
pub(super) struct Zone {
    /// `None` while no counted node is in it.
    pub(super) state: Option<ZoneState>,
    /// The nodes that wait for a NoExecute taint.
    pub(super) queue: TaintQueue,
    /// Counted nodes whose Ready condition is True.
    pub(super) ready: usize,
    /// Counted nodes whose Ready condition is anything else, or absent.
    pub(super) not_ready: usize,
    /// How often a node of it got a NoExecute taint.
    pub(super) evictions: u64,
}

impl Zone {
    fn new(rates: &Rates, now: Timestamp) -> Self {
        let queue = TaintQueue::new(rates.normal, now);
        Self { state: Some(ZoneState::Initial), queue, ready: 0, not_ready: 0, evictions: 0 }
    }

    const fn size(&self) -> usize {
        self.ready + self.not_ready
    }

    /// Computes the state from the counts.
    #[must_use]
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "upstream compares float32")]
    pub(super) fn computed(&self, rates: &Rates) -> ZoneState {
        if self.ready == 0 && self.not_ready > 0 {
            ZoneState::FullDisruption
        } else if self.not_ready > 2 && self.not_ready as f32 / self.size() as f32 >= rates.threshold as f32 {
            ZoneState::PartialDisruption
        } else {
            ZoneState::Normal
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a zone has fewer than 2^52 nodes")]
    fn rate(&self, state: ZoneState, rates: &Rates) -> Option<f64> {
        match state {
            ZoneState::Normal | ZoneState::FullDisruption => Some(rates.normal),
            ZoneState::PartialDisruption if self.size() as f64 > rates.large => Some(rates.secondary),
            ZoneState::PartialDisruption => Some(0.0),
            ZoneState::Initial => None,
        }
    }

    fn shares(&self, rates: &Rates) -> String {
        format!(
            "{} of {} nodes are not ready (threshold {} and more than 2)",
            self.not_ready,
            self.size(),
            rates.threshold
        )
    }
}

/// A change of one zone, for a decision.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct ZoneChange {
    /// The zone.
    pub(super) zone: ZoneKey,
    /// State before and after.
    pub(super) states: (ZoneState, ZoneState),
    /// Rate before and after.
    pub(super) rates: (f64, f64),
    /// Why.
    pub(super) shares: String,
}

/// The result of a pass for all zones.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Disruption {
    /// The zones whose state changed, perhaps none.
    Zones(alloc::vec::Vec<ZoneChange>),
    /// No counted node is ready any more: evictions stop and NoExecute taints go.
    Entered,
    /// Some node is ready again: every node gets a new grace period.
    Left(alloc::vec::Vec<ZoneChange>),
}

/// All zones.
#[derive(Clone, Debug, Default)]
pub(super) struct Zones(BTreeMap<ZoneKey, Zone>);

impl Zones {
    /// Returns the zones in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&ZoneKey, &Zone)> {
        self.0.iter()
    }

    /// Returns a zone.
    #[must_use]
    pub(super) fn get(&self, key: &ZoneKey) -> Option<&Zone> {
        self.0.get(key)
    }

    /// Returns a zone for a change.
    pub(super) fn get_mut(&mut self, key: &ZoneKey) -> Option<&mut Zone> {
        self.0.get_mut(key)
    }

    /// Tells whether the zone is in use.
    #[must_use]
    pub(super) fn is_known(&self, key: &ZoneKey) -> bool {
        self.0.get(key).is_some_and(|zone| zone.state.is_some())
    }

    /// Makes a zone with an empty queue and a full limiter, if it is not in use.
    pub(super) fn ensure(&mut self, key: &ZoneKey, rates: &Rates, now: Timestamp) {
        if let Some(zone) = self.0.get_mut(key) {
            if zone.state.is_none() {
                zone.state = Some(ZoneState::Initial);
                zone.queue = zone.queue.renewed(rates.normal, now);
            }
        } else {
            self.0.insert(key.clone(), Zone::new(rates, now));
        }
    }

    /// Returns a zone's queue. A zone that a label introduced in the middle of a pass gets one (upstream crashes
    /// there).
    pub(super) fn queue(&mut self, key: &ZoneKey, rates: &Rates, now: Timestamp) -> &mut TaintQueue {
        &mut self.0.entry(key.clone()).or_insert_with(|| Zone::new(rates, now)).queue
    }

    /// Lets the nodes take turns whose zone no node counts in: each pass makes such a zone a new queue with all of them
    /// and a full limiter, and where upstream's order is arbitrary, the first by name would be taken again and again.
    pub(super) fn take_turns(&mut self, since: Timestamp) {
        self.0.values_mut().filter(|zone| zone.size() == 0).for_each(|zone| zone.queue.take_turns(since));
    }

    /// Counts a node in its zone, and no longer in the zone of its last check.
    pub(super) fn recount(
        &mut self,
        before: Option<&(ZoneKey, bool)>,
        after: Option<&(ZoneKey, bool)>,
        rates: &Rates,
        now: Timestamp,
    ) {
        if before == after {
            return;
        }
        if let Some((key, ready)) = before
            && let Some(zone) = self.0.get_mut(key)
        {
            *if *ready { &mut zone.ready } else { &mut zone.not_ready } -= 1;
        }
        if let Some((key, ready)) = after {
            let zone = self.0.entry(key.clone()).or_insert_with(|| Zone::new(rates, now));
            *if *ready { &mut zone.ready } else { &mut zone.not_ready } += 1;
        }
    }

    /// Tells whether a pass that ended now would change no state.
    #[must_use]
    pub(super) fn is_settled(&self, rates: &Rates) -> bool {
        self.0.values().filter(|zone| zone.size() > 0).all(|zone| zone.state == Some(zone.computed(rates)))
    }

    /// Ends a pass: computes states and sets limiters.
    pub(super) fn handle_disruption(&mut self, rates: &Rates, now: Timestamp) -> Disruption {
        for zone in self.0.values_mut() {
            if zone.size() == 0 {
                zone.state = None;
            } else if zone.state.is_none() {
                zone.state = Some(ZoneState::Initial);
            }
        }
        let full = |state: Option<ZoneState>| state.is_none_or(|state| state == ZoneState::FullDisruption);
        let all_were = self.0.values().all(|zone| full(zone.state));
        let all_are = self.0.values().all(|zone| full(zone.state.map(|_| zone.computed(rates))));
        if all_are && all_were {
            return Disruption::Zones(alloc::vec::Vec::new());
        }
        if all_are {
            for zone in self.0.values_mut().filter(|zone| zone.state.is_some()) {
                zone.queue.swap_limiter(0.0, now);
                zone.state = Some(ZoneState::FullDisruption);
            }
            return Disruption::Entered;
        }
        let changes = self
            .0
            .iter_mut()
            .filter_map(|(key, zone)| {
                let before = zone.state?;
                let after = zone.computed(rates);
                if before == after && !all_were {
                    return None;
                }
                let rate_before = zone.queue.rate();
                if let Some(rate) = zone.rate(after, rates) {
                    zone.queue.swap_limiter(rate, now);
                }
                zone.state = Some(after);
                Some(ZoneChange {
                    zone: key.clone(),
                    states: (before, after),
                    rates: (rate_before, zone.queue.rate()),
                    shares: zone.shares(rates),
                })
            })
            .collect();
        if all_were { Disruption::Left(changes) } else { Disruption::Zones(changes) }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::{Disruption, Rates, ZoneKey, ZoneState, Zones};
    use crate::json;
    use crate::profile::Settings;

    fn rates() -> Rates {
        Rates::of(&Settings::default())
    }

    fn key(zone: &str) -> ZoneKey {
        ZoneKey::of(&json!({"metadata": {"labels": {"topology.kubernetes.io/zone": zone}}}))
    }

    fn count(zones: &mut Zones, zone: &str, ready: usize, not_ready: usize) {
        for (number, is_ready) in [(ready, true), (not_ready, false)] {
            for _ in 0..number {
                zones.recount(None, Some(&(key(zone), is_ready)), &rates(), Timestamp::UNIX_EPOCH);
            }
        }
    }

    #[test]
    fn the_state_follows_from_the_counts() {
        for (ready, not_ready, state) in [
            (3, 0, ZoneState::Normal),
            (0, 1, ZoneState::FullDisruption),
            (1, 2, ZoneState::Normal),
            (2, 3, ZoneState::PartialDisruption),
            (3, 3, ZoneState::Normal),
            (9, 11, ZoneState::PartialDisruption),
        ] {
            let mut zones = Zones::default();
            count(&mut zones, "a", ready, not_ready);
            assert_eq!(zones.get(&key("a")).unwrap().computed(&rates()), state, "{ready} ready, {not_ready} not");
        }
    }

    #[test]
    fn a_small_zone_stops_in_partial_disruption_and_a_large_one_slows_down() {
        for (ready, not_ready, rate) in [(20, 30, 0.0), (21, 30, 0.01)] {
            let mut zones = Zones::default();
            count(&mut zones, "a", ready, not_ready);
            zones.handle_disruption(&rates(), Timestamp::UNIX_EPOCH);
            assert!((zones.get(&key("a")).unwrap().queue.rate() - rate).abs() < 1e-9);
        }
    }

    #[test]
    fn when_no_zone_has_a_ready_node_all_limiters_stop_and_they_start_again_empty() {
        let mut zones = Zones::default();
        let start = Timestamp::UNIX_EPOCH;
        count(&mut zones, "a", 0, 1);
        count(&mut zones, "b", 0, 2);
        assert_eq!(zones.handle_disruption(&rates(), start), Disruption::Entered);
        assert_eq!(zones.handle_disruption(&rates(), start), Disruption::Zones([].into()));
        zones.recount(Some(&(key("b"), false)), Some(&(key("b"), true)), &rates(), start);
        let Disruption::Left(changes) = zones.handle_disruption(&rates(), start) else { panic!("the mode goes on") };
        assert_eq!(changes.len(), 2);
        for (_, zone) in zones.iter() {
            assert!((zone.queue.rate() - 0.1).abs() < 1e-9);
        }
    }

    #[test]
    fn a_present_but_empty_beta_label_wins() {
        let labels = json!({"metadata": {"labels": {"topology.kubernetes.io/zone": "a",
            "failure-domain.beta.kubernetes.io/zone": ""}}});
        assert_eq!(ZoneKey::of(&labels), ZoneKey::default());
    }
}
