@core @req:TOP-01
Feature: A kubelet takes the resources of a container from NUMA nodes that fit together
  Source: pkg/kubelet/cm/topologymanager/policy.go, scope_container.go and scope_pod.go (v1.34); pkg/kubelet/cm/cpumanager/policy_static.go, GetTopologyHints; pkg/kubelet/cm/memorymanager/policy_static.go; pkg/kubelet/cm/devicemanager/topology_hints.go

  Rule: What a container asks for is compared with single NUMA nodes and all sets of them

    Scenario Outline: <policy>: <what> is refused
      Given a machine "worker-1" with:
        | numa          | [{"id":0,"cpus":4,"memory":"8Gi"},{"id":1,"cpus":4,"memory":"8Gi"}]                                                                              |
        | devicePlugins | [{"resource":"example.com/gpu","devices":[{"id":"g0","numa":0},{"id":"g1","numa":0}]},{"resource":"example.com/nic","devices":[{"id":"n0","numa":1}]}] |
      And whose kubelet runs with:
        | cpuManagerPolicy      | static      |
        | kubeReserved          | {"cpu":"1"} |
        | topologyManagerPolicy | <policy>    |
      And Node "worker-1" has condition Ready=True
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: picky}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause, resources: {limits: <limits>}}]
        """
      Then Event TopologyAffinityError about Pod "picky", message "Resources cannot be allocated with Topology locality", within 1s
      And Pod "picky" field status.phase is "Failed" within 1s
      And Pod "picky" field status.reason is "TopologyAffinityError" within 1s
      And Pod "picky" field status.message is "Pod was rejected: Resources cannot be allocated with Topology locality" within 1s
      And Pod "picky" keeps field status.containerStatuses absent for 60s

      Examples:
        | policy           | what                                     | limits                                                     |
        | single-numa-node | more CPUs than one NUMA node has         | {cpu: 5, memory: 1Gi}                                      |
        | single-numa-node | devices of two NUMA nodes                | {memory: 1Gi, example.com/gpu: 1, example.com/nic: 1}      |
        | restricted       | devices of two NUMA nodes                | {memory: 1Gi, example.com/gpu: 1, example.com/nic: 1}      |
        | single-numa-node | a device where there are not enough CPUs | {cpu: 4, memory: 1Gi, example.com/gpu: 1}                  |
        | restricted       | a device where there are not enough CPUs | {cpu: 4, memory: 1Gi, example.com/gpu: 1}                  |
        | restricted       | one device and CPUs of two NUMA nodes    | {cpu: 5, memory: 1Gi, example.com/nic: 1}                  |
        | restricted       | more devices than there are              | {cpu: 1, memory: 1Gi, example.com/gpu: 3}                  |
        | single-numa-node | more CPUs than there are                 | {cpu: 8, memory: 1Gi}                                      |

    Scenario Outline: <policy>: <what> runs
      Given a machine "worker-1" with:
        | numa          | [{"id":0,"cpus":4,"memory":"8Gi"},{"id":1,"cpus":4,"memory":"8Gi"}]                                                                              |
        | devicePlugins | [{"resource":"example.com/gpu","devices":[{"id":"g0","numa":0},{"id":"g1","numa":0}]},{"resource":"example.com/nic","devices":[{"id":"n0","numa":1}]},{"resource":"example.com/any","devices":[{"id":"a0"}]}] |
      And whose kubelet runs with:
        | cpuManagerPolicy      | static      |
        | kubeReserved          | {"cpu":"1"} |
        | topologyManagerPolicy | <policy>    |
      And Node "worker-1" has condition Ready=True
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: easy}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause, resources: <resources>}]
        """
      Then Pod "easy" has condition Ready=True within 2s
      And no Event TopologyAffinityError about Pod "easy" for 2s

      Examples:
        | policy           | what                                            | resources                                                               |
        | none             | devices of two NUMA nodes                       | {limits: {memory: 1Gi, example.com/gpu: 1, example.com/nic: 1}}         |
        | none             | a device where there are not enough CPUs        | {limits: {cpu: 4, memory: 1Gi, example.com/gpu: 1}}                     |
        | best-effort      | devices of two NUMA nodes                       | {limits: {memory: 1Gi, example.com/gpu: 1, example.com/nic: 1}}         |
        | best-effort      | a device where there are not enough CPUs        | {limits: {cpu: 4, memory: 1Gi, example.com/gpu: 1}}                     |
        | restricted       | more CPUs than one NUMA node has                | {limits: {cpu: 5, memory: 1Gi}}                                         |
        | restricted       | all CPUs of the other NUMA node, and its device | {limits: {cpu: 4, memory: 1Gi, example.com/nic: 1}}                     |
        | single-numa-node | all CPUs of one NUMA node                       | {limits: {cpu: 4, memory: 1Gi}}                                         |
        | single-numa-node | CPUs and devices of one NUMA node               | {limits: {cpu: 3, memory: 1Gi, example.com/gpu: 2}}                     |
        | single-numa-node | a device that is near to nothing                | {limits: {cpu: 4, memory: 1Gi, example.com/any: 1}}                     |
        | single-numa-node | a part of a CPU, which is for nobody alone      | {limits: {cpu: 5500m, memory: 1Gi}}                                     |
        | single-numa-node | CPUs that are requested without limits          | {requests: {cpu: 5, memory: 1Gi}}                                       |

  Rule: What one pod has, another cannot have, until it has ended

    Scenario Outline: <policy>: a second pod of 4 CPUs
      Given a machine "worker-1" with:
        | numa | [{"id":0,"cpus":4,"memory":"8Gi"},{"id":1,"cpus":4,"memory":"8Gi"}] |
      And whose kubelet runs with:
        | cpuManagerPolicy      | static      |
        | kubeReserved          | {"cpu":"1"} |
        | topologyManagerPolicy | <policy>    |
      And Node "worker-1" has condition Ready=True
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: first}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause, resources: {limits: {cpu: 4, memory: 1Gi}}}]
        """
      And Pod "first" has condition Ready=True
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: second}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause, resources: {limits: {cpu: 4, memory: 1Gi}}}]
        """
      Then Pod "second" field status.reason is "<reason>" within 1s
      And Pod "second" field status.message is "Pod was rejected: <message>" within 1s
      When the user deletes Pod "first"
      And Pod "first" is gone
      And the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: third}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause, resources: {limits: {cpu: 4, memory: 1Gi}}}]
        """
      Then Pod "third" has condition Ready=True within 2s

      Examples:
        | policy           | reason                   | message                                                                                                                          |
        | none             | UnexpectedAdmissionError | Allocate failed due to not enough cpus available to satisfy request: requested=4, available=3, which is unexpected                |
        | best-effort      | UnexpectedAdmissionError | Allocate failed due to not enough cpus available to satisfy request: requested=1, available=0, which is unexpected                |
        | restricted       | TopologyAffinityError    | Resources cannot be allocated with Topology locality                                                                             |
        | single-numa-node | TopologyAffinityError    | Resources cannot be allocated with Topology locality                                                                             |

    Scenario: A preferred place that is taken makes the next best one not preferred
      Given a machine "worker-1" with:
        | numa | [{"id":0,"cpus":4,"memory":"8Gi"},{"id":1,"cpus":4,"memory":"8Gi"}] |
      And whose kubelet runs with:
        | cpuManagerPolicy      | static      |
        | kubeReserved          | {"cpu":"1"} |
        | topologyManagerPolicy | restricted  |
      And Node "worker-1" has condition Ready=True
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: first}
        spec:
          nodeName: worker-1
          containers:
          - {name: one, image: pause, resources: {limits: {cpu: 2, memory: 1Gi}}}
          - {name: two, image: pause, resources: {limits: {cpu: 2, memory: 1Gi}}}
        """
      And Pod "first" has condition Ready=True
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: second}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause, resources: {limits: {cpu: 3, memory: 1Gi}}}]
        """
      Then Pod "second" field status.reason is "TopologyAffinityError" within 1s
      And the history of Pod "second" matches its snapshot

    Scenario: A restarted kubelet gives each container what it had
      Given a machine "worker-1" with:
        | numa | [{"id":0,"cpus":4,"memory":"8Gi"},{"id":1,"cpus":4,"memory":"8Gi"}] |
      And whose kubelet runs with:
        | cpuManagerPolicy      | static           |
        | kubeReserved          | {"cpu":"1"}      |
        | topologyManagerPolicy | single-numa-node |
      And Node "worker-1" has condition Ready=True
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: first}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause, resources: {limits: {cpu: 3, memory: 1Gi}}}]
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: second}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause, resources: {limits: {cpu: 4, memory: 1Gi}}}]
        """
      And Pod "first" has condition Ready=True
      And Pod "second" has condition Ready=True
      When the kubelet on "worker-1" restarts
      Then Event Starting about Node "worker-1" within 1s
      And Pod "first" keeps condition Ready=True for 60s
      And Pod "second" keeps condition Ready=True for 60s

  Rule: The scope says whether each container is placed for itself, or the pod as a whole

    Scenario Outline: Two containers of 3 CPUs each, scope <scope>, policy <policy>
      Given a machine "worker-1" with:
        | numa | [{"id":0,"cpus":4,"memory":"8Gi"},{"id":1,"cpus":4,"memory":"8Gi"}] |
      And whose kubelet runs with:
        | cpuManagerPolicy      | static      |
        | kubeReserved          | {"cpu":"1"} |
        | topologyManagerPolicy | <policy>    |
        | topologyManagerScope  | <scope>     |
      And Node "worker-1" has condition Ready=True
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: pair}
        spec:
          nodeName: worker-1
          containers:
          - {name: one, image: pause, resources: {limits: {cpu: 3, memory: 1Gi}}}
          - {name: two, image: pause, resources: {limits: {cpu: 3, memory: 1Gi}}}
        """
      Then Pod "pair" field status.phase is "<phase>" within 2s
      And Pod "pair" field status.reason is <reason> within 2s

      Examples:
        | scope     | policy           | phase   | reason                  |
        | container | single-numa-node | Running | absent                  |
        | pod       | single-numa-node | Failed  | "TopologyAffinityError" |
        | pod       | restricted       | Running | absent                  |
        | pod       | best-effort      | Running | absent                  |

    Scenario: The scope of a pod keeps its containers together
      Given a machine "worker-1" with:
        | numa          | [{"id":0,"cpus":4,"memory":"8Gi"},{"id":1,"cpus":4,"memory":"8Gi"}]                                                        |
        | devicePlugins | [{"resource":"example.com/gpu","devices":[{"id":"g0","numa":0}]},{"resource":"example.com/nic","devices":[{"id":"n0","numa":1}]}] |
      And whose kubelet runs with:
        | topologyManagerPolicy | single-numa-node |
        | topologyManagerScope  | pod              |
      And Node "worker-1" has condition Ready=True
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: pair}
        spec:
          nodeName: worker-1
          containers:
          - {name: one, image: pause, resources: {limits: {example.com/gpu: 1}}}
          - {name: two, image: pause, resources: {limits: {example.com/nic: 1}}}
        """
      Then Pod "pair" field status.reason is "TopologyAffinityError" within 1s

  Rule: Memory for a container alone comes from one NUMA node or from a group of them that serves nobody else

    Scenario Outline: <policy>: <memory> of memory
      Given a machine "worker-1" with:
        | numa | [{"id":0,"cpus":4,"memory":"8Gi"},{"id":1,"cpus":4,"memory":"8Gi"}] |
      And whose kubelet runs with:
        | memoryManagerPolicy   | Static                                            |
        | kubeReserved          | {"memory":"924Mi"}                                |
        | reservedMemory        | [{"numaNode":0,"limits":{"memory":"1Gi"}}]        |
        | topologyManagerPolicy | <policy>                                          |
      And Node "worker-1" has condition Ready=True
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: large}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause, resources: {limits: {cpu: 1, memory: <memory>}}}]
        """
      Then Pod "large" field status.phase is "<phase>" within 2s
      And Pod "large" field status.reason is <reason> within 2s

      Examples:
        | policy           | memory | phase   | reason                     |
        | single-numa-node | 8Gi    | Running | absent                     |
        | single-numa-node | 9Gi    | Failed  | "TopologyAffinityError"    |
        | restricted       | 9Gi    | Running | absent                     |
        | restricted       | 15Gi   | Running | absent                     |
        | restricted       | 16Gi   | Failed  | "UnexpectedAdmissionError" |
        | none             | 9Gi    | Running | absent                     |
        | none             | 16Gi   | Failed  | "UnexpectedAdmissionError" |

    Scenario Outline: After 8Gi of one NUMA node, <memory> more: <what>
      Given a machine "worker-1" with:
        | numa | [{"id":0,"cpus":4,"memory":"8Gi"},{"id":1,"cpus":4,"memory":"8Gi"}] |
      And whose kubelet runs with:
        | memoryManagerPolicy   | Static                                     |
        | kubeReserved          | {"memory":"924Mi"}                         |
        | reservedMemory        | [{"numaNode":0,"limits":{"memory":"1Gi"}}] |
        | topologyManagerPolicy | <policy>                                   |
      And Node "worker-1" has condition Ready=True
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: first}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause, resources: {limits: {cpu: 1, memory: 8Gi}}}]
        """
      And Pod "first" has condition Ready=True
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: second}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause, resources: {limits: {cpu: 1, memory: <memory>}}}]
        """
      Then Pod "second" field status.phase is "<phase>" within 2s
      And Pod "second" field status.message is <message> within 2s

      Examples:
        | what                      | policy      | memory | phase   | message |
        | it fits on the other      | restricted  | 7Gi    | Running | absent  |
        | no set of them is free    | none        | 8Gi    | Failed  | "Pod was rejected: Allocate failed due to [memorymanager] failed to get the default NUMA affinity, no NUMA nodes with enough memory is available, which is unexpected" |
        | nothing to extend it with | best-effort | 8Gi    | Failed  | "Pod was rejected: Allocate failed due to [memorymanager] failed to find NUMA nodes to extend the current topology hint, which is unexpected" |

  Rule: Devices are given one by one, healthy ones alone

    Scenario Outline: <what>
      Given a machine "worker-1" with:
        | devicePlugins | [{"resource":"example.com/gpu","devices":<devices>}] |
      And Node "worker-1" has condition Ready=True
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: one}
        spec:
          nodeName: worker-1
          containers:
          - {name: main, image: pause, resources: {limits: {example.com/gpu: <first>}}}
          - {name: side, image: pause, resources: {limits: {example.com/gpu: <second>}}}
        """
      Then Pod "one" field status.reason is "UnexpectedAdmissionError" within 1s
      And Pod "one" field status.message is "Pod was rejected: Allocate failed due to <message>, which is unexpected" within 1s

      Examples:
        | what                                | devices                                        | first | second | message                                                                                         |
        | More devices than there are         | [{"id":"a"},{"id":"b"}]                        | 3     | 0      | requested number of devices unavailable for example.com/gpu. Requested: 3, Available: 2         |
        | One device for two containers       | [{"id":"a"}]                                   | 1     | 1      | requested number of devices unavailable for example.com/gpu. Requested: 1, Available: 0         |
        | A device that is not healthy        | [{"id":"a"},{"id":"b","healthy":false}]        | 2     | 0      | requested number of devices unavailable for example.com/gpu. Requested: 2, Available: 1         |
        | No device that is healthy           | [{"id":"a","healthy":false}]                   | 1     | 0      | no healthy devices present; cannot allocate unhealthy devices example.com/gpu                   |
