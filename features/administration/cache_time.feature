@core
Feature: The more nodes there are, the longer kubelets may keep Secrets and ConfigMaps
  Source: pkg/controller/ttl/ttl_controller.go (v1.34), ttlBoundaries

  Rule: Up to 100 Nodes nothing is kept, from the 101st on 15 s, and below 90 nothing again

    Scenario: The 101st Node
      A Node that is there already is told with its next status.

      Given no other Node
      And 100 hand-fed Nodes in zone "a"
      And Node "a-100" field metadata.annotations["node.alpha.kubernetes.io/ttl"] is "0"
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Node
        metadata: {name: one-more}
        """
      Then Node "one-more" field metadata.annotations["node.alpha.kubernetes.io/ttl"] is "15" within 20s
      And each Node of zone "a" field metadata.annotations["node.alpha.kubernetes.io/ttl"] is "15" within 6m
      When the user deletes Node "one-more"
      Then Node "one-more" is gone within 1s
      And each Node of zone "a" keeps field metadata.annotations["node.alpha.kubernetes.io/ttl"] at "15" for 6m

    Scenario: The 100th Node
      Given no other Node
      And 99 hand-fed Nodes in zone "a"
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Node
        metadata: {name: one-more}
        """
      Then Node "one-more" field metadata.annotations["node.alpha.kubernetes.io/ttl"] is "0" within 20s
      And each Node of zone "a" keeps field metadata.annotations["node.alpha.kubernetes.io/ttl"] at "0" for 6m
