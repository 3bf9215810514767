//! The entry point of `cargo test`: each scenario is a trial with a stable name.
//!
//! Inputs: a directory with features, libtest's command line, environment variables for the options, since cargo
//! refuses flags that it does not know. Outputs: libtest's output, and exit code 0, 101 (a trial failed) or 2 (misuse).
//! Keeps nextest's contract: `--list` prints names and nothing else, trials that are not run are ignored at list time,
//! and one trial by its exact name reads one feature file.

mod page;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Completion, Failed, Trial};

use self::page::RunFile;
use crate::harness::{Backend, EntryPoint, Judged, Suite, SuiteOptions, SuitePaths, Verdict, keep_panics_quiet, run};
use crate::load::Problem;
use crate::load::near::nearest;
use crate::steps::Own;

/// The exit code of a failed test.
const FAILED: u8 = 101;
/// The exit code of misuse.
const MISUSE: u8 = 2;

/// A test target whose trials are scenarios; it has `harness = false` in `Cargo.toml`.
///
/// ```text
/// fn main() -> std::process::ExitCode {
///     nodeproof::Tests::of(env!("CARGO_MANIFEST_DIR")).main()
/// }
/// ```
#[derive(Debug)]
pub struct Tests {
    root: PathBuf,
    suite_paths: SuitePaths,
    others: fn() -> Vec<Trial>,
}

impl Tests {
    /// The scenarios below `features/` of a directory, with its `features/requirements.yaml` (without one, `@req:`
    /// takes any id), `snapshots/` and `fixtures/`.
    #[must_use]
    pub fn of(root: impl AsRef<Path>) -> Self {
        let root = root.as_ref().to_owned();
        Self { suite_paths: SuitePaths::of_tree(&root), root, others: Vec::new }
    }

    /// Adds the actions and looks of the user's own steps.
    #[must_use]
    pub fn own(mut self, own: Own) -> Self {
        self.suite_paths.own = own;
        self
    }

    /// Takes the requirements that `@req:` may name from another file, as seen from the directory.
    #[must_use]
    pub fn requirements(mut self, file: impl AsRef<Path>) -> Self {
        self.suite_paths.requirements = Some(self.root.join(file));
        self
    }

    /// Adds trials that are no scenarios.
    #[must_use]
    pub fn and(mut self, others: fn() -> Vec<Trial>) -> Self {
        self.others = others;
        self
    }

    /// Runs the trials that the command line and the environment select: exit code 0 if all passed, 101 if not, 2 for
    /// misuse.
    #[must_use]
    pub fn main(mut self) -> ExitCode {
        #[cfg(feature = "live")]
        if let Some(code) = crate::live::guard::stand_in() {
            return code;
        }
        let mut arguments = Arguments::from_args();
        let with_runner = |options| {
            let runner = SuiteOptions::runner_from_environment()?;
            let renewals = SuiteOptions::html_from_environment()?.is_some();
            Ok(SuiteOptions { runner, renewals, ..options })
        };
        let options = match SuiteOptions::from_environment().and_then(with_runner) {
            Ok(options) => Arc::new(options),
            Err(message) => {
                say("error", &message);
                return ExitCode::from(MISUSE);
            }
        };
        SuiteOptions::misspelt_variables().iter().for_each(|remark| say("warning", remark));
        self.suite_paths.backend = options.runner.backend();
        arguments.test_threads = arguments.test_threads.or(options.runner.threads(None).all.map(Into::into));
        keep_panics_quiet();
        self.run(&arguments, &options).unwrap_or_else(|(code, message)| {
            say("error", &message);
            ExitCode::from(code)
        })
    }

    fn run(&self, arguments: &Arguments, options: &Arc<SuiteOptions>) -> Result<ExitCode, (u8, String)> {
        let misuse = |message| (MISUSE, message);
        let html = SuiteOptions::html_from_environment().map_err(misuse)?.filter(|_| !arguments.list);
        if html.is_some() && std::env::var_os("NEXTEST").is_some() {
            say("warning", "NODEPROOF_HTML writes nothing under nextest, which runs each scenario in another process");
        }
        let html = html.filter(|_| std::env::var_os("NEXTEST").is_none());
        let file = html.map(RunFile::create).transpose().map_err(misuse)?.map(Arc::new);
        let suite = Arc::new(Suite::of_tree(&self.root, &self.suite_paths, only(arguments)));
        let mut trials = self.collect(&suite, arguments, options, file.as_ref())?;
        if only(arguments).is_none() {
            trials.extend((self.others)());
        }
        let conclusion = libtest_mimic::run(arguments, trials);
        file.map_or(Ok(()), |file| file.write(&suite, options)).map_err(misuse)?;
        Ok(conclusion.exit_code())
    }

