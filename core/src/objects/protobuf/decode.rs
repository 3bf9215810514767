//! From protobuf to an object. What is zero and no pointer is left out, as JSON mostly does; decoding by the schema
//! fills in the rest.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{MAGIC, message, message_of};
use crate::objects::{Json, Text, base64, time};

/// Why bytes are no object, in Go's words.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(pub String);

/// Decodes a framed object; `default` is the kind of a frame that names none. An object of a kind that the table does
/// not have has no fields but kind and version.
///
/// # Errors
/// The bytes are none.
pub fn decode(bytes: &[u8], default: Option<&str>) -> Result<Json, Unreadable> {
    let unreadable = |why: &str| Unreadable(why.to_owned());
    if bytes.is_empty() {
        return Err(unreadable("empty data"));
    }
    let Some(framed) = bytes.strip_prefix(&MAGIC) else {
        let prefix = "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]";
        return Err(unreadable(prefix));
    };
    if framed.is_empty() {
        return Err(unreadable("empty body"));
    }
    let (mut meta, mut raw): (&[u8], &[u8]) = (&[], &[]);
    for part in parts(framed)? {
        match part {
            (1, WireValue::Bytes(bytes)) => meta = bytes,
            (2, WireValue::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
    }
    let (mut kind, mut api_version) = (String::new(), String::new());
    for part in parts(meta)? {
        match part {
            (1, WireValue::Bytes(bytes)) => api_version = text(bytes),
            (2, WireValue::Bytes(bytes)) => kind = text(bytes),
            _ => {}
        }
    }
    let shown = if kind.is_empty() { default.unwrap_or("") } else { &kind };
    let mut object = match (message_of(shown, &api_version), shown.strip_suffix("List")) {
        ("", Some(item)) => list(message_of(item, &api_version), raw)?,
        ("", None) => Json::object(),
        (name, _) => read(name, raw)?,
    };
    for (field, value) in [("kind", kind), ("apiVersion", api_version)] {
        if !value.is_empty() {
            object.set(&[field], value);
        }
    }
    Ok(object)
}

fn read(name: &str, bytes: &[u8]) -> Result<Json, Unreadable> {
    let mut object = Json::object();
    read_into(&mut object, name, bytes)?;
    Ok(object)
}

fn list(item: &str, bytes: &[u8]) -> Result<Json, Unreadable> {
    let mut list = Json::object();
    let mut items = Vec::new();
    for part in parts(bytes)? {
        match part {
            (1, WireValue::Bytes(bytes)) => list.set(&["metadata"], read("ListMeta", bytes)?),
            (2, WireValue::Bytes(bytes)) => items.push(read(item, bytes)?),
            _ => {}
        }
    }
    list.set(&["items"], items);
    Ok(list)
}

fn read_into(object: &mut Json, name: &str, bytes: &[u8]) -> Result<(), Unreadable> {
    let fields = message(name).unwrap_or_default();
    for (number, part) in parts(bytes)? {
        let Some(field) = fields.iter().find(|field| field.number == number) else { continue };
        let (kind, is_pointer) = field.pointed();
        if let (true, WireValue::Bytes(bytes)) = (field.name == "^", part) {
            read_into(object, kind, bytes)?;
        } else if let Some(item) = kind.strip_prefix('[').and_then(|kind| kind.strip_suffix(']')) {
            let item = value(item, part)?;
            object.entry(&[field.name]).make_array().push(item);
        } else if let Some(item) = kind.strip_prefix('{').and_then(|kind| kind.strip_suffix('}')) {
            let WireValue::Bytes(bytes) = part else { continue };
            let (mut key, mut found) = (String::new(), Json::text(Text::of("")));
            for part in parts(bytes)? {
                match part {
                    (1, WireValue::Bytes(bytes)) => key = text(bytes),
                    (2, part) => found = value(item, part)?,
                    _ => {}
                }
            }
            object.entry(&[field.name]).make_object().insert(key, found);
        } else {
            let found = value(kind, part)?;
            let is_zero = match &found {
                Json::Null => true,
                Json::Int(number) => *number == 0 && kind != "intstr",
                Json::Bool(value) => !value,
                Json::Str(text) => text.is_empty() && kind != "intstr",
                Json::Object(fields) => fields.is_empty(),
                _ => false,
            };
            if is_pointer && !found.is_null() || !is_zero {
                object.set(&[field.name], found);
            }
        }
    }
    Ok(())
}

fn value(kind: &str, part: WireValue<'_>) -> Result<Json, Unreadable> {
    let bytes = match part {
        WireValue::Number(number) if kind == "bool" => return Ok(Json::Bool(number != 0)),
        WireValue::Number(number) => return Ok(Json::Int(number.cast_signed())),
        WireValue::Bytes(bytes) => bytes,
    };
    let inner = |wanted: u32| -> Result<Option<WireValue<'_>>, Unreadable> {
        Ok(parts(bytes)?.into_iter().rev().find(|(number, _)| *number == wanted).map(|(_, part)| part))
    };
    let number =
        |part: Option<WireValue<'_>>| if let Some(WireValue::Number(number)) = part { number.cast_signed() } else { 0 };
    let string = |part: Option<WireValue<'_>>| {
        if let Some(WireValue::Bytes(bytes)) = part { text(bytes) } else { String::new() }
    };
    Ok(match kind {
        "str" => Json::text(text(bytes)),
        "bytes" => Json::text(base64::encode(bytes)),
        "time" | "microtime" if bytes.is_empty() => Json::Null,
        "time" | "microtime" => {
            let nanos = i32::try_from(number(inner(2)?)).unwrap_or(0);
            match jiff::Timestamp::new(number(inner(1)?), nanos) {
                Ok(at) if kind == "time" => Json::text(time::to_time(at)),
                Ok(at) => Json::text(time::to_micro_time(at)),
                Err(_) => Json::Null,
            }
        }
        "quantity" => Json::text(string(inner(1)?)),
        "intstr" if number(inner(1)?) == 0 => Json::Int(number(inner(2)?)),
        "intstr" => Json::text(string(inner(3)?)),
        "raw" => Json::parse(&string(inner(1)?)).unwrap_or_default(),
        "items" => parts(bytes)?
            .into_iter()
            .filter_map(
                |(_, part)| if let WireValue::Bytes(bytes) = part { Some(Json::text(text(bytes))) } else { None },
            )
            .collect(),
        name => read(name, bytes)?,
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a field holds, by its wire type.
#[derive(Clone, Copy)]
enum WireValue<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// Splits a message into its fields.
fn parts(mut bytes: &[u8]) -> Result<Vec<(u32, WireValue<'_>)>, Unreadable> {
    let ends = || Unreadable("unexpected EOF".to_owned());
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes).ok_or_else(ends)?;
        let number = u32::try_from(tag >> 3).unwrap_or(0);
        let wide = |bytes: &mut &[u8], length: usize| {
            let (own, rest) = bytes.split_at_checked(length)?;
            *bytes = rest;
            Some(own.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
        };
        let part = match tag & 7 {
            0 => WireValue::Number(varint(&mut bytes).ok_or_else(ends)?),
            1 => WireValue::Number(wide(&mut bytes, 8).ok_or_else(ends)?),
            2 => {
                let length = varint(&mut bytes).and_then(|length| usize::try_from(length).ok()).ok_or_else(ends)?;
                let (own, rest) = bytes.split_at_checked(length).ok_or_else(ends)?;
                bytes = rest;
                WireValue::Bytes(own)
            }
            5 => WireValue::Number(wide(&mut bytes, 4).ok_or_else(ends)?),
            other => return Err(Unreadable(format!("proto: illegal wireType {other}"))),
        };
        found.push((number, part));
    }
    Ok(found)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
