@core
Feature: A kubelet tells when a graceful shutdown began and ended
  Source: pkg/kubelet/nodeshutdown/nodeshutdown_manager_linux.go (v1.34), processShutdownEvent and setMetrics
  Source: pkg/kubelet/metrics/metrics.go (v1.34), GracefulShutdownStartTime and GracefulShutdownEndTime

  Background:
    Given no other Node

  @req:GS-11
  Rule: Start and end are metrics, and stay so after a restart

    @since:1.32
    Scenario: Before, during and after a shutdown
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | shutdownGracePeriod | 20s |
      And a Pod "web" on Node "worker-1" that takes 5s to stop
      And machine "worker-1" field processes.kubelet.metrics.kubelet_graceful_shutdown_start_time_seconds is 0
      When machine "worker-1" announces a shutdown
      Then machine "worker-1" field processes.kubelet.metrics.kubelet_graceful_shutdown_start_time_seconds is not 0 within 1s
      And machine "worker-1" keeps field processes.kubelet.metrics.kubelet_graceful_shutdown_end_time_seconds 0 for 4s
      And machine "worker-1" field processes.kubelet.metrics.kubelet_graceful_shutdown_end_time_seconds is not 0 between 4s and 6s
      And machine "worker-1" field logind.gracefulNodeShutdownState.endTime is "0001-01-01T00:00:00Z" within 1s
      And machine "worker-1" field logind.gracefulNodeShutdownState.endTime is not "0001-01-01T00:00:00Z" between 4s and 6s

    @until:1.31
    Scenario: Up to 1.31 the end is written into the metric of the start
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | shutdownGracePeriod | 20s |
      And a Pod "web" on Node "worker-1" that takes 5s to stop
      When machine "worker-1" announces a shutdown
      Then machine "worker-1" field processes.kubelet.metrics.kubelet_graceful_shutdown_start_time_seconds is not 0 within 1s
      And machine "worker-1" keeps field processes.kubelet.metrics.kubelet_graceful_shutdown_end_time_seconds 0 for 1m
      And machine "worker-1" field logind.gracefulNodeShutdownState.endTime is not "0001-01-01T00:00:00Z" between 4s and 6s

    Scenario: A kubelet that starts after a shutdown reads what the last one has written
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | shutdownGracePeriod | 20s |
      And machine "worker-1" shuts down
      And 1m passes
      When machine "worker-1" gets power
      Then machine "worker-1" field processes.kubelet.metrics.kubelet_graceful_shutdown_start_time_seconds is not 0 within 1s
      And machine "worker-1" field processes.kubelet.metrics.kubelet_graceful_shutdown_end_time_seconds is not 0 within 1s

    Scenario: A shutdown that a kubelet has not brought to its end has none
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | shutdownGracePeriod | 20s |
      And a Pod "web" on Node "worker-1" that takes 20s to stop
      And machine "worker-1" announces a shutdown
      When the kubelet on "worker-1" restarts
      Then machine "worker-1" keeps field logind.gracefulNodeShutdownState.endTime "0001-01-01T00:00:00Z" for 1m
      And machine "worker-1" keeps field processes.kubelet.metrics.kubelet_graceful_shutdown_end_time_seconds 0 for 1m

    Scenario: Without the gate of priorities nothing is kept
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | shutdownGracePeriod | 20s                                               |
        | featureGates        | {"GracefulNodeShutdownBasedOnPodPriority": false} |
      When machine "worker-1" announces a shutdown
      Then Node "worker-1" has condition Ready=False within 1s
      And machine "worker-1" keeps field processes.kubelet.metrics absent for 1m
      And machine "worker-1" keeps field logind.gracefulNodeShutdownState absent for 1m

  @req:GS-01
  Rule: What logind shows

    Scenario: The lock is there while the kubelet runs, but for the time after the last phase
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | shutdownGracePeriod             | 30s |
        | shutdownGracePeriodCriticalPods | 10s |
      And a Pod "web" on Node "worker-1" that takes 5s to stop
      And machine "worker-1" field logind.inhibitDelayMax is "30s"
      When machine "worker-1" announces a shutdown
      Then machine "worker-1" keeps field logind.inhibitors[0].mode "delay" for 4s
      And machine "worker-1" field logind.inhibitors is [] between 4s and 6s
      And machine "worker-1" keeps field state "running" for 1m
