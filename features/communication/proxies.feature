@core
Feature: Proxying to Nodes, Pods and Services is plain HTTP unless the name says https:
  Source: pkg/registry/core/pod/strategy.go, pkg/registry/core/node/strategy.go (v1.34), ResourceLocation
  Source: pkg/registry/core/service/storage/storage.go (v1.34), ResourceLocation
  Source: k8s.io/apimachinery pkg/util/proxy/transport.go (v1.34), RoundTrip
  A container serves on the ports that its Pod names, over TLS if the name of the port begins with https, and answers
  with the request that it got.

  @req:COM-07
  Rule: The scheme stands before the name, and nobody verifies a certificate

    Scenario Outline: <path>
      Given a ready Node "worker-1"
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: plain, labels: {app: plain}}
        spec: {nodeName: worker-1, containers: [{name: c, image: i, ports: [{name: web, containerPort: 8080}]}]}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: secure, labels: {app: secure}}
        spec: {nodeName: worker-1, containers: [{name: c, image: i, ports: [{name: https, containerPort: 8443}]}]}
        ---
        apiVersion: v1
        kind: Service
        metadata: {name: plain}
        spec: {selector: {app: plain}, ports: [{name: web, port: 80, targetPort: 8080}]}
        ---
        apiVersion: v1
        kind: Service
        metadata: {name: secure}
        spec: {selector: {app: secure}, ports: [{name: https, port: 443, targetPort: 8443}]}
        """
      And Pod "plain" has condition Ready=True
      And Pod "secure" has condition Ready=True
      And 5s pass
      When the user sends GET /api/v1/namespaces/default/<path>
      Then the request is <answer>

      Examples: Pods
        | path                                   | answer |
        | pods/plain/proxy/a/b?c=d               | answered with 200 GET /a/b?c=d |
        | pods/plain:8080/proxy/                 | answered with 200 GET / |
        | pods/http:plain:8080/proxy/            | answered with 200 GET / |
        | pods/https:secure:8443/proxy/x         | answered with 200 GET /x |
        | pods/https:secure:/proxy/x             | answered with 200 GET /x |
        | pods/secure/proxy/x                    | refused with 400 Client sent an HTTP request to an HTTPS server. |
        | pods/https:plain:8080/proxy/           | refused with 503 error trying to reach service: http: server gave HTTP response to HTTPS client |
        | pods/plain:81/proxy/                   | refused with 503 :81: connect: connection refused |
        | pods/plain:99999/proxy/                | refused with 503 error trying to reach service: dial tcp: address 99999: invalid port |
        | pods/plain:web/proxy/                  | refused with 503 :web: no such host |
        | pods/ftp:plain:8080/proxy/             | refused with 400 invalid pod request "ftp:plain:8080" |
        | pods/none/proxy/                       | refused with 404 pods "none" not found |

      Examples: Services
        | path                                   | answer |
        | services/plain:80/proxy/a              | answered with 200 GET /a |
        | services/plain:web/proxy/a             | answered with 200 GET /a |
        | services/https:secure:443/proxy/a      | answered with 200 GET /a |
        | services/secure:443/proxy/a            | refused with 400 Client sent an HTTP request to an HTTPS server. |
        | services/https:plain:80/proxy/a        | refused with 503 error trying to reach service: http: server gave HTTP response to HTTPS client |
        | services/plain:81/proxy/a              | refused with 503 no service port 81 found for service "plain" |
        | services/none/proxy/a                  | refused with 404 services "none" not found |

    Scenario: A Service without a Pod behind it
      Given the object:
        """yaml
        apiVersion: v1
        kind: Service
        metadata: {name: empty}
        spec: {selector: {app: none}, ports: [{port: 80}]}
        """
      And 5s pass
      When the user sends GET /api/v1/namespaces/default/services/empty/proxy/
      Then the request is refused with 503 no endpoints available for service "empty"

    Scenario Outline: A Node's kubelet is always reached over TLS, other ports of a Node plainly: <id>
      Given a machine "worker-1" with:
        | name      | value                                           |
        | addresses | [{"type": "InternalIP", "address": "10.9.8.7"}] |
      And Node "worker-1" has condition Ready=True
      When the user sends GET /api/v1/nodes/<id>/proxy/healthz
      Then the request is <answer>

      Examples:
        | id                   | answer |
        | worker-1             | answered with 200 ok |
        | worker-1:10250       | answered with 200 ok |
        | http:worker-1:10250  | answered with 200 ok |
        | worker-1:9100        | refused with 503 error trying to reach service: dial tcp 10.9.8.7:9100: connect: connection refused |
        | https:worker-1:x:y   | refused with 400 invalid node request "https:worker-1:x:y" |
        | none                 | refused with 404 nodes "none" not found |

    Scenario: Who may proxy is decided before, and the kubelet sees the API server
      Given a ready Node "worker-1"
      When user "jane" sends GET /api/v1/nodes/worker-1/proxy/pods
      Then the request is refused with 403 nodes "worker-1" is forbidden: User "jane" cannot get resource "nodes/proxy" in API group "" at the cluster scope
      When the user sends GET /api/v1/nodes/worker-1/proxy/nope
      Then the request is refused with 404 404 page not found
