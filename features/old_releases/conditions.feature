@extended
Feature: Before conditions became taints, the scheduler looked at them itself
  Source: pkg/scheduler/algorithm/predicates/predicates.go (v1.12), CheckNodeConditionPredicate
  Source: pkg/scheduler/algorithmprovider/defaults/defaults.go (v1.12), ApplyFeatureGates

  @req:TNT-05 @gate:TaintNodesByCondition
  Rule: With TaintNodesByCondition off, conditions keep pods away, whatever these tolerate

    Scenario: No pod goes to a node that is not ready, and it gets no taint
      Given a cluster of Kubernetes 1.12
      And kube-controller-manager runs with:
        | feature-gates | TaintNodesByCondition=false |
      And kube-scheduler runs with:
        | feature-gates | TaintNodesByCondition=false |
      And no other Node
      And a hand-fed Node "worker-1"
      And Node "worker-1" posts condition Ready=False
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          tolerations: [{operator: Exists}]
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
        """
      Then Pod "web" has condition PodScheduled=False, reason "Unschedulable", message "0/1 nodes are available: 1 node(s) were not ready.", within 1s
      And Pod "web" keeps field spec.nodeName absent for 5m
      But Node "worker-1" never has taint "node.kubernetes.io/not-ready:NoSchedule" for 5m

    Scenario: The pod goes there when the node is ready again
      Given a cluster of Kubernetes 1.12
      And kube-controller-manager runs with:
        | feature-gates | TaintNodesByCondition=false |
      And kube-scheduler runs with:
        | feature-gates | TaintNodesByCondition=false |
      And no other Node
      And a hand-fed Node "worker-1"
      And Node "worker-1" posts condition Ready=False
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
        """
      And 30s pass
      When Node "worker-1" posts condition Ready=True
      Then Pod "web" field spec.nodeName is "worker-1" between 0s and 1s

    Scenario Outline: Pressure on <what>
      Given a cluster of Kubernetes 1.12
      And kube-controller-manager runs with:
        | feature-gates | TaintNodesByCondition=false |
      And kube-scheduler runs with:
        | feature-gates | TaintNodesByCondition=false |
      And no other Node
      And a hand-fed Node "worker-1"
      And Node "worker-1" posts condition <condition>=True
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: none}
        spec:
          tolerations: [{operator: Exists}]
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: some}
        spec:
          containers:
            - name: main
              image: "registry.k8s.io/pause:3.10"
              resources: {requests: {cpu: 10m}}
        """
      Then Pod "none" has condition PodScheduled=False, reason "Unschedulable", message "0/1 nodes are available: 1 node(s) had <what> pressure.", within 1s
      And Pod "some" has condition <scheduled> within 1s
      But Node "worker-1" never has taint "node.kubernetes.io/<what>-pressure:NoSchedule" for 5m

      Examples:
        | what   | condition      | scheduled          |
        | memory | MemoryPressure | PodScheduled=True  |
        | disk   | DiskPressure   | PodScheduled=False |
        | pid    | PIDPressure    | PodScheduled=False |

    Scenario: A cordon is no taint, and no toleration helps
      Given a cluster of Kubernetes 1.12
      And kube-controller-manager runs with:
        | feature-gates | TaintNodesByCondition=false |
      And kube-scheduler runs with:
        | feature-gates | TaintNodesByCondition=false |
      And no other Node
      And a hand-fed Node "worker-1"
      And the user cordons Node "worker-1"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          tolerations: [{operator: Exists}]
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
        """
      Then Pod "web" has condition PodScheduled=False, reason "Unschedulable", message "0/1 nodes are available: 1 node(s) were unschedulable.", within 1s
      And Pod "web" keeps field spec.nodeName absent for 5m
      But Node "worker-1" never has taint "node.kubernetes.io/unschedulable:NoSchedule" for 5m

    Scenario: With the gate on, as by default, a toleration lets the pod in
      Given a cluster of Kubernetes 1.12
      And no other Node
      And a hand-fed Node "worker-1"
      And Node "worker-1" posts condition Ready=False
      And Node "worker-1" has taint "node.kubernetes.io/not-ready:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          tolerations: [{operator: Exists}]
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: other}
        spec:
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
        """
      Then Pod "web" field spec.nodeName is "worker-1" within 1s
      But Pod "other" keeps field spec.nodeName absent for 5m

  @req:HB-06
  Rule: Before Leases, the status was the only sign of life

    Scenario Outline: A node of Kubernetes <release> that renews its Lease and writes no status
      Given a cluster of Kubernetes <release>
      And no other Node
      And a hand-fed Node "worker-1"
      And which is fed with:
        | lease  | 10s |
        | status | 10s |
      And a hand-fed Node "worker-2"
      And which is fed with:
        | lease  | 10s |
        | status | 10s |
      When the status of Node "worker-1" is written no more
      Then Node "worker-1" <what>
      And Node "worker-1" keeps field status.conditions[Ready].lastHeartbeatTime unchanged for 10m
      And Node "worker-2" keeps condition Ready=True for 10m

      Examples:
        | release | what                                                                                |
        | 1.12    | has condition Ready=Unknown, reason "NodeStatusUnknown", between 30s and 56s         |
        | 1.14    | keeps condition Ready=True for 10m                                                  |
