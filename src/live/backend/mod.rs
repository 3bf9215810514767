//! What a live backend is to a scenario.
//!
//! A [`LiveBackend`] is made once for a run and serves scenarios side by side, each from a thread with a runtime of its
//! own; an [`Environment`] is where one scenario runs. All names that they are handed are real ones: [`super::Aliases`]
//! has mapped them. Whatever an environment has made it removes in [`Environment::clean_up`], and as far as it can when
//! it is dropped.

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

use super::client::Access;
use super::permits::Permit;
use super::tolerance::TimingTolerance;

pub use plan::{IsolationReason, ScenarioPlan};
pub use unavailable::Unavailable;

/// Something that takes time and can be refused; the text says why.
pub type FallibleFuture<'a, T> = LocalBoxFuture<'a, Result<T, String>>;

/// The making of a place.
pub type EnvironmentFuture<'a> = LocalBoxFuture<'a, Result<Box<dyn Environment>, NoEnvironment>>;

/// Where scenarios run.
pub trait LiveBackend: Debug + Send + Sync {
    /// Returns what an environment can do.
    fn capabilities(&self) -> Capabilities;

    /// Tells why a scenario cannot be run here, beside what it is capable of; known when scenarios are listed.
    fn obstacle(&self, plan: &ScenarioPlan) -> Option<String>;

    /// Returns what people should know before the first write: which cluster this is. `None` if there is nothing.
    fn announcement(&self) -> Option<String> {
        None
    }

    /// Says what a scenario would do to which machine, a line each, as commands for people.
    fn dry_run(&self, plan: &ScenarioPlan) -> Vec<String> {
        let _ = plan;
        Vec::new()
    }

    /// Tells whether control planes can be had for single scenarios; otherwise all share one, and names are mapped.
    fn has_dedicated_control_planes(&self) -> bool {
        false
    }

    /// Tells whether scenarios about all Nodes can have the cluster for themselves, one at a time: it has no Nodes but
    /// theirs.
    fn is_otherwise_empty(&self) -> bool {
        false
    }

    /// Tells why every scenario gets a control plane for itself here, whatever it is about; `None` if it does not.
    fn isolates_all(&self) -> Option<&'static str> {
        None
    }

    /// Returns machines that are there already and stand in for machines of a scenario, by the names that it has for
    /// them.
    fn stand_ins(&self, scenario: &Scenario) -> BTreeMap<String, String> {
        let _ = scenario;
        BTreeMap::new()
    }

    /// Returns how many scenarios are begun at a time: most only wait.
    fn concurrency(&self) -> NonZeroUsize {
        const { NonZeroUsize::new(32).expect("not zero") }
    }

    /// Tells whether the bystander of a scenario is a machine; otherwise it is fed by hand.
    fn has_capacity(&self, plan: &ScenarioPlan) -> bool {
        let _ = plan;
        true
    }

    /// Waits until there is room for a scenario, and takes it; `None` where there always is. Blocks.
    fn room(&self, plan: &ScenarioPlan) -> Option<Permit> {
        let _ = plan;
        None
    }

    /// Makes a place for a scenario.
    fn environment<'a>(&'a self, plan: &'a ScenarioPlan) -> EnvironmentFuture<'a>;
}

/// Why there is no place for a scenario.
#[derive(Debug)]
pub struct NoEnvironment {
    /// What is wrong.
    pub why: String,
    /// Whether the scenario asks for what cannot be: flags with which a program does not run. Nothing can be said of it
    /// otherwise.
    pub is_asked_for: bool,
}

impl From<String> for NoEnvironment {
    fn from(why: String) -> Self {
        Self { why, is_asked_for: false }
    }
}

/// One scenario's place.
pub trait Environment {
    /// Returns how to reach the API server, as somebody who may do everything and act as everybody.
    fn access(&self) -> &Access;

    /// Returns how far bounds may be missed here, and why.
    fn timing_tolerance(&self) -> TimingTolerance;

    /// Tells what is wrong with the cluster itself; asked when requests fail, and ends the scenario.
    fn trouble(&self) -> Option<String> {
        None
    }

    /// Makes a machine and starts its kubelet unless the specification says otherwise.
    fn add_machine(&mut self, spec: MachineSpec) -> FallibleFuture<'_, ()> {
        cannot(format!("machine {:?} cannot be made here", spec.name.as_str()))
    }

    /// Does something to a machine or its kubelet.
    fn machine_do<'a>(&'a mut self, name: &'a str, action: MachineAction) -> FallibleFuture<'a, ()> {
        cannot(format!("{action:?} cannot be done to {name:?} here"))
    }

    /// Lays a rule on the network for an action; [`Self::effect`] tells later what it met.
    fn add_rule(&mut self, id: ActionId, fault: Fault) -> FallibleFuture<'_, ()> {
        cannot(format!("{:?} cannot be cut off here (action {})", fault.from, id.0))
    }

    /// Takes a rule away by its number.
    fn remove_rule(&mut self, id: RuleId) -> FallibleFuture<'_, ()> {
        cannot(format!("there is no rule {}", id.0))
    }

    /// Takes away every rule that was laid on a client's connection.
    fn heal(&mut self, endpoint: Endpoint) -> FallibleFuture<'_, ()> {
        cannot(format!("{endpoint:?} cannot be healed here"))
    }

    /// Stops or starts a controller.
    fn controller_do<'a>(&'a mut self, name: &'a str, action: ControllerAction) -> FallibleFuture<'a, ()> {
        cannot(format!("{action:?} cannot be done to controller {name:?} here"))
    }

    /// Tells what came of an action that was to have an effect.
    fn effect(&mut self, id: ActionId) -> FallibleFuture<'_, FaultEffect> {
        let _ = id;
        Box::pin(async { Ok(FaultEffect::Ended) })
    }

    /// Notes that a Node or a namespace is about to be made, which the driver removes at the end: so that others can if
    /// it does not come to that.
    ///
    /// # Errors
    /// It cannot be noted; it must not be made then.
    fn note_creation(&mut self, resource: &Resource, name: &str) -> Result<(), String> {
        let _ = (resource, name);
        Ok(())
    }

    /// Notes that everything of which [`Self::note_creation`] was told is removed.
    ///
    /// # Errors
    /// It cannot be noted.
    fn note_removal(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Shows a machine as its own tools show it; `Null` if it shows nothing.
    fn describe<'a>(&'a mut self, name: &'a str) -> FallibleFuture<'a, Json> {
        let _ = name;
        Box::pin(async { Ok(Json::Null) })
    }

    /// Removes what was made for the scenario; the text says what could not be removed.
    fn clean_up(self: Box<Self>) -> FallibleFuture<'static, ()>;
}

fn cannot<'a, T: 'a>(why: String) -> FallibleFuture<'a, T> {
    Box::pin(async move { Err(why) })
}
