//! The free choices of a kubelet, where a recording shows which ones were made.
//!
//! A replay gives the instants at which the real process acted; the loops here then choose the pauses that lead there,
//! within what Kubernetes allows. Inputs: instants of the recording. Outputs: pauses. Invariant: a pause is never
//! shorter or longer than a random one could be.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::Kubelet;
pub use super::eviction::{MeasuredPod, RecordedEvictions};
use crate::chance::Jitter;
use crate::objects::{Object, ObjectKey, Text};

/// How far an instant may be missed: a busy machine runs late by this much.
/// Source: README of the recordings of kubelet 1.34.4, "Replaying".
const SLACK: SignedDuration = SignedDuration::from_millis(500);

/// How long the first syncs of a process may take.
const STARTING: SignedDuration = SignedDuration::from_millis(1_500);

/// How long the set-up of a process may take.
const SET_UP_MAX: SignedDuration = SignedDuration::from_secs(30);

/// The instants at which a recorded kubelet acted, in order.
#[derive(Clone, Debug, Default)]
pub struct RecordedChoices {
    /// Posts of the Node's status by the status loop.
    pub posts: Vec<Timestamp>,
    /// Renewals of the Lease, or the request that began one.
    pub renewals: Vec<Timestamp>,
    /// What was seen of the work on each Pod, by its UID.
    pub pods: BTreeMap<Text, Vec<Timestamp>>,
    /// When a Pod was synced for no other reason than that its time had come, by its UID.
    pub resyncs: BTreeMap<Text, Vec<Timestamp>>,
    /// The hashes of the contents of static Pods, by namespace and name, in order.
    pub static_hashes: BTreeMap<ObjectKey, VecDeque<Text>>,
    /// Whether the process was under way for long when what is driven begins, so that its first pause may be any part
    /// of one.
    pub is_under_way: bool,
    /// Requests about the CSINode.
    pub csi_nodes: Vec<Timestamp>,
    /// When the informer of the Node worked again after an outage.
    pub node_lists: Vec<Timestamp>,
    /// When the informer of Pods worked again after an outage.
    pub pod_lists: Vec<Timestamp>,
    /// The starts after which the fast loop posted the status before the other loop had its turn.
    pub fast_first: Vec<Timestamp>,
    /// The starts on a busy machine, each with the first turn of the loops that post the status.
    pub slow_starts: Vec<(Timestamp, Timestamp)>,
    /// How many Nodes a starting process built for its modules, since its cache had none yet.
    pub modules: Vec<(Timestamp, usize)>,
    /// What the passes of the eviction manager found.
    pub evictions: RecordedEvictions,
    /// When processes had done their set-up and began to work.
    pub ups: Vec<Timestamp>,
    /// When Pods were preempted: of equal ones any may be.
    pub preempted: Vec<(Timestamp, Text)>,
    /// The Pods whose last sync came after their end was in the API: the two are in a race.
    pub seen_ended: BTreeSet<Text>,
    /// When a process that ran before the recording posted its status last.
    pub last_post: Option<Timestamp>,
}

impl RecordedChoices {
    /// Returns when a process that starts now has done its set-up.
    pub(super) fn next_up(&self, now: Timestamp) -> Option<Timestamp> {
        let set_up = |up: &&Timestamp| **up >= now && up.duration_since(now) < SET_UP_MAX;
        self.ups.iter().find(set_up).copied()
    }
}

impl Kubelet {
    /// Tells the kubelet which choices a recording shows.
    pub(super) fn prefer(&mut self, choices: &RecordedChoices) {
        self.status.prefer_report(choices.last_post);
        self.choices = Some(choices.clone().into());
    }

    /// Returns the pause of the status loop.
    pub(super) fn tick_pause(&mut self, now: Timestamp) -> SignedDuration {
        let is_first = now.duration_since(self.started) < SignedDuration::from_secs(2);
        let led = self.choices.as_ref().and_then(|choices| {
            let part = || part_of_pause(&choices.posts, now, self.pauses.tick);
            let led = lead(&choices.posts, now, self.pauses.tick);
            led.or_else(|| (choices.is_under_way && is_first).then(part).flatten())
        });
        led.unwrap_or_else(|| self.chance.pause(self.pauses.tick))
    }

