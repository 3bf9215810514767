@core
Feature: The pods of a DaemonSet stay with their nodes
  Source: pkg/controller/daemon/daemon_controller.go (v1.34), NodeShouldRunDaemonPod
  Source: pkg/controller/daemon/util/daemonset_util.go (v1.34), AddOrUpdateDaemonPodTolerations

  Rule: A pod gets a toleration of 300 s for each of two taints, unless it brings its own

    @req:EV-02
    Scenario Outline: What admission adds to a Pod that brings <what>
      When the user creates:
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
        spec:
          tolerations: <own>
          containers:
          - name: main
            image: registry.k8s.io/pause:3.10
        """
      Then Pod "web" field spec.tolerations is <then> at once

      Examples:
        | what                    | own                                                                                                          | then |
        | none                    | []                                                                                                           | [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}, {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}] |
        | one for not-ready       | [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 5}]             | [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}, {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}] |
        | one without limit       | [{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute}]                                 | [{"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"}, {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}] |
        | one for everything      | [{operator: Exists}]                                                                                         | [{"operator": "Exists"}] |
        | one for another effect  | [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoSchedule}]                                  | [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoSchedule"}, {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}, {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}] |
