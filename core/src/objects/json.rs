//! JSON trees whose subtrees are shared.
//!
//! The stored form of every object. A clone costs a reference count, a change copies only the path from the root to the
//! changed place, so 100,000 Nodes made from one template share their common parts.
//! Invariant: the fields of an object are sorted by name and unique.

mod conversions;
mod depth;
mod written;

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Text, is_same, order};

pub use depth::without_depths;
pub use written::WrittenJson;

/// A JSON value. Cloning is cheap.
#[derive(Clone, Default)]
pub enum Json {
    /// `null`; also what an absent place reads as.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number without a fraction.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A string.
    Str(Text),
    /// A list.
    Array(Arc<Vec<Json>>),
    /// An object.
    Object(Arc<Fields>),
}

/// The value that an absent place reads as.
pub static NULL: Json = Json::Null;

impl Json {
    /// Makes an object without fields.
    #[must_use]
    pub fn object() -> Self {
        Self::Object(Arc::default())
    }

    /// Makes an object of fields in any order; of equal names the last one counts.
    #[must_use]
    pub fn of_fields(fields: Vec<(Text, Self)>) -> Self {
        Self::Object(Arc::new(Fields::sorted(fields)))
    }

    /// Makes a string.
    pub fn text(text: impl Into<Text>) -> Self {
        Self::Str(text.into())
    }

    /// Makes a list.
    #[must_use]
    pub fn array(items: Vec<Self>) -> Self {
        Self::Array(Arc::new(items))
    }

    /// Reads a JSON text.
    ///
    /// # Errors
    /// The text is no JSON; the error names line and column.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Returns the field of an object; `Null` for an absent field or another type.
    #[must_use]
    pub fn get(&self, field: &str) -> &Self {
        match self {
            Self::Object(fields) => fields.get(field).unwrap_or(&NULL),
            _ => &NULL,
        }
    }

    /// Returns the value at the end of a path of fields; `Null` if the path breaks off.
    #[must_use]
    #[inline]
    pub fn at(&self, path: &[&str]) -> &Self {
        path.iter().fold(self, |value, field| value.get(field))
    }

    /// Returns the items of a list; nothing for any other type.
    #[must_use]
    pub fn items(&self) -> &[Self] {
        match self {
            Self::Array(items) => items,
            _ => &[],
        }
    }

    /// Returns the fields of an object in order of their names; nothing for any other type.
    pub fn fields(&self) -> impl DoubleEndedIterator<Item = (&Text, &Self)> + ExactSizeIterator {
        let fields: &[(Text, Self)] = match self {
            Self::Object(fields) => &fields.0,
            _ => &[],
        };
        fields.iter().map(|(name, value)| (name, value))
    }

    /// Returns the string.
    #[must_use]
    #[inline]
    pub fn as_str(&self) -> Option<&str> {
        self.as_text().map(Text::as_str)
    }

    /// Returns the string, shared.
    #[must_use]
    pub fn as_text(&self) -> Option<&Text> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the integer.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the truth value.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Tells whether this is `null` or absent.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Tells whether this is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// Tells whether this is a list.
    #[must_use]
    pub fn is_array(&self) -> bool {
        matches!(self, Self::Array(_))
    }

    /// Tells whether this is `null`, an empty list or an empty object: what Kubernetes leaves out.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Array(items) => items.is_empty(),
            Self::Object(fields) => fields.0.is_empty(),
            _ => false,
        }
    }

    /// Tells whether both are objects or lists in the same allocation: equal without a look at what they hold.
    #[must_use]
    pub fn is_same_allocation(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Object(own), Self::Object(other)) => Arc::ptr_eq(own, other),
            (Self::Array(own), Self::Array(other)) => Arc::ptr_eq(own, other),
            _ => false,
        }
    }

    /// Returns the fields for a change, after turning any other value into an object without fields.
    pub fn make_object(&mut self) -> &mut Fields {
        if !self.is_object() {
            *self = Self::object();
        }
        match self {
            Self::Object(fields) => Arc::make_mut(fields),
            _ => unreachable!("made an object above"),
        }
    }

    /// Returns the items for a change, after turning any other value into an empty list.
    pub fn make_array(&mut self) -> &mut Vec<Self> {
        if !self.is_array() {
            *self = Self::array(Vec::new());
        }
        match self {
            Self::Array(items) => Arc::make_mut(items),
            _ => unreachable!("made a list above"),
        }
    }

    /// Returns the place at the end of a path for a change; creates the objects on the way.
    pub fn entry(&mut self, path: &[&str]) -> &mut Self {
        path.iter().fold(self, |value, field| value.make_object().entry(field))
    }

    /// Sets the place at the end of a path, creating the objects on the way. An equal value is not replaced, so that it
    /// stays shared with other trees.
    pub fn set(&mut self, path: &[&str], value: impl Into<Self>) {
        let value = value.into();
        if value.is_null() || *self.at(path) != value {
            *self.entry(path) = value;
        }
    }

    /// Removes the place at the end of a path and returns what stood there.
    pub fn remove(&mut self, path: &[&str]) -> Option<Self> {
        let (last, parents) = path.split_last()?;
        match self.at(parents) {
            Self::Object(fields) if fields.get(last).is_some() => {}
            _ => return None,
        }
        self.entry(parents).make_object().remove(last)
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(own), Self::Bool(other)) => own == other,
            (Self::Int(own), Self::Int(other)) => own == other,
            (Self::Float(own), Self::Float(other)) => own == other,
            (Self::Str(own), Self::Str(other)) => own == other,
            (Self::Array(own), Self::Array(other)) => Arc::ptr_eq(own, other) || own == other,
            (Self::Object(own), Self::Object(other)) => Arc::ptr_eq(own, other) || own == other,
            _ => false,
        }
    }
}

