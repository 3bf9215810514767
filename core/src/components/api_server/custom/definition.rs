//! What a CustomResourceDefinition says: its defaults, what is wrong with it, what of it is not modelled, and the kind
//! that it defines.
//!
//! Mirrors k8s.io/apiextensions-apiserver pkg/apis/apiextensions/{v1/defaults.go,validation/validation.go} (v1.34).
//! Pure: trees in, kinds and errors out.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::content_negotiation::printed::{self, PrinterColumns};
use super::super::fields::put;
use super::super::validation::FieldError;
use super::rules;
use super::scale_paths::ScalePaths;
use super::schema::Structural;
use crate::network::kinds::CustomNames;
use crate::objects::lifecycle::is_established;
use crate::objects::names::{self, Wording};
use crate::objects::ownership::CustomForm;
use crate::objects::schema::Schema;
use crate::objects::{Json, Text, aggregate};

/// Source: pkg/apis/apiextensions/validation/validation.go (v1.34), `printerColumnDatatypes`.
const COLUMN_TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
/// Source: as above, `customResourceColumnDefinitionFormats`.
const COLUMN_FORMATS: [&str; 8] = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
/// Source: k8s.io/apiextensions-apiserver pkg/apis/apiextensions/v1/types.go (v1.34), `KubeAPIApprovedAnnotation`.
const APPROVED: &str = "api-approved.kubernetes.io";

/// The kind that a definition defines, with its schema.
#[derive(Clone, Debug)]
pub(super) struct Defined {
    pub(super) names: CustomNames,
    pub(super) schema: Structural,
    /// Who owns which fields.
    pub(super) form: CustomForm,
    pub(super) scale: Option<ScalePaths>,
    pub(super) printed: PrinterColumns,
    pub(super) list_kind: Text,
    /// What each answer warns of, if the version is deprecated.
    pub(super) warning: Option<String>,
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
    tree.set(&["status", "conditions"], Json::Null);
    tree.set(&["status", "storedVersions"], stored);
}

/// Says what is wrong with a new definition.
pub(in super::super) fn check(tree: &Json, errors: &mut Vec<FieldError>) {
    let (group, plural) = (text(tree, &["spec", "group"]), text(tree, &["spec", "names", "plural"]));
    let name = text(tree, &["metadata", "name"]);
    if *name != *format!("{plural}.{group}") {
        let detail = "must be spec.names.plural+\".\"+spec.group";
        errors.push(FieldError::invalid_text("metadata.name", &name, detail));
    }
    check_spec(tree, errors);
    if versions(tree).all(|own| !is(own, "storage")) {
        let detail = "must have at least one stored version";
        let error = FieldError::invalid("status.storedVersions", &Json::Null, detail);
        errors.push(error.in_go("[]string(nil)"));
    }
    check_approval(tree, None, errors);
}

/// Says what is wrong with a change of a definition.
pub(in super::super) fn check_change(tree: &Json, old: &Json, errors: &mut Vec<FieldError>) {
    check_spec(tree, errors);
    // The last two are parts of the name of the kind's resource.
    let fixed = [&["spec", "scope"][..], &["spec", "names", "kind"], &["spec", "group"], &["spec", "names", "plural"]];
    for path in &fixed[if is_established(old) { 0 } else { 2 }..] {
        if tree.at(path) != old.at(path) {
            errors.push(FieldError::invalid(path.join("."), tree.at(path), "field is immutable"));
        }
    }
    check_approval(tree, Some(old), errors);
}

