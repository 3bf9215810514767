//! Makes a route in the cloud to the Pods of each Node, and says on the Node whether there is one.
//!
//! Mirrors cloud-controller-manager's `node-route-controller` (k8s.io/cloud-provider
//! controllers/route/route_controller.go, v0.31 to v0.37), with the loop by the clock. It runs where
//! `--configure-cloud-routes` is on and `--cluster-cidr` of cloud-controller-manager is set; a cloud without that
//! network has no routes.
//! Each round lists the routes, makes and removes what differs, and then writes the condition `NetworkUnavailable`.
//! Inputs: Nodes, answers of the API server and the cloud, time. Outputs: calls, patches of conditions, Events.
//! Left out on purpose: routes of others in the same cloud, the limit of 200 calls at once, routes to addresses.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::client::CacheEvent;
use super::controller::{
    ApiResult, Controller, ControllerContext, ControllerRuntime, LoopInfo, Watched, code, failure,
};
use super::events::{EventType, InvolvedObject};
use super::{Because, Deadline};
use crate::chance::Chance;
use crate::json;
use crate::network::{Call, CloudCall, NODES, RequestId};
use crate::objects::time::{exact_seconds, to_time};
use crate::objects::{Json, Object, Text};

/// Tries of the write of a condition. Source: route_controller.go (v0.37), `updateNetworkConditionBackoff`.
const TRIES_MAX: u32 = 5;
/// Pause after a conflict, with a jitter of up to its own length. Source: as [`TRIES_MAX`].
const CONFLICT_PAUSE: SignedDuration = SignedDuration::from_millis(100);

/// A route: the Node that it leads to, and the network behind it.
type Route = (Text, Text);

/// What a request is for.
#[derive(Clone, Debug)]
enum RoutePurpose {
    List,
    Create(Route, Timestamp),
    Delete,
    /// The condition of a Node, by its name, for the so manyth time.
    Condition(Text, bool, u32),
}

/// The round under way.
#[derive(Clone, Debug)]
struct Round {
    nodes: Vec<Object>,
    /// The routes that there are, as far as is known.
    routes: BTreeSet<Route>,
    /// Whether the conditions are being written.
    is_last: bool,
    /// Conditions that wait after a conflict.
    pauses: BTreeMap<Text, (bool, u32, Timestamp)>,
}

/// The controller; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug)]
pub(super) struct NodeRoutes {
    runtime: ControllerRuntime,
    chance: Chance,
    period: SignedDuration,
    /// Whether its Events name the API version and the uid of Nodes.
    names_version: bool,
    /// Whether only its own conditions are taken for told.
    claims_condition: bool,
    /// When the next round begins; `None` before the first list of Nodes.
    next: Option<Timestamp>,
    began: bool,
    held: bool,
    round: Option<Round>,
    under_way: BTreeMap<RequestId, RoutePurpose>,
}

impl NodeRoutes {
    /// Starts the controller with an empty cache; `None` where the flags turn it off.
    pub(super) fn new(context: &ControllerContext, now: Timestamp) -> Option<Self> {
        let settings = &context.settings;
        let is_on = settings.value("configure-cloud-routes") == crate::profile::Value::Bool(true)
            && !settings.text("cloud-cluster-cidr").is_empty();
        is_on.then(|| Self {
            runtime: ControllerRuntime::of_cloud(&[Watched::of(NODES)], context, now),
            chance: context.chance.fork("conflicts"),
            period: settings.duration("route-reconciliation-period"),
            names_version: settings.profile().is("cloud-events-name-api-version"),
            claims_condition: settings.profile().is("routes-claim-their-condition"),
            next: None,
            began: false,
            held: false,
            round: None,
            under_way: BTreeMap::new(),
        })
    }

    fn begin(&mut self) {
        let nodes = self.runtime.cache(0).objects().cloned().collect();
        self.round = Some(Round { nodes, routes: BTreeSet::new(), is_last: false, pauses: BTreeMap::new() });
        self.call_cloud(CloudCall::ListRoutes, RoutePurpose::List);
    }

    fn call_cloud(&mut self, call: CloudCall, purpose: RoutePurpose) {
        let id = self.runtime.call_cloud(call);
        self.under_way.insert(id, purpose);
    }

