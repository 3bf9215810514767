@core
Feature: The Lease of a Node
  Source: k8s.io/component-helpers apimachinery/lease/controller.go (v1.34); pkg/kubelet/util/nodelease.go (v1.34)

  @req:HB-01
  Rule: A node has two heartbeats: its status and its Lease in namespace kube-node-lease

    Scenario: A node has a Lease of its own
      Given a ready Node "worker-1"
      When 1m passes
      Then field spec.holderIdentity of the Lease of Node "worker-1" stays "worker-1" for 1m
      And field spec.leaseDurationSeconds of the Lease of Node "worker-1" stays 40 for 1m
      And field metadata.ownerReferences[0].kind of the Lease of Node "worker-1" stays "Node" for 1m
      And field metadata.ownerReferences[0].name of the Lease of Node "worker-1" stays "worker-1" for 1m
      And field status.conditions[Ready].lastHeartbeatTime of Node "worker-1" is set within 1s
      And the Lease of Node "worker-1" matches its snapshot

  @req:HB-02
  Rule: The Lease is renewed every 10 s, independently of the status

    Scenario: The status rests while the Lease is renewed
      Given a ready Node "worker-1"
      When 2m pass
      Then the Lease of Node "worker-1" is renewed every 10s for 2m
      And field status.conditions[Ready].lastTransitionTime of Node "worker-1" stays unchanged for 2m

    Scenario: The Lease is renewed while the status cannot be written
      Given a ready Node "worker-1"
      When requests to nodes/status from "worker-1" are answered 500
      Then the Lease of Node "worker-1" is renewed every 10s for 10m
      And Node "worker-1" keeps condition Ready=True for 10m

    Scenario: Another duration, another pace
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | field                    | value |
        | nodeLeaseDurationSeconds | 80    |
      When 5m pass
      Then the Lease of Node "worker-1" is renewed every 20s for 5m
      And field spec.leaseDurationSeconds of the Lease of Node "worker-1" stays 80 for 5m

  @req:HB-04
  Rule: After a failed renewal the kubelet tries again with a back-off from 200 ms to 7 s

    Scenario: The API server answers again in the middle of the back-off
      Given a ready Node "worker-1"
      When requests to leases from "worker-1" are answered 503
      And 60s pass
      And requests from "worker-1" go through again
      Then the Lease of Node "worker-1" is renewed every 10s for 60s
      And Node "worker-1" keeps condition Ready=True for 60s

  @req:HB-08
  Rule: The Lease goes when its Node is deleted

    Scenario: The Node is deleted
      Given a ready Node "worker-1"
      And the kubelet on "worker-1" is killed
      When the user deletes Node "worker-1"
      Then the Lease of Node "worker-1" is gone within 1s
      And the Lease of Node "worker-1" never appears after 1s

    Scenario: The Node is deleted under a running kubelet
      Given a ready Node "worker-1"
      When the user deletes Node "worker-1"
      Then the Lease of Node "worker-1" is gone within 1s
