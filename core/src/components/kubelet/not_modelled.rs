//! Which settings of a kubelet have effects that people can see and that are not modelled.
//!
//! The kubelet accepts them and starts; a scenario that relies on them can be neither right nor wrong. Inputs: the
//! merged configuration, the hardware, the cluster's gates. Outputs: the name of each such setting.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::components::host::Hardware;
use crate::objects::Json;
use crate::objects::quantity::Quantity;
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
/// At least this share of memory and disk is free on a machine that nothing has filled, in percent.
const FREE_PERCENT: f64 = 50.0;

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
    let swap = merged.at(&["memorySwap", "swapBehavior"]).as_str().unwrap_or_default();
    if !matches!(swap, "" | "NoSwap") {
        found.push(String::from("memorySwap"));
    }
    for field in ["evictionHard", "evictionSoft"] {
        for (signal, value) in merged.get(field).fields() {
            if may_be_met(signal, value.as_str().unwrap_or_default(), hardware) {
                let value = value.as_str().unwrap_or_default();
                found.push(format!("pressure by {field} {signal}<{value}"));
            }
        }
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
fn may_be_met(signal: &str, threshold: &str, hardware: &Hardware) -> bool {
    if let Some(percent) = threshold.strip_suffix('%') {
        // A threshold of 100 % is none.
        return threshold != "100%" && percent.trim().parse::<f64>().is_ok_and(|percent| percent > FREE_PERCENT);
    }
    let capacity = match signal {
        "memory.available" => hardware.memory,
        "nodefs.available" | "imagefs.available" | "containerfs.available" => hardware.ephemeral_storage,
        // How many inodes and process ids a machine has is not modelled.
        _ => return Quantity::parse(threshold).is_some_and(|amount| !amount.is_zero()),
    };
    let free = capacity.value() / 2;
    Quantity::parse(threshold).is_some_and(|amount| amount.value() > free)
}
