//! Which nodes lack a pod of a DaemonSet, and which pods are too many or have ended.
//!
//! Mirrors `manage` and `podsShouldBeOnNode` (pkg/controller/daemon/daemon_controller.go, v1.34). Inputs: the set, its
//! pods by node. Outputs: nodes that get a pod, pods to delete, Events; when to look again at a pod that failed.

use alloc::format;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::nodes::verdict;
use super::revisions::hash_of;
use super::rolling::allows_surge;
use super::{BURST, DaemonSetPurpose, DaemonSetSync, DaemonSets, NODE_CACHE, PODS_CACHE, about, age};
use crate::components::Because;
use crate::components::client::node_name;
use crate::components::controller::KeyedRuntime;
use crate::components::events::EventType;
use crate::components::workload::pods::{is_available, number};
use crate::objects::lifecycle::{is_ending, is_ready, phase};
use crate::objects::{Object, ObjectKey, Text};

/// First pause before a failed pod is deleted, doubled with each one up to [`BACKOFF_MAX`].
/// Source: cmd/kube-controller-manager/app/apps.go (v1.34), `flowcontrol.NewBackOff(1*time.Second, 15*time.Minute)`.
const BACKOFF_FIRST: SignedDuration = SignedDuration::from_secs(1);
/// Longest pause before a failed pod is deleted. Source: as [`BACKOFF_FIRST`].
const BACKOFF_MAX: SignedDuration = SignedDuration::from_mins(15);

/// The back-off for failed pods of a node.
#[derive(Clone, Debug)]
pub(super) struct Backoff {
    pause: SignedDuration,
    last: Timestamp,
}

impl DaemonSets {
    /// Finds the nodes that lack a pod, and the surplus pods.
    pub(super) fn manage(
        &mut self,
        key: &ObjectKey,
        work: &mut DaemonSetSync,
        runtime: &mut KeyedRuntime<DaemonSetPurpose>,
        now: Timestamp,
    ) {
        let census = self.census(work, runtime, now);
        let due: Vec<(Text, Vec<Object>)> = census
            .due()
            .into_iter()
            .map(|name| {
                let pods = census.pods_on(&name, runtime.cache(PODS_CACHE).cache()).cloned().collect();
                (name, pods)
            })
            .collect();
        let (mut missing, mut gone) = (Vec::new(), Vec::new());
        for (name, pods) in due {
            let Some(node) = runtime.cache(NODE_CACHE).cache().get("", &name) else {
                gone.extend(pods);
                continue;
            };
            let verdict = verdict(&work.set, node);
            if pods.is_empty() {
                missing.push(name);
            } else if verdict.should_stay {
                let (surplus, is_lonely) = self.surplus(key, work, &name, &pods, runtime, now);
                work.doomed.extend(surplus);
                if is_lonely && verdict.should_run {
                    missing.push(name);
                }
            } else {
                work.doomed.extend(pods.into_iter().filter(|pod| !is_ending(pod)));
            }
        }
        // Unbound pods for a node that is gone, also those that are being deleted already: where a finalizer keeps such
        // a pod, its deletion is expected in vain. Source: daemon_controller.go (v1.34),
        // `getUnscheduledPodsWithoutNode`.
        work.doomed.extend(gone.into_iter().filter(|pod| node_name(pod).is_none()));
        work.why = "its node does not fit, or it is one too many or has ended";
        if !missing.is_empty() {
            let count = missing.len().min(BURST);
            let fact = format!("{count} nodes lack a pod: {}", missing[..count].join(", "));
            let what = format!("create {count} pods");
            work.because = Some(runtime.decide(format!("daemonset/{key}"), what, Vec::from([Because::Fact(fact)])));
        }
        self.begin_changes(key, work, missing, now);
    }

    /// Returns the pods to delete on a node that keeps its pod: those that have ended, and all but the oldest. Tells
    /// whether a pod is missing although others have ended or are being deleted, as an update that surges has it.
    fn surplus(
        &mut self,
        key: &ObjectKey,
        work: &DaemonSetSync,
        node: &Text,
        pods: &[Object],
        runtime: &mut KeyedRuntime<DaemonSetPurpose>,
        now: Timestamp,
    ) -> (Vec<Object>, bool) {
        let mut doomed = Vec::new();
        let mut running: Vec<&Object> = Vec::new();
        for pod in pods.iter().filter(|pod| !is_ending(pod)) {
            let named = format!("{} on node {node}, will try to", pod.key());
            match phase(pod) {
                "Failed" => {
                    if let Some(wait) = self.backs_off(&work.set, node, now) {
                        runtime.add_after(key.clone(), wait, now);
                        continue;
                    }
                    let message = format!("Found failed daemon pod {named} kill it");
                    runtime.emit(&about(&work.set), EventType::Warning, "FailedDaemonPod", &message, now);
                    doomed.push(pod.clone());
                }
                "Succeeded" => {
                    let message = format!("Found succeeded daemon pod {named} delete it");
                    runtime.emit(&about(&work.set), EventType::Normal, "SucceededDaemonPod", &message, now);
                    doomed.push(pod.clone());
                }
                _ => running.push(pod),
            }
        }
        running.sort_by_cached_key(|pod| age(pod));
        if !allows_surge(&work.set) {
            doomed.extend(running.into_iter().skip(1).cloned());
            return (doomed, false);
        }
        let is_lonely = running.is_empty();
        let (new, old): (Vec<&Object>, Vec<&Object>) = running.into_iter().partition(|pod| hash_of(pod) == work.hash);
        let min_ready = number(&work.set, &["spec", "minReadySeconds"], 0);
        doomed.extend(new.iter().skip(1).chain(old.iter().skip(1)).map(|pod| (*pod).clone()));
        if let (Some(new), Some(old)) = (new.first(), old.first())
            && (!is_ready(old) || is_available(new, min_ready, now))
        {
            doomed.push((*old).clone());
        }
        (doomed, is_lonely)
    }

    /// Returns after which pause to look again at a failed pod that has to stay; `None` if it may be deleted now. Then
    /// the next pause is longer. Upstream waits for the whole pause, whenever that began.
    fn backs_off(&mut self, set: &Object, node: &Text, now: Timestamp) -> Option<SignedDuration> {
        let key = (Text::from(set.uid()), number(set, &["status", "observedGeneration"], 0), node.clone());
        if let Some(backoff) = self.failing.get_mut(&key) {
            let since = now.duration_since(backoff.last);
            if since < backoff.pause {
                return Some(backoff.pause);
            }
            // After a long time without failures the first pause applies again.
            let is_quiet = since > BACKOFF_MAX * 2;
            backoff.pause = if is_quiet { BACKOFF_FIRST } else { (backoff.pause * 2).min(BACKOFF_MAX) };
            backoff.last = now;
        } else {
            self.failing.insert(key, Backoff { pause: BACKOFF_FIRST, last: now });
        }
        None
    }
}
