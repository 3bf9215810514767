//! The ranges of settings that change nothing here, and are refused all the same.
//!
//! Mirrors pkg/kubelet/apis/config/validation/{validation.go,validation_linux.go} (v1.34). Pure. Inputs: the merged
//! configuration. Outputs: the kubelet's messages, a list for each place in the order of its checks.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::SignedDuration;

use crate::objects::Json;
use crate::objects::go_duration::go_duration;
use crate::objects::time::parse_duration;

/// A place in the order of the checks, named after the check that follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RangePlace {
    /// Before the number of images in the status.
    Images,
    /// Before the number of pods.
    Pods,
    /// Before the number of pods for each CPU.
    PodsPerCore,
    /// Before the taints.
    Taints,
    /// Before the CPUs that are kept.
    ReservedCpus,
    /// After all others.
    End,
}

/// Numbers that must lie in a range: the place, the field, its flag, the least and the most value, and the words.
const NUMBERS: [(RangePlace, &str, &str, i64, i64, &str); 15] = [
    (RangePlace::Images, "eventBurst", "--event-burst", 0, i64::MAX, NOT_NEGATIVE),
    (RangePlace::Images, "eventRecordQPS", "--event-qps", 0, i64::MAX, NOT_NEGATIVE),
    (RangePlace::Images, "healthzPort", "--healthz-port", 0, 65_535, "must be between 1 and 65535, inclusive"),
    (RangePlace::Images, "iptablesDropBit", "--iptables-drop-bit", 0, 31, BITS),
    (RangePlace::Images, "iptablesMasqueradeBit", "--iptables-masquerade-bit", 0, 31, BITS),
    (RangePlace::Images, "kubeAPIBurst", "--kube-api-burst", 0, i64::MAX, NOT_NEGATIVE),
    (RangePlace::Images, "kubeAPIQPS", "--kube-api-qps", 0, i64::MAX, NOT_NEGATIVE),
    (RangePlace::Pods, "maxOpenFiles", "--max-open-files", 0, i64::MAX, NOT_NEGATIVE),
    (
        RangePlace::PodsPerCore,
        "oomScoreAdj",
        "--oom-score-adj",
        -1_000,
        1_000,
        "must be between -1000 and 1000, inclusive",
    ),
    (RangePlace::Taints, "readOnlyPort", "--read-only-port", 0, 65_535, "must be between 0 and 65535, inclusive"),
    (RangePlace::Taints, "registryBurst", "--registry-burst", 0, i64::MAX, NOT_NEGATIVE),
    (RangePlace::Taints, "registryPullQPS", "--registry-qps", 0, i64::MAX, NOT_NEGATIVE),
    (RangePlace::Taints, "maxParallelImagePulls", "", 1, i64::MAX, "must be a positive number"),
    (RangePlace::End, "containerLogMaxWorkers", "", 1, i64::MAX, ""),
    (RangePlace::End, "containerLogMaxFiles", "", 2, i64::MAX, ""),
];
const NOT_NEGATIVE: &str = "must not be a negative number";
const BITS: &str = "must be between 0 and 31, inclusive";
/// How many ids a user namespace of a pod has at least.
const IDS: i64 = 65_536;

/// Returns what is wrong at a place.
pub(super) fn errors(merged: &Json, place: RangePlace, cgroup_version: i64) -> Vec<String> {
    let mut found = match place {
        RangePlace::Images => images(merged),
        RangePlace::ReservedCpus => hairpin(merged),
        RangePlace::End => system(merged, cgroup_version),
        RangePlace::Pods | RangePlace::PodsPerCore | RangePlace::Taints => Vec::new(),
    };
    for (_, field, flag, least, most, words) in NUMBERS.into_iter().filter(|(own, ..)| *own == place) {
        let Some(value) = merged.get(field).as_i64().filter(|value| !(least..=most).contains(value)) else { continue };
        found.push(match field {
            "containerLogMaxWorkers" => String::from("containerLogMaxWorkers must be greater than or equal to 1"),
            "containerLogMaxFiles" => String::from("containerLogMaxFiles must be greater than 1"),
            _ if flag.is_empty() => format!("{field} {value} {words}"),
            _ => format!("{field} ({flag}) {value} {words}"),
        });
    }
    let pulls = merged.get("maxParallelImagePulls").as_i64().unwrap_or(1);
    if place == RangePlace::Taints && pulls > 1 && merged.get("serializeImagePulls").as_bool() == Some(true) {
        found.push(String::from(
            "maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls) is \
             set to false",
        ));
    }
    found.into_iter().map(|why| format!("invalid configuration: {why}")).collect()
}

fn span(merged: &Json, field: &str) -> Option<SignedDuration> {
    merged.get(field).as_str().and_then(parse_duration).filter(|span| !span.is_zero())
}

