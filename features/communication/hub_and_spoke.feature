@core
Feature: Every way from a node leads to the API server
  Source: content/en/docs/concepts/architecture/control-plane-node-communication.md of kubernetes/website
  Source: cmd/kubelet/app/server.go (v1.34), buildKubeletClientConfig

  @req:COM-01
  Rule: A kubelet talks to the API server and to no other part of the control plane

    Scenario: Without the scheduler and the controllers a kubelet is as ready as before
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When kube-controller-manager stops
      And kube-scheduler stops
      And the user cordons Node "worker-1"
      And the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: waits}
        spec: {containers: [{name: c, image: i}]}
        """
      Then Node "worker-1" field spec.unschedulable is true within 1s
      And Node "worker-1" never has taint "node.kubernetes.io/unschedulable:NoSchedule" for 2m
      And Pod "waits" keeps field spec.nodeName absent for 2m
      But the Lease of Node "worker-1" is renewed every 10s for 2m
      And Node "worker-1" keeps condition Ready=True for 2m
      And container "main" of Pod "web" keeps running on machine "worker-1" for 2m

    Scenario: A new Pod reaches its container without them
      Given a ready Node "worker-1"
      When kube-controller-manager stops
      And kube-scheduler stops
      And the user cordons Node "worker-1"
      And the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec: {nodeName: worker-1, containers: [{name: c, image: i}]}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: waits}
        spec: {containers: [{name: c, image: i}]}
        """
      Then Pod "web" has condition Ready=True within 15s
      And Node "worker-1" field spec.unschedulable is true within 1s
      But Pod "waits" keeps field spec.nodeName absent for 30s
      And Node "worker-1" never has taint "node.kubernetes.io/unschedulable:NoSchedule" for 30s

    Scenario: A machine that reaches the API server alone needs nobody else
      Given ready Nodes "worker-1", "worker-2"
      And a Pod "web" on Node "worker-1"
      When machine "worker-2" loses its network
      Then the Lease of Node "worker-1" is renewed every 10s for 2m
      And Node "worker-1" keeps condition Ready=True for 2m
      And Node "worker-2" has condition Ready=Unknown within 60s

    Scenario: Without the API server's address nothing leaves a node
      Given a ready Node "worker-1"
      When machine "worker-1" loses its connection to the API server
      Then the Lease of Node "worker-1" keeps field spec.renewTime unchanged for 40s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", within 60s
