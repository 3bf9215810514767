@core
Feature: A Node made by hand
  Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34), tryUpdateNodeHealth

  @req:MAN-01
  Rule: A Node without a kubelet is kept, is marked, and is checked until someone deletes it

    Scenario: The Node of the documentation
      When the user creates:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: 10.240.79.157
          labels:
            name: my-first-k8s-node
        """
      Then Node "10.240.79.157" has condition Ready=Unknown, reason "NodeStatusNeverUpdated", message "Kubelet never posted node status.", between 60s and 66s
      And Node "10.240.79.157" has condition MemoryPressure=Unknown, reason "NodeStatusNeverUpdated", between 60s and 66s
      And Node "10.240.79.157" has condition DiskPressure=Unknown, reason "NodeStatusNeverUpdated", between 60s and 66s
      And Node "10.240.79.157" has condition PIDPressure=Unknown, reason "NodeStatusNeverUpdated", between 60s and 66s
      And Node "10.240.79.157" has taint "node.kubernetes.io/unreachable:NoSchedule" between 60s and 66s
      And Node "10.240.79.157" has taint "node.kubernetes.io/unreachable:NoExecute" between 60s and 77s
      And Node "10.240.79.157" stays for 2h
      But no Event NodeNotReady about Node "10.240.79.157" for 2h
      And the history of Node "10.240.79.157" matches its snapshot

  @req:MAN-03
  Rule: Only deleting the Node stops the checking

    Scenario: The Node is deleted
      Given a hand-fed Node "worker-1"
      When the user deletes Node "worker-1"
      Then Node "worker-1" is gone within 1s
      And Event RemovingNode about Node "worker-1" within 6s
      And Node "worker-1" never appears for 2h
      But no Event NodeNotReady about Node "worker-1" for 2h

  @req:MAN-04
  Rule: An administrator may change a Node whatever --register-node says

    Scenario Outline: Labels and cordon persist with register-node=<register>
      Given a machine "worker-1"
      And whose kubelet runs with:
        | flag          | value      |
        | register-node | <register> |
      And the object:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-1
        """
      And Node "worker-1" has condition Ready=True
      When the user labels Node "worker-1" with "example.com/rack=r7"
      And the user cordons Node "worker-1"
      Then Node "worker-1" has taint "node.kubernetes.io/unschedulable:NoSchedule" within 1s
      And Node "worker-1" keeps label "example.com/rack=r7" for 20m
      And field spec.unschedulable of Node "worker-1" stays true for 20m
      And Node "worker-1" keeps condition Ready=True for 20m

      Examples:
        | register |
        | true     |
        | false    |

    Scenario: Uncordoning takes the taint off
      Given a ready Node "worker-1"
      And the user cordons Node "worker-1"
      And Node "worker-1" has taint "node.kubernetes.io/unschedulable:NoSchedule"
      When the user uncordons Node "worker-1"
      Then Node "worker-1" has no taint "node.kubernetes.io/unschedulable:NoSchedule" within 1s
      And nothing else about Node "worker-1" changes
