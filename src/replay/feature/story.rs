//! What a recording tells of Nodes and their Pods: what was done to them, and what followed.
//!
//! Input: the lines of the watches, so that no audit log is needed. Outputs: causes and facts in the order of time, the
//! Nodes and Pods that were there before the first cause, and remarks on what is not told. What the API does not show
//! is inferred: silence from the renewals of a Lease, a reboot from the boot id. Pure.

use std::collections::{BTreeMap, BTreeSet};

use nodeproof_core::network::WatchType;
use nodeproof_core::objects::lifecycle::controller_of;
use nodeproof_core::objects::{Json, NULL, Text};

use crate::replay::load::{Micros, Recording, WatchLine};

/// A second.
pub(super) const SECOND: Micros = 1_000_000;
/// How long a Lease is not renewed until that counts as silence, if it does not say.
const LEASE_SECONDS: i64 = 40;
/// How long a kubelet may post other conditions because its machine has booted.
const BOOTS: Micros = 120 * SECOND;
/// The prefix of the taints that controllers set; the one for a node that is out of service is the user's.
const OF_CONTROLLERS: &str = "node.kubernetes.io/";
const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";

/// Something that was done, or that happened outside of the API.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cause {
    /// Its Lease was renewed last so long before.
    Silent {
        node: Text,
        since: Micros,
    },
    /// Its Lease is renewed again; it has booted meanwhile or not.
    Back {
        node: Text,
        has_booted: bool,
    },
    /// Its kubelet posts a condition.
    Posts {
        node: Text,
        condition: Json,
    },
    Cordon {
        node: Text,
        is_on: bool,
    },
    Taint {
        node: Text,
        taint: String,
        is_on: bool,
    },
    DeleteNode {
        node: Text,
    },
    Evict {
        pod: PodName,
    },
    DeletePod {
        pod: PodName,
    },
    Create {
        pod: Json,
    },
}

/// What followed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Change {
    Condition { node: Text, condition: Json },
    Taint { node: Text, taint: String, is_on: bool },
    Deleted { pod: PodName },
    Gone { pod: PodName },
}

/// Namespace and name.
pub(super) type PodName = (Text, Text);

/// A Node as it was before the first cause.
#[derive(Debug, Clone, Default)]
pub(super) struct NodeBefore {
    pub(super) zone: Option<Text>,
    /// Taints that no controller sets.
    pub(super) taints: Vec<String>,
    pub(super) is_cordoned: bool,
    /// When it was first ready; `None` if it never was.
    pub(super) ready: Option<Micros>,
}

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Story {
    pub(super) nodes: BTreeMap<Text, NodeBefore>,
    /// The Pods that ran before the first cause, as they were then.
    pub(super) pods: BTreeMap<PodName, Json>,
    pub(super) causes: Vec<(Micros, Cause)>,
    pub(super) changes: Vec<(Micros, Change)>,
    pub(super) remarks: BTreeSet<String>,
    /// Pods that were deleted by their owners or by users: which of both is not known.
    pub(super) by_owners: BTreeSet<PodName>,
    /// The versions of each Pod; `Null` when it is gone.
    versions: Vec<(Micros, PodName, Json)>,
    /// What the kubelet of each Node posted last, by condition.
    posted: BTreeMap<(Text, Text), Text>,
}

impl Story {
    /// Reads a recording.
    pub(super) fn of(recording: &Recording) -> Self {
        let mut own = Self::default();
        let mut silences = silences(recording);
        let mut last: BTreeMap<(&str, PodName), Json> = BTreeMap::new();
        for line in &recording.watch {
            let object = line.object.json();
            let key = (line.kind.as_str(), name_of(&object));
            let before = last.get(&key).cloned();
            match line.kind.as_str() {
                "Node" => own.node(line, before.as_ref(), &object, &mut silences),
                "Pod" => own.pod(line, before.as_ref(), &object),
                _ => continue,
            }
            if line.event == WatchType::Deleted { drop(last.remove(&key)) } else { drop(last.insert(key, object)) }
        }
        for (node, silence) in
            silences.into_iter().flat_map(|(node, all)| all.into_iter().map(move |own| (node.clone(), own)))
        {
            own.silence(node, &silence);
        }
        own.close();
        own
    }

