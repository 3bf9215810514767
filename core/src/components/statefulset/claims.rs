//! The claims of a StatefulSet's pods: made before the pod, and owned by what takes them along when it is deleted.
//!
//! Mirrors `CreateStatefulPod`, `createPersistentVolumeClaims`, `ClaimsMatchRetentionPolicy`,
//! `UpdatePodClaimForRetentionPolicy` and `PodClaimIsStale` of pkg/controller/statefulset/stateful_pod_control.go, and
//! stateful_set_utils.go beside it (v1.34).
//! Inputs: the set with its claim templates and its retention policy, claims. Outputs: claims created, their owners
//! changed, Events.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::{CLAIM_CACHE, StatefulSetPurpose, StatefulSetSync, StatefulSets, about, ordinal};
use crate::components::controller::KeyedRuntime;
use crate::components::events::EventType;
use crate::components::volumes::CLAIMS;
use crate::components::workload::pods::{number, reference_to};
use crate::json;
use crate::network::{Call, Verb};
use crate::objects::lifecycle::is_ending;
use crate::objects::{Json, Object, ObjectKey, aggregate};

/// Who owns the claims of a pod, and so deletes them.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Owners {
    set: bool,
    pod: bool,
}

/// What follows when the claims of a pod have their owners.
#[derive(Clone, Debug)]
pub(super) enum AfterClaims {
    /// The creation of the pod is told, with its error. Upstream changes the claims of a pod before that, also if there
    /// is no pod. Source: stateful_pod_control.go (v1.34), `CreateStatefulPod`.
    Created(Option<String>),
    /// The pod is updated.
    Update,
    /// Nothing; an error is told.
    Told,
    /// Nothing, and an error is not told either. Source: stateful_set_control.go (v1.34), `fixPodClaim`.
    Untold,
}

fn owners(object: &Object) -> &[Json] {
    object.stable().at(&["metadata", "ownerReferences"]).items()
}

/// Tells whether a reference names an object, whatever its UID.
fn names(reference: &Json, kind: &str, object: &Object) -> bool {
    let version = if kind == "Pod" { "v1" } else { "apps/v1" };
    reference.get("kind").as_str() == Some(kind)
        && reference.get("apiVersion").as_str() == Some(version)
        && reference.get("name").as_str() == Some(object.name())
}

fn has_owner(claim: &Object, owner: &Object) -> bool {
    owners(claim).iter().any(|one| one.get("uid").as_str() == Some(owner.uid()))
}

/// Tells whether a claim belongs to an object of the same name that is gone.
fn is_stale(claim: &Object, kind: &str, owner: &Object) -> bool {
    let own = owners(claim).iter().find(|one| names(one, kind, owner));
    own.is_some_and(|one| one.get("uid").as_str() != Some(owner.uid()))
}

/// Returns a field of the retention policy: whether it is Delete.
fn deletes(set: &Object, when: &str) -> bool {
    set.stable().at(&["spec", "persistentVolumeClaimRetentionPolicy", when]).as_str() == Some("Delete")
}

fn in_range(set: &Object, pod: &Object) -> bool {
    let first = number(set, &["spec", "ordinals", "start"], 0);
    let end = first.saturating_add(number(set, &["spec", "replicas"], 1));
    ordinal(set, pod).is_some_and(|number| (first..end).contains(&number))
}

/// Returns who should own the claims of a pod. Source: stateful_set_utils.go (v1.34),
/// `updateClaimOwnerRefForSetAndPod`.
fn wanted(set: &Object, pod: &Object) -> Owners {
    let is_surplus = deletes(set, "whenScaled") && !in_range(set, pod);
    Owners { set: deletes(set, "whenDeleted") && !is_surplus, pod: is_surplus }
}

/// Tells whether another one controls a claim. Source: stateful_set_utils.go (v1.34), `hasUnexpectedController`.
fn has_other_controller(claim: &Object, set: &Object, pod: &Object) -> bool {
    let keeps_all = !deletes(set, "whenScaled") && !deletes(set, "whenDeleted");
    !keeps_all
        && owners(claim).iter().any(|one| {
            let own = [("StatefulSet", set), ("Pod", pod)].into_iter().find(|(kind, owner)| names(one, kind, owner));
            match own {
                Some((_, owner)) => one.get("uid").as_str() != Some(owner.uid()),
                None => one.get("controller").as_bool() == Some(true),
            }
        })
}

