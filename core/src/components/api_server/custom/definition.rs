//! What a CustomResourceDefinition says: its defaults, what is wrong with it, what of it is not modelled, and the kind
//! that it defines.
//!
//! Mirrors k8s.io/apiextensions-apiserver pkg/apis/apiextensions/{v1/defaults.go,validation/validation.go} (v1.34).
//! Pure: trees in, kinds and errors out.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::content_negotiation::printed::{self, PrinterColumns};
use super::super::validation::FieldError;
use super::schema::{SchemaProblem, Structural};
use crate::network::kinds::CustomNames;
use crate::objects::names::{self, Wording};
use crate::objects::{Json, Text};

/// The kind that a definition defines, with its schema.
#[derive(Clone, Debug)]
pub(super) struct Defined {
    pub(super) names: CustomNames,
    pub(super) schema: Structural,
    pub(super) scale: Option<ScalePaths>,
    pub(super) printed: PrinterColumns,
}

/// Where an object has what a Scale shows, as the definition names the places: `.spec.replicas`.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct ScalePaths {
    pub(in super::super) spec: Vec<Text>,
    pub(in super::super) status: Vec<Text>,
    pub(in super::super) selector: Vec<Text>,
}

/// Fills in what a definition may leave out.
pub(in super::super) fn default(tree: &mut Json) {
    let kind = text(tree, &["spec", "names", "kind"]);
    if !kind.is_empty() {
        for (field, value) in [("singular", kind.to_lowercase()), ("listKind", format!("{kind}List"))] {
            if text(tree, &["spec", "names", field]).is_empty() {
                tree.set(&["spec", "names", field], value);
            }
        }
    }
    if tree.at(&["spec", "conversion"]).is_null() {
        tree.set(&["spec", "conversion", "strategy"], "None");
    }
}

/// Sets the fields that a new definition begins with.
pub(in super::super) fn prepare(tree: &mut Json) {
    let stored: Vec<Json> =
        versions(tree).filter(|own| is(own, "storage")).map(|own| own.get("name").clone()).collect();
    tree.set(&["metadata", "generation"], 1_i64);
    tree.set(&["status"], crate::json!({"acceptedNames": {"kind": "", "plural": ""}}));
    tree.set(&["status", "storedVersions"], stored);
}

/// Says what is wrong with a definition.
pub(in super::super) fn check(tree: &Json, errors: &mut Vec<FieldError>) {
    let own = |path: &[&str]| text(tree, path);
    let (group, plural) = (own(&["spec", "group"]), own(&["spec", "names", "plural"]));
    let name = own(&["metadata", "name"]);
    if *name != *format!("{plural}.{group}") {
        let detail = "must be spec.names.plural+\".\"+spec.group";
        errors.push(FieldError::invalid_text("metadata.name", &name, detail));
    }
    if group.is_empty() {
        errors.push(FieldError::required("spec.group", ""));
    } else if !group.contains('.') {
        errors.push(FieldError::invalid_text("spec.group", &group, "should be a domain with at least one dot"));
    }
    match own(&["spec", "scope"]).as_str() {
        "Cluster" | "Namespaced" => {}
        "" => errors.push(FieldError::required("spec.scope", "")),
        other => errors.push(FieldError::not_supported("spec.scope", other, &["Cluster", "Namespaced"])),
    }
    for field in ["plural", "singular", "kind", "listKind"] {
        let (value, path) = (own(&["spec", "names", field]), format!("spec.names.{field}"));
        if value.is_empty() {
            errors.push(FieldError::required(path, ""));
        } else {
            let problems = names::label(&value.to_lowercase(), Wording::Characters);
            errors.extend(problems.into_iter().map(|why| FieldError::invalid_text(&path, &value, why)));
        }
    }
    let stored = versions(tree).filter(|own| is(own, "storage")).count();
    if stored != 1 {
        let detail = "must have exactly one version marked as storage version";
        errors.push(FieldError::invalid("spec.versions", tree.at(&["spec", "versions"]), detail));
    }
    for (at, version) in versions(tree).enumerate() {
        let path = format!("spec.versions[{at}]");
        if text(version, &["name"]).is_empty() {
            errors.push(FieldError::required(format!("{path}.name"), ""));
        }
        let schema = version.at(&["schema", "openAPIV3Schema"]);
        let path = format!("{path}.schema.openAPIV3Schema");
        if schema.is_null() {
            errors.push(FieldError::required(path, "schemas are required"));
            continue;
        }
        match Structural::read(schema, &path) {
            Err(SchemaProblem::Invalid(error)) => errors.push(error),
            Ok(read) if !read.is_of_object() => {
                let found = text(schema, &["type"]);
                errors.push(FieldError::invalid_text(format!("{path}.type"), &found, "must be object at the root"));
            }
            _ => {}
        }
    }
}

