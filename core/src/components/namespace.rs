//! Empties namespaces that are being deleted, and lets them go.
//!
//! Mirrors kube-controller-manager's `namespace-controller` (pkg/controller/namespace/namespace_controller.go and
//! deletion/namespaced_resources_deleter.go, v1.34). Five seconds after a namespace is found to be going, all that is in
//! it is deleted kind by kind, its Pods first where the release says so; what remains is counted, told in conditions,
//! and looked at again after half of the longest grace. Nothing left: `spec.finalizers` is emptied, and it is gone.
//! Inputs: Namespaces, answers, time. Outputs: reads, deletions of collections, updates of `status` and `finalize`.
//! Left out on purpose: discovery, whose result is the table of kinds; upstream goes through the kinds in no order.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::client::{CacheEvent, Client, Outcome, Reflector, WorkQueue};
use super::controller::{Context, Controller};
use super::{Because, Component, Deadline, DecisionId, Outbox, Output, earliest};
use crate::json;
use crate::network::{
    Answer, Call, Identity, NAMESPACES, PODS, RequestId, Resource, ToClient, TransportError, Verb, collections,
};
use crate::objects::lifecycle::is_terminal;
use crate::objects::{Json, Object, Text, time};

/// How long a namespace is left alone, so that all API servers know that it is going. Source: namespace_controller.go
/// (v1.34), `namespaceDeletionGracePeriod`.
const PAUSE: SignedDuration = SignedDuration::from_secs(5);

/// What the controller's rate and burst are of those of the others. Source: cmd/kube-controller-manager/app/core.go
/// (v1.34), `startNamespaceController`.
const RATE: (f64, f64) = (20.0, 100.0);

/// How many namespaces are emptied at a time. Source: pkg/controller/namespace/config/v1alpha1/defaults.go (v1.34),
/// `ConcurrentNamespaceSyncs`.
const WORKERS: usize = 10;

/// After how many seconds finalizers are expected to be gone. Source: namespaced_resources_deleter.go (v1.34),
/// `finalizerEstimateSeconds`.
const FINALIZER_SECONDS: i64 = 15;

/// The finalizer of this controller. Source: k8s.io/api core/v1/types.go (v1.34), `FinalizerKubernetes`.
const FINALIZER: &str = "kubernetes";

/// The conditions in their order, with reason and message while all is well. Source: pkg/controller/namespace/deletion/
/// status_condition_utils.go (v1.34), `conditionTypes`, `okMessages` and `okReasons`.
const CONDITIONS: [(&str, &str, &str); 5] = [
    ("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"),
    ("NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions", "All legacy kube types successfully parsed"),
    (CONTENT_FAILURE, "ContentDeleted", "All content successfully deleted, may be waiting on finalization"),
    (CONTENT_REMAINING, "ContentRemoved", "All content successfully removed"),
    (FINALIZERS_REMAINING, "ContentHasNoFinalizers", "All content-preserving finalizers finished"),
];
const CONTENT_FAILURE: &str = "NamespaceDeletionContentFailure";
const CONTENT_REMAINING: &str = "NamespaceContentRemaining";
const FINALIZERS_REMAINING: &str = "NamespaceFinalizersRemaining";

/// What the answer that is awaited is to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Step {
    #[default]
    Read,
    /// The Pods, for the longest grace among them.
    Grace,
    Delete,
    Count,
    Status,
    Finalize,
    /// The namespace once more, since somebody else wrote it.
    ReadAgain,
}

/// The work on a namespace.
#[derive(Clone, Debug, Default)]
struct Sweep {
    step: Step,
    namespace: Json,
    because: Option<DecisionId>,
    /// The kinds that are still to be deleted; the first is in hand.
    kinds: VecDeque<Resource>,
    /// How long what ends in grace has at the longest, in seconds.
    grace: i64,
    /// After how many seconds it may be looked at again.
    estimate: i64,
    remaining: BTreeMap<String, usize>,
    finalizers: BTreeMap<Text, usize>,
    problems: Vec<String>,
}

/// The controller.
#[derive(Clone, Debug)]
pub struct Namespaces {
    outbox: Outbox,
    client: Client,
    namespaces: Reflector,
    queue: WorkQueue<Text>,
    sweeps: BTreeMap<Text, Sweep>,
    under_way: BTreeMap<RequestId, Text>,
    pods_first: bool,
}

