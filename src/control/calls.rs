//! The calls about reset, settings, rules, controllers, decisions and the trace, and the refusals that calls share.

use jiff::Timestamp;
use nodeproof_core::components::RecordedDecision;
use nodeproof_core::components::controller::{Controller, ControllerAction};
use nodeproof_core::components::leader_election::LeaderElector;
use nodeproof_core::components::registry::{
    CLOUD_CONTROLLER_MANAGER, canonical, cloud, controllers_of, is_not_modelled, known_names, parts_of, processes,
};
use nodeproof_core::json;
use nodeproof_core::network::{CLOUD_RESOURCES, Endpoint, Fault, Match, NOT_OF_THE_CLOUD, RuleId, known_resource};
use nodeproof_core::objects::time::{exact_seconds, parse, to_micro_time};
use nodeproof_core::objects::{FieldError, FieldReader, Json, Text, nearest};
use nodeproof_core::sim::SimError;

use super::route::Call;
use super::{Content, Control, Refusal, Reply};

impl Control {
    pub(super) fn reset(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        let none = Json::object();
        let setup = self.initial.changed(if call.body.is_null() { &none } else { call.body })?;
        let mut fresh = Self::new(setup)?;
        fresh.initial = self.initial.clone();
        (fresh.rate, fresh.resets) = (self.rate, self.resets + 1);
        fresh.watches = self.watches.keys().map(|watch| (*watch, None)).collect();
        *self = fresh;
        Ok(Reply::ok(self.setup.json()))
    }

    pub(super) fn settings(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        Ok(Reply::ok(self.setup.json()))
    }

    pub(super) fn add_rule(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        let mut fault = Fault::from_json(call.body)?;
        for (field, end) in [("from", &mut fault.from), ("to", &mut fault.to)] {
            let Some(name) = end.name().strip_prefix("controller/") else { continue };
            let name = canonical(name);
            let own = controllers_of(name);
            let client = |name: &str| Text::from(format!("controller/{name}"));
            if own.is_empty() && !is_not_modelled(name) {
                known_controller(field, name)?;
            }
            *end = match own.as_slice() {
                [] => Endpoint::Name(client(name)),
                own => Endpoint::Program { name: client(name), clients: own.iter().map(|name| client(name)).collect() },
            };
        }
        check_cloud(&fault)?;
        if let Some(matching) = &fault.matching {
            let is_there = matching.resource.as_ref().is_some_and(|plural| self.sim.api().has_plural(plural));
            let is_custom = is_there && known_resource(matching.resource.as_deref().unwrap_or_default(), None).is_err();
            if !is_custom {
                known_target(&fault, matching)?;
            }
        }
        let id = self.sim.add_rule(fault);
        self.sim.finish_instant();
        Ok(Reply::json(201, json!({"id": id.name(), "hits": 0})))
    }

    pub(super) fn rules(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        let mut rules: Vec<(RuleId, Json)> = self.sim.rules().map(|rule| (rule.id, shown(rule, true))).collect();
        rules.extend(self.sim.ended_rules().map(|rule| (rule.id, shown(rule, false))));
        rules.sort_by_key(|(id, _)| *id);
        Ok(Reply::ok(rules.into_iter().map(|(_, rule)| rule).collect()))
    }

    pub(super) fn rule(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        let wanted = RuleId::from_name(&call.names[0]);
        let active = self.sim.rules().find(|rule| Some(rule.id) == wanted).map(|rule| shown(rule, true));
        let ended = || self.sim.ended_rules().find(|rule| Some(rule.id) == wanted).map(|rule| shown(rule, false));
        active.or_else(ended).map(Reply::ok).ok_or_else(|| self.no_rule(&call.names[0]))
    }

    pub(super) fn remove_rule(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        let id = RuleId::from_name(&call.names[0]).ok_or_else(|| self.no_rule(&call.names[0]))?;
        let rule = self.sim.remove_rule(id).map_err(|_| self.no_rule(&call.names[0]))?;
        self.sim.finish_instant();
        Ok(Reply::ok(shown(&rule, false)))
    }

    fn no_rule(&self, name: &str) -> Refusal {
        let names: Vec<String> = self.sim.rules().map(|rule| rule.id.name()).collect();
        missing("rule", name, &names)
    }

    pub(super) fn controllers(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        let now = self.sim.now();
        Ok(Reply::ok(
            self.sim
                .controllers()
                .map(|(name, controller)| described(name, controller, self.sim.election_of(name), now))
                .collect(),
        ))
    }

