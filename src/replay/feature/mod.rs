//! A recording told as a scenario: a first `.feature` of what was seen, to be read, corrected and kept.
//!
//! Input: a recording. Output: Gherkin that `nodeproof lint` accepts. What users did and what happened to machines are
//! its `When` lines, what controllers did its `Then` lines, with bounds as wide as the phases of loops make them. What
//! sentences do not say stands as a comment. Pure.

mod story;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use nodeproof_core::json;
use nodeproof_core::objects::{Json, Text};
use nodeproof_core::profile::{RELEASES, Settings};

use self::story::{Cause, Change, NodeBefore, PodName, SECOND, Story};
use super::WITHOUT_TRACE;
use super::load::{Micros, Recording};

/// Causes that are so near to each other are one act.
const ONE_ACT: Micros = 2 * SECOND;
/// What follows a silence so soon is of its act: a fault must meet a message by the end of its act, and renewals are
/// 10 s apart.
const AFTER_SILENCE: Micros = 12 * SECOND;
/// By how much a change by a controller may be earlier or later: half a renewal of the Lease before a silence, as it
/// is not known when it began, a health pass, and what a busy machine adds.
const PHASES: i64 = 5 + 5 + 6;
/// What the turn of a Node in its zone adds to its NoExecute taint, and to what follows from that.
const TURN: i64 = 10;
/// How much later what a kubelet does may be that reaches the API server again: its attempts are up to 30 s apart, and
/// its loops 10 s.
const RECONNECTS: i64 = 30 + 10 + 5;
/// How many Pods of a Node that stay are told of.
const STAYING_MAX: usize = 3;
/// How many Nodes a scenario has at most.
const NODES_MAX: usize = 100;

/// Tells a recording as a feature.
///
/// # Errors
/// Nothing happened that could be told, or there were too many Nodes.
pub fn feature(recording: &Recording) -> Result<String, String> {
    let story = Story::of(recording);
    // What was done to Pods is told of the Nodes that something happened to.
    if story.causes.iter().all(|(_, cause)| cause.node().is_none()) {
        let remarks = story.remarks.iter().map(|remark| format!("; {remark}")).collect::<String>();
        return Err(format!("nothing was done to a Node, and none fell silent: there is nothing to tell{remarks}"));
    }
    if story.nodes.len() > NODES_MAX {
        return Err(format!("{} Nodes are too many for a scenario: {NODES_MAX} at most", story.nodes.len()));
    }
    let teller = Teller::new(recording, &story);
    Ok(teller.tell())
}

/// `When` lines and what follows, from the last of them until the next act.
struct Act<'a> {
    zero: Micros,
    end: Micros,
    causes: Vec<(Micros, &'a Cause)>,
}

struct Teller<'a> {
    recording: &'a Recording,
    story: &'a Story,
    /// The Nodes to which something happened.
    touched: BTreeSet<&'a Text>,
    /// Those of them whose kubelets posted what no machine can be made to post.
    fed: BTreeSet<&'a Text>,
    /// The Pods that are told of, with their Nodes.
    pods: BTreeMap<&'a PodName, &'a Text>,
    out: String,
    /// The word that the next line begins with.
    word: &'static str,
}

