//! The checks of a kubelet's logs, traces and metrics.
//!
//! Mirrors k8s.io/component-base logs/api/v1/options.go, tracing/api/v1/config.go and metrics/options.go (v1.34). Pure.
//! Inputs: the merged configuration. Outputs: the kubelet's messages.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::validation::Checked;
use crate::objects::Json;
use crate::objects::go_quote::quote;
use crate::objects::quantity::Quantity;
use crate::objects::time::parse_duration;
use crate::profile::Settings;

/// Checks the settings of logs, which are in force before all others are checked.
///
/// # Errors
/// The kubelet's message.
pub(super) fn check(merged: &Json, settings: &Settings) -> Result<(), String> {
    let logging = merged.get("logging");
    let format = logging.get("format").as_str().unwrap_or("text");
    let mut errors: Vec<String> = Vec::new();
    if !matches!(format, "text" | "json") {
        errors.push(format!("logging.format: Invalid value: {format:?}: Unsupported log format"));
    } else if format == "json" && !settings.is_gate_on("LoggingBetaOptions") {
        errors
            .push("logging.format: Forbidden: Log format json is disabled, see LoggingBetaOptions feature".to_string());
    }
    let most = i64::from(i32::MAX);
    let too_much = |place: &str, value: &Json| {
        let value = value.as_i64().filter(|value| *value > most);
        value.map(|value| format!("{place}: Invalid value: {value}: Must be <= {most}"))
    };
    errors.extend(too_much("logging.verbosity", logging.get("verbosity")));
    let patterns = logging.get("vmodule");
    let is_set = !patterns.items().is_empty() || patterns.as_str().is_some_and(|text| !text.is_empty());
    if is_set && format != "text" {
        errors.push("logging.vmodule: Forbidden: Only supported for text log format".to_string());
    }
    for (at, pattern) in patterns.items().iter().enumerate() {
        let place = format!("logging.vmodule[{at}]");
        let file = pattern.get("filePattern").as_str().unwrap_or_default();
        if file.is_empty() {
            errors.push(format!("{place}: Required value: File pattern must not be empty"));
        }
        if file.contains(['=', ',']) {
            errors.push(format!("{place}: Invalid value: {file:?}: File pattern must not contain equal sign or comma"));
        }
        errors.extend(too_much(&place, pattern.get("verbosity")));
    }
    for of in ["json", "text"].into_iter().filter(|_| !settings.is_gate_on("LoggingAlphaOptions")) {
        let options = logging.at(&["options", of]);
        let has_buffer = Quantity::from_json(options.get("infoBufferSize")).is_some_and(|size| !size.is_zero());
        let set = [("splitStream", options.get("splitStream").as_bool() == Some(true)), ("infoBufferSize", has_buffer)];
        for (field, _) in set.into_iter().filter(|(_, is_set)| *is_set) {
            errors.push(format!("logging.options.{of}.{field}: Forbidden: Feature LoggingAlphaOptions is disabled"));
        }
    }
    let flushed = logging.get("flushFrequency").as_str().and_then(parse_duration);
    match errors.as_slice() {
        [] if flushed.is_some_and(|span| span.is_negative()) => {
            Err("panic: non-positive interval for NewTicker".to_string())
        }
        [] => Ok(()),
        [one] => Err(format!("initialize logging: {one}")),
        several => Err(format!("initialize logging: [{}]", several.join(", "))),
    }
}

/// Checks `showHiddenMetricsForVersion`: the release before.
pub(super) fn hidden_metrics(checked: &Checked<'_>, errors: &mut Vec<String>) {
    let (shown, before) = (checked.text("showHiddenMetricsForVersion"), checked.settings.profile().release());
    let before = before.predecessor().minor_name();
    if !shown.is_empty() && shown != before {
        errors.push(format!(
            "--show-hidden-metrics-for-version must be omitted or have the value '{before}'. Only the previous minor \
             version is allowed"
        ));
    }
}

