//! Feature gates: which exist at a release, their defaults, and the behaviours that each sets.
//!
//! Mirrors k8s.io/component-base featuregate/feature_gate.go (v1.34): syntax, locked gates, and the messages of
//! refusals. Inputs: a release, or the text of `--feature-gates`. Outputs: gates with their stages and values, or the
//! message. A gate that drives a row of the table of behaviours overrides it; a gate whose feature is not modelled is
//! accepted and shown, and changes nothing. Left out on purpose: the groups `AllAlpha` and `AllBeta`.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use once_cell::race::OnceBox;

use super::{GateStage, Release, Value, releases};

/// A feature gate: a name whose stages stand in the files of the releases.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gate {
    /// Its name.
    pub name: &'static str,
}

/// Returns the gates that some release knows, in the order in which they came.
pub fn gates() -> impl Iterator<Item = Gate> {
    let changes = || releases::all().iter().flat_map(|data| data.gates);
    let is_first = move |at: usize, name| changes().take(at).all(|earlier| earlier.gate != name);
    changes().enumerate().filter(move |(at, change)| is_first(*at, change.gate)).map(|(_, it)| Gate { name: it.gate })
}

/// Finds a gate by its name.
pub(super) fn gate(name: &str) -> Option<Gate> {
    stages().get_key_value(name).map(|(name, _)| Gate { name })
}

/// Returns the stages of the gates by their names, each with the release since which it holds, oldest first.
fn stages() -> &'static BTreeMap<&'static str, Vec<(Release, GateStage)>> {
    static STAGES: OnceBox<BTreeMap<&'static str, Vec<(Release, GateStage)>>> = OnceBox::new();
    STAGES.get_or_init(|| {
        let mut found: BTreeMap<&'static str, Vec<(Release, GateStage)>> = BTreeMap::new();
        for change in releases::all().iter().flat_map(|data| data.gates) {
            found.entry(change.gate).or_default().push((change.since, change.stage));
        }
        Box::new(found)
    })
}

impl Gate {
    /// Returns the stage at a release.
    #[must_use]
    pub fn stage_at(&self, release: Release) -> GateStage {
        self.until(release).next().unwrap_or(GateStage::Gone)
    }

    /// Returns how a gate that is gone left its feature: with the default that it had last.
    pub(super) fn last_default(&self, release: Release) -> Option<bool> {
        self.until(release).find_map(GateStage::default_value)
    }

    /// Returns the stages up to a release, the newest first.
    fn until(&self, release: Release) -> impl Iterator<Item = GateStage> + use<> {
        let stages = stages().get(self.name).into_iter().flatten().rev();
        stages.filter(move |(since, _)| *since <= release).map(|(_, stage)| *stage)
    }

    /// Tells whether its feature is modelled: whether the gate drives a row or is asked for by its name.
    #[must_use]
    pub fn is_modelled(&self) -> bool {
        is_modelled(self.name)
    }

    /// Returns the values of the rows that the gate drives.
    pub fn row_values(&self, on: bool) -> impl Iterator<Item = (&'static str, Value)> {
        let own = DRIVEN.iter().filter(|(gate, ..)| *gate == self.name);
        own.map(move |(_, row, value)| (*row, Value::Bool(*value == on)))
    }
}

impl GateStage {
    /// Returns the default; `None` where there is no such gate.
    #[must_use]
    pub const fn default_value(self) -> Option<bool> {
        match self {
            Self::Alpha => Some(false),
            Self::Beta(on) | Self::Deprecated(on) | Self::Retired(on) => Some(on),
            Self::Stable { .. } => Some(true),
            Self::Gone => None,
        }
    }

    /// Returns the value to which the gate is locked, if it is.
    const fn locked_to(self) -> Option<bool> {
        match self {
            Self::Stable { locked: true } => Some(true),
            Self::Retired(on) => Some(on),
            _ => None,
        }
    }

