//! Routes a request in the general form: authenticates and authorises it, finds its kind, and calls the verb's handler.
//!
//! Mirrors k8s.io/apiserver pkg/endpoints/installer.go (v1.34): which paths and verbs a kind has. Inputs: a [`Call`]
//! and its origin. Outputs: the answer, or nothing while the request waits for a revision.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::body_kinds::SCALE;
use super::component_status::COMPONENT_STATUSES;
use super::content_negotiation::{self, BodyForm, Representation, TableContext};
use super::options::{self, RequestOptions};
use super::{ApiServer, Origin, paging, status};
use crate::network::kinds::{Kind, KindIndex, Trait, has_subresource, is_served};
use crate::network::{Answer, Body, Call, RequestId, Resource, Target, Verb};
use crate::objects::{Json, Text};

/// Whether a request may still wait for a revision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WaitBudget {
    Fresh,
    Spent,
}

/// A request whose target is known.
#[derive(Clone, Debug)]
pub(super) struct RequestInfo {
    pub(super) kind_index: KindIndex,
    pub(super) kind: &'static Kind,
    pub(super) namespace: Text,
    pub(super) name: Text,
    pub(super) subresource: Text,
}

impl ApiServer {
    /// Answers a request in the media type that its client prefers; `None` while it waits for a revision.
    pub(super) fn call(
        &mut self,
        origin: Origin,
        id: RequestId,
        call: Call,
        wait_budget: WaitBudget,
    ) -> Result<Option<Answer>, Answer> {
        let (success, failure) = content_negotiation::body_forms(&call);
        let answer = self.answer(origin, id, call, wait_budget);
        let formed = |answer: Answer| match if answer.code < 400 { success } else { failure } {
            BodyForm::Json => answer,
            BodyForm::Yaml => content_negotiation::in_yaml(answer),
            BodyForm::Protobuf => content_negotiation::in_protobuf(&self.schema, answer),
        };
        answer.map(|answer| answer.map(formed)).map_err(formed)
    }

    fn answer(
        &mut self,
        mut origin: Origin,
        id: RequestId,
        call: Call,
        wait_budget: WaitBudget,
    ) -> Result<Option<Answer>, Answer> {
        let arrived = origin.clone();
        origin.identity = self.authenticate(&origin.identity, &call, origin.now)?;
        origin.identity = self.impersonate(origin.identity, &call)?;
        self.check_authorised(&origin.identity, &call)?;
        let (resource, namespace, name, subresource) = match &call.target {
            Target::Path(path) => return self.path(&call, path).map(Some),
            Target::Resource { resource, namespace, name, subresource } => {
                (resource.clone(), namespace.clone(), name.clone(), subresource.clone())
            }
        };
        if resource == COMPONENT_STATUSES && namespace.is_empty() && subresource.is_empty() {
            return self.component_statuses(&call, &origin, &name).map(Some);
        }
        match resource.group.as_str() {
            "rbac.authorization.k8s.io" => self.store_policy(),
            "events.k8s.io" => self.keep_new_events(),
            _ => {}
        }
        let kind_index = self.kinds.find(&resource).filter(|_| is_served(&resource, self.settings.profile()));
        let kind_index = kind_index.ok_or_else(|| self.unknown(&resource))?;
        let kind = self.kinds.at(kind_index);
        if !kind.is_namespaced() && !namespace.is_empty()
            || kind.is_namespaced() && namespace.is_empty() && !name.is_empty()
        {
            return Err(no_path(kind));
        }
        origin.subresource = subresource.clone();
        let info = RequestInfo { kind_index, kind, namespace, name, subresource };
        self.check_verb(&info, &call)?;
        self.check_route(kind, &call)?;
        let warning = self.deprecation(kind);
        let warned = |mut answer: Answer| {
            // It is told before the object is read.
            let first = answer.headers.iter().position(|(name, _)| name.as_str() == "Warning");
            let place = first.unwrap_or(answer.headers.len());
            answer.headers.splice(place..place, warning.iter().map(|warning| (Text::of("Warning"), warning.clone())));
            answer
        };
        let answer = self.routed(info, (origin, arrived), id, call, wait_budget);
        answer.map(|answer| answer.map(&warned)).map_err(&warned)
    }

    /// Returns the warning that every answer about a kind carries. Source: k8s.io/api core/v1 lifecycle.go (v1.34), and
    /// k8s.io/apiserver pkg/endpoints/deprecation/deprecation.go (v1.34), `WarningMessage`.
    fn deprecation(&self, kind: &Kind) -> Option<Text> {
        if let Some(own) = self.custom_warning(kind) {
            return as_headers(&[String::from(own)]).pop();
        }
        let is_deprecated = kind.rules() == "Endpoints" && self.settings.profile().is("endpoints-are-deprecated");
        let why = "299 - \"v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice\"";
        is_deprecated.then(|| Text::of(why))
    }

