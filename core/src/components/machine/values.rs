//! Values that people write: amounts of resources.

use alloc::string::ToString;

use crate::objects::quantity::Quantity;
use crate::objects::{FieldError, Json, Reader};

/// Reads a field that is an amount of a resource.
pub(crate) fn quantity_field(reader: &mut Reader<'_>, name: &'static str) -> Result<Option<Quantity>, FieldError> {
    let Some(value) = reader.any(name) else { return Ok(None) };
    quantity(value).map(Some).ok_or_else(|| reader.error(name, QUANTITY_NEEDED))
}

/// What is said of a value that is no quantity.
pub(crate) const QUANTITY_NEEDED: &str = "a quantity, as \"4\" or \"16Gi\", is needed";

/// Reads a quantity, which Kubernetes allows as text and as number.
pub(crate) fn quantity(value: &Json) -> Option<Quantity> {
    match value {
        Json::Str(text) => Quantity::parse(text),
        Json::Int(_) | Json::Float(_) => Quantity::parse(&value.to_string()),
        _ => None,
    }
}
