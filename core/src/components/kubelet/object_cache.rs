//! The ConfigMaps and secrets that a node's pods name, each kept current by a watch of its own.
//!
//! Mirrors pkg/kubelet/util/manager/watch_based_manager.go (v1.34), as `configMapAndSecretChangeDetectionStrategy:
//! Watch` wants it, which is the default. Inputs: pods that start and end, watch events, time. Outputs: requests, and
//! the objects. Invariant: an object is watched while a pod that names it has not ended, so it is there while the API
//! server cannot be reached. An immutable one is not watched any more once it was read. Left out on purpose: the
//! ConfigMap of the cluster's root certificate, which a volume of nearly every pod names and a controller keeps in each
//! namespace; the other strategies.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::{Kubelet, KubeletContext};
use crate::chance::Chance;
use crate::components::client::Reflector;
use crate::components::pod_references::{Reference, names};
use crate::components::{Deadline, Outbox, ROOT_CERTIFICATE, earliest};
use crate::network::{CONFIG_MAPS, Identity, RequestId, Resource, SECRETS, ToClient};
use crate::objects::{Object, ObjectKey, Text};

/// How long a reader waits for the first list. Source: watch_based_manager.go (v1.34), `objectCache.Get`.
const SYNC_WAIT: SignedDuration = SignedDuration::from_secs(1);
/// The time without a reader after which a watch ends, if no sync reads its object, and how often that is looked for.
/// Source: watch_based_manager.go (v1.34), `NewWatchBasedManager`, five times `syncFrequency`; `NewObjectCache`.
const IDLE_MAX: SignedDuration = SignedDuration::from_secs(5 * 60);
const IDLE_LOOK: SignedDuration = SignedDuration::from_secs(60);

/// A kind of objects that containers and volumes are made of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum CachedKind {
    ConfigMap,
    Secret,
}

impl CachedKind {
    /// Returns the name as errors print it. Source: pkg/kubelet/{configmap,secret} (v1.34), `corev1.Resource`.
    const fn text(self) -> &'static str {
        match self {
            Self::ConfigMap => "configmap",
            Self::Secret => "secret",
        }
    }

    const fn resource(self) -> Resource {
        match self {
            Self::ConfigMap => CONFIG_MAPS,
            Self::Secret => SECRETS,
        }
    }
}

/// Who reads an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CacheReader {
    /// A container that is made.
    Container,
    /// Each sync of a pod, for its volumes and the pulls of its images.
    Sync,
}

/// Why an object cannot be had.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum CacheError {
    /// There is none of that name.
    NotFound(String),
    /// Whether there is one is not known.
    Unknown(String),
    /// The first list is under way, and the reader waits for it until then.
    Pending(Timestamp),
}

#[derive(Clone, Debug)]
struct CachedObject {
    watch: Reflector,
    pods: BTreeSet<Text>,
    /// Since when a reader waits for the first list.
    awaited_since: Option<Timestamp>,
    read_at: Timestamp,
    is_read_by_syncs: bool,
    /// The object, if it is immutable: what happens to it later is not noticed.
    kept: Option<Object>,
}

/// The objects, by kind and name.
#[derive(Clone, Debug)]
pub(super) struct ObjectCache {
    chance: Chance,
    objects: BTreeMap<(CachedKind, ObjectKey), CachedObject>,
}

impl ObjectCache {
    pub(super) const fn new(chance: Chance) -> Self {
        Self { chance, objects: BTreeMap::new() }
    }

    /// Tells whether a message belongs to one of the watches.
    pub(super) fn owns(&self, id: RequestId) -> bool {
        self.objects.values().any(|own| own.watch.owns(id))
    }

    pub(super) fn next_deadline(&self) -> Option<Deadline> {
        earliest(self.objects.values().map(|own| own.watch.next_deadline()))
    }

    pub(super) fn handle_timeout(&mut self, outbox: &mut Outbox, now: Timestamp) {
        self.objects.values_mut().for_each(|own| own.watch.handle_timeout(outbox, now));
    }

    /// Takes a bookmark of one of the watches.
    pub(super) fn handle_bookmark(&mut self, id: RequestId, resource_version: u64) -> bool {
        let own = self.objects.values_mut().find(|own| own.watch.owns(id));
        own.is_some_and(|own| own.watch.handle_bookmark(resource_version))
    }

    /// Sends further requests as somebody else.
    pub(super) fn act_as(&mut self, identity: &alloc::sync::Arc<Identity>) {
        self.objects.values_mut().for_each(|own| own.watch.act_as(identity));
    }

    /// Drops what only a pod that has ended names.
    pub(super) fn release(&mut self, uid: &Text, outbox: &mut Outbox) {
        let unused = self.objects.extract_if(.., |_, own| own.pods.remove(uid) && own.pods.is_empty());
        unused.for_each(|(_, own)| own.watch.stop(outbox));
    }
}

