@core @req:TNT-01
Feature: Conditions become taints
  Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34), doNoScheduleTaintingPass, nodeConditionToTaintKeyStatusMap

  Rule: A condition that says that the node is unwell brings a NoSchedule taint, and takes it away again

    Scenario Outline: <condition> brings <taint>
      Given a hand-fed Node "worker-1"
      When Node "worker-1" posts condition <condition>
      Then Node "worker-1" has taint "node.kubernetes.io/<taint>:NoSchedule" within 1s
      And Node "worker-1" keeps condition <condition> for 30s
      When Node "worker-1" posts condition <well>
      Then Node "worker-1" has no taint "node.kubernetes.io/<taint>:NoSchedule" within 1s
      And Node "worker-1" keeps condition <well> for 30s

      Examples:
        | condition               | taint               | well                     |
        | Ready=False             | not-ready           | Ready=True               |
        | Ready=Unknown           | unreachable         | Ready=True               |
        | MemoryPressure=True     | memory-pressure     | MemoryPressure=False     |
        | DiskPressure=True       | disk-pressure       | DiskPressure=False       |
        | PIDPressure=True        | pid-pressure        | PIDPressure=False        |
        | NetworkUnavailable=True | network-unavailable | NetworkUnavailable=False |
        | MemoryPressure=True     | memory-pressure     | MemoryPressure=Unknown   |
        | DiskPressure=True       | disk-pressure       | DiskPressure=Unknown     |
        | PIDPressure=True        | pid-pressure        | PIDPressure=Unknown      |
        | NetworkUnavailable=True | network-unavailable | NetworkUnavailable=Unknown |

    Scenario Outline: <condition> brings no taint
      Given a hand-fed Node "worker-1"
      When Node "worker-1" posts condition <condition>, reason "Posted"
      Then Node "worker-1" has condition <condition>, reason "Posted", within 1s
      And Node "worker-1" keeps field spec.taints absent for 60s

      Examples:
        | condition                  |
        | Ready=True                 |
        | MemoryPressure=False       |
        | MemoryPressure=Unknown     |
        | DiskPressure=False         |
        | DiskPressure=Unknown       |
        | PIDPressure=False          |
        | PIDPressure=Unknown        |
        | NetworkUnavailable=False   |
        | NetworkUnavailable=Unknown |
        | KernelDeadlock=True        |
        | OutOfDisk=True             |

    Scenario: Several conditions at once bring several taints, in the order of the conditions, in one write
      Given a hand-fed Node "worker-1"
      And the user cordons Node "worker-1"
      And Node "worker-1" has taint "node.kubernetes.io/unschedulable:NoSchedule"
      And the user uncordons Node "worker-1"
      And Node "worker-1" has no taint "node.kubernetes.io/unschedulable:NoSchedule"
      When the user sends strategic PATCH /api/v1/nodes/worker-1/status:
        """yaml
        status:
          conditions:
          - {type: MemoryPressure, status: "True"}
          - {type: DiskPressure, status: "True"}
          - {type: PIDPressure, status: "True"}
        """
      Then Node "worker-1" has taint "node.kubernetes.io/memory-pressure:NoSchedule" within 1s
      And Node "worker-1" has taint "node.kubernetes.io/disk-pressure:NoSchedule" within 1s
      And Node "worker-1" has taint "node.kubernetes.io/pid-pressure:NoSchedule" within 1s
      And Node "worker-1" never has taint "node.kubernetes.io/not-ready:NoSchedule" for 30s
      And the history of Node "worker-1" matches its snapshot

  Rule: A node that is not Ready gets NoExecute as well, with the next health pass

    Scenario: Ready=False
      Given a hand-fed Node "worker-1"
      When Node "worker-1" posts condition Ready=False
      Then Node "worker-1" has condition Ready=False, reason "KubeletNotReady", within 1s
      And Node "worker-1" has taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      And Node "worker-1" has taint "node.kubernetes.io/not-ready:NoExecute" within 6s
      And Node "worker-1" field spec.taints[node.kubernetes.io/not-ready:NoExecute].timeAdded is set within 6s
      But Node "worker-1" never has taint "node.kubernetes.io/unreachable:NoSchedule" for 60s
      And Node "worker-1" never has taint "node.kubernetes.io/unreachable:NoExecute" for 60s
      And nothing else about Node "worker-1" changes

    Scenario Outline: <condition> brings no NoExecute
      Given a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When Node "worker-1" posts condition <condition>
      Then Node "worker-1" has taint "node.kubernetes.io/<taint>:NoSchedule" within 1s
      But Node "worker-1" never has taint "node.kubernetes.io/<taint>:NoExecute" for 10m
      And Pod "web" stays for 10m

      Examples:
        | condition               | taint               |
        | MemoryPressure=True     | memory-pressure     |
        | DiskPressure=True       | disk-pressure       |
        | PIDPressure=True        | pid-pressure        |
        | NetworkUnavailable=True | network-unavailable |

    Scenario: A node that was not ready falls silent: unreachable takes the place of not-ready
      Given a hand-fed Node "worker-1"
      And Node "worker-1" posts condition Ready=False
      And Node "worker-1" has taint "node.kubernetes.io/not-ready:NoExecute"
      When Node "worker-1" falls silent
      Then Node "worker-1" keeps taint "node.kubernetes.io/not-ready:NoSchedule" for 29s
      And Node "worker-1" keeps taint "node.kubernetes.io/not-ready:NoExecute" for 29s
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoSchedule" between 29s and 62s
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute" between 29s and 67s
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule" after Node "worker-1" has taint "node.kubernetes.io/unreachable:NoSchedule", within 62s
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoExecute" after Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute", within 67s

    Scenario: A node that was unreachable says that it is not ready: not-ready takes the place of unreachable
      Given a hand-fed Node "worker-1"
      And Node "worker-1" falls silent
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      When Node "worker-1" posts condition Ready=False
      Then Node "worker-1" has taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      And Node "worker-1" has no taint "node.kubernetes.io/unreachable:NoSchedule" after Node "worker-1" has taint "node.kubernetes.io/not-ready:NoSchedule", within 1s
      And Node "worker-1" has taint "node.kubernetes.io/not-ready:NoExecute" within 6s
      And Node "worker-1" has no taint "node.kubernetes.io/unreachable:NoExecute" after Node "worker-1" has taint "node.kubernetes.io/not-ready:NoExecute", within 6s

    Scenario: Pressure is not known of a silent node, so its taint goes, and comes back with the node
      Given a hand-fed Node "worker-1"
      And Node "worker-1" posts condition MemoryPressure=True
      And Node "worker-1" has taint "node.kubernetes.io/memory-pressure:NoSchedule"
      When Node "worker-1" falls silent
      Then Node "worker-1" keeps taint "node.kubernetes.io/memory-pressure:NoSchedule" for 29s
      And Node "worker-1" has condition MemoryPressure=Unknown, reason "NodeStatusUnknown", between 29s and 61s
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoSchedule" between 29s and 62s
      And Node "worker-1" has no taint "node.kubernetes.io/memory-pressure:NoSchedule" between 29s and 62s
      When Node "worker-1" is fed again
      Then Node "worker-1" has taint "node.kubernetes.io/memory-pressure:NoSchedule" within 1s
      And Node "worker-1" has no taint "node.kubernetes.io/unreachable:NoSchedule" after Node "worker-1" has taint "node.kubernetes.io/memory-pressure:NoSchedule", within 1s

  Rule: A cordoned node is tainted as unschedulable

    Scenario: Cordon and uncordon
      Given a hand-fed Node "worker-1"
      When the user cordons Node "worker-1"
      Then Node "worker-1" has taint "node.kubernetes.io/unschedulable:NoSchedule" within 1s
      And Node "worker-1" field spec.unschedulable is true at once
      And Node "worker-1" keeps condition Ready=True for 30s
      And nothing else about Node "worker-1" changes
      When the user uncordons Node "worker-1"
      Then Node "worker-1" has no taint "node.kubernetes.io/unschedulable:NoSchedule" within 1s
      And Node "worker-1" keeps condition Ready=True for 30s

    Scenario: The taint alone does not make a node unschedulable, and goes
      Given a hand-fed Node "worker-1"
      When the user taints Node "worker-1" with "node.kubernetes.io/unschedulable:NoSchedule"
      Then Node "worker-1" has no taint "node.kubernetes.io/unschedulable:NoSchedule" after Node "worker-1" has taint "node.kubernetes.io/unschedulable:NoSchedule", within 1s
      And Node "worker-1" keeps field spec.unschedulable absent for 30s

  Rule: The controller keeps these taints as the conditions want them

    Scenario: A taint that the user takes off comes back
      Given a hand-fed Node "worker-1"
      And Node "worker-1" posts condition DiskPressure=True
      And Node "worker-1" has taint "node.kubernetes.io/disk-pressure:NoSchedule"
      When the user removes taint "node.kubernetes.io/disk-pressure:NoSchedule" from Node "worker-1"
      Then Node "worker-1" has taint "node.kubernetes.io/disk-pressure:NoSchedule" after Node "worker-1" has no taint "node.kubernetes.io/disk-pressure:NoSchedule", within 1s
      When 1s passes
      Then Node "worker-1" keeps taint "node.kubernetes.io/disk-pressure:NoSchedule" for 30s

    Scenario: A taint without its condition is taken off
      Given a hand-fed Node "worker-1"
      When the user taints Node "worker-1" with "node.kubernetes.io/memory-pressure:NoSchedule"
      Then Node "worker-1" has no taint "node.kubernetes.io/memory-pressure:NoSchedule" after Node "worker-1" has taint "node.kubernetes.io/memory-pressure:NoSchedule", within 1s

    Scenario: A taint with a value of the user's counts as there
      Given a hand-fed Node "worker-1"
      And the user taints Node "worker-1" with "example.com/mine:NoSchedule"
      And Node "worker-1" posts condition DiskPressure=True
      And Node "worker-1" has taint "node.kubernetes.io/disk-pressure:NoSchedule"
      When the user taints Node "worker-1" with "node.kubernetes.io/disk-pressure=mine:NoSchedule"
      Then Node "worker-1" keeps taint "node.kubernetes.io/disk-pressure=mine:NoSchedule" for 30s
      And Node "worker-1" keeps taint "example.com/mine:NoSchedule" for 30s
      When Node "worker-1" posts condition DiskPressure=False
      Then Node "worker-1" has no taint "node.kubernetes.io/disk-pressure:NoSchedule" within 1s
      And Node "worker-1" keeps taint "example.com/mine:NoSchedule" for 30s

    Scenario Outline: Taints of other keys or effects are left alone: <taint>
      Given a hand-fed Node "worker-1"
      And the user taints Node "worker-1" with "<taint>"
      When Node "worker-1" posts condition MemoryPressure=True
      Then Node "worker-1" has taint "node.kubernetes.io/memory-pressure:NoSchedule" within 1s
      And Node "worker-1" keeps taint "<taint>" for 60s
      When Node "worker-1" posts condition MemoryPressure=False
      Then Node "worker-1" has no taint "node.kubernetes.io/memory-pressure:NoSchedule" within 1s
      And Node "worker-1" keeps taint "<taint>" for 60s

      Examples:
        | taint                                              |
        | node.kubernetes.io/memory-pressure:PreferNoSchedule |
        | node.kubernetes.io/memory-pressure:NoExecute       |
        | node.kubernetes.io/out-of-service=nodeshutdown:NoSchedule |
        | node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule |
        | example.com/gpu=true:NoSchedule                    |

  Rule: A status of Ready that is none of True, False and Unknown says nothing

    Scenario Outline: Ready becomes <status> on a node that is tainted
      It takes NoSchedule away, which follows the table of conditions, and leaves NoExecute, which goes with True alone.

      Given the object:
        """yaml
        apiVersion: v1
        kind: Node
        metadata: {name: by-hand}
        """
      And the user sends strategic PATCH /api/v1/nodes/by-hand/status:
        """yaml
        status: {conditions: [{type: Ready, status: "False", reason: KubeletNotReady}]}
        """
      And Node "by-hand" has taint "node.kubernetes.io/not-ready:NoExecute"
      When the user sends strategic PATCH /api/v1/nodes/by-hand/status:
        """yaml
        status: {conditions: [{type: Ready, status: "<status>", reason: KubeletReady}]}
        """
      Then Node "by-hand" has no taint "node.kubernetes.io/not-ready:NoSchedule" within 1s
      But Node "by-hand" keeps taint "node.kubernetes.io/not-ready:NoExecute" for 25s
      And Node "by-hand" never has taint "node.kubernetes.io/unreachable:NoExecute" for 25s

      Examples:
        | status |
        | Maybe  |
        | TRUE   |

  Rule: A Node that is not ready yet has its taint from the first moment, by admission

    Scenario: Where the admission plugin is turned off, a new Node has none
      Given kube-apiserver runs with:
        | flag                      | value                 |
        | disable-admission-plugins | TaintNodesByCondition |
      And no other Node
      When the user creates:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-1
        """
      Then Node "worker-1" never has taint "node.kubernetes.io/not-ready:NoSchedule" for 30s
      But Node "worker-1" has taint "node.kubernetes.io/unreachable:NoSchedule" within 66s
