//! Fields of Pods and their templates that a server drops while their feature gate is off, unless the stored object
//! uses them.
//!
//! Mirrors pkg/api/pod/util.go (v1.34), `dropDisabledFields`. Inputs: an object, what is stored, and the gates. Output:
//! the object without them.

use super::alpha_fields;
use crate::network::kinds::Kind;
use crate::objects::{Json, NULL};
use crate::profile::Settings;

const LISTS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// Drops them from a Pod, or from the template of another object.
pub(in super::super) fn drop_disabled(kind: &Kind, tree: &mut Json, old: Option<&Json>, settings: &Settings) {
    let path: &[&str] = match kind.rules() {
        "Pod" => &["spec"],
        "PodTemplate" => &["template", "spec"],
        "CronJob" => &["spec", "jobTemplate", "spec", "template", "spec"],
        "DaemonSet" | "Deployment" | "ReplicaSet" | "ReplicationController" | "StatefulSet" | "Job" => {
            &["spec", "template", "spec"]
        }
        _ => return,
    };
    let old = old.map_or(&NULL, |old| old.at(path));
    if !old.is_null() && tree.at(path).is_same_allocation(old) {
        return;
    }
    alpha_fields::drop_disabled(tree, path, old, settings);
    // Nearly no Pod has any of them, and a gate is looked up in the files of all releases: so that is asked last.
    let drops = |gate: &str, uses: &dyn Fn(&Json) -> bool| {
        uses(tree.at(path)) && !uses(old) && settings.knows_gate(gate) && !settings.is_gate_on(gate)
    };
    let any_source = |source: &'static str| move |spec: &Json| sources(spec).any(|own| own.get(source).is_object());
    let (bundle, certificate) = (any_source("clusterTrustBundle"), any_source("podCertificate"));
    let users = drops("UserNamespacesSupport", &|spec| !spec.get("hostUsers").is_null());
    let renames = drops("HostnameOverride", &|spec| !spec.get("hostnameOverride").is_null());
    let images = drops("ImageVolume", &|spec| volumes(spec).any(|volume| volume.get("image").is_object()));
    let bundles = drops("ClusterTrustBundleProjection", &bundle);
    let certificates = drops("PodCertificateRequest", &certificate);
    let drops = Drops {
        rules: drops("ContainerRestartRules", &has_restart_rules),
        files: drops("EnvFiles", &|spec| containers(spec).any(names_file)),
        signals: drops("ContainerStopSignals", &|spec| containers(spec).any(has_signal)),
        proc_mount: drops("ProcMountType", &|spec| containers(spec).any(has_proc_mount)),
    };
    if !(users || renames || images || bundles || certificates || drops.any()) {
        return;
    }
    let spec = tree.entry(path);
    if users {
        spec.remove(&["hostUsers"]);
    }
    if renames {
        spec.remove(&["hostnameOverride"]);
    }
    if images {
        drop_image_volumes(spec);
    }
    for (is_dropped, source) in [(bundles, "clusterTrustBundle"), (certificates, "podCertificate")] {
        if is_dropped {
            drop_source(spec, source);
        }
    }
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

fn has_proc_mount(container: &Json) -> bool {
    proc_mount(container).is_some_and(|own| own != "Default")
}

fn has_signal(container: &Json) -> bool {
    !container.at(&["lifecycle", "stopSignal"]).is_null()
}

/// Tells whether a container has rules of restarts, or a policy that only came with them.
pub(in super::super) fn has_restart_rules(spec: &Json) -> bool {
    let of_list = |list: &str| {
        let is_older = |own: &Json| list == "initContainers" && own.get("restartPolicy").as_str() == Some("Always");
        let has = |own: &Json| {
            !own.get("restartPolicyRules").is_null() || !own.get("restartPolicy").is_null() && !is_older(own)
        };
        spec.get(list).items().iter().any(has)
    };
    LISTS.into_iter().any(of_list)
}

/// Drops volumes of images with their mounts.
fn drop_image_volumes(spec: &mut Json) {
    let names: alloc::vec::Vec<Json> = volumes(spec)
        .filter(|volume| volume.get("image").is_object())
        .map(|volume| volume.get("name").clone())
        .collect();
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
    const fn any(&self) -> bool {
        self.rules || self.files || self.signals || self.proc_mount
    }

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
        if self.signals && has_signal(container) {
            container.remove(&["lifecycle", "stopSignal"]);
            if container.get("lifecycle").is_empty() {
                container.remove(&["lifecycle"]);
            }
        }
        if self.proc_mount && has_proc_mount(container) {
            container.set(&["securityContext", "procMount"], "Default");
        }
    }
}
