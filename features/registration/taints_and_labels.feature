@core
Feature: What a kubelet gives its Node when it registers
  Source: pkg/kubelet/kubelet_node_status.go (v1.34), initialNode, tryRegisterWithAPIServer

  @req:REG-05
  Rule: --register-with-taints is there from the first object on

    Scenario: Two taints
      When a kubelet named "worker-1" registers with:
        | flag                 | value                                                       |
        | register-with-taints | dedicated=infra:NoSchedule,example.com/boot=true:NoExecute  |
      Then Node "worker-1" has taint "dedicated=infra:NoSchedule" within 1s
      And Node "worker-1" has taint "example.com/boot=true:NoExecute" within 1s
      And Node "worker-1" has condition Ready=True within 15s
      And the history of Node "worker-1" matches its snapshot

    Scenario: The taints are not put back once a user took them off
      Given a machine "worker-1"
      And whose kubelet runs with:
        | flag                 | value                      |
        | register-with-taints | dedicated=infra:NoSchedule |
      And Node "worker-1" has condition Ready=True
      And the user removes taint "dedicated=infra:NoSchedule" from Node "worker-1"
      When the kubelet on "worker-1" restarts
      Then Node "worker-1" never has taint "dedicated=infra:NoSchedule" for 10m

    Scenario: A taint without effect is refused
      When a kubelet named "worker-1" registers with:
        | flag                 | value           |
        | register-with-taints | dedicated=infra |
      Then the kubelet refuses to start with "invalid taint spec"

  @req:REG-12
  Rule: Labels are set when the Node registers; a restart under the same name does not change them

    Scenario: The kubelet restarts with other labels
      Given a machine "worker-1"
      And whose kubelet runs with:
        | flag        | value               |
        | node-labels | example.com/disk=hdd |
      And Node "worker-1" has condition Ready=True
      When the kubelet on "worker-1" restarts with:
        | flag        | value                                     |
        | node-labels | example.com/disk=ssd,example.com/new=true |
      Then Node "worker-1" keeps label "example.com/disk=hdd" for 10m
      And Node "worker-1" never has label "example.com/new" for 10m

    Scenario: The Node is deleted and registers anew
      Given a machine "worker-1"
      And whose kubelet runs with:
        | flag        | value                |
        | node-labels | example.com/disk=hdd |
      And Node "worker-1" has condition Ready=True
      And the user deletes Node "worker-1"
      When the kubelet on "worker-1" restarts with:
        | flag        | value                |
        | node-labels | example.com/disk=ssd |
      Then Node "worker-1" has label "example.com/disk=ssd" within 1s
