//! Which pods are preempted for a critical one that does not fit.
//!
//! Mirrors pkg/kubelet/preemption/preemption.go and `IsCriticalPod`, `Preemptable` of pkg/kubelet/types/pod_update.go
//! (v1.34). Inputs: the pod, what it lacks, the pods that run. Output: the victims, or what cannot be freed.
//! Invariant: no class of pods is preempted while the classes below it can free enough.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::components::MIRROR;
use crate::components::pod_resources::{PodLevel, requests};
use crate::objects::Object;

/// From this priority on pods are critical. Source: pkg/apis/scheduling/types.go (v1.34), `SystemCriticalPriority`.
pub(super) const CRITICAL_PRIORITY: i64 = 2_000_000_000;
/// The annotation that names where a pod comes from.
/// Source: pkg/kubelet/types/pod_update.go (v1.34), `ConfigSourceAnnotationKey`.
pub(super) const CONFIG_SOURCE: &str = "kubernetes.io/config.source";

/// What is missing of a resource.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Shortage {
    pub(super) resource: String,
    pub(super) requested: i64,
    pub(super) used: i64,
    pub(super) capacity: i64,
}

impl Shortage {
    pub(super) fn message(&self) -> String {
        let Self { resource, requested, used, capacity } = self;
        format!(
            "Node didn't have enough resource: {resource}, requested: {requested}, used: {used}, capacity: {capacity}"
        )
    }
}

/// How much of a resource has to be freed.
#[derive(Clone, Debug)]
struct Need {
    resource: String,
    quantity: i64,
}

/// Tells whether a pod preempts others when resources are missing.
pub(super) fn is_critical(pod: &Object) -> bool {
    let annotations = pod.stable().at(&["metadata", "annotations"]);
    let source = annotations.get(CONFIG_SOURCE).as_str();
    source.is_some_and(|source| source != "api")
        || !annotations.get(MIRROR).is_null()
        || priority(pod).is_some_and(|priority| priority >= CRITICAL_PRIORITY)
}

/// Returns the priority of a pod, if it has one.
pub(super) fn priority(pod: &Object) -> Option<i64> {
    pod.stable().at(&["spec", "priority"]).as_i64()
}

fn is_preemptable(preemptor: &Object, pod: &Object) -> bool {
    is_critical(preemptor) && !is_critical(pod)
        || priority(preemptor).zip(priority(pod)).is_some_and(|(own, other)| own > other)
}

/// Chooses the pods that have to end; the error says what cannot be freed.
pub(super) fn victims<'a>(
    pod: &Object,
    others: &[&'a Object],
    lacking: &[Shortage],
    level: PodLevel,
) -> Result<Vec<&'a Object>, String> {
    let needs: Vec<Need> = lacking
        .iter()
        .map(|lack| Need { resource: lack.resource.clone(), quantity: lack.requested + lack.used - lack.capacity })
        .collect();
    let of_class = |class: &str| -> Vec<&'a Object> {
        let fits = |other: &&&Object| {
            let own = other.stable().at(&["status", "qosClass"]).as_str().unwrap_or("BestEffort");
            own == class && is_preemptable(pod, other)
        };
        others.iter().filter(fits).copied().collect()
    };
    let (best_effort, burstable, guaranteed) = (of_class("BestEffort"), of_class("Burstable"), of_class("Guaranteed"));
    let chosen_guaranteed = nearest(&guaranteed, without(&needs, &[&best_effort, &burstable], level), level)
        .map_err(|_| no_victims_error(&without(&needs, &[&best_effort, &burstable, &guaranteed], level)))?;
    let chosen_burstable = nearest(&burstable, without(&needs, &[&best_effort, &chosen_guaranteed], level), level)?;
    let left = without(&needs, &[&chosen_burstable, &chosen_guaranteed], level);
    let mut chosen = nearest(&best_effort, left, level)?;
    chosen.extend(chosen_burstable);
    chosen.extend(chosen_guaranteed);
    Ok(chosen)
}

fn amount(pod: &Object, resource: &str, level: PodLevel) -> i64 {
    if resource == "pods" { 1 } else { requests(pod.stable().get("spec"), level).get(resource) }
}

/// Returns what is still needed when some pods have ended.
fn without(needs: &[Need], gone: &[&[&Object]], level: PodLevel) -> Vec<Need> {
    let left = needs.iter().map(|need| {
        let freed: i64 = gone.iter().flat_map(|pods| pods.iter()).map(|pod| amount(pod, &need.resource, level)).sum();
        Need { resource: need.resource.clone(), quantity: need.quantity - freed }
    });
    left.filter(|need| need.quantity > 0).collect()
}

