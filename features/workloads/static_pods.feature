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
