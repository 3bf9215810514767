//! Deletes the content of namespaces that are being deleted, and then removes their finalizer.
//!
//! Mirrors kube-controller-manager's `namespace-controller` (pkg/controller/namespace/namespace_controller.go and
//! deletion/namespaced_resources_deleter.go, v1.34). Five seconds after the deletion of a namespace is seen, its
//! content is deleted kind by kind, Pods first if the release does so. What remains is counted and reported in
//! conditions, unless it is Pods that the other kinds wait for, and the namespace is synced again after half of the
//! longest grace period. When nothing is left, `spec.finalizers` is emptied, and the server removes the namespace.
//! Inputs: Namespaces, answers, time. Outputs: reads, deletions of collections, updates of `status` and `finalize`.
//! Left out on purpose: discovery (the table of kinds and the definitions of custom ones are used), and upstream's
//! random order of the kinds.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::client::{CacheEvent, RequestOutcome};
use super::controller::{
    ApiResult, Controller, ControllerConfig, ControllerContext, Flow, KeyedController, KeyedRuntime, Reconciler,
    Retries, Watched, code,
};
use super::{Because, DecisionId};
use crate::json;
use crate::network::{Answer, Call, DEFINITIONS, NAMESPACES, PODS, Resource, Verb, collections, defined_kind};
use crate::objects::lifecycle::{is_established, is_terminal, put_condition};
use crate::objects::{Json, Object, ObjectKey, Text, time};

/// How long a namespace is left alone, so that all API servers know about its deletion. Source: namespace_controller.go
/// (v1.34), `namespaceDeletionGracePeriod`.
const PAUSE: SignedDuration = SignedDuration::from_secs(5);

/// The factors by which the controller's rate and burst are larger than those of the others. Source:
/// cmd/kube-controller-manager/app/core.go (v1.34), `startNamespaceController`.
const RATE: (f64, f64) = (20.0, 100.0);

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

const CONFIG: ControllerConfig = ControllerConfig {
    queue: "namespace",
    // Source: pkg/controller/namespace/config/v1alpha1/defaults.go (v1.34), `ConcurrentNamespaceSyncs`.
    workers: 10,
    // Source: namespace_controller.go (v1.34), `nsControllerRateLimiter`.
    retries: Retries { longest: SignedDuration::from_secs(60), ..Retries::ENDLESS },
    watched: &[Watched::with(NAMESPACES, None)],
};

/// Starts the controller with an empty cache.
pub(super) fn start(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    let pods_first = context.settings.profile().is("namespace-deletes-pods-first");
    let own = Namespaces { pods_first, sweeps: BTreeMap::new() };
    KeyedController::new(own, &CONFIG, context, now).with_rate(RATE, context, now)
}

/// What a request is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum NamespacePurpose {
    Read,
    /// Lists the definitions of custom kinds.
    Definitions,
    /// Lists the Pods, for their longest grace period.
    Grace,
    Delete,
    Count,
    Status,
    Finalize,
    /// Reads the namespace again after a conflict.
    ReadAgain,
}

/// A sync under way.
#[derive(Clone, Debug, Default)]
struct Sweep {
    pods_first: bool,
    namespace: Json,
    because: Option<DecisionId>,
    /// The kinds that are still to be deleted; the first is being processed.
    kinds: VecDeque<Resource>,
    /// The longest grace period of the Pods, in seconds.
    grace: i64,
    /// After how many seconds the namespace is to be synced again.
    estimate: i64,
    remaining: BTreeMap<String, usize>,
    finalizers: BTreeMap<Text, usize>,
    problems: Vec<String>,
}

/// What the controller knows; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug)]
struct Namespaces {
    pods_first: bool,
    sweeps: BTreeMap<ObjectKey, Sweep>,
}

impl Reconciler for Namespaces {
    type Purpose = NamespacePurpose;

    fn handle_event(
        &mut self,
        _: usize,
        event: &CacheEvent,
        runtime: &mut KeyedRuntime<NamespacePurpose>,
        now: Timestamp,
    ) {
        if let Some(namespace) = event.after.as_ref().filter(|namespace| is_going(namespace.stable())) {
            runtime.add_after(namespace.key(), PAUSE, now);
        }
    }

