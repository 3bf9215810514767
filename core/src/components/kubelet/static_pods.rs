//! Static Pods: Pods that files on the machine describe, and their mirror Pods in the API.
//!
//! Mirrors pkg/kubelet/config/{file.go,common.go}, pkg/kubelet/pod/mirror_client.go and `tryReconcileMirrorPods` of
//! pkg/kubelet/kubelet.go (v1.34). A static Pod runs whatever the API server says; of its mirror the kubelet writes the
//! status, and creates it anew once it was deleted. Inputs: the files, the watch of Pods, answers, time. Outputs:
//! workers, mirror Pods. Invariant: of two static Pods of one name the second starts when the first has ended.
//! Left out on purpose: manifests by URL.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use jiff::SignedDuration;

use super::events::decided_about;
use super::preemption::CONFIG_SOURCE;
use super::runtime_state::RELIST_PERIOD;
use super::{ApiResult, Kubelet, KubeletContext, Purpose, Timer, failure};
use crate::components::api_server::pods::static_pod;
use crate::components::host::Manifest;
use crate::components::pod_references::first_reference;
use crate::components::pod_resources::qos_class;
use crate::components::{Because, MIRROR, next_of};
use crate::json;
use crate::network::{Call, PODS, Verb};
use crate::objects::lifecycle::is_ending;
use crate::objects::{Json, Object, ObjectKey, Text};

/// The annotation with the hash of a static Pod.
const HASH: &str = "kubernetes.io/config.hash";
/// The annotation with the instant at which the kubelet saw the file.
const SEEN: &str = "kubernetes.io/config.seen";
/// How often a starting kubelet looks whether its Node is there, for mirror Pods.
/// Source: pkg/kubelet/kubelet.go (v1.34), `fastStaticPodsRegistration`: 100 ms.
const NODE_PERIOD: SignedDuration = SignedDuration::from_millis(100);
/// How often Pods that nobody knows any more are looked for. Source: pkg/kubelet/kubelet.go (v1.34),
/// `housekeepingPeriod`.
pub(super) const HOUSEKEEPING: SignedDuration = SignedDuration::from_secs(2);
/// Pause before a static Pod is started whose predecessor of the same name has ended, plus up to half of it.
/// Source: pkg/kubelet/pod_workers.go (v1.34), `requeue` with `backOffPeriod`.
const START_PAUSE: SignedDuration = SignedDuration::from_secs(10);
/// How many deleted mirror Pods are remembered, until the watch says that they are gone.
const REMEMBERED: usize = 15;
/// What an answer is for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum MirrorPurpose {
    /// A mirror Pod was created.
    Create,
    /// One was deleted.
    Delete,
    /// One that was not there was to be deleted again.
    Again,
}

/// The static Pods.
#[derive(Clone, Debug, Default)]
pub(super) struct StaticPods {
    /// By file: the hash of the Pod, and its namespace and name.
    known: BTreeMap<Text, (Text, ObjectKey)>,
    /// Files whose Pod waits for its predecessor to end.
    waiting: Vec<Text>,
    /// Files that are there again unchanged, while their Pod ends or has ended.
    returning: Vec<Text>,
    /// The Pods that have ended since the last housekeeping, and whether one may run again.
    ended: Vec<(Text, bool)>,
    /// The mirror Pods of static Pods that are gone.
    orphans: Vec<ObjectKey>,
    /// The UIDs of the mirror Pods that were deleted last.
    deleted: Vec<Text>,
    /// The mirror Pods that were found gone once when they were to be deleted.
    retried: Vec<ObjectKey>,
    /// Whether each static Pod still has to get its mirror, since the Node was not there.
    needs_mirrors: bool,
    /// Whether the workers of static Pods have their first turn late, and know no mirror that has come since.
    is_late: bool,
}

/// Tells whether a Pod comes from a file.
pub(super) fn is_static(pod: &Object) -> bool {
    let annotations = pod.stable().at(&["metadata", "annotations"]);
    annotations.get(CONFIG_SOURCE).as_str() == Some("file") && annotations.get(MIRROR).is_null()
}

/// Tells whether a Pod of the API mirrors a static one.
pub(super) fn is_mirror(pod: &Object) -> bool {
    !pod.stable().at(&["metadata", "annotations", MIRROR]).is_null()
}

