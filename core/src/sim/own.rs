//! The actions and looks of a user's own steps in a simulated cluster.
//!
//! Inputs: functions by name. Outputs: their effects, and what looks show when it changes. A scenario has only names
//! and parameters ([`Action::Custom`], [`OwnLook`]), so that it stays data. A look is called after each change, and
//! must depend on the cluster alone.
//!
//! [`Action::Custom`]: crate::scenario::Action::Custom

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::Simulation;
use crate::objects::{Json, Text};
use crate::scenario::{OwnLook, OwnSeen, Scenario, Subject};

/// Does something; the text says why it cannot be done.
pub type OwnAction = dyn Fn(&mut Simulation, &Json) -> Result<(), String> + Send + Sync;
/// Looks for something.
pub type OwnLookFunction = dyn Fn(&Simulation, &Json) -> OwnSeen + Send + Sync;

/// The functions of a user's own steps, by name.
#[derive(Clone, Default)]
pub struct Own {
    actions: BTreeMap<Text, Arc<OwnAction>>,
    looks: BTreeMap<Text, Arc<OwnLookFunction>>,
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Own").field("actions", &self.actions.keys()).field("looks", &self.looks.keys()).finish()
    }
}

impl Own {
    /// Adds an action; one of the same name is replaced.
    pub fn add_action(&mut self, name: &str, action: Arc<OwnAction>) {
        self.actions.insert(Text::from(name), action);
    }

    /// Adds a look; one of the same name is replaced.
    pub fn add_look(&mut self, name: &str, look: Arc<OwnLookFunction>) {
        self.looks.insert(Text::from(name), look);
    }

    /// Tells whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.actions.is_empty() && self.looks.is_empty()
    }

    /// Returns the names of the actions.
    pub fn actions(&self) -> impl Iterator<Item = &str> {
        self.actions.keys().map(Text::as_str)
    }

    /// Returns the names of the looks.
    pub fn looks(&self) -> impl Iterator<Item = &str> {
        self.looks.keys().map(Text::as_str)
    }

    /// Does something; an error says why not.
    pub(super) fn act(&self, name: &Text, simulation: &mut Simulation, body: &Json) -> Result<(), String> {
        let Some(action) = self.actions.get(name) else {
            return Err(alloc::format!("there is no action {:?}", name.as_str()));
        };
        action(simulation, body)
    }
}

/// The looks of one scenario.
#[derive(Default)]
pub(super) struct Looks(Vec<ActiveLook>);

struct ActiveLook {
    look: OwnLook,
    body: Json,
    function: Arc<OwnLookFunction>,
    /// What was seen last.
    last: Option<OwnSeen>,
}

impl Looks {
    /// Tells whether nothing is looked at.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Finds the looks that a scenario asks for.
    pub(super) fn of(scenario: &Scenario, own: &Own) -> Self {
        let mut looks: Vec<ActiveLook> = Vec::new();
        for fact in scenario.facts() {
            let Subject::Own(look) = &fact.subject else { continue };
            let is_new = looks.iter().all(|known| known.look != *look);
            if let (true, Some(function)) = (is_new, own.looks.get(&look.name)) {
                let body = Json::parse(&look.body).unwrap_or_default();
                looks.push(ActiveLook { look: look.clone(), body, function: function.clone(), last: None });
            }
        }
        Self(looks)
    }

    /// Returns the looks whose result has changed.
    pub(super) fn changed(&mut self, simulation: &Simulation) -> Vec<(OwnLook, OwnSeen)> {
        let mut changed = Vec::new();
        for looking in &mut self.0 {
            let seen = (looking.function)(simulation, &looking.body);
            if looking.last.as_ref() != Some(&seen) {
                looking.last = Some(seen.clone());
                changed.push((looking.look.clone(), seen));
            }
        }
        changed
    }
}
