//! Strategic merge patch: merges lists by key where the schema says so.
//!
//! Mirrors k8s.io/apimachinery pkg/util/strategicpatch/patch.go (v1.34), `StrategicMergeMapPatch`: directives, order of
//! merged lists, and its error texts. Pure: schema, object and patch in, the merged object or the error out.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{PatchError, go_type, go_value};
use crate::json;
use crate::objects::schema::{FieldType, Merge, Schema, Struct};
use crate::objects::{Json, Text};

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";
const SET_ORDER: &str = "$setElementOrder/";

/// What is known of the place that is being merged.
#[derive(Clone, Copy)]
enum MergeSchema<'a> {
    Struct(&'a Struct),
    Map(&'a FieldType),
    /// An object of a kind that the schema does not know, of which it knows the metadata.
    Stored,
    Unknown,
}

/// Merges a patch into an object of a type (a kind's name); a type that the schema does not know merges like a map
/// whose lists are replaced, but for its metadata.
///
/// # Errors
/// The patch does not fit the object.
pub fn strategic_merge(schema: &Schema, of: &str, original: &Json, patch: &Json) -> Result<Json, PatchError> {
    strategic_merge_taking(schema, of, original, &mut patch.clone())
}

/// Merges as [`strategic_merge`] does, and leaves of the patch what the server has left of it when it prints it.
///
/// # Errors
/// The patch does not fit the object.
pub fn strategic_merge_taking(
    schema: &Schema,
    of: &str,
    original: &Json,
    patch: &mut Json,
) -> Result<Json, PatchError> {
    let place = schema.named(of).map_or(MergeSchema::Stored, MergeSchema::Struct);
    Merger { schema }.map(original, patch, place)
}

struct Merger<'a> {
    schema: &'a Schema,
}

impl<'a> Merger<'a> {
    fn field(&self, place: MergeSchema<'a>, name: &str) -> (Option<&'a FieldType>, Merge) {
        match place {
            MergeSchema::Struct(of) => {
                of.field(name).map_or((None, Merge::Replace), |field| (Some(field.kind()), field.merge()))
            }
            MergeSchema::Map(kind) => (Some(kind), Merge::Replace),
            // Each kind has the same metadata.
            MergeSchema::Stored if name == "metadata" => self
                .schema
                .named("Node")
                .map_or((None, Merge::Replace), |node| self.field(MergeSchema::Struct(node), name)),
            MergeSchema::Stored | MergeSchema::Unknown => (None, Merge::Replace),
        }
    }

