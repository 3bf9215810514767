@core @req:REG-09
Feature: How often a kubelet computes and posts the status of its Node
  Source: pkg/kubelet/kubelet_node_status.go (v1.34), syncNodeStatus, tryUpdateNodeStatus
  Source: pkg/kubelet/apis/config/v1beta1/defaults.go (v1.34), SetDefaults_KubeletConfiguration

  Rule: --node-status-update-frequency sets how often the kubelet computes its status, and each change is posted

    Scenario Outline: A change waits for the next computation, each <every>
      One change is posted by a computation, and the next, made right after it, by the following one. A computation comes up
      to 4 % late, and what the container runtime says is asked each 5 s.

      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | <name> | <every> |
      And 3m pass
      When the container network on "worker-1" is removed
      And Node "worker-1" has condition Ready=False
      And the container network on "worker-1" is installed
      Then Node "worker-1" keeps condition Ready=False for <first>
      And Node "worker-1" has condition Ready=True between <first> and <last>

      Examples:
        | name                         | every | first | last  |
        | node-status-update-frequency | 10s   | 9.9s  | 10.5s |
        | node-status-update-frequency | 20s   | 19.9s | 21s   |
        | nodeStatusUpdateFrequency    | 1m    | 59.9s | 63s   |

    Scenario: A computation that finds no change posts nothing
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | field                     | value |
        | nodeStatusUpdateFrequency | 10s   |
        | nodeStatusReportFrequency | 5m    |
      And 1m passes
      When 1s passes
      Then Node "worker-1" keeps field status.conditions[Ready].lastHeartbeatTime unchanged for 60s
      And Node "worker-1" keeps condition Ready=True for 10m

  Rule: Where the file sets it alone, the status is posted as often, changed or not

    Scenario Outline: The status is posted each <every>
      Given a machine "worker-1"
      And whose kubelet runs with:
        | nodeStatusUpdateFrequency | <every> |
      And 3m pass
      When 1s passes
      Then the status of Node "worker-1" is written every <every> to <late> for 10m
      And Node "worker-1" keeps condition Ready unchanged for 10m
      And nothing else about Node "worker-1" changes

      Examples:
        | every | late   |
        | 4s    | 4.2s   |
        | 10s   | 10.5s  |
        | 1m    | 1m2.5s |

    Scenario: As a flag it comes after the defaults, and an unchanged status is posted each 5 minutes as ever
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | node-status-update-frequency | 4s |
      And 8m pass
      When 1s passes
      Then the status of Node "worker-1" is written every 5m to 5m4.3s for 16m
      And Node "worker-1" keeps condition Ready=True for 16m

    Scenario: With both set, an unchanged status is posted at the report frequency
      Up to half of it later or earlier after a change or a start, hence the wait.

      Given a machine "worker-1"
      And whose kubelet runs with:
        | field                     | value |
        | nodeStatusUpdateFrequency | 4s    |
        | nodeStatusReportFrequency | 40s   |
      And 2m pass
      When 1s passes
      Then the status of Node "worker-1" is written every 40s to 44.3s for 10m

    Scenario: The Lease is renewed as before
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | node-status-update-frequency | 1m |
      When 1s passes
      Then the Lease of Node "worker-1" is renewed every 10s to 10.5s for 10m
      And Node "worker-1" keeps condition Ready=True for 10m

    Scenario: The flag wins over the file, which the report frequency follows
      Given a machine "worker-1"
      And whose kubelet runs with:
        | name                         | value |
        | nodeStatusUpdateFrequency    | 1m    |
        | node-status-update-frequency | 4s    |
      And 5m pass
      When 1s passes
      Then the status of Node "worker-1" is written every 1m to 1m4.3s for 10m

    Scenario: A restart with another frequency
      Given a ready Node "worker-1"
      When the kubelet on "worker-1" restarts with:
        | nodeStatusUpdateFrequency | 4s |
      And 1m passes
      Then the status of Node "worker-1" is written every 4s to 4.2s for 10m

  Rule: What is no duration is refused

    Scenario Outline: The flag is <value>
      When a kubelet named "worker-1" registers with:
        | node-status-update-frequency | <value> |
      Then the kubelet refuses to start with "failed to parse kubelet flag: invalid argument "<value>" for "--node-status-update-frequency" flag: <why>"
      And Node "worker-1" never appears for 10m

      Examples:
        | value | why                                         |
        | often | time: invalid duration "often"              |
        | 10    | time: missing unit in duration "10"         |
        | 1d    | time: unknown unit "d" in duration "1d"     |
