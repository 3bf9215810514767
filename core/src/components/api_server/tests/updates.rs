//! What the server says of changes, bindings and reads of stored objects, in the words of kube-apiserver v1.34.4.

use alloc::format;
use alloc::string::String;

use super::Fixture;
use crate::json;
use crate::network::{Answer, Call, EVENTS, NEW_EVENTS, NODES, PODS, Resource, SERVICES, Verb};
use crate::objects::{Json, ObjectKey};

impl Fixture {
    /// Creates an object and changes one field of it with a PUT; returns the answer.
    pub(super) fn changed(
        &mut self,
        resource: &Resource,
        object: &Json,
        path: &[&str],
        value: impl Into<Json>,
    ) -> Answer {
        let name = String::from(object.at(&["metadata", "name"]).as_str().unwrap_or(""));
        let namespace = object.at(&["metadata", "namespace"]).as_str().unwrap_or("");
        let made = self.post(resource, namespace, object.clone());
        let key = ObjectKey::namespaced(namespace, &name);
        let stored = self.server.object(resource, &key).map_or_else(|| made.body(), |object| object.json());
        let mut body = stored;
        body.set(path, value.into());
        self.call(Call::new(Verb::Update, resource.clone(), namespace, &name).body(body))
    }
}

fn causes(answer: &Answer) -> usize {
    answer.body().at(&["details", "causes"]).items().len()
}

#[test]
fn daemon_sets_tell_of_their_selector_first() {
    let mut fixture = Fixture::new();
    let labels = json!({"app": "a"});
    let daemons = json!({"kind": "DaemonSet", "apiVersion": "apps/v1",
        "metadata": {"name": "d", "namespace": "default"},
        "spec": {"selector": {"matchLabels": labels.clone()}, "template": {"metadata": {"labels": labels},
            "spec": {"containers": [{"name": "c", "image": "i"}]}}}});
    let kind = Resource::of("apps", "v1", "daemonsets");
    let told = fixture.changed(&kind, &daemons, &["spec", "selector", "matchLabels", "app"], "b").message();
    let first = "DaemonSet.apps \"d\" is invalid: [spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"b\"}}: \
                 field is immutable, spec.template.metadata.labels: ";
    assert!(told.starts_with(first), "{told}");
    let path = ["metadata", "annotations", "deprecated.daemonset.template.generation"];
    let told = fixture.changed(&kind, &daemons, &path, "x");
    let why = "DaemonSet in version \"v1\" cannot be handled as a DaemonSet: strconv.ParseInt: parsing \"x\": invalid \
               syntax";
    assert_eq!((told.code, told.message()), (400, String::from(why)));
}

