//! What the schema of a custom kind says of the owners of fields.
//!
//! Mirrors k8s.io/kube-openapi pkg/schemaconv/{openapi,smd}.go, as k8s.io/apiextensions-apiserver
//! pkg/apiserver/customresource_handler.go (v1.34) uses it. Inputs: the schema of a definition. Outputs: the form of
//! each place. Pure.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::super::schema::{FieldType, Schema};
use super::super::{Json, Text};
use super::shape::{ANY, Items, Shape, Type, TypedPlace};

/// What a place of a custom object may hold, with who owns it.
#[derive(Clone, Debug)]
pub struct CustomForm {
    /// A type of the API, as that of the metadata; with it nothing else is said.
    known: Option<FieldType>,
    scalar: Option<FieldType>,
    list: Option<Box<ListForm>>,
    map: Option<MapForm>,
    default: Json,
}

#[derive(Clone, Debug)]
struct ListForm {
    item: CustomForm,
    items: CustomItems,
}

#[derive(Clone, Debug)]
enum CustomItems {
    Atomic,
    Set,
    Keys(Vec<Text>),
}

/// A map or an object.
#[derive(Clone, Debug)]
pub(super) struct MapForm {
    fields: BTreeMap<Text, CustomForm>,
    /// The form of fields that are not declared; `None` if there may be none.
    others: Option<Box<CustomForm>>,
    pub(super) is_atomic: bool,
}

impl MapForm {
    /// Returns the form of a field, and whether it is declared.
    pub(super) fn field(&self, name: &str) -> Option<(&CustomForm, bool)> {
        let own = self.fields.get(name).map(|form| (form, true));
        own.or_else(|| self.others.as_deref().map(|form| (form, false)))
    }
}

impl CustomForm {
    /// Reads the schema of a custom kind, to whose objects the metadata and the names of the type belong.
    #[must_use]
    pub fn of_kind(schema: &Schema, custom: &Json) -> Self {
        let mut root = Self::read(custom, false);
        let mut fields = root.map.take().map_or_else(BTreeMap::new, |map| map.fields);
        let metadata = schema.place("ObjectMeta").map_or(ANY, FieldType::Object);
        for (name, kind) in [("metadata", metadata), ("apiVersion", FieldType::Str), ("kind", FieldType::Str)] {
            fields.insert(Text::of(name), Self::known(kind));
        }
        let keeps = custom.get("x-kubernetes-preserve-unknown-fields").as_bool() == Some(true);
        let others = keeps.then(|| Box::new(Self::known(ANY)));
        root.map = Some(MapForm { fields, others, is_atomic: custom.get(MAP_TYPE).as_str() == Some("atomic") });
        root
    }

    const fn known(kind: FieldType) -> Self {
        Self { known: Some(kind), scalar: None, list: None, map: None, default: Json::Null }
    }

    fn read(schema: &Json, keeps: bool) -> Self {
        let keeps = keeps || schema.get("x-kubernetes-preserve-unknown-fields").as_bool() == Some(true);
        let mut own = Self { known: None, scalar: None, list: None, map: None, default: schema.get("default").clone() };
        match schema.get("type").as_str().unwrap_or("") {
            "object" => own.map = Some(Self::map(schema, keeps)),
            "array" => own.list = Some(Box::new(Self::list(schema, keeps))),
            "integer" | "number" => own.scalar = Some(FieldType::Float),
            "boolean" => own.scalar = Some(FieldType::Bool),
            "string" if ["", "byte"].contains(&schema.get("format").as_str().unwrap_or("")) => {
                own.scalar = Some(FieldType::Str);
            }
            "string" => own.scalar = Some(ANY),
            _ => {
                own.scalar = Some(ANY);
                own.list = Some(Box::new(Self::list(schema, keeps)));
                own.map = Some(Self::map(schema, keeps));
            }
        }
        own
    }

    fn map(schema: &Json, keeps: bool) -> MapForm {
        let properties = schema.get("properties");
        let fields: BTreeMap<Text, Self> =
            properties.fields().map(|(name, own)| (name.clone(), Self::read(own, keeps))).collect();
        let others = match schema.get("additionalProperties") {
            Json::Null => (keeps || fields.is_empty()).then(|| Self::known(ANY)),
            Json::Bool(allows) => allows.then(|| Self::known(ANY)),
            own => Some(Self::read(own, keeps)),
        };
        let is_atomic = schema.get(MAP_TYPE).as_str() == Some("atomic");
        MapForm { fields, others: others.map(Box::new), is_atomic }
    }

    fn list(schema: &Json, keeps: bool) -> ListForm {
        let item = match schema.get("items") {
            Json::Null => Self::known(ANY),
            own => Self::read(own, keeps),
        };
        let items = match schema.get("x-kubernetes-list-type").as_str() {
            Some("set") => CustomItems::Set,
            Some("map") => {
                let keys = schema.get("x-kubernetes-list-map-keys").items();
                CustomItems::Keys(keys.iter().filter_map(Json::as_text).cloned().collect())
            }
            _ => CustomItems::Atomic,
        };
        ListForm { item, items }
    }

    /// Returns the form of a value. Source: sigs.k8s.io/structured-merge-diff typed/helpers.go (v6), `deduceAtom`.
    pub(super) fn shape<'a>(&'a self, schema: &'a Schema, value: &Json) -> Shape<'a> {
        if let Some(known) = &self.known {
            return TypedPlace::of(Type::Known(known)).shape(schema, value);
        }
        let list = |list: &'a ListForm| {
            let items = match &list.items {
                CustomItems::Atomic => Items::Atomic,
                CustomItems::Set => Items::Set,
                CustomItems::Keys(keys) => Items::Named(keys),
            };
            Shape::List(Type::Custom(&list.item), items)
        };
        match (value, &self.map, &self.scalar, &self.list) {
            (Json::Array(_), _, _, Some(own)) => list(own),
            (Json::Bool(_) | Json::Int(_) | Json::Float(_) | Json::Str(_), _, Some(scalar), _) => Shape::Scalar(scalar),
            (_, Some(map), _, _) => Shape::CustomMap(map),
            (_, _, Some(scalar), _) => Shape::Scalar(scalar),
            (_, _, _, Some(own)) => list(own),
            _ => Shape::Scalar(&ANY),
        }
    }

    /// Returns the value that a key of an item has when it is absent.
    pub(super) fn default_of(&self, key: &str) -> Option<Json> {
        let default = &self.map.as_ref()?.fields.get(key)?.default;
        (!default.is_null()).then(|| default.clone())
    }
}

const MAP_TYPE: &str = "x-kubernetes-map-type";
