//! Tests of the command and of the test harness as programs: what a person, a script or nextest sees.
//!
//! Inputs: trees of feature files in temporary directories. Outputs: exit codes, both streams, files. This program can
//! itself act as the test target of another tree: with `DOOR_OF` set it runs the scenarios of that directory as
//! `cargo test --test conformance` would.

mod behaviour;
mod clients;
mod comfort;
mod conformance;
mod diff;
mod docs;
mod input;
mod kind;
mod lines;
mod messages;
mod mutants;
mod observe;
mod outputs;
mod own;
mod pictures;
#[cfg(feature = "live")]
mod plan;
#[cfg(feature = "live")]
mod record;
mod releases;
mod reports;
#[cfg(feature = "live")]
mod schema;
mod serve;
mod snapshots;
mod trials;
mod unsupported;
mod world;
mod wrong;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion, Failed, Trial};

/// The variable that makes this program the test harness of a tree.
const DOOR_OF: &str = "DOOR_OF";

fn main() -> ExitCode {
    if let Some(root) = std::env::var_os(DOOR_OF) {
        return nodeproof::Tests::of(root).main();
    }
    let trials = [
        behaviour::TRIALS,
        clients::TRIALS,
        comfort::TRIALS,
        conformance::TRIALS,
        diff::TRIALS,
        docs::TRIALS,
        input::TRIALS,
        kind::TRIALS,
        lines::TRIALS,
        messages::TRIALS,
        mutants::TRIALS,
        observe::TRIALS,
        outputs::TRIALS,
        own::TRIALS,
        pictures::TRIALS,
        #[cfg(feature = "live")]
        plan::TRIALS,
        #[cfg(feature = "live")]
        record::TRIALS,
        releases::TRIALS,
        reports::TRIALS,
        #[cfg(feature = "live")]
        serve::TRIALS,
        snapshots::TRIALS,
        trials::TRIALS,
        unsupported::TRIALS,
        wrong::TRIALS,
    ]
    .concat();
    let mut trials: Vec<Trial> =
        trials.into_iter().map(|(name, run)| Trial::test(name, move || run().map_err(Failed::from))).collect();
    let arguments = Arguments::from_args();
    // Only a trial that ignores itself shows why; nextest, which judges by the exit code, asks for the list first.
    let flagged = kind::context().is_err() && (arguments.list || arguments.ignored || arguments.exact);
    trials.extend(kind::LIVE.iter().map(|(name, run)| {
        let trial = Trial::ignorable_test(*name, move || match kind::context() {
            Ok(_) => run().map(|()| Completion::Completed).map_err(Failed::from),
            Err(why) if arguments.ignored => Err(Failed::from(why)),
            Err(why) => Ok(Completion::ignored_with(why)),
        });
        trial.with_ignored_flag(flagged)
    }));
    let is_missing = pictures::chromium().is_err() && (arguments.list || arguments.ignored || arguments.exact);
    trials.extend(pictures::IN_A_BROWSER.iter().map(|(name, run)| {
        let trial = Trial::ignorable_test(*name, move || match pictures::chromium() {
            Ok(_) => run().map(|()| Completion::Completed).map_err(Failed::from),
            Err(why) if arguments.ignored => Err(Failed::from(why)),
            Err(why) => Ok(Completion::ignored_with(why)),
        });
        trial.with_ignored_flag(is_missing)
    }));
    for (name, example) in clients::WITH_PROGRAMS {
        let missing = clients::missing(example);
        let is_flagged = missing.is_some() && (arguments.list || arguments.ignored || arguments.exact);
        let fails = arguments.ignored;
        let trial = Trial::ignorable_test(*name, move || match missing {
            None => clients::run(example).map(|()| Completion::Completed).map_err(Failed::from),
            Some(why) if fails => Err(Failed::from(why)),
            Some(why) => Ok(Completion::ignored_with(why)),
        });
        trials.push(trial.with_ignored_flag(is_flagged));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
