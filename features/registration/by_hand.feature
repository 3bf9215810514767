@core
Feature: A kubelet that does not register waits for its Node
  Source: pkg/kubelet/kubelet_node_status.go (v1.34), syncNodeStatus; KubeletConfiguration.registerNode

  @req:REG-02
  Rule: With --register-node=false the kubelet creates no Node

    Scenario: Nobody creates the Node
      When a kubelet named "worker-1" starts with:
        | flag          | value |
        | register-node | false |
      Then Node "worker-1" never appears for 10m
      And the Lease of Node "worker-1" never appears for 10m

    Scenario: An administrator creates the Node later
      Given a machine "worker-1"
      And whose kubelet runs with:
        | flag          | value |
        | register-node | false |
      And 30s pass
      When the user creates:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-1
        """
      Then field status.nodeInfo.kubeletVersion of Node "worker-1" is set within 15s
      And field status.capacity.pods of Node "worker-1" is "110" within 15s
      And Node "worker-1" has condition Ready=True, reason "KubeletReady", within 3m
      And the Lease of Node "worker-1" exists within 15s

  @req:REG-06
  Rule: --register-with-taints does nothing when --register-node=false

    Scenario: A Node made by hand gets none of the taints
      Given a machine "worker-1"
      And whose kubelet runs with:
        | flag                 | value                           |
        | register-node        | false                           |
        | register-with-taints | dedicated=infra:NoSchedule      |
      When the user creates:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-1
        """
      Then Node "worker-1" never has taint "dedicated=infra:NoSchedule" for 10m
      And Node "worker-1" has condition Ready=True within 3m
