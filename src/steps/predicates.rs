//! Reads what a sentence expects of an object: the subject, the predicate, the bound.
//!
//! Inputs: the texts of a sentence's parameters. Output: an expectation in the draft, or a problem at the word.

use nodeproof_core::network::{ENDPOINT_SLICES, kind_names};
use nodeproof_core::objects::{Json, ObjectKey, Path, Text};
use nodeproof_core::scenario::{Bound, Every, FieldTest, ObjectRef, Position, Predicate, SnapshotKind, Subject};

use super::draft::{Draft, NodeKind};
use super::own_names::MAIN;
use super::words;
use crate::load::Problem;
use crate::load::near::nearest;

/// The names of objects that every cluster has, or every namespace.
const OF_EVERY_CLUSTER: [&str; 3] = ["default", "kube-root-ca.crt", "kubernetes"];

impl Draft {
    /// Reads `Node "…"`, `Pod "…"`, `the Lease of Node "…"`, `the EndpointSlice of Service "…"`, or any other kind with
    /// a name.
    pub(super) fn object(&mut self, words: &str) -> Option<Subject> {
        let name = words.split('"').nth(1).unwrap_or_default();
        if self.of_every_node && name == "*" {
            return Some(Subject::Every(if words.starts_with("the Lease of") { Every::Lease } else { Every::Node }));
        }
        if words.starts_with("machine") {
            return self.machine_behind(name).map(Subject::Machine);
        }
        let reference = if words.starts_with("the Lease of") {
            ObjectRef::lease(self.node(name)?)
        } else if words.starts_with("Pod \"") {
            let pod = self.pod(name)?;
            ObjectRef::pod(pod.namespace, pod.name)
        } else if words.starts_with("Node \"") {
            ObjectRef::node(self.node(name)?)
        } else {
            let kind = words.split_once(" \"").map_or(words, |(kind, _)| kind);
            self.named_object(kind, name)?
        };
        Some(Subject::Object(reference))
    }

    /// Reads an object of any kind, or the EndpointSlice of a Service, by a name that the scenario itself says.
    pub(super) fn named_object(&mut self, kind: &str, name: &str) -> Option<ObjectRef> {
        let is_slice = kind == "the EndpointSlice of Service";
        let found = self.kind_named(kind);
        let Some((resource, is_namespaced)) = found.or_else(|| is_slice.then_some((ENDPOINT_SLICES, true))) else {
            let near = nearest(kind, kind_names()).map(|near| format!("did you mean {near}?"));
            self.problem_with(kind, format!("there is no kind {kind:?}"), near.into_iter().collect());
            return None;
        };
        let (namespace, own) = name.split_once('/').unwrap_or(("default", name));
        // A claim that a Pod or a StatefulSet makes has the name of both.
        let is_joined = || own.match_indices('-').any(|(at, _)| self.says(&own[..at]) && self.says(&own[at + 1..]));
        let is_made = kind == "PersistentVolumeClaim" && is_joined();
        if !self.says(own) && !is_made && !OF_EVERY_CLUSTER.contains(&own) {
            if !self.doubtful.contains(name) {
                let what = kind.rsplit(' ').next().unwrap_or(kind);
                self.problem(name, format!("no {what} {name:?} is declared"));
            }
            return None;
        }
        if is_slice {
            return Some(ObjectRef::endpoint_slice(namespace, own));
        }
        let key = if is_namespaced { ObjectKey::namespaced(namespace, own) } else { ObjectKey::cluster(name) };
        Some(ObjectRef { kind: Text::from(kind), resource, key })
    }

