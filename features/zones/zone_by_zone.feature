@core
Feature: Each zone is evicted by its own rules
  Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34), handleDisruption, setLimiterInZone
  Source: staging/src/k8s.io/component-helpers/node/topology/helpers.go (v1.34), GetZoneKey

  Rule: A zone has a rate of its own

    @req:EV-12
    Scenario: Evictions stop in one zone and go on in another
      Given 5 hand-fed Nodes in zone "a"
      And 5 hand-fed Nodes in zone "b"
      When the first 3 Nodes of zone "a" post condition Ready=False
      And the first 2 Nodes of zone "b" post condition Ready=False
      Then 3 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      But never 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute" for 10m
      And 1 Node of zone "b" has taint "node.kubernetes.io/not-ready:NoExecute" within 6s
      And 2 Nodes of zone "b" have taint "node.kubernetes.io/not-ready:NoExecute" between 10s and 16s

    @req:EV-12
    Scenario: Two zones do not wait for each other
      Given 3 hand-fed Nodes in zone "a"
      And 3 hand-fed Nodes in zone "b"
      When Node "a-1" posts condition Ready=False
      And Node "b-1" posts condition Ready=False
      Then Node "a-1" has taint "node.kubernetes.io/not-ready:NoExecute" within 6s
      And Node "b-1" has taint "node.kubernetes.io/not-ready:NoExecute" within 6s

    @req:EV-12
    Scenario: Zones of the same name in two regions are two zones
      Given 4 hand-fed Nodes in zone "a"
      And the user labels Node "a-1" with "topology.kubernetes.io/region=west"
      And the user labels Node "a-2" with "topology.kubernetes.io/region=west"
      And 15s pass
      When Node "a-1" posts condition Ready=False
      And Node "a-3" posts condition Ready=False
      Then Node "a-1" has taint "node.kubernetes.io/not-ready:NoExecute" within 6s
      And Node "a-3" has taint "node.kubernetes.io/not-ready:NoExecute" within 6s

    @req:EV-12
    Scenario: A node of a zone that is wholly down, while another zone is healthy
      Given 2 hand-fed Nodes in zone "a"
      And 2 hand-fed Nodes in zone "b"
      When Node "a-2" posts condition Ready=False
      And Node "a-2" has taint "node.kubernetes.io/not-ready:NoExecute"
      And Node "a-1" posts condition Ready=False
      Then Node "a-1" has taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      And Node "a-1" never has taint "node.kubernetes.io/not-ready:NoExecute" for 8s
      And Node "a-1" has taint "node.kubernetes.io/not-ready:NoExecute" between 8s and 16s
      And each Node of zone "b" keeps condition Ready=True for 60s
      And the history of Node "a-1" matches its snapshot

    # Each pass makes a new queue for the zone, with all its Nodes: upstream's order is arbitrary, and that it leaves one
    # out for 5m is as good as impossible.
    @req:EV-12
    Scenario: A zone none of whose nodes counts
      Given 3 hand-fed Nodes in zone "a"
      And the user labels Node "a-1" with "node.kubernetes.io/exclude-disruption=true"
      And the user labels Node "a-2" with "node.kubernetes.io/exclude-disruption=true"
      And the user labels Node "a-3" with "node.kubernetes.io/exclude-disruption=true"
      And 15s pass
      When the Nodes of zone "a" post condition Ready=False
      Then 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute" within 6s
      And 3 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" within 5m
      And never 2 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" for 4s

  Rule: Without zone labels there is one zone, the cluster

    @req:EV-12
    Scenario: Two nodes without a zone wait for each other
      Given 6 hand-fed Nodes
      When Node "node-1" posts condition Ready=False
      And Node "node-2" posts condition Ready=False
      Then 2 Nodes have taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      And 1 Node has taint "node.kubernetes.io/not-ready:NoExecute" within 6s
      And 2 Nodes have taint "node.kubernetes.io/not-ready:NoExecute" between 10s and 10.2s after 1 Node has taint "node.kubernetes.io/not-ready:NoExecute"

    @req:EV-12
    Scenario: The threshold counts all nodes without a zone
      Given 5 hand-fed Nodes
      When Node "node-1" posts condition Ready=False
      And Node "node-2" posts condition Ready=False
      And Node "node-3" posts condition Ready=False
      Then 3 Nodes have taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      But never 1 Node has taint "node.kubernetes.io/not-ready:NoExecute" for 10m

  Rule: A zone whose nodes all are unhealthy is evicted at the normal rate, while another zone is healthy

    @req:EV-13
    Scenario: All nodes of one zone are not ready
      Given 4 hand-fed Nodes in zone "a"
      And 3 hand-fed Nodes in zone "b"
      When the Nodes of zone "a" post condition Ready=False
      Then 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute" within 6s
      And 2 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" between 10s and 10.2s after 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute"
      And 4 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" between 30s and 30.4s after 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute"
      But each Node of zone "b" keeps condition Ready=True for 10m
      And each Node of zone "b" never has taint "node.kubernetes.io/not-ready:NoExecute" for 10m

    @req:EV-13
    Scenario: A large zone that is wholly unhealthy has the normal rate as well, not the secondary one
      Given 51 hand-fed Nodes in zone "a"
      When the Nodes of zone "a" post condition Ready=False
      Then 2 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" between 10s and 16s
      And 4 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" between 30s and 36s
      And 51 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" between 500s and 511s

    @req:EV-13
    Scenario: The last healthy node of a zone goes, and evictions begin
      Given 4 hand-fed Nodes in zone "a"
      When the first 3 Nodes of zone "a" post condition Ready=False
      Then never 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute" for 5m
      When Node "a-4" posts condition Ready=False
      Then 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute" between 10s and 16s
      And 2 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" between 10s and 10.2s after 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute"
      And 4 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" between 40s and 47s

    @req:EV-13
    Scenario: The pods of a zone that is cut off are evicted
      Given 2 ready Nodes in zone "a"
      And a Pod on each Node of zone "a"
      When zone "a" loses its connection to the API server
      Then 1 Node of zone "a" has taint "node.kubernetes.io/unreachable:NoExecute" between 29s and 62s
      And 2 Nodes of zone "a" have taint "node.kubernetes.io/unreachable:NoExecute" between 10s and 20.3s after 1 Node of zone "a" has taint "node.kubernetes.io/unreachable:NoExecute"
      And Pod "on-a-1" is deleted at 300s after Node "a-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      And Pod "on-a-2" is deleted at 300s after Node "a-2" has taint "node.kubernetes.io/unreachable:NoExecute"
      But Node "bystander" never has taint "node.kubernetes.io/unreachable:NoExecute" for 400s
