//! YAML: printed as the API server prints it for clients that ask for `application/yaml`, and read as it reads bodies.
//!
//! Mirrors go.yaml.in/yaml/v2 encode.go, resolve.go and emitterc.go (v2.4), as sigs.k8s.io/yaml uses them: which texts
//! need which quotes, where long ones are folded, and that lists are not indented below their field. Inputs: a value.
//! Outputs: its text. Left out on purpose: anchors, tags and the flow style, which JSON never needs.

mod flow;
mod read;
mod scalar;

use alloc::format;
use alloc::string::{String, ToString};

use super::Json;
use super::time;

pub use read::{Document, YamlError, read};

/// A line is folded at the first space beyond so many characters. Source: emitterc.go (v2.4), `best_width`.
const WIDTH: usize = 80;
/// Words that YAML reads as a truth value or null. Source: resolve.go (v2.4), `resolveTable`.
const WORDS: [&str; 12] = ["", "~", "null", "y", "yes", "true", "on", "n", "no", "false", "off", "<<"];

/// Prints a value as a YAML document.
#[must_use]
pub fn print(value: &Json) -> String {
    let mut printer = Printer { out: String::new(), column: 0 };
    printer.value(value, 0, ValuePosition::Document);
    printer.out
}

/// Where a value stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValuePosition {
    Document,
    /// Behind the colon of a field.
    Field,
    /// Behind the dash of a list.
    Item,
}

struct Printer {
    out: String,
    column: usize,
}

