//! Feature gates: which there are at a release, what each is by default, and what switching one changes here.
//!
//! Mirrors k8s.io/component-base featuregate/feature_gate.go (v1.34): syntax, locked gates, and the words of refusals.
//! A gate that drives a row of the table of behaviours overrides it; one whose feature is not modelled is accepted,
//! shown, and changes nothing. Left out on purpose: the groups `AllAlpha` and `AllBeta`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Release, Value};

/// How far a feature is at a release.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Off unless asked for.
    Alpha,
    /// With this default.
    Beta(bool),
    /// On, and cannot be switched off where the truth value says so.
    Stable {
        /// Whether the gate is locked to its default.
        locked: bool,
    },
    /// Goes away, with this default.
    Deprecated(bool),
    /// No component knows the gate.
    Gone,
}

/// A feature gate.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    /// Its name.
    pub name: &'static str,
    /// The stages with the release since which each holds, oldest first.
    pub stages: &'static [(Release, Stage)],
    /// The rows that it drives, each with the value that the row has while the gate is on.
    pub rows: &'static [(&'static str, bool)],
}

impl Gate {
    /// Returns the stage at a release.
    #[must_use]
    pub fn stage_at(&self, release: Release) -> Stage {
        self.stages.iter().rev().find(|(since, _)| *since <= release).map_or(Stage::Gone, |(_, stage)| *stage)
    }

    /// Returns the values of the rows that the gate drives.
    pub fn row_values(&self, on: bool) -> impl Iterator<Item = (&'static str, Value)> {
        self.rows.iter().map(move |(row, value)| (*row, Value::Bool(*value == on)))
    }
}

impl Stage {
    /// Returns the default; `None` where there is no such gate.
    #[must_use]
    pub const fn default_value(self) -> Option<bool> {
        match self {
            Self::Alpha => Some(false),
            Self::Beta(on) | Self::Deprecated(on) => Some(on),
            Self::Stable { .. } => Some(true),
            Self::Gone => None,
        }
    }

    /// Returns the stage as Kubernetes prints it; empty for general availability.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Alpha => "ALPHA",
            Self::Beta(_) => "BETA",
            Self::Deprecated(_) => "DEPRECATED",
            Self::Stable { .. } | Self::Gone => "",
        }
    }
}

/// Reads `NAME=BOOL,…`.
///
/// # Errors
/// The words with which a component refuses its `--feature-gates`.
pub(super) fn parse(text: &str, release: Release) -> Result<Vec<(&'static Gate, bool)>, String> {
    let mut read = Vec::new();
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
        let gate = GATES.iter().find(|gate| gate.name == name);
        let stage = gate.map_or(Stage::Gone, |gate| gate.stage_at(release));
        match (gate, stage) {
            (Some(gate), stage) if stage != Stage::Gone => {
                if stage == (Stage::Stable { locked: true }) && !on {
                    return Err(format!("cannot set feature gate {name} to {on}, feature is locked to true"));
                }
                read.push((gate, on));
            }
            _ => return Err(format!("unrecognized feature gate: {name}")),
        }
    }
    Ok(read)
}

const OLD: Release = Release::new(24, 0);
const STABLE: Stage = Stage::Stable { locked: false };
const LOCKED: Stage = Stage::Stable { locked: true };

const fn since(minor: u16) -> Release {
    Release::new(minor, 0)
}

const fn gate(name: &'static str, stages: &'static [(Release, Stage)]) -> Gate {
    Gate { name, stages, rows: &[] }
}