    pub(super) fn controller_do(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        let name = canonical(&call.names[0]);
        let names: Vec<&str> = match name {
            program if !controllers_of(program).is_empty() => parts_of(program).collect(),
            name => {
                running_controller(name)?;
                vec![name]
            }
        };
        let mut reader = FieldReader::new(call.body, "")?;
        reader.needed_text("action")?;
        let word = reader.word("action", "action", &["stop", "start", "restart", "run-once"])?;
        let wanted = reader.text("loop")?;
        reader.finish()?;
        let action = match (word, wanted) {
            (Some("run-once"), wanted) => {
                ControllerAction::RunOnce(self.loop_of(name, wanted.map(|text| text.as_str()))?.into())
            }
            (_, Some(_)) => return Err(FieldError::new("loop", "it belongs to run-once").into()),
            (Some("stop"), None) => ControllerAction::Stop,
            (Some("start"), None) => ControllerAction::Start,
            _ => ControllerAction::Restart,
        };
        for name in names {
            self.sim.controller_do(name, &action).map_err(refused)?;
            self.sim.finish_instant();
        }
        let now = self.sim.now();
        let all: Vec<Json> = self
            .sim
            .controllers()
            .filter(|(own, _)| *own == name || controllers_of(name).contains(own))
            .map(|(name, controller)| described(name, controller, self.sim.election_of(name), now))
            .collect();
        Ok(Reply::ok(match all.as_slice() {
            [only] => only.clone(),
            _ => Json::array(all),
        }))
    }

    /// Finds the loop of a name; without a name the controller must have one loop only.
    fn loop_of(&self, name: &str, wanted: Option<&str>) -> Result<&'static str, Refusal> {
        let found = self.sim.controllers().find(|(own, _)| *own == name);
        let Some((_, Some(controller))) = found else {
            let message = match found {
                Some(_) => format!("{name} is stopped: start it before it runs once"),
                None => format!("{name} does not run as one controller here: nothing to run once"),
            };
            return Err(Refusal { code: 409, error: FieldError::new("action", message) });
        };
        let loops: Vec<&'static str> = controller.loops().iter().map(|info| info.name).collect();
        match (wanted, loops.as_slice()) {
            (None, [only]) => Ok(only),
            (_, []) => Err(Refusal::new(409, format!("{name} has no loop that runs by the clock"))),
            (None, _) => Err(FieldError::new("loop", format!("one of {} is needed", loops.join(", "))).into()),
            (Some(wanted), _) => loops
                .iter()
                .copied()
                .find(|own| *own == wanted)
                .ok_or_else(|| FieldError::unknown("loop", "loop", wanted, loops.iter().copied()).into()),
        }
    }

    pub(super) fn decisions(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&["about", "since", "component"])?;
        let decisions = self.sim.record().decisions();
        // A slip in a name would find nothing, which is also the answer where nothing was decided.
        let is_about = |about: &str| decisions.iter().any(|line| *line.decision.about == *about);
        if let Some(about) = call.parameter("about").filter(|about| !is_about(about) && !self.can_be_about(about)) {
            let message = format!("KIND/NAME or KIND/NAMESPACE/NAME is needed, as \"pod/default/web\", not {about:?}");
            let mut error = FieldError::new("about", message);
            error.did_you_mean = Some(about.to_lowercase()).filter(|near| self.can_be_about(near));
            return Err(error.into());
        }
        let has_decided = |name: &&str| decisions.iter().any(|line| *line.component == **name);
        if let Some(name) = call.parameter("component").filter(|name| !has_decided(name)) {
            let controllers = self.sim.controllers().map(|(name, _)| name.to_owned());
            let kubelets = self.sim.machines().map(|machine| format!("kubelet/{}", machine.name()));
            let drains = (1..=self.sim.drains().count()).map(|number| format!("user/drain-{number}"));
            let known: Vec<String> = controllers.chain(kubelets).chain(drains).collect();
            if !known.iter().any(|own| own == name) {
                let mut error = FieldError::new("component", format!("there is no component {name:?}"));
                error.did_you_mean = nearest(name, known.iter().map(String::as_str)).map(String::from);
                return Err(error.into());
            }
        }
        chosen(call, decisions)
    }

    /// Tells whether decisions can be about something of a name.
    fn can_be_about(&self, about: &str) -> bool {
        let Some((kind, name)) = about.split_once('/') else { return about == "zones" };
        let kinds = self.sim.api().kind_names();
        let kind_of = kinds.clone().find(|own| own.to_lowercase() == kind);
        let namespaced = kind_of.and_then(|own| self.sim.api().find_kind(own)).map(|(_, namespaced)| namespaced);
        let parts: Vec<&str> = name.split('/').collect();
        let has_parts = |namespaced| parts.len() == 1 + usize::from(namespaced) && !parts.contains(&"");
        kind == "zone" || namespaced.is_some_and(has_parts)
    }

    pub(super) fn trace(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&["since"])?;
        let since = since(call)?;
        let lines = self.sim.record().trace().iter();
        let lines = lines.filter(|line| since.is_none_or(|since| line.at >= since)).map(|line| line.json()).collect();
        Ok(Reply { body: Content::Lines(lines), ..Reply::ok(Json::Null) })
    }
}

