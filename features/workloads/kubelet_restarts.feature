@core
Feature: What a restart of the kubelet does to containers with probes
  Source: pkg/kubelet/prober/worker.go (v1.31 to v1.36), run and doProbe
  Source: pkg/kubelet/prober/prober_manager.go (v1.34, v1.35), UpdatePodStatus; KEP-4781

  Rule: Before 1.35 the first look of a probe takes a running container out of service, at any time of its first period

    @until:1.34
    Scenario: A readiness probe that is answered puts it back at once
      Its delay counts from the start of the container.

      Given a ready Node "worker-1"
      And the objects:
        """
        apiVersion: v1
        kind: Service
        metadata: {name: web, namespace: default}
        spec: {selector: {app: web}, ports: [{port: 80}]}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: web, namespace: default, labels: {app: web}}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            readinessProbe: {httpGet: {path: /, port: 80}, initialDelaySeconds: 45, periodSeconds: 20}
            livenessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 5}
        """
      And Pod "web" has condition Ready=True
      And 1m passes
      When the kubelet on "worker-1" restarts
      Then Pod "web" has condition Ready=False, reason "ContainersNotReady", message "containers with unready status: [main]" within 21s
      And Pod "web" has condition ContainersReady=False, reason "ContainersNotReady", message "containers with unready status: [main]" within 21s
      And the EndpointSlice of Service "web" field endpoints[web].conditions.ready is false within 21s
      And the history of Pod "web" matches its snapshot
      But Pod "web" keeps field status.containerStatuses[0].started true for 60s
      And Pod "web" keeps field status.containerStatuses[0].restartCount 0 for 60s
      And Node "worker-1" keeps condition Ready=True for 60s
      When the kubelet on "worker-1" restarts
      And Pod "web" has condition Ready=False
      Then Pod "web" has condition Ready=True within 1s
      And the EndpointSlice of Service "web" field endpoints[web].conditions.ready is true within 1s

    @until:1.34
    Scenario: The first look at one container shows that of the others there was none
      Given a ready Node "worker-1"
      And the objects:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            readinessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 50}
          - {name: plain, image: registry.k8s.io/pause:3.10}
          - name: side
            image: registry.k8s.io/pause:3.10
            readinessProbe: {httpGet: {path: /, port: 81}, periodSeconds: 2}
        """
      And Pod "web" has condition Ready=True
      And 1m passes
      When the kubelet on "worker-1" restarts
      Then Pod "web" has condition Ready=False, message "containers with unready status: [main side]" within 3s
      And Pod "web" field status.containerStatuses[0].ready is false within 3s
      But Pod "web" keeps field status.containerStatuses[1].ready true for 60s

    @until:1.34
    Scenario: A startup probe finds that it has started a period later
      Given a ready Node "worker-1"
      And the objects:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            startupProbe: {httpGet: {path: /, port: 80}, periodSeconds: 20}
        """
      And Pod "web" has condition Ready=True
      And 1m passes
      When the kubelet on "worker-1" restarts
      And Pod "web" has condition Ready=False
      Then Pod "web" keeps field status.containerStatuses[0].started false for 19s
      And Pod "web" field status.containerStatuses[0].started is true between 19s and 21s
      And Pod "web" has condition Ready=True between 19s and 21s
      But Pod "web" keeps field status.containerStatuses[0].restartCount 0 for 60s

    @until:1.34
    Scenario: One that is not ready counts as ready until then
      Given a ready Node "worker-1"
      And the objects:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.fails-readiness-after: 20s}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            readinessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 10, failureThreshold: 1}
        """
      And Pod "web" has condition Ready=True
      And Pod "web" has condition Ready=False
      When the kubelet on "worker-1" restarts
      And Pod "web" has condition Ready=True
      Then Pod "web" has condition Ready=False, reason "ContainersNotReady", within 11s
      And the history of Pod "web" matches its snapshot

  Rule: From 1.35 on a container that is older than the kubelet stays what it was, until a probe finds something else

    @since:1.35
    Scenario: One that is ready stays ready
      Given a ready Node "worker-1"
      And the objects:
        """
        apiVersion: v1
        kind: Service
        metadata: {name: web, namespace: default}
        spec: {selector: {app: web}, ports: [{port: 80}]}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: web, namespace: default, labels: {app: web}}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            startupProbe: {httpGet: {path: /, port: 80}, periodSeconds: 20}
            readinessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 20}
            livenessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 5}
        """
      And Pod "web" has condition Ready=True
      And 1m passes
      When the kubelet on "worker-1" restarts
      Then Event Starting about Node "worker-1", message "Starting kubelet." within 2s
      And Pod "web" keeps condition Ready=True for 60s
      And Pod "web" keeps field status.containerStatuses[0].started true for 60s
      And Pod "web" keeps field status.containerStatuses[0].ready true for 60s
      And Pod "web" keeps field status.containerStatuses[0].restartCount 0 for 60s
      And the EndpointSlice of Service "web" keeps field endpoints[web].conditions.ready at true for 60s

    @since:1.35
    Scenario: One that is not ready stays so
      Given a ready Node "worker-1"
      And the objects:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.fails-readiness-after: 20s}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            readinessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 10, failureThreshold: 1}
        """
      And Pod "web" has condition Ready=True
      And Pod "web" has condition Ready=False
      When the kubelet on "worker-1" restarts
      Then Event Starting about Node "worker-1", message "Starting kubelet." within 2s
      And Pod "web" keeps condition Ready=False for 60s
      And Pod "web" keeps field status.containerStatuses[0].started true for 60s

    @since:1.35
    Scenario: One that stops to answer meanwhile is found out by as many looks as ever
      Given a ready Node "worker-1"
      And the objects:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.fails-readiness-after: 20s}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            readinessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 10, failureThreshold: 3}
        """
      And Pod "web" has condition Ready=True
      And the kubelet on "worker-1" stops
      And 30s passes
      When the kubelet on "worker-1" starts
      Then Event Unhealthy about Pod "web", message "Readiness probe failed: HTTP probe failed with statuscode: 500" within 12s
      And Pod "web" keeps condition Ready=True for 19s
      And Pod "web" has condition Ready=False, reason "ContainersNotReady", between 20s and 33s

    @since:1.35
    Scenario: One whose node was lost is not ready until the first look
      Given a ready Node "worker-1"
      And the objects:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: plain, namespace: default}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: probed, namespace: default}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            readinessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 40}
        """
      And Pod "probed" has condition Ready=True
      And the kubelet on "worker-1" stops
      And Pod "probed" has condition Ready=False
      When the kubelet on "worker-1" starts
      Then Pod "plain" has condition Ready=True within 2s
      And Pod "probed" has condition Ready=True within 42s
      And the history of Pod "probed" matches its snapshot

    @since:1.35 @gate:ChangeContainerStatusOnKubeletRestart
    Scenario: With the gate of the old behaviour it does not
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | featureGates | {"ChangeContainerStatusOnKubeletRestart": true} |
      And the objects:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            readinessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 20}
        """
      And Pod "web" has condition Ready=True
      And 1m passes
      When the kubelet on "worker-1" restarts
      Then Pod "web" has condition Ready=False, reason "ContainersNotReady", within 21s

  Rule: A liveness probe counts anew, and ends nothing before it has failed as often as it may

    Scenario: The restart comes between its failures
      Given a ready Node "worker-1"
      And the objects:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.fails-liveness-after: 20s}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            livenessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 10, failureThreshold: 3}
        """
      And Pod "web" has condition Ready=True
      And 34s passes
      When the kubelet on "worker-1" restarts
      Then Pod "web" keeps field status.containerStatuses[0].restartCount 0 for 20s
      And Pod "web" keeps condition Ready=True for 20s
      And Event Killing about Pod "web", message "Container main failed liveness probe, will be restarted" between 20s and 33s
      And Pod "web" field status.containerStatuses[0].restartCount is 1 between 20s and 36s

  Rule: A Pod that has to end when the kubelet starts is asked nothing any more

    Scenario: It ends as ready as it was
      Given a ready Node "worker-1"
      And the objects:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.fails-readiness-after: 20s, nodeproof.dev/main.stops-after: never}
        spec:
          nodeName: worker-1
          terminationGracePeriodSeconds: 60
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            readinessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 10, failureThreshold: 1}
        """
      And Pod "web" has condition Ready=True
      And the user deletes Pod "web"
      When the kubelet on "worker-1" restarts
      Then Pod "web" keeps condition Ready=True for 50s
      And Pod "web" is gone between 55s and 65s

  Rule: A kubelet that has just started lets the probes of new Pods wait, too

    Scenario: A Pod that comes within the first period
      Given a ready Node "worker-1"
      And the kubelet on "worker-1" restarts
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
            readinessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 40}
        """
      Then Pod "web" field status.phase is "Running" within 3s
      And Pod "web" has condition Ready=True within 42s
      And the history of Pod "web" matches its snapshot

  Rule: Containers of a Pod that was gone when the kubelet started get two seconds, whatever the Pod had asked for
    Source: pkg/kubelet/kubelet.go (v1.34), SyncTerminatingRuntimePod

    Scenario: A Pod that was deleted by force while the kubelet was down
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1" that takes 20s to stop
      And the kubelet on "worker-1" stops
      And the user sends DELETE /api/v1/namespaces/default/pods/web:
        """
        {"gracePeriodSeconds": 0}
        """
      When the kubelet on "worker-1" starts
      Then Event Killing about Pod "web", message "Stopping container main" within 5s
      And container "main" of Pod "web" stops on machine "worker-1" between 2s and 8s

    Scenario: Its process knows no SIGTERM
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: "registry.k8s.io/busybox:1", command: [sleep, "10000"]}]
        """
      And Pod "web" has condition Ready=True
      And the kubelet on "worker-1" stops
      And the user sends DELETE /api/v1/namespaces/default/pods/web?gracePeriodSeconds=0
      When the kubelet on "worker-1" starts
      Then Event Killing about Pod "web", message "Stopping container main" within 5s
      And container "main" of Pod "web" stops on machine "worker-1" between 2s and 8s

  Rule: A kubelet that starts while a Pod ends tells its containers once more

    Scenario: The container takes 20 s to stop
      Source: pkg/kubelet/kuberuntime/kuberuntime_container.go (v1.34), killContainer: a new process has recorded nothing

      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1" that takes 20s to stop
      When the user deletes Pod "web"
      And 5s pass
      And the kubelet on "worker-1" restarts
      Then Event Killing about Pod "web", message "Stopping container main" within 2s
      And Pod "web" is gone between 12s and 20s
