//! The volumes of a pod that are made of ConfigMaps, secrets or huge pages, and when they are mounted.
//!
//! Mirrors pkg/volume/{configmap,secret,projected,emptydir} and pkg/kubelet/volumemanager (v1.34). Inputs: pods that
//! start, the objects that they name, time. Outputs: Events about mounts that fail, and whether all are mounted.
//! Invariant: a volume that no container mounts is not made. Each sync mounts again; of that only what fails is told.
//! Left out on purpose: sources of projected volumes other than ConfigMaps and secrets.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::{MOUNT_PAUSE, MOUNT_PAUSE_MAX, WAIT_MAX, look_after};
use crate::components::host::runtime::ContainerRole;
use crate::components::kubelet::events::EventType;
use crate::components::kubelet::object_cache::{CacheError, CacheReader, CachedKind};
use crate::components::kubelet::pods::is_optional;
use crate::components::kubelet::{Kubelet, KubeletContext};
use crate::components::{Deadline, ROOT_CERTIFICATE};
use crate::objects::quantity::Quantity;
use crate::objects::{Json, NULL, Object, ObjectKey, Text, aggregate};

/// The mount of one volume.
#[derive(Clone, Debug)]
struct SourceMount {
    volume: Text,
    /// When it is tried again; `None` once it is mounted.
    next_at: Option<Timestamp>,
    pause: SignedDuration,
    /// Whether it waits for the first list of an object.
    is_pending: bool,
}

/// The mounts of one pod.
#[derive(Clone, Debug)]
pub(super) struct SourceMounts {
    mounts: Vec<SourceMount>,
    /// When the sync that waits for them began.
    since: Timestamp,
    /// When the pod may go on; `None` before all are mounted.
    ready_at: Option<Timestamp>,
    has_failed: bool,
}

impl SourceMounts {
    /// Tells whether the sync has waited long enough.
    pub(super) fn is_given_up(&self, now: Timestamp) -> bool {
        self.ready_at.is_none() && now == self.since + WAIT_MAX
    }
}

impl super::Volumes {
    /// Returns when the next mount is tried.
    pub(in crate::components::kubelet) fn next_mount(&self) -> Option<Deadline> {
        let next = self.sources.values().flat_map(|own| &own.mounts).filter_map(|own| own.next_at).min();
        next.map(|at| Deadline { at, reason: "mount" })
    }
}

impl Kubelet {
    /// Tells whether the volumes of a pod that are made of ConfigMaps and secrets are mounted; starts what is missing.
    pub(in crate::components::kubelet) fn has_sources(&mut self, uid: &Text, context: &mut KubeletContext<'_>) -> bool {
        let now = context.now;
        if !self.volumes.sources.contains_key(uid) {
            let Some(pod) = self.pods.object(uid) else { return true };
            let mount = |volume: &Json| SourceMount {
                volume: volume.get("name").as_text().cloned().unwrap_or_default(),
                next_at: Some(now),
                pause: MOUNT_PAUSE,
                is_pending: false,
            };
            let mounts: Vec<SourceMount> = mounted(pod).filter(|own| has_sources(own)).map(mount).collect();
            if mounts.is_empty() {
                return true;
            }
            let own = SourceMounts { mounts, since: now, ready_at: None, has_failed: false };
            self.volumes.sources.insert(uid.clone(), own);
            self.mount_sources(uid, context);
        }
        let Some(own) = self.volumes.sources.get_mut(uid) else { return true };
        if now.duration_since(own.since) >= WAIT_MAX {
            // The pod's worker comes here again after the pause of a sync that failed.
            own.since = now;
            own.ready_at = own.ready_at.map(|at| at.min(now));
        }
        let at = own.ready_at.unwrap_or(own.since + WAIT_MAX);
        if at > now {
            self.pods.wake_at(uid, at);
        }
        at <= now
    }

    /// Tries the mounts that are due.
    pub(in crate::components::kubelet) fn mount_due(&mut self, context: &mut KubeletContext<'_>) {
        if self.volumes.next_mount().is_none_or(|next| next.at > context.now) {
            return;
        }
        let uids: Vec<Text> = self.volumes.sources.keys().cloned().collect();
        for uid in uids {
            self.mount_sources(&uid, context);
        }
        self.settle_pods(context);
    }

    /// Tries the mounts of a pod again that wait for the first list of an object.
    pub(in crate::components::kubelet) fn mount_awaited(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let Some(own) = self.volumes.sources.get_mut(uid) else { return };
        for mount in own.mounts.iter_mut().filter(|mount| mount.is_pending) {
            mount.next_at = Some(context.now);
        }
        self.mount_sources(uid, context);
    }

