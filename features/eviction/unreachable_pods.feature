@core @req:NC-04
Feature: The pods of a node that stays unreachable are evicted
  Source: pkg/controller/tainteviction/taint_eviction.go (v1.34), processPodOnNode
  Source: plugin/pkg/admission/defaulttolerationseconds/admission.go (v1.34)

  Rule: Five minutes after the node was tainted, its pods are deleted

    @since:1.34
    Scenario: The kubelet is killed and stays away
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And a Pod "other" on Node "bystander"
      When the kubelet on "worker-1" is killed
      Then Pod "web" stays for the grace period and 289s
      And Pod "web" is deleted between the grace period and 289s and the grace period and 307s
      And Pod "web" is deleted at 300s after Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      And Event TaintManagerEviction about Pod "web", message "Marking for deletion Pod default/web", within the grace period and 307s
      And Pod "web" has condition DisruptionTarget=True, reason "DeletionByTaintManager", message "Taint manager: deleting due to NoExecute taint", within the grace period and 307s
      And Pod "web" field metadata.deletionGracePeriodSeconds is 30 within the grace period and 307s
      But Pod "other" stays for 10m
      And no Event TaintManagerEviction about Pod "other" for 10m
      And the history of Pod "web" matches its snapshot

    @until:1.33
    Scenario: The kubelet is killed and stays away, up to 1.33
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And a Pod "other" on Node "bystander"
      When the kubelet on "worker-1" is killed
      Then Pod "web" stays for the grace period and 294s
      And Pod "web" is deleted between the grace period and 294s and the grace period and 312s
      And Pod "web" is deleted at 300s after Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      And Event TaintManagerEviction about Pod "web", message "Marking for deletion Pod default/web", within the grace period and 312s
      And Pod "web" has condition DisruptionTarget=True, reason "DeletionByTaintManager", message "Taint manager: deleting due to NoExecute taint", within the grace period and 312s
      But Pod "other" stays for 10m
      And no Event TaintManagerEviction about Pod "other" for 10m

    Scenario: A node that says that it is not ready gives its pods the same time
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When Node "worker-1" posts condition Ready=False
      Then Pod "web" stays for 300s
      And Pod "web" is deleted between 300s and 306s
      And Pod "web" is deleted at 300s after Node "worker-1" has taint "node.kubernetes.io/not-ready:NoExecute"

  Rule: A pod's own toleration takes the place of the five minutes

    Scenario Outline: A pod that tolerates an unreachable node for <time>
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1" that tolerates "node.kubernetes.io/unreachable:NoExecute" for <time>
      When the kubelet on "worker-1" is killed
      Then Pod "web" stays for 29s
      And Pod "web" is deleted at <time> after Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"

      Examples:
        | time |
        | 0s   |
        | 1s   |
        | 10m  |

    Scenario: A pod that tolerates an unreachable node for ever is not evicted
      As the pods of a DaemonSet do.

      Given a ready Node "worker-1"
      And a Pod "agent" on Node "worker-1" that tolerates "node.kubernetes.io/unreachable:NoExecute" and "node.kubernetes.io/not-ready:NoExecute"
      When the kubelet on "worker-1" is killed
      Then Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute" within 62s
      But Pod "agent" stays for 2h
      And no Event TaintManagerEviction about Pod "agent" for 2h

    Scenario: The default of the API server can be changed
      Given kube-apiserver runs with:
        | default-unreachable-toleration-seconds | 20 |
        | default-not-ready-toleration-seconds   | 40 |
      And a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When the kubelet on "worker-1" is killed
      Then Pod "web" stays for 49s
      And Pod "web" is deleted at 20s after Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"

  Rule: The time counts from the first taint; the other taint in its place does not start it anew

    Scenario: A node is not ready first and unreachable later
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When Node "worker-1" posts condition Ready=False
      And Node "worker-1" falls silent
      Then Node "worker-1" has taint "node.kubernetes.io/not-ready:NoExecute" within 6s
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute" between 29s and 66s
      And Pod "web" is deleted at 300s after Node "worker-1" has taint "node.kubernetes.io/not-ready:NoExecute"
      And Pod "web" stays for 300s
      When 1s passes
      Then Node "worker-1" never has taint "node.kubernetes.io/not-ready:NoExecute" for 60s
      And Node "worker-1" keeps taint "node.kubernetes.io/unreachable:NoExecute" for 60s
