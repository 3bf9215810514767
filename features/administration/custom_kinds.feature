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
        | An object without a kind           |               | {size: 1}         | refused with 400 the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '{"apiVersion":"example.com/v1" |
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

  Rule: A definition that says what no schema may is refused

    Scenario Outline: <what>
      When the user sends POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions:
        """yaml
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata: {name: widgets.<group>}
        spec:
          group: <group>
          scope: Namespaced
          names: {plural: widgets, kind: <kind>, shortNames: [<short>]}
          versions:
            - name: <version>
              served: true
              storage: true
              schema: {openAPIV3Schema: {type: object, properties: {w: <schema>}}}
              <more>
        """
      Then the request is refused with 422 <text>

      Examples:
        | what                                | group        | kind   | short | version | schema                                                       | more                                                                              | text                                                                                                                                                                                      |
        | A list without items                | example.com  | Widget | w     | v1      | {type: array}                                                |                                                                                   | spec.validation.openAPIV3Schema.properties[w].items: Required value: must be specified                                                                                                    |
        | A place without a type              | example.com  | Widget | w     | v1      | {description: x}                                             |                                                                                   | spec.validation.openAPIV3Schema.properties[w].type: Required value: must not be empty for specified object fields                                                                         |
        | A map of lists without a key        | example.com  | Widget | w     | v1      | {type: array, items: {type: object}, x-kubernetes-list-type: map} |                                                                              | spec.validation.openAPIV3Schema.properties[w].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map                                              |
        | A kind that begins with a number    | example.com  | 1st    | w     | v1      | {type: string}                                               |                                                                                   | spec.names.kind: Invalid value: "1st": may have mixed case, but should otherwise match: a DNS-1035 label must consist of                                                                  |
        | A short name in capitals            | example.com  | Widget | W     | v1      | {type: string}                                               |                                                                                   | spec.names.shortNames[0]: Invalid value: "W": a DNS-1035 label must consist of                                                                                                            |
        | A version in capitals               | example.com  | Widget | w     | V1      | {type: string}                                               |                                                                                   | spec.version: Invalid value: "V1": a DNS-1035 label must consist of                                                                                                                       |
        | A column of no type that there is   | example.com  | Widget | w     | v1      | {type: string}                                               | additionalPrinterColumns: [{name: W, type: text, jsonPath: .w}]                   | spec.additionalPrinterColumns[0].type: Invalid value: "text": must be one of boolean,date,integer,number,string                                                                            |
        | A column without a dot              | example.com  | Widget | w     | v1      | {type: string}                                               | additionalPrinterColumns: [{name: W, type: string, jsonPath: w}]                  | spec.additionalPrinterColumns[0].JSONPath: Invalid value: "w": must be a simple json path starting with .                                                                                 |
        | A scale that is not in the spec     | example.com  | Widget | w     | v1      | {type: string}                                               | subresources: {scale: {specReplicasPath: .w, statusReplicasPath: .status.w}}      | spec.subresources.scale.specReplicasPath: Invalid value: ".w": should be a json path under .spec                                                                                          |
        | A group of the project              | x.k8s.io     | Widget | w     | v1      | {type: string}                                               |                                                                                   | metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111 |

  Rule: Names that are free are accepted, and the others once they are

    Scenario: Two definitions want one kind
      Given the objects:
        """yaml
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata: {name: widgets.example.com}
        spec:
          group: example.com
          scope: Namespaced
          names: {plural: widgets, kind: Widget}
          versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
        """
      When the user creates:
        """yaml
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata: {name: gadgets.example.com}
        spec:
          group: example.com
          scope: Namespaced
          names: {plural: gadgets, kind: Widget}
          versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
        """
      Then CustomResourceDefinition "gadgets.example.com" field status.conditions[0].reason is ListKindConflict within 1s
      And CustomResourceDefinition "gadgets.example.com" field status.conditions[1].reason is NotAccepted within 1s
      And CustomResourceDefinition "gadgets.example.com" field status.acceptedNames.plural is gadgets within 1s
      And CustomResourceDefinition "gadgets.example.com" keeps field status.acceptedNames.singular absent for 10s
      When the user sends DELETE /apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com
      Then CustomResourceDefinition "gadgets.example.com" field status.conditions[1].reason is InitialNamesAccepted within 1s
      And CustomResourceDefinition "gadgets.example.com" field status.acceptedNames.kind is Widget within 1s
