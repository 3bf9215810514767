@core
Feature: A kubelet and what is not its own
  Source: plugin/pkg/auth/authorizer/node/node_authorizer.go (v1.31, v1.34)
  Source: plugin/pkg/admission/noderestriction/admission.go (v1.31, v1.34)

  @req:REG-11
  Rule: A kubelet creates and changes no other Node

    Scenario Outline: <method> <path>
      Given ready Nodes "worker-1", "worker-2"
      When the kubelet on "worker-1" sends <method> <path>:
        """
        <body>
        """
      Then the request is refused with 403 "nodes "<name>" is forbidden: <why>"
      And Node "worker-2" keeps condition Ready unchanged for 1m
      And nothing else about Node "worker-2" changes

      Examples:
        | method | path                           | name     | body                                                       | why                                                                                                                 |
        | PATCH  | /api/v1/nodes/worker-2         | worker-2 | metadata: {labels: {a: b}}                                 | node "worker-1" is not allowed to modify node "worker-2"                                                            |
        | PATCH  | /api/v1/nodes/worker-2/status  | worker-2 | status: {phase: Running}                                   | node "worker-1" is not allowed to modify node "worker-2"                                                            |
        | POST   | /api/v1/nodes                  | worker-3 | {apiVersion: v1, kind: Node, metadata: {name: worker-3}}   | node "worker-1" is not allowed to modify node "worker-3"                                                            |
        | DELETE | /api/v1/nodes/worker-2         | worker-2 | {}                                                         | User "system:node:worker-1" cannot delete resource "nodes" in API group "" at the cluster scope                     |
        | DELETE | /api/v1/nodes/worker-1         | worker-1 | {}                                                         | User "system:node:worker-1" cannot delete resource "nodes" in API group "" at the cluster scope                     |

    Scenario Outline: Of its own it changes anything but <what>
      Given a ready Node "worker-1"
      When the kubelet on "worker-1" sends PATCH /api/v1/nodes/worker-1:
        """
        <body>
        """
      Then the request is refused with 403 "nodes "worker-1" is forbidden: node "worker-1" is not allowed to <why>"
      And Node "worker-1" keeps condition Ready unchanged for 1m
      And nothing else about Node "worker-1" changes

      Examples:
        | what                   | body                                                                                              | why                                          |
        | its taints             | spec: {taints: [{key: a, effect: NoSchedule}]}                                                    | modify taints                                |
        | its taints, before all | {spec: {taints: [{key: a, effect: NoSchedule}]}, metadata: {labels: {k8s.io/x: v}}}               | modify taints                                |
        | its configuration      | spec: {configSource: {configMap: {name: a, namespace: default, kubeletConfigKey: x}}}             | update configSource to a new non-nil configSource |

    @since:1.32
    Scenario: Its owners it leaves alone too
      Given a ready Node "worker-1"
      When the kubelet on "worker-1" sends PATCH /api/v1/nodes/worker-1:
        """
        metadata: {ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: a, uid: "1"}]}
        """
      Then the request is refused with 403 "nodes "worker-1" is forbidden: node "worker-1" is not allowed to modify ownerReferences"

    Scenario: Cordoning itself is allowed
      Given a ready Node "worker-1"
      When the kubelet on "worker-1" sends PATCH /api/v1/nodes/worker-1:
        """
        spec: {unschedulable: true}
        """
      Then the request is answered with 200
      And Node "worker-1" has taint "node.kubernetes.io/unschedulable:NoSchedule" within 1s

  @req:REG-11
  Rule: It uses no other Lease and no other CSINode

    Scenario Outline: <method> <path>
      Given ready Nodes "worker-1", "worker-2"
      When the kubelet on "worker-1" sends <method> <path>
      Then the request is refused with 403 "<message>"
      And the Lease of Node "worker-2" is renewed every 10s to 10.4s for 1m

      @until:1.36
      Examples:
        | releases   | method | path                                                                     | message                                                                                                                                                                                                                                                                |
        | up to 1.36 | GET    | /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/worker-2  | leases.coordination.k8s.io "worker-2" is forbidden: User "system:node:worker-1" cannot get resource "leases" in API group "coordination.k8s.io" in the namespace "kube-node-lease": can only access node lease with the same name as the requesting node               |
        | up to 1.36 | DELETE | /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/worker-2  | leases.coordination.k8s.io "worker-2" is forbidden: User "system:node:worker-1" cannot delete resource "leases" in API group "coordination.k8s.io" in the namespace "kube-node-lease": can only access node lease with the same name as the requesting node            |
        | up to 1.36 | GET    | /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases           | leases.coordination.k8s.io is forbidden: User "system:node:worker-1" cannot list resource "leases" in API group "coordination.k8s.io" in the namespace "kube-node-lease": can only get, create, update, patch, or delete a node lease                                  |
        | up to 1.36 | GET    | /apis/coordination.k8s.io/v1/namespaces/default/leases/worker-1          | leases.coordination.k8s.io "worker-1" is forbidden: User "system:node:worker-1" cannot get resource "leases" in API group "coordination.k8s.io" in the namespace "default": can only access leases in the "kube-node-lease" system namespace                           |
        | up to 1.36 | GET    | /apis/storage.k8s.io/v1/csinodes/worker-2                                | csinodes.storage.k8s.io "worker-2" is forbidden: User "system:node:worker-1" cannot get resource "csinodes" in API group "storage.k8s.io" at the cluster scope: can only access CSINode with the same name as the requesting node                                      |

      @since:1.37
      Examples:
        | releases   | method | path                                                                     | message                                                                                                                                                                                                                                                                |
        | from 1.37  | GET    | /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/worker-2  | leases.coordination.k8s.io "worker-2" is forbidden: User "system:node:worker-1" cannot get resource "leases" in API group "coordination.k8s.io" in the namespace "kube-node-lease": node: can only access node lease with the same name as the requesting node               |
        | from 1.37  | DELETE | /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/worker-2  | leases.coordination.k8s.io "worker-2" is forbidden: User "system:node:worker-1" cannot delete resource "leases" in API group "coordination.k8s.io" in the namespace "kube-node-lease": node: can only access node lease with the same name as the requesting node            |
        | from 1.37  | GET    | /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases           | leases.coordination.k8s.io is forbidden: User "system:node:worker-1" cannot list resource "leases" in API group "coordination.k8s.io" in the namespace "kube-node-lease": node: can only get, create, update, patch, or delete a node lease                                  |
        | from 1.37  | GET    | /apis/coordination.k8s.io/v1/namespaces/default/leases/worker-1          | leases.coordination.k8s.io "worker-1" is forbidden: User "system:node:worker-1" cannot get resource "leases" in API group "coordination.k8s.io" in the namespace "default": node: can only access leases in the "kube-node-lease" system namespace                           |
        | from 1.37  | GET    | /apis/storage.k8s.io/v1/csinodes/worker-2                                | csinodes.storage.k8s.io "worker-2" is forbidden: User "system:node:worker-1" cannot get resource "csinodes" in API group "storage.k8s.io" at the cluster scope: node: can only access CSINode with the same name as the requesting node                                      |

    Scenario: A Lease of another name is not created
      Given a ready Node "worker-1"
      When the kubelet on "worker-1" sends POST /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases:
        """
        apiVersion: coordination.k8s.io/v1
        kind: Lease
        metadata: {name: worker-9, namespace: kube-node-lease}
        spec: {}
        """
      Then the request is refused with 403 "leases.coordination.k8s.io "worker-9" is forbidden: can only access node lease with the same name as the requesting node"

    Scenario: Its own it may delete; the next renewal makes it anew
      Given a ready Node "worker-1"
      When the kubelet on "worker-1" sends DELETE /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/worker-1
      Then the request is answered with 200
      And the Lease of Node "worker-1" exists between 1s and 21s
      And Node "worker-1" keeps condition Ready=True for 10m

  @req:REG-11
  Rule: It reads its own Node, its own Pods and what they name

    @since:1.32
    Scenario Outline: GET <path> since 1.32
      Given ready Nodes "worker-1", "worker-2"
      And a Pod "theirs" on Node "worker-2"
      When the kubelet on "worker-1" sends GET <path>
      Then the request is refused with 403 "<message>"

      @until:1.36
      Examples:
        | releases   | path                                                      | message                                                                                                                                                                                                               |
        | up to 1.36 | /api/v1/nodes/worker-2                                    | nodes "worker-2" is forbidden: User "system:node:worker-1" cannot get resource "nodes" in API group "" at the cluster scope: node 'worker-1' cannot read 'worker-2', only its own Node object                         |
        | up to 1.36 | /api/v1/nodes                                             | nodes is forbidden: User "system:node:worker-1" cannot list resource "nodes" in API group "" at the cluster scope: node 'worker-1' cannot read all nodes, only its own Node object                                    |
        | up to 1.36 | /api/v1/pods                                              | pods is forbidden: User "system:node:worker-1" cannot list resource "pods" in API group "" at the cluster scope: can only list/watch pods with spec.nodeName field selector                                           |
        | up to 1.36 | /api/v1/pods?fieldSelector=spec.nodeName=worker-2         | pods is forbidden: User "system:node:worker-1" cannot list resource "pods" in API group "" at the cluster scope: can only list/watch pods with spec.nodeName field selector                                           |
        | up to 1.36 | /api/v1/namespaces/default/pods/theirs                    | pods "theirs" is forbidden: User "system:node:worker-1" cannot get resource "pods" in API group "" in the namespace "default": no relationship found between node 'worker-1' and this object                          |

      @since:1.37
      Examples:
        | releases   | path                                                      | message                                                                                                                                                                                                               |
        | from 1.37  | /api/v1/nodes/worker-2                                    | nodes "worker-2" is forbidden: User "system:node:worker-1" cannot get resource "nodes" in API group "" at the cluster scope: node: node 'worker-1' cannot read 'worker-2', only its own Node object                         |
        | from 1.37  | /api/v1/nodes                                             | nodes is forbidden: User "system:node:worker-1" cannot list resource "nodes" in API group "" at the cluster scope: node: node 'worker-1' cannot read all nodes, only its own Node object                                    |
        | from 1.37  | /api/v1/pods                                              | pods is forbidden: User "system:node:worker-1" cannot list resource "pods" in API group "" at the cluster scope: node: can only list/watch pods with spec.nodeName field selector                                           |
        | from 1.37  | /api/v1/pods?fieldSelector=spec.nodeName=worker-2         | pods is forbidden: User "system:node:worker-1" cannot list resource "pods" in API group "" at the cluster scope: node: can only list/watch pods with spec.nodeName field selector                                           |
        | from 1.37  | /api/v1/namespaces/default/pods/theirs                    | pods "theirs" is forbidden: User "system:node:worker-1" cannot get resource "pods" in API group "" in the namespace "default": node: no relationship found between node 'worker-1' and this object                          |

    @until:1.31
    Scenario Outline: GET <path> until 1.31
      Given ready Nodes "worker-1", "worker-2"
      And a Pod "theirs" on Node "worker-2"
      When the kubelet on "worker-1" sends GET <path>
      Then the request is answered with 200

      Examples:
        | path                                                |
        | /api/v1/nodes/worker-2                              |
        | /api/v1/nodes                                       |
        | /api/v1/pods?fieldSelector=spec.nodeName=worker-2   |
        | /api/v1/namespaces/default/pods/theirs              |

    Scenario Outline: A secret or ConfigMap that no Pod of its names: <path>
      Given ready Nodes "worker-1", "worker-2"
      And the objects:
        """
        apiVersion: v1
        kind: Secret
        metadata: {name: unbound, namespace: default}
        ---
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: unbound, namespace: default}
        """
      When the kubelet on "worker-1" sends GET <path>
      Then the request is refused with 403 "<message>"

      @until:1.36
      Examples:
        | releases   | path                                           | message                                                                                                                                                                                                                 |
        | up to 1.36 | /api/v1/namespaces/default/secrets/unbound     | secrets "unbound" is forbidden: User "system:node:worker-1" cannot get resource "secrets" in API group "" in the namespace "default": no relationship found between node 'worker-1' and this object                     |
        | up to 1.36 | /api/v1/namespaces/default/configmaps/unbound  | configmaps "unbound" is forbidden: User "system:node:worker-1" cannot get resource "configmaps" in API group "" in the namespace "default": no relationship found between node 'worker-1' and this object               |
        | up to 1.36 | /api/v1/namespaces/default/secrets             | secrets is forbidden: User "system:node:worker-1" cannot list resource "secrets" in API group "" in the namespace "default": No Object name found                                                                       |
        | up to 1.36 | /api/v1/persistentvolumes/x                    | persistentvolumes "x" is forbidden: User "system:node:worker-1" cannot get resource "persistentvolumes" in API group "" at the cluster scope: no relationship found between node 'worker-1' and this object             |
        | up to 1.36 | /api/v1/namespaces/default/events              | events is forbidden: User "system:node:worker-1" cannot list resource "events" in API group "" in the namespace "default"                                                                                               |

      @since:1.37
      Examples:
        | releases   | path                                           | message                                                                                                                                                                                                                 |
        | from 1.37  | /api/v1/namespaces/default/secrets/unbound     | secrets "unbound" is forbidden: User "system:node:worker-1" cannot get resource "secrets" in API group "" in the namespace "default": node: no relationship found between node 'worker-1' and this object                     |
        | from 1.37  | /api/v1/namespaces/default/configmaps/unbound  | configmaps "unbound" is forbidden: User "system:node:worker-1" cannot get resource "configmaps" in API group "" in the namespace "default": node: no relationship found between node 'worker-1' and this object               |
        | from 1.37  | /api/v1/namespaces/default/secrets             | secrets is forbidden: User "system:node:worker-1" cannot list resource "secrets" in API group "" in the namespace "default": node: No Object name found                                                                       |
        | from 1.37  | /api/v1/persistentvolumes/x                    | persistentvolumes "x" is forbidden: User "system:node:worker-1" cannot get resource "persistentvolumes" in API group "" at the cluster scope: node: no relationship found between node 'worker-1' and this object             |
        | from 1.37  | /api/v1/namespaces/default/events              | events is forbidden: User "system:node:worker-1" cannot list resource "events" in API group "" in the namespace "default"                                                                                               |

    Scenario Outline: <node> and the secret of a Pod on worker-1
      Given ready Nodes "worker-1", "worker-2"
      And the objects:
        """
        apiVersion: v1
        kind: Secret
        metadata: {name: bound, namespace: default}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: mine, namespace: default}
        spec:
          nodeName: worker-1
          containers: [{name: c, image: "registry.example/app:1.0"}]
          volumes: [{name: s, secret: {secretName: bound}}]
        """
      When the kubelet on "<node>" sends GET /api/v1/namespaces/default/secrets/bound
      Then the request is <what> with <code>

      Examples:
        | node     | what     | code |
        | worker-1 | answered | 200  |
        | worker-2 | refused  | 403  |

  @req:REG-11
  Rule: It deletes, evicts and reports on its own Pods alone, and creates mirror Pods alone

    Scenario Outline: <method> <path>
      Given ready Nodes "worker-1", "worker-2"
      And a Pod "theirs" on Node "worker-2"
      When the kubelet on "worker-1" sends <method> <path>:
        """
        <body>
        """
      Then the request is refused with 403 "pods "theirs" is forbidden: <why>"
      And Pod "theirs" stays for 1m

      Examples:
        | method | path                                              | body                                                                          | why                                                                                                       |
        | DELETE | /api/v1/namespaces/default/pods/theirs            | {}                                                                            | node "worker-1" can only delete pods with spec.nodeName set to itself                                     |
        | POST   | /api/v1/namespaces/default/pods/theirs/eviction   | {apiVersion: policy/v1, kind: Eviction, metadata: {name: theirs}}             | node worker-1 can only evict pods with spec.nodeName set to itself                                        |
        | PATCH  | /api/v1/namespaces/default/pods/theirs/status     | status: {message: x}                                                          | node "worker-1" can only update pod status for pods with spec.nodeName set to itself                      |
        | PATCH  | /api/v1/namespaces/default/pods/theirs            | metadata: {labels: {a: b}}                                                    | User "system:node:worker-1" cannot patch resource "pods" in API group "" in the namespace "default"       |
        | POST   | /api/v1/namespaces/default/pods/theirs/binding    | {apiVersion: v1, kind: Binding, metadata: {name: theirs}, target: {name: worker-1}} | User "system:node:worker-1" cannot create resource "pods/binding" in API group "" in the namespace "default" |

    Scenario Outline: A new Pod <what>
      Given ready Nodes "worker-1", "worker-2"
      When the kubelet on "worker-1" sends POST /api/v1/namespaces/default/pods:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: m, namespace: default, annotations: <annotations>, ownerReferences: <owners>}
        spec: {nodeName: <node>, containers: [{name: c, image: i}]}
        """
      Then the request is refused with 403 "pods "m" is forbidden: <why>"

      Examples:
        | what                            | node     | annotations                       | owners                                                                                                                                                  | why                                                                                                                    |
        | that is no mirror               | worker-1 | {}                                | []                                                                                                                                                      | pod does not have "kubernetes.io/config.mirror" annotation, node "worker-1" can only create mirror pods                |
        | on another node                 | worker-2 | {kubernetes.io/config.mirror: x}  | []                                                                                                                                                      | node "worker-1" can only create pods with spec.nodeName set to itself                                                  |
        | without an owner                | worker-1 | {kubernetes.io/config.mirror: x}  | []                                                                                                                                                      | node "worker-1" can only create pods with an owner reference set to itself                                             |
        | with another owner              | worker-1 | {kubernetes.io/config.mirror: x}  | [{apiVersion: v1, kind: Node, name: worker-2, uid: u, controller: true}]                                                                                | node "worker-1" can only create pods with an owner reference set to itself                                             |
        | with two owners                 | worker-1 | {kubernetes.io/config.mirror: x}  | [{apiVersion: v1, kind: Node, name: worker-1, uid: u, controller: true}, {apiVersion: v1, kind: ConfigMap, name: a, uid: b}]                            | node "worker-1" can only create pods with a single owner reference set to itself                                       |
        | whose owner is not controller   | worker-1 | {kubernetes.io/config.mirror: x}  | [{apiVersion: v1, kind: Node, name: worker-1, uid: u}]                                                                                                  | node "worker-1" can only create pods with a controller owner reference set to itself                                   |
        | that would block its owner      | worker-1 | {kubernetes.io/config.mirror: x}  | [{apiVersion: v1, kind: Node, name: worker-1, uid: u, controller: true, blockOwnerDeletion: true}]                                                      | node "worker-1" must not set blockOwnerDeletion on an owner reference                                                  |
        | of another Node of that name    | worker-1 | {kubernetes.io/config.mirror: x}  | [{apiVersion: v1, kind: Node, name: worker-1, uid: wrong, controller: true}]                                                                            | node worker-1 UID mismatch: expected wrong got                                                                         |

    Scenario: A token is bound to a Pod
      Given a ready Node "worker-1"
      And the objects:
        """
        apiVersion: v1
        kind: ServiceAccount
        metadata: {name: robot, namespace: default}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: mine, namespace: default}
        spec: {nodeName: worker-1, serviceAccountName: robot, containers: [{name: c, image: i}]}
        """
      When the kubelet on "worker-1" sends POST /api/v1/namespaces/default/serviceaccounts/robot/token:
        """
        apiVersion: authentication.k8s.io/v1
        kind: TokenRequest
        spec: {}
        """
      Then the request is refused with 403 "serviceaccounts "robot" is forbidden: node requested token not bound to a pod"
