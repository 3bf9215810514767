@core
Feature: Before a machine goes down its Pods end, ordinary ones first
  Source: pkg/kubelet/nodeshutdown/nodeshutdown_manager.go (v1.34), killPods and groupByPriority
  Source: pkg/kubelet/nodeshutdown/nodeshutdown_manager_linux.go (v1.34), start and processShutdownEvent

  @req:GS-01
  Rule: The kubelet delays the shutdown, and tells the API server of it at once

    Background:
      Given no other Node

    Scenario: A Pod that needs some seconds to stop gets them
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | shutdownGracePeriod             | 30s |
        | shutdownGracePeriodCriticalPods | 10s |
      And a Pod "web" on Node "worker-1" that takes 5s to stop
      And 30s pass
      When machine "worker-1" shuts down
      Then Event Shutdown about Node "worker-1", message "Shutdown manager detected shutdown event" within 1s
      And Node "worker-1" has condition Ready=False, reason "KubeletNotReady", message "node is shutting down" within 1s
      And Event NodeNotReady about Node "worker-1" within 1s
      And Node "worker-1" has taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      And container "main" of Pod "web" keeps running on machine "worker-1" for 4s
      And container "main" of Pod "web" stops on machine "worker-1" between 4s and 6s
      And Pod "web" keeps field status.phase "Running" for 4s
      And Pod "web" field status.phase is "Succeeded" between 4s and 7s
      And Node "worker-1" keeps condition MemoryPressure=False for 29s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between 33s and 68s
      And Pod "web" stays for 2m
      And the history of Node "worker-1" matches its snapshot
      And the history of Pod "web" matches its snapshot

    Scenario: The signal alone: the machine stays up, and so does the Lease
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | shutdownGracePeriod             | 10s |
        | shutdownGracePeriodCriticalPods | 4s  |
      And a Pod "web" on Node "worker-1"
      And 30s pass
      When machine "worker-1" announces a shutdown
      Then Node "worker-1" has condition Ready=False, reason "KubeletNotReady", message "node is shutting down" within 1s
      And the Lease of Node "worker-1" is renewed every 10s to 10.5s for 2m
      And Pod "web" has condition DisruptionTarget=True, reason "TerminationByKubelet", message "Pod was terminated in response to imminent node shutdown." within 3s
      And Pod "web" field status.phase is "Succeeded" within 3s
      And Node "worker-1" never has condition Ready=Unknown for 2m
      And 1 Event Shutdown about Node "worker-1" within 1s

    Scenario: Where nothing runs, nothing is waited for
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | shutdownGracePeriod             | 5m |
        | shutdownGracePeriodCriticalPods | 1m |
      And 30s pass
      When machine "worker-1" shuts down
      Then Event Shutdown about Node "worker-1" within 1s
      And Node "worker-1" has condition Ready=Unknown between 29s and 66s

    Scenario: A power failure announces nothing
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | shutdownGracePeriod             | 30s |
        | shutdownGracePeriodCriticalPods | 10s |
      And a Pod "web" on Node "worker-1" that takes 5s to stop
      When machine "worker-1" loses power
      Then container "main" of Pod "web" stops on machine "worker-1" at once
      And no Event Shutdown about Node "worker-1" for 2m
      And Node "worker-1" never has condition Ready=False for 2m
      And Pod "web" keeps field status.phase "Running" for 2m

    Scenario Outline: The end of the kubelet alone, as it <ends>, is no shutdown
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | shutdownGracePeriod             | 30s |
        | shutdownGracePeriodCriticalPods | 10s |
      And a Pod "web" on Node "worker-1" that takes 5s to stop
      When the kubelet on "worker-1" <ends>
      Then container "main" of Pod "web" keeps running on machine "worker-1" for 2m
      And Node "worker-1" has condition Ready=Unknown within 68s
      And no Event Shutdown about Node "worker-1" for 2m
      And Node "worker-1" never has condition Ready=False for 2m

      Examples:
        | ends      |
        | stops     |
        | is killed |

  @req:GS-03 @req:GS-04
  Rule: 30 s in all and 10 s for critical Pods are 20 s and 10 s

    Background:
      Given no other Node
      And a ready Node "worker-1"
      And whose kubelet runs with:
        | shutdownGracePeriod             | 30s |
        | shutdownGracePeriodCriticalPods | 10s |
      And the objects:
        """
        apiVersion: scheduling.k8s.io/v1
        kind: PriorityClass
        metadata: {name: batch}
        value: -100
        ---
        apiVersion: scheduling.k8s.io/v1
        kind: PriorityClass
        metadata: {name: data}
        value: 1000
        ---
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
          annotations: {nodeproof.dev/main.stops-after: 5s}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        ---
        apiVersion: v1
        kind: Pod
        metadata:
          name: db
          annotations: {nodeproof.dev/main.stops-after: 15s}
        spec:
          nodeName: worker-1
          priorityClassName: data
          terminationGracePeriodSeconds: 10
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        ---
        apiVersion: v1
        kind: Pod
        metadata:
          name: coredns
          annotations: {nodeproof.dev/main.stops-after: 4s}
        spec:
          nodeName: worker-1
          priorityClassName: system-cluster-critical
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        ---
        apiVersion: v1
        kind: Pod
        metadata:
          name: kube-proxy
          annotations: {nodeproof.dev/main.stops-after: 1s}
        spec:
          nodeName: worker-1
          priorityClassName: system-node-critical
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """

    Scenario: One Pod uses all of the first 20 s, and the others their own time
      Given the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: batch
          annotations: {nodeproof.dev/main.stops-after: never}
        spec:
          nodeName: worker-1
          priorityClassName: batch
          terminationGracePeriodSeconds: 60
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      And Pod "batch" field status.phase is "Running"
      And Pod "kube-proxy" field status.phase is "Running"
      And Pod "db" field status.phase is "Running"
      And 30s pass
      When machine "worker-1" shuts down
      Then container "main" of Pod "web" stops on machine "worker-1" between 4900ms and 5900ms
      And container "main" of Pod "db" stops on machine "worker-1" between 9900ms and 10900ms
      And container "main" of Pod "batch" stops on machine "worker-1" between 19900ms and 20900ms
      And container "main" of Pod "kube-proxy" stops on machine "worker-1" between 20900ms and 21900ms
      And container "main" of Pod "coredns" stops on machine "worker-1" between 23900ms and 24900ms
      And Event Killing about Pod "web" within 1s
      And no Event Killing about Pod "coredns" for 19s
      And no Event Killing about Pod "kube-proxy" for 19s
      And Pod "db" field status.containerStatuses[main].state.terminated.exitCode is 137 within 12s
      And Pod "db" field status.phase is "Failed" between 9s and 12s
      And Pod "batch" field status.phase is "Failed" between 19s and 22s
      And Pod "coredns" field status.phase is "Succeeded" between 23s and 26s
      And the history of Pod "batch" matches its snapshot

    Scenario: Pods that end early end the phases early
      Given Pod "db" field status.phase is "Running"
      And Pod "kube-proxy" field status.phase is "Running"
      And 30s pass
      When machine "worker-1" shuts down
      Then container "main" of Pod "db" stops on machine "worker-1" between 9900ms and 10900ms
      And container "main" of Pod "kube-proxy" stops on machine "worker-1" between 10900ms and 12s
      And container "main" of Pod "coredns" stops on machine "worker-1" between 13900ms and 15s

  @req:GS-04
  Rule: A phase of no seconds kills its Pods as fast as a Pod can be killed

    Scenario Outline: <total> in all, <critical> for critical Pods
      The shortest time that a container gets is 2 s.

      Given no other Node
      And a ready Node "worker-1"
      And whose kubelet runs with:
        | shutdownGracePeriod             | <total>    |
        | shutdownGracePeriodCriticalPods | <critical> |
      And the objects:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
          annotations: {nodeproof.dev/main.stops-after: never}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        ---
        apiVersion: v1
        kind: Pod
        metadata:
          name: dns
          annotations: {nodeproof.dev/main.stops-after: never}
        spec:
          nodeName: worker-1
          priorityClassName: system-cluster-critical
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      And Pod "web" field status.phase is "Running"
      And Pod "dns" field status.phase is "Running"
      And 30s pass
      When machine "worker-1" announces a shutdown
      Then container "main" of Pod "web" stops on machine "worker-1" between <web>
      And container "main" of Pod "dns" stops on machine "worker-1" between <dns>

      Examples:
        | total  | critical | web               | dns               |
        | 6s     | 0s       | 5900ms and 6900ms | 7900ms and 8900ms |
        | 6s     | 6s       | 1900ms and 2900ms | 5900ms and 6900ms |
        | 6500ms | 2s       | 3900ms and 4900ms | 5900ms and 6900ms |
