//! The Node authoriser: what a kubelet may read and write.
//!
//! Mirrors plugin/pkg/auth/authorizer/node/{node_authorizer,graph}.go and pkg/auth/nodeidentifier (v1.31, v1.34,
//! v1.36). The paths of upstream's graph (secret, ConfigMap, claim, account <- Pod <- node; volume <- claim) are
//! searched in the store for each request; no graph is kept. Inputs: an identity, attributes. Outputs: allowed, or why
//! not; an empty reason if it has no opinion. Invariant: a mirror Pod gives access to nothing but itself.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;

use super::ApiServer;
use super::attributes::Attributes;
use super::rbac_policy::cluster_rules;
use crate::components::MIRROR;
use crate::components::pod_references::{self, Reference};
use crate::components::volumes::{ATTACHMENTS, VOLUMES};
use crate::network::kinds;
use crate::network::{Identity, NODE_LEASES, PODS, Resource};
use crate::objects::{Object, ObjectKey};
use crate::profile::Settings;

const SLICES: Resource = Resource::of("resource.k8s.io", "v1", "resourceslices");

const POD_CERTIFICATES: Resource = Resource::of("certificates.k8s.io", "v1", "podcertificaterequests");

const ALLOWED: Result<(), String> = Ok(());

fn no(why: &str) -> Result<(), String> {
    Err(why.to_string())
}

/// Returns the node that an identity belongs to; its name may be empty.
/// Source: pkg/auth/nodeidentifier/default.go (v1.34).
pub(super) fn node_of(identity: &Identity) -> Option<&str> {
    let name = identity.user.strip_prefix("system:node:")?;
    identity.groups.iter().any(|group| group.as_str() == "system:nodes").then_some(name)
}

impl ApiServer {
    /// Tells whether the Node authoriser allows a request.
    pub(super) fn node_allows(&mut self, identity: &Identity, asked: &Attributes<'_>) -> Result<(), String> {
        let Some(node) = node_of(identity) else { return no("") };
        if node.is_empty() {
            return Err(format!("unknown node for user {:?}", identity.user.as_str()));
        }
        let selects = || self.settings.profile().is("nodes-authorised-with-selectors");
        match (asked.group, asked.resource) {
            ("", "secrets") => self.may_read_related(node, Reference::Secret, asked),
            ("", "configmaps") => self.may_read_related(node, Reference::ConfigMap, asked),
            ("", "persistentvolumeclaims") if asked.subresource == "status" => match asked.verb {
                "update" | "patch" => self.related(node, asked),
                _ => no("can only get/update/patch this type"),
            },
            ("", "persistentvolumeclaims" | "persistentvolumes")
            | ("resource.k8s.io", "resourceclaims")
            | ("storage.k8s.io", "volumeattachments") => self.may_get(node, asked),
            ("", "serviceaccounts") => self.may_use_account(node, asked),
            ("coordination.k8s.io", "leases") => may_use_lease(node, asked),
            ("storage.k8s.io", "csinodes") => may_use_csi_node(node, asked, &self.settings),
            ("certificates.k8s.io", "podcertificaterequests")
                if self.settings.profile().is("trust-and-migration-kinds-are-served") =>
            {
                self.may_use_certificate_request(node, asked)
            }
            ("resource.k8s.io", "resourceslices") => self.may_use_slice(node, asked, selects()),
            ("", "nodes") if selects() => may_use_node(node, asked),
            ("", "pods") if selects() => self.may_use_pod(node, asked),
            _ if self.node_rules_allow(asked) => ALLOWED,
            _ => no(""),
        }
    }

    fn node_rules_allow(&mut self, asked: &Attributes<'_>) -> bool {
        let profile = self.settings.profile();
        let rules = self
            .rbac
            .node_rules
            .get_or_insert_with(|| cluster_rules("system:node", profile).unwrap_or_default().into());
        Arc::clone(rules).iter().any(|rule| rule.allows(asked))
    }

    fn may_read_related(&self, node: &str, what: Reference, asked: &Attributes<'_>) -> Result<(), String> {
        if !matches!(asked.verb, "get" | "list" | "watch") {
            return no("can only read resources of this type");
        }
        if !asked.subresource.is_empty() {
            return no("cannot read subresource");
        }
        if asked.namespace.is_empty() {
            return no("can only read namespaced object of this type");
        }
        self.related_by(node, what, asked)
    }

