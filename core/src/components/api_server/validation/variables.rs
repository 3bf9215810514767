//! Validation of the variables of containers.
//!
//! Mirrors pkg/apis/core/validation/validation.go (v1.34), `ValidateEnv`, `validateEnvVarValueFrom` and
//! `ValidateEnvFrom`. Inputs: a container. Outputs: errors.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::pod_rules::Rules;
use super::volumes::no_backsteps;
use super::{FieldError, Problem, containers, field_refs, invalid, meta, quote, text};
use crate::objects::Json;
use crate::objects::names::{self, Wording};

/// Checks the variables that a container names, and where others come from.
pub(super) fn check(container: &Json, path: &str, how: (Wording, Rules), errors: &mut Vec<FieldError>) {
    named(container, path, how, errors);
    sources(container, path, how, errors);
}

fn named(container: &Json, path: &str, (wording, rules): (Wording, Rules), errors: &mut Vec<FieldError>) {
    for (at, variable) in container.get("env").items().iter().enumerate() {
        let path = format!("{path}.env[{at}]");
        let name = text(variable, "name");
        if name.is_empty() {
            errors.push(FieldError::required(format!("{path}.name"), ""));
        } else {
            invalid(wrong_name(name, rules), format!("{path}.name"), name, errors);
        }
        let from = variable.get("valueFrom");
        if from.is_null() {
            continue;
        }
        let path = format!("{path}.valueFrom");
        let field = from.get("fieldRef");
        if field.is_object() {
            field_refs::field(field, field_refs::OF_VARIABLES, &format!("{path}.fieldRef"), wording, errors);
        }
        if from.get("resourceFieldRef").is_object() {
            let path = format!("{path}.resourceFieldRef");
            field_refs::resource(from.get("resourceFieldRef"), &path, false, errors);
        }
        file_key(from.get("fileKeyRef"), &format!("{path}.fileKeyRef"), errors);
        for source in ["configMapKeyRef", "secretKeyRef"] {
            key_of(from.get(source), &format!("{path}.{source}"), wording, errors);
        }
        let sources = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];
        let why = match sources.iter().filter(|source| !from.get(source).is_null()).count() {
            0 if rules.env_files => {
                "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
            }
            0 => "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`",
            _ if !text(variable, "value").is_empty() => "may not be specified when `value` is not empty",
            1 => continue,
            _ => "may not have more than one field specified at a time",
        };
        errors.push(FieldError::invalid_text(path, "", why));
    }
}

/// Checks that files that variables come from are in volumes of the Pod's own.
/// Source: validation.go (v1.35), `validateFileKeyRefVolumes`.
pub(super) fn files(spec: &Json, errors: &mut Vec<FieldError>) {
    for (path, container) in containers(spec) {
        for (at, variable) in container.get("env").items().iter().enumerate() {
            let of = variable.at(&["valueFrom", "fileKeyRef"]);
            if of.is_null() {
                continue;
            }
            let path = format!("{path}.env[{at}].valueFrom.fileKeyRef.volumeName");
            let name = text(of, "volumeName");
            match spec.get("volumes").items().iter().find(|volume| text(volume, "name") == name) {
                None => errors.push(FieldError::new(path, Problem::NotFound, quote(name), "")),
                Some(volume) if volume.get("emptyDir").is_null() => {
                    errors.push(FieldError::invalid_text(path, name, "referenced volume must be of type emptyDir"));
                }
                Some(_) => {}
            }
        }
    }
}

/// Checks a key of a file. Source: validation.go (v1.34), `validateFileKeySelector`.
fn file_key(of: &Json, path: &str, errors: &mut Vec<FieldError>) {
    if of.is_null() {
        return;
    }
    for field in ["key", "volumeName", "path"] {
        let (at, own) = (format!("{path}.{field}"), text(of, field));
        match field {
            _ if own.is_empty() => errors.push(FieldError::required(at, "")),
            "key" => invalid(unprintable(own), at, own, errors),
            "volumeName" => invalid(names::label(own, Wording::Characters), at, own, errors),
            _ => no_backsteps(own, &at, errors),
        }
    }
}

