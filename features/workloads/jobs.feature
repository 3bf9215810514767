@core
Feature: A Job makes another Pod when one is lost
  Source: pkg/controller/job/job_controller.go (v1.34), syncJob and manageJob
  Source: pkg/controller/job/backoff_utils.go (v1.34), getFinishedTime
  Source: recordings node-silent-evict-return, node-deleted and kubelet-posts-not-ready of 1.31.0, 1.34.4 and 1.36.3

  A sync comes a second after what happened to a Pod. The next Pod waits until 10 s after the end of the one before: of a
  Pod that is told to end that is when its deletion begins, but of one whose node died it is when it was no longer ready.

  Background:
    Given no other Node
    And a ready Node "worker-1"

  Rule: A Pod on a node that is lost is replaced when it is deleted, or when it has failed

    Scenario: The node dies, and the Pod's time on it is over long before it is evicted
      Given the object:
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: work, namespace: default}
        spec:
          template: {spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}}
        """
      And 1 Pod of "work" is running
      And a ready Node "worker-2"
      When machine "worker-1" loses power
      Then the Pod of "work" on Node "worker-1" is deleted at 300s after Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      And Job "work" field status.ready is 0 between the grace period less 11s and the grace period and 7s
      And Job "work" field status.failed is 1 at 301s after Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      And Job "work" field status.terminating is 1 at 301s after Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      And 1 Pod of "work" is running on Node "worker-2" between the grace period and 289s and the grace period and 314s
      And 1 Event SuccessfulCreate about Job "work" between the grace period and 289s and the grace period and 314s
      But Job "work" never has condition Failed=True for 10m

    Scenario: With podReplacementPolicy Failed the next Pod waits until nobody can run the old one
      Given the object:
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: work, namespace: default}
        spec:
          podReplacementPolicy: Failed
          template: {spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}}
        """
      And 1 Pod of "work" is running
      And a ready Node "worker-2"
      When machine "worker-1" loses power
      Then Job "work" field status.terminating is 1 at 301s after Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      And the Pod of "work" on Node "worker-1" is deleted between the grace period and 289s and the grace period and 312s
      And 0 Pods of "work" keep running on Node "worker-2" for 10m
      And Job "work" keeps field status.failed absent for 10m
      When the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
      Then the Pod of "work" on Node "worker-1" is gone within 22s
      And Job "work" field status.failed is 1 within 22s
      And 1 Pod of "work" is running on Node "worker-2" within 24s
      And Job "work" field status.terminating is 0 within 24s

    Scenario: The Node is deleted
      Given the object:
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: work, namespace: default}
        spec:
          template: {spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}}
        """
      And 1 Pod of "work" is running
      And a ready Node "worker-2"
      And machine "worker-1" loses power
      When the user deletes Node "worker-1"
      Then 1 Pod of "work" keeps running on Node "worker-1" for 39s
      And Job "work" keeps field status.failed absent for 40s
      And Job "work" field status.failed is 1 between 41s and 82s
      And 0 Pods of "work" keep running on Node "worker-2" for 50s
      And 1 Pod of "work" is running on Node "worker-2" between 51s and 94s

  Rule: A Pod that is told to end counts as failed at once, and the next one waits for 10 s

    Background:
      Given the object:
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: work, namespace: default}
        spec:
          template:
            metadata: {annotations: {nodeproof.dev/main.exit-code: "143"}}
            spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}
        """
      And 1 Pod of "work" is running
      And a ready Node "worker-2"

    Scenario: The node is drained
      When the user drains Node "worker-1"
      Then the Pod of "work" on Node "worker-1" is deleted within 1s
      And Job "work" field status.failed is 1 between 1s and 2s
      And Job "work" field status.active is absent between 1s and 2s
      And 0 Pods of "work" keep running on Node "worker-2" for 9s
      And 1 Pod of "work" is running on Node "worker-2" between 10s and 13s
      And 1 Event SuccessfulCreate about Job "work" between 8s and 11s

    Scenario: The Job is deleted with its Pods
      When the user deletes Job "work"
      Then Job "work" is gone within 5s
      And 0 Pods of "work" are running within 5s
      And no Event SuccessfulDelete about Job "work" for 30s

  Rule: A failure beside a Pod that is ready counts at once, but for releases that take no Pod for active in the pause

    Background:
      Given a ready Node "worker-2"
      And the object:
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: work, namespace: default}
        spec:
          parallelism: 2
          completions: 2
          template:
            metadata: {labels: {app: work}, annotations: {nodeproof.dev/main.exit-code: "143"}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: pause}]
              affinity:
                podAntiAffinity:
                  requiredDuringSchedulingIgnoredDuringExecution:
                    - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: work}}}
        """
      And Job "work" field status.ready is 2

    @since:1.36
    Scenario: It counts at once
      When the user drains Node "worker-1"
      Then Job "work" field status.failed is 1 within 3s
      And Job "work" field status.active is 1 within 3s
      And Job "work" field status.ready is 1 within 3s
      And the Pod of "work" on Node "worker-1" field metadata.finalizers is absent within 3s
      And no Event SuccessfulCreate about Job "work" for 8s

    @since:1.32 @until:1.35
    Scenario: The server refuses a status of more ready Pods than active ones
      When the user drains Node "worker-1"
      Then Job "work" keeps field status.failed absent for 8s
      And Job "work" keeps field status.active unchanged for 8s
      And the Pod of "work" on Node "worker-1" keeps field metadata.finalizers unchanged for 8s
      And Job "work" field status.failed is 1 between 9s and 13s
      And 1 Event SuccessfulCreate about Job "work" between 8s and 13s

    @since:1.32 @until:1.35
    Scenario: It refuses that too when only the active ones became fewer
      Given machine "worker-1" loses power
      And Job "work" field status.ready is 1
      When the user drains Node "worker-1"
      Then Job "work" keeps field status.failed absent for 3s
      And Job "work" keeps field status.active 2 for 3s
      And Job "work" field status.failed is 1 between 3s and 12s

    @until:1.31
    Scenario: It counts at once, and no Pod counts as active
      When the user drains Node "worker-1"
      Then Job "work" field status.failed is 1 within 3s
      And Job "work" field status.active is absent within 3s
      And Job "work" field status.ready is 1 within 3s

  Rule: Too many failures end the Job, and so does its deadline

    Scenario: One failure more than backoffLimit
      When the user creates:
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: work, namespace: default}
        spec:
          backoffLimit: 1
          template:
            metadata: {annotations: {nodeproof.dev/main.crashes-after: 2s}}
            spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}
        """
      Then Job "work" field status.failed is 1 between 4s and 7s
      And Job "work" never has condition FailureTarget=True for 16s
      And Job "work" has condition FailureTarget=True, reason "BackoffLimitExceeded", message "Job has reached the specified backoff limit", between 16s and 22s
      And Job "work" has condition Failed=True, reason "BackoffLimitExceeded", message "Job has reached the specified backoff limit", between 16s and 22s
      And Event BackoffLimitExceeded about Job "work", message "Job has reached the specified backoff limit" between 16s and 22s
      And Job "work" field status.failed is 2 between 16s and 22s
      And 2 Events SuccessfulCreate about Job "work" between 10s and 22s

    Scenario: With restartPolicy OnFailure restarts of containers count
      When the user creates:
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: work, namespace: default}
        spec:
          backoffLimit: 2
          template:
            metadata: {annotations: {nodeproof.dev/main.crashes-after: 5s}}
            spec: {restartPolicy: OnFailure, containers: [{name: main, image: pause}]}
        """
      Then Job "work" never has condition FailureTarget=True for 12s
      And Job "work" has condition FailureTarget=True, reason "BackoffLimitExceeded" between 13s and 40s
      And Job "work" has condition Failed=True, reason "BackoffLimitExceeded" between 13s and 42s
      And 1 Event SuccessfulDelete about Job "work" between 13s and 40s
      And 1 Event SuccessfulCreate about Job "work" within 60s

    Scenario: The deadline takes a Pod that runs, and the Job has failed when that Pod has ended
      When the user creates:
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: work, namespace: default}
        spec:
          activeDeadlineSeconds: 20
          template:
            metadata: {annotations: {nodeproof.dev/main.stops-after: 5s, nodeproof.dev/main.exit-code: "143"}}
            spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}
        """
      Then Job "work" never has condition FailureTarget=True for 19s
      And Job "work" has condition FailureTarget=True, reason "DeadlineExceeded", message "Job was active longer than specified deadline", between 19s and 21s
      And Job "work" field status.terminating is 1 between 19s and 21s
      And Job "work" never has condition Failed=True for 24s
      And Job "work" has condition Failed=True, reason "DeadlineExceeded", message "Job was active longer than specified deadline", between 24s and 28s
      And Event DeadlineExceeded about Job "work", message "Job was active longer than specified deadline" between 24s and 28s
      And 1 Event SuccessfulDelete about Job "work" between 19s and 21s

  Rule: A Job that is suspended has no Pods, and its time begins again when it is resumed

    Scenario: It is suspended and resumed
      Given the object:
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: work, namespace: default}
        spec:
          parallelism: 2
          completions: 2
          template:
            metadata: {annotations: {nodeproof.dev/main.exit-code: "143"}}
            spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}
        """
      And 2 Pods of "work" are running
      And 10s pass
      When the user sends PATCH /apis/batch/v1/namespaces/default/jobs/work:
        """
        spec: {suspend: true}
        """
      Then Job "work" has condition Suspended=True, reason "JobSuspended", message "Job suspended", within 1s
      And Event Suspended about Job "work", message "Job suspended" within 1s
      And 2 Events SuccessfulDelete about Job "work" within 1s
      And 0 Pods of "work" are running within 3s
      And Job "work" keeps field status.failed absent for 30s
      When the user sends PATCH /apis/batch/v1/namespaces/default/jobs/work:
        """
        spec: {suspend: false}
        """
      Then Job "work" has condition Suspended=False, reason "JobResumed", message "Job resumed", within 1s
      And Event Resumed about Job "work", message "Job resumed" within 1s
      And Job "work" field status.startTime is changed within 1s
      And 2 Pods of "work" are running between 1s and 4s
      And the history of Job "work" matches its snapshot

    Scenario Outline: Suspended, it has <has> start in <releases>
      Given the object:
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: work, namespace: default}
        spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}}}
        """
      And 1 Pod of "work" is running
      When the user sends PATCH /apis/batch/v1/namespaces/default/jobs/work:
        """
        spec: {suspend: true}
        """
      Then Job "work" has condition Suspended=True within 1s
      And Job "work" <start>

      @until:1.35
      Examples:
        | releases   | has | start                                          |
        | up to 1.35 | a   | keeps field status.startTime unchanged for 10s |

      @since:1.36
      Examples:
        | releases  | has | start                                      |
        | from 1.36 | no  | field status.startTime is absent within 1s |

  Rule: Pods that are too many go without counting, and those of nobody keep no finalizer

    Background:
      Given the object:
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: work, namespace: default}
        spec:
          parallelism: 3
          completions: 9
          template:
            metadata: {annotations: {nodeproof.dev/main.exit-code: "143"}}
            spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}
        """
      And 3 Pods of "work" are running

    Scenario: It may run fewer Pods at a time
      Given Job "work" field status.ready is 3
      When the user sends PATCH /apis/batch/v1/namespaces/default/jobs/work:
        """
        spec: {parallelism: 1}
        """
      Then 2 Events SuccessfulDelete about Job "work" within 1s
      And 1 Pod of "work" is running within 3s
      And Job "work" field status.active is 1 within 1s
      And Job "work" keeps field status.failed absent for 30s
      And no Event SuccessfulCreate about Job "work" for 30s

    Scenario: It is deleted without its Pods
      When the user sends DELETE /apis/batch/v1/namespaces/default/jobs/work?propagationPolicy=Orphan
      Then Job "work" is gone within 1s
      And the Pods field metadata.finalizers is absent within 2s
      And the Pods field metadata.ownerReferences is absent within 2s
      And 3 Pods keep running for 30s

  @req:LAB-07
  Rule: A selector by hand has labels and expressions, and takes Pods that nobody owns

    Scenario: A Pod is taken, and let go when the Job no longer selects it
      Given the object:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: lone, namespace: default, labels: {app: work, tier: back}}
        spec: {nodeName: worker-1, restartPolicy: Never, containers: [{name: main, image: pause}]}
        """
      And Pod "lone" field status.phase is "Running"
      When the user creates:
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: work, namespace: default}
        spec:
          manualSelector: true
          selector: {matchLabels: {app: work}, matchExpressions: [{key: tier, operator: In, values: [back]}]}
          template:
            metadata: {labels: {app: work, tier: back}}
            spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}
        """
      Then Pod "lone" field metadata.ownerReferences[0].name is "work" within 1s
      And Pod "lone" field metadata.finalizers[0] is "batch.kubernetes.io/job-tracking" within 1s
      And no Event SuccessfulCreate about Job "work" for 30s
      When the user sends PATCH /api/v1/namespaces/default/pods/lone:
        """
        metadata: {labels: {tier: front}}
        """
      Then Pod "lone" field metadata.ownerReferences is absent between 1s and 2s
      And Pod "lone" field metadata.finalizers is absent between 1s and 2s
      And 1 Event SuccessfulCreate about Job "work" between 1s and 2s

  Rule: A Job of another manager is left alone

    @since:1.32
    Scenario: It has no Pods
      When the user creates:
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: work, namespace: default}
        spec:
          managedBy: example.com/queue
          template: {spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}}
        """
      Then Job "work" exists within 1s
      And Job "work" keeps field status.startTime absent for 60s
      And no Event SuccessfulCreate about Job "work" for 60s

  Rule: A Job that has ended is deleted when its time after that is over

    Scenario: Its Pod goes with it
      Given the object:
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: work, namespace: default}
        spec:
          ttlSecondsAfterFinished: 30
          template:
            metadata: {annotations: {nodeproof.dev/main.crashes-after: 2s, nodeproof.dev/main.exit-code: "0"}}
            spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}
        """
      And Job "work" has condition Complete=True
      When nothing is done
      Then Job "work" keeps field metadata.deletionTimestamp absent for 24s
      And the Pod of "work" is gone between 24s and 31s
      And Job "work" is gone between 24s and 31s
