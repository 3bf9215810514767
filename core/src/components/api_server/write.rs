//! POST, PUT and PATCH.
//!
//! Mirrors k8s.io/apiserver pkg/endpoints/handlers/{create,update,patch}.go, pkg/registry/generic/registry/store.go and
//! pkg/registry/rest/{create,update}.go (v1.34).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::call::{Aim, json_of};
use super::options::{FieldValidation, Options};
use super::resources::{KINDS, Kind, Trait};
use super::validation::FieldError;
use super::{ApiServer, Origin, admission, status, strategy};
use crate::network::{Answer, Body, Call, JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH};
use crate::objects::patch::{JsonPatch, PatchError, go_value, merge, strategic_merge};
use crate::objects::{Json, Object, ObjectKey, Text, time};

/// Most operations of a JSON patch. Source: k8s.io/apiserver pkg/endpoints/handlers/patch.go (v1.34),
/// `maxJSONPatchOperations`.
const MOST_OPERATIONS: usize = 10_000;
/// How often the server invents a name before it gives up. Source: store.go (v1.34), `maxNameGenerationCreateAttempts`.
const NAME_ATTEMPTS: u32 = 8;

/// An object of a request, as the server has understood it.
struct Read {
    tree: Json,
    warnings: Vec<Text>,
}

/// Returns the text of a failed precondition about the uid. Source: k8s.io/apiserver pkg/storage/errors.go.
pub(super) fn uid_precondition(key: &str, wanted: &str, found: &str) -> String {
    format!(
        "StorageError: invalid object, Code: 4, Key: /registry/{key}, ResourceVersion: 0, AdditionalErrorMsg: \
         Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}"
    )
}

impl ApiServer {
    pub(super) fn create(
        &mut self,
        aim: &Aim,
        options: &Options,
        origin: &Origin,
        body: Body,
    ) -> Result<Answer, Answer> {
        let kind = &KINDS[aim.kind];
        if kind.is(Trait::Review) {
            return self.review(aim, origin, json_of(body));
        }
        let read = self.read_body(kind, options, body)?;
        self.create_tree(aim, options, origin, read.tree).map(|object| answer(201, object, read.warnings))
    }

