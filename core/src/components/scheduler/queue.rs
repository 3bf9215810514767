//! The scheduling queue: Pods that are ready to be tried, that pause after a failure, or that wait for a change.
//!
//! Mirrors pkg/scheduler/backend/queue/{scheduling_queue,active_queue,backoff_queue}.go (v1.34; v1.31 in
//! pkg/scheduler/internal/queue): higher priority first, then who waits longest; after a failure 1 s, doubled up to
//! 10 s; after five minutes without any change another try.
//! Inputs: Pods, failures, changes, time. Outputs: the next Pod to try.
//! Left out on purpose: events during an attempt, since an attempt takes no time here.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Reverse;

use jiff::{SignedDuration, Timestamp};

use super::attempt::ClusterActivity;
use super::cache::PodInfo;
use super::plugins::Plugins;
use crate::components::Deadline;
use crate::objects::time::whole_seconds;
use crate::objects::{Object, ObjectKey};
use crate::profile::Settings;

/// First pause after a failure. Source: pkg/scheduler/backend/queue/scheduling_queue.go (v1.34),
/// `DefaultPodInitialBackoffDuration`.
const BACKOFF_FIRST: SignedDuration = SignedDuration::from_secs(1);
/// Longest pause. Source: as [`BACKOFF_FIRST`], `DefaultPodMaxBackoffDuration`.
const BACKOFF_MAX: SignedDuration = SignedDuration::from_secs(10);
/// How often Pods whose pause is over are moved. Source: as [`BACKOFF_FIRST`], `Run`.
const BACKOFF_FLUSH: SignedDuration = SignedDuration::from_secs(1);
/// How often Pods that have waited too long are moved. Source: as [`BACKOFF_FIRST`], `Run`.
const LEFTOVER_FLUSH: SignedDuration = SignedDuration::from_secs(30);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SubQueue {
    Active,
    Backoff,
    /// It pauses after an error, which no change of the cluster repairs.
    ErrorBackoff,
    Unschedulable,
    /// It may not be tried yet: it has scheduling gates, or its preemption is under way.
    Gated,
}

/// The order in which Pods are tried.
type QueueOrder = (Reverse<i64>, Timestamp, u64, ObjectKey);

/// A Pod that waits.
#[derive(Clone, Debug)]
pub(super) struct Queued {
    pub(super) pod: Arc<PodInfo>,
    /// The plugins that rejected it at its last try.
    pub(super) rejectors: Plugins,
    /// How often it was tried.
    pub(super) attempts: u32,
    unschedulable: u32,
    errors: u32,
    /// When it was added, or last failed.
    timestamp: Timestamp,
    sequence: u64,
    place: SubQueue,
}

impl Queued {
    fn order(&self) -> QueueOrder {
        (Reverse(self.pod.priority), self.timestamp, self.sequence, self.pod.key.clone())
    }
}

/// The queue.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    pods: BTreeMap<ObjectKey, Queued>,
    active: BTreeSet<QueueOrder>,
    backoff: BTreeSet<(Timestamp, QueueOrder)>,
    errors: BTreeSet<(Timestamp, QueueOrder)>,
    unschedulable: BTreeSet<ObjectKey>,
    /// Pods for which a preemption is under way; they are not tried before it is done.
    preempting: BTreeSet<ObjectKey>,
    sequence: u64,
    /// Whether pauses end at whole seconds, and one is cut short when no Pod is ready.
    pops_from_backoff: bool,
    unschedulable_max: SignedDuration,
    start: Timestamp,
    flushed: Timestamp,
    leftover_flushed: Timestamp,
}

impl Queue {
    pub(super) fn new(settings: &Settings, now: Timestamp) -> Self {
        Self {
            pods: BTreeMap::new(),
            active: BTreeSet::new(),
            backoff: BTreeSet::new(),
            errors: BTreeSet::new(),
            unschedulable: BTreeSet::new(),
            preempting: BTreeSet::new(),
            sequence: 0,
            pops_from_backoff: settings.profile().is("scheduler-pops-from-backoff"),
            unschedulable_max: settings.duration("pod-max-in-unschedulable-pods-duration"),
            start: now,
            flushed: now,
            leftover_flushed: now,
        }
    }

