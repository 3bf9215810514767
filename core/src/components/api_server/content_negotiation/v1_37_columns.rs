//! The columns of kinds that came with 1.37: bundles of certificates, requests for those of Pods, taints of devices and
//! migrations of what is stored.
//!
//! Pure data. Source: pkg/printers/internalversion/printers.go (v1.37), and the descriptions of fields in k8s.io/api
//! (v0.37), `SwaggerDoc`.

use super::column_forms::{AGE, NAME, column};
use crate::profile::releases::Column;

pub(super) const TABLES: &[(&str, &[Column])] = &[
    (
        "clustertrustbundles",
        &[
            NAME,
            column(
                "SignerName",
                "signerName indicates the associated signer, if any.\n\nIn order to create or update a \
                 ClusterTrustBundle that sets signerName, you must have the following cluster-scoped permission: \
                 group=certificates.k8s.io resource=signers resourceName=<the signer name> verb=attest.\n\nIf \
                 signerName is not empty, then the ClusterTrustBundle object must be named with the signer name as \
                 a prefix (translating slashes to colons). For example, for the signer name `example.com/foo`, \
                 valid ClusterTrustBundle object names include `example.com:foo:abc` and \
                 `example.com:foo:v1`.\n\nIf signerName is empty, then the ClusterTrustBundle object's name must \
                 not have such a prefix.\n\nList/watch requests for ClusterTrustBundles can filter on this field \
                 using a `spec.signerName=NAME` field selector.",
            ),
        ],
    ),
    (
        "podcertificaterequests",
        &[
            NAME,
            column("PodName", "podName is the name of the pod into which the certificate will be mounted."),
            column(
                "ServiceAccountName",
                "serviceAccountName is the name of the service account the pod is running as.",
            ),
            column("NodeName", "nodeName is the name of the node the pod is assigned to."),
            column(
                "SignerName",
                "signerName indicates the requested signer.\n\nAll signer names beginning with `kubernetes.io` are \
                 reserved for use by the Kubernetes project.  There is currently one well-known signer documented \
                 by the Kubernetes project, `kubernetes.io/kube-apiserver-client-pod`, which will issue client \
                 certificates understood by kube-apiserver.  It is currently unimplemented.",
            ),
            column("State", "Is the request Pending, Issued, Denied, or Failed?"),
            column(
                "UnverifiedUserAnnotations",
                "unverifiedUserAnnotations allow pod authors to pass additional information to the signer \
                 implementation.  Kubernetes does not restrict or validate this metadata in any way.\n\nEntries \
                 are subject to the same validation as object metadata annotations, with the addition that all \
                 keys must be domain-prefixed. No restrictions are placed on values, except an overall size \
                 limitation on the entire field.\n\nSigners should document the keys and values they support.  \
                 Signers should deny requests that contain keys they do not recognize.",
            ),
        ],
    ),
    (
        "devicetaintrules",
        &[
            NAME,
            column("Key", "The taint key to be applied to a device. Must be a label name."),
            column("Value", "The taint value corresponding to the taint key. Must be a label value."),
            column(
                "Effect",
                "The effect of the taint on claims that do not tolerate the taint and through such claims on the \
                 pods using them.\n\nValid effects are None, NoSchedule and NoExecute. PreferNoSchedule as used \
                 for nodes is not valid here. More effects may get added in the future. Consumers must treat \
                 unknown effects like None.",
            ),
            column(
                "TimeAdded",
                "TimeAdded represents the time at which the taint was added or (only in a DeviceTaintRule) the \
                 effect was modified. Added automatically during create or update if not set.\n\nIn addition, in a \
                 DeviceTaintRule a value provided during an update gets replaced with the current time if the \
                 provided value is the same as the old one and the new effect is different. Changing the key \
                 and/or value while keeping the effect unchanged is possible and does not update the time stamp \
                 because the eviction which uses it is either already started (NoExecute) or not started yet \
                 (NoEffect, NoSchedule).",
            ),
            AGE,
        ],
    ),
    (
        "storageversionmigrations",
        &[
            Column { format: "", ..NAME },
            column("Resource", "GroupResource to migrate"),
            column("Status", "Status of the migration"),
        ],
    ),
];
