@extended @req:COM-01
Feature: A view that is stale
  What a client watches reaches it late, while its connection is sound: it acts on what it knows.
  Source: staging/src/k8s.io/client-go/tools/cache/reflector.go (v1.34), a watch that shows nothing is believed
  Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34), Leases are read from a lister

  Rule: The scheduler places a Pod on a Node that it believes to be free

    Background:
      Given no other Node
      And a ready Node "worker-1"

    Scenario: The Node is cordoned meanwhile
      When watch events of nodes to kube-scheduler are held back for 2m
      And the user cordons Node "worker-1"
      And the user creates:
        """yaml
        {apiVersion: v1, kind: Pod, metadata: {name: early}, spec: {containers: [{name: main, image: pause}]}}
        """
      Then Pod "early" has these fields within 1s:
        | spec.nodeName | worker-1 |
      And Pod "early" has condition Ready=True within 5s
      When 2m pass
      And the user creates:
        """yaml
        {apiVersion: v1, kind: Pod, metadata: {name: late}, spec: {containers: [{name: main, image: pause}]}}
        """
      Then Pod "late" has condition PodScheduled=False, reason "Unschedulable", within 1s
      And Pod "late" keeps field spec.nodeName absent for 1m

  Rule: A Node is given up whose heartbeats are not seen

    @until:1.36
    Scenario: Leases reach the node controller late
      The kubelet finds out with its next status, and puts it right.

      Given a ready Node "worker-1"
      When watch events of leases to node-lifecycle-controller are held back for 70s
      Then the Lease of Node "worker-1" is renewed every 10s for 5m
      And Node "worker-1" keeps condition Ready=True for the grace period less 11s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between the grace period less 11s and the grace period and 6s
      When 30s pass
      Then Node "worker-1" keeps condition Ready=True for 5m

  Rule: A Node whose heartbeats are not seen is not given up before the server was asked
    Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.37), tryUpdateNodeHealth; KEP-5647

    @since:1.37
    Scenario: No Node is judged before the Leases are up to date
      The Lease of the first turns out to be newer than the view, which stops the judgement of all. That of the second,
      which is dead, is five seconds younger.

      Given a hand-fed Node "worker-1"
      And 5s pass
      And a hand-fed Node "worker-2"
      When watch events of leases to node-lifecycle-controller are held back for 2m
      And Node "worker-2" falls silent
      Then Node "worker-2" keeps condition Ready=True for 119s
      And Node "worker-2" has condition Ready=Unknown, reason "NodeStatusUnknown", between 119s and 126s
      And Node "worker-1" keeps condition Ready=True for 5m

    @since:1.37
    Scenario: A dead Node whose Lease somebody changes is never given up
      What is compared is the version of the Lease, and its time of renewal alone makes a Node alive.

      Given a ready Node "worker-1"
      When the kubelet on "worker-1" is killed
      And 10s pass
      And the user sends PATCH /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/worker-1:
        """yaml
        {metadata: {labels: {seen: "yes"}}}
        """
      Then Node "worker-1" keeps condition Ready=True for 10m
      When the user sends DELETE /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/worker-1
      Then Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", within 6s

    @since:1.37
    Scenario: A dead Node is not given up while nobody can tell its Lease
      Given a ready Node "worker-1"
      And the kubelet on "worker-1" is killed
      When GET requests to leases from node-lifecycle-controller are answered 500 for 10m
      Then Node "worker-1" keeps condition Ready=True for 10m
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between 10m and 10m6s

  Rule: A kubelet ends a Pod when it sees its deletion

    Scenario: The deletion is seen a minute late
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When watch events of pods to "worker-1" are held back for 1m
      And the user deletes Pod "web"
      Then container "main" of Pod "web" keeps running on machine "worker-1" for 59s
      And Pod "web" stays terminating for 59s
      And Pod "web" is gone between 59s and 2m
