//! The ReplicaSet of a Deployment's template: found or made, its revision, the annotations that it gets.
//!
//! Mirrors `getNewReplicaSet` (pkg/controller/deployment/sync.go, v1.34) and `SetNewReplicaSetAnnotations`
//! (pkg/controller/deployment/util/deployment_util.go). Inputs: the Deployment and its ReplicaSets. Outputs: requests.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::{
    Course, DEPLOYMENTS, DeploymentPurpose, DeploymentStage, DeploymentSync, Deployments, HASH_LABEL, SETS, about,
    bare, size, status,
};
use crate::components::Because;
use crate::components::controller::{ApiResult, KeyedRuntime, code, failure, is_namespace_ending, object};
use crate::components::events::EventType;
use crate::components::workload::REPLICA_SETS;
use crate::components::workload::pods::{controller_of, hash, number, reference_to, set_unless_zero};
use crate::json;
use crate::network::{Call, Verb};
use crate::objects::{Json, Object, ObjectKey};

/// Source: pkg/controller/deployment/util/deployment_util.go (v1.34), `RevisionAnnotation`.
const REVISION: &str = "deployment.kubernetes.io/revision";
/// Source: as [`REVISION`], `RevisionHistoryAnnotation`.
const HISTORY: &str = "deployment.kubernetes.io/revision-history";
/// Source: as [`REVISION`], `DesiredReplicasAnnotation`.
const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
/// Source: as [`REVISION`], `MaxReplicasAnnotation`.
const MOST: &str = "deployment.kubernetes.io/max-replicas";
/// Longest list of earlier revisions, in characters.
/// Source: pkg/controller/deployment/sync.go (v1.34), `maxRevHistoryLengthInChars`.
const LONGEST_HISTORY: usize = 2000;
/// Longest name of a ReplicaSet. Source: k8s.io/apimachinery pkg/util/validation (v1.34), `DNS1123SubdomainMaxLength`.
const LONGEST_NAME: usize = 253;
/// The annotations of a Deployment that its ReplicaSets do not get. Source: as [`REVISION`], `annotationsToSkip`.
const OWN_ANNOTATIONS: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    HISTORY,
    DESIRED,
    MOST,
    "deprecated.deployment.rollback.to",
];

fn annotation<'a>(tree: &'a Json, name: &str) -> Option<&'a str> {
    tree.at(&["metadata", "annotations", name]).as_str()
}

/// Returns the revision of a ReplicaSet; 0 for none, and `None` for one that is no number.
///
/// Source: as [`REVISION`], `Revision`.
pub(super) fn readable_revision(set: &Object) -> Option<i64> {
    annotation(set.stable(), REVISION).map_or(Some(0), |text| text.parse().ok())
}

/// Returns the revision of a ReplicaSet; 0 for none, and for one that is no number.
pub(super) fn revision_of(set: &Object) -> i64 {
    readable_revision(set).unwrap_or(0)
}

/// Returns a count that stands in an annotation.
fn counted(set: &Object, name: &str) -> Option<i64> {
    let count = annotation(set.stable(), name)?.parse().ok()?;
    (0..=i64::from(i32::MAX)).contains(&count).then_some(count)
}

/// Returns how many replicas its Deployment wanted when a ReplicaSet was last scaled.
pub(super) fn desired_of(set: &Object) -> Option<i64> {
    counted(set, DESIRED)
}

/// Returns how many pods its Deployment might have when a ReplicaSet was last scaled.
pub(super) fn most_of(set: &Object) -> Option<i64> {
    counted(set, MOST)
}

/// Writes the wanted and the largest number of pods into a ReplicaSet.
pub(super) fn annotate(set: &mut Json, work: &DeploymentSync) {
    let replicas = work.replicas();
    set.set(&["metadata", "annotations", DESIRED], format!("{replicas}"));
    set.set(&["metadata", "annotations", MOST], format!("{}", replicas + work.surge()));
}

