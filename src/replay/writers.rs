//! Reads from requests and Events who wrote ([`Author`]), to what ([`WriteTarget`]), and what ([`WriteChange`]).
//!
//! The registry names the writer by its user. node-lifecycle, taint-eviction and the CIDR allocator share one user:
//! deletions and patches of Pods and the Events of `taint-eviction-controller` belong to taint eviction, `podCIDR` to
//! the allocator, the rest to node lifecycle. Changes are compared, not bodies: two writers that append a taint may
//! come in either order, and each body then has both.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use nodeproof_core::components::registry::{ControllerRow, Duty, ROWS, SCHEDULER};
use nodeproof_core::json;
use nodeproof_core::network::{Call, LEASES, PODS, Resource, Target, Verb, WatchType};
use nodeproof_core::objects::{Json, Object, Text, time};

use super::load::{WatchLine, WriteLine};

/// A writer whose writes are judged: a controller of the registry, by its name, or admission.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Writer(&'static str);

/// The writers that need code of their own here.
impl Writer {
    /// Admission of created Nodes and Pods.
    pub const ADMISSION: Self = Self("admission");
    /// Attaches volumes, which recordings do not watch.
    pub const ATTACH_DETACH: Self = Self("persistentvolume-attach-detach-controller");
    /// Binds volumes, which recordings do not watch.
    pub const BINDER: Self = Self("persistentvolume-binder-controller");
    /// Manages Deployments, which recordings do not watch.
    pub const DEPLOYMENT: Self = Self("deployment-controller");
    /// Manages endpoint slices, whose writes no audit log contains, for Services, which recordings do not watch.
    pub const ENDPOINT_SLICE: Self = Self("endpointslice-controller");
    /// Deletes objects of kinds that recordings may not watch.
    pub const GARBAGE_COLLECTOR: Self = Self("garbage-collector-controller");
    /// Deletes the contents of Namespaces, which recordings may not watch.
    pub const NAMESPACE: Self = Self("namespace-controller");
    /// Allocates blocks of addresses to Nodes.
    pub const NODE_IPAM: Self = Self("node-ipam-controller");
    /// Works in health and taint passes.
    pub const NODE_LIFECYCLE: Self = Self("node-lifecycle-controller");
    /// Works in passes.
    pub const POD_GC: Self = Self("pod-garbage-collector-controller");
    /// Runs without the controller manager.
    pub const SCHEDULER: Self = Self(SCHEDULER);
    /// Reads each Pod before it patches it.
    pub const TAINT_EVICTION: Self = Self("taint-eviction-controller");
    /// Sets an annotation that no other writer sets.
    pub const TTL: Self = Self("ttl-controller");
}

impl Writer {
    /// Returns the writers that run on their own and whose writes recordings hold.
    pub fn controllers() -> impl Iterator<Item = Self> {
        ROWS.iter().filter(|row| !matches!(row.duty, Duty::Unrecorded | Duty::Driver)).map(|row| Self(row.name))
    }

    /// Returns the name, as in `--controllers`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0
    }

    fn row(self) -> Option<&'static ControllerRow> {
        ROWS.iter().find(|row| row.name == self.0)
    }

    /// Tells whether it manages a workload: its statuses are compared when they have settled.
    #[must_use]
    pub fn is_workload(self) -> bool {
        self.row().is_some_and(|row| row.duty == Duty::Workload)
    }

    /// Returns the user with which it writes, without the prefix of service accounts; empty for admission.
    #[must_use]
    pub fn user(self) -> &'static str {
        self.row().map_or("", |row| row.user)
    }
}

/// A writer, judged or not.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Author {
    /// One that is modelled.
    Judged(Writer),
    /// One that is an input only.
    Other(String),
}

/// The target of a request.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct WriteTarget {
    /// Group, version and plural.
    pub resource: Resource,
    /// The namespace; empty for cluster-scoped kinds.
    pub namespace: Text,
    /// The name; empty for a collection.
    pub name: Text,
    /// The subresource; empty for the object itself.
    pub subresource: Text,
}

