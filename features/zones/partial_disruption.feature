@core
Feature: A zone with many unhealthy nodes is evicted more slowly, or not at all
  Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34), ComputeZoneState, ReducedQPSFunc

  Rule: The normal rate holds below an unhealthy share of 55 %, and while no more than two nodes are unhealthy

    @req:EV-09
    Scenario Outline: <unhealthy> of <nodes> nodes are not ready
      Given <nodes> hand-fed Nodes in zone "a"
      When the first <unhealthy> Nodes of zone "a" post condition Ready=False
      Then 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute" within 6s
      And 2 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" between 10s and 16s
      And <unhealthy> Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" between <first> and <last>

      Examples:
        | nodes | unhealthy | first | last |
        | 3     | 2         | 10s   | 16s  |
        | 6     | 3         | 20s   | 26s  |
        | 8     | 4         | 30s   | 36s  |
        | 11    | 6         | 50s   | 57s  |
        | 20    | 10        | 90s   | 97s  |

    @req:EV-09
    Scenario Outline: A zone of <nodes> with <unhealthy> unhealthy is never partly disrupted
      Given <nodes> hand-fed Nodes in zone "a"
      When the first <unhealthy> Nodes of zone "a" post condition Ready=False
      Then 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute" within 6s
      And <unhealthy> Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" within 16s
      But Node "bystander" never has taint "node.kubernetes.io/not-ready:NoExecute" for 5m

      Examples:
        | nodes | unhealthy |
        | 1     | 1         |
        | 2     | 1         |
        | 2     | 2         |
        | 3     | 2         |

  Rule: In a small zone evictions stop when the unhealthy share reaches 55 % and three nodes or more are unhealthy

    What many new Nodes cost the controller, 20 requests a second, is over when the act begins.

    @req:EV-09 @req:EV-10
    Scenario Outline: <unhealthy> of <nodes> nodes are not ready: no eviction
      Given <nodes> hand-fed Nodes in zone "a"
      And 10s pass
      When the first <unhealthy> Nodes of zone "a" post condition Ready=False
      Then <unhealthy> Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      But never 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute" for 30m

      Examples:
        | nodes | unhealthy |
        | 4     | 3         |
        | 5     | 3         |
        | 7     | 4         |
        | 9     | 5         |
        | 20    | 11        |
        | 40    | 22        |

    @req:EV-09
    Scenario: Unreachable nodes count as unhealthy, like nodes that are not ready
      Given 5 hand-fed Nodes in zone "a"
      And Node "a-1" falls silent
      And Node "a-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      When Node "a-2" posts condition Ready=False
      And Node "a-3" posts condition Ready=False
      Then Node "a-2" has taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      And Node "a-3" has taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      But Node "a-2" never has taint "node.kubernetes.io/not-ready:NoExecute" for 10m
      And Node "a-3" never has taint "node.kubernetes.io/not-ready:NoExecute" for 10m
      And Node "a-1" keeps taint "node.kubernetes.io/unreachable:NoExecute" for 10m

    @req:EV-09 @req:EV-10
    Scenario: Evictions stop with the node that reaches the threshold, and go on when one comes back
      Given 7 hand-fed Nodes in zone "a"
      When the first 3 Nodes of zone "a" post condition Ready=False
      Then 3 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" between 20s and 26s
      When Node "a-4" posts condition Ready=False
      Then Node "a-4" has taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      But Node "a-4" never has taint "node.kubernetes.io/not-ready:NoExecute" for 10m
      And Node "a-1" keeps taint "node.kubernetes.io/not-ready:NoExecute" for 10m
      And Node "a-2" keeps taint "node.kubernetes.io/not-ready:NoExecute" for 10m
      When Node "a-1" posts condition Ready=True
      Then Node "a-1" has no taint "node.kubernetes.io/not-ready:NoExecute" within 6s
      And Node "a-4" has taint "node.kubernetes.io/not-ready:NoExecute" between 10s and 16s
      And Node "a-1" never has taint "node.kubernetes.io/not-ready:NoSchedule" for 2s
      And the history of Node "a-4" matches its snapshot

    @req:EV-09
    Scenario: A node that is labelled to be left out is not counted
      Given 5 hand-fed Nodes in zone "a"
      And the user labels Node "a-1" with "node.kubernetes.io/exclude-disruption=true"
      When the first 3 Nodes of zone "a" post condition Ready=False
      Then 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute" within 6s
      And 3 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" between 20s and 26s

  Rule: The threshold is the controller manager's flag

    @req:EV-09
    Scenario: A lower threshold
      Given kube-controller-manager runs with:
        | unhealthy-zone-threshold | 0.3 |
      And 10 hand-fed Nodes in zone "a"
      When the first 3 Nodes of zone "a" post condition Ready=False
      Then 3 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      But never 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute" for 10m

    @req:EV-09
    Scenario: A higher threshold
      Given kube-controller-manager runs with:
        | unhealthy-zone-threshold | 0.8 |
      And 4 hand-fed Nodes in zone "a"
      When the first 3 Nodes of zone "a" post condition Ready=False
      Then 3 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" between 20s and 26s

  Rule: Small is a zone of at most 50 nodes; larger ones are evicted at the secondary rate, one node each 100 seconds

    The documentation says that the size of the cluster decides; the code counts the nodes of the zone.

    @req:EV-10
    Scenario: A zone of 50 nodes is small
      Given 50 hand-fed Nodes in zone "a"
      When the first 28 Nodes of zone "a" post condition Ready=False
      Then 28 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoSchedule" within 5s
      But never 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute" for 10m

    @req:EV-11
    Scenario: A zone of 51 nodes is large
      Fifty-eight writes at once exceed what the client may send: the first taint may come late, the others do not.

      Given 51 hand-fed Nodes in zone "a"
      When the first 29 Nodes of zone "a" post condition Ready=False
      Then 29 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoSchedule" within 5s
      And 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute" within 6s
      And 2 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" between 98s and 100.2s after 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute"
      And 3 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" between 100s and 100.2s after 2 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute"
      And never 4 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" for 300s

    @req:EV-10
    Scenario: A small zone of a large cluster is small
      Given 5 hand-fed Nodes in zone "a"
      And 60 hand-fed Nodes in zone "b"
      And 10s pass
      When the first 3 Nodes of zone "a" post condition Ready=False
      Then 3 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      But never 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute" for 10m

    @req:EV-10
    Scenario: Nodes that are left out of the count do not make a zone large
      Given kube-controller-manager runs with:
        | large-cluster-size-threshold | 5 |
      And 6 hand-fed Nodes in zone "a"
      And the user labels Node "a-6" with "node.kubernetes.io/exclude-disruption=true"
      When the first 3 Nodes of zone "a" post condition Ready=False
      Then 3 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      But never 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute" for 10m

    # Three posts may straddle a health pass: the rate counts from the pass that finds the zone disrupted.
    @req:EV-11
    Scenario: The size and the secondary rate are the controller manager's flags
      Given kube-controller-manager runs with:
        | large-cluster-size-threshold | 4    |
        | secondary-node-eviction-rate | 0.02 |
      And 5 hand-fed Nodes in zone "a"
      When the first 3 Nodes of zone "a" post condition Ready=False
      Then 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute" within 6s
      And 2 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" between 50s and 55.2s after 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute"
      And 3 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" between 50s and 50.2s after 2 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute"
