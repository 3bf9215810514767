//! The recent writes to one kind, for watches that begin in the past.
//!
//! Mirrors k8s.io/apiserver pkg/storage/cacher/watch_cache.go (v1.34): a window that doubles while its oldest event is
//! fresh and halves while most of it is old, between 100 and 102,400 events.
//! Inputs: writes in order of revision. Outputs: the writes after a revision. Invariant (tested): later changes of an
//! object do not change what is returned of its earlier writes.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};

use jiff::{SignedDuration, Timestamp};

use super::store::{SlabIndex, Store};
use crate::network::WatchType;
use crate::objects::{HeartbeatStamp, Object};

/// Source: watch_cache.go, `defaultLowerBoundCapacity`.
const CAPACITY_MIN: usize = 100;
/// Source: watch_cache.go, `defaultUpperBoundCapacity`.
const CAPACITY_MAX: usize = 100 * 1024;
/// Source: watch_cache.go, `DefaultEventFreshDuration`: the request time-out of 60 s and 15 s more.
const FRESH: SignedDuration = SignedDuration::from_secs(75);

/// One write.
#[derive(Clone, Debug)]
pub(super) struct PastWrite {
    pub(super) at: Timestamp,
    pub(super) watch_type: WatchType,
    pub(super) object: Object,
    /// The object as it was before the write.
    pub(super) before: Option<Object>,
}

/// A renewal of a Lease whose tree is elsewhere.
#[derive(Clone, Copy, Debug)]
struct RenewedLease {
    at: Timestamp,
    before: HeartbeatStamp,
    resource_version: u64,
    renewed_micros: i64,
}

/// One write as it is kept. Most are renewals of Leases, of which only a few numbers are kept: their tree is the one
/// that the store has, or the one in `former` if the Lease was written in full since.
#[derive(Clone, Debug)]
enum StoredWrite {
    Renewal(RenewedLease),
    Other(Box<PastWrite>),
}

impl StoredWrite {
    fn of(write: PastWrite) -> Self {
        let noted = write.before.as_ref().and_then(|before| {
            let after = write.object.stamp();
            let renewed_micros = after.renewed_micros()?;
            let is_same = before.stamp().place() == after.place() && after.place().is_some();
            let is_same = is_same && before.stable().is_same_allocation(write.object.stable());
            let (before, resource_version) = (before.stamp(), after.resource_version());
            is_same.then_some(Self::Renewal(RenewedLease { at: write.at, before, resource_version, renewed_micros }))
        });
        noted.unwrap_or_else(|| Self::Other(Box::new(write)))
    }

    fn at(&self) -> Timestamp {
        match self {
            Self::Renewal(renewed) => renewed.at,
            Self::Other(write) => write.at,
        }
    }

    fn resource_version(&self) -> u64 {
        match self {
            Self::Renewal(renewed) => renewed.resource_version,
            Self::Other(write) => write.object.resource_version(),
        }
    }
}

/// The window.
#[derive(Clone, Debug)]
pub(super) struct History {
    entries: VecDeque<StoredWrite>,
    capacity: usize,
    /// Renewed Leases as they were before they were written in full, by their place and the revision of that write.
    former: BTreeMap<(SlabIndex, u64), Object>,
    /// The keys of `former`, oldest write first.
    ends: VecDeque<(SlabIndex, u64)>,
    /// The revision that was current when the window began; a watch cannot begin before it.
    since: u64,
    dropped: bool,
}

impl History {
    pub(super) fn new(since: u64) -> Self {
        Self {
            entries: VecDeque::new(),
            capacity: CAPACITY_MIN,
            former: BTreeMap::new(),
            ends: VecDeque::new(),
            since,
            dropped: false,
        }
    }

    /// Returns the same window with each object converted by `show`; none of them may be a Lease.
    pub(super) fn shown_as(&self, show: impl Fn(&Object) -> Object) -> Self {
        let shown = |entry: &StoredWrite| match entry {
            StoredWrite::Renewal(renewed) => StoredWrite::Renewal(*renewed),
            StoredWrite::Other(write) => StoredWrite::Other(Box::new(PastWrite {
                at: write.at,
                watch_type: write.watch_type,
                object: show(&write.object),
                before: write.before.as_ref().map(&show),
            })),
        };
        Self {
            entries: self.entries.iter().map(shown).collect(),
            capacity: self.capacity,
            former: BTreeMap::new(),
            ends: VecDeque::new(),
            since: self.since,
            dropped: self.dropped,
        }
    }

    /// Notes a write.
    pub(super) fn push(&mut self, write: PastWrite) {
        if let Some(before) = write.before.as_ref().filter(|before| before.is_heartbeat())
            && let Some(place) = before.place()
            && !before.stable().is_same_allocation(write.object.stable())
        {
            let key = (place, write.object.resource_version());
            self.former.insert(key, before.clone());
            self.ends.push_back(key);
        }
        self.make_room(write.at);
        self.entries.push_back(StoredWrite::of(write));
    }

    /// Notes a renewal of a Lease that is in the store with its last stamp.
    pub(super) fn push_renewal(&mut self, at: Timestamp, before: HeartbeatStamp, after: HeartbeatStamp) {
        self.make_room(at);
        let renewed_micros = after.renewed_micros().expect("a renewal has a time");
        let resource_version = after.resource_version();
        self.entries.push_back(StoredWrite::Renewal(RenewedLease { at, before, resource_version, renewed_micros }));
    }

