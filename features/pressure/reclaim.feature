@core @req:STA-03
Feature: A full disk is cleared of what no pod needs before a pod has to go
  Source: pkg/kubelet/eviction/eviction_manager.go (v1.34), reclaimNodeLevelResources; pkg/kubelet/images/image_gc_manager.go (v1.34)

  Rule: Unused images and ended containers go first

    Scenario: Unused images are enough
      Given a machine "worker-1" with:
        | ephemeral-storage | 10Gi |
        | images | [{"names":["docker.io/library/used:1"],"sizeBytes":600000000},{"names":["docker.io/library/old:1"],"sizeBytes":500000000},{"names":["registry.k8s.io/pause:3.10"],"sizeBytes":700000}] |
      And whose kubelet runs with:
        | evictionHard | {"nodefs.available":"1Gi"} |
      And Node "worker-1" has condition Ready=True
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: writer
          annotations: {nodeproof.dev/main.uses.ephemeral-storage: 100Mi}
        spec: {nodeName: worker-1, containers: [{name: main, image: "used:1"}]}
        """
      And Pod "writer" has condition Ready=True
      And 2m passes
      When machine "worker-1" does fill-disk with:
        | free | 800Mi |
      Then Event EvictionThresholdMet about Node "worker-1", message "Attempting to reclaim ephemeral-storage", within 21s
      And Node "worker-1" has condition DiskPressure=True within 31s
      And Node "worker-1" field status.images is [{"names":["docker.io/library/used:1"],"sizeBytes":600000000},{"names":["registry.k8s.io/pause:3.10"],"sizeBytes":700000}] between 1s and 62s
      But Pod "writer" keeps condition Ready=True for 2m
      And no Event Evicted about Pod "writer" for 2m

    Scenario: Unused images are not enough, and a pod goes as well
      Given a machine "worker-1" with:
        | ephemeral-storage | 10Gi |
        | images            | [{"names":["docker.io/library/old:1"],"sizeBytes":1048576}] |
      And whose kubelet runs with:
        | evictionHard | {"nodefs.available":"1Gi"} |
      And Node "worker-1" has condition Ready=True
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: writer
          annotations: {nodeproof.dev/main.uses.ephemeral-storage: 500Mi}
        spec: {nodeName: worker-1, containers: [{name: main, image: "used:1"}]}
        """
      And Pod "writer" has condition Ready=True
      And 2m passes
      When machine "worker-1" does fill-disk with:
        | free | 800Mi |
      Then Event Evicted about Pod "writer", message "The node was low on resource: ephemeral-storage. Threshold quantity: 1Gi, available: 800Mi. Container main was using 500Mi, request is 0, has larger consumption of ephemeral-storage. ", within 21s
      And Node "worker-1" field status.images is absent within 62s

    Scenario: A minimum reclaim has to be reached as well
      Given a machine "worker-1" with:
        | ephemeral-storage | 10Gi |
        | images            | [{"names":["docker.io/library/old:1"],"sizeBytes":314572800}] |
      And whose kubelet runs with:
        | evictionHard           | {"nodefs.available":"1Gi"}   |
        | evictionMinimumReclaim | {"nodefs.available":"200Mi"} |
      And Node "worker-1" has condition Ready=True
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: writer
          annotations: {nodeproof.dev/main.uses.ephemeral-storage: 500Mi}
        spec: {nodeName: worker-1, containers: [{name: main, image: "used:1"}]}
        """
      And Pod "writer" has condition Ready=True
      And 2m passes
      When machine "worker-1" does fill-disk with:
        | free | 900Mi |
      Then Event Evicted about Pod "writer" within 21s

    Scenario: Images that the kubelet has known for less than imageMinimumGCAge stay
      Given a machine "worker-1" with:
        | ephemeral-storage | 10Gi |
        | images            | [{"names":["docker.io/library/old:1"],"sizeBytes":500000000}] |
      And whose kubelet runs with:
        | evictionHard      | {"nodefs.available":"1Gi"} |
        | imageMinimumGCAge | 10m                        |
      And Node "worker-1" has condition Ready=True
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: writer
          annotations: {nodeproof.dev/main.uses.ephemeral-storage: 500Mi}
        spec: {nodeName: worker-1, containers: [{name: main, image: "used:1"}]}
        """
      And Pod "writer" has condition Ready=True
      And 2m passes
      When machine "worker-1" does fill-disk with:
        | free | 800Mi |
      Then Event Evicted about Pod "writer" within 21s
      And Node "worker-1" keeps field status.images unchanged for 2m

    Scenario: What an ended container wrote is enough
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | evictionHard | {"nodefs.available":"1Gi"} |
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: done
          annotations: {nodeproof.dev/main.uses.ephemeral-storage: 500Mi, nodeproof.dev/main.crashes-after: 1s, nodeproof.dev/main.exit-code: "0"}
        spec: {nodeName: worker-1, restartPolicy: Never, containers: [{name: main, image: pause}]}
        ---
        apiVersion: v1
        kind: Pod
        metadata:
          name: writer
          annotations: {nodeproof.dev/main.uses.ephemeral-storage: 500Mi}
        spec: {nodeName: worker-1, containers: [{name: main, image: pause}]}
        """
      And Pod "writer" has condition Ready=True
      And Pod "done" field status.phase is "Succeeded"
      When machine "worker-1" does fill-disk with:
        | free | 800Mi |
      Then 1 Event EvictionThresholdMet about Node "worker-1" within 21s
      And Pod "writer" keeps condition Ready=True for 2m

    Scenario: Memory is not reclaimed in this way
      Given a machine "worker-1" with:
        | images | [{"names":["docker.io/library/old:1"],"sizeBytes":314572800}] |
      And Node "worker-1" has condition Ready=True
      When machine "worker-1" does fill-memory
      Then Node "worker-1" has condition MemoryPressure=True within 31s
      And Node "worker-1" keeps field status.images unchanged for 2m

  Rule: Images are collected each five minutes, once the disk is nearly full

    Scenario: The image that was used longest ago goes first
      Given a machine "worker-1" with:
        | ephemeral-storage | 10000000000 |
        | images            | [{"names":["docker.io/library/a:1"],"sizeBytes":600000000},{"names":["docker.io/library/b:1"],"sizeBytes":600000000}] |
      And whose kubelet runs with:
        | evictionHard | {"memory.available":"100Mi"} |
      And Node "worker-1" has condition Ready=True
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: reader
        spec: {nodeName: worker-1, terminationGracePeriodSeconds: 1, containers: [{name: main, image: "a:1"}]}
        """
      And Pod "reader" has condition Ready=True
      And 6m passes
      And the user deletes Pod "reader"
      And 30s pass
      When machine "worker-1" does fill-disk with:
        | free | 1500000000 |
      Then Node "worker-1" field status.images is [{"names":["docker.io/library/a:1"],"sizeBytes":600000000}] between 3m and 5m

    Scenario: Images that nothing has used for imageMaximumGCAge go, however much of the disk is free
      Given a machine "worker-1" with:
        | images | [{"names":["docker.io/library/a:1"],"sizeBytes":600000000},{"names":["docker.io/library/b:1"],"sizeBytes":600000000}] |
      And whose kubelet runs with:
        | imageMaximumGCAge | 12m |
      And Node "worker-1" has condition Ready=True
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: reader
        spec: {nodeName: worker-1, containers: [{name: main, image: "a:1"}]}
        """
      And Pod "reader" has condition Ready=True
      When nothing is done
      Then Node "worker-1" keeps field status.images unchanged for 14m
      And Node "worker-1" field status.images is [{"names":["docker.io/library/a:1"],"sizeBytes":600000000}] between 14m30s and 16m

    Scenario: Enough images go to come down to the low threshold, and no more
      Given a machine "worker-1" with:
        | ephemeral-storage | 10000000000 |
        | images            | [{"names":["docker.io/library/a:1"],"sizeBytes":400000000},{"names":["docker.io/library/b:1"],"sizeBytes":300000000},{"names":["docker.io/library/c:1"],"sizeBytes":200000000}] |
      And whose kubelet runs with:
        | evictionHard | {"memory.available":"100Mi"} |
      And Node "worker-1" has condition Ready=True
      When machine "worker-1" does fill-disk with:
        | free | 1500000000 |
      Then Node "worker-1" keeps field status.images unchanged for 5m20s
      And Node "worker-1" field status.images is [{"names":["docker.io/library/c:1"],"sizeBytes":200000000}] between 5m20s and 5m42s
      And Node "worker-1" keeps condition DiskPressure=False for 10m
      And no Event FreeDiskSpaceFailed about Node "worker-1" for 10m

    Scenario Outline: Nothing is collected: <what>
      Given a machine "worker-1" with:
        | ephemeral-storage | 10000000000 |
        | images            | [{"names":["docker.io/library/a:1"],"sizeBytes":400000000}] |
      And whose kubelet runs with:
        | evictionHard                | {"memory.available":"100Mi"} |
        | imageGCHighThresholdPercent | <high>                       |
      And Node "worker-1" has condition Ready=True
      And machine "worker-1" does fill-disk with:
        | free | <free> |
      When nothing is done
      Then Node "worker-1" keeps field status.images unchanged for 11m
      And no Event FreeDiskSpaceFailed about Node "worker-1" for 11m

      Examples:
        | what                     | high | free       |
        | 84 % are used            | 85   | 1600000000 |
        | a threshold of 100 %     | 100  | 0          |

    Scenario Outline: Images are not what fills the disk
      Given a cluster of Kubernetes <release>
      And a machine "worker-1" with:
        | ephemeral-storage | 10Gi |
      And whose kubelet runs with:
        | evictionHard | {"memory.available":"100Mi"} |
      And Node "worker-1" has condition Ready=True
      When machine "worker-1" does fill-disk with:
        | free | 1Gi |
      Then Event FreeDiskSpaceFailed about Node "worker-1", message "<message>", between 4m30s and 5m1s
      And no Event ImageGCFailed about Node "worker-1" for 9m30s
      And Event ImageGCFailed about Node "worker-1", message "<message>", between 9m30s and 10m1s

      Examples:
        | release | message                                                                                                                                           |
        | 1.34    | Failed to garbage collect required amount of images. Attempted to free 1073741824 bytes, but only found 0 bytes eligible to free.                  |
        | 1.35    | Insufficient free disk space on the node's image filesystem (90% of 10.0 GiB used). Failed to free sufficient space by deleting unused images (freed 0 bytes). Investigate disk usage, as it could be used by active images, logs, volumes, or other data. |

  Rule: Thresholds that cannot be are refused

    Scenario Outline: imageGCHighThresholdPercent <high>, imageGCLowThresholdPercent <low>
      When a kubelet named "worker-1" starts with:
        | imageGCHighThresholdPercent | <high> |
        | imageGCLowThresholdPercent  | <low>  |
      Then the kubelet refuses to start with "<message>"

      Examples:
        | high | low | message |
        | 70   | 80  | failed to validate kubelet configuration, error: invalid configuration: imageGCLowThresholdPercent (--image-gc-low-threshold) 80 must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) 70, path: &TypeMeta{Kind:,APIVersion:,} |
        | 101  | 80  | invalid configuration: imageGCHighThresholdPercent (--image-gc-high-threshold) 101 must be between 0 and 100, inclusive |
        | 85   | -1  | invalid configuration: imageGCLowThresholdPercent (--image-gc-low-threshold) -1 must be between 0 and 100, inclusive |
