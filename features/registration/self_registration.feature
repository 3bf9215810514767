@core @req:REG-01
Feature: A kubelet registers its own Node
  Source: pkg/kubelet/kubelet_node_status.go (v1.34), registerWithAPIServer, initialNode

  Rule: With --register-node=true, the default, a kubelet creates its Node and keeps its status current

    Scenario: A kubelet registers
      When a kubelet named "worker-1" registers
      Then Node "worker-1" exists within 1s
      And Node "worker-1" has label "kubernetes.io/hostname=worker-1" within 1s
      And Node "worker-1" has label "kubernetes.io/os=linux" within 1s
      And Node "worker-1" has label "kubernetes.io/arch=amd64" within 1s
      And Node "worker-1" has label "beta.kubernetes.io/os=linux" within 1s
      And Node "worker-1" has label "beta.kubernetes.io/arch=amd64" within 1s
      And field status.capacity.cpu of Node "worker-1" is set within 1s
      And field status.allocatable.memory of Node "worker-1" is set within 1s
      And field status.nodeInfo.kubeletVersion of Node "worker-1" is set within 1s
      And Node "worker-1" has condition Ready=True, reason "KubeletReady", message "kubelet is posting ready status", within 15s
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule" within 15s
      But Node "worker-1" never has taint "node.kubernetes.io/unreachable:NoSchedule" for 120s
      And Node "worker-1" matches its snapshot

    Scenario: The first object carries the taint of a node that is not ready yet
      Given a machine "worker-1"
      And the container network on "worker-1" is removed
      When the user deletes Node "worker-1"
      And the kubelet on "worker-1" restarts
      Then Node "worker-1" has taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      And Node "worker-1" has condition Ready=False, reason "KubeletNotReady", within 1s
      And Node "worker-1" keeps taint "node.kubernetes.io/not-ready:NoSchedule" for 120s

    Scenario: The status stays current
      Given a ready Node "worker-1"
      When the container runtime on "worker-1" stops
      Then Node "worker-1" has condition Ready=False, reason "KubeletNotReady", within 46s
      And Node "worker-1" keeps condition MemoryPressure=False for 46s

  Rule: A running kubelet never creates its Node a second time

    Scenario: The Node is deleted under a running kubelet
      Given a ready Node "worker-1"
      When the user deletes Node "worker-1"
      Then Node "worker-1" is gone within 1s
      And Node "worker-1" never appears for 10m

    Scenario: The kubelet is restarted after the Node was deleted
      Given a ready Node "worker-1"
      And the user deletes Node "worker-1"
      When the kubelet on "worker-1" restarts
      Then Node "worker-1" exists within 1s
      And Node "worker-1" has condition Ready=True within 15s
