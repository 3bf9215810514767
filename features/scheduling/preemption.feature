@core
Feature: A Pod takes the room of less important ones
  Source: pkg/scheduler/framework/preemption/preemption.go (v1.35), prepareCandidateAsync

  Rule: A victim that is being deleted already is left alone

    @since:1.35
    Scenario: The user has deleted it
      Given a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      And the user creates:
        """
        kind: PriorityClass
        apiVersion: scheduling.k8s.io/v1
        metadata: {name: high}
        value: 100
        ---
        kind: Pod
        apiVersion: v1
        metadata: {name: low, annotations: {nodeproof.dev/main.stops-after: 20s}}
        spec:
          nodeSelector: {kubernetes.io/hostname: worker-1}
          containers: [{name: main, image: registry.k8s.io/pause:3.10, resources: {requests: {cpu: "1500m"}}}]
        """
      And Pod "low" has condition Ready=True
      And the user deletes Pod "low"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: important}
        spec:
          priorityClassName: high
          nodeSelector: {kubernetes.io/hostname: worker-1}
          containers: [{name: main, image: registry.k8s.io/pause:3.10, resources: {requests: {cpu: "1500m"}}}]
        """
      Then Pod "important" field status.nominatedNodeName is "worker-1" within 1s
      And no Event Preempted about Pod "low" for 15s
      And Pod "low" never has condition DisruptionTarget=True for 15s
      And Pod "important" has condition PodScheduled=True between 15s and 25s

  Rule: A victim that cannot be deleted ends the preemption

    @until:1.32
    Scenario: The attempt ends with its error, and without a nomination
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      And the user creates:
        """
        kind: PriorityClass
        apiVersion: scheduling.k8s.io/v1
        metadata: {name: high}
        value: 100
        ---
        kind: Pod
        apiVersion: v1
        metadata: {name: low}
        spec:
          containers: [{name: main, image: registry.k8s.io/pause:3.10, resources: {requests: {cpu: "1500m"}}}]
        """
      And Pod "low" has condition Ready=True
      And DELETE requests to pods from kube-scheduler are answered 500 1 times
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: important}
        spec:
          priorityClassName: high
          containers: [{name: main, image: registry.k8s.io/pause:3.10, resources: {requests: {cpu: "1500m"}}}]
        """
      Then Pod "important" has condition PodScheduled=False, reason "Unschedulable", message "0/1 nodes are available: 1 Insufficient cpu. preemption: Internal error occurred: injected by a rule of the network" at once
      And Pod "important" keeps field status.nominatedNodeName absent for 2m
      And Pod "low" stays for 2m

  Rule: A victim whose volumes are being bound is not deleted

    @since:1.36
    Scenario: Its binding is given up
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      And the user creates:
        """
        kind: PriorityClass
        apiVersion: scheduling.k8s.io/v1
        metadata: {name: high}
        value: 100
        ---
        kind: StorageClass
        apiVersion: storage.k8s.io/v1
        metadata: {name: slow}
        provisioner: example.com/nobody
        volumeBindingMode: WaitForFirstConsumer
        ---
        kind: PersistentVolumeClaim
        apiVersion: v1
        metadata: {name: data}
        spec: {accessModes: [ReadWriteOnce], storageClassName: slow, resources: {requests: {storage: 1Gi}}}
        ---
        kind: Pod
        apiVersion: v1
        metadata: {name: low}
        spec:
          containers: [{name: main, image: registry.k8s.io/pause:3.10, resources: {requests: {cpu: "1500m"}}}]
          volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
        """
      And Pod "low" field status.nominatedNodeName is "worker-1"
      And 5s pass
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: important}
        spec:
          priorityClassName: high
          containers: [{name: main, image: registry.k8s.io/pause:3.10, resources: {requests: {cpu: "1500m"}}}]
        """
      Then Pod "important" field spec.nodeName is "worker-1" within 2s
      And Event Preempted about Pod "low" at once
      And Event FailedScheduling about Pod "low", message "running PreBind plugin \"VolumeBinding\": preempted by DefaultPreemption" at once
      And Pod "low" never has condition DisruptionTarget=True for 60s
      And Pod "low" stays for 60s
