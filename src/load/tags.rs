//! The closed set of tags: what each means, which values it takes, and which tags a scenario inherits.
//!
//! Inputs: tags and requirements. Outputs: [`Tags`] in force for a scenario, or a problem with the nearest known tag.

use std::collections::{BTreeMap, BTreeSet};

use nodeproof_core::profile::{DEFAULT_RELEASE, RELEASES, Release, gates};
use serde::Deserialize;

use super::Problem;
use super::near::nearest;
use super::source::Text;
use super::yaml_error::without_places;

/// Tags without a value.
const PLAIN: [&str; 5] = ["core", "extended", "provisional", READ_ONLY, "slow"];
/// The tag of a scenario that does nothing to the cluster; `steps` refuses other sentences in it.
const READ_ONLY: &str = "read-only";
/// Tags with a value, and what the value is.
const VALUED: [(&str, &str); 7] = [
    ("req", "a requirement's id, as in @req:NC-03"),
    ("since", "a release, as in @since:1.32"),
    ("until", "a release, as in @until:1.31"),
    ("gate", "a feature gate, as in @gate:NodeSwap"),
    ("custom", "a name that something else in the cluster sets, as in @custom:example.com/broken"),
    ("sim-only", "why the scenario needs the simulator"),
    ("live-only", "why the scenario needs a real cluster"),
];
/// Why a scenario can run only on the simulator.
const SIM_ONLY: [&str; 7] = ["hours", "instants", "faults", "releases", "scale", "hand-fed", "names"];
/// Why a scenario can run only on a real cluster.
const LIVE_ONLY: [&str; 4] = ["kernel", "runtime", "timing", "scheduler"];

/// A requirement that scenarios can refer to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Requirement {
    /// Its id, as `NC-03`.
    pub id: String,
    /// The behaviour, in a sentence or two.
    #[serde(default)]
    pub says: String,
    /// The releases to which it applies; `all`, `1.24+`, `1.12-1.26`.
    #[serde(default)]
    pub versions: String,
    /// What a scenario can see of it.
    #[serde(default)]
    pub observe: String,
    /// Which backends can show it.
    #[serde(default)]
    pub real: String,
}

/// The requirements that `@req:` may name.
#[derive(Debug, Clone, Default)]
pub struct Requirements {
    /// In the order of the file; `None` lets every id pass.
    known: Option<Vec<Requirement>>,
    /// The file that they were read from; empty for that of the program itself.
    file: String,
}

impl Requirements {
    /// Reads `requirements.yaml`: lists of requirements by topic.
    ///
    /// # Errors
    /// The text is no such file: the line, or 0 if none is known, and why.
    pub fn parse(text: &str) -> Result<Self, (usize, String)> {
        let at = |error: serde_yaml::Error| (error.location().map_or(0, |place| place.line()), without_places(&error));
        let topics: BTreeMap<String, Vec<Requirement>> = serde_yaml::from_str(text).map_err(at)?;
        let mut known: Vec<Requirement> = Vec::new();
        for requirement in topics.into_values().flatten() {
            if known.iter().any(|other| other.id == requirement.id) {
                let says = format!("id: {}", requirement.id);
                let is_it = |line: &str| line.split([',', '}', '#']).any(|part| part.trim().ends_with(&says));
                let again = text.lines().enumerate().filter(|(_, line)| is_it(line)).nth(1);
                let line = again.map_or(0, |(at, _)| at + 1);
                return Err((line, format!("the id {:?} is there twice", requirement.id)));
            }
            known.push(requirement);
        }
        known.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(Self { known: Some(known), file: String::new() })
    }

    /// Names the file that they were read from, for messages.
    #[must_use]
    pub fn read_from(mut self, file: String) -> Self {
        self.file = file;
        self
    }

    /// Returns them by their ids.
    pub fn iter(&self) -> impl Iterator<Item = &Requirement> {
        self.known.iter().flatten()
    }

