//! Why a Pod fits on no node, as the scheduler's message says it.
//!
//! Mirrors pkg/scheduler/framework/types.go, `FitError.Error` (v1.34): each reason with the number of nodes that gave
//! it, sorted as text with the number in front; one node can give several. Inputs: the rejections of the nodes.
//! Outputs: the message.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::plugins::{Plugins, Rejection, Remedy};
use crate::objects::Text;

/// The longest note of an Event. Source: pkg/apis/core/validation/events.go (v1.34), `NoteLengthLimit`.
const NOTE_MAX: usize = 1024;

/// The rejections of a Pod that fits on no node.
#[derive(Clone, Debug, Default)]
pub(super) struct Diagnosis {
    /// How many nodes there are.
    pub(super) all: usize,
    /// The rejection of each node that was filtered.
    pub(super) rejections: BTreeMap<Text, Rejection>,
    /// The reason counted for all other nodes.
    pub(super) others: Option<Text>,
    /// A reason that was found before any node was filtered; then no node is counted.
    pub(super) before_all: Option<Text>,
    /// The plugins that rejected.
    pub(super) plugins: Plugins,
    /// The result of the search for Pods to preempt.
    pub(super) after_all: String,
}

impl Diagnosis {
    pub(super) fn reject(&mut self, node: Text, rejection: Rejection) {
        self.plugins.insert(rejection.plugin);
        self.rejections.insert(node, rejection);
    }

    /// Returns the nodes where the removal of Pods could help.
    pub(super) fn candidates(&self) -> impl Iterator<Item = &Text> {
        self.rejections.iter().filter(|(_, rejection)| rejection.remedy == Remedy::Preemption).map(|(name, _)| name)
    }

    pub(super) fn message(&self) -> String {
        let mut text = format!("0/{} nodes are available:", self.all);
        match &self.before_all {
            Some(reason) => text = format!("{text} {reason}."),
            None => {
                let reasons = self.histogram();
                if !reasons.is_empty() {
                    text = format!("{text} {}.", reasons.join(", "));
                }
            }
        }
        if !self.after_all.is_empty() {
            text = format!("{text} {}", self.after_all);
        }
        text
    }

    fn histogram(&self) -> Vec<String> {
        let mut counts: BTreeMap<&Text, usize> = BTreeMap::new();
        for reason in self.rejections.values().flat_map(|rejection| &rejection.reasons) {
            *counts.entry(reason).or_default() += 1;
        }
        if let Some(reason) = self.others.as_ref().filter(|_| self.rejections.len() < self.all) {
            *counts.entry(reason).or_default() += self.all - self.rejections.len();
        }
        let mut lines: Vec<String> = counts.into_iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        lines.sort();
        lines
    }
}

/// Cuts a message to what an Event can hold. Source: pkg/scheduler/schedule_one.go (v1.34), `truncateMessage`.
pub(super) fn truncated(message: &str) -> String {
    if message.len() <= NOTE_MAX {
        return String::from(message);
    }
    let suffix = " ...";
    let mut end = NOTE_MAX - suffix.len();
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{suffix}", &message[..end])
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::{Diagnosis, truncated};
    use crate::components::scheduler::plugins::{Plugin, Rejection, Remedy};
    use crate::objects::Text;

    #[test]
    fn reasons_are_counted_and_sorted_as_text() {
        let mut diagnosis = Diagnosis { all: 14, ..Diagnosis::default() };
        for at in 0..12 {
            let name = Text::from(alloc::format!("a{at}"));
            diagnosis.reject(name, Rejection::new(Plugin::TaintToleration, Remedy::None, "node(s) had taints"));
        }
        let reasons = Vec::from([Text::of("Too many pods"), Text::of("Insufficient cpu")]);
        diagnosis
            .reject(Text::of("b"), Rejection { plugin: Plugin::NodeResourcesFit, remedy: Remedy::Preemption, reasons });
        diagnosis
            .reject(Text::of("c"), Rejection::new(Plugin::NodeResourcesFit, Remedy::Preemption, "Insufficient cpu"));
        assert_eq!(
            diagnosis.message(),
            "0/14 nodes are available: 1 Too many pods, 12 node(s) had taints, 2 Insufficient cpu."
        );
        assert_eq!(diagnosis.candidates().count(), 2);
        diagnosis.after_all = String::from("preemption: x");
        assert!(diagnosis.message().ends_with("cpu. preemption: x"));
    }

    #[test]
    fn a_long_message_is_cut_to_the_length_of_a_note() {
        let long = "x".repeat(2_000);
        let cut = truncated(&long);
        assert_eq!(cut.len(), 1_024);
        assert!(cut.ends_with("x ..."));
        assert_eq!(truncated("short"), "short");
    }
}
