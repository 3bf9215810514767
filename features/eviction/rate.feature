@core @req:EV-08
Feature: Nodes are tainted for eviction one after the other
  Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34), doNoExecuteTaintingPass
  Source: pkg/controller/nodelifecycle/scheduler/rate_limited_queue.go (v1.34)

  Rule: In a zone, one node each ten seconds gets its NoExecute taint

    The rate is --node-eviction-rate, 0.1 per second. The queue is looked at each 100 ms, hence up to 0.2 s more.

    Scenario: Four of ten nodes are not ready at the same time
      Given 10 hand-fed Nodes in zone "a"
      When the first 4 Nodes of zone "a" post condition Ready=False
      Then 4 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      And 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute" within 6s
      And 2 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" between 10s and 10.2s after 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute"
      And 3 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" between 20s and 20.3s after 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute"
      And 4 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" between 30s and 30.4s after 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute"
      And never 5 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" for 5m

    @since:1.32
    Scenario: Nodes that fall silent are tainted at the same rate
      Given 10 hand-fed Nodes in zone "a"
      When the first 3 Nodes of zone "a" fall silent
      Then never 1 Node of zone "a" has taint "node.kubernetes.io/unreachable:NoExecute" for 39s
      And 3 Nodes of zone "a" have taint "node.kubernetes.io/unreachable:NoSchedule" between 39s and 62s
      And 1 Node of zone "a" has taint "node.kubernetes.io/unreachable:NoExecute" between 39s and 61s
      And 2 Nodes of zone "a" have taint "node.kubernetes.io/unreachable:NoExecute" between 10s and 20.3s after 1 Node of zone "a" has taint "node.kubernetes.io/unreachable:NoExecute"
      And 3 Nodes of zone "a" have taint "node.kubernetes.io/unreachable:NoExecute" between 10s and 20.3s after 2 Nodes of zone "a" have taint "node.kubernetes.io/unreachable:NoExecute"

    Scenario: A quiet hour saves up nothing
      Given 10 hand-fed Nodes in zone "a"
      And 1h passes
      When the first 2 Nodes of zone "a" post condition Ready=False
      Then 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute" within 6s
      And never 2 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" for 10s
      And 2 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" between 10s and 16s

    Scenario: The pods of each node have their whole time from its own taint
      Given 6 hand-fed Nodes in zone "a"
      And a Pod "one" on Node "a-1" that tolerates "node.kubernetes.io/not-ready:NoExecute" for 30s
      And a Pod "two" on Node "a-2" that tolerates "node.kubernetes.io/not-ready:NoExecute" for 30s
      When the first 2 Nodes of zone "a" post condition Ready=False
      Then Pod "one" is deleted at 30s after Node "a-1" has taint "node.kubernetes.io/not-ready:NoExecute"
      And Pod "two" is deleted at 30s after Node "a-2" has taint "node.kubernetes.io/not-ready:NoExecute"
      And Pod "one" stays for 30s
      And Pod "two" stays for 30s

  Rule: The rate is the controller manager's flag

    Scenario: One node each two seconds
      Given kube-controller-manager runs with:
        | node-eviction-rate | 0.5 |
      And 10 hand-fed Nodes in zone "a"
      When the first 3 Nodes of zone "a" post condition Ready=False
      Then 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute" within 6s
      And 2 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" between 2s and 2.2s after 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute"
      And 3 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" between 4s and 4.3s after 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute"

    Scenario: With a rate of zero the full bucket of the start is all that there is
      A zone begins with one token and gets no other, however long it was quiet.

      Given kube-controller-manager runs with:
        | node-eviction-rate | 0 |
      And 10 hand-fed Nodes in zone "a"
      And 1h passes
      When the first 3 Nodes of zone "a" post condition Ready=False
      Then 3 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      And 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute" within 6s
      But never 2 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" for 1h

    Scenario: With a rate of zero a node that is tainted already still changes its taint
      Given kube-controller-manager runs with:
        | node-eviction-rate | 0 |
      And 10 hand-fed Nodes in zone "a"
      And Node "a-1" posts condition Ready=False
      And Node "a-1" has taint "node.kubernetes.io/not-ready:NoExecute"
      When Node "a-1" falls silent
      Then Node "a-1" has taint "node.kubernetes.io/unreachable:NoExecute" between 29s and 61s

  Rule: Only adding the first NoExecute taint is limited: not its removal, nor the exchange of one for the other

    Scenario: Nodes that come back lose their taints together
      Given 6 hand-fed Nodes in zone "a"
      And the first 2 Nodes of zone "a" post condition Ready=False
      And Node "a-1" has taint "node.kubernetes.io/not-ready:NoExecute"
      And Node "a-2" has taint "node.kubernetes.io/not-ready:NoExecute"
      When the first 2 Nodes of zone "a" post condition Ready=True
      Then Node "a-1" has no taint "node.kubernetes.io/not-ready:NoExecute" within 6s
      And Node "a-2" has no taint "node.kubernetes.io/not-ready:NoExecute" within 6s
      And the history of Node "a-1" matches its snapshot

    Scenario: Nodes that come back while they wait for their turn leave the queue
      Given 8 hand-fed Nodes in zone "a"
      And the first 3 Nodes of zone "a" post condition Ready=False
      And 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute"
      And 3 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoSchedule"
      When the first 3 Nodes of zone "a" post condition Ready=True
      Then Node "a-1" has no taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      And Node "a-2" has no taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      And Node "a-3" has no taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      And never 2 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" for 10m

    Scenario: A node that comes back and goes again waits for the next token
      Given kube-controller-manager runs with:
        | node-eviction-rate | 0.01 |
      And 6 hand-fed Nodes in zone "a"
      And Node "a-1" posts condition Ready=False
      And Node "a-1" has taint "node.kubernetes.io/not-ready:NoExecute"
      And Node "a-1" posts condition Ready=True
      And Node "a-1" has no taint "node.kubernetes.io/not-ready:NoExecute"
      When Node "a-1" posts condition Ready=False
      Then Node "a-1" has taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      And Node "a-1" never has taint "node.kubernetes.io/not-ready:NoExecute" for 85s
      And Node "a-1" has taint "node.kubernetes.io/not-ready:NoExecute" between 85s and 100.2s

    Scenario: A node that is deleted while it waits does not hold up the others
      Given kube-controller-manager runs with:
        | node-eviction-rate | 0.04 |
      And 8 hand-fed Nodes in zone "a"
      And Node "a-1" posts condition Ready=False
      And Node "a-1" has taint "node.kubernetes.io/not-ready:NoExecute"
      And Node "a-2" posts condition Ready=False
      And 6s pass
      And Node "a-3" posts condition Ready=False
      And 6s pass
      When the user deletes Node "a-2"
      Then Node "a-2" is gone within 1s
      And Node "a-3" never has taint "node.kubernetes.io/not-ready:NoExecute" for 7s
      And Node "a-3" has taint "node.kubernetes.io/not-ready:NoExecute" between 7s and 38.3s
      And Node "a-1" keeps taint "node.kubernetes.io/not-ready:NoExecute" for 30s
