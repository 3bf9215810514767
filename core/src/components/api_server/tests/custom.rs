//! What kube-apiserver v1.34.4 answers about objects of custom kinds.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Fixture;
use crate::json;
use crate::objects::Json;
use crate::profile::Release;

const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";
const FOOS: &str = "/apis/a.b/v1/namespaces/default/foos";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

impl Fixture {
    /// Defines the kind Foo with a schema and what else is said of its version.
    fn with_foos(schema: &Json, more: &Json) -> Self {
        let mut fixture = Self::new();
        fixture.server.track_managers();
        fixture.define("foos", "Foo", schema, more);
        fixture
    }

    fn define(&mut self, plural: &str, kind: &str, schema: &Json, more: &Json) {
        let mut version = json!({"name": "v1", "served": true, "storage": true});
        version.set(&["schema", "openAPIV3Schema"], schema.clone());
        more.fields().for_each(|(name, value)| version.set(&[name], value.clone()));
        let body = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.a.b")}, "spec": {"group": "a.b", "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind, "listKind": format!("{kind}Collection")},
            "versions": [version]}});
        assert_eq!(self.told(&format!("POST {DEFINITIONS}"), JSON, &format!("{body}")).0, 201);
    }

    /// Writes a Foo; returns the code and the message.
    fn foo(&mut self, line: &str, media: &str, name: &str, mut body: Json) -> (u16, String) {
        if media != MERGE {
            body.set(&["apiVersion"], "a.b/v1");
            body.set(&["kind"], "Foo");
            body.set(&["metadata", "name"], name);
        }
        let (method, rest) = line.split_once(' ').unwrap_or((line, ""));
        let path = if method == "POST" { String::from(FOOS) } else { format!("{FOOS}/{name}{rest}") };
        let (code, message, _) = self.told(&format!("{method} {path}"), media, &format!("{body}"));
        (code, message)
    }

    fn apply(&mut self, who: &str, name: &str, body: Json) -> (u16, String) {
        self.foo(&format!("PATCH ?fieldManager={who}"), APPLY, name, body)
    }

    fn read(&mut self, path: &str) -> Json {
        self.send(&format!("GET {path}"), &[], b"").body()
    }

    fn shown(&mut self, name: &str) -> Json {
        self.read(&format!("{FOOS}/{name}"))
    }
}

fn spec(properties: Json) -> Json {
    let mut schema = json!({"type": "object", "properties": {"spec": {"type": "object"}}});
    schema.set(&["properties", "spec", "properties"], properties);
    schema
}

