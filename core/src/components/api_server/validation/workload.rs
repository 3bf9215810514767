//! Validation of workloads: what a Deployment, ReplicaSet, StatefulSet, DaemonSet or ReplicationController selects, and
//! the template of its Pods.
//!
//! Mirrors pkg/apis/apps/validation/validation.go and, for ReplicationControllers, that of pkg/apis/core (v1.34).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::amount::{amount, at_most_all, invalid_amount, is_zero, not_negative};
use super::others::label_selector;
use super::pod::{Rules, validate_template, validate_template_metadata};
use super::selector::{go_labels, go_selector};
use super::{FieldError, IMMUTABLE, Problem, RuleWords, invalid, storage, text};
use crate::json;
use crate::objects::Json;
use crate::objects::names::{self, Wording};
use crate::objects::selector::selects;

/// Checks a workload; of a StatefulSet that is there already neither its claims nor the name of its Service, which may
/// not change.
pub(in super::super) fn validate(
    kind: &str,
    (tree, is_new): (&Json, bool),
    wording: Wording,
    rules: Rules,
    errors: &mut Vec<FieldError>,
) {
    let spec = tree.get("spec");
    if kind == "StatefulSet" {
        stateful_set(spec, errors);
        if is_new && rules.stateful_templates {
            claim_templates(spec, wording, errors);
        }
    }
    if kind != "DaemonSet" {
        not_negative(spec, "spec", "replicas", errors);
    }
    not_negative(spec, "spec", "minReadySeconds", errors);
    if kind == "StatefulSet" {
        identity(spec, is_new && rules.service_names, wording, errors);
    }
    if selector(kind, spec, wording, errors) {
        template(kind, spec, wording, rules, errors);
    }
    match kind {
        "Deployment" => deployment(spec, errors),
        "DaemonSet" => {
            let strategy = spec.get("updateStrategy");
            match text(strategy, "type") {
                "RollingUpdate" => daemons_at_once(strategy.get("rollingUpdate"), errors),
                "OnDelete" => {}
                _ => errors.push(unknown_strategy(
                    ("DaemonSetUpdateStrategy", "spec.updateStrategy"),
                    strategy,
                    &["RollingUpdate", "OnDelete"],
                )),
            }
        }
        _ => {}
    }
    if kind != "StatefulSet" {
        not_negative(spec, "spec", "revisionHistoryLimit", errors);
    }
    if kind == "ReplicationController" {
        let is_ruled = |field: &str| ["metadata.name", "spec.replicas", "spec.minReadySeconds"].contains(&field);
        for error in errors.iter_mut().filter(|error| is_ruled(&error.field)) {
            error.declared = Some(RuleWords::Same);
        }
    }
}

/// Checks a changed workload, and that it still selects the same Pods: of a DaemonSet that comes first.
///
/// Source: validation.go (v1.34), `ValidateDaemonSetUpdate`, and pkg/registry/core/replicationcontroller/strategy.go,
/// which checks a ReplicationController twice.
pub(in super::super) fn validate_change(
    kind: &str,
    (tree, old): (&Json, &Json),
    wording: Wording,
    rules: Rules,
    errors: &mut Vec<FieldError>,
) {
    if kind == "DaemonSet" {
        selector_is_kept(kind, tree, old, errors);
    }
    for _ in 0..if kind == "ReplicationController" { 2 } else { 1 } {
        validate(kind, (tree, false), wording, rules, errors);
    }
    if kind != "DaemonSet" {
        selector_is_kept(kind, tree, old, errors);
    }
}

