@core @req:STA-03
Feature: Pods that write more than they may are ended, whatever their node has left
  Source: pkg/kubelet/eviction/eviction_manager.go (v1.34), localStorageEviction; pkg/kubelet/server/stats/fs_resource_analyzer.go (v1.34)

  Rule: Limits of containers are checked at each pass: that of all of them first, then each one's

    Scenario: The writable layers of all containers exceed the sum of their limits
      Given a ready Node "worker-1"
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: writer
          annotations: {nodeproof.dev/main.uses.ephemeral-storage: 40Mi}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause, resources: {limits: {ephemeral-storage: 25Mi}}}]
        """
      Then Event Evicted about Pod "writer", message "Pod ephemeral local storage usage exceeds the total limit of containers 25Mi. ", between 1s and 12s
      And Pod "writer" field status.phase is "Succeeded" within 14s
      And Pod "writer" keeps field status.reason absent for 60s
      And Pod "writer" never has condition DisruptionTarget=True for 60s
      And Node "worker-1" keeps condition DiskPressure=False for 60s
      And no Event EvictionThresholdMet about Node "worker-1" for 60s
      And the history of Pod "writer" matches its snapshot

    Scenario Outline: Two containers: <what>
      Given a ready Node "worker-1"
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: writer
          annotations:
            nodeproof.dev/first.uses.ephemeral-storage: "<first>"
            nodeproof.dev/second.uses.ephemeral-storage: "<second>"
            nodeproof.dev/first.stops-after: never
        spec:
          nodeName: worker-1
          containers:
          - {name: first, image: pause, resources: {limits: {ephemeral-storage: 20Mi}}}
          - {name: second, image: pause, resources: <limits>}
        """
      Then Event Evicted about Pod "writer", message "Pod ephemeral local storage usage exceeds the total limit of containers <sum>. ", between 1s and 12s
      And Pod "writer" field status.phase is "Failed" within 15s
      And Pod "writer" field status.reason is "Evicted" within 15s
      And Pod "writer" field status.message is "Pod ephemeral local storage usage exceeds the total limit of containers <sum>. " within 15s

      Examples:
        | what                                         | first   | second | limits                               | sum  |
        | one byte too much                            | 20Mi    | 10485761 | {limits: {ephemeral-storage: 10Mi}} | 30Mi |
        | what has no limit counts against the others' | 1Mi     | 20Mi   | {}                                   | 20Mi |

    Scenario Outline: An init container counts with the sidecars before it: <used>
      Given a ready Node "worker-1"
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: writer
          annotations: {nodeproof.dev/main.uses.ephemeral-storage: <used>, nodeproof.dev/init.crashes-after: 1s, nodeproof.dev/init.exit-code: "0"}
        spec:
          nodeName: worker-1
          initContainers:
          - {name: side, image: pause, restartPolicy: Always, resources: {limits: {ephemeral-storage: 10Mi}}}
          - {name: init, image: pause, resources: {limits: {ephemeral-storage: 30Mi}}}
          containers: [{name: main, image: pause}]
        """
      When nothing is done
      Then <outcome>

      Examples:
        | used  | outcome                                                                                                                                             |
        | 40Mi  | no Event Evicted about Pod "writer" for 60s                                                                                                         |
        | 41Mi  | Event Evicted about Pod "writer", message "Pod ephemeral local storage usage exceeds the total limit of containers 40Mi. ", within 30s |

    Scenario: Below the sum, but above one limit
      Given a ready Node "worker-1"
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: writer
          annotations: {nodeproof.dev/first.uses.ephemeral-storage: 25Mi, nodeproof.dev/first.stops-after: never}
        spec:
          nodeName: worker-1
          containers:
          - {name: first, image: pause, resources: {limits: {ephemeral-storage: 25Mi}}}
          - {name: second, image: pause, resources: {limits: {ephemeral-storage: 100Mi}}}
        """
      And Pod "writer" has condition Ready=True
      And 30s pass
      When the user sends PATCH /api/v1/namespaces/default/pods/writer:
        """yaml
        metadata: {annotations: {nodeproof.dev/first.uses.ephemeral-storage: 26Mi}}
        """
      Then Event Evicted about Pod "writer" within 11s
      And Pod "writer" field status.reason is "Evicted" within 14s
      And Pod "writer" never has condition DisruptionTarget=True for 60s

    @since:1.37
    Scenario: A sidecar has a limit of its own
      Given a ready Node "worker-1"
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: writer
          annotations: {nodeproof.dev/side.uses.ephemeral-storage: 11Mi, nodeproof.dev/main.stops-after: never}
        spec:
          nodeName: worker-1
          initContainers:
          - {name: side, image: pause, restartPolicy: Always, resources: {limits: {ephemeral-storage: 10Mi}}}
          containers: [{name: main, image: pause, resources: {limits: {ephemeral-storage: 100Mi}}}]
        """
      Then Event Evicted about Pod "writer", message "Container side exceeded its local ephemeral storage limit \"10Mi\". ", between 1s and 12s
      And Pod "writer" field status.reason is "Evicted" within 15s

    @until:1.36
    Scenario: The limit of a sidecar counts for the sum alone
      Given a ready Node "worker-1"
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: writer
          annotations: {nodeproof.dev/side.uses.ephemeral-storage: 11Mi}
        spec:
          nodeName: worker-1
          initContainers:
          - {name: side, image: pause, restartPolicy: Always, resources: {limits: {ephemeral-storage: 10Mi}}}
          containers: [{name: main, image: pause, resources: {limits: {ephemeral-storage: 100Mi}}}]
        """
      Then Pod "writer" has condition Ready=True within 5s
      And no Event Evicted about Pod "writer" for 60s

    Scenario Outline: <what> is no reason
      Given a ready Node "worker-1"
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: writer
          annotations:
            nodeproof.dev/main.uses.ephemeral-storage: "<uses>"
            nodeproof.dev/main.uses.volumes.scratch: "<fills>"
        spec:
          nodeName: worker-1
          priorityClassName: <class>
          containers:
          - {name: main, image: pause, resources: <limits>, volumeMounts: [{name: scratch, mountPath: /scratch}]}
          volumes: [{name: scratch, emptyDir: <volume>}]
        """
      And Pod "writer" has condition Ready=True
      When nothing is done
      Then Pod "writer" keeps condition Ready=True for 3m
      And no Event Evicted about Pod "writer" for 3m

      Examples:
        | what                             | uses | fills | limits                              | volume                             | class                   |
        | The limit itself                 | 5Mi  | 20Mi  | {limits: {ephemeral-storage: 25Mi}} | {sizeLimit: 20Mi}                  | ""                      |
        | A pod without limits             | 90Mi | 90Mi  | {}                                  | {}                                 | ""                      |
        | A volume in memory               | 0    | 90Mi  | {limits: {ephemeral-storage: 25Mi}} | {medium: Memory, sizeLimit: 100Mi} | ""                      |
        | A size limit of zero             | 0    | 90Mi  | {}                                  | {sizeLimit: "0"}                   | ""                      |
        | A critical pod above all limits  | 90Mi | 90Mi  | {limits: {ephemeral-storage: 25Mi}} | {sizeLimit: 20Mi}                  | system-cluster-critical |

  Rule: Volumes are measured once a minute

    Scenario Outline: <what>
      Given a ready Node "worker-1"
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: writer
          annotations:
            nodeproof.dev/main.uses.volumes.scratch: 30Mi
            nodeproof.dev/main.stops-after: never
        spec:
          nodeName: worker-1
          containers:
          - {name: main, image: pause, resources: <limits>, volumeMounts: [{name: scratch, mountPath: /scratch}]}
          volumes: [{name: scratch, emptyDir: <volume>}]
        """
      Then Pod "writer" field status.reason is "Evicted" between 30s and 73s
      And Pod "writer" never has condition DisruptionTarget=True for 80s

      Examples:
        | what                                            | limits                              | volume            |
        | A volume above its size limit                   | {}                                  | {sizeLimit: 20Mi} |
        | A volume that takes its pod above all its limit | {limits: {ephemeral-storage: 25Mi}} | {}                |

    Scenario Outline: With a period of <period> between measures
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | volumeStatsAggPeriod | <period> |
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: writer
          annotations: {nodeproof.dev/main.uses.volumes.scratch: 30Mi}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause, volumeMounts: [{name: scratch, mountPath: /scratch}]}]
          volumes: [{name: scratch, emptyDir: {sizeLimit: 20Mi}}]
        """
      Then Event Evicted about Pod "writer" between <from> and <to>

      Examples:
        | period | from  | to    |
        | 20s    | 1s    | 33s   |
        | 0s     | 30s   | 73s   |
        | 5m     | 4m30s | 5m13s |

    Scenario: The flag for the period between measures counts before the field
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | volumeStatsAggPeriod | 5m |
      And the kubelet on "worker-1" restarts with:
        | flag                    | value |
        | volume-stats-agg-period | 20s   |
      And Node "worker-1" has condition Ready=True
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: writer
          annotations: {nodeproof.dev/main.uses.volumes.scratch: 30Mi}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause, volumeMounts: [{name: scratch, mountPath: /scratch}]}]
          volumes: [{name: scratch, emptyDir: {sizeLimit: 20Mi}}]
        """
      Then Event Evicted about Pod "writer" between 1s and 33s

    Scenario: A negative period between measures means none
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | volumeStatsAggPeriod | -1s |
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: writer
          annotations: {nodeproof.dev/main.uses.volumes.scratch: 30Mi}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause, volumeMounts: [{name: scratch, mountPath: /scratch}]}]
          volumes: [{name: scratch, emptyDir: {sizeLimit: 20Mi}}]
        """
      Then Pod "writer" has condition Ready=True within 3s
      And no Event Evicted about Pod "writer" for 10m

    Scenario: A volume that is filled late is seen with its next measure, after one to two minutes
      Given a ready Node "worker-1"
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: writer
          annotations: {nodeproof.dev/main.uses.volumes.scratch: 10Mi}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause, volumeMounts: [{name: scratch, mountPath: /scratch}]}]
          volumes: [{name: scratch, emptyDir: {sizeLimit: 20Mi}}]
        """
      And Pod "writer" has condition Ready=True
      And 65s pass
      When the user sends PATCH /api/v1/namespaces/default/pods/writer:
        """yaml
        metadata: {annotations: {nodeproof.dev/main.uses.volumes.scratch: 21Mi}}
        """
      Then Event Evicted about Pod "writer" between 1s and 131s
      And Pod "writer" field status.phase is "Succeeded" within 133s

    Scenario: Several pods go in one pass, one after the other
      Given a ready Node "worker-1"
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: one}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause, resources: {limits: {ephemeral-storage: 25Mi}}}]
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: two}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause, resources: {limits: {ephemeral-storage: 25Mi}}}]
        """
      And Pod "one" has condition Ready=True
      And Pod "two" has condition Ready=True
      When the user sends PATCH /api/v1/namespaces/default/pods/one:
        """yaml
        metadata: {annotations: {nodeproof.dev/main.uses.ephemeral-storage: 26Mi}}
        """
      And the user sends PATCH /api/v1/namespaces/default/pods/two:
        """yaml
        metadata: {annotations: {nodeproof.dev/main.uses.ephemeral-storage: 26Mi}}
        """
      Then Event Evicted about Pod "one" within 12s
      And Event Evicted about Pod "two" within 12s
