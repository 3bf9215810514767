@core
Feature: Which of two nodes a Pod may go to
  Source: pkg/scheduler/framework/plugins (v1.34), nodeaffinity, interpodaffinity, podtopologyspread

  Rule: One term of a node affinity suffices, and Gt and Lt leave their bound out

    Scenario Outline: The terms are <terms>
      Given no other Node
      And a ready Node "worker-1"
      And the user labels Node "worker-1" with "rank=5"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
          affinity:
            nodeAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
                nodeSelectorTerms:
                  <terms>
        """
      Then Pod "web" has condition PodScheduled=<scheduled> within 5s

      Examples:
        | terms                                                                                                                                        | scheduled |
        | [{matchExpressions: [{key: rank, operator: Gt, values: ["4"]}]}]                                                                             | True      |
        | [{matchExpressions: [{key: rank, operator: Gt, values: ["5"]}]}]                                                                             | False     |
        | [{matchExpressions: [{key: rank, operator: In, values: ["9"]}]}, {matchExpressions: [{key: rank, operator: In, values: ["5"]}]}]            | True      |
        | [{matchExpressions: [{key: rank, operator: In, values: ["5"]}, {key: rank, operator: In, values: ["9"]}]}]                                  | False     |

  Rule: The anti-affinity of a Pod that runs keeps others away

    Scenario: The one node has a Pod that wants to be alone
      Given no other Node
      And a ready Node "worker-1"
      And the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: alone, namespace: default}
        spec:
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
          affinity:
            podAntiAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
                - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}
        """
      And Pod "alone" field status.phase is "Running"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default, labels: {app: web}}
        spec: {containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      Then Pod "web" has condition PodScheduled=False, reason "Unschedulable" within 5s

  Rule: A spread constraint allows a skew of maxSkew, and counts missing domains as empty

    Scenario Outline: Of <nodes> one has a Pod, with maxSkew <skew> and minDomains <domains>
      Given no other Node
      And ready Nodes <nodes>
      And the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: first, namespace: default, labels: {app: web}}
        spec: {nodeName: worker-1, containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      And Pod "first" field status.phase is "Running"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: second, namespace: default, labels: {app: web}}
        spec:
          nodeSelector: {kubernetes.io/hostname: worker-1}
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
          topologySpreadConstraints:
            - maxSkew: <skew>
              minDomains: <domains>
              topologyKey: kubernetes.io/hostname
              whenUnsatisfiable: DoNotSchedule
              nodeAffinityPolicy: Ignore
              labelSelector: {matchLabels: {app: web}}
        """
      Then Pod "second" has condition PodScheduled=<scheduled> within 5s

      Examples:
        | nodes                     | skew | domains | scheduled |
        | "worker-1" and "worker-2" | 2    | 1       | True      |
        | "worker-1" and "worker-2" | 1    | 1       | False     |
        | "worker-1"                | 1    | 1       | True      |
        | "worker-1"                | 1    | 2       | False     |
