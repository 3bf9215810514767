//! Merges two writes into one: a writer that has not sent its last update when the next one comes sends both at once.
//!
//! Input: a history. Output: the history in which two neighbouring writes of one writer are one, with the texts that
//! one write would have. Source: a kubelet's status manager sends the latest status of a Pod and none in between
//! (pkg/kubelet/status/status_manager.go (v1.34), `syncBatch`).

use jiff::SignedDuration;
use nodeproof_core::scenario::{History, HistoryEntry};

/// Merges the write at a position with its successor; `None` unless both are of one writer and within this time.
pub(super) fn merged(history: &History, at: usize, within: SignedDuration) -> Option<History> {
    let [first, second] = history.entries.get(at..at + 2)? else { return None };
    let is_near = second.at.duration_since(first.at) <= within;
    if first.by != second.by || first.zero != second.zero || !is_near {
        return None;
    }
    let mut history = history.clone();
    let second = history.entries.remove(at + 1);
    let first = &mut history.entries[at];
    first.at = second.at;
    first.resource_version = second.resource_version;
    second.changed.into_iter().for_each(|(path, text)| add(first, path, text));
    Some(history)
}

/// Adds a change to an earlier write.
fn add(write: &mut HistoryEntry, path: String, text: String) {
    if write.changed.iter_mut().any(|(list, items)| is_of_new_item(list, items, &path, &text)) {
        return;
    }
    let Some(at) = write.changed.iter().position(|(known, _)| *known == path) else {
        write.changed.push((path, text));
        return;
    };
    let before = &write.changed[at].1;
    let (was, _) = sides(before);
    let (_, is) = sides(&text);
    match (was, is) {
        (None, None) => drop(write.changed.remove(at)),
        (Some(was), Some(is)) if was == is => drop(write.changed.remove(at)),
        (Some(was), Some(is)) => write.changed[at].1 = format!("{was} -> {is}"),
        (None, Some(is)) => write.changed[at].1 = format!("+ {is}"),
        (Some(was), None) => write.changed[at].1 = format!("- {was}"),
    }
}

/// Splits the text of a change into the value before and the value after.
fn sides(text: &str) -> (Option<&str>, Option<&str>) {
    match (text.strip_prefix("+ "), text.strip_prefix("- ")) {
        (Some(is), _) => (None, Some(is)),
        (_, Some(was)) => (Some(was), None),
        _ => text.split_once(" -> ").map_or((None, Some(text)), |(was, is)| (Some(was), Some(is))),
    }
}

/// Tells whether a change belongs to an item that the earlier write added to a list; then its text is put into the
/// item's.
fn is_of_new_item(list: &str, items: &mut String, path: &str, change: &str) -> bool {
    let Some((key, field)) = path.strip_prefix(list).and_then(|rest| rest.strip_prefix('[')?.split_once(']')) else {
        return false;
    };
    let mut parts: Vec<String> = items.split(", ").map(str::to_owned).collect();
    let is_key =
        |text: &str| text.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with(['=', ' ']));
    let Some(part) = parts.iter_mut().find(|part| part.strip_prefix("+ ").is_some_and(is_key)) else { return false };
    // A condition is written as `type=status (reason)`.
    if let Some(told) = part.strip_prefix(&format!("+ {key}=")) {
        let known = told.strip_suffix(')').and_then(|told| told.split_once(" ("));
        let (status, reason) = known.map_or((told, None), |(status, reason)| (status, Some(reason)));
        let now = sides(change).1;
        let (status, reason) = match field {
            ".status" => (now.unwrap_or_default(), reason),
            ".reason" => (status, now),
            _ => (status, reason),
        };
        let reason = reason.map_or_else(String::new, |reason| format!(" ({reason})"));
        *part = format!("+ {key}={status}{reason}");
    }
    *items = parts.join(", ");
    true
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use nodeproof_core::scenario::ObjectRef;

    use super::*;

    fn write(at: i64, by: &str, changed: &[(&str, &str)]) -> HistoryEntry {
        HistoryEntry {
            at: Timestamp::UNIX_EPOCH + SignedDuration::from_secs(at),
            zero: Timestamp::UNIX_EPOCH,
            resource_version: 1,
            by: by.to_owned(),
            changed: changed.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect(),
            because: None,
        }
    }

    fn merge(one: HistoryEntry, other: HistoryEntry) -> Option<Vec<(String, String)>> {
        let history = History { object: ObjectRef::node("w1"), entries: vec![one, other], earlier: Vec::new() };
        merged(&history, 0, SignedDuration::from_secs(3)).map(|mut history| history.entries.remove(0).changed)
    }

    #[test]
    fn an_item_that_has_just_come_comes_as_it_is_then() {
        let first = write(
            0,
            "kubelet/status",
            &[
                ("status.conditions", "+ ContainersReady=False (ContainersNotReady), + Initialized=True"),
                ("status.containerStatuses", "+ main"),
                ("status.phase", "Pending -> Running"),
            ],
        );
        let second = write(
            1,
            "kubelet/status",
            &[
                ("status.conditions[ContainersReady].reason", "- ContainersNotReady"),
                ("status.conditions[ContainersReady].status", "False -> True"),
                ("status.containerStatuses[main].ready", "false -> true"),
                ("status.phase", "Running -> Succeeded"),
                ("status.podIP", "+ a"),
            ],
        );
        let expected = [
            ("status.conditions", "+ ContainersReady=True, + Initialized=True"),
            ("status.containerStatuses", "+ main"),
            ("status.phase", "Pending -> Succeeded"),
            ("status.podIP", "+ a"),
        ];
        let expected: Vec<_> = expected.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        assert_eq!(merge(first, second), Some(expected));
    }

    #[test]
    fn what_is_taken_back_is_no_change() {
        let path = "status.phase";
        let write = |at, text| write(at, "kubelet", &[(path, text)]);
        assert_eq!(merge(write(0, "A -> B"), write(1, "B -> A")), Some(Vec::new()));
        assert_eq!(merge(write(0, "+ B"), write(1, "- B")), Some(Vec::new()));
        assert_eq!(merge(write(0, "A -> B"), write(1, "- B")), Some(vec![(path.to_owned(), "- A".to_owned())]));
    }

    #[test]
    fn only_neighbours_of_one_writer_are_folded() {
        assert_eq!(merge(write(0, "a", &[]), write(1, "b", &[])), None);
        assert_eq!(merge(write(0, "a", &[]), write(4, "a", &[])), None);
    }
}
