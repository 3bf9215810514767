@core
Feature: The labels that a kubelet may set
  Source: cmd/kubelet/app/options/options.go (v1.34), ValidateKubeletFlags
  Source: plugin/pkg/admission/noderestriction/admission.go (v1.34), getForbiddenLabels
  Source: k8s.io/kubelet/pkg/apis/well_known_labels.go (v1.34), IsKubeletLabel

  @req:REG-08
  Rule: --node-labels adds labels at registration

    Scenario Outline: <label> is free or one of the kubelet's own
      When a kubelet named "worker-1" registers with:
        | flag        | value     |
        | node-labels | <label>=x |
      Then Node "worker-1" exists within 1s
      And Node "worker-1" keeps label "<label>=x" for 10m
      And Node "worker-1" has condition Ready=True within 15s

      Examples:
        | label                            |
        | plain                            |
        | example.com/rack                 |
        | notkubernetes.io/x               |
        | xk8s.io/y                        |
        | node.kubernetes.io/anything      |
        | node.kubernetes.io/instance-type |
        | x.node.kubernetes.io/y           |
        | kubelet.kubernetes.io/x          |
        | topology.kubernetes.io/zone      |
        | node-role.kubernetes.io          |

    Scenario: Several labels, one without a value
      When a kubelet named "worker-1" registers with:
        | flag        | value                       |
        | node-labels | example.com/rack=r7,plain   |
      Then Node "worker-1" exists within 1s
      And Node "worker-1" keeps label "example.com/rack=r7" for 10m
      And Node "worker-1" keeps label "plain" for 10m

  @req:REG-08
  Rule: A kubelet does not start with a label of Kubernetes that is not its own

    Scenario Outline: <labels>
      When a kubelet named "worker-1" registers with:
        | flag        | value    |
        | node-labels | <labels> |
      Then the kubelet refuses to start with "failed to validate kubelet flags: unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [<named>]"
      And Node "worker-1" never appears for 10m

      Examples:
        | labels                                        | named                                           |
        | node-role.kubernetes.io/worker=               | node-role.kubernetes.io/worker                  |
        | kubernetes.io/x=y                             | kubernetes.io/x                                 |
        | k8s.io/x=y                                    | k8s.io/x                                        |
        | sub.k8s.io/x=y                                | sub.k8s.io/x                                    |
        | node-restriction.kubernetes.io/x=y            | node-restriction.kubernetes.io/x                |
        | plain=x,z.kubernetes.io/b=1,a.kubernetes.io/a | a.kubernetes.io/a z.kubernetes.io/b             |

    Scenario: A key that is no key at all is refused as well
      When a kubelet named "worker-1" registers with:
        | flag        | value   |
        | node-labels | a/b/c=d |
      Then the kubelet refuses to start with "failed to validate kubelet flags: invalid node labels: 'a/b/c' - a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
      And Node "worker-1" never appears for 10m

  @req:REG-08
  Rule: Nor can it set, change or remove one later

    Scenario Outline: It cannot set <named>
      Given a ready Node "worker-1"
      When the kubelet on "worker-1" sends PATCH /api/v1/nodes/worker-1<subresource>:
        """
        metadata: {labels: <labels>}
        """
      Then the request is refused with 403 "nodes "worker-1" is forbidden: is not allowed to modify labels: <named>"
      And nothing else about Node "worker-1" changes
      And Node "worker-1" keeps condition Ready unchanged for 1m

      Examples:
        | subresource | labels                                                  | named                                              |
        |             | {node-role.kubernetes.io/worker: ""}                    | node-role.kubernetes.io/worker                     |
        | /status     | {node-role.kubernetes.io/worker: ""}                    | node-role.kubernetes.io/worker                     |
        |             | {foo.node-restriction.kubernetes.io/x: v}               | foo.node-restriction.kubernetes.io/x               |
        |             | {b.k8s.io/x: v, a.k8s.io/x: v, example.com/free: v}     | a.k8s.io/x, b.k8s.io/x                             |
        | /status     | {kubernetes.io/other: v}                                | kubernetes.io/other                                |

    Scenario: It cannot remove what an administrator has set
      Given a ready Node "worker-1"
      And the user labels Node "worker-1" with "node-restriction.kubernetes.io/team=blue"
      When the kubelet on "worker-1" sends PATCH /api/v1/nodes/worker-1:
        """
        metadata: {labels: {node-restriction.kubernetes.io/team: null}}
        """
      Then the request is refused with 403 "nodes "worker-1" is forbidden: is not allowed to modify labels: node-restriction.kubernetes.io/team"
      And Node "worker-1" keeps label "node-restriction.kubernetes.io/team=blue" for 10m

    Scenario: What it may set it may change, through the status too
      Given a ready Node "worker-1"
      When the kubelet on "worker-1" sends PATCH /api/v1/nodes/worker-1/status:
        """
        metadata: {labels: {topology.kubernetes.io/zone: b, example.com/free: w}}
        """
      Then the request is answered with 200
      And Node "worker-1" has label "topology.kubernetes.io/zone=b" within 1s
      And Node "worker-1" has label "example.com/free=w" within 1s

    Scenario: A Node of its own is not created with one either
      Given a ready Node "worker-1"
      And the kubelet on "worker-1" stops
      And the user deletes Node "worker-1"
      When the kubelet on "worker-1" sends POST /api/v1/nodes:
        """
        apiVersion: v1
        kind: Node
        metadata: {name: worker-1, labels: {z.kubernetes.io/b: x, a.kubernetes.io/a: y, plain: z}}
        """
      Then the request is refused with 403 "nodes "worker-1" is forbidden: node "worker-1" is not allowed to set the following labels: a.kubernetes.io/a, z.kubernetes.io/b"
      And Node "worker-1" never appears for 1m