impl<'a> Teller<'a> {
    fn new(recording: &'a Recording, story: &'a Story) -> Self {
        let touched: BTreeSet<&Text> = story.causes.iter().filter_map(|(_, cause)| cause.node()).collect();
        let posts = |(_, cause): &'a (Micros, Cause)| match cause {
            Cause::Posts { node, .. } => Some(node),
            _ => None,
        };
        let fed = story.causes.iter().filter_map(posts).collect();
        Self { recording, story, touched, fed, pods: BTreeMap::new(), out: String::new(), word: "Given" }
    }

    fn tell(mut self) -> String {
        let about = &self.recording.about;
        let seconds = about.ended / SECOND;
        let _ = writeln!(
            self.out,
            "# Written by nodeproof from a recording: read it, correct it, give it a name of its own.\nFeature: {}\n  \
             Source: a recording of Kubernetes {}, {seconds} s from {}\n\n  Scenario: What was seen of {}",
            about.name.replace('\n', " "),
            about.kubernetes,
            about.started,
            self.touched.iter().map(|node| node.as_str()).collect::<Vec<_>>().join(", "),
        );
        self.given();
        let acts = self.acts();
        for (at, act) in acts.iter().enumerate() {
            self.act(act, at + 1 == acts.len());
        }
        self.out
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "    {} {text}", self.word);
        self.word = "And";
    }

    fn remark(&mut self, text: &str) {
        let _ = writeln!(self.out, "    # {}", text.replace('\n', " "));
    }

    fn given(&mut self) {
        for remark in &self.story.remarks {
            let _ = writeln!(self.out, "    # {remark}");
        }
        let release = self.recording.about.release;
        let is_offered = RELEASES.contains(&release);
        self.line(&format!(
            "a cluster of Kubernetes {}",
            if is_offered { release.minor_name() } else { release.to_string() }
        ));
        self.flags();
        self.line("no other Node");
        for (name, node) in &self.story.nodes {
            let kind = if self.fed.contains(name) { "hand-fed" } else { "ready" };
            if self.fed.contains(name) {
                self.remark(&format!(
                    "The kubelet of {name} posted what follows: here the scenario does, and ends no Pods"
                ));
            }
            let zone = node.zone.as_ref().map(|zone| format!(" in zone \"{zone}\"")).unwrap_or_default();
            self.line(&format!("a {kind} Node \"{name}\"{zone}"));
            self.before(name, node);
        }
        self.pods_before();
    }

    fn before(&mut self, name: &Text, node: &NodeBefore) {
        for taint in &node.taints {
            self.line(&format!("the user taints Node \"{name}\" with \"{taint}\""));
        }
        if node.is_cordoned {
            self.line(&format!("the user cordons Node \"{name}\""));
        }
    }

    /// Says the flags of the control plane that are known and not the default.
    fn flags(&mut self) {
        let default = Settings::of(self.recording.about.release);
        for (component, flags) in &self.recording.about.flags {
            let words = flags.iter().flat_map(|line| line.split_whitespace());
            let given = words.filter_map(|word| word.strip_prefix("--")?.split_once('='));
            let is_told = |(name, value): &(&str, &str)| {
                if WITHOUT_TRACE.contains(name) {
                    return false;
                }
                let mut settings = default.clone();
                settings.set(&format!("{component}.{name}"), value).is_ok() && settings != default
            };
            let rows: Vec<(&str, &str)> = given.filter(is_told).collect();
            if !rows.is_empty() {
                self.line(&format!("{component} runs with:"));
                for (name, value) in rows {
                    let _ = writeln!(self.out, "      | {name} | {value} |");
                }
            }
        }
    }

    /// Puts the Pods there that left Nodes to which something happened, and some that stayed.
    fn pods_before(&mut self) {
        let story = self.story;
        let mut stayed: BTreeMap<&Text, usize> = BTreeMap::new();
        let mut others: BTreeMap<&Text, Vec<&str>> = BTreeMap::new();
        for (name, pod) in &story.pods {
            let Some((node, _)) = story.nodes.get_key_value(pod.at(&["spec", "nodeName"]).as_str().unwrap_or(""))
            else {
                continue;
            };
            if !self.touched.contains(node) {
                continue;
            }
            let leaves = story.is_deleted(name, Micros::MAX);
            let is_static = !pod.at(&["metadata", "annotations", "kubernetes.io/config.mirror"]).is_null();
            let runs = pod.at(&["status", "phase"]).as_str() == Some("Running") && !story.by_owners.contains(name);
            let count = stayed.entry(node).or_default();
            if is_static || !runs || (!leaves && *count == STAYING_MAX) {
                others.entry(node).or_default().push(&name.1);
                continue;
            }
            *count += usize::from(!leaves);
            self.pods.insert(name, node);
            if let [owner, ..] = pod.at(&["metadata", "ownerReferences"]).items() {
                let text = |field: &str| owner.get(field).as_str().unwrap_or("").to_owned();
                let (kind, of) = (text("kind"), text("name"));
                self.remark(&format!("{} is of {kind} {of}; here nobody makes another in its place", name.1));
            }
            self.pod(name, node, pod);
        }
        for (node, names) in others {
            self.remark(&format!(
                "Not told of Node {node}: Pods that did not run, are static, went with their owners or stayed: {}",
                names.join(", ")
            ));
        }
    }

    fn pod(&mut self, name: &PodName, node: &Text, pod: &Json) {
        let shown = shown(name);
        let plain = format!("a Pod {shown} on Node \"{node}\"");
        let ends_as_usual = pod.at(&["spec", "terminationGracePeriodSeconds"]).as_i64().is_none_or(|grace| grace == 30);
        match tolerations(pod).filter(|_| ends_as_usual && KNOWN_NAMESPACES.contains(&&*name.0)) {
            Some(words) if words.is_empty() => self.line(&plain),
            Some(words) => self.line(&format!("{plain} that tolerates {words}")),
            None => {
                self.line("the objects:");
                self.doc_string(name, pod);
                match self.fed.contains(node) {
                    true => self.remark(&format!("Nobody runs {shown} here, since its Node has no kubelet")),
                    false => self.line(&format!("Pod {shown} has condition Ready=True")),
                }
            }
        }
    }

    fn doc_string(&mut self, name: &PodName, pod: &Json) {
        let (namespace, pod_name) = name;
        self.out.push_str("      \"\"\"\n");
        if !KNOWN_NAMESPACES.contains(&&**namespace) {
            let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace.as_str()}});
            let _ = write!(self.out, "      {object}\n      ---\n");
        }
        let mut text =
            format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: {pod_name:?}, namespace: {namespace:?}}}\nspec:\n");
        let _ = writeln!(text, "  nodeName: {}", pod.at(&["spec", "nodeName"]));
        let evicts = |own: &&Json| matches!(own.get("effect").as_str(), None | Some("NoExecute"));
        let tolerations: Json = pod.at(&["spec", "tolerations"]).items().iter().filter(evicts).cloned().collect();
        if !tolerations.is_empty() {
            let _ = writeln!(text, "  tolerations: {tolerations}");
        }
        if let Some(grace) = pod.at(&["spec", "terminationGracePeriodSeconds"]).as_i64().filter(|grace| *grace != 30) {
            let _ = writeln!(text, "  terminationGracePeriodSeconds: {grace}");
        }
        text += "  containers: [{name: main, image: \"registry.k8s.io/pause:3.10\"}]\n";
        for line in text.lines() {
            let _ = writeln!(self.out, "      {line}");
        }
        self.out.push_str("      \"\"\"\n");
    }

    /// Puts causes that are near to each other into acts, whose zero is the last of them.
    fn acts(&self) -> Vec<Act<'a>> {
        let mut acts: Vec<Act<'a>> = Vec::new();
        for (at, cause) in &self.story.causes {
            let is_near = |act: &&mut Act<'a>| {
                let is_quiet = !self.story.changes.iter().any(|(change, _)| (act.zero..*at).contains(change));
                let is_silence = matches!(act.causes.last(), Some((_, Cause::Silent { .. })));
                at - act.zero <= if is_silence && is_quiet { AFTER_SILENCE } else { ONE_ACT }
            };
            match acts.last_mut().filter(is_near) {
                Some(act) => {
                    act.zero = *at;
                    act.causes.push((*at, cause));
                }
                None => acts.push(Act { zero: *at, end: self.recording.about.ended, causes: vec![(*at, cause)] }),
            }
        }
        for at in 1..acts.len() {
            acts[at - 1].end = acts[at].zero;
        }
        acts
    }

    fn act(&mut self, act: &Act<'_>, is_last: bool) {
        self.word = "When";
        let mut last = act.causes.first().map_or(act.zero, |(at, _)| *at);
        for (at, cause) in &act.causes {
            match (at - last) / SECOND {
                0 => {}
                1 => self.line("1s passes"),
                pause => self.line(&format!("{pause}s pass")),
            }
            last = *at;
            self.when(cause);
        }
        self.word = "Then";
        let (zero, end) = (act.zero, act.end);
        let length = (end - zero) / SECOND;
        self.lasts(length, end);
        let is_back = act.causes.iter().any(|(_, cause)| matches!(cause, Cause::Back { .. }));
        let story = self.story;
        for (at, change) in story.changes.iter().filter(|(at, _)| (zero..end).contains(at)) {
            let Some((what, turn)) = self.what(change) else { continue };
            let seen = (at - zero) / SECOND;
            let least = if is_back { 0 } else { (seen - PHASES - turn).max(0) };
            let most = seen + 1 + turn + if is_back { RECONNECTS } else { PHASES };
            let bound = if least == 0 { format!("within {most}s") } else { format!("between {least}s and {most}s") };
            self.line(&format!("{what} {bound}"));
        }
        let stays = length - PHASES - TURN;
        // What becomes of the Pods of a Node that was deleted depends on whether it comes again, which is not told.
        let pods = self.pods.iter().filter(|(_, node)| stays > 0 && !self.is_node_deleted(node, end));
        let pods: Vec<&PodName> = pods.map(|(pod, _)| *pod).collect();
        let is_gone = |pod: &PodName, (at, change): &(Micros, Change)| {
            *at < end && matches!(change, Change::Gone { pod: own } if own == pod)
        };
        for pod in pods {
            if !story.is_deleted(pod, end) && !story.changes.iter().any(|own| is_gone(pod, own)) {
                self.line(&format!("Pod {} stays for {stays}s", shown(pod)));
            }
        }
        if is_last && let Some(node) = self.touched.first() {
            self.line(&format!("the history of Node \"{node}\" matches its snapshot"));
        }
    }

    fn is_node_deleted(&self, node: &Text, before: Micros) -> bool {
        let mut causes = self.story.causes.iter().filter(|(at, _)| *at < before);
        causes.any(|(_, cause)| matches!(cause, Cause::DeleteNode { node: own } if own == node))
    }

    /// Makes the act as long as it was: something stays as it is.
    fn lasts(&mut self, length: i64, end: Micros) {
        let length = length.max(1);
        let mut nodes = self.story.nodes.keys();
        if let Some(other) = nodes.find(|node| !self.touched.contains(node)) {
            self.line(&format!("Node \"{other}\" keeps condition Ready=True for {length}s"));
            return;
        }
        match self.story.nodes.keys().find(|node| !self.is_node_deleted(node, end)) {
            Some(node) => self.line(&format!("Node \"{node}\" keeps field metadata.uid unchanged for {length}s")),
            None => self.remark(&format!("This act lasted {length} s, and no Node was there that could show it")),
        }
    }

    fn when(&mut self, cause: &Cause) {
        let is_fed = cause.node().is_some_and(|node| self.fed.contains(node));
        let text = match cause {
            Cause::Silent { node, since } => {
                let since = since / SECOND;
                self.remark(&format!(
                    "Inferred: the Lease of {node} was renewed last about {since} s before, and not for long after"
                ));
                match is_fed {
                    true => format!("Node \"{node}\" falls silent"),
                    false if self.boots(node) => format!("machine \"{node}\" loses power"),
                    false => format!("machine \"{node}\" loses its connection to the API server"),
                }
            }
            Cause::Back { node, has_booted } => {
                let how = if *has_booted { "with another boot id" } else { "and nothing shows that it has booted" };
                self.remark(&format!("Inferred: the Lease of {node} is renewed again, {how}"));
                match is_fed {
                    true => format!("Node \"{node}\" is fed again"),
                    false if *has_booted => format!("machine \"{node}\" gets power"),
                    false => format!("machine \"{node}\" regains its connection to the API server"),
                }
            }
            Cause::Posts { node, condition } => {
                let text = |field: &str| condition.get(field).as_str().unwrap_or("");
                let mut line = format!("Node \"{node}\" posts condition {}={}", text("type"), text("status"));
                for field in ["reason", "message"] {
                    if !text(field).is_empty() && !text(field).contains(['"', '\n']) {
                        let _ = write!(line, ", {field} \"{}\"", text(field));
                    }
                }
                line
            }
            Cause::Cordon { node, is_on } => {
                format!("the user {} Node \"{node}\"", if *is_on { "cordons" } else { "uncordons" })
            }
            Cause::Taint { node, taint, is_on: true } => format!("the user taints Node \"{node}\" with \"{taint}\""),
            Cause::Taint { node, taint, is_on: false } => {
                format!("the user removes taint \"{taint}\" from Node \"{node}\"")
            }
            Cause::DeleteNode { node } => {
                self.remark("Inferred: it was the user; a cloud-controller-manager deletes Nodes as well");
                format!("the user deletes Node \"{node}\"")
            }
            Cause::Evict { pod } | Cause::DeletePod { pod } if !self.pods.contains_key(pod) => {
                self.remark(&format!("Pod {} was deleted, which ran on no Node of this scenario", shown(pod)));
                "nothing is done".to_owned()
            }
            Cause::Evict { pod } => format!("the user evicts Pod {}", shown(pod)),
            Cause::DeletePod { pod } => format!("the user deletes Pod {}", shown(pod)),
            Cause::Create { pod } => {
                self.line("the user creates:");
                self.doc_string(&story::name_of(pod), pod);
                return;
            }
        };
        self.line(&text);
    }

    /// Tells whether a Node that fell silent came back with another boot id.
    fn boots(&self, node: &Text) -> bool {
        let is_boot = |cause: &Cause| matches!(cause, Cause::Back { node: own, has_booted: true } if own == node);
        self.story.causes.iter().any(|(_, cause)| is_boot(cause))
    }

    /// Says a change, and how much longer it may take than another; `None` if the scenario does not have it.
    fn what(&self, change: &Change) -> Option<(String, i64)> {
        let text = |condition: &Json, field: &str| condition.get(field).as_str().unwrap_or("").to_owned();
        Some(match change {
            Change::Condition { node, condition } => {
                (format!("Node \"{node}\" has condition {}={}", text(condition, "type"), text(condition, "status")), 0)
            }
            Change::Taint { node, taint, is_on } => {
                let no = if *is_on { "" } else { "no " };
                let turn = if taint.ends_with(":NoExecute") { TURN } else { 0 };
                (format!("Node \"{node}\" has {no}taint \"{taint}\""), turn)
            }
            Change::Deleted { pod } => {
                self.pods.get(pod)?;
                (format!("Pod {} is deleted", shown(pod)), TURN)
            }
            Change::Gone { pod } => {
                let is_told = |node: &&&Text| !self.fed.contains(**node) && self.story.is_deleted(pod, Micros::MAX);
                self.pods.get(pod).filter(is_told)?;
                (format!("Pod {} is gone", shown(pod)), TURN)
            }
        })
    }
}

