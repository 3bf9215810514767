//! A machine: the host under a kubelet.

mod action;
mod behaviour;
mod spec;
pub(crate) mod values;

use alloc::string::String;

use jiff::Timestamp;

use super::controllers::Context;
use super::{Component, Deadline, Outbox, Output};
use crate::network::ToClient;
use crate::objects::{Json, Text};

pub use action::{MACHINE_ACTIONS, MachineAction};
pub use behaviour::{ContainerBehaviour, PodBehaviour, StopsAfter};
pub use spec::{Address, Hardware, KubeletSpec, MachineSpec};

/// Why a machine or its kubelet refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MachineError {
    /// The kubelet refuses to start, with the message that it prints.
    #[error("{0}")]
    KubeletRefuses(String),
    /// The action does not fit the machine's state.
    #[error("{0}")]
    Misuse(String),
}

/// A machine and its kubelet.
#[derive(Debug)]
pub struct Machine {
    spec: MachineSpec,
    outbox: Outbox,
}

impl Machine {
    /// Powers a machine on and starts its kubelet.
    ///
    /// # Errors
    /// The specification is wrong, or the kubelet refuses to start.
    pub fn new(spec: MachineSpec, _context: Context, _now: Timestamp) -> Result<Self, MachineError> {
        Ok(Self { spec, outbox: Outbox::default() })
    }

    /// Returns the machine's name.
    #[must_use]
    pub fn name(&self) -> &Text {
        &self.spec.name
    }

    /// Lets something happen to the machine.
    ///
    /// # Errors
    /// The action does not fit the machine's state, or the kubelet refuses to start.
    pub fn handle_action(&mut self, _action: MachineAction, _now: Timestamp) -> Result<(), MachineError> {
        Ok(())
    }

    /// Shows the machine as `GET machines/NAME` does.
    #[must_use]
    pub fn describe(&self, _now: Timestamp) -> Json {
        Json::object()
    }
}

impl Component for Machine {
    fn handle_message(&mut self, _message: ToClient, _now: Timestamp) {}
    fn handle_timeout(&mut self, _now: Timestamp) {}
    fn poll_output(&mut self) -> Option<Output> {
        self.outbox.poll()
    }
    fn next_deadline(&self) -> Option<Deadline> {
        None
    }
}
