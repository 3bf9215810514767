//! The levels and versions of Pod security that the labels of a Namespace name.
//!
//! Mirrors k8s.io/pod-security-admission api/helpers.go (v1.34), `PolicyToEvaluate`. Inputs: a Namespace. Outputs: its
//! policy, and what is wrong with its labels. Left out on purpose: the level of audits, which nobody can see here.

use alloc::format;
use alloc::vec::Vec;
use core::fmt;

use super::super::super::validation::FieldError;
use crate::objects::Json;

/// The labels that name levels; each has another one for a version.
const MODES: [&str; 3] =
    ["pod-security.kubernetes.io/enforce", "pod-security.kubernetes.io/audit", "pod-security.kubernetes.io/warn"];
const LEVELS: [(&str, Level); 3] =
    [("privileged", Level::Privileged), ("baseline", Level::Baseline), ("restricted", Level::Restricted)];

/// How much is forbidden.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) enum Level {
    #[default]
    Privileged,
    Baseline,
    Restricted,
}

/// A level, and the minor release of which it is; `None` is the latest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Standard {
    pub(super) level: Level,
    pub(super) version: Option<u64>,
}

impl fmt::Display for Standard {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, _) = LEVELS[self.level as usize];
        match self.version {
            Some(minor) => write!(out, "{name}:v1.{minor}"),
            None => write!(out, "{name}:latest"),
        }
    }
}

/// What a Namespace forbids, and what it warns of.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policy {
    pub(super) enforce: Standard,
    pub(super) warn: Standard,
}

impl Policy {
    /// Reads the labels. A level that is none is the strictest one where it forbids, and none where it warns.
    pub(super) fn of(namespace: &Json) -> Self {
        let labels = namespace.at(&["metadata", "labels"]);
        let label = |mode: usize, end: &str| labels.get(&format!("{}{end}", MODES[mode])).as_str();
        let version = |mode: usize| label(mode, "-version").and_then(version_of).flatten();
        let (enforced, warned) = (label(0, ""), label(2, ""));
        let enforce = Standard {
            level: enforced.map_or(Level::Privileged, |name| level_of(name).unwrap_or(Level::Restricted)),
            version: version(0),
        };
        let mut warn = Standard { level: warned.and_then(level_of).unwrap_or_default(), version: version(2) };
        if warned.is_none() && enforced.and_then(level_of).is_some_and(|level| level > warn.level) {
            warn.level = enforce.level;
            if label(2, "-version").is_none() {
                warn.version = enforce.version;
            }
        }
        Self { enforce, warn }
    }
}

/// Says what is wrong with the labels.
pub(super) fn errors(namespace: &Json) -> Vec<FieldError> {
    let labels = namespace.at(&["metadata", "labels"]);
    let wrong = |label: &str, is_right: fn(&str) -> bool, why: &str| {
        let value = labels.get(label).as_str().filter(|value| !is_right(value))?;
        Some(FieldError::invalid_text(format!("metadata.labels[{label}]"), value, why))
    };
    let of_mode = |mode: &str| {
        let level = wrong(mode, |level| level_of(level).is_some(), "must be one of privileged, baseline, restricted");
        let is_version = |text: &str| version_of(text).is_some();
        let version = wrong(&format!("{mode}-version"), is_version, "must be \"latest\" or \"v1.x\"");
        [level, version].into_iter().flatten()
    };
    MODES.into_iter().flat_map(of_mode).collect()
}

fn level_of(name: &str) -> Option<Level> {
    LEVELS.iter().find(|(own, _)| *own == name).map(|(_, level)| *level)
}

/// Reads `latest`, or `v1.` and a number without zeros at its beginning.
fn version_of(text: &str) -> Option<Option<u64>> {
    if text == "latest" {
        return Some(None);
    }
    let minor = text.strip_prefix("v1.")?;
    let is_short = minor == "0" || !minor.starts_with('0');
    let is_number = is_short && !minor.is_empty() && minor.bytes().all(|byte| byte.is_ascii_digit());
    let minor = minor.parse::<i64>().ok().and_then(|minor| u64::try_from(minor).ok());
    minor.filter(|_| is_number).map(Some)
}
