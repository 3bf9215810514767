//! One attempt to schedule a Pod.
//!
//! Mirrors pkg/scheduler/schedule_one.go (v1.34), `schedulingCycle` and `handleSchedulingFailure`. Inputs: the Pod at
//! the head of the queue, the cluster as cached. Outputs: a binding, a preemption, or a failure with its status and
//! Event. Invariant: an attempt takes no time.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::cache::{NodeInfo, PodInfo, home};
use super::diagnosis::{Diagnosis, truncated};
use super::filters::Candidate;
use super::informers::{Listers, NAMESPACE_CACHE, POD_CACHE};
use super::plugins::{Plugin, Plugins};
use super::preemption::{Offer, Preemption, report, search};
use super::queue::Queued;
use super::recorder::EventText;
use super::score::scores;
use super::snapshot::ClusterSnapshot;
use super::status::{Condition, patch};
use super::volumes::{VolumeState, refusal};
use super::writes::Write;
use super::{Scheduler, SchedulingState};
use crate::components::node_affinity::named_nodes;
use crate::components::{Because, DecisionId};
use crate::network::{Call, PODS};
use crate::objects::Text;

/// In clusters of fewer nodes than this all of them are filtered.
/// Source: pkg/scheduler/schedule_one.go (v1.34), `minFeasibleNodesToFind`.
const FEASIBLE_MIN: usize = 100;
/// The smallest share of the nodes that has to fit before the search ends, in percent.
/// Source: as [`FEASIBLE_MIN`], `minFeasibleNodesPercentageToFind`.
const FEASIBLE_PERCENT_MIN: usize = 5;

/// The number of names that a decision lists.
const LISTED_MAX: usize = 10;

/// A Pod that fits nowhere, or whose binding failed.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) queued: Queued,
    reason: &'static str,
    message: String,
    rejectors: Plugins,
    /// The new nominated node; empty for none, `None` to leave it unchanged.
    nominated: Option<Text>,
}

impl Failure {
    /// Says with which error a preemption ended before the attempt did: there is no nomination.
    ///
    /// Source: pkg/scheduler/framework/preemption/preemption.go (v1.31), `Preempt`.
    pub(super) fn end_preemption(&mut self, error: &str) {
        self.nominated = None;
        self.message = format!("{} preemption: {error}", self.message);
    }
}

/// Whether anything changed during an attempt, so that another attempt may succeed at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ClusterActivity {
    Quiet,
    Changed,
}

impl ClusterActivity {
    pub(super) const fn of(moved: bool) -> Self {
        if moved { Self::Changed } else { Self::Quiet }
    }
}

/// Where a Pod can go.
struct Fitting {
    /// The nodes with the highest score.
    best: Vec<Text>,
    facts: Vec<String>,
}

impl Scheduler {
    pub(super) fn attempt(&mut self, queued: Queued, now: Timestamp) {
        let pod = queued.pod.clone();
        if !pod.object.stable().at(&["metadata", "deletionTimestamp"]).is_null() {
            let note = format!("skip schedule deleting pod: {}/{}", pod.key.namespace, pod.key.name);
            self.warn(&pod, &note, None, now);
            return;
        }
        if self.is_assumed(&pod) {
            return;
        }
        if self.cluster.len() == 0 {
            let nominated = self.behaviour.failure_clears_nomination.then(|| Text::of(""));
            let message = String::from("no nodes available to schedule pods");
            let reason = "Unschedulable";
            self.conclude(
                Failure { queued, reason, message, rejectors: Plugins::default(), nominated },
                ClusterActivity::Quiet,
                now,
            );
            return;
        }
        match self.fitting(&pod) {
            Ok(fitting) => self.assign(queued, &fitting, now),
            Err(diagnosis) => self.reject(queued, diagnosis, now),
        }
    }

