@core
Feature: A container is made once the ConfigMaps and secrets are there that its Pod names
  Source: pkg/kubelet/kubelet_pods.go (v1.34), makeEnvironmentVariables
  Source: pkg/volume/configmap/configmap.go and pkg/volume/projected/projected.go (v1.34), SetUpAt and collectData
  Source: pkg/kubelet/util/manager/watch_based_manager.go (v1.34)
  Source: pkg/kubelet/kubelet_pods.go (v1.34), getPullSecretsForPod
  Source: pkg/kubelet/volumemanager/cache/actual_state_of_world.go (v1.34), MarkRemountRequired

  Rule: An environment needs what it names

    Scenario: The container waits until the ConfigMap is there
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            envFrom: [{configMapRef: {name: app}}]
        """
      Then Event Pulled about Pod "web" within 3s
      And Event Failed about Pod "web", message "Error: configmap \"app\" not found" within 3s
      And Pod "web" field status.containerStatuses[0].state.waiting.reason is "CreateContainerConfigError" within 5s
      And Pod "web" field status.containerStatuses[0].state.waiting.message is "configmap \"app\" not found" within 5s
      And Pod "web" keeps field status.phase "Pending" for 60s
      But no Event Created about Pod "web" for 60s
      When the user creates:
        """
        kind: ConfigMap
        apiVersion: v1
        metadata: {name: app, namespace: default}
        data: {mode: quiet}
        """
      Then Pod "web" has condition Ready=True within 18s
      And the history of Pod "web" matches its snapshot

    Scenario Outline: A key that <kind> does not have
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: <kind>
        apiVersion: v1
        metadata: {name: app, namespace: default}
        data: {bW9kZQ: bW9kZQ==}
        """
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            env:
            - {name: THERE, valueFrom: {<field>: {name: app, key: bW9kZQ}}}
            - {name: MAYBE, valueFrom: {<field>: {name: app, key: other, optional: true}}}
            - {name: MODE, valueFrom: {<field>: {name: app, key: mode}}}
        """
      Then Event Failed about Pod "web", message "Error: couldn't find key mode in <kind> default/app" within 3s
      And Pod "web" field status.containerStatuses[0].state.waiting.reason is "CreateContainerConfigError" within 5s
      But Pod "web" keeps field status.phase "Pending" for 60s

      Examples:
        | kind      | field           |
        | ConfigMap | configMapKeyRef |
        | Secret    | secretKeyRef    |

    Scenario: What may be missing holds nothing back
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          volumes:
          - {name: settings, configMap: {name: app, optional: true, items: [{key: a, path: a}]}}
          - {name: unused, configMap: {name: nowhere}}
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            envFrom: [{configMapRef: {name: app, optional: true}}]
            env: [{name: MODE, valueFrom: {secretKeyRef: {name: keys, key: mode, optional: true}}}]
            volumeMounts: [{name: settings, mountPath: /settings}]
        """
      Then Pod "web" has condition Ready=True within 3s
      And no Event Failed about Pod "web" for 10s
      And no Event FailedMount about Pod "web" for 10s

    Scenario: A container that ends is not made again once its ConfigMap is gone
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: ConfigMap
        apiVersion: v1
        metadata: {name: app, namespace: default}
        data: {mode: quiet}
        ---
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.crashes-after: 90s}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            envFrom: [{configMapRef: {name: app}}]
        """
      And Pod "web" has condition Ready=True
      When the user deletes ConfigMap "app"
      Then Pod "web" keeps condition Ready=True for 80s
      And Event Failed about Pod "web", message "Error: configmap \"app\" not found" between 80s and 95s
      And Pod "web" field status.containerStatuses[0].state.waiting.reason is "CreateContainerConfigError" between 80s and 120s
      And Pod "web" field status.containerStatuses[0].lastState.terminated.exitCode is 1 between 80s and 120s
      But Pod "web" keeps field status.containerStatuses[0].restartCount 0 for 120s

    Scenario: The kubelet knows the ConfigMap of a Pod while the API server cannot be reached
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: ConfigMap
        apiVersion: v1
        metadata: {name: app, namespace: default}
        data: {mode: quiet}
        ---
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.crashes-after: 60s}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            envFrom: [{configMapRef: {name: app}}]
        """
      And Pod "web" has condition Ready=True
      When machine "worker-1" loses its connection to the API server
      Then Pod "web" keeps field status.containerStatuses[0].restartCount 0 for 90s
      When machine "worker-1" regains its connection to the API server
      Then Pod "web" field status.containerStatuses[0].restartCount is 1 within 20s
      And no Event Failed about Pod "web" for 20s

    Scenario: What nobody has read for five minutes is not watched any more
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: ConfigMap
        apiVersion: v1
        metadata: {name: app, namespace: default}
        data: {mode: quiet}
        ---
        kind: Pod
        apiVersion: v1
        metadata:
          name: web
          namespace: default
          annotations: {nodeproof.dev/main.crashes-after: 420s}
        spec:
          nodeName: worker-1
          tolerations: [{operator: Exists}]
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            envFrom: [{configMapRef: {name: app}}]
        """
      And Pod "web" has condition Ready=True
      And 400s pass
      When machine "worker-1" loses its connection to the API server
      And 60s pass
      And machine "worker-1" regains its connection to the API server
      Then Event Failed about Pod "web", message "Error: failed to sync configmap cache: timed out waiting for the condition" within 20s
      And Pod "web" field status.containerStatuses[0].restartCount is 1 within 45s

  Rule: A volume needs what it is made of

    Scenario: The Pod waits, and the mount is tried after growing pauses
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          volumes: [{name: settings, configMap: {name: app}}]
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            volumeMounts: [{name: settings, mountPath: /settings}]
        """
      Then Event FailedMount about Pod "web", message "MountVolume.SetUp failed for volume \"settings\" : configmap \"app\" not found" within 2s
      And Pod "web" keeps field status.containerStatuses[0].state.waiting.reason "ContainerCreating" for 5s
      But no Event Pulled about Pod "web" for 5s
      When 30s pass
      And the user creates:
        """
        kind: ConfigMap
        apiVersion: v1
        metadata: {name: app, namespace: default}
        data: {mode: quiet}
        """
      Then Pod "web" has condition Ready=True between 15s and 35s

    Scenario: A projected volume tells of all that it lacks
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: Secret
        apiVersion: v1
        metadata: {name: keys, namespace: default}
        stringData: {one: "1"}
        """
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          volumes:
          - name: all
            projected:
              sources:
              - configMap: {name: app}
              - secret: {name: keys, items: [{key: one, path: one}, {key: two, path: two}]}
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            volumeMounts: [{name: all, mountPath: /all}]
        """
      Then Event FailedMount about Pod "web", message "MountVolume.SetUp failed for volume \"all\" : [configmap \"app\" not found, references non-existent secret key: two]" within 2s
      But Pod "web" keeps field status.phase "Pending" for 60s

    Scenario: The ConfigMap of a Pod that runs goes, and comes back
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: ConfigMap
        apiVersion: v1
        metadata: {name: app, namespace: default}
        ---
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          volumes: [{name: settings, configMap: {name: app}}]
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            volumeMounts: [{name: settings, mountPath: /settings}]
        """
      And Pod "web" has condition Ready=True
      When the user deletes ConfigMap "app"
      Then Event FailedMount about Pod "web", message "MountVolume.SetUp failed for volume \"settings\" : configmap \"app\" not found" within 90s
      And 8 Events FailedMount about Pod "web" between 10s and 240s
      And Pod "web" keeps condition Ready=True for 5m
      When the user creates:
        """
        kind: ConfigMap
        apiVersion: v1
        metadata: {name: app, namespace: default}
        """
      And 122s pass
      Then no Event FailedMount about Pod "web" for 5m

    Scenario: What happens to an immutable ConfigMap is not noticed
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: ConfigMap
        apiVersion: v1
        metadata: {name: app, namespace: default}
        immutable: true
        ---
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          volumes: [{name: settings, configMap: {name: app}}]
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            volumeMounts: [{name: settings, mountPath: /settings}]
        """
      And Pod "web" has condition Ready=True
      When the user deletes ConfigMap "app"
      Then ConfigMap "app" is gone within 1s
      But no Event FailedMount about Pod "web" for 5m

  Rule: A secret for pulling images that is missing is told with each sync, and holds nothing back

    Scenario: One of two secrets is missing, until it is made, and once it is gone again
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: Secret
        apiVersion: v1
        metadata: {name: here, namespace: default}
        """
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          imagePullSecrets: [{name: there}, {name: here}, {name: nowhere}]
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      Then Event FailedToRetrieveImagePullSecret about Pod "web", message "Unable to retrieve some image pull secrets (there, nowhere); attempting to pull the image may not succeed." within 1s
      And Pod "web" has condition Ready=True within 3s
      And 2 Events FailedToRetrieveImagePullSecret about Pod "web" within 3s
      And 3 Events FailedToRetrieveImagePullSecret about Pod "web" between 60s and 95s
      When the user creates:
        """
        {kind: Secret, apiVersion: v1, metadata: {name: there, namespace: default}}
        ---
        {kind: Secret, apiVersion: v1, metadata: {name: nowhere, namespace: default}}
        """
      Then no Event FailedToRetrieveImagePullSecret about Pod "web" for 5m
      When the user deletes Secret "here"
      Then Event FailedToRetrieveImagePullSecret about Pod "web", message "Unable to retrieve some image pull secrets (here); attempting to pull the image may not succeed." within 90s

  Rule: A container must not run as root where its Pod says so

    Scenario: Its user is root
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          securityContext: {runAsNonRoot: true}
          containers:
          - {name: main, image: registry.k8s.io/pause:3.10, securityContext: {runAsUser: 0}}
          - {name: other, image: registry.k8s.io/pause:3.10, securityContext: {runAsUser: 0, runAsNonRoot: false}}
        """
      Then Pod "web" field status.containerStatuses[0].state.waiting.reason is "CreateContainerConfigError" within 5s
      And Pod "web" field status.containerStatuses[1].state.running is set within 3s
      But Pod "web" keeps field status.phase "Pending" for 30s

  Rule: A part of a volume is named by variables that have values, and lies in the volume
    Source: pkg/kubelet/container/helpers.go (v1.34), ExpandContainerVolumeMounts; pkg/kubelet/kubelet_pods.go (v1.34), makeMounts

    Scenario Outline: <path>, where <what>
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          volumes: [{name: data, emptyDir: {}}]
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            env: [{name: HERE, value: "<value>"}, {name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
            volumeMounts: [{name: data, mountPath: /data, subPathExpr: <path>}]
        """
      Then Event Failed about Pod "web", message "Error: <why>" within 3s
      And Pod "web" field status.containerStatuses[0].state.waiting.reason is "CreateContainerConfigError" within 5s
      And Pod "web" field status.containerStatuses[0].state.waiting.message is "<why>" within 5s
      And Pod "web" keeps field status.phase "Pending" for 60s

      Examples:
        | path            | what                     | value | why                                                  |
        | $(NONE)/$(NAME) | there is no variable     | a     | missing value for NONE                               |
        | $(HERE)         | the value is empty       |       | missing value for HERE                               |
        | $(HERE)         | the value begins outside | /a    | error SubPath `/a` must not be an absolute path      |
        | $(HERE)         | the value leads outside  | a/..  | unable to provision SubPath `a/..`: must not contain '..' |

    Scenario: With values for all of them the container runs
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          volumes: [{name: data, emptyDir: {}}]
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            env: [{name: HERE, value: "a-$(NAME)"}, {name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
            volumeMounts: [{name: data, mountPath: /data, subPathExpr: $(HERE)/$(NAME)}]
        """
      Then Pod "web" field status.phase is "Running" within 5s

  Rule: A variable tells the resources of a container that there is
    Source: pkg/api/v1/resource/helpers.go (v1.34), findContainerInPod

    Scenario: The Pod does not have it
      Given a ready Node "worker-1"
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            env: [{name: CPU, valueFrom: {resourceFieldRef: {containerName: none, resource: limits.cpu}}}]
        """
      Then Event Failed about Pod "web", message "Error: container none not found" within 3s
      And Pod "web" field status.containerStatuses[0].state.waiting.message is "container none not found" within 5s
      And Pod "web" keeps field status.phase "Pending" for 60s

  Rule: After a reboot a Pod runs again once what it names was read
    Source: pkg/kubelet/kubelet.go (v1.31, v1.34, v1.37), SyncPod

    Scenario Outline: <what>
      Given a ready Node "worker-1"
      And the objects:
        """
        kind: ConfigMap
        apiVersion: v1
        metadata: {name: app, namespace: default}
        data: {mode: quiet}
        ---
        kind: Secret
        apiVersion: v1
        metadata: {name: app, namespace: default}
        ---
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          restartPolicy: <policy>
          <names>
          containers: [{name: main, image: registry.k8s.io/pause:3.10, volumeMounts: <mounts>}]
        """
      And Pod "web" has condition Ready=True
      When machine "worker-1" reboots
      Then Pod "web" has these fields within 45s:
        """
        status: {phase: <phase>, containerStatuses: [{name: main, restartCount: <restarts>, ready: <ready>}]}
        """

      Examples:
        | what                             | policy | names                                                                  | mounts                     | phase   | restarts | ready |
        | A volume of a ConfigMap          | Always | volumes: [{name: v, configMap: {name: app}}]                           | [{name: v, mountPath: /v}] | Running | 1        | true  |
        | A volume of a secret             | Always | volumes: [{name: v, secret: {secretName: app}}]                        | [{name: v, mountPath: /v}] | Running | 1        | true  |
        | A volume of a secret that is not | Always | volumes: [{name: v, secret: {secretName: other, optional: true}}]      | [{name: v, mountPath: /v}] | Running | 1        | true  |
        | A secret for pulls               | Always | imagePullSecrets: [{name: app}]                                        | []                         | Running | 1        | true  |
        | A Pod that runs only once        | Never  | volumes: [{name: v, configMap: {name: app}}]                           | [{name: v, mountPath: /v}] | Failed  | 0        | false |

  Rule: A volume of huge pages is made for a container that asks for them
    Source: pkg/volume/emptydir/empty_dir.go (v1.31, v1.34, v1.37), getPageSizeMountOption

    Scenario Outline: One of <medium> that is not made: <why>
      Given a machine "worker-1" with:
        | hugepages-2Mi | 64Mi |
        | hugepages-1Gi | 2Gi  |
      And Node "worker-1" has condition Ready=True
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          volumes: [{name: v, emptyDir: {medium: <medium>}}]
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            resources: {limits: <limits>}
            volumeMounts: [{name: v, mountPath: /v}]
        """
      Then Event FailedMount about Pod "web", message "MountVolume.SetUp failed for volume \"v\" : <why>" within 2s
      And Pod "web" keeps field status.phase "Pending" for 60s

      Examples:
        | medium        | limits                                           | why |
        | HugePages     | {cpu: 1}                                         | medium HugePages: hugePages storage requested, but there is no resource request for huge pages     |
        | HugePages     | {cpu: 1, hugepages-2Mi: 4Mi, hugepages-1Gi: 1Gi} | medium: HugePages can't be used if container requests multiple huge page sizes                     |
        | HugePages-1Gi | {cpu: 1, hugepages-2Mi: 4Mi}                     | medium HugePages-1Gi: hugePages storage requested, but there is no resource request for huge pages |

    Scenario Outline: One of <medium> that is made, with <limits>
      Given a machine "worker-1" with:
        | hugepages-2Mi | 64Mi |
        | hugepages-1Gi | 2Gi  |
      And Node "worker-1" has condition Ready=True
      When the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web, namespace: default}
        spec:
          nodeName: worker-1
          volumes: [{name: v, emptyDir: {medium: <medium>}}]
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
            resources: {limits: <limits>}
            volumeMounts: [{name: v, mountPath: /v}]
        """
      Then Pod "web" field status.phase is "Running" within 3s

      Examples:
        | medium        | limits                                           |
        | HugePages     | {cpu: 1, hugepages-2Mi: 4Mi}                     |
        | HugePages-2Mi | {cpu: 1, hugepages-2Mi: 4Mi, hugepages-1Gi: 1Gi} |
