//! What the server answers to requests as they come over HTTP: bodies, media types, parameters.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Fixture;
use crate::network::{Answer, Call, Content};
use crate::objects::base64;

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const MERGE: &str = "application/merge-patch+json";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

impl Fixture {
    pub(super) fn send(&mut self, line: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let (method, path) = line.split_once(' ').unwrap();
        match Call::from_http_bytes(method, path, headers, body) {
            Ok(call) => self.call(call),
            Err(answer) => *answer,
        }
    }

    /// Sends a body and returns the code, the message, and the warnings without their marks.
    pub(super) fn told(&mut self, line: &str, media: &str, body: &str) -> (u16, String, Vec<String>) {
        let answer = self.send(line, &[("Content-Type", media)], body.as_bytes());
        let warnings = answer.headers.iter().filter(|(name, _)| *name == "Warning");
        let told = |text: &str| text.strip_prefix("299 - \"")?.strip_suffix('"').map(|text| text.replace('\\', ""));
        let warnings = warnings.filter_map(|(_, text)| told(text));
        (answer.code, answer.message(), warnings.collect())
    }
}

#[test]
fn fields_that_come_twice_or_are_unknown_are_told_as_the_client_wants() {
    let body = r#"{"kind":"Node","metadata":{"name":"n1","name":"n1"},"spec":{"zzz":1,"foo":1,"unschedulable":true}}"#;
    let all = ["duplicate field \"metadata.name\"", "unknown field \"spec.zzz\"", "unknown field \"spec.foo\""];
    let (code, message, warnings) = Fixture::new().told("POST /api/v1/nodes?fieldValidation=Strict", JSON, body);
    let strict = "Node in version \"v1\" cannot be handled as a Node: strict decoding error: ";
    assert_eq!((code, message, warnings), (400, String::from(strict) + &all.join(", "), Vec::new()));
    let (code, _, warnings) = Fixture::new().told("POST /api/v1/nodes", JSON, body);
    assert_eq!((code, warnings), (201, all.map(String::from).to_vec()));
    let (code, _, warnings) = Fixture::new().told("POST /api/v1/nodes?fieldValidation=Ignore", JSON, body);
    assert_eq!((code, warnings), (201, Vec::new()));
}

#[test]
fn keys_that_stand_twice_in_yaml_are_told_with_their_lines() {
    let body = "kind: Node\nmetadata:\n  name: n1\n  name: n2\nspec:\n  foo: 1\n";
    let line = "line 4: key \"name\" already set in map";
    let (code, _, warnings) = Fixture::new().told("POST /api/v1/nodes", YAML, body);
    assert_eq!((code, warnings), (201, [line, "unknown field \"spec.foo\""].map(String::from).to_vec()));
    let (code, message, _) = Fixture::new().told("POST /api/v1/nodes?fieldValidation=Strict", YAML, body);
    let end = "strict decoding error: yaml: unmarshal errors:\n  line 4: key \"name\" already set in map, \
               unknown field \"spec.foo\"";
    assert!(code == 400 && message.ends_with(end), "{code} {message}");
    let apply = "PATCH /api/v1/nodes/n1?fieldManager=me&fieldValidation=";
    let body = "apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n  name: n1\n";
    let media = "application/apply-patch+yaml";
    let (code, message, _) = Fixture::new().told(&(String::from(apply) + "Strict"), media, body);
    let why = "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  \
               line 5: key \"name\" already set in map";
    assert_eq!((code, message.as_str()), (400, why));
    let (code, _, warnings) = Fixture::new().told(&(String::from(apply) + "Warn"), media, body);
    assert_eq!((code, warnings), (201, Vec::from([String::from("line 5: key \"name\" already set in map")])));
}