/// Returns the hash of the static Pod that a mirror Pod stands for.
pub(super) fn hash_of(pod: &Object) -> &str {
    pod.stable().at(&["metadata", "annotations", HASH]).as_str().unwrap_or_default()
}

impl Kubelet {
    /// Reads the folder again: at the start, and after each change.
    ///
    /// Source: pkg/kubelet/config/file_linux.go (v1.34): changes are noticed at once.
    pub fn read_manifests(&mut self, context: &mut KubeletContext<'_>) {
        if !self.config.has_static_pods {
            return;
        }
        let known = self.static_pods.known.clone();
        for (file, (hash, key)) in &known {
            if context.host.manifests.get(file).is_none_or(|manifest| manifest.hash != *hash) {
                self.static_pods.known.remove(file);
                self.static_pods.waiting.retain(|own| own != file);
                self.static_pods.returning.retain(|own| own != file);
                self.static_gone(hash, key, context);
            }
        }
        let files: Vec<Text> = context.host.manifests.iter().map(|(file, _)| file.clone()).collect();
        for file in files {
            if !self.static_pods.known.contains_key(&file) {
                self.static_seen(&file, context);
            }
        }
        self.settle_pods(context);
    }

    fn static_seen(&mut self, file: &Text, context: &mut KubeletContext<'_>) {
        let Some(manifest) = context.host.manifests.get(file).cloned() else { return };
        let pod = match self.static_pod(file, &manifest, context) {
            Ok(pod) => pod,
            Err(why) => {
                let line = format!("Unable to process watch event: can't process config file \"{file}\": {why}");
                return self.log(line, context);
            }
        };
        let is_taken = self.pods.named(&pod.key()).is_some();
        let has_ended = self.static_pods.ended.iter().any(|(hash, _)| *hash == manifest.hash);
        let is_back = self.is_back(&manifest.hash, context.now) || has_ended;
        self.static_pods.known.insert(file.clone(), (manifest.hash, pod.key()));
        if is_back {
            self.static_pods.returning.push(file.clone());
            return;
        }
        if is_taken {
            self.static_pods.waiting.push(file.clone());
            return;
        }
        self.adopt_static(pod, context);
    }

    /// Names what a static Pod may not refer to.
    fn api_reference(&self, pod: &Json) -> Option<String> {
        if self.settings.is_gate_on("PreventStaticPodAPIReferences") {
            return first_reference(pod).map(|what| format!("static pods may not reference {what}"));
        }
        let volumes = pod.at(&["spec", "volumes"]).items().iter();
        let mut sources = volumes.flat_map(|volume| volume.at(&["projected", "sources"]).items());
        if sources.any(|source| !source.get("clusterTrustBundle").is_null()) {
            return Some("static pods may not use ClusterTrustBundle projected volume sources".into());
        }
        let has_claims = !pod.at(&["spec", "resourceClaims"]).is_empty();
        let is_refused = has_claims && self.settings.profile().is("static-pods-have-no-claims");
        is_refused.then(|| "static pods may not use ResourceClaims".into())
    }

    fn adopt_static(&mut self, pod: Object, context: &mut KubeletContext<'_>) {
        let key = pod.key();
        self.create_mirror(&pod, context);
        self.adopt(Text::from(pod.uid()), pod, context);
        // The mirror of a Pod that has ended may still be there.
        let Some((mirror, uid)) = self.mirror_of(&key).zip(self.pods.named(&key)) else { return };
        self.mirror_seen(&mirror, context);
        if *hash_of(&mirror) == *uid && !is_ending(&mirror) {
            self.go_on_from(&mirror, &uid);
        }
    }

    /// Returns the mirror Pod of a name that the watch knows.
    pub(super) fn mirror_of(&self, key: &ObjectKey) -> Option<Object> {
        let mut known = self.pods.source.iter().flat_map(crate::components::client::Reflector::objects);
        known.find(|pod| pod.key() == *key && is_mirror(pod)).cloned()
    }

