//! What objects use of ResourceQuotas: which resources of a quota a kind counts for, and how much of each.
//!
//! Mirrors pkg/quota/v1/evaluator/core/{pods,services,persistent_volume_claims}.go and k8s.io/apiserver
//! pkg/quota/v1/{resources.go,generic/evaluator.go} (v1.34). Inputs: a kind, an object, a quota's names and scopes.
//! Outputs: amounts, and which containers lack what a quota asks for. Pure.
//! Left out on purpose: devices of ResourceClaims, and the resources of a Pod that is being resized.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::pod_resources::{PodLevel, Quantities, quantities, spec_in_effect, together};
use super::volumes::BETA_CLASS;
use crate::json;
use crate::network::Resource;
use crate::objects::quantity::{Format, Quantity};
use crate::objects::selector::selects;
use crate::objects::{Json, Text, names, time};

/// `resourcequotas`.
pub(crate) const QUOTAS: Resource = Resource::of("", "v1", "resourcequotas");

const REQUESTS: &str = "requests.";
/// Source: pods.go (v1.34), `podResources`.
const OF_PODS: [&str; 10] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
];
/// What each container must name if a quota does. Source: pods.go (v1.34), `validationSet`.
const REQUIRED: [&str; 6] = ["cpu", "limits.cpu", "limits.memory", "memory", "requests.cpu", "requests.memory"];
/// Source: services.go (v1.34), `serviceResources`.
const OF_SERVICES: [&str; 3] = ["services", "services.nodeports", "services.loadbalancers"];
/// Source: persistent_volume_claims.go (v1.34), `pvcResources`.
const OF_CLAIMS: [&str; 2] = ["persistentvolumeclaims", "requests.storage"];
/// Source: persistent_volume_claims.go (v1.34), `storageClassSuffix`.
const OF_CLASS: &str = ".storageclass.storage.k8s.io/";
/// Kinds that are counted by their bare names as well. Source: registry.go (v1.34), `legacyObjectCountAliases`.
const BARE: [&str; 4] = ["configmaps", "replicationcontrollers", "resourcequotas", "secrets"];

/// What decides how the usage of one kind is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Evaluator {
    Pods,
    Services,
    Claims,
    /// Only the objects are counted.
    Count,
}

impl Evaluator {
    /// Returns that of a kind; `None` for one that is not counted.
    ///
    /// Source: pkg/quota/v1/install/registry.go (v1.34), `ignoredResources`; reviews are no objects.
    pub(crate) fn of(resource: &Resource) -> Option<Self> {
        match (resource.group.as_str(), resource.plural.as_str()) {
            ("", "pods") => Some(Self::Pods),
            ("", "services") => Some(Self::Services),
            ("", "persistentvolumeclaims") => Some(Self::Claims),
            ("", "bindings") | ("" | "events.k8s.io", "events") => None,
            _ => Some(Self::Count),
        }
    }

    /// Tells whether it counts for a resource of a quota.
    pub(crate) fn matches(self, resource: &Resource, name: &str) -> bool {
        if name == count_name(resource) {
            return true;
        }
        match self {
            Self::Pods => {
                // Of extended resources a quota names only requests.
                let is_extended = name.starts_with(REQUESTS) && !names::is_native_resource(name);
                let own = name.strip_prefix(REQUESTS).unwrap_or(name);
                OF_PODS.contains(&name) || own.starts_with("hugepages-") || is_extended
            }
            Self::Services => OF_SERVICES.contains(&name),
            Self::Claims => {
                let bare = name.split_once(OF_CLASS).map_or(name, |(_, bare)| bare);
                OF_CLAIMS.contains(&bare)
            }
            Self::Count => resource.group.is_empty() && resource.plural == *name && BARE.contains(&name),
        }
    }

    /// Returns what an object uses.
    pub(crate) fn usage(self, resource: &Resource, tree: &Json, level: PodLevel, now: Timestamp) -> Quantities {
        let mut used = Quantities::from([(Text::from(count_name(resource)), whole(1))]);
        match self {
            Self::Pods if is_charged(tree, now) => {
                let resized = spec_in_effect(tree);
                used.extend(of_pod(resized.as_ref().unwrap_or(tree.get("spec")), level));
            }
            Self::Pods => {}
            Self::Services => used.extend(of_service(tree.get("spec"))),
            Self::Claims => used.extend(of_claim(tree)),
            Self::Count if resource.group.is_empty() && BARE.contains(&resource.plural.as_str()) => {
                used.insert(resource.plural.clone(), whole(1));
            }
            Self::Count => {}
        }
        used
    }

