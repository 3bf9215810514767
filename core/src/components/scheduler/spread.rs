//! Topology spread constraints of Pods.
//!
//! Mirrors pkg/scheduler/framework/plugins/podtopologyspread/{common,filtering,scoring}.go and plugins/helper/spread.go
//! (v1.34).
//! Inputs: the Pod's constraints or, without any, the defaults for its Services and owner; all nodes with their Pods.
//! Outputs: rejections where a constraint must hold, scores where it should.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::cache::{LabelGroup, NodeInfo, PodInfo};
use super::filters::untolerated;
use super::plugins::{Plugin, Rejection, Remedy};
use super::snapshot::ClusterSnapshot;
use crate::components::node_affinity::{is_required, matches_required};
use crate::objects::kubelet_labels::{HOSTNAME, ZONE};
use crate::objects::selector::Selector;
use crate::objects::{Json, Text};

/// One constraint.
#[derive(Clone, Debug)]
pub(super) struct Constraint {
    skew_max: i64,
    key: Text,
    selector: Option<Selector>,
    domains_min: usize,
    honours_affinity: bool,
    honours_taints: bool,
}

impl Constraint {
    fn of(pod: &PodInfo, constraint: &Json) -> Self {
        let mut selector = Selector::of_object(constraint.get("labelSelector"));
        let mut more = Json::object();
        for key in constraint.get("matchLabelKeys").items().iter().filter_map(Json::as_str) {
            if let Some(value) = pod.labels().get(key).as_text() {
                more.set(&[key], value);
            }
        }
        selector = selector.map(|selector| selector.with(Selector::of_labels(&more)));
        Self {
            skew_max: constraint.get("maxSkew").as_i64().unwrap_or(1),
            key: constraint.get("topologyKey").as_text().cloned().unwrap_or_default(),
            selector,
            domains_min: constraint.get("minDomains").as_i64().and_then(|n| usize::try_from(n).ok()).unwrap_or(1),
            honours_affinity: constraint.get("nodeAffinityPolicy").as_str() != Some("Ignore"),
            honours_taints: constraint.get("nodeTaintsPolicy").as_str() == Some("Honor"),
        }
    }

    fn default(key: &'static str, skew_max: i64, selector: &Selector) -> Self {
        Self {
            skew_max,
            key: Text::of(key),
            selector: Some(selector.clone()),
            domains_min: 1,
            honours_affinity: true,
            honours_taints: false,
        }
    }

    pub(super) const fn key(&self) -> &Text {
        &self.key
    }

    pub(super) const fn honours_taints(&self) -> bool {
        self.honours_taints
    }

    /// Tells whether a Pod of the same namespace with these labels counts.
    pub(super) fn selects(&self, labels: &Json) -> bool {
        self.selector.as_ref().is_some_and(|selector| selector.matches(labels))
    }

    /// Tells whether the Pods of a node count.
    fn counts(&self, pod: &PodInfo, node: &NodeInfo) -> bool {
        (!self.honours_affinity || matches_required(pod.spec(), node.tree()))
            && (!self.honours_taints || untolerated(pod.spec(), node.taints()).is_none())
    }

    /// Tells whether the Pods of every node count.
    fn counts_everywhere(&self, pod: &PodInfo) -> bool {
        !(self.honours_taints || self.honours_affinity && is_required(pod.spec()))
    }

    /// Returns how many Pods count in the cluster as it is: on each node that has one, or in each zone.
    fn selected<'a>(
        &self,
        pod: &PodInfo,
        view: &ClusterSnapshot<'a>,
        counts: fn(&LabelGroup) -> &BTreeMap<Text, i64>,
    ) -> Cow<'a, BTreeMap<Text, i64>> {
        let selector = self.selector.as_ref().filter(|selector| !selector.is_everything());
        selector.map(|selector| view.cluster.selected(&pod.key.namespace, selector, counts)).unwrap_or_default()
    }

    fn matching(&self, pod: &PodInfo, node: &NodeInfo) -> i64 {
        let Some(selector) = self.selector.as_ref().filter(|selector| !selector.is_everything()) else { return 0 };
        let counts = |other: &PodInfo| {
            other.key.namespace == pod.key.namespace
                && other.object.stable().at(&["metadata", "deletionTimestamp"]).is_null()
                && selector.matches(other.labels())
        };
        i64::try_from(node.pods.values().filter(|other| counts(other)).count()).unwrap_or(i64::MAX)
    }
}

/// Returns a Pod's constraints of one kind: `DoNotSchedule` or `ScheduleAnyway`.
fn constraints(pod: &PodInfo, when: &str) -> Vec<Constraint> {
    let all = pod.spec().get("topologySpreadConstraints").items().iter();
    all.filter(|one| one.get("whenUnsatisfiable").as_str() == Some(when)).map(|one| Constraint::of(pod, one)).collect()
}

