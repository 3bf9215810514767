//! The components of the simulator's event loop: controllers, elections of leaders, machines, and users (people and
//! tests that send requests).
//!
//! Inputs and outputs are those of a [`Component`]; a stopped controller and a user have no outputs. Invariant: a
//! kubelet whose loops the driver runs gets them back before its machine takes an input.

use alloc::boxed::Box;

use jiff::Timestamp;

use super::user::User;
use crate::components::controller::Controller;
use crate::components::drain::Drain;
use crate::components::kubelet::IdleLoops;
use crate::components::leader_election::LeaderElector;
use crate::components::machine::Machine;
use crate::components::{Component, Deadline, Output};
use crate::event_loop::Process;
use crate::network::ToClient;

#[derive(Clone)]
pub(super) enum Actor {
    /// A controller; `None` while it does not run.
    Controller(&'static str, Option<Box<dyn Controller>>),
    /// The election of a program's leader.
    Election(Box<LeaderElector>),
    /// A machine, and the loops of its kubelet while the driver runs them.
    Machine(Box<Machine>, Option<Box<IdleLoops>>),
    /// A person who runs `kubectl drain`.
    Drain(Box<Drain>),
    /// A person or a test; its answers are kept until they are fetched.
    User(Box<User>),
}

impl Actor {
    /// Returns the machine, if it is one.
    pub(super) fn machine(&self) -> Option<&Machine> {
        if let Self::Machine(machine, _) = self { Some(machine) } else { None }
    }

    /// Gives a kubelet its loops back; the status ticks that were due before an instant are done.
    pub(super) fn return_loops(&mut self, end: Timestamp) {
        if let Self::Machine(machine, loops) = self
            && let Some(mut loops) = loops.take()
        {
            loops.tick_until(end);
            machine.take_idle_loops(&loops);
        }
    }
}

impl Process for Actor {}

impl Component for Actor {
    fn handle_message(&mut self, message: ToClient, now: Timestamp) {
        // A status tick that is due at this instant comes after the current input.
        self.return_loops(now);
        match self {
            Self::Controller(_, Some(controller)) => controller.handle_message(message, now),
            Self::Machine(machine, _) => machine.handle_message(message, now),
            Self::Drain(drain) => drain.handle_message(message, now),
            Self::Election(election) => election.handle_message(message, now),
            Self::User(user) => user.receive(message),
            Self::Controller(_, None) => {}
        }
    }

    fn handle_timeout(&mut self, now: Timestamp) {
        self.return_loops(now);
        match self {
            Self::Controller(_, Some(controller)) => controller.handle_timeout(now),
            Self::Machine(machine, _) => machine.handle_timeout(now),
            Self::Drain(drain) => drain.handle_timeout(now),
            Self::Election(election) => election.handle_timeout(now),
            Self::Controller(_, None) | Self::User(_) => {}
        }
    }

    fn poll_output(&mut self) -> Option<Output> {
        match self {
            Self::Controller(_, Some(controller)) => controller.poll_output(),
            Self::Machine(machine, _) => machine.poll_output(),
            Self::Drain(drain) => drain.poll_output(),
            Self::Election(election) => election.poll_output(),
            Self::Controller(_, None) | Self::User(_) => None,
        }
    }

    fn next_deadline(&self) -> Option<Deadline> {
        match self {
            Self::Controller(_, Some(controller)) => controller.next_deadline(),
            Self::Machine(_, Some(loops)) => Some(Deadline { at: loops.next_deadline(), reason: "renew lease" }),
            Self::Machine(machine, None) => machine.next_deadline(),
            Self::Drain(drain) => drain.next_deadline(),
            Self::Election(election) => election.next_deadline(),
            Self::Controller(_, None) | Self::User(_) => None,
        }
    }
}
