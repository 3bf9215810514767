@core @req:MAN-05
Feature: A cordoned Node gets no new pods and keeps those that it has
  Source: pkg/scheduler/framework/plugins/nodeunschedulable/node_unschedulable.go (v1.34)

  Rule: What runs there stays

    Scenario: A pod runs on a Node that is cordoned
      Given no other Node
      And a ready Node "worker-1"
      And a Pod "old" on Node "worker-1"
      When the user cordons Node "worker-1"
      Then Node "worker-1" field spec.unschedulable is true at once
      And Node "worker-1" has taint "node.kubernetes.io/unschedulable:NoSchedule" within 1s
      And Node "worker-1" keeps condition Ready=True for 10m
      And Pod "old" stays for 10m
      And Pod "old" keeps field status.phase "Running" for 10m
      And no Event TaintManagerEviction about Pod "old" for 10m
      And nothing else about Pod "old" changes

  Rule: A new pod waits, and says why

    Scenario Outline: The only Node is cordoned
      Given no other Node
      And a ready Node "worker-1"
      And a Pod "old" on Node "worker-1"
      And the user cordons Node "worker-1"
      And Node "worker-1" has taint "node.kubernetes.io/unschedulable:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: new
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      Then Pod "new" has condition PodScheduled=False, reason "Unschedulable", message "<message>" within 1s
      And Event FailedScheduling about Pod "new", message "<message>" within 1s
      And Pod "new" keeps field status.phase "Pending" for 10m
      But Pod "new" keeps field spec.nodeName absent for 10m
      And no Event Scheduled about Pod "new" for 10m

      @until:1.33
      Examples:
        | releases   | message                                                                                                                                 |
        | up to 1.33 | 0/1 nodes are available: 1 node(s) were unschedulable. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling. |

      @since:1.34 @until:1.36
      Examples:
        | releases     | message                                                                                                                                                              |
        | 1.34 to 1.36 | 0/1 nodes are available: 1 node(s) were unschedulable. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling. |

      @since:1.37
      Examples:
        | releases  | message                                                                                                                                 |
        | from 1.37 | 0/1 nodes are available: 1 node(s) were unschedulable. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling. |

    Scenario Outline: Cordoned counts before tainted
      The cordoned Node has the taint of that name too, but one Node says one thing.

      Given no other Node
      And ready Nodes "worker-1" and "worker-2"
      And the user cordons Node "worker-1"
      And the user taints Node "worker-2" with "dedicated=infra:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: new
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      Then Pod "new" has condition PodScheduled=False, reason "Unschedulable", message "<message>" within 1s
      And Event FailedScheduling about Pod "new", message "<message>" within 1s
      And Pod "new" keeps field status.phase "Pending" for 10m
      But Pod "new" keeps field spec.nodeName absent for 10m
      And no Event Scheduled about Pod "new" for 10m

      @since:1.34 @until:1.36
      Examples:
        | releases     | message                                                                                                                                                                                                  |
        | 1.34 to 1.36 | 0/2 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling. |

      @since:1.37
      Examples:
        | releases  | message                                                                                                                                                                     |
        | from 1.37 | 0/2 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling. |

    @until:1.33
    Scenario: Cordoned counts before tainted, up to 1.33
      Given no other Node
      And ready Nodes "worker-1" and "worker-2"
      And the user cordons Node "worker-1"
      And the user taints Node "worker-2" with "dedicated=infra:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: new
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      Then Pod "new" has condition PodScheduled=False, reason "Unschedulable", message "0/2 nodes are available: 1 node(s) had untolerated taint {dedicated: infra}, 1 node(s) were unschedulable. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling." within 1s
      And Event FailedScheduling about Pod "new", message "0/2 nodes are available: 1 node(s) had untolerated taint {dedicated: infra}, 1 node(s) were unschedulable. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling." within 1s
      And Pod "new" keeps field status.phase "Pending" for 10m
      But Pod "new" keeps field spec.nodeName absent for 10m
      And no Event Scheduled about Pod "new" for 10m

    Scenario: Another Node takes it
      Given no other Node
      And ready Nodes "worker-1" and "worker-2"
      And the user cordons Node "worker-1"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: new
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      Then Pod "new" field spec.nodeName is "worker-2" at once
      And Event Scheduled about Pod "new", message "Successfully assigned default/new to worker-2" at once
      And Pod "new" has condition PodScheduled=True at once
      And Pod "new" field status.phase is "Running" within 10s
      But no Event FailedScheduling about Pod "new" for 60s

    Scenario: It is bound once the Node is uncordoned
      Given no other Node
      And a ready Node "worker-1"
      And the user cordons Node "worker-1"
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: new
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      And Pod "new" has condition PodScheduled=False
      And 30s pass
      When the user uncordons Node "worker-1"
      Then Pod "new" field spec.nodeName is "worker-1" within 3s
      And Pod "new" has condition PodScheduled=True within 3s
      And Event Scheduled about Pod "new", message "Successfully assigned default/new to worker-1" within 3s
      And Node "worker-1" has no taint "node.kubernetes.io/unschedulable:NoSchedule" within 1s
      And the history of Pod "new" matches its snapshot

  Rule: A toleration lets a pod onto a cordoned Node

    Scenario Outline: A pod tolerates <what>
      Given no other Node
      And a ready Node "worker-1"
      And the user cordons Node "worker-1"
      And Node "worker-1" has taint "node.kubernetes.io/unschedulable:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: new
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
          tolerations:
            - <toleration>
        """
      Then Pod "new" field spec.nodeName is "worker-1" at once
      And Pod "new" field status.phase is "Running" within 10s

      Examples:
        | what                 | toleration                                                     |
        | the taint of cordons | {key: node.kubernetes.io/unschedulable, operator: Exists}      |
        | everything           | {operator: Exists}                                             |

    Scenario: A toleration of another effect does not
      Given no other Node
      And a ready Node "worker-1"
      And the user cordons Node "worker-1"
      And Node "worker-1" has taint "node.kubernetes.io/unschedulable:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: new
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
          tolerations:
            - {key: node.kubernetes.io/unschedulable, operator: Exists, effect: NoExecute}
        """
      Then Pod "new" has condition PodScheduled=False, reason "Unschedulable" within 1s
      And Pod "new" keeps field spec.nodeName absent for 10m

  Rule: Who binds a pod himself is not asked

    Scenario: A pod is made with the name of the cordoned Node
      Given no other Node
      And a ready Node "worker-1"
      And the user cordons Node "worker-1"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: new
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
          nodeName: worker-1
        """
      Then Pod "new" field status.phase is "Running" within 10s
      But no Event Scheduled about Pod "new" for 60s
      And no Event FailedScheduling about Pod "new" for 60s
