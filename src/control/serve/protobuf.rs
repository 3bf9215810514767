//! The bodies that kubectl sends as protobuf since 1.32: options of deletions, reviews, Namespaces,
//! requests for tokens.
//!
//! Inputs: a body. Output: the same object as JSON, or `None` for another kind, which a client has to send as JSON.
//! Source: the generated.proto files of k8s.io/apimachinery pkg/{runtime,apis/meta/v1} and of k8s.io/api
//! {core,authorization,authentication}/v1 (v1.34). Left out on purpose: all other kinds.

use std::collections::BTreeMap;

use nodeproof_core::json;
use nodeproof_core::objects::Json;
use prost::Message;

/// What a body in protobuf begins with.
const MAGIC: &[u8] = b"k8s\0";

/// `runtime.Unknown`: the frame of each body.
#[derive(Message)]
struct Unknown {
    #[prost(message, optional, tag = "1")]
    type_meta: Option<TypeMeta>,
    #[prost(bytes = "vec", tag = "2")]
    raw: Vec<u8>,
}

#[derive(Message)]
struct TypeMeta {
    #[prost(string, tag = "1")]
    api_version: String,
    #[prost(string, tag = "2")]
    kind: String,
}

#[derive(Message)]
struct DeleteOptions {
    #[prost(int64, optional, tag = "1")]
    grace_period_seconds: Option<i64>,
    #[prost(message, optional, tag = "2")]
    preconditions: Option<Preconditions>,
    #[prost(bool, optional, tag = "3")]
    orphan_dependents: Option<bool>,
    #[prost(string, optional, tag = "4")]
    propagation_policy: Option<String>,
    #[prost(string, repeated, tag = "5")]
    dry_run: Vec<String>,
}

#[derive(Message)]
struct Preconditions {
    #[prost(string, optional, tag = "1")]
    uid: Option<String>,
    #[prost(string, optional, tag = "2")]
    resource_version: Option<String>,
}

#[derive(Message)]
struct TokenRequest {
    #[prost(message, optional, tag = "2")]
    spec: Option<TokenRequestSpec>,
}

#[derive(Message)]
struct TokenRequestSpec {
    #[prost(string, repeated, tag = "1")]
    audiences: Vec<String>,
    #[prost(message, optional, tag = "3")]
    bound_object: Option<BoundObjectReference>,
    #[prost(int64, optional, tag = "4")]
    expiration_seconds: Option<i64>,
}

#[derive(Message)]
struct BoundObjectReference {
    #[prost(string, tag = "1")]
    kind: String,
    #[prost(string, tag = "2")]
    api_version: String,
    #[prost(string, tag = "3")]
    name: String,
    #[prost(string, tag = "4")]
    uid: String,
}

/// `SelfSubjectAccessReview`.
#[derive(Message)]
struct Review {
    #[prost(message, optional, tag = "2")]
    spec: Option<ReviewSpec>,
}

#[derive(Message)]
struct ReviewSpec {
    #[prost(message, optional, tag = "1")]
    resource: Option<ResourceAttributes>,
    #[prost(message, optional, tag = "2")]
    path: Option<NonResourceAttributes>,
}

#[derive(Message)]
struct ResourceAttributes {
    #[prost(string, tag = "1")]
    namespace: String,
    #[prost(string, tag = "2")]
    verb: String,
    #[prost(string, tag = "3")]
    group: String,
    #[prost(string, tag = "4")]
    version: String,
    #[prost(string, tag = "5")]
    resource: String,
    #[prost(string, tag = "6")]
    subresource: String,
    #[prost(string, tag = "7")]
    name: String,
}

#[derive(Message)]
struct NonResourceAttributes {
    #[prost(string, tag = "1")]
    path: String,
    #[prost(string, tag = "2")]
    verb: String,
}

#[derive(Message)]
struct Namespace {
    #[prost(message, optional, tag = "1")]
    metadata: Option<ObjectMeta>,
}

#[derive(Message)]
struct ObjectMeta {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    generate_name: String,
    #[prost(btree_map = "string, string", tag = "11")]
    labels: BTreeMap<String, String>,
    #[prost(btree_map = "string, string", tag = "12")]
    annotations: BTreeMap<String, String>,
}

/// Returns a body as JSON.
pub(super) fn as_json(body: &[u8]) -> Option<Json> {
    let frame = Unknown::decode(body.strip_prefix(MAGIC)?).ok()?;
    let of = frame.type_meta?;
    let mut object = match of.kind.as_str() {
        "DeleteOptions" => delete_options(DeleteOptions::decode(&*frame.raw).ok()?),
        "SelfSubjectAccessReview" => review(Review::decode(&*frame.raw).ok()?),
        "SelfSubjectReview" => Json::object(),
        "TokenRequest" => token_request(TokenRequest::decode(&*frame.raw).ok()?),
        "Namespace" => namespace(Namespace::decode(&*frame.raw).ok()?),
        _ => return None,
    };
    object.set(&["apiVersion"], of.api_version);
    object.set(&["kind"], of.kind);
    Some(object)
}

