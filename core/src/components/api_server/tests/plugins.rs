//! What plugins change and refuse, and what strategies check, in the words of kube-apiserver v1.34 to v1.37.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Fixture;
use crate::json;
use crate::network::{Answer, Call, MERGE_PATCH, NAMESPACES, NEW_EVENTS, NODES, PODS, Resource, Verb};
use crate::objects::Json;
use crate::profile::Release;

const DEPLOYMENTS: Resource = Resource::of("apps", "v1", "deployments");
const POD_TEMPLATES: Resource = Resource::of("", "v1", "podtemplates");
const PRIORITY_CLASSES: Resource = Resource::of("scheduling.k8s.io", "v1", "priorityclasses");
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

fn warnings(answer: &Answer) -> Vec<String> {
    let all = answer.headers.iter().filter(|(name, _)| *name == *"Warning");
    all.map(|(_, warning)| String::from(warning.as_str())).collect()
}

fn level(name: &str, labels: &[(&str, &str)]) -> Json {
    let mut namespace = json!({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}});
    for (mode, value) in labels {
        namespace.set(&["metadata", "labels", &format!("pod-security.kubernetes.io/{mode}")], *value);
    }
    namespace
}

/// What the level restricted says of a Pod with nothing set.
const BARE: &str = "allowPrivilegeEscalation != false (container \"c\" must set \
    securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container \"c\" must set \
    securityContext.capabilities.drop=[\"ALL\"]), runAsNonRoot != true (pod or container \"c\" must set \
    securityContext.runAsNonRoot=true), seccompProfile (pod or container \"c\" must set \
    securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\")";

