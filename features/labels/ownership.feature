@core
Feature: What workloads select, and what they own
  Source: pkg/controller/controller_ref_manager.go (v1.34), ClaimObject
  Source: pkg/controller/replicaset/replica_set.go (v1.34), syncReplicaSet
  Source: pkg/apis/apps/validation/validation.go (v1.34), ValidateReplicaSetSpec

  @req:LAB-07
  Rule: matchLabels and matchExpressions select together, in Deployments, ReplicaSets, StatefulSets and DaemonSets

    Scenario Outline: A <kind> whose Pods match <selector>
      Given a ready Node "worker-1"
      When the user creates:
        """yaml
        apiVersion: apps/v1
        kind: <kind>
        metadata: {name: web}
        spec:
          selector: <selector>
          template:
            metadata: {labels: {app: web, tier: front}}
            spec: {containers: [{name: c, image: i}]}
        """
      Then the Pod of "web" on Node "worker-1" field metadata.ownerReferences[0].kind is "<owner>" within 20s
      And the Pod of "web" on Node "worker-1" has label "tier=front" within 20s

      Examples:
        | kind        | selector                                                                                                                          | owner       |
        | ReplicaSet  | {matchLabels: {app: web}}                                                                                                         | ReplicaSet  |
        | ReplicaSet  | {matchExpressions: [{key: app, operator: In, values: [web, shop]}]}                                                               | ReplicaSet  |
        | ReplicaSet  | {matchLabels: {app: web}, matchExpressions: [{key: tier, operator: Exists}, {key: rack, operator: DoesNotExist}]}                 | ReplicaSet  |
        | Deployment  | {matchLabels: {app: web}, matchExpressions: [{key: tier, operator: NotIn, values: [back]}]}                                       | ReplicaSet  |
        | DaemonSet   | {matchExpressions: [{key: app, operator: In, values: [web]}]}                                                                     | DaemonSet   |
        | StatefulSet | {matchLabels: {app: web}, matchExpressions: [{key: tier, operator: In, values: [front]}]}                                         | StatefulSet |

  @req:LAB-07
  Rule: A selector that does not match the template is refused

    Scenario Outline: A <kind> with <selector>
      When the user sends POST /apis/apps/v1/namespaces/default/<plural>:
        """yaml
        apiVersion: apps/v1
        kind: <kind>
        metadata: {name: web}
        spec:
          selector: <selector>
          template:
            metadata: {labels: {app: web}}
            spec: {containers: [{name: c, image: i}]}
        """
      Then the request is refused with 422 `selector` does not match template `labels`
      When the user sends GET /apis/apps/v1/namespaces/default/<plural>
      Then the answer lists nothing

      Examples:
        | kind        | plural       | selector                                                                          |
        | Deployment  | deployments  | {matchLabels: {app: shop}}                                                        |
        | ReplicaSet  | replicasets  | {matchLabels: {app: web, tier: front}}                                            |
        | ReplicaSet  | replicasets  | {matchExpressions: [{key: app, operator: NotIn, values: [web]}]}                  |
        | DaemonSet   | daemonsets   | {matchExpressions: [{key: app, operator: DoesNotExist}]}                          |
        | StatefulSet | statefulsets | {matchLabels: {app: web}, matchExpressions: [{key: tier, operator: Exists}]}      |

    Scenario Outline: A requirement that is none: <term>
      When the user sends POST /apis/apps/v1/namespaces/default/daemonsets:
        """yaml
        apiVersion: apps/v1
        kind: DaemonSet
        metadata: {name: web}
        spec:
          selector: {matchLabels: {app: web}, matchExpressions: [<term>]}
          template:
            metadata: {labels: {app: web}}
            spec: {containers: [{name: c, image: i}]}
        """
      Then the request is refused with 422 spec.selector.matchExpressions[0].<message>

      Examples:
        | term                                             | message                                                                                          |
        | {key: app, operator: In}                         | values: Required value: must be specified when `operator` is 'In' or 'NotIn'                     |
        | {key: app, operator: Exists, values: [web]}      | values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'            |
        | {key: app, operator: Equals, values: [web]}      | operator: Invalid value: "Equals": not a valid selector operator                                 |
        | {key: -app, operator: Exists}                    | key: Invalid value: "-app": name part must consist of alphanumeric characters                    |
        | {key: app, operator: In, values: [web, -x]}      | values[1]: Invalid value: "-x": a valid label must be an empty string or consist of alphanumeric |

    Scenario Outline: The selector of a <kind> cannot be changed
      Given the objects:
        """yaml
        apiVersion: apps/v1
        kind: <kind>
        metadata: {name: web}
        spec:
          selector: {matchLabels: {app: web}}
          template:
            metadata: {labels: {app: web, tier: front}}
            spec: {nodeSelector: {no: node}, containers: [{name: c, image: i}]}
        """
      When the user sends PATCH /apis/apps/v1/namespaces/default/<plural>/web:
        """yaml
        spec: {selector: {matchLabels: {app: web, tier: front}}}
        """
      Then the request is refused with 422 <message>

      Examples:
        | kind        | plural       | message                                                                                           |
        | Deployment  | deployments  | field is immutable |
        | ReplicaSet  | replicasets  | field is immutable |
        | DaemonSet   | daemonsets   | field is immutable |

      @until:1.36
      Examples:
        | kind        | plural       | message                                                                                                                   |
        | StatefulSet | statefulsets | spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy' |

      @since:1.37
      Examples:
        | kind        | plural       | message                                         |
        | StatefulSet | statefulsets | spec.selector: Invalid value: {"matchLabels":{"app":"web","tier":"front"}}: field is immutable |

  @req:LAB-07
  Rule: Services and ReplicationControllers select by equality alone

    Scenario Outline: A <kind> with matchLabels
      When the user sends POST /api/v1/namespaces/default/<plural>:
        """yaml
        apiVersion: v1
        kind: <kind>
        metadata: {name: web}
        spec:
          selector: {matchLabels: {app: web}}
          <rest>
        """
      Then the request is refused with 400 <kind> in version "v1" cannot be handled as a <kind>: json: cannot unmarshal object into Go struct field <kind>Spec.spec.selector of type string

      Examples:
        | kind                  | plural                 | rest                                                                                              |
        | Service               | services               | ports: [{port: 80}]                                                                               |
        | ReplicationController | replicationcontrollers | template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}             |

    Scenario: A Service sends traffic to the Pods that have all of its labels
      Given a ready Node "worker-1"
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: both, labels: {app: web, tier: front}}
        spec: {nodeName: worker-1, containers: [{name: c, image: i}]}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: one, labels: {app: web}}
        spec: {nodeName: worker-1, containers: [{name: c, image: i}]}
        """
      And Pod "both" has condition Ready=True
      And Pod "one" has condition Ready=True
      When the user watches /apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Dweb
      And the user creates:
        """yaml
        apiVersion: v1
        kind: Service
        metadata: {name: web}
        spec: {selector: {app: web, tier: front}, ports: [{port: 80}]}
        """
      Then the watch shows ADDED with endpoints[0].targetRef.name "both" within 5s
      And the watch never shows ADDED with endpoints[1] set for 10s
      And the watch never shows MODIFIED for 10s

    Scenario: A ReplicationController without a selector takes the labels of its template
      Given a ready Node "worker-1"
      When the user creates:
        """yaml
        apiVersion: v1
        kind: ReplicationController
        metadata: {name: web}
        spec:
          replicas: 2
          template:
            metadata: {labels: {app: web}}
            spec: {containers: [{name: c, image: i}]}
        """
      Then 2 Pods of "web" are running within 15s
      And the Pod of "web" field metadata.ownerReferences[0].kind is "ReplicationController" within 15s
      When the user sends GET /api/v1/namespaces/default/replicationcontrollers?labelSelector=app%3Dweb
      Then the answer lists "web"
      And 2 Pods of "web" keep running for 10s

  @req:LAB-07
  Rule: A set adopts the Pods that it selects and nobody owns, and lets go those that it selects no more

    Scenario Outline: A <kind> adopts a Pod, and lets it go
      Given a ready Node "worker-1"
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: stray, labels: {app: web}}
        spec: {nodeName: worker-1, containers: [{name: c, image: i}]}
        """
      And Pod "stray" has condition Ready=True
      When the user creates:
        """yaml
        apiVersion: <group>
        kind: <kind>
        metadata: {name: web}
        spec:
          replicas: 1
          selector: <selector>
          template:
            metadata: {labels: {app: web}}
            spec: {containers: [{name: c, image: i}]}
        """
      Then Pod "stray" field metadata.ownerReferences[0].name is "web" within 5s
      And Pod "stray" keeps field metadata.labels.app "web" for 10s
      And the history of Pod "stray" matches its snapshot
      When the user sends PATCH /api/v1/namespaces/default/pods/stray:
        """yaml
        metadata: {labels: {app: other}}
        """
      Then Pod "stray" field metadata.ownerReferences is absent within 5s
      And 1 Pod of "web" is running within 10s
      And Pod "stray" stays for 10s

      Examples:
        | kind                  | group   | selector                  |
        | ReplicaSet            | apps/v1 | {matchLabels: {app: web}} |
        | ReplicationController | v1      | {app: web}                |

  @req:LAB-07
  Rule: Sets that select the same Pods do not take them from each other

    Scenario: Two ReplicaSets with the same selector
      Given a ready Node "worker-1"
      And the objects:
        """yaml
        apiVersion: apps/v1
        kind: ReplicaSet
        metadata: {name: first}
        spec:
          replicas: 2
          selector: {matchLabels: {app: web}}
          template:
            metadata: {labels: {app: web}}
            spec: {containers: [{name: c, image: i}]}
        """
      And 2 Pods of "first" are running
      When the user creates:
        """yaml
        apiVersion: apps/v1
        kind: ReplicaSet
        metadata: {name: second}
        spec:
          replicas: 1
          selector: {matchLabels: {app: web}}
          template:
            metadata: {labels: {app: web}}
            spec: {containers: [{name: c, image: i}]}
        """
      Then 1 Pod of "second" is running within 10s
      And 2 Pods of "first" keep running for 20s

  Rule: What names an owner that is gone is deleted; an owner is its uid and not its name

    Source: pkg/controller/garbagecollector/garbagecollector.go (v1.34), attemptToDeleteItem, isDangling

    Scenario: The owner of this name has another uid
      Given the objects:
        """yaml
        apiVersion: apps/v1
        kind: ReplicaSet
        metadata: {name: web}
        spec:
          replicas: 0
          selector: {matchLabels: {app: web}}
          template:
            metadata: {labels: {app: web}}
            spec: {containers: [{name: c, image: i}]}
        """
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: stray
          ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: 5e6a4bbc-5b0b-4b43-a2a5-7b6b5d1c0f3e}]
        spec: {schedulerName: nobody, containers: [{name: c, image: i}]}
        """
      Then Pod "stray" is gone within 5s
      But ReplicaSet "web" keeps field metadata.uid set for 60s

    Scenario: An owner in a namespace is none of a Node, be it there or not
      Source: pkg/controller/garbagecollector/operations.go (v1.34), getObject

      When the user creates:
        """yaml
        apiVersion: v1
        kind: Node
        metadata:
          name: disowned
          ownerReferences: [{apiVersion: v1, kind: Pod, name: gone, uid: 5e6a4bbc-5b0b-4b43-a2a5-7b6b5d1c0f3e}]
        ---
        apiVersion: v1
        kind: Pod
        metadata:
          name: stray
          ownerReferences: [{apiVersion: v1, kind: Pod, name: gone, uid: 5e6a4bbc-5b0b-4b43-a2a5-7b6b5d1c0f3e}]
        spec: {schedulerName: nobody, containers: [{name: c, image: i}]}
        """
      Then Pod "stray" is gone within 5s
      But Node "disowned" stays for 2m
