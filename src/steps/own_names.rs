//! What a scenario itself says before anything is expected: the names in it are meant.
//!
//! Input: a case. Output: whether a name is set, or an object named. Only what a parameter of a sentence, a cell of a
//! table or a value of a document holds is a name, and only as a whole: the prose of a sentence says "ready" in every
//! scenario. A sentence of `Given` and `When` that is also one of `Then` waits for something, and sets nothing.

use gherkin::{Step, StepType};
use serde::Deserialize as _;
use serde_yaml::Value;

use crate::load::Case;

/// The container of the Pods that sentences make.
pub(super) const MAIN: &str = "main";

/// What the parameters of a step hold.
pub(super) struct Captures {
    /// The values, without the words that belong to the sentence.
    pub(super) values: Vec<String>,
    /// Whether the sentence is also one of `Then`.
    pub(super) is_expectation: bool,
}

/// What a text of the scenario does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It may give something its name.
    Sets,
    /// It is a field of a document.
    Field,
    /// It names an object, of which something is awaited.
    Awaits,
}

/// The texts of a scenario that may be names.
#[derive(Debug, Clone, Default)]
pub(super) struct OwnNames(Vec<(usize, Role, String)>);

impl OwnNames {
    /// Reads `Given`, `When` and the tags `@custom:NAME` of a case, with what tells the parameters of a step.
    pub(super) fn of(case: &Case, captures: fn(&Step) -> Option<Captures>) -> Self {
        let custom = case.tags.all.iter().filter_map(|tag| tag.strip_prefix("custom:"));
        let mut said = Self(custom.map(|name| (0, Role::Sets, name.to_owned())).collect());
        for line in case.steps.iter().filter(|line| line.step.ty != StepType::Then) {
            said.read(&line.step, captures(&line.step), line.line);
        }
        said
    }

    /// Notes the name of an object of a fixture, which no step says.
    pub(super) fn note(&mut self, name: &str) {
        self.0.push((0, Role::Awaits, name.to_owned()));
    }

    /// Tells whether the scenario gives something this name: a condition, a reason, a key.
    pub(super) fn sets(&self, name: &str) -> bool {
        self.0.iter().any(|(_, role, text)| *role == Role::Sets && has_name(text, name))
    }

    /// Tells whether the scenario writes a field of this name.
    pub(super) fn sets_field(&self, name: &str) -> bool {
        self.0.iter().any(|(_, role, text)| *role != Role::Awaits && has_name(text, name))
    }

    /// Tells whether the scenario names an object so, or a part of one.
    pub(super) fn names(&self, name: &str) -> bool {
        self.names_beside(name, usize::MAX)
    }

    /// Tells whether it does so in another line.
    pub(super) fn names_beside(&self, name: &str, line: usize) -> bool {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
        let has = |text: &str| text.split(|c| !is_part(c)).any(|word| word == name);
        self.0.iter().any(|(at, _, text)| *at != line && has(text))
    }

    /// What a scenario says with one text.
    #[cfg(test)]
    pub(super) fn with(text: &str) -> Self {
        Self(vec![(1, Role::Sets, text.to_owned())])
    }

    fn read(&mut self, step: &Step, captures: Option<Captures>, line: usize) {
        let (values, is_awaited) = match captures {
            Some(Captures { values, is_expectation }) => (values, is_expectation),
            None => (step.value.split('"').map(str::to_owned).collect(), false),
        };
        let role = if is_awaited { Role::Awaits } else { Role::Sets };
        self.0.extend(values.into_iter().map(|value| (line, role, value)));
        for (number, row) in step.table.iter().flat_map(|table| table.rows.iter().enumerate()) {
            for (column, cell) in row.iter().enumerate() {
                let is_heading = number == 0 || column == 0;
                self.0.push((line, if is_heading { role_of_key("", cell) } else { Role::Sets }, cell.clone()));
            }
        }
        for document in step.docstring.iter().flat_map(|text| serde_yaml::Deserializer::from_str(text)) {
            // What is no YAML is refused where it is read.
            let Ok(value) = Value::deserialize(document) else { break };
            self.read_document(&value, "", line);
        }
    }

    fn read_document(&mut self, value: &Value, parent: &str, line: usize) {
        match value {
            Value::Mapping(fields) => {
                for (key, below) in fields {
                    let key = key.as_str().unwrap_or_default();
                    self.0.push((line, role_of_key(parent, key), key.to_owned()));
                    self.read_document(below, key, line);
                }
            }
            Value::Sequence(items) => items.iter().for_each(|item| self.read_document(item, parent, line)),
            Value::String(text) => self.0.push((line, Role::Sets, text.clone())),
            Value::Tagged(tagged) => self.read_document(&tagged.value, parent, line),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// The fields of objects that are maps, whose keys are names.
///
/// Source: k8s.io/api core/v1 and meta/v1 types.go (v1.34).
const MAPS: [&str; 10] = [
    "annotations",
    "allocatable",
    "capacity",
    "hard",
    "labels",
    "limits",
    "matchLabels",
    "nodeSelector",
    "overhead",
    "requests",
];

/// Tells a key that is a name, in a map or in the form of one, from the field of an object.
fn role_of_key(parent: &str, key: &str) -> Role {
    let is_field = key.starts_with(|c: char| c.is_ascii_lowercase()) && key.bytes().all(|b| b.is_ascii_alphanumeric());
    if is_field && !MAPS.contains(&parent) { Role::Field } else { Role::Sets }
}

/// Tells whether a text is a name or has it as a part: `key=value:NoExecute`, `"a" and "b"`, or a JSON pointer, which
/// writes the slash of a key as `~1`.
fn has_name(text: &str, name: &str) -> bool {
    let is_mark = |c: char| "\"'=:,;|(){}[]".contains(c);
    text == name
        || text.split(is_mark).any(|part| part.trim() == name)
        || text.starts_with('/') && text.split('/').any(|part| part.replace("~1", "/") == name)
}

#[cfg(test)]
mod tests {
    use super::super::patterns::captures;
    use super::*;
    use crate::load::{Requirements, Source, check_one};

    #[test]
    fn what_parameters_cells_and_values_hold_is_said_and_prose_is_not() {
        let text = "\
Feature: x
  Scenario: y
    Given a ready Node \"w\" in zone \"east\"
    And Node \"w\" has taint \"example.com/awaited:NoExecute\"
    And the objects:
      \"\"\"yaml
      apiVersion: v1
      kind: Pod
      metadata: {name: p, labels: {tier: front}}
      spec: {nodeName: w, readinessGates: [{conditionType: Mine}]} # remark
      \"\"\"
    When the user taints Node \"w\" with \"example.com/own=x:NoExecute\"
    And the user sends PATCH /api/v1/nodes/w:
      \"\"\"yaml
      - {op: remove, path: /metadata/labels/example.com~1old}
      \"\"\"
    Then Node \"w\" has condition later=True within 1s
";
        let file = check_one(&Source::new("features/a/b.feature", text.as_bytes()), &Requirements::default());
        let said = OwnNames::of(&file.cases[0], captures);
        for name in ["east", "example.com/own", "tier", "front", "Mine", "example.com/old"] {
            assert!(said.sets(name), "{name}");
        }
        for name in ["ready", "taints", "ast", "own", "example.com", "readinessGates", "kind", "remark", "later"] {
            assert!(!said.sets(name), "{name}");
        }
        assert!(said.sets_field("readinessGates") && said.names("p") && !said.names_beside("tier", 5));
        assert!(said.names("example.com") && !said.sets("example.com/awaited"));
    }
}
