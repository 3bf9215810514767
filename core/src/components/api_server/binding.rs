//! POST to subresources: the binding of a Pod to its Node here; evictions and tokens in their own modules.
//!
//! Mirrors pkg/registry/core/pod/storage/storage.go (v1.34), `BindingREST`.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::admission::add_topology_labels;
use super::body_kinds::{EVICTION, TOKEN_REQUEST};
use super::call::{RequestInfo, json_of};
use super::naming::check_sent_namespace;
use super::options::RequestOptions;
use super::strategy::storage_key;
use super::validation::FieldError;
use super::write::{both_with_warnings, failed_precondition};
use super::{ApiServer, Origin, status};
use crate::json;
use crate::network::kinds;
use crate::network::{Answer, Body, Resource};
use crate::objects::lifecycle::put_condition;
use crate::objects::names::{self, Wording};
use crate::objects::{Json, aggregate, time};

const BINDINGS: Resource = Resource::of("", "v1", "bindings");
impl ApiServer {
    pub(super) fn create_subresource(
        &mut self,
        info: &RequestInfo,
        options: &RequestOptions,
        origin: &Origin,
        body: Body,
    ) -> Result<Answer, Answer> {
        let warnings = match info.subresource.as_str() {
            "eviction" => self.check_body(&EVICTION, options, &body)?,
            "token" => self.check_body(&TOKEN_REQUEST, options, &body)?,
            "binding" => {
                let bindings = kinds::find(&BINDINGS).expect("a kind of the table");
                self.check_body(self.kinds.at(bindings), options, &body)?
            }
            _ => Vec::new(),
        };
        if let Body::Json(sent) = &body {
            check_sent_namespace(sent, info)?;
        }
        self.check_namespace(info.kind, &info.namespace, &info.name)?;
        let answer = match (info.kind.name, info.subresource.as_str()) {
            ("Pod", "eviction") => self.evict(info, options, origin, &json_of(body).unwrap_or_default()),
            ("ServiceAccount", "token") => self.issue_token(info, options, origin, json_of(body)),
            ("Pod", "binding") => self.bind(info, options, origin, &json_of(body).unwrap_or_default()),
            _ => Err(status::failure(
                501,
                "NotImplemented",
                &format!("{}/{} is not modelled yet", info.kind.resource.plural, info.subresource),
                None,
            )),
        };
        both_with_warnings(answer, warnings)
    }

    /// Assigns a Pod to a node. Source: pkg/registry/core/pod/storage/storage.go (v1.34), `BindingREST`.
    pub(super) fn bind(
        &mut self,
        info: &RequestInfo,
        options: &RequestOptions,
        origin: &Origin,
        binding: &Json,
    ) -> Result<Answer, Answer> {
        const BINDING: Resource = Resource::of("", "v1", "pods/binding");
        let kind = info.kind;
        let named = binding.at(&["metadata", "name"]).as_str().unwrap_or("");
        if named != info.name.as_str() {
            return Err(status::bad_request("name in URL does not match name in Binding object"));
        }
        let node = binding.at(&["target", "name"]).as_text().cloned().unwrap_or_default();
        let problems = target_problems(binding.get("target"), self.settings.profile().is("binding-checks-node-name"));
        if !problems.is_empty() {
            return Err(status::untyped(&aggregate(problems).unwrap_or_default()));
        }
        if info.name.is_empty() {
            return Err(status::bad_request("Name parameter required."));
        }
        let Some(current) = self.tables[info.kind_index].store.get(&info.namespace, &info.name).cloned() else {
            return Err(status::not_found(&kind.resource, &info.name));
        };
        let version = current.resource_version().to_string();
        for (what, field, own) in
            [("UID", "uid", current.uid()), ("ResourceVersion", "resourceVersion", version.as_str())]
        {
            let sent = binding.at(&["metadata", field]).as_str().unwrap_or("");
            if !sent.is_empty() && sent != own {
                let why = failed_precondition(options, &storage_key(kind, info), (what, sent), own);
                return Err(status::conflict(&kind.resource, &info.name, &why));
            }
        }
        let mut tree = current.json();
        let refuse = |why: String| Err(status::conflict(&BINDING, &info.name, &why));
        if !tree.at(&["metadata", "deletionTimestamp"]).is_null() {
            return refuse(format!("pod {} is being deleted, cannot be assigned to a host", info.name));
        }
        if let Some(taken) = tree.at(&["spec", "nodeName"]).as_str().filter(|taken| !taken.is_empty()) {
            return refuse(format!("pod {} is already assigned to node {taken:?}", info.name));
        }
        if !tree.at(&["spec", "schedulingGates"]).is_empty() {
            return refuse(format!("pod {} has non-empty .spec.schedulingGates", info.name));
        }
        tree.set(&["spec", "nodeName"], &node);
        add_topology_labels(self, &node, &mut tree);
        for map in ["annotations", "labels"] {
            for (name, value) in binding.at(&["metadata", map]).fields() {
                tree.set(&["metadata", map, name], value.clone());
            }
        }
        set_scheduled(&mut tree, &time::to_time(origin.now));
        if self.settings.profile().is("binding-clears-nomination") {
            tree.remove(&["status", "nominatedNodeName"]);
        }
        if !options.dry_run {
            self.commit(info.kind_index, origin, tree);
        }
        Ok(status::created())
    }
}

/// Says what is wrong with the target of a binding.
///
/// Source: pkg/apis/core/validation/validation.go (v1.34, v1.37), `ValidatePodBinding`.
fn target_problems(target: &Json, checks_name: bool) -> Vec<String> {
    let text = |field: &str| target.get(field).as_str().unwrap_or("");
    let (kind, name) = (text("kind"), text("name"));
    let is_node = ["", "Node"].contains(&kind);
    let mut errors = Vec::new();
    if !is_node {
        errors.push(FieldError::not_supported("target.kind", kind, &["Node", "<empty>"]));
    }
    if name.is_empty() {
        errors.push(FieldError::required("target.name", ""));
    } else if is_node && checks_name {
        let problems = names::subdomain(name, Wording::Declared).into_iter();
        errors.extend(problems.map(|why| FieldError::invalid_text("target.name", name, why)));
    }
    errors.iter().map(FieldError::text).collect()
}

/// Makes PodScheduled True; the instant of its transition stays if it was True before.
/// Source: pkg/api/pod/util.go (v1.34), `UpdatePodCondition`.
fn set_scheduled(pod: &mut Json, now: &str) {
    let conditions = pod.entry(&["status", "conditions"]).make_array();
    let condition = json!({"type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": now});
    put_condition(conditions, condition);
}

#[cfg(test)]
mod tests {
    use super::set_scheduled;
    use crate::json;

    #[test]
    fn a_pod_that_was_scheduled_before_its_binding_keeps_the_instant() {
        for (before, instant) in [("True", "then"), ("False", "now")] {
            let mut pod = json!({"status": {"conditions": [{"type": "PodScheduled", "status": before, "reason": "R",
                "lastProbeTime": null, "lastTransitionTime": "then"}]}});
            set_scheduled(&mut pod, "now");
            let mut expected = json!([{"type": "PodScheduled", "status": "True", "lastProbeTime": null}]);
            expected.make_array()[0].set(&["lastTransitionTime"], instant);
            assert_eq!(pod.at(&["status", "conditions"]), &expected);
        }
    }
}
