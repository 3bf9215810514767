//! Decides for each Event whether it is new, repeats a written one, is combined with similar ones, or is dropped as
//! spam.
//!
//! Mirrors k8s.io/client-go tools/record/events_cache.go (v1.34). Inputs: an Event as it was emitted, time. Output: the
//! Event to write, with a count above one if it repeats another; nothing if it is dropped. A dropped Event is counted
//! too. Keys are hashes, and memories are sorted vectors: a kubelet remembers about seven Events, and a cluster has
//! many kubelets.
//! Left out on purpose: the revision of a written Event, which no request contains, and the content of answers.

use alloc::format;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use crate::objects::time::to_time;
use crate::objects::{Json, fnv};

/// How many objects, Events and groups of similar Events are remembered. Source: tools/record/events_cache.go (v1.34),
/// `maxLruCacheEntries`.
const MEMORY_MAX: usize = 4096;
/// Events about one object before the first is dropped. Source: as [`MEMORY_MAX`], `defaultSpamBurst`.
const SPAM_BURST: f64 = 25.0;
/// Events per second about one object after that, in the precision of upstream. Source: as [`MEMORY_MAX`],
/// `defaultSpamQPS`.
const SPAM_QPS: f32 = 1.0 / 300.0;
/// From this many different texts of one reason about one object on, they are combined into one Event. Source: as
/// [`MEMORY_MAX`], `defaultAggregateMaxEvents`.
const SIMILAR_MAX: usize = 10;
/// Time without a similar Event after which they are counted anew. Source: as [`MEMORY_MAX`],
/// `defaultAggregateIntervalInSeconds`.
const SIMILAR_WITHIN: SignedDuration = SignedDuration::from_secs(600);

/// An Event that was to be written, and how its repetitions refer to it.
#[derive(Clone, Debug)]
struct KnownEvent {
    /// The suffix of its name: nanoseconds since 1970.
    suffix: i64,
    /// Seconds since 1970.
    first: i64,
    count: u32,
}

/// The texts of a group of similar Events, which differ in nothing else.
#[derive(Clone, Debug)]
struct Similar {
    /// Microseconds since 1970.
    last: i64,
    text: u64,
    /// The texts after the first; most groups have only one.
    more: Vec<u64>,
}

/// How many more Events about an object may be written.
#[derive(Clone, Debug)]
struct Allowance {
    left: f64,
    /// Microseconds since 1970.
    at: i64,
}

/// A memory that forgets the least recently used entry.
#[derive(Clone, Debug)]
struct Recent<T> {
    /// Sorted by key.
    entries: Vec<LruEntry<T>>,
    asked: u32,
}

#[derive(Clone, Debug)]
struct LruEntry<T> {
    key: u64,
    asked: u32,
    value: T,
}

impl<T> Recent<T> {
    const fn new() -> Self {
        Self { entries: Vec::new(), asked: 0 }
    }

    /// Returns the entry of a key; makes one if there is none.
    fn entry(&mut self, key: u64, make: impl FnOnce() -> T) -> &mut T {
        self.asked += 1;
        let at = match self.entries.binary_search_by_key(&key, |entry| entry.key) {
            Ok(at) => at,
            Err(at) => {
                self.entries.insert(at, LruEntry { key, asked: self.asked, value: make() });
                if self.entries.len() > MEMORY_MAX {
                    self.forget_one();
                }
                self.entries.partition_point(|entry| entry.key < key)
            }
        };
        self.entries[at].asked = self.asked;
        &mut self.entries[at].value
    }

    fn forget_one(&mut self) {
        let oldest = self.entries.iter().enumerate().min_by_key(|(_, entry)| entry.asked).map(|(at, _)| at);
        if let Some(at) = oldest {
            self.entries.remove(at);
        }
    }
}

/// The memory of one recorder's Events.
#[derive(Clone, Debug)]
pub(super) struct Correlator {
    known: Recent<KnownEvent>,
    similar: Recent<Similar>,
    allowances: Recent<Allowance>,
}

/// The keys by which Events are compared.
struct Keys {
    object: u64,
    /// All but the text and the field path of the object.
    alike: u64,
    whole: u64,
}

impl Keys {
    fn of(event: &Json) -> Self {
        let about = event.get("involvedObject");
        let fields = ["kind", "namespace", "name", "uid", "apiVersion"].map(|field| about.get(field));
        let object = fields.into_iter().fold(fnv::START, |hash, part| add(hash, part.as_str()));
        let alike = ["type", "reason"].iter().fold(object, |hash, field| add(hash, event.get(field).as_str()));
        let whole = add(add(alike, about.get("fieldPath").as_str()), event.get("message").as_str());
        Self { object, alike: add(alike, Some("similar")), whole }
    }
}

