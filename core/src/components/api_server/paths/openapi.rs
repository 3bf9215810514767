//! OpenAPI documents, as far as kubectl asks for them: whether a kind's fields are validated by the server, and which
//! fields a kind has.
//!
//! Mirrors k8s.io/kube-openapi pkg/handler3 (v1.34): an index of documents, one for each group version. kubectl looks
//! for a PATCH of the kind that has the parameter `fieldValidation` (k8s.io/cli-runtime
//! pkg/resource/query_param_verifier_v3.go, v1.34), and of a kind that the server does not have for the document of
//! version 2. Inputs: a path. Output: the document. Left out on purpose: all other operations, and the hash of a
//! document, which caches of clients need.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::schemas::Schemas;
use crate::json;
use crate::network::kinds::{Kind, Kinds, Trait};
use crate::network::{Answer, Call, Content};
use crate::objects::schema::Schema;
use crate::objects::{Json, Text};

/// The form in which kubectl asks for version 2.
const PROTOBUF_2: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/// Answers `/openapi/v2` with a document that describes no kind.
pub(super) fn version_2(call: &Call, version: &str) -> Answer {
    let wants_bytes = call.header_value("accept").is_some_and(|accept| accept.contains("protobuf"));
    if !wants_bytes {
        let mut document = json!({"swagger": "2.0", "info": {"title": "Kubernetes"}, "paths": {}});
        document.set(&["info", "version"], version);
        return Answer::json(200, document);
    }
    // Of github.com/google/gnostic-models/openapiv2 `Document`: swagger (1), info (2) with title (1) and version (2).
    let field = |number: u8, text: &[u8]| {
        let length = u8::try_from(text.len()).unwrap_or_default();
        [&[number << 3 | 2, length], text].concat()
    };
    let info = [field(1, b"Kubernetes"), field(2, version.as_bytes())].concat();
    let mut answer = Answer::json(200, Json::Null);
    answer.content = Content::Bytes([field(1, b"2.0"), field(2, &info)].concat());
    answer.headers.push((Text::of("Content-Type"), Text::of(PROTOBUF_2)));
    answer
}

/// Returns the document of a path below `/openapi/v3`; `None` if there is none.
pub(super) fn document(path: &str, kinds: &Kinds, schema: &Schema) -> Option<Json> {
    match path.strip_prefix("/openapi/v3")? {
        "" => Some(index(kinds)),
        below => group_version(below.strip_prefix('/')?, kinds, schema),
    }
}

fn index(kinds: &Kinds) -> Json {
    let mut index = json!({"paths": {}});
    for kind in kinds.iter() {
        let prefix = prefix(kind);
        index.set(&["paths", &prefix], json!({"serverRelativeURL": format!("/openapi/v3/{prefix}")}));
    }
    index
}

fn group_version(wanted: &str, kinds: &Kinds, schema: &Schema) -> Option<Json> {
    let mut document = json!({"openapi": "3.0.0", "info": {"title": "Kubernetes", "version": "unversioned"}});
    let own: Vec<&Kind> = kinds.iter().filter(|kind| prefix(kind) == wanted).collect();
    for kind in &own {
        if kind.is(Trait::Review) {
            continue;
        }
        let namespace = if kind.is_namespaced() { "namespaces/{namespace}/" } else { "" };
        let path = format!("/{wanted}/{namespace}{}/{{name}}", kind.resource.plural);
        let operation = json!({
            "parameters": [{"name": "fieldValidation", "in": "query", "schema": {"type": "string"}}],
            "x-kubernetes-group-version-kind": {
                "group": kind.resource.group.as_str(), "kind": kind.name, "version": kind.resource.version.as_str(),
            },
        });
        document.set(&["paths", &path, "patch"], operation);
    }
    document.set(&["components", "schemas"], Schemas::of(schema, &own));
    (!own.is_empty()).then_some(document)
}

fn prefix(kind: &Kind) -> String {
    let resource = &kind.resource;
    match resource.group.as_str() {
        "" => format!("api/{}", resource.version),
        group => format!("apis/{group}/{}", resource.version),
    }
}

#[cfg(test)]
mod tests {
    use super::Kinds;

    fn document(path: &str) -> Option<super::Json> {
        let schema = crate::profile::Settings::default().profile().schema();
        super::document(path, &Kinds::default(), &schema)
    }

    #[test]
    fn each_kind_of_a_group_version_says_that_its_fields_are_validated() {
        let index = document("/openapi/v3").unwrap();
        for (path, entry) in index.get("paths").fields() {
            let url = entry.get("serverRelativeURL").as_str().unwrap();
            assert_eq!(url, alloc::format!("/openapi/v3/{path}"));
            assert!(document(url).is_some(), "{url}");
        }
        let core = document("/openapi/v3/api/v1").unwrap();
        let patch = core.get("paths").get("/api/v1/namespaces/{namespace}/pods/{name}").get("patch");
        assert_eq!(patch.get("x-kubernetes-group-version-kind").get("kind").as_str(), Some("Pod"));
        assert_eq!(patch.get("parameters").items()[0].get("name").as_str(), Some("fieldValidation"));
        for none in ["/openapi/v2", "/openapi/v3/", "/openapi/v3/apis/none/v1", "/openapi/v3/api"] {
            assert!(document(none).is_none(), "{none}");
        }
    }
}