/// Returns the decisions that a call selects.
pub(super) fn chosen(call: &Call<'_>, decisions: &[RecordedDecision]) -> Result<Reply, Refusal> {
    let since = since(call)?;
    // A slip in the form would find nothing, which is also the answer where nothing was decided.
    let is_known = |about: &str| about.contains('/') || decisions.iter().any(|line| *line.decision.about == *about);
    if let Some(about) = call.parameter("about").filter(|about| !is_known(about)) {
        return Err(FieldError::new("about", format!("KIND/NAME is needed, as \"node/w1\", not {about:?}")).into());
    }
    let wanted = |name: &str, own: &str| call.parameter(name).is_none_or(|wanted| wanted == own);
    let found = decisions.iter().filter(|line| {
        since.is_none_or(|since| line.at >= since)
            && wanted("about", &line.decision.about)
            && wanted("component", &line.component)
    });
    Ok(Reply::ok(found.map(RecordedDecision::json).collect()))
}

/// Refuses a name that does not exist, with the nearest one that does.
pub(super) fn missing(what: &str, name: &str, names: &[String]) -> Refusal {
    let mut error = FieldError::new("", format!("there is no {what} {name:?}"));
    error.did_you_mean = nearest(name, names.iter().map(String::as_str)).map(String::from);
    Refusal { code: 404, error }
}

/// Turns an error of the simulation into a refusal.
pub(super) fn refused(error: SimError) -> Refusal {
    let code = match error {
        SimError::NoMachine(_) | SimError::NoController(_) | SimError::NoRule(_) => 404,
        SimError::MachineExists(_) | SimError::NoLoop(..) | SimError::NoPattern(_) => 409,
        SimError::Machine(error) => return error.into(),
    };
    Refusal::new(code, error.to_string())
}

fn since(call: &Call<'_>) -> Result<Option<Timestamp>, FieldError> {
    let read = |text| {
        parse(text).ok_or_else(|| {
            FieldError::new(
                "since",
                format!("an instant of RFC 3339, as \"2026-01-01T00:00:40Z\", is needed, not {text:?}"),
            )
        })
    };
    call.parameter("since").map(read).transpose()
}

/// Refuses a controller that Kubernetes has and this cluster does not run, as one that is not there.
pub(super) fn running_controller(name: &str) -> Result<(), Refusal> {
    known_controller("controller", name).map_err(|refusal| match refusal.code {
        501 => missing("controller", name, &[]),
        _ => refusal,
    })
}

fn known_controller(field: &str, name: &str) -> Result<(), Refusal> {
    if processes().any(|own| own == name) {
        return Ok(());
    }
    if is_not_modelled(name) {
        return Err(Refusal::not_there(name));
    }
    let mut error = FieldError::unknown(field, "controller", name, processes());
    error.did_you_mean = nearest(name, known_names()).map(String::from);
    Err(error.into())
}

/// Refuses a rule before the cloud for a client that never calls it.
fn check_cloud(fault: &Fault) -> Result<(), FieldError> {
    let client = fault.from.name().strip_prefix("controller/").filter(|_| fault.to.name() == "cloud");
    match client {
        Some(name) if name != CLOUD_CONTROLLER_MANAGER && !cloud().any(|own| own == name) => {
            Err(FieldError::new("from", NOT_OF_THE_CLOUD))
        }
        _ => Ok(()),
    }
}

/// Refuses a rule for requests that no client can send.
fn known_target(fault: &Fault, matching: &Match) -> Result<(), FieldError> {
    let Some(resource) = matching.resource.as_deref() else { return Ok(()) };
    if fault.to.name() == "cloud" {
        return match CLOUD_RESOURCES.contains(&resource) {
            true => Ok(()),
            false => Err(FieldError::unknown("match.resource", "resource of a cloud", resource, CLOUD_RESOURCES)),
        };
    }
    known_resource(resource, matching.subresource.as_deref()).map_err(|unknown| {
        let field = if unknown.name == resource { "match.resource" } else { "match.subresource" };
        let mut error = FieldError::new(field, format!("there is no resource {:?}", unknown.name));
        error.did_you_mean = unknown.near;
        error
    })
}

fn shown(rule: &nodeproof_core::network::Rule, active: bool) -> Json {
    let mut json = rule.json();
    json.set(&["active"], active && rule.has_room());
    json
}

fn described(
    name: &str,
    controller: Option<&dyn Controller>,
    election: Option<&LeaderElector>,
    now: Timestamp,
) -> Json {
    let is_there = controller.is_some();
    let runs = is_there || election.is_some_and(|election| election.is_running() && !election.leads());
    let mut json = json!({"name": name, "running": runs, "leader": is_there});
    let loops = controller.map(|controller| controller.loops()).unwrap_or_default();
    let loops = loops.iter().map(
        |info| json!({"name": info.name, "period": exact_seconds(info.period), "next": info.next.map(to_micro_time)}),
    );
    json.set(&["loops"], loops.collect::<Json>());
    let queues = controller.map(|controller| controller.queues()).unwrap_or_default();
    json.set(
        &["queues"],
        queues.iter().map(|(name, length)| json!({"name": name, "length": length})).collect::<Json>(),
    );
    for (field, value) in controller.map(|controller| controller.details(now)).unwrap_or_default() {
        json.set(&[field], value);
    }
    json
}
