//! Limits of local storage: pods that write more than they may are evicted, whatever the node has left.
//!
//! Mirrors `localStorageEviction` of pkg/kubelet/eviction/eviction_manager.go (v1.34): the limits of volumes first,
//! then that of the pod, which is the sum of its containers' limits, then those of single containers. Volumes are
//! measured once a minute, see [`Volumes`]; all else is pure.
//! Inputs: the pod with its figures. Output: the message of the first limit that is exceeded.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::super::upkeep::Upkeep;
use super::super::{Kubelet, KubeletContext};
use super::ranking::{Candidate, PodFigures};
use crate::chance::Chance;
use crate::components::host::Host;
use crate::components::next_of;
use crate::components::pod_resources::{quantities, together};
use crate::objects::lifecycle::is_sidecar;
use crate::objects::quantity::{Format, Quantity};
use crate::objects::{Json, Text};

/// Source: pkg/kubelet/server/stats/volume_stat_calculator.go (v1.34), `StartOnce`: the pause is up to twice as long.
const MEASURE_JITTER: f64 = 1.0;
/// The resource.
const DISK: &str = "ephemeral-storage";

/// Returns the limit that a pod exceeds, as the metric names it, and its message; sidecars may have limits too.
///
/// Source: pkg/kubelet/eviction/eviction_manager.go (v1.34), `signalEmptyDirFsLimit` and the like.
pub(super) fn exceeded(candidate: &Candidate, with_sidecars: bool) -> Option<(&'static str, String)> {
    let figures = candidate.figures.as_ref()?;
    let spec = candidate.pod.stable().get("spec");
    let of_volume = || Some(("emptydirfs.limit", volume(spec, figures)?));
    let of_pod = || Some(("ephemeralpodfs.limit", whole_pod(spec, figures)?));
    let of_container = || Some(("ephemeralcontainerfs.limit", container(spec, figures, with_sidecars)?));
    of_volume().or_else(of_pod).or_else(of_container)
}

/// Returns the limit that a recorded message is about, if the pod has it: by the same order as [`exceeded`], with all
/// that is measured above every limit, and then without what comes before.
pub(super) fn possible(candidate: &Candidate, message: &str, with_sidecars: bool) -> Option<(&'static str, String)> {
    let spec = candidate.pod.stable().get("spec");
    let name_of = |own: &Json| own.get("name").as_text().cloned();
    let all = PodFigures {
        disk: i64::MAX,
        volumes: spec.get("volumes").items().iter().filter_map(name_of).map(|name| (name, i64::MAX)).collect(),
        containers: limited(spec, with_sidecars).filter_map(name_of).map(|name| (name, 0, i64::MAX)).collect(),
        ..PodFigures::default()
    };
    let one = |volumes: &[(Text, i64)], containers: &[(Text, i64, i64)]| {
        let figures = PodFigures { volumes: volumes.to_vec(), containers: containers.to_vec(), ..all.clone() };
        let of_volume = volume(spec, &figures).map(|text| ("emptydirfs.limit", text));
        let of_pod = whole_pod(spec, &figures).map(|text| ("ephemeralpodfs.limit", text));
        let of_container = container(spec, &figures, with_sidecars).map(|text| ("ephemeralcontainerfs.limit", text));
        [of_volume, of_pod, of_container].into_iter().flatten().find(|(_, text)| *text == message)
    };
    let of_volumes = all.volumes.iter().find_map(|own| one(core::slice::from_ref(own), &[]));
    of_volumes.or_else(|| all.containers.iter().find_map(|own| one(&[], core::slice::from_ref(own))))
}

fn bytes(amount: i64) -> Quantity {
    Quantity::whole(amount, Format::BinarySi)
}

fn volume(spec: &Json, figures: &PodFigures) -> Option<String> {
    spec.get("volumes").items().iter().find_map(|volume| {
        let name = volume.get("name").as_str()?;
        let limit = Quantity::from_json(volume.at(&["emptyDir", "sizeLimit"]))?;
        let (_, used) = figures.volumes.iter().find(|(own, _)| **own == *name)?;
        let is_exceeded = !limit.is_zero() && !limit.is_negative() && bytes(*used) > limit;
        is_exceeded.then(|| format!("Usage of EmptyDir volume \"{name}\" exceeds the limit \"{limit}\". "))
    })
}

