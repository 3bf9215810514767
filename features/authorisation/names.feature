@core
Feature: The name of a Node is a DNS subdomain
  Source: k8s.io/apimachinery pkg/api/validation/generic.go (v1.34), NameIsDNSSubdomain
  Source: pkg/util/node/node.go (v1.34), GetHostname

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

  @req:REG-15
  Rule: A kubelet whose --hostname-override is none cannot register

    Scenario Outline: There is <what> in it
      Given a machine "worker-1"
      And Node "worker-1" exists
      And the user deletes Node "worker-1"
      And Node "worker-1" is gone
      When the kubelet on "worker-1" restarts with:
        | flag              | value  |
        | hostname-override | <name> |
      Then Node "worker-1" never appears for 10m
      And never 1 Node has taint "node.kubernetes.io/not-ready:NoSchedule" for 10m

      Examples:
        | what                | name     |
        | an underscore       | worker_1 |
        | a hyphen at the end | worker-  |
        | an empty part       | a..b     |
