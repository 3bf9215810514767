@core @req:NC-03
Feature: A machine shuts down, and its kubelet tells nobody
  Source: pkg/kubelet/nodeshutdown/nodeshutdown_manager_linux.go (v1.34), NewManager
  Source: shutdownGracePeriod is 0s by default, pkg/kubelet/apis/config/v1beta1/defaults.go (v1.34)

  Rule: Without a shutdownGracePeriod the Node falls silent when the machine goes down, and not before

    @since:1.32
    Scenario: A shutdown that is announced
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When machine "worker-1" shuts down in 20s
      Then the Lease of Node "worker-1" is renewed every 10s to 10.5s for 19s
      And Node "worker-1" keeps condition Ready=True for 59s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between 59s and 76s
      But Pod "web" keeps field status.phase "Running" for 100s
      And no Event Shutdown about Node "worker-1" for 100s

    @until:1.31
    Scenario: A shutdown that is announced, up to 1.31
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When machine "worker-1" shuts down in 20s
      Then the Lease of Node "worker-1" is renewed every 10s to 10.5s for 19s
      And Node "worker-1" keeps condition Ready=True for 49s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between 49s and 66s
      But Pod "web" keeps field status.phase "Running" for 90s
      And no Event Shutdown about Node "worker-1" for 90s

    Scenario: A shutdown that is called off
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And machine "worker-1" shuts down in 20s
      And 5s pass
      When machine "worker-1" calls its shutdown off
      Then the Lease of Node "worker-1" is renewed every 10s to 10.5s for 1m
      And Node "worker-1" keeps condition Ready=True for 1m
      And Pod "web" keeps field status.phase "Running" for 1m

    Scenario: With the power the machine and its Pods are back
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And machine "worker-1" shuts down
      And Node "worker-1" has condition Ready=Unknown
      When machine "worker-1" gets power
      Then Event Rebooted about Node "worker-1" within 30s
      And Node "worker-1" has condition Ready=True within 60s
      And Pod "web" field status.containerStatuses[main].restartCount is 1 within 60s
      And the history of Pod "web" matches its snapshot
