//! The pods of a StatefulSet: which one is made, changed or deleted next.
//!
//! Mirrors `updateStatefulSet`, `processReplica` and `processCondemned` of
//! pkg/controller/statefulset/stateful_set_control.go, and stateful_set_utils.go beside it (v1.34). Inputs: the pods of
//! a sync, claims. Outputs: pods and claims created, pods deleted and put right.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::{
    AfterClaims, REVISION_LABEL, StatefulSetPurpose, StatefulSetStage, StatefulSetSync, StatefulSets, about,
    is_ordered, is_rolling, is_running_and_ready, labels, min_ready, ordinal, revision_of,
};
use crate::components::Because;
use crate::components::controller::KeyedRuntime;
use crate::components::events::EventType;
use crate::components::workload::pods::{Rounding, is_available, next_look, number, pod_of, scaled};
use crate::json;
use crate::network::{Call, PODS, Verb};
use crate::objects::lifecycle::{is_ending, is_terminal, phase};
use crate::objects::{Json, Object, ObjectKey};

/// The label with a pod's own name. Source: k8s.io/api apps/v1/types.go (v1.34), `StatefulSetPodNameLabel`.
const NAME_LABEL: &str = "statefulset.kubernetes.io/pod-name";
/// The label with a pod's ordinal. Source: k8s.io/api apps/v1/types.go (v1.34), `PodIndexLabel`.
const INDEX_LABEL: &str = "apps.kubernetes.io/pod-index";

/// What was done for the pod of one ordinal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ReplicaProgress {
    /// It is as it should be.
    Settled,
    /// The pods after it have to wait, if the set keeps an order.
    Blocks,
    /// Its claims are made first; then it is looked at again.
    AwaitsClaims,
}

/// Labels a pod with its name and ordinal.
fn identify(pod: &mut Json, name: &str, number: i64) {
    pod.set(&["metadata", "labels", NAME_LABEL], name);
    pod.set(&["metadata", "labels", INDEX_LABEL], format!("{number}"));
}

impl StatefulSetSync {
    /// Returns the pods that the set has, if they are sorted already.
    pub(super) fn all_pods(&self) -> Vec<&Object> {
        if is_ending(&self.set) {
            return self.pods.iter().collect();
        }
        let replicas = self.replicas.iter().filter_map(|(_, pod)| pod.as_ref());
        replicas.chain(self.condemned.iter().map(|(_, pod)| pod)).collect()
    }
}

impl StatefulSets {
    /// Creates, replaces or deletes the next pods.
    pub(super) fn manage(
        &self,
        key: &ObjectKey,
        work: &mut StatefulSetSync,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) {
        work.stage = StatefulSetStage::Status;
        if is_ending(&work.set) {
            return;
        }
        let ordered = is_ordered(&work.set);
        let waits = if ordered {
            self.go_in_order(key, work, runtime, now)
        } else {
            self.start_slowly(key, work, runtime, now)
        };
        if waits || work.failed {
            return;
        }
        for (_, pod) in work.condemned.clone().into_iter().rev() {
            if !self.has_right_claims(key, work, &pod, runtime)
                && self.keep_claims(key, work, (pod, AfterClaims::Untold), runtime, now)
            {
                work.stage = StatefulSetStage::Pods;
            }
        }
        if work.stage == StatefulSetStage::Pods {
            return;
        }
        if !(self.scale_down(key, work, runtime, now) && ordered) {
            self.roll(key, work, runtime, now);
        }
    }

    /// Looks at one pod after the other until one blocks; tells whether one did.
    fn go_in_order(
        &self,
        key: &ObjectKey,
        work: &mut StatefulSetSync,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) -> bool {
        for (number, pod) in work.replicas.clone() {
            if work.settled.contains(&number) {
                continue;
            }
            let progress = self.process(key, work, (number, pod.as_ref()), runtime, now);
            if progress == ReplicaProgress::AwaitsClaims {
                work.stage = StatefulSetStage::Pods;
                return true;
            }
            work.settled.insert(number);
            if progress == ReplicaProgress::Blocks {
                work.stage = StatefulSetStage::Status;
                return true;
            }
        }
        false
    }