    fn mount_sources(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let Some(pod) = self.pods.object(uid).cloned() else { return };
        let Some(own) = self.volumes.sources.get(uid) else { return };
        let is_due = |mount: &SourceMount| mount.next_at.is_some_and(|at| at <= context.now);
        let due: Vec<usize> = (0..own.mounts.len()).filter(|at| is_due(&own.mounts[*at])).collect();
        for at in due {
            let Some(name) = self.volumes.sources.get(uid).map(|own| own.mounts[at].volume.clone()) else { return };
            let outcome = self.set_up(&pod, &name, context);
            let Some(own) = self.volumes.sources.get_mut(uid) else { return };
            let mount = &mut own.mounts[at];
            mount.is_pending = false;
            match outcome {
                Ok(()) => (mount.next_at, mount.pause) = (None, MOUNT_PAUSE),
                Err(CacheError::Pending(until)) => (mount.next_at, mount.is_pending) = (Some(until), true),
                Err(CacheError::NotFound(why) | CacheError::Unknown(why)) => {
                    mount.next_at = Some(context.now + mount.pause);
                    mount.pause = (mount.pause * 2).min(MOUNT_PAUSE_MAX);
                    own.has_failed = true;
                    let message = format!("MountVolume.SetUp failed for volume \"{name}\" : {why}");
                    self.pod_event(&pod, None, (EventType::Warning, "FailedMount", message), context);
                }
            }
        }
        let Some(own) = self.volumes.sources.get_mut(uid) else { return };
        if own.ready_at.is_none() && own.mounts.iter().all(|mount| mount.next_at.is_none()) {
            // A sync that waits looks now and then; one that finds all mounted goes on at once.
            let at = if own.has_failed { look_after(own.since, context.now) } else { context.now };
            own.ready_at = Some(at);
            if context.now.duration_since(own.since) < WAIT_MAX {
                self.pods.wake_at(uid, at);
            }
        }
    }

    /// Mounts the volumes of a pod again that is synced: those that fail are tried until they can be made. What is in
    /// them stays, and no sync waits for it.
    ///
    /// Source: pkg/kubelet/volumemanager/cache/actual_state_of_world.go (v1.34), `MarkRemountRequired`.
    pub(in crate::components::kubelet) fn remount(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let failing = self.failing_mounts(uid, context);
        let Some(own) = self.volumes.sources.get_mut(uid).filter(|_| !failing.is_empty()) else { return };
        failing.into_iter().for_each(|at| own.mounts[at].next_at = Some(context.now));
        self.mount_sources(uid, context);
    }

    /// Returns which mounted volumes of a pod could not be made now.
    pub(in crate::components::kubelet) fn failing_mounts(
        &mut self,
        uid: &Text,
        context: &mut KubeletContext<'_>,
    ) -> Vec<usize> {
        let Some(own) = self.volumes.sources.get(uid) else { return Vec::new() };
        let made = own.mounts.iter().enumerate().filter(|(_, mount)| mount.next_at.is_none());
        let mut made: Vec<(usize, Text)> = made.map(|(at, mount)| (at, mount.volume.clone())).collect();
        let Some(pod) = self.pods.object(uid).cloned() else { return Vec::new() };
        made.retain(|(_, name)| {
            let outcome = self.set_up(&pod, name, context);
            matches!(outcome, Err(CacheError::NotFound(_) | CacheError::Unknown(_)))
        });
        made.into_iter().map(|(at, _)| at).collect()
    }

    /// Tells why a volume of a pod cannot be made.
    fn set_up(&mut self, pod: &Object, name: &Text, context: &mut KubeletContext<'_>) -> Result<(), CacheError> {
        let volumes = pod.stable().at(&["spec", "volumes"]).items().iter();
        let volume = volumes.clone().find(|own| own.get("name").as_text() == Some(name)).unwrap_or(&NULL);
        if let Some(why) = self.huge_pages_error(pod, volume) {
            return Err(CacheError::Unknown(why));
        }
        let mut errors: Vec<String> = Vec::new();
        for source in sources_of(volume) {
            match self.payload_error(pod, &source, context) {
                Ok(()) => {}
                Err(CacheError::NotFound(why) | CacheError::Unknown(why)) => errors.push(why),
                Err(pending) => return Err(pending),
            }
        }
        aggregate(&errors).map_or(Ok(()), |why| Err(CacheError::Unknown(why)))
    }