    /// Finds the nodes that fit, and of those the best.
    fn fitting(&mut self, pod: &PodInfo) -> Result<Fitting, Diagnosis> {
        let storage = Listers(&self.runtime).storage(&self.promised);
        let view = ClusterSnapshot::new(&self.cluster, self.runtime.cache(NAMESPACE_CACHE), storage);
        let mut diagnosis = Diagnosis { all: self.cluster.len(), ..Diagnosis::default() };
        let named = named_nodes(pod.spec());
        if named.as_ref().is_some_and(alloc::collections::BTreeSet::is_empty) {
            diagnosis.before_all = Some(Text::of("pod affinity terms conflict"));
            diagnosis.plugins.insert(Plugin::NodeAffinity);
            return Err(diagnosis);
        }
        if let Some((plugin, reason)) = refusal(pod, storage) {
            diagnosis.before_all = Some(reason);
            diagnosis.plugins.insert(plugin);
            return Err(diagnosis);
        }
        let candidate = Candidate::new(pod, self.behaviour.rules, &view);
        let fits = |node: &NodeInfo| self.nominations.check_candidate(&candidate, node, &view);
        let nominated = pod.object.stable().at(&["status", "nominatedNodeName"]).as_text();
        let nominated = nominated.and_then(|name| self.cluster.get(name));
        if let Some(node) = nominated.filter(|node| fits(node).is_ok()) {
            let facts = Vec::from([format!("it is nominated for Node {}", node.name())]);
            return Ok(Fitting { best: Vec::from([node.name().clone()]), facts });
        }
        let known = named.iter().flatten().filter(|name| self.cluster.get(name).is_some());
        let known: Vec<Text> = known.cloned().collect();
        let order: &[Text] = if named.is_some() { &known } else { self.cluster.order() };
        if named.is_some() {
            diagnosis.plugins.insert(Plugin::NodeAffinity);
            if self.behaviour.counts_unnamed_nodes {
                diagnosis.others = Some(Text::of("node(s) didn't satisfy plugin(s) [NodeAffinity]"));
            }
        }
        let enough = enough(order.len());
        let mut feasible: Vec<&NodeInfo> = Vec::new();
        for at in 0..order.len() {
            let Some(node) = self.cluster.get(&order[(self.next_start + at) % order.len()]) else { continue };
            match fits(node) {
                Ok(()) => feasible.push(node),
                Err(rejection) => diagnosis.reject(node.name().clone(), rejection),
            }
            if feasible.len() == enough {
                break;
            }
        }
        self.next_start = (self.next_start + feasible.len() + diagnosis.rejections.len()) % self.cluster.len();
        let mut facts = Vec::from([format!("fits on {} of {} Nodes", feasible.len(), self.cluster.len())]);
        match feasible.as_slice() {
            [] => Err(diagnosis),
            [only] => Ok(Fitting { best: Vec::from([only.name().clone()]), facts }),
            _ => {
                let siblings = || Listers(&self.runtime).siblings(pod);
                let scores = scores(pod, &view, &feasible, self.behaviour.balance, siblings);
                let highest = scores.iter().copied().max().unwrap_or(0);
                let best = feasible.iter().zip(&scores).filter(|(_, score)| **score == highest);
                let best: Vec<Text> = best.map(|(node, _)| node.name().clone()).collect();
                facts.push(format!("the highest score is {highest}, of {}", list(&best)));
                Ok(Fitting { best, facts })
            }
        }
    }

    /// Chooses among equally good nodes: the one set for the Pod if it is among them, else a random one.
    fn choose(&mut self, pod: &PodInfo, among: &[Text]) -> usize {
        let laid_down = self.laid_down.get(pod.object.uid()).into_iter().flatten();
        let mut known = laid_down.filter_map(|node| among.iter().position(|other| other == node));
        if let Some(at) = known.next() {
            return at;
        }
        let count = u64::try_from(among.len()).unwrap_or(1);
        if count < 2 { 0 } else { usize::try_from(self.chance.below(count)).unwrap_or(0) }
    }

