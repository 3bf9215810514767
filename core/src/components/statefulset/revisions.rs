//! The ControllerRevisions of a StatefulSet: one for each template that it has had, in the order of their numbers.
//!
//! Mirrors `getStatefulSetRevisions` and `truncateHistory` of pkg/controller/statefulset/stateful_set_control.go, and
//! pkg/controller/history/controller_history.go (v1.34). A template that the set has had before gets its revision back,
//! with the next number. Inputs: the set, its revisions, answers. Outputs: revisions created, renumbered and deleted.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::{REVISION_CACHE, StatefulSetPurpose, StatefulSetStage, StatefulSetSync, StatefulSets, revision_of};
use crate::components::controller::{ApiResult, KeyedRuntime, code, failure, object};
use crate::components::workload::REVISIONS;
use crate::components::workload::claims::selected;
use crate::components::workload::pods::{number, reference_to, safe_text};
use crate::components::workload::revisions::{data_of, next_number, number_of};
use crate::json;
use crate::network::{Call, Verb};
use crate::objects::lifecycle::is_ending;
use crate::objects::schema::sorted_go_json;
use crate::objects::{Json, Object, ObjectKey};

/// The label with a revision's hash. Source: pkg/controller/history/controller_history.go (v1.34),
/// `ControllerRevisionHashLabel`.
const HASH_LABEL: &str = "controller.kubernetes.io/hash";
/// How much of a set's name is part of a revision's. Source: controller_history.go (v1.34), `ControllerRevisionName`.
const NAME_MAX: usize = 223;

/// A revision by which pods are made.
#[derive(Clone, Default, Debug)]
pub(super) struct Revision {
    pub(super) name: String,
    /// The template of its pods.
    pub(super) template: Json,
}

impl Revision {
    fn of(revision: &Json) -> Self {
        let name = String::from(revision.at(&["metadata", "name"]).as_str().unwrap_or(""));
        let mut template = revision.at(&["data", "spec", "template"]).clone();
        template.remove(&["$patch"]);
        Self { name, template }
    }
}

/// Returns the hash of a revision's data: FNV-1 with 32 bits over its JSON and the number of collisions.
///
/// Source: controller_history.go (v1.34), `HashControllerRevision`.
fn hash(data: &Json, collisions: i64) -> String {
    let text = format!("{}{collisions}", sorted_go_json(data));
    let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| hash.wrapping_mul(0x0100_0193) ^ u32::from(byte));
    safe_text(&format!("{hash}"))
}

/// Names a new revision by its hash.
fn name_it(revision: &mut Json, set: &Object, collisions: i64) {
    let hash = hash(revision.get("data"), collisions);
    let name = set.name();
    revision.set(&["metadata", "name"], format!("{}-{hash}", &name[..name.len().min(NAME_MAX)]));
    // The label keeps the first hash.
    if labels_of(revision).get(HASH_LABEL).is_null() {
        revision.set(&["metadata", "labels", HASH_LABEL], hash);
    }
}

fn labels_of(revision: &Json) -> &Json {
    revision.at(&["metadata", "labels"])
}

impl StatefulSets {
    /// Finds the revision of the set's template; creates it, or renumbers an older one.
    pub(super) fn revise(
        &self,
        key: &ObjectKey,
        work: &mut StatefulSetSync,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) {
        work.sort_pods();
        let set = &work.set;
        let cache = runtime.cache(REVISION_CACHE);
        let fits = |revision: &&Object| selected(set, revision);
        let own = self.revisions.of(set.uid()).chain(self.orphan_revisions.of(&key.namespace));
        let mut revisions: Vec<Object> = own.filter_map(|one| cache.get(one)).filter(fits).cloned().collect();
        revisions.sort_by_cached_key(|revision| {
            let created = revision.stable().at(&["metadata", "creationTimestamp"]).as_text().cloned();
            (number_of(revision), created, String::from(revision.name()))
        });
        let template = set.stable().at(&["spec", "template"]);
        let data = data_of(set);
        let next = next_number(&revisions);
        let same = revisions.iter().rfind(|revision| *revision.stable().get("data") == data).cloned();
        let is_last = same.as_ref().map(Object::name) == revisions.last().map(Object::name);
        work.stage = StatefulSetStage::Pods;
        match same {
            Some(same) => {
                work.update = Revision::of(&same.json());
                if !is_last {
                    let mut body = same.json();
                    body.set(&["revision"], next);
                    let call = Call::new(Verb::Update, REVISIONS, &key.namespace, same.name()).body(body);
                    runtime.send(key, StatefulSetPurpose::Renumber, call, None, now);
                }
            }
            None => {
                let mut revision = json!({"kind": "ControllerRevision", "apiVersion": "apps/v1",
                    "metadata": {"namespace": key.namespace.as_str()}, "revision": next});
                let marks = template.at(&["metadata", "labels"]);
                revision.set(&["metadata", "labels"], marks.clone());
                let notes = set.stable().at(&["metadata", "annotations"]);
                if !notes.is_empty() {
                    revision.set(&["metadata", "annotations"], notes.clone());
                }
                let owner = reference_to(set, "apps/v1", "StatefulSet");
                revision.set(&["metadata", "ownerReferences"], Json::array(Vec::from([owner])));
                revision.set(&["data"], data);
                Self::create_revision(key, work, revision, runtime, now);
            }
        }
        let current = work.set.stable().at(&["status", "currentRevision"]).as_str().unwrap_or("");
        let current = revisions.iter().find(|revision| revision.name() == current);
        work.current = current.map_or_else(|| work.update.clone(), |revision| Revision::of(&revision.json()));
        work.revisions = revisions;
    }

