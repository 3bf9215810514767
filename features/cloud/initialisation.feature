@core @req:REG-04
Feature: A Node that registers in a cloud waits until the cloud has said who it is
  Source: k8s.io/cloud-provider controllers/node/node_controller.go (v0.37), syncNode, getInstanceMetadata
  Source: pkg/kubelet/kubelet_node_status.go (v1.34), initialNode

  Rule: The kubelet leaves to the cloud what it would else say itself

    Scenario: Without cloud-controller-manager the Node stays uninitialized
      When a kubelet named "worker-1" registers with:
        | flag           | value    |
        | cloud-provider | external |
      Then Node "worker-1" exists within 1s
      And Node "worker-1" keeps taint "node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule" for 10m
      And Node "worker-1" keeps field status.addresses at [{"type":"Hostname","address":"worker-1"}] for 10m
      And Node "worker-1" keeps field spec.providerID absent for 10m
      And Node "worker-1" never has label "topology.kubernetes.io/zone" for 10m
      But Node "worker-1" has condition Ready=True within 15s

    Scenario: A Pod of the host's network has no address before the Node has one
      Given a cloud with the instances:
        | name     | providerID    | errors                          | addresses                                    |
        | worker-1 | test:///a/i-1 | {"instanceMetadata":"no quota"} | [{"type":"ExternalIP","address":"203.0.113.7"}] |
      And a machine "worker-1"
      And whose kubelet runs with:
        | flag           | value    |
        | cloud-provider | external |
      And Node "worker-1" has condition Ready=True
      And the user creates:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: cloud, namespace: default}
        spec:
          nodeName: worker-1
          hostNetwork: true
          containers: [{name: main, image: registry.k8s.io/pause:3.10}]
        """
      When Pod "cloud" field status.phase is "Running"
      Then Pod "cloud" keeps field status.hostIP absent for 1m
      And Pod "cloud" keeps field status.podIP absent for 1m
      When the cloud's instance "worker-1" becomes:
        | errors | |
      Then Node "worker-1" field status.addresses[ExternalIP].address is "203.0.113.7" within 6m
      And Pod "cloud" field status.hostIP is "203.0.113.7" within 8m
      And Pod "cloud" field status.podIP is "203.0.113.7" within 8m

  Rule: One write brings providerID and labels and takes the taint; addresses and the Event follow

    Scenario: An instance with everything
      It registers right after a health pass: one in its first half second would find it not ready.

      Given a cloud with the instances:
        | name     | providerID        | type     | zone | region | addresses                                                                                      | labels                                      |
        | worker-1 | test:///eu-1a/i-1 | m5.large | eu-1a | eu-1  | [{"type":"InternalIP","address":"10.0.0.7"},{"type":"ExternalIP","address":"203.0.113.7"}] | {"rack":"7","topology.kubernetes.io/x":"y"} |
        | silent   |                   |          |       |       |                                                                                            |                                             |
      And a hand-fed Node "silent"
      And Node "silent" falls silent
      When Node "silent" has condition Ready=Unknown
      And a kubelet named "worker-1" registers with:
        | flag           | value    |
        | cloud-provider | external |
      Then Node "worker-1" field spec.providerID is "test:///eu-1a/i-1" within 1s
      And Node "worker-1" has label "node.kubernetes.io/instance-type=m5.large" within 1s
      And Node "worker-1" has label "beta.kubernetes.io/instance-type=m5.large" within 1s
      And Node "worker-1" has label "topology.kubernetes.io/zone=eu-1a" within 1s
      And Node "worker-1" has label "failure-domain.beta.kubernetes.io/zone=eu-1a" within 1s
      And Node "worker-1" has label "topology.kubernetes.io/region=eu-1" within 1s
      And Node "worker-1" has label "failure-domain.beta.kubernetes.io/region=eu-1" within 1s
      And Node "worker-1" has label "rack=7" within 1s
      And Node "worker-1" field status.addresses[ExternalIP].address is "203.0.113.7" within 1s
      And Node "worker-1" field status.addresses[Hostname].address is "worker-1" within 1s
      And Event Synced about Node "worker-1", message "Node synced successfully" within 1s
      And Node "worker-1" has no taint "node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule" within 1s
      But Node "worker-1" never has label "topology.kubernetes.io/x" for 1m
      And the history of Node "worker-1" matches its snapshot

  Rule: A failing cloud is asked again, and the taint stays

    Scenario: A cloud that fails for a while
      Given a cloud with the instances:
        | name     | providerID    | errors                         |
        | worker-1 | test:///a/i-1 | {"instanceMetadata":"no quota"} |
      And a machine "worker-1"
      And whose kubelet runs with:
        | flag           | value    |
        | cloud-provider | external |
      And Node "worker-1" has condition Ready=True
      And 60s pass
      When the cloud's instance "worker-1" becomes:
        | errors | |
      Then Node "worker-1" keeps taint "node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule" for 1s
      And Node "worker-1" has no taint "node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule" within 90s
      And Node "worker-1" field spec.providerID is "test:///a/i-1" within 90s

    Scenario: An instance without an id
      Given a cloud with the instances:
        | name     | zone |
        | worker-1 | a    |
      When a kubelet named "worker-1" registers with:
        | flag           | value    |
        | cloud-provider | external |
      Then Node "worker-1" exists within 1s
      And Node "worker-1" keeps taint "node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule" for 10m
      And Node "worker-1" never has label "topology.kubernetes.io/zone" for 10m

    Scenario: A provider with the older interface may have no ids
      Given a cloud with the instances:
        | name     | zone | interface |
        | worker-1 | a    | instances |
      When a kubelet named "worker-1" registers with:
        | flag           | value    |
        | cloud-provider | external |
      Then Node "worker-1" has label "topology.kubernetes.io/zone=a" within 1s
      And Node "worker-1" has no taint "node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule" within 1s
      But Node "worker-1" keeps field spec.providerID absent for 1m

    Scenario: A slow cloud
      Given a cloud with the instances:
        | name     | providerID    | delay |
        | worker-1 | test:///a/i-1 | 20s   |
      When a kubelet named "worker-1" registers with:
        | flag           | value    |
        | cloud-provider | external |
      Then Node "worker-1" exists within 1s
      And Node "worker-1" keeps taint "node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule" for 20s
      And Node "worker-1" has no taint "node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule" within 21s

  Rule: Addresses are looked up again every five minutes, and stable labels follow those of the beta

    Scenario: An instance gets another address
      Given a cloud with the instances:
        | name     | providerID    | zone | addresses                                    |
        | worker-1 | test:///a/i-1 | a    | [{"type":"InternalIP","address":"10.0.0.7"}] |
      And a ready Node "worker-1"
      And whose kubelet runs with:
        | flag           | value    |
        | cloud-provider | external |
      When the cloud's instance "worker-1" becomes:
        | addresses | [{"type":"InternalIP","address":"10.0.0.8"}] |
      Then Node "worker-1" field status.addresses[InternalIP].address is "10.0.0.8" within 301s

    Scenario: A stable label is changed by hand
      Given a cloud with the instances:
        | name     | providerID    | zone | addresses                                    |
        | worker-1 | test:///a/i-1 | a    | [{"type":"InternalIP","address":"10.0.0.7"}] |
      And a ready Node "worker-1"
      And whose kubelet runs with:
        | flag           | value    |
        | cloud-provider | external |
      When the user labels Node "worker-1" with "topology.kubernetes.io/zone=b"
      Then Node "worker-1" has label "topology.kubernetes.io/zone=a" after Node "worker-1" has label "topology.kubernetes.io/zone=b", within 1s
