//! Label and field selectors.
//!
//! Mirrors k8s.io/apimachinery pkg/labels/selector.go and pkg/fields/selector.go (v1.34).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Json, Text};

/// How a term compares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
    GreaterThan,
    LessThan,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Requirement {
    key: Text,
    operator: Operator,
    values: Vec<Text>,
}

/// A selector over labels: all its terms have to hold.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Selector(Vec<Requirement>);

impl Selector {
    /// Reads a selector.
    ///
    /// # Errors
    /// The message of the API server.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut terms = Vec::new();
        for term in text.split(',').map(str::trim).filter(|term| !term.is_empty()) {
            let (key, operator, values) = if let Some((key, value)) = term.split_once("!=") {
                (key, Operator::NotIn, Vec::from([Text::from(value.trim())]))
            } else if let Some((key, value)) = term.split_once("==").or_else(|| term.split_once('=')) {
                (key, Operator::In, Vec::from([Text::from(value.trim())]))
            } else if let Some(key) = term.strip_prefix('!') {
                (key, Operator::DoesNotExist, Vec::new())
            } else {
                (term, Operator::Exists, Vec::new())
            };
            terms.push(Requirement { key: Text::from(key.trim()), operator, values });
        }
        Ok(Self(terms))
    }

    /// Tells whether everything matches.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.0.is_empty()
    }

    /// Tells whether an object with these labels matches.
    #[must_use]
    pub fn matches(&self, labels: &Json) -> bool {
        self.0.iter().all(|term| {
            let value = labels.get(&term.key).as_text();
            match term.operator {
                Operator::In => value.is_some_and(|value| term.values.contains(value)),
                Operator::NotIn => value.is_none_or(|value| !term.values.contains(value)),
                Operator::Exists => value.is_some(),
                Operator::DoesNotExist => value.is_none(),
                Operator::GreaterThan | Operator::LessThan => {
                    let number = |text: &Text| text.parse::<i64>().ok();
                    let (Some(value), Some(limit)) = (value.and_then(number), term.values.first().and_then(number))
                    else {
                        return false;
                    };
                    if term.operator == Operator::GreaterThan { value > limit } else { value < limit }
                }
            }
        })
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Term {
    field: Text,
    value: Text,
    equal: bool,
}

/// A selector over fields: all its terms have to hold.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FieldSelector(Vec<Term>);

impl FieldSelector {
    /// Reads a selector; which fields there are is the caller's business.
    ///
    /// # Errors
    /// The message of the API server.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut terms = Vec::new();
        for term in split_terms(text) {
            if term.is_empty() {
                continue;
            }
            let Some((field, equal, value)) = split_term(term) else {
                return Err(format!("invalid selector: '{text}'; can't understand '{term}'"));
            };
            terms.push(Term { field: Text::from(field), value: Text::from(unescape(value)?), equal });
        }
        Ok(Self(terms))
    }

    /// Tells whether everything matches.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the selector that wants what both want.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Returns the names of the fields.
    pub fn fields(&self) -> impl Iterator<Item = &Text> {
        self.0.iter().map(|term| &term.field)
    }

    /// Renames fields: legacy names, or names of another version.
    pub fn rename(&mut self, rename: impl Fn(&Text) -> Option<Text>) {
        for term in &mut self.0 {
            if let Some(name) = rename(&term.field) {
                term.field = name;
            }
        }
    }

    /// Returns the value that a field must have exactly.
    #[must_use]
    pub fn exactly(&self, field: &str) -> Option<&Text> {
        self.0.iter().find(|term| term.equal && term.field == *field).map(|term| &term.value)
    }

    /// Tells whether an object of a kind (its plural name) matches.
    #[must_use]
    pub fn matches(&self, kind: &str, object: &Json) -> bool {
        self.0.iter().all(|term| (field_value(kind, &term.field, object) == term.value) == term.equal)
    }
}

/// Returns what a field compares as; an absent one is empty.
fn field_value(kind: &str, field: &str, object: &Json) -> Text {
    match (kind, field) {
        ("events", "source") => {
            let component = object.at(&["source", "component"]);
            let component = if component.is_null() { object.get("reportingComponent") } else { component };
            return component.as_text().cloned().unwrap_or_default();
        }
        ("pods", "status.podIPs") => {
            let ips: Vec<&str> =
                object.at(&["status", "podIPs"]).items().iter().filter_map(|ip| ip.get("ip").as_str()).collect();
            return Text::from(ips.join(","));
        }
        _ => {}
    }
    let value = field.split('.').fold(object, |value, part| value.get(part));
    match value {
        Json::Str(text) => text.clone(),
        Json::Bool(value) => Text::from(value.to_string()),
        Json::Int(number) => Text::from(number.to_string()),
        _ if matches!((kind, field), ("nodes", "spec.unschedulable") | ("pods", "spec.hostNetwork")) => {
            Text::of("false")
        }
        _ => Text::of(""),
    }
}

/// Splits at commas that are not escaped.
fn split_terms(text: &str) -> Vec<&str> {
    let mut terms = Vec::new();
    let (mut start, mut escaped) = (0, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ',' => {
                terms.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    terms.push(&text[start..]);
    terms
}

fn split_term(term: &str) -> Option<(&str, bool, &str)> {
    for at in term.char_indices().map(|(at, _)| at) {
        let rest = &term[at..];
        if let Some(value) = rest.strip_prefix("!=") {
            return Some((&term[..at], false, value));
        }
        if let Some(value) = rest.strip_prefix("==") {
            return Some((&term[..at], true, value));
        }
        if let Some(value) = rest.strip_prefix('=') {
            return Some((&term[..at], true, value));
        }
    }
    None
}

fn unescape(value: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(next @ ('\\' | ',' | '=')) => out.push(next),
                Some(next) => return Err(format!("invalid field selector: invalid escape sequence: \\{next}")),
                None => return Err("invalid field selector: invalid escape sequence: \\".to_string()),
            },
            '=' | ',' => return Err(format!("invalid field selector: unescaped character in value: {}", u32::from(c))),
            c => out.push(c),
        }
    }
    Ok(out)
}
