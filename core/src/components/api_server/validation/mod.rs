//! Validation of objects: errors about fields, and a module for each kind.
//!
//! Mirrors k8s.io/apimachinery pkg/util/validation/field/errors.go (v1.34): the text of an error, and its cause. Pure:
//! trees in, errors out in upstream's order; nothing is changed.

mod amount;
pub(super) mod autoscaler;
mod claim_volumes;
mod conditions;
mod container;
mod cron;
pub(super) mod declared;
pub(super) mod endpoint_slice;
pub(super) mod event;
mod field_refs;
pub(super) mod ip;
pub(super) mod job;
mod job_policies;
pub(super) mod job_status;
pub(super) mod kept;
pub(super) mod lease;
pub(super) mod meta;
pub(super) mod networking;
pub(super) mod node;
pub(super) mod others;
pub(super) mod persistent_volume;
pub(super) mod placement;
pub(super) mod pod;
pub(super) mod pod_containers;
mod pod_details;
pub(super) mod pod_resources;
mod pod_rules;
pub(super) mod pod_status;
pub(super) mod pod_update;
pub(super) mod quota;
mod restarts;
pub(super) mod roles;
pub(super) mod security;
mod selector;
pub(super) mod service;
mod service_addresses;
pub(super) mod small_kinds;
pub(super) mod storage;
pub(super) mod storage_status;
pub(super) mod storage_update;
mod variables;
mod volumes;
mod windows;
pub(super) mod workload;
pub(super) mod workload_status;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::json;
pub(super) use crate::objects::go_quote::quote;
use crate::objects::names::{self, Wording};
use crate::objects::quantity::Quantity;
use crate::objects::schema::Schema;
use crate::objects::{Json, NULL, line_diff, time};
use crate::profile::Settings;
pub(super) use declared::RuleWords;

/// The longest name of a CSI driver. Source: pkg/apis/core/validation/validation.go (v1.34), `ValidateCSIDriverName`.
const DRIVER_NAME_MAX: usize = 63;
/// Source: k8s.io/apimachinery pkg/api/validation/objectmeta.go (v1.34), `FieldImmutableErrorMsg`.
const IMMUTABLE: &str = "field is immutable";

/// What is wrong with a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Problem {
    Required,
    Invalid,
    NotSupported,
    Duplicate,
    Forbidden,
    TooLong,
    TooMany,
    Internal,
    NotFound,
    /// A value of another type than its schema has.
    TypeInvalid,
}

/// One error.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct FieldError {
    pub(super) field: String,
    pub(super) problem: Problem,
    /// The value as it is printed; empty for problems that print none.
    pub(super) value: String,
    pub(super) detail: String,
    /// The value as older releases print it: in Go's own syntax.
    go: Option<String>,
    /// What is printed of the server's own structures.
    structure: Option<Structure>,
    /// What a rule that is declared with the type says of it.
    declared: Option<RuleWords>,
}