    fn may_get(&self, node: &str, asked: &Attributes<'_>) -> Result<(), String> {
        if asked.verb != "get" {
            return no("can only get individual resources of this type");
        }
        if !asked.subresource.is_empty() {
            return no("cannot get subresource");
        }
        self.related(node, asked)
    }

    fn may_use_account(&self, node: &str, asked: &Attributes<'_>) -> Result<(), String> {
        let reads = self.settings.profile().is("kubelets-read-service-accounts");
        if reads && asked.verb == "get" && asked.subresource.is_empty() {
            return self.may_read_related(node, Reference::ServiceAccount, asked);
        }
        if asked.verb != "create" || asked.name.is_empty() {
            return no("can only create tokens for individual service accounts");
        }
        if asked.subresource != "token" {
            return no("can only create token subresource of serviceaccount");
        }
        self.related_by(node, Reference::ServiceAccount, asked)
    }

    fn may_use_slice(&self, node: &str, asked: &Attributes<'_>, selects: bool) -> Result<(), String> {
        if !asked.subresource.is_empty() {
            return no("cannot authorize ResourceSlice subresources");
        }
        match asked.verb {
            "create" => ALLOWED,
            "get" | "update" | "patch" | "delete" => self.related(node, asked),
            "watch" | "list" | "deletecollection" => {
                if !selects || asked.fields.is_some_and(|fields| fields.wants("spec.nodeName", node)) {
                    return ALLOWED;
                }
                no("can only list/watch/deletecollection resourceslices with nodeName field selector")
            }
            _ => no(
                "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, \
                     delete, deletecollection",
            ),
        }
    }

    /// Source: node_authorizer.go (v1.37), `authorizePodCertificateRequest`.
    fn may_use_certificate_request(&self, node: &str, asked: &Attributes<'_>) -> Result<(), String> {
        if !asked.subresource.is_empty() {
            return no("nodes may not access the status subresource of PodCertificateRequests");
        }
        match asked.verb {
            "create" => ALLOWED,
            "get" => self.related(node, asked),
            "list" | "watch" if asked.fields.is_some_and(|fields| fields.wants("spec.nodeName", node)) => ALLOWED,
            "list" | "watch" => no("can only list/watch podcertificaterequests with nodeName field selector"),
            verb => Err(format!("nodes may not {verb} podcertificaterequests")),
        }
    }

    fn may_use_pod(&self, node: &str, asked: &Attributes<'_>) -> Result<(), String> {
        match (asked.subresource, asked.verb) {
            ("", "get") => self.may_get(node, asked),
            ("", "list" | "watch") => {
                if asked.fields.is_some_and(|fields| fields.wants("spec.nodeName", node)) {
                    ALLOWED
                } else if !asked.name.is_empty() {
                    self.related(node, asked)
                } else {
                    no("can only list/watch pods with spec.nodeName field selector")
                }
            }
            ("", "create" | "delete") | ("status", "update" | "patch") | ("eviction", "create") => ALLOWED,
            _ => no(""),
        }
    }

    /// Tells whether a Pod on a node, or a volume that it uses, refers to an object.
    fn related_by(&self, node: &str, what: Reference, asked: &Attributes<'_>) -> Result<(), String> {
        if asked.name.is_empty() {
            return no("No Object name found");
        }
        let found = self.pods_lead_to(node, what, asked.namespace, asked.name)
            || what == Reference::Secret && self.volumes_lead_to(node, asked.namespace, asked.name);
        if found { ALLOWED } else { Err(unrelated(node)) }
    }

    fn related(&self, node: &str, asked: &Attributes<'_>) -> Result<(), String> {
        if asked.name.is_empty() {
            return no("No Object name found");
        }
        let (namespace, name) = (asked.namespace, asked.name);
        let on_node = |resource: &Resource, key: &ObjectKey| {
            let object = self.object(resource, key);
            object.is_some_and(|object| object.stable().at(&["spec", "nodeName"]).as_str() == Some(node))
        };
        let found = match asked.resource {
            "pods" => on_node(&PODS, &ObjectKey::namespaced(namespace, name)),
            "persistentvolumeclaims" => self.pods_lead_to(node, Reference::Claim, namespace, name),
            "persistentvolumes" => {
                let volume = self.object(&VOLUMES, &ObjectKey::cluster(name));
                volume.is_some_and(|volume| self.claim_leads_to(node, &volume))
            }
            "resourceclaims" => self.pods_lead_to(node, Reference::ResourceClaim, namespace, name),
            "volumeattachments" => on_node(&ATTACHMENTS, &ObjectKey::cluster(name)),
            "resourceslices" => on_node(&SLICES, &ObjectKey::cluster(name)),
            "podcertificaterequests" => on_node(&POD_CERTIFICATES, &ObjectKey::namespaced(namespace, name)),
            _ => false,
        };
        if found { ALLOWED } else { Err(unrelated(node)) }
    }