    /// Returns what may be meant by an id that there is not: the nearest, or else those of its family, or the families.
    #[must_use]
    pub fn suggestion(&self, id: &str) -> Option<String> {
        let ids = || self.iter().map(|requirement| requirement.id.as_str());
        if let Some(near) = nearest(id, ids()) {
            return Some(format!("did you mean {near}?"));
        }
        let family = |id: &str| id.split('-').next().unwrap_or_default().to_uppercase();
        let own: Vec<&str> = ids().filter(|other| family(other) == family(id)).collect();
        if let [first, .., last] = own.as_slice() {
            return Some(format!("there are {first} to {last}"));
        }
        let families: BTreeSet<String> = ids().map(family).collect();
        let shown: Vec<String> = families.into_iter().collect();
        (!shown.is_empty()).then(|| format!("the ids begin with {}", shown.join(", ")))
    }

    fn knows(&self, id: &str) -> bool {
        self.known.is_none() || self.iter().any(|requirement| requirement.id == id)
    }
}

/// The tags in force for a scenario, its rule's and feature's included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tags {
    /// All of them without `@`, outermost first.
    pub all: Vec<String>,
    /// The requirements that it shows.
    pub requirements: Vec<String>,
    /// The oldest release to which it applies; the latest of all `@since`.
    pub since: Option<Release>,
    /// The newest release to which it applies, including all its patches; the earliest of all `@until`.
    pub until: Option<Release>,
    /// Why it cannot run on the simulator.
    pub live_only: Option<String>,
    /// Why it cannot run on a real cluster.
    pub sim_only: Option<String>,
    /// Whether no step of it does anything to the cluster.
    pub read_only: bool,
}

impl Tags {
    /// Returns why a scenario does not apply to a release.
    #[must_use]
    pub fn other_release(&self, release: Release) -> Option<String> {
        if let Some(since) = self.since.filter(|since| release < *since) {
            return Some(format!("since {}, and this is Kubernetes {release}", said(since)));
        }
        let until = self.until.filter(|until| (release.major, release.minor) > (until.major, until.minor))?;
        Some(format!("until {}, and this is Kubernetes {release}", said(until)))
    }

    /// Returns the default release if the scenario is for it, or else the newest for which it is.
    #[must_use]
    pub fn fitting_release(&self) -> Release {
        let fits = |release: &Release| self.other_release(*release).is_none();
        if fits(&DEFAULT_RELEASE) {
            return DEFAULT_RELEASE;
        }
        RELEASES.into_iter().rev().find(fits).unwrap_or(DEFAULT_RELEASE)
    }

    /// Adds the tags of a heading, which are on the lines above it.
    pub(super) fn add(
        &mut self,
        tags: &[String],
        heading: usize,
        text: &Text,
        known: &Requirements,
        problems: &mut Vec<Problem>,
    ) {
        let before = (self.since, self.until);
        for tag in tags {
            if self.all.contains(tag) {
                continue;
            }
            if let Err((message, help)) = self.take(tag, known) {
                let (line, column) = place(text, heading, tag);
                let mut problem = text.problem(line, column, tag.chars().count() + 1, message);
                problem.help.extend(help);
                problems.push(problem);
            }
            self.all.push(tag.clone());
        }
        if before != (self.since, self.until)
            && let (Some(since), Some(until)) = (self.since, self.until)
            && (since.major, since.minor) > (until.major, until.minor)
        {
            let (line, column) = place(text, heading, tags.first().map_or("", String::as_str));
            let message = format!("no release is both since {} and until {}", said(since), said(until));
            problems.push(text.problem(line, column, 1, message));
        }
    }

