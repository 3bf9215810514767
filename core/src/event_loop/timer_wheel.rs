//! The queue of wake-ups: a timer wheel with slots of a millisecond.
//!
//! Inputs: instants with the number of a component. Outputs: the earliest of them; equal instants go by that number.
//! Wake-ups within the next sixteen seconds, as those of all heartbeats, cost the same for any number of components;
//! later ones are in a heap. Invariant (tested): the order is that of one sorted queue.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use jiff::Timestamp;

/// An instant and the component that it belongs to.
pub(super) type Wake = (Timestamp, u32);

/// Number of slots of the wheel; a power of two.
const SLOTS: usize = 1 << 14;
const WORD: usize = 64;
const GROUPS: usize = SLOTS / WORD / WORD;

/// The end of a list.
const NONE: u32 = u32::MAX;

/// A wake-up in a linked list: that of its slot, or that of the free places.
#[derive(Clone, Copy, Debug)]
struct WheelEntry {
    wake: Wake,
    next: u32,
}

/// The queue.
#[derive(Clone, Debug)]
pub(super) struct TimerWheel {
    /// The wake-ups in the current slot or before it.
    near: BinaryHeap<Reverse<Wake>>,
    /// The first entry of each slot. All entries are in one vector, and the place that was freed last is used first.
    slots: Vec<u32>,
    entries: Vec<WheelEntry>,
    free: u32,
    /// A bit for each slot that holds something.
    taken: Vec<u64>,
    /// A bit for each word of `taken` that is not zero, to skip the empty ones.
    words: [u64; GROUPS],
    /// The wake-ups beyond the last slot.
    far: BinaryHeap<Reverse<Wake>>,
    /// The current slot, in milliseconds since the epoch.
    hand: i64,
}

impl TimerWheel {
    /// Makes an empty queue for instants from the given one on.
    pub(super) fn new(now: Timestamp) -> Self {
        Self {
            near: BinaryHeap::new(),
            slots: alloc::vec![NONE; SLOTS],
            entries: Vec::new(),
            free: NONE,
            taken: alloc::vec![0; SLOTS / WORD],
            words: [0; GROUPS],
            far: BinaryHeap::new(),
            hand: now.as_millisecond(),
        }
    }

    /// Adds an instant.
    pub(super) fn push(&mut self, wake: Wake) {
        match self.distance(wake) {
            None => self.near.push(Reverse(wake)),
            Some(distance) if distance < SLOTS => self.put(wake),
            Some(_) => self.far.push(Reverse(wake)),
        }
    }

    /// Returns the earliest.
    pub(super) fn peek(&mut self) -> Option<Wake> {
        if self.near.is_empty() {
            self.turn();
        }
        self.near.peek().map(|Reverse(wake)| *wake)
    }

    /// Takes out what [`Self::peek`] returned.
    pub(super) fn pop(&mut self) {
        self.near.pop();
    }

