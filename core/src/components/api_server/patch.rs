//! PATCH: which kind of patch, what is wrong with it, the object that it makes of the stored one.
//!
//! Mirrors k8s.io/apiserver pkg/endpoints/handlers/patch.go and k8s.io/apimachinery pkg/runtime/converter.go (v1.34).
//! Inputs: the patch and its media type. Outputs: the patched object, committed as an update, or the refusal.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::body_kinds::SCALE;
use super::call::RequestInfo;
use super::naming::check_patched_name;
use super::options::{FieldValidation, RequestOptions};
use super::validation::FieldError;
use super::write::{Read, answer, drop_repeated_owners, other_custom_type, unknown_fields, warnings, with_warnings};
use super::{ApiServer, Origin, status, strategy, syntax};
use crate::network::kinds::{Kind, Trait};
use crate::network::{APPLY_PATCH, Answer, Body, Call, JSON_PATCH, MERGE_PATCH, NODE_LEASES, STRATEGIC_MERGE_PATCH};
use crate::objects::patch::{JsonPatch, PatchError, go_value, merge, strategic_merge_taking};
use crate::objects::schema::named_kind;
use crate::objects::{Json, WrittenJson};

/// Most operations of a JSON patch. Source: k8s.io/apiserver pkg/endpoints/handlers/patch.go (v1.34),
/// `maxJSONPatchOperations`.
const OPERATIONS_MAX: usize = 10_000;

/// What is said of a patch that custom kinds do not take. Source: k8s.io/apiserver pkg/endpoints/handlers/patch.go and
/// k8s.io/apiextensions-apiserver pkg/apiserver/customresource_handler.go (v1.34).
const CUSTOM_PATCHES: &str = "the body of the request was in an unknown format - accepted media types include: \
                              application/json-patch+json, application/merge-patch+json, \
                              application/apply-patch+yaml";

impl ApiServer {
    pub(super) fn patch(
        &mut self,
        info: &RequestInfo,
        options: &RequestOptions,
        origin: &Origin,
        call: &Call,
    ) -> Result<Answer, Answer> {
        let is_scale = info.subresource == *"scale";
        let kind = if is_scale { &SCALE } else { info.kind };
        let content_type = String::from(content_type_of(call));
        if options.applies {
            return self.apply(info, options, origin, call);
        }
        if info.kind.is(Trait::Custom) && ![JSON_PATCH, MERGE_PATCH].contains(&content_type.as_str()) {
            return Err(status::failure(415, "UnsupportedMediaType", CUSTOM_PATCHES, None));
        }
        check_syntax(&call.body, self.settings.profile().is("patches-are-read-first"))?;
        let Some(current) = self.tables[info.kind_index].store.get(&info.namespace, &info.name).cloned() else {
            return Err(status::not_found(&info.kind.resource, &info.name));
        };
        let patch = patch_body(&call.body, &content_type, options.field_validation)?;
        if info.kind_index == self.leases
            && !options.dry_run
            && content_type != JSON_PATCH
            && info.namespace == *NODE_LEASES
            && let Some(answer) = self.renew_by_patch(origin, &info.name, &patch)
        {
            return Ok(answer);
        }
        let old = if is_scale { self.managed_scale_of(info, &current) } else { current.json() };
        let complaints = self.complaints_about_patch(options, &patch, &content_type)?;
        let (mut left, mut operations) = (patch.clone(), None);
        let patched = match content_type.as_str() {
            JSON_PATCH => {
                let operations = operations.insert(read_json_patch(&patch, options.field_validation)?);
                operations.apply(&old).map_err(|_| rejected())?
            }
            MERGE_PATCH => merge(&old, &patch),
            _ => strategic_merge_taking(&self.schema, kind.type_name(), &old, &mut left)
                .map_err(|error| refuse_patch(&error))?,
        };
        let strategic = content_type == STRATEGIC_MERGE_PATCH;
        let read = self.decode_patched(kind, options, complaints, (&patched, &old, strategic)).map_err(|refusal| {
            let shown = match &operations {
                _ if strategic => go_value(&left),
                _ if kind.is(Trait::Custom) => patched.to_string(),
                Some(operations) => self.text_of(kind, operations, &old, (&patch, options)),
                None => self.schema.go_json(kind.type_name(), &patched, Some(&patch)),
            };
            match refusal {
                PatchRefusal::Whole(answer) => answer,
                PatchRefusal::Type(why) if strategic => refuse_document(&shown, converter_words(&why)),
                PatchRefusal::Type(why) | PatchRefusal::Other(why) => refuse_document(&shown, why),
            }
        })?;
        let (mut tree, mut warnings) = (read.tree, read.warnings);
        tree.set(&["kind"], kind.name);
        tree.set(&["apiVersion"], kind.resource.api_version());
        let named = check_patched_name(&tree, info)
            .and_then(|()| super::naming::fix_namespace(kind, &mut tree, &info.namespace));
        named.map_err(|refusal| with_warnings(refusal, warnings.clone()))?;
        if is_scale {
            return self.write_scale(info, options, origin, &current, Read { tree, warnings }, None);
        }
        warnings.extend(drop_repeated_owners(&mut tree, " after mutating admission happens"));
        match self.update_tree(info, options, origin, &current, (tree, &patched)) {
            Ok((object, more)) => Ok(answer(200, object, [warnings, more].concat())),
            Err(refusal) => Err(with_warnings(refusal, warnings)),
        }
    }