impl Namespaces {
    /// Starts the controller with an empty cache.
    #[must_use]
    pub fn new(context: &Context, now: Timestamp) -> Self {
        let mut outbox = Outbox::default();
        let identity = Identity::controller("namespace-controller");
        let chance = context.chance.fork("namespaces");
        let namespaces = Reflector::new(identity.clone(), NAMESPACES, "", Vec::new(), chance, &mut outbox);
        let number = |flag| context.settings.number(flag);
        let (qps, burst) = (number("kube-api-qps") * RATE.0, number("kube-api-burst") * RATE.1);
        Self {
            outbox,
            client: Client::with_rate(identity, qps, burst, now),
            namespaces,
            queue: WorkQueue::default(),
            sweeps: BTreeMap::new(),
            under_way: BTreeMap::new(),
            pods_first: context.settings.profile().is("namespace-deletes-pods-first"),
        }
    }

    fn handle_event(&mut self, event: &CacheEvent, now: Timestamp) {
        if let Some(namespace) = &event.after
            && is_going(namespace.stable())
        {
            self.queue.add_at(Text::from(namespace.name()), now + PAUSE);
        }
    }

    fn work(&mut self, now: Timestamp) {
        while self.sweeps.len() < WORKERS
            && let Some(name) = self.queue.take()
        {
            self.sweeps.insert(name.clone(), Sweep::default());
            self.ask(&name, Step::Read, Call::new(Verb::Get, NAMESPACES, "", &name), now);
        }
    }

    fn ask(&mut self, name: &Text, step: Step, call: Call, now: Timestamp) {
        let Some(sweep) = self.sweeps.get_mut(name) else { return };
        sweep.step = step;
        let id = self.client.send(call, sweep.because, &mut self.outbox, now);
        self.under_way.insert(id, name.clone());
    }

    fn handle_answer(&mut self, name: &Text, result: &Result<Answer, TransportError>, now: Timestamp) {
        let Some(sweep) = self.sweeps.get_mut(name) else { return };
        let (outcome, step) = (Outcome::of(result), sweep.step);
        let body = || result.as_ref().map(Answer::body).unwrap_or_default();
        match (step, outcome) {
            (Step::Read, Outcome::Done(Some(namespace))) => self.begin(name, &namespace, now),
            (Step::ReadAgain, Outcome::Done(Some(namespace))) => {
                sweep.namespace = namespace.json();
                self.finalize(name, now);
            }
            (Step::Read | Step::ReadAgain | Step::Finalize, Outcome::NotFound) | (Step::Finalize, Outcome::Done(_)) => {
                self.end(name, None)
            }
            (Step::Finalize, Outcome::Conflict) => {
                self.ask(name, Step::ReadAgain, Call::new(Verb::Get, NAMESPACES, "", name), now);
            }
            (Step::Grace, Outcome::Done(_)) => {
                let grace = longest_grace(&body());
                let age = deleted_at(&sweep.namespace).map_or(SignedDuration::ZERO, |at| now.duration_since(at));
                sweep.grace = if age < SignedDuration::from_secs(grace) { grace } else { 0 };
                self.delete_kind(name, now);
            }
            (Step::Delete, Outcome::Done(_)) => self.count_kind(name, now),
            (Step::Count, Outcome::Done(_)) => {
                self.note_kind(name, &body());
                self.next_kind(name, now);
            }
            // A kind that the server has not, or whose collections cannot be deleted, holds nothing up.
            (Step::Delete | Step::Count, _) if result.as_ref().is_ok_and(|answer| matches!(answer.code, 404 | 405)) => {
                sweep.kinds.pop_front();
                self.next_kind(name, now);
            }
            (Step::Grace | Step::Delete | Step::Count, _) => {
                let why = result.as_ref().map_or_else(|error| format!("{error}"), Answer::message);
                sweep.problems.push(why);
                sweep.kinds.pop_front();
                self.next_kind(name, now);
            }
            (Step::Status, _) => self.conclude(name, now),
            (Step::Read | Step::ReadAgain | Step::Finalize, _) => self.end(name, Some(now)),
        }
    }

    /// Begins with what the server says of the namespace.
    fn begin(&mut self, name: &Text, namespace: &Object, now: Timestamp) {
        let tree = namespace.json();
        let is_ours = tree.at(&["spec", "finalizers"]).items().iter().any(|item| item.as_str() == Some(FINALIZER));
        if !is_going(&tree) || !is_ours {
            return self.end(name, None);
        }
        let since = tree.at(&["metadata", "deletionTimestamp"]).as_str().unwrap_or("");
        let because = self.outbox.decide(
            format!("namespace/{name}"),
            String::from("delete what is in it"),
            Vec::from([Because::Fact(format!("it is being deleted since {since}"))]),
        );
        let Some(sweep) = self.sweeps.get_mut(name) else { return };
        sweep.namespace = tree;
        sweep.because = Some(because);
        let mut kinds: Vec<Resource> = collections().collect();
        if self.pods_first {
            kinds.sort_by_key(|kind| *kind != PODS);
        }
        sweep.kinds = kinds.into();
        self.next_kind(name, now);
    }

