//! Turns the parser's tree into cases: backgrounds are put before their scenarios, outlines are expanded, doc strings
//! are corrected.
//!
//! Inputs: the text of a file and the tree that the crate gherkin made of it. Outputs: cases and problems, added to a
//! [`FeatureFile`]. Invariant: no two cases of a file have the same id.

use std::collections::BTreeMap;

use gherkin::{Background, Examples, Feature, Rule, Scenario, Step};

use super::source::{Text, indent};
use super::{FeatureFile, Problem, Prose, Requirements, Tags, outline, pitfalls, slug};

/// A scenario, or one row of an outline.
#[derive(Debug, Clone, Default)]
pub struct Case {
    /// The name of its trial below the backend: `area::topic::scenario` or `area::topic::scenario::row`.
    pub id: String,
    /// The feature's name.
    pub feature: String,
    /// The rule under test.
    pub rule: Option<String>,
    /// The scenario's name, placeholders filled in.
    pub name: String,
    /// The line of its heading; of an outline's row, the row's.
    pub line: usize,
    /// The line of its heading; of an outline's row, the outline's.
    pub heading: usize,
    /// The column of its heading.
    pub column: usize,
    /// The tags in force.
    pub tags: Tags,
    /// The steps of the backgrounds and its own.
    pub steps: Vec<StepLine>,
    /// The row, for an outline.
    pub row: Option<Row>,
    /// The first problem of its text outside the meaning of its steps, for which it is not run.
    pub flaw: Option<Problem>,
}

/// The values of one row of examples.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// Column and value, in order.
    pub values: Vec<(String, String)>,
}

impl Row {
    /// Returns `type=Ready, status=False`.
    #[must_use]
    pub fn describe(&self) -> String {
        self.values.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
    }
}

/// A step with its place in the file; of an outline, the template's.
#[derive(Debug, Clone)]
pub struct StepLine {
    /// The step, with placeholders filled in and its doc string corrected.
    pub step: Step,
    /// The line.
    pub line: usize,
    /// The column of the keyword.
    pub column: usize,
    /// The line as it stands in the file.
    pub excerpt: String,
    /// The step's table rows as they stand in the file, each with its line, for problems inside a table.
    pub table_lines: Vec<(usize, String)>,
    /// The doc string's lines as they stand in the file, each with its number.
    pub docstring_lines: Vec<(usize, String)>,
}

impl StepLine {
    /// Returns the step with its keyword.
    #[must_use]
    pub fn sentence(&self) -> String {
        let keyword = self.step.keyword.as_str();
        let gap = if self.excerpt.contains(&format!("{keyword} ")) && !keyword.ends_with(' ') { " " } else { "" };
        format!("{keyword}{gap}{}", self.step.value)
    }
}

/// Reads the parser's tree of a file.
pub(super) fn read(text: &Text, feature: &Feature, known: &Requirements, file: &mut FeatureFile) {
    let heading = heading_line(text, feature.span.start, &feature.keyword);
    let mut reader = DocumentReader { text, known, file, names: BTreeMap::new(), of_parts: Vec::new() };
    reader.describe(heading, feature.description.as_deref());
    pitfalls::heading(text, heading, &feature.keyword, &feature.name, &mut reader.file.problems);
    let mut tags = Tags::default();
    tags.add(&feature.tags, heading, text, known, &mut reader.file.problems);
    let background = reader.background(feature.background.as_ref());
    let scope = Scope { feature: clean_name(&feature.name), rule: None, tags, background, flaw: None };
    for scenario in &feature.scenarios {
        reader.scenario(scenario, &scope);
    }
    for rule in &feature.rules {
        reader.rule(rule, &scope);
    }
    if feature.scenarios.is_empty() && feature.rules.is_empty() {
        reader.file.problems.push(text.problem_at_line(heading, "the feature has no scenario"));
    }
    let of_parts = reader.of_parts;
    file.flaw = file.problems.iter().min().cloned();
    file.problems.extend(of_parts);
}

/// What a scenario inherits.
struct Scope {
    feature: String,
    rule: Option<String>,
    tags: Tags,
    background: Vec<StepLine>,
    /// The first problem of its rule.
    flaw: Option<Problem>,
}

