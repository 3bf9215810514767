//! Which slices of a Service are made, written again and deleted, so that they hold its endpoints.
//!
//! Mirrors `reconcileByAddressType`, `reconcileByPortMapping` and `finalize` of k8s.io/endpointslice reconciler.go
//! (v1.34). Endpoints that stay keep their place; new ones fill the slices that change anyway, then the one that they
//! fill best, then new ones. A Service without endpoints keeps one empty slice. Inputs: a Service, its slices of one
//! family, groups of endpoints. Output: a plan.

use alloc::format;
use alloc::vec::Vec;

use super::endpoints::{Family, PortGroup, is_same_endpoint, says_the_same};
use super::{HEADLESS, MANAGED_BY, MANAGER};
use crate::components::workload::pods::{labels, reference_to};
use crate::json;
use crate::network::SERVICE_NAME;
use crate::objects::lifecycle::is_ending;
use crate::objects::{Json, Object};

/// What is to be done to the slices of a Service that are of one family.
pub(super) struct SlicePlan {
    pub(super) create: Vec<Json>,
    pub(super) update: Vec<Json>,
    pub(super) delete: Vec<Object>,
    /// The slices that stay as they are.
    pub(super) unchanged: Vec<Object>,
}

impl SlicePlan {
    /// Distributes the endpoints over the existing slices and new ones, which hold `most` at most.
    pub(super) fn new(
        service: &Object,
        family: Family,
        slices: Vec<Object>,
        groups: Vec<PortGroup>,
        most: usize,
    ) -> Self {
        let mut plan = Self { create: Vec::new(), update: Vec::new(), delete: Vec::new(), unchanged: Vec::new() };
        let marks = slice_labels(service);
        for slice in &slices {
            if !groups.iter().any(|group| is_of_group(group, slice, service)) {
                plan.delete.push(slice.clone());
            }
        }
        for group in groups {
            let existing = slices.iter().filter(|slice| is_of_group(&group, slice, service));
            let fresh = |endpoints| new_slice(service, family, &marks, endpoints, &group.ports);
            plan.fill(existing, &group, &marks, (most, fresh));
        }
        if slices.len() == plan.delete.len() && plan.create.is_empty() {
            match plan.delete.as_slice() {
                [one] if is_placeholder(one, &marks) => plan.delete.clear(),
                _ => plan.create.push(new_slice(service, family, &marks, Vec::new(), &Json::Null)),
            }
        }
        let is_named = |slice: &Object| {
            let name = |body: &Json| body.at(&["metadata", "name"]).as_str() == Some(slice.name());
            plan.update.iter().any(name) || plan.delete.iter().any(|own| own.name() == slice.name())
        };
        plan.unchanged = slices.iter().filter(|slice| !is_named(slice)).cloned().collect();
        plan
    }

    /// Distributes the endpoints of a group.
    fn fill<'a>(
        &mut self,
        existing: impl Iterator<Item = &'a Object>,
        group: &PortGroup,
        marks: &Json,
        (most, fresh): (usize, impl Fn(Vec<Json>) -> Json),
    ) {
        let mut wanted = group.endpoints.clone();
        let (mut changed, mut unchanged) = (Vec::new(), Vec::new());
        for slice in existing {
            let old = slice.stable().get("endpoints").items();
            let mut kept = Vec::new();
            let mut is_same = true;
            for endpoint in old {
                match wanted.iter().position(|new| is_same_endpoint(new, endpoint)) {
                    Some(at) => {
                        is_same &= says_the_same(&wanted[at], endpoint);
                        kept.push(wanted.remove(at));
                    }
                    None => is_same = false,
                }
            }
            let has_own_labels = without_own(labels(slice)) == without_own(marks);
            if !is_same && kept.is_empty() {
                self.delete.push(slice.clone());
            } else if is_same && has_own_labels {
                unchanged.push(slice);
            } else {
                let mut body = slice.json();
                body.set(&["metadata", "labels"], marks.clone());
                // Hints stay where only labels differ.
                let endpoints = if is_same { old.to_vec() } else { kept };
                changed.push((body, endpoints));
            }
        }
        changed.sort_by_key(|(_, endpoints)| core::cmp::Reverse(endpoints.len()));
        for (_, endpoints) in &mut changed {
            let room = most.saturating_sub(endpoints.len()).min(wanted.len());
            endpoints.extend(wanted.drain(..room));
        }
        while !wanted.is_empty() {
            if let Some(at) = slice_to_fill(&unchanged, wanted.len(), most) {
                let slice = unchanged.swap_remove(at);
                let endpoints = slice.stable().get("endpoints").items().iter().cloned().chain(wanted.drain(..));
                changed.push((slice.json(), endpoints.collect()));
            } else {
                let count = wanted.len().min(most);
                self.create.push(fresh(wanted.drain(..count).collect()));
            }
        }
        for (mut body, endpoints) in changed {
            body.set(&["endpoints"], endpoints);
            body.set(&["ports"], group.ports.clone());
            self.update.push(body);
        }
    }

    /// Lets what would be deleted take the place of what would be created; the collector is about to delete the slices
    /// of a Service that is being deleted, so that it gets no new ones.
    pub(super) fn finish(&mut self, service: &Object) {
        for slice in core::mem::take(&mut self.delete) {
            match self.create.pop() {
                Some(mut body) if is_owned(&slice, service) => {
                    body.set(&["metadata", "name"], slice.name());
                    self.update.push(body);
                }
                new => {
                    self.create.extend(new);
                    self.delete.push(slice);
                }
            }
        }
        if is_ending(service) {
            self.create.clear();
        }
    }
}

