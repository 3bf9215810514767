@core
Feature: A CronJob makes a Job when its schedule says so
  Source: pkg/controller/cronjob/cronjob_controllerv2.go (v1.34), syncCronJob and cleanupFinishedJobs
  Source: pkg/controller/cronjob/utils.go (v1.34), mostRecentScheduleTime and getJobFromTemplate2
  Source: github.com/robfig/cron/v3 spec.go (v3.0.1), Next

  It is looked at a tenth of a second after each instant of its schedule, which is at whole minutes, and when a Job of
  its changes. What was missed is made up for once, however often it was missed.

  Background:
    Given no other Node
    And a ready Node "worker-1"

  Rule: Each minute has its Job, as long as the policy lets it

    Scenario: Jobs of several minutes run side by side
      When the user creates:
        """
        apiVersion: batch/v1
        kind: CronJob
        metadata: {name: tick, namespace: default}
        spec:
          schedule: "* * * * *"
          jobTemplate:
            metadata: {annotations: {team: a}}
            spec:
              template:
                metadata: {labels: {app: tick}}
                spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}
        """
      Then 1 Event SuccessfulCreate about CronJob "tick" within 61s
      And 2 Events SuccessfulCreate about CronJob "tick" between 60s and 121s
      And CronJob "tick" field status.lastScheduleTime is set within 61s
      And CronJob "tick" field status.active[0].kind is "Job" within 61s
      And 1 Pod with label "app=tick" is running within 63s
      And 2 Pods with label "app=tick" are running between 60s and 123s
      But no Event JobAlreadyActive about CronJob "tick" for 3m

    Scenario: With Forbid the next one is left out while one runs
      When the user creates:
        """
        apiVersion: batch/v1
        kind: CronJob
        metadata: {name: tick, namespace: default}
        spec:
          schedule: "*/1 * * * ?"
          concurrencyPolicy: Forbid
          jobTemplate:
            spec:
              template:
                metadata: {labels: {app: tick}}
                spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}
        """
      Then 1 Event SuccessfulCreate about CronJob "tick" within 61s
      And an Event JobAlreadyActive about CronJob "tick", message "Not starting job because prior execution is running and concurrency policy is Forbid" between 60s and 121s
      When 2m pass
      Then 1 Pod with label "app=tick" keeps running for 3m
      And CronJob "tick" keeps field status.lastScheduleTime unchanged for 3m

    Scenario: With Replace the one that runs is deleted first
      When the user creates:
        """
        apiVersion: batch/v1
        kind: CronJob
        metadata: {name: tick, namespace: default}
        spec:
          schedule: "* * * * *"
          concurrencyPolicy: Replace
          jobTemplate:
            spec:
              template:
                metadata: {labels: {app: tick}}
                spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}
        """
      And CronJob "tick" field status.lastScheduleTime is set
      And 5s pass
      Then an Event SuccessfulDelete about CronJob "tick" between 50s and 61s
      And the Pod with label "app=tick" is gone between 50s and 66s
      And CronJob "tick" field status.lastScheduleTime is changed between 50s and 61s
      And 1 Event SuccessfulCreate about CronJob "tick" between 50s and 61s

    Scenario: One that is suspended makes none
      When the user creates:
        """
        apiVersion: batch/v1
        kind: CronJob
        metadata: {name: tick, namespace: default}
        spec:
          schedule: "@every 1m"
          suspend: true
          jobTemplate:
            spec:
              template:
                metadata: {labels: {app: tick}}
                spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}
        """
      Then no Event SuccessfulCreate about CronJob "tick" for 3m
      And CronJob "tick" keeps field status.lastScheduleTime absent for 3m
      When 20s pass
      And the user sends PATCH /apis/batch/v1/namespaces/default/cronjobs/tick:
        """
        {"spec": {"suspend": false}}
        """
      Then 1 Event SuccessfulCreate about CronJob "tick" within 5s

  Rule: Finished Jobs are told of, and all but the last are deleted

    Scenario: Of those that succeeded one is kept
      When the user creates:
        """
        apiVersion: batch/v1
        kind: CronJob
        metadata: {name: tick, namespace: default}
        spec:
          schedule: "* * * * *"
          successfulJobsHistoryLimit: 1
          jobTemplate:
            spec:
              template:
                metadata: {labels: {app: tick}}
                spec:
                  restartPolicy: Never
                  containers: [{name: main, image: busybox, command: [sleep, "5"]}]
        """
      Then an Event SawCompletedJob about CronJob "tick" between 5s and 75s
      And CronJob "tick" field status.lastSuccessfulTime is set between 5s and 75s
      And an Event SuccessfulDelete about CronJob "tick" between 65s and 135s
      But no Event SuccessfulDelete about CronJob "tick" for 64s

  Rule: A node that dies holds up a CronJob with Forbid, since its Job ends only when nobody can run its Pod any more

    Scenario: The eviction is not enough; that the node is out of service is
      Given the object:
        """
        apiVersion: batch/v1
        kind: CronJob
        metadata: {name: tick, namespace: default}
        spec:
          schedule: "* * * * *"
          concurrencyPolicy: Forbid
          jobTemplate:
            spec:
              backoffLimit: 0
              template:
                metadata: {labels: {app: tick}}
                spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}
        """
      And 1 Pod with label "app=tick" is running
      And a ready Node "worker-2"
      When machine "worker-1" loses power
      Then the Pod with label "app=tick" is deleted at 300s after Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      And CronJob "tick" keeps field status.lastScheduleTime unchanged for 10m
      And no Event SawCompletedJob about CronJob "tick" for 10m
      When the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
      Then the Pod with label "app=tick" is gone within 41s
      And an Event SawCompletedJob about CronJob "tick" within 44s
      And 1 Pod with label "app=tick" is running on Node "worker-2" within 106s

  Rule: What was missed is made up for once

    Scenario: The controller was not there for five minutes
      Given cronjob-controller stops
      And the object:
        """
        apiVersion: batch/v1
        kind: CronJob
        metadata: {name: tick, namespace: default}
        spec:
          schedule: "* * * * *"
          jobTemplate:
            spec:
              template:
                metadata: {labels: {app: tick}}
                spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}
        """
      When 5m pass
      And cronjob-controller starts
      Then 1 Event SuccessfulCreate about CronJob "tick" within 2s
      And 2 Events SuccessfulCreate about CronJob "tick" within 62s
      But no Event TooManyMissedTimes about CronJob "tick" for 2m

    Scenario Outline: With <deadline> s to start in, each minute from the last one on is <what>
      When the user creates:
        """
        apiVersion: batch/v1
        kind: CronJob
        metadata: {name: tick, namespace: default}
        spec:
          schedule: "@every 1m"
          startingDeadlineSeconds: <deadline>
          jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}}}}
        """
      Then CronJob "tick" keeps field spec.schedule at "@every 1m" for 4m
      And <line>

      # What counts is the first instant after the deadline's begin, and that is always a minute ahead.
      Examples:
        | deadline | what     | line                                                              |
        | 30       | left out | no Event SuccessfulCreate about CronJob "tick" for 4m             |
        | 90       | made     | 2 Events SuccessfulCreate about CronJob "tick" between 60s and 125s |

  Rule: A schedule that never comes is told of

    Scenario: The 31st of February
      When the user creates:
        """
        apiVersion: batch/v1
        kind: CronJob
        metadata: {name: tick, namespace: default}
        spec:
          schedule: "59 23 31 2 *"
          jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}}}}
        """
      Then an Event InvalidSchedule about CronJob "tick", message "invalid schedule: 59 23 31 2 * : time difference between two schedules is less than 1 second" within 2s
      And no Event SuccessfulCreate about CronJob "tick" for 3m

    Scenario: No schedule at all
      When the user sends POST /apis/batch/v1/namespaces/default/cronjobs:
        """
        apiVersion: batch/v1
        kind: CronJob
        metadata: {name: tick, namespace: default}
        spec:
          schedule: "every minute"
          jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}}}}
        """
      Then the request is refused with 422 "expected exactly 5 fields, found 2: [every minute]"

  Rule: A schedule is in the time zone that the CronJob names

    @sim-only:instants
    Scenario Outline: Clocks in <zone>
      When the user creates:
        """
        apiVersion: batch/v1
        kind: CronJob
        metadata: {name: tick, namespace: default}
        spec:
          schedule: "<schedule>"
          timeZone: <zone>
          jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}}}}
        """
      Then CronJob "tick" field status.lastScheduleTime is "2026-01-01T00:15:00Z" within 15m
      And an Event SuccessfulCreate about CronJob "tick", message "Created job tick-29453775" within 15m

      Examples:
        | zone             | schedule     |
        | UTC              | 15 0 1 1 ?   |
        | Asia/Kathmandu   | 0 6 * * THU  |
        | America/New_York | 15 19 31 * * |

    Scenario: There is no such time zone
      When the user sends POST /apis/batch/v1/namespaces/default/cronjobs:
        """
        apiVersion: batch/v1
        kind: CronJob
        metadata: {name: tick, namespace: default}
        spec:
          schedule: "* * * * *"
          timeZone: europe/berlin
          jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}}}}
        """
      Then the request is refused with 422 "unknown time zone europe/berlin"

  Rule: Its Jobs go with it

    Scenario: It is deleted
      Given the object:
        """
        apiVersion: batch/v1
        kind: CronJob
        metadata: {name: tick, namespace: default}
        spec:
          schedule: "* * * * *"
          jobTemplate:
            spec:
              template:
                metadata: {labels: {app: tick}}
                spec: {restartPolicy: Never, containers: [{name: main, image: pause}]}
        """
      And 1 Pod with label "app=tick" is running
      When the user deletes CronJob "tick"
      Then the Pod with label "app=tick" is gone within 5s
      When 10s pass
      Then 0 Pods with label "app=tick" keep running for 2m
