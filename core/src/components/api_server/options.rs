//! The options of a request, parsed from its query. Inputs: a request. Outputs: options, or 400 or 422.
//!
//! Source: k8s.io/apimachinery pkg/apis/meta/v1/validation/validation.go and pkg/apis/meta/internalversion (v1.34).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::status;
use super::validation::{FieldError, Problem, worded};
use crate::network::{APPLY_PATCH, Answer, Call, Verb};
use crate::objects::names::{Wording, why_no_number};
use crate::objects::selector::{FieldSelector, Selector};
use crate::objects::{Json, Text, yaml};
use crate::profile::Settings;

/// Longest name of a manager of fields in bytes. Source: k8s.io/apimachinery pkg/apis/meta/v1/validation/validation.go
/// (v1.34), `FieldManagerMaxLength`.
const MANAGER_MAX: usize = 128;

/// What to do about unknown fields: `fieldValidation`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum FieldValidation {
    Ignore,
    #[default]
    Warn,
    Strict,
}

/// The options of any request; each verb reads its own.
#[derive(Clone, Debug, Default)]
pub(super) struct RequestOptions {
    pub(super) dry_run: bool,
    pub(super) field_validation: FieldValidation,
    /// Whether a patch is a configuration to apply.
    pub(super) applies: bool,
    /// Whether an apply takes over what others own.
    pub(super) force: bool,
    pub(super) label_selector: Text,
    pub(super) field_selector: Text,
    pub(super) limit: Option<u64>,
    pub(super) next: Text,
    pub(super) resource_version: Text,
    pub(super) version_match: Text,
    pub(super) timeout_seconds: Option<i64>,
    pub(super) bookmarks: bool,
    pub(super) send_initial_events: Option<bool>,
    /// The media type of the body, without parameters; empty for none.
    pub(super) content_type: String,
    pub(super) query: Vec<(Text, Text)>,
    /// The body as it was written, if a client has sent a text.
    pub(super) text: Option<Text>,
}

impl RequestOptions {
    pub(super) fn read(call: &Call, settings: &Settings) -> Result<Self, Answer> {
        let text = |name: &str| call.parameter(name).cloned().unwrap_or_default();
        let mut errors = Vec::new();
        // A parameter that is no option of the verb is not looked at; a deletion reads its own.
        let writes = matches!(call.verb, Verb::Create | Verb::Update | Verb::Patch);
        let lists = matches!(call.verb, Verb::List | Verb::Watch | Verb::DeleteCollection);
        let when = |is_option: bool, name: &str| if is_option { text(name) } else { Text::of("") };
        let number = |is_option: bool, name: &str| whole_number(call.parameter(name).filter(|_| is_option));
        if writes {
            check_manager(call, &mut errors);
        }
        let dry_run: Vec<Text> = if writes { values(call, "dryRun") } else { Vec::new() };
        errors.extend(dry_run_error(&dry_run));
        let field_validation = match when(writes, "fieldValidation").as_str() {
            "" | "Warn" => FieldValidation::Warn,
            "Ignore" => FieldValidation::Ignore,
            "Strict" => FieldValidation::Strict,
            other => {
                errors.push(FieldError::not_supported("fieldValidation", other, &["", "Ignore", "Strict", "Warn"]));
                FieldValidation::Warn
            }
        };
        if !errors.is_empty() {
            let options = match call.verb {
                Verb::Create => "CreateOptions",
                Verb::Update => "UpdateOptions",
                _ => "PatchOptions",
            };
            return Err(status::invalid_options(options, &worded(errors, settings)));
        }
        Ok(Self {
            dry_run: !dry_run.is_empty(),
            field_validation,
            applies: applies(call),
            force: call.parameter("force").is_some_and(is_true_in_query),
            label_selector: text("labelSelector"),
            field_selector: text("fieldSelector"),
            timeout_seconds: number(lists, "timeoutSeconds")?.filter(|seconds| *seconds != 0),
            limit: number(lists, "limit")?.and_then(|limit| u64::try_from(limit).ok()).filter(|limit| *limit > 0),
            next: text("continue"),
            resource_version: text("resourceVersion"),
            version_match: text("resourceVersionMatch"),
            bookmarks: call.parameter("allowWatchBookmarks").is_some_and(is_true_in_query),
            send_initial_events: call.parameter("sendInitialEvents").map(is_true_in_query),
            content_type: media_type_of(call),
            query: call.query.clone(),
            text: call.text.clone(),
        })
    }

