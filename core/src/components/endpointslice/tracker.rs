//! What the controller remembers of its own writes and of the changes that it has shown.
//!
//! Mirrors k8s.io/endpointslice util/{endpointslice_tracker,trigger_time_tracker}.go (v1.34). Inputs: slices that were
//! written or seen, Services with their Pods. Outputs: whether the cache lags behind, whether a change of a slice is
//! news, and the instant of the first change that no slice shows.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::objects::lifecycle::condition;
use crate::objects::{Json, Object, ObjectKey, Text};

/// The generation of a slice that is expected to go.
/// Source: util/endpointslice_tracker.go (v1.34), `deletionExpected`.
const GOING: i64 = -1;

fn generation(slice: &Object) -> i64 {
    slice.stable().at(&["metadata", "generation"]).as_i64().unwrap_or(0)
}

/// The generations of the slices of each Service, by their UIDs, as the controller wrote them.
#[derive(Clone, Debug, Default)]
pub(super) struct Generations(BTreeMap<ObjectKey, BTreeMap<Text, i64>>);

impl Generations {
    fn of(&self, service: &ObjectKey, slice: &Object) -> Option<i64> {
        self.0.get(service)?.get(slice.uid()).copied()
    }

    /// Tells whether a slice was written here.
    pub(super) fn has(&self, service: &ObjectKey, slice: &Object) -> bool {
        self.of(service, slice).is_some()
    }

    /// Tells whether somebody else wrote a slice, or its own write is not answered yet.
    pub(super) fn is_news(&self, service: &ObjectKey, slice: &Object) -> bool {
        self.of(service, slice).is_none_or(|known| generation(slice) > known)
    }

    /// Tells whether the cache lacks what was written here.
    pub(super) fn is_ahead_of(&self, service: &ObjectKey, slices: &[Object]) -> bool {
        let Some(known) = self.0.get(service) else { return false };
        let lags = |slice: &Object| known.get(slice.uid()).is_some_and(|own| *own == GOING || *own > generation(slice));
        let is_shown = |uid: &Text| slices.iter().any(|slice| slice.uid() == uid.as_str());
        slices.iter().any(lags) || known.iter().any(|(uid, own)| *own != GOING && !is_shown(uid))
    }

    /// Notes a slice that was written.
    pub(super) fn wrote(&mut self, service: ObjectKey, slice: &Object) {
        self.0.entry(service).or_default().insert(Text::from(slice.uid()), generation(slice));
    }

    /// Notes a slice that was deleted here.
    pub(super) fn deleted(&mut self, service: ObjectKey, slice: &Object) {
        self.0.entry(service).or_default().insert(Text::from(slice.uid()), GOING);
    }

    /// Forgets a slice that is gone; false if it was not deleted here.
    pub(super) fn gone(&mut self, service: &ObjectKey, slice: &Object) -> bool {
        let known = self.0.get_mut(service).and_then(|own| own.remove(slice.uid()));
        known.is_none_or(|own| own == GOING)
    }

    pub(super) fn forget(&mut self, service: &ObjectKey) {
        self.0.remove(service);
    }
}

/// What a Service's slices show: when it was created, and when each of its Pods became ready or not.
#[derive(Clone, Debug, Default)]
struct ShownTimes {
    created: Option<Text>,
    pods: BTreeMap<Text, Text>,
}

/// What the slices of each Service show.
#[derive(Clone, Debug, Default)]
pub(super) struct TriggerTimes(BTreeMap<ObjectKey, ShownTimes>);

impl TriggerTimes {
    /// Returns the first change that no slice shows; of a Service that was not known, when it was created.
    pub(super) fn next<'a>(&mut self, service: &Object, pods: impl Iterator<Item = &'a Object>) -> Option<Text> {
        let created = service.stable().at(&["metadata", "creationTimestamp"]).as_text().cloned();
        let moved = |pod: &'a Object| condition(pod, "Ready").get("lastTransitionTime").as_text().cloned();
        let pods = pods.filter_map(|pod| Some((Text::from(pod.name()), moved(pod)?))).collect();
        let now = ShownTimes { created, pods };
        let Some(before) = self.0.get(&service.key()) else {
            let created = now.created.clone();
            self.0.insert(service.key(), now);
            return created;
        };
        let news = now.pods.iter().filter(|(name, at)| before.pods.get(*name).is_none_or(|old| **old < ***at));
        let mut news: Vec<&Text> = news.map(|(_, at)| at).collect();
        news.extend(now.created.iter().filter(|at| before.created.as_ref().is_none_or(|old| **old < ***at)));
        let first = news.into_iter().min_by(|one, other| (***one).cmp(&***other)).cloned();
        self.0.insert(service.key(), now);
        first
    }

    pub(super) fn forget(&mut self, service: &ObjectKey) {
        self.0.remove(service);
    }
}

/// Writes the instant of the change that a slice shows, or takes it away.
/// Source: k8s.io/endpointslice utils.go (v1.34), `addTriggerTimeAnnotation`.
pub(super) fn annotate(slice: &mut Json, trigger: Option<&Text>) {
    /// Source: k8s.io/api core/v1/annotation_key_constants.go (v1.34), `EndpointsLastChangeTriggerTime`.
    const TRIGGER_TIME: &str = "endpoints.kubernetes.io/last-change-trigger-time";
    let path = ["metadata", "annotations", TRIGGER_TIME];
    match trigger {
        Some(at) => slice.set(&path, at),
        None => drop(slice.remove(&path)),
    }
}
