@core
Feature: A DaemonSet replaces its pods, takes what it selects and lets go what it does not
  Source: pkg/controller/daemon/{daemon_controller,update}.go (v1.34)
  Source: pkg/controller/controller_ref_manager.go (v1.34), ClaimPods, ClaimControllerRevisions

  Rule: With a surge the new pod runs before the old one goes

    Scenario: Another template
      Given the object:
        """yaml
        apiVersion: apps/v1
        kind: DaemonSet
        metadata: {name: agent, namespace: default}
        spec:
          selector: {matchLabels: {app: agent}}
          updateStrategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
          template:
            metadata: {labels: {app: agent}}
            spec: {containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      And 1 Pod of "agent" is running
      And 5s pass
      When the user sends strategic PATCH /apis/apps/v1/namespaces/default/daemonsets/agent:
        """yaml
        spec: {template: {metadata: {labels: {version: two}}}}
        """
      Then DaemonSet "agent" keeps field status.numberAvailable at 1 for 60s
      And 2 Pods of "agent" are running within 20s
      And DaemonSet "agent" field status.updatedNumberScheduled is 1 within 60s
      When 60s pass
      Then 1 Pod of "agent" keeps running for 60s

    Scenario: A node is deleted, and its pod is still there
      Given a ready Node "worker-1"
      And the object:
        """yaml
        apiVersion: apps/v1
        kind: DaemonSet
        metadata: {name: agent, namespace: default}
        spec:
          selector: {matchLabels: {app: agent}}
          updateStrategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
          template:
            metadata: {labels: {app: agent}}
            spec: {containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      And 2 Pods of "agent" are running
      And machine "worker-1" loses power
      And the user deletes Node "worker-1"
      When the user sends strategic PATCH /apis/apps/v1/namespaces/default/daemonsets/agent:
        """yaml
        spec: {template: {metadata: {labels: {version: two}}}}
        """
      Then DaemonSet "agent" keeps field status.updatedNumberScheduled absent for 20s
      And DaemonSet "agent" field status.updatedNumberScheduled is 1 within 3m

  Rule: A pod without owner that it selects becomes its own, and one that it selects no longer is replaced

    Scenario: A pod of somebody else is adopted, then relabelled
      Given a ready Node "worker-1"
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: stray, namespace: default, labels: {app: agent}}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      And Pod "stray" field status.phase is "Running"
      When the user creates:
        """yaml
        apiVersion: apps/v1
        kind: DaemonSet
        metadata: {name: agent}
        spec:
          selector: {matchLabels: {app: agent}}
          updateStrategy: {type: OnDelete}
          template:
            metadata: {labels: {app: agent}}
            spec: {containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      Then Pod "stray" field metadata.ownerReferences[0].name is "agent" within 2s
      And DaemonSet "agent" field status.currentNumberScheduled is 2 within 20s
      And DaemonSet "agent" field status.updatedNumberScheduled is 1 within 20s
      When the user sends PATCH /api/v1/namespaces/default/pods/stray:
        """yaml
        metadata: {labels: {app: other}}
        """
      Then Pod "stray" field metadata.ownerReferences is absent within 2s
      And DaemonSet "agent" field status.updatedNumberScheduled is 2 within 20s
      And Pod "stray" stays for 60s

  Rule: Revisions that it selects become its own, and old ones without pods are deleted beyond the limit

    Scenario Outline: A revision of another template is there before it, and <limit> old ones are kept
      Given the object:
        """yaml
        apiVersion: apps/v1
        kind: ControllerRevision
        metadata: {name: agent-old, namespace: default, labels: {app: agent, controller-revision-hash: old}}
        revision: 7
        data: {spec: {template: {$patch: replace}}}
        """
      When the user creates:
        """yaml
        apiVersion: apps/v1
        kind: DaemonSet
        metadata: {name: agent}
        spec:
          revisionHistoryLimit: <limit>
          selector: {matchLabels: {app: agent}}
          template:
            metadata: {labels: {app: agent}}
            spec: {containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      Then DaemonSet "agent" field status.numberReady is 1 within 20s
      When 5s pass
      And the user sends DELETE /apis/apps/v1/namespaces/default/controllerrevisions/agent-old
      Then the request is <answer>

      Examples:
        | limit | answer                                                          |
        | 0     | refused with 404 controllerrevisions.apps "agent-old" not found |
        | 1     | answered with 200                                               |

    Scenario: A revision that it selects no longer is let go
      Given the object:
        """yaml
        apiVersion: apps/v1
        kind: ControllerRevision
        metadata: {name: agent-old, namespace: default, labels: {app: agent, controller-revision-hash: old}}
        revision: 7
        data: {spec: {template: {$patch: replace}}}
        """
      And a DaemonSet "agent" of 1 Pod
      And 5s pass
      When the user sends PATCH /apis/apps/v1/namespaces/default/controllerrevisions/agent-old:
        """yaml
        metadata: {labels: {app: other}}
        """
      Then ControllerRevision "agent-old" field metadata.ownerReferences is absent within 2s
      When 1s passes
      Then ControllerRevision "agent-old" keeps field metadata.ownerReferences absent for 60s
