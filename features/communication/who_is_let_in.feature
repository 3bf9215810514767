@core
Feature: Who is let in by the API server
  Source: k8s.io/apiserver pkg/endpoints/filters/authentication.go (v1.34), withAuthentication
  Source: k8s.io/apiserver pkg/endpoints/handlers/responsewriters/errors.go (v1.34), Forbidden, forbiddenMessage

  @req:COM-02
  Rule: Who is nobody may do nothing, and who is somebody only what somebody has allowed

    Scenario Outline: <who> sends <method> <path>
      When <who> sends <method> <path>
      Then the request is refused with 403 <message>

      Examples:
        | who                     | method | path                                       | message                                                                                                                                                      |
        | user "system:anonymous" | GET    | /api/v1/nodes                              | nodes is forbidden: User "system:anonymous" cannot list resource "nodes" in API group "" at the cluster scope                                                 |
        | user "system:anonymous" | GET    | /api/v1/nodes/bystander                    | nodes "bystander" is forbidden: User "system:anonymous" cannot get resource "nodes" in API group "" at the cluster scope                                      |
        | user "system:anonymous" | DELETE | /api/v1/nodes/bystander                    | nodes "bystander" is forbidden: User "system:anonymous" cannot delete resource "nodes" in API group "" at the cluster scope                                   |
        | user "system:anonymous" | GET    | /api                                       | forbidden: User "system:anonymous" cannot get path "/api"                                                                                                    |
        | user "jane"             | GET    | /api/v1/pods                               | pods is forbidden: User "jane" cannot list resource "pods" in API group "" at the cluster scope                                                               |
        | user "jane"             | GET    | /api/v1/namespaces/default/pods            | pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "default"                                                         |
        | user "jane"             | GET    | /api/v1/namespaces/default/pods/web/log    | pods "web" is forbidden: User "jane" cannot get resource "pods/log" in API group "" in the namespace "default"                                                |
        | user "jane"             | GET    | /apis/apps/v1/namespaces/default/daemonsets | daemonsets.apps is forbidden: User "jane" cannot list resource "daemonsets" in API group "apps" in the namespace "default"                                   |
        | user "jane"             | DELETE | /api/v1/nodes                              | nodes is forbidden: User "jane" cannot deletecollection resource "nodes" in API group "" at the cluster scope                                                 |
        | user "jane"             | GET    | /metrics                                   | forbidden: User "jane" cannot get path "/metrics"                                                                                                            |
        | service account "default/default" | GET | /api/v1/namespaces/default/secrets    | secrets is forbidden: User "system:serviceaccount:default:default" cannot list resource "secrets" in API group "" in the namespace "default"                  |

    Scenario Outline: <who> may send GET <path>
      When <who> sends GET <path>
      Then the request is answered with 200

      Examples:
        | who                     | path     |
        | user "system:anonymous" | /version |
        | user "system:anonymous" | /healthz |
        | user "system:anonymous" | /livez   |
        | user "system:anonymous" | /readyz  |
        | user "jane"             | /api     |
        | user "jane"             | /apis    |
        | user "jane"             | /version |

    Scenario: A refused watch
      When user "jane" watches /api/v1/nodes
      Then the request is refused with 403 nodes is forbidden: User "jane" cannot watch resource "nodes" in API group "" at the cluster scope

    Scenario: A right that somebody gives is enough from then on
      When user "jane" sends GET /api/v1/nodes
      Then the request is refused with 403 nodes is forbidden: User "jane" cannot list resource "nodes"
      When the user creates:
        """yaml
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRole
        metadata: {name: looks-at-nodes}
        rules: [{apiGroups: [""], resources: [nodes], verbs: [list]}]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRoleBinding
        metadata: {name: looks-at-nodes}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: looks-at-nodes}
        subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: jane}]
        """
      And 5s pass
      And user "jane" sends GET /api/v1/nodes
      Then the answer lists "bystander"
      When user "jane" sends GET /api/v1/nodes/bystander
      Then the request is refused with 403 nodes "bystander" is forbidden: User "jane" cannot get resource "nodes" in API group "" at the cluster scope

  @req:COM-02
  Rule: A review of access is not stored, and has no name

    Scenario Outline: A <kind> with a <field>
      When the user sends POST /apis/authorization.k8s.io/v1/<path>:
        """yaml
        apiVersion: authorization.k8s.io/v1
        kind: <kind>
        metadata: {<field>: x}
        spec: {user: jane, resourceAttributes: {verb: list, resource: pods, namespace: default}}
        """
      Then the request is refused with 422 <text>

      Examples:
        | kind                     | field        | path                                          | text                            |
        | SubjectAccessReview      | name         | subjectaccessreviews                          | must be empty                   |
        | SelfSubjectAccessReview  | generateName | selfsubjectaccessreviews                      | must be empty                   |
        | LocalSubjectAccessReview | name         | namespaces/default/localsubjectaccessreviews | must be empty except for namespace |

  @req:COM-02
  Rule: Without anonymous users, and with a token that nobody knows, the answer is 401

    Scenario: A kubelet whose token nobody knows gets no Node
      Given a machine "worker-1" with:
        | name        | value                                       |
        | kubeconfigs | {"/etc/kubernetes/kubelet.conf": "unknown"} |
      When 1m passes
      Then Node "worker-1" never appears for 2m

    Scenario Outline: With --anonymous-auth=<value> nobody in particular is <answer>
      Given kube-apiserver runs with:
        | flag           | value   |
        | anonymous-auth | <value> |
      When user "system:anonymous" sends GET <path>
      Then the request is <answer>

      Examples:
        | value | path          | answer                                                                                                                       |
        | true  | /api/v1/nodes | refused with 403 nodes is forbidden: User "system:anonymous" cannot list resource "nodes" in API group "" at the cluster scope |
        | true  | /healthz      | answered with 200                                                                                                            |
        | false | /api/v1/nodes | refused with 401 Unauthorized                                                                                                |
        | false | /healthz      | refused with 401 Unauthorized                                                                                                |
