@core
Feature: An empty selector, and one that is not there
  Source: k8s.io/apimachinery pkg/apis/meta/v1/helpers.go (v1.34), LabelSelectorAsSelector
  Source: pkg/apis/apps/validation/validation.go (v1.34), ValidateDeploymentSpec, ValidateDaemonSetSpec
  Source: pkg/controller/disruption/disruption.go (v1.34), getPodsForPdb

  @req:LAB-09
  Rule: Of a list, an empty selector selects all, as none at all does

    Scenario Outline: <query>
      Given no other Node
      And the objects:
        """yaml
        {apiVersion: v1, kind: Node, metadata: {name: a, labels: {tier: web}}}
        ---
        {apiVersion: v1, kind: Node, metadata: {name: b}}
        """
      When the user sends GET /api/v1/nodes<query>
      Then the answer lists "a", "b"

      Examples:
        | query                         |
        |                               |
        | ?labelSelector=               |
        | ?fieldSelector=               |
        | ?labelSelector=&fieldSelector= |

  @req:LAB-09
  Rule: A workload has a selector, and an empty one is refused

    Scenario Outline: <kind> with <selector>
      When the user sends POST /apis/apps/v1/namespaces/default/<plural>:
        """yaml
        apiVersion: apps/v1
        kind: <kind>
        metadata: {name: web}
        spec:
          <selector>
          template:
            metadata: {labels: {app: web}}
            spec: {containers: [{name: c, image: i}]}
        """
      Then the request is refused with 422 <message>
      When the user sends GET /apis/apps/v1/namespaces/default/<plural>
      Then the answer lists nothing

      Examples:
        | kind        | plural       | selector     | message                                                                        |
        | Deployment  | deployments  | selector: {} | empty selector is invalid for deployment |
        | ReplicaSet  | replicasets  | selector: {} | empty selector is invalid for deployment |
        | StatefulSet | statefulsets | selector: {} | empty selector is invalid for statefulset |
        | DaemonSet   | daemonsets   | selector: {} | empty selector is invalid for daemonset |
        | Deployment  | deployments  |              | spec.selector: Required value |
        | ReplicaSet  | replicasets  |              | spec.selector: Required value |
        | StatefulSet | statefulsets |              | spec.selector: Required value |
        | DaemonSet   | daemonsets   |              | `selector` does not match template `labels` |

    @since:1.34
    Scenario: All that is wrong without a selector is told
      When the user sends POST /apis/apps/v1/namespaces/default/deployments:
        """yaml
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: web}
        spec:
          template:
            metadata: {labels: {app: web}}
            spec: {containers: [{name: c, image: i}]}
        """
      Then the request is refused with 422 Deployment.apps "web" is invalid: [spec.selector: Required value, spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`]

    @since:1.34
    Scenario: All that is wrong with an empty one is told
      When the user sends POST /apis/apps/v1/namespaces/default/deployments:
        """yaml
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: web}
        spec:
          selector: {}
          template:
            metadata: {labels: {app: web}}
            spec: {containers: [{name: c, image: i}]}
        """
      Then the request is refused with 422 Deployment.apps "web" is invalid: spec.selector: Invalid value: {}: empty selector is invalid for deployment

  @req:LAB-09
  Rule: A Service without a selector, or with an empty one, has no endpoints of Kubernetes' making

    Scenario Outline: A Service with <what>
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Service
        metadata: {name: web}
        spec: {<selector>ports: [{port: 80}]}
        """
      Then Pod "web" keeps condition Ready=True for 5s
      When the user sends GET /api/v1/namespaces/default/services?fieldSelector=metadata.name%3Dweb
      Then the answer lists "web"
      When the user sends GET /apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Dweb
      Then the answer lists nothing

      Examples:
        | what              | selector       |
        | none              |                |
        | an empty selector | selector: {},  |

  @req:LAB-09
  Rule: A PodDisruptionBudget with an empty selector counts all Pods of its namespace, and one without a selector none

    Scenario Outline: A budget with <what>
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And the objects:
        """yaml
        apiVersion: policy/v1
        kind: PodDisruptionBudget
        metadata: {name: all}
        spec: {<selector>minAvailable: 1}
        """
      When 10s pass
      And the user sends POST /api/v1/namespaces/default/pods/web/eviction:
        """yaml
        {apiVersion: policy/v1, kind: Eviction, metadata: {name: web}}
        """
      Then the request is <answer>
      And Pod "web" <fate>

      Examples:
        | what                 | selector       | answer                                                                              | fate                 |
        | an empty selector    | selector: {},  | refused with 429 Cannot evict pod as it would violate the pod's disruption budget.  | stays for 5s         |
        | no selector          |                | answered with 201                                                                   | is deleted within 1s |

  @req:LAB-09
  Rule: A term of affinity to Pods with an empty selector means all of them, and without a selector none

    Scenario Outline: A Pod that keeps away from <what>
      Given no other Node
      And a ready Node "worker-1"
      And a Pod "first" on Node "worker-1"
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: second}
        spec:
          containers: [{name: c, image: i}]
          affinity:
            podAntiAffinity:
              requiredDuringSchedulingIgnoredDuringExecution: [{<selector>topologyKey: kubernetes.io/hostname}]
        """
      Then Pod "second" has condition PodScheduled=<scheduled>, reason "<reason>", within 5s

      Examples:
        | what                              | selector                                    | scheduled | reason        |
        | all Pods of its namespace         | labelSelector: {},                          | False     | Unschedulable |
        | all Pods of all namespaces        | labelSelector: {}, namespaceSelector: {},   | False     | Unschedulable |

    Scenario Outline: A Pod that keeps away from <what>, and so from none here
      Given no other Node
      And a ready Node "worker-1"
      And a Pod "<first>" on Node "worker-1"
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: second}
        spec:
          containers: [{name: c, image: i}]
          affinity:
            podAntiAffinity:
              requiredDuringSchedulingIgnoredDuringExecution: [{<selector>topologyKey: kubernetes.io/hostname}]
        """
      Then Pod "second" has condition PodScheduled=True within 5s
      And Pod "second" field spec.nodeName is "worker-1" within 5s

      Examples:
        | what                                         | selector           | first             |
        | no Pods, since the term has no selector      |                    | default/first     |
        | Pods of its namespace alone                  | labelSelector: {}, | kube-public/first |

  @req:LAB-09
  Rule: An empty nodeSelector takes any Node, an empty term of affinity to Nodes none, and an empty list of terms is refused

    Scenario Outline: <what>
      Given no other Node
      And a ready Node "worker-1"
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          containers: [{name: c, image: i}]
          <choice>
        """
      Then Pod "web" has condition PodScheduled=<scheduled> within 5s

      Examples:
        | what                    | choice                                                                                                    | scheduled |
        | No choice               | schedulerName: default-scheduler                                                                          | True      |
        | An empty nodeSelector   | nodeSelector: {}                                                                                          | True      |
        | An empty term           | affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{}]}}}     | False     |
        | An empty preference     | affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {}}]}} | True      |

    Scenario: An empty list of terms
      When the user sends POST /api/v1/namespaces/default/pods:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          containers: [{name: c, image: i}]
          affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}
        """
      Then the request is refused with 422 Pod "web" is invalid: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term
