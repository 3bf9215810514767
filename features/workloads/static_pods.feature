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

  Rule: A mirror that could not be made, or not be deleted, is tried again with the next sync of its Pod
    Source: pkg/kubelet/kubelet.go (v1.31, v1.34, v1.37), SyncPod and tryReconcileMirrorPods

    Scenario Outline: Requests are answered with <code> for a while
      Given a ready Node "worker-1"
      And create requests to pods from "worker-1" are answered <code> for 80s
      And machine "worker-1" does manifest-write with:
        | name   | web.yaml |
        | object | {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]}} |
      When nothing is done
      Then 0 Pods with label "app=web" keep running for 60s
      And 1 Pod with label "app=web" is running between 80s and 3m5s

      Examples:
        | code |
        | 403  |
        | 500  |

    Scenario: The namespace comes later
      Given a ready Node "worker-1"
      And machine "worker-1" does manifest-write with:
        | name   | web.yaml |
        | object | {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "later", "labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]}} |
      And 10s pass
      When the user creates:
        """
        kind: Namespace
        apiVersion: v1
        metadata: {name: later}
        """
      And 2m pass
      And the user sends GET /api/v1/namespaces/later/pods
      Then the answer lists "later/web-worker-1"

    Scenario: The kubelet cannot delete a mirror that the user deletes
      Given a ready Node "worker-1"
      And machine "worker-1" does manifest-write with:
        | name   | web.yaml |
        | object | {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]}} |
      And the Pod with label "app=web" field status.phase is "Running"
      And delete requests to pods from "worker-1" are answered 500 for 30s
      When the user sends DELETE /api/v1/namespaces/default/pods/web-worker-1
      Then the Pod with label "app=web" stays terminating for 55s
      And the Pod with label "app=web" is gone between 60s and 2m
      When 10s pass
      Then the Pod with label "app=web" keeps field status.phase "Running" for 1m

    Scenario: A mirror is deleted while the kubelet waits for its runtime
      Given a ready Node "worker-1"
      And machine "worker-1" does manifest-write with:
        | name   | web.yaml |
        | object | {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]}} |
      And the Pod with label "app=web" field status.phase is "Running"
      And the container runtime on "worker-1" stops
      And Node "worker-1" has condition Ready=False
      And the user sends DELETE /api/v1/namespaces/default/pods/web-worker-1?gracePeriodSeconds=0
      When the container runtime on "worker-1" starts
      Then the Pod with label "app=web" exists within 2m

  Rule: A static Pod whose manifest comes back unchanged runs again under its mirror
    Source: pkg/kubelet/pod_workers.go (v1.31, v1.34, v1.37), UpdatePod (restartRequested) and ShouldPodContentBeRemoved
    Source: pkg/kubelet/kubelet_pods.go (v1.34), HandlePodCleanups; pkg/kubelet/pod_container_deletor.go (v1.34)

    Scenario Outline: It comes back after <away>, while the process takes 9 s to stop
      Given a ready Node "worker-1"
      And machine "worker-1" does manifest-write with:
        | name   | web.yaml |
        | object | {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web"}, "annotations": {"nodeproof.dev/main.stops-after": "9s"}}, "spec": {"containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]}} |
      And the Pod with label "app=web" has condition Ready=True
      When machine "worker-1" does manifest-remove with:
        | name | web.yaml |
      And <away> pass
      And machine "worker-1" does manifest-write with:
        | name   | web.yaml |
        | object | {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web"}, "annotations": {"nodeproof.dev/main.stops-after": "9s"}}, "spec": {"containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]}} |
      Then the Pod with label "app=web" field status.containerStatuses[0].state.running.startedAt is changed within 13s
      And the Pod with label "app=web" keeps field metadata.uid unchanged for 2m
      When 13s pass
      Then the Pod with label "app=web" keeps field status.containerStatuses[0].restartCount <restarts> for 1m

      Examples: within the same period of the kubelet's housekeeping
        | away  | restarts |
        | 1ms   | 1        |

      Examples: after one, which lets the ended containers be removed
        | away | restarts |
        | 3s   | 0        |

    Scenario: It comes back in the next instant, and the process has ended at once
      Given a ready Node "worker-1"
      And machine "worker-1" does manifest-write with:
        | name   | web.yaml |
        | object | {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]}} |
      And the Pod with label "app=web" has condition Ready=True
      When machine "worker-1" does manifest-remove with:
        | name | web.yaml |
      And machine "worker-1" does manifest-write with:
        | name   | web.yaml |
        | object | {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]}} |
      Then the Pod with label "app=web" field status.containerStatuses[0].restartCount is 1 within 4s
      And the Pod with label "app=web" keeps field metadata.uid unchanged for 2m

    Scenario: One that is to run only once has ended for good
      Given a ready Node "worker-1"
      And machine "worker-1" does manifest-write with:
        | name   | web.yaml |
        | object | {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web"}, "annotations": {"nodeproof.dev/main.stops-after": "9s"}}, "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]}} |
      And the Pod with label "app=web" has condition Ready=True
      And machine "worker-1" does manifest-remove with:
        | name | web.yaml |
      When machine "worker-1" does manifest-write with:
        | name   | web.yaml |
        | object | {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web"}, "annotations": {"nodeproof.dev/main.stops-after": "9s"}}, "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]}} |
      Then the Pod with label "app=web" field status.phase is "Succeeded" within 12s
      When 15s pass
      Then the Pod with label "app=web" keeps field status.phase "Succeeded" for 3m

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
