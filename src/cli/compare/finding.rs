//! The result of one scenario on both sides, as text for people and as JSON.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::terminal::Colour;
use crate::compare::Difference;
use crate::harness::Verdict;
use crate::picture::Picture;

/// The result of a scenario on both sides.
pub(super) enum Finding {
    Skipped(String),
    /// The real run saw too little.
    Inconclusive {
        /// What it missed.
        why: String,
        /// How long it took.
        wall_time: Duration,
    },
    /// One of the runs broke down.
    Broken(String),
    Compared(Compared),
}

/// Differences, each with its reason if the ledger has one.
pub(super) type ExplainedDifferences = Vec<(Option<String>, Difference)>;

pub(super) struct Compared {
    pub(super) sim: Verdict,
    pub(super) real: Verdict,
    pub(super) wall_time: Duration,
    pub(super) told: ExplainedDifferences,
    pub(super) steadiness: Steadiness,
    /// The pictures of both sides, if they are asked for.
    pub(super) pictures: Vec<(String, Picture)>,
}

/// Whether differences came again when the scenario was played again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Steadiness {
    AsSeen,
    NotAgain,
}

impl Compared {
    /// Counts the differences that have no reason and came again.
    pub(super) fn unexplained(&self) -> usize {
        if self.steadiness == Steadiness::NotAgain { 0 } else { self.without_reason() }
    }

    /// Counts the differences that have no reason and did not come again.
    pub(super) fn unsteady(&self) -> usize {
        if self.steadiness == Steadiness::NotAgain { self.without_reason() } else { 0 }
    }

    fn without_reason(&self) -> usize {
        without_reason(&self.told)
    }
}

impl Finding {
    /// Whether another run could say more.
    pub(super) fn is_open(&self) -> bool {
        match self {
            Self::Inconclusive { .. } => true,
            Self::Compared(it) => it.unexplained() > 0,
            Self::Skipped(_) | Self::Broken(_) => false,
        }
    }

    /// Returns the finding to report for an open scenario that was played again. If the second run has no unexplained
    /// difference, those of the first are unsteady; a second run that saw nothing does not withdraw them.
    pub(super) fn then(self, second: Self) -> Self {
        match (self, second) {
            (Self::Compared(first), Self::Compared(second)) if second.unexplained() == 0 => {
                Self::Compared(Compared { steadiness: Steadiness::NotAgain, ..first })
            }
            (first @ Self::Compared(_), Self::Inconclusive { .. } | Self::Skipped(_)) => first,
            (first @ Self::Inconclusive { .. }, Self::Skipped(_)) => first,
            (_, second) => second,
        }
    }

    /// Returns the JSON object; `None` for a skipped scenario, which is counted at the end.
    pub(super) fn json(&self) -> Option<Value> {
        Some(match self {
            Self::Skipped(_) => return None,
            Self::Inconclusive { why, wall_time } => json!({
                "real": "inconclusive", "reason": why, "differences": [], "unexplained": 0, "unsteady": 0,
                "wallSeconds": wall_time.as_secs_f64(),
            }),
            // A broken run shows nothing to be the same, so it counts as unexplained.
            Self::Broken(why) => json!({"reason": why, "differences": [], "unexplained": 1, "unsteady": 0}),
            Self::Compared(it) => json!({
                "sim": it.sim.word(), "real": it.real.word(),
                "differences": it.told.iter().map(shown).collect::<Vec<_>>(),
                "unexplained": it.unexplained(), "unsteady": it.unsteady(), "wallSeconds": it.wall_time.as_secs_f64(),
            }),
        })
    }

    /// Returns the text for people; `None` for a skipped scenario.
    pub(super) fn words(&self, name: &str, colour: &Colour) -> Option<String> {
        Some(match self {
            Self::Skipped(_) => return None,
            Self::Inconclusive { why, .. } => format!("{} {name}\n{why}\n", colour.note("inconclusive")),
            Self::Broken(why) => format!("{} {name}\n{why}\n", colour.bad("      broken")),
            Self::Compared(it) if it.told.is_empty() => format!("{} {name}", colour.good("    the same")),
            Self::Compared(it) if it.without_reason() == 0 => {
                format!("{} {name} ({} explained)", colour.note("    the same"), it.told.len())
            }
            Self::Compared(it) => {
                let head = if it.unexplained() > 0 { colour.bad("     differs") } else { colour.note("    unsteady") };
                let told = it.told.iter().map(|(why, it)| {
                    let why = why.as_ref().map(|why| format!("\n    why   {why}")).unwrap_or_default();
                    format!("  {it}{why}\n")
                });
                format!("{head} {name}\n{}", told.collect::<String>())
            }
        })
    }
}

