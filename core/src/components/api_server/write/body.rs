//! Reads the object that the body of a POST or PUT holds.
//!
//! Mirrors k8s.io/apimachinery pkg/runtime/serializer/json/{json,meta}.go, k8s.io/apiserver
//! pkg/endpoints/handlers/{create,rest}.go and pkg/endpoints/handlers/negotiation (v1.34). Inputs: a body with its
//! media type, the kind that is expected. Outputs: the object as the types of the release have it, with warnings; or
//! the refusal, which tells mistakes in the order in which they are written.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::super::call::as_headers;
use super::super::content_negotiation::{check_media_type, check_readable};
use super::super::options::{FieldValidation, RequestOptions};
use super::super::validation::FieldError;
use super::super::{ApiServer, status, strategy, syntax};
use super::Read;
use crate::network::http::quoted as summary;
use crate::network::kinds::{Kind, Trait};
use crate::network::{Answer, Body, PROTOBUF, Resource};
use crate::objects::names::why_no_number;
use crate::objects::schema::{DecodeError, Decoded};
use crate::objects::{Json, Text, WrittenJson, base64};

impl ApiServer {
    /// Reads the object of a POST or PUT; parts that are shared with the stored one are not decoded again.
    pub(in super::super) fn read_body(
        &self,
        kind: &Kind,
        options: &RequestOptions,
        body: Body,
        known: &Json,
    ) -> Result<Read, Answer> {
        check_media_type(&options.content_type)?;
        check_readable(&options.content_type, kind)?;
        let tree = tree_of(kind, options, body)?;
        self.check_type(kind, options, &tree)?;
        let handled = |why: &str| {
            let version = kind.resource.version.as_str();
            status::bad_request(&format!("{0} in version {version:?} cannot be handled as a {0}: {why}", kind.name))
        };
        let (mut tree, complaints) =
            self.decode_sent(kind, options, &tree, known).map_err(|error| handled(&error.0))?;
        if kind.rules() == "CertificateSigningRequest"
            && let Some(at) = base64::problem(tree.at(&["spec", "request"]).as_str().unwrap_or(""))
        {
            return Err(handled(&format!("illegal base64 data at input byte {at}")));
        }
        if let Some(why) = wrong_generation(kind, &tree) {
            return Err(handled(&why));
        }
        tree.set(&["kind"], kind.name);
        tree.set(&["apiVersion"], kind.resource.api_version());
        let mut told = options.repeated_yaml_keys();
        if options.field_validation == FieldValidation::Strict && told.len() + complaints.len() > 0 {
            let yaml = (!told.is_empty()).then(|| format!("yaml: unmarshal errors:\n  {}", told.join("\n  ")));
            let all: Vec<String> = yaml.into_iter().chain(complaints).collect();
            return Err(handled(&format!("strict decoding error: {}", all.join(", "))));
        }
        told.extend(complaints);
        Ok(Read { tree, warnings: warnings(options, &told) })
    }

    /// Checks the body of a request that makes no object of its own: a binding, an eviction, a review. Returns
    /// warnings. What components of the simulator send is no text, and known to be well-formed.
    pub(in super::super) fn check_body(
        &self,
        kind: &Kind,
        options: &RequestOptions,
        body: &Body,
    ) -> Result<Vec<Text>, Answer> {
        if options.text.is_none() && matches!(body, Body::Json(Json::Object(_))) {
            return Ok(Vec::new());
        }
        self.read_body(kind, options, body.clone(), &Json::Null).map(|read| read.warnings)
    }

    /// Decodes an object, with what a strict decoder says of it. The order of the text is looked at only if something
    /// is unusual.
    fn decode_sent(
        &self,
        kind: &Kind,
        options: &RequestOptions,
        tree: &Json,
        known: &Json,
    ) -> Result<(Json, Vec<String>), DecodeError> {
        let text = options.json_text();
        let has_fractions = text.is_some() && has_fraction(tree);
        let exact = has_fractions.then(|| text.and_then(WrittenJson::parse)).flatten().map(|written| written.tree());
        let decoded = self.decode(kind, exact.as_ref().unwrap_or(tree), known);
        let is_usual = decoded.as_ref().is_ok_and(|read| read.unknown.is_empty()) && !has_fractions;
        if is_usual && !text.is_some_and(|text| WrittenJson::repeats(text, tree)) {
            return decoded.map(|read| (read.object, Vec::new()));
        }
        let written = text.and_then(WrittenJson::parse).unwrap_or_else(|| WrittenJson::from(tree));
        if kind.is(Trait::Custom) {
            return decoded.map(|read| {
                let complaints = written.repeated().into_iter().chain(unknown_fields(&read)).collect();
                (read.object, complaints)
            });
        }
        let complaints = self.schema.complaints(kind.type_name(), &written)?;
        decoded.map(|read| (read.object, complaints))
    }

