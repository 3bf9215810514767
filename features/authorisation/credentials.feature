@core
Feature: The credentials of a kubelet
  Source: k8s.io/apiserver pkg/endpoints/filters/authentication.go (v1.34), withAuthentication
  Source: pkg/kubelet/kubelet_node_status.go (v1.34), registerWithAPIServer
  Source: cmd/kubelet/app/server.go (v1.34), run, buildKubeletClientConfig

  @req:REG-03
  Rule: Without valid credentials no Node appears

    Scenario Outline: The file that --kubeconfig names holds <what>
      The kubelet runs and goes on trying; all that it lacks is another file.

      Given a machine "worker-1" with:
        | name        | value                                                                              |
        | kubeconfigs | {"/etc/kubernetes/kubelet.conf": <credentials>, "/etc/kubernetes/good.conf": "node"} |
      When the kubelet on "worker-1" sends POST /api/v1/nodes:
        """
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker-1"}}
        """
      Then the request is refused with <code>, <message>
      And Node "worker-1" never appears for 10m
      And the Lease of Node "worker-1" never appears for 10m
      When the kubelet on "worker-1" restarts with:
        | flag       | value                     |
        | kubeconfig | /etc/kubernetes/good.conf |
      Then Node "worker-1" exists within 1s
      And Node "worker-1" has condition Ready=True within 15s

      Examples:
        | what                                      | credentials                                                  | code | message |
        | a token that nobody knows                 | "unknown"                                                    | 401  | Unauthorized |
        | nobody's name                             | "anonymous"                                                  | 403  | nodes is forbidden: User "system:anonymous" cannot create resource "nodes" in API group "" at the cluster scope |
        | another node's certificate                | {"user": "system:node:worker-9", "groups": ["system:nodes"]} | 403  | nodes "worker-1" is forbidden: node "worker-9" is not allowed to modify node "worker-1" |
        | the node's name outside the group         | {"user": "system:node:worker-1"}                             | 403  | nodes is forbidden: User "system:node:worker-1" cannot create resource "nodes" in API group "" at the cluster scope |
        | the group without a node's name           | {"user": "worker-1", "groups": ["system:nodes"]}             | 403  | nodes is forbidden: User "worker-1" cannot create resource "nodes" in API group "" at the cluster scope |
        | the name of a node that has none          | {"user": "system:node:", "groups": ["system:nodes"]}         | 403  | nodes |
        | a person's name                           | {"user": "jane", "groups": ["developers"]}                   | 403  | nodes is forbidden: User "jane" cannot create resource "nodes" in API group "" at the cluster scope |

    Scenario: There is no such file
      When a kubelet named "worker-1" registers with:
        | flag       | value                        |
        | kubeconfig | /etc/kubernetes/missing.conf |
      Then the kubelet refuses to start with "failed to run Kubelet: invalid kubeconfig: stat /etc/kubernetes/missing.conf: no such file or directory"
      And Node "worker-1" never appears for 10m

    Scenario: The flag is empty, and the kubelet stands alone
      When a kubelet named "worker-1" registers with:
        | flag                         | value       |
        | kubeconfig                   |             |
        | authentication-token-webhook | false       |
        | authorization-mode           | AlwaysAllow |
      Then Node "worker-1" never appears for 10m
      And the Lease of Node "worker-1" never appears for 10m

    Scenario: One that stands alone can ask nobody who its callers are
      When a kubelet named "worker-1" registers with:
        | flag       | value |
        | kubeconfig |       |
      Then the kubelet refuses to start with "failed to run Kubelet: no client provided, cannot use webhook authentication"
      And Node "worker-1" never appears for 10m

  @req:REG-03
  Rule: With them the user is system:node:<name> in group system:nodes

    Scenario: The credentials of the node itself, in a file of another name
      Given a machine "worker-1" with:
        | name        | value                                                                              |
        | kubeconfigs | {"/etc/kubernetes/kubelet.conf": "unknown", "/etc/kubernetes/renewed.conf": "node"} |
      And 1m passes
      When the kubelet on "worker-1" restarts with:
        | flag       | value                        |
        | kubeconfig | /etc/kubernetes/renewed.conf |
      Then Node "worker-1" exists within 1s
      And Node "worker-1" has condition Ready=True within 15s
      And the Lease of Node "worker-1" field spec.holderIdentity is "worker-1" within 12s

    Scenario: The same name and group, said in so many words
      Given a machine "worker-1" with:
        | name        | value                                                                                          |
        | kubeconfigs | {"/etc/kubernetes/kubelet.conf": {"user": "system:node:worker-1", "groups": ["system:nodes"]}} |
        | powered     | false |
      When machine "worker-1" gets power
      Then Node "worker-1" exists within 1s
      And Node "worker-1" has condition Ready=True within 15s

    Scenario: Some other administrator's credentials do as well
      Given a machine "worker-1" with:
        | name        | value                                                                             |
        | kubeconfigs | {"/etc/kubernetes/kubelet.conf": {"user": "root", "groups": ["system:masters"]}} |
        | powered     | false |
      When machine "worker-1" gets power
      Then Node "worker-1" exists within 1s
      And Node "worker-1" has condition Ready=True within 15s
