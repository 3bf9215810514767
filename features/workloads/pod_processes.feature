@core
Feature: How a kubelet ends and restarts what runs in a Pod
  Source: pkg/kubelet/pod_workers.go, pkg/kubelet/kuberuntime/kuberuntime_manager.go (v1.34)

  Rule: The grace period of the deletion counts, not the Pod's own

    Scenario: A process that takes 20 s is killed after 5 s
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1" that takes 20s to stop
      When the user sends DELETE /api/v1/namespaces/default/pods/web?gracePeriodSeconds=5
      Then container "main" of Pod "web" stops on machine "worker-1" between 4s and 7s
      And Pod "web" is gone within 10s

  Rule: Containers that are being ended keep their time, whatever else asks for their end
    Source: pkg/kubelet/kubelet.go (v1.31, v1.34, v1.37), SyncTerminatingPod, whose context nobody cancels

    Scenario: A Pod that ends already is deleted by force
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1" that takes 5m to stop
      When the user deletes Pod "web"
      And 2s pass
      And the user sends DELETE /api/v1/namespaces/default/pods/web:
        """
        {"gracePeriodSeconds": 0}
        """
      Then Pod "web" is gone within 1s
      And container "main" of Pod "web" keeps running on machine "worker-1" for 25s
      And container "main" of Pod "web" stops on machine "worker-1" within 30s

  Rule: A runtime that stops forgets whom it was to kill, and is asked once more when it is back
    Source: test/e2e_node/mirror_pod_grace_period_test.go (v1.34), "container runtime restart"

    Scenario: The whole grace period begins anew
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          terminationGracePeriodSeconds: 20
          containers: [{name: main, image: "registry.k8s.io/busybox:1", command: [sleep, "10000"]}]
        """
      And Pod "web" has condition Ready=True
      When the user deletes Pod "web"
      And 2s pass
      And the container runtime on "worker-1" stops
      Then container "main" of Pod "web" keeps running on machine "worker-1" for 40s
      When the container runtime on "worker-1" starts
      Then container "main" of Pod "web" keeps running on machine "worker-1" for 19s
      And container "main" of Pod "web" stops on machine "worker-1" between 20s and 27s
      And Pod "web" is gone between 20s and 35s

    Scenario: A probe had asked for the end
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.fails-liveness-after: 5s, nodeproof.dev/main.stops-after: 1h}
        spec:
          nodeName: worker-1
          terminationGracePeriodSeconds: 20
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            livenessProbe: {httpGet: {port: 80}, periodSeconds: 1, failureThreshold: 1}
        """
      And 10s pass
      And the container runtime on "worker-1" stops
      And 30s pass
      When the container runtime on "worker-1" starts
      Then Pod "web" keeps field status.containerStatuses[0].restartCount 0 for 19s
      And Pod "web" field status.containerStatuses[0].restartCount is 1 between 20s and 30s

  @since:1.34
  Rule: What is changed of a Pod whose containers end is not observed before they have ended
    Source: pkg/kubelet/pod_workers.go and pkg/kubelet/status/status_manager.go (v1.34, v1.37), SetPodStatus

    Scenario: The Pod gets a deadline
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1" that takes 20s to stop
      When the user deletes Pod "web"
      And 3s pass
      And the user sends PATCH /api/v1/namespaces/default/pods/web:
        """
        {"spec": {"activeDeadlineSeconds": 1000}}
        """
      Then Pod "web" keeps field metadata.generation 3 for 15s
      And Pod "web" keeps field status.observedGeneration 2 for 15s

  @since:1.37
  Rule: A Pod whose sandbox is not ready says why

    Scenario: The network is not there yet, then it is, and then the Pod has ended
      Given a ready Node "worker-1"
      And the container network on "worker-1" is removed
      And 1m passes
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.crashes-after: 5s, nodeproof.dev/main.exit-code: "0"}
        spec:
          nodeName: worker-1
          restartPolicy: Never
          tolerations: [{operator: Exists}]
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      Then Pod "web" has condition PodReadyToStartContainers=False, reason "PodSandboxNotReady", message "no pod sandbox exists", within 1s
      And Pod "web" keeps condition PodReadyToStartContainers=False for 30s
      When the container network on "worker-1" is installed
      Then Pod "web" has condition PodReadyToStartContainers=True within 20s
      And Pod "web" field status.conditions[PodReadyToStartContainers].reason is absent within 20s
      And Pod "web" field status.conditions[PodReadyToStartContainers].message is absent within 20s
      And Pod "web" has condition PodReadyToStartContainers=False, reason "PodSandboxNotReady", message "pod sandbox is not ready", within 30s

  @until:1.36
  Rule: A Pod whose sandbox is not ready does not say why

    Scenario: The network is not there
      Given a ready Node "worker-1"
      And the container network on "worker-1" is removed
      And 1m passes
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
        spec:
          nodeName: worker-1
          tolerations: [{operator: Exists}]
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      Then Pod "web" has condition PodReadyToStartContainers=False within 1s
      And Pod "web" keeps field status.conditions[PodReadyToStartContainers].reason absent for 30s

  Rule: A container that ends is started again as its restart policy says, each time later

    Scenario: OnFailure lets a container be that ended well
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.crashes-after: 2s, nodeproof.dev/main.exit-code: "0"}
        spec:
          nodeName: worker-1
          restartPolicy: OnFailure
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      Then Pod "web" field status.phase is "Succeeded" within 10s

    Scenario: Each restart of a container that fails waits twice as long
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.crashes-after: 2s, nodeproof.dev/main.exit-code: "1"}
        spec:
          nodeName: worker-1
          restartPolicy: OnFailure
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      Then Pod "web" field status.containerStatuses[0].restartCount is 1 within 10s
      And Pod "web" field status.containerStatuses[0].restartCount is 2 between 10s and 40s
      And Pod "web" field status.containerStatuses[0].restartCount is 3 between 40s and 70s

    Scenario: After a reboot a container that had ended well does not run again
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          restartPolicy: OnFailure
          containers:
          - {name: main, image: "registry.k8s.io/busybox:1", command: [sh, -c, sleep 2; exit 0]}
          - {name: other, image: registry.k8s.io/pause:3.10}
        """
      And Pod "web" field status.containerStatuses[0].state.terminated.exitCode is 0
      When machine "worker-1" reboots
      Then Pod "web" field status.containerStatuses[1].restartCount is 1 within 30s
      And Pod "web" keeps field status.containerStatuses[0].restartCount 0 for 60s
      And Pod "web" keeps field status.containerStatuses[0].state.terminated.exitCode 0 for 60s
      And container "other" of Pod "web" stops on machine "worker-1" within 1s
