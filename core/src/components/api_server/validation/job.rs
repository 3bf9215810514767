//! Validation of Jobs and CronJobs.
//!
//! Mirrors pkg/apis/batch/validation/validation.go (v1.34). Left out on purpose: changes of a status, whether a time
//! zone exists.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::amount::not_negative;
use super::job_policies;
use super::others::label_selector;
use super::pod::{Rules, validate_template};
use super::{FieldError, IMMUTABLE, Problem, RuleWords, cron, prefixed_path, text};
use crate::components::api_server::jobs::{NAME_LABELS, UID_LABELS};
use crate::objects::Json;
use crate::objects::lifecycle::is_condition_true;
use crate::objects::names::{self, Wording};
use crate::objects::selector::selects;

/// The most Pods and failed indexes at a time, and those of Jobs with many completions. Source: validation.go (v1.34).
const PARALLELISM_MAX: i64 = 100_000;
const FAILED_INDEXES_MAX: i64 = 100_000;
const MANY_COMPLETIONS: i64 = 100_000;
const PARALLELISM_MAX_OF_MANY: i64 = 10_000;
/// The most bytes of `managedBy`, and of the name of a CronJob. Source: validation.go (v1.34).
const MANAGER_MAX: usize = 63;
const CRON_JOB_NAME_MAX: usize = 52;

/// Checks a Job.
pub(in super::super) fn job(tree: &Json, wording: Wording, rules: Rules, errors: &mut Vec<FieldError>) {
    generated_selector(tree, errors);
    selecting(tree.get("spec"), wording, rules, errors);
    name_of_indexed(tree, wording, errors);
}

/// Checks that the last Pod of an Indexed Job can have a host name. Source: validation.go (v1.34), `ValidateJob`;
/// `validateNameAllowsCompletions` in v1.37.
fn name_of_indexed(tree: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let spec = tree.get("spec");
    let completions = spec.get("completions").as_i64().unwrap_or(0);
    if text(spec, "completionMode") == "Indexed" && completions > 0 {
        let name = tree.at(&["metadata", "name"]).as_str().unwrap_or("");
        let host = format!("{name}-{}", completions - 1);
        if !names::label(&host, wording).is_empty() {
            let why = format!("will not able to create pod with invalid DNS label: {host}");
            errors.push(FieldError::invalid_text("metadata.name", name, why));
        }
    }
}

/// Source: validation.go (v1.34), `validateGeneratedSelector`.
fn generated_selector(tree: &Json, errors: &mut Vec<FieldError>) {
    let spec = tree.get("spec");
    if spec.get("manualSelector").as_bool() == Some(true) || spec.get("selector").is_null() {
        return;
    }
    let of = |field: &str| tree.at(&["metadata", field]).as_str().unwrap_or("");
    let labels = spec.at(&["template", "metadata", "labels"]);
    let mut expected = Json::object();
    // The old labels first, then the new ones.
    let wanted = UID_LABELS.into_iter().zip(NAME_LABELS);
    for (label, value) in wanted.flat_map(|(uid, name)| [(uid, of("uid")), (name, of("name"))]) {
        expected.set(&[label], value);
        let found = labels.get(label);
        let path = "spec.template.metadata.labels";
        if found.is_null() {
            errors.push(FieldError::required(format!("{path}[{label}]"), format!("must be '{value}'")));
        } else if found.as_str() != Some(value) {
            let why = format!("must be '{value}'");
            errors.push(FieldError::invalid(format!("{path}[{label}]"), labels, why));
        }
    }
    if is_valid(spec.get("selector")) && !selects(spec.get("selector"), &expected) {
        let why = "`selector` not auto-generated";
        errors.push(FieldError::invalid_of("LabelSelector", "spec.selector", spec.get("selector"), why));
    }
}

fn is_valid(selector: &Json) -> bool {
    let mut errors = Vec::new();
    label_selector(selector, "", Wording::Characters, &mut errors);
    errors.is_empty()
}

