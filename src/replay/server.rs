//! The model's API server at one instant; requests are sent one after the other.
//!
//! Inputs: requests with their senders. Outputs: the answers. It supplies what a recording does not contain of an
//! object (defaults, first status).

use std::sync::Arc;

use jiff::Timestamp;
use nodeproof_core::chance::Chance;
use nodeproof_core::components::api_server::{ApiServer, ServerOutput};
use nodeproof_core::components::controller::Context;
use nodeproof_core::network::{Answer, Ask, Call, ClientId, Identity, Request, RequestId, ToClient};
use nodeproof_core::profile::Settings;

/// The model's API server at one instant.
pub(super) struct Server {
    server: ApiServer,
    now: Timestamp,
    last: u64,
}

impl Server {
    /// Starts an empty server.
    pub(super) fn new(settings: &Arc<Settings>, now: Timestamp) -> Self {
        let context = Context { settings: settings.clone(), chance: Chance::new(1) };
        Self { server: ApiServer::new(context, now), now, last: 0 }
    }

    /// Sends a request; returns the answer.
    pub(super) fn ask(&mut self, identity: Arc<Identity>, call: Call) -> Option<Answer> {
        self.last += 1;
        let ask = Ask::Call(Box::new(call));
        let request = Request { id: RequestId(self.last), identity, ask, timeout: None, because: None };
        self.server.handle_request(ClientId(1), request, self.now);
        let mut answer = None;
        while let Some(output) = self.server.poll_output() {
            if let ServerOutput::ToClient { message: ToClient::Response { result: Ok(said), .. }, .. } = output {
                answer = Some(said);
            }
        }
        answer
    }
}
