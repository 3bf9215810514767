@core
Feature: A container is ready once its probes have succeeded
  Source: pkg/kubelet/prober/worker.go, pkg/kubelet/prober/prober_manager.go (v1.34)

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
