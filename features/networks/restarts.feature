@core
Feature: A restarted controller gives no block of Pod addresses twice
  Source: pkg/controller/nodeipam/ipam/range_allocator.go (v1.34), NewCIDRRangeAllocator

  Rule: The blocks of the Nodes that are there are taken from the start

    Scenario: A Node came while it was away
      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/23 |
      And no other Node
      And a hand-fed Node "worker-1"
      And Node "worker-1" field spec.podCIDR is "10.244.0.0/24"
      And node-ipam-controller stops
      And the user creates:
        """
        {kind: Node, apiVersion: v1, metadata: {name: a-new-one}}
        """
      When node-ipam-controller starts
      Then Node "a-new-one" field spec.podCIDR is "10.244.1.0/24" within 5s
