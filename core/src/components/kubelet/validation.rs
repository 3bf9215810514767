//! The checks of a kubelet's settings, with the kubelet's messages.
//!
//! Mirrors pkg/kubelet/apis/config/validation/validation.go and cmd/kubelet/app/options/options.go (v1.34). All wrong
//! settings are collected; several print as `[e1, e2]`. Pure: values in, nothing or the message out.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use jiff::SignedDuration;

use super::config::KubeletConfig;
use super::setting_ranges::{self, RangePlace};
use super::swap;
use super::topology::reserved_memory_errors;
use crate::components::host::Hardware;
use crate::objects::cpu_set::parse_cpu_set;
use crate::objects::go_duration::go_duration;
use crate::objects::kubelet_labels::{KUBELET_LABELS, KUBELET_PREFIXES, is_kubelet_label, is_reserved_label};
use crate::objects::names::{self, Wording};
use crate::objects::time::parse_duration;
use crate::objects::{Json, Text};
use crate::profile::Settings;

/// Source: k8s.io/api core/v1 types.go (v1.34), `TaintEffect`.
pub(super) const TAINT_EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// Checks the feature gates of the file.
///
/// Source: cmd/kubelet/app/options/options.go (v1.34), `NewKubeletConfiguration`; the kubelet panics.
pub(super) fn gates(given: &Json, settings: &Settings) -> Result<(), String> {
    if given.is_null() {
        return Ok(());
    }
    settings.clone().set_own_gates(given).map_err(|why| {
        format!("panic: failed to merge global and in-flight KubeletConfiguration while setting defaults, error: {why}")
    })
}

/// Checks `--node-labels`.
pub(super) fn node_labels(labels: &[(Text, Text)]) -> Result<(), String> {
    let unknown: Vec<&str> = labels
        .iter()
        .map(|(key, _)| key.as_str())
        .filter(|key| is_reserved_label(key) && !is_kubelet_label(key))
        .collect();
    if !unknown.is_empty() {
        return Err(format!(
            "unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [{}]\n--node-labels in the \
                'kubernetes.io' namespace must begin with an allowed prefix ({}) or be in the specifically allowed \
                set ({})",
            unknown.join(" "),
            KUBELET_PREFIXES.join(", "),
            KUBELET_LABELS.join(", "),
        ));
    }
    let wrong: Vec<String> = labels
        .iter()
        .filter_map(|(key, value)| {
            let errors: Vec<String> = qualified_name(key).into_iter().chain(label_value(value)).collect();
            (!errors.is_empty()).then(|| format!("'{key}' - {}", errors.join(", ")))
        })
        .collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("invalid node labels: {}", wrong.join("; "))) }
}

/// Returns what is wrong with a key. Source: k8s.io/apimachinery pkg/util/validation (v1.34), `IsQualifiedName`.
pub(super) fn qualified_name(key: &str) -> Vec<String> {
    names::qualified(key, Wording::Characters)
}

/// Returns what is wrong with a label's value. Source: as [`qualified_name`], `IsValidLabelValue`.
pub(super) fn label_value(value: &str) -> Vec<String> {
    names::label_value(value, Wording::Characters)
}

fn taint_errors(taint: &Json) -> Option<String> {
    let text = |field| taint.get(field).as_str().unwrap_or_default();
    let (key, value, effect) = (text("key"), text("value"), text("effect"));
    if !taint.get("timeAdded").is_null() {
        return Some("invalid configuration: taint.TimeAdded is not nil".to_string());
    }
    let wrong = !qualified_name(key).is_empty()
        || !label_value(value).is_empty()
        || !(effect.is_empty() || TAINT_EFFECTS.contains(&effect));
    wrong.then(|| format!("invalid taint: {}", go_taint(taint)))
}

/// Prints a taint as Go prints the struct.
pub(super) fn go_taint(taint: &Json) -> String {
    let text = |field| taint.get(field).as_str().unwrap_or_default();
    format!("{{{} {} {} <nil>}}", text("key"), text("value"), text("effect"))
}

