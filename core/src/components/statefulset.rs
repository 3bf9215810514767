//! Keeps the pods of a StatefulSet: one for each ordinal, in order, each name used by one pod at a time.
//!
//! Mirrors kube-controller-manager's `statefulset-controller` (pkg/controller/statefulset/{stateful_set,
//! stateful_set_control,stateful_set_utils,stateful_pod_control}.go, v1.34). A pod is created again only when the
//! object of the same name is gone. With `OrderedReady` one pod is changed at a time, and a pod that is being deleted
//! or is not ready blocks all after it. A pod that has ended is deleted. The status describes the pods before the
//! change. Inputs: StatefulSets, Pods, ControllerRevisions, claims, answers, time. Outputs: pods, claims and revisions
//! created, pods deleted, statuses, Events.
//! Left out on purpose: adoption, old revisions beyond the limit, retention of claims.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::client::CacheEvent;
use super::controller::{
    ApiResult, Controller, ControllerConfig, ControllerContext, Flow, KeyedController, KeyedRuntime, Reconciler,
    Retries, Watched, code, failure, object,
};
use super::events::{EventType, InvolvedObject};
use super::volumes::CLAIMS;
use super::workload::pods::{
    Owned, from_template, hash, is_available, labels, number, owner_key, reference_to, set_unless_zero,
};
use super::workload::{REVISIONS, STATEFUL_SETS};
use super::{Because, DecisionId};
use crate::json;
use crate::network::{Call, PODS, Verb};
use crate::objects::lifecycle::{is_ending, is_ready, is_terminal, phase};
use crate::objects::{Json, Object, ObjectKey};

/// `persistentvolumeclaims`.
/// The label that names a pod's revision. Source: k8s.io/api apps/v1/types.go (v1.34),
/// `ControllerRevisionHashLabelKey`.
const REVISION_LABEL: &str = "controller-revision-hash";
/// Tries to write a status while others write it too. Source: k8s.io/client-go util/retry (v1.34), `DefaultBackoff`.
const STATUS_TRIES: u32 = 4;

const SETS: usize = 0;
const PODS_CACHE: usize = 1;
const REVISION_CACHE: usize = 2;
const CLAIM_CACHE: usize = 3;

const CONFIG: ControllerConfig = ControllerConfig {
    queue: "statefulset",
    workers: 5,
    retries: Retries::ENDLESS,
    watched: &[Watched::of(STATEFUL_SETS), Watched::of(PODS), Watched::of(REVISIONS), Watched::of(CLAIMS)],
};

/// Starts the controller with empty caches.
pub(super) fn start(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    let logic = StatefulSets {
        capitalises: context.settings.profile().is("stateful-set-events-capitalised"),
        pods: Owned::default(),
        revisions: Owned::default(),
        work: BTreeMap::new(),
    };
    KeyedController::new(logic, &CONFIG, context, now)
}

/// What a request is for.
#[derive(Clone, Debug)]
enum StatefulSetPurpose {
    Revision,
    /// Make a claim of a name for a pod.
    Claim(String, String),
    Create(String),
    Delete(String),
    Status,
}

/// What comes next.
#[derive(Clone, PartialEq, Eq, Debug)]
enum StatefulSetStage {
    /// Find out the revision of the template.
    Revise,
    /// Make or delete pods.
    Pods,
    /// Write the status.
    Status,
    /// The status is written, or cannot be.
    End(Flow),
}

/// A sync under way.
#[derive(Clone, Debug)]
struct StatefulSetSync {
    set: Object,
    /// The pod of each ordinal; `None` where there is none.
    replicas: Vec<(i64, Option<Object>)>,
    /// Pods of surplus ordinals, by ordinal.
    condemned: Vec<(i64, Object)>,
    update: String,
    current: String,
    stage: StatefulSetStage,
    because: Option<DecisionId>,
    failed: bool,
    tries: u32,
}

/// What the controller knows; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug)]
struct StatefulSets {
    capitalises: bool,
    pods: Owned,
    revisions: Owned,
    work: BTreeMap<ObjectKey, StatefulSetSync>,
}

fn about(set: &Object) -> InvolvedObject {
    InvolvedObject::object("apps/v1", "StatefulSet", set)
}

/// Returns the ordinal at the end of a pod's name.
fn ordinal(set: &Object, pod: &Object) -> Option<i64> {
    let rest = pod.name().strip_prefix(set.name())?.strip_prefix('-')?;
    rest.parse().ok().filter(|number| format!("{number}") == rest)
}

