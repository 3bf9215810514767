//! Reads the first document of a YAML text.
//!
//! Mirrors go.yaml.in/yaml/v2 {scannerc,parserc,decode}.go (v2.4) as far as sigs.k8s.io/yaml needs them. Inputs: the
//! text. Outputs: its value as JSON, with the keys that stand twice in a map and their lines; or why it is no YAML, in
//! Go's words. Left out on purpose: keys that are no scalars, and tags other than those of the core schema.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::flow;
use super::scalar;
use crate::objects::Json;

/// How deep values may be nested. Source: go.yaml.in/yaml/v2 scannerc.go (v2.4), `max_flow_level` is larger; this is
/// what a stack bears.
const DEEPEST: usize = 200;
/// How many nodes a document may have, aliases counted with what they stand for. Source: go.yaml.in/yaml/v2 decode.go
/// (v2.4) refuses documents that are mostly aliases; this is as many nodes as a body of 3 MiB can have without any.
const NODES_MAX: usize = 4_000_000;

/// A document that was read.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its value.
    pub value: Json,
    /// The keys that stand twice in a map, as a strict reader complains of them.
    pub repeated: Vec<String>,
}

/// Why a text is no YAML, in Go's words.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("yaml: {0}")]
pub struct YamlError(pub String);

/// Reads the first document of a text.
///
/// # Errors
/// It is no YAML.
pub fn read(text: &str) -> Result<Document, YamlError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = YamlReader {
        text,
        at: 0,
        line: 0,
        line_start: 0,
        depth: 0,
        anchors: BTreeMap::new(),
        nodes: 0,
        repeated: Vec::new(),
    };
    reader.skip()?;
    while reader.column() == 0 && reader.byte() == Some(b'%') {
        reader.skip_line();
        reader.skip()?;
    }
    if reader.column() == 0 && reader.rest().starts_with("---") {
        reader.at += 3;
    }
    let value = reader.block(None)?;
    reader.skip()?;
    if !reader.is_over() {
        return Err(reader.parser_error("did not find expected <document start>"));
    }
    Ok(Document { value, repeated: reader.repeated })
}

/// The place up to which a text was read.
pub(super) struct YamlReader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// The number of the line, from zero.
    line: usize,
    line_start: usize,
    depth: usize,
    /// What anchors stand for, with the number of its nodes.
    anchors: BTreeMap<String, (Json, usize)>,
    /// How many nodes were read.
    nodes: usize,
    repeated: Vec<String>,
}

