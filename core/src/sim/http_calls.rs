//! Carries calls to kubelets and Pods: from the API server, perhaps through konnectivity, and from outside.
//!
//! Mirrors what a network does with a dialled address. A rule between two ends cuts them off from each other; the end
//! `kubelet/NAME` is the server of a machine's kubelet alone, so that the kubelet's own requests go on. Konnectivity's
//! agents are the running Pods with the label `k8s-app: konnectivity-agent`, which dial its server beside the API
//! server. Inputs: calls. Outputs: what came of them, at the same instant. Left out on purpose: delays.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Simulation;
use super::actor::Actor;
use crate::components::api_server::{ADDRESS as API_ADDRESS, Egress, PORT as API_PORT};
use crate::components::machine::{Machine, refused, unreachable};
use crate::network::{
    Answer, Call, ClientId, Content, DialError, Effect, HttpAnswer, HttpCall, HttpCredentials, HttpId, HttpOutcome,
    Identity, PODS, Rule, RuleId,
};
use crate::objects::{Json, Object, Text};
use crate::scenario::AnswerSeen;

/// The label of konnectivity's agents. Source: kubernetes-sigs/apiserver-network-proxy,
/// examples/kubernetes/konnectivity-agent.yaml; Kubernetes' documentation, "Set up Konnectivity service".
const AGENT: (&str, &str) = ("k8s-app", "konnectivity-agent");
/// Source: kubernetes-sigs/apiserver-network-proxy pkg/server/backend_manager.go (v0.31), `ErrNotFound`.
const NO_AGENT: &str = "No agent available";

/// The name of the API server for calls from outside.
const API_NAME: &str = "kube-apiserver";

/// The end of calls from outside the cluster.
const OUTSIDE: &str = "outside";
/// The port of a kubelet whose configuration names none.
/// Source: cmd/kubelet/app/options/options.go and pkg/cluster/ports/ports.go (v1.34), `KubeletPort`.
const KUBELET_PORT: i64 = 10250;

/// Who made a call.
#[derive(Clone, Debug)]
enum CallOrigin {
    Api(HttpCall),
    Outside,
}

/// The calls under way.
#[derive(Clone, Debug, Default)]
pub(super) struct HttpCalls {
    last: u64,
    open: BTreeMap<HttpId, CallOrigin>,
    /// What came of calls from outside, until it is fetched.
    done: BTreeMap<HttpId, HttpOutcome>,
}

impl Simulation {
    /// Calls the server of a kubelet, or of a Pod, from outside the cluster.
    ///
    /// # Errors
    /// There is no answer, with Go's words about it.
    pub fn call_http(&mut self, call: HttpCall) -> HttpOutcome {
        self.call_http_from(OUTSIDE, call)
    }

    /// Calls as [`Self::call_http`] does, from one end of the network, as `machine/w2`.
    ///
    /// # Errors
    /// As for [`Self::call_http`].
    pub fn call_http_from(&mut self, from: &str, call: HttpCall) -> HttpOutcome {
        if [API_NAME, API_ADDRESS].contains(&call.host.as_str()) {
            return self.call_api(call);
        }
        self.settle();
        let id = self.open_call(CallOrigin::Outside, from, &call);
        self.dial(from, HttpCall { id, ..call });
        self.finish_instant();
        self.calls.open.remove(&id);
        let waiting = || Err(String::from("net/http: timeout awaiting response headers"));
        self.calls.done.remove(&id).unwrap_or_else(waiting)
    }

    /// Calls as [`Self::call_http`] does, and returns the answer as a scenario sees it.
    pub(super) fn ask_http(&mut self, call: HttpCall) -> AnswerSeen {
        match self.call_http(call) {
            Ok(answer) => {
                let body = Json::parse(&answer.body).unwrap_or_else(|_| Json::Str(answer.body.clone()));
                let message = body.get("message").as_str().unwrap_or(answer.body.as_str());
                AnswerSeen { code: answer.code, message: String::from(message), body, unmodelled: None }
            }
            Err(message) => AnswerSeen { message, ..AnswerSeen::default() },
        }
    }

