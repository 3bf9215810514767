//! Which settings of a kubelet have effects that people can see and that are not modelled.
//!
//! The kubelet accepts them and starts; a scenario that relies on them can be neither right nor wrong. Inputs: the
//! merged configuration, the hardware, the cluster's gates. Outputs: the name of each such setting.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::thresholds::{self, Threshold, text};
use crate::components::host::Hardware;
use crate::objects::Json;
use crate::objects::quantity::{Format, Quantity};
use crate::profile::Settings;

/// Fields of which no effect is modelled, with their defaults.
/// Source: pkg/kubelet/apis/config/v1beta1/defaults.go (v1.34).
const FIELDS: [(&str, Default); 13] = [
    ("cpuManagerPolicy", Default::Text("none")),
    ("crashLoopBackOff", Default::Nothing),
    ("imageGCHighThresholdPercent", Default::Number(85)),
    ("imageGCLowThresholdPercent", Default::Number(80)),
    ("imageMaximumGCAge", Default::Text("0s")),
    ("localStorageCapacityIsolation", Default::Bool(true)),
    ("memoryManagerPolicy", Default::Text("None")),
    ("podCIDR", Default::Text("")),
    ("reservedMemory", Default::Nothing),
    ("runOnce", Default::Bool(false)),
    ("serverTLSBootstrap", Default::Bool(false)),
    ("staticPodPath", Default::Text("")),
    ("topologyManagerPolicy", Default::Text("none")),
];
/// At least this share of memory and disk is free on a machine that nothing has filled.
const FREE: f32 = 0.5;

/// The default of a field.
#[derive(Clone, Copy)]
enum Default {
    Text(&'static str),
    Number(i64),
    Bool(bool),
    /// An empty list or object.
    Nothing,
}

impl Default {
    fn is(self, value: &Json) -> bool {
        match self {
            _ if value.is_null() => true,
            Self::Text(text) => value.as_str() == Some(text) || value.as_str() == Some(""),
            Self::Number(number) => *value == Json::Int(number),
            Self::Bool(on) => value.as_bool() == Some(on),
            Self::Nothing => value.items().is_empty() && value.fields().next().is_none(),
        }
    }
}

/// Returns the name of each setting whose effect is not modelled, with its value where that matters.
pub(super) fn not_modelled(merged: &Json, hardware: &Hardware, settings: &Settings) -> Vec<String> {
    let fields = FIELDS.iter().filter(|(field, default)| !default.is(merged.get(field)));
    let mut found: Vec<String> = fields.map(|(field, _)| String::from(*field)).collect();
    let release = settings.profile().release();
    if release.is_before_offered() && hardware.swap.is_zero() {
        found.push(format!("a kubelet of {}, but for what it does with swap space", release.minor_name()));
    }
    for field in ["evictionHard", "evictionSoft"] {
        let given = merged.get(field);
        // Wrong ones keep the kubelet from starting.
        let thresholds = thresholds::hard(given).unwrap_or_default();
        let met = thresholds.iter().filter(|(signal, threshold)| may_be_met(signal, *threshold, hardware));
        found.extend(met.map(|(signal, _)| format!("pressure by {field} {signal}<{}", text(given.get(signal)))));
    }
    for (gate, on) in merged.get("featureGates").fields() {
        let what = format!("feature gate {gate}={on}");
        if settings.not_modelled().any(|own| own == what) {
            found.push(format!("{what} of one kubelet"));
        }
    }
    found
}

/// Tells whether a threshold may be met on a machine that nothing has filled.
fn may_be_met(signal: &str, threshold: Threshold, hardware: &Hardware) -> bool {
    let capacity = match signal {
        "memory.available" => hardware.memory,
        "nodefs.available" | "imagefs.available" | "containerfs.available" => hardware.ephemeral_storage,
        // How many inodes and process ids a machine has is not modelled, and any share may be compared.
        _ => Quantity::whole(0, Format::DecimalSi),
    };
    match threshold {
        Threshold::Share(fraction) => fraction > FREE,
        Threshold::Amount(amount) => amount.value() > capacity.value() / 2,
    }
}
