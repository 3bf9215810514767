@core
Feature: A PodDisruptionBudget holds evictions that are asked for, and nothing else
  Source: pkg/registry/core/pod/storage/eviction.go (v1.34), EvictionREST.Create
  Source: pkg/controller/disruption/disruption.go (v1.34), updatePdbStatus, getExpectedScale

  Background:
    Given a ready Node "worker-1"
    And a StatefulSet "db" of 2 Pods

  Rule: What the budget cannot spare stays

    Scenario: All that there are have to be healthy
      Given a PodDisruptionBudget "db" that keeps 2 of "app=db"
      And 1s passes
      When the user sends POST /api/v1/namespaces/default/pods/db-0/eviction:
        """
        apiVersion: policy/v1
        kind: Eviction
        metadata: {name: db-0}
        """
      Then the request is refused with 429 "Cannot evict pod as it would violate the pod's disruption budget."
      And Pod "db-0" stays for 10m

    Scenario: One may go, and the next when the first is back
      Given a PodDisruptionBudget "db" that keeps 1 of "app=db"
      And 1s passes
      When the user sends POST /api/v1/namespaces/default/pods/db-0/eviction:
        """
        apiVersion: policy/v1
        kind: Eviction
        metadata: {name: db-0}
        """
      Then the request is answered with 201
      And Pod "db-0" is terminating at once
      When the user sends POST /api/v1/namespaces/default/pods/db-1/eviction:
        """
        apiVersion: policy/v1
        kind: Eviction
        metadata: {name: db-1}
        """
      Then the request is refused with 429 "Cannot evict pod as it would violate the pod's disruption budget."
      And Pod "db-1" stays for 30s
      And 2 Pods of "db" are running within 60s
      When 30s pass
      And the user sends POST /api/v1/namespaces/default/pods/db-1/eviction:
        """
        apiVersion: policy/v1
        kind: Eviction
        metadata: {name: db-1}
        """
      Then the request is answered with 201
      And Pod "db-1" is terminating at once

    Scenario: A Pod without an owner is healthy, and is not among those that there should be
      Given a PodDisruptionBudget "db" that keeps 100% of "app=db"
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: alone, labels: {app: db}}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause}]
        """
      And 5s pass
      When the user sends POST /api/v1/namespaces/default/pods/db-0/eviction:
        """
        apiVersion: policy/v1
        kind: Eviction
        metadata: {name: db-0}
        """
      Then the request is answered with 201
      And Pod "db-0" is terminating at once

  Rule: A deletion, and an eviction by taint, ask no budget

    Scenario: The user deletes the pod
      Given a PodDisruptionBudget "db" that keeps 2 of "app=db"
      And 1s passes
      When the user deletes Pod "db-0"
      Then Pod "db-0" is terminating at once

    Scenario: The node gets a taint that its pods do not tolerate
      Given a PodDisruptionBudget "db" that keeps 2 of "app=db"
      And 1s passes
      When the user taints Node "worker-1" with "maintenance=yes:NoExecute"
      Then Pod "db-0" is terminating within 1s
      And Pod "db-1" is terminating within 1s

  Rule: Cordoned, emptied, uncordoned: a node's pods run elsewhere, and the node is as it was

    Scenario: One pod is evicted from the node
      Given a Pod "alone" on Node "worker-1"
      When the user cordons Node "worker-1"
      And Node "worker-1" has taint "node.kubernetes.io/unschedulable:NoSchedule"
      And the user sends POST /api/v1/namespaces/default/pods/alone/eviction:
        """
        apiVersion: policy/v1
        kind: Eviction
        metadata: {name: alone}
        """
      And Pod "alone" is gone
      And the user uncordons Node "worker-1"
      Then Node "worker-1" has no taint "node.kubernetes.io/unschedulable:NoSchedule" within 1s
      And Node "worker-1" keeps condition Ready=True for 60s
      And the history of Node "worker-1" matches its snapshot
      And the history of Pod "alone" matches its snapshot
