//! What the server says otherwise from one release to the next, in the words of kube-apiserver v1.34.4 and v1.36.1.

use alloc::format;
use alloc::string::ToString;

use super::Fixture;
use crate::json;
use crate::network::{Call, NODES, PODS, Resource, SERVICES, Verb};
use crate::objects::Json;
use crate::profile::Release;

const RUNTIME_CLASSES: Resource = Resource::of("node.k8s.io", "v1", "runtimeclasses");
const STORAGE_CLASSES: Resource = Resource::of("storage.k8s.io", "v1", "storageclasses");
const ATTACHMENTS: Resource = Resource::of("storage.k8s.io", "v1", "volumeattachments");
const CSI_NODES: Resource = Resource::of("storage.k8s.io", "v1", "csinodes");
const ROLES: Resource = Resource::of("rbac.authorization.k8s.io", "v1", "roles");

fn class() -> Json {
    json!({"kind": "RuntimeClass", "apiVersion": "node.k8s.io/v1", "metadata": {"name": "r"}, "handler": "h",
        "scheduling": {"tolerations": [{"key": "k", "operator": "Exists"}]}})
}

fn pod(variable: Json, volumes: Json) -> Json {
    let containers = json!([{"name": "c", "image": "i", "env": [{"name": "A", "valueFrom": variable}]}]);
    json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"},
        "spec": {"containers": containers, "volumes": volumes}})
}

#[test]
fn a_runtime_class_needs_a_handler_from_1_36_on_and_names_its_tolerations_from_1_35_on() {
    for (minor, handler, list) in [
        (34, "handler: Invalid value: \"\": a lowercase RFC 1123 label must", "scheduling.tolerations.tolerations[0]"),
        (35, "handler: Invalid value: \"\": a lowercase RFC 1123 label must", "scheduling.tolerations[0]"),
        (36, "handler: Required value", "scheduling.tolerations[0]"),
    ] {
        let mut fixture = Fixture::of(Release::new(minor, 0));
        let (code, told) = fixture.posted(&RUNTIME_CLASSES, &class(), &["handler"], "");
        assert!(code == 422 && told.starts_with(handler), "{minor}: {told}");
        let wrong = json!([{"key": "k", "operator": "Maybe"}]);
        let (code, told) = fixture.posted(&RUNTIME_CLASSES, &class(), &["scheduling", "tolerations"], wrong);
        assert!(code == 422 && told.starts_with(&format!("{list}.operator: Unsupported value")), "{minor}: {told}");
    }
}

#[test]
fn the_fields_of_a_storage_class_are_immutable_from_1_36_on() {
    let class = json!({"kind": "StorageClass", "apiVersion": "storage.k8s.io/v1", "metadata": {"name": "s"},
        "provisioner": "a.b/c", "parameters": {"a": "b"}});
    for (minor, expected) in [
        (35, "provisioner: Forbidden: updates to provisioner are forbidden."),
        (36, "provisioner: Invalid value: \"x.y/z\": field is immutable"),
    ] {
        let answer = Fixture::of(Release::new(minor, 0)).changed(&STORAGE_CLASSES, &class, &["provisioner"], "x.y/z");
        assert!(answer.code == 422 && answer.message().ends_with(expected), "{minor}: {}", answer.message());
    }
}

#[test]
fn strategies_check_a_change_once_or_twice() {
    let attachment = json!({"kind": "VolumeAttachment", "apiVersion": "storage.k8s.io/v1", "metadata": {"name": "v"},
        "spec": {"attacher": "d.x", "nodeName": "n", "source": {"persistentVolumeName": "p"}}});
    let node = json!({"kind": "CSINode", "apiVersion": "storage.k8s.io/v1", "metadata": {"name": "n"},
        "spec": {"drivers": []}});
    let role = json!({"kind": "Role", "apiVersion": "rbac.authorization.k8s.io/v1",
        "metadata": {"name": "r", "namespace": "default"}, "rules": []});
    for (minor, of_attachment, of_node, of_role) in [(34, 4, 4, 5), (35, 3, 4, 4), (36, 3, 3, 4)] {
        let mut fixture = Fixture::of(Release::new(minor, 0));
        let mut causes = |of: &Resource, object: &Json| {
            let answer = fixture.changed(of, object, &["metadata", "labels"], json!({"a": "BAD value!"}));
            answer.body().at(&["details", "causes"]).items().len()
        };
        let found = (causes(&ATTACHMENTS, &attachment), causes(&CSI_NODES, &node), causes(&ROLES, &role));
        assert_eq!(found, (of_attachment, of_node, of_role), "{minor}");
    }
}