    /// Returns how many Pods are ready, pausing, and waiting for a change.
    pub(super) fn lengths(&self) -> [usize; 3] {
        let waiting = self.pods.len() - self.active.len() - self.backoff.len() - self.errors.len();
        [self.active.len(), self.backoff.len() + self.errors.len(), waiting]
    }

    pub(super) fn contains(&self, key: &ObjectKey) -> bool {
        self.pods.contains_key(key)
    }

    /// Takes a Pod that has not been tried.
    pub(super) fn add(&mut self, pod: Arc<PodInfo>, now: Timestamp) {
        self.sequence += 1;
        let key = pod.key.clone();
        let place = if has_gates(&pod.object) { SubQueue::Gated } else { SubQueue::Active };
        let queued = Queued {
            pod,
            rejectors: Plugins::default(),
            attempts: 0,
            unschedulable: 0,
            errors: 0,
            timestamp: now,
            sequence: self.sequence,
            place,
        };
        self.enter(key, queued);
    }

    /// Applies a change of a Pod; its place in the queue changes only if its gates were removed.
    pub(super) fn update(&mut self, pod: &Arc<PodInfo>) {
        let Some(mut queued) = self.take(&pod.key) else { return };
        queued.pod = pod.clone();
        if queued.place == SubQueue::Gated && !has_gates(&pod.object) && !self.preempting.contains(&pod.key) {
            queued.place = SubQueue::Active;
        }
        self.enter(pod.key.clone(), queued);
    }

    /// Tells whether a Pod waits for a change, and tries it again after its pause if `helps` says so.
    pub(super) fn retry_one(&mut self, key: &ObjectKey, now: Timestamp, helps: impl Fn(&Queued) -> bool) -> bool {
        let is_helped = self.unschedulable.contains(key) && self.pods.get(key).is_some_and(helps);
        if is_helped {
            self.requeue(key, now);
        }
        is_helped
    }

    pub(super) fn remove(&mut self, key: &ObjectKey) {
        self.take(key);
        self.preempting.remove(key);
    }

    /// Takes the next Pod to try.
    pub(super) fn pop(&mut self) -> Option<Queued> {
        let first = self.active.first().cloned();
        let order = match first {
            Some(order) => order,
            None if self.pops_from_backoff => self.backoff.first()?.1.clone(),
            None => return None,
        };
        let mut queued = self.take(&order.3)?;
        queued.attempts += 1;
        Some(queued)
    }

    /// Takes a Pod back that fits nowhere, or whose try failed by an error (no plugin rejected it).
    ///
    /// If something changed meanwhile, another try may help.
    pub(super) fn fail(&mut self, mut queued: Queued, rejectors: Plugins, activity: ClusterActivity, now: Timestamp) {
        queued.rejectors = rejectors;
        queued.timestamp = now;
        if rejectors.is_empty() {
            queued.errors += 1;
            queued.place = SubQueue::ErrorBackoff;
        } else {
            queued.unschedulable += 1;
            queued.errors = 0;
            queued.place =
                if activity == ClusterActivity::Changed { SubQueue::Backoff } else { SubQueue::Unschedulable };
        }
        self.enter(queued.pod.key.clone(), queued);
    }

    /// Queues the Pods that a change may help for another attempt; returns their keys.
    pub(super) fn retry(&mut self, now: Timestamp, helps: impl Fn(&Queued) -> bool) -> Vec<ObjectKey> {
        let waiting: Vec<ObjectKey> = self.unschedulable.iter().cloned().collect();
        let mut moved: Vec<ObjectKey> =
            waiting.into_iter().filter(|key| self.pods.get(key).is_some_and(&helps)).collect();
        moved.sort_by_key(|key| self.pods.get(key).map(Queued::order));
        for key in &moved {
            self.requeue(key, now);
        }
        moved
    }

