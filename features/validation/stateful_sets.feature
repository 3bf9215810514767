@core
Feature: What is checked of a StatefulSet before it has Pods
  Source: pkg/apis/apps/validation/validation.go (v1.32, v1.33, v1.34), ValidateStatefulSetSpec,
  ValidatePodTemplateSpecForStatefulSet

  Background:
    Given a ready Node "worker-1"

  Rule: From 1.34 on the template of its Pods; before that each Pod is refused

    @since:1.34
    Scenario: A container has no name: the set is refused
      When the user creates:
        """yaml
        apiVersion: apps/v1
        kind: StatefulSet
        metadata: {name: db}
        spec:
          serviceName: db
          selector: {matchLabels: {app: db}}
          template:
            metadata: {labels: {app: db}}
            spec: {containers: [{image: i}]}
        """
      Then the request is refused with 422 StatefulSet.apps "db" is invalid: spec.template.spec.containers[0].name: Required value
      And Pod "db-0" never appears for 10s

    @until:1.33
    Scenario: A container has no name: the Pod is refused
      When the user creates:
        """yaml
        apiVersion: apps/v1
        kind: StatefulSet
        metadata: {name: db}
        spec:
          serviceName: db
          selector: {matchLabels: {app: db}}
          template:
            metadata: {labels: {app: db}}
            spec: {containers: [{image: i}]}
        """
      Then the request is answered with 201
      And Event FailedCreate about StatefulSet "db" within 5s
      And Pod "db-0" never appears for 10s

  Rule: From 1.33 on the name of its Service

    @since:1.33
    Scenario: No label: the set is refused
      When the user creates:
        """yaml
        apiVersion: apps/v1
        kind: StatefulSet
        metadata: {name: db}
        spec:
          serviceName: DB
          selector: {matchLabels: {app: db}}
          template:
            metadata: {labels: {app: db}}
            spec: {containers: [{name: c, image: i}]}
        """
      Then the request is refused with 422, spec.serviceName: Invalid value: "DB": a lowercase RFC 1123 label must consist of
      And Pod "db-0" never appears for 10s

    @until:1.32
    Scenario: No label: the set is made
      When the user creates:
        """yaml
        apiVersion: apps/v1
        kind: StatefulSet
        metadata: {name: db}
        spec:
          serviceName: DB
          selector: {matchLabels: {app: db}}
          template:
            metadata: {labels: {app: db}}
            spec: {containers: [{name: c, image: i}]}
        """
      Then the request is answered with 201
      And StatefulSet "db" field spec.serviceName is "DB" at once
