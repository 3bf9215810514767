//! DELETE, with grace, finalizers and preconditions.
//!
//! Mirrors k8s.io/apiserver pkg/registry/rest/delete.go, pkg/registry/generic/registry/store.go and
//! pkg/registry/core/pod/strategy.go (v1.34). Inputs: a routed request for one object or a collection, with its
//! options. Outputs: the object removed, or marked for deletion and stored, or the refusal. Invariant: an object with
//! finalizers is marked and not removed.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::call::RequestInfo;
use super::content_negotiation::check_media_type;
use super::fields::mark;
use super::options::{RequestOptions, dry_run_error, is_true_in_query, whole_number};
use super::read::selection;
use super::validation::{FieldError, meta, worded};
use super::{ApiServer, Origin, admission, custom, paging, priority, status, strategy, syntax};
use crate::network::kinds::{Kind, Trait};
use crate::network::{Answer, Body, Content, DEFINITIONS, List};
use crate::objects::{Json, NULL, Object, Text, time};
use crate::profile::Settings;

/// How many objects of a collection are read at once. Source: k8s.io/apiserver pkg/registry/generic/registry/store.go
/// (v1.34), `deleteCollectionPageSize`.
const PAGE: u64 = 10_000;

/// The options of a deletion, from the body or the query.
#[derive(Clone, Debug, Default)]
pub(super) struct DeleteOptions {
    grace: Option<i64>,
    uid: Option<Text>,
    pub(super) resource_version: Option<Text>,
    orphan_dependents: Option<bool>,
    policy: Option<Text>,
    dry_runs: Vec<Text>,
    pub(super) dry_run: bool,
}

impl DeleteOptions {
    /// Reads the options from a query. Source: k8s.io/apimachinery pkg/apis/meta/v1/conversion.go (v1.34),
    /// `Convert_url_Values_To_v1_DeleteOptions`.
    fn of_query(options: &RequestOptions) -> Result<Self, Answer> {
        let named = |name: &str| options.parameter(name).filter(|text| !text.is_empty()).cloned();
        let dry_runs = options.parameters("dryRun");
        Ok(Self {
            grace: whole_number(options.parameter("gracePeriodSeconds"))?,
            uid: named("uid"),
            resource_version: named("resourceVersion"),
            policy: options.parameter("propagationPolicy").cloned(),
            orphan_dependents: options.parameter("orphanDependents").map(is_true_in_query),
            dry_run: !dry_runs.is_empty(),
            dry_runs,
        })
    }

    /// Reads the options from a body that was decoded.
    fn of_body(json: &Json) -> Self {
        Self {
            grace: json.get("gracePeriodSeconds").as_i64(),
            uid: json.at(&["preconditions", "uid"]).as_text().cloned(),
            resource_version: json.at(&["preconditions", "resourceVersion"]).as_text().cloned(),
            orphan_dependents: json.get("orphanDependents").as_bool(),
            policy: json.get("propagationPolicy").as_text().cloned(),
            dry_runs: json.get("dryRun").items().iter().filter_map(Json::as_text).cloned().collect(),
            dry_run: !json.get("dryRun").is_empty(),
        }
    }

    /// Reads the options of an eviction's deletion; its query can ask for a dry run too, and for nothing else.
    ///
    /// Source: pkg/registry/core/pod/storage/eviction.go (v1.34), `propagateDryRun`.
    pub(super) fn of_eviction(eviction: &Json, query: &RequestOptions) -> Result<Self, Answer> {
        let mut read = Self::of_body(eviction.get("deleteOptions"));
        let asked = query.parameters("dryRun");
        if read.dry_runs.is_empty() {
            read.dry_run = !asked.is_empty();
            read.dry_runs = asked;
        } else if !asked.is_empty() && asked != read.dry_runs {
            let (asked, sent) = (asked.join(" "), read.dry_runs.join(" "));
            let why = format!("Non-matching dry-run options in request and content: [{asked}] and [{sent}]");
            return Err(status::untyped(&why));
        }
        Ok(read)
    }

