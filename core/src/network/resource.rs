//! Verbs of the API, and the names of its resources. Pure data.

use alloc::format;
use alloc::string::String;

use crate::objects::Text;

/// What a request does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[expect(missing_docs, reason = "the verbs of Kubernetes' API, by their names")]
pub enum Verb {
    Get,
    List,
    Watch,
    Create,
    Update,
    Patch,
    Delete,
    DeleteCollection,
}

impl Verb {
    /// Returns the name that authorisation and rules use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }

    /// Returns the verb of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [
            Self::Get,
            Self::List,
            Self::Watch,
            Self::Create,
            Self::Update,
            Self::Patch,
            Self::Delete,
            Self::DeleteCollection,
        ]
        .into_iter()
        .find(|verb| verb.name() == name)
    }

    /// Returns the HTTP method.
    #[must_use]
    pub const fn method(self) -> &'static str {
        match self {
            Self::Get | Self::List | Self::Watch => "GET",
            Self::Create => "POST",
            Self::Update => "PUT",
            Self::Patch => "PATCH",
            Self::Delete | Self::DeleteCollection => "DELETE",
        }
    }
}

/// Group, version and plural name of a kind of objects.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Resource {
    /// The group; empty for the core group.
    pub group: Text,
    /// The version, as `v1`.
    pub version: Text,
    /// The plural name, as `nodes`.
    pub plural: Text,
}

impl Resource {
    /// Names a resource of the program's own vocabulary.
    #[must_use]
    pub const fn of(group: &'static str, version: &'static str, plural: &'static str) -> Self {
        Self { group: Text::of(group), version: Text::of(version), plural: Text::of(plural) }
    }

    /// Returns the plural name with the group behind it, as messages of the API server name it.
    #[must_use]
    pub fn qualified(&self) -> String {
        if self.group.is_empty() { String::from(&*self.plural) } else { format!("{}.{}", self.plural, self.group) }
    }

    /// Returns group and version in one, as `apiVersion` has them.
    #[must_use]
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { String::from(&*self.version) } else { format!("{}/{}", self.group, self.version) }
    }

    /// Returns group and version of an `apiVersion`.
    #[must_use]
    pub fn group_and_version(api_version: &str) -> (&str, &str) {
        api_version.split_once('/').unwrap_or(("", api_version))
    }

    /// Returns the path of the collection, or of one namespace's part of it.
    #[must_use]
    pub fn path(&self, namespace: &str) -> String {
        let root = if self.group.is_empty() {
            format!("/api/{}", self.version)
        } else {
            format!("/apis/{}/{}", self.group, self.version)
        };
        if namespace.is_empty() {
            format!("{root}/{}", self.plural)
        } else {
            format!("{root}/namespaces/{namespace}/{}", self.plural)
        }
    }
}

/// `nodes`.
pub const NODES: Resource = Resource::of("", "v1", "nodes");
/// `pods`.
pub const PODS: Resource = Resource::of("", "v1", "pods");
/// `events` of the core group.
pub const EVENTS: Resource = Resource::of("", "v1", "events");
/// Events in the form of `events.k8s.io`: the same objects.
pub const NEW_EVENTS: Resource = Resource::of("events.k8s.io", "v1", "events");
/// `customresourcedefinitions`.
pub const DEFINITIONS: Resource = Resource::of("apiextensions.k8s.io", "v1", "customresourcedefinitions");
/// `namespaces`.
pub const NAMESPACES: Resource = Resource::of("", "v1", "namespaces");
/// `leases`.
pub const LEASES: Resource = Resource::of("coordination.k8s.io", "v1", "leases");
/// `services`.
pub const SERVICES: Resource = Resource::of("", "v1", "services");
/// `serviceaccounts`.
pub const SERVICE_ACCOUNTS: Resource = Resource::of("", "v1", "serviceaccounts");
/// ConfigMaps.
pub const CONFIG_MAPS: Resource = Resource::of("", "v1", "configmaps");
/// Secrets.
pub const SECRETS: Resource = Resource::of("", "v1", "secrets");
/// `endpointslices`.
pub const ENDPOINT_SLICES: Resource = Resource::of("discovery.k8s.io", "v1", "endpointslices");
/// The label of an EndpointSlice that names its Service.
/// Source: k8s.io/api discovery/v1/well_known_labels.go (v1.34), `LabelServiceName`.
pub const SERVICE_NAME: &str = "kubernetes.io/service-name";
/// `csinodes`.
pub const CSI_NODES: Resource = Resource::of("storage.k8s.io", "v1", "csinodes");
/// `certificatesigningrequests`.
pub const CERTIFICATE_REQUESTS: Resource = Resource::of("certificates.k8s.io", "v1", "certificatesigningrequests");
/// The namespace of the nodes' Leases (k8s.io/api core/v1 types.go, `NamespaceNodeLease`).
pub const NODE_LEASES: &str = "kube-node-lease";
