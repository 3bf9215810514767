//! What the server says of wrong Pods, and of wrong objects that Pods need, in the words of kube-apiserver v1.34.4.

use alloc::format;
use alloc::string::String;

use super::Fixture;
use crate::json;
use crate::network::{Call, NAMESPACES, PODS, Resource, SERVICES, Verb};
use crate::objects::Json;

const PERSISTENT_VOLUMES: Resource = Resource::of("", "v1", "persistentvolumes");

fn pod() -> Json {
    json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p", "labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]}})
}

/// Returns a Pod whose container has more fields.
fn with(fields: &Json) -> Json {
    let mut container = json!({"name": "c", "image": "i"});
    for (name, value) in fields.fields() {
        container.set(&[name], value.clone());
    }
    json!([container])
}

impl Fixture {
    /// Tells what is wrong with a Pod whose specification has one more field.
    fn pod_with(&mut self, field: &str, value: Json) -> String {
        self.posted(&PODS, &pod(), &["spec", field], value).1
    }

    fn container_with(&mut self, fields: &Json) -> String {
        self.pod_with("containers", with(fields))
    }
}

#[test]
fn profiles_of_seccomp_and_app_armor_are_whole() {
    let mut fixture = Fixture::new();
    for (context, expected) in [
        (
            json!({"seccompProfile": {"type": "Abc"}}),
            "seccompProfile.type: Unsupported value: \"Abc\": supported values: \"Localhost\", \"RuntimeDefault\", \
             \"Unconfined\"",
        ),
        (
            json!({"seccompProfile": {"type": "Unconfined", "localhostProfile": "x"}}),
            "seccompProfile.localhostProfile: Invalid value: {\"Type\":\"Unconfined\",\"LocalhostProfile\":\"x\"}: can \
             only be set when seccomp type is Localhost",
        ),
        (
            json!({"appArmorProfile": {"type": "Localhost"}}),
            "appArmorProfile.localhostProfile: Required value: must be set when AppArmor type is Localhost",
        ),
        (
            json!({"appArmorProfile": {"type": "Localhost", "localhostProfile": "x "}}),
            "appArmorProfile.localhostProfile: Invalid value: \"x \": must not be padded with whitespace",
        ),
    ] {
        assert_eq!(fixture.pod_with("securityContext", context.clone()), format!("spec.securityContext.{expected}"));
        let of_container = fixture.container_with(&json!({"securityContext": context}));
        assert_eq!(of_container, format!("spec.containers[0].securityContext.{expected}"));
    }
}

#[test]
fn annotations_name_the_same_profiles_as_fields() {
    let mut fixture = Fixture::new();
    let mut told =
        |key: &str, profile: &str| fixture.posted(&PODS, &pod(), &["metadata", "annotations", key], profile).1;
    assert_eq!(
        told("container.apparmor.security.beta.kubernetes.io/c", "x"),
        "metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: Invalid value: \"x\": invalid \
         AppArmor profile name: \"x\""
    );
    assert_eq!(
        told("container.apparmor.security.beta.kubernetes.io/d", "unconfined"),
        "metadata.annotations[container.apparmor.security.beta.kubernetes.io/d]: Invalid value: \"d\": container not \
         found"
    );
    assert_eq!(
        told("seccomp.security.alpha.kubernetes.io/pod", "/x"),
        "metadata.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: \"/x\": must be a valid seccomp \
         profile"
    );
    let mut named = pod();
    let key = "container.apparmor.security.beta.kubernetes.io/c";
    named.set(&["metadata", "annotations", key], "localhost/x");
    let made = fixture.call(Call::new(Verb::Create, PODS, "default", "").body(named.clone())).body();
    let profile = made.at(&["spec", "containers"]).items()[0].at(&["securityContext", "appArmorProfile"]).clone();
    assert_eq!(profile, json!({"type": "Localhost", "localhostProfile": "x"}));
    let context = with(&json!({"securityContext": {"appArmorProfile": {"type": "Unconfined"}}}));
    let (_, told) = fixture.posted(&PODS, &named, &["spec", "containers"], context);
    let path = "spec.containers[0].securityContext.appArmorProfile.type";
    assert_eq!(told, format!("{path}: Forbidden: apparmor type in annotation and field must match"));
}

