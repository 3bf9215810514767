@core @req:NC-03
Feature: A node that stops reporting becomes unreachable
  Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34), tryUpdateNodeHealth
  Source: the grace period was 40 s up to 1.31 and is 50 s since 1.32, pkg/controller/nodelifecycle/config/v1alpha1/defaults.go

  Rule: Without heartbeats for the grace period, the conditions that the kubelet owns become Unknown

    @since:1.32
    Scenario: The kubelet is killed
      Given a ready Node "worker-1"
      When the kubelet on "worker-1" is killed
      Then Node "worker-1" keeps condition Ready=True for 39s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", message "Kubelet stopped posting node status.", between 39s and 56s
      And Node "worker-1" has condition MemoryPressure=Unknown, reason "NodeStatusUnknown", between 39s and 56s
      And Node "worker-1" has condition DiskPressure=Unknown, reason "NodeStatusUnknown", between 39s and 56s
      And Node "worker-1" has condition PIDPressure=Unknown, reason "NodeStatusUnknown", between 39s and 56s
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoSchedule" between 39s and 57s
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute" between 39s and 57s
      And 1 Event NodeNotReady about Node "worker-1", message "Node worker-1 status is now: NodeNotReady", within 120s
      But Node "worker-1" keeps condition NetworkUnavailable unchanged for 120s
      And Node "worker-1" keeps field status.conditions[Ready].lastHeartbeatTime unchanged for 120s
      And nothing else about Node "worker-1" changes
      And the history of Node "worker-1" matches its snapshot

    @until:1.31
    Scenario: The kubelet is killed, up to 1.31
      Given a ready Node "worker-1"
      When the kubelet on "worker-1" is killed
      Then Node "worker-1" keeps condition Ready=True for 29s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", message "Kubelet stopped posting node status.", between 29s and 46s
      And Node "worker-1" has condition MemoryPressure=Unknown, reason "NodeStatusUnknown", between 29s and 46s
      And Node "worker-1" has condition DiskPressure=Unknown, reason "NodeStatusUnknown", between 29s and 46s
      And Node "worker-1" has condition PIDPressure=Unknown, reason "NodeStatusUnknown", between 29s and 46s
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoSchedule" between 29s and 47s
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute" between 34s and 52s
      And 1 Event NodeNotReady about Node "worker-1", message "Node worker-1 status is now: NodeNotReady", within 120s
      But Node "worker-1" keeps condition NetworkUnavailable unchanged for 120s
      And Node "worker-1" keeps field status.conditions[Ready].lastHeartbeatTime unchanged for 120s
      And nothing else about Node "worker-1" changes
      And the history of Node "worker-1" matches its snapshot

    @since:1.32
    Scenario Outline: Silence of any kind counts: <silence>
      Given a ready Node "worker-1"
      When <silence>
      Then Node "worker-1" keeps condition Ready=True for 39s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between 39s and 56s
      But Node "bystander" keeps condition Ready=True for 120s
      And no Event NodeNotReady about Node "bystander" for 120s

      Examples:
        | silence                                                   |
        | the kubelet on "worker-1" stops                           |
        | machine "worker-1" loses power                            |
        | machine "worker-1" freezes                                |
        | machine "worker-1" loses its connection to the API server |

    @until:1.31
    Scenario Outline: Silence of any kind counts, up to 1.31: <silence>
      Given a ready Node "worker-1"
      When <silence>
      Then Node "worker-1" keeps condition Ready=True for 29s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between 29s and 46s
      But Node "bystander" keeps condition Ready=True for 120s
      And no Event NodeNotReady about Node "bystander" for 120s

      Examples:
        | silence                                                   |
        | the kubelet on "worker-1" stops                           |
        | machine "worker-1" loses power                            |
        | machine "worker-1" freezes                                |
        | machine "worker-1" loses its connection to the API server |

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
      Then Node "worker-1" keeps condition Ready=True for 25s
      When machine "worker-1" regains its connection to the API server
      Then Node "worker-1" keeps condition Ready=True for 120s
      And Node "worker-1" never has taint "node.kubernetes.io/unreachable:NoSchedule" for 120s
      And Node "worker-1" never has taint "node.kubernetes.io/unreachable:NoExecute" for 120s
      And no Event NodeNotReady about Node "worker-1" for 120s

  Rule: The controller measures with its own clock, whatever time the kubelet writes

    Scenario: The clock of the machine is an hour slow
      Given a machine "worker-1" with:
        | clockSkew | -1h |
      And Node "worker-1" has condition Ready=True
      When 30s pass
      Then Node "worker-1" keeps condition Ready=True for 5m
      And Node "worker-1" never has taint "node.kubernetes.io/unreachable:NoSchedule" for 5m

  Rule: While the node stays silent, nothing more is written

    Scenario: An hour of silence
      Given a ready Node "worker-1"
      And the kubelet on "worker-1" is killed
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      When 10s pass
      Then Node "worker-1" keeps condition Ready unchanged for 1h
      And Node "worker-1" keeps condition NetworkUnavailable unchanged for 1h
      And Node "worker-1" keeps field spec.taints unchanged for 1h
      And no Event NodeNotReady about Node "worker-1" for 1h
      And nothing else about Node "worker-1" changes
