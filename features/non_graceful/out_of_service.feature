@core
Feature: A node that is said to be out of service gives up its pods by force
  Source: pkg/controller/podgc/gc_controller.go (v1.34), gcTerminating
  Source: k8s.io/api core/v1/well_known_taints.go (v1.34), TaintNodeOutOfService

  Rule: The pods that do not tolerate the taint are deleted, and those that are Terminating are gone with the next pass

    The passes of the pod garbage collector are 20 s apart. What volumes the pods had is not looked at here.

    @since:1.34
    Scenario: The taint comes before the pods' time is over
      Given no other Node
      And a ready Node "worker-1"
      And a StatefulSet "db" of 2 Pods
      And a Pod "alone" on Node "worker-1"
      And a ready Node "worker-2"
      And machine "worker-1" loses power
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      When the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
      Then Pod "db-0" is terminating within 1s
      And Pod "db-1" is terminating within 1s
      And Event TaintManagerEviction about Pod "db-0", message "Marking for deletion Pod default/db-0", within 1s
      And Pod "db-0" has condition DisruptionTarget=True, reason "DeletionByTaintManager", within 1s
      And Pod "db-0" field status.phase is "Failed" within 21s
      And Pod "db-0" is gone within 21s
      And Pod "db-1" is gone within 21s
      And Pod "alone" is gone within 21s
      And 2 Pods of "db" are running on Node "worker-2" within 45s
      But Node "worker-1" keeps taint "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute" for 5m
      And Node "worker-1" keeps taint "node.kubernetes.io/unreachable:NoExecute" for 5m
      And Node "worker-1" keeps condition Ready=Unknown for 5m
      And the history of Pod "db-0" matches its snapshot

    Scenario Outline: A pod that is Terminating goes, whatever stands behind the key: <taint>
      Given kube-controller-manager runs with:
        | node-monitor-grace-period | 20s |
      And kube-apiserver runs with:
        | default-unreachable-toleration-seconds | 5 |
      And no other Node
      And a ready Node "worker-1"
      And a StatefulSet "db" of 1 Pod
      And a ready Node "worker-2"
      And machine "worker-1" loses power
      And Pod "db-0" is deleted
      And 25s pass
      When the user taints Node "worker-1" with "<taint>"
      Then Pod "db-0" is gone within 21s
      And 1 Pod of "db" is running on Node "worker-2" within 35s

      Examples:
        | taint                                                           |
        | node.kubernetes.io/out-of-service=nodeshutdown:NoExecute        |
        | node.kubernetes.io/out-of-service=nodeshutdown:NoSchedule       |
        | node.kubernetes.io/out-of-service=nodeshutdown:PreferNoSchedule |
        | node.kubernetes.io/out-of-service:NoExecute                     |
        | node.kubernetes.io/out-of-service=any:NoSchedule                |

    Scenario Outline: A pod that is Terminating stays under another taint: <taint>
      Given kube-controller-manager runs with:
        | node-monitor-grace-period | 20s |
      And kube-apiserver runs with:
        | default-unreachable-toleration-seconds | 5 |
      And a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And machine "worker-1" loses power
      And Pod "web" is deleted
      When the user taints Node "worker-1" with "<taint>"
      Then Node "worker-1" has taint "<taint>" at once
      And Pod "web" stays terminating for 60s

      Examples:
        | taint                                                  |
        | out-of-service=nodeshutdown:NoExecute                  |
        | example.com/out-of-service=nodeshutdown:NoExecute      |
        | node.kubernetes.io/not-ready=nodeshutdown:NoExecute    |

    Scenario: With NoSchedule alone nothing new is deleted
      Given kube-controller-manager runs with:
        | node-monitor-grace-period | 20s |
      And a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And a Pod "leaving" on Node "worker-1"
      And machine "worker-1" loses power
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      And the user deletes Pod "leaving"
      When the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:NoSchedule"
      Then Pod "leaving" is gone within 21s
      But Pod "web" stays for 60s
      And Pod "web" keeps field status.phase "Running" for 60s
      And no Event TaintManagerEviction about Pod "web" for 60s

    @req:NG-07
    Scenario: A pod that tolerates the taint stays as it is
      Given kube-controller-manager runs with:
        | node-monitor-grace-period | 20s |
      And a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And a Pod "agent" on Node "worker-1" that tolerates "node.kubernetes.io/out-of-service:NoExecute", "node.kubernetes.io/unreachable:NoExecute"
      And machine "worker-1" loses power
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      When the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
      Then Pod "web" is gone within 21s
      But Pod "agent" stays for 60s
      And Pod "agent" keeps field status.phase "Running" for 60s
      And no Event TaintManagerEviction about Pod "agent" for 60s

    @req:NG-07
    Scenario: A pod that tolerates the taint and is deleted for another reason goes by force
      The collector asks for the taint and for the deletion, and for no toleration.

      Given kube-controller-manager runs with:
        | node-monitor-grace-period | 20s |
      And a ready Node "worker-1"
      And a Pod "agent" on Node "worker-1" that tolerates "node.kubernetes.io/out-of-service:NoExecute", "node.kubernetes.io/unreachable:NoExecute"
      And machine "worker-1" loses power
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      And the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
      And 25s pass
      When the user deletes Pod "agent"
      Then Pod "agent" is gone within 21s

    @req:NG-07
    Scenario: A DaemonSet's pod does not tolerate it
      It tolerates what is wrong with its node, but not that the node is given up.

      Given kube-controller-manager runs with:
        | node-monitor-grace-period | 20s |
      And a ready Node "worker-1"
      And a DaemonSet "agent" of 2 Pods
      And machine "worker-1" loses power
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      When the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
      Then the Pods of "agent" on Node "worker-1" are gone within 21s
      And 1 Pod of "agent" keeps running on Node "bystander" for 60s
      When 1s passes
      Then 0 Pods of "agent" keep running on Node "worker-1" for 60s

  Rule: Nobody but the user takes the taint off

    @req:NG-09
    Scenario: The machine is back, and new pods keep away until the taint is removed
      Given kube-controller-manager runs with:
        | node-monitor-grace-period | 20s |
      And a ready Node "worker-1"
      And machine "worker-1" loses power
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      And the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
      When machine "worker-1" gets power
      Then Node "worker-1" has condition Ready=True within 60s
      And Node "worker-1" has no taint "node.kubernetes.io/unreachable:NoSchedule" within 60s
      And Node "worker-1" has no taint "node.kubernetes.io/unreachable:NoExecute" within 65s
      But Node "worker-1" keeps taint "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute" for 90s
      And the history of Node "worker-1" matches its snapshot
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: new}
        spec:
          nodeSelector: {kubernetes.io/hostname: worker-1}
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      Then Pod "new" has condition PodScheduled=False, reason "Unschedulable", within 1s
      And Event FailedScheduling about Pod "new" within 1s
      And Pod "new" keeps field spec.nodeName absent for 60s
      And Node "worker-1" keeps condition Ready=True for 60s
      When the user removes taint "node.kubernetes.io/out-of-service:NoExecute" from Node "worker-1"
      Then Pod "new" field spec.nodeName is "worker-1" within 3s
      And Pod "new" field status.phase is "Running" within 15s
      And Node "worker-1" never has taint "node.kubernetes.io/out-of-service:NoExecute" for 60s

    @req:NG-09
    Scenario Outline: The taint stays when <does>
      Given a ready Node "worker-1"
      And the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
      When <does>
      Then Event <reason> about Node "worker-1" within 60s
      And Node "worker-1" keeps taint "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute" for 60s

      Examples:
        | does                               | reason         |
        | the kubelet on "worker-1" restarts | Starting       |
        | machine "worker-1" reboots         | Rebooted       |
        | node-lifecycle-controller restarts | RegisteredNode |

    @req:NG-09
    Scenario: A pod that comes to the node that is back is evicted from it, and not by force
      Given a ready Node "worker-1"
      And the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: late}
        spec: {nodeName: worker-1, containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      Then Pod "late" is deleted within 1s
      And Event TaintManagerEviction about Pod "late", message "Marking for deletion Pod default/late", within 1s
      And Pod "late" is gone within 35s

    @req:NG-09
    Scenario: With the Node the taint is gone as well
      Given the object:
        """yaml
        apiVersion: v1
        kind: Node
        metadata: {name: by-hand}
        """
      And the user taints Node "by-hand" with "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
      And the user deletes Node "by-hand"
      When the user sends POST /api/v1/nodes:
        """yaml
        apiVersion: v1
        kind: Node
        metadata: {name: by-hand}
        """
      Then the request is answered with 201
      And Event RegisteredNode about Node "by-hand" within 6s
      And Node "by-hand" never has taint "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute" for 60s

  Rule: On a node that is Ready the taint evicts as any other, and nothing goes by force

    @req:NG-10
    Scenario: The pod has its whole grace period
      Longer than a pass of the collector takes to come.

      Given a ready Node "worker-1"
      And a Pod "slow" on Node "worker-1" that takes 25s to stop
      When the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
      Then Pod "slow" is terminating within 1s
      And Pod "slow" field metadata.deletionGracePeriodSeconds is 30 within 1s
      And container "main" of Pod "slow" keeps running on machine "worker-1" for 24s
      And Pod "slow" keeps field status.phase "Running" for 24s
      And Pod "slow" is gone between 25s and 32s
      And Node "worker-1" keeps condition Ready=True for 60s

    @req:NG-10
    Scenario: Without a kubelet that ends it, the pod stays Terminating
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
      Then Pod "web" is terminating within 1s
      When 1s passes
      Then Pod "web" stays terminating for 60s
      And Pod "web" keeps field status.phase "Running" for 60s
      And Node "worker-1" keeps condition Ready=True for 60s

    @req:NG-10
    Scenario Outline: As soon as the node is not Ready, what is Terminating goes: <what>
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
      And Pod "web" is deleted
      And 25s pass
      When Node "worker-1" posts condition Ready=<what>
      Then Node "worker-1" has condition Ready=<what> within 1s
      And Pod "web" field status.phase is "Failed" within 21s
      And Pod "web" is gone within 21s

      Examples:
        | what    |
        | False   |
        | Unknown |

    @req:NG-10
    Scenario: With NoSchedule alone the pods of a Ready node are left alone
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:NoSchedule"
      Then Node "worker-1" has taint "node.kubernetes.io/out-of-service=nodeshutdown:NoSchedule" at once
      And Pod "web" stays for 60s
      And Pod "web" keeps condition Ready=True for 60s
      And no Event TaintManagerEviction about Pod "web" for 60s

    @req:NG-10
    Scenario: A DaemonSet's pods are deleted too, and are back when the taint is gone
      Given a ready Node "worker-1"
      And a DaemonSet "agent" of 2 Pods
      When the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
      Then the Pod of "agent" on Node "worker-1" is deleted within 1s
      And the Pod of "agent" on Node "worker-1" is gone within 35s
      And 1 Pod of "agent" keeps running on Node "bystander" for 60s
      When 1s passes
      Then 0 Pods of "agent" keep running on Node "worker-1" for 30s
      When the user removes taint "node.kubernetes.io/out-of-service:NoExecute" from Node "worker-1"
      Then 1 Pod of "agent" is running on Node "worker-1" within 15s
