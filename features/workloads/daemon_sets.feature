@core
Feature: The pods of a DaemonSet stay with their nodes
  Source: pkg/controller/daemon/daemon_controller.go (v1.34), NodeShouldRunDaemonPod
  Source: pkg/controller/daemon/util/daemonset_util.go (v1.34), AddOrUpdateDaemonPodTolerations

  Rule: A cordoned node gets its daemon pod, and no other

    @req:MAN-06
    Scenario: A DaemonSet that is made after the node was cordoned
      Given a ready Node "worker-1"
      And the user cordons Node "worker-1"
      And Node "worker-1" has taint "node.kubernetes.io/unschedulable:NoSchedule"
      When the user creates:
        """
        apiVersion: apps/v1
        kind: DaemonSet
        metadata:
          name: agent
        spec:
          selector:
            matchLabels: {app: agent}
          template:
            metadata:
              labels: {app: agent}
            spec:
              containers:
              - name: main
                image: registry.k8s.io/pause:3.10
        ---
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          nodeSelector:
            kubernetes.io/hostname: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
        """
      Then 1 Pod of "agent" is running on Node "worker-1" within 15s
      And 1 Pod of "agent" is running on Node "bystander" within 15s
      And the Pod of "agent" on Node "worker-1" has condition PodScheduled=True within 1s
      And Node "worker-1" keeps taint "node.kubernetes.io/unschedulable:NoSchedule" for 5m
      But Pod "web" keeps field status.phase "Pending" for 5m
      And Pod "web" keeps field spec.nodeName absent for 5m

    @req:MAN-06
    Scenario: A daemon pod that is deleted on a cordoned node is made again there
      Given a ready Node "worker-1"
      And a DaemonSet "agent" of 2 Pods
      And the user cordons Node "worker-1"
      And Node "worker-1" has taint "node.kubernetes.io/unschedulable:NoSchedule"
      When the user sends DELETE /api/v1/namespaces/default/pods?fieldSelector=spec.nodeName=worker-1
      Then the Pod of "agent" on Node "worker-1" is gone within 35s
      And 0 Pods of "agent" are running on Node "worker-1" within 35s
      And 1 Pod of "agent" keeps running on Node "bystander" for 60s
      And Node "worker-1" keeps taint "node.kubernetes.io/unschedulable:NoSchedule" for 60s
      When 1s passes
      Then 1 Pod of "agent" keeps running on Node "worker-1" for 60s

    @req:MAN-06
    Scenario: Neither cordoning nor uncordoning makes a second pod
      Given a ready Node "worker-1"
      And a DaemonSet "agent" of 2 Pods
      And the user cordons Node "worker-1"
      And 1m passes
      When the user uncordons Node "worker-1"
      Then Node "worker-1" has no taint "node.kubernetes.io/unschedulable:NoSchedule" within 1s
      And 1 Pod of "agent" keeps running on Node "worker-1" for 10m
      And 2 Pods of "agent" keep running for 10m

    @req:MAN-06
    Scenario: A taint that the pod does not tolerate keeps a new pod away, and leaves an old one alone
      Given a ready Node "worker-1"
      And a ready Node "worker-2"
      And the user taints Node "worker-2" with "dedicated=infra:NoSchedule"
      And a DaemonSet "agent" of 2 Pods
      When the user taints Node "worker-1" with "dedicated=infra:NoSchedule"
      Then Node "worker-1" has taint "dedicated=infra:NoSchedule" at once
      And 1 Pod of "agent" keeps running on Node "worker-1" for 10m
      And 0 Pods of "agent" keep running on Node "worker-2" for 10m

    @req:MAN-06
    Scenario: A NoExecute taint that the pod does not tolerate ends it
      Given a ready Node "worker-1"
      And a DaemonSet "agent" of 2 Pods
      When the user taints Node "worker-1" with "dedicated=infra:NoExecute"
      Then the Pod of "agent" on Node "worker-1" is deleted within 1s
      And 0 Pods of "agent" are running on Node "worker-1" within 40s
      But 1 Pod of "agent" keeps running on Node "bystander" for 10m
      And the history of DaemonSet "agent" matches its snapshot
      When 1s passes
      Then 0 Pods of "agent" keep running on Node "worker-1" for 10m
      When the user removes taint "dedicated:NoExecute" from Node "worker-1"
      Then 1 Pod of "agent" is running on Node "worker-1" within 15s

  Rule: A daemon pod tolerates what is wrong with its node without a limit of time

    @req:EV-02
    Scenario: The tolerations that the controller adds
      Given a ready Node "worker-1"
      When the user creates:
        """
        apiVersion: apps/v1
        kind: DaemonSet
        metadata:
          name: agent
        spec:
          selector:
            matchLabels: {app: agent}
          template:
            metadata:
              labels: {app: agent}
            spec:
              tolerations:
              - {key: example.com/own, operator: Exists}
              containers:
              - name: main
                image: registry.k8s.io/pause:3.10
        """
      Then the Pod of "agent" on Node "worker-1" field spec.tolerations is [{"key": "example.com/own", "operator": "Exists"}, {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}, {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"}, {"key": "node.kubernetes.io/disk-pressure", "operator": "Exists", "effect": "NoSchedule"}, {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"}, {"key": "node.kubernetes.io/pid-pressure", "operator": "Exists", "effect": "NoSchedule"}, {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}] within 15s

    @req:EV-02
    Scenario: A silent node's daemon pod stays where an ordinary pod is evicted
      Given a ready Node "worker-1"
      And a DaemonSet "agent" of 2 Pods
      And a Pod "web" on Node "worker-1"
      When machine "worker-1" loses its connection to the API server
      Then Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute" within 77s
      And Pod "web" is deleted at 300s after Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      But the Pod of "agent" on Node "worker-1" stays for 24h
      And 2 Pods of "agent" keep running for 24h

  Rule: A pod gets a toleration of 300 s for each of two taints, unless it brings its own

    @req:EV-02
    Scenario Outline: What admission adds to a Pod that brings <what>
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          tolerations: <own>
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
        """
      Then Pod "web" field spec.tolerations is <then> at once

      Examples:
        | what                    | own                                                                                                          | then |
        | none                    | []                                                                                                           | [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}, {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}] |
        | one for not-ready       | [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 5}]             | [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}, {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}] |
        | one without limit       | [{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute}]                                 | [{"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"}, {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}] |
        | one for everything      | [{operator: Exists}]                                                                                         | [{"operator": "Exists"}] |
        | one for another effect  | [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoSchedule}]                                  | [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoSchedule"}, {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}, {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}] |

    @req:EV-02
    Scenario: Where the admission plugin is turned off, a pod gets none, and goes with the taint
      Given kube-apiserver runs with:
        | flag                      | value                    |
        | disable-admission-plugins | DefaultTolerationSeconds |
      And a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When the kubelet on "worker-1" is killed
      Then Pod "web" keeps field spec.tolerations absent for 30s
      And Pod "web" is deleted at 0s after Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute" within 66s

  Rule: A pod whose node it may no longer be put on stays, and counts as misscheduled

    Scenario: A node falls silent and comes back
      Given a ready Node "worker-1"
      And a DaemonSet "agent" of 2 Pods
      When the kubelet on "worker-1" is killed
      Then Node "worker-1" has taint "node.kubernetes.io/unreachable:NoSchedule" within the grace period and 11s
      And DaemonSet "agent" field status.numberMisscheduled is 1 within 60s
      And DaemonSet "agent" field status.desiredNumberScheduled is 1 within 60s
      When the kubelet on "worker-1" starts
      Then DaemonSet "agent" field status.numberMisscheduled is 0 within 30s
      And DaemonSet "agent" field status.desiredNumberScheduled is 2 within 30s
