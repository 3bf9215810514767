//! The checks of a kubelet's settings, with the kubelet's messages.
//!
//! Mirrors pkg/kubelet/apis/config/validation/validation.go and cmd/kubelet/app/options/options.go (v1.34). All wrong
//! settings are collected; several print as `[e1, e2]`. Pure: values in, nothing or the message out.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use jiff::SignedDuration;

use super::checks;
use crate::objects::cpu_set::parse_cpu_set;
use crate::objects::go_duration::go_duration;
use crate::objects::kubelet_labels::{KUBELET_LABELS, KUBELET_PREFIXES, is_kubelet_label, is_reserved_label};
use crate::objects::names::{self, Wording};
use crate::objects::time::parse_duration;
use crate::objects::{Json, Text, aggregate};
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

/// Checks the feature gates of `--feature-gates`. Source: cmd/kubelet/app/server.go (v1.34), `NewKubeletCommand`.
pub(super) fn gates_of_flags(flags: &[(&str, Json)], settings: &Settings) -> Result<(), String> {
    let mut given = flags.iter().filter(|(field, _)| *field == "featureGates");
    let mut settings = settings.clone();
    given
        .try_for_each(|(_, gates)| settings.set_own_gates(gates))
        .map_err(|why| format!("failed to set feature gates from initial flags-based config: {why}"))
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
            let of_key = Some(qualified_name(key)).filter(|why| !why.is_empty());
            let (named, errors) = of_key.map_or_else(|| (value, label_value(value)), |why| (key, why));
            (!errors.is_empty()).then(|| format!("'{named}' - {}", errors.join(", ")))
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

/// Prints a taint as Go prints the struct.
pub(super) fn go_taint(taint: &Json) -> String {
    let text = |field| taint.get(field).as_str().unwrap_or_default();
    let added = taint.get("timeAdded").as_str().and_then(crate::objects::time::parse);
    let added = added.map_or_else(|| "<nil>".to_string(), |at| at.strftime("%Y-%m-%d %H:%M:%S +0000 UTC").to_string());
    format!("{{{} {} {} {added}}}", text("key"), text("value"), text("effect"))
}

/// What the checks look at.
pub(super) struct Checked<'a> {
    pub(super) merged: &'a Json,
    pub(super) settings: &'a Settings,
    pub(super) cgroup_version: i64,
}

impl Checked<'_> {
    pub(super) fn text(&self, field: &str) -> &str {
        self.merged.get(field).as_str().unwrap_or_default()
    }

    pub(super) fn span(&self, field: &str) -> Option<SignedDuration> {
        self.merged.get(field).as_str().and_then(parse_duration)
    }

    pub(super) fn is_on(&self, field: &str) -> bool {
        self.merged.get(field).as_bool() == Some(true)
    }
}

/// Checks the configuration.
pub(super) fn configuration(checked: &Checked<'_>) -> Result<(), String> {
    let mut errors: Vec<String> = Vec::new();
    for check in checks::CHECKS {
        check.errors(checked, &mut errors);
    }
    let Some(text) = aggregate(errors) else { return Ok(()) };
    Err(format!("failed to validate kubelet configuration, error: {text}, path: &TypeMeta{{Kind:,APIVersion:,}}"))
}

/// Checks `registerWithTaints`.
pub(super) fn taints(checked: &Checked<'_>, errors: &mut Vec<String>) {
    for taint in checked.merged.get("registerWithTaints").items() {
        let text = |field| taint.get(field).as_str().unwrap_or_default();
        let effect = text("effect");
        let wrong = !qualified_name(text("key")).is_empty()
            || !label_value(text("value")).is_empty()
            || !(effect.is_empty() || TAINT_EFFECTS.contains(&effect));
        if wrong {
            errors.push(format!("invalid taint: {}", go_taint(taint)));
        }
        if !taint.get("timeAdded").is_null() {
            errors.push("invalid configuration: taint.TimeAdded is not nil".to_string());
        }
    }
}

/// Checks the policy and the scope of the topology manager.
pub(super) fn topology(checked: &Checked<'_>, errors: &mut Vec<String>) {
    const POLICIES: [&str; 4] = ["none", "best-effort", "restricted", "single-numa-node"];
    let wrong = |field: &str, valid: &[&str]| {
        checked.merged.get(field).as_str().filter(|value| !valid.contains(value)).map(ToString::to_string)
    };
    if let Some(policy) = wrong("topologyManagerPolicy", &POLICIES) {
        errors.push(format!(
            "invalid configuration: topologyManagerPolicy (--topology-manager-policy) {policy:?} must be one of: \
             [\"{}\"]",
            POLICIES.join("\" \"")
        ));
    }
    if let Some(scope) = wrong("topologyManagerScope", &["container", "pod"]) {
        errors.push(format!(
            "invalid configuration: topologyManagerScope (--topology-manager-scope) {scope:?} must be one of: \
             \"container\", or \"pod\""
        ));
    }
}

/// Checks how long a shutdown waits.
pub(super) fn shutdown(checked: &Checked<'_>, errors: &mut Vec<String>) {
    let (merged, settings) = (checked.merged, checked.settings);
    let mut refuse = |wrong: bool, message: String| errors.extend(wrong.then_some(message));
    let span = |field| checked.span(field).unwrap_or_default();
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

/// Checks `reservedSystemCPUs`.
pub(super) fn reserved_cpus(checked: &Checked<'_>, errors: &mut Vec<String>) {
    let mut refuse = |wrong: bool, message: String| errors.extend(wrong.then_some(message));
    let text = |field| checked.text(field);
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
pub(super) fn enforcement(checked: &Checked<'_>, errors: &mut Vec<String>) {
    let (merged, settings) = (checked.merged, checked.settings);
    let mut refuse = |wrong: bool, message: String| errors.extend(wrong.then_some(message));
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
        "\"pods\", \"system-reserved\", \"kube-reserved\", or \"none\""
    };
    format!(
        "invalid configuration: option \"{value}\" specified for enforceNodeAllocatable (--enforce-node-allocatable). \
         Valid options are {valid}"
    )
}
