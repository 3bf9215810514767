//! The eviction of the Pods of a Node: a loop for each, all at the same time.
//!
//! Source: kubectl pkg/drain/drain.go (v1.34), `evictPods`, `waitForDelete`; up to 1.34 a Pod is not read again before
//! its eviction is repeated, up to 1.31 the time limit is looked at after each look at the Pod only. kubectl begins
//! with the Pods in any order; here in that of the list.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::failure::{Failure, NodeFailure};
use super::filters::ListedPod;
use super::requests::AskedFor;
use super::{Drain, DryRun, Going};
use crate::components::Deadline;
use crate::json;
use crate::network::{Answer, Call, PODS, Verb};
use crate::objects::go_duration::go_duration;

/// The pause after a refused eviction. Source: pkg/drain/drain.go (v1.34), `evictPods`.
const REFUSED_PAUSE: SignedDuration = SignedDuration::from_secs(5);
/// The pause between two looks at a Pod that goes. Source: pkg/drain/drain.go (v1.34), `interval`.
pub(super) const LOOK_PAUSE: SignedDuration = SignedDuration::from_secs(1);

/// Where the loop of a Pod is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// A request is under way.
    Asking,
    /// The eviction was refused.
    Refused {
        until: Timestamp,
    },
    /// It was evicted, and is looked at since this instant.
    Looking {
        since: Timestamp,
    },
    /// It was still there.
    Waiting {
        until: Timestamp,
    },
    Over,
}

#[derive(Clone, Debug)]
struct PodEviction {
    pod: ListedPod,
    stage: Stage,
}

/// The evictions of a Node.
#[derive(Clone, Debug)]
pub(super) struct Evictions {
    pods: Vec<PodEviction>,
    /// When time is over.
    end: Option<Timestamp>,
    /// Whether a pause ends with it.
    ends_at_once: bool,
    failures: Vec<Failure>,
}

impl Evictions {
    pub(super) fn next_deadline(&self) -> Option<Deadline> {
        let next = |eviction: &PodEviction| match eviction.stage {
            Stage::Refused { until } => Some(until),
            Stage::Waiting { until } => {
                Some(self.end.filter(|_| self.ends_at_once).map_or(until, |end| end.min(until)))
            }
            Stage::Asking | Stage::Looking { .. } | Stage::Over => None,
        };
        let at = self.pods.iter().filter_map(next).min()?;
        Some(Deadline { at, reason: "a pod is evicted" })
    }

    fn is_over(&self, now: Timestamp) -> bool {
        self.end.is_some_and(|end| end <= now)
    }
}

impl Drain {
    pub(super) fn evict_pods(&mut self, pods: Vec<ListedPod>, now: Timestamp) {
        let end = self.command.timeout.map(|timeout| now + timeout);
        let count = pods.len();
        let pods = pods.into_iter().map(|pod| PodEviction { pod, stage: Stage::Asking }).collect();
        let ends_at_once = self.settings.profile().is("drain-ends-at-its-timeout");
        self.going = Going::Eviction(Evictions { pods, end, ends_at_once, failures: Vec::new() });
        for at in 0..count {
            self.evict(at, now);
        }
        self.finish_evictions(now);
    }

    /// Returns the evictions and the Pod of a number.
    fn evicted(&mut self, at: usize) -> Option<(&mut Evictions, ListedPod)> {
        let Going::Eviction(evictions) = &mut self.going else { return None };
        let pod = evictions.pods.get(at)?.pod.clone();
        Some((evictions, pod))
    }

    fn set_stage(&mut self, at: usize, stage: Stage) {
        if let Going::Eviction(evictions) = &mut self.going {
            evictions.pods[at].stage = stage;
        }
    }

    fn fail_eviction(&mut self, at: usize, why: String) {
        self.set_stage(at, Stage::Over);
        if let Going::Eviction(evictions) = &mut self.going {
            evictions.failures.push(Failure::Own(why));
        }
    }