    fn take(&mut self, tag: &str, known: &Requirements) -> Result<(), (String, Option<String>)> {
        let (name, value) = tag.split_once(':').map_or((tag, None), |(name, value)| (name, Some(value)));
        if PLAIN.contains(&name) {
            self.read_only |= name == READ_ONLY;
            return match value {
                None => Ok(()),
                Some(_) => Err((format!("the tag @{name} takes no value"), None)),
            };
        }
        let Some((_, what)) = VALUED.iter().find(|(known, _)| *known == name) else {
            let names = PLAIN.into_iter().chain(VALUED.map(|(name, _)| name));
            let near = nearest(name, names).map(|near| format!("did you mean @{near}?"));
            let all =
                format!("the tags are @{} and, with a value, @{}:", PLAIN.join(" @"), VALUED.map(|v| v.0).join(": @"));
            return Err((format!("there is no tag @{name}"), near.or(Some(all))));
        };
        let Some(value) = value.filter(|value| !value.is_empty()) else {
            return Err((format!("the tag @{name} wants a value: {what}"), None));
        };
        match name {
            "req" => {
                if !known.knows(value) {
                    let file = Some(known.file.as_str()).filter(|file| !file.is_empty());
                    let place = file.unwrap_or("the requirements that the program carries");
                    let message = format!("there is no requirement {value:?} in {place}");
                    return Err((message, known.suggestion(value)));
                }
                self.requirements.push(value.to_owned());
            }
            "since" => self.since = self.since.max(Some(since(value)?)),
            "until" => {
                let until = until(value)?;
                self.until = Some(self.until.map_or(until, |other| other.min(until)));
            }
            "sim-only" => self.sim_only = Some(word(value, "sim-only", &SIM_ONLY)?),
            "live-only" => self.live_only = Some(word(value, "live-only", &LIVE_ONLY)?),
            "custom" => {}
            _ => gate(value)?,
        }
        Ok(())
    }
}

/// Tells what is wrong with a tag, given without `@`; a requirement may have any id.
///
/// # Errors
/// There is no such tag, or its value is wrong; the message lists the valid ones.
pub fn check_tag(tag: &str) -> Result<(), String> {
    let taken = Tags::default().take(tag, &Requirements::default());
    taken.map_err(|(message, help)| help.map_or_else(|| message.clone(), |help| format!("{message}; {help}")))
}

/// Returns a release as tags write it.
fn said(release: Release) -> String {
    if release.patch == 0 { release.minor_name() } else { release.to_string() }
}

type TagError = (String, Option<String>);

/// Reads the release of `@since`: after the newest one that is modelled, the scenario would run nowhere.
fn since(value: &str) -> Result<Release, TagError> {
    let (since, newest) = (release(value)?, RELEASES[RELEASES.len() - 1]);
    if (since.major, since.minor) <= (newest.major, newest.minor) {
        return Ok(since);
    }
    let message = format!("no release is since {value}, so that the scenario would never run");
    Err((message, Some(format!("the newest is {}", newest.minor_name()))))
}

/// Reads the release of `@until`: before the oldest one that is modelled, the scenario would run nowhere.
fn until(value: &str) -> Result<Release, TagError> {
    let (until, oldest) = (release(value)?, RELEASES[0]);
    if (until.major, until.minor) >= (oldest.major, oldest.minor) {
        return Ok(until);
    }
    let message = format!("no release is until {value}, so that the scenario would never run");
    let help = format!("the oldest is {}; one before says `a cluster of Kubernetes {value}`", oldest.minor_name());
    Err((message, Some(help)))
}

/// Reads `1.32` or `1.32.4`.
fn release(value: &str) -> Result<Release, TagError> {
    let parts: Vec<Option<u16>> = value.split('.').map(|part| part.parse().ok()).collect();
    match parts.as_slice() {
        [Some(1), Some(minor)] => Ok(Release::new(*minor, 0)),
        [Some(1), Some(minor), Some(patch)] => Ok(Release::new(*minor, *patch)),
        _ => Err((format!("{value:?} is no release of Kubernetes"), Some("as in 1.32".to_owned()))),
    }
}

fn word(value: &str, tag: &str, words: &[&str]) -> Result<String, TagError> {
    if words.contains(&value) {
        return Ok(value.to_owned());
    }
    let near = nearest(value, words.iter().copied()).map(|near| format!("did you mean @{tag}:{near}?"));
    Err((format!("{value:?} is no reason for @{tag}: the reasons are {}", words.join(", ")), near))
}

