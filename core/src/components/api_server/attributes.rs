//! What a request asks for, as authorisers see it, and the text of a refusal.
//!
//! Mirrors k8s.io/apiserver pkg/{endpoints/request/requestinfo.go, endpoints/handlers/responsewriters/errors.go}
//! (v1.34).
//! Inputs: a request. Outputs: its attributes; a 403 about them.

use alloc::format;
use alloc::string::{String, ToString};

use super::status;
use crate::network::{Answer, Call, Identity, Target, Verb};
use crate::objects::Text;
use crate::objects::selector::FieldSelector;

/// What is asked for, as authorisers see it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attributes<'a> {
    pub(super) verb: &'a str,
    pub(super) group: &'a str,
    pub(super) resource: &'a str,
    pub(super) subresource: &'a str,
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    /// The path of a request that is about no resource.
    pub(super) path: Option<&'a str>,
    /// The fields by which a list, a watch or the deletion of a collection selects.
    pub(super) fields: Option<&'a FieldSelector>,
}

/// The attributes of a request, with the texts that were derived from it.
pub(super) struct RequestAttributes<'a> {
    verb: String,
    fields: Option<FieldSelector>,
    call: &'a Call,
}

impl<'a> Attributes<'a> {
    /// Reads the attributes of a request.
    pub(super) fn of(call: &'a Call) -> RequestAttributes<'a> {
        let selects = matches!(call.verb, Verb::List | Verb::Watch | Verb::DeleteCollection);
        let fields = call.parameter("fieldSelector").filter(|_| selects);
        let verb = match call.target {
            Target::Path(_) if call.method.is_empty() => call.verb.method().to_lowercase(),
            Target::Path(_) => call.method.to_lowercase(),
            Target::Resource { .. } if call.method.is_empty() || *call.method == *"HEAD" => {
                call.verb.name().to_string()
            }
            Target::Resource { .. } => String::new(),
        };
        RequestAttributes { verb, fields: fields.and_then(|text| FieldSelector::parse(text).ok()), call }
    }
}

impl RequestAttributes<'_> {
    /// Returns the attributes.
    pub(super) fn get(&self) -> Attributes<'_> {
        match &self.call.target {
            Target::Path(path) => {
                let path = path.split_once('?').map_or(path.as_str(), |(path, _)| path);
                Attributes { verb: &self.verb, path: Some(path), ..Attributes::default() }
            }
            Target::Resource { resource, namespace, name, subresource } => {
                let is_namespace = resource.plural == *"namespaces" && resource.group.is_empty();
                let selected = self.fields.as_ref().filter(|_| self.call.verb != Verb::DeleteCollection);
                let named = selected.and_then(|fields| fields.exactly("metadata.name")).filter(|name| is_segment(name));
                Attributes {
                    verb: &self.verb,
                    group: &resource.group,
                    resource: &resource.plural,
                    subresource: subresource.split('/').next().unwrap_or_default(),
                    namespace: if is_namespace { name } else { namespace },
                    name: if name.is_empty() { named.map_or("", Text::as_str) } else { name },
                    path: None,
                    fields: self.fields.as_ref(),
                }
            }
        }
    }
}

/// Tells whether a text can be one part of a path. Source: k8s.io/apimachinery pkg/api/validation/path/name.go (v1.34).
fn is_segment(name: &str) -> bool {
    !matches!(name, "." | "..") && !name.contains(['/', '%'])
}

/// 403 by authorisation.
pub(super) fn refusal(identity: &Identity, asked: &Attributes<'_>, why: &str) -> Answer {
    let user = identity.user.as_str();
    let verb = asked.verb;
    let mut text = match asked.path {
        Some(path) => format!("User {user:?} cannot {verb} path {path:?}"),
        None => {
            let subresource =
                if asked.subresource.is_empty() { String::new() } else { format!("/{}", asked.subresource) };
            let place = if asked.namespace.is_empty() {
                "at the cluster scope".to_string()
            } else {
                format!("in the namespace {:?}", asked.namespace)
            };
            let resource = format!("{}{subresource}", asked.resource);
            format!("User {user:?} cannot {verb} resource {resource:?} in API group {:?} {place}", asked.group)
        }
    };
    if !why.is_empty() {
        text = format!("{text}: {why}");
    }
    let mut answer = status::forbidden_by_authorisation((asked.group, asked.resource), asked.name, &text);
    answer.headers.push((Text::of("X-Content-Type-Options"), Text::of("nosniff")));
    answer
}
