@extended
Feature: Before 1.26 a Pod is deleted without a word about why
  Source: pkg/controller/nodelifecycle/scheduler/taint_manager.go (v1.24, v1.25, v1.26), deletePodHandler
  Source: pkg/controller/podgc/gc_controller.go (v1.24, v1.25, v1.26), gcOrphaned
  Source: pkg/registry/core/pod/storage/eviction.go (v1.26), EvictionREST.Create
  Source: pkg/features/kube_features.go (v1.25, v1.26), PodDisruptionConditions

  @req:EV-01
  Rule: A Pod that is evicted has the condition DisruptionTarget since 1.26, and in 1.25 behind a gate

    Scenario Outline: A NoExecute taint in <release>, with gates <gates>
      Given a cluster of Kubernetes <release>
      And kube-controller-manager runs with:
        | feature-gates | <gates> |
      And no other Node
      And a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When the user taints Node "worker-1" with "example.com/broken:NoExecute"
      Then Pod "web" is terminating within 1s
      And Event TaintManagerEviction about Pod "web", message "Marking for deletion Pod default/web", within 1s
      And Pod "web" <condition>

      Examples:
        | release | gates                        | condition                                                                            |
        | 1.20    |                              | never has condition DisruptionTarget=True for 30s                                    |
        | 1.24    |                              | never has condition DisruptionTarget=True for 30s                                    |
        | 1.25    |                              | never has condition DisruptionTarget=True for 30s                                    |
        | 1.25    | PodDisruptionConditions=true | has condition DisruptionTarget=True, reason "DeletionByTaintManager", within 1s      |
        | 1.26    |                              | has condition DisruptionTarget=True, reason "DeletionByTaintManager", within 1s      |

    Scenario Outline: The eviction subresource of <release>
      Given a cluster of Kubernetes <release>
      And no other Node
      And a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When the user evicts Pod "web"
      Then Pod "web" is terminating within 1s
      And Pod "web" <condition>

      Examples:
        | release | condition                                                                      |
        | 1.25    | never has condition DisruptionTarget=True for 30s                              |
        | 1.26    | has condition DisruptionTarget=True, reason "EvictionByEvictionAPI", within 1s |

  @req:EV-06
  Rule: A Pod whose node is gone fails before it is deleted since 1.26

    Scenario Outline: The Node is deleted in <release>
      Given a cluster of Kubernetes <release>
      And no other Node
      And a hand-fed Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And the user watches /api/v1/namespaces/default/pods
      When the user deletes Node "worker-1"
      Then Pod "web" stays for 39s
      And Pod "web" is gone between 39s and 81s
      And the watch <failed>

      Examples:
        | release | failed                                                       |
        | 1.20    | never shows MODIFIED "web" with status.phase "Failed" for 2m |
        | 1.25    | never shows MODIFIED "web" with status.phase "Failed" for 2m |
        | 1.26    | shows MODIFIED "web" with status.phase "Failed" within 81s   |
