@core
Feature: A Pod that comes to a node which is not ready is not ready either
  Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34), processPod

  Rule: What the Pod's own status says is corrected as soon as it is bound, without a health pass

    Scenario Outline: Somebody binds a ready Pod to a node with Ready=<status>
      Given a hand-fed Node "worker-1"
      And Node "worker-1" posts condition Ready=<status>
      And Node "worker-1" has taint "<taint>"
      And the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec: {schedulerName: nobody, containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      And the user sends strategic PATCH /api/v1/namespaces/default/pods/web/status:
        """
        status: {conditions: [{type: Ready, status: "True"}]}
        """
      When the user sends POST /api/v1/namespaces/default/pods/web/binding:
        """
        {kind: Binding, apiVersion: v1, metadata: {name: web}, target: {kind: Node, name: worker-1}}
        """
      Then Pod "web" field spec.nodeName is "worker-1" at once
      And Pod "web" has condition Ready=False within 2s

      Examples:
        | status  | taint                                       |
        | False   | node.kubernetes.io/not-ready:NoExecute      |
        | Unknown | node.kubernetes.io/unreachable:NoExecute    |

  Rule: A controller that starts knows no node yet, and passes over the Pods that are there

    The Pods that came while it was away are looked at before the first health pass, which finds no change of the node.

    Scenario: The node is not ready any more, and a ready Pod was bound, while the controller was away
      Given a hand-fed Node "worker-1"
      And node-lifecycle-controller stops
      And Node "worker-1" posts condition Ready=False
      And the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec: {nodeName: worker-1, containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      And the user sends strategic PATCH /api/v1/namespaces/default/pods/web/status:
        """
        status: {conditions: [{type: Ready, status: "True"}]}
        """
      When node-lifecycle-controller starts
      Then Node "worker-1" has taint "node.kubernetes.io/not-ready:NoSchedule" within 6s
      And Pod "web" keeps condition Ready=True for 60s
      And Node "worker-1" keeps condition Ready=False for 60s

  Rule: A Pod whose node has gone is looked at again, after pauses that double from 5 ms on

    Scenario: Its node comes back, and is not ready
      Given a hand-fed Node "worker-1"
      And the user deletes Node "worker-1"
      And Node "worker-1" is gone
      And the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec: {nodeName: worker-1, containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      And the user sends strategic PATCH /api/v1/namespaces/default/pods/web/status:
        """
        status: {conditions: [{type: Ready, status: "True"}]}
        """
      And 25s pass
      When the user sends POST /api/v1/nodes:
        """
        kind: Node
        apiVersion: v1
        metadata: {name: worker-1}
        status: {conditions: [{type: Ready, status: "False"}]}
        """
      Then Pod "web" has condition Ready=False between 5s and 17s
      And Node "worker-1" keeps condition Ready=False for 20s
