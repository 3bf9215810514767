//! Where the objects of a custom kind have what a Scale shows, and what may stand there.
//!
//! Mirrors k8s.io/apiextensions-apiserver pkg/registry/customresource/validator.go and k8s.io/apimachinery
//! pkg/apis/meta/v1/unstructured/helpers.go (v1.34). Pure: trees in, errors out.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::super::validation::{FieldError, Problem, quote};
use crate::objects::patch::{go_type, go_value};
use crate::objects::{Json, Text};

/// The places, as `.spec.replicas` names one.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct ScalePaths {
    pub(in super::super) spec: Vec<Text>,
    pub(in super::super) status: Vec<Text>,
    pub(in super::super) selector: Vec<Text>,
}

impl ScalePaths {
    /// Reads what a definition says of the subresource.
    pub(super) fn read(scale: &Json) -> Self {
        let place = |field: &str| {
            let path = scale.get(field).as_str().unwrap_or("").trim_start_matches('.');
            path.split('.').map(Text::from).filter(|step| !step.is_empty()).collect()
        };
        Self {
            spec: place("specReplicasPath"),
            status: place("statusReplicasPath"),
            selector: place("labelSelectorPath"),
        }
    }

    /// Says what is wrong with the number of replicas that an object asks for.
    pub(super) fn check_spec(&self, tree: &Json, errors: &mut Vec<FieldError>) {
        check_count(tree, &self.spec, errors);
    }

    /// Says what is wrong with what an object tells of its replicas.
    pub(super) fn check_status(&self, tree: &Json, errors: &mut Vec<FieldError>) {
        check_count(tree, &self.status, errors);
        let is_text = |value: &Json| value.as_str().is_some();
        if !self.selector.is_empty()
            && let Err(why) = nested(tree, &self.selector, "string", is_text)
        {
            errors.push(FieldError::new(shown(&self.selector), Problem::Invalid, quote(""), why));
        }
    }
}

/// Returns a path as a definition writes it.
pub(in super::super) fn shown(path: &[Text]) -> String {
    let steps: Vec<&str> = path.iter().map(Text::as_str).collect();
    format!(".{}", steps.join("."))
}

fn check_count(tree: &Json, path: &[Text], errors: &mut Vec<FieldError>) {
    let (count, why) = match nested(tree, path, "int64", |value| value.as_i64().is_some()) {
        Err(why) => (0, why),
        Ok(found) => match found.and_then(Json::as_i64).unwrap_or(0) {
            count if count < 0 => (count, String::from("should be a non-negative integer")),
            count if count > i64::from(i32::MAX) => (count, format!("should be less than or equal to {}", i32::MAX)),
            _ => return,
        },
    };
    errors.push(FieldError::new(shown(path), Problem::Invalid, count.to_string(), why));
}

/// Finds a value, or says what stands in its way.
fn nested<'a>(
    tree: &'a Json,
    path: &[Text],
    wanted: &str,
    fits: impl Fn(&Json) -> bool,
) -> Result<Option<&'a Json>, String> {
    let other = |upto: usize, value: &Json, wanted: &str| {
        let (place, go) = (shown(&path[..upto]), go_value(value));
        Err(format!("{place} accessor error: {go} is of the type {}, expected {wanted}", go_type(value)))
    };
    let mut value = tree;
    for (at, step) in path.iter().enumerate() {
        if value.is_null() && at > 0 {
            return Ok(None);
        }
        if !value.is_object() {
            return other(at, value, "map[string]interface {}");
        }
        match value.fields().find(|(name, _)| *name == step) {
            Some((_, below)) => value = below,
            None => return Ok(None),
        }
    }
    if fits(value) { Ok(Some(value)) } else { other(path.len(), value, wanted) }
}
