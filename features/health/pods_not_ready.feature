@core @req:NC-06
Feature: The pods of a node that falls silent are marked as not ready
  Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34), monitorNodeHealth
  Source: pkg/controller/util/node/controller_utils.go (v1.34), MarkPodsNotReady

  Rule: When the controller turns Ready from True to Unknown, every Ready pod of the node becomes Ready=False

    Scenario: The kubelet is killed
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And a Pod "other" on Node "bystander"
      When the kubelet on "worker-1" is killed
      Then Pod "web" keeps condition Ready=True for 29s
      And Pod "web" has condition Ready=False after Node "worker-1" has condition Ready=Unknown, within 57s
      And 1 Event NodeNotReady about Pod "web", message "Node is not ready", within 120s
      But Pod "web" keeps field status.phase "Running" for 120s
      And Pod "web" keeps condition ContainersReady=True for 120s
      And nothing else about Pod "web" changes
      And Pod "other" keeps condition Ready=True for 120s
      And no Event NodeNotReady about Pod "other" for 120s
      And the history of Pod "web" matches its snapshot

    Scenario: Pods that tolerate everything, of another namespace, or that are being deleted are marked too
      Given a hand-fed Node "worker-1"
      And a Pod "agent" on Node "worker-1" that tolerates "node.kubernetes.io/unreachable" and "node.kubernetes.io/not-ready"
      And a Pod "kube-system/proxy" on Node "worker-1"
      And a Pod "leaving" on Node "worker-1"
      And the user deletes Pod "leaving"
      When Node "worker-1" falls silent
      Then Pod "agent" keeps condition Ready=True for 29s
      And Pod "agent" has condition Ready=False after Node "worker-1" has condition Ready=Unknown, within 61s
      And Pod "kube-system/proxy" has condition Ready=False after Node "worker-1" has condition Ready=Unknown, within 61s
      And Pod "leaving" has condition Ready=False after Node "worker-1" has condition Ready=Unknown, within 61s
      And 1 Event NodeNotReady about Pod "leaving", message "Node is not ready", within 120s

    Scenario: A pod that was not ready gets neither a write nor an Event
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And a Pod "broken" on Node "worker-1"
      And the user sends strategic PATCH /api/v1/namespaces/default/pods/broken/status:
        """yaml
        status: {conditions: [{type: Ready, status: "False", reason: ContainersNotReady}]}
        """
      When Node "worker-1" falls silent
      Then Pod "web" has condition Ready=False within 61s
      But Pod "broken" keeps condition Ready unchanged for 120s
      And nothing else about Pod "broken" changes
      And no Event NodeNotReady about Pod "broken" for 120s

  Rule: A pod whose marking failed is marked by the next health pass

    Scenario: The API server refuses the write once
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When PUT requests to pods/status from node-lifecycle-controller are answered 500 1 times
      And Node "worker-1" falls silent
      Then Pod "web" has condition Ready=False between 5s and 5.2s after Node "worker-1" has condition Ready=Unknown
      And Pod "web" keeps condition Ready=True for 34s
      And 2 Events NodeNotReady about Pod "web", message "Node is not ready", within 120s
      And 1 Event NodeNotReady about Node "worker-1" within 120s

  Rule: At other transitions the pods are left to the kubelet

    Scenario: The kubelet says itself that the node is not ready
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When Node "worker-1" posts condition Ready=False
      Then Node "worker-1" has taint "node.kubernetes.io/not-ready:NoExecute" within 6s
      But Pod "web" keeps condition Ready=True for 120s
      And no Event NodeNotReady about Pod "web" for 120s
      And no Event NodeNotReady about Node "worker-1" for 120s

    Scenario: A node that was not ready becomes Unknown
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And Node "worker-1" posts condition Ready=False
      When Node "worker-1" falls silent
      Then Node "worker-1" has condition Ready=Unknown between 29s and 61s
      But Pod "web" keeps condition Ready=True for 120s
      And no Event NodeNotReady about Pod "web" for 120s

    Scenario: A node that never was ready becomes Unknown
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Node
        metadata: {name: by-hand}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: web, namespace: default}
        spec: {nodeName: by-hand, containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      And the user sends strategic PATCH /api/v1/namespaces/default/pods/web/status:
        """yaml
        status: {phase: Running, conditions: [{type: Ready, status: "True"}]}
        """
      Then Node "by-hand" never has condition Ready=Unknown for 59s
      And Node "by-hand" has condition Ready=Unknown, reason "NodeStatusNeverUpdated", message "Kubelet never posted node status.", between 59s and 66s
      But Pod "web" keeps condition Ready=True for 180s
      And no Event NodeNotReady about Pod "web" for 180s
      And no Event NodeNotReady about Node "by-hand" for 180s
      And nothing else about Pod "web" changes

    Scenario: A pod that comes to a node that is Unknown already
      Given a hand-fed Node "worker-1"
      And Node "worker-1" falls silent
      And Node "worker-1" has condition Ready=Unknown
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: late, namespace: default}
        spec: {nodeName: worker-1, containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      Then Pod "late" keeps field status.phase "Pending" for 60s
      And no Event NodeNotReady about Pod "late" for 60s
      And nothing else about Pod "late" changes

    Scenario: A node that stays Unknown is not marked a second time
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And Node "worker-1" falls silent
      And Pod "web" has condition Ready=False
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web/status:
        """yaml
        status: {conditions: [{type: Ready, status: "True"}]}
        """
      Then Pod "web" keeps condition Ready=True for 120s
      And no Event NodeNotReady about Pod "web" for 120s
