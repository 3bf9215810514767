@core
Feature: What the API server makes of requests about Pods and Nodes
  Source: staging/src/k8s.io/apiserver/pkg/registry/rest/delete.go (v1.34), BeforeDelete
  Source: pkg/registry/core/pod/storage/storage.go (v1.34), BindingREST

  Rule: A deletion waits for finalizers and for the node, and never grows longer

    Background:
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1"

    Scenario: A Pod with a finalizer stays, even at a grace period of 0
      Given the user sends PATCH /api/v1/namespaces/default/pods/web:
        """
        metadata: {finalizers: [example.com/wait]}
        """
      When the user sends DELETE /api/v1/namespaces/default/pods/web?gracePeriodSeconds=0
      Then Pod "web" is terminating at once
      And Pod "web" stays terminating for 60s

    Scenario: A second deletion with a longer grace period changes nothing
      Given the user sends DELETE /api/v1/namespaces/default/pods/web?gracePeriodSeconds=20
      When the user sends DELETE /api/v1/namespaces/default/pods/web?gracePeriodSeconds=60
      Then the request is answered with 200
      And Pod "web" keeps field metadata.deletionGracePeriodSeconds at 20 for 10s
      And nothing else about Pod "web" changes

    Scenario: A second deletion with a shorter grace period shortens the first
      Given the user sends DELETE /api/v1/namespaces/default/pods/web?gracePeriodSeconds=60
      When the user sends DELETE /api/v1/namespaces/default/pods/web?gracePeriodSeconds=20
      Then Pod "web" field metadata.deletionGracePeriodSeconds is 20 at once

    Scenario: It is bound and cannot be bound again, not even to the same node
      When the user sends POST /api/v1/namespaces/default/pods/web/binding:
        """
        {kind: Binding, apiVersion: v1, metadata: {name: web}, target: {kind: Node, name: worker-1}}
        """
      Then the request is refused with 409, "pod web is already assigned to node"

    Scenario: The time of a toleration may change, and nothing else of it
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web:
        """
        spec:
          tolerations:
            - {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 9}
            - {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 9}
        """
      Then the request is answered with 200
      And Pod "web" field spec.tolerations[0].tolerationSeconds is 9 at once

    @since:1.33
    Scenario: New labels are no new generation
      When the user sends PATCH /api/v1/namespaces/default/pods/web:
        """
        metadata: {labels: {a: b}}
        """
      Then Pod "web" has label "a=b" at once
      And Pod "web" keeps field metadata.generation unchanged for 10s

  Rule: What nobody runs goes at once

    Scenario: A Pod without a node is deleted
      Given the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec: {schedulerName: nobody, containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      When the user deletes Pod "web"
      Then Pod "web" is gone at once

  Rule: What may not be is refused

    Scenario: tolerationSeconds without NoExecute
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          tolerations: [{key: a, operator: Exists, effect: NoSchedule, tolerationSeconds: 5}]
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      Then the request is refused with 422, "effect must be 'NoExecute' when `tolerationSeconds` is set"

    Scenario: Another podCIDR
      Given the object:
        """
        {kind: Node, apiVersion: v1, metadata: {name: worker-1}, spec: {podCIDR: 10.9.0.0/24}}
        """
      When the user sends PATCH /api/v1/nodes/worker-1:
        """
        spec: {podCIDR: 10.9.1.0/24, podCIDRs: [10.9.1.0/24]}
        """
      Then the request is refused with 422, "node updates may not change podCIDR except from"

    Scenario: A Pod in a namespace that ends
      Given the objects:
        """
        {kind: Namespace, apiVersion: v1, metadata: {name: team}}
        ---
        kind: Pod
        apiVersion: v1
        metadata: {name: old, namespace: team, finalizers: [example.com/wait]}
        spec: {schedulerName: nobody, containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      And the user sends DELETE /api/v1/namespaces/team
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: new, namespace: team}
        spec: {schedulerName: nobody, containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      Then the request is refused with 403, "unable to create new content in namespace team because it is being terminated"

    Scenario: The not-ready taint is not added twice to a new Node
      When the user creates:
        """
        kind: Node
        apiVersion: v1
        metadata: {name: worker-1}
        spec: {taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}]}
        """
      Then the request is answered with 201

  Rule: An Ingress that names no class gets the default one, of several the newest and then the first by name

    Source: plugin/pkg/admission/network/defaultingressclass/admission.go (v1.34)

    Scenario: Three Ingresses
      Given the objects:
        """yaml
        apiVersion: networking.k8s.io/v1
        kind: IngressClass
        metadata: {name: a, annotations: {ingressclass.kubernetes.io/is-default-class: "true"}}
        spec: {controller: example.com/a}
        """
      And 5s pass
      And the objects:
        """yaml
        apiVersion: networking.k8s.io/v1
        kind: IngressClass
        metadata: {name: c, annotations: {ingressclass.kubernetes.io/is-default-class: "true"}}
        spec: {controller: example.com/c}
        ---
        apiVersion: networking.k8s.io/v1
        kind: IngressClass
        metadata: {name: b, annotations: {ingressclass.kubernetes.io/is-default-class: "true"}}
        spec: {controller: example.com/b}
        ---
        apiVersion: networking.k8s.io/v1
        kind: IngressClass
        metadata: {name: "0", annotations: {ingressclass.kubernetes.io/is-default-class: "false"}}
        spec: {controller: example.com/none}
        """
      When the user creates:
        """yaml
        apiVersion: networking.k8s.io/v1
        kind: Ingress
        metadata: {name: bare}
        spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}
        ---
        apiVersion: networking.k8s.io/v1
        kind: Ingress
        metadata: {name: named}
        spec: {ingressClassName: a, defaultBackend: {service: {name: web, port: {number: 80}}}}
        ---
        apiVersion: networking.k8s.io/v1
        kind: Ingress
        metadata: {name: noted, annotations: {kubernetes.io/ingress.class: own}}
        spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}
        """
      Then Ingress "bare" keeps field spec.ingressClassName at b for 10s
      And Ingress "named" keeps field spec.ingressClassName at a for 10s
      And Ingress "noted" keeps field spec.ingressClassName absent for 10s

  @since:1.33
  Rule: An IPAddress has the address for its name

    Scenario Outline: <name>
      When the user sends POST /apis/networking.k8s.io/v1/ipaddresses:
        """yaml
        apiVersion: networking.k8s.io/v1
        kind: IPAddress
        metadata: {name: "<name>"}
        spec: {parentRef: {resource: services, namespace: default, name: web}}
        """
      Then the request is <answered>

      Examples:
        | name           | answered                                                                                                                |
        | 2001:db8::1    | answered with 201                                                                                                       |
        | 10.96.0.77     | answered with 201                                                                                                       |
        | 2001:DB8::1    | refused with 422 metadata.name: Invalid value: "2001:DB8::1": must be in canonical form ("2001:db8::1")                 |
        | web            | refused with 422 metadata.name: Invalid value: "web": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)     |
