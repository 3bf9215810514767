@core
Feature: What a kubelet gives its Node when it registers
  Source: pkg/kubelet/kubelet_node_status.go (v1.34), initialNode, tryRegisterWithAPIServer, updateDefaultLabels
  Source: pkg/util/taints/taints.go (v1.34), ParseTaints

  @req:REG-05
  Rule: --register-with-taints is there from the first object on

    Scenario: Two taints
      When a kubelet named "worker-1" registers with:
        | flag                 | value                                                      |
        | register-with-taints | dedicated=infra:NoSchedule,example.com/boot=true:NoExecute |
      Then Node "worker-1" exists within 1s
      And Node "worker-1" keeps taint "dedicated=infra:NoSchedule" for 10m
      And Node "worker-1" keeps taint "example.com/boot=true:NoExecute" for 10m
      And Node "worker-1" has condition Ready=True within 15s
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule" within 16s

    Scenario Outline: A taint is written as <taint>
      When a kubelet named "worker-1" registers with:
        | flag                 | value   |
        | register-with-taints | <taint> |
      Then Node "worker-1" exists within 1s
      And Node "worker-1" keeps taint "<taint>" for 10m
      And Node "worker-1" has condition Ready=True within 15s

      Examples:
        | taint                                  |
        | dedicated=infra:NoSchedule             |
        | dedicated:NoSchedule                   |
        | dedicated=infra:PreferNoSchedule       |
        | example.com/dedicated=infra:NoExecute  |

    Scenario: The taints stand in the kubelet's configuration
      When a kubelet named "worker-1" registers with:
        | field              | value                                                                           |
        | registerWithTaints | [{"key":"a","value":"b","effect":"NoSchedule"},{"key":"c","effect":"NoExecute"}] |
      Then Node "worker-1" exists within 1s
      And Node "worker-1" keeps taint "a=b:NoSchedule" for 10m
      And Node "worker-1" keeps taint "c:NoExecute" for 10m

    Scenario: The flag takes the place of the configuration
      When a kubelet named "worker-1" registers with:
        | name                 | value                                           |
        | registerWithTaints   | [{"key":"a","value":"b","effect":"NoSchedule"}] |
        | register-with-taints | c:NoExecute                                     |
      Then Node "worker-1" exists within 1s
      And Node "worker-1" keeps taint "c:NoExecute" for 10m
      And Node "worker-1" never has taint "a:NoSchedule" for 10m

    Scenario: Pods that do not tolerate the taint are evicted as soon as they are bound
      Given a machine "worker-1"
      And whose kubelet runs with:
        | flag                 | value                           |
        | register-with-taints | example.com/boot=true:NoExecute |
      And Node "worker-1" has condition Ready=True
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: agent}
        spec:
          nodeName: worker-1
          tolerations: [{key: example.com/boot, operator: Exists}]
          containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
        """
      Then Pod "web" is deleted within 1s
      But Pod "agent" stays for 10m
      And Pod "agent" field status.phase is "Running" within 10s

  @req:REG-05 @until:1.31
  Rule: Up to 1.33 a kubelet can register a Node that is cordoned, with the taint of one

    Scenario: --register-schedulable=false
      When a kubelet named "worker-1" registers with:
        | flag                 | value                     |
        | register-schedulable | false                     |
        | register-with-taints | dedicated=infra:NoExecute |
      Then Node "worker-1" exists within 1s
      And Node "worker-1" field spec.unschedulable is true within 1s
      And Node "worker-1" keeps taint "node.kubernetes.io/unschedulable:NoSchedule" for 10m
      And Node "worker-1" keeps taint "dedicated=infra:NoExecute" for 10m
      And Node "worker-1" has condition Ready=True within 15s

  @req:REG-05
  Rule: The taints are given once, when the Node is created

    Scenario: The taints are not put back once a user took them off
      Given a machine "worker-1"
      And whose kubelet runs with:
        | flag                 | value                      |
        | register-with-taints | dedicated=infra:NoSchedule |
      And Node "worker-1" has condition Ready=True
      And the user removes taint "dedicated=infra:NoSchedule" from Node "worker-1"
      When the kubelet on "worker-1" restarts
      Then Node "worker-1" never has taint "dedicated=infra:NoSchedule" for 10m
      And Event NodeAllocatableEnforced about Node "worker-1" within 5s
      And Node "worker-1" keeps condition Ready=True for 10m

    Scenario: A kubelet that starts again with other taints changes none
      Given a machine "worker-1"
      And whose kubelet runs with:
        | flag                 | value                      |
        | register-with-taints | dedicated=infra:NoSchedule |
      And Node "worker-1" has condition Ready=True
      When the kubelet on "worker-1" restarts with:
        | flag                 | value                     |
        | register-with-taints | dedicated=batch:NoExecute |
      Then Node "worker-1" keeps taint "dedicated=infra:NoSchedule" for 10m
      And Event NodeAllocatableEnforced about Node "worker-1" within 5s
      And Node "worker-1" never has taint "dedicated=batch:NoExecute" for 10m

    Scenario: A Node that an administrator has made gets none
      Given the object:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-1
        """
      When a kubelet named "worker-1" registers with:
        | flag                 | value                      |
        | register-with-taints | dedicated=infra:NoSchedule |
      Then Node "worker-1" never has taint "dedicated=infra:NoSchedule" for 10m
      And Node "worker-1" has condition Ready=True within 15s

    Scenario: A Node that is deleted and registers anew has the new taints
      Given a machine "worker-1"
      And whose kubelet runs with:
        | flag                 | value                      |
        | register-with-taints | dedicated=infra:NoSchedule |
      And Node "worker-1" has condition Ready=True
      And the user deletes Node "worker-1"
      And Node "worker-1" is gone
      When the kubelet on "worker-1" restarts with:
        | flag                 | value                     |
        | register-with-taints | dedicated=batch:NoExecute |
      Then Node "worker-1" exists within 1s
      And Node "worker-1" keeps taint "dedicated=batch:NoExecute" for 10m
      And Node "worker-1" never has taint "dedicated:NoSchedule" for 10m

  @req:REG-05
  Rule: Wrong taints are refused in the kubelet's words, and nothing registers

    Scenario Outline: A flag that is wrong: <taints>
      When a kubelet named "worker-1" registers with:
        | flag                 | value    |
        | register-with-taints | <taints> |
      Then the kubelet refuses to start with "failed to parse kubelet flag: invalid argument "<taints>" for "--register-with-taints" flag: <why>"
      And Node "worker-1" never appears for 10m

      Examples:
        | taints                      | why                                                                       |
        | dedicated                   | invalid taint spec: dedicated                                             |
        | dedicated=infra             | invalid taint spec: dedicated=infra, name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') |
        | :NoSchedule                 | invalid taint spec: :NoSchedule, name part must be non-empty; name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') |
        | dedicated=infra:Never       | invalid taint effect: Never, unsupported taint effect                     |
        | dedicated=infra:            | invalid taint effect: , unsupported taint effect                          |
        | a:b:NoSchedule              | invalid taint spec: a:b:NoSchedule                                        |
        | a=b=c:NoSchedule            | invalid taint spec: a=b=c:NoSchedule                                      |
        | a=b:NoSchedule,a:NoSchedule | duplicated taints with the same key and effect: {a  NoSchedule <nil>} |

    Scenario Outline: A configuration that is wrong: <taint>
      When a kubelet named "worker-1" registers with:
        | field              | value     |
        | registerWithTaints | [<taint>] |
      Then the kubelet refuses to start with "failed to validate kubelet configuration, error: invalid taint: <shown>, path: &TypeMeta{Kind:,APIVersion:,}"
      And Node "worker-1" never appears for 10m

      Examples:
        | taint                                           | shown                    |
        | {"key":"a","value":"b","effect":"Never"}        | {a b Never <nil>}        |
        | {"key":"a b","effect":"NoSchedule"}             | {a b  NoSchedule <nil>}  |
        | {"key":"a","value":"x/y","effect":"NoSchedule"} | {a x/y NoSchedule <nil>} |

    Scenario: The kubelet accepts what the API server refuses: two taints of one key and effect
      When a kubelet named "worker-1" registers with:
        | field              | value                                                                              |
        | registerWithTaints | [{"key":"a","effect":"NoSchedule"},{"key":"a","value":"x","effect":"NoSchedule"}] |
      Then Node "worker-1" never appears for 10m
      And Event Starting about Node "worker-1" within 5s
      And the Lease of Node "worker-1" never appears for 10m

  @req:REG-12
  Rule: Labels are set when the Node registers; a restart under the same name does not change them

    Scenario: The kubelet restarts with other labels
      One is changed, one is left out and one is new.

      Given a machine "worker-1"
      And whose kubelet runs with:
        | flag        | value                                    |
        | node-labels | example.com/disk=hdd,example.com/rack=r7 |
      And Node "worker-1" field spec.taints is absent
      When the kubelet on "worker-1" restarts with:
        | flag        | value                                     |
        | node-labels | example.com/disk=ssd,example.com/new=true |
      Then Node "worker-1" keeps label "example.com/disk=hdd" for 10m
      And Event NodeAllocatableEnforced about Node "worker-1" within 5s
      And Node "worker-1" keeps label "example.com/rack=r7" for 10m
      And Node "worker-1" never has label "example.com/new" for 10m
      And Node "worker-1" keeps field metadata.labels unchanged for 10m
      And Node "worker-1" keeps field metadata.uid unchanged for 10m
      And nothing else about Node "worker-1" changes

    Scenario: The first object has the labels
      When a kubelet named "worker-1" registers with:
        | flag        | value                                     |
        | node-labels | example.com/disk=ssd,example.com/spot |
      Then Node "worker-1" exists within 1s
      And Node "worker-1" keeps label "example.com/disk=ssd" for 10m
      And Node "worker-1" keeps label "example.com/spot" for 10m
      And Node "worker-1" keeps label "kubernetes.io/hostname=worker-1" for 10m

    Scenario: A label that a user has changed or taken off stays so
      Given a machine "worker-1"
      And whose kubelet runs with:
        | flag        | value                                    |
        | node-labels | example.com/disk=hdd,example.com/rack=r7 |
      And Node "worker-1" has condition Ready=True
      And the user labels Node "worker-1" with "example.com/disk=nvme"
      And the user removes label "example.com/rack" from Node "worker-1"
      When the kubelet on "worker-1" restarts
      Then Node "worker-1" keeps label "example.com/disk=nvme" for 10m
      And Event NodeAllocatableEnforced about Node "worker-1" within 5s
      And Node "worker-1" never has label "example.com/rack" for 10m

    Scenario: The Node is deleted and registers anew
      Given a machine "worker-1"
      And whose kubelet runs with:
        | flag        | value                                    |
        | node-labels | example.com/disk=hdd,example.com/rack=r7 |
      And Node "worker-1" has condition Ready=True
      And the user deletes Node "worker-1"
      And Node "worker-1" is gone
      When the kubelet on "worker-1" restarts with:
        | flag        | value                |
        | node-labels | example.com/disk=ssd |
      Then Node "worker-1" exists within 1s
      And Node "worker-1" keeps label "example.com/disk=ssd" for 10m
      And Node "worker-1" never has label "example.com/rack" for 10m
      And Node "worker-1" has condition Ready=True within 15s

  @req:REG-12
  Rule: Well-known labels alone are put right when a kubelet takes over the Node of its name

    Scenario Outline: The kubelet restarts with <label>
      Given a machine "worker-1"
      And whose kubelet runs with:
        | flag        | value       |
        | node-labels | <label>=one |
      And Node "worker-1" field spec.taints is absent
      When the kubelet on "worker-1" restarts with:
        | flag        | value       |
        | node-labels | <label>=two |
      Then Node "worker-1" has label "<label>=two" within 1s
      And Node "worker-1" keeps field metadata.uid unchanged for 10m
      And nothing else about Node "worker-1" changes

      Examples:
        | label                            |
        | topology.kubernetes.io/zone      |
        | topology.kubernetes.io/region    |
        | node.kubernetes.io/instance-type |

    Scenario: A well-known label that is left out stays
      Given a machine "worker-1"
      And whose kubelet runs with:
        | flag        | value                                |
        | node-labels | node.kubernetes.io/instance-type=one |
      And Node "worker-1" field spec.taints is absent
      When the kubelet on "worker-1" restarts with:
        | flag        | value              |
        | node-labels | example.com/new=a  |
      Then Node "worker-1" keeps label "node.kubernetes.io/instance-type=one" for 10m
      And Event NodeAllocatableEnforced about Node "worker-1" within 5s
      And Node "worker-1" never has label "example.com/new" for 10m

    Scenario: The host's name comes back with a restart, and not before
      Given a ready Node "worker-1"
      And the user removes label "kubernetes.io/hostname" from Node "worker-1"
      When 10m pass
      Then Node "worker-1" never has label "kubernetes.io/hostname" for 10m
      When the kubelet on "worker-1" restarts
      Then Node "worker-1" has label "kubernetes.io/hostname=worker-1" within 1s
