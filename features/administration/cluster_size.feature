@core
Feature: The more Nodes a cluster has, the longer its kubelets may keep what they read
  Source: pkg/controller/ttl/ttl_controller.go (v1.34), ttlBoundaries

  Rule: A Node gets the annotation of the cluster's size: it grows with the 101st Node and shrinks below the 90th

    Scenario Outline: After <first> Nodes another comes
      Given no other Node
      And <first> hand-fed Nodes
      When the user creates:
        """
        {kind: Node, apiVersion: v1, metadata: {name: one-more}}
        """
      Then Node "one-more" field metadata.annotations["node.alpha.kubernetes.io/ttl"] is "<ttl>" within 5s

      Examples:
        | first | ttl |
        | 99    | 0   |
        | 100   | 15  |

    Scenario Outline: Of 101 Nodes <rest> stay, and another comes
      Given no other Node
      And <rest> hand-fed Nodes in zone "a"
      And <others> hand-fed Nodes in zone "b"
      And the user sends DELETE /api/v1/nodes?labelSelector=topology.kubernetes.io/zone=b
      When the user creates:
        """
        {kind: Node, apiVersion: v1, metadata: {name: one-more}}
        """
      Then Node "one-more" field metadata.annotations["node.alpha.kubernetes.io/ttl"] is "<ttl>" within 5s

      Examples:
        | rest | others | ttl |
        | 90   | 11     | 15  |
        | 89   | 12     | 0   |
