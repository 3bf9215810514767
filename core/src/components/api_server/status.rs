//! The `Status` objects that the server answers with.
//!
//! Source: k8s.io/apimachinery pkg/api/errors/errors.go and k8s.io/apiserver pkg/endpoints/handlers/responsewriters
//! (v1.34). Messages are quoted exactly. Pure: what is wrong in, an answer out.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::validation::{FieldError, quote};
use crate::json;
use crate::network::kinds::Kind;
use crate::network::{Answer, Content, Resource};
use crate::objects::{Json, Text, aggregate};

/// Makes a failure; without details the field is left out.
pub(super) fn failure(code: u16, reason: &str, message: &str, details: Option<Json>) -> Answer {
    let mut fields = Vec::with_capacity(8);
    fields.push((Text::of("apiVersion"), json!("v1")));
    fields.push((Text::of("code"), Json::Int(i64::from(code))));
    fields.extend(details.map(|details| (Text::of("details"), details)));
    fields.push((Text::of("kind"), json!("Status")));
    push_text(&mut fields, "message", message);
    fields.push((Text::of("metadata"), Json::object()));
    push_text(&mut fields, "reason", reason);
    fields.push((Text::of("status"), json!("Failure")));
    Answer::json(code, Json::of_fields(fields))
}

fn push_text(fields: &mut Vec<(Text, Json)>, name: &'static str, text: &str) {
    if !text.is_empty() {
        fields.push((Text::of(name), Json::text(text)));
    }
}

/// Names the object that a failure is about; empty parts are left out.
fn details(name: &str, group: &str, kind: &str) -> Json {
    let mut fields = Vec::with_capacity(3);
    push_text(&mut fields, "group", group);
    push_text(&mut fields, "kind", kind);
    push_text(&mut fields, "name", name);
    Json::of_fields(fields)
}

fn about(resource: &Resource, name: &str) -> Json {
    details(name, &resource.group, &resource.plural)
}

/// 400 BadRequest.
pub(super) fn bad_request(message: &str) -> Answer {
    failure(400, "BadRequest", message, None)
}

/// 404 NotFound of an object.
pub(super) fn not_found(resource: &Resource, name: &str) -> Answer {
    let message = format!("{} {} not found", resource.qualified(), quote(name));
    failure(404, "NotFound", &message, Some(about(resource, name)))
}

/// 404 NotFound of a path below a known prefix.
pub(super) fn no_such_resource() -> Answer {
    failure(404, "NotFound", "the server could not find the requested resource", Some(Json::object()))
}

/// 404 of a path that nothing serves, as plain text.
pub(super) fn page_not_found() -> Answer {
    Answer { code: 404, headers: Vec::new(), content: crate::network::Content::Text(Text::of("404 page not found\n")) }
}

/// 405 of a path that has other methods.
pub(super) fn method_not_allowed() -> Answer {
    let message = "the server does not allow this method on the requested resource";
    failure(405, "MethodNotAllowed", message, Some(Json::object()))
}

/// 415 in place of a 406 of a web service, as older ones answer a request that has no body.
pub(super) fn as_unsupported_media_type(refusal: Answer) -> Answer {
    let message = refusal.message();
    let Some(list) = message.strip_prefix("406: Not Acceptable") else { return refusal };
    let message = format!("415: Unsupported Media Type{list}");
    failure(415, "UnsupportedMediaType", &message, Some(Json::object()))
}

/// 409 AlreadyExists.
pub(super) fn already_exists(resource: &Resource, name: &str) -> Answer {
    let message = format!("{} {name:?} already exists", resource.qualified());
    failure(409, "AlreadyExists", &message, Some(about(resource, name)))
}

/// 409 Conflict.
pub(super) fn conflict(resource: &Resource, name: &str, why: &str) -> Answer {
    let message = format!("Operation cannot be fulfilled on {} {name:?}: {why}", resource.qualified());
    failure(409, "Conflict", &message, Some(about(resource, name)))
}

/// The text of a conflict of versions. Source: k8s.io/apiserver pkg/registry/generic/registry/store.go,
/// `OptimisticLockErrorMsg`.
pub(super) const MODIFIED: &str =
    "the object has been modified; please apply your changes to the latest version and try again";