fn token_request(request: TokenRequest) -> Json {
    let mut object = Json::object();
    let spec = request.spec.unwrap_or_default();
    if !spec.audiences.is_empty() {
        object.set(&["spec", "audiences"], spec.audiences.iter().map(|own| Json::from(own.as_str())).collect::<Json>());
    }
    if let Some(seconds) = spec.expiration_seconds {
        object.set(&["spec", "expirationSeconds"], seconds);
    }
    if let Some(bound) = spec.bound_object {
        set_text(&mut object, &["spec", "boundObjectRef", "kind"], bound.kind);
        set_text(&mut object, &["spec", "boundObjectRef", "apiVersion"], bound.api_version);
        set_text(&mut object, &["spec", "boundObjectRef", "name"], bound.name);
        set_text(&mut object, &["spec", "boundObjectRef", "uid"], bound.uid);
    }
    object
}

fn delete_options(options: DeleteOptions) -> Json {
    let mut object = Json::object();
    if let Some(seconds) = options.grace_period_seconds {
        object.set(&["gracePeriodSeconds"], seconds);
    }
    let Preconditions { uid, resource_version } = options.preconditions.unwrap_or_default();
    set_text(&mut object, &["preconditions", "uid"], uid.unwrap_or_default());
    set_text(&mut object, &["preconditions", "resourceVersion"], resource_version.unwrap_or_default());
    if let Some(orphan) = options.orphan_dependents {
        object.set(&["orphanDependents"], orphan);
    }
    set_text(&mut object, &["propagationPolicy"], options.propagation_policy.unwrap_or_default());
    if !options.dry_run.is_empty() {
        object.set(&["dryRun"], options.dry_run.into_iter().map(Json::from).collect::<Json>());
    }
    object
}

fn review(review: Review) -> Json {
    let spec = review.spec.unwrap_or_default();
    let mut object = json!({"spec": {}});
    if let Some(asked) = spec.resource {
        object.set(&["spec", "resourceAttributes"], Json::object());
        let mut set = |field, text| set_text(&mut object, &["spec", "resourceAttributes", field], text);
        set("namespace", asked.namespace);
        set("verb", asked.verb);
        set("group", asked.group);
        set("version", asked.version);
        set("resource", asked.resource);
        set("subresource", asked.subresource);
        set("name", asked.name);
    }
    if let Some(asked) = spec.path {
        object.set(&["spec", "nonResourceAttributes"], json!({"path": asked.path, "verb": asked.verb}));
    }
    object
}

fn namespace(namespace: Namespace) -> Json {
    let metadata = namespace.metadata.unwrap_or_default();
    let mut object = json!({"metadata": {}});
    set_text(&mut object, &["metadata", "name"], metadata.name);
    set_text(&mut object, &["metadata", "generateName"], metadata.generate_name);
    for (field, map) in [("labels", metadata.labels), ("annotations", metadata.annotations)] {
        for (key, value) in map {
            object.set(&["metadata", field, &key], value);
        }
    }
    object
}

fn set_text(object: &mut Json, path: &[&str], text: String) {
    if !text.is_empty() {
        object.set(path, text);
    }
}

#[cfg(test)]
mod tests {
    use super::as_json;

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    }

    /// The bytes are what kubectl 1.32 sent.
    #[test]
    fn options_of_a_deletion() {
        let cases = [
            (
                "6b3873000a130a027631120d44656c6574654f7074696f6e7312001a002200",
                r#"{"apiVersion":"v1","kind":"DeleteOptions"}"#,
            ),
            (
                "6b3873000a130a027631120d44656c6574654f7074696f6e73120208071a002200",
                r#"{"apiVersion":"v1","gracePeriodSeconds":7,"kind":"DeleteOptions"}"#,
            ),
        ];
        for (hex, json) in cases {
            assert_eq!(as_json(&bytes(hex)).unwrap().to_string(), json);
        }
    }

    #[test]
    fn what_is_no_such_body_is_none() {
        // A Pod; a frame that breaks off; no frame.
        for wrong in ["6b3873000a090a0276311203506f641200", "6b3873000a13", "6b387300", "7b7d", ""] {
            assert_eq!(as_json(&bytes(wrong)), None, "{wrong}");
        }
    }
}
