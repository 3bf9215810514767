//! PATCH with a configuration: server-side apply.
//!
//! Mirrors k8s.io/apiserver pkg/endpoints/handlers/patch.go (`applyPatcher`), k8s.io/apimachinery
//! pkg/util/managedfields/internal and sigs.k8s.io/structured-merge-diff merge/update.go (v1.34). Inputs: what a
//! manager wants to be set. Outputs: the object with it, committed as a create or an update, or the conflicts. Left out
//! on purpose: conversion between versions of an API, since each kind has one.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::call::RequestInfo;
use super::managers::{Manager, Managers, Owned, put_managers};
use super::options::{FieldValidation, RequestOptions};
use super::patch::converter_words;
use super::reset_fields::{reset_fields, unowned};
use super::write::Read;
use super::{ApiServer, Origin, naming, status, write};
use crate::json;
use crate::network::kinds::Kind;
use crate::network::{Answer, Body, Call};
use crate::objects::ownership::{self, FieldSet};
use crate::objects::{Json, NULL, Text, time};

/// What `kubectl apply` without a server side has applied last. Source: k8s.io/apimachinery
/// pkg/util/managedfields/internal/lastapplied.go (v1.34).
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// What an apply makes of an object.
struct Applied {
    tree: Json,
    managers: Managers,
}

/// The fields that others own and that an apply would change, by owner.
type Conflicts = Vec<(Manager, FieldSet)>;

impl ApiServer {
    pub(super) fn apply(
        &mut self,
        info: &RequestInfo,
        options: &RequestOptions,
        origin: &Origin,
        call: &Call,
    ) -> Result<Answer, Answer> {
        let kind = info.kind;
        let reads_first = self.settings.profile().is("patches-are-read-first");
        let wanted = configuration(call, reads_first)?;
        let current = self.tables[info.kind_index].store.get(&info.namespace, &info.name).cloned();
        if current.is_none() && !info.subresource.is_empty() {
            return Err(status::not_found(&kind.resource, &info.name));
        }
        if let Some(current) = current.as_ref().filter(|_| info.subresource == *"scale") {
            return self.apply_scale(info, options, origin, (current, &wanted));
        }
        let live = match &current {
            Some(current) => current.json(),
            None => self.empty(kind),
        };
        let (read, _) = self.read_applied(info, options, origin, &live, &wanted)?;
        let Some(current) = current else {
            return self.create_applied(info, options, origin, read);
        };
        naming::check_patched_name(&read.tree, info)?;
        let mut tree = read.tree;
        naming::fix_namespace(kind, &mut tree, &info.namespace)?;
        let (object, more) = self.update_tree(info, options, origin, &current, (tree, &NULL))?;
        Ok(write::answer(200, object, [read.warnings, more].concat()))
    }

    /// Returns what an apply makes of a live object, with the managers of its fields.
    pub(super) fn read_applied(
        &self,
        info: &RequestInfo,
        options: &RequestOptions,
        origin: &Origin,
        live: &Json,
        wanted: &Json,
    ) -> Result<(Read, Managers), Answer> {
        let kind = info.kind;
        let mut live = live.clone();
        live.set(&["kind"], kind.name);
        live.set(&["apiVersion"], kind.resource.api_version());
        let applied = self.applied(info, options, origin, &live, wanted)?;
        let repeated = options.repeated_yaml_keys();
        let what = if self.settings.profile().is("patches-are-read-first") { "patch" } else { "YAML" };
        if options.field_validation == FieldValidation::Strict && !repeated.is_empty() {
            return Err(status::bad_request(&format!(
                "error strict decoding {what}: error converting YAML to JSON: yaml: unmarshal errors:\n  {}",
                repeated.join("\n  ")
            )));
        }
        let mut tree = applied.tree;
        tree.remove(&["metadata", "managedFields"]);
        let decoded =
            self.decode_converted(kind, &tree, &live).map_err(|error| unconverted(kind, wanted, &error.to_string()))?;
        let mut tree = decoded.object;
        put_managers(&mut tree, &applied.managers);
        Ok((Read { tree, warnings: write::warnings(options, &repeated) }, applied.managers))
    }

    fn create_applied(
        &mut self,
        info: &RequestInfo,
        options: &RequestOptions,
        origin: &Origin,
        mut read: Read,
    ) -> Result<Answer, Answer> {
        let kind = info.kind;
        naming::check_name(kind, &mut read.tree, info)?;
        let sent = read.tree.at(&["metadata", "uid"]).as_str().unwrap_or("");
        if !sent.is_empty() {
            let why =
                format!("uid mismatch: the provided object specified uid {sent}, and no existing object was found");
            return Err(status::conflict(&kind.resource, &info.name, &why));
        }
        self.create_named(info, options, origin, read)
    }