fn revision_of(pod: &Object) -> &str {
    labels(pod).get(REVISION_LABEL).as_str().unwrap_or("")
}

fn is_running_and_ready(pod: &Object) -> bool {
    phase(pod) == "Running" && is_ready(pod)
}

/// Tells whether a set makes and deletes its pods one after the other.
fn is_ordered(set: &Object) -> bool {
    set.stable().at(&["spec", "podManagementPolicy"]).as_str() != Some("Parallel")
}

impl StatefulSets {
    /// Makes the request for a revision of the set's template, unless there is one of it.
    fn revise(
        &self,
        key: &ObjectKey,
        work: &mut StatefulSetSync,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) {
        let template = work.set.stable().at(&["spec", "template"]);
        let mut data = Json::object();
        data.set(&["spec", "template"], template.clone());
        data.set(&["spec", "template", "$patch"], "replace");
        let own: Vec<Object> = self
            .revisions
            .of(work.set.uid())
            .filter_map(|one| runtime.cache(REVISION_CACHE).get(one).cloned())
            .collect();
        let is_same = |revision: &&Object| *revision.stable().get("data") == data;
        let hash = hash(&data);
        let name = own
            .iter()
            .find(is_same)
            .map_or_else(|| format!("{}-{hash}", work.set.name()), |revision| String::from(revision.name()));
        let current = work.set.stable().at(&["status", "currentRevision"]).as_str().unwrap_or("");
        let known = own.iter().any(|revision| revision.name() == current);
        work.current = if known { String::from(current) } else { name.clone() };
        work.stage = StatefulSetStage::Pods;
        if !own.iter().any(|revision| revision.name() == name) {
            let last = own.iter().filter_map(|one| one.stable().get("revision").as_i64()).max().unwrap_or(0);
            let mut revision = json!({"kind": "ControllerRevision", "apiVersion": "apps/v1",
                "metadata": {"name": name.as_str(), "namespace": key.namespace.as_str()}, "revision": last + 1});
            let mut marks = template.at(&["metadata", "labels"]).clone();
            marks.set(&["controller.kubernetes.io/hash"], hash);
            revision.set(&["metadata", "labels"], marks);
            let owner = reference_to(&work.set, "apps/v1", "StatefulSet");
            revision.set(&["metadata", "ownerReferences"], Json::array(Vec::from([owner])));
            revision.set(&["data"], data);
            let call = Call::new(Verb::Create, REVISIONS, &key.namespace, "").body(revision);
            runtime.send(key, StatefulSetPurpose::Revision, call, None, now);
        }
        work.update = name;
    }

    /// Creates, replaces or deletes the next pods.
    fn manage(
        &self,
        key: &ObjectKey,
        work: &mut StatefulSetSync,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) {
        let ordered = is_ordered(&work.set);
        let min_ready = number(&work.set, &["spec", "minReadySeconds"], 0);
        work.stage = StatefulSetStage::Status;
        if is_ending(&work.set) {
            return;
        }
        let mut waits = false;
        for (number, pod) in work.replicas.clone() {
            match pod {
                None => {
                    self.create(key, work, number, runtime, now);
                    waits = true;
                }
                Some(pod) if is_terminal(&pod) => {
                    if !is_ending(&pod) {
                        let fact = format!("Pod {} has ended: {}", pod.name(), phase(&pod));
                        Self::delete(key, work, &pod, fact, runtime, now);
                    }
                    waits = true;
                }
                // The name is taken until the object is gone.
                Some(pod) => {
                    let is_up = is_running_and_ready(&pod) && is_available(&pod, min_ready, now);
                    waits |= ordered && (is_ending(&pod) || !is_up);
                }
            }
            if waits && ordered {
                return;
            }
        }
        if !waits && !self.scale_down(key, work, ordered, runtime, now) {
            Self::roll(key, work, runtime, now);
        }
    }

