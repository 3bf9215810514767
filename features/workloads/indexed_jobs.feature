@core
Feature: An Indexed Job runs one Pod for each index
  Source: pkg/controller/job/indexed_job_utils.go (v1.34)
  Source: pkg/controller/job/job_controller.go (v1.34), manageJob and trackJobStatusAndRemoveFinalizers

  Background:
    Given a ready Node "worker-1"

  Rule: The first missing indexes come first, and the Job is complete when all have succeeded

    Scenario: Three indexes, two at a time
      When the user creates:
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: work, namespace: default}
        spec:
          completionMode: Indexed
          completions: 3
          parallelism: 2
          template:
            metadata: {annotations: {nodeproof.dev/main.crashes-after: 5s, nodeproof.dev/main.exit-code: "0"}}
            spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}
        """
      Then 2 Pods of "work" are running between 1s and 3s
      And 2 Events SuccessfulCreate about Job "work" within 1s
      And Job "work" field status.completedIndexes is "0,1" between 6s and 9s
      And Job "work" keeps field status.completedIndexes absent for 6s
      And Job "work" field status.completedIndexes is "0-2" between 13s and 17s
      And Job "work" has condition SuccessCriteriaMet=True, reason "CompletionsReached", message "Reached expected number of succeeded pods", between 13s and 17s
      And Job "work" has condition Complete=True, reason "CompletionsReached", message "Reached expected number of succeeded pods", between 13s and 17s
      And Job "work" field status.completionTime is set between 13s and 17s
      And Event Completed about Job "work", message "Job completed" between 13s and 17s

  Rule: Each index has its own limit of failures

    Scenario: An index fails for good while the others go on
      When the user creates:
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: work, namespace: default}
        spec:
          completionMode: Indexed
          completions: 2
          parallelism: 1
          backoffLimitPerIndex: 1
          template:
            metadata: {annotations: {nodeproof.dev/main.crashes-after: 2s}}
            spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}
        """
      Then Job "work" field status.failedIndexes is "0" between 14s and 22s
      And Job "work" never has condition FailureTarget=True for 30s
      And Job "work" has condition FailureTarget=True, reason "FailedIndexes", message "Job has failed indexes", between 30s and 45s
      And Job "work" has condition Failed=True, reason "FailedIndexes", message "Job has failed indexes", between 30s and 45s
      And Job "work" field status.failedIndexes is "0,1" between 30s and 45s
      And 4 Events SuccessfulCreate about Job "work" between 25s and 45s