    fn place(&self, kind: Option<&'a FieldType>) -> MergeSchema<'a> {
        match kind {
            Some(FieldType::Object(at)) => MergeSchema::Struct(self.schema.at(*at)),
            Some(FieldType::Map(kind)) => MergeSchema::Map(kind),
            Some(FieldType::List(item)) => self.place(Some(item)),
            _ => MergeSchema::Unknown,
        }
    }

    fn map(&self, original: &Json, patch: &mut Json, place: MergeSchema<'a>) -> Result<Json, PatchError> {
        let directive = patch.get(DIRECTIVE).clone();
        if !directive.is_null() {
            return map_directive(&directive, patch);
        }
        let mut merged = if original.is_object() { original.clone() } else { Json::object() };
        retain_keys(&mut merged, patch)?;
        self.ordered_lists(&mut merged, patch, place)?;
        let fields: Vec<(Text, Json)> = patch.fields().map(|(name, value)| (name.clone(), value.clone())).collect();
        for (field, mut value) in fields {
            let (name, is_delete_list) = match field.strip_prefix(DELETE_FROM) {
                Some(name) => (name, true),
                None => (field.as_str(), false),
            };
            if value.is_null() {
                merged.remove(&[name]);
                continue;
            }
            let current = merged.get(name).clone();
            let both_maps = current.is_object() && value.is_object();
            let both_lists = current.is_array() && value.is_array();
            if !both_maps && !both_lists && is_delete_list {
                continue;
            }
            let (kind, merge) = self.field(place, name);
            let result = if both_maps && merge == Merge::Map {
                Some(value.clone())
            } else if both_maps {
                Some(self.map(&current, &mut value, self.place(kind))?)
            } else if both_lists {
                let item = self.place(kind);
                Some(self.list(current.items(), &mut value, item, merge, is_delete_list)?)
            } else {
                discard_nulls(&mut value);
                without_directives(&mut value)
            };
            patch.set(&[&field], value);
            put(&mut merged, name, result);
        }
        Ok(merged)
    }

    /// Merges the lists whose order the patch sets, and takes them out of the patch.
    fn ordered_lists(&self, merged: &mut Json, patch: &mut Json, place: MergeSchema<'a>) -> Result<(), PatchError> {
        let orders: Vec<(String, Json)> = patch
            .fields()
            .filter_map(|(name, order)| Some((name.strip_prefix(SET_ORDER)?.to_string(), order.clone())))
            .collect();
        for (name, order) in orders {
            patch.remove(&[&format!("{SET_ORDER}{name}")]);
            let (kind, merge) = self.field(place, &name);
            let found = merged.get(&name).clone();
            let mut patched = patch.get(&name).clone();
            let there = [&found, &patched].into_iter().filter(|list| !list.is_null());
            if let Some(other) = core::iter::once(&order).chain(there).find(|list| !list.is_array()) {
                let message = format!("expected a []interface {{}}, but received a {}", shown_type(other));
                return Err(PatchError::Other(message));
            }
            if let MergeSchema::Struct(of) = place {
                check_is_list(of, &name)?;
            }
            let key = match merge {
                Merge::Key(key) => Some(key),
                Merge::Set | Merge::Replace | Merge::Map => None,
            };
            check_order(patched.items(), order.items(), key)?;
            let contents = match (found.is_array(), patched.is_array()) {
                (false, false) => continue,
                (true, false) => found.items().to_vec(),
                (false, true) => without_directives(&mut patched).unwrap_or(Json::Null).items().to_vec(),
                (true, true) => {
                    self.list(found.items(), &mut patched, self.place(kind), merge, false)?.items().to_vec()
                }
            };
            check_places(&contents, order.items(), key)?;
            merged.set(&[&name], Json::array(in_order(contents, order.items(), found.items(), key)));
            patch.remove(&[&name]);
        }
        Ok(())
    }

    fn list(
        &self,
        original: &[Json],
        patched: &mut Json,
        item: MergeSchema<'a>,
        merge: Merge,
        is_delete_list: bool,
    ) -> Result<Json, PatchError> {
        let patch = patched.items();
        let key = match merge {
            _ if is_delete_list => {
                return Ok(original.iter().filter(|value| !patch.contains(value)).cloned().collect());
            }
            // What replaces a list is taken as it is: a directive in it is nothing but an unknown field.
            Merge::Replace | Merge::Map => return Ok(Json::array(patch.to_vec())),
            Merge::Set => {
                check_forms(original, patch)?;
                let mut both: Vec<Json> = Vec::new();
                for value in original.iter().chain(patch) {
                    if !both.contains(value) {
                        both.push(value.clone());
                    }
                }
                return Ok(Json::array(in_order(both, patch, original, None)));
            }
            Merge::Key(key) => key,
        };
        if original.iter().chain(patch).any(Json::is_object) && !original.iter().chain(patch).all(Json::is_object) {
            return Err(PatchError::Other(not_identical(original, patch)));
        }
        let mut kept = original.to_vec();
        let mut plain = Vec::new();
        let mut replace = false;
        for (at, value) in patch.iter().enumerate() {
            match value.get(DIRECTIVE).as_str() {
                None if value.get(DIRECTIVE).is_null() => plain.push((at, value.clone())),
                Some("delete") => {
                    let wanted = value.get(key);
                    if wanted.is_null() {
                        return Err(no_merge_key(value, key));
                    }
                    kept.retain(|item| item.get(key) != wanted);
                }
                Some("replace") => replace = true,
                Some("merge") => {
                    return Err(PatchError::Other("merging lists cannot yet be specified in the patch".to_string()));
                }
                _ => return Err(bad_directive(value.get(DIRECTIVE), value)),
            }
        }
        if replace {
            return Ok(plain.into_iter().map(|(_, value)| value).collect());
        }
        let mut merged = kept.clone();
        for (place, value) in &mut plain {
            let wanted = value.get(key).clone();
            if wanted.is_null() {
                return Err(no_merge_key(value, key));
            }
            match merged.iter().position(|item| *item.get(key) == wanted) {
                Some(at) => {
                    merged[at] = self.map(&merged[at], value, item)?;
                    patched.make_array()[*place] = value.clone();
                }
                None => merged.push(value.clone()),
            }
        }
        let plain: Vec<Json> = plain.into_iter().map(|(_, value)| value).collect();
        Ok(Json::array(in_order(merged, &plain, &kept, Some(key))))
    }
}

/// Refuses the order of what is no list of a struct. Source: k8s.io/apimachinery pkg/util/strategicpatch/meta.go
/// (v1.34), `LookupPatchMetadataForSlice`, and third_party/forked/golang/json/fields.go (v1.34).
fn check_is_list(of: &Struct, name: &str) -> Result<(), PatchError> {
    let Some(field) = of.field(name) else {
        let owner = of.name();
        let message = format!("unable to find api field in struct {owner} for the json field {name:?}");
        return Err(PatchError::Other(message));
    };
    match field.kind() {
        FieldType::List(_) | FieldType::Any => Ok(()),
        _ => Err(PatchError::Other("expected slice or array type, but got: struct".to_string())),
    }
}

/// Prints the type of a value as Go's `%s` does, which has none for nil.
const fn shown_type(value: &Json) -> &'static str {
    if matches!(value, Json::Null) { "%!s(<nil>)" } else { go_type(value) }
}