#[test]
fn a_security_context_does_not_contradict_itself() {
    let mut fixture = Fixture::new();
    let told = fixture.container_with(&json!({"securityContext": {"privileged": true, "runAsUser": 1,
        "allowPrivilegeEscalation": false, "capabilities": {"add": ["foo"]}}}));
    assert_eq!(
        told,
        "spec.containers[0].securityContext: Invalid value: {\"Capabilities\":{\"Add\":[\"foo\"],\"Drop\":null},\
         \"Privileged\":true,\"SELinuxOptions\":null,\"WindowsOptions\":null,\"RunAsUser\":1,\"RunAsGroup\":null,\
         \"RunAsNonRoot\":null,\"ReadOnlyRootFilesystem\":null,\"AllowPrivilegeEscalation\":false,\"ProcMount\":null,\
         \"SeccompProfile\":null,\"AppArmorProfile\":null}: cannot set `allowPrivilegeEscalation` to false and \
         `privileged` to true"
    );
    let told = fixture.container_with(&json!({"securityContext": {"runAsUser": -1, "procMount": "Unmasked"}}));
    let path = "spec.containers[0].securityContext";
    assert_eq!(
        told,
        format!(
            "[{path}.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive, {path}.procMount: \
             Invalid value: \"Unmasked\": `hostUsers` must be false to use `Unmasked`]"
        )
    );
}

#[test]
fn users_of_its_own_keep_a_pod_from_what_is_the_machines() {
    let mut fixture = Fixture::new();
    let mut own = pod();
    own.set(&["spec", "hostUsers"], false);
    for (field, shown) in [("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")] {
        let (_, told) = fixture.posted(&PODS, &own, &["spec", field], true);
        assert_eq!(told, format!("spec.{shown}: Forbidden: when `hostUsers` is false"));
    }
    let mut sysctls = pod();
    sysctls.set(&["spec", "securityContext", "sysctls"], json!([{"name": "kernel/shmmax", "value": "1"}]));
    let (_, told) = fixture.posted(&PODS, &sysctls, &["spec", "hostIPC"], true);
    assert_eq!(
        told,
        "spec.securityContext.sysctls[0].name: Invalid value: \"kernel/shmmax\": may not be specified when 'hostIPC' \
         is true"
    );
    let mut ports = pod();
    ports.set(&["spec", "containers"], with(&json!({"ports": [{"containerPort": 80, "hostPort": 81}]})));
    let (_, told) = fixture.posted(&PODS, &ports, &["spec", "hostNetwork"], true);
    let path = "spec.containers[0].ports[0].hostPort";
    assert_eq!(told, format!("{path}: Invalid value: 81: must match `containerPort` when `hostNetwork` is true"));
}

#[test]
fn a_pod_for_one_system_has_nothing_of_the_other() {
    let mut fixture = Fixture::new();
    let mut windows = pod();
    windows.set(&["spec", "os", "name"], "windows");
    let (_, told) = fixture.posted(&PODS, &windows, &["spec", "securityContext", "fsGroup"], 1_i64);
    assert_eq!(told, "spec.securityContext.fsGroup: Forbidden: cannot be set for a windows pod");
    let mut linux = pod();
    linux.set(&["spec", "os", "name"], "linux");
    let options = ["spec", "securityContext", "windowsOptions", "runAsUserName"];
    let (_, told) = fixture.posted(&PODS, &linux, &options, "u");
    let field = "spec.securityContext.windowsOptions";
    assert_eq!(told, format!("{field}: Forbidden: windows options cannot be set for a linux pod"));
    for (user, why) in [
        ("", "runAsUserName cannot be an empty string"),
        ("a\\b\\c", "runAsUserName cannot contain more than one backslash"),
        ("\\User", "runAsUserName's Domain doesn't match the NetBios nor the DNS format"),
        ("Domain\\", "runAsUserName's User cannot be empty"),
        ("... ...", "runAsUserName's User cannot contain only periods or spaces"),
    ] {
        let (_, told) = fixture.posted(&PODS, &pod(), &options, user);
        assert_eq!(told, format!("{field}.runAsUserName: Invalid value: {user:?}: {why}"));
    }
    let (_, told) = fixture.posted(&PODS, &pod(), &["spec", "securityContext", "windowsOptions", "hostProcess"], true);
    let why = "hostNetwork must be true if pod contains any hostProcess containers";
    assert_eq!(told, format!("spec.hostNetwork: Invalid value: false: {why}"));
}