fn shown((why, it): &(Option<String>, Difference)) -> Value {
    let mut shown = json!({
        "object": it.object, "path": it.path, "kind": it.kind.word(), "sim": it.sim, "real": it.real,
    });
    if let Some(why) = why {
        shown["ledger"] = json!(why);
    }
    shown
}

/// Counts the differences that have no reason.
pub(super) fn without_reason(told: &ExplainedDifferences) -> usize {
    told.iter().filter(|(why, _)| why.is_none()).count()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::{Compared, Finding, Steadiness};
    use crate::compare::{Difference, DifferenceKind};
    use crate::harness::Verdict;

    fn compared(reasons: &[Option<&str>]) -> Finding {
        let difference = || Difference {
            object: "Pod/default/web".to_owned(),
            path: "status.phase".to_owned(),
            kind: DifferenceKind::Time,
            writer: "kubelet".to_owned(),
            sim: "+1s".to_owned(),
            real: "+21s".to_owned(),
            at: (None, None),
        };
        Finding::Compared(Compared {
            sim: Verdict::Passed,
            real: Verdict::Passed,
            wall_time: Duration::ZERO,
            told: reasons.iter().map(|why| (why.map(str::to_owned), difference())).collect(),
            steadiness: Steadiness::AsSeen,
            pictures: Vec::new(),
        })
    }

    fn counts(finding: &Finding) -> Option<(usize, usize, usize)> {
        let Finding::Compared(it) = finding else { return None };
        Some((it.told.len(), it.unexplained(), it.unsteady()))
    }

    #[test]
    fn what_does_not_come_again_is_unsteady_and_still_shown() {
        let first = || compared(&[None, Some("known"), None]);
        assert!(first().is_open());
        assert_eq!(counts(&first().then(compared(&[]))), Some((3, 0, 2)));
        assert_eq!(counts(&first().then(compared(&[Some("known")]))), Some((3, 0, 2)));
        assert!(!first().then(compared(&[])).is_open());
    }

    #[test]
    fn what_comes_again_is_unexplained() {
        let twice = compared(&[None, None]).then(compared(&[None]));
        assert_eq!(counts(&twice), Some((1, 1, 0)));
    }

    #[test]
    fn a_second_run_that_saw_nothing_takes_nothing_back() {
        let inconclusive =
            || Finding::Inconclusive { why: "the API server went away".to_owned(), wall_time: Duration::ZERO };
        let skipped = || Finding::Skipped("interrupted".to_owned());
        assert_eq!(counts(&compared(&[None]).then(inconclusive())), Some((1, 1, 0)));
        assert_eq!(counts(&compared(&[None]).then(skipped())), Some((1, 1, 0)));
        assert!(matches!(inconclusive().then(skipped()), Finding::Inconclusive { .. }));
        assert!(matches!(compared(&[None]).then(Finding::Broken("panic".to_owned())), Finding::Broken(_)));
    }

    #[test]
    fn an_inconclusive_scenario_is_what_the_second_run_finds() {
        let inconclusive =
            || Finding::Inconclusive { why: "the API server went away".to_owned(), wall_time: Duration::ZERO };
        assert!(inconclusive().is_open());
        assert_eq!(counts(&inconclusive().then(compared(&[]))), Some((0, 0, 0)));
        assert_eq!(counts(&inconclusive().then(compared(&[None]))), Some((1, 1, 0)));
    }

    #[test]
    fn whatever_was_played_is_a_line_of_json_and_what_broke_down_counts() {
        let unexplained = |finding: &Finding| finding.json().map(|shown| shown["unexplained"].clone());
        assert_eq!(unexplained(&Finding::Broken("panic".to_owned())), Some(json!(1)));
        assert_eq!(unexplained(&compared(&[None, Some("known")])), Some(json!(1)));
        assert_eq!(unexplained(&compared(&[None]).then(compared(&[]))), Some(json!(0)));
        assert_eq!(unexplained(&Finding::Skipped("needs swap".to_owned())), None);
        let known = compared(&[Some("known")]).json().unwrap();
        assert_eq!(known["differences"][0]["ledger"], json!("known"));
    }
}
