//! Validation of what a Job says of failed, replaced and succeeded Pods.
//!
//! Mirrors pkg/apis/batch/validation/validation.go (v1.34), `validatePodFailurePolicy`, `validateSuccessPolicy`,
//! `validatePodReplacementPolicy`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::amount::not_negative;
use super::{FieldError, Problem, invalid, text};
use crate::objects::Json;
use crate::objects::names::{self, Wording};

/// The most rules, exit codes and conditions. Source: validation.go (v1.34).
const RULES_MAX: usize = 20;
const EXIT_CODES_MAX: usize = 255;
const CONDITIONS_MAX: usize = 20;

/// Checks the policies of a Job whose specification stands at a path.
pub(super) fn check(spec: &Json, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    let rules = spec.at(&["podFailurePolicy", "rules"]).items();
    let list = format!("{path}.podFailurePolicy.rules");
    if rules.len() > RULES_MAX {
        errors.push(FieldError::too_many(list.as_str(), rules.len(), RULES_MAX));
    }
    for (at, rule) in rules.iter().enumerate() {
        failure_rule(spec, rule, &format!("{list}[{at}]"), wording, errors);
    }
    success(spec, path, errors);
    let place = format!("{path}.podReplacementPolicy");
    if let Some(policy) = spec.get("podReplacementPolicy").as_str() {
        let known: &[&str] =
            if spec.get("podFailurePolicy").is_null() { &["Failed", "TerminatingOrFailed"] } else { &["Failed"] };
        if !known.contains(&policy) {
            errors.push(FieldError::not_supported(place, policy, known));
        }
    }
}

/// Checks a word of a few; an absent one is told with those that there are.
fn one_of(place: &Json, path: &str, field: &str, known: &[&str], errors: &mut Vec<FieldError>) {
    let word = text(place, field);
    if word.is_empty() {
        let list: Vec<String> = known.iter().map(|word| format!("{word:?}")).collect();
        errors.push(FieldError::required(format!("{path}.{field}"), format!("valid values: [{}]", list.join(" "))));
    } else if !known.contains(&word) {
        errors.push(FieldError::not_supported(format!("{path}.{field}"), word, known));
    }
}

fn failure_rule(spec: &Json, rule: &Json, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    if text(rule, "action") == "FailIndex" && spec.get("backoffLimitPerIndex").is_null() {
        let why = "requires the backoffLimitPerIndex to be set";
        errors.push(FieldError::invalid_text(format!("{path}.action"), "FailIndex", why));
    } else {
        one_of(rule, path, "action", &["Count", "FailIndex", "FailJob", "Ignore"], errors);
    }
    let (codes, conditions) = (rule.get("onExitCodes"), rule.get("onPodConditions").items());
    if !codes.is_null() {
        exit_codes(spec, codes, &format!("{path}.onExitCodes"), errors);
    }
    let list = format!("{path}.onPodConditions");
    if conditions.len() > CONDITIONS_MAX {
        errors.push(FieldError::too_many(list.as_str(), conditions.len(), CONDITIONS_MAX));
    }
    for (at, pattern) in conditions.iter().enumerate() {
        let path = format!("{list}[{at}]");
        let kind = text(pattern, "type");
        invalid(names::qualified(kind, wording), format!("{path}.type"), kind, errors);
        one_of(pattern, &path, "status", &["False", "True", "Unknown"], errors);
    }
    let why = match (codes.is_null(), conditions.is_empty()) {
        (false, false) => "specifying both OnExitCodes and OnPodConditions is not supported",
        (true, true) => "specifying one of OnExitCodes and OnPodConditions is required",
        _ => return,
    };
    errors.push(FieldError::new(path, Problem::Invalid, String::new(), why));
}

fn exit_codes(spec: &Json, codes: &Json, path: &str, errors: &mut Vec<FieldError>) {
    one_of(codes, path, "operator", &["In", "NotIn"], errors);
    if let Some(name) = codes.get("containerName").as_str() {
        let lists = ["containers", "initContainers"].map(|list| spec.at(&["template", "spec", list]).items());
        if !lists.into_iter().flatten().any(|container| text(container, "name") == name) {
            let why = "must be one of the container or initContainer names in the pod template";
            errors.push(FieldError::invalid_text(format!("{path}.containerName"), name, why));
        }
    }
    let list = format!("{path}.values");
    let values = codes.get("values").items();
    match values.len() {
        0 => errors.push(FieldError::invalid(list.as_str(), codes.get("values"), "at least one value is required")),
        many if many > EXIT_CODES_MAX => errors.push(FieldError::too_many(list.as_str(), many, EXIT_CODES_MAX)),
        _ => {}
    }
    for (at, value) in values.iter().enumerate() {
        let place = format!("{list}[{at}]");
        if text(codes, "operator") == "In" && value.as_i64() == Some(0) {
            errors.push(FieldError::invalid(place.as_str(), value, "must not be 0 for the In operator"));
        }
        if values[..at].contains(value) {
            errors.push(FieldError::duplicate(place, value));
        }
    }
    if !values.is_sorted_by_key(Json::as_i64) {
        errors.push(FieldError::invalid(list, codes.get("values"), "must be ordered"));
    }
}

