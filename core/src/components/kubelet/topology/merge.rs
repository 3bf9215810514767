//! Hints of where resources can come from, and how those of several providers become one.
//!
//! Mirrors pkg/kubelet/cm/topologymanager/policy.go, numa_info.go and bitmask.go (v1.34). Pure. Inputs: for each
//! resource its hints, the NUMA nodes with their distances, the policy. Outputs: the merged hint, and whether the
//! container may run.
//! Invariant: the result does not depend on how many combinations lead to the same merged hint, so each is looked at
//! once.

use alloc::vec::Vec;
use core::cmp::Ordering;

use crate::components::host::{NumaNode, distance};

/// A set of NUMA nodes: a bit for each id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Mask(u64);

impl Mask {
    pub(super) fn of(ids: impl IntoIterator<Item = u32>) -> Self {
        Self(ids.into_iter().fold(0, |bits, id| bits | 1_u64.checked_shl(id).unwrap_or_default()))
    }

    pub(super) fn has(self, id: u32) -> bool {
        self.0 & 1_u64.checked_shl(id).unwrap_or_default() != 0
    }

    pub(super) fn has_any(self, ids: &[u32]) -> bool {
        ids.iter().any(|id| self.has(*id))
    }

    pub(super) const fn count(self) -> u32 {
        self.0.count_ones()
    }

    pub(super) fn ids(self) -> Vec<u32> {
        (0..u64::BITS).filter(|id| self.has(*id)).collect()
    }

    pub(super) const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Fewer nodes, and of as many the smaller number.
    fn is_narrower(self, other: Self) -> bool {
        (self.count(), self) < (other.count(), other)
    }
}

/// Returns all sets of NUMA nodes, the smaller ones first.
///
/// Source: pkg/kubelet/cm/topologymanager/bitmask/bitmask.go (v1.34), `IterateBitMasks`.
pub(super) fn all_masks(nodes: &[NumaNode]) -> Vec<Mask> {
    let count = nodes.len().min(16);
    let choose = |chosen: u64| {
        let picked = nodes.iter().take(count).enumerate().filter(|(at, _)| chosen >> at & 1 == 1);
        Mask::of(picked.map(|(_, node)| node.id))
    };
    let mut masks: Vec<Mask> = (1..1_u64 << count).map(choose).collect();
    masks.sort_by_key(|mask| (mask.count(), mask.ids()));
    masks
}

/// Where a resource can come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Hint {
    /// The NUMA nodes; `None` if it does not matter.
    pub(super) affinity: Option<Mask>,
    /// Whether it needs no more of them than it must.
    pub(super) is_preferred: bool,
}

/// What a provider says of one resource.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Hints {
    /// It has no preference.
    Any,
    /// It can come from these; from nowhere if there are none.
    From(Vec<Hint>),
}

impl Hints {
    /// Source: policy.go (v1.34), `filterProvidersHints`.
    fn filtered(&self) -> Vec<Hint> {
        match self {
            Self::Any => Vec::from([Hint { affinity: None, is_preferred: true }]),
            Self::From(hints) if hints.is_empty() => Vec::from([Hint { affinity: None, is_preferred: false }]),
            Self::From(hints) => hints.clone(),
        }
    }
}

/// Which merged hints are good enough.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Policy {
    /// Nobody asks.
    #[default]
    None,
    /// Any.
    BestEffort,
    /// Preferred ones.
    Restricted,
    /// Preferred ones of one NUMA node.
    SingleNumaNode,
}

/// What is known of the machine and asked of the merge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Merger<'a> {
    pub(super) nodes: &'a [NumaNode],
    pub(super) policy: Policy,
    /// Option `prefer-closest-numa-nodes`.
    pub(super) prefers_closest: bool,
}

/// A combination of hints, one for each resource so far.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Combination {
    affinity: Mask,
    is_preferred: bool,
    /// The concrete set that all of them name; `None` if none names one, or it is not preferred anyway.
    common: Option<Mask>,
}

