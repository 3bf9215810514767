//! Objects as protobuf, in the frame in which the API server sends and takes them.
//!
//! Mirrors k8s.io/apimachinery pkg/runtime/serializer/protobuf/protobuf.go and what gogo/protobuf generates of
//! k8s.io/api (v1.34). Inputs: an object; or bytes. Outputs: the bytes; or the object, or why the bytes are none. Pure.
//!
//! The table has a line for each message: its name, and its fields as `name:number:kind` in the order in which they are
//! written. A kind is `str`, `int`, `bool`, `bytes`, `time`, `microtime`, `quantity`, `intstr`, `raw` (JSON as bytes),
//! `items` (a list in a message of its own) or a message; `[kind]` is a list, `{kind}` a map from strings, and `*`
//! stands for a pointer, which is written only if it is set. A field without a pointer is always written. The name `^`
//! is for a message whose fields JSON shows among those of the message around it.
//!
//! Left out on purpose: objects of types that the table does not have, or with fields that it does not have.

mod decode;
mod encode;
mod numbers_a_m;
mod numbers_n_z;

use alloc::vec::Vec;

use once_cell::race::OnceBox;

pub use decode::{Unreadable, decode};
pub use encode::encode;

use crate::objects::{is_same, order};

/// What a body in protobuf begins with.
const MAGIC: [u8; 4] = *b"k8s\0";

/// A field of a message.
#[derive(Clone, Copy, Debug)]
struct MessageField {
    name: &'static str,
    number: u32,
    kind: &'static str,
}

impl MessageField {
    /// Returns the kind without its pointer, and whether there is one.
    fn pointed(&self) -> (&'static str, bool) {
        self.kind.strip_suffix('*').map_or((self.kind, false), |kind| (kind, true))
    }
}

/// Name and fields of each message, sorted by name.
type MessageTable = Vec<(&'static str, Vec<MessageField>)>;

/// Returns the fields of a message.
fn message(name: &str) -> Option<&'static [MessageField]> {
    static MESSAGES: OnceBox<MessageTable> = OnceBox::new();
    let all = MESSAGES.get_or_init(|| {
        let lines = numbers_a_m::A_TO_M.lines().chain(numbers_n_z::N_TO_Z.lines());
        let mut all: MessageTable = lines
            .filter_map(|line| line.split_once(" = "))
            .map(|(name, fields)| (name, fields.split_whitespace().filter_map(field).collect()))
            .collect();
        all.sort_by(|(own, _), (next, _)| order(own, next));
        alloc::boxed::Box::new(all)
    });
    let at = all.binary_search_by(|(own, _)| order(own, name)).ok()?;
    Some(&all[at].1)
}

fn field(text: &'static str) -> Option<MessageField> {
    let (name, rest) = text.split_once(':')?;
    let (number, kind) = rest.split_once(':')?;
    Some(MessageField { name, number: number.parse().ok()?, kind })
}

/// Tells whether bodies of a kind can be read as protobuf.
#[must_use]
pub fn has_kind(kind: &str, api_version: &str) -> bool {
    !message_of(kind, api_version).is_empty()
}

