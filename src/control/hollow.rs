//! The control interface over hollow nodes: the calls that act on machines and their network, in real time.
//!
//! The same names and shapes as on a simulated cluster. Calls about the control plane and the clock are refused, since
//! both are real here; requests of the Kubernetes API go to the API server itself.

use nodeproof_core::components::machine::{MachineAction, MachineError, MachineSpec, PodBehaviour};
use nodeproof_core::json;
use nodeproof_core::network::{Fault, Rule, RuleId};
use nodeproof_core::objects::time::{exact_seconds, to_micro_time};
use nodeproof_core::objects::{FieldError, Json, Text};

use super::calls::{chosen, missing};
use super::route::{Call, find};
use super::session::{Request, read, written};
use super::{Refusal, Reply};
use crate::live::kubelets::{HollowError, HollowNodes};

/// A conversation about the hollow nodes of this process.
#[derive(Clone, Debug)]
pub struct HollowSession(HollowNodes);

#[derive(Clone, Copy)]
enum What {
    Clock,
    AddMachine,
    RemoveMachine,
    Machines,
    Machine,
    Do,
    AddRule,
    Rules,
    Rule,
    RemoveRule,
    Behave,
    Decisions,
    /// Why it cannot be had here.
    NotHere(&'static str),
}

const TIME: What = What::NotHere("time passes by itself here");
const CONTROL_PLANE: What = What::NotHere("the control plane is a real one");
const SIMULATED: What = What::NotHere("it belongs to simulated clusters");

const ROUTES: &[(&str, &str, What)] = &[
    ("GET", "clock", What::Clock),
    ("POST", "clock/advance", TIME),
    ("POST", "clock/rate", TIME),
    ("POST", "reset", SIMULATED),
    ("GET", "settings", SIMULATED),
    ("POST", "machines", What::AddMachine),
    ("GET", "machines", What::Machines),
    ("GET", "machines/*", What::Machine),
    ("DELETE", "machines/*", What::RemoveMachine),
    ("POST", "machines/*/do", What::Do),
    ("PUT", "machines/*/hints", SIMULATED),
    ("POST", "network/rules", What::AddRule),
    ("GET", "network/rules", What::Rules),
    ("GET", "network/rules/*", What::Rule),
    ("DELETE", "network/rules/*", What::RemoveRule),
    ("POST", "pods/*/*/behave", What::Behave),
    ("GET", "controllers", CONTROL_PLANE),
    ("POST", "controllers/*/do", CONTROL_PLANE),
    ("PUT", "cloud/instances/*", CONTROL_PLANE),
    ("DELETE", "cloud/instances/*", CONTROL_PLANE),
    ("GET", "decisions", What::Decisions),
    ("GET", "trace", SIMULATED),
    ("GET", "metrics/**", SIMULATED),
    ("GET", "watches/*", SIMULATED),
    ("DELETE", "watches/*", SIMULATED),
];

impl HollowSession {
    /// Begins a conversation.
    #[must_use]
    pub const fn new(nodes: HollowNodes) -> Self {
        Self(nodes)
    }

    /// Answers one line.
    pub async fn answer(&self, line: &[u8]) -> String {
        let (id, outcome) = match read(line) {
            Ok(request) => (request.get("id").clone(), self.call(&request).await),
            Err(refusal) => (Json::Null, Err(refusal)),
        };
        written(id, outcome.unwrap_or_else(Reply::from))
    }

    async fn call(&self, request: &Json) -> Result<Reply, Refusal> {
        let request = Request::of(request)?;
        if request.target.starts_with('/') {
            let message = "requests of the Kubernetes API go to the API server itself";
            return Err(Refusal { code: 501, error: FieldError::new("call", message) });
        }
        let (what, call) = find(ROUTES, request.method, request.target, request.control_body()?)?;
        if !matches!(what, What::Decisions) {
            call.parameters(&[])?;
        }
        match what {
            What::Clock => Ok(self.clock()),
            What::AddMachine => {
                let spec = MachineSpec::from_json(call.body)?;
                let name = spec.name.clone();
                self.0.start(spec).await.map_err(refused)?;
                self.shown(&name).map(|body| Reply::json(201, body))
            }
            What::RemoveMachine => {
                let shown = self.shown(&call.names[0])?;
                self.0.remove(&call.names[0]).map_err(refused)?;
                Ok(Reply::ok(shown))
            }
            What::Machines => Ok(Reply::ok(self.0.names().iter().filter_map(|name| self.0.describe(name)).collect())),
            What::Machine => self.shown(&call.names[0]).map(Reply::ok),
            What::Do => self.perform(&call),
            What::AddRule => {
                let id = self.0.add_rule(fault(call.body)?);
                Ok(Reply::json(201, json!({"id": id.name(), "hits": 0})))
            }
            What::Rules => Ok(Reply::ok(self.0.rules().iter().map(|(rule, active)| shown(rule, *active)).collect())),
            What::Rule => {
                let id = self.rule(&call.names[0])?;
                let rules = self.0.rules();
                let found = rules.iter().find(|(rule, _)| rule.id == id);
                found.map(|(rule, active)| Reply::ok(shown(rule, *active))).ok_or_else(|| self.no_rule(&call.names[0]))
            }
            What::RemoveRule => {
                let id = self.rule(&call.names[0])?;
                let rule = self.0.remove_rule(id).map_err(|_| self.no_rule(&call.names[0]))?;
                Ok(Reply::ok(shown(&rule, false)))
            }
            What::Behave => self.behave(&call),
            What::Decisions => {
                call.parameters(&["about", "since", "component"])?;
                chosen(&call, &self.0.decisions())
            }
            What::NotHere(why) => Err(Refusal::new(501, format!("{} {}: {why}", request.method, request.target))),
        }
    }

