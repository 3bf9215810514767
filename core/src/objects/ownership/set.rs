//! A set of fields, and its form in `fieldsV1`.
//!
//! Mirrors sigs.k8s.io/structured-merge-diff fieldpath (v6). Inputs: paths. Outputs: sets, their JSON, their paths in
//! order. Invariant: no child is empty. A path may be in a set without the fields below it, and the other way round.

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Ordering;

use super::super::{Json, Text};

/// One part of a path.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A field of an object, or a key of a map.
    Field(Text),
    /// An item of a list by the fields that identify it, sorted.
    Key(Vec<(Text, Json)>),
    /// An item of a list of plain values.
    Value(Json),
}

/// Prints a value as Go does, which escapes what has a meaning in HTML.
/// Source: sigs.k8s.io/structured-merge-diff fieldpath/serialize-pe.go (v6.3.0), `SerializePathElementToWriter`.
fn escaped(value: &Json) -> String {
    value.to_string().replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e")
}

impl Step {
    const fn rank(&self) -> u8 {
        match self {
            Self::Field(_) => 0,
            Self::Key(_) => 1,
            Self::Value(_) => 2,
        }
    }

    /// Returns the form of a step in `fieldsV1`.
    fn encoded(&self) -> String {
        match self {
            Self::Field(name) => format!("f:{name}"),
            Self::Key(fields) => format!("k:{}", escaped(&Json::of_fields(fields.clone()))),
            Self::Value(value) => format!("v:{}", escaped(value)),
        }
    }

    fn decoded(text: &str) -> Option<Self> {
        match text.split_at_checked(2)? {
            ("f:", name) => Some(Self::Field(Text::from(name))),
            ("v:", value) => Json::parse(value).ok().map(Self::Value),
            ("k:", key) => {
                let key = Json::parse(key).ok().filter(Json::is_object)?;
                Some(Self::Key(key.fields().map(|(name, value)| (name.clone(), value.clone())).collect()))
            }
            _ => None,
        }
    }

    /// Returns a step as messages show it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Field(name) => format!(".{name}"),
            Self::Key(fields) => {
                let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
                format!("[{}]", fields.join(","))
            }
            Self::Value(value) => format!("[={value}]"),
        }
    }
}

impl Ord for Step {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Field(own), Self::Field(other)) => own.cmp(other),
            (Self::Value(own), Self::Value(other)) => compare(own, other),
            (Self::Key(own), Self::Key(other)) => {
                let fields = own.iter().zip(other).map(|((name, value), (other_name, other_value))| {
                    name.cmp(other_name).then_with(|| compare(value, other_value))
                });
                fields.fold(Ordering::Equal, Ordering::then).then(own.len().cmp(&other.len()))
            }
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Step {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Step {}

/// Orders plain values: numbers by size, everything else by its text.
fn compare(own: &Json, other: &Json) -> Ordering {
    match (own, other) {
        (Json::Int(own), Json::Int(other)) => own.cmp(other),
        (Json::Str(own), Json::Str(other)) => own.cmp(other),
        _ => own.to_string().cmp(&other.to_string()),
    }
}

/// A set of fields of an object.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FieldSet {
    pub(super) members: BTreeSet<Step>,
    pub(super) children: BTreeMap<Step, FieldSet>,
}

impl FieldSet {
    /// Makes a set of fields by the names on the way to each.
    #[must_use]
    pub fn of(paths: &[&[&'static str]]) -> Self {
        let mut set = Self::default();
        for path in paths {
            let steps: Vec<Step> = path.iter().map(|name| Step::Field(Text::of(name))).collect();
            set.insert(&steps);
        }
        set
    }

    /// Makes a set of one field.
    #[must_use]
    pub fn at(path: &[Text]) -> Self {
        let mut set = Self::default();
        set.insert(&path.iter().cloned().map(Step::Field).collect::<Vec<_>>());
        set
    }

    /// Reads a set from `fieldsV1`; `None` if it has another form.
    #[must_use]
    pub fn parse(fields: &Json) -> Option<Self> {
        let mut set = Self::default();
        for (name, below) in fields.fields().filter(|(name, _)| name.as_str() != ".") {
            let step = Step::decoded(name)?;
            if below.is_empty() || below.fields().any(|(name, _)| name.as_str() == ".") {
                set.members.insert(step.clone());
            }
            set.put(step, Self::parse(below)?);
        }
        Some(set)
    }

    /// Returns the set as `fieldsV1`.
    #[must_use]
    pub fn json(&self) -> Json {
        let mut fields: Vec<(Text, Json)> = Vec::new();
        for step in &self.members {
            if !self.children.contains_key(step) {
                fields.push((Text::from(step.encoded()), Json::object()));
            }
        }
        for (step, below) in &self.children {
            let mut below = below.json();
            if self.members.contains(step) {
                below.set(&["."], Json::object());
            }
            fields.push((Text::from(step.encoded()), below));
        }
        Json::of_fields(fields)
    }

    /// Tells whether nothing is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.children.is_empty()
    }

    pub(super) fn insert(&mut self, path: &[Step]) {
        match path {
            [] => {}
            [last] => _ = self.members.insert(last.clone()),
            [first, rest @ ..] => self.children.entry(first.clone()).or_default().insert(rest),
        }
    }

    fn put(&mut self, step: Step, below: Self) {
        if !below.is_empty() {
            self.children.insert(step, below);
        }
    }

    /// Returns what is in either set.
    #[must_use]
    pub fn union(mut self, other: &Self) -> Self {
        self.members.extend(other.members.iter().cloned());
        for (step, below) in &other.children {
            let own = self.children.remove(step).unwrap_or_default();
            self.put(step.clone(), own.union(below));
        }
        self
    }

    /// Returns what is in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let members = self.members.intersection(&other.members).cloned().collect();
        let mut both = Self { members, children: BTreeMap::new() };
        for (step, below) in &self.children {
            if let Some(other) = other.children.get(step) {
                both.put(step.clone(), below.intersection(other));
            }
        }
        both
    }

    /// Returns what is in this set alone.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        let members = self.members.difference(&other.members).cloned().collect();
        let mut left = Self { members, children: BTreeMap::new() };
        for (step, below) in &self.children {
            let below = other.children.get(step).map_or_else(|| below.clone(), |other| below.difference(other));
            left.put(step.clone(), below);
        }
        left
    }

    /// Returns what is in this set and neither in the other one nor below a field of it.
    #[must_use]
    pub fn without_trees(&self, other: &Self) -> Self {
        let members = self.members.difference(&other.members).cloned().collect();
        let mut left = Self { members, children: BTreeMap::new() };
        for (step, below) in self.children.iter().filter(|(step, _)| !other.members.contains(*step)) {
            let below = other.children.get(step).map_or_else(|| below.clone(), |other| below.without_trees(other));
            left.put(step.clone(), below);
        }
        left
    }

    /// Returns the paths of all fields, in order.
    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.collect("", &mut paths);
        paths
    }

    /// Members come before what is below fields.
    fn collect(&self, before: &str, paths: &mut Vec<String>) {
        paths.extend(self.members.iter().map(|step| before.to_owned() + &step.shown()));
        for (step, below) in &self.children {
            below.collect(&(before.to_owned() + &step.shown()), paths);
        }
    }
}