    /// Source: k8s.io/apimachinery pkg/apis/meta/v1/validation/validation.go (v1.34), `ValidateDeleteOptions`.
    pub(super) fn check(&self, settings: &Settings) -> Result<(), Answer> {
        let mut errors = Vec::new();
        if let Some(policy) = &self.policy {
            if self.orphan_dependents.is_some() {
                let why = "orphanDependents and deletionPropagation cannot be both set";
                errors.push(FieldError::invalid_text("propagationPolicy", policy, why));
            }
            if !["Foreground", "Background", "Orphan"].contains(&policy.as_str()) {
                let supported = ["Foreground", "Background", "Orphan", "nil"];
                errors.push(FieldError::not_supported("propagationPolicy", policy, &supported));
            }
        }
        errors.extend(dry_run_error(&self.dry_runs));
        if errors.is_empty() {
            Ok(())
        } else {
            Err(status::invalid_options("DeleteOptions", &worded(errors, settings)))
        }
    }
}

impl ApiServer {
    pub(super) fn delete(
        &mut self,
        info: &RequestInfo,
        options: &RequestOptions,
        origin: &Origin,
        body: &Body,
    ) -> Result<Answer, Answer> {
        let delete = self.delete_options(options, body)?;
        let deleted = priority::may_delete(info.kind, &info.name);
        let deleted = deleted.and_then(|()| self.delete_with(info, origin, &delete));
        let mut answer = deleted.map_err(|refusal| warned(refusal, info.kind, &delete))?;
        let remains = if delete.dry_run {
            // Those of the garbage collector go with the option.
            let stays = |name: &Json| !["orphan", "foregroundDeletion"].contains(&name.as_str().unwrap_or(""));
            let finalizers =
                |marked: &Object| marked.stable().at(&["metadata", "finalizers"]).items().iter().any(stays);
            info.kind.name == "Namespace" || answer.as_object().is_some_and(finalizers)
        } else {
            self.tables[info.kind_index].store.get(&info.namespace, &info.name).is_some()
        };
        if remains && delete.orphan_dependents == Some(false) {
            answer.code = 202;
        }
        Ok(warned(answer, info.kind, &delete))
    }

    /// Reads the options of a deletion: all from the body if there is one, else all from the query.
    ///
    /// Source: k8s.io/apiserver pkg/endpoints/handlers/delete.go (v1.34).
    pub(super) fn delete_options(&self, options: &RequestOptions, body: &Body) -> Result<DeleteOptions, Answer> {
        let refuse = |why: &str| {
            let is_bad_request = self.settings.profile().is("bad-delete-options-are-bad-requests");
            if is_bad_request { status::bad_request(why) } else { status::untyped(why) }
        };
        let unread = |why: &str| refuse(&format!("couldn't get version/kind; json parse error: {why}"));
        if *body == Body::Empty {
            let read = DeleteOptions::of_query(options)?;
            return read.check(&self.settings).map(|()| read);
        }
        check_media_type(&options.content_type)?;
        let tree = match body {
            Body::Empty | Body::TooLong => &NULL,
            Body::Raw(text) => return Err(unread(&syntax::problem(text))),
            Body::Unread { why, .. } => return Err(refuse(why)),
            Body::Json(tree) if tree.is_object() || tree.is_null() => tree,
            Body::Json(other) => return Err(unread(&syntax::no_object(other))),
        };
        if let Some(kind) = tree.get("kind").as_str().filter(|kind| !["", "DeleteOptions"].contains(kind)) {
            let version = tree.get("apiVersion").as_str().filter(|version| !version.is_empty());
            let version = version.unwrap_or("meta.k8s.io/v1");
            let scheme = self.settings.profile().text("scheme-name");
            return Err(refuse(&format!(
                "no kind {kind:?} is registered for version {version:?} in scheme {scheme:?}"
            )));
        }
        let tree = self.schema.decode("DeleteOptions", tree).map_err(|error| refuse(&error.to_string()))?.object;
        let read = DeleteOptions::of_body(&tree);
        read.check(&self.settings).map(|()| read)
    }

