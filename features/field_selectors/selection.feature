@core
Feature: Selectors by fields
  Source: k8s.io/apimachinery pkg/fields/selector.go (v1.34), ParseSelector
  Source: pkg/apis/core/v1/conversion.go (v1.34), addConversionFuncs
  Source: k8s.io/apimachinery pkg/runtime/conversion.go (v1.34), DefaultMetaV1FieldSelectorConversion

  Background:
    Given no other Node
    And the objects:
      """yaml
      {apiVersion: v1, kind: Node, metadata: {name: a, labels: {tier: web}}}
      ---
      {apiVersion: v1, kind: Node, metadata: {name: b, labels: {tier: web}}, spec: {unschedulable: true}}
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: db}
      spec: {nodeName: a, containers: [{name: c, image: i}], restartPolicy: Never}
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: dns, namespace: kube-public}
      spec: {nodeName: a, containers: [{name: c, image: i}], hostNetwork: true, schedulerName: own}
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec: {nodeName: b, containers: [{name: c, image: i}]}
      ---
      {apiVersion: v1, kind: ConfigMap, metadata: {name: own, labels: {mine: ""}}}
      ---
      {apiVersion: v1, kind: ConfigMap, metadata: {name: own, namespace: kube-public, labels: {mine: ""}}}
      ---
      {apiVersion: v1, kind: Secret, metadata: {name: key}, type: example.com/key}
      ---
      apiVersion: v1
      kind: Service
      metadata: {name: shop}
      spec: {type: NodePort, ports: [{port: 80}]}
      """

  @req:FS-01
  Rule: Every kind is selected by its name, and each in a namespace by that

    Scenario Outline: <what>
      When the user sends GET <path>
      Then the answer lists <names>

      Examples:
        | what                                    | path                                                                                          | names                            |
        | A Node                                  | /api/v1/nodes?fieldSelector=metadata.name%3Da                                                 | "a"                              |
        | All other Nodes                         | /api/v1/nodes?fieldSelector=metadata.name%21%3Da                                              | "b"                              |
        | A Pod                                   | /api/v1/namespaces/default/pods?fieldSelector=metadata.name%3Dweb                             | "web"                            |
        | A name in all namespaces                | /api/v1/configmaps?fieldSelector=metadata.name%3Down                                          | "default/own", "kube-public/own" |
        | A name of nobody                        | /api/v1/nodes?fieldSelector=metadata.name%3Dz                                                 | nothing                          |
        | A namespace                             | /api/v1/pods?fieldSelector=metadata.namespace%3Dkube-public                                   | "dns"                            |
        | All other namespaces                    | /api/v1/configmaps?labelSelector=mine&fieldSelector=metadata.namespace%21%3Ddefault           | "kube-public/own"                |
        | Another namespace than that of the path | /api/v1/namespaces/default/pods?fieldSelector=metadata.namespace%3Dkube-public                | nothing                          |
        | A Namespace by its name                 | /api/v1/namespaces?fieldSelector=metadata.name%3Dkube-system                                  | "kube-system"                    |
        | A PriorityClass                         | /apis/scheduling.k8s.io/v1/priorityclasses?fieldSelector=metadata.name%3Dsystem-node-critical | "system-node-critical"           |
        | Leases in a namespace                   | /apis/coordination.k8s.io/v1/leases?fieldSelector=metadata.namespace%3Ddefault                | nothing                          |

  @req:FS-04
  Rule: One selector may be asked of several kinds, of each by a request of its own

    kubectl get statefulsets,services --all-namespaces --field-selector metadata.namespace!=default

    Scenario: What is outside of a namespace
      Given the objects:
        """yaml
        apiVersion: apps/v1
        kind: StatefulSet
        metadata: {name: outside, namespace: kube-public}
        spec:
          replicas: 0
          serviceName: outside
          selector: {matchLabels: {app: outside}}
          template:
            metadata: {labels: {app: outside}}
            spec: {containers: [{name: c, image: i}]}
        ---
        apiVersion: v1
        kind: Service
        metadata: {name: outside, namespace: kube-public}
        spec: {ports: [{port: 80}]}
        """
      When the user sends GET /apis/apps/v1/statefulsets?fieldSelector=metadata.namespace%21%3Ddefault
      Then the answer lists "kube-public/outside"
      When the user sends GET /api/v1/services?fieldSelector=metadata.namespace%21%3Ddefault
      Then the answer lists "kube-public/outside"

    Scenario Outline: A selector that one of the kinds does not know is refused for that kind alone
      When the user sends GET /api/v1/services?fieldSelector=spec.clusterIP%21%3DNone,metadata.name%21%3Dkubernetes
      Then the answer lists "default/shop"
      When the user sends GET <path>
      Then the request is refused with 400 "<text>"

      Examples:
        | path                                                             | text                                                                                              |
        | /apis/apps/v1/statefulsets?fieldSelector=spec.clusterIP%21%3DNone | "spec.clusterIP" is not a known field selector: only "metadata.name", "metadata.namespace"        |
        | /api/v1/nodes?fieldSelector=spec.clusterIP%21%3DNone              | field label not supported: spec.clusterIP                                                         |

  @req:FS-01
  Rule: Nodes and Pods, Services, Secrets and Namespaces have fields of their own beside

    Scenario Outline: <what>
      When the user sends GET <path>
      Then the answer lists <names>

      Examples:
        | what                          | path                                                                            | names                                          |
        | A Node that is cordoned       | /api/v1/nodes?fieldSelector=spec.unschedulable%3Dtrue                           | "b"                                            |
        | One that is not               | /api/v1/nodes?fieldSelector=spec.unschedulable%3Dfalse                          | "a"                                            |
        | A Node that is not said to be | /api/v1/nodes?fieldSelector=spec.unschedulable%3D                               | nothing                                        |
        | Pods of a Node                | /api/v1/pods?fieldSelector=spec.nodeName%3Da                                    | "default/db", "kube-public/dns"                |
        | by its old name               | /api/v1/pods?fieldSelector=spec.host%3Da                                        | "default/db", "kube-public/dns"                |
        | Pods of no Node               | /api/v1/pods?fieldSelector=spec.nodeName%3D                                     | nothing                                        |
        | A phase                       | /api/v1/pods?fieldSelector=status.phase%3DPending                               | "default/db", "default/web", "kube-public/dns" |
        | Another phase                 | /api/v1/pods?fieldSelector=status.phase%3DRunning                               | nothing                                        |
        | A restart policy              | /api/v1/pods?fieldSelector=spec.restartPolicy%3DNever                           | "db"                                           |
        | A scheduler                   | /api/v1/pods?fieldSelector=spec.schedulerName%3Down                             | "dns"                                          |
        | A service account             | /api/v1/namespaces/default/pods?fieldSelector=spec.serviceAccountName%3Ddefault | "db", "web"                                    |
        | The network of the host       | /api/v1/pods?fieldSelector=spec.hostNetwork%3Dtrue                              | "dns"                                          |
        | Not the network of the host   | /api/v1/pods?fieldSelector=spec.hostNetwork%3Dfalse                             | "db", "web"                                    |
        | No address yet                | /api/v1/pods?fieldSelector=status.podIP%3D                                      | "default/db", "default/web", "kube-public/dns" |
        | No nominated Node             | /api/v1/namespaces/default/pods?fieldSelector=status.nominatedNodeName%3D       | "db", "web"                                    |
        | A Namespace that is no more   | /api/v1/namespaces?fieldSelector=status.phase%21%3DActive                       | nothing                                        |
        | A type of Secret              | /api/v1/secrets?fieldSelector=type%3Dexample.com%2Fkey                          | "key"                                          |
        | A type of Service             | /api/v1/services?fieldSelector=spec.type%3DNodePort                             | "shop"                                         |

  @req:FS-01 @since:1.34
  Rule: ResourceSlices are selected by their node and their driver

    Scenario Outline: By <selector>
      Given the objects:
        """yaml
        apiVersion: resource.k8s.io/v1
        kind: ResourceSlice
        metadata: {name: one}
        spec: {driver: gpu.example.com, nodeName: a, pool: {name: p, generation: 1, resourceSliceCount: 1}}
        ---
        apiVersion: resource.k8s.io/v1
        kind: ResourceSlice
        metadata: {name: two}
        spec: {driver: nic.example.com, nodeName: b, pool: {name: p, generation: 1, resourceSliceCount: 1}}
        """
      When the user sends GET /apis/resource.k8s.io/v1/resourceslices?fieldSelector=<selector>
      Then the <answer>

      Examples:
        | selector                    | answer                                                                                                                               |
        | spec.nodeName%3Da           | answer lists "one"                                                                                                                   |
        | spec.driver%3Dnic.example.com | answer lists "two"                                                                                                                 |
        | spec.allNodes%3Dtrue        | request is refused with 400 "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: spec.allNodes"                    |

  @req:FS-02
  Rule: What is no field of the kind is refused with 400, in the words of the kind

    Scenario Outline: <path>
      When the user sends GET <path>
      Then the request is refused with 400 <message>

      Examples:
        | path                                                                      | message                                                                                                   |
        | /api/v1/nodes?fieldSelector=metadata.namespace%3Dx                        | field label not supported: metadata.namespace                                                             |
        | /api/v1/nodes?fieldSelector=status.phase%3DRunning                        | field label not supported: status.phase                                                                   |
        | /api/v1/nodes?fieldSelector=spec.taints%3Dx                               | field label not supported: spec.taints                                                                    |
        | /api/v1/nodes?fieldSelector=Metadata.name%3Da                             | field label not supported: Metadata.name                                                                  |
        | /api/v1/pods?fieldSelector=spec.unschedulable%3Dtrue                      | field label not supported: spec.unschedulable                                                             |
        | /api/v1/pods?fieldSelector=status.qosClass%3DBestEffort                   | field label not supported: status.qosClass                                                                |
        | /api/v1/pods?fieldSelector=metadata.labels.a%3Db                          | field label not supported: metadata.labels.a                                                              |
        | /api/v1/pods?fieldSelector=spec.nodename%3Da                              | field label not supported: spec.nodename                                                                  |
        | /api/v1/pods?fieldSelector=foo.bar%3Da%2Cspec.nodeName%3Da                | field label not supported: foo.bar                                                                        |
        | /api/v1/namespaces?fieldSelector=metadata.namespace%3Dx                   | field label not supported: metadata.namespace                                                             |
        | /api/v1/secrets?fieldSelector=data%3Dx                                    | field label not supported: data                                                                           |
        | /api/v1/services?fieldSelector=spec.externalName%3Dx                      | field label not supported: spec.externalName                                                              |
        | /api/v1/events?fieldSelector=message%3Dx                                  | field label not supported: message                                                                        |
        | /api/v1/configmaps?fieldSelector=data.a%3Dx                               | "data.a" is not a known field selector: only "metadata.name", "metadata.namespace"                        |
        | /api/v1/serviceaccounts?fieldSelector=secrets%3Dx                         | "secrets" is not a known field selector: only "metadata.name", "metadata.namespace"                       |
        | /api/v1/persistentvolumes?fieldSelector=spec.nodeAffinity%3Dx             | "spec.nodeAffinity" is not a known field selector: only "metadata.name", "metadata.namespace"             |
        | /apis/coordination.k8s.io/v1/leases?fieldSelector=spec.holderIdentity%3Da | "spec.holderIdentity" is not a known field selector: only "metadata.name", "metadata.namespace"           |
        | /apis/apps/v1/daemonsets?fieldSelector=status.desiredNumberScheduled%3D1  | "status.desiredNumberScheduled" is not a known field selector: only "metadata.name", "metadata.namespace" |
        | /apis/apps/v1/replicasets?fieldSelector=status.replicas%3D1               | "status.replicas" is not a known field selector: only "metadata.name", "metadata.namespace"               |
        | /apis/policy/v1/poddisruptionbudgets?fieldSelector=spec.minAvailable%3D1  | "spec.minAvailable" is not a known field selector: only "metadata.name", "metadata.namespace"             |
        | /apis/batch/v1/jobs?fieldSelector=spec.parallelism%3D1                    | field label "spec.parallelism" not supported for Job                                                      |

  @req:FS-02
  Rule: So is a watch, and the deletion of what is selected

    Scenario: A watch
      When the user watches /api/v1/nodes?fieldSelector=spec.providerID%3Dx
      Then the request is refused with 400 field label not supported: spec.providerID

    Scenario: A deletion, which deletes nothing
      When the user sends DELETE /api/v1/namespaces/default/pods?fieldSelector=spec.hostname%3Dweb
      Then the request is refused with 400 field label not supported: spec.hostname
      And Pod "web" stays for 1s

  @req:FS-03
  Rule: The operators are =, == and !=, and commas chain them

    Scenario Outline: <selector>
      When the user sends GET /api/v1/pods?fieldSelector=<encoded>
      Then the answer lists <names>

      Examples:
        | selector                                 | encoded                                     | names                                          |
        | metadata.name=web                        | metadata.name%3Dweb                         | "web"                                          |
        | metadata.name==web                       | metadata.name%3D%3Dweb                      | "web"                                          |
        | metadata.name!=web                       | metadata.name%21%3Dweb                      | "default/db", "kube-public/dns"                |
        | spec.nodeName=a,metadata.name!=db        | spec.nodeName%3Da%2Cmetadata.name%21%3Ddb   | "dns"                                          |
        | metadata.name=web,metadata.name=db       | metadata.name%3Dweb%2Cmetadata.name%3Ddb    | nothing                                        |
        | spec.nodeName!=a,spec.nodeName!=b        | spec.nodeName%21%3Da%2Cspec.nodeName%21%3Db | nothing                                        |
        | metadata.name=web, (with a comma behind) | metadata.name%3Dweb%2C                      | "web"                                          |
        | nothing at all                           |                                             | "default/db", "default/web", "kube-public/dns" |

    Scenario Outline: <selector> is refused
      When the user sends GET /api/v1/nodes?fieldSelector=<encoded>
      Then the request is refused with 400 <message>

      Examples:
        | selector                  | encoded                      | message                                                                           |
        | A field alone             | metadata.name                | invalid selector: 'metadata.name'; can't understand 'metadata.name'               |
        | A set                     | metadata.name%20in%20%28a%29 | invalid selector: 'metadata.name in (a)'; can't understand 'metadata.name in (a)' |
        | A field that is not there | %21metadata.name             | invalid selector: '!metadata.name'; can't understand '!metadata.name'             |
        | A second sign             | metadata.name%3Da%3Db        | invalid field selector: unescaped character in value: 61                          |
        | An unknown escape         | metadata.name%3Da%5Cx        | invalid field selector: invalid escape sequence: \\x                              |
        | Blanks around the sign    | metadata.name+%3D+a          | field label not supported: metadata.name                                          |
        | One term of two           | metadata.name%3Da%2Cb        | invalid selector: 'metadata.name=a,b'; can't understand 'b'                       |

    Scenario: Selectors by fields and by labels hold together
      When the user sends GET /api/v1/nodes?labelSelector=tier%3Dweb&fieldSelector=spec.unschedulable%3Dfalse
      Then the answer lists "a"

  @req:FS-01
  Rule: A watch tells of an object that comes to fit, and of one that fits no more

    Scenario: A Node is cordoned and uncordoned
      When the user watches /api/v1/nodes?fieldSelector=spec.unschedulable%3Dtrue
      Then the watch shows ADDED "b" within 1s
      And the watch never shows ADDED "a" for 2s
      When the user cordons Node "a"
      Then the watch shows ADDED "a" with spec.unschedulable true within 1s
      And the watch never shows DELETED "a" for 2s
      When the user uncordons Node "a"
      Then the watch shows DELETED "a" with spec.unschedulable true within 1s
      And the watch never shows MODIFIED "a" for 2s
