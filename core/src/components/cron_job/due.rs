//! When a CronJob is due, and when it is looked at next.
//!
//! Mirrors pkg/controller/cronjob/utils.go (v1.34), `mostRecentScheduleTime` and its callers. Pure.

use alloc::format;
use alloc::string::String;

use jiff::{SignedDuration, Timestamp};

use crate::objects::cron::CronSchedule;
use crate::objects::lifecycle::is_ending;
use crate::objects::{Object, time};

/// How long after an instant of its schedule a CronJob is looked at. Source: cronjob_controllerv2.go (v1.34),
/// `nextScheduleDelta`.
const AFTER: SignedDuration = SignedDuration::from_millis(100);
/// More missed instants than this are told of. Source: utils.go (v1.34), `mostRecentScheduleTime`.
const MISSED_MAX: i64 = 100;

/// What was missed since a CronJob was due last.
#[derive(Clone, Copy, Debug)]
struct Missed {
    /// Since when.
    earliest: Timestamp,
    /// The last instant of the schedule that is over, if any.
    latest: Option<Timestamp>,
    count: i64,
}

/// Returns a CronJob's schedule, without the time zone of its own field.
pub(super) fn schedule_text(cron: &Object) -> String {
    String::from(cron.stable().at(&["spec", "schedule"]).as_str().unwrap_or_default())
}

/// Returns the schedule of a CronJob in its time zone; one in front of the schedule counts alone.
///
/// Source: cronjob_controllerv2.go (v1.34), `formatSchedule`.
///
/// # Errors
/// The parser's own words.
pub(super) fn schedule(cron: &Object) -> Result<CronSchedule, String> {
    let text = schedule_text(cron);
    match cron.stable().at(&["spec", "timeZone"]).as_str() {
        Some(zone) if !text.contains("TZ") => CronSchedule::parse(&format!("TZ={zone} {text}")),
        _ => CronSchedule::parse(&text),
    }
}

/// Tells whether a CronJob makes Jobs: it is not suspended, and stays.
pub(super) fn is_followed(cron: &Object) -> bool {
    !is_ending(cron) && cron.stable().at(&["spec", "suspend"]).as_bool() != Some(true)
}

/// Returns the instant that a Job is to be made for now, and whether too many before it were missed.
///
/// # Errors
/// The schedule has no instant.
pub(super) fn due(
    cron: &Object,
    schedule: &CronSchedule,
    now: Timestamp,
) -> Result<Option<(Timestamp, bool)>, &'static str> {
    let missed = missed(cron, schedule, now, true)?;
    Ok(missed.latest.filter(|latest| *latest <= now).map(|latest| (latest, missed.count > MISSED_MAX)))
}

/// Returns how long it is until a CronJob is looked at next.
pub(super) fn next_look(cron: &Object, schedule: &CronSchedule, now: Timestamp) -> SignedDuration {
    let from = match missed(cron, schedule, now, false) {
        Ok(Missed { latest: Some(latest), .. }) => latest,
        Ok(Missed { earliest, count: 0, .. }) => earliest,
        _ => now,
    };
    // A schedule without an instant has one that is long over.
    let next = schedule.next(from).unwrap_or(Timestamp::UNIX_EPOCH);
    next.duration_since(now) + AFTER
}

fn missed(
    cron: &Object,
    schedule: &CronSchedule,
    now: Timestamp,
    heeds_deadline: bool,
) -> Result<Missed, &'static str> {
    let instant = |path: &[&str]| cron.stable().at(path).as_str().and_then(time::parse);
    let created = instant(&["metadata", "creationTimestamp"]).unwrap_or(now);
    let mut earliest = instant(&["status", "lastScheduleTime"]).unwrap_or(created);
    if let Some(seconds) = starting_deadline(cron).filter(|_| heeds_deadline) {
        earliest = earliest.max(now.checked_sub(seconds).unwrap_or(Timestamp::MIN));
    }
    let first = schedule.next(earliest);
    if first.is_some_and(|first| now < first) {
        return Ok(Missed { earliest, latest: None, count: 0 });
    }
    let second = first.and_then(|first| schedule.next(first));
    let between = first.zip(second).map_or(0, |(first, second)| second.duration_since(first).as_secs());
    if let Some((first, _)) = first.zip(second.filter(|second| now < *second)) {
        return Ok(Missed { earliest, latest: Some(first), count: 0 });
    }
    let Some(first) = first.filter(|_| between >= 1) else {
        return Err("time difference between two schedules is less than 1 second");
    };
    let count = now.duration_since(first).as_secs() / between + 1;
    let mut latest = None;
    let mut at = schedule.next(first + SignedDuration::from_secs((count - 2) * between));
    while let Some(next) = at.filter(|next| *next <= now) {
        latest = Some(next);
        at = schedule.next(next);
    }
    Ok(Missed { earliest, latest, count })
}

/// Returns how late a Job may be made.
pub(super) fn starting_deadline(cron: &Object) -> Option<SignedDuration> {
    cron.stable().at(&["spec", "startingDeadlineSeconds"]).as_i64().map(SignedDuration::from_secs)
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;

    use jiff::Timestamp;

    use super::{due, next_look};
    use crate::json;
    use crate::objects::cron::CronSchedule;
    use crate::objects::{Json, Object};

    fn cron(last: &str, spec: Json) -> Object {
        let mut tree = json!({"metadata": {"name": "c", "creationTimestamp": "2025-01-01T00:00:30Z"}});
        tree.set(&["spec"], spec);
        if !last.is_empty() {
            tree.set(&["status", "lastScheduleTime"], last);
        }
        Object::as_received(tree)
    }

    #[test]
    fn the_last_instant_that_was_missed_is_due() {
        let told = |last: &str, spec: Json, text: &str, now: &str| -> String {
            let schedule = CronSchedule::parse(text).unwrap();
            let now: Timestamp = now.parse().unwrap();
            let cron = cron(last, spec);
            let due = match due(&cron, &schedule, now) {
                Ok(None) => String::from("none"),
                Ok(Some((at, many))) => format!("{at}{}", if many { " after many" } else { "" }),
                Err(why) => String::from(why),
            };
            format!("{due}, again in {}", crate::objects::time::seconds(next_look(&cron, &schedule, now)))
        };
        let none = || json!({});
        for (last, spec, text, now, expected) in [
            ("", none(), "* * * * *", "2025-01-01T00:00:30Z", "none, again in 30.1s"),
            ("", none(), "* * * * *", "2025-01-01T00:01:00.1Z", "2025-01-01T00:01:00Z, again in 60s"),
            ("2025-01-01T00:01:00Z", none(), "* * * * *", "2025-01-01T00:01:00.1Z", "none, again in 60s"),
            ("", none(), "* * * * *", "2025-01-01T00:10:20Z", "2025-01-01T00:10:00Z, again in 40.1s"),
            ("", none(), "* * * * *", "2025-01-01T02:00:20Z", "2025-01-01T02:00:00Z after many, again in 40.1s"),
            // What is older than the deadline does not count.
            (
                "",
                json!({"startingDeadlineSeconds": 30}),
                "*/30 * * * *",
                "2025-01-01T00:31:00Z",
                "none, again in 1740.1s",
            ),
            (
                "",
                none(),
                "59 23 31 2 *",
                "2025-01-02T00:00:00Z",
                "time difference between two schedules is less than 1 second, again in -1735775999.9s",
            ),
        ] {
            assert_eq!(told(last, spec, text, now), expected, "{text} at {now}");
        }
    }
}