    /// Deletes one object as the options say.
    pub(super) fn delete_with(
        &mut self,
        info: &RequestInfo,
        origin: &Origin,
        delete: &DeleteOptions,
    ) -> Result<Answer, Answer> {
        let kind = info.kind;
        let Some(current) = self.tables[info.kind_index].store.get(&info.namespace, &info.name).cloned() else {
            return Err(status::not_found(&kind.resource, &info.name));
        };
        check_preconditions(kind, &current, delete)?;
        strategy::may_delete(kind, &info.name)?;
        let old = current.json();
        // An eviction was admitted as such; the deletion that it becomes is the server's own.
        if *origin.subresource != *"eviction" {
            admission::delete(self, info, origin, &old)?;
        }
        let mut tree = old.clone();
        if kind.rules() == "Pod" {
            return self.delete_gracefully(info, origin, delete, &current, tree);
        }
        if kind.resource == DEFINITIONS && tree.at(&["metadata", "deletionTimestamp"]).is_null() {
            custom::begin_end(&mut tree, origin);
        }
        // A namespace that is ending already keeps its finalizers until it is empty.
        let is_ending = !tree.at(&["metadata", "deletionTimestamp"]).is_null();
        if is_ending && strategy::has_spec_finalizers(kind, &tree) {
            return Ok(Answer::object(200, current));
        }
        set_policy_finalizers(&mut tree, kind, delete);
        let has_finalizers =
            !tree.at(&["metadata", "finalizers"]).is_empty() || strategy::has_spec_finalizers(kind, &tree);
        if !has_finalizers {
            let removed =
                if delete.dry_run { None } else { self.commit_removal(info.kind_index, origin, &current.key()) };
            return Ok(gone(kind, &removed.unwrap_or(current)));
        }
        if tree.at(&["metadata", "deletionTimestamp"]).is_null() {
            mark(&mut tree, origin.now, 0);
            strategy::begin_termination(kind, &mut tree);
        }
        let object = self.store_unless_same(info, origin, delete, &current, tree);
        Ok(Answer::object(200, object))
    }

    fn store_unless_same(
        &mut self,
        info: &RequestInfo,
        origin: &Origin,
        delete: &DeleteOptions,
        current: &Object,
        tree: Json,
    ) -> Object {
        if tree == current.json() {
            current.clone()
        } else if delete.dry_run {
            Object::as_received(tree)
        } else {
            self.commit(info.kind_index, origin, tree)
        }
    }

    fn delete_gracefully(
        &mut self,
        info: &RequestInfo,
        origin: &Origin,
        delete: &DeleteOptions,
        current: &Object,
        mut tree: Json,
    ) -> Result<Answer, Answer> {
        let kind = info.kind;
        let stored_grace = tree.at(&["metadata", "deletionGracePeriodSeconds"]).as_i64();
        let terminating = !tree.at(&["metadata", "deletionTimestamp"]).is_null();
        let remove_now = if terminating {
            match (stored_grace.unwrap_or(0), delete.grace.map(|_| grace_of(&tree, delete))) {
                // Unless it only waits for the end of its grace, the policy counts again.
                (0, _) => {
                    set_policy_finalizers(&mut tree, kind, delete);
                    true
                }
                (stored, Some(wanted)) if wanted < stored => {
                    set_policy_finalizers(&mut tree, kind, delete);
                    let is_now = self.settings.profile().is("shortened-grace-ends-now");
                    shorten(&mut tree, stored, wanted, is_now.then_some(origin.now));
                    wanted == 0
                }
                _ => false,
            }
        } else {
            let grace = grace_of(&tree, delete);
            set_policy_finalizers(&mut tree, kind, delete);
            mark(&mut tree, origin.now, grace);
            grace == 0
        };
        let removed = remove_now && tree.at(&["metadata", "finalizers"]).is_empty();
        let mut marked = self.store_unless_same(info, origin, delete, current, tree);
        if removed && !delete.dry_run {
            // The answer shows the object with the revision of its removal.
            marked = self.commit_removal(info.kind_index, origin, &current.key()).unwrap_or(marked);
        }
        let code = if !removed && delete.orphan_dependents == Some(false) { 202 } else { 200 };
        Ok(Answer::object(code, marked))
    }