    fn clock(&self) -> Reply {
        let clock = self.0.clock();
        let now = clock.now();
        Reply::ok(json!({
            "now": to_micro_time(now), "sinceStart": exact_seconds(now.duration_since(clock.set())), "rate": 1,
            "next": null,
        }))
    }

    fn shown(&self, name: &str) -> Result<Json, Refusal> {
        self.0.describe(name).ok_or_else(|| {
            let names: Vec<String> = self.0.names().iter().map(ToString::to_string).collect();
            missing("machine", name, &names)
        })
    }

    fn perform(&self, call: &Call<'_>) -> Result<Reply, Refusal> {
        let name = call.names[0].as_str();
        self.shown(name)?;
        let action = MachineAction::from_json(call.body)?;
        if let MachineAction::NotModelled(what) = action {
            let error = FieldError::new("action", format!("{what} is not modelled yet"));
            return Err(Refusal { code: 501, error });
        }
        self.0.perform(name, action).map_err(refused)?;
        self.shown(name).map(Reply::ok)
    }

    /// Lets a pod behave on the machine that has its containers.
    fn behave(&self, call: &Call<'_>) -> Result<Reply, Refusal> {
        let (namespace, pod) = (call.names[0].as_str(), call.names[1].as_str());
        let behaviour = PodBehaviour::from_json(call.body)?;
        let (machine, containers) = self.0.machine_of(namespace, pod).ok_or_else(|| {
            let message =
                format!("pod {namespace}/{pod} is on no machine here: annotations of the pod say how it behaves");
            Refusal::new(404, message)
        })?;
        if let Some(container) = behaviour.container.as_ref().filter(|container| !containers.contains(container)) {
            let names = containers.iter().map(Text::as_str);
            return Err(FieldError::unknown("container", "container", container, names).into());
        }
        let action = MachineAction::Behave { namespace: namespace.into(), pod: pod.into(), behaviour };
        self.0.perform(&machine, action).map_err(refused)?;
        Ok(Reply::ok(Json::object()))
    }

    fn rule(&self, name: &str) -> Result<RuleId, Refusal> {
        RuleId::from_name(name).ok_or_else(|| self.no_rule(name))
    }

    fn no_rule(&self, name: &str) -> Refusal {
        let names: Vec<String> = self.0.rules().iter().map(|(rule, _)| rule.id.name()).collect();
        missing("rule", name, &names)
    }
}

/// Reads a rule; only the connections of machines go through this process.
fn fault(body: &Json) -> Result<Fault, FieldError> {
    let fault = Fault::from_json(body)?;
    for (field, end) in [("from", &fault.from), ("to", &fault.to)] {
        if end.name().starts_with("controller/") || end.name().starts_with("user/") {
            let message = "only connections of hollow machines go through here: \"machine/NAME\", \"api\" or \"*\"";
            return Err(FieldError::new(field, message));
        }
    }
    Ok(fault)
}

fn shown(rule: &Rule, active: bool) -> Json {
    let mut json = rule.json();
    json.set(&["active"], active);
    json
}

fn refused(error: HollowError) -> Refusal {
    let code = match error {
        HollowError::NoMachine(_) | HollowError::NoRule(_) => 404,
        HollowError::MachineExists(_) | HollowError::Machine(MachineError::Misuse(_)) => 409,
        HollowError::Machine(MachineError::KubeletRefuses(_)) => 422,
        HollowError::NoCredentials { .. } => 502,
    };
    Refusal::new(code, error.to_string())
}
