//! Tests of the sentences for any cluster, on clusters where they do not hold: the line fails and names the Nodes.

use super::world::{Named, World};

pub(crate) const TRIALS: &[Named] = &[
    ("observe::a_broken_node_is_named", broken_nodes),
    ("observe::a_silent_node_is_named", silent_node),
    ("observe::a_scenario_that_writes_is_no_look", writes),
];

/// An action on a cluster of two Nodes, a sentence about each Node, and the expected answer.
const BREAKAGES: &[(&str, &str, &str)] = &[
    (
        "the user sends PATCH /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/worker-2:\n      \
        \"\"\"yaml\n      spec: {holderIdentity: worker-1}\n      \"\"\"",
        "has a Lease of its own at once",
        "1 of 2 Nodes: worker-2: its Lease is held by \"worker-1\"",
    ),
    (
        "the user sends PATCH /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/worker-1:\n      \
        \"\"\"yaml\n      metadata: {ownerReferences: null}\n      \"\"\"",
        "has a Lease of its own at once",
        "1 of 2 Nodes: worker-1: its Lease is not owned by it",
    ),
    (
        "the user taints Node \"worker-1\" with \"node.kubernetes.io/unreachable:NoExecute\"",
        "has the taints of its conditions at once",
        "1 of 2 Nodes: worker-1: taint node.kubernetes.io/unreachable:NoExecute without its reason",
    ),
    (
        "the user sends PATCH /api/v1/nodes/worker-2/status:\n      \"\"\"yaml\n      status: {allocatable: {memory: \
        1Ei}}\n      \"\"\"",
        "has allocatable within its capacity at once",
        "1 of 2 Nodes: worker-2: allocatable memory \"1Ei\" of ",
    ),
    (
        "the user sends PATCH /api/v1/nodes/worker-1:\n      \"\"\"yaml\n      metadata: {labels: {kubernetes.io/os: \
        plan9, kubernetes.io/arch: null}}\n      \"\"\"",
        "has the labels of its machine at once",
        "worker-1: label kubernetes.io/os=plan9, but its kubelet reports \"linux\", no label kubernetes.io/arch",
    ),
    (
        "the user sends PATCH /api/v1/nodes/worker-2/status:\n      \"\"\"yaml\n      status: {nodeInfo: \
        {kubeletVersion: v1.29.7}}\n      \"\"\"",
        "has a kubelet within the version skew at once",
        "1 of 2 Nodes: worker-2: its kubelet v1.29.7 is more than 3 releases behind the API server 1.34.4",
    ),
];

fn broken_nodes() -> Result<(), String> {
    let world = World::new();
    for (at, (breakage, says, _)) in BREAKAGES.iter().enumerate() {
        let given = "    Given ready Nodes \"worker-1\" and \"worker-2\"\n    And no other Node";
        let text = format!(
            "Feature: f\n  Scenario: s\n{given}\n    When {breakage}\n    Then each Node of the cluster {says}\n"
        );
        world.write(&format!("features/broken/b{at}.feature"), text);
    }
    let mut answer = world.call(&["run"]).ends(1)?;
    for (.., seen) in BREAKAGES {
        answer = answer.says(seen)?;
    }
    Ok(())
}

fn silent_node() -> Result<(), String> {
    let world = World::new();
    let text = "Feature: f\n  Scenario: s\n    Given ready Nodes \"worker-1\" and \"worker-2\"\n    And no other \
        Node\n    When the kubelet on \"worker-2\" is killed\n    Then the Lease of each Node of the cluster is \
        renewed on time for 60s\n";
    world.write("features/broken/silent.feature", text);
    world.call(&["run"]).ends(1)?.says("1 of 2 Nodes: worker-2: its Lease was ")?;
    // If the controller does not notice, the other line fails.
    let text = "Feature: f\n  Scenario: s\n    Given ready Nodes \"worker-1\" and \"worker-2\"\n    And no other \
        Node\n    When node-lifecycle-controller stops\n    And the kubelet on \"worker-2\" is killed\n    Then each \
        Node of the cluster keeps being heard from, or is Unknown for 2m\n";
    world.write("features/broken/silent.feature", text);
    world.call(&["run"]).ends(1)?.says("1 of 2 Nodes: worker-2: no heartbeat for 60s, and Ready=True")?;
    Ok(())
}

fn writes() -> Result<(), String> {
    let world = World::new();
    let text = "@read-only\nFeature: f\n  Scenario: s\n    Given the cluster as it is\n    When the user cordons Node \
        \"x\"\n    Then each Node of the cluster has its addresses at once\n";
    world.write("features/a/b.feature", text);
    world.call(&["lint"]).ends(2).or_else(|_| world.call(&["lint"]).ends(1))?;
    Ok(())
}
