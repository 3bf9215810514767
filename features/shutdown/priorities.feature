@core
Feature: Pods end class by class before a machine goes down
  Source: pkg/kubelet/nodeshutdown/nodeshutdown_manager.go (v1.34), groupByPriority
  Source: https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown/, "Pod priority based graceful node shutdown"

  Background:
    Given no other Node
    And the objects:
      """
      apiVersion: scheduling.k8s.io/v1
      kind: PriorityClass
      metadata: {name: custom-class-a}
      value: 100000
      ---
      apiVersion: scheduling.k8s.io/v1
      kind: PriorityClass
      metadata: {name: custom-class-b}
      value: 10000
      ---
      apiVersion: scheduling.k8s.io/v1
      kind: PriorityClass
      metadata: {name: custom-class-c}
      value: 1000
      ---
      apiVersion: scheduling.k8s.io/v1
      kind: PriorityClass
      metadata: {name: below-b}
      value: 9999
      ---
      apiVersion: scheduling.k8s.io/v1
      kind: PriorityClass
      metadata: {name: negative}
      value: -5
      """

  Rule: Each class has its seconds, the highest comes last

    @req:GS-07
    Scenario Outline: A Pod of class "<class>" has the time <window> of the whole
      With one Pod in each band, each with time enough and without an end of its own, the windows follow each other.

      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | shutdownGracePeriodByPodPriority | [{"priority":100000,"shutdownGracePeriodSeconds":10},{"priority":10000,"shutdownGracePeriodSeconds":180},{"priority":1000,"shutdownGracePeriodSeconds":120},{"priority":0,"shutdownGracePeriodSeconds":60}] |
      And the objects in "shutdown/one_pod_in_each_band.yaml"
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: looked-at
          annotations: {nodeproof.dev/main.stops-after: never}
        spec:
          nodeName: worker-1
          priorityClassName: <class>
          terminationGracePeriodSeconds: 600
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      And Pod "looked-at" field status.phase is "Running"
      And Pod "band-0" field status.phase is "Running"
      And Pod "band-1000" field status.phase is "Running"
      And Pod "band-10000" field status.phase is "Running"
      And Pod "band-100000" field status.phase is "Running"
      When machine "worker-1" shuts down
      Then no Event Killing about Pod "looked-at" for <before>
      And Event Killing about Pod "looked-at" within <begins>
      And container "main" of Pod "looked-at" keeps running on machine "worker-1" for <runs>
      And container "main" of Pod "looked-at" stops on machine "worker-1" within <ends>
      And Pod "looked-at" field status.reason is "Terminated" within <ends>

      Examples:
        | class                   | window          | before | begins | runs   | ends |
        | custom-class-c          | 60 s to 180 s   | 59s    | 61s    | 179s   | 181s |
        | below-b                 | 60 s to 180 s   | 59s    | 61s    | 179s   | 181s |
        | custom-class-b          | 180 s to 360 s  | 179s   | 181s   | 359s   | 361s |
        | custom-class-a          | 360 s to 370 s  | 359s   | 361s   | 369s   | 371s |
        | system-cluster-critical | 360 s to 370 s  | 359s   | 361s   | 369s   | 371s |

    @req:GS-07
    Scenario Outline: A Pod <what> is among the first
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | shutdownGracePeriodByPodPriority | [{"priority":100000,"shutdownGracePeriodSeconds":10},{"priority":10000,"shutdownGracePeriodSeconds":180},{"priority":1000,"shutdownGracePeriodSeconds":120},{"priority":0,"shutdownGracePeriodSeconds":60}] |
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: looked-at
          annotations: {nodeproof.dev/main.stops-after: never}
        spec:
          nodeName: worker-1
          priorityClassName: "<class>"
          terminationGracePeriodSeconds: 600
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      And Pod "looked-at" field status.phase is "Running"
      When machine "worker-1" shuts down
      Then Event Killing about Pod "looked-at" within 1s
      And container "main" of Pod "looked-at" keeps running on machine "worker-1" for 59s
      And container "main" of Pod "looked-at" stops on machine "worker-1" within 61s

      Examples:
        | what                  | class    |
        | without a class       |          |
        | of a negative class   | negative |

    @req:GS-08
    Scenario Outline: Without an entry for <class> its Pods fall into the next lower one: <band> s
      The second table of the documentation has no entry for custom-class-b.

      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | shutdownGracePeriodByPodPriority | [{"priority":100000,"shutdownGracePeriodSeconds":300},{"priority":1000,"shutdownGracePeriodSeconds":120},{"priority":0,"shutdownGracePeriodSeconds":60}] |
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: looked-at
          annotations: {nodeproof.dev/main.stops-after: never}
        spec:
          nodeName: worker-1
          priorityClassName: <class>
          terminationGracePeriodSeconds: 600
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      And Pod "looked-at" field status.phase is "Running"
      When machine "worker-1" shuts down
      Then Event Killing about Pod "looked-at" within 1s
      And container "main" of Pod "looked-at" keeps running on machine "worker-1" for <runs>
      And container "main" of Pod "looked-at" stops on machine "worker-1" within <ends>

      Examples:
        | class                | band | runs | ends |
        | custom-class-c       | 120  | 119s | 121s |
        | custom-class-b       | 120  | 119s | 121s |
        | custom-class-a       | 300  | 299s | 301s |
        | system-node-critical | 300  | 299s | 301s |
        | negative             | 60   | 59s  | 61s  |

  Rule: What a Pod and a band have in common

    @req:GS-07
    Scenario Outline: A Pod gets <what>
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | shutdownGracePeriodByPodPriority | [{"priority":0,"shutdownGracePeriodSeconds":<band>}] |
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: looked-at
          annotations: {nodeproof.dev/main.stops-after: never}
        spec:
          nodeName: worker-1
          terminationGracePeriodSeconds: <own>
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      And Pod "looked-at" field status.phase is "Running"
      When machine "worker-1" announces a shutdown
      Then container "main" of Pod "looked-at" keeps running on machine "worker-1" for <runs>
      And container "main" of Pod "looked-at" stops on machine "worker-1" within <ends>

      Examples:
        | what                               | band | own | runs   | ends |
        | no more than its band has          | 5    | 30  | 4900ms | 6s   |
        | no more than it asks for itself    | 30   | 5   | 4900ms | 6s   |
        | 2 s at least, whatever the band    | 1    | 30  | 1900ms | 3s   |
        | 2 s at least, whatever it asks for | 30   | 0   | 1900ms | 3s   |
        | 2 s even from a negative band      | -3   | 30  | 1900ms | 3s   |

    @req:GS-09
    Scenario: Bands without Pods are skipped at once
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | shutdownGracePeriodByPodPriority | [{"priority":0,"shutdownGracePeriodSeconds":60},{"priority":1000,"shutdownGracePeriodSeconds":120},{"priority":10000,"shutdownGracePeriodSeconds":180},{"priority":100000,"shutdownGracePeriodSeconds":10}] |
      And the objects:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: low
          annotations: {nodeproof.dev/main.stops-after: 3s}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        ---
        apiVersion: v1
        kind: Pod
        metadata:
          name: high
          annotations: {nodeproof.dev/main.stops-after: 4s}
        spec:
          nodeName: worker-1
          priorityClassName: custom-class-a
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      And Pod "low" field status.phase is "Running"
      And Pod "high" field status.phase is "Running"
      And 30s pass
      When machine "worker-1" shuts down
      Then container "main" of Pod "low" stops on machine "worker-1" between 2900ms and 3900ms
      And no Event Killing about Pod "high" for 2500ms
      And Event Killing about Pod "high" within 4s
      And container "main" of Pod "high" stops on machine "worker-1" between 6900ms and 8s

    @req:GS-10
    Scenario Outline: Without <what> the classes are not told apart
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | <setting>           | <value> |
        | shutdownGracePeriod | 20s     |
      And the objects:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: low
          annotations: {nodeproof.dev/main.stops-after: 5s}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        ---
        apiVersion: v1
        kind: Pod
        metadata:
          name: high
          annotations: {nodeproof.dev/main.stops-after: 3s}
        spec:
          nodeName: worker-1
          priorityClassName: custom-class-a
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      And Pod "low" field status.phase is "Running"
      And Pod "high" field status.phase is "Running"
      When machine "worker-1" announces a shutdown
      Then container "main" of Pod "high" stops on machine "worker-1" between 2900ms and 3900ms
      And container "main" of Pod "low" stops on machine "worker-1" between 4900ms and 6s
      And Node "worker-1" has condition Ready=False within 1s

      Examples:
        | what              | setting                          | value                                             |
        | periods by class  | shutdownGracePeriodByPodPriority | []                                                |
        | their gate        | featureGates                     | {"GracefulNodeShutdownBasedOnPodPriority": false} |
