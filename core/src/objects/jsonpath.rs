//! kubectl's JSONPath: `{.status.conditions[?(@.type=="Ready")].status}`.
//!
//! Mirrors k8s.io/client-go/util/jsonpath/{parser,jsonpath}.go (v1.34), with the relaxed form without braces that
//! kubectl's `--for=jsonpath` takes (k8s.io/kubectl pkg/cmd/get/customcolumn.go, `RelaxedJSONPathExpression`).
//! Inputs: an expression, a tree. Outputs: the values found, in order. A field that is missing yields nothing.
//! Left out on purpose: text around the braces, `range`/`end` and several pairs of braces, since one value is asked
//! for.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::str::FromStr;

use super::Json;

/// The longest expression, in characters: nested filters make the parser recurse.
const LETTERS_MAX: usize = 2_000;

/// A parsed expression.
#[derive(Clone, PartialEq, Debug)]
pub struct JsonPath(Vec<PathNode>);

/// Why a text is no expression, and the column (from 1, in characters) of the error.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{what} at column {column}")]
pub struct JsonPathError {
    /// What is wrong.
    pub what: String,
    /// Where.
    pub column: usize,
}

#[derive(Clone, PartialEq, Debug)]
enum PathNode {
    Field(String),
    /// `.*` and `[*]`.
    Every,
    /// `..name`: the value itself and everything below it.
    Descend,
    Slice {
        from: Option<i64>,
        to: Option<i64>,
        step: i64,
    },
    Index(i64),
    /// `[0,2]`, `['a','b']`.
    Union(Vec<PathNode>),
    Filter(Box<Filter>),
}

#[derive(Clone, PartialEq, Debug)]
struct Filter {
    left: Operand,
    comparison: Option<(ComparisonOperator, Operand)>,
}

#[derive(Clone, PartialEq, Debug)]
enum Operand {
    Path(Vec<PathNode>),
    Value(Json),
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum ComparisonOperator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl JsonPath {
    /// Returns the values that the expression finds, in the order of the tree.
    #[must_use]
    pub fn find<'a>(&self, tree: &'a Json) -> Vec<&'a Json> {
        walk(&self.0, tree)
    }

    /// Returns what kubectl prints: the values with blanks between them; nothing where nothing is found.
    #[must_use]
    pub fn print(&self, tree: &Json) -> String {
        let found: Vec<String> = self.find(tree).into_iter().map(printed).collect();
        found.join(" ")
    }
}

fn printed(value: &Json) -> String {
    value.as_str().map_or_else(|| if value.is_null() { String::new() } else { value.to_string() }, ToOwned::to_owned)
}

fn walk<'a>(steps: &[PathNode], tree: &'a Json) -> Vec<&'a Json> {
    steps
        .iter()
        .fold(Vec::from([tree]), |values, step| values.into_iter().flat_map(|value| apply(step, value)).collect())
}

fn apply<'a>(step: &PathNode, value: &'a Json) -> Vec<&'a Json> {
    match step {
        PathNode::Field(name) => Vec::from_iter(Some(value.get(name)).filter(|found| !found.is_null())),
        PathNode::Every => children(value),
        PathNode::Descend => descend(value),
        PathNode::Index(index) => {
            let items = value.items();
            Vec::from_iter(place(*index, items.len()).and_then(|at| items.get(at)))
        }
        PathNode::Slice { from, to, step } => slice(value.items(), *from, *to, *step),
        PathNode::Union(steps) => steps.iter().flat_map(|step| apply(step, value)).collect(),
        PathNode::Filter(filter) => children(value).into_iter().filter(|item| filter.holds(item)).collect(),
    }
}

fn children(value: &Json) -> Vec<&Json> {
    if value.is_array() { value.items().iter().collect() } else { value.fields().map(|(_, value)| value).collect() }
}

fn descend(value: &Json) -> Vec<&Json> {
    let mut all = Vec::from([value]);
    for child in children(value) {
        all.extend(descend(child));
    }
    all
}

fn place(index: i64, length: usize) -> Option<usize> {
    let length = i64::try_from(length).ok()?;
    usize::try_from(if index < 0 { index + length } else { index }).ok()
}

