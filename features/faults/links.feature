@core @req:COM-01
Feature: A link that loses, delays, or comes and goes
  Source: pkg/kubelet/kubelet.go (v1.34), the client of heartbeats has a time-out of the interval of renewals, at most 10 s
  Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34)

  Rule: Heartbeats that come late are heartbeats

    Scenario: Each takes some seconds, and no two the same
      Given a ready Node "worker-1"
      When PUT requests to leases from "worker-1" take 7s to 9s
      Then the Lease of Node "worker-1" is renewed every 18s for 10m
      And Node "worker-1" keeps condition Ready=True for 10m
      And Node "worker-1" never has taint "node.kubernetes.io/unreachable:NoSchedule" for 10m

    Scenario: Each takes longer than its client waits
      One arrives, whose answer nobody waits for any more; from then on the kubelet's version of the Lease is old.

      Given a ready Node "worker-1"
      When requests to leases from "worker-1" take 15s
      Then the Lease of Node "worker-1" is renewed between 15s and 26s
      And Node "worker-1" keeps condition Ready=True for the grace period and 14s
      And Node "worker-1" has condition Ready=Unknown between the grace period and 14s and the grace period and 32s

  Rule: Some may be lost

    Scenario: Two renewals are lost
      The client waits ten seconds for each answer, and asks again.

      Given a ready Node "worker-1"
      When PUT requests to leases from "worker-1" are lost 2 times
      Then the Lease of Node "worker-1" is renewed between 20s and 41s
      And Node "worker-1" keeps condition Ready=True for 3m

    Scenario: Nine of ten are lost
      Given a ready Node "worker-1"
      When PUT requests to leases from "worker-1" are lost for 30m with probability 0.9
      Then Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between the grace period less 11s and 30m

  Rule: A link that comes and goes is silent only if each time is long

    Scenario: It is away for half a minute, and again
      Given a ready Node "worker-1"
      When machine "worker-1" loses its connection to the API server for 30s
      Then Node "worker-1" keeps condition Ready=True for 1m
      And the Lease of Node "worker-1" keeps field spec.renewTime unchanged for 29s
      When machine "worker-1" loses its connection to the API server for 30s
      Then Node "worker-1" keeps condition Ready=True for 5m
      And the Lease of Node "worker-1" keeps field spec.renewTime unchanged for 29s
      And no Event NodeNotReady about Node "worker-1" for 5m

    Scenario: It comes and goes each half minute
      Given a ready Node "worker-1"
      When machine "worker-1" loses its connection to the API server for 10m, on and off every 30s
      Then the Lease of Node "worker-1" keeps field spec.renewTime unchanged for 29s
      And the Lease of Node "worker-1" is renewed between 30s and 51s
      And Node "worker-1" keeps condition Ready=True for 15m
      And no Event NodeNotReady about Node "worker-1" for 15m

    Scenario: Each time is longer than the grace period
      Each time the Node is given up and comes back; the taint that evicts comes and goes with it.

      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When machine "worker-1" loses its connection to the API server for 10m, on and off every 1m
      Then Node "worker-1" has condition Ready=Unknown between the grace period less 11s and the grace period and 6s
      And Pod "web" stays for 11m
      And 5 Events NodeNotReady about Node "worker-1" within 11m
      When nothing is done
      Then Node "worker-1" keeps condition Ready=True for 5m
      And Node "worker-1" never has taint "node.kubernetes.io/unreachable:NoExecute" for 5m

  Rule: A connection that is cut for a time is there again by itself

    Scenario: Two minutes
      Given a ready Node "worker-1"
      When machine "worker-1" loses its connection to the API server for 2m
      Then Node "worker-1" has condition Ready=Unknown between the grace period less 11s and the grace period and 6s
      And the Lease of Node "worker-1" keeps field spec.renewTime unchanged for 110s
      When 1s passes
      Then Node "worker-1" has condition Ready=True between 8s and 30s

  Rule: A Node that is made anew under its name is another

    @req:NC-02
    Scenario: The kubelet registers it again
      Given a ready Node "worker-1"
      When the user deletes Node "worker-1"
      And the kubelet on "worker-1" restarts
      Then Node "worker-1" field metadata.uid is changed within 5s
      And Node "worker-1" has condition Ready=True within 15s
