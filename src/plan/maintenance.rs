//! Nodes that are taken away on purpose, as for an upgrade: drained one after the other, given back at the end.
//!
//! Inputs: a question, the cluster. Outputs: `kubectl drain` for each node, reboots, what an operator sees of it. The
//! next node's turn comes when the one before is drained, or for an upgrade when it is ready again. A drain that has
//! not ended when the time of the question is over is given up.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use nodeproof_core::components::drain::DrainCommand;
use nodeproof_core::components::machine::MachineAction;
use nodeproof_core::json;
use nodeproof_core::network::{Call, NODES, PODS, Resource, Verb};
use nodeproof_core::objects::lifecycle::{controller_of, is_condition_true};
use nodeproof_core::objects::selector::selects;
use nodeproof_core::objects::{Json, Text};

use super::cluster::Scene;
use super::observation::{NodeFact, Sightings};
use super::question::{How, Question};
use super::unready::{Stuck, name};

/// How often an operator looks whether the turn of the next node has come.
pub(super) const LOOKS: SignedDuration = SignedDuration::from_secs(1);
/// The flags without which `kubectl drain` refuses nearly every Node of a real cluster.
const FLAGS: [&str; 2] = ["ignore-daemonsets", "delete-emptydir-data"];
/// What `kubectl drain` prints of an eviction that a budget does not allow.
///
/// Source: kubectl pkg/drain/drain.go (v1.34), `evictPods`.
const REFUSED: &str = "error when evicting pods/\"";
const BUDGETS: Resource = Resource::of("policy", "v1", "poddisruptionbudgets");

/// What goes on with the node whose turn it is.
#[derive(Debug)]
enum Going {
    /// The drain of this number.
    Drains(usize),
    /// It boots, and had this boot ID before.
    Boots(Json),
}

/// The nodes in turn.
#[derive(Debug)]
pub(super) struct Maintenance {
    how: How,
    until: Timestamp,
    /// The nodes whose turn has not come, the next one last.
    waiting: Vec<Text>,
    going: Option<(Text, Going)>,
    /// How many lines of each drain have been read.
    read: usize,
    /// The Pods that a budget held when their eviction was tried first.
    held: BTreeSet<Text>,
    /// Nodes whose drain ended with an error, and its last line.
    failed: BTreeMap<Text, String>,
}

impl Maintenance {
    /// Begins with the first node; for a drain all of them are cordoned before that, as `kubectl drain` does it.
    pub(super) fn begin(scene: &mut Scene, question: &Question) -> Result<Self, String> {
        let nodes = scene.lost.clone();
        let mut own = Self {
            how: question.how,
            until: scene.sim.now() + question.lasts,
            waiting: nodes.iter().rev().cloned().collect(),
            going: None,
            read: 0,
            held: BTreeSet::new(),
            failed: BTreeMap::new(),
        };
        if own.how == How::Drain {
            nodes.iter().try_for_each(|node| cordon(scene, node, true))?;
        }
        own.next(scene);
        Ok(own)
    }

    /// Tells whether every node has had its turn.
    pub(super) const fn has_ended(&self) -> bool {
        self.going.is_none() && self.waiting.is_empty()
    }

    /// Looks at the node whose turn it is, and goes on when it is done.
    pub(super) fn look(&mut self, scene: &mut Scene, seen: &mut Sightings) -> Result<(), String> {
        let now = scene.sim.now();
        let Some((node, going)) = self.going.take() else { return Ok(()) };
        match going {
            Going::Drains(number) => match self.drained(scene, seen, (&node, number)) {
                None => self.going = Some((node, Going::Drains(number))),
                Some(Err(line)) => drop(self.failed.insert(node, line)),
                Some(Ok(())) => {
                    seen.nodes.push((now, node.clone(), NodeFact::Drained));
                    if self.how == How::Upgrade {
                        let before = boot_id(scene, &node)?.0;
                        let reboot = MachineAction::Reboot { boot_id: None };
                        scene.sim.machine_do(&node, reboot).map_err(|error| format!("{node}: {error}"))?;
                        self.going = Some((node, Going::Boots(before)));
                    }
                }
            },
            Going::Boots(before) => match boot_id(scene, &node)? {
                (now, true) if now != before => cordon(scene, &node, false)?,
                _ => self.going = Some((node, Going::Boots(before))),
            },
        }
        if self.going.is_none() {
            self.next(scene);
        }
        Ok(())
    }

    /// Gives back what is cordoned still.
    pub(super) fn end(&self, scene: &mut Scene) -> Result<(), String> {
        for node in scene.lost.clone() {
            let get = Call::new(Verb::Get, NODES, "", &node);
            if scene.send(get)?.at(&["spec", "unschedulable"]).as_bool() == Some(true) {
                cordon(scene, &node, false)?;
            }
        }
        Ok(())
    }