    /// Checks the form of the selectors, whatever they select by.
    pub(super) fn check_selectors(&self, wording: Wording) -> Result<(), Answer> {
        let refuse = |message: String| status::bad_request(&message);
        Selector::parse(&self.label_selector, wording).map_err(refuse)?;
        FieldSelector::parse(&self.field_selector).map(|_| ()).map_err(refuse)
    }

    /// Returns the first value of a parameter.
    pub(super) fn parameter(&self, name: &str) -> Option<&Text> {
        self.query.iter().find(|(key, _)| *key == *name).map(|(_, value)| value)
    }

    /// Returns all values of a parameter.
    pub(super) fn parameters(&self, name: &str) -> Vec<Text> {
        self.query.iter().filter(|(key, _)| *key == *name).map(|(_, value)| value.clone()).collect()
    }

    /// Returns the body's text if it is JSON by its media type.
    pub(super) fn json_text(&self) -> Option<&str> {
        self.text.as_deref().filter(|_| !self.content_type.contains("yaml"))
    }

    /// Returns what a strict reader says of keys that stand twice in a body in YAML.
    pub(super) fn repeated_yaml_keys(&self) -> Vec<String> {
        let text = self.text.as_deref().filter(|_| self.content_type.contains("yaml"));
        text.and_then(|text| yaml::read(text).ok()).map(|document| document.repeated).unwrap_or_default()
    }

    /// Returns the body as messages quote it: as it was written.
    pub(super) fn quoted(&self, tree: &Json) -> String {
        self.text.as_ref().map_or_else(|| tree.to_string(), |text| String::from(text.as_str()))
    }

    /// Returns the revision that the request names, or what is wrong with it.
    pub(super) fn version(&self) -> Result<Option<u64>, String> {
        let text = self.resource_version.as_str();
        if text.is_empty() {
            return Ok(None);
        }
        let read = if text.starts_with('+') { None } else { text.parse().ok() };
        read.map(Some).ok_or_else(|| {
            let is_signed = text.starts_with(['-', '+']);
            let why = if is_signed { "invalid syntax" } else { why_no_number(text) };
            format!("resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: {why}")
        })
    }
}

/// Returns all values of a parameter.
fn values(call: &Call, name: &str) -> Vec<Text> {
    call.query.iter().filter(|(own, _)| *own == *name).map(|(_, value)| value.clone()).collect()
}

/// Refuses other values of `dryRun` than the one that there is.
pub(super) fn dry_run_error(values: &[Text]) -> Option<FieldError> {
    let shown =
        |separator: &str| values.iter().map(|value| format!("{value:?}")).collect::<Vec<String>>().join(separator);
    let is_right = values.iter().all(|value| *value == *"All");
    let go = format!("[]string{{{}}}", shown(", "));
    let why = "supported values: \"All\"";
    (!is_right).then(|| FieldError::new("dryRun", Problem::NotSupported, format!("[{}]", shown(",")), why).in_go(go))
}

/// Checks who is to be named as the manager of fields, and that a patch which applies nothing is not forced.
fn check_manager(call: &Call, errors: &mut Vec<FieldError>) {
    let applies = applies(call);
    if call.verb == Verb::Patch && call.parameter("force").is_some() && !applies {
        errors.push(FieldError::forbidden("force", "may not be specified for non-apply patch"));
    }
    let manager = call.parameter("fieldManager").map_or("", Text::as_str);
    if applies && manager.is_empty() {
        errors.push(FieldError::required("fieldManager", "is required for apply patch"));
    }
    if manager.len() > MANAGER_MAX {
        errors.push(FieldError::too_long("fieldManager", format!("may not be more than {MANAGER_MAX} bytes")));
    }
    for (at, letter) in manager.char_indices().filter(|(_, letter)| !is_printable(*letter)) {
        let why = format!("invalid character U+{:04X} (at position {at})", u32::from(letter));
        errors.push(FieldError::invalid_text("fieldManager", manager, why));
    }
}

