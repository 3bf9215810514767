@core
Feature: The status heartbeat of a Node
  Source: pkg/kubelet/kubelet_node_status.go (v1.34), syncNodeStatus, tryUpdateNodeStatus; pkg/kubelet/apis/config/v1beta1/defaults.go (v1.34)

  @req:HB-03
  Rule: The status is written on change, or every 5 minutes when nothing changes

    Scenario: A quiet node
      Given a ready Node "worker-1"
      And 10m pass
      When 1s passes
      Then field status.conditions[Ready].lastHeartbeatTime of Node "worker-1" changes within 311s
      And nothing else about Node "worker-1" changes

    Scenario: A change is written at the next tick
      Given a ready Node "worker-1"
      When the container network on "worker-1" is removed
      Then Node "worker-1" has condition Ready=False within 16s

  @req:REG-09
  Rule: --node-status-update-frequency sets how often the kubelet computes and posts its status

    Scenario: Once a minute
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | flag                         | value |
        | node-status-update-frequency | 1m    |
      When 1s passes
      Then field status.conditions[Ready].lastHeartbeatTime of Node "worker-1" changes within 125s

  @req:HB-05
  Rule: Either heartbeat keeps a node healthy

    Scenario: The Lease alone
      Given a ready Node "worker-1"
      When requests to nodes/status from "worker-1" are lost
      Then Node "worker-1" keeps condition Ready=True for 30m
      And Node "worker-1" never has taint "node.kubernetes.io/unreachable:NoSchedule" for 30m

    Scenario: The status alone
      Given a hand-fed Node "worker-1"
      And which is fed with:
        | lease | 10s |
        | status | 20s |
      When the Lease of Node "worker-1" is renewed no more
      Then Node "worker-1" keeps condition Ready=True for 30m

    Scenario: Neither
      Given a hand-fed Node "worker-1"
      When Node "worker-1" falls silent
      Then Node "worker-1" has condition Ready=Unknown within 61s

    Scenario: A clock that is an hour slow does no harm
      Given a machine "worker-1" with:
        | clockSkew | -1h |
      And Node "worker-1" has condition Ready=True
      When 10m pass
      Then Node "worker-1" keeps condition Ready=True for 10m