    fn sync(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<NamespacePurpose>, now: Timestamp) -> Flow {
        let sweep = Sweep { pods_first: self.pods_first, ..Sweep::default() };
        let flow = sweep.read(key, NamespacePurpose::Read, runtime, now);
        self.sweeps.insert(key.clone(), sweep);
        flow
    }

    fn handle_reply(
        &mut self,
        key: &ObjectKey,
        step: NamespacePurpose,
        reply: &ApiResult,
        runtime: &mut KeyedRuntime<NamespacePurpose>,
        now: Timestamp,
    ) -> Flow {
        let Some(mut sweep) = self.sweeps.remove(key) else { return Flow::Done };
        let flow = sweep.handle_reply(key, step, reply, runtime, now);
        if flow == Flow::Next {
            self.sweeps.insert(key.clone(), sweep);
        }
        flow
    }
}

impl Sweep {
    fn send(
        &self,
        key: &ObjectKey,
        step: NamespacePurpose,
        call: Call,
        runtime: &mut KeyedRuntime<NamespacePurpose>,
        now: Timestamp,
    ) -> Flow {
        runtime.send(key, step, call, self.because, now);
        Flow::Next
    }

    fn read(
        &self,
        key: &ObjectKey,
        step: NamespacePurpose,
        runtime: &mut KeyedRuntime<NamespacePurpose>,
        now: Timestamp,
    ) -> Flow {
        self.send(key, step, Call::new(Verb::Get, NAMESPACES, "", &key.name), runtime, now)
    }

    fn handle_reply(
        &mut self,
        key: &ObjectKey,
        step: NamespacePurpose,
        reply: &ApiResult,
        runtime: &mut KeyedRuntime<NamespacePurpose>,
        now: Timestamp,
    ) -> Flow {
        let body = || reply.as_ref().map(Answer::body).unwrap_or_default();
        match (step, RequestOutcome::of(reply)) {
            (NamespacePurpose::Read, RequestOutcome::Done(Some(namespace))) => {
                self.begin(key, &namespace, runtime, now)
            }
            (NamespacePurpose::ReadAgain, RequestOutcome::Done(Some(namespace))) => {
                self.namespace = namespace.json();
                self.finalize(key, runtime, now)
            }
            (
                NamespacePurpose::Read | NamespacePurpose::ReadAgain | NamespacePurpose::Finalize,
                RequestOutcome::NotFound,
            )
            | (NamespacePurpose::Finalize, RequestOutcome::Done(_)) => Flow::Done,
            (NamespacePurpose::Finalize, RequestOutcome::Conflict) => {
                self.read(key, NamespacePurpose::ReadAgain, runtime, now)
            }
            (NamespacePurpose::Definitions, RequestOutcome::Done(_)) => {
                let list = body();
                let defined = list.get("items").items().iter().filter_map(custom_kind);
                self.kinds.extend(defined.filter(|(_, is_namespaced)| *is_namespaced).map(|(resource, _)| resource));
                self.next_kind(key, runtime, now)
            }
            (NamespacePurpose::Grace, RequestOutcome::Done(_)) => {
                let grace = longest_grace(&body());
                let age = deleted_at(&self.namespace).map_or(SignedDuration::ZERO, |at| now.duration_since(at));
                self.grace = if age < SignedDuration::from_secs(grace) { grace } else { 0 };
                self.delete_kind(key, runtime, now)
            }
            (NamespacePurpose::Delete, RequestOutcome::Done(_)) => self.count_kind(key, runtime, now),
            (NamespacePurpose::Count, RequestOutcome::Done(_)) => {
                self.note_kind(&key.name, &body());
                self.next_kind(key, runtime, now)
            }
            // A kind that the server does not serve, or whose collections cannot be deleted, blocks nothing.
            (NamespacePurpose::Delete | NamespacePurpose::Count, _) if matches!(code(reply), 404 | 405) => {
                self.kinds.pop_front();
                self.next_kind(key, runtime, now)
            }
            // What is not known is not deleted: the next sync asks again.
            (NamespacePurpose::Definitions, _) => Flow::Retry,
            (NamespacePurpose::Grace | NamespacePurpose::Delete | NamespacePurpose::Count, _) => {
                let why = reply.as_ref().map_or_else(|error| format!("{error}"), Answer::message);
                self.problems.push(why);
                self.kinds.pop_front();
                self.next_kind(key, runtime, now)
            }
            (NamespacePurpose::Status, _) => self.conclude(key, runtime, now),
            (NamespacePurpose::Read | NamespacePurpose::ReadAgain | NamespacePurpose::Finalize, _) => Flow::Retry,
        }
    }