    fn silence(&mut self, node: Text, silence: &Silence) {
        if silence.is_status_written {
            self.remarks.insert(format!("the Lease of Node {node:?} was not renewed for a time while its status was"));
            return;
        }
        let at = silence.from + silence.pace / 2;
        self.causes.push((at, Cause::Silent { node: node.clone(), since: at - silence.from }));
        if let Some(until) = silence.until {
            self.causes.push((until, Cause::Back { node, has_booted: silence.has_booted }));
        }
    }

    fn node(
        &mut self,
        line: &WatchLine,
        before: Option<&Json>,
        object: &Json,
        silences: &mut BTreeMap<Text, Vec<Silence>>,
    ) {
        let (_, node) = name_of(object);
        if line.event == WatchType::Deleted {
            self.causes.push((line.t, Cause::DeleteNode { node }));
            return;
        }
        let none = Json::Null;
        let before = before.unwrap_or(&none);
        let is_set = self.nodes.get(&node).is_some_and(|known| known.ready.is_some());
        self.spec(line.t, (before, object), is_set);
        let silence = silences.get_mut(&node).and_then(|all| all.iter_mut().rfind(|own| own.from < line.t));
        let is_back = silence.is_some_and(|silence| silence.observe(line.t, before, object));
        for condition in object.at(&["status", "conditions"]).items() {
            let text = |field: &str| condition.get(field).as_text().cloned().unwrap_or_default();
            let (kind, status) = (text("type"), text("status"));
            let old = condition_of(before, &kind).get("status").as_text().cloned();
            let (condition, name) = (condition.clone(), node.clone());
            let is_changed = old.as_ref() != Some(&status);
            // The reasons with which node-lifecycle-controller says that nothing is known.
            if matches!(text("reason").as_str(), "NodeStatusUnknown" | "NodeStatusNeverUpdated") {
                if is_changed {
                    self.changes.push((line.t, Change::Condition { node: name, condition }));
                }
                continue;
            }
            let own = self.posted.insert((node.clone(), kind), status.clone());
            if is_changed && is_set {
                let is_again = own.as_ref() == Some(&status) || is_back;
                match is_again {
                    true => self.changes.push((line.t, Change::Condition { node: name, condition })),
                    false => self.causes.push((line.t, Cause::Posts { node: name, condition })),
                }
            }
        }
        if condition_of(object, "Ready").get("status").as_str() == Some("True") {
            self.nodes.entry(node).or_default().ready.get_or_insert(line.t);
        }
    }

    /// Takes the taints of a Node and whether it is cordoned: what was there before it was ready belongs to it.
    fn spec(&mut self, t: Micros, (before, object): (&Json, &Json), is_set: bool) {
        let (_, node) = name_of(object);
        let known = self.nodes.entry(node.clone()).or_insert_with(|| NodeBefore {
            zone: object.at(&["metadata", "labels", "topology.kubernetes.io/zone"]).as_text().cloned(),
            ..NodeBefore::default()
        });
        let (old, new) = (taints(before), taints(object));
        let come = new.difference(&old).map(|own| (own, true));
        for (taint, is_on) in come.chain(old.difference(&new).map(|own| (own, false))) {
            let (node, of_controller) = (node.clone(), taint.starts_with(OF_CONTROLLERS));
            match (of_controller && !taint.starts_with(OUT_OF_SERVICE), is_set) {
                (true, _) => self.changes.push((t, Change::Taint { node, taint: taint.clone(), is_on })),
                (false, true) => self.causes.push((t, Cause::Taint { node, taint: taint.clone(), is_on })),
                (false, false) if is_on => known.taints.push(taint.clone()),
                (false, false) => known.taints.retain(|own| own != taint),
            }
        }
        let cordoned = |object: &Json| object.at(&["spec", "unschedulable"]).as_bool() == Some(true);
        if cordoned(before) != cordoned(object) {
            match is_set {
                true => self.causes.push((t, Cause::Cordon { node, is_on: cordoned(object) })),
                false => known.is_cordoned = cordoned(object),
            }
        }
    }

