//! Which Pods are preempted so that one with a higher priority fits.
//!
//! Mirrors pkg/scheduler/framework/preemption/preemption.go and plugins/defaultpreemption/default_preemption.go
//! (v1.34).
//! Inputs: the Pod, the rejections of the nodes, the PodDisruptionBudgets. Outputs: a node with its victims, or why
//! there is none.
//! Left out on purpose: extenders, and the limit to a tenth of the nodes in clusters of more than a hundred candidates.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::cache::{NodeInfo, PodInfo};
use super::diagnosis::Diagnosis;
use super::filters::{Candidate, Rules};
use super::nominated::Nominations;
use super::plugins::{Rejection, Remedy};
use super::snapshot::ClusterSnapshot;
use crate::objects::selector::Selector;
use crate::objects::{Json, Object, Text};

/// A node with the victims on it.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    pub(super) node: Text,
    pub(super) victims: Vec<Arc<PodInfo>>,
    violations: usize,
}

/// The result of the search.
#[derive(Clone, Debug)]
pub(super) enum Preemption {
    /// Equally good offers: the choice among them is free.
    Offers(Vec<Offer>),
    /// No preemption helps; the Pod's nomination is cleared.
    Hopeless(String),
    /// The Pod may not preempt now; its nomination stays.
    NotAllowed(String),
}

/// Searches for Pods to preempt.
pub(super) fn search(
    pod: &PodInfo,
    diagnosis: &Diagnosis,
    view: &ClusterSnapshot<'_>,
    nominations: &Nominations,
    budgets: &[&Object],
    rules: Rules,
) -> Preemption {
    if let Some(why) = forbidden(pod, diagnosis, view) {
        return Preemption::NotAllowed(String::from(why));
    }
    let mut unhelpful = Diagnosis { all: view.cluster.len(), ..Diagnosis::default() };
    unhelpful.others = Some(Text::of("Preemption is not helpful for scheduling"));
    let mut offers = Vec::new();
    for name in diagnosis.candidates() {
        let Some(node) = view.cluster.get(name) else { continue };
        match offer(pod, node, view, nominations, budgets, rules) {
            Ok(offer) => offers.push(offer),
            Err(rejection) => unhelpful.reject(name.clone(), rejection),
        }
    }
    if offers.is_empty() {
        return Preemption::Hopeless(unhelpful.message());
    }
    Preemption::Offers(best(offers))
}