    fn next_kind(&mut self, name: &Text, now: Timestamp) {
        let Some(sweep) = self.sweeps.get_mut(name) else { return };
        let pods_remain = sweep.remaining.contains_key(&shown(&PODS));
        match sweep.kinds.front() {
            Some(kind) if !(self.pods_first && pods_remain) => {
                sweep.grace = 0;
                if *kind == PODS {
                    self.ask(name, Step::Grace, Call::new(Verb::List, PODS, name, ""), now);
                } else {
                    self.delete_kind(name, now);
                }
            }
            _ => self.tell(name, now),
        }
    }

    fn delete_kind(&mut self, name: &Text, now: Timestamp) {
        let Some(kind) = self.sweeps.get(name).and_then(|sweep| sweep.kinds.front()).cloned() else { return };
        let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"});
        self.ask(name, Step::Delete, Call::new(Verb::DeleteCollection, kind, name, "").body(options), now);
    }

    fn count_kind(&mut self, name: &Text, now: Timestamp) {
        let Some(kind) = self.sweeps.get(name).and_then(|sweep| sweep.kinds.front()).cloned() else { return };
        self.ask(name, Step::Count, Call::new(Verb::List, kind, name, ""), now);
    }

    /// Notes what remains of the kind in hand.
    fn note_kind(&mut self, name: &Text, list: &Json) {
        let Some(sweep) = self.sweeps.get_mut(name) else { return };
        let Some(kind) = sweep.kinds.pop_front() else { return };
        let items = list.get("items").items();
        if items.is_empty() {
            return;
        }
        sweep.remaining.insert(shown(&kind), items.len());
        let mut has_finalizers = false;
        for item in items {
            for finalizer in item.at(&["metadata", "finalizers"]).items().iter().filter_map(Json::as_text) {
                *sweep.finalizers.entry(finalizer.clone()).or_default() += 1;
                has_finalizers = true;
            }
        }
        if sweep.grace > 0 {
            sweep.estimate = sweep.estimate.max(sweep.grace);
        } else if has_finalizers {
            sweep.estimate = sweep.estimate.max(FINALIZER_SECONDS);
        } else {
            sweep
                .problems
                .push(format!("unexpected items still remain in namespace: {name} for gvr: {}", go_name(&kind)));
        }
    }

    /// Tells of what was found, if that is news.
    fn tell(&mut self, name: &Text, now: Timestamp) {
        let Some(sweep) = self.sweeps.get(name) else { return };
        let mut tree = sweep.namespace.clone();
        let mut conditions: Vec<Json> = tree.at(&["status", "conditions"]).items().to_vec();
        let mut has_changed = false;
        for (kind, status, reason, message) in sweep.conditions() {
            let old = conditions.iter_mut().find(|condition| condition.get("type").as_str() == Some(kind));
            let text = |condition: &Json, field| condition.get(field).as_str().map(String::from);
            let is_same = old.as_ref().is_some_and(|old| {
                text(old, "status").as_deref() == Some(status)
                    && text(old, "reason").as_deref() == Some(reason)
                    && text(old, "message").as_deref() == Some(message.as_str())
            });
            if is_same {
                continue;
            }
            has_changed = true;
            let since = old
                .as_ref()
                .filter(|old| text(old, "status").as_deref() == Some(status))
                .map_or_else(|| Json::from(time::to_time(now)), |old| old.get("lastTransitionTime").clone());
            let new = json!({"type": kind, "status": status, "reason": reason, "message": message,
                "lastTransitionTime": since});
            match old {
                Some(old) => *old = new,
                None => conditions.push(new),
            }
        }
        if !has_changed {
            return self.conclude(name, now);
        }
        tree.set(&["status", "conditions"], conditions);
        let call = Call::new(Verb::Update, NAMESPACES, "", name).subresource("status").body(tree);
        self.ask(name, Step::Status, call, now);
    }

    /// Looks again later, or lets the namespace go.
    fn conclude(&mut self, name: &Text, now: Timestamp) {
        let Some(sweep) = self.sweeps.get(name) else { return };
        if !sweep.problems.is_empty() {
            self.end(name, Some(now));
        } else if sweep.estimate > 0 {
            let pause = SignedDuration::from_secs(sweep.estimate / 2 + 1);
            self.end(name, None);
            self.queue.add_at(name.clone(), now + pause);
        } else {
            self.finalize(name, now);
        }
    }

