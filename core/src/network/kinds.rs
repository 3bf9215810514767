//! The kinds of objects that the API has: the table that routing, discovery and strategies read.
//!
//! Source: discovery of kube-apiserver v1.34 and the strategies in pkg/registry (`AllowCreateOnUpdate`,
//! `AllowUnconditionalUpdate`, `ReturnDeletedObject`). Custom kinds are added to those of a server by their
//! definitions.

mod custom;
mod served;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Resource;
use crate::objects::{Json, Text, nearest};
pub(crate) use custom::CustomNames;
pub(crate) use served::{has_subresource, is_served};

/// Whether objects of a kind live in namespaces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scope {
    Cluster,
    Namespaced,
}

/// What is special about a kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Trait {
    /// PUT of a missing object creates it.
    CreateOnUpdate,
    /// PUT needs a resourceVersion.
    Conditional,
    /// DELETE answers with the object and not with a Status.
    ReturnsObject,
    /// The server counts changes of the specification in `metadata.generation`.
    Generation,
    /// A review: it is answered and not stored.
    Review,
    /// Its objects are removed when their time to live is over.
    Expires,
    /// There is no DELETE of the collection.
    NoDeleteCollection,
    /// A CustomResourceDefinition defines it.
    Custom,
}

/// A kind of objects.
#[derive(Clone, Debug)]
pub(crate) struct Kind {
    pub(crate) resource: Resource,
    pub(crate) name: &'static str,
    pub(crate) singular: &'static str,
    pub(crate) short_names: &'static [&'static str],
    pub(crate) categories: &'static [&'static str],
    pub(crate) scope: Scope,
    pub(crate) traits: &'static [Trait],
    pub(crate) subresources: &'static [Subresource],
}

/// A subresource: its name, the kind of its bodies (with group and version, if they differ from the resource's) and its
/// verbs.
#[derive(Clone, Debug)]
pub(crate) struct Subresource {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) group: &'static str,
    pub(crate) version: &'static str,
    pub(crate) verbs: &'static [&'static str],
}

impl Kind {
    pub(crate) fn is(&self, what: Trait) -> bool {
        self.traits.contains(&what)
    }

    pub(crate) fn is_namespaced(&self) -> bool {
        self.scope == Scope::Namespaced
    }

    pub(crate) fn subresource(&self, name: &str) -> Option<&'static Subresource> {
        self.subresources.iter().find(|sub| sub.name == name)
    }

    /// Returns the name by which the rules of a built-in kind are found; a custom kind may be called as one of them.
    pub(crate) fn rules(&self) -> &'static str {
        if self.is(Trait::Custom) { "" } else { self.name }
    }

    /// Returns the name of the kind's type in the schema, where `Event` and `ResourceClaim` are of the core group.
    pub(crate) fn type_name(&self) -> &'static str {
        match (self.rules(), &*self.resource.group) {
            ("Event", "events.k8s.io") => "events.k8s.io Event",
            ("ResourceClaim", "resource.k8s.io") => "resource.k8s.io ResourceClaim",
            (name, _) => name,
        }
    }

    /// Returns the kind with its group behind it, as messages name it.
    pub(crate) fn qualified(&self) -> alloc::string::String {
        if self.resource.group.is_empty() {
            self.name.into()
        } else {
            alloc::format!("{}.{}", self.name, self.resource.group)
        }
    }
}

const GET_PATCH_UPDATE: &[&str] = &["get", "patch", "update"];
const CREATE: &[&str] = &["create"];

const fn sub(name: &'static str, kind: &'static str, verbs: &'static [&'static str]) -> Subresource {
    Subresource { name, kind, group: "", version: "", verbs }
}

const fn foreign(
    name: &'static str,
    (group, version, kind): (&'static str, &'static str, &'static str),
    verbs: &'static [&'static str],
) -> Subresource {
    Subresource { name, kind, group, version, verbs }
}

macro_rules! status_of {
    ($kind:literal) => {
        &[sub("status", $kind, GET_PATCH_UPDATE)]
    };
}

macro_rules! scaled {
    ($kind:literal) => {
        &[foreign("scale", ("autoscaling", "v1", "Scale"), GET_PATCH_UPDATE), sub("status", $kind, GET_PATCH_UPDATE)]
    };
}

