@extended
Feature: What a volume may say
  Source: pkg/apis/core/validation/validation.go (v1.34), validateVolumeSource, validateObjectFieldSelector
  Source: pkg/api/pod/util.go (v1.34), dropDisabledFields

  Background:
    Given no other Node

  Scenario Outline: A Pod with the volume <volume> is refused
    When the user sends POST /api/v1/namespaces/default/pods:
      """yaml
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec:
        nodeSelector: {no: node}
        containers: [{name: c, image: i}]
        volumes: [{name: v, <volume>}]
      """
    Then the request is refused with 422 Pod "web" is invalid: spec.volumes[0].<why>

    Examples:
      | volume                                                     | why                                                                                                              |
      | hostPath: {}                                               | hostPath.path: Required value                                                                                    |
      | hostPath: {path: /a/../b}                                  | hostPath.path: Invalid value: "/a/../b": must not contain '..'                                                   |
      | nfs: {server: s, path: data}                               | nfs.path: Invalid value: "data": must be an absolute path                                                        |
      | secret: {secretName: s, defaultMode: 600}                  | secret.defaultMode: Invalid value: 600: must be a number between 0 and 0777 (octal), both inclusive              |
      | configMap: {name: m, items: [{key: k, path: ..p}]}         | configMap.items[0].path: Invalid value: "..p": must not start with '..'                                          |
      | gcePersistentDisk: {}                                      | persistentDisk.pdName: Required value                                                                            |
      | csi: {driver: d, nodePublishSecretRef: {}}                 | csi.nodePublishSecretRef.name: Required value                                                                    |
      | downwardAPI: {items: [{path: p}]}                          | downwardAPI: Required value: one of fieldRef and resourceFieldRef is required                                    |
      | downwardAPI: {items: [{path: p, fieldRef: {fieldPath: spec.nodeName}}]} | downwardAPI.fieldRef.fieldPath: Unsupported value: "spec.nodeName": supported values: "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid" |
      | projected: {sources: [{serviceAccountToken: {path: t, expirationSeconds: 60}}]} | projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes |

  Scenario Outline: A variable that shows <what> is refused
    When the user sends POST /api/v1/namespaces/default/pods:
      """yaml
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec:
        containers: [{name: c, image: i, env: [{name: E, valueFrom: {<from>}}]}]
      """
    Then the request is refused with 422 Pod "web" is invalid: spec.containers[0].env[0].valueFrom.<why>

    Examples:
      | what             | from                                              | why                                                                                                                     |
      | an unknown field | fieldRef: {fieldPath: spec.nodename}              | fieldRef.fieldPath: Invalid value: "spec.nodename": error converting fieldPath: field label not supported: spec.nodename |
      | an odd divisor   | resourceFieldRef: {resource: limits.cpu, divisor: "2"} | resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource |

  Scenario Outline: A field whose feature is off is dropped <until>
    Given a cluster of Kubernetes <release>
    When the user creates:
      """yaml
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec:
        nodeSelector: {no: node}
        hostnameOverride: other
        containers: [{name: c, image: i, volumeMounts: [{name: v, mountPath: /v}]}]
        volumes: [{name: v, image: {reference: quay.io/own/data}}]
      """
    Then Pod "web" field spec.hostnameOverride is <name> at once
    And Pod "web" field spec.volumes[v].image.pullPolicy is <policy> at once
    And Pod "web" field spec.containers[c].volumeMounts[0].name is <mount> at once

    Examples:
      | until                        | release | name    | policy   | mount   |
      | until 1.34                   | 1.34    | absent  | absent   | not "v" |
      | and since 1.35 it is kept    | 1.35    | "other" | "Always" | "v"     |