    /// Returns the pause between two renewals.
    pub(super) fn renewal_pause(&mut self, now: Timestamp) -> SignedDuration {
        let led = self.choices.as_ref().and_then(|choices| lead(&choices.renewals, now, self.pauses.lease));
        led.unwrap_or_else(|| self.chance.pause(self.pauses.lease))
    }

    /// Takes a post of the status. What was posted before a recording was posted when the recording says.
    pub(super) fn note_report(&mut self, now: Timestamp) {
        let soon = now.checked_add(SignedDuration::from_secs(1)).unwrap_or(now);
        let before = self.choices.as_ref().and_then(|choices| {
            let last = choices.last_post.filter(|last| *last < now)?;
            choices.posts.iter().all(|at| *at <= last || *at > soon).then_some(last)
        });
        if let Some(last) = before {
            let delay = self.preferred_delay(last, self.config.status_report / 2);
            self.status.delay = delay.unwrap_or(self.status.delay);
        }
        self.status.last_report = Some(before.unwrap_or(now));
    }

    /// Returns a pause between two attempts to make the CSINode.
    pub(super) fn led_csi(&self, now: Timestamp, pause: Jitter) -> Option<SignedDuration> {
        self.choices.as_ref().and_then(|choices| lead(&choices.csi_nodes, now, pause))
    }

    /// Tells whether an instant of a recording is that at which this process began.
    fn began_at(&self, at: Timestamp) -> bool {
        at.duration_since(self.started).abs() < SignedDuration::from_secs(1)
    }

    /// Returns how many Nodes the starting modules build.
    pub(super) fn led_modules(&self) -> Option<usize> {
        let modules = &self.choices.as_ref()?.modules;
        modules.iter().find(|(at, _)| self.began_at(*at)).map(|(_, asking)| *asking)
    }

    /// Returns when a Pod is synced without any other reason, within these instants.
    pub(super) fn led_resync(&self, uid: &Text, (least, most): (Timestamp, Timestamp)) -> Option<Timestamp> {
        let choices = self.choices.as_ref()?;
        let (least, most) = (least - SLACK, most + SLACK);
        let seen = choices.resyncs.get(uid).and_then(|seen| seen.iter().find(|at| **at >= least && **at <= most));
        Some(seen.copied().unwrap_or(most))
    }

    /// Returns when the first status of a static Pod was written whose mirror was known by then, at the start of the
    /// process: the list of Pods and the first sync of the static Pod are in a race.
    pub(super) fn led_first_status(&self, mirror: &Text, now: Timestamp) -> Option<Timestamp> {
        if now.duration_since(self.started) > STARTING {
            return None;
        }
        let seen = self.choices.as_ref()?.pods.get(mirror)?;
        seen.iter().find(|at| **at + SLACK >= now && at.duration_since(now) <= STARTING).map(|at| (*at).max(now))
    }

    /// Tells whether a period of the status manager that seems to be due at once was over already: nothing was written
    /// then.
    pub(super) fn has_just_missed(&self, uid: &Text, period: Timestamp, now: Timestamp) -> bool {
        let Some(choices) = &self.choices else { return false };
        let near = |at: &Timestamp| at.duration_since(period).abs() <= SLACK;
        let is_seen = || choices.pods.get(uid).is_some_and(|seen| seen.iter().any(near));
        period.duration_since(now) < SLACK && !is_seen()
    }

