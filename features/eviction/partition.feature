@core
Feature: Pods of a node behind a partition end when the partition does
  Source: pkg/registry/core/pod/strategy.go (v1.34), CheckGracefulDelete
  Source: pkg/kubelet/status/status_manager.go (v1.34), canBeDeleted

  Rule: Pods are not deleted by force: while nobody can tell that they stopped, they are Terminating

    @req:EV-04
    Scenario: A partition of two hours
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When machine "worker-1" loses its connection to the API server
      Then Pod "web" stays for 329s
      And Pod "web" is deleted between 329s and 362s
      And Pod "web" keeps field status.phase "Running" for 2h
      And container "main" of Pod "web" keeps running on machine "worker-1" for 2h
      When 1s passes
      Then Pod "web" stays terminating for 1h
      And container "main" of Pod "web" keeps running on machine "worker-1" for 1h
      And nothing else about Pod "web" changes

    @req:EV-04
    Scenario: A machine without power looks the same from outside
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And machine "worker-1" loses power
      And Pod "web" is deleted
      When 31s pass
      Then Pod "web" stays terminating for 2h
      And Pod "web" keeps field status.phase "Running" for 2h
      And Node "worker-1" stays for 2h

    @req:EV-04
    Scenario: What people see of it
      The word Unknown in place of Terminating is for a pod whose reason is NodeLost, which node controllers of old set.

      Given no other Node
      And ready Nodes "worker-1" and "worker-2"
      And a Pod "evicted" on Node "worker-1"
      And a Pod "lost" on Node "worker-1"
      And a Pod "tolerant" on Node "worker-1" that tolerates "node.kubernetes.io/unreachable:NoExecute"
      And a Pod "elsewhere" on Node "worker-2"
      And machine "worker-1" loses its connection to the API server
      And Pod "evicted" is deleted
      When the user sends PATCH /api/v1/namespaces/default/pods/lost/status:
        """yaml
        status: {reason: NodeLost, message: Node worker-1 which was running pod lost is unresponsive}
        """
      Then Pod "lost" field status.reason is "NodeLost" at once
      And the table of pods matches its snapshot

    @req:EV-04
    Scenario: A user's deletion waits as well
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And machine "worker-1" loses its connection to the API server
      When the user deletes Pod "web"
      Then Pod "web" is terminating at once
      And Pod "web" stays terminating for 1h
      And container "main" of Pod "web" keeps running on machine "worker-1" for 1h

  Rule: When the partition heals, the kubelet stops the pods that were deleted, and the objects go

    @req:EV-05
    Scenario: The pod was evicted during the partition
      The kubelet's watch tries again after 30 s and a jitter of up to 30 s, and the container takes 2 s to end.

      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And a Pod "agent" on Node "worker-1" that tolerates "node.kubernetes.io/unreachable:NoExecute" and "node.kubernetes.io/not-ready:NoExecute"
      And machine "worker-1" loses its connection to the API server
      And Pod "web" is deleted
      And 10m pass
      When machine "worker-1" regains its connection to the API server
      Then container "main" of Pod "web" stops on machine "worker-1" within 63s
      And Pod "web" is gone within 63s
      But Pod "agent" stays for 10m
      And container "main" of Pod "agent" keeps running on machine "worker-1" for 10m
      And the history of Pod "web" matches its snapshot

    @req:EV-03 @req:EV-04 @req:EV-05
    Scenario: A user's deletion is carried out when the partition ends
      Longer than the grace period of 30 s, which counts from when the kubelet learns of the deletion.

      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And machine "worker-1" loses its connection to the API server
      When the user deletes Pod "web"
      Then Pod "web" stays terminating for 35s
      And Pod "web" keeps field status.phase "Running" for 35s
      And container "main" of Pod "web" keeps running on machine "worker-1" for 35s
      When machine "worker-1" regains its connection to the API server
      Then container "main" of Pod "web" stops on machine "worker-1" within 60s
      And Pod "web" is gone within 60s

    @req:EV-05
    Scenario: A container that takes long to stop has the grace period of its pod
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1" that takes 20s to stop
      And machine "worker-1" loses its connection to the API server
      And Pod "web" is deleted
      When machine "worker-1" regains its connection to the API server
      Then container "main" of Pod "web" keeps running on machine "worker-1" for 19s
      And Pod "web" stays terminating for 19s
      And Pod "web" is gone between 20s and 2m

    @req:EV-05
    Scenario: The partition ends before the eviction: nothing is stopped
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And machine "worker-1" loses its connection to the API server
      And 4m pass
      When machine "worker-1" regains its connection to the API server
      Then container "main" of Pod "web" keeps running on machine "worker-1" for 10m
      And Pod "web" stays for 10m
