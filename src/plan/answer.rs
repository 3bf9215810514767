//! The answer: what happened when, to whom, and what stayed as it was and why.
//!
//! Inputs: a question, the cluster at its end, what was observed. Outputs: moments in order, a line for each Node that
//! was lost, sums, and what was stuck when the nodes came back; all of it as JSON. Equal things of one zone that follow
//! one another are one moment, with the first and the last instant.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use nodeproof_core::components::RecordedDecision;
use nodeproof_core::json;
use nodeproof_core::objects::{Json, Text, time};

use super::cluster::Scene;
use super::observation::{ByNode, Facts, NodeFact, PodLife, Sightings, by_node, replacements};
use super::question::{How, LeftOut, Question};
use super::readiness::{ReadyPods, Workload};
use super::stuck::stuck;
use super::unready::{NAMES, Stuck};

/// Equal things that are at most this far apart are one moment: a node each 100 s is the slowest rate by default.
const TOGETHER: SignedDuration = SignedDuration::from_secs(150);

/// Something that happened, once or several times.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// When it happened first, from the loss on.
    pub first: SignedDuration,
    /// When it happened last.
    pub last: SignedDuration,
    /// How many times.
    pub count: usize,
    /// Where; empty for the cluster as a whole.
    pub zone: Text,
    /// To what: `Node`, `Pod`, or nothing.
    pub subject: &'static str,
    /// What, said of several.
    pub what: String,
    /// Why, as the component that did it says; empty where it says nothing.
    pub why: String,
    /// The names, the first ones.
    pub names: Vec<Text>,
    /// The shortest and the longest time from one to the next.
    pub gaps: Option<(SignedDuration, SignedDuration)>,
}

/// What happened to a Node that was lost.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeLine {
    /// Its name.
    pub name: Text,
    /// Its zone.
    pub zone: Text,
    /// When its Ready condition was no longer True.
    pub not_ready: Option<SignedDuration>,
    /// The status that it had then.
    pub status: Text,
    /// When it got its first NoExecute taint.
    pub tainted: Option<SignedDuration>,
    /// When it lost its last NoExecute taint.
    pub untainted: Option<SignedDuration>,
    /// When it was ready again.
    pub ready: Option<SignedDuration>,
    /// When it was cordoned.
    pub cordoned: Option<SignedDuration>,
    /// When `kubectl drain` was done with it.
    pub drained: Option<SignedDuration>,
    /// When it was uncordoned.
    pub uncordoned: Option<SignedDuration>,
    /// How many Pods it had.
    pub pods: usize,
    /// Those of them that were deleted.
    pub deleted: Sum,
}

/// How many Pods of a workload were ready, as EndpointSlices have it.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkloadLine {
    /// Its kind, namespace and name.
    pub workload: (Text, Text, Text),
    /// How many at the beginning.
    pub before: usize,
    /// The least number, and since when; `None` if it never fell.
    pub least: Option<(usize, SignedDuration)>,
    /// Since when there were as many as at the beginning again.
    pub whole: Option<SignedDuration>,
}

/// Pods to which the same happened.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sum {
    /// When, from the loss on: an instant for each Pod, in order.
    pub instants: Vec<SignedDuration>,
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The release.
    pub k8s: String,
    /// The seed.
    pub seed: u64,
    /// How many nodes, in how many zones, with how many Pods that ran.
    pub cluster: (usize, usize, usize),
    /// The nodes that were lost: how, and for how long.
    pub lost: Vec<Text>,
    /// How they were lost.
    pub how: How,
    /// For how long.
    pub lasts: SignedDuration,
    /// What happened.
    pub moments: Vec<Moment>,
    /// To which Node.
    pub nodes: Vec<NodeLine>,
    /// How many Pods of each workload were ready meanwhile.
    pub workloads: Vec<WorkloadLine>,
    /// The Pods that ran on lost nodes.
    pub affected: usize,
    /// Those of them that were deleted before the nodes came back.
    pub deleted: Sum,
    /// Those of them that were gone from the API before that.
    pub gone: Sum,
    /// The Pods that took their places and were ready before that.
    pub replaced: Sum,
    /// What was stuck then.
    pub stuck: Vec<Stuck>,
    /// What was not ready before anything was lost.
    pub unready: Vec<Stuck>,
    /// What the answer leaves out of the cluster that it is about.
    pub left_out: Vec<LeftOut>,
    /// When the last change was seen.
    pub ended: SignedDuration,
}

