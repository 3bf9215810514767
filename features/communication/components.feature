@core
Feature: The components of the control plane talk to the API server over its secure port, each as itself
  Source: content/en/docs/concepts/architecture/control-plane-node-communication.md of kubernetes/website
  Source: plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go, controller_policy.go (v1.34)
  Source: cmd/kube-controller-manager/app/controllermanager.go (v1.34), --use-service-account-credentials

  @req:COM-10
  Rule: Each component has an identity of its own, and nothing works without its rights

    Scenario: The scheduler binds nothing without its role
      Given a ready Node "worker-1"
      When the user sends DELETE /apis/rbac.authorization.k8s.io/v1/clusterrolebindings/system:kube-scheduler
      And the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec: {containers: [{name: c, image: i}]}
        """
      Then Pod "web" keeps field spec.nodeName absent for 5m
      # Other components are somebody else.
      And Node "worker-1" keeps condition Ready=True for 5m
      When the user creates:
        """yaml
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRoleBinding
        metadata: {name: scheduler-again}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "system:kube-scheduler"}
        subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: "system:kube-scheduler"}]
        """
      Then Pod "web" field spec.nodeName is set within 6m

    Scenario: The node controller marks nothing without its role, while others go on
      Given a ready Node "worker-1"
      When the user sends DELETE /apis/rbac.authorization.k8s.io/v1/clusterrolebindings/system:controller:node-controller
      And the kubelet on "worker-1" is killed
      And the user creates:
        """yaml
        apiVersion: apps/v1
        kind: ReplicaSet
        metadata: {name: web}
        spec:
          replicas: 1
          selector: {matchLabels: {app: web}}
          template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}
        """
      Then Node "worker-1" keeps condition Ready=True for 5m
      And Node "worker-1" never has taint "node.kubernetes.io/unreachable:NoExecute" for 5m
      But ReplicaSet "web" field status.replicas is 1 within 5s
      When the user creates:
        """yaml
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRoleBinding
        metadata: {name: node-controller-again}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "system:controller:node-controller"}
        subjects: [{kind: ServiceAccount, namespace: kube-system, name: node-controller}]
        """
      Then Node "worker-1" has condition Ready=Unknown within 30s

    Scenario: Without the role of the controller manager its informers see nothing
      Given a ready Node "worker-1"
      When the user sends DELETE /apis/rbac.authorization.k8s.io/v1/clusterrolebindings/system:kube-controller-manager
      And kube-controller-manager restarts
      And the kubelet on "worker-1" is killed
      Then Node "worker-1" keeps condition Ready=True for 5m
      When the user creates:
        """yaml
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRoleBinding
        metadata: {name: manager-again}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "system:kube-controller-manager"}
        subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: "system:kube-controller-manager"}]
        """
      Then Node "worker-1" has condition Ready=Unknown within 3m

  @req:COM-10
  Rule: No plain port answers

    Scenario Outline: GET <url>
      When the user sends GET <url>
      Then the request is refused with <answer>

      Examples:
        | url                              | answer                                                                    |
        | http://kube-apiserver:8080/api   | no answer, dial tcp 192.0.2.1:8080: connect: connection refused           |
        | http://kube-apiserver:80/healthz | no answer, dial tcp 192.0.2.1:80: connect: connection refused             |
        | http://192.0.2.1:6443/api        | 400 Client sent an HTTP request to an HTTPS server.                       |

    Scenario: The secure port answers
      When the user sends GET https://kube-apiserver:6443/api/v1/nodes/bystander
      Then the request is answered with 200
      When user "system:anonymous" sends GET https://kube-apiserver:6443/api/v1/nodes/bystander
      Then the request is refused with 403 nodes "bystander" is forbidden: User "system:anonymous" cannot get resource "nodes" in API group "" at the cluster scope