    fn pod(&mut self, line: &WatchLine, before: Option<&Json>, object: &Json) {
        let pod = name_of(object);
        let is_ending = |object: &Json| !object.at(&["metadata", "deletionTimestamp"]).is_null();
        let is_owned = controller_of(object).is_some();
        if line.event == WatchType::Added && !line.listed && !is_owned {
            self.causes.push((line.t, Cause::Create { pod: object.clone() }));
        }
        let begins = is_ending(object) || line.event == WatchType::Deleted;
        if begins && !before.is_some_and(is_ending) {
            let target = condition_of(object, "DisruptionTarget");
            match target.get("reason").as_str() {
                Some("EvictionByEvictionAPI") => self.causes.push((line.t, Cause::Evict { pod: pod.clone() })),
                Some(_) => self.changes.push((line.t, Change::Deleted { pod: pod.clone() })),
                None if is_owned => {
                    self.remarks.insert(format!("Pod {:?} was deleted by its owner or by a user", &*pod.1));
                    self.by_owners.insert(pod.clone());
                }
                None => self.causes.push((line.t, Cause::DeletePod { pod: pod.clone() })),
            }
        }
        let is_gone = line.event == WatchType::Deleted;
        self.versions.push((line.t, pod.clone(), if is_gone { Json::Null } else { object.clone() }));
        if is_gone {
            self.changes.push((line.t, Change::Gone { pod }));
        }
    }

    /// Tells whether a Pod was deleted before an instant, by whomever.
    pub(super) fn is_deleted(&self, pod: &PodName, before: Micros) -> bool {
        let is_asked =
            |cause: &Cause| matches!(cause, Cause::Evict { pod: own } | Cause::DeletePod { pod: own } if own == pod);
        let is_done = |change: &Change| matches!(change, Change::Deleted { pod: own } if own == pod);
        self.causes.iter().any(|(at, cause)| *at < before && is_asked(cause))
            || self.changes.iter().any(|(at, change)| *at < before && is_done(change))
    }

    /// Leaves out what is seen of a Node after its deletion, and a silence that is only that its Lease went with it.
    fn end_with_nodes(&mut self) {
        let mut ends: BTreeMap<Text, Micros> = BTreeMap::new();
        for (at, cause) in &self.causes {
            if let Cause::DeleteNode { node } = cause {
                ends.entry(node.clone()).or_insert(*at);
                self.remarks.insert(format!("Node {node:?} was deleted: what came of it after that is not told"));
            }
        }
        let is_before =
            |node: Option<&Text>, at: Micros| node.and_then(|node| ends.get(node)).is_none_or(|end| at <= *end);
        let went = |cause: &Cause, at: Micros| {
            let Cause::Silent { node, .. } = cause else { return false };
            ends.get(node).is_some_and(|end| end - at < LEASE_SECONDS * SECOND)
        };
        self.causes.retain(|(at, cause)| is_before(cause.node(), *at) && !went(cause, *at));
        self.changes.retain(|(at, change)| is_before(change.node(), *at));
    }

    /// Leaves out what came before the first cause, which is set-up: creations are causes only after another one.
    fn close(&mut self) {
        self.causes.sort_by_key(|(at, _)| *at);
        let is_creation = |cause: &Cause| matches!(cause, Cause::Create { .. });
        let begun = self.causes.iter().find(|(_, cause)| !is_creation(cause)).map_or(Micros::MAX, |(at, _)| *at);
        self.causes.retain(|(at, _)| *at >= begun);
        let late = |node: &NodeBefore| node.ready.is_none_or(|at| at >= begun);
        for (name, _) in self.nodes.iter().filter(|(_, node)| late(node)) {
            self.remarks.insert(format!("Node {name:?} was not ready before all this began: it is not told of"));
        }
        self.nodes.retain(|_, node| !late(node));
        self.end_with_nodes();
        let nodes = &self.nodes;
        self.causes.retain(|(_, cause)| cause.node().is_none_or(|node| nodes.contains_key(node)));
        self.changes.retain(|(at, change)| *at >= begun && change.node().is_none_or(|node| nodes.contains_key(node)));
        for (_, pod, object) in std::mem::take(&mut self.versions).into_iter().filter(|(at, ..)| *at < begun) {
            self.pods.insert(pod, object);
        }
        self.pods.retain(|_, pod| !pod.is_null() && pod.at(&["metadata", "deletionTimestamp"]).is_null());
    }
}

impl Cause {
    pub(super) const fn node(&self) -> Option<&Text> {
        match self {
            Self::Silent { node, .. }
            | Self::Back { node, .. }
            | Self::Posts { node, .. }
            | Self::Cordon { node, .. }
            | Self::Taint { node, .. }
            | Self::DeleteNode { node } => Some(node),
            Self::Evict { .. } | Self::DeletePod { .. } | Self::Create { .. } => None,
        }
    }
}

