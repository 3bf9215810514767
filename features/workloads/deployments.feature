@core
Feature: A Deployment whose pods are on a node that dies
  Source: pkg/controller/deployment/{sync,rolling,recreate,progress}.go (v1.34)
  Source: pkg/controller/controller_utils.go (v1.34), IsPodActive, ActivePodsWithRanks

  Rule: The deployment controller makes a ReplicaSet for each template and counts its pods

    Scenario: A Deployment is made
      When the user creates:
        """yaml
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: web}
        spec:
          replicas: 2
          selector: {matchLabels: {app: web}}
          template:
            metadata: {labels: {app: web}}
            spec: {containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      Then 2 Pods of "web" are running within 20s
      And Event ScalingReplicaSet about Deployment "web" within 5s
      And Deployment "web" field metadata.annotations["deployment.kubernetes.io/revision"] is "1" within 5s
      And Deployment "web" has condition Progressing=True, reason "ReplicaSetUpdated", within 5s
      And Deployment "web" has condition Available=False, reason "MinimumReplicasUnavailable", message "Deployment does not have minimum availability.", within 5s
      And Deployment "web" field status.unavailableReplicas is 2 within 5s
      And Deployment "web" has condition Available=True, reason "MinimumReplicasAvailable", message "Deployment has minimum availability.", within 20s
      And Deployment "web" has condition Progressing=True, reason "NewReplicaSetAvailable", within 20s
      And Deployment "web" field status.availableReplicas is 2 within 20s
      And Deployment "web" field status.updatedReplicas is 2 within 20s
      And Deployment "web" field status.observedGeneration is 1 within 5s
      And the Pods of "web" have label "pod-template-hash" within 20s

    Scenario: Without the deployment controller nothing comes of it
      Given deployment-controller stops
      When the user creates:
        """yaml
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: web}
        spec:
          replicas: 2
          selector: {matchLabels: {app: web}}
          template:
            metadata: {labels: {app: web}}
            spec: {containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      Then 0 Pods of "web" keep running for 60s
      And Deployment "web" keeps field status.observedGeneration absent for 60s
      When deployment-controller starts
      Then 2 Pods of "web" are running within 40s
      And Deployment "web" field status.observedGeneration is 1 within 40s

    Scenario Outline: It is scaled from 2 to <count>
      Given a Deployment "web" of 2 Pods
      And 5s pass
      When the user sends PATCH /apis/apps/v1/namespaces/default/deployments/web:
        """yaml
        spec: {replicas: <count>}
        """
      Then <count> Pods of "web" are running within 20s
      And Deployment "web" field status.replicas is <count> within 20s
      And Deployment "web" field status.availableReplicas is <count> within 20s
      And Event ScalingReplicaSet about Deployment "web" within 5s
      And Deployment "web" field status.observedGeneration is 2 within 5s

      Examples:
        | count |
        | 1     |
        | 4     |

    Scenario: It stays available while as few are missing as may be
      Given a Deployment "web" of 4 Pods
      And 5s pass
      When the user sends PATCH /apis/apps/v1/namespaces/default/deployments/web:
        """yaml
        spec: {replicas: 5}
        """
      Then Deployment "web" field status.unavailableReplicas is 1 within 5s
      And Deployment "web" keeps condition Available=True for 60s
      And Deployment "web" field status.availableReplicas is 5 within 20s

    Scenario: Another template takes the place of the first, pod by pod
      Given a Deployment "web" of 2 Pods
      And 5s pass
      When the user sends strategic PATCH /apis/apps/v1/namespaces/default/deployments/web:
        """yaml
        spec: {template: {metadata: {labels: {version: two}}}}
        """
      Then the Pods of "web" have label "version=two" within 20s
      And Deployment "web" field metadata.annotations["deployment.kubernetes.io/revision"] is "2" within 5s
      And Deployment "web" field status.replicas is 3 within 5s
      And Deployment "web" keeps condition Available=True for 60s
      And the Pods of "web" are gone within 60s
      And the history of Deployment "web" matches its snapshot
      When 5s pass
      Then 2 Pods of "web" keep running for 30s
      And Deployment "web" keeps field status.replicas at 2 for 30s
      And Deployment "web" keeps field status.updatedReplicas at 2 for 30s

  Rule: With its node the pods of a Deployment are not ready, and they are replaced when they are evicted

    @req:NC-06
    Scenario: The only node that it is on loses power
      Given no other Node
      And a ready Node "worker-1"
      And a Deployment "web" of 2 Pods
      And a ready Node "worker-2"
      When machine "worker-1" loses power
      Then Deployment "web" keeps condition Available=True for 29s
      And Deployment "web" has condition Available=False, reason "MinimumReplicasUnavailable", message "Deployment does not have minimum availability.", between 29s and 58s
      And Deployment "web" field status.readyReplicas is absent between 29s and 58s
      And Deployment "web" field status.unavailableReplicas is 2 between 29s and 58s
      But Deployment "web" keeps field status.replicas at 2 for 120s
      And Deployment "web" keeps condition Progressing=True, reason "NewReplicaSetAvailable" for 120s
      And 2 Pods of "web" keep running on Node "worker-1" for 120s
      And 0 Pods of "web" keep running on Node "worker-2" for 120s
      And no Event ScalingReplicaSet about Deployment "web" for 120s
      And the history of Deployment "web" matches its snapshot

    @req:NC-04
    Scenario: For five minutes no pod works and none is made
      Given no other Node
      And a ready Node "worker-1"
      And a Deployment "web" of 2 Pods
      And a ready Node "worker-2"
      And machine "worker-1" loses power
      And Deployment "web" has condition Available=False
      And 240s pass
      When 1s passes
      Then 2 Pods of "web" keep running on Node "worker-1" for 50s
      And 0 Pods of "web" keep running on Node "worker-2" for 50s
      And Deployment "web" keeps condition Available=False for 50s
      And the Pods of "web" on Node "worker-1" are deleted between 50s and 70s
      And 2 Pods of "web" are running on Node "worker-2" between 50s and 110s
      And Deployment "web" has condition Available=True, reason "MinimumReplicasAvailable", after the Pods of "web" on Node "worker-1" are deleted, within 110s
      And Deployment "web" field status.readyReplicas is 2 between 50s and 110s
      But Deployment "web" keeps condition Progressing=True, reason "NewReplicaSetAvailable" for 110s
      And Deployment "web" keeps field metadata.generation unchanged for 110s
      And no Event ScalingReplicaSet about Deployment "web" for 110s
      And the Pods of "web" on Node "worker-1" keep field status.phase "Running" for 110s

    @req:NC-07
    Scenario: The machine is back before the eviction
      Given no other Node
      And a ready Node "worker-1"
      And a Deployment "web" of 2 Pods
      And a ready Node "worker-2"
      And machine "worker-1" loses its connection to the API server
      And Deployment "web" has condition Available=False
      When machine "worker-1" regains its connection to the API server
      Then Deployment "web" has condition Available=True within 70s
      And Deployment "web" field status.readyReplicas is 2 within 70s
      And 2 Pods of "web" keep running on Node "worker-1" for 90s
      And 0 Pods of "web" keep running on Node "worker-2" for 90s

  Rule: What the user asks for meanwhile is done on the nodes that are left

    @req:EV-04
    Scenario: Another template: the new pods run elsewhere, the old ones stay Terminating
      Given kube-controller-manager runs with:
        | node-monitor-grace-period | 20s |
      And no other Node
      And a ready Node "worker-1"
      And a Deployment "web" of 2 Pods
      And a ready Node "worker-2"
      And machine "worker-1" loses power
      And Deployment "web" has condition Available=False
      When the user sends strategic PATCH /apis/apps/v1/namespaces/default/deployments/web:
        """yaml
        spec: {template: {metadata: {labels: {version: two}}}}
        """
      Then the Pods of "web" on Node "worker-1" are deleted within 20s
      And 2 Pods of "web" are running on Node "worker-2" within 20s
      And Deployment "web" field status.updatedReplicas is 2 within 20s
      And Deployment "web" has condition Available=True within 20s
      And Deployment "web" has condition Progressing=True, reason "NewReplicaSetAvailable" after 2 Pods of "web" are running on Node "worker-2", within 20s
      And Deployment "web" field metadata.annotations["deployment.kubernetes.io/revision"] is "2" within 5s
      When 1s passes
      Then the Pods of "web" on Node "worker-1" stay terminating for 60s
      And 2 Pods of "web" keep running on Node "worker-2" for 60s
      And Deployment "web" keeps field status.replicas at 2 for 60s

    @req:EV-04
    Scenario: Another template where pods are to be recreated: the rollout waits for the dead
      Nothing is made before every old pod has ended, and nobody can say so of a pod on a dead node.

      Given kube-controller-manager runs with:
        | node-monitor-grace-period | 20s |
      And no other Node
      And a ready Node "worker-1"
      And the object:
        """yaml
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: web, namespace: default}
        spec:
          replicas: 2
          strategy: {type: Recreate}
          selector: {matchLabels: {app: web}}
          template:
            metadata: {labels: {app: web}}
            spec: {containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      And 2 Pods of "web" are running
      And a ready Node "worker-2"
      And machine "worker-1" loses power
      And Deployment "web" has condition Available=False
      When the user sends strategic PATCH /apis/apps/v1/namespaces/default/deployments/web:
        """yaml
        spec: {template: {metadata: {labels: {version: two}}}}
        """
      Then the Pods of "web" on Node "worker-1" are deleted within 2s
      And Deployment "web" field status.replicas is absent within 2s
      And 0 Pods of "web" keep running on Node "worker-2" for 60s
      When machine "worker-1" gets power
      Then the Pods of "web" on Node "worker-1" are gone within 60s
      And 2 Pods of "web" are running after the Pods of "web" on Node "worker-1" are gone, within 90s
      And the Pods of "web" have label "version=two" within 90s
      And Deployment "web" has condition Available=True within 90s

    Scenario: Scaled down, it gives up the pod that is not ready
      Given kube-controller-manager runs with:
        | node-monitor-grace-period | 20s |
      And no other Node
      And a ready Node "worker-1"
      And a Deployment "web" of 1 Pod
      And a ready Node "worker-2"
      And the user cordons Node "worker-1"
      And the user sends PATCH /apis/apps/v1/namespaces/default/deployments/web:
        """yaml
        spec: {replicas: 2}
        """
      And 1 Pod of "web" is running on Node "worker-2"
      And machine "worker-1" loses power
      And Deployment "web" field status.readyReplicas is 1
      When the user sends PATCH /apis/apps/v1/namespaces/default/deployments/web:
        """yaml
        spec: {replicas: 1}
        """
      Then the Pod of "web" on Node "worker-1" is deleted within 2s
      And 1 Pod of "web" keeps running on Node "worker-2" for 60s
      And Deployment "web" field status.replicas is 1 within 5s
      And Deployment "web" keeps field status.readyReplicas at 1 for 60s

    Scenario: Scaled up, it gets pods on the nodes that are left
      Given kube-controller-manager runs with:
        | node-monitor-grace-period | 20s |
      And no other Node
      And a ready Node "worker-1"
      And a Deployment "web" of 2 Pods
      And a ready Node "worker-2"
      And machine "worker-1" loses power
      And Deployment "web" has condition Available=False
      When the user sends PATCH /apis/apps/v1/namespaces/default/deployments/web:
        """yaml
        spec: {replicas: 4}
        """
      Then 2 Pods of "web" are running on Node "worker-2" within 20s
      And Deployment "web" field status.readyReplicas is 2 within 20s
      And Deployment "web" keeps condition Available=False for 60s
      And 2 Pods of "web" keep running on Node "worker-1" for 60s

  Rule: Without a node that works there is nothing to replace pods on

    @req:EV-14
    Scenario: The only node is silent: pods are neither evicted nor replaced
      Given no other Node
      And a ready Node "worker-1"
      And a Deployment "web" of 2 Pods
      When machine "worker-1" loses power
      Then Deployment "web" has condition Available=False between 29s and 58s
      And 2 Pods of "web" keep running for 10m
      And Deployment "web" keeps field status.replicas at 2 for 10m
