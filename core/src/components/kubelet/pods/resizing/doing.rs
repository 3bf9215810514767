//! The containers of a pod that was given other resources get them: at once, or with a new start.
//!
//! Mirrors `computePodResizeAction`, `doPodResizeAction` and `validateMemoryResizeAction` of
//! pkg/kubelet/kuberuntime/kuberuntime_manager.go (v1.33, v1.34, v1.37), and what `SyncPod` of pkg/kubelet/kubelet.go
//! does around them. Inputs: syncs. Outputs: limits, restarts, conditions, Events. The kubelet sees what it has changed
//! with the next relist.

use super::deciding::policy;
use super::telling::{COMPLETED_EVENT, ERROR_EVENT};
use super::*;
use crate::components::host::runtime::Sandbox;
use crate::components::pod_resources;
use crate::objects::NULL;

/// The reason of a resize that goes wrong. Source: k8s.io/api core/v1/types.go (v1.34), `PodReasonError`.
const ERROR: &str = "Error";

impl Kubelet {
    /// Does what a sync of a pod does of its resize, before its status is made.
    pub(in crate::components::kubelet::pods) fn sync_resize(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let is_meant = |own: &&mut Worker| {
            let is_active = matches!(own.stage, WorkerStage::Active | WorkerStage::Blocked);
            let replaces = own.plans.iter().any(|plan| plan.killed_for.is_some());
            own.resizing.is_open && is_active && !own.has_to_end() && !own.ends_after_sync && !replaces
        };
        if self.pods.workers.get_mut(uid).filter(is_meant).is_none() || !context.host.takes_calls() {
            return;
        }
        if !self.settings.profile().is("resizes-are-queued") {
            self.decide_in_sync(uid, context);
        }
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        if worker.resizing.unseen_until.is_some_and(|until| until > context.now) {
            return;
        }
        worker.resizing.unseen_until = None;
        worker.resizing.shown.clear();
        let has_inits = self.settings.profile().is("init-containers-are-resized");
        let others = worker.others(has_inits, context.host);
        let (generation, own) = (generation_of(&worker.object), &mut worker.resizing);
        if others.is_empty() {
            let completed = own.progress.take();
            own.failure = None;
            own.is_open = !own.wanted.is_null();
            let told = completed.filter(|_| self.settings.profile().is("resize-completion-is-told"));
            if let Some(completed) = told {
                let pod = worker.object.clone();
                self.resize_event(&pod, COMPLETED_EVENT, (completed.generation, ""), context);
            }
            return;
        }
        let before = own.progress.take();
        let generation = before.as_ref().map_or(generation, |before| before.generation);
        let same = before.as_ref().map_or(("", ""), |before| (&*before.reason, &*before.message));
        let mut progress = ResizeCondition::after(before.as_ref(), same, generation, context.now);
        if let Some((at, message)) = own.failure.take() {
            progress = ResizeCondition::after(Some(&progress), (ERROR, &message), generation, at);
        }
        own.progress = Some(progress);
        self.resize_containers(uid, &others, context);
    }

    /// Decides in a sync of a pod whether it gets what it asks for, which each later one does again.
    fn decide_in_sync(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        if self.decide_resize(uid, context) {
            let waits = |own: &Worker| own.plans.iter().any(|plan| plan.is_waiting && plan.backoff.is_none());
            if self.pods.workers.get(uid).is_some_and(waits) {
                self.settle_pod(uid, context);
            }
        }
        let is_due = |own: &Worker| own.resizing.pending.is_some() && own.resync_at.is_none_or(|at| at <= context.now);
        if self.pods.workers.get(uid).is_some_and(is_due) {
            self.schedule_resync(uid, (context.now + RESYNC_PERIOD, context.now), context.now);
        }
    }