macro_rules! kinds {
    ($( $group:literal $version:literal $plural:literal $name:literal $singular:literal $scope:ident
        [$($short:literal),*] [$($category:literal),*] [$($trait:ident),*] $subresources:expr; )+) => {
        /// All kinds, in the order of their discovery: by group, then by plural name.
        pub(crate) static KINDS: &[Kind] = &[$( Kind {
            resource: Resource::of($group, $version, $plural), name: $name, singular: $singular,
            short_names: &[$($short),*], categories: &[$($category),*], scope: Scope::$scope,
            traits: &[$(Trait::$trait),*], subresources: $subresources,
        } ),+];
    };
}

kinds! {
    "" "v1" "bindings" "Binding" "binding" Namespaced [] [] [Review] &[];
    "" "v1" "configmaps" "ConfigMap" "configmap" Namespaced ["cm"] [] [] &[];
    "" "v1" "endpoints" "Endpoints" "endpoints" Namespaced ["ep"] [] [CreateOnUpdate] &[];
    "" "v1" "events" "Event" "event" Namespaced ["ev"] [] [CreateOnUpdate, Expires] &[];
    "" "v1" "limitranges" "LimitRange" "limitrange" Namespaced ["limits"] [] [CreateOnUpdate] &[];
    "" "v1" "namespaces" "Namespace" "namespace" Cluster ["ns"] [] [ReturnsObject, NoDeleteCollection]
        &[sub("finalize", "Namespace", &["update"]), sub("status", "Namespace", GET_PATCH_UPDATE)];
    "" "v1" "nodes" "Node" "node" Cluster ["no"] [] []
        &[sub("proxy", "NodeProxyOptions", &["create", "delete", "get", "patch", "update"]),
          sub("status", "Node", GET_PATCH_UPDATE)];
    "" "v1" "persistentvolumeclaims" "PersistentVolumeClaim" "persistentvolumeclaim" Namespaced ["pvc"] []
        [ReturnsObject] status_of!("PersistentVolumeClaim");
    "" "v1" "persistentvolumes" "PersistentVolume" "persistentvolume" Cluster ["pv"] [] [ReturnsObject]
        status_of!("PersistentVolume");
    "" "v1" "pods" "Pod" "pod" Namespaced ["po"] ["all"] [ReturnsObject, Generation]
        &[sub("attach", "PodAttachOptions", &["create", "get"]), sub("binding", "Binding", CREATE),
          sub("ephemeralcontainers", "Pod", GET_PATCH_UPDATE),
          foreign("eviction", ("policy", "v1", "Eviction"), CREATE),
          sub("exec", "PodExecOptions", &["create", "get"]), sub("log", "Pod", &["get"]),
          sub("portforward", "PodPortForwardOptions", &["create", "get"]),
          sub("proxy", "PodProxyOptions", &["create", "delete", "get", "patch", "update"]),
          sub("resize", "Pod", GET_PATCH_UPDATE), sub("status", "Pod", GET_PATCH_UPDATE)];
    "" "v1" "podtemplates" "PodTemplate" "podtemplate" Namespaced [] [] [ReturnsObject, Generation] &[];
    "" "v1" "replicationcontrollers" "ReplicationController" "replicationcontroller" Namespaced ["rc"] ["all"]
        [Generation] scaled!("ReplicationController");
    "" "v1" "resourcequotas" "ResourceQuota" "resourcequota" Namespaced ["quota"] [] [ReturnsObject]
        status_of!("ResourceQuota");
    "" "v1" "secrets" "Secret" "secret" Namespaced [] [] [] &[];
    "" "v1" "serviceaccounts" "ServiceAccount" "serviceaccount" Namespaced ["sa"] [] [ReturnsObject]
        &[foreign("token", ("authentication.k8s.io", "v1", "TokenRequest"), CREATE)];
    "" "v1" "services" "Service" "service" Namespaced ["svc"] ["all"] [CreateOnUpdate, ReturnsObject]
        &[sub("proxy", "ServiceProxyOptions", &["create", "delete", "get", "patch", "update"]),
          sub("status", "Service", GET_PATCH_UPDATE)];
    "admissionregistration.k8s.io" "v1" "mutatingadmissionpolicies" "MutatingAdmissionPolicy" "mutatingadmissionpolicy"
        Cluster [] ["api-extensions"] [Conditional, Generation] &[];
    "admissionregistration.k8s.io" "v1" "mutatingadmissionpolicybindings" "MutatingAdmissionPolicyBinding"
        "mutatingadmissionpolicybinding" Cluster [] ["api-extensions"] [Conditional, Generation] &[];
    "admissionregistration.k8s.io" "v1" "mutatingwebhookconfigurations" "MutatingWebhookConfiguration"
        "mutatingwebhookconfiguration" Cluster [] ["api-extensions"] [Conditional, Generation] &[];
    "admissionregistration.k8s.io" "v1" "validatingadmissionpolicies" "ValidatingAdmissionPolicy"
        "validatingadmissionpolicy" Cluster [] ["api-extensions"] [Conditional, Generation]
        status_of!("ValidatingAdmissionPolicy");
    "admissionregistration.k8s.io" "v1" "validatingadmissionpolicybindings" "ValidatingAdmissionPolicyBinding"
        "validatingadmissionpolicybinding" Cluster [] ["api-extensions"] [Conditional, Generation] &[];
    "admissionregistration.k8s.io" "v1" "validatingwebhookconfigurations" "ValidatingWebhookConfiguration"
        "validatingwebhookconfiguration" Cluster [] ["api-extensions"] [Conditional, Generation] &[];
    "apiextensions.k8s.io" "v1" "customresourcedefinitions" "CustomResourceDefinition" "customresourcedefinition"
        Cluster ["crd", "crds"] ["api-extensions"] [Conditional, Generation] status_of!("CustomResourceDefinition");
    "apiregistration.k8s.io" "v1" "apiservices" "APIService" "apiservice" Cluster [] ["api-extensions"] [Conditional]
        status_of!("APIService");
    "apps" "v1" "controllerrevisions" "ControllerRevision" "controllerrevision" Namespaced [] [] [] &[];
    "apps" "v1" "daemonsets" "DaemonSet" "daemonset" Namespaced ["ds"] ["all"] [Generation] status_of!("DaemonSet");
    "apps" "v1" "deployments" "Deployment" "deployment" Namespaced ["deploy"] ["all"] [Generation]
        scaled!("Deployment");
    "apps" "v1" "replicasets" "ReplicaSet" "replicaset" Namespaced ["rs"] ["all"] [Generation] scaled!("ReplicaSet");
    "apps" "v1" "statefulsets" "StatefulSet" "statefulset" Namespaced ["sts"] ["all"] [Generation]
        scaled!("StatefulSet");
    "authentication.k8s.io" "v1" "selfsubjectreviews" "SelfSubjectReview" "selfsubjectreview" Cluster [] []
        [Review] &[];
    "authentication.k8s.io" "v1" "tokenreviews" "TokenReview" "tokenreview" Cluster [] [] [Review] &[];
    "authorization.k8s.io" "v1" "localsubjectaccessreviews" "LocalSubjectAccessReview" "localsubjectaccessreview"
        Namespaced [] [] [Review] &[];
    "authorization.k8s.io" "v1" "selfsubjectaccessreviews" "SelfSubjectAccessReview" "selfsubjectaccessreview" Cluster
        [] [] [Review] &[];
    "authorization.k8s.io" "v1" "selfsubjectrulesreviews" "SelfSubjectRulesReview" "selfsubjectrulesreview" Cluster
        [] [] [Review] &[];
    "authorization.k8s.io" "v1" "subjectaccessreviews" "SubjectAccessReview" "subjectaccessreview" Cluster [] []
        [Review] &[];
    "autoscaling" "v2" "horizontalpodautoscalers" "HorizontalPodAutoscaler" "horizontalpodautoscaler" Namespaced ["hpa"]
        ["all"] [Generation] status_of!("HorizontalPodAutoscaler");
    "batch" "v1" "cronjobs" "CronJob" "cronjob" Namespaced ["cj"] ["all"] [Generation] status_of!("CronJob");
    "batch" "v1" "jobs" "Job" "job" Namespaced [] ["all"] [Generation] status_of!("Job");
    "certificates.k8s.io" "v1" "certificatesigningrequests" "CertificateSigningRequest" "certificatesigningrequest"
        Cluster ["csr"] [] []
        &[sub("approval", "CertificateSigningRequest", GET_PATCH_UPDATE),
          sub("status", "CertificateSigningRequest", GET_PATCH_UPDATE)];
    "certificates.k8s.io" "v1" "clustertrustbundles" "ClusterTrustBundle" "clustertrustbundle" Cluster [] []
        [Conditional] &[];
    "certificates.k8s.io" "v1" "podcertificaterequests" "PodCertificateRequest" "podcertificaterequest" Namespaced [] []
        [Conditional] status_of!("PodCertificateRequest");
    "coordination.k8s.io" "v1" "leases" "Lease" "lease" Namespaced [] [] [CreateOnUpdate, Conditional] &[];
    "discovery.k8s.io" "v1" "endpointslices" "EndpointSlice" "endpointslice" Namespaced [] [] [Generation] &[];
    "events.k8s.io" "v1" "events" "Event" "event" Namespaced ["ev"] [] [CreateOnUpdate, Expires] &[];
    "flowcontrol.apiserver.k8s.io" "v1" "flowschemas" "FlowSchema" "flowschema" Cluster [] [] [Generation]
        status_of!("FlowSchema");
    "flowcontrol.apiserver.k8s.io" "v1" "prioritylevelconfigurations" "PriorityLevelConfiguration"
        "prioritylevelconfiguration" Cluster [] [] [Generation] status_of!("PriorityLevelConfiguration");
    "networking.k8s.io" "v1" "ingressclasses" "IngressClass" "ingressclass" Cluster [] [] [Generation] &[];
    "networking.k8s.io" "v1" "ingresses" "Ingress" "ingress" Namespaced ["ing"] [] [Generation] status_of!("Ingress");
    "networking.k8s.io" "v1" "ipaddresses" "IPAddress" "ipaddress" Cluster ["ip"] [] [] &[];
    "networking.k8s.io" "v1" "networkpolicies" "NetworkPolicy" "networkpolicy" Namespaced ["netpol"] []
        [Generation] &[];
    "networking.k8s.io" "v1" "servicecidrs" "ServiceCIDR" "servicecidr" Cluster [] [] [] status_of!("ServiceCIDR");
    "node.k8s.io" "v1" "runtimeclasses" "RuntimeClass" "runtimeclass" Cluster [] [] [CreateOnUpdate, Conditional] &[];
    "policy" "v1" "poddisruptionbudgets" "PodDisruptionBudget" "poddisruptionbudget" Namespaced ["pdb"] []
        [Conditional, Generation] status_of!("PodDisruptionBudget");
    "rbac.authorization.k8s.io" "v1" "clusterrolebindings" "ClusterRoleBinding" "clusterrolebinding" Cluster [] []
        [CreateOnUpdate] &[];
    "rbac.authorization.k8s.io" "v1" "clusterroles" "ClusterRole" "clusterrole" Cluster [] [] [CreateOnUpdate] &[];
    "rbac.authorization.k8s.io" "v1" "rolebindings" "RoleBinding" "rolebinding" Namespaced [] [] [CreateOnUpdate] &[];
    "rbac.authorization.k8s.io" "v1" "roles" "Role" "role" Namespaced [] [] [CreateOnUpdate] &[];
    "resource.k8s.io" "v1" "deviceclasses" "DeviceClass" "deviceclass" Cluster [] [] [ReturnsObject, Generation] &[];
    "resource.k8s.io" "v1" "devicetaintrules" "DeviceTaintRule" "devicetaintrule" Cluster [] []
        [ReturnsObject, Generation] status_of!("DeviceTaintRule");
    "resource.k8s.io" "v1" "resourceclaims" "ResourceClaim" "resourceclaim" Namespaced [] [] [ReturnsObject]
        status_of!("ResourceClaim");
    "resource.k8s.io" "v1" "resourceclaimtemplates" "ResourceClaimTemplate" "resourceclaimtemplate" Namespaced [] []
        [ReturnsObject] &[];
    "resource.k8s.io" "v1" "resourceslices" "ResourceSlice" "resourceslice" Cluster [] [] [ReturnsObject, Generation]
        &[];
    "scheduling.k8s.io" "v1" "priorityclasses" "PriorityClass" "priorityclass" Cluster ["pc"] [] [Generation] &[];
    "storage.k8s.io" "v1" "csidrivers" "CSIDriver" "csidriver" Cluster [] [] [Conditional, ReturnsObject] &[];
    "storage.k8s.io" "v1" "csinodes" "CSINode" "csinode" Cluster [] [] [Conditional, ReturnsObject]
        status_of!("CSINode");
    "storage.k8s.io" "v1" "csistoragecapacities" "CSIStorageCapacity" "csistoragecapacity" Namespaced [] []
        [Conditional] &[];
    "storage.k8s.io" "v1" "storageclasses" "StorageClass" "storageclass" Cluster ["sc"] [] [ReturnsObject] &[];
    "storage.k8s.io" "v1" "volumeattachments" "VolumeAttachment" "volumeattachment" Cluster [] []
        [Conditional, ReturnsObject] status_of!("VolumeAttachment");
    "storage.k8s.io" "v1" "volumeattributesclasses" "VolumeAttributesClass" "volumeattributesclass" Cluster ["vac"] []
        [ReturnsObject] &[];
    "storagemigration.k8s.io" "v1" "storageversionmigrations" "StorageVersionMigration" "storageversionmigration"
        Cluster [] [] [Conditional] status_of!("StorageVersionMigration");
}

