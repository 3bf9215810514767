@extended
Feature: What a container's command does
  A command that consists of `sleep`, `exit`, `true` and `false` ends when it says, with its own code. As the first
  process of its container it does not react to SIGTERM.
  Source: pkg/kubelet/kubelet_pods.go (v1.34), getPhase
  Source: pkg/kubelet/kuberuntime/kuberuntime_container.go (v1.34), killContainer

  Background:
    Given no other Node
    And a ready Node "worker-1"

  Scenario Outline: A Pod that never restarts ends as its command, <command>
    When the user creates:
      """yaml
      apiVersion: v1
      kind: Pod
      metadata: {name: job}
      spec:
        restartPolicy: Never
        containers: [{name: main, image: busybox, command: <command>}]
      """
    Then Pod "job" field status.phase is "<phase>" between <from> and <to>
    And Pod "job" field status.containerStatuses[0].state.terminated.exitCode is <code> within <to>
    And Pod "job" keeps field status.containerStatuses[0].restartCount at 0 for 1m

    Examples:
      | command                          | phase     | code | from | to  |
      | [sleep, "10"]                    | Succeeded | 0    | 10s  | 14s |
      | [sh, -c, "sleep 5; exit 3"]      | Failed    | 3    | 5s   | 9s  |
      | ["false"]                        | Failed    | 1    | 0s   | 4s  |

  Scenario: A command that fails at once is started again and again, later each time
    When the user creates:
      """yaml
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec:
        containers: [{name: main, image: busybox, command: ["false"]}]
      """
    Then Pod "web" field status.containerStatuses[0].state.waiting.reason is "CrashLoopBackOff" between 10s and 20s
    And Pod "web" field status.containerStatuses[0].restartCount is 1 within 5s
    And Pod "web" field status.phase is "Running" within 5s

  Scenario: A command that only sleeps is killed when the grace period is over
    Given the objects:
      """yaml
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec:
        nodeName: worker-1
        containers: [{name: main, image: busybox, command: [sleep, "3600"]}]
      """
    And Pod "web" has condition Ready=True
    When the user deletes Pod "web"
    Then Pod "web" stays terminating for 29s
    And Pod "web" is gone between 30s and 33s
    And the history of Pod "web" matches its snapshot

  Scenario: A command that sleeps for longer than there are instants runs on
    When the user creates:
      """yaml
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec:
        containers: [{name: main, image: busybox, command: [sleep, "9000000000000000"]}]
      """
    Then Pod "web" has condition Ready=True between 0.5s and 4s
    And Pod "web" keeps field status.containerStatuses[0].restartCount at 0 for 1m
