//! What a Pod asks for as a whole: its defaults and what may be wrong with it.
//!
//! Mirrors pkg/apis/core/v1/defaults.go (`defaultPodRequests`), pkg/apis/core/validation/validation.go
//! (`validatePodResources`) and k8s.io/component-helpers resource/helpers.go (v1.34). Inputs: a specification. Outputs:
//! the specification with its requests, or errors.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::node::{INTEGERS, amount_problems};
use super::{FieldError, placement};
use crate::components::pod_resources::{Quantities, quantities, together};
use crate::objects::Json;
use crate::objects::names::{self, Wording};
use crate::objects::quantity::Quantity;
use crate::profile::Settings;

fn is_supported(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || name.starts_with("hugepages-")
}

fn amount(value: &Json) -> Option<Quantity> {
    Quantity::from_json(value)
}

/// Fills in the requests that a Pod with limits of its own leaves out: what its containers ask for together, else the
/// limits.
pub(in super::super) fn default_requests(spec: &mut Json) {
    let limits = spec.at(&["resources", "limits"]).clone();
    if limits.is_empty() {
        return;
    }
    let together = sum(spec, "requests");
    let of_containers = together.iter().map(|(name, amount)| (name.clone(), Json::text(amount.to_string())));
    let of_containers = of_containers.filter(|(name, _)| !name.starts_with("hugepages-"));
    let of_limits = limits.fields().map(|(name, limit)| (name.clone(), limit.clone()));
    for (name, amount) in of_containers.chain(of_limits).filter(|(name, _)| is_supported(name)) {
        if spec.at(&["resources", "requests"]).get(&name).is_null() {
            spec.set(&["resources", "requests", &name], amount);
        }
    }
}

/// Tells whether the amounts of a Pod are filled in after admission, and not when it is read.
///
/// Source: pkg/api/pod/util.go (v1.37), `DefaultPodLevelResources`.
pub(in super::super) fn defaults_last(spec: &Json, settings: &Settings) -> bool {
    // Nearly no Pod has any, and a gate is looked up in the files of all releases.
    spec.get("resources").is_object() && settings.is_gate_on("PodLevelResourcesFixDefaulting")
}

/// Fills in what a Pod with amounts of its own leaves out: huge pages, requests, and limits where each container has
/// one.
///
/// Source: as [`defaults_last`].
pub(in super::super) fn default_amounts(spec: &mut Json) {
    let has = |spec: &Json, list: &str, name: &str| !spec.at(&["resources", list]).get(name).is_null();
    if ["requests", "limits"].iter().all(|list| spec.at(&["resources", list]).is_empty()) {
        return;
    }
    let (needed, most) = (sum(spec, "requests"), sum(spec, "limits"));
    for (name, limit) in most.iter().filter(|(name, _)| name.starts_with("hugepages-")) {
        if !has(spec, "requests", name) && !has(spec, "limits", name) {
            spec.set(&["resources", "limits", name], limit.to_string());
        }
    }
    let may_overcommit = |name: &str| is_supported(name) && !name.starts_with("hugepages-");
    for (name, amount) in needed.iter().filter(|(name, _)| may_overcommit(name)) {
        if !has(spec, "requests", name) {
            spec.set(&["resources", "requests", name], amount.to_string());
        }
    }
    let limits = spec.at(&["resources", "limits"]).clone();
    for (name, limit) in limits.fields().filter(|(name, _)| is_supported(name)) {
        if !has(spec, "requests", name) {
            spec.set(&["resources", "requests", name], limit.clone());
        }
    }
    let requests = spec.at(&["resources", "requests"]).clone();
    for (name, request) in requests.fields().filter(|(name, _)| is_supported(name)) {
        let lists = ["containers", "initContainers"].into_iter();
        let mut containers = lists.flat_map(|list| spec.get(list).items());
        let all_have = containers.all(|own| !own.at(&["resources", "limits"]).get(name).is_null());
        let Some(limit) = most.get(name).filter(|_| all_have && !has(spec, "limits", name)) else { continue };
        let own = amount(request).filter(|own| own > limit).unwrap_or(*limit);
        spec.set(&["resources", "limits", name], own.to_string());
    }
}

