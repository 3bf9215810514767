//! Reviews of access, of the caller's own identity and of tokens. They are answered and not stored.
//!
//! Mirrors pkg/registry/{authorization,authentication} and pkg/apis/authorization/validation (v1.34). Inputs: the
//! review. Outputs: the same with its status. Left out on purpose: label selectors of reviews.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::attributes::Attributes;
use jiff::Timestamp;

use super::call::RequestInfo;
use super::node_authoriser::node_of;
use super::validation::{FieldError, worded};
use super::{ApiServer, Origin, naming, status};
use crate::json;
use crate::network::{Answer, Identity};
use crate::objects::selector::FieldSelector;
use crate::objects::{Json, Text, time};
use crate::profile::Settings;

impl ApiServer {
    /// Answers a review.
    pub(super) fn review(&mut self, info: &RequestInfo, origin: &Origin, mut tree: Json) -> Result<Answer, Answer> {
        let kind = info.kind;
        tree.set(&["kind"], kind.name);
        tree.set(&["apiVersion"], kind.resource.api_version());
        let mut metadata = tree.get("metadata").clone();
        let created = if self.settings.profile().is("prints-null-creation-timestamp") { Json::Null } else { json!({}) };
        if !metadata.is_object() {
            metadata = Json::object();
        }
        if created.is_null() {
            metadata.set(&["creationTimestamp"], Json::Null);
        }
        tree.set(&["metadata"], metadata);
        if kind.is_namespaced() {
            naming::fix_namespace(kind, &mut tree, &info.namespace)?;
        }
        let status = match kind.name {
            "SelfSubjectReview" => {
                tree.remove(&["spec"]);
                tree.set(&["metadata", "creationTimestamp"], time::to_time(origin.now));
                json!({"userInfo": user_info(&origin.identity)})
            }
            "TokenReview" if tree.at(&["spec", "token"]).is_empty() => {
                return Err(status::bad_request("token is required for TokenReview in authentication"));
            }
            "TokenReview" => self.token_review(&tree, origin.now),
            "SelfSubjectRulesReview" => {
                let namespace = tree.at(&["spec", "namespace"]).as_text().cloned().unwrap_or_default();
                if namespace.is_empty() {
                    return Err(status::bad_request("no namespace on request"));
                }
                tree.set(&["spec"], json!({}));
                self.rules_review(&origin.identity, &namespace)
            }
            _ => self.access_review(kind.name, info, origin, &tree)?,
        };
        tree.set(&["status"], status);
        Ok(Answer::json(201, tree))
    }

    fn token_review(&self, tree: &Json, now: Timestamp) -> Json {
        let token = tree.at(&["spec", "token"]).as_str().unwrap_or("");
        let wanted: Vec<Text> =
            tree.at(&["spec", "audiences"]).items().iter().filter_map(Json::as_text).cloned().collect();
        match self.review_token(token, &wanted, now) {
            Ok((identity, audiences)) => {
                let audiences: Json = audiences.iter().map(Json::from).collect();
                json!({"authenticated": true, "user": user_info(identity), "audiences": audiences})
            }
            Err(why) => json!({"user": {}, "error": why}),
        }
    }

    fn access_review(&mut self, kind: &str, info: &RequestInfo, origin: &Origin, tree: &Json) -> Result<Json, Answer> {
        let spec = tree.get("spec");
        check_access_review(kind, info, tree, &self.settings)?;
        let identity = if kind == "SelfSubjectAccessReview" {
            origin.identity.clone()
        } else {
            let groups = spec.get("groups").items().iter().filter_map(Json::as_text).cloned().collect();
            let user = spec.get("user").as_text().cloned().unwrap_or_default();
            Arc::new(Identity { user, groups, agent: Text::of(""), details: None })
        };
        let what = spec.get("resourceAttributes");
        let text = |field: &str| what.get(field).as_str().unwrap_or("");
        let fields = FieldSelector::of_review(what.get("fieldSelector"));
        let asked = if what.is_object() {
            Attributes {
                verb: text("verb"),
                group: text("group"),
                resource: text("resource"),
                subresource: text("subresource"),
                namespace: text("namespace"),
                name: text("name"),
                fields: self.settings.profile().is("reviews-have-selectors").then_some(&fields),
                ..Attributes::default()
            }
        } else {
            let what = spec.get("nonResourceAttributes");
            let text = |field: &str| what.get(field).as_str().unwrap_or("");
            Attributes { verb: text("verb"), path: Some(text("path")), ..Attributes::default() }
        };
        let mut status = json!({"allowed": false});
        match self.authorise(&identity, &asked) {
            Ok(()) => {
                status = json!({"allowed": true});
                if let Some(reason) = self.reason_of(&identity, &asked) {
                    status.set(&["reason"], reason);
                }
            }
            Err(why) if !why.is_empty() => status.set(&["reason"], why),
            Err(_) => {}
        }
        Ok(status)
    }

    /// Says by which binding RBAC allows something; the other authorisers give no reason.
    fn reason_of(&mut self, identity: &Arc<Identity>, asked: &Attributes<'_>) -> Option<String> {
        if super::authorisation::is_master(identity) || self.node_allows(identity, asked).is_ok() {
            return None;
        }
        self.rbac_reason(identity, asked)
    }

    fn rules_review(&mut self, identity: &Arc<Identity>, namespace: &str) -> Json {
        let rules = self.rules_for(identity, namespace);
        let list = |paths: bool| {
            rules
                .iter()
                .filter(|rule| rule.urls.is_empty() != paths)
                .map(super::rbac::PolicyRule::json)
                .collect::<Json>()
        };
        let is_node = node_of(identity).is_some();
        let mut status = json!({});
        status.set(&["resourceRules"], list(false));
        status.set(&["nonResourceRules"], list(true));
        status.set(&["incomplete"], is_node);
        if is_node {
            status.set(&["evaluationError"], "node authorizer does not support user rule resolution");
        }
        status
    }
}

