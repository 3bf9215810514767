@core
Feature: How many Pods a PodDisruptionBudget lets go
  Source: pkg/controller/disruption/disruption.go (v1.34), getExpectedScale
  Source: pkg/registry/core/pod/storage/eviction.go (v1.34), EvictionREST.Create

  Background:
    Given a ready Node "worker-1"
    And a StatefulSet "db" of 3 Pods

  Rule: A share of maxUnavailable is rounded up

    Scenario: 30 % of three Pods are one
      Given the user creates:
        """
        kind: PodDisruptionBudget
        apiVersion: policy/v1
        metadata: {name: db, namespace: default}
        spec: {maxUnavailable: 30%, selector: {matchLabels: {app: db}}}
        """
      And 5s pass
      When the user sends POST /api/v1/namespaces/default/pods/db-0/eviction:
        """
        {kind: Eviction, apiVersion: policy/v1, metadata: {name: db-0}}
        """
      Then the request is answered with 201
      When the user sends POST /api/v1/namespaces/default/pods/db-1/eviction:
        """
        {kind: Eviction, apiVersion: policy/v1, metadata: {name: db-1}}
        """
      Then the request is refused with 429, "Cannot evict pod as it would violate the pod's disruption budget."

  Rule: A ReplicationController says how many Pods there should be

    Scenario: Half of its two Pods
      Given the objects:
        """yaml
        kind: ReplicationController
        apiVersion: v1
        metadata: {name: old, namespace: default}
        spec:
          replicas: 2
          selector: {app: old}
          template:
            metadata: {labels: {app: old}}
            spec: {containers: [{name: main, image: pause}]}
        """
      And 2 Pods of "old" are running
      When the user creates:
        """
        kind: PodDisruptionBudget
        apiVersion: policy/v1
        metadata: {name: old, namespace: default}
        spec: {minAvailable: 50%, selector: {matchLabels: {app: old}}}
        """
      Then PodDisruptionBudget "old" field status.expectedPods is 2 within 1s
      And PodDisruptionBudget "old" field status.disruptionsAllowed is 1 within 1s

  Rule: A Pod that is not ready may go if the others suffice

    Scenario: Three are wanted, three are healthy, and a fourth is not
      Given a PodDisruptionBudget "db" that keeps 3 of "app=db"
      And the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: late
          namespace: default
          labels: {app: db}
          annotations: {nodeproof.dev/main.ready-after: 1h}
        spec: {nodeName: worker-1, containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      And Pod "late" field status.phase is "Running"
      And 5s pass
      When the user sends POST /api/v1/namespaces/default/pods/late/eviction:
        """
        {kind: Eviction, apiVersion: policy/v1, metadata: {name: late}}
        """
      Then the request is answered with 201
      When the user sends POST /api/v1/namespaces/default/pods/db-0/eviction:
        """
        {kind: Eviction, apiVersion: policy/v1, metadata: {name: db-0}}
        """
      Then the request is refused with 429, "Cannot evict pod as it would violate the pod's disruption budget."

  Rule: An owner is of a kind and of a group

    Scenario Outline: <version> has no <kind>
      Given the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          labels: {app: web}
          ownerReferences:
            - {apiVersion: <version>, kind: <kind>, name: web, uid: "1", controller: true}
        spec: {nodeName: worker-1, containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      When the user creates:
        """
        kind: PodDisruptionBudget
        apiVersion: policy/v1
        metadata: {name: web, namespace: default}
        spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
        """
      Then Event CalculateExpectedPodCountFailed about PodDisruptionBudget "web", message "Failed to calculate the number of expected pods: no matches for kind \"<kind>\" in version \"<version>\"", within 1s

      Examples:
        | version            | kind       |
        | example.com/v1     | ReplicaSet |
        | extensions/v1beta1 | ReplicaSet |
        | apps/v2            | Deployment |
        | v1                 | pods       |

  Rule: A condition DisruptionTarget that no deletion follows is taken back

    Scenario: It has no instant, so that it is as old as can be
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/db-0/status:
        """yaml
        status: {conditions: [{type: DisruptionTarget, status: "True", reason: Mine}]}
        """
      Then Pod "db-0" has condition DisruptionTarget=False within 1s