    /// Makes and removes what differs.
    fn reconcile(&mut self, listed: BTreeSet<Route>, now: Timestamp) {
        let Some(round) = &mut self.round else { return };
        round.routes.clone_from(&listed);
        let wanted: BTreeSet<Route> = round.nodes.iter().flat_map(routes_of).collect();
        for (node, cidr) in listed.difference(&wanted) {
            let fact = Because::Fact(String::from("no Node has these Pod addresses"));
            self.runtime.decide(format!("node/{node}"), format!("route to {cidr} is removed"), [fact].into());
            self.call_cloud(CloudCall::DeleteRoute { node: node.clone(), cidr: cidr.clone() }, RoutePurpose::Delete);
        }
        for route in wanted.difference(&listed) {
            let (node, cidr) = route;
            let fact = Because::Fact(String::from("the cloud has none"));
            self.runtime.decide(format!("node/{node}"), format!("route to {cidr} is made"), [fact].into());
            let call = CloudCall::CreateRoute { node: node.clone(), cidr: cidr.clone() };
            self.call_cloud(call, RoutePurpose::Create(route.clone(), now));
        }
    }

    fn created(&mut self, route: Route, asked: Timestamp, reply: &ApiResult, now: Timestamp) {
        let Some(round) = &mut self.round else { return };
        let Some(why) = failure(reply) else {
            round.routes.insert(route);
            return;
        };
        let (name, cidr) = route;
        let Some(node) = round.nodes.iter().find(|node| *node.name() == *name) else { return };
        let took = exact_seconds(now.duration_since(asked));
        let text = format!("Could not create route {} {cidr} for node {name} after {took}: {why}", node.uid());
        let involved = if self.names_version {
            InvolvedObject::node(node.name(), node.uid())
        } else {
            InvolvedObject::node(node.name(), node.name()).without_api_version()
        };
        self.runtime.emit(&involved, EventType::Warning, "FailedToCreateRoute", &text, None, now);
    }

    /// Writes the conditions of the Nodes whose routes are all there, or not.
    fn tell(&mut self, now: Timestamp) {
        let Some(round) = &mut self.round else { return };
        round.is_last = true;
        let mut due: Vec<(Text, bool)> = Vec::new();
        for node in &round.nodes {
            let name = Text::from(node.name());
            let wanted: Vec<Route> = routes_of(node).collect();
            if wanted.is_empty() && !round.routes.iter().any(|(to, _)| *to == name) {
                continue;
            }
            let created = !wanted.is_empty() && wanted.iter().all(|route| round.routes.contains(route));
            if !says(node, created, self.claims_condition) {
                due.push((name, created));
            }
        }
        for (name, created) in due {
            self.write_condition(&name, created, 1, now);
        }
    }

    fn write_condition(&mut self, name: &Text, created: bool, tries: u32, now: Timestamp) {
        let (status, reason, message) = condition(created);
        let fact = Because::Fact(format!("{message}: {reason}"));
        let what = format!("NetworkUnavailable={status}");
        let because = self.runtime.decide(format!("node/{name}"), what, [fact].into());
        let condition = json!({"type": "NetworkUnavailable", "status": status, "reason": reason, "message": message,
            "lastHeartbeatTime": to_time(now), "lastTransitionTime": to_time(now)});
        let mut patch = Json::object();
        patch.set(&["status", "conditions"], Json::array(Vec::from([condition])));
        let call = Call::strategic_patch(NODES, "", name, patch).subresource("status");
        let id = self.runtime.send(call, Some(because), now);
        self.under_way.insert(id, RoutePurpose::Condition(name.clone(), created, tries));
    }

    fn end(&mut self) {
        self.round = None;
    }
}

/// Returns the routes that a Node needs.
fn routes_of(node: &Object) -> impl Iterator<Item = Route> {
    let cidrs = node.stable().at(&["spec", "podCIDRs"]).items().iter().filter_map(Json::as_text);
    cidrs.map(|cidr| (Text::from(node.name()), cidr.clone()))
}

/// Returns status, reason and message. Source: route_controller.go (v0.37), `updateNetworkingCondition`.
const fn condition(created: bool) -> (&'static str, &'static str, &'static str) {
    if created {
        ("False", "RouteCreated", "RouteController created a route")
    } else {
        ("True", "NoRouteCreated", "RouteController failed to create a route")
    }
}

