@core
Feature: The volumes of a dead node stay attached to it until it is safe to take them, or said to be
  The name of a VolumeAttachment is a hash of volume, driver and node: csi-407a… is vol-0 on worker-1, csi-0f0c… is
  vol-0 on worker-2. The driver attaches and detaches at once, whatever the node does.

  Source: pkg/controller/volume/attachdetach/reconciler/reconciler.go (v1.34), reconcile
  Source: pkg/controller/volume/attachdetach/attach_detach_controller.go (v1.34), DefaultTimerConfig

  Background:
    Given kube-controller-manager runs with:
      | node-monitor-grace-period | 20s |
    And kube-apiserver runs with:
      | default-unreachable-toleration-seconds | 5 |
    And no other Node
    And a ready Node "worker-1"
    And the objects in "volumes/storage.yaml"
    And the objects in "volumes/database.yaml"
    And 1 Pod of "db" is running on Node "worker-1"
    And Node "worker-1" field status.volumesInUse is ["kubernetes.io/csi/csi.example.com^vol-0"]
    And Node "worker-1" field status.volumesAttached is [{"name": "kubernetes.io/csi/csi.example.com^vol-0", "devicePath": ""}]
    And a ready Node "worker-2"

  Rule: A pod that waits for its end on a dead node keeps its volume there

    @req:NG-02
    @custom:csi-407a4d7923e02d28cf397e1900b0e78a30cdf4b7cdf6b1d66cb3158bd7979ea2
    @custom:csi-0f0c477de9dd2f42519e87dee5df69c93e56b3fc62a8f81a5af468168fc97e07
    Scenario: The pod is Terminating, and nothing is detached
      Given the user watches /apis/storage.k8s.io/v1/volumeattachments
      When machine "worker-1" loses power
      Then Pod "db-0" is deleted within 60s
      And Node "worker-1" keeps field status.volumesAttached unchanged for 1h
      And Node "worker-1" keeps field status.volumesInUse unchanged for 1h
      And the watch never shows DELETED "csi-407a4d7923e02d28cf397e1900b0e78a30cdf4b7cdf6b1d66cb3158bd7979ea2" for 1h
      And the watch never shows ADDED "csi-0f0c477de9dd2f42519e87dee5df69c93e56b3fc62a8f81a5af468168fc97e07" for 1h
      And 0 Pods of "db" keep running on Node "worker-2" for 1h

  Rule: Without the pod it is waited for the node, for six minutes and not longer

    @req:NG-02
    Scenario: Deleted by force, the pod has a replacement that waits six minutes for the volume
      Given machine "worker-1" loses power
      And Pod "db-0" is deleted
      And the user watches /apis/storage.k8s.io/v1/volumeattachments
      When the user sends DELETE /api/v1/namespaces/default/pods/db-0:
        """yaml
        {gracePeriodSeconds: 0}
        """
      Then Pod "db-0" is gone within 1s
      And Pod "db-0" field spec.nodeName is "worker-2" within 1s
      And Event FailedAttachVolume about Pod "db-0" within 1s
      And Pod "db-0" keeps field status.phase "Pending" for 360s
      And Node "worker-1" keeps field status.volumesAttached unchanged for 360s
      And the watch never shows DELETED for 360s
      And Node "worker-1" field status.volumesAttached is absent between 360s and 361s
      And the watch shows DELETED "csi-407a4d7923e02d28cf397e1900b0e78a30cdf4b7cdf6b1d66cb3158bd7979ea2" between 360s and 361s
      And the watch shows ADDED "csi-0f0c477de9dd2f42519e87dee5df69c93e56b3fc62a8f81a5af468168fc97e07" with spec.nodeName "worker-2" between 360s and 362s
      And Node "worker-2" field status.volumesAttached is [{"name": "kubernetes.io/csi/csi.example.com^vol-0", "devicePath": ""}] between 360s and 364s
      And Event SuccessfulAttachVolume about Pod "db-0" between 360s and 364s
      And 1 Pod of "db" is running on Node "worker-2" between 361s and 395s
      And Node "worker-1" keeps field status.volumesInUse unchanged for 395s
      And the history of Node "worker-1" matches its snapshot

    @req:NG-02
    Scenario Outline: It is said once that the volume is taken: <event>
      Given machine "worker-1" loses power
      And Pod "db-0" is deleted
      When the user sends DELETE /api/v1/namespaces/default/pods/db-0:
        """yaml
        {gracePeriodSeconds: 0}
        """
      Then 1 Event FailedAttachVolume about Pod "db-0", message "<event> for volume \"pv-0\" Volume is already exclusively attached to one node<comma> <rest>", within 1s
      When 1s passes
      Then no Event FailedAttachVolume about Pod "db-0" for 300s

      @until:1.36
      Examples:
        | event              | comma | rest                             |
        | Multi-Attach error |       | and can't be attached to another |

      @since:1.37
      Examples:
        | event              | comma | rest                                                        |
        | Waiting for detach | ,     | waiting on detach before it can be attached to another node |

    @req:NG-02
    Scenario Outline: A pod of another set that names the same claim is told who has the volume: <event>
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: reader, namespace: default}
        spec:
          nodeName: worker-2
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
          volumes: [{name: data, persistentVolumeClaim: {claimName: data-db-0}}]
        """
      Then Event FailedAttachVolume about Pod "reader", message "<event> for volume \"pv-0\" Volume is already used by pod(s) db-0", within 1s
      And Pod "reader" keeps field status.phase "Pending" for 10m
      And Node "worker-1" keeps field status.volumesAttached unchanged for 10m

      @until:1.36
      Examples:
        | event              |
        | Multi-Attach error |

      @since:1.37
      Examples:
        | event              |
        | Waiting for detach |

    @req:NG-02
    Scenario: With --disable-force-detach-on-timeout it is waited for ever
      Given kube-controller-manager runs with:
        | disable-force-detach-on-timeout | true |
      And machine "worker-1" loses power
      And Pod "db-0" is deleted
      And the user sends DELETE /api/v1/namespaces/default/pods/db-0:
        """yaml
        {gracePeriodSeconds: 0}
        """
      When nothing is done
      Then Pod "db-0" keeps field status.phase "Pending" for 1h
      And Node "worker-1" keeps field status.volumesAttached unchanged for 1h

    @req:NG-02 @req:NG-05
    Scenario: With that flag the taint still frees the volume
      Given kube-controller-manager runs with:
        | disable-force-detach-on-timeout | true |
      And machine "worker-1" loses power
      And Pod "db-0" is deleted
      And the user sends DELETE /api/v1/namespaces/default/pods/db-0:
        """yaml
        {gracePeriodSeconds: 0}
        """
      And 30m pass
      When the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
      Then Node "worker-1" field status.volumesAttached is absent within 1s
      And 1 Pod of "db" is running on Node "worker-2" within 30s

    @req:NG-02
    Scenario: A controller that starts anew waits six minutes anew
      Given machine "worker-1" loses power
      And Pod "db-0" is deleted
      And the user sends DELETE /api/v1/namespaces/default/pods/db-0:
        """yaml
        {gracePeriodSeconds: 0}
        """
      And 300s pass
      When persistentvolume-attach-detach-controller restarts
      Then Node "worker-1" keeps field status.volumesAttached unchanged for 360s
      And Node "worker-1" field status.volumesAttached is absent between 360s and 361s

    @req:NG-02
    Scenario: With the Node deleted, the volume follows six minutes after the pod
      Given machine "worker-1" loses power
      And Pod "db-0" is deleted
      And the user watches /apis/storage.k8s.io/v1/volumeattachments
      When the user deletes Node "worker-1"
      Then Pod "db-0" is gone between 40s and 81s
      And Pod "db-0" field spec.nodeName is "worker-2" within 82s
      And the watch never shows DELETED for 400s
      And the watch shows DELETED "csi-407a4d7923e02d28cf397e1900b0e78a30cdf4b7cdf6b1d66cb3158bd7979ea2" between 400s and 442s
      And 1 Pod of "db" is running on Node "worker-2" within 480s

  Rule: Out of service, first the pod is deleted by force, and then its volume is detached at once

    @req:NG-05 @req:NG-06
    Scenario Outline: The replacement runs elsewhere: <effect>
      Given machine "worker-1" loses power
      And Pod "db-0" is deleted
      And the user watches /apis/storage.k8s.io/v1/volumeattachments
      When the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:<effect>"
      Then Pod "db-0" field status.phase is "Failed" within 21s
      And Pod "db-0" is gone within 21s
      And Node "worker-1" field status.volumesAttached is absent after Pod "db-0" is gone, within 22s
      And the watch shows DELETED "csi-407a4d7923e02d28cf397e1900b0e78a30cdf4b7cdf6b1d66cb3158bd7979ea2" within 22s
      And the watch shows ADDED "csi-0f0c477de9dd2f42519e87dee5df69c93e56b3fc62a8f81a5af468168fc97e07" with spec.nodeName "worker-2" within 24s
      And 1 Pod of "db" is running on Node "worker-2" after Node "worker-1" field status.volumesAttached is absent, within 50s
      But Node "worker-1" keeps field status.volumesInUse unchanged for 60s
      And Node "worker-1" keeps condition Ready=Unknown for 60s

      Examples:
        | effect     |
        | NoExecute  |
        | NoSchedule |

    @req:NG-05 @req:NG-06 @since:1.34
    Scenario: The whole story of a pod that runs on
      Given machine "worker-1" loses power
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      And the user watches /apis/storage.k8s.io/v1/volumeattachments
      When the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
      Then Pod "db-0" is terminating within 1s
      And Pod "db-0" is gone within 21s
      And the watch shows DELETED "csi-407a4d7923e02d28cf397e1900b0e78a30cdf4b7cdf6b1d66cb3158bd7979ea2" within 22s
      And 1 Pod of "db" is running on Node "worker-2" within 50s
      And the history of Pod "db-0" matches its snapshot
      And the history of Node "worker-1" matches its snapshot
      And the history of Node "worker-2" matches its snapshot

    @req:NG-06
    Scenario: While the pod is there, the volume stays, taint or not
      Given pod-garbage-collector-controller stops
      And machine "worker-1" loses power
      And Pod "db-0" is deleted
      When the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
      Then Pod "db-0" stays terminating for 10m
      And Node "worker-1" keeps field status.volumesAttached unchanged for 10m
      When the user sends DELETE /api/v1/namespaces/default/pods/db-0:
        """yaml
        {gracePeriodSeconds: 0}
        """
      Then Node "worker-1" field status.volumesAttached is absent within 1s

    @req:NG-05
    Scenario: A volume whose six minutes run is detached when the taint comes
      Given machine "worker-1" loses power
      And Pod "db-0" is deleted
      And the user sends DELETE /api/v1/namespaces/default/pods/db-0:
        """yaml
        {gracePeriodSeconds: 0}
        """
      And 60s pass
      When the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
      Then Node "worker-1" field status.volumesAttached is absent within 1s
      And 1 Pod of "db" is running on Node "worker-2" within 30s

    @req:NG-07
    Scenario: A pod that tolerates the taint keeps its volume
      Given the user sends PATCH /apis/apps/v1/namespaces/default/statefulsets/db:
        """yaml
        spec:
          template:
            spec:
              tolerations:
              - {key: node.kubernetes.io/out-of-service, operator: Exists}
              - {key: node.kubernetes.io/unreachable, operator: Exists}
              nodeSelector: {kubernetes.io/hostname: worker-1}
        """
      And StatefulSet "db" field status.updatedReplicas is 1
      And 1 Pod of "db" is running on Node "worker-1"
      And machine "worker-1" loses power
      And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute"
      When the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
      Then Node "worker-1" has taint "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute" at once
      And Pod "db-0" stays for 10m
      And Node "worker-1" keeps field status.volumesAttached unchanged for 10m

  Rule: The node that comes back gives the volume back, if it has not lost it yet

    @req:NG-03
    Scenario: Before the taint: its kubelet ends the pod, and then reports the volume unused
      Given machine "worker-1" loses power
      And Pod "db-0" is deleted
      And the user cordons Node "worker-1"
      When machine "worker-1" gets power
      Then Node "worker-1" has condition Ready=True within 60s
      And Pod "db-0" is gone within 60s
      And Node "worker-1" field status.volumesInUse is absent within 75s
      And Node "worker-1" field status.volumesAttached is absent after Node "worker-1" field status.volumesInUse is absent, within 76s
      And 1 Pod of "db" is running on Node "worker-2" within 105s

    @req:NG-03
    Scenario: After the pod was deleted by force: the volume comes before its six minutes are over
      Given machine "worker-1" loses power
      And Pod "db-0" is deleted
      And the user sends DELETE /api/v1/namespaces/default/pods/db-0:
        """yaml
        {gracePeriodSeconds: 0}
        """
      And 120s pass
      When machine "worker-1" gets power
      Then Node "worker-1" field status.volumesInUse is absent within 60s
      And Node "worker-1" field status.volumesAttached is absent after Node "worker-1" field status.volumesInUse is absent, within 61s
      And 1 Pod of "db" is running on Node "worker-2" within 90s

    @req:NG-09
    Scenario: After the detachment: it has nothing to give, and the taint stays
      Given machine "worker-1" loses power
      And Pod "db-0" is deleted
      And the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
      And 1 Pod of "db" is running on Node "worker-2"
      When machine "worker-1" gets power
      Then Node "worker-1" has condition Ready=True within 60s
      And Node "worker-1" field status.volumesInUse is absent within 60s
      And Node "worker-1" keeps field status.volumesAttached absent for 10m
      And Node "worker-2" keeps field status.volumesAttached unchanged for 10m
      And 1 Pod of "db" keeps running on Node "worker-2" for 10m
      And Node "worker-1" keeps taint "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute" for 10m

  Rule: A ready node is asked first

    Scenario: A pod that is deleted moves when its kubelet has reported the volume unused
      Given the user cordons Node "worker-1"
      When the user deletes Pod "db-0"
      Then Node "worker-1" field status.volumesInUse is absent within 15s
      And Node "worker-1" field status.volumesAttached is absent after Node "worker-1" field status.volumesInUse is absent, within 16s
      And 1 Pod of "db" is running on Node "worker-2" within 40s

    Scenario: A kubelet that does not report keeps the volume, as long as the node is ready
      Since 1.25; the time that has passed counts as soon as the node is not ready.

      Given the user cordons Node "worker-1"
      And requests to nodes/status from "worker-1" are lost
      And the user sends DELETE /api/v1/namespaces/default/pods/db-0:
        """yaml
        {gracePeriodSeconds: 0}
        """
      And 5s pass
      When nothing is done
      Then Node "worker-1" keeps condition Ready=True for 10m
      And Node "worker-1" keeps field status.volumesAttached unchanged for 10m
      And Pod "db-0" keeps field status.phase "Pending" for 10m
      When machine "worker-1" loses power
      Then Node "worker-1" has condition Ready=Unknown within 30s
      And Node "worker-1" field status.volumesAttached is absent after Node "worker-1" has condition Ready=Unknown, within 31s

    @req:NG-10
    Scenario: Out of service though ready: the pod ends, and its volume goes as soon as its containers have ended
      When the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
      Then Pod "db-0" is terminating within 1s
      And Node "worker-1" field status.volumesAttached is absent within 35s
      And Pod "db-0" is gone within 35s
      And Node "worker-1" keeps condition Ready=True for 60s
      And 1 Pod of "db" is running on Node "worker-2" within 60s
