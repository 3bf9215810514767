@core @req:NC-03
Feature: A node that stops reporting becomes unreachable
  Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34), tryUpdateNodeHealth
  Source: the grace period was 40 s up to 1.31 and is 50 s since 1.32, pkg/controller/nodelifecycle/config/v1alpha1/defaults.go
  Source: up to 1.33 a pass decides about NoExecute by the condition before it, PR 120816

  Rule: Without heartbeats for the grace period, the conditions that the kubelet owns become Unknown

    @since:1.34
    Scenario: The kubelet is killed
      Given a ready Node "worker-1"
      When the kubelet on "worker-1" is killed
      Then Node "worker-1" keeps condition Ready=True for the grace period less 11s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", message "Kubelet stopped posting node status.", between the grace period less 11s and the grace period and 6s
      And Node "worker-1" has condition MemoryPressure=Unknown, reason "NodeStatusUnknown", between the grace period less 11s and the grace period and 6s
      And Node "worker-1" has condition DiskPressure=Unknown, reason "NodeStatusUnknown", between the grace period less 11s and the grace period and 6s
      And Node "worker-1" has condition PIDPressure=Unknown, reason "NodeStatusUnknown", between the grace period less 11s and the grace period and 6s
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoSchedule" between the grace period less 11s and the grace period and 7s
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute" between the grace period less 11s and the grace period and 7s
      And 1 Event NodeNotReady about Node "worker-1", message "Node worker-1 status is now: NodeNotReady", within 120s
      But Node "worker-1" keeps field status.conditions[Ready].lastHeartbeatTime unchanged for 120s
      And nothing else about Node "worker-1" changes
      And the history of Node "worker-1" matches its snapshot

    @until:1.33
    Scenario: The kubelet is killed, up to 1.33
      Given a ready Node "worker-1"
      When the kubelet on "worker-1" is killed
      Then Node "worker-1" keeps condition Ready=True for the grace period less 11s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", message "Kubelet stopped posting node status.", between the grace period less 11s and the grace period and 6s
      And Node "worker-1" has condition MemoryPressure=Unknown, reason "NodeStatusUnknown", between the grace period less 11s and the grace period and 6s
      And Node "worker-1" has condition DiskPressure=Unknown, reason "NodeStatusUnknown", between the grace period less 11s and the grace period and 6s
      And Node "worker-1" has condition PIDPressure=Unknown, reason "NodeStatusUnknown", between the grace period less 11s and the grace period and 6s
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoSchedule" between the grace period less 11s and the grace period and 7s
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute" between the grace period less 6s and the grace period and 12s
      And 1 Event NodeNotReady about Node "worker-1", message "Node worker-1 status is now: NodeNotReady", within 120s
      But Node "worker-1" keeps field status.conditions[Ready].lastHeartbeatTime unchanged for 120s
      And nothing else about Node "worker-1" changes
      And the history of Node "worker-1" matches its snapshot

    Scenario Outline: Silence of any kind counts: <silence>
      Given a ready Node "worker-1"
      When <silence>
      Then Node "worker-1" keeps condition Ready=True for the grace period less 11s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between the grace period less 11s and the grace period and 6s
      But Node "bystander" keeps condition Ready=True for 120s
      And no Event NodeNotReady about Node "bystander" for 120s

      Examples:
        | silence                                                   |
        | the kubelet on "worker-1" stops                           |
        | the kubelet on "worker-1" freezes                         |
        | machine "worker-1" loses power                            |
        | machine "worker-1" shuts down                             |
        | machine "worker-1" freezes                                |
        | machine "worker-1" loses its connection to the API server |
        | machine "worker-1" loses its network                      |

    Scenario: A node that was not ready becomes Unknown too, without another Event
      Given a hand-fed Node "worker-1"
      And Node "worker-1" posts condition Ready=False
      When Node "worker-1" falls silent
      Then Node "worker-1" keeps condition Ready=False for 29s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between 29s and 61s
      But no Event NodeNotReady about Node "worker-1" for 120s

  Rule: The grace period is the controller manager's flag

    Scenario: A shorter grace period
      Given kube-controller-manager runs with:
        | node-monitor-grace-period | 20s |
      And a ready Node "worker-1"
      When the kubelet on "worker-1" is killed
      Then Node "worker-1" keeps condition Ready=True for 9s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between 9s and 26s

    Scenario: A longer grace period
      Given kube-controller-manager runs with:
        | node-monitor-grace-period | 3m |
      And a ready Node "worker-1"
      When the kubelet on "worker-1" is killed
      Then Node "worker-1" keeps condition Ready=True for 169s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between 169s and 186s

  Rule: The grace period starts anew with each heartbeat

    Scenario: An outage that is shorter than the grace period leaves no trace
      Given a ready Node "worker-1"
      When machine "worker-1" loses its connection to the API server
      Then the Lease of Node "worker-1" keeps field spec.renewTime unchanged for 25s
      And Node "worker-1" keeps condition Ready=True for 25s
      When machine "worker-1" regains its connection to the API server
      Then the Lease of Node "worker-1" is renewed within 15s
      And Node "worker-1" keeps condition Ready=True for 120s
      And Node "worker-1" never has taint "node.kubernetes.io/unreachable:NoSchedule" for 120s
      And Node "worker-1" never has taint "node.kubernetes.io/unreachable:NoExecute" for 120s
      And no Event NodeNotReady about Node "worker-1" for 120s

    Scenario: Nor does one of the whole network of the machine
      Given a ready Node "worker-1"
      When machine "worker-1" loses its network
      Then the Lease of Node "worker-1" keeps field spec.renewTime unchanged for 25s
      And Node "worker-1" keeps condition Ready=True for 25s
      When machine "worker-1" regains its network
      Then the Lease of Node "worker-1" is renewed within 15s
      And Node "worker-1" keeps condition Ready=True for 120s
      And the Lease of Node "worker-1" keeps field spec.holderIdentity "worker-1" for 120s
      And Node "worker-1" never has taint "node.kubernetes.io/unreachable:NoSchedule" for 120s
      And no Event NodeNotReady about Node "worker-1" for 120s

  Rule: The controller measures with its own clock, whatever time the kubelet writes

    Scenario: The clock of the machine is an hour slow
      Given a machine "worker-1" with:
        | clockSkew | -1h |
      And Node "worker-1" has condition Ready=True
      When 30s pass
      Then Node "worker-1" keeps condition Ready=True for 5m
      And Node "worker-1" never has taint "node.kubernetes.io/unreachable:NoSchedule" for 5m

    Scenario: The condition of a network plugin or of a cloud stays as it was
      Given a ready Node "worker-1"
      And the user sends strategic PATCH /api/v1/nodes/worker-1/status:
        """yaml
        status:
          conditions:
          - {type: NetworkUnavailable, status: "False", reason: RouteCreated, message: RouteController created a route}
        """
      When the kubelet on "worker-1" is killed
      Then Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", within 56s
      But Node "worker-1" keeps condition NetworkUnavailable=False for 1h

  Rule: While the node stays silent, nothing more is written

    Scenario: An hour of silence
      Given a ready Node "worker-1"
      And the kubelet on "worker-1" is killed
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      When 10s pass
      Then Node "worker-1" keeps condition Ready unchanged for 1h
      And Node "worker-1" keeps field spec.taints unchanged for 1h
      And no Event NodeNotReady about Node "worker-1" for 1h
      And nothing else about Node "worker-1" changes

  Rule: A Node that never had a status is given the startup grace period

    Scenario: A Node that is made by hand
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Node
        metadata: {name: by-hand}
        """
      Then Event RegisteredNode about Node "by-hand", message "Node by-hand event: Registered Node by-hand in Controller", within 6s
      And Node "by-hand" never has condition Ready=Unknown for 59s
      And Node "by-hand" has condition Ready=Unknown, reason "NodeStatusNeverUpdated", message "Kubelet never posted node status.", between 59s and 66s
      And Node "by-hand" has condition MemoryPressure=Unknown, reason "NodeStatusNeverUpdated", between 59s and 66s
      And Node "by-hand" has condition DiskPressure=Unknown, reason "NodeStatusNeverUpdated", between 59s and 66s
      And Node "by-hand" has condition PIDPressure=Unknown, reason "NodeStatusNeverUpdated", between 59s and 66s
      And Node "by-hand" has taint "node.kubernetes.io/unreachable:NoSchedule" between 59s and 67s
      And Node "by-hand" has taint "node.kubernetes.io/unreachable:NoExecute" between 59s and 72s
      But no Event NodeNotReady about Node "by-hand" for 180s

    Scenario: The startup grace period is the controller manager's flag
      Given kube-controller-manager runs with:
        | node-startup-grace-period | 20s |
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Node
        metadata: {name: by-hand}
        """
      Then Node "by-hand" never has condition Ready=Unknown for 19s
      And Node "by-hand" has condition Ready=Unknown, reason "NodeStatusNeverUpdated", between 19s and 26s

    Scenario: A condition that was never posted says so, beside those that stopped
      Given the objects:
        """yaml
        apiVersion: v1
        kind: Node
        metadata: {name: by-hand}
        """
      When the user sends strategic PATCH /api/v1/nodes/by-hand/status:
        """yaml
        status:
          conditions:
          - {type: Ready, status: "True", reason: KubeletReady}
          - {type: DiskPressure, status: "False"}
          - {type: Special, status: "True"}
        """
      Then Node "by-hand" keeps condition Ready=True for 39s
      And Node "by-hand" has condition Ready=Unknown, reason "NodeStatusUnknown", between 39s and 56s
      And Node "by-hand" has condition DiskPressure=Unknown, reason "NodeStatusUnknown", between 39s and 56s
      And Node "by-hand" has condition MemoryPressure=Unknown, reason "NodeStatusNeverUpdated", between 39s and 56s
      And Node "by-hand" has condition PIDPressure=Unknown, reason "NodeStatusNeverUpdated", between 39s and 56s
      But Node "by-hand" keeps condition Special=True for 120s
      And Node "by-hand" never has condition NetworkUnavailable=Unknown for 120s

    Scenario: A Node that is deleted is told about, and no more
      Given a hand-fed Node "worker-1"
      And Node "worker-1" falls silent
      When the user deletes Node "worker-1"
      Then Node "worker-1" is gone within 1s
      And 1 Event RemovingNode about Node "worker-1", message "Node worker-1 event: Removing Node worker-1 from Controller", within 120s
      And no Event NodeNotReady about Node "worker-1" for 120s
