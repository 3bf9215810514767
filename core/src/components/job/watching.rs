//! What changes of Jobs and pods cause.
//!
//! Mirrors the handlers and the queue of orphans of pkg/controller/job/job_controller.go (v1.34). Inputs: changes of
//! the caches. Outputs: the keys of Jobs to sync, at once or together with what else happens within a second, and those
//! of pods whose finalizer nobody else removes. Both stand in one queue: a key of such a pod is no name of a Job.

use alloc::format;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::{BATCH, FINALIZER, JOBS_CACHE, JobPurpose, Jobs, PODS_CACHE, is_finished, without_finalizer};
use crate::components::client::CacheEvent;
use crate::components::controller::KeyedRuntime;
use crate::components::workload::claims::selected;
use crate::components::workload::pods::{controller_of, labels, number, owner_key};
use crate::network::{Call, PODS};
use crate::objects::lifecycle::{has_finalizer, is_ending};
use crate::objects::{Object, ObjectKey, Text, time};

/// What the keys of pods begin with.
const OF_POD: &str = "pod/";

/// Returns the name of the pod that a key is about; `None` for the key of a Job.
pub(super) fn orphan_in(key: &ObjectKey) -> Option<Text> {
    key.name.strip_prefix(OF_POD).map(Text::from)
}

fn is_of_job(pod: &Object) -> bool {
    controller_of(pod).is_some_and(|owner| owner.get("kind").as_str() == Some("Job"))
}

/// Finds the Job that a pod belongs to, by name and uid.
fn job_of(pod: &Object, runtime: &KeyedRuntime<JobPurpose>) -> Option<Object> {
    let (key, uid) = owner_key(pod, "Job")?;
    runtime.cache(JOBS_CACHE).get(&key).filter(|job| job.uid() == &*uid).cloned()
}

fn add_orphan(pod: &Object, runtime: &mut KeyedRuntime<JobPurpose>) {
    let key = pod.key();
    runtime.add(ObjectKey::namespaced(key.namespace, format!("{OF_POD}{}", key.name)));
}

impl Jobs {
    pub(super) fn handle_job(&mut self, event: &CacheEvent, runtime: &mut KeyedRuntime<JobPurpose>, now: Timestamp) {
        let key = event.object().key();
        let (before, job) = match (&event.before, &event.after) {
            (Some(before), Some(after)) => (before, after),
            (Some(gone), None) => {
                runtime.add(key.clone());
                self.finished.remove(gone.uid());
                self.backoff.remove(&key);
                self.add_orphans(gone, runtime);
                return;
            }
            _ => return runtime.add(key),
        };
        if is_finished(job) {
            self.add_orphans(job, runtime);
            return;
        }
        let of = |job, path: &[&str]| number(job, path, -1);
        if of(before, &["metadata", "generation"]) == of(job, &["metadata", "generation"]) {
            runtime.add_after(key.clone(), BATCH, now);
        } else {
            runtime.add(key.clone());
        }
        let deadline = of(job, &["spec", "activeDeadlineSeconds"]);
        let start = job.stable().at(&["status", "startTime"]).as_str().and_then(time::parse);
        if let Some(start) =
            start.filter(|_| deadline >= 0 && deadline != of(before, &["spec", "activeDeadlineSeconds"]))
        {
            runtime.add_after(key, SignedDuration::from_secs(deadline) - now.duration_since(start), now);
        }
    }

    /// Queues the pods of a Job that has ended or is gone, which nobody accounts for any more.
    fn add_orphans(&self, job: &Object, runtime: &mut KeyedRuntime<JobPurpose>) {
        let cache = runtime.cache(PODS_CACHE);
        let namespace = job.key().namespace;
        let keys = self.pods.of(job.uid()).chain(self.orphans.of(&namespace));
        let is_left = |pod: &&Object| has_finalizer(pod, FINALIZER) && selected(job, pod);
        let pods: Vec<Object> = keys.filter_map(|key| cache.get(key)).filter(is_left).cloned().collect();
        for pod in pods {
            add_orphan(&pod, runtime);
        }
    }