impl Answer {
    pub(super) fn of(question: &Question, scene: &Scene, seen: Sightings) -> Self {
        let (zero, back) = (seen.zero, seen.back);
        let zones: BTreeMap<&Text, Text> =
            question.nodes.iter().map(|node| (&node.name, node.zone.clone().unwrap_or_default())).collect();
        let zone_of = |node: &Text| zones.get(node).cloned().unwrap_or_default();
        let lost: BTreeSet<&Text> = scene.lost.iter().collect();
        let is_lost = |node: &Text| lost.contains(node);
        let was_there = |life: &&PodLife| life.created.is_none() && is_lost(&life.node);
        let sum = |instants: Vec<Timestamp>| Sum::of(instants.into_iter().filter(|at| *at < back), zero);
        let replacements = replacements(&seen.pods);
        let affected: Vec<&PodLife> =
            seen.pods.values().filter(|life| life.ready.is_some()).filter(was_there).collect();
        let facts = by_node(seen.nodes.iter().map(|(at, name, fact)| (name, (*at, fact))));
        let pods = by_node(seen.pods.values().filter(was_there).map(|life| (&life.node, life)));
        let mut moments = Moments { zero, found: Vec::new() };
        if !question.how.is_maintenance() {
            moments.add(zero, "", ("Node", question.how.words().0), "", scene.lost.iter());
            moments.add(back, "", ("Node", question.how.words().1), "", scene.lost.iter());
        }
        moments.nodes(&seen, &zone_of, &is_lost);
        moments.pods(&seen, &zone_of, &is_lost, &replacements);
        for (at, node, pod) in &seen.held {
            moments.add(*at, &zone_of(node), ("Pod", "held by a budget"), "", std::iter::once(pod));
        }
        moments.zones(scene.sim.record().decisions(), zero);
        let moments = moments.merged();
        Self {
            k8s: question.release.to_string(),
            seed: question.seed,
            cluster: (question.nodes.len(), question.zones().len(), seen.running),
            lost: scene.lost.clone(),
            how: question.how,
            lasts: question.lasts,
            ended: moments.iter().map(|moment| moment.last).max().unwrap_or_default(),
            moments,
            nodes: scene.lost.iter().map(|name| node_line(name, zone_of(name), (&facts, &pods), zero)).collect(),
            workloads: workload_lines(&seen, zero),
            affected: affected.len(),
            deleted: sum(affected.iter().filter_map(|life| life.deleted).collect()),
            gone: sum(affected.iter().filter_map(|life| life.gone).collect()),
            replaced: sum(replacements.iter().filter_map(|uid| seen.pods[*uid].ready).collect()),
            stuck: stuck(question, scene, &seen, (&affected, &facts)),
            unready: seen.unready.clone(),
            left_out: question.left_out.iter().chain(&scene.left_out).cloned().collect(),
        }
    }

    /// Returns when the Pods of a lost node were deleted before it came back.
    #[must_use]
    pub fn deletions(&self, node: &str) -> Vec<SignedDuration> {
        let own = self.nodes.iter().filter(|line| line.name == *node);
        own.flat_map(|line| &line.deleted.instants).copied().filter(|at| *at < self.lasts).collect()
    }

