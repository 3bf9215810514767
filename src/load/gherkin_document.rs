//! The tree of a feature file as Cucumber's messages tell it: a `gherkinDocument` whose nodes have ids.
//!
//! Input: a source. Output: JSON, and the file's cases. The parser keeps neither comments nor the places of tags and
//! cells; they are read from the lines. An id is `FILE:LINE`, of a tag `FILE:LINE:COLUMN`: it stays the same from run
//! to run.

use gherkin::{Background, Examples, Feature, Rule, Scenario, Step, StepType, Table};
use serde_json::{Value, json};

use super::document::{heading_line, table_lines};
use super::source::{Source, Text, indent};
use super::{Case, Requirements, check_one, syntax};

/// A feature file as a document of Cucumber's messages.
#[derive(Debug, Clone)]
pub struct GherkinDocument {
    /// The file's path.
    pub path: String,
    /// The text.
    pub text: String,
    /// The `gherkinDocument`.
    pub document: Value,
    /// The scenarios, outlines row by row.
    pub cases: Vec<Case>,
    /// Tags with their lines and ids, in order.
    tags: Vec<(usize, String, String)>,
}

impl GherkinDocument {
    /// Reads a file; `None` if it does not parse.
    #[must_use]
    pub fn of(source: &Source) -> Option<Self> {
        let text = source.text().ok()?;
        let feature = syntax::parse(&text).ok()?;
        let mut reader = Reader { text: &text, tags: Vec::new() };
        let tree = reader.feature(&feature);
        let document = json!({"uri": text.path, "feature": tree, "comments": reader.comments()});
        let mut tags = reader.tags;
        tags.sort();
        let cases = check_one(source, &Requirements::default()).cases;
        Some(Self { path: text.path.clone(), text: text.whole.clone(), document, cases, tags })
    }

    /// Returns the id of the tag that a case got, the one nearest above it.
    #[must_use]
    pub fn tag_id(&self, case: &Case, name: &str) -> Option<&str> {
        let own = |(line, tag, _): &&(usize, String, String)| *line < case.line && tag == name;
        self.tags.iter().rev().find(own).map(|(_, _, id)| id.as_str())
    }
}

/// Returns the id of the node on a line.
#[must_use]
pub fn node_id(path: &str, line: usize) -> String {
    format!("{path}:{line}")
}

struct Reader<'a> {
    text: &'a Text,
    tags: Vec<(usize, String, String)>,
}