/// Gives a ReplicaSet the annotations of its Deployment and, if its own is smaller, the revision; what it was before
/// goes into its history. Tells whether that is worth a write: a ReplicaSet whose revision is no number is not written
/// for its annotations.
///
/// Source: as [`REVISION`], `SetNewReplicaSetAnnotations`.
fn mark(set: &mut Json, deployment: &Object, revision: i64) -> bool {
    let before = set.clone();
    for (name, value) in deployment.stable().at(&["metadata", "annotations"]).fields() {
        if !OWN_ANNOTATIONS.contains(&&**name) {
            set.set(&["metadata", "annotations", name], value.clone());
        }
    }
    let old = annotation(set, REVISION).map(String::from);
    let number = old.as_ref().map_or(Some(0), |old| if old.is_empty() { Some(0) } else { old.parse().ok() });
    let Some(number) = number else { return false };
    if number >= revision {
        return *set != before;
    }
    set.set(&["metadata", "annotations", REVISION], format!("{revision}"));
    if let Some(old) = old {
        let history = with_revision(annotation(set, HISTORY).unwrap_or(""), &old);
        set.set(&["metadata", "annotations", HISTORY], history);
    }
    true
}

/// Gives a Deployment the annotations of a ReplicaSet whose template it takes, in place of its own.
///
/// Source: as [`REVISION`], `SetDeploymentAnnotationsTo`.
pub(super) fn take_annotations(deployment: &mut Json, set: &Object) {
    let is_own = |name: &str| OWN_ANNOTATIONS.contains(&name);
    deployment.entry(&["metadata", "annotations"]).make_object().retain(|name, _| is_own(name));
    for (name, value) in set.stable().at(&["metadata", "annotations"]).fields() {
        if !is_own(name) {
            deployment.set(&["metadata", "annotations", name], value.clone());
        }
    }
}

/// Adds a revision to a history, which loses its oldest ones when it grows too long.
fn with_revision(history: &str, revision: &str) -> String {
    if history.is_empty() {
        return String::from(revision);
    }
    let mut rest = history;
    while rest.len() + 1 + revision.len() > LONGEST_HISTORY {
        match rest.split_once(',') {
            Some((_, later)) => rest = later,
            None => return String::from(revision),
        }
    }
    format!("{rest},{revision}")
}

/// Tells whether two templates are the same but for the hash.
fn same_template(one: &Object, other: &Object) -> bool {
    let template = |object: &Object| bare(object.stable().at(&["spec", "template"]));
    template(one) == template(other)
}

impl Deployments {
    /// Finds the ReplicaSet of the current template, or makes it if this course does.
    pub(super) fn find_new(
        &self,
        key: &ObjectKey,
        work: &mut DeploymentSync,
        runtime: &mut KeyedRuntime<DeploymentPurpose>,
        now: Timestamp,
    ) {
        let deployment = work.deployment.clone();
        work.new = work.sets.iter().find(|set| same_template(set, &deployment)).cloned();
        let revision = work.old().map(revision_of).max().unwrap_or(0).max(0) + 1;
        work.stage = DeploymentStage::Found;
        let Some(set) = work.new.clone() else {
            if matches!(work.course, Course::Rolling | Course::RecreateNew | Course::RollBack) {
                self.make(key, work, revision, runtime, now);
            }
            return;
        };
        let mut body = set.json();
        let is_marked = mark(&mut body, &deployment, revision);
        let min_ready = number(&deployment, &["spec", "minReadySeconds"], 0);
        let waits_otherwise = min_ready != number(&set, &["spec", "minReadySeconds"], 0);
        if waits_otherwise {
            set_unless_zero(&mut body, &["spec", "minReadySeconds"], min_ready);
        }
        if is_marked || waits_otherwise {
            let call = Call::new(Verb::Update, REPLICA_SETS, &key.namespace, set.name()).body(body);
            runtime.send(key, DeploymentPurpose::Annotate, call, work.because, now);
            return;
        }
        let own = annotation(&body, REVISION).unwrap_or("");
        let mut tells = set_revision(&mut work.tree, own);
        // Annotations that were not worth a write go with the next one, as when it is scaled.
        work.new = Some(Object::new(body.clone(), set.resource_version()));
        if status::has_deadline(&deployment) && status::progressing(&work.tree).is_null() {
            let words = format!("Found new replica set \"{}\"", set.name());
            let condition = status::condition("Progressing", "True", "FoundNewReplicaSet", &words, now);
            tells |= status::set(&mut work.tree, condition);
        }
        if tells {
            Self::write_status(key, work, DeploymentPurpose::Announce, runtime, now);
        }
    }

