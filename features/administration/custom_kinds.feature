@extended @sim-only:instants
Feature: Custom kinds are known by their definitions, and their objects go the way of all others
  Source: k8s.io/apiextensions-apiserver pkg/apiserver/customresource_handler.go (v1.34)

  Rule: A definition among the given objects makes a kind known, in a namespace or without one

    Scenario: A custom object is changed
      Given a ready Node "worker-1"
      And the objects:
        """yaml
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata: {name: widgets.example.com}
        spec:
          group: example.com
          scope: Namespaced
          names: {plural: widgets, kind: Widget}
          versions:
            - name: v1
              served: true
              storage: true
              schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
        ---
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata: {name: mice.example.com}
        spec:
          group: example.com
          scope: Cluster
          names: {plural: mice, kind: Mouse}
          versions:
            - name: v1
              served: true
              storage: true
              schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
        ---
        apiVersion: example.com/v1
        kind: Widget
        metadata: {name: one}
        spec: {size: 1}
        ---
        apiVersion: example.com/v1
        kind: Mouse
        metadata: {name: jerry}
        spec: {colour: brown}
        """
      When the user sends PATCH /apis/example.com/v1/namespaces/default/widgets/one:
        """yaml
        spec: {size: 2}
        """
      Then the request is answered with 200
      And Widget "one" field spec.size is "2" within 1s
      And Widget "one" field metadata.generation is "2" within 1s
      But Mouse "jerry" keeps field spec.colour at "brown" for 10s