fn free() -> Json {
    json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

fn replicas() -> Json {
    json!({"subresources": {"status": {}, "scale":
        {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}}})
}

#[test]
fn an_apply_that_leaves_a_field_out_takes_nothing_from_others() {
    let schema = spec(json!({"a": {"type": "string"}, "b": {"type": "integer"}}));
    let mut fixture = Fixture::with_foos(&schema, &json!({}));
    assert_eq!(fixture.apply("m", "x", json!({"spec": {"a": "x"}})).0, 201);
    let own = fixture.shown("x").at(&["metadata", "managedFields"]).items()[0].get("fieldsV1").clone();
    assert_eq!(own, json!({"f:spec": {"f:a": {}}}));
    assert_eq!(fixture.foo("PATCH ?fieldManager=u", MERGE, "x", json!({"spec": {"b": 4}})).0, 200);
    assert_eq!(fixture.apply("m", "x", json!({})).0, 200);
    assert_eq!(fixture.shown("x").get("spec"), &json!({"b": 4}));
    // What the apply alone has made goes with it; of an object that somebody else has made a null is left.
    assert_eq!(fixture.apply("m", "z", json!({"spec": {"a": "x"}})).0, 201);
    assert_eq!(fixture.apply("m", "z", json!({})).0, 200);
    assert_eq!(fixture.foo("POST", JSON, "y", json!({"spec": {"a": "x"}})).0, 201);
    assert_eq!(fixture.apply("m&force=true", "y", json!({"spec": {"a": "z"}})).0, 200);
    let (code, why) = fixture.apply("m", "y", json!({}));
    let told = "Foo.a.b \"y\" is invalid: spec: Invalid value: \"null\": spec in body must be of type object: \"null\"";
    assert_eq!((code, why.as_str()), (422, told));
}

#[test]
fn the_schema_says_what_an_apply_owns_and_may_say() {
    let schema = spec(json!({"am": {"type": "object", "x-kubernetes-map-type": "atomic",
            "additionalProperties": {"type": "string"}},
        "l": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "required": ["k"],
                "properties": {"k": {"type": "string"}, "v": {"type": "integer"}}}},
        "s": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "b": {"type": "integer"}}));
    let mut fixture = Fixture::with_foos(&schema, &json!({}));
    let first = json!({"spec": {"am": {"a": "b"}, "l": [{"k": "x", "v": 1}], "s": ["p"]}});
    assert_eq!(fixture.apply("one", "x", first).0, 201);
    let (code, why) = fixture.apply("two", "x", json!({"spec": {"am": {"z": "z"}}}));
    assert_eq!((code, why.as_str()), (409, "Apply failed with 1 conflict: conflict with \"one\": .spec.am"));
    assert_eq!(fixture.apply("two", "x", json!({"spec": {"l": [{"k": "y", "v": 2}], "s": ["q"]}})).0, 200);
    let both = json!({"am": {"a": "b"}, "l": [{"k": "x", "v": 1}, {"k": "y", "v": 2}], "s": ["p", "q"]});
    assert_eq!(fixture.shown("x").get("spec"), &both);
    for (body, why) in [
        (json!({"spec": {"other": 1}}), ".spec.other: field not declared in schema"),
        (json!({"spec": {"b": "x"}}), ".spec.b: expected numeric (int or float), got string"),
        (json!({"metadata": {"foo": 1}}), ".metadata.foo: field not declared in schema"),
    ] {
        let told = format!("failed to create typed patch object (/x; a.b/v1, Kind=Foo): {why}");
        assert_eq!(fixture.apply("one", "x", body), (500, told));
    }
}

#[test]
fn what_was_wrong_before_and_is_unchanged_is_no_error() {
    let schema = |kind: &str| {
        let list = json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "required": ["k"],
                "properties": {"k": {"type": "string"}, "v": {"type": kind}}}});
        spec(json!({"a": {"type": kind}, "b": {"type": "string"}, "l": list}))
    };
    let mut fixture = Fixture::with_foos(&schema("string"), &json!({}));
    let body = json!({"spec": {"a": "s", "b": "1", "l": [{"k": "x", "v": "s"}]}});
    assert_eq!(fixture.foo("POST", JSON, "x", body).0, 201);
    let change = json!({"spec": {"versions": [{"name": "v1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": schema("integer")}}]}});
    assert_eq!(fixture.told(&format!("PATCH {DEFINITIONS}/foos.a.b"), MERGE, &format!("{change}")).0, 200);
    assert_eq!(fixture.foo("PATCH", MERGE, "x", json!({"spec": {"b": "2"}})).0, 200);
    let longer = json!({"spec": {"l": [{"k": "w", "v": 1}, {"k": "x", "v": "s"}]}});
    assert_eq!(fixture.foo("PATCH", MERGE, "x", longer).0, 200);
    let (code, why) = fixture.foo("PATCH", MERGE, "x", json!({"spec": {"a": "t"}}));
    let told = "spec.a: Invalid value: \"string\": spec.a in body must be of type integer: \"string\"";
    assert!(code == 422 && why.ends_with(told), "{why}");
    let body = json!({"apiVersion": "a.b/v1", "kind": "Foo", "metadata": {"name": "y"}, "spec": {"a": "s"}});
    let answer = fixture.send(&format!("POST {FOOS}"), &[("Content-Type", JSON)], format!("{body}").as_bytes());
    let cause = &answer.body().at(&["details", "causes"]).items()[0].clone();
    assert_eq!(cause.get("reason").as_str(), Some("FieldValueTypeInvalid"));
}

