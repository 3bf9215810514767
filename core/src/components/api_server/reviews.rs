//! Reviews of access, of the caller's own identity and of tokens. They are answered and not stored.
//!
//! Mirrors pkg/registry/{authorization,authentication} and pkg/apis/authorization/validation (v1.34). Inputs: the
//! review. Outputs: the same with its status. Left out on purpose: field and label selectors of reviews.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::attributes::Attributes;
use jiff::Timestamp;

use super::call::RequestInfo;
use super::node_authoriser::node_of;
use super::validation::FieldError;
use super::{ApiServer, Origin, status};
use crate::json;
use crate::network::{Answer, Identity};
use crate::objects::{Json, Text, time};

impl ApiServer {
    /// Answers a review.
    pub(super) fn review(&mut self, info: &RequestInfo, origin: &Origin, body: Option<Json>) -> Result<Answer, Answer> {
        let kind = info.of;
        let mut tree = body.unwrap_or_else(Json::object);
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
        let status = match kind.name {
            "SelfSubjectReview" => {
                tree.remove(&["spec"]);
                tree.set(&["metadata", "creationTimestamp"], time::to_time(origin.now));
                json!({"userInfo": user_info(&origin.identity)})
            }
            "TokenReview" => self.token_review(&tree, origin.now),
            "SelfSubjectRulesReview" => {
                let namespace = tree.at(&["spec", "namespace"]).as_text().cloned().unwrap_or_default();
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
        match self.owner_of_token(token, now) {
            Some(identity) => json!({"authenticated": true, "user": user_info(identity)}),
            None => json!({"user": {}, "error": "invalid bearer token"}),
        }
    }

    fn access_review(&mut self, kind: &str, info: &RequestInfo, origin: &Origin, tree: &Json) -> Result<Json, Answer> {
        let spec = tree.get("spec");
        check_access_review(kind, info, spec)?;
        let identity = if kind == "SelfSubjectAccessReview" {
            origin.identity.clone()
        } else {
            let groups = spec.get("groups").items().iter().filter_map(Json::as_text).cloned().collect();
            let user = spec.get("user").as_text().cloned().unwrap_or_default();
            Arc::new(Identity { user, groups, agent: Text::of("") })
        };
        let what = spec.get("resourceAttributes");
        let text = |field: &str| what.get(field).as_str().unwrap_or("");
        let asked = if what.is_object() {
            Attributes {
                verb: text("verb"),
                group: text("group"),
                resource: text("resource"),
                subresource: text("subresource"),
                namespace: text("namespace"),
                name: text("name"),
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
fn check_access_review(kind: &str, info: &RequestInfo, spec: &Json) -> Result<(), Answer> {
    let (resource, path) = (spec.get("resourceAttributes"), spec.get("nonResourceAttributes"));
    let mut errors = Vec::new();
    if resource.is_object() && path.is_object() {
        let why = "cannot be specified in combination with resourceAttributes";
        errors.push(FieldError::invalid("spec.nonResourceAttributes", path, why));
    }
    if !resource.is_object() && !path.is_object() {
        let why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
        errors.push(FieldError::invalid("spec.resourceAttributes", resource, why));
    }
    let empty = |field: &str| spec.get(field).is_empty() || spec.get(field).as_str() == Some("");
    if kind != "SelfSubjectAccessReview" && empty("user") && empty("groups") {
        let why = "at least one of user or group must be specified";
        errors.push(FieldError::invalid_text("spec.user", "", why));
    }
    if !errors.is_empty() {
        return Err(status::invalid_of(kind, "authorization.k8s.io", "", &errors));
    }
    let named = resource.get("namespace").as_str().unwrap_or("");
    if kind == "LocalSubjectAccessReview" && named != info.namespace.as_str() {
        let why = format!("spec.resourceAttributes.namespace must match namespace: {}", info.namespace);
        return Err(status::bad_request(&why));
    }
    Ok(())
}

fn user_info(identity: &Identity) -> Json {
    let mut info = json!({"username": identity.user.as_str()});
    if !identity.groups.is_empty() {
        info.set(&["groups"], identity.groups.iter().map(|group| Json::from(group.as_str())).collect::<Json>());
    }
    info
}