struct DocumentReader<'a> {
    text: &'a Text,
    known: &'a Requirements,
    file: &'a mut FeatureFile,
    /// Names of trials that are taken, each with its line.
    names: BTreeMap<String, usize>,
    /// The problems of single rules and scenarios: the others of the file are run.
    of_parts: Vec<Problem>,
}

impl DocumentReader<'_> {
    /// Reads a part of the file, and returns the first problem of this part alone.
    fn part<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> (T, Option<Problem>) {
        let outer = std::mem::take(&mut self.file.problems);
        let part = read(self);
        let own = std::mem::replace(&mut self.file.problems, outer);
        let flaw = own.iter().min().cloned();
        self.of_parts.extend(own);
        (part, flaw)
    }

    fn rule(&mut self, rule: &Rule, outer: &Scope) {
        let (scope, flaw) = self.part(|reader| reader.scope(rule, outer));
        let scope = Scope { flaw, ..scope };
        for scenario in &rule.scenarios {
            self.scenario(scenario, &scope);
        }
    }

    /// Returns what the scenarios of a rule inherit.
    fn scope(&mut self, rule: &Rule, outer: &Scope) -> Scope {
        let text = self.text;
        let heading = heading_line(text, rule.span.start, &rule.keyword);
        self.describe(heading, rule.description.as_deref());
        pitfalls::heading(text, heading, &rule.keyword, &rule.name, &mut self.file.problems);
        let mut tags = outer.tags.clone();
        tags.add(&rule.tags, heading, text, self.known, &mut self.file.problems);
        let mut background = outer.background.clone();
        background.extend(self.background(rule.background.as_ref()));
        if rule.scenarios.is_empty() {
            let problem = text.problem_at_line(heading, "the rule has no scenario");
            self.file.problems.push(problem.help("a scenario belongs to the rule above it"));
        }
        Scope { feature: outer.feature.clone(), rule: Some(clean_name(&rule.name)), tags, background, flaw: None }
    }

    fn background(&mut self, background: Option<&Background>) -> Vec<StepLine> {
        let Some(background) = background else { return Vec::new() };
        let heading = heading_line(self.text, background.span.start, &background.keyword);
        pitfalls::swallowed(self.text, heading, background.description.as_deref(), &mut self.file.problems);
        if background.steps.is_empty() {
            self.file.problems.push(self.text.problem_at_line(heading, "the background has no steps"));
        }
        background.steps.iter().map(|step| self.step(step)).collect()
    }

    /// Reads a scenario, or all rows of an outline; with a problem in its text none of them is run.
    fn scenario(&mut self, scenario: &Scenario, scope: &Scope) {
        let before = self.file.cases.len();
        let (template, own) = self.part(|reader| {
            let template = reader.template(scenario, scope);
            reader.cases(&template, scenario);
            template
        });
        let Some(flaw) = scope.flaw.clone().or(own) else { return };
        if self.file.cases.len() == before {
            // It has no row, or a name that is taken: it is still one that is not run, under a name of its own.
            let id = format!("{}::line_{}", template.id, template.line);
            self.file.cases.push(Case { id, steps: Vec::new(), ..template });
        }
        self.file.cases[before..].iter_mut().for_each(|case| case.flaw = Some(flaw.clone()));
    }

    fn template(&mut self, scenario: &Scenario, scope: &Scope) -> Case {
        let text = self.text;
        let heading = heading_line(text, scenario.span.start, &scenario.keyword);
        pitfalls::heading(text, heading, &scenario.keyword, &scenario.name, &mut self.file.problems);
        pitfalls::swallowed(text, heading, scenario.description.as_deref(), &mut self.file.problems);
        self.describe(heading, scenario.description.as_deref());
        let mut tags = scope.tags.clone();
        tags.add(&scenario.tags, heading, text, self.known, &mut self.file.problems);
        let own: Vec<StepLine> = scenario.steps.iter().map(|step| self.step(step)).collect();
        let mut steps = Vec::new();
        if own.is_empty() {
            // The background alone would be told once more to prove nothing.
            self.file.problems.push(text.problem_at_line(heading, "the scenario has no steps"));
        } else {
            steps.extend_from_slice(&scope.background);
            steps.extend(own);
        }
        Case {
            id: format!("{}::{}", self.file.id, slug(&clean_name(&scenario.name))),
            feature: scope.feature.clone(),
            rule: scope.rule.clone(),
            name: clean_name(&scenario.name),
            line: heading,
            heading,
            column: indent(text.line(heading)) + 1,
            tags,
            steps,
            ..Case::default()
        }
    }

    fn cases(&mut self, template: &Case, scenario: &Scenario) {
        let text = self.text;
        if scenario.examples.is_empty() {
            outline::refuse_placeholders(text, template, &scenario.keyword, &mut self.file.problems);
            self.take(template.clone());
            return;
        }
        for examples in &scenario.examples {
            self.examples(template, examples, &scenario.examples);
        }
        outline::refuse_unknown(text, template, &scenario.examples, &mut self.file.problems);
    }

    fn examples(&mut self, template: &Case, examples: &Examples, all: &[Examples]) {
        let text = self.text;
        let heading = heading_line(text, examples.span.start, &examples.keyword);
        let mut template = template.clone();
        template.tags.add(&examples.tags, heading, text, self.known, &mut self.file.problems);
        let Some(table) = &examples.table else {
            let problem = text.problem_at_line(heading, "the examples have no table, so the outline would not run");
            self.file.problems.push(problem.help("add a table: a row of names, then a row for each case"));
            return;
        };
        let lines = table_lines(text, heading);
        pitfalls::ragged(text, &lines, &mut self.file.problems);
        pitfalls::columns(text, &lines, &table.rows[0], &mut self.file.problems);
        if table.rows.len() < 2 {
            let problem = text.problem_at_line(heading, "the examples have no rows, so the outline would not run");
            self.file.problems.push(problem.help("add a row for each case below the names"));
            return;
        }
        let prefix = examples.name.as_deref().map(clean_name).filter(|_| all.len() > 1).unwrap_or_default();
        for (index, row) in table.rows.iter().enumerate().skip(1) {
            let mut case = outline::fill(&template, &table.rows[0], row);
            let words = std::iter::once(prefix.as_str()).chain(row.iter().map(String::as_str));
            let row_slug = slug(&words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "));
            let row_slug = if row_slug.is_empty() { format!("row_{index}") } else { row_slug };
            case.id = format!("{}::{row_slug}", template.id);
            if let Some((line, _)) = lines.get(index) {
                case.line = *line;
                case.column = indent(text.line(*line)) + 1;
            }
            self.take(case);
        }
    }

    /// Adds a case unless another one has its name.
    fn take(&mut self, case: Case) {
        if let Some(line) = self.names.get(&case.id) {
            let message = format!("the trial {} is there already, on line {line}", case.id);
            let help = match case.row {
                Some(_) => "the rows of one outline must differ in their words",
                None => "scenarios of one file need names that differ in their words",
            };
            self.file.problems.push(self.text.problem_at_line(case.line, message).help(help));
            return;
        }
        self.names.insert(case.id.clone(), case.line);
        self.file.cases.push(case);
    }

    fn step(&mut self, step: &Step) -> StepLine {
        let text = self.text;
        let line = heading_line(text, step.span.start, &step.keyword);
        let excerpt = text.line(line).to_owned();
        let mut step = step.clone();
        let below = (line + 1..=text.lines.len()).find(|line| {
            let line = text.line(*line).trim();
            !line.is_empty() && !line.starts_with('#')
        });
        let mut docstring_lines = Vec::new();
        let mut after = line;
        if step.docstring.is_some()
            && let Some(open) = below
        {
            let (mended, end) = docstring(text, open);
            step.docstring = Some(mended);
            docstring_lines.extend((open + 1..end).map(|line| (line, text.line(line).to_owned())));
            after = end;
        }
        let table_lines = if step.table.is_some() { table_lines(text, after) } else { Vec::new() };
        pitfalls::ragged(text, &table_lines, &mut self.file.problems);
        StepLine { column: indent(&excerpt) + 1, step, line, excerpt, table_lines, docstring_lines }
    }

    fn describe(&mut self, heading: usize, description: Option<&str>) {
        for words in description.into_iter().flat_map(str::lines).filter(|line| !line.trim().is_empty()) {
            let line = (heading + 1..=self.text.lines.len())
                .find(|line| self.text.line(*line).trim() == words.trim())
                .unwrap_or(heading);
            pitfalls::misspelt_heading(self.text, line, &mut self.file.problems);
            let excerpt = self.text.line(line).to_owned();
            self.file.prose.push(Prose { heading, line, text: words.trim().to_owned(), excerpt });
        }
    }
}

