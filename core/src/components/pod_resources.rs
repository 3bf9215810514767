//! What a Pod requests of its Node: resources and host ports.
//!
//! Mirrors k8s.io/component-helpers resource/helpers.go, `PodRequests`, and pkg/scheduler/framework/types.go,
//! `Resource` and `HostPortInfo` (v1.34): containers add up, the largest init container counts if it is larger,
//! sidecars count with both, overhead comes on top.
//! While a resize is under way, a container counts with the most of what it asks for, has and was allocated.
//! Inputs: the Pod's spec, its status. Outputs: amounts, CPU in thousandths, the others in whole units, rounded up.

use alloc::collections::BTreeMap;
use alloc::string::ToString;
use alloc::vec::Vec;

use crate::objects::lifecycle::{condition_in, is_sidecar};
use crate::objects::quantity::Quantity;
use crate::objects::{Json, Object, Text, is_same};
use crate::profile::{Profile, Settings};

/// The CPU that a container without a request counts as when nodes are scored, in thousandths.
/// Source: pkg/scheduler/util/pod_resources.go (v1.34), `DefaultMilliCPURequest`.
const DEFAULT_MILLI_CPU: i64 = 100;
/// The same of memory, in bytes. Source: as [`DEFAULT_MILLI_CPU`], `DefaultMemoryRequest`.
const DEFAULT_MEMORY: i64 = 200 * 1024 * 1024;

/// Amounts of resources by name: CPU in thousandths, everything else in whole units.
///
/// A list in the order of the names: there are few, and the scheduler reads them for each node and Pod.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Amounts(Vec<(Text, i64)>);

impl Amounts {
    /// Reads a list of resources, as `status.allocatable`.
    #[must_use]
    pub fn of(list: &Json) -> Self {
        let read = |(name, value): (&Text, &Json)| {
            let amount = Quantity::from_json(value)?;
            Some((name.clone(), if **name == *"cpu" { amount.milli_value() } else { amount.value() }))
        };
        let mut amounts = Self::default();
        list.fields().filter_map(read).for_each(|(name, amount)| *amounts.entry(&name) = amount);
        amounts
    }

    /// Returns the amount of a resource to change it, 0 at first.
    fn entry(&mut self, name: &Text) -> &mut i64 {
        let at = self.0.binary_search_by(|(other, _)| other.cmp(name)).unwrap_or_else(|at| {
            self.0.insert(at, (name.clone(), 0));
            at
        });
        &mut self.0[at].1
    }

    /// Returns the amount of a resource; 0 for one that is not named.
    #[must_use]
    pub fn get(&self, name: &str) -> i64 {
        self.0.iter().find(|(other, _)| is_same(other, name)).map_or(0, |(_, amount)| *amount)
    }

    /// Returns names and amounts, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&Text, i64)> {
        self.0.iter().map(|(name, amount)| (name, *amount))
    }

    /// Tells whether nothing is requested.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|(_, amount)| *amount == 0)
    }

    /// Adds other amounts.
    pub fn add(&mut self, other: &Self) {
        for (name, amount) in &other.0 {
            let own = self.entry(name);
            *own = own.saturating_add(*amount);
        }
    }

    /// Takes other amounts away.
    pub fn subtract(&mut self, other: &Self) {
        for (name, amount) in &other.0 {
            let own = self.entry(name);
            *own = own.saturating_sub(*amount);
        }
    }
}

/// How the requests of a container are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Missing {
    /// A missing request counts as zero.
    Nothing,
    /// A missing request for CPU or memory counts as a small default.
    Default,
}

/// Whether resources of a whole pod count. Source: gate `PodLevelResources`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PodLevel {
    /// `spec.resources` replaces what the containers ask for.
    Counts,
    /// It is ignored.
    Ignored,
}

impl PodLevel {
    /// Returns what holds in a release.
    #[must_use]
    pub fn of(profile: &Profile) -> Self {
        if profile.is("pod-level-resources") { Self::Counts } else { Self::Ignored }
    }

    /// Returns what holds for kubectl of a release, whatever the gate says.
    #[must_use]
    pub fn of_kubectl(profile: &Profile) -> Self {
        if profile.is("kubectl-counts-pod-level-resources") { Self::Counts } else { Self::Ignored }
    }
}

/// Returns the requests of a Pod.
#[must_use]
pub fn requests(spec: &Json, level: PodLevel) -> Amounts {
    total(spec, level, "requests", Missing::Nothing)
}

/// Returns the limits of a Pod. Source: k8s.io/component-helpers resource/helpers.go (v1.34), `PodLimits`.
#[must_use]
pub fn limits(spec: &Json, level: PodLevel) -> Amounts {
    total(spec, level, "limits", Missing::Nothing)
}

