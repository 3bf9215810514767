@core @req:EV-16
Feature: Eviction after a node failure asks no disruption budget
  Source: pkg/controller/tainteviction/taint_eviction.go (v1.34), addConditionAndDeletePod
  Source: pkg/registry/core/pod/storage/eviction.go (v1.34), EvictionREST.Create
  Source: pkg/controller/podgc/gc_controller.go (v1.34), markFailedAndDeletePod

  Background:
    Given kube-controller-manager runs with:
      | node-monitor-grace-period | 20s |
    And kube-apiserver runs with:
      | default-unreachable-toleration-seconds | 60 |
    And no other Node
    And a ready Node "worker-1"
    And a StatefulSet "db" of 2 Pods
    And a ready Node "worker-2"

  Rule: What the eviction subresource refuses, the taint eviction controller deletes

    Scenario Outline: A budget of <budget>
      Given the object:
        """yaml
        apiVersion: policy/v1
        kind: PodDisruptionBudget
        metadata: {name: db}
        spec: {<budget>, selector: {matchLabels: {app: db}}}
        """
      And machine "worker-1" loses power
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      And 5s pass
      When the user sends POST /api/v1/namespaces/default/pods/db-0/eviction:
        """
        apiVersion: policy/v1
        kind: Eviction
        metadata: {name: db-0}
        """
      Then the request is refused with 429 "Cannot evict pod as it would violate the pod's disruption budget."
      And Pod "db-0" stays for 50s
      And Pod "db-1" stays for 50s
      And Pod "db-0" is deleted between 50s and 56s
      And Pod "db-1" is deleted between 50s and 56s
      And Event TaintManagerEviction about Pod "db-0", message "Marking for deletion Pod default/db-0", within 56s
      And Pod "db-0" has condition DisruptionTarget=True, reason "DeletionByTaintManager", message "Taint manager: deleting due to NoExecute taint", within 56s
      And Pod "db-0" field metadata.deletionGracePeriodSeconds is 30 within 56s

      Examples:
        | budget               |
        | minAvailable: 2      |
        | minAvailable: "100%" |
        | maxUnavailable: 0    |

    Scenario: The pod garbage collector asks no budget either
      Given a PodDisruptionBudget "db" that keeps 2 of "app=db"
      And machine "worker-1" loses power
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      When the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
      Then Pod "db-0" is gone within 21s
      And Pod "db-1" is gone within 21s
      And 2 Pods of "db" are running on Node "worker-2" within 45s

    Scenario: Two budgets for one pod, with which every eviction fails
      Given a PodDisruptionBudget "one" that keeps 1 of "app=db"
      And a PodDisruptionBudget "two" that keeps 1 of "app=db"
      And 1s passes
      When the user sends POST /api/v1/namespaces/default/pods/db-0/eviction:
        """
        apiVersion: policy/v1
        kind: Eviction
        metadata: {name: db-0}
        """
      Then the request is refused with 500 "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
      And Pod "db-0" stays for 10s
      When the user taints Node "worker-1" with "example.com/broken:NoExecute"
      Then Pod "db-0" is deleted within 1s
      And Pod "db-1" is deleted within 1s

  Rule: For the eviction subresource the pods of a node that died count as gone

    Scenario: A pod that is not ready may go where the budget says so
      Given the object:
        """yaml
        apiVersion: policy/v1
        kind: PodDisruptionBudget
        metadata: {name: db}
        spec: {minAvailable: 2, unhealthyPodEvictionPolicy: AlwaysAllow, selector: {matchLabels: {app: db}}}
        """
      And machine "worker-1" loses power
      And Pod "db-0" has condition Ready=False
      And 5s pass
      When the user sends POST /api/v1/namespaces/default/pods/db-0/eviction:
        """
        apiVersion: policy/v1
        kind: Eviction
        metadata: {name: db-0}
        """
      Then the request is answered with 201
      And Pod "db-0" is terminating at once
      And Pod "db-0" has condition DisruptionTarget=True, reason "EvictionByEvictionAPI", message "Eviction API: evicting", within 1s
      And Pod "db-1" stays for 30s

    Scenario: The pods of the other nodes cannot be drained until the lost ones are replaced
      Given a PodDisruptionBudget "db" that keeps 2 of "app=db"
      And the user cordons Node "worker-1"
      And the user sends PATCH /apis/apps/v1/namespaces/default/statefulsets/db:
        """yaml
        spec: {replicas: 3}
        """
      And 1 Pod of "db" is running on Node "worker-2"
      And 5s pass
      When machine "worker-1" loses power
      And Pod "db-0" has condition Ready=False
      And 5s pass
      And the user sends POST /api/v1/namespaces/default/pods/db-2/eviction:
        """
        apiVersion: policy/v1
        kind: Eviction
        metadata: {name: db-2}
        """
      Then the request is refused with 429 "Cannot evict pod as it would violate the pod's disruption budget."
      And 1 Pod of "db" keeps running on Node "worker-2" for 30s
