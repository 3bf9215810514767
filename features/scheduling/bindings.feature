@core
Feature: A binding that fails is told, and what the Pod was given is free again
  Source: pkg/scheduler/schedule_one.go (v1.34), handleBindingCycleError and handleSchedulingFailure

  Rule: Until the server has answered, the Pod has its room

    @sim-only:faults
    Scenario: It is deleted meanwhile, and another one waits for the room
      Given no other Node
      And the object:
        """
        apiVersion: v1
        kind: Node
        metadata: {name: one}
        status:
          capacity: {cpu: "1", memory: 8Gi, pods: "110"}
          allocatable: {cpu: "1", memory: 8Gi, pods: "110"}
        """
      And requests to pods/binding from kube-scheduler take 10s
      And the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: first}
        spec: {containers: [{name: main, image: registry.k8s.io/pause:3.10, resources: {requests: {cpu: "1"}}}]}
        ---
        kind: Pod
        apiVersion: v1
        metadata: {name: second}
        spec: {containers: [{name: main, image: registry.k8s.io/pause:3.10, resources: {requests: {cpu: "1"}}}]}
        """
      And Pod "second" has condition PodScheduled=False
      And 3s pass
      When the user deletes Pod "first"
      Then Pod "first" is gone at once
      And Event FailedScheduling about Pod "first", message "running Bind plugin \"DefaultBinder\": pods \"first\" not found", between 1s and 7s
      And Pod "second" field spec.nodeName is "one" between 11s and 18s

  Rule: A Pod that somebody else has bound stays where it is

    @sim-only:faults
    Scenario: Its condition says that this scheduler failed
      Given no other Node
      And the objects:
        """
        apiVersion: v1
        kind: Node
        metadata: {name: one}
        status:
          capacity: {cpu: "1", memory: 8Gi, pods: "110"}
          allocatable: {cpu: "1", memory: 8Gi, pods: "110"}
        """
      And requests to pods/binding from kube-scheduler take 8s
      And the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web}
        spec: {containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      And 1s passes
      When the user sends POST /api/v1/namespaces/default/pods/web/binding:
        """
        kind: Binding
        apiVersion: v1
        metadata: {name: web}
        target: {kind: Node, name: one}
        """
      Then Pod "web" field spec.nodeName is "one" at once
      And Event FailedScheduling about Pod "web", message "running Bind plugin \"DefaultBinder\": Operation cannot be fulfilled on pods/binding \"web\": pod web is already assigned to node \"one\"", between 1900ms and 7100ms
      And Pod "web" has condition PodScheduled=False, reason "SchedulerError", between 1900ms and 7100ms
      And Pod "web" keeps field spec.nodeName at "one" for 60s