    /// Looks at the next batch of pods, which is twice as large as the one before: after a failure none follows. False
    /// if there is none left.
    ///
    /// Source: stateful_set_control.go (v1.34), `runForAll` and `slowStartBatch`.
    fn start_slowly(
        &self,
        key: &ObjectKey,
        work: &mut StatefulSetSync,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) -> bool {
        let is_open = |work: &StatefulSetSync, at: usize| !work.settled.contains(&work.replicas[at].0);
        let all = work.replicas.len();
        if !(0..work.reach.min(all)).any(|at| is_open(work, at)) {
            if work.failed || work.reach >= all {
                return false;
            }
            work.reach = work.reach * 2 + 1;
        }
        for at in 0..work.reach.min(all) {
            if is_open(work, at) {
                let (number, pod) = work.replicas[at].clone();
                let progress = self.process(key, work, (number, pod.as_ref()), runtime, now);
                if progress != ReplicaProgress::AwaitsClaims {
                    work.settled.insert(number);
                }
            }
        }
        work.stage = StatefulSetStage::Pods;
        true
    }

    fn process(
        &self,
        key: &ObjectKey,
        work: &mut StatefulSetSync,
        (number, pod): (i64, Option<&Object>),
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) -> ReplicaProgress {
        let name = format!("{}-{number}", work.set.name());
        let Some(pod) = pod else { return self.create(key, work, (number, &name), runtime, now) };
        if is_terminal(pod) {
            if !is_ending(pod) {
                let fact = format!("Pod {name} has ended: {}", phase(pod));
                Self::delete(key, work, pod, fact, runtime, now);
            }
            return ReplicaProgress::Blocks;
        }
        if phase(pod) == "Pending" {
            if self.make_claims(key, work, &name, runtime, now) {
                return ReplicaProgress::AwaitsClaims;
            }
            if self.claim_error(key, work, &name, runtime).is_some() {
                // A claim that is being deleted is made anew when it is gone.
                work.failed = true;
                return ReplicaProgress::Blocks;
            }
            if self.keep_claims(key, work, (pod.clone(), AfterClaims::Told), runtime, now) {
                return ReplicaProgress::AwaitsClaims;
            }
        }
        // The name is taken until the object is gone.
        let is_up = !is_ending(pod) && is_running_and_ready(pod) && is_available(pod, min_ready(&work.set), now);
        if is_ordered(&work.set) && !is_up {
            return ReplicaProgress::Blocks;
        }
        let is_named = labels(pod).get(NAME_LABEL).as_str() == Some(&name);
        if !self.has_right_claims(key, work, pod, runtime) {
            self.keep_claims(key, work, (pod.clone(), AfterClaims::Update), runtime, now);
        } else if !is_named {
            Self::update(key, work, pod, runtime, now);
        }
        ReplicaProgress::Settled
    }

    /// Updates a pod, also if nothing but its claims was wrong, as upstream.
    pub(super) fn update(
        key: &ObjectKey,
        work: &StatefulSetSync,
        pod: &Object,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) {
        let mut body = pod.json();
        if let Some(number) = ordinal(&work.set, pod) {
            identify(&mut body, pod.name(), number);
        }
        let call = Call::new(Verb::Update, PODS, &key.namespace, pod.name()).body(body);
        runtime.send(key, StatefulSetPurpose::Update(String::from(pod.name())), call, work.because, now);
    }

    /// Deletes pods of surplus ordinals, the highest first; tells whether there were any.
    fn scale_down(
        &self,
        key: &ObjectKey,
        work: &mut StatefulSetSync,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) -> bool {
        let (wanted, ordered) = (work.replicas.len(), is_ordered(&work.set));
        let pause = min_ready(&work.set);
        let is_down = |pod: &Object| !self.is_healthy(pod, pause, now);
        let first_down = work.condemned.iter().find(|(_, pod)| is_down(pod)).map(|(number, _)| *number);
        let condemned: Vec<(i64, Object)> = work.condemned.iter().rev().cloned().collect();
        for (number, pod) in &condemned {
            if is_ending(pod) {
                if ordered {
                    return true;
                }
                continue;
            }
            let is_up = is_running_and_ready(pod) && is_available(pod, pause, now);
            if ordered && !is_up && first_down != Some(*number) {
                return true;
            }
            let fact = format!("ordinal {number} is too much: spec.replicas is {wanted}");
            Self::delete(key, work, pod, fact, runtime, now);
            if ordered {
                return true;
            }
        }
        false
    }