fn success(spec: &Json, path: &str, errors: &mut Vec<FieldError>) {
    let policy = spec.get("successPolicy");
    if policy.is_null() {
        return;
    }
    let rules = policy.get("rules").items();
    if text(spec, "completionMode") != "Indexed" {
        let why = "requires indexed completion mode";
        errors.push(FieldError::invalid_of("SuccessPolicy", format!("{path}.successPolicy"), policy, why));
        return;
    }
    let list = format!("{path}.successPolicy.rules");
    if rules.is_empty() {
        let why = "at least one rules must be specified when the successPolicy is specified";
        errors.push(FieldError::required(list.as_str(), why));
    }
    if rules.len() > RULES_MAX {
        errors.push(FieldError::too_many(list.as_str(), rules.len(), RULES_MAX));
    }
    let completions = spec.get("completions").as_i64().unwrap_or(0);
    for (at, rule) in rules.iter().enumerate() {
        success_rule(rule, completions, &format!("{list}[{at}]"), errors);
    }
}

fn success_rule(rule: &Json, completions: i64, path: &str, errors: &mut Vec<FieldError>) {
    let (indexes, count) = (rule.get("succeededIndexes"), rule.get("succeededCount"));
    if indexes.is_null() && count.is_null() {
        errors.push(FieldError::required(path, "at least one of succeededCount or succeededIndexes must be specified"));
    }
    let mut total = 0;
    if let Some(text) = indexes.as_str() {
        match count_indexes(text, completions) {
            Ok(count) => total = count,
            Err(why) => {
                let why = format!("error parsing succeededIndexes: {why}");
                errors.push(FieldError::invalid_text(format!("{path}.succeededIndexes"), text, why));
            }
        }
    }
    not_negative(rule, path, "succeededCount", errors);
    for (is_given, most, of) in [
        (true, completions, "specified completions"),
        (!indexes.is_null(), total, "indexes in the specified succeededIndexes field"),
    ] {
        if is_given && count.as_i64().is_some_and(|count| count > most) {
            let why = format!("must be less than or equal to {most} (the number of {of})");
            errors.push(FieldError::invalid(format!("{path}.succeededCount"), count, why));
        }
    }
}

/// Counts indexes that are written as `1,3-5`. Source: validation.go (v1.34), `validateIndexesFormat`.
fn count_indexes(text: &str, completions: i64) -> Result<i64, String> {
    let (mut last, mut total) = (None, 0);
    for interval in text.split(',').filter(|_| !text.is_empty()) {
        let limits: Vec<&str> = interval.split('-').collect();
        if limits.len() > 2 {
            return Err(format!(
                "the fragment {interval:?} violates the requirement that an index interval can have at most two parts \
                 separated by '-'"
            ));
        }
        let read = |text: &str| match text.parse::<i64>() {
            Err(_) => Err(format!("cannot convert string to integer for index: {text:?}")),
            Ok(index) if index >= completions => Err(format!("too large index: {text:?}")),
            Ok(index) => Ok(index),
        };
        let not_after =
            |before: i64, now: i64| Err(format!("non-increasing order, previous: {before}, current: {now}"));
        let first = read(limits[0])?;
        let end = limits.get(1).map_or(Ok(first), |text| read(text))?;
        if limits.len() == 2 && first >= end {
            return not_after(first, end);
        }
        if let Some(last) = last.filter(|last| *last >= first) {
            return not_after(last, first);
        }
        total += end - first + 1;
        last = Some(end);
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::count_indexes;

    #[test]
    fn indexes_are_counted_in_order() {
        assert_eq!(count_indexes("", 5), Ok(0));
        assert_eq!(count_indexes("0,2-4", 5), Ok(4));
        for (text, why) in [
            ("a", "cannot convert string to integer for index: \"a\""),
            ("5", "too large index: \"5\""),
            ("3-1", "non-increasing order, previous: 3, current: 1"),
            ("2,1", "non-increasing order, previous: 2, current: 1"),
        ] {
            assert_eq!(count_indexes(text, 5).unwrap_err(), why);
        }
    }
}