    /// Deletes pods of surplus ordinals, the highest first; tells whether there were any.
    fn scale_down(
        &self,
        key: &ObjectKey,
        work: &mut StatefulSetSync,
        ordered: bool,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) -> bool {
        let wanted = work.replicas.len();
        let unhealthy = |pod: &Object| !is_running_and_ready(pod) || is_ending(pod);
        let first_unhealthy = work.condemned.iter().find(|(_, pod)| unhealthy(pod)).map(|(number, _)| *number);
        let condemned: Vec<(i64, Object)> = work.condemned.iter().rev().cloned().collect();
        for (number, pod) in &condemned {
            if is_ending(pod) {
                if ordered {
                    return true;
                }
                continue;
            }
            if ordered && !is_running_and_ready(pod) && first_unhealthy != Some(*number) {
                return true;
            }
            let fact = format!("ordinal {number} is too much: spec.replicas is {wanted}");
            Self::delete(key, work, pod, fact, runtime, now);
            if ordered {
                return true;
            }
        }
        !condemned.is_empty()
    }

    /// Deletes the last pod of an old revision, if all after it are healthy.
    fn roll(
        key: &ObjectKey,
        work: &mut StatefulSetSync,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) {
        let strategy = work.set.stable().at(&["spec", "updateStrategy"]);
        if strategy.get("type").as_str() == Some("OnDelete") {
            return;
        }
        let partition = strategy.at(&["rollingUpdate", "partition"]).as_i64().unwrap_or(0);
        let pods: Vec<Object> = work
            .replicas
            .iter()
            .rev()
            .filter(|(number, _)| *number >= partition)
            .filter_map(|(_, pod)| pod.clone())
            .collect();
        for pod in pods {
            if revision_of(&pod) != work.update && !is_ending(&pod) {
                let fact = format!("its revision is {}, and the template's {}", revision_of(&pod), work.update);
                Self::delete(key, work, &pod, fact, runtime, now);
                return;
            }
            if !is_running_and_ready(&pod) || is_ending(&pod) {
                return;
            }
        }
    }