/// What Go's reflection tells of an item of a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Null,
    Bool,
    Int,
    Float,
    Str,
    List,
    Map,
}

const fn form(item: &Json) -> Form {
    match item {
        Json::Null => Form::Null,
        Json::Bool(_) => Form::Bool,
        Json::Int(_) => Form::Int,
        Json::Float(_) => Form::Float,
        Json::Str(_) => Form::Str,
        Json::Array(_) => Form::List,
        Json::Object(_) => Form::Map,
    }
}

/// Refuses to merge sets of values of different forms, and of lists.
fn check_forms(original: &[Json], patch: &[Json]) -> Result<(), PatchError> {
    let forms: Vec<Form> = original.iter().chain(patch).map(form).collect();
    if forms.windows(2).any(|pair| pair[0] != pair[1]) {
        return Err(PatchError::Other(not_identical(original, patch)));
    }
    if forms.contains(&Form::List) {
        return Err(PatchError::Unsupported("lists of lists are not supported".to_string()));
    }
    Ok(())
}

/// Source: k8s.io/apimachinery pkg/util/strategicpatch/patch.go (v1.34), `sliceElementType`.
fn not_identical(original: &[Json], patch: &[Json]) -> String {
    format!("list element types are not identical: {}", go_value(&json!([original, patch])))
}

fn no_merge_key(value: &Json, key: &str) -> PatchError {
    PatchError::Other(format!("map: {} does not contain declared merge key: {key}", go_value(value)))
}

fn bad_directive(directive: &Json, value: &Json) -> PatchError {
    // Go's `%s` tells the type of what is no text.
    let told = match directive {
        Json::Int(_) => format!("%!s(int64={directive})"),
        Json::Float(_) => format!("%!s(float64={directive})"),
        Json::Bool(_) => format!("%!s(bool={directive})"),
        _ => go_value(directive),
    };
    PatchError::Other(format!("unknown patch type: {told} in map: {}", go_value(value)))
}

fn map_directive(directive: &Json, patch: &mut Json) -> Result<Json, PatchError> {
    match directive.as_str() {
        Some("replace") => {
            patch.remove(&[DIRECTIVE]);
            Ok(patch.clone())
        }
        Some("delete") => Ok(Json::object()),
        _ => Err(bad_directive(directive, patch)),
    }
}

/// Sets a field, or takes it away.
fn put(tree: &mut Json, name: &str, value: Option<Json>) {
    match value {
        Some(value) => tree.set(&[name], value),
        None => _ = tree.remove(&[name]),
    }
}

fn retain_keys(merged: &mut Json, patch: &mut Json) -> Result<(), PatchError> {
    let Some(keys) = patch.remove(&[RETAIN_KEYS]) else { return Ok(()) };
    if !keys.is_array() {
        return Err(PatchError::Malformed("invalid patch format of retainKeys".to_string()));
    }
    for (name, value) in patch.fields() {
        let plain = name.strip_prefix(DELETE_FROM).or_else(|| name.strip_prefix(SET_ORDER)).unwrap_or(name);
        if !value.is_null() && !keys.items().iter().any(|key| key.as_str() == Some(plain)) {
            return Err(PatchError::Malformed("invalid patch format of retainKeys".to_string()));
        }
    }
    if merged.is_object() {
        merged.make_object().retain(|name, _| keys.items().iter().any(|key| key.as_text() == Some(name)));
    }
    Ok(())
}

/// Refuses a patch whose items are not all in the order that it sets, or stand in another order.
fn check_order(patch: &[Json], order: &[Json], key: Option<&str>) -> Result<(), PatchError> {
    if order.is_empty() {
        return Ok(());
    }
    let items: Vec<&Json> = patch.iter().filter(|item| item.get(DIRECTIVE).is_null()).collect();
    let mut places = order.iter();
    for item in &items {
        let mut is_placed = false;
        for place in places.by_ref() {
            check_keys([*item, place], key)?;
            is_placed = same(place, item, key);
            if is_placed {
                break;
            }
        }
        if !is_placed {
            let list = Json::array(patch.to_vec());
            return Err(PatchError::Other(format!(
                "The order in patch list:\n{}\n doesn't match $setElementOrder list:\n{}\n",
                go_value(&list),
                go_value(&Json::array(order.to_vec()))
            )));
        }
    }
    Ok(())
}

