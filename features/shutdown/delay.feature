@core
Feature: A machine waits for its kubelet only as long as logind allows
  Source: pkg/kubelet/nodeshutdown/nodeshutdown_manager_linux.go (v1.34 and v1.35), start
  Source: pkg/kubelet/nodeshutdown/systemd/inhibit_linux.go (v1.34), OverrideInhibitDelay

  @req:GS-01
  Rule: A kubelet that needs more than InhibitDelayMaxSec raises it, if it can

    Scenario Outline: logind allows <allowed>, the Pods get their 20 s
      Given no other Node
      And a machine "worker-1" with:
        | inhibitMaxDelay | <allowed> |
      And whose kubelet runs with:
        | shutdownGracePeriod | 20s |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      And a Pod "web" on Node "worker-1" that takes 15s to stop
      When machine "worker-1" shuts down
      Then container "main" of Pod "web" keeps running on machine "worker-1" for 14s
      And container "main" of Pod "web" stops on machine "worker-1" between 14s and 16s
      And Pod "web" field status.phase is "Succeeded" within 17s

      Examples:
        | allowed |
        | 0s      |
        | 5s      |
        | 20s     |
        | 5m      |

    @sim-only:faults
    Scenario Outline: Where <failing> keeps it from that, nothing is delayed
      Given no other Node
      And a machine "worker-1" with:
        | failing | ["<failing>"] |
      And whose kubelet runs with:
        | shutdownGracePeriod | 20s |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      And a Pod "web" on Node "worker-1" that takes 15s to stop
      When machine "worker-1" shuts down
      Then container "main" of Pod "web" stops on machine "worker-1" at once
      And no Event Shutdown about Node "worker-1" for 2m
      And Pod "web" keeps field status.phase "Running" for 2m
      And Node "worker-1" never has condition Ready=False for 2m

      Examples:
        | failing       |
        | inhibit-delay |
        | logind        |

    @sim-only:faults
    Scenario: Another drop-in file that allows enough is no hindrance
      Given no other Node
      And a machine "worker-1" with:
        | failing         | ["inhibit-delay"] |
        | inhibitMaxDelay | 20s               |
      And whose kubelet runs with:
        | shutdownGracePeriod | 20s |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      And a Pod "web" on Node "worker-1" that takes 15s to stop
      When machine "worker-1" shuts down
      Then container "main" of Pod "web" stops on machine "worker-1" between 14s and 16s
      And Node "worker-1" has condition Ready=False within 1s