    /// Sends the eviction of a Pod, unless time is over.
    fn evict(&mut self, at: usize, now: Timestamp) {
        let suffix = self.command.dry_run.suffix();
        let timeout = self.command.timeout.unwrap_or_default();
        let Some((evictions, pod)) = self.evicted(at) else { return };
        let is_over = evictions.is_over(now);
        let because = self.print(pod.about(), format!("evicting pod {}{suffix}", pod.called()));
        if is_over {
            let timeout = go_duration(timeout);
            let why = format!("{}: global timeout reached: {timeout}", error_when_evicting(&pod));
            return self.fail_eviction(at, why);
        }
        self.set_stage(at, Stage::Asking);
        let mut body = json!({"kind": "Eviction", "apiVersion": "policy/v1",
            "metadata": {"name": pod.name.as_str(), "namespace": pod.namespace.as_str()}});
        body.set(&["deleteOptions"], self.delete_options());
        let call = Call::new(Verb::Create, PODS, pod.namespace, pod.name).subresource("eviction").body(body);
        self.send(AskedFor::Eviction(at), call, Some(because), now);
    }

    pub(super) fn handle_eviction(&mut self, at: usize, answer: Result<Answer, Failure>, now: Timestamp) {
        let Some((_, pod)) = self.evicted(at) else { return };
        let failure = match answer {
            Ok(_) if self.command.dry_run == DryRun::Server => {
                self.set_stage(at, Stage::Over);
                return self.finish_evictions(now);
            }
            Ok(_) => return self.look_at_evicted(at, now),
            Err(failure) => failure,
        };
        let message = failure.text();
        if failure.is(404) {
            self.set_stage(at, Stage::Over);
        } else if failure.is(429) {
            self.print(pod.about(), format!("{} (will retry after 5s): {message}", error_when_evicting(&pod)));
            self.set_stage(at, Stage::Refused { until: now + REFUSED_PAUSE });
        } else if failure.is_of_ending_namespace() && pod.is_terminating() {
            return self.look_at_evicted(at, now);
        } else if failure.is_of_ending_namespace() {
            let (name, namespace) = (pod.name.as_str(), pod.namespace.as_str());
            let line = format!(
                "error when evicting pod {name:?} from terminating namespace {namespace:?} (will retry after 5s): \
                 {message}"
            );
            self.print(pod.about(), line);
            self.set_stage(at, Stage::Refused { until: now + REFUSED_PAUSE });
        } else {
            let why = format!("{}: {message}", error_when_evicting(&pod));
            self.fail_eviction(at, why);
        }
        self.finish_evictions(now);
    }

    /// Looks whether an evicted Pod is gone.
    fn look_at_evicted(&mut self, at: usize, now: Timestamp) {
        let Some((_, pod)) = self.evicted(at) else { return };
        self.set_stage(at, Stage::Looking { since: now });
        self.send(AskedFor::Evicted(at), Call::new(Verb::Get, PODS, pod.namespace, pod.name), None, now);
    }

    pub(super) fn handle_evicted(&mut self, at: usize, answer: Result<Answer, Failure>, now: Timestamp) {
        let Some((evictions, pod)) = self.evicted(at) else { return };
        let ends_at_once = evictions.ends_at_once;
        let Stage::Looking { since } = evictions.pods[at].stage else { return };
        let is_over = evictions.is_over(now);
        let is_left = match self.is_left(&pod, answer, "evicted", "eviction failed", now) {
            Ok(is_left) => is_left,
            Err(failure) => {
                self.fail_eviction(at, format!("{}: {}", error_when_waiting(&pod), failure.text()));
                return self.finish_evictions(now);
            }
        };
        if !is_left {
            self.set_stage(at, Stage::Over);
        } else if is_over && !ends_at_once {
            let timeout = go_duration(self.command.timeout.unwrap_or_default());
            self.fail_eviction(at, format!("{}: global timeout reached: {timeout}", error_when_waiting(&pod)));
        } else {
            self.set_stage(at, Stage::Waiting { until: (since + LOOK_PAUSE).max(now) });
            self.continue_evictions(now);
            return;
        }
        self.finish_evictions(now);
    }

