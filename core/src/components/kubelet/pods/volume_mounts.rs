//! How the volumes of a container are mounted, as its status tells.
//!
//! Mirrors `convertToAPIContainerStatuses` and `resolveRecursiveReadOnly` of pkg/kubelet/kubelet_pods.go (v1.34). Pure.
//! Inputs: a container of a pod's specification, whether the runtime makes mounts read-only recursively. Output: the
//! list of its status. Invariant: only a mount that is read-only tells of the mounts below it.

use crate::json;
use crate::objects::Json;

/// Returns `volumeMounts` of a container's status; `None` without mounts.
pub(super) fn volume_mounts(container: &Json, is_recursive_possible: bool) -> Option<Json> {
    let mounts = container.get("volumeMounts").items();
    let shown = |mount: &Json| {
        let mut status = json!({});
        for field in ["name", "mountPath"] {
            status.set(&[field], mount.get(field).clone());
        }
        if mount.get("readOnly").as_bool() == Some(true) {
            status.set(&["readOnly"], true);
            let is_recursive = is_recursive_possible && is_recursive_wanted(mount);
            status.set(&["recursiveReadOnly"], if is_recursive { "Enabled" } else { "Disabled" });
        }
        status
    };
    (!mounts.is_empty()).then(|| mounts.iter().map(shown).collect())
}

/// Tells whether a read-only mount asks for what lies below it too. One that is propagated cannot.
fn is_recursive_wanted(mount: &Json) -> bool {
    let is_propagated = !matches!(mount.get("mountPropagation").as_str(), None | Some("None"));
    !is_propagated && matches!(mount.get("recursiveReadOnly").as_str(), Some("Enabled" | "IfPossible"))
}

#[cfg(test)]
mod tests {
    use super::volume_mounts;
    use crate::json;

    #[test]
    fn a_read_only_mount_tells_whether_all_below_it_is_read_only() {
        let mount = |more: crate::objects::Json| {
            let mut mount = json!({"name": "v", "mountPath": "/v"});
            more.fields().for_each(|(name, value)| mount.set(&[name], value.clone()));
            json!({"volumeMounts": [mount]})
        };
        let shown = |more, is_possible| volume_mounts(&mount(more), is_possible).unwrap().items()[0].clone();
        assert_eq!(shown(json!({"subPath": "s"}), true), json!({"name": "v", "mountPath": "/v"}));
        for (more, is_possible, mode) in [
            (json!({"readOnly": true}), true, "Disabled"),
            (json!({"readOnly": true, "recursiveReadOnly": "IfPossible"}), true, "Enabled"),
            (json!({"readOnly": true, "recursiveReadOnly": "IfPossible"}), false, "Disabled"),
            (json!({"readOnly": true, "recursiveReadOnly": "Enabled"}), true, "Enabled"),
            (json!({"readOnly": true, "recursiveReadOnly": "Disabled"}), true, "Disabled"),
            (
                json!({"readOnly": true, "recursiveReadOnly": "Enabled", "mountPropagation": "HostToContainer"}),
                true,
                "Disabled",
            ),
        ] {
            let expected = json!({"name": "v", "mountPath": "/v", "readOnly": true, "recursiveReadOnly": mode});
            assert_eq!(shown(more, is_possible), expected);
        }
        assert_eq!(volume_mounts(&json!({"name": "main"}), true), None);
    }
}