    /// Creates an object; the name of the URL, if there is one, is the object's.
    fn create_tree(&mut self, aim: &Aim, options: &Options, origin: &Origin, mut tree: Json) -> Result<Object, Answer> {
        let kind = &KINDS[aim.kind];
        fix_namespace(kind, &mut tree, &aim.namespace)?;
        let given_name = tree.at(&["metadata", "name"]).as_text().cloned().unwrap_or_default();
        if kind.is_namespaced() && !self.namespace_exists(&aim.namespace) {
            return Err(status::not_found(&crate::network::NAMESPACES, &aim.namespace));
        }
        if kind.is_namespaced() {
            self.refuse_if_terminating(kind, &aim.namespace, &given_name)?;
        }
        strategy::default(kind, &mut tree);
        admission::create(self, kind, &mut tree)?;
        if tree
            .at(&["metadata", "resourceVersion"])
            .as_str()
            .is_some_and(|version| !version.is_empty() && version != "0")
        {
            return Err(status::untyped("resourceVersion should not be set on objects to be created"));
        }
        for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "resourceVersion"] {
            tree.remove(&["metadata", field]);
        }
        tree.set(&["metadata", "uid"], self.new_uid());
        tree.set(&["metadata", "creationTimestamp"], time::to_time(origin.now));
        strategy::prepare_create(kind, &mut tree, &self.settings);
        let base = tree.at(&["metadata", "generateName"]).as_text().cloned().unwrap_or_default();
        let generated = given_name.is_empty() && !base.is_empty();
        if generated {
            self.generate_name(aim, &base, &mut tree);
        }
        let name = tree.at(&["metadata", "name"]).as_text().cloned().unwrap_or_default();
        let errors = strategy::validate_create(kind, &tree, &self.settings);
        if !errors.is_empty() {
            return Err(status::invalid(kind, &name, &errors));
        }
        if let Some(existing) = self.tables[aim.kind].store.get(&aim.namespace, &name) {
            let terminating = !existing.stable().at(&["metadata", "deletionTimestamp"]).is_null();
            return Err(refuse_existing(kind, &name, terminating, generated));
        }
        if options.dry_run {
            return Ok(Object::as_received(tree));
        }
        Ok(self.commit(aim.kind, origin, tree))
    }

    fn generate_name(&mut self, aim: &Aim, base: &str, tree: &mut Json) {
        for _ in 0..NAME_ATTEMPTS {
            let name = format!("{}{}", truncated(base), self.random_suffix());
            tree.set(&["metadata", "name"], name.as_str());
            if self.tables[aim.kind].store.find(&aim.namespace, &name).is_none() {
                return;
            }
        }
    }

    /// Returns five random characters. Source: k8s.io/apimachinery pkg/util/rand/rand.go (v1.34), `alphanums`.
    fn random_suffix(&mut self) -> String {
        const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
        (0..5).map(|_| char::from(ALPHABET[usize::try_from(self.chance.below(27)).unwrap_or(0)])).collect()
    }

    pub(super) fn update(
        &mut self,
        aim: &Aim,
        options: &Options,
        origin: &Origin,
        body: Body,
    ) -> Result<Answer, Answer> {
        let kind = &KINDS[aim.kind];
        let mut read = self.read_body(kind, options, body)?;
        check_name(kind, &mut read.tree, aim)?;
        let Some(current) = self.tables[aim.kind].store.get(&aim.namespace, &aim.name).cloned() else {
            return self.put_missing(aim, options, origin, read);
        };
        let sent = read.tree.at(&["metadata", "uid"]).as_str().unwrap_or("");
        if !sent.is_empty() && sent != current.uid() {
            let why = uid_precondition(&strategy::storage_key(kind, aim), sent, current.uid());
            return Err(status::conflict(&kind.resource, &aim.name, &why));
        }
        let object = self.update_tree(aim, options, origin, &current, read.tree)?;
        Ok(answer(200, object, read.warnings))
    }

    fn put_missing(&mut self, aim: &Aim, options: &Options, origin: &Origin, read: Read) -> Result<Answer, Answer> {
        let kind = &KINDS[aim.kind];
        if !kind.is(Trait::CreateOnUpdate) || !aim.subresource.is_empty() {
            return Err(status::not_found(&kind.resource, &aim.name));
        }
        let sent = read.tree.at(&["metadata", "uid"]).as_str().unwrap_or("");
        if !sent.is_empty() {
            let why = uid_precondition(&strategy::storage_key(kind, aim), sent, "");
            return Err(status::conflict(&kind.resource, &aim.name, &why));
        }
        let mut tree = read.tree;
        tree.remove(&["metadata", "resourceVersion"]);
        self.create_tree(aim, options, origin, tree).map(|object| answer(201, object, read.warnings))
    }

    /// Puts a new state in the place of an object's current one.
    pub(super) fn update_tree(
        &mut self,
        aim: &Aim,
        options: &Options,
        origin: &Origin,
        current: &Object,
        mut tree: Json,
    ) -> Result<Object, Answer> {
        let kind = &KINDS[aim.kind];
        let old = current.json();
        strategy::default(kind, &mut tree);
        admission::update(self, kind, &aim.subresource, &mut tree)?;
        check_version(kind, &tree, current, &aim.name)?;
        strategy::prepare_update(kind, &aim.subresource, &mut tree, &old, &self.settings);
        keep_system_fields(&mut tree, &old);
        let errors = strategy::validate_update(kind, &aim.subresource, &tree, &old, &self.settings);
        if !errors.is_empty() {
            return Err(status::invalid(kind, &aim.name, &errors));
        }
        tree.set(&["metadata", "resourceVersion"], old.at(&["metadata", "resourceVersion"]).clone());
        if tree == old {
            return Ok(current.clone());
        }
        if options.dry_run {
            return Ok(Object::as_received(tree));
        }
        let key = current.key();
        if strategy::is_finished(&tree) {
            // The last finalizer went: the object goes in the same request, and the answer shows its last state.
            let last = Object::as_received(tree);
            self.replace_silently(aim.kind, &key, last.clone());
            self.commit_removal(aim.kind, origin, &key);
            return Ok(last);
        }
        Ok(self.commit(aim.kind, origin, tree))
    }

    /// Changes what the coming removal shows as the last state, without a write of its own.
    pub(super) fn replace_silently(&mut self, kind: usize, key: &ObjectKey, object: Object) {
        let store = &mut self.tables[kind].store;
        if let Some(place) = store.find(&key.namespace, &key.name) {
            store.replace(place, object);
        }
    }

    pub(super) fn patch(
        &mut self,
        aim: &Aim,
        options: &Options,
        origin: &Origin,
        call: &Call,
    ) -> Result<Answer, Answer> {
        let kind = &KINDS[aim.kind];
        let content_type = call.header_value("content-type").map_or("", |value| value.as_str());
        let content_type = content_type.split(';').next().unwrap_or("").trim().to_lowercase();
        let patch = patch_body(&call.body, &content_type)?;
        let Some(current) = self.tables[aim.kind].store.get(&aim.namespace, &aim.name).cloned() else {
            return Err(status::not_found(&kind.resource, &aim.name));
        };
        let old = current.json();
        let patched = match content_type.as_str() {
            JSON_PATCH => apply_json_patch(&patch, &old)?,
            MERGE_PATCH => merge(&old, &patch),
            _ => strategic_merge(&self.schema, kind.name, &old, &patch).map_err(|error| refuse_patch(&error))?,
        };
        let shown = if content_type == STRATEGIC_MERGE_PATCH { go_value(&patch) } else { patched.to_string() };
        let read = self.decode_patched(kind, options, &patched, &shown)?;
        let mut tree = read.tree;
        tree.set(&["kind"], kind.name);
        tree.set(&["apiVersion"], kind.api_version());
        check_patched_name(&tree, aim)?;
        let object = self.update_tree(aim, options, origin, &current, tree)?;
        Ok(answer(200, object, read.warnings))
    }

    /// Reads the object of a POST or PUT.
    fn read_body(&self, kind: &Kind, options: &Options, body: Body) -> Result<Read, Answer> {
        let refuse = |why: &str| {
            status::bad_request(&format!("the object provided is unrecognized (must be of type {}): {why}", kind.name))
        };
        let tree = match body {
            Body::Json(tree) if tree.is_object() => tree,
            Body::Empty => {
                return Err(refuse(
                    "couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
                ));
            }
            Body::Json(_) | Body::Raw(_) => return Err(refuse("couldn't get version/kind; json parse error")),
        };
        let said = |field: &str| tree.get(field).as_str().unwrap_or("").to_string();
        let (found_kind, found_version) = (said("kind"), said("apiVersion"));
        let wanted = kind.api_version();
        let handled = |why: &str| {
            let version = found_version.rsplit('/').next().unwrap_or("");
            status::bad_request(&format!(
                "{found_kind} in version {version:?} cannot be handled as a {}: {why}",
                kind.name
            ))
        };
        if !found_kind.is_empty() && (found_kind != kind.name || !found_version.is_empty() && found_version != wanted) {
            return Err(handled(&strategy::wrong_kind(kind, &found_kind, &found_version)));
        }
        let decoded = self.schema.decode(kind.name, &tree).map_err(|error| {
            let version = kind.resource.version.as_str();
            status::bad_request(&format!(
                "{} in version {version:?} cannot be handled as a {}: {error}",
                kind.name, kind.name
            ))
        })?;
        let mut tree = decoded.object;
        tree.set(&["kind"], kind.name);
        tree.set(&["apiVersion"], wanted);
        let unknown: Vec<String> = decoded.unknown.iter().map(|field| format!("unknown field {field:?}")).collect();
        if options.field_validation == FieldValidation::Strict && !unknown.is_empty() {
            let version = kind.resource.version.as_str();
            return Err(status::bad_request(&format!(
                "{} in version {version:?} cannot be handled as a {}: strict decoding error: {}",
                kind.name,
                kind.name,
                unknown.join(", ")
            )));
        }
        Ok(Read { tree, warnings: warnings(options, &unknown) })
    }

    /// Reads the outcome of a patch.
    fn decode_patched(&self, kind: &Kind, options: &Options, tree: &Json, shown: &str) -> Result<Read, Answer> {
        let refuse = |why: String| {
            let error = FieldError::invalid_text("patch", shown, why);
            status::invalid_of("", "", "", &[error])
        };
        let decoded = self.schema.decode(kind.name, tree).map_err(|error| refuse(error.to_string()))?;
        let unknown: Vec<String> = decoded.unknown.iter().map(|field| format!("unknown field {field:?}")).collect();
        if options.field_validation == FieldValidation::Strict && !unknown.is_empty() {
            return Err(refuse(format!("strict decoding error: {}", unknown.join(", "))));
        }
        Ok(Read { tree: decoded.object, warnings: warnings(options, &unknown) })
    }

    /// Refuses new objects in a namespace that is going away. Source: k8s.io/apiserver
    /// pkg/admission/plugin/namespace/lifecycle/admission.go (v1.34).
    fn refuse_if_terminating(&self, kind: &Kind, namespace: &str, name: &str) -> Result<(), Answer> {
        let key = ObjectKey::cluster(namespace);
        let terminating = self
            .object(&crate::network::NAMESPACES, &key)
            .is_some_and(|object| !object.stable().at(&["metadata", "deletionTimestamp"]).is_null());
        if !terminating {
            return Ok(());
        }
        let why = format!("unable to create new content in namespace {namespace} because it is being terminated");
        let mut answer = status::forbidden(&kind.resource, name, &why);
        if let crate::network::Content::Json(body) = &mut answer.content {
            let message = format!("namespace {namespace} is being terminated");
            let cause =
                crate::json!({"reason": "NamespaceTerminating", "message": message, "field": "metadata.namespace"});
            body.set(&["details", "causes"], Json::array(Vec::from([cause])));
        }
        Err(answer)
    }
}

