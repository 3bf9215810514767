//! What a Job says of pods that failed, and of indexes that suffice.
//!
//! Mirrors pkg/controller/job/{pod_failure_policy,success_policy}.go and `isPodFailed` of job_controller.go (v1.34).
//! Inputs: a Job, its pods, the indexes that succeeded. Outputs: whether a failure counts, ends the Job or its index,
//! and whether the Job has succeeded already.

use alloc::format;
use alloc::string::String;

use super::indexes::IndexIntervals;
use crate::objects::lifecycle::{is_ending, phase};
use crate::objects::{Json, Object};

/// What the policy says of a pod that failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct FailureMatch {
    /// Why the whole Job fails, if it does.
    pub(super) ends_job: Option<String>,
    /// Whether the pod's index fails.
    pub(super) ends_index: bool,
    /// Whether the failure counts for the limits of retries.
    pub(super) counts: bool,
}

/// Tells what the first rule that matches a pod says; without one its failure counts.
pub(super) fn failure_match(job: &Object, pod: &Object) -> FailureMatch {
    let rules = job.stable().at(&["spec", "podFailurePolicy", "rules"]).items();
    let plain = FailureMatch { ends_job: None, ends_index: false, counts: true };
    let key = pod.key();
    let place = format!("{}/{}", key.namespace, key.name);
    for (at, rule) in rules.iter().enumerate() {
        let exits = rule.get("onExitCodes");
        let why = if exits.is_null() {
            matched_condition(pod, rule.get("onPodConditions")).map(|kind| format!("Pod {place} has condition {kind}"))
        } else {
            matched_container(pod, exits)
                .map(|(name, code)| format!("Container {name} for pod {place} failed with exit code {code}"))
        };
        let Some(why) = why else { continue };
        return match rule.get("action").as_str().unwrap_or_default() {
            "Ignore" => FailureMatch { counts: false, ..plain },
            "FailIndex" => FailureMatch { ends_index: true, ..plain },
            "FailJob" => FailureMatch { ends_job: Some(format!("{why} matching FailJob rule at index {at}")), ..plain },
            _ => plain,
        };
    }
    plain
}

/// Finds a container that ended with a code that a rule names; containers are looked at before init containers.
fn matched_container<'a>(pod: &'a Object, rule: &Json) -> Option<(&'a str, i64)> {
    let wanted = rule.get("containerName").as_str();
    let values = rule.get("values").items();
    let matches = |status: &'a Json| {
        let name = status.get("name").as_str().unwrap_or_default();
        let code = status.at(&["state", "terminated", "exitCode"]).as_i64().filter(|code| *code != 0)?;
        let is_named = values.iter().any(|value| value.as_i64() == Some(code));
        let is_match = match rule.get("operator").as_str() {
            Some("In") => is_named,
            Some("NotIn") => !is_named,
            _ => false,
        };
        (is_match && wanted.is_none_or(|wanted| wanted == name)).then_some((name, code))
    };
    let of = |list| pod.stable().at(&["status", list]).items().iter();
    of("containerStatuses").chain(of("initContainerStatuses")).find_map(matches)
}

/// Finds the first condition of a pod that a rule names.
fn matched_condition<'a>(pod: &'a Object, patterns: &Json) -> Option<&'a str> {
    let conditions = pod.stable().at(&["status", "conditions"]).items();
    let is_meant = |condition: &&Json| {
        let same = |pattern: &Json| ["type", "status"].iter().all(|field| pattern.get(field) == condition.get(field));
        patterns.items().iter().any(same)
    };
    conditions.iter().find(is_meant)?.get("type").as_str()
}

/// Tells whether a Job makes a new pod only when the old one has ended.
///
/// Source: pkg/controller/job/job_controller.go (v1.34), `onlyReplaceFailedPods`.
pub(super) fn replaces_only_failed(job: &Object) -> bool {
    let spec = job.stable().get("spec");
    spec.get("podReplacementPolicy").as_str() == Some("Failed") || !spec.get("podFailurePolicy").is_null()
}

/// Tells whether a pod counts as failed: so does one that is being deleted, unless only ended pods are replaced.
pub(super) fn is_failed(job: &Object, pod: &Object) -> bool {
    match phase(pod) {
        "Failed" => true,
        "Succeeded" => false,
        _ => is_ending(pod) && !replaces_only_failed(job),
    }
}

/// Returns which rule of the success policy the succeeded indexes satisfy, in words.
pub(super) fn success_match(job: &Object, succeeded: &IndexIntervals, completions: i64) -> Option<String> {
    if succeeded.is_empty() {
        return None;
    }
    let rules = job.stable().at(&["spec", "successPolicy", "rules"]).items();
    let is_met = |rule: &&Json| {
        let count = rule.get("succeededCount").as_i64();
        let Some(text) = rule.get("succeededIndexes").as_str() else {
            return count.is_some_and(|count| succeeded.total() >= count);
        };
        let wanted = IndexIntervals::parse(text, completions);
        let there = wanted.common(succeeded);
        !wanted.is_empty() && (there == wanted.total() || count.is_some_and(|count| there >= count))
    };
    let at = rules.iter().position(|rule| is_met(&rule))?;
    Some(format!("Matched rules at index {at}"))
}

