//! Field selectors. Inputs: texts, or the selector of a review. Outputs: parsed selectors, or the API server's message;
//! whether an object matches.
//!
//! Mirrors k8s.io/apimachinery pkg/fields/selector.go (v1.34).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::objects::{Json, Text};

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
    /// Reads a selector; the caller checks which fields exist.
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
            // With both empty it is everything: k8s.io/apimachinery pkg/fields/selector.go (v1.34), `Transform`.
            if !field.is_empty() || !value.is_empty() {
                terms.push(Term { field: Text::from(field), value: Text::from(unescape(value)?), equal });
            }
        }
        // A watch keeps its selector, which seldom has more than one term.
        terms.shrink_to_fit();
        Ok(Self(terms))
    }

    /// Reads the selector of a review of access: a text, or a list of requirements, of which those count that a text
    /// can say.
    ///
    /// Source: pkg/registry/authorization/util/helpers.go (v1.34), `ResourceAttributesFrom`, `fieldSelectorAsSelector`.
    #[must_use]
    pub fn of_review(selector: &Json) -> Self {
        let mut read = selector.get("rawSelector").as_str().and_then(|text| Self::parse(text).ok()).unwrap_or_default();
        for requirement in selector.get("requirements").items() {
            let equal = match requirement.get("operator").as_str() {
                Some("In") => true,
                Some("NotIn") => false,
                _ => continue,
            };
            if let (Some(field), [Json::Str(value)]) =
                (requirement.get("key").as_text(), requirement.get("values").items())
            {
                read.0.push(Term { field: field.clone(), value: value.clone(), equal });
            }
        }
        read
    }

    /// Tells whether everything matches.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the selector with the terms of both.
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

    /// Tells whether one of the terms requires this value of a field.
    #[must_use]
    pub fn wants(&self, field: &str, value: &str) -> bool {
        self.0.iter().any(|term| term.equal && term.field == *field && term.value == *value)
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
        // The field is known but always empty: pkg/registry/core/pod/strategy.go (v1.34), `ToSelectableFields`.
        ("pods", "status.podIPs") => return Text::of(""),
        _ => {}
    }
    // Source: pkg/registry/batch/job/strategy.go (v1.34), `JobToSelectableFields`.
    let field = if field == "status.successful" { "status.succeeded" } else { field };
    let value = field.split('.').fold(object, |value, part| value.get(part));
    match value {
        Json::Str(text) => text.clone(),
        Json::Bool(value) => Text::from(value.to_string()),
        Json::Int(number) => Text::from(number.to_string()),
        _ if matches!((kind, field), ("nodes", "spec.unschedulable") | ("pods", "spec.hostNetwork")) => {
            Text::of("false")
        }
        _ if matches!(field, "status.succeeded" | "status.replicas") => Text::of("0"),
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
