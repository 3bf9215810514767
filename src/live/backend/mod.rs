//! The interface of a live backend.
//!
//! A [`LiveBackend`] is made once for a run. It serves scenarios side by side, each from a thread with a runtime of its
//! own. An [`Environment`] serves one scenario. Inputs: scenarios prepared as [`ScenarioPlan`]s, actions, rules.
//! Outputs: an API server, machines, connections. All names are real ones: [`super::Aliases`] has mapped them.
//! Invariant: what an environment has made it removes in [`Environment::clean_up`], and as far as possible when it is
//! dropped.

mod plan;
mod unavailable;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::num::NonZeroUsize;

use futures::future::LocalBoxFuture;
use nodeproof_core::components::controller::ControllerAction;
use nodeproof_core::components::machine::{MachineAction, MachineSpec};
use nodeproof_core::network::{Endpoint, Fault, Resource, RuleId};
use nodeproof_core::objects::Json;
use nodeproof_core::scenario::{ActionId, Capabilities, FaultEffect, Scenario};
use tokio::process::Command;

use super::client::Access;
use super::permits::Permit;
use super::tolerance::TimingTolerance;

pub use plan::{IsolationReason, ScenarioPlan};
pub use unavailable::Unavailable;

/// An operation that takes time and may fail; the text says why.
pub type FallibleFuture<'a, T> = LocalBoxFuture<'a, Result<T, String>>;

/// The creation of an environment.
pub type EnvironmentFuture<'a> = LocalBoxFuture<'a, Result<Box<dyn Environment>, NoEnvironment>>;

/// A backend on which scenarios run in real time.
pub trait LiveBackend: Debug + Send + Sync {
    /// Returns what an environment can do.
    fn capabilities(&self) -> Capabilities;

    /// Returns why a scenario cannot be run here, apart from missing capabilities; known when scenarios are listed.
    fn obstacle(&self, plan: &ScenarioPlan) -> Option<String>;

    /// Returns what to print before the first write: which cluster this is. `None` if there is nothing to print.
    fn announcement(&self) -> Option<String> {
        None
    }

    /// Describes what a scenario would do to which machine, one line each, as commands for people.
    fn dry_run(&self, plan: &ScenarioPlan) -> Vec<String> {
        let _ = plan;
        Vec::new()
    }

    /// Tells whether a scenario can have a control plane of its own; otherwise all share one, and names are mapped.
    fn has_dedicated_control_planes(&self) -> bool {
        false
    }

    /// Tells whether the cluster has no Nodes but those of scenarios, so that scenarios about all Nodes can have it for
    /// themselves, one at a time.
    fn is_otherwise_empty(&self) -> bool {
        false
    }

    /// Returns why every scenario gets a control plane for itself; `None` if it does not.
    fn isolates_all(&self) -> Option<&'static str> {
        None
    }

    /// Returns machines of the cluster that stand in for machines of a scenario, by the names that the scenario has for
    /// them.
    fn stand_ins(&self, scenario: &Scenario) -> BTreeMap<String, String> {
        let _ = scenario;
        BTreeMap::new()
    }

    /// Returns how many scenarios run at a time; most of the time they only wait.
    fn concurrency(&self) -> NonZeroUsize {
        const { NonZeroUsize::new(32).expect("not zero") }
    }

    /// Returns how many clusters are there for the scenarios that need one for themselves, beside the one that the
    /// others share: so many of these run while the others do.
    fn own_clusters(&self) -> usize {
        0
    }

    /// Tells whether the bystander of a scenario is a machine; otherwise it is a hand-fed Node.
    fn has_capacity(&self, plan: &ScenarioPlan) -> bool {
        let _ = plan;
        true
    }

    /// Waits for a place for a scenario and takes it; `None` if places are not limited. Blocks.
    fn room(&self, plan: &ScenarioPlan) -> Option<Permit> {
        let _ = plan;
        None
    }

    /// Makes the environment of a scenario.
    fn environment<'a>(&'a self, plan: &'a ScenarioPlan) -> EnvironmentFuture<'a>;
}