    /// Returns all, in no particular order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Wake> {
        let heaps = self.near.iter().chain(&self.far).map(|Reverse(wake)| wake);
        let lists = self.slots.iter().flat_map(|first| {
            let entry = |at: u32| self.entries.get(at as usize);
            core::iter::successors(entry(*first), move |last| entry(last.next)).map(|entry| &entry.wake)
        });
        heaps.chain(lists)
    }

    /// Returns how many slots ahead of the hand a wake lies; `None` for one that is not ahead.
    fn distance(&self, wake: Wake) -> Option<usize> {
        let ahead = wake.0.as_millisecond() - self.hand;
        usize::try_from(ahead).ok().filter(|ahead| *ahead > 0)
    }

    fn put(&mut self, wake: Wake) {
        let slot = slot_of(wake.0.as_millisecond());
        let entry = WheelEntry { wake, next: self.slots[slot] };
        let place = self.free;
        if let Some(old) = self.entries.get_mut(place as usize) {
            self.free = old.next;
            *old = entry;
            self.slots[slot] = place;
        } else {
            self.slots[slot] = u32::try_from(self.entries.len()).expect("fewer than 2^32 wakes");
            self.entries.push(entry);
        }
        let word = slot / WORD;
        self.taken[word] |= 1 << (slot % WORD);
        self.words[word / WORD] |= 1 << (word % WORD);
    }

    /// Moves the wake-ups of a slot to `near`.
    fn empty(&mut self, slot: usize) {
        let word = slot / WORD;
        self.taken[word] &= !(1 << (slot % WORD));
        if self.taken[word] == 0 {
            self.words[word / WORD] &= !(1 << (word % WORD));
        }
        let mut at = core::mem::replace(&mut self.slots[slot], NONE);
        while let Some(entry) = self.entries.get_mut(at as usize) {
            self.near.push(Reverse(entry.wake));
            let place = core::mem::replace(&mut at, entry.next);
            entry.next = core::mem::replace(&mut self.free, place);
        }
    }

    /// Moves the hand to the next slot that is not empty.
    fn turn(&mut self) {
        let in_wheel = self.next_taken().map(|ahead| self.hand + ahead);
        let beyond = self.far.peek().map(|Reverse((at, _))| at.as_millisecond());
        let Some(next) = in_wheel.into_iter().chain(beyond).min() else { return };
        self.hand = next;
        if in_wheel == Some(next) {
            self.empty(slot_of(next));
        }
        while let Some(Reverse(wake)) = self.far.peek().copied() {
            match self.distance(wake) {
                None => self.near.push(Reverse(wake)),
                Some(distance) if distance < SLOTS => self.put(wake),
                Some(_) => break,
            }
            self.far.pop();
        }
    }

    /// Returns how far ahead of the hand the next taken slot lies.
    fn next_taken(&self) -> Option<i64> {
        let start = slot_of(self.hand + 1);
        let word = start / WORD;
        let here = self.taken[word] & (u64::MAX << (start % WORD));
        let slot = if here == 0 {
            let word = first_from(&self.words, (word + 1) % self.taken.len())?;
            word * WORD + self.taken[word].trailing_zeros() as usize
        } else {
            word * WORD + here.trailing_zeros() as usize
        };
        i64::try_from((slot + SLOTS - start) % SLOTS + 1).ok()
    }
}

/// Returns the first bit that is set at a place or after it, wrapping around to the beginning.
fn first_from(bits: &[u64], start: usize) -> Option<usize> {
    let (first, count) = (start / WORD, bits.len());
    let rest = (1..=count).map(|step| (first + step) % count).map(|word| (word, bits[word]));
    let mut words = core::iter::once((first, bits[first] & (u64::MAX << (start % WORD)))).chain(rest);
    words.find(|(_, bits)| *bits != 0).map(|(word, bits)| word * WORD + bits.trailing_zeros() as usize)
}

/// Returns the slot of a millisecond.
fn slot_of(millis: i64) -> usize {
    usize::try_from(millis.rem_euclid(i64::try_from(SLOTS).unwrap_or(1))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use jiff::{SignedDuration, Timestamp};

    use super::{TimerWheel, Wake};
    use crate::chance::Chance;

    #[test]
    fn it_agrees_with_a_sorted_queue_for_instants_near_and_far() {
        let mut chance = Chance::new(5);
        let mut now = Timestamp::UNIX_EPOCH;
        let mut timers = TimerWheel::new(now);
        let mut model: BTreeSet<(Wake, u32)> = BTreeSet::new();
        for number in 0..20_000 {
            let span = [0, 3, 40_000_000, 17_000_000, 4_000_000_000][usize::try_from(chance.below(5)).unwrap()];
            let wake = (now + chance.up_to(SignedDuration::from_micros(span)), number % 7);
            timers.push(wake);
            model.insert((wake, number));
            if chance.below(5) < 3 {
                let expected = model.pop_first().map(|(wake, _)| wake);
                assert_eq!(timers.peek(), expected);
                timers.pop();
                now = expected.map_or(now, |(at, _)| at.max(now));
            }
            if chance.below(50) == 0 {
                timers.peek();
            }
        }
        while let Some((expected, _)) = model.pop_first() {
            assert_eq!(timers.peek(), Some(expected));
            timers.pop();
        }
        assert_eq!((timers.peek(), timers.iter().count()), (None, 0));
    }
}
