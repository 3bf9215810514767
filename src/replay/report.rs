//! The result of a replay: the numbers and the differences, as JSON for scripts and as text for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use nodeproof_core::objects::Json;

use super::load::Micros;
use super::writers::{FieldDifference, WriteTarget, Writer};

/// How many differences the text for people shows.
const SHOWN_MAX: usize = 12;
/// How long a value may be in the text for people, in characters.
const VALUE_MAX: usize = 160;

/// Whose writes are not judged, and why.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Unjudged {
    /// The writer.
    pub writer: String,
    /// The reason.
    pub why: &'static str,
}

impl std::fmt::Display for Unjudged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.writer, self.why)
    }
}

impl Unjudged {
    /// Names a writer and the reason.
    #[must_use]
    pub fn new(writer: impl Into<String>, why: &'static str) -> Self {
        Self { writer: writer.into(), why }
    }
}

/// The writer is no component of the model.
pub const NOT_MODELLED: &str = "not modelled";
/// The kinds of its writes are not in the recording.
pub const NOT_WATCHED: &str = "of kinds that the recording does not watch";
/// The cause of its writes came before the recording.
pub const BEFORE: &str = "caused before the recording began";

/// One difference between what was recorded and what the model does.
#[derive(Clone, PartialEq, Debug)]
pub struct WriteDifference {
    /// The recorded instant.
    pub t: Micros,
    /// The writer.
    pub writer: &'static str,
    /// The object, as `pods/default/web-1`.
    pub object: String,
    /// The path in the object, or the verb of a write that only one side has.
    pub path: String,
    /// What was recorded; `Null` for nothing.
    pub real: Json,
    /// What the model does; `Null` for nothing.
    pub sim: Json,
    /// The reason from the ledger, if the difference is known.
    pub ledger: Option<String>,
}

impl WriteDifference {
    /// Makes the difference of one field.
    #[must_use]
    pub fn of_field(writer: Writer, t: Micros, place: &WriteTarget, field: FieldDifference) -> Self {
        Self {
            t,
            writer: writer.name(),
            object: place.object(),
            path: field.path,
            real: field.real,
            sim: field.sim,
            ledger: None,
        }
    }
}

/// The result of a replay.
#[derive(Clone, Debug, Default)]
pub struct ReplayReport {
    /// The recording, as `1.34.4/zones-all-down`.
    pub recording: String,
    /// All recorded writes of controllers and their Events.
    pub writes: usize,
    /// Writes of writers that are modelled.
    pub judged: usize,
    /// Writes that the model predicted.
    pub matched: usize,
    /// Writes whose differences the ledger explains.
    pub explained: usize,
    /// Writes that only one side has, or that differ, without an explanation.
    pub unexplained: usize,
    /// Writes of writers that are inputs only.
    pub unjudged: usize,
    /// The same by writer and reason.
    pub unjudged_by: BTreeMap<Unjudged, usize>,
    /// Judged writes whose bodies were not recorded: object, verb and instant are compared.
    pub by_instant: usize,
    /// Free choices read from the recording, by kind.
    pub choices: BTreeMap<&'static str, usize>,
    /// The inferred phases.
    pub phases: Json,
    /// Created Nodes and Pods whose admission was judged, and refused requests.
    pub admitted: usize,
    /// Flags of the recording that the model does not know.
    pub flags_unknown: Vec<String>,
    /// By judged writer: judged and matched.
    pub by_writer: BTreeMap<&'static str, (usize, usize)>,
    /// The differences by instant.
    pub differences: Vec<WriteDifference>,
}

impl ReplayReport {
    /// Tells whether nothing is unexplained.
    #[must_use]
    pub const fn passed(&self) -> bool {
        self.unexplained == 0
    }

