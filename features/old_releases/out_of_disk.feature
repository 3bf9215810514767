@extended
Feature: OutOfDisk was a condition of Nodes until 1.12
  Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.12), tryUpdateNodeStatus
  Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.13), tryUpdateNodeHealth
  Source: kubernetes/kubernetes pull request 72507, which removed it from the kubelet

  @req:STA-05
  Rule: Until 1.12 the node controller keeps OutOfDisk among the conditions of a kubelet, and from 1.13 on it does not

    Scenario Outline: Of a Node that nobody has written a status for, OutOfDisk is unknown in <release>
      Given a cluster of Kubernetes <release>
      And no other Node
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Node
        metadata: {name: worker-1}
        """
      Then Node "worker-1" has condition OutOfDisk=Unknown, reason "NodeStatusNeverUpdated", message "Kubelet never posted node status." within 70s
      And Node "worker-1" has condition MemoryPressure=Unknown, reason "NodeStatusNeverUpdated", within 70s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusNeverUpdated", within 70s
      But Node "worker-1" never has condition PIDPressure=Unknown for 5m

      Examples:
        | release |
        | 1.11    |
        | 1.12    |

    Scenario Outline: In <release> there is no OutOfDisk
      Given a cluster of Kubernetes <release>
      And no other Node
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Node
        metadata: {name: worker-1}
        """
      Then Node "worker-1" never has condition OutOfDisk=Unknown for 5m
      But Node "worker-1" has condition MemoryPressure=Unknown, reason "NodeStatusNeverUpdated", within 70s
      And Node "worker-1" has condition PIDPressure=Unknown, reason "NodeStatusNeverUpdated", within 70s

      Examples:
        | release |
        | 1.13    |
        | 1.20    |
        | 1.34    |

    Scenario: When a kubelet falls silent in 1.12, its OutOfDisk becomes Unknown with the others
      Given a cluster of Kubernetes 1.12
      And no other Node
      And a hand-fed Node "worker-1"
      And which is fed with:
        | status | 10s |
      And Node "worker-1" posts condition OutOfDisk=False, reason "KubeletHasSufficientDisk", message "kubelet has sufficient disk space available"
      And 1m passes
      When Node "worker-1" falls silent
      Then Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between 30s and 1m
      And Node "worker-1" has condition OutOfDisk=Unknown, reason "NodeStatusUnknown", message "Kubelet stopped posting node status.", between 30s and 1m

    Scenario: From 1.13 on nobody touches what a kubelet may have left there
      Given a cluster of Kubernetes 1.13
      And no other Node
      And a hand-fed Node "worker-1"
      And which is fed with:
        | status | 10s |
      And Node "worker-1" posts condition OutOfDisk=False, reason "KubeletHasSufficientDisk", message "kubelet has sufficient disk space available"
      And 1m passes
      When Node "worker-1" falls silent
      Then Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between 30s and 1m
      But Node "worker-1" keeps condition OutOfDisk=False, reason "KubeletHasSufficientDisk", for 5m
