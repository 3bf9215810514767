//! Asks the cloud about Nodes that are not ready: one whose instance is gone is deleted, one whose instance is shut
//! down gets a taint.
//!
//! Mirrors cloud-controller-manager's `cloud-node-lifecycle-controller` (k8s.io/cloud-provider
//! controllers/nodelifecycle/node_lifecycle_controller.go, v0.37). A pass looks at one Node after the other, and the
//! next pass comes a period after its end, so that a slow cloud makes passes rare. The taint of a Node that is ready
//! again goes in the next pass.
//! Inputs: Nodes, answers of the API server and the cloud, time. Outputs: calls, deletions, patches of taints, Events.
//! Left out on purpose: the order of the Nodes, which is arbitrary upstream and that of their names here.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::client::CacheEvent;
use super::cloud_calls::cloud_node;
use super::controller::{
    ApiResult, Controller, ControllerContext, ControllerRuntime, LoopInfo, Watched, code, failure, object,
};
use super::events::{EventType, InvolvedObject};
use super::{Because, Deadline, DecisionId};
use crate::chance::Chance;
use crate::json;
use crate::network::{Call, CloudCall, NODES, RequestId, Verb};
use crate::objects::lifecycle::is_ready;
use crate::objects::{Json, Object, Text};

/// The taint of a Node whose instance is shut down. Source: k8s.io/cloud-provider api/well_known_taints.go (v0.37),
/// `TaintNodeShutdown`.
const SHUTDOWN: &str = "node.cloudprovider.kubernetes.io/shutdown";
/// Tries of one write of taints. Source: k8s.io/cloud-provider node/helpers/taints.go (v0.37), `updateTaintBackoff`.
const TRIES_MAX: u32 = 5;
/// Pause after a conflict, with a jitter of up to its own length. Source: as [`TRIES_MAX`].
const CONFLICT_PAUSE: SignedDuration = SignedDuration::from_millis(100);
/// The shortest duration of a pass, as that of the other controllers' passes.
const PASS_COST: SignedDuration = SignedDuration::from_millis(1);

/// What happens to the Node whose turn it is.
#[derive(Clone, Copy, Debug)]
enum Turn {
    /// The cloud is asked whether the instance exists.
    Exists,
    /// The cloud is asked whether it is shut down.
    Shutdown,
    /// The Node is being deleted.
    Delete,
    /// The Node is read, to change its taints.
    Read(TaintChange),
    /// Its taints are being patched.
    Patch(TaintChange),
}

/// A change of the taint under way.
#[derive(Clone, Copy, Debug)]
struct TaintChange {
    adds: bool,
    tries: u32,
    /// `None` where nothing is to change, as far as the cache knows.
    because: Option<DecisionId>,
}

/// The pass under way.
#[derive(Clone, Debug)]
struct CloudPass {
    began: Timestamp,
    waiting: VecDeque<Object>,
    /// The Node whose turn it is, with its request.
    turn: Option<(Object, RequestId, Turn)>,
    /// A change of taints that waits after a conflict.
    pause: Option<(Object, TaintChange, Timestamp)>,
}

/// The controller; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug)]
pub(super) struct CloudNodeLifecycle {
    runtime: ControllerRuntime,
    chance: Chance,
    period: SignedDuration,
    /// Whether its Events name the API version of Nodes.
    names_version: bool,
    next: Option<Timestamp>,
    pass: Option<CloudPass>,
    held: bool,
}

impl CloudNodeLifecycle {
    /// Starts the controller with an empty cache, and so with a first pass over no Nodes.
    pub(super) fn new(context: &ControllerContext, now: Timestamp) -> Self {
        Self {
            runtime: ControllerRuntime::of_cloud(&[Watched::of(NODES)], context, now),
            chance: context.chance.fork("conflicts"),
            period: context.settings.duration("cloud-node-monitor-period"),
            names_version: context.settings.profile().is("cloud-events-name-api-version"),
            next: Some(now),
            pass: None,
            held: false,
        }
    }

    fn begin(&mut self, now: Timestamp) {
        self.next = None;
        let waiting = self.runtime.cache(0).objects().cloned().collect();
        self.pass = Some(CloudPass { began: now, waiting, turn: None, pause: None });
    }

