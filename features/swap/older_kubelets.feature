@core
Feature: What older kubelets do with swap space
  Source: pkg/kubelet/cm/container_manager_linux.go (v1.21, v1.30), NewContainerManager
  Source: pkg/kubelet/kuberuntime/kuberuntime_container_linux.go (v1.22, v1.28, v1.30), configureContainerSwapResources
  Source: pkg/features/kube_features.go (v1.22, v1.28, v1.30), NodeSwap

  @req:SW-01
  Rule: Before 1.22 a kubelet does not start on a machine with swap space unless it is told to ignore it

    Scenario Outline: A kubelet of 1.21 with <setting> <value>
      Given a machine "worker-1" with:
        | swap    | 8Gi   |
        | powered | false |
      And whose kubelet runs with:
        | version   | 1.21    |
        | <setting> | <value> |
      When machine "worker-1" gets power
      Then the kubelet refuses to start with "failed to run Kubelet: running with swap on is not supported, please disable swap! or set --fail-swap-on flag to false. /proc/swaps contained: [Filename"
      And Node "worker-1" never appears for 1m

      Examples:
        | setting      | value |
        | maxPods      | 110   |
        | failSwapOn   | true  |
        | fail-swap-on | true  |

    Scenario Outline: Told to ignore it by <setting> it starts, and says nothing to its Pods' containers
      Given no other Node
      And a machine "worker-1" with:
        | swap | 8Gi |
      And whose kubelet runs with:
        | version   | 1.21  |
        | <setting> | false |
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
            - {name: free, image: "registry.k8s.io/pause:3.10"}
            - name: limited
              image: "registry.k8s.io/pause:3.10"
              resources: {limits: {memory: 1Gi}}
        """
      Then machine "worker-1" field containers[web/free].limits["memory.swap.max"] is "max" within 5s
      And machine "worker-1" field containers[web/limited].limits["memory.swap.max"] is 0 within 5s

      Examples:
        | setting      |
        | failSwapOn   |
        | fail-swap-on |

  @req:SW-02
  Rule: The refusal has other words up to 1.30

    Scenario Outline: A kubelet of <version>
      Given a machine "worker-1" with:
        | swap    | 8Gi   |
        | powered | false |
      And whose kubelet runs with:
        | version | <version> |
      When machine "worker-1" gets power
      Then the kubelet refuses to start with "<words>"
      And Node "worker-1" never appears for 1m

      Examples:
        | version | words |
        | 1.22    | please disable swap! or set --fail-swap-on flag to false. /proc/swaps contained: |
        | 1.30    | please disable swap! or set --fail-swap-on flag to false. /proc/swaps contained: |
        | 1.31    | running with swap on is not supported, please disable swap or set --fail-swap-on flag to false |

  @req:SW-03
  Rule: The gate NodeSwap came with 1.22, and is on since 1.30

    Scenario Outline: A kubelet of <version>, and the gate at its default, refuses a behaviour
      When a kubelet named "worker-1" registers with:
        | version                 | <version>   |
        | memorySwap.swapBehavior | LimitedSwap |
      Then the kubelet refuses to start with "invalid configuration: <field> cannot be set when NodeSwap feature flag is disabled"
      And Node "worker-1" never appears for 1m

      Examples:
        | version | field                   |
        | 1.22    | MemorySwap.SwapBehavior |
        | 1.23    | MemorySwap.SwapBehavior |
        | 1.24    | memorySwap.swapBehavior |
        | 1.27    | memorySwap.swapBehavior |
        | 1.28    | memorySwap.swapBehavior |
        | 1.29    | memorySwap.swapBehavior |

    Scenario: A kubelet of 1.21 does not know the gate
      When a kubelet named "worker-1" registers with:
        | version      | 1.21               |
        | featureGates | {"NodeSwap": true} |
      Then the kubelet refuses to start with "unrecognized feature gate: NodeSwap"
      And Node "worker-1" never appears for 1m

  @req:SW-04
  Rule: Which behaviours there are depends on the release

    Scenario Outline: A kubelet of <version> refuses <behaviour>
      When a kubelet named "worker-1" registers with:
        | version                 | <version>          |
        | memorySwap.swapBehavior | <behaviour>        |
        | featureGates            | {"NodeSwap": true} |
      Then the kubelet refuses to start with "<words>"
      And Node "worker-1" never appears for 1m

      Examples:
        | version | behaviour     | words |
        | 1.23    | NoSwap        | invalid configuration: MemorySwap.SwapBehavior NoSwap must be one of: LimitedSwap, UnlimitedSwap |
        | 1.24    | NoSwap        | invalid configuration: memorySwap.swapBehavior "NoSwap" must be one of: "", "LimitedSwap", or "UnlimitedSwap" |
        | 1.28    | NoSwap        | invalid configuration: memorySwap.swapBehavior "NoSwap" must be one of: "", "LimitedSwap", or "UnlimitedSwap" |
        | 1.30    | UnlimitedSwap | invalid configuration: memorySwap.swapBehavior "UnlimitedSwap" must be one of: "", "LimitedSwap" or "NoSwap" |

  @req:SW-05 @req:SW-06
  Rule: What a container gets depends on release, cgroup version and behaviour

    Scenario Outline: A kubelet of <version>, swapBehavior <behaviour>: <limit> where there is a memory limit, <free> where there is none
      The Pod is Burstable: its first container asks for 1Gi of 16Gi and may use 2Gi, the second asks for 1Gi alone.

      Given no other Node
      And a machine "worker-1" with:
        | memory | 16Gi |
        | swap   | 8Gi  |
      And whose kubelet runs with:
        | version                 | <version>          |
        | failSwapOn              | false              |
        | featureGates            | {"NodeSwap": true} |
        | memorySwap.swapBehavior | "<behaviour>"      |
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
              resources: {requests: {memory: 1Gi}}
        """
      Then machine "worker-1" field containers[web/limited].limits["memory.swap.max"] is <limit> within 5s
      And machine "worker-1" field containers[web/free].limits["memory.swap.max"] is <free> within 5s

      Examples:
        | version | behaviour     | limit     | free      |
        | 1.22    |               | 0         | "max"     |
        | 1.24    | LimitedSwap   | 0         | "max"     |
        | 1.24    | UnlimitedSwap | "max"     | "max"     |
        | 1.28    |               | "max"     | "max"     |
        | 1.28    | LimitedSwap   | 536870912 | 536870912 |
        | 1.29    | UnlimitedSwap | "max"     | "max"     |
        | 1.30    |               | 0         | 0         |
        | 1.30    | LimitedSwap   | 536870912 | 536870912 |

    Scenario Outline: With the gate off, a kubelet of <version> gives <limit> where there is a memory limit, <free> where there is none
      Given no other Node
      And a machine "worker-1" with:
        | swap | 8Gi |
      And whose kubelet runs with:
        | version      | <version>           |
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
            - {name: free, image: "registry.k8s.io/pause:3.10"}
            - name: limited
              image: "registry.k8s.io/pause:3.10"
              resources: {limits: {memory: 1Gi}}
        """
      Then machine "worker-1" field containers[web/limited].limits["memory.swap.max"] is <limit> within 5s
      And machine "worker-1" field containers[web/free].limits["memory.swap.max"] is <free> within 5s

      Examples:
        | version | limit | free  |
        | 1.27    | 0     | "max" |
        | 1.28    | 0     | 0     |
        | 1.29    | 0     | 0     |
        | 1.31    | 0     | 0     |

    Scenario: On cgroup v1 a kubelet of 1.30 does not start with LimitedSwap
      Given a machine "worker-1" with:
        | swap          | 8Gi   |
        | cgroupVersion | 1     |
        | powered       | false |
      And whose kubelet runs with:
        | version                 | 1.30        |
        | failSwapOn              | false       |
        | memorySwap.swapBehavior | LimitedSwap |
      When machine "worker-1" gets power
      Then the kubelet refuses to start with "failed to run Kubelet: swap feature is enabled and LimitedSwap but it is only supported with cgroupv2"
      And Node "worker-1" never appears for 1m

    Scenario Outline: On cgroup v1 a kubelet of <version> with <behaviour> allows <both> of memory and swap together
      Given no other Node
      And a machine "worker-1" with:
        | swap          | 8Gi |
        | cgroupVersion | 1   |
      And whose kubelet runs with:
        | version                 | <version>          |
        | failSwapOn              | false              |
        | featureGates            | {"NodeSwap": true} |
        | memorySwap.swapBehavior | <behaviour>        |
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
      Then machine "worker-1" field containers[web/main].limits["memory.memsw.limit_in_bytes"] is <both> within 5s

      Examples:
        | version | behaviour     | both                |
        | 1.24    | LimitedSwap   | 2147483648          |
        | 1.24    | UnlimitedSwap | 9223372036854771712 |
        | 1.28    | LimitedSwap   | 2147483648          |
        | 1.29    | UnlimitedSwap | 2147483648          |

    Scenario Outline: Up to 1.30 critical Pods swap, too: a kubelet of <version>
      Given no other Node
      And a machine "worker-1" with:
        | memory | 16Gi |
        | swap   | 8Gi  |
      And whose kubelet runs with:
        | version                 | <version>   |
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
          priorityClassName: system-node-critical
          containers:
            - name: main
              image: "registry.k8s.io/pause:3.10"
              resources: {requests: {memory: 1Gi}}
        """
      Then machine "worker-1" field containers[web/main].limits["memory.swap.max"] is <bytes> within 5s

      Examples:
        | version | bytes     |
        | 1.30    | 536870912 |
        | 1.31    | 0         |
