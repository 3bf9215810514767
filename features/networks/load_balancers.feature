@core
Feature: The addresses of a load balancer
  Source: pkg/apis/core/v1/defaults.go (v1.34), SetDefaults_Service
  Source: pkg/apis/core/validation/validation.go (v1.34), ValidateLoadBalancerStatus

  Rule: Traffic to an address goes through the load balancer unless its mode says otherwise

    Scenario: Addresses without a mode, with one, and a name
      Given the object:
        """yaml
        apiVersion: v1
        kind: Service
        metadata: {name: web}
        spec: {type: LoadBalancer, ports: [{port: 80}]}
        """
      When the user sends PATCH /api/v1/namespaces/default/services/web/status:
        """yaml
        status: {loadBalancer: {ingress: [{ip: 192.0.2.1}, {ip: 192.0.2.2, ipMode: Proxy}, {hostname: lb.example.com}]}}
        """
      Then the request is answered with 200
      And Service "web" field status.loadBalancer.ingress[0].ipMode is "VIP" within 1s
      And Service "web" field status.loadBalancer.ingress[1].ipMode is "Proxy" within 1s
      But Service "web" keeps field status.loadBalancer.ingress[2].ipMode absent for 10s