#[test]
fn variables_and_mounts_are_checked() {
    let mut fixture = Fixture::new();
    let mut told = |fields: Json| fixture.container_with(&fields);
    assert_eq!(
        told(json!({"env": [{"name": "=a"}]})),
        "spec.containers[0].env[0].name: Invalid value: \"=a\": a valid environment variable name must consist only of \
         printable ASCII characters other than '='"
    );
    let wrong = told(json!({"envFrom": [{"secretRef": {"name": "$"}}]}));
    assert!(
        wrong.starts_with("spec.containers[0].envFrom[0].secretRef.name: Invalid value: \"$\": a lower"),
        "{wrong}"
    );
    let wrong = told(json!({"env": [{"name": "a", "valueFrom": {"configMapKeyRef": {"name": "$", "key": "k"}}}]}));
    assert!(wrong.starts_with("spec.containers[0].env[0].valueFrom.configMapKeyRef.name: Invalid value"), "{wrong}");
    let mut volumes = pod();
    volumes.set(&["spec", "volumes"], json!([{"name": "v"}]));
    for (field, value, expected) in [
        (
            "mountPropagation",
            "Bidirectional",
            "mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers",
        ),
        ("recursiveReadOnly", "Enabled", "recursiveReadOnly: Forbidden: may only be specified when readOnly is true"),
    ] {
        let mut mount = json!({"name": "v", "mountPath": "/a"});
        mount.set(&[field], value);
        let container = with(&json!({"volumeMounts": [mount]}));
        let (_, told) = fixture.posted(&PODS, &volumes, &["spec", "containers"], container);
        assert_eq!(told, format!("spec.containers[0].volumeMounts.{expected}"));
    }
    let told = fixture.pod_with("containers", json!([{"name": "c", "image": " i"}]));
    assert_eq!(told, "spec.containers[0].image: Invalid value: \" i\": must not have leading or trailing whitespace");
}