#[cfg(test)]
mod tests {
    use super::{FailureMatch, IndexIntervals, failure_match, is_failed, success_match};
    use crate::json;
    use crate::objects::{Json, Object};

    fn job(field: &str, rules: Json) -> Object {
        let mut job = json!({"spec": {}});
        job.set(&["spec", field, "rules"], rules);
        Object::new(job, 1)
    }

    fn exited(name: &str, code: i64) -> Json {
        json!({"name": name, "state": {"terminated": {"exitCode": code}}})
    }

    fn pod(containers: Json, inits: Json) -> Object {
        let conditions = json!([{"type": "Ready", "status": "False"}, {"type": "DisruptionTarget", "status": "True"}]);
        Object::new(
            json!({"metadata": {"name": "p", "namespace": "ns"}, "status": {"phase": "Failed",
                "conditions": conditions, "containerStatuses": containers, "initContainerStatuses": inits}}),
            1,
        )
    }

    fn exits(action: &str, operator: &str, values: Json, name: Json) -> Json {
        let mut rule = json!({"action": action, "onExitCodes": {"operator": operator, "values": values}});
        if !name.is_null() {
            rule.set(&["onExitCodes", "containerName"], name);
        }
        rule
    }

    #[test]
    fn the_first_rule_that_matches_says_what_a_failure_means() {
        let failed = pod(json!([exited("a", 0), exited("b", 3)]), json!([exited("i", 7)]));
        let on = |status: &str| {
            let pattern = json!({"type": "DisruptionTarget", "status": status});
            json!({"action": "FailJob", "onPodConditions": [pattern]})
        };
        let none = json!(null);
        let plain = FailureMatch { ends_job: None, ends_index: false, counts: true };
        let ends = |text: &str| FailureMatch { ends_job: Some(text.into()), ..plain.clone() };
        for (rules, expected) in [
            (json!([exits("Ignore", "In", json!([4]), none.clone())]), plain.clone()),
            (json!([exits("Ignore", "In", json!([3]), none.clone())]), FailureMatch { counts: false, ..plain.clone() }),
            (json!([exits("Ignore", "In", json!([3]), json!("a"))]), plain.clone()),
            (json!([exits("Ignore", "NotIn", json!([3, 7]), none.clone())]), plain.clone()),
            (
                json!([exits("FailIndex", "In", json!([7]), none.clone())]),
                FailureMatch { ends_index: true, ..plain.clone() },
            ),
            (json!([exits("Count", "In", json!([3]), none.clone()), on("True")]), plain.clone()),
            (json!([on("False")]), plain.clone()),
            (
                json!([on("False"), on("True")]),
                ends("Pod ns/p has condition DisruptionTarget matching FailJob rule at index 1"),
            ),
            (
                json!([exits("FailJob", "NotIn", json!([7]), none)]),
                ends("Container b for pod ns/p failed with exit code 3 matching FailJob rule at index 0"),
            ),
        ] {
            assert_eq!(failure_match(&job("podFailurePolicy", rules.clone()), &failed), expected, "{rules}");
        }
    }

    #[test]
    fn a_pod_that_is_being_deleted_has_failed_unless_only_ended_pods_are_replaced() {
        let plain = Object::new(json!({"spec": {"podReplacementPolicy": "TerminatingOrFailed"}}), 1);
        let careful = Object::new(json!({"spec": {"podReplacementPolicy": "Failed"}}), 1);
        let pod = |phase: &str, deleted: Json| {
            Object::new(json!({"metadata": {"deletionTimestamp": deleted}, "status": {"phase": phase}}), 1)
        };
        for (phase, deleted, of_plain, of_careful) in [
            ("Running", json!(null), false, false),
            ("Running", json!("now"), true, false),
            ("Failed", json!("now"), true, true),
            ("Succeeded", json!("now"), false, false),
        ] {
            let pod = pod(phase, deleted);
            assert_eq!((is_failed(&plain, &pod), is_failed(&careful, &pod)), (of_plain, of_careful), "{phase}");
        }
    }

    #[test]
    fn a_rule_of_success_asks_for_indexes_or_a_number_of_them() {
        for (rules, succeeded, expected) in [
            (json!([{"succeededIndexes": "0-2"}]), "0,1", None),
            (json!([{"succeededIndexes": "0-2"}]), "0-3", Some("Matched rules at index 0")),
            (json!([{"succeededIndexes": "0-2", "succeededCount": 2}]), "0,2", Some("Matched rules at index 0")),
            (json!([{"succeededIndexes": "0-2", "succeededCount": 2}]), "0,4", None),
            (json!([{"succeededIndexes": "1"}, {"succeededCount": 2}]), "0,4", Some("Matched rules at index 1")),
            (json!([{"succeededCount": 1}]), "", None),
            (json!([{"succeededIndexes": "8"}]), "0-4", None),
        ] {
            let job = job("successPolicy", rules.clone());
            let met = success_match(&job, &IndexIntervals::parse(succeeded, 5), 5);
            assert_eq!(met.as_deref(), expected, "{rules} {succeeded}");
        }
    }
}