    /// Reads a container on a machine.
    pub(super) fn container(&mut self, container: &str, pod: &str, node: &str) -> Option<(Subject, Predicate)> {
        let machine = self.machine_behind(node)?;
        let pod = self.pod(pod)?;
        if container != MAIN && !self.says(container) {
            let help = match nearest(container, [MAIN]) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("the container of a Pod that a sentence makes is called {MAIN}"),
            };
            self.problem_with(container, format!("no container {container:?} is declared"), vec![help]);
            return None;
        }
        let container = Text::from(container);
        let predicate = Predicate::ContainerRuns { namespace: pod.namespace, pod: pod.name, container };
        Some((Subject::Machine(machine), predicate))
    }

    fn machine_behind(&mut self, node: &str) -> Option<Text> {
        let entry = self.node_entry(node)?;
        if entry.kind != NodeKind::Machine {
            self.problem(node, format!("behind Node {node:?} is no machine"));
            return None;
        }
        Some(entry.name)
    }

    /// Refuses a predicate that cannot be checked for each Node of a cluster.
    pub(super) fn is_said_of_every(&mut self, subject: &Subject, predicate: &Predicate) -> bool {
        let told_apart = match predicate {
            Predicate::Not(inner) => return self.is_said_of_every(subject, inner),
            Predicate::Condition { .. }
            | Predicate::Taint(_)
            | Predicate::Label { .. }
            | Predicate::Field { .. }
            | Predicate::Exists
            | Predicate::RenewedOnTime
            | Predicate::Sound(_) => true,
            _ => false,
        };
        if matches!(subject, Subject::Every(_)) && !told_apart {
            self.problem("", "this cannot be said of each Node of the cluster".to_owned());
            return false;
        }
        true
    }

    /// Reads a number of Nodes with a taint.
    pub(super) fn tainted(&mut self, count: &str, zone: &str, taint: &str) -> Option<(Subject, Predicate)> {
        let nodes = if zone.is_empty() { self.nodes.clone() } else { self.zone(zone) };
        let of: Vec<ObjectRef> = nodes.into_iter().map(|node| ObjectRef::node(node.name)).collect();
        let number = count.parse::<usize>().ok().filter(|number| *number > 0);
        let Some(number) = number.filter(|number| *number <= of.len() || of.is_empty()) else {
            self.problem(count, format!("the number is one of 1 to {}", of.len()));
            return None;
        };
        let taint = self.take(taint, words::taint(taint))?;
        let called = if zone.is_empty() { "the Nodes".to_owned() } else { format!("the Nodes of zone {zone}") };
        let predicate = Predicate::Count { count: number, of: Box::new(Predicate::Taint(taint)) };
        (!of.is_empty()).then(|| (Subject::Several { called: Text::from(called), of }, predicate))
    }

    pub(super) fn object_becomes(&mut self, object: &str, predicate: Option<Predicate>, bound: &str) {
        let what = self.object(object).zip(predicate);
        self.expect_becomes(what, bound);
    }

    pub(super) fn object_lasts(&mut self, object: &str, predicate: Option<Predicate>, bound: &str) {
        let what = self.object(object).zip(predicate);
        self.expect_lasts(what, bound);
    }

    /// Refuses words that say for how long, unless the step is a `Then`.
    pub(super) fn is_then(&mut self, words: &str) -> bool {
        let waits = self.is_given() || self.is_when();
        if waits {
            self.problem(words.trim(), format!("`{}` stands in a Then: nothing waits for it", words.trim()));
        }
        !waits
    }

    /// Refuses a line that nothing else changes in an act without a bound: it would end as it begins.
    pub(super) fn refuse_unmoved(&mut self) {
        let mut wrong = Vec::new();
        for act in &self.scenario.acts {
            // What a request does is done at zero.
            let lasts = act.expectations.iter().any(|line| {
                line.bound.end().is_positive() || line.bound.anchor().is_some() || line.fact.subject == Subject::Answer
            });
            let unmoved = act.expectations.iter().find(|line| line.fact.predicate == Predicate::NothingElseChanges);
            wrong.extend(unmoved.filter(|_| !lasts).map(|line| line.position.clone()));
        }
        let problem = |position: Position| Problem {
            file: position.file.to_string(),
            line: position.line as usize,
            column: position.column as usize,
            width: position.text.chars().count(),
            message: "the act has no bound, so it ends as it begins, and nothing can change".to_owned(),
            help: vec!["say beside it what stays, and for how long: `keeps … for 60s`".to_owned()],
            excerpt: format!("{}{}", " ".repeat((position.column as usize).saturating_sub(1)), position.text),
            ..Problem::default()
        };
        self.problems.extend(wrong.into_iter().map(problem));
    }

    pub(super) fn renewals(&mut self, object: &str, every: &str, longest: &str, bound: &str) {
        let Some(pace) = self.duration(every) else { return };
        if pace.is_zero() {
            self.problem_with(
                every,
                "nothing is written every 0s".to_owned(),
                vec!["every 10s, for a Lease".to_owned()],
            );
            return;
        }
        let predicate = if longest.is_empty() {
            Predicate::RenewedEvery { every: pace, tolerance: pace / 4 }
        } else {
            let Some(longest) = self.duration(longest) else { return };
            if longest < pace {
                self.problem(every, format!("{every} is the shortest pause, and longer than the longest"));
                return;
            }
            Predicate::RenewedEvery { every: (pace + longest) / 2, tolerance: (longest - pace) / 2 }
        };
        self.object_lasts(object, Some(predicate), bound);
    }

    pub(super) fn condition(&mut self, condition: &str, reason: &str, message: &str) -> Option<Predicate> {
        let (kind, status) = self.take(condition, words::condition(condition))?;
        let optional = |text: &str| Some(text).filter(|text| !text.is_empty()).map(|text| words::unquoted(text).into());
        Some(Predicate::Condition { kind, status, reason: optional(reason), message: optional(message) })
    }

    pub(super) fn label(&mut self, label: &str) -> Option<Predicate> {
        let (key, value) = self.take(label, words::label(label))?;
        Some(Predicate::Label { key, value })
    }

    pub(super) fn field_test(&mut self, path: &str, value: &str) -> Option<Predicate> {
        if value == "changed" {
            return Some(self.field_test(path, "unchanged")?.negated());
        }
        self.field_of(path, value).map(|(path, test)| Predicate::Field { path, test })
    }

    /// Reads a path and what must be there.
    pub(super) fn field_of(&mut self, path: &str, value: &str) -> Option<(Path, FieldTest)> {
        let path = self.take(path, words::path(path))?;
        let test = match value {
            "set" => FieldTest::Present,
            "absent" => FieldTest::Absent,
            "unchanged" => FieldTest::Unchanged,
            value if value.starts_with('"') && value.contains("\" or \"") => {
                let values = value.trim_matches('"').split("\" or \"");
                FieldTest::OneOf(values.map(|value| Json::from(words::unquoted(value))).collect())
            }
            value => match value.strip_prefix("not ") {
                Some(other) => FieldTest::IsNot(words::value(other)),
                None => FieldTest::Is(words::value(value)),
            },
        };
        Some((path, test))
    }

    pub(super) fn snapshot(&mut self, object: &str, kind: SnapshotKind) {
        if let Some(subject) = self.object(object) {
            self.expect(subject, Predicate::MatchesSnapshot(kind), Some(Bound::Act));
        }
    }
}
