@core @since:1.33
Feature: The resources of a Pod change while it runs
  Source: KEP-1287, "In-place update of Pod resources"
  Source: pkg/kubelet/allocation/allocation_manager.go (v1.34, v1.36), and pkg/kubelet/kubelet.go (v1.33), handlePodResourcesResize
  Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go (v1.33, v1.34, v1.37), computePodResizeAction and doPodResizeAction

  Background:
    Given no other Node
    And a machine "worker-1" with:
      | cpu    | 4   |
      | memory | 4Gi |

  @req:CAP-06
  Rule: What fits is given at once, and the cgroup of the container follows without a restart

    Scenario Outline: <what> goes <way>
      Given Node "worker-1" has condition Ready=True
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers:
            - name: main
              image: "registry.k8s.io/pause:3.10"
              resources: {requests: {cpu: 500m, memory: 64Mi}, limits: {cpu: "1", memory: 128Mi}}
        """
      And Pod "web" has condition Ready=True
      And 5s pass
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web/resize:
        """
        {"spec": {"containers": [{"name": "main", "resources": <patch>}]}}
        """
      Then machine "worker-1" field containers[web/main].limits["<file>"] is <value> within 1s
      And Pod "web" field status.containerStatuses[main].allocatedResources is <allocated> within 1s
      And Pod "web" field status.containerStatuses[main].resources is <has> within 2s
      And Pod "web" has condition PodResizeInProgress=True within 1s
      And Pod "web" field status.conditions[PodResizeInProgress] is absent between 500ms and 2s
      And Pod "web" keeps field status.containerStatuses[main].restartCount 0 for 1m
      And Pod "web" never has condition PodResizePending=True for 1m

      Examples:
        | what   | way  | patch                                      | file       | value          | allocated                      | has                                                                                  |
        | CPU    | up   | {"requests": {"cpu": "2"}, "limits": {"cpu": "3"}} | cpu.max | "300000 100000" | {"cpu":"2","memory":"64Mi"}    | {"limits":{"cpu":"3","memory":"128Mi"},"requests":{"cpu":"2","memory":"64Mi"}}       |
        | CPU    | down | {"requests": {"cpu": "250m"}}              | cpu.weight | 10             | {"cpu":"250m","memory":"64Mi"} | {"limits":{"cpu":"1","memory":"128Mi"},"requests":{"cpu":"250m","memory":"64Mi"}}    |
        | Memory | up   | {"requests": {"memory": "128Mi"}, "limits": {"memory": "256Mi"}} | memory.max | 268435456 | {"cpu":"500m","memory":"128Mi"} | {"limits":{"cpu":"1","memory":"256Mi"},"requests":{"cpu":"500m","memory":"128Mi"}} |

    @since:1.34
    Scenario: The resize of a sidecar is over when the cgroup was seen
      Given Node "worker-1" has condition Ready=True
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          initContainers:
            - name: side
              image: "registry.k8s.io/pause:3.10"
              restartPolicy: Always
              resources: {requests: {cpu: 100m}}
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      And Pod "web" has condition Ready=True
      And 5s pass
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web/resize:
        """
        {"spec": {"initContainers": [{"name": "side", "resources": {"requests": {"cpu": "1"}}}]}}
        """
      Then Pod "web" field status.conditions[PodResizeInProgress].observedGeneration is 2 within 1s
      And machine "worker-1" field containers[web/side].limits["cpu.weight"] is 39 within 1s
      And Pod "web" field status.initContainerStatuses[side].resources.requests.cpu is "1" within 2s
      And Event ResizeCompleted about Pod "web" between 500ms and 2s

  @req:CAP-06
  Rule: What an Event says of a resize, by release

    Scenario: In 1.33 none
      Given a cluster of Kubernetes 1.33
      And Node "worker-1" has condition Ready=True
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 100m}}}
        """
      And Pod "web" has condition Ready=True
      And 5s pass
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web/resize:
        """
        {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]}}
        """
      Then Pod "web" field status.containerStatuses[main].resources.requests.cpu is "1" within 2s
      And no Event ResizeCompleted about Pod "web" for 1m

    Scenario: In 1.34 the last step
      Given a cluster of Kubernetes 1.34
      And Node "worker-1" has condition Ready=True
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 100m}}}
        """
      And Pod "web" has condition Ready=True
      And 5s pass
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web/resize:
        """
        {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]}}
        """
      Then Event ResizeCompleted about Pod "web", message "Pod resize completed: {\"containers\":[{\"name\":\"main\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}" within 2s
      And no Event ResizeStarted about Pod "web" for 1m

    @since:1.35
    Scenario: From 1.35 on each step, with the generation
      Given Node "worker-1" has condition Ready=True
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 100m}}}
        """
      And Pod "web" has condition Ready=True
      And 5s pass
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web/resize:
        """
        {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]}}
        """
      Then Event ResizeStarted about Pod "web", message "Pod resize started: {\"containers\":[{\"name\":\"main\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}],\"generation\":2}" within 1s
      And Event ResizeCompleted about Pod "web", message "Pod resize completed: {\"containers\":[{\"name\":\"main\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}],\"generation\":2}" within 2s

  @req:CAP-07
  Rule: A container that wants a restart gets one, whatever the restart policy of its Pod

    Scenario: CPU changes as it runs, memory with a new start
      Given Node "worker-1" has condition Ready=True
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          restartPolicy: OnFailure
          containers:
            - name: main
              image: "registry.k8s.io/pause:3.10"
              resizePolicy:
                - {resourceName: cpu, restartPolicy: NotRequired}
                - {resourceName: memory, restartPolicy: RestartContainer}
              resources: {requests: {cpu: 500m, memory: 64Mi}, limits: {cpu: "1", memory: 128Mi}}
        """
      And Pod "web" has condition Ready=True
      And 5s pass
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web/resize:
        """
        {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]}}
        """
      Then machine "worker-1" field containers[web/main].limits["cpu.weight"] is 39 within 1s
      And Pod "web" keeps field status.containerStatuses[main].restartCount 0 for 1m
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web/resize:
        """
        {"spec": {"containers": [{"name": "main", "resources": {"requests": {"memory": "32Mi"}, "limits": {"memory": "64Mi"}}}]}}
        """
      Then Event Killing about Pod "web", message "Container main resize requires restart" within 1s
      And Pod "web" field status.containerStatuses[main].restartCount is 1 within 3s
      And machine "worker-1" field containers[web/main].limits["memory.max"] is 67108864 within 3s
      And Pod "web" field status.containerStatuses[main].resources.limits.memory is "64Mi" within 3s
      And Pod "web" field status.conditions[PodResizeInProgress] is absent within 5s

    Scenario: The status of one that starts anew tells of nothing before it runs again
      Given Node "worker-1" has condition Ready=True
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers:
            - name: anew
              image: "registry.k8s.io/pause:3.10"
              resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}]
              resources: {requests: {cpu: 100m}}
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 100m}}}
        """
      And Pod "web" has condition Ready=True
      And 5s pass
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web/resize:
        """
        {"spec": {"containers": [{"name": "anew", "resources": {"requests": {"cpu": "1"}}}, {"name": "main", "resources": {"requests": {"cpu": "1"}}}]}}
        """
      Then Pod "web" has condition PodResizeInProgress=True within 1s
      And Pod "web" keeps condition Ready=True for 10s
      And Pod "web" keeps field status.containerStatuses[main].restartCount 0 for 10s
      And Pod "web" field status.containerStatuses[anew].restartCount is 1 within 5s
      And Pod "web" field status.containerStatuses[anew].resources.requests.cpu is "1" within 5s
      And Pod "web" field status.containerStatuses[main].resources.requests.cpu is "1" within 5s
      And Pod "web" field status.conditions[PodResizeInProgress] is absent within 5s

  @req:CAP-08
  Rule: What a node can never give is Infeasible, and the Pod runs on as it was

    @until:1.35
    Scenario Outline: More <resource> than the node has
      Given Node "worker-1" has condition Ready=True
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 100m, memory: 64Mi}}}
        """
      And Pod "web" has condition Ready=True
      And 5s pass
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web/resize:
        """
        {"spec": {"containers": [{"name": "main", "resources": {"requests": {"<resource>": "<asked>"}}}]}}
        """
      Then Pod "web" has condition PodResizePending=True, reason "Infeasible", message "Node didn't have enough capacity: <resource>, <numbers>" within 1s
      And Pod "web" keeps condition PodResizePending=True for 10m
      And Pod "web" keeps field status.containerStatuses[main].allocatedResources {"cpu":"100m","memory":"64Mi"} for 10m
      And Pod "web" keeps field status.containerStatuses[main].resources {"requests":{"cpu":"100m","memory":"64Mi"}} for 10m
      And machine "worker-1" keeps field containers[web/main].limits["cpu.weight"] 4 for 10m

      Examples:
        | resource | asked | numbers                                     |
        | cpu      | 100   | requested: 100000, capacity: 4000           |
        | memory   | 8Gi   | requested: 8589934592, capacity: 4190109696 |

    @since:1.36
    Scenario: From 1.36 on such a resize is Deferred
      Given Node "worker-1" has condition Ready=True
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 100m}}}
        """
      And Pod "web" has condition Ready=True
      And 5s pass
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web/resize:
        """
        {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "100"}}}]}}
        """
      Then Pod "web" has condition PodResizePending=True, reason "Deferred", message "Node didn't have enough resource: cpu, requested: 100000, used: 0, capacity: 4000" within 1s
      And Event ResizeDeferred about Pod "web", message "Pod resize Deferred: {\"containers\":[{\"name\":\"main\",\"resources\":{\"requests\":{\"cpu\":\"100\"}}}],\"generation\":2,\"error\":\"Node didn't have enough resource: cpu, requested: 100000, used: 0, capacity: 4000\"}" within 1s
      And Pod "web" keeps field status.containerStatuses[main].resources.requests.cpu "100m" for 10m

    @since:1.34
    Scenario: CPUs for Pods alone
      Given a machine "worker-2" with:
        | cpu    | 8   |
        | memory | 8Gi |
      And whose kubelet runs with:
        | cpuManagerPolicy | static |
        | kubeReserved.cpu | "1"    |
      And Node "worker-2" has condition Ready=True
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-2
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {limits: {cpu: 500m, memory: 64Mi}}}
        """
      And Pod "web" has condition Ready=True
      And 5s pass
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web/resize:
        """
        {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}}]}}
        """
      Then Pod "web" has condition PodResizePending=True, reason "Infeasible", message "Resize is infeasible for Guaranteed Pods alongside CPU Manager policy \"static\"" within 1s
      And Pod "web" keeps field status.containerStatuses[main].resources.limits {"cpu":"500m","memory":"64Mi"} for 5m

    @since:1.34
    Scenario: A container that may swap
      Given a machine "worker-2" with:
        | memory | 8Gi |
        | swap   | 4Gi |
      And whose kubelet runs with:
        | failSwapOn              | false       |
        | memorySwap.swapBehavior | LimitedSwap |
      And Node "worker-2" has condition Ready=True
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-2
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {memory: 64Mi}, limits: {memory: 1Gi}}}
        """
      And Pod "web" has condition Ready=True
      And 5s pass
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web/resize:
        """
        {"spec": {"containers": [{"name": "main", "resources": {"requests": {"memory": "128Mi"}}}]}}
        """
      Then Pod "web" has condition PodResizePending=True, reason "Infeasible", message "In-place resize of containers with swap is not supported." within 1s
      And machine "worker-2" keeps field containers[web/main].limits["memory.swap.max"] 33554432 for 5m

  @req:CAP-09
  Rule: What others use is Deferred, and given when they have gone

    Scenario: Another Pod is deleted
      Given Node "worker-1" has condition Ready=True
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: "1"}}}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: other}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: "2"}}}
        """
      And Pod "web" has condition Ready=True
      And Pod "other" has condition Ready=True
      And 5s pass
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web/resize:
        """
        {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "3"}}}]}}
        """
      Then Pod "web" has condition PodResizePending=True, reason "Deferred", message "Node didn't have enough resource: cpu, requested: 3000, used: 2000, capacity: 4000" within 1s
      And Pod "web" keeps field status.containerStatuses[main].allocatedResources.cpu "1" for 5m
      And machine "worker-1" keeps field containers[web/main].limits["cpu.weight"] 39 for 5m
      When the user deletes Pod "other"
      Then Pod "web" field status.containerStatuses[main].allocatedResources.cpu is "3" within 100s
      And machine "worker-1" field containers[web/main].limits["cpu.weight"] is 118 within 100s
      And Pod "web" field status.conditions[PodResizePending] is absent within 100s
      And Pod "web" has condition PodResizeInProgress=True within 100s

    @since:1.34
    Scenario: It is tried as soon as the other is gone
      Given Node "worker-1" has condition Ready=True
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: "1"}}}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: other}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: "2"}}}
        """
      And Pod "web" has condition Ready=True
      And Pod "other" has condition Ready=True
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web/resize:
        """
        {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "3"}}}]}}
        """
      And Pod "web" has condition PodResizePending=True
      And the user deletes Pod "other"
      Then Pod "other" is gone within 5s
      And Pod "web" field status.containerStatuses[main].allocatedResources.cpu is "3" within 6s

    @since:1.34
    Scenario: Another Pod gets smaller
      Given Node "worker-1" has condition Ready=True
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: "1"}}}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: other}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: "2"}}}
        """
      And Pod "web" has condition Ready=True
      And Pod "other" has condition Ready=True
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web/resize:
        """
        {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "3"}}}]}}
        """
      And Pod "web" has condition PodResizePending=True
      And the user sends strategic PATCH /api/v1/namespaces/default/pods/other/resize:
        """
        {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]}}
        """
      Then Pod "other" field status.containerStatuses[main].resources.requests.cpu is "1" within 2s
      And Pod "web" field status.containerStatuses[main].allocatedResources.cpu is "3" within 3s

    @since:1.34
    Scenario: What succeeds is counted no more: before 1.36 that is found within three minutes
      Given a cluster of Kubernetes 1.34
      And Node "worker-1" has condition Ready=True
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: "1"}}}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: other}
        spec:
          nodeName: worker-1
          restartPolicy: Never
          containers:
            - {name: main, image: "busybox:1", command: [sleep, "30"], resources: {requests: {cpu: "2"}}}
        """
      And Pod "web" has condition Ready=True
      And Pod "other" has condition Ready=True
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web/resize:
        """
        {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "3"}}}]}}
        """
      Then Pod "other" field status.phase is "Succeeded" within 40s
      And Pod "web" field status.containerStatuses[main].allocatedResources.cpu is "3" between 179s and 182s

    @since:1.34
    Scenario: Two wait, and the one of higher priority is served first
      Given Node "worker-1" has condition Ready=True
      And the user creates:
        """
        apiVersion: scheduling.k8s.io/v1
        kind: PriorityClass
        metadata: {name: high}
        value: 1000
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: low}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 500m}}}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: high}
        spec:
          nodeName: worker-1
          priorityClassName: high
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 500m}}}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: other}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: "3"}}}
        """
      And Pod "low" has condition Ready=True
      And Pod "high" has condition Ready=True
      And Pod "other" has condition Ready=True
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/low/resize:
        """
        {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "2"}}}]}}
        """
      And Pod "low" has condition PodResizePending=True
      And the user sends strategic PATCH /api/v1/namespaces/default/pods/high/resize:
        """
        {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "3"}}}]}}
        """
      And Pod "high" has condition PodResizePending=True
      And the user deletes Pod "other"
      Then Pod "high" field status.containerStatuses[main].allocatedResources.cpu is "3" within 6s
      And Pod "low" keeps condition PodResizePending=True for 1m
      And Pod "low" keeps field status.containerStatuses[main].allocatedResources.cpu "500m" for 1m

    Scenario: A resize that is taken back waits no more
      Given Node "worker-1" has condition Ready=True
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: "1"}}}
        """
      And Pod "web" has condition Ready=True
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web/resize:
        """
        {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "5"}}}]}}
        """
      Then Pod "web" has condition PodResizePending=True within 1s
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web/resize:
        """
        {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]}}
        """
      Then Pod "web" field status.conditions[PodResizePending] is absent within 1s

  @req:CAP-09
  Rule: What a Pod was given outlives its kubelet

    Scenario: The kubelet is down while a Pod asks for more, and others use it
      Given Node "worker-1" has condition Ready=True
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: "1"}}}
        """
      And Pod "web" has condition Ready=True
      And the kubelet on "worker-1" stops
      And the user sends strategic PATCH /api/v1/namespaces/default/pods/web/resize:
        """
        {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "5"}}}]}}
        """
      When the kubelet on "worker-1" starts
      Then Pod "web" has condition PodResizePending=True within 35s
      And Pod "web" keeps field status.phase "Running" for 2m
      And Pod "web" keeps field status.containerStatuses[main].restartCount 0 for 2m
      And Pod "web" keeps field status.containerStatuses[main].allocatedResources.cpu "1" for 2m

  @req:CAP-08
  Rule: No memory limit goes below what is used

    @since:1.34
    Scenario: The container uses more
      Given Node "worker-1" has condition Ready=True
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
          annotations: {nodeproof.dev/main.uses.memory: 100Mi}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {memory: 32Mi}, limits: {memory: 128Mi}}}
        """
      And Pod "web" has condition Ready=True
      And 5s pass
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web/resize:
        """
        {"spec": {"containers": [{"name": "main", "resources": {"limits": {"memory": "64Mi"}}}]}}
        """
      Then Pod "web" has condition PodResizeInProgress=True, reason "Error", message "cannot decrease memory limits: [attempting to set pod memory limit (67108864) below current usage (104857600), attempting to set container \"main\" memory limit (67108864) below current usage (104857600)]" within 18s
      And machine "worker-1" keeps field containers[web/main].limits["memory.max"] 134217728 for 20s
      And Pod "web" keeps field status.containerStatuses[main].restartCount 0 for 20s
      When the kubelet on "worker-1" restarts
      Then Pod "web" field status.conditions[PodResizeInProgress].lastTransitionTime is changed within 5s
      And Pod "web" keeps condition PodResizeInProgress=True for 20s
      And Pod "web" keeps field status.containerStatuses[main].restartCount 0 for 20s
      And machine "worker-1" keeps field containers[web/main].limits["memory.max"] 134217728 for 20s
      When the user sends PATCH /api/v1/namespaces/default/pods/web:
        """yaml
        metadata: {annotations: {nodeproof.dev/main.uses.memory: 10Mi}}
        """
      Then machine "worker-1" field containers[web/main].limits["memory.max"] is 67108864 within 16s
      And Pod "web" field status.conditions[PodResizeInProgress] is absent within 18s

    @until:1.33
    Scenario: In 1.33 the API server refuses a lower limit
      Given Node "worker-1" has condition Ready=True
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {memory: 32Mi}, limits: {memory: 128Mi}}}
        """
      And Pod "web" has condition Ready=True
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web/resize:
        """
        {"spec": {"containers": [{"name": "main", "resources": {"limits": {"memory": "64Mi"}}}]}}
        """
      Then the request is refused with 422 "spec.containers[0].resources.limits[memory]: Forbidden: memory limits cannot be decreased unless resizePolicy is RestartContainer"
      And Pod "web" keeps field spec.containers[0].resources.limits.memory "128Mi" for 1m
