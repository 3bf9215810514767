//! What the server says of wrong objects of kinds around workloads, in the words of kube-apiserver v1.34.4.

use alloc::string::String;

use super::Fixture;
use crate::json;
use crate::network::kinds::{self, Kind};
use crate::network::{Call, ENDPOINT_SLICES, Resource, SERVICES, Verb};
use crate::objects::Json;

impl Fixture {
    /// Posts an object with a change; returns the code and the message without its beginning.
    pub(super) fn posted(
        &mut self,
        of: &Resource,
        valid: &Json,
        path: &[&str],
        value: impl Into<Json>,
    ) -> (u16, String) {
        let mut body = valid.clone();
        body.set(path, value);
        let is_namespaced = kinds::of_table(of).is_some_and(Kind::is_namespaced);
        let namespace = if is_namespaced { "default" } else { "" };
        let answer = self.post(of, namespace, body);
        let message = answer.message();
        (answer.code, String::from(message.split_once(" is invalid: ").map_or("", |(_, told)| told)))
    }
}

#[test]
fn an_endpoint_slice_has_addresses_of_its_type_and_ports_of_its_own() {
    let slice = json!({"kind": "EndpointSlice", "apiVersion": "discovery.k8s.io/v1", "metadata": {"name": "x"},
        "addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}], "ports": [{"port": 80}]});
    let mut fixture = Fixture::new();
    let mut told = |path: &[&str], value: Json| fixture.posted(&ENDPOINT_SLICES, &slice, path, value).1;
    assert_eq!(told(&["addressType"], Json::from("")), "addressType: Required value");
    assert_eq!(
        told(&["addressType"], Json::from("In")),
        "addressType: Unsupported value: \"In\": supported values: \"FQDN\", \"IPv4\", \"IPv6\""
    );
    assert_eq!(
        told(&["addressType"], Json::from("IPv6")),
        "endpoints[0].addresses: Invalid value: \"10.0.0.1\": must be an IPv6 address"
    );
    assert_eq!(
        told(&["endpoints"], json!([{"addresses": ["abc"]}])),
        "endpoints[0].addresses[0]: Invalid value: \"abc\": must be a valid IP address, (e.g. 10.9.8.7 or \
         2001:db8::ffff)"
    );
    assert_eq!(
        told(&["endpoints"], json!([{}])),
        "endpoints[0].addresses: Required value: must contain at least 1 address"
    );
    assert_eq!(told(&["ports"], json!([{"name": "p"}, {"name": "p"}])), "ports[1].name: Duplicate value: \"p\"");
    assert_eq!(
        told(&["ports"], json!([{"protocol": "../a"}])),
        "ports[0].protocol: Unsupported value: \"../a\": supported values: \"SCTP\", \"TCP\", \"UDP\""
    );
    let answer = fixture.call(Call::new(Verb::Create, ENDPOINT_SLICES, "default", "").body(slice));
    let port = answer.body().get("ports").items()[0].clone();
    assert_eq!(port, json!({"name": "", "port": 80, "protocol": "TCP"}));
}

#[test]
fn a_job_selects_its_own_pods_and_carries_their_labels() {
    let jobs = Resource::of("batch", "v1", "jobs");
    let job = json!({"kind": "Job", "apiVersion": "batch/v1", "metadata": {"name": "x"},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}});
    let mut fixture = Fixture::new();
    let made = fixture.call(Call::new(Verb::Create, jobs.clone(), "default", "").body(job.clone())).body();
    let uid = made.at(&["metadata", "uid"]).clone();
    assert_eq!(made.at(&["spec", "selector"]), &{
        let mut selector = Json::object();
        selector.set(&["matchLabels", "batch.kubernetes.io/controller-uid"], uid.clone());
        selector
    });
    for labels in [made.at(&["metadata", "labels"]), made.at(&["spec", "template", "metadata", "labels"])] {
        assert_eq!(labels.fields().len(), 4);
        assert_eq!(labels.get("controller-uid"), &uid);
        assert_eq!(labels.get("batch.kubernetes.io/job-name").as_str(), Some("x"));
    }
    let spec = made.get("spec");
    assert_eq!((spec.get("backoffLimit").as_i64(), spec.get("completions").as_i64()), (Some(6), Some(1)));
    assert_eq!(spec.get("podReplacementPolicy").as_str(), Some("TerminatingOrFailed"));
    let mut told = |path: &[&str], value: Json| fixture.posted(&jobs, &job, path, value).1;
    assert_eq!(
        told(&["spec", "template", "spec", "restartPolicy"], Json::from("Always")),
        "spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", \"Never\""
    );
    assert_eq!(
        told(&["spec", "completionMode"], Json::from("a")),
        "spec.completionMode: Unsupported value: \"a\": supported values: \"NonIndexed\", \"Indexed\""
    );
    assert_eq!(
        told(&["spec", "backoffLimitPerIndex"], Json::Int(1)),
        "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"
    );
    assert_eq!(
        told(&["spec", "parallelism"], Json::Int(-1)),
        "spec.parallelism: Invalid value: -1: must be greater than or equal to 0"
    );
}

#[test]
fn a_cron_job_has_a_schedule_and_jobs_without_a_selector() {
    let cron_jobs = Resource::of("batch", "v1", "cronjobs");
    let job = json!({"kind": "CronJob", "apiVersion": "batch/v1", "metadata": {"name": "x"},
        "spec": {"schedule": "*/5 * * * *", "jobTemplate": {"spec": {"template": {"spec": {"restartPolicy": "Never",
            "containers": [{"name": "c", "image": "i"}]}}}}}});
    let mut fixture = Fixture::new();
    let mut told = |path: &[&str], value: Json| fixture.posted(&cron_jobs, &job, path, value).1;
    assert_eq!(
        told(&["spec", "schedule"], Json::from("true")),
        "spec.schedule: Invalid value: \"true\": expected exactly 5 fields, found 1: [true]"
    );
    assert_eq!(
        told(&["spec", "jobTemplate", "spec", "template", "spec", "restartPolicy"], Json::from("")),
        "spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", \"Never\""
    );
    assert_eq!(
        told(&["spec", "concurrencyPolicy"], Json::from("Never")),
        "spec.concurrencyPolicy: Unsupported value: \"Never\": supported values: \"Allow\", \"Forbid\", \"Replace\""
    );
}

#[test]
fn a_service_gets_a_free_address_that_it_keeps() {
    let service = json!({"kind": "Service", "apiVersion": "v1", "metadata": {"name": "x"},
        "spec": {"ports": [{"port": 80}]}});
    let mut fixture = Fixture::new();
    let made = fixture.call(Call::new(Verb::Create, SERVICES, "default", "").body(service.clone())).body();
    let address = made.at(&["spec", "clusterIP"]).clone();
    assert!(address.as_str().unwrap().starts_with("10.0.0."), "{address}");
    assert_eq!(made.at(&["spec", "clusterIPs"]).items(), core::slice::from_ref(&address));
    let port = json!({"port": 80, "protocol": "TCP", "targetPort": 80});
    assert_eq!(made.at(&["spec", "ports"]).items(), [port]);
    let mut put = |value: &str| {
        let mut body = made.clone();
        body.set(&["spec", "clusterIP"], value);
        let answer = fixture.call(Call::new(Verb::Update, SERVICES, "default", "x").body(body));
        (answer.code, answer.message(), answer.body().at(&["spec", "clusterIP"]).clone())
    };
    assert_eq!(put(""), (200, String::new(), address.clone()));
    let refused =
        "Service \"x\" is invalid: spec.clusterIPs[0]: Invalid value: [\"10.0.0.9\"]: may not change once set";
    assert_eq!(put("10.0.0.9"), (422, String::from(refused), Json::Null));
    let mut other = service.clone();
    other.set(&["metadata", "name"], "y");
    let mut told = |path: &[&str], value: Json| fixture.posted(&SERVICES, &other, path, value).1;
    let taken = address.as_str().unwrap();
    assert_eq!(
        told(&["spec", "clusterIP"], address.clone()),
        alloc::format!(
            "spec.clusterIPs: Invalid value: [\"{taken}\"]: failed to allocate IP {taken}: provided IP is already \
             allocated"
        )
    );
    assert_eq!(
        told(&["spec", "clusterIP"], Json::from("11.1.1.1")),
        "spec.clusterIPs: Invalid value: [\"11.1.1.1\"]: failed to allocate IP 11.1.1.1: the provided network does \
         not match the current range"
    );
    assert_eq!(
        told(&["spec", "ipFamilyPolicy"], Json::from("RequireDualStack")),
        "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not configured for dual-stack \
         services"
    );
    let name = told(&["metadata", "name"], Json::from("1a"));
    assert!(name.starts_with("metadata.name: Invalid value: \"1a\": a DNS-1035 label must consist of"), "{name}");
    let mut headless = service.clone();
    headless.set(&["metadata", "name"], "z");
    headless.set(&["spec", "clusterIP"], "None");
    let made = fixture.call(Call::new(Verb::Create, SERVICES, "default", "").body(headless)).body();
    assert_eq!(made.at(&["spec", "ipFamilies"]), &json!(["IPv4", "IPv6"]));
    assert_eq!(made.at(&["spec", "clusterIPs"]), &json!(["None"]));
}

#[test]
fn data_has_keys_of_files_and_bytes_in_base64() {
    let (secrets, maps) = (Resource::of("", "v1", "secrets"), Resource::of("", "v1", "configmaps"));
    let secret = json!({"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "x"}, "data": {"a": "eA=="}});
    let map = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "x"}, "data": {"a": "b"}});
    let mut fixture = Fixture::new();
    let wrong = fixture.posted(&maps, &map, &["data", "../a"], "b").1;
    assert!(wrong.starts_with("[data[../a]: Invalid value: \"../a\": a valid config key must consist of"), "{wrong}");
    assert!(wrong.ends_with("data[../a]: Invalid value: \"../a\": must not start with '..']"), "{wrong}");
    let mut body = secret.clone();
    body.set(&["data", "b"], "!");
    let answer = fixture.call(Call::new(Verb::Create, secrets.clone(), "default", "").body(body));
    let why = "Secret in version \"v1\" cannot be handled as a Secret: illegal base64 data at input byte 0";
    assert_eq!((answer.code, answer.message().as_str()), (400, why));
    let mut body = secret;
    body.set(&["stringData", "b"], "0");
    let made = fixture.call(Call::new(Verb::Create, secrets, "default", "").body(body)).body();
    assert_eq!(made.get("data"), &json!({"a": "eA==", "b": "MA=="}));
    assert!(made.get("stringData").is_null());
}

