//! What a kubelet may not change, although it may write the kind: the admission plugin NodeRestriction.
//!
//! Mirrors plugin/pkg/admission/noderestriction/admission.go (v1.31, v1.34, v1.36); it is on, as kubeadm sets it.
//! Inputs: the writer, the write and the stored object. Outputs: 403 with the plugin's words, or 404 for an object that
//! the plugin's caches lack.
//! Left out on purpose: PodCertificateRequests, which are off in all releases; the listing of differences that upstream
//! appends to the refusal of a claim's status.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::admission_write::{Operation, Write};
use super::attributes::Attributes;
use super::node_authoriser::node_of;
use super::{ApiServer, status};
use crate::components::MIRROR;
use crate::components::pod_references;
use crate::components::volumes::{CLAIMS, DRIVERS, VOLUMES};
use crate::json;
use crate::network::{Answer, NODE_LEASES, NODES, PODS};
use crate::objects::kubelet_labels::{is_domain_or_below, is_kubelet_label, is_reserved_label, prefix_of};
use crate::objects::{Json, Object, ObjectKey, aggregate, x509};

/// Source: k8s.io/api core/v1 well_known_labels.go (v1.34), `LabelNamespaceNodeRestriction`.
const RESTRICTED: &str = "node-restriction.kubernetes.io";
/// The CSI drivers that stand for plugins of volumes. Source: k8s.io/csi-translation-lib translate.go, plugins (v0.34).
const MIGRATED: [(&str, &str); 7] = [
    ("gcePersistentDisk", "pd.csi.storage.gke.io"),
    ("awsElasticBlockStore", "ebs.csi.aws.com"),
    ("cinder", "cinder.csi.openstack.org"),
    ("azureDisk", "disk.csi.azure.com"),
    ("azureFile", "file.csi.azure.com"),
    ("vsphereVolume", "csi.vsphere.vmware.com"),
    ("portworxVolume", "pxd.portworx.com"),
];

/// Runs the plugin for a write.
pub(super) fn admit(server: &mut ApiServer, write: &Write<'_>) -> Result<(), Answer> {
    let Some(node) = node_of(&write.origin.identity) else { return Ok(()) };
    if node.is_empty() {
        return write.refuse(&format!("could not determine node from user {:?}", write.origin.identity.user.as_str()));
    }
    match (write.kind.rules(), write.subresource) {
        ("Pod", "") => pod(server, write, node),
        ("Pod", "status") => pod_status(server, write, node),
        ("Pod", "eviction") => {
            let why = format!("node {node} can only evict pods with spec.nodeName set to itself");
            own_pod(server, write, node, &why)
        }
        ("Pod", other) => {
            write.refuse(&format!("unexpected pod subresource {other:?}, only 'status' and 'eviction' are allowed"))
        }
        ("Node", _) => own_node(server, write, node),
        ("PersistentVolumeClaim", "status") => claim_status(write, node),
        ("PersistentVolumeClaim", _) => write.refuse("may only update PVC status"),
        ("ServiceAccount", "token") => token(server, write, node),
        ("Lease", _) => lease(write, node),
        ("CSINode", _) if write.name != node => {
            write.refuse("can only access CSINode with the same name as the requesting node")
        }
        ("ResourceSlice", _) => slice(write, node),
        ("CertificateSigningRequest", "") => certificate(write),
        _ => Ok(()),
    }
}

fn pod(server: &ApiServer, write: &Write<'_>, node: &str) -> Result<(), Answer> {
    match write.operation {
        Operation::Create => new_pod(server, write, node),
        Operation::Delete => {
            let why = format!("node {node:?} can only delete pods with spec.nodeName set to itself");
            own_pod(server, write, node, &why)
        }
        Operation::Update => write
            .refuse(&format!("unexpected operation \"UPDATE\", node {node:?} can only create and delete mirror pods")),
    }
}

fn own_pod(server: &ApiServer, write: &Write<'_>, node: &str, why: &str) -> Result<(), Answer> {
    let key = ObjectKey::namespaced(write.namespace, write.name);
    let Some(pod) = server.object(&PODS, &key) else { return Err(not_cached("pod", write.name)) };
    if bound_to(pod.stable()) == node { Ok(()) } else { write.refuse(why) }
}

fn bound_to(pod: &Json) -> &str {
    pod.at(&["spec", "nodeName"]).as_str().unwrap_or("")
}