/// Why a scenario has no environment.
#[derive(Debug)]
pub struct NoEnvironment {
    /// What is wrong.
    pub why: String,
    /// Whether the scenario itself is the cause, as with flags that a program refuses. Then it has failed; otherwise it
    /// is inconclusive.
    pub is_asked_for: bool,
}

impl From<String> for NoEnvironment {
    fn from(why: String) -> Self {
        Self { why, is_asked_for: false }
    }
}

/// What one scenario gets of a backend.
pub trait Environment {
    /// Returns how to reach the API server, as a user who may do everything and impersonate everybody.
    fn access(&self) -> &Access;

    /// Returns by how much bounds may be missed here, and why.
    fn timing_tolerance(&self) -> TimingTolerance;

    /// Returns what is wrong with the cluster itself. Asked when requests fail; the scenario then ends.
    fn trouble(&self) -> Option<String> {
        None
    }

    /// Makes a machine and starts its kubelet unless the specification says otherwise.
    fn add_machine(&mut self, spec: MachineSpec) -> FallibleFuture<'_, ()> {
        cannot(format!("machine {:?} cannot be made here", spec.name.as_str()))
    }

    /// Does an action on a machine or its kubelet.
    fn machine_do<'a>(&'a mut self, name: &'a str, action: MachineAction) -> FallibleFuture<'a, ()> {
        cannot(format!("{action:?} cannot be done to {name:?} here"))
    }

    /// Adds a network rule for an action; [`Self::effect`] tells later what it met.
    fn add_rule(&mut self, id: ActionId, fault: Fault) -> FallibleFuture<'_, ()> {
        cannot(format!("{:?} cannot be cut off here (action {})", fault.from, id.0))
    }

    /// Removes a network rule.
    fn remove_rule(&mut self, id: RuleId) -> FallibleFuture<'_, ()> {
        cannot(format!("there is no rule {}", id.0))
    }

    /// Removes every rule that was added to a client's connection.
    fn heal(&mut self, endpoint: Endpoint) -> FallibleFuture<'_, ()> {
        cannot(format!("{endpoint:?} cannot be healed here"))
    }

    /// Stops or starts a controller.
    fn controller_do<'a>(&'a mut self, name: &'a str, action: ControllerAction) -> FallibleFuture<'a, ()> {
        cannot(format!("{action:?} cannot be done to controller {name:?} here"))
    }

    /// Returns a command that runs kubectl with these arguments and an administrator's rights.
    ///
    /// # Errors
    /// There is no kubectl here; the text says so.
    fn kubectl(&self, arguments: &[String]) -> Result<Command, String> {
        Err(format!("kubectl {} cannot be run here", arguments.join(" ")))
    }

    /// Returns the effect that an action had.
    fn effect(&mut self, id: ActionId) -> FallibleFuture<'_, FaultEffect> {
        let _ = id;
        Box::pin(async { Ok(FaultEffect::Ended) })
    }

    /// Notes that a Node or a namespace is about to be created. The driver removes it at the end; the note lets others
    /// remove it if the driver cannot.
    ///
    /// # Errors
    /// It cannot be noted; it must then not be created.
    fn note_creation(&mut self, resource: &Resource, name: &str) -> Result<(), String> {
        let _ = (resource, name);
        Ok(())
    }

    /// Notes that everything that [`Self::note_creation`] has noted is removed.
    ///
    /// # Errors
    /// It cannot be noted.
    fn note_removal(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Returns the state of a machine as its own tools report it; `Null` if there is none.
    fn describe<'a>(&'a mut self, name: &'a str) -> FallibleFuture<'a, Json> {
        let _ = name;
        Box::pin(async { Ok(Json::Null) })
    }

    /// Removes everything that was made for the scenario; the text says what could not be removed.
    fn clean_up(self: Box<Self>) -> FallibleFuture<'static, ()>;
}

fn cannot<'a, T: 'a>(why: String) -> FallibleFuture<'a, T> {
    Box::pin(async move { Err(why) })
}