impl Correlator {
    /// Makes an empty memory.
    pub(super) const fn new() -> Self {
        Self { known: Recent::new(), similar: Recent::new(), allowances: Recent::new() }
    }

    /// Returns the Event to write; `None` if it is dropped.
    ///
    /// `suffix` ends its name, `at` is when it was emitted, and `wall` is the writer's clock now.
    pub(super) fn correlate(
        &mut self,
        mut event: Json,
        (suffix, at, wall): (i64, Timestamp, Timestamp),
        now: Timestamp,
    ) -> Option<Json> {
        let keys = Keys::of(&event);
        let are_many = self.are_too_many(keys.alike, event.get("message").as_str(), now);
        let (key, first) = if are_many { (keys.alike, wall) } else { (keys.whole, at) };
        if are_many {
            combine(&mut event, wall);
        }
        let known = self.known.entry(key, || KnownEvent { suffix, first: first.as_second(), count: 0 });
        known.count += 1;
        if known.count > 1 {
            let name = event.at(&["involvedObject", "name"]).as_str().unwrap_or_default();
            let name = format!("{name}.{:x}", known.suffix);
            event.set(&["metadata", "name"], name);
            event.set(&["count"], i64::from(known.count));
            if let Ok(first) = Timestamp::from_second(known.first) {
                event.set(&["firstTimestamp"], to_time(first));
            }
        }
        self.may_go_out(keys.object, now).then_some(event)
    }

    /// Notes a text, and tells whether the group has so many that the Event is combined.
    fn are_too_many(&mut self, alike: u64, message: Option<&str>, now: Timestamp) -> bool {
        let text = add(fnv::START, message);
        let now = now.as_microsecond();
        let similar = self.similar.entry(alike, || Similar { last: now, text, more: Vec::new() });
        let quiet = SignedDuration::from_micros(now - similar.last);
        similar.last = now;
        if quiet > SIMILAR_WITHIN {
            (similar.text, similar.more) = (text, Vec::new());
        }
        if text == similar.text {
            return false;
        }
        let more = &mut similar.more;
        if !more.contains(&text) {
            more.push(text);
        }
        let are_too_many = more.len() + 1 >= SIMILAR_MAX;
        if are_too_many {
            // Upstream forgets one of them at random.
            similar.text = more.remove(0);
        }
        are_too_many
    }

    /// Takes one of the Events that an object may still have, if any.
    fn may_go_out(&mut self, object: u64, now: Timestamp) -> bool {
        let now = now.as_microsecond();
        let own = self.allowances.entry(object, || Allowance { left: SPAM_BURST, at: now });
        let more = SignedDuration::from_micros(now - own.at).as_secs_f64() * f64::from(SPAM_QPS);
        let left = (own.left + more).min(SPAM_BURST);
        let may_go_out = left >= 1.0;
        if may_go_out {
            (own.left, own.at) = (left - 1.0, now);
        }
        may_go_out
    }
}

/// Makes an Event the combined one of its group. The reporting component is left out, as upstream.
fn combine(event: &mut Json, wall: Timestamp) {
    let message = format!("(combined from similar events): {}", event.get("message").as_str().unwrap_or_default());
    event.set(&["message"], message);
    for field in ["firstTimestamp", "lastTimestamp"] {
        event.set(&[field], to_time(wall));
    }
    for field in ["reportingComponent", "reportingInstance"] {
        event.set(&[field], "");
    }
}