#[test]
fn an_attachment_says_no_error_with_a_negative_code() {
    let attachment = json!({"kind": "VolumeAttachment", "apiVersion": "storage.k8s.io/v1", "metadata": {"name": "v"},
        "spec": {"attacher": "d.x", "nodeName": "n", "source": {"persistentVolumeName": "p"}}});
    let mut fixture = Fixture::of(Release::new(36, 0));
    let create = Call::new(Verb::Create, ATTACHMENTS, "", "").body(attachment);
    let mut body = fixture.call(create).body();
    body.set(&["status", "attachError"], json!({"message": "m", "errorCode": -1}));
    let answer = fixture.call(Call::new(Verb::Update, ATTACHMENTS, "", "v").subresource("status").body(body));
    let expected = "status.attachError.errorCode: Invalid value: -1: must be between 0 and 2147483647, inclusive";
    assert!(answer.message().ends_with(expected), "{}", answer.message());
}

#[test]
fn variables_come_from_files_from_1_35_on() {
    let words = |minor: u16| match minor {
        34 => "`configMapKeyRef` or `secretKeyRef`",
        _ => "`configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
    };
    let file = |volume: &str| json!({"fileKeyRef": {"volumeName": volume, "path": "f", "key": "K"}});
    let volumes = || json!([{"name": "v", "emptyDir": {}}, {"name": "c", "configMap": {"name": "c"}}]);
    for minor in [34, 36] {
        let mut fixture = Fixture::of(Release::new(minor, 0));
        let mut told = |body: Json| fixture.post(&PODS, "default", body).message();
        let answer = told(pod(json!({}), json!([])));
        assert!(answer.ends_with(words(minor)), "{minor}: {answer}");
        let answer = told(pod(file("none"), volumes()));
        assert_eq!(answer.ends_with("fileKeyRef.volumeName: Not found: \"none\""), minor == 36, "{minor}: {answer}");
        let answer = told(pod(file("c"), volumes()));
        let expected = "Invalid value: \"c\": referenced volume must be of type emptyDir";
        assert_eq!(answer.ends_with(expected), minor == 36, "{minor}: {answer}");
        let answer = told(pod(json!({"fileKeyRef": {"volumeName": "v", "path": "../f", "key": "K"}}), volumes()));
        assert_eq!(answer.ends_with("path: Invalid value: \"../f\": must not contain '..'"), minor == 36, "{answer}");
        let answer = fixture.post(&PODS, "default", pod(file("v"), volumes()));
        assert_eq!(answer.code == 201, minor == 36, "{minor}: {}", answer.message());
    }
}

#[test]
fn a_service_with_external_addresses_is_warned_of_from_1_36_on() {
    let service = |kind: &str| {
        json!({"kind": "Service", "apiVersion": "v1", "metadata": {"name": "s"},
        "spec": {"type": kind, "ports": [{"port": 80}], "externalIPs": ["1.2.3.4"], "externalName": "a.b"}})
    };
    for (minor, kind, expected) in [(35, "ClusterIP", false), (36, "ClusterIP", true), (36, "ExternalName", false)] {
        let answer = Fixture::of(Release::new(minor, 0)).post(&SERVICES, "default", service(kind));
        let is_warned = answer.headers.iter().any(|(_, text)| text.contains("spec.externalIPs is deprecated and may"));
        assert_eq!(is_warned, expected, "{minor} {kind}: {:?}", answer.headers);
    }
}

