//! The schema: the fields of the API's types, one table for patches, decoding, strict checks and the order of fields.
//!
//! Mirrors what Go's struct tags and k8s.io/apimachinery pkg/util/strategicpatch (v1.34) know. Inputs: the table and
//! the changes of releases. Outputs: types and fields by name. Unknown types, and fields below them, are kept as they
//! are, so that any kind can be stored.

mod decode;
mod go_names;
mod go_time;
mod group_types;
mod internal;
mod internal_types;
mod print;
mod scalars;
mod server_types;
mod strict;
mod types;

use alloc::boxed::Box;
use alloc::vec::Vec;

use once_cell::race::OnceBox;

pub use go_names::named_kind;

pub use decode::{DecodeError, Decoded};
pub use print::sorted_go_json;
pub use scalars::{instant_error, quantity_error};

use crate::objects::order;

/// The fields of all known types: the table with the changes applied.
#[derive(Debug)]
pub struct Schema {
    /// The types in the table's order, then the new ones; each is parsed on first use.
    types: Vec<(&'static str, OnceBox<Struct>)>,
    names: Names,
    /// Type, `+` or `-`, and fields.
    changes: Vec<[&'static str; 3]>,
}

/// The places of the types, sorted by name.
type Names = Vec<(&'static str, usize)>;

/// The fields of a type, sorted by name.
#[derive(Clone, Debug)]
pub struct Struct {
    name: &'static str,
    fields: Vec<Field>,
}

/// A field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    name: &'static str,
    kind: FieldType,
    presence: Presence,
    merge: Merge,
    /// Whether Go prints it even if it is not set.
    is_filled: bool,
    /// Its place in the Go struct, by which encoding/json orders the fields.
    place: usize,
}

/// What a field holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FieldType {
    /// A string.
    Str,
    /// Bytes, as a string in base64.
    Bytes,
    /// A number without a fraction, of 64 bits.
    Int,
    /// A number without a fraction, of 32 bits.
    Int32,
    /// A truth value.
    Bool,
    /// A number.
    Float,
    /// A quantity.
    Quantity,
    /// A number or a share, as `25%`.
    IntOrString,
    /// An instant in whole seconds.
    Time,
    /// An instant in microseconds.
    MicroTime,
    /// Anything, kept as it is.
    Any,
    /// An object of a known type, by its place in the schema.
    Object(usize),
    /// A list.
    List(Box<FieldType>),
    /// A map from names.
    Map(Box<FieldType>),
}

/// Whether an absent or empty field is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Presence {
    /// Left out when empty.
    OmitEmpty,
    /// A pointer: an empty value is kept.
    Pointer,
    /// Printed even when empty.
    Always,
}

/// How a strategic merge patch treats a list or a map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Merge {
    /// The patch replaces it.
    Replace,
    /// Items with the same value of this field are one.
    Key(&'static str),
    /// A set of plain values.
    Set,
    /// The patch replaces it, and it is a map.
    Map,
}

impl Field {
    /// Returns the field's name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns what the field holds.
    #[must_use]
    pub const fn kind(&self) -> &FieldType {
        &self.kind
    }

    /// Returns whether an empty value of it is printed.
    #[must_use]
    pub const fn presence(&self) -> Presence {
        self.presence
    }

    /// Returns how patches merge it.
    #[must_use]
    pub const fn merge(&self) -> Merge {
        self.merge
    }
}

impl Struct {
    /// Returns the type's name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the names of the fields, sorted.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &'static str> {
        self.fields.iter().map(Field::name)
    }

    /// Returns a field.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.binary_search_by(|field| order(field.name, name)).ok().map(|at| &self.fields[at])
    }
}

impl Schema {
    /// Reads the table with changes, oldest first: `Type + field:type …` adds fields or replaces those of that name,
    /// `Type - field …` takes them away, `Type = field:type …` is a new type.
    #[must_use]
    pub fn new(changes: impl IntoIterator<Item = &'static str>) -> Self {
        let changes: Vec<[&str; 3]> = changes.into_iter().filter_map(change).collect();
        let new = changes.iter().filter(|[_, how, _]| *how == "=").map(|[name, _, fields]| (*name, *fields));
        let (mut types, mut names) = (Vec::new(), Names::new());
        for (name, fields) in all().chain(new) {
            names.push((name, types.len()));
            types.push((fields, OnceBox::new()));
        }
        names.sort_unstable_by(|(own, _), (other, _)| order(own, other));
        Self { types, names, changes }
    }

    /// Returns the type of a kind of objects, or of a part of one.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&Struct> {
        place_of(name, &self.names).map(|place| self.at(place))
    }

    /// Returns the place of a type.
    #[must_use]
    pub fn place(&self, name: &str) -> Option<usize> {
        place_of(name, &self.names)
    }

    /// Returns a type by its place.
    #[must_use]
    pub fn at(&self, place: usize) -> &Struct {
        let (text, read) = &self.types[place];
        read.get_or_init(|| {
            let name = self.names.iter().find(|(_, at)| *at == place).map_or("", |(name, _)| name);
            let mut fields = parse_fields(text, &self.names);
            for [_, how, text] in self.changes.iter().filter(|[own, ..]| *own == name) {
                let mut changed = parse_fields(text, &self.names);
                let last = fields.iter().map(|field| field.place).max().unwrap_or(0);
                for field in &mut changed {
                    let before = fields.iter().find(|own| own.name == field.name);
                    field.place = before.map_or(field.place + last + 1, |own| own.place);
                }
                if *how != "=" {
                    fields.retain(|field| !text.split_whitespace().any(|text| name_of(text) == field.name));
                }
                if *how == "+" {
                    fields.extend(changed);
                }
            }
            fields.sort_by_key(|field| field.name);
            Box::new(Struct { name, fields })
        })
    }
}

