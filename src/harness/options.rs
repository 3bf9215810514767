//! Options of a run: release, seed, selection, runner; from the environment or from the command line.

use std::env;

use cucumber::tag::Ext as _;
use gherkin::tagexpr::TagOperation;
use nodeproof_core::objects::Text;
use nodeproof_core::profile::{DEFAULT_RELEASE, RELEASES, Race, Release, Settings};

use super::runner::{Backend, LiveOptions, Runner};
use crate::load::near::nearest;
use crate::load::{Tags, check_tag};

/// The environment variables that the harness reads.
const VARIABLES: [&str; 9] = [
    "NODEPROOF_TAGS",
    "NODEPROOF_SEED",
    "NODEPROOF_K8S",
    "NODEPROOF_BACKEND",
    "NODEPROOF_SLOW",
    "NODEPROOF_CONTEXT",
    "NODEPROOF_ALLOW_CONTEXT",
    "NODEPROOF_STATE_DIR",
    "NODEPROOF_HTML",
];

/// The options of a run.
#[derive(Debug, Clone)]
pub struct SuiteOptions {
    /// The release. Default 1.34.4.
    pub release: Release,
    /// The settings of the run, which those of a scenario overrule. Default those of the release.
    pub settings: Option<RunSettings>,
    /// The seed of all free choices. Default 1.
    pub seed: u64,
    /// Which scenarios are chosen. Default all.
    pub selection: Selection,
    /// Whether each message is kept, for a report. Default false.
    pub trace: bool,
    /// Whether each renewal of a Lease is kept, for a picture. Default false.
    pub renewals: bool,
    /// A race to be decided on the simulator as a real cluster may decide it. Default none.
    pub race: Option<Race>,
    /// What the scenarios run on. Default the simulator.
    pub runner: Runner,
}

/// Settings that a whole run has.
#[derive(Debug, Clone)]
pub struct RunSettings {
    /// What was given, `[COMPONENT.]FLAG` with its value, in order.
    pub given: Vec<(String, String)>,
    /// Of it, the flags of the control plane, `COMPONENT.FLAG`, which real components are started with.
    pub flags: Vec<(Text, Text)>,
    /// What it comes to.
    pub settings: Settings,
}

impl RunSettings {
    /// Tells whether kubelets have a part in them.
    #[must_use]
    pub fn has_kubelets(&self) -> bool {
        !self.settings.kubelet_flags().is_empty() || !self.settings.kubelet_fields().is_empty()
    }
}

impl Default for SuiteOptions {
    fn default() -> Self {
        Self {
            release: DEFAULT_RELEASE,
            settings: None,
            seed: 1,
            selection: Selection::default(),
            trace: false,
            renewals: false,
            race: None,
            runner: Runner::default(),
        }
    }
}

/// The entry point through which a scenario was started. The replay line depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryPoint {
    /// `cargo test --test conformance`.
    CargoTest,
    /// `nodeproof run`.
    Command,
    /// `nodeproof run --accept`: what a scenario gives is stored as its snapshot.
    Accept,
}

/// A tag expression.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    expression: Option<(String, TagOperation)>,
}

impl Selection {
    /// Reads a tag expression, as in `@core and not @slow`.
    ///
    /// # Errors
    /// It is no tag expression; the message says which part is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        const LENGTH_MAX: usize = 1_000;
        const DEPTH_MAX: usize = 20;
        let wrong = |why: &str| Err(format!("{text:?} is no tag expression{why}, as in `@core and not @slow`"));
        if text.len() > LENGTH_MAX {
            return Err(format!("a tag expression has at most {LENGTH_MAX} characters"));
        }
        if text.matches('(').count() > DEPTH_MAX || text.matches("not").count() > DEPTH_MAX {
            return wrong(": it is nested too deeply");
        }
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let tags =
            text.split(|c: char| c.is_whitespace() || c == '(' || c == ')').filter_map(|word| word.strip_prefix('@'));
        match text.trim().parse() {
            Ok(operation) => {
                tags.filter(|tag| !tag.is_empty()).try_for_each(check_tag)?;
                Ok(Self { expression: Some((text.trim().to_owned(), operation)) })
            }
            Err(_) if !text.contains('@') => wrong(": tags begin with @"),
            Err(_) => wrong(""),
        }
    }

    /// Tells whether the expression selects these tags.
    #[must_use]
    pub fn meets(&self, tags: &Tags) -> bool {
        self.expression.as_ref().is_none_or(|(_, operation)| operation.eval(&tags.all))
    }

    /// Returns the expression; `None` if it selects everything.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.expression.as_ref().map(|(text, _)| text.as_str())
    }
}

