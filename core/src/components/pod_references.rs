//! Which other objects a Pod or a volume names.
//!
//! Mirrors pkg/api/v1/pod/util.go (`VisitPodSecretNames`, `VisitPodConfigmapNames`), pkg/api/pod/util.go
//! (`HasAPIObjectReference`) and pkg/api/v1/persistentvolume/util.go (v1.34). Inputs: trees. Outputs: names.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::objects::Json;

/// A kind of objects that a Pod can name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reference {
    Secret,
    ConfigMap,
    Claim,
    ServiceAccount,
    ResourceClaim,
}

/// Where the kinds of volumes name a secret. Source: k8s.io/api core/v1 types.go (v1.34).
const VOLUME_SECRETS: [&[&str]; 10] = [
    &["azureFile", "secretName"],
    &["cephfs", "secretRef", "name"],
    &["cinder", "secretRef", "name"],
    &["flexVolume", "secretRef", "name"],
    &["rbd", "secretRef", "name"],
    &["secret", "secretName"],
    &["scaleIO", "secretRef", "name"],
    &["iscsi", "secretRef", "name"],
    &["storageos", "secretRef", "name"],
    &["csi", "nodePublishSecretRef", "name"],
];

/// Where a PersistentVolume names a secret that kubelets need.
const NEEDED_SECRETS: [&[&str]; 10] = [
    &["cephfs", "secretRef"],
    &["cinder", "secretRef"],
    &["flexVolume", "secretRef"],
    &["rbd", "secretRef"],
    &["scaleIO", "secretRef"],
    &["iscsi", "secretRef"],
    &["storageos", "secretRef"],
    &["csi", "nodePublishSecretRef"],
    &["csi", "nodeStageSecretRef"],
    &["csi", "nodeExpandSecretRef"],
];

fn containers(pod: &Json) -> impl Iterator<Item = &Json> {
    ["initContainers", "containers", "ephemeralContainers"].into_iter().flat_map(|list| pod.at(&["spec", list]).items())
}

/// Returns the names of one kind that a Pod refers to.
pub(crate) fn names(pod: &Json, what: Reference) -> Vec<String> {
    let mut names = Vec::new();
    let mut add = |name: &Json| names.extend(name.as_str().filter(|name| !name.is_empty()).map(ToString::to_string));
    let spec = pod.get("spec");
    let volumes = spec.get("volumes").items();
    let sources = volumes.iter().flat_map(|volume| volume.at(&["projected", "sources"]).items());
    match what {
        Reference::Secret => {
            spec.get("imagePullSecrets").items().iter().for_each(|secret| add(secret.get("name")));
            in_containers(pod, ("secretRef", "secretKeyRef"), &mut add);
            volumes.iter().for_each(|volume| VOLUME_SECRETS.iter().for_each(|path| add(volume.at(path))));
            sources.for_each(|source| add(source.at(&["secret", "name"])));
        }
        Reference::ConfigMap => {
            in_containers(pod, ("configMapRef", "configMapKeyRef"), &mut add);
            volumes.iter().for_each(|volume| add(volume.at(&["configMap", "name"])));
            sources.for_each(|source| add(source.at(&["configMap", "name"])));
        }
        Reference::Claim => {
            for volume in volumes {
                add(volume.at(&["persistentVolumeClaim", "claimName"]));
                if volume.get("ephemeral").is_object() {
                    let text = |json: &Json| json.as_str().unwrap_or("").to_string();
                    let name = format!("{}-{}", text(pod.at(&["metadata", "name"])), text(volume.get("name")));
                    add(&Json::from(name));
                }
            }
        }
        Reference::ServiceAccount => add(spec.get("serviceAccountName")),
        Reference::ResourceClaim => {
            spec.get("resourceClaims").items().iter().for_each(|claim| add(claim.get("resourceClaimName")));
            let made = pod.at(&["status", "resourceClaimStatuses"]).items();
            made.iter().for_each(|claim| add(claim.get("resourceClaimName")));
            add(pod.at(&["status", "extendedResourceClaimStatus", "resourceClaimName"]));
        }
    }
    names
}