    /// Assigns a node to the Pod and sends the binding.
    fn assign(&mut self, queued: Queued, fitting: &Fitting, now: Timestamp) {
        let pod = queued.pod.clone();
        let at = self.choose(&pod, &fitting.best);
        let node = fitting.best[at].clone();
        let why = fitting.facts.iter().cloned().map(Because::Fact).collect();
        let volumes = VolumeState::of(&pod, Listers(&self.runtime).storage(&self.promised));
        let place = self.cluster.get(&node).map(|own| own.tree().clone()).unwrap_or_default();
        let plan = volumes.and_then(|volumes| volumes.plan(&node, &place)).unwrap_or_default();
        let because = self.runtime.decide(format!("pod/{}", pod.key), format!("bind to Node {node}"), why);
        self.nominations.remove(&pod.key);
        self.cluster.place(pod.clone(), &node);
        self.assumed.insert(pod.key.clone(), Text::from(pod.object.uid()));
        if plan.is_empty() {
            self.bind(queued, node, because, now);
        } else {
            if self.behaviour.nominates {
                self.nominate(&pod, &node, because, now);
            }
            self.bind_volumes((queued, node, because), &plan, now);
        }
    }

    /// Returns the cluster as it is known.
    fn view(&self) -> ClusterSnapshot<'_> {
        let storage = Listers(&self.runtime).storage(&self.promised);
        ClusterSnapshot::new(&self.cluster, self.runtime.cache(NAMESPACE_CACHE), storage)
    }

    /// Searches for Pods to preempt for one that fits nowhere.
    fn reject(&mut self, queued: Queued, mut diagnosis: Diagnosis, now: Timestamp) {
        let pod = queued.pod.clone();
        let claims = self.behaviour.has_claims_plugin;
        // The plugin for resource claims was not run for the Pod, and so reports that its state is missing.
        // Source: pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go (v1.34), `PostFilter`.
        if claims && diagnosis.before_all.is_some() {
            diagnosis.after_all = String::from("not found");
            let (message, rejectors) = (diagnosis.message(), diagnosis.plugins);
            let failure = Failure { queued, reason: "Unschedulable", message, rejectors, nominated: None };
            return self.conclude(failure, ClusterActivity::Quiet, now);
        }
        let view = self.view();
        let budgets = Listers(&self.runtime).budgets();
        let (offer, nominated) =
            match search(&pod, &diagnosis, &view, &self.nominations, &budgets, self.behaviour.rules) {
                Preemption::Offers(offers) => {
                    let nodes: Vec<Text> = offers.iter().map(|offer| offer.node.clone()).collect();
                    let offer = offers[self.choose(&pod, &nodes)].clone();
                    let node = offer.node.clone();
                    if self.behaviour.tells_victims {
                        diagnosis.after_all = format!(
                            "preemption: found a potential placement for pod on node {node}, preempting {} victims",
                            offer.victims.len()
                        );
                    }
                    (Some(offer), Some(node))
                }
                Preemption::Hopeless(message) => {
                    diagnosis.after_all = report(&message, claims && self.behaviour.tells_of_no_claims);
                    (None, Some(Text::of("")))
                }
                Preemption::NotAllowed(message) => {
                    diagnosis.after_all = report(&message, claims && self.behaviour.tells_of_no_claims);
                    (None, None)
                }
            };
        if !self.behaviour.says_what_preemption_found {
            diagnosis.after_all.clear();
        }
        let (message, rejectors) = (diagnosis.message(), diagnosis.plugins);
        let failure = Failure { queued, reason: "Unschedulable", message, rejectors, nominated };
        match offer {
            Some(offer) => self.preempt(failure, offer, now),
            None => self.conclude(failure, ClusterActivity::Quiet, now),
        }
    }

    fn preempt(&mut self, failure: Failure, offer: Offer, now: Timestamp) {
        let key = failure.queued.pod.key.clone();
        let facts = Vec::from([
            Because::Fact(failure.message.clone()),
            Because::Fact(format!("without {} it fits", list(&victims(&offer)))),
        ]);
        let because = self.runtime.decide(format!("pod/{key}"), format!("preempt on Node {}", offer.node), facts);
        let Some(job) = self.start_job(&failure.queued.pod, offer, because, now) else {
            return self.conclude(failure, ClusterActivity::Quiet, now);
        };
        if self.behaviour.preempts_beside {
            self.queue.hold(key);
            self.conclude(failure, ClusterActivity::Quiet, now);
            self.go_on_with_job(job, now);
        } else {
            self.moved = false;
            self.step = SchedulingState::Preempting(job, failure);
            self.go_on_with_job(job, now);
        }
    }

    /// Ends a failed attempt: the Pod waits, and its status and an Event say why.
    pub(super) fn conclude(&mut self, failure: Failure, activity: ClusterActivity, now: Timestamp) {
        let Failure { mut queued, reason, message, rejectors, nominated } = failure;
        let pod = queued.pod.clone();
        let current = self.runtime.cache(POD_CACHE).get(&pod.key).cloned();
        let is_replaced = current.as_ref().is_some_and(|current| current.uid() != pod.object.uid());
        if is_replaced && self.behaviour.ignores_replaced_pods {
            return;
        }
        let why = Vec::from([Because::Fact(message.clone())]);
        let because = self.runtime.decide(format!("pod/{}", pod.key), "no Node for it", why);
        // One that was deleted or bound while this scheduler bound it is not tried again.
        if let Some(current) = current.as_ref().filter(|current| !is_replaced && home(current).is_none()) {
            if current.resource_version() != pod.object.resource_version() {
                queued.pod = self.info(current);
            }
            self.queue.fail(queued, rejectors, activity, now);
            match &nominated {
                Some(node) => self.nominations.set(pod.clone(), node),
                None => self.nominations.follow(None, pod.clone()),
            }
        } else if !is_replaced {
            self.nominations.remove(&pod.key);
        }
        self.warn(&pod, &truncated(&message), Some(because), now);
        let condition = Condition {
            kind: "PodScheduled",
            status: "False",
            reason,
            message: &message,
            tells_generation: self.behaviour.tells_generation,
        };
        let current = current.as_ref().unwrap_or(&pod.object);
        if let Some(body) = patch(current, Some(condition), nominated.as_deref(), now) {
            let call = Call::strategic_patch(PODS, pod.key.namespace.clone(), pod.key.name.clone(), body);
            let id = self.runtime.send(call.subresource("status"), Some(because), now);
            self.under_way.insert(id, Write::Status);
            self.step = SchedulingState::Writing(id);
        }
    }

    /// Ends an attempt whose binding was refused.
    pub(super) fn fail_binding(&mut self, queued: Queued, message: String, now: Timestamp) {
        let nominated = self.behaviour.failure_clears_nomination.then(|| Text::of(""));
        // The scheduler does not wait for what a binding writes, but still for what it waited for before.
        let waiting = core::mem::replace(&mut self.step, SchedulingState::Idle);
        let reason = "SchedulerError";
        self.conclude(
            Failure { queued, reason, message, rejectors: Plugins::default(), nominated },
            ClusterActivity::Quiet,
            now,
        );
        self.step = waiting;
    }

    fn warn(&mut self, pod: &PodInfo, note: &str, because: Option<DecisionId>, now: Timestamp) {
        let text_of_event =
            EventText { kind: "Warning", reason: "FailedScheduling", action: "Scheduling", note, related: None };
        self.recorder.emit(
            &pod.object,
            text_of_event,
            because,
            (&mut self.event_client, &mut self.runtime.outbox),
            now,
        );
    }
}

/// Returns how many fitting nodes are enough. Source: schedule_one.go (v1.34), `numFeasibleNodesToFind`.
fn enough(all: usize) -> usize {
    if all < FEASIBLE_MIN {
        return all;
    }
    let percent = 50_usize.saturating_sub(all / 125).max(FEASIBLE_PERCENT_MIN);
    (all * percent / 100).max(FEASIBLE_MIN)
}

fn victims(offer: &Offer) -> Vec<Text> {
    offer.victims.iter().map(|victim| Text::from(format!("Pod {}", victim.key))).collect()
}

/// Names the first few, and says how many more there are.
fn list(names: &[Text]) -> String {
    let shown = names.iter().take(LISTED_MAX).map(Text::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(LISTED_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::enough;

    #[test]
    fn large_clusters_are_not_searched_to_the_end() {
        for (all, some) in [(1, 1), (99, 99), (100, 100), (250, 120), (1_000, 420), (5_000, 500), (10_000, 500)] {
            assert_eq!(enough(all), some, "{all}");
        }
    }
}
