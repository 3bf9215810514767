@core
Feature: What roles allow
  Source: plugin/pkg/auth/authorizer/rbac/rbac.go (v1.34), Authorize
  Source: k8s.io/apiserver pkg/endpoints/handlers/responsewriters/errors.go (v1.34), Forbidden

  Rule: Nobody may do what no role gives him

    Scenario Outline: <who> sends GET <path>
      Given a ready Node "worker-1"
      When <who> sends GET <path>
      Then the request is refused with 403 "<message>"

      Examples:
        | who                           | path                               | message                                                                                                                                                    |
        | user "jane"                   | /api/v1/nodes/worker-1             | nodes "worker-1" is forbidden: User "jane" cannot get resource "nodes" in API group "" at the cluster scope                                                |
        | user "jane"                   | /api/v1/namespaces/default         | namespaces "default" is forbidden: User "jane" cannot get resource "namespaces" in API group "" in the namespace "default"                                 |
        | user "jane"                   | /api/v1/foos                       | foos is forbidden: User "jane" cannot list resource "foos" in API group "" at the cluster scope                                                            |
        | user "jane"                   | /metrics                           | forbidden: User "jane" cannot get path "/metrics"                                                                                                          |
        | user "system:anonymous"       | /apis/apps/v1/deployments          | deployments.apps is forbidden: User "system:anonymous" cannot list resource "deployments" in API group "apps" at the cluster scope                         |
        | service account "default/bot" | /api/v1/namespaces/default/pods    | pods is forbidden: User "system:serviceaccount:default:bot" cannot list resource "pods" in API group "" in the namespace "default"                         |

  Rule: A binding gives a role to users, groups and service accounts, everywhere or in its namespace

    Background:
      Given a ready Node "worker-1"
      And the objects:
        """
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRole
        metadata: {name: cordoner}
        rules:
        - {apiGroups: [""], resources: [nodes], verbs: [get, patch], resourceNames: [worker-1]}
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRoleBinding
        metadata: {name: cordoner}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cordoner}
        subjects:
        - {apiGroup: rbac.authorization.k8s.io, kind: User, name: jane}
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: viewers, namespace: default}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
        subjects:
        - {kind: ServiceAccount, name: bot}
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: lost, namespace: kube-public}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: missing}
        subjects:
        - {kind: ServiceAccount, name: bot, namespace: default}
        """

    Scenario: Jane cordons worker-1
      When user "jane" sends PATCH /api/v1/nodes/worker-1:
        """
        spec: {unschedulable: true}
        """
      Then the request is answered with 200
      And Node "worker-1" has taint "node.kubernetes.io/unschedulable:NoSchedule" within 1s

    Scenario Outline: <who> sends GET <path>
      When <who> sends GET <path>
      Then the request is <what> with <code> "<message>"

      Examples:
        | who                           | path                                 | what    | code | message                                                                                                                                                                                                                   |
        | user "jane"                   | /api/v1/nodes/worker-2               | refused | 403  | nodes "worker-2" is forbidden: User "jane" cannot get resource "nodes" in API group "" at the cluster scope                                                                                                               |
        | user "jane"                   | /api/v1/nodes/worker-1/status        | refused | 403  | nodes "worker-1" is forbidden: User "jane" cannot get resource "nodes/status" in API group "" at the cluster scope                                                                                                        |
        | service account "default/bot" | /api/v1/pods                         | refused | 403  | pods is forbidden: User "system:serviceaccount:default:bot" cannot list resource "pods" in API group "" at the cluster scope                                                                                              |
        | service account "default/bot" | /api/v1/namespaces/default/secrets   | refused | 403  | secrets is forbidden: User "system:serviceaccount:default:bot" cannot list resource "secrets" in API group "" in the namespace "default"                                                                                  |

      @until:1.36
      Examples:
        | releases   | who                           | path                                 | what    | code | message                                                                                                                                                                                                                   |
        | up to 1.36 | service account "default/bot" | /api/v1/namespaces/kube-public/pods  | refused | 403  | pods is forbidden: User "system:serviceaccount:default:bot" cannot list resource "pods" in API group "" in the namespace "kube-public": RBAC: clusterrole.rbac.authorization.k8s.io "missing" not found                   |

      @since:1.37
      Examples:
        | releases   | who                           | path                                 | what    | code | message                                                                                                                                                                                                                   |
        | from 1.37  | service account "default/bot" | /api/v1/namespaces/kube-public/pods  | refused | 403  | pods is forbidden: User "system:serviceaccount:default:bot" cannot list resource "pods" in API group "" in the namespace "kube-public": rbac: RBAC: clusterrole.rbac.authorization.k8s.io "missing" not found                   |

    Scenario: The service account reads the Pods of its namespace
      When service account "default/bot" sends GET /api/v1/namespaces/default/pods
      Then the request is answered with 200

    Scenario: A binding that is gone gives nothing
      Given the user sends DELETE /apis/rbac.authorization.k8s.io/v1/clusterrolebindings/cordoner
      When user "jane" sends GET /api/v1/nodes/worker-1
      Then the request is refused with 403 "nodes "worker-1" is forbidden: User "jane" cannot get resource "nodes" in API group "" at the cluster scope"