#[test]
fn plugins_that_only_refuse_look_at_valid_objects_alone() {
    let classes = Resource::of("scheduling.k8s.io", "v1", "priorityclasses");
    let class = json!({"kind": "PriorityClass", "apiVersion": "scheduling.k8s.io/v1", "metadata": {"name": "a"},
        "value": 1, "globalDefault": true});
    let mut fixture = Fixture::new();
    assert_eq!(fixture.posted(&classes, &class, &["metadata", "name"], "a").0, 201);
    assert_eq!(fixture.posted(&classes, &class, &["metadata", "name"], "b").0, 403);
    assert_eq!(fixture.posted(&classes, &class, &["metadata", "name"], "B").0, 422);
    let requests = Resource::of("certificates.k8s.io", "v1", "certificatesigningrequests");
    let request = json!({"kind": "CertificateSigningRequest", "apiVersion": "certificates.k8s.io/v1",
        "metadata": {"name": "C"}, "spec": {"signerName": "kubernetes.io/kube-apiserver-client",
        "usages": ["client auth"]}});
    assert_eq!(fixture.posted(&requests, &request, &["spec", "request"], "eA==").0, 422);
}

#[test]
fn kinds_of_two_groups_with_one_name_have_fields_of_their_own() {
    let events = Resource::of("events.k8s.io", "v1", "events");
    let event = json!({"kind": "Event", "apiVersion": "events.k8s.io/v1", "metadata": {"name": "e"},
        "eventTime": "2026-01-01T00:00:00.000000Z", "action": "a", "reason": "r", "type": "Normal",
        "reportingController": "k8s.io/c", "reportingInstance": "i",
        "regarding": {"kind": "Pod", "namespace": "default", "name": "p"}});
    let mut fixture = Fixture::new();
    assert_eq!(fixture.posted(&events, &event, &["note"], json!({})).0, 400);
    let answer = fixture.call(Call::new(Verb::Create, events, "default", "").body(event));
    assert_eq!((answer.code, answer.body().get("message").is_null()), (201, true));
    let claims = Resource::of("resource.k8s.io", "v1", "resourceclaims");
    let claim = json!({"kind": "ResourceClaim", "apiVersion": "resource.k8s.io/v1", "metadata": {"name": "c"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "d",
            "allocationMode": "ExactCount", "count": 1}}]}}});
    let answer = fixture.call(Call::new(Verb::Create, claims, "default", "").body(claim.clone()));
    assert_eq!(*answer.body().get("spec"), *claim.get("spec"));
}
