@core
Feature: What becomes of the Pods of a machine that shuts down
  Source: pkg/kubelet/nodeshutdown/nodeshutdown_manager.go (v1.34), killPods
  Source: pkg/kubelet/kubelet_pods.go (v1.34), generateAPIPodStatus: a reason belongs to its phase
  Source: pkg/kubelet/kubelet.go (v1.34), SyncTerminatingPod: what is being ended is not interrupted

  Background:
    Given no other Node
    And a ready Node "worker-1"
    And whose kubelet runs with:
      | shutdownGracePeriod             | 20s |
      | shutdownGracePeriodCriticalPods | 8s  |

  @req:GS-06
  Rule: The Pod says why it ended

    Scenario: A Pod that had to be killed has failed
      Given the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: stubborn
          annotations: {nodeproof.dev/main.stops-after: never}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      And Pod "stubborn" field status.phase is "Running"
      And 30s pass
      When machine "worker-1" announces a shutdown
      Then Pod "stubborn" keeps field status.phase "Running" for 11s
      And Pod "stubborn" never has condition DisruptionTarget=True for 11s
      And Pod "stubborn" field status.phase is "Failed" within 14s
      And Pod "stubborn" field status.reason is "Terminated" within 14s
      And Pod "stubborn" field status.message is "Pod was terminated in response to imminent node shutdown." within 14s
      And Pod "stubborn" has condition DisruptionTarget=True, reason "TerminationByKubelet", message "Pod was terminated in response to imminent node shutdown." within 14s
      And Pod "stubborn" has condition Ready=False, reason "PodFailed" within 14s
      And Pod "stubborn" field status.containerStatuses[main].state.terminated.exitCode is 137 within 14s
      And the table of pods matches its snapshot
      And the history of Pod "stubborn" matches its snapshot

    Scenario Outline: A Pod that ends by itself with code <code> has <phase>
      Given the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: polite
          annotations: {nodeproof.dev/main.stops-after: 3s, nodeproof.dev/main.exit-code: "<code>"}
        spec:
          nodeName: worker-1
          restartPolicy: <policy>
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      And Pod "polite" field status.phase is "Running"
      When machine "worker-1" announces a shutdown
      Then Pod "polite" field status.phase is "<phase>" between 2s and 5s
      And Pod "polite" <reason>
      And Pod "polite" <message>
      And Pod "polite" has condition DisruptionTarget=True, reason "TerminationByKubelet" within 5s
      And Pod "polite" keeps field status.containerStatuses[main].restartCount 0 for 2m

      Examples:
        | code | policy    | phase     | reason                                          | message |
        | 0    | Always    | Succeeded | keeps field status.reason absent for 1m         | keeps field status.message absent for 1m |
        | 0    | Never     | Succeeded | keeps field status.reason absent for 1m         | keeps field status.message absent for 1m |
        | 3    | Always    | Failed    | field status.reason is "Terminated" within 5s   | field status.message is "Pod was terminated in response to imminent node shutdown." within 5s |
        | 3    | OnFailure | Failed    | field status.reason is "Terminated" within 5s   | field status.message is "Pod was terminated in response to imminent node shutdown." within 5s |

    Scenario: A Pod that has ended before stays as it is
      Given the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: done
          annotations: {nodeproof.dev/main.crashes-after: 1s, nodeproof.dev/main.exit-code: "0"}
        spec:
          nodeName: worker-1
          restartPolicy: Never
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      And Pod "done" field status.phase is "Succeeded"
      When machine "worker-1" announces a shutdown
      Then Node "worker-1" has condition Ready=False within 1s
      And nothing else about Pod "done" changes
      And Pod "done" never has condition DisruptionTarget=True for 2m
      And no Event Killing about Pod "done" for 2m

    Scenario: A Pod that is being deleted already keeps the time that it has
      Given a Pod "web" on Node "worker-1" that takes 10m to stop
      When the user deletes Pod "web"
      And 1s passes
      And machine "worker-1" announces a shutdown
      Then Node "worker-1" has condition Ready=False, reason "KubeletNotReady", within 1s
      And container "main" of Pod "web" keeps running on machine "worker-1" for 28s
      And container "main" of Pod "web" stops on machine "worker-1" within 30s
      And Pod "web" is gone within 32s

    Scenario: That it was evicted before is not told any more
      Given the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
          annotations: {nodeproof.dev/main.stops-after: 9s, nodeproof.dev/main.exit-code: "1"}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      And Pod "web" field status.phase is "Running"
      When the user evicts Pod "web"
      Then Pod "web" has condition DisruptionTarget=True, reason "EvictionByEvictionAPI", within 1s
      When machine "worker-1" announces a shutdown
      Then Pod "web" has condition DisruptionTarget=True, reason "TerminationByKubelet", message "Pod was terminated in response to imminent node shutdown." within 12s
      And Pod "web" is gone within 12s

    Scenario: Without its API server the machine goes down all the same
      Given a Pod "web" on Node "worker-1" that takes 5s to stop
      And machine "worker-1" loses its connection to the API server
      When machine "worker-1" shuts down
      Then container "main" of Pod "web" keeps running on machine "worker-1" for 4s
      And container "main" of Pod "web" stops on machine "worker-1" within 6s
      And Pod "web" keeps field status.phase "Running" for 5m
      And Node "worker-1" never has condition Ready=False for 5m
      And Node "worker-1" has condition Ready=Unknown within 68s

  @req:GS-06
  Rule: A workload makes new Pods where it can

    Scenario: The Pod of a Deployment ends, and its successor waits for a Node
      Given a Deployment "web" of 1 Pod
      And 30s pass
      When machine "worker-1" shuts down
      Then 0 Pods of "web" are running within 5s
      And the Pods of "web" have condition PodScheduled=False, reason "Unschedulable" within 10s

    Scenario: With the machine back the successor runs, and the ended Pod stays
      Given a Pod "alone" on Node "worker-1"
      And a Deployment "web" of 1 Pod
      And machine "worker-1" shuts down
      And 30s pass
      When machine "worker-1" gets power
      Then 1 Pod of "web" is running within 1m
      And Node "worker-1" has condition Ready=True, reason "KubeletReady" within 30s
      And Event Rebooted about Node "worker-1" within 30s
      And Pod "alone" keeps field status.phase "Succeeded" for 2m
      And Pod "alone" keeps field status.containerStatuses[main].restartCount 0 for 2m

    Scenario: The Pod of a StatefulSet is made again under its name
      Given a StatefulSet "db" of 1 Pod
      And 30s pass
      When machine "worker-1" shuts down
      Then Pod "db-0" has condition PodScheduled=False within 10s
      And Pod "db-0" field status.phase is "Pending" within 10s

    Scenario: The Pod of a DaemonSet is made again once the node is ready
      No Pod of a DaemonSet tolerates not-ready:NoSchedule unless the DaemonSet says so.

      Given a DaemonSet "agent" of 1 Pod
      And machine "worker-1" announces a shutdown
      And 0 Pods of "agent" are running
      And 10s pass
      When machine "worker-1" calls its shutdown off
      Then 1 Pod of "agent" is running between 1s and 30s

    Scenario: The Pod of a DaemonSet that tolerates everything is made again at once, and refused
      Given the objects:
        """
        apiVersion: apps/v1
        kind: DaemonSet
        metadata: {name: agent}
        spec:
          selector: {matchLabels: {app: agent}}
          template:
            metadata: {labels: {app: agent}}
            spec:
              tolerations: [{operator: Exists}]
              containers:
                - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      And 1 Pod of "agent" is running
      When machine "worker-1" announces a shutdown
      Then the Pod of "agent" field status.reason is "NodeShutdown" within 10s
      And Node "worker-1" has condition Ready=False within 1s
