@core
Feature: How much CPU time a container may take
  Source: pkg/kubelet/kuberuntime/kuberuntime_container_linux.go (v1.34), calculateLinuxResources and generateLinuxContainerResources

  Rule: Its limit is its quota, unless the kubelet sets none

    Scenario Outline: cpuCFSQuota <value>
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | cpuCFSQuota | <value> |
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: "registry.k8s.io/pause:3.10", resources: {limits: {cpu: 500m}}}]
        """
      Then machine "worker-1" field containers[web/main].limits["cpu.max"] is "<quota>" within 5s
      And machine "worker-1" field containers[web/main].limits["cpu.weight"] is 20 within 5s

      Examples:
        | value | quota        |
        | true  | 50000 100000 |
        | false | max 100000   |

  Rule: A container with CPUs of its own has no quota
    Source: pkg/features/kube_features.go (v1.33), DisableCPUQuotaWithExclusiveCPUs

    Background:
      Given a machine "worker-1" with:
        | cpu    | 8   |
        | memory | 4Gi |
      And whose kubelet runs with:
        | cpuManagerPolicy | static      |
        | kubeReserved     | {"cpu":"1"} |

    Scenario Outline: <cpu> CPUs
      Given Node "worker-1" has condition Ready=True
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: "registry.k8s.io/pause:3.10", resources: {limits: {cpu: <cpu>, memory: 1Gi}}}]
        """
      Then machine "worker-1" field containers[web/main].limits["cpu.max"] is "<quota>" within 5s

      Examples: in any release
        | cpu   | quota         |
        | 1500m | 150000 100000 |

      @since:1.33
      Examples: since 1.33
        | cpu | quota      |
        | 2   | max 100000 |

      @until:1.32
      Examples: before 1.33
        | cpu | quota         |
        | 2   | 200000 100000 |
