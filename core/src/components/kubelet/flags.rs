//! The command line of a kubelet: reads the values of flags, and lets them override the file.
//!
//! Mirrors cmd/kubelet/app/options, k8s.io/component-base cli/flag, pkg/util/flag, pkg/util/taints and
//! github.com/spf13/pflag (v1.34). Inputs: flags in their order, the file. Outputs: the merged configuration, or the
//! kubelet's message about a value. A flag is checked by the type of the field that it sets.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::decoder::parse_bool;
use super::{topology, validation};
use crate::components::host::{KubeletSpec, find_flag};
use crate::json;
use crate::objects::integer::parts;
use crate::objects::schema::quantity_error;
use crate::objects::time::{go_duration_error, parse_duration};
use crate::objects::{Json, Text};
use crate::profile::Profile;

/// Fields of which a zero value in the file stands for the default, since Go cannot tell it from none.
/// Source: pkg/kubelet/apis/config/v1beta1/defaults.go (v1.34).
const DEFAULTED: [&str; 27] = [
    "address",
    "cgroupDriver",
    "containerLogMaxSize",
    "containerRuntimeEndpoint",
    "contentType",
    "cpuManagerPolicy",
    "cpuManagerReconcilePeriod",
    "evictionPressureTransitionPeriod",
    "fileCheckFrequency",
    "hairpinMode",
    "healthzBindAddress",
    "httpCheckFrequency",
    "imageMinimumGCAge",
    "maxOpenFiles",
    "maxPods",
    "memoryManagerPolicy",
    "nodeLeaseDurationSeconds",
    "nodeStatusReportFrequency",
    "nodeStatusUpdateFrequency",
    "podLogsDir",
    "port",
    "runtimeRequestTimeout",
    "streamingConnectionIdleTimeout",
    "syncFrequency",
    "topologyManagerPolicy",
    "topologyManagerScope",
    "volumeStatsAggPeriod",
];

/// Flags that came with cAdvisor and that newer kubelets do not have.
/// Source: cmd/kubelet/app/options/globalflags_linux.go (v1.36), `addCadvisorFlags`.
const OF_CADVISOR: [&str; 18] = [
    "application-metrics-count-limit",
    "boot-id-file",
    "container-hints",
    "containerd",
    "containerd-namespace",
    "enable-load-reader",
    "event-storage-age-limit",
    "event-storage-event-limit",
    "global-housekeeping-interval",
    "log-cadvisor-usage",
    "machine-id-file",
    "storage-driver-buffer-duration",
    "storage-driver-db",
    "storage-driver-host",
    "storage-driver-password",
    "storage-driver-secure",
    "storage-driver-table",
    "storage-driver-user",
];

/// Returns the file without the fields that are as if they were not set.
pub(super) fn file(spec: &KubeletSpec) -> Json {
    let mut file = if spec.config.is_object() { spec.config.clone() } else { Json::object() };
    let is_zero = |value: &Json| match value {
        Json::Int(number) => *number == 0,
        Json::Str(text) => text.is_empty() || parse_duration(text).is_some_and(|span| span.is_zero()),
        _ => false,
    };
    for field in DEFAULTED.into_iter().filter(|field| is_zero(spec.config.get(field))) {
        file.remove(&[field]);
    }
    for path in [["authorization", "mode"], ["logging", "format"]] {
        if spec.config.at(&path).as_str() == Some("") {
            file.remove(&path);
        }
    }
    // The flags of these names put their own default in the place of what the file says.
    for of in ["json", "text"].into_iter().filter(|of| !spec.config.at(&["logging", "options", of]).is_null()) {
        file.remove(&["logging", "options", of, "splitStream"]);
    }
    file
}

/// Reads the flags; those that set a field, with the field.
///
/// # Errors
/// The kubelet's message about the first bad value.
pub(super) fn read(spec: &KubeletSpec, profile: &Profile) -> Result<Vec<(&'static str, Json)>, String> {
    let mut fields = Vec::new();
    for (name, value) in &spec.flags {
        let Some((name, field, go)) = find_flag(name) else { continue };
        let is_gone = OF_CADVISOR.contains(&name) && !profile.is("kubelet-has-flags-of-cadvisor")
            || name == "pod-infra-container-image" && !profile.is("kubelet-has-infra-image-flag");
        if is_gone {
            return Err(format!("failed to parse kubelet flag: unknown flag: --{name}"));
        }
        let shown = if name == "v" { "-v, --v".to_string() } else { format!("--{name}") };
        let read = parse(name, go, value).map_err(|why| {
            format!("failed to parse kubelet flag: invalid argument \"{value}\" for \"{shown}\" flag: {why}")
        })?;
        match fields.iter_mut().find(|(own, _): &&mut (&str, Json)| *own == field) {
            _ if field.is_empty() => {}
            None => fields.push((field, read)),
            Some((_, before)) => *before = again(before, read, go),
        }
    }
    Ok(fields)
}

