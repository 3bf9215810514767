//! The scenario being compiled: the functions of sentences write their actions and expectations into it.
//!
//! Inputs: the steps of a case in turn. Outputs: a scenario, and the problems of its steps. Cucumber calls it World.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gherkin::{Step, StepType};
use nodeproof_core::components::machine::MachineSpec;
use nodeproof_core::network::Resource;
use nodeproof_core::objects::{Json, Text};
use nodeproof_core::scenario::{
    Act, Bound, Bystanders, Expectation, Fact, Given, GraceLimits, Position, Predicate, Scenario, ScenarioAction,
    Setup, Subject, When,
};

use super::custom::CustomKinds;
use super::functions::CompileContext;
use super::manifest::{Manifest, manifests};
use super::names::{unknown_in_object, unknown_name};
use super::own_names::OwnNames;
use super::words::Wrong;
use crate::load::near::nearest;
use crate::load::{Case, Problem, Row, StepLine, Tags, cell_place, step_problem};

/// How a Node of the scenario is kept alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeKind {
    /// By a kubelet on a machine.
    Machine,
    /// By the scenario itself.
    HandFed,
    /// As an object without a kubelet or heartbeats; it may come later.
    Object,
}

/// A Node that the scenario has named.
#[derive(Debug, Clone)]
pub(super) struct NodeEntry {
    pub(super) name: Text,
    pub(super) kind: NodeKind,
    pub(super) zone: Option<String>,
}

/// A Pod that the scenario has named.
#[derive(Debug, Clone)]
pub(super) struct PodEntry {
    pub(super) namespace: Text,
    pub(super) name: Text,
    pub(super) node: Option<Text>,
}

/// A machine that a following `whose kubelet runs with:` refers to.
#[derive(Debug, Clone, Copy)]
pub(super) enum LastMachine {
    /// Ready Nodes of a `Given`.
    Ready,
    /// A machine of a `Given`.
    Added,
}

/// A scenario being compiled.
#[derive(Debug, Default, cucumber::World)]
pub struct Draft {
    pub(super) scenario: Scenario,
    pub(super) problems: Vec<Problem>,
    pub(super) nodes: Vec<NodeEntry>,
    pub(super) pods: Vec<PodEntry>,
    /// The workloads, by kind and name.
    pub(super) owners: Vec<(Text, Text)>,
    /// The instances of the cloud as the steps so far describe them.
    pub(super) instances: BTreeMap<String, Json>,
    /// The body of the last machine that a `Given` described, for `whose kubelet runs with:`.
    pub(super) last_machine: Option<(Vec<Json>, LastMachine)>,
    /// The user's own functions and the directory of fixtures.
    pub(super) compile_context: Arc<CompileContext>,
    /// How many sentences lead to the current one by saying it.
    pub(super) said_by: usize,
    /// The tags in force.
    pub(super) tags: Tags,
    /// What the scenario itself says in `Given`, `When` and `@custom:` tags.
    said: Arc<OwnNames>,
    /// The kinds that the scenario defines.
    pub(super) custom: CustomKinds,
    /// The kind of the objects of the watch that a step has opened last.
    pub(super) watched: Option<Resource>,
    /// Whether the current sentence is about every Node: the name is then `*`.
    pub(super) of_every_node: bool,
    /// Names in steps that no sentence fits. Such a step may have declared them, so no problem is reported for them.
    pub(super) doubtful: BTreeSet<String>,
    /// Which limits of the bound that was read last are told by the grace period.
    pub(super) in_grace: GraceLimits,
    place: DraftPosition,
}

/// The position of the draft in its file.
#[derive(Debug, Default)]
struct DraftPosition {
    file: String,
    row: Option<Row>,
    line: Option<StepLine>,
    /// Given, When or Then, `And` and `But` resolved.
    keyword: Option<StepType>,
    /// Set while a part of a step is compiled as a sentence of its own.
    scratch: bool,
    last_keyword: Option<StepType>,
}

