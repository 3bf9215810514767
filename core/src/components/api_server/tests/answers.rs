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