#[test]
fn what_stands_twice_is_told_where_it_was_not_before() {
    let list = json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}});
    let maps = spec(json!({"a": {"type": "object", "additionalProperties": list},
        "c": {"type": "array", "minItems": 1, "items": {"type": "string"}},
        "m": {"type": "object", "minProperties": 2, "additionalProperties": {"type": "string"}}}));
    let mut fixture = Fixture::with_foos(&maps, &json!({}));
    let (_, why) = fixture.foo("POST", JSON, "x", json!({"spec": {"a": {"l": ["p", "p", "p"]}}}));
    assert_eq!(why, "Foo.a.b \"x\" is invalid: spec.a[l][1]: Duplicate value: \"p\"");
    let (_, why) = fixture.foo("POST", JSON, "x", json!({"spec": {"c": []}}));
    let told = "Foo.a.b \"x\" is invalid: spec.c: Invalid value: 0: spec.c in body should have at least 1 items";
    assert_eq!(why, told);
    let (_, why) = fixture.foo("POST", JSON, "x", json!({"spec": {"m": {"k": "v"}}}));
    assert!(why.ends_with("spec.m: Invalid value: 1: spec.m in body should have at least 2 properties"), "{why}");
}

#[test]
fn each_item_of_a_list_says_what_it_is() {
    let mut fixture = Fixture::with_foos(&free(), &json!({}));
    assert_eq!(fixture.foo("POST", JSON, "x", json!({})).0, 201);
    let list = fixture.read(FOOS);
    assert_eq!(list.get("kind").as_str(), Some("FooCollection"));
    assert_eq!(list.at(&["metadata", "continue"]).as_str(), Some(""));
    let item = &list.get("items").items()[0];
    assert_eq!((item.get("kind").as_str(), item.get("apiVersion").as_str()), (Some("Foo"), Some("a.b/v1")));
    let media = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
    let list = fixture.send(&format!("GET {FOOS}"), &[("Accept", media)], b"").body();
    assert!(list.at(&["metadata", "continue"]).is_null());
}

#[test]
fn replicas_of_a_custom_object_are_a_count() {
    let mut fixture = Fixture::with_foos(&free(), &replicas());
    for (value, why) in [
        (json!(-1), "-1: should be a non-negative integer"),
        (json!(2_147_483_648_i64), "2147483648: should be less than or equal to 2147483647"),
        (json!("x"), "0: .spec.replicas accessor error: x is of the type string, expected int64"),
    ] {
        let (code, told) = fixture.foo("POST", JSON, "x", json!({"spec": {"replicas": value}}));
        let why = format!("Foo.a.b \"x\" is invalid: .spec.replicas: Invalid value: {why}");
        assert_eq!((code, told), (422, why));
    }
    let (_, told) = fixture.foo("POST", JSON, "x", json!({"spec": 1}));
    let why = "0: .spec accessor error: 1 is of the type int64, expected map[string]interface {}";
    assert!(told.ends_with(why), "{told}");
    assert_eq!(fixture.foo("POST", JSON, "none", json!({"spec": {}})).0, 201);
    let (code, why, _) = fixture.told(&format!("GET {FOOS}/none/scale"), JSON, "");
    let told = "Internal error occurred: the spec replicas field \".spec.replicas\" does not exist";
    assert_eq!((code, why.as_str()), (500, told));
    let (code, why) = fixture.foo("PATCH /scale", MERGE, "none", json!({"spec": {"replicas": -7}}));
    assert!(code == 422 && why.starts_with("Foo.a.b \"none\" is invalid: .spec.replicas: Invalid value: -7"), "{why}");
    let (code, why) = fixture.foo("PATCH /status", MERGE, "none", json!({"status": {"replicas": "x"}}));
    assert!(code == 422 && why.contains(".status.replicas accessor error: x is of the type string"), "{why}");
    assert_eq!(fixture.foo("PATCH /scale", MERGE, "none", json!({"spec": {"replicas": 3}})).0, 200);
    assert_eq!(fixture.shown("none").at(&["spec", "replicas"]).as_i64(), Some(3));
}

#[test]
fn a_status_is_checked_as_if_it_stood_alone() {
    let mut schema = spec(json!({"a": {"type": "string"}}));
    schema.set(&["properties", "status"], json!({"type": "object", "properties": {"kind": {"type": "string"}}}));
    let mut fixture = Fixture::with_foos(&schema, &replicas());
    assert_eq!(fixture.foo("POST", JSON, "x", json!({"spec": {"a": "s"}})).0, 201);
    let (_, why) = fixture.foo("PATCH /status", MERGE, "x", json!({"status": {"kind": 1}}));
    let told = "Foo.a.b \"x\" is invalid: status.kind: Invalid value: \"integer\": kind in body must be of type \
                string: \"integer\"";
    assert_eq!(why, told);
    let (_, why) = fixture.foo("PATCH /status", MERGE, "x", json!({"status": 1}));
    assert!(why.contains("status: Invalid value: \"integer\":  in body must be of type object"), "{why}");
}

