//! From an object to protobuf.

use alloc::string::ToString;
use alloc::vec::Vec;

use super::{MAGIC, MessageField, message, message_of};
use crate::objects::schema::Schema;
use crate::objects::{Json, base64, time};

/// Encodes an object in its frame; `None` if the table does not have its type or one of its fields. Fields that the
/// schema's release does not have are left out.
#[must_use]
pub fn encode(schema: &Schema, object: &Json) -> Option<Vec<u8>> {
    let said = |field: &str| object.get(field).as_str().unwrap_or("");
    let (kind, api_version) = (said("kind"), said("apiVersion"));
    let encoder = Encoder { schema };
    let mut raw = Vec::new();
    match message_of(kind, api_version) {
        "" => encoder.list(&mut raw, message_of(kind.strip_suffix("List")?, api_version), object)?,
        name => encoder.message(&mut raw, name, object, true)?,
    }
    let mut meta = Vec::new();
    put_bytes(&mut meta, 1, api_version.as_bytes());
    put_bytes(&mut meta, 2, kind.as_bytes());
    let mut out = Vec::from(MAGIC);
    put_bytes(&mut out, 1, &meta);
    put_bytes(&mut out, 2, &raw);
    put_bytes(&mut out, 3, b"");
    put_bytes(&mut out, 4, b"");
    Some(out)
}

struct Encoder<'a> {
    schema: &'a Schema,
}

impl Encoder<'_> {
    fn list(&self, out: &mut Vec<u8>, item: &str, list: &Json) -> Option<()> {
        let of_known = list.fields().all(|(name, _)| matches!(&**name, "kind" | "apiVersion" | "metadata" | "items"));
        if item.is_empty() || !of_known {
            return None;
        }
        self.nested(out, 1, "ListMeta", list.get("metadata"))?;
        for own in list.get("items").items() {
            let mut encoded = Vec::new();
            self.message(&mut encoded, item, own, true)?;
            put_bytes(out, 2, &encoded);
        }
        Some(())
    }

    fn nested(&self, out: &mut Vec<u8>, number: u32, name: &str, value: &Json) -> Option<()> {
        let mut encoded = Vec::new();
        self.message(&mut encoded, name, value, false)?;
        put_bytes(out, number, &encoded);
        Some(())
    }

    /// Encodes a message. The frame tells kind and version of a whole object.
    fn message(&self, out: &mut Vec<u8>, name: &str, value: &Json, is_whole: bool) -> Option<()> {
        let fields = message(name)?;
        let is_framed = |field: &str| is_whole && matches!(field, "kind" | "apiVersion");
        if !value.fields().all(|(field, _)| is_framed(field) || has(fields, field)) {
            return None;
        }
        self.fields(out, name, fields, value)
    }

    fn fields(&self, out: &mut Vec<u8>, name: &str, fields: &[MessageField], value: &Json) -> Option<()> {
        for field in fields {
            if field.name == "^" {
                let mut encoded = Vec::new();
                self.fields(&mut encoded, field.pointed().0, message(field.pointed().0)?, value)?;
                put_bytes(out, field.number, &encoded);
                continue;
            }
            let is_of_release = self.schema.named(name).is_none_or(|of| of.field(field.name).is_some());
            if is_of_release || name == "DeleteOptions" {
                self.field(out, field, value.get(field.name))?;
            }
        }
        Some(())
    }

    fn field(&self, out: &mut Vec<u8>, field: &MessageField, value: &Json) -> Option<()> {
        let (kind, is_pointer) = field.pointed();
        let is_optional = is_pointer || matches!(kind, "bytes" | "items");
        if let Some(item) = kind.strip_prefix('[').and_then(|kind| kind.strip_suffix(']')) {
            for value in value.items() {
                self.value(out, field.number, item, value)?;
            }
        } else if let Some(item) = kind.strip_prefix('{').and_then(|kind| kind.strip_suffix('}')) {
            for (name, value) in value.fields() {
                let mut entry = Vec::new();
                put_bytes(&mut entry, 1, name.as_bytes());
                self.value(&mut entry, 2, item, value)?;
                put_bytes(out, field.number, &entry);
            }
        } else if !(is_optional && value.is_null()) {
            self.value(out, field.number, kind, value)?;
        }
        Some(())
    }

    fn value(&self, out: &mut Vec<u8>, number: u32, kind: &str, value: &Json) -> Option<()> {
        let mut inner = Vec::new();
        match kind {
            "str" => put_bytes(out, number, value.as_str().unwrap_or("").as_bytes()),
            "int" => put_int(out, number, value.as_i64().unwrap_or(0)),
            "bool" => put_int(out, number, i64::from(value.as_bool().unwrap_or(false))),
            "bytes" => put_bytes(out, number, &base64::decode(value.as_str().unwrap_or(""))?),
            "time" | "microtime" => {
                if let Some(at) = value.as_str().and_then(time::parse) {
                    put_int(&mut inner, 1, at.as_second());
                    put_int(&mut inner, 2, i64::from(at.subsec_nanosecond()));
                }
                put_bytes(out, number, &inner);
            }
            "quantity" => {
                let text = value.as_str().map_or_else(|| value.to_string(), ToString::to_string);
                put_bytes(&mut inner, 1, text.as_bytes());
                put_bytes(out, number, &inner);
            }
            "intstr" => {
                put_int(&mut inner, 1, i64::from(value.as_str().is_some()));
                put_int(&mut inner, 2, value.as_i64().unwrap_or(0));
                put_bytes(&mut inner, 3, value.as_str().unwrap_or("").as_bytes());
                put_bytes(out, number, &inner);
            }
            "raw" => {
                put_bytes(&mut inner, 1, value.to_string().as_bytes());
                put_bytes(out, number, &inner);
            }
            "items" => {
                for item in value.items() {
                    put_bytes(&mut inner, 1, item.as_str().unwrap_or("").as_bytes());
                }
                put_bytes(out, number, &inner);
            }
            name => self.nested(out, number, name, value)?,
        }
        Some(())
    }
}

fn has(fields: &[MessageField], name: &str) -> bool {
    fields.iter().any(|field| {
        field.name == name || field.name == "^" && message(field.pointed().0).is_some_and(|fields| has(fields, name))
    })
}

fn put_bytes(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    put_varint(out, u64::from(number) << 3 | 2);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn put_int(out: &mut Vec<u8>, number: u32, value: i64) {
    put_varint(out, u64::from(number) << 3);
    put_varint(out, value.cast_unsigned());
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(u8::try_from(value & 0x7f).unwrap_or(0) | 0x80);
        value >>= 7;
    }
    out.push(u8::try_from(value).unwrap_or(0));
}