/// Source: default_preemption.go (v1.34), `PodEligibleToPreemptOthers`.
fn forbidden(pod: &PodInfo, diagnosis: &Diagnosis, view: &ClusterSnapshot<'_>) -> Option<&'static str> {
    if pod.spec().get("preemptionPolicy").as_str() == Some("Never") {
        return Some("not eligible due to preemptionPolicy=Never.");
    }
    let nominated =
        pod.object.stable().at(&["status", "nominatedNodeName"]).as_str().filter(|name| !name.is_empty())?;
    if diagnosis.rejections.get(nominated).is_some_and(|rejection| rejection.remedy == Remedy::None) {
        return None;
    }
    let goes = |other: &Arc<PodInfo>| {
        let tree = other.object.stable();
        let is_target = |condition: &Json| {
            condition.get("type").as_str() == Some("DisruptionTarget")
                && condition.get("status").as_str() == Some("True")
                && condition.get("reason").as_str() == Some("PreemptionByScheduler")
        };
        other.priority < pod.priority
            && !tree.at(&["metadata", "deletionTimestamp"]).is_null()
            && tree.at(&["status", "conditions"]).items().iter().any(is_target)
    };
    let waits = view.cluster.get(&Text::from(nominated)).is_some_and(|node| node.pods.values().any(goes));
    waits.then_some("not eligible due to a terminating pod on the nominated node.")
}

/// Finds the fewest and least important Pods of a node without which the Pod fits.
fn offer(
    pod: &PodInfo,
    node: &NodeInfo,
    view: &ClusterSnapshot<'_>,
    nominations: &Nominations,
    budgets: &[&Object],
    rules: Rules,
) -> Result<Offer, Rejection> {
    let mut bare = node.clone();
    let here = node.order.iter().filter_map(|key| node.pods.get(key));
    let mut lower: Vec<Arc<PodInfo>> = here.filter(|other| other.priority < pod.priority).cloned().collect();
    if lower.is_empty() {
        let reason = Text::of("No preemption victims found for incoming pod");
        return Err(Rejection::new(super::plugins::Plugin::NodeResourcesFit, Remedy::None, reason));
    }
    for other in &lower {
        bare.remove(&other.key);
    }
    nominations.check(pod, &bare, view, rules)?;
    sort_by_importance(&mut lower, rules.turns_unstarted_round);
    let (violating, harmless) = by_budget(lower, budgets);
    let mut victims = Vec::new();
    let mut violations = 0;
    let are_mixed = !violating.is_empty() && !harmless.is_empty();
    let counted = violating.into_iter().map(|other| (other, 1)).chain(harmless.into_iter().map(|other| (other, 0)));
    for (other, violation) in counted {
        bare.add(other.clone());
        if nominations.check(pod, &bare, view, rules).is_err() {
            bare.remove(&other.key);
            victims.push(other);
            violations += violation;
        }
    }
    if are_mixed {
        sort_by_importance(&mut victims, rules.turns_unstarted_round);
    }
    Ok(Offer { node: node.name().clone(), victims, violations })
}

/// Sorts Pods by how important they are: priority, then who runs longest.
///
/// As Go sorts up to twelve, where equal ones keep their order. Source: default_preemption.go (v1.34),
/// `SelectVictimsOnNode`; go1.24 sort/zsortfunc.go, `insertionSort_func`.
fn sort_by_importance(pods: &mut [Arc<PodInfo>], turns_round: bool) {
    for end in 1..pods.len() {
        let mut at = end;
        while at > 0 && is_more_important(&pods[at], &pods[at - 1], turns_round) {
            pods.swap(at, at - 1);
            at -= 1;
        }
    }
}

/// Tells whether one Pod is more important than another.
///
/// Up to 1.36 one that was not started counts as started when it is asked for, so of two the first one was started
/// before. Source: pkg/scheduler/util/utils.go (v1.34), `MoreImportantPod`, `GetPodStartTime`;
/// pkg/scheduler/framework/preemption/types.go (v1.37), `NewVictim`.
fn is_more_important(one: &PodInfo, other: &PodInfo, turns_round: bool) -> bool {
    if one.priority != other.priority {
        return one.priority > other.priority;
    }
    let is_unstarted = |pod: &PodInfo| pod.object.stable().at(&["status", "startTime"]).is_null();
    started(one) < started(other) || (turns_round && is_unstarted(one) && is_unstarted(other))
}

/// Returns when a Pod was started; one that was not started sorts after all others.
fn started(pod: &PodInfo) -> Text {
    pod.object.stable().at(&["status", "startTime"]).as_text().cloned().unwrap_or(Text::of("9999"))
}

type PodList = Vec<Arc<PodInfo>>;

/// Splits Pods into those whose removal violates a budget, and the others. Source: default_preemption.go (v1.34),
/// `filterPodsWithPDBViolation`.
fn by_budget(pods: PodList, budgets: &[&Object]) -> (PodList, PodList) {
    let mut allowed: Vec<i64> = budgets
        .iter()
        .map(|budget| budget.stable().at(&["status", "disruptionsAllowed"]).as_i64().unwrap_or(0))
        .collect();
    pods.into_iter().partition(|pod| {
        let mut violates = false;
        for (budget, allowed) in budgets.iter().zip(&mut allowed) {
            let tree = budget.stable();
            let selector = Selector::of_object(tree.at(&["spec", "selector"]));
            let selects = !pod.labels().is_empty()
                && budget.key().namespace == pod.key.namespace
                && selector.is_some_and(|selector| !selector.is_everything() && selector.matches(pod.labels()));
            let is_counted = !tree.at(&["status", "disruptedPods", pod.key.name.as_str()]).is_null();
            if selects && !is_counted {
                *allowed -= 1;
                violates |= *allowed < 0;
            }
        }
        violates
    })
}

/// Keeps the best offers. Source: preemption.go (v1.34), `pickOneNodeForPreemption`.
fn best(offers: Vec<Offer>) -> Vec<Offer> {
    let sum = |offer: &Offer| {
        let own = |victim: &Arc<PodInfo>| victim.priority + i64::from(i32::MAX) + 1;
        offer.victims.iter().map(own).sum::<i64>()
    };
    let highest = |offer: &Offer| offer.victims.first().map_or(i64::MIN, |victim| victim.priority);
    let earliest = |offer: &Offer| {
        let top = highest(offer);
        offer.victims.iter().filter(|victim| victim.priority == top).map(|victim| started(victim)).min()
    };
    let rank =
        |offer: &Offer| (offer.violations, highest(offer), sum(offer), offer.victims.len(), Reverse(earliest(offer)));
    let Some(lowest) = offers.iter().map(rank).min() else { return offers };
    offers.into_iter().filter(|offer| rank(offer) == lowest).collect()
}

/// Joins the messages of the PostFilter plugins.
///
/// Source: pkg/scheduler/framework/runtime/framework.go (v1.34), `RunPostFilterPlugins`.
pub(super) fn report(message: &str, tells_of_claims: bool) -> String {
    let before = if tells_of_claims { "no new claims to deallocate, " } else { "" };
    format!("{before}preemption: {message}")
}

/// Runs the filters for one node, in the cluster with that node in the given state.
pub(super) fn fits(pod: &PodInfo, node: &NodeInfo, view: &ClusterSnapshot<'_>, rules: Rules) -> Result<(), Rejection> {
    Candidate::new(pod, rules, &view.with(node)).check(node)
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};
    use alloc::sync::Arc;
    use alloc::vec::Vec;

    use super::sort_by_importance;
    use crate::components::pod_resources::PodLevel;
    use crate::components::scheduler::cache::PodInfo;
    use crate::json;
    use crate::objects::Object;

    #[test]
    fn equally_old_pods_keep_their_order_and_unstarted_ones_may_turn_it_round() {
        let pod = |name: &str, priority: i64, start: Option<&str>| {
            let mut tree = json!({"metadata": {"name": name, "namespace": "d"}});
            tree.set(&["spec", "priority"], priority);
            if let Some(start) = start {
                tree.set(&["status", "startTime"], start);
            }
            Arc::new(PodInfo::of(&Object::new(tree, 1), PodLevel::Ignored))
        };
        let pods = Vec::from([
            pod("waits-1", 0, None),
            pod("same-2", 0, Some("2026-01-01T00:00:05Z")),
            pod("waits-3", 0, None),
            pod("same-1", 0, Some("2026-01-01T00:00:05Z")),
            pod("high", 1, None),
            pod("old", 0, Some("2026-01-01T00:00:01Z")),
        ]);
        for (turns_round, last) in [(true, ["waits-3", "waits-1"]), (false, ["waits-1", "waits-3"])] {
            let mut pods = pods.clone();
            sort_by_importance(&mut pods, turns_round);
            let names: Vec<String> = pods.iter().map(|pod| pod.key.name.to_string()).collect();
            assert_eq!(names[..4], ["high", "old", "same-2", "same-1"]);
            assert_eq!(names[4..], last);
        }
    }
}
