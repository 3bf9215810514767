@extended
Feature: A drain cordons a Node and evicts its pods, as far as their budgets let them go
  Source: kubectl pkg/cmd/drain/drain.go and pkg/drain/drain.go, filters.go (v1.31, v1.34, v1.36)
  Source: pkg/registry/core/pod/storage/eviction.go (v1.34), EvictionREST.Create

  @req:MAN-07
  Rule: Pods with an owner come up elsewhere, those of DaemonSets stay

    Scenario: The Node is drained, and gets pods again once it is uncordoned
      Given no other Node
      And ready Nodes "worker-1" and "worker-2"
      And a DaemonSet "agent" of 2 Pods
      And the user cordons Node "worker-2"
      And a StatefulSet "db" of 2 Pods
      And the user uncordons Node "worker-2"
      And Node "worker-2" has no taint "node.kubernetes.io/unschedulable:NoSchedule"
      When the user drains Node "worker-1" with:
        | ignore-daemonsets | true |
      Then kubectl prints "node/worker-1 cordoned" at once
      And kubectl prints "evicting pod default/db-0" at once
      And kubectl succeeds within 60s
      And 2 Pods of "db" are running on Node "worker-2" within 90s
      And 1 Pod of "agent" keeps running on Node "worker-1" for 2m
      And Node "worker-1" has taint "node.kubernetes.io/unschedulable:NoSchedule" within 1s
      When the user uncordons Node "worker-1"
      And the user deletes Pod "db-0"
      Then 1 Pod of "db" is running on Node "worker-1" within 60s

    Scenario: A DaemonSet forbids the drain unless it is told to pass over its pods
      Given a ready Node "worker-1"
      And a DaemonSet "agent" of 2 Pods
      And a Pod "alone" on Node "worker-1"
      When the user drains Node "worker-1"
      Then kubectl fails at once
      And kubectl prints "There are pending nodes to be drained:" at once
      And Node "worker-1" field spec.unschedulable is true at once
      And Pod "alone" stays for 10m
      And 2 Pods of "agent" keep running for 10m

  @req:MAN-07
  Rule: A budget holds a pod until another is up elsewhere

    Scenario: One of two pods waits for the other, whichever is asked for first
      Given no other Node
      And ready Nodes "worker-1" and "worker-2"
      And the user cordons Node "worker-2"
      And a StatefulSet "db" of 2 Pods
      And a PodDisruptionBudget "db" that keeps 1 of "app=db"
      And the user uncordons Node "worker-2"
      And 10s pass
      When the user drains Node "worker-1"
      Then kubectl prints "evicting pod default/db-0" at once
      And kubectl prints "evicting pod default/db-1" at once
      And kubectl keeps running for 5s
      And 1 Pod of "db" is running on Node "worker-2" within 60s
      And kubectl prints "pod/db-0 evicted" within 2m
      And kubectl prints "pod/db-1 evicted" within 2m
      And kubectl succeeds within 2m
      And 2 Pods of "db" are running on Node "worker-2" within 3m

    Scenario: A pod is asked for every 5 s as long as its budget holds it
      Given ready Nodes "worker-1" and "worker-2"
      And the user cordons Nodes "worker-2" and "bystander"
      And a StatefulSet "db" of 1 Pod
      And a PodDisruptionBudget "db" that keeps 1 of "app=db"
      And the user uncordons Node "worker-2"
      And 10s pass
      When the user drains Node "worker-1"
      Then kubectl prints "error when evicting pods/\"db-0\" -n \"default\" (will retry after 5s): Cannot evict pod as it would violate the pod's disruption budget." at once
      And kubectl keeps running for 12s
      And Pod "db-0" stays for 12s
      And the output of kubectl matches its snapshot
      When the user deletes PodDisruptionBudget "db"
      Then kubectl prints "pod/db-0 evicted" within 45s
      And kubectl succeeds within 45s
      And 1 Pod of "db" is running on Node "worker-2" within 60s

    Scenario: Time ends before the budget lets the pods go
      Given a ready Node "worker-1"
      And the user cordons Node "bystander"
      And a StatefulSet "db" of 2 Pods
      And a PodDisruptionBudget "db" that keeps 2 of "app=db"
      And 10s pass
      When the user drains Node "worker-1" with:
        | timeout | 8s |
      Then kubectl keeps running for 9s
      And kubectl fails at 10s
      And kubectl prints "error when evicting pods/\"db-0\" -n \"default\": global timeout reached: 8s" at 10s
      And Pod "db-0" stays for 10m
      And Pod "db-1" stays for 10m
      And Node "worker-1" field spec.unschedulable is true at once

    Scenario: Pods that are deleted are not asked about
      Given a ready Node "worker-1"
      And the user cordons Node "bystander"
      And a StatefulSet "db" of 1 Pod
      And a PodDisruptionBudget "db" that keeps 1 of "app=db"
      And 10s pass
      When the user drains Node "worker-1" with:
        | disable-eviction | true |
      Then Pod "db-0" is terminating at once
      And kubectl prints "pod/db-0 deleted" within 60s
      And kubectl succeeds within 60s
      But kubectl never prints "evicting pod default/db-0" for 60s

  @req:MAN-07
  Rule: What would be lost has to be named

    Scenario: Pods without an owner need force
      Given a ready Node "worker-1"
      And a Pod "alone" on Node "worker-1"
      When the user drains Node "worker-1"
      Then kubectl fails at once
      And Pod "alone" stays for 10m
      When the user drains Node "worker-1" with:
        | force | true |
      Then kubectl prints "node/worker-1 already cordoned" at once
      And kubectl prints "Warning: deleting Pods that declare no controller: default/alone" at once
      And Pod "alone" is terminating at once
      And kubectl prints "pod/alone evicted" within 60s

    Scenario: A dry run changes nothing
      Given a ready Node "worker-1"
      And a Pod "alone" on Node "worker-1"
      When the user drains Node "worker-1" with:
        | force   | true   |
        | dry-run | server |
      Then kubectl prints "evicting pod default/alone (server dry run)" at once
      And kubectl prints "node/worker-1 drained (server dry run)" at once
      And kubectl succeeds at once
      And Pod "alone" stays for 60s
      And nothing else about Pod "alone" changes
      And Node "worker-1" keeps field spec.unschedulable absent for 60s

  @req:MAN-07
  Rule: A drain of a Node that is gone waits for pods that nobody ends

    Scenario: The kubelet is dead
      Given a ready Node "worker-1"
      And a Pod "alone" on Node "worker-1"
      And the kubelet on "worker-1" is killed
      When the user drains Node "worker-1" with:
        | force   | true |
        | timeout | 20s  |
      And 1s passes
      Then Pod "alone" stays terminating for 60s
      And kubectl keeps running for 18s
      And kubectl fails within 20s