#[test]
fn stateful_sets_check_the_labels_of_their_template_twice() {
    let mut fixture = Fixture::new();
    let labels = json!({"app": "a"});
    let claim = json!({"metadata": {"name": "c"}, "spec": {"accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}}}});
    let set = json!({"kind": "StatefulSet", "apiVersion": "apps/v1",
        "metadata": {"name": "s", "namespace": "default"},
        "spec": {"selector": {"matchLabels": labels.clone()}, "volumeClaimTemplates": [claim.clone()],
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}});
    let kind = Resource::of("apps", "v1", "statefulsets");
    let path = ["spec", "template", "metadata", "labels", "b"];
    assert_eq!(causes(&fixture.changed(&kind, &set, &path, "-")), 2);
    let told = fixture.changed(&kind, &set, &["spec", "volumeClaimTemplates"], json!([claim.clone(), claim])).message();
    assert!(told.starts_with("StatefulSet.apps \"s\" is invalid: spec: Forbidden: updates to"), "{told}");
}

#[test]
fn what_changes_is_checked_as_if_it_were_new() {
    let mut fixture = Fixture::new();
    let class = json!({"kind": "RuntimeClass", "apiVersion": "node.k8s.io/v1", "metadata": {"name": "r"},
        "handler": "h", "overhead": {"podFixed": {"cpu": "1"}}});
    let classes = Resource::of("node.k8s.io", "v1", "runtimeclasses");
    let told = fixture.changed(&classes, &class, &["overhead", "podFixed", "cpu"], "-1").message();
    let why = "overhead.limits[cpu]: Invalid value: \"-1\": must be greater than or equal to 0";
    assert_eq!(told, format!("RuntimeClass.node.k8s.io \"r\" is invalid: {why}"));
    let csi = json!({"kind": "CSINode", "apiVersion": "storage.k8s.io/v1", "metadata": {"name": "n"},
        "spec": {"drivers": [{"name": "d", "nodeID": "i", "topologyKeys": null}]}});
    let nodes = Resource::of("storage.k8s.io", "v1", "csinodes");
    let drivers = json!([{"name": "e", "nodeID": "x".repeat(257).as_str(), "topologyKeys": null}]);
    let told = fixture.changed(&nodes, &csi, &["spec", "drivers"], drivers).message();
    assert!(told.ends_with("\": must be 256 characters or less"), "{told}");
    let role = json!({"kind": "Role", "apiVersion": "rbac.authorization.k8s.io/v1",
        "metadata": {"name": "r", "namespace": "default"}, "rules": []});
    let roles = Resource::of("rbac.authorization.k8s.io", "v1", "roles");
    assert_eq!(causes(&fixture.changed(&roles, &role, &["metadata", "finalizers"], json!(["a"]))), 3);
    let claim = json!({"kind": "PersistentVolumeClaim", "apiVersion": "v1",
        "metadata": {"name": "c", "namespace": "default"}, "spec": {"accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}}}});
    let claims = Resource::of("", "v1", "persistentvolumeclaims");
    let grown = fixture.changed(&claims, &claim, &["spec", "resources", "requests", "storage"], "2Gi");
    assert_eq!(grown.code, 422, "{}", grown.message());
}

#[test]
fn owners_are_printed_in_the_order_of_their_fields() {
    let owner = |uid: &str| {
        json!({"uid": uid, "name": "o", "kind": "Node", "controller": true, "blockOwnerDeletion": true,
            "apiVersion": "v1"})
    };
    let mut fixture = Fixture::new();
    let node = json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}});
    let owners = json!([owner("1"), owner("2")]);
    let told = fixture.changed(&NODES, &node, &["metadata", "ownerReferences"], owners).message();
    let first = "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"o\",\"uid\":\"1\",\"controller\":true,\
                 \"blockOwnerDeletion\":true}";
    assert!(told.contains(first), "{told}");
}

#[test]
fn a_binding_compares_the_revision_and_only_the_subresource_the_uid() {
    let mut fixture = Fixture::new();
    let pod = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}]}});
    fixture.call(Call::new(Verb::Create, PODS, "default", "").body(pod));
    let bindings = Resource::of("", "v1", "bindings");
    let binding = |field: &str, value: &str| {
        let mut binding = json!({"kind": "Binding", "apiVersion": "v1", "metadata": {"name": "p"},
            "target": {"kind": "Node", "name": "n"}});
        binding.set(&["metadata", field], value);
        binding
    };
    let mut post = |body: Json| fixture.call(Call::new(Verb::Create, bindings.clone(), "default", "").body(body));
    let older = post(binding("resourceVersion", "1")).message();
    assert!(older.contains("Precondition failed: ResourceVersion in precondition: 1, "), "{older}");
    assert_eq!(post(binding("name", "")).message(), "Name parameter required.");
    assert_eq!(post(binding("namespace", "other")).code, 400);
    assert_eq!(post(binding("uid", "another")).code, 201);
}

#[test]
fn events_have_any_name_and_change_in_their_series_alone() {
    let mut fixture = Fixture::new();
    let event = json!({"kind": "Event", "apiVersion": "v1", "metadata": {"name": "A_B"}, "involvedObject": {}});
    assert_eq!(fixture.call(Call::new(Verb::Create, EVENTS, "default", "").body(event)).code, 201);
    let event = json!({"kind": "Event", "apiVersion": "events.k8s.io/v1",
        "metadata": {"name": "e", "namespace": "default"}, "eventTime": "2026-01-01T00:00:00.000000Z", "type": "Normal",
        "reason": "R", "action": "A", "reportingController": "c", "reportingInstance": "i", "note": "n",
        "regarding": {"kind": "Node", "name": "w"}});
    let told = fixture.changed(&NEW_EVENTS, &event, &["note"], "other").message();
    assert_eq!(told, "Event \"e\" is invalid: message: Invalid value: \"other\": field is immutable");
    let once = fixture.changed(&NEW_EVENTS, &event, &["series"], json!({"count": 1})).message();
    let why = "[series.count: Invalid value: \"\": should be at least 2, series.lastObservedTime: Required value]";
    assert_eq!(once, format!("Event \"e\" is invalid: {why}"));
    let series = json!({"count": 2, "lastObservedTime": "2026-01-01T00:00:00.000000Z"});
    assert_eq!(fixture.changed(&NEW_EVENTS, &event, &["series"], series).code, 200);
}

