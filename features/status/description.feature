@core
Feature: What the status of a Node says about its machine
  Source: pkg/kubelet/nodestatus/setters.go (v1.34), NodeAddress, MachineInfo, VersionInfo, GoRuntime
  Source: pkg/kubelet/cm/node_container_manager_linux.go (v1.34), GetNodeAllocatableReservation

  @req:STA-01
  Rule: Without a cloud a Node has one InternalIP and its Hostname, and no ExternalIP

    Scenario: The address of the machine
      Given a machine "worker-1" with:
        | what      | value                                        |
        | addresses | [{"type":"InternalIP","address":"10.1.2.3"}] |
      And Node "worker-1" has condition Ready=True
      When 1h passes
      Then Node "worker-1" keeps field status.addresses at [{"type":"InternalIP","address":"10.1.2.3"},{"type":"Hostname","address":"worker-1"}] for 1h

    Scenario: An address for the outside is not reported, though the machine has one
      A kubelet finds one address of its own; what leads to it from outside, a cloud knows.

      Given a machine "worker-1" with:
        | what      | value                                                                                        |
        | addresses | [{"type":"InternalIP","address":"10.1.2.3"},{"type":"ExternalIP","address":"203.0.113.9"}]   |
      And Node "worker-1" has condition Ready=True
      When 10m pass
      Then Node "worker-1" keeps field status.addresses at [{"type":"InternalIP","address":"10.1.2.3"},{"type":"Hostname","address":"worker-1"}] for 10m

    Scenario: Of several addresses the kubelet reports the first of IPv4
      Given a machine "worker-1" with:
        | what      | value                                                                                                                                |
        | addresses | [{"type":"InternalIP","address":"fd00::3"},{"type":"InternalIP","address":"10.1.2.3"},{"type":"InternalIP","address":"10.1.2.4"}] |
      And Node "worker-1" has condition Ready=True
      When 10m pass
      Then Node "worker-1" keeps field status.addresses at [{"type":"InternalIP","address":"10.1.2.3"},{"type":"Hostname","address":"worker-1"}] for 10m

    Scenario Outline: With --node-ip=<given> it is the first of that family
      Given a machine "worker-1" with:
        | what      | value                                                                                     |
        | addresses | [{"type":"InternalIP","address":"10.1.2.3"},{"type":"InternalIP","address":"fd00::3"}] |
      And whose kubelet runs with:
        | node-ip | <given> |
      And Node "worker-1" has condition Ready=True
      When 10m pass
      Then Node "worker-1" keeps field status.addresses at [{"type":"InternalIP","address":"<found>"},{"type":"Hostname","address":"worker-1"}] for 10m

      Examples:
        | given   | found    |
        | 0.0.0.0 | 10.1.2.3 |
        | ::      | fd00::3  |

    Scenario: One that somebody else adds for the outside goes at the next computation
      Given a machine "worker-1" with:
        | what      | value                                        |
        | addresses | [{"type":"InternalIP","address":"10.1.2.3"}] |
      And Node "worker-1" has condition Ready=True
      And 5m pass
      When the user sends strategic PATCH /api/v1/nodes/worker-1/status:
        """
        {"status": {"addresses": [{"type": "ExternalIP", "address": "203.0.113.9"}]}}
        """
      Then Node "worker-1" field status.addresses[ExternalIP].address is "203.0.113.9" at once
      And Node "worker-1" field status.addresses is [{"type":"InternalIP","address":"10.1.2.3"},{"type":"Hostname","address":"worker-1"}] within 11s

    Scenario: Nobody but the kubelet keeps them right
      Given a machine "worker-1" with:
        | what      | value                                        |
        | addresses | [{"type":"InternalIP","address":"10.1.2.3"}] |
      And Node "worker-1" has condition Ready=True
      And 5m pass
      When the user sends PATCH /api/v1/nodes/worker-1/status:
        """
        {"status": {"addresses": [{"type": "InternalIP", "address": "198.51.100.1"}]}}
        """
      Then Node "worker-1" field status.addresses[InternalIP].address is "198.51.100.1" at once
      And Node "worker-1" field status.addresses is [{"type":"InternalIP","address":"10.1.2.3"},{"type":"Hostname","address":"worker-1"}] within 11s

  @req:STA-01
  Rule: With an external cloud the kubelet gives the Hostname alone, and leaves what the cloud writes as it is

    Scenario: The cloud adds an internal address and one for the outside
      Given a machine "worker-1" with:
        | what      | value                                                                                        |
        | addresses | [{"type":"InternalIP","address":"10.1.2.3"},{"type":"ExternalIP","address":"203.0.113.9"}]   |
        | powered   | false                                                                                        |
      And whose kubelet runs with:
        | cloud-provider | external |
      When machine "worker-1" gets power
      Then Node "worker-1" field status.addresses is [{"type":"Hostname","address":"worker-1"}] within 1s
      And Node "worker-1" never has label "topology.kubernetes.io/zone" for 5m
      And Node "worker-1" has taint "node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule" within 1s
      When the user sends PATCH /api/v1/nodes/worker-1/status:
        """
        status:
          addresses:
            - {type: InternalIP, address: 10.1.2.3}
            - {type: ExternalIP, address: 203.0.113.9}
            - {type: Hostname, address: worker-1}
        """
      Then Node "worker-1" keeps field status.addresses at [{"type":"InternalIP","address":"10.1.2.3"},{"type":"ExternalIP","address":"203.0.113.9"},{"type":"Hostname","address":"worker-1"}] for 30m
      And Node "worker-1" keeps condition Ready=True for 30m
      When the kubelet on "worker-1" restarts
      Then Event Starting about Node "worker-1" within 1s
      And Node "worker-1" keeps field status.addresses at [{"type":"InternalIP","address":"10.1.2.3"},{"type":"ExternalIP","address":"203.0.113.9"},{"type":"Hostname","address":"worker-1"}] for 10m

    Scenario: With --node-ip the kubelet gives that address too, and says so to the cloud
      When a kubelet named "worker-1" registers with:
        | cloud-provider | external  |
        | node-ip        | 192.0.2.7 |
      Then Node "worker-1" field status.addresses is [{"type":"InternalIP","address":"192.0.2.7"},{"type":"Hostname","address":"worker-1"}] within 1s
      And Node "worker-1" field metadata.annotations["alpha.kubernetes.io/provided-node-ip"] is "192.0.2.7" within 1s

    Scenario: What it says to the cloud is put right with its next report
      Given a machine "worker-1"
      And whose kubelet runs with:
        | cloud-provider | external  |
        | node-ip        | 192.0.2.7 |
      And Node "worker-1" has condition Ready=True
      And 8m pass
      When the user sends PATCH /api/v1/nodes/worker-1:
        """
        {"metadata": {"annotations": {"alpha.kubernetes.io/provided-node-ip": "192.0.2.8"}}}
        """
      Then Node "worker-1" field metadata.annotations["alpha.kubernetes.io/provided-node-ip"] is "192.0.2.8" at once
      And Node "worker-1" field metadata.annotations["alpha.kubernetes.io/provided-node-ip"] is "192.0.2.7" within 8m

    Scenario: Without addresses the kubelet gives its Hostname again
      Given a machine "worker-1"
      And whose kubelet runs with:
        | cloud-provider | external |
      And Node "worker-1" has condition Ready=True
      And 5m pass
      When the user sends PATCH /api/v1/nodes/worker-1/status:
        """
        {"status": {"addresses": null}}
        """
      Then Node "worker-1" field status.addresses is absent at once
      And Node "worker-1" field status.addresses is [{"type":"Hostname","address":"worker-1"}] within 11s

  @req:STA-01
  Rule: The Hostname is the kubelet's own name, with a cloud and without one

    Scenario Outline: --hostname-override and cloud "<cloud>"
      When a kubelet named "machine-1" registers with:
        | hostname-override | worker-7 |
        | cloud-provider    | <cloud>  |
        | node-ip           | 10.1.2.3 |
      Then Node "worker-7" field status.addresses is [{"type":"InternalIP","address":"10.1.2.3"},{"type":"Hostname","address":"worker-7"}] within 1s

      Examples:
        | cloud    |
        | external |
        |          |

  @req:STA-07
  Rule: Allocatable is capacity less what is reserved and less the hard eviction thresholds

    Scenario: The defaults keep back memory and disk for eviction alone
      100Mi of memory, and ten percent of the disk as a single-precision number gives it.

      Given a machine "worker-1" with:
        | what              | value        |
        | cpu               | 8            |
        | memory            | 32779272Ki   |
        | ephemeral-storage | 100476656Ki  |
      And Node "worker-1" has condition Ready=True
      When 10m pass
      Then Node "worker-1" keeps field status.capacity.cpu at "8" for 10m
      And Node "worker-1" keeps field status.allocatable.cpu at "8" for 10m
      And Node "worker-1" keeps field status.capacity.memory at "32779272Ki" for 10m
      And Node "worker-1" keeps field status.allocatable.memory at "32676872Ki" for 10m
      And Node "worker-1" keeps field status.capacity.ephemeral-storage at "100476656Ki" for 10m
      And Node "worker-1" keeps field status.allocatable.ephemeral-storage at "92599286017" for 10m
      And Node "worker-1" keeps field status.capacity.pods at "110" for 10m
      And Node "worker-1" keeps field status.allocatable.pods at "110" for 10m

    Scenario: Reserved for Kubernetes and for the system, with huge pages
      Given a machine "worker-1" with:
        | what              | value        |
        | cpu               | 8            |
        | memory            | 32779272Ki   |
        | ephemeral-storage | 100476656Ki  |
        | hugepages-2Mi     | 1Gi          |
      And whose kubelet runs with:
        | field          | value                                                         |
        | kubeReserved   | {"cpu":"200m","memory":"1Gi","ephemeral-storage":"1Gi"}        |
        | systemReserved | {"cpu":"300m","memory":"512Mi","ephemeral-storage":"1Gi"}      |
      And Node "worker-1" has condition Ready=True
      When 10m pass
      Then Node "worker-1" keeps field status.allocatable.cpu at "7500m" for 10m
      And Node "worker-1" keeps field status.allocatable.memory at "30055432Ki" for 10m
      And Node "worker-1" keeps field status.allocatable.ephemeral-storage at "90451802369" for 10m
      And Node "worker-1" keeps field status.allocatable.hugepages-2Mi at "1Gi" for 10m
      And Node "worker-1" keeps field status.capacity.hugepages-2Mi at "1Gi" for 10m
      And Node "worker-1" keeps field status.capacity.cpu at "8" for 10m
      And Node "worker-1" keeps field status.capacity.memory at "32779272Ki" for 10m
      And Node "worker-1" matches its snapshot

    Scenario: The same by flags
      Given a machine "worker-1" with:
        | what   | value |
        | cpu    | 4     |
        | memory | 8Gi   |
      And whose kubelet runs with:
        | flag            | value                |
        | kube-reserved   | cpu=100m,memory=1Gi  |
        | system-reserved | cpu=150m,memory=1Gi  |
      And Node "worker-1" has condition Ready=True
      When 10m pass
      Then Node "worker-1" keeps field status.allocatable.cpu at "3750m" for 10m
      And Node "worker-1" keeps field status.allocatable.memory at "6044Mi" for 10m

    Scenario: A threshold of one's own takes the place of all defaults
      Given a machine "worker-1" with:
        | what              | value |
        | memory            | 8Gi   |
        | ephemeral-storage | 100Gi |
      And whose kubelet runs with:
        | field        | value                          |
        | evictionHard | {"memory.available":"1Gi"}     |
      And Node "worker-1" has condition Ready=True
      When 10m pass
      Then Node "worker-1" keeps field status.allocatable.memory at "7Gi" for 10m
      And Node "worker-1" keeps field status.allocatable.ephemeral-storage at "100Gi" for 10m

    Scenario: Soft thresholds and those of process numbers keep nothing back
      Given a machine "worker-1" with:
        | what   | value |
        | memory | 8Gi   |
      And whose kubelet runs with:
        | field                   | value                                                  |
        | evictionHard            | {"memory.available":"1Gi","pid.available":"10%"}       |
        | evictionSoft            | {"memory.available":"2Gi"}                             |
        | evictionSoftGracePeriod | {"memory.available":"1m"}                              |
      And Node "worker-1" has condition Ready=True
      When 10m pass
      Then Node "worker-1" keeps field status.allocatable.memory at "7Gi" for 10m

    Scenario: The number of pods follows maxPods, or podsPerCore where that is less
      Given a machine "worker-1" with:
        | what | value |
        | cpu  | 4     |
      And whose kubelet runs with:
        | field       | value |
        | maxPods     | 50    |
        | podsPerCore | 10    |
      And Node "worker-1" has condition Ready=True
      When 10m pass
      Then Node "worker-1" keeps field status.capacity.pods at "40" for 10m
      And Node "worker-1" keeps field status.allocatable.pods at "40" for 10m

    Scenario: What cannot be reserved is refused
      When a kubelet named "worker-1" registers with:
        | field        | value           |
        | kubeReserved | {"pods":"10"}   |
      Then the kubelet refuses to start with "--kube-reserved value failed to parse: cannot reserve "pods" resource"
      And Node "worker-1" never appears for 10m

    Scenario: More reserved than there is
      When a kubelet named "worker-1" registers with:
        | field        | value          |
        | kubeReserved | {"cpu":"100"}  |
      Then the kubelet refuses to start with "invalid Node Allocatable configuration. Resource "cpu" has a reservation of"
      And Node "worker-1" never appears for 10m

  @req:STA-08
  Rule: nodeInfo says which kernel, system, runtime and kubelet a node has

    Scenario: What the machine is
      Given a machine "worker-1" with:
        | what             | value                                |
        | osImage          | Example Linux 7                      |
        | kernelVersion    | 6.1.0-18-amd64                       |
        | containerRuntime | containerd://2.1.0                   |
        | machineId        | 0000000000000000000000000000000a     |
        | systemUuid       | 00000000-0000-0000-0000-00000000000a |
        | bootId           | 00000000-0000-0000-0000-00000000000c |
      And Node "worker-1" has condition Ready=True
      When 10m pass
      Then Node "worker-1" keeps field status.nodeInfo.osImage at "Example Linux 7" for 10m
      And Node "worker-1" keeps field status.nodeInfo.kernelVersion at "6.1.0-18-amd64" for 10m
      And Node "worker-1" keeps field status.nodeInfo.containerRuntimeVersion at "containerd://2.1.0" for 10m
      And Node "worker-1" keeps field status.nodeInfo.machineID at "0000000000000000000000000000000a" for 10m
      And Node "worker-1" keeps field status.nodeInfo.systemUUID at "00000000-0000-0000-0000-00000000000a" for 10m
      And Node "worker-1" keeps field status.nodeInfo.bootID at "00000000-0000-0000-0000-00000000000c" for 10m
      And Node "worker-1" keeps field status.nodeInfo.operatingSystem at "linux" for 10m
      And Node "worker-1" keeps field status.nodeInfo.architecture at "amd64" for 10m
      And no Event Rebooted about Node "worker-1" for 10m

    Scenario Outline: The version of the kubelet in Kubernetes <release>
      Given a cluster of Kubernetes <release>
      And a ready Node "worker-1"
      When 10m pass
      Then Node "worker-1" keeps field status.nodeInfo.kubeletVersion at "<kubelet>" for 10m
      And Node "worker-1" keeps field status.nodeInfo.kubeProxyVersion at "" for 10m

      Examples:
        | release | kubelet |
        | 1.31    | v1.31.0 |
        | 1.34    | v1.34.4 |
        | 1.36    | v1.36.3 |
        | 1.37    | v1.37.2 |

    @since:1.37
    Scenario Outline: Whether the kubelet runs in a user namespace, with the gate <gate>
      Given a machine "worker-1"
      And whose kubelet runs with:
        | featureGates | {"KubeletInUserNamespace": <gate>} |
      And Node "worker-1" has condition Ready=True
      When 10m pass
      Then Node "worker-1" keeps field status.nodeInfo.runningInUserNamespace <said> for 10m

      Examples:
        | gate  | said     |
        | true  | at false |
        | false | absent   |

    @until:1.36
    Scenario: An older kubelet does not say whether it runs in a user namespace
      Given a ready Node "worker-1"
      When 10m pass
      Then Node "worker-1" keeps field status.nodeInfo.runningInUserNamespace absent for 10m

    Scenario: In 1.31.1 the version of kube-proxy is still there
      Given a cluster of Kubernetes 1.31.1
      And a ready Node "worker-1"
      When 10m pass
      Then Node "worker-1" keeps field status.nodeInfo.kubeProxyVersion at "v1.31.1" for 10m

    Scenario: A runtime that is gone has no version
      Given a machine "worker-1" with:
        | what             | value              |
        | containerRuntime | containerd://2.1.0 |
      And Node "worker-1" has condition Ready=True
      And 5m pass
      When the container runtime on "worker-1" stops
      Then Node "worker-1" field status.nodeInfo.containerRuntimeVersion is "containerd://Unknown" within 11s

    Scenario: A reboot has another boot id, which the kubelet says once
      Given a ready Node "worker-1"
      And 5m pass
      When machine "worker-1" reboots
      Then Event Rebooted about Node "worker-1" within 60s
      And Node "worker-1" keeps field status.nodeInfo.machineID unchanged for 10m
      And Node "worker-1" keeps field metadata.uid unchanged for 10m

    Scenario: Nobody but the kubelet keeps it right
      Given a ready Node "worker-1"
      And 5m pass
      When the user sends PATCH /api/v1/nodes/worker-1/status:
        """
        {"status": {"nodeInfo": {"kernelVersion": "0.0.1"}}}
        """
      Then Node "worker-1" field status.nodeInfo.kernelVersion is "0.0.1" at once
      And Node "worker-1" field status.nodeInfo.kernelVersion is "6.12.0-1-amd64" within 11s

  @req:STA-08
  Rule: A kubelet that learns nothing of its machine says nothing of it, and is not ready

    Scenario: It knows of no CPU, no memory and no identity
      Given a machine "worker-1" with:
        | failing | ["machine-info"] |
        | powered | false            |
      When machine "worker-1" gets power
      Then Node "worker-1" field status.capacity.cpu is "0" within 1s
      And Node "worker-1" field status.nodeInfo.kubeletVersion is set within 1s
      And Node "worker-1" has condition Ready=False, message "missing node capacity for resources: ephemeral-storage", within 20s
      But Node "worker-1" keeps field status.nodeInfo.machineID "" for 1m
      And Node "worker-1" keeps field status.nodeInfo.bootID "" for 1m

  @req:STA-07
  Rule: A kubelet reads once what its machine is made of; only what device plugins tell, it hears later
    Source: pkg/kubelet/kubelet_getters.go (v1.34), GetCachedMachineInfo; pkg/kubelet/cm/container_manager_linux.go, Start

    Scenario: CPUs, memory, huge pages, disk and swap space of a machine that is changed are told when its kubelet starts again
      Given a machine "worker-1" with:
        | cpu               | 4     |
        | memory            | 8Gi   |
        | ephemeral-storage | 100Gi |
        | swap              | 1Gi   |
        | hugepages-2Mi     | 1Gi   |
      And whose kubelet runs with:
        | failSwapOn  | false |
        | podsPerCore | 10    |
      And Node "worker-1" has condition Ready=True
      When machine "worker-1" does change with:
        | capacity      | {"cpu":"8","memory":"16Gi","ephemeral-storage":"200Gi","hugepages-2Mi":"2Gi","example.com/gpu":"2"} |
        | swap          | 2Gi     |
        | kernelVersion | 6.12.99 |
      Then Node "worker-1" field status.capacity["example.com/gpu"] is "2" within 11s
      And Node "worker-1" field status.nodeInfo.kernelVersion is "6.12.99" within 11s
      But Node "worker-1" keeps field status.capacity.cpu at "4" for 10m
      And Node "worker-1" keeps field status.capacity.memory at "8Gi" for 10m
      And Node "worker-1" keeps field status.capacity.ephemeral-storage at "100Gi" for 10m
      And Node "worker-1" keeps field status.capacity.hugepages-2Mi at "1Gi" for 10m
      And Node "worker-1" keeps field status.capacity.pods at "40" for 10m
      And Node "worker-1" keeps field status.allocatable.memory at "7068Mi" for 10m
      When the kubelet on "worker-1" restarts
      Then Node "worker-1" field status.capacity.cpu is "8" within 11s
      And Node "worker-1" field status.capacity.memory is "16Gi" within 11s
      And Node "worker-1" field status.capacity.ephemeral-storage is "200Gi" within 11s
      And Node "worker-1" field status.capacity.hugepages-2Mi is "2Gi" within 11s
      And Node "worker-1" field status.capacity.pods is "80" within 11s

    Scenario: A Pod that would need the new CPUs is refused until then
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      And machine "worker-1" does change with:
        | capacity | {"cpu":"8"} |
      And 1m passes
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: large}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause, resources: {requests: {cpu: 3}}}]
        """
      Then Pod "large" field status.reason is "OutOfcpu" within 2s
      When the kubelet on "worker-1" restarts
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: next}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause, resources: {requests: {cpu: 3}}}]
        """
      Then Pod "next" field status.phase is "Running" within 20s
