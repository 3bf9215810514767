@core @req:TNT-03
Feature: A NoExecute taint evicts the pods that do not tolerate it
  Source: pkg/controller/tainteviction/taint_eviction.go (v1.34), processPodOnNode, getMinTolerationTime
  Source: staging/src/k8s.io/api/core/v1/toleration.go (v1.34), ToleratesTaint

  Rule: A pod that does not tolerate the taint is evicted at once

    Scenario: A pod without a toleration
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And a Pod "other" on Node "bystander"
      When the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      Then Pod "web" is deleted within 1s
      And Event TaintManagerEviction about Pod "web", message "Marking for deletion Pod default/web", within 1s
      And Pod "web" has condition DisruptionTarget=True, reason "DeletionByTaintManager", message "Taint manager: deleting due to NoExecute taint", within 1s
      And Pod "web" field metadata.deletionGracePeriodSeconds is 30 within 1s
      But Pod "other" stays for 10m
      And no Event TaintManagerEviction about Pod "other" for 10m
      And Node "worker-1" keeps condition Ready=True for 10m
      And the history of Pod "web" matches its snapshot

    Scenario: The kubelet ends the pod within its grace period
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      Then Pod "web" is deleted within 1s
      And Pod "web" is gone within 35s

    Scenario Outline: A pod that tolerates <toleration>, which is another taint
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1" that tolerates "<toleration>"
      When the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      Then Pod "web" is deleted within 1s

      Examples:
        | toleration                 |
        | example.com/t=b:NoExecute  |
        | example.com/t=a:NoSchedule |
        | example.com/t:NoSchedule   |
        | example.com/u:NoExecute    |
        | example.com/T:NoExecute    |

    Scenario Outline: <taint> evicts nobody
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When the user taints Node "worker-1" with "<taint>"
      Then Node "worker-1" has taint "<taint>" at once
      But Pod "web" stays for 10m
      And no Event TaintManagerEviction about Pod "web" for 10m

      Examples:
        | taint                            |
        | example.com/t=a:NoSchedule       |
        | example.com/t=a:PreferNoSchedule |

  Rule: A pod that tolerates the taint stays: for tolerationSeconds where they are given, else for ever

    Scenario Outline: A pod that tolerates <toleration> stays
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1" that tolerates "<toleration>"
      When the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      Then Node "worker-1" has taint "example.com/t=a:NoExecute" at once
      But Pod "web" stays for 1h
      And no Event TaintManagerEviction about Pod "web" for 1h

      Examples:
        | toleration                |
        | example.com/t=a:NoExecute |
        | example.com/t:NoExecute   |
        | example.com/t=a           |
        | example.com/t             |

    Scenario Outline: A pod that tolerates the taint for <time>
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1" that tolerates "example.com/t=a:NoExecute" for <time>
      When the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      Then Pod "web" stays for <kept>
      And Pod "web" is deleted at <time> after Node "worker-1" has taint "example.com/t=a:NoExecute"
      And 1 Event TaintManagerEviction about Pod "web", message "Marking for deletion Pod default/web", within 11m

      Examples:
        | time | kept  |
        | 1s   | 0.9s  |
        | 20s  | 19.9s |
        | 10m  | 599s  |

    Scenario: tolerationSeconds of 0 are no time at all
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1" that tolerates "example.com/t=a:NoExecute" for 0s
      When the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      Then Pod "web" is deleted within 1s

    Scenario: Fewer tolerationSeconds than 0 are no time either, and null is for ever
      Given a hand-fed Node "worker-1"
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: negative}
        spec:
          nodeName: worker-1
          tolerations: [{key: example.com/t, operator: Exists, effect: NoExecute, tolerationSeconds: -5}]
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: unlimited}
        spec:
          nodeName: worker-1
          tolerations: [{key: example.com/t, operator: Exists, effect: NoExecute, tolerationSeconds: null}]
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      When the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      Then Pod "negative" is deleted within 1s
      And Event TaintManagerEviction about Pod "negative", message "Marking for deletion Pod default/negative", within 1s
      But Pod "unlimited" stays for 2h
      And no Event TaintManagerEviction about Pod "unlimited" for 2h

    Scenario: Of several tolerations that match a taint the first counts, not the longest
      Given a hand-fed Node "worker-1"
      And a Pod "short-first" on Node "worker-1" that tolerates "example.com/t:NoExecute" for 20s, "example.com/t=a:NoExecute"
      And a Pod "long-first" on Node "worker-1" that tolerates "example.com/t=a:NoExecute", "example.com/t:NoExecute" for 20s
      When the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      Then Pod "short-first" stays for 19.9s
      And Pod "short-first" is deleted at 20s after Node "worker-1" has taint "example.com/t=a:NoExecute"
      But Pod "long-first" stays for 1h

    Scenario: Another time given while the pod waits changes nothing
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1" that tolerates "example.com/t:NoExecute" for 60s
      When the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      And the user sends PATCH /api/v1/namespaces/default/pods/web:
        """yaml
        spec:
          tolerations:
          - {key: example.com/t, operator: Exists, effect: NoExecute, tolerationSeconds: 5}
          - {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300}
          - {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 300}
        """
      Then Pod "web" field spec.tolerations[example.com/t:Exists:NoExecute].tolerationSeconds is 5 at once
      But Pod "web" stays for 59.9s
      And Pod "web" is deleted between 59.9s and 60.1s
      And no Event NodeNotReady about Pod "web" for 60s

    Scenario: A pod that has ended already is evicted too, and is gone at once
      Given a hand-fed Node "worker-1"
      And a Pod "done" on Node "worker-1"
      And the user sends strategic PATCH /api/v1/namespaces/default/pods/done/status:
        """yaml
        status: {phase: Succeeded}
        """
      When the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      Then Pod "done" is gone within 1s
      And Event TaintManagerEviction about Pod "done", message "Marking for deletion Pod default/done", within 1s

    Scenario: A toleration of every taint
      Given a hand-fed Node "worker-1"
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: everything}
        spec:
          nodeName: worker-1
          tolerations: [{operator: Exists}]
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: everything-for-20s}
        spec:
          nodeName: worker-1
          tolerations: [{operator: Exists, effect: NoExecute, tolerationSeconds: 20}]
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: negative}
        spec:
          nodeName: worker-1
          tolerations: [{key: example.com/t, operator: Exists, effect: NoExecute, tolerationSeconds: -5}]
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      When the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      Then Pod "everything" stays for 1h
      And Pod "everything-for-20s" is deleted at 20s after Node "worker-1" has taint "example.com/t=a:NoExecute"
      And Pod "everything-for-20s" stays for 19.9s
      And Pod "negative" is deleted within 1s

  Rule: Of several tolerations that match a taint, the first decides

    Scenario: First for a time, then for ever
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1" that tolerates "example.com/t:NoExecute" for 20s and "example.com/t=a:NoExecute"
      When the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      Then Pod "web" stays for 19.9s
      And Pod "web" is deleted at 20s after Node "worker-1" has taint "example.com/t=a:NoExecute"

    Scenario: First for ever, then for a time
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1" that tolerates "example.com/t=a:NoExecute", "example.com/t:NoExecute" for 20s
      When the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      Then Node "worker-1" has taint "example.com/t=a:NoExecute" at once
      But Pod "web" stays for 10m

  Rule: Of several taints, each must be tolerated, and the shortest time counts

    Scenario Outline: Two taints at once; the pod tolerates <tolerations>
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1" that tolerates <tolerations>
      When the user sends PATCH /api/v1/nodes/worker-1:
        """yaml
        spec: {taints: [{key: example.com/t, value: a, effect: NoExecute}, {key: example.com/u, effect: NoExecute}]}
        """
      Then Pod "web" stays for <kept>
      And Pod "web" is deleted between <kept> and <gone>

      Examples:
        | tolerations                                                    | kept  | gone |
        | "example.com/t:NoExecute" for 30s, "example.com/u:NoExecute" for 10s | 9.9s | 10.2s |
        | "example.com/t:NoExecute" for 10s, "example.com/u:NoExecute" for 30s | 9.9s | 10.2s |
        | "example.com/t:NoExecute", "example.com/u:NoExecute" for 25s   | 24.9s | 25.2s |

    Scenario Outline: Two taints at once, of which one is not tolerated; the pod tolerates <tolerations>
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1" that tolerates <tolerations>
      When the user sends PATCH /api/v1/nodes/worker-1:
        """yaml
        spec: {taints: [{key: example.com/t, value: a, effect: NoExecute}, {key: example.com/u, effect: NoExecute}]}
        """
      Then Pod "web" is deleted within 1s

      Examples:
        | tolerations                       |
        | "example.com/t:NoExecute"         |
        | "example.com/u:NoExecute" for 30s |

    Scenario: Two taints at once that both are tolerated for ever
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1" that tolerates "example.com/t:NoExecute" and "example.com/u:NoExecute"
      When the user sends PATCH /api/v1/nodes/worker-1:
        """yaml
        spec: {taints: [{key: example.com/t, value: a, effect: NoExecute}, {key: example.com/u, effect: NoExecute}]}
        """
      Then Node "worker-1" has taint "example.com/t=a:NoExecute" at once
      And Node "worker-1" has taint "example.com/u:NoExecute" at once
      But Pod "web" stays for 1h

    Scenario: A second taint later does not give more time, nor less
      Given a hand-fed Node "worker-1"
      And a Pod "longer" on Node "worker-1" that tolerates "example.com/t:NoExecute" for 30s, "example.com/u:NoExecute" for 10m
      And a Pod "shorter" on Node "worker-1" that tolerates "example.com/t:NoExecute" for 30s, "example.com/u:NoExecute" for 5s
      When the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      Then Pod "longer" stays for 10s
      And Pod "shorter" stays for 10s
      When the user taints Node "worker-1" with "example.com/u:NoExecute"
      Then Node "worker-1" has taint "example.com/u:NoExecute" at once
      And Pod "longer" stays for 19.8s
      And Pod "longer" is deleted between 19.8s and 20.2s
      And Pod "shorter" stays for 19.8s
      And Pod "shorter" is deleted between 19.8s and 20.2s

    Scenario: A second taint later that is not tolerated evicts at once
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1" that tolerates "example.com/t:NoExecute" for 10m
      And a Pod "patient" on Node "worker-1" that tolerates "example.com/t:NoExecute" and "example.com/u:NoExecute" for 15s
      When the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      Then Node "worker-1" has taint "example.com/t=a:NoExecute" at once
      But Pod "web" stays for 10s
      And Pod "patient" stays for 10s
      When the user taints Node "worker-1" with "example.com/u:NoExecute"
      Then Pod "web" is deleted within 1s
      And Pod "patient" is deleted at 15s after Node "worker-1" has taint "example.com/u:NoExecute"

    Scenario: Another value of the same taint is another taint
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1" that tolerates "example.com/t=a:NoExecute"
      And a Pod "any" on Node "worker-1" that tolerates "example.com/t:NoExecute"
      And the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      And 30s pass
      When the user taints Node "worker-1" with "example.com/t=b:NoExecute"
      Then Pod "web" is deleted within 1s
      And Pod "any" stays for 10m

  Rule: A taint that goes in time evicts nobody

    Scenario: The taint is removed, and comes again
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1" that tolerates "example.com/t:NoExecute" for 60s
      And the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      And 50s pass
      When the user removes taint "example.com/t:NoExecute" from Node "worker-1"
      Then Event TaintManagerEviction about Pod "web", message "Cancelling deletion of Pod default/web", within 1s
      And Pod "web" stays for 10m
      When the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      Then Pod "web" stays for 59.9s
      And Pod "web" is deleted at 60s after Node "worker-1" has taint "example.com/t:NoExecute"

    Scenario: Of two taints one is removed: the pod still has its time of before
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1" that tolerates "example.com/t:NoExecute" for 60s, "example.com/u:NoExecute" for 10m
      And the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      And 10s pass
      And the user taints Node "worker-1" with "example.com/u:NoExecute"
      When the user removes taint "example.com/t:NoExecute" from Node "worker-1"
      Then Node "worker-1" has no taint "example.com/t:NoExecute" at once
      And no Event TaintManagerEviction about Pod "web" for 45s
      And Pod "web" stays for 45s
      And Pod "web" is deleted between 45s and 50.2s

  Rule: A pod that comes to a tainted node has its whole time from then on

    Scenario: Pods are bound by hand half a minute after the taint
      Given a hand-fed Node "worker-1"
      And the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      And 30s pass
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: late, namespace: default}
        spec: {nodeName: worker-1, containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: late-15, namespace: default}
        spec:
          nodeName: worker-1
          tolerations: [{key: example.com/t, operator: Exists, effect: NoExecute, tolerationSeconds: 15}]
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      Then Pod "late" is deleted within 1s
      And Pod "late-15" stays for 14.9s
      And Pod "late-15" is deleted between 14.9s and 15.2s

  Rule: The time is kept in the memory of the controller

    Scenario: A controller that is restarted gives the whole time again
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1" that tolerates "example.com/t:NoExecute" for 60s
      And the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      And 40s pass
      When taint-eviction-controller restarts
      Then Pod "web" stays for 59.9s
      And Pod "web" is deleted between 59.9s and 61s

    Scenario: The time of a pod goes on when its Node is deleted
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1" that tolerates "example.com/t:NoExecute" for 60s
      And the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      And 20s pass
      When the user deletes Node "worker-1"
      Then Node "worker-1" is gone within 1s
      And Pod "web" stays for 34s
      And Pod "web" is deleted between 34s and 40.1s

    Scenario: A pod that is deleted for good while it waits is no longer waited for
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1" that tolerates "example.com/t:NoExecute" for 60s
      And the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      When the user sends DELETE /api/v1/namespaces/default/pods/web:
        """yaml
        {gracePeriodSeconds: 0}
        """
      Then Pod "web" is gone within 1s
      And 1 Event TaintManagerEviction about Pod "web", message "Cancelling deletion of Pod default/web", within 5m
      And 1 Event TaintManagerEviction about Pod "web" within 5m

  Rule: What happens again to a pod is told again

    Its Event is one, and counts.

    Scenario: The taint comes and goes
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1" that tolerates "example.com/t:NoExecute" for 60s
      And the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      And 2s pass
      And the user removes taint "example.com/t:NoExecute" from Node "worker-1"
      And 2s pass
      When the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      And 2s pass
      And the user removes taint "example.com/t:NoExecute" from Node "worker-1"
      Then 1 Event TaintManagerEviction about Pod "web", message "Cancelling deletion of Pod default/web", within 1s
      When the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      And 2s pass
      And the user removes taint "example.com/t:NoExecute" from Node "worker-1"
      Then 1 Event TaintManagerEviction about Pod "web", message "Cancelling deletion of Pod default/web", within 1s
      And Pod "web" stays for 5m

    Scenario: A pod of the same name comes to the same taint
      Given a hand-fed Node "worker-1"
      And the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      And the object:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web, namespace: default}
        spec: {nodeName: worker-1, containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      And Pod "web" is deleted
      And the user sends DELETE /api/v1/namespaces/default/pods/web:
        """yaml
        {gracePeriodSeconds: 0}
        """
      And Pod "web" is gone
      When the user sends POST /api/v1/namespaces/default/pods:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec: {nodeName: worker-1, containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      Then the request is answered with 201
      And 1 Event TaintManagerEviction about Pod "web", message "Marking for deletion Pod default/web", within 1s
      And Pod "web" is terminating within 1s

    Scenario: A pod that is Terminating is deleted again with each further taint
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      And Pod "web" is deleted
      And 2s pass
      When the user taints Node "worker-1" with "example.com/u:NoExecute"
      Then 1 Event TaintManagerEviction about Pod "web", message "Marking for deletion Pod default/web", within 1s
      And Pod "web" stays terminating for 60s
      And Pod "web" keeps field metadata.deletionTimestamp unchanged for 60s

    @since:1.33
    Scenario: One whose time is over gets its time again
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1" that tolerates "example.com/t:NoExecute" for 5s, "example.com/u:NoExecute" for 10s
      And the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      And Pod "web" is deleted
      And the user removes taint "example.com/t:NoExecute" from Node "worker-1"
      And 2s pass
      When the user taints Node "worker-1" with "example.com/u:NoExecute"
      Then no Event TaintManagerEviction about Pod "web" for 9.9s
      And 1 Event TaintManagerEviction about Pod "web", message "Marking for deletion Pod default/web", between 9.9s and 11s
      And Pod "web" stays terminating for 60s

    Scenario: One whose time is over has no other while the taint stays
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1" that tolerates "example.com/t:NoExecute" for 5s
      When the user taints Node "worker-1" with "example.com/t=a:NoExecute"
      Then Pod "web" is deleted at 5s after Node "worker-1" has taint "example.com/t=a:NoExecute"
      And Pod "web" stays for 4.9s
      And 1 Event TaintManagerEviction about Pod "web" within 5m