    /// Lets containers have what their pod was given.
    fn resize_containers(&mut self, uid: &Text, others: &[usize], context: &mut KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get_mut(uid).filter(|own| own.stage == WorkerStage::Active) else {
            return;
        };
        let pod = worker.object.clone();
        let starts_anew = |at: &&usize| {
            let name = &worker.plans[**at].name;
            let found = ContainerRole::find(&pod, name).zip(context.host.runtime.container(uid, name));
            found.is_some_and(|((_, asked), own)| {
                let is_changed = |resource: &&str| differs(asked.get("resources"), &own.resources, resource);
                let changed = ["cpu", "memory"].into_iter().filter(|resource| is_changed(resource));
                changed.into_iter().any(|resource| policy(asked, resource) == "RestartContainer")
            })
        };
        let (anew, at_once): (Vec<&usize>, Vec<&usize>) = others.iter().partition(starts_anew);
        let anew: Vec<(usize, Text)> = anew.into_iter().map(|at| (*at, worker.plans[*at].name.clone())).collect();
        let at_once: Vec<Text> = at_once.into_iter().map(|at| worker.plans[*at].name.clone()).collect();
        // The sync goes on until these run again: what it has changed is seen then.
        let is_long = !anew.is_empty();
        for (at, name) in anew {
            let message = format!("Container {name} resize requires restart");
            self.end_container(uid, at, (KilledFor::Resize, message), None, context);
        }
        if at_once.is_empty() {
            return;
        }
        if let Some(error) = self.memory_error(uid, &pod, &at_once, context.host) {
            self.resize_failed(uid, error, context);
            return;
        }
        for name in at_once {
            self.resize_container(uid, &pod, &name, context);
        }
        if let Some(worker) = self.pods.workers.get_mut(uid).filter(|_| !is_long) {
            let seen_at = context.now + RELIST_PERIOD;
            worker.resizing.unseen_until = Some(seen_at);
            worker.sync_at = worker.sync_at.into_iter().chain([seen_at]).min();
        }
    }

    /// Gives a container that runs what its pod was given for it.
    fn resize_container(&mut self, uid: &Text, pod: &Object, name: &Text, context: &mut KubeletContext<'_>) {
        let Some(((role, asked), own)) = ContainerRole::find(pod, name).zip(context.host.runtime.container(uid, name))
        else {
            return;
        };
        let statuses = pod.stable().at(&["status", role.status_list()]).items();
        let stored = statuses.iter().find(|own| own.get("name").as_str() == Some(name)).unwrap_or(&NULL);
        let seen = shown::resources(asked.get("resources"), own, stored);
        let limits = self.container_limits(pod, name, context.host);
        let resources = asked.get("resources").clone();
        context.host.runtime.resize(uid, name, (&resources, limits), context.now);
        if let Some(worker) = self.pods.workers.get_mut(uid) {
            worker.resizing.shown.push((name.clone(), seen));
        }
    }

    /// Notes that a resize has gone wrong; the next sync tries it again.
    fn resize_failed(&mut self, uid: &Text, error: String, context: &mut KubeletContext<'_>) {
        let is_looked_at_again = !self.settings.profile().is("resize-checks-container-memory");
        let pause = self.pods.chance.jitter(FAILED_SYNC_PAUSE, PAUSE_JITTER);
        let again = if is_looked_at_again { context.now + RELIST_PERIOD } else { self.at_tick(context.now + pause) };
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        let told = worker.resizing.progress.as_ref().filter(|own| *own.reason != *ERROR || *own.message != *error);
        let told = told.map(|own| own.generation);
        worker.resizing.failure = Some((context.now, Text::from(error.as_str())));
        worker.sync_at = worker.sync_at.into_iter().chain([again]).min();
        let pod = worker.object.clone();
        if let Some(generation) = told.filter(|_| self.settings.profile().is("resize-steps-are-told")) {
            self.resize_event(&pod, ERROR_EVENT, (generation, &error), context);
        }
    }