    /// Begins with the namespace as the server returned it.
    fn begin(
        &mut self,
        key: &ObjectKey,
        namespace: &Object,
        runtime: &mut KeyedRuntime<NamespacePurpose>,
        now: Timestamp,
    ) -> Flow {
        let tree = namespace.json();
        let is_ours = tree.at(&["spec", "finalizers"]).items().iter().any(|item| item.as_str() == Some(FINALIZER));
        if !is_going(&tree) || !is_ours {
            return Flow::Done;
        }
        let since = tree.at(&["metadata", "deletionTimestamp"]).as_str().unwrap_or("");
        self.because = Some(runtime.decide(
            format!("namespace/{}", key.name),
            String::from("delete what is in it"),
            Vec::from([Because::Fact(format!("it is being deleted since {since}"))]),
        ));
        self.namespace = tree;
        let mut kinds: Vec<Resource> = collections().collect();
        if self.pods_first {
            kinds.sort_by_key(|kind| *kind != PODS);
        }
        self.kinds = kinds.into();
        let definitions = Call::new(Verb::List, DEFINITIONS, "", "");
        self.send(key, NamespacePurpose::Definitions, definitions, runtime, now)
    }

    fn next_kind(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<NamespacePurpose>, now: Timestamp) -> Flow {
        match self.kinds.front() {
            Some(kind) if !self.waits_for_pods() => {
                self.grace = 0;
                if *kind == PODS {
                    self.send(key, NamespacePurpose::Grace, Call::new(Verb::List, PODS, &key.name, ""), runtime, now)
                } else {
                    self.delete_kind(key, runtime, now)
                }
            }
            _ => self.tell(key, runtime, now),
        }
    }

    /// Tells whether Pods remain that all other kinds wait for.
    fn waits_for_pods(&self) -> bool {
        self.pods_first && self.remaining.contains_key(&shown(&PODS))
    }

    fn delete_kind(&self, key: &ObjectKey, runtime: &mut KeyedRuntime<NamespacePurpose>, now: Timestamp) -> Flow {
        let Some(kind) = self.kinds.front().cloned() else { return Flow::Done };
        let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"});
        let call = Call::new(Verb::DeleteCollection, kind, &key.name, "").body(options);
        self.send(key, NamespacePurpose::Delete, call, runtime, now)
    }

    fn count_kind(&self, key: &ObjectKey, runtime: &mut KeyedRuntime<NamespacePurpose>, now: Timestamp) -> Flow {
        let Some(kind) = self.kinds.front().cloned() else { return Flow::Done };
        self.send(key, NamespacePurpose::Count, Call::new(Verb::List, kind, &key.name, ""), runtime, now)
    }

    /// Notes what remains of the current kind.
    fn note_kind(&mut self, name: &str, list: &Json) {
        let Some(kind) = self.kinds.pop_front() else { return };
        let items = list.get("items").items();
        if items.is_empty() {
            return;
        }
        self.remaining.insert(shown(&kind), items.len());
        let mut has_finalizers = false;
        for item in items {
            for finalizer in item.at(&["metadata", "finalizers"]).items().iter().filter_map(Json::as_text) {
                *self.finalizers.entry(finalizer.clone()).or_default() += 1;
                has_finalizers = true;
            }
        }
        if self.grace > 0 {
            self.estimate = self.estimate.max(self.grace);
        } else if has_finalizers {
            self.estimate = self.estimate.max(FINALIZER_SECONDS);
        } else {
            self.problems
                .push(format!("unexpected items still remain in namespace: {name} for gvr: {}", go_name(&kind)));
        }
    }