    /// Prints the document that a JSON patch makes of a stored tree.
    fn text_of(
        &self,
        kind: &Kind,
        operations: &JsonPatch,
        old: &Json,
        (patch, options): (&Json, &RequestOptions),
    ) -> String {
        let document = self.schema.written(kind.type_name(), old, None);
        let written = options.text.as_deref().and_then(WrittenJson::parse);
        let written = written.unwrap_or_else(|| WrittenJson::from(patch));
        operations.text_of(document, &written)
    }

    /// Reads the outcome of a patch of a stored tree.
    fn decode_patched(
        &self,
        kind: &Kind,
        options: &RequestOptions,
        mut complaints: Vec<String>,
        (tree, old, is_strategic): (&Json, &Json, bool),
    ) -> Result<Read, PatchRefusal> {
        let is_typed = !is_strategic && !kind.is(Trait::Custom);
        if is_typed {
            for (field, shown) in [("apiVersion", tree.get("apiVersion")), ("kind", tree.get("kind"))] {
                if !shown.is_null() && shown.as_str().is_none() {
                    let found = syntax::kind_of(shown);
                    let why = format!("cannot unmarshal {found} into Go struct field .{field} of type string");
                    let why = format!("couldn't get version/kind; json parse error: json: {why}");
                    return Err(PatchRefusal::Other(why));
                }
            }
        }
        let said = |field: &str| tree.get(field).as_str().unwrap_or("");
        if is_typed && said("apiVersion").matches('/').count() > 1 {
            return Err(PatchRefusal::Other(format!("unexpected GroupVersion string: {}", said("apiVersion"))));
        }
        let (found_kind, found_version) = (said("kind"), said("apiVersion"));
        let is_other = !found_kind.is_empty() && found_kind != kind.name;
        if kind.is(Trait::Custom) && !found_kind.is_empty() {
            other_custom_type(kind, tree).map_err(PatchRefusal::Whole)?;
        }
        // The outcome of a strategic merge patch is a Go structure already, which its kind does not change.
        if !is_strategic && (is_other || found_version != kind.resource.api_version()) {
            let scheme = self.settings.profile().text("scheme-name");
            if is_typed && found_version.is_empty() {
                return internal(kind, options, complaints, (tree, is_other), scheme);
            }
            let shown = if found_kind.is_empty() { kind.name } else { found_kind };
            return Err(PatchRefusal::Other(strategy::wrong_kind(kind, shown, found_version, scheme)));
        }
        let decoded = match is_strategic {
            true => self.decode_converted(kind, tree, old),
            false => self.decode(kind, tree, old),
        };
        let decoded = decoded.map_err(|error| PatchRefusal::Type(error.to_string()))?;
        complaints.extend(unknown_fields(&decoded));
        if options.field_validation == FieldValidation::Strict && !complaints.is_empty() {
            return Err(PatchRefusal::Other(format!("strict decoding error: {}", complaints.join(", "))));
        }
        Ok(Read { tree: decoded.object, warnings: warnings(options, &complaints) })
    }