#[test]
fn mistakes_are_told_in_the_order_of_the_text() {
    let mut fixture = Fixture::new();
    let cases = [
        (r#"{"kind":5,"apiVersion":6}"#, "field .kind of type string ({\"kind\":5,\"apiVersion\":6})"),
        (r#"{"apiVersion":6,"kind":5}"#, "field .apiVersion of type string ({\"apiVersion\":6,\"kind\":5})"),
        (r#"{"KIND":"Pod"}"#, "Pod in version \"\" cannot be handled as a Node"),
        (r#"{"spec":{"taints":1},"metadata":{"name":1}}"#, "number into Go struct field NodeSpec.spec.taints"),
        (r#"{"metadata":{"name":1},"spec":{"taints":1}}"#, "number into Go struct field ObjectMeta.metadata.name"),
        (r#"{"metadata":{"generation":1.50}}"#, "cannot unmarshal number 1.50 into Go struct field"),
    ];
    for (body, part) in cases {
        let (code, message, _) = fixture.told("POST /api/v1/nodes", JSON, body);
        assert!(code == 400 && message.contains(part), "{body}: {code} {message}");
    }
}

#[test]
fn a_patch_of_what_is_not_there_is_not_read() {
    let mut fixture = Fixture::new();
    assert_eq!(fixture.told("PATCH /api/v1/nodes/n1", MERGE, "{").0, 404);
    assert_eq!(fixture.told("PATCH /api/v1/nodes/n1", "application/Merge-Patch+json", "{}").0, 415);
    fixture.create_node("n1");
    assert_eq!(fixture.told("PATCH /api/v1/nodes/n1", MERGE, "{").0, 400);
    let body = r#"{"spec":{"unschedulable":true,"unschedulable":true}}"#;
    let (code, _, warnings) = fixture.told("PATCH /api/v1/nodes/n1", MERGE, body);
    assert_eq!((code, warnings), (200, Vec::from([String::from("duplicate field \"spec.unschedulable\"")])));
    for (media, body, code, part) in [
        (MERGE, "null", 400, "Invalid JSON Patch"),
        (MERGE, r#"{"kind":"Pod"}"#, 422, "converting (v1.Pod) to (core.Node): unknown conversion"),
        (MERGE, r#"{"kind":"Foo"}"#, 422, "no kind \"Foo\" is registered for version \"v1\""),
        (MERGE, r#"{"kind":null}"#, 200, ""),
        ("application/strategic-merge-patch+json", r#"{"kind":"Pod","apiVersion":"v2"}"#, 200, ""),
        ("application/strategic-merge-patch+json", "null", 200, ""),
        ("application/json-patch+json", "null", 200, ""),
        ("application/json-patch+json", r#"[{"op":5}]"#, 400, "number into Go struct field jsonPatchOp.op of type"),
    ] {
        let (found, message, _) = fixture.told("PATCH /api/v1/nodes/n1", media, body);
        assert!(found == code && message.contains(part), "{body}: {found} {message}");
    }
    let body = r#"[{"op":"add","path":"/spec/podCIDR","value":"","foo":1}]"#;
    let (code, _, warnings) = fixture.told("PATCH /api/v1/nodes/n1", "application/json-patch+json", body);
    assert_eq!((code, warnings), (200, Vec::from([String::from("json patch unknown field \"[0].foo\"")])));
}

#[test]
fn bodies_of_subresources_and_reviews_are_read_as_those_of_objects() {
    let mut fixture = Fixture::new();
    let pod = r#"{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i:1"}]}}"#;
    assert_eq!(fixture.told("POST /api/v1/namespaces/default/pods", JSON, pod).0, 201);
    let pods = "/api/v1/namespaces/default/pods/p";
    let review = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let token = "/api/v1/namespaces/default/serviceaccounts/default/token";
    let cases = [
        (format!("{pods}/binding"), "{", "unrecognized (must be of type Binding)"),
        (format!("{pods}/binding"), r#"{"target":5}"#, "cannot unmarshal number into Go struct field Binding.target"),
        (format!("{pods}/eviction"), "", "unrecognized (must be of type Eviction)"),
        (
            format!("{pods}/eviction"),
            r#"{"kind":"Node","apiVersion":"v1"}"#,
            "converting (v1.Node) to (policy.Eviction)",
        ),
        (format!("{pods}/eviction?fieldValidation=Strict"), r#"{"foo":1}"#, "unknown field \"foo\""),
        (token.into(), r#"{"spec":{"expirationSeconds":"x"}}"#, "cannot unmarshal string into Go struct field"),
        (review.into(), r#"{"spec":{"resourceAttributes":5}}"#, "of type v1.ResourceAttributes"),
        (format!("{review}?fieldValidation=Strict"), r#"{"spec":{"x":1}}"#, "unknown field \"spec.x\""),
    ];
    for (path, body, part) in cases {
        let (code, message, _) = fixture.told(&format!("POST {path}"), JSON, body);
        assert!(code == 400 && message.contains(part), "{path} {body}: {code} {message}");
    }
    let body = r#"{"spec":{"resourceAttributes":{"verb":"get","resource":"nodes"},"x":1}}"#;
    let (code, _, warnings) = fixture.told(&format!("POST {review}"), JSON, body);
    assert_eq!((code, warnings), (201, Vec::from([String::from("unknown field \"spec.x\"")])));
    let older = r#"{"kind":"Eviction","apiVersion":"policy/v1beta1","metadata":{"name":"p"}}"#;
    assert_eq!(fixture.told(&format!("POST {pods}/eviction"), JSON, older).0, 201);
}

#[test]
fn a_body_that_is_too_long_is_refused_when_it_is_read() {
    let mut fixture = Fixture::new();
    let long = "x".repeat(crate::network::http::MAX_BODY + 1);
    assert_eq!(fixture.told("POST /api/v1/nodes", JSON, &long).0, 413);
    assert_eq!(fixture.told("POST /api/v1/nothing", JSON, &long).0, 404);
    assert_eq!(fixture.told("GET /api/v1/nodes", JSON, &long).0, 200);
}

#[test]
fn a_body_that_is_nested_deeply_is_read_as_far_as_types_go() {
    let deep = format!(r#"{{"metadata":{{"name":"n1","a":{}1{}}}}}"#, r#"{"a":"#.repeat(1000), "}".repeat(1000));
    let (code, _, warnings) = Fixture::new().told("POST /api/v1/nodes", JSON, &deep);
    assert_eq!((code, warnings), (201, Vec::from([String::from("unknown field \"metadata.a\"")])));
    let (code, message, _) = Fixture::new().told("POST /api/v1/nodes", JSON, &"[".repeat(100_000));
    assert!(code == 400 && message.contains("exceeded max depth"), "{code} {message}");
}

#[test]
fn parameters_are_read_by_the_verbs_that_have_them() {
    let mut fixture = Fixture::new();
    fixture.create_node("n1");
    let cases = [
        ("GET /api/v1/nodes/n1?dryRun=x&limit=y&fieldValidation=z&timeoutSeconds=w", "", 200),
        ("GET /api/v1/nodes?limit=y", "", 400),
        ("GET /api/v1/nodes?dryRun=x&fieldValidation=z", "", 200),
        ("PUT /api/v1/nodes/n1?limit=y", r#"{"metadata":{"name":"n1"}}"#, 200),
        ("PUT /api/v1/nodes/n1?dryRun=x", r#"{"metadata":{"name":"n1"}}"#, 422),
        ("PUT /api/v1/nodes/n1?dryRun=All&dryRun=x", r#"{"metadata":{"name":"n1"}}"#, 422),
        ("DELETE /api/v1/nodes/n1?dryRun=x", "", 422),
        ("GET /api/v1/nodes?continue=zzz", "", 400),
        ("DELETE /api/v1/nodes/n1?dryRun=x", r#"{"dryRun":["All"]}"#, 200),
        ("GET /api/v1/nodes/n1", "", 200),
    ];
    for (line, body, code) in cases {
        assert_eq!(fixture.told(line, JSON, body).0, code, "{line} {body}");
    }
    assert_eq!(fixture.told("DELETE /api/v1/nodes/n1", "text/plain", "{}").0, 415);
}

#[test]
fn a_deletion_that_has_to_wait_is_accepted_if_dependents_are_not_to_be_orphans() {
    let mut fixture = Fixture::new();
    let body = r#"{"metadata":{"name":"n1","finalizers":["example.com/x"]}}"#;
    assert_eq!(fixture.told("POST /api/v1/nodes", JSON, body).0, 201);
    assert_eq!(fixture.told("DELETE /api/v1/nodes/n1", JSON, r#"{"orphanDependents":false}"#).0, 202);
    assert_eq!(fixture.told("DELETE /api/v1/nodes/n1", JSON, "{}").0, 200);
}

#[test]
fn openapi_version_2_is_told_in_the_form_that_is_asked_for() {
    let mut fixture = Fixture::new();
    let plain = fixture.send("GET /openapi/v2", &[], b"");
    assert_eq!(plain.body().at(&["info", "version"]).as_str(), Some("v1.34.4"));
    let accept = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    let Content::Bytes(bytes) = fixture.send("GET /openapi/v2", &[("Accept", accept)], b"").content else {
        panic!("no bytes")
    };
    assert_eq!(bytes, b"\x0a\x032.0\x12\x15\x0a\x0aKubernetes\x12\x07v1.34.4");
}

#[test]
fn some_kinds_are_created_by_a_put() {
    let mut fixture = Fixture::new();
    let role = r#"{"metadata":{"name":"r"},"rules":[]}"#;
    let roles = "/apis/rbac.authorization.k8s.io/v1";
    assert_eq!(fixture.told(&format!("PUT {roles}/clusterroles/r"), JSON, role).0, 201);
    assert_eq!(fixture.told(&format!("PUT {roles}/namespaces/default/roles/r"), JSON, role).0, 201);
    let limits = r#"{"metadata":{"name":"l"},"spec":{"limits":[]}}"#;
    assert_eq!(fixture.told("PUT /api/v1/namespaces/default/limitranges/l", JSON, limits).0, 201);
    let map = r#"{"metadata":{"name":"m"}}"#;
    assert_eq!(fixture.told("PUT /api/v1/namespaces/default/configmaps/m", JSON, map).0, 404);
}

#[test]
fn objects_come_and_go_as_protobuf() {
    let mut fixture = Fixture::new();
    let node = base64::decode("azhzAAoKCgJ2MRIETm9kZRIGCgQKAm4xGgAiAA==").unwrap();
    assert_eq!(fixture.send("POST /api/v1/nodes", &[("Content-Type", PROTOBUF)], &node).code, 201);
    let answer = fixture.send("GET /api/v1/nodes/n1", &[("Accept", PROTOBUF)], b"");
    assert!(matches!(answer.content, Content::Bytes(_)));
    assert_eq!(answer.body().at(&["metadata", "name"]).as_str(), Some("n1"));
    let answer = fixture.send("GET /api/v1/nodes", &[("Accept", "application/vnd.kubernetes.protobuf,*/*")], b"");
    assert_eq!(answer.body().get("items").items().len(), 1);
    let refusal = fixture.send("GET /api/v1/nodes/n2", &[("Accept", PROTOBUF)], b"");
    assert!(matches!(refusal.content, Content::Bytes(_)) && refusal.body().get("code").as_i64() == Some(404));
    let table = "application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1,application/json";
    assert!(!matches!(fixture.send("GET /api/v1/nodes", &[("Accept", table)], b"").content, Content::Bytes(_)));
    let wrong = fixture.send("POST /api/v1/nodes", &[("Content-Type", PROTOBUF)], b"k8s\0\xff\xff\xff");
    let why = "the object provided is unrecognized (must be of type Node): unexpected EOF (6b387300ffffff)";
    assert_eq!((wrong.code, wrong.message().as_str()), (400, why));
}