    /// Orders Pods so that of equal ones those are preempted that were. Source: pkg/kubelet/pod/pod_manager.go (v1.34),
    /// `podsMapToPods`: they come in any order, and of equal ones the last is taken.
    pub(super) fn led_victims_last<'a>(
        &self,
        pods: impl Iterator<Item = &'a Object>,
        now: Timestamp,
    ) -> Vec<&'a Object> {
        let mut pods: Vec<&Object> = pods.collect();
        if let Some(choices) = &self.choices {
            let near = |at: Timestamp| at.duration_since(now).abs() < SignedDuration::from_secs(1);
            let is_victim = |pod: &Object| choices.preempted.iter().any(|(at, uid)| near(*at) && **uid == *pod.uid());
            pods.sort_by_key(|pod| is_victim(pod));
        }
        pods
    }

    /// Returns by how much the loops that post the status are late at the start.
    pub(super) fn led_slowness(&self) -> SignedDuration {
        let mut slow = self.choices.iter().flat_map(|choices| &choices.slow_starts);
        let turn = slow.find(|(up, _)| self.began_at(*up)).map(|(_, turn)| turn.duration_since(self.started));
        turn.filter(|late| late.is_positive()).unwrap_or_default()
    }

    /// Returns by how much the first syncs of static Pods are late at the start of a process on a slow machine: the
    /// status comes first, then the mirror.
    pub(super) fn led_mirrors(&self) -> SignedDuration {
        let late = self.led_slowness();
        if late > SLACK { late + SLACK } else { SignedDuration::ZERO }
    }

    /// Tells whether the fast loop has the first turn.
    pub(super) fn is_fast_first(&self) -> bool {
        self.choices.as_ref().is_some_and(|choices| choices.fast_first.iter().any(|at| self.began_at(*at)))
    }

    /// Returns when a failed sync of a Pod is tried again: at an instant at which something was seen of it, within the
    /// pause, its jitter of half and the tick that follows.
    pub(super) fn led_retry(&self, uid: &Text, now: Timestamp, pause: SignedDuration) -> Option<Timestamp> {
        let seen = self.choices.as_ref()?.pods.get(uid)?;
        let (least, most) = (now + pause, now + pause.mul_f64(1.5) + SignedDuration::from_secs(1));
        seen.iter().find(|at| **at >= least && **at <= most + SLACK / 2).copied()
    }

    /// Returns the delay of the next report that lies within `half` of none and leads to a recorded post.
    pub(super) fn preferred_delay(&self, now: Timestamp, half: SignedDuration) -> Option<SignedDuration> {
        let choices = self.choices.as_ref()?;
        let due = now + self.config.status_report;
        let fits = |at: &&Timestamp| **at + SLACK >= due - half && **at <= due + half + self.pauses.tick.most();
        let Some(at) = choices.posts.iter().find(fits) else { return Some(half) };
        Some((at.duration_since(due) - self.pauses.tick.least() / 2).clamp(-half, half))
    }
}

/// Returns the first of several equal pauses that lead to the next wanted instant; `None` if none does.
fn lead(wanted: &[Timestamp], now: Timestamp, pause: Jitter) -> Option<SignedDuration> {
    let (least, most) = (pause.least(), pause.most());
    let next = wanted.iter().map(|at| at.duration_since(now)).find(|distance| *distance + SLACK >= least)?;
    // The most pauses that fit before the instant are the shortest ones.
    let count = i32::try_from((next + SLACK).as_micros() / least.as_micros().max(1)).unwrap_or(i32::MAX).max(1);
    let each = next / count;
    (each <= most + SLACK / count).then(|| each.clamp(least, most))
}

/// Returns the rest of a pause that was under way, after which whole ones lead to the next wanted instant.
fn part_of_pause(wanted: &[Timestamp], now: Timestamp, pause: Jitter) -> Option<SignedDuration> {
    let next = wanted.iter().map(|at| at.duration_since(now)).find(|distance| distance.is_positive())?;
    let whole = (pause.least() + pause.most()) / 2;
    let count = i32::try_from(next.as_micros() / whole.as_micros().max(1)).unwrap_or(i32::MAX);
    Some(next - whole * count)
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::lead;
    use crate::chance::Jitter;

    #[test]
    fn pauses_lead_to_the_next_instant_if_they_can() {
        let now = Timestamp::UNIX_EPOCH;
        let after = |millis: i64| now + SignedDuration::from_millis(millis);
        let pause = Jitter::of(SignedDuration::from_secs(10), 0.04);
        for (wanted, led) in [
            (10_200, Some(10_200)),
            (30_600, Some(10_200)),
            (10_700, Some(10_400)),
            (9_700, Some(10_000)),
            (15_000, None),
            (300_000, Some(10_000)),
        ] {
            assert_eq!(
                lead(&[after(100), after(wanted)], now, pause),
                led.map(SignedDuration::from_millis),
                "{wanted}"
            );
        }
        assert_eq!(lead(&[after(100)], now, pause), None);
    }
}
