@extended @since:1.37
Feature: A claim says whether a Pod uses it, and since when
  Its condition Unused is True while no Pod names it that has not ended. A Pod that waits for its end on a dead node
  still names its claim.

  Source: pkg/controller/volume/pvcprotection/pvc_protection_controller.go (v1.37), updateUnusedCondition; KEP-5541

  Background:
    Given no other Node
    And a ready Node "worker-1"
    And a ready Node "worker-2"
    And the objects in "volumes/storage.yaml"

  Scenario: It is unused once it is bound, used while a Pod names it, and unused after it
    When the user creates:
      """yaml
      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: {name: data, namespace: default}
      spec: {accessModes: [ReadWriteOnce], storageClassName: made-before, resources: {requests: {storage: 1Gi}}}
      """
    Then PersistentVolumeClaim "data" has condition Unused=True, reason "NoPodsUsingPVC", message "No pods are currently referencing this PVC", within 1s
    When the user creates:
      """yaml
      apiVersion: v1
      kind: Pod
      metadata: {name: web, namespace: default}
      spec:
        containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
      """
    Then PersistentVolumeClaim "data" has condition Unused=False, reason "PodUsingPVC", message "A pod is currently referencing this PVC", within 1s
    And Pod "web" has condition Ready=True within 40s
    When the user deletes Pod "web"
    Then PersistentVolumeClaim "data" has condition Unused=True, reason "NoPodsUsingPVC", within 5s

  Scenario: A claim that waits for its volume says nothing
    When the user creates:
      """yaml
      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: {name: data, namespace: default}
      spec: {accessModes: [ReadWriteOnce], storageClassName: made-before, resources: {requests: {storage: 2Gi}}}
      """
    Then PersistentVolumeClaim "data" field status.phase is "Pending" within 1s
    And PersistentVolumeClaim "data" keeps field status.conditions absent for 10m

  @req:NG-02
  Scenario: A Pod that waits for its end on a dead node uses its claim
    Given kube-controller-manager runs with:
      | node-monitor-grace-period | 20s |
    And kube-apiserver runs with:
      | default-unreachable-toleration-seconds | 5 |
    And the user cordons Node "worker-2"
    And the objects in "volumes/database.yaml"
    And 1 Pod of "db" is running on Node "worker-1"
    And PersistentVolumeClaim "data-db-0" has condition Unused=False
    When machine "worker-1" loses power
    Then Pod "db-0" is deleted within 60s
    And PersistentVolumeClaim "data-db-0" keeps condition Unused=False for 1h

  Scenario: Without the feature gate nothing is told
    Given kube-controller-manager runs with:
      | feature-gates | PersistentVolumeClaimUnusedSinceTime=false |
    When the user creates:
      """yaml
      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: {name: data, namespace: default}
      spec: {accessModes: [ReadWriteOnce], storageClassName: made-before, resources: {requests: {storage: 1Gi}}}
      """
    Then PersistentVolumeClaim "data" field status.phase is "Bound" within 1s
    And PersistentVolumeClaim "data" keeps field status.conditions absent for 10m
