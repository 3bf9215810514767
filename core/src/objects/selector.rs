//! Label and field selectors. Inputs: texts, or selectors of objects. Outputs: parsed selectors, or the API server's
//! message; whether labels or an object match.
//!
//! Mirrors k8s.io/apimachinery pkg/labels/selector.go and pkg/fields/selector.go (v1.34).

mod fields;
mod printed;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub use self::fields::FieldSelector;
pub use self::printed::selector_text;
use super::names::{self, Wording};
use super::{Json, Text};

/// How a term compares.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
    GreaterThan,
    LessThan,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Requirement {
    key: Text,
    operator: Operator,
    values: Vec<Text>,
}

/// A selector over labels: all its terms have to hold.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Selector(Vec<Requirement>);

impl Selector {
    /// Reads a selector; the wording is that of the release.
    ///
    /// # Errors
    /// The message of the API server.
    pub fn parse(text: &str, wording: Wording) -> Result<Self, String> {
        let mut parser = Parser { tokens: tokens(text), at: 0, wording };
        parser.selector().map(Self)
    }

    /// Reads a `LabelSelector` as objects have it; `None` for one that is not there, which selects nothing.
    ///
    /// Source: k8s.io/apimachinery pkg/apis/meta/v1/helpers.go (v1.34), `LabelSelectorAsSelector`.
    #[must_use]
    pub fn of_object(selector: &Json) -> Option<Self> {
        if selector.is_null() {
            return None;
        }
        let mut read = Self::of_labels(selector.get("matchLabels"));
        for expression in selector.get("matchExpressions").items() {
            let operator = match expression.get("operator").as_str() {
                Some("In") => Operator::In,
                Some("NotIn") => Operator::NotIn,
                Some("Exists") => Operator::Exists,
                Some("DoesNotExist") => Operator::DoesNotExist,
                _ => return None,
            };
            let key = expression.get("key").as_text()?.clone();
            let values = expression.get("values").items().iter().filter_map(|value| value.as_text().cloned()).collect();
            read.0.push(Requirement { key, operator, values });
        }
        Some(read)
    }

    /// Selects what has these labels.
    #[must_use]
    pub fn of_labels(labels: &Json) -> Self {
        let equal = |(key, value): (&Text, &Json)| Requirement {
            key: key.clone(),
            operator: Operator::In,
            values: value.as_text().cloned().into_iter().collect(),
        };
        Self(labels.fields().map(equal).collect())
    }