    /// Tells whether an object has all scopes of a quota.
    ///
    /// Source: generic/evaluator.go (v1.34), `Matches`.
    pub(crate) fn is_in_scope(self, quota: &Json, tree: &Json) -> bool {
        let selector = quota.at(&["spec", "scopeSelector", "matchExpressions"]).items().iter();
        let bare = quota.at(&["spec", "scopes"]).items().iter().map(|scope| (scope, "Exists", &crate::objects::NULL));
        let selected = selector.map(|one| (one.get("scopeName"), one.get("operator").as_str().unwrap_or(""), one));
        bare.chain(selected).all(|(scope, operator, one)| {
            let scope = scope.as_str().unwrap_or_default();
            match self {
                Self::Pods => is_pod_in(tree, scope, operator, one.get("values")),
                Self::Claims if scope == "VolumeAttributesClass" => {
                    let names = attribute_classes(tree);
                    names.is_empty() && selects_name(scope, None, operator, one.get("values"))
                        || names.iter().any(|name| selects_name(scope, Some(name), operator, one.get("values")))
                }
                _ => false,
            }
        })
    }
}

/// Returns the name by which a quota counts all objects of a kind.
///
/// Source: generic/evaluator.go (v1.34), `ObjectCountQuotaResourceNameFor`.
fn count_name(resource: &Resource) -> String {
    let Resource { group, plural, .. } = resource;
    if group.is_empty() { format!("count/{plural}") } else { format!("count/{plural}.{group}") }
}

const fn whole(value: i64) -> Quantity {
    Quantity::whole(value, Format::DecimalSi)
}

/// Tells whether a Pod still counts for more than an object: it has not ended, and its grace period is not over by far.
///
/// Source: pods.go (v1.34), `QuotaV1Pod`.
pub(crate) fn is_charged(pod: &Json, now: Timestamp) -> bool {
    let meta = pod.get("metadata");
    let ends = meta.get("deletionTimestamp").as_str().and_then(time::parse);
    let grace = meta.get("deletionGracePeriodSeconds").as_i64();
    let is_stuck = ends.zip(grace).is_some_and(|(at, grace)| now > at + SignedDuration::from_secs(grace));
    !matches!(pod.at(&["status", "phase"]).as_str(), Some("Failed" | "Succeeded")) && !is_stuck
}

/// Tells whether a Pod is meant to end. Source: pods.go (v1.34), `IsTerminating`.
pub(crate) fn is_terminating(pod: &Json) -> bool {
    pod.at(&["spec", "activeDeadlineSeconds"]).as_i64().is_some_and(|seconds| seconds >= 0)
}

/// Source: pods.go (v1.34), `PodUsageFunc`.
fn of_pod(spec: &Json, level: PodLevel) -> Quantities {
    let sum = |list: &str| {
        let mut sum = together(spec, |container| quantities(container.at(&["resources", list])));
        if level == PodLevel::Counts {
            sum.extend(quantities(spec.at(&["resources", list])));
        }
        for (name, amount) in quantities(spec.get("overhead")) {
            let own = sum.get(&name).copied();
            // Overhead raises limits that are there, and makes none.
            if list == "requests" || own.is_some_and(|own| !own.is_zero()) {
                sum.insert(name, own.map_or(amount, |own| own + amount));
            }
        }
        sum
    };
    in_quota_names(&sum("requests"), &sum("limits"))
}

/// Returns requests and limits under the names that quotas have for them.
///
/// Source: pods.go (v1.34), `podComputeUsageHelper`.
fn in_quota_names(requests: &Quantities, limits: &Quantities) -> Quantities {
    let mut used = Quantities::from([(Text::of("pods"), whole(1))]);
    for (name, amount) in requests {
        let is_own = names::is_container_resource(name);
        if is_own {
            used.insert(name.clone(), *amount);
        }
        if is_own || names::is_extended_resource(name) {
            used.insert(Text::from(format!("{REQUESTS}{name}")), *amount);
        }
    }
    for (name, amount) in limits {
        if matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage") {
            used.insert(Text::from(format!("limits.{name}")), *amount);
        }
    }
    used
}

