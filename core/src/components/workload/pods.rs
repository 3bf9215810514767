//! Pods of workload controllers: their owners, the indexes by owner and by selector, and how pods are created, adopted
//! and released.
//!
//! Mirrors pkg/api/v1/pod/util.go, pkg/controller/controller_utils.go and controller_ref_manager.go (v1.34).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use crate::components::client::CacheEvent;
use crate::json;
use crate::objects::lifecycle::{self, condition, is_active, is_ending, is_ready};
use crate::objects::selector::selects;
use crate::objects::{Json, Object, ObjectKey, Text, time};

/// Characters of generated names. Source: k8s.io/apimachinery pkg/util/rand/rand.go (v1.34), `alphanums`.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// Tells whether a pod that stays is ready now, and was not before or not there.
pub(in crate::components) fn became_ready(event: &CacheEvent) -> bool {
    event.after.as_ref().is_some_and(|pod| !is_ending(pod) && is_ready(pod))
        && !event.before.as_ref().is_some_and(is_ready)
}

/// Tells whether a pod has been ready for so many seconds.
///
/// Source: pkg/api/v1/pod/util.go (v1.34), `IsPodAvailable`.
pub(in crate::components) fn is_available(pod: &Object, min_ready_seconds: i64, now: Timestamp) -> bool {
    if !is_ready(pod) {
        return false;
    }
    // Reading an instant costs more than all the rest, and most owners do not ask for it.
    let since = || condition(pod, "Ready").get("lastTransitionTime").as_str().and_then(time::parse);
    min_ready_seconds == 0 || since().is_some_and(|since| since + SignedDuration::from_secs(min_ready_seconds) <= now)
}

/// Returns the instant to ask [`is_available`] about: an earlier one if a pod is not available yet at the very instant
/// at which its time is over. Source: pkg/api/v1/pod/util.go (v1.33), `IsPodAvailable`.
pub(in crate::components) fn at_latest(now: Timestamp, is_included: bool) -> Timestamp {
    if is_included { now } else { now - SignedDuration::from_nanos(1) }
}

/// Returns the conditions of a ReplicaSet after a sync: ReplicaFailure is there while pods cannot be made or deleted.
pub(in crate::components) fn with_failure(
    set: &Object,
    error: Option<&(&'static str, String)>,
    now: Timestamp,
) -> Vec<Json> {
    let mut conditions = set.stable().at(&["status", "conditions"]).items().to_vec();
    let is_failure = |condition: &Json| condition.get("type").as_str() == Some("ReplicaFailure");
    match error {
        None => conditions.retain(|condition| !is_failure(condition)),
        Some((reason, message)) if !conditions.iter().any(is_failure) => conditions.push(json!({
            "type": "ReplicaFailure", "status": "True", "lastTransitionTime": time::to_time(now),
            "reason": *reason, "message": message.as_str()})),
        Some(_) => {}
    }
    conditions
}

/// Returns when a ReplicaSet with this new status looks again at its pods that are ready and not yet available.
///
/// Source: replica_set.go (v1.33 and v1.34), the end of `syncReplicaSet`; controller_utils.go (v1.34),
/// `FindMinNextPodAvailabilityCheck`.
pub(in crate::components) fn next_look(
    status: &Json,
    (set, active): (&Object, &[Object]),
    is_planned: bool,
    now: Timestamp,
) -> Option<SignedDuration> {
    let whole = SignedDuration::from_secs(number(set, &["spec", "minReadySeconds"], 0));
    let count = |field| status.get(field).as_i64().unwrap_or(0);
    let (ready, available) = (count("readyReplicas"), count("availableReplicas"));
    if whole.is_zero() || ready == available {
        return None;
    }
    if !is_planned {
        return (ready == number(set, &["spec", "replicas"], 1)).then_some(whole);
    }
    let since = |pod: &Object| condition(pod, "Ready").get("lastTransitionTime").as_str().and_then(time::parse);
    let ends = active.iter().filter(|pod| is_ready(pod)).filter_map(since).map(|since| since + whole);
    Some(ends.filter(|end| *end > now).min().map_or(whole, |end| end.duration_since(now)))
}

/// Returns the number of a field, or its default.
pub(in crate::components) fn number(object: &Object, path: &[&str], default: i64) -> i64 {
    object.stable().at(path).as_i64().unwrap_or(default)
}

/// Returns a count or a percentage of something, rounded up or down.
pub(in crate::components) fn scaled(value: &Json, default: &str, total: i64, rounding: Rounding) -> i64 {
    let text = match value {
        Json::Null => default,
        value => match value.as_i64() {
            Some(number) => return number,
            None => value.as_str().unwrap_or(default),
        },
    };
    let Some(percent) = text.strip_suffix('%').and_then(|text| text.parse::<i64>().ok()) else {
        return text.parse().unwrap_or(0);
    };
    match rounding {
        Rounding::Up => (percent * total + 99) / 100,
        Rounding::Down => percent * total / 100,
    }
}

/// Which way a share is rounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::components) enum Rounding {
    Up,
    Down,
}

