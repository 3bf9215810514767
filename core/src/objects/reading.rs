//! A strict reader of JSON documents from users: each field has a type, and unknown fields are refused.
//!
//! Inputs: a JSON object and the path under which it stands. Outputs: values, or a [`FieldError`] that names the field.
//! Invariant: [`FieldReader::finish`] refuses every field that was not read. A field that is `null` counts as absent.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::near::nearest;
use super::quantity::Quantity;
use super::{Json, Text, time};

/// How messages end which say that something is not modelled.
pub const NOT_MODELLED: &str = " is not modelled yet";

/// Tells whether a message says that something is not modelled: then nothing can be said about what follows.
#[must_use]
pub fn is_not_modelled(message: &str) -> bool {
    message.ends_with(NOT_MODELLED)
}

/// A field of a document that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{field}: {message}{}",
    did_you_mean.as_ref().map(|near| format!(": did you mean {near:?}?")).unwrap_or_default())]
pub struct FieldError {
    /// The field's path, as `match.verb` or `answers[1]`; empty for the document itself.
    pub field: String,
    /// What is wrong, and what would fit.
    pub message: String,
    /// The nearest name that is known.
    pub did_you_mean: Option<String>,
}

impl FieldError {
    /// Makes an error about a field.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into(), did_you_mean: None }
    }

    /// Makes an error about a name that is none of those known.
    pub fn unknown<'a>(
        field: impl Into<String>,
        what: &str,
        name: &str,
        known: impl IntoIterator<Item = &'a str> + Clone,
    ) -> Self {
        let did_you_mean = nearest(name, known.clone()).map(String::from);
        let list: Vec<&str> = known.into_iter().collect();
        let message = format!("unknown {what} {name:?}: known are {}", list.join(", "));
        Self { field: field.into(), message, did_you_mean }
    }

    /// Returns the JSON object that the control interface answers with.
    #[must_use]
    pub fn json(&self) -> Json {
        let mut error = Json::object();
        if !self.field.is_empty() {
            error.set(&["field"], self.field.as_str());
        }
        error.set(&["message"], self.message.as_str());
        if let Some(near) = &self.did_you_mean {
            error.set(&["didYouMean"], near.as_str());
        }
        error
    }
}

/// What is said of a value that is no quantity.
pub(crate) const QUANTITY_NEEDED: &str = "a quantity, as \"4\" or \"16Gi\", is needed";

/// Reads the fields of one object.
#[derive(Debug)]
pub struct FieldReader<'a> {
    json: &'a Json,
    path: String,
    asked: Vec<&'static str>,
}

impl<'a> FieldReader<'a> {
    /// Starts reading a document; `path` is where it stands in a larger one, empty for the root.
    ///
    /// # Errors
    /// It is no object.
    pub fn new(json: &'a Json, path: impl Into<String>) -> Result<Self, FieldError> {
        let path = path.into();
        if json.is_object() {
            Ok(Self { json, path, asked: Vec::new() })
        } else {
            Err(FieldError::new(path, format!("a JSON object is needed, not {}", kind_of(json))))
        }
    }

    /// Returns the path of a field.
    #[must_use]
    pub fn path(&self, name: &str) -> String {
        if self.path.is_empty() { String::from(name) } else { format!("{}.{name}", self.path) }
    }

    /// Makes an error about a field.
    #[must_use]
    pub fn error(&self, name: &str, message: impl Into<String>) -> FieldError {
        FieldError::new(self.path(name), message)
    }

    /// Makes the error about a field that has to be there and is not. A field that was not asked for and has almost its
    /// name is a slip.
    #[must_use]
    pub fn missing(&self, name: &'static str, message: impl Into<String>) -> FieldError {
        let is_slip = |own: &&str| *own != name && !self.asked.contains(own) && nearest(own, [name]).is_some();
        match self.json.fields().map(|(own, _)| own.as_str()).find(is_slip) {
            Some(slip) => FieldError {
                did_you_mean: Some(String::from(name)),
                ..self.error(slip, format!("unknown field {slip:?}: {name} is needed"))
            },
            None => self.error(name, message),
        }
    }