#[test]
fn a_version_that_is_deprecated_and_a_finalizer_of_nobody_are_warned_of() {
    let mut fixture = Fixture::with_foos(&free(), &json!({"deprecated": true}));
    let (_, _, warnings) = fixture.told(&format!("GET {FOOS}"), JSON, "");
    assert_eq!(warnings, ["a.b/v1 Foo is deprecated"]);
    let said = json!({"deprecated": true, "deprecationWarning": "say \"no\""});
    let mut fixture = Fixture::with_foos(&free(), &said);
    assert_eq!(fixture.told(&format!("GET {FOOS}/x"), JSON, "").2, ["say \"no\""]);
    let others = "to avoid accidental conflicts with other finalizer writers";
    let of = |name: &str, path: &str| {
        format!("metadata.finalizers: {name:?}: prefer a domain-qualified finalizer name{path} {others}")
    };
    let finalizers = |list: &[&str]| {
        let list: Json = list.iter().map(|name| Json::from(*name)).collect();
        format!("{}", json!({"apiVersion": "a.b/v1", "kind": "Foo", "metadata": {"name": "x", "finalizers": list}}))
    };
    for (minor, path) in [(31, ""), (34, " including a path (/)")] {
        let mut fixture = Fixture::of(Release::new(minor, 0));
        fixture.define("foos", "Foo", &free(), &json!({}));
        let body = finalizers(&["c.d", "bad", "orphan", "a.b/c"]);
        let (_, _, warnings) = fixture.told(&format!("POST {FOOS}"), JSON, &body);
        assert_eq!(warnings, [of("bad", ""), of("c.d", path)]);
        let merge = json!({"metadata": {"finalizers": ["bad", "worse"]}});
        let (_, _, warnings) = fixture.told(&format!("PATCH {FOOS}/x"), MERGE, &format!("{merge}"));
        assert_eq!(warnings, [of("worse", "")]);
    }
}

