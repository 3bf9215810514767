//! The result of a replay of exchanges: numbers by topic and the differences, as JSON for scripts and as text for
//! people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use nodeproof_core::json;
use nodeproof_core::objects::Json;

/// How many differences the text for people shows.
const SHOWN_MAX: usize = 12;

/// One difference between a recorded answer and the model's.
#[derive(Clone, PartialEq, Debug)]
pub struct AnswerDifference {
    /// The topic, as `nodes-crud`.
    pub topic: String,
    /// The case's name.
    pub name: String,
    /// The path in the answer, as `details.causes[0].message`.
    pub path: String,
    /// What was recorded; `Null` for nothing.
    pub real: Json,
    /// What the model answers; `Null` for nothing.
    pub sim: Json,
    /// The reason from the ledger, if the difference is known.
    pub ledger: Option<String>,
}

/// The numbers of a topic.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Count {
    /// Lines.
    pub cases: usize,
    /// Lines that are one request and its answer.
    pub judged: usize,
    /// Lines without a difference.
    pub matched: usize,
    /// Lines whose differences are all in the ledger.
    pub explained: usize,
}

/// The result of a replay of exchanges.
#[derive(Clone, Debug, Default)]
pub struct ExchangeReport {
    /// The recording, as `api-1.34.4`.
    pub recording: String,
    /// The numbers by topic.
    pub topics: BTreeMap<String, Count>,
    /// All differences, in order of topic and line.
    pub differences: Vec<AnswerDifference>,
}

impl ExchangeReport {
    pub(super) fn count(&mut self, topic: &str, judged: bool, differences: Vec<AnswerDifference>) {
        let count = self.topics.entry(topic.to_owned()).or_default();
        count.cases += 1;
        if judged {
            count.judged += 1;
            if differences.is_empty() {
                count.matched += 1;
            } else if differences.iter().all(|difference| difference.ledger.is_some()) {
                count.explained += 1;
            }
        }
        self.differences.extend(differences);
    }

    /// Returns the numbers of all topics together.
    #[must_use]
    pub fn total(&self) -> Count {
        self.topics.values().fold(Count::default(), |sum, count| Count {
            cases: sum.cases + count.cases,
            judged: sum.judged + count.judged,
            matched: sum.matched + count.matched,
            explained: sum.explained + count.explained,
        })
    }

    /// Tells whether every judged answer equals the recorded one or is explained by the ledger.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.total().unexplained() == 0
    }

    /// Returns the report for scripts.
    #[must_use]
    pub fn json(&self) -> Json {
        let total = self.total();
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let mut json = json!({"recording": self.recording.as_str(), "cases": number(total.cases),
            "judged": number(total.judged), "matched": number(total.matched), "explained": number(total.explained),
            "unexplained": number(total.unexplained())});
        for (topic, count) in &self.topics {
            json.set(
                &["topics", topic],
                json!({"cases": number(count.cases), "judged": number(count.judged), "matched": number(count.matched),
                    "explained": number(count.explained), "unexplained": number(count.unexplained())}),
            );
        }
        json.set(&["differences"], self.differences.iter().map(as_json).collect::<Json>());
        json
    }

    /// Returns the report for people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.recording);
        for (topic, count) in &self.topics {
            let _ = writeln!(
                text,
                "  {topic:20} {:4} of {:4} agree, {} explained, {} unexplained",
                count.matched,
                count.judged,
                count.explained,
                count.unexplained()
            );
        }
        let open: Vec<&AnswerDifference> =
            self.differences.iter().filter(|difference| difference.ledger.is_none()).collect();
        for difference in open.iter().take(SHOWN_MAX) {
            let AnswerDifference { topic, name, path, real, sim, .. } = difference;
            let _ = writeln!(text, "  {topic} {name:?} {path}\n    real {real}\n    sim  {sim}");
        }
        if open.len() > SHOWN_MAX {
            let _ = writeln!(text, "  and {} more differences; --json lists them all", open.len() - SHOWN_MAX);
        }
        text
    }
}

impl Count {
    /// Returns the number of cases with an unexplained difference.
    #[must_use]
    pub const fn unexplained(self) -> usize {
        self.judged - self.matched - self.explained
    }
}

fn as_json(difference: &AnswerDifference) -> Json {
    let mut json = json!({"topic": difference.topic.as_str(), "name": difference.name.as_str(),
        "path": difference.path.as_str()});
    json.set(&["real"], difference.real.clone());
    json.set(&["sim"], difference.sim.clone());
    if let Some(why) = &difference.ledger {
        json.set(&["ledger"], why.as_str());
    }
    json
}