/// Returns the name of the message of a kind of objects.
fn message_of(kind: &str, api_version: &str) -> &'static str {
    let group = api_version.split('/').next().unwrap_or("");
    let name = match (kind, group) {
        ("Event", "events.k8s.io") => "events.k8s.io_Event",
        ("ResourceClaim", "resource.k8s.io") => "resource.k8s.io_ResourceClaim",
        _ => kind,
    };
    let known = numbers_a_m::A_TO_M.lines().chain(numbers_n_z::N_TO_Z.lines());
    known.filter_map(|line| line.split_once(" = ")).map(|(own, _)| own).find(|own| is_same(own, name)).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::{decode, encode, has_kind, message, numbers_a_m, numbers_n_z};
    use crate::json;
    use crate::objects::schema::Schema;
    use crate::objects::{Json, base64};

    #[test]
    fn each_message_of_the_table_is_known_and_in_order() {
        let known = ["str", "int", "bool", "bytes", "time", "microtime", "quantity", "intstr", "raw", "items"];
        for line in numbers_a_m::A_TO_M.lines().chain(numbers_n_z::N_TO_Z.lines()) {
            let (name, _) = line.split_once(" = ").expect(line);
            let fields = message(name).unwrap();
            assert!(fields.is_sorted_by(|own, next| own.number < next.number), "{name}");
            for field in fields {
                let kind = field.kind.trim_matches(['[', ']', '{', '}', '*']);
                assert!(known.contains(&kind) || message(kind).is_some(), "{name}.{} is {kind}", field.name);
            }
        }
    }

    fn there_and_back(object: &Json) -> Json {
        decode(&encode(&Schema::new([]), object).unwrap(), None).unwrap()
    }

    #[test]
    fn an_object_comes_back_as_it_went() {
        let node = json!({"kind": "Node", "apiVersion": "v1",
            "metadata": {"name": "n1", "labels": {"b": "2", "a": ""}, "creationTimestamp": "2026-11-21T09:50:30Z",
                "managedFields": [{"manager": "m", "fieldsV1": {"f:spec": {}}}], "generation": 3},
            "spec": {"unschedulable": true, "taints": [{"key": "k", "effect": "NoSchedule"}]},
            "status": {"capacity": {"cpu": "4"}, "images": [{"names": ["a", "b"], "sizeBytes": 5_000_000_000_i64}]}});
        assert_eq!(there_and_back(&node), node);
        let pod = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}, "spec": {
            "volumes": [{"name": "v", "configMap": {"name": "c", "optional": false}}],
            "containers": [{"name": "c", "livenessProbe": {"httpGet": {"port": "web"}, "periodSeconds": -1},
                "ports": [{"containerPort": 1}], "securityContext": {"runAsUser": 0}}]}});
        assert_eq!(there_and_back(&pod), pod);
        let list = json!({"kind": "LeaseList", "apiVersion": "coordination.k8s.io/v1", "metadata": {
            "resourceVersion": "7"}, "items": [{"metadata": {"name": "l"}, "spec": {
            "renewTime": "2026-01-02T03:04:05.000001Z", "holderIdentity": ""}}]});
        assert_eq!(there_and_back(&list), list);
        let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404,
            "details": {"name": "zz", "kind": "nodes"}});
        assert_eq!(there_and_back(&status), status);
    }

    #[test]
    fn a_frame_without_a_kind_holds_the_kind_that_is_expected() {
        let bytes = base64::decode("azhzAAoECgASABIGCgQKAm4xGgAiAA==").unwrap();
        assert_eq!(decode(&bytes, Some("Node")).unwrap(), json!({"metadata": {"name": "n1"}}));
    }

    #[test]
    fn bytes_are_those_of_the_real_server() {
        let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": "Unauthorized", "reason": "Unauthorized", "code": 401});
        let bytes = encode(&Schema::new([]), &status).unwrap();
        let real = "azhzAAoMCgJ2MRIGU3RhdHVzEjAKBgoAEgAaABIHRmFpbHVyZRoMVW5hdXRob3JpemVkIgxVbmF1dGhvcml6ZWQwkQMaACIA";
        assert_eq!(base64::encode(&bytes), real);
    }

    #[test]
    fn kinds_of_one_name_are_told_apart_by_their_group() {
        let claim = json!({"kind": "ResourceClaim", "apiVersion": "resource.k8s.io/v1", "metadata": {"name": "c"},
            "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "d", "count": 1}}]}}});
        assert_eq!(there_and_back(&claim), claim);
        let schema = json!({"kind": "FlowSchema", "apiVersion": "flowcontrol.apiserver.k8s.io/v1", "metadata": {
            "name": "f"}, "spec": {"priorityLevelConfiguration": {"name": "p"}, "rules": [{"subjects": [{
            "kind": "Group", "group": {"name": "g"}}]}]}});
        assert_eq!(there_and_back(&schema), schema);
        assert!(has_kind("Ingress", "networking.k8s.io/v1") && !has_kind("CustomResourceDefinition", "v1"));
    }

    #[test]
    fn what_the_table_does_not_have_is_not_encoded() {
        let schema = Schema::new([]);
        assert_eq!(encode(&schema, &json!({"kind": "Table", "apiVersion": "meta.k8s.io/v1"})), None);
        assert_eq!(encode(&schema, &json!({"kind": "Node", "apiVersion": "v1", "spec": {"new": 1}})), None);
    }

    #[test]
    fn bytes_that_are_no_object_are_told_in_gos_words() {
        let why = |bytes: &[u8]| decode(bytes, None).unwrap_err().0;
        assert_eq!(why(b""), "empty data");
        assert_eq!(
            why(b"\x0a\x04"),
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
        );
        assert_eq!(why(b"k8s\0\xff\xff\xff"), "unexpected EOF");
        assert_eq!(why(b"k8s\0"), "empty body");
    }
}
