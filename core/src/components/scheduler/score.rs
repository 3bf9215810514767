//! The scores of the nodes that fit.
//!
//! Mirrors the score plugins of pkg/scheduler/framework/plugins with the weights of
//! pkg/scheduler/apis/config/v1/default_plugins.go (v1.34): TaintToleration 3, NodeAffinity 2, PodTopologySpread 2,
//! InterPodAffinity 2, NodeResourcesFit (LeastAllocated) 1, NodeResourcesBalancedAllocation 1, ImageLocality 1.
//! Inputs: the Pod, the nodes that fit, the cluster. Outputs: one number for each node; a node with the highest is
//! chosen.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::cache::{NodeInfo, PodInfo};
use super::snapshot::ClusterSnapshot;
use super::{interpod, spread};
use crate::components::node_affinity::{has_preference, preference};
use crate::components::tolerations::tolerates;
use crate::objects::Json;
use crate::objects::selector::Selector;
use crate::profile::Settings;

/// The best score of a plugin. Source: k8s.io/kube-scheduler framework (v1.34), `MaxNodeScore`.
const BEST: i64 = 100;
/// Total size of images below which they score zero, in bytes.
/// Source: pkg/scheduler/framework/plugins/imagelocality/image_locality.go (v1.34), `minThreshold`.
const IMAGES_MIN: i64 = 23 * 1024 * 1024;
/// Size per container above which images score no higher, in bytes. Source: as [`IMAGES_MIN`], `maxContainerThreshold`.
const IMAGES_MAX_EACH: i64 = 1000 * 1024 * 1024;

/// How the balance of CPU and memory is scored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Balance {
    /// By the balance of the node with the Pod, also for Pods without requests.
    Always,
    /// The same, but not for Pods without requests.
    WithRequests,
    /// By the change in balance that the Pod causes.
    Improvement,
}

impl Balance {
    pub(super) fn of(settings: &Settings) -> Self {
        match settings.profile().text("scheduler-balance-score") {
            "always" => Self::Always,
            "improvement" => Self::Improvement,
            _ => Self::WithRequests,
        }
    }
}

/// Returns the score of each node.
pub(super) fn scores(
    pod: &PodInfo,
    view: &ClusterSnapshot<'_>,
    nodes: &[&NodeInfo],
    balance: Balance,
    owners: impl FnOnce() -> Selector,
) -> Vec<i64> {
    let mut sums = vec![0; nodes.len()];
    let mut add = |weight: i64, scores: &[i64]| {
        for (sum, score) in sums.iter_mut().zip(scores) {
            *sum += weight * score;
        }
    };
    let each = |score: &dyn Fn(&NodeInfo) -> i64| nodes.iter().map(|node| score(node)).collect::<Vec<i64>>();
    let most_is_worst = |counts: Vec<i64>| {
        let most = counts.iter().copied().max().unwrap_or(0);
        counts.iter().map(|count| if most == 0 { BEST } else { BEST - BEST * count / most }).collect::<Vec<_>>()
    };
    add(3, &most_is_worst(each(&|node| if node.is_unpreferred { unwelcome(pod, node) } else { 0 })));
    if has_preference(pod.spec()) {
        let preferences = each(&|node| preference(pod.spec(), node.tree()));
        let most = preferences.iter().copied().max().unwrap_or(0).max(1);
        add(2, &preferences.iter().map(|weight| BEST * weight / most).collect::<Vec<_>>());
    }
    if let Some(spread) = spread::scores(pod, view, nodes, owners) {
        add(2, &spread);
    }
    if let Some(raw) = interpod::scores(pod, view, nodes) {
        add(2, &between(&raw));
    }
    add(1, &each(&|node| least_allocated(pod, node)));
    if balance == Balance::Always || ["cpu", "memory"].iter().any(|name| pod.requests.get(name) > 0) {
        add(1, &each(&|node| balanced(pod, node, balance)));
    }
    let images = images(pod);
    add(1, &each(&|node| locality(&images, view, node)));
    sums
}

