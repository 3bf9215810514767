@core
Feature: Which Pods a workload takes away first, and which it makes next
  Source: pkg/controller/controller_utils.go (v1.34), ActivePodsWithRanks
  Source: pkg/controller/statefulset/stateful_set_control.go (v1.34), updateStatefulSet

  Rule: A smaller ReplicaSet lets Pods go that are not ready

    Scenario: One of two Pods is on a dead node
      Given no other Node
      And ready Nodes "worker-1" and "worker-2"
      And a Deployment "web" of 2 Pods
      And machine "worker-2" loses power
      And Node "worker-2" has condition Ready=Unknown
      And 5s pass
      When the user sends PATCH /apis/apps/v1/namespaces/default/deployments/web:
        """
        spec: {replicas: 1}
        """
      Then the Pods of "web" on Node "worker-2" are deleted within 5s
      And 1 Pod of "web" keeps running on Node "worker-1" for 30s

  Rule: A StatefulSet goes in order, and updates no Pod before the partition

    Background:
      Given a ready Node "worker-1"
      And a StatefulSet "db" of 3 Pods

    Scenario: A Pod is made again only when the one before it is there
      When the user deletes Pod "db-0"
      And the user sends DELETE /api/v1/namespaces/default/pods/db-1?gracePeriodSeconds=0
      Then Pod "db-1" never appears for 1s
      And 3 Pods of "db" are running within 60s

    Scenario: An update with a partition of 1
      When the user sends PATCH /apis/apps/v1/namespaces/default/statefulsets/db:
        """
        spec:
          updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 1}}
          template: {metadata: {annotations: {a: b}}}
        """
      Then Pod "db-2" field metadata.annotations.a is "b" within 60s
      And Pod "db-1" field metadata.annotations.a is "b" within 60s
      And Pod "db-0" stays for 2m
