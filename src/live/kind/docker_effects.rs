//! The effects of one scenario on a kind cluster: its workers, their faults, and what undoes them.
//!
//! Inputs: machines, actions on them, faults on their connections. Outputs: changes through Docker, and the journal.
//! Invariants: before a change is made, it is in the journal with what undoes it, and where the node can heal itself
//! its timer is started; removing a worker removes all its faults.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use nodeproof_core::components::machine::{MachineAction, MachineSpec};
use nodeproof_core::network::{Fault, NODE_LEASES, NODES, Resource};
use nodeproof_core::objects::{Json, Text};
use tokio::sync::Semaphore;

use super::cluster::{KindCluster, now};
use super::fault::{self, FaultPlan};
use super::inspection::{self, Looks};
use super::settings::{self, KubeletSettings};
use super::worker::{Preparation, Worker, obstacle};
use crate::live::backend::NoEnvironment;
use crate::live::cleanup::clean::undo;
use crate::live::cleanup::docker::{Docker, DockerError};
use crate::live::cleanup::journal::UndoableChange;
use crate::live::cleanup::node_fault::NodeFault;
use crate::live::cleanup::op::Op;
use crate::live::timing::{BOOT_WAIT, JOINS_MAX};

/// The turns of all scenarios' workers to join. Each keeps a core busy for seconds, and Docker answers none of them in
/// time when many begin together.
static JOINS: Semaphore = Semaphore::const_new(JOINS_MAX);

/// The machines of a scenario and their faults.
#[derive(Debug)]
pub(crate) struct DockerEffects {
    docker: Docker,
    cluster: Arc<KindCluster>,
    machines: BTreeMap<String, KindMachine>,
    /// After this time others may undo what the scenario has not undone.
    patience: Duration,
    /// The journal's numbers of Nodes without a machine and of namespaces.
    made: Vec<u32>,
    /// What is done to each worker before its kubelet starts.
    preparation: Preparation,
    /// What of them is looked at.
    looks: Looks,
}

/// A machine of a scenario.
#[derive(Debug)]
struct KindMachine {
    /// The worker that was added, and the number of its change; `None` for a worker that the cluster was created with.
    added: Option<(Worker, u32)>,
    settings: KubeletSettings,
    node: String,
}

impl DockerEffects {
    /// Prepares a scenario on a cluster; it lasts no longer than `patience`.
    pub(crate) async fn on(cluster: Arc<KindCluster>, patience: Duration) -> Result<Self, String> {
        let docker = Docker::connect().await.map_err(|error| error.to_string())?;
        Ok(Self {
            docker,
            cluster,
            machines: BTreeMap::new(),
            patience,
            made: Vec::new(),
            preparation: Preparation::default(),
            looks: Looks::default(),
        })
    }

    /// Has each worker prepared that is added.
    pub(crate) fn preparing(self, preparation: Preparation, looks: Looks) -> Self {
        Self { preparation, looks, ..self }
    }

    /// Runs the control plane with the flags of the scenario.
    ///
    /// # Errors
    /// It does not run with them, or Docker does not answer.
    pub(crate) async fn run_with(&self, flags: &[(Text, Text)]) -> Result<(), NoEnvironment> {
        self.cluster.run_with(&self.docker, flags).await
    }

    /// Adds a machine, whose kubelet starts now.
    ///
    /// # Errors
    /// It cannot be added, or its kubelet refuses to start; the text says why. A machine whose kubelet refuses stays.
    pub(crate) async fn add(&mut self, spec: &MachineSpec) -> Result<(), String> {
        if let Some(why) = obstacle(spec, &self.cluster.common.version) {
            return Err(why);
        }
        let name = spec.name.to_string();
        let node = node_name(spec);
        if self.cluster.stand_ins.contains(&name) {
            let files = self.docker.run(&name, settings::READING_SCRIPT).await.map_err(text)?;
            let settings = KubeletSettings::of_node(&files)?;
            self.machines.insert(name.clone(), KindMachine { added: None, settings, node });
            return self.await_kubelet(&name).await;
        }
        let common = &self.cluster.common;
        let undo = vec![Op::Remove { container: name.clone() }, Op::delete_node(&common.control_plane, &node)];
        let what = format!("worker {name} was added");
        let token = self.cluster.token(&self.docker).await.map_err(text)?;
        let change = UndoableChange { what, container: Some(name.clone()), node_fault: None, undo, until: None };
        let change = self.cluster.record_change(change)?;
        let turn = JOINS.acquire().await.map_err(|error| error.to_string())?;
        let started = Worker::start(&self.docker, common, spec, &token, self.preparation).await;
        drop(turn);
        match started {
            Ok(worker) => {
                let settings = worker.settings.clone();
                self.machines.insert(name.clone(), KindMachine { added: Some((worker, change)), settings, node });
                self.await_kubelet(&name).await
            }
            Err(why) => {
                self.cluster.undone(change)?;
                Err(why)
            }
        }
    }