impl Printer {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += text.chars().count();
    }

    fn line(&mut self, indent: usize) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        self.column = 0;
        self.put(&" ".repeat(indent));
    }

    fn value(&mut self, value: &Json, indent: usize, place: ValuePosition) {
        match value {
            Json::Object(fields) if !fields.is_empty() => {
                let own = if place == ValuePosition::Document { indent } else { indent + 2 };
                for (at, (name, item)) in fields.iter().enumerate() {
                    if at > 0 || place == ValuePosition::Field {
                        self.line(own);
                    }
                    self.text(name, own, Folding::Never);
                    self.put(":");
                    self.value(item, own, ValuePosition::Field);
                    self.end();
                }
            }
            Json::Array(items) if !items.is_empty() => {
                // A list is not indented below its field.
                let own = if place == ValuePosition::Item { indent + 2 } else { indent };
                for (at, item) in items.iter().enumerate() {
                    if at > 0 || place == ValuePosition::Field {
                        self.line(own);
                    }
                    self.put("-");
                    if matches!(item, Json::Object(_) | Json::Array(_)) && !item.is_empty() {
                        self.put(" ");
                    }
                    self.value(item, own, ValuePosition::Item);
                    self.end();
                }
            }
            scalar => {
                if place != ValuePosition::Document {
                    self.put(" ");
                }
                match scalar {
                    Json::Object(_) => self.put("{}"),
                    Json::Array(_) => self.put("[]"),
                    Json::Str(text) => self.text(text, indent, Folding::AtSpaces),
                    other => self.put(&other.to_string()),
                }
                self.end();
            }
        }
    }

    fn end(&mut self) {
        if !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    fn text(&mut self, text: &str, indent: usize, folding: Folding) {
        let analysis = Analysis::of(text);
        let may_fold = folding == Folding::AtSpaces;
        if text.contains('\n') && analysis.may_be_block && may_fold {
            self.block(text, indent + 2);
        } else if !is_string(text) || analysis.is_special || text.contains('\n') {
            self.double(text, indent + 2, may_fold);
        } else if analysis.may_be_plain {
            self.folded(text, indent + 2, (may_fold, ""));
        } else {
            self.folded(&text.replace('\'', "''"), indent + 2, (may_fold, "'"));
        }
    }

    fn folded(&mut self, text: &str, indent: usize, (may_fold, quote): (bool, &str)) {
        self.put(quote);
        let mut rest = text.chars().peekable();
        let (mut is_first, mut was_space) = (true, false);
        while let Some(letter) = rest.next() {
            let next = rest.peek().copied();
            let is_inside = quote.is_empty() || !is_first && next.is_some();
            let folds = may_fold && letter == ' ' && !was_space && self.column > WIDTH && is_inside;
            if folds && next != Some(' ') {
                self.line(indent);
            } else {
                self.put(letter.encode_utf8(&mut [0; 4]));
            }
            (is_first, was_space) = (false, letter == ' ');
        }
        self.put(quote);
    }

    fn double(&mut self, text: &str, indent: usize, may_fold: bool) {
        self.put("\"");
        let mut rest = text.chars().peekable();
        let (mut is_first, mut was_space) = (true, false);
        while let Some(letter) = rest.next() {
            let next = rest.peek().copied();
            if let Some(escape) = escape(letter) {
                self.put(&escape);
            } else if may_fold && letter == ' ' && !was_space && self.column > WIDTH && !is_first && next.is_some() {
                self.line(indent);
                if next == Some(' ') {
                    self.put("\\");
                }
            } else {
                self.put(letter.encode_utf8(&mut [0; 4]));
            }
            (is_first, was_space) = (false, letter == ' ');
        }
        self.put("\"");
    }

    fn block(&mut self, text: &str, indent: usize) {
        self.put("|");
        if text.starts_with([' ', '\n']) {
            self.put("2");
        }
        let body = text.strip_suffix('\n');
        self.put(match body {
            None => "-",
            Some("") => "+",
            Some(body) if body.ends_with('\n') => "+",
            Some(_) => "",
        });
        for line in body.unwrap_or(text).split('\n') {
            self.out.push('\n');
            self.column = 0;
            if !line.is_empty() {
                self.put(&" ".repeat(indent));
                self.put(line);
            }
        }
        self.out.push('\n');
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Folding {
    AtSpaces,
    Never,
}

/// The styles in which a text can be written. Source: emitterc.go (v2.4), `yaml_emitter_analyze_scalar`.
struct Analysis {
    may_be_plain: bool,
    may_be_block: bool,
    /// Whether it has characters that only an escape can represent.
    is_special: bool,
}

impl Analysis {
    fn of(text: &str) -> Self {
        let mut has_indicator = text.starts_with("---") || text.starts_with("...");
        let mut is_special = false;
        let mut before = ' ';
        let mut has_space_before_break = false;
        let mut rest = text.chars().peekable();
        let mut is_first = true;
        while let Some(letter) = rest.next() {
            let ends = rest.peek().is_none_or(|next| matches!(next, ' ' | '\t' | '\n' | '\r'));
            has_indicator |= match letter {
                '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`'
                    if is_first =>
                {
                    true
                }
                '?' | '-' if is_first => ends,
                ':' => ends,
                '#' => matches!(before, ' ' | '\t' | '\n'),
                _ => false,
            };
            has_space_before_break |= letter == '\n' && before == ' ' && !is_first;
            is_special |= !is_printable(letter);
            (before, is_first) = (letter, false);
        }
        let is_framed = text.starts_with([' ', '\n']) || text.ends_with([' ', '\n']);
        Self {
            may_be_plain: !has_indicator && !is_special && !is_framed && !text.contains('\n'),
            may_be_block: !is_special && !text.ends_with(' ') && !has_space_before_break,
            is_special,
        }
    }
}

/// Source: yamlprivateh.go (v2.4), `is_printable`; a tab counts as none.
fn is_printable(letter: char) -> bool {
    matches!(letter, '\n' | '\u{20}'..='\u{7e}' | '\u{85}' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}'
        | '\u{ff00}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}')
}

fn escape(letter: char) -> Option<String> {
    let short = match letter {
        '"' => "\\\"",
        '\\' => "\\\\",
        '\n' => "\\n",
        '\t' => "\\t",
        '\r' => "\\r",
        '\0' => "\\0",
        '\u{7}' => "\\a",
        '\u{8}' => "\\b",
        '\u{b}' => "\\v",
        '\u{c}' => "\\f",
        '\u{1b}' => "\\e",
        '\u{feff}' => "\\uFEFF",
        letter if is_printable(letter) => return None,
        letter => return Some(format!("\\x{:02X}", u32::from(letter))),
    };
    Some(short.to_string())
}

/// Tells whether a text without quotes would be read as a text.
fn is_string(text: &str) -> bool {
    let lower = text.to_lowercase();
    // A word is known in small letters, in capitals and with a capital in front.
    let is_cased = text == lower || text == text.to_uppercase() || text.get(1..) == lower.get(1..);
    if is_cased && WORDS.contains(&lower.as_str()) {
        return false;
    }
    !(is_number(text) || is_sixties(text) || is_date(text))
}

fn is_number(text: &str) -> bool {
    let plain = text.replace('_', "");
    let digits = plain.strip_prefix(['+', '-']).unwrap_or(&plain);
    if matches!(digits, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let of = |prefix: &str, radix: u32| {
        digits.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_digit(radix)))
    };
    if of("0x", 16) || of("0X", 16) || of("0b", 2) || of("0o", 8) {
        return true;
    }
    if !text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-' | '.')) {
        return false;
    }
    let (mantissa, exponent) = digits.split_once(['e', 'E']).map_or((digits, None), |(a, b)| (a, Some(b)));
    let exponent = exponent.map(|power| power.strip_prefix(['+', '-']).unwrap_or(power));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    are_digits(whole)
        && are_digits(fraction)
        && whole.len() + fraction.len() > 0
        && exponent.is_none_or(|power| !power.is_empty() && are_digits(power))
}