impl Draft {
    /// Begins a scenario.
    pub(super) fn new(
        file: &str,
        case: &Case,
        (area, topic): (&str, &str),
        said: OwnNames,
        compile_context: Arc<CompileContext>,
    ) -> Self {
        let text = |own: &str| Text::from(own);
        let position = Position {
            file: text(file),
            line: u32::try_from(case.line).unwrap_or(u32::MAX),
            column: u32::try_from(case.column).unwrap_or(u32::MAX),
            text: format!("Scenario: {}", case.name).into(),
        };
        Self {
            scenario: Scenario {
                name: text(&case.name),
                area: text(area),
                topic: text(topic),
                feature: text(&case.feature),
                rule: case.rule.as_deref().map(text),
                tags: case.tags.all.iter().map(|tag| text(tag)).collect(),
                position,
                ..Scenario::default()
            },
            place: DraftPosition { file: file.into(), row: case.row.clone(), ..DraftPosition::default() },
            compile_context,
            tags: case.tags.clone(),
            said: Arc::new(said),
            ..Self::default()
        }
    }

    /// Begins the next step.
    pub(super) fn begin(&mut self, line: &StepLine) {
        self.place.line = Some(line.clone());
        self.place.keyword = Some(line.step.ty);
        if line.step.value.contains("zone \"\"") {
            self.problem("\"\"", "the zone has no name".to_owned());
        }
        let next = line.step.ty;
        let last = self.place.last_keyword.replace(next);
        match (last, next) {
            (Some(StepType::When | StepType::Then), StepType::Given) => {
                self.problem("", "a Given stands before the first When".to_owned());
            }
            (None | Some(StepType::Given), StepType::Then) => {
                self.problem("", "a Then follows from a When, and there is none".to_owned());
            }
            (Some(StepType::Given | StepType::Then) | None, StepType::When) => {
                self.scenario.acts.push(Act::default());
            }
            _ => {}
        }
    }

    /// Notes the names in a step that no sentence fits: it may have declared them.
    pub(super) fn doubt(&mut self, words: &str) {
        self.doubtful.extend(words.split('"').skip(1).step_by(2).map(str::to_owned));
    }

    /// Checks the whole scenario after the last step.
    pub(super) fn finish(mut self) -> (Scenario, Vec<Problem>) {
        let proves_nothing = self.scenario.acts.last().is_none_or(|act| act.expectations.is_empty());
        if proves_nothing && self.problems.is_empty() && self.doubtful.is_empty() {
            let help = vec!["say with Then what is true afterwards, or for how long nothing changes".to_owned()];
            self.problem_with("", "the scenario ends without a Then, so it proves nothing".to_owned(), help);
        }
        self.refuse_unmoved();
        if self.tags.read_only && self.scenario.cluster.bystanders != Bystanders::AsItIs && self.problems.is_empty() {
            let help = vec!["Given the cluster as it is".to_owned()];
            self.problem_with("", "a @read-only scenario takes the cluster as it is".to_owned(), help);
        }
        (self.scenario, self.problems)
    }

    /// Tells whether the step is a `Given`.
    pub(super) fn is_given(&self) -> bool {
        self.place.keyword == Some(StepType::Given)
    }

    /// Tells whether the step is a `When`.
    pub(super) fn is_when(&self) -> bool {
        self.place.keyword == Some(StepType::When)
    }

    /// Notes a problem about some words of the step, to which the caret points.
    pub fn problem(&mut self, words: &str, message: String) {
        self.problem_with(words, message, Vec::new());
    }

    /// Notes a problem with advice.
    pub(super) fn problem_with(&mut self, words: &str, message: String, help: Vec<String>) {
        let Some(line) = &self.place.line else { return };
        let mut problem = step_problem(&self.place.file, line, self.place.row.as_ref(), words, message);
        problem.help = help;
        self.problems.push(problem);
    }

    /// Notes a problem in a row of the step's table, or in one of its cells, counted from 0.
    pub(super) fn problem_in_row(&mut self, row: usize, cell: Option<usize>, message: String, help: Vec<String>) {
        let Some(line) = &self.place.line else { return };
        let mut problem = step_problem(&self.place.file, line, self.place.row.as_ref(), "", message);
        if let Some((number, text)) = line.table_lines.get(row) {
            problem.line = *number;
            (problem.column, problem.width) = cell_place(text, cell);
            problem.excerpt.clone_from(text);
        }
        problem.help = help;
        self.problems.push(problem);
    }

