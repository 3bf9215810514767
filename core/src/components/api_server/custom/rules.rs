//! What a definition may not say of the objects of its kind.
//!
//! Mirrors k8s.io/apiextensions-apiserver pkg/apis/apiextensions/validation/validation.go
//! (`ValidateCustomResourceDefinitionOpenAPISchema`) and pkg/apiserver/schema/validation.go (`ValidateStructural`), the
//! same from v1.31 to v1.37. Inputs: a schema as it is written. Outputs: errors, those of the structure first and by
//! their texts. Left out on purpose: defaults that do not fit their own schema, and the part of a message about a
//! pattern that Go's reader of patterns words.

use alloc::format;
use alloc::vec::Vec;

use regex::Regex;

use super::super::validation::FieldError;
use crate::objects::{Json, Text};

/// Source: validation.go, `openapiV3Types`.
const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
/// What the types of schemas have and no schema may. Source: validation.go, `specStandardValidatorV3.validate`.
pub(super) const UNSUPPORTED: [&str; 6] =
    ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"];
/// What the root may say of a kind with a status, whose schema is taken out of it. Source: validation.go,
/// `allowedFieldsAtRootSchema`; the list is printed with Go's names.
const BESIDE_STATUS: [(&str, &str); 22] = [
    ("description", "Description"),
    ("type", "Type"),
    ("format", "Format"),
    ("title", "Title"),
    ("maximum", "Maximum"),
    ("exclusiveMaximum", "ExclusiveMaximum"),
    ("minimum", "Minimum"),
    ("exclusiveMinimum", "ExclusiveMinimum"),
    ("maxLength", "MaxLength"),
    ("minLength", "MinLength"),
    ("pattern", "Pattern"),
    ("maxItems", "MaxItems"),
    ("minItems", "MinItems"),
    ("uniqueItems", "UniqueItems"),
    ("multipleOf", "MultipleOf"),
    ("required", "Required"),
    ("items", "Items"),
    ("properties", "Properties"),
    ("externalDocs", "ExternalDocs"),
    ("example", "Example"),
    ("x-kubernetes-preserve-unknown-fields", "XPreserveUnknownFields"),
    ("x-kubernetes-validations", "XValidations"),
];

/// Where a schema stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SchemaPlace {
    Root,
    Item,
    Field,
}

/// Says what is wrong with the schema of a whole kind.
pub(super) fn check(schema: &Json, has_status: bool, path: &str, errors: &mut Vec<FieldError>) {
    if has_status {
        beside_status(schema, path, errors);
    }
    if is(schema, "nullable") {
        errors.push(FieldError::forbidden(format!("{path}.nullable"), "nullable cannot be true at the root"));
    }
    let mut structural = Vec::new();
    structure(schema, SchemaPlace::Root, path, &mut structural);
    structural.sort_by_cached_key(FieldError::text);
    errors.append(&mut structural);
    words(schema, path, Surroundings { is_root: true, ..Surroundings::default() }, errors);
}

fn beside_status(schema: &Json, path: &str, errors: &mut Vec<FieldError>) {
    if text(schema, "type") != "object" && !text(schema, "type").is_empty() {
        let why =
            "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled";
        errors.push(FieldError::invalid_text(format!("{path}.type"), text(schema, "type"), why));
        return;
    }
    let is_allowed = |word: &str| BESIDE_STATUS.iter().any(|(own, _)| *own == word);
    if schema.fields().any(|(word, value)| !is_zero(value) && !is_allowed(word)) {
        let names: Vec<&str> = BESIDE_STATUS.iter().map(|(_, name)| *name).collect();
        let names = names.join(" ");
        let why =
            format!("only [{names}] fields are allowed at the root of the schema if the status subresource is enabled");
        errors.push(FieldError::invalid(path, schema, why));
    }
}