/// Returns the requests that a Pod counts as when nodes are scored, with defaults for missing ones.
#[must_use]
pub fn requests_for_scoring(spec: &Json, level: PodLevel) -> Amounts {
    total(spec, level, "requests", Missing::Default)
}

/// Amounts that can be put together.
pub(crate) trait Tally: Clone + Default {
    /// Adds other amounts.
    fn add_all(&mut self, other: &Self);

    /// Raises each amount to that of another list.
    fn raise(&mut self, other: &Self);
}

impl Tally for Amounts {
    fn add_all(&mut self, other: &Self) {
        self.add(other);
    }

    fn raise(&mut self, other: &Self) {
        for (name, amount) in &other.0 {
            let own = self.entry(name);
            *own = (*own).max(*amount);
        }
    }
}

/// Amounts by name that keep the form in which they were written.
pub(crate) type Quantities = BTreeMap<Text, Quantity>;

/// Reads a list of resources.
pub(crate) fn quantities(list: &Json) -> Quantities {
    list.fields().filter_map(|(name, value)| Some((name.clone(), Quantity::from_json(value)?))).collect()
}

impl Tally for Quantities {
    fn add_all(&mut self, other: &Self) {
        for (name, amount) in other {
            let sum = self.get(name).map_or(*amount, |own| *own + *amount);
            self.insert(name.clone(), sum);
        }
    }

    fn raise(&mut self, other: &Self) {
        for (name, amount) in other {
            if self.get(name).is_none_or(|own| amount > own) {
                self.insert(name.clone(), *amount);
            }
        }
    }
}

/// Returns what the containers of a Pod need together: those that run side by side, or an init container that needs
/// more beside the sidecars before it.
pub(crate) fn together<T: Tally>(spec: &Json, of_container: impl Fn(&Json) -> T) -> T {
    most_at_once(in_order(spec).map(|(container, ends)| (of_container(container), ends)))
}

/// Returns the containers of a Pod in the order in which they start, each with whether it ends before the next one.
pub(crate) fn in_order(spec: &Json) -> impl Iterator<Item = (&Json, bool)> {
    let starting = spec.get("initContainers").items().iter().map(|own| (own, !is_sidecar(own)));
    starting.chain(spec.get("containers").items().iter().map(|own| (own, false)))
}

/// Returns the most that containers need at one time, which come as those of [`in_order`].
pub(crate) fn most_at_once<T: Tally>(containers: impl Iterator<Item = (T, bool)>) -> T {
    let (mut running, mut most) = (T::default(), T::default());
    for (mut own, ends) in containers {
        if ends {
            own.add_all(&running);
            most.raise(&own);
        } else {
            running.add_all(&own);
        }
    }
    running.raise(&most);
    running
}

/// Returns the spec of a Pod with the resources that its containers count with, if its status tells of others: the
/// server keeps none there where `InPlacePodVerticalScaling` is off.
///
/// Source: k8s.io/component-helpers resource/helpers.go (v1.34), `determineContainerReqs`, `determineContainerLimits`.
pub(crate) fn spec_in_effect(pod: &Json) -> Option<Json> {
    let status = pod.get("status");
    let statuses =
        || ["containerStatuses", "initContainerStatuses"].into_iter().flat_map(move |list| status.get(list).items());
    let conditions = status.get("conditions").items();
    let pending = condition_in(conditions, "PodResizePending");
    let is_infeasible = pending.is_some_and(|one| one.get("reason").as_str() == Some("Infeasible"));
    let mut spec = None;
    for list in ["containers", "initContainers"] {
        for (at, container) in pod.at(&["spec", list]).items().iter().enumerate() {
            if list == "initContainers" && !is_sidecar(container) {
                continue;
            }
            let named = statuses().find(|own| own.get("name") == container.get("name"));
            let Some(own) = named.filter(|own| !own.get("resources").is_null()) else { continue };
            for kind in ["requests", "limits"] {
                if let Some(amounts) = in_effect(container, own, kind, is_infeasible) {
                    let spec: &mut Json = spec.get_or_insert_with(|| pod.get("spec").clone());
                    spec.entry(&[list]).make_array()[at].set(&["resources", kind], amounts);
                }
            }
        }
    }
    spec
}

/// Returns with what a container counts; `None` if that is what it asks for.
fn in_effect(container: &Json, status: &Json, kind: &str, is_infeasible: bool) -> Option<Json> {
    let asked = container.at(&["resources", kind]);
    let allocated = if kind == "requests" { status.get("allocatedResources") } else { &Json::Null };
    let has = [status.at(&["resources", kind]), allocated];
    if !is_infeasible && has.iter().all(|list| list.is_empty() || *list == asked) {
        return None;
    }
    let mut most = if is_infeasible { Quantities::new() } else { quantities(asked) };
    has.iter().for_each(|list| most.raise(&quantities(list)));
    (most != quantities(asked))
        .then(|| most.iter().map(|(name, own)| (name.clone(), Json::text(own.to_string()))).collect())
}

