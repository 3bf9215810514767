//! Removes what a scenario has created on a cluster that others use as well.
//!
//! Inputs: the mapping of the scenario's names, what was created for it and by it, whether the cluster is in order.
//! Output: what could not be removed. Invariant: only Nodes with the suffix of the scenario and what it has created are
//! deleted.

use std::collections::BTreeSet;

use nodeproof_core::network::{Call, NAMESPACES, NODES, PODS, Resource, Verb};
use nodeproof_core::objects::Text;
use nodeproof_core::scenario::AnswerSeen;

use crate::live::aliases::Aliases;
use crate::live::cache::key_of;
use crate::live::cleanup::deletion::gone;
use crate::live::client::Caller;
use crate::live::timing::REMOVAL_IN_TROUBLE;

/// What a scenario leaves beside Nodes.
pub(super) struct Left {
    /// Namespaces that were created for it.
    pub(super) namespaces: BTreeSet<Text>,
    /// What it has created for the whole cluster.
    pub(super) made: Vec<(Resource, Text)>,
}

/// Removes what a scenario leaves on a control plane that others use as well; says what could not be removed.
pub(super) async fn remove_what_is_left(
    caller: &Caller,
    aliases: &Aliases,
    left: Left,
    is_in_order: bool,
) -> Result<(), String> {
    if aliases.is_none() {
        return Ok(());
    }
    let removal = remove(caller, aliases, left);
    if is_in_order {
        return removal.await;
    }
    let late = |_| Err(format!("what was made: not removed within {}s", REMOVAL_IN_TROUBLE.as_secs()));
    tokio::time::timeout(REMOVAL_IN_TROUBLE, removal).await.unwrap_or_else(late)
}

async fn remove(caller: &Caller, aliases: &Aliases, Left { namespaces, made }: Left) -> Result<(), String> {
    let mut calls = Vec::new();
    let nodes = caller.ask(&Call::new(Verb::List, NODES, "", "")).await;
    let mut left = is_gone("Nodes", &nodes);
    for node in nodes.body.get("items").items() {
        let key = key_of(node);
        if aliases.has_made(&key) {
            calls.push((format!("Node {}", key.name), Call::new(Verb::Delete, NODES, "", key.name)));
        }
    }
    for namespace in namespaces {
        let pods = Call::new(Verb::DeleteCollection, PODS, namespace.clone(), "");
        calls.push((format!("Pods in {namespace}"), pods.query("gracePeriodSeconds", "0")));
        calls.push((format!("namespace {namespace}"), Call::new(Verb::Delete, NAMESPACES, "", namespace)));
    }
    for (resource, name) in made.into_iter().rev() {
        let what = format!("{} {name}", resource.plural);
        calls.push((what, Call::new(Verb::Delete, resource, "", name)));
    }
    for (what, call) in calls {
        left = left.and(is_gone(&what, &caller.ask(&call).await));
    }
    left
}

/// Tells from an answer whether something is gone, or being deleted.
fn is_gone(what: &str, answer: &AnswerSeen) -> Result<(), String> {
    gone(answer).map_err(|why| format!("{what}: not removed: {why}"))
}