#[test]
fn a_level_of_pod_security_forbids_pods() {
    let mut fixture = Fixture::new();
    assert_eq!(fixture.post(&NAMESPACES, "", level("a", &[("enforce", "restricted")])).code, 201);
    let answer = fixture.post(&PODS, "a", pod("ps", json!({})));
    let expected = format!("pods \"ps\" is forbidden: violates PodSecurity \"restricted:latest\": {BARE}");
    assert_eq!((answer.code, answer.message().as_str()), (403, expected.as_str()));
    let safe = json!({"securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [{"name": "c", "image": "i", "securityContext": {"allowPrivilegeEscalation": false,
            "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}}}]});
    assert_eq!(fixture.post(&PODS, "a", pod("safe", safe)).code, 201);
    assert_eq!(fixture.post(&NAMESPACES, "", level("b", &[("enforce", "baseline")])).code, 201);
    let answer = fixture.post(
        &PODS,
        "b",
        pod(
            "ps",
            json!({"hostNetwork": true, "volumes": [{"name": "h", "hostPath": {"path": "/"}}],
                "containers": [{"name": "c", "image": "i", "securityContext": {"privileged": true,
                    "capabilities": {"add": ["SYS_ADMIN"]}}}]}),
        ),
    );
    assert_eq!(
        answer.message().as_str(),
        "pods \"ps\" is forbidden: violates PodSecurity \"baseline:latest\": non-default capabilities (container \
         \"c\" must not include \"SYS_ADMIN\" in securityContext.capabilities.add), host namespaces \
         (hostNetwork=true), hostPath volumes (volume \"h\"), privileged (container \"c\" must not set \
         securityContext.privileged=true)"
    );
    assert_eq!(fixture.post(&PODS, "b", pod("ps", json!({}))).code, 201);
}

#[test]
fn a_level_of_pod_security_warns_of_templates_and_of_pods_that_are_there() {
    let mut fixture = Fixture::new();
    assert_eq!(fixture.post(&NAMESPACES, "", level("a", &[])).code, 201);
    for name in ["p2", "p1", "p3"] {
        assert_eq!(fixture.post(&PODS, "a", pod(name, json!({}))).code, 201);
    }
    let label = json!({"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}});
    let answer =
        fixture.call(Call::new(Verb::Patch, NAMESPACES, "", "a").header("content-type", MERGE_PATCH).body(label));
    let reasons = "allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile";
    assert_eq!(
        warnings(&answer),
        [
            String::from(
                "299 - \"existing pods in namespace \\\"a\\\" violate the new PodSecurity enforce level \
                 \\\"restricted:latest\\\"\""
            ),
            format!("299 - \"p1 (and 2 other pods): {reasons}\""),
        ]
    );
    let deployment = json!({"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "d"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]}}}});
    let answer = fixture.post(&DEPLOYMENTS, "a", deployment);
    let expected = format!("would violate PodSecurity \"restricted:latest\": {BARE}").replace('"', "\\\"");
    assert_eq!((answer.code, warnings(&answer)), (201, Vec::from([format!("299 - \"{expected}\"")])));
}

#[test]
fn a_version_of_pod_security_has_the_checks_of_its_release() {
    let told = |minor: u16, labels: &[(&str, &str)], spec: Json| {
        let mut fixture = Fixture::of(Release::new(minor, 0));
        assert_eq!(fixture.post(&NAMESPACES, "", level("a", labels)).code, 201);
        let answer = fixture.post(&PODS, "a", pod("p", spec));
        String::from(answer.message().split_once("violates PodSecurity ").map_or("", |(_, told)| told))
    };
    let sysctl = |name: &str| json!({"securityContext": {"sysctls": [{"name": name, "value": "1"}]}});
    let newest = sysctl("net.ipv4.tcp_notsent_lowat");
    let why = "forbidden sysctls (net.ipv4.tcp_notsent_lowat)";
    assert_eq!(told(37, &[("enforce", "baseline")], newest.clone()), "");
    assert_eq!(told(36, &[("enforce", "baseline")], newest.clone()), format!("\"baseline:latest\": {why}"));
    let old = [("enforce", "baseline"), ("enforce-version", "v1.36")];
    assert_eq!(told(37, &old, newest.clone()), format!("\"baseline:v1.36\": {why}"));
    let to_come = [("enforce", "baseline"), ("enforce-version", "v1.37")];
    assert_eq!(told(36, &to_come, newest), format!("\"baseline:v1.37\": {why}"));
    let first = [("enforce", "restricted"), ("enforce-version", "v1.7")];
    let expected = "\"restricted:v1.7\": runAsNonRoot != true (pod or container \"c\" must set \
                    securityContext.runAsNonRoot=true)";
    assert_eq!(told(36, &first, json!({})), expected);
    let own_users = json!({"hostUsers": false, "securityContext": {"runAsUser": 0,
        "seccompProfile": {"type": "Localhost", "localhostProfile": "x"}},
        "containers": [{"name": "c", "image": "i", "securityContext": {"allowPrivilegeEscalation": false,
            "capabilities": {"drop": ["ALL"]}}}]});
    assert_eq!(told(36, &[("enforce", "restricted")], own_users.clone()), "");
    let expected = "\"restricted:v1.34\": runAsNonRoot != true (pod or container \"c\" must set \
                    securityContext.runAsNonRoot=true), runAsUser=0 (pod must not set runAsUser=0)";
    assert_eq!(told(36, &[("enforce", "restricted"), ("enforce-version", "v1.34")], own_users), expected);
}

#[test]
fn what_pods_set_is_told_with_the_names_of_all_containers() {
    let mut fixture = Fixture::new();
    assert_eq!(fixture.post(&NAMESPACES, "", level("a", &[("enforce", "baseline")])).code, 201);
    assert_eq!(fixture.post(&NAMESPACES, "", level("b", &[("enforce", "restricted")])).code, 201);
    let mut told = |namespace: &str, body: Json| {
        let answer = fixture.post(&PODS, namespace, body);
        String::from(answer.message().split_once("latest\": ").map_or("", |(_, told)| told))
    };
    let mut body = pod(
        "p",
        json!({"securityContext": {"seLinuxOptions": {"type": "t", "user": "u"},
                "seccompProfile": {"type": "Unconfined"}, "appArmorProfile": {"type": "Unconfined"}},
            "initContainers": [{"name": "i", "image": "i", "securityContext": {"seLinuxOptions": {"role": "r"}}}],
            "containers": [
                {"name": "c", "image": "i", "ports": [{"containerPort": 80, "hostPort": 80}],
                    "livenessProbe": {"httpGet": {"port": 1, "host": "1.2.3.4"}}},
                {"name": "d", "image": "i", "ports": [{"containerPort": 81, "hostPort": 8080}]}]}),
    );
    body.set(&["metadata", "annotations", "container.apparmor.security.beta.kubernetes.io/d"], "unconfined");
    let expected = "forbidden AppArmor profiles (pod and annotation must not set AppArmor profile type to \
        \"Unconfined\", \"container.apparmor.security.beta.kubernetes.io/d=\"unconfined\"\"), hostPort (containers \
        \"c\", \"d\" use hostPorts 80, 8080), probe or lifecycle host (container \"c\" uses probe or lifecycle host \
        \"1.2.3.4\"), seLinuxOptions (pod and container \"i\" set forbidden securityContext.seLinuxOptions: type \
        \"t\"; user may not be set; role may not be set), seccompProfile (pod must not set \
        securityContext.seccompProfile.type to \"Unconfined\")";
    assert_eq!(told("a", body), expected);
    let body = pod(
        "p",
        json!({"volumes": [{"name": "v", "nfs": {"server": "s", "path": "/"}},
        {"name": "e", "emptyDir": {}}, {"name": "w", "hostPath": {"path": "/"}}]}),
    );
    let told = told("b", body);
    let expected = "restricted volume types (volumes \"v\", \"w\" use restricted volume types \"hostPath\", \"nfs\")";
    assert!(told.contains(expected) && !told.contains("hostPath volumes"), "{told}");
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
    assert_eq!((answer.code, answer.message()), (403, format!("pods \"q\" is forbidden: {why}")));
}

#[test]
fn restarts_of_a_container_are_checked_from_1_35_on() {
    let told = |minor: u16, list: &str, container: Json| {
        let mut container = container;
        container.set(&["name"], "d");
        container.set(&["image"], "i");
        let mut body = pod("p", json!({}));
        body.entry(&["spec", list]).make_array().push(container);
        let answer = Fixture::of(Release::new(minor, 0)).post(&PODS, "default", body);
        String::from(answer.message().split_once(" is invalid: ").map_or("", |(_, told)| told))
    };
    let foo = json!({"restartPolicy": "Foo"});
    let path = "spec.containers[1].restartPolicy";
    let policies = "supported values: \"Always\", \"Never\", \"OnFailure\"";
    assert_eq!(
        told(33, "containers", foo.clone()),
        format!("{path}: Forbidden: may not be set for non-init containers")
    );
    assert_eq!(told(34, "containers", foo.clone()), "", "the gate is off: it is dropped");
    assert_eq!(told(35, "containers", foo.clone()), format!("{path}: Unsupported value: \"Foo\": {policies}"));
    let init = told(35, "initContainers", foo.clone());
    assert_eq!(init, format!("spec.initContainers[0].restartPolicy: Unsupported value: \"Foo\": {policies}"));
    assert_eq!(told(35, "initContainers", json!({"restartPolicy": "Never"})), "");
    let rule = json!({"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}});
    let rules = json!({"restartPolicyRules": [rule.clone()]});
    let needed = "Required value: must specify restartPolicy when restart rules are used";
    assert_eq!(told(36, "containers", rules.clone()), format!("{path}: {needed}"));
    assert_eq!(told(36, "initContainers", rules), format!("spec.initContainers[0].restartPolicy: {needed}"));
    let sidecar = json!({"restartPolicy": "Always", "restartPolicyRules": [rule.clone()]});
    assert!(told(35, "initContainers", sidecar.clone()).contains("restartPolicyRules are not allowed for init"));
    assert_eq!(told(36, "initContainers", sidecar), "");
    let wrong = json!({"restartPolicy": "Never", "restartPolicyRules": [
        {"action": "Foo", "exitCodes": {"operator": "Bar"}}, {"action": "Restart"}]});
    let path = "spec.containers[1].restartPolicyRules";
    assert_eq!(
        told(36, "containers", wrong),
        format!(
            "[{path}[0].action: Unsupported value: \"Foo\": supported values: \"Restart\", \"RestartAllContainers\", \
             {path}[0].exitCodes.operator: Unsupported value: \"Bar\": supported values: \"In\", \"NotIn\", \
             {path}[1].exitCodes: Required value: must be specified]"
        )
    );
    let many = json!({"restartPolicy": "Never", "restartPolicyRules": Json::array(alloc::vec![rule; 21])});
    assert_eq!(told(35, "containers", many.clone()), format!("{path}: Too long: may not be more than 20 bytes"));
    assert_eq!(told(36, "containers", many), format!("{path}: Too many: 21: must have at most 20 items"));
}

#[test]
fn a_class_of_the_system_is_not_deleted_by_its_name() {
    let mut fixture = Fixture::new();
    let answer = fixture.call(Call::new(Verb::Delete, PRIORITY_CLASSES, "", "system-node-critical"));
    let why = "priorityclasses.scheduling.k8s.io \"system-node-critical\" is forbidden: this is a system priority \
               class and cannot be deleted";
    assert_eq!((answer.code, answer.message().as_str()), (403, why));
}

#[test]
fn a_template_of_pods_gets_the_defaults_of_pods() {
    let mut fixture = Fixture::new();
    let body = json!({"kind": "PodTemplate", "apiVersion": "v1", "metadata": {"name": "t"},
        "template": {"spec": {"hostnameOverride": "h", "containers": [{"name": "c", "image": "i"}]}}});
    let answer = Fixture::of(Release::new(34, 0)).post(&POD_TEMPLATES, "default", body.clone());
    assert_eq!(answer.code, 201, "{}", answer.message());
    assert!(answer.body().at(&["template", "spec", "hostnameOverride"]).is_null());
    assert_eq!(fixture.post(&POD_TEMPLATES, "default", body.clone()).code, 201);
    let mut put = body;
    put.set(&["template", "spec", "restartPolicy"], "Never");
    let answer = fixture.call(Call::new(Verb::Update, POD_TEMPLATES, "default", "t").body(put));
    assert_eq!(answer.body().at(&["metadata", "generation"]).as_i64(), Some(2));
    assert_eq!(answer.body().at(&["template", "spec", "dnsPolicy"]).as_str(), Some("ClusterFirst"));
    let none = json!({"kind": "PodTemplate", "apiVersion": "v1", "metadata": {"name": "u"}, "template": {"spec": {}}});
    let answer = fixture.post(&POD_TEMPLATES, "default", none);
    assert_eq!(answer.message(), "PodTemplate \"u\" is invalid: template.spec.containers: Required value");
}

#[test]
fn a_new_event_is_checked_as_its_time_says() {
    let event = json!({"kind": "Event", "apiVersion": "events.k8s.io/v1", "metadata": {"name": "e"}, "type": "Normal",
        "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": "a/b", "reportingInstance": "i",
        "action": "A", "reason": "R"});
    let mut fixture = Fixture::new();
    assert_eq!(
        fixture.posted(&NEW_EVENTS, &event, &["series"], json!({"count": 1})),
        (
            422,
            String::from(
                "[series.count: Invalid value: \"\": should be at least 2, series.lastObservedTime: Required value]"
            )
        )
    );
    let bare = json!({"kind": "Event", "apiVersion": "events.k8s.io/v1", "metadata": {"name": "f"}});
    let (code, told) = fixture.posted(&NEW_EVENTS, &bare, &["type"], "Normal");
    assert_eq!((code, told.as_str()), (422, "eventTime: Required value"));
    let (_, told) = fixture.posted(&NEW_EVENTS, &bare, &["regarding"], json!({"namespace": "other"}));
    let mismatch = "involvedObject.namespace: Invalid value: \"other\": does not match event.namespace";
    assert!(told.starts_with(&format!("[{mismatch}, eventTime: Required value, type: Invalid value")), "{told}");
    let answer = fixture.post(&NEW_EVENTS, "kube-public", event.clone());
    let expected =
        "Event \"e\" is invalid: involvedObject.namespace: Invalid value: \"\": does not match event.namespace";
    assert_eq!((answer.code, answer.message().as_str()), (422, expected));
    assert_eq!(fixture.post(&NEW_EVENTS, "kube-system", event).code, 201);
}

#[test]
fn a_valid_object_is_warned_about_whatever_becomes_of_it() {
    let mut fixture = Fixture::new();
    let body = pod("a.b", json!({"nope": 1}));
    let first = fixture.post(&PODS, "default", body.clone());
    let again = fixture.post(&PODS, "default", body);
    assert_eq!((first.code, again.code), (201, 409));
    let told = warnings(&again);
    assert_eq!(warnings(&first), told);
    assert!(told[0].contains("unknown field") && told[1].contains("used in the Pod's hostname"), "{told:?}");
}

#[test]
fn an_unusual_network_is_no_address_of_pods_from_1_36_on() {
    let node = json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}});
    for (cidr, why) in [
        ("010.0.0.0/24", "must not have leading 0s in IP or prefix length"),
        ("10.0.0.0/08", "must not have leading 0s in IP or prefix length"),
        ("::ffff:10.0.0.0/120", "must not have an IPv4-mapped IPv6 address"),
        ("10.0.0.1/24", "must not have bits set beyond the prefix length"),
    ] {
        let posted = |minor: u16| {
            Fixture::of(Release::new(minor, 0)).posted(&NODES, &node, &["spec"], json!({"podCIDRs": [cidr]}))
        };
        assert_eq!(posted(35).0, 201, "{cidr}");
        assert_eq!(posted(36), (422, format!("spec.podCIDRs[0]: Invalid value: {cidr:?}: {why}")));
    }
}

#[test]
fn the_name_in_place_of_a_pods_own_is_checked_from_1_35_on() {
    let told = |minor: u16, spec: Json| {
        let answer = Fixture::of(Release::new(minor, 0)).post(&PODS, "default", pod("p", spec));
        String::from(answer.message().split_once(" is invalid: ").map_or("", |(_, told)| told))
    };
    let spec = json!({"hostnameOverride": "a_b", "setHostnameAsFQDN": true, "hostNetwork": true});
    assert_eq!(told(34, spec.clone()), "");
    let expected = "[spec.hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true, \
                    spec.hostnameOverride: Forbidden: may not be specified when hostNetwork is true, \
                    spec.hostnameOverride: Invalid value: \"a_b\": a lowercase RFC 1123 subdomain";
    assert!(told(35, spec.clone()).starts_with(expected), "{}", told(35, spec));
    let long = json!({"hostnameOverride": "a".repeat(65)});
    assert_eq!(told(36, long), "spec.hostnameOverride: Too long: may not be more than 64 bytes");
}

#[test]
fn a_class_of_attributes_is_protected_in_use() {
    let class = json!({"kind": "VolumeAttributesClass", "apiVersion": "storage.k8s.io/v1", "metadata": {"name": "v"},
        "driverName": "d", "parameters": {"a": "b"}});
    let answer = Fixture::new().post(&Resource::of("storage.k8s.io", "v1", "volumeattributesclasses"), "", class);
    assert_eq!(*answer.body().at(&["metadata", "finalizers"]), json!(["kubernetes.io/vac-protection"]));
}

#[test]
fn discovery_tells_in_which_version_objects_are_stored() {
    for (path, hash) in [("/apis/events.k8s.io/v1", "r2yiGXH7wu8="), ("/apis/apiextensions.k8s.io/v1", "jfWCUB31mvA=")]
    {
        let body = Fixture::new().call(Call::from_http("GET", path, &[], "").unwrap()).body();
        let told = body.get("resources").items().iter().map(|own| own.get("storageVersionHash").as_str());
        assert!(told.flatten().any(|own| own == hash), "{path}");
    }
}