/// Refuses an order whose items cannot be compared with those of the list.
///
/// Source: k8s.io/apimachinery pkg/util/strategicpatch/patch.go (v1.34), `partitionMapsByPresentInList`.
fn check_places(items: &[Json], order: &[Json], key: Option<&str>) -> Result<(), PatchError> {
    let Some(key) = key else { return Ok(()) };
    for item in items {
        for (at, place) in order.iter().enumerate() {
            if !place.is_object() {
                return Err(PatchError::Other(format!("value for key {at} is not a map")));
            }
            check_keys([place, place], Some(key))?;
            if place.get(key) == item.get(key) {
                break;
            }
        }
    }
    Ok(())
}

/// Refuses an item without the key by which it is compared.
fn check_keys(items: [&Json; 2], key: Option<&str>) -> Result<(), PatchError> {
    let Some(key) = key else { return Ok(()) };
    items.into_iter().find(|item| item.get(key).is_null()).map_or(Ok(()), |item| Err(no_merge_key(item, key)))
}

fn same(one: &Json, other: &Json, key: Option<&str>) -> bool {
    match key {
        Some(key) => one.get(key) == other.get(key),
        None => one == other,
    }
}

/// Orders merged items: those of the patch as the patch has them, the server's own as the server had them, and the
/// latter woven into the former as far as the server's order tells.
fn in_order(merged: Vec<Json>, patch_order: &[Json], server_order: &[Json], key: Option<&str>) -> Vec<Json> {
    let index = |order: &[Json], item: &Json| order.iter().position(|other| same(other, item, key));
    let (mut patched, mut own): (Vec<Json>, Vec<Json>) =
        merged.into_iter().partition(|item| index(patch_order, item).is_some());
    patched.sort_by_key(|item| index(patch_order, item));
    own.sort_by_key(|item| index(server_order, item).unwrap_or(usize::MAX));
    let mut out = Vec::with_capacity(patched.len() + own.len());
    let (mut patched, mut own) = (patched.into_iter().peekable(), own.into_iter().peekable());
    loop {
        let take_own = match (own.peek(), patched.peek()) {
            (None, None) => return out,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (Some(left), Some(right)) => match (index(server_order, left), index(server_order, right)) {
                (Some(left), Some(right)) => left < right,
                _ => false,
            },
        };
        out.extend(if take_own { own.next() } else { patched.next() });
    }
}

/// Takes nulls out of a value that is new to the object.
fn discard_nulls(value: &mut Json) {
    match value {
        Json::Object(_) => {
            value.make_object().retain(|_, item| !item.is_null());
            let names: Vec<Text> = value.fields().map(|(name, _)| name.clone()).collect();
            names.iter().for_each(|name| discard_nulls(value.entry(&[name])));
        }
        Json::Array(_) => value.make_array().iter_mut().for_each(discard_nulls),
        _ => {}
    }
}

