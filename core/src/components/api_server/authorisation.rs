//! Who may do what: the chain of authorisers, and how a refusal reads.
//!
//! Mirrors k8s.io/apiserver pkg/{endpoints/request/requestinfo.go, endpoints/filters/authorization.go,
//! endpoints/handlers/responsewriters/errors.go, authorization/union} (v1.34) with `--authorization-mode=Node,RBAC`: the
//! group `system:masters` may do everything, then the Node authoriser is asked, then RBAC. Each says yes or has no
//! opinion; the reasons of all follow the refusal. Inputs: an identity and the attributes of its request. Outputs: yes,
//! or 403. Left out on purpose: webhooks and ABAC.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::authentication::check_known;
use super::node_authoriser::node_of;
use super::{ApiServer, status};
use crate::network::{Answer, Call, Identity, LEASES, NODE_LEASES, NODES, Target, Verb};
use crate::objects::selector::FieldSelector;
use crate::objects::{ObjectKey, Text};

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

/// The attributes of a request, with what had to be made of its text.
pub(super) struct Asked<'a> {
    verb: String,
    fields: Option<FieldSelector>,
    call: &'a Call,
}

impl<'a> Attributes<'a> {
    /// Reads the attributes of a request.
    pub(super) fn of(call: &'a Call) -> Asked<'a> {
        let selects = matches!(call.verb, Verb::List | Verb::Watch | Verb::DeleteCollection);
        let fields = call.parameter("fieldSelector").filter(|_| selects);
        let verb = match call.target {
            Target::Path(_) => call.verb.method().to_lowercase(),
            Target::Resource { .. } => call.verb.name().to_string(),
        };
        Asked { verb, fields: fields.and_then(|text| FieldSelector::parse(text).ok()), call }
    }
}

impl Asked<'_> {
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
                    subresource,
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

impl ApiServer {
    /// Refuses a request that its sender may not make.
    pub(super) fn check_authorised(&mut self, identity: &Arc<Identity>, call: &Call) -> Result<(), Answer> {
        if is_master(identity) {
            return Ok(());
        }
        let asked = Attributes::of(call);
        self.check_attributes(identity, &asked.get())
    }

    /// Refuses the renewal of a Lease in its typed form; its own holder is known at a glance.
    pub(super) fn check_renewal(&mut self, identity: &Arc<Identity>, name: &str) -> Result<(), Answer> {
        if node_of(identity) == Some(name) && !name.is_empty() {
            return Ok(());
        }
        let asked = Attributes {
            verb: "update",
            group: &LEASES.group,
            resource: &LEASES.plural,
            namespace: NODE_LEASES,
            name,
            ..Attributes::default()
        };
        check_known(identity)?;
        self.check_attributes(identity, &asked)
    }

    /// Refuses the heartbeat of a Node's status in its typed form; see [`Self::check_renewal`].
    pub(super) fn check_heartbeat(&mut self, identity: &Arc<Identity>, name: &str) -> Result<(), Answer> {
        let node = node_of(identity);
        if node == Some(name) && !name.is_empty() {
            return Ok(());
        }
        check_known(identity)?;
        let asked =
            Attributes { verb: "patch", resource: &NODES.plural, subresource: "status", name, ..Attributes::default() };
        self.check_attributes(identity, &asked)?;
        let exists = self.object(&NODES, &ObjectKey::cluster(name)).is_some();
        match node {
            Some(node) if exists => {
                let why = format!("node {node:?} is not allowed to modify node {name:?}");
                Err(status::forbidden(&NODES, name, &why))
            }
            _ => Ok(()),
        }
    }

    /// Refuses what an identity may not do.
    pub(super) fn check_attributes(&mut self, identity: &Arc<Identity>, asked: &Attributes<'_>) -> Result<(), Answer> {
        self.authorise(identity, asked).map_err(|why| refusal(identity, asked, &why))
    }

    /// Asks the authorisers in turn; returns their reasons if none says yes.
    pub(super) fn authorise(&mut self, identity: &Arc<Identity>, asked: &Attributes<'_>) -> Result<(), String> {
        if is_master(identity) {
            return Ok(());
        }
        let node = match self.node_allows(identity, asked) {
            Ok(()) => return Ok(()),
            Err(why) => why,
        };
        let Err(rbac) = self.rbac_allows(identity, asked) else { return Ok(()) };
        let reasons: Vec<&str> = [node.as_str(), rbac.as_str()].into_iter().filter(|why| !why.is_empty()).collect();
        Err(reasons.join("\n"))
    }
}

/// Source: k8s.io/apiserver pkg/authentication/user/user.go (v1.34), `SystemPrivilegedGroup`.
pub(super) fn is_master(identity: &Identity) -> bool {
    identity.groups.iter().any(|group| group.as_str() == "system:masters")
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