    /// Notes a problem in a cell of the table row that begins with a name, or at the step.
    pub(super) fn problem_about(&mut self, name: &str, cell: usize, message: String) {
        let table = self.step().and_then(|step| step.table.as_ref());
        let is_named = |row: &Vec<String>| row.first().is_some_and(|first| first.trim_start_matches("--") == name);
        match table.and_then(|table| table.rows.iter().position(is_named)) {
            Some(row) => self.problem_in_row(row, Some(cell), message, Vec::new()),
            None => self.problem("", message),
        }
    }

    /// Notes a problem about words in a line of the step's doc string, counted from 1, or about the whole line.
    pub(super) fn problem_in_text(&mut self, line_of_text: usize, words: &str, message: String) {
        let Some(line) = &self.place.line else { return };
        let mut problem = step_problem(&self.place.file, line, self.place.row.as_ref(), "", message);
        let lines = &line.docstring_lines;
        if let Some((number, text)) = lines.get(line_of_text.saturating_sub(1)).or(lines.last()) {
            problem.line = *number;
            let at = text.find(words).filter(|_| !words.is_empty());
            (problem.column, problem.width) = match at {
                Some(at) => (text[..at].chars().count() + 1, words.chars().count()),
                None => cell_place(text, None),
            };
            problem.excerpt.clone_from(text);
        }
        self.problems.push(problem);
    }

    /// Returns a value, or notes why the words cannot be read as one.
    pub(super) fn take<T>(&mut self, words: &str, read: Result<T, Wrong>) -> Option<T> {
        read.map_err(|message| self.problem(words, message)).ok()
    }

    /// Returns the position of the step.
    pub(super) fn position(&self) -> Position {
        let Some(line) = &self.place.line else { return Position::default() };
        Position {
            file: Text::from(self.place.file.as_str()),
            line: u32::try_from(line.line).unwrap_or(u32::MAX),
            column: u32::try_from(line.column).unwrap_or(u32::MAX),
            text: Text::from(line.sentence()),
        }
    }

    /// Refuses in a `@read-only` scenario a step that does something to the cluster, or that looks at anything but its
    /// API. Returns whether the step is allowed.
    pub(super) fn only_looks(&mut self, looks: bool) -> bool {
        let allowed = looks || !self.tags.read_only;
        if !allowed {
            let help = vec!["leave the tag out, or the step".to_owned()];
            let message = "a @read-only scenario does nothing to the cluster and looks at its API alone".to_owned();
            self.problem_with("", message, help);
        }
        allowed
    }

    /// Adds a setup, which is there before the first act.
    pub(super) fn given(&mut self, setup: Setup) {
        if !self.only_looks(!setup.touches_the_cluster()) {
            return;
        }
        let position = self.position();
        self.scenario.given.push(Given { setup, position });
    }

    /// Adds an action: to the setup in a `Given`, to the act in a `When`.
    pub(super) fn action(&mut self, action: impl Into<ScenarioAction>) {
        self.actions(vec![action.into()]);
    }

    /// Adds several actions that are done one after the other.
    pub(super) fn actions(&mut self, actions: Vec<ScenarioAction>) {
        if self.is_given() {
            actions.into_iter().for_each(|action| self.given(Setup::Do(action)));
            return;
        }
        if !self.only_looks(!actions.iter().any(ScenarioAction::touches_the_cluster)) {
            return;
        }
        let position = self.position();
        if let Some(act) = self.scenario.acts.last_mut() {
            act.when.push(When { actions, position });
        }
    }

