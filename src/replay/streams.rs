//! The streams of a recording: what its watches showed of each resource, and what they did not show and is told from
//! what the script and the controllers did.
//!
//! Input: a recording. Output: a [`Stream`] for each resource. Lease renewals, which the recording stores in a compact
//! form, become watch events again. Invariant: a stream keeps the order in which the server committed.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use nodeproof_core::components::volumes::{ATTACHMENTS, CLAIMS, CLASSES, DRIVERS, VOLUMES};
use nodeproof_core::network::{CSI_NODES, LEASES, NAMESPACES, NODE_LEASES, NODES, PODS, Resource, WatchType};
use nodeproof_core::objects::{Object, time};

use super::inferred;
use super::load::{Micros, Recording, WatchLine};

/// How long after it was sent a renewal is answered, about.
const RENEWAL_TAKES: Micros = 4_000;
/// A kubelet's clock that differs by more than this is skewed on purpose.
const SKEW_MIN: Micros = 30_000_000;

/// Kinds that some recordings watch beside Nodes, Pods and Leases.
static OTHERS: [(&str, Resource); 15] = [
    ("CSIDriver", DRIVERS),
    ("CSINode", CSI_NODES),
    ("DaemonSet", Resource::of("apps", "v1", "daemonsets")),
    ("Deployment", inferred::DEPLOYMENTS),
    ("EndpointSlice", Resource::of("discovery.k8s.io", "v1", "endpointslices")),
    ("Job", Resource::of("batch", "v1", "jobs")),
    ("Namespace", NAMESPACES),
    ("PersistentVolume", VOLUMES),
    ("PersistentVolumeClaim", CLAIMS),
    ("PodDisruptionBudget", Resource::of("policy", "v1", "poddisruptionbudgets")),
    ("ReplicaSet", Resource::of("apps", "v1", "replicasets")),
    ("Service", inferred::SERVICES),
    ("StatefulSet", Resource::of("apps", "v1", "statefulsets")),
    ("StorageClass", CLASSES),
    ("VolumeAttachment", ATTACHMENTS),
];

/// An event of a stream.
#[derive(Clone, Debug)]
pub struct StreamEvent {
    /// When it reached the recorder.
    pub t: Micros,
    /// Whether it was there before the recording began.
    pub listed: bool,
    /// How the object changed.
    pub event: WatchType,
    /// The object.
    pub object: Object,
    /// The judged write that caused it.
    pub cause: Option<usize>,
    /// The line of `watch.jsonl`; `None` for an event that was made from `actions.jsonl`.
    pub(super) line: Option<usize>,
    is_renewal: bool,
    /// When the write was received that this event is told from.
    pub(super) written: Option<Micros>,
}

impl StreamEvent {
    /// Tells whether this is a renewal, whose arrival is known only to some milliseconds.
    #[must_use]
    pub const fn is_renewal(&self) -> bool {
        self.is_renewal
    }

    /// Tells whether this is told from a write, so that its instant is known only to the duration of that.
    #[must_use]
    pub const fn is_told(&self) -> bool {
        self.written.is_some()
    }
}

/// The events of one resource in order.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The resource.
    pub resource: Resource,
    /// Whether it was not watched: later changes of its objects are those of the judged writer itself.
    pub inferred: bool,
    /// Its events.
    pub events: Vec<StreamEvent>,
}

/// Returns the streams of a recording.
pub(super) fn streams(recording: &Recording) -> Vec<Stream> {
    let of = |kind: &str| {
        let events =
            recording.watch.iter().enumerate().filter(|(_, line)| line.kind == kind).map(|(at, line)| event(at, line));
        events.collect::<Vec<_>>()
    };
    let mut leases = of("Lease");
    leases.extend(renewals(recording, &leases));
    leases.sort_by_key(|event| event.t);
    let mut streams = Vec::from([
        Stream { resource: NODES, inferred: false, events: of("Node") },
        Stream { resource: PODS, inferred: false, events: of("Pod") },
        Stream { resource: LEASES, inferred: false, events: leases },
    ]);
    let others = OTHERS.iter().map(|(kind, resource)| (resource, false, of(kind)));
    let is_watched = |resource: &Resource| {
        OTHERS.iter().any(|(kind, own)| own == resource && recording.watch.iter().any(|line| line.kind == *kind))
    };
    let made = inferred::CREATED.map(|resource| {
        let created = if is_watched(&resource) { Vec::new() } else { inferred::made(recording, &resource) };
        let events = created.into_iter().map(|(t, object)| told(t, object, None));
        (resource, events.collect::<Vec<_>>())
    });
    let made = made.iter().map(|(resource, events)| (resource, true, events.clone()));
    let revisions = if is_watched(&VOLUMES) { Vec::new() } else { inferred::volumes(recording) };
    let revisions = revisions.into_iter().map(|own| told(own.t, own.object, own.written)).collect::<Vec<_>>();
    let volumes = VOLUMES;
    let others = others.chain(made).chain([(&volumes, false, revisions)]).filter(|(.., events)| !events.is_empty());
    streams.extend(others.map(|(resource, inferred, events)| Stream { resource: resource.clone(), inferred, events }));
    streams
}

/// Makes an event that no watch shows.
fn told(t: Micros, object: Object, written: Option<Micros>) -> StreamEvent {
    let event = if written.is_some() { WatchType::Modified } else { WatchType::Added };
    StreamEvent { t, listed: false, event, object, cause: None, line: None, is_renewal: false, written }
}

fn event(at: usize, line: &WatchLine) -> StreamEvent {
    StreamEvent {
        t: line.t,
        listed: line.listed,
        event: line.event,
        object: line.object.clone(),
        cause: None,
        line: Some(at),
        is_renewal: false,
        written: None,
    }
}

/// Makes watch events of the compact renewals: `renewTime` is the instant of sending by the node's clock.
fn renewals(recording: &Recording, leases: &[StreamEvent]) -> Vec<StreamEvent> {
    let mut skews: BTreeMap<&str, Micros> = BTreeMap::new();
    let mut made = Vec::new();
    for action in &recording.actions {
        let Some(node) = action.actor.strip_prefix("kubelet/") else { continue };
        let body = action.request.get("body");
        let written = body.at(&["spec", "renewTime"]).as_str().and_then(time::parse);
        if let Some(written) = written {
            let off = recording.offset(written) - action.t;
            skews.insert(node, if off.abs() > SKEW_MIN { off } else { 0 });
        }
        if action.action != "renew-lease" || action.response.get("code").as_i64().is_some_and(|code| code >= 300) {
            continue;
        }
        let answered = if action.response.is_null() { action.t + RENEWAL_TAKES } else { action.answered() };
        let is_its = |event: &&StreamEvent| event.object.name() == node && event.object.key().namespace == *NODE_LEASES;
        let Some(base) = leases.iter().filter(is_its).rfind(|event| event.t <= answered) else { continue };
        if base.event == WatchType::Deleted {
            continue;
        }
        let skew = skews.get(node).copied().unwrap_or(0);
        let renew_time = written.unwrap_or_else(|| recording.at(action.t) + SignedDuration::from_micros(skew));
        // The revision is not recorded. That of the last known change is used: an informer can rely on no other.
        let version = base.object.resource_version();
        made.push(StreamEvent {
            t: answered,
            listed: false,
            event: WatchType::Modified,
            object: base.object.renewed(renew_time, version),
            cause: None,
            line: None,
            is_renewal: true,
            written: None,
        });
    }
    made
}
