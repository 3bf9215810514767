@core
Feature: Which containers run anew, when, and which wait
  Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go (v1.34), computePodActions and doBackOff
  Source: pkg/kubelet/kubelet.go (v1.34), newCrashLoopBackOff

  Rule: The pause before a restart is at most the one of the kubelet's configuration, where its gate is on

    @since:1.33
    Scenario Outline: With <gate>
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | featureGates     | {"<gate>": true} |
        | crashLoopBackOff | <configured>     |
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: registry.k8s.io/busybox:1, command: [sh, -c, exit 1]}]
        """
      Then Pod "web" field status.containerStatuses[0].restartCount is <restarts> between 5s and <until>

      Examples:
        | gate                               | configured                          | restarts | until |
        | KubeletCrashLoopBackOffMax         | {"maxContainerRestartPeriod": "2s"} | 4        | 60s   |
        | ReduceDefaultCrashLoopBackOffDecay | {}                                  | 4        | 75s   |

  Rule: A Pod with a container in back-off is synced each 10 to 15 s, since 1.35 when the back-off ends
    Source: pkg/kubelet/pod_workers.go (v1.34, v1.35, v1.37), completeWork

    Scenario Outline: The back-off takes 2 s, in 1.<release>
      Given a cluster of Kubernetes 1.<release>
      And a ready Node "worker-1"
      And whose kubelet runs with:
        | featureGates     | {"KubeletCrashLoopBackOffMax": true} |
        | crashLoopBackOff | {"maxContainerRestartPeriod": "2s"}  |
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: registry.k8s.io/busybox:1, command: [sh, -c, exit 1]}]
        """
      Then Pod "web" field status.containerStatuses[0].restartCount is 3 between <from> and <until>

      Examples:
        | release | from | until |
        | 34      | 20s  | 36s   |
        | 35      | 4s   | 11s   |
        | 37      | 4s   | 11s   |

    @since:1.35
    Scenario: A back-off longer than a minute is looked at after one, or up to half of one later
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: registry.k8s.io/busybox:1, command: [sh, -c, exit 1]}]
        """
      Then Pod "web" field status.containerStatuses[0].restartCount is 4 between 70s and 112s
      And Pod "web" field status.containerStatuses[0].restartCount is 5 between 150s and 294s

  Rule: A container with another image runs anew at once, whatever the restart policy says

    Scenario: A running one is ended, and its status tells of the new image
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          restartPolicy: Never
          containers: [{name: main, image: "registry.k8s.io/pause:3.9"}]
        """
      And Pod "web" field status.phase is "Running"
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web:
        """
        {"spec": {"containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]}}
        """
      Then Event Killing about Pod "web", message "Container main definition changed, will be restarted" within 1s
      And Pod "web" field status.containerStatuses[0].restartCount is 1 within 5s
      And Pod "web" field status.containerStatuses[0].image is "registry.k8s.io/pause:3.10" within 5s
      And Pod "web" keeps field status.phase "Running" for 30s

  Rule: A container's own policy of restarts is stronger than that of its Pod

    @since:1.35
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
          containers:
          - name: main
            image: registry.k8s.io/busybox:1
            command: [sh, -c, exit <code>]
            restartPolicy: <own>
            restartPolicyRules: <rules>
          - {name: other, image: "registry.k8s.io/busybox:1", command: [sleep, "1000"]}
        """
      Then Pod "web" field status.phase is "Running" within 3s
      And Pod "web" field status.containerStatuses[0].restartCount is <restarts> within 40s
      When 30s pass
      Then Pod "web" keeps field status.containerStatuses[0].restartCount at <later> for 10s
      And Pod "web" keeps field status.phase "Running" for 20s

      Examples:
        | what                             | of pod | own       | rules                                                           | code | restarts | later |
        | One that is never started again  | Always | Never     | []                                                              | 1    | 0        | 0     |
        | One that is, in a Pod that never | Never  | OnFailure | []                                                              | 1    | 2        | 3     |
        | One whose exit code meets a rule | Never  | Never     | [{action: Restart, exitCodes: {operator: In, values: [42]}}]    | 42   | 2        | 3     |
        | One whose exit code meets none   | Always | Never     | [{action: Restart, exitCodes: {operator: NotIn, values: [42]}}] | 42   | 0        | 0     |

    @since:1.35
    Scenario: The API server lets a container go on that a rule starts again, although its Pod never does
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          restartPolicy: Never
          containers:
          - name: main
            image: registry.k8s.io/busybox:1
            command: [sh, -c, sleep 2; exit 42]
            restartPolicy: Never
            restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [42]}}]
        """
      Then Pod "web" field status.containerStatuses[0].state.terminated.exitCode is 42 within 5s
      And Pod "web" field status.containerStatuses[0].restartCount is 1 within 6s
      And Pod "web" field status.containerStatuses[0].state.waiting.reason is "CrashLoopBackOff" within 25s
      And Pod "web" field status.containerStatuses[0].restartCount is 2 between 10s and 40s

  @since:1.34
  Rule: A container without limits of its own has those of its Pod

    Scenario: One has a limit of memory, the other none
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          resources: {limits: {cpu: 500m, memory: 200Mi}}
          containers:
          - {name: main, image: registry.k8s.io/pause:3.10}
          - {name: other, image: registry.k8s.io/pause:3.10, resources: {limits: {memory: 50Mi}}}
        """
      Then machine "worker-1" field containers[web/main].limits["memory.max"] is 209715200 within 3s
      And machine "worker-1" field containers[web/main].limits["cpu.max"] is "50000 100000" within 3s
      And machine "worker-1" field containers[web/main].limits["cpu.weight"] is 20 within 3s
      And machine "worker-1" field containers[web/other].limits["memory.max"] is 52428800 within 3s
      And machine "worker-1" field containers[web/other].limits["cpu.max"] is "50000 100000" within 3s

  Rule: A process that uses more memory than its limit is ended by the kernel

    Scenario: The container is OOMKilled, and runs anew
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.uses.memory: 30Mi}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: registry.k8s.io/pause:3.10, resources: {limits: {memory: 20Mi}}}]
        """
      Then Pod "web" field status.containerStatuses[0].lastState.terminated.reason is "OOMKilled" within 5s
      And Pod "web" field status.containerStatuses[0].lastState.terminated.exitCode is 137 within 5s
      And Pod "web" field status.containerStatuses[0].state.waiting.reason is "CrashLoopBackOff" between 3s and 30s

  Rule: An image whose name cannot be read is never pulled

    Scenario: The container waits
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: "Registry/Name:1"}]
        """
      Then Event InspectFailed about Pod "web", message "Failed to apply default image tag \"Registry/Name:1\": couldn't parse image name \"Registry/Name:1\": invalid reference format: repository name (Name) must be lowercase" within 3s
      And Event Failed about Pod "web", message "Error: InvalidImageName" within 3s
      And Pod "web" field status.containerStatuses[0].state.waiting.reason is "InvalidImageName" within 5s
      And Pod "web" keeps field status.phase "Pending" for 60s

  Rule: A Pod that fails to initialise keeps its phase until its sidecars have ended

    Scenario: The sidecar takes 6 s
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/side.stops-after: 6s, nodeproof.dev/once.exit-code: "1"}
        spec:
          nodeName: worker-1
          restartPolicy: Never
          initContainers:
          - {name: side, image: registry.k8s.io/pause:3.10, restartPolicy: Always}
          - {name: once, image: registry.k8s.io/pause:3.10}
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      Then Pod "web" field status.initContainerStatuses[1].state.terminated.exitCode is 1 within 5s
      And Pod "web" keeps field status.phase "Pending" for 6s
      And Pod "web" field status.phase is "Failed" between 7s and 14s

  Rule: Any sync shows that a container waits, whatever it is for
    Source: pkg/kubelet/kubelet_pods.go (v1.31, v1.34, v1.37), convertToAPIContainerStatuses

    Scenario: A label is changed
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: "registry.k8s.io/busybox:1", command: [sh, -c, sleep 1; exit 2]}]
        """
      And Pod "web" field status.containerStatuses[0].restartCount is 1
      And 3s pass
      When the user sends PATCH /api/v1/namespaces/default/pods/web:
        """
        {"metadata": {"labels": {"app": "web"}}}
        """
      Then Pod "web" field status.containerStatuses[0].state.waiting.reason is "CrashLoopBackOff" within 1s
      And Event BackOff about Pod "web" within 1s

    Scenario: Another container ends
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          containers:
          - {name: early, image: "registry.k8s.io/busybox:1", command: [sh, -c, sleep 1; exit 2]}
          - {name: late, image: "registry.k8s.io/busybox:1", command: [sh, -c, sleep 4; exit 2]}
        """
      Then Pod "web" field status.containerStatuses[0].state.waiting.reason is "CrashLoopBackOff" between 3s and 6s
      And Pod "web" field status.containerStatuses[0].restartCount is 2 within 30s
