//! What the controller measures of its zones.
//!
//! Mirrors pkg/controller/nodelifecycle/metrics.go (v1.34). Inputs: zones. Outputs: numbers. A zone without nodes keeps
//! its name, and counts as healthy.

use alloc::format;
use alloc::vec::Vec;

use super::zones::{Zone, ZoneKey, Zones};
use crate::components::controller::{Measure, MeasuredValue, gauge_of};
use crate::objects::Text;

/// What separates the region of a zone from its name in a label.
/// Source: k8s.io/component-helpers node/topology/helpers.go (v1.34), `GetZoneKey`.
const IN_ZONE: &str = ":\0:";

fn label(key: &ZoneKey) -> Text {
    if key.region.is_empty() && key.zone.is_empty() {
        return Text::of("");
    }
    Text::from(format!("{}{IN_ZONE}{}", key.region, key.zone))
}

/// Returns the percentage of ready nodes.
#[expect(clippy::cast_precision_loss, reason = "a zone has fewer than 2^45 nodes")]
fn health(zone: &Zone) -> MeasuredValue {
    let all = zone.ready + zone.not_ready;
    MeasuredValue::Gauge(if all == 0 { 100.0 } else { (100 * zone.ready) as f64 / all as f64 })
}

pub(super) fn of(zones: &Zones) -> Vec<Measure> {
    let each = |name, is_stable, help, value: &dyn Fn(&Zone) -> MeasuredValue| {
        let values = zones.iter().map(|(key, zone)| (Vec::from([("zone", label(key))]), value(zone)));
        Measure { name, help, is_stable, values: values.collect() }
    };
    Vec::from([
        each(
            "node_collector_evictions_total",
            true,
            "Number of Node evictions that happened since current instance of NodeController started.",
            &|zone| MeasuredValue::Counter(zone.evictions),
        ),
        each(
            "node_collector_unhealthy_nodes_in_zone",
            false,
            "Gauge measuring number of not Ready Nodes per zones.",
            &|zone| gauge_of(zone.not_ready),
        ),
        each("node_collector_zone_health", false, "Gauge measuring percentage of healthy nodes per zone.", &health),
        each("node_collector_zone_size", false, "Gauge measuring number of registered Nodes per zones.", &|zone| {
            gauge_of(zone.ready + zone.not_ready)
        }),
    ])
}