impl Change {
    const fn node(&self) -> Option<&Text> {
        match self {
            Self::Condition { node, .. } | Self::Taint { node, .. } => Some(node),
            Self::Deleted { .. } | Self::Gone { .. } => None,
        }
    }
}

pub(super) fn name_of(object: &Json) -> PodName {
    let text = |field: &str| object.at(&["metadata", field]).as_text().cloned().unwrap_or_default();
    (text("namespace"), text("name"))
}

fn condition_of<'a>(object: &'a Json, kind: &str) -> &'a Json {
    let mut all = object.at(&["status", "conditions"]).items().iter();
    all.find(|own| own.get("type").as_str() == Some(kind)).unwrap_or(&NULL)
}

fn taints(node: &Json) -> BTreeSet<String> {
    let shown = |taint: &Json| {
        let text = |field: &str| taint.get(field).as_str().unwrap_or("");
        let value = if text("value").is_empty() { String::new() } else { format!("={}", text("value")) };
        format!("{}{value}:{}", text("key"), text("effect"))
    };
    node.at(&["spec", "taints"]).items().iter().map(shown).collect()
}

/// Tells whether the kubelet wrote the status: it alone renews the heartbeat of Ready.
fn is_heartbeat(before: &Json, object: &Json) -> bool {
    let at = |object: &Json| condition_of(object, "Ready").get("lastHeartbeatTime").as_str().map(str::to_owned);
    !before.is_null() && at(before) != at(object)
}

/// A time without renewals that is longer than the Lease lasts.
#[derive(Debug)]
struct Silence {
    /// The last renewal.
    from: Micros,
    /// The first one after it.
    until: Option<Micros>,
    /// How long it is between two renewals otherwise.
    pace: Micros,
    is_status_written: bool,
    has_booted: bool,
}

impl Silence {
    /// Takes a version of the Node after its beginning; true while what the kubelet writes is that it has booted.
    fn observe(&mut self, t: Micros, before: &Json, object: &Json) -> bool {
        let boot = |own: &Json| own.at(&["status", "nodeInfo", "bootID"]).as_text().cloned();
        self.has_booted |= boot(before).is_some() && boot(before) != boot(object);
        let is_within = self.until.is_none_or(|until| t < until);
        self.is_status_written |= is_within && t > self.from + SECOND && is_heartbeat(before, object);
        self.has_booted && self.until.is_none_or(|until| t < until + BOOTS)
    }
}

/// Finds the silences of each Node.
fn silences(recording: &Recording) -> BTreeMap<Text, Vec<Silence>> {
    let mut renewals: BTreeMap<Text, (Vec<Micros>, i64)> = BTreeMap::new();
    for line in recording.watch.iter().filter(|line| line.kind == "Lease" && line.event != WatchType::Deleted) {
        let seconds = line.object.stable().at(&["spec", "leaseDurationSeconds"]).as_i64().unwrap_or(LEASE_SECONDS);
        let (all, lasts) = renewals.entry(Text::from(line.object.name())).or_default();
        all.push(line.t);
        *lasts = seconds;
    }
    for action in recording.actions.iter().filter(|action| action.action == "renew-lease") {
        let was_refused = action.response.get("code").as_i64().is_some_and(|code| code >= 300);
        if let Some(node) = action.actor.strip_prefix("kubelet/").filter(|_| !was_refused) {
            renewals.entry(Text::from(node)).or_insert((Vec::new(), LEASE_SECONDS)).0.push(action.t);
        }
    }
    let of = |(node, (mut all, lasts)): (Text, (Vec<Micros>, i64))| {
        all.sort_unstable();
        let ends = all.iter().skip(1).copied().map(Some).chain([None]);
        let mut pauses: Vec<Micros> = all.windows(2).map(|pair| pair[1] - pair[0]).collect();
        pauses.sort_unstable();
        let pace = pauses.get(pauses.len() / 2).copied().unwrap_or(0);
        let found = all
            .iter()
            .zip(ends)
            .filter(|(from, until)| until.unwrap_or(recording.about.ended) - **from > lasts * SECOND);
        let silence = |(from, until): (&Micros, Option<Micros>)| Silence {
            from: *from,
            until,
            pace,
            is_status_written: false,
            has_booted: false,
        };
        (node, found.map(silence).collect())
    };
    renewals.into_iter().map(of).collect()
}
