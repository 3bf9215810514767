@core @req:MAN-04
Feature: An administrator may change a Node
  Source: pkg/kubelet/kubelet_node_status.go (v1.34), patchNodeStatus; pkg/registry/core/node/strategy.go (v1.34)

  Rule: Labels and unschedulable persist through the status updates of the kubelet, whatever --register-node says

    Scenario Outline: Labels and cordon, with register-node=<register>
      Given the object:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: worker-1
        """
      And a machine "worker-1"
      And whose kubelet runs with:
        | name                      | value      |
        | register-node             | <register> |
        | nodeStatusUpdateFrequency | 10s        |
      And Node "worker-1" has condition Ready=True
      And 1m passes
      When the user labels Node "worker-1" with "example.com/rack=r7"
      And the user cordons Node "worker-1"
      Then Node "worker-1" has taint "node.kubernetes.io/unschedulable:NoSchedule" within 1s
      And Node "worker-1" keeps label "example.com/rack=r7" for 20m
      And Node "worker-1" keeps field spec.unschedulable at true for 20m
      And the status of Node "worker-1" is written every 10s to 10.5s for 20m
      And Event NodeNotSchedulable about Node "worker-1", message "Node worker-1 status is now: NodeNotSchedulable", within 11s
      And Node "worker-1" keeps condition Ready unchanged for 20m
      And nothing else about Node "worker-1" changes

      Examples:
        | register |
        | true     |
        | false    |

    Scenario Outline: They persist through a restart of the kubelet, with register-node=<register>
      Given a ready Node "worker-1"
      And the user labels Node "worker-1" with "example.com/rack=r7"
      And the user cordons Node "worker-1"
      And Node "worker-1" has taint "node.kubernetes.io/unschedulable:NoSchedule"
      When the kubelet on "worker-1" restarts with:
        | flag          | value      |
        | register-node | <register> |
      Then Event Starting about Node "worker-1" within 30s
      And Node "worker-1" keeps label "example.com/rack=r7" for 20m
      And Node "worker-1" keeps field spec.unschedulable at true for 20m
      And Node "worker-1" keeps taint "node.kubernetes.io/unschedulable:NoSchedule" for 20m
      And Node "worker-1" keeps condition Ready=True for 20m

      Examples:
        | register |
        | true     |
        | false    |

    Scenario: They persist through a change of the status
      Given a ready Node "worker-1"
      And the user labels Node "worker-1" with "example.com/rack=r7"
      And the user taints Node "worker-1" with "dedicated=infra:NoSchedule"
      When the container network on "worker-1" is removed
      Then Node "worker-1" has condition Ready=False within 16s
      And Node "worker-1" keeps label "example.com/rack=r7" for 10m
      And Node "worker-1" keeps taint "dedicated=infra:NoSchedule" for 10m

    Scenario: Uncordoning takes the taint off
      Given a ready Node "worker-1"
      And the user cordons Node "worker-1"
      And Node "worker-1" has taint "node.kubernetes.io/unschedulable:NoSchedule"
      When the user uncordons Node "worker-1"
      Then Node "worker-1" has no taint "node.kubernetes.io/unschedulable:NoSchedule" within 1s
      And Node "worker-1" field spec.unschedulable is absent within 1s
      And Node "worker-1" keeps condition Ready unchanged for 10m
      And nothing else about Node "worker-1" changes

    Scenario: A taint of cordoned nodes that somebody sets by hand does not stay
      Given a ready Node "worker-1"
      When the user taints Node "worker-1" with "node.kubernetes.io/unschedulable:NoSchedule"
      Then Node "worker-1" has no taint "node.kubernetes.io/unschedulable:NoSchedule" after Node "worker-1" has taint "node.kubernetes.io/unschedulable:NoSchedule", within 1s
      And Node "worker-1" keeps field spec.unschedulable absent for 1m

    Scenario: A label that is taken off stays off
      Given a machine "worker-1"
      And whose kubelet runs with:
        | node-labels | example.com/disk=ssd |
      And Node "worker-1" has condition Ready=True
      When the user removes label "example.com/disk" from Node "worker-1"
      Then Node "worker-1" has no label "example.com/disk" at once
      And Node "worker-1" never has label "example.com/disk" for 20m

    Scenario: What the user does is in the history, and nothing takes it back
      Given a ready Node "worker-1"
      When the user labels Node "worker-1" with "example.com/rack=r7"
      And the user cordons Node "worker-1"
      And 20m pass
      And the user uncordons Node "worker-1"
      Then Node "worker-1" has no taint "node.kubernetes.io/unschedulable:NoSchedule" within 1s
      And the history of Node "worker-1" matches its snapshot

  Rule: What the kubelet and the controllers answer for is put right

    Scenario Outline: The label <label> comes back
      Given a ready Node "worker-1"
      When the user removes label "<label>" from Node "worker-1"
      Then Node "worker-1" has label "<label>=<value>" after Node "worker-1" has no label "<label>", within <bound>

      Examples:
        | label                   | value | bound |
        | kubernetes.io/os        | linux | 11s   |
        | kubernetes.io/arch      | amd64 | 11s   |
        | beta.kubernetes.io/os   | linux | 1s    |
        | beta.kubernetes.io/arch | amd64 | 1s    |

    Scenario: A status that is sent with the Node itself is ignored
      Given a ready Node "worker-1"
      When the user sends PATCH /api/v1/nodes/worker-1:
        """
        metadata: {labels: {example.com/rack: r7}}
        status: {capacity: {cpu: "1000"}, phase: Running}
        """
      Then the request is answered with 200
      And Node "worker-1" keeps label "example.com/rack=r7" for 10m
      And nothing else about Node "worker-1" changes

    Scenario: A specification that is sent with the status is ignored
      Given a ready Node "worker-1"
      When the user sends PATCH /api/v1/nodes/worker-1/status:
        """
        metadata: {labels: {example.com/rack: r7}}
        spec: {unschedulable: true}
        """
      Then the request is answered with 200
      And Node "worker-1" keeps label "example.com/rack=r7" for 10m
      And Node "worker-1" keeps field spec.unschedulable absent for 10m
      And nothing else about Node "worker-1" changes

    Scenario: A change that was made to an older version of the Node is refused
      Given a ready Node "worker-1"
      When the user sends PATCH /api/v1/nodes/worker-1:
        """
        metadata: {resourceVersion: "1", labels: {example.com/rack: r7}}
        """
      Then the request is refused with 409 "Operation cannot be fulfilled on nodes "worker-1": the object has been modified; please apply your changes to the latest version and try again"
      And nothing else about Node "worker-1" changes

    Scenario: Capacity that a user writes into the status is written over by the kubelet
      Given a ready Node "worker-1"
      When the user sends PATCH /api/v1/nodes/worker-1/status:
        """
        status: {capacity: {cpu: "64", example.com/fpga: "2"}}
        """
      Then Node "worker-1" field status.capacity.cpu is "64" at once
      And Node "worker-1" field status.capacity.cpu is "4" within 11s
      And Node "worker-1" keeps condition Ready=True for 1m

  Rule: What the API does not allow is refused, and nothing changes

    Scenario Outline: <what>
      Given a ready Node "worker-1"
      When the user sends PATCH /api/v1/nodes/worker-1:
        """
        <body>
        """
      Then the request is refused with 422 "<why>"
      And Node "worker-1" keeps field spec unchanged for 1m
      And nothing else about Node "worker-1" changes

      Examples:
        | what                        | body | why |
        | A label that is none        | {"metadata": {"labels": {"example.com/rack": "no slash/here"}}} | metadata.labels: Invalid value: "no slash/here": a valid label must be an empty string or consist of alphanumeric characters |
        | A taint without an effect   | {"spec": {"taints": [{"key": "a"}]}} | metadata.taints[0].effect: Required value |
        | A taint with a wrong effect | {"spec": {"taints": [{"key": "a", "effect": "Never"}]}} | metadata.taints[0].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute" |
        | A taint without a key       | {"spec": {"taints": [{"effect": "NoSchedule"}]}} | metadata.taints[0].key: Invalid value: "": name part must be non-empty |

  Rule: What a user applies is merged with what the kubelet has written

    Scenario: Labels are applied, and taken away again
      Given a ready Node "worker-1"
      When the user applies:
        """
        apiVersion: v1
        kind: Node
        metadata: {name: worker-1, labels: {example.com/rack: r7, kubernetes.io/os: plan9}}
        """
      Then Node "worker-1" has label "example.com/rack=r7" within 1s
      And Node "worker-1" has label "kubernetes.io/os=plan9" within 1s
      And Node "worker-1" keeps label "kubernetes.io/hostname=worker-1" for 20s
      And Node "worker-1" has label "kubernetes.io/os=linux" between 0s and 11s after Node "worker-1" has label "kubernetes.io/os=plan9"
      When the user applies:
        """
        apiVersion: v1
        kind: Node
        metadata: {name: worker-1}
        """
      Then Node "worker-1" has no label "example.com/rack" within 1s
      And Node "worker-1" keeps label "kubernetes.io/hostname=worker-1" for 20s