    /// Builds the Pod of a file with the defaults of the API, or tells why it does not run.
    ///
    /// Source: pkg/kubelet/config/common.go (v1.34), `tryDecodeSinglePod` and `applyDefaults`.
    fn static_pod(&self, file: &Text, manifest: &Manifest, context: &KubeletContext<'_>) -> Result<Object, String> {
        let unread = |why: &str| format!("{file}: couldn't parse as pod({why}), please check config file");
        let kind = manifest.object.get("kind").as_str().unwrap_or_default();
        if kind != "Pod" {
            return Err(unread(&format!("invalid pod: {kind}")));
        }
        let decoded = self.settings.profile().schema().decode("Pod", &manifest.object);
        let mut pod = decoded.map_err(|error| unread(&error.0))?.object;
        let name = pod.at(&["metadata", "name"]).as_str().unwrap_or_default();
        if name.is_empty() {
            return Err("invalid pod: name is needed for the pod".into());
        }
        let node = &self.config.node_name;
        let name = format!("{name}-{}", node.to_lowercase());
        pod.set(&["apiVersion"], "v1");
        pod.set(&["metadata", "name"], name);
        if pod.at(&["metadata", "namespace"]).is_null() {
            pod.set(&["metadata", "namespace"], "default");
        }
        pod.set(&["metadata", "uid"], &manifest.hash);
        pod.set(&["metadata", "annotations", HASH], &manifest.hash);
        static_pod::default(&mut pod, &self.settings);
        pod.set(&["spec", "nodeName"], node);
        let stays = json!({"operator": "Exists", "effect": "NoExecute"});
        if !pod.at(&["spec", "tolerations"]).items().contains(&stays) {
            pod.entry(&["spec", "tolerations"]).make_array().push(stays);
        }
        let errors = static_pod::errors(&pod, &self.settings);
        if !errors.is_empty() {
            return Err(format!("invalid pod: [{}]", errors.join(" ")));
        }
        if let Some(why) = self.api_reference(&pod) {
            return Err(why);
        }
        pod.set(&["metadata", "annotations", SEEN], context.wall().to_string());
        pod.set(&["metadata", "annotations", CONFIG_SOURCE], "file");
        let class = qos_class(&pod, &self.settings);
        pod.set(&["status"], json!({"phase": "Pending", "qosClass": class}));
        Ok(Object::as_received(pod))
    }

    /// Creates the mirror of a static Pod, unless there is one or the Node is not known.
    pub(super) fn create_mirror(&mut self, pod: &Object, context: &mut KubeletContext<'_>) {
        let Some(node) = self.cached_node() else {
            self.static_pods.needs_mirrors = true;
            let late = self.led_mirrors();
            self.static_pods.is_late = late.is_positive();
            self.set(Timer::Mirrors, context.now + NODE_PERIOD + late);
            return;
        };
        let is_ending = is_ending(node);
        let owner = json!([{"apiVersion": "v1", "kind": "Node", "name": node.name(), "uid": node.uid(),
            "controller": true}]);
        let key = pod.key();
        if is_ending || !self.static_pods.is_late && self.mirror_of(&key).is_some() {
            return;
        }
        let mut body = pod.json();
        body.set(&["kind"], "Pod");
        body.remove(&["status", "qosClass"]);
        body.set(&["metadata", "annotations", MIRROR], pod.uid());
        body.set(&["metadata", "ownerReferences"], owner);
        let call = Call::new(Verb::Create, PODS, &key.namespace, "").body(body);
        self.call(call, Purpose::Mirror(MirrorPurpose::Create, key), context);
    }