#[test]
fn the_status_of_a_node_is_not_warned_of() {
    let mut fixture = Fixture::of(Release::new(34, 0));
    let node = json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}, "spec": {"externalID": "e"}});
    let made = fixture.post(&NODES, "", node);
    assert!(made.headers.iter().any(|(name, _)| *name == "Warning"), "{:?}", made.headers);
    let call = Call::new(Verb::Update, NODES, "", "n").subresource("status").body(made.body());
    let answer = fixture.call(call);
    assert!(answer.code == 200 && answer.headers.iter().all(|(name, _)| *name != "Warning"), "{:?}", answer.headers);
}

#[test]
fn a_mirror_pod_refers_to_no_secret() {
    let mut fixture = Fixture::of(Release::new(34, 0));
    for (field, value) in [
        ("imagePullSecrets", json!([{"name": "s"}])),
        ("volumes", json!([{"name": "v", "projected": {"sources": [{"secret": {"name": "s"}}]}}])),
        ("containers", json!([{"name": "c", "image": "i", "envFrom": [{"secretRef": {"name": "s"}}]}])),
    ] {
        let mut body = json!({"kind": "Pod", "apiVersion": "v1", "spec": {"nodeName": "n",
            "containers": [{"name": "c", "image": "i"}]}, "metadata": {"name": "m",
            "annotations": {"kubernetes.io/config.mirror": "x"}}});
        body.set(&["spec", field], value);
        let answer = fixture.post(&PODS, "default", body);
        let expected = "pods \"m\" is forbidden: a mirror pod may not reference secrets";
        assert_eq!((answer.code, answer.message()), (403, expected.to_string()), "{field}");
    }
}

#[test]
fn the_annotations_of_a_changed_pod_are_checked_twice() {
    let pod = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p", "namespace": "default"},
        "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let mirror = json!({"kubernetes.io/config.mirror": "x"});
    let answer = Fixture::of(Release::new(34, 0)).changed(&PODS, &pod, &["metadata", "annotations"], mirror);
    let body = answer.body();
    let causes = body.at(&["details", "causes"]).items();
    let told = |words: &str| {
        causes.iter().filter(|cause| cause.get("message").as_str().is_some_and(|own| own.contains(words))).count()
    };
    assert_eq!(told("must set spec.nodeName if mirror pod annotation is set"), 2, "{body}");
    assert_eq!(told("may not add mirror pod annotation"), 1, "{body}");
}

#[test]
fn the_template_of_a_suspended_job_may_change_with_its_condition_from_1_36_on() {
    let jobs = Resource::of("batch", "v1", "jobs");
    let job = json!({"kind": "Job", "apiVersion": "batch/v1", "metadata": {"name": "j", "namespace": "default"},
        "spec": {"suspend": true, "template": {"spec": {"restartPolicy": "Never",
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}}}});
    let suspended = json!({"conditions": [{"type": "Suspended", "status": "True"}]});
    let placed: (&[&str], Json) = (&["spec", "template", "spec", "nodeSelector"], json!({"a": "b"}));
    let resized: (&[&str], Json) = (
        &["spec", "template", "spec", "containers"],
        json!([{"name": "c", "image": "i", "resources": {"requests": {"cpu": "2"}}}]),
    );
    for (minor, has_condition, may_move, may_resize) in
        [(35, false, true, false), (35, true, true, false), (36, false, false, false), (36, true, true, true)]
    {
        let code = |(path, value): &(&[&str], Json)| {
            let mut fixture = Fixture::of(Release::new(minor, 0));
            fixture.post(&jobs, "default", job.clone());
            let mut call = |subresource: &'static str, path: &[&str], value: &Json| {
                let key = crate::objects::ObjectKey::namespaced("default", "j");
                let mut body = fixture.server.object(&jobs, &key).unwrap().json();
                body.set(path, value.clone());
                let call = Call::new(Verb::Update, jobs.clone(), "default", "j").subresource(subresource);
                fixture.call(call.body(body)).code
            };
            if has_condition {
                assert_eq!(call("status", &["status"], &suspended), 200);
            }
            call("", path, value)
        };
        let expected = [may_move, may_resize].map(|may| if may { 200 } else { 422 });
        assert_eq!([code(&placed), code(&resized)], expected, "{minor} {has_condition}");
    }
}

