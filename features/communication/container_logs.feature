@core
Feature: Which containers have a log, and which take commands and forwarded ports
  Source: pkg/kubelet/kubelet_pods.go (v1.34), validateContainerLogStatus, GetExec, GetAttach, GetPortForward
  Source: pkg/kubelet/kuberuntime/kuberuntime_container.go (v1.34), GetContainerLogs
  Source: pkg/kubelet/server/server.go (v1.34), InstallAuthRequiredHandlers, proxyStream

  @req:COM-05
  Rule: A container that has never run has no log, and the kubelet says why

    Scenario Outline: It waits, as <why>
      Given a ready Node "worker-1"
      And the object:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web, annotations: {nodeproof.dev/main.starts-after: <after>}}
        spec: {nodeName: worker-1, <first>containers: [{name: main, image: i, <main>}]}
        """
      When 10s pass
      And the user sends GET /api/v1/namespaces/default/pods/web/log?container=main
      Then the request is refused with 400 container "main" in pod "web" is waiting to start: <why>
      When the user sends GET /api/v1/namespaces/default/pods/web/log?container=main&previous=true
      Then the request is refused with 400 previous terminated container "main" in pod "web" not found

      Examples:
        | after | first                                                                | main                                    | why                        |
        | 5m    |                                                                      | stdin: false                            | ContainerCreating          |
        | 0s    | initContainers: [{name: first, image: i, command: [sleep, "1000"]}], | stdin: false                            | PodInitializing            |
        | 0s    |                                                                      | envFrom: [{configMapRef: {name: none}}] | CreateContainerConfigError |

    Scenario: Its image cannot be pulled
      Given a machine "worker-1" with:
        | failing | ["image-pull"] |
      And Node "worker-1" has condition Ready=True
      And the object:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec: {nodeName: worker-1, containers: [{name: main, image: nodeproof/missing:1}]}
        """
      When 5s pass
      And the user sends GET /api/v1/namespaces/default/pods/web/log
      Then the request is refused with 400 container "main" in pod "web" is waiting to start: image can't be pulled
      When 15s pass
      And the user sends GET /api/v1/namespaces/default/pods/web/log
      Then the request is refused with 400 container "main" in pod "web" is waiting to start: trying and failing to pull image

    Scenario: The kubelet has refused its Pod
      Given a ready Node "worker-1"
      And the object:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec: {nodeName: worker-1, containers: [{name: main, image: i, resources: {requests: {cpu: 1k}}}]}
        """
      When 5s pass
      And the user sends GET /api/v1/namespaces/default/pods/web/log
      Then the request is refused with 400 container "main" in pod "web" is not available

  @req:COM-05
  Rule: The log of the run before is there once there was one, until the garbage collection

    Scenario: A container that crashes
      Given a ready Node "worker-1"
      And the object:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web, annotations: {nodeproof.dev/main.crashes-after: 30s}}
        spec: {nodeName: worker-1, containers: [{name: main, image: i}]}
        """
      When 5s pass
      And the user sends GET /api/v1/namespaces/default/pods/web/log?previous=true
      Then the request is refused with 400 previous terminated container "main" in pod "web" not found
      When the user sends GET /api/v1/namespaces/default/pods/web/log
      Then the request is answered with 200
      When 40s pass
      And the user sends GET /api/v1/namespaces/default/pods/web/log?previous=true
      Then the request is answered with 200

  @req:COM-05
  Rule: Without a runtime the kubelet has neither logs nor streams

    Scenario: It stops, and starts again
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When the container runtime on "worker-1" stops
      And the user sends GET /api/v1/namespaces/default/pods/web/log
      # The first, empty piece of the log is sent before the runtime is asked.
      Then the request is answered with 200 unable to retrieve container logs for containerd://
      When the user sends CONNECT /api/v1/namespaces/default/pods/web/exec?command=ls&stdout=true
      Then the request is refused with 500 rpc error: code = Unavailable desc = connection error
      When the user sends CONNECT /api/v1/namespaces/default/pods/web/attach?stdout=true
      Then the request is refused with 500 rpc error: code = Unavailable desc = connection error
      When the user sends CONNECT /api/v1/namespaces/default/pods/web/portforward?ports=80
      Then the request is refused with 500 rpc error: code = Unavailable desc = connection error
      When the user sends GET https://worker-1:10250/runningpods/
      Then the request is refused with 500 rpc error: code = Unavailable desc = connection error
      When the container runtime on "worker-1" starts
      And the user sends GET /api/v1/namespaces/default/pods/web/log
      Then the request is answered with 200
      When the user sends CONNECT /api/v1/namespaces/default/pods/web/exec?command=ls&stdout=true
      Then the request is answered with 101

  @req:COM-05
  Rule: Commands need a container that runs, forwarded ports a sandbox

    Scenario: There is no sandbox yet
      Given a ready Node "worker-1"
      And the object:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web, annotations: {nodeproof.dev/main.starts-after: 5m}}
        spec: {nodeName: worker-1, containers: [{name: main, image: i}]}
        """
      When the user sends CONNECT /api/v1/namespaces/default/pods/web/exec?command=ls&stdout=true
      Then the request is refused with 500 container not found ("main")
      When the user sends CONNECT /api/v1/namespaces/default/pods/web/attach?stdout=true
      Then the request is refused with 500 container main not found in pod web_default
      When the user sends CONNECT /api/v1/namespaces/default/pods/web/portforward?ports=80
      Then the request is refused with 500 pod not found ("web_default")

    Scenario: A container has crashed, and its sandbox is there
      Given a ready Node "worker-1"
      And the object:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web, annotations: {nodeproof.dev/main.crashes-after: 1s}}
        spec: {nodeName: worker-1, containers: [{name: main, image: i}]}
        """
      When 10s pass
      And the user sends CONNECT /api/v1/namespaces/default/pods/web/exec?command=ls&stdout=true
      Then the request is refused with 500 container not found ("main")
      When the user sends CONNECT /api/v1/namespaces/default/pods/web/portforward?ports=80
      Then the request is answered with 101
      When the user sends GET /api/v1/namespaces/default/pods/web/log
      Then the request is answered with 200

    Scenario: A Pod that has ended
      Given a ready Node "worker-1"
      And the object:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web, annotations: {nodeproof.dev/main.crashes-after: 1s}}
        spec: {nodeName: worker-1, restartPolicy: Never, containers: [{name: main, image: i}]}
        """
      When 10s pass
      And the user sends GET /api/v1/namespaces/default/pods/web/log
      Then the request is answered with 200
      When the user sends CONNECT /api/v1/namespaces/default/pods/web/portforward?ports=80
      Then the request is refused with 500 pod not found ("web_default")

    Scenario: What the kubelet's own paths take
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When the user sends POST https://worker-1:10250/run/default/web/main?cmd=true
      Then the request is answered with 200
      When the user sends GET https://worker-1:10250/run/default/web/main
      Then the request is refused with 405 405: Method Not Allowed
      When the user sends POST https://worker-1:10250/containerLogs/default/web/main
      Then the request is refused with 405 405: Method Not Allowed
      When the user sends POST https://worker-1:10250/run/default/web/0/none
      Then the request is refused with 500 container not found ("none")
      When the user sends POST https://worker-1:10250/exec/default/web/main?output=1
      Then the request is refused with 500 Upgrade request required
      When the user sends CONNECT https://worker-1:10250/exec/default/web/main?output=1
      Then the request is answered with 101
      When the user sends CONNECT https://worker-1:10250/exec/default/web/main?tty=1&error=1
      Then the request is refused with 400 you must specify at least 1 of stdin, stdout, stderr
      When the user sends CONNECT https://worker-1:10250/portForward/default/web/other
      Then the request is refused with 404 pod not found
      When the user sends GET https://worker-1:10250/exec/default/web
      Then the request is refused with 404 404: Page Not Found
