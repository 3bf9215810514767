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

  Rule: A null that may not be one counts as absent, and what has no kind is nothing

    Scenario Outline: <what>
      Given the objects:
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
              schema:
                openAPIV3Schema:
                  type: object
                  properties:
                    spec:
                      type: object
                      properties:
                        size: {type: integer}
                        mode: {type: string, default: fast}
                        labels: {type: object, additionalProperties: {type: string, default: none}}
                        steps: {type: array, items: {type: integer}}
                        port:
                          x-kubernetes-int-or-string: true
                          anyOf: [{type: integer}, {type: string}]
                        level: {type: integer, enum: [1, 2]}
        """
      When the user sends POST /apis/example.com/v1/namespaces/default/widgets:
        """yaml
        {apiVersion: example.com/v1, <kind>metadata: {name: one}, spec: <spec>}
        """
      Then the request is <answered>

      Examples:
        | what                               | kind          | spec              | answered                                                                                                                                   |
        | A number or a text that is neither | kind: Widget, | {port: true}      | refused with 422 spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean", <nil>: Invalid value: "": "spec.port" must validate at least one schema (anyOf), spec.port: Invalid value: "boolean": spec.port in body must be of type integer: "boolean" |
        | A number that is not allowed       | kind: Widget, | {level: 3}        | refused with 422 spec.level: Unsupported value: 3: supported values: "1", "2"                                                             |
        | A text in its place                | kind: Widget, | {level: x}        | refused with 422 spec.level: Invalid value: "string": spec.level in body must be of type integer: "string", spec.level: Unsupported value: "x": supported values: "1", "2" |
        | A null in a list                   | kind: Widget, | {steps: [1, ~]}   | refused with 422 spec.steps[1]: Invalid value: "null": spec.steps[1] in body must be of type integer: "null"                               |
        | An object without a kind           |               | {size: 1}         | refused with 400 Widget in version "v1" cannot be handled as a Widget: Object 'Kind' is missing in '{"apiVersion":"example.com/v1"         |
        | A null                             | kind: Widget, | {size: ~}         | answered with 201                                                                                                                          |

    Scenario: Nulls go, or become what is the default
      Given the objects:
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
              schema:
                openAPIV3Schema:
                  type: object
                  properties:
                    spec:
                      type: object
                      properties:
                        size: {type: integer}
                        mode: {type: string, default: fast}
                        labels: {type: object, additionalProperties: {type: string, default: none}}
                        free: {type: string, nullable: true}
        ---
        apiVersion: example.com/v1
        kind: Widget
        metadata: {name: one}
        spec: {size: ~, mode: ~, labels: {a: ~}, free: ~}
        """
      When nothing is done
      Then Widget "one" keeps field spec.mode at fast for 10s
      And Widget "one" keeps field spec.labels.a at none for 10s
      And Widget "one" keeps field spec.size absent for 10s