/// Source: pkg/apis/authorization/validation/validation.go (v1.34).
fn check_access_review(kind: &str, info: &RequestInfo, tree: &Json, settings: &Settings) -> Result<(), Answer> {
    let spec = tree.get("spec");
    let (resource, path) = (spec.get("resourceAttributes"), spec.get("nonResourceAttributes"));
    let mut errors = Vec::new();
    let (why_one, is_union) = (
        "exactly one of nonResourceAttributes or resourceAttributes must be specified",
        settings.profile().is("errors-speak-as-declared"),
    );
    if is_union && resource.is_object() == path.is_object() {
        // Source: validation.go (v1.37), `ValidateSubjectAccessReviewSpec`.
        let shown = if path.is_object() { as_in_go(path) } else { Json::Null };
        errors.push(FieldError::invalid("spec", &shown, why_one));
    }
    if !is_union && resource.is_object() && path.is_object() {
        let why = "cannot be specified in combination with resourceAttributes";
        errors.push(FieldError::invalid("spec.nonResourceAttributes", &as_in_go(path), why));
    }
    if !is_union && !resource.is_object() && !path.is_object() {
        errors.push(FieldError::invalid("spec.resourceAttributes", resource, why_one));
    }
    let empty = |field: &str| spec.get(field).is_empty() || spec.get(field).as_str() == Some("");
    if kind != "SelfSubjectAccessReview" && empty("user") && empty("groups") {
        let why = "at least one of user or group must be specified";
        errors.push(FieldError::invalid_text("spec.user", "", why));
    }
    if settings.profile().is("reviews-have-selectors") {
        check_field_selector(resource.get("fieldSelector"), &mut errors);
    }
    check_metadata(kind, tree.get("metadata"), &mut errors);
    if kind == "LocalSubjectAccessReview" {
        let named = resource.get("namespace").as_str().unwrap_or("");
        if resource.is_object() && named != info.namespace.as_str() {
            let why = "must match metadata.namespace";
            errors.push(FieldError::invalid_text("spec.resourceAttributes.namespace", named, why));
        }
        if path.is_object() {
            let why = "disallowed on this kind of request";
            errors.push(FieldError::invalid("spec.nonResourceAttributes", &as_in_go(path), why));
        }
    }
    // An object that was decoded no longer says its kind.
    if errors.is_empty() {
        Ok(())
    } else {
        Err(status::invalid_of("", "authorization.k8s.io", "", &worded(errors, settings)))
    }
}

/// Refuses a review that has a name or the like; managers of its fields do not count.
fn check_metadata(kind: &str, metadata: &Json, errors: &mut Vec<FieldError>) {
    let (is_local, mut shown) = (kind == "LocalSubjectAccessReview", metadata.clone());
    shown.remove(&["managedFields"]);
    let is_zero = |value: &Json| value.is_empty() || matches!(value, Json::Int(0)) || value.as_str() == Some("");
    let is_free = |field: &Text| is_local && *field == "namespace";
    if !shown.fields().all(|(field, value)| is_free(field) || is_zero(value)) {
        let why = if is_local { "must be empty except for namespace" } else { "must be empty" };
        errors.push(FieldError::invalid_of("ObjectMeta", "metadata", &shown, why));
    }
}

/// Prints a path with its verb as the internal type does, whose fields have no other names.
fn as_in_go(path: &Json) -> Json {
    let text = |field: &str| path.get(field).as_str().unwrap_or("");
    json!({"Path": text("path"), "Verb": text("verb")})
}

/// Source: as above, `validateFieldSelectorAttributes`, and k8s.io/apimachinery
/// pkg/apis/meta/v1/validation/validation.go (v1.34), `ValidateFieldSelectorRequirement`.
fn check_field_selector(selector: &Json, errors: &mut Vec<FieldError>) {
    const PATH: &str = "spec.resourceAttributes.fieldSelector";
    if !selector.is_object() {
        return;
    }
    let raw = selector.get("rawSelector").as_str().unwrap_or("");
    let requirements = selector.get("requirements").items();
    if !raw.is_empty() && !requirements.is_empty() {
        let why = "may not specified at the same time as requirements";
        errors.push(FieldError::invalid_text(format!("{PATH}.rawSelector"), raw, why));
    }
    if raw.is_empty() && requirements.is_empty() {
        let why = format!("when {PATH} is specified, requirements or rawSelector is required");
        errors.push(FieldError::required(format!("{PATH}.requirements"), why));
    }
    for (at, requirement) in requirements.iter().enumerate() {
        let path = format!("{PATH}.requirements[{at}]");
        let text = |field: &str| requirement.get(field).as_str().unwrap_or("");
        if text("key").is_empty() {
            errors.push(FieldError::required(format!("{path}.key"), "must be specified"));
        }
        let has_values = !requirement.get("values").items().is_empty();
        match text("operator") {
            "In" | "NotIn" if !has_values => {
                let why = "must be specified when `operator` is 'In' or 'NotIn'";
                errors.push(FieldError::required(format!("{path}.values"), why));
            }
            "Exists" | "DoesNotExist" if has_values => {
                let why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.push(FieldError::forbidden(format!("{path}.values"), why));
            }
            _ => {}
        }
    }
}

fn user_info(identity: &Identity) -> Json {
    let mut info = json!({"username": identity.user.as_str()});
    if !identity.groups.is_empty() {
        info.set(&["groups"], identity.groups.iter().map(|group| Json::from(group.as_str())).collect::<Json>());
    }
    identity.details.iter().for_each(|details| details.add_to(&mut info));
    info
}