fn warnings(options: &Options, unknown: &[String]) -> Vec<Text> {
    if options.field_validation == FieldValidation::Ignore {
        return Vec::new();
    }
    unknown.iter().map(|text| Text::from(format!("299 - \"{}\"", text.replace('"', "\\\"")))).collect()
}

pub(super) fn answer(code: u16, object: Object, warnings: Vec<Text>) -> Answer {
    let mut answer = Answer::object(code, object);
    answer.headers.extend(warnings.into_iter().map(|warning| (Text::of("Warning"), warning)));
    answer
}

fn truncated(base: &str) -> &str {
    // Source: k8s.io/apiserver pkg/storage/names/generate.go (v1.34), `MaxGeneratedNameLength` = 63 - 5.
    base.get(..58).unwrap_or(base)
}

fn refuse_existing(kind: &Kind, name: &str, terminating: bool, generated: bool) -> Answer {
    let mut answer = status::already_exists(&kind.resource, name);
    let qualified = kind.resource.qualified();
    if let crate::network::Content::Json(body) = &mut answer.content {
        if generated {
            let message = format!(
                "{qualified} {name:?} already exists, the server was not able to generate a unique name for the object"
            );
            body.set(&["message"], message);
            body.set(&["details", "retryAfterSeconds"], 1_i64);
            answer.headers.push((Text::of("Retry-After"), Text::of("1")));
        } else if terminating {
            body.set(&["message"], format!("object is being deleted: {qualified} {name:?} already exists"));
        }
    }
    answer
}

