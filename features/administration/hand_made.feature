@core
Feature: A Node made by hand
  Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34), tryUpdateNodeHealth, monitorNodeHealth

  @req:MAN-01
  Rule: A Node behind which no kubelet stands is kept, and marked once the startup grace period is over

    Scenario: The Node of the documentation
      60 s from its creation, an instant of whole seconds, and up to the next health pass. Without a Ready condition the
      taint that admission gave it goes at once; until it is marked it looks like a node that is fine.

      When the user creates:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: 10.240.79.157
          labels:
            name: my-first-k8s-node
        """
      Then Node "10.240.79.157" has no taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      And Event RegisteredNode about Node "10.240.79.157", message "Node 10.240.79.157 event: Registered Node 10.240.79.157 in Controller", within 6s
      And Node "10.240.79.157" has condition Ready=Unknown, reason "NodeStatusNeverUpdated", message "Kubelet never posted node status.", between 59s and 66s
      And Node "10.240.79.157" has condition MemoryPressure=Unknown, reason "NodeStatusNeverUpdated", message "Kubelet never posted node status.", between 59s and 66s
      And Node "10.240.79.157" has condition DiskPressure=Unknown, reason "NodeStatusNeverUpdated", message "Kubelet never posted node status.", between 59s and 66s
      And Node "10.240.79.157" has condition PIDPressure=Unknown, reason "NodeStatusNeverUpdated", message "Kubelet never posted node status.", between 59s and 66s
      And Node "10.240.79.157" has taint "node.kubernetes.io/unreachable:NoSchedule" between 59s and 67s
      And Node "10.240.79.157" has taint "node.kubernetes.io/unreachable:NoExecute" between 59s and 77s
      And Node "10.240.79.157" keeps field metadata.uid set for 24h
      And Node "10.240.79.157" keeps label "name=my-first-k8s-node" for 24h
      But the Lease of Node "10.240.79.157" never appears for 24h
      And Node "10.240.79.157" never has taint "node.kubernetes.io/not-ready:NoExecute" for 24h
      And no Event NodeNotReady about Node "10.240.79.157" for 24h
      And Node "10.240.79.157" matches its snapshot
      And the history of Node "10.240.79.157" matches its snapshot

    Scenario: Once it is marked nothing about it changes
      Given the object:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-1
        """
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      When 1s passes
      Then Node "worker-1" stays for 24h
      And Node "worker-1" keeps condition Ready unchanged for 24h
      And nothing else about Node "worker-1" changes

    Scenario: A Node that is made with a Ready condition has the grace period of a node that runs
      Its status is taken as it is sent. What the condition says counts from the pass that first sees it.

      When the user creates:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-1
        status:
          conditions:
            - {type: Ready, status: "True", reason: Mine, message: it is fine}
        """
      Then Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      And Node "worker-1" keeps condition Ready=True, reason "Mine" for the grace period less 1s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", message "Kubelet stopped posting node status.", between the grace period less 1s and the grace period and 11s
      And Node "worker-1" has condition MemoryPressure=Unknown, reason "NodeStatusNeverUpdated", message "Kubelet never posted node status.", between the grace period less 1s and the grace period and 11s
      And Event NodeNotReady about Node "worker-1", message "Node worker-1 status is now: NodeNotReady", within the grace period and 11s
      And the history of Node "worker-1" matches its snapshot

    Scenario: The startup grace period is the controller manager's flag
      Given kube-controller-manager runs with:
        | node-startup-grace-period | 2m |
      When the user creates:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-1
        """
      Then Node "worker-1" never has condition Ready=Unknown for 119s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusNeverUpdated", between 119s and 126s

    Scenario: A pod that is bound to it is not run, and is evicted as from any node
      Given the object:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-1
        """
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
        """
      Then Pod "web" keeps field status.phase "Pending" for 1h
      And Pod "web" is deleted at 300s after Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      And Pod "web" stays for 340s

    Scenario: A second Node of the name is refused
      Given the object:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-1
        """
      When the user sends POST /api/v1/nodes:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-1
          labels: {mine: "yes"}
        """
      Then the request is refused with 409 "nodes "worker-1" already exists"
      And Node "worker-1" never has label "mine" for 1m

    Scenario: A name that is no DNS subdomain is refused
      When the user sends POST /api/v1/nodes:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: Worker_1
        """
      Then the request is refused with 422 "Node "Worker_1" is invalid: metadata.name: Invalid value: "Worker_1": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

  @req:MAN-01
  Rule: It is checked until someone deletes it: a kubelet that comes late is noticed

    Scenario: A kubelet registers under its name after a day
      Given the object:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-1
        """
      And 24h pass
      When a kubelet named "worker-1" registers
      Then Node "worker-1" has condition Ready=True, reason "KubeletReady", within 15s
      And Node "worker-1" has no taint "node.kubernetes.io/unreachable:NoSchedule" within 16s
      And Node "worker-1" has no taint "node.kubernetes.io/unreachable:NoExecute" within 21s
      And Node "worker-1" keeps field metadata.uid unchanged for 10m

  @req:MAN-03
  Rule: Only deleting the Node stops the checking

    Scenario: The Node is deleted
      Given a hand-fed Node "worker-1"
      When the user deletes Node "worker-1"
      Then Node "worker-1" is gone at once
      And Event RemovingNode about Node "worker-1", message "Node worker-1 event: Removing Node worker-1 from Controller", within 6s
      And the Lease of Node "worker-1" is gone within 10s
      And Node "worker-1" never appears for 24h
      But no Event NodeNotReady about Node "worker-1" for 24h

    Scenario: The Node is deleted after it was marked
      Given the object:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-1
        """
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      When the user deletes Node "worker-1"
      Then Node "worker-1" never appears for 24h
      And 1 Event RemovingNode about Node "worker-1" within 24h
      But no Event NodeNotReady about Node "worker-1" for 24h
      And no Event RegisteredNode about Node "worker-1" for 24h

    Scenario Outline: <what> does not stop it
      Given a hand-fed Node "worker-1"
      And the user <does>
      When Node "worker-1" falls silent
      Then Node "worker-1" keeps condition Ready=True for 29s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between 29s and 61s
      And Event NodeNotReady about Node "worker-1", within 61s

      Examples:
        | what      | does                                                                     |
        | Cordoning | cordons Node "worker-1"                                                  |
        | A taint   | taints Node "worker-1" with "dedicated=infra:NoExecute"                  |
        | A label   | labels Node "worker-1" with "node.kubernetes.io/exclude-disruption=true" |

    Scenario: It goes on for ever
      Given a hand-fed Node "worker-1"
      And Node "worker-1" falls silent
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      And 24h pass
      When Node "worker-1" is fed again
      Then Node "worker-1" has no taint "node.kubernetes.io/unreachable:NoSchedule" within 1s
      And Node "worker-1" has no taint "node.kubernetes.io/unreachable:NoExecute" within 6s
      When Node "worker-1" falls silent
      Then Node "worker-1" keeps condition Ready=True for 29s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between 29s and 61s

    Scenario: A taint that somebody takes off a silent Node comes back
      Given a hand-fed Node "worker-1"
      And Node "worker-1" falls silent
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      When the user removes taint "node.kubernetes.io/unreachable:NoSchedule" from Node "worker-1"
      Then Node "worker-1" has taint "node.kubernetes.io/unreachable:NoSchedule" after Node "worker-1" has no taint "node.kubernetes.io/unreachable:NoSchedule", within 1s
      And Node "worker-1" keeps condition Ready unchanged for 10m

    Scenario: A Node that is made again under a name that was given up on is marked by the next health pass
      What the controller remembers of a name outlives the Node: the new one has no startup grace period.

      Given the object:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-1
        """
      And Node "worker-1" has condition Ready=Unknown
      And the user deletes Node "worker-1"
      And 10m pass
      When the user creates:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-1
        """
      Then Event RegisteredNode about Node "worker-1" within 6s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusNeverUpdated", within 6s