    fn pods_lead_to(&self, node: &str, what: Reference, namespace: &str, name: &str) -> bool {
        let pods = kinds::find(&PODS).expect("a kind of the table");
        self.tables[pods].store.iter(namespace).any(|pod| {
            let tree = pod.stable();
            tree.at(&["spec", "nodeName"]).as_str() == Some(node)
                && tree.at(&["metadata", "annotations", MIRROR]).is_null()
                && pod_references::names(tree, what).iter().any(|own| own == name)
        })
    }

    fn claim_leads_to(&self, node: &str, volume: &Object) -> bool {
        let claim = volume.stable().at(&["spec", "claimRef"]);
        let text = |field: &str| claim.get(field).as_str().unwrap_or("");
        claim.is_object() && self.pods_lead_to(node, Reference::Claim, text("namespace"), text("name"))
    }

    /// Tells whether a volume that a node uses needs a secret.
    fn volumes_lead_to(&self, node: &str, namespace: &str, name: &str) -> bool {
        self.objects(&VOLUMES).iter().any(|volume| {
            let wants = |(own_namespace, own): &(String, String)| own_namespace == namespace && own == name;
            pod_references::secrets_of_volume(volume.stable()).iter().any(wants) && self.claim_leads_to(node, volume)
        })
    }
}

fn unrelated(node: &str) -> String {
    format!("no relationship found between node '{node}' and this object")
}

fn may_use_lease(node: &str, asked: &Attributes<'_>) -> Result<(), String> {
    if !matches!(asked.verb, "get" | "create" | "update" | "patch" | "delete") {
        return no("can only get, create, update, patch, or delete a node lease");
    }
    if asked.namespace != NODE_LEASES {
        return Err(format!("can only access leases in the {NODE_LEASES:?} system namespace"));
    }
    if asked.verb != "create" && asked.name != node {
        return no("can only access node lease with the same name as the requesting node");
    }
    ALLOWED
}

/// The status came with 1.37, and from then on the subresource is looked at before the verb. Source: node_authorizer.go
/// (v1.34, v1.37), `authorizeCSINode`.
fn may_use_csi_node(node: &str, asked: &Attributes<'_>, settings: &Settings) -> Result<(), String> {
    let has_status = settings.profile().is("csi-nodes-have-status");
    let is_known_verb = matches!(asked.verb, "get" | "create" | "update" | "patch" | "delete");
    match asked.subresource {
        "status" if has_status => {
            if !settings.is_gate_on("CSIVolumeHealth") {
                return no("CSINode status access requires CSIVolumeHealth feature");
            }
            if !matches!(asked.verb, "get" | "update" | "patch") {
                return no("can only get, update, or patch CSINode status");
            }
        }
        "" if is_known_verb => {}
        _ if has_status && !asked.subresource.is_empty() || is_known_verb => {
            return no("cannot authorize CSINode subresources");
        }
        _ => return no("can only get, create, update, patch, or delete a CSINode"),
    }
    if asked.verb != "create" && asked.name != node {
        return no("can only access CSINode with the same name as the requesting node");
    }
    ALLOWED
}

fn may_use_node(node: &str, asked: &Attributes<'_>) -> Result<(), String> {
    match (asked.subresource, asked.verb) {
        ("", "create" | "update" | "patch") | ("status", "update" | "patch") => ALLOWED,
        ("", "get" | "list" | "watch") => match asked.name {
            own if own == node => ALLOWED,
            "" => Err(format!("node '{node}' cannot read all nodes, only its own Node object")),
            other => Err(format!("node '{node}' cannot read '{other}', only its own Node object")),
        },
        _ => no(""),
    }
}
