@core
Feature: A Pod that is told to end ends when the sync under way is over
  Source: pkg/kubelet/kubelet.go (v1.34), SyncPod, which takes the cancellation from its context before it starts and
  ends containers; until then it waits for volumes, and that wait is given up

  Rule: A hook postStart goes on to its end, and what starts after it is started

    Scenario: The hook takes 10 s
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            lifecycle: {postStart: {exec: {command: [sleep, "10"]}}}
          - {name: other, image: registry.k8s.io/pause:3.10}
        """
      And 5s pass
      And the user deletes Pod "web"
      Then no Event Killing about Pod "web" for 5s
      And container "main" of Pod "web" keeps running on machine "worker-1" for 6s
      And Event Killing about Pod "web", message "Stopping container other" between 5s and 7s
      And Event Started about Pod "web" within 7s
      And 2 Events Killing about Pod "web" between 5s and 7s
      And Pod "web" is gone between 7s and 10s

  Rule: A container that the kubelet itself ends is started again first

    Scenario: Its probe has failed
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.stops-after: 15s, nodeproof.dev/main.fails-liveness-after: 0s}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            livenessProbe: {tcpSocket: {port: 80}, periodSeconds: 5, failureThreshold: 1}
        """
      And 8s pass
      And the user deletes Pod "web"
      Then Pod "web" keeps field status.containerStatuses[0].restartCount 0 for 11s
      And Pod "web" field status.containerStatuses[0].restartCount is 1 between 11s and 15s
      And Event Started about Pod "web" between 11s and 15s
      And Event Killing about Pod "web", message "Stopping container main" between 11s and 15s
      And Pod "web" is gone between 26s and 31s

    Scenario: Its Pod names another image
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.stops-after: 15s}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: "registry.k8s.io/pause:3.9"}]
        """
      And Pod "web" has condition Ready=True
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web:
        """
        {"spec": {"containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]}}
        """
      And 3s pass
      And the user deletes Pod "web"
      Then Pod "web" field status.containerStatuses[0].image is "registry.k8s.io/pause:3.10" between 11s and 15s
      And Event Killing about Pod "web", message "Stopping container main" between 11s and 15s
      And Pod "web" is gone between 26s and 31s

  Rule: A container that is being started is started, and ends as any other

    Scenario: It is the second one
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/late.starts-after: 10s}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: registry.k8s.io/pause:3.10}, {name: late, image: registry.k8s.io/pause:3.10}]
        """
      And 4s pass
      And the user deletes Pod "web"
      Then container "main" of Pod "web" keeps running on machine "worker-1" for 5s
      And Event Started about Pod "web" between 5s and 8s
      And 2 Events Killing about Pod "web" between 5s and 8s
      And Pod "web" is gone between 7s and 11s

    Scenario: Without a sandbox nothing is
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.starts-after: 10s}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      And 4s pass
      And the user deletes Pod "web"
      Then Pod "web" is gone within 5s
      And no Event Started about Pod "web" for 60s