impl WriteTarget {
    /// Reads a path of the API.
    #[must_use]
    pub fn parse(uri: &str) -> Option<Self> {
        let path = uri.split('?').next().unwrap_or_default();
        let mut parts = path.trim_start_matches('/').split('/');
        let group = match parts.next()? {
            "api" => "",
            "apis" => parts.next()?,
            _ => return None,
        };
        let version = parts.next()?;
        let mut rest: Vec<&str> = parts.collect();
        let mut namespace = "";
        // Source: k8s.io/apiserver pkg/endpoints/request/requestinfo.go (v1.34), `namespaceSubresources`.
        let is_within = rest.get(2).is_some_and(|part| !["status", "finalize"].contains(part));
        if rest.first() == Some(&"namespaces") && is_within {
            namespace = rest[1];
            rest.drain(..2);
        }
        let part = |at: usize| Text::from(rest.get(at).copied().unwrap_or_default());
        Some(Self {
            resource: Resource { group: Text::from(group), version: Text::from(version), plural: part(0) },
            namespace: Text::from(namespace),
            name: part(1),
            subresource: part(2),
        })
    }

    /// Returns the target of a call.
    #[must_use]
    pub fn of(call: &Call) -> Option<Self> {
        match &call.target {
            Target::Path(path) => Self::parse(path),
            Target::Resource { resource, namespace, name, subresource } => Some(Self {
                resource: resource.clone(),
                namespace: namespace.clone(),
                name: name.clone(),
                subresource: subresource.clone(),
            }),
        }
    }

    /// Tells whether such a request writes an Event: its content is compared, not its name.
    #[must_use]
    pub fn is_event(&self, verb: Verb) -> bool {
        self.resource.plural == *"events" && verb != Verb::DeleteCollection
    }

    /// Prints the object: `pods/default/web-1`.
    #[must_use]
    pub fn object(&self) -> String {
        let mut text = self.resource.plural.to_string();
        for part in [&self.namespace, &self.name] {
            if !part.is_empty() {
                text.push('/');
                text.push_str(part);
            }
        }
        text
    }
}

/// The change of a write, in a form in which both sides can be compared.
#[derive(Clone, PartialEq, Debug)]
pub enum WriteChange {
    /// A patch of a Node that sets `spec.taints`.
    Taints {
        /// New taints.
        added: Vec<Json>,
        /// Removed taints.
        removed: Vec<Json>,
    },
    /// Any other patch, without the version and uid that it requires.
    Patch(Json),
    /// The status of a whole object.
    Status(Json),
    /// A deletion with its options.
    Delete(Json),
    /// The content of an Event, with the object that it is about.
    Event(Json),
    /// A whole object that a controller creates, without the fields that the server adds.
    Whole(Json),
    /// A Pod, by uid, and the Node that it is bound to.
    Binding(Json),
    /// A whole object whose body is not recorded.
    Unknown,
}

/// All recorded revisions, to find the one that a patch started from.
#[derive(Clone, Debug, Default)]
pub struct Revisions(BTreeMap<u64, Object>);

impl Revisions {
    /// Collects the revisions of a recording.
    #[must_use]
    pub fn of(watch: &[WatchLine]) -> Self {
        Self(watch.iter().map(|line| (line.object.resource_version(), line.object.clone())).collect())
    }

    fn taints(&self, body: &Json, name: &str) -> Vec<Json> {
        let version =
            body.at(&["metadata", "resourceVersion"]).as_str().and_then(|text| text.parse().ok()).unwrap_or(0);
        match self.0.get(&version) {
            Some(base) if base.name() == name => base.stable().at(&["spec", "taints"]).items().to_vec(),
            _ => Vec::new(),
        }
    }
}