fn total(spec: &Json, level: PodLevel, kind: &str, missing: Missing) -> Amounts {
    let mut sum = together(spec, |container| of_container(container, kind, missing));
    if level == PodLevel::Counts {
        for (name, amount) in Amounts::of(spec.at(&["resources", kind])).0 {
            *sum.entry(&name) = amount;
        }
    }
    let overhead = Amounts::of(spec.get("overhead"));
    // Overhead raises limits that are there, and makes none.
    let counts = |name: &Text| kind == "requests" || sum.get(name) != 0;
    let overhead = Amounts(overhead.0.into_iter().filter(|(name, _)| counts(name)).collect());
    sum.add(&overhead);
    sum
}

fn of_container(container: &Json, kind: &str, missing: Missing) -> Amounts {
    let mut own = Amounts::of(container.at(&["resources", kind]));
    if missing == Missing::Default {
        for (name, amount) in [("cpu", DEFAULT_MILLI_CPU), ("memory", DEFAULT_MEMORY)] {
            if own.0.iter().all(|(other, _)| **other != *name) {
                *own.entry(&Text::of(name)) = amount;
            }
        }
    }
    own
}

/// A port of the host that a container asks for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct HostPort {
    address: Text,
    protocol: Text,
    number: i64,
}

impl HostPort {
    /// Returns the host ports of a Pod's containers and sidecars.
    #[must_use]
    pub fn of(pod: &Object) -> Vec<Self> {
        let spec = pod.stable().get("spec");
        let sidecars = spec.get("initContainers").items().iter();
        let sidecars = sidecars.filter(|container| is_sidecar(container));
        let containers = spec.get("containers").items().iter().chain(sidecars);
        let ports = containers.flat_map(|container| container.get("ports").items());
        let read = |port: &Json| {
            let number = port.get("hostPort").as_i64().filter(|number| *number > 0)?;
            let text = |field: &str, default| {
                port.get(field).as_text().filter(|own| !own.is_empty()).cloned().unwrap_or(Text::of(default))
            };
            Some(Self { address: text("hostIP", "0.0.0.0"), protocol: text("protocol", "TCP"), number })
        };
        ports.filter_map(read).collect()
    }

    /// Tells whether two ports conflict on one host.
    #[must_use]
    pub fn conflicts(&self, other: &Self) -> bool {
        let is_any = |address: &str| address == "0.0.0.0";
        let same_address = is_any(&self.address) || is_any(&other.address) || self.address == other.address;
        self.number == other.number && self.protocol == other.protocol && same_address
    }
}

/// Returns the quality of service that a Pod's requests and limits make.
#[must_use]
pub fn qos_class(pod: &Json, settings: &Settings) -> &'static str {
    let mut requests: BTreeMap<Text, Quantity> = BTreeMap::new();
    let mut limits: BTreeMap<Text, Quantity> = BTreeMap::new();
    let mut guaranteed = true;
    let containers = pod.at(&["spec", "containers"]).items();
    let own = pod.at(&["spec", "resources"]);
    // Source: pkg/apis/core/helper/qos/qos.go (v1.37), `ComputePodQOS`: resources that name nothing do not count.
    let names_any = || {
        let lists = ["requests", "limits"].into_iter();
        let mut names = lists.flat_map(|list| own.get(list).fields()).map(|(name, _)| name.as_str());
        names.any(|name| matches!(name, "cpu" | "memory") || name.starts_with("hugepages-"))
    };
    let pod_level = !own.is_null() && (names_any() || !settings.is_gate_on("PodLevelResourcesFixKubeletQOSClass"));
    let all = containers.iter().chain(pod.at(&["spec", "initContainers"]).items());
    let resources = all.map(|container| container.get("resources"));
    let resources: Vec<&Json> = if pod_level { alloc::vec![own] } else { resources.collect() };
    for resource in resources {
        for (into, field) in [(&mut requests, "requests"), (&mut limits, "limits")] {
            let mut found = 0;
            for (name, amount) in resource.get(field).fields() {
                let counted = matches!(name.as_str(), "cpu" | "memory");
                let Some(amount) = amount.as_str().and_then(Quantity::parse) else { continue };
                if counted && !amount.is_zero() && !amount.is_negative() {
                    found += 1;
                    into.entry(name.clone()).and_modify(|sum| *sum = *sum + amount).or_insert(amount);
                }
            }
            if field == "limits" && found < 2 {
                guaranteed = false;
            }
        }
    }
    if requests.is_empty() && limits.is_empty() {
        return "BestEffort";
    }
    let equal = requests.len() == limits.len() && requests.iter().all(|(name, sum)| limits.get(name) == Some(sum));
    if guaranteed && equal { "Guaranteed" } else { "Burstable" }
}

