@core @req:STA-03
Feature: A node that runs short says so
  Source: pkg/kubelet/eviction/eviction_manager.go (v1.34), synchronize; pkg/kubelet/nodestatus/setters.go (v1.34), MemoryPressureCondition

  Rule: A condition follows its signal at the next status tick, its taint at once; both stay for the transition period

    Scenario Outline: <condition> while <signal> is below <least>
      Given a machine "worker-1" with:
        | memory            | 4Gi   |
        | ephemeral-storage | 10Gi  |
        | inodes            | 6000  |
        | pids              | 10000 |
      And whose kubelet runs with:
        | evictionHard                     | {"<signal>":"<least>"} |
        | evictionPressureTransitionPeriod | 40s                    |
      And Node "worker-1" has condition Ready=True
      When machine "worker-1" does <verb> with:
        | <field> | <short> |
      Then Node "worker-1" has condition <condition>=True, reason "<with>", message "<said>", within 31s
      And Node "worker-1" has taint "node.kubernetes.io/<taint>:NoSchedule" within 32s
      And Event <event> about Node "worker-1", message "Node worker-1 status is now: <event>", within 32s
      And Event EvictionThresholdMet about Node "worker-1", message "Attempting to reclaim <resource>", within 21s
      And Node "worker-1" keeps condition Ready=True for 60s
      When machine "worker-1" does <verb> with:
        | <field> | <plenty> |
      Then Node "worker-1" keeps condition <condition>=True for 29s
      And Node "worker-1" has condition <condition>=False, reason "<without>", message "<unsaid>", between 30s and 52s
      And Node "worker-1" has no taint "node.kubernetes.io/<taint>:NoSchedule" between 30s and 53s
      And Event <relieved> about Node "worker-1" within 53s

      Examples:
        | signal             | least | verb        | field      | short   | plenty | resource          | condition      | taint           | with                         | without                    | event                     | relieved                | said                                      | unsaid                                  |
        | memory.available   | 100Mi | fill-memory | free       | 99Mi    | 100Mi  | memory            | MemoryPressure | memory-pressure | KubeletHasInsufficientMemory | KubeletHasSufficientMemory | NodeHasInsufficientMemory | NodeHasSufficientMemory | kubelet has insufficient memory available | kubelet has sufficient memory available |
        | memory.available   | 25%   | fill-memory | free       | 1023Mi  | 1Gi    | memory            | MemoryPressure | memory-pressure | KubeletHasInsufficientMemory | KubeletHasSufficientMemory | NodeHasInsufficientMemory | NodeHasSufficientMemory | kubelet has insufficient memory available | kubelet has sufficient memory available |
        | nodefs.available   | 10%   | fill-disk   | free       | 1Gi     | 1073741840 | ephemeral-storage | DiskPressure   | disk-pressure   | KubeletHasDiskPressure       | KubeletHasNoDiskPressure   | NodeHasDiskPressure       | NodeHasNoDiskPressure   | kubelet has disk pressure                 | kubelet has no disk pressure            |
        | imagefs.available  | 1Gi   | fill-disk   | free       | 1023Mi  | 1Gi    | ephemeral-storage | DiskPressure   | disk-pressure   | KubeletHasDiskPressure       | KubeletHasNoDiskPressure   | NodeHasDiskPressure       | NodeHasNoDiskPressure   | kubelet has disk pressure                 | kubelet has no disk pressure            |
        | nodefs.inodesFree  | 5%    | fill-disk   | freeInodes | 299     | 301    | inodes            | DiskPressure   | disk-pressure   | KubeletHasDiskPressure       | KubeletHasNoDiskPressure   | NodeHasDiskPressure       | NodeHasNoDiskPressure   | kubelet has disk pressure                 | kubelet has no disk pressure            |
        | imagefs.inodesFree | 1k    | fill-disk   | freeInodes | 999     | 1k     | inodes            | DiskPressure   | disk-pressure   | KubeletHasDiskPressure       | KubeletHasNoDiskPressure   | NodeHasDiskPressure       | NodeHasNoDiskPressure   | kubelet has disk pressure                 | kubelet has no disk pressure            |
        | pid.available      | 500   | use-pids    | free       | 499     | 500    | pids              | PIDPressure    | pid-pressure    | KubeletHasInsufficientPID    | KubeletHasSufficientPID    | NodeHasInsufficientPID    | NodeHasSufficientPID    | kubelet has insufficient PID available    | kubelet has sufficient PID available    |

    @since:1.37
    Scenario Outline: Huge pages are no memory that is left: less than <least>
      Given a machine "worker-1" with:
        | memory        | 4Gi |
        | hugepages-2Mi | 1Gi |
      And whose kubelet runs with:
        | evictionHard | {"memory.available":"<least>"} |
      And Node "worker-1" has condition Ready=True
      And 30s pass
      When machine "worker-1" does fill-memory with:
        | free | <free> |
      Then Node "worker-1" has condition MemoryPressure=True within 31s

      Examples:
        | least | free       |
        | 100Mi | 1178599423 |
        | 25%   | 1791Mi     |

    @since:1.37
    Scenario Outline: With huge pages, what is left is enough: <what>
      Given a machine "worker-1" with:
        | memory        | 4Gi |
        | hugepages-2Mi | 1Gi |
      And whose kubelet runs with:
        | evictionHard | {"memory.available":"<least>"}   |
        | featureGates | {"HugepageAwareEviction":<gate>} |
      And Node "worker-1" has condition Ready=True
      And machine "worker-1" does fill-memory with:
        | free | <free> |
      When nothing is done
      Then Node "worker-1" keeps condition MemoryPressure=False for 60s

      Examples:
        | what                       | least | gate  | free   |
        | exactly the threshold      | 100Mi | true  | 1124Mi |
        | a share of all other pages | 25%   | true  | 1792Mi |
        | without their gate         | 100Mi | false | 101Mi  |

    @until:1.36
    Scenario: Huge pages count as memory that is left
      Given a machine "worker-1" with:
        | memory        | 4Gi |
        | hugepages-2Mi | 1Gi |
      And Node "worker-1" has condition Ready=True
      And machine "worker-1" does fill-memory with:
        | free | 101Mi |
      When nothing is done
      Then Node "worker-1" keeps condition MemoryPressure=False for 60s

    Scenario: The whole story in the Node's history
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | evictionPressureTransitionPeriod | 40s |
      When machine "worker-1" does fill-memory with:
        | free | 50Mi |
      Then Node "worker-1" has condition MemoryPressure=True within 21s
      When machine "worker-1" does fill-memory with:
        | free | 8Gi |
      Then Node "worker-1" has condition MemoryPressure=False within 52s
      And the history of Node "worker-1" matches its snapshot

    Scenario Outline: What is left is enough: <what>
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | evictionHard | <hard> |
      And machine "worker-1" does <verb> with:
        | free | <free> |
      When nothing is done
      Then Node "worker-1" keeps condition <condition>=False for 60s
      And no Event EvictionThresholdMet about Node "worker-1" for 60s

      Examples:
        | what                              | hard                            | verb        | free  | condition      |
        | exactly the threshold             | {"memory.available":"100Mi"}    | fill-memory | 100Mi | MemoryPressure |
        | no threshold for memory           | {"nodefs.available":"10%"}      | fill-memory | 0     | MemoryPressure |
        | a threshold of 0 % is none        | {"memory.available":"0%"}       | fill-memory | 0     | MemoryPressure |
        | a threshold of 100 % is none      | {"memory.available":"100%"}     | fill-memory | 0     | MemoryPressure |
        | containers' own threshold is none | {"containerfs.available":"90%"} | fill-disk   | 10Gi  | DiskPressure   |
        | no threshold for pids             | {"memory.available":"1Gi"}      | use-pids    | 0     | PIDPressure    |

    Scenario Outline: Defaults: <verb> until <free> is left
      Given a ready Node "worker-1"
      When machine "worker-1" does <verb> with:
        | <field> | <free> |
      Then Node "worker-1" has condition <condition>=True within 21s

      Examples:
        | verb        | field      | free   | condition      |
        | fill-memory | free       | 1023Ki | MemoryPressure |
        | fill-disk   | free       | 14.9%  | DiskPressure   |
        | fill-disk   | freeInodes | 4.9%   | DiskPressure   |

    Scenario Outline: Merged defaults hold beside what is set: <verb> until <free> is left
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | evictionHard                 | {"pid.available":"100"} |
        | mergeDefaultEvictionSettings | <merge>                 |
      And machine "worker-1" does <verb> with:
        | free | <free> |
      And 31s pass
      When nothing is done
      Then Node "worker-1" keeps condition <condition>=<status> for 60s

      Examples:
        | verb        | free  | merge | condition      | status |
        | fill-memory | 99Mi  | false | MemoryPressure | False  |
        | fill-memory | 101Mi | true  | MemoryPressure | False  |

      @since:1.33
      Examples:
        | verb        | free  | merge | condition      | status |
        | fill-memory | 99Mi  | true  | MemoryPressure | True   |
        | fill-disk   | 14%   | true  | DiskPressure   | True   |

    Scenario: A machine with less memory than its threshold is under pressure from the first pass on
      Given a machine "worker-1" with:
        | memory | 1Gi |
      And whose kubelet runs with:
        | evictionHard | {"pid.available":"40000"} |
      When nothing is done
      Then Node "worker-1" has condition PIDPressure=True, reason "KubeletHasInsufficientPID", between 3s and 21s
      And Node "worker-1" never has condition PIDPressure=Unknown for 60s

  Rule: The default transition period is five minutes

    Scenario Outline: A transition period of <period> counts as <real>
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | evictionPressureTransitionPeriod | <period> |
      And machine "worker-1" does fill-memory with:
        | free | 50Mi |
      And Node "worker-1" has condition MemoryPressure=True
      When machine "worker-1" does fill-memory with:
        | free | 8Gi |
      Then Node "worker-1" keeps condition MemoryPressure=True for <still>
      And Node "worker-1" has condition MemoryPressure=False between <still> and <gone>

      Examples:
        | period | real | still | gone  |
        | 0s     | 5m   | 4m49s | 5m12s |
        | 5m     | 5m   | 4m49s | 5m12s |
        | 2m     | 2m   | 1m49s | 2m12s |

  Rule: A soft threshold sets the condition at once, and a minimum reclaim keeps it

    Scenario: The grace period of a soft threshold does not delay the condition
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | evictionHard            | {"memory.available":"100Mi"} |
        | evictionSoft            | {"memory.available":"1Gi"}   |
        | evictionSoftGracePeriod | {"memory.available":"1m30s"} |
      When machine "worker-1" does fill-memory with:
        | free | 900Mi |
      Then Node "worker-1" has condition MemoryPressure=True within 21s
      But no Event EvictionThresholdMet about Node "worker-1" for 89s
      And Event EvictionThresholdMet about Node "worker-1" between 90s and 111s

    Scenario Outline: With a minimum reclaim of <reclaim>, <free> is <enough>
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | evictionHard                     | {"memory.available":"100Mi"}     |
        | evictionMinimumReclaim           | {"memory.available":"<reclaim>"} |
        | evictionPressureTransitionPeriod | 10s                              |
      And machine "worker-1" does fill-memory with:
        | free | 50Mi |
      And Node "worker-1" has condition MemoryPressure=True
      And machine "worker-1" does fill-memory with:
        | free | <free> |
      And 31s pass
      When nothing is done
      Then Node "worker-1" keeps condition MemoryPressure=<status> for 60s

      Examples:
        | reclaim | free   | enough       | status |
        | 0       | 100Mi  | enough       | False  |
        | 50Mi    | 149Mi  | not enough   | True   |
        | 50Mi    | 150Mi  | enough       | False  |
        | 1%      | 263Mi  | not enough   | True   |
        | 1%      | 264Mi  | enough       | False  |

  Rule: What a kubelet knows of pressure ends with its process, and without the runtime it measures nothing

    @sim-only:instants
    Scenario: A restarted kubelet reports no pressure until its first pass
      Its first status is here before its first look at the memory. Both come within two seconds, and either may be first.
      Given a ready Node "worker-1"
      And machine "worker-1" does fill-memory with:
        | free | 50Mi |
      And Node "worker-1" has condition MemoryPressure=True
      When the kubelet on "worker-1" restarts
      Then Node "worker-1" has condition MemoryPressure=False within 2s
      And Node "worker-1" keeps condition Ready=True for 9s
      When nothing is done
      Then Node "worker-1" has condition MemoryPressure=True between 1s and 12s

    Scenario: Memory is empty after a reboot, the disk is not
      Given a ready Node "worker-1"
      And machine "worker-1" does fill-memory with:
        | free | 50Mi |
      And machine "worker-1" does fill-disk with:
        | free | 1% |
      And Node "worker-1" has condition MemoryPressure=True
      And Node "worker-1" has condition DiskPressure=True
      When machine "worker-1" reboots
      And Node "worker-1" has condition DiskPressure=False
      Then Node "worker-1" has condition DiskPressure=True within 21s
      And Node "worker-1" never has condition MemoryPressure=True for 60s

    Scenario: Without its runtime a kubelet keeps the conditions that it had
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | evictionPressureTransitionPeriod | 20s |
      And machine "worker-1" does fill-memory with:
        | free | 50Mi |
      And Node "worker-1" has condition MemoryPressure=True
      When the container runtime on "worker-1" stops
      And machine "worker-1" does fill-memory with:
        | free | 8Gi |
      Then Node "worker-1" keeps condition MemoryPressure=True for 2m
      When the container runtime on "worker-1" starts
      Then Node "worker-1" has condition MemoryPressure=False within 31s