impl YamlReader<'_> {
    pub(super) fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn column(&self) -> usize {
        self.at - self.line_start
    }

    /// Goes on by a byte, if there is one.
    pub(super) fn next(&mut self) {
        if self.byte() == Some(b'\n') {
            self.line += 1;
            self.line_start = self.at + 1;
        }
        self.at = self.text.len().min(self.at + 1);
    }

    fn skip_line(&mut self) {
        while self.byte().is_some_and(|byte| byte != b'\n') {
            self.at += 1;
        }
    }

    pub(super) fn spaces(&mut self) {
        while matches!(self.byte(), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    /// Goes on to the next token: over spaces, comments and ends of lines.
    pub(super) fn skip(&mut self) -> Result<(), YamlError> {
        loop {
            let starts_line = self.column() == 0;
            while self.byte() == Some(b' ') {
                self.at += 1;
            }
            if self.byte() == Some(b'\t') {
                let blank = self.rest().trim_start_matches(['\t', ' ', '\r']);
                let is_indent = starts_line || self.text[self.line_start..self.at].trim().is_empty();
                if is_indent && !blank.is_empty() && !blank.starts_with(['\n', '#']) {
                    return Err(self.scanner_error("found character that cannot start any token"));
                }
                self.spaces();
            }
            match self.byte() {
                Some(b'#') if self.at == 0 || self.text.as_bytes()[self.at - 1].is_ascii_whitespace() => {
                    self.skip_line();
                }
                Some(b'\n' | b'\r') => self.next(),
                _ => return Ok(()),
            }
        }
    }

    /// Tells whether the document ends here.
    fn is_over(&self) -> bool {
        let rest = self.rest();
        let marked = self.column() == 0 && (rest.starts_with("---") || rest.starts_with("..."));
        rest.is_empty() || marked && rest[3..].chars().next().is_none_or(char::is_whitespace)
    }

    /// Returns the line from zero; the end of the text is on a line of its own.
    fn line_of_error(&self) -> usize {
        self.line + usize::from(self.rest().is_empty() && self.column() > 0)
    }

    /// Makes an error of the scanner, which tells the line where it stands.
    pub(super) fn scanner_error(&self, why: &str) -> YamlError {
        let line = self.line_of_error();
        let place = if line == 0 { String::new() } else { format!("line {}: ", line + 1) };
        YamlError(format!("{place}{why}"))
    }

    /// Makes an error of the parser, which counts lines from zero.
    pub(super) fn parser_error(&self, why: &str) -> YamlError {
        let line = self.line_of_error();
        let place = if line == 0 { String::new() } else { format!("line {line}: ") };
        YamlError(format!("{place}{why}"))
    }

    /// Counts a node.
    pub(super) fn count(&mut self) {
        self.nodes += 1;
    }

    /// Counts a level of nesting.
    pub(super) fn deeper(&mut self) -> Result<(), YamlError> {
        self.depth += 1;
        if self.depth > DEEPEST { Err(YamlError("exceeded max depth".to_string())) } else { Ok(()) }
    }

    pub(super) fn shallower(&mut self) {
        self.depth -= 1;
    }

    /// Reads the node that stands below a parent at a column; null if there is none.
    fn block(&mut self, parent: Option<usize>) -> Result<Json, YamlError> {
        self.skip()?;
        if self.is_over() || parent.is_some_and(|parent| self.column() <= parent) {
            return Ok(Json::Null);
        }
        self.deeper()?;
        let column = self.column();
        let node = if self.is_entry() {
            self.sequence(column)
        } else if self.is_key() {
            self.mapping(column)
        } else {
            self.inline(parent)
        };
        self.shallower();
        node
    }

    /// Tells whether an entry of a list begins here.
    fn is_entry(&self) -> bool {
        self.byte() == Some(b'-') && self.peek(1).is_none_or(|byte| byte.is_ascii_whitespace())
    }

    /// Tells whether a key of a block mapping begins here: a scalar of one line with a colon behind it.
    fn is_key(&self) -> bool {
        let line = self.rest().lines().next().unwrap_or("");
        let line = without_properties(line);
        let end = match line.as_bytes().first() {
            Some(quote @ (b'"' | b'\'')) => flow::quoted_length(line, *quote),
            Some(b'[' | b'{' | b'|' | b'>' | b'#') | None => None,
            _ => flow::plain_key_length(line),
        };
        end.is_some_and(|end| {
            let behind = line[end..].trim_start();
            behind.strip_prefix(':').is_some_and(|value| value.is_empty() || value.starts_with([' ', '\t', '\r']))
        })
    }

    fn sequence(&mut self, column: usize) -> Result<Json, YamlError> {
        let mut items = Vec::new();
        loop {
            self.at += 1;
            items.push(self.block(Some(column))?);
            self.skip()?;
            if self.is_over() || self.column() < column {
                return Ok(Json::array(items));
            }
            if self.column() > column || !self.is_entry() {
                // A mapping may hold its list at its own column.
                if self.column() == column && self.is_key() {
                    return Ok(Json::array(items));
                }
                return Err(self.parser_error("did not find expected '-' indicator"));
            }
        }
    }

    fn mapping(&mut self, column: usize) -> Result<Json, YamlError> {
        let mut fields = Vec::new();
        let mut merged = Vec::new();
        loop {
            let line = self.line;
            let key = self.inline_scalar()?;
            self.spaces();
            if self.byte() != Some(b':') {
                return Err(self.scanner_error("could not find expected ':'"));
            }
            self.at += 1;
            let value = self.value_of_key(column)?;
            if key == Json::text("<<") {
                merged.push(value);
            } else {
                self.put(&mut fields, &key, line, value);
            }
            self.skip()?;
            if self.is_over() || self.column() < column {
                return Ok(flow::merged(fields, merged));
            }
            if self.column() > column {
                return Err(self.scanner_error("mapping values are not allowed in this context"));
            }
            if !self.is_key() {
                let why = if self.is_entry() {
                    return Err(self.parser_error("did not find expected key"));
                } else {
                    "could not find expected ':'"
                };
                self.skip_line();
                self.next();
                return Err(self.scanner_error(why));
            }
        }
    }

    /// Adds a field, and notes one that stands twice.
    pub(super) fn put(&mut self, fields: &mut Vec<(String, Json)>, key: &Json, line: usize, value: Json) {
        let name = scalar::key(key);
        if fields.iter().any(|(own, _)| *own == name) {
            let shown = if let Json::Str(text) = key { format!("{:?}", text.as_str()) } else { key.to_string() };
            self.repeated.push(format!("line {}: key {shown} already set in map", line + 1));
            fields.retain(|(own, _)| *own != name);
        }
        fields.push((name, value));
    }

    pub(super) fn line(&self) -> usize {
        self.line
    }

    fn value_of_key(&mut self, column: usize) -> Result<Json, YamlError> {
        self.spaces();
        if !matches!(self.byte(), None | Some(b'\n' | b'#')) {
            if self.is_entry() {
                return Err(self.scanner_error("block sequence entries are not allowed in this context"));
            }
            return self.inline(Some(column));
        }
        self.skip()?;
        if self.column() == column && self.is_entry() && !self.is_over() {
            self.deeper()?;
            let list = self.sequence(column);
            self.shallower();
            return list;
        }
        self.block(Some(column))
    }

    /// Reads a node that begins in the middle of a line: a scalar, a flow collection, an alias, what an anchor names.
    fn inline(&mut self, parent: Option<usize>) -> Result<Json, YamlError> {
        match self.byte() {
            Some(b'&' | b'!') => {
                let properties = self.properties()?;
                self.spaces();
                let ends_line = matches!(self.byte(), None | Some(b'\n' | b'#'));
                let value = if ends_line { self.block(parent)? } else { self.inline(parent)? };
                Ok(self.named(properties, value))
            }
            Some(b'|' | b'>') => self.block_scalar(parent),
            _ => {
                let value = self.flow_node(parent)?;
                self.spaces();
                let ends = matches!(self.byte(), None | Some(b'\n' | b'#')) || self.is_over();
                match self.byte() {
                    _ if ends => Ok(value),
                    Some(b':') => Err(self.scanner_error("mapping values are not allowed in this context")),
                    _ => Err(self.parser_error("did not find expected key")),
                }
            }
        }
    }

    fn inline_scalar(&mut self) -> Result<Json, YamlError> {
        let properties =
            if matches!(self.byte(), Some(b'&' | b'!')) { self.properties()? } else { Properties::default() };
        self.spaces();
        let value = match self.byte() {
            Some(quote @ (b'"' | b'\'')) => Json::text(self.quoted(quote)?),
            Some(b'*') => self.alias()?,
            _ => {
                let line = self.rest().lines().next().unwrap_or("");
                let length = flow::plain_key_length(line).unwrap_or(line.len());
                let text = line[..length].trim_end().to_string();
                self.at += text.len();
                scalar::resolve(&text)
            }
        };
        Ok(self.named(properties, value))
    }

    /// Reads anchor and tag.
    pub(super) fn properties(&mut self) -> Result<Properties, YamlError> {
        let mut found = Properties { first: self.nodes, ..Properties::default() };
        while let Some(mark @ (b'&' | b'!')) = self.byte() {
            let word = if mark == b'&' { self.name() } else { self.word() };
            if mark == b'&' {
                found.anchor = Some(word);
            } else {
                found.is_text = word == "!str" || word.is_empty();
            }
            self.spaces();
        }
        Ok(found)
    }

    /// Reads the name of an anchor behind its mark.
    fn name(&mut self) -> String {
        self.at += 1;
        let ends = |letter: char| !letter.is_ascii_alphanumeric() && letter != '_' && letter != '-';
        let name = self.rest().split(ends).next().unwrap_or("").to_string();
        self.at += name.len();
        name
    }

    /// Reads the word behind a mark.
    fn word(&mut self) -> String {
        self.at += 1;
        let ends = |letter: char| letter.is_whitespace() || ",[]{}".contains(letter);
        let word = self.rest().split(ends).next().unwrap_or("").to_string();
        self.at += word.len();
        word
    }

    pub(super) fn named(&mut self, properties: Properties, value: Json) -> Json {
        let value = match value {
            value @ (Json::Str(_) | Json::Array(_) | Json::Object(_)) => value,
            other if properties.is_text => Json::text(scalar::key(&other)),
            other => other,
        };
        if let Some(anchor) = properties.anchor {
            let nodes = self.nodes - properties.first;
            self.anchors.insert(anchor, (value.clone(), nodes));
        }
        value
    }

    pub(super) fn alias(&mut self) -> Result<Json, YamlError> {
        let name = self.name();
        let Some((value, nodes)) = self.anchors.get(&name) else {
            return Err(YamlError(format!("unknown anchor '{name}' referenced")));
        };
        self.nodes += nodes;
        if self.nodes > NODES_MAX {
            return Err(YamlError("document contains excessive aliasing".to_string()));
        }
        Ok(value.clone())
    }

    /// Reads a scalar of several lines behind `|` or `>`.
    fn block_scalar(&mut self, parent: Option<usize>) -> Result<Json, YamlError> {
        let folds = self.byte() == Some(b'>');
        let header = self.rest().lines().next().unwrap_or("");
        let header = header.split(" #").next().unwrap_or("").trim();
        let (keeps, strips) = (header.contains('+'), header.contains('-'));
        let given = header.bytes().find(u8::is_ascii_digit).map(|digit| usize::from(digit - b'0'));
        self.skip_line();
        self.next();
        let least = parent.map_or(0, |parent| parent + 1);
        let mut indent = given.map(|given| parent.map_or(given, |parent| parent + given));
        let mut lines: Vec<String> = Vec::new();
        while !self.rest().is_empty() {
            let line = self.rest().split('\n').next().unwrap_or("").trim_end_matches('\r');
            let spaces = line.bytes().take_while(|byte| *byte == b' ').count();
            let is_blank = line.trim_matches(' ').is_empty();
            if !is_blank {
                let own = *indent.get_or_insert(spaces);
                if spaces < own.max(least) || self.is_over() {
                    break;
                }
            }
            let own = indent.unwrap_or(spaces).min(line.len());
            lines.push(line.get(own..).unwrap_or("").to_string());
            self.skip_line();
            self.next();
        }
        Ok(Json::text(flow::block_text(&lines, folds, (keeps, strips))))
    }
}

/// Anchor and tag of a node.
#[derive(Default)]
pub(super) struct Properties {
    /// How many nodes were read before.
    first: usize,
    anchor: Option<String>,
    /// Whether the tag makes it a text.
    is_text: bool,
}

/// Leaves out anchor and tag before a key.
fn without_properties(line: &str) -> &str {
    let mut line = line;
    while line.starts_with(['&', '!']) {
        line = line.split_once(' ').map_or("", |(_, rest)| rest.trim_start());
    }
    line
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::read;
    use crate::json;
    use crate::objects::Json;

    fn value(text: &str) -> Json {
        read(text).unwrap_or_else(|error| panic!("{text:?}: {error}")).value
    }

    #[test]
    fn documents_become_json() {
        let cases = [
            (
                "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n---\nkind: Pod\n",
                json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}),
            ),
            (
                "# first\n---\na:\n- 1\n-   b: x # note\n    c: 'it''s'\n-\n  - d\n  -\n",
                json!({"a": [1, {"b": "x", "c": "it's"}, ["d", null]]}),
            ),
            (
                "a: &x {k: \"1\"}\nb: *x\nc:\n  <<: *x\n  l: 2\n",
                json!({"a": {"k": "1"}, "b": {"k": "1"},
                "c": {"k": "1", "l": 2}}),
            ),
            ("a: one\n  two\n\n  three\nb: \"x\\n\\u00e9\n  y\"\n", json!({"a": "one two\nthree", "b": "x\né y"})),
            ("a: |\n  x\n   y\n\n  z\nb: >-\n  x\n  y\n\n  z\n", json!({"a": "x\n y\n\nz\n", "b": "x y\nz"})),
            ("a: |+\n  x\n\nb: !!str 5\nc: - 1\n", Json::Null),
            ("a: !!str 5\n\"b\" : 'x'\n3: yes\n", json!({"a": "5", "b": "x", "3": true})),
            ("{\"a\": [1, {\"b\": null}], \"c\": \"d:e\"}", json!({"a": [1, {"b": null}], "c": "d:e"})),
            ("hello", json!("hello")),
            ("- a\n- b: c\n  d:\n  - e\n", json!(["a", {"b": "c", "d": ["e"]}])),
            (
                "url: http://x:80/#a\nt: 10:30\nempty:\nlast: ''\n",
                json!({"url": "http://x:80/#a", "t": "10:30", "empty": null, "last": ""}),
            ),
            ("", Json::Null),
            ("\n# nothing\n", Json::Null),
        ];
        for (text, expected) in cases {
            match read(text) {
                Ok(document) => assert_eq!(document.value, expected, "{text}"),
                Err(error) => assert!(expected.is_null(), "{text}: {error}"),
            }
        }
        assert_eq!(value("a: [b, c: d, {e: f}, 'g']\n"), json!({"a": ["b", {"c": "d"}, {"e": "f"}, "g"]}));
    }

    #[test]
    fn keys_that_stand_twice_are_told_with_their_lines() {
        let text = "a:\n  x: 1\n  x: 2\nb: {z: 1, z: 2}\na: 3\n";
        let document = read(text).unwrap();
        assert_eq!(document.value, json!({"a": 3, "b": {"z": 2}}));
        let told = [
            "line 3: key \"x\" already set in map",
            "line 4: key \"z\" already set in map",
            "line 5: key \"a\" already set in map",
        ];
        assert_eq!(document.repeated, told);
    }

    /// Each line has ten aliases of the line before.
    fn bomb() -> alloc::string::String {
        let mut text = alloc::string::String::from("a0: &a0 [1, 1]\n");
        for level in 1..30 {
            let aliases = alloc::format!("*a{}, ", level - 1).repeat(10);
            text += &alloc::format!("a{level}: &a{level} [{aliases}]\n");
        }
        text
    }

    #[test]
    fn mistakes_are_told_in_gos_words() {
        let cases = [
            ("a: [", "yaml: line 1: did not find expected node content"),
            ("a: 1\n\tb: 2\n", "yaml: line 2: found a tab character that violates indentation"),
            ("a: b: c\n", "yaml: mapping values are not allowed in this context"),
            ("x: 1\na: b: c\n", "yaml: line 2: mapping values are not allowed in this context"),
            ("a: 1\nb\n", "yaml: line 3: could not find expected ':'"),
            ("a: *x\n", "yaml: unknown anchor 'x' referenced"),
            ("ap(iVersion: v1\nkind: Node\nm", "yaml: line 4: could not find expected ':'"),
            ("a: 'x\n", "yaml: line 2: found unexpected end of stream"),
            ("a: @x\n", "yaml: found character that cannot start any token"),
            (&bomb(), "yaml: document contains excessive aliasing"),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text).map(|document| document.value).unwrap_err().to_string(), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_printed_is_read_as_it_was() {
        let long = "a long text that is longer than eighty characters so that the printer folds it at a space here";
        let object = json!({"a": {"b": ["x: y", "- z", "", "yes", "1", null, true, 5, "multi\nline\n", "# no"]},
            "c": [], "d": {}, "e": long});
        assert_eq!(value(&crate::objects::yaml::print(&object)), object);
    }
}