/// Returns the owner reference of the controller that an object belongs to.
pub(in crate::components) fn controller_of(object: &Object) -> Option<&Json> {
    lifecycle::controller_of(object.stable())
}

/// Tells whether an object belongs to a controller.
pub(in crate::components) fn is_controlled_by(object: &Object, owner: &Object) -> bool {
    controller_of(object).is_some_and(|own| own.get("uid").as_str() == Some(owner.uid()))
}

/// Returns the key of the owner of a kind.
pub(in crate::components) fn owner_key(object: &Object, kind: &str) -> Option<(ObjectKey, Text)> {
    let owner = controller_of(object).filter(|owner| owner.get("kind").as_str() == Some(kind))?;
    let name = owner.get("name").as_text()?.clone();
    Some((ObjectKey::namespaced(object.key().namespace, name), owner.get("uid").as_text()?.clone()))
}

/// Objects by the UID of the controller that they belong to.
#[derive(Clone, Debug, Default)]
pub(in crate::components) struct Owned(BTreeMap<Text, BTreeSet<ObjectKey>>);

impl Owned {
    /// Follows a change of the cache.
    pub(in crate::components) fn update(&mut self, event: &CacheEvent) {
        self.update_those(event, |_| true);
    }

    /// Applies a change of the cache, for the objects that pass the test.
    pub(in crate::components) fn update_those(&mut self, event: &CacheEvent, is_worth: fn(&Object) -> bool) {
        let uid = |object: &Option<Object>| {
            let own = object.as_ref().filter(|object| is_worth(object)).and_then(controller_of);
            own.and_then(|owner| owner.get("uid").as_text().cloned())
        };
        let (before, after) = (uid(&event.before), uid(&event.after));
        if before == after {
            return;
        }
        let key = event.object().key();
        if let Some(owner) = before
            && let Some(own) = self.0.get_mut(&owner)
        {
            own.remove(&key);
            if own.is_empty() {
                self.0.remove(&owner);
            }
        }
        if let Some(owner) = after {
            self.0.entry(owner).or_default().insert(key);
        }
    }

    /// Returns the keys of what belongs to an owner, in order.
    pub(in crate::components) fn of(&self, uid: &str) -> impl Iterator<Item = &ObjectKey> {
        self.0.get(uid).into_iter().flatten()
    }
}

/// Objects without a controller, by namespace.
#[derive(Clone, Debug, Default)]
pub(in crate::components) struct Orphans(BTreeMap<Text, BTreeSet<ObjectKey>>);

impl Orphans {
    /// Follows a change of the cache of pods; those that have ended or are being deleted are left out.
    pub(in crate::components) fn update(&mut self, event: &CacheEvent) {
        self.update_those(event, is_active);
    }

    /// Follows a change of the cache, for the objects that pass the test.
    pub(in crate::components) fn update_those(&mut self, event: &CacheEvent, is_worth: fn(&Object) -> bool) {
        let key = event.object().key();
        let is_orphan = event.after.as_ref().is_some_and(|object| is_worth(object) && controller_of(object).is_none());
        if is_orphan {
            self.0.entry(key.namespace.clone()).or_default().insert(key);
        } else if let Some(own) = self.0.get_mut(&key.namespace) {
            own.remove(&key);
        }
    }

    /// Returns the keys of a namespace, in order.
    pub(in crate::components) fn of(&self, namespace: &str) -> impl Iterator<Item = &ObjectKey> {
        self.0.get(namespace).into_iter().flatten()
    }
}

