//! The columns of tables of what serves and makes Pods, of roles and of classes.
//!
//! Source: pkg/printers/internalversion/printers.go (v1.34), `AddHandlers`; descriptions are those of the fields in the
//! types' own documentation (k8s.io/api v0.34, `SwaggerDoc`), which clients show as they are.

use super::column_forms::{AGE, CONTAINERS, IMAGES, JOB_SELECTOR, NAME, boolean, column, integer, wide};
use crate::profile::releases::Column;

pub(super) static TABLES: &[(&str, &[Column])] = &[
    (
        "componentstatuses",
        &[
            NAME,
            column("Status", "Status of the component conditions"),
            column("Message", "Message of the component conditions"),
            column("Error", "Error of the component conditions"),
        ],
    ),
    (
        "scales",
        &[
            Column { format: "", ..NAME },
            integer("Desired", "replicas is the desired number of instances for the scaled object."),
            integer("Available", "replicas is the actual number of observed instances of the scaled object."),
            AGE,
        ],
    ),
    (
        "endpoints",
        &[
            NAME,
            column(
                "Endpoints",
                "The set of all endpoints is the union of all subsets. Addresses are placed into subsets according \
                 to the IPs they share. A single address with multiple ports, some of which are ready and some of \
                 which are not (because they come from different containers) will result in the address being \
                 displayed in different subsets for the different ports. No address will appear in both Addresses \
                 and NotReadyAddresses in the same subset. Sets of addresses and ports that comprise a service.",
            ),
            AGE,
        ],
    ),
    (
        "endpointslices",
        &[
            NAME,
            column(
                "AddressType",
                "addressType specifies the type of address carried by this EndpointSlice. All addresses in this \
                 slice must be the same type. This field is immutable after creation. The following address types \
                 are currently supported: * IPv4: Represents an IPv4 Address. * IPv6: Represents an IPv6 Address. * \
                 FQDN: Represents a Fully Qualified Domain Name.",
            ),
            column(
                "Ports",
                "ports specifies the list of network ports exposed by each endpoint in this slice. Each port must \
                 have a unique name. When ports is empty, it indicates that there are no defined ports. When a port \
                 is defined with a nil port value, it indicates \"all ports\". Each slice may include a maximum of \
                 100 ports.",
            ),
            column(
                "Endpoints",
                "endpoints is a list of unique endpoints in this slice. Each slice may include a maximum of 1000 \
                 endpoints.",
            ),
            AGE,
        ],
    ),
    (
        "replicationcontrollers",
        &[
            NAME,
            integer(
                "Desired",
                "Replicas is the number of desired replicas. This is a pointer to distinguish between explicit zero \
                 and unspecified. Defaults to 1. More info: \
                 https://kubernetes.io/docs/concepts/workloads/controllers/\
                 replicationcontroller#what-is-a-replicationcontroller",
            ),
            integer(
                "Current",
                "Replicas is the most recently observed number of replicas. More info: \
                 https://kubernetes.io/docs/concepts/workloads/controllers/\
                 replicationcontroller#what-is-a-replicationcontroller",
            ),
            integer("Ready", "The number of ready replicas for this replication controller."),
            AGE,
            CONTAINERS,
            IMAGES,
            wide(
                "Selector",
                "Selector is a label query over pods that should match the Replicas count. If Selector is empty, it \
                 is defaulted to the labels present on the Pod template. Label keys and values that must match in \
                 order to be controlled by this replication controller, if empty defaulted to labels on Pod \
                 template. More info: \
                 https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
            ),
        ],
    ),
    (
        "resourcequotas",
        &[
            NAME,
            AGE,
            column("Request", "Request represents a minimum amount of cpu/memory that a container may consume."),
            column(
                "Limit",
                "Limits control the maximum amount of cpu/memory that a container may use independent of contention \
                 on the node.",
            ),
        ],
    ),
    (
        "cronjobs",
        &[
            NAME,
            column("Schedule", "The schedule in Cron format, see https://en.wikipedia.org/wiki/Cron."),
            column(
                "Timezone",
                "The time zone name for the given schedule, see \
                 https://en.wikipedia.org/wiki/List_of_tz_database_time_zones. If not specified, this will default \
                 to the time zone of the kube-controller-manager process. The set of valid time zone names and the \
                 time zone offset is loaded from the system-wide time zone database by the API server during CronJob \
                 validation and the controller manager during execution. If no system-wide time zone database can be \
                 found a bundled version of the database is used instead. If the time zone name becomes invalid \
                 during the lifetime of a CronJob or due to a change in host configuration, the controller will stop \
                 creating new new Jobs and will create a system event with the reason UnknownTimeZone. More \
                 information can be found in \
                 https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#time-zones",
            ),
            boolean(
                "Suspend",
                "This flag tells the controller to suspend subsequent executions, it does not apply to already \
                 started executions.  Defaults to false.",
            ),
            integer("Active", "A list of pointers to currently running jobs."),
            column("Last Schedule", "Information when was the last time the job was successfully scheduled."),
            AGE,
            CONTAINERS,
            IMAGES,
            JOB_SELECTOR,
        ],
    ),
    (
        "controllerrevisions",
        &[
            NAME,
            column("Controller", "Controller of the object"),
            column("Revision", "revision indicates the revision of the state represented by Data."),
            AGE,
        ],
    ),
    (
        "podtemplates",
        &[
            NAME,
            column("Containers", "Names of each container in the template."),
            column("Images", "Images referenced by each container in the template."),
            column("Pod Labels", "The labels for the pod template."),
        ],
    ),
    (
        "networkpolicies",
        &[
            NAME,
            column(
                "Pod-Selector",
                "Selects the pods to which this NetworkPolicy object applies.  The array of ingress rules is applied \
                 to any pods selected by this field. Multiple network policies can select the same set of pods.  In \
                 this case, the ingress rules for each are combined additively. This field is NOT optional and \
                 follows standard label selector semantics. An empty podSelector matches all pods in this namespace.",
            ),
            AGE,
        ],
    ),
    (
        "ingresses",
        &[
            NAME,
            column("Class", "The name of the IngressClass resource that should be used for additional configuration"),
            column("Hosts", "Hosts that incoming requests are matched against before the ingress rule"),
            column("Address", "Address is a list containing ingress points for the load-balancer"),
            column("Ports", "Ports of TLS configurations that open"),
            AGE,
        ],
    ),
    (
        "horizontalpodautoscalers",
        &[
            NAME,
            column(
                "Reference",
                "scaleTargetRef points to the target resource to scale, and is used to the pods for which metrics \
                 should be collected, as well as to actually change the replica count.",
            ),
            column(
                "Targets",
                "metrics contains the specifications for which to use to calculate the desired replica count (the \
                 maximum replica count across all metrics will be used).  The desired replica count is calculated \
                 multiplying the ratio between the target value and the current value by the current number of \
                 pods.  Ergo, metrics used must decrease as the pod count is increased, and vice-versa.  See the \
                 individual metric source types for more information about how each type of metric must respond.",
            ),
            column(
                "MinPods",
                "minReplicas is the lower limit for the number of replicas to which the autoscaler can scale down.  \
                 It defaults to 1 pod.  minReplicas is allowed to be 0 if the alpha feature gate HPAScaleToZero is \
                 enabled and at least one Object or External metric is configured.  Scaling is active as long as at \
                 least one metric value is available.",
            ),
            column(
                "MaxPods",
                "maxReplicas is the upper limit for the number of replicas to which the autoscaler can scale up. It \
                 cannot be less that minReplicas.",
            ),
            column(
                "Replicas",
                "currentReplicas is current number of replicas of pods managed by this autoscaler, as last seen by \
                 the autoscaler.",
            ),
            AGE,
        ],
    ),
    (
        "ingressclasses",
        &[
            NAME,
            column("Controller", "Controller that is responsible for handling this class"),
            column("Parameters", "A reference to a resource with additional parameters"),
            AGE,
        ],
    ),
    ("runtimeclasses", &[NAME, column("Handler", ""), AGE]),
    (
        "rolebindings",
        &[
            NAME,
            column(
                "Role",
                "RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace. If \
                 the RoleRef cannot be resolved, the Authorizer must return an error.",
            ),
            AGE,
            wide("Users", "Users in the roleBinding"),
            wide("Groups", "Groups in the roleBinding"),
            wide("ServiceAccounts", "ServiceAccounts in the roleBinding"),
        ],
    ),
    (
        "clusterrolebindings",
        &[
            NAME,
            column(
                "Role",
                "RoleRef can only reference a ClusterRole in the global namespace. If the RoleRef cannot be \
                 resolved, the Authorizer must return an error.",
            ),
            AGE,
            wide("Users", "Users in the clusterRoleBinding"),
            wide("Groups", "Groups in the clusterRoleBinding"),
            wide("ServiceAccounts", "ServiceAccounts in the clusterRoleBinding"),
        ],
    ),
];
