//! What values a structural schema allows, and what stands twice in lists.
//!
//! Mirrors k8s.io/kube-openapi pkg/validation/validate and k8s.io/apiextensions-apiserver
//! pkg/apiserver/{validation,schema/listtype} (v1.34) with the messages of both. Inputs: objects, with their former
//! states. Outputs: errors. Invariant: what was wrong before and is unchanged is no error.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::super::super::validation::{FieldError, Problem, quote};
use super::{ListKeys, Structural};
use crate::objects::{Json, time};

impl Structural {
    /// Says what is wrong with an object, new or in place of an old one.
    pub(in super::super) fn check(&self, tree: &Json, old: Option<&Json>, errors: &mut Vec<FieldError>) {
        self.check_value(tree, old, "", errors);
    }

    /// Says what is wrong with the status of a changed object, which is checked as if it stood alone.
    pub(in super::super) fn check_status(&self, tree: &Json, old: &Json, errors: &mut Vec<FieldError>) {
        let (Some(schema), status) = (self.properties.get("status"), tree.get("status")) else { return };
        if status.is_null() {
            return;
        }
        let mut found = Vec::new();
        schema.check_value(status, Some(old.get("status")), "", &mut found);
        for error in &mut found {
            error.field = if error.field == ROOT { String::from("status") } else { format!("status.{}", error.field) };
        }
        errors.append(&mut found);
    }

    /// Says what stands twice in lists whose items are told apart. Source: pkg/apiserver/schema/listtype/validation.go.
    pub(in super::super) fn repeated(&self, value: &Json, path: &str, errors: &mut Vec<FieldError>) {
        for (name, field) in value.fields() {
            if let Some(schema) = &self.additional {
                schema.repeated(field, &format!("{path}[{name}]"), errors);
            }
            if let Some(schema) = self.properties.get(name) {
                schema.repeated(field, &below(path, name), errors);
            }
        }
        let items = value.items();
        let keys: Vec<_> = items.iter().map(|item| self.key(item)).collect();
        for (at, own) in keys.iter().enumerate() {
            if let Some(own) = own.as_ref()
                && keys[..at].iter().filter(|other| other.as_ref() == Some(own)).count() == 1
            {
                errors.push(FieldError::duplicate(format!("{path}[{at}]"), own));
            }
        }
        if let Some(schema) = &self.items {
            for (at, item) in items.iter().enumerate() {
                schema.repeated(item, &format!("{path}[{at}]"), errors);
            }
        }
    }

    /// Says what is wrong with a value, unless it is the same as before.
    ///
    /// Source: pkg/apiserver/validation/ratcheting.go and k8s.io/apiserver pkg/cel/common/equality.go (v1.31 to v1.37).
    fn check_value(&self, value: &Json, old: Option<&Json>, path: &str, errors: &mut Vec<FieldError>) {
        if old == Some(value) {
            return;
        }
        let mut is_not_of = |wanted: &str| {
            let detail = format!("{path} in body must be of type {wanted}: {}", quote(type_of(value)));
            errors.push(FieldError::new(shown(path), Problem::TypeInvalid, quote(type_of(value)), detail));
        };
        if let Some(wanted) = self.wrong_type(value).filter(|_| !value.is_null() || !self.is_nullable) {
            is_not_of(wanted);
            if self.says_any_of && !value.is_null() {
                // The parts of `anyOf` are alike, and the first one is told.
                is_not_of("integer");
                let detail = format!("{} must validate at least one schema (anyOf)", quote(path));
                errors.insert(errors.len() - 1, FieldError::invalid_text(ROOT, "", detail));
            }
        }
        if value.is_object() {
            self.check_allowed(value, path, errors);
        }
        let mut wrong = |detail: String| {
            errors.push(FieldError::invalid(shown(path), value, format!("{path} in body should {detail}")));
        };
        match value {
            Json::Int(_) | Json::Float(_) => self.check_number(value, &mut wrong),
            Json::Str(text) => {
                let letters = text.chars().count();
                if let Some(least) = self.lengths.letters.0.filter(|least| letters < *least) {
                    wrong(format!("be at least {least} chars long"));
                }
                if let Some(pattern) = self.pattern.as_ref().filter(|pattern| !pattern.is_match(text)) {
                    wrong(format!("match '{pattern}'"));
                }
                if let Some(most) = self.lengths.letters.1.filter(|most| letters > *most) {
                    errors.push(FieldError::too_long(shown(path), format!("may not be more than {most} bytes")));
                }
                if self.has_date_time && time::parse(text).is_none() {
                    let detail = format!("{path} in body must be of type date-time: {}", quote(text));
                    errors.push(FieldError::new(shown(path), Problem::TypeInvalid, quote(text), detail));
                }
            }
            Json::Array(items) => {
                if let Some(least) = self.lengths.items.0.filter(|least| items.len() < *least) {
                    errors.push(too_few(path, items.len(), &format!("{least} items")));
                }
                if let Some(most) = self.lengths.items.1.filter(|most| items.len() > *most) {
                    errors.push(FieldError::too_many(shown(path), items.len(), most));
                }
                self.check_items(value, old, path, errors);
            }
            Json::Object(fields) => {
                if let Some(least) = self.lengths.fields.0.filter(|least| fields.len() < *least) {
                    errors.push(too_few(path, fields.len(), &format!("{least} properties")));
                }
                if let Some(most) = self.lengths.fields.1.filter(|most| fields.len() > *most) {
                    errors.push(FieldError::too_many(shown(path), fields.len(), most));
                }
                self.check_fields(value, old, path, errors);
            }
            _ => {}
        }
        if !value.is_object() {
            self.check_allowed(value, path, errors);
        }
    }

