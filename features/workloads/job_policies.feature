@core
Feature: A Job may say which failures count, and which successes suffice
  Source: pkg/controller/job/pod_failure_policy.go (v1.34), matchPodFailurePolicy
  Source: pkg/controller/job/success_policy.go (v1.34), matchSuccessPolicy
  Source: pkg/controller/job/job_controller.go (v1.34), syncJob

  Background:
    Given no other Node

  Rule: The first rule that matches a failed Pod says what its failure means

    Scenario: A shutdown of the node does not count
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | shutdownGracePeriod             | 20s |
        | shutdownGracePeriodCriticalPods | 8s  |
      And the object:
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: work, namespace: default}
        spec:
          backoffLimit: 0
          podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]}
          template:
            metadata: {annotations: {nodeproof.dev/main.exit-code: "143"}}
            spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}
        """
      And 1 Pod of "work" is running
      And a ready Node "worker-2"
      When machine "worker-1" announces a shutdown
      Then the Pod of "work" on Node "worker-1" field status.phase is "Failed" between 1s and 3s
      And Job "work" keeps field status.failed absent for 60s
      And Job "work" never has condition FailureTarget=True for 60s
      And 0 Pods of "work" keep running on Node "worker-2" for 10s
      And 1 Pod of "work" is running on Node "worker-2" between 11s and 16s

    Scenario: An exit code ends the whole Job
      Given a ready Node "worker-1"
      When the user creates:
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: work, namespace: default}
        spec:
          podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [42]}}]}
          template:
            metadata: {annotations: {nodeproof.dev/main.crashes-after: 2s, nodeproof.dev/main.exit-code: "42"}}
            spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}
        """
      Then Job "work" has condition FailureTarget=True, reason "PodFailurePolicy" between 4s and 7s
      And Job "work" has condition Failed=True, reason "PodFailurePolicy" between 4s and 7s
      And Event PodFailurePolicy about Job "work" between 4s and 7s
      And Job "work" field status.failed is 1 between 4s and 7s
      And 1 Event SuccessfulCreate about Job "work" within 60s

  Rule: A Job with a rule for success ends its other Pods when that is met

    Scenario: One index suffices
      Given a ready Node "worker-1"
      When the user creates:
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: work, namespace: default}
        spec:
          completionMode: Indexed
          completions: 3
          parallelism: 2
          successPolicy: {rules: [{succeededCount: 1}]}
          template:
            metadata: {annotations: {nodeproof.dev/main.crashes-after: 5s, nodeproof.dev/main.exit-code: "0"}}
            spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}
        """
      Then Job "work" has condition SuccessCriteriaMet=True, reason "SuccessPolicy", message "Matched rules at index 0", between 6s and 9s
      And Job "work" has condition Complete=True, reason "SuccessPolicy", message "Matched rules at index 0", between 6s and 11s
      And Job "work" field status.completedIndexes is "0,1" between 6s and 9s
      And Event Completed about Job "work", message "Job completed" between 6s and 11s
      And 2 Events SuccessfulCreate about Job "work" within 60s
