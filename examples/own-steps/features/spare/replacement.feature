@req:SPARE-01
Feature: The operator replaces a Node
  Source: README.md of this example

  Background:
    Given ready Nodes "worker-1", "spare-1"
    And the objects in "rack.yaml"

  Scenario: A spare Node takes the place of a lost one
    Given the user labels Node "worker-1" with "example.com/in-service=true"
    When the operator replaces Node "worker-1"
    Then Node "worker-1" goes out of service within 0s
    And Node "spare-1" has label "example.com/in-service=true" within 0s
    And 1 Node is in service for 60s
    But nothing else about Node "spare-1" changes
    And the history of Node "worker-1" matches its snapshot

  Scenario: A Node that is lost afterwards does not come back into service
    Given the user labels Node "worker-1" with "example.com/in-service=true"
    When the operator replaces Node "worker-1"
    And machine "worker-1" loses power
    Then Node "worker-1" has condition Ready=Unknown within 60s
    And Node "worker-1" never has label "example.com/in-service" for 120s
    And 1 Node is in service for 120s