/// Tells whether a Node's condition says already what it should, perhaps for somebody else.
fn says(node: &Object, created: bool, claims: bool) -> bool {
    let (status, reason, _) = condition(created);
    node.stable().at(&["status", "conditions"]).items().iter().any(|own| {
        own.get("type").as_str() == Some("NetworkUnavailable")
            && own.get("status").as_str() == Some(status)
            && (!claims || own.get("reason").as_str() == Some(reason))
    })
}

impl Controller for NodeRoutes {
    fn runtime(&self) -> &ControllerRuntime {
        &self.runtime
    }

    fn runtime_mut(&mut self) -> &mut ControllerRuntime {
        &mut self.runtime
    }

    fn handle_event(&mut self, _: usize, _: &CacheEvent, _: Timestamp) {}

    fn handle_reply(&mut self, id: RequestId, reply: &ApiResult, now: Timestamp) {
        match self.under_way.remove(&id) {
            None | Some(RoutePurpose::Delete) => {}
            Some(RoutePurpose::List) if failure(reply).is_some() => {
                let why = format!("error listing routes: {}", failure(reply).unwrap_or_default());
                self.runtime.log(format!("Couldn't reconcile node routes: {why}"));
                self.end();
            }
            Some(RoutePurpose::List) => {
                let body = reply.as_ref().map(|answer| answer.body()).unwrap_or_default();
                let read =
                    |route: &Json| Some((route.get("node").as_text()?.clone(), route.get("cidr").as_text()?.clone()));
                self.reconcile(body.get("routes").items().iter().filter_map(read).collect(), now);
            }
            Some(RoutePurpose::Create(route, asked)) => self.created(route, asked, reply, now),
            Some(RoutePurpose::Condition(name, created, tries)) => {
                if code(reply) == 409 && tries < TRIES_MAX {
                    let until = now + self.chance.jitter(CONFLICT_PAUSE, 1.0);
                    if let Some(round) = &mut self.round {
                        round.pauses.insert(name, (created, tries + 1, until));
                    }
                }
            }
        }
    }

    fn handle_due(&mut self, now: Timestamp) {
        let due = |pauses: &BTreeMap<Text, (bool, u32, Timestamp)>| {
            pauses.iter().filter(|(_, (.., until))| *until <= now).map(|(name, it)| (name.clone(), *it)).collect()
        };
        let due: Vec<(Text, (bool, u32, Timestamp))> =
            self.round.as_ref().map(|round| due(&round.pauses)).unwrap_or_default();
        for (name, (created, tries, _)) in due {
            if let Some(round) = &mut self.round {
                round.pauses.remove(&name);
            }
            self.write_condition(&name, created, tries, now);
        }
        // A round that is due while another runs begins when that has ended.
        if self.round.is_none() && self.next.is_some_and(|at| at <= now) {
            self.next = self.next.map(|at| super::next_of(at, self.period, now));
            self.begin();
        }
    }

    fn work(&mut self, now: Timestamp) {
        if !self.began && self.runtime.is_synced() {
            self.began = true;
            self.next = (!self.held).then_some(now);
            self.handle_due(now);
        }
        while let Some(round) = &self.round
            && self.under_way.is_empty()
            && round.pauses.is_empty()
        {
            if round.is_last { self.end() } else { self.tell(now) }
        }
    }

    fn own_deadline(&self) -> Option<Deadline> {
        let pauses = self.round.as_ref().map(|round| &round.pauses);
        let pause = pauses.and_then(|pauses| pauses.values().map(|(.., at)| *at).min());
        let pause = pause.map(|at| Deadline { at, reason: "condition again after a conflict" });
        let next = self.next.filter(|_| self.round.is_none()).map(|at| Deadline { at, reason: "route pass" });
        pause.or(next)
    }

    fn loops(&self) -> Vec<LoopInfo> {
        Vec::from([LoopInfo { name: "route-pass", period: self.period, next: self.next }])
    }

    fn hold_loops(&mut self) {
        self.held = true;
        self.next = None;
    }

    fn run_once(&mut self, name: &str, now: Timestamp) -> bool {
        if name != "route-pass" || !self.began || self.round.is_some() {
            return false;
        }
        self.begin();
        self.work(now);
        true
    }
}
