//! How often pods were refused, by reason, as a kubelet counts it.
//!
//! Mirrors `recordAdmissionRejection` of pkg/kubelet/kubelet.go (v1.34). Inputs: reasons. Outputs: the counts.

use alloc::collections::BTreeMap;

use super::Kubelet;

/// The reasons that are counted under their own names. Source: as above, `admissionRejectionReasons`.
const REASONS: [&str; 20] = [
    "AppArmor",
    "Evicted",
    "InitContainerRestartPolicyForbidden",
    "InvalidNodeInfo",
    "NodeShutdown",
    "OutOfcpu",
    "OutOfephemeral-storage",
    "OutOfmemory",
    "OutOfpods",
    "PodLevelResourcesNotSupported",
    "PodOSNotSupported",
    "PodOSSelectorNodeLabelDoesNotMatch",
    "SupplementalGroupsPolicyNotSupported",
    "SysctlForbidden",
    "TopologyAffinityError",
    "UnexpectedAdmissionError",
    "UnexpectedPredicateFailureType",
    "UnknownReason",
    "VolumeAttachmentLimitExceeded",
    "node(s) had taints that the pod didn't tolerate",
];

/// Returns the name under which a reason is counted.
fn label(reason: &str) -> &'static str {
    let own = REASONS.into_iter().find(|own| *own == reason);
    own.unwrap_or(if reason.starts_with("OutOf") { "OutOfExtendedResources" } else { "Other" })
}

impl Kubelet {
    /// Returns how often pods were refused since the process started; `None` in releases that do not count it.
    #[must_use]
    pub fn rejections(&self) -> Option<&BTreeMap<&'static str, usize>> {
        self.settings.profile().is("rejections-are-counted").then_some(&self.pods.rejections)
    }

    /// Counts a refusal.
    pub(in crate::components::kubelet) fn count_rejection(&mut self, reason: &str) {
        *self.pods.rejections.entry(label(reason)).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::label;

    #[test]
    fn a_reason_is_counted_under_its_name_if_that_is_known() {
        for (reason, counted) in [
            ("OutOfcpu", "OutOfcpu"),
            ("OutOfexample.com/gpu", "OutOfExtendedResources"),
            ("NodeAffinity", "Other"),
            ("TopologyAffinityError", "TopologyAffinityError"),
        ] {
            assert_eq!(label(reason), counted);
        }
    }
}