#[test]
fn keys_of_labels_join_the_selectors_that_name_them() {
    let mut fixture = Fixture::new();
    let constraint = json!({"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"x": "y"}}, "matchLabelKeys": ["a", "absent"]});
    let mut spread = pod();
    spread.set(&["spec", "topologySpreadConstraints"], json!([constraint]));
    let made = fixture.call(Call::new(Verb::Create, PODS, "default", "").body(spread.clone())).body();
    let joined = made.at(&["spec", "topologySpreadConstraints"]).items()[0].at(&["labelSelector", "matchExpressions"]);
    assert_eq!(joined, &json!([{"key": "a", "operator": "In", "values": ["b"]}]));
    let mut twice = constraint;
    twice.set(&["labelSelector", "matchLabels", "a"], "c");
    let told = fixture.posted(&PODS, &spread, &["spec", "topologySpreadConstraints"], json!([twice])).1;
    let path = "spec.topologySpreadConstraints[0]";
    assert_eq!(told, format!("{path}[0]: Invalid value: \"a\": exists in both matchLabelKeys and labelSelector"));
    let term = json!({"topologyKey": "zone", "labelSelector": {}, "matchLabelKeys": ["a"], "mismatchLabelKeys": ["a"]});
    let mut near = pod();
    let list = ["spec", "affinity", "podAffinity", "requiredDuringSchedulingIgnoredDuringExecution"];
    let told = fixture.posted(&PODS, &near, &list, json!([term.clone()])).1;
    assert!(
        told.contains("matchLabelKeys[0]: Invalid value: \"a\": exists in both matchLabelKeys and mismatch"),
        "{told}"
    );
    let mut only = term;
    only.remove(&["matchLabelKeys"]);
    near.set(&list, json!([only]));
    near.set(&["metadata", "name"], "near");
    let made = fixture.call(Call::new(Verb::Create, PODS, "default", "").body(near)).body();
    let joined = made.at(&list).items()[0].at(&["labelSelector", "matchExpressions"]);
    assert_eq!(joined, &json!([{"key": "a", "operator": "NotIn", "values": ["b"]}]));
}

#[test]
fn names_and_amounts_of_resources_are_those_of_containers() {
    let mut fixture = Fixture::new();
    let mut told = |name: &str, amount: &str| {
        let mut resources = json!({"limits": {"cpu": "1"}});
        resources.set(&["limits", name], amount);
        resources.set(&["requests", name], amount);
        fixture.container_with(&json!({"resources": resources}))
    };
    let twice = |name: &str, value: &str, why: &str| {
        let part =
            |list: &str| format!("spec.containers[0].resources.{list}[{name}]: Invalid value: \"{value}\": {why}");
        format!("[{}, {}]", part("limits"), part("requests"))
    };
    let why = "3Mi is not positive integer multiple of hugepages-2Mi";
    assert_eq!(told("hugepages-2Mi", "3Mi"), twice("hugepages-2Mi", "3Mi", why));
    assert_eq!(told("hugepages-2Mi", "4Mi"), "");
    let why = "doesn't follow extended resource name standard";
    assert_eq!(told("requests.a.io/b", "1"), twice("requests.a.io/b", "requests.a.io/b", why));
    let why = "must be a standard resource for containers";
    assert_eq!(told("storage", "1"), twice("storage", "storage", why));
}

#[test]
fn volumes_keep_their_place_but_for_newer_names_of_labels() {
    let mut fixture = Fixture::new();
    let affinity = |key: &str| {
        json!({"required": {"nodeSelectorTerms": [{"matchExpressions": [
            {"key": key, "operator": "In", "values": ["b"]}]}]}})
    };
    let mut volume = json!({"kind": "PersistentVolume", "apiVersion": "v1", "metadata": {"name": "v"},
        "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/a"}}});
    volume.set(&["spec", "nodeAffinity"], affinity("beta.kubernetes.io/os"));
    let told = fixture.posted(&PERSISTENT_VOLUMES, &volume, &["spec", "nodeAffinity"], affinity("")).1;
    assert!(
        told.starts_with("[spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: Inv"),
        "{told}"
    );
    let mut root = volume.clone();
    root.set(&["spec", "hostPath", "path"], "/./");
    let told = fixture.posted(&PERSISTENT_VOLUMES, &root, &["spec", "persistentVolumeReclaimPolicy"], "Recycle").1;
    let field = "spec.persistentVolumeReclaimPolicy";
    assert_eq!(told, format!("{field}: Forbidden: may not be 'recycle' for a hostPath mount of '/'"));
    assert_eq!(fixture.call(Call::new(Verb::Create, PERSISTENT_VOLUMES, "", "").body(volume.clone())).code, 201);
    volume.set(&["spec", "nodeAffinity"], affinity("kubernetes.io/os"));
    let changed = fixture.call(Call::new(Verb::Update, PERSISTENT_VOLUMES, "", "v").body(volume.clone()));
    assert_eq!(changed.code, 200, "{}", changed.message());
    volume.set(&["spec", "nodeAffinity"], affinity("beta.kubernetes.io/os"));
    let refused = fixture.call(Call::new(Verb::Update, PERSISTENT_VOLUMES, "", "v").body(volume));
    let why = "field is immutable, except for updating from beta label to GA";
    assert!(refused.message().ends_with(why), "{}", refused.message());
}

#[test]
fn kinds_with_few_rules_are_checked_too() {
    let mut fixture = Fixture::new();
    let of = |group: &'static str, plural: &'static str| Resource::of(group, "v1", plural);
    let endpoints = json!({"kind": "Endpoints", "apiVersion": "v1", "metadata": {"name": "e"}});
    let told = fixture.posted(&of("", "endpoints"), &endpoints, &["subsets"], json!([{}])).1;
    assert_eq!(told, "subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`");
    let told =
        fixture.posted(&of("", "endpoints"), &endpoints, &["subsets"], json!([{"addresses": [{"ip": "127.0.0.1"}]}])).1;
    assert_eq!(
        told,
        "subsets[0].addresses[0].ip: Invalid value: \"127.0.0.1\": may not be in the loopback range (127.0.0.0/8, \
         ::1/128)"
    );
    let class = json!({"kind": "RuntimeClass", "apiVersion": "node.k8s.io/v1", "metadata": {"name": "r"}});
    let told = fixture.posted(&of("node.k8s.io", "runtimeclasses"), &class, &["handler"], "&").1;
    assert!(told.starts_with("handler: Invalid value: \"&\": a lowercase RFC 1123 label"), "{told}");
    let revision = json!({"kind": "ControllerRevision", "apiVersion": "apps/v1", "metadata": {"name": "r"}});
    let told = fixture.posted(&of("apps", "controllerrevisions"), &revision, &["revision"], -1_i64).1;
    assert_eq!(
        told,
        "[revision: Invalid value: -1: must be greater than or equal to 0, data: Required value: data is mandatory]"
    );
    let request = json!({"kind": "CertificateSigningRequest", "apiVersion": "certificates.k8s.io/v1",
        "metadata": {"name": "c"}, "spec": {"usages": ["client auth"]}});
    let requests = of("certificates.k8s.io", "certificatesigningrequests");
    let told = fixture.posted(&requests, &request, &["spec", "signerName"], "example/x").1;
    let why = "should be a domain with at least two segments separated by dots";
    assert!(told.ends_with(&format!("spec.signerName: Invalid value: \"example\": {why}]")), "{told}");
    let service = json!({"kind": "Service", "apiVersion": "v1", "metadata": {"name": "s"},
        "spec": {"ports": [{"port": 1}]}});
    let key = "service.beta.kubernetes.io/load-balancer-source-ranges";
    let told = fixture.posted(&SERVICES, &service, &["metadata", "annotations", key], "").1;
    assert_eq!(told, format!("metadata.annotations[{key}]: Forbidden: may only be used when `type` is 'LoadBalancer'"));
}

