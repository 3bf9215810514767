//! What a value is for the ownership of fields: a scalar, a list or a map, and whether it is owned as a whole.
//!
//! Source: `listType`, `listMapKey` and `structType` of k8s.io/api and apimachinery meta/v1 types.go, as in
//! k8s.io/client-go applyconfigurations/internal/internal.go (v1.34). Inputs: the schema and a value. Output: its form.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::schema::{Field, FieldType, Merge, Presence, Schema, Struct};
use super::super::{Json, Text};
use super::form::{CustomForm, MapForm};
use super::set::Step;

/// How the fields of an object are known: by the types of the API, or by the schema of a custom kind.
#[derive(Clone, Copy, Debug)]
pub struct Typed<'a> {
    pub(super) schema: &'a Schema,
    pub(super) root: TypedPlace<'a>,
}

impl<'a> Typed<'a> {
    /// An object of a type of the API; one that the schema does not know may hold anything.
    #[must_use]
    pub fn of(schema: &'a Schema, kind: &str) -> Self {
        let root = schema.place(kind).map_or(Type::Known(&ANY), Type::Object);
        Self { schema, root: TypedPlace::of(root) }
    }

    /// An object of a custom kind.
    #[must_use]
    pub const fn custom(schema: &'a Schema, form: &'a CustomForm) -> Self {
        Self { schema, root: TypedPlace::of(Type::Custom(form)) }
    }
}

