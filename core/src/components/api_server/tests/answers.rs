//! What kube-apiserver v1.34.4 answers about objects that upstream's own tests write: codes, warnings and stored forms.

use alloc::string::String;
use alloc::vec::Vec;

use super::Fixture;
use crate::json;
use crate::network::{Answer, Call, EVENTS, PODS, Resource, Verb};
use crate::objects::Json;

fn pod() -> Json {
    json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "x"},
        "spec": {"containers": [{"name": "c", "image": "i"}]}})
}

impl Fixture {
    fn created(&mut self, of: &Resource, namespace: &str, body: &Json) -> Answer {
        self.call(Call::new(Verb::Create, of.clone(), namespace, "").body(body.clone()))
    }
}

fn warnings(answer: &Answer) -> Vec<String> {
    let own = answer.headers.iter().filter(|(name, _)| name.as_str() == "Warning");
    own.map(|(_, text)| String::from(text.as_str())).collect()
}

#[test]
fn an_event_with_a_time_may_stand_in_the_namespace_of_the_system() {
    let mut event = json!({"kind": "Event", "apiVersion": "v1", "metadata": {"name": "e", "namespace": "kube-system"},
        "involvedObject": {"kind": "Node"}, "reason": "R", "action": "A", "reportingComponent": "c",
        "reportingInstance": "i", "type": "Normal", "eventTime": "2026-01-01T00:00:00.000000Z"});
    let mut fixture = Fixture::new();
    assert_eq!(fixture.created(&EVENTS, "kube-system", &event).code, 201);
    event.remove(&["eventTime"]);
    event.set(&["metadata", "name"], "f");
    let told = fixture.created(&EVENTS, "kube-system", &event);
    assert!(told.message().ends_with("does not match event.namespace"), "{}", told.message());
}

#[test]
fn annotations_that_fields_replace_are_warned_of() {
    let mut fixture = Fixture::new();
    let key = "container.apparmor.security.beta.kubernetes.io/c";
    let mut named = pod();
    named.set(&["metadata", "annotations", key], "unconfined");
    let why = "deprecated since v1.30; use the \"appArmorProfile\" field instead";
    let expected = alloc::format!("299 - \"metadata.annotations[{key}]: {}\"", why.replace('"', "\\\""));
    assert_eq!(warnings(&fixture.created(&PODS, "default", &named)), [expected]);
    // The Pod's own profile says the same.
    named.set(&["metadata", "name"], "y");
    named.set(&["spec", "securityContext", "appArmorProfile", "type"], "Unconfined");
    assert_eq!(warnings(&fixture.created(&PODS, "default", &named)), Vec::<String>::new());
    let claim = json!({"kind": "PersistentVolumeClaim", "apiVersion": "v1", "metadata": {"name": "x",
        "annotations": {"volume.beta.kubernetes.io/storage-class": "fast"}},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}});
    let told = warnings(&fixture.created(&Resource::of("", "v1", "persistentvolumeclaims"), "default", &claim));
    assert!(told[0].contains("[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8"), "{told:?}");
}

#[test]
fn a_pod_keeps_the_class_that_was_sent_and_nobody_owns_its_end() {
    let mut fixture = Fixture::new();
    fixture.server.track_managers();
    let mut sent = pod();
    sent.set(&["status", "qosClass"], "Guaranteed");
    sent.set(&["metadata", "deletionTimestamp"], "2026-01-01T00:00:00Z");
    sent.set(&["spec", "containers"], json!([{"name": "c", "image": "i", "env": [{"name": "<&>", "value": "v"}]}]));
    let made = fixture.created(&PODS, "default", &sent).body();
    assert_eq!(made.at(&["status", "qosClass"]).as_str(), Some("Guaranteed"));
    let owned = made.at(&["metadata", "managedFields"]).items()[0].get("fieldsV1").clone();
    assert!(owned.get("f:metadata").is_null(), "{owned}");
    let list = owned.at(&["f:spec", "f:containers", "k:{\"name\":\"c\"}", "f:env"]).clone();
    assert!(!list.get("k:{\"name\":\"\\u003c\\u0026\\u003e\"}").is_null(), "{list}");
}

#[test]
fn what_a_pod_names_is_refused_as_upstream_words_it() {
    let mut fixture = Fixture::new();
    let answer = {
        let mut named = pod();
        named.set(&["spec", "runtimeClassName"], "a/b");
        fixture.created(&PODS, "default", &named)
    };
    assert_eq!(answer.code, 500);
    assert_eq!(answer.message(), "invalid resource name \"a/b\": [may not contain '/']");
    let containers = json!([{"name": "", "image": "i"}, {"name": "", "image": "i"}]);
    let (_, told) = fixture.posted(&PODS, &pod(), &["spec", "containers"], containers);
    assert!(told.ends_with("spec.containers[1].name: Required value, spec.containers[1].name: Duplicate value: \"\"]"));
    let class = json!({"kind": "PriorityClass", "apiVersion": "scheduling.k8s.io/v1",
        "metadata": {"name": "system-node-critical"}});
    let (_, told) =
        fixture.posted(&Resource::of("scheduling.k8s.io", "v1", "priorityclasses"), &class, &["value"], 1_i64);
    assert!(told.ends_with("error: value of system-node-critical PriorityClass must be 2000001000"), "{told}");
}

