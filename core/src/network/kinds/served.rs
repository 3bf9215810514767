//! Which kinds and subresources a release serves: those of the table, but for what came later or went.
//!
//! Inputs: a kind, a profile. Outputs: yes or no.

use super::Kind;
use crate::network::Resource;
use crate::profile::Profile;

/// Tells whether a release serves a subresource of a kind.
pub(crate) fn has_subresource(kind: &Kind, name: &str, profile: &Profile) -> bool {
    let row = match (kind.name, name) {
        ("Pod", "resize") => "pods-have-resize",
        ("CSINode", "status") => "csi-nodes-have-status",
        _ => return kind.subresource(name).is_some(),
    };
    profile.is(row)
}

/// Tells whether a release serves a kind.
pub(crate) fn is_served(resource: &Resource, profile: &Profile) -> bool {
    let row = match (resource.group.as_str(), resource.plural.as_str()) {
        ("certificates.k8s.io", "clustertrustbundles" | "podcertificaterequests")
        | ("resource.k8s.io", "devicetaintrules")
        | ("storagemigration.k8s.io", _) => "trust-and-migration-kinds-are-served",
        ("resource.k8s.io", _) => "dynamic-resources-are-served",
        ("networking.k8s.io", "ipaddresses" | "servicecidrs") => "service-cidrs-are-served",
        ("storage.k8s.io", "volumeattributesclasses") => "volume-attributes-classes-are-served",
        ("admissionregistration.k8s.io", "mutatingadmissionpolicies" | "mutatingadmissionpolicybindings") => {
            "mutating-admission-policies-are-served"
        }
        _ => return true,
    };
    profile.is(row)
}
