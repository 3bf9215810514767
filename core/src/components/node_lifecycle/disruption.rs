//! The end of a health pass: the states of the zones, and what follows when all of them change.
//!
//! Mirrors `handleDisruption` (node_lifecycle_controller.go, v1.34, v1.26). Inputs: the counts of the zones. Outputs:
//! decisions, nodes whose NoExecute taints go, new grace periods.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::zones::{Disruption, ZoneChange};
use super::{NodeId, NodeLifecycle};
use crate::components::Because;

impl NodeLifecycle {
    /// Computes the states of the zones at the end of a pass.
    pub(super) fn judge(&mut self, now: Timestamp) {
        match self.zones.handle_disruption(&self.rates, now) {
            Disruption::Zones(changes) => self.tell_zones(changes),
            Disruption::Left(changes) => {
                let next = self.next_pass();
                for id in 0..self.table.len() {
                    let node = &mut self.table[id];
                    if node.slot.is_some() {
                        node.signs.reset(next, &self.passes, now);
                        self.schedule_check(NodeId::try_from(id).expect("fewer than 2^32 names"));
                    }
                }
                if let Some(direct) = &mut self.direct {
                    direct.reset(now);
                }
                let why = Vec::from([Because::Fact(String::from("some node is ready again"))]);
                self.runtime.decide("zones", "leave the disruption of all zones: new grace for every node", why);
                self.tell_zones(changes);
            }
            Disruption::Entered => {
                let why = Vec::from([Because::Fact(String::from("no counted node of any zone is ready"))]);
                self.runtime.decide("zones", "disruption of all zones: evictions stop", why);
                self.begin_cleanup(now);
            }
        }
    }

    fn begin_cleanup(&mut self, now: Timestamp) {
        let is_direct = self.direct.is_some();
        let tainted = self.health_pass.as_mut().map(|pass| pass.clean_up(is_direct)).unwrap_or_default();
        for id in 0..self.table.len() {
            let id = NodeId::try_from(id).expect("fewer than 2^32 names");
            if self.node(id).slot.is_some() && !tainted.contains(&id) {
                let zone = self.zone_of(id);
                self.cancel_eviction(id, &zone, now);
            }
        }
    }

    fn tell_zones(&mut self, changes: Vec<ZoneChange>) {
        for change in changes {
            let (before, after) = change.states;
            let mut why = Vec::from([Because::Fact(change.shares)]);
            why.push(Because::Fact(format!("nodes per second: {} -> {}", change.rates.0, change.rates.1)));
            let what = format!("{} -> {}", before.name(), after.name());
            self.runtime.decide(format!("zone/{}", change.zone), what, why);
        }
    }
}
