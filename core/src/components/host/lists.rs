//! The lists in the specification of a machine: addresses, images, and what fails.
//!
//! Inputs: the items of a field. Outputs: what they say, or an error that names the item.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::spec::Address;
use crate::json;
use crate::objects::{FieldError, FieldReader, Json, Text};

/// What a machine can be told to fail at.
const FAILING: &[&str] = &["machine-info", "version-info", "runtime-status", "logind", "inhibit-delay"];
/// Source: k8s.io/api core/v1 types.go (v1.34), `NodeAddressType`.
const ADDRESS_TYPES: &[&str] = &["InternalIP", "ExternalIP", "InternalDNS", "ExternalDNS", "Hostname"];

pub(super) fn read_addresses(addresses: &[Json]) -> Result<Vec<Address>, FieldError> {
    let mut read = Vec::new();
    for (at, address) in addresses.iter().enumerate() {
        let mut reader = FieldReader::new(address, format!("addresses[{at}]"))?;
        reader.needed_text("type")?;
        let kind = reader.word("type", "type of address", ADDRESS_TYPES)?.unwrap_or_default();
        read.push(Address { kind: Text::of(kind), address: reader.needed_text("address")?.clone() });
        reader.finish()?;
    }
    Ok(read)
}

pub(super) fn read_images(images: &[Json]) -> Result<Vec<Json>, FieldError> {
    let mut read = Vec::new();
    for (at, image) in images.iter().enumerate() {
        let mut reader = FieldReader::new(image, format!("images[{at}]"))?;
        let names = reader.list("names")?.unwrap_or_default().to_vec();
        if let Some(number) = names.iter().position(|name| name.as_text().is_none()) {
            return Err(reader.error(&format!("names[{number}]"), "a string is needed"));
        }
        let size = reader.integer("sizeBytes", 0, i64::MAX)?.unwrap_or_default();
        reader.finish()?;
        let mut image = json!({"sizeBytes": size});
        image.set(&["names"], names);
        read.push(image);
    }
    Ok(read)
}

pub(super) fn read_failing(failing: &[Json]) -> Result<Vec<Text>, FieldError> {
    let mut read = Vec::new();
    for (at, name) in failing.iter().enumerate() {
        let known = name.as_text().filter(|name| FAILING.contains(&name.as_str()));
        read.push(known.cloned().ok_or_else(|| {
            let given = name.as_str().map_or_else(|| name.to_string(), ToString::to_string);
            FieldError::unknown(format!("failing[{at}]"), "failure", &given, FAILING.iter().copied())
        })?);
    }
    Ok(read)
}
