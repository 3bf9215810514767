//! What plugins change and refuse, and what strategies check, in the words of kube-apiserver v1.34 to v1.37.

use alloc::format;
use alloc::vec::Vec;

use super::Fixture;
use crate::json;
use crate::network::{PODS, Resource};
use crate::objects::Json;

const RUNTIME_CLASSES: Resource = Resource::of("node.k8s.io", "v1", "runtimeclasses");

/// Returns a Pod whose specification has more fields.
fn pod(name: &str, fields: Json) -> Json {
    let mut pod = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "i"}]}});
    for (field, value) in fields.fields() {
        pod.set(&["spec", field], value.clone());
    }
    pod
}

#[test]
fn a_runtime_class_says_where_its_pods_run() {
    let mut fixture = Fixture::new();
    let class = json!({"kind": "RuntimeClass", "apiVersion": "node.k8s.io/v1", "metadata": {"name": "r"},
        "handler": "h", "scheduling": {"nodeSelector": {"x": "y"},
            "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}]}});
    assert_eq!(fixture.post(&RUNTIME_CLASSES, "", class).code, 201);
    let pod = |name: &str, selector: Json| {
        let mut pod = pod(name, json!({}));
        pod.set(&["spec", "runtimeClassName"], "r");
        pod.set(&["spec", "nodeSelector"], selector);
        pod
    };
    let answer = fixture.post(&PODS, "default", pod("p", json!({"a": "b"})));
    assert_eq!(answer.code, 201);
    let spec = answer.body().get("spec").clone();
    assert_eq!(*spec.get("nodeSelector"), json!({"a": "b", "x": "y"}));
    let keys: Vec<&str> = spec.get("tolerations").items().iter().filter_map(|own| own.get("key").as_str()).collect();
    assert_eq!(keys, ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "k"]);
    let answer = fixture.post(&PODS, "default", pod("q", json!({"x": "z"})));
    let why = "conflict: runtimeClass.scheduling.nodeSelector[x] = y; pod.spec.nodeSelector[x] = z";
    assert_eq!((answer.code, answer.message()), (403, format!("pods \"q\" is forbidden: {why}").into()));
}
