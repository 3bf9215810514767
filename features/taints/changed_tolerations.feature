@core
Feature: The eviction of a Pod that waits follows its tolerations, and goes on after errors
  Source: pkg/controller/tainteviction/taint_eviction.go (v1.34), handlePodUpdate, addConditionAndDeletePod

  Rule: A toleration that becomes one for ever ends the wait

    Scenario: The user takes tolerationSeconds away
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1" that tolerates "dedicated:NoExecute" for 30s
      And the user taints Node "worker-1" with "dedicated:NoExecute"
      When the user sends PATCH /api/v1/namespaces/default/pods/web:
        """
        spec:
          tolerations:
            - {key: dedicated, operator: Exists, effect: NoExecute}
            - {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300}
            - {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 300}
        """
      Then Pod "web" field spec.tolerations[0].tolerationSeconds is absent at once
      And Pod "web" stays for 60s
      And Event TaintManagerEviction about Pod "web", message "Cancelling deletion of Pod default/web", within 5s

  Rule: An eviction is tried five times

    @sim-only:faults
    Scenario Outline: The deletion fails <times> times
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And DELETE requests to pods from taint-eviction-controller are answered 500 <times> times
      When the user taints Node "worker-1" with "dedicated:NoExecute"
      Then Node "worker-1" has taint "dedicated:NoExecute" within 1s
      And Pod "web" <then>

      Examples:
        | times | then                    |
        | 4     | is terminating within 2s |
        | 5     | stays for 60s           |

    @sim-only:faults
    Scenario: The taint is taken off while the deletion is on its way
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1" that tolerates "dedicated:NoExecute" for 5s
      And DELETE requests to pods from taint-eviction-controller take 10s
      And the user taints Node "worker-1" with "dedicated:NoExecute"
      And 8s pass
      When the user removes taint "dedicated:NoExecute" from Node "worker-1"
      Then Event TaintManagerEviction about Pod "web", message "Cancelling deletion of Pod default/web", within 1s
      But Pod "web" is terminating within 10s
