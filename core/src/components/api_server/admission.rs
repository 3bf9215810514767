//! What the built-in admission plugins change and refuse.
//!
//! Mirrors plugin/pkg/admission/{nodetaint,defaulttolerationseconds,runtimeclass,podtopologylabels} (v1.36) and runs
//! these with ServiceAccount, NodeRestriction and Priority in the order of pkg/kubeapiserver/options/plugins.go.
//! Inputs: an authorised write. Outputs: its tree with what the plugins change, or the first refusal. Left out on
//! purpose: plugins that act only on objects which are not modelled.

mod pod_security;
mod resource_quota;
mod runtime_class;

use alloc::string::String;
use alloc::vec::Vec;

use super::admission_write::{Operation, Write};
use super::call::RequestInfo;
use super::validation::networking::CLASS_ANNOTATION;
use super::{
    ApiServer, Origin, certificates, limit_ranger, node_restriction, priority, service_accounts, storage_kinds,
};
use crate::components::volumes::{BETA_CLASS, CLASSES, default_class};
use crate::json;
use crate::network::kinds::Kind;
use crate::network::{Answer, NODES, Resource};
use crate::objects::lifecycle::newest_marked;
use crate::objects::quantity::Quantity;
use crate::objects::{Json, ObjectKey};

/// Runs the plugins for a new object.
pub(super) fn create(
    server: &mut ApiServer,
    kind: &'static Kind,
    origin: &Origin,
    tree: &mut Json,
) -> Result<(), Answer> {
    limit_ranger::set_defaults(server, kind, "", tree, true);
    if kind.rules() == "Pod" && server.plugins.runs("ServiceAccount") {
        service_accounts::admit(server, kind, tree)?;
    }
    restrict_nodes(server, &new(kind, origin, tree))?;
    match kind.rules() {
        "Node"
            if server.plugins.runs("TaintNodesByCondition")
                && server.settings.profile().is("conditions-make-no-schedule-taints") =>
        {
            taint_new_node(tree);
        }
        "Pod" => {
            if server.plugins.runs("Priority") {
                priority::set_priority(server, kind, tree)?;
            }
            add_default_tolerations(server, tree);
            runtime_class::admit(server, kind, tree)?;
            let node = tree.at(&["spec", "nodeName"]).as_text().cloned().unwrap_or_default();
            add_topology_labels(server, &node, tree);
        }
        "Ingress" if server.plugins.runs("DefaultIngressClass") => add_default_ingress_class(server, tree),
        "PersistentVolume" | "PersistentVolumeClaim" | "VolumeAttributesClass" => {
            if kind.rules() == "PersistentVolumeClaim" && server.plugins.runs("DefaultStorageClass") {
                add_default_class(server, tree);
            }
            if server.plugins.runs("StorageObjectInUseProtection") {
                storage_kinds::protect(kind.name, tree);
            }
        }
        _ => {}
    }
    Ok(())
}

/// Runs the plugins that refuse a valid new object, or warn of it.
pub(super) fn validate_create(
    server: &mut ApiServer,
    kind: &'static Kind,
    origin: &Origin,
    tree: &Json,
    is_dry_run: bool,
    warnings: &mut Vec<String>,
) -> Result<(), Answer> {
    limit_ranger::check(server, kind, "", tree, None)?;
    let write = new(kind, origin, tree);
    warnings.extend(pod_security::admit(server, &write)?);
    runtime_class::check_overhead(server, kind, tree)?;
    match kind.rules() {
        "PriorityClass" if server.plugins.runs("Priority") => priority::only_one_default(server, kind, tree)?,
        "CertificateSigningRequest" if server.plugins.runs("CertificateSubjectRestriction") => {
            certificates::restrict_subject(&write)?;
        }
        _ => {}
    }
    resource_quota::charge(server, &write, is_dry_run)
}

