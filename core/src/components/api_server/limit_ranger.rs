//! The admission plugin LimitRanger: what the LimitRanges of a namespace give to its Pods, and what they refuse of Pods
//! and claims.
//!
//! Mirrors plugin/pkg/admission/limitranger/admission.go (v1.34). Inputs: a write, the LimitRanges of its namespace.
//! Outputs: the Pod with requests and limits that it left open, or the refusal. Upstream asks a cache, which learns of
//! a LimitRange some milliseconds after it was made, and tells several reasons in any order; here each LimitRange
//! counts at once, and reasons come in the order of the names of resources.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::admission_write::subject;
use super::{ApiServer, status};
use crate::components::pod_resources::{PodLevel, Quantities, quantities, together};
use crate::network::kinds::Kind;
use crate::network::{Answer, Resource};
use crate::objects::quantity::Quantity;
use crate::objects::{Json, Text, aggregate};

const LIMIT_RANGES: Resource = Resource::of("", "v1", "limitranges");
const ANNOTATION: &str = "kubernetes.io/limit-ranger";
/// The lists of containers that are looked at, in their order, and what an annotation calls one of each.
const LISTS: [(&str, &str); 2] = [("containers", "container"), ("initContainers", "init container")];
/// The largest amount that is compared in thousandths.
/// Source: k8s.io/apimachinery pkg/api/resource/math.go (v1.34), `MaxMilliValue`.
const MILLI_MAX: i64 = i64::MAX / 1000;

/// Tells whether the plugin looks at a write of this kind.
fn looks_at(kind: &Kind, subresource: &str, is_new: bool) -> bool {
    match kind.rules() {
        "Pod" => subresource == if is_new { "" } else { "resize" },
        "PersistentVolumeClaim" => subresource.is_empty(),
        _ => false,
    }
}

/// Gives the containers of a Pod what they left open.
///
/// Source: `PodMutateLimitFunc`.
pub(super) fn set_defaults(server: &ApiServer, kind: &Kind, subresource: &str, tree: &mut Json, is_new: bool) {
    if kind.rules() != "Pod" || !looks_at(kind, subresource, is_new) {
        return;
    }
    for limits in limits_of(server, tree) {
        let of_containers: Vec<&Json> = limits.iter().filter(|limit| is_of(limit, "Container")).collect();
        let mut told = Vec::new();
        for (list, called) in LISTS {
            let length = tree.at(&["spec", list]).items().len();
            for at in 0..length {
                let container = &mut tree.entry(&["spec", list]).make_array()[at];
                for (from, to, word) in [("defaultRequest", "requests", "request"), ("default", "limits", "limit")] {
                    let names = fill(container, &of_containers, from, to);
                    if !names.is_empty() {
                        let name = container.get("name").as_str().unwrap_or_default();
                        told.push(format!("{} {word} for {called} {name}", names.join(", ")));
                    }
                }
            }
        }
        if !told.is_empty() {
            let told = format!("LimitRanger plugin set: {}", told.join("; "));
            tree.set(&["metadata", "annotations", ANNOTATION], Text::from(told));
        }
    }
}

/// Sets what a container lacks of the defaults, of which the last counts; returns the names of what was set.
fn fill(container: &mut Json, limits: &[&Json], from: &str, to: &str) -> Vec<String> {
    let defaults: BTreeMap<&Text, &Json> = limits.iter().flat_map(|limit| limit.get(from).fields()).collect();
    let mut names = Vec::new();
    for (name, amount) in defaults {
        if container.at(&["resources", to, name]).is_null() {
            container.set(&["resources", to, name], amount.clone());
            names.push(String::from(name.as_str()));
        }
    }
    names
}

/// Refuses a valid Pod or claim that does not keep to the LimitRanges.
pub(super) fn check(
    server: &ApiServer,
    kind: &Kind,
    subresource: &str,
    tree: &Json,
    old: Option<&Json>,
) -> Result<(), Answer> {
    let is_ending = old.is_some_and(|old| !old.at(&["metadata", "deletionTimestamp"]).is_null());
    if !looks_at(kind, subresource, old.is_none()) || is_ending {
        return Ok(());
    }
    for limits in limits_of(server, tree) {
        if let Some(why) = aggregate(limits.iter().flat_map(|limit| reasons(server, kind, limit, tree))) {
            return Err(status::forbidden(&kind.resource, subject(tree), &why));
        }
    }
    Ok(())
}

/// Returns the limits of each LimitRange of the namespace of an object.
fn limits_of(server: &ApiServer, tree: &Json) -> Vec<Vec<Json>> {
    if !server.plugins.runs("LimitRanger") {
        return Vec::new();
    }
    let namespace = tree.at(&["metadata", "namespace"]).as_str().unwrap_or_default();
    let ranges = server.objects_in(&LIMIT_RANGES, namespace);
    ranges.map(|range| range.stable().at(&["spec", "limits"]).items().to_vec()).collect()
}

fn is_of(limit: &Json, kind: &str) -> bool {
    limit.get("type").as_str() == Some(kind)
}

/// Returns what an object breaks of a limit.
///
/// Source: `PodValidateLimitFunc`, `PersistentVolumeClaimValidateLimitFunc`.
fn reasons(server: &ApiServer, kind: &Kind, limit: &Json, tree: &Json) -> Vec<String> {
    let spec = tree.get("spec");
    let word = limit.get("type").as_str().unwrap_or_default();
    match (kind.rules(), word) {
        ("Pod", "Container") => {
            let containers = LISTS.iter().flat_map(|(list, _)| spec.get(list).items());
            containers.flat_map(|container| Asked::of_container(container).reasons(limit, word)).collect()
        }
        ("Pod", "Pod") => Asked::of_pod(spec, PodLevel::of(server.settings.profile())).reasons(limit, word),
        ("PersistentVolumeClaim", "PersistentVolumeClaim") => {
            let requests = quantities(spec.at(&["resources", "requests"]));
            let asked = Asked { requests, limits: Quantities::new() };
            let least = asked.each(limit, "min", |name, amount| asked.below_minimum(word, name, amount));
            let most = asked.each(limit, "max", |name, amount| asked.request_above_maximum(word, name, amount));
            [least, most].concat()
        }
        _ => Vec::new(),
    }
}