/// Says what is wrong with a change of a definition.
pub(in super::super) fn check_change(tree: &Json, old: &Json, errors: &mut Vec<FieldError>) {
    check(tree, errors);
    for path in [&["spec", "group"][..], &["spec", "scope"], &["spec", "names", "plural"], &["spec", "names", "kind"]] {
        if tree.at(path) != old.at(path) {
            errors.push(FieldError::invalid(path.join("."), tree.at(path), "field is immutable"));
        }
    }
}

/// Names what a definition has that is not modelled.
pub(in super::super) fn not_modelled(tree: &Json) -> Option<String> {
    if versions(tree).filter(|own| is(own, "served")).count() > 1 {
        return Some(String::from("a definition with several served versions"));
    }
    if text(tree, &["spec", "conversion", "strategy"]).as_str() == "Webhook" {
        return Some(String::from("spec.conversion.strategy Webhook"));
    }
    if tree.at(&["spec", "preserveUnknownFields"]).as_bool() == Some(true) {
        return Some(String::from("spec.preserveUnknownFields"));
    }
    for (at, version) in versions(tree).enumerate() {
        if !version.get("selectableFields").is_empty() {
            return Some(format!("spec.versions[{at}].selectableFields"));
        }
        let path = format!("spec.versions[{at}].schema.openAPIV3Schema");
        if let Err(SchemaProblem::NotModelled(what)) =
            Structural::read(version.at(&["schema", "openAPIV3Schema"]), &path)
        {
            return Some(what);
        }
    }
    None
}

/// Returns the kind that a definition defines; `None` if it serves no version.
pub(super) fn defined(tree: &Json) -> Option<Defined> {
    let version = versions(tree).find(|own| is(own, "served"))?;
    let schema = Structural::read(version.at(&["schema", "openAPIV3Schema"]), "").ok()?;
    let own = |path: &[&str]| text(tree, path);
    let list = |path: &[&str]| tree.at(path).items().iter().filter_map(Json::as_text).cloned().collect();
    let scale = version.at(&["subresources", "scale"]);
    let names = CustomNames {
        group: own(&["spec", "group"]),
        version: text(version, &["name"]),
        plural: own(&["spec", "names", "plural"]),
        name: own(&["spec", "names", "kind"]),
        singular: own(&["spec", "names", "singular"]),
        short_names: list(&["spec", "names", "shortNames"]),
        categories: list(&["spec", "names", "categories"]),
        is_namespaced: own(&["spec", "scope"]).as_str() == "Namespaced",
        has_status: version.at(&["subresources", "status"]).is_object(),
        has_scale: scale.is_object(),
    };
    let place = |field: &str| {
        text(scale, &[field])
            .trim_start_matches('.')
            .split('.')
            .map(Text::from)
            .filter(|step| !step.is_empty())
            .collect()
    };
    let scale = scale.is_object().then(|| ScalePaths {
        spec: place("specReplicasPath"),
        status: place("statusReplicasPath"),
        selector: place("labelSelectorPath"),
    });
    Some(Defined { names, schema, scale, printed: printed::read(version) })
}

/// Says which name of a definition another one of its group has: the reason and the message of the condition.
///
/// Source: pkg/controller/status/naming_controller.go (v1.34), `calculateNamesAndConditions`.
pub(super) fn conflict<'a>(
    tree: &Json,
    others: impl Iterator<Item = &'a Json> + Clone,
) -> Option<(&'static str, String)> {
    let names_of = |tree: &Json| -> Vec<Text> {
        let listed = tree.at(&["spec", "names", "shortNames"]).items().iter().filter_map(Json::as_text).cloned();
        let own = ["plural", "singular"].map(|field| text(tree, &["spec", "names", field]));
        own.into_iter().chain(listed).collect()
    };
    let kinds_of = |tree: &Json| ["kind", "listKind"].map(|field| text(tree, &["spec", "names", field]));
    let group = text(tree, &["spec", "group"]);
    let mut others = others.filter(|other| text(other, &["spec", "group"]) == group);
    others.find_map(|other| {
        let (taken, kinds) = (names_of(other), kinds_of(other));
        let own = names_of(tree);
        let name = own.iter().position(|name| taken.contains(name));
        let by_name =
            name.map(|at| (["PluralConflict", "SingularConflict", "ShortNamesConflict"][at.min(2)], &own[at]));
        let own_kinds = kinds_of(tree);
        let kind = own_kinds.iter().position(|kind| kinds.contains(kind));
        let by_kind = kind.map(|at| (["KindConflict", "ListKindConflict"][at], &own_kinds[at]));
        by_name.or(by_kind).map(|(reason, name)| (reason, format!("{:?} is already in use", name.as_str())))
    })
}

fn versions(tree: &Json) -> impl Iterator<Item = &Json> {
    tree.at(&["spec", "versions"]).items().iter()
}

fn is(version: &Json, what: &str) -> bool {
    version.get(what).as_bool() == Some(true)
}

fn text(tree: &Json, path: &[&str]) -> Text {
    tree.at(path).as_text().cloned().unwrap_or_default()
}