    /// Refuses an object of another kind or version.
    fn check_type(&self, kind: &Kind, options: &RequestOptions, tree: &Json) -> Result<(), Answer> {
        let (found_kind, found_version) = type_of(kind, options, tree)?;
        let wanted = kind.resource.api_version();
        // Source: k8s.io/apimachinery pkg/runtime/serializer/json/json.go and pkg/apis/meta/v1/unstructured/helpers.go
        // (v1.34), `unstructuredJSONScheme.Decode`: what has no type in Go has to say its kind.
        if kind.is(Trait::Custom) {
            return check_custom_type(kind, options, tree, (&found_kind, &found_version));
        }
        // Source: pkg/registry/core/pod/storage/eviction.go (v1.34), `AcceptsGroupVersion`.
        if (kind.rules(), &*found_kind, &*found_version) == ("Eviction", "Eviction", "policy/v1beta1") {
            return Ok(());
        }
        if found_version != wanted && strategy::has_version(kind, &found_kind, &found_version) {
            return Err(status::bad_request(&format!(
                "the API version in the data ({found_version}) does not match the expected API version ({wanted})"
            )));
        }
        if !found_kind.is_empty() && (found_kind != kind.name || !found_version.is_empty() && found_version != wanted) {
            let scheme = self.settings.profile().text("scheme-name");
            let why = strategy::wrong_kind(kind, &found_kind, &found_version, scheme);
            let version = found_version.rsplit('/').next().unwrap_or("");
            return Err(status::bad_request(&format!(
                "{found_kind} in version {version:?} cannot be handled as a {}: {why}",
                kind.name
            )));
        }
        Ok(())
    }
}

/// Refuses an object of another kind or version than a custom one, which has no type in Go.
///
/// Source: k8s.io/apiserver pkg/endpoints/handlers/{create,rest}.go and k8s.io/apiextensions-apiserver
/// pkg/registry/customresource/validator.go (v1.34), `ValidateTypeMeta`.
fn check_custom_type(
    kind: &Kind,
    options: &RequestOptions,
    tree: &Json,
    (found_kind, found_version): (&str, &str),
) -> Result<(), Answer> {
    if found_kind.is_empty() {
        let sent = options.json_text().map_or_else(|| tree.to_string(), String::from);
        return Err(status::bad_request(&format!(
            "the object provided is unrecognized (must be of type {}): Object 'Kind' is missing in '{sent}' ({})",
            kind.name,
            summary(&options.quoted(tree))
        )));
    }
    let wanted = kind.resource.api_version();
    if found_version != wanted {
        return Err(status::bad_request(&format!(
            "the API version in the data ({found_version}) does not match the expected API version ({wanted})"
        )));
    }
    other_custom_type(kind, tree)
}

/// Refuses an object that says another kind or version of itself than its custom kind.
pub(in super::super) fn other_custom_type(kind: &Kind, tree: &Json) -> Result<(), Answer> {
    let said = |field: &str| tree.get(field).as_str().unwrap_or("");
    let (found, version, wanted) = (said("kind"), said("apiVersion"), kind.resource.api_version());
    let mut errors = Vec::new();
    if found != kind.name {
        errors.push(FieldError::invalid_text("kind", found, format!("must be {}", kind.name)));
    }
    if version != wanted {
        errors.push(FieldError::invalid_text("apiVersion", version, format!("must be {wanted}")));
    }
    let (group, _) = Resource::group_and_version(version);
    let name = tree.at(&["metadata", "name"]).as_str().unwrap_or("");
    if errors.is_empty() { Ok(()) } else { Err(status::invalid_of(found, group, name, &errors)) }
}

/// Says that nothing can be told of what a body holds, and quotes its beginning.
fn unrecognised(kind: &Kind, why: &str, quoted: &str) -> Answer {
    status::bad_request(&format!(
        "the object provided is unrecognized (must be of type {}): couldn't get version/kind; json parse error: {why} \
         ({})",
        kind.name,
        summary(quoted)
    ))
}

