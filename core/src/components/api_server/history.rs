//! The recent writes to one kind, for watches that begin in the past.
//!
//! Mirrors k8s.io/apiserver pkg/storage/cacher/watch_cache.go (v1.34): a window that doubles while its oldest event is
//! fresh and halves while most of it is old, between 100 and 102,400 events.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use jiff::{SignedDuration, Timestamp};

use crate::network::WatchType;
use crate::objects::{Beat, Object};

/// Source: watch_cache.go, `defaultLowerBoundCapacity`.
const LEAST: usize = 100;
/// Source: watch_cache.go, `defaultUpperBoundCapacity`.
const MOST: usize = 100 * 1024;
/// Source: watch_cache.go, `DefaultEventFreshDuration`: the request time-out of 60 s and 15 s more.
const FRESH: SignedDuration = SignedDuration::from_secs(75);

/// One write. Most are heartbeats, which are told from the write before by a few numbers.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) at: Timestamp,
    pub(super) event: WatchType,
    pub(super) object: Object,
    before: Before,
}

/// What a write replaced.
#[derive(Clone, Debug)]
enum Before {
    Nothing,
    /// A revision with the same stable tree.
    Same(Beat),
    Other(Box<Object>),
}

impl Event {
    pub(super) fn new(at: Timestamp, event: WatchType, object: Object, before: Option<&Object>) -> Self {
        let before = match before {
            None => Before::Nothing,
            Some(before) if before.stable().is_same_allocation(object.stable()) => Before::Same(before.beat()),
            Some(before) => Before::Other(Box::new(before.clone())),
        };
        Self { at, event, object, before }
    }

    /// Notes a heartbeat that replaced a revision with the same stable tree.
    pub(super) const fn beat(at: Timestamp, object: Object, before: Beat) -> Self {
        Self { at, event: WatchType::Modified, object, before: Before::Same(before) }
    }

    /// Returns the object as it was before the write.
    pub(super) fn before(&self) -> Option<Object> {
        match &self.before {
            Before::Nothing => None,
            Before::Same(beat) => Some(self.object.at_beat(*beat)),
            Before::Other(object) => Some((**object).clone()),
        }
    }
}

/// The window.
#[derive(Debug)]
pub(super) struct History {
    events: VecDeque<Event>,
    capacity: usize,
    /// The revision that was current when the window began; nothing older can be told.
    since: u64,
    dropped: bool,
}

impl History {
    pub(super) fn new(since: u64) -> Self {
        Self { events: VecDeque::new(), capacity: LEAST, since, dropped: false }
    }

    /// Notes a write.
    pub(super) fn push(&mut self, event: Event) {
        let now = event.at;
        if self.events.len() >= self.capacity {
            let age =
                |at: usize| self.events.get(at).map_or(SignedDuration::ZERO, |event| now.duration_since(event.at));
            if age(0) < FRESH {
                self.capacity = (self.capacity * 2).min(MOST);
            } else if age(self.events.len() - self.capacity / 4) > FRESH {
                self.capacity = (self.capacity / 2).max(LEAST);
            }
            while self.events.len() >= self.capacity {
                self.events.pop_front();
                self.dropped = true;
            }
        }
        self.events.push_back(event);
    }

    /// Returns the oldest revision from which a watch can begin.
    pub(super) fn oldest(&self) -> u64 {
        match self.events.front() {
            Some(event) if self.dropped => event.object.resource_version() - 1,
            _ => self.since,
        }
    }

    /// Returns the writes after a revision, oldest first.
    pub(super) fn after(&self, resource_version: u64) -> impl Iterator<Item = &Event> {
        let from = self.events.partition_point(|event| event.object.resource_version() <= resource_version);
        self.events.range(from..)
    }

    /// Returns the writes from the newest to the oldest.
    pub(super) fn newest_first(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().rev()
    }
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::{Event, History, LEAST};
    use crate::json;
    use crate::network::WatchType;
    use crate::objects::Object;

    fn write(history: &mut History, version: u64, at: Timestamp) {
        let object = Object::new(json!({}), version);
        history.push(Event::new(at, WatchType::Modified, object, None));
    }

    #[test]
    fn fresh_writes_are_kept_and_old_ones_make_room() {
        let mut history = History::new(5);
        let zero = Timestamp::UNIX_EPOCH;
        for version in 6..=1005 {
            write(&mut history, version, zero);
        }
        assert_eq!((history.oldest(), history.events.len()), (5, 1000));
        for version in 1006..=3000 {
            write(&mut history, version, zero + SignedDuration::from_secs(10 * i64::try_from(version).unwrap()));
        }
        assert_eq!(history.events.len(), LEAST);
        assert_eq!(history.oldest(), 2900);
        assert_eq!(history.after(2990).count(), 10);
    }
}
