@core
Feature: Objects of all kinds that can be deleted are owners and dependents
  Source: pkg/controller/garbagecollector/garbagecollector.go (v1.34), GetDeletableResources

  Rule: An object whose owner is gone is deleted, whatever its kind

    Scenario Outline: A <kind> that a ConfigMap owned
      When the user creates:
        """yaml
        apiVersion: <version>
        kind: <kind>
        metadata:
          name: left
          ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: nobody, uid: 11111111-2222-3333-4444-555555555555}]
        <rest>
        """
      Then <kind> "left" is gone within 5s

      Examples:
        | version                      | kind          | rest                                                                |
        | v1                           | LimitRange    | spec: {limits: [{type: Container, max: {cpu: 1}}]}                  |
        | v1                           | ResourceQuota | spec: {hard: {pods: 9}}                                             |
        | networking.k8s.io/v1         | Ingress       | spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}  |
        | networking.k8s.io/v1         | NetworkPolicy | spec: {podSelector: {}}                                             |
        | rbac.authorization.k8s.io/v1 | Role          | rules: []                                                           |

    Scenario Outline: A ConfigMap that a <kind> owned
      When the user creates:
        """yaml
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: left
          ownerReferences: [{apiVersion: <version>, kind: <kind>, name: nobody, uid: 11111111-2222-3333-4444-555555555555}]
        """
      Then ConfigMap "left" is gone within 5s

      Examples:
        | version                      | kind         |
        | v1                           | Namespace    |
        | networking.k8s.io/v1         | Ingress      |
        | rbac.authorization.k8s.io/v1 | ClusterRole  |
        | storage.k8s.io/v1            | StorageClass |

  Rule: An object that is deleted with its dependents, or without them, goes when these are done, whatever its kind

    Scenario Outline: A <kind> without dependents is deleted, <policy>
      Given the objects:
        """yaml
        apiVersion: <version>
        kind: <kind>
        metadata: {name: alone}
        <rest>
        """
      When the user sends DELETE /apis/<version>/<path>/alone?propagationPolicy=<policy>
      Then the request is answered with 200
      And <kind> "alone" is gone within 5s

      Examples:
        | version                      | kind        | path                         | policy     | rest                                                               |
        | networking.k8s.io/v1         | Ingress     | namespaces/default/ingresses | Foreground | spec: {defaultBackend: {service: {name: web, port: {number: 80}}}} |
        | networking.k8s.io/v1         | Ingress     | namespaces/default/ingresses | Orphan     | spec: {defaultBackend: {service: {name: web, port: {number: 80}}}} |
        | rbac.authorization.k8s.io/v1 | ClusterRole | clusterroles                 | Foreground | rules: []                                                          |