#[test]
fn reads_of_events_never_come_from_the_cache() {
    let mut fixture = Fixture::new();
    for name in ["a", "b"] {
        fixture.create_node(name);
        let event = json!({"kind": "Event", "apiVersion": "v1", "metadata": {"name": name}, "involvedObject": {}});
        fixture.call(Call::new(Verb::Create, EVENTS, "default", "").body(event));
    }
    for (resource, namespace, items, code) in [(NODES, "", 2, 500), (EVENTS, "default", 1, 400)] {
        let list = Call::new(Verb::List, resource.clone(), namespace, "");
        let list = list.query("resourceVersion", "0").query("limit", "1").query("fieldSelector", "=");
        assert_eq!(fixture.call(list).body().get("items").items().len(), items);
        let get = Call::new(Verb::Get, resource, namespace, "a").query("resourceVersion", "x");
        assert_eq!(fixture.call(get).code, code);
    }
}

#[test]
fn a_deletion_whose_grace_is_over_may_still_change_its_policy() {
    let mut fixture = Fixture::new();
    let pod = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p", "finalizers": ["a.b/c"]},
        "spec": {"containers": [{"name": "c", "image": "i"}]}});
    fixture.call(Call::new(Verb::Create, PODS, "default", "").body(pod));
    let mut delete = |policy: &str| {
        let body = json!({"propagationPolicy": policy});
        let answer = fixture.call(Call::new(Verb::Delete, PODS, "default", "p").body(body));
        answer.body().at(&["metadata", "finalizers"]).clone()
    };
    assert_eq!(delete("Background"), json!(["a.b/c"]));
    assert_eq!(delete("Foreground"), json!(["a.b/c", "foregroundDeletion"]));
}

#[test]
fn a_scale_prints_the_labels_of_its_selector_first() {
    let selector = json!({"matchLabels": {"a": "b"},
        "matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]});
    assert_eq!(crate::objects::selector::selector_text(&selector), "a=b,a in (b)");
}

#[test]
fn a_changed_service_repeats_no_port_of_its_nodes() {
    let port = |name: &str, number: i64| json!({"name": name, "port": 80, "protocol": "TCP", "nodePort": number});
    let service = json!({"kind": "Service", "apiVersion": "v1", "metadata": {"name": "s", "namespace": "default"},
        "spec": {"type": "NodePort", "ports": [port("a", 30080)]}});
    let twice = json!([port("a", 30080), port("b", 30080)]);
    let told = Fixture::new().changed(&SERVICES, &service, &["spec", "ports"], twice.clone());
    assert_eq!((told.code, told.message().as_str()), (500, "duplicate nodePort: {TCP 30080}"));
    let mut new = service;
    new.set(&["spec", "ports"], twice);
    assert_eq!(Fixture::new().post(&SERVICES, "default", new).code, 422);
}

#[test]
fn a_map_that_is_sent_empty_is_printed_as_one() {
    let labels = json!({"a": "b"});
    let set = json!({"kind": "ReplicaSet", "apiVersion": "apps/v1", "metadata": {"name": "r", "namespace": "default"},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels},
            "spec": {"containers": [{"name": "c", "image": "i"}]}}}});
    let path = ["spec", "template", "metadata", "labels"];
    let told = Fixture::new().changed(&Resource::of("apps", "v1", "replicasets"), &set, &path, json!({})).message();
    let why = "spec.template.metadata.labels: Invalid value: {}: `selector` does not match template `labels`";
    assert!(told.ends_with(why), "{told}");
}
