@core
Feature: Where no kubelet stands behind a Node, no pod goes
  Source: pkg/scheduler/eventhandlers.go, backend/queue/scheduling_queue.go (v1.34)

  @req:MAN-01
  Rule: A Node made by hand is ignored until a kubelet stands behind it

    Scenario Outline: Once it is marked no pod is bound to it
      Not even though it says what room it has.

      Given no other Node
      And the object:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: 10.240.79.157
          labels: {name: my-first-k8s-node}
        status:
          capacity: {cpu: "4", memory: 8Gi, pods: "110"}
          allocatable: {cpu: "4", memory: 8Gi, pods: "110"}
        """
      And Node "10.240.79.157" has taint "node.kubernetes.io/unreachable:NoSchedule"
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
      And Pod "web" keeps field status.phase "Pending" for 24h
      But Pod "web" keeps field spec.nodeName absent for 24h
      And no Event Scheduled about Pod "web" for 24h

      @since:1.34 @until:1.36
      Examples:
        | releases     | message                                                                                                                                                                    |
        | 1.34 to 1.36 | 0/1 nodes are available: 1 node(s) had untolerated taint(s). no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling. |

      @since:1.37
      Examples:
        | releases  | message                                                                                                                                       |
        | from 1.37 | 0/1 nodes are available: 1 node(s) had untolerated taint(s). preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling. |

    @until:1.33
    Scenario: Once it is marked no pod is bound to it, up to 1.33
      Given no other Node
      And the object:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: 10.240.79.157
          labels: {name: my-first-k8s-node}
        status:
          capacity: {cpu: "4", memory: 8Gi, pods: "110"}
          allocatable: {cpu: "4", memory: 8Gi, pods: "110"}
        """
      And Node "10.240.79.157" has taint "node.kubernetes.io/unreachable:NoSchedule"
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
      Then Pod "web" has condition PodScheduled=False, reason "Unschedulable", message "0/1 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling." within 1s
      And Event FailedScheduling about Pod "web", message "0/1 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling." within 1s
      And Pod "web" keeps field status.phase "Pending" for 24h
      But Pod "web" keeps field spec.nodeName absent for 24h
      And no Event Scheduled about Pod "web" for 24h

    Scenario: Until it is marked, pods are bound to it if it says what room it has
      The documentation has it that such a Node is ignored for all cluster activity until it becomes healthy. Without a
      Ready condition it has no taint for the 60 s of the startup grace period, and the scheduler looks at taints alone.

      When the user creates:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: 10.240.79.157
          labels: {name: my-first-k8s-node}
        status:
          capacity: {cpu: "4", memory: 8Gi, pods: "110"}
          allocatable: {cpu: "4", memory: 8Gi, pods: "110"}
        """
      And 5s pass
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          nodeSelector: {name: my-first-k8s-node}
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      Then Pod "web" field spec.nodeName is "10.240.79.157" within 2s
      And Pod "web" has condition PodScheduled=True within 2s
      And Event Scheduled about Pod "web", message "Successfully assigned default/web to 10.240.79.157", within 2s
      But Pod "web" keeps field status.phase "Pending" for 90s
      And Pod "web" keeps field status.startTime absent for 90s
      And Node "10.240.79.157" has condition Ready=Unknown, reason "NodeStatusNeverUpdated", between 50s and 61s
      And Node "10.240.79.157" has taint "node.kubernetes.io/unreachable:NoExecute" between 50s and 72s
      And Pod "web" stays for 90s

    Scenario: The pod that was bound to it is evicted and stays Terminating
      Given kube-apiserver runs with:
        | default-unreachable-toleration-seconds | 20 |
      And the object:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: 10.240.79.157
          labels: {name: my-first-k8s-node}
        status:
          capacity: {cpu: "4", memory: 8Gi, pods: "110"}
          allocatable: {cpu: "4", memory: 8Gi, pods: "110"}
        """
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          nodeSelector: {name: my-first-k8s-node}
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      And Pod "web" has condition PodScheduled=True
      When Pod "web" is deleted
      Then Pod "web" stays terminating for 60s
      And Pod "web" keeps field status.phase "Pending" for 60s
      And Pod "web" keeps field spec.nodeName at "10.240.79.157" for 60s

    Scenario: Without room it gets none, marked or not
      Given no other Node
      And the object:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: 10.240.79.157
          labels: {name: my-first-k8s-node}
        """
      And Node "10.240.79.157" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      And 5s pass
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
      Then Pod "web" has condition PodScheduled=False, reason "Unschedulable", within 1s
      And Pod "web" field status.conditions[PodScheduled].message is set within 1s
      And Pod "web" keeps field spec.nodeName absent for 90s

    Scenario: Without any Node a pod waits
      Given no other Node
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
      Then Pod "web" has condition PodScheduled=False, reason "Unschedulable", message "no nodes available to schedule pods" at once
      And Event FailedScheduling about Pod "web", message "no nodes available to schedule pods" at once
      And Pod "web" keeps field spec.nodeName absent for 10m
      And Pod "web" keeps field status.phase "Pending" for 10m

  @req:MAN-02
  Rule: When a kubelet registers, what waits is bound

    Scenario: A kubelet registers under the name of a Node that was made by hand
      Given no other Node
      And the object:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-1
        """
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoSchedule"
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
      And 30s pass
      When a kubelet named "worker-1" registers
      Then Node "worker-1" has condition Ready=True within 15s
      And Node "worker-1" has no taint "node.kubernetes.io/unreachable:NoSchedule" within 20s
      And Pod "web" field spec.nodeName is "worker-1" within 30s
      And Event Scheduled about Pod "web", message "Successfully assigned default/web to worker-1" within 30s
      And Pod "web" field status.phase is "Running" within 45s

    Scenario: A kubelet registers where there was no Node
      Given no other Node
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
      And 60s pass
      When a kubelet named "worker-1" registers
      Then Node "worker-1" has condition Ready=True within 15s
      And Pod "web" field spec.nodeName is "worker-1" after Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      And Pod "web" field status.phase is "Running" within 45s

    Scenario: While the Node is not ready the pod waits
      Given no other Node
      And a machine "worker-1"
      And Node "worker-1" has condition Ready=True
      And the container network on "worker-1" is removed
      And Node "worker-1" has taint "node.kubernetes.io/not-ready:NoSchedule"
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
      When 1s passes
      Then Pod "web" keeps field spec.nodeName absent for 10m