/// Says which containers of a Pod lack what a quota asks for; `None` if none does.
///
/// Source: pods.go (v1.34), `Constraints`.
pub(crate) fn missing<'a>(
    spec: &Json,
    names: impl Iterator<Item = &'a str> + Clone,
    level: PodLevel,
) -> Option<String> {
    if level == PodLevel::Counts && !spec.get("resources").is_empty() {
        return None;
    }
    let mut missing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let required = names.filter(|name| REQUIRED.contains(name));
    for container in ["containers", "initContainers"].into_iter().flat_map(|list| spec.get(list).items()) {
        let list = |list| quantities(container.at(&["resources", list]));
        let used = in_quota_names(&list("requests"), &list("limits"));
        for name in required.clone().filter(|name| !used.contains_key(&Text::from(*name))) {
            missing.entry(name).or_default().insert(container.get("name").as_str().unwrap_or_default());
        }
    }
    let texts: Vec<String> = missing
        .into_iter()
        .map(|(name, of)| format!("{name} for: {}", of.into_iter().collect::<Vec<_>>().join(",")))
        .collect();
    (!texts.is_empty()).then(|| format!("must specify {}", texts.join("; ")))
}

/// Source: services.go (v1.34), `Usage`.
fn of_service(spec: &Json) -> Quantities {
    let ports = spec.get("ports").items();
    let all = ports.len();
    let (balancers, node_ports) = match spec.get("type").as_str() {
        Some("NodePort") => (0, all),
        Some("LoadBalancer") if spec.get("allocateLoadBalancerNodePorts").as_bool() == Some(false) => {
            (1, ports.iter().filter(|port| port.get("nodePort").as_i64().unwrap_or(0) != 0).count())
        }
        Some("LoadBalancer") => (1, all),
        _ => (0, 0),
    };
    let count = i64::try_from(node_ports).unwrap_or(i64::MAX);
    let amounts = [1, count, balancers].map(whole);
    OF_SERVICES.map(Text::of).into_iter().zip(amounts).collect()
}

/// Source: persistent_volume_claims.go (v1.34), `Usage`.
fn of_claim(claim: &Json) -> Quantities {
    let spec = claim.get("spec");
    let noted = claim.at(&["metadata", "annotations", BETA_CLASS]).as_str();
    let class = noted.or_else(|| spec.get("storageClassName").as_str()).unwrap_or_default();
    let asked = Quantity::from_json(spec.at(&["resources", "requests", "storage"]));
    let given = Quantity::from_json(claim.at(&["status", "allocatedResources", "storage"]));
    let size = asked.map(|asked| given.filter(|given| *given > asked).unwrap_or(asked));
    // Storage is counted in whole bytes.
    let size = size.map(|size| Quantity::whole(size.value(), size.format()));
    let mut used = Quantities::new();
    for (name, amount) in OF_CLAIMS.into_iter().zip([Some(whole(1)), size]) {
        let Some(amount) = amount else { continue };
        used.insert(Text::of(name), amount);
        if !class.is_empty() {
            used.insert(Text::from(format!("{class}{OF_CLASS}{name}")), amount);
        }
    }
    used
}

/// Source: pods.go (v1.34), `podMatchesScopeFunc`.
fn is_pod_in(pod: &Json, scope: &str, operator: &str, values: &Json) -> bool {
    let is_best_effort = || pod.at(&["status", "qosClass"]).as_str() == Some("BestEffort");
    match scope {
        "Terminating" => is_terminating(pod),
        "NotTerminating" => !is_terminating(pod),
        "BestEffort" => is_best_effort(),
        "NotBestEffort" => !is_best_effort(),
        "PriorityClass" => {
            let name = pod.at(&["spec", "priorityClassName"]).as_str().filter(|name| !name.is_empty());
            selects_name(scope, name, operator, values)
        }
        "CrossNamespacePodAffinity" => crosses_namespaces(pod.at(&["spec", "affinity"])),
        _ => false,
    }
}

