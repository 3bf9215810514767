//! Which Pods of a Node are evicted, which stay, and which forbid the drain. Pure.
//!
//! Source: kubectl pkg/drain/filters.go (v1.34). kubectl prints several warnings in the order of a Go map, that is in
//! any order; here in the order of the Pods.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::command::DrainCommand;
use super::failure::Failure;
use crate::components::MIRROR;
use crate::objects::lifecycle::controller_of;
use crate::objects::time::parse;
use crate::objects::{Json, Text};
use crate::profile::Profile;

/// A Pod as a list or an answer shows it.
#[derive(Clone, Debug)]
pub(super) struct ListedPod {
    pub(super) namespace: Text,
    pub(super) name: Text,
    pub(super) uid: Text,
    pub(super) tree: Json,
}

impl ListedPod {
    pub(super) fn of(tree: &Json) -> Self {
        let text = |field| tree.at(&["metadata", field]).as_text().cloned().unwrap_or_default();
        Self { namespace: text("namespace"), name: text("name"), uid: text("uid"), tree: tree.clone() }
    }

    /// Returns namespace and name as the command prints them.
    pub(super) fn called(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    /// Returns what decisions are about.
    pub(super) fn about(&self) -> Text {
        Text::from(format!("pod/{}/{}", self.namespace, self.name))
    }

    pub(super) fn is_terminating(&self) -> bool {
        !self.tree.at(&["metadata", "deletionTimestamp"]).is_null()
    }

    fn has_ended(&self) -> bool {
        matches!(self.tree.at(&["status", "phase"]).as_str(), Some("Succeeded" | "Failed"))
    }

    fn controller(&self) -> Option<&Json> {
        controller_of(&self.tree)
    }

    /// Tells whether it has been terminating for longer than the command wants to wait.
    pub(super) fn is_skipped(&self, command: &DrainCommand, now: Timestamp) -> bool {
        let since = self.tree.at(&["metadata", "deletionTimestamp"]).as_str().and_then(parse);
        command.skip_wait > 0 && since.is_some_and(|since| now.duration_since(since).as_secs() > command.skip_wait)
    }

    /// Returns the name of the DaemonSet that has to be looked up; `None` if none is.
    pub(super) fn daemon_set(&self, profile: &Profile) -> Option<&Text> {
        let owner = self.controller().filter(|_| !self.has_ended())?;
        let is_of_group =
            !profile.is("drain-knows-daemon-sets-by-group") || owner.get("apiVersion").as_str() == Some("apps/v1");
        let is_one = is_of_group && owner.get("kind").as_str() == Some("DaemonSet");
        owner.get("name").as_text().filter(|_| is_one)
    }
}

/// What the filters say of a Pod.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PodVerdict {
    /// It goes.
    Goes,
    /// It goes, with a warning.
    GoesWith(String),
    /// It stays.
    Stays,
    /// It stays, with a warning.
    StaysWith(String),
    /// It forbids the drain.
    Forbids(String),
}

impl PodVerdict {
    /// Tells whether the Pod goes.
    pub(super) const fn goes(&self) -> bool {
        matches!(self, Self::Goes | Self::GoesWith(_))
    }
}

/// Asks the filters in their order; `found` is the answer about the Pod's DaemonSet, if it has one.
pub(super) fn judge(
    pod: &ListedPod,
    command: &DrainCommand,
    profile: &Profile,
    found: Option<&Result<(), Failure>>,
    now: Timestamp,
) -> PodVerdict {
    if pod.is_skipped(command, now) {
        return PodVerdict::Stays;
    }
    if let Some(found) = found {
        match found {
            // The verdicts of later filters replace the warning.
            Err(failure) if failure.is(404) && command.is("force") => {}
            Err(failure) => return PodVerdict::Forbids(String::from(failure.text())),
            Ok(()) if !command.is("ignore-daemonsets") => {
                return PodVerdict::Forbids(String::from("DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"));
            }
            Ok(()) => return PodVerdict::StaysWith(String::from("ignoring DaemonSet-managed Pods")),
        }
    }
    if !pod.tree.at(&["metadata", "annotations", MIRROR]).is_null() {
        return PodVerdict::Stays;
    }
    let has_local_storage = pod.tree.at(&["spec", "volumes"]).items().iter().any(|it| !it.get("emptyDir").is_null());
    if has_local_storage && !pod.has_ended() && !command.is("delete-emptydir-data") {
        let text = "Pods with local storage (use --delete-emptydir-data to override)";
        return PodVerdict::Forbids(String::from(text));
    }
    // The verdict of this last filter replaces the warning of the one before too.
    if pod.has_ended() || pod.controller().is_some() {
        return PodVerdict::Goes;
    }
    if command.is("force") {
        return PodVerdict::GoesWith(String::from("deleting Pods that declare no controller"));
    }
    let twice = if profile.is("drain-says-cannot-delete-once") { "" } else { "cannot delete " };
    PodVerdict::Forbids(format!("{twice}Pods that declare no controller (use --force to override)"))
}

/// Returns the warnings, each with its Pods.
pub(super) fn warnings(pods: &[(ListedPod, PodVerdict)]) -> String {
    let grouped = grouped(pods, |verdict| match verdict {
        PodVerdict::GoesWith(text) | PodVerdict::StaysWith(text) => Some(text),
        _ => None,
    });
    let texts: Vec<String> = grouped.iter().map(|(text, pods)| format!("{text}: {}", pods.join(", "))).collect();
    texts.join("; ")
}

/// Returns what forbids the drain, each reason with its Pods.
pub(super) fn refusals(pods: &[(ListedPod, PodVerdict)]) -> Vec<Failure> {
    let grouped = grouped(pods, |verdict| match verdict {
        PodVerdict::Forbids(text) => Some(text),
        _ => None,
    });
    let text = |(text, pods): &(&str, Vec<String>)| format!("cannot delete {text}: {}", pods.join(", "));
    grouped.iter().map(|group| Failure::Own(text(group))).collect()
}

fn grouped(
    pods: &[(ListedPod, PodVerdict)],
    text_of: impl Fn(&PodVerdict) -> Option<&String>,
) -> Vec<(&str, Vec<String>)> {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for (pod, verdict) in pods {
        let Some(text) = text_of(verdict) else { continue };
        match groups.iter_mut().find(|(other, _)| *other == text.as_str()) {
            Some((_, names)) => names.push(pod.called()),
            None => groups.push((text, Vec::from([pod.called()]))),
        }
    }
    groups
}