/// Checks what a Pod asks for as a whole.
pub(super) fn validate(spec: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let own = spec.get("resources");
    if own.is_null() {
        return;
    }
    if spec.at(&["os", "name"]).as_str() == Some("windows") {
        errors.push(FieldError::forbidden("spec.resources", "may not be set for a windows pod"));
        return;
    }
    if !own.get("claims").is_null() {
        let why = "claims may not be set for Resources at pod-level";
        errors.push(FieldError::forbidden("spec.resources.claims", why));
    }
    for list in ["limits", "requests"] {
        for (name, _) in own.get(list).fields().filter(|(name, _)| !is_supported(name)) {
            let path = format!("spec.resources.{list}[{name}]");
            errors.push(FieldError::not_supported(path, name, &["cpu", "hugepages-", "memory"]));
        }
    }
    placement::claims(spec, spec, "spec", wording, errors);
    resources(own, "spec.resources", wording, errors);
    check_consistency(spec, own, errors);
}

/// Checks that a Pod has what its containers need, and that none of them may use more than the Pod.
fn check_consistency(spec: &Json, own: &Json, errors: &mut Vec<FieldError>) {
    for (list, together) in [("requests", sum(spec, "requests")), ("limits", sum(spec, "limits"))] {
        for (name, needed) in together {
            let has = own.get(list).get(&name);
            let counts = list == "requests" || name.starts_with("hugepages-");
            if counts && amount(has).is_some_and(|has| needed > has) {
                let why = format!("must be greater than or equal to aggregate container {list} of {needed}");
                errors.push(FieldError::invalid(format!("spec.resources.{list}[{name}]"), has, why));
            }
        }
    }
    for (at, container) in spec.get("containers").items().iter().enumerate() {
        for (name, limit) in container.at(&["resources", "limits"]).fields() {
            let most = own.get("limits").get(name);
            let (Some(wanted), Some(allowed)) = (amount(limit), amount(most)) else { continue };
            if wanted > allowed {
                let why = format!("must be less than or equal to pod limits of {allowed}");
                errors.push(FieldError::invalid(format!("spec.resources.containers[{at}][{name}].limits"), limit, why));
            }
        }
    }
}

/// Returns what the containers ask for together, in amounts that keep the form in which they were written.
fn sum(spec: &Json, list: &str) -> Quantities {
    together(spec, |container| quantities(container.at(&["resources", list])))
}

/// Checks the limits and requests of a container or a Pod.
///
/// Source: validation.go (v1.34), `ValidateResourceRequirements`.
pub(super) fn resources(resources: &Json, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    let amount = |value: &Json| value.as_str().and_then(Quantity::parse);
    for (name, value) in resources.get("limits").fields() {
        resource_name(&format!("{path}.limits[{name}]"), name, wording, errors);
        errors.extend(amount_problems(&format!("{path}.limits[{name}]"), name, value));
        huge_pages(&format!("{path}.limits[{name}]"), name, value, errors);
    }
    let is_usual = |name: &str| matches!(name, "cpu" | "memory");
    let has = |list: &str, what: &dyn Fn(&str) -> bool| resources.get(list).fields().any(|(name, _)| what(name));
    let any = |what: &dyn Fn(&str) -> bool| has("limits", what) || has("requests", what);
    for (name, request) in resources.get("requests").fields() {
        resource_name(&format!("{path}.requests[{name}]"), name, wording, errors);
        errors.extend(amount_problems(&format!("{path}.requests[{name}]"), name, request));
        let limit = resources.get("limits").get(name);
        let overcommits = may_overcommit(name);
        let most_text = limit.as_str().unwrap_or("");
        match (amount(request), amount(limit)) {
            (Some(wanted), Some(most)) if !overcommits && wanted != most => {
                let detail = format!("must be equal to {name} limit of {most_text}");
                errors.push(FieldError::invalid(format!("{path}.requests"), request, detail));
            }
            (Some(wanted), Some(most)) if wanted > most => {
                let detail = format!("must be less than or equal to {name} limit of {most_text}");
                errors.push(FieldError::invalid(format!("{path}.requests"), request, detail));
            }
            (_, None) if !overcommits && limit.is_null() => {
                let why = "Limit must be set for non overcommitable resources";
                errors.push(FieldError::required(format!("{path}.limits"), why));
            }
            _ => {}
        }
        huge_pages(&format!("{path}.requests[{name}]"), name, request, errors);
    }
    if any(&|name| name.starts_with("hugepages-")) && !any(&is_usual) {
        errors.push(FieldError::forbidden(path, "HugePages require cpu or memory"));
    }
}

/// Tells whether containers may ask for less of a resource than they may use.
/// Source: pkg/apis/core/v1/helper/helpers.go (v1.34), `IsOvercommitAllowed`.
pub(super) fn may_overcommit(name: &str) -> bool {
    !name.starts_with("hugepages-") && names::is_native_resource(name)
}