/// Checks the configuration; the order of the checks is that of the kubelet.
pub(super) fn configuration(
    merged: &Json,
    config: &KubeletConfig,
    hardware: &Hardware,
    settings: &Settings,
) -> Result<(), String> {
    let mut errors: Vec<String> = Vec::new();
    let mut refuse = |wrong: bool, message: String| {
        if wrong {
            errors.push(message);
        }
    };
    refuse(
        config.lease_duration_seconds <= 0,
        "invalid configuration: nodeLeaseDurationSeconds must be greater than 0".to_string(),
    );
    let version = hardware.cgroup_version;
    let ranges = |place| setting_ranges::errors(merged, place, version);
    ranges(RangePlace::Images).into_iter().for_each(|why| refuse(true, why));
    refuse(
        config.max_images < -1,
        format!(
            "invalid configuration: nodeStatusMaxImages (--node-status-max-images) {} must be -1 or greater",
            config.max_images
        ),
    );
    ranges(RangePlace::Pods).into_iter().for_each(|why| refuse(true, why));
    refuse(
        config.max_pods < 0,
        format!("invalid configuration: maxPods (--max-pods) {} must not be a negative number", config.max_pods),
    );
    ranges(RangePlace::PodsPerCore).into_iter().for_each(|why| refuse(true, why));
    refuse(
        config.pods_per_core < 0,
        format!(
            "invalid configuration: podsPerCore (--pods-per-core) {} must not be a negative number",
            config.pods_per_core
        ),
    );
    port_error(config, &mut refuse);
    ranges(RangePlace::Taints).into_iter().for_each(|why| refuse(true, why));
    connection_errors(config, settings, &mut refuse);
    for taint in &config.taints {
        if let Some(error) = taint_errors(taint) {
            refuse(true, error);
        }
    }
    topology_errors(merged, &mut refuse);
    shutdown_errors(merged, settings, &mut refuse);
    if let Some(message) = swap::wrong_words(merged, settings) {
        refuse(true, message);
    }
    enforcement_errors(merged, settings, &mut refuse);
    ranges(RangePlace::ReservedCpus).into_iter().for_each(|why| refuse(true, why));
    reservation_errors(merged, config, &mut refuse);
    let profile = settings.profile();
    let fail_cgroup_v1 = merged.get("failCgroupV1").as_bool().unwrap_or(profile.is("fail-cgroup-v1"));
    let fails_at_cgroups = hardware.cgroup_version == 1 && fail_cgroup_v1;
    ranges(RangePlace::End).into_iter().for_each(|why| refuse(!fails_at_cgroups, why));
    if fails_at_cgroups {
        refuse(
            true,
            format!(
                "kubelet is configured to not run on a host using cgroup v1. {}",
                profile.text("cgroup-v1-refusal")
            ),
        );
    }
    let text = match errors.as_slice() {
        [] => return Ok(()),
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    };
    Err(format!("failed to validate kubelet configuration, error: {text}, path: &TypeMeta{{Kind:,APIVersion:,}}"))
}

fn port_error(config: &KubeletConfig, refuse: &mut impl FnMut(bool, String)) {
    refuse(
        !(1..=65535).contains(&config.port),
        format!("invalid configuration: port (--port) {} must be between 1 and 65535, inclusive", config.port),
    );
}

fn connection_errors(config: &KubeletConfig, settings: &Settings, refuse: &mut impl FnMut(bool, String)) {
    refuse(
        config.has_no_runtime_endpoint,
        "invalid configuration: the containerRuntimeEndpoint was not specified or empty".to_string(),
    );
    refuse(
        config.serves_with_signed_certificate && !settings.is_gate_on("RotateKubeletServerCertificate"),
        "invalid configuration: serverTLSBootstrap true requires feature gate RotateKubeletServerCertificate"
            .to_string(),
    );
}

fn topology_errors(merged: &Json, refuse: &mut impl FnMut(bool, String)) {
    for (field, flag, valid) in [
        (
            "topologyManagerPolicy",
            "--topology-manager-policy",
            &["none", "best-effort", "restricted", "single-numa-node"][..],
        ),
        ("topologyManagerScope", "--topology-manager-scope", &["container", "pod"][..]),
    ] {
        if let Some(value) = merged.get(field).as_str().filter(|value| !value.is_empty() && !valid.contains(value)) {
            let list = if field == "topologyManagerScope" {
                "\"container\", or \"pod\"".to_string()
            } else {
                format!("[\"{}\"]", valid.join("\" \""))
            };
            refuse(true, format!("invalid configuration: {field} ({flag}) \"{value}\" must be one of: {list}"));
        }
    }
}

fn shutdown_errors(merged: &Json, settings: &Settings, refuse: &mut impl FnMut(bool, String)) {
    let span = |field| merged.get(field).as_str().and_then(parse_duration).unwrap_or_default();
    let (total, critical) = (span("shutdownGracePeriod"), span("shutdownGracePeriodCriticalPods"));
    let has_priorities = !merged.get("shutdownGracePeriodByPodPriority").items().is_empty();
    let is_set = total.is_positive() || critical.is_positive();
    if settings.is_gate_on("GracefulNodeShutdown") {
        refuse(
            critical > total,
            format!(
                "invalid configuration: shutdownGracePeriodCriticalPods {{{}}} must be <= shutdownGracePeriod {{{}}}",
                go_duration(critical),
                go_duration(total)
            ),
        );
        for (field, value) in [("shutdownGracePeriod", total), ("shutdownGracePeriodCriticalPods", critical)] {
            refuse(
                !value.is_zero() && value < SignedDuration::from_secs(1),
                format!(
                    "invalid configuration: {field} {{{}}} must be either zero or otherwise >= 1 sec",
                    go_duration(value)
                ),
            );
        }
    } else {
        refuse(
            is_set,
            "invalid configuration: specifying shutdownGracePeriod or shutdownGracePeriodCriticalPods requires \
                feature gate GracefulNodeShutdown"
                .to_string(),
        );
    }
    if settings.is_gate_on("GracefulNodeShutdownBasedOnPodPriority") {
        refuse(
            has_priorities && is_set,
            "invalid configuration: Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at \
                the same time"
                .to_string(),
        );
    } else {
        refuse(
            has_priorities,
            "invalid configuration: Specifying shutdownGracePeriodByPodPriority requires feature gate \
                GracefulNodeShutdownBasedOnPodPriority"
                .to_string(),
        );
    }
}