    /// Continues the pass until a request is under way.
    fn advance(&mut self, now: Timestamp) {
        while let Some(pass) = &mut self.pass
            && pass.turn.is_none()
            && pass.pause.is_none()
        {
            let Some(node) = pass.waiting.pop_front() else {
                let end = now.max(pass.began + PASS_COST);
                self.next = (!self.held).then_some(end + self.period);
                self.pass = None;
                return;
            };
            if !is_ready(&node) {
                let id = self.runtime.call_cloud(CloudCall::Exists(cloud_node(&node)));
                self.take_turn(node, id, Turn::Exists);
            } else if node.stable().at(&["spec", "taints"]).items().iter().any(is_shutdown) {
                let fact = Because::Fact(String::from("it is ready"));
                let because = self.runtime.decide(about(&node), format!("-{SHUTDOWN}:NoSchedule"), [fact].into());
                self.read(node, TaintChange { adds: false, tries: 0, because: Some(because) }, now);
            }
        }
    }

    fn take_turn(&mut self, node: Object, id: RequestId, turn: Turn) {
        if let Some(pass) = &mut self.pass {
            pass.turn = Some((node, id, turn));
        }
    }

    /// Reads a Node before its taints change. The first read may come from the server's cache.
    fn read(&mut self, node: Object, mut change: TaintChange, now: Timestamp) {
        let call = Call::new(Verb::Get, NODES, "", Text::from(node.name()));
        let call = if change.tries == 0 { call.query("resourceVersion", "0") } else { call };
        change.tries += 1;
        let id = self.runtime.send(call, change.because, now);
        self.take_turn(node, id, Turn::Read(change));
    }

    fn handle_existence(&mut self, node: Object, reply: &ApiResult, now: Timestamp) {
        if let Some(why) = failure(reply) {
            self.says(&node, "nothing", format!("error checking if node {} exists: {why}", node.name()));
        } else if says_yes(reply) {
            let id = self.runtime.call_cloud(CloudCall::Shutdown(cloud_node(&node)));
            self.take_turn(node, id, Turn::Shutdown);
        } else {
            let fact = Because::Fact(String::from("it is not ready, and the cloud has no such instance"));
            let because = self.runtime.decide(about(&node), "deleted", [fact].into());
            let text = format!("Deleting node {} because it does not exist in the cloud provider", node.name());
            let involved = self.involved(&node);
            self.runtime.emit(&involved, EventType::Normal, "DeletingNode", &text, Some(because), now);
            let call = Call::new(Verb::Delete, NODES, "", Text::from(node.name()));
            let id = self.runtime.send(call, Some(because), now);
            self.take_turn(node, id, Turn::Delete);
        }
    }

    fn handle_shutdown(&mut self, node: Object, reply: &ApiResult, now: Timestamp) {
        if let Some(why) = failure(reply) {
            self.says(&node, "nothing", format!("error checking if node {} is shutdown: {why}", node.name()));
        } else if says_yes(reply) {
            // A Node that has the taint is read in each pass as well.
            let is_tainted = node.stable().at(&["spec", "taints"]).items().iter().any(is_exactly_shutdown);
            let because = (!is_tainted).then(|| self.decide_taint(&node));
            self.read(node, TaintChange { adds: true, tries: 0, because }, now);
        }
    }

    fn decide_taint(&mut self, node: &Object) -> DecisionId {
        let fact = Because::Fact(String::from("it is not ready, and its instance is shut down"));
        self.runtime.decide(about(node), format!("+{SHUTDOWN}:NoSchedule"), [fact].into())
    }

    fn handle_read(&mut self, node: Object, mut change: TaintChange, reply: &ApiResult, now: Timestamp) {
        let Some(current) = object(reply) else { return };
        let before = current.stable().at(&["spec", "taints"]).items();
        let taint = json!({"key": SHUTDOWN, "effect": "NoSchedule"});
        let mut after: Vec<Json> = before.to_vec();
        if !change.adds {
            after.retain(|taint| !is_shutdown(taint));
        } else if let Some(own) = after.iter_mut().find(|taint| is_shutdown(taint)) {
            *own = taint;
        } else {
            after.push(taint);
        }
        if after == before {
            return;
        }
        let mut patch = json!({"metadata": {"resourceVersion": format!("{}", current.resource_version())}});
        patch.set(&["spec", "taints"], if after.is_empty() { Json::Null } else { Json::array(after) });
        let call = Call::strategic_patch(NODES, "", Text::from(node.name()), patch);
        let because = change.because.unwrap_or_else(|| self.decide_taint(&node));
        change.because = Some(because);
        let id = self.runtime.send(call, Some(because), now);
        self.take_turn(node, id, Turn::Patch(change));
    }