    /// Returns the answer as JSON; instants are seconds from the loss on.
    #[must_use]
    pub fn json(&self) -> Json {
        let moment = |moment: &Moment| {
            let mut json =
                json!({"first": secs(moment.first), "last": secs(moment.last), "what": moment.what.as_str()});
            json.set(&["count"], whole(moment.count));
            for (field, text) in [("zone", &*moment.zone), ("subject", moment.subject), ("why", &moment.why)] {
                if !text.is_empty() {
                    json.set(&[field], text);
                }
            }
            json.set(&["names"], names(&moment.names));
            json
        };
        let node = |line: &NodeLine| {
            let mut json = json!({"name": &*line.name, "zone": &*line.zone, "status": &*line.status});
            for (field, at) in [("notReady", line.not_ready), ("tainted", line.tainted), ("readyAgain", line.ready)] {
                json.set(&[field], instant(at));
            }
            if self.how.is_maintenance() {
                let instants =
                    [("cordoned", line.cordoned), ("drained", line.drained), ("uncordoned", line.uncordoned)];
                instants.into_iter().for_each(|(field, at)| json.set(&[field], instant(at)));
            }
            json.set(&["pods"], whole(line.pods));
            json.set(&["podsDeleted"], whole(line.deleted.count()));
            json.set(&["firstDeleted"], instant(line.deleted.span().map(|(first, _)| first)));
            json.set(&["lastDeleted"], instant(line.deleted.span().map(|(_, last)| last)));
            json
        };
        let stuck = |stuck: &Stuck| {
            let (what, why) = (stuck.what.as_str(), stuck.why.as_str());
            let mut json = json!({"subject": stuck.subject, "what": what, "why": why});
            json.set(&["count"], whole(stuck.count));
            json.set(&["names"], names(&stuck.names));
            json
        };
        let (nodes, zones, pods) = self.cluster;
        let mut json = json!({"k8s": self.k8s.as_str(), "how": self.how.words().0, "for": secs(self.lasts)});
        json.set(&["seed"], i64::try_from(self.seed).unwrap_or(i64::MAX));
        json.set(&["cluster"], json!({"nodes": whole(nodes), "zones": whole(zones), "pods": whole(pods)}));
        json.set(&["lost"], names(&self.lost));
        json.set(&["timeline"], self.moments.iter().map(moment).collect::<Json>());
        json.set(&["nodes"], self.nodes.iter().map(node).collect::<Json>());
        let mut sums = json!({"onLostNodes": whole(self.affected)});
        for (field, sum) in [("deleted", &self.deleted), ("gone", &self.gone), ("replaced", &self.replaced)] {
            let mut entry = json!({"count": whole(sum.count())});
            entry.set(&["first"], instant(sum.span().map(|(first, _)| first)));
            entry.set(&["last"], instant(sum.span().map(|(_, last)| last)));
            sums.set(&[field], entry);
        }
        json.set(&["pods"], sums);
        json.set(&["workloads"], self.workloads.iter().map(workload_json).collect::<Json>());
        json.set(&["stuck"], self.stuck.iter().map(stuck).collect::<Json>());
        json.set(&["unready"], self.unready.iter().map(stuck).collect::<Json>());
        if !self.left_out.is_empty() {
            let names = |left: &LeftOut| left.names.iter().map(Json::from).collect::<Json>();
            let own = |left: &LeftOut| json!({"what": left.what.as_str(), "names": names(left)});
            json.set(&["leftOut"], self.left_out.iter().map(own).collect::<Json>());
        }
        json
    }
}

fn workload_json(line: &WorkloadLine) -> Json {
    let (kind, namespace, name) = &line.workload;
    let mut json = json!({"kind": kind, "namespace": namespace, "name": name, "ready": whole(line.before)});
    json.set(&["leastReady"], whole(line.least.map_or(line.before, |(least, _)| least)));
    json.set(&["leastReadySince"], instant(line.least.map(|(_, at)| at)));
    json.set(&["readyAgain"], instant(line.whole));
    json
}

fn workload_lines(seen: &Sightings, zero: Timestamp) -> Vec<WorkloadLine> {
    let line = |(workload, ready): (&Workload, &ReadyPods)| WorkloadLine {
        workload: workload.clone(),
        before: ready.before,
        least: ready.least.map(|(least, at)| (least, at.duration_since(zero))),
        whole: ready.whole.map(|at| at.duration_since(zero)),
    };
    seen.readiness.workloads.iter().filter(|(_, ready)| ready.before > 0).map(line).collect()
}

impl Sum {
    fn of(instants: impl Iterator<Item = Timestamp>, zero: Timestamp) -> Self {
        let mut instants: Vec<SignedDuration> = instants.map(|at| at.duration_since(zero)).collect();
        instants.sort_unstable();
        Self { instants }
    }

