//! `kubectl drain`: cordons Nodes, and evicts or deletes their Pods, one Node after the other.
//!
//! Mirrors kubectl pkg/cmd/drain/drain.go and pkg/drain (v1.34) with what other releases do differently. Inputs: a
//! command, answers, time. Outputs: requests, the lines that kubectl prints (each a decision), and its exit code. The
//! Pods of a Node are evicted at the same time, each by a loop of its own (`evictions`); without eviction they are
//! deleted one by one and awaited together (`deletion`). Left out: discovery before the first request, and what
//! client-go repeats on a broken connection.

mod command;
mod deletion;
mod evictions;
mod failure;
mod filters;
mod requests;
#[cfg(test)]
mod tests;

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::Timestamp;

pub use command::{DrainCommand, DryRun};

use self::deletion::Deletion;
use self::evictions::Evictions;
use self::failure::{Failure, NodeFailure};
use self::filters::{ListedPod, PodVerdict, judge, refusals, warnings};
use self::requests::{AskedFor, Requests};
use super::{Component, Deadline, DecisionId, Outbox, Output, earliest};
use crate::json;
use crate::network::{Answer, Call, Identity, NODES, PODS, Resource, ToClient, Verb};
use crate::objects::names::Wording;
use crate::objects::selector::Selector;
use crate::objects::{Json, Text};
use crate::profile::Settings;

const DAEMON_SETS: Resource = Resource::of("apps", "v1", "daemonsets");

/// A Node as it was looked up.
#[derive(Clone, Debug)]
struct NamedNode {
    name: Text,
    is_cordoned: bool,
}

/// The Pods of the Node whose turn it is.
#[derive(Clone, Debug, Default)]
struct PodList {
    /// Those that no filter has been asked about yet.
    open: Vec<Json>,
    judged: Vec<(ListedPod, PodVerdict)>,
    /// Why the Node cannot be drained, if that is known already: the list only tells what is left.
    failed: Option<NodeFailure>,
}

/// What goes on with the Pods of the Node.
#[derive(Clone, Debug, Default)]
enum Going {
    #[default]
    Nothing,
    Eviction(Evictions),
    Deletion(Deletion),
}

/// A run of `kubectl drain`.
#[derive(Clone, Debug)]
pub struct Drain {
    command: DrainCommand,
    settings: Arc<Settings>,
    outbox: Outbox,
    requests: Requests,
    nodes: Vec<NamedNode>,
    /// How many Nodes are cordoned, or could not be.
    cordoned: usize,
    /// How many Nodes are drained, or could not be.
    done: usize,
    list: PodList,
    going: Going,
    failed: Vec<(Text, NodeFailure)>,
    printed: Vec<String>,
    exit: Option<u8>,
}

impl Drain {
    /// Starts the command.
    #[must_use]
    pub fn new(command: DrainCommand, identity: Arc<Identity>, settings: Arc<Settings>, now: Timestamp) -> Self {
        let mut drain = Self {
            command,
            settings,
            outbox: Outbox::default(),
            requests: Requests::new(identity, now),
            nodes: Vec::new(),
            cordoned: 0,
            done: 0,
            list: PodList::default(),
            going: Going::Nothing,
            failed: Vec::new(),
            printed: Vec::new(),
            exit: None,
        };
        // Only whether it can be read matters: the wording of the reason is not printed.
        if Selector::parse(&drain.command.pod_selector, Wording::Characters).is_err() {
            let text = "--pod-selector=<pod_selector> must be a valid label selector";
            drain.end_with(&Failure::Own(String::from(text)));
        } else {
            drain.look_up(now);
        }
        drain
    }

    /// Returns the lines that it has printed, to its standard output and its standard error alike.
    #[must_use]
    pub fn printed(&self) -> &[String] {
        &self.printed
    }

    /// Returns its exit code, once it has ended.
    #[must_use]
    pub const fn exit(&self) -> Option<u8> {
        self.exit
    }