/// Makes the patch by which a controller adopts a pod that has none.
///
/// Source: pkg/controller/controller_ref_manager.go (v1.34), `ownerRefControllerPatch`.
pub(in crate::components) fn adoption(owner: Json, pod: &Object) -> Json {
    let mut patch = json!({"metadata": {"uid": pod.uid()}});
    patch.set(&["metadata", "ownerReferences"], Json::array(Vec::from([owner])));
    patch
}

/// Makes the patch by which a controller releases a pod.
///
/// Source: pkg/controller/controller_ref_manager.go (v1.34), `GenerateDeleteOwnerRefStrategicMergeBytes`.
pub(in crate::components) fn release(owner: &Object, pod: &Object) -> Json {
    json!({"metadata": {"uid": pod.uid(), "ownerReferences": [{"$patch": "delete", "uid": owner.uid()}]}})
}

/// Pods by the objects that select them by their labels.
#[derive(Clone, Debug, Default)]
pub(in crate::components) struct Selections(BTreeMap<ObjectKey, (Json, BTreeSet<ObjectKey>)>);

impl Selections {
    /// Takes an object's selector; `pods` are all there are.
    pub(in crate::components) fn put<'a>(
        &mut self,
        key: ObjectKey,
        selector: Json,
        pods: impl Iterator<Item = &'a Object>,
    ) {
        if self.0.get(&key).is_some_and(|(known, _)| *known == selector) {
            return;
        }
        let own = |pod: &&Object| pod.key().namespace == key.namespace && selects(&selector, labels(pod));
        let found = pods.filter(own).map(Object::key).collect();
        self.0.insert(key, (selector, found));
    }

    /// Forgets an object.
    pub(in crate::components) fn remove(&mut self, key: &ObjectKey) {
        self.0.remove(key);
    }

    /// Applies a change of the pods' cache; returns the objects that select the pod now or did before.
    pub(in crate::components) fn update(&mut self, event: &CacheEvent) -> Vec<ObjectKey> {
        self.update_those(event, |_| true)
    }

    /// As [`Self::update`], for the pods that pass the test.
    pub(in crate::components) fn update_those(
        &mut self,
        event: &CacheEvent,
        is_worth: fn(&Object) -> bool,
    ) -> Vec<ObjectKey> {
        let pod = event.object().key();
        let after = event.after.as_ref().filter(|pod| is_worth(pod));
        let mut concerned = Vec::new();
        let own = self.0.iter_mut().filter(|(key, _)| key.namespace == pod.namespace);
        for (key, (selector, pods)) in own {
            let is_in = after.is_some_and(|pod| selects(selector, labels(pod)));
            let was_in = if is_in { !pods.insert(pod.clone()) } else { pods.remove(&pod) };
            if is_in || was_in {
                concerned.push(key.clone());
            }
        }
        concerned
    }

    /// Tells whether an object selects a pod.
    pub(in crate::components) fn has(&self, key: &ObjectKey, pod: &ObjectKey) -> bool {
        self.0.get(key).is_some_and(|(_, pods)| pods.contains(pod))
    }

    /// Tells whether an object selects a pod as it is given.
    pub(in crate::components) fn would_have(&self, key: &ObjectKey, pod: &Object) -> bool {
        self.0.get(key).is_some_and(|(selector, _)| selects(selector, labels(pod)))
    }

    /// Returns how many pods an object selects.
    pub(in crate::components) fn count(&self, key: &ObjectKey) -> usize {
        self.0.get(key).map_or(0, |(_, pods)| pods.len())
    }

    /// Returns the pods that an object selects, in order of their keys.
    pub(in crate::components) fn of(&self, key: &ObjectKey) -> impl Iterator<Item = &ObjectKey> {
        self.0.get(key).into_iter().flat_map(|(_, pods)| pods)
    }
}

/// Returns the labels of an object.
pub(in crate::components) fn labels(object: &Object) -> &Json {
    object.stable().at(&["metadata", "labels"])
}

/// Makes the reference to the controller of an object.
pub(in crate::components) fn reference_to(owner: &Object, api_version: &str, kind: &str) -> Json {
    json!({"apiVersion": api_version, "kind": kind, "name": owner.name(), "uid": owner.uid(),
        "controller": true, "blockOwnerDeletion": true})
}

/// Makes a pod from the template of an owner; the server generates the end of its name.
pub(in crate::components) fn from_template(owner: &Object, api_version: &str, kind: &str) -> Json {
    pod_of(owner, owner.stable().at(&["spec", "template"]), api_version, kind)
}

