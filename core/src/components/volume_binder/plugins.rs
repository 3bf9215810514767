//! The plugins of volumes that the controller has itself, and the drivers that serve those it had.
//!
//! Mirrors cmd/kube-controller-manager/app/plugins.go, pkg/volume/{plugins.go,hostpath,nfs,csimigration} and
//! k8s.io/csi-translation-lib (v1.34). Inputs: names, specs of volumes. Outputs: a driver, or why there is none.
//! Left out on purpose: that hostPath provisions (`--enable-hostpath-provisioner`), and what is in a node's folders.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::objects::{Json, Object};

/// The old plugins, with the CSI drivers that serve their volumes.
/// Source: k8s.io/csi-translation-lib plugins (v0.34); CSIMigrationPortworx is on by default since 1.31.
const MIGRATED: [(&str, &str); 7] = [
    ("kubernetes.io/aws-ebs", "ebs.csi.aws.com"),
    ("kubernetes.io/gce-pd", "pd.csi.storage.gke.io"),
    ("kubernetes.io/azure-disk", "disk.csi.azure.com"),
    ("kubernetes.io/azure-file", "file.csi.azure.com"),
    ("kubernetes.io/cinder", "cinder.csi.openstack.org"),
    ("kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"),
    ("kubernetes.io/portworx-volume", "pxd.portworx.com"),
];
const HOST_PATH: &str = "kubernetes.io/host-path";
const NFS: &str = "kubernetes.io/nfs";

/// The annotation of a volume whose driver took over for an old plugin.
/// Source: k8s.io/component-helpers storage/volume/pv_helpers.go (v1.34), `AnnMigratedTo`.
const MIGRATED_TO: &str = "pv.kubernetes.io/migrated-to";
/// The annotation of a volume with the provisioner that made it.
/// Source: as [`MIGRATED_TO`], `AnnDynamicallyProvisioned`.
pub(super) const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";

/// Who makes the volumes of a class.
pub(super) enum Provisioner<'a> {
    /// A program of this name.
    External(&'a str),
    /// The controller itself, by its plugin for the folders of nodes.
    Folders,
}

/// Says why the controller makes no folder for a claim.
///
/// Source: pv_controller.go (v1.34), `provisionClaimOperation`; pkg/volume/hostpath/host_path.go, `NewProvisioner`.
pub(super) fn no_folder(class: &Object) -> String {
    let options: Vec<&str> = class.stable().get("mountOptions").items().iter().filter_map(Json::as_str).collect();
    if options.is_empty() {
        return format!("Failed to create provisioner: provisioning in volume plugin {HOST_PATH:?} is disabled");
    }
    format!(
        "Mount options are not supported by the provisioner but StorageClass {:?} has mount options [{}]",
        class.name(),
        options.join(" ")
    )
}

/// Returns the provisioner that a class asks for.
///
/// # Errors
/// Why there is none.
pub(super) fn provisioner_of(name: &str) -> Result<Provisioner<'_>, String> {
    if let Some((_, driver)) = MIGRATED.iter().find(|(old, _)| *old == name) {
        return Ok(Provisioner::External(driver));
    }
    match name {
        HOST_PATH => Ok(Provisioner::Folders),
        NFS => Err(String::from("no provisionable volume plugin matched")),
        _ if name.starts_with("kubernetes.io/") => Err(format!("no volume plugin matched name: {name}")),
        _ => Ok(Provisioner::External(name)),
    }
}

/// What deletes a released volume.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Deleter {
    /// The provisioner of its driver.
    External,
    /// The controller itself, at once.
    Own,
}

/// Returns what deletes a released volume.
///
/// Source: pv_controller.go (v1.34), `reclaimVolume`, `findDeletablePlugin`, `doDeleteVolume`.
///
/// # Errors
/// Why nothing does.
pub(super) fn deleter_of(volume: &Object) -> Result<Deleter, String> {
    let annotation = |name: &str| volume.stable().at(&["metadata", "annotations", name]).as_str();
    let spec = volume.stable().get("spec");
    if annotation(MIGRATED_TO).is_some_and(|driver| !driver.is_empty()) {
        return Ok(Deleter::External);
    }
    match annotation(PROVISIONED_BY).filter(|name| !name.is_empty()) {
        Some(HOST_PATH) => {}
        Some(NFS) => return Err(String::from("no deletable volume plugin matched")),
        // The annotation that upstream writes before it looks names the driver.
        Some(name) if MIGRATED.iter().any(|(old, _)| *old == name) => return Ok(Deleter::External),
        Some(name) if name.starts_with("kubernetes.io/") => {
            return Err(format!("no volume plugin matched name: {name}"));
        }
        Some(_) => return Ok(Deleter::External),
        None if annotation(MIGRATED_TO).is_some() || !spec.get("csi").is_null() => return Ok(Deleter::External),
        None if !spec.get("hostPath").is_null() => {}
        None => {
            let why = if spec.get("nfs").is_null() {
                "no volume plugin matched"
            } else {
                "no deletable volume plugin matched"
            };
            return Err(format!("error getting deleter volume plugin for volume {:?}: {why}", volume.name()));
        }
    }
    let path = spec.at(&["hostPath", "path"]).as_str().unwrap_or("");
    // As the regular expression `/tmp/.+`, which may begin anywhere.
    if path.split_once("/tmp/").is_some_and(|(_, rest)| !rest.is_empty()) {
        Ok(Deleter::Own)
    } else {
        Err(format!("host_path deleter only supports /tmp/.+ but received provided {path}"))
    }
}
