//! Sentences about Nodes: Nodes with a kubelet, and hand-fed Nodes.

use cucumber::{given, when};
use gherkin::Step;
use nodeproof_core::json;
use nodeproof_core::objects::Json;
use nodeproof_core::scenario::{Feed, HandFedNode, ScenarioAction, Setup};

use super::draft::{Draft, NodeEntry, NodeKind};
use super::words;
use crate::load::near::nearest;

/// A Node with a kubelet: Ready=True, its Lease is there, and two health passes went by since its status was last
/// written (or it has been ready for five minutes, where passes are rarer than writes).
#[given(regex = r#"^a ready Node "(?P<node>[^"]*)"(?: in zone "(?P<zone>[^"]*)")?$"#)]
fn ready_node(draft: &mut Draft, node: String, zone: String) {
    let zone = Some(zone.as_str()).filter(|zone| !zone.is_empty());
    if let Some(name) = draft.declare_node(&node, NodeKind::Machine, zone) {
        draft.ready_nodes(vec![machine_body(&name, zone)]);
    }
}

/// Several ready Nodes that start together: `ready Nodes "a", "b" and "c"`.
#[given(regex = r#"^ready Nodes (?P<nodes>".*")$"#)]
fn ready_nodes(draft: &mut Draft, nodes: String) {
    let Some(names) = draft.take(&nodes, words::names(&nodes)) else { return };
    let declared: Vec<Json> = names
        .iter()
        .filter_map(|name| draft.declare_node(name, NodeKind::Machine, None))
        .map(|name| machine_body(&name, None))
        .collect();
    draft.ready_nodes(declared);
}

/// Ready Nodes of a zone, named after it: `a-1`, `a-2` and so on. Without a zone they are `node-1`, `node-2` and so on.
#[given(regex = r#"^(?P<count>\d+) ready Nodes(?: in zone "(?P<zone>[^"]*)")?$"#)]
fn ready_zone(draft: &mut Draft, count: String, zone: String) {
    let bodies = draft.zone_of_nodes(&count, &zone, NodeKind::Machine);
    let bodies = bodies.iter().map(|node| machine_body(&node.name, node.zone.as_deref())).collect();
    draft.ready_nodes(bodies);
}

/// A Node without a kubelet: the scenario writes its status and renews its Lease as a kubelet would, until told
/// otherwise.
#[given(regex = r#"^a hand-fed Node "(?P<node>[^"]*)"(?: in zone "(?P<zone>[^"]*)")?$"#)]
fn hand_fed_node(draft: &mut Draft, node: String, zone: String) {
    let zone = Some(zone.as_str()).filter(|zone| !zone.is_empty());
    if draft.declare_node(&node, NodeKind::HandFed, zone).is_some()
        && let Some(node) = draft.node_entry(&node)
    {
        draft.given(Setup::HandFedNodes(vec![hand_fed(&node)]));
    }
}

/// Hand-fed Nodes of a zone, named after it: `a-1`, `a-2` and so on; without a zone `node-1`, `node-2` and so on. They
/// start together.
#[given(regex = r#"^(?P<count>\d+) hand-fed Nodes(?: in zone "(?P<zone>[^"]*)")?$"#)]
fn hand_fed_zone(draft: &mut Draft, count: String, zone: String) {
    let nodes: Vec<_> = draft.zone_of_nodes(&count, &zone, NodeKind::HandFed).iter().map(hand_fed).collect();
    if !nodes.is_empty() {
        draft.given(Setup::HandFedNodes(nodes));
    }
}

/// The scenario feeds the hand-fed Nodes of the line before at these paces: rows `lease` and `status` with a duration
/// each.
#[given(regex = r"^which is fed with:$")]
fn fed_with(draft: &mut Draft, step: &Step) {
    for (row, name, value) in draft.flag_rows(step) {
        let duration = match words::duration(&value) {
            Ok(duration) => duration,
            Err(message) => {
                draft.problem_in_row(row, Some(1), message, Vec::new());
                continue;
            }
        };
        let last = draft.scenario.given.last_mut();
        let Some(Setup::HandFedNodes(nodes)) = last.map(|given| &mut given.setup) else {
            draft.problem("", "this follows a hand-fed Node".to_owned());
            return;
        };
        match name.as_str() {
            "lease" => nodes.iter_mut().for_each(|node| node.lease_every = duration),
            "status" => nodes.iter_mut().for_each(|node| node.status_every = duration),
            _ => {
                let help = nearest(&name, ["lease", "status"]).map(|near| format!("did you mean {near:?}?"));
                let help = help.unwrap_or_else(|| "the rows are lease and status".to_owned());
                draft.problem_in_row(row, Some(0), format!("there is no row {name:?}"), vec![help]);
            }
        }
    }
}