    /// Writes the conditions, if they changed.
    fn tell(&self, key: &ObjectKey, runtime: &mut KeyedRuntime<NamespacePurpose>, now: Timestamp) -> Flow {
        let mut tree = self.namespace.clone();
        let mut conditions: Vec<Json> = tree.at(&["status", "conditions"]).items().to_vec();
        let mut has_changed = false;
        for (kind, status, reason, message) in self.conditions() {
            let new = json!({"type": kind, "status": status, "reason": reason, "message": message,
                "lastTransitionTime": time::to_time(now)});
            let is_same =
                |old: &Json| ["type", "status", "reason", "message"].iter().all(|name| old.get(name) == new.get(name));
            if !conditions.iter().any(is_same) {
                has_changed |= put_condition(&mut conditions, new);
            }
        }
        if !has_changed {
            return self.conclude(key, runtime, now);
        }
        tree.set(&["status", "conditions"], conditions);
        let call = Call::new(Verb::Update, NAMESPACES, "", &key.name).subresource("status").body(tree);
        self.send(key, NamespacePurpose::Status, call, runtime, now)
    }

    /// Queues the next sync, or removes the finalizer.
    fn conclude(&self, key: &ObjectKey, runtime: &mut KeyedRuntime<NamespacePurpose>, now: Timestamp) -> Flow {
        if !self.problems.is_empty() {
            Flow::Retry
        } else if self.estimate > 0 {
            runtime.add_after(key.clone(), SignedDuration::from_secs(self.estimate / 2 + 1), now);
            Flow::Done
        } else {
            self.finalize(key, runtime, now)
        }
    }

    fn finalize(&self, key: &ObjectKey, runtime: &mut KeyedRuntime<NamespacePurpose>, now: Timestamp) -> Flow {
        let mut tree = Json::object();
        for field in ["kind", "apiVersion", "metadata"] {
            tree.set(&[field], self.namespace.get(field).clone());
        }
        let others = self.namespace.at(&["spec", "finalizers"]).items().iter();
        let others: Vec<Json> = others.filter(|item| item.as_str() != Some(FINALIZER)).cloned().collect();
        tree.set(&["spec"], json!({}));
        if !others.is_empty() {
            tree.set(&["spec", "finalizers"], others);
        }
        let call = Call::new(Verb::Update, NAMESPACES, "", &key.name).subresource("finalize").body(tree);
        self.send(key, NamespacePurpose::Finalize, call, runtime, now)
    }

    /// Returns the conditions as they are: type, status, reason, message. While other kinds wait for Pods, upstream
    /// counts nothing and says that all is gone. Source: namespaced_resources_deleter.go (v1.34), `deleteAllContent`.
    fn conditions(&self) -> Vec<(&'static str, &'static str, &'static str, String)> {
        let counts = |counts: Vec<String>| counts.join(", ");
        let remaining = self.remaining.iter().map(|(kind, count)| format!("{kind} has {count} resource instances"));
        let finalizers = self.finalizers.iter().map(|(name, count)| format!("{name} in {count} resource instances"));
        let is_counted = !self.waits_for_pods();
        CONDITIONS
            .iter()
            .map(|(kind, reason, message)| match *kind {
                CONTENT_FAILURE if !self.problems.is_empty() => {
                    let mut problems = self.problems.clone();
                    problems.sort();
                    let (count, why) = (problems.len(), problems.join(", "));
                    let text = format!("Failed to delete all resource types, {count} remaining: {why}");
                    (*kind, "True", "ContentDeletionFailed", text)
                }
                CONTENT_REMAINING if is_counted && !self.remaining.is_empty() => {
                    let text = format!("Some resources are remaining: {}", counts(remaining.clone().collect()));
                    (*kind, "True", "SomeResourcesRemain", text)
                }
                FINALIZERS_REMAINING if is_counted && !self.finalizers.is_empty() => {
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

/// Returns the resource of a custom kind that is served, and whether its objects live in namespaces.
fn custom_kind(definition: &Json) -> Option<(Resource, bool)> {
    let mut typed = definition.clone();
    // The items of a list do not say their kind.
    typed.set(&["kind"], "CustomResourceDefinition");
    defined_kind(&typed)
        .filter(|_| is_established(definition))
        .map(|(_, resource, is_namespaced)| (resource, is_namespaced))
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
