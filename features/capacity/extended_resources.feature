@core
Feature: Extended resources are counted by whole units
  Source: pkg/kubelet/nodestatus/setters.go (v1.34), MachineInfo; pkg/kubelet/kubelet_node_status.go (v1.34), reconcileExtendedResource
  Source: pkg/scheduler/framework/plugins/noderesources/fit.go (v1.34), fitsRequest
  Source: pkg/apis/core/validation/validation.go (v1.34), ValidateResourceQuantityValue, ValidateContainerResourceRequirements

  @req:CAP-05
  Rule: A pod that asks for one runs where the node has one that is free

    Scenario: One node has them
      Given a ready Node "worker-1"
      And a machine "worker-2" with:
        | nvidia.com/gpu | 2 |
      And Node "worker-2" has condition Ready=True
      And Node "worker-2" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: training
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {limits: {nvidia.com/gpu: 1}}}
        """
      Then Pod "training" field spec.containers[main].resources.requests["nvidia.com/gpu"] is "1" at once
      And Pod "training" field spec.nodeName is "worker-2" within 1s
      And Pod "training" field status.phase is "Running" within 10s
      And Node "worker-2" keeps field status.capacity["nvidia.com/gpu"] at "2" for 1m
      And Node "worker-2" keeps field status.allocatable["nvidia.com/gpu"] at "2" for 1m
      But Node "worker-1" keeps field status.capacity["nvidia.com/gpu"] absent for 1m

    Scenario Outline: All of them are taken
      Given no other Node
      And a machine "worker-1" with:
        | nvidia.com/gpu | 2 |
      And Node "worker-1" has condition Ready=True
      And Node "worker-1" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: first
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {limits: {nvidia.com/gpu: 2}}}
        """
      And Pod "first" field status.phase is "Running"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: second
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {limits: {nvidia.com/gpu: 1}}}
        """
      Then Pod "second" has condition PodScheduled=False, reason "Unschedulable", message "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. <preemption>" within 1s
      And Event FailedScheduling about Pod "second", message "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. <preemption>" within 1s
      And Pod "second" keeps field spec.nodeName absent for 1m
      When the user deletes Pod "first"
      Then Pod "first" is gone within 40s
      And Pod "second" field spec.nodeName is "worker-1" within 60s

      @since:1.34 @until:1.36
      Examples: 1.34 to 1.36
        | preemption                                                                                                        |
        | no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod. |

      @since:1.37
      Examples: since 1.37
        | preemption                                                                                                        |
        | preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod. |

      @until:1.33
      Examples: up to 1.33
        | preemption |
        | preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod. |

    Scenario Outline: No node has any
      Given no other Node
      And ready Nodes "worker-1" and "worker-2"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: training
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {limits: {nvidia.com/gpu: 1}}}
        """
      Then Pod "training" has condition PodScheduled=False, reason "Unschedulable", message "0/2 nodes are available: 2 Insufficient nvidia.com/gpu. <preemption>" within 1s
      And Pod "training" keeps field spec.nodeName absent for 1m

      @since:1.34 @until:1.36
      Examples: 1.34 to 1.36
        | preemption                                                                                                        |
        | no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling. |

      @since:1.37
      Examples: since 1.37
        | preemption                                                                                                        |
        | preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling. |

      @until:1.33
      Examples: up to 1.33
        | preemption |
        | preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod. |

  @req:CAP-05
  Rule: Together with a nodeSelector both have to fit

    Scenario Outline: One node has the label and another the resource
      Given no other Node
      And a machine "plain" with:
        | cpu | 4 |
      And a machine "a100" with:
        | nvidia.com/gpu | 1 |
      And Node "plain" has condition Ready=True
      And Node "a100" has condition Ready=True
      And the user labels Node "plain" with "accelerator=h100"
      And the user labels Node "a100" with "accelerator=a100"
      And Node "plain" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      And Node "a100" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      And 10s pass
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: training
        spec:
          nodeSelector: {accelerator: h100}
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {limits: {nvidia.com/gpu: 1}}}
        """
      Then Pod "training" has condition PodScheduled=False, reason "Unschedulable", message "0/2 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) didn't match Pod's node affinity/selector. <preemption>" within 1s
      And Pod "training" keeps field spec.nodeName absent for 1m
      When the user labels Node "a100" with "accelerator=h100"
      Then Pod "training" field spec.nodeName is "a100" within 15s
      And Pod "training" field status.phase is "Running" within 30s

      @since:1.34 @until:1.36
      Examples: 1.34 to 1.36
        | preemption                                                                                                        |
        | no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling. |

      @since:1.37
      Examples: since 1.37
        | preemption                                                                                                        |
        | preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling. |

      @until:1.33
      Examples: up to 1.33
        | preemption |
        | preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling. |

  @req:CAP-05
  Rule: Only whole units are taken, and no more or fewer than the limit

    Scenario Outline: <what>
      Given a ready Node "worker-1"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: training
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: <resources>}
        """
      Then the request is refused with 422, <message>
      And Pod "training" never appears for 10s

      Examples:
        | what                      | resources                                                    | message |
        | a request without a limit | {requests: {nvidia.com/gpu: 1}}                              | Pod "training" is invalid: spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources |
        | a request below the limit | {limits: {nvidia.com/gpu: 2}, requests: {nvidia.com/gpu: 1}} | Pod "training" is invalid: spec.containers[0].resources.requests: Invalid value: "1": must be equal to nvidia.com/gpu limit of 2 |
        | fewer than none           | {limits: {nvidia.com/gpu: -1}}                               | spec.containers[0].resources.limits[nvidia.com/gpu]: Invalid value: "-1": must be greater than or equal to 0 |

      @since:1.34
      Examples: values are printed as JSON
        | what                    | resources                        | message |
        | half a unit             | {limits: {nvidia.com/gpu: 500m}} | Pod "training" is invalid: [spec.containers[0].resources.limits[nvidia.com/gpu]: Invalid value: "500m": must be an integer, spec.containers[0].resources.requests[nvidia.com/gpu]: Invalid value: "500m": must be an integer] |
        | a name without a domain | {limits: {gpu: 1}}               | spec.containers[0].resources.limits[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified, spec.containers[0].resources.limits[gpu]: Invalid value: "gpu": must be a standard resource for containers |

      @until:1.33
      Examples: values are printed in the syntax of Go
        | what                    | resources                        | message |
        | half a unit             | {limits: {nvidia.com/gpu: 500m}} | Pod "training" is invalid: [spec.containers[0].resources.limits[nvidia.com/gpu]: Invalid value: resource.Quantity{i:resource.int64Amount{value:500, scale:-3}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"500m", Format:"DecimalSI"}: must be an integer, spec.containers[0].resources.requests[nvidia.com/gpu]: Invalid value: resource.Quantity{i:resource.int64Amount{value:500, scale:-3}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"500m", Format:"DecimalSI"}: must be an integer] |
        | a name without a domain | {limits: {gpu: 1}}               | spec.containers[0].resources.limits[gpu]: Invalid value: gpu: must be a standard resource type or fully qualified, spec.containers[0].resources.limits[gpu]: Invalid value: gpu: must be a standard resource for containers |

    Scenario: A thousand milliunits are one
      Given a ready Node "worker-1"
      And a machine "worker-2" with:
        | nvidia.com/gpu | 1 |
      And Node "worker-2" has condition Ready=True
      And Node "worker-2" has no taint "node.kubernetes.io/not-ready:NoSchedule"
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: training
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {limits: {nvidia.com/gpu: 1000m}}}
        """
      Then Pod "training" field spec.nodeName is "worker-2" within 1s

    Scenario: A Node cannot have half a unit either
      Given a ready Node "worker-1"
      When the user sends PATCH /api/v1/nodes/worker-1/status:
        """
        {"status": {"capacity": {"example.com/dongle": "500m"}}}
        """
      Then the request is refused with 422, must be an integer
      And Node "worker-1" keeps field status.capacity["example.com/dongle"] absent for 1m

  @req:CAP-05
  Rule: Who has no plugin announces them by hand, and the kubelet keeps them

    Scenario: Four are announced on a running node
      As the documentation's task tells it: a patch of the capacity alone, and the kubelet does the rest.

      Given a ready Node "worker-1"
      And 1m passes
      When the user sends PATCH /api/v1/nodes/worker-1/status:
        """
        [{"op": "add", "path": "/status/capacity/example.com~1dongle", "value": "4"}]
        """
      Then Node "worker-1" field status.capacity["example.com/dongle"] is "4" at once
      And Node "worker-1" field status.allocatable["example.com/dongle"] is "4" within 11s
      And Node "worker-1" keeps field status.capacity["example.com/dongle"] at "4" for 1m
      And Node "worker-1" keeps condition Ready=True for 1m
      And the history of Node "worker-1" matches its snapshot

    Scenario: A pod waits for them to be announced
      Given no other Node
      And a ready Node "worker-1"
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {limits: {example.com/dongle: 3}}}
        """
      And Pod "web" has condition PodScheduled=False
      And 2m pass
      When the user sends PATCH /api/v1/nodes/worker-1/status:
        """
        [{"op": "add", "path": "/status/capacity/example.com~1dongle", "value": "4"}]
        """
      Then Pod "web" field spec.nodeName is "worker-1" after Node "worker-1" field status.allocatable["example.com/dongle"] is "4"
      And Pod "web" field spec.nodeName is "worker-1" within 30s
      And Pod "web" field status.phase is "Running" within 40s

    Scenario: A kubelet that starts again keeps them
      Given a ready Node "worker-1"
      And the user sends PATCH /api/v1/nodes/worker-1/status:
        """
        [{"op": "add", "path": "/status/capacity/example.com~1dongle", "value": "4"}]
        """
      And Node "worker-1" field status.allocatable["example.com/dongle"] is "4"
      When the kubelet on "worker-1" restarts
      Then Event Starting about Node "worker-1" within 1s
      And Node "worker-1" keeps field status.capacity["example.com/dongle"] at "4" for 1m
      And Node "worker-1" keeps field status.allocatable["example.com/dongle"] at "4" for 1m

    Scenario: They are taken off again
      Given a ready Node "worker-1"
      And the user sends PATCH /api/v1/nodes/worker-1/status:
        """
        [{"op": "add", "path": "/status/capacity/example.com~1dongle", "value": "4"}]
        """
      And Node "worker-1" field status.allocatable["example.com/dongle"] is "4"
      And 1m passes
      When the user sends PATCH /api/v1/nodes/worker-1/status:
        """
        [{"op": "remove", "path": "/status/capacity/example.com~1dongle"}]
        """
      Then Node "worker-1" field status.capacity["example.com/dongle"] is absent at once
      And Node "worker-1" field status.allocatable["example.com/dongle"] is absent within 11s

    Scenario: What is allocatable but not there goes
      Given a ready Node "worker-1"
      And 1m passes
      When the user sends PATCH /api/v1/nodes/worker-1/status:
        """
        {"status": {"allocatable": {"example.com/dongle": "3"}}}
        """
      Then Node "worker-1" field status.allocatable["example.com/dongle"] is "3" at once
      And Node "worker-1" field status.allocatable["example.com/dongle"] is absent within 11s
      And Node "worker-1" keeps field status.capacity["example.com/dongle"] absent for 1m

  @req:CAP-05
  Rule: A node that was set up anew has to have them announced anew
    Source: pkg/kubelet/cm/devicemanager/manager.go (v1.34), ShouldResetExtendedResourceCapacity: nothing is in the
    folder of device plugins, not even the kubelet's own socket, which comes with the container runtime

    Scenario: Another machine under the old name, whose runtime does not answer yet
      Given a ready Node "worker-1"
      And the user sends PATCH /api/v1/nodes/worker-1/status:
        """
        [{"op": "add", "path": "/status/capacity/example.com~1dongle", "value": "4"}]
        """
      And Node "worker-1" field status.allocatable["example.com/dongle"] is "4"
      And machine "worker-1" loses power
      And a machine "new" with:
        | nodeName | worker-1           |
        | failing  | ["runtime-status"] |
        | powered  | false              |
      When machine "new" gets power
      Then Node "worker-1" field status.capacity["example.com/dongle"] is "0" within 1s
      And Node "worker-1" field status.allocatable["example.com/dongle"] is "0" within 1s
      And Node "worker-1" keeps field metadata.uid unchanged for 1m

    Scenario: Its runtime answers at once
      Given a ready Node "worker-1"
      And the user sends PATCH /api/v1/nodes/worker-1/status:
        """
        [{"op": "add", "path": "/status/capacity/example.com~1dongle", "value": "4"}]
        """
      And Node "worker-1" field status.allocatable["example.com/dongle"] is "4"
      And machine "worker-1" loses power
      And a machine "new" with:
        | nodeName  | worker-1                         |
        | machineId | 0000000000000000000000000000000b |
        | powered   | false                            |
      When machine "new" gets power
      Then Node "worker-1" field status.nodeInfo.machineID is "0000000000000000000000000000000b" within 1s
      And Node "worker-1" keeps field status.capacity["example.com/dongle"] at "4" for 1m

  @req:STA-07
  Rule: Huge pages are those of the machine that registers

    Scenario: Another machine under the old name has another page size
      Given a machine "worker-1" with:
        | hugepages-2Mi | 64Mi |
      And Node "worker-1" has condition Ready=True
      And machine "worker-1" loses power
      And a machine "new" with:
        | nodeName      | worker-1 |
        | hugepages-1Gi | 2Gi      |
        | powered       | false    |
      When machine "new" gets power
      Then Node "worker-1" field status.capacity.hugepages-1Gi is "2Gi" within 1s
      And Node "worker-1" field status.allocatable.hugepages-1Gi is "2Gi" within 1s
      And Node "worker-1" field status.capacity.hugepages-2Mi is absent within 1s
      And Node "worker-1" field status.allocatable.hugepages-2Mi is absent within 1s
      And Node "worker-1" keeps field metadata.uid unchanged for 1m