#[test]
fn another_kind_version_or_path_is_refused_as_what_has_no_type_in_go() {
    let mut fixture = Fixture::with_foos(&free(), &json!({}));
    let post = format!("POST {FOOS}");
    let bar = r#"{"apiVersion":"a.b/v1","kind":"Bar","metadata":{"name":"q"}}"#;
    let (code, why, _) = fixture.told(&post, JSON, bar);
    assert_eq!((code, why.as_str()), (422, "Bar.a.b \"q\" is invalid: kind: Invalid value: \"Bar\": must be Foo"));
    let (code, why, _) = fixture.told(&post, JSON, r#"{"apiVersion":"x/v2","kind":"Foo"}"#);
    let told = "the API version in the data (x/v2) does not match the expected API version (a.b/v1)";
    assert_eq!((code, why.as_str()), (400, told));
    let (code, why, _) = fixture.told(&post, JSON, r#"{"apiVersion":"a.b/v1"}"#);
    let told = "the object provided is unrecognized (must be of type Foo): Object 'Kind' is missing in \
                '{\"apiVersion\":\"a.b/v1\"}' ({\"apiVersion\":\"a.b/v1\"})";
    assert_eq!((code, why.as_str()), (400, told));
    assert_eq!(fixture.foo("POST", JSON, "x", json!({})).0, 201);
    let (code, why) = fixture.foo("PATCH", MERGE, "x", json!({"kind": "Bar"}));
    assert_eq!((code, why.as_str()), (422, "Bar.a.b \"x\" is invalid: kind: Invalid value: \"Bar\": must be Foo"));
    for part in ["scale", "status", "other"] {
        let (code, why, _) = fixture.told(&format!("GET {FOOS}/x/{part}"), JSON, "");
        assert_eq!((code, why.as_str()), (404, "foos.a.b \"x\" not found"));
    }
    let (code, why, _) = fixture.told("POST /apis/a.b/v1/foos", JSON, bar);
    assert_eq!((code, why.as_str()), (404, "404 page not found\n"));
    let (code, why, _) = fixture.told(&format!("GET {FOOS}?fieldSelector=spec.a%3Db"), JSON, "");
    assert_eq!((code, why.as_str()), (400, "field label not supported: spec.a"));
}

#[test]
fn a_definition_that_goes_away_takes_no_new_objects() {
    let mut fixture = Fixture::with_foos(&free(), &json!({}));
    assert_eq!(fixture.foo("POST", JSON, "x", json!({"metadata": {"finalizers": ["q.r/s"]}})).0, 201);
    assert_eq!(fixture.told(&format!("DELETE {DEFINITIONS}/foos.a.b"), JSON, "").0, 200);
    let definition = fixture.read(&format!("{DEFINITIONS}/foos.a.b"));
    let metadata = definition.get("metadata");
    assert!(metadata.get("deletionGracePeriodSeconds").is_null());
    assert_eq!(metadata.get("generation").as_i64(), Some(1));
    let reasons: Vec<_> =
        definition.at(&["status", "conditions"]).items().iter().map(|own| own.get("reason").as_str()).collect();
    assert!(reasons.contains(&Some("InstanceDeletionInProgress")), "{reasons:?}");
    assert_eq!(fixture.shown("x").at(&["metadata", "generation"]).as_i64(), Some(2));
    let (code, why) = fixture.foo("POST", JSON, "new", json!({}));
    let told = "foos.a.b \"new\" is forbidden: create not allowed while custom resource definition is terminating";
    assert_eq!((code, why.as_str()), (403, told));
    assert_eq!(fixture.foo("PATCH", MERGE, "x", json!({"metadata": {"finalizers": null}})).0, 200);
    assert_eq!(fixture.told(&format!("GET {DEFINITIONS}/foos.a.b"), JSON, "").0, 404);
}

#[test]
fn a_custom_kind_with_the_name_of_a_built_in_one_has_none_of_its_rules() {
    let mut fixture = Fixture::new();
    fixture.define("services", "Service", &free(), &json!({}));
    let body = json!({"apiVersion": "a.b/v1", "kind": "Service", "metadata": {"name": "x.y"}, "spec": {"type": 1}});
    let path = "/apis/a.b/v1/namespaces/default/services";
    assert_eq!(fixture.told(&format!("POST {path}"), JSON, &format!("{body}")).0, 201);
    assert_eq!(fixture.read(&format!("{path}/x.y")).get("spec"), &json!({"type": 1}));
}

#[test]
fn two_managers_share_the_webhooks_of_a_configuration() {
    let mut fixture = Fixture::new();
    fixture.server.track_managers();
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/w";
    let hook = |fields: &Json| {
        let mut hook = json!({"name": "a.b.c"});
        fields.fields().for_each(|(name, value)| hook.set(&[name], value.clone()));
        format!(
            "{}",
            json!({"apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "w"}, "webhooks": [hook]})
        )
    };
    let first = hook(&json!({"sideEffects": "None", "admissionReviewVersions": ["v1"],
        "clientConfig": {"url": "https://x.y/z"}}));
    assert_eq!(fixture.told(&format!("PATCH {path}?fieldManager=one"), APPLY, &first).0, 201);
    let second = hook(&json!({"clientConfig": {"caBundle": "YQ=="}}));
    assert_eq!(fixture.told(&format!("PATCH {path}?fieldManager=two"), APPLY, &second).0, 200);
    let hooks = fixture.read(path).get("webhooks").clone();
    assert_eq!(hooks.items().len(), 1);
    assert_eq!(hooks.items()[0].get("clientConfig"), &json!({"url": "https://x.y/z", "caBundle": "YQ=="}));
    let path = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas";
    let body = json!({"metadata": {"name": "f"}, "spec": {"priorityLevelConfiguration": {"name": "p"}}});
    assert_eq!(fixture.told(&format!("POST {path}"), JSON, &format!("{body}")).0, 201);
    let labelled = json!({"metadata": {"labels": {"a": "b"}}, "status": {"conditions": [{"type": "X"}]}});
    assert_eq!(fixture.told(&format!("PATCH {path}/f/status"), MERGE, &format!("{labelled}")).0, 200);
    let shown = fixture.read(&format!("{path}/f"));
    assert!(shown.at(&["metadata", "labels"]).is_null());
    assert_eq!(shown.at(&["status", "conditions"]).items().len(), 1);
}

#[test]
fn a_template_is_warned_of_when_it_may_be_another() {
    let mut fixture = Fixture::new();
    let body = json!({"metadata": {"name": "x.y"}, "spec": {"selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"nodeSelector": {"beta.kubernetes.io/os": "linux"},
            "containers": [{"name": "c", "image": "i"}]}}}});
    for (plural, counted, is_named) in [("deployments", true, true), ("daemonsets", false, false)] {
        let path = format!("/apis/apps/v1/namespaces/default/{plural}");
        let (_, _, warnings) = fixture.told(&format!("POST {path}"), JSON, &format!("{body}"));
        assert_eq!(warnings.len(), 1 + usize::from(is_named), "{warnings:?}");
        let mut told = |change: Json| {
            let (code, _, warnings) = fixture.told(&format!("PATCH {path}/x.y"), MERGE, &format!("{change}"));
            assert_eq!(code, 200);
            warnings.len()
        };
        assert_eq!(told(json!({"metadata": {"labels": {"l": "m"}}})), 0);
        assert_eq!(told(json!({"spec": {"minReadySeconds": 2}})), usize::from(counted));
        let image = json!({"spec": {"template": {"spec": {"terminationGracePeriodSeconds": 3}}}});
        assert_eq!(told(image), 1);
    }
}

#[test]
fn a_service_that_is_balanced_no_more_loses_its_balancer() {
    let mut fixture = Fixture::new();
    let path = "/api/v1/namespaces/default/services";
    let body = json!({"metadata": {"name": "s"}, "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]}});
    assert_eq!(fixture.told(&format!("POST {path}"), JSON, &format!("{body}")).0, 201);
    let status = json!({"status": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}});
    assert_eq!(fixture.told(&format!("PATCH {path}/s/status"), MERGE, &format!("{status}")).0, 200);
    assert_eq!(fixture.told(&format!("PATCH {path}/s"), MERGE, r#"{"spec":{"type":"ClusterIP"}}"#).0, 200);
    assert_eq!(fixture.read(&format!("{path}/s")).at(&["status", "loadBalancer"]), &json!({}));
}

#[test]
fn a_token_is_valid_for_its_audiences_alone() {
    let mut fixture = Fixture::new();
    let account = json!({"metadata": {"name": "app"}});
    let path = "/api/v1/namespaces/default/serviceaccounts";
    assert_eq!(fixture.told(&format!("POST {path}"), JSON, &format!("{account}")).0, 201);
    let mut review = |audiences: &[&str]| {
        let asked = r#"{"spec":{"audiences":["aud1","aud2"]}}"#;
        let token = fixture.send(&format!("POST {path}/app/token"), &[("Content-Type", JSON)], asked.as_bytes());
        let audiences: Json = audiences.iter().map(|own| Json::from(*own)).collect();
        let body = json!({"spec": {"token": token.body().at(&["status", "token"]).clone(), "audiences": audiences}});
        let line = "POST /apis/authentication.k8s.io/v1/tokenreviews";
        fixture.send(line, &[("Content-Type", JSON)], format!("{body}").as_bytes()).body().get("status").clone()
    };
    let status = review(&["other", "aud1"]);
    assert_eq!(status.get("audiences"), &json!(["aud1"]));
    assert!(!status.at(&["user", "uid"]).is_null());
    let id = status.at(&["user", "extra", "authentication.kubernetes.io/credential-id"]);
    assert!(id.items()[0].as_str().unwrap().starts_with("JTI="));
    let told = "[invalid bearer token, token audiences [\"aud1\" \"aud2\"] is invalid for the target audiences ";
    assert_eq!(review(&["other"]), json!({"user": {}, "error": format!("{told}[\"other\"]]")}));
    let server = "[\"https://kubernetes.default.svc.cluster.local\"]]";
    assert_eq!(review(&[]).get("error").as_str(), Some(format!("{told}{server}").as_str()));
}
