//! Which fields two states of an object differ in, and which fields an object has.
//!
//! Mirrors sigs.k8s.io/structured-merge-diff typed/{compare,tofieldset}.go (v6). Inputs: trees and the schema. Outputs:
//! sets of fields. An item that stands twice in a list which names its items is owned as a whole.

use alloc::vec::Vec;

use super::super::Json;
use super::super::schema::Schema;
use super::set::{FieldSet, Step};
use super::shape::{Items, Shape, Type, Typed, TypedPlace, step_of};
use crate::objects::Text;

/// The fields that were added, changed and removed.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    pub(super) added: FieldSet,
    pub(super) modified: FieldSet,
    pub(super) removed: FieldSet,
}

impl Comparison {
    /// Returns the fields that have another value than before.
    #[must_use]
    pub fn set(&self) -> FieldSet {
        self.modified.clone().union(&self.added)
    }

    /// Returns the fields that are gone.
    #[must_use]
    pub const fn removed(&self) -> &FieldSet {
        &self.removed
    }

    /// Returns the comparison without some fields and everything below them.
    #[must_use]
    pub fn without(&self, ignored: &FieldSet) -> Self {
        Self {
            added: self.added.without_trees(ignored),
            modified: self.modified.without_trees(ignored),
            removed: self.removed.without_trees(ignored),
        }
    }
}

/// Compares two states of an object of a type.
#[must_use]
pub fn compare(typed: Typed<'_>, before: &Json, after: &Json) -> Comparison {
    let mut walk = Comparing { schema: typed.schema, path: Vec::new(), found: Comparison::default() };
    walk.value(typed.root, Some(before), Some(after));
    walk.found
}

/// Returns the fields that an object of a type has.
#[must_use]
pub fn fields_of(typed: Typed<'_>, tree: &Json) -> FieldSet {
    let mut set = FieldSet::default();
    collect(typed.schema, typed.root, tree, &mut Vec::new(), &mut set);
    set
}

struct Comparing<'a> {
    schema: &'a Schema,
    path: Vec<Step>,
    found: Comparison,
}

impl Comparing<'_> {
    fn value(&mut self, place: TypedPlace<'_>, before: Option<&Json>, after: Option<&Json>) {
        if let (Some(before), Some(after)) = (before, after)
            && before.is_same_allocation(after)
        {
            return;
        }
        let shape = place.shape(self.schema, after.or(before).unwrap_or(&Json::Null));
        let is_leaf = match shape {
            Shape::Scalar(_) => true,
            _ if shape.is_atomic() => true,
            _ => is_nothing(before) && is_nothing(after),
        };
        if is_leaf {
            return self.leaf(before, after);
        }
        match shape {
            Shape::List(item, items) => self.items(item, items, before, after),
            _ => self.fields(shape, before, after),
        }
        match (before, after) {
            (None, _) => self.found.added.insert(&self.path),
            (_, None) => self.found.removed.insert(&self.path),
            _ => {}
        }
    }

    fn leaf(&mut self, before: Option<&Json>, after: Option<&Json>) {
        match (before, after) {
            (None, _) => self.found.added.insert(&self.path),
            (_, None) => self.found.removed.insert(&self.path),
            (before, after) if before != after => self.found.modified.insert(&self.path),
            _ => {}
        }
    }

    fn at(&mut self, step: Step, place: TypedPlace<'_>, before: Option<&Json>, after: Option<&Json>) {
        self.path.push(step);
        self.value(place, before, after);
        self.path.pop();
    }

    fn fields(&mut self, shape: Shape<'_>, before: Option<&Json>, after: Option<&Json>) {
        for name in names(before, after) {
            let Some((place, _)) = shape.field(name) else { continue };
            self.at(Step::Field(name.clone()), place, field(before, name), field(after, name));
        }
    }

    fn items(&mut self, item: Type<'_>, items: Items<'_>, before: Option<&Json>, after: Option<&Json>) {
        let (before, after) = (indexed(self.schema, item, items, before), indexed(self.schema, item, items, after));
        let all = before.iter().chain(after.iter().filter(|(step, _)| find(&before, step).is_empty()));
        for (step, _) in all {
            let (old, new) = (find(&before, step), find(&after, step));
            let mut path = self.path.clone();
            path.push(step.clone());
            let place = TypedPlace::of(item);
            match (old, new) {
                ([] | [_], [] | [_]) => {
                    self.at(step.clone(), place, old.first().copied(), new.first().copied());
                }
                ([_, _, ..], [_, _, ..]) if old != new => self.found.modified.insert(&path),
                ([_, _, ..], [_, _, ..]) => {}
                ([_, _, ..], _) => {
                    if let [one] = new {
                        self.at(step.clone(), place, None, Some(one));
                    }
                    self.found.removed.insert(&path);
                }
                _ => {
                    if let [one] = old {
                        self.at(step.clone(), place, Some(one), None);
                    }
                    self.found.added.insert(&path);
                }
            }
        }
    }
}

