//! Compares the history of a real object with a stored one: the same writes in the same order, except for what chance
//! decides.
//!
//! Inputs: two histories as text. Output: whether they match. Rules, each with its reason: offsets are not compared,
//! since the bounds of steps judge time. Writers that do not wait for each other race, so writes that the stored
//! history has within a few seconds may come in any order. Without `managedFields` the writer is not known and not
//! compared: an object whose creator set no managed field (a Node with only a name and a status) never gets them, and a
//! deletion leaves none. Source: k8s.io/apimachinery pkg/util/managedfields/internal/skipnonapplied.go (v1.34),
//! `Update`.

use jiff::SignedDuration;
use nodeproof_core::objects::time::parse_offset;

/// Writes that are at most this far apart may come in any order: a round of the slowest loop, five seconds.
const NEAR: SignedDuration = SignedDuration::from_secs(5);

/// A write of a history.
#[derive(Debug)]
struct SnapshotEntry {
    /// The number of its act; one in between for the line that marks the act.
    act: usize,
    offset: SignedDuration,
    /// The writer; empty if it is not known.
    by: String,
    /// The fields, without offsets.
    text: String,
}

impl SnapshotEntry {
    fn is_like(&self, stored: &Self) -> bool {
        self.text == stored.text && (self.by.is_empty() || self.by == stored.by)
    }
}

/// Tells whether a text is a history.
pub(crate) fn is_history(text: &str) -> bool {
    text.starts_with("- at: ") || text.starts_with("- act: ")
}

/// Tells whether a real history matches a stored one.
pub(super) fn is_same(stored: &str, live: &str, mask: impl Fn(&str) -> String) -> bool {
    let (stored, live) = (entries(stored, &mask), entries(live, &mask));
    if stored.len() != live.len() {
        return false;
    }
    // Finds the position of each stored write in the real history; equal writes keep their order.
    let mut taken = vec![false; live.len()];
    let mut suite_paths = Vec::with_capacity(stored.len());
    for entry in &stored {
        let Some(at) = (0..live.len()).find(|at| !taken[*at] && live[*at].is_like(entry)) else { return false };
        taken[at] = true;
        suite_paths.push(at);
    }
    stored.iter().enumerate().all(|(at, entry)| {
        let earlier = stored[..at].iter().zip(&suite_paths);
        earlier
            .filter(|(other, _)| other.act < entry.act || entry.offset - other.offset > NEAR)
            .all(|(_, place)| *place < suite_paths[at])
    })
}

fn entries(history: &str, mask: &impl Fn(&str) -> String) -> Vec<SnapshotEntry> {
    let mut entries: Vec<SnapshotEntry> = Vec::new();
    let mut act = 0;
    for line in history.lines() {
        if let Some(at) = line.strip_prefix("- at: ") {
            let offset = parse_offset(at.trim_matches('"')).unwrap_or_default();
            entries.push(SnapshotEntry { act, offset, by: String::new(), text: String::new() });
        } else if let Some(what) = line.strip_prefix("- act: ") {
            let text = format!("{what}\n");
            entries.push(SnapshotEntry { act: act + 1, offset: SignedDuration::ZERO, by: String::new(), text });
            act += 2;
        } else if let Some(entry) = entries.last_mut() {
            match line.trim_start().strip_prefix("by: ") {
                Some(writer) => writer.trim_matches(['"', '\'']).clone_into(&mut entry.by),
                None => entry.text.extend([line, "\n"]),
            }
        }
    }
    for entry in &mut entries {
        entry.text = mask(&entry.text);
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(entries: &[(&str, &str, &str)]) -> String {
        let entry = |(at, by, what): &(&str, &str, &str)| format!("- at: {at}\n  by: {by}\n  changed:\n    {what}\n");
        entries.iter().map(entry).collect()
    }

    fn same(stored: &[(&str, &str, &str)], live: &[(&str, &str, &str)]) -> bool {
        is_same(&history(stored), &history(live), str::to_owned)
    }

    #[test]
    fn writes_that_are_near_may_come_in_any_order() {
        let stored = [("+1s", "a", "x"), ("+2s", "b", "y"), ("+20s", "c", "z")];
        assert!(same(&stored, &[("+1.5s", "b", "y"), ("+1.7s", "a", "x"), ("+22s", "c", "z")]));
        assert!(!same(&stored, &[("+1.5s", "b", "y"), ("+20s", "c", "z"), ("+22s", "a", "x")]));
        assert!(!same(&stored, &[("+1.5s", "b", "y"), ("+1.7s", "a", "x")]));
        assert!(!same(&stored, &[("+1.5s", "b", "y"), ("+1.7s", "a", "w"), ("+22s", "c", "z")]));
    }

    #[test]
    fn acts_come_one_after_the_other() {
        let told = |acts: [(&str, &[_]); 2]| -> String {
            acts.iter().map(|(done, entries)| format!("- act: {done}\n{}", history(entries))).collect()
        };
        let same = |live: [_; 2]| {
            let stored = told([("it is killed", &[("+50s", "a", "x")]), ("it starts", &[("+0.1s", "b", "y")])]);
            is_same(&stored, &told(live), str::to_owned)
        };
        assert!(same([("it is killed", &[("+49s", "a", "x")]), ("it starts", &[("+0s", "b", "y")])]));
        assert!(!same([("it is killed", &[("+49s", "b", "y")]), ("it starts", &[("+50s", "a", "x")])]));
        assert!(!same([("it is killed", &[("+49s", "a", "x"), ("+50s", "b", "y")]), ("it starts", &[])]));
        assert!(!same([("it is killed", &[("+49s", "a", "x")]), ("it thaws", &[("+0s", "b", "y")])]));
    }

    #[test]
    fn a_writer_that_is_not_known_may_be_anybody() {
        let stored = [("+1s", "a", "x")];
        assert!(same(&stored, &[("+1s", "\"\"", "x")]));
        assert!(!same(&stored, &[("+1s", "b", "x")]));
        let stored = [("+1s", "a", "x"), ("+20s", "b", "y")];
        assert!(same(&stored, &[("+1s", "\"\"", "x"), ("+20s", "b", "y")]));
        assert!(!same(&stored, &[("+1s", "\"\"", "x"), ("+20s", "c", "y")]));
    }
}