/// Checks a key of a ConfigMap or a Secret. Source: validation.go (v1.34), `validateConfigMapKeySelector`.
fn key_of(key: &Json, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    if key.is_null() {
        return;
    }
    let (name, own) = (text(key, "name"), text(key, "key"));
    invalid(names::subdomain(name, wording), format!("{path}.name"), name, errors);
    if own.is_empty() {
        errors.push(FieldError::required(format!("{path}.key"), ""));
    } else {
        invalid(names::config_key(own), format!("{path}.key"), own, errors);
    }
}

fn sources(container: &Json, path: &str, (wording, rules): (Wording, Rules), errors: &mut Vec<FieldError>) {
    for (at, from) in container.get("envFrom").items().iter().enumerate() {
        let own = format!("{path}.envFrom[{at}]");
        let prefix = text(from, "prefix");
        if !prefix.is_empty() {
            invalid(wrong_name(prefix, rules), format!("{own}.prefix"), prefix, errors);
        }
        let sources = ["configMapRef", "secretRef"];
        for source in sources.into_iter().filter(|source| !from.get(source).is_null()) {
            let name = text(from.get(source), "name");
            if name.is_empty() {
                errors.push(FieldError::required(format!("{own}.{source}.name"), ""));
            } else {
                // Checked as the base of a generated name is, which may end with a dash.
                invalid(
                    names::subdomain(&meta::without_last_dash(name), wording),
                    format!("{own}.{source}.name"),
                    name,
                    errors,
                );
            }
        }
        let why = match sources.iter().filter(|source| !from.get(source).is_null()).count() {
            0 => "must specify one of: `configMapRef` or `secretRef`",
            1 => continue,
            _ => "may not have more than one field specified at a time",
        };
        errors.push(FieldError::invalid_text(format!("{path}.envFrom"), "", why));
    }
}

/// Says what is wrong with nearly any name. Source: k8s.io/apimachinery pkg/util/validation/validation.go (v1.34),
/// `IsRelaxedEnvVarName`.
fn unprintable(name: &str) -> Vec<String> {
    let is_shown = |letter: char| matches!(letter, ' '..='<' | '>'..='~');
    let why = "a valid environment variable name must consist only of printable ASCII characters other than '='";
    if name.chars().all(is_shown) { Vec::new() } else { Vec::from([String::from(why)]) }
}

/// Says what is wrong with the name of a variable. Source: k8s.io/apimachinery pkg/util/validation/validation.go
/// (v1.34), `IsEnvVarName` and `IsRelaxedEnvVarName`.
fn wrong_name(name: &str, rules: Rules) -> Vec<String> {
    if rules.any_variable {
        return unprintable(name);
    }
    let mut problems = Vec::new();
    if !is_strict(name) {
        problems.push(String::from(STRICT));
    }
    match name {
        "." | ".." => problems.push(format!("must not be '{name}'")),
        name if name.starts_with("..") => problems.push(String::from("must not start with '..'")),
        _ => {}
    }
    problems
}

fn is_strict(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.' | '_');
    !name.is_empty() && name.chars().all(is_letter) && !name.starts_with(|first: char| first.is_ascii_digit())
}

/// Tells whether a stored specification has names that only newer servers take.
/// Source: pkg/api/pod/util.go (v1.34), `useRelaxedEnvironmentVariableValidation`.
pub(super) fn has_any_names(spec: &Json) -> bool {
    let has = |container: &Json| {
        let names = container.get("env").items().iter().map(|own| text(own, "name"));
        let prefixes = container.get("envFrom").items().iter().map(|own| text(own, "prefix"));
        names.chain(prefixes.filter(|prefix| !prefix.is_empty())).any(|name| !is_strict(name))
    };
    containers(spec).any(|(_, container)| has(container))
}

const STRICT: &str = "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or \
     '.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for \
     validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')";