/// Checks the specification of a Job with its selector.
fn selecting(spec: &Json, wording: Wording, rules: Rules, errors: &mut Vec<FieldError>) {
    specification(spec, "spec", wording, rules, errors);
    let selector = spec.get("selector");
    if selector.is_null() {
        errors.push(FieldError::required("spec.selector", ""));
    } else {
        label_selector(selector, "spec.selector", wording, errors);
    }
    let labels = spec.at(&["template", "metadata", "labels"]);
    if is_valid(selector) && (selector.is_null() || !selects(selector, labels)) {
        let why = "`selector` does not match template `labels`";
        errors.push(FieldError::invalid("spec.template.metadata.labels", labels, why));
    }
}

/// Checks the specification of a Job, which stands at a path. Source: validation.go (v1.34), `validateJobSpec`.
fn specification(spec: &Json, path: &str, wording: Wording, rules: Rules, errors: &mut Vec<FieldError>) {
    let fields = [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ];
    for field in fields {
        not_negative(spec, path, field, errors);
    }
    if !spec.get("maxFailedIndexes").is_null() && spec.get("backoffLimitPerIndex").is_null() {
        errors.push(FieldError::required(format!("{path}.backoffLimitPerIndex"), "when maxFailedIndexes is specified"));
    }
    if let Some(manager) = spec.get("managedBy").as_str() {
        managed_by(manager, &format!("{path}.managedBy"), wording, errors);
    }
    match text(spec, "completionMode") {
        "Indexed" => indexed(spec, path, errors),
        mode => {
            if !matches!(mode, "" | "NonIndexed") || spec.get("completionMode").as_str() == Some("") {
                let known = ["NonIndexed", "Indexed"];
                errors.push(FieldError::not_supported(format!("{path}.completionMode"), mode, &known));
            } else {
                for field in ["backoffLimitPerIndex", "maxFailedIndexes"] {
                    if !spec.get(field).is_null() {
                        let why = "requires indexed completion mode";
                        errors.push(FieldError::invalid(format!("{path}.{field}"), spec.get(field), why));
                    }
                }
            }
        }
    }
    job_policies::check(spec, path, wording, errors);
    let mut own = Vec::new();
    validate_template(spec.get("template"), wording, rules, &mut own);
    errors.extend(own.into_iter().map(|mut error| {
        error.field = error.field.replacen("spec", path, 1);
        error
    }));
    restart_policy(spec, path, errors);
}

fn restart_policy(spec: &Json, path: &str, errors: &mut Vec<FieldError>) {
    let place = format!("{path}.template.spec.restartPolicy");
    let policy = text(spec.at(&["template", "spec"]), "restartPolicy");
    match policy {
        "" | "Always" => errors.push(FieldError::required(place, "valid values: \"OnFailure\", \"Never\"")),
        "OnFailure" if !spec.get("podFailurePolicy").is_null() => {
            let why = "only \"Never\" is supported when podFailurePolicy is specified";
            errors.push(FieldError::invalid_text(place, policy, why));
        }
        "OnFailure" | "Never" => {}
        other => errors.push(FieldError::not_supported(place, other, &["OnFailure", "Never"])),
    }
}

fn managed_by(manager: &str, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    prefixed_path(manager, path, wording, errors);
    if manager.len() > MANAGER_MAX {
        errors.push(FieldError::too_long(path, format!("may not be more than {MANAGER_MAX} bytes")));
    }
}

