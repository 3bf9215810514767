//! How many pods the owners of a budget's pods are meant to have.
//!
//! Mirrors `getExpectedScale`, `finders` and `getScaleController` of pkg/controller/disruption/disruption.go (v1.34).
//! ReplicaSets, Deployments, StatefulSets and ReplicationControllers are read from caches; the owner of any other kind
//! is asked for its subresource `scale`, once in a sync, after discovery has told the resource of its kind. Inputs: the
//! pods of a budget, what such owners have answered. Outputs: the number, the owner to ask next, or why there is none.
//! Left out on purpose: requests about built-in kinds without a scale, and a memory of what discovery has told.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;

use super::{DEPLOYMENT_CACHE, Disruption, DisruptionPurpose, PODS_CACHE, REPLICATION, SETS, STATEFUL};
use crate::components::controller::{ApiResult, KeyedRuntime, code, failure};
use crate::components::workload::pods::{controller_of, number, owner_key};
use crate::network::kinds::built_in;
use crate::network::{Call, Resource, Target, Verb};
use crate::objects::{Json, Object, ObjectKey, Text};

/// What owners have answered, by the UIDs that pods name: their scale, none for another object of that name, or an
/// error.
pub(super) type Scales = BTreeMap<Text, Result<Option<i64>, String>>;

/// How many pods the owners are meant to have.
pub(super) struct Scale {
    pub(super) pods: i64,
    /// Whether some pod has no owner and is not counted.
    pub(super) leaves_out: bool,
}

/// What is known of that number.
pub(super) enum Expected {
    Known(Scale),
    /// This owner has to be asked first.
    Asked(ScaledOwner),
    /// It cannot be found out.
    Unknown(String),
}

/// An owner of a kind that no cache holds, as a pod names it.
#[derive(Clone, Debug)]
pub(super) struct ScaledOwner {
    api_version: Text,
    kind: Text,
    key: ObjectKey,
    uid: Text,
}

impl ScaledOwner {
    fn of(pod: &Object, owner: &Json) -> Self {
        let text = |field| owner.get(field).as_text().cloned().unwrap_or_default();
        let key = ObjectKey::namespaced(pod.key().namespace, text("name"));
        Self { api_version: text("apiVersion"), kind: text("kind"), key, uid: text("uid") }
    }

    /// Makes the request for the resources of the kind's group and version.
    pub(super) fn kind_call(&self) -> Call {
        let root = if self.api_version.contains('/') { "apis" } else { "api" };
        let path = Text::from(format!("/{root}/{}", self.api_version));
        Call { target: Target::Path(path), ..Call::of_path("") }
    }

    /// Makes the request for the scale, once it is known which resource has the kind.
    pub(super) fn scale_call(&self, reply: &ApiResult) -> Result<Call, String> {
        if let Some(why) = failure(reply).filter(|_| code(reply) != 404) {
            return Err(why);
        }
        let found = reply.as_ref().map(|answer| answer.body()).unwrap_or_default();
        let resources = found.get("resources").items();
        let name = |resource: &Json| resource.get("name").as_text().cloned().unwrap_or_default();
        let is_its = |one: &&Json| one.get("kind").as_str() == Some(self.kind.as_str()) && !name(one).contains('/');
        let Some(plural) = resources.iter().find(is_its).map(name) else {
            return Err(no_match(&self.kind, &self.api_version));
        };
        let (group, version) = Resource::group_and_version(&self.api_version);
        let resource = Resource { group: group.into(), version: version.into(), plural };
        let scale = format!("{}/scale", resource.plural);
        if !resources.iter().any(|one| name(one) == *scale && one.get("kind").as_str() == Some("Scale")) {
            return Err(without_scale(&resource));
        }
        Ok(Call::new(Verb::Get, resource, &self.key.namespace, &self.key.name).subresource("scale"))
    }

    /// Reads the scale; none if there is no such owner.
    pub(super) fn replicas(&self, reply: &ApiResult) -> Result<Option<i64>, String> {
        match failure(reply) {
            Some(_) if code(reply) == 404 => Ok(None),
            Some(why) => Err(why),
            None => {
                let scale = reply.as_ref().map(|answer| answer.body()).unwrap_or_default();
                let is_its = scale.at(&["metadata", "uid"]).as_text() == Some(&self.uid);
                Ok(is_its.then(|| scale.at(&["spec", "replicas"]).as_i64().unwrap_or(0)))
            }
        }
    }
}

