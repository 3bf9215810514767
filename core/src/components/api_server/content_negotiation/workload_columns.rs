//! The columns of tables of what makes, scales and spares Pods.
//!
//! Source: pkg/printers/internalversion/printers.go (v1.34), `AddHandlers`; descriptions are those of the fields in the
//! types' own documentation (k8s.io/api v0.34, `SwaggerDoc`), which clients show as they are.

use super::column_forms::{AGE, CONTAINERS, IMAGES, JOB_SELECTOR, NAME, boolean, column, integer, wide};
use crate::profile::releases::Column;

pub(super) static TABLES: &[(&str, &[Column])] = &[
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
        "daemonsets",
        &[
            NAME,
            integer(
                "Desired",
                "The total number of nodes that should be running the daemon pod (including nodes correctly running \
                 the daemon pod). More info: https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/",
            ),
            integer(
                "Current",
                "The number of nodes that are running at least 1 daemon pod and are supposed to run the daemon pod. \
                 More info: https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/",
            ),
            integer(
                "Ready",
                "The number of nodes that should be running the daemon pod and have one or more of the daemon pod \
                 running and ready.",
            ),
            integer("Up-to-date", "The total number of nodes that are running updated daemon pod"),
            integer(
                "Available",
                "The number of nodes that should be running the daemon pod and have one or more of the daemon pod \
                 running and available (ready for at least spec.minReadySeconds)",
            ),
            column(
                "Node Selector",
                "NodeSelector is a selector which must be true for the pod to fit on a node. Selector which must \
                 match a node's labels for the pod to be scheduled on that node. More info: \
                 https://kubernetes.io/docs/concepts/configuration/assign-pod-node/",
            ),
            AGE,
            CONTAINERS,
            IMAGES,
            wide(
                "Selector",
                "A label query over pods that are managed by the daemon set. Must match in order to be controlled. \
                 If empty, defaulted to labels on Pod template. More info: \
                 https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
            ),
        ],
    ),
    (
        "deployments",
        &[
            NAME,
            column("Ready", "Number of the pod with ready state"),
            column(
                "Up-to-date",
                "Total number of non-terminated pods targeted by this deployment that have the desired template spec.",
            ),
            column(
                "Available",
                "Total number of available pods (ready for at least minReadySeconds) targeted by this deployment.",
            ),
            AGE,
            CONTAINERS,
            IMAGES,
            wide(
                "Selector",
                "Label selector for pods. Existing ReplicaSets whose pods are selected by this will be the ones \
                 affected by this deployment.",
            ),
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
        "jobs",
        &[
            NAME,
            column("Status", "Status of the job."),
            column(
                "Completions",
                "The number of pods which reached phase Succeeded. The value increases monotonically for a given \
                 spec. However, it may decrease in reaction to scale down of elastic indexed jobs.",
            ),
            column("Duration", "Time required to complete the job."),
            AGE,
            CONTAINERS,
            IMAGES,
            JOB_SELECTOR,
        ],
    ),
    (
        "poddisruptionbudgets",
        &[
            NAME,
            column("Min Available", "The minimum number of pods that must be available."),
            column("Max Unavailable", "The maximum number of pods that may be unavailable."),
            integer("Allowed Disruptions", "Calculated number of pods that may be disrupted at this time."),
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
        "priorityclasses",
        &[
            NAME,
            integer(
                "Value",
                "value represents the integer value of this priority class. This is the actual priority that pods \
                 receive when they have the name of this class in their pod spec.",
            ),
            boolean(
                "Global-Default",
                "globalDefault specifies whether this PriorityClass should be considered as the default priority for \
                 pods that do not have any priority class. Only one PriorityClass can be marked as `globalDefault`. \
                 However, if more than one PriorityClasses exists with their `globalDefault` field set to true, the \
                 smallest value of such global default PriorityClasses will be used as the default priority.",
            ),
            AGE,
        ],
    ),
    (
        "replicasets",
        &[
            NAME,
            integer(
                "Desired",
                "Replicas is the number of desired replicas. This is a pointer to distinguish between explicit zero \
                 and unspecified. Defaults to 1. More info: https://kubernetes.io/docs/concepts/workloads/controllers/\
                 replicationcontroller/#what-is-a-replicationcontroller",
            ),
            integer(
                "Current",
                "Replicas is the most recently observed number of replicas. More info: https://kubernetes.io/docs/\
                 concepts/workloads/controllers/replicationcontroller/#what-is-a-replicationcontroller",
            ),
            integer("Ready", "The number of ready replicas for this replica set."),
            AGE,
            CONTAINERS,
            IMAGES,
            wide(
                "Selector",
                "Selector is a label query over pods that should match the replica count. If the selector is empty, \
                 it is defaulted to the labels present on the pod template. Label keys and values that must match in \
                 order to be controlled by this replica set. More info: \
                 https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
            ),
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
        "scales",
        &[
            Column { format: "", ..NAME },
            integer("Desired", "replicas is the desired number of instances for the scaled object."),
            integer("Available", "replicas is the actual number of observed instances of the scaled object."),
            AGE,
        ],
    ),
    ("statefulsets", &[NAME, column("Ready", "Number of the pod with ready state"), AGE, CONTAINERS, IMAGES]),
];
