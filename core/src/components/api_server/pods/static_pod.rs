//! What a kubelet does to the Pod of a file, with the packages of the API: defaults and validation.
//!
//! Mirrors `tryDecodeSinglePod` of pkg/kubelet/config/common.go (v1.34). Pure. Inputs: the Pod, the settings of the
//! kubelet. Outputs: the Pod with its defaults, and what is wrong with it.

use alloc::string::String;
use alloc::vec::Vec;

use crate::components::api_server::validation::{FieldError, meta, pod, worded};
use crate::network::PODS;
use crate::network::kinds;
use crate::objects::Json;
use crate::profile::Settings;

/// Sets the defaults of the Pod of a file.
pub(in crate::components) fn default(tree: &mut Json, settings: &Settings) {
    super::default(tree, settings);
}

/// Tells what is wrong with the Pod of a file.
///
/// Source: pkg/kubelet/config/common.go (v1.34, v1.35): `PodValidationOptions{}`, later those of the gates.
pub(in crate::components) fn errors(tree: &Json, settings: &Settings) -> Vec<String> {
    let kind = kinds::of_table(&PODS).expect("a kind of the table");
    let rules = pod::Rules::of(settings);
    let rules = if settings.profile().is("static-pods-are-checked-by-gates") { rules } else { rules.without_gates() };
    let errors = pod::validate(kind, tree, meta::wording(settings), rules);
    worded(errors, settings).iter().map(FieldError::text).collect()
}