/// Returns names and fields of the types of the table.
fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = types::TYPES.lines().chain(group_types::TYPES.lines()).chain(server_types::TYPES.lines());
    lines.filter_map(|line| line.split_once(" = "))
}

fn place_of(name: &str, names: &Names) -> Option<usize> {
    names.binary_search_by(|(own, _)| order(own, name)).ok().map(|at| names[at].1)
}

/// Reads a change: type, how, fields.
fn change(line: &'static str) -> Option<[&'static str; 3]> {
    let (name, rest) = line.split_once(' ')?;
    let (how, fields) = rest.split_once(' ')?;
    Some([name, how, fields])
}

fn name_of(field: &str) -> &str {
    field.split_once(':').map_or(field, |(name, _)| name)
}

fn parse_fields(text: &'static str, names: &Names) -> Vec<Field> {
    let read = text.split_whitespace().filter_map(|text| parse_field(text, names)).enumerate();
    read.map(|(place, field)| Field { place, ..field }).collect()
}

fn parse_field(text: &'static str, names: &Names) -> Option<Field> {
    let (name, rest) = text.split_once(':')?;
    let (rest, presence) = match rest.as_bytes().last() {
        Some(b'*') => (&rest[..rest.len() - 1], Presence::Pointer),
        Some(b'!') => (&rest[..rest.len() - 1], Presence::Always),
        _ => (rest, Presence::OmitEmpty),
    };
    let (rest, merge) = match rest.split_once('@') {
        None => (rest, Merge::Replace),
        Some((rest, "")) => (rest, Merge::Set),
        Some((rest, "-")) => (rest, Merge::Map),
        Some((rest, key)) => (rest, Merge::Key(key)),
    };
    let kind = parse_kind(rest, names);
    let has_zero = matches!(kind, FieldType::Object(_) | FieldType::Time | FieldType::MicroTime);
    let is_filled = presence == Presence::Always || has_zero && presence == Presence::OmitEmpty;
    Some(Field { name, kind, presence, merge, is_filled, place: 0 })
}

/// The words of the table for what has no fields of its own.
pub(crate) static SCALARS: [(&str, FieldType); 11] = [
    ("str", FieldType::Str),
    ("bytes", FieldType::Bytes),
    ("int", FieldType::Int),
    ("int32", FieldType::Int32),
    ("bool", FieldType::Bool),
    ("float", FieldType::Float),
    ("quantity", FieldType::Quantity),
    ("intstr", FieldType::IntOrString),
    ("time", FieldType::Time),
    ("microtime", FieldType::MicroTime),
    ("any", FieldType::Any),
];

fn parse_kind(text: &str, names: &Names) -> FieldType {
    if let Some(item) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        return FieldType::List(Box::new(parse_kind(item, names)));
    }
    if let Some(item) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
        return FieldType::Map(Box::new(parse_kind(item, names)));
    }
    match SCALARS.iter().find(|(word, _)| *word == text) {
        Some((_, kind)) => kind.clone(),
        None => place_of(text, names).map_or(FieldType::Any, FieldType::Object),
    }
}

#[cfg(test)]
mod tests {
    use super::{FieldType, Merge, SCALARS, Schema, all};

    #[test]
    fn each_word_of_the_table_is_understood() {
        let schema = Schema::new([]);
        let known = SCALARS.each_ref().map(|(word, _)| *word);
        for (name, fields) in all() {
            for text in fields.split_whitespace() {
                let (field, rest) = text.split_once(':').expect(text);
                let kind = rest.trim_start_matches(['[', '{']);
                let kind = kind.split([']', '}', '*', '!', '@']).next().unwrap();
                assert!(known.contains(&kind) || schema.named(kind).is_some(), "{name}.{field} is {kind}");
                assert!(schema.named(name).unwrap().field(field).is_some(), "{name}.{field}");
            }
        }
    }

    #[test]
    fn lists_say_how_patches_merge_them() {
        let schema = Schema::new([]);
        let cases = [
            ("NodeSpec", "taints", Merge::Replace),
            ("NodeSpec", "podCIDRs", Merge::Set),
            ("NodeStatus", "conditions", Merge::Key("type")),
            ("ObjectMeta", "ownerReferences", Merge::Key("uid")),
            ("ObjectMeta", "finalizers", Merge::Set),
        ];
        for (name, field, merge) in cases {
            assert_eq!(schema.named(name).unwrap().field(field).unwrap().merge(), merge, "{name}.{field}");
        }
    }

    #[test]
    fn changes_add_fields_replace_them_and_take_them_away() {
        let changes =
            ["Taint + value:int seen:Seen*", "Seen = by:str", "Taint - timeAdded value", "Taint + value:bool"];
        let schema = Schema::new(changes);
        let kind =
            |schema: &Schema, field| schema.named("Taint").unwrap().field(field).map(|field| field.kind().clone());
        assert_eq!(kind(&schema, "value"), Some(FieldType::Bool));
        assert_eq!(kind(&schema, "timeAdded"), None);
        assert!(matches!(kind(&schema, "seen"), Some(FieldType::Object(_))));
        assert!(schema.named("Seen").unwrap().field("by").is_some());
        assert_eq!(kind(&Schema::new([]), "value"), Some(FieldType::Str));
    }
}