impl WriteChange {
    /// Returns the change of a request.
    #[must_use]
    pub fn of(verb: Verb, place: &WriteTarget, body: &Json, revisions: &Revisions) -> Self {
        if place.is_event(verb) {
            return Self::Event(event_content(body));
        }
        match verb {
            Verb::Delete | Verb::DeleteCollection => {
                let mut options = body.clone();
                options.remove(&["kind"]);
                options.remove(&["apiVersion"]);
                if place.resource == LEASES {
                    // The revisions of renewals are not recorded.
                    options.remove(&["preconditions", "resourceVersion"]);
                }
                Self::Delete(if options.is_empty() { Json::Null } else { options })
            }
            Verb::Patch => patch(place, body, revisions),
            _ if place.subresource == *"binding" => Self::Binding(binding_content(body)),
            _ if body.get("_").as_str().is_some() => Self::Unknown,
            _ if is_compared_whole(verb, place) => Self::Whole(whole(body)),
            _ => Self::Status(body.get("status").clone()),
        }
    }

    /// Tells whether two changes are about the same thing, possibly with other values.
    #[must_use]
    pub fn alike(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Taints { added, removed }, Self::Taints { added: other_added, removed: other_removed }) => {
                identities(added) == identities(other_added) && identities(removed) == identities(other_removed)
            }
            (Self::Event(one), Self::Event(other)) => {
                one.get("reason") == other.get("reason")
                    && one.get("involvedObject").get("name") == other.get("involvedObject").get("name")
            }
            (Self::Unknown, Self::Status(_) | Self::Whole(_)) | (Self::Status(_) | Self::Whole(_), Self::Unknown) => {
                true
            }
            (Self::Patch(one), Self::Patch(other)) => shape(one) == shape(other),
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// Returns the paths at which two changes differ; instants within `tolerance` of each other are equal.
    #[must_use]
    pub fn differences(&self, sim: &Self, tolerance: SignedDuration) -> Vec<FieldDifference> {
        let mut found = Vec::new();
        match (self, sim) {
            (Self::Unknown, _) | (_, Self::Unknown) => {}
            _ => diff("", &self.as_json(), &sim.as_json(), tolerance, &mut found),
        }
        found
    }

    /// Tells whether the write changes nothing: a patch with only the version.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Patch(patch) => patch.is_empty(),
            Self::Taints { added, removed } => added.is_empty() && removed.is_empty(),
            _ => false,
        }
    }

    /// Tells whether an object of a watch may be the result of the write.
    #[must_use]
    pub fn is_in(&self, event: WatchType, object: &Object) -> bool {
        match self {
            Self::Delete(_) => {
                event == WatchType::Deleted || !object.stable().at(&["metadata", "deletionTimestamp"]).is_null()
            }
            Self::Taints { added, removed } => {
                let there = object.stable().at(&["spec", "taints"]).items();
                let has = |taint: &Json| there.iter().any(|other| identity(other) == identity(taint));
                added.iter().all(has) && !removed.iter().any(has)
            }
            Self::Patch(patch) => holds(&object.json(), patch),
            Self::Binding(binding) => {
                object.stable().at(&["spec", "nodeName"]) == binding.at(&["target", "name"])
                    && object.uid() == binding.at(&["metadata", "uid"]).as_str().unwrap_or_default()
            }
            Self::Status(_) | Self::Event(_) | Self::Whole(_) | Self::Unknown => true,
        }
    }

    /// Returns the change as JSON, for reports.
    #[must_use]
    pub fn as_json(&self) -> Json {
        match self {
            Self::Taints { added, removed } => {
                let mut change = Json::object();
                for (name, taints) in [("added", added), ("removed", removed)] {
                    if !taints.is_empty() {
                        change.set(&["spec", "taints", name], taints.clone());
                    }
                }
                change
            }
            Self::Patch(patch) => patch.clone(),
            Self::Status(status) => json!({"status": serde_json::Value::from(status)}),
            Self::Delete(options) => json!({"deleteOptions": serde_json::Value::from(options)}),
            Self::Event(content) | Self::Binding(content) | Self::Whole(content) => content.clone(),
            Self::Unknown => Json::Null,
        }
    }
}