    /// Returns when the set looks again at pods that are ready and not yet available.
    ///
    /// Source: stateful_set.go (v1.34, v1.35), the end of `syncStatefulSet`.
    pub(super) fn next_look(&self, work: &StatefulSetSync, status: &Json, now: Timestamp) -> Option<SignedDuration> {
        let set = &work.set;
        if self.plans_availability {
            let pods: Vec<Object> = work.all_pods().into_iter().cloned().collect();
            return next_look(status, (set, &pods), true, now);
        }
        let whole = min_ready(set);
        let is_over = status.get("availableReplicas").as_i64() == Some(number(set, &["spec", "replicas"], 1));
        (whole > 0 && !is_over).then(|| SignedDuration::from_secs(whole))
    }

    /// Tells whether a pod is one that the next change need not wait for. One that has ended and was Ready to the end
    /// is available, since that asks for no phase.
    ///
    /// Source: stateful_set_utils.go (v1.33 `isHealthy`, v1.34 `isUnavailable`).
    fn is_healthy(&self, pod: &Object, min_ready: i64, now: Timestamp) -> bool {
        let is_up =
            if self.waits_for_available { is_available(pod, min_ready, now) } else { is_running_and_ready(pod) };
        is_up && !is_ending(pod)
    }

    /// Deletes the last pod of an old revision, if all after it are healthy, or several.
    ///
    /// Source: stateful_set_control.go (v1.34, v1.37), `updateStatefulSetAfterInvariantEstablished`.
    fn roll(
        &self,
        key: &ObjectKey,
        work: &mut StatefulSetSync,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) {
        if !is_rolling(&work.set) {
            return;
        }
        let partition = number(&work.set, &["spec", "updateStrategy", "rollingUpdate", "partition"], 0);
        let kept = usize::try_from(partition).unwrap_or(0);
        let pods: Vec<Option<Object>> = work.replicas.iter().skip(kept).rev().map(|(_, pod)| pod.clone()).collect();
        let mut left = if self.rolls_several { self.may_go(work, now) } else { 1 };
        if self.rolls_several && self.replaces_unavailable_first && !is_ordered(&work.set) {
            let old = |pod: &Object| revision_of(pod) != work.update.name && !is_ending(pod);
            let is_up = |pod: &Object| is_available(pod, min_ready(&work.set), now);
            let old: Vec<Object> = pods.into_iter().flatten().filter(old).collect();
            let (up, down): (Vec<Object>, Vec<Object>) = old.into_iter().partition(is_up);
            let may_go = usize::try_from(left).unwrap_or(0);
            for pod in down.iter().chain(up.iter().take(may_go)) {
                Self::replace(key, work, pod, runtime, now);
            }
            return;
        }
        for pod in pods {
            if left <= 0 {
                return;
            }
            match pod {
                Some(pod) if revision_of(&pod) != work.update.name && !is_ending(&pod) => {
                    Self::replace(key, work, &pod, runtime, now);
                    left -= 1;
                }
                Some(pod) if self.is_healthy(&pod, min_ready(&work.set), now) => {}
                _ if self.rolls_several => {}
                _ => return,
            }
        }
    }

    /// Deletes a pod of an old revision, to be made anew.
    fn replace(
        key: &ObjectKey,
        work: &mut StatefulSetSync,
        pod: &Object,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) {
        let fact = format!("its revision is {}, and the template's {}", revision_of(pod), work.update.name);
        work.rolled += 1;
        Self::delete(key, work, pod, fact, runtime, now);
    }

    /// Returns how many pods may go now, if several may: as many as may be unavailable, without those that are.
    ///
    /// Source: stateful_set_control.go (v1.34), `updateStatefulSetAfterInvariantEstablished`.
    fn may_go(&self, work: &StatefulSetSync, now: Timestamp) -> i64 {
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let most = work.set.stable().at(&["spec", "updateStrategy", "rollingUpdate", "maxUnavailable"]);
        let most = scaled(most, "1", count(work.replicas.len()), Rounding::Down).max(1);
        let is_up = |pod: &Object| self.is_healthy(pod, min_ready(&work.set), now);
        let down = work.replicas.iter().filter(|(_, pod)| !pod.as_ref().is_some_and(is_up)).count();
        most - count(down)
    }

