//! What a kubelet measures, as its server shows it at `/metrics`. Only what the model knows is there.
//!
//! Source: pkg/kubelet/metrics/metrics.go (v1.34). Inputs: the kubelet, its machine. Outputs: measures.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::Kubelet;
use crate::components::controller::{Measure, MeasuredValue};
use crate::components::host::Host;
use crate::objects::Text;

impl Kubelet {
    /// Returns what it measures, in the order of the names.
    #[must_use]
    pub fn measures(&self, host: &Host) -> Vec<Measure> {
        let (pods, containers) = host.runtime.running();
        let state = Vec::from([("container_state", Text::of("running"))]);
        let node = Vec::from([("node", self.config().node_name.clone())]);
        let mut all = Vec::from([
            Measure::gauge("kubelet_node_name", "The node's name. The count is always 1.", Vec::from([(node, 1)])),
            Measure::gauge(
                "kubelet_running_containers",
                "Number of containers currently running",
                Vec::from([(state, containers)]),
            ),
            Measure::gauge(
                "kubelet_running_pods",
                "Number of pods that have a running pod sandbox",
                Vec::from([(Vec::new(), pods)]),
            ),
        ]);
        let counted = |name, help, label, counts: &BTreeMap<&'static str, usize>| {
            let of = |count: usize| MeasuredValue::Counter(u64::try_from(count).unwrap_or(u64::MAX));
            let values = counts.iter().map(|(own, count)| (Vec::from([(label, Text::of(own))]), of(*count))).collect();
            Measure { name, help, is_stable: false, values }
        };
        let help = "Cumulative number of pod evictions by eviction signal";
        all.push(counted("kubelet_evictions", help, "eviction_signal", self.evictions()));
        let help = "Cumulative number pod admission rejections by the Kubelet.";
        let rejections = self.rejections().into_iter();
        all.extend(rejections.map(|own| counted("kubelet_admission_rejections_total", help, "reason", own)));
        all.extend(self.shutdown_metrics().map(|(name, at)| self.shutdown_measure(name, at)));
        all
    }

    /// Says when the last graceful shutdown began or ended. Releases without a metric of its own for the end describe
    /// it as the start.
    #[expect(clippy::cast_precision_loss, reason = "seconds since the epoch, far below what a float holds exactly")]
    fn shutdown_measure(&self, name: &'static str, at: i64) -> Measure {
        let help = if name.contains("_end_") && self.tells_end_of_shutdown() {
            "Last graceful shutdown end time since unix epoch in seconds"
        } else {
            "Last graceful shutdown start time since unix epoch in seconds"
        };
        Measure { name, help, is_stable: false, values: Vec::from([(Vec::new(), MeasuredValue::Gauge(at as f64))]) }
    }
}