    /// Records that a Node without a machine, or a namespace, is about to be created.
    ///
    /// # Errors
    /// The journal cannot be written; the object must then not be created.
    pub(crate) fn note_creation(&mut self, resource: &Resource, name: &str) -> Result<(), String> {
        let change = making(&self.cluster.common.control_plane, resource, name);
        self.made.push(self.cluster.record_change(change)?);
        Ok(())
    }

    /// Writes down that all of them are removed.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub(crate) fn note_removal(&mut self) -> Result<(), String> {
        std::mem::take(&mut self.made).into_iter().try_for_each(|id| self.cluster.undone(id))
    }

    /// Does an action on a machine.
    ///
    /// # Errors
    /// It cannot be done; the text says why.
    pub(crate) async fn act(&mut self, machine: &str, action: &MachineAction) -> Result<(), String> {
        let plan = fault::of_machine(action, machine, &self.machine(machine)?.settings)?;
        self.carry_out(machine, &plan).await?;
        match action {
            MachineAction::KubeletStart | MachineAction::KubeletRestart(_) => self.await_kubelet(machine).await,
            _ => Ok(()),
        }
    }

    /// Makes a fault on a machine's connection; returns the node fault that it is.
    ///
    /// # Errors
    /// It cannot be done; the text says why.
    pub(crate) async fn cut(&mut self, machine: &str, fault: &Fault) -> Result<Option<NodeFault>, String> {
        self.machine(machine)?;
        let plan = fault::of_network(fault, machine)?;
        self.carry_out(machine, &plan).await?;
        Ok(plan.makes)
    }

    /// Heals every fault on a machine's connection.
    ///
    /// # Errors
    /// It cannot be done; the text says why.
    pub(crate) async fn heal(&mut self, machine: &str) -> Result<(), String> {
        self.machine(machine)?;
        for node_fault in [NodeFault::Cut, NodeFault::Detached] {
            let ails = |change: &UndoableChange| {
                change.container.as_deref() == Some(machine) && change.node_fault == Some(node_fault)
            };
            if !self.cluster.changes(ails).is_empty() {
                self.carry_out(machine, &FaultPlan::heal(node_fault, machine)).await?;
            }
        }
        Ok(())
    }

    /// Counts the packets that faults on a machine's connection have met.
    ///
    /// # Errors
    /// It cannot be done; the text says why.
    pub(crate) async fn hits(&self, machine: &str) -> Result<u64, String> {
        let shown = self.docker.run(machine, &fault::count_script()).await.map_err(text)?;
        Ok(shown.trim().parse().unwrap_or_default())
    }

    /// Returns the state of a machine as its own tools report it.
    ///
    /// # Errors
    /// Docker does not answer.
    pub(crate) async fn describe(&self, machine: &str) -> Result<Json, String> {
        let own = self.machine(machine)?;
        let state = self.docker.state(machine).await.map_err(text)?;
        let shown = if state == "running" {
            self.docker.run(machine, &self.looks.script()).await.map_err(text)?
        } else {
            String::new()
        };
        Ok(inspection::read(machine, &own.node, &state, &shown))
    }

    /// Removes all machines and their Nodes; returns what cannot be removed, which stays in the journal.
    pub(crate) async fn clean_up(&mut self) -> Vec<String> {
        let mut problems = Vec::new();
        for (name, machine) in std::mem::take(&mut self.machines) {
            problems.extend(self.remove(&name, machine).await.err());
        }
        problems
    }

    async fn remove(&self, name: &str, machine: KindMachine) -> Result<(), String> {
        let Some((worker, change)) = machine.added else { return self.repair(name, &machine.node).await };
        worker.remove().await.map_err(text)?;
        let node = Op::delete_node(&self.cluster.common.control_plane, &machine.node);
        self.docker.perform(&node).await.map_err(text)?;
        let is_of = |change: &UndoableChange| change.container.as_deref() == Some(name);
        self.cluster.changes(is_of).into_iter().rev().try_for_each(|(id, _)| self.cluster.undone(id))?;
        self.cluster.undone(change)
    }

    /// Heals a worker that the cluster was created with, and waits until its kubelet runs.
    async fn repair(&self, name: &str, node: &str) -> Result<(), String> {
        let ails = |change: &UndoableChange| change.container.as_deref() == Some(name);
        for (id, change) in self.cluster.changes(ails).into_iter().rev() {
            undo(Ok(&self.docker), &change).await.map_err(text)?;
            self.cluster.undone(id)?;
        }
        self.await_kubelet(name).await?;
        let ready = format!("wait --for=condition=Ready node/{node} --timeout=60s");
        self.docker.perform(&Op::kubectl(&self.cluster.common.control_plane, &ready)).await.map_err(text)
    }

    fn machine(&self, name: &str) -> Result<&KindMachine, String> {
        self.machines.get(name).ok_or_else(|| format!("there is no machine {name}"))
    }

    async fn carry_out(&self, container: &str, plan: &FaultPlan) -> Result<(), String> {
        if let Some(node_fault) = plan.makes {
            let change = UndoableChange {
                what: format!("{container}: {}", node_fault.sentence()),
                container: Some(container.to_owned()),
                node_fault: Some(node_fault),
                undo: node_fault.healing(container),
                until: Some(now() + SignedDuration::try_from(self.patience).unwrap_or_default()),
            };
            self.cluster.record_change(change)?;
            if let Some(script) = node_fault.arming_script(self.patience) {
                self.docker.run(container, &script).await.map_err(text)?;
            }
        }
        for op in &plan.ops {
            self.docker.perform(op).await.map_err(text)?;
            if let Op::Start { container } = op {
                self.docker.wait_until_up(container, BOOT_WAIT).await.map_err(text)?;
            }
        }
        let is_ended = |change: &UndoableChange| {
            change.container.as_deref() == Some(container)
                && change.node_fault.is_some_and(|node_fault| plan.ends.contains(&node_fault))
        };
        self.cluster.changes(is_ended).into_iter().try_for_each(|(id, _)| self.cluster.undone(id))
    }

    /// Waits until a kubelet that was started runs, or has printed why it refuses.
    async fn await_kubelet(&self, machine: &str) -> Result<(), String> {
        match self.docker.run(machine, inspection::KUBELET_SCRIPT).await {
            Ok(_) => Ok(()),
            Err(DockerError::Script { said, .. }) => Err(inspection::refusal(&said)),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Returns the name of the Node of a machine's kubelet.
pub(crate) fn node_name(spec: &MachineSpec) -> String {
    let flag = spec.kubelet.flags.iter().find(|(name, _)| name.as_str() == "hostname-override");
    let name = flag.map(|(_, value)| value).or(spec.node_name.as_ref()).unwrap_or(&spec.name);
    name.trim().to_lowercase()
}

/// Returns the change that creates a Node without a machine, or a namespace.
fn making(control_plane: &str, resource: &Resource, name: &str) -> UndoableChange {
    let delete =
        |what: &str| Op::kubectl(control_plane, &format!("delete {what} {name} --ignore-not-found --wait=false"));
    let (what, undo) = if *resource == NODES {
        // A Lease without an owner stays when its Node goes.
        (format!("Node {name} was made"), vec![delete("node"), delete(&format!("lease -n {NODE_LEASES}"))])
    } else {
        (format!("{} {name} was made", resource.plural.trim_end_matches('s')), vec![delete(&resource.qualified())])
    };
    UndoableChange { what, container: None, node_fault: None, undo, until: None }
}

fn text(error: DockerError) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use nodeproof_core::network::NAMESPACES;

    use super::*;

    #[test]
    fn what_is_made_beside_machines_can_be_removed_by_others() {
        let shown = |resource: &Resource, name: &str| {
            let change = making("np-control-plane", resource, name);
            (change.what, change.undo.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
        };
        let (what, undo) = shown(&NODES, "bystander-npabcd");
        assert_eq!(what, "Node bystander-npabcd was made");
        assert!(undo.contains("delete node bystander-npabcd --ignore-not-found"), "{undo}");
        assert!(undo.contains("delete lease -n kube-node-lease bystander-npabcd"), "{undo}");
        let (what, undo) = shown(&NAMESPACES, "default-npabcd");
        assert_eq!(what, "namespace default-npabcd was made");
        assert!(undo.contains("delete namespaces default-npabcd --ignore-not-found --wait=false"), "{undo}");
    }
}