/// Source: pkg/apiserver/schema/validation.go, `validateStructuralInvariants`.
fn structure(schema: &Json, level: SchemaPlace, path: &str, errors: &mut Vec<FieldError>) {
    let (kind, items) = (text(schema, "type"), schema.get("items"));
    if kind == "array" && items.is_null() {
        errors.push(FieldError::required(format!("{path}.items"), "must be specified"));
    }
    if items.is_object() {
        structure(items, SchemaPlace::Item, &format!("{path}.items"), errors);
    }
    for (name, own) in schema.get("properties").fields() {
        structure(own, SchemaPlace::Field, &format!("{path}.properties[{name}]"), errors);
    }
    let (others, below) = (schema.get("additionalProperties"), format!("{path}.additionalProperties"));
    if !others.is_null() && level == SchemaPlace::Root {
        errors.push(FieldError::forbidden(below.as_str(), "must not be used at the root"));
    }
    if others.is_object() {
        structure(others, SchemaPlace::Field, &below, errors);
    }
    let (is_int_or_string, keeps) = (is(schema, INT_OR_STRING), is(schema, PRESERVE));
    if is_int_or_string && keeps {
        let why = "must be false if x-kubernetes-int-or-string is true";
        errors.push(FieldError::invalid(format!("{path}.{PRESERVE}"), &Json::Bool(true), why));
    }
    let pattern = text(schema, "pattern");
    if Regex::new(pattern).is_err() {
        let why = "must be a valid regular expression";
        errors.push(FieldError::invalid_text(format!("{path}.pattern"), pattern, why));
    }
    if kind.is_empty() && !is_int_or_string && !keeps {
        let why = match level {
            SchemaPlace::Root => "must not be empty at the root",
            SchemaPlace::Item => "must not be empty for specified array items",
            SchemaPlace::Field => "must not be empty for specified object fields",
        };
        errors.push(FieldError::required(format!("{path}.type"), why));
    }
    if level == SchemaPlace::Root {
        root(schema, path, errors);
    }
}

/// Checks what only the root may not say: of metadata nothing but what a name may be.
fn root(schema: &Json, path: &str, errors: &mut Vec<FieldError>) {
    let kind = text(schema, "type");
    if !kind.is_empty() && kind != "object" {
        errors.push(FieldError::invalid_text(format!("{path}.type"), kind, "must be object at the root"));
    }
    let properties = schema.get("properties");
    for (field, wanted) in [("kind", "string"), ("apiVersion", "string"), ("metadata", "object")] {
        let (own, found) = (properties.get(field), text(properties.get(field), "type"));
        if !own.is_null() && found != wanted {
            let at = format!("{path}.properties[{field}].type");
            errors.push(FieldError::invalid_text(at, found, format!("must be {wanted}")));
        }
    }
    let is_free = |(word, value): (&Text, &Json)| match word.as_str() {
        "type" | "default" | "externalDocs" | "example" => true,
        "properties" => value.fields().all(|(name, _)| ["name", "generateName"].contains(&name.as_str())),
        _ => is_zero(value),
    };
    if !properties.get("metadata").fields().all(is_free) {
        let why = "must not specify anything other than name and generateName, but metadata is implicitly specified";
        errors.push(FieldError::forbidden(format!("{path}.properties[metadata]"), why));
    }
}

/// What a schema stands in.
#[derive(Clone, Copy, Default)]
struct Surroundings<'a> {
    is_root: bool,
    /// Within what is said of kind, version or metadata of a whole object.
    is_in_metadata: bool,
    /// Why there may be no defaults.
    forbids_defaults: Option<&'a str>,
}