    fn applied(
        &self,
        info: &RequestInfo,
        options: &RequestOptions,
        origin: &Origin,
        live: &Json,
        wanted: &Json,
    ) -> Result<Applied, Answer> {
        let kind = info.kind;
        self.check_configuration(kind, wanted)?;
        let name = options.parameter("fieldManager").cloned().unwrap_or_default();
        let manager = Manager::new(kind, "Apply", &name, &info.subresource);
        let mut managers = Managers::read(live.at(&["metadata", "managedFields"]));
        let mut bare = live.clone();
        bare.remove(&["metadata", "managedFields"]);
        if managers.0.is_empty() {
            self.check_existing(kind, &bare)?;
            managers = self.before_first_apply(info, &bare, origin.now);
        }
        let again = |force| self.merged(info, (&bare, wanted), managers.clone(), (&manager, force), origin);
        let is_kubectl = name == *"kubectl";
        let merged = match again(options.force) {
            Err(conflicts) if is_kubectl => match self.conflicts_beside_last_applied(kind, &bare, &conflicts) {
                Some(left) if left.is_empty() => again(true),
                Some(left) => Err(left),
                None => Err(conflicts),
            },
            other => other,
        };
        let mut applied = merged.map_err(|conflicts| conflict_status(&conflicts))?;
        if is_kubectl && !applied.tree.at(&["metadata", "annotations", LAST_APPLIED]).is_null() {
            applied.tree.set(&["metadata", "annotations", LAST_APPLIED], last_applied(wanted));
        }
        Ok(applied)
    }

    /// Refuses a configuration of another kind, or one that does not fit its type.
    fn check_configuration(&self, kind: &Kind, wanted: &Json) -> Result<(), Answer> {
        let said = |field: &str| wanted.get(field).as_str().unwrap_or("");
        let (found, version) = (said("kind"), said("apiVersion"));
        let shown = match version.split_once('/') {
            Some((group, version)) => format!("{group}/{version}, Kind={found}"),
            None => format!("/{version}, Kind={found}"),
        };
        if found != kind.name || version != kind.resource.api_version() {
            return Err(status::bad_request(&format!("invalid object type: {shown}")));
        }
        // A list with anything but objects is none to Go; that it does not fit its type is told below.
        let managers = wanted.at(&["metadata", "managedFields"]);
        if managers.is_array() && managers.items().iter().all(Json::is_object) {
            return Err(status::bad_request("metadata.managedFields must be nil"));
        }
        if let Some(why) = ownership::problem(self.typed(kind), wanted) {
            let text = |field| wanted.at(&["metadata", field]).as_str().unwrap_or("");
            let (namespace, name) = (text("namespace"), text("name"));
            return Err(status::untyped(&format!(
                "failed to create typed patch object ({namespace}/{name}; {shown}): {why}"
            )));
        }
        Ok(())
    }

    /// Refuses to find managers for an object whose lists have items that nothing names.
    fn check_existing(&self, kind: &Kind, live: &Json) -> Result<(), Answer> {
        let Some(why) = ownership::unnamed(self.typed(kind), live) else { return Ok(()) };
        let text = |field| live.at(&["metadata", field]).as_str().unwrap_or("");
        let (namespace, name, shown) = (text("namespace"), text("name"), shown(kind));
        Err(status::untyped(&format!(
            "failed to create manager for existing fields: failed to convert new object ({namespace}/{name}; \
             {shown}) to smd typed: {why}"
        )))
    }

    fn merged(
        &self,
        info: &RequestInfo,
        (live, wanted): (&Json, &Json),
        mut managers: Managers,
        (manager, force): (&Manager, bool),
        origin: &Origin,
    ) -> Result<Applied, Conflicts> {
        let kind = info.kind;
        let (typed, ignored) = (self.typed(kind), reset_fields(kind, &info.subresource));
        let mut tree = ownership::merge(typed, live, wanted);
        let set = ownership::fields_of(typed, wanted).without_trees(&ignored);
        let before = managers.0.remove(manager);
        let time = before.as_ref().and_then(|owned| owned.time.clone());
        managers.0.insert(manager.clone(), Owned { set, time });
        if let Some(last) = before.map(|owned| owned.set).filter(|last| !last.is_empty()) {
            let all = managers.0.values().fold(FieldSet::default(), |all, owned| all.union(&owned.set));
            tree = ownership::prune(typed, &tree, &last, &all);
        }
        let found = ownership::compare(typed, live, &tree).without(&ignored);
        let taken = found.set();
        let conflicts: Conflicts = managers
            .0
            .iter()
            .filter(|(other, _)| *other != manager)
            .map(|(other, owned)| (other.clone(), owned.set.intersection(&taken)))
            .filter(|(_, set)| !set.is_empty())
            .collect();
        if !force && !conflicts.is_empty() {
            return Err(conflicts);
        }
        managers.lose(Some(manager), &taken.union(found.removed()));
        if tree != *live
            && let Some(owned) = managers.0.get_mut(manager)
        {
            owned.time = Some(Text::from(time::to_time(origin.now)));
        }
        if let Some(owned) = managers.0.get_mut(manager) {
            owned.set = owned.set.difference(&unowned());
        }
        managers.0.retain(|_, owned| !owned.set.is_empty());
        Ok(Applied { tree, managers })
    }