    fn make(
        &self,
        key: &ObjectKey,
        work: &mut DeploymentSync,
        revision: i64,
        runtime: &mut KeyedRuntime<DeploymentPurpose>,
        now: Timestamp,
    ) {
        let deployment = &work.deployment;
        let template = deployment.stable().at(&["spec", "template"]);
        let hash = hash(&bare(template), work.tree.at(&["status", "collisionCount"]).as_i64());
        let longest = LONGEST_NAME - 1 - hash.len();
        let name = format!("{}-{hash}", deployment.name().get(..longest).unwrap_or(deployment.name()));
        let total: i64 = work.sets.iter().map(size).sum();
        let room = work.replicas() + work.surge() - total;
        let replicas = if work.is_rolling() { room.clamp(0, work.replicas()) } else { work.replicas() };
        let mut set = json!({"kind": "ReplicaSet", "apiVersion": "apps/v1",
            "metadata": {"name": name.as_str(), "namespace": key.namespace.as_str()}});
        let mut marks = template.at(&["metadata", "labels"]).clone();
        marks.set(&[HASH_LABEL], hash.as_str());
        set.set(&["metadata", "labels"], marks.clone());
        mark(&mut set, deployment, revision);
        annotate(&mut set, work);
        let owner = reference_to(deployment, "apps/v1", "Deployment");
        set.set(&["metadata", "ownerReferences"], Json::array(Vec::from([owner])));
        set.set(&["spec", "replicas"], replicas);
        let min_ready = number(deployment, &["spec", "minReadySeconds"], 0);
        if min_ready > 0 {
            set.set(&["spec", "minReadySeconds"], min_ready);
        }
        set.set(&["spec", "selector"], deployment.stable().at(&["spec", "selector"]).clone());
        set.set(&["spec", "selector", "matchLabels", HASH_LABEL], hash);
        set.set(&["spec", "template"], template.clone());
        set.set(&["spec", "template", "metadata", "labels"], marks);
        let fact = Vec::from([Because::Fact(String::from("no ReplicaSet has its template"))]);
        work.because = Some(runtime.decide(format!("deployment/{key}"), format!("create ReplicaSet {name}"), fact));
        let call = Call::new(Verb::Create, REPLICA_SETS, &key.namespace, "").body(set);
        runtime.send(key, DeploymentPurpose::Create { name, revision }, call, work.because, now);
    }

    /// Takes the answer to the creation of a ReplicaSet; what follows it is told in the Deployment.
    pub(super) fn made(
        &self,
        key: &ObjectKey,
        work: &mut DeploymentSync,
        (name, revision): (&str, i64),
        reply: &ApiResult,
        runtime: &mut KeyedRuntime<DeploymentPurpose>,
        now: Timestamp,
    ) {
        if failure(reply).is_some() {
            self.not_made(key, work, (name, revision), reply, runtime, now);
            return;
        }
        let Some(set) = object(reply) else { return };
        if size(&set) > 0 {
            self.tell_scaled(work, set.name(), None, size(&set), runtime, now);
        }
        let mut tells = set_revision(&mut work.tree, &format!("{revision}"));
        if status::has_deadline(&work.deployment) {
            let words = format!("Created new replica set \"{}\"", set.name());
            let condition = status::condition("Progressing", "True", "NewReplicaSetCreated", &words, now);
            status::set(&mut work.tree, condition);
            tells = true;
        }
        work.new = Some(set);
        if tells {
            Self::write_status(key, work, DeploymentPurpose::Announce, runtime, now);
        }
    }