impl Reader<'_> {
    fn feature(&mut self, feature: &Feature) -> Value {
        let line = heading_line(self.text, feature.span.start, &feature.keyword);
        let tags = self.tags_above(line, &feature.tags);
        let mut children: Vec<Value> = feature.background.iter().map(|own| self.background(own)).collect();
        children.extend(feature.scenarios.iter().map(|own| self.scenario(own)));
        children.extend(feature.rules.iter().map(|own| self.rule(own)));
        json!({
            "location": self.at(line), "tags": tags, "language": "en", "keyword": feature.keyword.trim_end_matches(':'),
            "name": feature.name, "description": feature.description.as_deref().unwrap_or_default(),
            "children": children,
        })
    }

    fn rule(&mut self, rule: &Rule) -> Value {
        let line = heading_line(self.text, rule.span.start, &rule.keyword);
        let tags = self.tags_above(line, &rule.tags);
        let mut children: Vec<Value> = rule.background.iter().map(|own| self.background(own)).collect();
        children.extend(rule.scenarios.iter().map(|own| self.scenario(own)));
        let mut tree = self.node(line, &rule.keyword, &rule.name, rule.description.as_deref());
        tree["tags"] = tags;
        tree["children"] = Value::Array(children);
        json!({ "rule": tree })
    }

    fn background(&self, background: &Background) -> Value {
        let line = heading_line(self.text, background.span.start, &background.keyword);
        let mut tree = self.node(line, &background.keyword, &background.name, background.description.as_deref());
        tree["steps"] = background.steps.iter().map(|step| self.step(step)).collect();
        json!({ "background": tree })
    }

    fn scenario(&mut self, scenario: &Scenario) -> Value {
        let line = heading_line(self.text, scenario.span.start, &scenario.keyword);
        let tags = self.tags_above(line, &scenario.tags);
        let mut tree = self.node(line, &scenario.keyword, &scenario.name, scenario.description.as_deref());
        tree["tags"] = tags;
        tree["steps"] = scenario.steps.iter().map(|step| self.step(step)).collect();
        tree["examples"] = scenario.examples.iter().map(|own| self.examples(own)).collect();
        json!({ "scenario": tree })
    }

    fn examples(&mut self, examples: &Examples) -> Value {
        let line = heading_line(self.text, examples.span.start, &examples.keyword);
        let tags = self.tags_above(line, &examples.tags);
        let name = examples.name.as_deref().unwrap_or_default();
        let mut tree = self.node(line, &examples.keyword, name, examples.description.as_deref());
        let mut rows = examples.table.iter().flat_map(|table| self.rows(table, line));
        if let Some(header) = rows.next() {
            tree["tableHeader"] = header;
        }
        tree["tableBody"] = rows.collect();
        tree["tags"] = tags;
        tree
    }

    fn step(&self, step: &Step) -> Value {
        let line = heading_line(self.text, step.span.start, &step.keyword);
        let keyword = step.keyword.trim();
        let mut tree = json!({
            "location": self.at(line), "id": node_id(&self.text.path, line), "keyword": format!("{keyword} "),
            "keywordType": keyword_type(keyword, step.ty), "text": step.value,
        });
        if let Some(content) = &step.docstring {
            let is_mark = |line: &usize| self.text.line(*line).trim_start().starts_with(['"', '`']);
            let open = (line + 1..=self.text.lines.len()).find(is_mark).unwrap_or(line + 1);
            let marks: String = self.text.line(open).trim().chars().take(3).collect();
            let mut argument = json!({"location": self.at(open), "content": content, "delimiter": marks});
            let media = self.text.line(open).trim().trim_start_matches(['"', '`']).trim();
            if !media.is_empty() {
                argument["mediaType"] = json!(media);
            }
            tree["docString"] = argument;
        }
        if let Some(table) = &step.table {
            let rows: Vec<Value> = self.rows(table, line);
            let location = rows.first().map_or_else(|| self.at(line + 1), |row| row["location"].clone());
            tree["dataTable"] = json!({"location": location, "rows": rows});
        }
        tree
    }

    fn rows(&self, table: &Table, above: usize) -> Vec<Value> {
        let lines = table_lines(self.text, above);
        let row = |(cells, (line, _)): (&Vec<String>, &(usize, String))| {
            let columns = cell_columns(self.text.line(*line));
            let cell = |(index, value): (usize, &String)| {
                let column = columns.get(index).copied().unwrap_or(1);
                json!({"location": {"line": line, "column": column}, "value": value})
            };
            let cells: Vec<Value> = cells.iter().enumerate().map(cell).collect();
            json!({"location": self.at(*line), "id": node_id(&self.text.path, *line), "cells": cells})
        };
        table.rows.iter().zip(&lines).map(row).collect()
    }

    fn node(&self, line: usize, keyword: &str, name: &str, description: Option<&str>) -> Value {
        json!({
            "location": self.at(line), "id": node_id(&self.text.path, line), "keyword": keyword.trim_end_matches(':'),
            "name": name, "description": description.unwrap_or_default(),
        })
    }

    /// Returns the tags in the lines above a heading.
    fn tags_above(&mut self, heading: usize, tags: &[String]) -> Value {
        let mut found = Vec::new();
        for line in (1..heading).rev() {
            let words = self.text.line(line);
            match words.trim().chars().next() {
                Some('@') => {}
                Some('#') | None => continue,
                Some(_) => break,
            }
            for name in tags {
                let name = format!("@{}", name.trim_start_matches('@'));
                let ends = |at: usize| words[at + name.len()..].chars().next().is_none_or(char::is_whitespace);
                let Some((at, _)) = words.match_indices(&name).find(|(at, _)| ends(*at)) else { continue };
                let column = words[..at].chars().count() + 1;
                let id = format!("{}:{line}:{column}", self.text.path);
                self.tags.push((line, name.clone(), id.clone()));
                found.push((
                    line,
                    column,
                    json!({"location": {"line": line, "column": column}, "name": name, "id": id}),
                ));
            }
        }
        found.sort_by_key(|(line, column, _)| (*line, *column));
        found.into_iter().map(|(_, _, tag)| tag).collect()
    }

    /// Returns the comments: lines that begin with `#`, outside of doc strings.
    fn comments(&self) -> Value {
        let mut marks: Option<String> = None;
        let mut found = Vec::new();
        for (index, line) in self.text.lines.iter().enumerate() {
            let words = line.trim_start();
            let opens = ["\"\"\"", "```"].into_iter().find(|mark| words.starts_with(mark));
            match (&marks, opens) {
                (Some(mark), Some(other)) if mark == other => marks = None,
                (None, Some(mark)) => marks = Some(mark.to_owned()),
                (None, None) if words.starts_with('#') => {
                    found.push(json!({"location": {"line": index + 1, "column": 1}, "text": line}));
                }
                _ => {}
            }
        }
        Value::Array(found)
    }

    fn at(&self, line: usize) -> Value {
        json!({"line": line, "column": indent(self.text.line(line)) + 1})
    }
}

