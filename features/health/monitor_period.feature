@core @req:NC-05
Feature: Every node is checked each monitor period
  Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34), monitorNodeHealth

  Rule: A silent node is found by the first health pass after the grace period

    The passes begin a period apart. The grace period counts from the pass that saw the last heartbeat, here at most 1 s old when the node
    falls silent, so the node is marked a whole number of periods after that pass.

    Scenario Outline: Passes each <period>, grace period of <grace>
      Given kube-controller-manager runs with:
        | node-monitor-period       | <period> |
        | node-monitor-grace-period | <grace>  |
      And a hand-fed Node "worker-1"
      And which is fed with:
        | lease | 1s |
      When Node "worker-1" falls silent
      Then Node "worker-1" keeps condition Ready=True for <first>
      And Node "worker-1" has condition Ready=Unknown between <first> and <last>

      Examples:
        | period | grace | first | last |
        | 1s     | 20s   | 19s   | 22s  |
        | 5s     | 20s   | 19s   | 26s  |
        | 10s    | 20s   | 19s   | 31s  |
        | 15s    | 20s   | 29s   | 46s  |
        | 20s    | 30s   | 39s   | 61s  |

  Rule: A node that says that it is not ready is tainted for eviction by the next health pass

    Scenario: The condition comes at once, NoSchedule follows it, NoExecute waits for the pass
      The pass that took the taint off has just been.

      Given kube-controller-manager runs with:
        | node-monitor-period | 1m |
      And a hand-fed Node "worker-1"
      When Node "worker-1" posts condition Ready=False
      And Node "worker-1" has taint "node.kubernetes.io/not-ready:NoExecute"
      And Node "worker-1" posts condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoExecute"
      And Node "worker-1" posts condition Ready=False
      Then Node "worker-1" has taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      But Node "worker-1" never has taint "node.kubernetes.io/not-ready:NoExecute" for 57s
      And Node "worker-1" has taint "node.kubernetes.io/not-ready:NoExecute" between 57s and 61s
      And the history of Node "worker-1" matches its snapshot

    Scenario: A node that is ready again before the pass is never tainted for eviction
      Given kube-controller-manager runs with:
        | node-monitor-period | 10m |
      And a hand-fed Node "worker-1"
      When Node "worker-1" posts condition Ready=False
      And Node "worker-1" has taint "node.kubernetes.io/not-ready:NoExecute"
      And Node "worker-1" posts condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoExecute"
      And 1m passes
      And Node "worker-1" posts condition Ready=False
      Then Node "worker-1" has taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      And Node "worker-1" never has taint "node.kubernetes.io/not-ready:NoExecute" for 30s
      When Node "worker-1" posts condition Ready=True
      Then Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      But Node "worker-1" never has taint "node.kubernetes.io/not-ready:NoExecute" for 20m
