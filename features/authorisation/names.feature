@core
Feature: The name of a Node is a DNS subdomain
  Source: k8s.io/apimachinery pkg/api/validation/generic.go (v1.34), NameIsDNSSubdomain
  Source: k8s.io/component-helpers node/util/hostname.go (v1.34), GetHostname

  @req:REG-15
  Rule: The API server takes no other name

    Scenario Outline: It has <what>
      Given a ready Node "worker-1"
      When the user sends POST /api/v1/nodes:
        """
        apiVersion: v1
        kind: Node
        metadata: {name: "<name>"}
        """
      Then the request is refused with 422 "Node "<name>" is invalid: metadata.name: Invalid value: "<name>": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

      Examples:
        | what                 | name      |
        | an underscore        | worker_1  |
        | a capital letter     | Worker-1  |
        | a hyphen in front    | -worker   |
        | a hyphen at the end  | worker-   |
        | an empty part        | worker..1 |
        | a dot in front       | .worker   |
        | a space              | worker 1  |

    Scenario Outline: <name> is one
      Given a ready Node "worker-1"
      When the user sends POST /api/v1/nodes:
        """
        apiVersion: v1
        kind: Node
        metadata: {name: "<name>"}
        """
      Then the request is answered with 201

      Examples:
        | name                |
        | 10.240.79.157       |
        | a                   |
        | node-1.example.com  |
        | 0                   |

    Scenario: 253 characters are the most
      Given a ready Node "worker-1"
      When the user sends POST /api/v1/nodes:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
        """
      Then the request is refused with 422 "must be no more than 253"
      When the user sends POST /api/v1/nodes:
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
        """
      Then the request is answered with 201

  @req:REG-15
  Rule: A kubelet whose --hostname-override is none cannot register

    Scenario Outline: There is <what> in it
      Its credentials may do everything, so that nothing but the name can be in its way.

      Given a machine "worker-1" with:
        | kubeconfigs | {"/etc/kubernetes/kubelet.conf": {"user": "root", "groups": ["system:masters"]}} |
      And Node "worker-1" has condition Ready=True
      And 1m passes
      When the kubelet on "worker-1" restarts with:
        | flag              | value  |
        | hostname-override | <name> |
      Then Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between 29s and 61s
      And the Lease of Node "worker-1" keeps field spec.renewTime unchanged for 90s
      When the kubelet on "worker-1" restarts with:
        | flag              | value    |
        | hostname-override | worker-2 |
      Then Node "worker-2" exists within 1s
      And Node "worker-2" has condition Ready=True within 15s

      Examples:
        | what                | name     |
        | an underscore       | worker_1 |
        | a hyphen at the end | worker-  |
        | an empty part       | a..b     |
        | more than a label may have | wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww |

    Scenario: 63 characters are the most that its hostname label may have
      Given no other Node
      When a kubelet named "worker-2" registers with:
        | flag              | value |
        | hostname-override | wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww |
      Then Node "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww" exists within 1s
      And Node "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww" has condition Ready=True within 15s