    /// Answers a request that the web service has a route for.
    fn routed(
        &mut self,
        info: RequestInfo,
        (origin, arrived): (Origin, Origin),
        id: RequestId,
        call: Call,
        wait_budget: WaitBudget,
    ) -> Result<Option<Answer>, Answer> {
        let kind = info.kind;
        let (options, representation) = self.options(&call)?;
        if wait_budget == WaitBudget::Fresh
            && let Some(asked) = self.awaited(call.verb, &info, &options)
        {
            self.delay(asked, arrived, id, call);
            return Ok(None);
        }
        if info.subresource == *"proxy" {
            check_proxied(kind, &info.name)?;
        } else if call.verb != Verb::Update {
            // A body that names another object is refused before.
            check_name(&info.name)?;
        }
        if self.relay(&info, &origin, id, &call)? {
            return Ok(None);
        }
        let shown = representation.including(&call);
        let answer = match call.verb {
            Verb::Get => self.get(&info, &options),
            Verb::List => self.list(&info, &options),
            Verb::Watch => {
                let streamed = content_negotiation::check_stream(&call);
                let form = shown.clone().and_then(|form| streamed.map(|()| form));
                self.watch(&info, &options, &origin, (id, form))
            }
            Verb::Create if !info.subresource.is_empty() => {
                self.create_subresource(&info, &options, &origin, call.body)
            }
            Verb::Create => self.create(&info, &options, &origin, call.body),
            Verb::Update => self.update(&info, &options, &origin, call.body),
            Verb::Patch => self.patch(&info, &options, &origin, &call),
            Verb::Delete => self.delete(&info, &options, &origin, &call.body),
            Verb::DeleteCollection => self.delete_collection(&info, &options, &origin, &call.body),
        };
        let answer = answer?;
        let printed = self.printed(info.kind_index);
        let view = TableContext { profile: self.settings.profile(), now: origin.now, printed: printed.as_deref() };
        let is_scale = info.subresource == *"scale";
        shown?.shape(answer, if is_scale { &SCALE } else { kind }, view).map(Some)
    }

    /// Reads the options of a request, and the form in which its client wants the answer. What comes first depends on
    /// the verb. Source: k8s.io/apiserver pkg/endpoints/handlers (v1.34).
    fn options(&self, call: &Call) -> Result<(RequestOptions, Representation), Answer> {
        if !matches!(call.verb, Verb::List | Verb::Watch) {
            if is_connect(call) {
                check_length(call)?;
                return Ok((RequestOptions::read(call, &self.settings)?, Representation::Plain));
            }
            let representation = content_negotiation::negotiate(call)?;
            if call.verb == Verb::Create {
                content_negotiation::check_media_type(&options::media_type_of(call))?;
            }
            check_length(call)?;
            return Ok((RequestOptions::read(call, &self.settings)?, representation));
        }
        let mut options = RequestOptions::read(call, &self.settings)?;
        options.check_selectors(self.wording())?;
        if call.verb == Verb::Watch {
            paging::set_watch_defaults(&mut options, self.watch_list());
            paging::check_watch(&options, self.watch_list())?;
        } else {
            paging::check_list(&options)?;
        }
        Ok((options, content_negotiation::negotiate(call)?))
    }

    /// 404 for a resource that is not served; plain text if its group is not served either. 501 for the older version
    /// of a kind, which is converted by real servers: pkg/apis/autoscaling/v1/conversion.go (v1.34).
    fn unknown(&self, resource: &Resource) -> Answer {
        if *resource == Resource::of("autoscaling", "v1", "horizontalpodautoscalers") {
            let message = "horizontalpodautoscalers of autoscaling/v1 are not modelled yet";
            return status::failure(501, "NotImplemented", message, None);
        }
        let mut served = self.kinds.iter().filter(|kind| is_served(&kind.resource, self.settings.profile()));
        if served.any(|kind| kind.resource.group == resource.group) {
            status::no_such_resource()
        } else {
            status::page_not_found()
        }
    }

    /// Refuses a patch in a form that there is not, and a client that takes no form of the answer.
    fn check_route(&self, kind: &Kind, call: &Call) -> Result<(), Answer> {
        if is_connect(call) {
            return Ok(());
        }
        if call.verb == Verb::Patch && !kind.is(Trait::Custom) {
            self.check_patch_type(call)?;
        }
        content_negotiation::check_route(call).map_err(|refusal| {
            let has_no_body =
                call.body == Body::Empty && matches!(call.verb, Verb::Create | Verb::Update | Verb::Patch);
            if has_no_body && self.settings.profile().is("no-body-is-a-bad-type") {
                status::as_unsupported_media_type(refusal)
            } else {
                refusal
            }
        })
    }