/// Adds a text to a hash, with an end after it.
fn add(hash: u64, text: Option<&str>) -> u64 {
    fnv::add(hash, text.unwrap_or_default().bytes().chain([0xff]))
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    use jiff::{SignedDuration, Timestamp};

    use super::{Correlator, MEMORY_MAX};
    use crate::json;
    use crate::objects::Json;

    fn at(second: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_secs(second)
    }

    fn event(object: &str, reason: &str, message: &str, second: i64) -> Json {
        let time = super::to_time(at(second));
        json!({"metadata": {"name": format!("{object}.{second:x}")}, "reason": reason, "message": message,
            "type": "Normal", "involvedObject": {"kind": "Node", "name": object}, "count": 1,
            "firstTimestamp": time.as_str(), "lastTimestamp": time.as_str(),
            "reportingComponent": "kubelet", "reportingInstance": "w1"})
    }

    /// Emits an Event and returns its name and count, or nothing where it is held back.
    fn said(correlator: &mut Correlator, (object, reason, message): (&str, &str, &str), second: i64) -> String {
        let event = event(object, reason, message, second);
        correlator.correlate(event, (second, at(second), at(second)), at(second)).map_or_else(String::new, |event| {
            let text = |field| event.get(field).to_string().replace('"', "");
            format!("{} {}", event.at(&["metadata", "name"]).as_str().unwrap_or_default(), text("count"))
        })
    }

    #[test]
    fn a_repeated_event_keeps_its_name_and_its_first_instant() {
        let mut correlator = Correlator::new();
        assert_eq!(said(&mut correlator, ("w1", "Ready", "a"), 16), "w1.10 1");
        let repeated = event("w1", "Ready", "a", 32);
        let repeated = correlator.correlate(repeated, (32, at(32), at(32)), at(32)).unwrap_or_default();
        assert_eq!(repeated.at(&["metadata", "name"]).as_str(), Some("w1.10"));
        assert_eq!(repeated.get("count").as_i64(), Some(2));
        assert_eq!(repeated.get("firstTimestamp").as_str(), Some("1970-01-01T00:00:16Z"));
        assert_eq!(repeated.get("lastTimestamp").as_str(), Some("1970-01-01T00:00:32Z"));
        for other in [("w1", "Ready", "b"), ("w1", "Started", "a"), ("w2", "Ready", "a")] {
            assert!(said(&mut correlator, other, 48).ends_with(".30 1"), "{other:?}");
        }
    }

    #[test]
    fn twenty_five_about_one_object_and_then_one_each_five_minutes_and_what_is_held_back_counts() {
        let mut correlator = Correlator::new();
        let mut at = |second| said(&mut correlator, ("w1", "Ready", "a"), second);
        let burst: Vec<String> = (0..30).map(|_| at(0)).filter(|said| !said.is_empty()).collect();
        assert_eq!(burst.len(), 25);
        assert_eq!(at(299), "");
        assert_eq!(at(300), "w1.0 32");
        assert_eq!(at(300), "");
        assert_eq!(at(600), "w1.0 34");
        assert_eq!([at(1500), at(1500), at(1500), at(1500)], ["w1.0 35", "w1.0 36", "w1.0 37", ""]);
        assert_eq!(said(&mut correlator, ("w2", "Ready", "a"), 1500), "w2.5dc 1");
    }

    #[test]
    fn the_tenth_different_text_and_those_after_it_are_one_event_until_ten_minutes_were_quiet() {
        let mut correlator = Correlator::new();
        let mut at = |text: &str, second| said(&mut correlator, ("w1", "Created", text), second);
        for text in 0..9 {
            assert_eq!(at(&text.to_string(), 0), "w1.0 1");
        }
        assert_eq!([at("9", 1), at("10", 2), at("10", 3)], ["w1.1 1", "w1.1 2", "w1.3 1"]);
        assert_eq!(at("11", 603), "w1.1 3");
        assert_eq!(at("12", 1204), "w1.4b4 1");
    }

    #[test]
    fn an_event_that_stands_for_many_names_no_reporter_and_begins_with_itself() {
        let mut correlator = Correlator::new();
        for text in 0..9 {
            let _ = said(&mut correlator, ("w1", "Created", &text.to_string()), 0);
        }
        let tenth = event("w1", "Created", "ten", 60);
        let tenth = correlator.correlate(tenth, (60, at(60), at(61)), at(61)).unwrap_or_default();
        let combined = json!({"metadata": {"name": "w1.3c"}, "reason": "Created",
            "message": "(combined from similar events): ten", "type": "Normal",
            "involvedObject": {"kind": "Node", "name": "w1"}, "count": 1,
            "firstTimestamp": "1970-01-01T00:01:01Z", "lastTimestamp": "1970-01-01T00:01:01Z",
            "reportingComponent": "", "reportingInstance": ""});
        assert_eq!(tenth, combined);
    }

    #[test]
    fn what_was_not_asked_for_the_longest_is_forgotten() {
        let mut correlator = Correlator::new();
        let mut say = |object: usize| said(&mut correlator, (&object.to_string(), "Ready", "a"), 0);
        for object in 0..MEMORY_MAX {
            assert!(say(object).ends_with(" 1"));
        }
        assert_eq!(say(0), "0.0 2");
        assert_eq!(say(MEMORY_MAX), format!("{MEMORY_MAX}.0 1"));
        assert_eq!([say(0), say(1), say(3)], ["0.0 3", "1.0 1", "3.0 2"]);
    }
}