    /// Creates a pod, after its claims.
    fn create(
        &self,
        key: &ObjectKey,
        work: &mut StatefulSetSync,
        (number, name): (i64, &str),
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) -> ReplicaProgress {
        if self.has_stale_claim(key, work, name, runtime) {
            return ReplicaProgress::Blocks;
        }
        if work.because.is_none() {
            let fact = Vec::from([Because::Fact(format!("there is no Pod {name}"))]);
            let what = format!("create Pod {name}");
            work.because = Some(runtime.decide(format!("statefulset/{key}"), what, fact));
        }
        if self.make_claims(key, work, name, runtime, now) {
            return ReplicaProgress::AwaitsClaims;
        }
        if let Some(error) = self.claim_error(key, work, name, runtime) {
            self.tell(work, "create", &format!("Pod {name}"), Some(&error), runtime, now);
            work.failed = true;
            return ReplicaProgress::Blocks;
        }
        let pod = Self::new_pod(work, number, name);
        let because = work.because.take();
        let call = Call::new(Verb::Create, PODS, &key.namespace, "").body(pod.clone());
        runtime.send(key, StatefulSetPurpose::Create(Object::new(pod, 0)), call, because, now);
        work.because = because;
        ReplicaProgress::Blocks
    }

    /// Makes the pod of an ordinal: of the current revision below the partition, of the new one from there on.
    ///
    /// Source: stateful_set_utils.go (v1.34), `newVersionedStatefulSetPod` and `initIdentity`.
    fn new_pod(work: &StatefulSetSync, number: i64, name: &str) -> Json {
        let set = &work.set;
        let first = self::number(set, &["spec", "ordinals", "start"], 0);
        let partition = self::number(set, &["spec", "updateStrategy", "rollingUpdate", "partition"], 0);
        let is_current = is_rolling(set) && number < first + partition;
        let revision = if is_current { &work.current } else { &work.update };
        let mut pod = pod_of(set, &revision.template, "apps/v1", "StatefulSet");
        pod.set(&["metadata", "name"], name);
        identify(&mut pod, name, number);
        pod.set(&["metadata", "labels", REVISION_LABEL], revision.name.as_str());
        pod.set(&["spec", "hostname"], name);
        let service = set.stable().at(&["spec", "serviceName"]);
        if !service.is_empty() {
            pod.set(&["spec", "subdomain"], service.clone());
        }
        for template in set.stable().at(&["spec", "volumeClaimTemplates"]).items() {
            let volume = template.at(&["metadata", "name"]).as_str().unwrap_or("");
            let volumes = pod.entry(&["spec", "volumes"]).make_array();
            volumes.retain(|other| other.get("name").as_str() != Some(volume));
            let claim = format!("{volume}-{name}");
            volumes.push(json!({"name": volume, "persistentVolumeClaim": {"claimName": claim}}));
        }
        pod
    }

    /// Emits the Event about a change of a pod.
    pub(super) fn tell(
        &self,
        work: &StatefulSetSync,
        verb: &str,
        object: &str,
        error: Option<&str>,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) {
        let mut word = String::from(verb);
        let past = match verb {
            "create" => "Create",
            "update" => "Update",
            _ => "Delete",
        };
        if self.capitalises {
            word = String::from(past);
        }
        let set = work.set.name();
        let ends_shorter = object.starts_with("Claim");
        let (kind, reason, message) = match error {
            None if ends_shorter => {
                (EventType::Normal, "Successful", format!("{word} {object} in StatefulSet {set} success"))
            }
            None => (EventType::Normal, "Successful", format!("{word} {object} in StatefulSet {set} successful")),
            Some(error) => {
                (EventType::Warning, "Failed", format!("{word} {object} in StatefulSet {set} failed error: {error}"))
            }
        };
        runtime.emit(&about(&work.set), kind, &format!("{reason}{past}"), &message, now);
    }

    fn delete(
        key: &ObjectKey,
        work: &mut StatefulSetSync,
        pod: &Object,
        fact: String,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) {
        let because = runtime.decide(format!("pod/{}", pod.key()), "delete", Vec::from([Because::Fact(fact)]));
        work.because = Some(because);
        let options = json!({"kind": "DeleteOptions", "apiVersion": "v1"});
        let call = Call::new(Verb::Delete, PODS, &key.namespace, pod.name()).body(options);
        runtime.send(key, StatefulSetPurpose::Delete(String::from(pod.name())), call, Some(because), now);
    }
}
