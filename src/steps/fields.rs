//! Reads what is expected of several fields of an object at once: a table of paths and values, or a part of the object
//! in YAML.
//!
//! Input: a step with its table or doc string. Output: a predicate, or a problem at the row or the line.

use gherkin::Step;
use nodeproof_core::objects::Path;
use nodeproof_core::objects::subset::leaves;
use nodeproof_core::scenario::{FieldTest, Predicate};

use super::draft::Draft;
use super::manifest;

impl Draft {
    /// Reads the fields below a step.
    pub(super) fn fields(&mut self, step: &Step) -> Option<Predicate> {
        match (&step.docstring, &step.table) {
            (Some(text), _) => self.part_of_object(text),
            (None, Some(_)) => self.field_rows(step),
            (None, None) => {
                let help = vec!["| status.phase | Running |".to_owned()];
                self.problem_with("", "the fields are missing: a table, or YAML in a doc string".to_owned(), help);
                None
            }
        }
    }

    fn field_rows(&mut self, step: &Step) -> Option<Predicate> {
        let before = self.problems.len();
        let rows = self.flag_rows(step);
        let parts: Vec<Predicate> = rows.iter().filter_map(|(_, path, value)| self.field_test(path, value)).collect();
        if parts.is_empty() && self.problems.len() == before {
            self.problem("", "the table has no row with a field and its value".to_owned());
        }
        (self.problems.len() == before).then_some(Predicate::All(parts))
    }

    /// Reads a part of an object. What says nothing, and what the server would leave out, is refused.
    fn part_of_object(&mut self, text: &str) -> Option<Predicate> {
        let part = match manifest::body(text) {
            Ok(part) => part,
            Err((line, message)) => {
                self.problem_in_text(line, "", message);
                return None;
            }
        };
        if !part.is_object() || part.fields().next().is_none() {
            self.problem_in_text(1, "", "this is no part of an object: `spec:` and so on".to_owned());
            return None;
        }
        if let Some((path, _)) =
            leaves(&part).into_iter().find(|(_, value)| value.is_array() && value.items().is_empty())
        {
            let name = path.segments().last().map_or_else(String::new, |last| last.name().to_string());
            let help = vec!["`null` says that nothing is there".to_owned()];
            self.problem_with(&name, format!("{path} is an empty list, which the server leaves out"), help);
            return None;
        }
        Some(Predicate::Field { path: Path::default(), test: FieldTest::Has(part) })
    }
}
