@core
Feature: Labels of Nodes say where pods may go
  Source: pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go (v1.34)

  @req:MAN-09
  Rule: A pod with a node selector is bound to a Node that matches, and to no other

    Scenario: One of three Nodes matches the nodeSelector
      Given no other Node
      And ready Nodes "worker-1", "worker-2" and "worker-3"
      And the user labels Node "worker-1" with "disk=hdd"
      And the user labels Node "worker-2" with "disk=ssd"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
          nodeSelector: {disk: ssd}
        """
      Then Pod "web" field spec.nodeName is "worker-2" at once
      And Event Scheduled about Pod "web", message "Successfully assigned default/web to worker-2" at once
      And Pod "web" field status.phase is "Running" within 10s
      And the history of Pod "web" matches its snapshot

    Scenario Outline: No Node matches the nodeSelector
      Given no other Node
      And ready Nodes "worker-1" and "worker-2"
      And the user labels Node "worker-1" with "disk=hdd"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
          nodeSelector: {disk: ssd}
        """
      Then Pod "web" has condition PodScheduled=False, reason "Unschedulable", message "<message>" within 1s
      And Event FailedScheduling about Pod "web", message "<message>" within 1s
      And Pod "web" keeps field status.phase "Pending" for 10m
      But Pod "web" keeps field spec.nodeName absent for 10m
      And no Event Scheduled about Pod "web" for 10m

      @until:1.33
      Examples:
        | releases   | message                                                                                                                                                        |
        | up to 1.33 | 0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling. |

      @since:1.34 @until:1.36
      Examples:
        | releases     | message                                                                                                                                                                                     |
        | 1.34 to 1.36 | 0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling. |

      @since:1.37
      Examples:
        | releases  | message                                                                                                                                                        |
        | from 1.37 | 0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling. |

    Scenario: One of three Nodes matches the required node affinity
      Given no other Node
      And ready Nodes "worker-1", "worker-2" and "worker-3"
      And the user labels Node "worker-1" with "disk=hdd"
      And the user labels Node "worker-2" with "disk=ssd"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
          affinity:
            nodeAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
                nodeSelectorTerms:
                  - matchExpressions:
                      - {key: disk, operator: In, values: [nvme, ssd]}
        """
      Then Pod "web" field spec.nodeName is "worker-2" at once
      And Event Scheduled about Pod "web", message "Successfully assigned default/web to worker-2" at once
      And Pod "web" field status.phase is "Running" within 10s

    Scenario Outline: No Node matches the required node affinity
      Given no other Node
      And ready Nodes "worker-1" and "worker-2"
      And the user labels Node "worker-1" with "disk=hdd"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
          affinity:
            nodeAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
                nodeSelectorTerms:
                  - matchExpressions:
                      - {key: disk, operator: In, values: [nvme, ssd]}
        """
      Then Pod "web" has condition PodScheduled=False, reason "Unschedulable", message "<message>" within 1s
      And Event FailedScheduling about Pod "web", message "<message>" within 1s
      And Pod "web" keeps field status.phase "Pending" for 10m
      But Pod "web" keeps field spec.nodeName absent for 10m
      And no Event Scheduled about Pod "web" for 10m

      @until:1.33
      Examples:
        | releases   | message                                                                                                                                                        |
        | up to 1.33 | 0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling. |

      @since:1.34 @until:1.36
      Examples:
        | releases     | message                                                                                                                                                                                     |
        | 1.34 to 1.36 | 0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling. |

      @since:1.37
      Examples:
        | releases  | message                                                                                                                                                        |
        | from 1.37 | 0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling. |

    Scenario: A Node gets the label
      Given no other Node
      And ready Nodes "worker-1" and "worker-2"
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
          nodeSelector: {disk: ssd}
        """
      And Pod "web" has condition PodScheduled=False
      And 30s pass
      When the user labels Node "worker-2" with "disk=ssd"
      Then Pod "web" field spec.nodeName is "worker-2" within 3s
      And Pod "web" field status.phase is "Running" within 10s

    Scenario: A label that it does not ask for helps nothing
      Given no other Node
      And a ready Node "worker-1"
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
          nodeSelector: {disk: ssd}
        """
      And Pod "web" has condition PodScheduled=False
      And 30s pass
      When the user labels Node "worker-1" with "disk=hdd"
      Then Node "worker-1" has label "disk=hdd" at once
      But Pod "web" keeps field spec.nodeName absent for 10m
      And Pod "web" keeps condition PodScheduled=False for 10m

    Scenario: A preferred label decides among Nodes that fit
      Given no other Node
      And ready Nodes "worker-1" and "worker-2"
      And the user labels Node "worker-1" with "disk=ssd"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
          affinity:
            nodeAffinity:
              preferredDuringSchedulingIgnoredDuringExecution:
                - weight: 10
                  preference: {matchExpressions: [{key: disk, operator: Exists}]}
        """
      Then Pod "web" field spec.nodeName is "worker-1" at once

  @req:REG-16
  Rule: Pods that run are not asked again when labels change; new ones go by the new labels

    Scenario: The label on which a running pod was bound is taken away
      Given no other Node
      And ready Nodes "worker-1" and "worker-2"
      And the user labels Node "worker-1" with "disk=ssd"
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: old
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
          nodeSelector: {disk: ssd}
        """
      And Pod "old" field status.phase is "Running"
      When the user removes label "disk" from Node "worker-1"
      Then Node "worker-1" has no label "disk" at once
      But Pod "old" stays for 10m
      And Pod "old" keeps field status.phase "Running" for 10m
      And Pod "old" keeps field spec.nodeName at "worker-1" for 10m
      And nothing else about Pod "old" changes

    Scenario: A new pod goes elsewhere
      Given no other Node
      And ready Nodes "worker-1" and "worker-2"
      And the user labels Node "worker-1" with "disk=ssd"
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: old
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
          nodeSelector: {disk: ssd}
        """
      And Pod "old" field status.phase is "Running"
      And the user removes label "disk" from Node "worker-1"
      And the user labels Node "worker-2" with "disk=ssd"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: new
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
          nodeSelector: {disk: ssd}
        """
      Then Pod "new" field spec.nodeName is "worker-2" at once
      And Pod "new" field status.phase is "Running" within 10s
      And Pod "old" keeps field spec.nodeName at "worker-1" for 10m
      And Pod "old" keeps field status.phase "Running" for 10m

    Scenario: A kubelet that starts again asks once more whether the pod fits
      The pod that does not match any more is ended; its container ended with 0, so that it has succeeded.
      Source: pkg/kubelet/kubelet.go (v1.34), HandlePodAdditions; pkg/kubelet/lifecycle/predicate.go (v1.34)

      Given no other Node
      And ready Nodes "worker-1" and "worker-2"
      And the user labels Node "worker-1" with "disk=ssd"
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: old
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
          nodeSelector: {disk: ssd}
        """
      And a Pod "other" on Node "worker-1"
      And Pod "old" field status.phase is "Running"
      And Pod "other" field status.phase is "Running"
      And the user removes label "disk" from Node "worker-1"
      And 1m passes
      When the kubelet on "worker-1" restarts
      Then Event NodeAffinity about Pod "old", message "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector", within 5s
      And Pod "old" field status.phase is "Succeeded" within 10s
      And Pod "old" stays for 10m
      But Pod "other" keeps field status.phase "Running" for 10m
      And no Event NodeAffinity about Pod "other" for 10m

    Scenario: A taint of NoSchedule that comes later leaves the running pod alone
      Given no other Node
      And a ready Node "worker-1"
      And a Pod "old" on Node "worker-1"
      When the user taints Node "worker-1" with "dedicated=infra:NoSchedule"
      Then Node "worker-1" has taint "dedicated=infra:NoSchedule" at once
      And Pod "old" stays for 10m
      And Pod "old" keeps field status.phase "Running" for 10m
