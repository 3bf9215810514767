//! Two versions of a snapshot as prose: what comes later or earlier, what is new, what no longer happens.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use nodeproof_core::objects::time::parse_offset;

use crate::harness::is_history;

/// A write of a history: when, and what it changed.
#[derive(Debug, Clone, PartialEq)]
struct HistoryWrite {
    at: SignedDuration,
    /// Its writer and changes, with instants as `T`, so that a write that only moved is the same.
    key: String,
    /// What it changed, in words.
    words: String,
}

/// Returns what changed between two versions of a snapshot; nothing if they say the same.
pub(super) fn changes(before: &str, after: &str) -> Vec<String> {
    let (before, after) = (content(before), content(after));
    if before == after {
        return Vec::new();
    }
    if !is_history(before) && !is_history(after) {
        return lines(before, after);
    }
    let (old, mut new) = (writes(before), writes(after));
    let mut moved: BTreeMap<SignedDuration, Vec<String>> = BTreeMap::new();
    let mut gone = Vec::new();
    let mut kept = 0;
    for write in old {
        match new.iter().position(|other| other.key == write.key) {
            Some(at) => {
                let other = new.remove(at);
                match other.at - write.at {
                    SignedDuration::ZERO => kept += 1,
                    by => moved.entry(by).or_default().push(write.words),
                }
            }
            None => gone.push(write.words),
        }
    }
    let mut found: Vec<String> = Vec::new();
    for (by, what) in moved {
        let word = if by.is_negative() { "earlier" } else { "later" };
        found.push(format!("{} {} {word}", what.join(", "), length(by)));
    }
    found.extend(gone.into_iter().map(|what| format!("no longer: {what}")));
    found.extend(new.into_iter().map(|write| format!("new: {} at {}", write.words, offset(write.at))));
    if found.is_empty() {
        found.push("only instants inside of values differ".to_owned());
    } else if kept > 0 {
        found.push(format!("{kept} other {} as before", if kept == 1 { "write" } else { "writes" }));
    }
    found
}

/// Returns what stands below the heading of a snapshot's file.
fn content(text: &str) -> &str {
    text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).map_or(text, |(_, content)| content)
}

/// Tells what changed in a text that is no history, as a table: its lines.
fn lines(before: &str, after: &str) -> Vec<String> {
    let lines = |from: &str, without: &str| -> Vec<String> {
        from.lines()
            .filter(|line| !without.lines().any(|other| other == *line))
            .map(|line| line.trim().to_owned())
            .collect()
    };
    let gone = lines(before, after).into_iter().map(|line| format!("no longer: {line}"));
    let found: Vec<String> = gone.chain(lines(after, before).into_iter().map(|line| format!("new: {line}"))).collect();
    if found.is_empty() { vec!["its lines have another order".to_owned()] } else { found }
}

fn writes(history: &str) -> Vec<HistoryWrite> {
    let mut found: Vec<(usize, SignedDuration, Vec<String>)> = Vec::new();
    let mut act = 0;
    for line in history.lines() {
        if let Some(at) = line.strip_prefix("- at: ") {
            found.push((act, parse_offset(at.trim_matches('"')).unwrap_or_default(), Vec::new()));
        } else if line.starts_with("- act: ") {
            act += 1;
        } else if let Some((own, _, lines)) = found.last_mut()
            && *own == act
            && line.trim() != "changed:"
        {
            lines.push(line.trim().to_owned());
        }
    }
    // Equal writes of two acts are two things; a history without marks is one of the first act.
    let write = |(act, at, lines): (usize, SignedDuration, Vec<String>)| HistoryWrite {
        at,
        key: format!("{}\n{}", act.max(1), lines.iter().map(|line| masked(line)).collect::<Vec<_>>().join("\n")),
        words: words(&lines),
    };
    found.into_iter().map(write).collect()
}

