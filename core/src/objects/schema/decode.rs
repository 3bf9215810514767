//! Reads an object as Go would: refuses wrong types, reports unknown fields, and drops what Go would not print again.
//!
//! Mirrors encoding/json with sigs.k8s.io/json's strict errors (v1.34) over the types of the table; fields of unknown
//! types are kept as they are. Inputs: a type's name, a tree. Outputs: the decoded tree with the paths of unknown
//! fields, or the error.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::go_names::go_name;
use super::scalars::{byte, bytes, is_canonical, quantity, read_micro_time, read_time};
use super::{Field, FieldType, Presence, Schema, Struct};
use crate::objects::{Json, NULL, Text, base64};

/// An object that was understood.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// The object as Go would print it.
    pub object: Json,
    /// The paths of unknown fields, which were dropped, in order.
    pub unknown: Vec<String>,
}

/// Why an object could not be read, in the API server's words.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct DecodeError(pub String);

impl Schema {
    /// Reads a value as a type of the table; a type that the table does not have passes as it is.
    ///
    /// # Errors
    /// A field has the wrong type.
    pub fn decode(&self, type_name: &str, value: &Json) -> Result<Decoded, DecodeError> {
        self.decode_change(type_name, value, &NULL)
    }

    /// Reads a value as [`Self::decode`] does; parts that it shares with a value that was read before are not read
    /// again.
    ///
    /// # Errors
    /// A field has the wrong type.
    pub fn decode_change(&self, type_name: &str, value: &Json, known: &Json) -> Result<Decoded, DecodeError> {
        self.decode_with(type_name, value, known, false)
    }

    /// Reads a value as [`Self::decode_change`] does, but as the converter of unstructured objects does: of a number
    /// that does not fit into 32 bits the lower ones are taken.
    ///
    /// # Errors
    /// A field has the wrong type.
    pub fn decode_converted(&self, type_name: &str, value: &Json, known: &Json) -> Result<Decoded, DecodeError> {
        self.decode_with(type_name, value, known, true)
    }

    fn decode_with(&self, type_name: &str, value: &Json, known: &Json, wraps: bool) -> Result<Decoded, DecodeError> {
        let Some(of) = self.named(type_name) else {
            return Ok(Decoded { object: value.clone(), unknown: Vec::new() });
        };
        let mut reader = SchemaDecoder { schema: self, unknown: Vec::new(), path: Vec::new(), wraps };
        let object = reader.object(of, value, known)?;
        Ok(Decoded { object, unknown: reader.unknown })
    }
}

/// A segment of the path to the current value.
#[derive(Clone, Copy)]
enum PathElement<'a> {
    Field(&'a str),
    Item(usize),
}

struct SchemaDecoder<'a> {
    schema: &'a Schema,
    unknown: Vec<String>,
    /// The path to the current value.
    path: Vec<PathElement<'a>>,
    /// Whether numbers lose the bits that do not fit.
    wraps: bool,
}

/// The fields of the object being read; copied only when a field is read as a different value.
struct Copied<'a> {
    fields: Option<Vec<(Text, Json)>>,
    of: &'a Json,
}

impl Copied<'_> {
    /// Sets what the field at a place was read as.
    fn put(&mut self, at: usize, item: &Json, read: Option<(&'static str, Json)>) {
        match read {
            Some((_, read)) if self.fields.is_none() && is_as_given(&read, item) => {}
            Some((name, read)) => self.change(at).push((Text::of(name), read)),
            None => _ = self.change(at),
        }
    }

    /// Returns the fields for a change; those before a place were read unchanged.
    fn change(&mut self, at: usize) -> &mut Vec<(Text, Json)> {
        self.fields.get_or_insert_with(|| {
            let mut fields = Vec::with_capacity(self.of.fields().len() + 2);
            fields.extend(self.of.fields().take(at).map(|(name, item)| (name.clone(), item.clone())));
            fields
        })
    }

    fn is_absent(&self, name: &str) -> bool {
        match &self.fields {
            // Fields that were filled in are not asked for again.
            Some(fields) => fields.iter().all(|(field, _)| *field != name),
            None => self.of.get(name).is_null(),
        }
    }

    fn object(self) -> Json {
        self.fields.map_or_else(|| self.of.clone(), Json::of_fields)
    }
}

