@extended
Feature: Before NoExecute taints, the node controller itself deleted the pods of dead nodes
  Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.15, v1.26), processNoTaintBaseEviction, doEvictionPass
  Source: pkg/controller/util/node/controller_utils.go (v1.26), DeletePods

  @req:EV-01
  Rule: The pods of a node that is silent or not ready for --pod-eviction-timeout are deleted

    Scenario Outline: A node of Kubernetes <release> falls silent
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
      And a Pod "web" on Node "worker-1"
      And a Pod "other" on Node "worker-2"
      When Node "worker-1" falls silent
      Then Pod "web" stays for 289s
      And Pod "web" is deleted between 289s and 316s
      And Event DeletingAllPods about Node "worker-1", message "Node worker-1 event: Deleting all Pods from Node worker-1.", within 316s
      And Event NodeControllerEviction about Pod "web", message "Marking for deletion Pod web from Node worker-1", within 316s
      And Pod "web" field status.reason is "NodeLost" within 316s
      And Pod "web" field status.message is "Node worker-1 which was running pod web is unresponsive" within 316s
      But Node "worker-1" never has taint "node.kubernetes.io/unreachable:NoExecute" for 10m
      And Pod "other" stays for 10m
      And no Event NodeControllerEviction about Pod "other" for 10m

      Examples:
        | release |
        | 1.5     |
        | 1.12    |

    Scenario: A node that is not ready has the time from when it said so
      Given a cluster of Kubernetes 1.26
      And kube-controller-manager runs with:
        | enable-taint-manager | false |
        | pod-eviction-timeout | 2m    |
      And no other Node
      And a hand-fed Node "worker-1"
      And a hand-fed Node "worker-2"
      And a Pod "web" on Node "worker-1"
      When Node "worker-1" posts condition Ready=False
      Then Pod "web" stays for 120s
      And Pod "web" is deleted between 120s and 126s
      But Node "worker-1" never has taint "node.kubernetes.io/not-ready:NoExecute" for 5m
      And Node "worker-1" has taint "node.kubernetes.io/not-ready:NoSchedule" within 1s

    Scenario: A node that comes back in time keeps its pods
      Given a cluster of Kubernetes 1.26
      And kube-controller-manager runs with:
        | enable-taint-manager | false |
        | pod-eviction-timeout | 2m    |
      And no other Node
      And a hand-fed Node "worker-1"
      And a hand-fed Node "worker-2"
      And a Pod "web" on Node "worker-1"
      And Node "worker-1" posts condition Ready=False
      And 100s pass
      When Node "worker-1" posts condition Ready=True
      Then Pod "web" stays for 10m
      And no Event DeletingAllPods about Node "worker-1" for 10m

    Scenario: A taint with NoExecute evicts nobody without the taint manager
      Given a cluster of Kubernetes 1.26
      And kube-controller-manager runs with:
        | enable-taint-manager | false |
      And no other Node
      And a hand-fed Node "worker-1"
      And a hand-fed Node "worker-2"
      And a Pod "web" on Node "worker-1"
      When the user taints Node "worker-1" with "example.com/gone:NoExecute"
      Then Node "worker-1" has taint "example.com/gone:NoExecute" within 1s
      But Pod "web" stays for 10m

    Scenario: With the taint manager, the timeout means nothing
      Given a cluster of Kubernetes 1.26
      And kube-controller-manager runs with:
        | pod-eviction-timeout | 1m |
      And no other Node
      And a hand-fed Node "worker-1"
      And a hand-fed Node "worker-2"
      And a Pod "web" on Node "worker-1"
      When Node "worker-1" posts condition Ready=False
      Then Pod "web" stays for 300s
      And Pod "web" is deleted between 300s and 312s
      And Node "worker-1" has taint "node.kubernetes.io/not-ready:NoExecute" between 0s and 12s

    Scenario: One node each ten seconds
      Given a cluster of Kubernetes 1.26
      And kube-controller-manager runs with:
        | enable-taint-manager | false |
        | pod-eviction-timeout | 1m    |
      And no other Node
      And 7 hand-fed Nodes in zone "a"
      And a Pod "web" on Node "a-1"
      And a Pod "api" on Node "a-2"
      When Node "a-1" posts condition Ready=False
      And 6s pass
      And Node "a-2" posts condition Ready=False
      Then Pod "web" is deleted between 54s and 61s
      And Pod "api" is deleted between 9s and 11s after Pod "web" is deleted

    Scenario: The pods of DaemonSets stay, by selector and not by owner
      Given a cluster of Kubernetes 1.26
      And kube-controller-manager runs with:
        | enable-taint-manager | false |
        | pod-eviction-timeout | 1m    |
      And no other Node
      And daemonset-controller stops
      And a hand-fed Node "worker-1"
      And a hand-fed Node "worker-2"
      And the user creates:
        """
        apiVersion: apps/v1
        kind: DaemonSet
        metadata: {name: agent}
        spec:
          selector: {matchLabels: {app: agent}}
          template:
            metadata: {labels: {app: agent}}
            spec:
              containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: agent, labels: {app: agent}}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: web, labels: {app: web}}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
        """
      When Node "worker-1" posts condition Ready=False
      Then Pod "web" is deleted between 60s and 66s
      But Pod "agent" stays for 10m
      And Pod "agent" field status.reason is "NodeLost" between 60s and 66s

    Scenario Outline: A pod that comes later to a node whose pods were deleted, Kubernetes <release>
      Given a cluster of Kubernetes <release>
      And kube-controller-manager runs with:
        | enable-taint-manager | false |
        | pod-eviction-timeout | 1m    |
      And no other Node
      And a hand-fed Node "worker-1"
      And which is fed with:
        | lease  | 10s |
        | status | 10s |
      And a hand-fed Node "worker-2"
      And which is fed with:
        | lease  | 10s |
        | status | 10s |
      And a Pod "web" on Node "worker-1"
      And Node "worker-1" posts condition Ready=False
      And 70s pass
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: late}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
        """
      Then Pod "late" field spec.nodeName is "worker-1" within 100ms
      And Pod "late" <what>

      Examples:
        | release | what                            |
        | 1.15    | stays for 10m                   |
        | 1.26    | is deleted between 0s and 100ms |

    Scenario: When no node is ready, nothing is deleted
      Given a cluster of Kubernetes 1.26
      And kube-controller-manager runs with:
        | enable-taint-manager | false |
        | pod-eviction-timeout | 1m    |
      And no other Node
      And 2 hand-fed Nodes in zone "a"
      And a Pod "web" on Node "a-1"
      When the Nodes of zone "a" fall silent
      Then Node "a-1" has condition Ready=Unknown between 30s and 60s
      But Pod "web" stays for 20m
      And no Event DeletingAllPods about Node "a-1" for 20m

  @req:EV-07
  Rule: Before 1.5, pods that did not go in their grace period were deleted by force

    Scenario: Kubernetes 1.4 deletes by force
      Given a cluster of Kubernetes 1.4
      And no other Node
      And a hand-fed Node "worker-1"
      And which is fed with:
        | lease  | 10s |
        | status | 10s |
      And a hand-fed Node "worker-2"
      And which is fed with:
        | lease  | 10s |
        | status | 10s |
      And a Pod "web" on Node "worker-1"
      When Node "worker-1" falls silent
      Then Pod "web" is deleted between 289s and 316s
      And Pod "web" is gone between 30s and 50s after Pod "web" is deleted
      And Event TerminatingEvictedPod about Node "worker-1", message "Node worker-1 event: Pod web has exceeded the grace period for deletion after being evicted from Node \"worker-1\" and is being force killed", within 366s
      And Event TerminatedAllPods about Node "worker-1", message "Node worker-1 event: Terminated all Pods on Node worker-1.", within 366s
      But Pod "web" keeps field status.reason absent for 320s

    Scenario: Kubernetes 1.5 leaves them
      Given a cluster of Kubernetes 1.5
      And no other Node
      And a hand-fed Node "worker-1"
      And which is fed with:
        | lease  | 10s |
        | status | 10s |
      And a hand-fed Node "worker-2"
      And which is fed with:
        | lease  | 10s |
        | status | 10s |
      And a Pod "web" on Node "worker-1"
      And Node "worker-1" falls silent
      And Pod "web" is deleted
      When nothing is done
      Then Pod "web" stays terminating for 30m
      And no Event TerminatingEvictedPod about Node "worker-1" for 30m

    Scenario Outline: The Event about an eviction for a taint is not of <other> in <release>
      Given a cluster of Kubernetes <release>
      And no other Node
      And a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When the user taints Node "worker-1" with "example.com/gone:NoExecute"
      Then Event TaintManagerEviction about Pod "web", message "Marking for deletion Pod default/web", within 1s
      When the user sends GET /api/v1/namespaces/default/events?fieldSelector=reason=TaintManagerEviction,source=<other>
      Then the answer lists nothing

      Examples:
        | release | other                     |
        | 1.28    | taint-eviction-controller |
        | 1.29    | taint-controller          |