    /// Returns a field of any type; `null` counts as absent.
    pub fn any(&mut self, name: &'static str) -> Option<&'a Json> {
        self.asked.push(name);
        Some(self.json.get(name)).filter(|value| !value.is_null())
    }

    /// Returns a field of any type, where `null` means something else than an absent field.
    pub fn any_or_null(&mut self, name: &'static str) -> Option<&'a Json> {
        self.asked.push(name);
        self.json.fields().find(|(field, _)| field.as_str() == name).map(|(_, value)| value)
    }

    fn typed<T>(
        &mut self,
        name: &'static str,
        needed: &str,
        read: impl FnOnce(&'a Json) -> Option<T>,
    ) -> Result<Option<T>, FieldError> {
        let Some(value) = self.any(name) else { return Ok(None) };
        match read(value) {
            Some(read) => Ok(Some(read)),
            None => Err(self.error(name, format!("{needed} is needed, not {}", shown(value)))),
        }
    }

    /// Returns a string.
    ///
    /// # Errors
    /// The field is of another type.
    pub fn text(&mut self, name: &'static str) -> Result<Option<&'a Text>, FieldError> {
        self.typed(name, "a string", Json::as_text)
    }

    /// Returns a string that has to be there and not empty.
    ///
    /// # Errors
    /// The field is absent, empty or of another type.
    pub fn needed_text(&mut self, name: &'static str) -> Result<&'a Text, FieldError> {
        match self.text(name)? {
            Some(text) if !text.is_empty() => Ok(text),
            Some(_) => Err(self.error(name, "it must not be empty")),
            None => Err(self.missing(name, "it is needed")),
        }
    }

    /// Returns a string that is one of a list.
    ///
    /// # Errors
    /// The field is of another type, or none of the list.
    pub fn word(
        &mut self,
        name: &'static str,
        what: &str,
        known: &[&'static str],
    ) -> Result<Option<&'static str>, FieldError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        match known.iter().find(|word| ***word == **text) {
            Some(word) => Ok(Some(word)),
            None => Err(FieldError::unknown(self.path(name), what, text, known.iter().copied())),
        }
    }

    /// Returns a truth value.
    ///
    /// # Errors
    /// The field is of another type.
    pub fn boolean(&mut self, name: &'static str) -> Result<Option<bool>, FieldError> {
        self.typed(name, "true or false", Json::as_bool)
    }

    /// Returns a whole number of a range, both ends included.
    ///
    /// # Errors
    /// The field is of another type, or outside.
    pub fn integer(&mut self, name: &'static str, least: i64, most: i64) -> Result<Option<i64>, FieldError> {
        let needed = if most == i64::MAX {
            format!("a whole number of at least {least}")
        } else {
            format!("a whole number from {least} to {most}")
        };
        self.typed(name, &needed, |value| value.as_i64().filter(|number| (least..=most).contains(number)))
    }

    /// Returns a number.
    ///
    /// # Errors
    /// The field is of another type.
    #[expect(clippy::cast_precision_loss, reason = "numbers that people write here are small")]
    pub fn number(&mut self, name: &'static str) -> Result<Option<f64>, FieldError> {
        self.typed(name, "a number", |value| match value {
            Json::Int(number) => Some(*number as f64),
            Json::Float(number) => Some(*number),
            _ => None,
        })
    }

    /// Returns an amount of a resource, written as text or as a number.
    ///
    /// # Errors
    /// The field is no quantity.
    pub fn quantity(&mut self, name: &'static str) -> Result<Option<Quantity>, FieldError> {
        let Some(value) = self.any(name) else { return Ok(None) };
        Quantity::from_json(value).map(Some).ok_or_else(|| self.error(name, QUANTITY_NEEDED))
    }

    /// Returns a duration, which may be negative.
    ///
    /// # Errors
    /// The field is no text, or the text is no duration with a unit.
    pub fn signed_duration(&mut self, name: &'static str) -> Result<Option<SignedDuration>, FieldError> {
        if let Some(text) = self.any(name).and_then(Json::as_str).filter(|text| time::is_too_long(text)) {
            return Err(self.error(name, format!("{text:?} is too long: no duration has more than 2562047h")));
        }
        self.typed(name, "a duration with a unit, as \"40s\" or \"5m\",", |value| {
            value.as_str().and_then(time::parse_duration)
        })
    }

    /// Returns a duration of zero or more.
    ///
    /// # Errors
    /// The field is no duration with a unit, or negative.
    pub fn duration(&mut self, name: &'static str) -> Result<Option<SignedDuration>, FieldError> {
        let duration = self.signed_duration(name)?;
        if duration.is_some_and(|duration| duration.is_negative()) {
            return Err(self.error(name, "a duration must not be negative"));
        }
        Ok(duration)
    }

    /// Returns an instant.
    ///
    /// # Errors
    /// The field is no instant of RFC 3339.
    pub fn instant(&mut self, name: &'static str) -> Result<Option<Timestamp>, FieldError> {
        self.typed(name, "an instant of RFC 3339, as \"2026-01-01T00:00:40Z\",", |value| {
            value.as_str().and_then(time::parse)
        })
    }

    /// Returns the items of a list.
    ///
    /// # Errors
    /// The field is of another type.
    pub fn list(&mut self, name: &'static str) -> Result<Option<&'a [Json]>, FieldError> {
        self.typed(name, "a list", |value| value.is_array().then(|| value.items()))
    }

    /// Returns a reader of an object below this one.
    ///
    /// # Errors
    /// The field is of another type.
    pub fn object(&mut self, name: &'static str) -> Result<Option<FieldReader<'a>>, FieldError> {
        let path = self.path(name);
        self.any(name).map(|value| FieldReader::new(value, path)).transpose()
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// There is a field that was not read.
    pub fn finish(self) -> Result<(), FieldError> {
        match self.json.fields().find(|(name, _)| !self.asked.contains(&name.as_str())) {
            None => Ok(()),
            Some((name, _)) => {
                let mut known: Vec<&str> = Vec::new();
                for asked in self.asked.iter().copied() {
                    if !known.contains(&asked) {
                        known.push(asked);
                    }
                }
                Err(FieldError::unknown(self.path(name), "field", name, known.iter().copied()))
            }
        }
    }
}

fn shown(value: &Json) -> String {
    match value {
        Json::Array(_) | Json::Object(_) => String::from(kind_of(value)),
        value => value.to_string(),
    }
}

const fn kind_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a truth value",
        Json::Int(_) | Json::Float(_) => "a number",
        Json::Str(_) => "a string",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::FieldReader;
    use crate::json;

    #[test]
    fn what_does_not_fit_is_named_by_its_path() {
        let document =
            json!({"match": {"verb": 3, "nmae": "w1", "for": "-2s", "times": 0, "unit": "40", "long": "9999999h"}});
        let mut root = FieldReader::new(&document, "").unwrap();
        let mut inner = root.object("match").unwrap().unwrap();
        assert_eq!(inner.text("verb").unwrap_err().to_string(), "match.verb: a string is needed, not 3");
        assert_eq!(inner.duration("for").unwrap_err().message, "a duration must not be negative");
        assert_eq!(
            inner.duration("unit").unwrap_err().message,
            "a duration with a unit, as \"40s\" or \"5m\", is needed, not \"40\""
        );
        assert_eq!(
            inner.duration("long").unwrap_err().message,
            "\"9999999h\" is too long: no duration has more than 2562047h"
        );
        assert_eq!(
            inner.integer("times", 1, i64::MAX).unwrap_err().message,
            "a whole number of at least 1 is needed, not 0"
        );
        assert_eq!(inner.needed_text("kind").unwrap_err().to_string(), "match.kind: it is needed");
        inner.any("name");
        let unknown = inner.finish().unwrap_err();
        assert_eq!((unknown.field.as_str(), unknown.did_you_mean.as_deref()), ("match.nmae", Some("name")));
        root.finish().unwrap();
        assert!(FieldReader::new(&json!([1]), "body").is_err());
    }

    #[test]
    fn a_slip_in_the_name_of_a_needed_field_is_an_unknown_field() {
        let document = json!({"nmae": "w1", "numa": 1});
        let mut reader = FieldReader::new(&document, "at").unwrap();
        let error = reader.needed_text("name").unwrap_err();
        assert_eq!((error.field.as_str(), error.did_you_mean.as_deref()), ("at.nmae", Some("name")));
        let mut reader = FieldReader::new(&document, "at").unwrap();
        reader.any("nmae");
        assert_eq!(reader.needed_text("name").unwrap_err().to_string(), "at.name: it is needed");
    }
}
