//! The files about one scenario in the report of a run. Two processes write the same files.

use std::fmt::Write as _;

use nodeproof_core::scenario::Outcome;

use super::yaml;

/// Returns the decisions as JSON lines.
#[must_use]
pub fn decisions_text(outcome: &Outcome) -> String {
    outcome.decisions.iter().map(|line| format!("{}\n", line.json())).collect()
}

/// Returns what changed in each object, as YAML.
#[must_use]
pub fn histories_text(outcome: &Outcome) -> String {
    let histories = outcome.histories.to_vec();
    let text = |history: &nodeproof_core::scenario::History| {
        format!("# {} {}\n{}", history.object.kind, history.object.key, yaml::print(&history.json()))
    };
    histories.iter().map(text).collect()
}

/// Returns the trace as JSON lines; `None` if it is longer than so many bytes.
#[must_use]
pub fn trace_text(outcome: &Outcome, bytes_max: usize) -> Option<String> {
    let mut text = String::new();
    for line in &outcome.trace {
        let _ = writeln!(text, "{}", line.json());
        if text.len() > bytes_max {
            return None;
        }
    }
    Some(text)
}