/// The fields of a JSON object, sorted by name.
#[derive(Clone, Default, PartialEq)]
pub struct Fields(Vec<(Text, Json)>);

/// Up to this many fields are searched linearly: most differ from the wanted one in length.
const FEW: usize = 16;

impl Fields {
    fn sorted(mut fields: Vec<(Text, Json)>) -> Self {
        if !fields.is_sorted_by(|(own, _), (next, _)| own < next) {
            fields.sort_by(|(own, _), (next, _)| own.cmp(next));
            fields.dedup_by(|later, kept| {
                let same = later.0 == kept.0;
                if same {
                    core::mem::swap(later, kept);
                }
                same
            });
        }
        Self(fields)
    }

    /// Returns where a field is, or where it would be.
    #[inline]
    fn find(&self, name: &str) -> Result<usize, usize> {
        let few = if self.0.len() > FEW { &[] } else { &self.0[..] };
        let found = few.iter().position(|(field, _)| is_same(field, name));
        found.map_or_else(|| self.0.binary_search_by(|(field, _)| order(field, name)), Ok)
    }

    /// Returns a field.
    #[must_use]
    #[inline]
    pub fn get(&self, name: &str) -> Option<&Json> {
        if self.0.len() > FEW {
            return self.find(name).ok().map(|at| &self.0[at].1);
        }
        self.0.iter().find(|(field, _)| is_same(field, name)).map(|(_, value)| value)
    }

    /// Returns a field for a change; an absent one becomes `null` first.
    pub fn entry(&mut self, name: &str) -> &mut Json {
        let at = match self.find(name) {
            Ok(at) => at,
            Err(at) => {
                self.make_room();
                self.0.insert(at, (Text::from(name), Json::Null));
                at
            }
        };
        &mut self.0[at].1
    }

    /// Sets a field.
    pub fn insert(&mut self, name: impl Into<Text>, value: impl Into<Json>) {
        let name = name.into();
        match self.find(&name) {
            Ok(at) => self.0[at].1 = value.into(),
            Err(at) => {
                self.make_room();
                self.0.insert(at, (name, value.into()));
            }
        }
    }

    /// Reserves capacity for a field, and little more: objects rarely get fields later, and are kept for long.
    fn make_room(&mut self) {
        if self.0.len() == self.0.capacity() {
            self.0.reserve_exact(2);
        }
    }

    /// Removes a field and returns its value.
    pub fn remove(&mut self, name: &str) -> Option<Json> {
        self.find(name).ok().map(|at| self.0.remove(at).1)
    }

    /// Returns name and value of each field, sorted by name.
    #[inline]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&Text, &Json)> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    /// Returns name and value of each field for a change that keeps their order.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&mut Text, &mut Json)> {
        self.0.iter_mut().map(|(name, value)| (name, value))
    }

    /// Frees unused capacity.
    pub(super) fn shrink(&mut self) {
        self.0.shrink_to_fit();
    }

    /// Keeps the fields for which the test holds.
    pub fn retain(&mut self, mut keep: impl FnMut(&Text, &mut Json) -> bool) {
        self.0.retain_mut(|(name, value)| keep(name, value));
    }

    /// Returns the number of fields.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Tells whether there is no field.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::Json;
    use crate::json;

    #[test]
    fn a_change_leaves_the_clone_as_it_was() {
        let before = json!({"metadata": {"name": "w1"}, "spec": {"taints": []}});
        let mut after = before.clone();
        after.set(&["metadata", "labels", "zone"], "a");
        assert_eq!(before, json!({"metadata": {"name": "w1"}, "spec": {"taints": []}}));
        assert_eq!(after, json!({"metadata": {"labels": {"zone": "a"}, "name": "w1"}, "spec": {"taints": []}}));
    }

    #[test]
    fn what_changes_nothing_copies_nothing() {
        let before = json!({"metadata": {"name": "w1", "labels": {"a": "b"}}, "none": null});
        let mut after = before.clone();
        after.set(&["metadata", "labels"], json!({"a": "b"}));
        after.remove(&["metadata", "annotations"]);
        after.remove(&["spec", "taints"]);
        assert!(after.is_same_allocation(&before));
        after.set(&["also"], Json::Null);
        assert_eq!(after, json!({"metadata": {"name": "w1", "labels": {"a": "b"}}, "none": null, "also": null}));
        assert_eq!(after.remove(&["none"]), Some(Json::Null));
    }

    #[test]
    fn an_absent_place_reads_as_null_and_removing_it_creates_nothing() {
        let mut object = json!({"spec": {}});
        assert!(object.at(&["status", "conditions"]).is_null());
        assert_eq!(object.remove(&["status", "conditions"]), None);
        assert_eq!(object, json!({"spec": {}}));
    }

    #[test]
    fn a_text_survives_reading_and_writing() {
        let text = r#"{"a":[1,2.5,null,true],"b":{"c":"d"}}"#;
        assert_eq!(alloc::format!("{}", Json::parse(text).unwrap()), text);
    }
}