/// A part of an object that a release prints by its own structures, with its type in the notation of the schema.
#[derive(Clone, PartialEq, Debug)]
enum Structure {
    /// The value.
    Value(&'static str, Json),
    /// What differs between the stored structure and the new one, behind the detail.
    Change(&'static str, [Json; 2]),
}

impl FieldError {
    pub(super) fn new(field: impl Into<String>, problem: Problem, value: String, detail: impl Into<String>) -> Self {
        Self { field: field.into(), problem, value, detail: detail.into(), go: None, structure: None, declared: None }
    }

    /// Says how older releases print the value.
    pub(super) fn in_go(mut self, value: impl Into<String>) -> Self {
        self.go = Some(value.into());
        self
    }

    /// Words the error as releases before 1.34 do.
    pub(super) fn into_older(mut self) -> Self {
        if let Some(go) = self.go.take() {
            self.value = go;
        }
        if let Some(field) = self.field.strip_prefix("metadata.ownerReferences.")
            && self.detail == "must not be empty"
        {
            self.detail = format!("{field} must not be empty");
        }
        if let Some(rest) = self.field.strip_prefix("status.conditions[")
            && rest.ends_with("].Type")
        {
            self.field = format!("metadata.conditions[{rest}");
        }
        if self.problem == Problem::Required && self.field.ends_with("].schema.openAPIV3Schema") {
            self.detail = String::from("schemas are required");
        }
        self.detail =
            self.detail.replacen("must be non-negative and less than", "must be greater than 0 and less than", 1);
        self
    }

    /// Words the error as releases before 1.32 do.
    fn into_oldest(mut self) -> Self {
        if self.problem == Problem::TooLong {
            self.detail = self.detail.replacen("may not be more than", "must have at most", 1);
        }
        self
    }

    /// Prints what is of the server's own structures.
    fn print_structure(&mut self, sent: &Json, schema: &Schema, prints_changes: bool) {
        match self.structure.take() {
            Some(Structure::Value(name, value)) => {
                self.value = schema.internal_json(name, &with_empty(&value, at_field(sent, &self.field)));
            }
            Some(Structure::Change(name, [old, new])) if prints_changes => {
                // The sources of a volume are fields of its specification.
                let field =
                    if name == "EphemeralContainer" { Some(&*self.field) } else { self.field.split('.').next() };
                let mut sent = at_field(sent, field.unwrap_or_default()).clone();
                if name == "PodSpec" {
                    without_kept(&mut sent);
                }
                let [old, new] = [old, with_empty(&new, &sent)].map(|tree| schema.internal_lines(name, &tree));
                self.detail.push_str(&line_diff::unified(&old, &new));
            }
            _ => {}
        }
    }

    pub(super) fn required(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(field, Problem::Required, String::new(), detail)
    }

    pub(super) fn forbidden(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(field, Problem::Forbidden, String::new(), detail)
    }

    /// An invalid value, printed as JSON.
    pub(super) fn invalid(field: impl Into<String>, value: &Json, detail: impl Into<String>) -> Self {
        let error = Self::new(field, Problem::Invalid, print(value), detail);
        match (value, value.as_str().and_then(time::parse)) {
            (Json::Array(items), _) => error.in_go(go_texts(items)),
            (_, Some(_)) if error.field.ends_with("Timestamp") => {
                let go = value.as_str().unwrap_or("").replace('T', " ").replace('Z', " +0000 UTC");
                error.in_go(go)
            }
            _ => error,
        }
    }

    /// An invalid quantity; one that was printed before keeps its text in Go's syntax.
    pub(super) fn invalid_quantity(field: impl Into<String>, value: &Json, was_printed: bool, why: &str) -> Self {
        let error = Self::invalid(field, value, why);
        match value.as_str().and_then(|text| Quantity::in_go(text, was_printed)) {
            Some(go) => error.in_go(go),
            None => error,
        }
    }

    /// An invalid name of a resource, whose type prints itself in older releases.
    pub(super) fn invalid_resource(field: impl Into<String>, name: &str, detail: impl Into<String>) -> Self {
        Self::invalid_text(field, name, detail).in_go(name)
    }

    /// An invalid value that the release prints by its own structures.
    pub(super) fn invalid_of(
        type_name: &'static str,
        field: impl Into<String>,
        value: &Json,
        detail: impl Into<String>,
    ) -> Self {
        let structure = Some(Structure::Value(type_name, value.clone()));
        Self { structure, ..Self::new(field, Problem::Invalid, String::new(), detail) }
    }

    /// A forbidden change, with what differs behind the sentence.
    pub(super) fn changed(type_name: &'static str, field: impl Into<String>, why: &str, old: Json, new: Json) -> Self {
        let structure = Some(Structure::Change(type_name, [old, new]));
        Self { structure, ..Self::forbidden(field, format!("{why}\n")) }
    }

    pub(super) fn invalid_text(field: impl Into<String>, value: &str, detail: impl Into<String>) -> Self {
        Self::new(field, Problem::Invalid, quote(value), detail)
    }

    pub(super) fn duplicate(field: impl Into<String>, value: &Json) -> Self {
        Self::new(field, Problem::Duplicate, print(value), "")
    }

    pub(super) fn not_supported(field: impl Into<String>, value: &str, supported: &[&str]) -> Self {
        let list: alloc::vec::Vec<String> = supported.iter().map(|word| quote(word)).collect();
        Self::new(field, Problem::NotSupported, quote(value), format!("supported values: {}", list.join(", ")))
    }

    pub(super) fn too_many(field: impl Into<String>, found: usize, most: usize) -> Self {
        Self::new(field, Problem::TooMany, format!("{found}"), format!("must have at most {most} items"))
    }

    pub(super) fn too_long(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(field, Problem::TooLong, String::new(), detail)
    }

    fn kind_text(&self) -> &'static str {
        match self.problem {
            Problem::Required => "Required value",
            Problem::Invalid | Problem::TypeInvalid => "Invalid value",
            Problem::NotSupported => "Unsupported value",
            Problem::Duplicate => "Duplicate value",
            Problem::Forbidden => "Forbidden",
            Problem::TooLong => "Too long",
            Problem::TooMany => "Too many",
            Problem::Internal => "Internal error",
            Problem::NotFound => "Not found",
        }
    }

    fn reason(&self) -> &'static str {
        match self.problem {
            Problem::Required => "FieldValueRequired",
            Problem::Invalid => "FieldValueInvalid",
            Problem::NotSupported => "FieldValueNotSupported",
            Problem::Duplicate => "FieldValueDuplicate",
            Problem::Forbidden => "FieldValueForbidden",
            Problem::TooLong => "FieldValueTooLong",
            Problem::TooMany => "FieldValueTooMany",
            Problem::Internal => "InternalError",
            Problem::NotFound => "FieldValueNotFound",
            Problem::TypeInvalid => "FieldValueTypeInvalid",
        }
    }

