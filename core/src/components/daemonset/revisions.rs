//! The revisions of a DaemonSet's template: found, made, numbered anew, deleted when they are too many.
//!
//! Mirrors `constructHistory` and `cleanupHistory` (pkg/controller/daemon/update.go, v1.34). Inputs: the set, its
//! revisions, the labels of its pods. Outputs: requests.
//! Left out on purpose: revisions without the label of their hash, which only somebody else can have made.

use alloc::collections::{BTreeSet, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::{DaemonSetPurpose, DaemonSetStage, DaemonSetSync, DaemonSets, PODS_CACHE, REVISION_CACHE, REVISION_LABEL};
use crate::components::Because;
use crate::components::client::CacheEvent;
use crate::components::controller::{ApiResult, KeyedRuntime, code, object};
use crate::components::workload::claims::{Claims, selected};
use crate::components::workload::pods::{hash, labels, number, reference_to, release};
use crate::components::workload::revisions::{data_of, next_number, number_of};
use crate::components::workload::{DAEMON_SETS, REVISIONS};
use crate::json;
use crate::network::{Call, MERGE_PATCH, PODS, Verb};
use crate::objects::{Json, Object, ObjectKey, Text};

/// Source: pkg/apis/apps/v1/defaults.go (v1.34), `SetDefaults_DaemonSet`.
const DEFAULT_LIMIT: i64 = 10;

/// Returns the hash that stands in the labels of a revision or of a pod.
pub(super) fn hash_of(object: &Object) -> &str {
    labels(object).get(REVISION_LABEL).as_str().unwrap_or("")
}

impl DaemonSets {
    /// Follows a change of a revision, and queues the set that it belongs to or those that might adopt it.
    pub(super) fn handle_revision(&mut self, event: &CacheEvent, runtime: &mut KeyedRuntime<DaemonSetPurpose>) {
        self.revisions.update(event);
        self.orphan_revisions.update(event);
        let is_new = event.before.is_none();
        Self::wake(event, runtime, |_| !is_new);
    }

    /// Releases revisions that are no longer selected, and asks whether the set may adopt others.
    pub(super) fn claim_revisions(
        &self,
        key: &ObjectKey,
        work: &mut DaemonSetSync,
        runtime: &mut KeyedRuntime<DaemonSetPurpose>,
        now: Timestamp,
    ) {
        let cache = runtime.cache(REVISION_CACHE);
        let own = self.revisions.of(work.set.uid()).filter_map(|one| cache.get(one));
        let orphans = self.orphan_revisions.of(&key.namespace).filter_map(|one| cache.get(one));
        let claims = Claims::of(&work.set, own, orphans);
        work.stage = DaemonSetStage::Revise;
        work.own = claims.own;
        for revision in claims.lost {
            let patch = release(&work.set, &revision);
            let call = Call::strategic_patch(REVISIONS, &key.namespace, revision.name(), patch);
            runtime.send(key, DaemonSetPurpose::Release, call, None, now);
        }
        Self::ask_to_adopt(key, work, (REVISIONS, claims.wanted), runtime, now);
    }

    /// Finds the revision of the template and gives it the next number, or makes it.
    pub(super) fn revise(
        &self,
        key: &ObjectKey,
        work: &mut DaemonSetSync,
        runtime: &mut KeyedRuntime<DaemonSetPurpose>,
        now: Timestamp,
    ) {
        let data = data_of(&work.set);
        let is_current = |revision: &Object| *revision.stable().get("data") == data;
        let (mut current, old): (Vec<Object>, Vec<Object>) =
            core::mem::take(&mut work.own).into_iter().partition(is_current);
        let next = next_number(&old);
        work.old = old;
        work.stage = DaemonSetStage::Claim;
        // Of equal numbers the last counts.
        current.sort_by_key(number_of);
        let Some(kept) = current.pop() else {
            self.snapshot(key, work, data, next, runtime, now);
            return;
        };
        work.hash = String::from(hash_of(&kept));
        if !current.is_empty() {
            self.keep_one(key, work, &current, runtime, now);
        }
        if number_of(&kept) < next {
            let fact = Because::Fact(format!("the template is again that of revision {}", number_of(&kept)));
            let about = format!("controllerrevision/{}", kept.key());
            let because = runtime.decide(about, format!("number it {next}"), [fact].into());
            let mut body = kept.json();
            body.set(&["revision"], next);
            let call = Call::new(Verb::Update, REVISIONS, &key.namespace, kept.name()).body(body);
            runtime.send(key, DaemonSetPurpose::Renumber, call, Some(because), now);
        }
    }

    /// Deletes all revisions of the template but one, whose hash all pods get.
    ///
    /// Source: pkg/controller/daemon/update.go (v1.34), `dedupCurHistories`.
    fn keep_one(
        &self,
        key: &ObjectKey,
        work: &DaemonSetSync,
        others: &[Object],
        runtime: &mut KeyedRuntime<DaemonSetPurpose>,
        now: Timestamp,
    ) {
        let pods = runtime.cache(PODS_CACHE);
        let own = self.pods.owned_by(&work.set).filter_map(|pod| pods.get(pod));
        let others_pods: Vec<Text> = own
            .filter(|pod| selected(&work.set, pod) && hash_of(pod) != work.hash)
            .map(|pod| Text::from(pod.name()))
            .collect();
        for pod in others_pods {
            let mut patch = Json::object();
            patch.set(&["metadata", "labels", REVISION_LABEL], work.hash.as_str());
            let call = Call::new(Verb::Patch, PODS, &key.namespace, pod)
                .header("content-type", Text::of(MERGE_PATCH))
                .body(patch);
            runtime.send(key, DaemonSetPurpose::Renumber, call, None, now);
        }
        for revision in others {
            let options = json!({"kind": "DeleteOptions", "apiVersion": "v1"});
            let call = Call::new(Verb::Delete, REVISIONS, &key.namespace, revision.name()).body(options);
            runtime.send(key, DaemonSetPurpose::Renumber, call, None, now);
        }
    }

    fn snapshot(
        &self,
        key: &ObjectKey,
        work: &mut DaemonSetSync,
        data: Json,
        next: i64,
        runtime: &mut KeyedRuntime<DaemonSetPurpose>,
        now: Timestamp,
    ) {
        work.hash = hash(&data, work.set.stable().at(&["status", "collisionCount"]).as_i64());
        let name = format!("{}-{}", work.set.name(), work.hash);
        let mut revision = json!({"kind": "ControllerRevision", "apiVersion": "apps/v1",
            "metadata": {"name": name, "namespace": key.namespace.as_str()}, "revision": next});
        let mut marks = work.set.stable().at(&["spec", "template", "metadata", "labels"]).clone();
        marks.set(&[REVISION_LABEL], work.hash.as_str());
        revision.set(&["metadata", "labels"], marks);
        let annotations = work.set.stable().at(&["metadata", "annotations"]);
        if !annotations.is_empty() {
            revision.set(&["metadata", "annotations"], annotations.clone());
        }
        let owner = reference_to(&work.set, "apps/v1", "DaemonSet");
        revision.set(&["metadata", "ownerReferences"], Json::array(Vec::from([owner])));
        revision.set(&["data"], data);
        let call = Call::new(Verb::Create, REVISIONS, &key.namespace, "").body(revision);
        runtime.send(key, DaemonSetPurpose::Revision, call, None, now);
    }

    /// Takes the failure to make a revision: if its name is taken, it looks by whom.
    pub(super) fn not_revised(
        key: &ObjectKey,
        work: &mut DaemonSetSync,
        reply: &ApiResult,
        runtime: &mut KeyedRuntime<DaemonSetPurpose>,
        now: Timestamp,
    ) {
        let is_taken = code(reply) == 409;
        if !is_taken {
            work.fail();
            return;
        }
        let name = format!("{}-{}", work.set.name(), work.hash);
        let call = Call::new(Verb::Get, REVISIONS, &key.namespace, name);
        runtime.send(key, DaemonSetPurpose::Taken, call, None, now);
    }

    /// Takes the revision whose name was to be used: one of the same template is used, for another the names change.
    pub(super) fn take_or_rename(
        key: &ObjectKey,
        work: &mut DaemonSetSync,
        reply: &ApiResult,
        runtime: &mut KeyedRuntime<DaemonSetPurpose>,
        now: Timestamp,
    ) {
        let Some(revision) = object(reply) else { return work.fail() };
        if *revision.stable().get("data") == data_of(&work.set) {
            work.hash = String::from(hash_of(&revision));
            return;
        }
        work.fail();
        let fact = Because::Fact(format!("ControllerRevision {} is of another template", revision.name()));
        let what = String::from("name its revision otherwise");
        let because = runtime.decide(format!("daemonset/{key}"), what, [fact].into());
        let mut body = work.set.json();
        let collisions = number(&work.set, &["status", "collisionCount"], 0);
        body.set(&["status", "collisionCount"], collisions + 1);
        let call = Call::new(Verb::Update, DAEMON_SETS, &key.namespace, &key.name).subresource("status").body(body);
        runtime.send(key, DaemonSetPurpose::Collision, call, Some(because), now);
    }

    /// Finds the old revisions beyond the limit that no pod is of, the oldest first.
    pub(super) fn surplus_revisions(
        &self,
        work: &DaemonSetSync,
        runtime: &KeyedRuntime<DaemonSetPurpose>,
    ) -> VecDeque<Object> {
        let limit = usize::try_from(number(&work.set, &["spec", "revisionHistoryLimit"], DEFAULT_LIMIT)).unwrap_or(0);
        let count = work.old.len().saturating_sub(limit);
        if count == 0 {
            return VecDeque::new();
        }
        let pods = runtime.cache(PODS_CACHE);
        let own = self.pods.owned_by(&work.set).filter_map(|pod| pods.get(pod));
        let live: BTreeSet<&str> = own.filter(|pod| selected(&work.set, pod)).map(hash_of).collect();
        let mut old: Vec<&Object> = work.old.iter().collect();
        old.sort_by_key(|revision| number_of(revision));
        let unused =
            old.into_iter().filter(|revision| hash_of(revision).is_empty() || !live.contains(hash_of(revision)));
        unused.take(count).cloned().collect()
    }

    /// Deletes the next of the revisions that are too many; true if none is left.
    pub(super) fn delete_revision(
        key: &ObjectKey,
        work: &mut DaemonSetSync,
        runtime: &mut KeyedRuntime<DaemonSetPurpose>,
        now: Timestamp,
    ) -> bool {
        let Some(revision) = work.surplus.pop_front() else { return true };
        let limit = number(&work.set, &["spec", "revisionHistoryLimit"], DEFAULT_LIMIT);
        let fact = Because::Fact(format!("no pod is of it, and spec.revisionHistoryLimit is {limit}"));
        let about = format!("controllerrevision/{}", revision.key());
        let because = runtime.decide(about, "delete", [fact].into());
        let options = json!({"kind": "DeleteOptions", "apiVersion": "v1"});
        let call = Call::new(Verb::Delete, REVISIONS, &key.namespace, revision.name()).body(options);
        runtime.send(key, DaemonSetPurpose::DeleteRevision, call, Some(because), now);
        false
    }
}