/// Source: validation.go, `ValidateCustomResourceDefinitionOpenAPISchema`.
fn words(schema: &Json, path: &str, around: Surroundings<'_>, errors: &mut Vec<FieldError>) {
    let at = |word: &str| format!("{path}.{word}");
    let kind = text(schema, "type");
    if !kind.is_empty() && !TYPES.contains(&kind) {
        errors.push(FieldError::not_supported(at("type"), kind, &TYPES));
    }
    if let Some(reason) = around.forbids_defaults.filter(|_| !schema.get("default").is_null()) {
        errors.push(FieldError::forbidden(at("default"), format!("must not be set {reason}")));
    }
    for word in UNSUPPORTED.iter().filter(|word| !is_zero(schema.get(word))) {
        errors.push(FieldError::forbidden(at(word), format!("{word} is not supported")));
    }
    if is(schema, "uniqueItems") {
        let why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        errors.push(FieldError::forbidden(at("uniqueItems"), why));
    }
    let inner = Surroundings { is_root: false, ..around };
    let (others, properties) = (schema.get("additionalProperties"), schema.get("properties"));
    if !properties.is_empty() && (others.is_object() || others.as_bool() == Some(false)) {
        let why = "additionalProperties and properties are mutual exclusive";
        errors.push(FieldError::forbidden(at("additionalProperties"), why));
    }
    if others.is_object() {
        let reason = "inside additionalProperties applying to object metadata";
        let forbids_defaults = if around.is_in_metadata { Some(reason) } else { around.forbids_defaults };
        words(others, &at("additionalProperties"), Surroundings { forbids_defaults, ..inner }, errors);
    }
    for (name, own) in properties.fields() {
        let is_of_type = around.is_root && ["metadata", "kind", "apiVersion"].contains(&name.as_str());
        let reason = format!("in top-level {name}");
        let within = Surroundings { is_root: false, is_in_metadata: true, forbids_defaults: Some(&reason) };
        let within = if is_of_type { within } else { inner };
        words(own, &format!("{path}.properties[{name}]"), within, errors);
    }
    if schema.get("items").is_object() {
        words(schema.get("items"), &at("items"), inner, errors);
    }
    if schema.get(PRESERVE).as_bool() == Some(false) {
        errors.push(FieldError::invalid(at(PRESERVE), &Json::Bool(false), "must be true or undefined"));
    }
    kind_of_map(schema, path, errors);
    kind_of_list(schema, path, errors);
}

/// Says that something holds for a schema of another type only.
fn wants_type(wanted: &str, word: &str, schema: &Json, path: &str, errors: &mut Vec<FieldError>) {
    let (at, why) = (format!("{path}.type"), format!("must be {wanted} if {word} is specified"));
    match text(schema, "type") {
        "" => errors.push(FieldError::required(at, why)),
        other => errors.push(FieldError::invalid_text(at, other, why)),
    }
}

fn kind_of_map(schema: &Json, path: &str, errors: &mut Vec<FieldError>) {
    let Some(kind) = schema.get(MAP_TYPE).as_str() else { return };
    if text(schema, "type") != "object" {
        wants_type("object", MAP_TYPE, schema, path, errors);
    }
    if !["atomic", "granular"].contains(&kind) {
        errors.push(FieldError::not_supported(format!("{path}.{MAP_TYPE}"), kind, &["atomic", "granular"]));
    }
}

fn kind_of_list(schema: &Json, path: &str, errors: &mut Vec<FieldError>) {
    let (kind, items) = (schema.get(LIST_TYPE).as_str(), schema.get("items"));
    let at = format!("{path}.{LIST_TYPE}");
    if kind.is_some() && text(schema, "type") != "array" {
        wants_type("array", LIST_TYPE, schema, path, errors);
    } else if kind == Some("set") {
        let why = "must be atomic as item of a list with x-kubernetes-list-type=set";
        let (word, may_be_absent) = if text(items, "type") == "array" { (LIST_TYPE, true) } else { (MAP_TYPE, false) };
        let own = items.get(word);
        let is_atomic = own.as_str() == Some("atomic") || own.is_null() && may_be_absent;
        if ["array", "object"].contains(&text(items, "type")) && !is_atomic {
            // Upstream prints the type of the list in either case.
            errors.push(FieldError::invalid(format!("{path}.items.{word}"), items.get(LIST_TYPE), why));
        }
    }
    if let Some(kind) = kind.filter(|kind| !["atomic", "set", "map"].contains(kind)) {
        errors.push(FieldError::not_supported(at.as_str(), kind, &["atomic", "set", "map"]));
    }
    if !schema.get(LIST_KEYS).is_empty() && kind != Some("map") {
        let why = "must be map if x-kubernetes-list-map-keys is non-empty";
        errors.push(match kind {
            None => FieldError::required(at, why),
            Some(kind) => FieldError::invalid_text(at, kind, why),
        });
    }
    if kind == Some("map") {
        keys_of_map(schema, path, errors);
    }
    if let Some(kind) = kind.filter(|kind| ["set", "map"].contains(kind) && items.is_object()) {
        if is(items, "nullable") {
            let why = format!("cannot be nullable when x-kubernetes-list-type is {kind}");
            errors.push(FieldError::forbidden(format!("{path}.items.nullable"), why));
        }
        let keys = schema.get(LIST_KEYS).items().iter().filter_map(Json::as_str);
        keys.filter(|_| kind == "map").for_each(|key| value_of_key(key, items, path, errors));
    }
}

