@core
Feature: With minReadySeconds a Pod counts as available when it has been ready for so long
  Source: pkg/controller/daemon/daemon_controller.go (v1.34), updatePod and updateDaemonSetStatus
  Source: pkg/controller/statefulset/stateful_set.go (v1.34, v1.35), updatePod and syncStatefulSet
  Source: k8s.io/client-go util/workqueue/delaying_queue.go (v1.34), insert

  A set that waits for a Pod looks at the time that is due first, whatever happens to it before: for a second Pod it
  waits for the whole time again, unless it plans its looks.

  Background:
    Given no other Node
    And a ready Node "worker-1"

  Rule: A DaemonSet that writes its status still looks when its first Pod becomes available

    Scenario: Another Node gets a Pod before that
      Given the object:
        """
        apiVersion: apps/v1
        kind: DaemonSet
        metadata: {name: agent, namespace: default}
        spec:
          minReadySeconds: 10
          selector: {matchLabels: {app: agent}}
          template:
            metadata: {labels: {app: agent}}
            spec: {containers: [{name: main, image: pause}]}
        """
      And DaemonSet "agent" field status.numberReady is 1
      When a kubelet named "worker-2" registers
      Then DaemonSet "agent" field status.numberReady is 2 between 1s and 7s
      And DaemonSet "agent" field status.numberAvailable is 1 between 4s and 11s
      And DaemonSet "agent" field status.numberAvailable is 2 between 14s and 22s

  Rule: A StatefulSet plans its looks since 1.35

    Background:
      Given the object:
        """
        apiVersion: apps/v1
        kind: StatefulSet
        metadata: {name: db, namespace: default}
        spec:
          serviceName: db
          replicas: 2
          minReadySeconds: 10
          podManagementPolicy: Parallel
          selector: {matchLabels: {app: db}}
          template:
            metadata: {labels: {app: db}}
            spec:
              containers: [{name: main, image: pause}]
              affinity:
                podAntiAffinity:
                  requiredDuringSchedulingIgnoredDuringExecution:
                    - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: db}}}
        """
      And StatefulSet "db" field status.readyReplicas is 1

    @since:1.35
    Scenario: It looks when the second Pod becomes available
      When a kubelet named "worker-2" registers
      Then StatefulSet "db" field status.readyReplicas is 2 between 1s and 7s
      And StatefulSet "db" field status.availableReplicas is 1 between 4s and 11s
      And StatefulSet "db" field status.availableReplicas is 2 between 11s and 17s

    @until:1.34
    Scenario: It looks again and again after the whole time, which runs since it made the Pod
      When a kubelet named "worker-2" registers
      Then StatefulSet "db" field status.readyReplicas is 2 between 1s and 7s
      And StatefulSet "db" keeps field status.availableReplicas 0 for 14s
      And StatefulSet "db" field status.availableReplicas is 2 between 14s and 21s