    /// Returns why a gate cannot be set to a value, if it is locked to the other one.
    pub(super) fn refusal(self, name: &str, on: bool) -> Option<String> {
        let locked = self.locked_to().filter(|locked| *locked != on)?;
        Some(format!("cannot set feature gate {name} to {on}, feature is locked to {locked}"))
    }

    /// Returns the stage as Kubernetes prints it; empty for general availability.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Alpha => "ALPHA",
            Self::Beta(_) => "BETA",
            Self::Deprecated(_) | Self::Retired(_) => "DEPRECATED",
            Self::Stable { .. } | Self::Gone => "",
        }
    }
}

/// Reads `NAME=BOOL,…`; the stages of the gates are looked up by their names.
///
/// # Errors
/// The message with which a component refuses its `--feature-gates`.
pub(super) fn parse(
    text: &str,
    stage_of: impl Fn(&str) -> Option<(&'static str, GateStage)>,
) -> Result<Vec<(&'static str, bool)>, String> {
    let (mut read, mut errors) = (Vec::new(), Vec::new());
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let Some((name, value)) = part.split_once('=') else {
            return Err(format!("missing bool value for {part}"));
        };
        let (name, value) = (name.trim(), value.trim());
        let on = match value {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => true,
            "0" | "f" | "F" | "false" | "FALSE" | "False" => false,
            _ => {
                return Err(format!(
                    "invalid value of {name}={value}, err: strconv.ParseBool: parsing {value:?}: invalid syntax"
                ));
            }
        };
        let Some((name, stage)) = stage_of(name).filter(|(_, stage)| *stage != GateStage::Gone) else {
            // The first gate that nobody knows ends the reading.
            errors.push(format!("unrecognized feature gate: {name}"));
            break;
        };
        errors.extend(stage.refusal(name, on));
        read.push((name, on));
    }
    if errors.is_empty() { Ok(read) } else { Err(told_together(&errors)) }
}

