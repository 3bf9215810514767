//! Finds who wrote a change from `managedFields`: the manager and the subresource, never the user.
//!
//! Inputs: an object before and after a change. Output: the writer; empty if it is not known. A write renews the time
//! of its manager's entry, in whole seconds, when the content of the entry changes. A removal of another manager's
//! field leaves no entry: only the other's entry becomes smaller, or goes. Then the writer is known where only the node
//! lifecycle controller may remove the field, or where it is of a status. Within a second of the last write it is the
//! manager that owns most of the changed fields. A deletion or an eviction leaves nothing that names a writer. Pure.
//!
//! Source: sigs.k8s.io/structured-merge-diff v6 merge/update.go, `Update`; k8s.io/apimachinery
//! pkg/util/managedfields/internal/managedfieldsupdater.go (v1.34).

use nodeproof_core::objects::diff::{FieldChange, diff};
use nodeproof_core::objects::{Json, Text};
use nodeproof_core::scenario::Writer;

/// The manager of everything that kube-controller-manager writes.
const CONTROLLERS: &str = "kube-controller-manager";

/// The manager of what kube-scheduler writes.
const SCHEDULER: &str = "kube-scheduler";

/// The taints that the node lifecycle controller adds and removes.
/// Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34), `taintKeyToNodeConditionMap`.
const LIFECYCLE_TAINTS: [&str; 7] = [
    "node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/memory-pressure",
    "node.kubernetes.io/network-unavailable",
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/pid-pressure",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/unschedulable",
];

/// Returns the writer of the change from `before` to `after`.
pub(super) fn writer_of(before: Option<&Json>, after: Option<&Json>) -> Writer {
    let Some(after) = after else { return Writer::default() };
    let old = before.map(entries).unwrap_or_default();
    let new = entries(after);
    let known = |entry: &Json| old.iter().find(|other| identity(other) == identity(entry));
    let written =
        new.iter().filter(|entry| known(entry).is_none_or(|was| time(was) != time(entry) || gained(was, entry)));
    if before.is_some_and(|before| is_bound_by(before, after)) {
        // Somebody else binds the Pods of another scheduler.
        if !matches!(after.at(&["spec", "schedulerName"]).as_str(), None | Some("default-scheduler")) {
            return Writer::default();
        }
        return Writer { manager: Text::of(SCHEDULER), subresource: Text::of("binding"), user: Text::default() };
    }
    let changes = before.map(|before| diff(before, after)).unwrap_or_default();
    let touched: Vec<(String, String)> = changes.iter().map(place).collect();
    if let Some(entry) = written.max_by_key(|entry| time(entry)) {
        return told(entry);
    }
    if changes.iter().any(is_deletion) || changes.iter().any(is_new_condition) {
        return Writer::default();
    }
    if changes.iter().any(is_taint_of_lifecycle) {
        return Writer { manager: Text::of(CONTROLLERS), ..Writer::default() };
    }
    // Fields of a status are taken away by who has set them.
    let gave_up = |entry: &&Json| {
        let now = new.iter().find(|other| identity(other) == identity(entry));
        owned(entry, &touched) > now.map_or(0, |now| owned(now, &touched))
    };
    let mut of_status = old.iter().filter(|entry| entry.get("subresource").as_str() == Some("status"));
    if let Some(entry) = of_status.find(gave_up) {
        return told(entry);
    }
    if old.iter().any(|entry| gave_up(&entry)) {
        return Writer::default();
    }
    new.iter().max_by_key(|entry| (owned(entry, &touched), time(entry))).map(told).unwrap_or_default()
}

/// Tells whether a Pod gets its node. Only the subresource `binding` does that, which keeps no `managedFields`; unless
/// somebody binds by hand, it is the scheduler.
///
/// Source: pkg/registry/core/pod/storage/storage.go (v1.34), `setPodNodeAndMetadata`.
fn is_bound_by(before: &Json, after: &Json) -> bool {
    let node = |pod: &Json| pod.at(&["spec", "nodeName"]).as_str().is_some_and(|name| !name.is_empty());
    after.get("kind").as_str() == Some("Pod") && !node(before) && node(after)
}

fn told(entry: &Json) -> Writer {
    let word = |field: &str| entry.get(field).as_text().cloned().unwrap_or_default();
    Writer { manager: word("manager"), subresource: word("subresource"), user: Text::default() }
}