    /// Returns the error without its field: the message of its cause.
    pub(super) fn body(&self) -> String {
        let mut text = self.kind_text().to_string();
        if !self.value.is_empty() {
            text = format!("{text}: {}", self.value);
        }
        if !self.detail.is_empty() {
            text = format!("{text}: {}", self.detail);
        }
        text
    }

    /// Returns the error as the message of a Status names it.
    pub(super) fn text(&self) -> String {
        format!("{}: {}", self.field, self.body())
    }

    /// Returns the cause in the details of a Status.
    pub(super) fn cause(&self) -> Json {
        json!({"reason": self.reason(), "message": self.body(), "field": self.field.as_str()})
    }
}

/// Tells whether a text is absent or empty.
fn text<'a>(tree: &'a Json, field: &str) -> &'a str {
    tree.get(field).as_str().unwrap_or("")
}

/// Checks that a text is there, and one of those that are known.
fn one_of(field: &str, value: &str, supported: &[&str], errors: &mut Vec<FieldError>) {
    if value.is_empty() {
        errors.push(FieldError::required(field, ""));
    } else if !supported.contains(&value) {
        errors.push(FieldError::not_supported(field, value, supported));
    }
}

fn is_blank(value: &Json) -> bool {
    value.as_str().unwrap_or("").is_empty()
}

/// Adds what is wrong with a text.
fn invalid(problems: Vec<String>, path: impl AsRef<str>, value: &str, errors: &mut Vec<FieldError>) {
    errors.extend(problems.into_iter().map(|problem| FieldError::invalid_text(path.as_ref(), value, problem)));
}

/// Checks the name of a CSI driver. Source: pkg/apis/core/validation/validation.go (v1.34), `ValidateCSIDriverName`.
fn driver_name(name: &str, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    if name.is_empty() {
        errors.push(FieldError::required(path, ""));
        // Source: pkg/apis/core/validation/validation.go (v1.34, v1.35), `ValidateCSIDriverName`.
        if wording.tells_missing_once() {
            return;
        }
    }
    if name.len() > DRIVER_NAME_MAX {
        errors.push(FieldError::too_long(path, format!("may not be more than {DRIVER_NAME_MAX} bytes")));
    }
    invalid(names::subdomain(&name.to_lowercase(), wording), path, name, errors);
}

/// Checks a text that becomes a part of a path; what is missing is told in these words.
fn path_segment(name: &str, path: String, missing: &str, errors: &mut Vec<FieldError>) {
    if name.is_empty() {
        errors.push(FieldError::required(path, missing));
    } else {
        invalid(names::path_segment(name), path, name, errors);
    }
}

/// Checks a path below a domain.
///
/// Source: k8s.io/apimachinery pkg/util/validation/validation.go (v1.34), `IsDomainPrefixedPath`.
fn prefixed_path(own: &str, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    if own.is_empty() {
        errors.push(FieldError::required(path, ""));
        return;
    }
    let parts = own.split_once('/').filter(|(host, rest)| !host.is_empty() && !rest.is_empty());
    let Some((host, rest)) = parts else {
        let why = "must be a domain-prefixed path (such as \"acme.io/foo\")";
        errors.push(FieldError::invalid_text(path, own, why));
        return;
    };
    invalid(names::subdomain(host, wording), path, host, errors);
    if !rest.chars().all(|letter| letter.is_ascii_alphanumeric() || "/-._~%!$&'()*+,;=:".contains(letter)) {
        let why = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";
        errors.push(FieldError::invalid_text(path, rest, why));
    }
}

