@extended
Feature: A ResourceQuota counts what its namespace uses, and refuses what there is no room for
  Source: k8s.io/apiserver pkg/admission/plugin/resourcequota/controller.go, pkg/controller/resourcequota/resource_quota_controller.go (v1.34)

  Rule: What is created is taken from the quota at once, and what does not fit is refused

    Scenario: Requests and the number of Pods
      Given the object:
        """yaml
        apiVersion: v1
        kind: ResourceQuota
        metadata: {name: team}
        spec: {hard: {pods: "2", requests.cpu: "1", limits.memory: 1Gi}}
        """
      And ResourceQuota "team" has these fields:
        """yaml
        status: {hard: {pods: "2", requests.cpu: "1", limits.memory: 1Gi}, used: {pods: "0", requests.cpu: "0", limits.memory: "0"}}
        """
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: first}
        spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 600m}, limits: {cpu: 600m, memory: 512Mi}}}]}
        """
      Then ResourceQuota "team" has these fields at once:
        """yaml
        status: {used: {pods: "1", requests.cpu: 600m, limits.memory: 512Mi}}
        """
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: large}
        spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 500m}, limits: {cpu: 500m, memory: 512Mi}}}]}
        """
      Then the request is refused with 403 pods "large" is forbidden: exceeded quota: team, requested: requests.cpu=500m, used: requests.cpu=600m, limited: requests.cpu=1
      And Pod "large" never appears for 10s
      And ResourceQuota "team" keeps field status.used.pods at "1" for 10s
      # What fits exactly is let in.
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: second}
        spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 400m}, limits: {cpu: 400m, memory: 512Mi}}}]}
        """
      Then ResourceQuota "team" has these fields at once:
        """yaml
        status: {used: {pods: "2", requests.cpu: "1", limits.memory: 1Gi}}
        """
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: third}
        spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1m}, limits: {cpu: 1m, memory: 1Mi}}}]}
        """
      Then the request is refused with 403 pods "third" is forbidden: exceeded quota: team, requested: limits.memory=1Mi,pods=1,requests.cpu=1m, used: limits.memory=1Gi,pods=2,requests.cpu=1, limited: limits.memory=1Gi,pods=2,requests.cpu=1

    Scenario: A Pod must say what the quota counts
      Given the object:
        """yaml
        apiVersion: v1
        kind: ResourceQuota
        metadata: {name: team}
        spec: {hard: {requests.cpu: "1", limits.memory: 1Gi}}
        """
      And ResourceQuota "team" field status.used is set
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: silent}
        spec:
          containers:
          - {name: b, image: i}
          - {name: a, image: i, resources: {requests: {cpu: 1m}}}
        """
      Then the request is refused with 403 pods "silent" is forbidden: failed quota: team: must specify limits.memory for: a,b; requests.cpu for: b
      And ResourceQuota "team" keeps field status.used unchanged for 10s

    Scenario: A dry run takes nothing
      Given the object:
        """yaml
        apiVersion: v1
        kind: ResourceQuota
        metadata: {name: team}
        spec: {hard: {count/configmaps: "9"}}
        """
      And ResourceQuota "team" field status.used is set
      When the user sends POST /api/v1/namespaces/default/configmaps?dryRun=All:
        """yaml
        {apiVersion: v1, kind: ConfigMap, metadata: {name: tried}}
        """
      Then the request is answered with 201
      And ResourceQuota "team" keeps field status.used unchanged for 10s

  Rule: Objects of any kind are counted

    Scenario Outline: <what>
      Given the object:
        """yaml
        apiVersion: v1
        kind: ResourceQuota
        metadata: {name: team}
        spec: {hard: {<name>: "1"}}
        """
      And ResourceQuota "team" field status.used is set
      When the user creates:
        """yaml
        <object>
        """
      Then the request is refused with 403 exceeded quota: team, requested: <name>=2, used: <name>=0, limited: <name>=1
      And ResourceQuota "team" keeps field status.used unchanged for 10s

      Examples:
        | what                       | name               | object |
        | the node ports of a Service | services.nodeports | {apiVersion: v1, kind: Service, metadata: {name: s}, spec: {type: NodePort, ports: [{name: a, port: 1}, {name: b, port: 2}]}} |
        | the room of a claim        | requests.storage   | {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: d}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: "2"}}}} |
        | an extended resource       | requests.x.io/gpu  | {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i, resources: {limits: {x.io/gpu: "2"}}}]}} |

    Scenario: The second one of a kind of a group
      Given the object:
        """yaml
        apiVersion: v1
        kind: ResourceQuota
        metadata: {name: team}
        spec: {hard: {count/deployments.apps: "1"}}
        """
      And ResourceQuota "team" field status.used is set
      And a Deployment "web" of 2 Pods
      And ResourceQuota "team" field status.used["count/deployments.apps"] is "1"
      When the user creates:
        """yaml
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: more}
        spec:
          selector: {matchLabels: {a: b}}
          template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}
        """
      Then the request is refused with 403 deployments.apps "more" is forbidden: exceeded quota: team, requested: count/deployments.apps=1, used: count/deployments.apps=1, limited: count/deployments.apps=1
      When the user deletes Deployment "web"
      Then ResourceQuota "team" field status.used["count/deployments.apps"] is "0" within 5s

    Scenario: A Service that becomes one with node ports
      Given the object:
        """yaml
        apiVersion: v1
        kind: ResourceQuota
        metadata: {name: team}
        spec: {hard: {services.nodeports: "0"}}
        """
      And ResourceQuota "team" field status.used is set
      And the user creates:
        """yaml
        {apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: [{port: 80}]}}
        """
      When the user sends PATCH /api/v1/namespaces/default/services/s:
        """yaml
        {spec: {type: NodePort}}
        """
      Then the request is refused with 403 services "s" is forbidden: exceeded quota: team, requested: services.nodeports=1, used: services.nodeports=0, limited: services.nodeports=0
      And ResourceQuota "team" keeps field status.used unchanged for 10s

  Rule: A quota with scopes counts only the Pods that are within all of them

    Scenario: Pods without requests
      Given the objects:
        """yaml
        apiVersion: v1
        kind: ResourceQuota
        metadata: {name: bare}
        spec: {hard: {pods: "0"}, scopes: [BestEffort]}
        ---
        apiVersion: v1
        kind: ResourceQuota
        metadata: {name: important}
        spec:
          hard: {pods: "0"}
          scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [system-node-critical]}]}
        ---
        apiVersion: v1
        kind: ResourceQuota
        metadata: {name: jobs}
        spec: {hard: {pods: "5"}, scopes: [Terminating, NotBestEffort]}
        """
      And ResourceQuota "bare" field status.used is set
      And ResourceQuota "important" field status.used is set
      And ResourceQuota "jobs" field status.used is set
      When the user creates:
        """yaml
        {apiVersion: v1, kind: Pod, metadata: {name: bare}, spec: {containers: [{name: c, image: i}]}}
        """
      Then the request is refused with 403 pods "bare" is forbidden: exceeded quota: bare, requested: pods=1, used: pods=0, limited: pods=0
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: high}
        spec:
          priorityClassName: system-node-critical
          containers: [{name: c, image: i, resources: {requests: {cpu: 1m}}}]
        """
      Then the request is refused with 403 pods "high" is forbidden: exceeded quota: important, requested: pods=1, used: pods=0, limited: pods=0
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: short}
        spec:
          activeDeadlineSeconds: 100
          containers: [{name: c, image: i, resources: {requests: {cpu: 1m}}}]
        """
      Then ResourceQuota "jobs" field status.used.pods is "1" at once
      And Pod "short" exists at once
      And ResourceQuota "bare" keeps field status.used.pods at "0" for 10s

    @since:1.33
    Scenario: A Pod that is given a deadline counts with those that end
      Given the object:
        """yaml
        apiVersion: v1
        kind: ResourceQuota
        metadata: {name: ending}
        spec: {hard: {pods: "0"}, scopes: [Terminating]}
        """
      And ResourceQuota "ending" field status.used is set
      And the user creates:
        """yaml
        {apiVersion: v1, kind: Pod, metadata: {name: long}, spec: {containers: [{name: c, image: i}]}}
        """
      When the user sends PATCH /api/v1/namespaces/default/pods/long:
        """yaml
        {spec: {activeDeadlineSeconds: 100}}
        """
      Then the request is refused with 403 pods "long" is forbidden: exceeded quota: ending, requested: pods=1, used: pods=0, limited: pods=0
      And ResourceQuota "ending" keeps field status.used unchanged for 10s

  Rule: The controller counts again when something is gone, and when the limits change

    Scenario: A Pod that has ended counts as an object only
      Given a ready Node "worker-1"
      And the object:
        """yaml
        apiVersion: v1
        kind: ResourceQuota
        metadata: {name: team}
        spec: {hard: {pods: "4", count/pods: "4"}}
        """
      And ResourceQuota "team" field status.used is set
      And a Pod "web" on Node "worker-1"
      And ResourceQuota "team" has these fields:
        """yaml
        status: {used: {pods: "1", count/pods: "1"}}
        """
      When the user sends PATCH /api/v1/namespaces/default/pods/web/status:
        """yaml
        {status: {phase: Failed}}
        """
      Then ResourceQuota "team" field status.used.pods is "0" within 5s
      And ResourceQuota "team" keeps field status.used["count/pods"] at "1" for 5s
      When the user deletes Pod "web"
      Then ResourceQuota "team" field status.used["count/pods"] is "0" within 60s

    Scenario: What is there before the quota counts, also if it is too much
      Given the user creates:
        """yaml
        {apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80}]}}
        ---
        {apiVersion: v1, kind: Service, metadata: {name: b}, spec: {ports: [{port: 80}]}}
        """
      When the user creates:
        """yaml
        apiVersion: v1
        kind: ResourceQuota
        metadata: {name: team}
        spec: {hard: {count/services: "1", requests.cpu: "1"}}
        """
      Then ResourceQuota "team" field status.used["count/services"] is not "0" within 5s
      And ResourceQuota "team" field status.used["requests.cpu"] is "0" within 5s
      When the user sends PATCH /api/v1/namespaces/default/resourcequotas/team:
        """yaml
        {spec: {hard: {requests.cpu: null, configmaps: "7"}}}
        """
      Then ResourceQuota "team" has these fields within 5s:
        """yaml
        status: {hard: {count/services: "1", configmaps: "7", requests.cpu: null}, used: {requests.cpu: null}}
        """

    Scenario: Without the controller a new quota holds nothing up
      Given resourcequota-controller stops
      When the user creates:
        """yaml
        apiVersion: v1
        kind: ResourceQuota
        metadata: {name: team}
        spec: {hard: {pods: "0"}}
        """
      And the user creates:
        """yaml
        {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}
        """
      Then Pod "p" exists at once
      And ResourceQuota "team" keeps field status.hard absent for 60s
      When resourcequota-controller starts
      Then ResourceQuota "team" has these fields within 10s:
        """yaml
        status: {hard: {pods: "0"}, used: {pods: "1"}}
        """
