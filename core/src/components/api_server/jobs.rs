//! Defaults of Jobs and CronJobs, and the selector that the server gives to a Job.
//!
//! Mirrors pkg/apis/batch/v1/defaults.go and pkg/registry/batch/job/strategy.go (v1.34). Inputs: the tree of an object.
//! Output: the same tree.

use super::fields::set_absent;
use super::workloads::default_template;
use crate::network::kinds::Kind;
use crate::objects::Json;
use crate::profile::Settings;

/// The labels with a Job's uid and name. Source: pkg/apis/batch/types.go (v1.34), `ControllerUidLabel` and others.
pub(super) const UID_LABELS: [&str; 2] = ["controller-uid", "batch.kubernetes.io/controller-uid"];
pub(super) const NAME_LABELS: [&str; 2] = ["job-name", "batch.kubernetes.io/job-name"];

/// Sets what the API's defaults set; those of a Job are not those of the Jobs of a CronJob.
pub(super) fn default(kind: &str, tree: &mut Json) {
    if kind == "CronJob" {
        let spec = tree.entry(&["spec"]);
        default_template(spec.entry(&["jobTemplate", "spec"]));
        default_conditions(spec.entry(&["jobTemplate", "spec"]));
        for (field, value) in [
            ("concurrencyPolicy", Json::from("Allow")),
            ("suspend", Json::Bool(false)),
            ("successfulJobsHistoryLimit", Json::Int(3)),
            ("failedJobsHistoryLimit", Json::Int(1)),
        ] {
            set_absent(spec, &[field], value);
        }
        return;
    }
    default_labels(tree);
    let spec = tree.entry(&["spec"]);
    default_template(spec);
    default_conditions(spec);
    if spec.get("parallelism").is_null() {
        set_absent(spec, &["completions"], 1_i64);
    }
    let retries = if spec.get("backoffLimitPerIndex").is_null() { 6 } else { i64::from(i32::MAX) };
    let replacement = if spec.get("podFailurePolicy").is_null() { "TerminatingOrFailed" } else { "Failed" };
    for (field, value) in [
        ("parallelism", Json::Int(1)),
        ("backoffLimit", Json::Int(retries)),
        ("completionMode", Json::from("NonIndexed")),
        ("suspend", Json::Bool(false)),
        ("podReplacementPolicy", Json::from(replacement)),
        ("manualSelector", Json::Bool(false)),
    ] {
        set_absent(spec, &[field], value);
    }
}

/// A pattern of a pod failure policy means conditions that are true.
fn default_conditions(spec: &mut Json) {
    if spec.at(&["podFailurePolicy", "rules"]).is_empty() {
        return;
    }
    for rule in spec.entry(&["podFailurePolicy", "rules"]).make_array() {
        if rule.get("onPodConditions").is_empty() {
            continue;
        }
        for pattern in rule.entry(&["onPodConditions"]).make_array() {
            if pattern.get("status").as_str().unwrap_or("").is_empty() {
                pattern.set(&["status"], "True");
            }
        }
    }
}

/// Tells whether a new Job comes without labels and so takes those of its template: upstream then has one map for both,
/// and labels that the server adds to the template are the Job's too.
/// Source: pkg/apis/batch/v1/defaults.go (v1.34), `SetDefaults_Job`.
pub(super) fn shares_labels(kind: &Kind, tree: &Json) -> bool {
    kind.rules() == "Job"
        && tree.at(&["metadata", "labels"]).is_empty()
        && !tree.at(&["spec", "template", "metadata", "labels"]).is_empty()
}

/// Gives a Job the labels of its template.
pub(super) fn share_labels(tree: &mut Json) {
    let labels = tree.at(&["spec", "template", "metadata", "labels"]).clone();
    tree.set(&["metadata", "labels"], labels);
}

/// Lets a Job without labels carry those of its template, as it is read from the storage.
pub(super) fn default_labels(tree: &mut Json) {
    let has_others = !tree.at(&["spec", "template", "metadata", "labels"]).is_null();
    if has_others && tree.at(&["metadata", "labels"]).is_empty() {
        share_labels(tree);
    }
}

/// Prepares a new Job.
pub(super) fn prepare_create(tree: &mut Json, settings: &Settings) {
    // Source: pkg/registry/batch/job/strategy.go (v1.37), `PrepareForCreate`.
    if !tree.at(&["spec", "scheduling"]).is_null() && !settings.is_gate_on("WorkloadWithJob") {
        tree.remove(&["spec", "scheduling"]);
    }
    generate_selector(tree);
    if !settings.profile().is("jobs-name-their-manager") {
        tree.remove(&["spec", "managedBy"]);
    }
}

/// Lets a Job select its own Pods: by labels with its uid and name, unless its owner selects by hand.
fn generate_selector(tree: &mut Json) {
    if tree.at(&["spec", "manualSelector"]).as_bool() == Some(true) {
        return;
    }
    let of = |tree: &Json, field: &str| tree.at(&["metadata", field]).as_text().cloned().unwrap_or_default();
    let (uid, name) = (of(tree, "uid"), of(tree, "name"));
    let labels = NAME_LABELS.map(|label| (label, &name)).into_iter().chain(UID_LABELS.map(|label| (label, &uid)));
    for (label, value) in labels {
        if tree.at(&["spec", "template", "metadata", "labels", label]).is_null() {
            tree.set(&["spec", "template", "metadata", "labels", label], value.clone());
        }
    }
    if tree.at(&["spec", "selector", "matchLabels", UID_LABELS[1]]).is_null() {
        tree.set(&["spec", "selector", "matchLabels", UID_LABELS[1]], uid);
    }
}
