@core
Feature: Networks for the pods of a Node
  Source: pkg/controller/nodeipam/ipam/range_allocator.go (v1.34); pkg/controller/nodeipam/ipam/cidrset/cidr_set.go (v1.34)

  A Node that is changed while it gets its block is looked at again, and for as long as the controller's cache does not
  show the block it gets another one, which is given back at once but is not the next one any more. So where there are
  several Nodes, a real cluster may pass over a block with each of them.

  @req:NC-01
  Rule: A Node gets the next free block of the cluster's network when it appears

    Scenario: Nodes one after the other
      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/16 |
      And no other Node
      And a hand-fed Node "worker-1"
      And a hand-fed Node "worker-2"
      When a kubelet named "worker-3" registers
      Then Node "worker-1" keeps field spec.podCIDR at "10.244.0.0/24" for 10m
      And Node "worker-2" keeps field spec.podCIDR at "10.244.1.0/24" or "10.244.2.0/24" for 10m
      And Node "worker-3" field spec.podCIDR is "10.244.2.0/24" or "10.244.3.0/24" or "10.244.4.0/24" within 1s
      And Node "worker-3" field spec.podCIDRs is set within 1s
      And Node "worker-3" has condition Ready=True within 15s
      But no Event CIDRNotAvailable about Node "worker-3" for 10m
      And no Event CIDRAssignmentFailed about Node "worker-3" for 10m

    @sim-only:instants
    Scenario: Nodes one after the other, in order
      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/16 |
      And no other Node
      And a hand-fed Node "worker-1"
      And a hand-fed Node "worker-2"
      When a kubelet named "worker-3" registers
      Then Node "worker-1" keeps field spec.podCIDR at "10.244.0.0/24" for 10m
      And Node "worker-2" keeps field spec.podCIDR at "10.244.1.0/24" for 10m
      And Node "worker-3" field spec.podCIDR is "10.244.2.0/24" within 1s
      And Node "worker-3" field spec.podCIDRs is ["10.244.2.0/24"] within 1s
      And Node "worker-3" has condition Ready=True within 15s
      But no Event CIDRNotAvailable about Node "worker-3" for 10m
      And no Event CIDRAssignmentFailed about Node "worker-3" for 10m

    Scenario: The mask of a block follows its flag
      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/16 |
        | node-cidr-mask-size | 26            |
      And no other Node
      And a hand-fed Node "worker-1"
      When a kubelet named "worker-2" registers
      Then Node "worker-1" keeps field spec.podCIDR at "10.244.0.0/26" for 60s
      And Node "worker-2" field spec.podCIDR is "10.244.0.64/26" or "10.244.0.128/26" within 1s

    @sim-only:instants
    Scenario: The mask of a block follows its flag, in order
      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/16 |
        | node-cidr-mask-size | 26            |
      And no other Node
      And a hand-fed Node "worker-1"
      When a kubelet named "worker-2" registers
      Then Node "worker-1" keeps field spec.podCIDR at "10.244.0.0/26" for 60s
      And Node "worker-2" field spec.podCIDR is "10.244.0.64/26" within 1s

    Scenario: A network of IPv6 alone
      Given kube-controller-manager runs with:
        | flag                | value                |
        | allocate-node-cidrs | true                 |
        | cluster-cidr        | fd00:10:244::/56     |
      And no other Node
      And a hand-fed Node "worker-1"
      When a kubelet named "worker-2" registers
      Then Node "worker-1" keeps field spec.podCIDR at "fd00:10:244::/64" for 60s
      And Node "worker-2" field spec.podCIDR is "fd00:10:244:1::/64" or "fd00:10:244:2::/64" within 1s

    @sim-only:instants
    Scenario: A network of IPv6 alone, in order
      Given kube-controller-manager runs with:
        | flag                | value                |
        | allocate-node-cidrs | true                 |
        | cluster-cidr        | fd00:10:244::/56     |
      And no other Node
      And a hand-fed Node "worker-1"
      When a kubelet named "worker-2" registers
      Then Node "worker-1" keeps field spec.podCIDR at "fd00:10:244::/64" for 60s
      And Node "worker-2" field spec.podCIDR is "fd00:10:244:1::/64" within 1s

    Scenario: What services use is not given to a Node
      Given kube-controller-manager runs with:
        | flag                     | value         |
        | allocate-node-cidrs      | true          |
        | cluster-cidr             | 10.96.0.0/14  |
        | service-cluster-ip-range | 10.96.0.0/23  |
      And no other Node
      When a kubelet named "worker-1" registers
      Then Node "worker-1" field spec.podCIDR is "10.96.2.0/24" within 1s

  @req:NC-01
  Rule: Unless it is asked for, a Node gets no network

    Scenario: The flag is off by default
      Given a ready Node "worker-1"
      When 1h passes
      Then Node "worker-1" keeps field spec.podCIDR absent for 1h
      And Node "worker-1" keeps field spec.podCIDRs absent for 1h

    Scenario: A cluster network alone changes nothing
      Given kube-controller-manager runs with:
        | flag         | value         |
        | cluster-cidr | 10.244.0.0/16 |
      And a ready Node "worker-1"
      When 10m pass
      Then Node "worker-1" keeps field spec.podCIDR absent for 10m

    Scenario: The controller is not there
      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/16 |
      And no other Node
      And node-ipam-controller stops
      And a ready Node "worker-1"
      When node-ipam-controller starts
      Then Node "worker-1" field spec.podCIDR is "10.244.0.0/24" within 1s

  @req:NC-01
  Rule: With two networks a Node gets a block of each, the first of them in podCIDR

    Scenario: IPv4 first
      Given kube-controller-manager runs with:
        | flag                     | value                              |
        | allocate-node-cidrs      | true                               |
        | cluster-cidr             | 10.244.0.0/20,fd00:10:244::/62     |
      And no other Node
      And a hand-fed Node "worker-1"
      When a kubelet named "worker-2" registers
      Then Node "worker-1" keeps field spec.podCIDRs at ["10.244.0.0/24","fd00:10:244::/64"] for 60s
      And Node "worker-2" field spec.podCIDRs is set within 1s
      And Node "worker-2" field spec.podCIDR is "10.244.1.0/24" or "10.244.2.0/24" within 1s

    @sim-only:instants
    Scenario: IPv4 first, in order
      Given kube-controller-manager runs with:
        | flag                     | value                              |
        | allocate-node-cidrs      | true                               |
        | cluster-cidr             | 10.244.0.0/20,fd00:10:244::/62     |
      And no other Node
      And a hand-fed Node "worker-1"
      When a kubelet named "worker-2" registers
      Then Node "worker-1" keeps field spec.podCIDRs at ["10.244.0.0/24","fd00:10:244::/64"] for 60s
      And Node "worker-2" field spec.podCIDRs is ["10.244.1.0/24","fd00:10:244:1::/64"] within 1s
      And Node "worker-2" field spec.podCIDR is "10.244.1.0/24" within 1s

    Scenario: IPv6 first, with masks of their own
      Given kube-controller-manager runs with:
        | flag                     | value                          |
        | allocate-node-cidrs      | true                           |
        | cluster-cidr             | fd00:10:244::/62,10.244.0.0/20 |
        | node-cidr-mask-size-ipv4 | 25                             |
        | node-cidr-mask-size-ipv6 | 70                             |
      And no other Node
      And a hand-fed Node "worker-1"
      When a kubelet named "worker-2" registers
      Then Node "worker-1" keeps field spec.podCIDR at "fd00:10:244::/70" for 60s
      And Node "worker-2" field spec.podCIDRs is set within 1s
      And Node "worker-2" field spec.podCIDR is "fd00:10:244:0:400::/70" or "fd00:10:244:0:800::/70" within 1s

    @sim-only:instants
    Scenario: IPv6 first, with masks of their own, in order
      Given kube-controller-manager runs with:
        | flag                     | value                          |
        | allocate-node-cidrs      | true                           |
        | cluster-cidr             | fd00:10:244::/62,10.244.0.0/20 |
        | node-cidr-mask-size-ipv4 | 25                             |
        | node-cidr-mask-size-ipv6 | 70                             |
      And no other Node
      And a hand-fed Node "worker-1"
      When a kubelet named "worker-2" registers
      Then Node "worker-1" keeps field spec.podCIDR at "fd00:10:244::/70" for 60s
      And Node "worker-2" field spec.podCIDRs is ["fd00:10:244:0:400::/70","10.244.0.128/25"] within 1s
      And Node "worker-2" field spec.podCIDR is "fd00:10:244:0:400::/70" within 1s

    Scenario: When the second network is used up, each try keeps a block of the first
      Four blocks of IPv4 and two of IPv6. Two tries of the third Node take the last two blocks of IPv4, so that it can
      have nothing but what a Node that goes gives back.

      Given kube-controller-manager runs with:
        | flag                | value                          |
        | allocate-node-cidrs | true                           |
        | cluster-cidr        | 10.244.0.0/22,fd00:10:244::/63 |
      And no other Node
      And a hand-fed Node "worker-1"
      And a hand-fed Node "worker-2"
      And a hand-fed Node "worker-3"
      And 60s pass
      When the user deletes Node "worker-2"
      Then Node "worker-3" field spec.podCIDRs is ["10.244.1.0/24","fd00:10:244:1::/64"] within 3m
      And Node "worker-1" keeps field spec.podCIDRs at ["10.244.0.0/24","fd00:10:244::/64"] for 3m

  @req:NC-01
  Rule: When all blocks are taken, a Node goes without and says so again and again

    Scenario: One Node too many
      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/23 |
      And no other Node
      And a hand-fed Node "worker-1"
      And a hand-fed Node "worker-2"
      When a kubelet named "worker-3" registers
      Then Event CIDRNotAvailable about Node "worker-3", message "Node worker-3 status is now: CIDRNotAvailable", within 1s
      And Node "worker-3" has condition Ready=True within 15s
      And no Event CIDRAssignmentFailed about Node "worker-3" for 10m
      And Node "worker-1" keeps field spec.podCIDR at "10.244.0.0/24" for 10m

    @sim-only:instants
    Scenario: One Node too many, of which nobody else hears
      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/23 |
      And no other Node
      And a hand-fed Node "worker-1"
      And a hand-fed Node "worker-2"
      When a kubelet named "worker-3" registers
      Then Event CIDRNotAvailable about Node "worker-3", message "Node worker-3 status is now: CIDRNotAvailable", within 1s
      And Node "worker-3" has condition Ready=True within 15s
      And no Event CIDRNotAvailable about Node "worker-2" for 10m
      And no Event CIDRAssignmentFailed about Node "worker-3" for 10m
      And Node "worker-1" keeps field spec.podCIDR at "10.244.0.0/24" for 10m

    Scenario: The pauses between its tries begin with 5 ms and double
      So after a while the tries are at about 2.5, 5.0, 10.2, 20.4 and 40.9 s; how many there were in the first second is
      a matter of the changes of the Node, each of which is a try as well.

      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/24 |
      And no other Node
      And a hand-fed Node "worker-1"
      When the user creates:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-2
        """
      Then 10 Events CIDRNotAvailable about Node "worker-2" within 4s
      And 11 Events CIDRNotAvailable about Node "worker-2" within 8s
      And 12 Events CIDRNotAvailable about Node "worker-2" within 18s
      And 13 Events CIDRNotAvailable about Node "worker-2" within 38s
      And 14 Events CIDRNotAvailable about Node "worker-2" within 50s

    Scenario: It goes without as long as nobody goes
      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/24 |
      And no other Node
      And a hand-fed Node "worker-1"
      And a ready Node "worker-2"
      When 1h passes
      Then Node "worker-2" keeps field spec.podCIDR absent for 1h
      And Node "worker-2" keeps condition Ready=True for 1h
      And Node "worker-1" keeps field spec.podCIDR at "10.244.0.0/24" for 1h

    Scenario: A freed block wakes nobody, and is taken at the next try
      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/23 |
      And no other Node
      And a hand-fed Node "worker-1"
      And a hand-fed Node "worker-2"
      And a hand-fed Node "worker-3"
      And 90s pass
      When the user deletes Node "worker-1"
      Then Node "worker-3" keeps field spec.podCIDR absent for 20s
      And Node "worker-3" field spec.podCIDR is "10.244.0.0/24" within 3m
      And Node "worker-2" keeps field spec.podCIDR at "10.244.1.0/24" for 3m

    Scenario: A Node that is being deleted keeps its block until it is gone
      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/24 |
      And no other Node
      And the object:
        """
        apiVersion: v1
        kind: Node
        metadata: {name: leaving, finalizers: [example.com/wait]}
        """
      And 1s passes
      And the object:
        """
        {kind: Node, apiVersion: v1, metadata: {name: waiting}}
        """
      When the user deletes Node "leaving"
      Then Node "leaving" is deleted at once
      And Node "leaving" keeps field spec.podCIDR at "10.244.0.0/24" for 5m
      And Node "waiting" keeps field spec.podCIDR absent for 5m

  @req:NC-01
  Rule: The block of a deleted Node is given out again once the search has come round

    Scenario: The next Node gets the next block, not the freed one
      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/20 |
      And no other Node
      And a hand-fed Node "worker-1"
      And a hand-fed Node "worker-2"
      And the user deletes Node "worker-1"
      And Node "worker-1" is gone
      When a kubelet named "worker-3" registers
      Then Node "worker-3" field spec.podCIDR is "10.244.2.0/24" or "10.244.3.0/24" or "10.244.4.0/24" within 1s
      And Node "worker-2" keeps field spec.podCIDR at "10.244.1.0/24" or "10.244.2.0/24" for 60s

    @sim-only:instants
    Scenario: The next Node gets the next block, not the freed one, in order
      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/22 |
      And no other Node
      And a hand-fed Node "worker-1"
      And a hand-fed Node "worker-2"
      And the user deletes Node "worker-1"
      And Node "worker-1" is gone
      When a kubelet named "worker-3" registers
      Then Node "worker-3" field spec.podCIDR is "10.244.2.0/24" within 1s
      And Node "worker-2" keeps field spec.podCIDR at "10.244.1.0/24" for 60s

    Scenario: At the end of the network the freed block is next
      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/23 |
      And no other Node
      And a hand-fed Node "worker-1"
      And a hand-fed Node "worker-2"
      And the user deletes Node "worker-1"
      And Node "worker-1" is gone
      When a kubelet named "worker-3" registers
      Then Node "worker-3" field spec.podCIDR is "10.244.0.0/24" within 1s

    @sim-only:instants
    Scenario: At the end of the network the freed block is next, and enough
      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/23 |
      And no other Node
      And a hand-fed Node "worker-1"
      And a hand-fed Node "worker-2"
      And the user deletes Node "worker-1"
      And Node "worker-1" is gone
      When a kubelet named "worker-3" registers
      Then Node "worker-3" field spec.podCIDR is "10.244.0.0/24" within 1s
      And no Event CIDRNotAvailable about Node "worker-3" for 60s

    Scenario: A controller that starts anew begins with the lowest free block
      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/16 |
      And no other Node
      And a hand-fed Node "worker-1"
      And a hand-fed Node "worker-2"
      And the user deletes Node "worker-1"
      And Node "worker-1" is gone
      And node-ipam-controller restarts
      When a kubelet named "worker-3" registers
      Then Node "worker-3" field spec.podCIDR is "10.244.0.0/24" within 1s
      And Node "worker-2" keeps field spec.podCIDR at "10.244.1.0/24" for 60s

    Scenario: A Node that comes back under its name is a new Node
      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/16 |
      And no other Node
      And a ready Node "worker-1"
      And the user deletes Node "worker-1"
      And Node "worker-1" is gone
      When the kubelet on "worker-1" restarts
      Then Node "worker-1" field spec.podCIDR is "10.244.1.0/24" or "10.244.2.0/24" within 1s

    @sim-only:instants
    Scenario: A Node that comes back under its name is a new Node, in order
      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/16 |
      And no other Node
      And a ready Node "worker-1"
      And the user deletes Node "worker-1"
      And Node "worker-1" is gone
      When the kubelet on "worker-1" restarts
      Then Node "worker-1" field spec.podCIDR is "10.244.1.0/24" within 1s

  @req:NC-01
  Rule: A Node that has a network keeps it, and nobody else gets it

    Scenario: A network set by hand is passed over
      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/16 |
      And no other Node
      And the object:
        """
        apiVersion: v1
        kind: Node
        metadata: {name: by-hand}
        spec: {podCIDR: 10.244.0.0/24}
        """
      And 1s passes
      When a kubelet named "worker-1" registers
      Then Node "worker-1" field spec.podCIDR is "10.244.1.0/24" within 1s
      And Node "by-hand" keeps field spec.podCIDR at "10.244.0.0/24" for 10m
      And no Event CIDRAssignmentFailed about Node "by-hand" for 10m

    Scenario: A larger network takes all blocks that it covers
      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/16 |
      And no other Node
      And the object:
        """
        apiVersion: v1
        kind: Node
        metadata: {name: by-hand}
        spec: {podCIDR: 10.244.0.0/22}
        """
      And 1s passes
      When a kubelet named "worker-1" registers
      Then Node "worker-1" field spec.podCIDR is "10.244.4.0/24" within 1s

    Scenario: A network outside the cluster's is left alone
      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/16 |
      And no other Node
      And the object:
        """
        apiVersion: v1
        kind: Node
        metadata: {name: by-hand}
        spec: {podCIDR: 192.168.7.0/24}
        """
      When a kubelet named "worker-1" registers
      Then Node "worker-1" field spec.podCIDR is "10.244.0.0/24" within 1s
      And Node "by-hand" keeps field spec.podCIDR at "192.168.7.0/24" for 10m
      And no Event CIDRNotAvailable about Node "by-hand" for 10m
      And no Event CIDRAssignmentFailed about Node "by-hand" for 10m

    Scenario: Nodes that were there before the controller keep what they have
      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/16 |
      And no other Node
      And a hand-fed Node "worker-1"
      And a hand-fed Node "worker-2"
      And node-ipam-controller restarts
      When a kubelet named "worker-3" registers
      Then Node "worker-3" field spec.podCIDR is "10.244.2.0/24" within 1s
      And Node "worker-1" keeps field spec.podCIDR at "10.244.0.0/24" for 10m
      And Node "worker-2" keeps field spec.podCIDR at "10.244.1.0/24" for 10m

    Scenario: A network cannot be changed
      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/16 |
      And no other Node
      And a hand-fed Node "worker-1"
      When the user sends PATCH /api/v1/nodes/worker-1:
        """
        {"spec": {"podCIDR": "10.244.9.0/24", "podCIDRs": ["10.244.9.0/24"]}}
        """
      Then the request is refused with 422 "node updates may not change podCIDR except from "" to valid"
      And Node "worker-1" keeps field spec.podCIDR at "10.244.0.0/24" for 10m

  @req:NC-01
  Rule: A patch that fails is tried three times, then the block is given back

    Scenario: The API server fails twice
      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/16 |
      And no other Node
      And PATCH requests to nodes from node-ipam-controller are answered 500 2 times
      When a kubelet named "worker-1" registers
      Then Node "worker-1" field spec.podCIDR is "10.244.0.0/24" within 1s
      But no Event CIDRAssignmentFailed about Node "worker-1" for 10m

    Scenario: The API server fails three times
      The block that was given back is not the next one any more.

      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/16 |
      And no other Node
      And PATCH requests to nodes from node-ipam-controller are answered 500 3 times
      When a kubelet named "worker-1" registers
      Then Event CIDRAssignmentFailed about Node "worker-1", message "Node worker-1 status is now: CIDRAssignmentFailed", within 1s
      And Node "worker-1" field spec.podCIDR is "10.244.1.0/24" within 1s
