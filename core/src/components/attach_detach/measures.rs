//! What the controller measures: its volumes in both states, those that Pods use, and the detachments by force.
//!
//! Mirrors pkg/controller/volume/attachdetach/metrics/metrics.go (v1.34). Inputs: both states, Pods, claims. Outputs:
//! numbers. Invariant: reading them changes nothing.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;

use super::{AttachDetach, CLAIM_CACHE, POD_CACHE, VOLUME_CACHE};
use crate::components::client::node_name;
use crate::components::controller::{Measure, MeasuredValue, gauge_of};
use crate::components::volumes::{bound, claim_of, csi_volume};
use crate::objects::{Object, Text};

/// The reasons for a detachment by force. Source: metrics.go (v1.34), `ForceDetachReasonOutOfService` and
/// `ForceDetachReasonTimeout`.
const FORCED: [&str; 2] = ["out-of-service", "timeout"];

type Values = Vec<(Vec<(&'static str, Text)>, MeasuredValue)>;

fn plugin(driver: &str) -> Text {
    Text::from(format!("kubernetes.io/csi:{driver}"))
}

/// Counts pairs, and gives each its two labels.
fn counted(labels: (&'static str, &'static str), pairs: impl Iterator<Item = (Text, Text)>) -> Values {
    let mut counts: BTreeMap<(Text, Text), usize> = BTreeMap::new();
    pairs.for_each(|pair| *counts.entry(pair).or_default() += 1);
    let one = |((first, second), count)| (Vec::from([(labels.0, first), (labels.1, second)]), gauge_of(count));
    counts.into_iter().map(one).collect()
}

impl AttachDetach {
    pub(super) fn measured(&self) -> Vec<Measure> {
        let forced = |reason: &&'static str| {
            let count = self.forced.get(reason).copied().unwrap_or_default();
            (Vec::from([("reason", Text::of(reason))]), MeasuredValue::Counter(count))
        };
        Vec::from([
            Measure {
                name: "attach_detach_controller_attachdetach_controller_forced_detaches",
                help: "Number of times the A/D Controller performed a forced detach",
                is_stable: false,
                values: FORCED.iter().map(forced).collect(),
            },
            Measure {
                name: "attachdetach_controller_total_volumes",
                help: "Number of volumes in A/D Controller",
                is_stable: false,
                values: self.total(),
            },
            Measure {
                name: "storage_count_attachable_volumes_in_use",
                help: "Measure number of volumes in use",
                is_stable: false,
                values: self.in_use(),
            },
        ])
    }

    fn total(&self) -> Values {
        let actual = self.actual.all().filter_map(|(_, own)| own.volume.as_ref());
        let actual = actual.map(|volume| (plugin(&volume.driver), Text::of("actual_state_of_world")));
        let wanted = self.desired.all().map(|(_, wanted)| &wanted.volume);
        let wanted = wanted.map(|volume| (plugin(&volume.driver), Text::of("desired_state_of_world")));
        counted(("plugin_name", "state"), actual.chain(wanted))
    }

    fn in_use(&self) -> Values {
        let of_pod = |pod: &Object| {
            let node = node_name(pod).cloned()?;
            let key = pod.key();
            let volumes = pod.stable().at(&["spec", "volumes"]).items().iter();
            let claims = volumes.filter_map(|volume| claim_of(&key, volume));
            let drivers = claims.filter_map(|(claim, _)| {
                let claim = self.runtime.cache(CLAIM_CACHE).get(&claim)?;
                csi_volume(bound(claim, |key| self.runtime.cache(VOLUME_CACHE).get(key))?)
            });
            Some(drivers.map(|volume| (node.clone(), plugin(&volume.driver))).collect::<Vec<_>>())
        };
        let pods = self.runtime.cache(POD_CACHE).objects();
        counted(("node", "volume_plugin"), pods.filter_map(of_pod).flatten())
    }
}
