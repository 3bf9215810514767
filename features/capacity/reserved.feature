@core
Feature: Part of a node can be kept for what is not a pod
  Source: pkg/kubelet/cm/node_container_manager_linux.go (v1.34), GetNodeAllocatableReservation, validateNodeAllocatable
  Source: cmd/kubelet/app/server.go (v1.34), run, parseResourceList, getReservedCPUs

  @req:CAP-03
  Rule: What is reserved is in the capacity and not for pods

    Scenario Outline: The scheduler does not give it away, set by <where>
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And whose kubelet runs with:
        | <kube>   | <kube value>   |
        | <system> | <system value> |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: too-large
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1251m}}}
        ---
        apiVersion: v1
        kind: Pod
        metadata:
          name: fitting
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1250m}}}
        """
      Then Pod "fitting" field spec.nodeName is "worker-1" within 1s
      And Pod "fitting" field status.phase is "Running" within 10s
      And Pod "too-large" has condition PodScheduled=False, reason "Unschedulable", within 1s
      And Pod "too-large" keeps field spec.nodeName absent for 1m
      And Node "worker-1" keeps field status.capacity.cpu at "2" for 1m
      And Node "worker-1" keeps field status.allocatable.cpu at "1250m" for 1m

      Examples:
        | where    | kube          | kube value     | system          | system value   |
        | flags    | kube-reserved | cpu=500m       | system-reserved | cpu=250m       |
        | the file | kubeReserved  | {"cpu":"500m"} | systemReserved  | {"cpu":"250m"} |

    Scenario: All CPUs are reserved, and only pods that ask for none run
      Given no other Node
      And a machine "worker-1" with:
        | cpu | 2 |
      And whose kubelet runs with:
        | systemReserved | {"cpu":"2"} |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: modest
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10"}
        ---
        apiVersion: v1
        kind: Pod
        metadata:
          name: wanting
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 1m}}}
        """
      Then Pod "modest" field status.phase is "Running" within 10s
      And Pod "wanting" has condition PodScheduled=False, reason "Unschedulable", within 1s
      And Pod "wanting" keeps field spec.nodeName absent for 1m
      And Node "worker-1" keeps field status.allocatable.cpu at "0" for 1m

    Scenario Outline: <what> are kept back
      When a kubelet named "worker-1" registers with:
        | <field> | <value> |
        | <more>  | <other> |
      Then Node "worker-1" field status.allocatable.cpu is "<cpu>" within 1s
      And Node "worker-1" field status.allocatable.memory is "<memory>" within 1s
      And Node "worker-1" field status.allocatable.ephemeral-storage is "<disk>" within 1s
      And Node "worker-1" field status.capacity.cpu is "4" within 1s
      And Node "worker-1" field status.capacity.memory is "16Gi" within 1s
      And Node "worker-1" has condition Ready=True within 15s

      Examples:
        | what                                        | field             | value                                          | more           | other                                | cpu   | memory   | disk        |
        | the CPUs of a list, instead of other CPU    | reservedSystemCPUs | 0-1                                           | systemReserved | {"cpu":"100m","memory":"1Gi"}        | 2     | 15260Mi  | 92599286017 |
        | single CPUs of a list                       | reserved-cpus     | 1,3                                            | kubeReserved   | {"cpu":"3"}                          | 2     | 16284Mi  | 92599286017 |
        | memory by quantity, disk by share           | evictionHard      | {"memory.available":"1Gi","nodefs.available":"20%"} | kubeReserved   | {"cpu":"1"}                     | 3     | 15Gi     | 82310476289 |
        | thresholds of 0 % and 100 %, which are none | evictionHard      | {"memory.available":"0%","nodefs.available":"100%"} | kubeReserved   | {"cpu":"1"}                     | 3     | 16Gi     | 100476656Ki |
        | limits on pods alone                        | enforceNodeAllocatable | ["none"]                                  | kubeReserved   | {"cpu":"1","memory":"1Gi"}           | 3     | 15260Mi  | 92599286017 |
        | process numbers, which no Node shows        | evictionHard      | {"pid.available":"10%"}                        | systemReserved | {"pid":"1000"}                       | 4     | 16Gi     | 100476656Ki |

    @since:1.33
    Scenario: One threshold of one's own, and the defaults for the others
      When a kubelet named "worker-1" registers with:
        | evictionHard                 | {"memory.available":"1Gi"} |
        | mergeDefaultEvictionSettings | true                       |
      Then Node "worker-1" field status.allocatable.memory is "15Gi" within 1s
      And Node "worker-1" field status.allocatable.ephemeral-storage is "92599286017" within 1s

    @until:1.32
    Scenario: Releases before 1.33 know no merging of defaults, and take no notice of the field
      When a kubelet named "worker-1" registers with:
        | evictionHard                 | {"memory.available":"1Gi"} |
        | mergeDefaultEvictionSettings | true                       |
      Then Node "worker-1" field status.allocatable.memory is "15Gi" within 1s
      And Node "worker-1" field status.allocatable.ephemeral-storage is "100476656Ki" within 1s

  @req:CAP-03
  Rule: What cannot be reserved stops the kubelet, and no Node appears

    Scenario Outline: <name> <value>
      When a kubelet named "worker-1" registers with:
        | <name> | <value> |
      Then the kubelet refuses to start with "failed to <message>"
      And Node "worker-1" never appears for 1m

      Examples:
        | name            | value               | message |
        | kubeReserved    | {"gpu":"1"}         | run Kubelet: --kube-reserved value failed to parse: cannot reserve "gpu" resource |
        | systemReserved  | {"pods":"10"}       | run Kubelet: --system-reserved value failed to parse: cannot reserve "pods" resource |
        | systemReserved  | {"memory":"lots"}   | run Kubelet: --system-reserved value failed to parse: failed to parse quantity "lots" for "memory" resource: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$' |
        | kube-reserved   | cpu=-100m           | run Kubelet: --kube-reserved value failed to parse: resource quantity for "cpu" cannot be negative: -100m |
        | system-reserved | cpu                 | parse kubelet flag: invalid argument "cpu" for "--system-reserved" flag: malformed pair, expect string=string |
        | reservedSystemCPUs | 0-x              | validate kubelet configuration, error: invalid configuration: unable to parse reservedSystemCPUs (--reserved-cpus) 0-x, error: strconv.Atoi: parsing "x": invalid syntax, path: &TypeMeta{Kind:,APIVersion:,} |
        | reserved-cpus   | 0-7                 | run Kubelet: reserved-cpus: 0-7 is not a subset of online-cpus: 0-3 |

    Scenario Outline: More is reserved than there is: <value> of <name>
      When a kubelet named "worker-1" registers with:
        | <name> | <value> |
        | <more> | <other> |
      Then the kubelet refuses to start with "Failed to start ContainerManager: invalid Node Allocatable configuration. Resource <message> Expected capacity >= reservation."
      And Node "worker-1" never appears for 1m

      Examples:
        | name           | value                        | more           | other                    | message |
        | systemReserved | {"memory":"100Gi"}           | evictionHard   | {"nodefs.available":"0%"} | "memory" has a reservation of {{107374182400 0} {<nil>}  BinarySI} but capacity of {{17179869184 0} {<nil>}  BinarySI}. |
        | kubeReserved   | {"cpu":"2500m"}              | systemReserved | {"cpu":"1501m"}          | "cpu" has a reservation of {{4001 -3} {<nil>}  DecimalSI} but capacity of {{4000 -3} {<nil>}  DecimalSI}. |
        | evictionHard   | {"memory.available":"30Gi"}  | systemReserved | {"cpu":"1"}              | "memory" has a reservation of {{32212254720 0} {<nil>}  BinarySI} but capacity of {{17179869184 0} {<nil>}  BinarySI}. |
        | kubeReserved   | {"cpu":"5","memory":"20Gi"}  | evictionHard   | {"nodefs.available":"0%"} | "cpu" has a reservation of {{5000 -3} {<nil>}  DecimalSI} but capacity of {{4000 -3} {<nil>}  DecimalSI}. Expected capacity >= reservation. Resource "memory" has a reservation of {{21474836480 0} {<nil>}  BinarySI} but capacity of {{17179869184 0} {<nil>}  BinarySI}. |

    Scenario: A kubelet that runs already ends, and its Node falls silent
      Given a ready Node "worker-1"
      When the kubelet on "worker-1" restarts with:
        | kubeReserved | {"cpu":"5"} |
      Then the kubelet refuses to start with "Failed to start ContainerManager: invalid Node Allocatable configuration. Resource "cpu" has a reservation of {{5000 -3}"
      And Node "worker-1" keeps field status.allocatable.cpu at "4" for 90s
      And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between 29s and 61s

  @req:CAP-03
  Rule: What enforceNodeAllocatable names has to be there

    Scenario Outline: <value>
      When a kubelet named "worker-1" registers with:
        | enforceNodeAllocatable | <value> |
        | cgroupsPerQOS          | <qos>   |
      Then the kubelet refuses to start with "failed to validate kubelet configuration, error: <message>, path: &TypeMeta{Kind:,APIVersion:,}"
      And Node "worker-1" never appears for 1m

      Examples: in every release
        | value             | qos   | message |
        | ["pods","pods"]   | true  | invalid configuration: duplicated enforcements "pods" in enforceNodeAllocatable (--enforce-node-allocatable) |
        | ["none","pods"]   | true  | invalid configuration: enforceNodeAllocatable (--enforce-node-allocatable) may not contain additional enforcements when "none" is specified |
        | ["pods"]          | false | invalid configuration: cgroupsPerQOS (--cgroups-per-qos) must be set to true when "pods" contained in enforceNodeAllocatable (--enforce-node-allocatable) |

      @since:1.32
      Examples: since 1.32
        | value             | qos   | message |
        | ["system-reserved"] | true | invalid configuration: systemReservedCgroup (--system-reserved-cgroup) must be specified when "system-reserved" or "system-reserved-compressible" included in enforceNodeAllocatable (--enforce-node-allocatable) |
        | ["kube-reserved-compressible"] | true | invalid configuration: kubeReservedCgroup (--kube-reserved-cgroup) must be specified when "kube-reserved" or "kube-reserved-compressible" included in enforceNodeAllocatable (--enforce-node-allocatable) |
        | ["everything"]    | true  | invalid configuration: option "everything" specified for enforceNodeAllocatable (--enforce-node-allocatable). Valid options are "pods", "system-reserved", "system-reserved-compressible", "kube-reserved", "kube-reserved-compressible" or "none" |

      @until:1.31
      Examples: up to 1.31
        | value             | qos   | message |
        | ["system-reserved"] | true | invalid configuration: systemReservedCgroup (--system-reserved-cgroup) must be specified when "system-reserved" contained in enforceNodeAllocatable (--enforce-node-allocatable) |
        | ["kube-reserved-compressible"] | true | invalid configuration: option "kube-reserved-compressible" specified for enforceNodeAllocatable (--enforce-node-allocatable). Valid options are "pods", "system-reserved", "kube-reserved", or "none" |

    Scenario: A list of CPUs and a group of reserved processes exclude each other
      When a kubelet named "worker-1" registers with:
        | reserved-cpus         | 0       |
        | system-reserved-cgroup | /system |
      Then the kubelet refuses to start with "failed to validate kubelet configuration, error: invalid configuration: can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup (--system-reserved-cgroup) or kubeReservedCgroup (--kube-reserved-cgroup), path: &TypeMeta{Kind:,APIVersion:,}"
      And Node "worker-1" never appears for 1m

  @req:CAP-03
  Rule: A threshold that cannot be stops the kubelet
    Source: pkg/kubelet/eviction/helpers.go (v1.34), ParseThresholdConfig

    Scenario Outline: <name> <value>
      When a kubelet named "worker-1" registers with:
        | <name> | <value> |
      Then the kubelet refuses to start with "failed to run Kubelet: <message>"
      And Node "worker-1" never appears for 1m

      Examples: of hard thresholds
        | name          | value                        | message |
        | evictionHard  | {"foo":"1Gi"}                | unsupported eviction signal foo |
        | eviction-hard | memory.available<1Gi,foo<1   | unsupported eviction signal foo |
        | evictionHard  | {"memory.available":"-1Gi"}  | eviction threshold memory.available must be positive: -1Gi |
        | evictionHard  | {"memory.available":"0"}     | eviction threshold memory.available must be positive: 0 |
        | evictionHard  | {"nodefs.available":"110%"}  | eviction percentage threshold nodefs.available must be <= 100%: 110% |
        | evictionHard  | {"nodefs.available":"-5%"}   | eviction percentage threshold nodefs.available must be >= 0%: -5% |
        | evictionHard  | {"nodefs.available":"x%"}    | strconv.ParseFloat: parsing "x": invalid syntax |
        | evictionHard  | {"memory.available":"lots"}  | quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$' |

      Examples: of soft thresholds
        | name                    | value                        | message |
        | evictionSoft            | {"memory.available":"1Gi"}   | failed to create kubelet: grace period must be specified for the soft eviction threshold memory.available |
        | eviction-soft           | memory.available<1Gi         | failed to create kubelet: grace period must be specified for the soft eviction threshold memory.available |
        | evictionSoft            | {"memory.available":"-1Gi"}  | failed to create kubelet: eviction threshold memory.available must be positive: -1Gi |
        | evictionSoftGracePeriod | {"memory.available":"-1s"}   | failed to create kubelet: invalid eviction grace period specified: -1s, must be a positive value |
        | evictionSoftGracePeriod | {"memory.available":"1"}     | failed to create kubelet: time: missing unit in duration "1" |
        | evictionSoftGracePeriod | {"disk":"1s"}                | failed to create kubelet: unsupported eviction signal disk |
        | evictionMinimumReclaim  | {"nodefs.available":"-1Gi"}  | failed to create kubelet: negative eviction minimum reclaim specified for nodefs.available |
        | evictionMinimumReclaim  | {"nodefs.available":"0%"}    | failed to create kubelet: eviction percentage minimum reclaim nodefs.available must be positive: 0% |
        | eviction-minimum-reclaim | foo=1Gi                     | failed to create kubelet: unsupported eviction signal foo |

    Scenario Outline: A text where pairs are needed, for <field>
      When a kubelet named "worker-1" registers with:
        | <field> | foo |
      Then the kubelet refuses to start with "error failed to decode: json: cannot unmarshal string into Go struct field KubeletConfiguration.<field> of type map[string]<of>"
      And Node "worker-1" never appears for 1m

      Examples:
        | field                   | of     |
        | evictionHard            | string |
        | evictionSoft            | string |
        | evictionSoftGracePeriod | string |
        | evictionMinimumReclaim  | string |
        | kubeReserved            | string |
        | systemReserved          | string |
        | featureGates            | bool   |

    Scenario: A flag that is no list of thresholds
      When a kubelet named "worker-1" registers with:
        | eviction-hard | memory.available=1Gi |
      Then the kubelet refuses to start with "failed to parse kubelet flag: invalid argument "memory.available=1Gi" for "--eviction-hard" flag: malformed pair, expect string<string"
      And Node "worker-1" never appears for 1m

    Scenario: Soft thresholds with their grace periods are taken
      When a kubelet named "worker-1" registers with:
        | evictionSoft            | {"memory.available":"1Gi"} |
        | evictionSoftGracePeriod | {"memory.available":"1m"}  |
        | evictionMinimumReclaim  | {"memory.available":"0"}   |
      Then Node "worker-1" has condition Ready=True within 15s
      And Node "worker-1" field status.allocatable.memory is "16284Mi" within 1s
