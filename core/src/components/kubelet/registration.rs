//! Registration: a kubelet creates its Node, or takes over the existing one.
//!
//! Mirrors pkg/kubelet/kubelet_node_status.go (v1.34), `registerWithAPIServer`: a pause before each attempt, doubled up
//! to seven seconds; an existing Node is reconciled in a few fields. Inputs: time, answers. Outputs: requests.
//! Invariant: once it has succeeded, a process never registers again.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::SignedDuration;

use super::setters::is_huge_page;
use super::{ApiResult, Kubelet, KubeletContext, Purpose, Timer, failure};
use crate::components::Because;
use crate::components::volumes::CONTROLLER_ATTACHES;
use crate::network::{Call, NODES, Verb};
use crate::objects::names::is_extended_resource;
use crate::objects::patch::two_way;
use crate::objects::{Json, Object, Text};

/// The first pause. Source: kubelet_node_status.go (v1.34), `step := 100 * time.Millisecond`.
pub(super) const BACKOFF_FIRST: SignedDuration = SignedDuration::from_millis(100);
/// The longest pause. Source: as above.
const BACKOFF_MAX: SignedDuration = SignedDuration::from_secs(7);
/// The labels that are reconciled. Source: kubelet_node_status.go (v1.34), `updateDefaultLabels`.
const DEFAULT_LABELS: [&str; 12] = [
    "kubernetes.io/hostname",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "node.kubernetes.io/windows-build",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
];

/// What an answer is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RegistrationPurpose {
    /// The Node was to be created.
    Post,
    /// The existing Node was looked up.
    Get,
    /// The existing Node was reconciled.
    Patch,
}

impl Kubelet {
    /// Schedules the next attempt after a pause.
    pub(super) fn await_registration(&mut self, context: &KubeletContext<'_>) {
        let pause = self.status.registration_pause;
        self.status.registration_pause = (pause * 2).min(BACKOFF_MAX);
        self.set(Timer::Register, context.now + pause);
    }

    /// Makes an attempt.
    pub(super) fn register(&mut self, context: &mut KubeletContext<'_>) {
        let mut said = Vec::new();
        let node = self.initial_node(context.host, context.now, &mut said);
        self.emit_said(said, None, context);
        self.log(format!("Attempting to register node {:?}", self.config.node_name), context);
        let call = Call::new(Verb::Create, NODES, "", "").body(node.clone());
        self.status.initial = Some(node);
        self.call(call, Purpose::Register(RegistrationPurpose::Post), context);
    }

    /// Takes an answer.
    pub(super) fn handle_registration(
        &mut self,
        step: RegistrationPurpose,
        outcome: ApiResult,
        context: &mut KubeletContext<'_>,
    ) {
        let code = outcome.as_ref().map_or(0, |answer| answer.code);
        let is_success = outcome.as_ref().is_ok_and(crate::network::Answer::is_success);
        match step {
            RegistrationPurpose::Post | RegistrationPurpose::Patch if is_success => self.registered(step, context),
            RegistrationPurpose::Post if code == 409 || (code == 403 && self.goes_on_after_forbidden()) => {
                self.call(self.get_node(), Purpose::Register(RegistrationPurpose::Get), context);
            }
            RegistrationPurpose::Get if is_success => {
                let existing = outcome.ok().and_then(|answer| answer.as_object().cloned());
                if let Some(existing) = existing {
                    self.reconcile(&existing, context);
                }
            }
            _ => {
                let why = failure(&outcome).unwrap_or_default();
                self.log(format!("Unable to register node with API server: {why}"), context);
                self.await_registration(context);
            }
        }
    }

    fn goes_on_after_forbidden(&self) -> bool {
        self.settings.profile().is("registration-goes-on-after-forbidden")
    }

    fn reconcile(&mut self, existing: &Object, context: &mut KubeletContext<'_>) {
        let before = existing.json();
        let is_new = !context.host.has_served_plugins;
        let initial = self.status.initial.as_ref();
        let after = initial.map_or_else(|| before.clone(), |initial| reconciled(&before, initial, is_new));
        let patch = two_way(&before, &after);
        if patch.is_empty() {
            self.registered(RegistrationPurpose::Get, context);
            return;
        }
        let call = Call::strategic_patch(NODES, "", &self.config.node_name, patch).subresource("status");
        self.call(call, Purpose::Register(RegistrationPurpose::Patch), context);
    }

    fn registered(&mut self, step: RegistrationPurpose, context: &mut KubeletContext<'_>) {
        let (what, fact) = match step {
            RegistrationPurpose::Post => ("registered", "the API server created the Node"),
            RegistrationPurpose::Get => {
                ("took over the existing Node as it is", "a Node of this name is there already")
            }
            RegistrationPurpose::Patch => {
                ("took over the existing Node and put it right", "a Node of this name is there already")
            }
        };
        context.outbox.decide(self.about_node(), what, Vec::from([Because::Fact(String::from(fact))]));
        self.log(format!("Successfully registered node {:?}", self.config.node_name), context);
        self.status.initial = None;
        self.status.is_registered = true;
        self.begin_tries(context);
    }
}

