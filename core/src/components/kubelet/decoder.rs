//! Reads the fields of a `KubeletConfiguration` whose types were checked.
//!
//! Inputs: the configuration. Outputs: values; and the first words of what a kubelet says about its file.

use alloc::format;
use alloc::string::String;

use jiff::SignedDuration;

use crate::objects::time::parse_duration;
use crate::objects::{Json, Text};

/// Reads fields of the merged configuration; a field that is not set is `None`.
pub(super) struct Decoder<'a>(pub(super) &'a Json);

impl<'a> Decoder<'a> {
    pub(super) fn bool(&self, name: &str) -> Option<bool> {
        self.0.get(name).as_bool()
    }

    pub(super) fn int(&self, name: &str) -> Option<i64> {
        self.0.get(name).as_i64()
    }

    pub(super) fn text(&self, name: &str) -> Option<Text> {
        self.0.get(name).as_text().cloned()
    }

    pub(super) fn list(&self, name: &str) -> &'a [Json] {
        self.0.get(name).items()
    }

    pub(super) fn duration(&self, name: &str) -> Option<SignedDuration> {
        self.0.get(name).as_str().and_then(parse_duration)
    }
}

/// Says that the file cannot be used. Source: cmd/kubelet/app/server.go (v1.34), `loadConfigFile`, with kubeadm's file.
pub(super) fn not_loaded(why: &str) -> String {
    const FILE: &str = "/var/lib/kubelet/config.yaml";
    format!(
        "failed to load kubelet config file, path: {FILE}, error: failed to load Kubelet config file {FILE}, error \
         {why}"
    )
}

/// Source: Go's strconv.ParseBool.
pub(super) fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}
