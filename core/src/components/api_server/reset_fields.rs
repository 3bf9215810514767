//! Which fields nobody comes to own by a write.
//!
//! Mirrors `GetResetFields` of the strategies in pkg/registry (v1.34). Inputs: kinds and subresources. Outputs: sets of
//! fields. Pure.

use crate::network::kinds::Kind;
use crate::objects::ownership::FieldSet;

/// Returns the fields that every write of a kind resets, so that nobody owns them by it.
///
/// Source: `GetResetFields` of the strategies in pkg/registry (v1.34).
pub(super) fn reset_fields(kind: &Kind, subresource: &str) -> FieldSet {
    match (kind.rules(), subresource) {
        ("Pod", "status") => {
            FieldSet::of(&[&["spec"], &["metadata", "deletionTimestamp"], &["metadata", "ownerReferences"]])
        }
        ("Deployment", "status") => FieldSet::of(&[&["spec"], &["metadata", "labels"]]),
        ("CertificateSigningRequest", "") => FieldSet::of(&[&["spec"], &["status"]]),
        ("CertificateSigningRequest", "status") => FieldSet::of(&[&["spec"], &["status", "conditions"]]),
        ("CertificateSigningRequest", "approval") => FieldSet::of(&[&["spec"], &["status", "certificate"]]),
        (
            "VolumeAttachment"
            | "CSINode"
            | "PodCertificateRequest"
            | "StorageVersionMigration"
            | "DeviceTaintRule"
            | "APIService"
            | "ValidatingAdmissionPolicy"
            | "FlowSchema"
            | "PriorityLevelConfiguration",
            "status",
        ) => FieldSet::of(&[&["metadata"], &["spec"]]),
        // Upstream names another group there, so that nothing is reset.
        ("ServiceCIDR", _) => FieldSet::default(),
        (_, "status") => FieldSet::of(&[&["spec"]]),
        ("Pod", "ephemeralcontainers" | "resize") | (_, "scale") => FieldSet::default(),
        _ if kind.subresource("status").is_some() => FieldSet::of(&[&["status"]]),
        _ => FieldSet::default(),
    }
}

/// The fields that nobody ever owns. Source: managedfields/internal/stripmeta.go (v1.34).
pub(super) fn unowned() -> FieldSet {
    FieldSet::of(&[
        &["apiVersion"],
        &["kind"],
        &["metadata"],
        &["metadata", "name"],
        &["metadata", "namespace"],
        &["metadata", "creationTimestamp"],
        &["metadata", "selfLink"],
        &["metadata", "uid"],
        &["metadata", "clusterName"],
        &["metadata", "generation"],
        &["metadata", "managedFields"],
        &["metadata", "resourceVersion"],
    ])
}
