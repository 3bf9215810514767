//! What the server says otherwise from 1.37 on, in the words of its sources.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Fixture;
use crate::json;
use crate::network::{Body, Call, MERGE_PATCH, NODES, PODS, Resource, STRATEGIC_MERGE_PATCH, Verb};
use crate::objects::{Json, ObjectKey};
use crate::profile::{Release, Settings};

const AUTOSCALERS: Resource = Resource::of("autoscaling", "v2", "horizontalpodautoscalers");
const STATEFUL_SETS: Resource = Resource::of("apps", "v1", "statefulsets");
const ROLES: Resource = Resource::of("rbac.authorization.k8s.io", "v1", "roles");
const CLASSES: Resource = Resource::of("storage.k8s.io", "v1", "storageclasses");
const CSI_NODES: Resource = Resource::of("storage.k8s.io", "v1", "csinodes");
const DRIVERS: Resource = Resource::of("storage.k8s.io", "v1", "csidrivers");

fn at(minor: u16) -> Fixture {
    Fixture::of(Release::new(minor, 0))
}

fn pod() -> Json {
    json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i:1"}]}})
}

fn class(name: &str, created_first: bool) -> Json {
    let mut class = json!({"kind": "StorageClass", "apiVersion": "storage.k8s.io/v1", "metadata": {"name": name},
        "provisioner": "a.b/c"});
    class.set(&["metadata", "annotations", "storageclass.kubernetes.io/is-default-class"], "true");
    class.set(&["metadata", "labels", "first"], format!("{created_first}"));
    class
}

#[test]
fn errors_about_an_owner_tell_its_place_and_what_is_required() {
    let owners = json!([{"apiVersion": "a/b/c", "kind": "K", "name": "n", "uid": "u"}, {"name": "n", "uid": "u"}]);
    for (minor, expected) in [
        (
            36,
            "[metadata.ownerReferences.apiVersion: Invalid value: \"a/b/c\": version must not be empty, \
             metadata.ownerReferences.apiVersion: Invalid value: \"\": version must not be empty, \
             metadata.ownerReferences.kind: Invalid value: \"\": must not be empty]",
        ),
        (
            37,
            "[metadata.ownerReferences[0].apiVersion: Invalid value: \"a/b/c\": must be <group>/<version> or \
             <version>, metadata.ownerReferences[1].apiVersion: Required value: must not be empty, \
             metadata.ownerReferences[1].kind: Required value: must not be empty]",
        ),
    ] {
        let (code, told) = at(minor).posted(&PODS, &pod(), &["metadata", "ownerReferences"], owners.clone());
        assert_eq!((code, told.as_str()), (422, expected), "{minor}");
    }
}

#[test]
fn each_fixed_field_of_a_stateful_set_is_told_by_itself() {
    let set = json!({"kind": "StatefulSet", "apiVersion": "apps/v1", "metadata": {"name": "s", "namespace": "default"},
        "spec": {"serviceName": "a", "selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}}});
    for (minor, expected) in [
        (36, "spec: Forbidden: updates to statefulset spec for fields other than"),
        (37, "spec.serviceName: Invalid value: \"b\": field is immutable"),
    ] {
        let answer = at(minor).changed(&STATEFUL_SETS, &set, &["spec", "serviceName"], "b");
        assert!(answer.code == 422 && answer.message().contains(expected), "{minor}: {}", answer.message());
    }
}

#[test]
fn the_machine_of_a_node_is_not_changed_and_not_cleared() {
    let node = json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}, "spec": {"providerID": "a://b"}});
    for (minor, new, expected) in [
        (36, "c", "Forbidden: node updates may not change providerID except from \"\" to valid"),
        (37, "c", "Invalid value: null: field cannot be modified once set"),
        (37, "", "Invalid value: null: field cannot be cleared once set"),
    ] {
        let answer = at(minor).changed(&NODES, &node, &["spec", "providerID"], new);
        assert!(answer.message().ends_with(&format!("spec.providerID: {expected}")), "{}", answer.message());
    }
}

