@core
Feature: Pods of a partitioned node run on while their replacements run elsewhere
  Source: pkg/controller/controller_utils.go (v1.34), IsPodActive
  Source: pkg/controller/statefulset/stateful_set_control.go (v1.34), processReplica

  Rule: The decision to delete does not reach a partitioned kubelet: the pod is Terminating and its container runs

    @req:EV-03
    Scenario: A pod that is not deleted is neither Terminating nor stopped
      Given a ready Node "worker-1"
      And a Pod "forever" on Node "worker-1" that tolerates "node.kubernetes.io/unreachable:NoExecute"
      When machine "worker-1" loses its connection to the API server
      Then Pod "forever" stays for 1h
      And Pod "forever" keeps phase Running for 1h
      And container "main" of Pod "forever" keeps running on machine "worker-1" for 1h
