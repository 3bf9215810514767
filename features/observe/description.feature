@core @read-only
Feature: What every Node says of itself agrees
  What holds on any cluster in order; nothing is done to it. A taint may follow its condition a moment later.
  Source: pkg/kubelet/kubelet_node_status.go (v1.34), pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34)

  @req:STA-02
  Scenario: Every Node has the conditions of a kubelet
    Given the cluster as it is
    When nothing is done
    Then each Node of the cluster has the conditions of a kubelet within 15s

  @req:TNT-01
  Scenario: Taints follow from conditions
    Given the cluster as it is
    When nothing is done
    Then each Node of the cluster has the taints of its conditions within 15s

  @req:STA-07
  Scenario: What is allocatable is within the capacity
    Given the cluster as it is
    When nothing is done
    Then each Node of the cluster has allocatable within its capacity within 15s

  @req:REG-01
  Scenario: Every Node has the labels of its machine
    Given the cluster as it is
    When nothing is done
    Then each Node of the cluster has the labels of its machine within 15s

  @req:STA-01
  Scenario: Every Node has its addresses
    Given the cluster as it is
    When nothing is done
    Then each Node of the cluster has its addresses within 15s

  @req:STA-08
  Scenario: Every kubelet is within the version skew
    Source: KEP-3935 (v1.28); the version skew policy of Kubernetes

    Given the cluster as it is
    When nothing is done
    Then each Node of the cluster has a kubelet within the version skew within 15s