/// Finds a kind by a name that kubectl takes: the kind, its plural, singular or short name; the core group first.
/// Returns with it whether its objects live in namespaces.
#[must_use]
pub fn find_kind(name: &str) -> Option<(Resource, bool)> {
    named(name, KINDS.iter())
}

/// Finds a kind among others by a name that kubectl takes.
pub(crate) fn named(name: &str, mut kinds: impl Iterator<Item = &'static Kind>) -> Option<(Resource, bool)> {
    let is_named = |kind: &&Kind| {
        kind.name == name
            || kind.resource.plural.as_str() == name
            || kind.singular == name
            || kind.short_names.contains(&name)
    };
    kinds.find(is_named).map(|kind| (kind.resource.clone(), kind.is_namespaced()))
}

/// Returns the built-in kind of a name and an `apiVersion`.
pub(crate) fn built_in(api_version: &str, name: &str) -> Option<&'static Kind> {
    let (group, version) = Resource::group_and_version(api_version);
    KINDS.iter().find(|kind| kind.name == name && kind.resource.group == *group && kind.resource.version == *version)
}

/// Tells whether the server has a kind, in this group and version.
#[must_use]
pub fn is_known(resource: &Resource) -> bool {
    of_table(resource).is_some()
}

/// Tells whether objects of a kind live in namespaces; true for an unknown kind.
#[must_use]
pub fn is_namespaced(resource: &Resource) -> bool {
    of_table(resource).is_none_or(Kind::is_namespaced)
}

