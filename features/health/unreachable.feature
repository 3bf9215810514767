@core @req:NC-03 @req:HB-01 @since:1.32
Feature: A node that stops reporting becomes unreachable
  Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34), tryUpdateNodeHealth

  Rule: Without heartbeats for the grace period, the conditions that the kubelet owns become Unknown

    Scenario: The kubelet is killed
      Given a ready Node "worker-1"
      When the kubelet on "worker-1" is killed
      Then Node "worker-1" keeps condition Ready=True for 39s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between 39s and 56s
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute" within 66s
      But Node "worker-1" keeps condition NetworkUnavailable unchanged for 120s
      And the history of Node "worker-1" matches its snapshot
