//! Which settings of a kubelet have effects that people can see and that are not modelled.
//!
//! The kubelet accepts them and starts; a scenario that relies on them can be neither right nor wrong. Inputs: the
//! merged configuration, the cluster's gates. Outputs: the name of each such setting.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::components::host::Hardware;
use crate::objects::Json;
use crate::profile::Settings;

/// Fields of which no effect is modelled, with their defaults.
/// Source: pkg/kubelet/apis/config/v1beta1/defaults.go (v1.34).
const FIELDS: [(&str, Default); 5] = [
    ("cpuManagerPolicyOptions", Default::Nothing),
    ("imageMaximumGCAge", Default::Text("0s")),
    ("kernelMemcgNotification", Default::Bool(false)),
    ("localStorageCapacityIsolation", Default::Bool(true)),
    ("podCIDR", Default::Text("")),
];

/// The default of a field.
#[derive(Clone, Copy)]
enum Default {
    Text(&'static str),
    Bool(bool),
    /// An empty list or object.
    Nothing,
}

impl Default {
    fn is(self, value: &Json) -> bool {
        match self {
            _ if value.is_null() => true,
            Self::Text(text) => value.as_str() == Some(text) || value.as_str() == Some(""),
            Self::Bool(on) => value.as_bool() == Some(on),
            Self::Nothing => value.items().is_empty() && value.fields().next().is_none(),
        }
    }
}

/// Returns the name of each setting whose effect is not modelled, with its value where that matters.
pub(super) fn not_modelled(merged: &Json, settings: &Settings) -> Vec<String> {
    let fields = FIELDS.iter().filter(|(field, default)| !default.is(merged.get(field)));
    let mut found: Vec<String> = fields.map(|(field, _)| String::from(*field)).collect();
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
