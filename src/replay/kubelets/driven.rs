//! A recording's machine in the event loop.
//!
//! Inputs: messages, time. Outputs: those of the machine; nothing while there is none.

use jiff::Timestamp;
use nodeproof_core::components::machine::Machine;
use nodeproof_core::components::{Component, Deadline, Output};
use nodeproof_core::event_loop::Process;
use nodeproof_core::network::{Ask, Request, ToClient};

/// A machine in the event loop.
pub(super) struct Driven(pub(super) Option<Box<Machine>>);

impl Component for Driven {
    fn handle_message(&mut self, message: ToClient, now: Timestamp) {
        if let Some(machine) = &mut self.0 {
            machine.handle_message(message, now);
        }
    }

    fn handle_timeout(&mut self, now: Timestamp) {
        if let Some(machine) = &mut self.0 {
            machine.handle_timeout(now);
        }
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.0.as_mut()?.poll_output()
    }

    fn next_deadline(&self) -> Option<Deadline> {
        self.0.as_ref()?.next_deadline()
    }
}

impl Process for Driven {
    fn complete(&self, mut request: Request) -> Option<Request> {
        request.ask = Ask::Call(request.ask.written_out(self.0.as_ref()?.lease())?);
        Some(request)
    }
}
