@core
Feature: Init containers and sidecars start before a Pod's containers, and sidecars end after them
  Source: pkg/kubelet/kuberuntime/kuberuntime_container.go (v1.34), computeInitContainerActions
  Source: pkg/kubelet/kuberuntime/kuberuntime_termination_order.go (v1.34), newTerminationOrdering
  Source: pkg/kubelet/kubelet_pods.go (v1.34), getPhase; pkg/kubelet/status/generate.go, GeneratePodInitializedCondition

  Rule: Init containers run to their end one after the other

    Scenario: The Pod is Pending until both have ended with success
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/first.crashes-after: 10s, nodeproof.dev/first.exit-code: "0"}
        spec:
          nodeName: worker-1
          initContainers:
          - {name: first, image: registry.k8s.io/busybox:1.36}
          - {name: second, image: registry.k8s.io/busybox:1.36}
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      Then Pod "web" field status.initContainerStatuses[0].state.running is set within 3s
      And Pod "web" keeps field status.initContainerStatuses[1].state.waiting.reason "PodInitializing" for 9s
      And Pod "web" keeps field status.containerStatuses[0].state.waiting.reason "PodInitializing" for 11s
      And Pod "web" field status.conditions[Initialized].message is "containers with incomplete status: [first second]" within 3s
      And Pod "web" has condition Initialized=True between 12s and 15s
      And Pod "web" field status.phase is "Running" between 13s and 16s
      And 3 Events Started about Pod "web" between 13s and 16s
      And Pod "web" field status.initContainerStatuses[0].state.terminated.reason is "Completed" between 10s and 13s
      And the history of Pod "web" matches its snapshot

    Scenario: One that fails is started again, and the others wait
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/first.crashes-after: 2s}
        spec:
          nodeName: worker-1
          initContainers: [{name: first, image: registry.k8s.io/busybox:1.36}]
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      Then Pod "web" field status.initContainerStatuses[0].restartCount is 1 within 10s
      And Event BackOff about Pod "web" between 4s and 12s
      And Pod "web" field status.initContainerStatuses[0].restartCount is 2 between 10s and 40s
      But Pod "web" keeps field status.phase "Pending" for 2m
      And Pod "web" keeps field status.containerStatuses[0].state.running absent for 2m

    Scenario: One that fails ends a Pod that never restarts
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/first.crashes-after: 2s, nodeproof.dev/first.exit-code: "3"}
        spec:
          nodeName: worker-1
          restartPolicy: Never
          initContainers: [{name: first, image: registry.k8s.io/busybox:1.36}]
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      Then Pod "web" field status.phase is "Failed" between 2s and 8s
      And Pod "web" field status.initContainerStatuses[0].state.terminated.exitCode is 3 within 8s
      And Pod "web" has condition Initialized=False within 8s
      And Pod "web" keeps field status.containerStatuses[0].state.waiting.reason "PodInitializing" for 60s
      And Pod "web" keeps field status.containerStatuses[0].state.running absent for 60s

    Scenario: After a reboot they run again
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          initContainers: [{name: first, image: registry.k8s.io/busybox:1.36}]
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      And Pod "web" field status.phase is "Running"
      When machine "worker-1" reboots
      Then Pod "web" field status.initContainerStatuses[0].restartCount is 1 within 60s
      And Pod "web" field status.containerStatuses[0].restartCount is 1 within 60s
      And Pod "web" field status.podIP is changed within 60s

    Scenario: A Pod that never restarts has failed with the init container that the reboot has ended
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default, annotations: {nodeproof.dev/first.crashes-after: 10m, nodeproof.dev/first.exit-code: "0"}}
        spec:
          nodeName: worker-1
          restartPolicy: Never
          initContainers: [{name: first, image: registry.k8s.io/busybox:1.36}]
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      And Pod "web" field status.initContainerStatuses[0].state.running is set
      When machine "worker-1" reboots
      Then Pod "web" field status.phase is "Failed" within 30s
      And Pod "web" keeps field status.initContainerStatuses[0].restartCount 0 for 60s

    @since:1.33
    Scenario: While they run again the Pod is Pending
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default, annotations: {nodeproof.dev/first.crashes-after: 5s, nodeproof.dev/first.exit-code: "0"}}
        spec:
          nodeName: worker-1
          initContainers: [{name: first, image: registry.k8s.io/busybox:1.36}]
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      And Pod "web" field status.phase is "Running"
      When machine "worker-1" reboots
      Then Pod "web" field status.phase is "Pending" within 5s

    Scenario: After a reboot what stands behind a sidecar runs again too
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          initContainers:
          - {name: side, image: registry.k8s.io/pause:3.10, restartPolicy: Always}
          - {name: once, image: registry.k8s.io/pause:3.10}
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      And Pod "web" has condition Ready=True
      When machine "worker-1" reboots
      Then Pod "web" field status.initContainerStatuses[1].restartCount is 1 within 30s
      And Pod "web" field status.containerStatuses[0].restartCount is 1 within 30s

  Rule: A sidecar runs on beside the containers, and ends after them

    Scenario: A Pod that is deleted
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.stops-after: 5s}
        spec:
          nodeName: worker-1
          initContainers:
          - {name: outer, image: registry.k8s.io/busybox:1.36, restartPolicy: Always}
          - {name: inner, image: registry.k8s.io/busybox:1.36, restartPolicy: Always}
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      And Pod "web" field status.phase is "Running"
      When the user deletes Pod "web"
      Then container "main" of Pod "web" stops on machine "worker-1" between 4s and 6s
      And container "inner" of Pod "web" stops on machine "worker-1" between 5.5s and 7s
      And container "outer" of Pod "web" stops on machine "worker-1" between 6.5s and 8s
      And Pod "web" is gone between 7s and 10s
      And Event Killing about Pod "web", message "Stopping container outer" within 2s
      And the history of Pod "web" matches its snapshot

    Scenario: A sidecar whose turn never comes is ended when the grace period is over
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.stops-after: never, nodeproof.dev/side.stops-after: never}
        spec:
          nodeName: worker-1
          terminationGracePeriodSeconds: 10
          initContainers: [{name: side, image: registry.k8s.io/busybox:1.36, restartPolicy: Always}]
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      And Pod "web" field status.phase is "Running"
      When the user deletes Pod "web"
      Then container "main" of Pod "web" stops on machine "worker-1" between 9s and 11s
      And container "side" of Pod "web" stops on machine "worker-1" between 11s and 13s
      And Pod "web" is gone between 11s and 15s

    Scenario: A Pod whose containers have ended does not wait for its sidecar
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: job
          namespace: default
          annotations: {nodeproof.dev/main.crashes-after: 10s, nodeproof.dev/main.exit-code: "0"}
        spec:
          nodeName: worker-1
          restartPolicy: Never
          initContainers: [{name: side, image: registry.k8s.io/busybox:1.36, restartPolicy: Always}]
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      Then Pod "job" field status.containerStatuses[0].state.terminated.exitCode is 0 between 10s and 14s
      And Event Killing about Pod "job", message "Stopping container side" between 10s and 14s
      And Pod "job" field status.phase is "Succeeded" between 12s and 17s
      And Pod "job" field status.conditions[Initialized].reason is "PodCompleted" between 12s and 17s

    Scenario: A sidecar that fails is started again while the Pod stays Running
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/side.crashes-after: 20s}
        spec:
          nodeName: worker-1
          initContainers: [{name: side, image: registry.k8s.io/busybox:1.36, restartPolicy: Always}]
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      And Pod "web" field status.phase is "Running"
      When 1s passes
      Then Pod "web" field status.conditions[Ready].message is "containers with unready status: [side]" within 25s
      And Pod "web" field status.initContainerStatuses[0].restartCount is 1 within 30s
      And Pod "web" keeps field status.phase "Running" for 60s
      And Pod "web" keeps condition Initialized=True for 60s
      And container "main" of Pod "web" keeps running on machine "worker-1" for 60s

    Scenario: A container that has ended while its sidecar was down runs again when the sidecar does
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          initContainers:
          - {name: side, image: "registry.k8s.io/busybox:1", restartPolicy: Always, command: [sh, -c, sleep 30; exit 1]}
          containers: [{name: main, image: "registry.k8s.io/busybox:1", command: [sh, -c, sleep 2; exit 0]}]
        """
      Then Pod "web" field status.containerStatuses[0].restartCount is 2 within 30s
      When 5m pass
      Then Pod "web" field status.containerStatuses[0].restartCount is changed within 5m
      And Pod "web" field status.initContainerStatuses[0].restartCount is changed within 5m

  Rule: A hook delays SIGTERM, as long as the grace period lasts

    Scenario Outline: The hook <hook> with a grace period of <grace> s
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          terminationGracePeriodSeconds: <grace>
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            lifecycle: {preStop: <hook>}
        """
      And Pod "web" field status.phase is "Running"
      When the user deletes Pod "web"
      Then container "main" of Pod "web" stops on machine "worker-1" between <least> and <most>
      And Pod "web" is gone within 20s

      Examples:
        | hook                              | grace | least | most |
        | {sleep: {seconds: 5}}             | 30    | 5.5s  | 7s   |
        | {exec: {command: [sleep, "3"]}}   | 30    | 3.5s  | 5s   |
        | {exec: {command: [nginx, -s, quit]}} | 30 | 0.5s  | 2s   |

    Scenario: A hook that outlasts the grace period fails with its container
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.stops-after: never}
        spec:
          nodeName: worker-1
          terminationGracePeriodSeconds: 5
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            lifecycle: {preStop: {exec: {command: [sleep, "60"]}}}
        """
      And Pod "web" field status.phase is "Running"
      When the user deletes Pod "web"
      Then container "main" of Pod "web" stops on machine "worker-1" between 6s and 8s
      And Event FailedPreStopHook about Pod "web", message "PreStopHook failed" between 6s and 9s
      And Pod "web" is gone between 7s and 12s

    Scenario: A hook that fails delays nothing, and is told
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            lifecycle: {preStop: {exec: {command: [sh, -c, exit 1]}}}
        """
      And Pod "web" field status.phase is "Running"
      When the user deletes Pod "web"
      Then Event FailedPreStopHook about Pod "web", message "PreStopHook failed" within 1s
      And container "main" of Pod "web" stops on machine "worker-1" between 0.5s and 2s

  @since:1.35
  Rule: An init container's own policy of restarts is stronger than that of its Pod

    Scenario Outline: <what>
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          restartPolicy: <of pod>
          initContainers:
          - name: once
            image: registry.k8s.io/busybox:1
            command: [sh, -c, sleep 1; exit 42]
            restartPolicy: Never
            restartPolicyRules: <rules>
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      Then Pod "web" field status.initContainerStatuses[0].restartCount is <restarts> within 40s
      And Pod "web" <phase>
      But Pod "web" keeps field status.containerStatuses[0].started false for 60s

      Examples:
        | what                             | of pod | rules                                                        | restarts | phase                                          |
        | One that is never started again  | Always | []                                                           | 0        | field status.phase is "Failed" between 1s and 40s |
        | One whose exit code meets a rule | Never  | [{action: Restart, exitCodes: {operator: In, values: [42]}}] | 2        | keeps field status.phase "Pending" for 40s     |

  Rule: A sync waits for the hook postStart, and nothing is told of the Pod before its end

    Scenario: The hook takes 8 s
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
            lifecycle: {postStart: {exec: {command: [sleep, "8"]}}}
          - {name: other, image: registry.k8s.io/pause:3.10}
        """
      Then Event Started about Pod "web" within 3s
      And Pod "web" keeps field status.containerStatuses[0].state.waiting.reason "ContainerCreating" for 8s
      And Pod "web" keeps field status.phase "Pending" for 8s
      And 2 Events Started about Pod "web" between 8s and 11s
      And Pod "web" has condition Ready=True between 8s and 12s

    @since:1.36
    Scenario: That its sandbox is ready is told at once
      Source: pkg/kubelet/kubelet.go (v1.36), OnPodSandboxReady

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
            lifecycle: {postStart: {exec: {command: [sleep, "8"]}}}
        """
      Then Pod "web" has condition PodReadyToStartContainers=True within 3s
      And Pod "web" keeps field status.phase "Pending" for 8s

    Scenario: A container whose hook fails is ended and started again
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
            lifecycle: {postStart: {exec: {command: ["false"]}}}
        """
      Then Event FailedPostStartHook about Pod "web", message "PostStartHook failed" within 3s
      And Event Killing about Pod "web", message "FailedPostStartHook" within 3s
      And Pod "web" field status.containerStatuses[0].state.waiting.reason is "PostStartHookError" within 4s
      And Pod "web" field status.containerStatuses[0].restartCount is 1 within 6s
      And Event BackOff about Pod "web" within 10s
      And Pod "web" field status.containerStatuses[0].state.waiting.reason is "CrashLoopBackOff" between 5s and 30s

    Scenario Outline: A request as a hook, <which>
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.ready-after: 30s}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            ports: [{name: http, containerPort: 8080}]
            lifecycle: {postStart: <hook>}
        """
      Then Event FailedPostStartHook about Pod "web", message "PostStartHook failed" within 3s
      And Event Killing about Pod "web", message "FailedPostStartHook" within 3s
      And Pod "web" field status.containerStatuses[0].state.waiting.reason is "PostStartHookError" within 4s
      And Pod "web" field status.containerStatuses[0].restartCount is 1 within 6s

      Examples:
        | which                                   | hook                                        |
        | to a process that does not listen yet   | {httpGet: {path: /up, port: http}}          |
        | to a port that the container has not    | {httpGet: {path: /up, port: metrics}}       |
        | that no kubelet can run: a socket       | {tcpSocket: {port: 8080}}                   |

    Scenario: A request before the end that nobody answers holds nothing back
      Given a ready Node "worker-1"
      And the object:
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
            lifecycle: {preStop: {httpGet: {path: /bye, port: 8080}}}
        """
      And Pod "web" field status.phase is "Running"
      When the user deletes Pod "web"
      Then Event FailedPreStopHook about Pod "web", message "PreStopHook failed" within 1s
      And Pod "web" is gone within 4s

    Scenario: A sleep before the end that is longer than the grace period has not failed
      Given a ready Node "worker-1"
      And the object:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          terminationGracePeriodSeconds: 5
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            lifecycle: {preStop: {sleep: {seconds: 5}}}
        """
      And Pod "web" field status.phase is "Running"
      When the user sends DELETE /api/v1/namespaces/default/pods/web?gracePeriodSeconds=3
      Then Pod "web" is gone between 3s and 7s
      And no Event FailedPreStopHook about Pod "web" for 20s

  Rule: An image that must not be pulled has to be on the machine

    Scenario: The container waits, and its start is tried again
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
          containers:
          - {name: main, image: "registry.k8s.io/missing:1", imagePullPolicy: Never}
          - {name: other, image: "registry.k8s.io/pause:3.10", imagePullPolicy: Never}
        """
      Then Event ErrImageNeverPull about Pod "web", message "Container image \"registry.k8s.io/missing:1\" is not present with pull policy of Never" within 3s
      And Event Failed about Pod "web", message "Error: ErrImageNeverPull" within 3s
      And Pod "web" field status.containerStatuses[0].state.waiting.reason is "ErrImageNeverPull" within 5s
      And Pod "web" field status.containerStatuses[1].state.running is set within 3s
      But Pod "web" keeps field status.phase "Pending" for 60s

    Scenario: A pull that fails is tried again, each time later
      Given a machine "worker-1" with:
        | failing | ["image-pull"] |
      And Node "worker-1" has condition Ready=True
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: "nodeproof/missing:1"}]
        """
      Then Event Pulling about Pod "web", message "Pulling image \"nodeproof/missing:1\"" within 3s
      And Event Failed about Pod "web", message "Failed to pull image \"nodeproof/missing:1\": rpc error: code = NotFound desc = failed to pull and unpack image \"docker.io/nodeproof/missing:1\": failed to resolve reference \"docker.io/nodeproof/missing:1\": docker.io/nodeproof/missing:1: not found" within 3s
      And Event Failed about Pod "web", message "Error: ErrImagePull" within 3s
      And Pod "web" field status.containerStatuses[0].state.waiting.reason is "ErrImagePull" within 4s
      And Event BackOff about Pod "web", message "Back-off pulling image \"nodeproof/missing:1\"" within 5s
      And Event Failed about Pod "web", message "Error: ImagePullBackOff" within 5s
      And Pod "web" field status.containerStatuses[0].state.waiting.reason is "ImagePullBackOff" between 10s and 20s
      But Pod "web" keeps field status.phase "Pending" for 2m
