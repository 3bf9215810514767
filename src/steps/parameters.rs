//! The parameters of a sentence: name, type, and whether they may be left out.
//!
//! Input: the sentence's pattern. Output: its parameters in order. The type of a parameter follows from its name, which
//! has the same meaning throughout the vocabulary.

use serde::Serialize;

use super::syntax::{group, is_of_words};

/// A parameter of a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// Its name, as in `{node}`.
    pub name: String,
    /// The type of its text: `duration`, `taint`, `word`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Whether it may be left out.
    pub optional: bool,
    /// The words that it may be; empty if they are not a fixed list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

/// The type of a parameter's text, by its name.
const KINDS: [(&str, &str); 30] = [
    ("bound", "bound"),
    ("client", "client"),
    ("code", "HTTP code"),
    ("component", "component"),
    ("condition", "condition"),
    ("container", "container name"),
    ("count", "number"),
    ("duration", "duration"),
    ("every", "duration"),
    ("first", "number"),
    ("fixture", "file"),
    ("for", "duration bound"),
    ("label", "label"),
    ("longest", "duration"),
    ("message", "text"),
    ("method", "HTTP method"),
    ("node", "Node name"),
    ("nodes", "Node names"),
    ("object", "object"),
    ("path", "path"),
    ("pod", "Pod name"),
    ("reason", "text"),
    ("release", "release"),
    ("resource", "resource"),
    ("rest", "sentence"),
    ("taint", "taint"),
    ("times", "number"),
    ("tolerations", "tolerations"),
    ("value", "value"),
    ("zone", "zone"),
];

/// Returns the parameters of a pattern in their order.
pub(super) fn parameters(pattern: &str) -> Vec<Parameter> {
    let mut found = Vec::new();
    collect(pattern, false, &mut found);
    found
}

fn collect(pattern: &str, is_optional: bool, found: &mut Vec<Parameter>) {
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        if c == '\\' {
            rest =
                rest.get(1..).and_then(|tail| tail.get(tail.chars().next().map_or(0, char::len_utf8)..)).unwrap_or("");
        } else if c == '[' {
            // Skips a character class: a parenthesis in it is an ordinary character.
            rest = rest.find(']').map_or("", |end| &rest[end + 1..]);
        } else if c == '(' {
            let (inner, tail) = group(rest);
            let optional = is_optional || tail.starts_with(['?', '*']);
            match inner.strip_prefix("?P<").and_then(|named| named.split_once('>')) {
                Some((name, inner)) => found.push(parameter(name, inner, optional)),
                None => collect(inner.strip_prefix("?:").unwrap_or(inner), optional, found),
            }
            rest = tail;
        } else {
            rest = &rest[c.len_utf8()..];
        }
    }
}

fn parameter(name: &str, inner: &str, optional: bool) -> Parameter {
    let values: Vec<String> =
        if is_of_words(inner) { inner.split('|').map(|word| word.trim().to_owned()).collect() } else { Vec::new() };
    let known = KINDS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind);
    let kind = if values.is_empty() { known.unwrap_or("text") } else { "word" };
    Parameter { name: name.to_owned(), kind, optional, values }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_from_the_pattern() {
        let shown = |pattern: &str| -> Vec<String> {
            let shown = |p: &Parameter| {
                format!("{}:{}{}{}", p.name, p.kind, if p.optional { "?" } else { "" }, p.values.join("|"))
            };
            parameters(pattern).iter().map(shown).collect()
        };
        let cases: [(&str, &[&str]); 4] = [
            (r#"^a ready Node "(?P<node>[^"]*)"(?: in zone "(?P<zone>[^"]*)")?$"#, &["node:Node name", "zone:zone?"]),
            (r"^x (?P<what>stops|is killed)(?P<bound>,? .*)?$", &["what:wordstops|is killed", "bound:bound?"]),
            (r"^\((?P<odd>[()]+)\) no$", &["odd:text"]),
            ("^nothing$", &[]),
        ];
        for (pattern, expected) in cases {
            assert_eq!(shown(pattern), expected, "{pattern}");
        }
    }
}