    /// Says which fields of a patch come twice, and which fields of an operation are unknown.
    fn complaints_about_patch(
        &self,
        options: &RequestOptions,
        patch: &Json,
        content_type: &str,
    ) -> Result<Vec<String>, Answer> {
        if options.field_validation == FieldValidation::Ignore {
            return Ok(Vec::new());
        }
        let written = options.text.as_deref().and_then(WrittenJson::parse);
        if content_type != JSON_PATCH {
            // In a tree no field stands twice.
            return Ok(written.map_or_else(Vec::new, |written| written.repeated()));
        }
        let written = written.unwrap_or_else(|| WrittenJson::from(patch));
        let told = self.schema.complaints("jsonPatchOp", &written);
        let told = told.map_err(|error| status::bad_request(&format!("error decoding patch: {error}")))?;
        Ok(told.into_iter().map(|complaint| format!("json patch {complaint}")).collect())
    }

    /// Refuses a patch of an unknown media type.
    pub(super) fn check_patch_type(&self, call: &Call) -> Result<(), Answer> {
        let content_type = content_type_of(call);
        if [JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, APPLY_PATCH].contains(&content_type) {
            return Ok(());
        }
        let refuses_nothing = matches!(call.body, Body::Empty) && self.settings.profile().is("no-body-is-a-bad-type");
        let list = if refuses_nothing { "\n\nAvailable representations: " } else { "" };
        let message = format!("415: Unsupported Media Type{list}");
        Err(status::failure(415, "UnsupportedMediaType", &message, Some(Json::object())))
    }
}

/// Returns the media type of a patch: unlike that of other bodies it is compared as it is written.
fn content_type_of(call: &Call) -> &str {
    let content_type = call.header_value("content-type").map_or("", |value| value.as_str());
    content_type.split(';').next().unwrap_or("").trim()
}

/// Reads a document without a version: it is taken for the server's own structure, whose fields have other names.
/// Source: k8s.io/apimachinery pkg/runtime/serializer/json/json.go (v1.34), `Decode` and `gvkWithDefaults`.
fn internal(
    kind: &Kind,
    options: &RequestOptions,
    mut complaints: Vec<String>,
    (tree, is_other): (&Json, bool),
    scheme: &str,
) -> Result<Read, PatchRefusal> {
    if is_other {
        let (found, group) = (tree.get("kind").as_str().unwrap_or(""), kind.resource.group.as_str());
        let why =
            format!("no kind {found:?} is registered for the internal version of group {group:?} in scheme {scheme:?}");
        return Err(PatchRefusal::Other(why));
    }
    let own = |name: &str| matches!(name, "kind" | "apiVersion");
    let unknown = tree.fields().filter(|(name, _)| !own(name)).map(|(name, _)| format!("unknown field \"{name}\""));
    complaints.extend(unknown);
    if options.field_validation == FieldValidation::Strict && !complaints.is_empty() {
        return Err(PatchRefusal::Other(format!("strict decoding error: {}", complaints.join(", "))));
    }
    Ok(Read { tree: Json::object(), warnings: warnings(options, &complaints) })
}

/// Why the outcome of a patch is no object.
enum PatchRefusal {
    /// A field has the wrong type, in the decoder's words.
    Type(String),
    Other(String),
    /// The object is another than that of the request.
    Whole(Answer),
}

fn refuse_document(shown: &str, why: String) -> Answer {
    let error = FieldError::invalid_text("patch", shown, why);
    status::invalid_of("", "", "", &[error])
}

