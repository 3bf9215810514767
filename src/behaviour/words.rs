//! What was written to an object, and the lines of a scenario, in words for a page.

use regex::Regex;
use std::sync::LazyLock;

use crate::picture::changes;

/// Something that came to pass with an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Happening {
    /// The object: ``Node `worker-1` ``; empty for a line of a scenario.
    pub(super) object: String,
    /// What: `loses the taint …`.
    pub(super) what: String,
    /// Who wrote it.
    pub(super) by: String,
    /// How often the same came to pass before, in the same act.
    pub(super) again: usize,
}

/// Returns what a changed field of an object says to people; nothing where it says nothing to them.
pub(super) fn told(kind: &str, path: &str, change: &str) -> Vec<String> {
    let words = |(row, old, new): (String, String, String)| {
        if let Some(taint) = row.strip_prefix("taint ") {
            let verb = if new.is_empty() { "loses" } else { "gets" };
            return Some(format!("{verb} the taint `{taint}`"));
        }
        match (kind, row.as_str(), new.as_str()) {
            (_, "object", "") => Some("is gone".to_owned()),
            (_, "object", _) => Some("is made".to_owned()),
            (_, "deletion", _) => Some("is deleted (Terminating)".to_owned()),
            ("Pod", "phase", phase) => Some(format!("is {phase}")),
            ("Pod", "Ready", "True") => Some("is Ready".to_owned()),
            ("Pod", "Ready", "False") if !old.is_empty() => Some("is no longer Ready".to_owned()),
            ("Pod", "DisruptionTarget", "True") => Some("gets the condition `DisruptionTarget`".to_owned()),
            ("Node", condition, status) if !status.is_empty() => Some(format!("`{condition}` becomes {status}")),
            _ => None,
        }
    };
    if kind == "Node" && path == "spec.unschedulable" {
        let is_cordoned = change.contains("true") && !change.starts_with("- ") && !change.ends_with("false");
        return vec![if is_cordoned { "is cordoned" } else { "is uncordoned" }.to_owned()];
    }
    changes(path, change).into_iter().filter_map(words).collect()
}

/// In which order people tell what came to pass at one instant.
const ORDER: [&str; 6] = ["gets the condition", "is deleted", "is no longer Ready", "is Failed", "is gone", "is made"];