    /// Removes the finalizer of a pod that no Job accounts for.
    pub(super) fn free_orphan(
        &self,
        key: &ObjectKey,
        name: &Text,
        runtime: &mut KeyedRuntime<JobPurpose>,
        now: Timestamp,
    ) {
        let pod = runtime.cache(PODS_CACHE).get(&ObjectKey::namespaced(key.namespace.clone(), name.clone()));
        let Some(pod) = pod.filter(|pod| has_finalizer(pod, FINALIZER)).cloned() else { return };
        if let Some(owner) = controller_of(&pod) {
            let is_job = is_of_job(&pod) && owner.get("apiVersion").as_str() == Some("batch/v1");
            let job = job_of(&pod, runtime);
            if !is_job || job.is_some_and(|job| self.is_foreign(&job) || !is_finished(&job)) {
                return;
            }
        }
        let call = Call::strategic_patch(PODS, &key.namespace, name, without_finalizer());
        runtime.send(key, JobPurpose::FreeOrphan, call, None, now);
    }

    pub(super) fn handle_pod(&mut self, event: &CacheEvent, runtime: &mut KeyedRuntime<JobPurpose>, now: Timestamp) {
        let concerns = |pod: &Object| controller_of(pod).is_none() || is_of_job(pod);
        if !event.before.iter().chain(&event.after).any(concerns) {
            return;
        }
        self.pods.update_those(event, is_of_job);
        self.orphans.update_those(event, |pod| !is_ending(pod));
        let pod = event.object();
        if event.after.is_none() || is_ending(pod) {
            self.handle_deletion(pod, event.after.is_none(), runtime, now);
            return;
        }
        let is_free = !has_finalizer(pod, FINALIZER);
        let owners = event.before.as_ref().map(controller_of);
        let is_other = owners.is_some_and(|before| before != controller_of(pod));
        if let Some(before) = event.before.as_ref().filter(|_| is_other)
            && let Some(job) = job_of(before, runtime)
        {
            self.note_freed(&job, pod, is_free);
            runtime.add_after(job.key(), BATCH, now);
        }
        if controller_of(pod).is_some() {
            let Some(job) = job_of(pod, runtime) else { return };
            if event.before.is_none() {
                self.expectations.created(&job.key());
            }
            self.note_freed(&job, pod, is_free);
            runtime.add_after(job.key(), BATCH, now);
            return;
        }
        if !is_free {
            add_orphan(pod, runtime);
        }
        let is_same = event.before.as_ref().is_some_and(|before| labels(before) == labels(pod));
        if is_other || !is_same {
            let namespace = pod.key().namespace;
            let jobs = runtime.cache(JOBS_CACHE).objects();
            let takes = |job: &&Object| job.key().namespace == namespace && selected(job, pod);
            let keys: Vec<ObjectKey> = jobs.filter(takes).map(Object::key).collect();
            for key in keys {
                runtime.add_after(key, BATCH, now);
            }
        }
    }

    /// Notes that the cache shows a pod without the finalizer.
    fn note_freed(&mut self, job: &Object, pod: &Object, is_free: bool) {
        if let Some(freed) = self.freed.get_mut(&job.key()).filter(|_| is_free) {
            freed.remove(pod.uid());
        }
    }

    /// Takes the beginning of a pod's deletion, or its end.
    fn handle_deletion(&mut self, pod: &Object, is_gone: bool, runtime: &mut KeyedRuntime<JobPurpose>, now: Timestamp) {
        let is_held = has_finalizer(pod, FINALIZER);
        let job = job_of(pod, runtime).filter(|job| !is_finished(job));
        let is_orphan = controller_of(pod).is_none() || is_of_job(pod);
        let Some(job) = job else {
            if is_held && is_orphan {
                add_orphan(pod, runtime);
            }
            return;
        };
        let key = job.key();
        self.expectations.deleted(&key, pod.uid());
        self.note_freed(&job, pod, is_gone || !is_held);
        runtime.add_after(key, BATCH, now);
    }
}
