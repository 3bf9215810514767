@core
Feature: Pods of a Node that is deleted are collected, and their names are free again
  Source: pkg/controller/podgc/gc_controller.go (v1.34), gcOrphaned
  Source: pkg/controller/statefulset/stateful_set_control.go (v1.34), processReplica

  Rule: Between 40 and 60 s after its deletion the pods of a Node that stays away fail and go

    The quarantine of 40 s is two of the collector's periods. On a real cluster a pass can come just before its end, and
    the next one is 20 s later.

    @req:EV-06
    Scenario: The names of a StatefulSet appear again on another node
      Given no other Node
      And a ready Node "worker-1"
      And a StatefulSet "db" of 2 Pods
      And a ready Node "worker-2"
      And machine "worker-1" loses power
      When the user deletes Node "worker-1"
      Then 2 Pods of "db" keep running on Node "worker-1" for 39s
      And Pod "db-0" has condition DisruptionTarget=True, reason "DeletionByPodGC", message "PodGC: node no longer exists", between 40s and 81s
      And Pod "db-0" field status.phase is "Failed" between 40s and 81s
      And Pod "db-0" is gone between 40s and 81s
      And Pod "db-1" is gone between 40s and 81s
      And 2 Pods of "db" are running on Node "worker-2" between 41s and 110s
      But Node "worker-1" never appears for 10m
      And 0 Pods of "db" are running on Node "worker-1" within 81s

    @req:EV-06 @sim-only:instants
    Scenario: A pass that comes after the end of the quarantine takes all pods
      Given no other Node
      And a ready Node "worker-1"
      And a StatefulSet "db" of 2 Pods
      And a Pod "forever" on Node "worker-1" that tolerates "node.kubernetes.io/unreachable:NoExecute"
      And a ready Node "worker-2"
      And machine "worker-1" loses power
      When the user deletes Node "worker-1"
      Then Pod "db-0" has condition DisruptionTarget=True, reason "DeletionByPodGC", message "PodGC: node no longer exists", between 40s and 61s
      And Pod "db-0" field status.phase is "Failed" between 40s and 61s
      And Pod "db-0" is gone between 40s and 61s
      And Pod "db-1" is gone between 40s and 61s
      And Pod "forever" is gone between 40s and 61s
      And 2 Pods of "db" are running on Node "worker-2" between 41s and 90s
      And 0 Pods of "db" are running on Node "worker-1" within 61s

    @req:EV-06 @sim-only:instants
    Scenario: A pass that comes after the end of the quarantine takes a Deployment's pods
      Given no other Node
      And a ready Node "worker-1"
      And a Deployment "web" of 3 Pods
      And a ready Node "worker-2"
      And machine "worker-1" loses power
      When the user deletes Node "worker-1"
      Then the Pods of "web" on Node "worker-1" are gone between 40s and 61s
      And 3 Pods of "web" are running on Node "worker-2" between 41s and 90s

    @req:EV-06 @sim-only:instants
    Scenario: A pass that comes after the end of the quarantine takes a bare pod
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And a Pod "forever" on Node "worker-1" that tolerates "node.kubernetes.io/unreachable:NoExecute"
      When the user deletes Node "worker-1"
      Then Pod "web" is gone between 40s and 61s
      And Pod "forever" is gone between 40s and 61s

    @req:EV-06
    Scenario: A Deployment's pods are made anew when the old ones fail, not before
      Given no other Node
      And a ready Node "worker-1"
      And a Deployment "web" of 3 Pods
      And a ready Node "worker-2"
      And machine "worker-1" loses power
      When the user deletes Node "worker-1"
      Then 3 Pods of "web" keep running on Node "worker-1" for 39s
      And 0 Pods of "web" keep running on Node "worker-2" for 39s
      And the Pods of "web" on Node "worker-1" are gone between 40s and 81s
      And 3 Pods of "web" are running on Node "worker-2" between 41s and 110s

    @req:EV-06
    Scenario: A bare pod goes for good, and its name can be used at once
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And a Pod "forever" on Node "worker-1" that tolerates "node.kubernetes.io/unreachable:NoExecute"
      When the user deletes Node "worker-1"
      Then Pod "web" stays for 39s
      And Pod "web" is gone between 40s and 81s
      And Pod "forever" is gone between 40s and 81s
      And no Event TaintManagerEviction about Pod "web" for 5m
      And the history of Pod "web" matches its snapshot
      When the user sends POST /api/v1/namespaces/default/pods:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          nodeName: bystander
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
        """
      Then the request is answered with 201
      And Pod "web" field status.phase is "Running" within 15s

    @req:EV-06
    Scenario: What goes with the Node at once
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When the user deletes Node "worker-1"
      Then the Lease of Node "worker-1" is gone within 1s
      But Pod "web" keeps field status.phase "Running" for 39s

    @req:EV-06
    Scenario: A Node that is there again before the quarantine is over keeps its pods
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And the user deletes Node "worker-1"
      And 5s pass
      When the kubelet on "worker-1" restarts
      Then Node "worker-1" exists within 5s
      And Pod "web" stays for 10m
      And Pod "web" keeps field status.phase "Running" for 10m

    @req:EV-06
    Scenario: Without the collector the pods stay
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And pod-garbage-collector-controller stops
      When the user deletes Node "worker-1"
      Then Pod "web" stays for 1h
      When pod-garbage-collector-controller starts
      Then Pod "web" stays for 39s
      And Pod "web" is gone between 40s and 61s

  Rule: To change a node for good, its Node is deleted and its kubelet registers anew

    @req:REG-13
    Scenario: Drained, deleted, registered anew with other labels
      Given no other Node
      And a ready Node "worker-1"
      And a StatefulSet "db" of 1 Pod
      And a ready Node "worker-2"
      And the user cordons Node "worker-1"
      When the user sends POST /api/v1/namespaces/default/pods/db-0/eviction:
        """
        apiVersion: policy/v1
        kind: Eviction
        metadata:
          name: db-0
        """
      Then the request is answered with 201
      And Pod "db-0" is gone within 40s
      And 1 Pod of "db" is running on Node "worker-2" within 90s
      When the user deletes Node "worker-1"
      And the kubelet on "worker-1" restarts with:
        | node-labels | disk=ssd |
      Then Node "worker-1" is gone within 1s
      And Node "worker-1" has label "disk=ssd" within 30s
      And Node "worker-1" has condition Ready=True within 30s
      And Node "worker-1" has no taint "node.kubernetes.io/unschedulable:NoSchedule" within 30s
      And 1 Pod of "db" keeps running on Node "worker-2" for 5m
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: fast
        spec:
          nodeSelector:
            disk: ssd
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
        """
      Then Pod "fast" field status.phase is "Running" within 15s
      And Pod "fast" field spec.nodeName is "worker-1" within 15s

    @req:REG-13
    Scenario: A label of the old Node is not taken over
      Given a ready Node "worker-1"
      And the user labels Node "worker-1" with "mine=yes"
      And the user taints Node "worker-1" with "dedicated=infra:NoSchedule"
      When the user deletes Node "worker-1"
      And the kubelet on "worker-1" restarts
      Then Node "worker-1" is gone within 1s
      And Node "worker-1" exists within 30s
      And Node "worker-1" has condition Ready=True within 30s
      When 1s passes
      Then Node "worker-1" never has label "mine=yes" for 5m
      And Node "worker-1" never has taint "dedicated=infra:NoSchedule" for 5m
