//! The question: a cluster, what is lost of it, how, and for how long. Data.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use jiff::SignedDuration;
use nodeproof_core::components::machine::{Hardware, KubeletSpec};
use nodeproof_core::objects::{Json, Text};
use nodeproof_core::profile::{Release, Settings};

/// A node of the cluster.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Node {
    /// Its name.
    pub name: Text,
    /// Its zone, if it has one.
    pub zone: Option<Text>,
    /// Its region, if it has one.
    pub region: Option<Text>,
    /// Its hardware.
    pub hardware: Arc<Hardware>,
    /// What its kubelet is started with.
    pub kubelet: Arc<KubeletSpec>,
    /// Labels and taints that it has beside those of its kubelet.
    pub labels: Vec<(Text, Text)>,
    /// Taints as in `spec.taints`.
    pub taints: Vec<Json>,
    /// Whether no new Pods come to it.
    pub is_cordoned: bool,
    /// Whether its kubelet has been silent for long before anything is lost, so that it cannot be lost.
    pub is_silent: bool,
}

/// What is lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Down {
    /// The nodes of a zone.
    Zone(Text),
    /// One node.
    Node(Text),
    /// So many nodes, the first of each zone in turn.
    Count(usize),
}

/// How it is lost, and how it comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum How {
    /// The nodes cannot reach the API server, and their Pods run on; then they can again
    Partition,
    /// The machines lose power without a warning; then they boot
    PowerOff,
    /// The machines are shut down in order; then they boot
    Shutdown,
    /// The kubelets are killed, and the Pods run on; then the kubelets start
    KubeletKilled,
    /// The machines freeze; then they go on where they were
    Freeze,
    /// The nodes are drained, one after the other; then they are uncordoned
    Drain,
    /// Each node in turn is drained, rebooted and uncordoned
    Upgrade,
}

impl How {
    /// Says what they are, and what they are when it has ended.
    #[must_use]
    pub const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Partition => ("cut off from the API server", "no longer cut off"),
            Self::PowerOff => ("without power", "booted"),
            Self::Shutdown => ("shut down", "booted"),
            Self::KubeletKilled => ("without a kubelet", "with a kubelet again"),
            Self::Freeze => ("frozen", "no longer frozen"),
            Self::Drain => ("drained one after the other", "uncordoned"),
            Self::Upgrade => ("drained, rebooted and uncordoned in turn", "left as they are"),
        }
    }

    /// Tells whether they are taken away on purpose: by `kubectl drain`.
    #[must_use]
    pub const fn is_maintenance(self) -> bool {
        matches!(self, Self::Drain | Self::Upgrade)
    }
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words().0)
    }
}

/// What runs on the cluster.
#[derive(Debug, Clone, PartialEq)]
pub enum Workloads {
    /// Deployments `web`, `web-2` and so on of at most 100 Pods, with a Pod for each node in all, a StatefulSet `db`
    /// with three Pods, and a DaemonSet `agent`.
    Default,
    /// Objects, each with where it was read: made in their order.
    Given(Vec<(String, Json)>),
    /// Objects of a cluster that runs, owners before what they own, Pods with the node that they are on.
    Running(Vec<Json>),
}

/// Something of a cluster that an answer leaves out.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOut {
    /// What.
    pub what: String,
    /// Whose, as `Pod default/web`; empty if it is about the cluster.
    pub names: BTreeSet<Text>,
}

/// A question.
#[derive(Debug, Clone)]
pub struct Question {
    /// The release.
    pub release: Release,
    /// The settings of the control plane and of all kubelets.
    pub settings: Settings,
    /// The seed of all free choices.
    pub seed: u64,
    /// The nodes.
    pub nodes: Vec<Node>,
    /// What is lost.
    pub down: Vec<Down>,
    /// How.
    pub how: How,
    /// For how long.
    pub lasts: SignedDuration,
    /// Whether it comes back.
    pub heals: bool,
    /// How long at most is waited after that until nothing changes any more.
    pub patience: SignedDuration,
    /// What runs on it.
    pub workloads: Workloads,
    /// What the question leaves out of the cluster that it is about.
    pub left_out: Vec<LeftOut>,
}

impl Question {
    /// Returns the nodes that are lost, in the order of the cluster; silent ones cannot be.
    ///
    /// # Errors
    /// There is no such zone or node, or fewer nodes than are to be lost, or all of them are silent.
    pub fn lost(&self) -> Result<Vec<&Node>, String> {
        let mut names: Vec<&Text> = Vec::new();
        for down in &self.down {
            match down {
                Down::Zone(zone) => {
                    let mut own = self.nodes.iter().filter(|node| node.zone.as_ref() == Some(zone)).peekable();
                    if own.peek().is_none() {
                        return Err(format!("there is no zone {zone}; {}", self.zones_and_nodes()));
                    }
                    names.extend(own.map(|node| &node.name));
                }
                Down::Node(name) => match self.nodes.iter().find(|node| node.name == *name) {
                    Some(node) => names.push(&node.name),
                    None => return Err(format!("there is no zone and no node {name}; {}", self.zones_and_nodes())),
                },
                Down::Count(0) => return Err(String::from("0 nodes are no loss: the number must be 1 or more")),
                Down::Count(count) if *count > self.nodes.len() => {
                    return Err(format!("{count} nodes cannot be lost of {}", self.nodes.len()));
                }
                Down::Count(count) => names.extend(self.nodes[..*count].iter().map(|node| &node.name)),
            }
        }
        let found: Vec<&Node> =
            self.nodes.iter().filter(|node| !node.is_silent && names.contains(&&node.name)).collect();
        if found.is_empty() {
            return Err("all of these nodes are not ready already: nothing can be lost".to_owned());
        }
        Ok(found)
    }

    /// Returns the zones in order.
    #[must_use]
    pub fn zones(&self) -> Vec<&Text> {
        let mut zones: Vec<&Text> = self.nodes.iter().filter_map(|node| node.zone.as_ref()).collect();
        zones.sort();
        zones.dedup();
        zones
    }

    fn zones_and_nodes(&self) -> String {
        let zones: Vec<&str> = self.zones().into_iter().map(Text::as_str).collect();
        let names = self.nodes.first().zip(self.nodes.last());
        let nodes = names.map_or_else(String::new, |(first, last)| format!("{} to {}", first.name, last.name));
        match zones.is_empty() {
            true => format!("there are the nodes {nodes}"),
            false => format!("there are the zones {} and the nodes {nodes}", zones.join(", ")),
        }
    }
}

/// Returns so many nodes spread over so many zones: `a-1`, `b-1` … in `zone-a`, `zone-b` …
#[must_use]
pub fn spread(nodes: usize, zones: usize) -> Vec<Node> {
    let shared = Node::default();
    (0..nodes)
        .map(|at| {
            let letters = letters(at % zones);
            Node {
                name: Text::from(format!("{letters}-{}", at / zones + 1)),
                zone: Some(Text::from(format!("zone-{letters}"))),
                ..shared.clone()
            }
        })
        .collect()
}

/// Counts in letters: `a` … `z`, `aa` …
fn letters(at: usize) -> String {
    let last = char::from(b'a' + u8::try_from(at % 26).unwrap_or(0));
    if at < 26 { String::from(last) } else { letters(at / 26 - 1) + &String::from(last) }
}
