@core
Feature: The namespaces of the system come back when they are deleted
  Source: pkg/controlplane/controller/systemnamespaces/system_namespaces_controller.go (v1.34), sync

  Rule: The server looks once a minute

    Scenario: That of the Leases is deleted
      Given a ready Node "worker-1"
      When the user deletes Namespace "kube-node-lease"
      Then the Lease of Node "worker-1" is gone within 5s
      And Namespace "kube-node-lease" is gone within 20s
      When 61s pass
      Then Namespace "kube-node-lease" field metadata.labels["kubernetes.io/metadata.name"] is "kube-node-lease" at once
      And ServiceAccount "kube-node-lease/default" exists at once
      And the Lease of Node "worker-1" is renewed every 10s for 60s
      And Node "worker-1" keeps condition Ready=True for 5m