    /// Returns the JSON of `replay --json`.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        let differences: Vec<serde_json::Value> = self.differences.iter().map(difference_json).collect();
        let unjudged: Vec<serde_json::Value> = self
            .unjudged_by
            .iter()
            .map(|(by, writes)| serde_json::json!({"writer": by.writer, "writes": writes, "why": by.why}))
            .collect();
        serde_json::json!({
            "recording": self.recording,
            "writes": self.writes,
            "judged": self.judged,
            "matched": self.matched,
            "explained": self.explained,
            "unexplained": self.unexplained,
            "unjudged": self.unjudged,
            "unjudgedBy": unjudged,
            "byInstant": self.by_instant,
            "choices": self.choices.values().sum::<usize>(),
            "phases": serde_json::Value::from(&self.phases),
            "differences": differences,
        })
    }

    /// Returns the text for people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let verdict = if self.passed() { "agrees" } else { "DIFFERS" };
        let _ = writeln!(text, "{}: {verdict}", self.recording);
        // The model may also write what nobody recorded, so that differences and matches add up to more.
        let _ = writeln!(
            text,
            "  {} writes recorded, {} judged, {} of them matched; differences: {} explained in the ledger, {} not",
            self.writes, self.judged, self.matched, self.explained, self.unexplained
        );
        for (writer, (judged, matched)) in &self.by_writer {
            let _ = writeln!(text, "    {writer:<28} {matched} of {judged}");
        }
        if self.admitted > 0 {
            let _ = writeln!(text, "    {:<28} {} created Nodes and Pods, and refusals", "admission", self.admitted);
        }
        if self.by_instant > 0 {
            let _ = writeln!(
                text,
                "  {} of them by object and instant alone: their bodies were not recorded",
                self.by_instant
            );
        }
        list(&mut text, &format!("{} writes were inputs only", self.unjudged), &self.unjudged_by);
        let choices: usize = self.choices.values().sum();
        list(&mut text, &format!("{choices} free choices read from the recording"), &self.choices);
        for (name, phase) in self.phases.fields() {
            let _ = writeln!(text, "  phase of {name}: {phase}");
        }
        if !self.flags_unknown.is_empty() {
            let _ = writeln!(text, "  flags that the model does not know: {}", self.flags_unknown.join(" "));
        }
        for difference in self.differences.iter().filter(|difference| difference.ledger.is_none()).take(SHOWN_MAX) {
            describe(&mut text, difference);
        }
        let open = self.differences.iter().filter(|difference| difference.ledger.is_none()).count();
        if open > SHOWN_MAX {
            let _ = writeln!(text, "  … and {} more: `--json` lists all", open - SHOWN_MAX);
        }
        text
    }
}

fn list<K: std::fmt::Display>(text: &mut String, what: &str, counts: &BTreeMap<K, usize>) {
    let parts: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
    let tail = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    let _ = writeln!(text, "  {what}{tail}");
}

fn describe(text: &mut String, difference: &WriteDifference) {
    let _ =
        writeln!(text, "  t={} {} {} {}", seconds(difference.t), difference.writer, difference.object, difference.path);
    for (side, value) in [("real", &difference.real), ("sim ", &difference.sim)] {
        let shown = if value.is_null() { "nothing".to_owned() } else { value.to_string() };
        let cut: String = shown.chars().take(VALUE_MAX).collect();
        let dots = if cut.len() < shown.len() { "…" } else { "" };
        let _ = writeln!(text, "      {side} {cut}{dots}");
    }
}

/// Returns an instant of a recording in seconds.
#[expect(clippy::cast_precision_loss, reason = "a recording lasts hours, and microseconds are exact in 53 bits")]
pub(super) fn in_seconds(t: Micros) -> f64 {
    t as f64 / 1e6
}

/// Prints an offset in seconds with milliseconds.
#[must_use]
pub fn seconds(t: Micros) -> String {
    format!("{:.3}", in_seconds(t))
}

fn difference_json(difference: &WriteDifference) -> serde_json::Value {
    let mut line = serde_json::json!({
        "t": in_seconds(difference.t),
        "writer": difference.writer,
        "object": difference.object,
        "path": difference.path,
        "real": serde_json::Value::from(&difference.real),
        "sim": serde_json::Value::from(&difference.sim),
    });
    if let Some(ledger) = &difference.ledger {
        line["ledger"] = serde_json::Value::from(ledger.as_str());
    }
    line
}