fn images(merged: &Json) -> Vec<String> {
    const QUOTA: SignedDuration = SignedDuration::from_millis(100);
    const QUOTA_MAX: SignedDuration = SignedDuration::from_secs(1);
    let mut found = Vec::new();
    let text = |field: &str| merged.get(field).as_str().unwrap_or_default();
    if !text("systemCgroups").is_empty() && text("cgroupRoot").is_empty() {
        found.push(String::from(
            "systemCgroups (--system-cgroups) was specified and cgroupRoot (--cgroup-root) was not specified",
        ));
    }
    let period = span(merged, "cpuCFSQuotaPeriod").unwrap_or(QUOTA);
    let is_free = merged.at(&["featureGates", "CustomCPUCFSQuotaPeriod"]).as_bool() == Some(true);
    let shown = format!("cpuCFSQuotaPeriod (--cpu-cfs-quota-period) {{{}}}", go_duration(period));
    if !is_free && period != QUOTA {
        found.push(format!("{shown} requires feature gate CustomCPUCFSQuotaPeriod"));
    } else if period > QUOTA_MAX || period < SignedDuration::from_millis(1) {
        found.push(format!("{shown} must be between 1ms and 1sec, inclusive"));
    }
    let oldest = span(merged, "imageMaximumGCAge").unwrap_or_default();
    let youngest = span(merged, "imageMinimumGCAge").unwrap_or(SignedDuration::from_mins(2));
    if oldest.is_negative() {
        found.push(format!("imageMaximumGCAge {} must not be negative", go_duration(oldest)));
    } else if !oldest.is_zero() && oldest <= youngest {
        let (oldest, youngest) = (go_duration(oldest), go_duration(youngest));
        found.push(format!("imageMaximumGCAge {oldest} must be greater than imageMinimumGCAge {youngest}"));
    }
    found
}

fn hairpin(merged: &Json) -> Vec<String> {
    const MODES: [&str; 3] = ["none", "hairpin-veth", "promiscuous-bridge"];
    let mode = merged.get("hairpinMode").as_str().filter(|mode| !mode.is_empty() && !MODES.contains(mode));
    let say = |mode| {
        format!(
            "option \"{mode}\" specified for hairpinMode (--hairpin-mode). Valid options are \"none\", \
             \"hairpin-veth\" or \"promiscuous-bridge\""
        )
    };
    mode.map(say).into_iter().collect()
}

/// Checks what depends on the operating system: the first error counts.
fn system(merged: &Json, cgroup_version: i64) -> Vec<String> {
    if cgroup_version == 1 && merged.get("singleProcessOOMKill").as_bool() == Some(false) {
        let why = "singleProcessOOMKill must not be explicitly set to false when using cgroup v1";
        return Vec::from([String::from(why)]);
    }
    let why = match merged.at(&["userNamespaces", "idsPerPod"]).as_i64() {
        Some(ids) if ids < IDS => format!("must not be less than {IDS}"),
        Some(ids) if ids % IDS != 0 => format!("must be a multiple of {IDS}"),
        Some(ids) if ids > i64::from(u32::MAX) => format!("must not be more than {}", u32::MAX),
        _ => return Vec::new(),
    };
    Vec::from([format!("userNamespaces.idsPerPod {why}")])
}

/// Checks what is looked at only when the kubelet is made.
///
/// Source: pkg/kubelet/kubelet.go (v1.34), `NewMainKubelet`.
pub(super) fn late(merged: &Json) -> Result<(), String> {
    let wrong = span(merged, "syncFrequency").filter(|span| span.is_negative());
    let say = |span: SignedDuration| {
        format!("failed to run Kubelet: failed to create kubelet: invalid sync frequency {}", span.as_nanos())
    };
    wrong.map_or(Ok(()), |span| Err(say(span)))
}

/// Checks what is looked at before the configuration is validated.
///
/// Source: k8s.io/component-base logs/api/v1/options.go (v1.34), `ValidateAndApply`.
pub(super) fn early(merged: &Json) -> Result<(), String> {
    match merged.at(&["logging", "format"]).as_str() {
        None | Some("" | "text" | "json") => Ok(()),
        Some(format) => {
            Err(format!("initialize logging: logging.format: Invalid value: \"{format}\": Unsupported log format"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{RangePlace, early, errors, late};
    use crate::json;

    #[test]
    fn a_value_out_of_its_range_is_named_with_its_flag() {
        let one = |config, place| errors(&config, place, 1).concat();
        assert_eq!(
            one(json!({"kubeAPIBurst": -1}), RangePlace::Images),
            "invalid configuration: kubeAPIBurst (--kube-api-burst) -1 must not be a negative number"
        );
        assert_eq!(one(json!({"kubeAPIBurst": -1}), RangePlace::Taints), "");
        assert_eq!(one(json!({"healthzPort": 0, "iptablesDropBit": 31, "oomScoreAdj": -999}), RangePlace::Images), "");
        assert_eq!(
            one(json!({"cpuCFSQuotaPeriod": "50ms"}), RangePlace::Images),
            "invalid configuration: cpuCFSQuotaPeriod (--cpu-cfs-quota-period) {50ms} requires feature gate \
             CustomCPUCFSQuotaPeriod"
        );
        assert_eq!(
            one(json!({"userNamespaces": {"idsPerPod": 70_000}}), RangePlace::End),
            "invalid configuration: userNamespaces.idsPerPod must be a multiple of 65536"
        );
        assert!(errors(&json!({"singleProcessOOMKill": false}), RangePlace::End, 2).is_empty());
        assert!(late(&json!({"syncFrequency": "-1s"})).unwrap_err().ends_with("invalid sync frequency -1000000000"));
        assert!(early(&json!({"logging": {"format": "json"}})).is_ok());
    }
}
