@extended
Feature: A drain asks for a flag for each kind of pod that somebody would miss, and says what it does
  Source: kubectl pkg/drain/filters.go and drain.go, pkg/cmd/drain/drain.go (v1.31, v1.34, v1.36)

  @req:MAN-07
  Rule: Pods with local storage, ended pods, and pods that a selector leaves out

    Scenario: What a pod keeps in an emptyDir is lost
      Given a ready Node "worker-1"
      And the object:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: cache}
        spec:
          nodeName: worker-1
          terminationGracePeriodSeconds: 5
          containers: [{name: c, image: i}]
          volumes: [{name: scratch, emptyDir: {}}]
        """
      And Pod "cache" has condition Ready=True
      When the user drains Node "worker-1" with:
        | force | true |
      Then kubectl fails within 1s
      And Pod "cache" stays for 60s
      And Node "worker-1" field spec.unschedulable is true within 1s
      And the output of kubectl matches its snapshot
      When the user drains Node "worker-1" with:
        | force                | true |
        | delete-emptydir-data | true |
      Then Pod "cache" is terminating within 1s
      And kubectl succeeds within 15s
      And the output of kubectl matches its snapshot

    Scenario: A selector leaves pods where they are, and a pod that has ended needs no force
      Given a ready Node "worker-1"
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: done, labels: {tier: batch}}
        spec:
          nodeName: worker-1
          restartPolicy: Never
          containers: [{name: c, image: i, command: ["true"]}]
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: web, labels: {tier: front}}
        spec: {nodeName: worker-1, containers: [{name: c, image: i}]}
        """
      And Pod "web" has condition Ready=True
      And Pod "done" field status.phase is "Succeeded"
      When the user drains Node "worker-1" with:
        | pod-selector | tier=batch |
      Then Pod "done" is gone within 5s
      And kubectl succeeds within 10s
      And Pod "web" stays for 60s
      And the output of kubectl matches its snapshot

    Scenario: The user's grace period is shorter than the pod's own
      Given a ready Node "worker-1"
      And a Pod "alone" on Node "worker-1"
      When the user drains Node "worker-1" with:
        | force        | true |
        | grace-period | 3    |
      Then Pod "alone" field metadata.deletionGracePeriodSeconds is 3 within 1s
      And Pod "alone" is gone within 8s
      And kubectl succeeds within 15s
      And the output of kubectl matches its snapshot

  @req:MAN-07
  Rule: Several Nodes are cordoned first, and drained one after the other

    Scenario: One of two Nodes has a pod that forbids its drain
      Given no other Node
      And ready Nodes "worker-1" and "worker-2"
      And a Pod "alone" on Node "worker-1"
      When the user drains Nodes "worker-1" and "worker-2"
      Then kubectl fails within 1s
      And Node "worker-2" field spec.unschedulable is true within 1s
      And Pod "alone" stays for 60s
      And the output of kubectl matches its snapshot

    Scenario: A Node that is not there ends the command before anything is done
      Given ready Nodes "worker-1" and "worker-2"
      When the user deletes Node "worker-2"
      And the user drains Nodes "worker-1" and "worker-2"
      Then kubectl fails within 1s
      And Node "worker-1" keeps field spec.unschedulable absent for 60s
      And the output of kubectl matches its snapshot

  @req:MAN-07
  Rule: What a dry run prints, and what is not waited for

    Scenario: A dry run of the client asks nobody
      Given a ready Node "worker-1"
      And a Pod "alone" on Node "worker-1"
      When the user drains Node "worker-1" with:
        | force   | true   |
        | dry-run | client |
      Then kubectl succeeds within 1s
      And Pod "alone" stays for 60s
      And Node "worker-1" keeps field spec.unschedulable absent for 60s
      And the output of kubectl matches its snapshot

    Scenario: A pod that has been terminating for long is passed over
      Given a ready Node "worker-1"
      And a Pod "stuck" on Node "worker-1"
      And the kubelet on "worker-1" is killed
      And the user deletes Pod "stuck"
      And 45s pass
      When the user drains Node "worker-1" with:
        | force                        | true |
        | skip-wait-for-delete-timeout | 10   |
      Then kubectl succeeds within 1s
      And Pod "stuck" stays terminating for 60s
      And the output of kubectl matches its snapshot

    Scenario: The time that is given ends while a pod takes its own
      Given a ready Node "worker-1"
      And the object:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: slow}
        spec:
          nodeName: worker-1
          terminationGracePeriodSeconds: 40
          containers: [{name: c, image: i, lifecycle: {preStop: {exec: {command: [sleep, "35"]}}}}]
        """
      And Pod "slow" has condition Ready=True
      When the user drains Node "worker-1" with:
        | force   | true |
        | timeout | 10s  |
      Then Pod "slow" is terminating within 1s
      And kubectl keeps running for 9s
      And kubectl fails within 11s
      And Pod "slow" is gone within 45s
      And the output of kubectl matches its snapshot
