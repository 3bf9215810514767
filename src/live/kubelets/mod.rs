//! Hollow nodes: the simulator's kubelets and machines in real time against a real API server.
//!
//! Similar to kubemark and KWOK, but with kubelets that send their own requests: each has an identity of its own, and
//! faults on its machine and connection are those of the simulator. Thousands of them need one thread and one timer.
//! Inputs: machines, actions, rules. Outputs: requests to the API server, decisions. Time comes from [`Clock`] alone.
//! Left out on purpose: ports of the kubelet (logs, exec), and containers that run anything.

mod credentials;
mod engine;
mod transport;
mod wire;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use jiff::Timestamp;
use nodeproof_core::components::RecordedDecision;
use nodeproof_core::components::machine::{Machine, MachineAction, MachineSpec};
use nodeproof_core::components::registry::ATTACHER;
use nodeproof_core::network::{ClientId, Fault, Identity, Rule, RuleId, ToClient};
use nodeproof_core::objects::{Json, Text};
use nodeproof_core::profile::Settings;
use tokio::sync::Notify;

use super::Clock;
use super::timing::SLEEP_MAX;

pub use credentials::{Administrator, CredentialsError, Server, Signer};
pub use engine::HollowError;
use engine::{Engine, TransportCommand};
use transport::Transport;

/// The hollow nodes of a process. Clones share them.
#[derive(Clone, Debug)]
pub struct HollowNodes(Arc<Shared>);

/// State that the tasks of all nodes share.
#[derive(Debug)]
struct Shared {
    engine: Mutex<EngineState>,
    transport: Transport,
    clock: Clock,
    runtime: tokio::runtime::Handle,
    /// Notifies the timer task of a deadline that is earlier than the one it sleeps for.
    earlier: Arc<Notify>,
}

#[derive(Debug)]
struct EngineState {
    engine: Engine,
    /// The deadline that the timer task sleeps for.
    sleeps_until: Option<Timestamp>,
}

impl HollowNodes {
    /// Prepares the nodes of a cluster. It must be called within a tokio runtime, on which all of them live from then
    /// on.
    ///
    /// `settings` are the release and the kubelets' flags, `seed` chooses their phases.
    #[must_use]
    pub fn new(server: Server, signer: Signer, settings: Settings, seed: u64, clock: Clock) -> Self {
        let shared = Arc::new(Shared {
            engine: Mutex::new(EngineState { engine: Engine::new(settings, seed, clock.now()), sleeps_until: None }),
            transport: Transport::new(server, signer),
            clock,
            runtime: tokio::runtime::Handle::current(),
            earlier: Arc::default(),
        });
        shared.runtime.spawn(keep_time(Arc::downgrade(&shared), shared.earlier.clone()));
        Self(shared)
    }

    /// Powers a machine on and starts its kubelet, once it has the credentials of its node.
    ///
    /// # Errors
    /// The name is taken, the specification is wrong, the kubelet refuses to start, or nobody signs its certificate.
    pub async fn start(&self, spec: MachineSpec) -> Result<(), HollowError> {
        self.prove(&Identity::kubelet(spec.node_name.as_ref().unwrap_or(&spec.name))).await?;
        self.0.turn(|engine, now| engine.add(spec, now))
    }

    /// Gets the credentials of a client before it starts.
    async fn prove(&self, identity: &Identity) -> Result<(), HollowError> {
        let proven = self.0.transport.prove(identity).await;
        let refused = |error: CredentialsError| HollowError::NoCredentials {
            user: identity.user.clone(),
            why: error.to_string(),
        };
        proven.map(drop).map_err(refused)
    }

    /// Starts the attacher of CSI drivers, which belongs to no program of Kubernetes: it attaches what
    /// VolumeAttachments ask for.
    ///
    /// # Errors
    /// Nobody signs its certificate.
    pub async fn start_attacher(&self) -> Result<(), HollowError> {
        self.prove(&Identity::driver(ATTACHER)).await?;
        self.0.turn(|engine, now| engine.start_controller(ATTACHER, now));
        Ok(())
    }

    /// Removes a machine as if it had lost its power; its Node stays.
    ///
    /// # Errors
    /// There is no such machine.
    pub fn remove(&self, name: &str) -> Result<(), HollowError> {
        self.0.turn(|engine, now| engine.remove(name, now))
    }

    /// Does an action on a machine.
    ///
    /// # Errors
    /// There is no such machine, or it refuses.
    pub fn perform(&self, name: &str, action: MachineAction) -> Result<(), HollowError> {
        self.0.turn(|engine, now| engine.perform(name, action, now))
    }

    /// Checks that what the kubelet of a machine was told is modelled.
    ///
    /// # Errors
    /// It was told something that it accepts and whose effect is not modelled.
    pub fn check_modelled(&self, name: &str) -> Result<(), HollowError> {
        let state = self.0.locked();
        let machine = state.engine.machines().find(|machine| machine.name().as_str() == name);
        Ok(machine.map_or(Ok(()), Machine::check_modelled)?)
    }

    /// Adds a rule on connections of the nodes, whose endpoints are `machine/NAME`.
    pub fn add_rule(&self, fault: Fault) -> RuleId {
        self.0.turn(|engine, now| engine.add_rule(fault, now))
    }

