//! What tables show of kinds beside Nodes, and what differs between releases.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Fixture;
use crate::json;
use crate::network::{Call, PODS, Resource, Verb};
use crate::objects::Json;
use crate::profile::Release;

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

impl Fixture {
    /// Creates an object, gives it a status, and returns the cells of its row.
    fn row(&mut self, of: &Resource, namespace: &str, body: &Json, status: Json) -> Vec<Json> {
        let answer = self.post(of, namespace, body.clone());
        assert_eq!(answer.code, 201, "{}", answer.message());
        let name = answer.body().at(&["metadata", "name"]).as_str().map(String::from).unwrap_or_default();
        if !status.is_null() {
            let patch = json!({"status": status});
            let call = Call::strategic_patch(of.clone(), namespace, &*name, patch).subresource("status");
            assert_eq!(self.call(call).code, 200);
        }
        let table = self.call(Call::new(Verb::Get, of.clone(), namespace, &*name).header("accept", TABLE)).body();
        let cells = table.get("rows").items()[0].get("cells").items().to_vec();
        assert_eq!(table.get("columnDefinitions").items().len(), cells.len());
        cells
    }
}

#[test]
fn a_container_that_failed_is_shown_beside_one_that_completed_since_1_35() {
    let over = |reason: &str, code: i64| {
        let mut ended = json!({"exitCode": code});
        if !reason.is_empty() {
            ended.set(&["reason"], reason);
        }
        json!({"terminated": ended})
    };
    let well = || over("Completed", 0);
    let runs = || json!({"running": {}});
    let cases = [
        (Vec::from([well(), over("Error", 1)]), false, "Completed", "Error"),
        (Vec::from([well(), over("", 3)]), false, "Completed", "ExitCode:3"),
        (Vec::from([well(), over("Error", 1), runs()]), false, "NotReady", "Error"),
        (Vec::from([well(), over("Error", 1), runs()]), true, "Running", "Running"),
        (Vec::from([well(), runs()]), false, "NotReady", "NotReady"),
        (Vec::from([well(), well()]), false, "Completed", "Completed"),
        (Vec::from([over("Error", 1), well()]), false, "Error", "Error"),
    ];
    for (states, is_ready, before, since) in cases {
        for (minor, word) in [(34, before), (35, since), (37, since)] {
            let containers: Json =
                (0..states.len()).map(|at| json!({"name": format!("c{at}"), "image": "i"})).collect();
            let mut pod = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}, "spec": {}});
            pod.set(&["spec", "containers"], containers);
            let statuses: Json = (states.iter().enumerate())
                .map(|(at, state)| {
                    let ready = !state.get("running").is_null();
                    let mut status = json!({"name": format!("c{at}"), "image": "i", "imageID": "",
                        "ready": ready, "restartCount": 0});
                    status.set(&["state"], state.clone());
                    status
                })
                .collect();
            let ready = if is_ready { "True" } else { "False" };
            let mut status = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]});
            status.set(&["containerStatuses"], statuses);
            let cells = Fixture::of(Release::new(minor, 0)).row(&PODS, "default", &pod, status);
            assert_eq!(cells[2].as_str(), Some(word), "{minor} {states:?}");
        }
    }
}

#[test]
fn a_job_that_has_succeeded_says_so_since_1_34() {
    const JOBS: Resource = Resource::of("batch", "v1", "jobs");
    let job = json!({"kind": "Job", "apiVersion": "batch/v1", "metadata": {"name": "j"}, "spec": {"template": {"spec": {
        "restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}});
    for (minor, word) in [(31, "Running"), (33, "Running"), (34, "SuccessCriteriaMet")] {
        let status = json!({"startTime": "2026-01-01T00:00:00Z",
            "conditions": [{"type": "SuccessCriteriaMet", "status": "True"}]});
        let cells = Fixture::of(Release::new(minor, 0)).row(&JOBS, "default", &job, status);
        assert_eq!(cells[1].as_str(), Some(word), "{minor}");
    }
}

#[test]
fn an_ingress_class_that_is_the_default_one_is_marked_since_1_36() {
    const CLASSES: Resource = Resource::of("networking.k8s.io", "v1", "ingressclasses");
    let key = "ingressclass.kubernetes.io/is-default-class";
    for (minor, value, name) in [(35, "true", "c"), (36, "true", "c (default)"), (36, "false", "c")] {
        let mut class = json!({"kind": "IngressClass", "apiVersion": "networking.k8s.io/v1", "metadata": {"name": "c"},
            "spec": {"controller": "x.io/c"}});
        class.set(&["metadata", "annotations", key], value);
        let cells = Fixture::of(Release::new(minor, 0)).row(&CLASSES, "", &class, Json::Null);
        assert_eq!(cells[0].as_str(), Some(name), "{minor}");
    }
}

#[test]
fn what_steers_the_server_and_what_describes_devices_has_columns_of_its_own() {
    let webhook = json!({"name": "a.b.c", "clientConfig": {"url": "https://a.b/c"}, "sideEffects": "None",
        "admissionReviewVersions": ["v1"]});
    let mut webhooks = json!({"webhooks": []});
    webhooks.entry(&["webhooks"]).make_array().push(webhook);
    let cases = [
        (
            "admissionregistration.k8s.io",
            "mutatingwebhookconfigurations",
            "MutatingWebhookConfiguration",
            webhooks,
            json!(["n", 1, "0s"]),
        ),
        (
            "admissionregistration.k8s.io",
            "validatingadmissionpolicies",
            "ValidatingAdmissionPolicy",
            json!({"spec": {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
                "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"],
                    "operations": ["CREATE"], "resources": ["pods"]}]},
                "validations": [{"expression": "true"}]}}),
            json!(["n", 1, "v1/ConfigMap", "0s"]),
        ),
        (
            "flowcontrol.apiserver.k8s.io",
            "flowschemas",
            "FlowSchema",
            json!({"spec": {"priorityLevelConfiguration": {"name": "exempt"}, "matchingPrecedence": 7,
                "distinguisherMethod": {"type": "ByUser"}}}),
            json!(["n", "exempt", 7, "ByUser", "0s", "?"]),
        ),
        (
            "networking.k8s.io",
            "ipaddresses",
            "IPAddress",
            json!({"metadata": {"name": "10.0.0.1"}, "spec": {"parentRef": {"group": "example.com",
                "resource": "Services", "namespace": "Default", "name": "Web"}}}),
            // A real server sends the age behind them, for which it has no column.
            json!(["10.0.0.1", "services.example.com/Default/Web"]),
        ),
        (
            "resource.k8s.io",
            "resourceslices",
            "ResourceSlice",
            json!({"spec": {"nodeName": "w1", "driver": "a.b", "pool": {"name": "p", "generation": 1,
                "resourceSliceCount": 1}}}),
            json!(["n", "w1", "a.b", "p", "0s"]),
        ),
    ];
    for (group, plural, kind, mut body, expected) in cases {
        let of = Resource::of(group, "v1", plural);
        body.set(&["apiVersion"], of.api_version());
        body.set(&["kind"], kind);
        if body.get("metadata").is_null() {
            body.set(&["metadata", "name"], "n");
        }
        let cells = Fixture::new().row(&of, "", &body, Json::Null);
        assert_eq!(cells, expected.items(), "{plural}");
    }
}
