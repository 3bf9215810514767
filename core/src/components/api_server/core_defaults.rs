//! Defaults of small kinds of the core group: LimitRange and Secret, whose texts become data.
//!
//! Mirrors pkg/apis/core/v1/{defaults,conversion}.go (v1.34). Inputs: the tree of an object. Output: the same tree.

use alloc::string::String;

use crate::objects::{Json, base64};

/// Sets the limits and requests of containers that a LimitRange leaves open. Source: defaults.go (v1.34),
/// `SetDefaults_LimitRangeItem`.
pub(super) fn default_limit_range(tree: &mut Json) {
    if tree.at(&["spec", "limits"]).is_empty() {
        return;
    }
    for limit in tree.entry(&["spec", "limits"]).make_array() {
        if limit.get("type").as_str() != Some("Container") {
            continue;
        }
        for (from, to) in [("max", "default"), ("default", "defaultRequest"), ("min", "defaultRequest")] {
            for (name, amount) in limit.get(from).clone().fields() {
                if limit.get(to).get(name).is_null() {
                    limit.set(&[to, name], amount.clone());
                }
            }
        }
    }
}

/// Sets the type of a Secret, and writes its texts into its data. Source: defaults.go (v1.34), `SetDefaults_Secret`,
/// and conversion.go, `Convert_v1_Secret_To_core_Secret`.
pub(super) fn default_secret(tree: &mut Json) {
    if tree.get("type").as_str().unwrap_or("").is_empty() {
        tree.set(&["type"], "Opaque");
    }
    let Some(texts) = tree.remove(&["stringData"]) else { return };
    for (key, text) in texts.fields() {
        let data: String = base64::encode(text.as_str().unwrap_or("").as_bytes());
        tree.set(&["data", key], data);
    }
}
