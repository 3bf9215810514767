//! Fields of Pods and their templates that a server drops while their feature gate is off, unless the stored object
//! uses them.
//!
//! Mirrors pkg/api/pod/util.go (v1.34), `dropDisabledFields`. Inputs: an object, what is stored, and the gates. Output:
//! the object without them.

use crate::network::kinds::Kind;
use crate::objects::{Json, NULL};
use crate::profile::Settings;

const LISTS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// Drops them from a Pod, or from the template of another object.
pub(in super::super) fn drop_disabled(kind: &Kind, tree: &mut Json, old: Option<&Json>, settings: &Settings) {
    let path: &[&str] = match kind.name {
        "Pod" => &["spec"],
        "CronJob" => &["spec", "jobTemplate", "spec", "template", "spec"],
        "DaemonSet" | "Deployment" | "ReplicaSet" | "ReplicationController" | "StatefulSet" | "Job" => {
            &["spec", "template", "spec"]
        }
        _ => return,
    };
    if !tree.at(path).is_object() {
        return;
    }
    let old = old.map_or(&NULL, |old| old.at(path));
    let is_off = |gate: &str| settings.knows_gate(gate) && !settings.is_gate_on(gate);
    let spec = tree.entry(path);
    if is_off("HostnameOverride") && old.get("hostnameOverride").is_null() {
        spec.remove(&["hostnameOverride"]);
    }
    if is_off("ImageVolume") && !volumes(old).any(|volume| volume.get("image").is_object()) {
        drop_image_volumes(spec);
    }
    for (gate, source) in
        [("ClusterTrustBundleProjection", "clusterTrustBundle"), ("PodCertificateRequest", "podCertificate")]
    {
        if is_off(gate) && !sources(old).any(|own| own.get(source).is_object()) {
            drop_source(spec, source);
        }
    }
    let drops = Drops {
        rules: is_off("ContainerRestartRules") && !containers(old).any(|own| !own.get("restartPolicyRules").is_null()),
        files: is_off("EnvFiles") && !containers(old).any(names_file),
        signals: is_off("ContainerStopSignals")
            && !containers(old).any(|own| !own.at(&["lifecycle", "stopSignal"]).is_null()),
        proc_mount: is_off("ProcMountType")
            && !containers(old).any(|own| proc_mount(own).is_some_and(|own| own != "Default")),
    };
    for list in LISTS {
        if spec.get(list).is_array() {
            spec.entry(&[list]).make_array().iter_mut().for_each(|own| drops.apply(own, list));
        }
    }
}

fn volumes(spec: &Json) -> impl Iterator<Item = &Json> {
    spec.get("volumes").items().iter()
}

fn sources(spec: &Json) -> impl Iterator<Item = &Json> {
    volumes(spec).flat_map(|volume| volume.at(&["projected", "sources"]).items())
}

fn containers(spec: &Json) -> impl Iterator<Item = &Json> {
    LISTS.into_iter().flat_map(|list| spec.get(list).items())
}

fn names_file(container: &Json) -> bool {
    container.get("env").items().iter().any(|own| !own.at(&["valueFrom", "fileKeyRef"]).is_null())
}

fn proc_mount(container: &Json) -> Option<&str> {
    container.at(&["securityContext", "procMount"]).as_str()
}

/// Drops volumes of images with their mounts.
fn drop_image_volumes(spec: &mut Json) {
    let names: alloc::vec::Vec<Json> = volumes(spec)
        .filter(|volume| volume.get("image").is_object())
        .map(|volume| volume.get("name").clone())
        .collect();
    if names.is_empty() {
        return;
    }
    spec.entry(&["volumes"]).make_array().retain(|volume| !volume.get("image").is_object());
    if spec.get("volumes").is_empty() {
        spec.remove(&["volumes"]);
    }
    for list in LISTS {
        if !spec.get(list).is_array() {
            continue;
        }
        for container in spec.entry(&[list]).make_array() {
            if container.get("volumeMounts").is_array() {
                container.entry(&["volumeMounts"]).make_array().retain(|mount| !names.contains(mount.get("name")));
                if container.get("volumeMounts").is_empty() {
                    container.remove(&["volumeMounts"]);
                }
            }
        }
    }
}

fn drop_source(spec: &mut Json, source: &str) {
    if !sources(spec).any(|own| own.get(source).is_object()) {
        return;
    }
    for volume in spec.entry(&["volumes"]).make_array() {
        if volume.at(&["projected", "sources"]).is_array() {
            for own in volume.entry(&["projected", "sources"]).make_array() {
                own.remove(&[source]);
            }
        }
    }
}

/// What is dropped from containers.
struct Drops {
    rules: bool,
    files: bool,
    signals: bool,
    proc_mount: bool,
}

impl Drops {
    fn apply(&self, container: &mut Json, list: &str) {
        if self.rules {
            container.remove(&["restartPolicyRules"]);
            if list != "initContainers" || container.get("restartPolicy").as_str() != Some("Always") {
                container.remove(&["restartPolicy"]);
            }
        }
        if self.files && names_file(container) {
            for variable in container.entry(&["env"]).make_array() {
                variable.remove(&["valueFrom", "fileKeyRef"]);
            }
        }
        if self.signals && !container.at(&["lifecycle", "stopSignal"]).is_null() {
            container.remove(&["lifecycle", "stopSignal"]);
            if container.get("lifecycle").is_empty() {
                container.remove(&["lifecycle"]);
            }
        }
        if self.proc_mount && proc_mount(container).is_some() {
            container.set(&["securityContext", "procMount"], "Default");
        }
    }
}
