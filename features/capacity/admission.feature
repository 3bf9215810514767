@core
Feature: A kubelet refuses what does not fit, whoever sent it
  Source: pkg/kubelet/lifecycle/predicate.go (v1.34), Admit, generalFilter
  Source: pkg/scheduler/framework/plugins/noderesources/fit.go (v1.34), fitsRequest, as the kubelet's admission calls it
  Source: pkg/kubelet/sysctl (v1.34, v1.37)

  @req:CAP-04
  Rule: A pod that finds too little room ends as Failed, with the numbers

    Scenario Outline: There is too little <resource>
      Given no other Node
      And a machine "worker-1" with:
        | <resource> | <capacity> |
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
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {limits: {cpu: 1, <resource>: <first>}}}
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
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {limits: {cpu: 1, <resource>: <second>}}}
        """
      Then Pod "second" field status.phase is "Failed" within 1s
      And Pod "second" field status.reason is "OutOf<resource>" within 1s
      And Pod "second" field status.message is "Pod was rejected: Node didn't have enough resource: <resource>, <numbers>" within 1s
      And Event OutOf<resource> about Pod "second", message "Node didn't have enough resource: <resource>, <numbers>" within 1s
      And Pod "second" stays for 1m
      And Pod "second" keeps these fields for 1m:
        | spec.nodeName            | worker-1 |
        | status.containerStatuses | absent   |
      And Pod "first" keeps field status.phase "Running" for 1m
      And Node "worker-1" keeps condition Ready=True for 1m

      Examples:
        | resource          | capacity | first       | second  | numbers                                                                       |
        | memory            | 4Gi      | 3000Mi      | 997Mi   | requested: 1045430272, used: 3145728000, capacity: 4190109696                 |
        | ephemeral-storage | 100Gi    | 96636763999 | 2       | requested: 2, used: 96636763999, capacity: 96636764000                        |
        | hugepages-2Mi     | 64Mi     | 32Mi        | 34Mi    | requested: 35651584, used: 33554432, capacity: 67108864                       |
        | example.com/gpu   | 2        | 1           | 2       | requested: 2, used: 1, capacity: 2                                            |

    Scenario: There is too little CPU, in thousandths
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And whose kubelet runs with:
        | kube-reserved | cpu=500m |
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
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1}}}
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
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 501m}}}
        """
      Then Pod "second" field status.phase is "Failed" within 1s
      And Pod "second" field status.reason is "OutOfcpu" within 1s
      And Pod "second" field status.message is "Pod was rejected: Node didn't have enough resource: cpu, requested: 501, used: 1000, capacity: 1500" within 1s
      And Event OutOfcpu about Pod "second", message "Node didn't have enough resource: cpu, requested: 501, used: 1000, capacity: 1500" within 1s
      And Pod "second" keeps field status.containerStatuses absent for 1m
      And Pod "first" keeps field status.phase "Running" for 1m
      And the history of Pod "second" matches its snapshot

    Scenario: There are too many pods, though each asks for nothing
      Given no other Node
      And a machine "worker-1"
      And whose kubelet runs with:
        | maxPods | 2 |
      And Node "worker-1" has condition Ready=True
      And a Pod "first" on Node "worker-1"
      And a Pod "second" on Node "worker-1"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: third
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      Then Pod "third" field status.phase is "Failed" within 1s
      And Pod "third" field status.reason is "OutOfpods" within 1s
      And Event OutOfpods about Pod "third", message "Node didn't have enough resource: pods, requested: 1, used: 2, capacity: 2" within 1s
      And Pod "first" keeps field status.phase "Running" for 1m
      And Pod "second" keeps field status.phase "Running" for 1m

  @req:CAP-04
  Rule: What fits exactly runs, and what was refused takes no room

    Scenario: One pod is refused, the next one fits
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: too-large
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 2001m}}}
        """
      Then Pod "too-large" field status.reason is "OutOfcpu" within 1s
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: fitting
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 2}}}
        """
      Then Pod "fitting" field status.phase is "Running" within 10s
      And Pod "too-large" keeps field status.phase "Failed" for 1m
      And no Event OutOfcpu about Pod "fitting" for 1m

    Scenario: A pod that has ended has left its room
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: job
          annotations: {nodeproof.dev/main.crashes-after: 10s, nodeproof.dev/main.exit-code: "0"}
        spec:
          nodeName: worker-1
          restartPolicy: Never
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 2}}}
        """
      And Pod "job" field status.phase is "Succeeded"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 2}}}
        """
      Then Pod "web" field status.phase is "Running" within 10s
      And Pod "web" never has condition DisruptionTarget=True for 1m
      But Pod "job" keeps field status.phase "Succeeded" for 1m

  @req:CAP-04
  Rule: The first thing that lacks is told, resources before anything else

    Scenario Outline: <what>
      Given no other Node
      And a machine "worker-1" with:
        | cpu    | 2   |
        | memory | 4Gi |
      And whose kubelet runs with:
        | maxPods | <pods> |
      And Node "worker-1" has condition Ready=True
      And a Pod "first" on Node "worker-1"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          nodeName: worker-1
          nodeSelector: {disk: <disk>}
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: <cpu>, memory: <memory>}}}
        """
      Then Pod "web" field status.phase is "Failed" within 1s
      And Pod "web" field status.reason is "<reason>" within 1s
      And Pod "web" keeps field status.containerStatuses absent for 1m
      And Pod "web" keeps field spec.nodeName "worker-1" for 1m

      Examples:
        | what                                          | pods | cpu | memory | disk | reason       |
        | everything lacks                              | 1    | 3   | 8Gi    | ssd  | OutOfpods    |
        | CPU and memory lack                           | 110  | 3   | 8Gi    | ssd  | OutOfcpu     |
        | memory lacks, and the node has not the label  | 110  | 1   | 8Gi    | ssd  | OutOfmemory  |
        | the node has not the label                    | 110  | 1   | 1Gi    | ssd  | NodeAffinity |

    Scenario: A resource that the node does not know is not looked at
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {limits: {example.com/gpu: 1}}}
        """
      Then Pod "web" field status.phase is "Running" within 10s
      And no Event OutOfexample.com/gpu about Pod "web" for 1m

  @req:CAP-04
  Rule: Pods wait for a kubelet that is away, and are then taken in the order of their creation

    Scenario: The kubelet was away
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      And the kubelet on "worker-1" stops
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: zebra
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1500m}}}
        """
      And 2s pass
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: ant
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1}}}
        """
      And 2s pass
      When the kubelet on "worker-1" starts
      Then Pod "zebra" field status.phase is "Running" within 15s
      And Pod "ant" field status.phase is "Failed" within 15s
      And Pod "ant" field status.message is "Pod was rejected: Node didn't have enough resource: cpu, requested: 1000, used: 1500, capacity: 2000" within 15s
      And Pod "ant" never has condition Ready=True for 1m

  @req:CAP-04
  Rule: A critical pod for which only resources lack takes the place of others
    Source: pkg/kubelet/preemption/preemption.go (v1.34), HandleAdmissionFailure

    Scenario: The node is full
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: small
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 500m}}}
        ---
        apiVersion: v1
        kind: Pod
        metadata:
          name: large
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1500m}}}
        """
      And Pod "small" field status.phase is "Running"
      And Pod "large" field status.phase is "Running"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: critical
        spec:
          nodeName: worker-1
          priorityClassName: system-node-critical
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1}}}
        """
      Then Event Preempting about Pod "large", message "Preempted in order to admit critical pod" within 1s
      And Pod "large" has condition DisruptionTarget=True, reason "TerminationByKubelet", message "Pod was preempted by Kubelet to accommodate a critical pod." within 40s
      And container "main" of Pod "large" stops on machine "worker-1" within 40s
      And Pod "critical" field status.phase is "Running" within 45s
      And no Event OutOfcpu about Pod "critical" for 1m
      But Pod "small" keeps field status.phase "Running" for 1m
      And Pod "large" stays for 1m

    Scenario: Two Pods make room, one after the other
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: small
          annotations: {nodeproof.dev/main.stops-after: 5s}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 500m}}}
        ---
        apiVersion: v1
        kind: Pod
        metadata:
          name: large
          annotations: {nodeproof.dev/main.stops-after: 5s}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1500m}}}
        """
      And Pod "small" field status.phase is "Running"
      And Pod "large" field status.phase is "Running"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: critical
        spec:
          nodeName: worker-1
          priorityClassName: system-node-critical
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1800m}}}
        """
      Then Event Preempting about Pod "large" within 1s
      And Event Preempting about Pod "small" between 5s and 7s
      And container "main" of Pod "small" stops on machine "worker-1" between 10s and 13s
      And Pod "critical" field status.phase is "Running" between 10s and 15s

    Scenario: Other Pods wait until there is room for it, and heartbeats do not
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      And a Pod "web" on Node "worker-1"
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: large
          annotations: {nodeproof.dev/main.stops-after: 20s}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1500m}}}
        """
      And Pod "large" field status.phase is "Running"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: critical
        spec:
          nodeName: worker-1
          priorityClassName: system-node-critical
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1}}}
        """
      And 1s passes
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: later
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      And the user deletes Pod "web"
      Then Pod "later" keeps field status.startTime absent for 18s
      And no Event Killing about Pod "web" for 18s
      But the Lease of Node "worker-1" is renewed every 10s for 1m
      And Event Killing about Pod "web" between 18s and 20s
      And Pod "later" field status.phase is "Running" between 18s and 23s
      And Pod "critical" field status.phase is "Running" between 18s and 23s

    Scenario: It asks for more than the node has
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      And a Pod "web" on Node "worker-1"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: critical
        spec:
          nodeName: worker-1
          priorityClassName: system-node-critical
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 3500m}}}
        """
      Then Pod "critical" field status.phase is "Failed" within 1s
      And Pod "critical" field status.reason is "UnexpectedAdmissionError" within 1s
      And Pod "critical" field status.message is "Pod was rejected: Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [(res: cpu, q: 1500), ]" within 1s
      And no Event Preempting about Pod "web" for 1m
      And Pod "web" keeps field status.phase "Running" for 1m

    Scenario: Its label lacks too, and nobody is moved for it
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: large
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 2}}}
        """
      And Pod "large" field status.phase is "Running"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: critical
        spec:
          nodeName: worker-1
          nodeSelector: {disk: ssd}
          priorityClassName: system-node-critical
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1}}}
        """
      Then Pod "critical" field status.reason is "NodeAffinity" within 1s
      And no Event Preempting about Pod "large" for 1m
      And Pod "large" keeps field status.phase "Running" for 1m

  Rule: A pod sets those sysctls alone that are its own

    Scenario Outline: <name> <what> with <shared>
      Given a machine "worker-1"
      And whose kubelet runs with:
        | allowedUnsafeSysctls | ["kernel.msg*","net.core.somaxconn"] |
      And Node "worker-1" has condition Ready=True
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          nodeName: worker-1
          <shared>
          securityContext: {sysctls: [{name: <name>, value: "1"}]}
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
        """
      Then Pod "web" field status.phase is "Failed" within 5s
      And Pod "web" field status.reason is "SysctlForbidden" within 5s
      And Pod "web" field status.message is "Pod was rejected: forbidden sysctl: \"<name>\" <what>" within 5s

      Examples:
        | name              | shared           | what            |
        | fs.mqueue.msg_max | hostUsers: false | not allowlisted |

      @until:1.36
      Examples:
        | name                       | shared           | what            |
        | net.ipv4.tcp_notsent_lowat | hostUsers: false | not allowlisted |

    Scenario Outline: <name> is the pod's own with <shared>
      Given a machine "worker-1"
      And whose kubelet runs with:
        | allowedUnsafeSysctls | ["kernel.msg*","net.core.somaxconn"] |
      And Node "worker-1" has condition Ready=True
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          nodeName: worker-1
          <shared>
          securityContext: {sysctls: [{name: <name>, value: "1"}]}
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
        """
      Then Pod "web" field status.phase is "Running" within 5s

      Examples:
        | name                    | shared            |
        | kernel.msgmax           | hostNetwork: true |
        | net.ipv4.tcp_syncookies | hostIPC: true     |
        | net.core.somaxconn      | hostUsers: false  |

      @since:1.37
      Examples:
        | name                       | shared           |
        | net.ipv4.tcp_notsent_lowat | hostUsers: false |

    @since:1.37
    Scenario Outline: A sysctl of users with hostUsers: <shared>
      Given a machine "worker-1"
      And whose kubelet runs with:
        | allowedUnsafeSysctls | ["user.*"] |
      And Node "worker-1" has condition Ready=True
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          nodeName: worker-1
          hostUsers: <shared>
          securityContext: {sysctls: [{name: user.max_user_namespaces, value: "1"}]}
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
        """
      Then <outcome>

      Examples:
        | shared | outcome                                                                                                                                                       |
        | true   | Event SysctlForbidden about Pod "web", message "forbidden sysctl: \\"user.max_user_namespaces\\" not allowed with host User enabled", within 5s |
        | null   | Event SysctlForbidden about Pod "web", message "forbidden sysctl: \\"user.max_user_namespaces\\" not allowed with host User enabled", within 5s |
        | false  | Pod "web" field status.phase is "Running" within 5s                                                                                                           |

    Scenario Outline: What no pod has for itself cannot be allowed: <pattern>
      When a kubelet named "worker-1" starts with:
        | allowedUnsafeSysctls | ["<pattern>"] |
      Then the kubelet refuses to start with "failed to create kubelet: the sysctls "<told>" are not known to be namespaced"

      Examples:
        | pattern       | told          |
        | vm.*          | vm.           |
        | vm.swappiness | vm.swappiness |

      @until:1.36
      Examples:
        | pattern           | told              |
        | user.*            | user.             |
        | kernel.domainname | kernel.domainname |

  Rule: A pod that is gone from the API takes no room, although its containers still run
    Source: pkg/kubelet/kubelet_pods.go (v1.31, v1.34, v1.37), GetActivePods

    Scenario: One is deleted by force, and another one fits at once
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 4 |
      And Node "worker-1" has condition Ready=True
      And the objects:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: first, namespace: default}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/busybox:1", command: [sleep, "1000"], resources: {requests: {cpu: 3}}}
        """
      And Pod "first" field status.phase is "Running"
      When the user sends DELETE /api/v1/namespaces/default/pods/first:
        """
        {"gracePeriodSeconds": 0}
        """
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: second, namespace: default}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/busybox:1", command: [sleep, "1000"], resources: {requests: {cpu: 3}}}
        """
      Then Pod "second" field status.phase is "Running" within 1s
      And container "main" of Pod "first" keeps running on machine "worker-1" for 1s
      And no Event OutOfcpu about Pod "second" for 30s
