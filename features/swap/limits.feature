@core
Feature: How much of the swap space each container may use
  Source: pkg/kubelet/kuberuntime/kuberuntime_container_linux.go (v1.34), GetContainerSwapBehavior and calcSwapForBurstablePods
  Source: KEP-2400, "Node memory swap support"

  @req:SW-05
  Rule: With LimitedSwap a Burstable Pod's containers get their share: request / memory × swap

    Scenario Outline: <request> of <memory> are <bytes> bytes of <swap>
      Given no other Node
      And a machine "worker-1" with:
        | memory | <memory> |
        | swap   | <swap>   |
      And whose kubelet runs with:
        | failSwapOn              | false       |
        | memorySwap.swapBehavior | LimitedSwap |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers:
            - name: main
              image: "registry.k8s.io/pause:3.10"
              resources: {requests: {memory: <request>}, limits: {memory: 8Gi}}
        """
      Then machine "worker-1" field containers[web/main].limits["memory.swap.max"] is <bytes> within 5s
      And machine "worker-1" field containers[web/main].limits["memory.max"] is 8589934592 within 5s

      Examples:
        | memory     | swap      | request | bytes      |
        | 16374444Ki | 8388604Ki | 4Gi     | 2200305539 |
        | 16Gi       | 8Gi       | 4Gi     | 2147483648 |
        | 16Gi       | 8Gi       | 300Mi   | 157286400  |
        | 16Gi       | 8Gi       | 1       | 0          |
        | 16Gi       | 32Gi      | 1       | 2          |
        | 16Gi       | 1Gi       | 6Gi     | 402653184  |

    Scenario: Containers of one Pod: one with a share, one whose request is its limit, one that says nothing
      Given no other Node
      And a machine "worker-1" with:
        | memory | 16374444Ki |
        | swap   | 8388604Ki  |
      And whose kubelet runs with:
        | failSwapOn              | false       |
        | memorySwap.swapBehavior | LimitedSwap |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers:
            - name: share
              image: "registry.k8s.io/pause:3.10"
              resources: {requests: {memory: 4Gi, cpu: 500m}, limits: {memory: 8Gi, cpu: "1"}}
            - name: equal
              image: "registry.k8s.io/pause:3.10"
              resources: {requests: {memory: 1Gi}, limits: {memory: 1Gi}}
            - name: silent
              image: "registry.k8s.io/pause:3.10"
            - name: limit-alone
              image: "registry.k8s.io/pause:3.10"
              resources: {limits: {memory: 1Gi}}
            - name: no-limit
              image: "registry.k8s.io/pause:3.10"
              resources: {requests: {memory: 1Gi}}
        """
      Then machine "worker-1" field containers[web/share].limits is {"cpu.weight":20,"cpu.max":"100000 100000","memory.max":8589934592,"memory.swap.max":2200305539} within 5s
      And machine "worker-1" field containers[web/equal].limits["memory.swap.max"] is 0 within 5s
      And machine "worker-1" field containers[web/silent].limits is {"cpu.weight":1,"cpu.max":"max 100000","memory.max":"max","memory.swap.max":0} within 5s
      And machine "worker-1" field containers[web/limit-alone].limits["memory.swap.max"] is 0 within 5s
      And machine "worker-1" field containers[web/no-limit].limits["memory.swap.max"] is 550076384 within 5s
      And machine "worker-1" field containers[web/no-limit].limits["memory.max"] is "max" within 5s

    Scenario Outline: A Pod that is <what> may not swap
      Given no other Node
      And a machine "worker-1" with:
        | memory | 16Gi |
        | swap   | 8Gi  |
      And whose kubelet runs with:
        | failSwapOn              | false       |
        | memorySwap.swapBehavior | LimitedSwap |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          priorityClassName: "<class>"
          containers:
            - name: main
              image: "registry.k8s.io/pause:3.10"
              resources: <resources>
        """
      Then machine "worker-1" field containers[web/main].limits["memory.swap.max"] is 0 within 5s

      Examples:
        | what                        | class                   | resources |
        | Guaranteed                  |                         | {requests: {memory: 1Gi, cpu: "1"}, limits: {memory: 1Gi, cpu: "1"}} |
        | BestEffort                  |                         | {} |
        | Burstable by its CPU alone  |                         | {requests: {cpu: "1"}} |
        | critical for the cluster    | system-cluster-critical | {requests: {memory: 1Gi}} |
        | critical for the node       | system-node-critical    | {requests: {memory: 1Gi}} |

    Scenario: A Pod just below the critical priorities may swap
      Given no other Node
      And a machine "worker-1" with:
        | memory | 16Gi |
        | swap   | 8Gi  |
      And whose kubelet runs with:
        | failSwapOn              | false       |
        | memorySwap.swapBehavior | LimitedSwap |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      When the user creates:
        """
        apiVersion: scheduling.k8s.io/v1
        kind: PriorityClass
        metadata: {name: high}
        value: 1000000000
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          priorityClassName: high
          containers:
            - name: main
              image: "registry.k8s.io/pause:3.10"
              resources: {requests: {memory: 1Gi}}
        """
      Then machine "worker-1" field containers[web/main].limits["memory.swap.max"] is 536870912 within 5s

  @req:SW-04
  Rule: Without LimitedSwap no Pod may swap

    Scenario Outline: swapBehavior is <how>
      Given no other Node
      And a machine "worker-1" with:
        | memory | 16Gi |
        | swap   | 8Gi  |
      And whose kubelet runs with:
        | failSwapOn | false   |
        | <name>     | <value> |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers:
            - name: main
              image: "registry.k8s.io/pause:3.10"
              resources: {requests: {memory: 1Gi}}
        """
      Then machine "worker-1" field containers[web/main].limits["memory.swap.max"] is 0 within 5s

      Examples:
        | how    | name                    | value  |
        | NoSwap | memorySwap.swapBehavior | NoSwap |
        | not set | maxPods                | 110    |

    Scenario Outline: A kubelet refuses swapBehavior <value>
      When a kubelet named "worker-1" registers with:
        | memorySwap.swapBehavior | <value> |
      Then the kubelet refuses to start with "invalid configuration: memorySwap.swapBehavior "<value>" must be one of: "", "LimitedSwap" or "NoSwap""
      And Node "worker-1" never appears for 1m

      Examples:
        | value         |
        | UnlimitedSwap |
        | Limited       |
        | noswap        |

  @req:SW-03
  Rule: The gate NodeSwap is on by default, and locked since 1.34

    @until:1.33
    Scenario: Without the gate no container swaps, with a memory limit or without
      Given no other Node
      And a machine "worker-1" with:
        | memory | 16Gi |
        | swap   | 8Gi  |
      And whose kubelet runs with:
        | failSwapOn   | false               |
        | featureGates | {"NodeSwap": false} |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers:
            - name: limited
              image: "registry.k8s.io/pause:3.10"
              resources: {requests: {memory: 1Gi}, limits: {memory: 2Gi}}
            - name: free
              image: "registry.k8s.io/pause:3.10"
        """
      Then machine "worker-1" field containers[web/limited].limits["memory.swap.max"] is 0 within 5s
      And machine "worker-1" field containers[web/free].limits["memory.swap.max"] is 0 within 5s

    @until:1.33
    Scenario Outline: Without the gate swapBehavior <value> cannot be set
      When a kubelet named "worker-1" registers with:
        | memorySwap.swapBehavior | <value>             |
        | featureGates            | {"NodeSwap": false} |
      Then the kubelet refuses to start with "invalid configuration: memorySwap.swapBehavior cannot be set when NodeSwap feature flag is disabled"
      And Node "worker-1" never appears for 1m

      Examples:
        | value       |
        | LimitedSwap |
        | NoSwap      |

    @since:1.34
    Scenario: Since 1.34 the gate cannot be off
      When a kubelet named "worker-1" registers with:
        | featureGates | {"NodeSwap": false} |
      Then the kubelet refuses to start with "cannot set feature gate NodeSwap to false, feature is locked to true"
      And Node "worker-1" never appears for 1m

  @req:SW-05
  Rule: On cgroup v1 nobody gets swap space

    Scenario: LimitedSwap needs cgroup v2
      Given a machine "worker-1" with:
        | swap          | 8Gi   |
        | cgroupVersion | 1     |
        | powered       | false |
      And whose kubelet runs with:
        | failSwapOn              | false       |
        | failCgroupV1            | false       |
        | memorySwap.swapBehavior | LimitedSwap |
      When machine "worker-1" gets power
      Then the kubelet refuses to start with "failed to run Kubelet: swap feature is enabled and LimitedSwap but it is only supported with cgroupv2"
      And Node "worker-1" never appears for 1m

    Scenario: The limit of memory and swap together is that of the memory
      Given no other Node
      And a machine "worker-1" with:
        | swap          | 8Gi |
        | cgroupVersion | 1   |
      And whose kubelet runs with:
        | failSwapOn   | false |
        | failCgroupV1 | false |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers:
            - name: limited
              image: "registry.k8s.io/pause:3.10"
              resources: {requests: {memory: 1Gi}, limits: {memory: 2Gi}}
            - name: free
              image: "registry.k8s.io/pause:3.10"
        """
      Then machine "worker-1" field containers[web/limited].limits["memory.memsw.limit_in_bytes"] is 2147483648 within 5s
      And machine "worker-1" field containers[web/limited].limits["cpu.shares"] is 2 within 5s
      And machine "worker-1" field containers[web/free].limits["memory.memsw.limit_in_bytes"] is 9223372036854771712 within 5s

    Scenario: Without the kernel's swap controller nothing is limited
      Given no other Node
      And a machine "worker-1" with:
        | swap           | 8Gi   |
        | swapController | false |
      And whose kubelet runs with:
        | failSwapOn              | false       |
        | memorySwap.swapBehavior | LimitedSwap |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers:
            - name: main
              image: "registry.k8s.io/pause:3.10"
              resources: {requests: {memory: 1Gi}, limits: {memory: 2Gi}}
        """
      Then machine "worker-1" field containers[web/main].limits is {"cpu.weight":1,"cpu.max":"max 100000","memory.max":2147483648} within 5s

  @req:SW-07
  Rule: What is no Pod swaps as ever

    Scenario Outline: With swapBehavior <behaviour> the services of the system have no limit
      Given no other Node
      And a machine "worker-1" with:
        | memory | 16Gi |
        | swap   | 8Gi  |
      And whose kubelet runs with:
        | failSwapOn              | false       |
        | memorySwap.swapBehavior | <behaviour> |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      Then machine "worker-1" field containers[web/main].limits["memory.swap.max"] is 0 within 5s
      And machine "worker-1" keeps field cgroups["system.slice"]["memory.swap.max"] "max" for 1m

      Examples:
        | behaviour   |
        | NoSwap      |
        | LimitedSwap |