fn unknown_strategy((type_name, field): (&'static str, &str), strategy: &Json, known: &[&str]) -> FieldError {
    let known: Vec<String> = known.iter().map(|name| format!("{name:?}")).collect();
    let mut error =
        FieldError::invalid_of(type_name, field, strategy, format!("supported values: {}", known.join(", ")));
    error.problem = Problem::NotSupported;
    error
}

/// Checks how the Pods of a StatefulSet are made, replaced and stored. Source: validation.go (v1.34),
/// `ValidateStatefulSetSpec`.
fn stateful_set(spec: &Json, errors: &mut Vec<FieldError>) {
    let management = text(spec, "podManagementPolicy");
    if !["OrderedReady", "Parallel"].contains(&management) {
        let why = "must be 'OrderedReady' or 'Parallel'";
        errors.push(FieldError::invalid_text("spec.podManagementPolicy", management, why));
    }
    let strategy = spec.get("updateStrategy");
    let rolling = strategy.get("rollingUpdate");
    match text(strategy, "type") {
        "OnDelete" if !rolling.is_null() => {
            let (name, field) = ("RollingUpdateStatefulSetStrategy", "spec.updateStrategy.rollingUpdate");
            let why = "only allowed for updateStrategy 'RollingUpdate'";
            errors.push(FieldError::invalid_of(name, field, rolling, why));
        }
        "OnDelete" => {}
        "RollingUpdate" => {
            not_negative(rolling, "spec.updateStrategy.rollingUpdate", "partition", errors);
        }
        _ => {
            let why = "must be 'RollingUpdate' or 'OnDelete'";
            let (name, field) = ("StatefulSetUpdateStrategy", "spec.updateStrategy");
            errors.push(FieldError::invalid_of(name, field, strategy, why));
        }
    }
    for field in ["whenDeleted", "whenScaled"] {
        let policy = spec.at(&["persistentVolumeClaimRetentionPolicy", field]).as_str().unwrap_or("");
        if !["Retain", "Delete"].contains(&policy) {
            let field = format!("spec.persistentVolumeClaimRetentionPolicy.{field}");
            errors.push(FieldError::not_supported(field, policy, &["Retain", "Delete"]));
        }
    }
}

fn claim_templates(spec: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    for (at, claim) in spec.get("volumeClaimTemplates").items().iter().enumerate() {
        let mut own = Vec::new();
        storage::claim(claim, wording, &mut own);
        errors.extend(own.into_iter().map(|mut error| {
            error.field = format!("spec.volumeClaimTemplates[{at}].{}", error.field);
            error
        }));
    }
}

/// Checks where the Pods of a StatefulSet are counted from, and the name of their Service if it is to be checked.
fn identity(spec: &Json, checks_service: bool, wording: Wording, errors: &mut Vec<FieldError>) {
    not_negative(spec.get("ordinals"), "spec.ordinals", "start", errors);
    let service = text(spec, "serviceName");
    if checks_service && !service.is_empty() {
        invalid(names::label(service, wording), "spec.serviceName", service, errors);
    }
}

/// Returns the template of a StatefulSet's Pods with the volumes of their claims, and without the names that its
/// controller gives them.
fn with_claims(spec: &Json) -> Json {
    let mut template = spec.get("template").clone();
    template.remove(&["spec", "subdomain"]);
    template.remove(&["spec", "hostname"]);
    let claims = spec.get("volumeClaimTemplates").items();
    if claims.is_empty() {
        return template;
    }
    let name = |claim: &Json| claim.at(&["metadata", "name"]).as_str().unwrap_or("").to_string();
    let mut volumes: Vec<Json> = Vec::new();
    let is_first = |at: usize| !claims[..at].iter().any(|other| name(other) == name(&claims[at]));
    for (_, claim) in claims.iter().enumerate().filter(|(at, _)| is_first(*at)) {
        let name = name(claim);
        volumes.push(json!({"name": name.as_str(), "persistentVolumeClaim": {"claimName": name.as_str()}}));
    }
    let own = template.at(&["spec", "volumes"]).items();
    let kept = own.iter().filter(|volume| !claims.iter().any(|claim| name(claim) == text(volume, "name")));
    volumes.extend(kept.cloned());
    template.set(&["spec", "volumes"], volumes);
    template
}

/// Checks the template of the Pods.
fn template(kind: &str, spec: &Json, wording: Wording, rules: Rules, errors: &mut Vec<FieldError>) {
    let whole = if kind == "StatefulSet" { with_claims(spec) } else { spec.get("template").clone() };
    let template = &whole;
    if kind == "ReplicationController" && template.is_null() {
        errors.push(FieldError::required("spec.template", ""));
        return;
    }
    if kind == "StatefulSet" && !rules.stateful_templates {
        validate_template_metadata(template, wording, errors);
    } else {
        validate_template(template, wording, rules, errors);
        if !template.at(&["spec", "ephemeralContainers"]).is_empty() {
            let why = "ephemeral containers not allowed in pod template";
            errors.push(FieldError::forbidden("spec.template.spec.ephemeralContainers", why));
        }
        // Source: validation.go (v1.34), `ValidatePodTemplateSpecForStatefulSet`, which checks them twice.
        if kind == "StatefulSet" {
            validate_template_metadata(template, wording, errors);
        }
    }
    let policy = text(template.get("spec"), "restartPolicy");
    if policy != "Always" {
        errors.push(FieldError::not_supported("spec.template.spec.restartPolicy", policy, &["Always"]));
    }
    let deadline = template.at(&["spec", "activeDeadlineSeconds"]);
    if !deadline.is_null() {
        let of = if kind == "Deployment" { "ReplicaSet" } else { kind };
        let why = format!("activeDeadlineSeconds in {of} is not Supported");
        errors.push(FieldError::forbidden("spec.template.spec.activeDeadlineSeconds", why));
    }
}

/// Checks what the workload selects, and that it selects the Pods of its template. Tells whether the template is to be
/// checked too.
fn selector(kind: &str, spec: &Json, wording: Wording, errors: &mut Vec<FieldError>) -> bool {
    let selector = spec.get("selector");
    let labels = spec.at(&["template", "metadata", "labels"]);
    if kind == "ReplicationController" {
        // It has labels and no terms, and one without them selects nothing in particular.
        if selector.is_empty() {
            errors.push(FieldError::required("spec.selector", ""));
        } else if !spec.get("template").is_null() && selector.fields().any(|(key, value)| labels.get(key) != value) {
            errors.push(mismatch(spec));
        }
        return true;
    }
    let is_daemon_set = kind == "DaemonSet";
    if selector.is_null() && !is_daemon_set {
        errors.push(FieldError::required("spec.selector", ""));
    }
    let before = errors.len();
    label_selector(selector, "spec.selector", wording, errors);
    let is_valid = errors.len() == before;
    let invalid = |why: String| {
        FieldError::invalid_of("LabelSelector", "spec.selector", selector, why).in_go(go_selector(selector))
    };
    let is_empty =
        selector.is_object() && selector.get("matchLabels").is_empty() && selector.get("matchExpressions").is_empty();
    let of = if kind == "ReplicaSet" { "deployment".to_string() } else { kind.to_lowercase() };
    let empty = || invalid(format!("empty selector is invalid for {of}"));
    if is_empty && !is_daemon_set {
        errors.push(empty());
    }
    match kind {
        _ if is_valid && !selects(selector, labels) => errors.push(mismatch(spec)),
        "Deployment" | "ReplicaSet" if !is_valid => errors.push(invalid("invalid label selector".to_string())),
        "StatefulSet" if !is_valid => errors.push(invalid(String::new())),
        _ => {}
    }
    if is_empty && is_daemon_set {
        errors.push(empty());
    }
    is_valid || is_daemon_set
}

fn mismatch(spec: &Json) -> FieldError {
    let labels = spec.at(&["template", "metadata", "labels"]);
    let go = if labels.is_null() { String::from("map[string]string(nil)") } else { go_labels(labels) };
    let why = "`selector` does not match template `labels`";
    FieldError::invalid("spec.template.metadata.labels", labels, why).in_go(go)
}

/// Source: validation.go (v1.34), `ValidateDeploymentStrategy` and the end of `ValidateDeploymentSpec`.
fn deployment(spec: &Json, errors: &mut Vec<FieldError>) {
    let strategy = spec.get("strategy");
    let rolling = strategy.get("rollingUpdate");
    match text(strategy, "type") {
        "Recreate" if !rolling.is_null() => {
            let why = "may not be specified when strategy `type` is 'Recreate'";
            errors.push(FieldError::forbidden("spec.strategy.rollingUpdate", why));
        }
        "RollingUpdate" => {
            let path = "spec.strategy.rollingUpdate";
            for field in ["maxUnavailable", "maxSurge"] {
                amount(rolling.get(field), &format!("{path}.{field}"), errors);
            }
            if is_zero(rolling.get("maxUnavailable")) && is_zero(rolling.get("maxSurge")) {
                let why = "may not be 0 when `maxSurge` is 0";
                let unavailable = rolling.get("maxUnavailable");
                errors.push(invalid_amount(format!("{path}.maxUnavailable"), unavailable, why));
            }
            at_most_all(rolling.get("maxUnavailable"), &format!("{path}.maxUnavailable"), errors);
        }
        "Recreate" => {}
        _ => errors.push(unknown_strategy(
            ("DeploymentStrategy", "spec.strategy"),
            strategy,
            &["Recreate", "RollingUpdate"],
        )),
    }
    not_negative(spec, "spec", "progressDeadlineSeconds", errors);
    let ready = spec.get("minReadySeconds").as_i64().unwrap_or(0);
    let deadline = spec.get("progressDeadlineSeconds");
    if deadline.as_i64().is_some_and(|seconds| seconds <= ready) {
        let why = "must be greater than minReadySeconds";
        errors.push(FieldError::invalid("spec.progressDeadlineSeconds", deadline, why));
    }
}

/// Source: validation.go (v1.34), `ValidateRollingUpdateDaemonSet`.
fn daemons_at_once(rolling: &Json, errors: &mut Vec<FieldError>) {
    let path = |field: &str| format!("spec.updateStrategy.rollingUpdate.{field}");
    let (unavailable, surge) = (rolling.get("maxUnavailable"), rolling.get("maxSurge"));
    for (value, field) in [(unavailable, "maxUnavailable"), (surge, "maxSurge")] {
        amount(value, &path(field), errors);
    }
    for (value, field) in [(unavailable, "maxUnavailable"), (surge, "maxSurge")] {
        at_most_all(value, &path(field), errors);
    }
    match (is_zero(unavailable), is_zero(surge)) {
        (false, false) => {
            let why = "may not be set when maxUnavailable is non-zero";
            errors.push(invalid_amount(path("maxSurge"), surge, why));
        }
        (true, true) => errors.push(FieldError::required(path("maxUnavailable"), "cannot be 0 when maxSurge is 0")),
        _ => {}
    }
}

/// Checks that a workload still selects the same Pods.
///
/// Source: validation.go (v1.34), `ValidateDaemonSetSpecUpdate`, and the strategies in pkg/registry/apps (v1.34).
fn selector_is_kept(kind: &str, tree: &Json, old: &Json, errors: &mut Vec<FieldError>) {
    let (new, stored) = (tree.at(&["spec", "selector"]), old.at(&["spec", "selector"]));
    if matches!(kind, "DaemonSet" | "Deployment" | "ReplicaSet") && new != stored {
        let error = FieldError::invalid_of("LabelSelector", "spec.selector", new, IMMUTABLE);
        errors.push(error.in_go(go_selector(new)));
    }
}

/// Checks that the fields of a StatefulSet stay that may not change.
///
/// Source: validation.go (v1.37), `ValidateStatefulSetUpdate`.
pub(in super::super) fn fixed_fields(tree: &Json, old: &Json, errors: &mut Vec<FieldError>) {
    let fields = [
        ("selector", Some("LabelSelector")),
        ("volumeClaimTemplates", Some("[PersistentVolumeClaim]")),
        ("serviceName", None),
        ("podManagementPolicy", None),
    ];
    for (field, of) in fields {
        let (new, path) = (tree.at(&["spec", field]), format!("spec.{field}"));
        if new == old.at(&["spec", field]) {
            continue;
        }
        errors.push(match of {
            Some(of) => FieldError::invalid_of(of, path, new, IMMUTABLE),
            None => FieldError::invalid_text(path, new.as_str().unwrap_or(""), IMMUTABLE),
        });
    }
}

/// Checks that of a StatefulSet changes only what may. Source: validation.go (v1.34), `ValidateStatefulSetUpdate`.
pub(in super::super) fn only_changeable(tree: &Json, old: &Json, limit: bool, errors: &mut Vec<FieldError>) {
    let frozen = |tree: &Json| {
        let mut spec = tree.get("spec").clone();
        let fields = [
            "replicas",
            "template",
            "updateStrategy",
            "minReadySeconds",
            "ordinals",
            "persistentVolumeClaimRetentionPolicy",
        ];
        fields.into_iter().chain(limit.then_some("revisionHistoryLimit")).for_each(|field| drop(spec.remove(&[field])));
        spec
    };
    if frozen(tree) != frozen(old) {
        let limit = if limit { "'revisionHistoryLimit', " } else { "" };
        let why = format!(
            "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', \
             {limit}'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
        );
        errors.push(FieldError::forbidden("spec", why));
    }
}