/// Returns an existing Node with the fields that a kubelet reconciles. On a machine that has not served device plugins
/// yet, extended resources have to be announced anew.
///
/// Source: kubelet_node_status.go, `reconcileExtendedResource` and `reconcileHugePageResource`, and
/// pkg/kubelet/cm/devicemanager/manager.go (v1.34), `ShouldResetExtendedResourceCapacity`: whether anything is in the
/// plugins' folder, the server's own socket included.
fn reconciled(existing: &Json, initial: &Json, is_new: bool) -> Json {
    let mut node = existing.clone();
    let annotation = ["metadata", "annotations", CONTROLLER_ATTACHES];
    let wanted = initial.at(&annotation);
    if wanted.is_null() {
        node.remove(&annotation);
    } else if node.at(&annotation) != wanted {
        node.set(&annotation, wanted.clone());
    }
    for key in DEFAULT_LABELS {
        let path = ["metadata", "labels", key];
        match initial.at(&path).as_str() {
            None => {}
            Some("") => {
                node.remove(&path);
            }
            Some(value) if node.at(&path).as_str() != Some(value) => node.set(&path, value),
            Some(_) => {}
        }
    }
    reconcile_resources(&mut node, initial, is_new);
    node
}

/// Puts the sizes of pages right and, on a new machine, extended resources. The capacity says which there are.
fn reconcile_resources(node: &mut Json, initial: &Json, is_new: bool) {
    const LISTS: [&str; 2] = ["capacity", "allocatable"];
    for list in LISTS {
        if node.at(&["status", list]).is_null() {
            node.set(&["status", list], initial.at(&["status", list]).clone());
        }
    }
    let names =
        |of: &Json| -> Vec<Text> { of.at(&["status", LISTS[0]]).fields().map(|(name, _)| name.clone()).collect() };
    for name in names(node).iter().filter(|name| is_new && is_extended_resource(name)) {
        LISTS.iter().for_each(|list| node.set(&["status", list, name], "0"));
    }
    for name in names(initial).iter().filter(|name| is_huge_page(name)) {
        for list in LISTS {
            let wanted = initial.at(&["status", list, name]);
            if node.at(&["status", list, name]) != wanted {
                node.set(&["status", list, name], wanted.clone());
            }
        }
    }
    for name in names(node).iter().filter(|name| is_huge_page(name)) {
        if initial.at(&["status", LISTS[0], name]).is_null() {
            for list in LISTS {
                node.remove(&["status", list, name]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::reconciled;
    use crate::json;

    #[test]
    fn of_an_existing_node_only_well_known_labels_and_the_annotation_are_put_right() {
        let existing = json!({
            "metadata": {"name": "w1", "labels": {"disk": "ssd", "kubernetes.io/hostname": "other",
                "topology.kubernetes.io/zone": "a"}},
            "spec": {"taints": [{"key": "mine", "effect": "NoSchedule"}]},
            "status": {"capacity": {"cpu": "1"}, "allocatable": {"cpu": "1"}},
        });
        let initial = json!({
            "metadata": {"name": "w1", "labels": {"disk": "hdd", "new": "x", "kubernetes.io/hostname": "w1",
                "topology.kubernetes.io/zone": "b"},
                "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}},
            "spec": {"taints": [{"key": "theirs", "effect": "NoExecute"}], "providerID": "p"},
            "status": {"capacity": {"cpu": "4"}, "allocatable": {"cpu": "4"}},
        });
        assert_eq!(
            reconciled(&existing, &initial, false),
            json!({
                "metadata": {"name": "w1", "labels": {"disk": "ssd", "kubernetes.io/hostname": "w1",
                    "topology.kubernetes.io/zone": "b"},
                    "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}},
                "spec": {"taints": [{"key": "mine", "effect": "NoSchedule"}]},
                "status": {"capacity": {"cpu": "1"}, "allocatable": {"cpu": "1"}},
            })
        );
    }

    #[test]
    fn a_page_size_that_is_gone_goes_and_extended_resources_have_to_be_announced_anew() {
        let existing = json!({"status": {
            "capacity": {"cpu": "1", "hugepages-2Mi": "100Mi", "example.com/gpu": "4"},
            "allocatable": {"cpu": "1", "hugepages-2Mi": "100Mi", "example.com/gpu": "3"}}});
        let initial = json!({"metadata": {}, "status": {
            "capacity": {"cpu": "1", "hugepages-1Gi": "2Gi"}, "allocatable": {"cpu": "1", "hugepages-1Gi": "2Gi"}}});
        let expected = |gpus: [&str; 2]| {
            let [all, free] = gpus;
            json!({"status": {"capacity": {"cpu": "1", "hugepages-1Gi": "2Gi", "example.com/gpu": all},
                "allocatable": {"cpu": "1", "hugepages-1Gi": "2Gi", "example.com/gpu": free}}})
        };
        assert_eq!(reconciled(&existing, &initial, false), expected(["4", "3"]));
        assert_eq!(reconciled(&existing, &initial, true), expected(["0", "0"]));
    }

    #[test]
    fn which_extended_resources_there_are_is_what_the_capacity_says() {
        let initial = json!({"metadata": {}, "status": {"capacity": {"cpu": "1"}, "allocatable": {"cpu": "1"}}});
        for (status, expected) in [
            (
                json!({"capacity": {"cpu": "1", "example.com/gpu": "4"}}),
                json!({"capacity": {"cpu": "1", "example.com/gpu": "0"},
                    "allocatable": {"cpu": "1", "example.com/gpu": "0"}}),
            ),
            (
                json!({"capacity": {"cpu": "1"}, "allocatable": {"cpu": "1", "example.com/gpu": "3"}}),
                json!({"capacity": {"cpu": "1"}, "allocatable": {"cpu": "1", "example.com/gpu": "3"}}),
            ),
        ] {
            let existing = json!({"status": status});
            assert_eq!(reconciled(&existing, &initial, true).get("status"), &expected);
        }
    }
}