fn gate(value: &str) -> Result<(), TagError> {
    if gates().any(|gate| gate.name == value) {
        return Ok(());
    }
    let near = nearest(value, gates().map(|gate| gate.name)).map(|near| format!("did you mean @gate:{near}?"));
    Err((format!("{value:?} is no feature gate of any release"), near.or(Some("as in NodeSwap".to_owned()))))
}

/// Finds a tag on the lines above its heading.
fn place(text: &Text, heading: usize, tag: &str) -> (usize, usize) {
    let tag = format!("@{tag}");
    for line in (1..=heading).rev() {
        let words = text.line(line).trim();
        if line < heading && !words.is_empty() && !words.starts_with(['@', '#']) {
            break;
        }
        let ends = |rest: &str| rest.chars().next().is_none_or(|c| c.is_whitespace() || c == '@');
        let found = text.line(line).match_indices(&tag).find(|(at, _)| ends(&text.line(line)[at + tag.len()..]));
        if let Some((at, _)) = found {
            return (line, text.line(line)[..at].chars().count() + 1);
        }
    }
    (heading, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Source, check_one};

    fn known() -> Requirements {
        Requirements::parse("a:\n- {id: NC-03, says: x}\n- {id: NC-04}\n").unwrap()
    }

    fn check(tags: &str) -> Vec<Problem> {
        let text = format!("# first\n{tags}\nFeature: x\n  Scenario: y\n    Given z\n");
        check_one(&Source::new("features/a/b.feature", text.into_bytes()), &known()).problems
    }

    #[test]
    fn the_known_tags_pass() {
        let tags = "@core @extended @provisional @read-only @slow @req:NC-03 @since:1.24 @until:1.31\n  \
            @gate:NodeSwap @sim-only:hours @live-only:kernel # a comment";
        assert_eq!(check(tags), []);
    }

    #[test]
    fn a_wrong_tag_is_named_with_its_place_and_the_nearest() {
        let cases = [
            ("@core @extendet", 7, "no tag @extendet", "@extended?"),
            ("@req:NC-3", 1, "no requirement \"NC-3\"", "NC-03"),
            ("@since:1.x", 1, "no release", "1.32"),
            ("@since:1.99", 1, "no release is since 1.99", "the newest is 1."),
            ("@until:1.29", 1, "no release is until 1.29", "a cluster of Kubernetes 1.29"),
            ("@since", 1, "wants a value", ""),
            ("@slow:very", 1, "takes no value", ""),
            ("@sim-only:hour", 1, "no reason", "hours"),
            ("@gate:nodeSwap", 1, "no feature gate", "@gate:NodeSwap"),
            ("@since:1.34 @until:1.31", 1, "no release is both", ""),
            ("@core(1)", 1, "no tag @core(1)", ""),
        ];
        for (tags, column, message, help) in cases {
            let problems = check(tags);
            let [problem] = problems.as_slice() else { panic!("{tags}: {problems:?}") };
            assert!(problem.message.contains(message), "{problem}");
            assert!(help.is_empty() || problem.help.iter().any(|line| line.contains(help)), "{problem}");
            assert_eq!((problem.line, problem.column), (2, column), "{problem}");
        }
    }

    #[test]
    fn a_release_is_compared_by_its_minor_number() {
        let tags = Tags { since: Some(Release::new(32, 0)), until: Some(Release::new(34, 0)), ..Tags::default() };
        assert!(tags.other_release(Release::new(31, 0)).is_some());
        assert!(tags.other_release(Release::new(34, 4)).is_none());
        assert_eq!(tags.other_release(Release::new(36, 3)).unwrap(), "until 1.34, and this is Kubernetes 1.36.3");
    }

    #[test]
    fn a_requirement_that_is_there_twice_is_refused() {
        let (line, message) = Requirements::parse("a:\n- {id: X}\nb:\n- {id: X}\n").unwrap_err();
        assert_eq!((line, message.as_str()), (4, "the id \"X\" is there twice"));
        assert!(Requirements::parse("a: [").is_err());
    }
}
