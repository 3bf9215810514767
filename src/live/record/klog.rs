//! Reads the passes of two slow loops from the controller manager's log.
//!
//! Inputs: the log's text, with times of day in UTC. Outputs: instants in seconds since the start. A health pass is
//! shown by the first of the lines that only it writes; each pass of the pod garbage collector has a line of its own.
//!
//! Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go, `tryUpdateNodeHealth`,
//! `processTaintBaseEviction`; pkg/controller/podgc/gc_controller.go, `gcTerminating` (v1.34).

use jiff::{SignedDuration, Timestamp};

use super::times::offset;

/// The verbosity with which the controller manager logs these passes.
pub(in crate::live) const VERBOSITY: &str = "node_lifecycle_controller=4,gc_controller=5";

/// Lines that only a health pass writes.
const OF_HEALTH: [&str; 4] = [
    "\"Missing timestamp for Node. ",
    "\"Node ReadyCondition updated. ",
    "\"ReadyCondition for Node transitioned ",
    "\"Node is unresponsive. ",
];
/// The line of each pass of the garbage collector.
const OF_PODGC: &str = "\"GC'ing terminating pods that are on out-of-service nodes\"";
/// Lines of one pass are at most this many seconds apart.
const WITHIN: f64 = 1.0;
/// A day in seconds.
const DAY: f64 = 86_400.0;

/// The starts of passes in seconds since the start of the recording.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Passes {
    /// Of the node lifecycle controller.
    pub(super) health: Vec<f64>,
    /// Of the pod garbage collector.
    pub(super) podgc: Vec<f64>,
}

/// Reads the passes between the start and the end of a recording, to the millisecond.
pub(super) fn passes(text: &str, started: Timestamp, ended: f64) -> Passes {
    let mut found = Passes::default();
    let mut last = f64::NEG_INFINITY;
    for line in text.lines() {
        let Some((t, file, message)) = parsed(line, started).filter(|(t, ..)| (0.0..=ended).contains(t)) else {
            continue;
        };
        let millis = (t * 1e3).floor() / 1e3;
        match file {
            "node_lifecycle_controller.go" if OF_HEALTH.iter().any(|begin| message.starts_with(begin)) => {
                if t - last > WITHIN {
                    found.health.push(millis);
                }
                last = t;
            }
            "gc_controller.go" if message.starts_with(OF_PODGC) => found.podgc.push(millis),
            _ => {}
        }
    }
    found
}

/// Reads `I1121 09:33:10.953745   12345 gc_controller.go:123] "…"`: the instant, the file, the message.
fn parsed(line: &str, started: Timestamp) -> Option<(f64, &str, &str)> {
    let (head, message) = line.split_once("] ")?;
    let mut words = head.split_whitespace();
    let (_, time) = (words.next()?, words.next()?);
    let file = words.next_back()?.split(':').next()?;
    let mut parts = time.split(':');
    let hour: i64 = parts.next()?.parse().ok()?;
    let minute: i64 = parts.next()?.parse().ok()?;
    let second: f64 = parts.next()?.parse().ok()?;
    let of_day =
        SignedDuration::from_secs(hour * 3600 + minute * 60) + SignedDuration::try_from_secs_f64(second).ok()?;
    let midnight = started.as_second().div_euclid(86_400) * 86_400;
    let t = offset(started, Timestamp::from_second(midnight).ok()? + of_day);
    // The log has no date: a time half a day earlier belongs to the next day.
    Some((if t < -DAY / 2.0 { t + DAY } else { t }, file, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_are_read_to_the_millisecond_and_over_midnight() {
        let started = "2026-01-01T23:59:58.000000Z".parse().unwrap();
        let log = "\
I0101 23:59:50.000000    9 gc_controller.go:255] \"GC'ing terminating pods that are on out-of-service nodes\" \
logger=\"x\"
I0101 23:59:59.123456    9 node_lifecycle_controller.go:900] \"Missing timestamp for Node. Assuming now as a timestamp\"
I0101 23:59:59.124456    9 node_lifecycle_controller.go:900] \"Missing timestamp for Node. Assuming now as a timestamp\"
I0101 23:59:59.200000    9 node_lifecycle_controller.go:700] \"Controller observed a Node deletion\"
not a line of a log
I0102 00:00:04.125999    9 node_lifecycle_controller.go:950] \"Node is unresponsive. Adding it to the Taint queue\"
I0102 00:00:05.000000    9 gc_controller.go:255] \"GC'ing terminating pods that are on out-of-service nodes\" \
logger=\"x\"
";
        assert_eq!(passes(log, started, 60.0), Passes { health: vec![1.123, 6.125], podgc: vec![7.0] });
    }
}