    /// Adds an expectation; in a `Given` or `When` the scenario waits until it is true.
    pub(super) fn expect(&mut self, subject: Subject, predicate: Predicate, bound: Option<Bound>) {
        let has_snapshot = matches!(predicate, Predicate::MatchesSnapshot(_));
        if !self.only_looks(subject.is_of_the_api() && !has_snapshot) || !self.is_said_of_every(&subject, &predicate) {
            return;
        }
        if self.has_unknown_name(&subject, &predicate) {
            return;
        }
        let fact = Fact { subject, predicate };
        if self.is_given() {
            self.given(Setup::Until(fact));
            return;
        }
        if self.is_when() {
            self.action(ScenarioAction::Until(fact));
            return;
        }
        let Some(bound) = bound else { return };
        let position = self.position();
        let in_grace = std::mem::take(&mut self.in_grace);
        let expectation = Expectation { fact, bound, in_grace, position };
        match self.scenario.acts.last_mut() {
            Some(act) => act.expectations.push(expectation),
            None if self.place.scratch => {
                self.scenario.acts.push(Act { when: Vec::new(), expectations: vec![expectation] });
            }
            None => {}
        }
    }

    /// Notes a name in a predicate that nothing in the cluster can have.
    pub(super) fn has_unknown_name(&mut self, subject: &Subject, predicate: &Predicate) -> bool {
        let unknown = unknown_name(subject, predicate, &self.said);
        unknown.map(|unknown| self.problem_with(&unknown.name, unknown.message, vec![unknown.help])).is_some()
    }

    /// Begins a draft for a part of the step that is compiled as a sentence of its own.
    pub(super) fn for_a_part(&self) -> Self {
        Self {
            nodes: self.nodes.clone(),
            doubtful: self.doubtful.clone(),
            pods: self.pods.clone(),
            owners: self.owners.clone(),
            compile_context: Arc::clone(&self.compile_context),
            said_by: self.said_by + 1,
            watched: self.watched.clone(),
            tags: self.tags.clone(),
            said: Arc::clone(&self.said),
            place: DraftPosition {
                file: self.place.file.clone(),
                row: self.place.row.clone(),
                line: self.place.line.clone(),
                keyword: Some(StepType::Then),
                scratch: true,
                last_keyword: None,
            },
            ..Self::default()
        }
    }

    /// Returns the current step.
    pub(super) fn step(&self) -> Option<&Step> {
        self.place.line.as_ref().map(|line| &line.step)
    }

    /// Declares a Node, unless the name is taken or is no valid name.
    pub(super) fn declare_node(&mut self, name: &str, kind: NodeKind, zone: Option<&str>) -> Option<Text> {
        let read = super::words::object_name(name);
        if read.is_err() {
            self.doubtful.insert(name.to_owned());
        }
        let name = self.take(name, read)?;
        let known = self.nodes.iter().find(|node| node.name == name && node.kind != NodeKind::Object);
        if kind == NodeKind::Object && known.is_some_and(|known| known.kind == NodeKind::Machine) {
            return Some(name);
        }
        if known.is_some() {
            let row = "another machine takes this name with a row `| hostname-override |` of its kubelet's flags";
            self.problem_with(&name, format!("there is a Node {name:?} already"), vec![row.to_owned()]);
            return None;
        }
        self.nodes.push(NodeEntry { name: name.clone(), kind, zone: zone.map(str::to_owned) });
        Some(name)
    }

    /// Returns a Node that the scenario has declared, or notes the problem that it has not.
    pub fn node(&mut self, name: &str) -> Option<Text> {
        self.node_entry(name).map(|node| node.name)
    }

    /// Returns a Node that was declared, or notes that it was not.
    pub(super) fn node_entry(&mut self, name: &str) -> Option<NodeEntry> {
        if let Some(node) = self.nodes.iter().rev().find(|node| *node.name == *name) {
            return Some(node.clone());
        }
        if name == BYSTANDER && self.scenario.cluster.bystanders != Bystanders::AsItIs {
            return Some(NodeEntry { name: Text::of(BYSTANDER), kind: NodeKind::Machine, zone: None });
        }
        if self.doubtful.contains(name) {
            return None;
        }
        let known: Vec<&str> = self.nodes.iter().map(|node| &*node.name).collect();
        let help = match nearest(name, known.iter().copied()) {
            Some(near) => vec![format!("did you mean {near:?}?")],
            None if known.is_empty() => vec![format!("declare it: Given a ready Node {name:?}")],
            None => vec![format!("the Nodes are {}", known.join(", "))],
        };
        self.problem_with(name, format!("no Node {name:?} is declared"), help);
        None
    }