    fn check_verb(&self, info: &RequestInfo, call: &Call) -> Result<(), Answer> {
        let (kind, verb) = (info.kind, call.verb);
        if !info.subresource.is_empty() {
            let is_there = has_subresource(kind, &info.subresource, self.settings.profile());
            let sub = kind.subresource(&info.subresource).filter(|_| is_there).ok_or_else(|| match kind {
                custom if custom.is(Trait::Custom) => status::not_found(&custom.resource, &info.name),
                _ => status::no_such_resource(),
            })?;
            return match verb {
                _ if !call.method.is_empty() || !sub.verbs.contains(&sub_verb(verb)) => {
                    Err(status::method_not_allowed())
                }
                _ if info.name.is_empty() => Err(status::bad_request("name must be provided")),
                _ => Ok(()),
            };
        }
        // What is only created has no path across namespaces.
        if kind.is_namespaced() && kind.is(Trait::Review) && info.namespace.is_empty() {
            return Err(status::no_such_resource());
        }
        let on_item = !info.name.is_empty();
        let fits = match verb {
            Verb::Get | Verb::Update | Verb::Patch | Verb::Delete => on_item,
            Verb::DeleteCollection => !on_item && !kind.is(Trait::NoDeleteCollection),
            Verb::List | Verb::Watch => true,
            Verb::Create => !on_item,
        };
        // Collections across namespaces can be read alone.
        let scoped =
            !kind.is_namespaced() || on_item || !info.namespace.is_empty() || matches!(verb, Verb::List | Verb::Watch);
        let reviews = !kind.is(Trait::Review) || verb == Verb::Create;
        if !scoped && kind.is(Trait::Custom) {
            return Err(no_path(kind));
        }
        if fits && scoped && reviews && call.method.is_empty() { Ok(()) } else { Err(status::method_not_allowed()) }
    }
}

/// Refuses a path of the other scope; the server of custom kinds hands it on, and nobody takes it.
///
/// Source: k8s.io/apiextensions-apiserver pkg/apiserver/customresource_handler.go (v1.34), `ServeHTTP`.
fn no_path(kind: &Kind) -> Answer {
    if kind.is(Trait::Custom) { status::page_not_found() } else { status::no_such_resource() }
}

/// Tells whether a request is handed on to a kubelet or another server.
fn is_connect(call: &Call) -> bool {
    const CONNECTS: [&str; 4] = ["attach", "exec", "portforward", "proxy"];
    matches!(&call.target, Target::Resource { subresource, .. } if CONNECTS.contains(&subresource.as_str()))
}

/// Returns the verb of a subresource, which is always that of one object.
const fn sub_verb(verb: Verb) -> &'static str {
    match verb {
        Verb::List | Verb::Watch => "get",
        Verb::DeleteCollection => "delete",
        verb => verb.name(),
    }
}

/// Refuses names that cannot be a part of a key in the store.
/// Source: k8s.io/apimachinery pkg/api/validation/path/name.go (v1.34) and k8s.io/apiserver
/// pkg/registry/generic/registry/store.go (v1.34), `NamespaceKeyFunc`.
fn check_name(name: &str) -> Result<(), Answer> {
    let why = match name {
        "." => "may not be '.'",
        ".." => "may not be '..'",
        name if name.contains('%') => "may not contain '%'",
        _ => return Ok(()),
    };
    Err(status::bad_request(&format!("Name parameter invalid: {name:?}: {why}")))
}

/// Refuses a body that is longer than the server reads, if the verb reads one.
fn check_length(call: &Call) -> Result<(), Answer> {
    if call.body != Body::TooLong || matches!(call.verb, Verb::Get | Verb::List | Verb::Watch) {
        return Ok(());
    }
    let message = "Request entity too large: limit is 3145728";
    Err(status::failure(413, "RequestEntityTooLarge", message, None))
}

/// Refuses the proxy of a name that is not `name`, `name:port` or `scheme:name:port`.
/// Source: k8s.io/apimachinery pkg/util/net/port_split.go (v1.34), `SplitSchemeNamePort`.
fn check_proxied(kind: &Kind, id: &str) -> Result<(), Answer> {
    let parts: Vec<&str> = id.split(':').collect();
    let (scheme, name) = match parts.as_slice() {
        [name] | [name, _] => ("", *name),
        [scheme, name, _] => (*scheme, *name),
        _ => ("", ""),
    };
    if name.is_empty() || !["", "http", "https"].contains(&scheme) {
        return Err(status::bad_request(&format!("invalid {} request {id:?}", kind.singular)));
    }
    Ok(())
}

/// Returns the JSON of a body, or nothing.
pub(super) fn json_of(body: Body) -> Option<Json> {
    match body {
        Body::Json(json) => Some(json),
        Body::Empty | Body::TooLong | Body::Raw(_) | Body::Unread { .. } => None,
    }
}

/// Writes warnings as headers carry them. Source: k8s.io/apimachinery pkg/util/net/http.go (v1.34), `NewWarningHeader`.
pub(super) fn as_headers(warnings: &[String]) -> Vec<Text> {
    warnings
        .iter()
        .map(|text| Text::from(format!("299 - \"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))))
        .collect()
}
