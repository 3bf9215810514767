//! The user's own actions and looks by name, and the view of the cluster that they get.
//!
//! Inputs: functions, registered under names. Outputs: their results, for the simulator. Invariant: a function that
//! panics fails its step with a text, and not the program.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use nodeproof_core::network::{Identity, MERGE_PATCH, Target, Verb};
use nodeproof_core::objects::{Json, ObjectKey, Text};
use nodeproof_core::scenario::{Action, OwnSeen as Seen};
use nodeproof_core::sim::{self, Simulation};

use super::manifest;

/// The actions and looks of a user's own steps, by name.
#[derive(Debug, Clone, Default)]
pub struct Own(sim::Own);

impl Own {
    /// Begins without any action or look.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an action, which [`own_action`](super::own::Draft::own_action) names. It returns an error text if it cannot
    /// be done; its step then fails with that text.
    #[must_use]
    pub fn action(
        mut self,
        name: &str,
        action: impl Fn(&mut Cluster<'_>, &Json) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        let guarded = move |simulation: &mut Simulation, body: &Json| {
            let run = || action(&mut Cluster { simulation }, body);
            catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| Err(broken(payload.as_ref())))
        };
        self.0.add_action(name, Arc::new(guarded));
        self
    }

    /// Adds a look, which [`own_becomes`](super::own::Draft::own_becomes) and
    /// [`own_keeps`](super::own::Draft::own_keeps) name.
    ///
    /// It is called after every change in the cluster, so it should be fast. It must depend only on the cluster and its
    /// parameters: the same seed must give the same verdict.
    #[must_use]
    pub fn look(
        mut self,
        name: &str,
        look: impl Fn(&ClusterReader<'_>, &Json) -> Seen + Send + Sync + 'static,
    ) -> Self {
        let guarded = move |simulation: &Simulation, body: &Json| {
            let run = || look(&ClusterReader { simulation }, body);
            let broken = |payload: Box<dyn Any + Send>| Seen { holds: false, seen: broken(payload.as_ref()) };
            catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(broken)
        };
        self.0.add_look(name, Arc::new(guarded));
        self
    }

    /// Returns the functions for the simulator.
    pub(crate) const fn functions(&self) -> &sim::Own {
        &self.0
    }
}

fn broken(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
    format!("its function broke down: {text}")
}

/// The cluster as an action of the user's own can use it.
pub struct Cluster<'a> {
    simulation: &'a mut Simulation,
}

impl Cluster<'_> {
    /// Returns the cluster to look at.
    #[must_use]
    pub fn look(&self) -> ClusterReader<'_> {
        ClusterReader { simulation: self.simulation }
    }

    /// Sends a request as an administrator, as in `send("PATCH", "/api/v1/nodes/worker-1", patch)`, and returns the
    /// body of the answer. A patch is a merge patch.
    ///
    /// # Errors
    /// The path is not valid, the request was refused, or there was no answer; the text says which.
    pub fn send(&mut self, method: &str, path: &str, body: Json) -> Result<Json, String> {
        let mut call = manifest::request(method, path)?;
        if call.verb == Verb::Patch {
            call = call.header("content-type", Text::of(MERGE_PATCH));
        }
        if !body.is_null() {
            call = call.body(body);
        }
        let answer = self.simulation.request(Identity::admin(), call).map_err(|error| error.to_string())?;
        if answer.is_success() { Ok(answer.body()) } else { Err(answer.message()) }
    }

    /// Does an action that the simulator knows: a machine loses its power, a network rule is added.
    ///
    /// # Errors
    /// It cannot be done; the text says why.
    pub fn act(&mut self, action: Action) -> Result<(), String> {
        let text = |error: sim::SimError| error.to_string();
        match action {
            Action::Api { identity, call } => {
                let answer = self.simulation.request(identity, call).map_err(|error| error.to_string())?;
                if answer.is_success() { Ok(()) } else { Err(answer.message()) }
            }
            Action::Http(call) => self.simulation.call_http(call).map(drop),
            Action::FromPod { .. } => Err("a step of one's own sends requests itself".to_owned()),
            Action::Describe(nodes) => {
                drop(self.simulation.describe_nodes(&nodes));
                Ok(())
            }
            Action::AddMachine(spec) => self.simulation.add_machine(spec).map_err(text),
            Action::Machine { name, action } => self.simulation.machine_do(&name, action).map_err(text),
            Action::AddRule(fault) => {
                self.simulation.add_rule(fault);
                Ok(())
            }
            Action::RemoveRule(rule) => self.simulation.remove_rule(rule).map(drop).map_err(text),
            Action::Controller { name, action } => self.simulation.controller_do(&name, &action).map_err(text),
            Action::Drain(command) => {
                self.simulation.drain(command);
                Ok(())
            }
            Action::Cloud(action) => {
                self.simulation.cloud_do(action);
                Ok(())
            }
            Action::Custom { name, .. } => Err(format!("an action of one's own calls no other: {:?}", name.as_str())),
        }
    }
}

/// The cluster at the present instant, for reading.
pub struct ClusterReader<'a> {
    simulation: &'a Simulation,
}

impl ClusterReader<'_> {
    /// Returns the instant.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.simulation.now()
    }

    /// Returns the object at a path of the API, as in `get("/api/v1/nodes/worker-1")`; `None` if it is not there.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<Json> {
        let call = manifest::request("GET", path).ok()?;
        let Target::Resource { resource, namespace, name, .. } = &call.target else { return None };
        let key = match namespace.as_str() {
            "" => ObjectKey::cluster(name.clone()),
            _ => ObjectKey::namespaced(namespace.clone(), name.clone()),
        };
        self.simulation.api().object(resource, &key).map(|object| object.json())
    }

    /// Returns the objects at a path of the API in order of their names, as in `list("/api/v1/pods")`.
    #[must_use]
    pub fn list(&self, path: &str) -> Vec<Json> {
        let Ok(call) = manifest::request("GET", path) else { return Vec::new() };
        let Target::Resource { resource, namespace, .. } = &call.target else { return Vec::new() };
        let objects = self.simulation.api().objects(resource).into_iter();
        let here = objects.filter(|object| namespace.is_empty() || object.key().namespace == *namespace);
        here.map(|object| object.json()).collect()
    }

    /// Returns the state of the machine of a Node: power, kubelet, containers.
    #[must_use]
    pub fn machine(&self, node: &str) -> Option<Json> {
        self.simulation.machine(node).map(|machine| machine.describe(self.simulation.now()))
    }
}

/// What the compilation of steps needs beside their words.
#[derive(Debug, Clone)]
pub struct CompileContext {
    /// The user's own actions and looks.
    pub own: Own,
    /// The files that scenarios refer to. Default those of the directory `fixtures`.
    pub fixtures: Fixtures,
}

/// Where the files are that scenarios refer to.
#[derive(Debug, Clone)]
pub enum Fixtures {
    /// Below a directory.
    Directory(PathBuf),
    /// In the program: a function from a file's name to its text.
    BuiltIn(fn(&str) -> Option<String>),
}

impl Default for CompileContext {
    fn default() -> Self {
        Self { own: Own::default(), fixtures: Fixtures::Directory(PathBuf::from("fixtures")) }
    }
}
