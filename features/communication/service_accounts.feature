@core
Feature: Pods connect to the API server with their service account
  Source: pkg/controller/serviceaccount/serviceaccounts_controller.go (v1.34)
  Source: pkg/controller/certificates/rootcacertpublisher/publisher.go (v1.34)
  Source: plugin/pkg/admission/serviceaccount/admission.go (v1.34); pkg/serviceaccount/claims.go (v1.34), Validate
  Source: pkg/controlplane/controller/kubernetesservice/controller.go (v1.34)

  @req:COM-04
  Rule: Each namespace has an account and the root certificate, and the Service kubernetes gives the address

    Scenario: A new namespace gets both
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Namespace
        metadata: {name: shop}
        """
      Then ServiceAccount "shop/default" exists within 1s
      And ConfigMap "shop/kube-root-ca.crt" field data["ca.crt"] is set within 1s
      And ConfigMap "shop/kube-root-ca.crt" field metadata.annotations["kubernetes.io/description"] is set within 1s

    Scenario: What is deleted or changed comes back
      Given the object:
        """yaml
        apiVersion: v1
        kind: Namespace
        metadata: {name: shop}
        """
      And ServiceAccount "shop/default" exists
      And ConfigMap "shop/kube-root-ca.crt" exists
      When the user watches /api/v1/namespaces/shop/serviceaccounts
      And the user sends DELETE /api/v1/namespaces/shop/serviceaccounts/default
      Then the watch shows DELETED "default" within 1s
      And ServiceAccount "shop/default" exists within 1s
      When the user watches /api/v1/namespaces/shop/configmaps
      And the user sends PATCH /api/v1/namespaces/shop/configmaps/kube-root-ca.crt:
        """yaml
        data: {ca.crt: mine, more: things}
        """
      Then the watch shows MODIFIED "kube-root-ca.crt" with data.more "things" within 1s
      And the watch shows MODIFIED "kube-root-ca.crt" with data.more absent within 1s
      And ConfigMap "shop/kube-root-ca.crt" field data.more is absent within 1s

    Scenario: Without their controllers neither comes
      When serviceaccount-controller stops
      And root-ca-certificate-publisher-controller stops
      And the user creates:
        """yaml
        apiVersion: v1
        kind: Namespace
        metadata: {name: shop}
        """
      And 5m pass
      And the user sends GET /api/v1/namespaces/shop/serviceaccounts/default
      Then the request is refused with 404 serviceaccounts "default" not found
      When the user sends GET /api/v1/namespaces/shop/configmaps/kube-root-ca.crt
      Then the request is refused with 404 configmaps "kube-root-ca.crt" not found
      When serviceaccount-controller starts
      And root-ca-certificate-publisher-controller starts
      Then ServiceAccount "shop/default" exists within 1s
      And ConfigMap "shop/kube-root-ca.crt" exists within 1s

    @sim-only:names
    Scenario: The Service kubernetes
      When nothing is done
      Then Service "kubernetes" field spec.clusterIP is "10.96.0.1" at once
      And Service "kubernetes" field spec.ports[0].port is 443 at once
      And Service "kubernetes" field metadata.labels.provider is "kubernetes" at once
      And the EndpointSlice of Service "kubernetes" field ports[0].port is 6443 at once

  @req:COM-04
  Rule: A Pod is given token, root certificate and namespace in a volume

    Scenario: What admission adds
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec: {containers: [{name: c, image: i}]}
        """
      Then Pod "web" has these fields at once:
        | spec.serviceAccountName                                                          | "default"          |
        | spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds       | 3607               |
        | spec.volumes[0].projected.sources[1].configMap.name                              | "kube-root-ca.crt" |
        | spec.volumes[0].projected.sources[2].downwardAPI.items[0].path                   | "namespace"        |
        | spec.containers[c].volumeMounts["/var/run/secrets/kubernetes.io/serviceaccount"] | set                |
        | spec.containers[0].volumeMounts[0].readOnly                                      | true               |

    Scenario: Nothing is mounted where the Pod or its account says so
      Given the object:
        """yaml
        apiVersion: v1
        kind: ServiceAccount
        metadata: {name: quiet}
        automountServiceAccountToken: false
        """
      When the user creates:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec: {automountServiceAccountToken: false, containers: [{name: c, image: i}]}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: quiet}
        spec: {serviceAccountName: quiet, containers: [{name: c, image: i}]}
        """
      Then Pod "web" keeps field spec.volumes absent for 10s
      And Pod "quiet" keeps field spec.volumes absent for 10s
      But Pod "web" field spec.serviceAccountName is "default" at once
      And Pod "quiet" field spec.serviceAccountName is "quiet" at once

    Scenario: An account that is not there
      When the user sends POST /api/v1/namespaces/default/pods:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec: {serviceAccountName: robot, containers: [{name: c, image: i}]}
        """
      Then the request is refused with 403 pods "web" is forbidden: error looking up service account default/robot: serviceaccount "robot" not found

  @req:COM-04
  Rule: The token works against the API server, for as long as its Pod and its account are there

    Scenario: The Pod is its account, with the rights of that
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When Pod "web" sends GET /version
      Then the request is answered with 200
      When Pod "web" sends GET /api/v1/namespaces/default/pods/web
      Then the request is refused with 403 pods "web" is forbidden: User "system:serviceaccount:default:default" cannot get resource "pods" in API group "" in the namespace "default"
      When the user creates:
        """yaml
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: pods-look, namespace: default}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
        subjects: [{kind: ServiceAccount, name: default, namespace: default}]
        """
      And Pod "web" sends GET /api/v1/namespaces/default/pods/web
      Then the request is answered with 200
      When Pod "web" sends GET /api/v1/namespaces/kube-system/pods
      Then the request is refused with 403 User "system:serviceaccount:default:default" cannot list resource "pods" in API group "" in the namespace "kube-system"

    Scenario: A Pod without a token is nobody
      Given a ready Node "worker-1"
      And the object:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec: {nodeName: worker-1, automountServiceAccountToken: false, containers: [{name: c, image: i}]}
        """
      And Pod "web" has condition Ready=True
      When Pod "web" sends GET /api/v1/namespaces/default/pods/web
      Then the request is refused with 403 User "system:anonymous" cannot get resource "pods" in API group "" in the namespace "default"

    Scenario: When its account goes the token goes, even if there is a new one of that name
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      And Pod "web" sends GET /version
      When the user sends DELETE /api/v1/namespaces/default/serviceaccounts/default
      And 1s passes
      And Pod "web" sends GET /version
      Then the request is refused with 401 Unauthorized
      And ServiceAccount "default" exists at once

    Scenario: A token that is asked for lasts as long as was asked, and a minute more
      When the user sends POST /api/v1/namespaces/default/serviceaccounts/default/token:
        """yaml
        spec: {expirationSeconds: 600}
        """
      Then the request is answered with 201
      When the user sends POST /api/v1/namespaces/default/serviceaccounts/default/token:
        """yaml
        spec: {expirationSeconds: 60}
        """
      Then the request is refused with 422 may not specify a duration less than 10 minutes
      When the user sends POST /api/v1/namespaces/default/serviceaccounts/none/token:
        """yaml
        spec: {expirationSeconds: 600}
        """
      Then the request is refused with 404 serviceaccounts "none" not found

    Scenario: From a machine that is cut off nothing comes through
      Given a ready Node "worker-1"
      And a Pod "web" on Node "worker-1"
      When machine "worker-1" loses its connection to the API server
      And Pod "web" sends GET /version
      Then the request is refused with no answer, dial tcp 192.0.2.1:6443: i/o timeout
