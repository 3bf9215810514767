@core
Feature: The garbage collector of Pods takes what nobody will end, and no more
  Source: pkg/controller/podgc/gc_controller.go (v1.34), gcTerminated, gcUnscheduledTerminating

  Rule: A terminating Pod that no node runs fails

    Scenario: Its finalizer keeps it
      Given the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default, finalizers: [example.com/wait]}
        spec: {schedulerName: nobody, containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      When the user deletes Pod "web"
      Then Pod "web" is terminating at once
      And Pod "web" field status.phase is "Failed" within 21s
      And Pod "web" stays terminating for 60s

  Rule: Of the Pods that have ended as many go as are too many, and those that were evicted first

    Scenario Outline: Two may stay and there are three, one of which is <phase> with the reason Evicted
      Given kube-controller-manager runs with:
        | flag                        | value |
        | terminated-pod-gc-threshold | 2     |
      And the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: a, namespace: default}
        spec: {schedulerName: nobody, containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        ---
        kind: Pod
        apiVersion: v1
        metadata: {name: b, namespace: default}
        spec: {schedulerName: nobody, containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        ---
        kind: Pod
        apiVersion: v1
        metadata: {name: c, namespace: default}
        spec: {schedulerName: nobody, containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      And the user sends PATCH /api/v1/namespaces/default/pods/a/status:
        """
        status: {phase: Succeeded}
        """
      And the user sends PATCH /api/v1/namespaces/default/pods/b/status:
        """
        status: {phase: <phase>, reason: Evicted}
        """
      When the user sends PATCH /api/v1/namespaces/default/pods/c/status:
        """
        status: {phase: Succeeded}
        """
      Then Pod "<first>" is gone within 21s
      And Pod "<kept>" stays for 60s
      And Pod "c" stays for 60s

      Examples:
        | phase     | first | kept |
        | Failed    | b     | a    |
        | Succeeded | a     | b    |
