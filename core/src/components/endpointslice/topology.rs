//! Hints that share out the endpoints of a Service over the zones, by the processors that each zone has.
//!
//! Mirrors k8s.io/endpointslice topologycache (v1.34), for Services with the annotation
//! `service.kubernetes.io/topology-mode: Auto`. Inputs: Nodes, plans. Outputs: plans with hints, what is told about it,
//! and the Services whose zones have too few endpoints when Nodes change. The shares are computed when they are
//! needed: that a Node's processors alone change counts from then on.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::endpoints::Family;
use super::hints::{each_endpoint, is_ready_endpoint, remove};
use super::plan::SlicePlan;
use crate::components::client::CacheEvent;
use crate::components::events::EventType;
use crate::components::workload::pods::labels;
use crate::json;
use crate::objects::kubelet_labels::ZONE;
use crate::objects::lifecycle::is_ready;
use crate::objects::quantity::Quantity;
use crate::objects::{Object, ObjectKey, Text};

/// How much more than its share a zone may get. Source: topologycache.go (v1.34), `overloadThreshold`.
const OVERLOAD: f64 = 0.2;

/// Numbers of endpoints by zone.
type ByZone = BTreeMap<Text, i64>;

/// How many endpoints a zone gets.
#[derive(Clone, Copy, Debug)]
struct Share {
    least: i64,
    most: i64,
    wanted: f64,
}

/// Something that is told about a Service.
pub(super) struct Word {
    pub(super) kind: EventType,
    pub(super) reason: &'static str,
    pub(super) message: String,
}

impl Word {
    fn disabled(why: &str, family: Family) -> Self {
        let message = format!("{why}, addressType: {}", family.name());
        Self { kind: EventType::Warning, reason: "TopologyAwareHintsDisabled", message }
    }
}

/// What is known of the zones, and of the Services whose endpoints are shared out over them.
#[derive(Clone, Debug, Default)]
pub(super) struct Topology {
    /// Whether the shares follow the Nodes that there are.
    is_current: bool,
    /// The share of the processors of each zone; empty if it is not known or there is one zone.
    shares: BTreeMap<Text, f64>,
    given: BTreeMap<ObjectKey, BTreeMap<Family, ByZone>>,
    /// The Services that have hints.
    hinted: BTreeSet<ObjectKey>,
}

/// Tells whether a Service asks for hints.
/// Source: k8s.io/endpointslice utils.go (v1.34), `hintsEnabled`.
pub(super) fn is_wanted(service: &Object) -> bool {
    let annotations = service.stable().at(&["metadata", "annotations"]);
    let own = |name: &str| annotations.get(name).as_str();
    let mode = own("service.kubernetes.io/topology-aware-hints").or_else(|| own("service.kubernetes.io/topology-mode"));
    matches!(mode, Some("Auto" | "auto"))
}

