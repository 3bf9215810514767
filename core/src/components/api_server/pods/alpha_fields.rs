//! Fields of Pods that came with gates which are off by default, by their paths.
//!
//! Mirrors pkg/api/pod/util.go (v1.37), `dropDisabledFields`. Inputs: a specification, the stored one, and the gates.
//! Output: the specification without the fields whose gate is off and that the stored one does not have.

use crate::objects::Json;
use crate::profile::Settings;

/// Gates with the fields of each. A star stands for each item of a list, a bar between names for each of them.
const FIELDS: &[(&str, &[&[&str]])] = &[
    (
        "AtomicWriteVolumeUserFields",
        &[
            &["volumes", "*", "secret|configMap|downwardAPI|projected", "defaultUser"],
            &["volumes", "*", "secret|configMap|downwardAPI", "items", "*", "user"],
            &["volumes", "*", "projected", "sources", "*", "secret|configMap|downwardAPI", "items", "*", "user"],
            &["volumes", "*", "projected", "sources", "*", TOKENS, "user"],
        ],
    ),
    ("EmptyDirVolumeMode", &[&["volumes", "*", "emptyDir", "mode"]]),
    ("EvictionRequestAPI", &[&["evictionResponders"]]),
    ("GRPCContainerProbeTLS", &[&[CONTAINERS, "*", PROBES, "grpc", "mode"]]),
    ("GenericWorkload", &[&["schedulingGroup|workloadRef"]]),
    (
        "H2CContainerProbe",
        &[
            &[CONTAINERS, "*", PROBES, "httpGet", "protocol"],
            &[CONTAINERS, "*", "lifecycle", "postStart|preStop", "httpGet", "protocol"],
        ],
    ),
    ("VolumeBindMountOptions", &[&[CONTAINERS, "*", "volumeMounts", "*", "bindMountOptions"]]),
];

const CONTAINERS: &str = "containers|initContainers|ephemeralContainers";
const PROBES: &str = "livenessProbe|readinessProbe|startupProbe";
const TOKENS: &str = "serviceAccountToken|clusterTrustBundle|podCertificate";

/// Drops them from the specification of Pods at a path.
pub(super) fn drop_disabled(tree: &mut Json, path: &[&str], old: &Json, settings: &Settings) {
    for (gate, fields) in FIELDS {
        let uses = |spec: &Json| fields.iter().any(|field| has(spec, field));
        if uses(tree.at(path)) && !uses(old) && !settings.is_gate_on(gate) {
            fields.iter().for_each(|field| drop_field(tree.entry(path), field));
        }
    }
}

fn has(tree: &Json, path: &[&str]) -> bool {
    match path {
        [] => !tree.is_null(),
        ["*", rest @ ..] => tree.items().iter().any(|item| has(item, rest)),
        [names, rest @ ..] => tree.is_object() && names.split('|').any(|name| has(tree.get(name), rest)),
    }
}

fn drop_field(tree: &mut Json, path: &[&str]) {
    match path {
        ["*", rest @ ..] if tree.is_array() => tree.make_array().iter_mut().for_each(|item| drop_field(item, rest)),
        [] | ["*", ..] => {}
        [names] => names.split('|').for_each(|name| drop(tree.remove(&[name]))),
        [names, rest @ ..] => {
            for name in names.split('|') {
                if has(tree.get(name), rest) {
                    drop_field(tree.entry(&[name]), rest);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::drop_disabled;
    use crate::json;
    use crate::profile::Settings;

    #[test]
    fn a_field_whose_gate_is_off_is_dropped_unless_it_was_there() {
        let pod = json!({"spec": {"evictionResponders": [{"name": "a/b", "priority": 1}],
            "volumes": [{"name": "a", "emptyDir": {"mode": 511}},
                {"name": "b", "secret": {"defaultUser": 1, "items": [{"key": "k", "path": "p", "user": 2}]}}],
            "containers": [{"name": "c", "livenessProbe": {"httpGet": {"protocol": "H2C", "port": 1}},
                "volumeMounts": [{"name": "a", "bindMountOptions": ["noexec"]}]}]}});
        let mut new = pod.clone();
        drop_disabled(&mut new, &["spec"], &json!(null), &Settings::default());
        let expected = json!({"spec": {
            "volumes": [{"name": "a", "emptyDir": {}},
                {"name": "b", "secret": {"items": [{"key": "k", "path": "p"}]}}],
            "containers": [{"name": "c", "livenessProbe": {"httpGet": {"port": 1}},
                "volumeMounts": [{"name": "a"}]}]}});
        assert_eq!(new, expected);
        let mut kept = pod.clone();
        drop_disabled(&mut kept, &["spec"], pod.get("spec"), &Settings::default());
        assert_eq!(kept, pod);
    }
}
