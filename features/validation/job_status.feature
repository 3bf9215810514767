@core @since:1.32
Feature: What a controller may write into the status of a Job
  Source: pkg/apis/batch/validation/validation.go (v1.34), validateJobStatus and ValidateJobStatusUpdate
  Source: pkg/registry/batch/job/strategy.go (v1.34), getStatusValidationOptions

  Background:
    Given the object:
      """yaml
      apiVersion: batch/v1
      kind: Job
      metadata: {name: work}
      spec:
        managedBy: example.com/other
        completions: 3
        completionMode: Indexed
        backoffLimitPerIndex: 1
        template: {spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}}
      """
    And the user sends PATCH /apis/batch/v1/namespaces/default/jobs/work/status:
      """yaml
      status: {startTime: "2026-01-01T00:00:00Z", active: 0, ready: 0, terminating: 0}
      """

  Rule: A Job ends in one way, which was announced, and has nothing left then

    Scenario Outline: <message>
      When the user sends PATCH /apis/batch/v1/namespaces/default/jobs/work/status:
        """yaml
        status: {<status>}
        """
      Then the request is refused with 422 status.<message>

      Examples:
        | message | status |
        | conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition | completionTime: "2026-01-01T01:00:00Z", conditions: [{type: Complete, status: "True"}] |
        | completionTime: Required value: completionTime is required for Complete jobs | conditions: [{type: SuccessCriteriaMet, status: "True"}, {type: Complete, status: "True"}] |
        | conditions: Invalid value: cannot set Complete=True and Failed=true conditions | completionTime: "2026-01-01T01:00:00Z", conditions: [{type: Complete, status: "True"}, {type: Failed, status: "True"}] |
        | conditions: Invalid value: cannot set Complete=True and FailureTarget=true conditions | completionTime: "2026-01-01T01:00:00Z", conditions: [{type: Complete, status: "True"}, {type: FailureTarget, status: "True"}] |
        | conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition | conditions: [{type: Failed, status: "True"}] |
        | conditions: Invalid value: cannot set SuccessCriteriaMet=True and Failed=true conditions | conditions: [{type: SuccessCriteriaMet, status: "True"}, {type: Failed, status: "True"}] |
        | conditions: Invalid value: cannot set SuccessCriteriaMet=True and FailureTarget=true conditions | conditions: [{type: SuccessCriteriaMet, status: "True"}, {type: FailureTarget, status: "True"}] |
        | active: Invalid value: 1: active>0 is invalid for finished job | active: 1, conditions: [{type: FailureTarget, status: "True"}, {type: Failed, status: "True"}] |
        | terminating: Invalid value: 1: terminating>0 is invalid for finished job | terminating: 1, conditions: [{type: FailureTarget, status: "True"}, {type: Failed, status: "True"}] |
        | startTime: Required value: startTime is required for finished job | startTime: null, conditions: [{type: FailureTarget, status: "True"}, {type: Failed, status: "True"}] |
        | failedIndexes: Invalid value: "1-2": failedIndexes and completedIndexes overlap at index: 2 | completedIndexes: "0,2", failedIndexes: "1-2" |

  @since:1.34
  Rule: A release says in its own words what is too early or left over

    Scenario Outline: <message>
      When the user sends PATCH /apis/batch/v1/namespaces/default/jobs/work/status:
        """yaml
        status: {<status>}
        """
      Then the request is refused with 422 status.<message>

      Examples:
        | message | status |
        | completionTime: Invalid value: "2025-01-01T00:00:00Z": must be equal to or after `startTime` | completionTime: "2025-01-01T00:00:00Z", conditions: [{type: SuccessCriteriaMet, status: "True"}, {type: Complete, status: "True"}] |
        | uncountedTerminatedPods: Invalid value: {"Succeeded":null,"Failed":["a"]}: must be empty for finished job | uncountedTerminatedPods: {failed: [a]}, conditions: [{type: FailureTarget, status: "True"}, {type: Failed, status: "True"}] |

  Rule: What was told stays

    Scenario Outline: <message>
      Given the user sends PATCH /apis/batch/v1/namespaces/default/jobs/work/status:
        """yaml
        status: {<before>}
        """
      When the user sends PATCH /apis/batch/v1/namespaces/default/jobs/work/status:
        """yaml
        status: {<after>}
        """
      Then the request is refused with 422 status.<message>

      Examples:
        | message | before | after |
        | conditions: Invalid value: cannot disable the terminal Failed=True condition | conditions: [{type: FailureTarget, status: "True"}, {type: Failed, status: "True"}] | conditions: [{type: FailureTarget, status: "True"}] |
        | conditions: Invalid value: cannot disable the terminal FailureTarget=True condition | conditions: [{type: FailureTarget, status: "True"}] | conditions: [] |
        | conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition | conditions: [{type: SuccessCriteriaMet, status: "True"}] | conditions: [] |
        | completionTime: Invalid value: | completionTime: "2026-01-01T01:00:00Z", conditions: [{type: SuccessCriteriaMet, status: "True"}, {type: Complete, status: "True"}] | completionTime: "2026-01-01T02:00:00Z" |
        | failed: Invalid value: 1: cannot decrease the failed counter | failed: 2 | failed: 1 |

    Scenario: The start of a Job that goes on is not moved
      When the user sends PATCH /apis/batch/v1/namespaces/default/jobs/work/status:
        """yaml
        status: {startTime: "2026-01-01T00:00:09Z"}
        """
      Then the request is refused with 422 status.startTime:

    Scenario: The start moves when the Job is resumed
      Given the user sends PATCH /apis/batch/v1/namespaces/default/jobs/work/status:
        """yaml
        status: {conditions: [{type: Suspended, status: "True"}]}
        """
      When the user sends PATCH /apis/batch/v1/namespaces/default/jobs/work/status:
        """yaml
        status: {startTime: "2026-01-01T00:00:09Z", conditions: [{type: Suspended, status: "False"}]}
        """
      Then the request is answered with 200

  Rule: An end that was announced is taken

    Scenario Outline: A Job ends: <name>
      When the user sends PATCH /apis/batch/v1/namespaces/default/jobs/work/status:
        """yaml
        status: {<status>}
        """
      Then the request is answered with 200

      Examples:
        | name    | status |
        | success | completionTime: "2026-01-01T01:00:00Z", succeeded: 3, completedIndexes: 0-2, conditions: [{type: SuccessCriteriaMet, status: "True"}, {type: Complete, status: "True"}] |
        | failure | failedIndexes: "1", completedIndexes: "0,2", conditions: [{type: FailureTarget, status: "True"}, {type: Failed, status: "True"}] |
