@core
Feature: A Ready condition may have a status that is none of True, False and Unknown
  Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34), processTaintBaseEviction

  Rule: Such a node is neither reachable nor not ready: its taints stay as they are

    Scenario: A silent node says that it is ready sometimes
      Given a hand-fed Node "worker-1"
      And Node "worker-1" falls silent
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      When the user sends strategic PATCH /api/v1/nodes/worker-1/status:
        """
        status: {conditions: [{type: Ready, status: Sometimes, lastHeartbeatTime: "2026-01-01T00:00:00Z"}]}
        """
      Then Node "worker-1" has no taint "node.kubernetes.io/unreachable:NoSchedule" within 5s
      But Node "worker-1" keeps taint "node.kubernetes.io/unreachable:NoExecute" for 30s