/// Lets a container ask for as much as it may use.
pub fn default_requests(container: &mut Json) {
    let limits = container.at(&["resources", "limits"]).clone();
    for (name, limit) in limits.fields() {
        if container.at(&["resources", "requests"]).get(name).is_null() {
            container.set(&["resources", "requests", name], limit.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{HostPort, PodLevel, limits, requests, requests_for_scoring, spec_in_effect};
    use crate::json;
    use crate::objects::Object;

    #[test]
    fn init_containers_count_by_the_largest_and_sidecars_with_all() {
        let spec = json!({
            "containers": [{"resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}},
                {"resources": {"requests": {"cpu": "0.25"}}}],
            "initContainers": [
                {"resources": {"requests": {"cpu": "100m"}}, "restartPolicy": "Always"},
                {"resources": {"requests": {"cpu": "1"}}},
                {"resources": {"requests": {"memory": "512Mi"}}}],
            "overhead": {"cpu": "10m"}});
        let sum = requests(&spec, PodLevel::Ignored);
        assert_eq!((sum.get("cpu"), sum.get("memory"), sum.get("pods")), (1_110, 1 << 30, 0));
    }

    #[test]
    fn resources_of_the_whole_pod_replace_those_of_its_containers() {
        let spec = json!({"containers": [{"resources": {"requests": {"cpu": "3"}}}],
            "resources": {"requests": {"cpu": "1"}}});
        assert_eq!(requests(&spec, PodLevel::Counts).get("cpu"), 1_000);
        assert_eq!(requests(&spec, PodLevel::Ignored).get("cpu"), 3_000);
    }

    #[test]
    fn a_container_without_requests_counts_a_little_when_nodes_are_scored() {
        let spec = json!({"containers": [{"name": "a"}, {"resources": {"requests": {"cpu": "1"}}}]});
        let sum = requests_for_scoring(&spec, PodLevel::Ignored);
        assert_eq!((sum.get("cpu"), sum.get("memory")), (1_100, 400 << 20));
        assert!(requests(&json!({"containers": [{}]}), PodLevel::Ignored).is_zero());
    }

    #[test]
    fn a_container_counts_with_the_most_of_what_it_asks_for_has_and_was_allocated() {
        let mut pod = json!({
            "spec": {"containers": [{"name": "a", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}}],
                "initContainers": [{"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}}]},
            "status": {"containerStatuses": [{"name": "a", "allocatedResources": {"cpu": "3"},
                    "resources": {"requests": {"cpu": "2", "memory": "1Gi"}, "limits": {"cpu": "4"}}}],
                "initContainerStatuses": [{"name": "s", "resources": {"requests": {"cpu": "500m"}}}]}});
        let sums = |pod: &crate::objects::Json| {
            let spec = spec_in_effect(pod).unwrap();
            let sum = requests(&spec, PodLevel::Counts);
            (sum.get("cpu"), sum.get("memory"), limits(&spec, PodLevel::Counts).get("cpu"))
        };
        assert_eq!(sums(&pod), (4_000, 1 << 30, 4_000));
        pod.set(&["status", "conditions"], json!([{"type": "PodResizePending", "reason": "Deferred"}]));
        assert_eq!(sums(&pod), (4_000, 1 << 30, 4_000));
        // What cannot be is not counted.
        pod.set(&["status", "conditions"], json!([{"type": "PodResizePending", "reason": "Infeasible"}]));
        assert_eq!(sums(&pod), (3_500, 1 << 30, 4_000));
        pod.set(
            &["status"],
            json!({"containerStatuses": [{"name": "a", "allocatedResources": {"cpu": "1000m"},
            "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}}]}),
        );
        assert_eq!(spec_in_effect(&pod), None);
        pod.set(&["status"], json!({"containerStatuses": [{"name": "a", "allocatedResources": {"cpu": "3"}}]}));
        assert_eq!(spec_in_effect(&pod), None, "it tells of no resources");
    }

    #[test]
    fn host_ports_conflict_by_number_protocol_and_address() {
        let port = |port| {
            let mut pod = json!({"spec": {"containers": [{}]}});
            pod.entry(&["spec", "containers"]).make_array()[0]
                .set(&["ports"], crate::objects::Json::array(alloc::vec![port]));
            HostPort::of(&Object::new(pod, 1))
        };
        let one = port(json!({"hostPort": 80}));
        for (other, conflicts) in [
            (json!({"hostPort": 80}), true),
            (json!({"hostPort": 80, "protocol": "UDP"}), false),
            (json!({"hostPort": 81}), false),
            (json!({"hostPort": 80, "hostIP": "10.0.0.1"}), true),
        ] {
            assert_eq!(one[0].conflicts(&port(other)[0]), conflicts);
        }
        assert!(port(json!({"containerPort": 80})).is_empty());
    }
}