/// Checks where traces go and how many.
pub(super) fn tracing(checked: &Checked<'_>, errors: &mut Vec<String>) {
    const RATE: &str = "tracing.samplingRatePerMillion: Invalid value:";
    if !checked.settings.is_gate_on("KubeletTracing") {
        let is_given = !checked.merged.get("tracing").is_null();
        let why = "invalid configuration: tracing should not be configured if KubeletTracing feature flag is disabled.";
        return errors.extend(is_given.then(|| why.to_string()));
    }
    match checked.merged.at(&["tracing", "samplingRatePerMillion"]).as_i64() {
        Some(rate) if rate < 0 => errors.push(format!("{RATE} {rate}: sampling rate must be positive")),
        Some(rate) if rate > 1_000_000 => {
            errors.push(format!("{RATE} {rate}: sampling rate per million must be less than or equal to one million"))
        }
        _ => {}
    }
    let Some(endpoint) = checked.merged.at(&["tracing", "endpoint"]).as_str() else { return };
    let endpoint = if endpoint.contains("://") { endpoint.to_string() } else { format!("dns://{endpoint}") };
    let why = match url_error(&endpoint) {
        Some(why) => format!("parse {}: {why}", quote(&endpoint)),
        None => match endpoint.split("://").next().unwrap_or_default() {
            "dns" | "unix" | "unix-abstract" => return,
            scheme => format!(
                "unsupported scheme: {scheme}.  Options are none, dns, unix, or unix-abstract.  See \
                 https://github.com/grpc/grpc/blob/master/doc/naming.md"
            ),
        },
    };
    errors.push(format!("tracing.endpoint: Invalid value: {}: {why}", quote(&endpoint)));
}

/// Says what Go finds wrong with a URL that has a scheme. Source: Go's net/url, `Parse`.
pub(super) fn url_error(url: &str) -> Option<String> {
    if url.chars().any(char::is_control) {
        return Some("net/url: invalid control character in URL".to_string());
    }
    let (scheme, rest) = url.split_once("://").unwrap_or(("none", url));
    let is_of_scheme = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    match scheme.bytes().next() {
        None => return Some("missing protocol scheme".to_string()),
        Some(first) if first.is_ascii_alphabetic() && scheme.bytes().all(is_of_scheme) => {}
        Some(_) => return Some("first path segment in URL cannot contain colon".to_string()),
    }
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let bytes = rest.as_bytes();
    for (at, _) in rest.match_indices('%') {
        let code = bytes.get(at + 1..at + 3).filter(|code| code.iter().all(u8::is_ascii_hexdigit));
        if code.is_none() {
            let end = rest.len().min(at + 3);
            return Some(format!("invalid URL escape \"{}\"", rest.get(at..end).unwrap_or("%")));
        }
    }
    if let Some(wrong) = host.chars().find(|letter| " \"<>\\^`{|}".contains(*letter)) {
        return Some(format!("invalid character \"{wrong}\" in host name"));
    }
    let port = host.rsplit_once(':').map(|(_, port)| port).filter(|_| !host.ends_with(']'));
    let port = port.filter(|port| !port.bytes().all(|byte| byte.is_ascii_digit()));
    port.map(|port| format!("invalid port \":{port}\" after host"))
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::{Checked, tracing};
    use crate::json;
    use crate::profile::Settings;

    #[test]
    fn an_endpoint_is_quoted_as_go_does() {
        let merged = json!({"tracing": {"endpoint": "a\r\u{b}\u{c}:c"}});
        let mut errors = Vec::new();
        tracing(&Checked { merged: &merged, settings: &Settings::default(), cgroup_version: 2 }, &mut errors);
        let quoted = r#""dns://a\r\v\f:c""#;
        let why = "net/url: invalid control character in URL";
        assert_eq!(errors, [alloc::format!("tracing.endpoint: Invalid value: {quoted}: parse {quoted}: {why}")]);
    }
}
