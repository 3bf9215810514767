//! Sets, comparisons and merges by the rules of the schema.

use alloc::vec::Vec;

use super::{FieldSet, Typed, compare, fields_of, merge, problem, prune};
use crate::json;
use crate::objects::Json;
use crate::objects::schema::Schema;

fn schema() -> Schema {
    Schema::new([])
}

#[test]
fn a_set_is_read_as_it_is_written_and_knows_a_field_from_what_is_below_it() {
    let fields = json!({"f:metadata": {"f:labels": {".": {}, "f:x": {}}}, "f:spec": {"f:podCIDRs": {"v:\"a\"": {}},
        "f:ports": {"k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}}}}});
    let set = FieldSet::parse(&fields).unwrap();
    assert_eq!(set.json(), fields);
    let paths = [
        ".metadata.labels",
        ".metadata.labels.x",
        ".spec.podCIDRs[=\"a\"]",
        ".spec.ports[containerPort=80,protocol=\"TCP\"]",
        ".spec.ports[containerPort=80,protocol=\"TCP\"].name",
    ];
    assert_eq!(set.paths(), paths);
    let labels = FieldSet::of(&[&["metadata", "labels"]]);
    assert_eq!(set.difference(&labels).paths(), &paths[1..]);
    assert_eq!(set.without_trees(&labels).paths(), &paths[2..]);
    assert!(FieldSet::parse(&json!({"metadata": {}})).is_none());
}

#[test]
fn lists_and_maps_are_owned_by_item_or_as_a_whole_as_their_types_say() {
    let pod = json!({"spec": {"nodeSelector": {"a": "b"}, "tolerations": [{"key": "k"}],
        "containers": [{"name": "c", "ports": [{"containerPort": 80}], "resources": {},
            "env": [{"name": "e", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"},
                "configMapKeyRef": {"name": "c", "key": "k"}}}]}],
        "topologySpreadConstraints": [{"topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1}]}});
    let container = ".spec.containers[name=\"c\"]";
    let spread = ".spec.topologySpreadConstraints[topologyKey=\"z\",whenUnsatisfiable=\"DoNotSchedule\"]";
    let port = ".ports[containerPort=80,protocol=\"TCP\"]";
    let mut wanted: Vec<alloc::string::String> = Vec::from([
        ".spec.nodeSelector".into(),
        ".spec.tolerations".into(),
        container.into(),
        alloc::format!("{container}.name"),
        alloc::format!("{container}.resources"),
        alloc::format!("{container}.env[name=\"e\"]"),
        alloc::format!("{container}.env[name=\"e\"].name"),
        alloc::format!("{container}.env[name=\"e\"].valueFrom.configMapKeyRef"),
        alloc::format!("{container}.env[name=\"e\"].valueFrom.fieldRef"),
        alloc::format!("{container}{port}"),
        alloc::format!("{container}{port}.containerPort"),
        spread.into(),
        alloc::format!("{spread}.maxSkew"),
        alloc::format!("{spread}.topologyKey"),
        alloc::format!("{spread}.whenUnsatisfiable"),
    ]);
    let mut found = fields_of(Typed::of(&schema(), "Pod"), &pod).paths();
    wanted.sort();
    found.sort();
    assert_eq!(found, wanted);
    let quota = json!({"spec": {"scopeSelector": {"matchExpressions": [{"scopeName": "Terminating"}]}}});
    assert_eq!(fields_of(Typed::of(&schema(), "ResourceQuota"), &quota).paths(), [".spec.scopeSelector"]);
    let class = json!({"scheduling": {"nodeSelector": {"a": "b"}}});
    assert_eq!(fields_of(Typed::of(&schema(), "RuntimeClass"), &class).paths(), [".scheduling.nodeSelector"]);
}

#[test]
fn a_change_is_a_field_that_was_added_changed_or_removed() {
    let before = json!({"spec": {"podCIDRs": ["a"], "taints": [{"key": "x"}]},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    let after = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"podCIDRs": ["a", "b"], "taints": [{"key": "y"}]},
        "status": {"conditions": [{"type": "Ready", "status": "False"}]}});
    let found = compare(Typed::of(&schema(), "Node"), &before, &after);
    let set = [
        ".metadata",
        ".metadata.labels",
        ".metadata.labels.a",
        ".spec.taints",
        ".spec.podCIDRs[=\"b\"]",
        ".status.conditions[type=\"Ready\"].status",
    ];
    assert_eq!(found.set().paths(), set);
    assert!(found.removed().is_empty());
    let back = compare(Typed::of(&schema(), "Node"), &after, &before).without(&FieldSet::of(&[&["metadata"]]));
    assert_eq!(back.removed().paths(), [".spec.podCIDRs[=\"b\"]"]);
}

#[test]
fn an_applied_list_decides_the_order_and_keeps_the_items_of_others() {
    let container = |name: &str, image: &str| json!({"name": name, "image": image});
    let list = |items: Vec<Json>| json!({"spec": {"containers": Json::array(items)}});
    let live = list(Vec::from([container("a", "1"), container("b", "1"), container("c", "1")]));
    let applied = list(Vec::from([json!({"name": "c"}), container("d", "1"), container("a", "2")]));
    let merged = merge(Typed::of(&schema(), "Pod"), &live, &applied);
    let names: Vec<&str> =
        merged.at(&["spec", "containers"]).items().iter().filter_map(|item| item.get("name").as_str()).collect();
    assert_eq!(names, ["b", "c", "d", "a"]);
    assert_eq!(merged.at(&["spec", "containers"]).items()[3].get("image").as_str(), Some("2"));
}

#[test]
fn what_is_applied_no_longer_goes_unless_another_manager_owns_it() {
    let merged =
        json!({"metadata": {"labels": {"mine": "1", "shared": "1", "other": "1"}}, "spec": {"unschedulable": true}});
    let last =
        FieldSet::of(&[&["metadata", "labels", "mine"], &["metadata", "labels", "shared"], &["spec", "unschedulable"]]);
    let owned = FieldSet::of(&[&["metadata", "labels", "shared"]]);
    let left = prune(Typed::of(&schema(), "Node"), &merged, &last, &owned);
    assert_eq!(left, json!({"metadata": {"labels": {"shared": "1", "other": "1"}}}));
}

#[test]
fn a_configuration_that_does_not_fit_its_type_is_described() {
    let cases = [
        (json!({"spec": {"foo": 1}}), ".spec.foo: field not declared in schema"),
        (json!({"spec": {"unschedulable": "yes"}}), ".spec.unschedulable: expected boolean, got &{yes}"),
        (
            json!({"spec": {"providerID": 1}}),
            ".spec.providerID: expected string, got &value.valueUnstructured{Value:1}",
        ),
        (json!({"spec": {"taints": "x"}}), ".spec.taints: expected list, got &{x}"),
        (json!({"spec": {"podCIDRs": ["a", "a"]}}), ".spec.podCIDRs: duplicate entries for key [=\"a\"]"),
        (
            json!({"spec": "x", "status": {"conditions": [null]}}),
            "errors:\n  .spec: expected map, got &{x}\n  .status.conditions: element 0: associative list with keys may \
             not have a null element",
        ),
    ];
    for (tree, wanted) in cases {
        assert_eq!(problem(Typed::of(&schema(), "Node"), &tree).as_deref(), Some(wanted));
    }
    assert_eq!(problem(Typed::of(&schema(), "Node"), &json!({"spec": {"taints": [], "unschedulable": null}})), None);
}