fn reservation_errors(merged: &Json, config: &KubeletConfig, refuse: &mut impl FnMut(bool, String)) {
    let of_resources = config.image_gc.errors().chain(reserved_memory_errors(merged));
    of_resources.for_each(|why| refuse(true, why));
    let text = |field| merged.get(field).as_str().unwrap_or_default();
    let listed = text("reservedSystemCPUs");
    refuse(
        !listed.is_empty() && (!text("systemReservedCgroup").is_empty() || !text("kubeReservedCgroup").is_empty()),
        "invalid configuration: can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup \
            (--system-reserved-cgroup) or kubeReservedCgroup (--kube-reserved-cgroup)"
            .to_string(),
    );
    if let Err(why) = parse_cpu_set(listed) {
        refuse(
            true,
            format!(
                "invalid configuration: unable to parse reservedSystemCPUs (--reserved-cpus) {listed}, error: {why}"
            ),
        );
    }
}

/// Checks `enforceNodeAllocatable`; releases before 1.32 know no compressible part, and say it in other words.
fn enforcement_errors(merged: &Json, settings: &Settings, refuse: &mut impl FnMut(bool, String)) {
    const PLACE: &str = "enforceNodeAllocatable (--enforce-node-allocatable)";
    let given = merged.get("enforceNodeAllocatable");
    let enforced: Vec<&str> = match given.is_null() {
        true => Vec::from(["pods"]),
        false => given.items().iter().filter_map(Json::as_str).collect(),
    };
    let knows_compressible = settings.profile().is("compressible-reservations");
    let is_known = |value: &str| {
        matches!(value, "pods" | "system-reserved" | "kube-reserved" | "none")
            || knows_compressible && matches!(value, "system-reserved-compressible" | "kube-reserved-compressible")
    };
    for kind in ["system", "kube"] {
        let (all, part) = (format!("{kind}-reserved"), format!("{kind}-reserved-compressible"));
        refuse(
            knows_compressible && enforced.contains(&all.as_str()) && enforced.contains(&part.as_str()),
            format!("invalid configuration: both \"{all}\" and \"{part}\" cannot be specified together in {PLACE}"),
        );
    }
    for (at, value) in enforced.iter().enumerate() {
        if enforced[..at].contains(value) {
            refuse(true, format!("invalid configuration: duplicated enforcements \"{value}\" in {PLACE}"));
        } else if !is_known(value) {
            refuse(true, unknown_enforcement(value, knows_compressible));
        } else if *value == "none" {
            refuse(
                enforced.len() > 1,
                format!(
                    "invalid configuration: {PLACE} may not contain additional enforcements when \"none\" is specified"
                ),
            );
        } else {
            if let Some((kind, _)) = value.split_once("-reserved") {
                let field = format!("{kind}ReservedCgroup");
                let when = if knows_compressible {
                    format!("\"{kind}-reserved\" or \"{kind}-reserved-compressible\" included in {PLACE}")
                } else {
                    format!("\"{kind}-reserved\" contained in {PLACE}")
                };
                refuse(
                    merged.get(&field).as_str().is_none_or(str::is_empty),
                    format!("invalid configuration: {field} (--{kind}-reserved-cgroup) must be specified when {when}"),
                );
            }
            refuse(
                merged.get("cgroupsPerQOS").as_bool() == Some(false),
                format!(
                    "invalid configuration: cgroupsPerQOS (--cgroups-per-qos) must be set to true when \"{value}\" \
                        contained in {PLACE}"
                ),
            );
        }
    }
}

fn unknown_enforcement(value: &str, knows_compressible: bool) -> String {
    let valid = if knows_compressible {
        "\"pods\", \"system-reserved\", \"system-reserved-compressible\", \"kube-reserved\", \
            \"kube-reserved-compressible\" or \"none\""
    } else {
        "\"pods\", \"system-reserved\", \"kube-reserved\" or \"none\""
    };
    format!(
        "invalid configuration: option \"{value}\" specified for enforceNodeAllocatable (--enforce-node-allocatable). \
         Valid options are {valid}"
    )
}