/// Returns the value of a flag that is given again: lists and maps grow, but for taints.
fn again(before: &Json, read: Json, go: &str) -> Json {
    match (before, &read) {
        (Json::Array(_), Json::Array(_)) if go != "[]v1.Taint" => {
            before.items().iter().chain(read.items()).cloned().collect()
        }
        (Json::Object(_), Json::Object(_)) => {
            let mut both = before.clone();
            read.fields().for_each(|(name, value)| both.set(&[name], value.clone()));
            both
        }
        _ => read,
    }
}

/// Puts what flags say in the place of what the file says; feature gates that only the file names stay.
pub(super) fn merge(mut file: Json, flags: Vec<(&'static str, Json)>) -> Json {
    for (field, value) in flags {
        let path: Vec<&str> = field.split('.').collect();
        if field == "featureGates" {
            value.fields().for_each(|(gate, on)| file.set(&["featureGates", gate], on.clone()));
        } else {
            file.set(&path, value);
        }
    }
    file
}

fn parse(name: &str, go: &str, text: &Text) -> Result<Json, String> {
    match (name, go) {
        ("vmodule", _) => return patterns(text),
        ("address" | "healthz-bind-address", _) if !text.is_empty() && text.parse::<core::net::IpAddr>().is_err() => {
            return Err(format!("\"{text}\" is not a valid IP address"));
        }
        ("cpu-manager-policy-options", _) => {
            return one_pair(text, '=').map(|(name, value)| [(name, value)].into_iter().collect());
        }
        ("eviction-hard" | "eviction-soft", _) => return pairs(text, '<'),
        _ => {}
    }
    match go {
        "bool" => parse_bool(text)
            .map(Json::Bool)
            .ok_or_else(|| format!("strconv.ParseBool: parsing \"{text}\": invalid syntax")),
        "int32" => integer(text, i64::from(i32::MIN)..=i64::from(i32::MAX), "ParseInt"),
        "int64" => integer(text, i64::MIN..=i64::MAX, "ParseInt"),
        "level" => integer(text, 0..=i64::from(i32::MAX), "ParseUint"),
        "duration" | "v1.Duration" | "v1.TimeOrMetaDuration" => {
            parse_duration(text).map(|_| Json::from(text)).ok_or_else(|| go_duration_error(text))
        }
        "gobool" if parse_bool(text).is_none() => Err("parse error".to_string()),
        "goduration" if parse_duration(text).is_none() => Err("parse error".to_string()),
        "goint" => number(text).and_then(|read| match i64::try_from(read) {
            Ok(read) => Ok(Json::Int(read)),
            Err(_) => Err("value out of range".to_string()),
        }),
        "resource.QuantityValue" => quantity_error(text).map_or_else(|| Ok(Json::from(text)), Err),
        "[]string" => Ok(list(text)),
        "[]v1.Taint" => parse_taints(text),
        "[]v1beta1.MemoryReservation" => topology::parse_reserved_memory(text),
        "map[string]string" => pairs(text, '='),
        "map[string]bool" => gates(text),
        "map[string][]string" if !text.is_empty() => {
            one_pair(text, ':').map(|(name, value)| [(name, Json::array(Vec::from([value])))].into_iter().collect())
        }
        _ => Ok(Json::from(text)),
    }
}

/// Reads a list as a line of comma-separated values. Source: pflag string_slice.go.
fn list(text: &str) -> Json {
    let items =
        text.split(',').map(|item| item.strip_prefix('"').and_then(|item| item.strip_suffix('"')).unwrap_or(item));
    if text.is_empty() { Json::array(Vec::new()) } else { items.map(Json::from).collect() }
}

/// Reads a number as Go does when it finds out the base by itself; `None` for a wrong form.
fn number(text: &str) -> Result<i128, String> {
    let (sign, digits, base) = parts(text);
    let digits = digits.replace('_', "");
    let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(base));
    let read = i128::from_str_radix(&digits, base).unwrap_or(i128::MAX / 2);
    if is_number { Ok(sign * read) } else { Err("parse error".to_string()) }
}