    /// Moves a Pod that waits for a change to the pausing or the ready ones.
    fn requeue(&mut self, key: &ObjectKey, now: Timestamp) {
        let Some(mut queued) = self.take(key) else { return };
        queued.place = if self.preempting.contains(key) {
            SubQueue::Gated
        } else if self.is_backing_off(&queued, now) {
            SubQueue::Backoff
        } else {
            SubQueue::Active
        };
        self.enter(key.clone(), queued);
    }

    /// Keeps a Pod from being tried while its preemption is under way.
    pub(super) fn hold(&mut self, key: ObjectKey) {
        self.preempting.insert(key);
    }

    /// Ends [`Self::hold`]; the Pod waits for a change again.
    pub(super) fn let_go(&mut self, key: &ObjectKey) {
        if self.preempting.remove(key)
            && self
                .pods
                .get(key)
                .is_some_and(|queued| queued.place == SubQueue::Gated && !has_gates(&queued.pod.object))
            && let Some(mut queued) = self.take(key)
        {
            queued.place = SubQueue::Unschedulable;
            self.enter(key.clone(), queued);
        }
    }

    /// Makes a Pod ready at once, wherever it waits.
    pub(super) fn activate(&mut self, key: &ObjectKey) {
        if let Some(mut queued) = self.take(key) {
            queued.place = SubQueue::Active;
            self.enter(key.clone(), queued);
        }
    }

    /// Ends the pauses that are over, and moves Pods that waited too long.
    pub(super) fn handle_timeout(&mut self, now: Timestamp) {
        if self.flush_at(self.flushed) <= now {
            self.flushed = now;
            let over = |expiry: Timestamp| !self.is_before_end(expiry, now);
            let done: Vec<ObjectKey> = [&self.backoff, &self.errors]
                .into_iter()
                .flat_map(|set| set.iter().take_while(|(expiry, _)| over(*expiry)))
                .map(|(_, order)| order.3.clone())
                .collect();
            for key in done {
                self.activate(&key);
            }
        }
        if self.leftover_flushed + LEFTOVER_FLUSH <= now {
            let rounds = now.duration_since(self.start).as_secs() / LEFTOVER_FLUSH.as_secs();
            self.leftover_flushed = self.start + SignedDuration::from_secs(rounds * LEFTOVER_FLUSH.as_secs());
            let limit = self.unschedulable_max;
            self.retry(now, |queued| now.duration_since(queued.timestamp) > limit);
        }
    }

    pub(super) fn next_deadline(&self) -> Option<Deadline> {
        let pauses = [&self.backoff, &self.errors].into_iter().filter_map(|set| set.first());
        let backoff = pauses.map(|(expiry, _)| self.flush_after(*expiry)).min();
        let backoff = backoff.map(|at| Deadline { at: at.max(self.flush_at(self.flushed)), reason: "backoff flush" });
        let oldest = self.unschedulable.iter().filter_map(|key| self.pods.get(key)).map(|queued| queued.timestamp);
        let leftover = oldest.min().map(|since| {
            let from_start = (since + self.unschedulable_max).duration_since(self.start);
            let rounds = from_start.as_nanos().div_euclid(LEFTOVER_FLUSH.as_nanos()) + 1;
            let at =
                self.start + SignedDuration::from_secs(i64::try_from(rounds).unwrap_or(0) * LEFTOVER_FLUSH.as_secs());
            Deadline { at: at.max(self.leftover_flushed + LEFTOVER_FLUSH), reason: "unschedulable flush" }
        });
        crate::components::earliest([backoff, leftover])
    }

    /// Returns the first periodic check of pauses after an instant.
    fn flush_at(&self, after: Timestamp) -> Timestamp {
        if self.pops_from_backoff {
            return whole_seconds(after) + BACKOFF_FLUSH;
        }
        let rounds = after.duration_since(self.start).as_nanos().div_euclid(BACKOFF_FLUSH.as_nanos()) + 1;
        self.start + SignedDuration::from_secs(i64::try_from(rounds).unwrap_or(0))
    }