#[test]
fn a_template_names_the_same_profiles_as_its_annotations() {
    let controllers = Resource::of("", "v1", "replicationcontrollers");
    let controller = json!({"kind": "ReplicationController", "apiVersion": "v1", "metadata": {"name": "x"},
        "spec": {"selector": {"a": "b"}, "template": {"metadata": {"labels": {"a": "b"},
            "annotations": {"seccomp.security.alpha.kubernetes.io/pod": "unconfined"}}}}});
    let spec = json!({"containers": [{"name": "c", "image": "i"}],
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}});
    let (_, told) = Fixture::new().posted(&controllers, &controller, &["spec", "template", "spec"], spec);
    let path = "spec.template.spec.securityContext.seccompProfile.type";
    assert_eq!(told, alloc::format!("{path}: Forbidden: seccomp type in annotation and field must match"));
}

#[test]
fn a_job_without_labels_has_one_map_with_its_template() {
    let jobs = Resource::of("batch", "v1", "jobs");
    let mut job = json!({"kind": "Job", "apiVersion": "batch/v1", "metadata": {"name": "x"},
        "spec": {"template": {"metadata": {"labels": {"a": "b"}},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}});
    let mut fixture = Fixture::new();
    fixture.server.track_managers();
    let made = fixture.created(&jobs, "default", &job).body();
    assert_eq!(made.at(&["metadata", "labels"]), made.at(&["spec", "template", "metadata", "labels"]));
    let owned = made.at(&["metadata", "managedFields"]).items()[0].at(&["fieldsV1", "f:metadata", "f:labels"]).clone();
    assert_eq!(owned, json!({".": {}, "f:a": {}}));
    job.set(&["metadata", "name"], "y");
    job.set(&["metadata", "labels", "a"], "b");
    let made = fixture.created(&jobs, "default", &job).body();
    assert_eq!(made.at(&["metadata", "labels"]), &json!({"a": "b"}));
}

#[test]
fn networks_and_scales_are_checked() {
    let mut fixture = Fixture::new();
    let policies = Resource::of("networking.k8s.io", "v1", "networkpolicies");
    let policy = json!({"kind": "NetworkPolicy", "apiVersion": "networking.k8s.io/v1", "metadata": {"name": "x"},
        "spec": {"podSelector": {}}});
    let (_, told) = fixture.posted(&policies, &policy, &["spec", "ingress"], json!([{"from": [{}]}]));
    assert_eq!(told, "spec.ingress[0].from[0]: Required value: must specify a peer");
    let ingresses = Resource::of("networking.k8s.io", "v1", "ingresses");
    let ingress = json!({"kind": "Ingress", "apiVersion": "networking.k8s.io/v1", "metadata": {"name": "x"}});
    let rules = json!([{"host": "*.a", "http": {"paths": [{"path": "a", "pathType": "Exact", "backend": {}}]}}]);
    let (_, told) = fixture.posted(&ingresses, &ingress, &["spec", "rules"], rules);
    assert_eq!(
        told,
        "[spec.rules[0].http.paths[0].path: Invalid value: \"a\": must be an absolute path, \
         spec.rules[0].http.paths[0].backend: Invalid value: \"\": resource or service backend is required]"
    );
    let scalers = Resource::of("autoscaling", "v2", "horizontalpodautoscalers");
    let scaler = json!({"kind": "HorizontalPodAutoscaler", "apiVersion": "autoscaling/v2", "metadata": {"name": "x"},
        "spec": {"scaleTargetRef": {"kind": "Deployment", "apiVersion": "apps/v1", "name": "d"}}});
    let (_, told) = fixture.posted(&scalers, &scaler, &["spec", "maxReplicas"], 0_i64);
    assert!(told.contains("spec.maxReplicas: Invalid value: 0: must be greater than 0"), "{told}");
    let classes = Resource::of("storage.k8s.io", "v1", "volumeattributesclasses");
    let class = json!({"kind": "VolumeAttributesClass", "apiVersion": "storage.k8s.io/v1", "metadata": {"name": "x"}});
    let (_, told) = fixture.posted(&classes, &class, &["driverName"], "d");
    assert_eq!(told, "parameters: Required value: must contain at least one key/value pair");
}
