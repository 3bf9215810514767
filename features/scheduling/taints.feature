@core @req:TNT-02
Feature: Taints keep pods away and tolerations let them in
  Source: pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go (v1.34)

  Rule: A pod that does not tolerate a hard taint waits

    Scenario Outline: A taint of NoSchedule
      Given no other Node
      And a ready Node "worker-1"
      And the user taints Node "worker-1" with "dedicated=infra:NoSchedule"
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
      And Pod "web" keeps field status.phase "Pending" for 10m
      But Pod "web" keeps field spec.nodeName absent for 10m
      And no Event Scheduled about Pod "web" for 10m

      @until:1.33
      Examples:
        | releases   | message                                                                                                                                                       |
        | up to 1.33 | 0/1 nodes are available: 1 node(s) had untolerated taint {dedicated: infra}. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling. |

      @since:1.34 @until:1.36
      Examples:
        | releases     | message                                                                                                                                                                    |
        | 1.34 to 1.36 | 0/1 nodes are available: 1 node(s) had untolerated taint(s). no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling. |

      @since:1.37
      Examples:
        | releases  | message                                                                                                                                       |
        | from 1.37 | 0/1 nodes are available: 1 node(s) had untolerated taint(s). preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling. |

    Scenario Outline: A taint of NoExecute
      Given no other Node
      And a ready Node "worker-1"
      And the user taints Node "worker-1" with "dedicated=infra:NoExecute"
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
      And Pod "web" keeps field status.phase "Pending" for 10m
      But Pod "web" keeps field spec.nodeName absent for 10m
      And no Event Scheduled about Pod "web" for 10m

      @until:1.33
      Examples:
        | releases   | message                                                                                                                                                       |
        | up to 1.33 | 0/1 nodes are available: 1 node(s) had untolerated taint {dedicated: infra}. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling. |

      @since:1.34 @until:1.36
      Examples:
        | releases     | message                                                                                                                                                                    |
        | 1.34 to 1.36 | 0/1 nodes are available: 1 node(s) had untolerated taint(s). no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling. |

      @since:1.37
      Examples:
        | releases  | message                                                                                                                                       |
        | from 1.37 | 0/1 nodes are available: 1 node(s) had untolerated taint(s). preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling. |

    Scenario Outline: A toleration that does not fit: <what>
      Given no other Node
      And a ready Node "worker-1"
      And the user taints Node "worker-1" with "dedicated=infra:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
          tolerations:
            - <toleration>
        """
      Then Pod "web" has condition PodScheduled=False, reason "Unschedulable" within 1s
      And Pod "web" keeps field spec.nodeName absent for 10m

      Examples:
        | what           | toleration                                                      |
        | another value  | {key: dedicated, value: db, effect: NoSchedule}                 |
        | another key    | {key: special, operator: Exists, effect: NoSchedule}            |
        | another effect | {key: dedicated, value: infra, effect: NoExecute}               |
        | no value       | {key: dedicated, effect: NoSchedule}                            |

  Rule: A toleration that fits lets the pod in

    Scenario Outline: A toleration that fits: <what>
      Given no other Node
      And a ready Node "worker-1"
      And the user taints Node "worker-1" with "dedicated=infra:<effect>"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
          tolerations:
            - <toleration>
        """
      Then Pod "web" field spec.nodeName is "worker-1" at once
      And Pod "web" has condition PodScheduled=True at once
      And Pod "web" field status.phase is "Running" within 10s
      And Pod "web" stays for 10m

      Examples:
        | what             | effect     | toleration                                             |
        | key and value    | NoSchedule | {key: dedicated, value: infra, effect: NoSchedule}     |
        | every value      | NoSchedule | {key: dedicated, operator: Exists, effect: NoSchedule} |
        | every effect     | NoExecute  | {key: dedicated, value: infra}                         |
        | everything       | NoExecute  | {operator: Exists}                                     |

    Scenario: A toleration for a time lets the pod in, and it is evicted when the time is over
      Given no other Node
      And a ready Node "worker-1"
      And the user taints Node "worker-1" with "dedicated=infra:NoExecute"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
          tolerations:
            - {key: dedicated, operator: Exists, effect: NoExecute, tolerationSeconds: 60}
        """
      Then Pod "web" field spec.nodeName is "worker-1" at once
      And Pod "web" stays for 59s
      And Pod "web" is deleted between 59s and 61s

    Scenario: Two taints want two tolerations
      Given no other Node
      And a ready Node "worker-1"
      And the user taints Node "worker-1" with "a=b:NoSchedule"
      And the user taints Node "worker-1" with "c=d:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: one
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
          tolerations:
            - {key: a, operator: Exists}
        ---
        apiVersion: v1
        kind: Pod
        metadata:
          name: two
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
          tolerations:
            - {key: a, operator: Exists}
            - {key: c, operator: Exists}
        """
      Then Pod "two" field spec.nodeName is "worker-1" at once
      But Pod "one" keeps field spec.nodeName absent for 10m

  Rule: A waiting pod is tried again when the taint is gone, and not before

    Scenario: The taint is removed
      Given no other Node
      And a ready Node "worker-1"
      And the user taints Node "worker-1" with "dedicated=infra:NoSchedule"
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      And Pod "web" has condition PodScheduled=False
      And 30s pass
      When the user removes taint "dedicated:NoSchedule" from Node "worker-1"
      Then Pod "web" field spec.nodeName is "worker-1" within 3s
      And Event Scheduled about Pod "web", message "Successfully assigned default/web to worker-1" within 3s

    Scenario: From FailedScheduling to Running
      Given no other Node
      And a ready Node "worker-1"
      And the user taints Node "worker-1" with "dedicated=infra:NoSchedule"
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
      And Pod "web" has condition PodScheduled=False, reason "Unschedulable"
      And 30s pass
      And the user removes taint "dedicated:NoSchedule" from Node "worker-1"
      Then Pod "web" has condition PodScheduled=True within 3s
      And Pod "web" field status.phase is "Running" within 15s
      And Pod "web" has condition Ready=True within 15s
      And the history of Pod "web" matches its snapshot

  Rule: PreferNoSchedule is a wish

    Scenario: Another Node is preferred
      Given no other Node
      And ready Nodes "worker-1" and "worker-2"
      And the user taints Node "worker-1" with "slow=yes:PreferNoSchedule"
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
      Then Pod "web" field spec.nodeName is "worker-2" at once

    Scenario: Without another Node the pod goes there
      Given no other Node
      And a ready Node "worker-1"
      And the user taints Node "worker-1" with "slow=yes:PreferNoSchedule"
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
      Then Pod "web" field spec.nodeName is "worker-1" at once
      And no Event FailedScheduling about Pod "web" for 60s

  Rule: The scheduler looks at taints, not at conditions

    Scenario: A Node that is not ready, without a taint
      Nobody taints the Node, since the controller that would does not run.

      Given no other Node
      And a hand-fed Node "worker-1"
      And node-lifecycle-controller stops
      And Node "worker-1" posts condition Ready=False, reason "KubeletNotReady"
      And Node "worker-1" has condition Ready=False
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
      Then Pod "web" field spec.nodeName is "worker-1" at once
      And Node "worker-1" never has taint "node.kubernetes.io/not-ready:NoSchedule" for 60s

    Scenario: A Node that is not ready, with its taint, and a pod that does not tolerate it
      Given no other Node
      And a hand-fed Node "worker-1"
      And Node "worker-1" posts condition Ready=False, reason "KubeletNotReady"
      And Node "worker-1" has taint "node.kubernetes.io/not-ready:NoSchedule"
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
      Then Pod "web" keeps field spec.nodeName absent for 60s

    Scenario: A Node that is not ready, with its taint, and a pod that tolerates it
      Given no other Node
      And a hand-fed Node "worker-1"
      And Node "worker-1" posts condition Ready=False, reason "KubeletNotReady"
      And Node "worker-1" has taint "node.kubernetes.io/not-ready:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
          tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists}]
        """
      Then Pod "web" field spec.nodeName is "worker-1" at once
      When 1s passes
      Then Pod "web" keeps field spec.nodeName at "worker-1" for 60s

    Scenario Outline: The taint of <condition> and each toleration
      Given no other Node
      And a hand-fed Node "worker-1"
      And Node "worker-1" posts condition <condition>
      And Node "worker-1" has taint "node.kubernetes.io/<taint>:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: none}
        spec:
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: no-execute}
        spec:
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
          tolerations: [{key: node.kubernetes.io/<taint>, operator: Exists, effect: NoExecute}]
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: value}
        spec:
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
          tolerations: [{key: node.kubernetes.io/<taint>, value: "true", effect: NoSchedule}]
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: key}
        spec:
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
          tolerations: [{key: node.kubernetes.io/<taint>, operator: Exists}]
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: key-and-effect}
        spec:
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
          tolerations: [{key: node.kubernetes.io/<taint>, operator: Exists, effect: NoSchedule}]
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: empty-value}
        spec:
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
          tolerations: [{key: node.kubernetes.io/<taint>, effect: NoSchedule}]
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: everything}
        spec:
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
          tolerations: [{operator: Exists}]
        """
      Then Pod "key" field spec.nodeName is "worker-1" within 2s
      And Pod "key-and-effect" field spec.nodeName is "worker-1" within 2s
      And Pod "empty-value" field spec.nodeName is "worker-1" within 2s
      And Pod "everything" field spec.nodeName is "worker-1" within 2s
      But Pod "none" has condition PodScheduled=False, reason "Unschedulable", within 2s
      And Pod "none" keeps field spec.nodeName absent for 60s
      And Pod "no-execute" keeps field spec.nodeName absent for 60s
      And Pod "value" keeps field spec.nodeName absent for 60s
      When Node "worker-1" posts condition <well>
      Then Pod "none" field spec.nodeName is "worker-1" within 30s
      And Pod "no-execute" field spec.nodeName is "worker-1" within 30s
      And Pod "value" field spec.nodeName is "worker-1" within 30s

      Examples:
        | condition               | taint               | well                     |
        | Ready=False             | not-ready           | Ready=True               |
        | Ready=Unknown           | unreachable         | Ready=True               |
        | MemoryPressure=True     | memory-pressure     | MemoryPressure=False     |
        | DiskPressure=True       | disk-pressure       | DiskPressure=False       |
        | PIDPressure=True        | pid-pressure        | PIDPressure=False        |
        | NetworkUnavailable=True | network-unavailable | NetworkUnavailable=False |

    Scenario: The taint of a cordon and each toleration
      Given no other Node
      And a hand-fed Node "worker-1"
      And the user cordons Node "worker-1"
      And Node "worker-1" has taint "node.kubernetes.io/unschedulable:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: none}
        spec:
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: other}
        spec:
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
          tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists}]
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: key}
        spec:
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
          tolerations: [{key: node.kubernetes.io/unschedulable, operator: Exists}]
        """
      Then Pod "key" field spec.nodeName is "worker-1" within 2s
      But Pod "none" has condition PodScheduled=False, reason "Unschedulable", within 2s
      And Pod "none" keeps field spec.nodeName absent for 60s
      And Pod "other" keeps field spec.nodeName absent for 60s

    Scenario: Other conditions keep no pod away
      Given no other Node
      And a hand-fed Node "worker-1"
      When Node "worker-1" posts condition KernelDeadlock=True
      And Node "worker-1" posts condition OutOfDisk=True
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
        """
      Then Pod "web" field spec.nodeName is "worker-1" within 2s
      And Node "worker-1" keeps condition KernelDeadlock=True for 10s
      And Node "worker-1" keeps condition OutOfDisk=True for 10s