    /// Selects what both select.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
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

/// Tells whether the selector of an object, `matchLabels` and `matchExpressions`, selects labels; one that is absent
/// selects nothing.
#[must_use]
pub fn selects(selector: &Json, labels: &Json) -> bool {
    let fits = |term: &Json| {
        let value = labels.get(term.get("key").as_str().unwrap_or(""));
        let values = term.get("values").items();
        match term.get("operator").as_str().unwrap_or("") {
            "In" => values.contains(value),
            "NotIn" => !values.contains(value),
            "Exists" => !value.is_null(),
            "DoesNotExist" => value.is_null(),
            _ => false,
        }
    };
    selector.is_object()
        && selector.get("matchLabels").fields().all(|(key, value)| labels.get(key) == value)
        && selector.get("matchExpressions").items().iter().all(fits)
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Token {
    Word(String),
    Symbol(&'static str),
    End,
}

impl Token {
    fn literal(&self) -> &str {
        match self {
            Self::Word(word) => word,
            Self::Symbol(symbol) => symbol,
            Self::End => "",
        }
    }
}

/// Splits a selector as upstream's lexer does; whether `in` and `notin` are operators depends on their position.
fn tokens(text: &str) -> Vec<Token> {
    const SYMBOLS: [&str; 9] = ["==", "!=", "!", "=", "(", ")", ",", ">", "<"];
    let is_special = |c: char| "!=(),<>".contains(c);
    let mut tokens = Vec::new();
    // A zero is the end of the text for upstream's lexer, as the end itself is a zero.
    let mut rest = text.split('\0').next().unwrap_or_default().trim_start();
    while !rest.is_empty() {
        if let Some(symbol) = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol)) {
            tokens.push(Token::Symbol(symbol));
            rest = &rest[symbol.len()..];
        } else {
            let end = rest.find(|c: char| c.is_whitespace() || is_special(c)).unwrap_or(rest.len());
            tokens.push(Token::Word(rest[..end].to_string()));
            rest = &rest[end..];
        }
        rest = rest.trim_start();
    }
    tokens.push(Token::End);
    tokens
}

/// Reads the tokens as `Parser` in selector.go (v1.34) does, with its messages.
struct Parser {
    tokens: Vec<Token>,
    at: usize,
    wording: Wording,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn take(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    fn selector(&mut self) -> Result<Vec<Requirement>, String> {
        let mut requirements = Vec::new();
        loop {
            match self.peek() {
                Token::Word(_) | Token::Symbol("!") => {
                    let requirement =
                        self.requirement().map_err(|why| format!("unable to parse requirement: {why}"))?;
                    requirements.push(requirement);
                    match self.take() {
                        Token::End => return Ok(requirements),
                        Token::Symbol(",") => {
                            if !matches!(self.peek(), Token::Word(_) | Token::Symbol("!")) {
                                let found = self.peek().literal();
                                return Err(format!("found '{found}', expected: identifier after ','"));
                            }
                        }
                        other => {
                            return Err(format!("found '{}', expected: ',' or 'end of string'", other.literal()));
                        }
                    }
                }
                Token::End => return Ok(requirements),
                other => {
                    return Err(format!("found '{}', expected: !, identifier, or 'end of string'", other.literal()));
                }
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let absent = *self.peek() == Token::Symbol("!");
        if absent {
            self.at += 1;
        }
        let Token::Word(key) = self.take() else {
            self.at -= 1;
            return Err(format!("found '{}', expected: identifier", self.peek().literal()));
        };
        let problems = names::qualified(&key, self.wording);
        if !problems.is_empty() {
            return Err(format!("<nil>: Invalid value: {key:?}: {}", problems.join("; ")));
        }
        if absent || matches!(self.peek(), Token::End | Token::Symbol(",")) {
            let operator = if absent { Operator::DoesNotExist } else { Operator::Exists };
            return Ok(Requirement { key: Text::from(key), operator, values: Vec::new() });
        }
        let operator = self.operator()?;
        let values = match (&operator, self.tokens[self.at - 1].literal()) {
            (Operator::In | Operator::NotIn, "in" | "notin") => self.values()?,
            _ => Vec::from([self.value()?]),
        };
        self.check(&key, operator, &values)?;
        Ok(Requirement { key: Text::from(key), operator, values: values.into_iter().map(Text::from).collect() })
    }

    fn operator(&mut self) -> Result<Operator, String> {
        let token = self.take();
        match token.literal() {
            "in" | "=" | "==" => Ok(Operator::In),
            "notin" | "!=" => Ok(Operator::NotIn),
            ">" => Ok(Operator::GreaterThan),
            "<" => Ok(Operator::LessThan),
            other => Err(format!("found '{other}', expected: in, notin, =, ==, !=, gt, lt")),
        }
    }

    /// Reads one value, which may be empty at the end of a term.
    fn value(&mut self) -> Result<String, String> {
        match self.peek() {
            Token::End | Token::Symbol(",") => Ok(String::new()),
            Token::Word(word) => {
                let word = word.clone();
                self.at += 1;
                Ok(word)
            }
            Token::Symbol(symbol) => Err(format!("found '{symbol}', expected: identifier")),
        }
    }

    /// Reads `(a,b)`.
    fn values(&mut self) -> Result<Vec<String>, String> {
        let open = self.take();
        if open != Token::Symbol("(") {
            return Err(format!("found '{}' expected: '('", open.literal()));
        }
        match self.peek() {
            Token::Word(_) | Token::Symbol(",") => self.list(),
            Token::Symbol(")") => {
                self.at += 1;
                Ok(Vec::from([String::new()]))
            }
            other => Err(format!("found '{}', expected: ',', ')' or identifier", other.literal())),
        }
    }

    /// Reads values up to the `)`; those that are missing between commas are empty, and each value counts once.
    ///
    /// Source: selector.go (v1.34, v1.35), `parseIdentifiersList`.
    fn list(&mut self) -> Result<Vec<String>, String> {
        let mut values = Vec::new();
        let add = |values: &mut Vec<String>, value: String| {
            if !values.contains(&value) {
                values.push(value);
            }
        };
        loop {
            match self.take() {
                Token::Word(word) => {
                    add(&mut values, word);
                    if !matches!(self.peek(), Token::Symbol("," | ")")) {
                        return Err(format!("found '{}', expected: ',' or ')'", self.peek().literal()));
                    }
                }
                Token::Symbol(",") => {
                    let is_followed = matches!(self.peek(), Token::Symbol("," | ")"));
                    if is_followed || values.is_empty() {
                        add(&mut values, String::new());
                    }
                    // Up to 1.34 a second comma is taken with the first, so that a value or a third has to follow.
                    if *self.peek() == Token::Symbol(",") && self.wording == Wording::Characters {
                        self.at += 1;
                        continue;
                    }
                }
                other => return Err(format!("found '{}', expected: ',', or identifier", other.literal())),
            }
            if *self.peek() == Token::Symbol(")") {
                self.at += 1;
                return Ok(values);
            }
        }
    }

    fn check(&self, key: &str, operator: Operator, values: &[String]) -> Result<(), String> {
        for (at, value) in values.iter().enumerate() {
            let compares = matches!(operator, Operator::GreaterThan | Operator::LessThan);
            if compares && value.parse::<i64>().is_err() {
                let why = "for 'Gt', 'Lt' operators, the value must be an integer";
                return Err(format!("values[{at}]: Invalid value: {value:?}: {why}"));
            }
            let problems = names::label_value(value, self.wording);
            if !problems.is_empty() {
                return Err(format!("values[{at}][{key}]: Invalid value: {value:?}: {}", problems.join("; ")));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::{FieldSelector, Selector, selects};
    use crate::json;
    use crate::objects::names::Wording;

    #[test]
    fn terms_match_labels() {
        let labels = json!({"a": "1", "n": "5", "zone": "x"});
        let cases = [
            ("a in (1,2)", true),
            ("a notin (1,2)", false),
            ("b notin (1,2)", true),
            ("a in ()", false),
            ("a=1,zone!=y", true),
            ("a", true),
            ("!a", false),
            ("!b", true),
            ("n>4", true),
            ("n<5", false),
            ("b!=1", true),
            ("zone in (x), a == 1", true),
            ("", true),
        ];
        for (text, expected) in cases {
            let selector = Selector::parse(text, Wording::Characters).unwrap();
            assert_eq!(selector.matches(&labels), expected, "{text}");
        }
    }

    #[test]
    fn malformed_selectors_are_refused_in_the_servers_words() {
        let cases = [
            ("a=b=c", "found '=', expected: ',' or 'end of string'"),
            ("=b", "found '=', expected: !, identifier, or 'end of string'"),
            ("a!=b,", "found '', expected: identifier after ','"),
            ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
            ("a in", "unable to parse requirement: found '' expected: '('"),
            ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
            ("!", "unable to parse requirement: found '', expected: identifier"),
            ("a<=1", "unable to parse requirement: found '=', expected: identifier"),
            (
                "a>x",
                "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value \
                    must be an integer",
            ),
        ];
        for (text, message) in cases {
            assert_eq!(Selector::parse(text, Wording::Characters).unwrap_err(), message, "{text}");
        }
    }

    #[test]
    fn values_that_are_missing_between_commas_are_empty() {
        let refused = "unable to parse requirement: found ')', expected: ',', or identifier";
        let cases = [
            ("a in ()", Ok(&[""][..]), Ok(&[""][..])),
            ("a in (,)", Ok(&[""]), Ok(&[""])),
            ("a in (1,)", Ok(&["1", ""]), Ok(&["1", ""])),
            ("a in (1,,)", Err(refused), Ok(&["1", ""])),
            ("a in (1,,,)", Ok(&["1", ""]), Ok(&["1", ""])),
            ("a in (1,,2,1)", Ok(&["1", "", "2"]), Ok(&["1", "", "2"])),
            ("a in (,1)", Ok(&["", "1"]), Ok(&["", "1"])),
            ("a in (,,)", Err(refused), Ok(&[""])),
            ("a=1\0,=", Ok(&["1"]), Ok(&["1"])),
        ];
        for (text, before, later) in cases {
            for (wording, wanted) in [(Wording::Characters, before), (Wording::Bytes, later)] {
                let read = Selector::parse(text, wording);
                let values = read.as_ref().map(|own| own.0[0].values.iter().map(|value| value.as_str()).collect());
                assert_eq!(values.map_err(String::as_str), wanted.map(Vec::from), "{text:?} {wording:?}");
            }
        }
    }

    #[test]
    fn fields_compare_as_text() {
        let node = json!({"metadata": {"name": "n1"}, "spec": {}});
        for (text, expected) in [
            ("metadata.name=n1", true),
            ("metadata.name!=n1", false),
            ("spec.unschedulable=false", true),
            ("metadata.name=n1,", true),
        ] {
            assert_eq!(FieldSelector::parse(text).unwrap().matches("nodes", &node), expected, "{text}");
        }
        assert_eq!(
            FieldSelector::parse("a=b=c").unwrap_err(),
            "invalid field selector: unescaped character in value: 61"
        );
    }

    #[test]
    fn the_selector_of_an_object_selects_by_labels_and_an_absent_one_nothing() {
        let labels = json!({"app": "x"});
        let cases = [
            (json!(null), false),
            (json!({}), true),
            (json!({"matchLabels": {"app": "x"}}), true),
            (json!({"matchLabels": {"app": "y"}}), false),
            (json!({"matchExpressions": [{"key": "app", "operator": "In", "values": ["x", "y"]}]}), true),
            (json!({"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["a"]}]}), true),
            (json!({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}), false),
        ];
        for (selector, expected) in cases {
            assert_eq!(selects(&selector, &labels), expected, "{selector}");
        }
    }
}
