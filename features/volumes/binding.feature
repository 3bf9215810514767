@core
Feature: A claim is bound to a volume that was made before, at once or when its first pod is scheduled

  Source: pkg/controller/volume/persistentvolume/pv_controller.go (v1.34), syncUnboundClaim
  Source: pkg/scheduler/framework/plugins/volumebinding/binder.go (v1.34), FindPodVolumes, BindPodVolumes

  Background:
    Given no other Node
    And a ready Node "worker-1"
    And a ready Node "worker-2"

  Rule: A class that does not wait binds at once

    Scenario: The volume is bound before there is a pod
      Given the objects in "volumes/storage.yaml"
      And the user watches /api/v1/persistentvolumes
      When the user creates:
        """yaml
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data, namespace: default}
        spec: {accessModes: [ReadWriteOnce], storageClassName: made-before, resources: {requests: {storage: 1Gi}}}
        """
      Then the watch shows MODIFIED "pv-0" with spec.claimRef.name "data" within 1s
      And the watch shows MODIFIED "pv-0" with status.phase "Bound" within 1s

    Scenario: A claim that is too large stays without a volume, and nothing is written
      Given the objects in "volumes/storage.yaml"
      And the user watches /api/v1/persistentvolumes
      When the user creates:
        """yaml
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data, namespace: default}
        spec: {accessModes: [ReadWriteOnce], storageClassName: made-before, resources: {requests: {storage: 2Gi}}}
        """
      Then PersistentVolumeClaim "data" field status.phase is "Pending" within 1s
      And PersistentVolumeClaim "data" keeps field spec.volumeName absent for 10m
      But the watch never shows MODIFIED for 10m

    Scenario Outline: The volume cannot be written three times, in <releases>
      Given the objects in "volumes/storage.yaml"
      And 1s passes
      And PUT requests to persistentvolumes from persistentvolume-binder-controller are answered 500 3 times
      When the user creates:
        """yaml
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data, namespace: default}
        spec: {accessModes: [ReadWriteOnce], storageClassName: made-before, resources: {requests: {storage: 1Gi}}}
        """
      Then PersistentVolumeClaim "data" field status.phase is "Bound" <bound>

      @until:1.35
      Examples:
        | releases   | bound               |
        | up to 1.35 | between 30s and 46s |

      @since:1.36
      Examples:
        | releases  | bound     |
        | from 1.36 | within 1s |

  Rule: A volume of a driver is never recycled

    Scenario: Its claim is deleted
      Given the objects:
        """yaml
        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: used}
        spec:
          capacity: {storage: 1Gi}
          accessModes: [ReadWriteOnce]
          persistentVolumeReclaimPolicy: Recycle
          storageClassName: none
          csi: {driver: csi.example.com, volumeHandle: used}
        ---
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data, namespace: default}
        spec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1Gi}}}
        """
      And PersistentVolumeClaim "data" field status.phase is "Bound"
      When the user deletes PersistentVolumeClaim "data"
      Then PersistentVolume "used" field status.phase is "Failed" within 1s
      And PersistentVolume "used" field status.message is "No recycler plugin found for the volume!" within 1s
      And 1 Event VolumeFailedRecycle about PersistentVolume "used", message "No recycler plugin found for the volume!" within 2m

  Rule: A class of an old plugin is served by the driver that took over from it

    Scenario Outline: The class names <plugin>
      When the user creates:
        """yaml
        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata: {name: old}
        provisioner: kubernetes.io/<plugin>
        ---
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data, namespace: default}
        spec: {accessModes: [ReadWriteOnce], storageClassName: old, resources: {requests: {storage: 1Gi}}}
        """
      Then PersistentVolumeClaim "data" field metadata.annotations["volume.kubernetes.io/storage-provisioner"] is "<driver>" within 1s
      And PersistentVolumeClaim "data" field metadata.annotations["volume.beta.kubernetes.io/storage-provisioner"] is "<driver>" within 1s
      And Event ExternalProvisioning about PersistentVolumeClaim "data", message "Waiting for a volume to be created either by the external provisioner '<driver>' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.", within 1s
      And no Event ProvisioningFailed about PersistentVolumeClaim "data" for 60s

      Examples:
        | plugin         | driver                   |
        | aws-ebs        | ebs.csi.aws.com          |
        | gce-pd         | pd.csi.storage.gke.io    |
        | azure-disk     | disk.csi.azure.com       |
        | azure-file     | file.csi.azure.com       |
        | cinder         | cinder.csi.openstack.org |
        | vsphere-volume | csi.vsphere.vmware.com   |

    Scenario Outline: Nobody took over, as from <plugin>
      When the user creates:
        """yaml
        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata: {name: old}
        provisioner: kubernetes.io/<plugin>
        ---
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data, namespace: default}
        spec: {accessModes: [ReadWriteOnce], storageClassName: old, resources: {requests: {storage: 1Gi}}}
        """
      Then Event ProvisioningFailed about PersistentVolumeClaim "data", message "<message>", within 1s
      And PersistentVolumeClaim "data" keeps field metadata.annotations absent for 60s

      Examples:
        | plugin         | message                                                     |
        | no-provisioner | no volume plugin matched name: kubernetes.io/no-provisioner |
        | nfs            | no provisionable volume plugin matched                      |

    Scenario: The controller may not provision folders of nodes itself
      When the user creates:
        """yaml
        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata: {name: folders}
        provisioner: kubernetes.io/host-path
        ---
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data, namespace: default}
        spec: {accessModes: [ReadWriteOnce], storageClassName: folders, resources: {requests: {storage: 1Gi}}}
        """
      Then Event ProvisioningFailed about PersistentVolumeClaim "data", message "Failed to create provisioner: provisioning in volume plugin \"kubernetes.io/host-path\" is disabled", within 1s
      And PersistentVolumeClaim "data" field metadata.annotations["volume.kubernetes.io/storage-provisioner"] is "kubernetes.io/host-path" within 1s
      And PersistentVolumeClaim "data" keeps field spec.volumeName absent for 60s

    Scenario Outline: Nor does it where it looks further: <what>
      When the user creates:
        """yaml
        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata: {name: folders}
        provisioner: kubernetes.io/host-path
        mountOptions: <options>
        ---
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data, namespace: default}
        spec:
          accessModes: [ReadWriteOnce]
          storageClassName: folders
          resources: {requests: {storage: 1Gi}}
          dataSource: <source>
        """
      Then Event ProvisioningFailed about PersistentVolumeClaim "data", message "<message>", within 1s
      And PersistentVolumeClaim "data" keeps field metadata.annotations["volume.kubernetes.io/storage-provisioner"] <annotation> for 60s

      Examples:
        | what              | options      | source                                         | message | annotation |
        | options of mounts | [hard, nolock] | null                                         | Mount options are not supported by the provisioner but StorageClass \\"folders\\" has mount options [hard nolock] | at "kubernetes.io/host-path" |
        | a claim to copy   | []           | {kind: PersistentVolumeClaim, name: another}   | plugin \\"kubernetes.io/host-path\\" is not a CSI plugin. Only CSI plugin can provision a claim with a datasource | absent |

  Rule: A released volume with the policy Delete is deleted by its plugin, and fails without one

    Background:
      Given the objects:
        """yaml
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data, namespace: default}
        spec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1Gi}}}
        """

    Scenario Outline: It is <kind>
      Given the objects:
        """yaml
        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: used}
        spec:
          capacity: {storage: 1Gi}
          accessModes: [ReadWriteOnce]
          persistentVolumeReclaimPolicy: Delete
          storageClassName: none
          <volume>
        """
      And PersistentVolumeClaim "data" field status.phase is "Bound"
      When the user deletes PersistentVolumeClaim "data"
      Then PersistentVolume "used" field status.phase is "Failed" within 1s
      And 1 Event VolumeFailedDelete about PersistentVolume "used", message "error getting deleter volume plugin for volume \"used\": <why>" within 2m

      Examples:
        | kind                | volume                                                                          | why                                |
        | a share of a server | nfs: {server: files.example.com, path: /exports}                                | no deletable volume plugin matched |
        | a disk of a network | iscsi: {targetPortal: "192.0.2.7", iqn: "iqn.2001-04.com.example:disk", lun: 0} | no volume plugin matched           |

    Scenario Outline: It is the folder <path> of a node
      Given the objects:
        """yaml
        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: used}
        spec:
          capacity: {storage: 1Gi}
          accessModes: [ReadWriteOnce]
          persistentVolumeReclaimPolicy: Delete
          storageClassName: none
          <volume>
        """
      And PersistentVolumeClaim "data" field status.phase is "Bound"
      When the user deletes PersistentVolumeClaim "data"
      Then PersistentVolume "used" field status.phase is "Failed" within 1s
      And 1 Event VolumeFailedDelete about PersistentVolume "used", message "host_path deleter only supports /tmp/.+ but received provided <path>" within 2m

      Examples:
        | path  | volume                   |
        | /data | hostPath: {path: /data}  |
        | /tmp/ | hostPath: {path: /tmp/}  |

    Scenario: It is a folder that the controller may delete
      Given the objects:
        """yaml
        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: used}
        spec:
          capacity: {storage: 1Gi}
          accessModes: [ReadWriteOnce]
          persistentVolumeReclaimPolicy: Delete
          storageClassName: none
          hostPath: {path: /tmp/data}
        """
      And PersistentVolumeClaim "data" field status.phase is "Bound"
      When the user deletes PersistentVolumeClaim "data"
      Then PersistentVolume "used" is gone within 2s
      And no Event VolumeFailedDelete about PersistentVolume "used" for 60s

    Scenario Outline: Its driver's provisioner is to delete it (<who>)
      Given the objects:
        """yaml
        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: used, annotations: {<annotation>}}
        spec:
          capacity: {storage: 1Gi}
          accessModes: [ReadWriteOnce]
          persistentVolumeReclaimPolicy: Delete
          storageClassName: none
          <volume>
        """
      And PersistentVolumeClaim "data" field status.phase is "Bound"
      When the user deletes PersistentVolumeClaim "data"
      Then PersistentVolume "used" field status.phase is "Released" within 1s
      When 1s passes
      Then PersistentVolume "used" keeps field status.phase "Released" for 60s

      Examples:
        | who                   | annotation                                             | volume                                           |
        | it is its volume      |                                                        | csi: {driver: csi.example.com, volumeHandle: a}  |
        | it made it            | pv.kubernetes.io/provisioned-by: files.example         | nfs: {server: files.example.com, path: /exports} |
        | an old plugin made it | pv.kubernetes.io/provisioned-by: kubernetes.io/aws-ebs | awsElasticBlockStore: {volumeID: vol-1}          |
        | it took over          | pv.kubernetes.io/migrated-to: ebs.csi.aws.com          | awsElasticBlockStore: {volumeID: vol-1}          |

  Rule: A class that waits for the first pod lets the scheduler choose

    Background:
      Given the objects in "volumes/by_node.yaml"

    Scenario: The claim gets the volume of the node that the pod gets
      Given the user cordons Node "worker-2"
      And the user watches /api/v1/persistentvolumes
      When the user creates:
        """yaml
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data, namespace: default}
        spec: {accessModes: [ReadWriteOnce], storageClassName: made-before, resources: {requests: {storage: 1Gi}}}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: web, namespace: default}
        spec:
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
          volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
        """
      Then the watch shows MODIFIED "pv-1" with spec.claimRef.name "data" within 1s
      And Pod "web" field spec.nodeName is "worker-1" within 3s
      And Pod "web" field status.phase is "Running" within 40s
      And the watch never shows MODIFIED "pv-2" for 60s

    Scenario Outline: Where no volume is free, no pod goes
      Given the user cordons Node "worker-2"
      And the user sends DELETE /api/v1/persistentvolumes/pv-1
      When the user creates:
        """yaml
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data, namespace: default}
        spec: {accessModes: [ReadWriteOnce], storageClassName: made-before, resources: {requests: {storage: 1Gi}}}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: web, namespace: default}
        spec:
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
          volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
        """
      Then Event FailedScheduling about Pod "web", message "<message>", within 1s
      And Pod "web" keeps field status.phase "Pending" for 10m
      When the user uncordons Node "worker-2"
      Then Pod "web" field status.phase is "Running" within 40s

      @since:1.34 @until:1.36
      Examples:
        | releases     | message                                                                                                                                                                                                                          |
        | 1.34 to 1.36 | 0/2 nodes are available: 1 node(s) didn't find available persistent volumes to bind, 1 node(s) were unschedulable. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling. |

      @since:1.37
      Examples:
        | releases  | message                                                                                                                                                                                             |
        | from 1.37 | 0/2 nodes are available: 1 node(s) didn't find available persistent volumes to bind, 1 node(s) were unschedulable. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling. |

    Scenario Outline: A bound volume keeps its pod on its node
      Given the user cordons Node "worker-2"
      And the user creates:
        """yaml
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data, namespace: default}
        spec: {accessModes: [ReadWriteOnce], storageClassName: made-before, resources: {requests: {storage: 1Gi}}}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: web, namespace: default}
        spec:
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
          volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
        """
      And Pod "web" field status.phase is "Running"
      And the user uncordons Node "worker-2"
      And the user cordons Node "worker-1"
      And the user deletes Pod "web"
      And Pod "web" is gone
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: other, namespace: default}
        spec:
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
          volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
        """
      Then Event FailedScheduling about Pod "other", message "<message>", within 5s
      And Pod "other" keeps field status.phase "Pending" for 10m

      @since:1.34 @until:1.36
      Examples:
        | releases     | message                                                                                                                                                                                                                       |
        | 1.34 to 1.36 | 0/2 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity, 1 node(s) were unschedulable. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling. |

      @since:1.37
      Examples:
        | releases  | message                                                                                                                                                                                          |
        | from 1.37 | 0/2 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity, 1 node(s) were unschedulable. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling. |

  Rule: While its volumes are bound, a pod is nominated for its node
    Source: pkg/scheduler/schedule_one.go (v1.36), bindingCycle and handleBindingCycleError

    @since:1.35
    Scenario: Nobody makes the volume in ten minutes
      Given the user cordons Node "worker-2"
      And the objects:
        """yaml
        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata: {name: made-late}
        provisioner: csi.example.com
        volumeBindingMode: WaitForFirstConsumer
        ---
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data, namespace: default}
        spec: {accessModes: [ReadWriteOnce], storageClassName: made-late, resources: {requests: {storage: 1Gi}}}
        """
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web, namespace: default}
        spec:
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
          volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
        """
      Then Pod "web" field status.nominatedNodeName is "worker-1" within 1s
      And Pod "web" keeps field spec.nodeName absent for 590s
      And Event FailedScheduling about Pod "web", message "running PreBind plugin \"VolumeBinding\": binding volumes: context deadline exceeded", between 599s and 603s
      And Pod "web" field status.nominatedNodeName is absent between 599s and 603s
