//! Defaults of workloads: Deployments, ReplicaSets, StatefulSets and DaemonSets with the pods in their templates.
//!
//! Mirrors pkg/apis/apps/v1/defaults.go (v1.34), and the template generation of a DaemonSet, which v1 keeps in an
//! annotation (pkg/registry/apps/daemonset/strategy.go). Inputs: the tree of an object. Output: the same tree.

use alloc::format;

use super::fields::set_absent;
use super::{pods, storage_kinds};
use crate::objects::Json;
use crate::profile::Settings;

/// The annotation with the template generation of a DaemonSet.
/// Source: k8s.io/api apps/v1/types.go (v1.34), `DeprecatedTemplateGeneration`.
pub(super) const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// Sets what the API's defaults set.
pub(super) fn default(kind: &str, tree: &mut Json) {
    default_template(tree.entry(&["spec"]));
    if kind == "StatefulSet" {
        default_claims(tree);
    }
    if kind != "DaemonSet" {
        set_absent(tree, &["spec", "replicas"], 1_i64);
    }
    if kind != "ReplicaSet" && kind != "ReplicationController" {
        set_absent(tree, &["spec", "revisionHistoryLimit"], 10_i64);
    }
    match kind {
        "Deployment" => {
            set_absent(tree, &["spec", "progressDeadlineSeconds"], 600_i64);
            set_absent(tree, &["spec", "strategy", "type"], "RollingUpdate");
            if tree.at(&["spec", "strategy", "type"]).as_str() == Some("RollingUpdate") {
                for field in ["maxUnavailable", "maxSurge"] {
                    set_absent(tree, &["spec", "strategy", "rollingUpdate", field], "25%");
                }
            }
        }
        "StatefulSet" => {
            set_absent(tree, &["spec", "podManagementPolicy"], "OrderedReady");
            for field in ["whenDeleted", "whenScaled"] {
                set_absent(tree, &["spec", "persistentVolumeClaimRetentionPolicy", field], "Retain");
            }
            let strategy = tree.entry(&["spec", "updateStrategy"]);
            if strategy.get("type").is_null() {
                strategy.set(&["type"], "RollingUpdate");
                set_absent(strategy, &["rollingUpdate"], Json::object());
            }
            if strategy.get("type").as_str() == Some("RollingUpdate") && strategy.get("rollingUpdate").is_object() {
                set_absent(strategy, &["rollingUpdate", "partition"], 0_i64);
            }
        }
        "DaemonSet" => {
            set_absent(tree, &["spec", "updateStrategy", "type"], "RollingUpdate");
            if tree.at(&["spec", "updateStrategy", "type"]).as_str() == Some("RollingUpdate") {
                for (field, value) in [("maxUnavailable", 1_i64), ("maxSurge", 0)] {
                    set_absent(tree, &["spec", "updateStrategy", "rollingUpdate", field], value);
                }
            }
        }
        "ReplicationController" => default_selector(tree),
        _ => {}
    }
}

/// Lets a ReplicationController select, and carry, the labels of its template.
///
/// Source: pkg/apis/core/v1/defaults.go (v1.34), `SetDefaults_ReplicationController`.
fn default_selector(tree: &mut Json) {
    let labels = tree.at(&["spec", "template", "metadata", "labels"]).clone();
    if labels.is_null() {
        return;
    }
    for path in [&["spec", "selector"], &["metadata", "labels"]] {
        if tree.at(path).is_empty() {
            tree.set(path, labels.clone());
        }
    }
}

/// Sets the defaults of the pods of a specification's template; those of a Pod alone are left to its creation.
pub(super) fn default_template(spec: &mut Json) {
    if !spec.at(&["template", "spec"]).is_object() {
        return;
    }
    pods::default_template(spec.entry(&["template"]));
}

/// Sets the defaults of the claims that a StatefulSet makes for its Pods, which say what they are.
///
/// Source: pkg/apis/apps/v1/conversion.go and pkg/apis/core/v1/defaults.go (v1.34),
/// `SetDefaults_PersistentVolumeClaim`.
fn default_claims(tree: &mut Json) {
    if !tree.at(&["spec", "volumeClaimTemplates"]).is_array() {
        return;
    }
    for claim in tree.entry(&["spec", "volumeClaimTemplates"]).make_array() {
        claim.set(&["kind"], "PersistentVolumeClaim");
        claim.set(&["apiVersion"], "v1");
        storage_kinds::default("PersistentVolumeClaim", claim);
    }
}

/// Drops or sets how many Pods a StatefulSet replaces at once.
///
/// Source: pkg/registry/apps/statefulset/strategy.go (v1.34), `dropStatefulSetDisabledFields`, and
/// pkg/apis/apps/v1/defaults.go, `SetDefaults_StatefulSet`.
pub(super) fn prepare_roll(tree: &mut Json, old: Option<&Json>, settings: &Settings) {
    const MOST: [&str; 4] = ["spec", "updateStrategy", "rollingUpdate", "maxUnavailable"];
    if !settings.profile().is("stateful-sets-roll-several") {
        if old.is_none_or(|old| old.at(&MOST).is_null()) {
            tree.remove(&MOST);
        }
    } else if tree.at(&MOST[..3]).is_object() {
        set_absent(tree, &MOST, 1_i64);
    }
}

/// Sets the template generation of a DaemonSet: one more with each change of the template.
pub(super) fn count_templates(tree: &mut Json, old: Option<&Json>) {
    let count = |tree: &Json| {
        let text = tree.at(&["metadata", "annotations", TEMPLATE_GENERATION]).as_str();
        text.and_then(|text| text.parse::<i64>().ok()).unwrap_or(0)
    };
    let number = match old {
        None => count(tree).max(1),
        Some(old) => {
            let changed = tree.at(&["spec", "template"]) != old.at(&["spec", "template"]);
            count(old) + i64::from(changed)
        }
    };
    tree.set(&["metadata", "annotations", TEMPLATE_GENERATION], format!("{number}"));
}

#[cfg(test)]
mod tests {
    use super::{count_templates, default};
    use crate::json;

    #[test]
    fn a_deployment_rolls_by_a_quarter_and_its_pods_have_their_defaults() {
        let mut tree = json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i:1"}]}}}});
        default("Deployment", &mut tree);
        let spec = tree.get("spec");
        assert_eq!(spec.get("replicas").as_i64(), Some(1));
        assert_eq!(spec.at(&["strategy", "rollingUpdate", "maxSurge"]).as_str(), Some("25%"));
        assert_eq!(spec.at(&["template", "spec", "restartPolicy"]).as_str(), Some("Always"));
        assert!(spec.at(&["template", "spec", "enableServiceLinks"]).is_null());
        let mut recreate = json!({"spec": {"strategy": {"type": "Recreate"}}});
        default("Deployment", &mut recreate);
        assert!(recreate.at(&["spec", "strategy", "rollingUpdate"]).is_null());
    }

    #[test]
    fn the_templates_of_a_daemon_set_are_counted() {
        let mut first = json!({"spec": {"template": {"a": 1}}});
        count_templates(&mut first, None);
        let mut second = json!({"spec": {"template": {"a": 2}}});
        count_templates(&mut second, Some(&first));
        let count =
            |tree: &crate::objects::Json| tree.at(&["metadata", "annotations", super::TEMPLATE_GENERATION]).clone();
        assert_eq!((count(&first).as_str(), count(&second).as_str()), (Some("1"), Some("2")));
    }
}
