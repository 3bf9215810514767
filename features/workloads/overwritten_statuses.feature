@core
Feature: A kubelet takes back what others write into the status of its Pods
  Source: pkg/kubelet/status/status_manager.go (v1.31, v1.34, v1.37), needsReconcile and isPodStatusByKubeletEqual

  Rule: With the next period of 10 s each part that is the kubelet's own is as it was

    Scenario Outline: Somebody overwrites <what>
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When the user sends PATCH /api/v1/namespaces/default/pods/web/status:
        """
        {"status": <status>}
        """
      Then Pod "web" field <path> is <written> at once
      And Pod "web" field <path> is <own> between 10ms and 10s
      And container "main" of Pod "web" keeps running on machine "worker-1" for 60s
      When 10s pass
      Then Pod "web" keeps field metadata.resourceVersion unchanged for 60s

      Examples:
        | what                   | status                                | path                                      | written                | own                        |
        | the phase              | {"phase": "Failed", "reason": "Gone"} | status.phase                              | "Failed"               | "Running"                  |
        | the reason             | {"phase": "Failed", "reason": "Gone"} | status.reason                             | "Gone"                 | absent                     |
        | the address            | {"podIP": null, "podIPs": null}       | status.podIP                              | absent                 | set                        |
        | what its containers do | {"containerStatuses": null}           | status.containerStatuses[0].state.running | absent                 | set                        |
        | all conditions         | {"conditions": null}                  | status.conditions[Ready].status           | absent                 | "True"                     |
        | when it started        | {"startTime": "2020-01-01T00:00:00Z"} | status.startTime                          | "2020-01-01T00:00:00Z" | not "2020-01-01T00:00:00Z" |

    Scenario: A reason at a condition goes, and a condition of somebody else stays
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web/status:
        """
        {"status": {"conditions": [{"type": "Ready", "reason": "SoISay"},
          {"type": "example.com/known", "status": "True", "reason": "Mine"}]}}
        """
      Then Pod "web" field status.conditions[Ready].reason is "SoISay" at once
      And Pod "web" field status.conditions[Ready].reason is absent between 10ms and 10s
      And Pod "web" keeps condition example.com/known=True, reason "Mine" for 60s

    Scenario: What a Pod that has ended said of its end is said again
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          restartPolicy: Never
          containers: [{name: main, image: "registry.k8s.io/busybox:1", command: ["true"]}]
        """
      And Pod "web" field status.phase is "Succeeded"
      And 10s pass
      When the user sends PATCH /api/v1/namespaces/default/pods/web/status:
        """
        {"status": {"phase": "Running", "message": "alive"}}
        """
      Then Pod "web" field status.phase is "Running" at once
      And Pod "web" field status.phase is "Succeeded" between 10ms and 10s
      And Pod "web" field status.message is absent within 10s

    Scenario: The mirror of a static Pod
      Given a ready Node "worker-1"
      And machine "worker-1" does manifest-write with:
        | name   | web.yaml |
        | object | {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]}} |
      And 1 Pod with label "app=web" is running
      And 20s pass
      When the user sends PATCH /api/v1/namespaces/default/pods/web-worker-1/status:
        """
        {"status": {"phase": "Failed", "podIP": null, "podIPs": null}}
        """
      Then the Pod with label "app=web" field status.podIP is absent at once
      And the Pod with label "app=web" field status.podIP is set between 10ms and 10s
      And the Pod with label "app=web" field status.phase is "Running" between 10ms and 10s

  Rule: A status that was refused is written with the next period, whatever the answer was
    Source: pkg/kubelet/status/status_manager.go (v1.31, v1.34, v1.37), syncPod and syncBatch

    Scenario Outline: A write is answered with <code>
      Given a ready Node "worker-1"
      And PATCH requests to pods/status from "worker-1" are answered <code> for 15s
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec: {nodeName: worker-1, containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]}
        """
      Then Pod "web" keeps field status.phase "Pending" for 14s
      And Pod "web" field status.phase is "Running" between 15s and 26s

      Examples:
        | code |
        | 404  |
        | 409  |
        | 500  |

    Scenario Outline: The look before a write is answered with <code>
      Given a ready Node "worker-1"
      And get requests to pods from "worker-1" are answered <code> for 15s
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec: {nodeName: worker-1, containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]}
        """
      Then Pod "web" keeps field status.phase "Pending" for 14s
      And Pod "web" field status.phase is "Running" between 15s and 26s

      Examples:
        | code |
        | 404  |
        | 500  |

    Scenario Outline: The final deletion is answered with <code>
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And DELETE requests to pods from "worker-1" are answered <code> for 15s
      When the user deletes Pod "web"
      Then Pod "web" stays terminating for 13s
      And Pod "web" is gone between 14s and 27s

      Examples:
        | code |
        | 404  |
        | 409  |
        | 500  |