/// Source: validation.go (v1.34), `validateCustomResourceDefinitionSpec`, which knows what all versions have in common
/// by the places that it had before there were versions.
fn check_spec(tree: &Json, errors: &mut Vec<FieldError>) {
    let group = text(tree, &["spec", "group"]);
    let problems = names::subdomain(&group, Wording::Characters);
    if group.is_empty() {
        errors.push(FieldError::required("spec.group", ""));
    } else if !problems.is_empty() {
        errors.push(FieldError::invalid_text("spec.group", &group, problems.join(",")));
    } else if !group.contains('.') {
        errors.push(FieldError::invalid_text("spec.group", &group, "should be a domain with at least one dot"));
    }
    one_of(tree, &["spec", "scope"], &["Cluster", "Namespaced"], errors);
    for (at, _) in versions(tree).enumerate().filter(|(_, own)| own.at(&SCHEMA).is_null()) {
        errors.push(FieldError::required(format!("spec.versions[{at}].schema.openAPIV3Schema"), ""));
    }
    for (at, version) in versions(tree).enumerate() {
        let path = format!("spec.versions[{at}]");
        label(&text(version, &["name"]), &format!("{path}.name"), errors);
        check_version(version, &path, |field| !is_shared(tree, field), errors);
    }
    if versions(tree).filter(|own| is(own, "storage")).count() != 1 {
        let detail = "must have exactly one version marked as storage version";
        errors.push(FieldError::invalid("spec.versions", tree.at(&["spec", "versions"]), detail));
    }
    if let Some(first) = versions(tree).next().map(|own| text(own, &["name"])).filter(|name| !name.is_empty()) {
        label(&first, "spec.version", errors);
    }
    check_names(tree, errors);
    if let Some(first) = versions(tree).next() {
        check_version(first, "spec", |field| is_shared(tree, field), errors);
    }
    one_of(tree, &["spec", "conversion", "strategy"], &["None", "Webhook"], errors);
}

const SCHEMA: [&str; 2] = ["schema", "openAPIV3Schema"];

/// Tells whether all versions have the same in a field.
fn is_shared(tree: &Json, field: &str) -> bool {
    let mut all = versions(tree).map(|own| own.get(field));
    let first = all.next();
    all.all(|other| Some(other) == first)
}

fn one_of(tree: &Json, path: &[&str], known: &[&str], errors: &mut Vec<FieldError>) {
    match text(tree, path).as_str() {
        "" => errors.push(FieldError::required(path.join("."), "")),
        other if !known.contains(&other) => errors.push(FieldError::not_supported(path.join("."), other, known)),
        _ => {}
    }
}

/// Checks a name that is a label and begins with a letter.
fn label(name: &str, path: &str, errors: &mut Vec<FieldError>) {
    let problems = names::label_1035(name);
    if !problems.is_empty() {
        errors.push(FieldError::invalid_text(path, name, problems.join(",")));
    }
}

/// Source: validation.go (v1.34), `ValidateCustomResourceDefinitionNames`.
fn check_names(tree: &Json, errors: &mut Vec<FieldError>) {
    let own = |field: &str| (text(tree, &["spec", "names", field]), format!("spec.names.{field}"));
    for (value, path) in ["plural", "singular", "kind", "listKind"].map(own) {
        if value.is_empty() {
            errors.push(FieldError::required(path, ""));
        }
    }
    for (value, path) in ["plural", "singular"].map(own).into_iter().filter(|(value, _)| !value.is_empty()) {
        label(&value, &path, errors);
    }
    for (value, path) in ["kind", "listKind"].map(own).into_iter().filter(|(value, _)| !value.is_empty()) {
        let problems = names::label_1035(&value.to_lowercase());
        if !problems.is_empty() {
            let detail = format!("may have mixed case, but should otherwise match: {}", problems.join(","));
            errors.push(FieldError::invalid_text(path, &value, detail));
        }
    }
    let check_list = |field: &str, errors: &mut Vec<FieldError>| {
        for (at, name) in tree.at(&["spec", "names", field]).items().iter().enumerate() {
            label(name.as_str().unwrap_or(""), &format!("spec.names.{field}[{at}]"), errors);
        }
    };
    check_list("shortNames", errors);
    let ((kind, _), (list, path)) = (own("kind"), own("listKind"));
    if !kind.is_empty() && kind == list {
        errors.push(FieldError::invalid_text(path, &list, "kind and listKind may not be the same"));
    }
    check_list("categories", errors);
}

/// Checks the fields of a version that are told at this path.
fn check_version(version: &Json, path: &str, is_told: impl Fn(&str) -> bool, errors: &mut Vec<FieldError>) {
    let schema = version.at(&SCHEMA);
    if is_told("schema") && !schema.is_null() {
        let place = if path == "spec" { "validation" } else { "schema" };
        let has_status = version.at(&["subresources", "status"]).is_object();
        rules::check(schema, has_status, &format!("{path}.{place}.openAPIV3Schema"), errors);
    }
    let scale = version.at(&["subresources", "scale"]);
    if is_told("subresources") && scale.is_object() {
        check_scale(scale, &format!("{path}.subresources.scale"), errors);
    }
    if is_told(COLUMNS) {
        for (at, column) in version.get(COLUMNS).items().iter().enumerate() {
            check_column(column, &format!("{path}.{COLUMNS}[{at}]"), errors);
        }
    }
}