/// Tells whether a claim has the owners that it should have. Source: stateful_set_utils.go (v1.34),
/// `isClaimOwnerUpToDate`.
fn is_right(claim: &Object, set: &Object, pod: &Object) -> bool {
    if is_stale(claim, "StatefulSet", set) || is_stale(claim, "Pod", pod) {
        return true;
    }
    let has = Owners { set: has_owner(claim, set), pod: has_owner(claim, pod) };
    if has_other_controller(claim, set, pod) {
        return has == Owners { set: false, pod: false };
    }
    let is_ours = |one: &&Json| one.get("uid").as_str().is_some_and(|uid| uid == set.uid() || uid == pod.uid());
    let only_owns = owners(claim).iter().filter(is_ours).any(|one| one.get("controller").as_bool() != Some(true));
    !only_owns && has == wanted(set, pod)
}

/// Returns the owners that a claim should have.
fn corrected(claim: &Object, set: &Object, pod: &Object) -> Json {
    let own = |one: &&Json| !names(one, "StatefulSet", set) && !names(one, "Pod", pod);
    let mut all: Vec<Json> = owners(claim).iter().filter(own).cloned().collect();
    if !has_other_controller(claim, set, pod) {
        let wanted = wanted(set, pod);
        all.extend(wanted.pod.then(|| reference_to(pod, "v1", "Pod")));
        all.extend(wanted.set.then(|| reference_to(set, "apps/v1", "StatefulSet")));
    }
    Json::array(all)
}

/// Returns the names of the claims of a pod with their templates.
fn claims_of<'a>(set: &'a Object, pod: &str) -> impl Iterator<Item = (String, &'a Json)> {
    let templates = set.stable().at(&["spec", "volumeClaimTemplates"]).items().iter();
    templates
        .map(move |template| (format!("{}-{pod}", template.at(&["metadata", "name"]).as_str().unwrap_or("")), template))
}