impl Topology {
    /// Takes a change of a Node; returns the Services that are to be synced for it.
    ///
    /// Source: endpointslice_controller.go (v1.34), `updateNode`, `checkNodeTopologyDistribution`.
    pub(super) fn handle_node<'a>(
        &mut self,
        event: &CacheEvent,
        nodes: impl Iterator<Item = &'a Object>,
    ) -> Vec<ObjectKey> {
        if let (Some(before), Some(after)) = (&event.before, &event.after)
            && is_ready(before) == is_ready(after)
            && labels(before).get(ZONE) == labels(after).get(ZONE)
        {
            return Vec::new();
        }
        self.is_current = false;
        if self.given.is_empty() {
            return Vec::new();
        }
        self.count(nodes);
        let is_short = |families: &BTreeMap<Family, ByZone>| families.values().any(|zones| self.is_overloaded(zones));
        self.given.iter().filter(|(_, families)| is_short(families)).map(|(key, _)| key.clone()).collect()
    }

    /// Source: topologycache.go (v1.34), `SetNodes`.
    fn count<'a>(&mut self, nodes: impl Iterator<Item = &'a Object>) {
        self.is_current = true;
        self.shares.clear();
        let is_left_out = |node: &&Object| {
            let has = |role: &str| !labels(node).get(role).is_null();
            has("node-role.kubernetes.io/control-plane") || has("node-role.kubernetes.io/master") || !is_ready(node)
        };
        let (mut by_zone, mut total): (ByZone, i64) = (ByZone::new(), 0);
        for node in nodes.filter(|node| !is_left_out(node)) {
            let processors = Quantity::from_json(node.stable().at(&["status", "allocatable", "cpu"]));
            let amount = processors.map_or(0, |own| own.milli_value());
            let Some(zone) = labels(node).get(ZONE).as_text().filter(|zone| !zone.is_empty() && amount > 0) else {
                return;
            };
            *by_zone.entry(zone.clone()).or_default() += amount;
            total += amount;
        }
        if by_zone.len() >= 2 {
            self.shares = by_zone.into_iter().map(|(zone, own)| (zone, own as f64 / total as f64)).collect();
        }
    }

    /// Source: topologycache/utils.go (v1.34), `serviceOverloaded`.
    fn is_overloaded(&self, zones: &ByZone) -> bool {
        if zones.is_empty() || self.shares.is_empty() {
            return !zones.is_empty();
        }
        let all: i64 = zones.values().sum();
        let least = |share: f64| up(all as f64 * share * (1.0 / (1.0 + OVERLOAD)));
        self.shares.iter().any(|(zone, share)| zones.get(zone).is_none_or(|own| *own < least(*share)))
    }

    /// Forgets the hints of a Service; true if it had any.
    pub(super) fn forget(&mut self, service: &ObjectKey, family: Family) -> bool {
        if let Some(families) = self.given.get_mut(service) {
            families.remove(&family);
            if families.is_empty() {
                self.given.remove(service);
            }
        }
        self.hinted.remove(service)
    }

    /// Takes the hints of a Service away that asks for none any more.
    pub(super) fn disable(&mut self, service: &ObjectKey, family: Family) -> Option<Word> {
        self.forget(service, family).then(|| Word::disabled("Topology Aware Hints has been disabled", family))
    }

    /// Gives the endpoints of a plan their hints.
    ///
    /// Source: topologycache.go (v1.34), `AddHints`.
    pub(super) fn add<'a>(
        &mut self,
        service: &ObjectKey,
        family: Family,
        plan: &mut SlicePlan,
        nodes: impl Iterator<Item = &'a Object>,
    ) -> Option<Word> {
        if !self.is_current {
            self.count(nodes);
        }
        match self.share_out(plan) {
            Ok(given) => {
                self.given.entry(service.clone()).or_default().insert(family, given);
                let message = format!("Topology Aware Hints has been enabled, addressType: {}", family.name());
                let word = Word { kind: EventType::Normal, reason: "TopologyAwareHintsEnabled", message };
                self.hinted.insert(service.clone()).then_some(word)
            }
            Err(why) => {
                self.forget(service, family);
                remove(plan);
                Some(Word::disabled(&why, family))
            }
        }
    }

    fn share_out(&self, plan: &mut SlicePlan) -> Result<ByZone, String> {
        let unchanged = plan.unchanged.iter().map(Object::stable);
        let all = plan.create.iter().chain(&plan.update).chain(unchanged);
        let count = all.flat_map(|slice| slice.get("endpoints").items()).filter(|own| is_ready_endpoint(own)).count();
        let shares = self.allocations(i64::try_from(count).unwrap_or(i64::MAX))?;
        let mut given = ByZone::new();
        plan.write_again(|slice| match hints_by_zone(slice, &given, &shares) {
            Some(own) => {
                for (zone, number) in own {
                    *given.entry(zone).or_default() += number;
                }
                false
            }
            None => true,
        });
        let mut lacks_zone = false;
        for slice in plan.written() {
            each_endpoint(slice, |endpoint| {
                let zone = endpoint.get("zone").as_text().cloned().unwrap_or_default();
                if is_ready_endpoint(endpoint) {
                    lacks_zone |= zone.is_empty();
                    endpoint.set(&["hints"], json!({"forZones": [{"name": zone.as_str()}]}));
                    *given.entry(zone).or_default() += 1;
                }
            });
        }
        if lacks_zone {
            return Err("One or more endpoints do not have a zone specified".to_string());
        }
        move_endpoints(plan, &shares, &mut given);
        if given.is_empty() { Err("No hints allocated for zones".to_string()) } else { Ok(given) }
    }

    /// Source: topologycache.go (v1.34), `getAllocations`.
    fn allocations(&self, count: i64) -> Result<BTreeMap<Text, Share>, String> {
        let zones = self.shares.len();
        if zones == 0 {
            let why = "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes";
            return Err(why.to_string());
        }
        if i64::try_from(zones).is_ok_and(|zones| zones > count) {
            return Err(format!("Insufficient number of endpoints ({count} endpoints, {zones} zones)"));
        }
        let share = |(zone, ratio): (&Text, &f64)| {
            let wanted = ratio * count as f64;
            let least = up(wanted * (1.0 / (1.0 + OVERLOAD)));
            (zone.clone(), Share { least, most: 0, wanted: wanted.max(least as f64) })
        };
        let mut shares: BTreeMap<Text, Share> = self.shares.iter().map(share).collect();
        let total: i64 = shares.values().map(|share| share.least).sum();
        if total > count {
            let why = "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold";
            return Err(format!("{why} ({count} endpoints, {zones} zones)"));
        }
        for share in shares.values_mut() {
            share.most = share.least + count - total;
        }
        Ok(shares)
    }
}

