//! How a StatefulSet takes revisions and pods that nobody owns, and lets go of pods that it no longer selects.
//!
//! Mirrors pkg/controller/controller_ref_manager.go, and `adoptOrphanRevisions` and `getPodsForStatefulSet` of
//! pkg/controller/statefulset/stateful_set.go (v1.34). Inputs: caches, answers. Outputs: patches of owner references.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::{
    PODS_CACHE, REVISION_CACHE, SETS, StatefulSetPurpose, StatefulSetStage, StatefulSetSync, StatefulSets, ordinal,
};
use crate::components::Because;
use crate::components::client::CacheEvent;
use crate::components::controller::{ApiResult, KeyedRuntime, code, failure, object};
use crate::components::workload::claims::{is_offered, may_adopt, selected};
use crate::components::workload::pods::{adoption, number, reference_to, release};
use crate::components::workload::{REVISIONS, STATEFUL_SETS};
use crate::network::{Call, PODS, Resource, Verb};
use crate::objects::lifecycle::is_ending;
use crate::objects::{Object, ObjectKey};

impl StatefulSets {
    /// Queues the sets that select a pod without owner, when it appears or when its labels or owners change.
    pub(super) fn offer(&self, event: &CacheEvent, runtime: &mut KeyedRuntime<StatefulSetPurpose>) {
        let Some(pod) = event.after.as_ref().filter(|pod| is_offered(event.before.as_ref(), Some(pod))) else { return };
        let namespace = pod.key().namespace;
        let takes = |set: &&Object| set.key().namespace == namespace && selected(set, pod);
        let keys: Vec<ObjectKey> = runtime.cache(SETS).objects().filter(takes).map(Object::key).collect();
        for key in keys {
            runtime.add(key);
        }
    }

    /// Finds revisions to adopt.
    pub(super) fn adopt_revisions(
        &self,
        key: &ObjectKey,
        work: &mut StatefulSetSync,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) {
        let own = self.orphan_revisions.of(&key.namespace).filter_map(|one| runtime.cache(REVISION_CACHE).get(one));
        work.wanted = own.filter(|revision| selected(&work.set, revision)).cloned().collect();
        work.stage = StatefulSetStage::Claim;
        Self::confirm(key, work, runtime, now);
    }

    /// Asks whether the set still exists, if there is something to adopt.
    fn confirm(
        key: &ObjectKey,
        work: &StatefulSetSync,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) {
        if !work.wanted.is_empty() {
            let call = Call::new(Verb::Get, STATEFUL_SETS, &key.namespace, &key.name);
            runtime.send(key, StatefulSetPurpose::Confirm, call, None, now);
        }
    }

    /// Releases pods that are no longer selected, and finds pods to adopt.
    pub(super) fn claim(
        &self,
        key: &ObjectKey,
        work: &mut StatefulSetSync,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) {
        let set = work.set.clone();
        let fits = |pod: &&Object| selected(&set, pod) && ordinal(&set, pod).is_some();
        let pods = runtime.cache(PODS_CACHE);
        let own = self.pods.of(set.uid()).filter_map(|pod| pods.get(pod)).cloned();
        let (kept, lost): (Vec<Object>, Vec<Object>) = own.partition(|pod| fits(&pod));
        let orphans = self.orphans.of(&key.namespace).filter_map(|pod| pods.get(pod));
        work.wanted = if is_ending(&set) { Vec::new() } else { orphans.filter(fits).cloned().collect() };
        work.pods = kept;
        work.stage = StatefulSetStage::Revise;
        for pod in lost.iter().filter(|_| !is_ending(&set)) {
            let fact = Vec::from([Because::Fact(String::from("its labels are no longer those that the set selects"))]);
            let what = format!("let go by StatefulSet {}", key.name);
            let because = runtime.decide(format!("pod/{}", pod.key()), what, fact);
            let call = Call::strategic_patch(PODS, &key.namespace, pod.name(), release(&set, pod));
            runtime.send(key, StatefulSetPurpose::Release, call, Some(because), now);
        }
        Self::confirm(key, work, runtime, now);
    }

    /// Takes the answers to what the two before asked for.
    pub(super) fn handle_claimed(
        key: &ObjectKey,
        work: &mut StatefulSetSync,
        step: StatefulSetPurpose,
        reply: &ApiResult,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) {
        let failed = failure(reply).is_some();
        match step {
            StatefulSetPurpose::Confirm => {
                if failed || !may_adopt(&work.set, object(reply).as_ref()) {
                    work.give_up();
                    return;
                }
                for orphan in core::mem::take(&mut work.wanted) {
                    Self::adopt(key, work, orphan, runtime, now);
                }
            }
            StatefulSetPurpose::Adopt(pod) if !failed => work.pods.push(object(reply).unwrap_or(pod)),
            StatefulSetPurpose::Adopt(_) if code(reply) == 404 => {}
            StatefulSetPurpose::Release if !failed || matches!(code(reply), 404 | 422) => {}
            _ if failed => work.give_up(),
            _ => {}
        }
    }

    fn adopt(
        key: &ObjectKey,
        work: &StatefulSetSync,
        orphan: Object,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) {
        let is_pod = work.stage == StatefulSetStage::Revise;
        let (kind, resource): (&str, Resource) = if is_pod { ("pod", PODS) } else { ("controllerrevision", REVISIONS) };
        let fact = Vec::from([Because::Fact(String::from("the set selects it, and nobody owns it"))]);
        let what = format!("taken by StatefulSet {}", key.name);
        let because = runtime.decide(format!("{kind}/{}", orphan.key()), what, fact);
        let patch = adoption(reference_to(&work.set, "apps/v1", "StatefulSet"), &orphan);
        let call = Call::strategic_patch(resource, &key.namespace, orphan.name(), patch);
        let step = if is_pod { StatefulSetPurpose::Adopt(orphan) } else { StatefulSetPurpose::AdoptRevision };
        runtime.send(key, step, call, Some(because), now);
    }
}

impl StatefulSetSync {
    /// Ends the sync without a status; it is tried again.
    pub(super) fn give_up(&mut self) {
        self.failed = true;
        self.stage = StatefulSetStage::End;
    }

    /// Sorts the pods by their ordinals.
    pub(super) fn sort_pods(&mut self) {
        let wanted = number(&self.set, &["spec", "replicas"], 1);
        let first = number(&self.set, &["spec", "ordinals", "start"], 0);
        self.replicas = (first..first.saturating_add(wanted.clamp(0, 100_000))).map(|number| (number, None)).collect();
        for pod in &self.pods {
            let Some(number) = ordinal(&self.set, pod) else { continue };
            match usize::try_from(number - first).ok().and_then(|at| self.replicas.get_mut(at)) {
                Some((_, place)) => *place = Some(pod.clone()),
                None => self.condemned.push((number, pod.clone())),
            }
        }
        self.condemned.sort_by_key(|(number, _)| *number);
    }
}