/// The gates that concern nodes, pods on them and their controllers.
///
/// Source: pkg/features/kube_features.go (v1.31, v1.34, v1.36) and k8s.io/controller-manager, k8s.io/component-helpers.
pub static GATES: &[Gate] = &[
    gate("AllowOverwriteTerminationGracePeriodSeconds", &[(since(32), Stage::Deprecated(false)), (since(35), LOCKED)]),
    Gate {
        name: "ClearingNominatedNodeNameAfterBinding",
        stages: &[(since(34), Stage::Alpha), (since(35), Stage::Beta(true))],
        rows: &[("binding-clears-nomination", true)],
    },
    gate("CPUManager", &[(since(26), LOCKED)]),
    gate("CloudDualStackNodeIPs", &[(since(27), Stage::Alpha), (since(29), Stage::Beta(true)), (since(30), LOCKED)]),
    gate("DeploymentReplicaSetTerminatingReplicas", &[(since(33), Stage::Alpha), (since(35), Stage::Beta(true))]),
    gate("DisableCloudProviders", &[(OLD, Stage::Alpha), (since(29), Stage::Beta(true)), (since(31), LOCKED)]),
    Gate {
        name: "DynamicResourceAllocation",
        stages: &[(since(26), Stage::Alpha), (since(32), Stage::Beta(false)), (since(34), STABLE), (since(35), LOCKED)],
        rows: &[("scheduler-looks-for-resource-claims", true)],
    },
    gate(
        "DisableKubeletCloudCredentialProviders",
        &[(OLD, Stage::Alpha), (since(29), Stage::Beta(true)), (since(31), LOCKED)],
    ),
    Gate {
        name: "DisableNodeKubeProxyVersion",
        stages: &[
            (since(29), Stage::Alpha),
            (since(31), Stage::Beta(true)),
            (Release::new(31, 1), Stage::Deprecated(false)),
            (since(33), Stage::Deprecated(true)),
            (since(36), LOCKED),
        ],
        rows: &[("kube-proxy-version-in-status", false)],
    },
    gate("ExtendWebSocketsToKubelet", &[(since(36), Stage::Beta(true))]),
    gate("GracefulNodeShutdown", &[(OLD, Stage::Beta(true))]),
    gate("GracefulNodeShutdownBasedOnPodPriority", &[(OLD, Stage::Beta(true))]),
    Gate {
        name: "InPlacePodVerticalScaling",
        stages: &[(since(27), Stage::Alpha), (since(33), Stage::Beta(true)), (since(35), LOCKED)],
        rows: &[("container-resources-in-status", true)],
    },
    gate("JobPodReplacementPolicy", &[(since(28), Stage::Alpha), (since(29), Stage::Beta(true)), (since(34), LOCKED)]),
    gate(
        "KubeletCgroupDriverFromCRI",
        &[(since(28), Stage::Alpha), (since(31), Stage::Beta(true)), (since(34), LOCKED)],
    ),
    gate("KubeletFineGrainedAuthz", &[(since(32), Stage::Alpha), (since(33), Stage::Beta(true)), (since(36), LOCKED)]),
    gate("KubeletInUserNamespace", &[(OLD, Stage::Alpha)]),
    Gate {
        name: "KubeletRegistrationGetOnExistsOnly",
        stages: &[(since(32), Stage::Deprecated(false))],
        rows: &[("registration-goes-on-after-forbidden", false)],
    },
    gate("KubeletSeparateDiskGC", &[(since(29), Stage::Alpha), (since(31), Stage::Beta(true))]),
    gate("MaxUnavailableStatefulSet", &[(OLD, Stage::Alpha), (since(35), Stage::Beta(false))]),
    gate("MemoryManager", &[(OLD, Stage::Beta(true)), (since(32), LOCKED)]),
    gate("MemoryQoS", &[(OLD, Stage::Alpha)]),
    gate("NodeDeclaredFeatures", &[(since(35), Stage::Alpha), (since(36), Stage::Beta(true))]),
    Gate {
        name: "NominatedNodeNameForExpectation",
        stages: &[(since(34), Stage::Alpha), (since(35), Stage::Beta(true))],
        rows: &[("scheduler-failure-clears-nomination", false)],
    },
    gate(
        "NodeOutOfServiceVolumeDetach",
        &[(OLD, Stage::Alpha), (since(26), Stage::Beta(true)), (since(28), LOCKED), (since(32), Stage::Gone)],
    ),
    gate(
        "NodeSwap",
        &[(OLD, Stage::Alpha), (since(28), Stage::Beta(false)), (since(30), Stage::Beta(true)), (since(34), LOCKED)],
    ),
    gate(
        "PDBUnhealthyPodEvictionPolicy",
        &[(since(26), Stage::Alpha), (since(27), Stage::Beta(true)), (since(31), LOCKED)],
    ),
    gate("PodDisruptionConditions", &[(since(25), Stage::Alpha), (since(26), Stage::Beta(true)), (since(31), LOCKED)]),
    Gate {
        name: "PodLevelResources",
        stages: &[(since(32), Stage::Alpha), (since(34), Stage::Beta(true))],
        rows: &[("pod-level-resources", true)],
    },
    Gate {
        name: "PodObservedGenerationTracking",
        stages: &[(since(33), Stage::Alpha), (since(34), Stage::Beta(true)), (since(35), LOCKED)],
        rows: &[("pod-conditions-observe-generation", true), ("pod-observed-generation", true)],
    },
    Gate {
        name: "PodReadyToStartContainersCondition",
        stages: &[(since(28), Stage::Alpha), (since(29), Stage::Beta(true))],
        rows: &[("pod-ready-to-start-containers", true)],
    },
    gate("PreventStaticPodAPIReferences", &[(since(34), Stage::Beta(true))]),
    gate("RecursiveReadOnlyMounts", &[(since(30), Stage::Alpha), (since(31), Stage::Beta(true)), (since(33), LOCKED)]),
    Gate {
        name: "SchedulerAsyncPreemption",
        stages: &[(since(32), Stage::Alpha), (since(33), Stage::Beta(true))],
        rows: &[("scheduler-preempts-beside-attempts", true)],
    },
    Gate {
        name: "SchedulerPopFromBackoffQ",
        stages: &[(since(33), Stage::Beta(true))],
        rows: &[("scheduler-pops-from-backoff", true)],
    },
    Gate {
        name: "SchedulerQueueingHints",
        stages: &[(since(28), Stage::Beta(false)), (since(32), Stage::Beta(true)), (since(34), LOCKED)],
        rows: &[("scheduler-queueing-hints", true)],
    },
    gate("SeparateTaintEvictionController", &[(since(29), Stage::Beta(true)), (since(34), LOCKED)]),
    gate("StableLoadBalancerNodeSet", &[(since(27), Stage::Beta(true)), (since(30), LOCKED), (since(32), Stage::Gone)]),
    gate("StaleControllerConsistencyDaemonSet", &[(since(36), Stage::Beta(true))]),
    gate("StaleControllerConsistencyJob", &[(since(36), Stage::Beta(true))]),
    gate("StaleControllerConsistencyReplicaSet", &[(since(36), Stage::Beta(true))]),
    gate("StaleControllerConsistencyStatefulSet", &[(since(36), Stage::Beta(true))]),
    gate("SupplementalGroupsPolicy", &[(since(31), Stage::Alpha), (since(33), Stage::Beta(true)), (since(35), LOCKED)]),
    gate("SystemdWatchdog", &[(since(32), Stage::Beta(true)), (since(35), LOCKED)]),
    Gate {
        name: "TaintTolerationComparisonOperators",
        stages: &[(since(35), Stage::Alpha)],
        rows: &[("tolerations-compare-numbers", true)],
    },
    gate(
        "TopologyManagerPolicyOptions",
        &[(since(26), Stage::Alpha), (since(28), Stage::Beta(true)), (since(32), LOCKED)],
    ),
    gate(
        "UserNamespacesSupport",
        &[
            (since(25), Stage::Alpha),
            (since(30), Stage::Beta(false)),
            (since(33), Stage::Beta(true)),
            (since(36), LOCKED),
        ],
    ),
    gate("WindowsGracefulNodeShutdown", &[(since(32), Stage::Alpha), (since(34), Stage::Beta(true))]),
    Gate { name: "TopologyManagerPolicyAlphaOptions", stages: &[(since(26), Stage::Alpha)], rows: &[] },
    Gate { name: "TopologyManagerPolicyBetaOptions", stages: &[(since(26), Stage::Beta(true))], rows: &[] },
    Gate { name: "CPUManagerPolicyOptions", stages: &[(OLD, Stage::Beta(true)), (since(33), STABLE)], rows: &[] },
];