/// 409 Conflict of a delete's precondition, which names the kind.
pub(super) fn precondition_failed(kind: &Kind, name: &str, why: &str) -> Answer {
    let message = format!("Operation cannot be fulfilled on {} {name:?}: {why}", kind.qualified());
    failure(409, "Conflict", &message, Some(details(name, &kind.resource.group, kind.name)))
}

/// 403 Forbidden by admission.
pub(super) fn forbidden(resource: &Resource, name: &str, why: &str) -> Answer {
    let message = format!("{} {name:?} is forbidden: {why}", resource.qualified());
    failure(403, "Forbidden", &message, Some(about(resource, name)))
}

/// 403 Forbidden by authorisation, which may be about something that is not there, or about a path.
pub(super) fn forbidden_by_authorisation((group, plural): (&str, &str), name: &str, why: &str) -> Answer {
    let qualified = if group.is_empty() { String::from(plural) } else { format!("{plural}.{group}") };
    let message = match (plural, name) {
        ("", _) => format!("forbidden: {why}"),
        (_, "") => format!("{qualified} is forbidden: {why}"),
        _ => format!("{qualified} {} is forbidden: {why}", quote(name)),
    };
    failure(403, "Forbidden", &message, Some(details(name, group, plural)))
}

/// 422 Invalid of an object.
pub(super) fn invalid(kind: &Kind, name: &str, errors: &[FieldError]) -> Answer {
    // Both groups of Events are checked by the strategy of the core group.
    let group = if kind.rules() == "Event" { "" } else { kind.resource.group.as_str() };
    invalid_of(kind.name, group, name, errors)
}

/// 422 Invalid of anything that has a kind and a group.
pub(super) fn invalid_of(kind: &str, group: &str, name: &str, errors: &[FieldError]) -> Answer {
    let causes: Vec<Json> = errors.iter().map(FieldError::cause).collect();
    let list = aggregate(errors.iter().map(FieldError::text)).unwrap_or_else(|| String::from("<nil>"));
    let qualified = if group.is_empty() { String::from(kind) } else { format!("{kind}.{group}") };
    let mut about = details(name, group, kind);
    if !causes.is_empty() {
        about.set(&["causes"], causes);
    }
    failure(422, "Invalid", &format!("{qualified} {name:?} is invalid: {list}"), Some(about))
}

/// 422 of options that were given with the request, as `CreateOptions`.
pub(super) fn invalid_options(options: &str, errors: &[FieldError]) -> Answer {
    invalid_of(options, "meta.k8s.io", "", errors)
}

/// 500 of a failure within the server.
/// Source: k8s.io/apimachinery pkg/api/errors/errors.go (v1.34), `NewInternalError`.
pub(super) fn internal(why: &str) -> Answer {
    let message = format!("Internal error occurred: {why}");
    failure(500, "InternalError", &message, Some(json!({"causes": [{"message": why}]})))
}

/// 500 of an error without a type, quoted as it is.
pub(super) fn untyped(message: &str) -> Answer {
    failure(500, "", message, None)
}

/// 410 Expired.
pub(super) fn expired(message: &str) -> Answer {
    failure(410, "Expired", message, None)
}

/// 504 of a revision that is not there yet.
pub(super) fn too_large_version(asked: u64, current: u64) -> Answer {
    let mut answer = too_large_version_now(asked, current);
    if let Content::Json(body) = &mut answer.content {
        body.set(&["details", "retryAfterSeconds"], 1_i64);
    }
    answer.headers.push((Text::of("Retry-After"), Text::of("1")));
    answer
}

/// 504 of a read that etcd serves: it does not mention a retry.
/// Source: k8s.io/apiserver pkg/storage/etcd3/store.go (v1.31), `validateMinimumResourceVersion`.
pub(super) fn too_large_version_now(asked: u64, current: u64) -> Answer {
    let message = format!("Timeout: Too large resource version: {asked}, current: {current}");
    let cause = json!({"reason": "ResourceVersionTooLarge", "message": "Too large resource version"});
    failure(504, "Timeout", &message, Some(json!({"causes": [cause]})))
}

/// 200 of a deletion.
pub(super) fn deleted(resource: &Resource, name: &str, uid: &str) -> Answer {
    let mut details = about(resource, name);
    details.set(&["uid"], uid);
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"});
    let mut status = status;
    status.set(&["details"], details);
    Answer::json(200, status)
}

/// 201 of a subresource that answers with nothing but its success.
pub(super) fn created() -> Answer {
    Answer::json(201, json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}))
}