    fn finalize(&mut self, name: &Text, now: Timestamp) {
        let Some(sweep) = self.sweeps.get(name) else { return };
        let mut tree = Json::object();
        for field in ["kind", "apiVersion", "metadata"] {
            tree.set(&[field], sweep.namespace.get(field).clone());
        }
        let others = sweep.namespace.at(&["spec", "finalizers"]).items().iter();
        let others: Vec<Json> = others.filter(|item| item.as_str() != Some(FINALIZER)).cloned().collect();
        tree.set(&["spec"], json!({}));
        if !others.is_empty() {
            tree.set(&["spec", "finalizers"], others);
        }
        let call = Call::new(Verb::Update, NAMESPACES, "", name).subresource("finalize").body(tree);
        self.ask(name, Step::Finalize, call, now);
    }

    /// Ends the work on a namespace; with an instant it failed and is tried again.
    fn end(&mut self, name: &Text, failed: Option<Timestamp>) {
        self.sweeps.remove(name);
        match failed {
            Some(now) => self.queue.retry(name.clone(), now),
            None => self.queue.forget(name),
        }
        self.queue.done(name);
    }
}

impl Sweep {
    /// Returns the conditions as they are: type, status, reason, message.
    fn conditions(&self) -> Vec<(&'static str, &'static str, &'static str, String)> {
        let counts = |counts: Vec<String>| counts.join(", ");
        let remaining = self.remaining.iter().map(|(kind, count)| format!("{kind} has {count} resource instances"));
        let finalizers = self.finalizers.iter().map(|(name, count)| format!("{name} in {count} resource instances"));
        CONDITIONS
            .iter()
            .map(|(kind, reason, message)| match *kind {
                CONTENT_FAILURE if !self.problems.is_empty() => {
                    let (count, why) = (self.problems.len(), self.problems.join(", "));
                    let why = if count > 1 { format!("[{why}]") } else { why };
                    let text = format!("Failed to delete all resource types, {count} remaining: {why}");
                    (*kind, "True", "ContentDeletionFailed", text)
                }
                CONTENT_REMAINING if !self.remaining.is_empty() => {
                    let text = format!("Some resources are remaining: {}", counts(remaining.clone().collect()));
                    (*kind, "True", "SomeResourcesRemain", text)
                }
                FINALIZERS_REMAINING if !self.finalizers.is_empty() => {
                    let what = counts(finalizers.clone().collect());
                    let text = format!("Some content in the namespace has finalizers remaining: {what}");
                    (*kind, "True", "SomeFinalizersRemain", text)
                }
                _ => (*kind, "False", *reason, String::from(*message)),
            })
            .collect()
    }
}

fn is_going(namespace: &Json) -> bool {
    !namespace.at(&["metadata", "deletionTimestamp"]).is_null()
}

fn deleted_at(namespace: &Json) -> Option<Timestamp> {
    namespace.at(&["metadata", "deletionTimestamp"]).as_str().and_then(time::parse)
}

/// Returns the longest grace of Pods that have not ended, in seconds.
fn longest_grace(list: &Json) -> i64 {
    let pods = list.get("items").items().iter().map(|pod| Object::as_received(pod.clone()));
    let graces = pods.filter(|pod| !is_terminal(pod));
    let graces = graces.filter_map(|pod| pod.stable().at(&["spec", "terminationGracePeriodSeconds"]).as_i64());
    graces.max().unwrap_or(0)
}

/// Names a kind as conditions do: `pods.` in the core group.
fn shown(kind: &Resource) -> String {
    format!("{}.{}", kind.plural, kind.group)
}

/// Names a kind as Go prints it. Source: k8s.io/apimachinery pkg/runtime/schema/group_version.go (v1.34), `String`.
fn go_name(kind: &Resource) -> String {
    format!("{}/{}, Resource={}", kind.group, kind.version, kind.plural)
}

impl Component for Namespaces {
    fn handle_message(&mut self, message: ToClient, now: Timestamp) {
        if self.namespaces.owns(message.id()) {
            for event in self.namespaces.handle_message(message, &mut self.outbox, now) {
                self.handle_event(&event, now);
            }
        } else if let ToClient::Response { id, result } = message
            && let Some(name) = self.under_way.remove(&id)
        {
            self.handle_answer(&name, &result, now);
        }
        self.work(now);
    }

    fn handle_timeout(&mut self, now: Timestamp) {
        self.namespaces.handle_timeout(&mut self.outbox, now);
        self.client.handle_timeout(&mut self.outbox, now);
        self.queue.handle_timeout(now);
        self.work(now);
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outbox.poll()
    }

    fn next_deadline(&self) -> Option<Deadline> {
        earliest([self.namespaces.next_deadline(), self.client.next_deadline(), self.queue.next_deadline()])
    }
}

impl Controller for Namespaces {
    fn informer(&mut self, watch: RequestId) -> Option<&mut Reflector> {
        Some(&mut self.namespaces).filter(|informer| informer.owns(watch))
    }

    fn queues(&self) -> Vec<(&'static str, usize)> {
        Vec::from([("namespace", self.queue.len()), ("requests", self.client.waiting())])
    }
}