    fn create_revision(
        key: &ObjectKey,
        work: &mut StatefulSetSync,
        mut revision: Json,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) {
        name_it(&mut revision, &work.set, work.collisions);
        let was_current = work.current.name == work.update.name;
        work.update = Revision::of(&revision);
        if was_current {
            work.current = work.update.clone();
        }
        let call = Call::new(Verb::Create, REVISIONS, &key.namespace, "").body(revision.clone());
        runtime.send(key, StatefulSetPurpose::Revision(revision), call, None, now);
    }

    /// Takes the answer about a revision. One of its name that has other data makes it take another name.
    ///
    /// Source: controller_history.go (v1.34), `CreateControllerRevision`.
    pub(super) fn handle_revision(
        key: &ObjectKey,
        work: &mut StatefulSetSync,
        step: StatefulSetPurpose,
        reply: &ApiResult,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) {
        let failed = failure(reply).is_some();
        match step {
            StatefulSetPurpose::Revision(revision) if code(reply) == 409 => {
                let call = Call::new(Verb::Get, REVISIONS, &key.namespace, &work.update.name);
                runtime.send(key, StatefulSetPurpose::ReadRevision(revision), call, None, now);
            }
            StatefulSetPurpose::ReadRevision(revision) if !failed => {
                let is_same = object(reply).is_some_and(|one| one.stable().get("data") == revision.get("data"));
                if !is_same {
                    work.collisions += 1;
                    Self::create_revision(key, work, revision, runtime, now);
                }
            }
            _ if failed => {
                work.failed = true;
                work.stage = StatefulSetStage::Truncate;
            }
            _ => {}
        }
    }

    /// Deletes the oldest revisions that nothing has any more, beyond the limit.
    pub(super) fn truncate(
        key: &ObjectKey,
        work: &mut StatefulSetSync,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) {
        work.stage = StatefulSetStage::End;
        let limit = usize::try_from(number(&work.set, &["spec", "revisionHistoryLimit"], 10)).unwrap_or(usize::MAX);
        let lives = |revision: &&Object| {
            let name = revision.name();
            name == work.current.name
                || name == work.update.name
                || work.pods.iter().any(|pod| revision_of(pod) == name)
        };
        let old: Vec<&Object> = work.revisions.iter().filter(|revision| !lives(revision)).collect();
        for revision in &old[..old.len().saturating_sub(limit)] {
            if is_ending(revision) {
                continue;
            }
            let call = Call::new(Verb::Delete, REVISIONS, &key.namespace, revision.name());
            runtime.send(key, StatefulSetPurpose::Truncate, call, None, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::hash;
    use crate::json;

    /// As kube-controller-manager 1.34.4 named it.
    #[test]
    fn the_hash_is_that_of_a_real_controller() {
        let data = json!({"spec": {"template": {
            "$patch": "replace",
            "metadata": {"annotations": {"k": "a<b&c>d é"}, "labels": {"app": "x"}},
            "spec": {
                "containers": [{"image": "i:1", "imagePullPolicy": "IfNotPresent", "name": "c", "resources": {},
                    "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}],
                "dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler",
                "securityContext": {}, "terminationGracePeriodSeconds": 30
            }
        }}});
        assert_eq!(hash(&data, 0), "7cc6b6c8d4");
    }
}