    /// Returns the first periodic check that finds this pause over.
    fn flush_after(&self, expiry: Timestamp) -> Timestamp {
        if self.pops_from_backoff {
            return expiry + BACKOFF_FLUSH;
        }
        self.flush_at(expiry - SignedDuration::from_nanos(1))
    }

    fn is_before_end(&self, expiry: Timestamp, now: Timestamp) -> bool {
        if self.pops_from_backoff { expiry >= whole_seconds(now) } else { expiry > now }
    }

    fn is_backing_off(&self, queued: &Queued, now: Timestamp) -> bool {
        self.expiry(queued).is_some_and(|expiry| self.is_before_end(expiry, now))
    }

    /// Returns when a Pod's pause is over. Source: backoff_queue.go (v1.34), `getBackoffTime`.
    fn expiry(&self, queued: &Queued) -> Option<Timestamp> {
        let count = if queued.errors > 0 { queued.errors } else { queued.unschedulable };
        let doublings = count.checked_sub(1)?.min(10);
        let pause = (BACKOFF_FIRST * (1 << doublings)).min(BACKOFF_MAX);
        let end = queued.timestamp + pause;
        Some(if self.pops_from_backoff { whole_seconds(end) } else { end })
    }

    fn enter(&mut self, key: ObjectKey, queued: Queued) {
        let order = queued.order();
        let expiry = self.expiry(&queued).unwrap_or(queued.timestamp);
        match queued.place {
            SubQueue::Active => {
                self.active.insert(order);
            }
            SubQueue::Backoff => {
                self.backoff.insert((expiry, order));
            }
            SubQueue::ErrorBackoff => {
                self.errors.insert((expiry, order));
            }
            SubQueue::Unschedulable => {
                self.unschedulable.insert(key.clone());
            }
            SubQueue::Gated => {}
        }
        self.pods.insert(key, queued);
    }

    fn take(&mut self, key: &ObjectKey) -> Option<Queued> {
        let queued = self.pods.remove(key)?;
        let order = queued.order();
        let expiry = self.expiry(&queued).unwrap_or(queued.timestamp);
        match queued.place {
            SubQueue::Active => self.active.remove(&order),
            SubQueue::Backoff => self.backoff.remove(&(expiry, order)),
            SubQueue::ErrorBackoff => self.errors.remove(&(expiry, order)),
            SubQueue::Unschedulable => self.unschedulable.remove(key),
            SubQueue::Gated => false,
        };
        Some(queued)
    }
}