/// Returns the line of a heading or step; the parser's offset may point to a comment above it.
pub(super) fn heading_line(text: &Text, offset: usize, keyword: &str) -> usize {
    let before = text.whole.get(..offset).map_or(0, |before| before.matches('\n').count());
    (before + 1..=text.lines.len())
        .find(|line| text.line(*line).trim_start().starts_with(keyword.trim_end()))
        .unwrap_or(before + 1)
}

/// Returns the rows of the table that begins below a line.
pub(super) fn table_lines(text: &Text, after: usize) -> Vec<(usize, String)> {
    let is_gap = |words: &str| words.is_empty() || words.starts_with('#');
    (after + 1..=text.lines.len())
        .map(|line| (line, text.line(line)))
        .skip_while(|(_, row)| !row.trim().starts_with('|'))
        .take_while(|(_, row)| row.trim().starts_with('|') || is_gap(row.trim()))
        .filter(|(_, row)| row.trim().starts_with('|'))
        .map(|(line, row)| (line, row.to_owned()))
        .collect()
}

/// Returns the text of a doc string, with the indentation of its marks removed and without media type, and its last
/// line.
fn docstring(text: &Text, open: usize) -> (String, usize) {
    let marks: String = text.line(open).trim().chars().take(3).collect();
    let depth = indent(text.line(open));
    let mut lines = Vec::new();
    for line in open + 1..=text.lines.len() {
        let words = text.line(line);
        if words.trim_start().starts_with(&marks) {
            return (lines.join("\n"), line);
        }
        let cut = indent(words).min(depth);
        lines.push(words.chars().skip(cut).collect::<String>());
    }
    (lines.join("\n"), text.lines.len())
}