    fn print(&mut self, about: impl Into<Text>, line: impl Into<String>) -> DecisionId {
        let line = line.into();
        self.printed.push(line.clone());
        self.outbox.decide(about, format!("prints {line:?}"), Vec::new())
    }

    fn print_about_node(&mut self, name: &Text, line: String) -> DecisionId {
        self.print(format!("node/{name}"), line)
    }

    /// Prints `node/a drained` and the like.
    fn print_node(&mut self, name: &Text, what: &str) {
        let suffix = self.command.dry_run.suffix();
        self.print_about_node(name, format!("node/{name} {what}{suffix}"));
    }

    fn send(&mut self, wanted: AskedFor, call: Call, because: Option<DecisionId>, now: Timestamp) {
        self.requests.send(wanted, call, because, &mut self.outbox, now);
    }

    /// Adds the parameter that makes a server only try.
    fn tried(&self, call: Call) -> Call {
        if self.command.dry_run == DryRun::Server { call.query("dryRun", Text::of("All")) } else { call }
    }

    /// Returns the options of deletions and evictions.
    fn delete_options(&self) -> Json {
        let mut options = Json::object();
        if let Some(seconds) = self.command.grace_period {
            options.set(&["gracePeriodSeconds"], seconds);
        }
        if self.command.dry_run == DryRun::Server {
            options.set(&["dryRun"], json!(["All"]));
        }
        options
    }

    fn look_up(&mut self, now: Timestamp) {
        match self.command.nodes.get(self.nodes.len()).cloned() {
            Some(name) => self.send(AskedFor::Node, Call::new(Verb::Get, NODES, "", name), None, now),
            None => self.cordon(now),
        }
    }

    fn cordon(&mut self, now: Timestamp) {
        while let Some(node) = self.nodes.get(self.cordoned).cloned() {
            if !node.is_cordoned && self.command.dry_run != DryRun::Client {
                let patch = json!({"spec": {"unschedulable": true}});
                let call = self.tried(Call::strategic_patch(NODES, "", node.name, patch));
                return self.send(AskedFor::Cordon, call, None, now);
            }
            self.print_node(&node.name, if node.is_cordoned { "already cordoned" } else { "cordoned" });
            self.cordoned += 1;
        }
        self.next_node(now);
    }

    fn handle_cordon(&mut self, answer: Result<Answer, Failure>, now: Timestamp) {
        let Some(node) = self.nodes.get(self.cordoned).cloned() else { return };
        match answer {
            Ok(_) => self.print_node(&node.name, "cordoned"),
            Err(failure) => {
                let line = format!("error: unable to cordon node {:?}: {}", node.name.as_str(), failure.text());
                self.print_about_node(&node.name, line);
            }
        }
        self.cordoned += 1;
        self.cordon(now);
    }

    fn node(&self) -> Option<Text> {
        self.nodes.get(self.done).map(|node| node.name.clone())
    }

    fn next_node(&mut self, now: Timestamp) {
        self.going = Going::Nothing;
        if self.done < self.nodes.len() { self.list_pods(None, now) } else { self.end() }
    }

    /// Lists the Pods of the Node; `failed` says why it cannot be drained, where that is known.
    fn list_pods(&mut self, failed: Option<NodeFailure>, now: Timestamp) {
        self.going = Going::Nothing;
        self.list = PodList { failed, ..PodList::default() };
        self.list_page("", now);
    }

    fn list_page(&mut self, next: &str, now: Timestamp) {
        let Some(node) = self.node() else { return };
        let mut call = Call::new(Verb::List, PODS, "", "").query("fieldSelector", format!("spec.nodeName={node}"));
        if !self.command.pod_selector.is_empty() {
            call = call.query("labelSelector", self.command.pod_selector.clone());
        }
        if let Some(limit) = self.command.limit() {
            call = call.query("limit", limit);
        }
        if !next.is_empty() {
            call = call.query("continue", next);
        }
        self.send(AskedFor::Pods, call, None, now);
    }

