@req:OWN-01
Feature: A Node that is lost
  Source: name here what promises this: a document, a flag, a file of Kubernetes with its version

  Scenario: The kubelet is killed
    Given a ready Node "worker-1"
    When the kubelet on "worker-1" is killed
    Then Node "worker-1" keeps condition Ready=True for 29s
    And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between 29s and 56s
    But Node "worker-1" keeps field status.capacity unchanged for 60s
    And the history of Node "worker-1" matches its snapshot
