//! Sentences about the network: connections that stall, requests that are lost, delayed or answered by others.

use cucumber::{given, when};
use jiff::SignedDuration;
use nodeproof_core::components::registry::{self, parts_of};
use nodeproof_core::network::{CODES, Effect, Endpoint, Fault, InjectedReply, Match, Verb, known_resource};
use nodeproof_core::objects::Text;
use nodeproof_core::objects::time::seconds;
use nodeproof_core::scenario::{Action, ScenarioAction};

use super::draft::{Draft, NodeEntry, NodeKind};
use crate::load::near::nearest;

/// Nothing passes between the machine and the API server, in both directions, or between it and anybody; or again. A
/// machine that is refused its connection finds nobody who listens: what is under way breaks off, and each new attempt
/// fails at once. A connection from the API server is that to the kubelet's server, for logs and the like. Of a zone it
/// is said of all its machines at once, of a controller or a program by its name without quotes. `for 30s` ends a fault
/// by itself; with `for 10m, on and off every 30s` it lies for 30 s, does not for 30 s, and so on.
#[given(
    regex = r#"^(?:(?P<of>machine|zone) "(?P<name>[^"]*)"|(?P<component>[a-z][a-z-]*)) (?P<what>loses|regains|is refused) its (?P<part>connection (?:to|from) the API server|network)(?: for (?P<duration>[^ ,]+)(?:, on and off every (?P<every>\S+))?)?$"#
)]
#[when(
    regex = r#"^(?:(?P<of>machine|zone) "(?P<name>[^"]*)"|(?P<component>[a-z][a-z-]*)) (?P<what>loses|regains|is refused) its (?P<part>connection (?:to|from) the API server|network)(?: for (?P<duration>[^ ,]+)(?:, on and off every (?P<every>\S+))?)?$"#
)]
#[expect(clippy::too_many_arguments, reason = "a parameter for each part of the sentence")]
fn connection(
    draft: &mut Draft,
    of: String,
    name: String,
    component: String,
    what: String,
    part: String,
    lasts: String,
    every: String,
) {
    if part == "network" && what == "is refused" {
        return draft.problem(&part, "nobody refuses a machine its network: it loses it".to_owned());
    }
    if what == "regains" && !lasts.is_empty() {
        return draft.problem(&lasts, "what is regained is not for a time".to_owned());
    }
    let (Some(lasts), Some(on_and_off)) = (draft.lasting(&lasts), draft.lasting(&every)) else { return };
    if let Some((whole, turn)) = lasts.zip(on_and_off).filter(|(whole, turn)| turn >= whole) {
        let message = format!("it is to come and go within {}, and each turn takes {}", seconds(whole), seconds(turn));
        return draft.problem(&every, message);
    }
    let clients = match of.as_str() {
        "" if part != "connection to the API server" => {
            return draft.problem(&part, format!("{component} has its connection to the API server alone"));
        }
        "" => draft.components(&component),
        of => {
            let nodes = if of == "zone" { draft.zone(&name) } else { draft.node_entry(&name).into_iter().collect() };
            draft.machine_ends(&nodes, &part)
        }
    };
    let to = if part == "network" { Endpoint::Any } else { api() };
    let lay = |effect, client: &Text| {
        let fault = Fault { to: to.clone(), effect, lasts, on_and_off, ..Fault::disconnect(client.clone()) };
        ScenarioAction::from(Action::AddRule(fault))
    };
    let action = |client: &Text| match what.as_str() {
        "loses" => lay(Effect::Drop, client),
        "is refused" => lay(Effect::Refuse, client),
        _ => ScenarioAction::Heal(Endpoint::Name(client.clone())),
    };
    if what == "regains"
        && let Some(client) = clients.iter().find(|client| !draft.has_lost(client))
    {
        let help = vec!["say before it what is lost: `machine \"a\" loses its network`".to_owned()];
        let who = client.rsplit('/').next().unwrap_or(client);
        return draft.problem_with(&what, format!("{who} has lost nothing that it could regain"), help);
    }
    let actions: Vec<ScenarioAction> = clients.iter().map(action).collect();
    if actions.is_empty() {
        return;
    }
    if actions.iter().all(|action| draft.is_broken_already(action)) {
        let help = vec!["a fault that changes nothing would pass for one that was survived".to_owned()];
        return draft.problem_with(&what, format!("a step before it has broken this {part} already"), help);
    }
    draft.actions(actions);
}