const COLUMNS: &str = "additionalPrinterColumns";

/// Checks the places that a Scale shows. Source: validation.go (v1.34), `ValidateCustomResourceDefinitionSubresources`.
fn check_scale(scale: &Json, path: &str, errors: &mut Vec<FieldError>) {
    for (field, parents, why) in [
        ("specReplicasPath", &[".spec."][..], "should be a json path under .spec"),
        ("statusReplicasPath", &[".status."], "should be a json path under .status"),
        ("labelSelectorPath", &[".spec.", ".status."], "should be a json path under either .spec or .status"),
    ] {
        let (own, path) = (text(scale, &[field]), format!("{path}.{field}"));
        match own.as_str() {
            "" if field == "labelSelectorPath" => {}
            "" => errors.push(FieldError::required(path, "")),
            place if !place.starts_with('.') => errors.push(no_simple_path(place, path)),
            place if !parents.iter().any(|parent| place.starts_with(parent)) => {
                errors.push(FieldError::invalid_text(path, place, why));
            }
            _ => {}
        }
    }
}

fn no_simple_path(place: &str, path: String) -> FieldError {
    FieldError::invalid_text(path, place, "must be a simple json path starting with .")
}

/// Source: validation.go (v1.34), `ValidateCustomResourceColumnDefinition`.
fn check_column(column: &Json, path: &str, errors: &mut Vec<FieldError>) {
    let own = |field: &str| text(column, &[field]);
    if own("name").is_empty() {
        errors.push(FieldError::required(format!("{path}.name"), ""));
    }
    let why = format!("must be one of {}", COLUMN_TYPES.join(","));
    match own("type").as_str() {
        "" => errors.push(FieldError::required(format!("{path}.type"), why)),
        other if !COLUMN_TYPES.contains(&other) => {
            errors.push(FieldError::invalid_text(format!("{path}.type"), other, why));
        }
        _ => {}
    }
    let format = own("format");
    if !format.is_empty() && !COLUMN_FORMATS.contains(&format.as_str()) {
        let why = format!("must be one of {}", COLUMN_FORMATS.join(","));
        errors.push(FieldError::invalid_text(format!("{path}.format"), &format, why));
    }
    match own("jsonPath").as_str() {
        "" => errors.push(FieldError::required(format!("{path}.JSONPath"), "")),
        place if !place.starts_with('.') => errors.push(no_simple_path(place, format!("{path}.JSONPath"))),
        _ => {}
    }
}

/// Whether somebody approved of a kind in a group of the project.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Approval {
    Missing,
    Bypassed,
    Given,
    Invalid,
}

/// Source: k8s.io/apiextensions-apiserver pkg/apihelpers/helpers.go (v1.34), `GetAPIApprovalState`.
fn approval_of(tree: &Json) -> Approval {
    let note = text(tree, &["metadata", "annotations", APPROVED]);
    let is_url = note.split_once("://").is_some_and(|(scheme, rest)| {
        let is_scheme = scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        is_scheme && !rest.is_empty() && !rest.starts_with('/') && !rest.contains(' ')
    });
    match note.as_str() {
        "" => Approval::Missing,
        note if note.starts_with("unapproved") => Approval::Bypassed,
        _ if is_url => Approval::Given,
        _ => Approval::Invalid,
    }
}

/// Source: validation.go (v1.34), `validateAPIApproval`.
fn check_approval(tree: &Json, old: Option<&Json>, errors: &mut Vec<FieldError>) {
    let group = text(tree, &["spec", "group"]);
    let is_below = |domain: &str| group.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    let approval = approval_of(tree);
    if !(is_below("k8s.io") || is_below("kubernetes.io")) || old.map(approval_of) == Some(approval) {
        return;
    }
    let path = format!("metadata.annotations[{APPROVED}]");
    let (groups, see) =
        ("protected groups must have approval annotation", "https://github.com/kubernetes/enhancements/pull/1111");
    match approval {
        Approval::Missing => {
            errors.push(FieldError::required(path, format!("{groups} {APPROVED:?}, see {see}")));
        }
        Approval::Invalid => {
            let why = "with either a URL or a reason starting with \"unapproved\"";
            let note = text(tree, &["metadata", "annotations", APPROVED]);
            errors.push(FieldError::invalid_text(path, &note, format!("{groups} {APPROVED:?} {why}, see {see}")));
        }
        Approval::Given | Approval::Bypassed => {}
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
        if let Err(what) = Structural::read(version.at(&SCHEMA), &path) {
            return Some(what);
        }
    }
    None
}

