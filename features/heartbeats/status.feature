@core
Feature: A kubelet writes the status of its Node
  Source: pkg/kubelet/kubelet_node_status.go (v1.34), syncNodeStatus, tryUpdateNodeStatus
  Source: pkg/kubelet/apis/config/v1beta1/defaults.go (v1.34), NodeStatusUpdateFrequency, NodeStatusReportFrequency

  @req:HB-03
  Rule: The status is written on change, or every 5 minutes when nothing changes

    The kubelet looks each 10 s, to which up to 4 % are added by chance, so that 5 minutes may become 5 minutes and 10.4 s.

    Scenario: A quiet node
      Given a ready Node "worker-1"
      And 10m pass
      When 1s passes
      Then the status of Node "worker-1" is written every 5m to 5m10.5s for 1h
      And Node "worker-1" keeps field status.conditions[Ready].lastTransitionTime unchanged for 1h
      And nothing else about Node "worker-1" changes

    Scenario: A change is written at the next tick
      Given a ready Node "worker-1"
      And 5m pass
      When the container network on "worker-1" is removed
      Then Node "worker-1" has condition Ready=False, reason "KubeletNotReady", within 16s
      And Node "worker-1" field status.conditions[Ready].message is "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized" within 16s
      And Node "worker-1" has taint "node.kubernetes.io/not-ready:NoSchedule" within 17s
      And Node "worker-1" has taint "node.kubernetes.io/not-ready:NoExecute" within 22s
      And Node "worker-1" keeps field status.conditions[MemoryPressure].lastTransitionTime unchanged for 1m
      And nothing else about Node "worker-1" changes

    @until:1.33
    Scenario: After a change the five minutes begin anew, up to 1.33
      Given a ready Node "worker-1"
      And 10m pass
      And the container network on "worker-1" is removed
      And Node "worker-1" has condition Ready=False
      When 1s passes
      Then the status of Node "worker-1" is written every 5m to 5m10.5s for 30m

    @since:1.34
    Scenario: After a change the next report comes half a period earlier or later, by chance
      So that the reports of many nodes that changed together spread.

      Given a ready Node "worker-1"
      And 10m pass
      And the container network on "worker-1" is removed
      And Node "worker-1" has condition Ready=False
      When 1s passes
      Then Node "worker-1" keeps field status.conditions[Ready].lastHeartbeatTime unchanged for 140s
      And the status of Node "worker-1" is written every 140s to 7m40.5s for 30m
      When 1s passes
      Then the status of Node "worker-1" is written every 5m to 5m10.5s for 1h

    Scenario: Somebody else changes the status: the kubelet puts its own part right and leaves the other
      Given a ready Node "worker-1"
      And 5m pass
      When the user sends strategic PATCH /api/v1/nodes/worker-1/status:
        """yaml
        status:
          conditions:
          - {type: Ready, status: "False", reason: Mistake, message: a mistake}
          - {type: FrequentRestarts, status: "False", reason: NoFrequentRestarts, message: from somebody else}
        """
      Then Node "worker-1" has condition Ready=True, reason "KubeletReady", within 10.5s
      And Node "worker-1" keeps condition FrequentRestarts=False, reason "NoFrequentRestarts", for 10m

  @req:HB-03
  Rule: Both periods are fields of the kubelet's configuration

    Scenario: Only the period of looking is set: every look is written
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | nodeStatusUpdateFrequency | 1m |
      And 5m pass
      When 1s passes
      Then the status of Node "worker-1" is written every 1m to 1m2.5s for 30m

    Scenario: Both are set
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | nodeStatusUpdateFrequency | 20s |
        | nodeStatusReportFrequency | 2m  |
      And 5m pass
      When 1s passes
      Then the status of Node "worker-1" is written every 2m to 2m21s for 30m

    Scenario: Each minute, as it was the default of Kubernetes 1.13 to 1.16
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | nodeStatusUpdateFrequency | 10s |
        | nodeStatusReportFrequency | 1m  |
      And 5m pass
      When 1s passes
      Then the status of Node "worker-1" is written every 1m to 1m10.5s for 30m
      And the Lease of Node "worker-1" is renewed every 10s to 10.5s for 30m
      When the container network on "worker-1" is removed
      Then Node "worker-1" has condition Ready=False, reason "KubeletNotReady", within 16s

  @req:HB-05
  Rule: Either heartbeat keeps a node healthy

    Scenario: The Lease alone
      Given a ready Node "worker-1"
      When requests to nodes/status from "worker-1" are lost
      Then the Lease of Node "worker-1" is renewed every 10s to 10.5s for 30m
      And Node "worker-1" keeps field status.conditions[Ready].lastHeartbeatTime unchanged for 30m
      And Node "worker-1" keeps condition Ready=True for 30m
      And Node "worker-1" never has taint "node.kubernetes.io/unreachable:NoSchedule" for 30m
      And nothing else about Node "worker-1" changes

    Scenario: The status alone
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | nodeStatusUpdateFrequency | 10s |
      When requests to leases from "worker-1" are answered 500
      Then the Lease of Node "worker-1" keeps field spec.renewTime unchanged for 30m
      And the status of Node "worker-1" is written every 10s to 10.5s for 30m
      And Node "worker-1" keeps condition Ready=True for 30m
      And Node "worker-1" never has taint "node.kubernetes.io/unreachable:NoSchedule" for 30m

    Scenario: The status alone, of a Node without a kubelet
      Given a hand-fed Node "worker-1"
      And which is fed with:
        | lease  | 10s |
        | status | 20s |
      When the Lease of Node "worker-1" is written no more
      Then Node "worker-1" keeps condition Ready=True for 30m
      And the Lease of Node "worker-1" keeps field spec.renewTime unchanged for 30m

    Scenario: The Lease alone, of a Node without a kubelet
      Given a hand-fed Node "worker-1"
      When the status of Node "worker-1" is written no more
      Then Node "worker-1" keeps condition Ready=True for 30m
      And Node "worker-1" keeps field status.conditions[Ready].lastHeartbeatTime unchanged for 30m

    @since:1.32
    Scenario: The status every five minutes is not enough
      Given a hand-fed Node "worker-1"
      When the Lease of Node "worker-1" is written no more
      Then Node "worker-1" keeps condition Ready=True for 39s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between 39s and 61s

    @until:1.31
    Scenario: The status every five minutes is not enough, up to 1.31
      Given a hand-fed Node "worker-1"
      When the Lease of Node "worker-1" is written no more
      Then Node "worker-1" keeps condition Ready=True for 29s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between 29s and 51s

    Scenario: A kubelet that cannot renew its Lease answers Unknown with its status
      Given a ready Node "worker-1"
      And requests to leases from "worker-1" are answered 500
      And Node "worker-1" has condition Ready=Unknown
      When 1s passes
      Then Node "worker-1" has condition Ready=True, reason "KubeletReady", within 10.5s

    Scenario: Neither
      Given a hand-fed Node "worker-1"
      When Node "worker-1" falls silent
      Then Node "worker-1" keeps condition Ready=True for 29s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between 29s and 61s
