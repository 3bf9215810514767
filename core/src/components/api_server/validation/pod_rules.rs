//! What a release checks of Pods.
//!
//! Mirrors `PodValidationOptions` of pkg/apis/core/validation/validation.go and pkg/api/pod/util.go (v1.34),
//! `GetValidationOptionsFromPodSpecAndMeta`. Inputs: settings, and a stored specification. Outputs: rules.

use super::ip::Reading;
use super::restarts::Restarts;
use super::{text, variables};
use crate::objects::Json;
use crate::profile::Settings;

/// Whether a toleration may compare numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Comparisons {
    /// The release does not know the operators.
    Unknown,
    /// It names them, and refuses them.
    Refused,
    Allowed,
}

/// What the release checks of Pods.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Rules {
    pub(super) comparisons: Comparisons,
    /// Whether the values of a required node affinity are values of labels.
    pub(super) node_values: bool,
    /// Whether search domains may have underscores.
    pub(super) dns_underscores: bool,
    pub(super) addresses: Reading,
    /// Whether variables may come from files.
    pub(super) env_files: bool,
    /// Whether variables may have nearly any name.
    pub(super) any_variable: bool,
    /// Whether the keys of labels by which Pods are spread become part of the selector.
    pub(super) merges_spread_keys: bool,
    /// Whether annotations and fields must name the same profiles of AppArmor.
    pub(super) app_armor_fields: bool,
    /// Whether the name of a StatefulSet's Service is checked.
    pub(super) service_names: bool,
    /// Whether the templates of its Pods and claims are.
    pub(super) stateful_templates: bool,
    /// Whether a Job's Pods may be placed elsewhere while its status says that it is suspended, not until it starts.
    pub(super) suspended_jobs_move: bool,
    /// Whether the resources of its containers may change then.
    pub(super) suspended_jobs_resize: bool,
    pub(super) restarts: Restarts,
}

impl Rules {
    pub(in super::super) fn of(settings: &Settings) -> Self {
        let comparisons = match settings.profile() {
            profile if profile.is("tolerations-compare-numbers") => Comparisons::Allowed,
            profile if profile.is("toleration-comparisons-are-known") => Comparisons::Refused,
            _ => Comparisons::Unknown,
        };
        Self {
            comparisons,
            node_values: settings.profile().is("required-affinity-has-label-values"),
            dns_underscores: settings.profile().is("search-domains-have-underscores"),
            addresses: Reading::of(settings),
            env_files: settings.is_gate_on("EnvFiles"),
            any_variable: settings.profile().is("variables-have-any-name"),
            merges_spread_keys: settings.profile().is("spread-selectors-take-label-keys"),
            app_armor_fields: settings.profile().is("app-armor-is-a-field"),
            service_names: settings.profile().is("stateful-set-service-is-a-label"),
            stateful_templates: settings.profile().is("stateful-set-templates-are-checked"),
            suspended_jobs_move: settings.is_gate_on("MutableSchedulingDirectivesForSuspendedJobs"),
            suspended_jobs_resize: settings.is_gate_on("MutablePodResourcesForSuspendedJobs"),
            restarts: Restarts {
                of_containers: settings.is_gate_on("ContainerRestartRules"),
                of_all: settings.is_gate_on("RestartAllContainersOnContainerExits"),
                counts_items: settings.profile().is("restart-rules-are-counted"),
                rules_need_policy: settings.profile().is("restart-rules-of-init-containers-need-policy"),
            },
        }
    }

    /// Returns the rules of those who know no gates of validation.
    pub(in super::super) fn without_gates(self) -> Self {
        let restarts = Restarts { of_containers: false, of_all: false, ..self.restarts };
        Self { dns_underscores: false, env_files: false, any_variable: false, restarts, ..self }
    }

    /// Allows operators, names of variables and rules of restarts if the stored Pod has them, even if the gate is off
    /// now.
    pub(super) fn beside(self, stored: &Json) -> Self {
        let compares = |toleration: &Json| matches!(text(toleration, "operator"), "Lt" | "Gt");
        let is_known = stored.get("tolerations").items().iter().any(compares);
        let any_variable = self.any_variable || variables::has_any_names(stored);
        let restarts = self.restarts.beside(stored);
        let comparisons = if is_known { Comparisons::Allowed } else { self.comparisons };
        Self { comparisons, any_variable, restarts, ..self }
    }
}
