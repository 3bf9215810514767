@core
Feature: While a container runtime hangs nothing starts and nobody is signalled
  Source: k8s.io/cri-client pkg/remote_runtime.go (v0.34): RunPodSandbox, StopContainer, StopPodSandbox
  Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go (v1.34), SyncPod and killPodWithSyncResult

  A runtime that is stopped, as by SIGSTOP, answers no call. Its containers run on.

  Background:
    Given a ready Node "worker-1"

  Rule: What is asked of it waits, and is done when it continues

    Scenario: A Pod that comes meanwhile
      Given machine "worker-1" does runtime-freeze
      And 1s passes
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause}]
        """
      Then Pod "web" has condition Ready=False within 2s
      And Pod "web" keeps field status.phase at "Pending" for 1m
      When machine "worker-1" does runtime-thaw
      Then Pod "web" field status.phase is "Running" within 7s
      And no Event FailedCreatePodSandBox about Pod "web" for 5m

    Scenario: A Pod that is deleted meanwhile gets its whole grace period afterwards
      Given a Pod "web" on Node "worker-1" that takes 1h to stop
      And machine "worker-1" does runtime-freeze
      And 1s passes
      When the user deletes Pod "web"
      Then Event Killing about Pod "web" within 1s
      And machine "worker-1" keeps field containers[web/main].signals at [] for 1m
      And machine "worker-1" keeps field containers[web/main].state at "running" for 1m
      When machine "worker-1" does runtime-thaw
      Then container "main" of Pod "web" keeps running on machine "worker-1" for 29s
      And container "main" of Pod "web" stops on machine "worker-1" between 30s and 31s
      And Pod "web" is gone between 30s and 40s

    Scenario: One that was told to end before is killed as soon as the runtime continues
      Given a Pod "web" on Node "worker-1" that takes 1h to stop
      And the user deletes Pod "web"
      And 5s pass
      When machine "worker-1" does runtime-freeze
      Then container "main" of Pod "web" keeps running on machine "worker-1" for 1m
      When machine "worker-1" does runtime-thaw
      Then container "main" of Pod "web" stops on machine "worker-1" within 1s
      And Pod "web" is gone within 15s

    Scenario: A Pod that comes and is deleted meanwhile runs for a moment, since its start cannot be called off
      Given machine "worker-1" does runtime-freeze
      And 1s passes
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause}]
        """
      And 5s pass
      When the user deletes Pod "web"
      Then Pod "web" keeps field status.phase at "Pending" for 5s
      When machine "worker-1" does runtime-thaw
      Then Event Started about Pod "web" within 2s
      And Event Killing about Pod "web" within 2s
      And Pod "web" is gone within 40s

    Scenario: A container that ends meanwhile is started again afterwards
      Given the objects:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.crashes-after: 30s}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause}]
        """
      And Pod "web" field status.phase is "Running"
      And 20s pass
      When machine "worker-1" does runtime-freeze
      Then container "main" of Pod "web" stops on machine "worker-1" within 11s
      And Pod "web" keeps field status.containerStatuses[0].state.running set for 35s
      When machine "worker-1" does runtime-thaw
      Then Pod "web" field status.containerStatuses[0].restartCount is 1 within 7s

  Rule: A call is given up at last: for a sandbox after 4m, for an end after its grace period and 4m more

    Scenario: A sandbox is not made in time
      Given machine "worker-1" does runtime-freeze
      And 1s passes
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause}]
        """
      Then no Event FailedCreatePodSandBox about Pod "web" for 3m55s
      And Event FailedCreatePodSandBox about Pod "web", message "Failed to create pod sandbox: rpc error: code = DeadlineExceeded desc = context deadline exceeded" within 4m2s
      When machine "worker-1" does runtime-thaw
      Then Pod "web" field status.phase is "Running" within 10s

    Scenario: A container is not ended in time, and is told again
      Given a Pod "web" on Node "worker-1" that takes 1h to stop
      And machine "worker-1" does runtime-freeze
      And 1s passes
      When the user deletes Pod "web"
      Then no Event FailedKillPod about Pod "web" for 4m25s
      And Event FailedKillPod about Pod "web" within 4m32s
      And machine "worker-1" keeps field containers[web/main].signals at [] for 6m
      When machine "worker-1" does runtime-thaw
      Then container "main" of Pod "web" keeps running on machine "worker-1" for 29s
      And container "main" of Pod "web" stops on machine "worker-1" between 30s and 36s
      And Pod "web" is gone between 30s and 45s

  @req:GS-04
  Rule: A graceful shutdown waits for Pods that do not end as long as it may, and signals nobody

    Scenario: The lock is held for the whole period
      Given a machine "worker-2"
      And whose kubelet runs with:
        | shutdownGracePeriod             | 30s |
        | shutdownGracePeriodCriticalPods | 10s |
      And Node "worker-2" has condition Ready=True
      And a Pod "web" on Node "worker-2" that takes 1h to stop
      And machine "worker-2" does runtime-freeze
      When machine "worker-2" shuts down
      Then machine "worker-2" keeps field containers[web/main].signals at [] for 19s
      And machine "worker-2" keeps field state at "running" for 19s
      And machine "worker-2" field state is "off" between 20s and 21s
