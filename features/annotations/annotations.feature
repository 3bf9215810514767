@core
Feature: Annotations
  Source: k8s.io/apimachinery pkg/api/validation/objectmeta.go (v1.34), ValidateAnnotations, ValidateAnnotationsSize
  Source: pkg/apis/core/validation/validation.go (v1.34), ValidatePodSpecificAnnotations, ValidateAvoidPodsInNodeAnnotations

  Background:
    Given no other Node
    And the objects:
      """yaml
      {apiVersion: v1, kind: Node, metadata: {name: worker-1, annotations: {example.com/kept: "1"}}}
      """

  @req:ANN-01
  Rule: Keys are as those of labels, but for capitals in the prefix; values are any text

    Scenario Outline: <what>
      When the user sends PATCH /api/v1/nodes/worker-1:
        """yaml
        metadata: {annotations: {"<key>": '<value>'}}
        """
      Then the request is answered with 200
      And Node "worker-1" field metadata.annotations["<key>"] is set at once
      And Node "worker-1" keeps field metadata.annotations["example.com/kept"] "1" for 1s

      Examples:
        | what                            | key                                                             | value                                                                            |
        | No value                        | note                                                            |                                                                                  |
        | A name of 63 letters            | kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk | x                                                                                |
        | A prefix                        | example.com/rack                                                | x                                                                                |
        | A prefix with capitals          | Example.com/rack                                                | x                                                                                |
        | A value that no label has       | note                                                            | a b/c: {"d": [1, 2]}                                                             |
        | A value that is not ASCII       | note                                                            | größer                                                                           |
        | A value of more than 63 letters | note                                                            | vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv |

    Scenario Outline: Refused: <what>
      When the user sends PATCH /api/v1/nodes/worker-1:
        """yaml
        metadata: {annotations: {"<key>": x}}
        """
      Then the request is refused with 422 metadata.annotations: Invalid value: "<key>": <message>
      And Node "worker-1" keeps field metadata.annotations["example.com/kept"] "1" for 1s

      Examples:
        | what                        | key                                                              | message                                                                                                                   |
        | A mark before it            | -a                                                               | name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character |
        | A blank in it               | a b                                                              | name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character |
        | Nothing before the slash    | /x                                                               | prefix part must be non-empty                                                                                             |
        | An underscore in the prefix | my_org/x                                                         | prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'                 |
        | A name of 64 letters        | kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk | name part must be no more than 63                                                                                         |

    Scenario Outline: A value is text: <value> is refused
      When the user sends POST /api/v1/nodes:
        """yaml
        apiVersion: v1
        kind: Node
        metadata: {name: worker-2, annotations: {number: <value>}}
        """
      Then the request is refused with 400 Node in version "v1" cannot be handled as a Node: json: cannot unmarshal <type> into Go struct field ObjectMeta.metadata.annotations of type string

      Examples:
        | value  | type   |
        | 7      | number |
        | true   | bool   |
        | [a]    | array  |
        | {a: b} | object |

    Scenario: An annotation that is set to null is taken off
      When the user sends PATCH /api/v1/nodes/worker-1:
        """yaml
        metadata: {annotations: {example.com/kept: null}}
        """
      Then the request is answered with 200
      And Node "worker-1" field metadata.annotations["example.com/kept"] is absent at once

  @req:ANN-01
  Rule: All keys and values have 256 KiB together

    Scenario Outline: <bytes> bytes are <what>
      When the user sends POST /api/v1/namespaces/default/configmaps:
        """yaml
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: large
          annotations: {
            n000: &large "vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv\
              vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv\
              vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv\
              vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv\
              vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv\
              vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv\
              vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv\
              vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv\
              vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv\
              vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv\
              vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv\
              vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv\
              vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv\
              vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv\
              vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv\
              vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv\
              vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv\
              vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv\
              vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv\
              vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv\
              vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv\
              vvvv",
            n001: *large, n002: *large, n003: *large, n004: *large, n005: *large, n006: *large, n007: *large, n008: *large,
            n009: *large, n010: *large, n011: *large, n012: *large, n013: *large, n014: *large, n015: *large, n016: *large,
            n017: *large, n018: *large, n019: *large, n020: *large, n021: *large, n022: *large, n023: *large, n024: *large,
            n025: *large, n026: *large, n027: *large, n028: *large, n029: *large, n030: *large, n031: *large, n032: *large,
            n033: *large, n034: *large, n035: *large, n036: *large, n037: *large, n038: *large, n039: *large, n040: *large,
            n041: *large, n042: *large, n043: *large, n044: *large, n045: *large, n046: *large, n047: *large, n048: *large,
            n049: *large, n050: *large, n051: *large, n052: *large, n053: *large, n054: *large, n055: *large, n056: *large,
            n057: *large, n058: *large, n059: *large, n060: *large, n061: *large, n062: *large, n063: *large, n064: *large,
            n065: *large, n066: *large, n067: *large, n068: *large, n069: *large, n070: *large, n071: *large, n072: *large,
            n073: *large, n074: *large, n075: *large, n076: *large, n077: *large, n078: *large, n079: *large, n080: *large,
            n081: *large, n082: *large, n083: *large, n084: *large, n085: *large, n086: *large, n087: *large, n088: *large,
            n089: *large, n090: *large, n091: *large, n092: *large, n093: *large, n094: *large, n095: *large, n096: *large,
            n097: *large, n098: *large, n099: *large, n100: *large, n101: *large, n102: *large, n103: *large, n104: *large,
            n105: *large, n106: *large, n107: *large, n108: *large, n109: *large, n110: *large, n111: *large, n112: *large,
            n113: *large, n114: *large, n115: *large, n116: *large, n117: *large, n118: *large, n119: *large, n120: *large,
            n121: *large, n122: *large, n123: *large, n124: *large, n125: *large, n126: *large, n127: *large<more>}
        """
      Then the request is <answer>
      When the user sends GET /api/v1/namespaces/default/configmaps?fieldSelector=metadata.name%3Dlarge
      Then the answer lists <names>

      Examples:
        | bytes  | what    | more    | answer                                                                                                           | names   |
        | 262144 | taken   |         | answered with 201                                                                                                | "large" |

      @since:1.32
      Examples:
        | bytes  | what    | more    | answer                                                                                                           | names   |
        | 262145 | refused | , x: "" | refused with 422 ConfigMap "large" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes | nothing |

      @until:1.31
      Examples:
        | bytes  | what    | more    | answer                                                                                                           | names   |
        | 262145 | refused | , x: "" | refused with 422 ConfigMap "large" is invalid: metadata.annotations: Too long: must have at most 262144 bytes | nothing |

  @req:ANN-01
  Rule: Nothing is selected by an annotation

    Scenario: As a label it selects nothing
      When the user sends GET /api/v1/nodes?labelSelector=example.com%2Fkept%3D1
      Then the answer lists nothing

    Scenario: As a field it is refused
      When the user sends GET /api/v1/nodes?fieldSelector=metadata.annotations%3D1
      Then the request is refused with 400 field label not supported: metadata.annotations

  @req:ANN-01
  Rule: Those that Kubernetes reads are checked

    Scenario Outline: Pods to keep away from a Node: <annotation>
      When the user sends PATCH /api/v1/nodes/worker-1:
        """yaml
        metadata: {annotations: {scheduler.alpha.kubernetes.io/preferAvoidPods: '<annotation>'}}
        """
      Then the request is refused with 422 metadata.annotations.<message>
      And Node "worker-1" field metadata.annotations["scheduler.alpha.kubernetes.io/preferAvoidPods"] is absent at once

      Examples:
        | annotation                                                                                                                                                        | message                                                                                                                                  |
        | {"preferAvoidPods": [{"podSignature": {}}]}                                                                                                                       | scheduler.alpha.kubernetes.io/preferAvoidPods[0].PodSignature: Required value                                                            |
        | {"preferAvoidPods": [{"podSignature": {"podController": {"kind": "ReplicationController", "name": "foo", "uid": "1", "apiVersion": "v1", "controller": false}}}]} | scheduler.alpha.kubernetes.io/preferAvoidPods[0].PodSignature.PodController.Controller: Invalid value: false: must point to a controller |
        | none                                                                                                                                                              | AvoidPods: Invalid value: "scheduler.alpha.kubernetes.io/preferAvoidPods": invalid character 'o' in literal null (expecting 'u')         |

    Scenario: One that names a controller
      When the user sends PATCH /api/v1/nodes/worker-1:
        """yaml
        metadata:
          annotations:
            scheduler.alpha.kubernetes.io/preferAvoidPods: >-
              {"preferAvoidPods": [{"podSignature": {"podController":
              {"apiVersion": "v1", "kind": "ReplicationController", "name": "foo", "uid": "1", "controller": true}}}]}
        """
      Then the request is answered with 200

    Scenario Outline: A Pod with <annotation>
      When the user sends POST /api/v1/namespaces/default/pods:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web, annotations: {<annotation>}}
        spec: {<where>containers: [{name: c, image: i}]}
        """
      Then the request is refused with 422 Pod "web" is invalid: metadata.annotations<message>

      Examples:
        | annotation                                               | where                | message                                                                                                     |
        | kubernetes.io/config.mirror: abc                         |                      | [kubernetes.io/config.mirror]: Invalid value: "abc": must set spec.nodeName if mirror pod annotation is set |
        | controller.kubernetes.io/pod-deletion-cost: "08"         | nodeName: worker-1,  | [controller.kubernetes.io/pod-deletion-cost]: Invalid value: "08": must be a 32bit integer                  |
        | controller.kubernetes.io/pod-deletion-cost: "+1"         | nodeName: worker-1,  | [controller.kubernetes.io/pod-deletion-cost]: Invalid value: "+1": must be a 32bit integer                  |
        | controller.kubernetes.io/pod-deletion-cost: "2147483648" | nodeName: worker-1,  | [controller.kubernetes.io/pod-deletion-cost]: Invalid value: "2147483648": must be a 32bit integer          |