    fn not_made(
        &self,
        key: &ObjectKey,
        work: &mut DeploymentSync,
        (name, revision): (&str, i64),
        reply: &ApiResult,
        runtime: &mut KeyedRuntime<DeploymentPurpose>,
        now: Timestamp,
    ) {
        let error = failure(reply).unwrap_or_default();
        work.fail();
        let body = reply.as_ref().map(|answer| answer.body());
        let reason = body.as_ref().ok().and_then(|body| body.get("reason").as_str()).unwrap_or("");
        if code(reply) == 409 && reason == "AlreadyExists" {
            let set = runtime.cache(SETS).cache().get(&key.namespace, name).cloned();
            let Some(set) = set else { return };
            let uid = controller_of(&set).and_then(|owner| owner.get("uid").as_str());
            if uid == Some(work.deployment.uid()) && same_template(&set, &work.deployment) {
                work.stage = DeploymentStage::Found;
                work.new = Some(set);
                if set_revision(&mut work.tree, &format!("{revision}")) {
                    Self::write_status(key, work, DeploymentPurpose::Announce, runtime, now);
                }
                return;
            }
            let fact = format!("ReplicaSet {name} is there and is not its own");
            let what = String::from("name its ReplicaSet otherwise");
            work.because = Some(runtime.decide(format!("deployment/{key}"), what, [Because::Fact(fact)].into()));
            let collisions = work.tree.at(&["status", "collisionCount"]).as_i64().unwrap_or(0);
            work.tree.set(&["status", "collisionCount"], collisions + 1);
            Self::write_status(key, work, DeploymentPurpose::Excuse, runtime, now);
            return;
        }
        if is_namespace_ending(reply) {
            work.stage = DeploymentStage::End(crate::components::controller::Flow::Done);
            return;
        }
        let words = format!("Failed to create new replica set \"{name}\": {error}");
        if status::has_deadline(&work.deployment) {
            let condition = status::condition("Progressing", "False", "ReplicaSetCreateError", &words, now);
            status::set(&mut work.tree, condition);
            Self::write_status(key, work, DeploymentPurpose::Excuse, runtime, now);
        }
        runtime.emit(&about(&work.deployment), EventType::Warning, "ReplicaSetCreateError", &words, now);
    }

    /// Writes the Deployment's status as it is in the sync.
    pub(super) fn write_status(
        key: &ObjectKey,
        work: &DeploymentSync,
        purpose: DeploymentPurpose,
        runtime: &mut KeyedRuntime<DeploymentPurpose>,
        now: Timestamp,
    ) {
        let call = Call::new(Verb::Update, DEPLOYMENTS, &key.namespace, &key.name)
            .subresource("status")
            .body(work.tree.clone());
        runtime.send(key, purpose, call, work.because, now);
    }
}

/// Sets the revision of a Deployment; tells whether it was another.
fn set_revision(tree: &mut Json, revision: &str) -> bool {
    let is_new = annotation(tree, REVISION) != Some(revision);
    tree.set(&["metadata", "annotations", REVISION], revision);
    is_new
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::{HISTORY, REVISION, mark, with_revision};
    use crate::json;
    use crate::objects::Object;

    #[test]
    fn a_revision_that_is_used_again_keeps_its_earlier_numbers() {
        let deployment = Object::new(
            json!({"metadata": {"annotations": {"team": "a", "deployment.kubernetes.io/revision": "9"}}}),
            1,
        );
        let mut set = json!({"metadata": {"annotations": {"deployment.kubernetes.io/revision": "1"}}});
        let expected = [(3, "3", Some("1")), (5, "5", Some("1,3")), (4, "5", Some("1,3"))];
        for (revision, own, history) in expected {
            mark(&mut set, &deployment, revision);
            let of = |name: &str| set.at(&["metadata", "annotations", name]).as_str().map(String::from);
            assert_eq!((of(REVISION).as_deref(), of(HISTORY).as_deref()), (Some(own), history));
            assert_eq!(of("team").as_deref(), Some("a"));
        }
    }

    #[test]
    fn a_revision_that_is_no_number_stays_and_its_set_is_not_worth_a_write() {
        let deployment = Object::new(json!({"metadata": {"annotations": {"team": "a"}}}), 1);
        for (own, is_worth, after) in [("x", false, "x"), ("", true, "3"), ("2", true, "3"), ("4", true, "4")] {
            let mut set = json!({"metadata": {}});
            set.set(&["metadata", "annotations", REVISION], own);
            assert_eq!(mark(&mut set, &deployment, 3), is_worth, "{own}");
            let of = |name: &str| set.at(&["metadata", "annotations", name]).as_str().map(String::from);
            assert_eq!((of(REVISION).as_deref(), of("team").as_deref()), (Some(after), Some("a")), "{own}");
            assert!(!mark(&mut set, &deployment, 3), "{own}");
        }
    }

    #[test]
    fn a_history_that_is_too_long_loses_its_oldest_revisions() {
        let long = "1,".repeat(999) + "22";
        assert_eq!(long.len(), 2000);
        assert_eq!(with_revision(&long, "333"), "1,".repeat(997) + "22,333");
    }
}
