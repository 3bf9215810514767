@core @read-only
Feature: The heartbeats of every Node come on time
  What holds on any cluster in order; nothing is done to it. A Node that fails here is one to look at.
  Source: k8s.io/component-helpers apimachinery/lease/controller.go (v1.34), pkg/controller/nodelifecycle (v1.34)

  @req:HB-02
  Scenario: Every Lease is renewed on time
    Given the cluster as it is
    When nothing is done
    Then the Lease of each Node of the cluster is renewed on time for 60s

  @req:HB-01
  Scenario: Every Lease is held and owned by its Node
    Given the cluster as it is
    When nothing is done
    Then each Node of the cluster has a Lease of its own within 15s

  @req:NC-03
  Scenario: No silence goes unnoticed
    Given the cluster as it is
    When nothing is done
    Then each Node of the cluster keeps being heard from, or is Unknown for 90s

  @req:NC-03
  Scenario: Nothing is Unknown for longer than Pods tolerate
    Pods tolerate an unreachable Node for 300 s unless they say otherwise; what lies still for longer has lost its work.

    Given the cluster as it is
    When nothing is done
    Then each Node of the cluster has no condition Unknown for longer than 5m at once
