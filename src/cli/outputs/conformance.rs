//! The conformance report of a run: what was run, and what holds of each requirement.
//!
//! Everything in it is counted from verdicts; nothing depends on the clock, so two runs of the same give the same
//! bytes. A requirement belongs to the profile `core` if one of its scenarios has the tag `@core`, and else to
//! `extended`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{Close, Form, JudgedScenario, unwritable};
use crate::harness::{Planned, Suite, Verdict};

/// The version of the form.
pub(in crate::cli) const SCHEMA: &str = "nodeproof.conformance/v1";

/// What the scenarios of one requirement came to.
#[derive(Debug, Default)]
struct Tested {
    is_core: bool,
    counts: BTreeMap<&'static str, usize>,
    reasons: BTreeSet<String>,
}

/// A report that is being made.
#[derive(Debug)]
pub(super) struct ConformanceReport {
    path: PathBuf,
    file: File,
    features: String,
    seed: u64,
    requirements: BTreeMap<String, Tested>,
}

impl ConformanceReport {
    /// Makes the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn create(path: &Path) -> Result<Self, String> {
        let file = File::create(path).map_err(|error| unwritable(path, &error))?;
        let (features, requirements) = (String::new(), BTreeMap::new());
        Ok(Self { path: path.to_owned(), file, features, seed: 1, requirements })
    }

    fn add(&mut self, planned: &Planned, verdict: &'static str, why: &str) {
        let tags = planned.tags();
        for id in &tags.requirements {
            let tested = self.requirements.entry(id.clone()).or_default();
            tested.is_core |= tags.all.iter().any(|tag| tag == "core");
            *tested.counts.entry(verdict).or_default() += 1;
            if !why.is_empty() {
                tested.reasons.insert(why.to_owned());
            }
        }
    }

    /// Writes the report.
    ///
    /// # Errors
    /// It cannot be written.
    fn write(mut self, close: &Close<'_>, run: &Value) -> Result<(), String> {
        let requirements: Vec<Value> = self.requirements.iter().map(|(id, tested)| tested.json(id)).collect();
        let profile = |name: &str| {
            let own: Vec<&Tested> = self.requirements.values().filter(|tested| tested.profile() == name).collect();
            let count = |result: &str| own.iter().filter(|tested| tested.result() == result).count();
            json!({
                "requirements": own.len(), "passed": count("passed"), "failed": count("failed"),
                "unsupported": count("unsupported"), "skipped": count("skipped"), "notShown": count("notShown"),
                "conformant": !own.is_empty() && count("passed") == own.len(),
            })
        };
        let mut reproduce = format!("nodeproof run --k8s {} --seed {}", close.on.k8s, self.seed);
        for (flag, texts) in [("--set", &run["set"]), ("", &run["paths"])] {
            for text in texts.as_array().into_iter().flatten().filter_map(Value::as_str) {
                reproduce += &format!(" {flag}{}{text}", if flag.is_empty() { "" } else { " " });
            }
        }
        let report = json!({
            "schema": SCHEMA,
            "program": {"name": "nodeproof", "version": env!("CARGO_PKG_VERSION")},
            "features": self.features,
            "run": {
                "backend": close.on.backend, "k8s": close.on.k8s, "seed": self.seed,
                "set": run["set"], "paths": run["paths"], "tags": run["tags"],
            },
            "scenarios": close.tally.counts().into_iter().collect::<BTreeMap<_, _>>(),
            "profiles": {"core": profile("core"), "extended": profile("extended")},
            "requirements": requirements,
            "reproduce": reproduce + " --conformance FILE",
        });
        let text = serde_json::to_string_pretty(&report).map_err(|error| error.to_string())? + "\n";
        self.file.write_all(text.as_bytes()).map_err(|error| unwritable(&self.path, &error))
    }
}

impl Form for ConformanceReport {
    fn load(&mut self, suite: &Suite) {
        self.features = features_hash(suite);
        for requirement in suite.requirements.iter() {
            self.requirements.entry(requirement.id.clone()).or_default();
        }
    }

    fn broken(&mut self, planned: &Planned) {
        self.add(planned, Verdict::Failed.word(), "its text has a mistake");
    }

    fn verdict(&mut self, entry: &JudgedScenario<'_>) {
        self.seed = entry.seed.unwrap_or(self.seed);
        let verdict = entry.judged.verdict;
        let why = if matches!(verdict, Verdict::Passed) { "" } else { entry.judged.text.lines().next().unwrap_or("") };
        self.add(entry.planned, verdict.word(), why);
    }

    fn close(self: Box<Self>, close: &Close<'_>) -> Result<(), String> {
        self.write(close, &close.on.told)
    }
}

impl Tested {
    const fn profile(&self) -> &'static str {
        if self.is_core { "core" } else { "extended" }
    }

    /// Returns what holds of the requirement: failed if any scenario did, passed if one did and none failed.
    fn result(&self) -> &'static str {
        let has = |verdict: Verdict| self.counts.contains_key(verdict.word());
        if has(Verdict::Failed) || has(Verdict::Inconclusive) {
            "failed"
        } else if has(Verdict::Passed) {
            "passed"
        } else if has(Verdict::Unsupported) {
            "unsupported"
        } else if has(Verdict::Skipped) {
            "skipped"
        } else {
            "notShown"
        }
    }

    fn json(&self, id: &str) -> Value {
        let mut line = json!({"id": id, "profile": self.profile(), "result": self.result(), "scenarios": self.counts});
        if self.result() != "passed" && !self.reasons.is_empty() {
            line["reasons"] = self.reasons.iter().map(String::as_str).collect();
        }
        line
    }
}

/// Returns the hash of the feature files: of their names below `features` and of their bytes, in order of the names.
pub(in crate::cli) fn features_hash(suite: &Suite) -> String {
    let mut sources: Vec<(&str, &[u8])> =
        suite.sources.iter().map(|source| (&*source.id, source.bytes.as_deref().unwrap_or_default())).collect();
    sources.sort_unstable();
    let mut hash = Sha256::new();
    for (id, bytes) in sources {
        hash.update(id.len().to_le_bytes());
        hash.update(id);
        hash.update(bytes.len().to_le_bytes());
        hash.update(bytes);
    }
    format!("sha256:{}", hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}
