//! The calls to the interface of a cloud, as data: what the controllers of cloud-controller-manager ask a provider.
//!
//! Mirrors k8s.io/cloud-provider cloud.go (v0.37), `InstancesV2` and `Routes`. An answer has the code 200 and a JSON
//! body, or 404 for `InstanceNotFound`, 501 for `NotImplemented`, 500 for any other error, each with its text in
//! `message`.

use core::fmt;

use super::Verb;
use crate::objects::Text;

/// What the calls to a cloud are about, as rules name it.
pub const CLOUD_RESOURCES: [&str; 2] = ["instances", "routes"];

/// The Node that a call is about, as the provider finds its instance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CloudNode {
    /// The Node's name.
    pub name: Text,
    /// `spec.providerID`; empty for none.
    pub provider_id: Text,
}

/// A call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CloudCall {
    /// `InstanceMetadata`: providerID, type, zone, region, addresses.
    Metadata(CloudNode),
    /// `InstanceExists`.
    Exists(CloudNode),
    /// `InstanceShutdown`: whether it exists and does not run.
    Shutdown(CloudNode),
    /// `ListRoutes`.
    ListRoutes,
    /// `CreateRoute`.
    CreateRoute {
        /// The Node that the route leads to.
        node: Text,
        /// The network behind it.
        cidr: Text,
    },
    /// `DeleteRoute`.
    DeleteRoute {
        /// The Node that the route leads to.
        node: Text,
        /// The network behind it.
        cidr: Text,
    },
}

impl CloudCall {
    /// Returns verb, resource, subresource and name, as rules count them.
    #[must_use]
    pub fn subject(&self) -> (Verb, &str, &str, &str) {
        match self {
            Self::Metadata(node) => (Verb::Get, "instances", "metadata", &node.name),
            Self::Exists(node) => (Verb::Get, "instances", "exists", &node.name),
            Self::Shutdown(node) => (Verb::Get, "instances", "shutdown", &node.name),
            Self::ListRoutes => (Verb::List, "routes", "", ""),
            Self::CreateRoute { node, .. } => (Verb::Create, "routes", "", node),
            Self::DeleteRoute { node, .. } => (Verb::Delete, "routes", "", node),
        }
    }
}

impl fmt::Display for CloudCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (verb, resource, subresource, name) = self.subject();
        write!(f, "cloud {} {resource}", verb.name())?;
        [name, subresource].into_iter().filter(|part| !part.is_empty()).try_for_each(|part| write!(f, "/{part}"))
    }
}
