//! The parameters of a sentence: name, type, and whether they may be left out.
//!
//! Input: the sentence's pattern. Output: its parameters in order. The type of a parameter follows from its name, which
//! has the same meaning throughout the vocabulary.

use serde::Serialize;

use super::syntax::{group, words};

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
    /// What it may be, where neither its words nor its name say it.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub takes: &'static str,
}

/// The type of a parameter's text, by its name, and what it may be; empty if the name says it.
const KINDS: [(&str, &str, &str); 40] = [
    ("bound", "bound", "within 60s · between 40s and 55s · at 60s after Node \"x\" has taint \"…\" · at once"),
    ("client", "client", "\"worker-1\", or a controller or program without quotes: kube-scheduler"),
    ("code", "HTTP code", "401, 403, 404, 409, 410, 429, 500, 503, 504"),
    ("component", "component", "a controller or a program: taint-eviction-controller, kube-scheduler"),
    ("condition", "condition", "Ready=Unknown"),
    ("container", "container name", ""),
    ("count", "number", ""),
    ("delay", "duration", ""),
    ("duration", "duration", "40s, 1m30s, 200ms"),
    ("every", "duration", "10s"),
    ("first", "number", ""),
    ("fixture", "file", "a file below fixtures/"),
    ("for", "duration bound", "for 25s"),
    ("kind", "kind", "Node, Pod or any other kind"),
    ("label", "label", "key=value, or key"),
    ("least", "number", ""),
    ("longest", "duration", ""),
    ("message", "text", ""),
    ("method", "HTTP method", "GET, POST, PUT, PATCH or DELETE"),
    ("most", "number", ""),
    ("names", "names", "\"a\", \"b\" and \"c\""),
    ("node", "Node name", ""),
    ("nodes", "Node names", "\"a\", \"b\" and \"c\""),
    ("object", "object", "Node \"worker-1\", Pod \"ns/web\", the Lease of Node \"worker-1\", or any kind with a name"),
    ("path", "path", "status.conditions[Ready].message; of a request /api/v1/nodes"),
    ("pod", "Pod name", "web, or ns/web"),
    ("probability", "share", "0.3"),
    ("reason", "text", ""),
    ("release", "release", "1.34"),
    ("resource", "resource", "nodes, leases, nodes/status"),
    ("rest", "sentence", "the rest of a sentence about one of them"),
    ("selector", "selector", "app=web"),
    ("taint", "taint", "key=value:NoExecute"),
    ("times", "number", ""),
    ("tolerations", "tolerations", "\"key:NoExecute\" for 60s, \"other\" and \"k=v\""),
    ("value", "value", "JSON or in quotes, set, absent, changed, not 0"),
    ("verb", "verb", "GET, PUT, watch"),
    ("who", "identity", "the user, user \"jane\", service account \"ns/name\", the kubelet on \"worker-1\""),
    ("with", "table", "a colon, and a table below: its rows are fields and values"),
    ("zone", "zone", ""),
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
    let values = words(inner);
    // The words of a table that may follow stand in the sentence; what follows is the table.
    let known = KINDS.iter().find(|(known, ..)| *known == name && (values.is_empty() || name == "with"));
    let other = if values.is_empty() { "text" } else { "word" };
    let (kind, takes) = known.map_or((other, ""), |(_, kind, takes)| (*kind, *takes));
    Parameter { name: name.to_owned(), kind, optional, values, takes }
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