/// Returns a name without the comment behind it: `The kubelet is killed   # 50 s of grace`.
fn clean_name(name: &str) -> String {
    name.split(" # ").next().unwrap_or_default().trim().to_owned()
}

/// Returns the column of a cell's words in a row and how many characters they have; of the whole row without a cell.
pub(crate) fn cell_place(row: &str, cell: Option<usize>) -> (usize, usize) {
    let whole = (indent(row) + 1, row.trim().chars().count());
    let Some(cell) = cell else { return whole };
    let mut bars = Vec::new();
    let mut escaped = false;
    for (at, c) in row.chars().enumerate() {
        if c == '|' && !escaped {
            bars.push(at);
        }
        escaped = c == '\\' && !escaped;
    }
    let (Some(open), Some(close)) = (bars.get(cell), bars.get(cell + 1)) else { return whole };
    let words: String = row.chars().take(*close).skip(open + 1).collect();
    match words.trim().chars().count() {
        0 => (open + 2, 1),
        width => (open + 2 + indent(&words), width),
    }
}

/// Returns a problem about words of a step, or of its table or doc string.
pub(crate) fn step_problem(path: &str, step: &StepLine, row: Option<&Row>, words: &str, message: String) -> Problem {
    let below = step.docstring_lines.iter().chain(&step.table_lines).map(|(line, text)| (*line, text));
    let mut lines = std::iter::once((step.line, &step.excerpt)).chain(below);
    let found = lines.find_map(|(line, text)| Some((line, text, text.find(words).filter(|_| !words.is_empty())?)));
    let (line, excerpt, column, width) = match found {
        Some((line, text, at)) => (line, text, text[..at].chars().count() + 1, words.chars().count()),
        None => (step.line, &step.excerpt, step.column, step.excerpt.trim().chars().count()),
    };
    Problem {
        file: path.to_owned(),
        line,
        column,
        width,
        message,
        row: row.map(Row::describe),
        help: Vec::new(),
        excerpt: excerpt.clone(),
    }
}
