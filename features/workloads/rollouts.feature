@core
Feature: A Deployment's rollout is paused, resized, late, taken back
  Source: pkg/controller/deployment/{deployment_controller,sync,progress,rollback}.go (v1.34)
  Source: pkg/controller/controller_ref_manager.go (v1.34), ClaimReplicaSets

  Rule: A paused Deployment makes no ReplicaSet, and can still be scaled

    Scenario: A Deployment that is paused from its beginning
      When the user creates:
        """yaml
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: web}
        spec:
          replicas: 2
          paused: true
          selector: {matchLabels: {app: web}}
          template:
            metadata: {labels: {app: web}}
            spec: {containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      Then Deployment "web" has condition Progressing=Unknown, reason "DeploymentPaused", message "Deployment is paused", within 5s
      And 0 Pods of "web" keep running for 60s
      When the user sends PATCH /apis/apps/v1/namespaces/default/deployments/web:
        """yaml
        spec: {paused: false}
        """
      Then 2 Pods of "web" are running within 20s
      And Deployment "web" has condition Progressing=True, reason "NewReplicaSetAvailable", within 20s

    Scenario: It is paused and scaled in the middle of a rollout: old and new pods grow by their shares
      Three old pods run and two new ones wait for a node: twice as many pods are six and four.

      Given the object:
        """yaml
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: web, namespace: default}
        spec:
          replicas: 4
          selector: {matchLabels: {app: web}}
          template:
            metadata: {labels: {app: web}}
            spec: {containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      And 4 Pods of "web" are running
      And the user sends strategic PATCH /apis/apps/v1/namespaces/default/deployments/web:
        """yaml
        spec: {template: {spec: {nodeSelector: {example.com/disk: none}}}}
        """
      And Deployment "web" field status.replicas is 5
      And Deployment "web" field status.updatedReplicas is 2
      And 30s pass
      When the user sends PATCH /apis/apps/v1/namespaces/default/deployments/web:
        """yaml
        spec: {paused: true, replicas: 8}
        """
      Then 6 Pods of "web" are running within 20s
      And Deployment "web" field status.updatedReplicas is 4 within 20s
      And Deployment "web" has condition Progressing=Unknown, reason "DeploymentPaused", within 5s
      When 1s passes
      Then 6 Pods of "web" keep running for 60s

  Rule: A rollout without progress is late after its deadline

    Scenario: The new pods fit no node
      When the user creates:
        """yaml
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: web}
        spec:
          replicas: 1
          progressDeadlineSeconds: 30
          selector: {matchLabels: {app: web}}
          template:
            metadata: {labels: {app: web}}
            spec:
              nodeSelector: {example.com/disk: none}
              containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      Then Deployment "web" has condition Progressing=True, reason "ReplicaSetUpdated", within 5s
      And Deployment "web" has condition Progressing=False, reason "ProgressDeadlineExceeded", between 29s and 40s

  Rule: ReplicaSets that it selects become its own, and old ones without pods are deleted beyond the limit

    Scenario Outline: A ReplicaSet of another template is there before it, and <limit> old ones are kept
      Given the object:
        """yaml
        apiVersion: apps/v1
        kind: ReplicaSet
        metadata: {name: web-old, namespace: default, labels: {app: web}}
        spec:
          replicas: 0
          selector: {matchLabels: {app: web, version: one}}
          template:
            metadata: {labels: {app: web, version: one}}
            spec: {containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      And 5s pass
      When the user creates:
        """yaml
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: web}
        spec:
          replicas: 1
          revisionHistoryLimit: <limit>
          selector: {matchLabels: {app: web}}
          template:
            metadata: {labels: {app: web, version: two}}
            spec: {containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      Then ReplicaSet "web-old" field metadata.ownerReferences[0].name is "web" within 2s
      And Deployment "web" has condition Progressing=True, reason "NewReplicaSetAvailable", within 20s
      When 5s pass
      And the user sends DELETE /apis/apps/v1/namespaces/default/replicasets/web-old
      Then the request is <answer>

      Examples:
        | limit | answer                                                |
        | 0     | refused with 404 replicasets.apps "web-old" not found |
        | 1     | answered with 200                                     |

    Scenario: A ReplicaSet that it selects no longer is let go
      Given the object:
        """yaml
        apiVersion: apps/v1
        kind: ReplicaSet
        metadata: {name: web-old, namespace: default, labels: {app: web}}
        spec:
          replicas: 0
          selector: {matchLabels: {app: web, version: one}}
          template:
            metadata: {labels: {app: web, version: one}}
            spec: {containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      And a Deployment "web" of 1 Pod
      And 5s pass
      And the user sends PATCH /apis/apps/v1/namespaces/default/replicasets/web-old:
        """yaml
        metadata: {labels: {app: web-old}}
        """
      When 2s pass
      Then ReplicaSet "web-old" keeps field metadata.ownerReferences absent for 60s

  Rule: An annotation takes back the template of an earlier revision

    Scenario: To the first of two revisions
      Given a Deployment "web" of 2 Pods
      And 5s pass
      And the user sends strategic PATCH /apis/apps/v1/namespaces/default/deployments/web:
        """yaml
        spec: {template: {metadata: {labels: {version: two}}}}
        """
      And Deployment "web" field metadata.annotations["deployment.kubernetes.io/revision"] is "2"
      And 60s pass
      When the user sends PATCH /apis/apps/v1/namespaces/default/deployments/web:
        """yaml
        metadata: {annotations: {deprecated.deployment.rollback.to: "1"}}
        """
      Then Event DeploymentRollback about Deployment "web" within 5s
      And Deployment "web" field spec.template.metadata.labels.version is absent within 5s
      And Deployment "web" field metadata.annotations["deprecated.deployment.rollback.to"] is absent within 5s
      And Deployment "web" field metadata.annotations["deployment.kubernetes.io/revision"] is "3" within 5s