/// Reads a number of a range. Source: Go's strconv.ParseInt and ParseUint.
fn integer(text: &str, range: core::ops::RangeInclusive<i64>, function: &str) -> Result<Json, String> {
    let wrong = |why: &str| Err(format!("strconv.{function}: parsing \"{text}\": {why}"));
    match number(text) {
        Ok(read) if read < 0 && function == "ParseUint" => wrong("invalid syntax"),
        Ok(read) => match i64::try_from(read) {
            Ok(read) if range.contains(&read) => Ok(Json::Int(read)),
            _ => wrong("value out of range"),
        },
        Err(_) => wrong("invalid syntax"),
    }
}

fn one_pair(text: &str, between: char) -> Result<(Text, Json), String> {
    let pair = text.split_once(between);
    let (name, value) = pair.ok_or_else(|| format!("malformed pair, expect string{between}string"))?;
    Ok((Text::from(name.trim()), Json::from(value.trim())))
}

/// Source: k8s.io/component-base cli/flag/map_string_string.go and langle_separated_map_string_string.go (v1.34).
fn pairs(text: &str, between: char) -> Result<Json, String> {
    text.split(',').filter(|pair| !pair.is_empty()).map(|pair| one_pair(pair, between)).collect()
}

/// Source: k8s.io/component-base cli/flag/map_string_bool.go (v1.34).
fn gates(text: &str) -> Result<Json, String> {
    let one = |pair: &str| {
        let (name, value) = pair.split_once('=').ok_or("malformed pair, expect string=bool")?;
        let (name, value) = (name.trim(), value.trim());
        let on = parse_bool(value).ok_or_else(|| {
            format!("invalid value of {name}: {value}, err: strconv.ParseBool: parsing \"{value}\": invalid syntax")
        })?;
        Ok((Text::from(name), Json::Bool(on)))
    };
    text.split(',').filter(|pair| !pair.is_empty()).map(one).collect()
}

/// Source: k8s.io/component-base logs/api/v1/pflags.go (v1.34), `vmoduleConfigurationPFlag.Set`.
fn patterns(text: &str) -> Result<Json, String> {
    for pattern in text.split(',').filter(|pattern| !pattern.is_empty()) {
        let parts: Vec<&str> = pattern.split('=').collect();
        let [file, level] = parts.as_slice() else {
            return Err(format!("\"{pattern}\" does not have the pattern=N format"));
        };
        if file.is_empty() || level.is_empty() {
            return Err(format!("\"{pattern}\" does not have the pattern=N format"));
        }
        integer(level, 0..=i64::from(i32::MAX), "ParseUint")
            .map_err(|why| format!("parsing verbosity in \"{pattern}\": {why}"))?;
    }
    Ok(Json::from(text))
}

/// Source: pkg/util/flag/flags.go and pkg/util/taints/taints.go (v1.34), `ParseTaints`: a spec that ends in `-` removes
/// a taint, and is ignored here.
fn parse_taints(text: &str) -> Result<Json, String> {
    let mut taints: Vec<Json> = Vec::new();
    if text.is_empty() {
        return Ok(Json::array(taints));
    }
    for spec in text.split(',') {
        if let Some(removed) = spec.strip_suffix('-') {
            parse_taint(removed)?;
            continue;
        }
        let taint = parse_taint(spec)?;
        if taint.get("effect").as_str() == Some("") {
            return Err(format!("invalid taint spec: {spec}"));
        }
        let same = |other: &Json| ["key", "effect"].iter().all(|field| other.get(field) == taint.get(field));
        if taints.iter().any(same) {
            return Err(format!("duplicated taints with the same key and effect: {}", validation::go_taint(&taint)));
        }
        taints.push(taint);
    }
    Ok(Json::array(taints))
}

/// Source: pkg/util/taints/taints.go (v1.34), `parseTaint`: without an effect the whole text is the key.
fn parse_taint(spec: &str) -> Result<Json, String> {
    let bad = || format!("invalid taint spec: {spec}");
    let refuse = |why: &[String]| {
        if why.is_empty() { Ok(()) } else { Err(format!("invalid taint spec: {spec}, {}", why.join("; "))) }
    };
    let (key, value, effect) = match spec.split_once(':') {
        None => (spec, "", ""),
        Some((_, effect)) if effect.contains(':') => return Err(bad()),
        Some((pair, effect)) => {
            if !validation::TAINT_EFFECTS.contains(&effect) {
                return Err(format!("invalid taint effect: {effect}, unsupported taint effect"));
            }
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (key, value, effect)
        }
    };
    if value.contains('=') {
        return Err(bad());
    }
    refuse(&validation::label_value(value))?;
    refuse(&validation::qualified_name(key))?;
    let mut taint = json!({"key": key, "effect": effect});
    if !value.is_empty() {
        taint.set(&["value"], value);
    }
    Ok(taint)
}