    pub(super) fn delete_collection(
        &mut self,
        info: &RequestInfo,
        options: &RequestOptions,
        origin: &Origin,
        body: &Body,
    ) -> Result<Answer, Answer> {
        let kind = info.kind;
        let wording = meta::wording(&self.settings);
        options.check_selectors(wording)?;
        paging::check_list(options)?;
        let selection = selection(info, options, wording)?;
        let delete = self.delete_options(options, body)?;
        // Without a limit the store is read in pages, too.
        let paged = RequestOptions { limit: options.limit.or(Some(PAGE)), ..options.clone() };
        let page = self.page(info.kind_index, &selection, &paged)?;
        for item in &page.items {
            let key = item.key();
            let one = RequestInfo { namespace: key.namespace, name: key.name, subresource: Text::of(""), ..*info };
            match self.delete_with(&one, origin, &delete) {
                Err(answer) if answer.code != 404 => return Err(warned(answer, kind, &delete)),
                _ => {}
            }
        }
        let content = Content::List(Box::new(List {
            kind: self.list_kind(kind),
            says_types: kind.is(Trait::Custom),
            api_version: Text::from(kind.resource.api_version()),
            resource_version: page.revision,
            items: page.items,
            next: Text::from(page.next),
            remaining: page.remaining,
        }));
        Ok(warned(Answer { code: 200, headers: Vec::new(), content }, kind, &delete))
    }
}

/// Warns of a deletion of Jobs that leaves their Pods though nobody has asked for it.
/// Source: pkg/registry/batch/job/storage/storage.go (v1.34), `deleteOptionWarnings`.
fn warned(mut answer: Answer, kind: &Kind, delete: &DeleteOptions) -> Answer {
    if kind.rules() == "Job" && delete.policy.is_none() && delete.orphan_dependents.is_none() {
        let warning = "299 - \"child pods are preserved by default when jobs are deleted; set \
                       propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this \
                       warning\"";
        answer.headers.push((Text::of("Warning"), Text::of(warning)));
    }
    answer
}

/// Answers that an object is gone.
fn gone(kind: &Kind, object: &Object) -> Answer {
    if kind.is(Trait::ReturnsObject) {
        Answer::object(200, object.clone())
    } else {
        status::deleted(&kind.resource, object.name(), object.uid())
    }
}

/// Source: pkg/registry/core/namespace/storage/storage.go (v1.34), which checks them first and in its own words.
fn check_of_namespace(kind: &Kind, current: &Object, delete: &DeleteOptions) -> Result<(), Answer> {
    let version = format!("{}", current.resource_version());
    let both = [("UID", &delete.uid, current.uid()), ("ResourceVersion", &delete.resource_version, version.as_str())];
    for (what, wanted, own) in both {
        if let Some(wanted) = wanted.as_ref().filter(|wanted| wanted.as_str() != own) {
            let why = format!("Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {own}");
            return Err(status::conflict(&kind.resource, current.name(), &why));
        }
    }
    Ok(())
}

pub(super) fn check_preconditions(kind: &Kind, current: &Object, delete: &DeleteOptions) -> Result<(), Answer> {
    if kind.rules() == "Namespace" {
        return check_of_namespace(kind, current, delete);
    }
    if let Some(uid) = &delete.uid
        && *uid != *current.uid()
    {
        let why = format!(
            "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been \
             deleted and then recreated",
            current.uid()
        );
        return Err(status::precondition_failed(kind, current.name(), &why));
    }
    if let Some(version) = &delete.resource_version
        && version.parse() != Ok(current.resource_version())
    {
        let why = format!(
            "the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record ({}). \
             The object might have been modified",
            current.resource_version()
        );
        return Err(status::precondition_failed(kind, current.name(), &why));
    }
    Ok(())
}

/// Returns the grace of a pod's deletion in seconds. Source: pkg/registry/core/pod/strategy.go (v1.34),
/// `CheckGracefulDelete`.
fn grace_of(pod: &Json, delete: &DeleteOptions) -> i64 {
    let unscheduled = pod.at(&["spec", "nodeName"]).as_str().unwrap_or("").is_empty();
    let finished = matches!(pod.at(&["status", "phase"]).as_str(), Some("Succeeded" | "Failed"));
    if unscheduled || finished {
        return 0;
    }
    let asked = delete.grace.or_else(|| pod.at(&["spec", "terminationGracePeriodSeconds"]).as_i64()).unwrap_or(0);
    if asked < 0 { 1 } else { asked }
}

