@core
Feature: The name and the addresses that a kubelet gives its Node
  Source: pkg/kubelet/nodestatus/setters.go (v1.34), NodeAddress; cmd/kubelet/app/server.go (v1.34), run
  Source: k8s.io/component-helpers node/util/hostname.go (v1.34), GetHostname; node/util/ips.go (v1.34), ParseNodeIPArgument

  @req:REG-07
  Rule: --node-ip is the InternalIP of the Node

    Scenario: One address
      When a kubelet named "worker-1" registers with:
        | flag    | value     |
        | node-ip | 192.0.2.7 |
      Then Node "worker-1" field status.addresses is [{"type":"InternalIP","address":"192.0.2.7"},{"type":"Hostname","address":"worker-1"}] within 1s
      And Node "worker-1" has condition Ready=True within 15s

    Scenario: It is chosen among the addresses that the machine has
      Given a machine "worker-1" with:
        | what      | value                                                                                     |
        | addresses | [{"type":"InternalIP","address":"10.1.2.3"},{"type":"InternalIP","address":"192.0.2.7"}]  |
      And whose kubelet runs with:
        | flag    | value     |
        | node-ip | 192.0.2.7 |
      And Node "worker-1" has condition Ready=True
      When 10m pass
      Then Node "worker-1" keeps field status.addresses at [{"type":"InternalIP","address":"192.0.2.7"},{"type":"Hostname","address":"worker-1"}] for 10m

    Scenario: The Node has no addresses if the machine does not have this one
      Given a machine "worker-1" with:
        | what      | value                                        |
        | addresses | [{"type":"InternalIP","address":"10.1.2.3"}] |
      And whose kubelet runs with:
        | flag    | value     |
        | node-ip | 192.0.2.7 |
      And Node "worker-1" has condition Ready=True
      When 10m pass
      Then Node "worker-1" keeps field status.addresses absent for 10m

    Scenario: An address that is mapped into the other family is printed as itself
      When a kubelet named "worker-1" registers with:
        | flag    | value            |
        | node-ip | ::ffff:192.0.2.7 |
      Then Node "worker-1" field status.addresses is [{"type":"InternalIP","address":"192.0.2.7"},{"type":"Hostname","address":"worker-1"}] within 1s

    Scenario: A pair of both families, in the order given
      When a kubelet named "worker-1" registers with:
        | flag    | value              |
        | node-ip | 192.0.2.7,fd00::7  |
      Then Node "worker-1" field status.addresses is [{"type":"InternalIP","address":"192.0.2.7"},{"type":"InternalIP","address":"fd00::7"},{"type":"Hostname","address":"worker-1"}] within 1s

    Scenario: Another address after a restart
      Given a machine "worker-1"
      And whose kubelet runs with:
        | flag    | value     |
        | node-ip | 192.0.2.7 |
      And Node "worker-1" has condition Ready=True
      When the kubelet on "worker-1" restarts with:
        | flag    | value     |
        | node-ip | 192.0.2.8 |
      Then Node "worker-1" field status.addresses is [{"type":"InternalIP","address":"192.0.2.8"},{"type":"Hostname","address":"worker-1"}] within 1s
      And Node "worker-1" keeps field metadata.uid unchanged for 10m

    Scenario: Any address of a family is that of the machine, for its Pods too
      Given a machine "worker-1" with:
        | what      | value                                                                                      |
        | addresses | [{"type":"InternalIP","address":"10.1.2.3"},{"type":"InternalIP","address":"fd00::3"}]     |
      And whose kubelet runs with:
        | node-ip | :: |
      And Node "worker-1" has condition Ready=True
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          hostNetwork: true
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      Then Pod "web" field status.hostIP is "fd00::3" within 5s
      And Pod "web" field status.podIP is "fd00::3" within 5s

    Scenario: A machine that is named by an address has that one
      When a kubelet named "192.0.2.9" registers
      Then Node "192.0.2.9" field status.addresses is [{"type":"InternalIP","address":"192.0.2.9"},{"type":"Hostname","address":"192.0.2.9"}] within 1s

    Scenario Outline: <address> can be no address of a Node
      Given a machine "worker-1"
      And whose kubelet runs with:
        | flag    | value     |
        | node-ip | <address> |
      And Node "worker-1" has condition Ready=True
      When 10m pass
      Then Node "worker-1" keeps field status.addresses absent for 10m

      Examples:
        | address     |
        | 127.0.0.1   |
        | 169.254.1.1 |
        | 224.0.0.1   |
        | ::1         |
        | fe80::1     |

    Scenario Outline: <list> is refused
      When a kubelet named "worker-1" registers with:
        | flag    | value  |
        | node-ip | <list> |
      Then the kubelet refuses to start with "bad --node-ip "<list>": <why>"
      And Node "worker-1" never appears for 10m

      Examples:
        | list                    | why                                                        |
        | 192.0.2.7,192.0.2.8     | must contain either a single IP or a dual-stack pair of IPs |
        | fd00::7,fd00::8         | must contain either a single IP or a dual-stack pair of IPs |
        | 192.0.2.7,::            | dual-stack node IP cannot include '0.0.0.0' or '::'         |

  @req:REG-10
  Rule: --hostname-override is the name of the Node, its Hostname address and its hostname label

    Scenario: Another name than the machine's
      When a kubelet named "machine-1" registers with:
        | flag              | value    |
        | hostname-override | worker-7 |
      Then Node "worker-7" exists within 1s
      And Node "worker-7" field metadata.labels["kubernetes.io/hostname"] is "worker-7" within 1s
      And Node "worker-7" field status.addresses[Hostname].address is "worker-7" within 1s
      And Node "worker-7" has condition Ready=True within 15s
      And the Lease of Node "worker-7" exists within 12s
      But Node "machine-1" never appears for 10m

    Scenario: The name is trimmed and put in small letters
      When a kubelet named "machine-1" registers with:
        | flag              | value               |
        | hostname-override | Worker-7.Example.COM |
      Then Node "worker-7.example.com" exists within 1s
      And Node "worker-7.example.com" field metadata.labels["kubernetes.io/hostname"] is "worker-7.example.com" within 1s

    Scenario: Another name after a restart is refused
      The kubelet still has the credentials that it got when it joined, and they are those of the old name. The old Node
      is left behind and falls silent.
      Source: plugin/pkg/admission/noderestriction/admission.go (v1.34), admitNode;
      pkg/controller/certificates/approver/sarapprove.go (v1.34), isSelfNodeClientCert

      Given a ready Node "worker-1"
      When the kubelet on "worker-1" restarts with:
        | flag              | value    |
        | hostname-override | worker-2 |
      Then Node "worker-2" never appears for 90s
      But Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", within 60s
      And Node "worker-1" keeps field metadata.uid unchanged for 90s
      And Node "worker-1" keeps field metadata.labels["kubernetes.io/hostname"] unchanged for 90s

  @req:REG-14
  Rule: A second kubelet of the same name takes the Node for its own, and both write over each other

    Scenario: Two machines, one name
      Each of them finds at each of its ticks that the status is not its own, and puts it right.

      Given a machine "worker-1" with:
        | what       | value                                          |
        | machineId  | 0000000000000000000000000000000a               |
        | systemUuid | 00000000-0000-0000-0000-00000000000a           |
        | addresses  | [{"type":"InternalIP","address":"10.0.0.1"}]   |
      And Node "worker-1" has condition Ready=True
      And 5m pass
      And a machine "twin" with:
        | what       | value                                          |
        | nodeName   | worker-1                                       |
        | machineId  | 0000000000000000000000000000000b               |
        | systemUuid | 00000000-0000-0000-0000-00000000000b           |
        | addresses  | [{"type":"InternalIP","address":"10.0.0.2"}]   |
        | powered    | false                                          |
      When machine "twin" gets power
      Then Node "worker-1" field status.nodeInfo.machineID is "0000000000000000000000000000000b" within 2s
      And Node "worker-1" field status.nodeInfo.systemUUID is "00000000-0000-0000-0000-00000000000b" within 2s
      And Node "worker-1" field status.addresses is [{"type":"InternalIP","address":"10.0.0.2"},{"type":"Hostname","address":"worker-1"}] within 2s
      And Event Rebooted about Node "worker-1" within 15s
      And Node "worker-1" keeps field metadata.uid unchanged for 10m
      And Node "worker-1" keeps field metadata.creationTimestamp unchanged for 10m
      And the Lease of Node "worker-1" keeps field spec.holderIdentity "worker-1" for 10m
      But Node "worker-1" never has condition Ready=Unknown for 10m
      And no Event RegisteredNode about Node "worker-1" for 10m

    Scenario: The status goes from one machine to the other and back
      Given a machine "worker-1" with:
        | what       | value                                          |
        | machineId  | 0000000000000000000000000000000a               |
        | addresses  | [{"type":"InternalIP","address":"10.0.0.1"}]   |
      And Node "worker-1" has condition Ready=True
      And 5m pass
      And a machine "twin" with:
        | what       | value                                          |
        | nodeName   | worker-1                                       |
        | machineId  | 0000000000000000000000000000000b               |
        | addresses  | [{"type":"InternalIP","address":"10.0.0.2"}]   |
        | powered    | false                                          |
      When machine "twin" gets power
      Then Node "worker-1" field status.nodeInfo.machineID is "0000000000000000000000000000000b" within 1s
      When 1s passes
      Then Node "worker-1" field status.nodeInfo.machineID is "0000000000000000000000000000000a" within 11s
      And Node "worker-1" field status.addresses[InternalIP].address is "10.0.0.1" within 11s

    Scenario: The Node outlives the first machine
      Given a machine "worker-1" with:
        | what       | value                                          |
        | machineId  | 0000000000000000000000000000000a               |
      And Node "worker-1" has condition Ready=True
      And a machine "twin" with:
        | what       | value                                          |
        | nodeName   | worker-1                                       |
        | machineId  | 0000000000000000000000000000000b               |
      And 5m pass
      And machine "worker-1" loses power
      And 30s pass
      When 10m pass
      Then Node "worker-1" keeps field status.nodeInfo.machineID at "0000000000000000000000000000000b" for 10m
      And Node "worker-1" keeps condition Ready=True for 10m
      And the Lease of Node "worker-1" is renewed every 10s for 10m

  @req:REG-14
  Rule: The Node is taken for the machine that it was, with its state, labels and disks

    Scenario: The twin has other labels
      Of its labels only the well-known ones are put right, once at its start; others count when a Node is created.

      Given a machine "worker-1" with:
        | what | value |
        | zone | a     |
      And whose kubelet runs with:
        | flag        | value            |
        | node-labels | disk=hdd,rack=r1 |
      And Node "worker-1" has condition Ready=True
      And 5m pass
      And a machine "twin" with:
        | what     | value    |
        | nodeName | worker-1 |
        | zone     | b        |
        | powered  | false    |
      And whose kubelet runs with:
        | flag        | value             |
        | node-labels | disk=ssd,gpu=none |
      When machine "twin" gets power
      Then Node "worker-1" has label "topology.kubernetes.io/zone=b" within 1s
      And Node "worker-1" keeps label "disk=hdd" for 10m
      And Node "worker-1" keeps label "rack=r1" for 10m
      And Node "worker-1" never has label "gpu" for 10m
      When the kubelet on "worker-1" restarts
      Then Node "worker-1" has label "topology.kubernetes.io/zone=a" within 1s
      And Node "worker-1" keeps label "disk=hdd" for 10m

    Scenario: The twin has another disk and other images
      Given a machine "worker-1" with:
        | what              | value                                                          |
        | ephemeral-storage | 100Gi                                                          |
        | images            | [{"names":["registry.example.com/a:1"],"sizeBytes":1000000}]   |
      And Node "worker-1" has condition Ready=True
      And 5m pass
      And a machine "twin" with:
        | what              | value                                                          |
        | nodeName          | worker-1                                                       |
        | ephemeral-storage | 200Gi                                                          |
        | images            | [{"names":["registry.example.com/b:1"],"sizeBytes":2000000}]   |
        | powered           | false                                                          |
      When machine "twin" gets power
      Then Node "worker-1" field status.capacity.ephemeral-storage is "200Gi" within 1s
      And Node "worker-1" field status.images is [{"names":["registry.example.com/b:1"],"sizeBytes":2000000}] within 1s
      When 1s passes
      Then Node "worker-1" field status.capacity.ephemeral-storage is "100Gi" within 11s
      And Node "worker-1" field status.images is [{"names":["registry.example.com/a:1"],"sizeBytes":1000000}] within 11s

    Scenario: A Pod of the Node runs on both
      Given a machine "worker-1" with:
        | what      | value                                        |
        | addresses | [{"type":"InternalIP","address":"10.0.0.1"}] |
      And Node "worker-1" has condition Ready=True
      And a Pod "web" on Node "worker-1"
      And 5m pass
      And a machine "twin" with:
        | what      | value                                        |
        | nodeName  | worker-1                                     |
        | addresses | [{"type":"InternalIP","address":"10.0.0.2"}] |
        | powered   | false                                        |
      When machine "twin" gets power
      Then Pod "web" field status.hostIP is "10.0.0.2" within 15s
      And container "main" of Pod "web" keeps running on machine "worker-1" for 1m
      When 1s passes
      Then container "main" of Pod "web" keeps running on machine "worker-1" for 5m
      And container "main" of Pod "web" keeps running on machine "twin" for 5m
      And Pod "web" keeps field status.phase "Running" for 5m
      When the user deletes Pod "web"
      Then container "main" of Pod "web" stops on machine "worker-1" within 40s
      And container "main" of Pod "web" stops on machine "twin" within 40s
      And Pod "web" is gone within 40s