/// Tells whether a number of a body is none that 64 bits hold.
fn has_fraction(tree: &Json) -> bool {
    match tree {
        Json::Float(_) => true,
        Json::Array(items) => items.iter().any(has_fraction),
        Json::Object(_) => tree.fields().any(|(_, item)| has_fraction(item)),
        _ => false,
    }
}

fn tree_of(kind: &Kind, options: &RequestOptions, body: Body) -> Result<Json, Answer> {
    match body {
        Body::Json(tree) if tree.is_object() => Ok(tree),
        Body::Json(Json::Null) => Ok(Json::object()),
        Body::Json(other) => Err(unrecognised(kind, &syntax::no_object(&other), &options.quoted(&other))),
        // Nothing in YAML is null.
        Body::Empty if options.content_type == "application/yaml" => Ok(Json::object()),
        Body::Empty if options.content_type == PROTOBUF => Err(status::bad_request(&format!(
            "the object provided is unrecognized (must be of type {}): empty data (<empty>)",
            kind.name
        ))),
        Body::Empty | Body::TooLong => Err(unrecognised(kind, &syntax::problem(""), "")),
        Body::Raw(text) => Err(unrecognised(kind, &syntax::problem(&text), &text)),
        Body::Unread { why, quoted } => Err(status::bad_request(&format!(
            "the object provided is unrecognized (must be of type {}): {why} ({quoted})",
            kind.name
        ))),
    }
}

/// Says why the annotation that holds a field of the internal type of DaemonSets is not taken.
///
/// Source: pkg/apis/apps/v1/conversion.go (v1.34), `Convert_v1_DaemonSet_To_apps_DaemonSet`.
fn wrong_generation(kind: &Kind, tree: &Json) -> Option<String> {
    const GENERATION: &str = "deprecated.daemonset.template.generation";
    let held = tree.at(&["metadata", "annotations", GENERATION]).as_str().filter(|_| kind.rules() == "DaemonSet")?;
    let wrong = held.parse::<i64>().is_err();
    wrong.then(|| format!("strconv.ParseInt: parsing {held:?}: {}", why_no_number(held)))
}

/// Returns kind and version that an object names. Go's standard decoder, which reads them, takes names of fields in any
/// case; the last one counts.
fn type_of(kind: &Kind, options: &RequestOptions, tree: &Json) -> Result<(String, String), Answer> {
    const NAMES: [&str; 2] = ["kind", "apiVersion"];
    let fields = match options.json_text().and_then(WrittenJson::parse) {
        Some(WrittenJson::Fields(fields)) => fields,
        Some(_) => Vec::new(),
        // Of a request that was never a text only these two are put into their written form.
        None => {
            let is_type = |name: &str| NAMES.iter().any(|own| name.eq_ignore_ascii_case(own));
            let own = tree.fields().filter(|(name, _)| is_type(name));
            own.map(|(name, value)| (name.to_string(), WrittenJson::from(value))).collect()
        }
    };
    let mut found = [String::new(), String::new()];
    for (name, value) in fields {
        let Some(place) = NAMES.iter().position(|own| name.eq_ignore_ascii_case(own)) else { continue };
        let name = NAMES[place];
        if let WrittenJson::Str(text) = value {
            found[place] = text;
        } else if let Some(found) = syntax::no_text(&value) {
            let why = format!("json: cannot unmarshal {found} into Go struct field .{name} of type string");
            return Err(unrecognised(kind, &why, &options.quoted(tree)));
        }
    }
    let [found_kind, version] = found;
    if version.matches('/').count() > 1 {
        let quoted = options.quoted(tree);
        let what = format!("the object provided is unrecognized (must be of type {})", kind.name);
        let why = format!("{what}: unexpected GroupVersion string: {version} ({})", summary(&quoted));
        return Err(status::bad_request(&why));
    }
    Ok((found_kind, version))
}

/// Names the fields that no type of the release has.
pub(in super::super) fn unknown_fields(decoded: &Decoded) -> Vec<String> {
    decoded.unknown.iter().map(|field| format!("unknown field {field:?}")).collect()
}

/// Turns the complaints of a strict decoder into warnings, unless the client asked for none.
pub(in super::super) fn warnings(options: &RequestOptions, complaints: &[String]) -> Vec<Text> {
    if options.field_validation == FieldValidation::Ignore {
        return Vec::new();
    }
    as_headers(complaints)
}
