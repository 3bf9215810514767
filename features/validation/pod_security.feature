@core
Feature: What the level of a Namespace forbids to Pods
  Source: staging/src/k8s.io/pod-security-admission/admission/admission.go (v1.37), ValidatePod

  Rule: A Pod that the level forbids is refused

    Background:
      Given the object:
        """yaml
        apiVersion: v1
        kind: Namespace
        metadata: {name: safe, labels: {pod-security.kubernetes.io/enforce: baseline}}
        """

    Scenario: One that shares the network of its machine is refused
      When the user sends POST /api/v1/namespaces/safe/pods:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web}
        spec: {hostNetwork: true, containers: [{name: main, image: example.com/app:1}]}
        """
      Then the request is refused with 403, "violates PodSecurity"

    Scenario: One with nothing of the machine is made
      When the user sends POST /api/v1/namespaces/safe/pods:
        """
        kind: Pod
        apiVersion: v1
        metadata: {name: web}
        spec: {containers: [{name: main, image: example.com/app:1}]}
        """
      Then the request is answered with 201