fn in_containers(pod: &Json, (whole, key): (&str, &str), add: &mut impl FnMut(&Json)) {
    for container in containers(pod) {
        container.get("envFrom").items().iter().for_each(|source| add(source.at(&[whole, "name"])));
        container.get("env").items().iter().for_each(|variable| add(variable.at(&["valueFrom", key, "name"])));
    }
}

/// Volumes that refer to no API object. Source: pkg/api/pod/util.go (v1.34), `HasAPIObjectReference`.
const PLAIN_VOLUMES: [&str; 22] = [
    "awsElasticBlockStore",
    "azureDisk",
    "cephfs",
    "cinder",
    "downwardAPI",
    "emptyDir",
    "fc",
    "flexVolume",
    "flocker",
    "gcePersistentDisk",
    "gitRepo",
    "hostPath",
    "image",
    "iscsi",
    "nfs",
    "photonPersistentDisk",
    "portworxVolume",
    "quobyte",
    "rbd",
    "scaleIO",
    "storageos",
    "vsphereVolume",
];
/// Volumes that refer to API objects, with their names in messages, in the order of the checks.
const OTHER_VOLUMES: [(&str, &str); 7] = [
    ("configMap", "configmaps (via configmap volumes)"),
    ("secret", "secrets (via secret volumes)"),
    ("csi", "csidrivers (via CSI volumes)"),
    ("glusterfs", "endpoints (via glusterFS volumes)"),
    ("persistentVolumeClaim", "persistentvolumeclaims"),
    ("ephemeral", "persistentvolumeclaims (via ephemeral volumes)"),
    ("azureFile", "secrets (via azureFile volumes)"),
];
/// Parts of projected volumes that refer to API objects.
const PROJECTED: [(&str, &str); 5] = [
    ("configMap", "configmaps (via projected volumes)"),
    ("secret", "secrets (via projected volumes)"),
    ("serviceAccountToken", "serviceaccounts (via projected volumes)"),
    ("clusterTrustBundle", "clustertrustbundles"),
    ("podCertificate", "podcertificates"),
];

/// Returns the first kind that a Pod refers to, as the refusal of a mirror Pod names it.
/// Source: pkg/api/pod/util.go (v1.34), `HasAPIObjectReference`.
pub(crate) fn first_reference(pod: &Json) -> Option<&'static str> {
    for (what, plural) in [
        (Reference::ServiceAccount, "serviceaccounts"),
        (Reference::Secret, "secrets"),
        (Reference::ConfigMap, "configmaps"),
    ] {
        if !names(pod, what).is_empty() {
            return Some(plural);
        }
    }
    if !pod.at(&["spec", "resourceClaims"]).is_empty() {
        return Some("resourceclaims");
    }
    pod.at(&["spec", "volumes"]).items().iter().find_map(|volume| {
        let has = |(field, _): &&(&str, &str)| !volume.get(field).is_null();
        if PLAIN_VOLUMES.iter().any(|field| !volume.get(field).is_null()) {
            return None;
        }
        OTHER_VOLUMES.iter().find(has).map(|(_, plural)| *plural).or_else(|| {
            volume.at(&["projected", "sources"]).items().iter().find_map(|source| {
                PROJECTED.iter().find(|(field, _)| !source.get(field).is_null()).map(|(_, plural)| *plural)
            })
        })
    })
}

/// Returns the first kind that a Pod refers to, in the words of older releases.
/// Source: plugin/pkg/admission/noderestriction/admission.go (v1.31), `admitPodCreate`.
pub(crate) fn first_reference_before_1_34(pod: &Json) -> Option<&'static str> {
    let volumes = pod.at(&["spec", "volumes"]).items();
    let mut sources = volumes.iter().flat_map(|volume| volume.at(&["projected", "sources"]).items());
    let checks = [
        ("a service account", !names(pod, Reference::ServiceAccount).is_empty()),
        ("secrets", !names(pod, Reference::Secret).is_empty()),
        ("configmaps", !names(pod, Reference::ConfigMap).is_empty()),
        ("clustertrustbundles", sources.any(|source| !source.get("clusterTrustBundle").is_null())),
        ("persistentvolumeclaims", volumes.iter().any(|volume| !volume.get("persistentVolumeClaim").is_null())),
    ];
    checks.into_iter().find(|(_, found)| *found).map(|(plural, _)| plural)
}