/// Returns the kind of a resource's objects; `None` for one that the server does not have.
#[must_use]
pub fn kind_of(resource: &Resource) -> Option<&'static str> {
    of_table(resource).map(|kind| kind.name)
}

/// Returns the kinds in namespaces whose collections can be deleted.
pub fn collections() -> impl Iterator<Item = Resource> {
    let has_collections = |kind: &&Kind| {
        let has_none = kind.is(Trait::Review) || kind.is(Trait::NoDeleteCollection);
        kind.is_namespaced() && !has_none
    };
    KINDS.iter().filter(has_collections).map(|kind| kind.resource.clone())
}

/// Returns the kind that a CustomResourceDefinition defines, its resource in the version that is served, and whether
/// its objects live in namespaces; `None` for any other object.
#[must_use]
pub fn defined_kind(definition: &Json) -> Option<(Text, Resource, bool)> {
    let spec = definition.get("spec");
    let is_served = |version: &&Json| version.get("served").as_bool() == Some(true);
    let version = spec.get("versions").items().iter().find(is_served)?;
    let resource = Resource {
        group: spec.get("group").as_text()?.clone(),
        version: version.get("name").as_text()?.clone(),
        plural: spec.at(&["names", "plural"]).as_text()?.clone(),
    };
    let is_definition = definition.get("kind").as_str() == Some("CustomResourceDefinition");
    let name = spec.at(&["names", "kind"]).as_text().filter(|_| is_definition)?.clone();
    Some((name, resource, spec.get("scope").as_str() == Some("Namespaced")))
}