/// Requests of a machine, or of a controller or a program by its name without quotes, never arrive, and the client
/// meets its own time-out; or they take this much longer, or each some time between two; or they are answered with this
/// code and never reach the API server. It goes on for good, or so many `times`, or `for` a time, or `with probability
/// 0.3` for each request. A resource may have a subresource: `nodes/status`. A method may stand before: `GET requests
/// to nodes …`. Requests to the cloud are all that a controller of it asks the cloud for.
#[given(
    regex = r#"^(?:(?P<verb>[A-Za-z]+) )?requests to (?P<resource>the cloud|\S+) from (?P<client>"[^"]*"|[a-z-]+) (?:are lost|take (?P<duration>\S+?)(?: to (?P<longest>\S+))?|are answered (?P<code>\d+))(?: (?P<times>\d+) times)?(?: for (?P<for>\S+))?(?: with probability (?P<probability>\S+))?$"#
)]
#[when(
    regex = r#"^(?:(?P<verb>[A-Za-z]+) )?requests to (?P<resource>the cloud|\S+) from (?P<client>"[^"]*"|[a-z-]+) (?:are lost|take (?P<duration>\S+?)(?: to (?P<longest>\S+))?|are answered (?P<code>\d+))(?: (?P<times>\d+) times)?(?: for (?P<for>\S+))?(?: with probability (?P<probability>\S+))?$"#
)]
#[expect(clippy::too_many_arguments, reason = "a parameter for each part of the sentence")]
fn requests(
    draft: &mut Draft,
    verb: String,
    resource: String,
    client: String,
    duration: String,
    longest: String,
    code: String,
    times: String,
    lasts: String,
    probability: String,
) {
    let effect = match (duration.as_str(), code.as_str()) {
        ("", "") => Effect::Drop,
        ("", code) => {
            let Some(known) = code.parse::<u16>().ok().filter(|code| CODES.contains(code)) else {
                let help = vec![format!("the codes are {}", CODES.map(|code| code.to_string()).join(", "))];
                return draft.problem_with(code, format!("no request is answered with {code}"), help);
            };
            Effect::Answer(InjectedReply::Code(known))
        }
        _ => {
            let Some(delay) = draft.duration(&duration) else { return };
            let most = if longest.is_empty() { Some(delay) } else { draft.duration(&longest) };
            let Some(most) = most else { return };
            if most < delay {
                return draft.problem(&longest, format!("{duration} is longer than {longest}"));
            }
            Effect::Delay { delay, jitter: most - delay }
        }
    };
    let Some(lasts) = draft.lasting(&lasts) else { return };
    let times = match times.as_str() {
        "" => None,
        text => match text.parse::<u32>() {
            Ok(times @ 1..) => Some(times),
            _ => return draft.problem(text, format!("{text} times is no number of requests")),
        },
    };
    let share = if probability.is_empty() { Some(1.0) } else { probability.parse::<f64>().ok() };
    let Some(share) = share.filter(|share| *share > 0.0 && *share <= 1.0) else {
        return draft.problem(&probability, format!("{probability:?} is no probability: above 0, and at most 1"));
    };
    draft.fault(
        &verb,
        &resource,
        &client,
        &Fault { effect, times, lasts, probability: share, ..Fault::disconnect("") },
    );
}