/// Returns the secrets, with their namespaces, that kubelets need for a PersistentVolume.
pub(crate) fn secrets_of_volume(volume: &Json) -> Vec<(String, String)> {
    let spec = volume.get("spec");
    let home = spec.at(&["claimRef", "namespace"]).as_str().unwrap_or("");
    let mut secrets = Vec::new();
    let mut add = |namespace: &Json, name: &Json| {
        if let Some(name) = name.as_str().filter(|name| !name.is_empty()) {
            let namespace = namespace.as_str().filter(|namespace| !namespace.is_empty()).unwrap_or(home);
            secrets.push((namespace.to_string(), name.to_string()));
        }
    };
    add(spec.at(&["azureFile", "secretNamespace"]), spec.at(&["azureFile", "secretName"]));
    for path in NEEDED_SECRETS {
        let secret = spec.at(path);
        add(secret.get("namespace"), secret.get("name"));
    }
    secrets
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::{Reference, first_reference, first_reference_before_1_34, names, secrets_of_volume};
    use crate::json;

    #[test]
    fn all_places_of_a_pod_that_name_something_are_found() {
        let pod = json!({"metadata": {"name": "p"}, "spec": {"serviceAccountName": "sa",
            "imagePullSecrets": [{"name": "pull"}],
            "initContainers": [{"envFrom": [{"secretRef": {"name": "from"}}, {"configMapRef": {"name": "map"}}]}],
            "containers": [{"env": [{"valueFrom": {"secretKeyRef": {"name": "key"}}},
                {"valueFrom": {"configMapKeyRef": {"name": "mapkey"}}}]}],
            "resourceClaims": [{"name": "gpu", "resourceClaimName": "claim"}],
            "volumes": [{"name": "a", "secret": {"secretName": "vol"}}, {"name": "b", "configMap": {"name": "volmap"}},
                {"name": "c", "projected": {"sources": [{"secret": {"name": "proj"}}]}},
                {"name": "d", "persistentVolumeClaim": {"claimName": "pvc"}}, {"name": "e", "ephemeral": {}}]}});
        assert_eq!(names(&pod, Reference::Secret), ["pull", "from", "key", "vol", "proj"]);
        assert_eq!(names(&pod, Reference::ConfigMap), ["map", "mapkey", "volmap"]);
        assert_eq!(names(&pod, Reference::Claim), ["pvc", "p-e"]);
        assert_eq!(names(&pod, Reference::ServiceAccount), ["sa"]);
        assert_eq!(names(&pod, Reference::ResourceClaim), ["claim"]);
        assert_eq!(first_reference(&pod), Some("serviceaccounts"));
        assert_eq!(first_reference_before_1_34(&pod), Some("a service account"));
        for (volume, first, before) in [
            (json!({"emptyDir": {}}), None, None),
            (json!({"ephemeral": {}}), Some("persistentvolumeclaims (via ephemeral volumes)"), None),
            (json!({"csi": {"driver": "d"}}), Some("csidrivers (via CSI volumes)"), None),
            (json!({"projected": {"sources": [{"downwardAPI": {}}]}}), None, None),
            (json!({"persistentVolumeClaim": {}}), Some("persistentvolumeclaims"), Some("persistentvolumeclaims")),
        ] {
            let mut pod = json!({});
            pod.set(&["spec", "volumes"], Vec::from([volume]));
            assert_eq!((first_reference(&pod), first_reference_before_1_34(&pod)), (first, before), "{pod}");
        }
    }

    #[test]
    fn secrets_that_only_the_controllers_of_a_driver_need_are_none_of_the_kubelets() {
        let volume = json!({"spec": {"claimRef": {"namespace": "ns", "name": "c"}, "csi": {
            "nodeStageSecretRef": {"name": "stage", "namespace": "x"}, "controllerPublishSecretRef": {"name": "no"}}}});
        assert_eq!(secrets_of_volume(&volume), [("x".into(), "stage".into())]);
    }
}