#[cfg(test)]
mod tests {
    use super::{GATES, parse};
    use crate::profile::{RELEASES, Release, row};

    #[test]
    fn each_gate_stands_once_and_drives_rows_that_agree_with_its_default() {
        for gate in GATES {
            assert_eq!(GATES.iter().filter(|other| other.name == gate.name).count(), 1, "{}", gate.name);
            assert!(gate.stages.windows(2).all(|pair| pair[0].0 < pair[1].0), "{}", gate.name);
            for release in RELEASES {
                let Some(default) = gate.stage_at(release).default_value() else { continue };
                for (name, value) in gate.row_values(default) {
                    assert_eq!(row(name).unwrap().value_at(release), Some(value), "{} {name} {release}", gate.name);
                }
            }
        }
    }

    #[test]
    fn a_gate_is_refused_in_the_components_words() {
        for (text, release, words) in [
            ("NodeSwap", 34, "missing bool value for NodeSwap"),
            ("NodeSwap=on", 34, "invalid value of NodeSwap=on, err: strconv.ParseBool: parsing \"on\": invalid syntax"),
            ("NodeSwap=false", 34, "cannot set feature gate NodeSwap to false, feature is locked to true"),
            ("NodeSwpa=true", 34, "unrecognized feature gate: NodeSwpa"),
            ("NodeDeclaredFeatures=true", 34, "unrecognized feature gate: NodeDeclaredFeatures"),
            (
                "NodeSwap=true,MemoryQoS=x",
                31,
                "invalid value of MemoryQoS=x, err: strconv.ParseBool: parsing \"x\": invalid syntax",
            ),
        ] {
            assert_eq!(parse(text, Release::new(release, 0)).unwrap_err(), words);
        }
        let read = parse("NodeSwap=false, MemoryQoS=true", Release::new(31, 0)).unwrap();
        assert_eq!(
            read.iter().map(|(gate, on)| (gate.name, *on)).collect::<alloc::vec::Vec<_>>(),
            [("NodeSwap", false), ("MemoryQoS", true)]
        );
        assert!(parse("", Release::new(31, 0)).unwrap().is_empty());
    }
}
