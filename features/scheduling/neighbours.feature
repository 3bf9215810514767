@core
Feature: A Pod that waits for its neighbours is tried again when they change
  Source: pkg/scheduler/framework/plugins/interpodaffinity/plugin.go (v1.36), isSchedulableAfterPodChange

  @since:1.36
  Rule: What keeps a Pod away is the anti-affinity of another one, too

    Scenario: The other one goes
      Given a ready Node "worker-1"
      And the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: loner}
        spec:
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
          nodeSelector: {kubernetes.io/hostname: worker-1}
          affinity:
            podAntiAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
                - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}
        """
      And Pod "loner" has condition Ready=True
      And the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, labels: {app: web}}
        spec:
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
          nodeSelector: {kubernetes.io/hostname: worker-1}
        """
      And Pod "web" has condition PodScheduled=False
      And 15s pass
      When the user deletes Pod "loner"
      Then Pod "web" has condition PodScheduled=True within 5s

    Scenario: Its own labels change
      Given a ready Node "worker-1"
      And the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: loner}
        spec:
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
          nodeSelector: {kubernetes.io/hostname: worker-1}
          affinity:
            podAntiAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
                - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}
        """
      And Pod "loner" has condition Ready=True
      And the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, labels: {app: web}}
        spec:
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
          nodeSelector: {kubernetes.io/hostname: worker-1}
        """
      And Pod "web" has condition PodScheduled=False
      And 15s pass
      When the user sends PATCH /api/v1/namespaces/default/pods/web:
        """
        metadata: {labels: {app: other}}
        """
      Then Pod "web" has condition PodScheduled=True within 5s
