//! Sentences about the network: connections that stall, requests that are lost, delayed or answered by others.

use cucumber::{given, when};
use jiff::SignedDuration;
use nodeproof_core::components::registry;
use nodeproof_core::network::{CODES, Effect, Endpoint, Fault, InjectedReply, Match, Verb, known_resource};
use nodeproof_core::objects::Text;
use nodeproof_core::scenario::{Action, ScenarioAction};

use super::draft::{Draft, NodeEntry, NodeKind};
use crate::load::near::nearest;

/// Nothing passes between the machine and the API server, in both directions, or between it and anybody; or again. A
/// machine that is refused its connection finds nobody who listens: what is under way breaks off, and each new attempt
/// fails at once. A connection from the API server is that to the kubelet's server, for logs and the like. Of a zone it
/// is said of all its machines at once.
#[given(
    regex = r#"^(?P<of>machine|zone) "(?P<name>[^"]*)" (?P<what>loses|regains|is refused) its (?P<part>connection (?:to|from) the API server|network)$"#
)]
#[when(
    regex = r#"^(?P<of>machine|zone) "(?P<name>[^"]*)" (?P<what>loses|regains|is refused) its (?P<part>connection (?:to|from) the API server|network)$"#
)]
fn connection(draft: &mut Draft, of: String, name: String, what: String, part: String) {
    let to = if part == "network" { Endpoint::Any } else { api() };
    if to == Endpoint::Any && what == "is refused" {
        return draft.problem(&part, "nobody refuses a machine its network: it loses it".to_owned());
    }
    let entries = if of == "zone" { draft.zone(&name) } else { draft.node_entry(&name).into_iter().collect() };
    if !entries.is_empty() {
        draft.connections(&entries, &what, &part, &to);
    }
}

/// Requests of a machine, or of a controller by its name without quotes, never arrive, and the client meets its own
/// time-out; or they take this much longer; or they are answered with this code, so many times or for good, and never
/// reach the API server. A resource may have a subresource: `nodes/status`. A method may stand before: `GET requests to
/// nodes …`. Requests to the cloud are all that a controller of it asks the cloud for.
#[given(
    regex = r#"^(?:(?P<verb>[A-Za-z]+) )?requests to (?P<resource>the cloud|\S+) from (?P<client>"[^"]*"|[a-z-]+) (?:are lost|take (?P<duration>\S+)|are answered (?P<code>\d+)(?: (?P<times>\d+) times)?)$"#
)]
#[when(
    regex = r#"^(?:(?P<verb>[A-Za-z]+) )?requests to (?P<resource>the cloud|\S+) from (?P<client>"[^"]*"|[a-z-]+) (?:are lost|take (?P<duration>\S+)|are answered (?P<code>\d+)(?: (?P<times>\d+) times)?)$"#
)]
fn requests(
    draft: &mut Draft,
    verb: String,
    resource: String,
    client: String,
    duration: String,
    code: String,
    times: String,
) {
    let mut limit = None;
    let effect = if !duration.is_empty() {
        let Some(delay) = draft.duration(&duration) else { return };
        Effect::Delay { delay, jitter: SignedDuration::ZERO }
    } else if !code.is_empty() {
        let Some(known) = code.parse::<u16>().ok().filter(|code| CODES.contains(code)) else {
            let help = vec![format!("the codes are {}", CODES.map(|code| code.to_string()).join(", "))];
            draft.problem_with(&code, format!("no request is answered with {code}"), help);
            return;
        };
        limit = times.parse::<u32>().ok().filter(|times| *times > 0);
        Effect::Answer(vec![InjectedReply::Code(known)])
    } else {
        Effect::Drop
    };
    draft.fault(&verb, &resource, &client, effect, limit);
}

/// Returns the API server, which is the other end of most connections.
fn api() -> Endpoint {
    Endpoint::Name(Text::of("api"))
}

impl Draft {
    fn connections(&mut self, nodes: &[NodeEntry], what: &str, part: &str, to: &Endpoint) {
        let mut actions = Vec::new();
        for node in nodes {
            if node.kind != NodeKind::Machine {
                let help = vec![format!("Node \"{}\" falls silent", node.name)];
                self.problem_with("", format!("behind Node {:?} is no machine", node.name), help);
                return;
            }
            // The server of a kubelet is an end of its own, so that the kubelet's own requests go on.
            let end = if part == "connection from the API server" { "kubelet" } else { "machine" };
            let client = format!("{end}/{}", node.name);
            let lay = |effect| Action::AddRule(Fault { to: to.clone(), effect, ..Fault::disconnect(client.as_str()) });
            actions.push(match what {
                "loses" => lay(Effect::Drop).into(),
                "is refused" => lay(Effect::Refuse).into(),
                _ => ScenarioAction::Heal(Endpoint::Name(Text::from(client))),
            });
        }
        self.actions(actions);
    }

    fn fault(&mut self, verb: &str, resource: &str, client: &str, effect: Effect, times: Option<u32>) {
        let Some(verb) = self.verb(verb) else { return };
        let Some(client) = self.client(client) else { return };
        if resource == "the cloud" {
            if !registry::cloud().any(|own| client == *format!("controller/{own}")) {
                let help = vec![format!("they are {}", registry::cloud().collect::<Vec<_>>().join(", "))];
                return self.problem_with("", "only controllers of the cloud call it".to_owned(), help);
            }
            let matching = verb.map(|verb| Match { verb: Some(verb), ..Match::default() });
            let to = Endpoint::Name(Text::of("cloud"));
            let fault = Fault { to, matching, effect, times, ..Fault::disconnect(client) };
            return self.action(Action::AddRule(fault));
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
        let fault = Fault { matching: Some(matching), effect, times, ..Fault::disconnect(client) };
        self.action(Action::AddRule(fault));
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

    /// Returns the name of a client on the network: a machine in quotes, or a controller.
    fn client(&mut self, word: &str) -> Option<Text> {
        if let Some(node) = word.strip_prefix('"').and_then(|word| word.strip_suffix('"')) {
            let entry = self.node_entry(node)?;
            if entry.kind != NodeKind::Machine {
                self.problem(node, format!("behind Node {node:?} is no machine"));
                return None;
            }
            return Some(Text::from(format!("machine/{node}")));
        }
        let controllers = registry::processes;
        if controllers().any(|own| own == word) {
            return Some(Text::from(format!("controller/{word}")));
        }
        let help = match nearest(word, controllers()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!(
                "the controllers are {}; machines stand in quotes",
                controllers().collect::<Vec<_>>().join(", ")
            ),
        };
        self.problem_with(word, format!("there is no controller {word:?}"), vec![help]);
        None
    }
}