fn indexed(spec: &Json, path: &str, errors: &mut Vec<FieldError>) {
    let of = |field: &str| spec.get(field).as_i64();
    let mut at_most = |field: &str, most: i64, why: String| {
        if of(field).is_some_and(|number| number > most) {
            errors.push(FieldError::invalid(format!("{path}.{field}"), spec.get(field), why));
        }
    };
    let mode = format!("must be less than or equal to {PARALLELISM_MAX} when completion mode is Indexed");
    at_most("parallelism", PARALLELISM_MAX, mode);
    if let Some(completions) = of("completions") {
        at_most("maxFailedIndexes", completions, "must be less than or equal to completions".to_string());
    }
    let most = format!("must be less than or equal to {FAILED_INDEXES_MAX}");
    at_most("maxFailedIndexes", FAILED_INDEXES_MAX, most);
    let is_many = of("completions").is_some_and(|number| number > MANY_COMPLETIONS);
    let counts = is_many && of("backoffLimitPerIndex").is_some();
    if counts {
        for field in ["parallelism", "maxFailedIndexes"] {
            let why = format!(
                "must be less than or equal to {PARALLELISM_MAX_OF_MANY} when completions are above \
                 {MANY_COMPLETIONS} and used with backoff limit per index"
            );
            at_most(field, PARALLELISM_MAX_OF_MANY, why);
        }
    }
    if of("completions").is_none() {
        errors.push(FieldError::required(format!("{path}.completions"), "when completion mode is Indexed"));
    }
    if counts && of("maxFailedIndexes").is_none() {
        let why = format!("must be specified when completions is above {MANY_COMPLETIONS}");
        errors.push(FieldError::required(format!("{path}.maxFailedIndexes"), why));
    }
}

/// Checks a change of a Job. Source: validation.go (v1.34), `ValidateJobSpecUpdate`.
pub(in super::super) fn job_update(
    (tree, old): (&Json, &Json),
    (wording, is_checked_twice): (Wording, bool),
    rules: Rules,
    errors: &mut Vec<FieldError>,
) {
    if is_checked_twice {
        job(tree, wording, rules, errors);
    }
    let (spec, stored) = (tree.get("spec"), old.get("spec"));
    selecting(spec, wording, rules, errors);
    let changed = |field: &str| spec.get(field) != stored.get(field);
    if text(spec, "completionMode") != "Indexed" {
        kept(spec, stored, "completions", errors);
    } else if changed("completions") && spec.get("completions") != spec.get("parallelism") {
        let why = "can only be modified in tandem with spec.parallelism";
        errors.push(FieldError::invalid("spec.completions", spec.get("completions"), why));
    }
    kept(spec, stored, "selector", errors);
    template_update(spec.get("template"), old, rules, errors);
    for field in ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"] {
        kept(spec, stored, field, errors);
    }
    if !is_checked_twice {
        name_of_indexed(tree, wording, errors);
    }
}

/// Checks a change of the template. Source: pkg/apis/batch/validation/validation.go (v1.34, v1.36),
/// `validatePodTemplateUpdate`, and pkg/registry/batch/job/strategy.go, `validationOptionsForJob`.
fn template_update(template: &Json, old: &Json, rules: Rules, errors: &mut Vec<FieldError>) {
    let status = old.get("status");
    let is_asked = old.at(&["spec", "suspend"]).as_bool() == Some(true);
    let is_idle = is_asked && is_condition_true(old, "Suspended") && status.get("active").as_i64().unwrap_or(0) == 0;
    let may_move = if rules.suspended_jobs_move { is_idle } else { is_asked && status.get("startTime").is_null() };
    let stored = old.at(&["spec", "template"]);
    let before = if may_move { rescheduled(stored, template) } else { stored.clone() };
    if rules.suspended_jobs_resize && is_idle {
        let (spec, before) = (template.get("spec"), resized(before.get("spec"), template.get("spec")));
        if *spec != before {
            errors.push(FieldError::invalid_of("PodSpec", "spec.template.spec", spec, IMMUTABLE));
        }
    } else if *template != before {
        errors.push(FieldError::invalid_of("PodTemplateSpec", "spec.template", template, IMMUTABLE));
    }
}

/// Returns the specification of a Pod with the resources of another's containers, where both have the same ones.
fn resized(stored: &Json, new: &Json) -> Json {
    let mut spec = stored.clone();
    for list in ["containers", "initContainers"] {
        let others = new.get(list).items();
        if others.is_empty() || others.len() != stored.get(list).items().len() {
            continue;
        }
        for (own, other) in spec.entry(&[list]).make_array().iter_mut().zip(others) {
            if own.get("name") == other.get("name") {
                super::super::fields::put(own, &["resources"], other.get("resources"));
            }
        }
    }
    spec
}

