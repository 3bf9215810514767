@core @req:COM-01 @sim-only:faults
Feature: One process of a program leads, and ends where it cannot renew its Lease
  A real program elects a leader unless told otherwise; here it does where its flag says so.
  Source: k8s.io/client-go tools/leaderelection/leaderelection.go (v1.34), tryAcquireOrRenew, renew
  Source: cmd/kube-controller-manager/app/controllermanager.go (v1.34), leaderElectAndRun

  Background:
    Given kube-controller-manager runs with:
      | leader-elect | true |
    And kube-scheduler runs with:
      | leader-elect | true |

  Rule: The leader renews its Lease each 2 s

    Scenario: The Leases of a cluster at rest
      Given a ready Node "worker-1"
      When 1m passes
      Then Lease "kube-system/kube-controller-manager" keeps these fields for 1m:
        """yaml
        spec:
          leaseDurationSeconds: 15
          leaseTransitions: 0
        """
      And Lease "kube-system/kube-controller-manager" field spec.renewTime is changed within 2.1s
      And Lease "kube-system/kube-scheduler" field spec.renewTime is changed within 2.1s
      And Lease "kube-system/kube-scheduler" keeps field spec.acquireTime unchanged for 5m
      And Lease "kube-system/kube-controller-manager" keeps field spec.holderIdentity unchanged for 5m

  Rule: Without an answer for 10 s the process ends; the next one waits 15 s for the Lease, and knows nothing

    Scenario: Nobody becomes Unknown since the controllers were cut off
      A process that goes on, as without the flag, takes each Node for silent when it is back.

      Given a ready Node "worker-1"
      When kube-controller-manager loses its connection to the API server for 5m
      Then Node "worker-1" keeps condition Ready=True for 10m
      And Lease "kube-system/kube-controller-manager" keeps field spec.holderIdentity unchanged for 314s
      And Lease "kube-system/kube-controller-manager" field spec.leaseTransitions is 1 between 314s and 325s
      And Lease "kube-system/kube-controller-manager" keeps field spec.leaseTransitions at 0 for 314s

    Scenario: A silent Node gets its whole grace period anew
      Given a ready Node "worker-1"
      And the kubelet on "worker-1" is killed
      And 20s pass
      # The process ends after 10 to 12 s. The next one may lead 15 s after it has read the Lease, at the end of the cut.
      When kube-controller-manager loses its connection to the API server for 15s
      Then Node "worker-1" keeps condition Ready=True for the grace period and 30s
      And Node "worker-1" has condition Ready=Unknown between the grace period and 30s and the grace period and 50s

    Scenario: A cut that is shorter than the renew deadline changes nothing
      Given a ready Node "worker-1"
      When kube-controller-manager loses its connection to the API server for 7s
      Then Lease "kube-system/kube-controller-manager" keeps field spec.renewTime unchanged for 5s
      And Lease "kube-system/kube-controller-manager" keeps field spec.holderIdentity unchanged for 5m
      And Lease "kube-system/kube-controller-manager" keeps field spec.leaseTransitions at 0 for 5m
      And Node "worker-1" keeps condition Ready=True for 5m

    Scenario: It restarts, and does not lead before the Lease of the process before has expired
      Given a ready Node "worker-1"
      When kube-controller-manager restarts
      Then Lease "kube-system/kube-controller-manager" keeps field spec.leaseTransitions at 0 for 15s
      And Lease "kube-system/kube-controller-manager" field spec.leaseTransitions is 1 between 15s and 19.5s
      And Event LeaderElection about Lease "kube-system/kube-controller-manager" between 15s and 20s
      And Event RegisteredNode about Node "worker-1", message "Node worker-1 event: Registered Node worker-1 in Controller", between 15s and 25s

    Scenario: The scheduler is cut off
      Given a ready Node "worker-1"
      And kube-scheduler loses its connection to the API server for 1m
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          containers:
          - name: main
            image: nginx
        """
      Then Pod "web" keeps field spec.nodeName absent for 70s
      And Pod "web" field spec.nodeName is set between 70s and 82s

  Rule: Who finds another holder in its Lease leads no more

    Scenario: Somebody else writes the Lease, and does not renew it
      Given a ready Node "worker-1"
      When the user sends PATCH /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager:
        """yaml
        spec:
          holderIdentity: another
        """
      Then Lease "kube-system/kube-controller-manager" keeps field spec.holderIdentity at "another" for 15s
      And Lease "kube-system/kube-controller-manager" field spec.leaseTransitions is 1 between 15s and 33s
      And Node "worker-1" keeps condition Ready=True for 2m

    Scenario: Somebody deletes it: the leader makes it anew
      Given a ready Node "worker-1"
      When the user deletes Lease "kube-system/kube-controller-manager"
      Then Lease "kube-system/kube-controller-manager" field spec.acquireTime is changed within 2.1s
      And Node "worker-1" keeps condition Ready=True for 2m

  Rule: Its times can be set, and wrong ones keep it from starting

    Scenario: A shorter Lease is taken over sooner
      Given kube-controller-manager runs with:
        | leader-elect                | true |
        | leader-elect-lease-duration | 6s   |
        | leader-elect-renew-deadline | 4s   |
        | leader-elect-retry-period   | 1s   |
      And a ready Node "worker-1"
      When kube-controller-manager restarts
      Then Lease "kube-system/kube-controller-manager" keeps field spec.leaseTransitions at 0 for 6s
      And Lease "kube-system/kube-controller-manager" field spec.leaseTransitions is 1 between 6s and 8.3s

    Scenario: The renew deadline is no shorter than the Lease
      Given kube-controller-manager runs with:
        | leader-elect                | true |
        | leader-elect-lease-duration | 10s  |
      And a machine "worker-1"
      And 5m pass
      When the user sends GET /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager
      Then the request is refused with 404
      And no Event RegisteredNode about Node "worker-1" for 5m