#[test]
fn what_rules_of_types_tell_comes_last_and_in_their_words() {
    let role = json!({"kind": "Role", "apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": "r"},
        "rules": [{"resources": ["pods"]}]});
    let mut off = Settings::of(Release::new(37, 0));
    off.set("kube-apiserver.feature-gates", "DeclarativeValidationBeta=false").unwrap();
    let old = "[rules[0].verbs: Required value: verbs must contain at least one value, \
               rules[0].apiGroups: Required value: resource rules must supply at least one api group]";
    let new = "[rules[0].apiGroups: Required value: resource rules must supply at least one api group, \
               rules[0].verbs: Required value]";
    for (mut fixture, expected) in [(at(36), old), (at(37), new), (Fixture::with(off), old)] {
        let (_, told) = fixture.posted(&ROLES, &role, &["metadata", "labels"], Json::Null);
        assert_eq!(told, expected);
    }
    for (minor, value) in [(36, "\"x.y/z\""), (37, "null")] {
        let answer = at(minor).changed(&CLASSES, &class("s", true), &["provisioner"], "x.y/z");
        let expected = format!("provisioner: Invalid value: {value}: field is immutable");
        assert!(answer.message().ends_with(&expected), "{}", answer.message());
    }
}

#[test]
fn a_patch_that_is_no_json_is_refused_before_the_object_is_looked_for() {
    for (minor, code) in [(36, 404), (37, 400)] {
        for media in [MERGE_PATCH, STRATEGIC_MERGE_PATCH] {
            let mut call = Call::new(Verb::Patch, PODS, "default", "nobody").header("content-type", media);
            call.body = Body::Raw(String::from("{"));
            let answer = at(minor).call(call);
            assert_eq!(answer.code, code, "{}", answer.message());
            assert!(minor == 36 || answer.message() == "invalid JSON patch");
        }
    }
}

