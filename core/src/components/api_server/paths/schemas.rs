//! The schemas of OpenAPI documents, from the fields that the server knows.
//!
//! Mirrors the form of k8s.io/kube-openapi pkg/builder3 (v1.34), as far as `kubectl explain` reads it: names, types and
//! which fields are always there. Inputs: the schema and kinds of a group version. Output: `components.schemas`. Left
//! out on purpose: descriptions, which the schema does not have.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json;
use crate::network::kinds::Kind;
use crate::objects::Json;
use crate::objects::schema::{Field, FieldType, Presence, Schema};

/// Writes the schemas of kinds and of all types that they hold.
pub(super) struct Schemas<'a> {
    schema: &'a Schema,
    /// The beginning of all names.
    package: String,
    /// The places of types that are named and not written yet.
    open: Vec<usize>,
}

impl<'a> Schemas<'a> {
    /// Returns the schemas of the kinds of a group version.
    pub(super) fn of(schema: &'a Schema, kinds: &[&Kind]) -> Json {
        let Some(resource) = kinds.first().map(|kind| &kind.resource) else { return Json::object() };
        let group = resource.group.split('.').next().filter(|group| !group.is_empty()).unwrap_or("core");
        let package = format!("io.k8s.api.{group}.{}", resource.version);
        let mut writer = Self { schema, package, open: Vec::new() };
        let mut written = Json::object();
        for kind in kinds {
            let name = format!("{}.{}", writer.package, kind.name);
            written.set(&[&name], writer.kind(kind));
        }
        for (name, tree) in shared_types() {
            written.set(&[&format!("{SHARED}.{name}")], tree);
        }
        let mut done: BTreeSet<usize> = kinds.iter().filter_map(|kind| schema.place(kind.type_name())).collect();
        while let Some(place) = writer.open.pop() {
            if done.insert(place) {
                let name = writer.name(place);
                written.set(&[&name], writer.object(place));
            }
        }
        written
    }

    fn kind(&mut self, kind: &Kind) -> Json {
        let mut tree = match self.schema.place(kind.type_name()) {
            Some(place) => self.object(place),
            None => {
                let text = json!({"type": "string"});
                let metadata = self.schema.place("ObjectMeta").map(|place| self.reference(place));
                json!({"type": "object", "properties": {"apiVersion": text.clone(), "kind": text,
                    "metadata": metadata.unwrap_or_default()}})
            }
        };
        let resource = &kind.resource;
        let own = json!({"group": resource.group.as_str(), "kind": kind.name, "version": resource.version.as_str()});
        tree.set(&["x-kubernetes-group-version-kind"], Vec::from([own]));
        tree
    }

    fn object(&mut self, place: usize) -> Json {
        let schema = self.schema;
        let names: Vec<&'static str> = schema.at(place).names().collect();
        let fields: Vec<&Field> = names.into_iter().filter_map(|name| schema.at(place).field(name)).collect();
        let mut tree = json!({"type": "object"});
        let mut required = Vec::new();
        for field in fields {
            tree.set(&["properties", field.name()], self.value(field.kind()));
            if field.presence() == Presence::Always {
                required.push(Json::from(field.name()));
            }
        }
        if !required.is_empty() {
            tree.set(&["required"], required);
        }
        tree
    }

    fn value(&mut self, kind: &FieldType) -> Json {
        match kind {
            FieldType::Str => json!({"type": "string"}),
            FieldType::Bytes => json!({"type": "string", "format": "byte"}),
            FieldType::Int => json!({"type": "integer", "format": "int64"}),
            FieldType::Int32 => json!({"type": "integer", "format": "int32"}),
            FieldType::Bool => json!({"type": "boolean"}),
            FieldType::Float => json!({"type": "number", "format": "double"}),
            FieldType::Quantity => shared("api.resource.Quantity"),
            FieldType::IntOrString => shared("util.intstr.IntOrString"),
            FieldType::Time => shared("apis.meta.v1.Time"),
            FieldType::MicroTime => shared("apis.meta.v1.MicroTime"),
            FieldType::Any => json!({"type": "object"}),
            FieldType::Object(place) => self.reference(*place),
            FieldType::List(item) => {
                let mut list = json!({"type": "array"});
                list.set(&["items"], self.value(item));
                list
            }
            FieldType::Map(item) => {
                let mut map = json!({"type": "object"});
                map.set(&["additionalProperties"], self.value(item));
                map
            }
        }
    }

    fn reference(&mut self, place: usize) -> Json {
        self.open.push(place);
        let mut reference = Json::object();
        reference.set(&["$ref"], format!("#/components/schemas/{}", self.name(place)));
        reference
    }

    fn name(&self, place: usize) -> String {
        let own = self.schema.at(place).name();
        format!("{}.{}", self.package, own.rsplit(' ').next().unwrap_or(own))
    }
}

/// The package of the types that all groups share.
const SHARED: &str = "io.k8s.apimachinery.pkg";

fn shared_types() -> [(&'static str, Json); 4] {
    let time = json!({"type": "string", "format": "date-time"});
    let number_or_text = json!({"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]});
    [
        ("api.resource.Quantity", json!({"oneOf": [{"type": "string"}, {"type": "number"}]})),
        ("util.intstr.IntOrString", number_or_text),
        ("apis.meta.v1.Time", time.clone()),
        ("apis.meta.v1.MicroTime", time),
    ]
}

fn shared(name: &str) -> Json {
    let mut reference = Json::object();
    reference.set(&["$ref"], format!("#/components/schemas/{SHARED}.{name}"));
    reference
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString as _;
    use alloc::vec::Vec;

    use super::Schemas;
    use crate::network::kinds::{KINDS, Kind};
    use crate::profile::Settings;

    #[test]
    fn each_reference_of_a_document_leads_to_a_schema() {
        let schema = Settings::default().profile().schema();
        for group in ["", "apps", "coordination.k8s.io", "events.k8s.io", "autoscaling"] {
            let kinds: Vec<&Kind> = KINDS.iter().filter(|kind| kind.resource.group == *group).collect();
            let schemas = Schemas::of(&schema, &kinds);
            let text = schemas.to_string();
            for reference in text.split("#/components/schemas/").skip(1) {
                let name = reference.split('"').next().unwrap();
                assert!(schemas.get(name).is_object(), "{group} {name}");
            }
        }
    }

    #[test]
    fn fields_have_their_types() {
        let schema = Settings::default().profile().schema();
        let kinds: Vec<&Kind> = KINDS.iter().filter(|kind| kind.resource.group.is_empty()).collect();
        let schemas = Schemas::of(&schema, &kinds);
        let taint = schemas.get("io.k8s.api.core.v1.Taint");
        assert_eq!(taint.at(&["properties", "effect", "type"]).as_str(), Some("string"));
        assert_eq!(taint.get("required").items().len(), 2);
        let node = schemas.get("io.k8s.api.core.v1.Node");
        assert_eq!(node.get("x-kubernetes-group-version-kind").items()[0].get("kind").as_str(), Some("Node"));
    }
}
