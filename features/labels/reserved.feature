@core
Feature: Labels that Kubernetes keeps for itself
  Source: plugin/pkg/admission/noderestriction/admission.go (v1.34), getModifiedLabels, getForbiddenLabels
  Source: k8s.io/kubelet/pkg/apis/well_known_labels.go (v1.34), IsKubeletLabel

  Background:
    Given a hand-fed Node "worker-1"

  @req:LAB-03
  Rule: A kubelet sets no label below kubernetes.io or k8s.io that is not its own

    Scenario Outline: It may set <key>
      When the kubelet on "worker-1" sends PATCH /api/v1/nodes/worker-1:
        """yaml
        metadata: {labels: {"<key>": there}}
        """
      Then the request is answered with 200
      And Node "worker-1" has label "<key>=there" at once

      Examples:
        | key                               |
        | rack                              |
        | example.com/rack                  |
        | notkubernetes.io/rack             |
        | kubernetes.io.example.com/rack    |
        | kubernetes.io/os                  |
        | kubernetes.io/arch                |
        | topology.kubernetes.io/region     |
        | node.kubernetes.io/rack           |
        | a.node.kubernetes.io/rack         |
        | kubelet.kubernetes.io/rack        |

    Scenario Outline: It may not set <key>
      When the kubelet on "worker-1" sends PATCH /api/v1/nodes/worker-1:
        """yaml
        metadata: {labels: {"<key>": there}}
        """
      Then the request is refused with 403 nodes "worker-1" is forbidden: is not allowed to modify labels: <key>
      And Node "worker-1" has no label "<key>" at once

      Examples:
        | key                                |
        | kubernetes.io/role                 |
        | k8s.io/role                        |
        | example.kubernetes.io/role         |
        | example.k8s.io/role                |
        | node-role.kubernetes.io/worker     |
        | node-restriction.kubernetes.io/x   |
        | app.kubernetes.io/name             |

    Scenario: Several of them are named in order
      When the kubelet on "worker-1" sends PATCH /api/v1/nodes/worker-1:
        """yaml
        metadata: {labels: {rack: x, kubernetes.io/a: x, k8s.io/z: x}}
        """
      Then the request is refused with 403 is not allowed to modify labels: k8s.io/z, kubernetes.io/a
      And Node "worker-1" has no label "rack" at once

  @req:LAB-03
  Rule: A user may set them all: the prefixes are reserved by agreement alone

    Scenario Outline: A user sets <key>
      When the user labels Node "worker-1" with "<key>=there"
      Then Node "worker-1" has label "<key>=there" at once

      Examples:
        | key                              |
        | kubernetes.io/role               |
        | k8s.io/role                      |
        | node-role.kubernetes.io/worker   |
        | node-restriction.kubernetes.io/x |

    Scenario: And a kubelet can then not take it off
      Given the user labels Node "worker-1" with "node-role.kubernetes.io/worker=yes"
      When the kubelet on "worker-1" sends PATCH /api/v1/nodes/worker-1:
        """yaml
        metadata: {labels: {node-role.kubernetes.io/worker: null}}
        """
      Then the request is refused with 403 is not allowed to modify labels: node-role.kubernetes.io/worker
      And Node "worker-1" keeps label "node-role.kubernetes.io/worker=yes" for 1s

    Scenario: A Pod of a user may carry them as well
      When the user sends POST /api/v1/namespaces/default/pods:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web, labels: {kubernetes.io/anything: x, app.kubernetes.io/name: web}}
        spec: {nodeName: worker-1, containers: [{name: c, image: i}]}
        """
      Then the request is answered with 201
      When the user sends GET /api/v1/namespaces/default/pods?labelSelector=kubernetes.io%2Fanything%3Dx
      Then the answer lists "web"