fn limit_of(container: &Json) -> Option<Quantity> {
    Quantity::from_json(container.at(&["resources", "limits", DISK]))
}

/// Source: k8s.io/component-helpers resource/helpers.go (v1.34), `PodLimits`.
fn whole_pod(spec: &Json, figures: &PodFigures) -> Option<String> {
    let limits = together(spec, |container| quantities(container.at(&["resources", "limits"])));
    let limit = *limits.get(&Text::of(DISK))?;
    let limit = Quantity::from_json(spec.at(&["overhead", DISK])).map_or(limit, |overhead| limit + overhead);
    let text = || format!("Pod ephemeral local storage usage exceeds the total limit of containers {limit}. ");
    (bytes(figures.disk) > limit).then(text)
}

/// Returns the containers of which the own limits count.
fn limited(spec: &Json, with_sidecars: bool) -> impl Iterator<Item = &Json> {
    let initial = spec.get("initContainers").items().iter();
    let sidecars = initial.filter(move |own| with_sidecars && is_sidecar(own));
    spec.get("containers").items().iter().chain(sidecars)
}

fn container(spec: &Json, figures: &PodFigures, with_sidecars: bool) -> Option<String> {
    figures.containers.iter().find_map(|(name, _, disk)| {
        let own = limited(spec, with_sidecars).find(|own| own.get("name").as_str() == Some(name.as_str()))?;
        let limit = limit_of(own).filter(|limit| !limit.is_zero())?;
        let text = || format!("Container {name} exceeded its local ephemeral storage limit \"{limit}\". ");
        (bytes(*disk) > limit).then(text)
    })
}

/// What was measured of the volumes of each pod, by its UID, and when it is measured again.
///
/// Mirrors pkg/kubelet/server/stats/fs_resource_analyzer.go and volume_stat_calculator.go (v1.34).
#[derive(Clone, Debug)]
pub(super) struct Volumes {
    chance: Chance,
    measured: BTreeMap<Text, (Timestamp, Vec<(Text, i64)>)>,
    /// When pods that were not measured yet are looked for.
    look_at: Option<Timestamp>,
}

impl Volumes {
    pub(super) const fn new(chance: Chance) -> Self {
        Self { chance, measured: BTreeMap::new(), look_at: None }
    }

    pub(super) fn of(&self, uid: &str) -> &[(Text, i64)] {
        self.measured.get(uid).map_or(&[], |(_, volumes)| volumes)
    }
}

/// Returns the pods that have something in volumes on the disk.
fn filling(host: &Host) -> Vec<(Text, Vec<(Text, i64)>)> {
    if !host.runtime.is_told_uses() {
        return Vec::new();
    }
    let all = host.runtime.sandboxes().map(|(uid, _)| (uid.clone(), host.runtime.volume_use(uid)));
    all.filter(|(_, volumes)| !volumes.is_empty()).collect()
}

impl Kubelet {
    /// Notes that pods may have filled volumes.
    pub(in crate::components::kubelet) fn note_volumes(&mut self, context: &KubeletContext<'_>) {
        let period = self.config.eviction.volume_measures;
        if period.is_negative() {
            return;
        }
        if filling(context.host).iter().any(|(uid, _)| !self.eviction.volumes.measured.contains_key(uid)) {
            let at = *self.eviction.volumes.look_at.get_or_insert(next_of(self.started, period, context.now));
            let before = self.upkeep.at(Upkeep::Volumes);
            self.set_upkeep(Upkeep::Volumes, before.map_or(at, |before| before.min(at)));
        }
    }