/// Tells whether a write is compared as a whole object: a ReplicaSet when it is created, slices always.
#[must_use]
pub fn is_compared_whole(verb: Verb, place: &WriteTarget) -> bool {
    match place.resource.plural.as_str() {
        "replicasets" => verb == Verb::Create,
        "endpointslices" => matches!(verb, Verb::Create | Verb::Update),
        _ => false,
    }
}

/// Returns an object as its creator sends it: without the fields that the server adds, and with a fixed text for the
/// hash of a template, which is a choice. The endpoints of a slice have no order.
#[must_use]
pub fn whole(object: &Json) -> Json {
    const HASH: &str = "pod-template-hash";
    let mut whole = object.clone();
    for field in ["uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"] {
        whole.remove(&["metadata", field]);
    }
    for field in ["kind", "apiVersion", "status"] {
        whole.remove(&[field]);
    }
    let hash = whole.at(&["metadata", "labels", HASH]).as_str().unwrap_or_default().to_owned();
    if !hash.is_empty() {
        let name = whole.at(&["metadata", "name"]).as_str().unwrap_or_default().replace(&hash, "HASH");
        whole.set(&["metadata", "name"], name);
        let places: [&[&str]; 3] = [
            &["metadata", "labels", HASH],
            &["spec", "selector", "matchLabels", HASH],
            &["spec", "template", "metadata", "labels", HASH],
        ];
        for place in places.into_iter().filter(|place| *object.at(place) == Json::text(&hash)) {
            whole.set(place, "HASH");
        }
    } else if !whole.at(&["metadata", "generateName"]).is_null() {
        whole.remove(&["metadata", "name"]);
    }
    if !whole.get("endpoints").is_empty() {
        let mut endpoints = whole.get("endpoints").items().to_vec();
        endpoints.sort_by_key(ToString::to_string);
        whole.set(&["endpoints"], endpoints);
    }
    whole
}

fn patch(place: &WriteTarget, body: &Json, revisions: &Revisions) -> WriteChange {
    let mut rest = body.clone();
    rest.remove(&["metadata", "resourceVersion"]);
    rest.remove(&["metadata", "uid"]);
    if rest.get("metadata").is_empty() {
        rest.remove(&["metadata"]);
    }
    // Upstream keeps the volumes of a Node without an order.
    let attached = rest.at(&["status", "volumesAttached"]);
    if place.resource.plural == *"nodes" && attached.is_array() {
        let mut sorted = attached.items().to_vec();
        sorted.sort_by_key(|volume| volume.get("name").as_text().cloned());
        rest.set(&["status", "volumesAttached"], sorted);
    }
    let Json::Object(spec) = body.get("spec") else { return WriteChange::Patch(rest) };
    let (Some(taints), true) = (spec.get("taints"), place.resource.plural == *"nodes") else {
        return WriteChange::Patch(rest);
    };
    let before = revisions.taints(body, &place.name);
    let after = taints.items();
    let lacks = |list: &[Json], taint: &Json| !list.iter().any(|other| identity(other) == identity(taint));
    WriteChange::Taints {
        added: sorted(after.iter().filter(|taint| lacks(&before, taint))),
        removed: sorted(before.iter().filter(|taint| lacks(after, taint))),
    }
}

/// Tells whether an object contains what a strategic merge patch sets.
fn holds(object: &Json, patch: &Json) -> bool {
    match patch {
        Json::Null => object.is_null(),
        Json::Object(_) => patch
            .fields()
            .filter(|(name, _)| !name.starts_with('$'))
            .all(|(name, value)| holds(object.get(name), value)),
        Json::Array(_) => {
            let merged = patch.items().iter().filter(|item| item.get("$patch").is_null());
            merged.into_iter().all(|item| object.items().iter().any(|there| holds(there, item)))
        }
        _ => object == patch,
    }
}

