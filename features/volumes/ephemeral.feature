@extended
Feature: A pod's own volumes get claims that live as long as the pod
  Source: pkg/controller/volume/ephemeral/controller.go (v1.34)

  Background:
    Given no other Node
    And a ready Node "worker-1"
    And the objects in "volumes/storage.yaml"

  Rule: The claim is made from the template in the pod

    Scenario: The pod runs with its volume, and takes the claim along
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web, namespace: default}
        spec:
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
          volumes:
            - name: data # its claim is web-data
              ephemeral:
                volumeClaimTemplate:
                  metadata: {labels: {app: web}, annotations: {example.com/tier: fast}}
                  spec:
                    accessModes: [ReadWriteOnce]
                    storageClassName: made-before
                    resources: {requests: {storage: 1Gi}}
        """
      Then PersistentVolumeClaim "web-data" field status.phase is "Bound" within 1s
      And PersistentVolumeClaim "web-data" field metadata.labels["app"] is "web" within 1s
      And PersistentVolumeClaim "web-data" field metadata.annotations["example.com/tier"] is "fast" within 1s
      And PersistentVolumeClaim "web-data" field metadata.ownerReferences[0].name is "web" within 1s
      And PersistentVolumeClaim "web-data" field metadata.ownerReferences[0].controller is true within 1s
      And Pod "web" has condition Ready=True within 40s
      When the user deletes Pod "web"
      Then PersistentVolumeClaim "web-data" is gone within 10s

    Scenario: Two volumes get two claims
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web, namespace: default}
        spec:
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
          volumes:
            - {name: shared, emptyDir: {}}
            - name: one # its claim is web-one
              ephemeral:
                volumeClaimTemplate:
                  spec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1Gi}}}
            - name: two # its claim is web-two
              ephemeral:
                volumeClaimTemplate:
                  spec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 2Gi}}}
        """
      Then PersistentVolumeClaim "web-one" field spec.resources.requests.storage is "1Gi" within 1s
      And PersistentVolumeClaim "web-two" field spec.resources.requests.storage is "2Gi" within 1s
      And no Event FailedBinding about Pod "web" for 60s

    Scenario: The claim is deleted before the pod has a node
      Given the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web, namespace: default}
        spec:
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
          volumes:
            - name: data # its claim is web-data
              ephemeral:
                volumeClaimTemplate:
                  spec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1Gi}}}
        """
      And PersistentVolumeClaim "web-data" field status.phase is "Pending"
      When the user deletes PersistentVolumeClaim "web-data"
      Then PersistentVolumeClaim "web-data" is deleted within 1s
      When 1s passes
      Then PersistentVolumeClaim "web-data" keeps field status.phase "Pending" for 10s

  Rule: A claim of the same name that is not the pod's is left alone

    Scenario: The user has made one
      Given the objects:
        """yaml
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: web-data, namespace: default}
        spec: {accessModes: [ReadWriteOnce], storageClassName: made-before, resources: {requests: {storage: 1Gi}}}
        """
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web, namespace: default}
        spec:
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
          volumes:
            - name: data # its claim is web-data
              ephemeral:
                volumeClaimTemplate:
                  spec: {accessModes: [ReadWriteOnce], storageClassName: made-before, resources: {requests: {storage: 1Gi}}}
        """
      Then Event FailedBinding about Pod "web", message "ephemeral volume data: PVC default/web-data was not created for pod default/web (pod is not owner)", within 1s
      And PersistentVolumeClaim "web-data" keeps field metadata.ownerReferences absent for 60s
      And Pod "web" has condition PodScheduled=False within 5s
      And Pod "web" keeps field spec.nodeName absent for 60s

    Scenario: A quota lets none be made
      Given the objects:
        """yaml
        apiVersion: v1
        kind: ResourceQuota
        metadata: {name: none, namespace: default}
        spec: {hard: {persistentvolumeclaims: "0"}}
        """
      And ResourceQuota "none" field status.hard.persistentvolumeclaims is "0"
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web, namespace: default}
        spec:
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
          volumes:
            - name: data # its claim is web-data
              ephemeral:
                volumeClaimTemplate:
                  spec: {accessModes: [ReadWriteOnce], storageClassName: made-before, resources: {requests: {storage: 1Gi}}}
        """
      Then Event FailedBinding about Pod "web", message "ephemeral volume data: create PVC web-data: persistentvolumeclaims \"web-data\" is forbidden: exceeded quota: none, requested: persistentvolumeclaims=1, used: persistentvolumeclaims=0, limited: persistentvolumeclaims=0", within 1s
      When the user sends DELETE /api/v1/namespaces/default/resourcequotas/none
      Then PersistentVolumeClaim "web-data" field status.phase is "Bound" within 30s