/// Events of the watches of a machine, or of a controller or a program by its name without quotes, reach it when the
/// time is over, and nothing tells it that it misses them: what it knows of these objects is stale.
#[given(
    regex = r#"^watch events of (?P<resource>\S+) to (?P<client>"[^"]*"|[a-z-]+) are held back for (?P<duration>\S+)$"#
)]
#[when(
    regex = r#"^watch events of (?P<resource>\S+) to (?P<client>"[^"]*"|[a-z-]+) are held back for (?P<duration>\S+)$"#
)]
fn held_back(draft: &mut Draft, resource: String, client: String, lasts: String) {
    let Some(lasts) = draft.lasting(&lasts) else { return };
    if resource.contains('/') {
        return draft.problem(&resource, "a watch is of whole objects".to_owned());
    }
    draft.fault("", &resource, &client, &Fault { effect: Effect::HoldEvents, lasts, ..Fault::disconnect("") });
}

/// Returns the API server, which is the other end of most connections.
fn api() -> Endpoint {
    Endpoint::Name(Text::of("api"))
}

/// Tells whether a fault on a whole connection leaves nothing to another one of the same client. A connection that
/// stalls is not refused any more, whereas one that is refused can still stall.
fn covers(laid: &Fault, new: &Fault) -> bool {
    let is_for_good = laid.lasts.is_none() && laid.on_and_off.is_none() && laid.times.is_none();
    let is_whole = laid.matching.is_none() && laid.probability >= 1.0;
    let is_as_far = laid.from == new.from && (laid.to == Endpoint::Any || laid.to == new.to);
    is_for_good && is_whole && is_as_far && (laid.effect == Effect::Drop || laid.effect == new.effect)
}

impl Draft {
    /// Reads how long a fault lasts; an empty text is for good.
    fn lasting(&mut self, words: &str) -> Option<Option<SignedDuration>> {
        if words.is_empty() {
            return Some(None);
        }
        let lasts = self.duration(words)?;
        if lasts.is_zero() {
            self.problem(words, format!("{words} is no time"));
            return None;
        }
        Some(Some(lasts))
    }

    /// Returns the ends of connections that belong to the machines of some Nodes; none if one has no machine.
    fn machine_ends(&mut self, nodes: &[NodeEntry], part: &str) -> Vec<Text> {
        if let Some(node) = nodes.iter().find(|node| node.kind != NodeKind::Machine) {
            let help = vec![format!("Node \"{}\" falls silent", node.name)];
            self.problem_with("", format!("behind Node {:?} is no machine", node.name), help);
            return Vec::new();
        }
        // The server of a kubelet is an end of its own, so that the kubelet's own requests go on.
        let end = if part == "connection from the API server" { "kubelet" } else { "machine" };
        nodes.iter().map(|node| Text::from(format!("{end}/{}", node.name))).collect()
    }

    /// Tells whether a step before laid a fault on the messages of a client.
    fn has_lost(&self, client: &Text) -> bool {
        let from = Endpoint::Name(client.clone());
        let is_fault = |action: &Action| matches!(action, Action::AddRule(fault) if fault.from == from);
        self.scenario.actions().any(|action| matches!(action, ScenarioAction::Action(action) if is_fault(action)))
    }

    /// Tells whether a fault on a connection changes nothing: one for good lies below it, or the same of this moment.
    fn is_broken_already(&self, action: &ScenarioAction) -> bool {
        let fault_of = |action: &ScenarioAction| match action {
            ScenarioAction::Action(action) => match &**action {
                Action::AddRule(fault) => Some(fault.clone()),
                _ => None,
            },
            _ => None,
        };
        let Some(new) = fault_of(action) else { return false };
        let mut laid: Vec<Fault> = Vec::new();
        for before in self.scenario.actions() {
            match before {
                ScenarioAction::Heal(from) => laid.retain(|fault| fault.from != *from),
                before => laid.extend(fault_of(before)),
            }
        }
        let goes_on = |action: &&ScenarioAction| {
            !matches!(action, ScenarioAction::Heal(_) | ScenarioAction::Pass(_) | ScenarioAction::Until(_))
        };
        let whens = self.scenario.acts.last().into_iter().flat_map(|act| act.when.iter().rev());
        let is_repeated = whens.flat_map(|when| when.actions.iter().rev()).take_while(goes_on).any(|own| own == action);
        is_repeated || laid.iter().any(|fault| covers(fault, &new))
    }