    /// Reads the answer to a look at a Pod that goes: whether it is still there and waited for.
    pub(super) fn is_left(
        &mut self,
        pod: &ListedPod,
        answer: Result<Answer, Failure>,
        gone: &str,
        failed: &str,
        now: Timestamp,
    ) -> Result<bool, Failure> {
        let found = match answer {
            Ok(answer) => Some(ListedPod::of(&answer.body())).filter(|found| found.uid == pod.uid),
            Err(failure) if failure.is(404) => None,
            Err(failure) => {
                self.print(pod.about(), format!("pod/{} {failed}", pod.name));
                return Err(failure);
            }
        };
        let Some(found) = found else {
            self.print(pod.about(), format!("pod/{} {gone}", pod.name));
            return Ok(false);
        };
        if !found.is_skipped(&self.command, now) {
            return Ok(true);
        }
        let (name, limit) = (pod.name.as_str(), self.command.skip_wait);
        let line = format!("pod {name:?} has DeletionTimestamp older than {limit} seconds, skipping");
        self.print(pod.about(), line);
        Ok(false)
    }

    pub(super) fn handle_refreshed(&mut self, at: usize, answer: Result<Answer, Failure>, now: Timestamp) {
        if let (Going::Eviction(evictions), Ok(answer)) = (&mut self.going, answer) {
            evictions.pods[at].pod = ListedPod::of(&answer.body());
        }
        self.evict(at, now);
        self.finish_evictions(now);
    }

    /// Continues the loops whose pause is over.
    pub(super) fn continue_evictions(&mut self, now: Timestamp) {
        let reads_again = self.settings.profile().is("drain-reads-refused-pods-again");
        let Going::Eviction(evictions) = &self.going else { return };
        let ends_now = evictions.ends_at_once && evictions.is_over(now);
        let stages: Vec<Stage> = evictions.pods.iter().map(|eviction| eviction.stage).collect();
        for (at, stage) in stages.into_iter().enumerate() {
            let Some((_, pod)) = self.evicted(at) else { return };
            match stage {
                Stage::Waiting { .. } if ends_now => {
                    self.fail_eviction(at, format!("{}: {DEADLINE_EXCEEDED}", error_when_waiting(&pod)));
                }
                Stage::Waiting { until } if until <= now => self.look_at_evicted(at, now),
                Stage::Refused { until } if until <= now && reads_again => {
                    self.set_stage(at, Stage::Asking);
                    self.send(AskedFor::Refreshed(at), Call::new(Verb::Get, PODS, pod.namespace, pod.name), None, now);
                }
                Stage::Refused { until } if until <= now => self.evict(at, now),
                _ => {}
            }
        }
        self.finish_evictions(now);
    }

    /// Goes on once the loops of all Pods have ended.
    fn finish_evictions(&mut self, now: Timestamp) {
        let Going::Eviction(evictions) = &mut self.going else { return };
        if evictions.pods.iter().any(|eviction| eviction.stage != Stage::Over) {
            return;
        }
        let failures = core::mem::take(&mut evictions.failures);
        if failures.is_empty() {
            self.node_drained(now);
        } else {
            self.list_pods(Some(NodeFailure::Several(failures)), now);
        }
    }
}

/// The text of a wait whose time is over. Source: Go's context package.
pub(super) const DEADLINE_EXCEEDED: &str = "context deadline exceeded";

fn error_when_evicting(pod: &ListedPod) -> String {
    format!("error when evicting pods/{:?} -n {:?}", pod.name.as_str(), pod.namespace.as_str())
}

fn error_when_waiting(pod: &ListedPod) -> String {
    let (name, namespace) = (pod.name.as_str(), pod.namespace.as_str());
    format!("error when waiting for pod {name:?} in namespace {namespace:?} to terminate")
}
