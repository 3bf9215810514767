@core
Feature: A static Pod runs by its manifest, and its mirror shows it
  Source: pkg/kubelet/kubelet.go (v1.34), tryReconcileMirrorPods and HandlePodRemoves

  Rule: A mirror that is deleted by force comes back with the next sync of its Pod

    Scenario: The sync comes after a minute, or up to half of one later
      Given a ready Node "worker-1"
      And machine "worker-1" does manifest-write with:
        | name   | web.yaml |
        | object | {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]}} |
      And 1 Pod with label "app=web" is running
      When the user sends DELETE /api/v1/namespaces/default/pods/web-worker-1?gracePeriodSeconds=0
      Then 0 Pods with label "app=web" are running within 1s
      And 1 Pod with label "app=web" is running between 55s and 2m

  Rule: A static Pod that is not valid, or that refers to objects of the API, does not run at all
    Source: pkg/kubelet/config/common.go (v1.34), tryDecodeSinglePod; pkg/api/pod/util.go (v1.34), HasAPIObjectReference

    Scenario Outline: <why>: the CPUs that it asks for stay free
      Given a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      And machine "worker-1" does manifest-write with:
        | name   | web.yaml |
        | object | {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "<name>", "labels": {"app": "web"}}, "spec": {<with>, "containers": [{"name": "main", "image": "pause", "resources": {"requests": {"cpu": "1500m"}}}]}} |
      And 5s pass
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: other, namespace: default}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1}}}
        """
      Then Pod "other" field status.phase is "<phase>" within 5s
      And 0 Pods with label "app=web" keep running for 30s

      Examples: in any release
        | why                    | name  | with                                                                                                            | phase   |
        | a policy that is none  | web   | "restartPolicy": "Foo"                                                                                          | Running |
        | a name that is none    | Web_x | "hostNetwork": false                                                                                            | Running |
        | an ephemeral container | web   | "ephemeralContainers": [{"name": "debug", "image": "i"}]                                                        | Running |
        | a bundle of trust      | web   | "volumes": [{"name": "v", "projected": {"sources": [{"clusterTrustBundle": {"name": "own", "path": "f"}}]}}]    | Running |

      @since:1.34
      Examples: since 1.34
        | why                                | name | with                                                                                              | phase   |
        | a service account                  | web  | "serviceAccountName": "own"                                                                       | Running |
        | a service account, by its old name | web  | "serviceAccount": "own"                                                                           | Running |
        | a secret for pulls                 | web  | "imagePullSecrets": [{"name": "own"}]                                                             | Running |
        | a ConfigMap                        | web  | "volumes": [{"name": "v", "configMap": {"name": "own"}}]                                          | Running |
        | a driver                           | web  | "volumes": [{"name": "v", "csi": {"driver": "csi.example.com"}}]                                  | Running |

      @since:1.32
      Examples: since 1.32
        | why                | name | with                                                                  | phase   |
        | a claim of devices | web  | "resourceClaims": [{"name": "gpu", "resourceClaimName": "own"}]       | Running |

      @until:1.34
      Examples: up to 1.34
        | why                          | name | with                                                                                             | phase   |
        | a name that other Pods' variables may have | web | "initContainers": [{"name": "first", "image": "i", "env": [{"name": "A B", "value": "1"}]}] | Running |

      @until:1.33
      Examples: before 1.34 only the mirror is refused
        | why               | name | with                        | phase  |
        | a service account | web  | "serviceAccountName": "own" | Failed |

    @since:1.34 @until:1.36
    Scenario: A kubelet without the gate runs what has no mirror
      Given a machine "worker-1" with:
        | cpu | 2 |
      And whose kubelet runs with:
        | featureGates | {"PreventStaticPodAPIReferences": false} |
      And Node "worker-1" has condition Ready=True
      And machine "worker-1" does manifest-write with:
        | name   | web.yaml |
        | object | {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "labels": {"app": "web"}}, "spec": {"serviceAccountName": "own", "containers": [{"name": "main", "image": "pause", "resources": {"requests": {"cpu": "1500m"}}}]}} |
      And 5s pass
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: other, namespace: default}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1}}}
        """
      Then Pod "other" field status.reason is "OutOfcpu" within 5s
      And 0 Pods with label "app=web" keep running for 30s

    @since:1.35
    Scenario: A variable may have any name, as in any Pod
      Given a ready Node "worker-1"
      When machine "worker-1" does manifest-write with:
        | name   | web.yaml |
        | object | {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "pause", "env": [{"name": "A B", "value": "1"}]}]}} |
      Then 1 Pod with label "app=web" is running within 30s

  Rule: A container that says what it may use asks for as much
    Source: pkg/apis/core/v1/defaults.go (v1.34), SetDefaults_Pod

    Scenario: Beside a static Pod that may use most of the machine another one does not fit
      Given a machine "worker-1" with:
        | cpu | 2 |
      And Node "worker-1" has condition Ready=True
      And machine "worker-1" does manifest-write with:
        | name   | web.yaml |
        | object | {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10", "resources": {"limits": {"cpu": "1500m"}}}]}} |
      And 1 Pod with label "app=web" is running
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: other, namespace: default}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1}}}
        """
      Then Pod "other" field status.reason is "OutOfcpu" within 5s