#[test]
fn an_owner_that_is_named_twice_is_taken_once() {
    let mut fixture = Fixture::new();
    let owner = json!({"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"});
    let mut owned = pod();
    owned.set(&["metadata", "ownerReferences"], json!([owner.clone(), owner.clone()]));
    let answer = fixture.call(Call::new(Verb::Create, PODS, "default", "").body(owned));
    assert_eq!(answer.body().at(&["metadata", "ownerReferences"]), &json!([owner]));
    let warned = answer.headers.iter().any(|(_, text)| text.contains("duplicate UID(s) observed: u"));
    assert!(warned, "{:?}", answer.headers);
}

#[test]
fn a_claim_grows_only_where_its_class_allows_it() {
    let mut fixture = Fixture::new();
    let (classes, claims) =
        (Resource::of("storage.k8s.io", "v1", "storageclasses"), Resource::of("", "v1", "persistentvolumeclaims"));
    for (name, allows) in [("fixed", false), ("grows", true)] {
        let class = json!({"kind": "StorageClass", "apiVersion": "storage.k8s.io/v1", "metadata": {"name": name},
            "provisioner": "a.io/b", "allowVolumeExpansion": allows});
        assert_eq!(fixture.call(Call::new(Verb::Create, classes.clone(), "", "").body(class)).code, 201);
        let claim = json!({"kind": "PersistentVolumeClaim", "apiVersion": "v1", "metadata": {"name": name},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": name,
                "resources": {"requests": {"storage": "1Gi"}}}});
        assert_eq!(fixture.call(Call::new(Verb::Create, claims.clone(), "default", "").body(claim)).code, 201);
        let more = json!({"spec": {"resources": {"requests": {"storage": "2Gi"}}}});
        let grow = Call::strategic_patch(claims.clone(), "default", name, more);
        let refused = fixture.call(grow.clone());
        // The plugin that says so of claims that are not bound comes after the rule that their specification stays.
        assert!(refused.message().contains("spec is immutable after creation"), "{}", refused.message());
        let bound = json!({"status": {"phase": "Bound"}});
        fixture.call(Call::strategic_patch(claims.clone(), "default", name, bound).subresource("status"));
        let answer = fixture.call(grow);
        assert_eq!(answer.code, if allows { 200 } else { 403 }, "{}", answer.message());
    }
}

#[test]
fn an_account_keeps_its_pods_from_secrets_that_it_does_not_name() {
    let mut fixture = Fixture::new();
    let accounts = Resource::of("", "v1", "serviceaccounts");
    let mut account = json!({"kind": "ServiceAccount", "apiVersion": "v1", "metadata": {"name": "default"}});
    account.set(&["metadata", "annotations", "kubernetes.io/enforce-mountable-secrets"], "true");
    fixture.call(Call::new(Verb::Create, accounts, "default", "").body(account));
    let mut own = pod();
    own.set(&["spec", "volumes"], json!([{"name": "v", "secret": {"secretName": "foo"}}]));
    let refused = fixture.call(Call::new(Verb::Create, PODS, "default", "").body(own));
    assert_eq!(
        refused.message(),
        "pods \"p\" is forbidden: volume with secret.secretName=\"foo\" is not allowed because service account default \
         does not reference that secret"
    );
    let mut has = pod();
    has.set(&["spec", "volumes"], json!([{"name": "kube-api-access-x", "emptyDir": {}}]));
    let made = fixture.call(Call::new(Verb::Create, PODS, "default", "").body(has)).body();
    assert_eq!(made.at(&["spec", "volumes"]).items().len(), 1);
    let mounts = made.at(&["spec", "containers"]).items()[0].get("volumeMounts").clone();
    assert_eq!(mounts.items()[0].get("name").as_str(), Some("kube-api-access-x"));
}

