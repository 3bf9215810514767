//! Errors that rules declared with the types tell, from the release on in which those rules count.
//!
//! Mirrors k8s.io/apiserver pkg/registry/rest/validate.go (v0.37), `ValidateDeclarativelyWithMigrationChecks`, and the
//! tags of pkg/apis/*/*/zz_generated.validations.go (v1.37). A check marks an error that such a rule tells too, with
//! the rule's words. Inputs: the errors of all checks. Outputs: the same; those that are marked come last, each once,
//! in the rule's words, in the order of the type's fields. Nothing is told twice.

use alloc::string::String;
use alloc::vec::Vec;

use super::{FieldError, at_field};
use crate::objects::Json;
use crate::profile::Settings;

/// What a rule says where a handwritten check has words of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in super::super) enum RuleWords {
    /// The same.
    Same,
    /// Another detail.
    Detail(&'static str),
    /// The same about no value.
    NoValue,
    /// Another value and detail.
    Both(String, String),
}

/// The order of fields of types that handwritten checks look at in another one: of a StorageClass, and of a binding.
/// Source: k8s.io/api {storage,rbac}/v1/types.go (v0.37).
const ORDER: [&str; 6] = ["provisioner", "parameters", "reclaimPolicy", "volumeBindingMode", "subjects", "roleRef"];

fn is_fixed(error: &FieldError) -> bool {
    error.declared == Some(RuleWords::NoValue)
}

impl FieldError {
    /// Says that a rule tells the error too, in these words.
    pub(in super::super) fn declared(mut self, words: RuleWords) -> Self {
        self.declared = Some(words);
        self
    }

    fn by_rule(mut self) -> Self {
        match self.declared.take() {
            Some(RuleWords::Detail(detail)) => self.detail = detail.into(),
            Some(RuleWords::NoValue) => (self.value, self.structure) = ("null".into(), None),
            Some(RuleWords::Both(value, detail)) => (self.value, self.detail) = (value, detail),
            Some(RuleWords::Same) | None => {}
        }
        self
    }
}

/// Leaves to handwritten checks what stays as it was: no rule looks at it again.
pub(in super::super) fn leave_unchanged(errors: &mut [FieldError], tree: &Json, old: &Json) {
    for error in errors.iter_mut().filter(|error| error.declared.is_some()) {
        if at_field(tree, &error.field) == at_field(old, &error.field) {
            error.declared = None;
        }
    }
}

/// Puts what rules tell behind the rest, if they count in the release.
pub(super) fn take_over(errors: Vec<FieldError>, settings: &Settings) -> Vec<FieldError> {
    if errors.is_empty() || !settings.profile().is("declarative-rules-are-beta") {
        return errors;
    }
    let counts = settings.is_gate_on("DeclarativeValidationBeta");
    let is_marked = |error: &FieldError| counts && error.declared.is_some();
    // Of a field that may not change nothing else is looked at.
    let fixed: Vec<String> = errors.iter().filter(|error| is_fixed(error)).map(|error| error.field.clone()).collect();
    let is_taken = |error: &FieldError| is_marked(error) && (is_fixed(error) || !fixed.contains(&error.field));
    let (mut marked, mut errors): (Vec<_>, Vec<_>) = errors.into_iter().partition(is_taken);
    marked.sort_by_key(|error| ORDER.iter().position(|first| error.field.starts_with(first)));
    errors.extend(marked.into_iter().map(FieldError::by_rule));
    // What is taken out of a list is taken out of its aggregate, which has nothing twice.
    let mut told: Vec<FieldError> = Vec::new();
    for error in errors {
        if !told.iter().any(|other| other.field == error.field && other.body() == error.body()) {
            told.push(error);
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::{RuleWords, leave_unchanged, take_over};
    use crate::components::api_server::validation::FieldError;
    use crate::json;
    use crate::profile::{Release, Settings};

    fn told(errors: &[FieldError], minor: u16) -> Vec<String> {
        let settings = Settings::of(Release::new(minor, 0));
        take_over(errors.to_vec(), &settings).iter().map(FieldError::text).collect()
    }

    #[test]
    fn what_a_rule_tells_comes_last_and_once() {
        let missing = FieldError::required("a", "must be there").declared(RuleWords::Detail(""));
        let fixed = FieldError::invalid_text("b", "x", "fixed").declared(RuleWords::NoValue);
        let other = FieldError::required("c", "");
        let errors = [missing.clone(), fixed, missing, other];
        let old = ["a: Required value: must be there", "b: Invalid value: \"x\": fixed"];
        assert_eq!(told(&errors, 36)[..2], old);
        let new = ["c: Required value", "a: Required value", "b: Invalid value: null: fixed"];
        assert_eq!(told(&errors, 37), new);
    }

    #[test]
    fn a_rule_does_not_look_at_what_stays() {
        let mut errors = [FieldError::required("a", "why").declared(RuleWords::Detail(""))];
        leave_unchanged(&mut errors, &json!({"a": ""}), &json!({"a": ""}));
        assert_eq!(told(&errors, 37), ["a: Required value: why"]);
    }
}