/// What a container, a Pod or a claim asks for.
struct Asked {
    requests: Quantities,
    limits: Quantities,
}

impl Asked {
    fn of_container(container: &Json) -> Self {
        let list = |list| quantities(container.at(&["resources", list]));
        Self { requests: list("requests"), limits: list("limits") }
    }

    /// Source: `podRequests`, `podLimits`; overhead does not count.
    fn of_pod(spec: &Json, level: PodLevel) -> Self {
        let sum = |list: &str| {
            let mut sum = together(spec, |container| quantities(container.at(&["resources", list])));
            if level == PodLevel::Counts {
                let own = quantities(spec.at(&["resources", list])).into_iter();
                sum.extend(own.filter(|(name, _)| matches!(name.as_str(), "cpu" | "memory")));
            }
            sum
        };
        Self { requests: sum("requests"), limits: sum("limits") }
    }

    fn each(&self, limit: &Json, list: &str, broken: impl Fn(&Text, &Quantity) -> Option<String>) -> Vec<String> {
        let enforced = quantities(limit.get(list));
        enforced.iter().filter_map(|(name, amount)| broken(name, amount)).collect()
    }

    fn reasons(&self, limit: &Json, word: &str) -> Vec<String> {
        let least = self.each(limit, "min", |name, amount| self.below_minimum(word, name, amount));
        let most = self.each(limit, "max", |name, amount| self.above_maximum(word, name, amount));
        let ratio = "maxLimitRequestRatio";
        let ratios = self.each(limit, ratio, |name, amount| self.above_ratio(word, name, amount));
        [least, most, ratios].concat()
    }

    /// Source: `minConstraint`.
    fn below_minimum(&self, word: &str, name: &Text, enforced: &Quantity) -> Option<String> {
        let (request, limit) = (self.requests.get(name), self.limits.get(name));
        let (of_request, of_limit, bound) = values(request, limit, enforced);
        let head = format!("minimum {name} usage per {word} is {enforced}");
        let Some(request) = request else { return Some(format!("{head}.  No request is specified")) };
        if of_request < bound {
            return Some(format!("{head}, but request is {request}"));
        }
        limit.filter(|_| of_limit < bound).map(|limit| format!("{head}, but limit is {limit}"))
    }

    /// Source: `maxConstraint`.
    fn above_maximum(&self, word: &str, name: &Text, enforced: &Quantity) -> Option<String> {
        let (request, limit) = (self.requests.get(name), self.limits.get(name));
        let (of_request, of_limit, bound) = values(request, limit, enforced);
        let head = format!("maximum {name} usage per {word} is {enforced}");
        let Some(limit) = limit else { return Some(format!("{head}.  No limit is specified")) };
        if of_limit > bound {
            return Some(format!("{head}, but limit is {limit}"));
        }
        request.filter(|_| of_request > bound).map(|request| format!("{head}, but request is {request}"))
    }

    /// Source: `maxRequestConstraint`.
    fn request_above_maximum(&self, word: &str, name: &Text, enforced: &Quantity) -> Option<String> {
        let request = self.requests.get(name);
        let (of_request, _, bound) = values(request, None, enforced);
        let head = format!("maximum {name} usage per {word} is {enforced}");
        let Some(request) = request else { return Some(format!("{head}.  No request is specified")) };
        (of_request > bound).then(|| format!("{head}, but request is {request}"))
    }

    /// Source: `limitRequestRatioConstraint`.
    #[expect(clippy::cast_precision_loss, reason = "upstream divides the same numbers")]
    fn above_ratio(&self, word: &str, name: &Text, enforced: &Quantity) -> Option<String> {
        let (request, limit) = (self.requests.get(name), self.limits.get(name));
        let (of_request, of_limit, _) = values(request, limit, enforced);
        let head = format!("{name} max limit to request ratio per {word} is {enforced}");
        if request.is_none() || of_request == 0 {
            return Some(format!("{head}, but no request is specified or request is 0"));
        }
        if limit.is_none() || of_limit == 0 {
            return Some(format!("{head}, but no limit is specified or limit is 0"));
        }
        let ratio = of_limit as f64 / of_request as f64;
        let is_above = if enforced.value() <= MILLI_MAX {
            ratio * 1000.0 > enforced.milli_value() as f64
        } else {
            ratio > enforced.value() as f64
        };
        is_above.then(|| format!("{head}, but provided ratio is {ratio:.6}"))
    }
}

/// Returns a request, a limit and a bound in thousandths, or in whole units where one of them is too large.
///
/// Source: `requestLimitEnforcedValues`.
fn values(request: Option<&Quantity>, limit: Option<&Quantity>, enforced: &Quantity) -> (i64, i64, i64) {
    let all = [request, limit, Some(enforced)];
    let whole = all.map(|amount| amount.map_or(0, Quantity::value));
    let [request, limit, enforced] = if whole.iter().all(|value| *value <= MILLI_MAX) {
        all.map(|amount| amount.map_or(0, Quantity::milli_value))
    } else {
        whole
    };
    (request, limit, enforced)
}