impl Merger<'_> {
    fn everywhere(&self) -> Mask {
        Mask::of(self.nodes.iter().map(|node| node.id))
    }

    /// Merges the hints of all resources, and tells whether the container may run.
    pub(super) fn merge(&self, resources: &[Hints]) -> (Hint, bool) {
        let mut filtered: Vec<Vec<Hint>> = resources.iter().map(Hints::filtered).collect();
        let is_single = self.policy == Policy::SingleNumaNode;
        if is_single {
            for hints in &mut filtered {
                hints.retain(|hint| hint.is_preferred && hint.affinity.is_none_or(|mask| mask.count() == 1));
            }
        }
        let everywhere = self.everywhere();
        let best = self.best_of(&filtered);
        let mut best = best.unwrap_or(Hint { affinity: Some(everywhere), is_preferred: false });
        if is_single && best.affinity == Some(everywhere) {
            best.affinity = None;
        }
        (best, self.policy == Policy::BestEffort || best.is_preferred)
    }

    fn best_of(&self, filtered: &[Vec<Hint>]) -> Option<Hint> {
        let start = Combination { affinity: self.everywhere(), is_preferred: true, common: None };
        let mut combinations = Vec::from([start]);
        for hints in filtered {
            let mut next: Vec<Combination> = Vec::new();
            for own in &combinations {
                for hint in hints {
                    let combined = combine(*own, *hint);
                    if !next.contains(&combined) {
                        next.push(combined);
                    }
                }
            }
            combinations = next;
        }
        let narrowest = |hints: &Vec<Hint>| hints.iter().filter_map(|hint| hint.affinity).map(Mask::count).min();
        let wanted = filtered.iter().filter_map(narrowest).max().unwrap_or_default();
        let merged = combinations.into_iter().filter(|own| own.affinity.count() > 0);
        let merged = merged.map(|own| Hint { affinity: Some(own.affinity), is_preferred: own.is_preferred });
        merged.reduce(|best, other| if self.is_better(other, best, wanted) { other } else { best })
    }

    /// Tells whether a merged hint takes the place of the best one so far. `wanted` is how many NUMA nodes the resource
    /// needs at least that needs the most.
    ///
    /// Source: policy.go (v1.34), `compare`.
    fn is_better(&self, other: Hint, best: Hint, wanted: u32) -> bool {
        let (one, two) = (other.affinity.unwrap_or_default(), best.affinity.unwrap_or_default());
        if other.is_preferred != best.is_preferred {
            return other.is_preferred;
        }
        if other.is_preferred {
            return self.fits_better(one, two);
        }
        let (count, best_count) = (one.count(), two.count());
        match best_count.cmp(&wanted) {
            Ordering::Greater => self.fits_better(one, two),
            Ordering::Equal => count == wanted && self.fits_better(one, two),
            Ordering::Less if count > wanted => false,
            Ordering::Less if count == wanted => true,
            Ordering::Less => match count.cmp(&best_count) {
                Ordering::Greater => true,
                Ordering::Less => false,
                Ordering::Equal => self.fits_better(one, two),
            },
        }
    }

    /// Source: numa_info.go (v1.34), `Closest` and `Narrowest`.
    fn fits_better(&self, one: Mask, other: Mask) -> bool {
        let is_close = self.prefers_closest && self.policy != Policy::SingleNumaNode;
        if is_close && one.count() == other.count() && one != other {
            // Both have as many pairs, so that sums compare as averages do.
            let (near, far) = (self.sum_of_distances(one), self.sum_of_distances(other));
            return if near == far { one < other } else { near < far };
        }
        one.is_narrower(other)
    }

    fn sum_of_distances(&self, mask: Mask) -> u64 {
        let own = || self.nodes.iter().enumerate().filter(|(_, node)| mask.has(node.id)).map(|(at, _)| at);
        own().flat_map(|one| own().map(move |other| (one, other))).map(|(a, b)| distance(self.nodes, a, b)).sum()
    }
}