/// Returns the next whole number.
#[expect(clippy::cast_possible_truncation, reason = "numbers of endpoints are small")]
fn up(value: f64) -> i64 {
    let whole = value as i64;
    if (whole as f64) < value { whole + 1 } else { whole }
}

/// Returns how many hints of a slice name each zone; `None` if the slice cannot stay as it is.
///
/// Source: topologycache/utils.go (v1.34), `getHintsByZone`.
fn hints_by_zone(slice: &Object, given: &ByZone, shares: &BTreeMap<Text, Share>) -> Option<ByZone> {
    let mut own = ByZone::new();
    for endpoint in slice.stable().get("endpoints").items().iter().filter(|endpoint| is_ready_endpoint(endpoint)) {
        let zones = endpoint.at(&["hints", "forZones"]).items();
        if zones.is_empty() {
            return None;
        }
        for zone in zones {
            let zone = zone.get("name").as_text().filter(|zone| shares.contains_key(*zone))?;
            *own.entry(zone.clone()).or_default() += 1;
        }
    }
    let fits = |(zone, number): (&Text, &i64)| {
        shares.get(zone).is_some_and(|share| number + given.get(zone).copied().unwrap_or(0) <= share.most)
    };
    own.iter().all(fits).then_some(own)
}

/// Lets zones that have more than their share give hints to those that have less.
///
/// Source: topologycache/utils.go (v1.34), `getGivingAndReceivingZones`, `redistributeHints`; where upstream takes any
/// zone, the first one is taken.
fn move_endpoints(plan: &mut SlicePlan, shares: &BTreeMap<Text, Share>, given: &mut ByZone) {
    let (mut more, mut less) = (BTreeMap::new(), BTreeMap::new());
    for (zone, share) in shares {
        let difference = given.get(zone).copied().unwrap_or(0) as f64 - share.wanted;
        if difference > 0.0 {
            more.insert(zone.clone(), difference);
        } else if difference < 0.0 {
            less.insert(zone.clone(), -difference);
        }
    }
    let (mut givers, mut takers) = (ByZone::new(), ByZone::new());
    while let (Some((giver, gives)), Some((taker, takes))) = (largest(&more), largest(&less)) {
        if (gives < 1.0 && takes < 1.0) || gives < 0.5 || takes < 0.5 {
            break;
        }
        for (zone, differences, numbers) in [(giver, &mut more, &mut givers), (taker, &mut less, &mut takers)] {
            *differences.entry(zone.clone()).or_default() -= 1.0;
            *numbers.entry(zone).or_default() += 1;
        }
    }
    for slice in plan.written() {
        each_endpoint(slice, |endpoint| {
            let zone = endpoint.get("zone").as_text().cloned().unwrap_or_default();
            let gives = is_ready_endpoint(endpoint) && givers.get(&zone).is_some_and(|number| *number > 0);
            let taker = takers.iter().find(|(_, number)| **number > 0).map(|(zone, _)| zone.clone());
            let Some(taker) = taker.filter(|_| gives) else { return };
            endpoint.set(&["hints"], json!({"forZones": [{"name": taker.as_str()}]}));
            for (zone, numbers, step) in [(zone, &mut givers, -1), (taker, &mut takers, 1)] {
                *numbers.entry(zone.clone()).or_default() -= 1;
                *given.entry(zone).or_default() += step;
            }
        });
    }
}

fn largest(zones: &BTreeMap<Text, f64>) -> Option<(Text, f64)> {
    let mut best: Option<(Text, f64)> = None;
    for (zone, number) in zones {
        if *number > best.as_ref().map_or(0.0, |(_, most)| *most) {
            best = Some((zone.clone(), *number));
        }
    }
    best
}
