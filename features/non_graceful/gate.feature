@core
Feature: The out-of-service taint is an alpha feature at first, and a node gives up nothing for it
  Only the controllers are of the release; of its kubelets nothing matters here, so that they are of the oldest release
  that is known.

  Source: pkg/features/kube_features.go (v1.24, v1.26, v1.28), NodeOutOfServiceVolumeDetach; KEP-2268

  Rule: Off by default in 1.24 and 1.25

    @req:NG-08
    Scenario Outline: In <release> neither pod nor volume is given up
      Given a cluster of Kubernetes <release>
      And no other Node
      And a ready Node "worker-1"
      And whose kubelet runs with:
        | version | 1.31 |
      And the objects in "volumes/storage.yaml"
      And the objects in "volumes/database.yaml"
      And 1 Pod of "db" is running on Node "worker-1"
      And Node "worker-1" field status.volumesInUse is ["kubernetes.io/csi/csi.example.com^vol-0"]
      And a ready Node "worker-2"
      And whose kubelet runs with:
        | version | 1.31 |
      And machine "worker-1" loses power
      And Pod "db-0" is deleted
      When the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
      Then Node "worker-1" has taint "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute" at once
      But Pod "db-0" stays terminating for 1h
      And Node "worker-1" keeps field status.volumesAttached unchanged for 1h
      And 0 Pods of "db" keep running on Node "worker-2" for 1h

      Examples:
        | release |
        | 1.24    |
        | 1.25    |

    @req:NG-08
    Scenario Outline: <gates> in <release>, and both are given up
      Given a cluster of Kubernetes <release>
      And kube-controller-manager runs with:
        | feature-gates | <gates> |
      And no other Node
      And a ready Node "worker-1"
      And whose kubelet runs with:
        | version | 1.31 |
      And the objects in "volumes/storage.yaml"
      And the objects in "volumes/database.yaml"
      And 1 Pod of "db" is running on Node "worker-1"
      And Node "worker-1" field status.volumesInUse is ["kubernetes.io/csi/csi.example.com^vol-0"]
      And a ready Node "worker-2"
      And whose kubelet runs with:
        | version | 1.31 |
      And machine "worker-1" loses power
      And Pod "db-0" is deleted
      When the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
      Then Pod "db-0" is gone within 21s
      And Node "worker-1" field status.volumesAttached is absent after Pod "db-0" is gone, within 22s
      And 1 Pod of "db" is running on Node "worker-2" within 50s

      Examples:
        | release | gates                             |
        | 1.24    | NodeOutOfServiceVolumeDetach=true |
        | 1.25    | NodeOutOfServiceVolumeDetach=true |
        | 1.26    |                                   |
        | 1.28    | NodeOutOfServiceVolumeDetach=true |

    @req:NG-08
    Scenario: Turned off in 1.26, where that is still possible
      Given a cluster of Kubernetes 1.26
      And kube-controller-manager runs with:
        | feature-gates | NodeOutOfServiceVolumeDetach=false |
      And no other Node
      And a ready Node "worker-1"
      And whose kubelet runs with:
        | version | 1.31 |
      And a ready Node "worker-2"
      And whose kubelet runs with:
        | version | 1.31 |
      And a Pod "web" on Node "worker-1"
      And machine "worker-1" loses power
      And Pod "web" is deleted
      When the user taints Node "worker-1" with "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
      Then Node "worker-1" has taint "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute" at once
      But Pod "web" stays terminating for 1h

  Rule: A node that is ready keeps the volumes that it uses since 1.25

    Scenario Outline: A kubelet that does not report, in <release>
      Given a cluster of Kubernetes <release>
      And no other Node
      And a ready Node "worker-1"
      And whose kubelet runs with:
        | version | 1.31 |
      And the objects in "volumes/storage.yaml"
      And the objects in "volumes/database.yaml"
      And 1 Pod of "db" is running on Node "worker-1"
      And Node "worker-1" field status.volumesInUse is ["kubernetes.io/csi/csi.example.com^vol-0"]
      And a ready Node "worker-2"
      And whose kubelet runs with:
        | version | 1.31 |
      And the user cordons Node "worker-1"
      And requests to nodes/status from "worker-1" are lost
      When the user sends DELETE /api/v1/namespaces/default/pods/db-0:
        """yaml
        {gracePeriodSeconds: 0}
        """
      Then Pod "db-0" field spec.nodeName is "worker-2" within 5s
      And Node "worker-1" keeps condition Ready=True for 10m
      And <what>

      Examples:
        | release | what                                                                                |
        | 1.24    | Node "worker-1" field status.volumesAttached is absent between 360s and 361s        |
        | 1.25    | Node "worker-1" keeps field status.volumesAttached unchanged for 10m                |
