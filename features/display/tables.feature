@extended
Feature: What kubectl get shows of Nodes and Pods
  Source: pkg/printers/internalversion/printers.go (v1.34), printNode, printPod

  @req:MAN-10
  Rule: SchedulingDisabled is what is shown of a cordoned Node, and no condition

    @custom:SchedulingDisabled
    Scenario: A Node is cordoned
      Given a ready Node "worker-1"
      When the user cordons Node "worker-1"
      Then Node "worker-1" field spec.unschedulable is true within 1s
      And the table of nodes matches its snapshot
      But Node "worker-1" keeps field status.conditions[SchedulingDisabled] absent for 30s

    Scenario: A cordoned Node is not ready
      Given a ready Node "worker-1"
      And the user cordons Node "worker-1"
      When the kubelet on "worker-1" is killed
      Then Node "worker-1" has condition Ready=Unknown between 29s and 57s
      And the table of nodes matches its snapshot

    Scenario: It is uncordoned
      Given a ready Node "worker-1"
      And the user cordons Node "worker-1"
      When the user uncordons Node "worker-1"
      Then Node "worker-1" field spec.unschedulable is absent within 1s
      And the table of nodes matches its snapshot

  @req:STA-02
  Rule: NotReady is shown for Ready=False and for Ready=Unknown alike, and a Node without the condition is Unknown

    Scenario: The kubelet says that it is not ready
      Given a ready Node "worker-1"
      When the container network on "worker-1" is removed
      Then Node "worker-1" has condition Ready=False within 15s
      And the table of nodes matches its snapshot

    Scenario: A Node that nobody has written a status for
      Given no other Node
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Node
        metadata: {name: by-hand, labels: {node-role.kubernetes.io/infra: "", kubernetes.io/role: edge}}
        """
      Then Node "by-hand" exists at once
      And the table of nodes matches its snapshot

  @req:EV-04
  Rule: A Pod on a silent Node is shown as Terminating once it is to be deleted, and as running until then

    Scenario: Before and after the eviction
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1" that tolerates "node.kubernetes.io/unreachable:NoExecute" for 60s
      When machine "worker-1" loses its connection to the API server
      Then Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute" between 29s and 72s
      And the table of pods matches its snapshot
      When 70s pass
      Then Pod "web" stays terminating for 60s
      And the table of pods matches its snapshot
