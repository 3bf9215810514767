//! The calls to a cloud on their way: a provider's client, which is none of Kubernetes', makes each by itself.
//!
//! Inputs: calls, answers with how long the cloud takes, the rules whose other end is the cloud. Outputs: deliveries.
//! Invariant: a call is answered once, by the cloud or by a rule. Left out on purpose: a connection that calls share,
//! and what a provider's client does before it gives up.

use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::Network;
use super::link::DueEvent;
use super::rules::RuleOutcome;
use crate::json;
use crate::network::{Answer, ClientId, Delivery, Request, RuleId, ToClient, TransportError};

/// How long a caller waits for a cloud that does not answer. A choice of this model: each provider's client has its
/// own limit, and the controllers set none.
const PATIENCE: SignedDuration = SignedDuration::from_secs(60);

impl Network {
    /// Takes a call to the cloud.
    pub(super) fn send_to_cloud(&mut self, client: ClientId, request: Request, now: Timestamp) {
        self.has_cloud = true;
        let id = request.id;
        let name = self.link(client).name.clone();
        let rules: Vec<RuleId> =
            self.rules.values().filter(|rule| rule.lies_before_cloud(&name)).map(|rule| rule.id).collect();
        let mut at = now;
        for rule in rules {
            let before = self.rules[&rule].hits.total;
            let outcome = self.apply_rules(rule, &request.ask);
            let rule = &self.rules[&rule];
            if rule.hits.total == before {
                continue;
            }
            let fails = match outcome {
                RuleOutcome::Delayed { delay, .. } => {
                    at += delay;
                    continue;
                }
                RuleOutcome::Answered(code) => Ok(Answer::json(code, json!({"message": said(code)}))),
                RuleOutcome::Nothing if rule.refuses() => Err(TransportError::Refused),
                RuleOutcome::Nothing if !rule.stalls() => continue,
                RuleOutcome::Nothing | RuleOutcome::Swallowed => Err(TransportError::Timeout),
            };
            let after = if matches!(fails, Err(TransportError::Timeout)) { PATIENCE } else { SignedDuration::ZERO };
            return self.reply_from_cloud(client, ToClient::Response { id, result: fails }, after, now);
        }
        if at > now {
            self.hold(at, DueEvent::ToCloud(client, request));
        } else {
            self.deliveries.push_back(Delivery::ToServer { client, request });
        }
    }

    /// Takes an answer of the cloud, and how long the cloud takes for it.
    pub fn reply_from_cloud(&mut self, client: ClientId, message: ToClient, after: SignedDuration, now: Timestamp) {
        if after.is_zero() {
            self.deliveries.push_back(Delivery::ToClient { client, message });
        } else {
            self.hold(now + after, DueEvent::FromCloud(client, message));
        }
    }

    /// Drops the calls of a client that has ended.
    pub(super) fn forget_cloud_calls(&mut self, client: ClientId) {
        if self.has_cloud {
            self.due.retain(|_, due| due.caller() != Some(client));
        }
    }
}

/// Returns the text with which a cloud answers by the code of a rule; the codes 404 and 501 have those of
/// k8s.io/cloud-provider cloud.go (v0.37).
fn said(code: u16) -> String {
    match code {
        404 => String::from("instance not found"),
        501 => String::from("unimplemented"),
        code => alloc::format!("the cloud answered with code {code}"),
    }
}