/// The scenario feeds the hand-fed Node no more: neither status nor Lease is written; or both are written at once and
/// from then on.
#[given(regex = r#"^Node "(?P<node>[^"]*)" (?P<what>falls silent|is fed again)$"#)]
#[when(regex = r#"^Node "(?P<node>[^"]*)" (?P<what>falls silent|is fed again)$"#)]
fn silent(draft: &mut Draft, node: String, what: String) {
    draft.feed(&node, if what == "falls silent" { Feed::Silence } else { Feed::Resume });
}

/// The hand-fed Nodes of a zone, or the first of them, are fed no more; or they are written at once, status and Lease,
/// and from then on.
#[given(
    regex = r#"^the (?:first (?P<count>\d+) )?Nodes of zone "(?P<zone>[^"]*)" (?P<what>fall silent|are fed again)$"#
)]
#[when(
    regex = r#"^the (?:first (?P<count>\d+) )?Nodes of zone "(?P<zone>[^"]*)" (?P<what>fall silent|are fed again)$"#
)]
fn feed_of_zone(draft: &mut Draft, count: String, zone: String, what: String) {
    let feed = if what == "fall silent" { Feed::Silence } else { Feed::Resume };
    draft.feed_zone(&count, &zone, &feed);
}

/// The hand-fed Nodes of a zone, or the first of them, write a condition at once, as their kubelets would, and from
/// then on.
#[given(
    regex = r#"^the (?:first (?P<count>\d+) )?Nodes of zone "(?P<zone>[^"]*)" post condition (?P<condition>[^ ,]+)$"#
)]
#[when(
    regex = r#"^the (?:first (?P<count>\d+) )?Nodes of zone "(?P<zone>[^"]*)" post condition (?P<condition>[^ ,]+)$"#
)]
fn zone_posts_condition(draft: &mut Draft, count: String, zone: String, condition: String) {
    let Some((kind, status)) = draft.take(&condition, words::condition(&condition)) else { return };
    let (reason, message) = usual(&kind, &status);
    let feed = Feed::Condition { kind, status, reason: reason.into(), message: message.into() };
    draft.feed_zone(&count, &zone, &feed);
}

/// The scenario renews the Lease of the hand-fed Node no more, or writes its status no more; the other goes on as
/// before.
#[given(regex = r#"^the (?P<what>Lease|status) of Node "(?P<node>[^"]*)" is written no more$"#)]
#[when(regex = r#"^the (?P<what>Lease|status) of Node "(?P<node>[^"]*)" is written no more$"#)]
fn half_silent(draft: &mut Draft, what: String, node: String) {
    draft.feed(&node, if what == "Lease" { Feed::SilenceLease } else { Feed::SilenceStatus });
}

/// The scenario writes a condition of the hand-fed Node at once, as its kubelet would, and from then on.
#[given(
    regex = r#"^Node "(?P<node>[^"]*)" posts condition (?P<condition>[^ ,]+)(?:, reason "(?P<reason>[^"]*)")?(?:, message "(?P<message>(?:[^"\\]|\\.)*)")?$"#
)]
#[when(
    regex = r#"^Node "(?P<node>[^"]*)" posts condition (?P<condition>[^ ,]+)(?:, reason "(?P<reason>[^"]*)")?(?:, message "(?P<message>(?:[^"\\]|\\.)*)")?$"#
)]
fn posts_condition(draft: &mut Draft, node: String, condition: String, reason: String, message: String) {
    let Some((kind, status)) = draft.take(&condition, words::condition(&condition)) else { return };
    let (own_reason, own_message) = usual(&kind, &status);
    let reason = if reason.is_empty() { own_reason } else { reason };
    let message = if message.is_empty() { own_message } else { words::unquoted(&message) };
    draft.feed(&node, Feed::Condition { kind, status, reason: reason.into(), message: message.into() });
}

