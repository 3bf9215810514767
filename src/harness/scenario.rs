//! Runs one scenario, compares its snapshots with the stored ones, and writes the failure text.
//!
//! Inputs: a scenario, the options of the run, the suite. Output: a [`Judged`]. Invariant: a panic of the simulator
//! becomes a failure of this scenario and of no other.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use nodeproof_core::scenario::{Mismatch, Missed, Outcome, Verdict as CoreVerdict};

use super::options::{EntryPoint, SuiteOptions, release_name};
use super::planned::Planned;
use super::runner::Backend;
use super::suite::Suite;

/// The verdict of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// All its lines held, and its snapshots are as stored.
    Passed,
    /// A line or a snapshot did not hold.
    Failed,
    /// Nothing can be said about it; counts as failed.
    Inconclusive,
    /// The model lacks what it uses, so nothing can be said; neither passed nor failed.
    Unsupported,
    /// It was not run.
    Skipped,
}

impl From<CoreVerdict> for Verdict {
    fn from(verdict: CoreVerdict) -> Self {
        match verdict {
            CoreVerdict::Passed => Self::Passed,
            CoreVerdict::Unsupported => Self::Unsupported,
            CoreVerdict::Inconclusive => Self::Inconclusive,
            CoreVerdict::Failed => Self::Failed,
        }
    }
}

impl Verdict {
    /// Returns the word of reports.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Inconclusive => "inconclusive",
            Self::Unsupported => "unsupported",
            Self::Skipped => "skipped",
        }
    }

    /// Tells whether this verdict counts as failed.
    #[must_use]
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::Inconclusive)
    }
}

/// A scenario with its verdict.
#[derive(Debug)]
pub struct Judged {
    /// The verdict.
    pub verdict: Verdict,
    /// Why it failed, with all that helps; why it was skipped or is unsupported; empty if it passed.
    pub text: String,
    /// The same in parts, if it failed.
    pub failure: Option<Mismatch>,
    /// What the backend left behind; `None` if it was not run or broke down.
    pub outcome: Option<Outcome>,
    /// How much time passed in the cluster.
    pub virtual_time: jiff::SignedDuration,
    /// How much time the run took.
    pub wall_time: Duration,
}

impl Judged {
    /// A scenario that is not run.
    #[must_use]
    pub const fn skipped(why: String) -> Self {
        Self::not_run(Verdict::Skipped, why)
    }

    /// A scenario that was judged by what was seen of a cluster.
    #[must_use]
    pub fn seen(verdict: Verdict, text: String, outcome: Outcome) -> Self {
        let virtual_time = outcome.duration;
        let wall_time = virtual_time.unsigned_abs();
        Self { verdict, text, failure: outcome.mismatch.clone(), outcome: Some(outcome), virtual_time, wall_time }
    }

    const fn not_run(verdict: Verdict, why: String) -> Self {
        let virtual_time = jiff::SignedDuration::ZERO;
        Self { verdict, text: why, failure: None, outcome: None, virtual_time, wall_time: Duration::ZERO }
    }
}

/// Runs a scenario and judges it.
#[must_use]
pub fn run(planned: &Planned, options: &SuiteOptions, suite: &Suite, entry_point: EntryPoint) -> Judged {
    if let Some(what) = planned.not_modelled() {
        return Judged::not_run(Verdict::Unsupported, what.to_owned());
    }
    let started = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| options.runner.play(planned, options, suite)));
    let wall_time = started.elapsed();
    let replay = replay_line(planned, options, entry_point);
    let (told, outcome) = match outcome {
        Ok(outcome) => (judge(planned, options, &suite.store, entry_point, &outcome, replay), Some(outcome)),
        Err(payload) => (broken_down(planned, payload.as_ref(), replay), None),
    };
    let (verdict, text, failure) = told;
    let virtual_time = outcome.as_ref().map(|outcome| outcome.duration).unwrap_or_default();
    Judged { verdict, text, failure, outcome, virtual_time, wall_time }
}

/// A verdict, what it is because of, and that in parts.
type Told = (Verdict, String, Option<Mismatch>);

fn judge(
    planned: &Planned,
    options: &SuiteOptions,
    store: &super::Store,
    entry_point: EntryPoint,
    outcome: &Outcome,
    replay: String,
) -> Told {
    if let Some(mismatch) = &outcome.mismatch {
        if outcome.verdict == CoreVerdict::Unsupported {
            return (Verdict::Unsupported, mismatch.observed.clone(), None);
        }
        let mismatch = Mismatch { replay, ..mismatch.clone() };
        let verdict = match outcome.verdict {
            CoreVerdict::Inconclusive => Verdict::Inconclusive,
            _ => Verdict::Failed,
        };
        return (verdict, format!("{mismatch}{}", tolerance_line(outcome)), Some(mismatch));
    }
    let mut differing = store.compare(planned, options, entry_point, &outcome.snapshots);
    if differing.is_empty() {
        return (Verdict::Passed, String::new(), None);
    }
    let place = |missed: &Missed| format!("{}:{}: {}", missed.step.file, missed.step.line, missed.step.text);
    let texts: Vec<String> = differing.iter().map(|missed| format!("{}\n{}", place(missed), missed.observed)).collect();
    // A writer that is slow writes two states at once.
    let (verdict, slow) = match outcome.is_too_slow {
        true => (Verdict::Inconclusive, ": too slow for a snapshot, so that nothing can be said"),
        false => (Verdict::Failed, ""),
    };
    let text = format!("{}\n  replay    {replay}{}{slow}", texts.join("\n"), tolerance_line(outcome));
    let first = differing.remove(0);
    (verdict, text, Some(in_parts(first, differing, replay)))
}