fn entries(object: &Json) -> &[Json] {
    object.at(&["metadata", "managedFields"]).items()
}

/// Returns the fields by which entries are told apart.
fn identity(entry: &Json) -> [&Json; 4] {
    ["manager", "operation", "subresource", "apiVersion"].map(|field| entry.get(field))
}

/// Tells whether an entry has new fields.
fn gained(was: &Json, entry: &Json) -> bool {
    fn more(was: &Json, now: &Json) -> bool {
        now.fields().any(|(name, inner)| was.get(name).is_null() || more(was.get(name), inner))
    }
    more(was.get("fieldsV1"), entry.get("fieldsV1"))
}

/// Returns the first two names of the path of a change.
fn place(change: &FieldChange) -> (String, String) {
    let mut names = change.path.segments().iter().map(|segment| segment.name().to_string());
    (names.next().unwrap_or_default(), names.next().unwrap_or_default())
}

/// Tells whether an object was marked for deletion, or will be gone earlier. A deletion keeps no `managedFields`, so
/// its writer is not known, and no earlier writer is more likely than another.
///
/// Source: k8s.io/apiserver pkg/registry/rest/delete.go (v1.34), `BeforeDelete`.
fn is_deletion(change: &FieldChange) -> bool {
    let (first, second) = place(change);
    first == "metadata" && matches!(second.as_str(), "deletionTimestamp" | "deletionGracePeriodSeconds")
}

/// Tells whether a condition was added, which gives an entry a field. Without an entry the API server itself did it: an
/// eviction marks its Pod before the deletion.
///
/// Source: pkg/registry/core/pod/storage/eviction.go (v1.34), `addConditionAndDeletePod`.
fn is_new_condition(change: &FieldChange) -> bool {
    change.old.is_null() && place(change) == ("status".to_owned(), "conditions".to_owned())
}

/// Tells whether a taint of the node lifecycle controller was added or removed.
fn is_taint_of_lifecycle(change: &FieldChange) -> bool {
    let is_of = |taint: &Json| taint.get("key").as_str().is_some_and(|key| LIFECYCLE_TAINTS.contains(&key));
    place(change) == ("spec".to_owned(), "taints".to_owned()) && (is_of(&change.old) || is_of(&change.new))
}

/// Returns how many of these fields an entry owns.
fn owned(entry: &Json, touched: &[(String, String)]) -> usize {
    let has = |(first, second): &&(String, String)| {
        !entry.at(&["fieldsV1", &format!("f:{first}"), &format!("f:{second}")]).is_null()
    };
    touched.iter().filter(has).count()
}

