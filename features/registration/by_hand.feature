@core
Feature: A kubelet that does not register waits for its Node
  Source: pkg/kubelet/kubelet_node_status.go (v1.34), syncNodeStatus; KubeletConfiguration.registerNode
  Source: pkg/volume/csi/csi_plugin.go (v1.34), initializeCSINode

  @req:REG-02
  Rule: With --register-node=false the kubelet creates no Node

    Scenario Outline: Nobody creates the Node, with <setting>
      When a kubelet named "worker-1" starts with:
        | name      | value |
        | <setting> | false |
      Then Node "worker-1" never appears for 2h
      And Event Starting about Node "worker-1" within 5s
      And the Lease of Node "worker-1" never appears for 2h

      Examples:
        | setting       |
        | register-node |
        | registerNode  |

    Scenario: The flag wins over the file
      When a kubelet named "worker-1" starts with:
        | name          | value |
        | registerNode  | true  |
        | register-node | false |
      Then Node "worker-1" never appears for 10m
      And Event Starting about Node "worker-1" within 5s

    Scenario: A kubelet that starts again under its Node's name does not create it anew
      Given a ready Node "worker-1"
      And the user deletes Node "worker-1"
      And Node "worker-1" is gone
      When the kubelet on "worker-1" restarts with:
        | flag          | value |
        | register-node | false |
      Then Node "worker-1" never appears for 1h
      And Event NodeAllocatableEnforced about Node "worker-1" within 5s
      And the Lease of Node "worker-1" never appears for 1h

  @req:REG-02
  Rule: Once an administrator has created the Node, the kubelet fills its status

    Scenario: The Node is created while the kubelet waits
      Its status comes with the next computation; they are 10 to 10.4 s apart. Storage takes longer: no
      Node was there for the first five tries to make a CSINode, in the 20 s after the start, and the sixth comes 123 s later.

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
      Then Node "worker-1" field status.nodeInfo.kubeletVersion is set within 11s
      And Node "worker-1" field status.capacity.pods is "110" within 11s
      And Node "worker-1" has label "kubernetes.io/os=linux" within 11s
      And Node "worker-1" has condition Ready=False, reason "KubeletNotReady", within 11s
      And the Lease of Node "worker-1" exists within 11s
      And Node "worker-1" stays for 10m
      But Node "worker-1" never has condition Ready=True for 100s
      And Node "worker-1" has condition Ready=True, reason "KubeletReady", between 100s and 135s
      And Node "worker-1" never has label "kubernetes.io/hostname" for 10m
      And the history of Node "worker-1" matches its snapshot

    Scenario: The Node is there before the kubelet starts
      Given the object:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-1
        """
      When a kubelet named "worker-1" starts with:
        | flag          | value |
        | register-node | false |
      Then Node "worker-1" has condition Ready=True, reason "KubeletReady", within 11s
      And Node "worker-1" field status.capacity.pods is "110" within 11s
      And the Lease of Node "worker-1" exists within 11s
      And Node "worker-1" keeps field metadata.uid unchanged for 10m

    @since:1.37
    Scenario: Pods wait for the Node too
      Given a machine "worker-1"
      And whose kubelet runs with:
        | flag          | value |
        | register-node | false |
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          nodeName: worker-1
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
        """
      Then Pod "web" keeps field status.phase at "Pending" for 20s
      And Pod "web" keeps field status.startTime absent for 20s
      When the user creates:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-1
        """
      Then Pod "web" field status.phase is "Running" within 4s

    @until:1.36
    Scenario: A kubelet runs Pods before it has a Node
      Given a machine "worker-1"
      And whose kubelet runs with:
        | flag          | value |
        | register-node | false |
      And 10s pass
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          nodeName: worker-1
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
        """
      Then Pod "web" field status.phase is "Running" within 4s

    Scenario: The status stays current
      Given the object:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-1
        """
      And a machine "worker-1"
      And whose kubelet runs with:
        | flag          | value |
        | register-node | false |
      And Node "worker-1" has condition Ready=True
      When the container network on "worker-1" is removed
      Then Node "worker-1" has condition Ready=False, reason "KubeletNotReady", within 16s
      And the Lease of Node "worker-1" is renewed every 10s to 10.5s for 10m

  @req:REG-06
  Rule: --register-with-taints does nothing when --register-node=false

    Scenario Outline: A Node made by hand gets none of the taints, with <setting>
      Given a machine "worker-1"
      And whose kubelet runs with:
        | name          | value   |
        | register-node | false   |
        | <setting>     | <value> |
      When the user creates:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-1
        spec:
          taints:
            - key: mine
              effect: PreferNoSchedule
        """
      Then Node "worker-1" never has taint "dedicated=infra:NoSchedule" for 10m
      And Node "worker-1" keeps taint "mine:PreferNoSchedule" for 10m
      And Node "worker-1" has condition Ready=True within 160s
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule" within 161s

      Examples:
        | setting              | value                                                       |
        | register-with-taints | dedicated=infra:NoSchedule                                  |
        | registerWithTaints   | [{"key":"dedicated","value":"infra","effect":"NoSchedule"}] |

    Scenario: They do not come with a restart either
      Given the object:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-1
        """
      And a machine "worker-1"
      And whose kubelet runs with:
        | flag          | value |
        | register-node | false |
      And Node "worker-1" has condition Ready=True
      When the kubelet on "worker-1" restarts with:
        | flag                 | value                     |
        | register-node        | false                     |
        | register-with-taints | dedicated=infra:NoExecute |
      Then Node "worker-1" never has taint "dedicated=infra:NoExecute" for 10m
      And Event NodeAllocatableEnforced about Node "worker-1" within 5s
      And Node "worker-1" keeps condition Ready=True for 10m

    Scenario: They are read all the same, and wrong ones are refused
      When a kubelet named "worker-1" starts with:
        | flag                 | value             |
        | register-node        | false             |
        | register-with-taints | dedicated:Nowhere |
      Then the kubelet refuses to start with "failed to parse kubelet flag: invalid argument "dedicated:Nowhere" for "--register-with-taints" flag: invalid taint effect: Nowhere, unsupported taint effect"