/// Tells whether a Pod may not be tried: it has gates, or claims of devices, which nobody makes or allocates here.
///
/// Source: pkg/scheduler/framework/plugins/{schedulinggates,dynamicresources} (v1.34), `PreEnqueue`.
fn has_gates(pod: &Object) -> bool {
    ["schedulingGates", "resourceClaims"].iter().any(|field| !pod.stable().at(&["spec", field]).is_empty())
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};
    use alloc::sync::Arc;
    use alloc::vec::Vec;

    use jiff::{SignedDuration, Timestamp};

    use super::Queue;
    use crate::components::pod_resources::PodLevel;
    use crate::components::scheduler::attempt::ClusterActivity;
    use crate::components::scheduler::cache::PodInfo;
    use crate::components::scheduler::plugins::{Plugin, Plugins};
    use crate::json;
    use crate::objects::{Json, Object};
    use crate::profile::{Release, Settings};

    fn info(tree: Json) -> Arc<PodInfo> {
        Arc::new(PodInfo::of(&Object::new(tree, 1), PodLevel::Ignored))
    }

    fn pod(name: &str, priority: i64) -> Arc<PodInfo> {
        info(json!({"metadata": {"name": name, "namespace": "d"}, "spec": {"priority": priority, "containers": []}}))
    }

    fn rejected() -> Plugins {
        let mut plugins = Plugins::default();
        plugins.insert(Plugin::NodeResourcesFit);
        plugins
    }

    fn queue(minor: u16) -> (Queue, Timestamp) {
        let start: Timestamp = "2026-01-01T00:00:00.5Z".parse().unwrap();
        (Queue::new(&Settings::of(Release::new(minor, 0)), start), start)
    }

    fn popped(queue: &mut Queue) -> Vec<String> {
        core::iter::from_fn(|| queue.pop()).map(|queued| queued.pod.key.name.to_string()).collect()
    }

    #[test]
    fn the_highest_priority_goes_first_and_then_who_came_first() {
        let (mut queue, now) = queue(34);
        for (name, priority) in [("a", 0), ("b", 10), ("c", 0), ("d", 10)] {
            queue.add(pod(name, priority), now);
        }
        assert_eq!(popped(&mut queue), ["b", "d", "a", "c"]);
    }

    #[test]
    fn an_error_pauses_for_one_two_four_eight_and_then_ten_seconds() {
        // Since 1.33 pauses end at whole seconds, and one that ends in a second is over in the next one.
        for (minor, pauses) in [(31, [1_000, 2_000, 4_000, 8_000, 10_000]), (34, [1_500, 3_000, 5_000, 9_000, 11_000])]
        {
            let (mut queue, start) = queue(minor);
            queue.add(pod("a", 0), start);
            let mut now = start;
            for pause in pauses {
                let queued = queue.pop().unwrap();
                queue.fail(queued, Plugins::default(), ClusterActivity::Quiet, now);
                assert!(queue.pop().is_none());
                let at = queue.next_deadline().unwrap().at;
                assert_eq!(at.duration_since(now).as_millis(), pause, "1.{minor}");
                queue.handle_timeout(at);
                now = at;
            }
        }
    }

    #[test]
    fn a_rejected_pod_waits_for_a_change_and_then_for_its_pause() {
        let (mut queue, start) = queue(31);
        queue.add(pod("a", 0), start);
        let queued = queue.pop().unwrap();
        queue.fail(queued, rejected(), ClusterActivity::Quiet, start);
        assert!(queue.retry(start, |_| false).is_empty());
        assert_eq!(queue.retry(start, |_| true).len(), 1);
        assert!(queue.pop().is_none(), "its pause is not over");
        queue.handle_timeout(start + SignedDuration::from_secs(1));
        assert_eq!(popped(&mut queue), ["a"]);
    }

    #[test]
    fn since_1_33_a_pause_is_cut_short_when_nothing_else_is_to_be_tried() {
        let (mut queue, start) = queue(34);
        queue.add(pod("a", 0), start);
        let queued = queue.pop().unwrap();
        queue.fail(queued, rejected(), ClusterActivity::Quiet, start);
        queue.retry(start, |_| true);
        queue.add(pod("b", 0), start);
        assert_eq!(popped(&mut queue), ["b", "a"]);
    }

    #[test]
    fn after_five_minutes_a_pod_is_tried_again_without_any_change() {
        let (mut queue, start) = queue(34);
        queue.add(pod("a", 0), start);
        let queued = queue.pop().unwrap();
        queue.fail(queued, rejected(), ClusterActivity::Quiet, start);
        let at = queue.next_deadline().unwrap().at;
        assert_eq!(at.duration_since(start).as_secs(), 330);
        queue.handle_timeout(start + SignedDuration::from_secs(300));
        assert!(queue.pop().is_none());
        queue.handle_timeout(at);
        assert_eq!(popped(&mut queue), ["a"]);
    }

    #[test]
    fn a_pod_with_gates_waits_until_they_are_gone() {
        let (mut queue, start) = queue(34);
        let claims = json!({"resourceClaims": [{"name": "x", "resourceClaimName": "x"}]});
        queue.add(info(json!({"metadata": {"name": "c", "namespace": "d"}, "spec": claims})), start);
        let gated =
            info(json!({"metadata": {"name": "g", "namespace": "d"}, "spec": {"schedulingGates": [{"name": "x"}]}}));
        queue.add(gated, start);
        assert!(queue.pop().is_none());
        queue.update(&pod("g", 0));
        assert_eq!(popped(&mut queue), ["g"]);
    }
}