impl StatefulSets {
    fn known<'a>(key: &ObjectKey, claim: &str, runtime: &'a KeyedRuntime<StatefulSetPurpose>) -> Option<&'a Object> {
        runtime.cache(CLAIM_CACHE).get(&ObjectKey::namespaced(key.namespace.clone(), claim))
    }

    /// Asks for the claims of a pod that are not there, once a sync; tells whether there were any.
    pub(super) fn make_claims(
        &self,
        key: &ObjectKey,
        work: &StatefulSetSync,
        pod: &str,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) -> bool {
        let mut asked = false;
        for (claim, template) in claims_of(&work.set, pod) {
            if Self::known(key, &claim, runtime).is_some() || work.claims.contains_key(&claim) {
                continue;
            }
            let mut body = json!({"kind": "PersistentVolumeClaim", "apiVersion": "v1"});
            body.set(&["metadata"], template.get("metadata").clone());
            body.set(&["metadata", "name"], claim.as_str());
            body.set(&["metadata", "namespace"], &key.namespace);
            for (label, value) in work.set.stable().at(&["spec", "selector", "matchLabels"]).fields() {
                body.set(&["metadata", "labels", label], value.clone());
            }
            body.set(&["spec"], template.get("spec").clone());
            let call = Call::new(Verb::Create, CLAIMS, &key.namespace, "").body(body);
            runtime.send(key, StatefulSetPurpose::Claim(claim, String::from(pod)), call, work.because, now);
            asked = true;
        }
        asked
    }

    /// Returns why a pod cannot have its claims.
    pub(super) fn claim_error(
        &self,
        key: &ObjectKey,
        work: &StatefulSetSync,
        pod: &str,
        runtime: &KeyedRuntime<StatefulSetPurpose>,
    ) -> Option<String> {
        let error = |claim: String| match work.claims.get(&claim) {
            Some(error) => error.as_ref().map(|error| format!("failed to create PVC {claim}: {error}")),
            None => {
                let is_going = Self::known(key, &claim, runtime).is_some_and(is_ending);
                is_going.then(|| format!("pvc {claim} is being deleted"))
            }
        };
        aggregate(claims_of(&work.set, pod).filter_map(|(claim, _)| error(claim)))
    }

    /// Tells whether a claim of a pod to make still goes with the pod of that name before.
    pub(super) fn has_stale_claim(
        &self,
        key: &ObjectKey,
        work: &StatefulSetSync,
        pod: &str,
        runtime: &KeyedRuntime<StatefulSetPurpose>,
    ) -> bool {
        let is_of_pod = |one: &Json| {
            one.get("kind").as_str() == Some("Pod")
                && one.get("apiVersion").as_str() == Some("v1")
                && one.get("name").as_str() == Some(pod)
        };
        deletes(&work.set, "whenScaled")
            && claims_of(&work.set, pod)
                .filter_map(|(claim, _)| Self::known(key, &claim, runtime))
                .any(|claim| owners(claim).iter().any(is_of_pod))
    }

    /// Tells whether the claims of a pod have the owners that the retention policy asks for.
    pub(super) fn has_right_claims(
        &self,
        key: &ObjectKey,
        work: &StatefulSetSync,
        pod: &Object,
        runtime: &KeyedRuntime<StatefulSetPurpose>,
    ) -> bool {
        claims_of(&work.set, pod.name())
            .filter(|(claim, _)| !work.kept.contains(claim))
            .filter_map(|(claim, _)| Self::known(key, &claim, runtime))
            .all(|claim| is_right(claim, &work.set, pod))
    }

    /// Gives the claims of a pod their owners, one claim after the other, and then does what follows; tells whether a
    /// claim is being written.
    pub(super) fn keep_claims(
        &self,
        key: &ObjectKey,
        work: &mut StatefulSetSync,
        (pod, then): (Object, AfterClaims),
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) -> bool {
        let set = work.set.clone();
        let names: Vec<String> = claims_of(&set, pod.name()).map(|(name, _)| name).collect();
        for name in names {
            let Some(claim) = Self::known(key, &name, runtime).filter(|_| !work.kept.contains(&name)).cloned() else {
                continue;
            };
            work.kept.insert(name.clone());
            if has_other_controller(&claim, &set, &pod) {
                let message = format!(
                    "PersistentVolumeClaim {name} has a conflicting OwnerReference that acts as a manging controller, \
                     the retention policy is ignored for this claim"
                );
                runtime.emit(&about(&set), EventType::Warning, "ConflictingController", &message, now);
            }
            if is_right(&claim, &set, &pod) {
                continue;
            }
            let mut body = claim.json();
            let owners = corrected(&claim, &set, &pod);
            if owners.is_empty() {
                body.remove(&["metadata", "ownerReferences"]);
            } else {
                body.set(&["metadata", "ownerReferences"], owners);
            }
            let call = Call::new(Verb::Update, CLAIMS, &key.namespace, name.as_str()).body(body);
            runtime.send(key, StatefulSetPurpose::Own(name, pod, then), call, work.because, now);
            return true;
        }
        match then {
            AfterClaims::Created(error) => {
                self.tell(work, "create", &format!("Pod {}", pod.name()), error.as_deref(), runtime, now);
            }
            AfterClaims::Update => Self::update(key, work, &pod, runtime, now),
            AfterClaims::Told | AfterClaims::Untold => {}
        }
        false
    }

    /// Takes the answer to a change of a claim's owners: after a failure the pod's other claims wait for the next sync.
    pub(super) fn handle_owned(
        &self,
        key: &ObjectKey,
        work: &mut StatefulSetSync,
        (claim, pod, then): (String, Object, AfterClaims),
        error: Option<&str>,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) {
        let Some(error) = error else {
            self.keep_claims(key, work, (pod, then), runtime, now);
            return;
        };
        work.failed = true;
        if !matches!(then, AfterClaims::Untold) {
            let error = format!("could not update claim {claim} for delete policy ownerRefs: {error}");
            self.tell(work, "update", &format!("Pod {}", pod.name()), Some(&error), runtime, now);
        }
    }
}