    /// Tells why an empty volume of huge pages cannot be made.
    ///
    /// Source: pkg/volume/emptydir/empty_dir.go (v1.31, v1.34, v1.37), `getPageSizeMountOption`.
    fn huge_pages_error(&self, pod: &Object, volume: &Json) -> Option<String> {
        let medium = volume.at(&["emptyDir", "medium"]).as_str().filter(|_| is_of_huge_pages(volume))?;
        let spec = pod.stable().get("spec");
        let of_pod = Some(spec).filter(|_| self.settings.is_gate_on("PodLevelResources"));
        let containers = ContainerRole::containers(pod).map(|(_, own)| own);
        let requests = of_pod.into_iter().chain(containers).flat_map(|own| own.at(&["resources", "requests"]).fields());
        let sizes = requests.filter_map(|(name, _)| Quantity::parse(name.strip_prefix("hugepages-")?));
        let mut sizes: Vec<i64> = sizes.map(|size| size.value()).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let is_found = match medium.strip_prefix("HugePages-").and_then(Quantity::parse) {
            Some(size) => sizes.contains(&size.value()),
            None if sizes.len() > 1 => {
                let why = "can't be used if container requests multiple huge page sizes";
                return Some(format!("medium: {medium} {why}"));
            }
            None => !sizes.is_empty(),
        };
        let why = "hugePages storage requested, but there is no resource request for huge pages";
        (!is_found).then(|| format!("medium {medium}: {why}"))
    }

    /// Tells why a source cannot be read, or lacks a key.
    fn payload_error(
        &mut self,
        pod: &Object,
        source: &Source<'_>,
        context: &mut KubeletContext<'_>,
    ) -> Result<(), CacheError> {
        let key = ObjectKey { namespace: pod.key().namespace, name: Text::from(source.name) };
        let object = match self.referenced(source.kind, &key, CacheReader::Sync, context) {
            Err(CacheError::NotFound(_)) if is_optional(source.tree) => return Ok(()),
            found => found?,
        };
        let has = |key: &str| ["data", "binaryData"].iter().any(|part| !object.stable().at(&[part, key]).is_null());
        let keys = source.tree.get("items").items().iter().filter_map(|item| item.get("key").as_str());
        let missing = keys.filter(|_| !is_optional(source.tree)).find(|key| !has(key));
        let why = missing.map(|key| match source.kind {
            CachedKind::ConfigMap => format!("configmap references non-existent config key: {key}"),
            CachedKind::Secret => format!("references non-existent secret key: {key}"),
        });
        why.map_or(Ok(()), |why| Err(CacheError::Unknown(why)))
    }
}

/// An object that a volume is made of.
struct Source<'a> {
    kind: CachedKind,
    name: &'a str,
    tree: &'a Json,
}

fn sources_of(volume: &Json) -> impl Iterator<Item = Source<'_>> {
    let own = [
        source(CachedKind::ConfigMap, volume.get("configMap"), "name"),
        source(CachedKind::Secret, volume.get("secret"), "secretName"),
    ];
    let projected = volume.at(&["projected", "sources"]).items().iter();
    let projected = projected.filter_map(|own| {
        let secret = source(CachedKind::Secret, own.get("secret"), "name");
        secret.or_else(|| source(CachedKind::ConfigMap, own.get("configMap"), "name"))
    });
    own.into_iter().flatten().chain(projected)
}

fn source<'a>(kind: CachedKind, tree: &'a Json, field: &str) -> Option<Source<'a>> {
    let name = tree.get(field).as_str()?;
    let is_left_out = kind == CachedKind::ConfigMap && name == ROOT_CERTIFICATE;
    (!is_left_out).then_some(Source { kind, name, tree })
}

fn has_sources(volume: &Json) -> bool {
    is_of_huge_pages(volume) || sources_of(volume).next().is_some()
}

fn is_of_huge_pages(volume: &Json) -> bool {
    volume.at(&["emptyDir", "medium"]).as_str().is_some_and(|medium| medium.starts_with("HugePages"))
}

/// Returns the volumes of a pod that a container mounts.
///
/// Source: pkg/volume/util/util.go (v1.34), `GetPodVolumeNames`.
fn mounted(pod: &Object) -> impl Iterator<Item = &Json> {
    let spec = pod.stable().get("spec");
    let lists = ["initContainers", "containers", "ephemeralContainers"];
    let is_mounted = move |volume: &&Json| {
        let mut containers = lists.iter().flat_map(|list| spec.get(list).items());
        let names = |container: &Json| {
            container.get("volumeMounts").items().iter().any(|mount| mount.get("name") == volume.get("name"))
        };
        containers.any(names)
    };
    spec.get("volumes").items().iter().filter(is_mounted)
}