    /// Removes a rule and returns it with what it met.
    ///
    /// # Errors
    /// There is no such rule.
    pub fn remove_rule(&self, id: RuleId) -> Result<Rule, HollowError> {
        self.0.turn(|engine, now| engine.remove_rule(id, now))
    }

    /// Returns the rules with what they met, each with whether it is in force or has ended by itself.
    #[must_use]
    pub fn rules(&self) -> Vec<(Rule, bool)> {
        let mut rules: Vec<_> = self.0.locked().engine.rules().map(|(rule, active)| (rule.clone(), active)).collect();
        rules.sort_by_key(|(rule, _)| rule.id);
        rules
    }

    /// Returns how many machines have renewed their Lease and posted their status at least once.
    #[must_use]
    pub fn heartbeating(&self) -> usize {
        let beats = |machine: &Machine| machine.kubelet().map(nodeproof_core::components::kubelet::Kubelet::heartbeats);
        let state = self.0.locked();
        state.engine.machines().filter(|machine| matches!(beats(machine), Some((Some(_), Some(_))))).count()
    }

    /// Returns the machine that runs the containers of a pod, and their names.
    #[must_use]
    pub fn machine_of(&self, namespace: &str, pod: &str) -> Option<(Text, Vec<Text>)> {
        let now = self.0.clock.now();
        let state = self.0.locked();
        state.engine.machines().find_map(|machine| {
            let shown = machine.describe(now);
            let text = |container: &Json, field: &str| container.get(field).as_text().cloned().unwrap_or_default();
            let own = shown.get("containers").items().iter();
            let own = own.filter(|own| text(own, "namespace") == *namespace && text(own, "pod") == *pod);
            let own = own.filter(|own| own.get("removedAt").is_null());
            let containers: Vec<Text> = own.map(|own| text(own, "container")).collect();
            (!containers.is_empty()).then(|| (machine.name().clone(), containers))
        })
    }

    /// Returns the names of the machines, in the order in which they were added.
    #[must_use]
    pub fn names(&self) -> Vec<Text> {
        self.0.locked().engine.machines().map(|machine| machine.name().clone()).collect()
    }

    /// Returns the name of the Node of each machine.
    #[must_use]
    pub fn node_names(&self) -> Vec<Text> {
        self.0.locked().engine.machines().map(|machine| machine.node_name()).collect()
    }

    /// Returns a machine as the control interface prints it; `None` if there is none of that name.
    #[must_use]
    pub fn describe(&self, name: &str) -> Option<Json> {
        let (mut shown, client) = {
            let state = self.0.locked();
            (state.engine.describe(name, self.0.clock.now())?, state.engine.client(name).ok()?)
        };
        if let Some(trouble) = self.0.transport.trouble(client) {
            shown.set(&["lastTransportError"], trouble);
        }
        Some(shown)
    }

    /// Returns the decisions of the kubelets so far, in order.
    #[must_use]
    pub fn decisions(&self) -> Vec<RecordedDecision> {
        self.0.locked().engine.record().decisions().to_vec()
    }

    /// Returns the clock of all nodes.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.0.clock
    }

    /// Removes all machines, whose Nodes stay, and ends the attacher.
    pub fn stop(&self) {
        self.0.turn(|engine, now| engine.stop_controller(ATTACHER, now));
        for name in self.names() {
            // The machine may have been removed in the meantime.
            drop(self.remove(&name));
        }
    }
}

impl Shared {
    fn locked(&self) -> MutexGuard<'_, EngineState> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the engine one input and carries out the commands that follow.
    fn turn<T>(self: &Arc<Self>, input: impl FnOnce(&mut Engine, Timestamp) -> T) -> T {
        let mut commands = Vec::new();
        let done = {
            let mut state = self.locked();
            // Read while the lock is held, so that the engine's time never decreases.
            let now = self.clock.now();
            let done = input(&mut state.engine, now);
            commands.extend(std::iter::from_fn(|| state.engine.poll_command()));
            let next = state.engine.next_deadline();
            if next.is_some_and(|next| state.sleeps_until.is_none_or(|until| next < until)) {
                state.sleeps_until = next;
                self.earlier.notify_one();
            }
            done
        };
        for command in commands {
            match command {
                TransportCommand::Send { client, id, identity, call, patience } => {
                    self.send((client, id), &identity, call, patience);
                }
                TransportCommand::Cancel(client, id) => self.cancel(client, id),
                TransportCommand::Forget(client) => self.forget(client),
            }
        }
        done
    }

    /// Delivers a message to a client.
    fn deliver(self: &Arc<Self>, client: ClientId, message: ToClient) {
        self.turn(|engine, now| engine.handle_message(client, message, now));
    }
}

/// The timer task: wakes the engine at its deadlines, as long as the nodes exist.
async fn keep_time(shared: Weak<Shared>, earlier: Arc<Notify>) {
    loop {
        let until = {
            let Some(shared) = shared.upgrade() else { return };
            let mut state = shared.locked();
            state.sleeps_until = state.engine.next_deadline();
            state.sleeps_until.map(|at| shared.clock.until(at))
        };
        // The sleep is limited, so that this task ends with the nodes.
        let rest = tokio::time::sleep(until.unwrap_or(SLEEP_MAX).min(SLEEP_MAX));
        tokio::select! {
            () = rest => {}
            () = earlier.notified() => {}
        }
        let Some(shared) = shared.upgrade() else { return };
        shared.turn(|engine, now| engine.handle_timeout(now));
    }
}