    /// Starts the drain of the next node, which may take as long as there is time.
    fn next(&mut self, scene: &mut Scene) {
        let left = self.until.duration_since(scene.sim.now()).as_secs();
        if left < 1 {
            return;
        }
        let Some(node) = self.waiting.pop() else { return };
        let mut command = DrainCommand::of(vec![node.clone()]);
        let timeout = format!("{left}s");
        let flags = FLAGS.into_iter().map(|flag| (flag, "true")).chain([("timeout", timeout.as_str())]);
        for (flag, value) in flags {
            command.set(flag, value).expect("flags of kubectl drain");
        }
        self.read = 0;
        self.going = Some((node, Going::Drains(scene.sim.drain(command))));
    }

    /// Reads what a drain has printed; tells how it ended, if it has.
    fn drained(
        &mut self,
        scene: &Scene,
        seen: &mut Sightings,
        (node, number): (&Text, usize),
    ) -> Option<Result<(), String>> {
        let drain = scene.sim.drains().nth(number - 1)?;
        let printed = drain.printed();
        for line in &printed[self.read..] {
            let Some((pod, _)) = line.strip_prefix(REFUSED).and_then(|rest| rest.split_once('"')) else { continue };
            if self.held.insert(Text::from(pod)) {
                seen.held.push((scene.sim.now(), node.clone(), Text::from(pod)));
            }
        }
        self.read = printed.len();
        let last = || printed.last().cloned().unwrap_or_default();
        drain.exit().map(|code| if code == 0 { Ok(()) } else { Err(last()) })
    }

    /// Finds the Pods that are on nodes which are not drained, and why, as it is now.
    pub(super) fn stuck(&self, scene: &mut Scene, seen: &Sightings) -> Result<Vec<Stuck>, String> {
        let drained: BTreeSet<&Text> =
            seen.nodes.iter().filter(|(_, _, fact)| *fact == NodeFact::Drained).map(|(_, name, _)| name).collect();
        let left: BTreeSet<Text> = scene.lost.iter().filter(|node| !drained.contains(node)).cloned().collect();
        let (pods, budgets) = (scene.list(PODS)?, scene.list(BUDGETS)?);
        let mut found: BTreeMap<(&'static str, String), Vec<Text>> = BTreeMap::new();
        for pod in &pods {
            let node = pod.at(&["spec", "nodeName"]).as_text().filter(|node| left.contains(*node));
            let Some(node) = node.filter(|_| is_evicted(pod)) else { continue };
            let (what, why) = if !pod.at(&["metadata", "deletionTimestamp"]).is_null() {
                ("evicted, and still there", String::from("their containers have not ended yet"))
            } else if let Some(line) = self.failed.get(node).filter(|_| !self.held.contains(&name(pod))) {
                ("not evicted", format!("kubectl drain gave up on {node}: {line}"))
            } else if self.waiting.contains(node) {
                ("not evicted", String::from("the turn of their node has not come"))
            } else {
                ("not evicted", held_by(&budgets, pod))
            };
            found.entry((what, why)).or_default().push(name(pod));
        }
        Ok(found.into_iter().map(|((what, why), names)| Stuck::of("Pod", what.to_owned(), why, names)).collect())
    }
}

/// Tells whether a drain evicts a Pod: not those of DaemonSets, and no mirrors of static Pods.
fn is_evicted(pod: &Json) -> bool {
    !controller_of(pod).is_some_and(|owner| matches!(owner.get("kind").as_str(), Some("DaemonSet" | "Node")))
}

/// Says which budget does not allow the eviction of a Pod.
fn held_by(budgets: &[Json], pod: &Json) -> String {
    let text = |object: &Json, field: &str| object.at(&["metadata", field]).as_str().unwrap_or("").to_owned();
    let is_of_pod = |budget: &&Json| {
        text(budget, "namespace") == text(pod, "namespace")
            && selects(budget.at(&["spec", "selector"]), pod.at(&["metadata", "labels"]))
    };
    let count = |budget: &Json, field: &str| budget.at(&["status", field]).as_i64().unwrap_or(0);
    let of_pod: Vec<&Json> = budgets.iter().filter(is_of_pod).collect();
    match of_pod.as_slice() {
        [] => String::from("their eviction has not been answered"),
        [budget] => {
            let (healthy, needed) = (count(budget, "currentHealthy"), count(budget, "desiredHealthy"));
            format!("the budget {} needs {needed} healthy Pods, and {healthy} are", text(budget, "name"))
        }
        // Source: pkg/registry/core/pod/storage/eviction.go (v1.34), `Create`.
        [..] => String::from("more than one budget is about them, which the API server does not evict by"),
    }
}

fn cordon(scene: &mut Scene, node: &Text, is_cordoned: bool) -> Result<(), String> {
    scene.patch((&NODES, "", node), json!({"spec": {"unschedulable": is_cordoned}}))
}

/// Returns the boot ID of a Node, and whether it is ready.
fn boot_id(scene: &mut Scene, node: &Text) -> Result<(Json, bool), String> {
    let node = scene.send(Call::new(Verb::Get, NODES, "", node))?;
    Ok((node.at(&["status", "nodeInfo", "bootID"]).clone(), is_condition_true(&node, "Ready")))
}