/// Tells whether a value is the given one; trees are compared by allocation.
fn is_as_given(read: &Json, given: &Json) -> bool {
    match read {
        Json::Object(_) | Json::Array(_) => read.is_same_allocation(given),
        _ => read == given,
    }
}

impl<'a> SchemaDecoder<'a> {
    fn object(&mut self, of: &Struct, value: &'a Json, known: &Json) -> Result<Json, DecodeError> {
        if value.is_same_allocation(known) {
            return Ok(value.clone());
        }
        let mut out = Copied { fields: None, of: value };
        for (at, (name, item)) in value.fields().enumerate() {
            self.path.push(PathElement::Field(name));
            let mut read = None;
            if let Some(field) = of.field(name) {
                if !item.is_null() {
                    let depth = self.path.len() - 1;
                    let found = match self.field(of, field, item, known.get(name)) {
                        Err(why) if self.wraps => {
                            self.path.truncate(depth);
                            return Err(self.first_error(of, (value, at), known, why));
                        }
                        found => found?,
                    };
                    read = found.map(|item| (field.name, item));
                }
            } else {
                self.unknown.push(self.indexed());
            }
            out.put(at, item, read);
            self.path.pop();
        }
        self.fill(of, &mut out);
        Ok(out.object())
    }

    /// Returns the error that the converter finds: it goes by the order of the Go struct, and the fields before a place
    /// have none.
    fn first_error(
        &mut self,
        of: &Struct,
        (value, at): (&'a Json, usize),
        known: &Json,
        own: DecodeError,
    ) -> DecodeError {
        let place_of = |name: &str| of.field(name).map_or(usize::MAX, |field| field.place);
        let fields: Vec<_> = value.fields().collect();
        let mut first = (place_of(fields[at].0), own);
        let depth = self.path.len();
        for (name, item) in fields[at + 1..].iter().filter(|(_, item)| !item.is_null()) {
            let Some(field) = of.field(name).filter(|field| field.place < first.0) else { continue };
            self.path.push(PathElement::Field(name));
            if let Err(why) = self.field(of, field, item, known.get(name)) {
                first = (field.place, why);
            }
            self.path.truncate(depth);
        }
        first.1
    }

    /// Names the current value in the notation of unknown fields.
    fn indexed(&self) -> String {
        let mut text = String::new();
        for step in &self.path {
            match step {
                PathElement::Field(name) => {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    text.push_str(name);
                }
                PathElement::Item(at) => text.push_str(&format!("[{at}]")),
            }
        }
        text
    }

    /// Adds the fields that Go prints even if they are not set.
    fn fill(&self, of: &Struct, out: &mut Copied<'_>) {
        for field in of.fields.iter().filter(|field| field.is_filled) {
            if out.is_absent(field.name) {
                out.change(usize::MAX).push((Text::of(field.name), self.zero(&field.kind)));
            }
        }
    }

    /// Reads a field; `None` for a value that Go does not print.
    fn field(
        &mut self,
        of: &Struct,
        field: &Field,
        value: &'a Json,
        known: &Json,
    ) -> Result<Option<Json>, DecodeError> {
        let mut value = self.value(of, &field.kind, value, known)?;
        if field.presence == Presence::Always && matches!(field.kind, FieldType::List(_)) && value.is_empty() {
            // The stored form has no empty lists.
            value = Json::Null;
        }
        let is_zero = match &value {
            Json::Bool(value) => !value,
            Json::Int(number) => *number == 0 && field.kind != FieldType::IntOrString,
            Json::Str(text) => text.is_empty(),
            Json::Array(items) => items.is_empty(),
            Json::Object(fields) => fields.is_empty() && matches!(field.kind, FieldType::Map(_)),
            Json::Null => true,
            Json::Float(_) => false,
        };
        let nil_like = matches!(field.kind, FieldType::List(_) | FieldType::Map(_) | FieldType::Any);
        Ok((!(is_zero && (field.presence == Presence::OmitEmpty || nil_like && field.presence == Presence::Pointer)))
            .then_some(value))
    }

    fn value(&mut self, of: &Struct, kind: &FieldType, value: &'a Json, known: &Json) -> Result<Json, DecodeError> {
        if value.is_same_allocation(known) {
            return Ok(value.clone());
        }
        match (kind, value) {
            (FieldType::Any, _)
            | (FieldType::Str, Json::Str(_))
            | (FieldType::Bool, Json::Bool(_))
            | (FieldType::Int, Json::Int(_)) => Ok(value.clone()),
            (FieldType::Bytes, Json::Str(text)) => bytes(text).map(Json::text),
            (FieldType::Bytes, Json::Array(items)) if items.iter().all(|item| byte(item).is_some()) => {
                let bytes: Vec<u8> = items.iter().filter_map(byte).collect();
                Ok(Json::text(Text::from(base64::encode(&bytes))))
            }
            (FieldType::Float, Json::Int(_) | Json::Float(_)) | (FieldType::IntOrString, Json::Str(_)) => {
                Ok(value.clone())
            }
            (FieldType::IntOrString, Json::Int(_)) if self.wraps => Ok(value.clone()),
            (FieldType::Int32 | FieldType::IntOrString, Json::Int(number)) if i32::try_from(*number).is_ok() => {
                Ok(value.clone())
            }
            (FieldType::Int32, Json::Int(number)) if self.wraps => Ok(Json::Int(i64::from(lower_bits(*number)))),
            (FieldType::Quantity, Json::Str(text)) if is_canonical(text) => Ok(value.clone()),
            (FieldType::Quantity, Json::Str(text)) => quantity(text),
            (FieldType::Quantity, _) => quantity(&value.to_string()),
            (FieldType::Time, Json::Str(text)) => read_time(text),
            (FieldType::MicroTime, Json::Str(text)) => read_micro_time(text),
            (FieldType::Object(place), Json::Object(_)) => {
                let schema = self.schema;
                self.object(schema.at(*place), value, known)
            }
            (FieldType::List(item), Json::Array(items)) => {
                let out = self.list(of, item, items, known)?;
                let same = out.iter().zip(items.iter()).all(|(read, given)| is_as_given(read, given));
                Ok(if same { value.clone() } else { Json::array(out) })
            }
            (FieldType::Map(item), Json::Object(fields)) => {
                let (mut out, mut same) = (Vec::with_capacity(fields.len()), true);
                for (name, given) in fields.iter() {
                    let read = if given.is_null() { zero(item) } else { self.value(of, item, given, known.get(name))? };
                    same &= is_as_given(&read, given);
                    out.push((name.clone(), read));
                }
                Ok(if same { value.clone() } else { Json::of_fields(out) })
            }
            _ => Err(self.wrong_type(of, kind, value)),
        }
    }

    fn list(
        &mut self,
        of: &Struct,
        item: &FieldType,
        items: &'a [Json],
        known: &Json,
    ) -> Result<Vec<Json>, DecodeError> {
        let mut out = Vec::with_capacity(items.len());
        for (at, value) in items.iter().enumerate() {
            self.path.push(PathElement::Item(at));
            let known = known.items().get(at).unwrap_or(&NULL);
            out.push(if value.is_null() { self.zero(item) } else { self.value(of, item, value, known)? });
            self.path.pop();
        }
        Ok(out)
    }

    fn zero(&self, kind: &FieldType) -> Json {
        let FieldType::Object(place) = kind else { return zero(kind) };
        let mut fields = Copied { fields: None, of: &NULL };
        self.fill(self.schema.at(*place), &mut fields);
        fields.fields.map_or_else(Json::object, Json::of_fields)
    }

    fn wrong_type(&self, of: &Struct, kind: &FieldType, value: &Json) -> DecodeError {
        let found = match value {
            Json::Bool(_) => "bool".to_owned(),
            Json::Int(_) | Json::Float(_)
                if matches!(kind, FieldType::Int | FieldType::Int32 | FieldType::IntOrString) =>
            {
                format!("number {value}")
            }
            Json::Int(_) | Json::Float(_) => "number".to_owned(),
            Json::Str(_) => "string".to_owned(),
            Json::Array(_) => "array".to_owned(),
            _ => "object".to_owned(),
        };
        let own = self.path.iter().rev().find_map(|step| match step {
            PathElement::Field(name) => Some(*name),
            PathElement::Item(_) => None,
        });
        let of_item = matches!(self.path.last(), Some(PathElement::Item(_)));
        let wanted = match kind {
            // Its own reader takes anything but a text for the number.
            FieldType::IntOrString if !self.wraps => "int32".to_owned(),
            _ => wanted_type(self.schema, (of, own, of_item), kind),
        };
        let fields = self.path.iter().filter_map(|step| match step {
            PathElement::Field(name) => Some(*name),
            PathElement::Item(_) => None,
        });
        DecodeError(format!(
            "json: cannot unmarshal {found} into Go struct field {}.{} of type {wanted}",
            of.name,
            fields.collect::<Vec<_>>().join(".")
        ))
    }
}

/// Returns the Go type that a body was refused for: that of a struct's field, or of an item of its list.
pub(super) fn wanted_type(
    schema: &Schema,
    (of, field, of_item): (&Struct, Option<&str>, bool),
    kind: &FieldType,
) -> String {
    let own = field.and_then(|field| go_name(of.name, field));
    let own = own.map(|name| if of_item { name.trim_start_matches("[]") } else { name });
    own.map_or_else(|| go_type(schema, kind), ToOwned::to_owned)
}

/// Returns the name of the Go type that a field has.
fn go_type(schema: &Schema, kind: &FieldType) -> String {
    match kind {
        FieldType::Str | FieldType::Time | FieldType::MicroTime => "string".to_owned(),
        FieldType::Bytes => "[]uint8".to_owned(),
        FieldType::Int => "int64".to_owned(),
        FieldType::Int32 => "int32".to_owned(),
        FieldType::Bool => "bool".to_owned(),
        FieldType::Float => "float64".to_owned(),
        FieldType::Quantity => "resource.Quantity".to_owned(),
        FieldType::IntOrString => "intstr.IntOrString".to_owned(),
        FieldType::Any => "interface {}".to_owned(),
        FieldType::Object(place) => format!("v1.{}", schema.at(*place).name),
        FieldType::List(item) => format!("[]{}", go_type(schema, item)),
        FieldType::Map(item) => format!("map[string]{}", go_type(schema, item)),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the lower bits are wanted")]
const fn lower_bits(number: i64) -> i32 {
    number as i32
}

fn zero(kind: &FieldType) -> Json {
    match kind {
        FieldType::Str => Json::text(Text::of("")),
        FieldType::Int | FieldType::Int32 | FieldType::IntOrString => Json::Int(0),
        FieldType::Float => Json::Int(0),
        FieldType::Bool => Json::Bool(false),
        FieldType::Quantity => Json::text(Text::of("0")),
        FieldType::Bytes
        | FieldType::Time
        | FieldType::MicroTime
        | FieldType::Any
        | FieldType::List(_)
        | FieldType::Map(_) => Json::Null,
        FieldType::Object(_) => Json::object(),
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use crate::json;
    use crate::objects::schema::Schema;

    #[test]
    fn an_object_is_printed_as_go_prints_it() {
        let schema = Schema::new([]);
        let node = json!({"metadata": {"name": "n1", "labels": {}, "creationTimestamp": null},
            "spec": {"unschedulable": false, "taints": [{"key": "a", "effect": "NoSchedule", "value": ""}], "foo": 1},
            "status": {"capacity": {"cpu": "1000m"}, "conditions": [{"type": "Ready", "status": "True"}]}});
        let decoded = schema.decode("Node", &node).unwrap();
        assert_eq!(decoded.unknown, ["spec.foo"]);
        assert_eq!(decoded.object.get("spec"), &json!({"taints": [{"key": "a", "effect": "NoSchedule"}]}));
        assert_eq!(decoded.object.get("metadata"), &json!({"name": "n1"}));
        assert_eq!(decoded.object.at(&["status", "capacity"]), &json!({"cpu": "1"}));
        assert_eq!(
            decoded.object.at(&["status", "conditions"]),
            &json!([{"type": "Ready", "status": "True", "lastHeartbeatTime": null, "lastTransitionTime": null}])
        );
        assert_eq!(decoded.object.at(&["status", "daemonEndpoints"]), &json!({"kubeletEndpoint": {"Port": 0}}));
    }

    #[test]
    fn what_was_read_before_is_not_read_again() {
        let schema = Schema::new([]);
        let node = json!({"metadata": {"name": "n1"}, "status": {"capacity": {"cpu": "1000m"}, "addresses": []}});
        let known = schema.decode("Node", &node).unwrap().object;
        let mut changed = known.clone();
        changed.set(&["metadata", "labels"], json!({"a": "b", "c": 1}));
        assert!(schema.decode_change("Node", &changed, &known).is_err());
        changed.set(&["metadata", "labels"], json!({"a": "b"}));
        let decoded = schema.decode_change("Node", &changed, &known).unwrap().object;
        assert_eq!(decoded, schema.decode("Node", &changed).unwrap().object);
        assert!(decoded.get("status").is_same_allocation(known.get("status")));
    }

    #[test]
    fn wrong_types_are_named_as_go_names_them() {
        let schema = Schema::new([]);
        let cases = [
            (
                "Node",
                json!({"spec": {"taints": {}}}),
                "json: cannot unmarshal object into Go struct field NodeSpec.spec.taints of type []v1.Taint",
            ),
            (
                "Node",
                json!({"spec": {"taints": ["x"]}}),
                "json: cannot unmarshal string into Go struct field NodeSpec.spec.taints of type v1.Taint",
            ),
            (
                "Node",
                json!({"spec": {"taints": [{"effect": 1}]}}),
                "json: cannot unmarshal number into Go struct field Taint.spec.taints.effect of type v1.TaintEffect",
            ),
            (
                "Namespace",
                json!({"spec": {"finalizers": {}}}),
                "json: cannot unmarshal object into Go struct field NamespaceSpec.spec.finalizers of type \
                    []v1.FinalizerName",
            ),
            (
                "Namespace",
                json!({"spec": {"finalizers": [1]}}),
                "json: cannot unmarshal number into Go struct field NamespaceSpec.spec.finalizers of type \
                    v1.FinalizerName",
            ),
            (
                "Node",
                json!({"metadata": {"labels": []}}),
                "json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type \
                    map[string]string",
            ),
            (
                "Lease",
                json!({"spec": {"leaseDurationSeconds": 1.5}}),
                "json: cannot unmarshal number 1.5 into Go struct field LeaseSpec.spec.leaseDurationSeconds of type \
                    int32",
            ),
            (
                "Lease",
                json!({"spec": {"leaseDurationSeconds": 2_147_483_648_i64}}),
                "json: cannot unmarshal number 2147483648 into Go struct field LeaseSpec.spec.leaseDurationSeconds of \
                    type int32",
            ),
            (
                "Lease",
                json!({"spec": {"renewTime": 5}}),
                "json: cannot unmarshal number into Go struct field LeaseSpec.spec.renewTime of type string",
            ),
            (
                "Lease",
                json!({"spec": {"renewTime": "2026-01-02T03:04:05.1Z"}}),
                "parsing time \"2026-01-02T03:04:05.1Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot \
                    parse \".1Z\" as \".000000\"",
            ),
            (
                "Node",
                json!({"metadata": {"creationTimestamp": "x"}}),
                "parsing time \"x\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"x\" as \"2006\"",
            ),
            ("Node", json!({"status": {"capacity": {"cpu": "1e"}}}), "unable to parse quantity's suffix"),
        ];
        for (name, value, message) in cases {
            assert_eq!(schema.decode(name, &value).unwrap_err().to_string(), message);
        }
    }
}