    fn handle_pods(&mut self, answer: Result<Answer, Failure>, now: Timestamp) {
        match answer {
            Ok(answer) => {
                let body = answer.body();
                self.list.open.extend(body.get("items").items().iter().cloned());
                match body.at(&["metadata", "continue"]).as_str().filter(|next| !next.is_empty()) {
                    Some(next) => self.list_page(next, now),
                    None => self.judge_pods(now),
                }
            }
            Err(failure) => {
                self.list.judged.clear();
                self.judged(Vec::from([failure]), now);
            }
        }
    }

    /// Asks the filters about each Pod; the DaemonSet of one is looked up first.
    fn judge_pods(&mut self, now: Timestamp) {
        while !self.list.open.is_empty() {
            let pod = ListedPod::of(&self.list.open[0]);
            let daemon_set = pod.daemon_set(self.settings.profile()).filter(|_| !pod.is_skipped(&self.command, now));
            if let Some(daemon_set) = daemon_set {
                let call = Call::new(Verb::Get, DAEMON_SETS, pod.namespace.clone(), daemon_set.clone());
                return self.send(AskedFor::DaemonSet, call, None, now);
            }
            self.judge_first(None, now);
        }
        self.judged(refusals(&self.list.judged), now);
    }

    fn judge_first(&mut self, found: Option<&Result<(), Failure>>, now: Timestamp) {
        let pod = ListedPod::of(&self.list.open.remove(0));
        let verdict = judge(&pod, &self.command, self.settings.profile(), found, now);
        self.list.judged.push((pod, verdict));
    }

    fn judged(&mut self, refused: Vec<Failure>, now: Timestamp) {
        let Some(node) = self.node() else { return };
        let going = self.list.judged.iter().filter(|(_, verdict)| verdict.goes()).map(|(pod, _)| pod.clone());
        let going: Vec<ListedPod> = going.collect();
        if let Some(failed) = self.list.failed.take() {
            if !going.is_empty() {
                let why = failed.text();
                let line = format!("There are pending pods in node {:?} when an error occurred: {why}", node.as_str());
                self.print_about_node(&node, line);
                for pod in going {
                    self.print(pod.about(), format!("pod/{}", pod.name));
                }
            }
            if !refused.is_empty() {
                let line = "Following errors occurred while getting the list of pods to delete:";
                self.print_about_node(&node, String::from(line));
                self.print_about_node(&node, NodeFailure::Several(refused).text());
            }
            return self.give_up(failed, now);
        }
        if !refused.is_empty() {
            return self.give_up(NodeFailure::Several(refused), now);
        }
        let warnings = warnings(&self.list.judged);
        if !warnings.is_empty() {
            self.print_about_node(&node, format!("Warning: {warnings}"));
        }
        if self.command.dry_run == DryRun::Client {
            for pod in going {
                self.print(pod.about(), format!("evicting pod {} (dry run)", pod.called()));
            }
            return self.node_drained(now);
        }
        if going.is_empty() {
            self.node_drained(now);
        } else if self.command.is("disable-eviction") {
            self.delete_pods(going, now);
        } else {
            self.send(AskedFor::Discovery, Call::of_path("/api/v1"), None, now);
        }
    }

    /// Evicts the Pods if the server knows evictions, and deletes them otherwise.
    fn handle_discovery(&mut self, answer: Result<Answer, Failure>, now: Timestamp) {
        let going = self.list.judged.drain(..).filter(|(_, verdict)| verdict.goes()).map(|(pod, _)| pod).collect();
        let body = match answer {
            Ok(answer) => answer.body(),
            Err(failure) => return self.list_pods(Some(NodeFailure::One(failure)), now),
        };
        let is_eviction = |it: &Json| {
            let text = |field: &str| it.get(field).as_str().unwrap_or("");
            text("name") == "pods/eviction" && text("kind") == "Eviction" && !text("group").is_empty()
        };
        if body.get("resources").items().iter().any(is_eviction) {
            self.evict_pods(going, now);
        } else {
            self.delete_pods(going, now);
        }
    }

