@core
Feature: The conditions of a Node
  Source: pkg/kubelet/nodestatus/setters.go (v1.34); pkg/kubelet/kubelet_node_status.go (v1.37), nodeRefWithUID; pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34)

  @req:STA-02
  Rule: Ready is True when the node is healthy and accepts pods

    Scenario: A healthy node
      When a kubelet named "worker-1" registers
      Then Node "worker-1" has condition Ready=True, reason "KubeletReady", message "kubelet is posting ready status", within 15s
      And Node "worker-1" never has condition Ready=Unknown for 1h

    Scenario: The container network comes back
      Given a ready Node "worker-1"
      And 3m pass
      And the container network on "worker-1" is removed
      And Node "worker-1" has taint "node.kubernetes.io/not-ready:NoExecute"
      When the container network on "worker-1" is installed
      Then Node "worker-1" has condition Ready=True, reason "KubeletReady", message "kubelet is posting ready status", within 16s
      And Event NodeReady about Node "worker-1", message "Node worker-1 status is now: NodeReady", within 16s
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule" within 17s
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoExecute" within 22s

  @req:STA-02
  Rule: Ready is False when the kubelet says that the node is not healthy, and says why

    Scenario: The container network is taken away
      Asked each 5 s, computed each 10 to 10.4 s.

      Given a ready Node "worker-1"
      When the container network on "worker-1" is removed
      Then Node "worker-1" has condition Ready=False, reason "KubeletNotReady", message "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized", within 16s
      And Event NodeNotReady about Node "worker-1", message "Node worker-1 status is now: NodeNotReady", within 16s
      And Node "worker-1" has taint "node.kubernetes.io/not-ready:NoSchedule" within 17s
      And Node "worker-1" has taint "node.kubernetes.io/not-ready:NoExecute" within 33s
      And Node "worker-1" keeps condition MemoryPressure unchanged for 120s
      But Node "worker-1" never has condition Ready=Unknown for 120s
      And Node "worker-1" never has taint "node.kubernetes.io/unreachable:NoSchedule" for 120s

    Scenario Outline: <who> refers to the Node by <uid> as its UID
      Given a machine "worker-1"
      And whose kubelet runs with:
        | shutdownGracePeriod | 30s |
      And Node "worker-1" has condition Ready=True
      And 3m pass
      And the user watches /api/v1/events?fieldSelector=reason%3D<reason>
      When <action>
      Then the watch shows ADDED with involvedObject.uid <uid> within 31s
      And Event <reason> about Node "worker-1" within 31s

      @until:1.34
      Examples:
        | who                  | action                                         | reason       | uid        |
        | The kubelet          | the container network on "worker-1" is removed | NodeNotReady | "worker-1" |
        | Its shutdown manager | machine "worker-1" announces a shutdown        | Shutdown     | "worker-1" |

      @since:1.35
      Examples:
        | who                  | action                                         | reason       | uid        |
        | Its shutdown manager | machine "worker-1" announces a shutdown        | Shutdown     | absent     |

      @since:1.35 @until:1.36
      Examples:
        | who                  | action                                         | reason       | uid        |
        | The kubelet          | the container network on "worker-1" is removed | NodeNotReady | absent     |

      @since:1.37
      Examples:
        | who                  | action                                         | reason       | uid        |
        | The kubelet          | the container network on "worker-1" is removed | NodeNotReady | set        |

    Scenario: Several reasons stand in brackets
      Given a ready Node "worker-1"
      And the container network on "worker-1" is removed
      And Node "worker-1" has condition Ready=False
      When the container runtime on "worker-1" stops
      Then Node "worker-1" has condition Ready=False, message "[container runtime is down, container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized]", between 24s and 41s
      And Node "worker-1" keeps condition Ready=False for 120s

  @req:STA-02
  Rule: Ready is Unknown when nobody hears from the node for the grace period

    @since:1.32
    Scenario: Nobody hears from the node
      Given a ready Node "worker-1"
      When the kubelet on "worker-1" is killed
      Then Node "worker-1" keeps condition Ready=True for 39s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", message "Kubelet stopped posting node status.", between 39s and 56s
      And Event NodeNotReady about Node "worker-1", message "Node worker-1 status is now: NodeNotReady", within 56s

    @until:1.31
    Scenario: Nobody hears from the node, with 40 s of grace
      Given a ready Node "worker-1"
      When the kubelet on "worker-1" is killed
      Then Node "worker-1" keeps condition Ready=True for 29s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", message "Kubelet stopped posting node status.", between 29s and 46s
      And Event NodeNotReady about Node "worker-1", message "Node worker-1 status is now: NodeNotReady", within 46s

    Scenario: A node that was not ready falls silent
      Its controller says nothing more: it did not turn a node that was ready.

      Given a ready Node "worker-1"
      And the container network on "worker-1" is removed
      And Node "worker-1" has condition Ready=False
      And 1m passes
      When the kubelet on "worker-1" is killed
      Then Node "worker-1" keeps condition Ready=False for 29s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between 29s and 61s
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoSchedule" within 62s
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule" within 62s
      But no Event NodeNotReady about Node "worker-1" for 10m

    Scenario: A node that keeps its Lease is not unknown
      Given a ready Node "worker-1"
      When requests to nodes/status from "worker-1" are lost
      Then Node "worker-1" keeps condition Ready=True for 30m
      And Node "worker-1" never has taint "node.kubernetes.io/unreachable:NoSchedule" for 30m

    Scenario: The kubelet comes back
      Given a ready Node "worker-1"
      And the kubelet on "worker-1" is killed
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      And 1m passes
      When the kubelet on "worker-1" starts
      Then Node "worker-1" has condition Ready=True, reason "KubeletReady", message "kubelet is posting ready status", within 15s
      And Node "worker-1" has condition MemoryPressure=False, reason "KubeletHasSufficientMemory", message "kubelet has sufficient memory available", within 15s
      And Event NodeReady about Node "worker-1" within 15s
      And Node "worker-1" has no taint "node.kubernetes.io/unreachable:NoSchedule" within 16s
      And the history of Node "worker-1" matches its snapshot

  @req:STA-06
  Rule: A condition has type, status, reason, message and two times

    Scenario: The healthy node of the documentation
      Given a ready Node "worker-1"
      When 20m pass
      Then Node "worker-1" keeps field status.conditions[Ready].type at "Ready" for 20m
      And Node "worker-1" keeps field status.conditions[Ready].status at "True" for 20m
      And Node "worker-1" keeps field status.conditions[Ready].reason at "KubeletReady" for 20m
      And Node "worker-1" keeps field status.conditions[Ready].message at "kubelet is posting ready status" for 20m
      And Node "worker-1" keeps field status.conditions[Ready].lastHeartbeatTime set for 20m
      And Node "worker-1" keeps field status.conditions[Ready].lastTransitionTime set for 20m
      And Node "worker-1" keeps field status.conditions[MemoryPressure].status at "False" for 20m
      And Node "worker-1" keeps field status.conditions[MemoryPressure].reason at "KubeletHasSufficientMemory" for 20m
      And Node "worker-1" keeps field status.conditions[MemoryPressure].message at "kubelet has sufficient memory available" for 20m
      And Node "worker-1" keeps field status.conditions[DiskPressure].status at "False" for 20m
      And Node "worker-1" keeps field status.conditions[DiskPressure].reason at "KubeletHasNoDiskPressure" for 20m
      And Node "worker-1" keeps field status.conditions[DiskPressure].message at "kubelet has no disk pressure" for 20m
      And Node "worker-1" keeps field status.conditions[PIDPressure].status at "False" for 20m
      And Node "worker-1" keeps field status.conditions[PIDPressure].reason at "KubeletHasSufficientPID" for 20m
      And Node "worker-1" keeps field status.conditions[PIDPressure].message at "kubelet has sufficient PID available" for 20m
      And Node "worker-1" matches its snapshot

  @req:STA-06
  Rule: lastTransitionTime moves only when the status changes

    Scenario: Heartbeats come and go
      Given a machine "worker-1"
      And whose kubelet runs with:
        | nodeStatusUpdateFrequency | 10s |
      And 1m passes
      When 1s passes
      Then the status of Node "worker-1" is written every 10s to 10.5s for 10m
      And Node "worker-1" keeps field status.conditions[Ready].lastTransitionTime unchanged for 10m
      And Node "worker-1" keeps field status.conditions[MemoryPressure].lastTransitionTime unchanged for 10m
      And Node "worker-1" keeps field status.conditions[DiskPressure].lastTransitionTime unchanged for 10m
      And Node "worker-1" keeps field status.conditions[PIDPressure].lastTransitionTime unchanged for 10m

    Scenario: The message changes and the status does not
      Given a ready Node "worker-1"
      And the container network on "worker-1" is removed
      And Node "worker-1" has taint "node.kubernetes.io/not-ready:NoExecute"
      And 1m passes
      When the container runtime on "worker-1" stops
      Then Node "worker-1" keeps field status.conditions[Ready].lastTransitionTime unchanged for 120s
      And Node "worker-1" keeps condition Ready=False for 120s
      And the history of Node "worker-1" matches its snapshot

    Scenario: A kubelet that starts again moves none
      Given a ready Node "worker-1"
      When the kubelet on "worker-1" restarts
      Then Node "worker-1" keeps field status.conditions[Ready].lastTransitionTime unchanged for 10m
      And Event NodeAllocatableEnforced about Node "worker-1" within 5s
      And Node "worker-1" keeps field status.conditions[MemoryPressure].lastTransitionTime unchanged for 10m

    Scenario: The status changes: of one condition, the time moves in one
      Given a ready Node "worker-1"
      When the container network on "worker-1" is removed
      Then Node "worker-1" has condition Ready=False within 16s
      And Node "worker-1" keeps field status.conditions[MemoryPressure].lastTransitionTime unchanged for 120s
      And Node "worker-1" keeps field status.conditions[DiskPressure].lastTransitionTime unchanged for 120s
      And Node "worker-1" keeps field status.conditions[PIDPressure].lastTransitionTime unchanged for 120s
      And the history of Node "worker-1" matches its snapshot

    Scenario: The controller that marks a silent node leaves the heartbeats as they were
      Given a hand-fed Node "worker-1"
      And 1m passes
      When Node "worker-1" falls silent
      Then Node "worker-1" has condition Ready=Unknown between 29s and 61s
      And Node "worker-1" keeps field status.conditions[Ready].lastHeartbeatTime unchanged for 120s
      And Node "worker-1" keeps field status.conditions[MemoryPressure].lastHeartbeatTime unchanged for 120s
      And the history of Node "worker-1" matches its snapshot

    Scenario: A foreign reason on a pressure condition stays as long as the status is right
      Given a ready Node "worker-1"
      When the user sends strategic PATCH /api/v1/nodes/worker-1/status:
        """
        status: {conditions: [{type: MemoryPressure, reason: Mine, message: mine}]}
        """
      Then Node "worker-1" keeps condition MemoryPressure=False, reason "Mine" for 20m
      And Node "worker-1" keeps field status.conditions[MemoryPressure].lastTransitionTime unchanged for 20m

    Scenario: A foreign status on a condition of the kubelet is put right at its next computation
      Given a ready Node "worker-1"
      When the user sends strategic PATCH /api/v1/nodes/worker-1/status:
        """
        status: {conditions: [{type: MemoryPressure, status: "True", reason: Mine, message: mine}]}
        """
      Then Node "worker-1" has condition MemoryPressure=True at once
      And Node "worker-1" has taint "node.kubernetes.io/memory-pressure:NoSchedule" within 1s
      And Node "worker-1" has condition MemoryPressure=False, reason "KubeletHasSufficientMemory", message "kubelet has sufficient memory available", within 11s
      And Node "worker-1" has no taint "node.kubernetes.io/memory-pressure:NoSchedule" within 12s
      And Node "worker-1" keeps condition Ready unchanged for 1m

    Scenario: A condition that the kubelet does not know is left alone
      Given a ready Node "worker-1"
      When the user sends strategic PATCH /api/v1/nodes/worker-1/status:
        """
        status: {conditions: [{type: example.com/Broken, status: "True", reason: Mine, message: mine}]}
        """
      Then Node "worker-1" keeps condition example.com/Broken=True, reason "Mine" for 20m
      And Node "worker-1" keeps condition Ready=True for 20m
      And Node "worker-1" keeps field spec unchanged for 20m