/// Returns the warning of a deprecated version; no other version is served that could be used instead.
///
/// Source: pkg/apiserver/customresource_handler.go (v1.34), `defaultDeprecationWarning`.
fn deprecation(tree: &Json, version: &Json) -> Option<String> {
    let own = version.get("deprecationWarning").as_str().map(String::from);
    let default = || {
        let (group, kind) = (text(tree, &["spec", "group"]), text(tree, &["spec", "names", "kind"]));
        format!("{group}/{} {kind} is deprecated", text(version, &["name"]))
    };
    is(version, "deprecated").then(|| own.unwrap_or_else(default))
}

/// Returns the kind that a definition defines; `None` if it serves no version.
pub(super) fn defined(tree: &Json, types: &Schema) -> Option<Defined> {
    let version = versions(tree).find(|own| is(own, "served"))?;
    let schema = Structural::read(version.at(&SCHEMA), "").ok()?;
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
    let scale = scale.is_object().then(|| ScalePaths::read(scale));
    Some(Defined {
        names,
        schema,
        form: CustomForm::of_kind(types, version.at(&SCHEMA)),
        scale,
        printed: printed::read(version),
        list_kind: own(&["spec", "names", "listKind"]),
        warning: deprecation(tree, version),
    })
}

/// Returns the names of a definition that no other one of its group has, beside those that were accepted before; and of
/// one that is in use, the reason and the message of the condition, the last one by the order of the fields.
///
/// Source: pkg/controller/status/naming_controller.go (v1.34), `calculateNamesAndConditions`.
pub(super) fn accepted<'a>(
    tree: &Json,
    all: impl Iterator<Item = &'a Json> + Clone,
) -> (Json, Option<(&'static str, String)>) {
    let group = text(tree, &["spec", "group"]);
    let taken = all.filter(|other| text(other, &["spec", "group"]) == group).map(|other| other.at(&ACCEPTED));
    let is_taken = |name: &Json, fields: &[&str]| {
        taken
            .clone()
            .any(|names| fields.iter().any(|field| names.get(field) == name || names.get(field).items().contains(name)))
    };
    let (wanted, mut names) = (tree.at(&["spec", "names"]), tree.at(&ACCEPTED).clone());
    let mut conflict = None;
    let in_use = |name: &Json| format!("{:?} is already in use", name.as_str().unwrap_or(""));
    let resources = ["plural", "singular", "shortNames"];
    for (field, reason, fields) in [
        ("plural", "PluralConflict", &resources[..]),
        ("singular", "SingularConflict", &resources),
        ("shortNames", "ShortNamesConflict", &resources),
        ("kind", "KindConflict", &["kind", "listKind"]),
        ("listKind", "ListKindConflict", &["kind", "listKind"]),
    ] {
        let (name, known) = (wanted.get(field), tree.at(&ACCEPTED).get(field));
        let parts = if matches!(name, Json::Str(_)) { core::slice::from_ref(name) } else { name.items() };
        let is_own = |name: &Json| known == name || known.items().contains(name);
        let whys = parts.iter().filter(|name| !is_own(name) && is_taken(name, fields)).map(in_use);
        match aggregate(whys) {
            Some(why) => conflict = Some((reason, why)),
            None => put(&mut names, &[field], name),
        }
    }
    put(&mut names, &["categories"], wanted.get("categories"));
    (names, conflict)
}

/// Where a definition has the names that it may use.
pub(super) const ACCEPTED: [&str; 2] = ["status", "acceptedNames"];

fn versions(tree: &Json) -> impl Iterator<Item = &Json> {
    tree.at(&["spec", "versions"]).items().iter()
}

fn is(version: &Json, what: &str) -> bool {
    version.get(what).as_bool() == Some(true)
}

fn text(tree: &Json, path: &[&str]) -> Text {
    tree.at(path).as_text().cloned().unwrap_or_default()
}
