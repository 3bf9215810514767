@core
Feature: A kubelet renews the Lease of its Node
  Source: k8s.io/component-helpers apimachinery/lease/controller.go (v1.34); pkg/kubelet/util/nodelease.go (v1.34)

  @req:HB-01
  Rule: A node has two heartbeats: its status and its Lease in namespace kube-node-lease

    Scenario: A node has a Lease of its own
      Given a ready Node "worker-1"
      When 1m passes
      Then the Lease of Node "worker-1" keeps field metadata.namespace "kube-node-lease" for 1m
      And the Lease of Node "worker-1" keeps field spec.holderIdentity "worker-1" for 1m
      And the Lease of Node "worker-1" keeps field spec.leaseDurationSeconds 40 for 1m
      And the Lease of Node "worker-1" keeps field metadata.ownerReferences[0].kind "Node" for 1m
      And the Lease of Node "worker-1" keeps field metadata.ownerReferences[0].name "worker-1" for 1m
      And the Lease of Node "worker-1" keeps field metadata.ownerReferences[0].uid set for 1m
      And the Lease of Node "worker-1" keeps field spec.acquireTime absent for 1m
      And Node "worker-1" keeps field status.conditions[Ready].lastHeartbeatTime set for 1m

    @sim-only:instants
    Scenario: The Lease is made a renewal after the Node
      An attempt comes with the start of the kubelet already, and finds no Node that could own the Lease. Where answers
      are slow, as on a busy machine, the Node may be there by then, and the Lease is made at once.

      When a kubelet named "worker-1" registers
      Then Node "worker-1" exists within 1s
      And the Lease of Node "worker-1" never appears for 9.9s
      And the Lease of Node "worker-1" exists between 10s and 10.5s

    Scenario: A restarted kubelet renews at once
      Given a ready Node "worker-1"
      When the kubelet on "worker-1" restarts
      Then the Lease of Node "worker-1" is renewed within 1s
      And the Lease of Node "worker-1" stays for 1m

    Scenario: A Lease without an owner gets it with the next renewal
      Given a ready Node "worker-1"
      And the user sends PATCH /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/worker-1:
        """yaml
        metadata: {ownerReferences: null}
        """
      When 1s passes
      Then the Lease of Node "worker-1" field metadata.ownerReferences[0].name is "worker-1" within 10.5s
      And the Lease of Node "worker-1" is renewed every 10s to 10.5s for 1m

    Scenario: Another duration is put right with the next renewal, another holder never
      Given a ready Node "worker-1"
      And the user sends PATCH /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/worker-1:
        """yaml
        spec: {leaseDurationSeconds: 10, holderIdentity: somebody}
        """
      When 1s passes
      Then the Lease of Node "worker-1" field spec.leaseDurationSeconds is 40 within 10.5s
      But the Lease of Node "worker-1" keeps field spec.holderIdentity "somebody" for 1m

  @req:HB-02
  Rule: The Lease is renewed every 10 s, independently of the status

    Ten seconds are a quarter of its duration; up to 4 % of them are added to each pause, by chance.

    Scenario: A machine under load renews on time
      The kubelet has its share of the CPUs, however many processes want them.

      Given a ready Node "worker-1"
      When machine "worker-1" is under load
      Then the Lease of Node "worker-1" is renewed every 10s to 10.5s for 1m
      And Node "worker-1" keeps condition Ready=True for 1m
      When machine "worker-1" is relieved
      Then the Lease of Node "worker-1" is renewed every 10s to 10.5s for 1m

    Scenario: The status rests while the Lease is renewed
      Given a ready Node "worker-1"
      When 1m passes
      Then the Lease of Node "worker-1" is renewed every 10s to 10.5s for 2m
      And the Lease of Node "worker-1" keeps field spec.leaseDurationSeconds 40 for 2m
      And Node "worker-1" keeps field status.conditions[Ready].lastHeartbeatTime unchanged for 30s
      And nothing else about Node "worker-1" changes

    Scenario: The Lease is renewed while the status cannot be written
      Given a ready Node "worker-1"
      When requests to nodes/status from "worker-1" are answered 500
      Then the Lease of Node "worker-1" is renewed every 10s to 10.5s for 10m
      And Node "worker-1" keeps condition Ready=True for 10m

    Scenario: The Lease is renewed while the node is not ready
      Given a ready Node "worker-1"
      When the container network on "worker-1" is removed
      Then Node "worker-1" has condition Ready=False within 16s
      And the Lease of Node "worker-1" is renewed every 10s to 10.5s for 10m

    Scenario: Another duration, another pace
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | nodeLeaseDurationSeconds | 80 |
      When 5m pass
      Then the Lease of Node "worker-1" is renewed every 20s to 20.9s for 5m
      And the Lease of Node "worker-1" keeps field spec.leaseDurationSeconds 80 for 5m

    Scenario: Nobody renews it when the kubelet is gone
      Given a ready Node "worker-1"
      When the kubelet on "worker-1" is killed
      Then the Lease of Node "worker-1" keeps field spec.renewTime unchanged for 10m
      And the Lease of Node "worker-1" stays for 10m

  @req:HB-04
  Rule: While the API server does not answer, the kubelet tries again after 200 ms, doubled each time up to 7 s

    Scenario Outline: <failures> of the attempts after the start fail
      Given a ready Node "worker-1"
      When GET requests to leases from "worker-1" are answered 503 <failures> times
      And the kubelet on "worker-1" restarts
      Then the Lease of Node "worker-1" is renewed at <pause>

      Examples:
        | failures | pause |
        | 1        | 200ms |
        | 2        | 600ms |
        | 3        | 1.4s  |
        | 4        | 3s    |
        | 5        | 6.2s  |
        | 6        | 12.6s |
        | 7        | 19.6s |
        | 8        | 26.6s |

    Scenario: A kubelet that starts while connections are refused asks at growing intervals
      Given a ready Node "worker-1"
      When machine "worker-1" is refused its connection to the API server
      And the kubelet on "worker-1" restarts
      And 11s pass
      And machine "worker-1" regains its connection to the API server
      Then the Lease of Node "worker-1" is renewed between 1.5s and 4.5s

    @sim-only:instants
    Scenario Outline: Connections are refused for <outage> after the start
      Given a ready Node "worker-1"
      When machine "worker-1" is refused its connection to the API server
      And the kubelet on "worker-1" restarts
      And <outage> pass
      And machine "worker-1" regains its connection to the API server
      Then the Lease of Node "worker-1" is renewed at <pause>

      Examples:
        | outage | pause |
        | 100ms  | 100ms |
        | 500ms  | 100ms |
        | 4s     | 2.2s  |
        | 7s     | 5.6s  |
        | 11s    | 1.6s  |
        | 13s    | 6.6s  |
        | 40s    | 600ms |

    Scenario: Renewals that are refused fail at once, and are tried again each 7s at the latest
      Given a ready Node "worker-1"
      When machine "worker-1" is refused its connection to the API server
      Then the Lease of Node "worker-1" keeps field spec.renewTime unchanged for 20s
      When machine "worker-1" regains its connection to the API server
      Then the Lease of Node "worker-1" is renewed within 7.1s
      And Node "worker-1" keeps condition Ready=True for 1m
      And the Lease of Node "worker-1" is renewed every 10s to 10.5s for 1m

    Scenario: Four of five renewals in a row that fail cost no time
      Given a ready Node "worker-1"
      When PUT requests to leases from "worker-1" are answered 500 4 times
      Then the Lease of Node "worker-1" is renewed every 10s to 10.5s for 1m

    Scenario: After the fifth the Lease is looked up, and renewed from what is found
      Given a ready Node "worker-1"
      When PUT requests to leases from "worker-1" are answered 500 5 times
      Then the Lease of Node "worker-1" is renewed every 10s to 10.5s for 1m

    Scenario: The pace begins anew after an outage
      Given a ready Node "worker-1"
      And machine "worker-1" loses its connection to the API server
      And 30s pass
      When machine "worker-1" regains its connection to the API server
      And 30s pass
      Then the Lease of Node "worker-1" is renewed every 10s to 10.5s for 2m
      And Node "worker-1" keeps condition Ready=True for 2m

  @req:HB-02
  Rule: A renewal that another writer has overtaken is made from the newer Lease

    Scenario: Somebody labels the Lease
      Given a ready Node "worker-1"
      And the user sends PATCH /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/worker-1:
        """yaml
        metadata: {labels: {team: blue}}
        """
      When 1s passes
      Then the Lease of Node "worker-1" is renewed every 10s to 10.5s for 1m
      And the Lease of Node "worker-1" keeps field metadata.labels.team "blue" for 1m

    Scenario: Somebody deletes the Lease
      Given a ready Node "worker-1"
      When the user sends DELETE /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/worker-1
      Then the Lease of Node "worker-1" is gone within 1s
      When 12s pass
      Then the Lease of Node "worker-1" keeps field metadata.ownerReferences[0].name "worker-1" for 1m
      And the Lease of Node "worker-1" is renewed every 10s to 10.5s for 1m
      And Node "worker-1" keeps condition Ready=True for 1m

  @req:HB-08
  Rule: The Lease goes when its Node is deleted

    Scenario: The Node is deleted
      Given a ready Node "worker-1"
      And the kubelet on "worker-1" is killed
      When the user deletes Node "worker-1"
      Then the Lease of Node "worker-1" is gone within 1s
      When 1s passes
      Then the Lease of Node "worker-1" never appears for 10m

    Scenario: The Node is deleted under a running kubelet
      Without a Node there is no owner, so no new Lease is made.

      Given a ready Node "worker-1"
      When the user deletes Node "worker-1"
      Then the Lease of Node "worker-1" is gone within 1s
      But the Lease of Node "bystander" stays for 1m
      When 1s passes
      Then the Lease of Node "worker-1" never appears for 10m

    Scenario: The Node is made again
      Given a ready Node "worker-1"
      And the user deletes Node "worker-1"
      And the Lease of Node "worker-1" is gone
      When the kubelet on "worker-1" restarts
      Then Node "worker-1" exists within 1s
      And the Lease of Node "worker-1" never appears for 9.9s
      And the Lease of Node "worker-1" exists between 10s and 10.5s

    Scenario: A Lease that no Node owns stays
      Given a ready Node "worker-1"
      And the kubelet on "worker-1" is killed
      And the user sends PATCH /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/worker-1:
        """yaml
        metadata: {ownerReferences: null}
        """
      When the user deletes Node "worker-1"
      Then Node "worker-1" is gone within 1s
      But the Lease of Node "worker-1" stays for 10m