/// Returns a value that is new to the object without the maps that have a directive; nothing if it is one of these.
/// What the server changes of the patch on the way is changed. Source: k8s.io/apimachinery
/// pkg/util/strategicpatch/patch.go (v1.34), `removeDirectives`.
fn without_directives(value: &mut Json) -> Option<Json> {
    match value {
        Json::Object(_) if !value.get(DIRECTIVE).is_null() => None,
        Json::Object(_) => {
            let names: Vec<Text> = value.fields().map(|(name, _)| name.clone()).collect();
            for name in names {
                let kept = without_directives(value.entry(&[&name]));
                put(value, &name, kept);
            }
            Some(value.clone())
        }
        Json::Array(_) => Some(value.make_array().iter_mut().filter_map(without_directives).collect()),
        _ => Some(value.clone()),
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::strategic_merge;
    use crate::json;
    use crate::objects::schema::Schema;

    #[test]
    fn lists_merge_as_the_schema_says() {
        let schema = Schema::new([]);
        let cases = [
            (
                "taints are replaced",
                json!({"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}),
                json!({"spec": {"taints": [{"key": "b", "effect": "NoSchedule"}]}}),
                json!({"spec": {"taints": [{"key": "b", "effect": "NoSchedule"}]}}),
            ),
            (
                "conditions merge by type, the patch's first",
                json!({"status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Mem",
                    "status": "False"}]}}),
                json!({"status": {"conditions": [{"type": "Disk", "status": "False"}]}}),
                json!({"status": {"conditions": [{"type": "Disk", "status": "False"}, {"type": "Ready",
                    "status": "True"}, {"type": "Mem", "status": "False"}]}}),
            ),
            (
                "an item that is there keeps its place",
                json!({"status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Mem",
                    "status": "False"}]}}),
                json!({"status": {"conditions": [{"type": "Mem", "status": "True"}]}}),
                json!({"status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Mem",
                    "status": "True"}]}}),
            ),
            (
                "an order that is set holds",
                json!({"status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Mem",
                    "status": "False"}]}}),
                json!({"status": {"$setElementOrder/conditions": [{"type": "Mem"}, {"type": "Ready"}]}}),
                json!({"status": {"conditions": [{"type": "Mem", "status": "False"}, {"type": "Ready",
                    "status": "True"}]}}),
            ),
            (
                "an item is deleted",
                json!({"status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Mem",
                    "status": "False"}]}}),
                json!({"status": {"conditions": [{"type": "Ready", "$patch": "delete"}]}}),
                json!({"status": {"conditions": [{"type": "Mem", "status": "False"}]}}),
            ),
            (
                "a list is replaced on demand",
                json!({"status": {"addresses": [{"type": "InternalIP", "address": "a"}]}}),
                json!({"status": {"addresses": [{"type": "InternalIP", "address": "b"}, {"type": "InternalIP",
                    "address": "c"}, {"$patch": "replace"}]}}),
                json!({"status": {"addresses": [{"type": "InternalIP", "address": "b"}, {"type": "InternalIP",
                    "address": "c"}]}}),
            ),
            (
                "finalizers unite and leave by name",
                json!({"metadata": {"finalizers": ["a/1", "b/2"]}}),
                json!({"metadata": {"finalizers": ["c/3"], "$deleteFromPrimitiveList/finalizers": ["a/1"]}}),
                json!({"metadata": {"finalizers": ["c/3", "b/2"]}}),
            ),
            (
                "labels merge and null removes",
                json!({"metadata": {"labels": {"a": "1", "b": "2"}}}),
                json!({"metadata": {"labels": {"a": null, "c": "3"}}}),
                json!({"metadata": {"labels": {"b": "2", "c": "3"}}}),
            ),
            (
                "the known bug with two addresses of one type",
                json!({"status": {"addresses": [{"type": "InternalIP", "address": "a"}, {"type": "InternalIP",
                    "address": "b"}, {"type": "Hostname", "address": "h"}]}}),
                json!({"status": {"addresses": [{"type": "InternalIP", "address": "a"}, {"type": "InternalIP",
                    "address": "b"}]}}),
                json!({"status": {"addresses": [{"type": "InternalIP", "address": "b"}, {"type": "InternalIP",
                    "address": "b"}, {"type": "Hostname", "address": "h"}]}}),
            ),
        ];
        for (what, original, patch, expected) in cases {
            assert_eq!(strategic_merge(&schema, "Node", &original, &patch).unwrap(), expected, "{what}");
        }
    }

    #[test]
    fn an_item_without_its_key_is_refused() {
        let schema = Schema::new([]);
        let original = json!({"status": {"conditions": [{"type": "Ready"}]}});
        let patch = json!({"status": {"conditions": [{"status": "True"}]}});
        assert_eq!(
            strategic_merge(&schema, "Node", &original, &patch).unwrap_err().to_string(),
            "map: map[status:True] does not contain declared merge key: type"
        );
        let patch = json!({"status": {"conditions": [{"type": "Ready"}],
            "$setElementOrder/conditions": [{"name": "x"}, {"type": "Ready"}]}});
        assert_eq!(
            strategic_merge(&schema, "Node", &original, &patch).unwrap_err().to_string(),
            "map: map[name:x] does not contain declared merge key: type"
        );
        for (order, why) in [
            (json!([{"name": "x"}]), "map: map[name:x] does not contain declared merge key: type"),
            (json!(["Ready"]), "value for key 0 is not a map"),
        ] {
            let patch = json!({"status": {"$setElementOrder/conditions": order}});
            assert_eq!(strategic_merge(&schema, "Node", &original, &patch).unwrap_err().to_string(), why);
        }
        assert_eq!(
            strategic_merge(&schema, "Node", &original, &json!({"status": {"conditions": ["Ready"]}}))
                .unwrap_err()
                .to_string(),
            "list element types are not identical: [[map[type:Ready]] [Ready]]"
        );
    }
}