/// Tells whether a scope with an operator takes a name, or the absence of one.
fn selects_name(scope: &str, name: Option<&str>, operator: &str, values: &Json) -> bool {
    let labels = name.map_or_else(Json::object, |name| json!({scope: name}));
    let term = json!({"key": scope, "operator": operator, "values": values.clone()});
    selects(&json!({"matchExpressions": [term]}), &labels)
}

fn crosses_namespaces(affinity: &Json) -> bool {
    ["podAffinity", "podAntiAffinity"].into_iter().any(|of| {
        let required = affinity.at(&[of, "requiredDuringSchedulingIgnoredDuringExecution"]).items().iter();
        let preferred = affinity.at(&[of, "preferredDuringSchedulingIgnoredDuringExecution"]).items().iter();
        required
            .chain(preferred.map(|term| term.get("podAffinityTerm")))
            .any(|term| !term.get("namespaces").is_empty() || !term.get("namespaceSelector").is_null())
    })
}

fn attribute_classes(claim: &Json) -> Vec<&str> {
    let paths: [&[&str]; 3] = [
        &["spec", "volumeAttributesClassName"],
        &["status", "currentVolumeAttributesClassName"],
        &["status", "modifyVolumeStatus", "targetVolumeAttributesClassName"],
    ];
    paths.into_iter().filter_map(|path| claim.at(path).as_str()).filter(|name| !name.is_empty()).collect()
}

/// Prints amounts as `requests.cpu=1,pods=2`.
pub(crate) fn listed(amounts: &Quantities) -> String {
    amounts.iter().map(|(name, amount)| format!("{name}={amount}")).collect::<Vec<_>>().join(",")
}

/// Returns amounts as an object prints them.
pub(crate) fn as_json(amounts: &Quantities) -> Json {
    amounts.iter().fold(Json::object(), |mut all, (name, amount)| {
        all.set(&[name], format!("{amount}"));
        all
    })
}

#[cfg(test)]
mod tests {
    use super::{Evaluator, listed, missing};
    use crate::components::pod_resources::{PodLevel, quantities};
    use crate::json;
    use crate::network::{PODS, Resource, SERVICES};
    use crate::objects::{Json, time};

    const CLAIMS: Resource = Resource::of("", "v1", "persistentvolumeclaims");
    const NOW: &str = "2026-01-01T00:01:00Z";

    fn used(resource: &Resource, tree: &Json) -> alloc::string::String {
        let now = time::parse(NOW).unwrap();
        listed(&Evaluator::of(resource).unwrap().usage(resource, tree, PodLevel::Counts, now))
    }

    #[test]
    fn a_pod_uses_what_it_asks_for_until_it_ends() {
        let mut pod = json!({"spec": {"containers": [{"resources": {"requests": {"cpu": "100m", "x.io/gpu": "1",
            "hugepages-2Mi": "2Mi"}, "limits": {"cpu": "1", "memory": "1Gi"}}}], "overhead": {"memory": "1Mi"}}});
        let all = "count/pods=1,cpu=100m,hugepages-2Mi=2Mi,limits.cpu=1,limits.memory=1025Mi,memory=1Mi,pods=1,\
                   requests.cpu=100m,requests.hugepages-2Mi=2Mi,requests.memory=1Mi,requests.x.io/gpu=1";
        assert_eq!(used(&PODS, &pod), all);
        pod.set(&["metadata", "deletionTimestamp"], "2026-01-01T00:00:30Z");
        pod.set(&["metadata", "deletionGracePeriodSeconds"], 30_i64);
        assert_eq!(used(&PODS, &pod), all);
        pod.set(&["metadata", "deletionGracePeriodSeconds"], 29_i64);
        assert_eq!(used(&PODS, &pod), "count/pods=1");
        assert_eq!(used(&PODS, &json!({"status": {"phase": "Failed"}})), "count/pods=1");
        let resized = json!({"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "100m"}}}]},
            "status": {"containerStatuses": [{"name": "c", "resources": {"requests": {"cpu": "150m"}}}]}});
        assert_eq!(used(&PODS, &resized), "count/pods=1,cpu=150m,pods=1,requests.cpu=150m");
    }