/// The resources beside [`INTEGERS`] that are no resource of containers, but of quotas or of claims.
/// Source: pkg/apis/core/helper/helpers.go (v1.34), `standardResources`.
const NOT_OF_CONTAINERS: [&str; 8] = [
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "storage",
    "requests.storage",
];

/// Source: validation.go (v1.34), `validateContainerResourceName`; pkg/apis/core/helper/helpers.go (v1.34),
/// `IsStandardContainerResourceName` and `IsNativeResource`.
pub(super) fn resource_name(path: &str, name: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    let mut refuse = |why: &str| errors.push(FieldError::invalid_resource(path, name, why));
    let wrong = names::qualified(name, wording);
    wrong.iter().for_each(|why| refuse(why));
    if name.contains('/') {
        if !names::is_native_resource(name) && !names::is_extended_resource(name) {
            refuse("doesn't follow extended resource name standard");
        }
        return;
    }
    let is_of_container = names::is_container_resource(name);
    let is_known = is_of_container
        || INTEGERS.contains(&name)
        || NOT_OF_CONTAINERS.contains(&name)
        || name.starts_with("requests.hugepages-");
    if wrong.is_empty() && !is_known {
        refuse("must be a standard resource type or fully qualified");
    }
    if !is_of_container {
        refuse("must be a standard resource for containers");
    }
}

/// Checks that an amount of huge pages is a number of pages. Source: validation.go (v1.34),
/// `validateResourceQuantityHugePageValue`.
fn huge_pages(path: &str, name: &str, amount: &Json, errors: &mut Vec<FieldError>) {
    let Some(size) = name.strip_prefix("hugepages-") else { return };
    let is_whole = |size: &Quantity| !size.is_negative() && !size.is_zero() && size.milli_value() % 1000 == 0;
    let size = Quantity::parse(size).filter(is_whole).map_or(0, |size| size.value());
    let is_multiple = Quantity::from_json(amount).and_then(|amount| amount.value().checked_rem(size)) == Some(0);
    if !is_multiple {
        let why = format!("{} is not positive integer multiple of {name}", amount.as_str().unwrap_or(""));
        errors.push(FieldError::invalid(path, amount, why));
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::{FieldError, default_requests, validate};
    use crate::json;
    use crate::objects::Json;
    use crate::objects::names::Wording;

    fn problems(mut spec: Json) -> Vec<alloc::string::String> {
        default_requests(&mut spec);
        let mut errors = Vec::new();
        validate(&spec, Wording::default(), &mut errors);
        errors.iter().map(FieldError::text).collect()
    }

    #[test]
    fn requests_come_from_the_containers_else_from_the_limits() {
        let mut spec = json!({"resources": {"limits": {"cpu": "4", "memory": "1Gi"}}, "containers": [
            {"resources": {"requests": {"cpu": "1"}}}, {"resources": {"requests": {"cpu": "500m"}}}],
            "initContainers": [{"resources": {"requests": {"cpu": "2"}}}]});
        default_requests(&mut spec);
        assert_eq!(spec.at(&["resources", "requests"]), &json!({"cpu": "2", "memory": "1Gi"}));
        let mut bare = json!({"resources": {"requests": {"cpu": "1"}}, "containers": []});
        let before = bare.clone();
        default_requests(&mut bare);
        assert_eq!(bare, before);
    }

    #[test]
    fn a_pod_has_what_its_containers_need() {
        let container = |list: &str, cpu: &str| {
            let mut container = json!({"name": "c"});
            container.set(&["resources", list, "cpu"], cpu);
            container
        };
        let told = problems(json!({"resources": {"limits": {"cpu": "1"}}, "containers": [container("requests", "2")]}));
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("must be less than or equal to cpu limit of 1"), "{told:?}");
        let told =
            problems(json!({"resources": {"requests": {"cpu": "1"}}, "containers": [container("requests", "2")]}));
        assert!(told[0].contains("must be greater than or equal to aggregate container requests of 2"), "{told:?}");
        let told = problems(json!({"resources": {"limits": {"cpu": "1"}}, "containers": [container("limits", "2")]}));
        assert!(told[0].contains("must be less than or equal to pod limits of 1"), "{told:?}");
        let told = problems(json!({"resources": {"limits": {"gpu": "1"}}, "containers": []}));
        assert!(told.iter().any(|text| text.contains("Unsupported value: \"gpu\"")), "{told:?}");
        assert!(
            problems(json!({"resources": {"limits": {"cpu": "3"}}, "containers": [container("limits", "2")]}))
                .is_empty()
        );
    }
}
