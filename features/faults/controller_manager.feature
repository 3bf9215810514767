@core @req:COM-01
Feature: What the controllers do not see, and what they forget
  Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34), tryUpdateNodeHealth, nodeHealthMap
  Source: pkg/controller/tainteviction/taint_eviction.go (v1.34), processPodOnNode
  Source: k8s.io/component-base config/v1alpha1/defaults.go (v1.34), lease duration 15 s, retry period 2 s

  Rule: The grace period is counted in memory: a controller that starts counts anew

    Scenario: It restarts in the midst of a silence
      Given a ready Node "worker-1"
      And the kubelet on "worker-1" is killed
      And 30s pass
      When kube-controller-manager restarts
      Then Node "worker-1" keeps condition Ready=True for the grace period less 1s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between the grace period and the grace period and 6s

    Scenario: Nobody leads for the time of a lease, and then another does
      Given a ready Node "worker-1"
      And the kubelet on "worker-1" is killed
      And 10s pass
      When kube-controller-manager stops
      And 17s pass
      And kube-controller-manager starts
      Then Node "worker-1" keeps condition Ready=True for the grace period less 1s
      And Node "worker-1" has condition Ready=Unknown between the grace period and the grace period and 6s

    Scenario: A silence while nobody looks is no silence
      Given a ready Node "worker-1"
      When kube-controller-manager stops
      And machine "worker-1" loses its connection to the API server
      Then Node "worker-1" keeps condition Ready=True for 10m
      And the Lease of Node "worker-1" keeps field spec.renewTime unchanged for 10m
      When machine "worker-1" regains its connection to the API server
      And kube-controller-manager starts
      Then Node "worker-1" keeps condition Ready=True for 5m
      And Node "worker-1" never has taint "node.kubernetes.io/unreachable:NoSchedule" for 5m
      When the kubelet on "worker-1" is killed
      Then Node "worker-1" has condition Ready=Unknown between the grace period less 11s and the grace period and 6s

  Rule: The time of a toleration is counted in memory too

    @req:NC-04
    Scenario: It restarts while Pods wait for their deletion
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And the kubelet on "worker-1" is killed
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      And 4m pass
      When taint-eviction-controller restarts
      Then Pod "web" stays for 299s
      And Pod "web" is deleted between 299s and 301s

    @req:NC-04
    Scenario: While it is away nobody is deleted
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And the kubelet on "worker-1" is killed
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      When taint-eviction-controller stops
      Then Pod "web" stays for 20m
      When taint-eviction-controller starts
      Then Pod "web" stays for 299s
      And Pod "web" is deleted between 299s and 301s
      And the history of Pod "web" matches its snapshot

  Rule: A controller without its connection acts on what it saw last

    Scenario: The node controller is cut off for ten minutes
      Its requests hang as its watches do, so that nothing is written; when it is back it has not forgotten.

      Given a ready Node "worker-1"
      And the kubelet on "worker-1" is killed
      When node-lifecycle-controller loses its connection to the API server for 10m
      Then Node "worker-1" keeps condition Ready=True for 599s
      And Node "worker-1" has condition Ready=Unknown between 599s and 11m