fn slice(items: &[Json], from: Option<i64>, to: Option<i64>, step: i64) -> Vec<&Json> {
    let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
    let bound = |index: i64| if index < 0 { index + length } else { index }.clamp(0, length);
    let from = usize::try_from(bound(from.unwrap_or(0))).unwrap_or(0);
    let to = usize::try_from(bound(to.unwrap_or(length))).unwrap_or(0);
    let step = usize::try_from(step).unwrap_or(1).max(1);
    items.get(from..to).unwrap_or_default().iter().step_by(step).collect()
}

impl Filter {
    fn holds(&self, item: &Json) -> bool {
        let left = self.left.values(item);
        let Some((comparison, right)) = &self.comparison else { return !left.is_empty() };
        let right = right.values(item);
        match (left.as_slice(), right.as_slice()) {
            ([left], [right]) => comparison.holds(left, right),
            _ => false,
        }
    }
}

impl Operand {
    fn values<'a>(&'a self, item: &'a Json) -> Vec<&'a Json> {
        match self {
            Self::Path(steps) => walk(steps, item),
            Self::Value(value) => Vec::from([value]),
        }
    }
}

impl ComparisonOperator {
    fn holds(self, left: &Json, right: &Json) -> bool {
        let order = match (left, right) {
            (Json::Str(left), Json::Str(right)) => left.as_str().partial_cmp(right.as_str()),
            (Json::Bool(left), Json::Bool(right)) => left.partial_cmp(right),
            (left, right) => number(left).zip(number(right)).and_then(|(left, right)| left.partial_cmp(&right)),
        };
        match self {
            Self::Equal => order.is_some_and(core::cmp::Ordering::is_eq),
            Self::NotEqual => !order.is_some_and(core::cmp::Ordering::is_eq),
            Self::Less => order.is_some_and(core::cmp::Ordering::is_lt),
            Self::LessOrEqual => order.is_some_and(core::cmp::Ordering::is_le),
            Self::Greater => order.is_some_and(core::cmp::Ordering::is_gt),
            Self::GreaterOrEqual => order.is_some_and(core::cmp::Ordering::is_ge),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers are compared as client-go compares mixed types")]
fn number(value: &Json) -> Option<f64> {
    match value {
        Json::Int(number) => Some(*number as f64),
        Json::Float(number) => Some(*number),
        _ => None,
    }
}

impl FromStr for JsonPath {
    type Err = JsonPathError;

    fn from_str(text: &str) -> Result<Self, JsonPathError> {
        let letters: Vec<char> = text.chars().collect();
        let mut parser = Parser { letters: &letters, at: 0 };
        if letters.len() > LETTERS_MAX {
            return parser.error("the expression is too long");
        }
        let braced = parser.eat('{');
        parser.blanks();
        if !braced && !matches!(parser.peek(), Some('.' | '[' | '$' | '@')) {
            // kubectl's relaxed form allows the first dot to be left out.
            let first = parser.name()?;
            let mut steps = Vec::from([PathNode::Field(first)]);
            steps.extend(parser.steps()?);
            return parser.end(false).map(|()| Self(steps));
        }
        let steps = parser.path()?;
        parser.end(braced).map(|()| Self(steps))
    }
}

struct Parser<'a> {
    letters: &'a [char],
    at: usize,
}

impl Parser<'_> {
    fn error<T>(&self, what: impl Into<String>) -> Result<T, JsonPathError> {
        Err(JsonPathError { what: what.into(), column: self.at + 1 })
    }

    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    fn eat(&mut self, letter: char) -> bool {
        let there = self.peek() == Some(letter);
        self.at += usize::from(there);
        there
    }

    fn eat_all(&mut self, word: &str) -> bool {
        let there = word.chars().enumerate().all(|(at, letter)| self.letters.get(self.at + at) == Some(&letter));
        if there {
            self.at += word.chars().count();
        }
        there
    }

    fn blanks(&mut self) {
        while self.peek() == Some(' ') {
            self.at += 1;
        }
    }

    fn end(&mut self, braced: bool) -> Result<(), JsonPathError> {
        self.blanks();
        if braced && !self.eat('}') {
            return self.error("a closing brace is missing");
        }
        if self.at < self.letters.len() { self.error("the expression should end here") } else { Ok(()) }
    }

    /// Reads `$.a[0]`, `@.a`, `.a`.
    fn path(&mut self) -> Result<Vec<PathNode>, JsonPathError> {
        let rooted = self.eat('$') || self.eat('@');
        let begin = self.at;
        let steps = self.steps()?;
        if !rooted && begin == self.at { self.error("a path is missing, as .status.phase") } else { Ok(steps) }
    }

    fn steps(&mut self) -> Result<Vec<PathNode>, JsonPathError> {
        let mut steps = Vec::new();
        loop {
            if self.eat_all("..") {
                steps.push(PathNode::Descend);
                if self.peek() != Some('[') {
                    steps.push(self.field()?);
                }
            } else if self.eat('.') {
                if matches!(self.peek(), Some('[') | Some('}') | None) && steps.is_empty() {
                    continue;
                }
                steps.push(self.field()?);
            } else if self.eat('[') {
                steps.push(self.bracket()?);
            } else {
                return Ok(steps);
            }
        }
    }

    fn field(&mut self) -> Result<PathNode, JsonPathError> {
        if self.eat('*') { Ok(PathNode::Every) } else { self.name().map(PathNode::Field) }
    }

    /// Reads a field's name; a backslash takes the next letter as it is: `kubernetes\.io/arch`.
    fn name(&mut self) -> Result<String, JsonPathError> {
        let mut name = String::new();
        while let Some(letter) = self.peek() {
            match letter {
                '\\' => {
                    self.at += 1;
                    let Some(next) = self.peek() else { return self.error("a letter is missing behind the backslash") };
                    name.push(next);
                }
                '.' | '[' | ']' | '{' | '}' | ' ' | ')' | '(' | '=' | '!' | '<' | '>' | '\'' | '"' | ',' => break,
                other => name.push(other),
            }
            self.at += 1;
        }
        if name.is_empty() { self.error("a field's name is missing") } else { Ok(name) }
    }

    fn bracket(&mut self) -> Result<PathNode, JsonPathError> {
        if self.eat_all("?(") {
            return self.filter();
        }
        let mut steps = Vec::from([self.selection()?]);
        while self.eat(',') {
            steps.push(self.selection()?);
        }
        self.blanks();
        if !self.eat(']') {
            return self.error("a closing bracket is missing");
        }
        Ok(if steps.len() == 1 { steps.swap_remove(0) } else { PathNode::Union(steps) })
    }

    fn selection(&mut self) -> Result<PathNode, JsonPathError> {
        self.blanks();
        match self.peek() {
            Some('*') => {
                self.at += 1;
                Ok(PathNode::Every)
            }
            Some('\'' | '"') => self.quoted().map(PathNode::Field),
            Some('0'..='9' | '-' | ':') => self.slice(),
            _ => self.error("a number, a quoted name, * or ?( ) is needed in brackets"),
        }
    }

    fn slice(&mut self) -> Result<PathNode, JsonPathError> {
        let from = self.integer()?;
        if !self.eat(':') {
            return Ok(PathNode::Index(from.unwrap_or(0)));
        }
        let to = self.integer()?;
        let step = if self.eat(':') { self.integer()?.unwrap_or(1) } else { 1 };
        if step < 1 { self.error("the step must be at least 1") } else { Ok(PathNode::Slice { from, to, step }) }
    }

    fn integer(&mut self) -> Result<Option<i64>, JsonPathError> {
        let begin = self.at;
        self.eat('-');
        while matches!(self.peek(), Some('0'..='9')) {
            self.at += 1;
        }
        if begin == self.at {
            return Ok(None);
        }
        let text: String = self.letters[begin..self.at].iter().collect();
        text.parse().map(Some).or_else(|_| self.error("a whole number is needed"))
    }

    fn quoted(&mut self) -> Result<String, JsonPathError> {
        let Some(quote) = self.peek() else { return self.error("a quotation is missing") };
        self.at += 1;
        let mut text = String::new();
        while let Some(letter) = self.peek() {
            self.at += 1;
            match letter {
                letter if letter == quote => return Ok(text),
                '\\' => {
                    let Some(next) = self.peek() else { break };
                    self.at += 1;
                    text.push(next);
                }
                other => text.push(other),
            }
        }
        self.error("a closing quotation mark is missing")
    }

    fn filter(&mut self) -> Result<PathNode, JsonPathError> {
        let left = self.operand()?;
        self.blanks();
        let comparison = match self.comparison() {
            Some(comparison) => Some((comparison, self.operand()?)),
            None => None,
        };
        self.blanks();
        if self.eat_all(")]") {
            Ok(PathNode::Filter(Box::new(Filter { left, comparison })))
        } else {
            self.error("the filter should end here with )]")
        }
    }

    fn comparison(&mut self) -> Option<ComparisonOperator> {
        const SIGNS: [(&str, ComparisonOperator); 6] = [
            ("==", ComparisonOperator::Equal),
            ("!=", ComparisonOperator::NotEqual),
            ("<=", ComparisonOperator::LessOrEqual),
            (">=", ComparisonOperator::GreaterOrEqual),
            ("<", ComparisonOperator::Less),
            (">", ComparisonOperator::Greater),
        ];
        SIGNS.into_iter().find(|(sign, _)| self.eat_all(sign)).map(|(_, comparison)| comparison)
    }

    fn operand(&mut self) -> Result<Operand, JsonPathError> {
        self.blanks();
        match self.peek() {
            Some('\'' | '"') => Ok(Operand::Value(Json::from(self.quoted()?))),
            Some('@' | '.' | '$') => self.path().map(Operand::Path),
            Some('0'..='9' | '-') => {
                let begin = self.at;
                while matches!(self.peek(), Some('0'..='9' | '-' | '.' | 'e' | 'E' | '+')) {
                    self.at += 1;
                }
                let text: String = self.letters[begin..self.at].iter().collect();
                Json::parse(&text).map(Operand::Value).or_else(|_| self.error("a number is needed"))
            }
            _ if self.eat_all("true") => Ok(Operand::Value(Json::Bool(true))),
            _ if self.eat_all("false") => Ok(Operand::Value(Json::Bool(false))),
            _ => self.error("a path, a quoted text, a number, true or false is needed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::JsonPath;
    use crate::json;

    #[test]
    fn expressions_find_what_kubectl_finds() {
        let node = json!({
            "metadata": {"name": "w1", "labels": {"kubernetes.io/arch": "amd64"}},
            "spec": {"unschedulable": true, "taints": [{"key": "a", "n": 1}, {"key": "b", "n": 2}, {"key": "c",
                "n": 3}]},
            "status": {"conditions": [{"type": "DiskPressure", "status": "False"}, {"type": "Ready",
                "status": "Unknown"}]},
        });
        for (expression, printed) in [
            ("{.metadata.name}", "w1"),
            ("metadata.name", "w1"),
            (".metadata.name", "w1"),
            ("{$.metadata['name']}", "w1"),
            ("{@.spec.unschedulable}", "true"),
            (r"{.metadata.labels.kubernetes\.io/arch}", "amd64"),
            (r#"{.metadata.labels["kubernetes.io/arch"]}"#, "amd64"),
            (r#"{.status.conditions[?(@.type=="Ready")].status}"#, "Unknown"),
            (r"{.status.conditions[?(@.type != 'Ready')].status}", "False"),
            ("{.spec.taints[*].key}", "a b c"),
            ("{.spec.taints[-1].key}", "c"),
            ("{.spec.taints[0:2].key}", "a b"),
            ("{.spec.taints[0,2].key}", "a c"),
            ("{.spec.taints[?(@.n>=2)].key}", "b c"),
            ("{.spec.taints[?(@.missing)].key}", ""),
            ("{..key}", "a b c"),
            ("{.spec.taints[9].key}", ""),
            ("{.status.phase}", ""),
        ] {
            let path: JsonPath = expression.parse().unwrap_or_else(|error| panic!("{expression}: {error}"));
            assert_eq!(path.print(&node), printed, "{expression}");
        }
    }

    #[test]
    fn what_is_no_expression_is_refused_with_its_column() {
        for (expression, column) in [
            ("", 1),
            ("{", 2),
            ("{}", 2),
            ("{.a", 4),
            ("{.a}{.b}", 5),
            ("{.a[}", 5),
            ("{.a[?(@.b=)]}", 10),
            ("{.a[?(@.b==\"x)]}", 17),
            ("{.a[1:2:0]}", 10),
            ("{.a..}", 6),
        ] {
            let error = expression.parse::<JsonPath>().unwrap_err();
            assert_eq!(error.column, column, "{expression}: {error}");
        }
    }
}
