@core @req:TNT-04
Feature: A node under pressure refuses pods, before its taint keeps them away and after
  Source: pkg/kubelet/eviction/eviction_manager.go (v1.34), Admit; pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34), doNoScheduleTaintingPass

  Rule: Memory pressure keeps only pods without requests away, any other pressure all but critical ones

    Scenario Outline: <condition>: a pod <which> is refused
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | evictionHard | {"memory.available":"1Gi","nodefs.available":"10%","pid.available":"1k"} |
      And machine "worker-1" does <verb> with:
        | free | 1 |
      And Node "worker-1" has condition <condition>=True
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: late}
        spec:
          nodeName: worker-1
          tolerations: <tolerations>
          containers: [{name: main, image: "registry.k8s.io/pause:3.10", resources: <resources>}]
        """
      Then Event Evicted about Pod "late", message "The node had condition: [<condition>]. ", within 1s
      And Pod "late" field status.phase is "Failed" within 1s
      And Pod "late" field status.reason is "Evicted" within 1s
      And Pod "late" field status.message is "Pod was rejected: The node had condition: [<condition>]. " within 1s
      And Pod "late" keeps field status.containerStatuses absent for 60s

      Examples:
        | condition      | which                               | verb        | tolerations                                                             | resources                    |
        | MemoryPressure | without requests                    | fill-memory | []                                                                      | {}                           |
        | MemoryPressure | that tolerates another condition    | fill-memory | [{key: node.kubernetes.io/disk-pressure, operator: Exists}]             | {}                           |
        | MemoryPressure | that tolerates it as another effect | fill-memory | [{key: node.kubernetes.io/memory-pressure, effect: NoExecute, operator: Exists}] | {}                  |
        | DiskPressure   | with requests                       | fill-disk   | []                                                                      | {requests: {memory: 1Mi}}    |
        | DiskPressure   | that tolerates all                  | fill-disk   | [{operator: Exists}]                                                    | {requests: {memory: 1Mi}}    |
        | PIDPressure    | with limits                         | use-pids    | []                                                                      | {limits: {memory: 1Mi, cpu: 1m}} |
        | PIDPressure    | that tolerates all                  | use-pids    | [{operator: Exists}]                                                    | {}                           |

    Scenario Outline: <condition>: a pod <which> runs
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | evictionHard | {"memory.available":"1Gi","nodefs.available":"10%","pid.available":"1k"} |
      And the objects:
        """yaml
        apiVersion: scheduling.k8s.io/v1
        kind: PriorityClass
        metadata: {name: usual}
        value: 1000000000
        """
      And machine "worker-1" does <verb> with:
        | free | <free> |
      And Node "worker-1" has condition <condition>=True
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: late}
        spec:
          nodeName: worker-1
          priorityClassName: <class>
          tolerations: <tolerations>
          containers: [{name: main, image: "registry.k8s.io/pause:3.10", resources: <resources>}]
        """
      Then Pod "late" has condition Ready=True within 2s
      And no Event Evicted about Pod "late", for 1s

      Examples:
        | condition      | which                    | verb        | free | class                | tolerations                                                                       | resources                        |
        | MemoryPressure | with a request           | fill-memory | 1    | usual                | []                                                                                | {requests: {cpu: 1m}}            |
        | MemoryPressure | with limits              | fill-memory | 1    | usual                | []                                                                                | {limits: {memory: 1Gi, cpu: 1}}  |
        | MemoryPressure | that tolerates it        | fill-memory | 1    | usual                | [{key: node.kubernetes.io/memory-pressure, operator: Exists, effect: NoSchedule}] | {}                               |
        | MemoryPressure | that tolerates all       | fill-memory | 1    | usual                | [{operator: Exists}]                                                              | {}                               |
        | MemoryPressure | that is critical         | fill-memory | 1    | system-node-critical | []                                                                                | {}                               |
        | DiskPressure   | that is critical         | fill-disk   | 5%   | system-node-critical | []                                                                                | {}                               |
        | PIDPressure    | that is critical         | use-pids    | 1    | system-node-critical | []                                                                                | {}                               |

    Scenario: Memory and disk at once refuse a pod with requests too, and the message lists both
      Given a ready Node "worker-1"
      And machine "worker-1" does fill-memory
      And machine "worker-1" does fill-disk
      And Node "worker-1" has condition MemoryPressure=True
      And Node "worker-1" has condition DiskPressure=True
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: late}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {memory: 1Mi}}}]
        """
      Then Pod "late" field status.message is "Pod was rejected: The node had condition: [MemoryPressure DiskPressure]. " or "Pod was rejected: The node had condition: [DiskPressure MemoryPressure]. " within 1s

    Scenario: Pressure is told before what else is wrong with a pod
      Given a ready Node "worker-1"
      And machine "worker-1" does fill-disk
      And Node "worker-1" has condition DiskPressure=True
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: late}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1k}}}]
        """
      Then Pod "late" field status.reason is "Evicted" within 1s

    Scenario: Once the transition period is over the node takes pods again
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | evictionPressureTransitionPeriod | 30s |
      And machine "worker-1" does fill-disk
      And Node "worker-1" has condition DiskPressure=True
      When machine "worker-1" does fill-disk with:
        | free | 50% |
      And Node "worker-1" has condition DiskPressure=False
      And the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: late}
        spec: {nodeName: worker-1, containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]}
        """
      Then Pod "late" has condition Ready=True within 2s
      And Node "worker-1" has no taint "node.kubernetes.io/disk-pressure:NoSchedule" at once

  Rule: Between the kubelet's own view, the condition and the taint lies a gap, in which a pod is bound and then refused

    Scenario: A pod is scheduled to a node whose kubelet knows already that its disk is full
      Given no other Node
      And a ready Node "worker-1"
      And whose kubelet runs with:
        | nodeStatusUpdateFrequency | 1m |
      And machine "worker-1" does fill-disk
      And 12s pass
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: racer}
        spec: {containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]}
        """
      Then Pod "racer" field spec.nodeName is "worker-1" within 1s
      And Event Scheduled about Pod "racer" within 1s
      And Pod "racer" field status.reason is "Evicted" within 2s
      And Pod "racer" field status.message is "Pod was rejected: The node had condition: [DiskPressure]. " within 2s
      And Node "worker-1" has taint "node.kubernetes.io/disk-pressure:NoSchedule" between 1s and 63s
      And Node "worker-1" has condition DiskPressure=True between 1s and 63s
      And the history of Pod "racer" matches its snapshot
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: later}
        spec: {containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]}
        """
      Then Event FailedScheduling about Pod "later" within 1s
      And Pod "later" keeps field spec.nodeName absent for 60s

    Scenario: The taint is slow: a pod is bound after the condition stands in the Node, and refused
      Given no other Node
      And a ready Node "worker-1"
      And PATCH requests to nodes from node-lifecycle-controller take 20s
      And machine "worker-1" does fill-disk
      And Node "worker-1" has condition DiskPressure=True
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: racer}
        spec: {containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]}
        """
      Then Pod "racer" field spec.nodeName is "worker-1" within 1s
      And Pod "racer" field status.reason is "Evicted" within 2s
      And Node "worker-1" has taint "node.kubernetes.io/disk-pressure:NoSchedule" between 15s and 25s

  Rule: Pods that run are not asked again, a restarted kubelet asks all

    Scenario: A pod without requests that runs already stays under memory pressure, if nothing makes it the one to go
      Given a ready Node "worker-1"
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: first
          annotations: {nodeproof.dev/main.uses.memory: 1Gi}
        spec: {nodeName: worker-1, containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]}
        """
      And a Pod "second" on Node "worker-1"
      And Pod "first" has condition Ready=True
      When machine "worker-1" does fill-memory with:
        | free | 99Mi |
      Then Event Evicted about Pod "first" within 11s
      And Pod "second" keeps condition Ready=True for 60s
      And no Event Evicted about Pod "second" for 60s
