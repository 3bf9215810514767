@core @req:COM-01
Feature: An API server that is slow, refuses or is full
  Source: pkg/kubelet/kubelet_node_status.go (v1.34), nodeStatusUpdateRetry
  Source: k8s.io/component-helpers apimachinery/lease/controller.go (v1.34), maxUpdateRetries
  Source: k8s.io/client-go rest/with_retry.go (v1.34): 429 and 5xx with Retry-After are asked again

  Rule: What is refused for less than the grace period leaves no trace

    Scenario Outline: A kubelet's heartbeats are answered <code> for half a minute
      Given a ready Node "worker-1"
      When requests to leases from "worker-1" are answered <code> for 30s
      Then Node "worker-1" keeps condition Ready=True for 3m
      And the Lease of Node "worker-1" is renewed between 20s and 40s
      And no Event NodeNotReady about Node "worker-1" for 3m

      Examples:
        | code |
        | 409  |
        | 429  |
        | 500  |
        | 503  |

    Scenario: For longer than the grace period it is the node that is blamed
      Given a ready Node "worker-1"
      When requests to leases from "worker-1" are answered 500 for 2m
      And requests to nodes/status from "worker-1" are answered 500 for 2m
      Then Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between the grace period less 11s and the grace period and 6s
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute" within the grace period and 12s
      When 5s pass
      Then Node "worker-1" has condition Ready=True between 40s and 80s
      And Node "worker-1" has no taint "node.kubernetes.io/unreachable:NoExecute" between 40s and 85s

  Rule: A slow request of a controller delays what it does, and nothing else

    @req:NC-04
    Scenario: A deletion is slow
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1" that tolerates "node.kubernetes.io/unreachable:NoExecute" for 60s
      And the kubelet on "worker-1" is killed
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      When DELETE requests to pods from taint-eviction-controller take 20s
      Then Pod "web" stays for 74s
      And Pod "web" is deleted between 74s and 81s

  Rule: Nobody writes while the store is full

    Scenario: Heartbeats and marks are refused alike, and nothing happens
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When PUT requests to leases from "worker-1" are answered 500 for 5m
      And PUT requests to nodes/status from kube-controller-manager are answered 500 for 5m
      Then Node "worker-1" keeps condition Ready=True for 290s
      And the Lease of Node "worker-1" keeps field spec.renewTime unchanged for 290s
      When 1s passes
      Then the Lease of Node "worker-1" is renewed within 30s
      And Pod "web" stays for 10m