/// Chooses one pod after the other, each time the one nearest to what is still needed.
fn nearest<'a>(pods: &[&'a Object], mut needs: Vec<Need>, level: PodLevel) -> Result<Vec<&'a Object>, String> {
    let mut pods: Vec<&Object> = pods.to_vec();
    let mut chosen = Vec::new();
    while !needs.is_empty() {
        let mut best: Option<(f64, usize)> = None;
        for (at, pod) in pods.iter().enumerate() {
            let distance = distance(&needs, pod, level);
            let is_better = best.is_none_or(|(least, found)| {
                distance < least || distance <= least && is_no_larger(pod, pods[found], level)
            });
            if is_better {
                best = Some((distance, at));
            }
        }
        let Some((_, at)) = best else { return Err(no_victims_error(&needs)) };
        let pod = pods.swap_remove(at);
        needs = without(&needs, &[&[pod]], level);
        chosen.push(pod);
    }
    Ok(chosen)
}

#[expect(clippy::cast_precision_loss, reason = "as upstream compares them")]
fn distance(needs: &[Need], pod: &Object, level: PodLevel) -> f64 {
    let parts = needs.iter().map(|need| {
        let rest = (need.quantity - amount(pod, &need.resource, level)).max(0) as f64 / need.quantity as f64;
        rest * rest
    });
    parts.sum()
}

fn is_no_larger(pod: &Object, other: &Object, level: PodLevel) -> bool {
    let size = |pod| (amount(pod, "memory", level), amount(pod, "cpu", level));
    size(pod) <= size(other)
}

fn no_victims_error(needs: &[Need]) -> String {
    let list: String = needs.iter().map(|need| format!("(res: {}, q: {}), ", need.resource, need.quantity)).collect();
    format!("no set of running pods found to reclaim resources: [{list}]")
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::{Shortage, victims};
    use crate::components::pod_resources::PodLevel;
    use crate::json;
    use crate::objects::Object;

    fn pod(name: &str, class: &str, cpu: &str, priority: i64) -> Object {
        let requests = if cpu.is_empty() { json!({}) } else { json!({"cpu": cpu}) };
        Object::new(
            json!({"metadata": {"name": name}, "status": {"qosClass": class},
                "spec": {"priority": priority, "containers": [{"resources": {"requests": requests}}]}}),
            1,
        )
    }

    #[test]
    fn the_class_that_is_least_protected_and_comes_nearest_makes_room() {
        let critical = pod("critical", "Burstable", "1", 2_000_000_000);
        let pods = [
            pod("b1", "Burstable", "300m", 0),
            pod("b2", "Burstable", "800m", 0),
            pod("g1", "Guaranteed", "1", 0),
            pod("e1", "BestEffort", "", 0),
            pod("system", "Burstable", "2", 2_000_001_000),
        ];
        let others: Vec<&Object> = pods.iter().collect();
        let chosen = |quantity: i64| {
            let lacking = [Shortage { resource: "cpu".into(), requested: quantity, used: 0, capacity: 0 }];
            victims(&critical, &others, &lacking, PodLevel::Ignored)
                .map(|found| found.iter().map(|pod| pod.name()).collect::<Vec<_>>())
        };
        assert_eq!(chosen(200).unwrap(), ["b1"]);
        assert_eq!(chosen(700).unwrap(), ["b2"]);
        assert_eq!(chosen(1100).unwrap(), ["b2", "b1"]);
        assert_eq!(chosen(1200).unwrap(), ["b1", "g1"]);
        let why = "no set of running pods found to reclaim resources: [(res: cpu, q: 400), ]";
        assert_eq!(chosen(2500).unwrap_err(), why);
    }

    #[test]
    fn for_a_place_among_the_pods_a_pod_without_requests_goes_first() {
        let critical = pod("critical", "Burstable", "1", 2_000_000_000);
        let pods = [pod("b1", "Burstable", "300m", 0), pod("e1", "BestEffort", "", 0), pod("g1", "Guaranteed", "1", 0)];
        let others: Vec<&Object> = pods.iter().collect();
        let lacking = [Shortage { resource: "pods".into(), requested: 1, used: 3, capacity: 3 }];
        let found = victims(&critical, &others, &lacking, PodLevel::Ignored).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(*found[0].name(), *"e1");
    }
}
