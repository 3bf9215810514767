@core @req:STA-03
Feature: A kubelet ends pods before its node runs out of something
  Source: pkg/kubelet/eviction/eviction_manager.go and helpers.go (v1.34), synchronize, rankMemoryPressure, evictionMessage

  Rule: The pod of the highest rank gets one second; its status, its condition and an Event say why

    Scenario: A pod that uses more memory than it asked for
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | evictionHard                     | {"memory.available":"1Gi"} |
        | evictionPressureTransitionPeriod | 30s                        |
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: greedy
          annotations: {nodeproof.dev/main.uses.memory: 300Mi, nodeproof.dev/main.stops-after: never}
        spec:
          nodeName: worker-1
          containers:
          - {name: main, image: pause, resources: {requests: {memory: 200Mi}}}
        ---
        apiVersion: v1
        kind: Pod
        metadata:
          name: modest
          annotations: {nodeproof.dev/main.uses.memory: 300Mi}
        spec:
          nodeName: worker-1
          containers:
          - {name: main, image: pause, resources: {requests: {memory: 400Mi}}}
        """
      And Pod "greedy" has condition Ready=True
      And Pod "modest" has condition Ready=True
      When machine "worker-1" does fill-memory with:
        | free | 900Mi |
      Then Event EvictionThresholdMet about Node "worker-1", message "Attempting to reclaim memory", within 11s
      And Event Evicted about Pod "greedy", message "The node was low on resource: memory. Threshold quantity: 1Gi, available: 900Mi. Container main was using 300Mi, request is 200Mi, has larger consumption of memory. ", within 11s
      And Event Killing about Pod "greedy", message "Stopping container main", within 11s
      And container "main" of Pod "greedy" stops on machine "worker-1" within 13s
      And Pod "greedy" has these fields within 13s:
        """yaml
        status:
          phase: Failed
          reason: Evicted
          message: "The node was low on resource: memory. Threshold quantity: 1Gi, available: 900Mi. Container main was using 300Mi, request is 200Mi, has larger consumption of memory. "
          containerStatuses:
          - {name: main, state: {terminated: {exitCode: 137}}}
        """
      And Pod "greedy" has condition DisruptionTarget=True, reason "TerminationByKubelet", message "The node was low on resource: memory. Threshold quantity: 1Gi, available: 900Mi. Container main was using 300Mi, request is 200Mi, has larger consumption of memory. ", within 13s
      And Node "worker-1" has condition MemoryPressure=True within 21s
      And Pod "greedy" stays for 5m
      And Pod "modest" keeps condition Ready=True for 5m
      And the history of Pod "greedy" matches its snapshot
      And the history of Node "worker-1" matches its snapshot

    Scenario: A pod whose containers all end with 0 has succeeded, and says nothing of its eviction
      Given a ready Node "worker-1"
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: tidy
          annotations: {nodeproof.dev/main.uses.memory: 1Mi}
        spec: {nodeName: worker-1, containers: [{name: main, image: pause}]}
        """
      And Pod "tidy" has condition Ready=True
      When machine "worker-1" does fill-memory with:
        | free | 50Mi |
      Then Event Evicted about Pod "tidy" within 11s
      And Pod "tidy" field status.phase is "Succeeded" within 13s
      And Pod "tidy" keeps field status.reason absent for 60s
      And Pod "tidy" keeps field status.message absent for 60s
      And Pod "tidy" has condition DisruptionTarget=True, reason "TerminationByKubelet", within 13s
      And Pod "tidy" has condition Ready=False, reason "PodCompleted", within 13s

    Scenario Outline: The message names the containers that use more than they asked for: <what>
      Given a machine "worker-1" with:
        | memory | 4Gi   |
        | pids   | 10000 |
        | inodes | 6000  |
      And whose kubelet runs with:
        | evictionHard | {"<signal>":"<least>"} |
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: pair
          annotations:
            nodeproof.dev/first.uses: '{"memory": "<first>", "ephemeral-storage": "<first>", "pids": 5, "inodes": 5}'
            nodeproof.dev/second.uses: '{"memory": "<second>", "ephemeral-storage": "<second>", "pids": 5, "inodes": 5}'
        spec:
          nodeName: worker-1
          containers:
          - {name: first, image: pause, resources: {requests: {memory: 10Mi, ephemeral-storage: 10Mi}}}
          - {name: second, image: pause}
        """
      And Pod "pair" has condition Ready=True
      When machine "worker-1" does <verb> with:
        | <field> | <free> |
      Then Event Evicted about Pod "pair", message "The node was low on resource: <resource>. Threshold quantity: <least quantity>, available: <available>. <containers> ", within 11s
      And Pod "pair" has condition DisruptionTarget=True, message "The node was low on resource: <resource>. Threshold quantity: <least quantity>, available: <available>. <containers> ", within 13s

      Examples:
        | what               | signal             | least | verb        | field      | free   | resource          | least quantity | available | first   | second | containers                                                                                                                                                                                   |
        | both               | memory.available   | 25%   | fill-memory | free       | 512Mi  | memory            | 1Gi            | 512Mi     | 11Mi    | 1Ki    | Container first was using 11Mi, request is 10Mi, has larger consumption of memory. Container second was using 1Ki, request is 0, has larger consumption of memory.                           |
        | the second         | memory.available   | 1Gi   | fill-memory | free       | 1      | memory            | 1Gi            | 1         | 10Mi    | 2Gi    | Container second was using 2Gi, request is 0, has larger consumption of memory.                                                                                                              |
        | both, of the disk  | nodefs.available   | 500Mi | fill-disk   | free       | 1500Ki | ephemeral-storage | 500Mi          | 1500Ki    | 10241Ki | 28Ki   | Container first was using 10241Ki, request is 10Mi, has larger consumption of ephemeral-storage. Container second was using 28Ki, request is 0, has larger consumption of ephemeral-storage. |

    Scenario Outline: The message names no container: <what>
      Given a machine "worker-1" with:
        | memory | 4Gi   |
        | pids   | 10000 |
        | inodes | 6000  |
      And whose kubelet runs with:
        | evictionHard | {"<signal>":"<least>"} |
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: single
          annotations: {nodeproof.dev/main.uses: '{"memory": "10Mi", "ephemeral-storage": "1Gi", "pids": 5, "inodes": 5}'}
        spec:
          nodeName: worker-1
          containers:
          - {name: main, image: pause, resources: {requests: {memory: 10Mi, ephemeral-storage: 1Gi}}}
        """
      And Pod "single" has condition Ready=True
      When machine "worker-1" does <verb> with:
        | <field> | <free> |
      Then Event Evicted about Pod "single", message "The node was low on resource: <resource>. Threshold quantity: <quantity>, available: <available>. ", within 11s
      And Pod "single" has condition DisruptionTarget=True, message "The node was low on resource: <resource>. Threshold quantity: <quantity>, available: <available>. ", within 13s

      Examples:
        | what                              | signal            | least | verb        | field      | free | resource          | quantity | available |
        | all use no more than they asked   | memory.available  | 1Gi   | fill-memory | free       | 0    | memory            | 1Gi      | 0         |
        | the disk, and no more than asked  | nodefs.available  | 1Gi   | fill-disk   | free       | 1    | ephemeral-storage | 1Gi      | 1         |
        | inodes, whoever uses them         | nodefs.inodesFree | 10%   | fill-disk   | freeInodes | 599  | inodes            | 600      | 599       |
        | processes, whoever starts them    | pid.available     | 1500  | use-pids    | free       | 1k   | pids              | 1500     | 1k        |

    @since:1.34
    Scenario: Requests of a whole pod are told before those of its containers
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | evictionHard | {"memory.available":"1Gi"} |
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: whole
          annotations: {nodeproof.dev/main.uses.memory: 300Mi}
        spec:
          nodeName: worker-1
          resources: {requests: {memory: 100Mi}}
          containers: [{name: main, image: pause}]
        """
      And Pod "whole" has condition Ready=True
      When machine "worker-1" does fill-memory with:
        | free | 900Mi |
      Then Event Evicted about Pod "whole", message "The node was low on resource: memory. Threshold quantity: 1Gi, available: 900Mi. Pod whole was using 300Mi, request is 100Mi, has larger consumption of memory. Container main was using 300Mi, request is 0, has larger consumption of memory. ", within 11s

    Scenario: A pod that ends for the disk's sake has failed: its containers are removed before anybody asks how they ended
      Given a ready Node "worker-1"
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: writer
          annotations: {nodeproof.dev/main.uses.ephemeral-storage: 28Ki}
        spec: {nodeName: worker-1, containers: [{name: main, image: pause}]}
        """
      And Pod "writer" has condition Ready=True
      When machine "worker-1" does fill-disk with:
        | free | 5% |
      Then Event Evicted about Pod "writer" within 11s
      And Pod "writer" field status.phase is "Failed" within 13s
      And Pod "writer" field status.reason is "Evicted" within 13s
      And Pod "writer" has condition DisruptionTarget=True, reason "TerminationByKubelet", within 13s
      And Pod "writer" field status.containerStatuses[main].lastState.terminated.reason is "ContainerStatusUnknown" within 13s
      And Pod "writer" field status.containerStatuses[main].lastState.terminated.message is "The container could not be located when the pod was deleted.  The container used to be Running" within 13s
      And Pod "writer" field status.containerStatuses[main].state.terminated.reason is "ContainerStatusUnknown" between 2s and 14s
      And Pod "writer" field status.containerStatuses[main].state.terminated.exitCode is 137 between 2s and 14s
      And the history of Pod "writer" matches its snapshot

  Rule: Who uses more than it asked for goes first, then the least important, then the greediest

    Scenario Outline: Of two pods, <what>
      Given a machine "worker-1" with:
        | memory | 8Gi   |
        | pids   | 10000 |
      And whose kubelet runs with:
        | evictionHard | {"<signal>":"<least>"} |
      And the objects:
        """yaml
        apiVersion: scheduling.k8s.io/v1
        kind: PriorityClass
        metadata: {name: high}
        value: 1000
        ---
        apiVersion: scheduling.k8s.io/v1
        kind: PriorityClass
        metadata: {name: low}
        value: -1000
        ---
        apiVersion: v1
        kind: Pod
        metadata:
          name: first
          annotations: {nodeproof.dev/main.uses.<resource>: "<first uses>"}
        spec:
          nodeName: worker-1
          priorityClassName: <first class>
          containers:
          - {name: main, image: pause, resources: {requests: {<asked>: <first asks>}}}
        ---
        apiVersion: v1
        kind: Pod
        metadata:
          name: second
          annotations: {nodeproof.dev/main.uses.<resource>: "<second uses>"}
        spec:
          nodeName: worker-1
          priorityClassName: <second class>
          containers:
          - {name: main, image: pause, resources: {requests: {<asked>: <second asks>}}}
        """
      And Pod "first" has condition Ready=True
      And Pod "second" has condition Ready=True
      When machine "worker-1" does <verb> with:
        | free | <free> |
      Then Event Evicted about Pod "<goes>" within 11s
      And Pod "<stays>" keeps condition Ready=True for 60s

      Examples:
        | what                                          | signal           | least | resource          | asked             | first class | first uses | first asks | second class | second uses | second asks | verb        | free  | goes   | stays  |
        | the one above its request goes                | memory.available | 1Gi   | memory            | memory            | low         | 500Mi      | 500Mi      | high         | 201Mi       | 200Mi       | fill-memory | 900Mi | second | first  |
        | the less important goes                       | memory.available | 1Gi   | memory            | memory            | high        | 500Mi      | 100Mi      | low          | 201Mi       | 200Mi       | fill-memory | 900Mi | second | first  |
        | the greedier goes, by what is above           | memory.available | 1Gi   | memory            | memory            | low         | 900Mi      | 700Mi      | low          | 500Mi       | 200Mi       | fill-memory | 900Mi | second | first  |
        | below their requests, the less important goes | memory.available | 1Gi   | memory            | memory            | low         | 150Mi      | 500Mi      | high         | 190Mi       | 200Mi       | fill-memory | 900Mi | first  | second |
        | below their requests, the nearer goes         | memory.available | 1Gi   | memory            | memory            | low         | 150Mi      | 500Mi      | low          | 190Mi       | 200Mi       | fill-memory | 900Mi | second | first  |
        | the one above its request of the disk goes    | nodefs.available | 1Gi   | ephemeral-storage | ephemeral-storage | low         | 1500Mi     | 1500Mi     | high         | 201Mi       | 200Mi       | fill-disk   | 900Mi | second | first  |
        | the greedier goes, by bytes above             | nodefs.available | 1Gi   | ephemeral-storage | ephemeral-storage | high        | 1500Mi     | 1Gi        | high         | 1200Mi      | 200Mi       | fill-disk   | 100Mi | second | first  |
        | the less important goes, however few          | pid.available    | 1k    | pids              | cpu               | low         | 150        | 1m         | high         | 500         | 1m          | use-pids    | 900   | first  | second |
        | the one of more processes goes                | pid.available    | 1k    | pids              | cpu               | high        | 100        | 1m         | high         | 500         | 1m          | use-pids    | 900   | second | first  |

    Scenario: A pod without containers goes first: nothing is known of it
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | evictionHard | {"memory.available":"1Gi"} |
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: greedy
          annotations: {nodeproof.dev/main.uses.memory: 300Mi}
        spec: {nodeName: worker-1, containers: [{name: main, image: pause}]}
        ---
        apiVersion: v1
        kind: Pod
        metadata:
          name: slow
          annotations: {nodeproof.dev/main.starts-after: 5m}
        spec:
          nodeName: worker-1
          containers: [{name: main, image: pause, resources: {requests: {memory: 1Gi}}}]
        """
      And Pod "greedy" has condition Ready=True
      When machine "worker-1" does fill-memory with:
        | free | 900Mi |
      Then Event Evicted about Pod "slow", message "The node was low on resource: memory. Threshold quantity: 1Gi, available: 900Mi. ", within 11s
      And Pod "slow" field status.phase is "Failed" within 12s
      And Pod "slow" field status.reason is "Evicted" within 12s

  Rule: One pod a pass; the next pass follows as soon as the pod is cleaned up

    Scenario: Three pods go one after the other, until enough is left
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | evictionHard | {"memory.available":"1Gi"} |
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: one
          annotations: {nodeproof.dev/main.uses.memory: 300Mi, nodeproof.dev/main.stops-after: 500ms}
        spec: {nodeName: worker-1, containers: [{name: main, image: pause}]}
        ---
        apiVersion: v1
        kind: Pod
        metadata:
          name: two
          annotations: {nodeproof.dev/main.uses.memory: 200Mi, nodeproof.dev/main.stops-after: 1s}
        spec: {nodeName: worker-1, containers: [{name: main, image: pause}]}
        ---
        apiVersion: v1
        kind: Pod
        metadata:
          name: three
          annotations: {nodeproof.dev/main.uses.memory: 100Mi, nodeproof.dev/main.stops-after: never}
        spec: {nodeName: worker-1, containers: [{name: main, image: pause}]}
        ---
        apiVersion: v1
        kind: Pod
        metadata:
          name: four
          annotations: {nodeproof.dev/main.uses.memory: 50Mi}
        spec: {nodeName: worker-1, containers: [{name: main, image: pause}]}
        """
      And Pod "one" has condition Ready=True
      And Pod "two" has condition Ready=True
      And Pod "three" has condition Ready=True
      And Pod "four" has condition Ready=True
      When machine "worker-1" does fill-memory with:
        | free | 424Mi |
      Then Event Evicted about Pod "one", message "The node was low on resource: memory. Threshold quantity: 1Gi, available: 424Mi. Container main was using 300Mi, request is 0, has larger consumption of memory. ", within 11s
      And Event Evicted about Pod "two", message "The node was low on resource: memory. Threshold quantity: 1Gi, available: 724Mi. Container main was using 200Mi, request is 0, has larger consumption of memory. ", at 1500ms after Event Evicted about Pod "one"
      And Event Evicted about Pod "three", message "The node was low on resource: memory. Threshold quantity: 1Gi, available: 924Mi. Container main was using 100Mi, request is 0, has larger consumption of memory. ", at 2s after Event Evicted about Pod "two"
      And 3 Events EvictionThresholdMet about Node "worker-1" within 20s
      And Pod "four" keeps condition Ready=True for 60s

  Rule: Critical pods are never evicted, and budgets are not asked

    Scenario: A critical pod stays however much it uses
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | evictionHard | {"memory.available":"1Gi"} |
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: vital
          annotations: {nodeproof.dev/main.uses.memory: 5Gi}
        spec:
          nodeName: worker-1
          priorityClassName: system-cluster-critical
          containers: [{name: main, image: pause}]
        """
      And Pod "vital" has condition Ready=True
      When machine "worker-1" does fill-memory with:
        | free | 0 |
      Then Event EvictionThresholdMet about Node "worker-1" within 11s
      And Node "worker-1" has condition MemoryPressure=True within 21s
      But Pod "vital" keeps condition Ready=True for 5m
      And no Event Evicted about Pod "vital" for 5m

    Scenario: A budget does not keep a pod
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | evictionHard | {"memory.available":"1Gi"} |
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: web
          labels: {app: web}
          annotations: {nodeproof.dev/main.uses.memory: 100Mi, nodeproof.dev/main.stops-after: never}
        spec: {nodeName: worker-1, containers: [{name: main, image: pause}]}
        """
      And a PodDisruptionBudget "web" that keeps 1 of "app=web"
      And Pod "web" has condition Ready=True
      When machine "worker-1" does fill-memory with:
        | free | 950Mi |
      Then Event Evicted about Pod "web" within 11s
      And Pod "web" field status.reason is "Evicted" within 14s

  Rule: A soft threshold gives pods time, once its own grace period is over

    Scenario Outline: A pod with <own> of grace, and <longest> at most, gets <grace>
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | evictionHard              | {"memory.available":"100Mi"} |
        | evictionSoft              | {"memory.available":"1Gi"}   |
        | evictionSoftGracePeriod   | {"memory.available":"25s"}   |
        | evictionMaxPodGracePeriod | <longest>                    |
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: stubborn
          annotations: {nodeproof.dev/main.uses.memory: 300Mi, nodeproof.dev/main.stops-after: never}
        spec:
          nodeName: worker-1
          terminationGracePeriodSeconds: <own>
          containers: [{name: main, image: pause}]
        """
      And Pod "stubborn" has condition Ready=True
      When machine "worker-1" does fill-memory with:
        | free | 900Mi |
      Then Event Evicted about Pod "stubborn", message "The node was low on resource: memory. Threshold quantity: 1Gi, available: 900Mi. Container main was using 300Mi, request is 0, has larger consumption of memory. ", between 25s and 41s
      And container "main" of Pod "stubborn" stops on machine "worker-1" at <grace> after Event Evicted about Pod "stubborn"
      And Pod "stubborn" field status.reason is "Evicted" within 60s

      Examples:
        | own | longest | grace |
        | 30  | 7       | 7s    |
        | 30  | 0       | 2s    |

      @since:1.32
      Examples:
        | own | longest | grace |
        | 5   | 7       | 5s    |

      @until:1.31
      Examples:
        | own | longest | grace |
        | 5   | 7       | 7s    |

    Scenario: A soft threshold that is met no more in time evicts nobody
      Given a ready Node "worker-1"
      And whose kubelet runs with:
        | evictionHard            | {"memory.available":"100Mi"} |
        | evictionSoft            | {"memory.available":"1Gi"}   |
        | evictionSoftGracePeriod | {"memory.available":"45s"}   |
      And the objects:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata:
          name: lucky
          annotations: {nodeproof.dev/main.uses.memory: 300Mi}
        spec: {nodeName: worker-1, containers: [{name: main, image: pause}]}
        """
      And Pod "lucky" has condition Ready=True
      When machine "worker-1" does fill-memory with:
        | free | 900Mi |
      Then Node "worker-1" has condition MemoryPressure=True within 21s
      And Pod "lucky" keeps condition Ready=True for 30s
      When machine "worker-1" does fill-memory with:
        | free | 1Gi |
      And 11s pass
      And machine "worker-1" does fill-memory with:
        | free | 1000Mi |
      Then Pod "lucky" keeps condition Ready=True for 45s
      And Event Evicted about Pod "lucky" between 45s and 61s