/// Shortens the grace period of an object that is being deleted. The deletion timestamp does not fall before the
/// earliest instant, if one is given; if it would, the period that is written is one second at most.
///
/// Source: k8s.io/apiserver pkg/registry/rest/delete.go (v0.34), `BeforeDelete`.
fn shorten(tree: &mut Json, stored: i64, wanted: i64, earliest: Option<Timestamp>) {
    let mut grace = wanted;
    let ends = tree.at(&["metadata", "deletionTimestamp"]).as_str().and_then(time::parse);
    if let Some(ends) = ends {
        let ends = ends - SignedDuration::from_secs(stored) + SignedDuration::from_secs(wanted);
        let late = earliest.filter(|earliest| ends < *earliest);
        grace = if late.is_some() { wanted.min(1) } else { wanted };
        tree.set(&["metadata", "deletionTimestamp"], time::to_time(late.unwrap_or(ends)));
    }
    tree.set(&["metadata", "deletionGracePeriodSeconds"], grace);
}

/// Tells whether the dependents of a kind stay where the request does not say it.
///
/// Source: pkg/registry/core/replicationcontroller/strategy.go and pkg/registry/batch/job/strategy.go (v1.34),
/// `DefaultGarbageCollectionPolicy`.
fn orphans_by_default(kind: &Kind) -> bool {
    matches!(kind.rules(), "ReplicationController" | "Job")
}

/// Sets the finalizers that a propagation policy asks for. Source: store.go (v1.34),
/// `deletionFinalizersForGarbageCollection`.
fn set_policy_finalizers(tree: &mut Json, kind: &Kind, delete: &DeleteOptions) {
    const ORPHAN: &str = "orphan";
    const FOREGROUND: &str = "foregroundDeletion";
    if kind.rules() == "Event" {
        return;
    }
    let has = |tree: &Json, name: &str| {
        tree.at(&["metadata", "finalizers"]).items().iter().any(|item| item.as_str() == Some(name))
    };
    let orphan = match (delete.orphan_dependents, delete.policy.as_deref().unwrap_or_default()) {
        (Some(orphan), _) => orphan,
        (_, "Orphan") => true,
        (_, "Background" | "Foreground") => false,
        _ if has(tree, FOREGROUND) => false,
        _ => has(tree, ORPHAN) || orphans_by_default(kind),
    };
    let foreground = match (delete.orphan_dependents, delete.policy.as_deref().unwrap_or_default()) {
        (Some(_), _) | (_, "Orphan" | "Background") => false,
        (_, "Foreground") => true,
        _ => has(tree, FOREGROUND),
    };
    if orphan == has(tree, ORPHAN) && foreground == has(tree, FOREGROUND) {
        return;
    }
    let mut finalizers: Vec<Json> = tree
        .at(&["metadata", "finalizers"])
        .items()
        .iter()
        .filter(|item| !matches!(item.as_str(), Some(ORPHAN | FOREGROUND)))
        .cloned()
        .collect();
    if orphan {
        finalizers.push(Json::from(ORPHAN));
    }
    if foreground {
        finalizers.push(Json::from(FOREGROUND));
    }
    if finalizers.is_empty() {
        tree.remove(&["metadata", "finalizers"]);
    } else {
        tree.set(&["metadata", "finalizers"], finalizers);
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use crate::json;

    #[test]
    fn a_grace_that_is_over_already_ends_now() {
        let at = |second: i64| Timestamp::from_second(second).unwrap();
        for (wanted, earliest, ends, grace) in
            [(0, Some(60), 60, 0), (5, Some(60), 60, 1), (20, Some(10), 20, 20), (0, None, 0, 0), (5, None, 5, 5)]
        {
            let mut pod = json!({"metadata": {"deletionGracePeriodSeconds": 30}});
            pod.set(&["metadata", "deletionTimestamp"], time::to_time(at(30)));
            shorten(&mut pod, 30, wanted, earliest.map(at));
            assert_eq!(pod.at(&["metadata", "deletionTimestamp"]).as_str(), Some(&*at(ends).to_string()));
            assert_eq!(pod.at(&["metadata", "deletionGracePeriodSeconds"]).as_i64(), Some(grace));
        }
    }
}
