@core
Feature: A machine dies without a word, and the pods of a StatefulSet wait for it
  Source: pkg/controller/statefulset/stateful_set_control.go (v1.34), processReplica
  Source: pkg/controller/tainteviction/taint_eviction.go (v1.34), processPodOnNode
  Source: pkg/controller/podgc/gc_controller.go (v1.34), gcOrphaned

  Rule: The pod is deleted and stays Terminating, and no other can be made under its name

    @req:NG-01
    Scenario: One of two pods was on the machine
      The set counts the pod that is left, and does not make a third.

      Given no other Node
      And a ready Node "worker-1"
      And a StatefulSet "db" of 1 Pod
      And a ready Node "worker-2"
      And the user cordons Node "worker-1"
      And the user sends PATCH /apis/apps/v1/namespaces/default/statefulsets/db:
        """yaml
        spec: {replicas: 2}
        """
      And 2 Pods of "db" are running
      And the user uncordons Node "worker-1"
      When machine "worker-1" loses power
      Then Pod "db-0" stays for 329s
      And StatefulSet "db" field status.readyReplicas is 1 between 29s and 58s
      And Pod "db-0" is deleted between 329s and 377s
      And Pod "db-0" has condition DisruptionTarget=True, reason "DeletionByTaintManager", within 377s
      And StatefulSet "db" keeps field status.replicas at 2 for 377s
      When 1s passes
      Then Pod "db-0" stays terminating for 5m
      And Pod "db-0" keeps field status.phase "Running" for 5m
      And Pod "db-0" keeps field spec.nodeName at "worker-1" for 5m
      And StatefulSet "db" keeps field status.readyReplicas at 1 for 5m
      And 1 Pod of "db" keeps running on Node "worker-2" for 5m
      And 0 Pods of "db" keep running on Node "worker-1" for 5m

    @req:NG-01
    Scenario Outline: A set that makes its pods <how> has <others> more when it is scaled up
      Given kube-controller-manager runs with:
        | node-monitor-grace-period | 20s |
      And kube-apiserver runs with:
        | default-unreachable-toleration-seconds | 5 |
      And no other Node
      And a ready Node "worker-1"
      And the objects:
        """yaml
        apiVersion: apps/v1
        kind: StatefulSet
        metadata: {name: db, namespace: default}
        spec:
          replicas: 1
          serviceName: db
          podManagementPolicy: <policy>
          selector: {matchLabels: {app: db}}
          template:
            metadata: {labels: {app: db}}
            spec: {containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      And 1 Pod of "db" is running
      And a ready Node "worker-2"
      And machine "worker-1" loses power
      And the Pod of "db" on Node "worker-1" has condition DisruptionTarget=True
      When the user sends PATCH /apis/apps/v1/namespaces/default/statefulsets/db:
        """yaml
        spec: {replicas: 2}
        """
      Then StatefulSet "db" field status.observedGeneration is 2 within 5s
      And the Pods of "db" on Node "worker-1" stay terminating for 60s
      When 20s pass
      Then <others> Pods of "db" keep running for 60s

      Examples:
        | policy       | how               | others |
        | OrderedReady | one after another | 0      |
        | Parallel     | all at once       | 1      |

    @req:NG-01 @req:EV-04
    Scenario: Deleted again by the user, the pod stays
      A deletion with the grace period that it has already does nothing more.

      Given kube-controller-manager runs with:
        | node-monitor-grace-period | 20s |
      And kube-apiserver runs with:
        | default-unreachable-toleration-seconds | 5 |
      And no other Node
      And a ready Node "worker-1"
      And a StatefulSet "db" of 1 Pod
      And a ready Node "worker-2"
      And machine "worker-1" loses power
      And Pod "db-0" is deleted
      When the user sends DELETE /api/v1/namespaces/default/pods/db-0
      Then the request is answered with 200
      And Pod "db-0" stays terminating for 60s
      And Pod "db-0" keeps field metadata.deletionGracePeriodSeconds at 30 for 60s
      And 0 Pods of "db" keep running on Node "worker-2" for 60s

    @req:NG-01 @req:EV-04
    Scenario: Deleted by force, the pod is gone, and another takes its name and runs elsewhere
      Given kube-controller-manager runs with:
        | node-monitor-grace-period | 20s |
      And kube-apiserver runs with:
        | default-unreachable-toleration-seconds | 5 |
      And no other Node
      And a ready Node "worker-1"
      And a StatefulSet "db" of 1 Pod
      And a ready Node "worker-2"
      And machine "worker-1" loses power
      And Pod "db-0" is deleted
      When the user sends DELETE /api/v1/namespaces/default/pods/db-0:
        """yaml
        {gracePeriodSeconds: 0}
        """
      Then the request is answered with 200
      And Pod "db-0" is gone within 1s
      And 1 Pod of "db" is running on Node "worker-2" within 20s
      And StatefulSet "db" field status.readyReplicas is 1 within 20s
      When machine "worker-1" gets power
      Then Node "worker-1" has condition Ready=True within 60s
      And container "main" of Pod "db-0" keeps running on machine "worker-2" for 90s
      And 1 Pod of "db" keeps running on Node "worker-2" for 90s
      And 0 Pods of "db" keep running on Node "worker-1" for 90s

    @req:EV-04
    Scenario: Behind a partition the same force leaves two pods of one name running
      That is why nobody but the user deletes pods by force.

      Given kube-controller-manager runs with:
        | node-monitor-grace-period | 20s |
      And kube-apiserver runs with:
        | default-unreachable-toleration-seconds | 5 |
      And no other Node
      And a ready Node "worker-1"
      And a StatefulSet "db" of 1 Pod
      And a ready Node "worker-2"
      And machine "worker-1" loses its connection to the API server
      And Pod "db-0" is deleted
      When the user sends DELETE /api/v1/namespaces/default/pods/db-0:
        """yaml
        {gracePeriodSeconds: 0}
        """
      Then 1 Pod of "db" is running on Node "worker-2" within 20s
      And container "main" of Pod "db-0" keeps running on machine "worker-1" for 60s
      When machine "worker-1" regains its connection to the API server
      Then container "main" of Pod "db-0" stops on machine "worker-1" within 95s
      And container "main" of Pod "db-0" keeps running on machine "worker-2" for 95s
      And Pod "db-0" stays for 95s

  Rule: If the machine stays away, the pod stays Terminating for ever

    @req:NG-04
    Scenario: A day without power
      Given no other Node
      And a ready Node "worker-1"
      And a StatefulSet "db" of 1 Pod
      And a ready Node "worker-2"
      And machine "worker-1" loses power
      And Pod "db-0" is deleted
      When 1h passes
      Then Pod "db-0" stays terminating for 24h
      And Pod "db-0" keeps field status.phase "Running" for 24h
      And Node "worker-1" keeps condition Ready=Unknown for 24h
      And Node "worker-1" keeps taint "node.kubernetes.io/unreachable:NoExecute" for 24h
      And StatefulSet "db" keeps field status.replicas at 1 for 24h
      And StatefulSet "db" keeps field status.readyReplicas absent for 24h
      And 0 Pods of "db" keep running on Node "worker-2" for 24h
      And nothing else about Pod "db-0" changes

    @req:NG-04
    Scenario: Nobody who starts anew ends it
      Given no other Node
      And a ready Node "worker-1"
      And a StatefulSet "db" of 1 Pod
      And a ready Node "worker-2"
      And machine "worker-1" loses power
      And Pod "db-0" is deleted
      When kube-controller-manager restarts
      Then Event RegisteredNode about Node "worker-2" within 30s
      But Pod "db-0" stays terminating for 1h
      And 0 Pods of "db" keep running on Node "worker-2" for 1h

  Rule: If the machine comes back, its kubelet ends the pod, and the replacement is scheduled anew

    @req:NG-03
    Scenario: Within the grace period
      The machine is as new, its containers are not: the pod is the same, and its container a second one.

      Given no other Node
      And a ready Node "worker-1"
      And a StatefulSet "db" of 1 Pod
      And a ready Node "worker-2"
      And machine "worker-1" loses power
      And 5s pass
      When machine "worker-1" gets power
      Then Pod "db-0" field status.containerStatuses[main].restartCount is 1 within 60s
      And Pod "db-0" stays for 10m
      And Pod "db-0" keeps field spec.nodeName at "worker-1" for 10m
      And Node "worker-1" never has taint "node.kubernetes.io/unreachable:NoExecute" for 10m
      And no Event TaintManagerEviction about Pod "db-0" for 10m

    @req:NG-03
    Scenario: After the node was marked, before the pod is deleted
      Given no other Node
      And a ready Node "worker-1"
      And a StatefulSet "db" of 1 Pod
      And a ready Node "worker-2"
      And machine "worker-1" loses power
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      And 60s pass
      When machine "worker-1" gets power
      Then Node "worker-1" has no taint "node.kubernetes.io/unreachable:NoExecute" within 60s
      And Event TaintManagerEviction about Pod "db-0", message "Cancelling deletion of Pod default/db-0", within 60s
      And Pod "db-0" field status.containerStatuses[main].restartCount is 1 within 60s
      And Pod "db-0" has condition Ready=True within 60s
      And Pod "db-0" stays for 10m
      And StatefulSet "db" field status.readyReplicas is 1 within 60s

    @req:NG-03
    Scenario: After the pod was deleted
      Given no other Node
      And a ready Node "worker-1"
      And a StatefulSet "db" of 1 Pod
      And a ready Node "worker-2"
      And machine "worker-1" loses power
      And Pod "db-0" is deleted
      And the user cordons Node "worker-1"
      And 5m pass
      When machine "worker-1" gets power
      Then Node "worker-1" has condition Ready=True within 60s
      And Pod "db-0" is gone within 60s
      And 0 Pods of "db" keep running on Node "worker-1" for 10m
      And 1 Pod of "db" is running on Node "worker-2" after Pod "db-0" is gone, within 90s
      And StatefulSet "db" field status.readyReplicas is 1 within 90s
      And the history of Pod "db-0" matches its snapshot

    @req:NG-03
    Scenario: After the pod was deleted, where no other node has room
      The node that lost the pod may get the next of its name, as soon as it has lost its taints.

      Given no other Node
      And a ready Node "worker-1"
      And a StatefulSet "db" of 1 Pod
      And machine "worker-1" loses power
      And 10m pass
      When the user deletes Pod "db-0"
      Then Pod "db-0" stays terminating for 60s
      When machine "worker-1" gets power
      Then Pod "db-0" is gone within 60s
      And 1 Pod of "db" is running on Node "worker-1" after Pod "db-0" is gone, within 90s

    @req:NG-03 @req:EV-06
    Scenario: After the Node was deleted
      The pod is collected with its Node; what comes back is empty.

      Given no other Node
      And a ready Node "worker-1"
      And a StatefulSet "db" of 1 Pod
      And a ready Node "worker-2"
      And machine "worker-1" loses power
      And Pod "db-0" is deleted
      When the user deletes Node "worker-1"
      Then Pod "db-0" stays terminating for 39s
      And Pod "db-0" is gone between 40s and 81s
      And 1 Pod of "db" is running on Node "worker-2" after Pod "db-0" is gone, within 110s
      And the history of Pod "db-0" matches its snapshot
      When machine "worker-1" gets power
      Then Node "worker-1" has condition Ready=True within 60s
      And 1 Pod of "db" keeps running on Node "worker-2" for 10m
      And 0 Pods of "db" keep running on Node "worker-1" for 10m
