@core
Feature: Probes say when a container is ready, and when it has to run anew
  Source: pkg/kubelet/prober/worker.go, pkg/kubelet/prober/prober_manager.go (v1.34)
  Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go (v1.34), computePodActions and doBackOff

  Rule: A readiness probe waits for its delay, and then for its ticks

    Scenario: It is not asked before 20 s
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            readinessProbe: {httpGet: {path: /, port: 80}, initialDelaySeconds: 20, periodSeconds: 5}
        """
      Then Pod "web" field status.phase is "Running" within 3s
      And Pod "web" field status.containerStatuses[0].started is true within 3s
      And Pod "web" keeps field status.containerStatuses[0].ready false for 20s
      And Pod "web" has condition Ready=True between 21s and 28s

    Scenario: A process that is well after 12 s is found so with the next tick
      Given a ready Node "worker-1"
      And 30s passes
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.ready-after: 12s}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            readinessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 30}
        """
      Then Pod "web" has condition Ready=True between 29s and 32s

  Rule: What a probe has counted goes on counting when its container has run anew

    Scenario: Ready three times before, it is so at the first look again
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.crashes-after: 60s, nodeproof.dev/main.exit-code: "1"}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            readinessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 10, successThreshold: 3}
        """
      And Pod "web" field status.containerStatuses[0].restartCount is 1
      When Pod "web" has condition Ready=False
      Then Pod "web" has condition Ready=True within 21s

  Rule: Until a startup probe has succeeded nothing else is asked, and nothing starts behind a sidecar

    Scenario: The container has not started, and so it is not ready
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.ready-after: 12s}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            startupProbe: {httpGet: {path: /, port: 80}, periodSeconds: 10, failureThreshold: 30}
        """
      Then Pod "web" field status.phase is "Running" within 3s
      And Pod "web" keeps field status.containerStatuses[0].started false for 12s
      And Pod "web" field status.containerStatuses[0].started is true between 19s and 22s
      And Pod "web" has condition Ready=True between 19s and 22s

    Scenario: The containers wait for a sidecar
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/side.ready-after: 12s}
        spec:
          nodeName: worker-1
          initContainers:
          - name: side
            image: registry.k8s.io/pause:3.10
            restartPolicy: Always
            startupProbe: {httpGet: {path: /, port: 80}, periodSeconds: 10, failureThreshold: 30}
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      Then Pod "web" field status.initContainerStatuses[0].state.running is set within 3s
      And Pod "web" keeps field status.containerStatuses[0].state.waiting.reason "PodInitializing" for 19s
      And Pod "web" keeps field status.phase "Pending" for 19s
      And Pod "web" has condition Initialized=True between 19s and 22s
      And Pod "web" has condition Ready=True between 20s and 24s

  Rule: A readiness probe that fails again and again takes the container out of service, and ends nothing

    Scenario: A process that stops to answer after 30 s
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.fails-readiness-after: 30s}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            readinessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 5, failureThreshold: 2}
        """
      And Pod "web" has condition Ready=True
      When 1s passes
      Then Event Unhealthy about Pod "web", message "Readiness probe failed: HTTP probe failed with statuscode: 500" between 24s and 35s
      And Pod "web" has condition Ready=False, reason "ContainersNotReady", between 29s and 40s
      And Pod "web" field status.containerStatuses[0].ready is false between 29s and 40s
      But Pod "web" keeps field status.containerStatuses[0].started true for 2m
      And Pod "web" keeps field status.containerStatuses[0].restartCount 0 for 2m

  Rule: A container whose liveness or startup probe fails is ended and started again

    Scenario: The grace period of the probe counts
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.fails-liveness-after: 20s, nodeproof.dev/main.stops-after: never}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            livenessProbe:
              {httpGet: {path: /, port: 80}, periodSeconds: 5, failureThreshold: 3, terminationGracePeriodSeconds: 3}
        """
      Then Event Unhealthy about Pod "web", message "Liveness probe failed: HTTP probe failed with statuscode: 500" between 20s and 27s
      And Event Killing about Pod "web", message "Container main failed liveness probe, will be restarted" between 30s and 37s
      And Pod "web" keeps field status.containerStatuses[0].restartCount 0 for 33s
      And Pod "web" field status.containerStatuses[0].restartCount is 1 between 34s and 42s
      And Pod "web" field status.containerStatuses[0].lastState.terminated.exitCode is 137 between 34s and 42s
      And the history of Pod "web" matches its snapshot

    Scenario: The first two are started again at once, and then they have to wait
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.fails-liveness-after: 0s}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            livenessProbe: {tcpSocket: {port: 80}, periodSeconds: 1, failureThreshold: 1}
        """
      Then Pod "web" field status.containerStatuses[0].restartCount is 2 within 10s
      And Event BackOff about Pod "web" within 15s
      And Pod "web" field status.containerStatuses[0].state.waiting.reason is "CrashLoopBackOff" within 15s
      And Pod "web" field status.containerStatuses[0].restartCount is 3 between 12s and 30s

    Scenario: One that has ended well while it has to wait is not started again, if only a failure would be
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.fails-liveness-after: 0s}
        spec:
          nodeName: worker-1
          restartPolicy: OnFailure
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            livenessProbe: {tcpSocket: {port: 80}, periodSeconds: 1, failureThreshold: 1}
        """
      Then Event BackOff about Pod "web" within 15s
      And Pod "web" field status.containerStatuses[0].state.terminated.reason is "Completed" within 15s
      And Pod "web" field status.phase is "Succeeded" within 15s

    Scenario: A process that never starts up
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.ready-after: never}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            startupProbe: {tcpSocket: {port: 80}, periodSeconds: 5, failureThreshold: 2}
            livenessProbe: {tcpSocket: {port: 80}, periodSeconds: 1, failureThreshold: 1}
        """
      Then Event Killing about Pod "web", message "Container main failed startup probe, will be restarted" between 5s and 12s
      And Pod "web" field status.containerStatuses[0].restartCount is 1 between 6s and 14s
      But Pod "web" keeps field status.containerStatuses[0].started false for 30s

    Scenario: A Pod that never restarts ends with its only container
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.fails-liveness-after: 10s, nodeproof.dev/main.exit-code: "3"}
        spec:
          nodeName: worker-1
          restartPolicy: Never
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            livenessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 5, failureThreshold: 1}
        """
      Then Event Killing about Pod "web", message "Stopping container main" between 10s and 17s
      And Pod "web" field status.phase is "Failed" between 11s and 20s
      And Pod "web" keeps field status.containerStatuses[0].restartCount 0 for 60s

    Scenario: A sidecar
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/side.fails-liveness-after: 10s}
        spec:
          nodeName: worker-1
          initContainers:
          - name: side
            image: registry.k8s.io/pause:3.10
            restartPolicy: Always
            livenessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 5, failureThreshold: 1}
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
        """
      Then Event Killing about Pod "web", message "Init container side failed liveness probe" between 10s and 17s
      And Pod "web" field status.initContainerStatuses[0].restartCount is 1 between 11s and 20s
      But Pod "web" keeps field status.containerStatuses[0].restartCount 0 for 60s

    Scenario: Without a runtime it is ended once the runtime is back
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.fails-liveness-after: 10s}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            livenessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 5, failureThreshold: 1}
        """
      And Pod "web" has condition Ready=True
      When the container runtime on "worker-1" stops
      Then container "main" of Pod "web" keeps running on machine "worker-1" for 60s
      When the container runtime on "worker-1" starts
      Then Event Killing about Pod "web", message "Container main failed liveness probe, will be restarted" within 10s
      And Pod "web" field status.containerStatuses[0].restartCount is 1 within 15s

  Rule: While a Pod ends only its readiness is asked for

    Scenario: It is not ready any more once its readiness probe fails
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations:
            nodeproof.dev/main.fails-readiness-after: 5s
            nodeproof.dev/main.stops-after: 20s
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            readinessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 2, failureThreshold: 1}
        """
      And Pod "web" has condition Ready=True
      When the user deletes Pod "web"
      Then Pod "web" has condition Ready=False, reason "ContainersNotReady" within 8s
      And Event Unhealthy about Pod "web", message "Readiness probe failed: HTTP probe failed with statuscode: 500" within 8s
      And Pod "web" is gone between 19s and 24s

  Rule: A command of a probe that can be read does what it says

    Scenario: One that takes longer than it may has failed
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            readinessProbe: {exec: {command: ["true"]}, periodSeconds: 1}
            livenessProbe: {exec: {command: [sleep, "10"]}, initialDelaySeconds: 15, timeoutSeconds: 1, failureThreshold: 1}
        """
      Then Pod "web" has condition Ready=True within 3s
      And Event Unhealthy about Pod "web", message "Liveness probe failed: command timed out: \"sleep 10\" timed out after 1s" between 15s and 28s
      And Event Killing about Pod "web", message "Container main failed liveness probe, will be restarted" between 15s and 28s
