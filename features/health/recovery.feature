@core @req:NC-07
Feature: A node that reports again is ready again
  Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34), markNodeAsReachable
  Source: pkg/controller/tainteviction/taint_eviction.go (v1.34), processPodOnNode

  Rule: When heartbeats resume, the taints go: NoSchedule at once, NoExecute with the next health pass

    Scenario: A node that was unreachable
      The pass that tainted it has just been, and the next is 5 s later.

      Given a hand-fed Node "worker-1"
      When Node "worker-1" falls silent
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      And Node "worker-1" is fed again
      Then Node "worker-1" has condition Ready=True within 1s
      And Node "worker-1" has no taint "node.kubernetes.io/unreachable:NoSchedule" within 1s
      But Node "worker-1" keeps taint "node.kubernetes.io/unreachable:NoExecute" for 3s
      And Node "worker-1" has no taint "node.kubernetes.io/unreachable:NoExecute" between 3s and 6s
      And Node "worker-1" never has taint "node.kubernetes.io/not-ready:NoSchedule" for 120s
      And the history of Node "worker-1" matches its snapshot

    Scenario: The whole way back, told from the instant at which the last taint is gone
      Given a hand-fed Node "worker-1"
      When Node "worker-1" falls silent
      Then Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute" between 29s and 62s
      When Node "worker-1" is fed again
      And Node "worker-1" has no taint "node.kubernetes.io/unreachable:NoExecute"
      Then Node "worker-1" keeps condition Ready=True for 60s
      And Node "worker-1" keeps field spec.taints absent for 60s
      And the history of Node "worker-1" matches its snapshot

    Scenario: A node that was not ready
      Given a hand-fed Node "worker-1"
      When Node "worker-1" posts condition Ready=False
      And Node "worker-1" has taint "node.kubernetes.io/not-ready:NoExecute"
      And Node "worker-1" posts condition Ready=True
      Then Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      But Node "worker-1" keeps taint "node.kubernetes.io/not-ready:NoExecute" for 3s
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoExecute" between 3s and 6s
      And Node "worker-1" never has taint "node.kubernetes.io/unreachable:NoExecute" for 120s

    Scenario: A kubelet that was frozen tells what it finds with its second look at the latest
      With its first look it may not know yet what was made Unknown: its watch and its look wake at the same time.

      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And the kubelet on "worker-1" freezes
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      When the kubelet on "worker-1" thaws
      Then Node "worker-1" has condition MemoryPressure=False within 12s
      And Node "worker-1" has condition Ready=True, reason "KubeletReady", within 12s
      And Node "worker-1" has no taint "node.kubernetes.io/unreachable:NoSchedule" within 12s
      And Node "worker-1" has no taint "node.kubernetes.io/unreachable:NoExecute" within 18s
      And container "main" of Pod "web" keeps running on machine "worker-1" for 60s

    @sim-only:instants
    Scenario: A kubelet that was frozen tells what it finds with its second look
      On the simulator its first look comes before its watch.

      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And the kubelet on "worker-1" freezes
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      When the kubelet on "worker-1" thaws
      Then Node "worker-1" keeps condition MemoryPressure=Unknown for 8s
      And Node "worker-1" has condition MemoryPressure=False between 9s and 12s
      And Node "worker-1" has condition Ready=True, reason "KubeletReady", between 9s and 12s

    Scenario: The Lease alone does not make a node ready
      Given a ready Node "worker-1"
      And the kubelet on "worker-1" is killed
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      When requests to nodes/status from "worker-1" are lost
      And the kubelet on "worker-1" starts
      Then the Lease of Node "worker-1" is renewed every 10s to 10.5s for 60s
      And Node "worker-1" keeps condition Ready=Unknown for 60s
      And Node "worker-1" keeps taint "node.kubernetes.io/unreachable:NoSchedule" for 60s
      And Node "worker-1" keeps taint "node.kubernetes.io/unreachable:NoExecute" for 60s

    Scenario: The Lease of a machine that is cut off stays as it is, and is renewed when the machine is back
      Given a ready Node "worker-1"
      When machine "worker-1" loses its connection to the API server
      Then the Lease of Node "worker-1" keeps field spec.renewTime unchanged for 3m
      And the Lease of Node "worker-1" matches its snapshot
      When machine "worker-1" regains its connection to the API server
      Then the Lease of Node "worker-1" is renewed within 15s
      And the Lease of Node "worker-1" keeps field spec.holderIdentity at "worker-1" for 60s
      And the Lease of Node "worker-1" keeps field metadata.uid unchanged for 60s
      And the Lease of Node "worker-1" matches its snapshot

  Rule: Before the pods were deleted, their eviction is cancelled

    Scenario: The kubelet is started again in time
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And the kubelet on "worker-1" is killed
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      When the kubelet on "worker-1" starts
      Then Node "worker-1" has condition Ready=True, reason "KubeletReady", within 20s
      And Node "worker-1" has no taint "node.kubernetes.io/unreachable:NoSchedule" within 21s
      And Node "worker-1" has no taint "node.kubernetes.io/unreachable:NoExecute" within 26s
      And Event TaintManagerEviction about Pod "web", message "Cancelling deletion of Pod default/web", within 26s
      And Pod "web" has condition Ready=True within 30s
      But Pod "web" stays for 15m
      And Pod "web" keeps field status.phase "Running" for 15m
      And the history of Pod "web" matches its snapshot

    Scenario: The network is back in time
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And machine "worker-1" loses its connection to the API server
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      When machine "worker-1" regains its connection to the API server
      Then Node "worker-1" has condition Ready=True, reason "KubeletReady", within 20s
      And Node "worker-1" has no taint "node.kubernetes.io/unreachable:NoExecute" within 26s
      But Pod "web" stays for 15m
      And Pod "web" keeps field status.phase "Running" for 15m

    Scenario: The next outage gives the pods their whole time again
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1" that tolerates "node.kubernetes.io/not-ready:NoExecute" for 60s
      And Node "worker-1" posts condition Ready=False
      And Node "worker-1" has taint "node.kubernetes.io/not-ready:NoExecute"
      And 40s pass
      When Node "worker-1" posts condition Ready=True
      Then Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoExecute" within 6s
      And Pod "web" stays for 6s
      When Node "worker-1" posts condition Ready=False
      Then Pod "web" is deleted at 60s after Node "worker-1" has taint "node.kubernetes.io/not-ready:NoExecute"
      And Pod "web" stays for 60s

    Scenario: The controller leaves it to the kubelet to say that the pods are ready
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And Node "worker-1" falls silent
      And Pod "web" has condition Ready=False
      When Node "worker-1" is fed again
      Then Node "worker-1" has condition Ready=True within 1s
      But Pod "web" keeps condition Ready=False for 120s

  Rule: After an eviction, only the pods that were deleted already are gone

    Scenario: The kubelet is started again too late for one of two pods
      Given a ready Node "worker-1"
      And a Pod "patient" on Node "worker-1" that tolerates "node.kubernetes.io/unreachable:NoExecute" for 10m
      And a Pod "web" on Node "worker-1"
      And the kubelet on "worker-1" is killed
      And Pod "web" is deleted
      When the kubelet on "worker-1" starts
      Then Pod "web" is gone within 60s
      But Pod "patient" stays for 20m
      And Pod "patient" keeps field status.phase "Running" for 20m
      And Node "worker-1" has no taint "node.kubernetes.io/unreachable:NoExecute" within 26s
