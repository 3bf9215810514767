//! The watches that a scenario itself opens.
//!
//! Inputs: the requests of `the user watches …`. Outputs: the answers to them, and what the watches show.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::Simulation;
use crate::network::{Call, ClientId, Identity, RequestId};
use crate::objects::Text;
use crate::scenario::{ActionId, AnswerSeen, WatchedEvent};

/// The open watches, by the actions that opened them.
#[derive(Clone, Default)]
pub(super) struct Watches(Vec<(ActionId, (ClientId, RequestId))>);

impl Watches {
    /// Opens a watch; returns the answer to its request.
    pub(super) fn open(
        &mut self,
        simulation: &mut Simulation,
        id: ActionId,
        identity: Arc<Identity>,
        call: Call,
    ) -> AnswerSeen {
        match simulation.watch(identity, call) {
            Ok(watch) => {
                self.0.push((id, watch));
                AnswerSeen { code: 200, ..AnswerSeen::default() }
            }
            Err(answer) => AnswerSeen::of(&Ok(*answer)),
        }
    }

    /// Returns what the watches have shown since the last look.
    pub(super) fn shown(&self, simulation: &mut Simulation) -> Vec<(ActionId, WatchedEvent)> {
        let mut shown = Vec::new();
        for (id, (client, request)) in &self.0 {
            let inbox = simulation.take_watch(*client, *request).unwrap_or_default();
            shown.extend(
                inbox.events.into_iter().map(|(event, object)| {
                    (*id, WatchedEvent { event: Text::of(event.name()), object: object.json() })
                }),
            );
        }
        shown
    }
}
