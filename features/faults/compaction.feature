@extended @req:COM-01
Feature: Compaction of the store
  Past states of the cluster can be listed until etcd forgets them; what is current stays, and so do watches.
  Source: staging/src/k8s.io/apiserver/pkg/storage/etcd3/compact.go (v1.34), an interval notes what the next one compacts

  Background:
    Given no other Node
    And a ready Node "worker-1"

  @sim-only:instants
  Scenario Outline: A list of the past <is> after <age>
    When the user sends GET /api/v1/nodes?resourceVersion=30&resourceVersionMatch=Exact
    Then the request is answered with 200
    When <age> pass
    And the user sends GET /api/v1/nodes?resourceVersion=30&resourceVersionMatch=Exact
    Then <answer>

    Examples:
      | is       | age    | answer                                                                                |
      | is there | 7m     | the request is answered with 200                                                      |
      | is gone  | 11m    | the request is refused with 410, "The resourceVersion for the provided list is too old." |

  @sim-only:instants
  Scenario: The interval of the API server's flag
    Given kube-apiserver runs with:
      | etcd-compaction-interval | 30s |
    When 1m pass
    And the user sends GET /api/v1/nodes?resourceVersion=30&resourceVersionMatch=Exact
    Then the request is refused with 410, "The resourceVersion for the provided list is too old."

  @sim-only:instants
  Scenario: The next page of a list that was begun before the compaction
    Given kube-apiserver runs with:
      | etcd-compaction-interval | 30s |
    When 1m pass
    And the user sends GET /api/v1/nodes?limit=1&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MzAsInN0YXJ0IjoiL3dvcmtlci0wXHUwMDAwIn0
    Then the request is refused with 410, "The provided continue parameter is too old to display a consistent list result."

  Scenario: A watch goes on
    Given kube-apiserver runs with:
      | etcd-compaction-interval | 30s |
    When the user watches /api/v1/nodes
    And 90s pass
    And the user labels Node "worker-1" with "disk=ssd"
    Then the watch shows MODIFIED "worker-1" with metadata.labels.disk "ssd" within 1s
