@core
Feature: Traffic that wants to stay in its zone, and a zone that goes dark
  Source: staging/src/k8s.io/endpointslice/trafficdist/trafficdist.go (v1.34), ReconcileHints
  Source: staging/src/k8s.io/endpointslice/topologycache/topologycache.go (v1.34), AddHints and SetNodes
  Source: pkg/controller/endpointslice/endpointslice_controller.go (v1.34), checkNodeTopologyDistribution

  Background:
    Given a ready Node "worker-1" in zone "a"
    And a ready Node "worker-2" in zone "b"
    And the objects:
      """yaml
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

  @req:NC-06
  Scenario: A zone whose only node is silent keeps no hint, and the other zone keeps its own
    Given the object:
      """yaml
      apiVersion: v1
      kind: Service
      metadata: {name: web, namespace: default}
      spec: {selector: {app: web}, trafficDistribution: PreferClose, ports: [{port: 80}]}
      """
    And the EndpointSlice of Service "web" field endpoints[dead].hints.forZones[0].name is "a"
    And the EndpointSlice of Service "web" field endpoints[alive].hints.forZones[0].name is "b"
    When machine "worker-1" loses power
    Then the EndpointSlice of Service "web" field endpoints[dead].conditions.ready is false between 29s and 58s
    And the EndpointSlice of Service "web" field endpoints[dead].hints is absent between 29s and 58s
    And the EndpointSlice of Service "web" keeps field endpoints[alive].hints.forZones[0].name at "b" for 120s
    When machine "worker-1" gets power
    Then the EndpointSlice of Service "web" field endpoints[dead].hints.forZones[0].name is "a" within 60s

  @req:NC-06
  Scenario: Shares of zones go when one zone has no ready node left
    The Service is synced for the Node itself: the pods of the other zone get no hint any more.

    Given no other Node
    And the object:
      """yaml
      apiVersion: v1
      kind: Service
      metadata: {name: web, namespace: default, annotations: {service.kubernetes.io/topology-mode: Auto}}
      spec: {selector: {app: web}, ports: [{port: 80}]}
      """
    And the EndpointSlice of Service "web" field endpoints[alive].hints.forZones[0].name is "b"
    When machine "worker-1" loses power
    Then the EndpointSlice of Service "web" field endpoints[alive].hints is absent between 29s and 58s
    And Event TopologyAwareHintsDisabled about Service "web", message "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes, addressType: IPv4", within 58s
    And the EndpointSlice of Service "web" keeps field endpoints[alive].conditions.ready at true for 120s