    fn handle_patch(&mut self, node: Object, change: TaintChange, reply: &ApiResult, now: Timestamp) {
        if code(reply) == 409 && change.tries < TRIES_MAX {
            let until = now + self.chance.jitter(CONFLICT_PAUSE, 1.0);
            if let Some(pass) = &mut self.pass {
                pass.pause = Some((node, change, until));
            }
        }
    }

    fn handle_delete(&mut self, node: &Object, reply: &ApiResult, now: Timestamp) {
        if let Some(why) = failure(reply) {
            let text = format!("Failed deleting node {}: {why}", node.name());
            let involved = self.involved(node);
            self.runtime.emit(&involved, EventType::Warning, "DeletingNodeFailed", &text, None, now);
        }
    }

    fn involved(&self, node: &Object) -> InvolvedObject {
        let involved = InvolvedObject::node(node.name(), node.uid());
        if self.names_version { involved } else { involved.without_api_version() }
    }

    fn says(&mut self, node: &Object, what: &str, why: String) {
        self.runtime.decide(about(node), what, [Because::Fact(why)].into());
    }
}

fn about(node: &Object) -> String {
    format!("node/{}", node.name())
}

/// Tells whether it is the taint by key and effect.
fn is_shutdown(taint: &Json) -> bool {
    taint.get("key").as_str() == Some(SHUTDOWN) && taint.get("effect").as_str() == Some("NoSchedule")
}

/// Tells whether it is the taint as this controller writes it.
fn is_exactly_shutdown(taint: &Json) -> bool {
    *taint == json!({"key": SHUTDOWN, "effect": "NoSchedule"})
}

fn says_yes(reply: &ApiResult) -> bool {
    reply.as_ref().is_ok_and(|answer| answer.body().get("is").as_bool() == Some(true))
}

impl Controller for CloudNodeLifecycle {
    fn runtime(&self) -> &ControllerRuntime {
        &self.runtime
    }

    fn runtime_mut(&mut self) -> &mut ControllerRuntime {
        &mut self.runtime
    }

    fn handle_event(&mut self, _: usize, _: &CacheEvent, _: Timestamp) {}

    fn handle_reply(&mut self, id: RequestId, reply: &ApiResult, now: Timestamp) {
        let Some(pass) = &mut self.pass else { return };
        let Some((node, _, turn)) = pass.turn.take_if(|(_, own, _)| *own == id) else { return };
        match turn {
            Turn::Exists => self.handle_existence(node, reply, now),
            Turn::Shutdown => self.handle_shutdown(node, reply, now),
            Turn::Delete => self.handle_delete(&node, reply, now),
            Turn::Read(change) => self.handle_read(node, change, reply, now),
            Turn::Patch(change) => self.handle_patch(node, change, reply, now),
        }
    }

    fn handle_due(&mut self, now: Timestamp) {
        if let Some(pass) = &mut self.pass
            && let Some((node, change, _)) = pass.pause.take_if(|(.., until)| *until <= now)
        {
            self.read(node, change, now);
        }
        if self.pass.is_none() && self.next.is_some_and(|at| at <= now) {
            self.begin(now);
        }
    }

    fn work(&mut self, now: Timestamp) {
        self.advance(now);
    }

    fn own_deadline(&self) -> Option<Deadline> {
        let pause = self.pass.as_ref().and_then(|pass| pass.pause.as_ref());
        let pause = pause.map(|(.., at)| Deadline { at: *at, reason: "taints again after a conflict" });
        pause.or_else(|| self.next.map(|at| Deadline { at, reason: "cloud pass" }))
    }

    fn loops(&self) -> Vec<LoopInfo> {
        Vec::from([LoopInfo { name: "cloud-pass", period: self.period, next: self.next }])
    }

    fn hold_loops(&mut self) {
        self.held = true;
        self.next = None;
    }

    fn run_once(&mut self, name: &str, now: Timestamp) -> bool {
        if name != "cloud-pass" || self.pass.is_some() {
            return false;
        }
        self.begin(now);
        self.advance(now);
        true
    }
}