/// Puts what came to pass at one instant with one object into one sentence.
pub(super) fn joined(whats: &[String]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut becomes: Vec<(&str, Vec<&str>)> = Vec::new();
    for what in whats {
        match what.split_once(" becomes ") {
            Some((condition, status)) => match becomes.iter_mut().find(|(own, _)| *own == status) {
                Some((_, conditions)) => conditions.push(condition),
                None => becomes.push((status, vec![condition])),
            },
            None if !parts.contains(what) => parts.push(what.clone()),
            None => {}
        }
    }
    becomes.sort_by_key(|(_, conditions)| !conditions.contains(&"`Ready`"));
    let mut told: Vec<String> = Vec::new();
    for (status, mut conditions) in becomes {
        conditions.sort_by_key(|own| (*own != "`Ready`", own.to_string()));
        told.push(format!("has {} {status}", list(&conditions)));
    }
    for verb in ["gets the taint ", "loses the taint "] {
        let taints: Vec<&str> = parts.iter().filter_map(|part| part.strip_prefix(verb)).collect();
        match taints.as_slice() {
            [] => {}
            [one] => told.push(format!("{verb}{one}")),
            several => told.push(format!("{}s {}", verb.trim_end(), list(several))),
        }
    }
    let mut others: Vec<String> = parts.into_iter().filter(|part| !part.contains(" the taint ")).collect();
    let rank = |part: &String| ORDER.iter().position(|own| part.starts_with(own)).unwrap_or(ORDER.len());
    others.sort_by_key(rank);
    told.extend(others);
    list(&told.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Joins with commas, and `and` before the last.
pub(super) fn list(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Returns a line of a scenario without its keyword and, for a row that has the instant, without its bound.
pub(super) fn line(text: &str, with_bound: bool) -> String {
    static BOUND: LazyLock<Regex> = LazyLock::new(|| {
        const LIMIT: &str = r"(?:[\d.]+[a-z]\S*|the grace period(?: (?:and|less) [\d.]+[a-z]\S*)?)";
        let bound = &format!(r",? (?:within|between|at)(?: once| {LIMIT}(?: and {LIMIT})?)(?: after .*)?$");
        Regex::new(bound).expect("the pattern is well-formed")
    });
    static SPAN: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\b(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?\b").expect("the pattern is well-formed"));
    let text = text.split_once(' ').map_or(text, |(_, rest)| rest).trim();
    let text = if with_bound { text.into() } else { BOUND.replace(text, "") };
    // What stands between quotes is a name.
    let text = text.replace("\\\"", "\u{1}");
    let mut told = String::new();
    for (number, part) in text.split('"').enumerate() {
        if number % 2 == 1 {
            told += &format!("`{part}`");
            continue;
        }
        told += &SPAN.replace_all(part, |found: &regex::Captures<'_>| {
            let of = |group: usize, unit: &str| found.get(group).map(|own| format!("{} {unit}", own.as_str()));
            let parts: Vec<String> = [of(1, "h"), of(2, "min"), of(3, "s")].into_iter().flatten().collect();
            parts.join(" ")
        });
    }
    told.replace('\u{1}', "\"").trim_end_matches(':').to_owned()
}

/// Prints a number of seconds: `at once`, `4.2 s`, `54 s`, `5 min 41 s`.
pub(super) fn span(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match seconds {
        ..0.05 => "at once".to_owned(),
        ..9.95 if (seconds - seconds.round()).abs() >= 0.05 => format!("{seconds:.1} s"),
        _ => clock(whole),
    }
}

fn clock(whole: u64) -> String {
    let parts = [(whole / 3600, "h"), (whole / 60 % 60, "min"), (whole % 60, "s")];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, unit)| format!("{count} {unit}")).collect();
    if parts.is_empty() { "0 s".to_owned() } else { parts.join(" ") }
}

/// Prints between which instants something came: `41 to 55 s`.
pub(super) fn range(from: f64, to: f64) -> String {
    if to < 0.05 {
        return "at once".to_owned();
    }
    if to < 1.0 {
        return "within 1 s".to_owned();
    }
    if to - from < 0.5 {
        return span(f64::midpoint(from, to));
    }
    let (from, to) = (from.floor() as u64, to.ceil() as u64);
    if to < 100 { format!("{from} to {to} s") } else { format!("{} to {}", clock(from), clock(to)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_instants_read_well() {
        let text = "And 2 Pods of \"db\" are running on Node \"worker-2\" within 1m30s";
        assert_eq!(line(text, false), "2 Pods of `db` are running on Node `worker-2`");
        assert_eq!(line("But Pod \"other\" stays for 10m", true), "Pod `other` stays for 10 min");
        let grace = "And Pod \"web\" is deleted between the grace period and 289s and the grace period less 1s";
        assert_eq!(line(grace, false), "Pod `web` is deleted");
        let after = "And Pod \"web\" is deleted at 300s after Node \"w\" has taint \"a:NoExecute\"";
        assert_eq!(line(after, false), "Pod `web` is deleted");
        assert_eq!([range(0.0, 0.01), range(0.1, 0.6), range(300.0, 300.2)], ["at once", "within 1 s", "5 min"]);
        assert_eq!([range(41.2, 54.9), range(341.2, 354.9)], ["41 to 55 s", "5 min 41 s to 5 min 55 s"]);
        let whats = ["`MemoryPressure` becomes Unknown", "`Ready` becomes Unknown", "gets the taint `x:NoSchedule`"];
        let told = joined(&whats.map(str::to_owned));
        assert_eq!(told, "has `Ready` and `MemoryPressure` Unknown and gets the taint `x:NoSchedule`");
    }
}
