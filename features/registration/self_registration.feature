@core
Feature: A kubelet registers its own Node
  Source: pkg/kubelet/kubelet_node_status.go (v1.34), registerWithAPIServer, initialNode, fastNodeStatusUpdate

  @req:REG-01
  Rule: With --register-node=true, the default, a kubelet creates its Node

    Scenario: A kubelet registers
      When a kubelet named "worker-1" registers
      Then Node "worker-1" exists within 1s
      And Node "worker-1" keeps label "kubernetes.io/hostname=worker-1" for 10m
      And Node "worker-1" keeps label "kubernetes.io/os=linux" for 10m
      And Node "worker-1" keeps label "kubernetes.io/arch=amd64" for 10m
      And Node "worker-1" keeps label "beta.kubernetes.io/os=linux" for 10m
      And Node "worker-1" keeps label "beta.kubernetes.io/arch=amd64" for 10m
      And Node "worker-1" field status.capacity.cpu is set within 1s
      And Node "worker-1" field status.capacity.pods is "110" within 1s
      And Node "worker-1" field status.allocatable.memory is set within 1s
      And Node "worker-1" field status.nodeInfo.kubeletVersion is set within 1s
      And Node "worker-1" has condition Ready=True, reason "KubeletReady", message "kubelet is posting ready status", within 15s
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule" within 16s
      And Event Starting about Node "worker-1", message "Starting kubelet.", within 1s
      And Event RegisteredNode about Node "worker-1", message "Node worker-1 event: Registered Node worker-1 in Controller", within 7s
      But Node "worker-1" never has taint "node.kubernetes.io/unreachable:NoSchedule" for 10m
      And no Event Rebooted about Node "worker-1" for 10m
      And Node "worker-1" matches its snapshot

    Scenario: A kubelet registers right after a health pass
      Conditions turn Unknown in a health pass. The next is 5 s away, and finds the new Node ready; one that falls into the
      first half second gives it the NoExecute taint for 5 s.

      Given a hand-fed Node "silent"
      And Node "silent" falls silent
      When Node "silent" has condition Ready=Unknown
      And a kubelet named "worker-1" registers
      Then Node "worker-1" has condition Ready=True within 2s
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule" within 2s
      But Node "worker-1" never has taint "node.kubernetes.io/not-ready:NoExecute" for 10m
      And the history of Node "worker-1" matches its snapshot

    Scenario Outline: It is said in so many words, with <setting>
      When a kubelet named "worker-1" registers with:
        | name      | value |
        | <setting> | true  |
      Then Node "worker-1" exists within 1s
      And Node "worker-1" has condition Ready=True within 15s

      Examples:
        | setting       |
        | register-node |
        | registerNode  |

    Scenario: A flag that is no truth value is refused
      When a kubelet named "worker-1" registers with:
        | flag          | value |
        | register-node | maybe |
      Then the kubelet refuses to start with "invalid argument "maybe" for "--register-node" flag: strconv.ParseBool: parsing "maybe": invalid syntax"
      And Node "worker-1" never appears for 10m

    @since:1.37
    Scenario: A flag of cAdvisor is refused
      When a kubelet named "worker-1" starts with:
        | boot-id-file | /proc/sys/kernel/random/boot_id |
      Then the kubelet refuses to start with "failed to parse kubelet flag: unknown flag: --boot-id-file"

    @until:1.36
    Scenario: A flag of cAdvisor is taken
      When a kubelet named "worker-1" registers with:
        | boot-id-file | /proc/sys/kernel/random/boot_id |
      Then Node "worker-1" has condition Ready=True within 11s

    Scenario: The first object says that the node is not ready yet
      Given a ready Node "worker-1"
      And the container network on "worker-1" is removed
      And the user deletes Node "worker-1"
      And Node "worker-1" is gone
      When the kubelet on "worker-1" restarts
      Then Node "worker-1" exists within 1s
      And Node "worker-1" has condition Ready=False, reason "KubeletNotReady", within 1s
      And Node "worker-1" has condition Ready=False, message "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized", within 15s
      And Node "worker-1" has taint "node.kubernetes.io/not-ready:NoExecute" within 8s
      And Node "worker-1" keeps taint "node.kubernetes.io/not-ready:NoSchedule" for 10m
      And Node "worker-1" never has condition Ready=True for 10m
      And the history of Node "worker-1" matches its snapshot

    Scenario: While the API server refuses, the kubelet tries again, later each time
      Pauses before the attempts begin with 0.1 s and double each time; here three attempts fail.

      Given a ready Node "worker-1"
      And the user deletes Node "worker-1"
      And Node "worker-1" is gone
      And POST requests to nodes from "worker-1" are answered 503 3 times
      When the kubelet on "worker-1" restarts
      Then Node "worker-1" never appears for 1.4s
      And Node "worker-1" exists between 1.5s and 2s
      And Node "worker-1" has condition Ready=True within 15s

  @req:REG-01
  Rule: A kubelet keeps the status of its Node current

    Scenario: What is wrong with the machine is posted
      A runtime counts as down 30 s after it last answered; it is asked each 5 s, and the status is computed each 10 s.

      Given a ready Node "worker-1"
      When the container runtime on "worker-1" stops
      Then Node "worker-1" keeps condition Ready=True for 24s
      And Node "worker-1" has condition Ready=False, reason "KubeletNotReady", message "container runtime is down", between 24s and 41s
      And Node "worker-1" has taint "node.kubernetes.io/not-ready:NoSchedule" within 42s
      But Node "worker-1" keeps condition MemoryPressure unchanged for 10m
      And Node "worker-1" never has taint "node.kubernetes.io/unreachable:NoSchedule" for 10m

    Scenario: In its first two minutes a kubelet says at once that it has become ready
      Given a ready Node "worker-1"
      And the container network on "worker-1" is removed
      And Node "worker-1" has condition Ready=False
      And the kubelet on "worker-1" restarts
      And 30s pass
      When the container network on "worker-1" is installed
      Then Node "worker-1" has condition Ready=True within 300ms
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      And Event NodeReady about Node "worker-1", message "Node worker-1 status is now: NodeReady", within 1s

    Scenario: Later it waits for the next computation
      Given a ready Node "worker-1"
      And 3m pass
      When the container network on "worker-1" is removed
      And Node "worker-1" has condition Ready=False
      And the container network on "worker-1" is installed
      Then Node "worker-1" keeps condition Ready=False for 9.9s
      And Node "worker-1" has condition Ready=True between 9.9s and 10.5s

    Scenario: A kubelet that starts again goes on with the Node that is there
      Given a ready Node "worker-1"
      When the kubelet on "worker-1" restarts
      Then Node "worker-1" keeps field metadata.uid unchanged for 10m
      And Event NodeAllocatableEnforced about Node "worker-1" within 5s
      And Node "worker-1" keeps condition Ready unchanged for 10m
      And no Event RegisteredNode about Node "worker-1" for 10m
      And nothing else about Node "worker-1" changes

  @req:REG-01
  Rule: A kubelet creates its Node once in its life

    Scenario: The Node is deleted under a running kubelet
      Given a ready Node "worker-1"
      When the user deletes Node "worker-1"
      Then Node "worker-1" is gone at once
      And the Lease of Node "worker-1" is gone within 10s
      And Node "worker-1" never appears for 1h

    Scenario: The kubelet is restarted after the Node was deleted
      Given a ready Node "worker-1"
      And the user deletes Node "worker-1"
      And Node "worker-1" is gone
      When the kubelet on "worker-1" restarts
      Then Node "worker-1" exists within 1s
      And Node "worker-1" has condition Ready=True within 15s
      And the Lease of Node "worker-1" exists within 12s
