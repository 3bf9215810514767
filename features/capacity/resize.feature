@core @since:1.33
Feature: The resources of a Pod change while it runs
  Source: KEP-1287, "In-place update of Pod resources"
  Source: pkg/kubelet/allocation/allocation_manager.go (v1.34, v1.36), and pkg/kubelet/kubelet.go (v1.33), handlePodResourcesResize
  Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go (v1.33, v1.34, v1.37), computePodResizeAction and doPodResizeAction

  Background:
    Given no other Node
    And a machine "worker-1" with:
      | cpu    | 4   |
      | memory | 4Gi |

  @req:CAP-08
  Rule: No memory limit goes below what is used

    @until:1.33
    Scenario: In 1.33 the API server refuses a lower limit
      Given Node "worker-1" has condition Ready=True
      And the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers:
            - {name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {memory: 32Mi}, limits: {memory: 128Mi}}}
        """
      And Pod "web" has condition Ready=True
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/web/resize:
        """
        {"spec": {"containers": [{"name": "main", "resources": {"limits": {"memory": "64Mi"}}}]}}
        """
      Then the request is refused with 422 "spec.containers[0].resources.limits[memory]: Forbidden: memory limits cannot be decreased unless resizePolicy is RestartContainer"
      And Pod "web" keeps field spec.containers[0].resources.limits.memory "128Mi" for 1m