    /// Lays a fault on the requests of a client, as the rest of the fault says.
    fn fault(&mut self, verb: &str, resource: &str, client: &str, rest: &Fault) {
        let Some(verb) = self.verb(verb) else { return };
        let clients = self.clients(client);
        let fault = |client: &Text, to, matching| {
            let from = Endpoint::Name(client.clone());
            ScenarioAction::from(Action::AddRule(Fault { from, to, matching, ..rest.clone() }))
        };
        if resource == "the cloud" {
            let calls = |client: &Text| registry::cloud().any(|own| *client == *format!("controller/{own}"));
            if !clients.iter().all(calls) {
                let help = vec![format!("they are {}", registry::cloud().collect::<Vec<_>>().join(", "))];
                return self.problem_with("", "only controllers of the cloud call it".to_owned(), help);
            }
            let matching = verb.map(|verb| Match { verb: Some(verb), ..Match::default() });
            let to = Endpoint::Name(Text::of("cloud"));
            let faults = clients.iter().map(|client| fault(client, to.clone(), matching.clone()));
            let faults: Vec<ScenarioAction> = faults.collect();
            if !faults.is_empty() {
                self.actions(faults);
            }
            return;
        }
        let (plural, subresource) = resource.split_once('/').map_or((resource, None), |(own, sub)| (own, Some(sub)));
        if let Err(unknown) = known_resource(plural, subresource) {
            let help = match unknown.near {
                Some(near) => format!("did you mean {near}?"),
                None => "a resource is a plural in small letters, as nodes, leases or nodes/status".to_owned(),
            };
            self.problem_with(resource, format!("there is no resource {:?}", unknown.name), vec![help]);
            return;
        }
        let matching =
            Match { verb, resource: Some(Text::from(plural)), subresource: subresource.map(Text::from), name: None };
        if !clients.is_empty() {
            self.actions(clients.iter().map(|client| fault(client, api(), Some(matching.clone()))).collect());
        }
    }

    /// Reads a verb of the API or a method of HTTP; both may be left out.
    fn verb(&mut self, word: &str) -> Option<Option<Verb>> {
        if word.is_empty() {
            return Some(None);
        }
        let verbs = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];
        let lower = match word {
            "POST" => "create",
            "PUT" => "update",
            other => &other.to_lowercase(),
        };
        if let Some(verb) = Verb::from_name(lower) {
            return Some(Some(verb));
        }
        let help = match nearest(lower, verbs) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("the verbs are {}", verbs.join(", ")),
        };
        self.problem_with(word, format!("there is no verb {word:?}"), vec![help]);
        None
    }

    /// Reads the client of requests: a machine in quotes, or a controller or program by its name.
    fn clients(&mut self, word: &str) -> Vec<Text> {
        match word.strip_prefix('"').and_then(|word| word.strip_suffix('"')) {
            Some(node) => {
                let nodes: Vec<NodeEntry> = self.node_entry(node).into_iter().collect();
                self.machine_ends(&nodes, "")
            }
            None => self.components(word),
        }
    }

    /// Reads a controller, or a program with all of its controllers, as clients; none if there is no such.
    fn components(&mut self, word: &str) -> Vec<Text> {
        let client = |own: &str| Text::from(format!("controller/{own}"));
        let of_program: Vec<Text> = parts_of(word).map(client).collect();
        if !of_program.is_empty() {
            return of_program;
        }
        let controllers = registry::processes;
        if controllers().any(|own| own == word) {
            return vec![client(word)];
        }
        let help = match nearest(word, controllers()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!(
                "the controllers are {}; machines stand in quotes",
                controllers().collect::<Vec<_>>().join(", ")
            ),
        };
        self.problem_with(word, format!("there is no controller {word:?}"), vec![help]);
        Vec::new()
    }
}
