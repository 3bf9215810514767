@core
Feature: A shutdown waits for no pod unless the kubelet is told to
  Source: pkg/kubelet/nodeshutdown/nodeshutdown_manager_linux.go (v1.34), NewManager; both periods are 0s by default
  Source: pkg/kubelet/apis/config/v1beta1/defaults.go (v1.34), SetDefaults_KubeletConfiguration

  @req:GS-02
  Rule: With both periods at zero nothing happens before the machine is off

    Scenario Outline: The pod is left behind with <setting> <value>
      It would need 20 s to stop and gets none; the API server learns nothing of it.

      Given a machine "worker-1"
      And whose kubelet runs with:
        | <setting> | <value> |
      And Node "worker-1" has condition Ready=True
      And a Pod "web" on Node "worker-1" that takes 20s to stop
      And 1m passes
      When machine "worker-1" shuts down
      Then container "main" of Pod "web" stops on machine "worker-1" at once
      And Node "worker-1" keeps condition Ready=True for 29s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between 29s and 61s
      And Node "worker-1" never has condition Ready=False for 5m
      And no Event Shutdown about Node "worker-1" for 5m
      And Pod "web" keeps field status.phase "Running" for 5m
      And Pod "web" keeps field status.reason absent for 5m
      But Pod "web" never has condition DisruptionTarget=True for 5m
      And Pod "web" keeps field status.containerStatuses[main].state.running.startedAt unchanged for 5m

      Examples:
        | setting                          | value                                             |
        | shutdownGracePeriod              | 0s                                                |
        | shutdownGracePeriodCriticalPods  | 0s                                                |
        | shutdownGracePeriodByPodPriority | []                                                |
        | featureGates                     | {"GracefulNodeShutdown": true}                    |
        | featureGates                     | {"GracefulNodeShutdownBasedOnPodPriority": false} |

      @until:1.34
      Examples:
        | setting      | value                           |
        | featureGates | {"GracefulNodeShutdown": false} |

      @since:1.35
      Examples:
        | setting      | value |
        | featureGates | {"GracefulNodeShutdown": false, "GracefulNodeShutdownBasedOnPodPriority": false, "WindowsGracefulNodeShutdown": false} |

    Scenario: A critical pod gets no more time than any other
      Given a ready Node "worker-1"
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: critical
          annotations: {nodeproof.dev/main.stops-after: 20s}
        spec:
          nodeName: worker-1
          priorityClassName: system-node-critical
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      And Pod "critical" field status.phase is "Running"
      And a Pod "web" on Node "worker-1" that takes 20s to stop
      When machine "worker-1" shuts down
      Then container "main" of Pod "critical" stops on machine "worker-1" at once
      And container "main" of Pod "web" stops on machine "worker-1" at once
      And Pod "critical" keeps field status.phase "Running" for 5m
      And Node "worker-1" has condition Ready=Unknown between 29s and 61s

    Scenario: A new pod is refused by nobody before the end
      Given no other Node
      And a ready Node "worker-1"
      And machine "worker-1" shuts down in 30s
      And 5s pass
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: late
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        """
      Then Pod "late" field status.phase is "Running" within 10s
      And no Event NodeShutdown about Pod "late" for 2m
      And Node "worker-1" never has condition Ready=False for 2m
      And Node "worker-1" has condition Ready=Unknown between 49s and 86s