/// 404 of a lister, which names the kind in the singular.
fn not_cached(singular: &str, name: &str) -> Answer {
    let details = json!({"name": name, "kind": singular});
    status::failure(404, "NotFound", &format!("{singular} {name:?} not found"), Some(details))
}

fn new_pod(server: &ApiServer, write: &Write<'_>, node: &str) -> Result<(), Answer> {
    let pod = write.tree;
    if pod.at(&["metadata", "annotations", MIRROR]).is_null() {
        return write
            .refuse(&format!("pod does not have {MIRROR:?} annotation, node {node:?} can only create mirror pods"));
    }
    let only = |what: &str| write.refuse(&format!("node {node:?} can only create pods with {what} set to itself"));
    if bound_to(pod) != node {
        return only("spec.nodeName");
    }
    let owner = match pod.at(&["metadata", "ownerReferences"]).items() {
        [] => return only("an owner reference"),
        [owner] => owner,
        _ => return only("a single owner reference"),
    };
    let text = |field: &str| owner.get(field).as_str().unwrap_or("");
    if (text("apiVersion"), text("kind"), text("name")) != ("v1", "Node", node) {
        return only("an owner reference");
    }
    if owner.get("controller").as_bool() != Some(true) {
        return only("a controller owner reference");
    }
    if owner.get("blockOwnerDeletion").as_bool() == Some(true) {
        return write.refuse(&format!("node {node:?} must not set blockOwnerDeletion on an owner reference"));
    }
    let Some(stored) = server.object(&NODES, &ObjectKey::cluster(node)) else { return Err(not_cached("node", node)) };
    if text("uid") != stored.uid() {
        return write.refuse(&format!("node {node} UID mismatch: expected {} got {}", text("uid"), stored.uid()));
    }
    let found = if server.settings.profile().is("mirror-pods-name-no-api-object") {
        pod_references::first_reference(pod)
    } else {
        pod_references::first_reference_before_1_34(pod)
    };
    match found {
        Some(what) => write.refuse(&format!("node {node:?} can not create pods that reference {what}")),
        None => Ok(()),
    }
}

fn pod_status(server: &ApiServer, write: &Write<'_>, node: &str) -> Result<(), Answer> {
    let Some(old) = write.old else { return Ok(()) };
    if bound_to(old) != node {
        return write
            .refuse(&format!("node {node:?} can only update pod status for pods with spec.nodeName set to itself"));
    }
    let differs = |path: &[&str]| !is_same(write.tree.at(path), old.at(path));
    if differs(&["metadata", "labels"]) {
        return write.refuse(&format!("node {node:?} cannot update labels through pod status"));
    }
    if differs(&["status", "resourceClaimStatuses"]) {
        return write.refuse(&format!("node {node:?} cannot update resource claim statues"));
    }
    if server.settings.profile().is("nodes-keep-extended-resource-claims")
        && differs(&["status", "extendedResourceClaimStatus"])
    {
        return write.refuse(&format!("node {node:?} cannot update extended resource claim status"));
    }
    Ok(())
}

/// Compares as upstream does: nothing, an empty list and an empty map are the same.
fn is_same(one: &Json, other: &Json) -> bool {
    one == other || one.is_empty() && other.is_empty()
}

fn own_node(server: &ApiServer, write: &Write<'_>, node: &str) -> Result<(), Answer> {
    if write.name != node {
        return write.refuse(&format!("node {node:?} is not allowed to modify node {:?}", write.name));
    }
    let source = write.tree.at(&["spec", "configSource"]);
    match (write.operation, write.old) {
        (Operation::Create, _) => {
            if !source.is_null() {
                let why = format!("node {node:?} is not allowed to create pods with a non-nil configSource");
                return write.refuse(&why);
            }
            match forbidden_labels(write.tree, &Json::Null).as_slice() {
                [] => Ok(()),
                labels => write.refuse(&format!(
                    "node {node:?} is not allowed to set the following labels: {}",
                    labels.join(", ")
                )),
            }
        }
        (Operation::Update, Some(old)) => {
            if !source.is_null() && source != old.at(&["spec", "configSource"]) {
                let why = format!("node {node:?} is not allowed to update configSource to a new non-nil configSource");
                return write.refuse(&why);
            }
            let differs = |path: &[&str]| !is_same(write.tree.at(path), old.at(path));
            if differs(&["spec", "taints"]) {
                return write.refuse(&format!("node {node:?} is not allowed to modify taints"));
            }
            let keeps_owners = server.settings.profile().is("nodes-keep-their-owner-references");
            if keeps_owners && differs(&["metadata", "ownerReferences"]) {
                return write.refuse(&format!("node {node:?} is not allowed to modify ownerReferences"));
            }
            match forbidden_labels(write.tree, old).as_slice() {
                [] => Ok(()),
                labels => write.refuse(&format!("is not allowed to modify labels: {}", labels.join(", "))),
            }
        }
        _ => Ok(()),
    }
}

