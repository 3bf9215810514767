@extended
Feature: The Endpoints of a Service name its ready pods, and apart from them the others
  Older clients read them instead of EndpointSlices. A pod that is being deleted is in neither list.

  Source: pkg/controller/endpoint/endpoints_controller.go, pkg/api/v1/endpoints/util.go (v1.34)

  Background:
    Given a ready Node "worker-1"
    And a ready Node "worker-2"
    And the objects:
      """yaml
      apiVersion: v1
      kind: Service
      metadata: {name: web, namespace: default, labels: {tier: front}}
      spec: {selector: {app: web}, ports: [{port: 80}]}
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: dead, namespace: default, labels: {app: web}}
      spec: {nodeName: worker-1, containers: [{name: main, image: registry.k8s.io/pause:3.10}]}
      """
    And Endpoints "web" field subsets[0].addresses[0].targetRef.name is "dead"

  Rule: A pod counts as ready with its condition

    @req:NC-06
    Scenario: Power is lost
      When machine "worker-1" loses power
      Then Endpoints "web" keeps field subsets[0].addresses[0].targetRef.name at "dead" for 29s
      And Endpoints "web" field subsets[0].notReadyAddresses[0].targetRef.name is "dead" between 29s and 58s
      When 1s passes
      Then Endpoints "web" keeps field subsets[0].addresses absent for 60s
      And Endpoints "web" keeps field subsets[0].notReadyAddresses[0].nodeName at "worker-1" for 60s

    Scenario: A pod stops for a while
      Given a Pod "slow" on Node "worker-2" that takes 20s to stop
      And the user sends PATCH /api/v1/namespaces/default/pods/slow:
        """yaml
        metadata: {labels: {app: web}}
        """
      And Endpoints "web" field subsets[0].addresses[1] is set
      When the user deletes Pod "slow"
      Then Endpoints "web" field subsets[0].addresses[1] is absent within 1s
      And Endpoints "web" field subsets[0].addresses[0].targetRef.name is "dead" within 1s
      And Endpoints "web" keeps field subsets[0].notReadyAddresses absent for 10s

    Scenario: A Service publishes pods that are not ready, and that stop
      Given a Pod "slow" on Node "worker-2" that takes 20s to stop
      And the user sends PATCH /api/v1/namespaces/default/pods/slow:
        """yaml
        metadata: {labels: {app: web}}
        """
      And the user sends PATCH /api/v1/namespaces/default/services/web:
        """yaml
        spec: {publishNotReadyAddresses: true}
        """
      And Endpoints "web" field subsets[0].addresses[1] is set
      When the user deletes Pod "slow"
      Then Endpoints "web" keeps field subsets[0].addresses[1].nodeName set for 19s
      And Endpoints "web" field subsets[0].addresses[1] is absent between 19s and 30s

  Rule: They live with the Service, and have its labels

    Scenario: The Service is deleted
      When the user sends DELETE /api/v1/namespaces/default/services/web
      Then Endpoints "web" is gone within 1s

    @since:1.33
    Scenario: The Service is labelled
      When the user sends PATCH /api/v1/namespaces/default/services/web:
        """yaml
        metadata: {labels: {tier: back}}
        """
      Then Endpoints "web" field metadata.labels is {"tier": "back", "endpoints.kubernetes.io/managed-by": "endpoint-controller"} within 1s

    @until:1.32
    Scenario: The Service is labelled, up to 1.32
      When the user sends PATCH /api/v1/namespaces/default/services/web:
        """yaml
        metadata: {labels: {tier: back}}
        """
      Then Endpoints "web" field metadata.labels is {"tier": "back"} within 1s

    Scenario: The Service is deleted while the controller is away
      Given endpoints-controller stops
      And the user sends DELETE /api/v1/namespaces/default/services/web
      When 10s pass
      Then Endpoints "web" keeps field subsets[0].addresses[0].targetRef.name at "dead" for 10s
      When endpoints-controller starts
      Then Endpoints "web" is gone within 1s

    Scenario: The user deletes them
      When the user sends DELETE /api/v1/namespaces/default/endpoints/web
      Then Endpoints "web" field metadata.uid is changed within 1s
      And Endpoints "web" field subsets[0].addresses[0].targetRef.name is "dead" within 1s

  Rule: Ports that the same pods have are together

    Scenario: Two pods have a port of one name with two numbers
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Service
        metadata: {name: named, namespace: default}
        spec:
          selector: {app: named}
          ports: [{name: main, port: 80, targetPort: http}, {name: metrics, port: 9090}]
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: one, namespace: default, labels: {app: named}}
        spec: {nodeName: worker-1, containers: [{name: main, image: pause, ports: [{name: http, containerPort: 8080}]}]}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: two, namespace: default, labels: {app: named}}
        spec: {nodeName: worker-2, containers: [{name: main, image: pause, ports: [{name: http, containerPort: 8081}]}]}
        """
      Then Pod "one" has condition Ready=True within 40s
      And Pod "two" has condition Ready=True within 40s
      And Endpoints "named" field subsets[0].ports[0].port is 8080 within 40s
      And Endpoints "named" field subsets[0].addresses[0].targetRef.name is "one" within 40s
      And Endpoints "named" field subsets[1].ports[0].port is 8081 within 40s
      And Endpoints "named" field subsets[1].addresses[0].targetRef.name is "two" within 40s
      And Endpoints "named" field subsets[2].ports[0].name is "metrics" within 40s
      And Endpoints "named" field subsets[2].addresses[1].ip is set within 40s

    Scenario: A Service without an address and without ports
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Service
        metadata: {name: peers, namespace: default}
        spec: {clusterIP: None, selector: {app: web}}
        """
      Then Endpoints "peers" field metadata.labels["service.kubernetes.io/headless"] is "" within 1s
      And Endpoints "peers" field subsets[0].addresses[0].targetRef.name is "dead" within 1s
      And Endpoints "peers" field subsets[0].ports is absent within 1s
      But Endpoints "web" keeps field metadata.labels["service.kubernetes.io/headless"] absent for 10s

  Rule: A Service without a selector, or with another name for it, gets none

    Scenario Outline: A Service <of>
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Service
        metadata: {name: bare, namespace: default}
        spec: {<spec>}
        """
      Then Service "bare" field metadata.name is "bare" within 1s
      When 5s pass
      And the user sends GET /api/v1/namespaces/default/endpoints/bare
      Then the request is refused with 404 endpoints "bare" not found

      Examples:
        | of                 | spec                                                                           |
        | without selector   | ports: [{port: 80}]                                                            |
        | with another name  | type: ExternalName, externalName: db.example.com, selector: {app: web}         |
