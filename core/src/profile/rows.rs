//! The table of behaviours: each with its values by release and its source.

use jiff::SignedDuration;

use super::Release;

/// The value of a row.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    /// A behaviour that is there or not.
    Bool(bool),
    /// A span of time.
    Duration(SignedDuration),
    /// A rate, a share or a count.
    Number(f64),
    /// A text.
    Text(&'static str),
}

/// One behaviour.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its name, by which components ask.
    pub name: &'static str,
    /// What it says, in a sentence.
    pub says: &'static str,
    /// The values with the release since which each holds, oldest first.
    pub values: &'static [(Release, Value)],
    /// Where that is written.
    pub source: &'static str,
    /// The component and flag that sets it, as `kube-controller-manager.node-monitor-period`; empty for none.
    pub flag: &'static str,
}

impl Row {
    /// Returns the value at a release.
    #[must_use]
    pub fn value_at(&self, release: Release) -> Option<Value> {
        self.values.iter().rev().find(|(since, _)| *since <= release).map(|(_, value)| *value)
    }
}

/// Finds a row by its name.
#[must_use]
pub fn row(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.name == name)
}

const OLDEST: Release = Release::new(24, 0);

const fn secs(seconds: i64) -> Value {
    Value::Duration(SignedDuration::from_secs(seconds))
}

/// All behaviours.
pub static ROWS: &[Row] = &[
    Row {
        name: "node-monitor-period",
        says: "how often the node lifecycle controller checks every node",
        values: &[(OLDEST, secs(5))],
        source: "pkg/controller/nodelifecycle/config/v1alpha1/defaults.go (v1.34)",
        flag: "kube-controller-manager.node-monitor-period",
    },
    Row {
        name: "node-monitor-grace-period",
        says: "how long a node may be silent before its conditions become Unknown",
        values: &[(OLDEST, secs(40)), (Release::new(32, 0), secs(50))],
        source: "pkg/controller/nodelifecycle/config/v1alpha1/defaults.go (v1.31, v1.32; PR 126287)",
        flag: "kube-controller-manager.node-monitor-grace-period",
    },
    Row {
        name: "node-startup-grace-period",
        says: "how long a node without a Ready condition may be silent before its conditions become Unknown",
        values: &[(OLDEST, secs(60))],
        source: "pkg/controller/nodelifecycle/config/v1alpha1/defaults.go (v1.34)",
        flag: "kube-controller-manager.node-startup-grace-period",
    },
    Row {
        name: "node-eviction-rate",
        says: "nodes per second and zone that get a NoExecute taint in a healthy zone",
        values: &[(OLDEST, Value::Number(0.1))],
        source: "cmd/kube-controller-manager/app/options/nodelifecyclecontroller.go (v1.34)",
        flag: "kube-controller-manager.node-eviction-rate",
    },
    Row {
        name: "secondary-node-eviction-rate",
        says: "nodes per second that get a NoExecute taint in a large zone that is partly disrupted",
        values: &[(OLDEST, Value::Number(0.01))],
        source: "cmd/kube-controller-manager/app/options/nodelifecyclecontroller.go (v1.34)",
        flag: "kube-controller-manager.secondary-node-eviction-rate",
    },
    Row {
        name: "large-cluster-size-threshold",
        says: "a zone of more nodes than this is large",
        values: &[(OLDEST, Value::Number(50.0))],
        source: "cmd/kube-controller-manager/app/options/nodelifecyclecontroller.go (v1.34)",
        flag: "kube-controller-manager.large-cluster-size-threshold",
    },
    Row {
        name: "unhealthy-zone-threshold",
        says: "the share of unready nodes from which a zone is partly disrupted",
        values: &[(OLDEST, Value::Number(0.55))],
        source: "cmd/kube-controller-manager/app/options/nodelifecyclecontroller.go (v1.34)",
        flag: "kube-controller-manager.unhealthy-zone-threshold",
    },
    Row {
        name: "kube-api-qps",
        says: "requests per second that each controller's client may send",
        values: &[(OLDEST, Value::Number(20.0))],
        source: "cmd/kube-controller-manager/app/options/options.go (v1.34), ClientConnection.QPS",
        flag: "kube-controller-manager.kube-api-qps",
    },
    Row {
        name: "kube-api-burst",
        says: "requests that each controller's client may send at once after a quiet time",
        values: &[(OLDEST, Value::Number(30.0))],
        source: "cmd/kube-controller-manager/app/options/options.go (v1.34), ClientConnection.Burst",
        flag: "kube-controller-manager.kube-api-burst",
    },
    Row {
        name: "no-execute-from-current-condition",
        says: "the NoExecute decision reads the condition that the same pass has just written, not the one before it",
        values: &[(OLDEST, Value::Bool(false)), (Release::new(34, 0), Value::Bool(true))],
        source: "pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34; PR 120816)",
        flag: "",
    },
];

#[cfg(test)]
mod tests {
    use super::ROWS;

    #[test]
    fn each_row_has_a_source_and_values_in_order() {
        for row in ROWS {
            assert!(!row.source.is_empty() && !row.says.is_empty(), "{}", row.name);
            assert!(row.values.windows(2).all(|pair| pair[0].0 < pair[1].0), "{}", row.name);
            assert_eq!(ROWS.iter().filter(|other| other.name == row.name).count(), 1, "{}", row.name);
        }
    }
}