    fn make_room(&mut self, now: Timestamp) {
        if self.entries.len() < self.capacity {
            return;
        }
        let age = |at: usize| self.entries.get(at).map_or(SignedDuration::ZERO, |entry| now.duration_since(entry.at()));
        if age(0) < FRESH {
            self.capacity = (self.capacity * 2).min(CAPACITY_MAX);
        } else if age(self.entries.len() - self.capacity / 4) > FRESH {
            self.capacity = (self.capacity / 2).max(CAPACITY_MIN);
        }
        while self.entries.len() >= self.capacity {
            let gone = self.entries.pop_front().map_or(0, |entry| entry.resource_version());
            self.dropped = true;
            while let Some(key) = self.ends.pop_front_if(|(_, end)| *end <= gone) {
                self.former.remove(&key);
            }
        }
    }

    /// Returns the oldest revision from which a watch can begin.
    pub(super) fn oldest(&self) -> u64 {
        match self.entries.front() {
            Some(entry) if self.dropped => entry.resource_version() - 1,
            _ => self.since,
        }
    }

    /// Returns the writes after a revision, oldest first; the store is the one that they were made to.
    pub(super) fn after(&self, resource_version: u64, store: &Store) -> impl Iterator<Item = PastWrite> {
        let from = self.entries.partition_point(|entry| entry.resource_version() <= resource_version);
        self.entries.range(from..).map(|entry| self.told(entry, store))
    }

    /// Returns the writes from the newest to the oldest.
    pub(super) fn newest_first(&self, store: &Store) -> impl Iterator<Item = PastWrite> {
        self.entries.iter().rev().map(|entry| self.told(entry, store))
    }

    fn told(&self, entry: &StoredWrite, store: &Store) -> PastWrite {
        let RenewedLease { at, before, resource_version, renewed_micros } = match entry {
            StoredWrite::Other(write) => return (**write).clone(),
            StoredWrite::Renewal(renewed) => *renewed,
        };
        let place = before.place().expect("a renewed Lease has a place");
        let mut later = self.former.range((place, resource_version)..=(place, u64::MAX));
        let lease = later.next().map_or_else(|| store.at(place), |(_, lease)| lease);
        let object = lease.at_stamp(HeartbeatStamp::renewal(resource_version, renewed_micros, place, at));
        let before = Some(object.at_stamp(before));
        PastWrite { at, watch_type: WatchType::Modified, object, before }
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::vec::Vec;

    use jiff::{SignedDuration, Timestamp};

    use super::{CAPACITY_MIN, History, PastWrite};
    use crate::chance::Chance;
    use crate::components::api_server::store::Store;
    use crate::json;
    use crate::network::WatchType;
    use crate::objects::{Object, Text};

    fn write(history: &mut History, version: u64, at: Timestamp) {
        let object = Object::new(json!({}), version);
        history.push(PastWrite { at, watch_type: WatchType::Modified, object, before: None });
    }

    #[test]
    fn fresh_writes_are_kept_and_old_ones_make_room() {
        let mut history = History::new(5);
        let zero = Timestamp::UNIX_EPOCH;
        for version in 6..=1005 {
            write(&mut history, version, zero);
        }
        assert_eq!((history.oldest(), history.entries.len()), (5, 1000));
        for version in 1006..=3000 {
            write(&mut history, version, zero + SignedDuration::from_secs(10 * i64::try_from(version).unwrap()));
        }
        assert_eq!(history.entries.len(), CAPACITY_MIN);
        assert_eq!(history.oldest(), 2900);
        assert_eq!(history.after(2990, &Store::default()).count(), 10);
    }

    #[test]
    fn renewals_are_told_as_they_were_whatever_became_of_their_leases() {
        let mut chance = Chance::new(7);
        let (mut store, mut history) = (Store::default(), History::new(0));
        let mut model: Vec<(WatchType, Object, Option<Object>)> = Vec::new();
        for version in 1..3_000 {
            let at = Timestamp::UNIX_EPOCH + SignedDuration::from_millis(i64::try_from(version * 40).unwrap());
            let name = format!("w{}", chance.below(8));
            let whole = Object::new(json!({"metadata": {"name": name.as_str()}}), version);
            let (watch_type, object, before) = match store.find("", &name) {
                None => {
                    store.insert(Text::of(""), Text::from(&name), whole.clone());
                    (WatchType::Added, whole, None)
                }
                Some(_) if chance.below(20) == 0 => (WatchType::Deleted, whole, store.remove("", &name)),
                Some(place) if chance.below(10) == 0 => {
                    let before = store.replace(place, whole.clone());
                    (WatchType::Modified, whole, Some(before))
                }
                Some(place) => {
                    let before = store.at(place).clone();
                    store.stands_at_mut(place).unwrap().renew(at, version, place, at);
                    (WatchType::Modified, store.at(place).clone(), Some(before))
                }
            };
            match &before {
                Some(before) if object.is_heartbeat() && before.is_heartbeat() && chance.below(2) == 0 => {
                    history.push_renewal(at, before.stamp(), object.stamp());
                }
                _ => history.push(PastWrite { at, watch_type, object: object.clone(), before: before.clone() }),
            }
            model.push((watch_type, object, before));
        }
        let told = |write: PastWrite| (write.watch_type, write.object, write.before);
        let oldest = history.oldest();
        let kept = model.split_off(usize::try_from(oldest).unwrap());
        assert!(kept.len() > CAPACITY_MIN && history.former.len() <= kept.len());
        assert_eq!(history.after(oldest, &store).map(told).collect::<Vec<_>>(), kept);
        assert!(history.newest_first(&store).map(told).eq(kept.into_iter().rev()));
    }
}