/// Describes how a new object is made.
fn new<'a>(kind: &'static Kind, origin: &'a Origin, tree: &'a Json) -> Write<'a> {
    let text = |field: &str| tree.at(&["metadata", field]).as_str().unwrap_or("");
    Write {
        kind,
        subresource: "",
        operation: Operation::Create,
        namespace: text("namespace"),
        name: text("name"),
        tree,
        old: None,
        origin,
    }
}

/// Gives a claim that names no class the default one.
///
/// Source: plugin/pkg/admission/storage/storageclass/setdefault/admission.go (v1.34).
fn add_default_class(server: &ApiServer, tree: &mut Json) {
    let named = !tree.at(&["spec", "storageClassName"]).is_null()
        || !tree.at(&["metadata", "annotations", BETA_CLASS]).is_null();
    if named {
        return;
    }
    let classes = server.objects(&CLASSES);
    if let Some(class) = default_class(classes.iter()) {
        tree.set(&["spec", "storageClassName"], class.name());
    }
}

/// Gives an Ingress that names no class the default one.
///
/// Source: plugin/pkg/admission/network/defaultingressclass/admission.go (v1.34).
fn add_default_ingress_class(server: &ApiServer, tree: &mut Json) {
    const CLASSES: Resource = Resource::of("networking.k8s.io", "v1", "ingressclasses");
    let named = !tree.at(&["spec", "ingressClassName"]).is_null()
        || !tree.at(&["metadata", "annotations", CLASS_ANNOTATION]).is_null();
    let classes = server.objects(&CLASSES);
    let class = newest_marked(classes.iter(), &["ingressclass.kubernetes.io/is-default-class"]);
    if let Some(class) = class.filter(|_| !named) {
        tree.set(&["spec", "ingressClassName"], class.name());
    }
}

fn restrict_nodes(server: &mut ApiServer, write: &Write<'_>) -> Result<(), Answer> {
    if server.plugins.runs("NodeRestriction") { node_restriction::admit(server, write) } else { Ok(()) }
}

/// Runs the plugins for a change.
pub(super) fn update(
    server: &mut ApiServer,
    info: &RequestInfo,
    origin: &Origin,
    old: &Json,
    tree: &mut Json,
) -> Result<(), Answer> {
    limit_ranger::set_defaults(server, info.kind, &info.subresource, tree, false);
    let write = Write::of(info, origin, Operation::Update, tree, Some(old));
    restrict_nodes(server, &write)?;
    if info.kind.name == "Pod" && info.subresource.is_empty() {
        if server.plugins.runs("Priority") {
            priority::keep(tree, old);
        }
        add_default_tolerations(server, tree);
    }
    Ok(())
}

/// Runs the plugins that refuse a change which is valid in itself, or warn of it, and change nothing.
pub(super) fn validate_update(
    server: &mut ApiServer,
    info: &RequestInfo,
    origin: &Origin,
    (tree, old): (&Json, &Json),
    is_dry_run: bool,
    warnings: &mut Vec<String>,
) -> Result<(), Answer> {
    limit_ranger::check(server, info.kind, &info.subresource, tree, Some(old))?;
    let write = Write::of(info, origin, Operation::Update, tree, Some(old));
    warnings.extend(pod_security::admit(server, &write)?);
    match info.kind.name {
        "PriorityClass" if server.plugins.runs("Priority") => priority::only_one_default(server, info.kind, tree)?,
        "PersistentVolumeClaim" if info.subresource.is_empty() => check_growth(server, &write, old)?,
        "CertificateSigningRequest" => certificates::check_signer(server, &write, origin, old)?,
        _ => {}
    }
    resource_quota::charge(server, &write, is_dry_run)
}