impl Disruption {
    /// Notes what an owner has answered.
    pub(super) fn note_scale(&mut self, budget: &ObjectKey, owner: ScaledOwner, scale: Result<Option<i64>, String>) {
        self.scales.entry(budget.clone()).or_default().insert(owner.uid, scale);
    }

    /// Counts the pods that the owners of a budget's pods are meant to have.
    pub(super) fn scale(
        &self,
        budget: &ObjectKey,
        scales: &Scales,
        runtime: &KeyedRuntime<DisruptionPurpose>,
    ) -> Expected {
        let mut owners: BTreeMap<String, i64> = BTreeMap::new();
        let mut leaves_out = false;
        for pod in self.pods.of(budget).filter_map(|pod| runtime.cache(PODS_CACHE).get(pod)) {
            let Some(owner) = controller_of(pod) else {
                leaves_out = true;
                continue;
            };
            let uid = owner.get("uid").as_str().unwrap_or("");
            let (uid, replicas) = match found_owner(pod, owner, runtime) {
                Ok(own) => {
                    let own = above(own, runtime).unwrap_or(own);
                    (own.uid(), number(own, &["spec", "replicas"], 1))
                }
                Err(Missing::Told(why)) => return Expected::Unknown(why),
                Err(Missing::Elsewhere) => match scales.get(uid) {
                    None => return Expected::Asked(ScaledOwner::of(pod, owner)),
                    Some(Err(why)) => return Expected::Unknown(why.clone()),
                    Some(Ok(None)) => return Expected::Unknown(no_controller(pod)),
                    Some(Ok(Some(replicas))) => (uid, *replicas),
                },
            };
            owners.insert(String::from(uid), replicas);
        }
        Expected::Known(Scale { pods: owners.values().sum(), leaves_out })
    }
}

/// Why no cache has an owner.
enum Missing {
    /// What an Event tells.
    Told(String),
    /// Its kind is not built in.
    Elsewhere,
}

/// Returns the Deployment of a ReplicaSet.
fn above<'a>(own: &Object, runtime: &'a KeyedRuntime<DisruptionPurpose>) -> Option<&'a Object> {
    let (deployment, uid) = owner_key(own, "Deployment")?;
    runtime.cache(DEPLOYMENT_CACHE).get(&deployment).filter(|above| above.uid() == &*uid)
}

/// Returns the owner of a pod; the controllers that are looked for have any version.
fn found_owner<'a>(
    pod: &Object,
    owner: &Json,
    runtime: &'a KeyedRuntime<DisruptionPurpose>,
) -> Result<&'a Object, Missing> {
    let kind = owner.get("kind").as_str().unwrap_or("");
    let source = match (group_of(owner), kind) {
        ("apps" | "extensions", "ReplicaSet") => Some(SETS),
        ("apps", "StatefulSet") => Some(STATEFUL),
        ("apps", "Deployment") => Some(DEPLOYMENT_CACHE),
        ("", "ReplicationController") => Some(REPLICATION),
        _ => None,
    };
    let found = source.zip(owner_key(pod, kind)).and_then(|(source, (key, uid))| {
        let own = runtime.cache(source).get(&key)?;
        (own.uid() == &*uid).then_some(own)
    });
    match found {
        Some(own) if source != Some(DEPLOYMENT_CACHE) || resource_of(owner, kind).is_some() => Ok(own),
        _ => Err(unscaled(pod, owner, kind, source.is_some())),
    }
}

fn group_of(owner: &Json) -> &str {
    Resource::group_and_version(owner.get("apiVersion").as_str().unwrap_or("")).0
}

/// Returns the resource of an owner, of its group and version.
fn resource_of(owner: &Json, kind: &str) -> Option<&'static Resource> {
    built_in(owner.get("apiVersion").as_str().unwrap_or(""), kind).map(|own| &own.resource)
}

/// Returns why an owner is not found, or of a kind whose scale is not known.
fn unscaled(pod: &Object, owner: &Json, kind: &str, has_scale: bool) -> Missing {
    let version = owner.get("apiVersion").as_str().unwrap_or("");
    match resource_of(owner, kind) {
        None if has_scale => Missing::Told(no_match(kind, version)),
        None => Missing::Elsewhere,
        Some(_) if has_scale => Missing::Told(no_controller(pod)),
        Some(resource) => Missing::Told(without_scale(resource)),
    }
}

fn no_match(kind: &str, version: &str) -> String {
    format!("no matches for kind {kind:?} in version {version:?}")
}

fn no_controller(pod: &Object) -> String {
    format!("found no controllers for pod {:?}", pod.name())
}

fn without_scale(resource: &Resource) -> String {
    format!("{} does not implement the scale subresource", resource.qualified())
}
