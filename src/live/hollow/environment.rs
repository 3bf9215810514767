//! The environment of one scenario with hollow nodes: its machines are the core's, each with a kubelet that has an
//! identity of its own.
//!
//! Inputs: actions and rules with real names. Outputs: their effect on the nodes of this process, and the recording of
//! the scenario if there is one. Invariant: what it has made in a cluster that exists already is in the journal until
//! it is removed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use nodeproof_core::components::controller::ControllerAction;
use nodeproof_core::components::kubelet::config::node_name;
use nodeproof_core::components::machine::{MachineAction, MachineSpec};
use nodeproof_core::network::{Endpoint, Fault, NODES, Resource, RuleId};
use nodeproof_core::objects::Json;
use nodeproof_core::scenario::{ActionId, FaultEffect};
use tokio::process::Command;

use super::ControlPlane;
use super::attached::AttachedCluster;
use crate::live::kubelets::HollowNodes;
use crate::live::record::{Recorder, Title};
use crate::live::timing::LAST_EVENTS;
use crate::live::{Access, Environment, FallibleFuture, TimingTolerance};

/// A recording of the current scenario.
#[derive(Debug)]
pub(super) struct Recording {
    /// Records the watches.
    pub(super) recorder: Recorder,
    /// The description of the recording.
    pub(super) title: Title,
    /// Where it is written.
    pub(super) directory: PathBuf,
}

impl Recording {
    async fn end(self, plane: &ControlPlane) -> Result<(), String> {
        tokio::time::sleep(LAST_EVENTS).await;
        let mut recorded = self.recorder.end().await?;
        let (audit, manager) = plane.logs()?;
        recorded.add_logs(&audit, &manager);
        recorded.save(&self.directory, &self.title)
    }
}

/// The control plane of an environment.
pub(super) enum Plane {
    /// A control plane that this run has started.
    Own(Arc<ControlPlane>),
    /// A cluster that existed before.
    Attached {
        /// The cluster.
        cluster: Arc<AttachedCluster>,
        /// What the driver creates and removes, by numbers in the journal.
        made: Vec<u32>,
        /// The Nodes of machines, with their numbers in the journal.
        machines: Vec<(String, u32)>,
    },
}

/// The environment of a scenario.
pub(super) struct HollowEnvironment {
    /// Declared before the control plane, so that the kubelets end first.
    nodes: HollowNodes,
    timing_tolerance: TimingTolerance,
    /// The rules of actions, each with the client whose connection it affects.
    rules: BTreeMap<ActionId, (RuleId, Endpoint)>,
    /// What each removed rule had met.
    hits: BTreeMap<RuleId, u64>,
    recording: Option<Recording>,
    plane: Plane,
}

impl HollowEnvironment {
    /// Makes an environment; the nodes live on the current runtime.
    pub(super) fn new(
        plane: Plane,
        nodes: HollowNodes,
        timing_tolerance: TimingTolerance,
        recording: Option<Recording>,
    ) -> Self {
        Self { nodes, timing_tolerance, rules: BTreeMap::new(), hits: BTreeMap::new(), recording, plane }
    }

    fn take_away(&mut self, id: RuleId) -> Result<(), String> {
        let rule = self.nodes.remove_rule(id).map_err(|error| error.to_string())?;
        self.hits.insert(id, rule.hits.total);
        Ok(())
    }

    fn effect_of(&self, id: ActionId) -> FaultEffect {
        let Some((rule, _)) = self.rules.get(&id) else { return FaultEffect::Ended };
        let laid = self.nodes.rules();
        let total = laid.iter().find(|(other, _)| other.id == *rule).map(|(rule, _)| rule.hits.total);
        FaultEffect::Messages(total.or_else(|| self.hits.get(rule).copied()).unwrap_or(0))
    }
}

/// Returns a future that is ready.
fn at_once<'a, T: 'a>(done: Result<T, String>) -> FallibleFuture<'a, T> {
    Box::pin(async { done })
}

impl Environment for HollowEnvironment {
    fn access(&self) -> &Access {
        match &self.plane {
            Plane::Own(plane) => plane.access(),
            Plane::Attached { cluster, .. } => cluster.access(),
        }
    }

    fn timing_tolerance(&self) -> TimingTolerance {
        self.timing_tolerance.clone()
    }

    fn trouble(&self) -> Option<String> {
        match &self.plane {
            Plane::Own(plane) => plane.trouble(),
            Plane::Attached { .. } => None,
        }
    }

