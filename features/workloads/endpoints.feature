@core
Feature: Traffic leaves the pods of a node that dies, and comes back with it
  Source: staging/src/k8s.io/endpointslice/utils.go (v1.34), podToEndpoint
  Source: staging/src/k8s.io/endpointslice/reconciler.go (v1.34), reconcileByAddressType
  Source: pkg/controller/util/node/controller_utils.go (v1.34), MarkPodsNotReady

  Background:
    Given a ready Node "worker-1" in zone "a"
    And a ready Node "worker-2" in zone "b"
    And the objects:
      """yaml
      apiVersion: v1
      kind: Service
      metadata: {name: web, namespace: default}
      spec: {selector: {app: web}, ports: [{port: 80}]}
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: dead, namespace: default, labels: {app: web}}
      spec: {nodeName: worker-1, containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: alive, namespace: default, labels: {app: web}}
      spec: {nodeName: worker-2, containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
      """
    And the EndpointSlice of Service "web" field endpoints[dead].conditions.ready is true
    And the EndpointSlice of Service "web" field endpoints[alive].conditions.ready is true

  Rule: An endpoint is not ready from the moment at which its node is marked, long before the pod is evicted

    @req:NC-06
    Scenario: Power is lost
      Until then a third of a minute or more of requests goes to nobody. The endpoint stays in the slice.

      When machine "worker-1" loses power
      Then the EndpointSlice of Service "web" keeps field endpoints[dead].conditions.ready at true for 29s
      And the EndpointSlice of Service "web" field endpoints[dead].conditions.ready is false after Node "worker-1" has condition Ready=Unknown, within 58s
      And the EndpointSlice of Service "web" field endpoints[dead].conditions.serving is false after Node "worker-1" has condition Ready=Unknown, within 58s
      And the EndpointSlice of Service "web" field endpoints[dead].conditions.ready is false between 29s and 58s
      But the EndpointSlice of Service "web" keeps field endpoints[dead].conditions.terminating at false for 120s
      And the EndpointSlice of Service "web" keeps field endpoints[dead].nodeName at "worker-1" for 120s
      And the EndpointSlice of Service "web" keeps field endpoints[dead].zone at "a" for 120s
      And the EndpointSlice of Service "web" keeps field endpoints[alive].conditions.ready at true for 120s
      And the EndpointSlice of Service "web" keeps field endpoints[alive].zone at "b" for 120s
      And the history of the EndpointSlice of Service "web" matches its snapshot

    @req:NC-06
    Scenario Outline: Where the time is <grace>, traffic leaves after it and not before
      Given kube-controller-manager runs with:
        | node-monitor-grace-period | <grace> |
      When machine "worker-1" loses its connection to the API server
      Then the EndpointSlice of Service "web" keeps field endpoints[dead].conditions.ready at true for <kept>
      And the EndpointSlice of Service "web" field endpoints[dead].conditions.ready is false between <kept> and <last>
      And container "main" of Pod "dead" keeps running on machine "worker-1" for 120s

      Examples:
        | grace | kept | last |
        | 16s   | 9s   | 27s  |
        | 20s   | 9s   | 27s  |
        | 60s   | 49s  | 67s  |

    @req:NC-06
    Scenario: A pod that tolerates everything is not evicted, and gets no traffic
      Given the object:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: agent, namespace: default, labels: {app: web}}
        spec:
          nodeName: worker-1
          tolerations: [{operator: Exists}]
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      And the EndpointSlice of Service "web" field endpoints[agent].conditions.ready is true
      When machine "worker-1" loses power
      Then the EndpointSlice of Service "web" field endpoints[agent].conditions.ready is false between 29s and 58s
      And Pod "agent" stays for 10m
      And the EndpointSlice of Service "web" field endpoints[dead].conditions.terminating is true between 329s and 378s
      But the EndpointSlice of Service "web" keeps field endpoints[agent].conditions.terminating at false for 10m

    @req:NC-06
    Scenario: A Service that publishes what is not ready sends traffic to the dead
      Given the objects:
        """yaml
        apiVersion: v1
        kind: Service
        metadata: {name: all, namespace: default}
        spec: {selector: {app: web}, publishNotReadyAddresses: true, ports: [{port: 80}]}
        """
      And the EndpointSlice of Service "all" field endpoints[dead].conditions.ready is true
      When machine "worker-1" loses power
      Then the EndpointSlice of Service "web" field endpoints[dead].conditions.ready is false between 29s and 58s
      And the EndpointSlice of Service "all" field endpoints[dead].conditions.serving is false between 29s and 58s
      But the EndpointSlice of Service "all" keeps field endpoints[dead].conditions.ready at true for 120s

    @req:NC-06
    Scenario: A short outage moves no traffic
      When machine "worker-1" loses its connection to the API server
      Then the Lease of Node "worker-1" keeps field spec.renewTime unchanged for 25s
      And Node "worker-1" keeps condition Ready=True for 25s
      When machine "worker-1" regains its connection to the API server
      Then the Lease of Node "worker-1" is renewed within 60s
      And the EndpointSlice of Service "web" keeps field endpoints[dead].conditions.ready at true for 90s
      And the EndpointSlice of Service "web" keeps field metadata.generation unchanged for 90s

    @req:NC-06
    Scenario: A kubelet that says itself that its node is not ready keeps its traffic
      The pods may well work; that the node is tainted takes nothing away from them before they are evicted.

      When the container network on "worker-1" is removed
      Then Node "worker-1" has taint "node.kubernetes.io/not-ready:NoExecute" within 40s
      And the EndpointSlice of Service "web" keeps field endpoints[dead].conditions.ready at true for 120s

    @req:NC-06
    Scenario: All nodes fall silent: nothing is evicted, and nobody gets traffic
      Given no other Node
      When machine "worker-1" loses its connection to the API server
      And machine "worker-2" loses its connection to the API server
      Then the EndpointSlice of Service "web" field endpoints[dead].conditions.ready is false between 29s and 58s
      And the EndpointSlice of Service "web" field endpoints[alive].conditions.ready is false between 29s and 58s
      And the EndpointSlice of Service "web" keeps field endpoints[dead].conditions.terminating at false for 10m
      And Pod "dead" stays for 10m

    Scenario: Without the controller that writes slices traffic goes to the dead
      Given endpointslice-controller stops
      When machine "worker-1" loses power
      Then Pod "dead" has condition Ready=False within 57s
      But the EndpointSlice of Service "web" keeps field endpoints[dead].conditions.ready at true for 120s
      When endpointslice-controller starts
      Then the EndpointSlice of Service "web" field endpoints[dead].conditions.ready is false within 1s

  Rule: A pod that is being deleted is Terminating in the slice as long as its object is there

    @req:NC-04 @req:EV-04
    Scenario: The pod is evicted and cannot end
      Given kube-controller-manager runs with:
        | node-monitor-grace-period | 20s |
      And kube-apiserver runs with:
        | default-unreachable-toleration-seconds | 5 |
      When machine "worker-1" loses power
      Then the EndpointSlice of Service "web" field endpoints[dead].conditions.terminating is true after Pod "dead" is deleted, within 45s
      When 1s passes
      Then the EndpointSlice of Service "web" keeps field endpoints[dead].conditions.terminating at true for 60s
      And the EndpointSlice of Service "web" keeps field endpoints[dead].conditions.serving at false for 60s
      And the EndpointSlice of Service "web" keeps field endpoints[dead].conditions.ready at false for 60s
      When the user sends DELETE /api/v1/namespaces/default/pods/dead:
        """yaml
        {gracePeriodSeconds: 0}
        """
      Then the EndpointSlice of Service "web" field endpoints[dead] is absent within 1s
      And the EndpointSlice of Service "web" keeps field endpoints[alive].conditions.ready at true for 30s

    Scenario: On a node that works the pod still serves while it stops, and is not ready at once
      Given a Pod "slow" on Node "worker-1" that takes 20s to stop
      And the user sends PATCH /api/v1/namespaces/default/pods/slow:
        """yaml
        metadata: {labels: {app: web}}
        """
      And the EndpointSlice of Service "web" field endpoints[slow].conditions.ready is true
      When the user deletes Pod "slow"
      Then the EndpointSlice of Service "web" field endpoints[slow].conditions.ready is false within 1s
      And the EndpointSlice of Service "web" field endpoints[slow].conditions.terminating is true within 1s
      And the EndpointSlice of Service "web" keeps field endpoints[slow].conditions.serving at true for 19s
      And the EndpointSlice of Service "web" field endpoints[slow] is absent between 19s and 30s

    Scenario: A Node without power is deleted
      The slice is looked at when a pod changes, not when a Node does: then the pods without a Node are left out.

      Given machine "worker-1" loses power
      And Pod "dead" has condition Ready=False
      And 3s pass
      When the user deletes Node "worker-1"
      Then the EndpointSlice of Service "web" keeps field endpoints[dead].nodeName at "worker-1" for 30s
      And no Event FailedToUpdateEndpointSlices about Service "web" for 30s
      And the EndpointSlice of Service "web" field endpoints[dead] is absent between 39s and 81s

    Scenario: A pod comes while another has no Node
      Given machine "worker-1" loses power
      And Pod "dead" has condition Ready=False
      And the user deletes Node "worker-1"
      And Node "worker-1" is gone
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: third, namespace: default, labels: {app: web}}
        spec: {nodeName: worker-2, containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
        """
      Then Pod "dead" stays for 30s
      And the EndpointSlice of Service "web" field endpoints[dead] is absent within 2s
      And Event FailedToUpdateEndpointSlices about Service "web", message "Error updating Endpoint Slices for Service default/web: skipping Pod dead for Service default/web: Node worker-1 Not Found", within 2s
      And the EndpointSlice of Service "web" keeps field endpoints[alive].conditions.ready at true for 30s

    Scenario: A pod gets a label that its Services do not ask for, while another has no Node
      Given machine "worker-1" loses power
      And Pod "dead" has condition Ready=False
      And 3s pass
      And the user deletes Node "worker-1"
      And Node "worker-1" is gone
      When the user sends PATCH /api/v1/namespaces/default/pods/alive:
        """yaml
        metadata: {labels: {new: "yes"}}
        """
      Then Pod "alive" has label "new=yes" at once
      And no Event FailedToUpdateEndpointSlices about Service "web" for 30s
      And the EndpointSlice of Service "web" keeps field endpoints[dead].conditions.ready at false for 30s

  Rule: With the heartbeats the traffic comes back, once the kubelet says that the pod is ready

    @req:NC-07
    Scenario: The partition ends before the eviction
      Given machine "worker-1" loses its connection to the API server
      And the EndpointSlice of Service "web" field endpoints[dead].conditions.ready is false
      When machine "worker-1" regains its connection to the API server
      Then the EndpointSlice of Service "web" field endpoints[dead].conditions.ready is true after Pod "dead" has condition Ready=True, within 70s
      And the EndpointSlice of Service "web" field endpoints[dead].conditions.serving is true within 70s
      And Pod "dead" stays for 70s
      And the history of the EndpointSlice of Service "web" matches its snapshot

    @req:NC-07
    Scenario: The machine gets its power back
      Given machine "worker-1" loses power
      And the EndpointSlice of Service "web" field endpoints[dead].conditions.ready is false
      When machine "worker-1" gets power
      Then Pod "dead" field status.containerStatuses[main].restartCount is 1 within 60s
      And the EndpointSlice of Service "web" field endpoints[dead].conditions.ready is true after Pod "dead" has condition Ready=True, within 60s

    @req:EV-05
    Scenario: The partition ends after the eviction
      Given kube-controller-manager runs with:
        | node-monitor-grace-period | 20s |
      And kube-apiserver runs with:
        | default-unreachable-toleration-seconds | 5 |
      And machine "worker-1" loses its connection to the API server
      And Pod "dead" is deleted
      And the EndpointSlice of Service "web" field endpoints[dead].conditions.terminating is true
      When machine "worker-1" regains its connection to the API server
      Then the EndpointSlice of Service "web" field endpoints[dead] is absent within 95s
      And container "main" of Pod "dead" stops on machine "worker-1" within 95s
      And the EndpointSlice of Service "web" keeps field endpoints[alive].conditions.ready at true for 95s

  Rule: A pod with a readiness gate is ready when its gate is

    Scenario: The gate opens, the node dies and comes back
      Given the object:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: gated, namespace: default, labels: {app: web}}
        spec:
          nodeName: worker-1
          readinessGates: [{conditionType: example.com/registered}]
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      And Pod "gated" has condition ContainersReady=True
      When 5s pass
      Then Pod "gated" has condition Ready=False, reason "ReadinessGatesNotReady", at once
      And the EndpointSlice of Service "web" keeps field endpoints[gated].conditions.ready at false for 30s
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/gated/status:
        """yaml
        status: {conditions: [{type: example.com/registered, status: "False"}]}
        """
      Then Pod "gated" has condition example.com/registered=False at once
      And Pod "gated" keeps condition Ready=False, reason "ReadinessGatesNotReady" for 30s
      When the user sends strategic PATCH /api/v1/namespaces/default/pods/gated/status:
        """yaml
        status: {conditions: [{type: example.com/registered, status: "True"}]}
        """
      Then Pod "gated" has condition Ready=True within 5s
      And the EndpointSlice of Service "web" field endpoints[gated].conditions.ready is true within 5s
      When machine "worker-1" loses its connection to the API server
      Then the EndpointSlice of Service "web" field endpoints[gated].conditions.ready is false between 29s and 58s
      When machine "worker-1" regains its connection to the API server
      Then the EndpointSlice of Service "web" field endpoints[gated].conditions.ready is true within 70s

  Rule: What a slice says of its Service

    Scenario: A Service without an address
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Service
        metadata: {name: peers, namespace: default}
        spec: {clusterIP: None, selector: {app: web}, ports: [{port: 80}]}
        """
      Then the EndpointSlice of Service "peers" field metadata.labels["service.kubernetes.io/headless"] is "" within 1s
      And the EndpointSlice of Service "web" keeps field metadata.labels["service.kubernetes.io/headless"] absent for 10s

    Scenario: The last of its pods is gone
      When the user sends DELETE /api/v1/namespaces/default/pods/alive?gracePeriodSeconds=0
      And the user sends DELETE /api/v1/namespaces/default/pods/dead?gracePeriodSeconds=0
      Then the EndpointSlice of Service "web" field ports is absent within 2s
      And the EndpointSlice of Service "web" field endpoints is absent within 2s

    Scenario: A port by its name
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Service
        metadata: {name: named, namespace: default}
        spec: {selector: {app: named}, ports: [{port: 80, targetPort: http}]}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: named, namespace: default, labels: {app: named}}
        spec: {nodeName: worker-2, containers: [{name: main, image: pause, ports: [{name: http, containerPort: 8080}]}]}
        """
      Then the EndpointSlice of Service "named" field ports[0].port is 8080 within 5s