/// Says what a write did, by the changes that people look for; of others the first, and how many there are.
fn words(lines: &[String]) -> String {
    let changes = || lines.iter().filter_map(|line| line.split_once(": ")).filter(|(path, _)| *path != "by");
    let mut found = Vec::new();
    for (path, change) in changes() {
        let change = change.trim_matches('"');
        let new = change.rsplit(" -> ").next().unwrap_or(change);
        if let Some(kind) = path.strip_prefix("status.conditions[").and_then(|rest| rest.strip_suffix("].status")) {
            found.push(format!("{kind}={new}"));
        } else if path == "spec.taints" || path == "status.conditions" {
            let part = |part: &str| match part.split_at_checked(2) {
                Some(("+ ", what)) => format!("{what} set"),
                Some(("- ", what)) => format!("{what} removed"),
                _ => part.to_owned(),
            };
            found.extend(change.split(", ").map(part));
        } else if path == "status.phase" {
            found.push(format!("phase {new}"));
        } else if path == "metadata.deletionTimestamp" && change.starts_with('+') {
            found.push("deletion".to_owned());
        } else if path == "object" {
            found.push(format!("object {change}"));
        }
    }
    if found.is_empty() {
        let others: Vec<String> =
            changes().map(|(path, change)| format!("{path}: {}", change.trim_matches('"'))).collect();
        let more = others.len().saturating_sub(1);
        found.extend(others.into_iter().next());
        if more > 0 {
            found.push(format!("{more} more"));
        }
    }
    found.join(" and ")
}

/// Replaces each instant, as `+52.2s`, by `T`.
fn masked(line: &str) -> String {
    let part = |word: &str| {
        let bare = word.trim_matches(['"', '\'', ',']);
        if bare.starts_with(['+', '-']) && parse_offset(bare).is_some() {
            word.replace(bare, "T")
        } else {
            word.to_owned()
        }
    };
    line.split(' ').map(part).collect::<Vec<_>>().join(" ")
}

fn length(by: SignedDuration) -> String {
    nodeproof_core::objects::time::seconds(by.abs())
}

fn offset(at: SignedDuration) -> String {
    format!("{}{}", if at.is_negative() { '-' } else { '+' }, length(at))
}

#[cfg(test)]
mod tests {
    use super::changes;

    const BEFORE: &str = "---\nsource: x\n---\n- at: +50.2s\n  by: kcm/status\n  changed:\n    \
        status.conditions[Ready].lastTransitionTime: \"-1.8s -> +50.2s\"\n    \
        status.conditions[Ready].status: True -> Unknown\n- at: +50.2s\n  by: kcm\n  changed:\n    \
        spec.taints: + node.kubernetes.io/unreachable:NoSchedule\n- at: +60s\n  by: kcm\n  changed:\n    a.b: 1 -> 2\n";

    #[test]
    fn what_only_moved_is_later_or_earlier() {
        let after = BEFORE.replace("+50.2s", "+60.2s");
        assert_eq!(
            changes(BEFORE, &after),
            ["Ready=Unknown, node.kubernetes.io/unreachable:NoSchedule set 10s later", "1 other write as before"]
        );
        assert_eq!(changes(&after, BEFORE)[0].rsplit(' ').next(), Some("earlier"));
        assert_eq!(changes(BEFORE, BEFORE), [""; 0]);
        assert_eq!(changes(BEFORE, &BEFORE.replace("source: x", "source: y")), [""; 0]);
    }

    #[test]
    fn what_is_new_and_what_is_gone_is_said() {
        let after = BEFORE.replace("True -> Unknown", "True -> False");
        assert_eq!(
            changes(BEFORE, &after),
            ["no longer: Ready=Unknown", "new: Ready=False at +50.2s", "2 other writes as before"]
        );
        let after = BEFORE.replace("\"-1.8s -> +50.2s\"", "\"-2.8s -> +50.2s\"");
        assert_eq!(changes(BEFORE, &after), ["only instants inside of values differ"]);
        assert_eq!(changes("a\nb\n", "a\nc\n"), ["no longer: b", "new: c"]);
    }
}