    /// Returns how many there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.instants.len()
    }

    /// Returns the first and the last instant.
    #[must_use]
    pub fn span(&self) -> Option<(SignedDuration, SignedDuration)> {
        self.instants.first().copied().zip(self.instants.last().copied())
    }
}

fn whole(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn secs(at: SignedDuration) -> f64 {
    // Instants of the model are whole microseconds.
    (at.as_secs_f64() * 1e6).round() / 1e6
}

/// Returns seconds, or null.
fn instant(at: Option<SignedDuration>) -> Json {
    at.map_or(Json::Null, |at| Json::Float(secs(at)))
}

fn names(names: &[Text]) -> Json {
    names.iter().map(Json::from).collect()
}

/// Single things, before equal ones are put together.
struct Moments {
    zero: Timestamp,
    found: Vec<Moment>,
}

impl Moments {
    fn add<'a>(
        &mut self,
        at: Timestamp,
        zone: &str,
        (subject, what): (&'static str, &str),
        why: &str,
        names: impl ExactSizeIterator<Item = &'a Text>,
    ) {
        let first = at.duration_since(self.zero);
        let (what, why, zone) = (what.to_owned(), why.to_owned(), Text::from(zone));
        let count = names.len();
        let names = names.take(NAMES).cloned().collect();
        self.found.push(Moment { first, last: first, count, zone, subject, what, why, names, gaps: None });
    }

    fn nodes(&mut self, seen: &Sightings, zone_of: &impl Fn(&Text) -> Text, is_lost: &impl Fn(&Text) -> bool) {
        for (at, name, fact) in &seen.nodes {
            let what = match fact {
                NodeFact::Ready(status) if status == "True" => String::from("ready again"),
                NodeFact::Ready(status) => format!("Ready={status}"),
                NodeFact::Tainted(taint) => format!("taint {taint} set"),
                NodeFact::Untainted(taint) => format!("taint {taint} removed"),
                NodeFact::Cordoned(true) => String::from("cordoned"),
                NodeFact::Cordoned(false) => String::from("uncordoned"),
                NodeFact::Drained => String::from("drained"),
                NodeFact::Gone => String::from("deleted"),
            };
            let whose = if is_lost(name) { what } else { format!("{what}, though not lost") };
            self.add(*at, &zone_of(name), ("Node", &whose), "", std::iter::once(name));
        }
    }

    fn pods(
        &mut self,
        seen: &Sightings,
        zone_of: &impl Fn(&Text) -> Text,
        is_lost: &impl Fn(&Text) -> bool,
        replacements: &BTreeSet<&Text>,
    ) {
        for (uid, life) in &seen.pods {
            let zone = zone_of(&life.node);
            let name = || std::iter::once(&life.name);
            if life.created.is_none() && is_lost(&life.node) {
                let (unready, unready_as) = life.unready.unzip();
                let facts = [
                    (unready, unready_as.unwrap_or_default()),
                    (life.ready_again.filter(|_| life.deleted.is_none()), "Ready=True again"),
                    (life.deleted, "deleted"),
                    (life.gone, "gone"),
                ];
                for (at, what) in facts.into_iter().filter_map(|(at, what)| Some((at?, what))) {
                    self.add(at, &zone, ("Pod", what), "", name());
                }
                if let Some((at, phase)) = &life.ended {
                    self.add(*at, &zone, ("Pod", &format!("ended as {phase}")), "", name());
                }
            } else if let (true, Some(ready)) = (replacements.contains(uid), life.ready) {
                let what = format!("of {} ready, in place of others", life.owner.0);
                self.add(ready, &zone, ("Pod", &what), "", name());
            }
        }
    }

    /// Adds what the controller decided about zones.
    fn zones(&mut self, decisions: &[RecordedDecision], zero: Timestamp) {
        let is_zone =
            |decision: &&RecordedDecision| decision.at >= zero && decision.component == "node-lifecycle-controller";
        for decision in decisions.iter().filter(is_zone) {
            let about = &decision.decision.about;
            let what = match about.strip_prefix("zone/") {
                Some(zone) => format!("zone {zone}: {}", decision.decision.what),
                None if about == "zones" => decision.decision.what.clone(),
                None => continue,
            };
            let why = decision.reasons();
            self.add(decision.at, "", ("", &what), &why, [Text::of("")].iter().take(1));
        }
    }

    fn merged(mut self) -> Vec<Moment> {
        self.found.sort_by_key(|moment| moment.first);
        let mut merged: Vec<Moment> = Vec::new();
        let mut open: BTreeMap<(Text, &'static str, String), usize> = BTreeMap::new();
        for moment in self.found {
            let key = (moment.zone.clone(), moment.subject, moment.what.clone());
            let earlier = open.get(&key).map(|at| &mut merged[*at]);
            match earlier.filter(|earlier| !moment.subject.is_empty() && moment.first - earlier.last <= TOGETHER) {
                Some(earlier) => {
                    let gap = moment.first - earlier.last;
                    let (least, most) = earlier.gaps.unwrap_or((gap, gap));
                    earlier.gaps = Some((least.min(gap), most.max(gap)));
                    earlier.last = moment.last;
                    earlier.count += moment.count;
                    let room = NAMES.saturating_sub(earlier.names.len());
                    earlier.names.extend(moment.names.into_iter().take(room));
                }
                None => {
                    open.insert(key, merged.len());
                    merged.push(moment);
                }
            }
        }
        merged.sort_by_key(|moment| moment.first);
        merged
    }
}

fn node_line(name: &Text, zone: Text, (facts, pods): (&Facts<'_>, &ByNode<'_, &PodLife>), zero: Timestamp) -> NodeLine {
    let facts = facts.get(name).map_or(&[][..], Vec::as_slice);
    let pods = pods.get(name).map_or(&[][..], Vec::as_slice);
    let since = |at: Timestamp| at.duration_since(zero);
    let lost = facts.iter().find_map(|(at, fact)| match fact {
        NodeFact::Ready(status) if status != "True" => Some((*at, status.clone())),
        _ => None,
    });
    let tainted = facts.iter().find_map(|(at, fact)| match fact {
        NodeFact::Tainted(taint) if taint.ends_with(":NoExecute") => Some(since(*at)),
        _ => None,
    });
    let untainted = facts.iter().rev().find_map(|(at, fact)| match fact {
        NodeFact::Untainted(taint) if taint.ends_with(":NoExecute") => Some(since(*at)),
        _ => None,
    });
    let ready = facts.iter().filter_map(|(at, fact)| match fact {
        NodeFact::Ready(status) if status == "True" => Some(*at),
        _ => None,
    });
    let first = |wanted: &NodeFact| facts.iter().find(|(_, fact)| *fact == wanted).map(|(at, _)| since(*at));
    let ready = lost.as_ref().and_then(|(lost, _)| ready.rev().find(|at| at > lost)).map(since);
    NodeLine {
        name: name.clone(),
        zone,
        status: lost.as_ref().map(|(_, status)| status.clone()).unwrap_or_default(),
        not_ready: lost.map(|(at, _)| since(at)),
        tainted,
        untainted,
        ready,
        cordoned: first(&NodeFact::Cordoned(true)),
        drained: first(&NodeFact::Drained),
        uncordoned: first(&NodeFact::Cordoned(false)),
        pods: pods.len(),
        deleted: Sum::of(pods.iter().filter_map(|life| life.deleted), zero),
    }
}

/// Prints an instant for people: `+46.3s`, `+5m46s`, `+1h02m03s`.
pub(super) fn shown(at: SignedDuration) -> String {
    let sign = if at.is_negative() { "-" } else { "+" };
    let tenths = at.abs().as_millis().saturating_add(50) / 100;
    match i64::try_from((tenths + 5) / 10).unwrap_or(i64::MAX) {
        _ if tenths < 600 => {
            let tenths = i64::try_from(tenths).unwrap_or_default();
            format!("{sign}{}", time::seconds(SignedDuration::from_millis(tenths * 100)))
        }
        whole if whole < 3600 => format!("{sign}{}m{:02}s", whole / 60, whole % 60),
        whole => format!("{sign}{}h{:02}m{:02}s", whole / 3600, whole / 60 % 60, whole % 60),
    }
}
