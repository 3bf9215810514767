@core
Feature: What happens while a machine is about to shut down
  Source: pkg/kubelet/nodeshutdown/nodeshutdown_manager_linux.go (v1.34), start, Admit and ShutdownStatus
  Source: one signal is handled after the other, so a cancellation waits for the last phase

  Background:
    Given no other Node
    And a ready Node "worker-1"
    And whose kubelet runs with:
      | shutdownGracePeriod             | 20s |
      | shutdownGracePeriodCriticalPods | 8s  |

  @req:GS-12
  Rule: New Pods are refused

    Scenario Outline: A new Pod, <what>, is refused
      Given machine "worker-1" announces a shutdown
      And 5s pass
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: late
        spec:
          nodeName: worker-1
          priorityClassName: "<class>"
          tolerations: [{operator: Exists}]
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      Then Pod "late" field status.phase is "Failed" within 2s
      And Pod "late" field status.reason is "NodeShutdown" within 2s
      And Pod "late" field status.message is "Pod was rejected: Pod was rejected as the node is shutting down." within 2s
      And Event NodeShutdown about Pod "late", message "Pod was rejected as the node is shutting down." within 2s
      And Pod "late" keeps field status.containerStatuses absent for 2m
      And Pod "late" stays for 2m

      Examples:
        | what     | class                |
        | ordinary |                      |
        | critical | system-node-critical |

    Scenario: What is wrong with it otherwise is said first
      Given machine "worker-1" announces a shutdown
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: late
        spec:
          nodeName: worker-1
          containers:
            - name: main
              image: "registry.k8s.io/pause:3.10"
              resources: {requests: {cpu: "1000"}}
        """
      Then Pod "late" field status.reason is "OutOfcpu" within 2s
      And no Event NodeShutdown about Pod "late" for 1m

  @req:GS-12
  Rule: After a cancellation the node is ready again

    Scenario: A shutdown is called off after the last phase
      Given a ready Node "worker-2"
      And a Pod "web" on Node "worker-1"
      And machine "worker-1" announces a shutdown
      And Node "worker-1" has taint "node.kubernetes.io/not-ready:NoExecute"
      And 30s pass
      When machine "worker-1" calls its shutdown off
      Then Event Shutdown about Node "worker-1", message "Shutdown manager detected shutdown cancellation" within 1s
      And Node "worker-1" has condition Ready=True, reason "KubeletReady" within 11s
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule" within 11s
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoExecute" within 17s
      And Pod "web" keeps field status.phase "Succeeded" for 2m
      And the history of Node "worker-1" matches its snapshot

    Scenario: A new Pod is taken again
      Given machine "worker-1" announces a shutdown
      And 10s pass
      And machine "worker-1" calls its shutdown off
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: later
        spec:
          nodeName: worker-1
          tolerations: [{operator: Exists}]
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      Then Pod "later" field status.phase is "Running" within 5s
      And Pod "later" keeps field status.reason absent for 1m

    Scenario: A shutdown that is called off in the middle goes on to its last phase
      Given a Pod "web" on Node "worker-1" that takes 1m to stop
      And machine "worker-1" announces a shutdown
      When machine "worker-1" calls its shutdown off
      Then Node "worker-1" keeps condition Ready=False for 6s
      And container "main" of Pod "web" stops on machine "worker-1" between 6s and 13s
      And Node "worker-1" has condition Ready=True between 6s and 24s

    Scenario: The machine stays up, and shuts down when it is told to once more
      Given a Pod "web" on Node "worker-1" that takes 5s to stop
      And machine "worker-1" shuts down in 1m
      And 20s pass
      And machine "worker-1" calls its shutdown off
      And Node "worker-1" has condition Ready=True
      And a Pod "other" on Node "worker-1" that takes 5s to stop
      And 1m passes
      When machine "worker-1" shuts down
      Then Node "worker-1" has condition Ready=False, message "node is shutting down" within 1s
      And container "main" of Pod "other" stops on machine "worker-1" between 4s and 6s
      And Node "worker-1" has condition Ready=Unknown between 34s and 68s

  @req:GS-01
  Rule: A shutdown with a delay is announced at once and carried out after it

    Scenario: The delay is longer than the phases
      Given a Pod "web" on Node "worker-1" that takes 5s to stop
      When machine "worker-1" shuts down in 1m
      Then Node "worker-1" has condition Ready=False, message "node is shutting down" within 1s
      And container "main" of Pod "web" stops on machine "worker-1" between 4s and 6s
      And Node "worker-1" keeps condition Ready=False for 89s
      And Node "worker-1" has condition Ready=Unknown within 128s

    Scenario: The delay is shorter than the phases
      Given a Pod "web" on Node "worker-1" that takes 10s to stop
      When machine "worker-1" shuts down in 2s
      Then container "main" of Pod "web" keeps running on machine "worker-1" for 9s
      And Pod "web" field status.phase is "Succeeded" between 9s and 12s

  @req:GS-01
  Rule: What the kubelet knows of a shutdown ends with its process

    Scenario: The kubelet restarts while the machine stays up
      Given a Pod "web" on Node "worker-1" that takes 10s to stop
      And machine "worker-1" announces a shutdown
      And 5s pass
      When the kubelet on "worker-1" restarts
      Then Node "worker-1" has condition Ready=True within 5s
      And container "main" of Pod "web" stops on machine "worker-1" within 6s
      And Pod "web" field status.containerStatuses[main].restartCount is 1 within 10s
      And Pod "web" keeps field status.phase "Running" for 2m
      And Pod "web" never has condition DisruptionTarget=True for 2m

    Scenario: Nobody kills what the last kubelet would have killed
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
      And machine "worker-1" announces a shutdown
      When the kubelet on "worker-1" restarts
      Then container "main" of Pod "stubborn" keeps running on machine "worker-1" for 1m
      And Node "worker-1" has condition Ready=True within 5s

    Scenario Outline: A machine that shuts down does not wait for a kubelet that <ends>
      Given a Pod "web" on Node "worker-1" that takes 10s to stop
      And machine "worker-1" shuts down
      And 2s pass
      When the kubelet on "worker-1" <ends>
      Then container "main" of Pod "web" stops on machine "worker-1" at once
      And Pod "web" keeps field status.phase "Running" for 2m

      Examples:
        | ends      |
        | is killed |
        | restarts  |

    Scenario: A frozen kubelet holds the machine up for as long as logind allows
      Given a Pod "web" on Node "worker-1" that takes 1m to stop
      And the kubelet on "worker-1" freezes
      When machine "worker-1" shuts down
      Then container "main" of Pod "web" keeps running on machine "worker-1" for 19s
      And container "main" of Pod "web" stops on machine "worker-1" between 19s and 21s
      And no Event Shutdown about Node "worker-1" for 2m
