//! The deletion of the Pods of a Node where they are not evicted: one after the other, and then all are waited for.
//!
//! Source: kubectl pkg/drain/drain.go (v1.34), `deletePods`, `waitForDelete`. Up to 1.31 a last look is made when time
//! is over, which is left out.

use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::command::DryRun;
use super::evictions::{DEADLINE_EXCEEDED, LOOK_PAUSE};
use super::failure::{Failure, NodeFailure};
use super::filters::ListedPod;
use super::requests::AskedFor;
use super::{Drain, Going};
use crate::components::Deadline;
use crate::network::{Answer, Call, PODS, Verb};

/// The deletions of a Node.
#[derive(Clone, Debug)]
pub(super) struct Deletion {
    /// All Pods; those that are still there once they are looked at.
    pods: Vec<ListedPod>,
    /// How many of them are deleted, or looked at in this round.
    at: usize,
    /// Those that this round has found.
    left: Vec<ListedPod>,
    /// When the round of looks began; `None` while Pods are being deleted.
    since: Option<Timestamp>,
    /// When the next round begins, while none is under way.
    next: Option<Timestamp>,
    /// When time is over.
    end: Option<Timestamp>,
}

impl Deletion {
    pub(super) fn next_deadline(&self) -> Option<Deadline> {
        let at = self.next?;
        Some(Deadline { at: self.end.map_or(at, |end| end.min(at)), reason: "pods are deleted" })
    }
}

impl Drain {
    pub(super) fn delete_pods(&mut self, pods: Vec<ListedPod>, now: Timestamp) {
        let deletion = Deletion { pods, at: 0, left: Vec::new(), since: None, next: None, end: None };
        self.going = Going::Deletion(deletion);
        self.delete_next(now);
    }

    fn delete_next(&mut self, now: Timestamp) {
        let timeout = self.command.timeout;
        let Going::Deletion(deletion) = &mut self.going else { return };
        let Some(pod) = deletion.pods.get(deletion.at).cloned() else {
            deletion.end = timeout.map(|timeout| now + timeout);
            let is_tried =
                self.command.dry_run == DryRun::Server && self.settings.profile().is("drain-does-not-wait-for-tries");
            return if is_tried { self.node_drained(now) } else { self.look_at_all(now) };
        };
        let call = Call::new(Verb::Delete, PODS, pod.namespace, pod.name).body(self.delete_options());
        self.send(AskedFor::Deletion, call, None, now);
    }

    pub(super) fn handle_deletion(&mut self, answer: Result<Answer, Failure>, now: Timestamp) {
        let Going::Deletion(deletion) = &mut self.going else { return };
        match answer {
            Err(failure) if !failure.is(404) => self.list_pods(Some(NodeFailure::One(failure)), now),
            _ => {
                deletion.at += 1;
                self.delete_next(now);
            }
        }
    }

    /// Begins a round of looks.
    fn look_at_all(&mut self, now: Timestamp) {
        let Going::Deletion(deletion) = &mut self.going else { return };
        (deletion.at, deletion.since, deletion.next) = (0, Some(now), None);
        self.look_at_next(now);
    }

    fn look_at_next(&mut self, now: Timestamp) {
        let Going::Deletion(deletion) = &mut self.going else { return };
        if let Some(pod) = deletion.pods.get(deletion.at).cloned() {
            return self.send(AskedFor::Deleted, Call::new(Verb::Get, PODS, pod.namespace, pod.name), None, now);
        }
        deletion.pods = core::mem::take(&mut deletion.left);
        if deletion.pods.is_empty() {
            return self.node_drained(now);
        }
        let since = deletion.since.unwrap_or(now);
        deletion.next = Some((since + LOOK_PAUSE).max(now));
        self.continue_deletion(now);
    }

    pub(super) fn handle_deleted(&mut self, answer: Result<Answer, Failure>, now: Timestamp) {
        let Going::Deletion(deletion) = &mut self.going else { return };
        let Some(pod) = deletion.pods.get(deletion.at).cloned() else { return };
        deletion.at += 1;
        match self.is_left(&pod, answer, "deleted", "deletion failed", now) {
            Ok(is_left) => {
                if let Going::Deletion(deletion) = &mut self.going
                    && is_left
                {
                    deletion.left.push(pod);
                }
                self.look_at_next(now);
            }
            Err(failure) => self.list_pods(Some(NodeFailure::One(failure)), now),
        }
    }

    /// Continues once a pause or the time is over.
    pub(super) fn continue_deletion(&mut self, now: Timestamp) {
        let ends_at_once = self.settings.profile().is("drain-ends-at-its-timeout");
        let Going::Deletion(deletion) = &self.going else { return };
        let Some(next) = deletion.next else { return };
        if deletion.end.is_some_and(|end| end <= now) {
            let why = if ends_at_once { DEADLINE_EXCEEDED } else { "timed out waiting for the condition" };
            self.list_pods(Some(NodeFailure::One(Failure::Own(String::from(why)))), now);
        } else if next <= now {
            self.look_at_all(now);
        }
    }
}
