@core @req:TOP-01
Feature: What becomes of the devices of a plugin that is gone, and of those that are healthy no more
  Source: pkg/kubelet/cm/devicemanager/manager.go (v1.34), GetCapacity and devicesToAllocate; pkg/kubelet/nodestatus/setters.go (v1.34), MachineInfo

  Rule: The devices of a plugin that is gone count for 5 minutes, but nobody gets one

    Scenario: The Node shows it
      Given a machine "worker-1" with:
        | devicePlugins | [{"resource":"example.com/gpu","devices":[{"id":"a"},{"id":"b"}]},{"resource":"example.com/nic","devices":[{"id":"n"}]}] |
      And Node "worker-1" has condition Ready=True
      When machine "worker-1" does change with:
        | devicePlugins | [{"resource":"example.com/nic","devices":[{"id":"n"}]}] |
      Then Node "worker-1" field status.allocatable["example.com/gpu"] is "0" within 11s
      And Node "worker-1" keeps field status.capacity["example.com/gpu"] at "2" for 5m
      And Node "worker-1" field status.capacity["example.com/gpu"] is "0" between 5m and 5m11s
      But Node "worker-1" keeps field status.capacity["example.com/nic"] at "1" for 10m
      And Node "worker-1" keeps field status.allocatable["example.com/nic"] at "1" for 10m

    Scenario: A kubelet that has started since knows none of them
      Given a machine "worker-1" with:
        | devicePlugins | [{"resource":"example.com/gpu","devices":[{"id":"a"}]}] |
      And Node "worker-1" has condition Ready=True
      And machine "worker-1" does change with:
        | devicePlugins | [] |
      And 20s pass
      When the kubelet on "worker-1" restarts
      Then Node "worker-1" field status.capacity["example.com/gpu"] is "0" within 11s
      And Node "worker-1" keeps field status.allocatable["example.com/gpu"] at "0" for 10m

    Scenario Outline: A Pod that asks for one <when> is refused
      Given a machine "worker-1" with:
        | devicePlugins | [{"resource":"example.com/gpu","devices":[{"id":"a"}]}] |
      And Node "worker-1" has condition Ready=True
      And machine "worker-1" does change with:
        | devicePlugins | [] |
      And <pause> pass
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: one}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause, resources: {limits: {example.com/gpu: 1}}}]
        """
      Then Pod "one" field status.reason is "<reason>" within 1s
      And Pod "one" field status.message is "Pod was rejected: <message>" within 1s

      Examples:
        | when       | pause | reason                   | message |
        | at once    | 20s   | UnexpectedAdmissionError | Allocate failed due to no healthy devices present; cannot allocate unhealthy devices example.com/gpu, which is unexpected |
        | afterwards | 6m    | OutOfexample.com/gpu     | Node didn't have enough resource: example.com/gpu, requested: 1, used: 0, capacity: 0 |

    Scenario: A plugin that comes back has all of its devices
      Given a machine "worker-1" with:
        | devicePlugins | [{"resource":"example.com/gpu","devices":[{"id":"a"}]}] |
      And Node "worker-1" has condition Ready=True
      And machine "worker-1" does change with:
        | devicePlugins | [] |
      And 1m passes
      When machine "worker-1" does change with:
        | devicePlugins | [{"resource":"example.com/gpu","devices":[{"id":"a"}]}] |
      Then Node "worker-1" field status.allocatable["example.com/gpu"] is "1" within 11s
      And Node "worker-1" keeps field status.capacity["example.com/gpu"] at "1" for 10m

  Rule: After a reboot a Pod does not get a device that is lost

    Background:
      Given a machine "worker-1" with:
        | devicePlugins | [{"resource":"example.com/gpu","devices":[{"id":"a"},{"id":"b"}]}] |
      And Node "worker-1" has condition Ready=True
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: one}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause, resources: {limits: {example.com/gpu: 1}}}]
        """
      And Pod "one" field status.phase is "Running"

    Scenario Outline: <what>
      Given machine "worker-1" does change with:
        | devicePlugins | <plugins> |
      When machine "worker-1" reboots
      Then Pod "one" field status.reason is "UnexpectedAdmissionError" within 60s
      And Pod "one" field status.message is "Pod was rejected: Allocate failed due to <message>, which is unexpected" within 60s

      Examples:
        | what                                | plugins                                                                            | message                                                                                                    |
        | Its own device is healthy no more   | [{"resource":"example.com/gpu","devices":[{"id":"a","healthy":false},{"id":"b"}]}] | previously allocated devices are no longer healthy; cannot allocate unhealthy devices example.com/gpu     |
        | No device is healthy                | [{"resource":"example.com/gpu","devices":[{"id":"a","healthy":false}]}]            | no healthy devices present; cannot allocate unhealthy devices example.com/gpu                              |
        | The plugin is gone                  | []                                                                                 | no healthy devices present; cannot allocate unhealthy devices example.com/gpu                              |

    Scenario: A container that runs on while the kubelet restarts keeps it
      Given machine "worker-1" does change with:
        | devicePlugins | [{"resource":"example.com/gpu","devices":[{"id":"a","healthy":false}]}] |
      When the kubelet on "worker-1" restarts
      Then Event Starting about Node "worker-1" within 2s
      And Pod "one" keeps field status.phase at "Running" for 2m
      And Pod "one" keeps field status.containerStatuses[0].restartCount at 0 for 2m

  @since:1.36
  Rule: The status of a container tells of the health of its devices
    Source: pkg/kubelet/cm/devicemanager/manager.go (v1.36, v1.37), UpdateAllocatedResourcesStatus

    Scenario: A device becomes unhealthy, and healthy again
      Given a machine "worker-1" with:
        | devicePlugins | [{"resource":"example.com/gpu","devices":[{"id":"a"}]}] |
      And Node "worker-1" has condition Ready=True
      And the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: one}
        spec:
          nodeName: worker-1
          containers:
          - {name: main, image: pause, resources: {limits: {example.com/gpu: 1}}}
          - {name: other, image: pause}
        """
      And Pod "one" has condition Ready=True
      When nothing is done
      Then Pod "one" keeps field status.containerStatuses[main].allocatedResourcesStatus [{"name":"example.com/gpu","resources":[{"health":"Healthy","resourceID":"a"}]}] for 1m
      And Pod "one" keeps field status.containerStatuses[other].allocatedResourcesStatus absent for 1m
      When machine "worker-1" does change with:
        | devicePlugins | [{"resource":"example.com/gpu","devices":[{"id":"a","healthy":false}]}] |
      Then Pod "one" field status.containerStatuses[main].allocatedResourcesStatus is [{"name":"example.com/gpu","resources":[{"health":"Unhealthy","resourceID":"a"}]}] within 1s
      And Pod "one" keeps field status.phase "Running" for 1m
      When machine "worker-1" does change with:
        | devicePlugins | [{"resource":"example.com/gpu","devices":[{"id":"a"}]}] |
      Then Pod "one" field status.containerStatuses[main].allocatedResourcesStatus is [{"name":"example.com/gpu","resources":[{"health":"Healthy","resourceID":"a"}]}] within 1s

    Scenario: An image that cannot be pulled changes nothing about that
      Given a machine "worker-1" with:
        | devicePlugins | [{"resource":"example.com/gpu","devices":[{"id":"a"}]}] |
        | failing       | ["image-pull"]                                          |
      And Node "worker-1" has condition Ready=True
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: one}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: "example.com/missing:1", resources: {limits: {example.com/gpu: 1}}}]
        """
      Then Pod "one" field status.containerStatuses[main].allocatedResourcesStatus is [{"name":"example.com/gpu","resources":[{"health":"Healthy","resourceID":"a"}]}] within 5s
      And Pod "one" keeps field status.phase "Pending" for 1m
