//! Reads the fields of a `KubeletConfiguration` by type, as Go's decoder does.
//!
//! Inputs: the configuration, and for each field its type. Outputs: values, or the kubelet's message about a field of
//! another type, with which it ends.

use alloc::format;
use alloc::string::String;

use jiff::SignedDuration;

use crate::objects::time::parse_duration;
use crate::objects::{Json, Text};

/// Reads typed fields of the merged configuration, with the messages of the kubelet's decoder.
pub(super) struct Decoder<'a>(pub(super) &'a Json);

impl Decoder<'_> {
    fn read<T>(&self, name: &str, go: &str, read: impl Fn(&Json) -> Option<T>) -> Result<Option<T>, String> {
        let value = self.0.get(name);
        if value.is_null() {
            return Ok(None);
        }
        let found = type_of(value);
        read(value).map(Some).ok_or_else(|| {
            not_decoded(&format!(
                "json: cannot unmarshal {found} into Go struct field KubeletConfiguration.{name} of type {go}"
            ))
        })
    }

    /// Checks that the fields which are maps are maps.
    /// Source: k8s.io/kubelet config/v1beta1 types.go (v1.34).
    pub(super) fn check_maps(&self) -> Result<(), String> {
        const TEXTS: [&str; 8] = [
            "cpuManagerPolicyOptions",
            "evictionHard",
            "evictionMinimumReclaim",
            "evictionSoft",
            "evictionSoftGracePeriod",
            "kubeReserved",
            "systemReserved",
            "topologyManagerPolicyOptions",
        ];
        let is_map = |value: &Json| value.is_object().then_some(());
        TEXTS.iter().try_for_each(|name| self.read(name, "map[string]string", is_map).map(drop))?;
        self.read("featureGates", "map[string]bool", is_map).map(drop)
    }

    pub(super) fn bool(&self, name: &str) -> Result<Option<bool>, String> {
        self.read(name, "bool", Json::as_bool)
    }

    pub(super) fn int(&self, name: &str) -> Result<Option<i64>, String> {
        self.read(name, "int32", |value| value.as_i64().filter(|number| i32::try_from(*number).is_ok()))
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<Text>, String> {
        self.read(name, "string", |value| value.as_text().cloned())
    }

    pub(super) fn list(&self, name: &str) -> Result<&[Json], String> {
        self.read(name, "[]v1.Taint", |value| value.is_array().then_some(()))?;
        Ok(self.0.get(name).items())
    }

    /// Reads a list of objects, of the given type in Go.
    pub(super) fn objects(&self, name: &str, go: &str) -> Result<&[Json], String> {
        self.read(name, go, |value| value.is_array().then_some(()))?;
        Ok(self.0.get(name).items())
    }

    /// Reads a number of an object in a list; 0 for none.
    pub(super) fn number_of(item: &Json, owner: &str, list: &str, field: &str, go: &str) -> Result<i64, String> {
        let value = item.get(field);
        let fits = |number: &i64| go != "int32" || i32::try_from(*number).is_ok();
        match value.as_i64().filter(fits) {
            Some(number) => Ok(number),
            None if value.is_null() => Ok(0),
            None => {
                let found = type_of(value);
                let place = format!("{owner}.{list}.{field}");
                Err(not_decoded(&format!("json: cannot unmarshal {found} into Go struct field {place} of type {go}")))
            }
        }
    }

    pub(super) fn duration(&self, name: &str) -> Result<Option<SignedDuration>, String> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        parse_duration(&text).map(Some).ok_or_else(|| not_decoded(&go_duration_error(&text)))
    }
}

/// Returns what Go's decoder calls a value.
fn type_of(value: &Json) -> &'static str {
    match value {
        Json::Bool(_) => "bool",
        Json::Int(_) | Json::Float(_) => "number",
        Json::Str(_) => "string",
        Json::Array(_) => "array",
        _ => "object",
    }
}

/// Source: cmd/kubelet/app/server.go (v1.34), `loadConfigFile`, with kubeadm's file.
fn not_decoded(why: &str) -> String {
    const FILE: &str = "/var/lib/kubelet/config.yaml";
    format!(
        "failed to load kubelet config file, path: {FILE}, error: failed to load Kubelet config file {FILE}, error \
         failed to decode: {why}"
    )
}

/// Returns Go's error for a text that is no duration. Source: Go's time.ParseDuration.
pub(super) fn go_duration_error(text: &str) -> String {
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let mut rest = text.trim_start_matches(['+', '-']);
    while rest.starts_with(|c: char| c.is_ascii_digit()) {
        let tail = rest.trim_start_matches(is_number);
        let unit = &tail[..tail.find(is_number).unwrap_or(tail.len())];
        match unit {
            "" => return format!("time: missing unit in duration \"{text}\""),
            "ns" | "us" | "\u{b5}s" | "\u{3bc}s" | "ms" | "s" | "m" | "h" => rest = &tail[unit.len()..],
            _ => return format!("time: unknown unit \"{unit}\" in duration \"{text}\""),
        }
    }
    format!("time: invalid duration \"{text}\"")
}

/// Source: Go's strconv.ParseBool.
pub(super) fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}
