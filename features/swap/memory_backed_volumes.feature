@core
Feature: Volumes in memory may reach the disk where the kernel swaps them
  Source: pkg/kubelet/cm/container_manager_linux.go (v1.34), NewContainerManager
  Source: pkg/kubelet/util/swap/swap_util.go (v1.34), IsTmpfsNoswapOptionSupported: Linux 6.4 and newer

  Background:
    Given no other Node

  @req:SW-08
  Rule: A kubelet warns where the kernel cannot keep them from it

    Scenario Outline: On Linux <kernel>
      Given a machine "worker-1" with:
        | swap          | 8Gi      |
        | kernelVersion | <kernel> |
        | powered       | false    |
      And whose kubelet runs with:
        | failSwapOn | false |
      When machine "worker-1" gets power
      Then Event PossibleMemoryBackedVolumesOnDisk about Node "worker-1", message "The tmpfs noswap option is not supported. Memory-backed volumes (e.g. secrets, emptyDirs, etc.) might be swapped to disk and should no longer be considered secure." within 1s
      And Node "worker-1" has condition Ready=True within 15s
      And machine "worker-1" field processes.kubelet.tmpfsNoswap is false within 1s

      Examples:
        | kernel              |
        | 6.3.9               |
        | 5.15.0-1-amd64      |
        | 4.18.0-553.el8.x86_64 |

    Scenario Outline: On Linux <kernel> they are mounted with noswap
      Given a machine "worker-1" with:
        | swap          | 8Gi      |
        | kernelVersion | <kernel> |
        | powered       | false    |
      And whose kubelet runs with:
        | failSwapOn | false |
      When machine "worker-1" gets power
      Then Node "worker-1" has condition Ready=True within 15s
      And machine "worker-1" field processes.kubelet.tmpfsNoswap is true within 1s
      And no Event PossibleMemoryBackedVolumesOnDisk about Node "worker-1" for 1m

      Examples:
        | kernel         |
        | 6.4.0          |
        | 6.12.0-1-amd64 |
        | 10.0.1         |

    Scenario: Where nothing is swapped there is nothing to warn of
      Given a machine "worker-1" with:
        | kernelVersion | 5.15.0 |
        | powered       | false  |
      When machine "worker-1" gets power
      Then Node "worker-1" has condition Ready=True within 15s
      And no Event PossibleMemoryBackedVolumesOnDisk about Node "worker-1" for 1m

    Scenario Outline: A kubelet of <version> on Linux <kernel>: before 1.31 it neither keeps them from it nor warns
      Given a machine "worker-1" with:
        | swap          | 8Gi      |
        | kernelVersion | <kernel> |
        | powered       | false    |
      And whose kubelet runs with:
        | version    | <version> |
        | failSwapOn | false     |
      When machine "worker-1" gets power
      Then Node "worker-1" has condition Ready=True within 15s
      And machine "worker-1" field processes.kubelet.tmpfsNoswap is <noswap> within 1s
      And no Event PossibleMemoryBackedVolumesOnDisk about Node "worker-1" for 1m

      Examples:
        | version | kernel | noswap |
        | 1.28    | 5.15.0 | false  |
        | 1.30    | 5.15.0 | false  |
        | 1.30    | 6.4.0  | false  |
        | 1.31    | 6.4.0  | true   |