fn kept(spec: &Json, stored: &Json, field: &str, errors: &mut Vec<FieldError>) {
    let (new, path) = (spec.get(field), format!("spec.{field}"));
    let structure = match field {
        "selector" => Some("LabelSelector"),
        "podFailurePolicy" => Some("PodFailurePolicy"),
        "successPolicy" => Some("SuccessPolicy"),
        _ => None,
    };
    if new != stored.get(field) {
        errors.push(match structure {
            Some(name) => FieldError::invalid_of(name, path, new, IMMUTABLE),
            None => FieldError::invalid(path, new, IMMUTABLE),
        });
    }
}

/// Returns a template with what may change of one that waits: where its Pods may be scheduled.
fn rescheduled(stored: &Json, new: &Json) -> Json {
    let mut template = stored.clone();
    for path in [
        &["metadata", "labels"][..],
        &["metadata", "annotations"],
        &["spec", "nodeSelector"],
        &["spec", "tolerations"],
        &["spec", "schedulingGates"],
        &["spec", "affinity", "nodeAffinity"],
    ] {
        super::super::fields::put(&mut template, path, new.at(path));
    }
    if new.at(&["spec", "affinity"]).is_null() && template.at(&["spec", "affinity"]).is_empty() {
        template.remove(&["spec", "affinity"]);
    }
    template
}

/// Checks a CronJob. Source: validation.go (v1.34), `validateCronJobSpec`, `ValidateCronJobCreate`.
pub(in super::super) fn cron_job(
    tree: &Json,
    old: &Json,
    wording: Wording,
    rules: Rules,
    errors: &mut Vec<FieldError>,
) {
    let spec = tree.get("spec");
    match text(spec, "schedule") {
        "" => errors.push(FieldError::required("spec.schedule", "").declared(RuleWords::Same)),
        schedule => {
            let allows_zone = text(old.get("spec"), "schedule").contains("TZ");
            cron::schedule(schedule, allows_zone, !spec.get("timeZone").is_null(), errors);
        }
    }
    not_negative(spec, "spec", "startingDeadlineSeconds", errors);
    if old.is_null() || spec.get("timeZone") != old.at(&["spec", "timeZone"]) {
        cron::time_zone(spec.get("timeZone"), errors);
    }
    let policies = ["Allow", "Forbid", "Replace"];
    match text(spec, "concurrencyPolicy") {
        "" => errors.push(FieldError::required("spec.concurrencyPolicy", "")),
        policy if policies.contains(&policy) => {}
        policy => errors.push(FieldError::not_supported("spec.concurrencyPolicy", policy, &policies)),
    }
    let job = spec.at(&["jobTemplate", "spec"]);
    specification(job, "spec.jobTemplate.spec", wording, rules, errors);
    if !job.get("selector").is_null() {
        let why = "`selector` will be auto-generated";
        errors.push(FieldError::invalid("spec.jobTemplate.spec.selector", job.get("selector"), why));
    }
    if job.get("manualSelector").as_bool() == Some(true) {
        let why = "supported values: \"nil\", \"false\"".to_string();
        let field = "spec.jobTemplate.spec.manualSelector";
        errors.push(FieldError::new(field, Problem::NotSupported, "true".to_string(), why));
    }
    not_negative(spec, "spec", "successfulJobsHistoryLimit", errors);
    not_negative(spec, "spec", "failedJobsHistoryLimit", errors);
    let name = tree.at(&["metadata", "name"]).as_str().unwrap_or("");
    if old.is_null() && name.len() > CRON_JOB_NAME_MAX {
        errors.push(FieldError::invalid_text("metadata.name", name, "must be no more than 52 characters"));
    }
}
