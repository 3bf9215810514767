@core @req:STA-04
Feature: A Node whose Pods have no route says that its network is unavailable
  Source: k8s.io/cloud-provider controllers/route/route_controller.go (v0.37), reconcile, updateNetworkingCondition

  Rule: The condition follows the routes, and the taint follows the condition

    Scenario: A route is made
      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/16 |
      And cloud-controller-manager runs with:
        | flag         | value         |
        | cluster-cidr | 10.244.0.0/16 |
      And a cloud with the instances:
        | name     |
        | worker-1 |
      When a kubelet named "worker-1" registers
      Then Node "worker-1" has condition NetworkUnavailable=False, reason "RouteCreated", message "RouteController created a route" within 11s
      And Node "worker-1" never has condition NetworkUnavailable=True for 2m
      And no Event FailedToCreateRoute about Node "worker-1" for 2m

    Scenario: The cloud makes no route, and then it does
      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/16 |
      And cloud-controller-manager runs with:
        | flag         | value         |
        | cluster-cidr | 10.244.0.0/16 |
      And a cloud with the instances:
        | name     | errors                           |
        | worker-1 | {"createRoute":"limit exceeded"} |
      And a ready Node "worker-1"
      And Node "worker-1" has condition NetworkUnavailable=True, reason "NoRouteCreated", message "RouteController failed to create a route"
      And Node "worker-1" has taint "node.kubernetes.io/network-unavailable:NoSchedule"
      When the cloud's instance "worker-1" becomes:
        | errors | |
      Then Node "worker-1" has condition NetworkUnavailable=False, reason "RouteCreated" within 11s
      And Node "worker-1" has no taint "node.kubernetes.io/network-unavailable:NoSchedule" within 11s

    Scenario: Each round says that a route is missing
      Given kube-controller-manager runs with:
        | flag                | value         |
        | allocate-node-cidrs | true          |
        | cluster-cidr        | 10.244.0.0/16 |
      And cloud-controller-manager runs with:
        | flag         | value         |
        | cluster-cidr | 10.244.0.0/16 |
      And a cloud with the instances:
        | name     | errors                           |
        | worker-1 | {"createRoute":"limit exceeded"} |
      When a kubelet named "worker-1" registers
      Then Event FailedToCreateRoute about Node "worker-1" within 11s
      And Node "worker-1" has taint "node.kubernetes.io/network-unavailable:NoSchedule" within 11s
