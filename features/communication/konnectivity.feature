@core
Feature: Konnectivity carries what the control plane sends to nodes
  Source: k8s.io/apiserver pkg/server/egressselector/egress_selector.go (v1.34)
  Source: kubernetes-sigs/apiserver-network-proxy pkg/server/backend_manager.go (v0.31)

  @req:COM-08
  Rule: With an egress selector for the cluster, the way to kubelets is the tunnel of an agent

    Scenario Outline: The direct route is cut, and the tunnel of <protocol> is used
      Given kube-apiserver runs with:
        | flag                        | value                                                                                                                                        |
        | egress-selector-config-file | {"kind": "EgressSelectorConfiguration", "egressSelections": [{"name": "cluster", "connection": {"proxyProtocol": "<protocol>"}}]} |
      And ready Nodes "worker-1", "worker-2"
      And a Pod "web" on Node "worker-1"
      And the object:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: agent, namespace: kube-system, labels: {k8s-app: konnectivity-agent}}
        spec: {nodeName: worker-2, containers: [{name: agent, image: agent}]}
        """
      And Pod "kube-system/agent" has condition Ready=True
      And machine "worker-1" loses its connection from the API server
      When the user sends GET /api/v1/namespaces/default/pods/web/log
      Then the request is <with tunnel>
      When the user deletes Pod "kube-system/agent"
      And 1m passes
      And the user sends GET /api/v1/namespaces/default/pods/web/log
      Then the request is refused with 500 <without>
      But Node "worker-1" keeps condition Ready=True for 2m
      And the Lease of Node "worker-1" is renewed every 10s for 2m

      Examples:
        | protocol    | with tunnel                      | without            |
        | GRPC        | answered with 200                | No agent available |
        | HTTPConnect | answered with 200                | No agent available |

    Scenario: Without a selector for the cluster nothing goes through an agent
      Given kube-apiserver runs with:
        | flag                        | value                                                                                                                             |
        | egress-selector-config-file | {"kind": "EgressSelectorConfiguration", "egressSelections": [{"name": "cluster", "connection": {"proxyProtocol": "Direct"}}, {"name": "etcd", "connection": {"proxyProtocol": "GRPC"}}]} |
      And ready Nodes "worker-1", "worker-2"
      And a Pod "web" on Node "worker-1"
      And the object:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: agent, namespace: kube-system, labels: {k8s-app: konnectivity-agent}}
        spec: {nodeName: worker-2, containers: [{name: agent, image: agent}]}
        """
      And Pod "kube-system/agent" has condition Ready=True
      When the user sends GET /api/v1/namespaces/default/pods/web/log
      Then the request is answered with 200
      When machine "worker-1" loses its connection from the API server
      And the user sends GET /api/v1/namespaces/default/pods/web/log
      Then the request is refused with 500 i/o timeout

    Scenario: The tunnel ends with the connection of the agent's machine, not with its kubelet
      Given kube-apiserver runs with:
        | flag                        | value                                                                                                                             |
        | egress-selector-config-file | {"kind": "EgressSelectorConfiguration", "egressSelections": [{"name": "cluster", "connection": {"proxyProtocol": "GRPC"}}]} |
      And ready Nodes "worker-1", "worker-2"
      And a Pod "web" on Node "worker-1"
      And the object:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: agent, namespace: kube-system, labels: {k8s-app: konnectivity-agent}}
        spec: {nodeName: worker-2, containers: [{name: agent, image: agent}]}
        """
      And Pod "kube-system/agent" has condition Ready=True
      When the kubelet on "worker-2" is killed
      And the user sends GET /api/v1/nodes/worker-2/proxy/healthz
      Then the request is refused with 503 connect: connection refused
      When the user sends GET /api/v1/namespaces/default/pods/web/log
      Then the request is answered with 200
      When machine "worker-2" loses its connection to the API server
      And the user sends GET /api/v1/namespaces/default/pods/web/log
      Then the request is refused with 500 No agent available
      When machine "worker-2" regains its connection to the API server
      And the user sends GET /api/v1/nodes/worker-1/proxy/healthz
      Then the request is answered with 200 ok
      When machine "worker-2" loses power
      And the user sends GET /api/v1/nodes/worker-1/proxy/healthz
      Then the request is refused with 503 error trying to reach service: No agent available
