@core
Feature: A Pod runs no longer than its active deadline
  Source: pkg/kubelet/active_deadline.go; pkg/kubelet/kubelet_pods.go, generateAPIPodStatus (v1.34)

  Rule: A Pod whose time is over has failed, however its containers end

    Scenario: It is told so at once, and its phase follows when its process has ended
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.stops-after: 5s}
        spec:
          nodeName: worker-1
          activeDeadlineSeconds: 20
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      Then Event DeadlineExceeded about Pod "web", message "Pod was active on the node longer than the specified deadline" between 19s and 22s
      And Pod "web" has condition Ready=False, reason "PodFailed", between 19s and 22s
      And Event Killing about Pod "web", message "Stopping container main" between 19s and 22s
      And Pod "web" field status.phase is "Failed" between 24s and 28s
      And Pod "web" field status.reason is "DeadlineExceeded" between 24s and 28s
      And Pod "web" field status.containerStatuses[0].state.terminated.exitCode is 0 between 24s and 28s
      And the history of Pod "web" matches its snapshot

    Scenario: The deadline counts from the start of the Pod, also over a restart of the kubelet
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          activeDeadlineSeconds: 60
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      And Pod "web" field status.phase is "Running"
      When the kubelet on "worker-1" restarts
      Then Event Starting about Node "worker-1" within 5s
      And Pod "web" field status.reason is "DeadlineExceeded" between 50s and 64s

    Scenario: A Pod that never started fails too
      Given a machine "worker-1" with:
        | images | [{"names":["registry.k8s.io/pause:3.10"],"sizeBytes":700000}] |
      And Node "worker-1" has condition Ready=True
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          activeDeadlineSeconds: 15
          containers: [{name: main, image: "registry.k8s.io/missing:1", imagePullPolicy: Never}]
        """
      Then Pod "web" field status.phase is "Failed" between 14s and 20s
      And Pod "web" field status.reason is "DeadlineExceeded" between 14s and 20s

  Rule: A Pod that is being deleted has failed too if its time is over before its last process has ended

    Scenario: It has failed with code 0
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.stops-after: 20s}
        spec:
          nodeName: worker-1
          activeDeadlineSeconds: 40
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      And Pod "web" field status.phase is "Running"
      And 25s pass
      When the user deletes Pod "web"
      Then Event DeadlineExceeded about Pod "web" between 19s and 22s
      And Pod "web" field status.phase is "Failed" between 19s and 22s
      And Pod "web" field status.reason is "DeadlineExceeded" between 19s and 22s
      And Pod "web" is gone within 25s
