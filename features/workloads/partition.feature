@core
Feature: Pods of a partitioned node run on while their replacements run elsewhere
  Source: pkg/controller/controller_utils.go (v1.34), IsPodActive
  Source: pkg/controller/statefulset/stateful_set_control.go (v1.34), processReplica

  Rule: The decision to delete does not reach a partitioned kubelet: the pod is Terminating and its container runs

    @req:EV-03
    Scenario: The replacements of a Deployment's pods run beside the pods that they replace
      Given no other Node
      And a ready Node "worker-1"
      And a Deployment "web" of 2 Pods
      And a ready Node "worker-2"
      And a ready Node "worker-3"
      When machine "worker-1" loses its connection to the API server
      Then 2 Pods of "web" keep running on Node "worker-1" for 329s
      And the Pods of "web" on Node "worker-1" are deleted between 329s and 377s
      When 20s pass
      Then the Pods of "web" on Node "worker-1" stay terminating for 1h
      And the Pods of "web" on Node "worker-1" keep field status.phase "Running" for 1h
      And 2 Pods of "web" keep running for 1h

    @req:EV-03
    Scenario: A StatefulSet's pod is not replaced as long as its name is taken
      Given no other Node
      And a ready Node "worker-1"
      And a StatefulSet "db" of 1 Pod
      And a ready Node "worker-2"
      And a ready Node "worker-3"
      When machine "worker-1" loses its connection to the API server
      Then Pod "db-0" stays for 329s
      And Pod "db-0" is deleted between 329s and 377s
      And container "main" of Pod "db-0" keeps running on machine "worker-1" for 1h
      And 0 Pods of "db" keep running on Node "worker-2" for 1h
      And 0 Pods of "db" keep running on Node "worker-3" for 1h
      When 1s passes
      Then Pod "db-0" stays terminating for 1h
      And Pod "db-0" keeps field status.phase "Running" for 1h
      And container "main" of Pod "db-0" keeps running on machine "worker-1" for 1h
      When machine "worker-1" regains its connection to the API server
      Then container "main" of Pod "db-0" stops on machine "worker-1" within 63s
      And Pod "db-0" is gone within 63s
      And 1 Pod of "db" is running within 90s

    @req:EV-03
    Scenario: A pod that is not deleted is neither Terminating nor stopped
      Given a ready Node "worker-1"
      And a Pod "forever" on Node "worker-1" that tolerates "node.kubernetes.io/unreachable:NoExecute"
      When machine "worker-1" loses its connection to the API server
      Then Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute" within 77s
      And Pod "forever" has condition Ready=False within 77s
      But Pod "forever" stays for 1h
      And Pod "forever" keeps field status.phase "Running" for 1h
      And container "main" of Pod "forever" keeps running on machine "worker-1" for 1h
      And the history of Pod "forever" matches its snapshot