impl SuiteOptions {
    /// Returns the settings of the run on a release.
    #[must_use]
    pub fn settings(&self, release: Release) -> Settings {
        self.settings.as_ref().map_or_else(|| Settings::of(release), |own| own.settings.at_release(release))
    }

    /// Reads `NODEPROOF_TAGS`, `NODEPROOF_SEED` and `NODEPROOF_K8S`; the runner stays the simulator.
    ///
    /// # Errors
    /// A value does not fit; the message names the variable and what would fit.
    pub fn from_environment() -> Result<Self, String> {
        let mut options = Self::default();
        if let Some(text) = variable("NODEPROOF_TAGS")? {
            options.selection = Selection::parse(&text).map_err(|why| format!("NODEPROOF_TAGS: {why}"))?;
        }
        if let Some(text) = variable("NODEPROOF_SEED")? {
            options.seed = parse_seed(&text).map_err(|why| format!("NODEPROOF_SEED: {why}"))?;
        }
        if let Some(text) = variable("NODEPROOF_K8S")? {
            options.release = parse_release(&text).map_err(|why| format!("NODEPROOF_K8S: {why}"))?;
        }
        Ok(options)
    }

    /// Reads `NODEPROOF_BACKEND` and `NODEPROOF_SLOW`.
    ///
    /// # Errors
    /// A value does not fit; the message names the variable and what would fit.
    pub fn runner_from_environment() -> Result<Runner, String> {
        let backend = match variable("NODEPROOF_BACKEND")? {
            Some(text) => Backend::parse(&text).map_err(|why| format!("NODEPROOF_BACKEND: {why}"))?,
            None => Backend::Sim,
        };
        let slow = variable("NODEPROOF_SLOW")?.is_some_and(|value| value != "0");
        #[cfg(feature = "live")]
        let kind = super::KindOptions {
            context: variable("NODEPROOF_CONTEXT")?,
            allowed: variable("NODEPROOF_ALLOW_CONTEXT")?.into_iter().collect(),
            ..super::KindOptions::default()
        };
        #[cfg(not(feature = "live"))]
        let kind = ();
        Runner::set(backend, &LiveOptions { slow, kind, ..LiveOptions::default() })
    }

    /// Reads `NODEPROOF_HTML`: the file that the run is to be written to as a page.
    ///
    /// # Errors
    /// The value is not UTF-8.
    pub fn html_from_environment() -> Result<Option<std::path::PathBuf>, String> {
        Ok(variable("NODEPROOF_HTML")?.map(Into::into))
    }

    /// Tells whether `NODEPROOF_K8S` names a release.
    #[must_use]
    pub fn environment_names_release() -> bool {
        variable("NODEPROOF_K8S").is_ok_and(|value| value.is_some())
    }

    /// Returns a remark on environment variables that look like misspelt ones of the harness.
    #[must_use]
    pub fn misspelt_variables() -> Vec<String> {
        let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let ours = names.filter(|name| name.starts_with("NODEPROOF") && !VARIABLES.contains(&name.as_str()));
        ours.filter_map(|name| {
            let near = nearest(&name, VARIABLES)?;
            Some(format!("the variable {name} means nothing: did you mean {near}?"))
        })
        .collect()
    }
}

