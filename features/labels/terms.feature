@core
Feature: The terms of affinity are checked
  Source: pkg/apis/core/validation/validation.go (v1.34), ValidateNodeSelectorTerm, validatePodAffinityTerm

  @req:LAB-05
  Rule: A term about Nodes or Pods that is none is refused

    Scenario Outline: <what>
      When the user sends POST /api/v1/namespaces/default/pods:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          containers: [{name: c, image: i}]
          affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [<term>]}}}
        """
      Then the request is refused with 422 spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].<message>
      When the user sends GET /api/v1/namespaces/default/pods
      Then the answer lists nothing

      Examples:
        | what                        | term                                                                              | message                                                                                                                       |
        | Two names of Nodes          | matchFields: [{key: metadata.name, operator: In, values: [a, b]}]                 | matchFields[0].values: Required value: must be only one value when `operator` is 'In' or 'NotIn' for node field selector        |
        | No name of a Node           | matchFields: [{key: metadata.name, operator: NotIn}]                              | matchFields[0].values: Required value: must be only one value when `operator` is 'In' or 'NotIn' for node field selector        |
        | Another field               | matchFields: [{key: spec.unschedulable, operator: In, values: ["true"]}]          | matchFields[0].key: Invalid value: "spec.unschedulable": not a valid field selector key                                       |
        | A field that is there       | matchFields: [{key: metadata.name, operator: Exists}]                             | matchFields[0].operator: Invalid value: "Exists": not a valid selector operator                                               |
        | A name that no Node has     | matchFields: [{key: metadata.name, operator: In, values: [A_b]}]                  | matchFields[0].values[0]: Invalid value: "A_b": a lowercase RFC 1123 subdomain must consist of                                |
        | No values                   | matchExpressions: [{key: rack, operator: In}]                                     | matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'                              |
        | Values of no use            | matchExpressions: [{key: rack, operator: DoesNotExist, values: [a]}]              | matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'                     |
        | Two limits                  | matchExpressions: [{key: rack, operator: Gt, values: ["1", "2"]}]                 | matchExpressions[0].values: Required value: must be specified single value when `operator` is 'Lt' or 'Gt'                    |
        | An operator of no use       | matchExpressions: [{key: rack, operator: Equals, values: [a]}]                    | matchExpressions[0].operator: Invalid value: "Equals": not a valid selector operator                                          |
        | A key that is none          | matchExpressions: [{key: -rack, operator: Exists}]                                | matchExpressions[0].key: Invalid value: "-rack": name part must consist of alphanumeric characters                            |

    @since:1.33
    Scenario Outline: The values of a term are those of labels since 1.33, where it is <kind>
      When the user sends POST /api/v1/namespaces/default/pods:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          containers: [{name: c, image: i}]
          affinity: {nodeAffinity: {<term>}}
        """
      Then the request is <answer>

      Examples:
        | kind      | term                                                                                                                                              | answer                                                                                                                                                            |
        | required  | requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: rack, operator: In, values: [-a]}]}]}               | refused with 422 nodeSelectorTerms[0].matchExpressions[0].values[0]: Invalid value: "-a": a valid label must be an empty string or consist of alphanumeric         |
        | preferred | preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: rack, operator: In, values: [-a]}]}}]          | answered with 201                                                                                                                                                 |

    Scenario Outline: Of other Pods: <what>
      When the user sends POST /api/v1/namespaces/default/pods:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          containers: [{name: c, image: i}]
          affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [<term>]}}
        """
      Then the request is refused with 422 spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].<message>

      Examples:
        | what                 | term                                                                                                                          | message                                                                                                |
        | No topology          | {labelSelector: {matchLabels: {app: web}}}                                                                                    | topologyKey: Required value: can not be empty                                                          |
        | A topology of no key | {topologyKey: "a b"}                                                                                                          | topologyKey: Invalid value: "a b": name part must consist of alphanumeric characters                   |
        | A bad value          | {topologyKey: zone, labelSelector: {matchLabels: {app: -web}}}                                                                | labelSelector.matchLabels: Invalid value: "-web": a valid label must be an empty string                |
        | A term of no use     | {topologyKey: zone, namespaceSelector: {matchExpressions: [{key: a, operator: In}]}}                                          | namespaceSelector.matchExpressions[0].values: Required value: must be specified when `operator` is     |
        | A namespace of none  | {topologyKey: zone, namespaces: [A_b]}                                                                                        | namespace: Invalid value: "A_b": a lowercase RFC 1123 label must consist of                            |