/// Returns the fields that a patch touches, two levels deep.
fn shape(patch: &Json) -> Vec<(&Text, &Text)> {
    patch.fields().flat_map(|(name, part)| part.fields().map(move |(field, _)| (name, field))).collect()
}

fn sorted<'a>(taints: impl Iterator<Item = &'a Json>) -> Vec<Json> {
    let mut taints: Vec<Json> = taints.cloned().collect();
    taints.sort_by_key(identity);
    taints
}

fn identity(taint: &Json) -> (String, String, String) {
    let text = |field| taint.get(field).as_str().unwrap_or_default().to_owned();
    (text("key"), text("value"), text("effect"))
}

fn identities(taints: &[Json]) -> Vec<(String, String, String)> {
    taints.iter().map(identity).collect()
}

/// Returns the content of an Event and its count, without names and instants.
fn event_content(event: &Json) -> Json {
    let mut content = Json::object();
    for field in ["reason", "message", "type", "count"] {
        content.set(&[field], event.get(field).clone());
    }
    content.set(&["source", "component"], event.at(&["source", "component"]).clone());
    content.set(&["metadata", "namespace"], event.at(&["metadata", "namespace"]).clone());
    // Events of the group events.k8s.io have more fields, and count in another way.
    if !event.get("action").is_empty() {
        content.set(&["action"], event.get("action").clone());
        content.set(&["reportingComponent"], event.get("reportingComponent").clone());
        content.set(&["series", "count"], event.at(&["series", "count"]).clone());
        content.set(&["related", "uid"], event.at(&["related", "uid"]).clone());
    }
    let mut involved = event.get("involvedObject").clone();
    involved.remove(&["resourceVersion"]);
    content.set(&["involvedObject"], involved);
    content
}

fn binding_content(binding: &Json) -> Json {
    let mut content = Json::object();
    for path in [&["metadata", "uid"][..], &["target", "kind"], &["target", "name"]] {
        content.set(path, binding.at(path).clone());
    }
    content
}

/// Converts an Event of the group `events.k8s.io` to the core group, as far as this scheduler fills it.
#[must_use]
pub fn as_core_event(event: &Json) -> Json {
    const NAMES: [(&str, &str); 3] =
        [("regarding", "involvedObject"), ("note", "message"), ("reportingController", "reportingComponent")];
    let mut core = Json::object();
    for (field, value) in event.fields() {
        let name = NAMES.iter().find(|(new, _)| **field == **new).map_or(field.as_str(), |(_, old)| *old);
        core.set(&[name], value.clone());
    }
    core
}

/// A field in which the two sides differ.
#[derive(Clone, PartialEq, Debug)]
pub struct FieldDifference {
    /// The field's path, as `status.conditions[Ready].reason`.
    pub path: String,
    /// What was recorded; `Null` for nothing.
    pub real: Json,
    /// What the model has; `Null` for nothing.
    pub sim: Json,
}

/// Compares two trees: lists of objects with a `type` (or a `key` and `effect`) by that, other lists by position.
pub(super) fn diff(path: &str, real: &Json, sim: &Json, tolerance: SignedDuration, found: &mut Vec<FieldDifference>) {
    match (real, sim) {
        _ if real == sim || (real.is_empty() && sim.is_empty()) => {}
        (Json::Str(one), Json::Str(other)) if same_instant(one, other, tolerance) => {}
        (Json::Object(_), Json::Object(_)) => {
            let names: std::collections::BTreeSet<&Text> =
                real.fields().chain(sim.fields()).map(|(name, _)| name).collect();
            for name in names {
                let path = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
                diff(&path, real.get(name), sim.get(name), tolerance, found);
            }
        }
        (Json::Array(_), Json::Array(_)) => diff_lists(path, real.items(), sim.items(), tolerance, found),
        _ => found.push(FieldDifference { path: path.to_owned(), real: real.clone(), sim: sim.clone() }),
    }
}