/// Returns several errors as one. Source: k8s.io/apimachinery pkg/util/errors/errors.go (v1.34), `aggregate.Error`.
pub(super) fn told_together(errors: &[String]) -> String {
    match errors {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}

/// Tells whether the feature of a gate is modelled.
pub(super) fn is_modelled(name: &str) -> bool {
    DRIVEN.iter().any(|(gate, ..)| *gate == name) || ASKED.contains(&name)
}

/// The gates that components ask for by their names.
static ASKED: [&str; 22] = [
    "CSIVolumeHealth",
    "ContainerRestartRules",
    "DeclarativeValidationBeta",
    "DefaultPodSysctls",
    "DisableCPUQuotaWithExclusiveCPUs",
    "GracefulNodeShutdown",
    "GracefulNodeShutdownBasedOnPodPriority",
    "HPAGeneration",
    "HugepageAwareEviction",
    "KubeletCrashLoopBackOffMax",
    "KubeletFineGrainedAuthz",
    "KubeletInUserNamespace",
    "MutablePodResourcesForSuspendedJobs",
    "MutableSchedulingDirectivesForSuspendedJobs",
    "NodeSwap",
    "NominatedNodeNameForExpectation",
    "PodLevelResourcesFixDefaulting",
    "PodLevelResourcesFixKubeletQOSClass",
    "PreventStaticPodAPIReferences",
    "ReduceDefaultCrashLoopBackOffDecay",
    "RotateKubeletServerCertificate",
    "VolumeLimitScaling",
];

/// The rows that gates drive, each with the value that it has while the gate is on.
static DRIVEN: &[(&str, &str, bool)] = &[
    ("AuthorizePodWebsocketUpgradeCreatePermission", "streams-need-create", true),
    ("ChangeContainerStatusOnKubeletRestart", "restart-keeps-container-status", false),
    ("ClearingNominatedNodeNameAfterBinding", "binding-clears-nomination", true),
    ("DisableNodeKubeProxyVersion", "kube-proxy-version-in-status", false),
    ("DynamicResourceAllocation", "scheduler-looks-for-resource-claims", true),
    ("InPlacePodVerticalScaling", "container-resources-in-status", true),
    ("KubeletRegistrationGetOnExistsOnly", "registration-goes-on-after-forbidden", false),
    ("MaxUnavailableStatefulSet", "stateful-sets-roll-several", true),
    ("NodeControllerLeaseCircuitBreaker", "silent-nodes-leases-are-read", true),
    ("NodeLease", "leases-are-signs-of-life", true),
    ("NodeOutOfServiceVolumeDetach", "out-of-service-nodes-give-up-volumes", true),
    ("PersistentVolumeClaimUnusedSinceTime", "claims-tell-whether-they-are-used", true),
    ("PodDisruptionConditions", "disruptions-are-told", true),
    ("PodLevelResources", "pod-level-resources", true),
    ("PodObservedGenerationTracking", "pod-conditions-observe-generation", true),
    ("PodObservedGenerationTracking", "pod-observed-generation", true),
    ("PodReadyToStartContainersCondition", "pod-ready-to-start-containers", true),
    ("SchedulerAsyncPreemption", "scheduler-preempts-beside-attempts", true),
    ("SchedulerPopFromBackoffQ", "scheduler-pops-from-backoff", true),
    ("SchedulerQueueingHints", "scheduler-queueing-hints", true),
    ("SeparateTaintEvictionController", "taint-eviction-is-separate", true),
    ("TaintBasedEvictions", "silent-nodes-get-no-execute-taints", true),
    ("TaintNodesByCondition", "conditions-make-no-schedule-taints", true),
    ("TaintNodesByCondition", "scheduler-consults-conditions", false),
    ("TaintTolerationComparisonOperators", "tolerations-compare-numbers", true),
];

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::{DRIVEN, gate, gates, parse};
    use crate::profile::{RELEASES, Release, row};

    #[test]
    fn each_gate_drives_rows_that_agree_with_its_default() {
        assert!(DRIVEN.iter().all(|(name, ..)| gate(name).is_some()));
        for gate in gates() {
            let older = (4..RELEASES[0].minor).map(|minor| Release::new(minor, 0));
            for release in older.chain(RELEASES) {
                let Some(default) = gate.stage_at(release).default_value() else { continue };
                for (name, value) in gate.row_values(default) {
                    assert_eq!(row(name).unwrap().value_at(release), Some(value), "{} {name} {release}", gate.name);
                }
            }
        }
    }

    fn read(text: &str, minor: u16) -> Result<Vec<(&'static str, bool)>, String> {
        let stage = |name: &str| gate(name).map(|gate| (gate.name, gate.stage_at(Release::new(minor, 0))));
        parse(text, stage)
    }

    #[test]
    fn a_gate_is_refused_in_the_components_words() {
        for (text, release, words) in [
            ("NodeSwap", 34, "missing bool value for NodeSwap"),
            ("NodeSwap=on", 34, "invalid value of NodeSwap=on, err: strconv.ParseBool: parsing \"on\": invalid syntax"),
            ("NodeSwap=false", 34, "cannot set feature gate NodeSwap to false, feature is locked to true"),
            ("NodeSwpa=true", 34, "unrecognized feature gate: NodeSwpa"),
            ("CPUManager=true", 34, "unrecognized feature gate: CPUManager"),
            (
                "AllowOverwriteTerminationGracePeriodSeconds=true",
                36,
                "cannot set feature gate AllowOverwriteTerminationGracePeriodSeconds to true, feature is locked to \
                    false",
            ),
            ("NodeDeclaredFeatures=true", 34, "unrecognized feature gate: NodeDeclaredFeatures"),
            (
                "NodeSwap=true,MemoryQoS=x",
                31,
                "invalid value of MemoryQoS=x, err: strconv.ParseBool: parsing \"x\": invalid syntax",
            ),
        ] {
            assert_eq!(read(text, release).unwrap_err(), words);
        }
        let two = read("NodeSwap=false, MemoryQoS=true", 31).unwrap();
        assert_eq!(two, [("NodeSwap", false), ("MemoryQoS", true)]);
        assert!(read("", 31).unwrap().is_empty());
    }
}