/// Returns the line that says how far bounds may have been missed.
fn tolerance_line(outcome: &Outcome) -> String {
    match outcome.tolerance.as_str() {
        "" => String::new(),
        text => format!("\n  tolerance {text}"),
    }
}

/// Returns a failure for which no decision is to blame.
fn in_parts(first: Missed, also: Vec<Missed>, replay: String) -> Mismatch {
    let Missed { step, expected, observed } = first;
    Mismatch { step, expected, observed, why: Vec::new(), last: Vec::new(), also, replay }
}

/// Returns a command line that repeats the run of a scenario.
fn replay_line(planned: &Planned, options: &SuiteOptions, entry_point: EntryPoint) -> String {
    let release = release_name(options.release);
    let backend = options.runner.backend();
    let is_sim = backend == Backend::Sim;
    match entry_point {
        EntryPoint::CargoTest => {
            let is_default = options.release == SuiteOptions::default().release;
            let k8s = if is_default { String::new() } else { format!("NODEPROOF_K8S={release} ") };
            let target = test_target();
            let on = if is_sim { String::new() } else { format!("NODEPROOF_BACKEND={} ", backend.name()) };
            format!("NODEPROOF_SEED={} {on}{k8s}cargo test --test {target} -- --exact {}", options.seed, planned.name)
        }
        EntryPoint::Command | EntryPoint::Accept => {
            let is_file = Path::new(&planned.path).exists();
            let path = if is_file { format!(" {}", quote(&planned.path)) } else { String::new() };
            let on = if is_sim { String::new() } else { format!(" --backend {}", backend.name()) };
            let given = options.settings.iter().flat_map(|settings| &settings.given);
            let set: String =
                given.map(|(flag, value)| format!(" --set {}", quote(&format!("{flag}={value}")))).collect();
            format!("nodeproof run{path}{on} --k8s {release}{set} --seed {} --only {}", options.seed, planned.name)
        }
    }
}

/// Returns the name of the test target that is running: its file's name without the hash that cargo adds.
pub(super) fn test_target() -> String {
    let stem = std::env::current_exe().ok().and_then(|path| Some(path.file_stem()?.to_str()?.to_owned()));
    let stem = stem.unwrap_or_else(|| "conformance".to_owned());
    match stem.rsplit_once('-') {
        Some((name, hash)) if hash.len() == 16 && hash.chars().all(|c| c.is_ascii_hexdigit()) => name.to_owned(),
        _ => stem,
    }
}

/// Quotes a path if a shell would split it.
fn quote(path: &str) -> String {
    let plain = path.chars().all(|c| c.is_alphanumeric() || "/._-=".contains(c));
    if plain { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// Returns the failure text for a panic of the program: it is never the scenario's fault.
fn broken_down(planned: &Planned, payload: &(dyn Any + Send), replay: String) -> Told {
    let message = payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "no message".to_owned());
    let place = LAST_PANIC.with(|last| last.borrow_mut().take()).unwrap_or_default();
    let position = &planned.compiled.scenario.position;
    let text = format!(
        "{}:{}: {}\n  broken    nodeproof itself: {message}\n  at        {place}\n  replay    {replay}",
        position.file, position.line, position.text
    );
    let observed = format!("nodeproof itself broke down: {message}, at {place}");
    let missed = Missed { step: position.clone(), expected: "a verdict".to_owned(), observed };
    (Verdict::Failed, text, Some(in_parts(missed, Vec::new(), replay)))
}

thread_local! {
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps the place of a panic for the failure text, so that it is not printed among the output of other scenarios.
pub fn keep_panics_quiet() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string);
        LAST_PANIC.with(|last| *last.borrow_mut() = place);
    }));
}

#[cfg(test)]
mod tests {
    use super::super::SuitePaths;
    use super::*;

    #[test]
    fn a_snapshot_that_differs_where_writers_were_too_slow_is_inconclusive() {
        let mut paths = SuitePaths::of_tree(Path::new(env!("CARGO_MANIFEST_DIR")));
        paths.features = vec![paths.features[0].join("workloads/init_containers.feature")];
        let (suite, options) = (Suite::load(&paths), SuiteOptions::default());
        let played = |planned: &Planned| options.runner.play(planned, &options, &suite);
        let mut all = suite.planned.iter().map(|planned| (planned, played(planned)));
        let (planned, mut outcome) = all.find(|(_, outcome)| !outcome.snapshots.is_empty()).unwrap();
        let mut verdict = |spoil: &dyn Fn(&mut Outcome)| {
            spoil(&mut outcome);
            judge(planned, &options, &suite.store, EntryPoint::Command, &outcome, String::new())
        };
        assert_eq!(verdict(&|_| {}).0, Verdict::Passed);
        assert_eq!(verdict(&|it| it.snapshots[0].value = nodeproof_core::objects::Json::Null).0, Verdict::Failed);
        let (slow, text, _) = verdict(&|it| (it.is_too_slow, it.tolerance) = (true, String::from("bounds")));
        assert_eq!(slow, Verdict::Inconclusive);
        assert!(text.ends_with("tolerance bounds: too slow for a snapshot, so that nothing can be said"), "{text}");
        assert_eq!(verdict(&|it| it.snapshots.clear()).0, Verdict::Passed, "nothing to compare");
    }
}
