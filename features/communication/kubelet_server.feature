@core
Feature: The API server reaches kubelets, and a kubelet lets in whom it may
  Source: pkg/registry/core/pod/strategy.go (v1.34), LogLocation, streamLocation; pkg/kubelet/client/kubelet_client.go
  Source: pkg/kubelet/server/server.go (v1.34), InstallAuthFilter; pkg/kubelet/server/auth.go (v1.34), GetRequestAttributes
  Source: k8s.io/apiserver pkg/registry/generic/rest/response_checker.go (v1.34), Check

  @req:COM-05
  Rule: Logs and streams go through the API server to the kubelet

    Scenario: Logs, and what is wrong with a request for them
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And the object:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: two}
        spec: {nodeName: worker-1, initContainers: [{name: first, image: i}], containers: [{name: a, image: i}, {name: b, image: i}]}
        """
      When the user sends GET /api/v1/namespaces/default/pods/web/log
      Then the request is answered with 200
      When the user sends GET /api/v1/namespaces/default/pods/web/log?container=main&tailLines=10
      Then the request is answered with 200
      When the user sends GET /api/v1/namespaces/default/pods/web/log?container=none
      Then the request is refused with 400 container none is not valid for pod web
      When the user sends GET /api/v1/namespaces/default/pods/two/log
      Then the request is refused with 400 a container name must be specified for pod two, choose one of: [first a b]
      When the user sends GET /api/v1/namespaces/default/pods/none/log
      Then the request is refused with 404 pods "none" not found

    Scenario: A Pod that no node has
      Given a ready Node "worker-1"
      And the object:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: waits}
        spec: {nodeSelector: {on: nothing}, containers: [{name: main, image: i}]}
        """
      When the user sends GET /api/v1/namespaces/default/pods/waits/log
      Then the request is answered with 204
      When the user sends CONNECT /api/v1/namespaces/default/pods/waits/exec?command=ls&stdout=true
      Then the request is refused with 400 pod waits does not have a host assigned

    Scenario: Streams
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When the user sends POST /api/v1/namespaces/default/pods/web/exec?command=ls&stdout=true
      Then the request is refused with 400 Upgrade request required
      When the user sends CONNECT /api/v1/namespaces/default/pods/web/exec?command=ls&stdout=true
      Then the request is answered with 101
      When the user sends CONNECT /api/v1/namespaces/default/pods/web/exec?command=ls
      Then the request is refused with 400 you must specify at least 1 of stdin, stdout, stderr
      When the user sends CONNECT /api/v1/namespaces/default/pods/web/attach?stdout=true
      Then the request is answered with 101
      When the user sends CONNECT /api/v1/namespaces/default/pods/web/portforward?ports=80
      Then the request is answered with 101

    Scenario Outline: <what>: <message>
      Given a machine "worker-1" with:
        | name      | value                                          |
        | addresses | [{"type": "InternalIP", "address": "10.9.8.7"}] |
      And Node "worker-1" has condition Ready=True
      And a Pod "web" on Node "worker-1"
      When <what>
      And the user sends GET /api/v1/namespaces/default/pods/web/log
      Then the request is refused with 500 Get "https://worker-1:10250/containerLogs/default/web/main": <message>
      When the user sends CONNECT /api/v1/namespaces/default/pods/web/exec?command=ls&stdout=true
      Then the request is refused with 500 error dialing backend: <message>
      When the user sends GET /api/v1/nodes/worker-1/proxy/healthz
      Then the request is refused with 503 error trying to reach service: <message>

      Examples:
        | what                                          | message                                                  |
        | the kubelet on "worker-1" is killed           | dial tcp 10.9.8.7:10250: connect: connection refused     |
        | the kubelet on "worker-1" freezes             | net/http: TLS handshake timeout                          |
        | machine "worker-1" loses power                | dial tcp 10.9.8.7:10250: i/o timeout                     |
        | machine "worker-1" loses its network          | dial tcp 10.9.8.7:10250: i/o timeout                     |
        | machine "worker-1" loses its connection to the API server   | dial tcp 10.9.8.7:10250: i/o timeout       |
        | machine "worker-1" loses its connection from the API server | dial tcp 10.9.8.7:10250: i/o timeout       |

    Scenario: The way back alone is cut, and the node stays Ready
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When machine "worker-1" loses its connection from the API server
      And the user sends GET /api/v1/namespaces/default/pods/web/log
      Then the request is refused with 500 i/o timeout
      But the Lease of Node "worker-1" is renewed every 10s for 2m
      And Node "worker-1" keeps condition Ready=True for 2m
      When machine "worker-1" regains its connection from the API server
      And the user sends GET /api/v1/namespaces/default/pods/web/log
      Then the request is answered with 200

    Scenario: The address of the Node's first preferred type is dialled
      Given kube-apiserver runs with:
        | flag                            | value               |
        | kubelet-preferred-address-types | InternalIP,Hostname |
      And a machine "worker-1" with:
        | name      | value                                          |
        | addresses | [{"type": "InternalIP", "address": "10.9.8.7"}] |
      And Node "worker-1" has condition Ready=True
      And a Pod "web" on Node "worker-1"
      When the user sends GET /api/v1/namespaces/default/pods/web/log
      Then the request is answered with 200
      When the kubelet on "worker-1" stops
      And the user sends GET /api/v1/namespaces/default/pods/web/log
      Then the request is refused with 500 Get "https://10.9.8.7:10250/containerLogs/default/web/main": dial tcp 10.9.8.7:10250: connect: connection refused

    Scenario: Without the Node nobody knows where the kubelet is, whatever runs there
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When the user deletes Node "worker-1"
      And the user sends GET /api/v1/namespaces/default/pods/web/log
      Then the request is refused with 404 pods "worker-1" not found
      And container "main" of Pod "web" keeps running on machine "worker-1" for 10s

  @req:COM-09
  Rule: Who comes to a kubelet without credentials is nobody, and who may not is refused

    Scenario Outline: <path> without credentials, without a right, and with all
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When user "system:anonymous" sends GET https://worker-1:10250<path>
      Then the request is refused with 401 Unauthorized
      When user "jane" sends GET https://worker-1:10250<path>
      Then the request is refused with 403 Forbidden (user=jane, verb=get, resource=nodes, <asked>)
      When the user sends GET https://worker-1:10250<path>
      Then the request is answered with 200

      @since:1.33
      Examples: Finer rights
        | path                            | asked                          |
        | /healthz                        | subresource(s)=[healthz proxy] |
        | /pods                           | subresource(s)=[pods proxy]    |
        | /pods/?with=slash               | subresource(s)=[pods proxy]    |
        | /runningpods/                   | subresource(s)=[pods proxy]    |
        | /configz                        | subresource(s)=[configz proxy] |

      @since:1.32
      Examples: Where there is one right
        | path                            | asked                          |
        | /metrics                        | subresource(s)=[metrics]       |
        | /metrics/slis                   | subresource(s)=[metrics]       |
        | /stats/summary                  | subresource(s)=[stats]         |
        | /logs/                          | subresource(s)=[log]           |
        | /containerLogs/default/web/main | subresource(s)=[proxy]         |

      @until:1.31
      Examples: Before there were finer ones
        | path                            | asked                          |
        | /pods                           | subresource=proxy              |
        | /metrics                        | subresource=metrics            |
        | /containerLogs/default/web/main | subresource=proxy              |

    @req:GS-11
    Scenario Outline: A scrape gets what the kubelet counts, and the times of graceful shutdowns: <line>
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1" that takes 5s to stop
      When the user sends GET https://worker-1:10250/metrics
      Then the request is answered with 200 <line>

      Examples:
        | line                                                    |
        | kubelet_node_name{node="worker-1"} 1                    |
        | kubelet_running_pods 1                                  |
        | kubelet_running_containers{container_state="running"} 1 |
        | kubelet_graceful_shutdown_start_time_seconds 0          |
        | kubelet_graceful_shutdown_end_time_seconds 0            |

    Scenario: What is not served is not found, whoever asks
      Given a ready Node "worker-1"
      When user "system:anonymous" sends GET https://worker-1:10250/nope
      Then the request is refused with 404 404 page not found
      When user "system:anonymous" sends GET https://worker-1:10250/healthz/nope
      Then the request is refused with 404 404 page not found
      When user "system:anonymous" sends GET http://worker-1:10250/healthz
      Then the request is refused with 400 Client sent an HTTP request to an HTTPS server.

    Scenario Outline: The right to <verb> <right>, and what it opens
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And the objects:
        """yaml
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRole
        metadata: {name: asks-kubelets}
        rules: [{apiGroups: [""], resources: [<right>], verbs: [<verb>]}]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRoleBinding
        metadata: {name: asks-kubelets}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: asks-kubelets}
        subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: jane}]
        """
      When user "jane" sends GET https://worker-1:10250<opened>
      Then the request is answered with 200
      When user "jane" sends GET https://worker-1:10250<closed>
      Then the request is refused with 403 Forbidden (user=jane
      When user "jane" sends POST https://worker-1:10250/run/default/web/main
      Then the request is refused with 403 verb=create

      @since:1.33
      Examples:
        | verb | right         | opened                          | closed                          |
        | get  | nodes/pods    | /pods                           | /containerLogs/default/web/main |
        | get  | nodes/healthz | /healthz                        | /pods                           |
        | get  | nodes/configz | /configz                        | /pods                           |

      Examples: In every release
        | verb | right         | opened                          | closed                          |
        | get  | nodes/proxy   | /containerLogs/default/web/main | /metrics                        |
        | get  | nodes/metrics | /metrics/resource               | /stats/summary                  |

    Scenario: What the API server's own client may
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When the user sends DELETE /apis/rbac.authorization.k8s.io/v1/clusterrolebindings/kubeadm:cluster-admins
      And the user sends GET /api/v1/namespaces/default/pods/web/log
      Then the request is refused with 403 Forbidden (user=kube-apiserver-kubelet-client, verb=get, resource=nodes, subresource
      And the request is refused with 403 ( pods/log web)

    Scenario: Without the API server a kubelet cannot know who may do what
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When POST requests to subjectaccessreviews from "worker-1" are answered 500
      And the user sends GET /api/v1/namespaces/default/pods/web/log
      Then the request is refused with 500 Authorization error (user=kube-apiserver-kubelet-client, verb=get, resource=nodes, subresource=proxy)

    Scenario: A kubelet that lets in anybody
      Given a machine "worker-1" with:
        | name    | value                                                                                                                    |
        | kubelet | {"config": {"authentication": {"anonymous": {"enabled": true}}, "authorization": {"mode": "AlwaysAllow"}}} |
      And Node "worker-1" has condition Ready=True
      When user "system:anonymous" sends GET https://worker-1:10250/pods
      Then the request is answered with 200
      When the kubelet on "worker-1" restarts with:
        | flag               | value   |
        | anonymous-auth     | true    |
        | authorization-mode | Webhook |
      And user "system:anonymous" sends GET https://worker-1:10250/metrics
      Then the request is refused with 403 Forbidden (user=system:anonymous, verb=get, resource=nodes, subresource

  @req:COM-06
  Rule: The API server verifies kubelets only with --kubelet-certificate-authority

    Scenario Outline: A man in the middle, under the kubelet's address, is <what>
      Given kube-apiserver runs with:
        | flag                            | value       |
        | kubelet-preferred-address-types | InternalIP  |
        | kubelet-certificate-authority   | <authority> |
      And a machine "worker-1" with:
        | name      | value                                           |
        | addresses | [{"type": "InternalIP", "address": "10.9.8.7"}] |
      And a machine "impostor" with:
        | name      | value                                           |
        | addresses | [{"type": "InternalIP", "address": "10.9.8.7"}] |
        | powered   | false                                           |
      And Node "worker-1" has condition Ready=True
      And a Pod "web" on Node "worker-1"
      And machine "worker-1" loses power
      When machine "impostor" gets power
      And the user sends GET /api/v1/namespaces/default/pods/web/log
      # The impostor answers that it has no such Pod, or is not asked.
      Then the request is refused with <answer>

      Examples:
        | what     | authority                  | answer                                                                                                        |
        | believed |                            | 404 the server could not find the requested resource ( pods/log web)                                          |
        | found out | /etc/kubernetes/pki/ca.crt | 500 Get "https://10.9.8.7:10250/containerLogs/default/web/main": tls: failed to verify certificate: x509: certificate signed by unknown authority |

    Scenario: With an authority a certificate that the kubelet made itself is refused
      Given kube-apiserver runs with:
        | flag                          | value                     |
        | kubelet-certificate-authority | /etc/kubernetes/pki/ca.crt |
      And a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When the user sends GET /api/v1/namespaces/default/pods/web/log
      Then the request is refused with 500 tls: failed to verify certificate: x509: certificate signed by unknown authority
      When the user sends CONNECT /api/v1/namespaces/default/pods/web/exec?command=ls&stdout=true
      Then the request is refused with 500 error dialing backend: tls: failed to verify certificate: x509: certificate signed by unknown authority
      When the user sends GET /api/v1/nodes/worker-1/proxy/healthz
      Then the request is refused with 503 error trying to reach service: tls: failed to verify certificate: x509: certificate signed by unknown authority
      But Node "worker-1" keeps condition Ready=True for 2m

    Scenario: Until somebody approves its request, a kubelet with serverTLSBootstrap has nothing to show
      Given a machine "worker-1" with:
        | name    | value                                    |
        | kubelet | {"config": {"serverTLSBootstrap": true}} |
      And Node "worker-1" has condition Ready=True
      And a Pod "web" on Node "worker-1"
      When the user sends GET /api/v1/namespaces/default/pods/web/log
      Then the request is refused with 500 Get "https://worker-1:10250/containerLogs/default/web/main": remote error: tls: internal error
      And Node "worker-1" keeps condition Ready=True for 2m