    /// Returns why containers do not get less memory: more is used.
    fn memory_error(&self, uid: &Text, pod: &Object, names: &[Text], host: &Host) -> Option<String> {
        let sandbox = host.runtime.sandbox(uid)?;
        let limit = |resources: &Json| quantities(resources.get("limits")).get("memory").map_or(0, |own| own.value());
        let changed = names.iter().filter_map(|name| {
            let (_, asked) = ContainerRole::find(pod, name)?;
            let own = sandbox.container(name)?;
            differs(asked.get("resources"), &own.resources, "memory")
                .then(|| (name, limit(asked.get("resources")), limit(&own.resources)))
        });
        let mut changed: Vec<(&Text, i64, i64)> = changed.collect();
        if changed.is_empty() {
            return None;
        }
        let level = PodLevel::of(self.settings.profile());
        let (wanted, has) = (memory_limit(pod.stable().get("spec"), level), memory_limit(&had(pod, sandbox), level));
        let used = host.runtime.used_by(uid).of(crate::components::host::Resource::Memory);
        if !self.settings.profile().is("resize-checks-container-memory") {
            let error = "aborting attempt to set pod memory limit less than current memory usage for pod";
            return wanted.filter(|wanted| used >= *wanted).map(|_| format!("{error} {}", pod.name()));
        }
        let mut errors = Vec::new();
        if let Some(wanted) = wanted.filter(|wanted| has.is_none_or(|has| *wanted < has) && used >= *wanted) {
            errors.push(format!("attempting to set pod memory limit ({wanted}) below current usage ({used})"));
        }
        changed.retain(|(_, wanted, has)| *wanted != 0 && (*has == 0 || wanted < has));
        for (name, wanted, _) in changed {
            if host.runtime.uses(sandbox, name).memory >= wanted {
                errors.push(format!(
                    "attempting to set container {name:?} memory limit ({wanted}) below current usage ({used})"
                ));
            }
        }
        let error = if errors.len() > 1 { format!("[{}]", errors.join(", ")) } else { errors.pop()? };
        Some(format!("cannot decrease memory limits: {error}"))
    }
}

impl Worker {
    /// Returns the places of the containers that run with other amounts than the pod was given.
    fn others(&self, has_inits: bool, host: &Host) -> Vec<usize> {
        let is_other = |plan: &ContainerPlan| {
            let own = host.runtime.container(&self.uid, &plan.name).filter(|own| own.is_running());
            let found = ContainerRole::find(&self.object, &plan.name)
                .filter(|(role, _)| has_inits || *role != ContainerRole::Init);
            own.zip(found).is_some_and(|(own, (_, asked))| {
                let asked = asked.get("resources");
                ["cpu", "memory"].iter().any(|resource| differs(asked, &own.resources, resource))
            })
        };
        self.plans.iter().enumerate().filter(|(_, plan)| is_other(plan)).map(|(at, _)| at).collect()
    }
}

/// Tells whether a container has another amount of a resource than was asked for; of one that ran before everything
/// nobody knows.
fn differs(asked: &Json, has: &Json, resource: &str) -> bool {
    let amount = |own: &Json, kind: &str| quantities(own.get(kind)).get(resource).map_or(0, |own| own.milli_value());
    !has.is_null() && ["requests", "limits"].iter().any(|kind| amount(asked, kind) != amount(has, kind))
}

/// Returns the specification of a pod with what its containers have.
fn had(pod: &Object, sandbox: &Sandbox) -> Json {
    let mut spec = pod.stable().get("spec").clone();
    for list in LISTS {
        for container in spec.entry(&[list]).make_array() {
            let name = container.get("name").as_str().unwrap_or_default();
            let own = sandbox.container(name).filter(|own| own.is_running() && !own.resources.is_null());
            if let Some(own) = own {
                container.set(&["resources"], own.resources.clone());
            }
        }
    }
    spec
}

/// Returns the most memory that a pod may use: it has a limit if each of its containers has.
///
/// Source: pkg/kubelet/cm/helpers_linux.go (v1.34), `ResourceConfigForPod`.
fn memory_limit(spec: &Json, level: PodLevel) -> Option<i64> {
    let mut all = LISTS.iter().flat_map(|list| spec.get(list).items());
    let is_limited = all.all(|own| !own.at(&["resources", "limits", "memory"]).is_null());
    is_limited.then(|| pod_resources::limits(spec, level).get("memory"))
}