    /// Measures the volumes of the pods whose turn it is.
    pub(in crate::components::kubelet) fn measure_volumes(&mut self, context: &mut KubeletContext<'_>) {
        let now = context.now;
        let period = self.config.eviction.volume_measures;
        let found = filling(context.host);
        let own = &mut self.eviction.volumes;
        let looks_for_pods = own.look_at.take_if(|at| *at <= now).is_some();
        own.measured.retain(|uid, _| found.iter().any(|(other, _)| other == uid));
        let mut next = None;
        for (uid, volumes) in found {
            let known = own.measured.get(&uid).map(|(at, _)| *at);
            if known.map_or(looks_for_pods, |at| at <= now) {
                let again = now + own.chance.jitter(period, MEASURE_JITTER);
                own.measured.insert(uid.clone(), (again, volumes));
            }
            let at = own.measured.get(&uid).map(|(at, _)| *at);
            let at = at.unwrap_or_else(|| *own.look_at.get_or_insert(next_of(self.started, period, now)));
            next = Some(next.map_or(at, |before: Timestamp| before.min(at)));
        }
        if let Some(at) = next {
            self.set_upkeep(Upkeep::Volumes, at);
        }
        self.await_eviction_pass(now);
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::super::ranking::{Candidate, PodFigures};
    use super::exceeded;
    use crate::json;
    use crate::objects::{Json, Object};

    fn message(spec: Json, containers: &[(&str, i64)], volumes: &[(&str, i64)]) -> Option<String> {
        message_at(false, spec, containers, volumes)
    }

    fn message_at(
        with_sidecars: bool,
        spec: Json,
        containers: &[(&str, i64)],
        volumes: &[(&str, i64)],
    ) -> Option<String> {
        let mut pod = json!({"metadata": {"name": "p"}});
        pod.set(&["spec"], spec);
        let sum = containers.iter().chain(volumes).map(|(_, bytes)| bytes).sum();
        let figures = PodFigures {
            disk: sum,
            containers: containers.iter().map(|(name, bytes)| ((*name).into(), 0, *bytes)).collect(),
            volumes: volumes.iter().map(|(name, bytes)| ((*name).into(), *bytes)).collect::<Vec<_>>(),
            ..PodFigures::default()
        };
        let pod = Object::new(pod, 1);
        let candidate = Candidate { pod, priority: 0, memory_request: 0, disk_request: 0, figures: Some(figures) };
        exceeded(&candidate, with_sidecars).map(|(_, message)| message)
    }

    #[test]
    fn the_volume_comes_before_the_pod_and_the_pod_before_its_container() {
        let limit = |size: &str| json!({"limits": {"ephemeral-storage": size}});
        let spec = json!({"containers": [{"name": "a", "resources": limit("25Mi")}, {"name": "b"}],
            "volumes": [{"name": "m", "emptyDir": {"sizeLimit": "20Mi"}}, {"name": "n", "emptyDir": {}}]});
        let mi = |count: i64| count << 20;
        let text = "Usage of EmptyDir volume \"m\" exceeds the limit \"20Mi\". ";
        assert_eq!(message(spec.clone(), &[("a", mi(30))], &[("m", mi(20) + 1)]).as_deref(), Some(text));
        let text = "Pod ephemeral local storage usage exceeds the total limit of containers 25Mi. ";
        assert_eq!(message(spec.clone(), &[("a", mi(5))], &[("m", mi(20)), ("n", 1)]).as_deref(), Some(text));
        assert_eq!(message(spec.clone(), &[("a", mi(5))], &[("m", mi(20))]), None);
        let spec = json!({"containers": [{"name": "a", "resources": limit("25Mi")},
            {"name": "b", "resources": limit("1Gi")}]});
        let text = "Container a exceeded its local ephemeral storage limit \"25Mi\". ";
        assert_eq!(message(spec.clone(), &[("a", mi(25) + 1), ("b", 0)], &[]).as_deref(), Some(text));
        assert_eq!(message(spec, &[("a", mi(25)), ("b", mi(900))], &[]), None);
        assert_eq!(message(json!({"containers": [{"name": "a"}]}), &[("a", mi(900))], &[]), None);
    }
    #[test]
    fn a_sidecar_has_a_limit_of_its_own_and_another_init_container_has_none() {
        let limit = json!({"limits": {"ephemeral-storage": "5Mi"}});
        let spec = |policy: &str| {
            json!({"containers": [{"name": "a"}], "initContainers":
                [{"name": "i", "resources": limit.clone(), "restartPolicy": policy}]})
        };
        let text = "Container i exceeded its local ephemeral storage limit \"5Mi\". ";
        for (policy, with_sidecars, words) in [("Always", true, Some(text)), ("Always", false, None), ("", true, None)]
        {
            let said = message_at(with_sidecars, spec(policy), &[("a", 0), ("i", (5 << 20) + 1)], &[("m", -(5 << 20))]);
            assert_eq!(said.as_deref(), words, "{policy} {with_sidecars}");
        }
    }
}