/// Returns the names of all kinds.
pub fn kind_names() -> impl Iterator<Item = &'static str> + Clone {
    KINDS.iter().map(|kind| kind.name)
}

/// A resource or subresource that the server does not have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownResource {
    /// The name, with its resource before it if it is a subresource's.
    pub name: String,
    /// The nearest name that there is.
    pub near: Option<String>,
}

/// Checks a plural name, and the name of a subresource; an empty one means the object itself.
///
/// # Errors
/// There is no such resource in any group, or it has no such subresource.
pub fn known_resource(plural: &str, subresource: Option<&str>) -> Result<(), UnknownResource> {
    let named = || KINDS.iter().filter(|kind| kind.resource.plural.as_str() == plural);
    if named().next().is_none() {
        let near = nearest(plural, KINDS.iter().map(|kind| kind.resource.plural.as_str()));
        return Err(UnknownResource { name: plural.to_string(), near: near.map(ToString::to_string) });
    }
    let Some(wanted) = subresource.filter(|name| !name.is_empty()) else { return Ok(()) };
    if named().any(|kind| kind.subresource(wanted).is_some()) {
        return Ok(());
    }
    let near = nearest(wanted, named().flat_map(|kind| kind.subresources.iter().map(|sub| sub.name)));
    Err(UnknownResource { name: format!("{plural}/{wanted}"), near: near.map(|near| format!("{plural}/{near}")) })
}