    /// Calls the API server as it is found on the network: it listens on one port, over TLS.
    fn call_api(&mut self, call: HttpCall) -> HttpOutcome {
        let call = HttpCall { resolved: Some(Text::of(API_ADDRESS)), ..call };
        if i64::from(call.dialled()) != API_PORT {
            return Err(refused(&call));
        }
        if !call.is_tls {
            return Ok(HttpAnswer::text(400, "Client sent an HTTP request to an HTTPS server.\n"));
        }
        let identity = match &call.credentials {
            HttpCredentials::Certificate(identity) => identity.clone(),
            _ => Identity::anonymous("outside"),
        };
        let request = match Call::from_http(&call.method, &call.path, &[], "") {
            Ok(request) => request,
            Err(answer) => return Ok(written(&answer)),
        };
        let answer = self.request(identity, request).map_err(|error| format!("{error}"))?;
        Ok(written(&answer))
    }

    fn open_call(&mut self, origin: CallOrigin, from: &str, call: &HttpCall) -> HttpId {
        self.calls.last += 1;
        let id = HttpId(self.calls.last);
        self.event_loop.record.call(self.now, id, from, call);
        self.calls.open.insert(id, origin);
        id
    }

    /// Takes a call of the API server.
    pub(super) fn dial_for_api(&mut self, call: HttpCall) {
        let from = match Egress::of(&self.settings) {
            Ok(Egress::Konnectivity) => self.agent(),
            _ => Some(String::from("api")),
        };
        let id = self.open_call(CallOrigin::Api(call.clone()), from.as_deref().unwrap_or("api"), &call);
        match from {
            Some(from) => self.dial(&from, HttpCall { id, ..call }),
            None => self.end_call(id, Err(String::from(NO_AGENT))),
        }
    }

    /// Returns the machine of an agent that has a connection to its server.
    fn agent(&mut self) -> Option<String> {
        let is_agent = |pod: &Object| pod.stable().at(&["metadata", "labels", AGENT.0]).as_str() == Some(AGENT.1);
        let uids: Vec<Text> =
            self.api.objects(&PODS).iter().filter(|pod| is_agent(pod)).map(|pod| Text::from(pod.uid())).collect();
        let machines = self.machines().filter(|machine| machine.runs_one_of(&uids));
        let ends: Vec<String> = machines.map(|machine| format!("machine/{}", machine.name())).collect();
        for end in ends {
            match self.cut("api", core::slice::from_ref(&end)) {
                None => return Some(end),
                Some(rule) => self.event_loop.network.count(rule, "CONNECT", "konnectivity"),
            }
        }
        None
    }

    fn dial(&mut self, from: &str, call: HttpCall) {
        let id = call.id;
        let Some((name, pod, resolved)) = self.find_end(&call.host) else {
            let is_name = call.host.parse::<core::net::IpAddr>().is_err();
            let unknown = format!("dial tcp: lookup {}: no such host", call.host);
            let why = if is_name { unknown } else { unreachable(&call) };
            return self.end_call(id, Err(why));
        };
        let call = HttpCall { resolved, ..call };
        let own = format!("machine/{name}");
        let mut ends = Vec::from([own.clone()]);
        if pod.is_none() {
            ends.push(format!("kubelet/{name}"));
        }
        if from != own
            && let Some(why) = self.meet_rules(from, &ends, &call)
        {
            return self.end_call(id, Err(why));
        }
        let Some(client) = self.event_loop.find(&own) else { return };
        let now = self.now;
        let outcome = match pod {
            Some(uid) => self.call_pod(client, &uid, &call).map(Some),
            None => match self.event_loop.get_mut(client) {
                Actor::Machine(machine, _) => machine.handle_call(call, now),
                _ => return,
            },
        };
        self.event_loop.pump(client, now);
        match outcome {
            Ok(None) => {}
            Ok(Some(answer)) => self.end_call(id, Ok(answer)),
            Err(why) => self.end_call(id, Err(why)),
        }
    }

    /// Applies the rules between a caller and what it calls, and returns why the call does not arrive.
    fn meet_rules(&mut self, from: &str, ends: &[String], call: &HttpCall) -> Option<DialError> {
        let cut = self.cut(from, ends);
        if let Some(rule) = cut.or_else(|| self.refusal(from, ends)) {
            self.count_rule(rule, &call.method);
            return Some(if cut.is_some() { unreachable(call) } else { refused(call) });
        }
        let loses = |rule: &&Rule| rule.fault.effect == Effect::Drop && rule.fault.matching.is_none();
        let directed = |rule: &&Rule| is_directed(rule, from, ends);
        let losing: Vec<RuleId> = self.rules().filter(loses).filter(directed).map(|rule| rule.id).collect();
        let network = &mut self.event_loop.network;
        losing.into_iter().any(|rule| network.meets_call(rule, &call.method)).then(|| unreachable(call))
    }