/// Returns the place of the slice that so many endpoints fill best, if they fill one.
/// Source: k8s.io/endpointslice utils.go (v1.34), `getSliceToFill`.
fn slice_to_fill(slices: &[&Object], count: usize, most: usize) -> Option<usize> {
    let size = |at: &usize| slices[*at].stable().get("endpoints").items().len();
    let fits = (0..slices.len()).filter(|at| count < most && size(at) + count <= most);
    fits.max_by_key(size)
}

fn new_slice(service: &Object, family: Family, marks: &Json, endpoints: Vec<Json>, ports: &Json) -> Json {
    let mut slice = json!({"kind": "EndpointSlice", "apiVersion": "discovery.k8s.io/v1",
        "metadata": {"generateName": format!("{}-", service.name()),
            "namespace": service.key().namespace.as_str()},
        "addressType": family.name(), "endpoints": null, "ports": null});
    slice.set(&["metadata", "labels"], marks.clone());
    let owner = reference_to(service, "v1", "Service");
    slice.set(&["metadata", "ownerReferences"], Json::array(Vec::from([owner])));
    if !endpoints.is_empty() {
        slice.set(&["endpoints"], endpoints);
        slice.set(&["ports"], ports.clone());
    }
    slice
}

/// Returns the labels of a Service's slices. Source: k8s.io/endpointslice utils.go (v1.34), `setEndpointSliceLabels`.
fn slice_labels(service: &Object) -> Json {
    let mut marks = without_own(labels(service));
    if is_headless(service) {
        marks.set(&[HEADLESS], "");
    }
    marks.set(&[MANAGED_BY], MANAGER);
    marks.set(&[SERVICE_NAME], service.name());
    marks
}

/// Source: pkg/apis/core/v1/helper/helpers.go (v1.34), `IsServiceIPSet`.
pub(super) fn is_headless(service: &Object) -> bool {
    matches!(service.stable().at(&["spec", "clusterIP"]).as_str(), None | Some("" | "None"))
}

/// Returns labels without those that the controller keeps for itself.
fn without_own(labels: &Json) -> Json {
    let own = |name: &str| [HEADLESS, MANAGED_BY, SERVICE_NAME].contains(&name);
    let mut rest = Json::object();
    for (name, value) in labels.fields().filter(|(name, _)| !own(name)) {
        rest.set(&[name.as_str()], value.clone());
    }
    rest
}

/// Tells whether a slice holds endpoints of a group. One without ports is of no group: upstream's hash of no list is
/// not that of a Pod's empty list.
fn is_of_group(group: &PortGroup, slice: &Object, service: &Object) -> bool {
    let ports = slice.stable().get("ports").items();
    let own = group.ports.items();
    let is_same = ports.len() == own.len() && ports.iter().all(|port| own.contains(port));
    is_owned(slice, service) && !ports.is_empty() && is_same
}

/// Source: k8s.io/endpointslice utils.go (v1.34), `ownedBy`.
fn is_owned(slice: &Object, service: &Object) -> bool {
    let owners = slice.stable().at(&["metadata", "ownerReferences"]).items();
    let is = |owner: &Json, field: &str, value: &str| owner.get(field).as_str() == Some(value);
    owners
        .iter()
        .any(|owner| is(owner, "uid", service.uid()) && is(owner, "kind", "Service") && is(owner, "apiVersion", "v1"))
}

/// Tells whether a slice is like the empty one that a Service without endpoints has; whose it is does not count, nor
/// does a label without a value.
/// Source: k8s.io/endpointslice reconciler.go (v1.34), `placeholderSliceCompare`.
fn is_placeholder(slice: &Object, marks: &Json) -> bool {
    let lacks = |own: &Json, other: &Json| {
        other.fields().any(|(name, value)| value.as_str() != Some("") && own.get(name.as_str()) != value)
    };
    let own = labels(slice);
    let is_bare = slice.stable().get("endpoints").is_empty() && slice.stable().get("ports").is_empty();
    is_bare && !lacks(own, marks) && !lacks(marks, own)
}