fn keyword_type(keyword: &str, step_type: StepType) -> &'static str {
    match keyword {
        "And" | "But" => "Conjunction",
        _ => step_kind(step_type),
    }
}

/// Returns what a step is for, in the words of the messages.
#[must_use]
pub const fn step_kind(step_type: StepType) -> &'static str {
    match step_type {
        StepType::Given => "Context",
        StepType::When => "Action",
        StepType::Then => "Outcome",
    }
}

/// Returns the columns at which the cells of a table's row begin.
fn cell_columns(line: &str) -> Vec<usize> {
    let characters: Vec<char> = line.chars().collect();
    let is_bar = |at: usize| characters[at] == '|' && (at == 0 || characters[at - 1] != '\\');
    let bars = (0..characters.len()).filter(|at| is_bar(*at));
    let begins = |bar: usize| (bar + 1..characters.len()).find(|at| !characters[*at].is_whitespace());
    bars.filter_map(begins).map(|at| at + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
@core @req:NC-03
Feature: A
  Background:
    Given a ready Node \"w\"

  Rule: R
    # a remark
    @since:1.32 @slow
    Scenario Outline: O <x>
      When the object:
        \"\"\"yaml
        # no remark
        kind: Pod
        \"\"\"
      Then Node \"w\" <x>:
        | a | b |

      Examples:
        | x    | y |
        | one  |   |
";

    #[test]
    fn nodes_tags_and_cells_have_their_places() {
        let found = GherkinDocument::of(&Source::new("features/a/b.feature", TEXT.as_bytes().to_vec())).unwrap();
        let feature = &found.document["feature"];
        assert_eq!(feature["tags"][1]["location"], json!({"line": 1, "column": 7}));
        let scenario = &feature["children"][1]["rule"]["children"][0]["scenario"];
        assert_eq!(scenario["location"], json!({"line": 9, "column": 5}));
        assert_eq!(scenario["tags"][1]["id"], "features/a/b.feature:8:17");
        assert_eq!(scenario["steps"][0]["docString"]["mediaType"], "yaml");
        assert_eq!(
            scenario["steps"][1]["dataTable"]["rows"][0]["cells"][1]["location"],
            json!({"line": 16, "column": 15})
        );
        assert_eq!(scenario["examples"][0]["tableBody"][0]["id"], "features/a/b.feature:20");
        assert_eq!(found.document["comments"].as_array().unwrap().len(), 1);
        assert_eq!(found.cases.len(), 1);
        assert_eq!(found.tag_id(&found.cases[0], "@core"), Some("features/a/b.feature:1:1"));
    }
}
