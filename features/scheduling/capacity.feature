@core @req:MAN-08
Feature: A pod goes where its requests fit
  Source: pkg/scheduler/framework/plugins/noderesources/fit.go (v1.34), fitsRequest

  Rule: A Node made by hand without capacity has room for nothing

    Scenario Outline: A pod with requests
      Given no other Node
      And the object:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-1
        """
      And 1s passes
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          containers:
            - name: main
              image: registry.k8s.io/pause:3.10
              resources: {requests: {cpu: 100m}}
        """
      Then Pod "web" has condition PodScheduled=False, reason "Unschedulable", message "<message>" within 1s
      And Event FailedScheduling about Pod "web", message "<message>" within 1s
      And Pod "web" keeps field status.phase "Pending" for 50s
      But Pod "web" keeps field spec.nodeName absent for 50s
      And no Event Scheduled about Pod "web" for 50s

      @until:1.33
      Examples:
        | releases   | message                                                                                                                                            |
        | up to 1.33 | 0/1 nodes are available: 1 Insufficient cpu, 1 Too many pods. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod. |

      @since:1.34 @until:1.36
      Examples:
        | releases     | message                                                                                                                                                                     |
        | 1.34 to 1.36 | 0/1 nodes are available: 1 Insufficient cpu, 1 Too many pods. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling. |

      @since:1.37
      Examples:
        | releases  | message                                                                                                                                        |
        | from 1.37 | 0/1 nodes are available: 1 Insufficient cpu, 1 Too many pods. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling. |

    Scenario Outline: A pod with several requests
      Given no other Node
      And the object:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-1
        """
      And 1s passes
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          containers:
            - name: main
              image: registry.k8s.io/pause:3.10
              resources: {requests: {cpu: 100m, memory: 1Gi, ephemeral-storage: 1Gi}}
        """
      Then Pod "web" has condition PodScheduled=False, reason "Unschedulable", message "<message>" within 1s
      And Event FailedScheduling about Pod "web", message "<message>" within 1s
      And Pod "web" keeps field status.phase "Pending" for 50s
      But Pod "web" keeps field spec.nodeName absent for 50s
      And no Event Scheduled about Pod "web" for 50s

      @until:1.33
      Examples:
        | releases   | message                                                                                                                                                                                                     |
        | up to 1.33 | 0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient ephemeral-storage, 1 Insufficient memory, 1 Too many pods. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod. |

      @since:1.34 @until:1.36
      Examples:
        | releases     | message                                                                                                                                                                                                                              |
        | 1.34 to 1.36 | 0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient ephemeral-storage, 1 Insufficient memory, 1 Too many pods. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling. |

      @since:1.37
      Examples:
        | releases  | message                                                                                                                                                                                                 |
        | from 1.37 | 0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient ephemeral-storage, 1 Insufficient memory, 1 Too many pods. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling. |

    Scenario Outline: A pod without requests
      Not even that: a Node says how many pods it takes.

      Given no other Node
      And the object:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-1
        """
      And 1s passes
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      Then Pod "web" has condition PodScheduled=False, reason "Unschedulable", message "<message>" within 1s
      And Event FailedScheduling about Pod "web", message "<message>" within 1s
      And Pod "web" keeps field status.phase "Pending" for 50s
      But Pod "web" keeps field spec.nodeName absent for 50s
      And no Event Scheduled about Pod "web" for 50s

      @since:1.34 @until:1.36
      Examples:
        | releases     | message                                                                                                                                                     |
        | 1.34 to 1.36 | 0/1 nodes are available: 1 Too many pods. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod. |

      @since:1.37
      Examples:
        | releases  | message                                                                                                                        |
        | from 1.37 | 0/1 nodes are available: 1 Too many pods. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod. |

    @until:1.33
    Scenario: A pod without requests, up to 1.33
      Given no other Node
      And the object:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-1
        """
      And 1s passes
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      Then Pod "web" has condition PodScheduled=False, reason "Unschedulable", message "0/1 nodes are available: 1 Too many pods. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod." within 1s
      And Event FailedScheduling about Pod "web", message "0/1 nodes are available: 1 Too many pods. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod." within 1s
      And Pod "web" keeps field status.phase "Pending" for 50s
      But Pod "web" keeps field spec.nodeName absent for 50s
      And no Event Scheduled about Pod "web" for 50s

    Scenario: The capacity is set by hand
      Given no other Node
      And the object:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-1
        """
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          containers:
            - name: main
              image: registry.k8s.io/pause:3.10
              resources: {requests: {cpu: 100m}}
        """
      And Pod "web" has condition PodScheduled=False
      And 15s pass
      When the user sends strategic PATCH /api/v1/nodes/worker-1/status:
        """
        status:
          capacity: {cpu: "1", memory: 1Gi, pods: "10"}
          allocatable: {cpu: "1", memory: 1Gi, pods: "10"}
        """
      Then Pod "web" field spec.nodeName is "worker-1" within 3s
      And Event Scheduled about Pod "web", message "Successfully assigned default/web to worker-1" within 3s

  Rule: What other pods have asked for is taken

    Scenario Outline: More than is left
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
          name: first
        spec:
          containers:
            - name: main
              image: registry.k8s.io/pause:3.10
              resources: {requests: {cpu: 1500m}}
        """
      And Pod "first" field status.phase is "Running"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: second
        spec:
          containers:
            - name: main
              image: registry.k8s.io/pause:3.10
              resources: {requests: {cpu: 501m}}
        """
      Then Pod "second" has condition PodScheduled=False, reason "Unschedulable", message "<message>" within 1s
      And Event FailedScheduling about Pod "second", message "<message>" within 1s
      And Pod "second" keeps field status.phase "Pending" for 10m
      But Pod "second" keeps field spec.nodeName absent for 10m
      And no Event Scheduled about Pod "second" for 10m

      @until:1.33
      Examples:
        | releases   | message                                                                                                                           |
        | up to 1.33 | 0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod. |

      @since:1.34 @until:1.36
      Examples:
        | releases     | message                                                                                                                                                        |
        | 1.34 to 1.36 | 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod. |

      @since:1.37
      Examples:
        | releases  | message                                                                                                                           |
        | from 1.37 | 0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod. |

    Scenario: Exactly what is left
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
          name: first
        spec:
          containers:
            - name: main
              image: registry.k8s.io/pause:3.10
              resources: {requests: {cpu: 1500m}}
        """
      And Pod "first" field status.phase is "Running"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: second
        spec:
          containers:
            - name: main
              image: registry.k8s.io/pause:3.10
              resources: {requests: {cpu: 500m}}
        """
      Then Pod "second" field spec.nodeName is "worker-1" at once
      And Pod "second" field status.phase is "Running" within 10s

    Scenario: A terminating pod holds its room until it is gone
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
          name: first
          annotations: {nodeproof.dev/main.stops-after: 20s}
        spec:
          containers:
            - name: main
              image: registry.k8s.io/pause:3.10
              resources: {requests: {cpu: 1500m}}
        """
      And Pod "first" field status.phase is "Running"
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: second
        spec:
          containers:
            - name: main
              image: registry.k8s.io/pause:3.10
              resources: {requests: {cpu: 1}}
        """
      And Pod "second" has condition PodScheduled=False
      When the user deletes Pod "first"
      Then Pod "first" is terminating within 1s
      And Pod "second" keeps field spec.nodeName absent for 19s
      And Pod "second" field spec.nodeName is "worker-1" between 19s and 32s

  Rule: A pod with a higher priority takes the room of one with a lower

    Scenario Outline: The lower one is preempted (<releases>)
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      And the user creates:
        """
        apiVersion: scheduling.k8s.io/v1
        kind: PriorityClass
        metadata:
          name: high
        value: 1000
        ---
        apiVersion: v1
        kind: Pod
        metadata:
          name: low
        spec:
          containers:
            - name: main
              image: registry.k8s.io/pause:3.10
              resources: {requests: {cpu: 1500m}}
        """
      And Pod "low" field status.phase is "Running"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: urgent
        spec:
          containers:
            - name: main
              image: registry.k8s.io/pause:3.10
              resources: {requests: {cpu: 1}}
          priorityClassName: high
          priority: 1000
        """
      Then Pod "urgent" has condition PodScheduled=False, reason "Unschedulable", message "<message>" at once
      And Pod "urgent" field status.nominatedNodeName is "worker-1" at once
      And Event Preempted about Pod "low" at once
      And Pod "low" has condition DisruptionTarget=True, reason "PreemptionByScheduler", message "default-scheduler: preempting to accommodate a higher priority pod" at once
      And Pod "low" is deleted at once
      And Pod "urgent" field spec.nodeName is "worker-1" within 40s
      And Pod "urgent" field status.phase is "Running" within 50s

      @until:1.36
      Examples:
        | releases   | message                                         |
        | up to 1.36 | 0/1 nodes are available: 1 Insufficient cpu. |

      @since:1.37
      Examples:
        | releases  | message                                                                                                                                |
        | from 1.37 | 0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement for pod on node worker-1, preempting 1 victims |

    Scenario: Pods that a budget protects are spared if others can give way, though those have the higher priority
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And a machine "worker-2" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      And Node "worker-2" has condition Ready=True
      And the user creates:
        """yaml
        apiVersion: scheduling.k8s.io/v1
        kind: PriorityClass
        metadata: {name: low}
        value: 10
        ---
        apiVersion: scheduling.k8s.io/v1
        kind: PriorityClass
        metadata: {name: high}
        value: 1000
        ---
        apiVersion: policy/v1
        kind: PodDisruptionBudget
        metadata: {name: guard}
        spec: {minAvailable: 1, selector: {matchLabels: {app: guarded}}}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: guarded, labels: {app: guarded}}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: registry.k8s.io/pause:3.10, resources: {requests: {cpu: 1500m}}}]
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: open}
        spec:
          nodeName: worker-2
          priorityClassName: low
          containers: [{name: main, image: registry.k8s.io/pause:3.10, resources: {requests: {cpu: 1500m}}}]
        """
      And Pod "guarded" field status.phase is "Running"
      And Pod "open" field status.phase is "Running"
      And PodDisruptionBudget "guard" field status.currentHealthy is 1
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: urgent}
        spec:
          priorityClassName: high
          containers: [{name: main, image: registry.k8s.io/pause:3.10, resources: {requests: {cpu: 1}}}]
        """
      Then Pod "urgent" field status.nominatedNodeName is "worker-2" within 1s
      And Event Preempted about Pod "open" within 1s
      And Pod "urgent" field spec.nodeName is "worker-2" within 40s
      But Pod "guarded" keeps field status.phase "Running" for 60s
      And no Event Preempted about Pod "guarded" for 60s

    @since:1.33
    Scenario: The port of a pod that was to have the room is free when that pod is gone
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      And the user creates:
        """yaml
        apiVersion: scheduling.k8s.io/v1
        kind: PriorityClass
        metadata: {name: high}
        value: 1000
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: low, annotations: {nodeproof.dev/main.stops-after: 200s}}
        spec:
          terminationGracePeriodSeconds: 300
          containers: [{name: main, image: registry.k8s.io/pause:3.10, resources: {requests: {cpu: 1500m}}}]
        """
      And Pod "low" field status.phase is "Running"
      And the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: urgent}
        spec:
          priorityClassName: high
          containers:
            - name: main
              image: registry.k8s.io/pause:3.10
              resources: {requests: {cpu: 1}}
              ports: [{containerPort: 80, hostPort: 80}]
        """
      And Pod "urgent" field status.nominatedNodeName is "worker-1"
      And the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: same-port}
        spec:
          containers:
            - name: main
              image: registry.k8s.io/pause:3.10
              resources: {requests: {cpu: 100m}}
              ports: [{containerPort: 80, hostPort: 80}]
        """
      And Pod "same-port" has condition PodScheduled=False
      And 20s pass
      When the user sends DELETE /api/v1/namespaces/default/pods/urgent?gracePeriodSeconds=0
      Then Pod "same-port" field spec.nodeName is "worker-1" within 2s

    Scenario: A pod whose class never preempts waits until there is room
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      And the user creates:
        """
        apiVersion: scheduling.k8s.io/v1
        kind: PriorityClass
        metadata:
          name: patient
        value: 1000
        preemptionPolicy: Never
        ---
        apiVersion: v1
        kind: Pod
        metadata:
          name: low
        spec:
          containers:
            - name: main
              image: registry.k8s.io/pause:3.10
              resources: {requests: {cpu: 1500m}}
        """
      And Pod "low" field status.phase is "Running"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: urgent
        spec:
          containers:
            - name: main
              image: registry.k8s.io/pause:3.10
              resources: {requests: {cpu: 1}}
          priorityClassName: patient
        """
      Then Pod "urgent" field spec.preemptionPolicy is "Never" at once
      And Pod "urgent" has condition PodScheduled=False, reason "Unschedulable" at once
      And Pod "urgent" keeps field status.nominatedNodeName absent for 10m
      And Pod "low" stays for 10m
      When the user deletes Pod "low"
      Then Pod "urgent" field status.phase is "Running" within 60s

  Rule: The kubelet counts the pods that it has, whoever bound them to it
    Source: pkg/scheduler/framework/plugins/noderesources/fit.go (v1.34), fitsRequest, as the kubelet's admission calls it

    Scenario: One pod more than maxPods is refused, and the others stay
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 4 |
      And whose kubelet runs with:
        | maxPods | 1 |
      And Node "worker-1" has condition Ready=True
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: first
        spec:
          nodeName: worker-1
          containers:
            - name: main
              image: registry.k8s.io/pause:3.10
        """
      And Pod "first" field status.phase is "Running"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: second
        spec:
          nodeName: worker-1
          containers:
            - name: main
              image: registry.k8s.io/pause:3.10
        """
      Then Pod "second" field status.phase is "Failed" within 5s
      And Pod "second" field status.reason is "OutOfpods" within 5s
      And Pod "second" field status.message is "Pod was rejected: Node didn't have enough resource: pods, requested: 1, used: 1, capacity: 1" within 5s
      And Pod "first" keeps field status.phase "Running" for 10m

  @since:1.33
  Rule: A waiting Pod that is resized down is tried again, as it helps itself
    Source: pkg/scheduler/framework/plugins/noderesources/fit.go (v1.33, v1.34, v1.37), isSchedulableAfterPodScaleDown

    Scenario: It fits then
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 4 |
      And Node "worker-1" has condition Ready=True
      And the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          containers: [{name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 6}}}]
        """
      And Pod "web" has condition PodScheduled=False
      And 20s pass
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web/resize:
        """
        {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]}}
        """
      Then Pod "web" has condition PodScheduled=True within 3s

    Scenario: More memory does not help a Pod that asks for too many CPUs
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 4 |
      And Node "worker-1" has condition Ready=True
      And the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          containers: [{name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 6, memory: 1Gi}}}]
        """
      And Pod "web" has condition PodScheduled=False
      And 20s pass
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web/resize:
        """
        {"spec": {"containers": [{"name": "main", "resources": {"requests": {"memory": "2Gi"}}}]}}
        """
      Then Pod "web" field spec.containers[0].resources.requests.memory is "2Gi" within 1s
      But Pod "web" keeps condition PodScheduled=False for 2m
      And no Event FailedScheduling about Pod "web" for 2m
