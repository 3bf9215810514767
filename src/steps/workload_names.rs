//! The names that Kubernetes gives about Deployments, Jobs, CronJobs and volumes, of every release: conditions,
//! their reasons, and those of Events.

/// Reasons of the conditions of Deployments. Source: pkg/controller/deployment/util/deployment_util.go (v1.34).
pub(super) const DEPLOYMENT_REASONS: &[&str] = &[
    "MinimumReplicasAvailable",
    "MinimumReplicasUnavailable",
    "ReplicaSetUpdated",
    "ReplicaSetCreateError",
    "NewReplicaSetCreated",
    "FoundNewReplicaSet",
    "NewReplicaSetAvailable",
    "ProgressDeadlineExceeded",
    "DeploymentPaused",
    "DeploymentResumed",
    "FailedCreate",
    "FailedDelete",
];

/// Conditions of Jobs. Source: k8s.io/api batch/v1/types.go (v1.34), `JobConditionType`.
pub(super) const JOB_CONDITIONS: &[&str] = &["Suspended", "Complete", "Failed", "FailureTarget", "SuccessCriteriaMet"];

/// Reasons of the conditions of Jobs. Source: k8s.io/api batch/v1/types.go and pkg/controller/job/job_controller.go
/// (v1.34).
pub(super) const JOB_REASONS: &[&str] = &[
    "PodFailurePolicy",
    "BackoffLimitExceeded",
    "DeadlineExceeded",
    "MaxFailedIndexesExceeded",
    "FailedIndexes",
    "SuccessPolicy",
    "CompletionsReached",
    "JobSuspended",
    "JobResumed",
];

/// Reasons of Events about Jobs and CronJobs. Source: pkg/controller/job/job_controller.go and
/// pkg/controller/cronjob/cronjob_controllerv2.go (v1.34).
pub(super) const JOB_EVENTS: &[&str] = &[
    "BackoffLimitExceeded",
    "Completed",
    "FailedIndexes",
    "MaxFailedIndexesExceeded",
    "PodFailurePolicy",
    "Resumed",
    "Suspended",
    "TooManySucceededPods",
    "UnexpectedJob",
    "SawCompletedJob",
    "MissingJob",
    "UnknownTimeZone",
    "UnsupportedSchedule",
    "UnparseableSchedule",
    "UnParseableCronJobSchedule",
    "InvalidSchedule",
    "TooManyMissedTimes",
    "MissSchedule",
    "JobAlreadyActive",
    "FailedGet",
];

/// Reasons of Events about volumes and claims. Source: pkg/controller/volume/events/event.go (v1.34).
pub(super) const VOLUME_EVENTS: &[&str] =
    &["ExternalProvisioning", "FailedBinding", "ProvisioningFailed", "VolumeFailedDelete", "VolumeFailedRecycle"];