/// Counts the PreferNoSchedule taints that the Pod does not tolerate.
fn unwelcome(pod: &PodInfo, node: &NodeInfo) -> i64 {
    let tolerations = pod.spec().get("tolerations").items();
    let is_soft = |taint: &&Json| taint.get("effect").as_str() == Some("PreferNoSchedule");
    let against = node.taints().iter().filter(is_soft);
    let count = against.filter(|taint| !tolerations.iter().any(|toleration| tolerates(toleration, taint))).count();
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "weights are far below 2^53")]
fn between(raw: &[i64]) -> Vec<i64> {
    let lowest = raw.iter().copied().min().unwrap_or(0);
    let span = raw.iter().copied().max().unwrap_or(0) - lowest;
    let one = |score: &i64| if span > 0 { (100.0 * ((score - lowest) as f64 / span as f64)) as i64 } else { 0 };
    raw.iter().map(one).collect()
}

fn least_allocated(pod: &PodInfo, node: &NodeInfo) -> i64 {
    let (mut sum, mut resources) = (0, 0);
    for name in ["cpu", "memory"] {
        let all = node.allocatable.get(name);
        if all == 0 {
            continue;
        }
        let wanted = node.for_scoring.get(name) + pod.for_scoring.get(name);
        sum += if wanted > all { 0 } else { (all - wanted) * BEST / all };
        resources += 1;
    }
    if resources == 0 { 0 } else { sum / resources }
}

fn balanced(pod: &PodInfo, node: &NodeInfo, balance: Balance) -> i64 {
    let with = evenness(node, |name| node.requested.get(name) + pod.requests.get(name));
    if balance != Balance::Improvement {
        return with;
    }
    let without = evenness(node, |name| node.requested.get(name));
    BEST / 2 + (BEST / 2 + with - without) / 2
}

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "upstream's own arithmetic")]
fn evenness(node: &NodeInfo, wanted: impl Fn(&str) -> i64) -> i64 {
    let share = |name: &str| {
        let all = node.allocatable.get(name);
        (all != 0).then(|| (wanted(name) as f64 / all as f64).min(1.0))
    };
    let deviation = match (share("cpu"), share("memory")) {
        (Some(cpu), Some(memory)) => ((cpu - memory) / 2.0).abs(),
        _ => 0.0,
    };
    ((1.0 - deviation) * 100.0) as i64
}

/// Returns the images of a Pod's containers, `None` for a container without one.
fn images(pod: &PodInfo) -> Vec<Option<String>> {
    let part = |field| pod.spec().get(field).items().iter();
    let containers = part("initContainers").chain(part("containers"));
    containers.map(|container| container.get("image").as_str().map(with_tag)).collect()
}

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "upstream's own arithmetic")]
fn locality(images: &[Option<String>], view: &ClusterSnapshot<'_>, node: &NodeInfo) -> i64 {
    let all = view.cluster.len() as f64;
    let mut sum = 0;
    for image in images.iter().flatten() {
        if node.has_image(image) {
            let (size, nodes) = view.cluster.image(image);
            sum += (size as f64 * (nodes as f64 / all)) as i64;
        }
    }
    let most = IMAGES_MAX_EACH * i64::try_from(images.len()).unwrap_or(1).max(1);
    BEST * (sum.clamp(IMAGES_MIN, most) - IMAGES_MIN) / (most - IMAGES_MIN)
}

fn with_tag(image: &str) -> String {
    if image.rfind(':') <= image.rfind('/') { alloc::format!("{image}:latest") } else { String::from(image) }
}

#[cfg(test)]
mod tests {
    use super::{between, with_tag};

    #[test]
    fn an_image_without_tag_is_the_latest() {
        assert_eq!(with_tag("registry:5000/app"), "registry:5000/app:latest");
        assert_eq!(with_tag("app:1"), "app:1");
        assert_eq!(with_tag("app"), "app:latest");
    }

    #[test]
    fn weights_are_brought_to_a_hundred() {
        assert_eq!(between(&[-10, 0, 30]), [0, 25, 100]);
        assert_eq!(between(&[7, 7]), [0, 0]);
    }
}
