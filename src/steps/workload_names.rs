//! The names that Kubernetes gives about Deployments and Jobs, of every release: conditions and their reasons.

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
