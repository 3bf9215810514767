//! The user's own steps: their sentences, what they do to a cluster, and what they look for in it.
//!
//! A sentence is a function on a [`Draft`] with one of cucumber's attributes, in any crate that is linked in:
//!
//! ```text
//! /// The spare Node takes the place of another.
//! #[when(regex = r#"^the spare takes over from Node "(?P<node>[^"]*)"$"#)]
//! fn takes_over(draft: &mut Draft, node: String) {
//!     if let Some(node) = draft.node(&node) {
//!         draft.own_action("take over", json!({"node": node}));
//!     }
//! }
//! ```
//!
//! It may say other sentences ([`Draft::say`]), or name an action or a look of the user's own ([`Draft::own_action`],
//! [`Draft::own_becomes`], [`Draft::own_keeps`]), which [`Own`] defines. A name that [`Own`] does not define is a
//! problem of the feature file, found before anything runs.

use nodeproof_core::objects::Text;
use nodeproof_core::scenario::{OwnLook, Predicate, Subject};

pub use nodeproof_core::json;
pub use nodeproof_core::objects::Json;
pub use nodeproof_core::scenario::{Action, OwnSeen as Seen};

pub use super::draft::Draft;
pub use super::functions::{Cluster, ClusterReader, CompileContext, Fixtures, Own};
use crate::load::near::nearest;

impl Draft {
    /// Compiles another sentence in place of the step, as in `draft.say("the user deletes Node \"worker-1\"")`.
    ///
    /// A sentence that says itself, directly or through others, is a problem of the feature file.
    pub fn say(&mut self, sentence: &str) {
        if !self.instead(sentence) {
            self.problem("", format!("there is no sentence {sentence:?}"));
        }
    }

    /// Adds an action of the user's own with its parameters to the step.
    pub fn own_action(&mut self, name: &str, body: Json) {
        if self.knows_own("action", name) {
            self.action(Action::Custom { name: Text::from(name), body });
        }
    }

    /// Expects that a look of the user's own becomes true. `bound` is the last words of the sentence, as in
    /// `within 60s`. In a Given or When the scenario waits for it, and the bound is empty.
    pub fn own_becomes(&mut self, name: &str, body: &Json, bound: &str) {
        if self.knows_own("look", name) {
            let what = own_fact(name, body);
            self.expect_becomes(Some(what), bound);
        }
    }

    /// Expects that a look of the user's own stays true. `bound` is the last words of the sentence, as in `for 25s`.
    pub fn own_keeps(&mut self, name: &str, body: &Json, bound: &str) {
        if self.knows_own("look", name) {
            let what = own_fact(name, body);
            self.expect_lasts(Some(what), bound);
        }
    }

    /// Tells whether such an action or look is defined, or notes that it is not.
    fn knows_own(&mut self, what: &str, name: &str) -> bool {
        let functions = self.compile_context.own.functions();
        let names: Vec<String> = match what {
            "action" => functions.actions().map(str::to_owned).collect(),
            _ => functions.looks().map(str::to_owned).collect(),
        };
        if names.iter().any(|known| known == name) {
            return true;
        }
        let help = match nearest(name, names.iter().map(String::as_str)) {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("add it: Own::new().{what}({name:?}, …)"),
        };
        self.problem_with("", format!("the step names the {what} {name:?}, and there is none"), vec![help]);
        false
    }
}

fn own_fact(name: &str, body: &Json) -> (Subject, Predicate) {
    let look = OwnLook { name: Text::from(name), body: Text::from(body.to_string()) };
    (Subject::Own(look), Predicate::Holds)
}

#[cfg(test)]
mod tests {
    use cucumber::{then, when};
    use nodeproof_core::sim;

    use super::*;
    use crate::load::{Requirements, Source, check_one};
    use crate::steps::{Compiled, compile_in};

    /// (test) An action.
    #[when(regex = r"^\(test\) own action (?P<name>.+)$")]
    fn own_action(draft: &mut Draft, name: String) {
        draft.own_action(&name, json!({}));
    }

    /// (test) A look.
    #[then(regex = r"^\(test\) own look (?P<name>\w+)(?P<bound> .*)?$")]
    fn own_look(draft: &mut Draft, name: String, bound: String) {
        draft.own_becomes(&name, &json!({}), &bound);
    }

    /// (test) A sentence that says others.
    #[when(regex = r"^\(test\) say (?P<rest>.+)$")]
    fn own_words(draft: &mut Draft, rest: String) {
        draft.say(&rest);
    }

    /// (test) A sentence that says itself.
    #[when(regex = r"^\(test\) myself$")]
    fn myself(draft: &mut Draft) {
        draft.say("(test) myself");
    }

    fn own() -> Own {
        Own::new()
            .action("cordon", |cluster, _| {
                let patch = json!({"spec": {"unschedulable": true}});
                cluster.send("PATCH", "/api/v1/nodes/worker-1", patch).map(drop)
            })
            .action("break", |_, _| panic!("of the test"))
            .look("cordoned", |glance, _| {
                let node = glance.get("/api/v1/nodes/worker-1").unwrap_or_default();
                let listed = glance.list("/api/v1/nodes").len();
                let there = glance.machine("worker-1").is_some() && listed == 2;
                Seen { holds: there && *node.at(&["spec", "unschedulable"]) == json!(true), seen: "looked".to_owned() }
            })
    }

    fn compiled(when: &str, then: &str) -> (Vec<Compiled>, String) {
        let text = format!(
            "Feature: x\n  Scenario: y\n    Given a ready Node \"worker-1\"\n    When {when}\n    Then {then}\n"
        );
        let file = check_one(&Source::new("features/a/b.feature", text.into_bytes()), &Requirements::default());
        let (compiled, problems) = compile_in(&file, &CompileContext { own: own(), ..CompileContext::default() });
        (compiled, problems.iter().map(ToString::to_string).collect())
    }

    fn outcome(when: &str, then: &str) -> String {
        let (compiled, problems) = compiled(when, then);
        assert_eq!(problems, "");
        let options = nodeproof_core::sim::SimulationOptions::default();
        let outcome =
            sim::run_scenario_with(&compiled[0].scenario, options, own().functions(), &mut sim::SetupCache::default());
        outcome.mismatch.map(|mismatch| mismatch.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_sentence_of_ones_own_does_and_looks() {
        assert_eq!(outcome("(test) own action cordon", "(test) own look cordoned within 0s"), "");
        assert_eq!(outcome("(test) say the user cordons Node \"worker-1\"", "(test) own look cordoned within 1s"), "");
        let broken = outcome("(test) own action break", "(test) own look cordoned within 0s");
        assert!(broken.contains("its function broke down: of the test"), "{broken}");
        let missing = outcome("1s passes", "(test) own look cordoned within 5s");
        assert!(missing.contains("looked"), "{missing}");
    }

    #[test]
    fn a_name_that_nobody_has_told_is_found_before_anything_runs() {
        let (_, problems) = compiled("(test) own action cordn", "(test) own look cordoned within 0s");
        assert!(problems.contains("b.feature:4:") && problems.contains("did you mean \"cordon\"?"), "{problems}");
        let (_, problems) = compiled("1s passes", "(test) own look nothing within 0s");
        assert!(problems.contains("Own::new().look(\"nothing\", …)"), "{problems}");
        let (_, problems) = compiled("1s passes", "(test) own look cordoned");
        assert!(problems.contains("the bound is missing"), "{problems}");
        let (_, problems) = compiled("(test) myself", "(test) own look cordoned within 0s");
        assert!(problems.contains("says itself"), "{problems}");
    }
}
