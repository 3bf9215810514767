//! Who may do what: the chain of authorisers.
//!
//! Mirrors k8s.io/apiserver pkg/{endpoints/filters/authorization.go, authorization/union} (v1.34) with
//! `--authorization-mode=Node,RBAC`: the group `system:masters` may do everything, then the Node authoriser is asked,
//! then RBAC. Each allows a request or has no opinion; a refusal lists the reasons of all. Inputs: an identity and the
//! attributes of its request. Outputs: nothing, or 403. Left out on purpose: webhooks and ABAC.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::attributes::{Attributes, refusal};
use super::authentication::check_known;
use super::node_authoriser::node_of;
use super::{ApiServer, status};
use crate::network::{Answer, Call, Identity, LEASES, NODE_LEASES, NODES};
use crate::objects::ObjectKey;

impl ApiServer {
    /// Refuses a request that its sender may not make.
    pub(super) fn check_authorised(&mut self, identity: &Arc<Identity>, call: &Call) -> Result<(), Answer> {
        if is_master(identity) {
            return Ok(());
        }
        let asked = Attributes::of(call);
        self.check_attributes(identity, &asked.get())
    }

    /// Refuses the renewal of a Lease in its typed form. The node that the Lease is named after may always renew it,
    /// without a look at the roles.
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
        // Source: k8s.io/apiserver pkg/authorization/union/union.go (v0.34, v0.37), `Authorize`.
        let names = self.settings.profile().is("refusals-name-their-authoriser");
        let told = |(name, why): (&str, String)| if names { format!("{name}: {why}") } else { why };
        let reasons = [("node", node), ("rbac", rbac)].into_iter().filter(|(_, why)| !why.is_empty());
        Err(reasons.map(told).collect::<Vec<_>>().join("\n"))
    }
}

/// Source: k8s.io/apiserver pkg/authentication/user/user.go (v1.34), `SystemPrivilegedGroup`.
pub(super) fn is_master(identity: &Identity) -> bool {
    identity.groups.iter().any(|group| group.as_str() == "system:masters")
}