    /// Makes the trials.
    fn collect(
        &self,
        suite: &Arc<Suite>,
        arguments: &Arguments,
        options: &Arc<SuiteOptions>,
        file: Option<&Arc<RunFile>>,
    ) -> Result<Vec<Trial>, (u8, String)> {
        let only = only(arguments);
        if let Some(name) = only {
            if !suite.planned.iter().any(|planned| planned.name == name) {
                return self.one_that_is_not_there(name, suite).map_err(|message| (FAILED, message));
            }
        } else if suite.planned.is_empty() && suite.broken.is_empty() {
            return Err((FAILED, format!("there is no scenario below {}", self.root.join("features").display())));
        }
        if let Some(text) = options.selection.text().filter(|_| only.is_none())
            && suite.broken.is_empty()
            && !suite.planned.iter().any(|planned| options.selection.meets(planned.tags()))
        {
            return Err((MISUSE, format!("NODEPROOF_TAGS={text} selects no scenario")));
        }
        let mut trials: Vec<Trial> = Vec::new();
        for index in 0..suite.planned.len() {
            trials.push(trial(suite, index, arguments, (options, file)));
        }
        trials.extend(suite.broken.iter().map(|file| broken(file.name.clone(), &file.problems)));
        if only.is_none() {
            if !suite.missing.is_empty() {
                trials.push(broken("meta::files_are_there".to_owned(), &suite.missing));
            }
            let suite = Arc::clone(suite);
            trials.push(Trial::test("meta::snapshots_are_used", move || snapshots_are_used(&suite)));
        }
        trials.sort_by(|a, b| a.name().cmp(b.name()));
        Ok(trials)
    }

    /// Handles a scenario that was selected by name and does not exist: its file is broken, or no scenario has the
    /// name.
    fn one_that_is_not_there(&self, name: &str, suite: &Suite) -> Result<Vec<Trial>, String> {
        if let Some(file) = suite.broken.first() {
            return Ok(vec![broken(name.to_owned(), &file.problems)]);
        }
        let all = Suite::of_tree(&self.root, &self.suite_paths, None);
        let near = nearest(name, all.planned.iter().map(|planned| planned.name.as_str()));
        let help = near.map_or_else(String::new, |near| format!(": did you mean {near}?"));
        Err(format!("there is no scenario {name}{help}"))
    }
}

/// Prints to standard error; a closed pipe is no error.
fn say(what: &str, message: &str) {
    drop(writeln!(std::io::stderr(), "{what}: {message}"));
}

/// Returns the exact name of the scenario, if only one is selected.
fn only(arguments: &Arguments) -> Option<&str> {
    arguments.filter.as_deref().filter(|name| arguments.exact && is_of_a_scenario(name) && !arguments.list)
}

/// Tells whether a name begins like the names of scenarios.
fn is_of_a_scenario(name: &str) -> bool {
    name.split_once("::").is_some_and(|(backend, _)| Backend::parse(backend).is_ok())
}

/// Makes the trial of a scenario.
///
/// A trial that is not run is flagged as ignored where names are listed or ignored trials are selected. In a plain run
/// it reports itself as ignored: only then is the reason printed.
fn trial(
    suite: &Arc<Suite>,
    index: usize,
    arguments: &Arguments,
    (options, file): (&Arc<SuiteOptions>, Option<&Arc<RunFile>>),
) -> Trial {
    let planned = &suite.planned[index];
    let unsupported = planned.not_modelled().map(|what| format!("unsupported: {what}"));
    let skipped = planned.skipped(options).or_else(|| unsupported.clone());
    let obstacle = planned.obstacle(options).or(unsupported);
    let flagged = skipped.is_some() && (arguments.list || arguments.ignored || arguments.exact);
    let wanted_anyway = arguments.ignored || arguments.include_ignored;
    let (suite, options, file) = (Arc::clone(suite), Arc::clone(options), file.map(Arc::clone));
    Trial::ignorable_test(planned.name.clone(), move || {
        let planned = &suite.planned[index];
        let reason = if wanted_anyway { obstacle } else { skipped };
        let judged = match planned.skipped(&options).filter(|_| reason.is_some()) {
            Some(why) => Judged::skipped(why),
            None => run(planned, &options, &suite, EntryPoint::CargoTest),
        };
        if let Some(file) = &file {
            file.take(index, planned, &options, &judged);
        }
        if let Some(reason) = reason {
            return cannot_run(reason);
        }
        match judged.verdict {
            Verdict::Unsupported => cannot_run(format!("unsupported: {}", judged.text)),
            verdict if verdict.is_failure() => Err(Failed::from(judged.text)),
            _ => Ok(Completion::Completed),
        }
    })
    .with_ignored_flag(flagged)
}

/// Returns why a scenario is not run. nextest judges by the exit code and would count it as passed.
fn cannot_run(reason: String) -> Result<Completion, Failed> {
    if std::env::var_os("NEXTEST").is_some() {
        return Err(Failed::from(format!("cannot be run: {reason}")));
    }
    Ok(Completion::ignored_with(reason))
}

/// Makes the trial of a file that is broken: it shows every problem.
fn broken(name: String, problems: &[Problem]) -> Trial {
    let text = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    Trial::test(name, move || Err(Failed::from(text)))
}

fn snapshots_are_used(suite: &Suite) -> Result<(), Failed> {
    let unused: Vec<String> = suite.unused_snapshots().iter().map(|(_, problem)| problem.to_string()).collect();
    if unused.is_empty() { Ok(()) } else { Err(Failed::from(unused.join("\n"))) }
}
