//! Whether Leases are renewed on time: each within a quarter of its own duration, for any Node.
//!
//! Mirrors what a kubelet does: it renews after a quarter of `leaseDurationSeconds` plus up to 4 % jitter. Source:
//! pkg/kubelet/kubelet.go (v1.34), `nodeLeaseRenewIntervalFraction`; k8s.io/component-helpers
//! apimachinery/lease/controller.go (v1.34), `Run`.
//! Inputs: changes of Leases with the instants at which they were seen. Output: the Nodes whose Lease was late, with
//! the pause. The clocks of machines do not matter.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::view::ClusterView;
use crate::objects::time::{offset, seconds};
use crate::objects::{Json, Object, Text};
use crate::scenario::{ObjectChange, ObjectRef};

/// How long a renewal itself may take beyond the pause: the request and the watch event.
const WAY: SignedDuration = SignedDuration::from_millis(100);
/// The duration of a Lease without `leaseDurationSeconds`. Source: pkg/kubelet/apis/config/v1beta1/defaults.go (v1.34).
const DURATION_SECONDS: i64 = 40;

/// The renewals of Leases in an act.
#[derive(Clone, Debug, Default)]
pub(super) struct Renewals {
    last: BTreeMap<Text, Timestamp>,
    /// The first pause that was too long, in words.
    late: BTreeMap<Text, String>,
}

impl Renewals {
    /// Notes a change of a Lease.
    pub(super) fn observe(
        &mut self,
        change: &ObjectChange,
        zero: Timestamp,
        tolerance: SignedDuration,
        now: Timestamp,
    ) {
        let renewed = |object: &Option<Object>| object.as_ref().and_then(Object::renew_time);
        let (Some(lease), true) = (&change.after, renewed(&change.before) != renewed(&change.after)) else { return };
        let node = &change.key.name;
        let pause = now.duration_since(self.last.get(node).copied().unwrap_or(zero));
        if pause > longest(&lease.json()) + tolerance {
            let text = format!("its Lease was not renewed for {} up to {}", seconds(pause), offset(now, zero));
            self.late.entry(node.clone()).or_insert(text);
        }
        self.last.insert(node.clone(), now);
    }

    /// Returns which of some Leases were late, as texts with the Nodes' names.
    pub(super) fn late(
        &self,
        leases: &[ObjectRef],
        view: &ClusterView,
        zero: Timestamp,
        tolerance: SignedDuration,
        now: Timestamp,
    ) -> Vec<(String, Text)> {
        let mut found = Vec::new();
        for of in leases {
            let node = &of.key.name;
            let Some(lease) = view.object(of) else {
                found.push((String::from("it has no Lease"), node.clone()));
                continue;
            };
            if let Some(text) = self.late.get(node) {
                found.push((text.clone(), node.clone()));
                continue;
            }
            let silent = now.duration_since(self.last.get(node).copied().unwrap_or(zero));
            match self.last.get(node) {
                None => found.push((format!("its Lease was not renewed up to {}", offset(now, zero)), node.clone())),
                Some(last) if silent > longest(&lease.json()) + tolerance => {
                    found.push((format!("its Lease was renewed last at {}", offset(*last, zero)), node.clone()));
                }
                Some(_) => {}
            }
        }
        found
    }
}

/// Returns the longest pause that a kubelet makes between two renewals.
fn longest(lease: &Json) -> SignedDuration {
    let duration =
        lease.at(&["spec", "leaseDurationSeconds"]).as_i64().filter(|it| *it > 0).unwrap_or(DURATION_SECONDS);
    SignedDuration::from_millis(duration.saturating_mul(260)) + WAY
}
