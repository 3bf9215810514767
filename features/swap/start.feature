@core
Feature: A kubelet starts on a machine with swap space only if it is told to
  Source: pkg/kubelet/cm/container_manager_linux.go (v1.31 and v1.34), NewContainerManager
  Source: pkg/kubelet/apis/config/v1beta1/defaults.go (v1.34), failSwapOn is true by default

  @req:SW-02
  Rule: With failSwapOn it refuses to start, and no Node appears

    Scenario Outline: <name> <value>
      Given a machine "worker-1" with:
        | swap    | 8Gi   |
        | powered | false |
      And whose kubelet runs with:
        | <name> | <value> |
      When machine "worker-1" gets power
      Then the kubelet refuses to start with "failed to run Kubelet: running with swap on is not supported, please disable swap or set --fail-swap-on flag to false"
      And Node "worker-1" never appears for 1m

      Examples:
        | name                    | value       |
        | maxPods                 | 110         |
        | failSwapOn              | true        |
        | fail-swap-on            | true        |
        | memorySwap.swapBehavior | NoSwap      |
        | memorySwap.swapBehavior | LimitedSwap |

    Scenario: The flag wins over the file
      Given a machine "worker-1" with:
        | swap    | 8Gi   |
        | powered | false |
      And whose kubelet runs with:
        | failSwapOn   | false |
        | fail-swap-on | true  |
      When machine "worker-1" gets power
      Then the kubelet refuses to start with "running with swap on is not supported, please disable swap or set --fail-swap-on flag to false"
      And Node "worker-1" never appears for 1m

    Scenario: A node that ran with swap space is told to fail on it
      Given a machine "worker-1" with:
        | swap | 8Gi |
      And whose kubelet runs with:
        | failSwapOn | false |
      And Node "worker-1" has condition Ready=True
      And 1m passes
      When the kubelet on "worker-1" restarts with:
        | failSwapOn | true |
      Then the kubelet refuses to start with "running with swap on is not supported, please disable swap or set --fail-swap-on flag to false"
      And Node "worker-1" keeps condition Ready=True for 29s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between 29s and 61s

    Scenario Outline: <name> "<value>" is neither true nor false
      When a kubelet named "worker-1" registers with:
        | <name> | <value> |
      Then the kubelet refuses to start with "<message>"
      And Node "worker-1" never appears for 1m

      Examples:
        | name         | value | message |
        | fail-swap-on | maybe | failed to parse kubelet flag: invalid argument "maybe" for "--fail-swap-on" flag: strconv.ParseBool: parsing "maybe": invalid syntax |
        | failSwapOn   | maybe | json: cannot unmarshal string into Go struct field KubeletConfiguration.failSwapOn of type bool |

  @req:SW-02
  Rule: Without failSwapOn it starts, and pods run as ever

    Scenario Outline: <name> <value>
      Given a machine "worker-1" with:
        | swap    | 8Gi   |
        | powered | false |
      And whose kubelet runs with:
        | <name> | <value> |
        | <more> | <other> |
      When machine "worker-1" gets power
      Then Node "worker-1" has condition Ready=True within 15s
      And Node "worker-1" field status.capacity.memory is "16Gi" within 15s
      And Node "worker-1" never has condition Ready=Unknown for 2m

      Examples:
        | name         | value | more                    | other       |
        | failSwapOn   | false | memorySwap.swapBehavior | NoSwap      |
        | fail-swap-on | false | failSwapOn              | true        |
        | fail-swap-on | false | maxPods                 | 110         |

    Scenario: A pod runs there
      Given a machine "worker-1" with:
        | swap | 8Gi |
      And whose kubelet runs with:
        | failSwapOn | false |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      Then Pod "web" field status.phase is "Running" within 10s
      And Node "worker-1" keeps condition Ready=True for 1m

  @req:SW-02
  Rule: Where there is no swap space failSwapOn says nothing

    Scenario Outline: failSwapOn <value>
      When a kubelet named "worker-1" registers with:
        | failSwapOn | <value> |
      Then Node "worker-1" has condition Ready=True within 15s
      And Node "worker-1" field status.nodeInfo.swap is absent within 15s

      Examples:
        | value |
        | true  |
        | false |

  @req:SW-02
  Rule: The Node says how much swap space there is since 1.33

    Scenario Outline: 8Gi of it
      Given a machine "worker-1" with:
        | swap    | 8Gi   |
        | powered | false |
      And whose kubelet runs with:
        | failSwapOn | false |
      When machine "worker-1" gets power
      Then Node "worker-1" field status.nodeInfo.swap is <swap> within 1s
      And Node "worker-1" has condition Ready=True within 15s

      @since:1.33
      Examples: since 1.33
        | swap                    |
        | {"capacity":8589934592} |

      @until:1.32
      Examples: up to 1.32
        | swap   |
        | absent |

    @since:1.33 @until:1.33
    Scenario: Without the gate NodeSwap the Node does not say it
      Given a machine "worker-1" with:
        | swap    | 8Gi   |
        | powered | false |
      And whose kubelet runs with:
        | failSwapOn   | false             |
        | featureGates | {"NodeSwap":false} |
      When machine "worker-1" gets power
      Then Node "worker-1" has condition Ready=True within 15s
      And Node "worker-1" field status.nodeInfo.swap is absent within 15s

    @since:1.33
    Scenario: What a Node said of swap space before stays
      Given a ready Node "worker-1"
      When the user sends PATCH /api/v1/nodes/worker-1/status:
        """
        {"status": {"nodeInfo": {"swap": {"capacity": 4294967296}}}}
        """
      Then Node "worker-1" keeps field status.nodeInfo.swap.capacity at 4294967296 for 1m
