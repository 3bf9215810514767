//! Runs of `kubectl drain` on the simulated cluster, and what a scenario sees of them.
//!
//! Inputs: commands. Outputs: the drains with what they have printed. A drain is a client `user/drain-1`,
//! `user/drain-2` and so on, which rules may name.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

use super::Simulation;
use super::actor::Actor;
use crate::components::drain::{Drain, DrainCommand};
use crate::network::Identity;
use crate::objects::Text;
use crate::scenario::Observation;

impl Simulation {
    /// Starts `kubectl drain` and returns its number, counting up from 1.
    pub fn drain(&mut self, command: DrainCommand) -> usize {
        self.settle();
        let number = self.drains.len() + 1;
        let drain = Drain::new(command, Identity::admin(), self.settings.clone(), self.now);
        let client = self.event_loop.add(Text::from(format!("user/drain-{number}")), Actor::Drain(Box::new(drain)));
        self.drains.push(client);
        self.event_loop.pump(client, self.now);
        self.settle();
        number
    }

    /// Returns all drains, in the order in which they were started.
    pub fn drains(&self) -> impl DoubleEndedIterator<Item = &Drain> {
        self.drains.iter().filter_map(|client| match self.event_loop.get(*client) {
            Actor::Drain(drain) => Some(&**drain),
            _ => None,
        })
    }
}

/// What a run has been told of the drain that was started last.
#[derive(Clone, Default)]
pub(super) struct DrainTold {
    printed: usize,
    has_ended: bool,
}

impl DrainTold {
    /// Returns what is new.
    pub(super) fn news(&mut self, simulation: &Simulation) -> Vec<Observation> {
        let Some(drain) = simulation.drains().next_back() else { return Vec::new() };
        let printed = drain.printed().get(self.printed..).unwrap_or_default();
        let mut news: Vec<Observation> = printed.iter().map(|line| Observation::Printed(line.clone())).collect();
        self.printed += news.len();
        if let Some(code) = drain.exit().filter(|_| !self.has_ended) {
            self.has_ended = true;
            news.push(Observation::Exited(code));
        }
        news
    }
}