/// Tells whether a list or map is absent, null or empty.
pub(super) fn is_nothing(value: Option<&Json>) -> bool {
    match value {
        None | Some(Json::Null) => true,
        Some(Json::Array(items)) => items.is_empty(),
        Some(Json::Object(fields)) => fields.is_empty(),
        Some(_) => false,
    }
}

/// Returns a field that is there, even with the value null.
pub(super) fn field<'a>(value: Option<&'a Json>, name: &str) -> Option<&'a Json> {
    match value {
        Some(Json::Object(fields)) => fields.get(name),
        _ => None,
    }
}

/// Returns the names of the fields of two objects, sorted.
pub(super) fn names<'a>(before: Option<&'a Json>, after: Option<&'a Json>) -> Vec<&'a Text> {
    let of = |value: Option<&'a Json>| value.unwrap_or(&Json::Null).fields().map(|(name, _)| name);
    let mut names: Vec<&Text> = of(before).chain(of(after)).collect();
    names.sort();
    names.dedup();
    names
}

/// The items of a list by what identifies them, in order of their first appearance.
pub(super) type Indexed<'a> = Vec<(Step, Vec<&'a Json>)>;

pub(super) fn indexed<'a>(schema: &Schema, item: Type<'_>, items: Items<'_>, list: Option<&'a Json>) -> Indexed<'a> {
    let mut found: Indexed<'_> = Vec::new();
    for value in list.map_or(&[][..], Json::items) {
        let Ok(step) = step_of(schema, item, items, value) else { continue };
        match found.iter_mut().find(|(own, _)| *own == step) {
            Some((_, values)) => values.push(value),
            None => found.push((step, Vec::from([value]))),
        }
    }
    found
}

pub(super) fn find<'a, 'b>(index: &'b Indexed<'a>, step: &Step) -> &'b [&'a Json] {
    index.iter().find(|(own, _)| own == step).map_or(&[], |(_, values)| values)
}

fn collect(schema: &Schema, place: TypedPlace<'_>, value: &Json, path: &mut Vec<Step>, set: &mut FieldSet) {
    let shape = place.shape(schema, value);
    if matches!(shape, Shape::Scalar(_)) || shape.is_atomic() {
        return set.insert(path);
    }
    if let Shape::List(item, items) = shape {
        for (step, values) in indexed(schema, item, items, Some(value)) {
            path.push(step);
            if let [value] = values.as_slice() {
                collect(schema, TypedPlace::of(item), value, path, set);
            }
            set.insert(path);
            path.pop();
        }
        return;
    }
    for (name, value) in value.fields() {
        let Some((place, is_declared)) = shape.field(name) else { continue };
        path.push(Step::Field(name.clone()));
        collect(schema, place, value, path, set);
        if value.is_null() || value.is_object() && value.is_empty() || !is_declared {
            set.insert(path);
        }
        path.pop();
    }
}