    /// Returns the conflicts that are not about fields which kubectl has applied itself, without the server; `None` if
    /// it has applied none.
    fn conflicts_beside_last_applied(
        &self,
        kind: &Kind,
        live: &Json,
        conflicts: &[(Manager, FieldSet)],
    ) -> Option<Conflicts> {
        let text = live.at(&["metadata", "annotations", LAST_APPLIED]).as_str()?;
        let last = Json::parse(text).ok().filter(Json::is_object)?;
        let is_same_version = last.get("apiVersion").as_str() == Some(kind.resource.api_version().as_str());
        if !is_same_version || ownership::problem(self.typed(kind), &last).is_some() {
            return None;
        }
        let found = ownership::compare(self.typed(kind), &last, live);
        let own = ownership::fields_of(self.typed(kind), &last);
        let own = own.difference(&found.set()).difference(found.removed());
        let left = conflicts.iter().map(|(manager, set)| (manager.clone(), set.difference(&own)));
        Some(left.filter(|(_, set)| !set.is_empty()).collect())
    }
}

/// Refuses an outcome that does not fit the Go type. Source: k8s.io/apimachinery
/// pkg/util/managedfields/internal/structuredmerge.go and k8s.io/kubernetes pkg/api/legacyscheme (v1.34).
fn unconverted(kind: &Kind, wanted: &Json, why: &str) -> Answer {
    let text = |field| wanted.at(&["metadata", field]).as_str().unwrap_or("");
    let shown = shown(kind);
    status::untyped(&format!(
        "failed to convert new object ({}/{}; {shown}) to proper version: unable to convert unstructured object to \
         {shown}: {}",
        text("namespace"),
        text("name"),
        converter_words(why)
    ))
}

/// Returns group, version and kind as Go prints them.
fn shown(kind: &Kind) -> String {
    let (group, version) = (&kind.resource.group, &kind.resource.version);
    format!("{group}/{version}, Kind={}", kind.name)
}

/// Returns the configuration that a request holds. From 1.37 on it is first put into JSON, unless it looks like that.
///
/// Source: k8s.io/apiserver pkg/endpoints/handlers/patch.go (v1.34, v1.37), `applyPatchToCurrentObject` and
/// `validateAndTranscodePatch`.
fn configuration(call: &Call, reads_first: bool) -> Result<Json, Answer> {
    let what = if reads_first { "patch" } else { "YAML" };
    let undecoded = |why: &str| status::bad_request(&format!("error decoding {what}: {why}"));
    let other = |found: &str| {
        undecoded(&format!(
            "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into Go value of type \
             map[string]interface {{}}"
        ))
    };
    match &call.body {
        Body::Json(object @ Json::Object(_)) => Ok(object.clone()),
        Body::Json(Json::Null) | Body::Empty | Body::TooLong => Ok(Json::object()),
        Body::Json(Json::Array(_)) => Err(other("array")),
        Body::Json(Json::Str(_)) => Err(other("string")),
        Body::Json(Json::Bool(_)) => Err(other("bool")),
        Body::Json(_) => Err(other("number")),
        Body::Raw(_) => Err(undecoded("error converting YAML to JSON: yaml: the body cannot be read")),
        Body::Unread { why, quoted } if reads_first && !quoted.starts_with('{') => {
            Err(status::bad_request(&format!("error encoding patch: {why}")))
        }
        Body::Unread { why, .. } => Err(undecoded(&format!("error converting YAML to JSON: {why}"))),
    }
}

/// Source: k8s.io/apimachinery pkg/util/managedfields/internal/conflict.go (v1.34).
fn conflict_status(conflicts: &[(Manager, FieldSet)]) -> Answer {
    let mut sorted: Vec<&(Manager, FieldSet)> = conflicts.iter().collect();
    sorted.sort_by_key(|(manager, _)| manager.identifier());
    let mut causes = Vec::new();
    let mut lines = Vec::new();
    for (manager, set) in sorted {
        let shown = manager.shown();
        lines.push(format!("conflicts with {shown}:"));
        for path in set.paths() {
            lines.push(format!("- {path}"));
            let message = format!("conflict with {shown}");
            causes.push(json!({"reason": "FieldManagerConflict", "message": message, "field": path}));
        }
    }
    let message = match causes.as_slice() {
        [one] => format!(
            "Apply failed with 1 conflict: {}: {}",
            one.get("message").as_str().unwrap_or(""),
            one.get("field").as_str().unwrap_or("")
        ),
        all => format!("Apply failed with {} conflicts: {}", all.len(), lines.join("\n")),
    };
    let mut details = Json::object();
    details.set(&["causes"], Json::array(causes));
    status::failure(409, "Conflict", &message, Some(details))
}

/// Returns the annotation that kubectl would write for a configuration.
fn last_applied(wanted: &Json) -> String {
    let mut wanted = wanted.clone();
    wanted.remove(&["metadata", "annotations", LAST_APPLIED]);
    if wanted.at(&["metadata", "annotations"]).is_empty() {
        wanted.remove(&["metadata", "annotations"]);
    }
    wanted.to_string() + "\n"
}