fn time(entry: &Json) -> &str {
    entry.get("time").as_str().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use nodeproof_core::json;

    use super::*;

    #[test]
    fn a_pod_that_gets_its_node_was_bound() {
        let pod = |spec: Json| json!({"kind": "Pod", "metadata": {"managedFields": []}, "spec": spec});
        let (free, bound) = (pod(json!({})), pod(json!({"nodeName": "w1"})));
        let writer = writer_of(Some(&free), Some(&bound));
        assert_eq!((writer.manager.as_str(), writer.subresource.as_str()), ("kube-scheduler", "binding"));
        assert_eq!(writer_of(None, Some(&bound)), Writer::default());
        let by_hand = pod(json!({"nodeName": "w1", "schedulerName": "nobody"}));
        assert_eq!(writer_of(Some(&pod(json!({"schedulerName": "nobody"}))), Some(&by_hand)), Writer::default());
    }

    #[test]
    fn the_entry_that_changed_is_the_writers() {
        let entry = |manager: &str, time: &str, subresource: &str| {
            json!({"manager": manager, "time": time,
            "subresource": subresource})
        };
        let object = |entries: Vec<Json>| json!({"metadata": {"managedFields": Json::array(entries)}});
        let old =
            object(vec![entry("kubelet", "2026-01-01T00:00:09Z", "status"), entry("a", "2026-01-01T00:00:01Z", "")]);
        let new =
            object(vec![entry("kubelet", "2026-01-01T00:00:09Z", "status"), entry("a", "2026-01-01T00:00:02Z", "")]);
        assert_eq!(writer_of(Some(&old), Some(&new)).manager.as_str(), "a");
        assert_eq!(writer_of(Some(&old), Some(&old)).subresource.as_str(), "status");
        assert_eq!(writer_of(Some(&old), None), Writer::default());
    }

    #[test]
    fn who_takes_its_own_field_of_a_status_away_has_an_entry_that_is_smaller_or_gone() {
        let user = json!({"manager": "kubectl", "time": "2026-01-01T00:00:05Z"});
        let own = |fields: Json| {
            let mut entry = json!({"manager": "kube-controller-manager", "subresource": "status",
                "time": "2026-01-01T00:00:01Z"});
            entry.set(&["fieldsV1", "f:status"], fields);
            entry
        };
        let object = |entries: Vec<Json>, volumes: Json| {
            let mut object = json!({"metadata": {}, "status": {}});
            object.set(&["metadata", "managedFields"], Json::array(entries));
            object.set(&["status", "volumesAttached"], volumes);
            object
        };
        let volumes = json!({"f:volumesAttached": {}});
        let both = json!({"f:conditions": {}, "f:volumesAttached": {}});
        let left = vec![user.clone(), own(json!({"f:conditions": {}}))];
        for (before, after) in [(volumes, vec![user.clone()]), (both, left)] {
            let old = object(vec![user.clone(), own(before)], json!([{"name": "v"}]));
            let writer = writer_of(Some(&old), Some(&object(after, Json::Null)));
            assert_eq!((writer.manager.as_str(), writer.subresource.as_str()), ("kube-controller-manager", "status"));
        }
    }

    #[test]
    fn a_deletion_names_nobody() {
        let object = |metadata: Json| {
            let mut object = json!({"kind": "Pod", "metadata": metadata, "status": {"phase": "Running"}});
            let entry = json!({"manager": "kubelet", "time": "t", "subresource": "status",
                "fieldsV1": {"f:status": {"f:phase": {}}}});
            object.set(&["metadata", "managedFields"], Json::array(vec![entry]));
            object
        };
        let alive = object(json!({"generation": 1}));
        let doomed = object(json!({"generation": 2, "deletionTimestamp": "t", "deletionGracePeriodSeconds": 30}));
        assert_eq!(writer_of(Some(&alive), Some(&doomed)), Writer::default());
    }

    #[test]
    fn within_a_second_the_fields_tell_the_writer() {
        let object = |taint: &str| {
            json!({"metadata": {"managedFields": [
                {"manager": "m", "time": "t", "fieldsV1": {"f:spec": {"f:taints": {}}}},
                {"manager": "m", "time": "t", "subresource": "status", "fieldsV1": {"f:status": {"f:conditions": {}}}},
            ]}, "spec": {"taints": [{"key": taint, "effect": "NoExecute"}]}})
        };
        let writer = writer_of(Some(&object("a")), Some(&object("b")));
        assert_eq!((writer.manager.as_str(), writer.subresource.as_str()), ("m", ""));
    }

    #[test]
    fn who_removes_the_taint_of_another_leaves_no_entry() {
        let object = |fields: Json, taints: Json| {
            json!({"metadata": {"managedFields": [
                {"manager": "kube-controller-manager", "operation": "Update", "time": "2026-01-01T00:00:01Z",
                    "fieldsV1": {"f:metadata": {"f:annotations": {}}}},
                {"manager": "kubelet", "operation": "Update", "time": "2026-01-01T00:00:00Z", "fieldsV1": fields},
                {"manager": "kubelet", "operation": "Update", "time": "2026-01-01T00:00:09Z", "subresource": "status",
                    "fieldsV1": {"f:status": {}}},
            ]}, "spec": {"taints": taints}})
        };
        let taint = |key: &str| json!([{"key": key, "effect": "NoSchedule"}]);
        let with = json!({"f:metadata": {"f:labels": {}}, "f:spec": {"f:taints": {}}});
        let without = json!({"f:metadata": {"f:labels": {}}});
        for (key, manager) in [("node.kubernetes.io/not-ready", "kube-controller-manager"), ("example.com/own", "")] {
            let before = object(with.clone(), taint(key));
            let after = object(without.clone(), Json::Null);
            let writer = writer_of(Some(&before), Some(&after));
            assert_eq!((writer.manager.as_str(), writer.subresource.as_str()), (manager, ""), "{key}");
        }
    }
}
