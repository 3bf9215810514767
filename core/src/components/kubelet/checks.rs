//! The checks of a kubelet's settings, in their order.
//!
//! Mirrors pkg/kubelet/apis/config/validation/{validation.go,validation_linux.go} (v1.34). Pure. Inputs: the merged
//! configuration. Outputs: the kubelet's messages.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use jiff::SignedDuration;

use super::image_gc::{HIGH, LEAST_AGE, LOW};
use super::validation::{Checked, enforcement, reserved_cpus, shutdown, taints, topology};
use super::{logging, swap, sysctls, topology as managers};
use crate::objects::Json;
use crate::objects::go_duration::go_duration;
use crate::objects::names::sysctl_with_dots;

/// A check.
pub(super) enum Check {
    /// A number that must lie in a range: the field, its flag, the least and the most value, and the words.
    Range(&'static str, &'static str, i64, i64, &'static str),
    /// Anything else.
    Own(fn(&Checked<'_>, &mut Vec<String>)),
}

use Check::{Own, Range};

const NOT_NEGATIVE: &str = "must not be a negative number";
const BITS: &str = "must be between 0 and 31, inclusive";
const PORT: &str = "must be between 1 and 65535, inclusive";
const MOST: i64 = i64::MAX;
/// The memoryThrottlingFactor that was the default before there was none.
/// Source: pkg/kubelet/apis/config/validation/validation.go (v1.37), `previousDefaultMemoryThrottlingFactor`.
const FORMER_THROTTLING: f64 = 0.9;
/// How many ids a user namespace of a pod has at least.
const IDS: i64 = 65_536;

/// The checks, in the order of `ValidateKubeletConfiguration`.
pub(super) const CHECKS: &[Check] = &[
    Own(lease),
    Own(system_cgroups),
    Range("eventBurst", "--event-burst", 0, MOST, NOT_NEGATIVE),
    Range("eventRecordQPS", "--event-qps", 0, MOST, NOT_NEGATIVE),
    Range("healthzPort", "--healthz-port", 0, 65_535, PORT),
    Own(quota_period),
    Own(image_gc),
    Range("iptablesDropBit", "--iptables-drop-bit", 0, 31, BITS),
    Range("iptablesMasqueradeBit", "--iptables-masquerade-bit", 0, 31, BITS),
    Range("kubeAPIBurst", "--kube-api-burst", 0, MOST, NOT_NEGATIVE),
    Range("kubeAPIQPS", "--kube-api-qps", 0, MOST, NOT_NEGATIVE),
    Range("nodeStatusMaxImages", "--node-status-max-images", -1, MOST, "must be -1 or greater"),
    Range("maxOpenFiles", "--max-open-files", 0, MOST, NOT_NEGATIVE),
    Range("maxPods", "--max-pods", 0, MOST, NOT_NEGATIVE),
    Range("oomScoreAdj", "--oom-score-adj", -1_000, 1_000, "must be between -1000 and 1000, inclusive"),
    Range("podsPerCore", "--pods-per-core", 0, MOST, NOT_NEGATIVE),
    Range("port", "--port", 1, 65_535, PORT),
    Range("readOnlyPort", "--read-only-port", 0, 65_535, "must be between 0 and 65535, inclusive"),
    Range("registryBurst", "--registry-burst", 0, MOST, NOT_NEGATIVE),
    Range("registryPullQPS", "--registry-qps", 0, MOST, NOT_NEGATIVE),
    Range("maxParallelImagePulls", "", 1, MOST, "must be a positive number"),
    Own(pulls),
    Own(serving_certificate),
    Own(run_once),
    Own(taints),
    Own(topology),
    Own(shutdown),
    Own(swap_behaviour),
    Own(crash_loop),
    Own(enforcement),
    Own(hairpin),
    Own(pulled_images),
    Own(reserved_cpus),
    Own(reserved_memory),
    Own(system),
    Own(logging::hidden_metrics),
    Own(logging::tracing),
    Own(memory_throttling),
    Own(reservation_policy),
    Own(runtime_endpoint),
    Own(system_logs),
    Own(container_logs),
    Own(pod_logs),
];

impl Check {
    /// Adds what is wrong.
    pub(super) fn errors(&self, checked: &Checked<'_>, errors: &mut Vec<String>) {
        match self {
            Own(check) => check(checked, errors),
            Range(field, flag, least, most, words) => {
                let value = checked.merged.get(field).as_i64().filter(|value| !(*least..=*most).contains(value));
                errors.extend(value.map(|value| match *flag {
                    "" => invalid(&format!("{field} {value} {words}")),
                    flag => invalid(&format!("{field} ({flag}) {value} {words}")),
                }));
            }
        }
    }
}

fn invalid(why: &str) -> String {
    format!("invalid configuration: {why}")
}

fn lease(checked: &Checked<'_>, errors: &mut Vec<String>) {
    if checked.merged.get("nodeLeaseDurationSeconds").as_i64().is_some_and(|seconds| seconds <= 0) {
        errors.push(invalid("nodeLeaseDurationSeconds must be greater than 0"));
    }
}

fn system_cgroups(checked: &Checked<'_>, errors: &mut Vec<String>) {
    if !checked.text("systemCgroups").is_empty() && checked.text("cgroupRoot").is_empty() {
        errors.push(invalid(
            "systemCgroups (--system-cgroups) was specified and cgroupRoot (--cgroup-root) was not specified",
        ));
    }
}

fn quota_period(checked: &Checked<'_>, errors: &mut Vec<String>) {
    const DEFAULT: SignedDuration = SignedDuration::from_millis(100);
    let period = checked.span("cpuCFSQuotaPeriod").unwrap_or(DEFAULT);
    let shown = format!("cpuCFSQuotaPeriod (--cpu-cfs-quota-period) {{{}}}", go_duration(period));
    let is_free = checked.settings.is_gate_on("CustomCPUCFSQuotaPeriod");
    if !is_free && period != DEFAULT {
        errors.push(invalid(&format!("{shown} requires feature gate CustomCPUCFSQuotaPeriod")));
    } else if !(SignedDuration::from_millis(1)..=SignedDuration::from_secs(1)).contains(&period) {
        errors.push(invalid(&format!("{shown} must be between 1ms and 1sec, inclusive")));
    }
}

fn image_gc(checked: &Checked<'_>, errors: &mut Vec<String>) {
    const NAMES: [&str; 2] = [
        "imageGCHighThresholdPercent (--image-gc-high-threshold)",
        "imageGCLowThresholdPercent (--image-gc-low-threshold)",
    ];
    let percent = |field: &str, default| checked.merged.get(field).as_i64().unwrap_or(default);
    let (high, low) = (percent("imageGCHighThresholdPercent", HIGH), percent("imageGCLowThresholdPercent", LOW));
    for (name, value) in NAMES.into_iter().zip([high, low]).filter(|(_, value)| !(0..=100).contains(value)) {
        errors.push(invalid(&format!("{name} {value} must be between 0 and 100, inclusive")));
    }
    if low >= high {
        errors.push(invalid(&format!("{} {low} must be less than {} {high}", NAMES[1], NAMES[0])));
    }
    let youngest = checked.span("imageMinimumGCAge").unwrap_or(LEAST_AGE);
    let oldest = checked.span("imageMaximumGCAge").unwrap_or_default();
    if !oldest.is_zero() && !checked.settings.is_gate_on("ImageMaximumGCAge") {
        errors.push(invalid(
            "ImageMaximumGCAge feature gate is required for Kubelet configuration option imageMaximumGCAge",
        ));
    }
    errors.extend(default_sysctls(checked));
    if youngest.is_negative() && checked.settings.profile().is("kubelet-checks-reservation-policy") {
        errors.push(invalid(&format!("imageMinimumGCAge {} must not be negative", go_duration(youngest))));
    }
    if oldest.is_negative() {
        errors.push(invalid(&format!("imageMaximumGCAge {} must not be negative", go_duration(oldest))));
    }
    if oldest.is_positive() && oldest <= youngest {
        let (oldest, youngest) = (go_duration(oldest), go_duration(youngest));
        errors.push(invalid(&format!("imageMaximumGCAge {oldest} must be greater than imageMinimumGCAge {youngest}")));
    }
}

/// Checks the sysctls that pods get by default. The kubelet goes through them in any order.
fn default_sysctls(checked: &Checked<'_>) -> Vec<String> {
    const GATE: &str = "DefaultPodSysctls";
    let (given, profile) = (checked.merged.get("defaultPodSysctls"), checked.settings.profile());
    if given.is_empty() || !profile.is("default-sysctls-are-checked") {
        return Vec::new();
    }
    if !checked.settings.is_gate_on(GATE) {
        let why = format!("{GATE} feature gate is required for Kubelet configuration option defaultPodSysctls");
        return Vec::from([invalid(&why)]);
    }
    let mut seen: Vec<String> = Vec::new();
    let wrong = given.fields().flat_map(|(name, _)| {
        if !sysctls::is_name(name) {
            return Vec::from([format!("{name:?} is not a valid sysctl name for defaultPodSysctls")]);
        }
        let mut wrong = Vec::new();
        if !sysctls::is_namespaced(name, profile) {
            wrong.push(format!("{name:?} is not known to be namespaced for defaultPodSysctls"));
        }
        let name = sysctl_with_dots(name);
        if seen.contains(&name) {
            wrong.push(format!("duplicate sysctl {name:?} found in defaultPodSysctls"));
        }
        seen.push(name);
        wrong
    });
    wrong.map(|why| invalid(&why)).collect()
}

fn pulls(checked: &Checked<'_>, errors: &mut Vec<String>) {
    let pulls = checked.merged.get("maxParallelImagePulls").as_i64().unwrap_or(1);
    if pulls > 1 && checked.is_on("serializeImagePulls") {
        errors.push(invalid(
            "maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls) is \
             set to false",
        ));
    }
}

fn serving_certificate(checked: &Checked<'_>, errors: &mut Vec<String>) {
    if checked.is_on("serverTLSBootstrap") && !checked.settings.is_gate_on("RotateKubeletServerCertificate") {
        errors.push(invalid("serverTLSBootstrap true requires feature gate RotateKubeletServerCertificate"));
    }
}

fn run_once(checked: &Checked<'_>, errors: &mut Vec<String>) {
    if checked.is_on("runOnce") {
        errors.push(invalid("runOnce (--runOnce) true, Runonce mode has been deprecated and should not be set"));
    }
}

fn swap_behaviour(checked: &Checked<'_>, errors: &mut Vec<String>) {
    errors.extend(swap::wrong_words(checked.merged, checked.settings));
}

fn crash_loop(checked: &Checked<'_>, errors: &mut Vec<String>) {
    const GATE: &str = "KubeletCrashLoopBackOffMax";
    let Some(period) = checked.merged.at(&["crashLoopBackOff", "maxContainerRestartPeriod"]).as_str() else { return };
    let period = crate::objects::time::parse_duration(period).unwrap_or_default();
    if !checked.settings.is_gate_on(GATE) {
        errors.push(invalid(&format!(
            "FeatureGate {GATE} not enabled, CrashLoopBackOff.MaxContainerRestartPeriod must not be set"
        )));
    } else if !(1_000..=300_000).contains(&period.as_millis()) {
        errors.push(invalid(&format!(
            "CrashLoopBackOff.MaxContainerRestartPeriod (got: {} seconds) must be set between 1s and 300s",
            go_float(period.as_secs_f64())
        )));
    }
}

fn hairpin(checked: &Checked<'_>, errors: &mut Vec<String>) {
    const MODES: [&str; 3] = ["none", "hairpin-veth", "promiscuous-bridge"];
    if let Some(mode) = checked.merged.get("hairpinMode").as_str().filter(|mode| !MODES.contains(mode)) {
        errors.push(invalid(&format!(
            "option {mode:?} specified for hairpinMode (--hairpin-mode). Valid options are \"none\", \
             \"hairpin-veth\" or \"promiscuous-bridge\""
        )));
    }
}

/// Source: as above, and pkg/kubelet/images/pullmanager/image_pull_policies.go (v1.34).
fn pulled_images(checked: &Checked<'_>, errors: &mut Vec<String>) {
    const GATE: &str = "KubeletEnsureSecretPulledImages";
    const POLICIES: [&str; 4] =
        ["NeverVerify", "NeverVerifyPreloadedImages", "NeverVerifyAllowlistedImages", "AlwaysVerify"];
    let policy = checked.text("imagePullCredentialsVerificationPolicy");
    let allowed = checked.merged.get("preloadedImagesVerificationAllowlist").items();
    if !checked.settings.is_gate_on(GATE) {
        let set = [!policy.is_empty(), !allowed.is_empty()];
        let names = ["imagePullCredentialsVerificationPolicy", "preloadedImagesVerificationAllowlist"];
        for (name, _) in names.into_iter().zip(set).filter(|(_, is_set)| *is_set) {
            errors.push(invalid(&format!("`{name}` must not be set if {GATE} feature gate is not enabled")));
        }
        return;
    }
    if !policy.is_empty() && !POLICIES.contains(&policy) {
        errors.push(invalid(&format!(
            "option {policy:?} specified for imagePullCredentialsVerificationPolicy. Valid options are \
             \"NeverVerify\", \"NeverVerifyPreloadedImages\", \"NeverVerifyAllowlistedImages\" or \"AlwaysVerify\""
        )));
    }
    if !allowed.is_empty() && policy != "NeverVerifyAllowlistedImages" {
        errors.push(invalid(
            "can't set `preloadedImagesVerificationAllowlist` if `imagePullCredentialsVertificationPolicy` is not \
             \"NeverVerifyAllowlistedImages\"",
        ));
    } else if let Some(why) = allowed.iter().filter_map(Json::as_str).find_map(image_pattern_error) {
        errors.push(invalid(&format!("invalid image pattern in `preloadedImagesVerificationAllowlist`: {why}")));
    }
}

fn image_pattern_error(pattern: &str) -> Option<String> {
    let name = pattern.strip_suffix("/*").unwrap_or(pattern);
    let last = name.rsplit('/').next().unwrap_or_default();
    if pattern.is_empty() || pattern == "/*" {
        Some(format!("the supplied pattern is too short: {pattern}"))
    } else if name.contains('*') {
        Some(format!("not a valid wildcard pattern, only patterns ending with '/*' are allowed: {pattern}"))
    } else if last.contains(':') || name.contains('@') {
        Some(format!("neither tag nor digest is accepted in an image reference: {pattern}"))
    } else {
        None
    }
}

fn reserved_memory(checked: &Checked<'_>, errors: &mut Vec<String>) {
    errors.extend(managers::reserved_memory_errors(checked.merged));
}

/// Checks what depends on the operating system: the first error counts.
fn system(checked: &Checked<'_>, errors: &mut Vec<String>) {
    let (merged, profile) = (checked.merged, checked.settings.profile());
    let fails = merged.get("failCgroupV1").as_bool().unwrap_or(profile.is("fail-cgroup-v1"));
    if checked.cgroup_version == 1 && fails {
        let why = profile.text("cgroup-v1-refusal");
        return errors.push(format!("kubelet is configured to not run on a host using cgroup v1. {why}"));
    }
    if checked.cgroup_version == 1 && merged.get("singleProcessOOMKill").as_bool() == Some(false) {
        return errors.push(invalid("singleProcessOOMKill must not be explicitly set to false when using cgroup v1"));
    }
    let why = match merged.at(&["userNamespaces", "idsPerPod"]).as_i64() {
        Some(ids) if ids < IDS => format!("must not be less than {IDS}"),
        Some(ids) if ids % IDS != 0 => format!("must be a multiple of {IDS}"),
        Some(ids) if ids > i64::from(u32::MAX) => format!("must not be more than {}", u32::MAX),
        _ => return,
    };
    errors.push(invalid(&format!("userNamespaces.idsPerPod {why}")));
}

fn memory_throttling(checked: &Checked<'_>, errors: &mut Vec<String>) {
    #[expect(clippy::cast_precision_loss, reason = "a factor of 1")]
    let factor = match checked.merged.get("memoryThrottlingFactor") {
        Json::Float(factor) => Some(*factor),
        factor => factor.as_i64().map(|factor| factor as f64),
    };
    let needs_gate = checked.settings.profile().is("throttling-factor-needs-its-gate");
    if needs_gate && !checked.settings.is_gate_on("MemoryQoS") && factor.is_some_and(|own| own != FORMER_THROTTLING) {
        errors.push(invalid("memoryThrottlingFactor must not be set when MemoryQoS feature gate is disabled"));
    }
    if let Some(factor) = factor.filter(|factor| *factor <= 0.0 || *factor > 1.0) {
        let factor = go_float(factor);
        errors.push(invalid(&format!(
            "memoryThrottlingFactor {factor} must be greater than 0 and less than or equal to 1.0"
        )));
    }
}

fn reservation_policy(checked: &Checked<'_>, errors: &mut Vec<String>) {
    let policy = checked.text("memoryReservationPolicy");
    if !checked.settings.profile().is("kubelet-checks-reservation-policy") {
        return;
    }
    if policy == "TieredReservation" && !checked.settings.is_gate_on("MemoryQoS") {
        errors.push(invalid(
            "memoryReservationPolicy \"TieredReservation\" requires MemoryQoS feature gate to be enabled",
        ));
    }
    if !matches!(policy, "" | "None" | "TieredReservation") {
        errors.push(invalid(&format!(
            "option {policy:?} specified for memoryReservationPolicy. Valid options are \"None\" or \
             \"TieredReservation\""
        )));
    }
}

fn runtime_endpoint(checked: &Checked<'_>, errors: &mut Vec<String>) {
    if checked.merged.get("containerRuntimeEndpoint").as_str() == Some("") {
        errors.push(invalid("the containerRuntimeEndpoint was not specified or empty"));
    }
}

fn system_logs(checked: &Checked<'_>, errors: &mut Vec<String>) {
    if !checked.is_on("enableSystemLogQuery") {
        return;
    }
    if !checked.settings.is_gate_on("NodeLogQuery") {
        let is_own = checked.settings.profile().is("refused-log-query-is-named");
        let field = if is_own { "enableSystemLogQuery" } else { "enableSystemLogHandler" };
        errors.push(invalid(&format!("NodeLogQuery feature gate is required for {field}")));
    }
    if checked.merged.get("enableSystemLogHandler").as_bool() == Some(false) {
        errors.push(invalid("enableSystemLogHandler is required for enableSystemLogQuery"));
    }
}

fn container_logs(checked: &Checked<'_>, errors: &mut Vec<String>) {
    let less = |field: &str, least| checked.merged.get(field).as_i64().is_some_and(|value| value < least);
    if less("containerLogMaxWorkers", 1) {
        errors.push(invalid("containerLogMaxWorkers must be greater than or equal to 1"));
    }
    if checked.span("containerLogMonitorInterval").is_some_and(|span| span < SignedDuration::from_secs(3)) {
        errors
            .push(invalid("containerLogMonitorInterval must be a positive time duration greater than or equal to 3s"));
    }
    if less("containerLogMaxFiles", 2) {
        errors.push(invalid("containerLogMaxFiles must be greater than 1"));
    }
}

fn pod_logs(checked: &Checked<'_>, errors: &mut Vec<String>) {
    let Some(path) = checked.merged.get("podLogsDir").as_str().filter(|path| path.starts_with('/')) else { return };
    let parts = path.split('/').skip(1).enumerate();
    let is_clean = path == "/" || parts.into_iter().all(|(_, part)| !matches!(part, "" | "." | ".."));
    if !is_clean {
        errors.push(invalid(&format!("pod logs path {path:?} must be normalized")));
    }
    if !path.is_ascii() {
        errors.push(invalid(&format!("pod logs path {path:?} mut contains ASCII characters only")));
    }
}

/// Prints a number as Go does: in the shortest form, with an exponent if it is large or small.
fn go_float(value: f64) -> String {
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if value == 0.0 || (-4..6).contains(&exponent) {
        return value.to_string();
    }
    format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::{CHECKS, go_float, image_pattern_error};
    use crate::components::kubelet::validation::Checked;
    use crate::json;
    use crate::objects::{Json, Text};
    use crate::profile::{Release, Settings};

    fn errors(merged: &Json, cgroup_version: i64) -> String {
        errors_of(merged, cgroup_version, &Settings::default())
    }

    fn errors_of(merged: &Json, cgroup_version: i64, settings: &Settings) -> String {
        let checked = Checked { merged, settings, cgroup_version };
        let mut errors = Vec::new();
        CHECKS.iter().for_each(|check| check.errors(&checked, &mut errors));
        errors.join("; ").replace("invalid configuration: ", "")
    }

    #[test]
    fn a_value_out_of_its_range_is_named_with_its_flag() {
        for (config, error) in [
            (json!({"kubeAPIBurst": -1}), "kubeAPIBurst (--kube-api-burst) -1 must not be a negative number"),
            (json!({"healthzPort": 0, "iptablesDropBit": 31, "oomScoreAdj": -999}), ""),
            (
                json!({"cpuCFSQuotaPeriod": "50ms"}),
                "cpuCFSQuotaPeriod (--cpu-cfs-quota-period) {50ms} requires feature gate CustomCPUCFSQuotaPeriod",
            ),
            (json!({"userNamespaces": {"idsPerPod": 70_000}}), "userNamespaces.idsPerPod must be a multiple of 65536"),
            (
                json!({"containerLogMaxFiles": 1, "maxPods": -1}),
                "maxPods (--max-pods) -1 must not be a negative number; containerLogMaxFiles must be greater than 1",
            ),
            (json!({"memoryThrottlingFactor": 0.8, "defaultPodSysctls": {"vm.swappiness": "1"}}), ""),
            (json!({"podLogsDir": "/var//log"}), "pod logs path \"/var//log\" must be normalized"),
        ] {
            assert_eq!(errors(&config, 2), error, "{config}");
        }
        assert_eq!(errors(&json!({"singleProcessOOMKill": false}), 2), "");
        assert!(errors(&json!({"singleProcessOOMKill": false}), 1).contains("when using cgroup v1"));
    }

    #[test]
    fn what_came_with_a_gate_is_refused_without_it() {
        let at = |gates: &str| {
            let mut settings = Settings::of(Release::new(37, 2));
            settings.set("kubelet.feature-gates", gates).unwrap();
            settings
        };
        let throttling = json!({"memoryThrottlingFactor": 0.8});
        assert_eq!(errors_of(&throttling, 2, &at("")), "");
        let off = at("MemoryQoS=false");
        let refused = "memoryThrottlingFactor must not be set when MemoryQoS feature gate is disabled";
        assert_eq!(errors_of(&throttling, 2, &off), refused);
        assert_eq!(errors_of(&json!({"memoryThrottlingFactor": 0.9}), 2, &off), "");
        let range = "memoryThrottlingFactor 2 must be greater than 0 and less than or equal to 1.0";
        assert_eq!(errors_of(&json!({"memoryThrottlingFactor": 2}), 2, &off), format!("{refused}; {range}"));
        let of = |names: &[&str]| {
            let all: Json = names.iter().map(|name| (Text::from(*name), Json::from("1"))).collect();
            json!({"defaultPodSysctls": all})
        };
        let refused = "DefaultPodSysctls feature gate is required for Kubelet configuration option defaultPodSysctls";
        assert_eq!(errors_of(&of(&["net.core.somaxconn"]), 2, &at("")), refused);
        let on = at("DefaultPodSysctls=true");
        for (names, error) in [
            (&["net.core.somaxconn"][..], ""),
            (&["Net.x"], "\"Net.x\" is not a valid sysctl name for defaultPodSysctls"),
            (&["vm.swappiness"], "\"vm.swappiness\" is not known to be namespaced for defaultPodSysctls"),
            (
                &["net.core.somaxconn", "net/core/somaxconn"],
                "duplicate sysctl \"net.core.somaxconn\" found in defaultPodSysctls",
            ),
        ] {
            assert_eq!(errors_of(&of(names), 2, &on), error, "{names:?}");
        }
    }

    #[test]
    fn numbers_are_printed_as_go_prints_them() {
        for (value, printed) in [
            (0.0, "0"),
            (1.5, "1.5"),
            (1e21, "1e+21"),
            (123_456_789.5, "1.234567895e+08"),
            (-0.5, "-0.5"),
            (1e-7, "1e-07"),
        ] {
            assert_eq!(go_float(value), printed);
        }
    }

    #[test]
    fn patterns_of_images_are_names_or_end_in_a_star() {
        assert_eq!(image_pattern_error("a/*"), None);
        assert_eq!(image_pattern_error("localhost:5000/a"), None);
        assert!(image_pattern_error("a*b").is_some() && image_pattern_error("b:tag").is_some());
    }
}