#[test]
fn a_binding_names_a_node_that_can_be() {
    for (minor, code) in [(36, 201), (37, 500)] {
        let mut fixture = at(minor);
        fixture.post(&PODS, "default", pod());
        let binding = json!({"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "Bad_Node"}});
        let answer = fixture.call(Call::new(Verb::Create, PODS, "default", "p").subresource("binding").body(binding));
        assert_eq!(answer.code, code, "{}", answer.message());
        let begin = "target.name: Invalid value: \"Bad_Node\": a lowercase RFC 1123 subdomain must consist of";
        assert!(minor == 36 || answer.message().starts_with(begin), "{}", answer.message());
    }
}

#[test]
fn a_pod_with_amounts_of_its_own_gets_limits_where_each_container_has_one() {
    let limits = json!({"requests": {"cpu": "100m"}, "limits": {"cpu": "2"}});
    let spec = json!({"resources": {"requests": {"cpu": "1"}}, "containers": [
        {"name": "c", "image": "i:1", "resources": limits.clone()},
        {"name": "d", "image": "i:1", "resources": limits}]});
    for (minor, limit) in [(36, Json::Null), (37, json!("4"))] {
        let mut body = pod();
        body.set(&["spec"], spec.clone());
        let made = at(minor).post(&PODS, "default", body).body();
        assert_eq!(made.at(&["spec", "resources", "limits", "cpu"]), &limit, "{minor}");
    }
}

#[test]
fn amounts_of_a_whole_pod_that_name_nothing_do_not_make_it_best_effort() {
    for (minor, class) in [(36, "BestEffort"), (37, "Burstable")] {
        let mut body = pod();
        body.set(&["spec", "resources"], json!({}));
        body.entry(&["spec", "containers"]).make_array()[0].set(&["resources"], json!({"requests": {"cpu": "1"}}));
        let made = at(minor).post(&PODS, "default", body).body();
        assert_eq!(made.at(&["status", "qosClass"]), &json!(class), "{minor}");
    }
}

#[test]
fn the_changes_of_an_autoscaler_are_counted() {
    let own = json!({"kind": "HorizontalPodAutoscaler", "apiVersion": "autoscaling/v2",
        "metadata": {"name": "a", "namespace": "default"}, "spec": {"maxReplicas": 2,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}});
    for (minor, generation) in [(36, Json::Null), (37, json!(2))] {
        let answer = at(minor).changed(&AUTOSCALERS, &own, &["spec", "maxReplicas"], 3_i64);
        assert_eq!(answer.body().at(&["metadata", "generation"]), &generation, "{minor}");
    }
}

#[test]
fn a_driver_says_whether_pods_wait_for_it() {
    let driver = json!({"kind": "CSIDriver", "apiVersion": "storage.k8s.io/v1", "metadata": {"name": "d.x"}});
    for (minor, value) in [(36, Json::Null), (37, json!(false))] {
        let made = at(minor).post(&DRIVERS, "", driver.clone()).body();
        assert_eq!(made.at(&["spec", "preventPodSchedulingIfMissing"]), &value, "{minor}");
    }
}

#[test]
fn a_csi_node_has_a_status_that_nothing_is_kept_in() {
    let node = json!({"kind": "CSINode", "apiVersion": "storage.k8s.io/v1", "metadata": {"name": "n"},
        "spec": {"drivers": []}});
    for (minor, code) in [(36, 404), (37, 200)] {
        let mut fixture = at(minor);
        let mut body = fixture.post(&CSI_NODES, "", node.clone()).body();
        body.set(&["status", "storageHealth"], json!([{"name": "a"}]));
        let answer = fixture.call(Call::new(Verb::Update, CSI_NODES, "", "n").subresource("status").body(body));
        assert_eq!(answer.code, code, "{}", answer.message());
        assert!(answer.body().at(&["status", "storageHealth"]).is_null());
    }
}

#[test]
fn one_class_of_a_list_is_shown_as_the_default_one() {
    for (minor, list, one) in [(36, ["a (default)", "b (default)"], "b (default)"), (37, ["a (default)", "b"], "b")] {
        let mut fixture = at(minor);
        for name in ["b", "a"] {
            fixture.post(&CLASSES, "", class(name, name == "b"));
        }
        let mut names = |verb: Verb, name: &'static str| -> Vec<Json> {
            let call = Call::new(verb, CLASSES, "", name);
            let table = fixture.call(call.header("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")).body();
            table.get("rows").items().iter().map(|row| row.get("cells").items()[0].clone()).collect()
        };
        assert_eq!(names(Verb::List, ""), list.map(Json::from), "{minor}");
        assert_eq!(names(Verb::Get, "b"), [Json::from(one)], "{minor}");
    }
}

#[test]
fn a_writer_who_does_not_know_claims_leaves_them() {
    for (minor, kept) in [(36, false), (37, true)] {
        let mut fixture = at(minor);
        let mut body = pod();
        body.set(&["spec", "resourceClaims"], json!([{"name": "r", "resourceClaimName": "c"}]));
        fixture.post(&PODS, "default", body);
        let stored =
            |fixture: &Fixture| fixture.server.object(&PODS, &ObjectKey::namespaced("default", "p")).unwrap().json();
        let mut write = |claims: Json| {
            let mut body = stored(&fixture);
            body.set(&["status", "resourceClaimStatuses"], claims);
            fixture.call(Call::new(Verb::Update, PODS, "default", "p").subresource("status").body(body)).body()
        };
        write(json!([{"name": "r", "resourceClaimName": "c"}]));
        let left = write(Json::Null);
        assert_eq!(!left.at(&["status", "resourceClaimStatuses"]).is_null(), kept, "{minor}");
    }
}

#[test]
fn kinds_that_came_are_there() {
    let bundles = Resource::of("certificates.k8s.io", "v1", "clustertrustbundles");
    let bundle = json!({"kind": "ClusterTrustBundle", "apiVersion": "certificates.k8s.io/v1",
        "metadata": {"name": "b"}, "spec": {"trustBundle": "x"}});
    for (minor, code) in [(36, 404), (37, 201)] {
        assert_eq!(at(minor).post(&bundles, "", bundle.clone()).code, code, "{minor}");
    }
}