/// Returns the reason and message that a kubelet sets.
///
/// Source: pkg/kubelet/nodestatus/setters.go (v1.34).
fn usual(kind: &str, status: &str) -> (String, String) {
    let (reason, message) = match (kind, status) {
        ("Ready", "True") => ("KubeletReady", "kubelet is posting ready status"),
        ("Ready", _) => ("KubeletNotReady", "container runtime is down"),
        ("MemoryPressure", "True") => ("KubeletHasInsufficientMemory", "kubelet has insufficient memory available"),
        ("MemoryPressure", _) => ("KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        ("DiskPressure", "True") => ("KubeletHasDiskPressure", "kubelet has disk pressure"),
        ("DiskPressure", _) => ("KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("PIDPressure", "True") => ("KubeletHasInsufficientPID", "kubelet has insufficient PID available"),
        ("PIDPressure", _) => ("KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        ("NetworkUnavailable", "True") => ("NoRouteCreated", "Node created without a route"),
        ("NetworkUnavailable", _) => ("RouteCreated", "RouteController created a route"),
        _ => ("Posted", "posted by the scenario"),
    };
    (reason.to_owned(), message.to_owned())
}

/// Returns the body of a machine for the control interface.
pub(super) fn machine_body(name: &str, zone: Option<&str>) -> Json {
    let mut body = json!({"name": name});
    if let Some(zone) = zone {
        body.set(&["zone"], Json::text(zone));
    }
    body
}

fn hand_fed(node: &NodeEntry) -> HandFedNode {
    let mut fed = HandFedNode::new(node.name.clone());
    fed.labels.push(("kubernetes.io/hostname".into(), node.name.clone()));
    if let Some(zone) = &node.zone {
        fed.labels.push(("topology.kubernetes.io/zone".into(), zone.as_str().into()));
    }
    fed
}

impl Draft {
    fn feed(&mut self, node: &str, feed: Feed) {
        let Some(entry) = self.node_entry(node) else { return };
        if entry.kind != NodeKind::HandFed {
            let help = vec![format!("declare it: Given a hand-fed Node {node:?}")];
            self.problem_with(node, format!("Node {node:?} is not hand-fed"), help);
            return;
        }
        self.action(ScenarioAction::Feed { node: entry.name, feed });
    }

    fn feed_zone(&mut self, count: &str, zone: &str, feed: &Feed) {
        let mut nodes = self.zone(zone);
        if !count.is_empty() {
            let number = count.parse::<usize>().ok().filter(|number| (1..=nodes.len()).contains(number));
            let Some(number) = number else {
                self.problem(count, format!("zone {zone:?} has {} Nodes", nodes.len()));
                return;
            };
            nodes.truncate(number);
        }
        if let Some(other) = nodes.iter().find(|node| node.kind != NodeKind::HandFed) {
            let message = format!("Node {:?} of zone {zone:?} is not hand-fed", other.name);
            let help = vec![format!("zone {zone:?} loses its connection to the API server")];
            self.problem_with(zone, message, help);
            return;
        }
        self.actions(
            nodes.into_iter().map(|node| ScenarioAction::Feed { node: node.name, feed: feed.clone() }).collect(),
        );
    }

    fn zone_of_nodes(&mut self, count: &str, zone: &str, kind: NodeKind) -> Vec<NodeEntry> {
        const COUNT_MAX: usize = 5_000;
        let Some(number) = count.parse::<usize>().ok().filter(|number| (1..=COUNT_MAX).contains(number)) else {
            self.problem(count, format!("a scenario has 1 to {COUNT_MAX} Nodes, not {count}"));
            return Vec::new();
        };
        let stem = if zone.is_empty() { "node" } else { zone };
        let zone = Some(zone).filter(|zone| !zone.is_empty());
        (1..=number)
            .filter_map(|index| {
                let name = self.declare_node(&format!("{stem}-{index}"), kind, zone)?;
                Some(NodeEntry { name, kind, zone: zone.map(str::to_owned) })
            })
            .collect()
    }
}