    fn node_drained(&mut self, now: Timestamp) {
        if let Some(node) = self.node() {
            self.print_node(&node, "drained");
        }
        self.done += 1;
        self.next_node(now);
    }

    fn give_up(&mut self, failure: NodeFailure, now: Timestamp) {
        let Some(node) = self.node() else { return };
        let why = failure.text();
        let line =
            format!("error: unable to drain node {:?} due to error: {why}, continuing command...", node.as_str());
        self.print_about_node(&node, line);
        self.failed.push((node, failure));
        self.done += 1;
        self.next_node(now);
    }

    /// Ends the command: with the Nodes that could not be drained, if there are any.
    fn end(&mut self) {
        let failed = core::mem::take(&mut self.failed);
        let Some((first, _)) = failed.first().cloned() else {
            self.exit = Some(0);
            return;
        };
        self.print_about_node(&first, String::from("There are pending nodes to be drained:"));
        for (node, _) in &failed {
            self.print_about_node(node, format!(" {node}"));
        }
        let failures: Vec<&NodeFailure> = failed.iter().map(|(_, failure)| failure).collect();
        for line in NodeFailure::last_words(&failures) {
            self.print_about_node(&first, line);
        }
        self.exit = Some(1);
    }

    fn end_with(&mut self, failure: &Failure) {
        let about = self.command.nodes.get(self.nodes.len()).cloned().unwrap_or_default();
        self.print_about_node(&about, failure.last_words());
        self.exit = Some(1);
    }

    fn handle_answer(&mut self, wanted: AskedFor, answer: Result<Answer, Failure>, now: Timestamp) {
        match wanted {
            AskedFor::Node => match answer {
                Ok(answer) => {
                    let tree = answer.body();
                    let is_cordoned = tree.at(&["spec", "unschedulable"]).as_bool() == Some(true);
                    let name = tree.at(&["metadata", "name"]).as_text().cloned().unwrap_or_default();
                    self.nodes.push(NamedNode { name, is_cordoned });
                    self.look_up(now);
                }
                Err(failure) => self.end_with(&failure),
            },
            AskedFor::Cordon => self.handle_cordon(answer, now),
            AskedFor::Pods => self.handle_pods(answer, now),
            AskedFor::DaemonSet => {
                self.judge_first(Some(&answer.map(drop)), now);
                self.judge_pods(now);
            }
            AskedFor::Discovery => self.handle_discovery(answer, now),
            AskedFor::Eviction(at) => self.handle_eviction(at, answer, now),
            AskedFor::Refreshed(at) => self.handle_refreshed(at, answer, now),
            AskedFor::Evicted(at) => self.handle_evicted(at, answer, now),
            AskedFor::Deletion => self.handle_deletion(answer, now),
            AskedFor::Deleted => self.handle_deleted(answer, now),
        }
    }
}

impl Component for Drain {
    fn handle_message(&mut self, message: ToClient, now: Timestamp) {
        let ToClient::Response { id, result } = message else { return };
        if let Some((wanted, answer)) = self.requests.handle_response(id, result, now) {
            self.handle_answer(wanted, answer, now);
        }
    }

    fn handle_timeout(&mut self, now: Timestamp) {
        self.requests.handle_timeout(&mut self.outbox, now);
        match self.going {
            Going::Nothing => {}
            Going::Eviction(_) => self.continue_evictions(now),
            Going::Deletion(_) => self.continue_deletion(now),
        }
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outbox.poll()
    }

    fn next_deadline(&self) -> Option<Deadline> {
        let going = match &self.going {
            Going::Nothing => None,
            Going::Eviction(evictions) => evictions.next_deadline(),
            Going::Deletion(deletion) => deletion.next_deadline(),
        };
        earliest([self.requests.next_deadline(), going])
    }
}
