//! The lists in the specification of a machine: images, and what fails.
//!
//! Inputs: the items of a field. Outputs: what they say, or an error that names the item.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use crate::json;
use crate::objects::{FieldError, FieldReader, Json, Text};

/// What a machine can be told to fail at.
const FAILING: &[&str] = &["machine-info", "version-info", "runtime-status", "logind", "inhibit-delay", "image-pull"];

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