/// Tells whether a text is a number in base sixty, which YAML 1.1 has: `190:20:30`.
fn is_sixties(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, _) = digits.split_once('.').unwrap_or((digits, ""));
    let mut parts = whole.split(':');
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.next().is_some_and(is_digits)
        && whole.contains(':')
        && parts.all(|part| is_digits(part) && part.len() <= 2 && (part.len() < 2 || part.as_bytes()[0] < b'6'))
}

fn is_date(text: &str) -> bool {
    let is_day = |text: &str| {
        let mut parts = text.splitn(3, '-');
        let mut next = |lengths: core::ops::RangeInclusive<usize>| {
            parts
                .next()
                .is_some_and(|part| lengths.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit()))
        };
        next(4..=4) && next(1..=2) && next(1..=2)
    };
    is_day(text) || text.starts_with(|first: char| first.is_ascii_digit()) && time::parse(text).is_some()
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::print;
    use crate::json;

    #[test]
    fn objects_and_lists_are_printed_as_kubernetes_prints_them() {
        let value = json!({
            "kind": "Node", "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}, {"key": "b"}], "podCIDRs": []},
            "status": {"daemonEndpoints": {"kubeletEndpoint": {"Port": 0}}, "nodeInfo": {}, "lists": [["x"], [1,
                null]]},
            "metadata": {"creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"on": "yes"}, "resourceVersion": "7"},
        });
        let text = "kind: Node\nmetadata:\n  creationTimestamp: \"2026-01-01T00:00:00Z\"\n  \
            labels:\n    \"on\": \"yes\"\n  \
                    resourceVersion: \"7\"\nspec:\n  podCIDRs: []\n  taints:\n  - effect: NoSchedule\n    key: a\n  - \
                    key: b\n\
                    status:\n  daemonEndpoints:\n    kubeletEndpoint:\n      Port: 0\n  lists:\n  - - x\n  - - 1\n    \
                    - null\n  \
                    nodeInfo: {}\n";
        assert_eq!(print(&value), text);
    }

    #[test]
    fn a_text_has_quotes_where_it_would_be_something_else() {
        let cases = [
            ("n1", "n1"),
            ("", "\"\""),
            ("~", "\"~\""),
            ("True", "\"True\""),
            ("tRue", "tRue"),
            ("1e3", "\"1e3\""),
            ("1Gi", "1Gi"),
            ("0x1f", "\"0x1f\""),
            ("10.0.0.1", "10.0.0.1"),
            ("1.34", "\"1.34\""),
            ("10:30", "\"10:30\""),
            ("2026-01-02", "\"2026-01-02\""),
            ("127.0.0.1:6443", "127.0.0.1:6443"),
            ("a: b", "'a: b'"),
            ("it's: so", "'it''s: so'"),
            ("#x", "'#x'"),
            ("a #x", "'a #x'"),
            ("a#x", "a#x"),
            ("- x", "'- x'"),
            ("-x", "-x"),
            ("*", "'*'"),
            (" x", "' x'"),
            ("x:", "'x:'"),
            ("a\tb", "\"a\\tb\""),
            ("nodes \"zz\" not found", "nodes \"zz\" not found"),
            ("\"x\"", "'\"x\"'"),
        ];
        for (text, printed) in cases {
            assert_eq!(print(&json!({"a": text})), format!("a: {printed}\n"), "{text:?}");
        }
    }

    #[test]
    fn long_texts_are_folded_at_a_space_beyond_eighty_characters() {
        let long = "only the following media types are accepted: application/json;stream=watch, \
                    application/vnd.kubernetes.protobuf;stream=watch";
        let printed = "message: 'only the following media types are accepted: application/json;stream=watch,\n  \
                       application/vnd.kubernetes.protobuf;stream=watch'\n";
        assert_eq!(print(&json!({"message": long})), printed);
    }

    #[test]
    fn lines_are_a_block() {
        let text = "406: Not Acceptable\n\nAvailable representations: application/json";
        let printed = "a:\n  message: |-\n    406: Not Acceptable\n\n    Available representations: application/json\n";
        assert_eq!(print(&json!({"a": {"message": text}})), printed);
        assert_eq!(print(&json!({"a": "x\n"})), "a: |\n  x\n");
        assert_eq!(print(&json!({"a": "x\n\n"})), "a: |+\n  x\n\n");
    }
}