    /// Returns the Nodes of a zone, or notes that there are none.
    pub(super) fn zone(&mut self, zone: &str) -> Vec<NodeEntry> {
        let nodes: Vec<NodeEntry> =
            self.nodes.iter().filter(|node| node.zone.as_deref() == Some(zone)).cloned().collect();
        if nodes.is_empty() && !self.doubtful.contains(zone) {
            let zones: BTreeMap<&str, ()> =
                self.nodes.iter().filter_map(|node| Some((node.zone.as_deref()?, ()))).collect();
            let help = match nearest(zone, zones.keys().copied()) {
                Some(near) => vec![format!("did you mean {near:?}?")],
                None => vec![format!("declare it: Given 3 ready Nodes in zone {zone:?}")],
            };
            self.problem_with(zone, format!("no Node is in zone {zone:?}"), help);
        }
        nodes
    }

    /// Tells whether the scenario itself names an object so.
    pub(super) fn says(&self, name: &str) -> bool {
        self.said.names(name)
    }

    /// Tells whether the scenario itself names an object so, beside the current step.
    pub(super) fn says_elsewhere(&self, name: &str) -> bool {
        let here = self.place.line.as_ref().filter(|_| !self.place.scratch && (self.is_given() || self.is_when()));
        self.said.names_beside(name, here.map_or(usize::MAX, |line| line.line))
    }

    /// Notes the name of an object of a fixture, which no step says.
    pub(super) fn note_name(&mut self, name: &str) {
        Arc::make_mut(&mut self.said).note(name);
    }

    /// Tells whether an object of this name is there or comes: the scenario says it, or makes it with others.
    pub(super) fn may_be_there(&self, name: &str) -> bool {
        let name = name.rsplit('/').next().unwrap_or(name);
        let is_of_owner = |(_, owner): &(Text, Text)| name.strip_prefix(&**owner).is_some_and(|s| s.starts_with('-'));
        name == BYSTANDER
            || self.says(name)
            || self.doubtful.contains(name)
            || self.nodes.iter().any(|node| *node.name == *name)
            || self.pods.iter().any(|pod| *pod.name == *name)
            || self.owners.iter().any(is_of_owner)
    }

    /// Reads the objects of the step's doc string, or notes what is wrong with it.
    pub(super) fn objects(&mut self, docstring: Option<&String>) -> Vec<Manifest> {
        let Some(text) = docstring else {
            let help = vec!["\"\"\"yaml\napiVersion: v1\nkind: Node\nmetadata: {name: worker-1}\n\"\"\"".to_owned()];
            self.problem_with("", "the object is missing: a doc string below the step".to_owned(), help);
            return Vec::new();
        };
        match manifests(text) {
            Ok(mut found) => {
                self.place_custom(&mut found);
                let others: Vec<&Manifest> = found.iter().filter(|object| !self.defines(&object.kind)).collect();
                let unknown: Vec<_> = others.into_iter().filter_map(unknown_in_object).collect();
                for unknown in unknown {
                    let line = text.lines().position(|line| line.contains(&unknown.name)).map_or(1, |at| at + 1);
                    self.problem_in_text(line, &unknown.name, unknown.message);
                    self.problems.last_mut().into_iter().for_each(|problem| problem.help.push(unknown.help.clone()));
                }
                found
            }
            Err((line, message)) => {
                self.problem_in_text(line, "", message);
                Vec::new()
            }
        }
    }

    /// Adds ready Nodes, given the bodies of their machines.
    pub(super) fn ready_nodes(&mut self, machines: Vec<Json>) {
        let specs: Vec<MachineSpec> = machines.iter().filter_map(|body| self.machine(body)).collect();
        if specs.len() == machines.len() {
            self.given(Setup::ReadyNodes(specs));
            self.last_machine = Some((machines, LastMachine::Ready));
        }
    }
}

/// The Node that is there beside those that a scenario names.
pub(super) const BYSTANDER: &str = "bystander";
