//! The network between clients and the API server: connections, and the rules with faults on them.
//!
//! Each client has one connection, as client-go multiplexes everything over one HTTP/2 connection; each direction is
//! FIFO. A rule without `match` that drops stalls the connection: nothing is lost silently; everything waits until the
//! rule ends or the connection is given up. A rule with `match` applies to single requests on their way to the server.
//! A call to the cloud takes no part in that: a rule meets it by itself.
//! Inputs: requests of clients, messages of the server, rules, time. Outputs: deliveries, in order of cause.
//! Invariant: without rules a message is delivered at the instant at which it was sent.
//! Left out on purpose: bandwidth and packets.

mod answer;
mod cloud_call;
pub mod http;
mod http_call;
mod identity;
pub(crate) mod kinds;
pub mod message;
mod resource;
mod rule;
mod rule_json;
mod transport;

pub use answer::{Answer, Content, List};
pub use cloud_call::{CLOUD_RESOURCES, CloudCall, CloudNode};
pub use http_call::{DialError, HttpAnswer, HttpCall, HttpCredentials, HttpId, HttpOutcome};
pub use identity::{Identity, UserDetails};
pub use kinds::{
    UnknownResource, collections, defined_kind, find_kind, is_known, is_namespaced, kind_names, kind_of, known_resource,
};
pub use message::*;
pub use resource::{
    CERTIFICATE_REQUESTS, CONFIG_MAPS, CSI_NODES, DEFINITIONS, ENDPOINT_SLICES, EVENTS, LEASES, NAMESPACES, NEW_EVENTS,
    NODE_LEASES, NODES, PODS, Resource, SECRETS, SERVICE_ACCOUNTS, SERVICE_NAME, SERVICES, Verb,
};
pub use rule::{Effect, Endpoint, Fault, Hits, InjectedReply, Match, Rule, RuleId};
pub use rule_json::{CODES, NOT_OF_THE_CLOUD};
pub use transport::{Delivery, Network};

/// Numbers the decisions of one component.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct DecisionId(pub u32);

/// Numbers the clients of a simulation: components, people, tests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct ClientId(pub u32);
