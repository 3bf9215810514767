//! Merges what a manager applies into an object, and takes out what it no longer applies.
//!
//! Mirrors sigs.k8s.io/structured-merge-diff typed/{merge,remove}.go and merge/update.go (v6). Inputs: trees, sets of
//! fields and the schema. Outputs: trees. Pure.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::super::schema::Schema;
use super::super::{Json, Text};
use super::compare::{Indexed, field, fields_of, find, indexed, is_nothing, names};
use super::set::{FieldSet, Step};
use super::shape::{Items, Shape, Type, Typed, TypedPlace, step_of};

/// Returns an object with a configuration merged into it: what the configuration names wins.
#[must_use]
pub fn merge(typed: Typed<'_>, live: &Json, applied: &Json) -> Json {
    merged(typed.schema, typed.root, Some(live), Some(applied)).unwrap_or_else(Json::object)
}

/// Takes out of a merged object what its manager has applied last and applies no longer, unless any manager owns it.
///
/// `last` is what it owned before, `owned` what all managers own now.
#[must_use]
pub fn prune(typed: Typed<'_>, merged: &Json, last: &FieldSet, owned: &FieldSet) -> Json {
    let named = |set: &FieldSet| with_named(typed.schema, Some(typed.root), set);
    let without = |set: &FieldSet| removed(typed.schema, typed.root, merged, set);
    let last = named(last);
    let pruned = without(&last);
    let all = named(&fields_of(typed, merged));
    let left = named(&fields_of(typed, &pruned));
    let pruned = without(&all.difference(&left.union(&named(owned))));
    let left = named(&fields_of(typed, &pruned));
    without(&all.difference(&left).intersection(&last))
}

fn merged(schema: &Schema, place: TypedPlace<'_>, live: Option<&Json>, applied: Option<&Json>) -> Option<Json> {
    let shape = place.shape(schema, applied.or(live).unwrap_or(&Json::Null));
    let is_leaf = matches!(shape, Shape::Scalar(_)) || shape.is_atomic() || is_nothing(live) && is_nothing(applied);
    if is_leaf {
        return applied.or(live).cloned();
    }
    if let Shape::List(item, items) = shape {
        let list = merged_items(schema, item, items, live, applied);
        return (!list.is_empty()).then(|| Json::array(list));
    }
    let mut fields: Vec<(Text, Json)> = Vec::new();
    for name in names(live, applied) {
        let (live, applied) = (field(live, name), field(applied, name));
        // Fields that no type has are kept for the decoder to report.
        let value = match shape.field(name) {
            Some((place, _)) => merged(schema, place, live, applied),
            None => applied.or(live).cloned(),
        };
        fields.extend(value.map(|value| (name.clone(), value)));
    }
    (!fields.is_empty()).then(|| Json::of_fields(fields))
}

/// The two lists that are merged, by what identifies their items.
struct Lists<'a> {
    live: Indexed<'a>,
    applied: Indexed<'a>,
}

impl<'a> Lists<'a> {
    /// Returns an item of the live list; an item that stands twice is merged with nothing.
    fn live(&self, step: &Step) -> Option<&'a Json> {
        match find(&self.live, step) {
            [one] => Some(one),
            _ => None,
        }
    }

    fn applied(&self, step: &Step) -> Option<&'a Json> {
        find(&self.applied, step).first().copied()
    }
}

/// Merges two lists: the order of the applied one counts, and the other items stay behind what they stand behind.
fn merged_items(
    schema: &Schema,
    item: Type<'_>,
    items: Items<'_>,
    live: Option<&Json>,
    applied: Option<&Json>,
) -> Vec<Json> {
    let order_of = |list: Option<&Json>| -> Vec<(Step, Json)> {
        let values = list.map_or(&[][..], Json::items);
        values.iter().filter_map(|value| Some((step_of(schema, item, items, value).ok()?, value.clone()))).collect()
    };
    let (left, right) = (order_of(live), order_of(applied));
    let lists = Lists { live: indexed(schema, item, items, live), applied: indexed(schema, item, items, applied) };
    let mut shared = right.iter().map(|(step, _)| step).filter(|step| !find(&lists.live, step).is_empty());
    let mut next_shared = shared.next();
    let mut done: BTreeSet<&Step> = BTreeSet::new();
    let mut out = Vec::new();
    let both = |step: &Step| merged(schema, TypedPlace::of(item), lists.live(step), lists.applied(step));
    let (mut l, mut r) = (0, 0);
    while l < left.len() || r < right.len() {
        if let (Some((own, _)), Some((wanted, _))) = (left.get(l), right.get(r)) {
            if own == wanted {
                done.insert(own);
                out.extend(both(own));
                (l, r) = (l + 1, r + 1);
                next_shared = shared.next();
                continue;
            }
            if lists.applied(own).is_some() && next_shared.is_some_and(|next| next != own) {
                l += 1;
                continue;
            }
        }
        if let Some((own, value)) = left.get(l) {
            if lists.applied(own).is_none() {
                out.push(value.clone());
                l += 1;
                continue;
            }
            if done.contains(own) {
                l += 1;
            }
        }
        if let Some((wanted, _)) = right.get(r) {
            done.insert(wanted);
            out.extend(both(wanted));
            r += 1;
            if next_shared == Some(wanted) {
                next_shared = shared.next();
            }
        }
    }
    out
}

/// Takes fields out of a value.
fn removed(schema: &Schema, place: TypedPlace<'_>, value: &Json, fields: &FieldSet) -> Json {
    let shape = place.shape(schema, value);
    match (shape, value) {
        (Shape::Scalar(_), _) => value.clone(),
        _ if is_nothing(Some(value)) || shape.is_atomic() => Json::Null,
        (Shape::List(item, items), Json::Array(list)) => {
            let mut left = Vec::new();
            for value in list.iter() {
                let Ok(step) = step_of(schema, item, items, value) else { continue };
                if !fields.members.contains(&step) {
                    left.push(match fields.children.get(&step) {
                        Some(below) => removed(schema, TypedPlace::of(item), value, below),
                        None => value.clone(),
                    });
                }
            }
            if left.is_empty() { Json::Null } else { Json::array(left) }
        }
        _ => {
            let mut left = Vec::new();
            for (name, value) in value.fields() {
                let step = Step::Field(name.clone());
                if fields.members.contains(&step) {
                    continue;
                }
                let value = match (fields.children.get(&step), shape.field(name)) {
                    (Some(below), Some((place, _))) => removed(schema, place, value, below),
                    _ => value.clone(),
                };
                left.push((name.clone(), value));
            }
            if left.is_empty() { Json::Null } else { Json::of_fields(left) }
        }
    }
}

/// Returns a set with the declared fields on the way to its fields.
fn with_named(schema: &Schema, place: Option<TypedPlace<'_>>, set: &FieldSet) -> FieldSet {
    let shape = place.map(|place| place.shape(schema, &Json::object()));
    let mut named = FieldSet { members: set.members.clone(), children: alloc::collections::BTreeMap::new() };
    for (step, below) in &set.children {
        let inner = match (step, &shape) {
            (Step::Field(name), Some(shape)) => shape.field(name),
            (_, Some(Shape::List(item, _))) => Some((TypedPlace::of(*item), false)),
            _ => None,
        };
        if inner.is_some_and(|(_, is_declared)| is_declared) {
            named.members.insert(step.clone());
        }
        named.children.insert(step.clone(), with_named(schema, inner.map(|(place, _)| place), below));
    }
    named
}
