@core @req:TOP-01
Feature: A kubelet starts only with settings of topology that can be
  Source: pkg/kubelet/cm/topologymanager/topology_manager.go and policy_options.go, pkg/kubelet/cm/cpumanager/cpu_manager.go, pkg/kubelet/cm/memorymanager/memory_manager.go (v1.34), NewManager

  Rule: What cannot be is refused with the words of the manager that it is for

    Scenario Outline: <what>
      Given a machine "worker-1" with:
        | numa | [{"id":0,"cpus":2,"memory":"4Gi"},{"id":1,"cpus":2,"memory":"4Gi"}] |
      When the kubelet on "worker-1" restarts with:
        | <field>  | <value>       |
        | <second> | <other value> |
      Then the kubelet refuses to start with "<message>"

      Examples:
        | what                              | field                        | value                                       | second                  | other value | message |
        | an unknown policy of CPUs         | cpuManagerPolicy             | dynamic                                     | kubeReserved            | {"cpu":"1"} | failed to run Kubelet: unknown policy: "dynamic" |
        | no CPU is reserved                | cpuManagerPolicy             | static                                      | maxPods                 | 110         | failed to run Kubelet: [cpumanager] the static policy requires systemreserved.cpu + kubereserved.cpu to be greater than zero |
        | more CPUs reserved than there are | cpuManagerPolicy             | static                                      | kubeReserved            | {"cpu":"5"} | failed to run Kubelet: new static policy error: [cpumanager] unable to reserve the required amount of CPUs (size of  did not equal 5) |
        | options without their policy      | cpuManagerPolicyOptions      | {"full-pcpus-only":"true"}                  | maxPods                 | 110         | failed to run Kubelet: new none policy error: None policy: received unsupported options=map[full-pcpus-only:true] |
        | an unknown policy of memory       | memoryManagerPolicy          | Dynamic                                     | maxPods                 | 110         | failed to run Kubelet: unknown policy: "Dynamic" |
        | no memory is reserved             | memoryManagerPolicy          | Static                                      | evictionHard            | {"nodefs.available":"10%"} | failed to run Kubelet: [memorymanager] you should specify the system reserved memory |
        | another NUMA node                 | reservedMemory               | [{"numaNode":2,"limits":{"memory":"1Gi"}}]  | memoryManagerPolicy     | Static      | failed to run Kubelet: the reserved memory configuration references a NUMA node 2 that does not exist on this machine |
        | another sum                       | reservedMemory               | [{"numaNode":0,"limits":{"memory":"1Gi"}},{"numaNode":1,"limits":{"memory":"1Gi"}}] | memoryManagerPolicy | Static | failed to run Kubelet: the total amount "2Gi" of type "memory" is not equal to the value "100Mi" determined by Node Allocatable feature |
        | zero                              | reservedMemory               | [{"numaNode":0,"limits":{"memory":"0"}}]    | memoryManagerPolicy     | Static      | failed to validate kubelet configuration, error: invalid configuration: reserved memory may not be zero for NUMA node 0 and resource "memory", path: &TypeMeta{Kind:,APIVersion:,} |
        | a NUMA node twice                 | reservedMemory               | [{"numaNode":0,"limits":{"memory":"1"}},{"numaNode":0,"limits":{"memory":"2"}}] | memoryManagerPolicy | Static | invalid configuration: the reserved memory has a duplicate value for NUMA node 0 and resource "memory" |
        | a limit of something else         | reservedMemory               | [{"numaNode":0,"limits":{"cpu":"1"}}]       | memoryManagerPolicy     | Static      | invalid configuration: the limit type "cpu" for NUMA node 0 is not supported, only [memory hugepages-<HugePageSize>] is accepted |
        | an unknown option                 | topologyManagerPolicyOptions | {"nope":"true"}                             | topologyManagerPolicy   | best-effort | failed to run Kubelet: unknown Topology Manager Policy option: "nope" |
        | an option that is no word of it   | topologyManagerPolicyOptions | {"prefer-closest-numa-nodes":"often"}       | topologyManagerPolicy   | best-effort | failed to run Kubelet: bad value for option "prefer-closest-numa-nodes": strconv.ParseBool: parsing "often": invalid syntax |
        | too small a limit                 | topologyManagerPolicyOptions | {"max-allowable-numa-nodes":"7"}            | topologyManagerPolicy   | best-effort | failed to run Kubelet: the minimum value of "max-allowable-numa-nodes" should not be less than 8 |

    Scenario Outline: The flag for reserved memory: <what>
      Given a machine "worker-1" with:
        | numa | [{"id":0,"cpus":2,"memory":"4Gi"},{"id":1,"cpus":2,"memory":"4Gi"}] |
      When the kubelet on "worker-1" restarts with:
        | flag            | value   |
        | reserved-memory | <value> |
      Then the kubelet refuses to start with "failed to parse kubelet flag: invalid argument "<value>" for "--reserved-memory" flag: <why>"

      Examples:
        | what                  | value                       | why |
        | no NUMA node          | memory=1Gi                  | the reserved memory has incorrect format, expected numaNodeID:type=quantity[,type=quantity...], got memory=1Gi |
        | two NUMA nodes in one | 0:memory=1Gi,1:memory=1Gi   | the reserved memory has incorrect format, expected numaNodeID:type=quantity[,type=quantity...], got 0:memory=1Gi,1:memory=1Gi |
        | a limit of CPU        | 0:cpu=1                     | memory type conversion error, unknown type: "cpu" |
        | an amount is a word   | 0:memory=much               | failed to parse the quantatity, expected quantatity, got much |

    Scenario: Nine NUMA nodes are too many
      Given a machine "worker-1" with:
        | numa | [{"id":0,"cpus":1,"memory":"1Gi"},{"id":1,"cpus":1,"memory":"1Gi"},{"id":2,"cpus":1,"memory":"1Gi"},{"id":3,"cpus":1,"memory":"1Gi"},{"id":4,"cpus":1,"memory":"1Gi"},{"id":5,"cpus":1,"memory":"1Gi"},{"id":6,"cpus":1,"memory":"1Gi"},{"id":7,"cpus":1,"memory":"1Gi"},{"id":8,"cpus":1,"memory":"1Gi"}] |
      When the kubelet on "worker-1" restarts with:
        | topologyManagerPolicy | restricted |
      Then the kubelet refuses to start with "failed to run Kubelet: unsupported on machines with more than 8 NUMA Nodes"

    Scenario Outline: Nine NUMA nodes will do with policy <policy> and <options>
      Given a machine "worker-1" with:
        | numa | [{"id":0,"cpus":1,"memory":"1Gi"},{"id":1,"cpus":1,"memory":"1Gi"},{"id":2,"cpus":1,"memory":"1Gi"},{"id":3,"cpus":1,"memory":"1Gi"},{"id":4,"cpus":1,"memory":"1Gi"},{"id":5,"cpus":1,"memory":"1Gi"},{"id":6,"cpus":1,"memory":"1Gi"},{"id":7,"cpus":1,"memory":"1Gi"},{"id":8,"cpus":1,"memory":"1Gi"}] |
      And whose kubelet runs with:
        | topologyManagerPolicy        | <policy>  |
        | topologyManagerPolicyOptions | <options> |
      When nothing is done
      Then Node "worker-1" has condition Ready=True within 2s

      Examples:
        | policy     | options                          |
        | none       | {}                               |
        | restricted | {"max-allowable-numa-nodes":"9"} |

    Scenario: The file of another policy keeps a kubelet from starting
      Given a ready Node "worker-1"
      When the kubelet on "worker-1" restarts with:
        | cpuManagerPolicy | static      |
        | kubeReserved     | {"cpu":"1"} |
      Then the kubelet refuses to start with "Failed to start ContainerManager: start cpu manager error: could not restore state from checkpoint: configured policy "static" differs from state checkpoint policy "none", please drain this node and delete the CPU manager checkpoint file "/var/lib/kubelet/cpu_manager_state" before restarting Kubelet"

    Scenario: Options of a policy that is not in force are not looked at
      Given a machine "worker-1" with:
        | numa | [{"id":0,"cpus":2,"memory":"4Gi"},{"id":1,"cpus":2,"memory":"4Gi"}] |
      And whose kubelet runs with:
        | topologyManagerPolicyOptions | {"nope":"true"} |
      When nothing is done
      Then Node "worker-1" has condition Ready=True within 2s

    Scenario: CPUs and memory of the Node are those of its NUMA nodes
      Given a machine "worker-1" with:
        | numa | [{"id":0,"cpus":"0-1","memory":"4Gi"},{"id":1,"cpus":"2,4-5","memory":"2Gi"}] |
      When nothing is done
      Then Node "worker-1" field status.capacity.cpu is "5" within 2s
      And Node "worker-1" field status.capacity.memory is "6Gi" within 2s