fn applies(call: &Call) -> bool {
    let media = call.header_value("content-type").map_or("", Text::as_str);
    call.verb == Verb::Patch && media.split(';').next().unwrap_or("").trim() == APPLY_PATCH
}

/// Source: Go's unicode.IsPrint: of all spaces the usual one alone.
fn is_printable(letter: char) -> bool {
    letter == ' ' || !letter.is_control() && !letter.is_whitespace()
}

/// Returns the media type of a request's body.
pub(super) fn media_type_of(call: &Call) -> String {
    media_type(call.header_value("content-type").map_or("", Text::as_str))
}

/// Returns the media type without its parameters, or the whole header if it is none.
/// Source: mime mediatype.go (Go 1.24), `ParseMediaType`.
fn media_type(header: &str) -> String {
    let mut parts = header.split(';').map(str::trim);
    let media = parts.next().unwrap_or("").to_lowercase();
    let last = header.split(';').count().saturating_sub(2);
    let is_parameter = |(at, part): (usize, &str)| {
        part.is_empty() && at == last
            || part.split_once('=').is_some_and(|(name, value)| {
                !name.is_empty() && !value.is_empty() && !name.contains(char::is_whitespace)
            })
    };
    let is_well_formed = (header.is_empty() || !media.is_empty()) && parts.enumerate().all(is_parameter);
    if is_well_formed { media } else { header.to_lowercase() }
}

/// Reads a whole number, which may be negative.
pub(super) fn whole_number(text: Option<&Text>) -> Result<Option<i64>, Answer> {
    let Some(text) = text.map(Text::as_str) else { return Ok(None) };
    text.parse()
        .map(Some)
        .map_err(|_| status::bad_request(&format!("strconv.ParseInt: parsing {text:?}: {}", why_no_number(text))))
}

/// Reads a truth value that is there: anything but `false` and `0` is true, an empty text too.
/// Source: k8s.io/apimachinery pkg/runtime/conversion.go (v1.34), `Convert_Slice_string_To_bool`.
pub(super) fn is_true_in_query(value: &Text) -> bool {
    *value != *"0" && !value.eq_ignore_ascii_case("false")
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::RequestOptions;
    use crate::network::Call;
    use crate::profile::Settings;

    #[test]
    fn a_manager_of_fields_has_a_name_that_can_be_read_and_forces_nothing_but_what_it_applies() {
        let long = format!("fieldManager={}", "x".repeat(129));
        let cases = [
            ("fieldManager=me&dryRun=All", ""),
            (long.as_str(), "fieldManager: Too long: may not be more than 128 bytes"),
            ("fieldManager=a%01", "fieldManager: Invalid value: \"a\\x01\": invalid character U+0001 (at position 1)"),
            ("force=false", "force: Forbidden: may not be specified for non-apply patch"),
        ];
        for (query, why) in cases {
            let headers = [("Content-Type", "application/merge-patch+json")];
            let call = Call::from_http("PATCH", &format!("/api/v1/nodes/n1?{query}"), &headers, "{}").unwrap();
            let refused = RequestOptions::read(&call, &Settings::default())
                .map_or_else(|refusal| refusal.message(), |_| "".into());
            let wanted =
                if why.is_empty() { "".into() } else { format!("PatchOptions.meta.k8s.io \"\" is invalid: {why}") };
            assert_eq!(refused, wanted, "{query}");
        }
    }

    #[test]
    fn a_header_that_is_no_media_type_is_not_taken_for_one() {
        let cases = [
            ("", ""),
            ("Application/JSON", "application/json"),
            ("application/json; charset=utf-8", "application/json"),
            ("application/json;", "application/json"),
            ("application/json; charset", "application/json; charset"),
            (";", ";"),
        ];
        for (header, media) in cases {
            assert_eq!(super::media_type(header), media, "{header}");
        }
    }
}
