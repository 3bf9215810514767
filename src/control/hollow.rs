//! The control interface for hollow nodes: the calls that act on machines and their network, in real time.
//!
//! Inputs and outputs have the names and shapes of [`super::Session`]. Calls that change the control plane or the clock
//! are refused, since both are real here; requests of the Kubernetes API go to the API server itself.

use nodeproof_core::components::machine::{MachineAction, MachineSpec, PodBehaviour};
use nodeproof_core::json;
use nodeproof_core::network::{Fault, Rule, RuleId};
use nodeproof_core::objects::time::{exact_seconds, to_micro_time};
use nodeproof_core::objects::{FieldError, Json, Text};

use super::calls::{chosen, missing};
use super::route::{Call, find};
use super::session::{Request, read, written};
use super::{Refusal, Reply};
use crate::live::kubelets::{HollowError, HollowNodes};

/// A session that controls the hollow nodes of this process.
#[derive(Clone, Debug)]
pub struct HollowSession(HollowNodes);

#[derive(Clone, Copy)]
enum What {
    Clock,
    AddMachine,
    RemoveMachine,
    Machines,
    Machine,
    Containers,
    Do,
    AddRule,
    Rules,
    Rule,
    RemoveRule,
    Behave,
    Decisions,
    /// Refused, with the reason.
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
    ("GET", "machines/*/containers", What::Containers),
    ("DELETE", "machines/*", What::RemoveMachine),
    ("POST", "machines/*/do", What::Do),
    ("POST", "machines/*/request", SIMULATED),
    ("PUT", "machines/*/hints", SIMULATED),
    ("POST", "network/rules", What::AddRule),
    ("GET", "network/rules", What::Rules),
    ("GET", "network/rules/*", What::Rule),
    ("DELETE", "network/rules/*", What::RemoveRule),
    ("POST", "pods/*/*/behave", What::Behave),
    ("GET", "controllers", CONTROL_PLANE),
    ("POST", "controllers/*/do", CONTROL_PLANE),
    ("PUT", "cloud/instances/*", CONTROL_PLANE),
    ("GET", "cloud/instances/*", CONTROL_PLANE),
    ("DELETE", "cloud/instances/*", CONTROL_PLANE),
    ("GET", "decisions", What::Decisions),
    ("GET", "trace", SIMULATED),
    ("GET", "metrics/**", SIMULATED),
    ("GET", "watches/*", SIMULATED),
    ("DELETE", "watches/*", SIMULATED),
];

impl HollowSession {
    /// Begins a session.
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
            What::Containers => self.shown(&call.names[0]).map(|machine| Reply::ok(machine.get("containers").clone())),
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
            "now": to_micro_time(now), "sinceStart": exact_seconds(now.duration_since(clock.set_at())), "rate": 1,
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
        self.0.perform(name, action).map_err(refused)?;
        self.shown(name).map(Reply::ok)
    }

    /// Changes how a pod behaves, on the machine that runs its containers.
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

/// Reads a network rule; only connections of machines pass through this process.
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
        HollowError::MachineExists(_) => 409,
        HollowError::Machine(error) => return error.into(),
        HollowError::NoCredentials { .. } => 502,
    };
    Refusal::new(code, error.to_string())
}

#[cfg(test)]
mod tests {
    use nodeproof_core::objects::Json;
    use nodeproof_core::profile::Settings;

    use super::HollowSession;
    use crate::live::Clock;
    use crate::live::kubelets::{HollowNodes, Server, Signer};

    /// Answers lines; the API server of the nodes does not listen.
    fn answers(lines: &[&str]) -> Vec<Json> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let server = Server::new("http://127.0.0.1:1", &[], None).unwrap();
            let session =
                HollowSession::new(HollowNodes::new(server, Signer::Nobody, Settings::default(), 1, Clock::new()));
            let mut answers = Vec::new();
            for line in lines {
                answers.push(Json::parse(&session.answer(line.as_bytes()).await).unwrap());
            }
            answers
        })
    }

    #[test]
    fn machines_and_rules_have_the_calls_that_a_simulated_cluster_has() {
        let codes = [
            (r#"{"id": 1, "call": "POST machines", "body": {"name": "w1", "zone": "a"}}"#, 201),
            (r#"{"id": 2, "call": "POST machines", "body": {"name": "w1"}}"#, 409),
            (r#"{"id": 3, "call": "GET machines/w1"}"#, 200),
            (r#"{"id": 4, "call": "POST machines/w1/do", "body": {"action": "kubelet-kill"}}"#, 200),
            (r#"{"id": 5, "call": "POST machines/w1/do", "body": {"action": "kubelet-kill"}}"#, 409),
            (r#"{"id": 6, "call": "POST machines/w1/do", "body": {"action": "kubelet-kil"}}"#, 400),
            (r#"{"id": 7, "call": "POST machines/w1/do", "body": {"action": "fill-disk"}}"#, 200),
            (
                concat!(
                    r#"{"id": 8, "call": "POST network/rules", "#,
                    r#""body": {"from": "machine/w1", "to": "api", "effect": "drop"}}"#
                ),
                201,
            ),
            (
                r#"{"id": 9, "call": "POST network/rules", "body": {"from": "user/x", "to": "api", "effect": "drop"}}"#,
                400,
            ),
            (r#"{"id": 10, "call": "DELETE network/rules/r1"}"#, 200),
            (r#"{"id": 11, "call": "DELETE network/rules/r1"}"#, 404),
            (r#"{"id": 12, "call": "POST pods/default/web/behave", "body": {"stopsAfter": "5s"}}"#, 404),
            (r#"{"id": 13, "call": "GET decisions"}"#, 200),
            (r#"{"id": 14, "call": "POST clock/advance", "body": {"by": "1s"}}"#, 501),
            (r#"{"id": 15, "call": "GET /api/v1/nodes"}"#, 501),
            (r#"{"id": 16, "call": "GET machine"}"#, 400),
            (r#"{"id": 17, "call": "DELETE machines/w1"}"#, 200),
            (r#"{"id": 18, "call": "GET machines/w1"}"#, 404),
            ("no json", 400),
        ];
        let lines: Vec<&str> = codes.iter().map(|(line, _)| *line).collect();
        for (answer, (line, code)) in answers(&lines).iter().zip(codes) {
            assert_eq!(answer.get("code").as_i64(), Some(code), "{line}: {answer}");
        }
    }

    #[test]
    fn a_link_shows_the_rules_that_lie_on_it() {
        let all = answers(&[
            r#"{"call": "POST machines", "body": {"name": "w1"}}"#,
            r#"{"call": "POST network/rules", "body": {"from": "machine/w1", "to": "api", "effect": "drop"}}"#,
            r#"{"call": "GET machines/w1"}"#,
        ]);
        let link = &all[2].at(&["body", "links"]).items()[0];
        assert_eq!(link.get("state").as_str(), Some("stalled"));
        assert_eq!(link.get("rules").items()[0].as_str(), Some("r1"));
    }
}