/// The namespaces of each cluster.
const KNOWN_NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// Names a Pod as sentences do: its namespace before it unless that is `default`.
fn shown((namespace, name): &PodName) -> String {
    if *namespace == "default" { format!("\"{name}\"") } else { format!("\"{namespace}/{name}\"") }
}

/// Says the tolerations that keep a Pod on a node, as the sentence about Pods does; nothing for those that the API
/// server gives each Pod, and `None` for some that the sentence does not say.
fn tolerations(pod: &Json) -> Option<String> {
    let mut said = Vec::new();
    for own in pod.at(&["spec", "tolerations"]).items() {
        let text = |field: &str| own.get(field).as_str().unwrap_or("");
        let (key, seconds) = (text("key"), own.get("tolerationSeconds").as_i64());
        if !matches!(text("effect"), "" | "NoExecute") {
            continue;
        }
        if text("effect").is_empty() || text("operator") != "Exists" || key.is_empty() {
            return None;
        }
        let is_given = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"].contains(&key);
        if !(is_given && seconds == Some(300)) {
            let time = seconds.map(|seconds| format!(" for {seconds}s")).unwrap_or_default();
            said.push(format!("\"{key}:NoExecute\"{time}"));
        }
    }
    Some(said.join(", "))
}

#[cfg(test)]
mod tests;