    #[test]
    fn services_and_claims_are_told_apart_by_what_they_take() {
        let service = json!({"spec": {"type": "LoadBalancer", "ports": [{"port": 1, "nodePort": 30000}, {"port": 2}]}});
        assert_eq!(
            used(&SERVICES, &service),
            "count/services=1,services=1,services.loadbalancers=1,\
                   services.nodeports=2"
        );
        let mut without = service;
        without.set(&["spec", "allocateLoadBalancerNodePorts"], false);
        assert!(used(&SERVICES, &without).ends_with("services.nodeports=1"));
        let claim = json!({"spec": {"storageClassName": "gold", "resources": {"requests": {"storage": "1Gi"}}}});
        assert_eq!(
            used(&CLAIMS, &claim),
            "count/persistentvolumeclaims=1,\
            gold.storageclass.storage.k8s.io/persistentvolumeclaims=1,\
            gold.storageclass.storage.k8s.io/requests.storage=1Gi,persistentvolumeclaims=1,requests.storage=1Gi"
        );
        let deployments = Resource::of("apps", "v1", "deployments");
        assert_eq!(used(&deployments, &json!({})), "count/deployments.apps=1");
        assert_eq!(used(&Resource::of("", "v1", "secrets"), &json!({})), "count/secrets=1,secrets=1");
        assert_eq!(Evaluator::of(&Resource::of("", "v1", "events")), None);
    }

    #[test]
    fn quotas_count_what_they_name() {
        let counts = |resource: &Resource, name| Evaluator::of(resource).unwrap().matches(resource, name);
        for name in ["pods", "count/pods", "limits.cpu", "requests.x.io/gpu", "hugepages-2Mi", "requests.hugepages-2Mi"]
        {
            assert!(counts(&PODS, name), "{name}");
        }
        for name in ["x.io/gpu", "services", "requests.storage", "count/services"] {
            assert!(!counts(&PODS, name), "{name}");
        }
        assert!(counts(&CLAIMS, "a.storageclass.storage.k8s.io/requests.storage"));
        assert!(!counts(&Resource::of("apps", "v1", "deployments"), "deployments"));
    }

    #[test]
    fn scopes_select_pods() {
        let is_in = |quota: Json, pod: Json| Evaluator::Pods.is_in_scope(&json!({"spec": quota}), &pod);
        let bare = || json!({"status": {"qosClass": "BestEffort"}, "spec": {}});
        assert!(is_in(json!({"scopes": ["BestEffort", "NotTerminating"]}), bare()));
        assert!(!is_in(json!({"scopes": ["BestEffort", "Terminating"]}), bare()));
        assert!(is_in(json!({"scopes": ["Terminating"]}), json!({"spec": {"activeDeadlineSeconds": 0}})));
        let high = |operator: &str| {
            json!({"scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": operator,
                "values": ["high"]}]}})
        };
        let pod = || json!({"spec": {"priorityClassName": "high"}});
        assert!(is_in(high("In"), pod()) && !is_in(high("In"), bare()));
        assert!(!is_in(high("NotIn"), pod()) && is_in(high("NotIn"), bare()));
        let crossing = json!({"spec": {"affinity": {"podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [{"podAffinityTerm": {"namespaces": ["other"]}}]}}}});
        assert!(is_in(json!({"scopes": ["CrossNamespacePodAffinity"]}), crossing));
        assert!(!Evaluator::Services.is_in_scope(&json!({"spec": {"scopes": ["BestEffort"]}}), &json!({})));
    }

    #[test]
    fn each_container_must_name_what_the_quota_names() {
        let spec = json!({"containers": [{"name": "b"}, {"name": "a", "resources": {"requests": {"cpu": "1"}}}],
            "initContainers": [{"name": "i", "resources": {"limits": {"memory": "1Mi"}}}]});
        let names = ["pods", "requests.cpu", "limits.memory"];
        let told = missing(&spec, names.into_iter(), PodLevel::Ignored).unwrap();
        assert_eq!(told, "must specify limits.memory for: a,b; requests.cpu for: b,i");
        assert_eq!(missing(&spec, ["pods"].into_iter(), PodLevel::Ignored), None);
        let mut whole = spec;
        whole.set(&["resources"], json!({"requests": {"cpu": "1"}}));
        assert_eq!(missing(&whole, names.into_iter(), PodLevel::Counts), None);
        assert!(quantities(&Json::Null).is_empty());
    }
}