/// Refuses more room for a claim whose class does not allow it.
/// Source: plugin/pkg/admission/storage/persistentvolume/resize/admission.go (v1.34).
fn check_growth(server: &ApiServer, write: &Write<'_>, old: &Json) -> Result<(), Answer> {
    const SIZE: [&str; 4] = ["spec", "resources", "requests", "storage"];
    let size = |of: &Json| Quantity::from_json(of.at(&SIZE));
    if !server.plugins.runs("PersistentVolumeClaimResize") || size(write.tree) <= size(old) {
        return Ok(());
    }
    if old.at(&["status", "phase"]).as_str() != Some("Bound") {
        return write.refuse("Only bound persistent volume claims can be expanded");
    }
    let class = |of: &Json| {
        let noted = of.at(&["metadata", "annotations", BETA_CLASS]).as_text();
        noted.or_else(|| of.at(&["spec", "storageClassName"]).as_text()).cloned().unwrap_or_default()
    };
    let name = class(write.tree);
    let found = server.object(&CLASSES, &ObjectKey::cluster(&name));
    let allows = found.is_some_and(|class| class.stable().get("allowVolumeExpansion").as_bool() == Some(true));
    if allows && !name.is_empty() && name == class(old) {
        return Ok(());
    }
    write.refuse(
        "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support \
         resize",
    )
}

/// Runs the plugins for a deletion.
pub(super) fn delete(server: &mut ApiServer, info: &RequestInfo, origin: &Origin, old: &Json) -> Result<(), Answer> {
    let write = Write::of(info, origin, Operation::Delete, old, Some(old));
    restrict_nodes(server, &write)
}

/// Runs the plugins for what is posted to a subresource.
pub(super) fn connect(server: &mut ApiServer, info: &RequestInfo, origin: &Origin, body: &Json) -> Result<(), Answer> {
    let write = Write::of(info, origin, Operation::Create, body, None);
    restrict_nodes(server, &write)
}

/// Gives a pod the zone and region of the node to which it is bound.
/// Source: plugin/pkg/admission/podtopologylabels/admission.go (v1.35).
pub(super) fn add_topology_labels(server: &ApiServer, node: &str, tree: &mut Json) {
    let is_on = server.settings.profile().is("pod-topology-labels") && server.plugins.runs("PodTopologyLabels");
    if node.is_empty() || !is_on {
        return;
    }
    let Some(node) = server.object(&NODES, &ObjectKey::cluster(node)) else { return };
    for label in ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"] {
        let value = node.stable().at(&["metadata", "labels", label]);
        if !value.is_null() {
            tree.set(&["metadata", "labels", label], value.clone());
        }
    }
}

/// Source: plugin/pkg/admission/nodetaint/admission.go (v1.34), TaintNodesByCondition.
fn taint_new_node(tree: &mut Json) {
    const NOT_READY: &str = "node.kubernetes.io/not-ready";
    let has = tree.at(&["spec", "taints"]).items().iter().any(|taint| {
        taint.get("key").as_str() == Some(NOT_READY) && taint.get("effect").as_str() == Some("NoSchedule")
    });
    if !has {
        let taint = json!({"key": NOT_READY, "effect": "NoSchedule"});
        tree.entry(&["spec", "taints"]).make_array().push(taint);
    }
}

/// Source: plugin/pkg/admission/defaulttolerationseconds/admission.go (v1.34).
fn add_default_tolerations(server: &ApiServer, tree: &mut Json) {
    if !server.plugins.runs("DefaultTolerationSeconds") {
        return;
    }
    let rows = [
        ("node.kubernetes.io/not-ready", "default-not-ready-toleration-seconds"),
        ("node.kubernetes.io/unreachable", "default-unreachable-toleration-seconds"),
    ];
    for (key, row) in rows {
        let has = tree.at(&["spec", "tolerations"]).items().iter().any(|toleration| {
            matches!(toleration.get("key").as_str(), Some(found) if found == key || found.is_empty())
                && matches!(toleration.get("effect").as_str(), None | Some("" | "NoExecute"))
                || toleration.get("key").is_null()
                    && matches!(toleration.get("effect").as_str(), None | Some("" | "NoExecute"))
        });
        if !has {
            #[expect(clippy::cast_possible_truncation, reason = "a count of seconds, given as a whole number")]
            let seconds = server.settings.number(row) as i64;
            let toleration =
                json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds});
            tree.entry(&["spec", "tolerations"]).make_array().push(toleration);
        }
    }
}
