@core @req:NC-02
Feature: The cloud is asked about a Node that is not ready
  Source: k8s.io/cloud-provider controllers/nodelifecycle/node_lifecycle_controller.go (v0.37), MonitorNodes

  Rule: The Node of an instance that is gone is deleted, long before its Pods would be evicted

    Scenario: The instance is terminated
      Given a cloud with the instances:
        | name      | providerID    |
        | worker-1  | test:///a/i-1 |
        | bystander | test:///a/i-0 |
      And a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And the cloud's instance "worker-1" is gone
      When machine "worker-1" loses power
      Then Node "worker-1" is gone between 0s and 5s after Node "worker-1" has condition Ready=Unknown
      And Event DeletingNode about Node "worker-1", message "Deleting node worker-1 because it does not exist in the cloud provider" within 61s
      And Pod "web" is gone within 125s
      But no Event DeletingNode about Node "bystander" for 125s

    Scenario: A ready Node without an instance stays
      Given a cloud with the instances:
        | name      |
        | bystander |
        | worker-1  |
      And a ready Node "worker-1"
      And the cloud's instance "worker-1" is gone
      When nothing is done
      Then Node "worker-1" stays for 10m
      And no Event DeletingNode about Node "worker-1" for 10m

    Scenario: A failing cloud deletes nothing
      Given a cloud with the instances:
        | name     | errors                           |
        | worker-1 | {"instanceExists":"unavailable"} |
      And a ready Node "worker-1"
      When machine "worker-1" loses power
      Then Node "worker-1" has condition Ready=Unknown within 61s
      And Node "worker-1" stays for 10m
      And no Event DeletingNode about Node "worker-1" for 10m

    Scenario: A cloud that does not answer deletes nothing until it does
      Given a cloud
      And requests to the cloud from cloud-node-lifecycle-controller are lost
      And a ready Node "worker-1"
      When machine "worker-1" loses power
      Then Node "worker-1" has condition Ready=Unknown within 61s
      And Node "worker-1" stays for 10m

  Rule: An instance that is shut down keeps its Node, with a taint until the Node is ready

    Scenario: An instance is shut down and started
      Given a cloud with the instances:
        | name     | providerID    | shutdown |
        | worker-1 | test:///a/i-1 | true     |
      And a ready Node "worker-1"
      When machine "worker-1" loses power
      Then Node "worker-1" has taint "node.cloudprovider.kubernetes.io/shutdown:NoSchedule" between 0s and 5s after Node "worker-1" has condition Ready=Unknown
      And Node "worker-1" stays for 2m
      And no Event DeletingNode about Node "worker-1" for 2m
      And the history of Node "worker-1" matches its snapshot
      When machine "worker-1" gets power
      Then Node "worker-1" has no taint "node.cloudprovider.kubernetes.io/shutdown:NoSchedule" between 0s and 5s after Node "worker-1" has condition Ready=True

    Scenario: A running instance without heartbeats keeps its Node without the taint
      Given a cloud with the instances:
        | name     | providerID    |
        | worker-1 | test:///a/i-1 |
      And a ready Node "worker-1"
      When the kubelet on "worker-1" is killed
      Then Node "worker-1" has condition Ready=Unknown within 61s
      And Node "worker-1" never has taint "node.cloudprovider.kubernetes.io/shutdown:NoSchedule" for 10m
      And Node "worker-1" stays for 10m