/// Adds a hint to a combination. Source: policy.go (v1.34), `mergePermutation`.
fn combine(own: Combination, hint: Hint) -> Combination {
    let mut combined = Combination { is_preferred: own.is_preferred && hint.is_preferred, ..own };
    if let Some(mask) = hint.affinity {
        combined.is_preferred &= own.common.is_none_or(|common| common == mask);
        combined.common = Some(mask);
        combined.affinity = own.affinity.and(mask);
    }
    if !combined.is_preferred {
        combined.common = None;
    }
    combined
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::{Hint, Hints, Mask, Merger, Policy, all_masks};
    use crate::components::host::NumaNode;

    fn nodes(count: u32, distances: &[&[u64]]) -> Vec<NumaNode> {
        let node = |id: u32| NumaNode {
            id,
            cpus: [id].into_iter().collect(),
            memory: 0,
            distances: distances.get(id as usize).map(|row| row.to_vec()).unwrap_or_default(),
        };
        (0..count).map(node).collect()
    }

    /// `01+` are the NUMA nodes 0 and 1, preferred; `*` is any.
    fn hint(text: &str) -> Hint {
        let is_preferred = text.ends_with('+');
        let ids = text.trim_end_matches(['+', '-']);
        let mask = || Mask::of(ids.chars().filter_map(|digit| digit.to_digit(10)));
        Hint { affinity: (ids != "*").then(mask), is_preferred }
    }

    fn hints(text: &str) -> Hints {
        match text {
            "any" => Hints::Any,
            "none" => Hints::From(Vec::new()),
            list => Hints::From(list.split(' ').map(hint).collect()),
        }
    }

    /// Policy, hints of each resource, the merged hint, and whether the container may run.
    type Case = (Policy, &'static [&'static str], &'static str, bool);

    #[test]
    fn hints_of_two_numa_nodes_merge_as_upstream_merges_them() {
        use Policy::{BestEffort, Restricted, SingleNumaNode};
        let cases: &[Case] = &[
            (BestEffort, &[], "01+", true),
            (SingleNumaNode, &[], "*+", true),
            (BestEffort, &["any", "any"], "01+", true),
            (Restricted, &["any", "none"], "01-", false),
            (BestEffort, &["any", "none"], "01-", true),
            (SingleNumaNode, &["any", "none"], "01-", false),
            (Restricted, &["0+ 1+ 01-", "1+ 01-"], "1+", true),
            (SingleNumaNode, &["0+ 1+ 01-", "1+ 01-"], "1+", true),
            (Restricted, &["0+ 1+ 01-", "any"], "0+", true),
            (Restricted, &["0+", "1+"], "01-", false),
            (BestEffort, &["0+", "1+"], "01-", true),
            (Restricted, &["01+", "01+"], "01+", true),
            (SingleNumaNode, &["01+", "01+"], "01-", false),
            // As many as needed, but not the same: not preferred.
            (Restricted, &["01+", "0+ 1+ 01-"], "01-", false),
            (BestEffort, &["01+", "0+ 1+ 01-"], "01-", true),
            // A free place of the right size is not preferred if less would do on an empty machine.
            (Restricted, &["01-"], "01-", false),
            (SingleNumaNode, &["0- 1-"], "01-", false),
            (Restricted, &["0- 1+"], "1+", true),
        ];
        for (policy, resources, merged, may_run) in cases {
            let nodes = nodes(2, &[]);
            let merger = Merger { nodes: &nodes, policy: *policy, prefers_closest: false };
            let resources: Vec<Hints> = resources.iter().map(|text| hints(text)).collect();
            let mut expected = hint(merged);
            if *policy == SingleNumaNode && *merged == "01-" {
                expected.affinity = None;
            }
            assert_eq!(merger.merge(&resources), (expected, *may_run), "{policy:?} {resources:?}");
        }
    }

    #[test]
    fn of_hints_that_nobody_prefers_the_nearest_to_the_largest_need_is_best() {
        let nodes = nodes(4, &[]);
        for (resources, merged) in [
            // The largest need is two NUMA nodes.
            (["01+ 23+ 0123-", "0+ 1+ 2+ 3+ 01- 23- 0123-"], "01-"),
            (["012+ 123+", "0- 1- 2- 3- 01- 12-"], "01-"),
            (["0123-", "012- 123-"], "012-"),
            (["0- 1-", "0- 2-"], "0-"),
            (["3- 0123-", "123- 3-"], "3-"),
        ] {
            let merger = Merger { nodes: &nodes, policy: Policy::BestEffort, prefers_closest: false };
            assert_eq!(merger.merge(&resources.map(hints)).0, hint(merged), "{resources:?}");
        }
    }

    #[test]
    fn of_as_many_nodes_the_closest_are_taken_if_the_option_says_so() {
        let far: &[&[u64]] = &[&[10, 12, 11, 12], &[12, 10, 12, 11], &[11, 12, 10, 12], &[12, 11, 12, 10]];
        let nodes = nodes(4, far);
        let resources = [hints("01+ 02+ 13+ 03+")];
        for (policy, prefers_closest, merged) in
            [(Policy::Restricted, false, "01+"), (Policy::Restricted, true, "02+"), (Policy::BestEffort, true, "02+")]
        {
            let merger = Merger { nodes: &nodes, policy, prefers_closest };
            assert_eq!(merger.merge(&resources).0, hint(merged));
        }
    }

    #[test]
    fn all_sets_come_in_the_order_of_their_size() {
        let masks: Vec<Vec<u32>> = all_masks(&nodes(3, &[])).into_iter().map(Mask::ids).collect();
        let expected: &[&[u32]] = &[&[0], &[1], &[2], &[0, 1], &[0, 2], &[1, 2], &[0, 1, 2]];
        assert_eq!(masks, expected);
    }
}
