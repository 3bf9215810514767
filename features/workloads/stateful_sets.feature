@core
Feature: A StatefulSet keeps its Pods, its revisions and their claims
  Source: pkg/controller/statefulset/stateful_set.go (v1.34), getPodsForStatefulSet and adoptOrphanRevisions
  Source: pkg/controller/statefulset/stateful_set_control.go (v1.34), getStatefulSetRevisions and truncateHistory
  Source: pkg/controller/statefulset/stateful_set_utils.go (v1.34), updateClaimOwnerRefForSetAndPod

  Background:
    Given a ready Node "worker-1"
    And the objects:
      """yaml
      apiVersion: apps/v1
      kind: StatefulSet
      metadata: {name: db, namespace: default}
      spec:
        serviceName: db
        replicas: 2
        revisionHistoryLimit: 1
        selector: {matchLabels: {app: db}}
        template:
          metadata: {labels: {app: db}}
          spec: {terminationGracePeriodSeconds: 1, containers: [{name: main, image: pause}]}
      """
    And 2 Pods of "db" are running

  Rule: What it no longer selects it lets go, and what nobody owns it takes

    Scenario: A Pod with other labels belongs to nobody, and keeps its name
      When the user sends PATCH /api/v1/namespaces/default/pods/db-1:
        """
        metadata: {labels: {app: aside}}
        """
      Then Pod "db-1" field metadata.ownerReferences is absent within 1s
      And Pod "db-1" stays for 2m
      And no Event FailedCreate about StatefulSet "db" for 2m
      And StatefulSet "db" field status.replicas is 1 within 1s

    Scenario: It is deleted without its Pods, and made again
      When the user sends DELETE /apis/apps/v1/namespaces/default/statefulsets/db?propagationPolicy=Orphan
      Then StatefulSet "db" is gone within 5s
      And Pod "db-0" field metadata.ownerReferences is absent within 5s
      And Pod "db-1" field metadata.ownerReferences is absent within 5s
      When the user sends POST /apis/apps/v1/namespaces/default/statefulsets:
        """
        apiVersion: apps/v1
        kind: StatefulSet
        metadata: {name: db, namespace: default}
        spec:
          serviceName: db
          replicas: 2
          selector: {matchLabels: {app: db}}
          template:
            metadata: {labels: {app: db}}
            spec: {terminationGracePeriodSeconds: 1, containers: [{name: main, image: pause}]}
        """
      Then Pod "db-0" field metadata.ownerReferences is set within 2s
      And Pod "db-1" field metadata.ownerReferences is set within 2s
      And Pod "db-0" stays for 2m
      And Pod "db-1" stays for 2m
      And StatefulSet "db" field status.readyReplicas is 2 within 5s
      And the history of Pod "db-0" matches its snapshot

  Rule: A template that it had before gets its revision back, with the next number

    @since:1.34
    Scenario: The template changes, and changes back
      Up to 1.33 the name ends in another hash, since the template has `creationTimestamp: null`.

      When the user sends PATCH /apis/apps/v1/namespaces/default/statefulsets/db:
        """
        spec: {template: {metadata: {annotations: {a: b}}}}
        """
      Then Pod "db-0" field metadata.annotations.a is "b" within 60s
      When the user sends PATCH /apis/apps/v1/namespaces/default/statefulsets/db:
        """
        spec: {template: {metadata: {annotations: null}}}
        """
      Then Pod "db-0" field metadata.annotations is absent within 60s
      And StatefulSet "db" field status.updatedReplicas is 2 within 60s
      And StatefulSet "db" field status.updateRevision is "db-6c7649b846" within 1s

  Rule: Claims go with the set, or with the Pods that are too many, if the set says so

    Background:
      Given the objects:
        """yaml
        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: one}
        spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /one}}
        ---
        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: two}
        spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /two}}
        ---
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data-log-0, namespace: default}
        spec: {accessModes: [ReadWriteOnce], storageClassName: "", resources: {requests: {storage: 1Gi}}}
        ---
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data-log-1, namespace: default}
        spec: {accessModes: [ReadWriteOnce], storageClassName: "", resources: {requests: {storage: 1Gi}}}
        ---
        apiVersion: apps/v1
        kind: StatefulSet
        metadata: {name: log, namespace: default}
        spec:
          serviceName: log
          replicas: 2
          persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete, whenScaled: Delete}
          selector: {matchLabels: {app: log}}
          template:
            metadata: {labels: {app: log}}
            spec: {terminationGracePeriodSeconds: 1, containers: [{name: main, image: pause}]}
          volumeClaimTemplates:
            - metadata: {name: data}
              spec: {accessModes: [ReadWriteOnce], storageClassName: "", resources: {requests: {storage: 1Gi}}}
        """
      And 2 Pods of "log" are running

    Scenario: One Pod less
      When the user sends PATCH /apis/apps/v1/namespaces/default/statefulsets/log:
        """
        spec: {replicas: 1}
        """
      Then PersistentVolumeClaim "data-log-1" field metadata.ownerReferences[0].kind is "Pod" within 1s
      And PersistentVolumeClaim "data-log-1" is gone after Pod "log-1" is gone, within 30s
      And PersistentVolumeClaim "data-log-0" keeps field metadata.ownerReferences[0].kind at "StatefulSet" for 60s

    Scenario: The set is deleted
      When the user sends DELETE /apis/apps/v1/namespaces/default/statefulsets/log
      Then PersistentVolumeClaim "data-log-0" is gone after Pod "log-0" is gone, within 30s
      And PersistentVolumeClaim "data-log-1" is gone after Pod "log-1" is gone, within 30s

  Rule: A set without an order tries one Pod, then two, then four

    Scenario: The name of the first is taken, so that the others are not tried
      Given the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: cache-0, namespace: default}
        spec: {terminationGracePeriodSeconds: 0, containers: [{name: main, image: pause}]}
        """
      When the user sends POST /apis/apps/v1/namespaces/default/statefulsets:
        """
        apiVersion: apps/v1
        kind: StatefulSet
        metadata: {name: cache, namespace: default}
        spec:
          serviceName: cache
          podManagementPolicy: Parallel
          replicas: 3
          selector: {matchLabels: {app: cache}}
          template:
            metadata: {labels: {app: cache}}
            spec: {containers: [{name: main, image: pause}]}
        """
      Then StatefulSet "cache" keeps field status.replicas 0 for 30s
      When the user deletes Pod "cache-0"
      Then StatefulSet "cache" field status.replicas is 3 within 60s

  Rule: From 1.37 on a set without an order replaces at once what is broken anyhow, and then as many as may be unavailable
    Source: pkg/controller/statefulset/stateful_set_control.go (v1.37), updateStatefulSetAfterInvariantEstablished

    Background:
      Given the user creates:
        """
        apiVersion: apps/v1
        kind: StatefulSet
        metadata: {name: cache, namespace: default}
        spec:
          serviceName: cache
          podManagementPolicy: Parallel
          updateStrategy: {type: RollingUpdate, rollingUpdate: {}}
          replicas: 3
          selector: {matchLabels: {app: cache}}
          template:
            metadata:
              labels: {app: cache}
              annotations: {nodeproof.dev/main.ready-after: never}
            spec:
              terminationGracePeriodSeconds: 0
              containers:
              - {name: main, image: pause, readinessProbe: {exec: {command: [probe]}}}
        """
      And 3 Pods of "cache" are running

    @since:1.37
    Scenario: None was ever ready, so all go at once
      When the user sends PATCH /apis/apps/v1/namespaces/default/statefulsets/cache:
        """
        spec: {template: {metadata: {annotations: {nodeproof.dev/main.ready-after: null}}}}
        """
      Then Pod "cache-0" is deleted within 1s
      And Pod "cache-1" is deleted within 1s
      And Pod "cache-2" is deleted within 1s
      And StatefulSet "cache" field status.readyReplicas is 3 within 60s

    @until:1.36
    Scenario: None was ever ready, and one goes after the other
      When the user sends PATCH /apis/apps/v1/namespaces/default/statefulsets/cache:
        """
        spec: {template: {metadata: {annotations: {nodeproof.dev/main.ready-after: null}}}}
        """
      Then Pod "cache-2" is deleted within 500ms
      And Pod "cache-1" is deleted between 500ms and 10s
      And StatefulSet "cache" field status.readyReplicas is 3 within 3m

  Rule: A set whose Pods its user deletes has a new current revision when all are replaced, from 1.37 on

    @since:1.37
    Scenario: All Pods are deleted by hand
      Given the user creates:
        """
        apiVersion: apps/v1
        kind: StatefulSet
        metadata: {name: cache, namespace: default}
        spec:
          serviceName: cache
          updateStrategy: {type: OnDelete}
          replicas: 1
          selector: {matchLabels: {app: cache}}
          template:
            metadata: {labels: {app: cache}}
            spec: {terminationGracePeriodSeconds: 0, containers: [{name: main, image: pause}]}
        """
      And 1 Pod of "cache" is running
      When the user sends PATCH /apis/apps/v1/namespaces/default/statefulsets/cache:
        """
        spec: {template: {metadata: {annotations: {version: "2"}}}}
        """
      Then StatefulSet "cache" keeps field status.currentRevision unchanged for 60s
      When the user deletes Pod "cache-0"
      Then StatefulSet "cache" field status.currentRevision is changed within 30s
      And StatefulSet "cache" field status.updatedReplicas is 1 within 30s

  Rule: Whether a Pod that is gone already counts as deleted is for the release to say
    Source: pkg/controller/statefulset/stateful_pod_control.go (v1.35, v1.36), DeleteStatefulPod

    Scenario Outline: The deletion finds no Pod once, in <releases>
      When DELETE requests to pods from statefulset-controller are answered 404 1 times
      And the user sends PATCH /apis/apps/v1/namespaces/default/statefulsets/db:
        """
        spec: {replicas: 1}
        """
      Then <deleted> about StatefulSet "db" within 2s
      And <failed>

      @until:1.35
      Examples:
        | releases   | deleted                  | failed                                                |
        | up to 1.35 | 1 Event SuccessfulDelete | 1 Event FailedDelete about StatefulSet "db" within 1s |

      @since:1.36
      Examples:
        | releases  | deleted                   | failed                                              |
        | from 1.36 | 2 Events SuccessfulDelete | no Event FailedDelete about StatefulSet "db" for 1m |