/// Returns a release as people name it: `1.34`, with its patch only where that is not the modelled one.
#[must_use]
pub fn release_name(release: Release) -> String {
    if RELEASES.contains(&release) { release.minor_name() } else { release.to_string() }
}

fn variable(name: &str) -> Result<Option<String>, String> {
    match env::var(name) {
        Ok(text) if text.trim().is_empty() => Ok(None),
        Ok(text) => Ok(Some(text)),
        Err(env::VarError::NotPresent) => Ok(None),
        Err(env::VarError::NotUnicode(_)) => Err(format!("{name}: the value is not UTF-8")),
    }
}

/// Reads a seed.
///
/// # Errors
/// It is no whole number in range.
pub fn parse_seed(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| format!("{text:?} is no seed: a whole number from 0 to {}", u64::MAX))
}

/// Several seeds, from the first to the last, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seeds {
    first: u64,
    last: u64,
}

impl Seeds {
    /// One seed alone.
    #[must_use]
    pub const fn one(seed: u64) -> Self {
        Self { first: seed, last: seed }
    }

    /// Reads `1..1000`.
    ///
    /// # Errors
    /// It is no such range, it is empty, or it has more than a million seeds.
    pub fn parse(text: &str) -> Result<Self, String> {
        const SEEDS_MAX: u64 = 1_000_000;
        let Some((first, last)) = text.split_once("..") else {
            return Err(format!("{text:?} names no seeds, as in 1..1000"));
        };
        let seeds = Self { first: parse_seed(first)?, last: parse_seed(last)? };
        match seeds.last.checked_sub(seeds.first) {
            None => Err(format!("{text:?}: the last seed comes before the first")),
            Some(more) if more >= SEEDS_MAX => Err(format!("{text:?}: more than {SEEDS_MAX} seeds")),
            Some(_) => Ok(seeds),
        }
    }

    /// Returns the seeds in their order.
    pub fn iter(self) -> impl Iterator<Item = u64> {
        self.first..=self.last
    }
}

/// Reads a release that is modelled.
///
/// # Errors
/// There is no profile for it.
pub fn parse_release(text: &str) -> Result<Release, String> {
    text.trim().parse::<Release>().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(all: &[&str]) -> Tags {
        Tags { all: all.iter().map(|tag| (*tag).to_owned()).collect(), ..Tags::default() }
    }

    #[test]
    fn a_tag_expression_chooses() {
        let selection = Selection::parse("@core and not (@slow or @req:NC-03)").unwrap();
        assert!(selection.meets(&tags(&["core"])));
        assert!(!selection.meets(&tags(&["core", "slow"])));
        assert!(!selection.meets(&tags(&["core", "req:NC-03"])));
        assert!(Selection::parse("  ").unwrap().meets(&tags(&[])));
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        let deep = "(".repeat(900);
        for text in
            ["core", "@core and", "@core @slow", "not", "not @slwo", "@since:x", &deep, &"@slow or ".repeat(500)]
        {
            assert!(Selection::parse(text).is_err(), "{text}");
        }
        assert!(Selection::parse("not @slwo").unwrap_err().contains("did you mean @slow?"));
    }

    #[test]
    fn seeds_and_releases_are_checked() {
        assert_eq!(parse_seed("42"), Ok(42));
        assert_eq!(Seeds::parse("3..5").unwrap().iter().collect::<Vec<_>>(), [3, 4, 5]);
        assert_eq!(Seeds::parse("18446744073709551615..18446744073709551615").unwrap().iter().count(), 1);
        for text in ["5", "5..3", "..", "1..x", "0..2000000"] {
            assert!(Seeds::parse(text).is_err(), "{text}");
        }
        assert!(parse_seed("x").unwrap_err().contains("whole number"));
        assert!(parse_release("1.30").unwrap_err().contains("1.34"));
        assert_eq!(release_name(parse_release("1.31").unwrap()), "1.31");
    }
}
