@core
Feature: Kubelets get their certificates from the cluster
  Source: pkg/kubelet/certificate/bootstrap/bootstrap.go, pkg/kubelet/certificate/kubelet.go (v1.34)
  Source: pkg/controller/certificates/approver/sarapprove.go, signer/signer.go, cleaner/cleaner.go (v1.34)
  Source: plugin/pkg/admission/certificates/approval/admission.go (v1.34), Validate

  @req:COM-03
  Rule: With a bootstrap token a kubelet asks for a client certificate, and is the node from then on

    Scenario Outline: The request is approved and signed, and the Node registers; rotation is <rotation>
      Given a machine "worker-1" with:
        | name        | value                                                        |
        | credentials | {"bootstrapToken": {"user": "system:bootstrap:abcdef"}}      |
        | kubelet     | {"config": {"rotateCertificates": <rotation>, "serverTLSBootstrap": true}} |
        | powered     | false                                                        |
      When the user watches /apis/certificates.k8s.io/v1/certificatesigningrequests
      And machine "worker-1" gets power
      Then the watch shows ADDED with spec.username "system:bootstrap:abcdef" within 1s
      And the watch shows ADDED with spec.signerName "kubernetes.io/kube-apiserver-client-kubelet" within 1s
      And the watch shows MODIFIED with status.conditions[Approved].reason "AutoApproved" within 1s
      And the watch shows MODIFIED with status.conditions[Approved].message "Auto approving kubelet client certificate after SubjectAccessReview." within 1s
      And Node "worker-1" exists within 2s
      And Node "worker-1" has condition Ready=True within 20s
      And the Lease of Node "worker-1" field spec.holderIdentity is "worker-1" within 20s
      # Its next request comes from the node itself, and nobody approves that by itself.
      And the watch shows ADDED with spec.username "system:node:worker-1" within 20s
      And the watch shows ADDED with spec.signerName "kubernetes.io/kubelet-serving" within 20s

      Examples:
        | rotation |
        | true     |
        | false    |

    Scenario: Its server is certified once the Node has an address
      Given a machine "worker-1" with:
        | name        | value                                                                       |
        | kubelet     | {"config": {"serverTLSBootstrap": true}, "flags": {"cloud-provider": "external"}} |
        | powered     | false                                                                       |
      And the user watches /apis/certificates.k8s.io/v1/certificatesigningrequests
      When machine "worker-1" gets power
      Then Node "worker-1" has condition Ready=True within 20s
      And the watch never shows anything for 1m
      When the user sends strategic PATCH /api/v1/nodes/worker-1/status:
        """
        status: {addresses: [{type: ExternalIP, address: 203.0.113.7}]}
        """
      Then the watch shows ADDED with spec.signerName "kubernetes.io/kubelet-serving" within 6m

    Scenario: A request that nobody signs is posted anew after a quarter of an hour
      Given a machine "worker-1" with:
        | name        | value                                    |
        | kubelet     | {"config": {"serverTLSBootstrap": true}} |
        | powered     | false                                    |
      When the user watches /apis/certificates.k8s.io/v1/certificatesigningrequests
      And machine "worker-1" gets power
      Then the watch shows ADDED with spec.signerName "kubernetes.io/kubelet-serving" within 20s
      When 1m passes
      Then the watch shows ADDED with spec.signerName "kubernetes.io/kubelet-serving" between 13m and 15m

    Scenario Outline: While <what> there is no Node
      Given a machine "worker-1" with:
        | name        | value                                                   |
        | credentials | {"bootstrapToken": {"user": "system:bootstrap:abcdef"}} |
        | kubelet     | {"config": {"rotateCertificates": <rotation>}}          |
        | powered     | false                                                   |
      When <controller> stops
      And machine "worker-1" gets power
      Then Node "worker-1" never appears for 2m
      And the Lease of Node "worker-1" never appears for 2m
      When <controller> starts
      Then Node "worker-1" exists within 10s
      And Node "worker-1" has condition Ready=True within 30s

      Examples:
        | what                                                        | controller                                     | rotation |
        | nobody approves its request                                 | certificatesigningrequest-approving-controller | false    |
        | nobody approves, even if the kubelet does not wait for it   | certificatesigningrequest-approving-controller | true     |
        | nobody signs its request                                    | certificatesigningrequest-signing-controller   | false    |

    Scenario: Without rotation the kubelet ends after an hour, and the next one finds the request of the first
      Given a machine "worker-1" with:
        | name        | value                                                   |
        | credentials | {"bootstrapToken": {"user": "system:bootstrap:abcdef"}} |
        | powered     | false                                                   |
      When certificatesigningrequest-approving-controller stops
      And the user watches /apis/certificates.k8s.io/v1/certificatesigningrequests
      And machine "worker-1" gets power
      Then the watch shows ADDED with spec.username "system:bootstrap:abcdef" within 1s
      When 1m passes
      Then the watch never shows anything for 3h
      And Node "worker-1" never appears for 3h
      When certificatesigningrequest-approving-controller starts
      Then Node "worker-1" has condition Ready=True within 40s

    Scenario: A token whose group may not ask for certificates
      Given a machine "worker-1" with:
        | name        | value                                                                        |
        | credentials | {"bootstrapToken": {"user": "system:bootstrap:abcdef", "groups": ["joiners"]}} |
        | powered     | false                                                                        |
      When the user watches /apis/certificates.k8s.io/v1/certificatesigningrequests
      And machine "worker-1" gets power
      Then the watch never shows anything for 2m
      And Node "worker-1" never appears for 2m
      When the user creates:
        """yaml
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRoleBinding
        metadata: {name: joiners-ask}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "system:node-bootstrapper"}
        subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: joiners}]
        """
      Then the watch shows ADDED with spec.username "system:bootstrap:abcdef" within 40s
      But the watch never shows MODIFIED for 2m
      And Node "worker-1" never appears for 2m
      When the user creates:
        """yaml
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRoleBinding
        metadata: {name: joiners-are-approved}
        roleRef:
          apiGroup: rbac.authorization.k8s.io
          kind: ClusterRole
          name: "system:certificates.k8s.io:certificatesigningrequests:nodeclient"
        subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: joiners}]
        """
      Then the watch shows MODIFIED with status.conditions[Approved].reason "AutoApproved" within 5m
      And Node "worker-1" exists within 5m

  @req:COM-03
  Rule: A certificate ends, and is renewed before with rotateCertificates alone

    Scenario: Without rotation the node falls silent when its certificate ends
      Given kube-controller-manager runs with:
        | flag                     | value |
        | cluster-signing-duration | 10m   |
      And a machine "worker-1" with:
        | name        | value                                                   |
        | credentials | {"bootstrapToken": {"user": "system:bootstrap:abcdef"}} |
      And Node "worker-1" has condition Ready=True
      When 9m pass
      Then Node "worker-1" keeps condition Ready=True for 1m
      But Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between 1m and 3m
      When nothing is done
      Then the Lease of Node "worker-1" keeps field spec.renewTime unchanged for 5m
      # A new process uses the token again. It finds its first request, whose certificate has expired, and ends; so does
      # each next one, until that request is removed.
      When the kubelet on "worker-1" restarts
      Then Node "worker-1" keeps condition Ready=Unknown for 10m
      But Node "worker-1" has condition Ready=True between 10m and 70m

    Scenario: With rotation it asks for the next one in time
      Given kube-controller-manager runs with:
        | flag                     | value |
        | cluster-signing-duration | 10m   |
      And a machine "worker-1" with:
        | name        | value                                                   |
        | credentials | {"bootstrapToken": {"user": "system:bootstrap:abcdef"}} |
        | kubelet     | {"config": {"rotateCertificates": true}}                |
      And Node "worker-1" has condition Ready=True
      When the user watches /apis/certificates.k8s.io/v1/certificatesigningrequests
      And 1m passes
      Then the watch shows ADDED with spec.username "system:node:worker-1" between 4m and 8m30s
      And the watch shows MODIFIED with status.conditions[Approved].message "Auto approving self kubelet client certificate after SubjectAccessReview." between 4m and 8m30s
      And the Lease of Node "worker-1" is renewed every 10s for 30m
      And Node "worker-1" keeps condition Ready=True for 30m

  @req:COM-03
  Rule: Who may ask, who may approve, and what is signed

    Scenario: A request by hand is approved by hand, signed, and removed an hour later
      Given a ready Node "worker-1"
      When the kubelet on "worker-1" sends POST /apis/certificates.k8s.io/v1/certificatesigningrequests:
        """yaml
        apiVersion: certificates.k8s.io/v1
        kind: CertificateSigningRequest
        metadata: {name: mine}
        spec:
          signerName: kubernetes.io/kubelet-serving
          usages: [digital signature, server auth]
          request: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQkhUQ0J4QUlCQURBMk1SVXdFd1lEVlFRS0RBeHplWE4wWlcwNmJtOWtaWE14SFRBYkJnTlZCQU1NRkhONQpjM1JsYlRwdWIyUmxPbmR2Y210bGNpMHhNRmt3RXdZSEtvWkl6ajBDQVFZSUtvWkl6ajBEQVFjRFFnQUVaT0t3ClR6Y2gzdWVkaUxjQ0pkejRGUnhCczNmcDhlcnVTSlRKem4wN005Y205bnZQQU9GM0F6ZUtyRUVHVTNSNmFSdVQKMHlYdXNNZU5PZzA2VGZ2NXBxQXNNQ29HQ1NxR1NJYjNEUUVKRGpFZE1Cc3dHUVlEVlIwUkJCSXdFSUlJZDI5eQphMlZ5TFRHSEJBb0FBQUV3Q2dZSUtvWkl6ajBFQXdJRFNBQXdSUUlnRk9xVExLSHhSdWt4Y0hMeURRTjcyQWpWCnUrNHJBeTJUdW9kbUZyZk5PVTBDSVFEbWY2MkREa1FBbElCRzUwUlQ5UFVZc1ZlL3dsU1NoOW1Zak1Gc3JlZTIKcWc9PQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K
        """
      Then the request is answered with 201
      And CertificateSigningRequest "mine" field spec.username is "system:node:worker-1" within 1s
      And CertificateSigningRequest "mine" keeps field status.conditions absent for 10m
      When the user sends PATCH /apis/certificates.k8s.io/v1/certificatesigningrequests/mine/approval:
        """yaml
        status: {conditions: [{type: Approved, status: "True", reason: ByHand}]}
        """
      Then CertificateSigningRequest "mine" field status.certificate is set within 1s
      And CertificateSigningRequest "mine" field status.conditions[Approved].reason is "ByHand" within 1s
      And CertificateSigningRequest "mine" is gone between 59m and 2h1m

    Scenario Outline: What is approved and signed by nobody is <what> after a day in <releases>
      Given the object:
        """yaml
        apiVersion: certificates.k8s.io/v1
        kind: CertificateSigningRequest
        metadata: {name: mine}
        spec:
          signerName: example.com/nobody
          usages: [client auth]
          request: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQkhUQ0J4QUlCQURBMk1SVXdFd1lEVlFRS0RBeHplWE4wWlcwNmJtOWtaWE14SFRBYkJnTlZCQU1NRkhONQpjM1JsYlRwdWIyUmxPbmR2Y210bGNpMHhNRmt3RXdZSEtvWkl6ajBDQVFZSUtvWkl6ajBEQVFjRFFnQUVaT0t3ClR6Y2gzdWVkaUxjQ0pkejRGUnhCczNmcDhlcnVTSlRKem4wN005Y205bnZQQU9GM0F6ZUtyRUVHVTNSNmFSdVQKMHlYdXNNZU5PZzA2VGZ2NXBxQXNNQ29HQ1NxR1NJYjNEUUVKRGpFZE1Cc3dHUVlEVlIwUkJCSXdFSUlJZDI5eQphMlZ5TFRHSEJBb0FBQUV3Q2dZSUtvWkl6ajBFQXdJRFNBQXdSUUlnRk9xVExLSHhSdWt4Y0hMeURRTjcyQWpWCnUrNHJBeTJUdW9kbUZyZk5PVTBDSVFEbWY2MkREa1FBbElCRzUwUlQ5UFVZc1ZlL3dsU1NoOW1Zak1Gc3JlZTIKcWc9PQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K
        """
      When the user sends PATCH /apis/certificates.k8s.io/v1/certificatesigningrequests/mine/approval:
        """yaml
        status: {conditions: [{type: Approved, status: "True", reason: ByHand}]}
        """
      Then CertificateSigningRequest "mine" field status.conditions[Approved].reason is "ByHand" within 1s
      When 1s passes
      Then CertificateSigningRequest "mine" <then>

      @until:1.34
      Examples:
        | releases   | what | then                                                            |
        | up to 1.34 | kept | keeps field status.conditions[Approved].reason "ByHand" for 26h |

      @since:1.35
      Examples:
        | releases  | what    | then                        |
        | from 1.35 | removed | is gone between 24h and 25h |

    Scenario: What is denied is not signed
      Given a ready Node "worker-1"
      And the object:
        """yaml
        apiVersion: certificates.k8s.io/v1
        kind: CertificateSigningRequest
        metadata: {name: mine}
        spec:
          signerName: kubernetes.io/kubelet-serving
          usages: [digital signature, server auth]
          request: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQkhUQ0J4QUlCQURBMk1SVXdFd1lEVlFRS0RBeHplWE4wWlcwNmJtOWtaWE14SFRBYkJnTlZCQU1NRkhONQpjM1JsYlRwdWIyUmxPbmR2Y210bGNpMHhNRmt3RXdZSEtvWkl6ajBDQVFZSUtvWkl6ajBEQVFjRFFnQUVaT0t3ClR6Y2gzdWVkaUxjQ0pkejRGUnhCczNmcDhlcnVTSlRKem4wN005Y205bnZQQU9GM0F6ZUtyRUVHVTNSNmFSdVQKMHlYdXNNZU5PZzA2VGZ2NXBxQXNNQ29HQ1NxR1NJYjNEUUVKRGpFZE1Cc3dHUVlEVlIwUkJCSXdFSUlJZDI5eQphMlZ5TFRHSEJBb0FBQUV3Q2dZSUtvWkl6ajBFQXdJRFNBQXdSUUlnRk9xVExLSHhSdWt4Y0hMeURRTjcyQWpWCnUrNHJBeTJUdW9kbUZyZk5PVTBDSVFEbWY2MkREa1FBbElCRzUwUlQ5UFVZc1ZlL3dsU1NoOW1Zak1Gc3JlZTIKcWc9PQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K
        """
      When the user sends PATCH /apis/certificates.k8s.io/v1/certificatesigningrequests/mine/approval:
        """yaml
        status: {conditions: [{type: Denied, status: "True", reason: ByHand}]}
        """
      Then CertificateSigningRequest "mine" field status.conditions[Denied].reason is "ByHand" within 1s
      And CertificateSigningRequest "mine" keeps field status.certificate absent for 10m
      When the user sends PATCH /apis/certificates.k8s.io/v1/certificatesigningrequests/mine/approval:
        """yaml
        status: {conditions: [{type: Approved, status: "True", reason: ByHand}]}
        """
      Then the request is refused with 422 updates may not remove a condition of type "Denied"

    Scenario: A request that does not fit its signer fails
      Given the object:
        """yaml
        apiVersion: certificates.k8s.io/v1
        kind: CertificateSigningRequest
        metadata: {name: mine}
        spec:
          signerName: kubernetes.io/kubelet-serving
          usages: [digital signature, server auth]
          request: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlId01JR1lBZ0VBTURZeEZUQVRCZ05WQkFvTURITjVjM1JsYlRwdWIyUmxjekVkTUJzR0ExVUVBd3dVYzNsegpkR1Z0T201dlpHVTZkMjl5YTJWeUxURXdXVEFUQmdjcWhrak9QUUlCQmdncWhrak9QUU1CQndOQ0FBU1lTaU00CjBIeHdyRkxaSWV5ZkpWaWdjUU9lVS9oaDlkVzVPSDExNnV6MHFjN2JGVXVJb240VWJkbkZ2WUZxNVNlcHBlL1IKd21DTWhxSDM2VkpjRHFLdG9BQXdDZ1lJS29aSXpqMEVBd0lEUndBd1JBSWdJVFdJWlVLazlScjVHZlNmSzM0cQpZUnFjS3cyU0lzU2tXMVorbFJxcXRCUUNJQnBHUVVaN0hXV3QwOTNZcXR3Smp3WWxIclJ2a1VLVHMzdzBBajhUCnM5MzEKLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==
        """
      When the user sends PATCH /apis/certificates.k8s.io/v1/certificatesigningrequests/mine/approval:
        """yaml
        status: {conditions: [{type: Approved, status: "True", reason: ByHand}]}
        """
      Then CertificateSigningRequest "mine" field status.conditions[Failed].message is "DNS or IP subjectAltName is required" within 1s
      And CertificateSigningRequest "mine" field status.conditions[Failed].reason is "SignerValidationFailure" within 1s
      And CertificateSigningRequest "mine" keeps field status.certificate absent for 10m

    Scenario Outline: A client's certificate is not for <usages>
      Given the object:
        """yaml
        apiVersion: certificates.k8s.io/v1
        kind: CertificateSigningRequest
        metadata: {name: mine}
        spec:
          signerName: kubernetes.io/kube-apiserver-client
          usages: <usages>
          request: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQkhUQ0J4QUlCQURBMk1SVXdFd1lEVlFRS0RBeHplWE4wWlcwNmJtOWtaWE14SFRBYkJnTlZCQU1NRkhONQpjM1JsYlRwdWIyUmxPbmR2Y210bGNpMHhNRmt3RXdZSEtvWkl6ajBDQVFZSUtvWkl6ajBEQVFjRFFnQUVaT0t3ClR6Y2gzdWVkaUxjQ0pkejRGUnhCczNmcDhlcnVTSlRKem4wN005Y205bnZQQU9GM0F6ZUtyRUVHVTNSNmFSdVQKMHlYdXNNZU5PZzA2VGZ2NXBxQXNNQ29HQ1NxR1NJYjNEUUVKRGpFZE1Cc3dHUVlEVlIwUkJCSXdFSUlJZDI5eQphMlZ5TFRHSEJBb0FBQUV3Q2dZSUtvWkl6ajBFQXdJRFNBQXdSUUlnRk9xVExLSHhSdWt4Y0hMeURRTjcyQWpWCnUrNHJBeTJUdW9kbUZyZk5PVTBDSVFEbWY2MkREa1FBbElCRzUwUlQ5UFVZc1ZlL3dsU1NoOW1Zak1Gc3JlZTIKcWc9PQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K
        """
      When the user sends PATCH /apis/certificates.k8s.io/v1/certificatesigningrequests/mine/approval:
        """yaml
        status: {conditions: [{type: Approved, status: "True", reason: ByHand}]}
        """
      Then CertificateSigningRequest "mine" field status.conditions[Failed].message is "<message>" within 1s
      And CertificateSigningRequest "mine" keeps field status.certificate absent for 10m

      Examples:
        | usages                     | message                                                    |
        | [client auth, server auth] | invalid usage for client certificate: server auth          |
        | [digital signature]        | missing required usage for client certificate: client auth |

    Scenario: A node's certificate is for the name of a node
      Given the object:
        """yaml
        apiVersion: certificates.k8s.io/v1
        kind: CertificateSigningRequest
        metadata: {name: mine}
        spec:
          signerName: kubernetes.io/kube-apiserver-client-kubelet
          usages: [digital signature, client auth]
          request: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIbU1JR01BZ0VBTUNveEZUQVRCZ05WQkFvTURITjVjM1JsYlRwdWIyUmxjekVSTUE4R0ExVUVBd3dJZDI5eQphMlZ5TFRFd1dUQVRCZ2NxaGtqT1BRSUJCZ2dxaGtqT1BRTUJCd05DQUFRT0QzT2lieVFHYzUrV09iQVJnK05VCnZqYXMvRC81a0NOaUc0MDAxaFgrL3Z2SEw4R3ZDYnN4dXdPZ2g1UmFsT0dNRXRCRVF6Q1lGR0IxV1cvb0FJYTUKb0FBd0NnWUlLb1pJemowRUF3SURTUUF3UmdJaEFKckNuT21adktnOWpMYmozUHM4NU1yNHk1eXNSWVN3S05XbgpKbGRrUUVQYkFpRUFnQTlGWVpSREVoSGRkQkRkeE1MK2tsazNUTGtJNVJtMUdiRExYendoVkk0PQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K
        """
      When the user sends PATCH /apis/certificates.k8s.io/v1/certificatesigningrequests/mine/approval:
        """yaml
        status: {conditions: [{type: Approved, status: "True", reason: ByHand}]}
        """
      Then CertificateSigningRequest "mine" field status.conditions[Failed].message is "subject common name does not begin with system:node:" within 1s
      And CertificateSigningRequest "mine" keeps field status.certificate absent for 10m

    Scenario: The right to change approvals is not the right to approve
      Given the objects:
        """yaml
        apiVersion: certificates.k8s.io/v1
        kind: CertificateSigningRequest
        metadata: {name: mine}
        spec:
          signerName: kubernetes.io/kubelet-serving
          usages: [digital signature, server auth]
          request: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQkhUQ0J4QUlCQURBMk1SVXdFd1lEVlFRS0RBeHplWE4wWlcwNmJtOWtaWE14SFRBYkJnTlZCQU1NRkhONQpjM1JsYlRwdWIyUmxPbmR2Y210bGNpMHhNRmt3RXdZSEtvWkl6ajBDQVFZSUtvWkl6ajBEQVFjRFFnQUVaT0t3ClR6Y2gzdWVkaUxjQ0pkejRGUnhCczNmcDhlcnVTSlRKem4wN005Y205bnZQQU9GM0F6ZUtyRUVHVTNSNmFSdVQKMHlYdXNNZU5PZzA2VGZ2NXBxQXNNQ29HQ1NxR1NJYjNEUUVKRGpFZE1Cc3dHUVlEVlIwUkJCSXdFSUlJZDI5eQphMlZ5TFRHSEJBb0FBQUV3Q2dZSUtvWkl6ajBFQXdJRFNBQXdSUUlnRk9xVExLSHhSdWt4Y0hMeURRTjcyQWpWCnUrNHJBeTJUdW9kbUZyZk5PVTBDSVFEbWY2MkREa1FBbElCRzUwUlQ5UFVZc1ZlL3dsU1NoOW1Zak1Gc3JlZTIKcWc9PQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRole
        metadata: {name: changes-approvals}
        rules: [{apiGroups: [certificates.k8s.io], resources: [certificatesigningrequests/approval], verbs: [patch]}]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRoleBinding
        metadata: {name: changes-approvals}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: changes-approvals}
        subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: jane}]
        """
      When user "jane" sends PATCH /apis/certificates.k8s.io/v1/certificatesigningrequests/mine/approval:
        """yaml
        status: {conditions: [{type: Approved, status: "True", reason: ByHand}]}
        """
      Then the request is refused with 403 certificatesigningrequests.certificates.k8s.io "mine" is forbidden: user not permitted to approve requests with signerName "kubernetes.io/kubelet-serving"
      And CertificateSigningRequest "mine" keeps field status.conditions absent for 10m
      When the user creates:
        """yaml
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRoleBinding
        metadata: {name: approves}
        roleRef:
          apiGroup: rbac.authorization.k8s.io
          kind: ClusterRole
          name: "system:certificates.k8s.io:kubelet-serving-approver"
        subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: jane}]
        """
      And user "jane" sends PATCH /apis/certificates.k8s.io/v1/certificatesigningrequests/mine/approval:
        """yaml
        status: {conditions: [{type: Approved, status: "True", reason: ByHand}]}
        """
      Then the request is answered with 200
      And CertificateSigningRequest "mine" field status.certificate is set within 1s

    Scenario Outline: <who> may not ask for <what>
      Given a ready Node "worker-2"
      When <who> sends POST /apis/certificates.k8s.io/v1/certificatesigningrequests:
        """yaml
        apiVersion: certificates.k8s.io/v1
        kind: CertificateSigningRequest
        metadata: {name: mine}
        spec: {signerName: <signer>, usages: [client auth], request: <request>}
        """
      Then the request is refused with <answer>

      Examples:
        | who                         | what                             | signer                                      | request | answer |
        | the kubelet on "worker-2"   | another node's certificate       | kubernetes.io/kube-apiserver-client-kubelet | LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlId01JR1lBZ0VBTURZeEZUQVRCZ05WQkFvTURITjVjM1JsYlRwdWIyUmxjekVkTUJzR0ExVUVBd3dVYzNsegpkR1Z0T201dlpHVTZkMjl5YTJWeUxURXdXVEFUQmdjcWhrak9QUUlCQmdncWhrak9QUU1CQndOQ0FBU1lTaU00CjBIeHdyRkxaSWV5ZkpWaWdjUU9lVS9oaDlkVzVPSDExNnV6MHFjN2JGVXVJb240VWJkbkZ2WUZxNVNlcHBlL1IKd21DTWhxSDM2VkpjRHFLdG9BQXdDZ1lJS29aSXpqMEVBd0lEUndBd1JBSWdJVFdJWlVLazlScjVHZlNmSzM0cQpZUnFjS3cyU0lzU2tXMVorbFJxcXRCUUNJQnBHUVVaN0hXV3QwOTNZcXR3Smp3WWxIclJ2a1VLVHMzdzBBajhUCnM5MzEKLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg== | 403 can only create a node CSR with CN=system:node:worker-2 |
        | the user                    | the rights of an administrator   | kubernetes.io/kube-apiserver-client         | LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIaU1JR0tBZ0VBTUNneEZ6QVZCZ05WQkFvTURuTjVjM1JsYlRwdFlYTjBaWEp6TVEwd0N3WURWUVFEREFScQpZVzVsTUZrd0V3WUhLb1pJemowQ0FRWUlLb1pJemowREFRY0RRZ0FFS1lmMlBLb3ZSM2tGYXJDWnJMbVRjVitWClJoMDdxMHcwdkVHQzVxalI0cEZ4cE9IaDRSNGJzTVNXWTh1cXc1WVhEOURSd25LQzBieHlWWlBPbGFJSUNxQUEKTUFvR0NDcUdTTTQ5QkFNQ0EwY0FNRVFDSUhZZDFlYnVZYmk1cGFzOWRNQllyWVlaR3ZOeHR0UGZJYWQ0Mys3RgpDeHVUQWlBenZJa0lYdWlmeDdjVFV1NmgxcGJEMnB5Skczb1hHYWpmNGtTaG9idFdoUT09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo= | 403 use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed |
        | the user                    | nothing in particular            | kubernetes.io/kubelet-serving               | aGVsbG8= | 422 PEM block type must be CERTIFICATE REQUEST |
        | the user                    | a signer without a domain        | kubelet-serving                             | LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIZU1JR0dBZ0VBTUNReEV6QVJCZ05WQkFvTUNtUmxkbVZzYjNCbGNuTXhEVEFMQmdOVkJBTU1CR3BoYm1VdwpXVEFUQmdjcWhrak9QUUlCQmdncWhrak9QUU1CQndOQ0FBUjVIVGxSdUx3RnBoVEdhOFhpOWIrdXpwWlBrT2haClNwc09Pb2dKRXFrU21heGFBdmlzUHlnSFQ4VG5jYkNIYXVERXBlN0FjSUZ3Z0V6Wm12OHhEZ3VCb0FBd0NnWUkKS29aSXpqMEVBd0lEUndBd1JBSWdTWTVDMjlZRzJ6am15Z0NVdlpuVVZ4VXBqd1diekxZMWVBSXRjK0ZFc05NQwpJQnNJdlkzVUhodHladkdFQnVUQzRGTFZRMGVEdXZrYk9ybkJQWjQ2eHN2ZgotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K | 422 must be a fully qualified domain and path of the form 'example.com/signer-name' |
        | user "jane"                 | a certificate without a right    | kubernetes.io/kube-apiserver-client         | LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIZU1JR0dBZ0VBTUNReEV6QVJCZ05WQkFvTUNtUmxkbVZzYjNCbGNuTXhEVEFMQmdOVkJBTU1CR3BoYm1VdwpXVEFUQmdjcWhrak9QUUlCQmdncWhrak9QUU1CQndOQ0FBUjVIVGxSdUx3RnBoVEdhOFhpOWIrdXpwWlBrT2haClNwc09Pb2dKRXFrU21heGFBdmlzUHlnSFQ4VG5jYkNIYXVERXBlN0FjSUZ3Z0V6Wm12OHhEZ3VCb0FBd0NnWUkKS29aSXpqMEVBd0lEUndBd1JBSWdTWTVDMjlZRzJ6am15Z0NVdlpuVVZ4VXBqd1diekxZMWVBSXRjK0ZFc05NQwpJQnNJdlkzVUhodHladkdFQnVUQzRGTFZRMGVEdXZrYk9ybkJQWjQ2eHN2ZgotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K | 403 certificatesigningrequests.certificates.k8s.io is forbidden: User "jane" cannot create resource "certificatesigningrequests" in API group "certificates.k8s.io" at the cluster scope |
