@core
Feature: kubectl describe node shows status and details
  Source: k8s.io/kubectl pkg/describe/describe.go (v1.34, v1.35, v1.36), describeNode, describeNodeResource, DescribeEvents
  Source: k8s.io/kubectl pkg/util/resource/resource.go (v1.34), podRequests

  @req:STA-09
  Rule: One command shows the Node, its Lease, its Pods with what they ask for, and its Events

    Scenario: A ready Node with a Pod
      Given kube-controller-manager stops
      And a machine "worker-1" with:
        | name      | value                                           |
        | cpu       | 4                                               |
        | memory    | 8Gi                                             |
        | zone      | a                                               |
        | addresses | [{"type": "InternalIP", "address": "10.9.8.7"}] |
      And Node "worker-1" has condition Ready=True
      And 5s pass
      And kube-controller-manager starts
      And the object:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers:
          - {name: a, image: i, resources: {requests: {cpu: 500m, memory: 1Gi}, limits: {memory: 2Gi}}}
          - {name: b, image: i, resources: {requests: {cpu: 250m}}}
        """
      And Pod "web" has condition Ready=True
      And 30s pass
      When the user describes Node "worker-1"
      Then kubectl prints "Name:               worker-1" within 1s
      And kubectl prints "  HolderIdentity:  worker-1" within 1s
      And kubectl prints "Addresses:" within 1s
      And kubectl prints "  InternalIP:  10.9.8.7" within 1s
      And kubectl prints "                    topology.kubernetes.io/zone=a" within 1s
      And kubectl prints "Non-terminated Pods:          (1 in total)" within 1s
      And kubectl prints "  cpu                750m (18%)  0 (0%)" within 1s
      And kubectl prints "  memory             1Gi (12%)   2Gi (25%)" within 1s
      And kubectl succeeds within 1s
      And the output of kubectl matches its snapshot
      When the user deletes Pod "web"
      And 1m passes
      And the user describes Node "worker-1"
      Then kubectl prints "Non-terminated Pods:          (0 in total)" within 1s
      And kubectl prints "  cpu                0 (0%)    0 (0%)" within 1s

    Scenario Outline: What a whole Pod asks for is <what>
      Given a machine "worker-1" with:
        | cpu    | 4   |
        | memory | 8Gi |
      And Node "worker-1" has condition Ready=True
      And the object:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          resources: {requests: {cpu: 1, memory: 1Gi}, limits: {memory: 2Gi}}
          containers:
          - {name: a, image: i, resources: {requests: {cpu: 500m}}}
        """
      And Pod "web" has condition Ready=True
      When the user describes Node "worker-1"
      Then kubectl prints "Non-terminated Pods:          (1 in total)" within 1s
      And kubectl prints "  cpu                <cpu>" within 1s
      And kubectl prints "  memory             <memory>" within 1s

      @since:1.34 @until:1.35
      Examples:
        | what        | cpu                | memory             |
        | not counted | 500m (12%)  0 (0%) | 0 (0%)      0 (0%) |

      @since:1.36
      Examples:
        | what    | cpu                | memory               |
        | counted | 1 (25%)    0 (0%)  | 1Gi (12%)  2Gi (25%) |

    Scenario: A Node that falls silent and is cordoned
      Given a ready Node "worker-1"
      When the kubelet on "worker-1" is killed
      And the user cordons Node "worker-1"
      And 2m pass
      And the user describes Node "worker-1"
      Then kubectl prints "Unschedulable:      true" within 1s
      And kubectl prints "Taints:             node.kubernetes.io/unreachable:NoExecute" within 1s
      And kubectl prints "                    node.kubernetes.io/unreachable:NoSchedule" within 1s
      And kubectl prints "                    node.kubernetes.io/unschedulable:NoSchedule" within 1s

    Scenario: A Node that nobody stands behind
      Given kube-controller-manager stops
      And the object:
        """yaml
        apiVersion: v1
        kind: Node
        metadata: {name: by-hand}
        """
      When the user describes Node "by-hand"
      Then kubectl prints "Lease:              Failed to get lease: leases.coordination.k8s.io \"by-hand\" not found" within 1s
      And kubectl prints "Non-terminated Pods:          (0 in total)" within 1s
      And kubectl prints "  cpu                0 (0%)    0 (0%)" within 1s
      And the output of kubectl matches its snapshot

    Scenario: Two Nodes, and one that is not there
      Given ready Nodes "worker-1", "worker-2"
      When the user deletes Node "worker-2"
      And the user describes Nodes "worker-1", "worker-2"
      Then kubectl prints "Name:               worker-1" within 1s
      And kubectl prints "Error from server (NotFound): nodes \"worker-2\" not found" within 1s
      And kubectl fails within 1s

    Scenario Outline: The version of kube-proxy is <what>
      Given the object:
        """yaml
        apiVersion: v1
        kind: Node
        metadata: {name: by-hand}
        """
      When the user describes Node "by-hand"
      Then kubectl prints "Non-terminated Pods:          (0 in total)" within 1s
      And kubectl <prints>

      @until:1.35
      Examples:
        | what | prints                                            |
        | told | prints "  Kube-Proxy Version:         " within 1s |

      @since:1.36
      Examples:
        | what     | prints                                               |
        | not told | never prints "  Kube-Proxy Version:         " for 1s |

    Scenario Outline: A Pod that has more than its spec asks for is counted with <what>
      Given kube-controller-manager stops
      And the objects:
        """yaml
        kind: Node
        apiVersion: v1
        metadata: {name: by-hand}
        status: {capacity: {cpu: 10, memory: 10Gi, pods: 10}}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: by-hand
          containers:
          - {name: a, image: i, resources: {requests: {cpu: 100m}, limits: {cpu: 200m}}}
        """
      And the user sends PATCH /api/v1/namespaces/default/pods/web/status:
        """yaml
        status:
          containerStatuses:
          - name: a
            image: i
            imageID: i
            ready: true
            restartCount: 0
            allocatedResources: {cpu: 300m}
            resources: {requests: {cpu: 500m}, limits: {cpu: 600m}}
        """
      And 10m pass
      When the user describes Node "by-hand"
      Then kubectl prints "  default                     web     <line>" within 1s
      And kubectl prints "  cpu                <sum>" within 1s

      @until:1.32
      Examples:
        | what | line | sum |
        | what its spec asks for | 100m (1%)     200m (2%)   0 (0%)           0 (0%)         10m | 100m (1%)  200m (2%) |

      @since:1.33 @until:1.35
      Examples:
        | what | line | sum |
        | what it has, but for limits | 500m (5%)     200m (2%)   0 (0%)           0 (0%)         10m | 500m (5%)  200m (2%) |

      @since:1.36
      Examples:
        | what | line | sum |
        | what it has, but for the sums | 500m (5%)     600m (6%)   0 (0%)           0 (0%)         10m | 100m (1%)  200m (2%) |

    Scenario Outline: The field that an Event is about is <what>
      Given kube-controller-manager stops
      And the objects:
        """yaml
        kind: Node
        apiVersion: v1
        metadata: {name: by-hand}
        ---
        apiVersion: v1
        kind: Event
        metadata: {name: e1}
        involvedObject: {kind: Node, name: by-hand, uid: by-hand, fieldPath: spec.x}
        type: Normal
        reason: Seen
        message: all is well
        source: {component: somebody}
        """
      When the user describes Node "by-hand"
      Then kubectl prints "  <line>" within 1s

      @until:1.34
      Examples:
        | what     | line                                             |
        | not told | Normal  Seen    <unknown>  somebody  all is well |

      @since:1.35
      Examples:
        | what | line                                                     |
        | told | Normal  Seen    <unknown>  somebody  spec.x: all is well |

    Scenario Outline: Slices of devices are <what>
      Given the objects:
        """yaml
        kind: Node
        apiVersion: v1
        metadata: {name: by-hand}
        ---
        apiVersion: resource.k8s.io/v1
        kind: ResourceSlice
        metadata: {name: own-1}
        spec: {nodeName: by-hand, driver: gpu.example.com, pool: {name: p, generation: 1, resourceSliceCount: 2},
          devices: [{name: d0}, {name: d1}]}
        ---
        apiVersion: resource.k8s.io/v1
        kind: ResourceSlice
        metadata: {name: own-2}
        spec: {nodeName: by-hand, driver: gpu.example.com, pool: {name: p, generation: 1, resourceSliceCount: 2},
          devices: [{name: d2}]}
        ---
        apiVersion: resource.k8s.io/v1
        kind: ResourceSlice
        metadata: {name: anybodys}
        spec: {allNodes: true, driver: net.example.com, pool: {name: q, generation: 1, resourceSliceCount: 1},
          devices: [{name: d3}]}
        """
      When the user describes Node "by-hand"
      Then kubectl prints "System Info:" within 1s
      And kubectl <prints>

      @since:1.34 @until:1.35
      Examples:
        | what      | prints                                           |
        | not shown | never prints "Node-Local ResourceSlices:" for 1s |

      @since:1.36
      Examples:
        | what      | prints                                                |
        | summed up | prints "  gpu.example.com  p     2       3" within 1s |