/// Returns the constraints of a Pod that must hold.
pub(super) fn hard_constraints(pod: &PodInfo) -> Vec<Constraint> {
    constraints(pod, "DoNotSchedule")
}

fn has_all_keys(node: &NodeInfo, constraints: &[Constraint]) -> bool {
    constraints.iter().all(|constraint| node.label(&constraint.key).is_some())
}

/// A constraint that must hold, with the numbers of Pods in each domain.
#[derive(Clone, Debug)]
struct HardConstraint {
    constraint: Constraint,
    counts: BTreeMap<Text, i64>,
    /// The number in the domain with the fewest.
    fewest: i64,
    matches_itself: i64,
}

/// The constraints that must hold.
#[derive(Clone, Debug)]
pub(super) struct SpreadState(Vec<HardConstraint>);

impl SpreadState {
    pub(super) fn of(pod: &PodInfo, view: &ClusterSnapshot<'_>) -> Option<Self> {
        let constraints = hard_constraints(pod);
        if constraints.is_empty() {
            return None;
        }
        let counts: Vec<_> =
            constraints.iter().map(|constraint| hard_counts(pod, view, constraint, &constraints)).collect();
        let counted = |(constraint, counts): (Constraint, BTreeMap<Text, i64>)| {
            let fewest = if counts.len() < constraint.domains_min {
                0
            } else {
                counts.values().copied().min().unwrap_or(i64::from(i32::MAX))
            };
            let matches_itself = i64::from(constraint.selects(pod.labels()));
            HardConstraint { constraint, counts, fewest, matches_itself }
        };
        Some(Self(constraints.into_iter().zip(counts).map(counted).collect()))
    }

    pub(super) fn check(&self, node: &NodeInfo) -> Result<(), Rejection> {
        for HardConstraint { constraint, counts, fewest, matches_itself: itself } in &self.0 {
            let reject = |remedy, reason| Err(Rejection::new(Plugin::PodTopologySpread, remedy, Text::of(reason)));
            let Some(value) = node.label(&constraint.key) else {
                let reason = "node(s) didn't match pod topology spread constraints (missing required label)";
                return reject(Remedy::None, reason);
            };
            if counts.get(value).copied().unwrap_or(0) + itself - fewest > constraint.skew_max {
                return reject(Remedy::Preemption, "node(s) didn't match pod topology spread constraints");
            }
        }
        Ok(())
    }
}

/// Counts the Pods in each domain of the nodes that have all labels of the constraints.
///
/// Of the cluster as it is they are counted already; a node in a hypothetical state is counted anew.
fn hard_counts(
    pod: &PodInfo,
    view: &ClusterSnapshot<'_>,
    constraint: &Constraint,
    all: &[Constraint],
) -> BTreeMap<Text, i64> {
    let mut counts: BTreeMap<Text, i64> = BTreeMap::new();
    let (is_checked, selected) =
        (!constraint.counts_everywhere(pod), constraint.selected(pod, view, LabelGroup::on_nodes));
    for node in view.nodes().filter(|node| has_all_keys(node, all)) {
        let Some(value) = node.label(&constraint.key) else { continue };
        if is_checked && !constraint.counts(pod, node) {
            continue;
        }
        let there = match view.instead.filter(|other| other.name() == node.name()) {
            Some(other) => constraint.matching(pod, other),
            None => selected.get(node.name()).copied().unwrap_or(0),
        };
        match counts.get_mut(value) {
            Some(count) => *count += there,
            None => drop(counts.insert(value.clone(), there)),
        }
    }
    counts
}

/// Returns the scores of nodes for the constraints that should hold, from 0 to 100; `None` where there are none.
///
/// `owners` selects the Pods of the same Services and owner, for the default constraints.
pub(super) fn scores(
    pod: &PodInfo,
    view: &ClusterSnapshot<'_>,
    nodes: &[&NodeInfo],
    owners: impl FnOnce() -> Selector,
) -> Option<Vec<i64>> {
    let own = !pod.spec().get("topologySpreadConstraints").items().is_empty();
    let constraints = if own {
        constraints(pod, "ScheduleAnyway")
    } else {
        let selector = owners();
        if selector.is_everything() {
            return None;
        }
        Vec::from([Constraint::default(HOSTNAME, 3, &selector), Constraint::default(ZONE, 5, &selector)])
    };
    if constraints.is_empty() {
        return None;
    }
    // A node that lacks one of these labels is left out.
    let required: &[Constraint] = if own { &constraints } else { &[] };
    let is_ignored = |node: &NodeInfo| !has_all_keys(node, required);
    let of_domains = |constraint: &Constraint| domain_counts((pod, view), nodes, constraint, required);
    let counts: Vec<Cow<'_, BTreeMap<Text, i64>>> = constraints.iter().map(of_domains).collect();
    let hosts = nodes.iter().filter(|node| !is_ignored(node)).count();
    let on_host = |constraint: &Constraint| *constraint.key == *HOSTNAME;
    let size = |(constraint, counts): (&Constraint, &Cow<'_, BTreeMap<Text, i64>>)| {
        natural_logarithm(if on_host(constraint) { hosts } else { counts.len() } + 2)
    };
    let weights: Vec<f64> = constraints.iter().zip(&counts).map(size).collect();
    let raw = nodes.iter().map(|node| {
        if is_ignored(node) {
            return None;
        }
        let mut score = 0.0;
        for ((constraint, counts), weight) in constraints.iter().zip(&counts).zip(&weights) {
            let Some(value) = node.label(&constraint.key) else { continue };
            let count = counts.get(if on_host(constraint) { node.name() } else { value });
            score += as_float(count.copied().unwrap_or(0)) * weight + as_float(constraint.skew_max - 1);
        }
        Some(rounded(score))
    });
    Some(normalised(&raw.collect::<Vec<_>>()))
}