/// Returns the containers of a Pod with their paths, in the order in which upstream visits them.
/// Source: pkg/apis/core/pods/helpers.go (v1.34), `VisitContainersWithPath`.
fn containers(spec: &Json) -> impl Iterator<Item = (String, &Json)> {
    ["initContainers", "containers", "ephemeralContainers"].into_iter().flat_map(move |list| {
        let own = spec.get(list).items().iter().enumerate();
        own.map(move |(at, container)| (format!("spec.{list}[{at}]"), container))
    })
}

/// Prints a list of texts as Go's `%#v` does.
fn go_texts(items: &[Json]) -> String {
    let texts: alloc::vec::Vec<String> = items.iter().map(print).collect();
    format!("[]string{{{}}}", texts.join(", "))
}

fn print(value: &Json) -> String {
    match value {
        Json::Str(text) => quote(text),
        Json::Null => "null".to_string(),
        value => value.to_string(),
    }
}

/// Words errors as the release does.
pub(in crate::components::api_server) fn worded(errors: Vec<FieldError>, settings: &Settings) -> Vec<FieldError> {
    worded_beside(&NULL, errors, settings)
}

/// Words errors as the release does. Lists and maps that stand empty in what was sent are printed as such.
pub(in crate::components::api_server) fn worded_beside(
    sent: &Json,
    errors: Vec<FieldError>,
    settings: &Settings,
) -> Vec<FieldError> {
    let mut errors = declared::take_over(errors, settings);
    if errors.iter().any(|error| error.structure.is_some()) {
        let (schema, lines) = (settings.profile().schema(), settings.profile().is("errors-print-json"));
        errors.iter_mut().for_each(|error| error.print_structure(sent, &schema, lines));
    }
    if settings.profile().is("errors-print-json") {
        for error in errors.iter_mut().filter(|error| error.problem == Problem::Invalid && error.value == "null") {
            let empty = Some(at_field(sent, &error.field)).filter(|sent| sent.is_array() || sent.is_object());
            error.value = empty.filter(|sent| sent.is_empty()).unwrap_or(&NULL).to_string();
        }
        return errors;
    }
    let older = errors.into_iter().map(FieldError::into_older);
    if settings.profile().is("errors-say-what-is-too-long") {
        older.collect()
    } else {
        older.map(FieldError::into_oldest).collect()
    }
}

/// Takes away the lists of a Pod that the comparison makes anew or takes from the stored Pod.
fn without_kept(sent: &mut Json) {
    for list in ["tolerations", "schedulingGates"] {
        sent.remove(&[list]);
    }
    for list in ["containers", "initContainers"] {
        if sent.get(list).is_empty() {
            sent.remove(&[list]);
        }
    }
}

/// Returns the value of a field that is named as errors name it, `spec.containers[0].env`.
fn at_field<'a>(tree: &'a Json, field: &str) -> &'a Json {
    field.split(['.', '[']).fold(tree, |tree, part| match part.strip_suffix(']').map(str::parse::<usize>) {
        Some(Ok(at)) => tree.items().get(at).unwrap_or(&NULL),
        _ => tree.get(part),
    })
}

/// Returns a value with the empty lists and maps that were sent, which the stored form does not have.
pub(super) fn with_empty(value: &Json, sent: &Json) -> Json {
    match (value, sent) {
        (Json::Null, Json::Array(_) | Json::Object(_)) if sent.is_empty() => sent.clone(),
        (Json::Object(_), Json::Object(_)) => {
            let mut whole = value.clone();
            for (name, item) in sent.fields().filter(|(_, item)| item.is_array() || item.is_object()) {
                let known = value.get(name);
                let restored = with_empty(known, item);
                if restored != *known {
                    whole.set(&[name], restored);
                }
            }
            whole
        }
        (Json::Array(items), Json::Array(others)) if items.len() == others.len() => {
            items.iter().zip(others.iter()).map(|(item, other)| with_empty(item, other)).collect()
        }
        _ => value.clone(),
    }
}