/// Finds a kind of [`KINDS`].
pub(crate) fn of_table(resource: &Resource) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.resource == *resource)
}

/// The place of a kind among those of a server: first the kinds of [`KINDS`], then the custom ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct KindIndex(usize);

impl KindIndex {
    /// Returns the first ones.
    pub(crate) fn first(count: usize) -> impl Iterator<Item = Self> {
        (0..count).map(Self)
    }

    /// Returns the number of those before it.
    pub(crate) const fn before(self) -> usize {
        self.0
    }

    /// Returns the kind of [`KINDS`] at this place; `None` if it is that of a custom kind.
    pub(crate) fn kind_of_table(self) -> Option<&'static Kind> {
        KINDS.get(self.0)
    }

    fn custom(self) -> Option<usize> {
        self.0.checked_sub(KINDS.len())
    }

    fn of_custom(at: usize) -> Self {
        Self(KINDS.len() + at)
    }
}

/// Finds a kind's place in [`KINDS`].
pub(crate) fn find(resource: &Resource) -> Option<KindIndex> {
    KINDS.iter().position(|kind| kind.resource == *resource).map(KindIndex)
}

/// The kinds of one server: those of the table, and behind them the custom ones in the order in which they were first
/// defined. A kind keeps its place when its definition is gone, and has it again when it is defined again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kinds {
    /// Each with whether it is served.
    custom: Vec<(&'static Kind, bool)>,
}

impl Kinds {
    /// Returns the kind at a place.
    pub(crate) fn at(&self, index: KindIndex) -> &'static Kind {
        match index.custom() {
            None => &KINDS[index.0],
            Some(at) => self.custom[at].0,
        }
    }

    /// Finds the place of a kind that is served.
    pub(crate) fn find(&self, resource: &Resource) -> Option<KindIndex> {
        find(resource).or_else(|| {
            let is_it = |(kind, is_served): &(&'static Kind, bool)| *is_served && kind.resource == *resource;
            self.custom.iter().position(is_it).map(KindIndex::of_custom)
        })
    }

    /// Returns the kinds that are served.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static Kind> + Clone {
        KINDS.iter().chain(self.custom.iter().filter(|(_, is_served)| *is_served).map(|(kind, _)| *kind))
    }

    /// Defines a kind; returns its place.
    pub(crate) fn define(&mut self, names: &CustomNames) -> KindIndex {
        let at = self.custom.iter().position(|(kind, _)| names.is(kind)).unwrap_or_else(|| {
            self.custom.push((names.kind(), false));
            self.custom.len() - 1
        });
        self.custom[at].1 = true;
        KindIndex::of_custom(at)
    }

    /// Serves a kind no more.
    pub(crate) fn retire(&mut self, index: KindIndex) {
        if let Some(at) = index.custom() {
            self.custom[at].1 = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CustomNames, KINDS, KindIndex, Kinds};
    use crate::objects::Text;

    #[test]
    fn a_kind_that_is_defined_again_has_its_place_again() {
        let mut kinds = Kinds::default();
        let names = CustomNames {
            group: Text::of("example.com"),
            version: Text::of("v1"),
            plural: Text::of("widgets"),
            name: Text::of("Widget"),
            has_status: true,
            ..CustomNames::default()
        };
        let index = kinds.define(&names);
        let kind = kinds.at(index);
        assert_eq!((kind.subresources.len(), kind.subresources[0].kind), (1, "Widget"));
        assert_eq!(kinds.find(&kind.resource), Some(index));
        kinds.retire(index);
        assert_eq!((kinds.find(&kind.resource), kinds.iter().count()), (None, KINDS.len()));
        assert_eq!(kinds.define(&names), index);
        assert_eq!(kinds.define(&CustomNames { has_scale: true, ..names }), KindIndex(index.0 + 1));
    }

    #[test]
    fn kinds_stand_in_order_and_once() {
        assert!(KINDS.windows(2).all(|pair| {
            let key = |at: usize| (pair[at].resource.group.as_str(), pair[at].resource.plural.as_str());
            key(0) < key(1)
        }));
    }
}
