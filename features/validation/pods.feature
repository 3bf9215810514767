@core
Feature: What of a Pod may be changed
  Source: pkg/apis/core/validation/validation.go (v1.34), ValidatePodUpdate, validateVolumeSource

  Background:
    Given no other Node
    And the objects:
      """yaml
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec:
        nodeSelector: {no: node}
        containers: [{name: c, image: i}]
        volumes: [{name: data, emptyDir: {}}]
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: gated}
      spec:
        nodeSelector: {rack: "1"}
        schedulingGates: [{name: example.com/wait}]
        containers: [{name: c, image: i}]
      """

  Rule: A volume has one source, also where a patch has merged two

    Scenario: A strategic merge leaves two
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web:
        """yaml
        spec: {volumes: [{name: data, hostPath: {path: /data}}]}
        """
      Then the request is refused with 422 spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type

    Scenario: A new Pod with two
      When the user sends POST /api/v1/namespaces/default/pods:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: new}
        spec:
          containers: [{name: c, image: i}]
          volumes: [{name: data, emptyDir: {}, configMap: {name: own}}]
        """
      Then the request is refused with 422 Pod "new" is invalid: spec.volumes[0].configMap: Forbidden: may not specify more than 1 volume type

  Rule: Hardly anything of a specification may change

    Scenario Outline: <what>
      When the user sends <method> /api/v1/namespaces/default/pods/<pod>:
        """yaml
        <change>
        """
      Then the request is <answer>

      Examples:
        | what                                     | method | pod   | change                                                          | answer                                                                                                                     |
        | An image                                 | strategic PATCH | web | spec: {containers: [{name: c, image: other}]}            | answered with 200                                                                                                          |
        | No image                                 | strategic PATCH | web | spec: {containers: [{name: c, image: ""}]}               | refused with 422 spec.containers[0].image: Required value                                                                  |
        | An image with a blank before it          | strategic PATCH | web | spec: {containers: [{name: c, image: " i"}]}             | refused with 422 spec.containers[0].image: Invalid value: " i": must not have leading or trailing whitespace               |
        | Another container                        | strategic PATCH | web | spec: {containers: [{name: d, image: i}]}                | refused with 422 spec.containers: Forbidden: pod updates may not add or remove containers                                  |
        | Where a Pod without gates may run        | PATCH  | web   | spec: {nodeSelector: {rack: "2"}}                               | refused with 422 spec: Forbidden: pod updates may not change fields other than                                             |
        | A gate that comes later                  | PATCH  | web   | spec: {schedulingGates: [{name: example.com/late}]}             | refused with 422 spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'example.com/late' |
        | A narrower choice behind a gate          | PATCH  | gated | spec: {nodeSelector: {zone: a}}                                 | answered with 200                                                                                                          |
        | Another choice behind a gate             | PATCH  | gated | spec: {nodeSelector: {rack: "2"}}                               | refused with 422 only additions to spec.nodeSelector are allowed (no mutations or deletions)                               |
        | A gate that goes                         | PATCH  | gated | spec: {schedulingGates: null}                                   | answered with 200                                                                                                          |
        | A Pod that becomes a mirror              | PATCH  | web   | metadata: {annotations: {kubernetes.io/config.mirror: x}}       | refused with 422 metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not add mirror pod annotation           |