fn diff_lists(path: &str, real: &[Json], sim: &[Json], tolerance: SignedDuration, found: &mut Vec<FieldDifference>) {
    let key = |item: &Json| {
        item.get("type").as_str().or_else(|| item.get("key").as_str()).map(|name| match item.get("effect").as_str() {
            Some(effect) => format!("{name}:{effect}"),
            None => name.to_owned(),
        })
    };
    let keyed = |items: &[Json]| items.iter().map(key).collect::<Option<Vec<_>>>();
    if let (Some(real_keys), Some(sim_keys)) = (keyed(real), keyed(sim)) {
        let all: std::collections::BTreeSet<&String> = real_keys.iter().chain(&sim_keys).collect();
        let find = |keys: &[String], items: &[Json], key: &String| {
            keys.iter().position(|other| other == key).map_or(Json::Null, |at| items[at].clone())
        };
        for key in all {
            diff(&format!("{path}[{key}]"), &find(&real_keys, real, key), &find(&sim_keys, sim, key), tolerance, found);
        }
        return;
    }
    for at in 0..real.len().max(sim.len()) {
        let item = |items: &[Json]| items.get(at).cloned().unwrap_or_default();
        diff(&format!("{path}[{at}]"), &item(real), &item(sim), tolerance, found);
    }
}

fn same_instant(one: &str, other: &str, tolerance: SignedDuration) -> bool {
    match (time::parse(one), time::parse(other)) {
        // Both are truncated to whole seconds, so two instants within the tolerance may be read as one second further
        // apart.
        (Some(one), Some(other)) => one.duration_since(other).abs() <= tolerance + SignedDuration::from_secs(1),
        _ => false,
    }
}

/// Returns the author of a line of `writes.jsonl`.
#[must_use]
pub fn author_of_write(line: &WriteLine, place: Option<&WriteTarget>) -> Author {
    let user = line.user.rsplit(':').next().unwrap_or_default();
    let other = || Author::Other(user.to_owned());
    let Some(place) = place else { return other() };
    let mut writers = Writer::controllers().filter(|writer| writer.user() == user);
    match (writers.next(), writers.next()) {
        (Some(Writer::SCHEDULER), _) if place.resource != PODS => other(),
        (Some(writer), None) => Author::Judged(writer),
        (Some(_), Some(_)) => told_apart(line, place).map_or_else(other, Author::Judged),
        (None, _) => other(),
    }
}

/// Returns the author among writers that share a user; `None` for a user whose writers cannot be told apart.
fn told_apart(line: &WriteLine, place: &WriteTarget) -> Option<Writer> {
    if !line.user.ends_with(Writer::NODE_LIFECYCLE.user()) {
        return None;
    }
    let sets = |field| !line.body.at(&["spec", field]).is_null();
    Some(if place.resource.plural == *"pods" && (line.verb == "delete" || line.verb == "patch") {
        Writer::TAINT_EVICTION
    } else if sets("podCIDR") || sets("podCIDRs") {
        Writer::NODE_IPAM
    } else {
        Writer::NODE_LIFECYCLE
    })
}

/// Returns the author of an Event; `None` for an Event of the script.
#[must_use]
pub fn author_of_event(event: &Json) -> Option<Author> {
    let component = event.at(&["source", "component"]).as_str().or_else(|| event.get("reportingComponent").as_str());
    let component = component.filter(|component| !["", "kubelet", "harness"].contains(component))?;
    let row = ROWS.iter().find(|row| row.event_source == component);
    Some(row.map_or_else(|| Author::Other(component.to_owned()), |row| Author::Judged(Writer(row.name))))
}
