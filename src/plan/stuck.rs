//! What is stuck when the nodes come back, and why.
//!
//! Inputs: what was observed, the decisions about zones. Outputs: Pods in each way in which they can be stuck, with the
//! reason that objects or decisions show.

use std::collections::BTreeMap;

use jiff::Timestamp;
use nodeproof_core::components::RecordedDecision;
use nodeproof_core::components::node_lifecycle::ZoneKey;
use nodeproof_core::objects::Text;

use super::cluster::Scene;
use super::observation::{Facts, NodeFact, PodLife, Sightings};
use super::question::{Node, Question};
use super::unready::Stuck;

/// Finds what is stuck when the nodes come back; what a drain left on them is known by itself.
pub(super) fn stuck(
    question: &Question,
    scene: &Scene,
    seen: &Sightings,
    (affected, facts): (&[&PodLife], &Facts<'_>),
) -> Vec<Stuck> {
    let before = |at: Option<Timestamp>| at.is_some_and(|at| at < seen.back);
    let mut found: BTreeMap<(String, String), Vec<Text>> = BTreeMap::new();
    let mut note = |what: &str, why: String, life: &PodLife| {
        found.entry((what.to_owned(), why)).or_default().push(life.name.clone());
    };
    let nodes: BTreeMap<&Text, &Node> = question.nodes.iter().map(|node| (&node.name, node)).collect();
    let is_within = |decision: &&RecordedDecision| decision.at >= seen.zero && decision.at < seen.back;
    let decisions = scene.sim.record().decisions().iter().filter(is_within);
    let last: BTreeMap<&str, &RecordedDecision> = decisions
        .filter(|own| own.decision.about.starts_with("zone"))
        .map(|own| (own.decision.about.as_ref(), own))
        .collect();
    for life in affected.iter().filter(|_| !question.how.is_maintenance()) {
        if before(life.deleted) && !before(life.gone) {
            let why = "nobody confirms that their containers ended: their kubelets are not there";
            note("deleted, and still there", String::from(why), life);
            if life.owner.0 == "StatefulSet" {
                let why = "a StatefulSet makes a Pod of the same name only when the old one is gone";
                note("without a Pod in their place", String::from(why), life);
            }
            continue;
        }
        if before(life.deleted) || life.ended.as_ref().is_some_and(|(at, _)| *at < seen.back) {
            continue;
        }
        let tainted = facts.get(&life.node).into_iter().flatten().rev().find_map(|(at, fact)| match fact {
            NodeFact::Tainted(taint) if *at < seen.back && taint.ends_with(":NoExecute") => Some(taint),
            _ => None,
        });
        let about_zone = || format!("zone/{}", nodes.get(&life.node).map(|node| zone(node)).unwrap_or_default());
        let why = match tainted {
            Some(taint) => life.tolerance(taint),
            None => match last.get("zones").or_else(|| last.get(about_zone().as_str())) {
                Some(own) => format!("their node has no NoExecute taint: {}: {}", own.decision.what, own.reasons()),
                None => String::from("their node has no NoExecute taint"),
            },
        };
        note("not deleted", why, life);
    }
    let is_there = |life: &&PodLife| before(life.created.or(Some(seen.zero))) && !before(life.gone);
    for life in seen.pods.values().filter(is_there).filter(|life| !before(life.bound)) {
        if let Some(message) = &life.unschedulable {
            note("on no node", message.clone(), life);
        }
    }
    let is_new = |life: &&PodLife| before(life.created) && before(life.bound) && !before(life.ready);
    let has_ended = |life: &&PodLife| life.ended.as_ref().is_some_and(|(at, _)| *at < seen.back);
    for life in seen.pods.values().filter(is_there).filter(is_new).filter(|life| !has_ended(life)) {
        if scene.lost.contains(&life.node) {
            note("on a lost node, and never ready", String::from("they were made when it was lost already"), life);
        }
    }
    let found = found.into_iter().map(|((what, why), names)| Stuck::of("Pod", what, why, names));
    seen.not_drained.iter().cloned().chain(found).collect()
}

/// Names the zone of a Node as decisions about it do.
fn zone(node: &Node) -> String {
    let label = |of: &Option<Text>| of.clone().unwrap_or_default();
    ZoneKey { region: label(&node.region), zone: label(&node.zone) }.to_string()
}
