//! The controllers of the simulator: started, stopped and made to work; those of a program that elects a leader run
//! while its process leads.
//!
//! Inputs: actions on controllers and programs, elections. Outputs: controllers that run.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

use super::actor::Actor;
use super::{SimError, Simulation};
use crate::components::controller::{Context, Controller, ControllerAction};
use crate::components::leader_election::LeaderElector;
use crate::components::registry::{self, ELECTING};
use crate::network::ClientId;
use crate::objects::Text;

impl Simulation {
    /// Returns the controllers: name, and the controller itself if it runs.
    pub fn controllers(&self) -> impl Iterator<Item = (&'static str, Option<&dyn Controller>)> {
        self.event_loop.iter().filter_map(|actor| match actor {
            Actor::Controller(name, controller) => Some((*name, controller.as_deref())),
            _ => None,
        })
    }

    /// Returns the election of the leader among the processes of the program that a controller belongs to, if there is
    /// one.
    #[must_use]
    pub fn election_of(&self, controller: &str) -> Option<&LeaderElector> {
        let program = registry::electing_program_of(controller)?;
        let (_, client, _) = self.elections.iter().find(|(own, ..)| *own == program)?;
        if let Actor::Election(election) = self.event_loop.get(*client) { Some(election) } else { None }
    }

    /// Performs an action on a controller, or on the process of a program that elects a leader.
    ///
    /// # Errors
    /// There is no such controller, or it has no such loop.
    pub fn controller_do(&mut self, name: &str, action: &ControllerAction) -> Result<(), SimError> {
        self.settle();
        let is_process = self.election_do(name, action);
        let missing = || SimError::NoController(Text::from(name));
        let client = match self.event_loop.find(&format!("controller/{name}")) {
            Some(client) => client,
            None if is_process || ELECTING.contains(&name) => {
                self.settle();
                return Ok(());
            }
            None => return Err(missing()),
        };
        if let Some(part) = registry::part_of(name, &self.settings)
            && !matches!(action, ControllerAction::RunOnce(_))
        {
            self.controller_do(part, action)?;
        }
        if matches!(action, ControllerAction::Stop | ControllerAction::Restart) {
            self.stop_controller(client);
        }
        match action {
            ControllerAction::Start | ControllerAction::Restart => {
                self.stopped.remove(name);
                self.start_controller(name);
            }
            ControllerAction::Stop => drop(self.stopped.insert(Text::from(name))),
            ControllerAction::RunOnce(which) => {
                let now = self.now;
                let ran = match self.event_loop.get_mut(client) {
                    Actor::Controller(_, Some(controller)) => controller.run_once(which, now),
                    _ => false,
                };
                if !ran {
                    return Err(SimError::NoLoop(Text::from(name), which.clone()));
                }
                self.event_loop.pump(client, now);
            }
        }
        self.settle();
        Ok(())
    }

    /// Starts the processes of the programs that elect a leader.
    pub(super) fn begin_elections(&mut self) {
        for program in ELECTING {
            let chance = self.chance.fork("leader-election").fork(program);
            let Some(election) = LeaderElector::new(program, &self.settings, chance, self.now) else { continue };
            let path = Text::from(format!("leader-election/{program}"));
            let client = self.event_loop.add(path, Actor::Election(Box::new(election)));
            self.elections.push((program, client, false));
            self.event_loop.pump(client, self.now);
        }
    }

    /// Starts and stops controllers as their program's process has become the leader, or is it no longer.
    pub(super) fn follow_elections(&mut self) {
        for at in 0..self.elections.len() {
            let (program, client, runs) = self.elections[at];
            let Actor::Election(election) = self.event_loop.get(client) else { continue };
            let leads = election.leads();
            if leads == runs {
                continue;
            }
            self.elections[at].2 = leads;
            let own = |name: &&&'static str| registry::electing_program_of(name) == Some(program);
            let names = self.options.controllers.iter().filter(own).filter(|name| !self.stopped.contains(**name));
            let names: Vec<&'static str> = names.copied().collect();
            for name in names {
                match self.event_loop.find(&format!("controller/{name}")) {
                    Some(client) if !leads => self.stop_controller(client),
                    _ => self.start_controller(name),
                }
            }
            self.settle();
        }
    }

    /// Performs an action on the process of a program; false if it elects no leader.
    fn election_do(&mut self, program: &str, action: &ControllerAction) -> bool {
        let Some((_, client, _)) = self.elections.iter().copied().find(|(own, ..)| *own == program) else {
            return false;
        };
        let now = self.now;
        let Actor::Election(election) = self.event_loop.get_mut(client) else { return false };
        if matches!(action, ControllerAction::Stop | ControllerAction::Restart) {
            election.stop();
            self.event_loop.pump(client, now);
        }
        if matches!(action, ControllerAction::Start | ControllerAction::Restart)
            && let Actor::Election(election) = self.event_loop.get_mut(client)
        {
            election.start(now);
            self.event_loop.pump(client, now);
        }
        self.follow_elections();
        true
    }

    pub(super) fn context(&self, name: &str) -> Context {
        Context { settings: self.settings.clone(), chance: self.chance.fork(name) }
    }

    /// Starts a controller that does not run, unless another process of its program may lead.
    pub(super) fn start_controller(&mut self, name: &str) {
        if self.election_of(name).is_some_and(|election| !election.leads()) {
            return;
        }
        let Some(client) = self.event_loop.find(&format!("controller/{name}")) else { return };
        let Actor::Controller(name, None) = *self.event_loop.get(client) else { return };
        let controller = registry::start(name, self.context(name), self.now);
        *self.event_loop.get_mut(client) = Actor::Controller(name, controller);
        self.event_loop.pump(client, self.now);
    }

    fn stop_controller(&mut self, client: ClientId) {
        if let Actor::Controller(_, controller) = self.event_loop.get_mut(client) {
            *controller = None;
            self.event_loop.disconnect(client);
        }
    }
}