    fn delete_mirror(&mut self, mirror: &Object, context: &mut KubeletContext<'_>) {
        let key = mirror.key();
        self.static_pods.deleted.truncate(REMEMBERED);
        self.static_pods.deleted.insert(0, Text::from(mirror.uid()));
        let mut body = json!({"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0});
        let is_orphan = self.pods.named(&key).is_none();
        body.set(&["preconditions"], if is_orphan { Json::object() } else { json!({"uid": mirror.uid()}) });
        let fact = if is_orphan { "its static Pod is gone" } else { "it does not match its static Pod any more" };
        let because = Vec::from([Because::Fact(String::from(fact))]);
        context.outbox.decide(decided_about(&key), "mirror deleted", because);
        let call = Call::new(Verb::Delete, PODS, &key.namespace, &key.name).body(body);
        self.call(call, Purpose::Mirror(MirrorPurpose::Delete, key), context);
    }

    /// Takes a mirror Pod as the watch shows it.
    pub(super) fn mirror_seen(&mut self, mirror: &Object, context: &mut KubeletContext<'_>) {
        let Some(uid) = self.pods.named(&mirror.key()) else {
            self.await_housekeeping(mirror, context);
            return;
        };
        let is_deleted = is_ending(mirror);
        if self.static_pods.deleted.iter().any(|own| **own == *mirror.uid()) {
            return;
        }
        if is_deleted || *hash_of(mirror) != *uid {
            self.delete_mirror(mirror, context);
        } else {
            self.mirror_is_there(&uid, mirror, context);
        }
    }

    fn await_housekeeping(&mut self, mirror: &Object, context: &KubeletContext<'_>) {
        self.static_pods.orphans.push(mirror.key());
        self.set(Timer::Mirrors, next_of(self.started, HOUSEKEEPING, context.now));
    }

    /// Takes the answer to the creation or deletion of a mirror Pod.
    pub(super) fn handle_mirror(
        &mut self,
        step: &MirrorPurpose,
        key: &ObjectKey,
        outcome: &ApiResult,
        context: &mut KubeletContext<'_>,
    ) {
        let is_done = outcome.as_ref().is_ok_and(crate::network::Answer::is_success);
        if let Some(why) = failure(outcome) {
            self.log(format!("Failed to {} mirror pod {}: {why}", verb_of(step), key.name), context);
        }
        let is_missing = outcome.as_ref().is_ok_and(|answer| answer.code == 404);
        if *step == MirrorPurpose::Delete && !is_done && !is_missing {
            self.mirror_stays(key, context);
        }
        if *step == MirrorPurpose::Create && !is_done {
            self.reconcile_later(key, context);
        }
        if *step == MirrorPurpose::Delete && is_missing && !self.static_pods.retried.contains(key) {
            // The worker of the static Pod looks once more: the next look at the runtime finds the mirror still there.
            self.static_pods.retried.push(key.clone());
            self.set(Timer::Mirrors, next_of(self.started, RELIST_PERIOD, context.now));
        }
        if *step == MirrorPurpose::Delete && is_done {
            let pod = self.known_static(key);
            // What the cache still shows is the one that was just deleted.
            if let Some(pod) = pod {
                self.pods.forget(&pod.key());
                self.create_mirror(&pod, context);
            }
        }
    }

    /// Notes that a mirror Pod could not be deleted: the next sync of its Pod tries again, or housekeeping.
    fn mirror_stays(&mut self, key: &ObjectKey, context: &KubeletContext<'_>) {
        let Some(mirror) = self.mirror_of(key) else { return };
        self.static_pods.deleted.retain(|own| **own != *mirror.uid());
        if self.pods.named(key).is_none() {
            self.await_housekeeping(&mirror, context);
        } else {
            self.reconcile_later(key, context);
        }
    }

    /// Lets the next sync of a static Pod look after its mirror.
    fn reconcile_later(&mut self, key: &ObjectKey, context: &KubeletContext<'_>) {
        if let Some(uid) = self.pods.named(key) {
            self.sync_in_time(&uid, context.now);
        }
    }

    /// Creates mirror Pods that could not be created, deletes those of static Pods that are gone, and starts static
    /// Pods whose predecessors have ended.
    pub(super) fn reconcile_static(&mut self, context: &mut KubeletContext<'_>) {
        if self.static_pods.needs_mirrors && self.cached_node().is_none() {
            self.set(Timer::Mirrors, context.now + NODE_PERIOD);
        } else if core::mem::take(&mut self.static_pods.needs_mirrors) {
            let own: Vec<Text> = self.static_pods.known.values().map(|(hash, _)| hash.clone()).collect();
            let pods: Vec<Object> = own.iter().filter_map(|hash| self.pods.object(hash).cloned()).collect();
            for pod in pods {
                self.create_mirror(&pod, context);
            }
            self.static_pods.is_late = false;
        }
        for key in core::mem::take(&mut self.static_pods.retried) {
            self.delete_missing(&key, context);
        }
        for key in core::mem::take(&mut self.static_pods.orphans) {
            let is_described = self.static_pods.known.values().any(|(_, own)| *own == key);
            let is_orphan = !is_described && self.pods.named(&key).is_none();
            if let Some(mirror) = self.mirror_of(&key).filter(|_| is_orphan) {
                self.delete_mirror(&mirror, context);
            }
        }
        self.settle_pods(context);
    }

    /// Tries once more to delete a mirror Pod that was not there.
    fn delete_missing(&mut self, key: &ObjectKey, context: &mut KubeletContext<'_>) {
        if self.known_static(key).is_none() {
            return;
        }
        let body = json!({"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0});
        let call = Call::new(Verb::Delete, PODS, &key.namespace, &key.name).body(body);
        self.call(call, Purpose::Mirror(MirrorPurpose::Again, key.clone()), context);
    }

    /// Returns the static Pod that a file describes and that runs, by namespace and name.
    fn known_static(&self, key: &ObjectKey) -> Option<Object> {
        let (hash, _) = self.static_pods.known.values().find(|(_, own)| own == key)?;
        self.pods.object(hash).cloned()
    }

    /// Ends a static Pod whose file is gone or has changed.
    fn static_gone(&mut self, hash: &Text, key: &ObjectKey, context: &mut KubeletContext<'_>) {
        let fact = Because::Fact(String::from("its manifest is gone or has changed"));
        if self.pods.object(hash).is_some() {
            context.outbox.decide(decided_about(key), "static Pod ends", Vec::from([fact]));
        } else if let Some(mirror) = self.mirror_of(key) {
            self.await_housekeeping(&mirror, context);
        }
        self.end_static(hash, context);
    }

    /// Notes that a static Pod has ended and is forgotten: one of the same name may follow, and its mirror goes.
    pub(super) fn static_ended(&mut self, pod: &Object, goes_on: bool, context: &mut KubeletContext<'_>) {
        let key = pod.key();
        self.static_pods.ended.push((Text::from(pod.uid()), goes_on));
        self.set(Timer::Housekeeping, next_of(self.started, HOUSEKEEPING, context.now));
        let next = self.static_pods.known.iter().find(|(_, (_, own))| *own == key);
        match next.map(|(file, (hash, _))| (file.clone(), hash.clone())) {
            Some((file, hash)) if self.static_pods.waiting.contains(&file) => {
                let random = context.now + self.chance.jitter(START_PAUSE, 0.5);
                let at = self.led_retry(&hash, context.now, START_PAUSE).unwrap_or(random);
                self.set(Timer::StaticStart, at);
            }
            Some(_) => {}
            None => {
                if let Some(mirror) = self.mirror_of(&key) {
                    self.await_housekeeping(&mirror, context);
                }
            }
        }
    }

    /// Starts the static Pods again that have ended and whose files are there again, and removes what is left of the
    /// others. One whose phase was final stays as it is.
    ///
    /// Source: pkg/kubelet/kubelet_pods.go (v1.34), `HandlePodCleanups` and `filterOutInactivePods`.
    pub(super) fn clean_up_static(&mut self, context: &mut KubeletContext<'_>) {
        for (uid, goes_on) in core::mem::take(&mut self.static_pods.ended) {
            let described = |file: &&Text| self.static_pods.known.get(*file).is_some_and(|(hash, _)| *hash == uid);
            let file = self.static_pods.returning.iter().find(described).cloned();
            if let Some(file) = file.filter(|_| goes_on) {
                self.static_pods.returning.retain(|own| *own != file);
                self.static_pods.known.remove(&file);
                self.static_seen(&file, context);
            } else {
                context.host.runtime.remove(&uid, context.now);
            }
        }
        self.settle_pods(context);
    }

    /// Starts the static Pods that have waited for others of their names.
    pub(super) fn start_waiting(&mut self, context: &mut KubeletContext<'_>) {
        for file in core::mem::take(&mut self.static_pods.waiting) {
            self.static_pods.known.remove(&file);
            self.static_seen(&file, context);
        }
        self.settle_pods(context);
    }
}

const fn verb_of(step: &MirrorPurpose) -> &'static str {
    match step {
        MirrorPurpose::Create => "create",
        MirrorPurpose::Delete | MirrorPurpose::Again => "delete",
    }
}
