@core
Feature: What pods request of a node never exceeds what it can give
  Source: pkg/scheduler/framework/plugins/noderesources/fit.go (v1.34), fitsRequest
  Source: k8s.io/component-helpers/resource/helpers.go (v1.34), PodRequests

  @req:CAP-01
  Rule: Containers and sidecars add up; an init container counts with the sidecars before it where that is more

    Scenario Outline: Two CPUs are enough for <first> and <second>, a sidecar of <sidecar>, and <early> before and <late> after it
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          initContainers:
            - {name: early, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: <early>}}}
            - name: sidecar
              image: registry.k8s.io/pause:3.10
              restartPolicy: Always
              resources: {requests: {cpu: <sidecar>}}
            - {name: late, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: <late>}}}
          containers:
            - {name: first, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: <first>}}}
            - {name: second, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: <second>}}}
        """
      Then Pod "web" field spec.nodeName is "worker-1" within 1s
      And Event Scheduled about Pod "web", message "Successfully assigned default/web to worker-1" within 1s
      But Pod "web" never has condition PodScheduled=False for 10s

      Examples:
        | first | second | early | sidecar | late  |
        | 1500m | 500m   | 0     | 0       | 0     |
        | 1     | 500m   | 0     | 500m    | 0     |
        | 500m  | 500m   | 2     | 1       | 0     |
        | 500m  | 500m   | 0     | 500m    | 1500m |
        | 0     | 0      | 2     | 0       | 2     |

    Scenario Outline: Two CPUs are too few for <first> and <second>, a sidecar of <sidecar>, and <early> before and <late> after it
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          initContainers:
            - {name: early, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: <early>}}}
            - name: sidecar
              image: registry.k8s.io/pause:3.10
              restartPolicy: Always
              resources: {requests: {cpu: <sidecar>}}
            - {name: late, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: <late>}}}
          containers:
            - {name: first, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: <first>}}}
            - {name: second, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: <second>}}}
        """
      Then Event FailedScheduling about Pod "web" within 1s
      And Pod "web" has condition PodScheduled=False, reason "Unschedulable", within 1s
      And Pod "web" keeps field status.phase "Pending" for 1m
      But Pod "web" keeps field spec.nodeName absent for 1m

      Examples:
        | first | second | early | sidecar | late  |
        | 1500m | 501m   | 0     | 0       | 0     |
        | 1     | 500m   | 0     | 501m    | 0     |
        | 500m  | 500m   | 2001m | 0       | 0     |
        | 500m  | 500m   | 0     | 500m    | 1501m |
        | 500m  | 1      | 0     | 501m    | 0     |

    Scenario Outline: A container with <resources> counts as two CPUs
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 3 |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: first
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: <resources>}
        """
      And Pod "first" field status.phase is "Running"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: too-large
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1001m}}}
        ---
        apiVersion: v1
        kind: Pod
        metadata:
          name: fitting
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1}}}
        """
      Then Pod "fitting" field spec.nodeName is "worker-1" within 1s
      And Pod "too-large" has condition PodScheduled=False, reason "Unschedulable", within 1s
      And Pod "too-large" keeps field spec.nodeName absent for 1m
      And Pod "first" keeps field status.phase "Running" for 1m

      Examples:
        | resources                            |
        | {limits: {cpu: 2}}                   |
        | {limits: {cpu: 64}, requests: {cpu: 2}} |

    Scenario: The overhead of a runtime class counts too
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      And the object:
        """
        apiVersion: node.k8s.io/v1
        kind: RuntimeClass
        metadata:
          name: sandboxed
        handler: runc
        overhead:
          podFixed: {cpu: 500m}
        """
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: too-large
        spec:
          runtimeClassName: sandboxed
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1501m}}}
        """
      Then Pod "too-large" field spec.overhead.cpu is "500m" at once
      And Pod "too-large" has condition PodScheduled=False, reason "Unschedulable", within 1s
      And Pod "too-large" keeps field spec.nodeName absent for 10s
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: fitting
        spec:
          runtimeClassName: sandboxed
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1500m}}}
        """
      Then Pod "fitting" field spec.nodeName is "worker-1" within 1s
      And Pod "too-large" keeps field spec.nodeName absent for 1m

    @since:1.34
    Scenario: What a whole pod requests takes the place of what its containers do
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: too-large
        spec:
          resources: {requests: {cpu: 2001m}}
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 500m}}}
        ---
        apiVersion: v1
        kind: Pod
        metadata:
          name: fitting
        spec:
          resources: {requests: {cpu: 2}}
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 500m}}}
        """
      Then Pod "fitting" field spec.nodeName is "worker-1" within 1s
      And Pod "too-large" has condition PodScheduled=False, reason "Unschedulable", within 1s
      And Pod "too-large" keeps field spec.nodeName absent for 1m

    @until:1.33
    Scenario: Up to 1.33 a whole pod requests nothing, and the field is dropped
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          resources: {requests: {cpu: 2001m}}
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 500m}}}
        """
      Then Pod "web" field spec.nodeName is "worker-1" within 1s
      And Pod "web" field spec.resources is absent within 1s
      And Pod "web" field status.phase is "Running" within 10s

  @req:CAP-01
  Rule: Each resource is counted for itself, down to its last unit

    Scenario Outline: <fits> of <resource> fits, <more> does not
      Given no other Node
      And a machine "worker-1" with:
        | <resource> | <capacity> |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: too-large
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {limits: {cpu: 1, <resource>: <more>}}}
        """
      Then Pod "too-large" has condition PodScheduled=False, reason "Unschedulable", message "0/1 nodes are available: 1 Insufficient <resource>. <preemption>" within 1s
      And Event FailedScheduling about Pod "too-large", message "0/1 nodes are available: 1 Insufficient <resource>. <preemption>" within 1s
      And Pod "too-large" keeps field spec.nodeName absent for 10s
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: fitting
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {limits: {cpu: 1, <resource>: <fits>}}}
        """
      Then Pod "fitting" field spec.nodeName is "worker-1" within 1s
      And Pod "fitting" field status.phase is "Running" within 10s
      But Pod "too-large" keeps field spec.nodeName absent for 1m

      @since:1.34 @until:1.36
      Examples: 1.34 to 1.36
        | resource          | capacity | fits        | more        | preemption                                                                                                                 |
        | memory            | 4Gi      | 3996Mi      | 4190109697  | no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling. |
        | ephemeral-storage | 100Gi    | 96636764000 | 96636764001 | no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling. |
        | hugepages-2Mi     | 64Mi     | 64Mi        | 66Mi        | no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling. |

      @since:1.37
      Examples: since 1.37
        | resource          | capacity | fits        | more        | preemption                                                                                                                 |
        | memory            | 4Gi      | 3996Mi      | 4190109697  | preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling. |
        | ephemeral-storage | 100Gi    | 96636764000 | 96636764001 | preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling. |
        | hugepages-2Mi     | 64Mi     | 64Mi        | 66Mi        | preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling. |

      @until:1.33
      Examples: up to 1.33
        | resource          | capacity | fits        | more        | preemption                                                                            |
        | memory            | 4Gi      | 3996Mi      | 4190109697  | preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod. |
        | ephemeral-storage | 100Gi    | 96636764000 | 96636764001 | preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod. |
        | hugepages-2Mi     | 64Mi     | 64Mi        | 66Mi        | preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod. |

  @req:CAP-01
  Rule: The message counts the nodes by what each of them lacks

    Scenario Outline: Four nodes, three reasons
      Given no other Node
      And a machine "small" with:
        | cpu | 1 |
      And a machine "short" with:
        | memory | 1Gi |
      And a machine "tiny" with:
        | cpu    | 1   |
        | memory | 1Gi |
      And a ready Node "closed"
      And the user cordons Node "closed"
      And Node "small" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      And Node "short" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      And Node "tiny" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      And Node "closed" has taint "node.kubernetes.io/unschedulable:NoSchedule"
      And 10s pass
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 2, memory: 2Gi}}}
        """
      Then Pod "web" has condition PodScheduled=False, reason "Unschedulable", message "0/4 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu, 2 Insufficient memory. <preemption>" within 1s
      And Event FailedScheduling about Pod "web", message "0/4 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu, 2 Insufficient memory. <preemption>" within 1s
      And Pod "web" keeps field spec.nodeName absent for 1m

      @since:1.34 @until:1.36
      Examples: 1.34 to 1.36
        | preemption                                                                                                    |
        | no new claims to deallocate, preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling. |

      @since:1.37
      Examples: since 1.37
        | preemption                                                                                                    |
        | preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling. |

      @until:1.33
      Examples: up to 1.33
        | preemption |
        | preemption: 0/4 nodes are available: 1 Preemption is not helpful for scheduling, 3 No preemption victims found for incoming pod. |

  @req:CAP-01
  Rule: A pod counts from its binding to its end, whoever bound it

    Scenario: A pod that somebody bound by hand
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: by-hand
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1500m}}}
        """
      And Pod "by-hand" field status.phase is "Running"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 501m}}}
        """
      Then Pod "web" has condition PodScheduled=False, reason "Unschedulable", within 1s
      And Pod "web" keeps field spec.nodeName absent for 1m
      And no Event Scheduled about Pod "by-hand" for 1m

    Scenario: Two pods at once, and room for one
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: first
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1001m}}}
        ---
        apiVersion: v1
        kind: Pod
        metadata:
          name: second
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1001m}}}
        """
      Then Pod "first" field status.phase is "Running" within 10s
      And Pod "second" has condition PodScheduled=False, reason "Unschedulable", within 2s
      And Pod "second" keeps field spec.nodeName absent for 1m

    Scenario: A pod that has ended leaves its room, though its object stays
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: job
          annotations: {nodeproof.dev/main.crashes-after: 40s, nodeproof.dev/main.exit-code: "0"}
        spec:
          restartPolicy: Never
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1500m}}}
        """
      And Pod "job" field status.phase is "Running"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1}}}
        """
      Then Pod "web" has condition PodScheduled=False, reason "Unschedulable", within 1s
      And Pod "web" keeps field spec.nodeName absent for 30s
      And Pod "job" field status.phase is "Succeeded" between 30s and 50s
      And Pod "web" field spec.nodeName is "worker-1" after Pod "job" field status.phase is "Succeeded"
      And Pod "web" field status.phase is "Running" within 90s
      And the history of Pod "web" matches its snapshot
      But Pod "job" stays for 1m

  @req:CAP-02
  Rule: What runs on the machine beside the pods counts for nothing

    Scenario: Other processes want all CPUs
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      And machine "worker-1" is under load
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 2}}}
        """
      Then Pod "web" field spec.nodeName is "worker-1" within 2s
      And Pod "web" field status.phase is "Running" within 30s
      And Node "worker-1" keeps field status.allocatable.cpu at "2" for 2m
      And Node "worker-1" keeps field status.capacity.cpu at "2" for 2m

    Scenario: A container runs on whose pod is not there any more
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: lost
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1500m}}}
        """
      And Pod "lost" field status.phase is "Running"
      And the kubelet on "worker-1" stops
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1}}}
        """
      And Pod "web" has condition PodScheduled=False
      When the user sends DELETE /api/v1/namespaces/default/pods/lost:
        """
        {"gracePeriodSeconds": 0}
        """
      Then Pod "lost" is gone within 1s
      And Pod "web" field spec.nodeName is "worker-1" within 15s
      And container "main" of Pod "lost" keeps running on machine "worker-1" for 20s
