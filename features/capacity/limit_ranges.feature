@extended
Feature: A LimitRange gives pods what they leave open, and refuses those that do not keep to it
  Source: plugin/pkg/admission/limitranger/admission.go (v1.34)

  Rule: What a container leaves open is set when the Pod is made, and noted in an annotation

    Scenario: Requests and limits of both kinds of containers
      Given the objects:
        """yaml
        apiVersion: v1
        kind: LimitRange
        metadata: {name: defaults}
        spec:
          limits:
          - type: Container
            default: {cpu: 500m, memory: 256Mi}
            defaultRequest: {cpu: 100m}
        """
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          containers:
          - {name: bare, image: i}
          - {name: own, image: i, resources: {limits: {cpu: "2"}, requests: {memory: 64Mi}}}
          initContainers:
          - {name: first, image: i, resources: {requests: {cpu: 50m, memory: 1Mi}, limits: {cpu: 50m, memory: 1Mi}}}
        """
      Then Pod "web" has these fields at once:
        """yaml
        metadata:
          annotations:
            kubernetes.io/limit-ranger: "LimitRanger plugin set: cpu, memory request for container bare; cpu, memory limit for container bare; memory limit for container own"
        spec:
          containers:
          - {name: bare, resources: {requests: {cpu: 100m, memory: 256Mi}, limits: {cpu: 500m, memory: 256Mi}}}
          - {name: own, resources: {requests: {cpu: "2", memory: 64Mi}, limits: {cpu: "2", memory: 256Mi}}}
          initContainers:
          - {name: first, resources: {requests: {cpu: 50m, memory: 1Mi}, limits: {cpu: 50m, memory: 1Mi}}}
        """
      And Pod "web" field status.qosClass is "Burstable" at once

    Scenario: A Pod that is there already stays as it is
      Given a ready Node "worker-1"
      And a Pod "old" on Node "worker-1"
      When the user creates:
        """yaml
        apiVersion: v1
        kind: LimitRange
        metadata: {name: strict}
        spec: {limits: [{type: Pod, max: {cpu: 10m}}]}
        """
      And the user applies:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: old, labels: {tier: front}}
        """
      Then Pod "old" keeps field metadata.annotations["kubernetes.io/limit-ranger"] absent for 60s
      And 1 Pod with label "tier=front" keeps running on Node "worker-1" for 60s
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: new}
        spec: {containers: [{name: app, image: i}]}
        """
      Then the request is refused with 403 pods "new" is forbidden: maximum cpu usage per Pod is 10m.  No limit is specified

  Rule: A Pod that does not keep to a limit is refused, and so is a claim

    Scenario Outline: <what>
      Given the object:
        """yaml
        apiVersion: v1
        kind: LimitRange
        metadata: {name: strict}
        spec: {limits: [<limit>]}
        """
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec:
          containers:
          - {name: a, image: i, resources: {requests: {cpu: 200m, memory: 64Mi}, limits: {cpu: 1500m, memory: 64Mi}}}
          - {name: b, image: i, resources: {requests: {cpu: 300m}, limits: {cpu: 1}}}
        """
      Then the request is refused with 403 pods "web" is forbidden: <why>
      And Pod "web" never appears for 10s

      Examples:
        | what                            | limit                                         | why |
        | a container above the maximum   | {type: Container, max: {cpu: "1"}}            | maximum cpu usage per Container is 1, but limit is 1500m |
        | a container below the minimum   | {type: Container, min: {cpu: 250m}}           | minimum cpu usage per Container is 250m, but request is 200m |
        | a Pod above the maximum         | {type: Pod, max: {cpu: "2"}}                  | maximum cpu usage per Pod is 2, but limit is 2500m |
        | a Pod below the minimum         | {type: Pod, min: {memory: 1Gi}}               | minimum memory usage per Pod is 1Gi, but request is 64Mi |
        | a Pod without a limit           | {type: Pod, max: {ephemeral-storage: 1Gi}}    | maximum ephemeral-storage usage per Pod is 1Gi.  No limit is specified |
        | too large a ratio of a Pod      | {type: Pod, maxLimitRequestRatio: {cpu: "3"}} | cpu max limit to request ratio per Pod is 3, but provided ratio is 5.000000 |

    Scenario: A claim
      Given the object:
        """yaml
        apiVersion: v1
        kind: LimitRange
        metadata: {name: room}
        spec: {limits: [{type: PersistentVolumeClaim, min: {storage: 1Gi}, max: {storage: 5Gi}}]}
        """
      When the user creates:
        """yaml
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data}
        spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 10Gi}}}
        """
      Then the request is refused with 403 persistentvolumeclaims "data" is forbidden: maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 10Gi

    Scenario: The Pods of a StatefulSet are refused, and its Node gets none
      Given a ready Node "worker-1"
      And the object:
        """yaml
        apiVersion: v1
        kind: LimitRange
        metadata: {name: strict}
        spec: {limits: [{type: Pod, min: {cpu: 100m}}]}
        """
      When the user creates:
        """yaml
        apiVersion: apps/v1
        kind: StatefulSet
        metadata: {name: db}
        spec:
          serviceName: db
          selector: {matchLabels: {app: db}}
          template:
            metadata: {labels: {app: db}}
            spec: {containers: [{name: c, image: i}]}
        """
      Then an Event FailedCreate about StatefulSet "db" within 5s
      And Pod "db-0" never appears for 60s
