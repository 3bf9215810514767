@core
Feature: The zone of a large outage keeps its rate until the pass that finds the outage is over
  Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34), monitorNodeHealth, doNoExecuteTaintingPass

  Rule: A pass that marks many nodes takes as long as its requests, 20 a second, and taints go on meanwhile

    Without --node-eviction-rate it is one node each ten seconds; where most of a large zone is lost, one each 100 s.

    @req:EV-08 @req:EV-10 @since:1.34 @until:1.36
    Scenario: 160 of 240 nodes fall silent
      Given 240 hand-fed Nodes in zone "a"
      When the first 160 Nodes of zone "a" fall silent
      Then never 160 Nodes of zone "a" have taint "node.kubernetes.io/unreachable:NoSchedule" for 52s
      And 160 Nodes of zone "a" have taint "node.kubernetes.io/unreachable:NoSchedule" between 52s and 85s
      And 1 Node of zone "a" has taint "node.kubernetes.io/unreachable:NoExecute" between 39s and 65s
      And 2 Nodes of zone "a" have taint "node.kubernetes.io/unreachable:NoExecute" between 9s and 12s after 1 Node of zone "a" has taint "node.kubernetes.io/unreachable:NoExecute"
      And never 4 Nodes of zone "a" have taint "node.kubernetes.io/unreachable:NoExecute" for 2m

    @req:EV-08 @req:EV-10 @since:1.37
    Scenario: 160 of 240 nodes fall silent, and their Leases are read
      A Node's Lease is read before the Node counts as silent: one request more for each.
      Given 240 hand-fed Nodes in zone "a"
      When the first 160 Nodes of zone "a" fall silent
      Then 160 Nodes of zone "a" have taint "node.kubernetes.io/unreachable:NoSchedule" between 60s and 95s
      And 1 Node of zone "a" has taint "node.kubernetes.io/unreachable:NoExecute" between 39s and 65s
      And 2 Nodes of zone "a" have taint "node.kubernetes.io/unreachable:NoExecute" between 9s and 12s after 1 Node of zone "a" has taint "node.kubernetes.io/unreachable:NoExecute"
      And 3 Nodes of zone "a" have taint "node.kubernetes.io/unreachable:NoExecute" between 9s and 12s after 2 Nodes of zone "a" have taint "node.kubernetes.io/unreachable:NoExecute"
      And never 5 Nodes of zone "a" have taint "node.kubernetes.io/unreachable:NoExecute" for 2m

    @req:EV-08 @req:EV-10 @until:1.33
    Scenario: 160 of 240 nodes fall silent, and the pass after that queues them
      A node is queued by the pass after the one that marks it: by then the zone is slow.
      Given 240 hand-fed Nodes in zone "a"
      When the first 160 Nodes of zone "a" fall silent
      Then 160 Nodes of zone "a" have taint "node.kubernetes.io/unreachable:NoSchedule" between the grace period less 5s and the grace period and 40s
      And 1 Node of zone "a" has taint "node.kubernetes.io/unreachable:NoExecute" between the grace period and 10s and the grace period and 40s
      And 2 Nodes of zone "a" have taint "node.kubernetes.io/unreachable:NoExecute" between 85s and 100.2s after 1 Node of zone "a" has taint "node.kubernetes.io/unreachable:NoExecute"
      And never 3 Nodes of zone "a" have taint "node.kubernetes.io/unreachable:NoExecute" for 3m
