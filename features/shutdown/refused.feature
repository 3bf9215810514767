@core
Feature: Periods of a shutdown that cannot be
  Source: pkg/kubelet/apis/config/validation/validation.go (v1.34), ValidateKubeletConfiguration

  @req:GS-05
  Rule: The part for critical pods is at most the whole, and no period is shorter than a second

    Scenario Outline: <total> in all, <critical> for critical pods
      When a kubelet named "worker-1" registers with:
        | shutdownGracePeriod             | <total>    |
        | shutdownGracePeriodCriticalPods | <critical> |
      Then the kubelet refuses to start with "failed to validate kubelet configuration, error: <message>, path: &TypeMeta{Kind:,APIVersion:,}"
      And Node "worker-1" never appears for 1m

      Examples:
        | total | critical | message |
        | 1s    | 2s       | invalid configuration: shutdownGracePeriodCriticalPods {2s} must be <= shutdownGracePeriod {1s} |
        | 30s   | 30001ms  | invalid configuration: shutdownGracePeriodCriticalPods {30.001s} must be <= shutdownGracePeriod {30s} |
        | 0s    | 5s       | invalid configuration: shutdownGracePeriodCriticalPods {5s} must be <= shutdownGracePeriod {0s} |
        | 500ms | 0s       | invalid configuration: shutdownGracePeriod {500ms} must be either zero or otherwise >= 1 sec |
        | 1ms   | 1ms      | [invalid configuration: shutdownGracePeriod {1ms} must be either zero or otherwise >= 1 sec, invalid configuration: shutdownGracePeriodCriticalPods {1ms} must be either zero or otherwise >= 1 sec] |
        | 10s   | 999ms    | invalid configuration: shutdownGracePeriodCriticalPods {999ms} must be either zero or otherwise >= 1 sec |
        | -5s   | 0s       | [invalid configuration: shutdownGracePeriodCriticalPods {0s} must be <= shutdownGracePeriod {-5s}, invalid configuration: shutdownGracePeriod {-5s} must be either zero or otherwise >= 1 sec] |
        | 10s   | -1s      | invalid configuration: shutdownGracePeriodCriticalPods {-1s} must be either zero or otherwise >= 1 sec |

    Scenario: The part for critical pods alone
      When a kubelet named "worker-1" registers with:
        | shutdownGracePeriodCriticalPods | 10s |
      Then the kubelet refuses to start with "failed to validate kubelet configuration, error: invalid configuration: shutdownGracePeriodCriticalPods {10s} must be <= shutdownGracePeriod {0s}, path: &TypeMeta{Kind:,APIVersion:,}"
      And Node "worker-1" never appears for 1m

    Scenario Outline: A period that is no duration: <value>
      When a kubelet named "worker-1" registers with:
        | <field> | <value> |
      Then the kubelet refuses to start with "error failed to decode: <message>"
      And Node "worker-1" never appears for 1m

      Examples:
        | field                           | value | message |
        | shutdownGracePeriod             | ten   | time: invalid duration "ten" |
        | shutdownGracePeriodCriticalPods | 10s5  | time: missing unit in duration "10s5" |
        | shutdownGracePeriod             | 1d    | time: unknown unit "d" in duration "1d" |

    Scenario Outline: <total> in all and <critical> for critical pods can be
      When a kubelet named "worker-1" registers with:
        | shutdownGracePeriod             | <total>    |
        | shutdownGracePeriodCriticalPods | <critical> |
      Then Node "worker-1" has condition Ready=True within 15s
      And Node "worker-1" never has condition Ready=Unknown for 2m

      Examples:
        | total  | critical |
        | 30s    | 10s      |
        | 30s    | 30s      |
        | 30s    | 0s       |
        | 1s     | 1s       |
        | 1500ms | 1s       |
        | 0s     | 0s       |

  @req:GS-05
  Rule: The periods are set in one style, and their gates have to be on

    Scenario Outline: <name>
      When a kubelet named "worker-1" registers with:
        | <field> | <value>  |
        | <more>  | <others> |
      Then the kubelet refuses to start with "failed to validate kubelet configuration, error: invalid configuration: <message>, path: &TypeMeta{Kind:,APIVersion:,}"
      And Node "worker-1" never appears for 1m

      Examples:
        | name                                         | field                            | value                                               | more                | others | message |
        | A period beside those by priority            | shutdownGracePeriodByPodPriority | [{"priority":0,"shutdownGracePeriodSeconds":5}]     | shutdownGracePeriod | 10s    | Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time |
        | Periods by priority without their gate       | featureGates                     | {"GracefulNodeShutdownBasedOnPodPriority": false}   | shutdownGracePeriodByPodPriority | [{"priority":0,"shutdownGracePeriodSeconds":5}] | Specifying shutdownGracePeriodByPodPriority requires feature gate GracefulNodeShutdownBasedOnPodPriority |

      @until:1.34
      Examples:
        | name | field | value | more | others | message |
        | A period without the gate | featureGates | {"GracefulNodeShutdown": false} | shutdownGracePeriod | 10s | specifying shutdownGracePeriod or shutdownGracePeriodCriticalPods requires feature gate GracefulNodeShutdown |
        | The critical part without the gate | featureGates | {"GracefulNodeShutdown": false} | shutdownGracePeriodCriticalPods | 10s | specifying shutdownGracePeriod or shutdownGracePeriodCriticalPods requires feature gate GracefulNodeShutdown |

      @since:1.35
      Examples:
        | name | field | value | more | others | message |
        | A period without the gate | featureGates | {"GracefulNodeShutdown": false, "GracefulNodeShutdownBasedOnPodPriority": false, "WindowsGracefulNodeShutdown": false} | shutdownGracePeriod | 10s | specifying shutdownGracePeriod or shutdownGracePeriodCriticalPods requires feature gate GracefulNodeShutdown |
        | The critical part without the gate | featureGates | {"GracefulNodeShutdown": false, "GracefulNodeShutdownBasedOnPodPriority": false, "WindowsGracefulNodeShutdown": false} | shutdownGracePeriodCriticalPods | 10s | specifying shutdownGracePeriod or shutdownGracePeriodCriticalPods requires feature gate GracefulNodeShutdown |

    @since:1.35
    Scenario: A gate that others need is not off alone
      When a kubelet named "worker-1" registers with:
        | featureGates | {"GracefulNodeShutdown": false} |
      Then the kubelet refuses to start with "GracefulNodeShutdownBasedOnPodPriority is enabled, but depends on features that are disabled: [GracefulNodeShutdown]"
      And Node "worker-1" never appears for 1m

    Scenario: A running node whose new periods are refused falls silent
      Given a ready Node "worker-1"
      When the kubelet on "worker-1" restarts with:
        | shutdownGracePeriod             | 10s |
        | shutdownGracePeriodCriticalPods | 20s |
      Then the kubelet refuses to start with "invalid configuration: shutdownGracePeriodCriticalPods {20s} must be <= shutdownGracePeriod {10s}"
      And Node "worker-1" keeps condition Ready=True for 29s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between 29s and 61s
