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