    fn add_machine(&mut self, spec: MachineSpec) -> FallibleFuture<'_, ()> {
        if let Plane::Attached { cluster, machines, .. } = &mut self.plane {
            let flag = spec.kubelet.flags.iter().find(|(name, _)| name.as_str() == "hostname-override");
            let made = node_name(flag.map(|(_, value)| value), &spec)
                .and_then(|name| Ok((name.to_string(), cluster.note_creation(&NODES, &name)?)));
            match made {
                Ok(made) => machines.push(made),
                Err(why) => return at_once(Err(why)),
            }
        }
        Box::pin(async {
            let name = spec.name.clone();
            let started = self.nodes.start(spec).await;
            started.and_then(|()| self.nodes.check_modelled(&name)).map_err(|error| error.to_string())
        })
    }

    fn machine_do<'a>(&'a mut self, name: &'a str, action: MachineAction) -> FallibleFuture<'a, ()> {
        let done = self.nodes.perform(name, action).and_then(|()| self.nodes.check_modelled(name));
        at_once(done.map_err(|error| error.to_string()))
    }

    fn add_rule(&mut self, id: ActionId, fault: Fault) -> FallibleFuture<'_, ()> {
        let from = fault.from.clone();
        let rule = self.nodes.add_rule(fault);
        self.rules.insert(id, (rule, from));
        at_once(Ok(()))
    }

    fn remove_rule(&mut self, id: RuleId) -> FallibleFuture<'_, ()> {
        at_once(self.take_away(id))
    }

    fn heal(&mut self, endpoint: Endpoint) -> FallibleFuture<'_, ()> {
        let laid = self.rules.values().filter(|(_, from)| *from == endpoint || endpoint == Endpoint::Any);
        let laid: Vec<RuleId> = laid.map(|(rule, _)| *rule).filter(|rule| !self.hits.contains_key(rule)).collect();
        for rule in laid {
            // A rule that has ended by itself is gone already.
            let _ = self.take_away(rule);
        }
        at_once(Ok(()))
    }

    fn controller_do<'a>(&'a mut self, name: &'a str, action: ControllerAction) -> FallibleFuture<'a, ()> {
        at_once(Err(format!("{action:?} of {name} alone cannot be had from kube-controller-manager")))
    }

    fn kubectl(&self, arguments: &[String]) -> Result<Command, String> {
        match &self.plane {
            Plane::Own(plane) => plane.kubectl(arguments),
            Plane::Attached { .. } => Err("commands of kubectl are run on control planes of our own only".to_owned()),
        }
    }

    fn effect(&mut self, id: ActionId) -> FallibleFuture<'_, FaultEffect> {
        at_once(Ok(self.effect_of(id)))
    }

    fn note_creation(&mut self, resource: &Resource, name: &str) -> Result<(), String> {
        if let Plane::Attached { cluster, made, .. } = &mut self.plane {
            made.push(cluster.note_creation(resource, name)?);
        }
        Ok(())
    }

    fn note_removal(&mut self) -> Result<(), String> {
        if let Plane::Attached { cluster, made, .. } = &mut self.plane {
            return std::mem::take(made).into_iter().try_for_each(|id| cluster.undone(id));
        }
        Ok(())
    }

    fn describe<'a>(&'a mut self, name: &'a str) -> FallibleFuture<'a, Json> {
        at_once(Ok(self.nodes.describe(name).unwrap_or_default()))
    }

    fn clean_up(self: Box<Self>) -> FallibleFuture<'static, ()> {
        Box::pin(async move {
            let mut own = self;
            let ended = match (own.recording.take(), &own.plane) {
                // Ended before the nodes: their removal is not part of the scenario.
                (Some(recording), Plane::Own(plane)) => recording.end(plane).await,
                _ => Ok(()),
            };
            own.nodes.stop();
            match own.plane {
                Plane::Own(plane) => plane.trouble().map_or(ended, Err),
                Plane::Attached { cluster, machines, .. } => remove_nodes(&cluster, machines).await,
            }
        })
    }
}

/// Removes the Nodes of removed machines; those that cannot be removed stay in the journal.
async fn remove_nodes(cluster: &AttachedCluster, machines: Vec<(String, u32)>) -> Result<(), String> {
    let caller = cluster.access().caller().await?;
    let mut left = Vec::new();
    for (name, id) in machines {
        match cluster.remove_node(&caller, &name).await {
            Ok(()) => cluster.undone(id)?,
            Err(why) => left.push(format!("Node {name}: not removed: {why}")),
        }
    }
    if left.is_empty() { Ok(()) } else { Err(left.join("; ")) }
}
