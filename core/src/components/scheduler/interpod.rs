//! Affinity and anti-affinity between Pods.
//!
//! Mirrors pkg/scheduler/framework/plugins/interpodaffinity/{filtering,scoring}.go and
//! pkg/scheduler/framework/types.go,
//! `AffinityTerm` (v1.34).
//! Inputs: the Pod, all nodes with their Pods, the namespaces' labels. Outputs: rejections, and the weights of
//! topologies.
//! Left out on purpose: `matchLabelKeys`, which the API server merges into the selector.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::cache::{NodeInfo, PodInfo};
use super::plugins::{Plugin, Rejection, Remedy};
use super::snapshot::ClusterSnapshot;
use crate::objects::selector::Selector;
use crate::objects::{Json, Text};

/// The score that required affinity of a placed Pod adds to its topology.
/// Source: pkg/scheduler/apis/config/v1/defaults.go (v1.34), `HardPodAffinityWeight`.
const HARD_AFFINITY_WEIGHT: i64 = 1;

/// A topology: label and value.
type Topology = (Text, Text);

/// One term of affinity or anti-affinity.
#[derive(Clone, Debug)]
pub(super) struct Term {
    selector: Option<Selector>,
    namespaces: BTreeSet<Text>,
    namespace_selector: Option<Selector>,
    topology_key: Text,
}

impl Term {
    fn of(owner: &PodInfo, term: &Json) -> Self {
        let mut namespaces: BTreeSet<Text> =
            term.get("namespaces").items().iter().filter_map(|name| name.as_text().cloned()).collect();
        let namespace_selector = Selector::of_object(term.get("namespaceSelector"));
        if namespaces.is_empty() && namespace_selector.is_none() {
            namespaces.insert(owner.key.namespace.clone());
        }
        Self {
            selector: Selector::of_object(term.get("labelSelector")),
            namespaces,
            namespace_selector,
            topology_key: term.get("topologyKey").as_text().cloned().unwrap_or_default(),
        }
    }

    pub(super) const fn topology_key(&self) -> &Text {
        &self.topology_key
    }

    pub(super) fn matches(&self, pod: &PodInfo, namespace_labels: &Json) -> bool {
        let here = self.namespaces.contains(&pod.key.namespace)
            || self.namespace_selector.as_ref().is_some_and(|selector| selector.matches(namespace_labels));
        here && self.selector.as_ref().is_some_and(|selector| selector.matches(pod.labels()))
    }

    /// Resolves the namespace selector to the namespaces that it selects now.
    fn resolved(mut self, view: &ClusterSnapshot<'_>) -> Self {
        if let Some(selector) = self.namespace_selector.take_if(|selector| !selector.is_everything()) {
            self.namespaces.extend(view.namespaces_of(&selector));
        }
        self
    }

    fn topology(&self, node: &NodeInfo) -> Option<Topology> {
        node.label(&self.topology_key).map(|value| (self.topology_key.clone(), value.clone()))
    }
}

/// Which kind of affinity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Affinity {
    /// Affinity.
    Near,
    /// Anti-affinity.
    Away,
}

impl Affinity {
    const fn field(self) -> &'static str {
        match self {
            Self::Near => "podAffinity",
            Self::Away => "podAntiAffinity",
        }
    }
}

/// Returns the terms that a Pod requires.
pub(super) fn required(pod: &PodInfo, kind: Affinity) -> Vec<Term> {
    let path = ["affinity", kind.field(), "requiredDuringSchedulingIgnoredDuringExecution"];
    pod.spec().at(&path).items().iter().map(|term| Term::of(pod, term)).collect()
}

fn preferred(pod: &PodInfo, kind: Affinity) -> Vec<(Term, i64)> {
    let path = ["affinity", kind.field(), "preferredDuringSchedulingIgnoredDuringExecution"];
    let terms = pod.spec().at(&path).items().iter();
    terms.map(|term| (Term::of(pod, term.get("podAffinityTerm")), term.get("weight").as_i64().unwrap_or(0))).collect()
}

/// Tells whether a Pod matches all terms; false if there are none.
pub(super) fn meets_all(terms: &[Term], pod: &PodInfo) -> bool {
    !terms.is_empty() && terms.iter().all(|term| term.matches(pod, &Json::Null))
}

/// The required terms about a Pod: its own, and the anti-affinity of other Pods.
#[derive(Clone, Debug)]
pub(super) struct AffinityState {
    near: Vec<Term>,
    away: Vec<Term>,
    /// Whether the Pod matches its own terms, so that the first Pod of a group may run anywhere.
    is_first_of_group: bool,
    near_counts: BTreeMap<Topology, usize>,
    away_counts: BTreeSet<Topology>,
    kept_away: BTreeSet<Topology>,
}