#[test]
fn what_meets_or_hides_something_of_a_pod_is_warned_of() {
    let mut fixture = Fixture::new();
    let mut own = pod();
    let ports = json!([{"name": "n", "containerPort": 80}, {"containerPort": 80, "hostIP": "10.0.0.1"}]);
    let container = |name: &str, fields: Json| {
        let mut container = json!({"name": name, "image": "i"});
        fields.fields().for_each(|(field, value)| container.set(&[field], value.clone()));
        container
    };
    let first = container("c", json!({"ports": ports, "env": [{"name": "A", "value": "1"}, {"name": "A"}]}));
    let second = container("d", json!({"ports": [{"name": "n", "containerPort": 81}]}));
    own.set(&["spec", "containers"], json!([first, second]));
    own.set(
        &["spec", "volumes"],
        json!([{"name": "v", "projected": {"sources": [
        {"secret": {"name": "s", "items": [{"key": "k", "path": "test"}]}},
        {"configMap": {"name": "m", "items": [{"key": "k", "path": "test/1"}]}}]}}]),
    );
    let answer = fixture.call(Call::new(Verb::Create, PODS, "default", "").body(own));
    let warned: alloc::vec::Vec<&str> =
        answer.headers.iter().filter(|(name, _)| *name == "Warning").map(|(_, text)| text.as_str()).collect();
    let expected = [
        "volume \\\"v\\\" (Projected): overlapping paths: \\\"test/1\\\" (ConfigMap \\\"m\\\") with \\\"test\\\" \
         (Secret \\\"s\\\")",
        "spec.containers[0].env[1]: hides previous definition of \\\"A\\\", which may be dropped when using apply",
        "spec.containers[0].ports[1]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:80 Protocol:TCP \
         HostIP:10.0.0.1}",
        "spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]",
        "spec.containers[1].ports[0]: duplicate port name \\\"n\\\" with spec.containers[0].ports[0], services and \
         probes that select ports by name will use spec.containers[0].ports[0]",
    ];
    assert_eq!(warned, expected.map(|text| format!("299 - \"{text}\"")));
}

#[test]
fn a_namespace_names_a_level_of_pod_security_that_there_is() {
    let namespace = |name: &str, labels: Json| {
        let metadata = json!({"name": name, "labels": labels});
        json!({"kind": "Namespace", "apiVersion": "v1", "metadata": metadata})
    };
    let mut fixture = Fixture::new();
    let told = fixture.post(
        &NAMESPACES,
        "",
        namespace(
            "a",
            json!({
                "pod-security.kubernetes.io/enforce": "nope",
                "pod-security.kubernetes.io/enforce-version": "v1.034",
                "pod-security.kubernetes.io/warn-version": "latest",
            }),
        ),
    );
    assert_eq!(
        (told.code, told.message().as_str()),
        (
            422,
            "Namespace \"a\" is invalid: [metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: \
             \"nope\": must be one of privileged, baseline, restricted, \
             metadata.labels[pod-security.kubernetes.io/enforce-version]: Invalid value: \"v1.034\": must be \
             \"latest\" or \"v1.x\"]"
        )
    );
    let audit = json!({"pod-security.kubernetes.io/audit": "strict"});
    let told = fixture.changed(&NAMESPACES, &namespace("b", json!({"a": "b"})), &["metadata", "labels"], audit);
    assert_eq!(told.code, 422);
    let right =
        json!({"pod-security.kubernetes.io/enforce": "privileged", "pod-security.kubernetes.io/warn-version": "v1.0"});
    assert_eq!(fixture.post(&NAMESPACES, "", namespace("c", right)).code, 201);
}
