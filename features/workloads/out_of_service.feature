@core
Feature: A node that is out of service lets its terminating Pods go
  Source: pkg/controller/podgc/gc_controller.go (v1.34), gcTerminating

  Rule: The taint out-of-service, whatever its value and effect, ends terminating Pods at the collector's next pass

    Scenario Outline: A dead node gets the taint with the effect <effect>
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And machine "worker-1" loses power
      And Node "worker-1" has condition Ready=Unknown
      And the user deletes Pod "web"
      And 60s pass
      And Pod "web" is deleted
      When the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:<effect>"
      Then Pod "web" is gone within 21s

      Examples:
        | effect     |
        | NoSchedule |
        | NoExecute  |

    Scenario: The taint of a node that is ready ends nothing
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1" that takes 200s to stop
      And the user deletes Pod "web"
      When the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:NoSchedule"
      Then Node "worker-1" has taint "node.kubernetes.io/out-of-service=nodeshutdown:NoSchedule" within 1s
      And Pod "web" stays terminating for 25s