    /// Tells whether the server of a machine's kubelet is reached from outside the cluster, as by a scrape.
    ///
    /// # Errors
    /// It is not, with Go's words about it.
    pub fn reach_kubelet(&mut self, name: &str) -> Result<(), DialError> {
        let Some(machine) = self.machine(name) else { return Ok(()) };
        let port = machine.kubelet().map_or(KUBELET_PORT, |kubelet| kubelet.config().port);
        let to = ("https", machine.host().default_ip(false), u16::try_from(port).ok());
        let call = HttpCall::new(to, "GET", "/metrics");
        let found = machine.check_call(&call);
        let ends = [format!("machine/{name}"), format!("kubelet/{name}")];
        let lost = self.meet_rules(OUTSIDE, &ends, &call);
        lost.map_or(found, Err).map_err(|why| format!("Get \"{}\": {why}", call.url()))
    }

    /// Finds the machine of an address or a name: the pod, if it is a pod's, and the address, if it is a name.
    fn find_end(&self, host: &str) -> Option<(Text, Option<Text>, Option<Text>)> {
        // Of several with one address, the one answers that can.
        let has = |machine: &&Machine| machine.has_address(host);
        let alive = self.machines().filter(has).find(|machine| !machine.is_dead());
        if let Some(machine) = alive.or_else(|| self.machines().find(has)) {
            let is_name = host.parse::<core::net::IpAddr>().is_err();
            let resolved = is_name.then(|| machine.host().default_ip(false));
            return Some((machine.name().clone(), None, resolved));
        }
        self.machines().find_map(|machine| Some((machine.name().clone(), Some(machine.pod_at(host)?), None)))
    }

    fn call_pod(&self, client: ClientId, uid: &Text, call: &HttpCall) -> HttpOutcome {
        let Some(machine) = self.event_loop.get(client).machine() else { return Err(unreachable(call)) };
        let pod = machine.pod_key(uid).and_then(|key| self.api.object(&PODS, &key));
        let spec = pod.map(|pod| pod.stable().get("spec").clone()).unwrap_or_else(Json::object);
        machine.answer_of_pod(uid, &spec, call)
    }

    /// Returns the rule that keeps everything from passing between two ends, if there is one.
    pub(super) fn cut(&self, from: &str, to: &[String]) -> Option<RuleId> {
        let mut rules = self.rules();
        rules.find(|rule| rule.stalls() && lies_between(rule, from, to)).map(|rule| rule.id)
    }

    /// Counts a message beside the connections to the API server that a rule has lost.
    pub(super) fn count_rule(&mut self, rule: RuleId, method: &str) {
        self.event_loop.network.count(rule, method, "calls");
    }

    /// Returns the rule by which nobody listens at one end for the other, if there is one.
    fn refusal(&self, from: &str, to: &[String]) -> Option<RuleId> {
        self.rules().find(|rule| rule.refuses() && is_directed(rule, from, to)).map(|rule| rule.id)
    }

    /// Hands over what kubelets have answered; false if there was nothing.
    pub(super) fn hand_over_served(&mut self) -> bool {
        let served: Vec<(HttpId, HttpAnswer)> = self.event_loop.take_served();
        let any = !served.is_empty();
        for (id, answer) in served {
            self.end_call(id, Ok(answer));
        }
        any
    }

    fn end_call(&mut self, id: HttpId, outcome: HttpOutcome) {
        self.event_loop.record.call_end(self.now, id, &outcome);
        match self.calls.open.remove(&id) {
            Some(CallOrigin::Api(call)) => self.api.handle_http_outcome(&call, outcome),
            Some(CallOrigin::Outside) => {
                self.calls.done.insert(id, outcome);
            }
            None => {}
        }
    }
}

/// Writes an answer of the API server out.
fn written(answer: &Answer) -> HttpAnswer {
    match &answer.content {
        Content::Text(text) => HttpAnswer::text(answer.code, text.clone()),
        _ => HttpAnswer { code: answer.code, ..HttpAnswer::json(format!("{}", answer.body())) },
    }
}

fn is_directed(rule: &Rule, from: &str, to: &[String]) -> bool {
    rule.fault.from.matches(from) && to.iter().any(|end| rule.fault.to.matches(end))
}

fn lies_between(rule: &Rule, one: &str, others: &[String]) -> bool {
    let ends = (&rule.fault.from, &rule.fault.to);
    let matches =
        |other: &String| ends.0.matches(one) && ends.1.matches(other) || ends.0.matches(other) && ends.1.matches(one);
    others.iter().any(matches)
}
