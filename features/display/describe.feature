@core
Feature: kubectl describe node shows status and details
  Source: k8s.io/kubectl pkg/describe/describe.go (v1.34, v1.36), describeNode, describeNodeResource, DescribeEvents

  @req:STA-09
  Rule: One command shows the Node, its Lease, its Pods with what they ask for, and its Events

    Scenario: A ready Node with a Pod
      Given a machine "worker-1" with:
        | name      | value                                           |
        | cpu       | 4                                               |
        | memory    | 8Gi                                             |
        | zone      | a                                               |
        | addresses | [{"type": "InternalIP", "address": "10.9.8.7"}] |
      And Node "worker-1" has condition Ready=True
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
      Given the object:
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