/// The type of a place.
#[derive(Clone, Copy, Debug)]
pub(super) enum Type<'a> {
    /// An object, by its place in the schema.
    Object(usize),
    Known(&'a FieldType),
    Custom(&'a CustomForm),
}

/// How the items of a list are owned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Items<'a> {
    /// All as one.
    Atomic,
    /// Each plain value for itself.
    Set,
    /// Each by these fields.
    Keys(&'static [&'static str]),
    /// Each by this field.
    Key(&'static str),
    /// Each by the fields that the schema of a custom kind names.
    Named(&'a [Text]),
}

/// The form of a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape<'a> {
    Scalar(&'a FieldType),
    /// An object with known fields.
    Struct(&'a Struct),
    /// A map from names, or an object of which nothing is known.
    Map(&'a FieldType),
    /// A map or an object of a custom kind.
    CustomMap(&'a MapForm),
    List(Type<'a>, Items<'a>),
    /// A map or an object that is owned as a whole, with its known fields.
    AtomicStruct(&'a Struct),
    AtomicMap(&'a FieldType),
}

/// A type with what the field that holds it says of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct TypedPlace<'a> {
    kind: Type<'a>,
    items: Items<'a>,
    is_atomic: bool,
    /// Whether the fields of an object are owned one by one that are owned as a whole elsewhere.
    is_granular: bool,
}

pub(super) const ANY: FieldType = FieldType::Any;

/// Objects that are owned as a whole, but for those that stand in lists only, which are.
///
/// Source: k8s.io/api */v1/types.go (v1.34), `+structType=atomic`.
const ATOMIC_TYPES: &[&str] = &[
    "ConfigMapKeySelector",
    "FileKeySelector",
    "LabelSelector",
    "LocalObjectReference",
    "MatchResources",
    "NodeSelector",
    "NodeSelectorTerm",
    "ObjectFieldSelector",
    "ObjectReference",
    "OwnerReference",
    "ParamRef",
    "ResourceFieldSelector",
    "RoleRef",
    "ScopeSelector",
    "SecretKeySelector",
    "SecretReference",
    "ServiceBackendPort",
    "TypedLocalObjectReference",
];

/// Maps that are owned as a whole.
const ATOMIC_MAPS: &[(&str, &str)] = &[
    ("PodSpec", "nodeSelector"),
    ("ReplicationControllerSpec", "selector"),
    ("Scheduling", "nodeSelector"),
    ("ServiceSpec", "selector"),
];

/// Lists whose items are owned by other rules than those by which strategic merge patches merge them.
const OTHER_ITEMS: &[(&str, &str, Items<'static>)] = &[
    ("CSIDriverSpec", "volumeLifecycleModes", Items::Set),
    ("CustomResourceDefinitionStatus", "conditions", Items::Key("type")),
    ("Container", "ports", Items::Keys(&["containerPort", "protocol"])),
    ("Endpoint", "addresses", Items::Set),
    ("EphemeralContainer", "ports", Items::Keys(&["containerPort", "protocol"])),
    ("JobStatus", "conditions", Items::Atomic),
    ("PodSpec", "topologySpreadConstraints", Items::Keys(&["topologyKey", "whenUnsatisfiable"])),
    ("PodStatus", "hostIPs", Items::Atomic),
    ("ServiceSpec", "ports", Items::Keys(&["port", "protocol"])),
    ("UncountedTerminatedPods", "failed", Items::Set),
    ("UncountedTerminatedPods", "succeeded", Items::Set),
    ("ValidatingAdmissionPolicyBindingSpec", "validationActions", Items::Set),
];

impl<'a> TypedPlace<'a> {
    /// The place of a value of a type.
    pub(super) const fn of(kind: Type<'a>) -> Self {
        Self { kind, items: Items::Atomic, is_atomic: false, is_granular: false }
    }

    fn field(owner: &'a Struct, field: &'a Field) -> Self {
        let other = OTHER_ITEMS.iter().find(|(name, list, _)| *name == owner.name() && *list == field.name());
        let items = other.map_or_else(
            || match field.merge() {
                Merge::Replace | Merge::Map => Items::Atomic,
                Merge::Set => Items::Set,
                Merge::Key(key) => Items::Key(key),
            },
            |(_, _, items)| *items,
        );
        let is_atomic = ATOMIC_MAPS.contains(&(owner.name(), field.name()));
        // Source: k8s.io/api core/v1/types.go (v1.34), `+structType=granular`.
        let is_granular = (owner.name(), field.name()) == ("PersistentVolumeSpec", "claimRef");
        Self { kind: Type::Known(field.kind()), items, is_atomic, is_granular }
    }

    /// Returns the form of the values at a place; of a place of any type the form of the given value.
    pub(super) fn shape(self, schema: &'a Schema, value: &Json) -> Shape<'a> {
        let object = |at: usize| {
            let known = schema.at(at);
            let is_atomic = ATOMIC_TYPES.contains(&known.name()) && !self.is_granular;
            if is_atomic { Shape::AtomicStruct(known) } else { Shape::Struct(known) }
        };
        let kind = match self.kind {
            Type::Object(at) => return object(at),
            Type::Custom(form) => return form.shape(schema, value),
            Type::Known(kind) => kind,
        };
        match kind {
            FieldType::Object(at) => object(*at),
            FieldType::Map(item) if self.is_atomic => Shape::AtomicMap(item),
            FieldType::Map(item) => Shape::Map(item),
            FieldType::List(item) => Shape::List(Type::Known(item), self.items),
            FieldType::Any => match value {
                Json::Object(_) if self.is_atomic => Shape::AtomicMap(&ANY),
                Json::Object(_) => Shape::Map(&ANY),
                Json::Array(_) => Shape::List(Type::Known(&ANY), self.items),
                _ => Shape::Scalar(&ANY),
            },
            scalar => Shape::Scalar(scalar),
        }
    }
}

impl<'a> Shape<'a> {
    /// Returns the place of a field, and whether the type declares it; `None` if there can be no such field.
    pub(super) fn field(&self, name: &str) -> Option<(TypedPlace<'a>, bool)> {
        match self {
            Self::Struct(known) | Self::AtomicStruct(known) => {
                known.field(name).map(|field| (TypedPlace::field(known, field), true))
            }
            Self::Map(item) | Self::AtomicMap(item) => Some((TypedPlace::of(Type::Known(item)), false)),
            Self::CustomMap(map) => {
                let (form, is_declared) = map.field(name)?;
                Some((TypedPlace::of(Type::Custom(form)), is_declared))
            }
            Self::Scalar(_) | Self::List(..) => None,
        }
    }

    /// Tells whether the value is owned as a whole.
    pub(super) const fn is_atomic(&self) -> bool {
        match self {
            Self::AtomicStruct(_) | Self::AtomicMap(_) | Self::List(_, Items::Atomic) => true,
            Self::CustomMap(map) => map.is_atomic,
            _ => false,
        }
    }
}

/// Returns what identifies an item of a list, or why nothing does.
pub(super) fn step_of(schema: &Schema, item: Type<'_>, items: Items<'_>, value: &Json) -> Result<Step, String> {
    let keys: Vec<&str> = match items {
        Items::Keys(keys) => keys.to_vec(),
        Items::Key(key) => Vec::from([key]),
        Items::Named(keys) => keys.iter().map(Text::as_str).collect(),
        Items::Atomic | Items::Set => {
            let why = match value {
                Json::Object(_) => "associative list without keys has an element that's a map type",
                Json::Array(_) => "not supported: associative list with lists as elements",
                Json::Null => "associative list without keys has an element that's an explicit null",
                value => return Ok(Step::Value(value.clone())),
            };
            return Err(String::from(why));
        }
    };
    match value {
        Json::Object(_) => {}
        Json::Null => return Err(String::from("associative list with keys may not have a null element")),
        _ => return Err(String::from("associative list with keys may not have non-map elements")),
    }
    let mut found: Vec<(Text, Json)> = Vec::new();
    for key in &keys {
        let value = match value.get(key) {
            Json::Null => default_of(schema, item, key),
            value => Some(value.clone()),
        };
        found.extend(value.map(|value| (Text::from(*key), value)));
    }
    found.sort_by(|(own, _), (other, _)| own.cmp(other));
    if found.is_empty() {
        let keys: Vec<String> = keys.iter().map(|key| format!("{key:?}")).collect();
        return Err(format!(
            "associative list with keys has an element that omits all key fields [{}] (and doesn't have default values \
             for any key fields)",
            keys.join(" ")
        ));
    }
    Ok(Step::Key(found))
}

/// Returns the value that a key of an item has when it is absent: that of a field which is always printed.
fn default_of(schema: &Schema, item: Type<'_>, key: &str) -> Option<Json> {
    let item = match item {
        Type::Custom(form) => return form.default_of(key),
        Type::Object(_) => return None,
        Type::Known(item) => item,
    };
    // Source: k8s.io/api core/v1 types.go (v1.34): `+default="TCP"`.
    if key == "protocol" {
        return Some(Json::from("TCP"));
    }
    let FieldType::Object(at) = item else { return None };
    let field = schema.at(*at).field(key)?;
    if field.presence() != Presence::Always && schema.at(*at).name() != "LocalObjectReference" {
        return None;
    }
    match field.kind() {
        FieldType::Str => Some(Json::from("")),
        FieldType::Int | FieldType::Int32 => Some(Json::Int(0)),
        _ => None,
    }
}
