//! Runs the mutants of a scenario and tells which of them were noticed, and by which lines.

use std::sync::Arc;

use nodeproof_core::scenario::{Position, Scenario, Verdict as StepVerdict};

use super::mutants::{self, Mutant, Mutation};
use crate::harness::{EntryPoint, Judged, Planned, Suite, SuiteOptions, Verdict, run};
use crate::steps::Compiled;

/// What became of a mutant.
#[derive(Clone, Debug)]
pub struct JudgedMutant {
    /// What was changed.
    pub mutation: Mutation,
    /// Whether it was noticed: the mutant failed, or for [`Mutation::NotBefore`] the line was not true before.
    pub is_noticed: bool,
    /// The `Then` lines that failed.
    pub failed: Vec<Position>,
}

/// The mutants of a scenario.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    /// Why the scenario has no mutants: it does not pass.
    pub failure: Option<String>,
    /// Whether nothing can be said about it, since the model lacks what it uses.
    pub is_unsupported: bool,
    /// Its mutants.
    pub mutants: Vec<JudgedMutant>,
}

impl Audit {
    /// Returns the mutants that were not noticed.
    pub fn survivors(&self) -> impl Iterator<Item = &JudgedMutant> {
        self.mutants.iter().filter(|mutant| !mutant.is_noticed)
    }
}

/// Makes and runs the mutants of a scenario.
#[must_use]
pub fn audit(planned: &Planned, options: &Arc<SuiteOptions>, suite: &Suite) -> Audit {
    let auditor = Auditor { planned, options, suite };
    let scenario = &planned.compiled.scenario;
    let whole = auditor.play(scenario.clone());
    let outcome = match (&whole.outcome, whole.verdict) {
        (Some(outcome), Verdict::Passed) => outcome,
        (_, Verdict::Unsupported) => return Audit { is_unsupported: true, ..Audit::default() },
        _ => return Audit { failure: Some(whole.text), ..Audit::default() },
    };
    let mut mutants = auditor.true_before();
    mutants.extend(mutants::without_actions(scenario).into_iter().map(|mutant| auditor.judge(mutant)));
    let parts = mutants::parts(scenario, outcome);
    let stopped = parts.iter().filter_map(|part| Some((mutants::stopped(scenario, part)?, part)));
    for (mutant, part) in stopped {
        let line = mutants::stop_line(scenario, part);
        let judged = auditor.judge(mutant);
        // What could not be stopped at that moment shows nothing.
        if !judged.failed.contains(&line) {
            mutants.push(judged);
        }
    }
    (0..scenario.acts.len()).for_each(|act| mutants.extend(auditor.negated(act)));
    Audit { mutants, ..Audit::default() }
}

struct Auditor<'a> {
    planned: &'a Planned,
    options: &'a Arc<SuiteOptions>,
    suite: &'a Suite,
}

impl Auditor<'_> {
    fn play(&self, scenario: Scenario) -> Judged {
        let Planned { name, compiled, path } = self.planned;
        let compiled = Compiled { id: compiled.id.clone(), tags: compiled.tags.clone(), scenario, ..compiled.clone() };
        let mutant = Planned { name: name.clone(), compiled, path: path.clone() };
        run(&mutant, self.options, self.suite, EntryPoint::Command)
    }

    fn judge(&self, mutant: Mutant) -> JudgedMutant {
        let judged = self.play(mutant.scenario);
        JudgedMutant {
            mutation: mutant.mutation,
            is_noticed: judged.verdict.is_failure(),
            failed: failed_lines(&judged),
        }
    }

    /// Tells of each line with a limit alone whether it was true before its act. All lines are tried in one run, which
    /// passes in most scenarios, and otherwise each by itself.
    fn true_before(&self) -> Vec<JudgedMutant> {
        let scenario = &self.planned.compiled.scenario;
        let lines = mutants::may_hold_before(scenario);
        let passes = |lines: &[Position]| !self.play(mutants::not_before(scenario, lines)).verdict.is_failure();
        let none_holds = lines.is_empty() || passes(&lines);
        lines
            .into_iter()
            .map(|line| JudgedMutant {
                is_noticed: none_holds || passes(std::slice::from_ref(&line)),
                failed: Vec::new(),
                mutation: Mutation::NotBefore(line),
            })
            .collect()
    }

    /// Negates all lines of an act in one run: each must fail by itself.
    fn negated(&self, act: usize) -> Vec<JudgedMutant> {
        let (scenario, lines) = mutants::negated(&self.planned.compiled.scenario, act);
        if lines.is_empty() {
            return Vec::new();
        }
        let failed = failed_lines(&self.play(scenario));
        lines
            .into_iter()
            .map(|line| JudgedMutant {
                is_noticed: failed.contains(&line),
                failed: vec![line.clone()],
                mutation: Mutation::Negated(line),
            })
            .collect()
    }
}

fn failed_lines(judged: &Judged) -> Vec<Position> {
    let steps = judged.outcome.iter().flat_map(|outcome| &outcome.steps);
    steps.filter(|step| step.verdict == StepVerdict::Failed).map(|step| step.position.clone()).collect()
}