/// Makes the object's namespace that of the URL, or refuses.
fn fix_namespace(kind: &Kind, tree: &mut Json, namespace: &Text) -> Result<(), Answer> {
    let sent = tree.at(&["metadata", "namespace"]).as_text().cloned().unwrap_or_default();
    if !kind.is_namespaced() {
        tree.remove(&["metadata", "namespace"]);
    } else if sent.is_empty() {
        tree.set(&["metadata", "namespace"], namespace);
    } else if sent != *namespace {
        return Err(status::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    Ok(())
}

fn check_name(kind: &Kind, tree: &mut Json, aim: &Aim) -> Result<(), Answer> {
    fix_namespace(kind, tree, &aim.namespace)?;
    match tree.at(&["metadata", "name"]).as_str() {
        None | Some("") => Err(status::bad_request(&format!(
            "the name of the object ({} based on URL) was undeterminable: name must be provided",
            aim.name
        ))),
        Some(name) if name != aim.name.as_str() => Err(status::bad_request(&format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            aim.name
        ))),
        Some(_) => Ok(()),
    }
}

fn check_patched_name(tree: &Json, aim: &Aim) -> Result<(), Answer> {
    let namespace = tree.at(&["metadata", "namespace"]).as_str().unwrap_or("");
    if namespace != aim.namespace.as_str() {
        return Err(status::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    let name = tree.at(&["metadata", "name"]).as_str().unwrap_or("");
    if name != aim.name.as_str() {
        return Err(status::bad_request(&format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            aim.name
        )));
    }
    Ok(())
}

/// Refuses a write that is based on an older revision.
fn check_version(kind: &Kind, tree: &Json, current: &Object, name: &str) -> Result<(), Answer> {
    let sent = tree.at(&["metadata", "resourceVersion"]).as_str().unwrap_or("");
    let Ok(version) = (if sent.is_empty() { Ok(0) } else { sent.parse::<u64>() }) else {
        return Err(status::untyped(&format!("strconv.ParseUint: parsing {sent:?}: invalid syntax")));
    };
    if version == 0 {
        if kind.is(Trait::Conditional) {
            let field = "metadata.resourceVersion";
            let error = FieldError::invalid(field, &Json::Int(0), "must be specified for an update");
            return Err(status::invalid_of(&kind.resource.plural, &kind.resource.group, name, &[error]));
        }
        return Ok(());
    }
    if version != current.resource_version() {
        return Err(status::conflict(&kind.resource, name, status::MODIFIED));
    }
    Ok(())
}

/// Restores what clients cannot change.
fn keep_system_fields(tree: &mut Json, old: &Json) {
    let stored = old.get("metadata");
    if tree.at(&["metadata", "uid"]).as_str().unwrap_or("").is_empty() {
        tree.set(&["metadata", "uid"], stored.get("uid").clone());
    }
    for field in ["creationTimestamp", "selfLink"] {
        restore(tree, stored, field);
    }
    if !stored.get("deletionTimestamp").is_null() {
        restore(tree, stored, "deletionTimestamp");
        if tree.at(&["metadata", "deletionGracePeriodSeconds"]).is_null() {
            restore(tree, stored, "deletionGracePeriodSeconds");
        }
    }
}

fn restore(tree: &mut Json, stored: &Json, field: &str) {
    if stored.get(field).is_null() {
        tree.remove(&["metadata", field]);
    } else {
        tree.set(&["metadata", field], stored.get(field).clone());
    }
}

fn patch_body(body: &Body, content_type: &str) -> Result<Json, Answer> {
    let known = [JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH].contains(&content_type);
    if !known {
        let message = "the body of the request was in an unknown format - accepted media types include: \
                       application/json-patch+json, application/merge-patch+json, \
                       application/strategic-merge-patch+json, application/apply-patch+yaml";
        return Err(status::failure(415, "UnsupportedMediaType", message, Some(Json::object())));
    }
    match body {
        Body::Json(patch) => match patch {
            Json::Object(_) => Ok(patch.clone()),
            Json::Array(_) if content_type == JSON_PATCH => Ok(patch.clone()),
            _ if content_type == JSON_PATCH => Ok(patch.clone()),
            other => {
                let found = match other {
                    Json::Array(_) => "array",
                    Json::Str(_) => "string",
                    Json::Bool(_) => "bool",
                    _ => "number",
                };
                let prefix = if content_type == MERGE_PATCH { "error decoding patch: " } else { "" };
                Err(status::bad_request(&format!(
                    "{prefix}json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
                )))
            }
        },
        Body::Empty | Body::Raw(_) => Err(status::bad_request("error decoding patch: unexpected end of JSON input")),
    }
}

fn apply_json_patch(patch: &Json, old: &Json) -> Result<Json, Answer> {
    let patch =
        JsonPatch::parse(patch).map_err(|error| status::bad_request(&format!("error decoding patch: {error}")))?;
    if patch.len() > MOST_OPERATIONS {
        let message = format!(
            "Request entity too large: The allowed maximum operations in a JSON patch is {MOST_OPERATIONS}, got {}",
            patch.len()
        );
        return Err(status::failure(413, "RequestEntityTooLarge", &message, None));
    }
    patch.apply(old).map_err(|_| {
        let message = "the server rejected our request due to an error in our request";
        status::failure(422, "Invalid", message, Some(Json::object()))
    })
}

fn refuse_patch(error: &PatchError) -> Answer {
    match error {
        PatchError::Malformed(message) => status::bad_request(message),
        PatchError::Unsupported(_) => {
            let message = "the server rejected our request due to an error in our request";
            status::failure(422, "Invalid", message, Some(Json::object()))
        }
        PatchError::Other(message) => status::untyped(message),
    }
}
