//! ComponentStatuses: what the server hears when it asks the parts of the control plane for their health.
//!
//! Mirrors pkg/registry/core/componentstatus/rest.go and validator.go (v1.34). Inputs: a routed request; whether the
//! other parts run, as whoever made the server has said. Outputs: an object, a list, or the refusal. They are asked
//! each time and not stored: they have no revision, and nothing watches them. Left out on purpose: asking over the
//! network, and the order of the list, which is any upstream.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

use super::body_kinds::COMPONENT_STATUS;
use super::content_negotiation::{self, TableContext};
use super::options::RequestOptions;
use super::{ApiServer, Origin, paging, status};
use crate::json;
use crate::network::{Answer, Call, Content, List, Resource, Verb};
use crate::objects::selector::{FieldSelector, Selector};
use crate::objects::{Json, Object, Text};

/// `componentstatuses` of the core group.
pub(super) const COMPONENT_STATUSES: Resource = Resource::of("", "v1", "componentstatuses");
/// The parts with their secure ports. Source: pkg/registry/core/rest/storage_core.go (v1.34), `componentStatusStorage`.
const PARTS: [(&str, u16); 2] = [("scheduler", 10259), ("controller-manager", 10257)];
/// Source: k8s.io/api core/v1 lifecycle.go (v1.34).
const WARNING: &str = "299 - \"v1 ComponentStatus is deprecated in v1.19+\"";

impl ApiServer {
    /// Says that a controller runs beside the server: the scheduler, or one of kube-controller-manager's.
    pub fn runs_beside(&mut self, controller: &str) {
        self.parts.insert(if controller == "kube-scheduler" { "scheduler" } else { "controller-manager" });
    }

    /// Answers a request for ComponentStatuses.
    pub(super) fn component_statuses(&self, call: &Call, origin: &Origin, name: &Text) -> Result<Answer, Answer> {
        let reads = matches!(call.verb, Verb::Get | Verb::List | Verb::Watch);
        if !reads || !call.method.is_empty() {
            return Err(status::method_not_allowed());
        }
        content_negotiation::check_route(call)?;
        let warned = |mut answer: Answer| {
            answer.headers.push((Text::of("Warning"), Text::of(WARNING)));
            answer
        };
        let answer = if name.is_empty() { self.all_parts(call) } else { self.part(name) };
        let answer = answer.and_then(|answer| {
            let form = content_negotiation::negotiate(call)?.including(call)?;
            let view = TableContext { profile: self.settings.profile(), now: origin.now, printed: None };
            form.shape(answer, &COMPONENT_STATUS, view)
        });
        answer.map(warned).map_err(warned)
    }

    fn all_parts(&self, call: &Call) -> Result<Answer, Answer> {
        let options = RequestOptions::read(call, &self.settings)?;
        options.check_selectors(self.wording())?;
        if call.verb == Verb::Watch {
            let message = "watch is not supported on resources of kind \"componentstatuses\"";
            let details = json!({"kind": "componentstatuses"});
            return Err(status::failure(405, "MethodNotAllowed", message, Some(details)));
        }
        paging::check_list(&options)?;
        let refuse = |message: alloc::string::String| status::bad_request(&message);
        let labels = Selector::parse(&options.label_selector, self.wording()).map_err(refuse)?;
        let fields = FieldSelector::parse(&options.field_selector).map_err(refuse)?;
        if let Some(field) =
            fields.fields().find(|field| !["metadata.name", "metadata.namespace"].contains(&field.as_str()))
        {
            return Err(status::bad_request(&format!(
                "{:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
                field.as_str()
            )));
        }
        let names = PARTS.iter().map(|(name, _)| *name).chain(["etcd-0"]);
        let parts = names.map(|name| self.status_of(name));
        let shown = parts.filter(|tree| labels.matches(&Json::Null) && fields.matches("componentstatuses", tree));
        let content = Content::List(Box::new(List {
            kind: Text::of("ComponentStatusList"),
            says_types: false,
            api_version: Text::of("v1"),
            resource_version: 0,
            items: shown.map(Object::as_received).collect(),
            next: Text::of(""),
            remaining: None,
        }));
        Ok(Answer { code: 200, headers: Vec::new(), content })
    }

    fn part(&self, name: &Text) -> Result<Answer, Answer> {
        let is_there = PARTS.iter().any(|(own, _)| *name == **own) || *name == *"etcd-0";
        if is_there {
            return Ok(Answer::object(200, Object::as_received(self.status_of(name))));
        }
        let details = json!({"name": name.as_str(), "kind": "componentstatus"});
        Err(status::failure(404, "NotFound", &format!("componentstatus {:?} not found", name.as_str()), Some(details)))
    }

    fn status_of(&self, name: &str) -> Json {
        let port = PARTS.iter().find(|(own, _)| *own == name).map(|(_, port)| *port);
        let (is_healthy, message) = match port {
            Some(port) if !self.parts.contains(name) => {
                let at = format!("127.0.0.1:{port}");
                (false, format!("Get \"https://{at}/healthz\": dial tcp {at}: connect: connection refused"))
            }
            _ => (true, "ok".into()),
        };
        let health = if is_healthy { "True" } else { "False" };
        json!({"kind": "ComponentStatus", "apiVersion": "v1", "metadata": {"name": name},
            "conditions": [{"type": "Healthy", "status": health, "message": message}]})
    }
}