/// Turns an error of the JSON decoder about a Go struct field into the words of the converter of unstructured objects.
pub(super) fn converter_words(why: &str) -> String {
    if why.starts_with("illegal base64 data") {
        return format!("error decoding from json: {why}");
    }
    let parts = why.strip_prefix("json: cannot unmarshal ").and_then(|rest| rest.split_once(" of type "));
    let Some((found, wanted)) = parts else { return why.to_string() };
    let found = found.split(' ').next().unwrap_or("");
    if wanted == "intstr.IntOrString" {
        return format!("error decoding from json: json: cannot unmarshal {found} into Go value of type int32");
    }
    let found = match found {
        "number" => "int64",
        "array" => "slice",
        "object" => "map",
        other => other,
    };
    let named = named_kind(wanted);
    if found == "int64" && (wanted == "string" || named == Some("string")) {
        format!("cannot convert int64 to {wanted}")
    } else if named == Some("map") {
        format!("cannot restore map from {found}")
    } else if let Some(kind) = named {
        format!("unrecognized type: {kind}")
    } else if wanted.starts_with("[]") {
        format!("cannot restore slice from {found}")
    } else if wanted.starts_with("map[") {
        format!("cannot restore map from {found}")
    } else if wanted.starts_with("v1.") {
        format!("cannot restore struct from: {found}")
    } else {
        format!("unrecognized type: {wanted}")
    }
}

/// Refuses what is no JSON, where that is looked at before the object is looked for.
///
/// Source: k8s.io/apiserver pkg/endpoints/handlers/patch.go (v1.37), `validateAndTranscodePatch`.
fn check_syntax(body: &Body, comes_first: bool) -> Result<(), Answer> {
    match body {
        Body::Json(_) | Body::TooLong => Ok(()),
        _ if !comes_first => Ok(()),
        _ => Err(status::bad_request("invalid JSON patch")),
    }
}

fn patch_body(body: &Body, content_type: &str, validation: FieldValidation) -> Result<Json, Answer> {
    let is_lax = content_type == STRATEGIC_MERGE_PATCH || validation == FieldValidation::Ignore;
    let prefix = if is_lax { "" } else { "error decoding patch: " };
    if content_type == MERGE_PATCH && is_lax && !matches!(body, Body::Json(Json::Object(_))) {
        return Err(status::bad_request("Invalid JSON Patch"));
    }
    match body {
        Body::Json(patch) => match patch {
            Json::Object(_) => Ok(patch.clone()),
            // Go reads null as a map without fields, or as a list without operations.
            Json::Null if content_type == STRATEGIC_MERGE_PATCH => Ok(Json::object()),
            Json::Null if content_type == JSON_PATCH => Ok(Json::array(Vec::new())),
            Json::Null => Err(status::bad_request("Invalid JSON Patch")),
            _ if content_type == JSON_PATCH => Ok(patch.clone()),
            other => {
                let found = match other {
                    Json::Array(_) => "array",
                    Json::Str(_) => "string",
                    Json::Bool(_) => "bool",
                    _ => "number",
                };
                Err(status::bad_request(&format!(
                    "{prefix}json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
                )))
            }
        },
        Body::Empty | Body::TooLong => Err(status::bad_request(&format!("{prefix}{}", syntax::problem("")))),
        Body::Raw(text) => Err(status::bad_request(&format!("{prefix}{}", syntax::problem(text)))),
        Body::Unread { why, .. } => Err(status::bad_request(&format!("{prefix}{why}"))),
    }
}

fn read_json_patch(patch: &Json, validation: FieldValidation) -> Result<JsonPatch, Answer> {
    let patch = JsonPatch::parse(patch).map_err(|error| {
        // A lax reader leaves it to github.com/evanphx/json-patch (v4.12), `DecodePatch`, which has types of its own.
        let lax = || error.to_string().replace("[]handlers.jsonPatchOp", "jsonpatch.Patch");
        let lax = || lax().replace("handlers.jsonPatchOp", "jsonpatch.Operation");
        let is_lax = validation == FieldValidation::Ignore;
        status::bad_request(&if is_lax { lax() } else { format!("error decoding patch: {error}") })
    })?;
    if patch.len() > OPERATIONS_MAX {
        let message = format!(
            "Request entity too large: The allowed maximum operations in a JSON patch is {OPERATIONS_MAX}, got {}",
            patch.len()
        );
        return Err(status::failure(413, "RequestEntityTooLarge", &message, None));
    }
    Ok(patch)
}

fn rejected() -> Answer {
    let message = "the server rejected our request due to an error in our request";
    status::failure(422, "Invalid", message, Some(Json::object()))
}

fn refuse_patch(error: &PatchError) -> Answer {
    match error {
        PatchError::Malformed(message) => status::bad_request(message),
        PatchError::Unsupported(_) => rejected(),
        PatchError::Other(message) => status::untyped(message),
    }
}