/// Makes a pod of an owner from a template.
pub(in crate::components) fn pod_of(owner: &Object, template: &Json, api_version: &str, kind: &str) -> Json {
    let mut pod = json!({"kind": "Pod", "apiVersion": "v1",
        "metadata": {"generateName": format!("{}-", owner.name()), "namespace": owner.key().namespace.as_str()}});
    for field in ["labels", "annotations", "finalizers"] {
        let value = template.at(&["metadata", field]);
        if !value.is_empty() {
            pod.set(&["metadata", field], value.clone());
        }
    }
    let reference = reference_to(owner, api_version, kind);
    pod.set(&["metadata", "ownerReferences"], Json::array(Vec::from([reference])));
    pod.set(&["spec"], template.get("spec").clone());
    pod
}

/// Returns the hash of a template, as the names of its revisions contain it, after so many collisions with names that
/// were taken.
///
/// Upstream hashes Go's print of the structure; here its JSON is hashed, so that only the form of the text is the same.
/// Source: pkg/controller/controller_utils.go (v1.34), `ComputeHash`.
pub(in crate::components) fn hash(template: &Json, collisions: Option<i64>) -> String {
    let text = format!("{template}");
    let count = collisions.map(i64::to_le_bytes);
    let bytes = text.bytes().chain(count.into_iter().flatten());
    let hash = bytes.fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    safe_text(&format!("{hash}"))
}

/// Writes a number with letters that make no words. Source: k8s.io/apimachinery pkg/util/rand/rand.go (v1.34),
/// `SafeEncodeString`.
pub(in crate::components) fn safe_text(number: &str) -> String {
    number.bytes().map(|digit| char::from(ALPHABET[usize::from(digit) % ALPHABET.len()])).collect()
}

/// Sets a field, or removes it if the value is zero, as fields that Go omits when empty.
pub(in crate::components) fn set_unless_zero(tree: &mut Json, path: &[&str], value: i64) {
    if value == 0 {
        tree.remove(path);
    } else {
        tree.set(path, value);
    }
}

#[cfg(test)]
mod tests {
    use super::{Rounding, at_latest, hash, is_available, next_look, scaled};
    use crate::json;
    use crate::objects::Object;

    #[test]
    fn a_share_is_rounded_up_or_down() {
        let cases = [
            (json!("25%"), Rounding::Up, 1),
            (json!("25%"), Rounding::Down, 0),
            (json!(2), Rounding::Up, 2),
            (json!(null), Rounding::Up, 1),
        ];
        for (value, rounding, expected) in cases {
            assert_eq!(scaled(&value, "25%", 3, rounding), expected, "{value} {rounding:?}");
        }
    }

    #[test]
    fn the_hash_of_a_template_depends_on_it_alone_and_is_fit_for_a_name() {
        let one = hash(&json!({"spec": {"containers": []}}), None);
        assert_eq!(one, hash(&json!({"spec": {"containers": []}}), None));
        assert_ne!(one, hash(&json!({"spec": {"containers": [{}]}}), None));
        assert!(one.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()));
    }

    #[test]
    fn a_set_looks_again_when_the_next_pod_becomes_available_and_formerly_after_the_whole_time() {
        let at = |text: &str| crate::objects::time::parse(text).unwrap();
        let pod = |since: &str| {
            Object::new(
                json!({"status": {"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": since}]}}),
                1,
            )
        };
        let pods = [pod("2026-01-01T00:00:08Z"), pod("2026-01-01T00:00:02Z"), pod("2026-01-01T00:00:05Z")];
        let set = Object::new(json!({"spec": {"minReadySeconds": 4, "replicas": 3}}), 1);
        let now = at("2026-01-01T00:00:08Z");
        let look = |available: i64, is_planned: bool| {
            let status = json!({"readyReplicas": 3, "availableReplicas": available});
            next_look(&status, (&set, &pods), is_planned, now).map(|pause| pause.as_secs())
        };
        assert_eq!([look(1, true), look(1, false), look(3, true), look(3, false)], [Some(1), Some(4), None, None]);
        for (is_included, is_there) in [(true, true), (false, false)] {
            let asked = at_latest(at("2026-01-01T00:00:12Z"), is_included);
            assert_eq!(is_available(&pods[0], 4, asked), is_there);
        }
    }
}