fn keys_of_map(schema: &Json, path: &str, errors: &mut Vec<FieldError>) {
    let (keys, items, at) = (schema.get(LIST_KEYS), schema.get("items"), format!("{path}.{LIST_KEYS}"));
    if keys.is_empty() {
        let why = "must not be empty if x-kubernetes-list-type is map";
        errors.push(FieldError::required(at.as_str(), why));
    }
    if items.is_null() {
        let why = "must have a schema if x-kubernetes-list-type is map";
        errors.push(FieldError::required(format!("{path}.items"), why));
        return;
    }
    let kind = text(items, "type");
    if kind != "object" {
        let why = "must be object if parent array's x-kubernetes-list-type is map";
        errors.push(FieldError::invalid_text(format!("{path}.items.type"), kind, why));
        return;
    }
    for (place, key) in keys.items().iter().enumerate() {
        let name = key.as_str().unwrap_or("");
        let own = items.get("properties").get(name);
        if own.is_null() {
            errors.push(FieldError::invalid(at.as_str(), keys, "entries must all be names of item properties"));
        } else if ["array", "object"].contains(&text(own, "type")) {
            let why = "must be a scalar type if parent array's x-kubernetes-list-type is map";
            errors.push(FieldError::invalid_text(format!("{path}.items.properties[{name}].type"), kind, why));
        }
        if keys.items()[..place].contains(key) {
            errors.push(FieldError::invalid(at.as_str(), keys, "must not contain duplicate entries"));
        }
    }
}

/// Checks that each item has a value for a key. Source: validation.go, `validateMapListKeysMapSet`.
fn value_of_key(key: &str, items: &Json, path: &str, errors: &mut Vec<FieldError>) {
    let own = items.get("properties").get(key);
    if own.is_null() {
        return;
    }
    let base = format!("{path}.items.properties[{key}]");
    let is_required = items.get("required").items().iter().any(|name| name.as_str() == Some(key));
    if !is_required && own.get("default").is_null() {
        let why = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
        errors.push(FieldError::required(format!("{base}.default"), why));
    }
    if is(own, "nullable") {
        let why = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
        errors.push(FieldError::forbidden(format!("{base}.nullable"), why));
    }
}

const INT_OR_STRING: &str = "x-kubernetes-int-or-string";
const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
const MAP_TYPE: &str = "x-kubernetes-map-type";
const LIST_TYPE: &str = "x-kubernetes-list-type";
const LIST_KEYS: &str = "x-kubernetes-list-map-keys";

fn text<'a>(schema: &'a Json, word: &str) -> &'a str {
    schema.get(word).as_str().unwrap_or("")
}

fn is(schema: &Json, word: &str) -> bool {
    schema.get(word).as_bool() == Some(true)
}