/// The domain of the nodes that lack the label: it is counted as one and never looked up.
const NO_DOMAIN: &Text = &Text::of("");

/// Counts the Pods in each domain that a node to be scored is in, or, where each node is one, on the nodes by name.
fn domain_counts<'a>(
    (pod, view): (&PodInfo, &ClusterSnapshot<'a>),
    nodes: &[&NodeInfo],
    constraint: &Constraint,
    required: &[Constraint],
) -> Cow<'a, BTreeMap<Text, i64>> {
    if *constraint.key == *HOSTNAME {
        return constraint.selected(pod, view, LabelGroup::on_nodes);
    }
    let domain = |node: &NodeInfo| node.label(&constraint.key).unwrap_or(NO_DOMAIN).clone();
    let scored = nodes.iter().filter(|node| has_all_keys(node, required));
    let mut counts: BTreeMap<Text, i64> = scored.map(|node| (domain(node), 0)).collect();
    let is_checked = !constraint.counts_everywhere(pod);
    if *constraint.key == *ZONE && !is_checked && required.is_empty() {
        let zones = constraint.selected(pod, view, LabelGroup::in_zones);
        for (zone, count) in &mut counts {
            *count = zones.get(zone).copied().unwrap_or(0);
        }
        return Cow::Owned(counts);
    }
    for (name, found) in constraint.selected(pod, view, LabelGroup::on_nodes).iter() {
        let counts_there =
            |node: &&NodeInfo| has_all_keys(node, required) && (!is_checked || constraint.counts(pod, node));
        let node = view.cluster.get(name).filter(counts_there);
        if let Some(count) = node.and_then(|node| counts.get_mut(&domain(node))) {
            *count += found;
        }
    }
    Cow::Owned(counts)
}

/// Source: scoring.go (v1.34), `NormalizeScore`.
fn normalised(raw: &[Option<i64>]) -> Vec<i64> {
    let known = || raw.iter().copied().flatten();
    let (lowest, highest) = (known().min().unwrap_or(i64::MAX), known().max().unwrap_or(0).max(0));
    let one = |score: &Option<i64>| match score {
        None => 0,
        Some(_) if highest == 0 => 100,
        Some(score) => 100 * (highest + lowest - score) / highest,
    };
    raw.iter().map(one).collect()
}

#[expect(clippy::cast_precision_loss, reason = "numbers of pods are far below 2^53")]
const fn as_float(number: i64) -> f64 {
    number as f64
}

#[expect(clippy::cast_possible_truncation, reason = "scores are far below 2^53")]
fn rounded(score: f64) -> i64 {
    (score + 0.5) as i64
}

/// Returns the natural logarithm of a number of at least 1, exact to what a score can tell.
fn natural_logarithm(number: usize) -> f64 {
    let mut value = as_float(i64::try_from(number).unwrap_or(i64::MAX));
    let mut twos = 0.0;
    while value > 1.5 {
        value /= 2.0;
        twos += 1.0;
    }
    // ln((1 + x) / (1 - x)) = 2 (x + x³/3 + x⁵/5 + …), with |x| <= 0.2 here.
    let x = (value - 1.0) / (value + 1.0);
    let (mut sum, mut power, mut odd) = (0.0, x, 1.0);
    while odd < 40.0 {
        sum += power / odd;
        power *= x * x;
        odd += 2.0;
    }
    2.0 * sum + twos * core::f64::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::{natural_logarithm, normalised};

    #[test]
    fn the_logarithm_is_that_of_the_standard_library() {
        for number in [1_usize, 2, 3, 4, 5, 10, 17, 100, 5_002] {
            let known = f64::from(u32::try_from(number).unwrap()).ln();
            assert!((natural_logarithm(number) - known).abs() < 1e-12, "{number}");
        }
    }

    #[test]
    fn the_emptiest_domain_gets_a_hundred() {
        assert_eq!(normalised(&[Some(4), Some(8), None]), [100, 50, 0]);
        assert_eq!(normalised(&[Some(0), Some(0)]), [100, 100]);
    }
}