impl Kubelet {
    fn watch_object(&mut self, kind: CachedKind, key: &ObjectKey, context: &mut KubeletContext<'_>) -> Reflector {
        let selector = (Text::of("fieldSelector"), Text::from(format!("metadata.name={}", key.name)));
        let chance = self.objects.chance.fork(&format!("{}/{}/{}", kind.text(), key.namespace, key.name));
        let (identity, selectors) = (self.identity.clone(), Vec::from([selector]));
        Reflector::new(identity, kind.resource(), key.namespace.clone(), selectors, chance, context.outbox)
    }

    /// Watches what a pod names.
    pub(super) fn register_references(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let Some(pod) = self.pods.object(uid) else { return };
        let (tree, namespace) = (pod.stable(), pod.key().namespace);
        let of = |kind: CachedKind, what: Reference| {
            let key = |name: String| ObjectKey { namespace: namespace.clone(), name: Text::from(name) };
            names(tree, what).into_iter().map(move |name| (kind, key(name)))
        };
        let maps = of(CachedKind::ConfigMap, Reference::ConfigMap).filter(|(_, key)| key.name != *ROOT_CERTIFICATE);
        let named: Vec<_> = maps.chain(of(CachedKind::Secret, Reference::Secret)).collect();
        for (kind, key) in named {
            let place = (kind, key);
            if let Some(own) = self.objects.objects.get_mut(&place) {
                own.pods.insert(uid.clone());
                continue;
            }
            let own = CachedObject {
                watch: self.watch_object(kind, &place.1, context),
                pods: BTreeSet::from([uid.clone()]),
                awaited_since: None,
                read_at: context.now,
                is_read_by_syncs: false,
                kept: None,
            };
            self.objects.objects.insert(place, own);
        }
    }

    /// Returns an object that a registered pod names.
    pub(super) fn referenced(
        &mut self,
        kind: CachedKind,
        key: &ObjectKey,
        reader: CacheReader,
        context: &mut KubeletContext<'_>,
    ) -> Result<Object, CacheError> {
        let (now, started) = (context.now, self.started);
        let place = (kind, key.clone());
        let is_stopped = self.objects.objects.get(&place).is_some_and(|own| own.has_stopped(started, now));
        let renewed = is_stopped.then(|| self.watch_object(kind, key, context));
        let Some(own) = self.objects.objects.get_mut(&place) else {
            return Err(CacheError::Unknown(format!("object {:?}/{:?} not registered", &*key.namespace, &*key.name)));
        };
        if let Some(watch) = renewed {
            core::mem::replace(&mut own.watch, watch).stop(context.outbox);
        }
        own.read_at = now;
        own.is_read_by_syncs |= reader == CacheReader::Sync;
        if let Some(kept) = &own.kept {
            return Ok(kept.clone());
        }
        if !own.watch.synced() {
            let until = *own.awaited_since.get_or_insert(now) + SYNC_WAIT;
            if now < until {
                return Err(CacheError::Pending(until));
            }
            own.awaited_since = None;
            let text = format!("failed to sync {} cache: timed out waiting for the condition", kind.text());
            return Err(CacheError::Unknown(text));
        }
        own.awaited_since = None;
        let missing = || CacheError::NotFound(format!("{} \"{}\" not found", kind.text(), key.name));
        let found = own.watch.get(key).cloned().ok_or_else(missing)?;
        if found.stable().get("immutable").as_bool() == Some(true) {
            own.kept = Some(found.clone());
            let none = Reflector::paused(self.identity.clone(), kind.resource(), self.objects.chance.fork("none"));
            core::mem::replace(&mut own.watch, none).stop(context.outbox);
        }
        Ok(found)
    }

    /// Takes a message of one of the watches: who waits for its first list goes on. What has changed later is found by
    /// the next sync.
    pub(super) fn handle_referenced(&mut self, message: ToClient, context: &mut KubeletContext<'_>) {
        let id = message.id();
        let Some(own) = self.objects.objects.values_mut().find(|own| own.watch.owns(id)) else { return };
        let was_synced = own.watch.synced();
        let _ = own.watch.handle_message(message, context.outbox, context.now);
        if !own.watch.synced() || was_synced && !own.is_read_by_syncs {
            return;
        }
        let pods: Vec<Text> = own.pods.iter().cloned().collect();
        for uid in pods {
            if was_synced {
                self.note_lack(&uid, context);
                continue;
            }
            self.mount_awaited(&uid, context);
            self.start_awaited(&uid, context.now);
            self.pods.wake_at(&uid, context.now);
        }
        self.settle_pods(context);
    }
}

impl CachedObject {
    /// Tells whether the watch had ended for want of readers: at the first look after it was idle for too long.
    fn has_stopped(&self, started: Timestamp, now: Timestamp) -> bool {
        let idle_at = (self.read_at + IDLE_MAX).duration_since(started).as_secs();
        let look = started + IDLE_LOOK * i32::try_from(idle_at.div_euclid(IDLE_LOOK.as_secs()) + 1).unwrap_or(i32::MAX);
        !self.is_read_by_syncs && self.watch.synced() && now >= look
    }
}