/// Tells whether Go cannot tell a value from none.
fn is_zero(value: &Json) -> bool {
    value.is_empty() || matches!(value, Json::Bool(false)) || value.as_str() == Some("")
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::check;
    use crate::json;
    use crate::objects::Json;

    fn problems(schema: &Json, has_status: bool) -> Vec<String> {
        let mut errors = Vec::new();
        check(schema, has_status, "s", &mut errors);
        errors.iter().map(|error| error.text()).collect()
    }

    #[test]
    fn what_a_schema_may_not_say_is_told_in_the_words_of_the_server() {
        let keyed = |item: Json| {
            json!({"type": "array", "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"], "items": item})
        };
        for (own, told) in [
            (
                json!({"type": "foo"}),
                "type: Unsupported value: \"foo\": supported values: \"array\", \"boolean\", \
                \"integer\", \"number\", \"object\", \"string\"",
            ),
            (json!({"type": "array"}), "items: Required value: must be specified"),
            (json!({}), "type: Required value: must not be empty for specified object fields"),
            (
                json!({"type": "string", "pattern": "("}),
                "pattern: Invalid value: \"(\": must be a valid regular expression",
            ),
            (
                json!({"type": "string", "x-kubernetes-list-type": "set"}),
                "type: Invalid value: \"string\": must be array if x-kubernetes-list-type is specified",
            ),
            (
                json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "foo"}),
                "x-kubernetes-list-type: Unsupported value: \"foo\": supported values: \"atomic\", \"set\", \"map\"",
            ),
            (
                json!({"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "set"}),
                "items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with \
                x-kubernetes-list-type=set",
            ),
            (
                json!({"type": "array", "items": {"type": "string", "nullable": true},
                    "x-kubernetes-list-type": "set"}),
                "items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set",
            ),
            (
                json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-map-keys": ["a"]}),
                "x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty",
            ),
            (
                json!({"type": "object", "x-kubernetes-map-type": "bad"}),
                "x-kubernetes-map-type: Unsupported value: \"bad\": supported values: \"atomic\", \"granular\"",
            ),
            (
                json!({"type": "object", "properties": {"a": {"type": "string"}},
                "additionalProperties": {"type": "string"}}),
                "additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive",
            ),
            (
                json!({"type": "array", "uniqueItems": true, "items": {"type": "string"}}),
                "uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes \
                quadratic",
            ),
            (
                json!({"type": "object", "definitions": {"a": {}}}),
                "definitions: Forbidden: definitions is not supported",
            ),
            (
                keyed(json!({"type": "string"})),
                "items.type: Invalid value: \"string\": must be object if parent array's x-kubernetes-list-type is map",
            ),
            (
                keyed(json!({"type": "object"})),
                "x-kubernetes-list-map-keys: Invalid value: [\"k\"]: entries must all be names of item properties",
            ),
            (
                keyed(json!({"type": "object", "properties": {"k": {"type": "string"}}})),
                "items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it \
                must have a default or be a required property",
            ),
            (
                keyed(json!({"type": "object", "required": ["k"], "properties": {"k": {"type": "array",
                "items": {"type": "string"}}}})),
                "items.properties[k].type: Invalid value: \"object\": must be a scalar type if parent array's \
                x-kubernetes-list-type is map",
            ),
        ] {
            let found = problems(&json!({"type": "object", "properties": {"w": own}}), false);
            assert_eq!(found, [alloc::format!("s.properties[w].{told}")]);
        }
        let fitting = keyed(json!({"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}}));
        assert_eq!(problems(&json!({"type": "object", "properties": {"w": fitting}}), true), [""; 0]);
    }

    #[test]
    fn the_root_is_an_object_that_says_nothing_of_metadata() {
        for (schema, told) in [
            (json!({"type": "object", "nullable": true}), "s.nullable: Forbidden: nullable cannot be true at the root"),
            (
                json!({"type": "array", "items": {"type": "string"}}),
                "s.type: Invalid value: \"array\": must be object at the root",
            ),
            (
                json!({"type": "object", "additionalProperties": {"type": "string"}}),
                "s.additionalProperties: Forbidden: must not be used at the root",
            ),
            (
                json!({"type": "object", "properties": {"metadata": {"type": "object", "properties": {"labels":
                {"type": "object"}}}}}),
                "s.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but \
                metadata is implicitly specified",
            ),
            (
                json!({"type": "object", "properties": {"kind": {"type": "integer"}}}),
                "s.properties[kind].type: Invalid value: \"integer\": must be string",
            ),
            (
                json!({"type": "object", "properties": {"metadata": {"type": "object", "default": {}}}}),
                "s.properties[metadata].default: Forbidden: must not be set in top-level metadata",
            ),
        ] {
            assert_eq!(problems(&schema, false), [told]);
        }
        let named = json!({"type": "object", "properties": {"metadata": {"type": "object",
            "properties": {"name": {"type": "string", "maxLength": 9}}}}});
        assert_eq!(problems(&named, true), [""; 0]);
        let beside = problems(&json!({"type": "object", "minProperties": 1}), true);
        assert!(beside.len() == 1 && beside[0].contains("Example XPreserveUnknownFields XValidations] fields are"));
    }
}
