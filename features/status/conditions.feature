@core
Feature: The conditions of a Node
  Source: pkg/kubelet/nodestatus/setters.go (v1.34); pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34)

  @req:STA-02
  Rule: Ready is True when healthy, False when not healthy, Unknown when nobody hears from the node

    Scenario: A healthy node
      When a kubelet named "worker-1" registers
      Then Node "worker-1" has condition Ready=True, reason "KubeletReady", message "kubelet is posting ready status", within 15s

    Scenario: The container network is taken away
      Given a ready Node "worker-1"
      When the container network on "worker-1" is removed
      Then Node "worker-1" has condition Ready=False, reason "KubeletNotReady", within 16s
      And field status.conditions[Ready].message of Node "worker-1" is "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized" within 16s
      And Node "worker-1" has taint "node.kubernetes.io/not-ready:NoSchedule" within 17s
      And Node "worker-1" keeps condition MemoryPressure unchanged for 120s
      But Node "worker-1" never has taint "node.kubernetes.io/unreachable:NoSchedule" for 120s

    Scenario: The container network comes back
      Given a ready Node "worker-1"
      And the container network on "worker-1" is removed
      And Node "worker-1" has condition Ready=False
      When the container network on "worker-1" is installed
      Then Node "worker-1" has condition Ready=True, reason "KubeletReady", within 16s
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule" within 17s

    @since:1.32
    Scenario: Nobody hears from the node
      Given a ready Node "worker-1"
      When the kubelet on "worker-1" is killed
      Then Node "worker-1" keeps condition Ready=True for 39s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", message "Kubelet stopped posting node status.", between 39s and 56s

    @until:1.31
    Scenario: Nobody hears from the node, with 40 s of grace
      Given a ready Node "worker-1"
      When the kubelet on "worker-1" is killed
      Then Node "worker-1" keeps condition Ready=True for 29s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", message "Kubelet stopped posting node status.", between 29s and 46s

  @req:STA-06
  Rule: A condition has type, status, reason, message and two times; lastTransitionTime moves only with the status

    Scenario: The healthy node of the documentation
      Given a ready Node "worker-1"
      When 20m pass
      Then field status.conditions[Ready].lastTransitionTime of Node "worker-1" stays unchanged for 20m
      And field status.conditions[Ready].reason of Node "worker-1" stays "KubeletReady" for 20m
      And field status.conditions[Ready].message of Node "worker-1" stays "kubelet is posting ready status" for 20m
      And field status.conditions[MemoryPressure].reason of Node "worker-1" stays "KubeletHasSufficientMemory" for 20m
      And field status.conditions[DiskPressure].reason of Node "worker-1" stays "KubeletHasNoDiskPressure" for 20m
      And field status.conditions[PIDPressure].reason of Node "worker-1" stays "KubeletHasSufficientPID" for 20m
      And Node "worker-1" matches its snapshot

    Scenario: The message changes and the status does not
      Given a ready Node "worker-1"
      And the container network on "worker-1" is removed
      And Node "worker-1" has condition Ready=False
      When the container runtime on "worker-1" stops
      Then field status.conditions[Ready].lastTransitionTime of Node "worker-1" stays unchanged for 120s
      And Node "worker-1" keeps condition Ready=False for 120s

    Scenario: The status changes
      Given a ready Node "worker-1"
      When the container network on "worker-1" is removed
      Then Node "worker-1" has condition Ready=False within 16s
      And the history of Node "worker-1" matches its snapshot
