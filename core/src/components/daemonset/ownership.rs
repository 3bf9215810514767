//! Which pods and revisions a DaemonSet takes and lets go, and which sets a change of one wakes.
//!
//! Mirrors `ClaimObject` (pkg/controller/controller_ref_manager.go, v1.34) as `getDaemonPods` and `controlledHistories`
//! call it, and the handlers of pods (pkg/controller/daemon/{daemon_controller,update}.go). Inputs: changes of pods and
//! revisions. Outputs: keys of sets, patches.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::{DaemonSetPurpose, DaemonSetStage, DaemonSetSync, DaemonSets, PODS_CACHE, SETS};
use crate::components::Because;
use crate::components::client::CacheEvent;
use crate::components::controller::KeyedRuntime;
use crate::components::workload::DAEMON_SETS;
use crate::components::workload::claims::{Claims, has_selector, is_offered, selected};
use crate::components::workload::pods::{adoption, became_ready, number, owner_key, reference_to, release};
use crate::network::{Call, PODS, Resource, Verb};
use crate::objects::lifecycle::is_ending;
use crate::objects::{Object, ObjectKey};

impl DaemonSets {
    /// Follows a change of a pod, and queues the set that it belongs to or those that might adopt it.
    pub(super) fn handle_pod(
        &mut self,
        event: &CacheEvent,
        runtime: &mut KeyedRuntime<DaemonSetPurpose>,
        now: Timestamp,
    ) {
        self.pods.update(event);
        self.orphans.update_those(event, |pod| !is_ending(pod));
        if let Some((key, min_ready)) =
            Self::own_set(event.object(), runtime).map(|set| (set.key(), number(set, &["spec", "minReadySeconds"], 0)))
        {
            self.expectations.follow(&key, event);
            if min_ready > 0 && event.before.is_some() && became_ready(event) {
                runtime.add_after(key, SignedDuration::from_secs(min_ready + 1), now);
            }
        }
        Self::wake(event, runtime, |_| true);
    }

    /// Returns the set that an object belongs to.
    fn own_set<'a>(object: &Object, runtime: &'a KeyedRuntime<DaemonSetPurpose>) -> Option<&'a Object> {
        let (key, uid) = owner_key(object, "DaemonSet")?;
        runtime.cache(SETS).get(&key).filter(|set| set.uid() == &*uid)
    }

    /// Queues the set that an object belonged to, the one that it belongs to if its change is worth it, or those that
    /// might adopt it.
    pub(super) fn wake(
        event: &CacheEvent,
        runtime: &mut KeyedRuntime<DaemonSetPurpose>,
        is_worth: impl Fn(&Object) -> bool,
    ) {
        let owner = |object: &Option<Object>| object.as_ref().and_then(|object| owner_key(object, "DaemonSet"));
        let object = event.object();
        let former =
            event.before.as_ref().filter(|_| event.after.is_some() && owner(&event.before) != owner(&event.after));
        let current = Some(object).filter(|object| is_worth(object));
        let concerned: Vec<ObjectKey> = former
            .into_iter()
            .chain(current)
            .filter_map(|object| Self::own_set(object, runtime))
            .map(Object::key)
            .collect();
        for key in concerned {
            runtime.add(key);
        }
        if !is_offered(event.before.as_ref(), event.after.as_ref()) {
            return;
        }
        let namespace = object.key().namespace;
        let takes = |set: &&Object| set.key().namespace == namespace && has_selector(set) && selected(set, object);
        let keys: Vec<ObjectKey> = runtime.cache(SETS).objects().filter(takes).map(Object::key).collect();
        for key in keys {
            runtime.add(key);
        }
    }

    /// Releases pods that are no longer selected, and asks whether the set may adopt others.
    pub(super) fn claim_pods(
        &mut self,
        key: &ObjectKey,
        work: &mut DaemonSetSync,
        runtime: &mut KeyedRuntime<DaemonSetPurpose>,
        now: Timestamp,
    ) {
        work.stage = DaemonSetStage::Manage;
        let cache = runtime.cache(PODS_CACHE);
        let lost: Vec<Object> = self.census(work, runtime, now).lost(cache.cache()).cloned().collect();
        let orphans = self.orphans.of(&key.namespace).filter_map(|pod| cache.get(pod));
        let wanted = Claims::of(&work.set, core::iter::empty(), orphans).wanted;
        for pod in lost {
            let fact = Because::Fact(String::from("its labels are no longer those that the set selects"));
            let what = format!("let go by DaemonSet {}", key.name);
            let because = runtime.decide(format!("pod/{}", pod.key()), what, [fact].into());
            let call = Call::strategic_patch(PODS, &key.namespace, pod.name(), release(&work.set, &pod));
            runtime.send(key, DaemonSetPurpose::Release, call, Some(because), now);
        }
        Self::ask_to_adopt(key, work, (PODS, wanted), runtime, now);
    }

    /// Checks that the set still exists, before it adopts anything.
    pub(super) fn ask_to_adopt(
        key: &ObjectKey,
        work: &mut DaemonSetSync,
        (resource, wanted): (Resource, Vec<Object>),
        runtime: &mut KeyedRuntime<DaemonSetPurpose>,
        now: Timestamp,
    ) {
        if wanted.is_empty() {
            return;
        }
        work.wanted = Some((resource, wanted));
        let call = Call::new(Verb::Get, DAEMON_SETS, &key.namespace, &key.name);
        runtime.send(key, DaemonSetPurpose::Confirm, call, None, now);
    }

    /// Takes what was adopted: a revision counts in the next stage, a pod from now on.
    pub(super) fn adopted(&mut self, work: &mut DaemonSetSync, found: Object, after: Option<Object>) {
        if work.stage == DaemonSetStage::Revise {
            work.own.push(found);
        } else {
            self.pods.update(&CacheEvent { before: Some(found), after, slot: 0 });
        }
    }

    /// Adopts the revisions or pods that were found.
    pub(super) fn adopt(
        key: &ObjectKey,
        work: &mut DaemonSetSync,
        runtime: &mut KeyedRuntime<DaemonSetPurpose>,
        now: Timestamp,
    ) {
        let Some((resource, wanted)) = work.wanted.take() else { return };
        for found in wanted {
            let kind = if resource == PODS { "pod" } else { "controllerrevision" };
            let fact = Because::Fact(String::from("the set selects it, and nobody owns it"));
            let what = format!("taken by DaemonSet {}", key.name);
            let because = runtime.decide(format!("{kind}/{}", found.key()), what, [fact].into());
            let patch = adoption(reference_to(&work.set, "apps/v1", "DaemonSet"), &found);
            let call = Call::strategic_patch(resource.clone(), &key.namespace, found.name(), patch);
            runtime.send(key, DaemonSetPurpose::Adopt(found), call, Some(because), now);
        }
    }
}
