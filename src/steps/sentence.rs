//! Finds the function of a step and calls it with the draft; cucumber's runner is never started.
//!
//! Inputs: a draft and a step. Output: whether a sentence fits; the function writes into the draft. A sentence may say
//! others: a part of a step, or another sentence in its place. One that says itself, and a function that panics, are
//! problems of the feature file.

use std::panic::{AssertUnwindSafe, catch_unwind};

use futures::FutureExt as _;
use gherkin::{Step, StepType};
use nodeproof_core::scenario::Fact;

use super::draft::Draft;
use super::patterns;
use super::similar;
use super::syntax::render;

/// How deep sentences may say one another.
const SAID_BY_MAX: usize = 8;

/// Calls the function of a step; false if no sentence fits.
pub(super) fn apply(draft: &mut Draft, step: &Step) -> bool {
    match patterns::find(step) {
        Ok(None) => false,
        Err(error) => {
            let candidates = error.possible_matches.iter().map(|(regex, place)| {
                let place = place.map_or_else(String::new, |place| format!(" ({}:{})", place.path, place.line));
                format!("{}{place}", render(regex.as_str()))
            });
            let help = candidates.collect();
            draft.problem_with(&step.value, "several sentences fit; which is meant?".to_owned(), help);
            true
        }
        Ok(Some((function, _, place, context))) => {
            let run = || function(draft, context).now_or_never();
            let done = catch_unwind(AssertUnwindSafe(run));
            if !matches!(done, Ok(Some(()))) {
                let place = place.map_or_else(String::new, |place| place.to_string());
                draft.problem("", format!("the function of this sentence failed: {place}"));
            }
            true
        }
    }
}

impl Draft {
    /// Compiles a part of the step as a `Then` of its own and returns its facts.
    pub(super) fn part(&mut self, sentence: &str) -> Vec<Fact> {
        let Some(mut step) = self.step().cloned() else { return Vec::new() };
        if self.said_by > SAID_BY_MAX {
            self.problem("", format!("the sentence {sentence:?} says itself"));
            return Vec::new();
        }
        step.ty = StepType::Then;
        step.value = format!("{sentence} within 0s");
        let mut scratch = self.for_a_part();
        if !apply(&mut scratch, &step) && scratch.problems.is_empty() {
            let message = format!("{sentence:?} is nothing that can become true");
            scratch.problem(sentence, message);
        }
        self.problems.append(&mut scratch.problems);
        let facts = scratch.scenario.acts.into_iter().flat_map(|act| act.expectations);
        facts.map(|expectation| expectation.fact).collect()
    }

    /// Compiles a sentence in place of the step; called once for each of several subjects. False if there is none.
    pub(super) fn instead(&mut self, sentence: &str) -> bool {
        let Some(mut step) = self.step().cloned() else { return true };
        if self.said_by > SAID_BY_MAX {
            self.problem("", format!("the sentence {sentence:?} says itself"));
            return true;
        }
        step.value = sentence.to_owned();
        self.said_by += 1;
        let is_one = apply(self, &step);
        self.said_by -= 1;
        is_one
    }

    /// Compiles what a sentence says of one of several subjects in place of the step.
    pub(super) fn of_one(&mut self, subject: &str, rest: &str) {
        let sentence = format!("{subject} {rest}");
        if !self.instead(&sentence) {
            let kind = subject.split(" \"").next().unwrap_or(subject);
            let message = format!("no sentence about one {kind} reads {rest:?}");
            let help = self.step().map(|step| similar::help(&sentence, step.ty));
            self.problem_with(rest, message, help.into_iter().collect());
        }
    }
}
