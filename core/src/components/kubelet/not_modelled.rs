//! Which settings of a kubelet have effects that people can see and that are not modelled.
//!
//! The kubelet accepts them and starts; a scenario that relies on them can be neither right nor wrong. Inputs: the
//! merged configuration, the cluster's gates. Outputs: the name of each such setting.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::decoder::parse_bool;
use crate::components::host::Hardware;
use crate::objects::{Json, Text};
use crate::profile::Settings;

/// A field of which no effect is modelled where it is on.
const FIELD: &str = "kernelMemcgNotification";
/// Options of the CPU manager that change what containers get. The others do not, as a core has one thread.
const CPU_OPTIONS: [&str; 4] = [
    "align-by-socket",
    "distribute-cpus-across-cores",
    "distribute-cpus-across-numa",
    "prefer-align-cpus-by-uncorecache",
];

/// Returns the name of each setting whose effect is not modelled, with its value where that matters.
pub(super) fn not_modelled(merged: &Json, settings: &Settings) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    if merged.get(FIELD).as_bool() == Some(true) {
        found.push(String::from(FIELD));
    }
    let options = merged.get("cpuManagerPolicyOptions").fields();
    let is_on = |value: &Json| value.as_str().and_then(parse_bool) == Some(true);
    let has_effect = |(name, value): &(&Text, &Json)| CPU_OPTIONS.contains(&name.as_str()) && is_on(value);
    found.extend(options.filter(has_effect).map(|(name, _)| format!("cpuManagerPolicyOptions {name}")));
    // The machines run Linux, on which the gates of Windows have no effect.
    for (gate, on) in merged.get("featureGates").fields().filter(|(gate, _)| !gate.starts_with("Windows")) {
        let what = format!("feature gate {gate}={on}");
        if settings.not_modelled().any(|own| own == what) {
            found.push(format!("{what} of one kubelet"));
        }
    }
    found
}

/// Returns the release of which it is not known all that its kubelet does.
pub(super) fn release_not_modelled(hardware: &Hardware, settings: &Settings) -> Option<String> {
    let release = settings.profile().release();
    let name = release.minor_name();
    if release.is_before_kubelets() {
        Some(format!("a kubelet of {name}"))
    } else if release.is_before_offered() && hardware.swap.is_zero() {
        Some(format!("a kubelet of {name} without swap space"))
    } else {
        None
    }
}