impl AffinityState {
    pub(super) fn of(pod: &PodInfo, view: &ClusterSnapshot<'_>) -> Option<Self> {
        if !pod.has_affinity() && !view.cluster.has_affine_pods() {
            return None;
        }
        let resolved = |kind| required(pod, kind).into_iter().map(|term| term.resolved(view)).collect::<Vec<_>>();
        let (near, away) = (resolved(Affinity::Near), resolved(Affinity::Away));
        let mut state = Self {
            is_first_of_group: meets_all(&near, pod),
            near,
            away,
            near_counts: BTreeMap::new(),
            away_counts: BTreeSet::new(),
            kept_away: BTreeSet::new(),
        };
        let labels = view.namespace_labels(&pod.key.namespace);
        for node in view.nodes() {
            state.count(pod, node, labels);
        }
        let matters = !state.near.is_empty() || !state.away.is_empty() || !state.kept_away.is_empty();
        matters.then_some(state)
    }

    fn count(&mut self, pod: &PodInfo, node: &NodeInfo, namespace_labels: &Json) {
        if node.anti_affine > 0 {
            for other in node.pods.values().filter(|other| other.has_required_anti_affinity()) {
                let terms = required(other, Affinity::Away);
                let against = terms.iter().filter(|term| term.matches(pod, namespace_labels));
                self.kept_away.extend(against.filter_map(|term| term.topology(node)));
            }
        }
        if self.near.is_empty() && self.away.is_empty() {
            return;
        }
        for other in node.pods.values() {
            if meets_all(&self.near, other) {
                for topology in self.near.iter().filter_map(|term| term.topology(node)) {
                    *self.near_counts.entry(topology).or_default() += 1;
                }
            }
            let against = self.away.iter().filter(|term| term.matches(other, &Json::Null));
            self.away_counts.extend(against.filter_map(|term| term.topology(node)));
        }
    }

    pub(super) fn check(&self, node: &NodeInfo) -> Result<(), Rejection> {
        let reject = |remedy, reason| Err(Rejection::new(Plugin::InterPodAffinity, remedy, Text::of(reason)));
        if !self.is_near(node) {
            return reject(Remedy::None, "node(s) didn't match pod affinity rules");
        }
        if self.away.iter().filter_map(|term| term.topology(node)).any(|topology| self.away_counts.contains(&topology))
        {
            return reject(Remedy::Preemption, "node(s) didn't match pod anti-affinity rules");
        }
        if self.kept_away.iter().any(|(key, value)| node.label(key) == Some(value)) {
            return reject(Remedy::Preemption, "node(s) didn't satisfy existing pods anti-affinity rules");
        }
        Ok(())
    }

    fn is_near(&self, node: &NodeInfo) -> bool {
        let topologies: Vec<Option<Topology>> = self.near.iter().map(|term| term.topology(node)).collect();
        if topologies.iter().any(Option::is_none) {
            return false;
        }
        let all = topologies.iter().flatten().all(|topology| self.near_counts.contains_key(topology));
        all || (self.near_counts.is_empty() && self.is_first_of_group)
    }
}

/// Returns the score of each node from preferred terms, not yet normalised to 0…100; `None` if there are none.
pub(super) fn scores(pod: &PodInfo, view: &ClusterSnapshot<'_>, nodes: &[&NodeInfo]) -> Option<Vec<i64>> {
    let own = [(Affinity::Near, 1), (Affinity::Away, -1)];
    let own: Vec<(Term, i64)> = own
        .into_iter()
        .flat_map(|(kind, sign)| preferred(pod, kind).into_iter().map(move |(term, weight)| (term, weight * sign)))
        .map(|(term, weight)| (term.resolved(view), weight))
        .collect();
    if own.is_empty() && !view.cluster.has_affine_pods() {
        return None;
    }
    let labels = view.namespace_labels(&pod.key.namespace);
    let mut weights: BTreeMap<Topology, i64> = BTreeMap::new();
    for node in view.nodes() {
        for other in node.pods.values().filter(|other| !own.is_empty() || other.has_affinity()) {
            let mut add = |term: &Term, weight: i64| {
                if let Some(topology) = term.topology(node) {
                    *weights.entry(topology).or_default() += weight;
                }
            };
            own.iter()
                .filter(|(term, _)| term.matches(other, &Json::Null))
                .for_each(|(term, weight)| add(term, *weight));
            if other.has_affinity() {
                theirs(other).iter().filter(|(term, _)| term.matches(pod, labels)).for_each(|(term, w)| add(term, *w));
            }
        }
    }
    if weights.is_empty() {
        return None;
    }
    let of_node = |node: &&NodeInfo| {
        let met = weights.iter().filter(|((key, value), _)| node.label(key) == Some(value));
        met.map(|(_, weight)| *weight).sum()
    };
    Some(nodes.iter().map(of_node).collect())
}

fn theirs(pod: &PodInfo) -> Vec<(Term, i64)> {
    let mut terms: Vec<(Term, i64)> =
        required(pod, Affinity::Near).into_iter().map(|term| (term, HARD_AFFINITY_WEIGHT)).collect();
    terms.extend(preferred(pod, Affinity::Near));
    terms.extend(preferred(pod, Affinity::Away).into_iter().map(|(term, weight)| (term, -weight)));
    terms
}
