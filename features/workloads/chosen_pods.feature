@core
Feature: Pods that nobody has named leave a lost zone
  Their names are random, so they are told by their labels, or by where they are.
  Source: pkg/controller/tainteviction/taint_eviction.go (v1.34)
  Source: pkg/controller/replicaset/replica_set.go (v1.34)

  Rule: What runs in a lost zone is deleted and replaced elsewhere, whoever owns it

    @req:EV-12
    Scenario: A zone loses its connection to the API server
      Given no other Node
      And 2 ready Nodes in zone "a"
      And 3 ready Nodes in zone "b"
      And the object:
        """
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: shop}
        spec:
          replicas: 4
          selector: {matchLabels: {part: shop}}
          template:
            metadata: {labels: {part: shop, tier: front}}
            spec:
              containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
              topologySpreadConstraints:
                - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {part: shop}}}
        """
      And 2 Pods with label "tier=front" are running on Nodes of zone "a"
      And 2 Pods with label "tier=front" are running on Nodes of zone "b"
      When zone "a" loses its connection to the API server
      Then 2 Pods with label "part=shop" keep running on Nodes of zone "a" for 5m
      And 2 Pods keep running on Nodes of zone "b" for 5m
      And the Pods with label "part=shop" on Nodes of zone "a" are deleted between 5m and 7m

    @req:EV-12
    Scenario: A zone loses power and gets it back
      Given no other Node
      And 2 ready Nodes in zone "a"
      And a ready Node "b-1" in zone "b"
      And a DaemonSet "agent" of 3 Pods
      When zone "a" loses power
      Then 2 Nodes of zone "a" have taint "node.kubernetes.io/unreachable:NoExecute" within 80s
      And 1 Pod of DaemonSet "agent" keeps running on Node "b-1" for 10m
      And the Pod of DaemonSet "agent" on Node "a-1" stays for 10m
      When zone "a" gets power
      Then each Node of zone "a" has condition Ready=True within 30s
      And each Node of zone "a" has no taint "node.kubernetes.io/unreachable:NoExecute" within 30s