    fn check_allowed(&self, value: &Json, path: &str, errors: &mut Vec<FieldError>) {
        if let Some(allowed) = self.allowed.as_ref().filter(|allowed| !allowed.contains(value)) {
            let texts: Vec<String> = allowed.iter().map(plain).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let mut error = FieldError::not_supported(shown(path), "", &texts);
            error.value = value.as_str().map_or_else(|| value.to_string(), quote);
            errors.push(error);
        }
    }

    fn check_number(&self, value: &Json, wrong: &mut impl FnMut(String)) {
        #[expect(clippy::cast_precision_loss, reason = "a bound is compared as the server does it")]
        let number = match value {
            Json::Int(number) => *number as f64,
            Json::Float(number) => *number,
            _ => return,
        };
        match self.range.least {
            Some((least, true)) if number <= least => wrong(format!("be greater than {least}")),
            Some((least, false)) if number < least => wrong(format!("be greater than or equal to {least}")),
            _ => {}
        }
        match self.range.most {
            Some((most, true)) if number >= most => wrong(format!("be less than {most}")),
            Some((most, false)) if number > most => wrong(format!("be less than or equal to {most}")),
            _ => {}
        }
    }

    /// Returns what tells an item of a list from the others.
    fn key(&self, item: &Json) -> Option<Json> {
        match &self.keys {
            ListKeys::None => None,
            ListKeys::Set => Some(item.clone()),
            ListKeys::Map(keys) => Some(keys.iter().map(|key| (key.clone(), item.get(key).clone())).collect()),
        }
    }

    fn check_items(&self, value: &Json, old: Option<&Json>, path: &str, errors: &mut Vec<FieldError>) {
        let Some(schema) = &self.items else { return };
        let is_map = matches!(self.keys, ListKeys::Map(_));
        for (at, item) in value.items().iter().enumerate() {
            let key = self.key(item).filter(|_| is_map);
            let former = old.filter(|_| is_map).and_then(|old| old.items().iter().find(|own| self.key(own) == key));
            schema.check_value(item, former, &format!("{path}[{at}]"), errors);
        }
    }

    fn check_fields(&self, value: &Json, old: Option<&Json>, path: &str, errors: &mut Vec<FieldError>) {
        for name in self.required.iter().filter(|name| !value.fields().any(|(own, _)| own == *name)) {
            errors.push(FieldError::required(below(path, name), ""));
        }
        for (name, field) in value.fields() {
            if let Some(schema) = self.properties.get(name).or(self.additional.as_deref()) {
                let former = old.and_then(|old| old.fields().find(|(own, _)| *own == name).map(|(_, field)| field));
                schema.check_value(field, former, &below(path, name), errors);
            }
        }
    }

    /// Returns the type that a value should have and does not have.
    fn wrong_type(&self, value: &Json) -> Option<&'static str> {
        if self.is_int_or_string {
            return (!matches!(value, Json::Int(_) | Json::Str(_))).then_some("integer,string");
        }
        let kind = self.kind?;
        let fits = match kind {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.as_str().is_some(),
            "boolean" => value.as_bool().is_some(),
            "integer" => matches!(value, Json::Int(_)) || matches!(value, Json::Float(number) if number % 1.0 == 0.0),
            _ => matches!(value, Json::Int(_) | Json::Float(_)),
        };
        (!fits).then_some(kind)
    }
}

/// The name of the root of an object in errors.
const ROOT: &str = "<nil>";

fn shown(path: &str) -> &str {
    if path.is_empty() { ROOT } else { path }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { String::from(name) } else { format!("{path}.{name}") }
}

fn too_few(path: &str, found: usize, wanted: &str) -> FieldError {
    let detail = format!("{path} in body should have at least {wanted}");
    FieldError::new(shown(path), Problem::Invalid, found.to_string(), detail)
}

fn type_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Int(_) => "integer",
        Json::Float(_) => "number",
        Json::Str(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToString::to_string)
}