    fn create(
        &self,
        key: &ObjectKey,
        work: &mut StatefulSetSync,
        number: i64,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) {
        let set = &work.set;
        let name = format!("{}-{number}", set.name());
        let partition = set.stable().at(&["spec", "updateStrategy", "rollingUpdate", "partition"]).as_i64();
        let is_current = work.current != work.update && number < partition.unwrap_or(0);
        let revision = if is_current { &work.current } else { &work.update };
        let mut pod = from_template(set, "apps/v1", "StatefulSet");
        pod.set(&["metadata", "name"], name.as_str());
        for (label, value) in [
            ("statefulset.kubernetes.io/pod-name", name.as_str()),
            ("apps.kubernetes.io/pod-index", &format!("{number}")),
            (REVISION_LABEL, revision),
        ] {
            pod.set(&["metadata", "labels", label], value);
        }
        pod.set(&["spec", "hostname"], name.as_str());
        let service = set.stable().at(&["spec", "serviceName"]);
        if !service.is_empty() {
            pod.set(&["spec", "subdomain"], service.clone());
        }
        let fact = format!("there is no Pod {name}");
        let what = format!("create Pod {name}");
        let because = runtime.decide(format!("statefulset/{key}"), what, Vec::from([Because::Fact(fact)]));
        work.because = Some(because);
        for template in set.stable().at(&["spec", "volumeClaimTemplates"]).items() {
            let volume = template.at(&["metadata", "name"]).as_str().unwrap_or("");
            let claim = format!("{volume}-{name}");
            let volumes = pod.entry(&["spec", "volumes"]).make_array();
            volumes.retain(|other| other.get("name").as_str() != Some(volume));
            volumes.push(json!({"name": volume, "persistentVolumeClaim": {"claimName": claim.as_str()}}));
            let claim_key = ObjectKey::namespaced(key.namespace.clone(), claim.as_str());
            if runtime.cache(CLAIM_CACHE).get(&claim_key).is_none() {
                let mut body = json!({"kind": "PersistentVolumeClaim", "apiVersion": "v1"});
                body.set(&["metadata"], template.get("metadata").clone());
                body.set(&["metadata", "name"], claim.as_str());
                body.set(&["metadata", "namespace"], &key.namespace);
                let marks = set.stable().at(&["spec", "selector", "matchLabels"]).fields();
                for (label, value) in marks {
                    body.set(&["metadata", "labels", label], value.clone());
                }
                body.set(&["spec"], template.get("spec").clone());
                let call = Call::new(Verb::Create, CLAIMS, &key.namespace, "").body(body);
                runtime.send(key, StatefulSetPurpose::Claim(claim, name.clone()), call, Some(because), now);
            }
        }
        let call = Call::new(Verb::Create, PODS, &key.namespace, "").body(pod);
        runtime.send(key, StatefulSetPurpose::Create(name), call, Some(because), now);
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

    /// Emits the Event about a change of a pod.
    fn tell(
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

    fn status(work: &StatefulSetSync, now: Timestamp) -> Json {
        let set = &work.set;
        let min_ready = number(set, &["spec", "minReadySeconds"], 0);
        let pods: Vec<&Object> = work
            .replicas
            .iter()
            .filter_map(|(_, pod)| pod.as_ref())
            .chain(work.condemned.iter().map(|(_, pod)| pod))
            .collect();
        let count =
            |is: &dyn Fn(&Object) -> bool| i64::try_from(pods.iter().filter(|pod| is(pod)).count()).unwrap_or(i64::MAX);
        let replicas = count(&|_| true);
        let ready = count(&is_running_and_ready);
        let available = count(&|pod| is_running_and_ready(pod) && is_available(pod, min_ready, now));
        let mut current = count(&|pod| !is_ending(pod) && revision_of(pod) == work.current);
        let updated = count(&|pod| !is_ending(pod) && revision_of(pod) == work.update);
        let mut current_revision = work.current.as_str();
        let rolls = set.stable().at(&["spec", "updateStrategy", "type"]).as_str() != Some("OnDelete");
        if rolls && updated == replicas && ready == replicas {
            current = updated;
            current_revision = work.update.as_str();
        }
        let mut status =
            json!({"observedGeneration": number(set, &["metadata", "generation"], 0), "replicas": replicas});
        set_unless_zero(&mut status, &["readyReplicas"], ready);
        set_unless_zero(&mut status, &["currentReplicas"], current);
        set_unless_zero(&mut status, &["updatedReplicas"], updated);
        status.set(&["currentRevision"], current_revision);
        status.set(&["updateRevision"], work.update.as_str());
        status.set(&["collisionCount"], number(set, &["status", "collisionCount"], 0));
        status.set(&["availableReplicas"], available);
        status
    }
}

impl Reconciler for StatefulSets {
    type Purpose = StatefulSetPurpose;

    fn handle_event(
        &mut self,
        source: usize,
        event: &CacheEvent,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) {
        match source {
            SETS => runtime.add(event.object().key()),
            PODS_CACHE => {
                self.pods.update(event);
                let pod = event.object();
                let Some((key, uid)) = owner_key(pod, "StatefulSet") else { return };
                let Some(set) = runtime.cache(SETS).get(&key).filter(|set| set.uid() == &*uid) else { return };
                let min_ready = number(set, &["spec", "minReadySeconds"], 0);
                if min_ready > 0 && event.after.as_ref().is_some_and(is_ready) {
                    runtime.add_after(key.clone(), SignedDuration::from_secs(min_ready + 1), now);
                }
                runtime.add(key);
            }
            REVISION_CACHE => self.revisions.update(event),
            _ => {}
        }
    }

    fn sync(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<StatefulSetPurpose>, _now: Timestamp) -> Flow {
        let Some(set) = runtime.cache(SETS).get(key).cloned() else { return Flow::Done };
        let wanted = number(&set, &["spec", "replicas"], 1);
        let first = number(&set, &["spec", "ordinals", "start"], 0);
        let mut replicas: Vec<(i64, Option<Object>)> =
            (first..first.saturating_add(wanted.clamp(0, 100_000))).map(|number| (number, None)).collect();
        let mut condemned = Vec::new();
        for pod in self.pods.of(set.uid()).filter_map(|pod| runtime.cache(PODS_CACHE).get(pod)) {
            let Some(number) = ordinal(&set, pod) else { continue };
            match usize::try_from(number - first).ok().and_then(|at| replicas.get_mut(at)) {
                Some((_, place)) => *place = Some(pod.clone()),
                None => condemned.push((number, pod.clone())),
            }
        }
        condemned.sort_by_key(|(number, _)| *number);
        let work = StatefulSetSync {
            set,
            replicas,
            condemned,
            update: String::new(),
            current: String::new(),
            stage: StatefulSetStage::Revise,
            because: None,
            failed: false,
            tries: 0,
        };
        self.work.insert(key.clone(), work);
        Flow::Next
    }

    fn handle_reply(
        &mut self,
        key: &ObjectKey,
        step: StatefulSetPurpose,
        reply: &ApiResult,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) -> Flow {
        let Some(mut work) = self.work.remove(key) else { return Flow::Next };
        let error = failure(reply);
        let error = error.as_deref();
        match step {
            // Another writer created it: the next sync finds it.
            StatefulSetPurpose::Revision if error.is_some() => work.stage = StatefulSetStage::End(Flow::Retry),
            StatefulSetPurpose::Revision => {
                if let Some(made) = object(reply) {
                    if work.current == work.update {
                        work.current = String::from(made.name());
                    }
                    work.update = String::from(made.name());
                }
            }
            StatefulSetPurpose::Claim(claim, pod) => {
                self.tell(&work, "create", &format!("Claim {claim} Pod {pod}"), error, runtime, now);
                work.failed |= error.is_some();
            }
            StatefulSetPurpose::Create(pod) => {
                // The pod exists already; the cache has not seen it yet.
                if code(reply) != 409 {
                    self.tell(&work, "create", &format!("Pod {pod}"), error, runtime, now);
                }
                work.failed |= error.is_some();
            }
            StatefulSetPurpose::Delete(pod) => {
                self.tell(&work, "delete", &format!("Pod {pod}"), error, runtime, now);
                work.failed |= error.is_some();
            }
            StatefulSetPurpose::Status if error.is_none() => {
                work.stage = StatefulSetStage::End(if work.failed { Flow::Retry } else { Flow::Done });
            }
            // After a conflict the write is retried with the cached object.
            StatefulSetPurpose::Status if code(reply) == 409 && work.tries < STATUS_TRIES => {
                if let Some(set) = runtime.cache(SETS).get(key) {
                    work.set = set.clone();
                }
            }
            StatefulSetPurpose::Status => work.stage = StatefulSetStage::End(Flow::Retry),
        }
        self.work.insert(key.clone(), work);
        Flow::Next
    }

    fn proceed(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<StatefulSetPurpose>, now: Timestamp) -> Flow {
        let Some(mut work) = self.work.remove(key) else { return Flow::Done };
        match work.stage.clone() {
            StatefulSetStage::Revise => self.revise(key, &mut work, runtime, now),
            StatefulSetStage::Pods => self.manage(key, &mut work, runtime, now),
            StatefulSetStage::Status => {
                let status = Self::status(&work, now);
                if same_status(&status, work.set.stable().get("status")) {
                    return if work.failed { Flow::Retry } else { Flow::Done };
                }
                let mut body = work.set.json();
                body.set(&["status"], status);
                let call =
                    Call::new(Verb::Update, STATEFUL_SETS, &key.namespace, &key.name).subresource("status").body(body);
                work.tries += 1;
                runtime.send(key, StatefulSetPurpose::Status, call, work.because, now);
            }
            StatefulSetStage::End(flow) => return flow,
        }
        self.work.insert(key.clone(), work);
        Flow::Next
    }
}

/// Tells whether two statuses are the same. Source: stateful_set_utils.go (v1.34), `inconsistentStatus`.
fn same_status(new: &Json, old: &Json) -> bool {
    let number = |status: &Json, field: &str| status.get(field).as_i64().unwrap_or(0);
    let counts = ["replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];
    number(new, "observedGeneration") <= number(old, "observedGeneration")
        && counts.iter().all(|field| number(new, field) == number(old, field))
        && ["currentRevision", "updateRevision"].iter().all(|field| new.get(field) == old.get(field))
}

#[cfg(test)]
mod tests {
    use super::{ordinal, same_status};
    use crate::json;
    use crate::objects::Object;

    #[test]
    fn an_ordinal_is_a_number_in_its_shortest_form() {
        let named = |name: &str| Object::new(json!({"metadata": {"name": name}}), 1);
        let cases = [("db-0", Some(0)), ("db-12", Some(12)), ("db-01", None), ("db-x", None), ("web-1", None)];
        for (name, expected) in cases {
            assert_eq!(ordinal(&named("db"), &named(name)), expected, "{name}");
        }
    }

    #[test]
    fn a_status_is_the_same_when_its_counts_and_revisions_are() {
        let old = json!({"observedGeneration": 1, "replicas": 3, "currentRevision": "a"});
        assert!(same_status(
            &json!({"observedGeneration": 1, "replicas": 3, "readyReplicas": 0, "currentRevision": "a"}),
            &old
        ));
        assert!(!same_status(&json!({"observedGeneration": 2, "replicas": 3, "currentRevision": "a"}), &old));
    }
}