/// Returns the labels that differ and that no node may set, in order.
fn forbidden_labels<'a>(tree: &'a Json, old: &'a Json) -> Vec<&'a str> {
    let labels = |tree: &'a Json| tree.at(&["metadata", "labels"]);
    let (new, old) = (labels(tree), labels(old));
    let changed = |from: &'a Json, to: &'a Json| {
        from.fields().filter(move |(key, value)| to.get(key) != *value).map(|(key, _)| key.as_str())
    };
    let is_forbidden =
        |key: &&str| is_domain_or_below(prefix_of(key), RESTRICTED) || is_reserved_label(key) && !is_kubelet_label(key);
    let mut found: Vec<&str> = changed(new, old).chain(changed(old, new)).filter(is_forbidden).collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn claim_status(write: &Write<'_>, node: &str) -> Result<(), Answer> {
    let Some(old) = write.old else { return Ok(()) };
    let rest = |tree: &Json| {
        let mut rest = tree.clone();
        for path in [
            &["metadata", "resourceVersion"][..],
            &["metadata", "managedFields"],
            &["status", "capacity"],
            &["status", "conditions"],
            &["status", "allocatedResources"],
            &["status", "allocatedResourceStatuses"],
        ] {
            rest.remove(path);
        }
        if rest.get("status").is_empty() {
            rest.remove(&["status"]);
        }
        rest
    };
    if rest(write.tree) == rest(old) {
        return Ok(());
    }
    write.refuse(&format!(
        "node {node:?} is not allowed to update fields other than status.quantity and status.conditions: "
    ))
}

fn token(server: &mut ApiServer, write: &Write<'_>, node: &str) -> Result<(), Answer> {
    let bound = write.tree.at(&["spec", "boundObjectRef"]);
    let text = |field: &str| bound.get(field).as_str().unwrap_or("");
    if (text("apiVersion"), text("kind")) != ("v1", "Pod") || text("name").is_empty() {
        return write.refuse("node requested token not bound to a pod");
    }
    let uid = text("uid");
    if uid.is_empty() {
        return write.refuse("node requested token with a pod binding without a uid");
    }
    let Some(pod) = server.object(&PODS, &ObjectKey::namespaced(write.namespace, text("name"))) else {
        return Err(not_cached("pod", text("name")));
    };
    if uid != pod.uid() {
        return write.refuse(&format!(
            "the UID in the bound object reference ({uid}) does not match the UID in record. The object might have \
             been deleted and then recreated"
        ));
    }
    if bound_to(pod.stable()) != node {
        return write.refuse("node requested token bound to a pod scheduled on a different node");
    }
    if server.settings.profile().is("node-tokens-for-audiences-of-pods") {
        audience(server, write, &pod)
    } else {
        Ok(())
    }
}

/// Refuses a token for an audience that the Pod does not mention.
fn audience(server: &mut ApiServer, write: &Write<'_>, pod: &Object) -> Result<(), Answer> {
    let wanted = match write.tree.at(&["spec", "audiences"]).items() {
        [] => "",
        [one] => one.as_str().unwrap_or(""),
        _ => return write.refuse("node may only request 0 or 1 audiences"),
    };
    if mentions(server, pod, wanted)
        .map_err(|why| write.refusal(&format!("error validating audience {wanted:?}: {why}")))?
    {
        return Ok(());
    }
    let identity = write.origin.identity.clone();
    let asked = Attributes {
        verb: "request-serviceaccounts-token-audience",
        namespace: write.namespace,
        resource: wanted,
        name: write.name,
        ..Attributes::default()
    };
    if server.authorise(&identity, &asked).is_ok() {
        return Ok(());
    }
    let user = &identity.user;
    // Source: plugin/pkg/admission/noderestriction/admission.go (v1.37), `validateNodeServiceAccountAudience`.
    if server.settings.profile().is("audience-refusal-names-user-first") {
        return write.refuse(&format!("{user} is not authorized to request tokens for audience {wanted:?}"));
    }
    write.refuse(&format!(
        "audience {wanted:?} not found in pod spec volume, {user} is not authorized to request tokens for this audience"
    ))
}

/// Tells whether a volume of a Pod holds tokens for an audience, or is of a driver that asks for such.
fn mentions(server: &ApiServer, pod: &Object, audience: &str) -> Result<bool, String> {
    let tree = pod.stable();
    let mut errors: Vec<String> = Vec::new();
    for volume in tree.at(&["spec", "volumes"]).items() {
        let is_meant = |token: &Json| !token.is_null() && token.get("audience").as_str().unwrap_or("") == audience;
        let mut sources = volume.at(&["projected", "sources"]).items().iter();
        if sources.any(|source| is_meant(source.get("serviceAccountToken"))) {
            return Ok(true);
        }
        match driver_of(server, pod, volume).and_then(|driver| asks_for(server, driver.as_deref(), audience)) {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            Err(why) => errors.push(why),
        }
    }
    aggregate(errors).map_or(Ok(false), Err)
}

fn driver_of(server: &ApiServer, pod: &Object, volume: &Json) -> Result<Option<String>, String> {
    let text = |json: &Json| json.as_str().unwrap_or("").into();
    let claim: String = if volume.at(&["ephemeral", "volumeClaimTemplate"]).is_object() {
        format!("{}-{}", pod.name(), volume.get("name").as_str().unwrap_or(""))
    } else if volume.get("persistentVolumeClaim").is_object() {
        text(volume.at(&["persistentVolumeClaim", "claimName"]))
    } else {
        return Ok(driver_in(volume));
    };
    let key = ObjectKey::namespaced(pod.key().namespace, claim.as_str());
    let found = server.object(&CLAIMS, &key).ok_or_else(|| format!("persistentvolumeclaim {claim:?} not found"))?;
    let name: String = text(found.stable().at(&["spec", "volumeName"]));
    let volume = server.object(&VOLUMES, &ObjectKey::cluster(name.as_str()));
    let volume = volume.ok_or_else(|| format!("persistentvolume {name:?} not found"))?;
    Ok(driver_in(volume.stable().get("spec")))
}

/// Returns the CSI driver of the source of a volume; the plugins that were once built in have one each.
fn driver_in(source: &Json) -> Option<String> {
    let migrated = || MIGRATED.iter().find(|(field, _)| source.get(field).is_object()).map(|(_, driver)| *driver);
    source.at(&["csi", "driver"]).as_str().or_else(migrated).map(String::from)
}

fn asks_for(server: &ApiServer, driver: Option<&str>, audience: &str) -> Result<bool, String> {
    let Some(driver) = driver.filter(|driver| !driver.is_empty()) else { return Ok(false) };
    let found = server.object(&DRIVERS, &ObjectKey::cluster(driver));
    let found = found.ok_or_else(|| format!("csidriver.storage.k8s.io {driver:?} not found"))?;
    let mut tokens = found.stable().at(&["spec", "tokenRequests"]).items().iter();
    Ok(tokens.any(|token| token.get("audience").as_str().unwrap_or("") == audience))
}

fn lease(write: &Write<'_>, node: &str) -> Result<(), Answer> {
    if write.namespace != NODE_LEASES {
        return write.refuse(&format!("can only access leases in the {NODE_LEASES:?} system namespace"));
    }
    if write.name != node {
        return write.refuse("can only access node lease with the same name as the requesting node");
    }
    Ok(())
}

fn slice(write: &Write<'_>, node: &str) -> Result<(), Answer> {
    let is_own = |tree: &Json| tree.at(&["spec", "nodeName"]).as_str() == Some(node);
    match write.operation {
        Operation::Create if !is_own(write.tree) => {
            write.refuse("can only create ResourceSlice with the same NodeName as the requesting node")
        }
        Operation::Delete if !is_own(write.tree) => {
            write.refuse("can only delete ResourceSlice with the same NodeName as the requesting node")
        }
        _ => Ok(()),
    }
}

/// Refuses a request for a certificate of another node.
fn certificate(write: &Write<'_>) -> Result<(), Answer> {
    const SIGNERS: [&str; 2] = ["kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet"];
    let text = |field: &str| write.tree.at(&["spec", field]).as_str().unwrap_or("");
    if write.operation != Operation::Create || !SIGNERS.contains(&text("signerName")) {
        return Ok(());
    }
    let user = write.origin.identity.user.as_str();
    match x509::read_request(text("request")) {
        Err(why) => write.refuse(&format!("unable to parse csr: {why}")),
        Ok(request) if request.subject.common_name == user => Ok(()),
        Ok(_) => write.refuse(&format!("can only create a node CSR with CN={user}")),
    }
}
