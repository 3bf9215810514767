//! Which pods a Job releases and adopts.
//!
//! Mirrors `getPodsForJob` of pkg/controller/job/job_controller.go, and pkg/controller/controller_ref_manager.go
//! (v1.34). Inputs: pods, answers. Outputs: patches of pods; a pod gets the finalizer when it is adopted and loses it
//! when it is released.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::sync::{JobStage, JobSync};
use super::{FINALIZER, JobPurpose, Jobs, PODS_CACHE};
use crate::components::Because;
use crate::components::controller::{ApiResult, KeyedRuntime, code, failure, object};
use crate::components::workload::JOBS;
use crate::components::workload::claims::{Claims, may_adopt};
use crate::components::workload::pods::{adoption, reference_to, release};
use crate::json;
use crate::network::{Call, PODS, Verb};
use crate::objects::{Json, ObjectKey};

impl Jobs {
    /// Releases pods that are no longer selected, and finds pods to adopt.
    pub(super) fn claim(
        &self,
        key: &ObjectKey,
        work: &mut JobSync,
        runtime: &mut KeyedRuntime<JobPurpose>,
        now: Timestamp,
    ) {
        let cache = runtime.cache(PODS_CACHE);
        let own = self.pods.of(work.job.uid()).filter_map(|pod| cache.get(pod));
        let orphans = self.orphans.of(&key.namespace).filter_map(|pod| cache.get(pod));
        let Claims { own, lost, wanted } = Claims::of(&work.job, own, orphans);
        (work.pods, work.wanted) = (own, wanted);
        for pod in lost {
            let fact = Vec::from([Because::Fact(String::from("its labels are no longer those that the Job selects"))]);
            let because = runtime.decide(format!("pod/{}", pod.key()), format!("let go by Job {}", key.name), fact);
            let mut patch = release(&work.job, &pod);
            patch.set(&["metadata", "$deleteFromPrimitiveList/finalizers"], finalizers());
            let call = Call::strategic_patch(PODS, &key.namespace, pod.name(), patch);
            runtime.send(key, JobPurpose::Release, call, Some(because), now);
        }
        if !work.wanted.is_empty() {
            let call = Call::new(Verb::Get, JOBS, &key.namespace, &key.name);
            runtime.send(key, JobPurpose::Confirm, call, None, now);
        }
    }

    /// Takes the answer to such a request.
    pub(super) fn take_claim(
        key: &ObjectKey,
        work: &mut JobSync,
        step: JobPurpose,
        reply: &ApiResult,
        runtime: &mut KeyedRuntime<JobPurpose>,
        now: Timestamp,
    ) {
        let has_failed = failure(reply).is_some();
        match step {
            JobPurpose::Confirm if !has_failed && may_adopt(&work.job, object(reply).as_ref()) => {
                Self::adopt(key, work, runtime, now);
            }
            JobPurpose::Adopt(pod) if !has_failed => work.pods.push(object(reply).unwrap_or(pod)),
            JobPurpose::Adopt(_) if code(reply) == 404 => {}
            JobPurpose::Release if !has_failed || matches!(code(reply), 404 | 422) => {}
            _ => work.stage = JobStage::Failed,
        }
    }

    /// Adopts the pods found.
    fn adopt(key: &ObjectKey, work: &mut JobSync, runtime: &mut KeyedRuntime<JobPurpose>, now: Timestamp) {
        for pod in core::mem::take(&mut work.wanted) {
            let fact = Vec::from([Because::Fact(String::from("the Job selects it, and nobody owns it"))]);
            let because = runtime.decide(format!("pod/{}", pod.key()), format!("taken by Job {}", key.name), fact);
            let mut patch = adoption(reference_to(&work.job, "batch/v1", "Job"), &pod);
            patch.set(&["metadata", "finalizers"], finalizers());
            let call = Call::strategic_patch(PODS, &key.namespace, pod.name(), patch);
            runtime.send(key, JobPurpose::Adopt(pod), call, Some(because), now);
        }
    }
}

fn finalizers() -> Json {
    json!([FINALIZER])
}