#[test]
fn a_containers_own_policy_says_whether_it_may_leave_its_end() {
    let rules = json!([{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}]);
    let by_rule = json!({"name": "c", "image": "i", "restartPolicy": "Never", "restartPolicyRules": rules});
    let of = |policy: &str| json!({"name": "c", "image": "i", "restartPolicy": policy});
    for (minor, list, policy, container, code) in [
        (36, "containers", "Never", by_rule.clone(), 200),
        (36, "containers", "Never", of("Always"), 200),
        (36, "containers", "OnFailure", of("Always"), 200),
        (36, "containers", "Always", of("Never"), 422),
        (36, "containers", "Never", json!({"name": "c", "image": "i"}), 422),
        (36, "initContainers", "Never", by_rule.clone(), 200),
        (36, "initContainers", "Never", of("Always"), 200),
        (34, "containers", "Always", of("Never"), 200),
        (34, "containers", "Never", by_rule.clone(), 422),
        (34, "initContainers", "Never", of("Always"), 200),
    ] {
        let mut fixture = Fixture::of(Release::new(minor, 0));
        let mut pod = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"},
            "spec": {"restartPolicy": policy, "containers": [{"name": "main", "image": "i"}]}});
        pod.set(&["spec", list], json!([container]));
        if list == "initContainers" {
            pod.set(&["spec", "containers"], json!([{"name": "main", "image": "i"}]));
        }
        let statuses = if list == "containers" { "containerStatuses" } else { "initContainerStatuses" };
        fixture.post(&PODS, "default", pod);
        let mut tell = |state: Json| {
            let status = json!({"name": "c", "image": "i", "imageID": "", "ready": false, "restartCount": 0,
                "state": state});
            let mut patch = json!({"status": {}});
            patch.set(&["status", statuses], json!([status]));
            fixture.call(Call::strategic_patch(PODS, "default", "p", patch).subresource("status")).code
        };
        assert_eq!(tell(json!({"terminated": {"exitCode": 42}})), 200, "{minor}");
        assert_eq!(tell(json!({"waiting": {"reason": "CrashLoopBackOff"}})), code, "{minor} {list} {policy}");
    }
}

#[test]
fn a_container_may_have_a_policy_of_restarts_of_its_own_from_1_35_on() {
    let rule = |action: &str| json!([{"action": action, "exitCodes": {"operator": "In", "values": [42]}}]);
    let all = "Unsupported value: \"RestartAllContainers\": supported values: \"Restart\"";
    for (minor, list, policy, rules, expected) in [
        (34, "initContainers", "Never", Json::Null, ""),
        (35, "initContainers", "Never", rule("Restart"), ""),
        (35, "initContainers", "OnFailure", Json::Null, ""),
        (
            35,
            "initContainers",
            "Always",
            rule("Restart"),
            "Rules: Forbidden: restartPolicyRules are not allowed for init containers with restart policy Always",
        ),
        (36, "initContainers", "Always", rule("Restart"), ""),
        (35, "containers", "Never", rule("RestartAllContainers"), all),
        (36, "containers", "Never", rule("RestartAllContainers"), ""),
        (36, "containers", "Perhaps", Json::Null, "supported values: \"Always\", \"Never\", \"OnFailure\""),
        (36, "containers", "Never", json!([{"action": "Restart"}]), "exitCodes: Required value: must be specified"),
        (31, "containers", "Never", Json::Null, "restartPolicy: Forbidden: may not be set for non-init containers"),
    ] {
        let mut container = json!({"name": "c", "image": "i", "restartPolicy": policy});
        if !rules.is_null() {
            container.set(&["restartPolicyRules"], rules);
        }
        let mut pod = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"},
            "spec": {"containers": [{"name": "main", "image": "i"}]}});
        pod.set(&["spec", list], json!([container]));
        let answer = Fixture::of(Release::new(minor, 0)).post(&PODS, "default", pod);
        let told = if answer.code == 201 { "".to_string() } else { answer.message() };
        assert!(told.ends_with(expected) && told.is_empty() == expected.is_empty(), "{minor} {list}: {told}");
    }
}
